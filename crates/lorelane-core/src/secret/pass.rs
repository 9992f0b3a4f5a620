//! The single pass over a text.
//!
//! A secret can start in three ways: with a word that starts like a format of the table, with an assignment
//! (`name = value`), and with the colon of `scheme://user:password@host`. Each looks back and ahead by a bounded
//! amount, or over a run that no later position reads again, so the pass is linear in the length of the text.
//!
//! A redacted text must contain nothing to find. So the pass treats a secret and the marker that replaces it
//! alike: it skips both, nothing looks back across their end (`floor`), and nothing that ends where a marker
//! starts counts.

use super::SecretMatch;
use super::alphabet::{
    ALNUM, ALPHA, Alphabet, BASE64, DASH, DIGIT, DOT, HEX, LOWER, PEM_FILL, PLUS, SLASH, UPPER, URL_STOP,
    VALUE, is, is_const,
};
use super::judge::{self, SecretCandidate};
use super::rules::{OPEN, PatternPart, RULES, SearchScope, SecretRule};
use memchr::memmem;
use std::ops::Range;

pub(super) const MARKER: &str = "[redacted: ";

/// How far before a secret the word in `near` may be.
const NEAR: usize = 160;
/// The longest name of an assignment.
const NAME: usize = 64;
/// The longest part of a URL before its path.
const AUTHORITY: usize = 256;

/// A match of a row's shape.
struct ShapeMatch {
    span: Range<usize>,
    /// Where the value starts, after the prefix that all values of its format share.
    body: usize,
    quoted: bool,
}

pub(super) fn run(text: &str) -> Vec<SecretMatch> {
    let mut pass = SecretScan { bytes: text.as_bytes(), floor: 0, value_run: 0..0 };
    let mut found = Vec::new();
    let mut at = 0;
    while at < pass.bytes.len() {
        if pass.inside_word(at) {
            at += 1;
        } else if let Some(secret) = pass.at(at) {
            at = secret.span.end;
            pass.floor = at;
            found.push(secret);
        } else if let Some(end) = pass.marker_end(at) {
            at = end;
            pass.floor = at;
        } else {
            at += 1;
        }
    }
    found
}

struct SecretScan<'a> {
    bytes: &'a [u8],
    /// The end of the last secret or marker.
    floor: usize,
    /// The last unquoted value that was read; without it, `token=token=…` would be read again from every `=`.
    value_run: Range<usize>,
}

