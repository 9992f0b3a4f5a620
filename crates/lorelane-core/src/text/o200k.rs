//! Counts tokens exactly, in the encoding o200k.
//!
//! A text is cut into pieces (words, numbers, signs, spaces), and within each piece the neighbours that make the token
//! of the lowest rank are merged, until no two make one.

use super::tokens::{CounterName, TokenCounter};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use unicode_general_category::{GeneralCategory, get_general_category};

/// The first 256 bytes are the tokens of one byte, by rank. Then each two tokens have nine bytes: the ranks of the two
/// tokens that they are made of (four times the low 16 bits), and the high two bits of the four in one byte.
/// `cargo xtask o200k` makes the file.
static PACKED: &[u8] = include_bytes!("../../data/o200k.bin");
const SINGLES: usize = 256;
const PAIR_BYTES: usize = 9;
/// A power of two, well above twice the number of tokens.
const SLOTS: usize = 1 << 19;
const EMPTY: u32 = u32::MAX;
/// No token is longer: a run of 128 spaces.
const TOKEN_MAX_BYTES: u64 = 128;

/// The counter `o200k`. Making one unpacks its table.
#[derive(Clone)]
pub struct O200kTokens {
    /// The bytes of all tokens, by rank.
    bytes: Vec<u8>,
    /// Where each token begins in `bytes`; one more for the end.
    starts: Vec<u32>,
    /// Ranks, at the hash of their bytes or at the next free slot.
    slots: Vec<u32>,
}

impl std::fmt::Debug for O200kTokens {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("O200kTokens").field("tokens", &(self.starts.len() - 1)).finish_non_exhaustive()
    }
}

impl Default for O200kTokens {
    fn default() -> O200kTokens {
        O200kTokens::new()
    }
}

impl TokenCounter for O200kTokens {
    fn name(&self) -> &str {
        CounterName::O200k.name()
    }

    fn count(&self, text: &str) -> u64 {
        let (mut count, mut rest) = (0, text);
        while !rest.is_empty() {
            let (piece, after) = rest.split_at(piece_len(rest));
            count += self.count_piece(piece.as_bytes());
            rest = after;
        }
        count
    }

    fn at_least(&self, bytes: u64) -> u64 {
        bytes.div_ceil(TOKEN_MAX_BYTES)
    }
}

impl O200kTokens {
    pub fn new() -> O200kTokens {
        let (singles, pairs) = PACKED.split_at(SINGLES);
        let count = SINGLES + pairs.len() / PAIR_BYTES * 2;
        let mut table = O200kTokens {
            bytes: Vec::with_capacity(count * 7),
            starts: Vec::with_capacity(count + 1),
            slots: vec![EMPTY; SLOTS],
        };
        table.starts.push(0);
        for single in singles {
            table.bytes.push(*single);
            table.finish_token();
        }
        for two in pairs.chunks_exact(PAIR_BYTES) {
            let rank = |at: usize| {
                let high = usize::from(two[8] >> (2 * at) & 3);
                usize::from(u16::from_le_bytes([two[2 * at], two[2 * at + 1]])) | high << 16
            };
            for (left, right) in [(rank(0), rank(1)), (rank(2), rank(3))] {
                for part in [left, right] {
                    let range = table.range(part);
                    table.bytes.extend_from_within(range);
                }
                table.finish_token();
            }
        }
        table
    }

    /// Ends the token whose bytes were just added, and makes it known.
    fn finish_token(&mut self) {
        let rank = self.starts.len() - 1;
        self.starts.push(self.bytes.len() as u32);
        let mut slot = hash(&self.bytes[self.range(rank)]);
        while self.slots[slot] != EMPTY {
            slot = (slot + 1) % SLOTS;
        }
        self.slots[slot] = rank as u32;
    }

    fn range(&self, rank: usize) -> std::ops::Range<usize> {
        self.starts[rank] as usize..self.starts[rank + 1] as usize
    }

