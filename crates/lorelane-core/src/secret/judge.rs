//! Decides whether a value of the right shape is a secret or a placeholder, code or a name.
//!
//! The whole value is judged, never a part of it: `EXAMPLE` somewhere inside a value let real keys pass.

use super::alphabet::{ALNUM, ALPHA, Alphabet, DASH, DIGIT, DOT, HEX, LOWER, UPPER, is};
use super::rules::Check;
use memchr::memmem;

/// A value of the right shape, with its context.
pub(super) struct SecretCandidate<'a> {
    /// The value without the prefix of its format.
    pub(super) value: &'a [u8],
    pub(super) quoted: bool,
    /// The user before a password and the host after it; empty if there is none.
    pub(super) user: &'a [u8],
    pub(super) host: &'a [u8],
}

/// Only the start of a value is judged: a text of a million `token=` must not be read a million times.
const JUDGED: usize = 128;

/// Punctuation of passwords. Other characters are common in identifiers, dates, versions and code.
const SIGNS: &[u8] = b"!@#$%^&*+~";

/// Secrets that are printed in manuals, as whole values without their prefix, so that no scanner takes this file
/// for a leak: of AWS, Stripe, Slack, GitHub, Google Maps, the Azure emulator, RFC 6749, 6750 and 7617, and the
/// payloads of jwt.io.
const PRINTED: &[&str] = &[
    "IOSFODNN7EXAMPLE",
    "I44QH8DHBEXAMPLE",
    "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    "je7MtGbClwBF/2Zp9Utk/h3yCo8nvbEXAMPLEKEY",
    "4eC39HqLyjWDarjtT1zdp7dc",
    "BQokikJOvBiI2HlWgH4olfQ2",
    "17653672481-19874698323-pdFZKVeTuE8sk7oOcHrzqqgy",
    "16C7e42F292c6912E7710c838347Ae178B4a",
    "SyDaGmWKa4JsXZ-HjGw7ISLn_3namBGewQe",
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw",
    "QWxhZGRpbjpvcGVuIHNlc2FtZQ",
    "dXNlcjpwYXNzd29yZA",
    "dXNlcm5hbWU6cGFzc3dvcmQ",
    "dXNlcjpwYXNz",
    "2YotnFZFEjr1zCsicMWpAA",
    "tGzv3JOkF0XG5Qx2TlKWIA",
    "mF_9.B5f-4.1JqM",
    "czZCaGRSa3F0MzpnWDFmQmF0M2JW",
    "eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ",
    "eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiYWRtaW4iOnRydWUsImlhdCI6MTUxNjIzOTAyMn0",
    "eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiYWRtaW4iOnRydWV9",
];

pub(super) fn counts(check: Check, candidate: &SecretCandidate<'_>) -> bool {
    let whole = candidate.value;
    let value = &whole[..whole.len().min(JUDGED)];
    // The cheap checks first: a hostile text triggers them at every `token=`.
    !is_monotonous(value)
        && !is_sequence(value)
        && match check {
            // A placeholder reads like words: `your-api-key-goes-here`.
            Check::Token => entropy(value) >= 2.3 && strangeness(value) * 20 > value.len() as i32 * -13,
            Check::Dense => is_dense(value),
            Check::Key => entropy(value) >= 2.3 && strangeness(value) > 0,
            // A comma separates a list, as in `en-US,en;q=0.9`; generated keys have none.
            Check::Random => {
                looks_random(value) && !value.contains(&b',') && !is_documentation(value, candidate.quoted)
            }
            Check::Password => {
                (looks_random(value) || looks_typed(value, candidate.quoted))
                    && !is_documentation(value, candidate.quoted)
            }
            Check::Userinfo => is_given_password(value, candidate),
            Check::Said => is_said_password(value),
            Check::Shape => true,
            Check::Basic => basic_password(value).is_some_and(|password| !is_exact_stand_in(&password)),
        }
        && !is_printed(whole)
}

