//! The file formats of memories. Pure: text in, text out.
//!
//! A dialect does no search, locking or IO and reads no clock. It rejects what its format cannot express, with a
//! hint. The laws that hold for every dialect are tested in `tests/it/laws.rs`.

pub mod auto;
pub mod listing;
pub mod notes;
pub mod records;

use crate::change::{Draft, Notice};
use crate::json::{Json, JsonNode};
use crate::memory::{Address, LaneId, Memory};
use crate::passage::Passage;
use crate::path::RelPath;
use crate::refusal::Refusal;
use crate::time::Timestamp;
use listing::ListingLine;
use notes::NoteSpans;
use std::collections::BTreeSet;
use std::fmt;

pub trait Dialect: fmt::Debug + Send + Sync {
    /// The lane that uses this format.
    fn lane(&self) -> LaneId;

    /// The folders of the lane that contain memories.
    fn extent(&self) -> Extent;

    /// Whether a file of this name, in one of those folders, is meant to be a memory.
    fn is_memory_name(&self, file_name: &str) -> bool;

    /// The largest file that is read as a memory.
    fn max_bytes(&self) -> usize;

    /// Whether this path is a memory's path in this dialect.
    fn owns(&self, path: &RelPath) -> bool {
        self.address_of(path).is_some()
    }

    /// The address of the memory at this path.
    fn address_of(&self, path: &RelPath) -> Option<Address>;

    /// The path of an address; `None` when this dialect has no memories of that kind.
    fn place(&self, address: &Address) -> Option<RelPath>;

    /// Parses one file. It never fails: whatever cannot be parsed is reported as a problem.
    fn read(&self, path: &RelPath, bytes: Vec<u8>) -> ParsedFile;

    /// Parses the text of a draft, once for the secret scan, validation and `compose`.
    fn parse_draft<'d>(&self, draft: &'d Draft) -> ParsedDraft<'d> {
        ParsedDraft { draft, json: None }
    }

    /// Makes a memory from a draft: fixes obvious mistakes and reports them, rejects the rest.
    fn compose(
        &self,
        address: &Address,
        old: Option<&MemoryFile>,
        draft: ParsedDraft<'_>,
        context: &WriteContext,
    ) -> Result<Composed, Refusal>;

    /// The edits that turn `base` (the file of `before`, or the base text of a new memory) into `after`.
    fn write(
        &self,
        base: Option<&Document>,
        before: Option<&Memory>,
        after: Option<&Memory>,
    ) -> Result<Vec<TextEdit>, Refusal>;

    /// The memory's text, cut into passages with their line ranges. Every line of prose that is not blank is in
    /// one of them.
    fn passages(&self, document: &Document) -> Vec<Passage>;

    /// The address a memory moves to when it is retired; `None` if it does not move. `taken` tells which addresses
    /// are in use.
    fn retired_to(
        &self,
        _address: &Address,
        _now: Timestamp,
        _taken: &dyn Fn(&Address) -> bool,
    ) -> Option<Address> {
        None
    }

    /// The address a memory moves to when it is archived; `None` if it does not move.
    fn archived_to(
        &self,
        _address: &Address,
        _now: Timestamp,
        _taken: &dyn Fn(&Address) -> bool,
    ) -> Option<Address> {
        None
    }

    /// The address a memory moves to when it is restored; `None` if it does not move.
    fn restored_to(&self, _address: &Address) -> Option<Address> {
        None
    }

    /// The memory's line in the listing; `None` for one that is not listed.
    fn listing_line(&self, memory: &Memory) -> Option<ListingLine>;

    /// The listing's path and header; its lines follow in the order of their keys. `before` is the start of the
    /// current file, whose header is kept.
    fn listing(&self, before: &str) -> Option<(RelPath, &'static str)>;
}

