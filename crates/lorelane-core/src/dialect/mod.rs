//! Ways of writing memories down. Pure: text in, text out.
//!
//! A dialect has no search, lock, clock or IO. What it cannot express it refuses with a hint. The laws that
//! every dialect keeps are one test over all of them, in `tests/it/laws.rs`.

pub mod notes;
pub mod records;

use crate::change::{Draft, Notice};
use crate::memory::{Address, LaneId, Memory};
use crate::passage::Passage;
use crate::path::RelPath;
use crate::refusal::Refusal;
use crate::time::Timestamp;
use std::collections::BTreeSet;
use std::fmt;

pub trait Dialect: fmt::Debug + Send + Sync {
    /// The lane that is written so.
    fn lane(&self) -> LaneId;

    /// Where in its lane memories lie.
    fn extent(&self) -> Extent;

    /// Whether a file of this name, in a folder where memories lie, is meant to be one.
    fn is_memory_name(&self, file_name: &str) -> bool;

    /// A larger file holds no memory.
    fn max_bytes(&self) -> usize;

    /// Whether this path holds a memory of this dialect.
    fn owns(&self, path: &RelPath) -> bool {
        self.address_of(path).is_some()
    }

    /// The address whose one place this path is.
    fn address_of(&self, path: &RelPath) -> Option<Address>;

    /// The one place for an address; `None` when this dialect has no such group of memories.
    fn place(&self, address: &Address) -> Option<RelPath>;

    /// Reads one file. Never fails as a whole: what cannot be read is a problem.
    fn read(&self, path: &RelPath, bytes: &[u8]) -> ParsedFile;

    /// Makes a memory of what somebody drafted, mending what can be mended and refusing the rest.
    fn compose(
        &self,
        address: &Address,
        old: Option<&str>,
        draft: &Draft,
        circumstances: &WriteContext,
    ) -> Result<Composed, Refusal>;

    /// The edits that turn `old` (the text of `before`, or a template for a new memory) into `after`.
    fn write(
        &self,
        old: Option<&str>,
        before: Option<&Memory>,
        after: Option<&Memory>,
    ) -> Result<Vec<TextEdit>, Refusal>;

    /// What the memory in this text says, in passages with their lines in the file. Every line of prose that says
    /// something is in one of them.
    fn passages(&self, text: &str) -> Vec<Passage>;

    /// Where a memory goes when it is retired; `None` where it stays in its place. `taken` are not free.
    fn retired_to(
        &self,
        _address: &Address,
        _now: Timestamp,
        _taken: &dyn Fn(&Address) -> bool,
    ) -> Option<Address> {
        None
    }

    /// Where a memory goes when it is restored; `None` where it stays in its place.
    fn restored_to(&self, _address: &Address) -> Option<Address> {
        None
    }

    /// The memory's line in the listing; `None` for one that is not listed.
    fn listing_line(&self, memory: &Memory) -> Option<ListingLine>;

    /// The listing's place, and what is above its lines. These are in the order of their keys. `before` is how the
    /// present file begins; it keeps its header.
    fn listing(&self, before: &str) -> Option<(RelPath, &'static str)>;
}

/// The folders of a lane that memories lie in.
#[derive(Clone, Debug)]
pub enum Extent {
    /// These, and none below them.
    Folders(Vec<&'static str>),
    /// The root, and every folder below it that this says yes to.
    Tree(fn(folder: &str) -> bool),
}

/// What a reader got out of a file.
#[derive(Debug, Default)]
pub struct ParsedFile {
    pub memory: Option<Memory>,
    pub problems: Vec<Problem>,
}

/// Something in a file that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub path: RelPath,
    pub what: String,
}

/// What a change depends on beside the texts: facts that only the engine can know.
#[derive(Clone, Debug)]
pub struct WriteContext {
    pub now: Timestamp,
    /// Files that the old memory speaks of and that are no longer there.
    pub gone: BTreeSet<String>,
}

/// A memory made from a draft.
#[derive(Clone, Debug, PartialEq)]
pub struct Composed {
    pub memory: Memory,
    /// The text to start from instead of the file's: it keeps the order and the comments of the draft.
    pub base_text: Option<String>,
    /// The address that the new title asks for; taken when it is free.
    pub rename_to: Option<Address>,
    pub notices: Vec<Notice>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TextEdit {
    Put { path: RelPath, text: String },
    Remove { path: RelPath },
}

/// A line of a listing. `key` orders it; no two memories of a lane have the same one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ListingLine {
    pub key: String,
    pub text: String,
}

/// One file put in place and the former one taken away, where anything differs. `written` is the dialect's text of
/// a memory, starting from an old one.
fn edits(
    dialect: &dyn Dialect,
    old: Option<&str>,
    before: Option<&Memory>,
    after: Option<&Memory>,
    written: fn(Option<&str>, &Memory) -> Result<String, Refusal>,
) -> Result<Vec<TextEdit>, Refusal> {
    let mut edits = Vec::new();
    if before.is_some() && before == after {
        return Ok(edits);
    }
    let place = |memory: &Memory| {
        dialect.place(&memory.address).ok_or_else(|| Refusal::Missing { address: memory.address.clone() })
    };
    if let Some(after) = after {
        let path = place(after)?;
        let moved = before.is_some_and(|before| before.address != after.address);
        let text = written(old, after)?;
        if moved || before.is_none() || old != Some(text.as_str()) {
            edits.push(TextEdit::Put { path, text });
        }
    }
    if let Some(before) = before.filter(|before| after.is_none_or(|after| after.address != before.address)) {
        edits.push(TextEdit::Remove { path: place(before)? });
    }
    Ok(edits)
}
