//! Tells secrets from stand-ins, code and names, once the shape fits.

use super::alphabet::{ALNUM, ALPHA, Alphabet, DASH, DIGIT, DOT, HEX, LOWER, UPPER, is};
use super::rules::Check;

/// A text of the right shape, with what its place says about it.
pub(super) struct Candidate<'a> {
    pub(super) value: &'a [u8],
    pub(super) quoted: bool,
    /// The user before a password, and the host after it; empty where the place has none.
    pub(super) user: &'a [u8],
    pub(super) host: &'a [u8],
}

/// Values are judged by their beginning: a text of a million `token=` must not be read a million times.
const JUDGED: usize = 128;

/// What people write where a secret would be. Lower case.
const STAND_INS: &[&str] = &[
    "example",
    "placeholder",
    "changeme",
    "change-me",
    "change_me",
    "replace",
    "your",
    "dummy",
    "fake",
    "sample",
    "redacted",
    "insert",
    "xxxx",
    "****",
    "....",
    "____",
    "0000000",
    "1234567",
    "abcdef",
    "foobar",
    "lorem",
    "notreal",
    "not-a-real",
    "deadbeef",
    "todo",
    "qwerty",
    "asdf",
];

/// The same for values that only their name makes a secret: these words are names, not values.
const STAND_IN_WORDS: &[&str] = &[
    "test",
    "secret",
    "passw",
    "p@ss",
    "mypass",
    "userpass",
    "token",
    "key_",
    "_key",
    "-key",
    "key-",
    "apikey",
    "admin",
    "hunter2",
    "letmein",
    "none",
    "null",
    "undefined",
    "false",
    "default",
    "prompt",
    "config",
    "environ",
    "process",
    "vault",
    "1q2w3e",
];

/// Secrets that are printed in manuals: the one of jwt.io, of the Azure emulator, of GitHub's guide, of
/// RFC 6749 and 7617. Written without their prefix, so that no scanner takes this file for a leak.
const PRINTED: &[&str] = &[
    "SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c",
    "IkpvaG4gRG9lIi",
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq",
    "16C7e42F292c6912E7710c838347Ae178B4a",
    "QWxhZGRpbjpvcGVuIHNlc2FtZQ",
    "dXNlcjpwYXNzd29yZA",
    "dXNlcm5hbWU6cGFzc3dvcmQ",
    "dXNlcjpwYXNz",
    "2YotnFZFEjr1zCsicMWpAA",
    "tGzv3JOkF0XG5Qx2TlKWIA",
    "czZCaGRSa3F0Mzp",
];

pub(super) fn counts(check: Check, candidate: &Candidate<'_>) -> bool {
    let value = &candidate.value[..candidate.value.len().min(JUDGED)];
    // The cheap questions first: a hostile text asks them at every `token=`.
    !is_monotonous(value)
        && !is_sequence(value)
        && match check {
            Check::Token => entropy(value) >= 2.8,
            Check::Key => entropy(value) >= 2.8 && in_words(value) * 2 < value.len(),
            // A comma makes a list, as in `en-US,en;q=0.9`; keys are drawn without it.
            Check::Random => {
                looks_random(value) && !value.contains(&b',') && !is_reference(value, candidate.quoted)
            }
            Check::Password => {
                (looks_random(value) || looks_typed(value, candidate.quoted))
                    && !is_reference(value, candidate.quoted)
            }
            Check::Userinfo => is_given_password(value, candidate),
            Check::Said => is_said_password(value),
        }
        && (matches!(check, Check::Userinfo) || !has_any(value, STAND_INS))
        && !is_printed(candidate.value)
}

/// Whether a name that ends like a secret's is known to hold something harmless.
pub(super) fn is_harmless_name(name: &[u8]) -> bool {
    const HARMLESS: &[&str] = &[
        "page",
        "csrf",
        "xsrf",
        "next",
        "continuation",
        "publickey",
        "public",
        "existing",
        "cancel",
        "sync",
        "idempot",
        "clientrequest",
        "cursor",
        "resume",
        "stop",
        "eos",
        "bos",
        "pad",
        "unk",
        "cls",
        "sep",
        "mask",
        "max",
        "change",
        "hash",
        "design",
        "kind",
        "type",
    ];
    has_any(name, HARMLESS)
}

