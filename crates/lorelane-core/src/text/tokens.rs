//! Counts the tokens that a model needs for a text, by a named counter.

/// A way to count tokens. A report names its counter, because two counters differ on the same text.
pub trait TokenCounter {
    fn name(&self) -> &str;

    fn count(&self, text: &str) -> u64;

    /// A lower bound for a text of this many bytes: a file that cannot fit need not be read.
    fn at_least(&self, _bytes: u64) -> u64 {
        0
    }
}

/// The default counter: [`tokens`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EstimatedTokens;

impl TokenCounter for EstimatedTokens {
    fn name(&self) -> &str {
        "estimate"
    }

    fn count(&self, text: &str) -> u64 {
        tokens(text) as u64
    }

    fn at_least(&self, bytes: u64) -> u64 {
        bytes / 4
    }
}

/// An estimate from above: four ASCII characters are one token, any other character is one.
pub fn tokens(text: &str) -> usize {
    let ascii = text.bytes().filter(u8::is_ascii).count();
    let others = text.chars().filter(|c| !c.is_ascii()).count();
    ascii.div_ceil(4) + others
}
