//! Ways of writing memories down. Pure: text in, text out.
//!
//! A dialect has no search, lock, clock or IO. What it cannot express it refuses with a hint. The laws that
//! every dialect keeps are one test over all of them, in `tests/it/laws.rs`.

pub mod notes;
pub mod records;

use crate::change::{Draft, Notice};
use crate::json::{Json, JsonNode};
use crate::memory::{Address, LaneId, Memory};
use crate::passage::Passage;
use crate::path::RelPath;
use crate::refusal::Refusal;
use crate::time::Timestamp;
use notes::NoteSpans;
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

    /// Parses one file. Never fails as a whole: what cannot be read is a problem.
    fn read(&self, path: &RelPath, bytes: Vec<u8>) -> ParsedFile;

    /// Parses the text of a draft, once for all who judge it.
    fn parse_draft<'d>(&self, draft: &'d Draft) -> ParsedDraft<'d> {
        ParsedDraft { draft, json: None }
    }

    /// Makes a memory of what somebody drafted, mending what can be mended and refusing the rest.
    fn compose(
        &self,
        address: &Address,
        old: Option<&MemoryFile>,
        draft: ParsedDraft<'_>,
        circumstances: &WriteContext,
    ) -> Result<Composed, Refusal>;

    /// The edits that turn `base` (the file of `before`, or the base text of a new memory) into `after`.
    fn write(
        &self,
        base: Option<&Document>,
        before: Option<&Memory>,
        after: Option<&Memory>,
    ) -> Result<Vec<TextEdit>, Refusal>;

    /// What the memory in this file says, in passages with their lines. Every line of prose that says something is
    /// in one of them.
    fn passages(&self, document: &Document) -> Vec<Passage>;

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

/// A text with the spans of its parts. It is parsed once: staging, writing and the index row carry it on.
#[derive(Clone, Debug, Default)]
pub struct Document {
    /// With a replacement character for what is not UTF-8.
    pub text: String,
    syntax: Syntax,
}

/// Where the parts of a document are in its text.
#[derive(Clone, Debug, Default)]
enum Syntax {
    /// It could not be parsed.
    #[default]
    Unknown,
    /// The spans count from behind a byte-order mark.
    Record(JsonNode),
    Note(NoteSpans),
}

/// A memory, and the document that says it.
#[derive(Clone, Debug)]
pub struct MemoryFile {
    pub document: Document,
    pub memory: Memory,
}

/// What a reader got out of a file.
#[derive(Debug, Default)]
pub struct ParsedFile {
    pub document: Document,
    pub memory: Option<Memory>,
    pub problems: Vec<Problem>,
}

impl ParsedFile {
    /// A file that is not parsed yet, or why its bytes are no text.
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
            Some(memory) => Ok(MemoryFile { document, memory }),
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

#[derive(Clone, Debug)]
pub enum TextEdit {
    Put { path: RelPath, file: Box<MemoryFile> },
    Remove { path: RelPath },
}

/// A line of a listing. `key` orders it; no two memories of a lane have the same one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ListingLine {
    pub key: String,
    pub text: String,
}

/// How a dialect writes a memory, starting from a file.
struct WriteRules {
    written: fn(Option<&Document>, &Memory) -> Result<String, Refusal>,
    /// Refuses a text that reads as something else than the memory.
    verified: fn(&MemoryFile, &Memory) -> Result<(), Refusal>,
}

/// One file put in place and the former one taken away, where anything differs.
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
