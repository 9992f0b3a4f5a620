//! The journal's lines: intents, and what became of them.
//!
//! A line is `<event> <previous hash> <own hash>`. It holds only numbers, digests and offsets into the blob pack,
//! never a user's text: `forget` zeroes blobs, and the hash chain still verifies.
//!
//! ```text
//! plan 7 1700000000 <because> file <path> <old> <new> <mode> mark <seen> <text> order 9 <prev> <own>
//! undo 8 7 1700000000 <because> ...
//! done 7 <prev> <own>        the files are as the plan intended
//! void 7 <prev> <own>        the plan was rolled back
//! ```
//!
//! A blob is written as `offset:length:digest`, a missing one as `-`. `order` counts the changes of all lanes of a
//! project: clocks can be set back, and each lane has its own numbers. A plan that ends in `from <hash>` was moved
//! here from the fallback journal and needs no `done`.

use crate::backend::Digest;
use std::fmt::{self, Write as _};
use std::str::SplitAsciiWhitespace;

use lorelane_core::time::Timestamp;

use super::blobs::Blob;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum JournalRecord {
    Intent(Intent),
    Done(u64),
    Void(u64),
}

/// Everything needed to roll a change back, or to find it complete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Intent {
    pub(super) number: u64,
    pub(super) undoes: Option<u64>,
    pub(super) at: Timestamp,
    pub(super) because: Blob,
    pub(super) steps: Vec<IntentStep>,
    /// Its order among the changes of all lanes; 0 if unknown.
    pub(super) order: u64,
    pub(super) moved_from: Option<Digest>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum IntentStep {
    /// `mode` is the file's mode before the change: a revision keeps it, an undo restores it.
    File {
        path: Blob,
        old: Option<Blob>,
        new: Option<Blob>,
        mode: Option<u32>,
    },
    /// `seen` is how often the text was in the marks file before. Other lanes append to that file too, so neither
    /// its length nor its digest shows whether this step was done.
    Mark {
        text: Blob,
        seen: u64,
    },
    Unmark {
        text: Blob,
        seen: u64,
    },
}

#[derive(Clone, Debug)]
pub(super) struct JournalLine {
    pub(super) event: JournalRecord,
    pub(super) own: Digest,
    prev: Digest,
}

/// The lines of a journal or of its tail, up to the first that breaks the chain.
#[derive(Debug)]
pub(super) struct JournalChain {
    pub(super) lines: Vec<JournalLine>,
    pub(super) end: u64,
    pub(super) tail: Tail,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tail {
    Whole,
    /// What a crash leaves of unsynced lines. Nothing that they announce had begun.
    Torn,
    /// Synced lines follow a broken one: no crash causes that.
    Damaged,
}

impl JournalChain {
    /// Parses the lines that begin at `offset`; `prev` is the hash that the first must continue, if known.
    pub(super) fn read(bytes: &[u8], offset: u64, prev: Option<Digest>) -> JournalChain {
        let (mut lines, mut at, mut prev) = (Vec::new(), 0, prev);
        while let Some(len) = bytes[at..].iter().position(|byte| *byte == b'\n') {
            let line = JournalLine::parse(&bytes[at..at + len]);
            let Some(line) = line.filter(|line| prev.is_none_or(|prev| line.prev == prev)) else { break };
            prev = Some(line.own);
            lines.push(line);
            at += len + 1;
        }
        JournalChain { lines, end: offset + at as u64, tail: judge(&bytes[at..]) }
    }
}

/// A crash leaves a piece without its newline, or a hole of zeroes. A `done` line is not synced, so it and the
/// next intent can be lost together, and pages are lost in any order: one intact line may follow a hole.
fn judge(rest: &[u8]) -> Tail {
    let intact =
        || rest.split(|byte| *byte == b'\n').filter(|text| JournalLine::parse(text).is_some()).count();
    match rest {
        [] => Tail::Whole,
        piece if !piece.contains(&b'\n') => Tail::Torn,
        hole if hole.contains(&0) && intact() <= 1 => Tail::Torn,
        _ => Tail::Damaged,
    }
}

impl JournalLine {
    /// Formats a record as the line that follows `prev`; returns it with its hash.
    pub(super) fn write(event: &JournalRecord, prev: Digest) -> (String, Digest) {
        let mut text = format!("{event} {prev}");
        let own = Digest::of(text.as_bytes());
        writeln!(text, " {own}").expect("writing to a string does not fail");
        (text, own)
    }