impl SecretScan<'_> {
    /// Whether nothing can start here: true for most of a text, and for all of a digest or an image.
    fn inside_word(&self, at: usize) -> bool {
        is(self.bytes[at], ALNUM) && self.byte_before(at).is_some_and(|before| is(before, ALNUM))
    }

    /// The secret that starts here, or the value that an assignment here gives.
    fn at(&mut self, at: usize) -> Option<SecretMatch> {
        match self.bytes[at] {
            b':' => self.userinfo(at).or_else(|| self.assignment(at)).or_else(|| self.word(at)),
            b'=' | b'>' | b',' => self.assignment(at),
            _ => self.word(at),
        }
    }

    fn word(&mut self, at: usize) -> Option<SecretMatch> {
        let (byte, second) = (self.bytes[at], *self.bytes.get(at + 1)?);
        let mut rows = both(&FIRST[byte as usize], &SECOND[second as usize]);
        for (place, table) in [(3, &FOURTH), (5, &SIXTH)] {
            if rows == [0, 0] {
                return None;
            }
            rows = self.bytes.get(at + place).map_or(rows, |byte| both(&rows, &table[*byte as usize]));
        }
        let before = if is(byte, ALNUM) { self.byte_before(at) } else { None };
        if before.is_some_and(|before| is(before, ALNUM)) {
            return None;
        }
        while let Some(row) = take_first(&mut rows) {
            if before.is_some_and(|before| is(before, BEFORE[row])) {
                continue;
            }
            let rule = &RULES[row];
            if let Some(span) = self.fits(rule, at, false) {
                let led = span.start > at;
                let found = SecretMatch { kind: rule.kind, span };
                return Some(if led { self.narrowed(found) } else { found });
            }
        }
        None
    }

    /// Prefers a vendor's format, which says more than the name or the place that led to it.
    fn narrowed(&mut self, found: SecretMatch) -> SecretMatch {
        let start = found.span.start;
        self.word(start).filter(|narrower| narrower.span.start == start).unwrap_or(found)
    }

    /// The byte that a word here would continue: none after a secret, and none after the letter of an escaped
    /// `\n`, `\t` or `\r`.
    fn byte_before(&self, at: usize) -> Option<u8> {
        match &self.bytes[self.floor..at] {
            [] | [.., b'\\', b'n' | b't' | b'r'] => None,
            [.., last] => Some(*last),
        }
    }

    /// The value that the operator here assigns, if its name and shape make it a secret.
    fn assignment(&mut self, at: usize) -> Option<SecretMatch> {
        let (start, quoted) = self.value_start(at)?;
        // Most assignments are dismissed here, before any name is compared.
        let ends = |byte: &u8| matches!(byte, b'"' | b'\'' | b'\n') || (*byte == b'(' && !quoted);
        if self.bytes.get(start..start + 6)?.iter().any(ends) {
            return None;
        }
        let mut buffer = [0; NAME];
        for name in self.names(at) {
            // In `scheme://name:…` and `arn:…:name:…` the name has no value.
            let path_like = name.start > self.floor && matches!(self.bytes[name.start - 1], b':' | b'/');
            if path_like && self.bytes[at] == b':' {
                continue;
            }
            let written = &self.bytes[name];
            let plain = plain_name(written, &mut buffer);
            if plain.len() < 3 {
                continue;
            }
            let mut rows = NAMED;
            while let Some(row) = take_first(&mut rows) {
                let rule = &RULES[row];
                if !names_secret(rule.place, plain, written) {
                    continue;
                }
                let Some(span) = self.fits(rule, start, quoted) else { continue };
                return Some(self.narrowed(SecretMatch { kind: rule.kind, span }));
            }
        }
        None
    }

    /// Where the value after the operator at `at` starts: after whitespace and its opening quote.
    fn value_start(&self, at: usize) -> Option<(usize, bool)> {
        let bytes = self.bytes;
        let mut start = at + 1;
        let sign = |start: usize| bytes.get(start).copied().unwrap_or(b'\n');
        let listed = bytes[at] == b',';
        if listed && !(at > 0 && matches!(bytes[at - 1], b'"' | b'\'')) {
            return None;
        }
        while start < at + 3 && !listed && matches!(sign(start), b'=' | b'>' | b'~') {
            start += 1;
        }
        let limit = start + 8;
        while start < limit && matches!(sign(start), b' ' | b'\t') {
            start += 1;
        }
        // The prefix of `b"…"`, `r"…"`, `f"…"`, `u"…"` and `@"…"`.
        if matches!(sign(start), b'b' | b'r' | b'f' | b'u' | b'@') && matches!(sign(start + 1), b'"' | b'\'')
        {
            start += 1;
        }
        if sign(start) == b'\\' && matches!(sign(start + 1), b'"' | b'\'') {
            start += 1;
        }
        let quoted = matches!(sign(start), b'"' | b'\'' | b'`');
        if listed && !quoted {
            return None;
        }
        Some((start + usize::from(quoted), quoted))
    }

    /// The names that may be assigned: the word before the operator, and in `name: Type = …` the name.
    fn names(&self, at: usize) -> impl Iterator<Item = Range<usize>> + use<> {
        let near = self.name_before(at);
        let typed = match self.bytes[at] {
            b'=' => {
                let from = self.floor.max(near.start.saturating_sub(24));
                let gap = &self.bytes[from..near.start];
                let colon = gap.iter().rposition(
                    |byte| !matches!(byte, b' ' | b'&' | b'\'' | b'<' | b'a'..=b'z' | b'A'..=b'Z'),
                );
                colon.filter(|at| gap[*at] == b':').map(|colon| self.name_before(from + colon))
            }
            _ => None,
        };
        std::iter::once(near).chain(typed)
    }

    /// The real start of a word: after the letter of an escaped `\n`, `\t` or `\r`.
    fn unescaped(&self, start: usize) -> usize {
        let escaped =
            matches!(self.bytes[..=start.min(self.bytes.len() - 1)], [.., b'\\', b'n' | b't' | b'r']);
        start + usize::from(escaped)
    }

    fn name_before(&self, at: usize) -> Range<usize> {
        let floor = self.floor.max(at.saturating_sub(NAME + 8));
        let mut end = at;
        let frame =
            |byte: u8| matches!(byte, b' ' | b'\t' | b'"' | b'\'' | b'`' | b'\\' | b']' | b'?' | b'*' | b'>');
        while end > floor && at - end < 8 && frame(self.bytes[end - 1]) {
            end -= 1;
        }
        let mut start = end;
        while start > floor && end - start < NAME && is(self.bytes[start - 1], ALNUM | DASH | DOT) {
            start -= 1;
        }
        self.unescaped(start)..end
    }

    /// The password between the colon here and the last `@` of the authority.
    fn userinfo(&mut self, at: usize) -> Option<SecretMatch> {
        let bytes = self.bytes;
        let from = at.saturating_sub(AUTHORITY);
        let user =
            bytes[from..at].iter().rposition(|byte| is(*byte, URL_STOP) || matches!(byte, b':' | b'@'))?;
        let user = from + user + 1..at;
        let scheme_end = user.start.checked_sub(3)?;
        if &bytes[scheme_end..user.start] != b"://" {
            return None;
        }
        let rest = &bytes[at + 1..bytes.len().min(at + 1 + AUTHORITY)];
        let authority = &rest[..rest.iter().position(|byte| is(*byte, URL_STOP)).unwrap_or(rest.len())];
        let password = &authority[..authority.iter().rposition(|byte| *byte == b'@')?];
        let host = &authority[password.len() + 1..];
        let marked = MARKER.trim_end().as_bytes();
        if memmem::find(authority, marked).is_some() || !password.is_ascii() {
            return None;
        }
        let mut scheme = scheme_end;
        while scheme > 0 && scheme_end - scheme < 32 && is(bytes[scheme - 1], ALNUM | DASH | DOT | PLUS) {
            scheme -= 1;
        }
        let scheme = &bytes[self.unescaped(scheme)..scheme_end];
        let scheme = &scheme[..scheme.iter().position(|byte| *byte == b'+').unwrap_or(scheme.len())];
        let rule = RULES.iter().find(|rule| match rule.place {
            SearchScope::Userinfo(schemes) => {
                schemes.is_empty() || schemes.iter().any(|s| s.as_bytes() == scheme)
            }
            _ => false,
        })?;
        let candidate = SecretCandidate { value: password, quoted: true, user: &bytes[user], host };
        if !judge::counts(rule.check, &candidate) {
            return None;
        }
        let span = at + 1..at + 1 + password.len();
        Some(self.narrowed(SecretMatch { kind: rule.kind, span }))
    }

    /// The span of the secret if the row matches at `at`: its shape, the words before it, and the value.
    fn fits(&mut self, rule: &SecretRule, at: usize, quoted: bool) -> Option<Range<usize>> {
        let ShapeMatch { span, body, quoted } = self.shaped(rule.shape, at, quoted)?;
        let near = &self.bytes[self.floor.max(at.saturating_sub(NEAR))..at];
        if !rule.near.is_empty() && !judge::has_any(near, rule.near) {
            return None;
        }
        let candidate = SecretCandidate { value: &self.bytes[body..span.end], quoted, user: b"", host: b"" };
        judge::counts(rule.check, &candidate).then_some(span)
    }

    fn shaped(&mut self, shape: &[PatternPart], at: usize, mut quoted: bool) -> Option<ShapeMatch> {
        let mut start = at;
        let mut body = at;
        let mut end = at;
        for part in shape {
            match *part {
                PatternPart::Lit(texts) => {
                    let prefix = body == end;
                    end += self.one_of(texts, end)?;
                    body = if prefix { end } else { body };
                }
                PatternPart::Lead(texts) => {
                    end += self.one_of(texts, end)?;
                    (start, body) = (end, end);
                }
                PatternPart::Skip(alphabet, least, most) => {
                    let length = self.run_length(alphabet, end, most);
                    if length < least || length > most {
                        return None;
                    }
                    end += length;
                    (start, body) = (end, end);
                }
                PatternPart::Run(alphabet, least, most) => {
                    let length = self.run_length(alphabet, end, most);
                    if length < least || length > most {
                        return None;
                    }
                    end += length;
                }
                PatternPart::Take(alphabet, count) => {
                    let taken = self.bytes.get(end..end + count)?;
                    if !taken.iter().all(|byte| is(*byte, alphabet)) {
                        return None;
                    }
                    end += count;
                }
                PatternPart::Uuid => end = self.uuid_end(end)?,
                PatternPart::PemBody => end = self.pem_end(end)?,
                PatternPart::Phrase => end = self.phrase_end(end)?,
                PatternPart::Assigned(least) => {
                    if !quoted && matches!(self.bytes.get(end), Some(b'"' | b'\'')) {
                        end += 1;
                        (start, body) = (end, end);
                        quoted = true;
                    }
                    end = if quoted { self.quoted_end(end)? } else { self.unquoted_end(end) };
                    if end < start + least {
                        return None;
                    }
                }
            }
        }
        // A block with `BEGIN PRIVATE KEY` counts whatever follows. A run that is directly followed by another
        // word would be the start of something longer.
        let block = matches!(shape.last(), Some(PatternPart::PemBody));
        let rest = &self.bytes[end..];
        let cut_short =
            rest.first().is_some_and(|next| is(*next, ALNUM)) || rest.starts_with(MARKER.as_bytes());
        (block || !cut_short).then_some(ShapeMatch { span: start..end, body, quoted })
    }

    fn one_of(&self, texts: &[&str], at: usize) -> Option<usize> {
        texts.iter().find(|text| self.bytes[at..].starts_with(text.as_bytes())).map(|text| text.len())
    }

    /// The length of the run, reading at most one byte more than `most`.
    fn run_length(&self, alphabet: Alphabet, at: usize, most: usize) -> usize {
        let read = self.bytes[at..].iter().take(most.saturating_add(1));
        read.take_while(|byte| is(**byte, alphabet)).count()
    }

    fn uuid_end(&self, at: usize) -> Option<usize> {
        let uuid = self.bytes.get(at..at + 36)?;
        let dash = |at: usize| matches!(at, 8 | 13 | 18 | 23);
        let fits = uuid.iter().enumerate().all(|(at, b)| if dash(at) { *b == b'-' } else { is(*b, HEX) });
        fits.then_some(at + 36)
    }

    /// The end of a key block. One run of base64 must be too long and too varied for prose or a path, because
    /// people also write about `-----BEGIN` lines.
    fn pem_end(&self, at: usize) -> Option<usize> {
        let mut position = at;
        let mut key_end = None;
        let mut has_key = false;
        let ends = |rest: &[u8]| rest.starts_with(b"-----") || rest.starts_with(b"Private-Lines");
        while position < self.bytes.len() && !ends(&self.bytes[position..]) {
            let run = self.run_length(BASE64, position, usize::MAX - 1);
            let text = &self.bytes[position..position + run];
            let any = |alphabet| text.iter().any(|byte| is(*byte, alphabet));
            if run >= 32 && any(LOWER) && any(UPPER) && (any(DIGIT) || run >= 44) {
                has_key = true;
            }
            if run >= 16 {
                key_end = Some(position + run);
            }
            position += run;
            if run == 0 && !is(self.bytes[position], PEM_FILL) {
                break;
            }
            position += usize::from(run == 0);
        }
        if !has_key {
            return None;
        }
        let footer = &self.bytes[position..self.bytes.len().min(position + 64)];
        match footer.strip_prefix(b"-----END ") {
            Some(name) => {
                let dashes = memmem::find(name, b"-----");
                let closed = dashes.filter(|dashes| name[..*dashes].is_ascii());
                closed.map(|dashes| position + 9 + dashes + 5).or(key_end)
            }
            None => key_end,
        }
    }

    /// The end of 12, 15, 18, 21 or 24 words of three to eight lower-case letters, if a quote or the line ends
    /// there.
    fn phrase_end(&self, at: usize) -> Option<usize> {
        let (mut end, mut words) = (at, 0);
        loop {
            let length = self.run_length(LOWER, end, 8);
            if !(3..=8).contains(&length) || words == 24 {
                return None;
            }
            (end, words) = (end + length, words + 1);
            match self.bytes.get(end) {
                Some(b' ') => end += 1,
                None | Some(b'"' | b'\'' | b'`' | b'\n' | b'\r' | b'\\') => break,
                Some(_) => return None,
            }
        }
        (words >= 12 && words % 3 == 0).then_some(end)
    }

    /// The end of a quoted value; `None` unless the quote closes after one word.
    fn quoted_end(&self, at: usize) -> Option<usize> {
        let inside = |byte: &u8| is(*byte, VALUE) || matches!(byte, b'<' | b'>' | b';');
        let end = at + self.bytes[at..].iter().take_while(|byte| inside(byte)).count();
        matches!(self.bytes.get(end)?, b'"' | b'\'' | b'`' | b'\\').then_some(end)
    }

    /// The end of an unquoted value, without the punctuation of the surrounding text.
    fn unquoted_end(&mut self, at: usize) -> usize {
        if !(self.value_run.start..self.value_run.end).contains(&at) {
            self.value_run = at..at + self.run_length(VALUE, at, usize::MAX);
        }
        let mut end = self.value_run.end;
        let query = &self.bytes[at..end.min(at + AUTHORITY)];
        let next_field = |amp: &usize| {
            let rest = &query[amp + 1..];
            let name = rest.iter().take_while(|byte| is(**byte, ALNUM | DASH)).count();
            name > 0 && rest.get(name) == Some(&b'=')
        };
        let mut ampersands = (0..query.len()).filter(|at| query[*at] == b'&');
        if let Some(amp) = ampersands.find(next_field) {
            end = at + amp;
        }
        while end > at && matches!(self.bytes[end - 1], b',' | b'.' | b':' | b')' | b']' | b'}' | b'*' | b'`')
        {
            end -= 1;
        }
        end
    }

    fn marker_end(&self, at: usize) -> Option<usize> {
        let rest = self.bytes[at..].strip_prefix(MARKER.as_bytes())?;
        let marks = |kind: &[u8]| rest.starts_with(kind) && rest.get(kind.len()) == Some(&b']');
        let kind = RULES.iter().map(|rule| rule.kind).find(|kind| marks(kind.as_bytes()))?;
        Some(at + MARKER.len() + kind.len() + 1)
    }
}