/// Whether a name that ends like that of a secret is known to be harmless: `nextPageToken`.
///
/// Whole words of the name are compared: `PAGERDUTY_TOKEN` has nothing to do with pages.
pub(super) fn is_harmless_name(name: &[u8]) -> bool {
    const HARMLESS: &str = "
        bos cancel cancellation change clientrequest cls continuation csrf csrfmiddleware cursor design
        eos existing hash idempotence idempotency idempotent kind mask max next nextpage nextsync pad
        page pagination public publickey request resume sep stop sync type unk xsrf
    ";
    const ENDINGS: &[&str] = &["token", "key", "secret", "password"];
    let harmless = |word: &[u8]| {
        HARMLESS.split_ascii_whitespace().any(|known| word.eq_ignore_ascii_case(known.as_bytes()))
    };
    name_words(name).any(|word| {
        let ending = |end: &&str| word.len() > end.len() && ends_with(word, end.as_bytes());
        let stem = ENDINGS.iter().find(|end| ending(end)).map_or(word, |end| &word[..word.len() - end.len()]);
        harmless(word) || harmless(stem)
    })
}

/// The words of a name: `nextPageToken`, `next_page_token` and `NEXT-PAGE-TOKEN` have the same three.
fn name_words(name: &[u8]) -> impl Iterator<Item = &[u8]> {
    name.split(|byte| !is(*byte, ALNUM))
        .flat_map(|part| part.chunk_by(|a, b| !(is(*a, LOWER | DIGIT) && is(*b, UPPER))))
}

fn ends_with(word: &[u8], end: &[u8]) -> bool {
    word.len() >= end.len() && word[word.len() - end.len()..].eq_ignore_ascii_case(end)
}

/// The entropy in bits per byte, by the frequencies in the value itself.
fn entropy(value: &[u8]) -> f32 {
    let mut counts = [0u8; 128];
    for byte in value {
        counts[(byte & 127) as usize] += 1;
    }
    let total = value.len() as f32;
    let share = |count: &u8| f32::from(*count) / total;
    counts.iter().filter(|count| **count > 0).map(|count| -share(count) * share(count).log2()).sum()
}

/// Whether the value has only a few different characters: `xxxxxxxx`, `abababab`, `--------`.
fn is_monotonous(value: &[u8]) -> bool {
    let mut seen = 0u128;
    for byte in value {
        seen |= 1 << (byte & 127);
    }
    (seen.count_ones() as usize) < (value.len() / 2).clamp(3, 6)
}

/// Whether the value counts up, by each or by every other character: `abcdefgh`, `a1b2c3d4`.
fn is_sequence(value: &[u8]) -> bool {
    let counts_up = |stride: usize| {
        let pairs = value.len().saturating_sub(stride);
        let ups = (0..pairs).filter(|at| value[at + stride].wrapping_sub(value[*at]) <= 1).count();
        pairs > 0 && ups * 4 >= pairs * 3
    };
    counts_up(1) || counts_up(2)
}

/// Whether the value refers to a secret or is code that returns one, instead of being one.
fn is_reference(value: &[u8], quoted: bool) -> bool {
    let starts = |head: &str| value.starts_with(head.as_bytes());
    if ["{", "arn:", "sha1", "sha256", "sha512", "md5", "enc[", "data:"].into_iter().any(starts)
        || is_variable(value)
        || is_path(value)
    {
        return true;
    }
    let has = |text: &str| memmem::find(value, text.as_bytes()).is_some();
    let colons = value.iter().filter(|byte| **byte == b':').count();
    let is_number = starts("0x") && value.len() < 34 && value[2..].iter().all(|byte| is(*byte, HEX));
    if colons >= 2 || is_number || is_uuid(value) || ["sha256:", "://", "{{", "${", "::"].into_iter().any(has)
    {
        return true;
    }
    if quoted {
        return false;
    }
    let is_field = |name: &[u8]| name.first().is_some_and(|first| is(*first, ALPHA)) && !looks_random(name);
    let mut names = value.split(|byte| *byte == b'.');
    (value.contains(&b'.') && names.all(is_field))
        || value.iter().any(|byte| matches!(byte, b'(' | b')' | b'[' | b']' | b'{' | b'}' | b'|' | b','))
}