    fn parse(text: &[u8]) -> Option<JournalLine> {
        let text = std::str::from_utf8(text).ok()?;
        let (signed, own) = text.rsplit_once(' ')?;
        let own = Digest::parse(own)?;
        if Digest::of(signed.as_bytes()) != own {
            return None;
        }
        let (event, prev) = signed.rsplit_once(' ')?;
        Some(JournalLine { event: JournalRecord::parse(event)?, own, prev: Digest::parse(prev)? })
    }
}

impl JournalRecord {
    pub(super) fn number(&self) -> u64 {
        match self {
            JournalRecord::Intent(intent) => intent.number,
            JournalRecord::Done(number) | JournalRecord::Void(number) => *number,
        }
    }

    fn parse(text: &str) -> Option<JournalRecord> {
        let mut words = text.split_ascii_whitespace();
        let (kind, number) = (words.next()?, words.next()?.parse().ok()?);
        let event = match kind {
            "done" => JournalRecord::Done(number),
            "void" => JournalRecord::Void(number),
            "plan" => JournalRecord::Intent(Intent::parse(number, None, &mut words)?),
            "undo" => {
                let undone = words.next()?.parse().ok()?;
                JournalRecord::Intent(Intent::parse(number, Some(undone), &mut words)?)
            }
            _ => return None,
        };
        words.next().is_none().then_some(event)
    }
}

impl Intent {
    pub(super) fn blobs(&self) -> impl Iterator<Item = Blob> {
        let of_step = |step: &IntentStep| match step {
            IntentStep::File { path, old, new, .. } => [Some(*path), *old, *new],
            IntentStep::Mark { text, .. } | IntentStep::Unmark { text, .. } => [Some(*text), None, None],
        };
        let steps: Vec<Blob> = self.steps.iter().flat_map(of_step).flatten().collect();
        std::iter::once(self.because).chain(steps)
    }

    fn parse(number: u64, undoes: Option<u64>, words: &mut SplitAsciiWhitespace<'_>) -> Option<Intent> {
        let at = Timestamp(words.next()?.parse().ok()?);
        let because = Blob::parse(words.next()?)?;
        let (mut steps, mut order, mut moved_from) = (Vec::new(), 0, None);
        while let Some(verb) = words.next() {
            match verb {
                "file" => steps.push(IntentStep::File {
                    path: Blob::parse(words.next()?)?,
                    old: optional(words.next()?, Blob::parse)?,
                    new: optional(words.next()?, Blob::parse)?,
                    mode: optional(words.next()?, |mode| u32::from_str_radix(mode, 8).ok())?,
                }),
                "mark" | "unmark" => {
                    let (seen, text) = (words.next()?.parse().ok()?, Blob::parse(words.next()?)?);
                    steps.push(match verb {
                        "mark" => IntentStep::Mark { text, seen },
                        _ => IntentStep::Unmark { text, seen },
                    });
                }
                "order" => order = words.next()?.parse().ok()?,
                "from" => moved_from = Some(Digest::parse(words.next()?)?),
                _ => return None,
            }
        }
        Some(Intent { number, undoes, at, because, steps, order, moved_from })
    }
}

fn optional<T>(word: &str, parse: impl FnOnce(&str) -> Option<T>) -> Option<Option<T>> {
    if word == "-" { Some(None) } else { parse(word).map(Some) }
}

impl fmt::Display for JournalRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let intent = match self {
            JournalRecord::Done(number) => return write!(f, "done {number}"),
            JournalRecord::Void(number) => return write!(f, "void {number}"),
            JournalRecord::Intent(intent) => intent,
        };
        match intent.undoes {
            None => write!(f, "plan {}", intent.number)?,
            Some(undone) => write!(f, "undo {} {undone}", intent.number)?,
        }
        write!(f, " {} {}", intent.at.0, intent.because)?;
        for step in &intent.steps {
            match step {
                IntentStep::File { path, old, new, mode } => {
                    write!(f, " file {path} {} {}", OrDash(*old), OrDash(*new))?;
                    match mode {
                        Some(mode) => write!(f, " {mode:o}")?,
                        None => f.write_str(" -")?,
                    }
                }
                IntentStep::Mark { text, seen } => write!(f, " mark {seen} {text}")?,
                IntentStep::Unmark { text, seen } => write!(f, " unmark {seen} {text}")?,
            }
        }
        if intent.order > 0 {
            write!(f, " order {}", intent.order)?;
        }
        match intent.moved_from {
            Some(origin) => write!(f, " from {origin}"),
            None => Ok(()),
        }
    }
}

struct OrDash(Option<Blob>);

impl fmt::Display for OrDash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(blob) => write!(f, "{blob}"),
            None => f.write_str("-"),
        }
    }
}