fn names_secret(place: SearchScope, name: &[u8], written: &[u8]) -> bool {
    match place {
        SearchScope::Anywhere | SearchScope::Userinfo(_) => false,
        SearchScope::NameHas(words) => judge::has_any(name, words),
        SearchScope::NameIs(names) => names.iter().any(|word| word.as_bytes() == name),
        SearchScope::NameEnds(words) => {
            let digits = name.iter().rev().take_while(|byte| is(**byte, DIGIT)).count();
            let stem = &name[..name.len() - digits];
            words.iter().any(|word| stem.ends_with(word.as_bytes())) && !judge::is_harmless_name(written)
        }
    }
}

/// The name in lower case without punctuation, so that `API_KEY`, `api-key` and `apiKey` are the same.
fn plain_name<'a>(name: &[u8], buffer: &'a mut [u8; NAME]) -> &'a [u8] {
    let mut length = 0;
    for byte in name.iter().filter(|byte| is(**byte, ALNUM)).take(NAME) {
        buffer[length] = byte.to_ascii_lowercase();
        length += 1;
    }
    &buffer[..length]
}

/// Which rows can have a given byte in one of four positions, one bit per row. The compiler builds the tables
/// from the rows; together they reject almost every position without looking at a row.
type Rows = [u128; 2];