/// The folders of a lane that contain memories.
#[derive(Clone, Debug)]
pub enum Extent {
    /// These folders, without subfolders.
    Folders(Vec<&'static str>),
    /// The root, and every folder below it for which this returns true.
    Tree(fn(folder: &str) -> bool),
}

/// A text with the spans of its parts. It is parsed once; staging, writing and the index row reuse the spans.
#[derive(Clone, Debug, Default)]
pub struct Document {
    /// Decoded lossily: bytes that are not UTF-8 are replacement characters.
    pub text: String,
    syntax: Syntax,
}

/// Where the parts of a document are in its text.
#[derive(Clone, Debug, Default)]
enum Syntax {
    /// It could not be parsed.
    #[default]
    Unknown,
    /// Spans are relative to the text after a byte-order mark.
    Record(JsonNode),
    /// Markdown with frontmatter.
    Note(NoteSpans),
}

/// A memory, and the document that it was parsed from.
#[derive(Clone, Debug)]
pub struct MemoryFile {
    pub document: Document,
    pub memory: Memory,
    /// Whether the file breaks a rule of its format, although a memory could be read from it.
    pub has_problems: bool,
}

/// The result of parsing a file.
#[derive(Debug, Default)]
pub struct ParsedFile {
    pub document: Document,
    pub memory: Option<Memory>,
    pub problems: Vec<Problem>,
}

impl ParsedFile {
    /// A file whose text is decoded but not parsed, and why decoding failed if it did.
    fn new(bytes: Vec<u8>) -> (ParsedFile, Result<(), String>) {
        let (text, decoded) = match String::from_utf8(bytes) {
            Ok(text) => (text, Ok(())),
            Err(fault) => {
                let why = format!("it is not UTF-8 from byte {}", fault.utf8_error().valid_up_to());
                (String::from_utf8_lossy(fault.as_bytes()).into_owned(), Err(why))
            }
        };
        let document = Document { text, syntax: Syntax::Unknown };
        (ParsedFile { document, ..ParsedFile::default() }, decoded)
    }

    fn problem(&mut self, path: &RelPath, what: String) {
        self.problems.push(Problem { path: path.clone(), what });
    }

    /// The memory with its document, or why there is none.
    pub fn into_memory(self) -> Result<MemoryFile, String> {
        let ParsedFile { document, memory, problems } = self;
        match memory {
            Some(memory) => Ok(MemoryFile { document, memory, has_problems: !problems.is_empty() }),
            None => Err(problems.into_iter().next().map(|problem| problem.what).unwrap_or_default()),
        }
    }
}

/// A draft, with its JSON parsed where the dialect is JSON.
#[derive(Debug)]
pub struct ParsedDraft<'d> {
    pub draft: &'d Draft,
    json: Option<Result<DraftJson, String>>,
}

#[derive(Debug)]
struct DraftJson {
    root: Json,
    /// See [`json::JsonDocument::doubled`](crate::json::JsonDocument).
    doubled: Vec<String>,
    doubled_more: usize,
}

impl ParsedDraft<'_> {
    /// Calls `visit` with the field and text of everything in the draft's own text: field by field where it is
    /// JSON, as a whole otherwise.
    pub fn each_text(&self, visit: &mut dyn FnMut(&str, &str)) {
        match (&self.json, self.draft.text()) {
            (Some(Ok(json)), _) => json.root.each_text(visit),
            (_, Some(text)) => visit("content", text),
            (_, None) => {}
        }
    }
}

/// Something wrong in a file. A file with problems may still hold a memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub path: RelPath,
    pub what: String,
}

/// Inputs of a change that are not in the texts and that only the engine knows.
#[derive(Clone, Debug)]
pub struct WriteContext {
    pub now: Timestamp,
    /// Files that the old memory references and that no longer exist.
    pub gone: BTreeSet<String>,
}

/// A memory made from a draft.
#[derive(Clone, Debug, PartialEq)]
pub struct Composed {
    pub memory: Memory,
    /// The text to edit instead of the file's own, so that the order and comments of the draft are kept.
    pub base_text: Option<String>,
    /// The address that follows from the new title; used if it is free.
    pub rename_to: Option<Address>,
    pub notices: Vec<Notice>,
}

#[derive(Clone, Debug)]
pub enum TextEdit {
    Put { path: RelPath, file: Box<MemoryFile> },
    Remove { path: RelPath },
}

/// How a dialect writes a memory, starting from a file.
struct WriteRules {
    written: fn(Option<&Document>, &Memory) -> Result<String, Refusal>,
    /// Rejects a text that does not parse back to the same memory.
    verified: fn(&MemoryFile, &Memory) -> Result<(), Refusal>,
}

/// Writes the new file and removes the old one if the address changed; no edits where nothing differs.
fn edits(
    dialect: &dyn Dialect,
    base: Option<&Document>,
    before: Option<&Memory>,
    after: Option<&Memory>,
    rules: &WriteRules,
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
        let text = (rules.written)(base, after)?;
        if moved || before.is_none() || base.is_none_or(|base| base.text != text) {
            let file = dialect.read(&path, text.into_bytes()).into_memory();
            let file = file.map_err(|why| Refusal::Unreadable { address: after.address.clone(), why })?;
            (rules.verified)(&file, after)?;
            edits.push(TextEdit::Put { path, file: Box::new(file) });
        }
    }
    if let Some(before) = before.filter(|before| after.is_none_or(|after| after.address != before.address)) {
        edits.push(TextEdit::Remove { path: place(before)? });
    }
    Ok(edits)
}