    fn rank(&self, token: &[u8]) -> Option<u32> {
        let mut slot = hash(token);
        loop {
            let rank = self.slots[slot];
            if rank == EMPTY {
                return None;
            }
            if &self.bytes[self.range(rank as usize)] == token {
                return Some(rank);
            }
            slot = (slot + 1) % SLOTS;
        }
    }

    fn count_piece(&self, piece: &[u8]) -> u64 {
        if piece.len() == 1 || self.rank(piece).is_some() { 1 } else { self.count_merged(piece) }
    }

    /// Merges with a heap: a piece can be a whole paragraph of Chinese, or a megabyte of one letter.
    fn count_merged(&self, piece: &[u8]) -> u64 {
        // Part `at` is `piece[at..ends[at]]`; `ends` of what was merged into its left neighbour is 0.
        let mut ends: Vec<u32> = (1..=piece.len() as u32).collect();
        let mut before: Vec<u32> = (0..piece.len() as u32).map(|at| at.saturating_sub(1)).collect();
        let merge = |at: u32, end: u32| {
            let fits = u64::from(end - at) <= TOKEN_MAX_BYTES;
            let token = piece.get(at as usize..end as usize).filter(|_| fits)?;
            Some(Reverse((self.rank(token)?, at, end)))
        };
        let first: Vec<_> = (1..piece.len() as u32).filter_map(|at| merge(at - 1, at + 1)).collect();
        let mut merges = BinaryHeap::from(first);
        let mut count = piece.len() as u64;
        while let Some(Reverse((_, at, end))) = merges.pop() {
            let middle = ends[at as usize];
            // One of the two was merged with its other neighbour meanwhile.
            if middle == 0 || middle >= end || ends[middle as usize] != end {
                continue;
            }
            (ends[at as usize], ends[middle as usize]) = (end, 0);
            count -= 1;
            if let Some(after) = before.get_mut(end as usize) {
                *after = at;
                merges.extend(merge(at, ends[end as usize]));
            }
            if at > 0 {
                merges.extend(merge(before[at as usize], end));
            }
        }
        count
    }
}

/// FNV-1a, folded: tokens are short, and nobody can choose them.
fn hash(token: &[u8]) -> usize {
    let hash = token.iter().fold(0xCBF2_9CE4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01B3)
    });
    (hash ^ hash >> 29) as usize % SLOTS
}

/// What a character is for the cut into pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CharKind {
    /// An upper case or title case letter.
    Upper,
    Lower,
    /// A letter without case.
    Caseless,
    /// A combining mark: part of a word like a letter, and yet no letter.
    Mark,
    Number,
    Newline,
    Space,
    Sign,
}

impl CharKind {
    fn of(c: char) -> CharKind {
        use GeneralCategory as G;
        match c {
            'a'..='z' => return CharKind::Lower,
            'A'..='Z' => return CharKind::Upper,
            '0'..='9' => return CharKind::Number,
            '\r' | '\n' => return CharKind::Newline,
            _ if c.is_whitespace() => return CharKind::Space,
            _ if c.is_ascii() => return CharKind::Sign,
            _ => {}
        }
        match get_general_category(c) {
            G::UppercaseLetter | G::TitlecaseLetter => CharKind::Upper,
            G::LowercaseLetter => CharKind::Lower,
            G::ModifierLetter | G::OtherLetter => CharKind::Caseless,
            G::NonspacingMark | G::SpacingMark | G::EnclosingMark => CharKind::Mark,
            G::DecimalNumber | G::LetterNumber | G::OtherNumber => CharKind::Number,
            _ => CharKind::Sign,
        }
    }

    fn may_begin_word(self) -> bool {
        matches!(self, CharKind::Upper | CharKind::Caseless | CharKind::Mark)
    }

    fn may_end_word(self) -> bool {
        matches!(self, CharKind::Lower | CharKind::Caseless | CharKind::Mark)
    }