fn both(some: &Rows, others: &Rows) -> Rows {
    [some[0] & others[0], some[1] & others[1]]
}

/// Removes the first row from the set.
fn take_first(rows: &mut Rows) -> Option<usize> {
    let half = usize::from(rows[0] == 0);
    let row = rows[half].trailing_zeros() as usize;
    rows[half] &= rows[half].checked_sub(1)?;
    Some(half * 128 + row)
}

static FIRST: [Rows; 256] = rows_by_byte(0);
static SECOND: [Rows; 256] = rows_by_byte(1);
static FOURTH: [Rows; 256] = rows_by_byte(3);
static SIXTH: [Rows; 256] = rows_by_byte(5);
/// What must not precede a row's secret, because then it is the middle of something longer. This also keeps
/// unbounded runs linear: none is read again from within itself.
static BEFORE: [Alphabet; RULES.len()] = alphabets_before();

/// The rows that need a name. The others are not tried at every `=` and `:`.
const NAMED: Rows = {
    let mut rows = [0; 2];
    let mut row = 0;
    while row < RULES.len() {
        if !matches!(RULES[row].place, SearchScope::Anywhere | SearchScope::Userinfo(_)) {
            rows[row / 128] |= 1 << (row % 128);
        }
        row += 1;
    }
    rows
};