/// Whether the value is a variable, an anchor, a tag or a crypt hash: `$TOKEN`, `%PW%`, `*base`, `!Ref x`,
/// `$2b$…`.
///
/// A random password may start with any of these characters, so the first one is not enough: a name must follow.
fn is_variable(value: &[u8]) -> bool {
    const HASHES: &[&str] = &[
        "$1$", "$2a$", "$2b$", "$2y$", "$5$", "$6$", "$7$", "$y$", "$apr1$", "$argon2", "$scrypt$", "$pbkdf2",
    ];
    let [b'$' | b'%' | b'@' | b'&' | b'!' | b'*', name @ ..] = value else { return false };
    let bracket = matches!(name.first(), Some(b'{' | b'(' | b'[' | b'<'));
    let is_hash = HASHES.iter().any(|hash| value.starts_with(hash.as_bytes()));
    bracket || is_hash || !looks_random(name)
}

/// Whether the value is a path: its first two components read like words.
fn is_path(value: &[u8]) -> bool {
    let ([b'/' | b'.' | b'~', ..], Some(slash)) = (value, value.iter().position(|byte| *byte == b'/')) else {
        return false;
    };
    let folder = |name: &[u8]| name.len() <= 24 && strangeness(name) * 4 <= name.len() as i32;
    slash <= 2 && value[slash + 1..].split(|byte| *byte == b'/').take(2).all(folder)
}

/// Whether the value looks random and not composed of words.
fn looks_random(value: &[u8]) -> bool {
    if value.len() < 8 || entropy(value) < 2.3 {
        return false;
    }
    let (strange, length) = (strangeness(value), value.len() as i32);
    if length < 12 {
        return strange * 5 >= length * 3;
    }
    // Digits in three places and no separators: names have digits at their end.
    let scattered = strange > 0 && turns(value) >= 3 && value.iter().all(|byte| is(*byte, ALNUM));
    strange * 5 >= length || scattered || is_digest(value)
}

/// Whether no character is much more frequent than the others, as zero bytes are in the base64 of files.
fn is_dense(value: &[u8]) -> bool {
    let most = (0..128).map(|byte| value.iter().filter(|other| **other == byte).count()).max();
    entropy(value) >= 4.7 && most.is_some_and(|most| most * 8 <= value.len() + 8)
}

/// Whether the value is long and hexadecimal, which no word is.
fn is_digest(value: &[u8]) -> bool {
    let digits = value.iter().filter(|byte| is(**byte, DIGIT)).count();
    value.len() >= 16 && digits >= 3 && value.len() - digits >= 3 && value.iter().all(|byte| is(*byte, HEX))
}

/// How unlike words the value is: about one per character for random text, below zero for names.
///
/// Each pair of adjacent characters is evidence. In words and names most letters are followed by a letter that
/// often follows them, digits come in groups, capitals begin words, and `-`, `_`, `.` and `/` join them. A list
/// of words would not do, because random keys contain short words.
fn strangeness(value: &[u8]) -> i32 {
    let mut strange = 0;
    let mut capitals = 0;
    for pair in value.windows(2) {
        let (first, second) = (sort(pair[0]), sort(pair[1]));
        capitals = if first == UPPER { capitals + 1 } else { 0 };
        strange += match (first, second) {
            (DIGIT, DIGIT) => 0,
            (DIGIT, LOWER | UPPER) | (LOWER | UPPER, DIGIT) => 2,
            (LOWER, UPPER) => 1,
            (UPPER, LOWER) if capitals > 1 => 1,
            (LOWER | UPPER, LOWER | UPPER) => {
                if often_follows(pair[0], pair[1]) {
                    -1
                } else {
                    3
                }
            }
            _ if is(pair[0], DASH | DOT) || pair[0] == b'/' => -2,
            _ => i32::from(pair.iter().any(|byte| SIGNS.contains(byte))),
        };
    }
    strange
}