/// Bits per byte of the value, by the frequencies in the value itself.
fn entropy(value: &[u8]) -> f32 {
    let mut counts = [0u8; 128];
    for byte in value {
        counts[(byte & 127) as usize] += 1;
    }
    let total = value.len() as f32;
    let share = |count: &u8| f32::from(*count) / total;
    counts.iter().filter(|count| **count > 0).map(|count| -share(count) * share(count).log2()).sum()
}

/// Whether few different characters make the value: `xxxxxxxx`, `abababab`, `--------`.
fn is_monotonous(value: &[u8]) -> bool {
    let mut seen = 0u128;
    for byte in value {
        seen |= 1 << (byte & 127);
    }
    (seen.count_ones() as usize) < (value.len() / 2).clamp(3, 6)
}

/// Whether the value counts up, each character or every other: `abcdefgh`, `a1b2c3d4`.
fn is_sequence(value: &[u8]) -> bool {
    let counts_up = |stride: usize| {
        let pairs = value.len().saturating_sub(stride);
        let ups = (0..pairs).filter(|at| value[at + stride].wrapping_sub(value[*at]) <= 1).count();
        pairs > 0 && ups * 2 >= pairs
    };
    counts_up(1) || counts_up(2)
}

/// Whether the value points to a secret, or is code that yields one, instead of being one.
fn is_reference(value: &[u8], quoted: bool) -> bool {
    let starts = |head: &str| value.starts_with(head.as_bytes());
    if [
        "$", "%", "@", "/", "./", "../", "~/", "{", "&", "!", "arn:", "sha1", "sha256", "sha512", "md5",
        "enc[",
    ]
    .into_iter()
    .any(starts)
    {
        return true;
    }
    let has = |text: &str| value.windows(text.len()).any(|window| window == text.as_bytes());
    let colons = value.iter().filter(|byte| **byte == b':').count();
    let is_number = starts("0x") && value.len() < 34;
    if colons >= 2 || is_number || has("sha256:") {
        return true;
    }
    if has("://") || has("{{") || has("${") || has("::") || has_any(value, STAND_IN_WORDS) || is_uuid(value) {
        return true;
    }
    if quoted {
        return false;
    }
    let is_field = |name: &[u8]| name.len() <= 16 && name.first().is_some_and(|first| is(*first, ALPHA));
    let mut names = value.split(|byte| *byte == b'.');
    (value.contains(&b'.') && names.all(is_field))
        || value.iter().any(|byte| matches!(byte, b'(' | b')' | b'[' | b']' | b'{' | b'}' | b'|' | b','))
}

/// Whether the value looks drawn at random rather than put together from words.
///
/// Random text changes between letters and digits all the time; names such as `my-app-v2-k8s` do so
/// seldom. In mixed case the changes of case count as well: names change it once per word.
fn looks_random(value: &[u8]) -> bool {
    if value.len() < 8 || entropy(value) < if value.len() < 16 { 2.7 } else { 3.0 } {
        return false;
    }
    let turns = turns(value);
    if turns >= 3 && turns * 4 >= value.len() {
        return true;
    }
    let any = |alphabet| value.iter().any(|byte| is(*byte, alphabet));
    let letters = value.iter().filter(|byte| is(**byte, ALNUM)).count();
    // A long value has room for the odd run that looks like a word.
    let mean_word = if value.len() < 24 { 2.6 } else { 3.0 };
    let mixed = value.len() >= 16 && letters * 5 >= value.len() * 3 && any(LOWER) && any(UPPER);
    mixed && letters as f32 <= mean_word * word_count(value) as f32
}