const fn rows_by_byte(place: usize) -> [Rows; 256] {
    assert!(RULES.len() <= 256, "the table outgrew its index");
    let mut table = [[0; 2]; 256];
    let mut row = 0;
    while row < RULES.len() {
        if let SearchScope::Anywhere = RULES[row].place {
            let (half, bit) = (row / 128, 1 << (row % 128));
            match located(RULES[row].shape, place) {
                Some((PatternPart::Lit(texts) | PatternPart::Lead(texts), offset)) => {
                    let mut text = 0;
                    while text < texts.len() {
                        table[texts[text].as_bytes()[offset] as usize][half] |= bit;
                        text += 1;
                    }
                }
                part => {
                    let mut byte = 0;
                    while byte < 256 {
                        if can_be(part, byte as u8) {
                            table[byte][half] |= bit;
                        }
                        byte += 1;
                    }
                }
            }
        }
        row += 1;
    }
    table
}

/// The part of a shape that contains a position, and the offset in it; none if that varies.
const fn located(shape: &[PatternPart], mut place: usize) -> Option<(PatternPart, usize)> {
    let mut part = 0;
    while part < shape.len() {
        let (least, most) = match shape[part] {
            PatternPart::Lit(texts) | PatternPart::Lead(texts) => (shortest(texts), longest(texts)),
            PatternPart::Run(_, least, most) | PatternPart::Skip(_, least, most) => (least, most),
            PatternPart::Take(_, count) => (count, count),
            PatternPart::Uuid => (36, 36),
            PatternPart::PemBody | PatternPart::Phrase | PatternPart::Assigned(_) => (0, OPEN),
        };
        if place < least {
            return Some((shape[part], place));
        }
        if least != most {
            return None;
        }
        place -= least;
        part += 1;
    }
    None
}

