//! The alphabets of secrets, as bits of one table: a membership test is a load and a mask.
//!
//! All are ASCII, so a match always starts and ends on a character boundary.

pub(super) type Alphabet = u16;

pub(super) const DIGIT: Alphabet = 1;
pub(super) const LOWER: Alphabet = 1 << 1;
pub(super) const UPPER: Alphabet = 1 << 2;
/// `0-9 a-f A-F`.
pub(super) const HEX: Alphabet = 1 << 3;
/// `-` and `_`, for URL-safe base64.
pub(super) const DASH: Alphabet = 1 << 4;
/// `+`, `/` and `=`, for base64.
pub(super) const PLUS: Alphabet = 1 << 5;
pub(super) const DOT: Alphabet = 1 << 6;
pub(super) const TILDE: Alphabet = 1 << 7;
pub(super) const PERCENT: Alphabet = 1 << 8;
/// The characters of an assigned value: everything visible except quotes, `\`, `<`, `>` and `;`.
pub(super) const VALUE: Alphabet = 1 << 9;
/// What surrounds the base64 of a PEM block: whitespace, escapes, quotes, header punctuation.
pub(super) const PEM_FILL: Alphabet = 1 << 10;
/// The characters that end the `user:password@host` of a URL.
pub(super) const URL_STOP: Alphabet = 1 << 11;
/// The characters before a part of a longer base64 text.
pub(super) const SLASH: Alphabet = 1 << 12;
/// The characters of Django keys besides lower-case letters, digits and `-_=+%`.
pub(super) const SIGN: Alphabet = 1 << 13;

pub(super) const ALPHA: Alphabet = LOWER | UPPER;
pub(super) const ALNUM: Alphabet = DIGIT | ALPHA;
pub(super) const UPPER_ALNUM: Alphabet = DIGIT | UPPER;
pub(super) const LOWER_ALNUM: Alphabet = DIGIT | LOWER;
pub(super) const URL64: Alphabet = ALNUM | DASH;
pub(super) const BASE64: Alphabet = ALNUM | PLUS;

static MEMBERSHIP: [Alphabet; 256] = membership();

pub(super) fn is(byte: u8, alphabet: Alphabet) -> bool {
    MEMBERSHIP[byte as usize] & alphabet != 0
}

pub(super) const fn is_const(byte: u8, alphabet: Alphabet) -> bool {
    alphabets_of(byte) & alphabet != 0
}

const fn membership() -> [Alphabet; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = alphabets_of(byte as u8);
        byte += 1;
    }
    table
}

const fn alphabets_of(byte: u8) -> Alphabet {
    let mut alphabets = match byte {
        b'0'..=b'9' => DIGIT | HEX,
        b'a'..=b'f' => LOWER | HEX,
        b'g'..=b'z' => LOWER,
        b'A'..=b'F' => UPPER | HEX,
        b'G'..=b'Z' => UPPER,
        b'-' => DASH | PEM_FILL,
        b'_' => DASH,
        b'+' => PLUS | SLASH,
        b'/' => PLUS | SLASH | URL_STOP,
        b'=' => PLUS,
        b'.' => DOT | PEM_FILL,
        b'~' => TILDE,
        b'%' => PERCENT,
        b' ' | b'\t' | b'\r' | b'\n' | b'\\' | b'"' | b'\'' => PEM_FILL | URL_STOP,
        b':' | b',' | b'(' | b')' => PEM_FILL,
        b'?' | b'#' | b'<' | b'>' | b'`' => URL_STOP,
        _ => 0,
    };
    if byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\'' | b'`' | b'\\' | b'<' | b'>' | b';') {
        alphabets |= VALUE;
    }
    if matches!(byte, b'!' | b'@' | b'#' | b'$' | b'^' | b'&' | b'*' | b'(' | b')') {
        alphabets |= SIGN;
    }
    if !byte.is_ascii_graphic() {
        alphabets |= URL_STOP;
    }
    alphabets
}
