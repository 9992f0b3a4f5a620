//! Positions in a transcript.

use crate::json::lenient;
use serde::{Deserialize, Serialize};

/// A position in a transcript: `{"line": 3}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "AtFields", try_from = "AtFields")]
pub enum TranscriptPosition {
    /// Starts at 1.
    Line(u64),
    /// The byte offset, as found when reading backwards. Kept where counting lines from the start would read more
    /// than a stop hook may.
    Byte(u64),
}

impl TranscriptPosition {
    /// Whether this position is after the other. A line and a byte cannot be compared, so that counts as after.
    pub fn is_after(self, other: TranscriptPosition) -> bool {
        match (self, other) {
            (TranscriptPosition::Line(own), TranscriptPosition::Line(other))
            | (TranscriptPosition::Byte(own), TranscriptPosition::Byte(other)) => own > other,
            _ => true,
        }
    }
}

#[derive(Serialize, Deserialize)]
struct AtFields {
    #[serde(default, deserialize_with = "lenient::or_default", skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
    #[serde(default, deserialize_with = "lenient::or_default", skip_serializing_if = "Option::is_none")]
    byte: Option<u64>,
}

impl From<TranscriptPosition> for AtFields {
    fn from(at: TranscriptPosition) -> AtFields {
        match at {
            TranscriptPosition::Line(line) => AtFields { line: Some(line), byte: None },
            TranscriptPosition::Byte(byte) => AtFields { line: None, byte: Some(byte) },
        }
    }
}

impl TryFrom<AtFields> for TranscriptPosition {
    type Error = &'static str;

    fn try_from(AtFields { line, byte }: AtFields) -> Result<TranscriptPosition, &'static str> {
        line.map(TranscriptPosition::Line)
            .or(byte.map(TranscriptPosition::Byte))
            .ok_or("neither a line nor a byte")
    }
}