/// Whether the value looks like a password that a person chose: three sorts of characters in one word.
fn looks_typed(value: &[u8], quoted: bool) -> bool {
    let any = |alphabet| value.iter().any(|byte| is(*byte, alphabet));
    // Other signs are what identifiers, dates, versions and code are made of.
    let sign = value.iter().any(|byte| b"!@#$%^&*+~".contains(byte));
    let sorts = [any(LOWER), any(UPPER), any(DIGIT), sign].into_iter().filter(|sort| *sort).count();
    let letters = value.iter().filter(|byte| is(**byte, ALPHA)).count();
    let enough = sorts >= 3 && (sign || (quoted && any(DIGIT)) || turns(value) >= 3);
    enough && letters >= 2 && any(DIGIT) && entropy(value) >= 2.5
}

/// Whether a password in a place for passwords is more than a stand-in.
///
/// The place has already said that this is a password, so a stand-in must be one as a whole: `secret42` and
/// `MyTestPass99` open real databases.
fn is_given_password(value: &[u8], candidate: &Candidate<'_>) -> bool {
    let brackets = value.iter().any(|byte| matches!(byte, b'[' | b'{' | b'(' | b'<'));
    let filled_in = matches!(value, [b'$' | b'*', ..] | [b'%', .., b'%'] | [b'@', .., b'@']);
    if value.len() < 6
        || brackets
        || filled_in
        || value.eq_ignore_ascii_case(candidate.user)
        || is_exact_stand_in(value)
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

/// Whether a password behind the word `password` in prose is one, and not the next word.
fn is_said_password(value: &[u8]) -> bool {
    let brackets = value.iter().any(|byte| matches!(byte, b'[' | b'{' | b'(' | b'<'));
    value.len() >= 6 && !brackets && !is_documentation(value) && is_more_than_a_name(value, true)
}

/// Whether the value can be no variable: `password=db_password` is code as often as it is a setting.
fn is_more_than_a_name(value: &[u8], quoted: bool) -> bool {
    if value.iter().any(|byte| matches!(byte, b'/' | b',')) && is_reference(value, quoted) {
        return false;
    }
    let letters = value.iter().any(|byte| is(*byte, ALPHA));
    let others = value.iter().any(|byte| !is(*byte, ALPHA | DASH | DOT));
    let long = value.len() >= 12 && entropy(value) >= 3.0;
    letters && (others || (long && !is_documentation(value) && !is_reference(value, quoted)))
}

fn is_typed_or_random(value: &[u8]) -> bool {
    (looks_random(value) || looks_typed(value, true)) && !is_documentation(value)
}

fn is_documentation(value: &[u8]) -> bool {
    has_any(value, STAND_INS)
        || is_reference(value, true)
        || has_any(value, &["pass", "pwd", "mysql", "postgres"])
}

/// Whether the value is nothing but what manuals write for a password, as in `your-db-password`.
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

/// Whether the host is one that manuals use, where a password must look like more than a word to count.
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

/// How many characters stand in runs of four or more letters of one case.
fn in_words(value: &[u8]) -> usize {
    let runs = value.chunk_by(|a, b| sort(*a) == sort(*b) && is(*a, ALPHA));
    runs.map(<[u8]>::len).filter(|length| *length >= 4).sum()
}

/// How many words and numbers the value would be if it were a name: `getUser2` is three.
fn word_count(value: &[u8]) -> usize {
    let runs = value.chunk_by(|a, b| sort(*a) == sort(*b));
    let mut words = 0;
    let mut capital = false;
    for run in runs {
        let kind = sort(run[0]);
        words += usize::from(kind != 0 && !(capital && kind == LOWER));
        capital = kind == UPPER && run.len() == 1;
    }
    words
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
    // The payload of the jwt.io token stands far into it; it is short enough to be read whole.
    let read = &value[..value.len().min(512)];
    let starts = |rest: &[u8], printed: &&str| rest.starts_with(printed.as_bytes());
    (0..read.len()).any(|at| PRINTED.iter().any(|printed| starts(&read[at..], printed)))
}

/// Whether one of the words, given in lower case, is in the text in any case.
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