    /// Whether it belongs to the word after it.
    fn may_precede_word(self) -> bool {
        matches!(self, CharKind::Mark | CharKind::Space | CharKind::Sign)
    }

    fn is_sign(self) -> bool {
        matches!(self, CharKind::Mark | CharKind::Sign)
    }

    fn is_space(self) -> bool {
        matches!(self, CharKind::Space | CharKind::Newline)
    }
}

/// The length of the first piece. The encoding defines it by a regular expression of seven alternatives:
///
/// ```text
/// [^\r\n\p{L}\p{N}]? U* L+ contraction?       U: \p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}
/// [^\r\n\p{L}\p{N}]? U+ L* contraction?       L: \p{Ll}\p{Lm}\p{Lo}\p{M}
/// \p{N}{1,3}
///  ?[^\s\p{L}\p{N}]+[\r\n/]*
/// \s*[\r\n]+
/// \s+(?!\S)
/// \s+
/// ```
fn piece_len(text: &str) -> usize {
    let Some(first) = text.chars().next() else { return 0 };
    let kind = CharKind::of(first);
    let after = first.len_utf8();
    let prefixed = kind.may_precede_word().then_some(after);
    let starts = || prefixed.into_iter().chain([0]);
    let word = starts().find_map(|start| lower_word_end(text, start));
    if let Some(end) = word.or_else(|| starts().find_map(|start| upper_word_end(text, start))) {
        return end + contraction_len(&text[end..]);
    }
    if kind == CharKind::Number {
        let digits = text.chars().take(3).take_while(|c| CharKind::of(*c) == CharKind::Number);
        return digits.map(char::len_utf8).sum();
    }
    let signs = run_end(text, usize::from(first == ' '), CharKind::is_sign);
    if signs > usize::from(first == ' ') {
        return text[signs..].find(|c| !matches!(c, '\r' | '\n' | '/')).map_or(text.len(), |at| signs + at);
    }
    let spaces = run_end(text, 0, CharKind::is_space);
    if let Some(newline) = text[..spaces].rfind(['\r', '\n']) {
        return newline + 1;
    }
    let last = text[..spaces].chars().next_back().map_or(1, char::len_utf8);
    // The last space belongs to what follows.
    if spaces < text.len() && spaces > last { spaces - last } else { spaces.max(after) }
}

/// Where the run of such characters ends that begins at `start`.
fn run_end(text: &str, start: usize, is_in_run: impl Fn(CharKind) -> bool) -> usize {
    text[start..].find(|c| !is_in_run(CharKind::of(c))).map_or(text.len(), |at| start + at)
}

/// `U* L+`, with as much as possible for `U*`.
fn lower_word_end(text: &str, start: usize) -> Option<usize> {
    let begun = run_end(text, start, CharKind::may_begin_word);
    let end = run_end(text, begun, CharKind::may_end_word);
    if end > begun {
        return Some(end);
    }
    // `U*` gives back what `L+` needs: the last letter without case, or the last mark.
    let given = |(_, c): &(usize, char)| CharKind::of(*c).may_end_word();
    let (at, c) = text[start..begun].char_indices().rev().find(given)?;
    Some(start + at + c.len_utf8())
}

/// `U+ L*`.
fn upper_word_end(text: &str, start: usize) -> Option<usize> {
    let begun = run_end(text, start, CharKind::may_begin_word);
    (begun > start).then(|| run_end(text, begun, CharKind::may_end_word))
}

fn contraction_len(text: &str) -> usize {
    let Some(rest) = text.strip_prefix('\'') else { return 0 };
    let rest = rest.as_bytes();
    let is =
        |word: &str| rest.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word.as_bytes()));
    ["s", "t", "re", "ve", "m", "ll", "d"].into_iter().find(|word| is(word)).map_or(0, |word| word.len() + 1)
}
