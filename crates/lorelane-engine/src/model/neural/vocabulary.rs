//! The WordPiece vocabulary of a model: a text as piece ids.

use lorelane_core::embed::{WordPiece, each_piece, longest};
use std::collections::HashMap;

#[derive(Debug)]
pub struct Vocabulary {
    lines: Vec<String>,
    numbers: HashMap<String, u32>,
    start: u32,
    end: u32,
}

impl Vocabulary {
    /// Reads one piece per line; its id is the line number.
    pub fn read(text: &str) -> Result<Vocabulary, String> {
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let numbers: HashMap<String, u32> = lines.iter().cloned().zip(0..).collect();
        let frame =
            |name: &str| numbers.get(name).copied().ok_or_else(|| format!("it has no piece `{name}`"));
        let (start, end) = (frame("[CLS]")?, frame("[SEP]")?);
        Ok(Vocabulary { lines, numbers, start, end })
    }

    pub fn lines(&self) -> &[String] {
        &self.lines
    }

    /// The ids of a text's pieces, in order. A word that the vocabulary cannot cover is left out.
    pub fn pieces(&self, text: &str) -> Vec<u32> {
        let find = |piece: WordPiece<'_>| match piece {
            WordPiece::Start(start) => self.numbers.get(start),
            WordPiece::Rest(rest) => self.numbers.get(&format!("##{rest}")),
        };
        let mut pieces = Vec::new();
        each_piece(text, |rest| longest(rest, find), |number| pieces.push(*number));
        pieces
    }

    /// The first pieces between `[CLS]` and `[SEP]`, at most `most` including these.
    pub fn framed(&self, pieces: &[u32], most: usize) -> Vec<u32> {
        let pieces = pieces.iter().copied().take(most.saturating_sub(2));
        [self.start].into_iter().chain(pieces).chain([self.end]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_framed_and_cut() {
        let vocabulary = Vocabulary::read("[CLS]\n[SEP]\nun\n##fit\nfor\n").unwrap();
        let pieces = vocabulary.pieces("Unfit for xyz");
        assert_eq!(pieces, [2, 3, 4]);
        assert_eq!(vocabulary.framed(&pieces, 9), [0, 2, 3, 4, 1]);
        assert_eq!(vocabulary.framed(&pieces, 4), [0, 2, 3, 1]);
        assert_eq!(Vocabulary::read("[CLS]\nun\n").unwrap_err(), "it has no piece `[SEP]`");
    }
}