/// The letters that often follow each letter, from `a` on: 97 % of the pairs in words and names.
const FOLLOWERS: [&str; 26] = [
    "bcdfgiklmnprstuvwxy",
    "aceilorsuy",
    "acdefhiklmoprstuy",
    "adeilorsuy",
    "abcdefgiklmnopqrstuvwxy",
    "aefgilorstu",
    "aehilnorsu",
    "aeiortu",
    "abcdefgklmnoprstvxz",
    "e",
    "aeis",
    "adefilostuvy",
    "abeimopstu",
    "acdefgiklnopstuvy",
    "abcdfgiklmnoprstuvw",
    "aehiloprstuy",
    "u",
    "abcdefgiklmnoprstuvy",
    "acehiklmnopqrstuy",
    "acdefhilmoprstuy",
    "abcdefgilmnoprst",
    "aeio",
    "aehinors",
    "aceipt",
    "nopst",
    "e",
];

const OFTEN: [u32; 26] = {
    let mut often = [0; 26];
    let mut letter = 0;
    while letter < 26 {
        let followers = FOLLOWERS[letter].as_bytes();
        let mut at = 0;
        while at < followers.len() {
            often[letter] |= 1 << (followers[at] - b'a');
            at += 1;
        }
        letter += 1;
    }
    often
};

fn often_follows(first: u8, second: u8) -> bool {
    let index = |letter: u8| letter.to_ascii_lowercase() - b'a';
    OFTEN[index(first) as usize] & (1 << index(second)) != 0
}

/// Whether the value looks like a password that a person chose: one word with three classes of characters.
fn looks_typed(value: &[u8], quoted: bool) -> bool {
    let any = |alphabet| value.iter().any(|byte| is(*byte, alphabet));
    let sign = value.iter().any(|byte| SIGNS.contains(byte));
    let sorts = [any(LOWER), any(UPPER), any(DIGIT), sign].into_iter().filter(|sort| *sort).count();
    let letters = value.iter().filter(|byte| is(**byte, ALPHA)).count();
    let enough = sorts >= 3 && (sign || (quoted && any(DIGIT)) || turns(value) >= 3);
    enough && letters >= 2 && any(DIGIT) && entropy(value) >= 2.5
}

/// Whether a value in the position of a password is more than a placeholder.
///
/// The position already says that this is a password, so only a value that is a placeholder as a whole is
/// accepted: `secret42` and `MyTestPass99` open real databases.
fn is_given_password(value: &[u8], candidate: &SecretCandidate<'_>) -> bool {
    let brackets = value.iter().any(|byte| matches!(byte, b'[' | b'{' | b'(' | b'<'));
    let filled_in = matches!(value, [b'$' | b'*', ..] | [b'%', .., b'%'] | [b'@', .., b'@']);
    if value.len() < 6
        || brackets
        || filled_in
        || value.eq_ignore_ascii_case(candidate.user)
        || is_exact_stand_in(value)
        || says_so(value)
        || candidate.host.starts_with(b"sha256")
    {
        return false;
    }
    let in_url = !candidate.host.is_empty();
    if in_url && is_documentation_host(candidate.host) {
        return is_typed_or_random(value);
    }
    in_url || is_more_than_a_name(value, candidate.quoted)
}

/// Whether the value after the word `password` in prose is a password, and not the next word.
fn is_said_password(value: &[u8]) -> bool {
    let brackets = value.iter().any(|byte| matches!(byte, b'[' | b'{' | b'(' | b'<'));
    value.len() >= 6 && !brackets && !is_documentation(value, true) && is_more_than_a_name(value, true)
}

/// Whether the value cannot be a variable: `password=db_password` is code as often as it is a setting.
fn is_more_than_a_name(value: &[u8], quoted: bool) -> bool {
    if value.iter().any(|byte| matches!(byte, b'/' | b',')) && is_reference(value, quoted) {
        return false;
    }
    let letters = value.iter().any(|byte| is(*byte, ALPHA));
    let others = value.iter().any(|byte| !is(*byte, ALPHA | DASH | DOT));
    let long = value.len() >= 12 && entropy(value) >= 3.0;
    letters && (others || (long && !names_itself(value) && !is_documentation(value, quoted)))
}

