//! Counts the tokens that a model needs for a text, by a named counter.

use super::o200k::O200kTokens;

/// A way to count tokens. A report names its counter, because two counters differ on the same text.
pub trait TokenCounter {
    fn name(&self) -> &str;

    fn count(&self, text: &str) -> u64;

    /// A lower bound for a text of this many bytes: a file that cannot fit need not be read.
    fn at_least(&self, _bytes: u64) -> u64 {
        0
    }
}

/// The counter that a person or a client names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CounterName {
    #[default]
    Estimate,
    O200k,
}

impl CounterName {
    pub const ALL: [CounterName; 2] = [CounterName::Estimate, CounterName::O200k];

    pub fn name(self) -> &'static str {
        match self {
            CounterName::Estimate => "estimate",
            CounterName::O200k => "o200k",
        }
    }

    pub fn parse(text: &str) -> Option<CounterName> {
        CounterName::ALL.into_iter().find(|counter| counter.name() == text)
    }

    /// Takes some milliseconds for `o200k`, which unpacks its table.
    pub fn counter(self) -> Box<dyn TokenCounter> {
        match self {
            CounterName::Estimate => Box::new(EstimatedTokens),
            CounterName::O200k => Box::new(O200kTokens::new()),
        }
    }
}

/// The default counter: [`tokens`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EstimatedTokens;

impl TokenCounter for EstimatedTokens {
    fn name(&self) -> &str {
        CounterName::Estimate.name()
    }

    fn count(&self, text: &str) -> u64 {
        tokens(text) as u64
    }

    fn at_least(&self, bytes: u64) -> u64 {
        bytes.saturating_mul(MIN_PER_BYTE).div_ceil(UNITS)
    }
}

/// An estimate of the tokens in the o200k encoding: each character adds the weight of its class, which is larger for
/// the first one of a run.
///
/// The weights were fitted on 1,751 files of 267 packages (code, prose, JSON, CJK), and measured on those of 264 other
/// packages: the median distance is 4 % (`docs/technical/tokens.md`). No weight is negative, so a longer text never has
/// fewer tokens, and a search for the longest text that fits can halve its range.
pub fn tokens(text: &str) -> usize {
    let (mut sum, mut last) = (0_u64, Class::Continuation);
    for byte in text.bytes() {
        let (class, first, next) = TABLE[usize::from(byte)];
        sum += u64::from(if class as u8 == last as u8 { next } else { first });
        last = class;
    }
    usize::try_from(sum.div_ceil(UNITS)).unwrap_or(usize::MAX)
}

/// A weight of one token.
const UNITS: u64 = 64;
/// What every byte of a text adds at least, spread over the bytes of its character: the weights were fitted with this
/// as their lower limit, so that files that cannot fit need not be read.
const MIN_PER_BYTE: u64 = 4;

/// What a byte is. Of a character that is not ASCII, the first byte decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum Class {
    Control,
    Lower,
    Upper,
    Digit,
    Blank,
    Newline,
    Punctuation,
    /// Any byte of a character but its first.
    Continuation,
    /// Letters with accents.
    Latin,
    /// Greek, Cyrillic, Hebrew, Arabic.
    TwoBytes,
    /// Indic and Southeast Asian scripts.
    ThreeBytes,
    /// Dashes, quotation marks, arrows.
    Symbol,
    /// Kana, and the punctuation of Chinese and Japanese.
    Kana,
    Ideograph,
    Hangul,
    /// Full-width forms, private use.
    Wide,
    /// Emoji, rare ideographs.
    FourBytes,
}

impl Class {
    const fn of(byte: u8) -> Class {
        match byte {
            b'\t' | b' ' => Class::Blank,
            b'\n' | b'\r' => Class::Newline,
            0..=0x1F | 0x7F => Class::Control,
            b'a'..=b'z' => Class::Lower,
            b'A'..=b'Z' => Class::Upper,
            b'0'..=b'9' => Class::Digit,
            0x21..=0x7E => Class::Punctuation,
            0x80..=0xBF => Class::Continuation,
            0xC0..=0xCD => Class::Latin,
            0xCE..=0xDF => Class::TwoBytes,
            0xE0..=0xE1 => Class::ThreeBytes,
            0xE2 => Class::Symbol,
            0xE3 => Class::Kana,
            0xE4..=0xE9 => Class::Ideograph,
            0xEA..=0xED => Class::Hangul,
            0xEE..=0xEF => Class::Wide,
            0xF0..=0xFF => Class::FourBytes,
        }
    }

    /// The weights of the first byte of a run and of every further one. A character of several bytes always begins a
    /// run, because continuation bytes are between.
    const fn weights(self) -> (u8, u8) {
        match self {
            Class::Control => (192, 64),
            Class::Lower => (36, 4),
            Class::Upper => (12, 12),
            Class::Digit => (90, 15),
            Class::Blank => (12, 4),
            Class::Newline => (60, 12),
            Class::Punctuation => (50, 13),
            Class::Continuation => (0, 0),
            Class::Latin => (64, 64),
            Class::TwoBytes => (19, 19),
            Class::ThreeBytes => (25, 25),
            Class::Symbol => (105, 105),
            Class::Kana => (44, 44),
            Class::Ideograph => (48, 48),
            Class::Hangul => (42, 42),
            Class::Wide => (32, 32),
            Class::FourBytes => (192, 192),
        }
    }
}

const TABLE: [(Class, u8, u8); 256] = {
    let mut table = [(Class::Control, 0, 0); 256];
    let mut byte = 0;
    while byte < 256 {
        let class = Class::of(byte as u8);
        let (first, next) = class.weights();
        table[byte] = (class, first, next);
        byte += 1;
    }
    table
};