const fn can_be(part: Option<(PatternPart, usize)>, byte: u8) -> bool {
    match part {
        Some((
            PatternPart::Run(alphabet, ..) | PatternPart::Skip(alphabet, ..) | PatternPart::Take(alphabet, _),
            _,
        )) => is_const(byte, alphabet),
        Some((PatternPart::Uuid, place)) => is_const(byte, if place == 8 { DASH } else { HEX }),
        _ => true,
    }
}

const fn shortest(texts: &[&str]) -> usize {
    let mut shortest = usize::MAX;
    let mut text = 0;
    while text < texts.len() {
        if texts[text].len() < shortest {
            shortest = texts[text].len();
        }
        text += 1;
    }
    shortest
}

const fn longest(texts: &[&str]) -> usize {
    let mut longest = 0;
    let mut text = 0;
    while text < texts.len() {
        if texts[text].len() > longest {
            longest = texts[text].len();
        }
        text += 1;
    }
    longest
}

const fn alphabets_before() -> [Alphabet; RULES.len()] {
    let mut table = [0; RULES.len()];
    let mut row = 0;
    while row < RULES.len() {
        let glued = if RULES[row].short { SLASH } else { 0 };
        let mut part = 0;
        while part < RULES[row].shape.len() && table[row] == 0 {
            if let PatternPart::Run(alphabet, _, most) = RULES[row].shape[part] {
                // `=` and `/` occur before values and inside base64, so such runs must be bounded.
                let bounded = most < usize::MAX || alphabet & PLUS == 0;
                assert!(bounded || !matches!(RULES[row].place, SearchScope::Anywhere), "unbounded base64");
                table[row] = (alphabet & !PLUS & (ALPHA | DIGIT | DASH | DOT)) | glued;
            }
            part += 1;
        }
        row += 1;
    }
    table
}