fn is_typed_or_random(value: &[u8]) -> bool {
    (looks_random(value) || looks_typed(value, true)) && !is_documentation(value, true)
}

fn is_documentation(value: &[u8], quoted: bool) -> bool {
    is_reference(value, quoted) || is_stand_in(value)
}

/// Whether a value made of words names a secret: `db_password_from_vault`.
fn names_itself(value: &[u8]) -> bool {
    let own = |word: &[u8]| {
        ["password", "passwd", "pass", "pwd", "secret", "token", "key", "vault", "env", "config"]
            .iter()
            .any(|known| word.eq_ignore_ascii_case(known.as_bytes()))
    };
    name_words(value).any(own)
}

/// Whether the value consists only of words of placeholders, however they are spelled: `P@ssw0rd1!`,
/// `testPassword123`.
fn is_stand_in(value: &[u8]) -> bool {
    const WORDS: &str = "
        access account admin api app asdf auth bar baz change client correct credential credentials
        current database db default demo dev dummy enter example fake foo guest hello here hidden
        initial insert invalid is it key local login masked me mock mongo my mysql name new none not
        null old our pass passphrase passwd password passwort placeholder postgres postgresql private
        prod public put pw pwd qwerty real redacted redis removed replace root sample secret service
        some staging strong super temp test testing the this todo token undefined user valid value very
        weak with wrong xxx your
    ";
    if says_so(value) {
        return true;
    }
    let trimmed = value.iter().rposition(|byte| is(*byte, ALPHA)).map_or(value, |last| &value[..=last]);
    let letters: Vec<u8> = trimmed.iter().filter_map(|byte| as_letter(*byte)).collect();
    // Which prefixes of the letters consist of words.
    let mut made = vec![true];
    for end in 1..=letters.len() {
        let ends = |word: &str| letters[..end].ends_with(word.as_bytes()) && made[end - word.len()];
        made.push(WORDS.split_ascii_whitespace().any(ends));
    }
    !letters.is_empty() && made[letters.len()]
}

/// Whether the value starts by saying that it is a placeholder: `example-4f9c1d2b`.
fn says_so(value: &[u8]) -> bool {
    const FIRST: &[&str] = &["example", "sample", "dummy", "fake", "placeholder", "your"];
    let first = value.split(|byte| !is(*byte, ALNUM)).next().unwrap_or(value);
    first.len() < value.len() && FIRST.iter().any(|word| first.eq_ignore_ascii_case(word.as_bytes()))
}

/// The letter that a digit or character replaces, as in `p@ssw0rd`; none for separators.
fn as_letter(byte: u8) -> Option<u8> {
    match byte {
        b'0' => Some(b'o'),
        b'1' => Some(b'i'),
        b'3' => Some(b'e'),
        b'4' | b'@' => Some(b'a'),
        b'5' | b'$' => Some(b's'),
        b'7' => Some(b't'),
        _ => is(byte, ALPHA).then(|| byte.to_ascii_lowercase()),
    }
}

/// Whether the value is exactly what manuals write for a password, as in `your-db-password`.
fn is_exact_stand_in(value: &[u8]) -> bool {
    const WHOLE: &[&str] = &[
        "pass",
        "password",
        "passwd",
        "passwort",
        "passphrase",
        "pwd",
        "pw",
        "secret",
        "token",
        "key",
        "apikey",
        "accesstoken",
        "changeme",
        "changeit",
        "change",
        "replaceme",
        "example",
        "examplepassword",
        "placeholder",
        "test",
        "testing",
        "user",
        "userpass",
        "username",
        "admin",
        "root",
        "guest",
        "default",
        "sample",
        "dummy",
        "fake",
        "redacted",
        "removed",
        "hidden",
        "masked",
        "foobar",
        "foo",
        "bar",
        "todo",
        "none",
        "null",
        "undefined",
        "mysql",
        "postgres",
        "postgresql",
        "supersecret",
        "credentials",
    ];
    const BEFORE: &[&str] =
        &["your", "my", "the", "some", "insert", "enter", "db", "database", "user", "app"];
    let plain: Vec<u8> =
        value.iter().filter(|byte| !is(**byte, DASH | DOT)).map(u8::to_ascii_lowercase).collect();
    let mut rest = plain.strip_suffix(b"here").unwrap_or(&plain);
    loop {
        if rest.is_empty() || WHOLE.iter().any(|word| word.as_bytes() == rest) {
            return true;
        }
        let Some(shorter) = BEFORE.iter().find_map(|word| rest.strip_prefix(word.as_bytes())) else {
            return false;
        };
        rest = shorter;
    }
}

/// Whether the host is one that manuals use. There a password must look like more than a word to count.
fn is_documentation_host(host: &[u8]) -> bool {
    let first = host.split(|byte| matches!(byte, b':' | b',')).next().unwrap_or(host);
    let home = ["localhost", "127.0.0.1", "0.0.0.0", "host", "hostname", "db"];
    let ends = ["example", "example.com", "example.org", "example.net", ".test", ".invalid"];
    home.iter().any(|name| first.eq_ignore_ascii_case(name.as_bytes()))
        || host.starts_with(b"[::1]")
        || ends.iter().any(|end| first.ends_with(end.as_bytes()))
}

/// How often the value changes between a letter and a digit.
fn turns(value: &[u8]) -> usize {
    let turn = |pair: &&[u8]| {
        (is(pair[0], ALPHA) && is(pair[1], DIGIT)) || (is(pair[0], DIGIT) && is(pair[1], ALPHA))
    };
    value.windows(2).filter(turn).count()
}

fn sort(byte: u8) -> Alphabet {
    [LOWER, UPPER, DIGIT].into_iter().find(|alphabet| is(byte, *alphabet)).unwrap_or(0)
}

fn is_uuid(value: &[u8]) -> bool {
    let dash = |at: usize| matches!(at, 8 | 13 | 18 | 23);
    value.len() == 36
        && value.iter().enumerate().all(|(at, b)| if dash(at) { *b == b'-' } else { is(*b, HEX) })
}

fn is_printed(value: &[u8]) -> bool {
    /// The longest prefix of a printed secret.
    const PREFIX: usize = 8;
    let printed = |text: &[u8]| {
        let text = &text[..text.iter().rposition(|byte| *byte != b'=').map_or(0, |last| last + 1)];
        PRINTED.iter().any(|known| text.ends_with(known.as_bytes()) && text.len() <= known.len() + PREFIX)
    };
    printed(value) || value.split(|byte| *byte == b'.').any(printed)
}

/// The password in the base64 of `user:password`, if it is that.
fn basic_password(value: &[u8]) -> Option<Vec<u8>> {
    let mut text = Vec::with_capacity(value.len());
    let (mut bits, mut held) = (0u32, 0);
    for byte in value.iter().take_while(|byte| **byte != b'=') {
        let digit = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        bits = (bits << 6) | u32::from(digit);
        held += 6;
        if held >= 8 {
            held -= 8;
            text.push((bits >> held) as u8);
        }
    }
    let colon = text.iter().position(|byte| *byte == b':')?;
    let printable = text.iter().all(|byte| (b' '..=b'~').contains(byte));
    (printable && colon > 0 && colon + 4 < text.len()).then(|| text.split_off(colon + 1))
}

/// Whether the text contains one of the words, which are given in lower case, ignoring case.
pub(super) fn has_any(text: &[u8], words: &[&str]) -> bool {
    (0..text.len()).any(|at| {
        let rest = &text[at..];
        let first = rest[0].to_ascii_lowercase();
        words.iter().any(|word| {
            word.as_bytes()[0] == first
                && rest.len() >= word.len()
                && rest[..word.len()].eq_ignore_ascii_case(word.as_bytes())
        })
    })
}
