//! Claude Code's own memory folder: topic files with frontmatter, and an index `MEMORY.md` that the client loads.
//!
//! The client writes here as it likes, so much is read and little is written. What it does not know (a pin, why a
//! memory was retired) is a mark and not a key in its files. A file's status follows from its folder: what is in
//! `archive/` is out of use.

mod compose;
mod index;
mod loader;
mod model;
mod report;
mod slug;
mod tidy;

pub use index::{
    ENTRY_CHARS_MAX, IndexEntry, IndexLine, IndexLineKind, MEMORY_FILE, MemoryIndex, entry_line,
};
pub use loader::{LOADED_LINES_MAX, LOADED_UNITS_MAX, LoadedIndex, load_index};
pub use report::{IndexReport, Instructions, RepeatedLine, ReportedEntry, TopicFile};
pub use slug::{long_slug_prefix, project_slug};
pub use tidy::{SplitIndex, TIDY_LINES_MAX, TIDY_UNITS_MAX, TidyIndex, split_standalone, tidied};

use super::listing::ListingLine;
use super::notes::{NOTE_MAX_BYTES, NoteSpans};
use super::{
    Composed, Dialect, Document, Extent, MemoryFile, ParsedDraft, ParsedFile, Problem, Syntax, TextEdit,
    WriteContext, WriteRules, edits,
};
use crate::memory::{Address, LaneId, Memory, trash};
use crate::passage::Passage;
use crate::path::RelPath;
use crate::refusal::Refusal;
use crate::time::Timestamp;

const EXTENSION: &str = ".md";
/// The listing of the records, where both lanes share a folder.
const RECORDS_LISTING: &str = "index.md";

#[derive(Clone, Copy, Debug, Default)]
pub struct Auto {
    /// Whether the folder is that of the records too. Each lane owns its files.
    pub shares_records: bool,
}

impl Dialect for Auto {
    fn lane(&self) -> LaneId {
        LaneId::Auto
    }

    /// Includes the archive, whose memories can be restored.
    fn extent(&self) -> Extent {
        Extent::Tree(|folder| Address::auto(&format!("{folder}/x")).is_some())
    }

    fn is_memory_name(&self, file_name: &str) -> bool {
        let is_listing = self.shares_records && file_name == RECORDS_LISTING;
        file_name.ends_with(EXTENSION) && !file_name.starts_with('.') && !is_listing
    }

    fn max_bytes(&self) -> usize {
        NOTE_MAX_BYTES
    }

    fn address_of(&self, path: &RelPath) -> Option<Address> {
        Address::auto(path.as_str().strip_suffix(EXTENSION)?)
            .filter(|_| self.is_memory_name(path.file_name()))
    }

    fn place(&self, address: &Address) -> Option<RelPath> {
        let path = RelPath::parse(&format!("{}{EXTENSION}", address.name())).ok()?;
        (address.is_auto() && self.is_memory_name(path.file_name())).then_some(path)
    }

    fn read(&self, path: &RelPath, bytes: Vec<u8>) -> ParsedFile {
        let (mut file, decoded) = ParsedFile::new(bytes);
        let Some(address) = self.address_of(path) else {
            file.problem(path, "it is not at a valid path for a memory".to_owned());
            return file;
        };
        match decoded.and_then(|()| model::open(&file.document.text)) {
            // An index is not a memory, and that is not a problem.
            Ok(_) if model::is_index(&address, &file.document.text) => {}
            Ok(document) => {
                let problem = |what| Problem { path: path.clone(), what };
                file.problems = model::problems(&document, &address).into_iter().map(problem).collect();
                file.memory = Some(model::memory(&document, address));
                let spans = NoteSpans::of(&document);
                file.document.syntax = Syntax::Note(spans);
            }
            Err(why) => file.problem(path, why),
        }
        file
    }

    fn compose(
        &self,
        address: &Address,
        old: Option<&MemoryFile>,
        draft: ParsedDraft<'_>,
        _: &WriteContext,
    ) -> Result<Composed, Refusal> {
        match old {
            None => compose::create(address, draft.draft),
            Some(old) => compose::revise(address, old, draft.draft),
        }
    }

    fn write(
        &self,
        base: Option<&Document>,
        before: Option<&Memory>,
        after: Option<&Memory>,
    ) -> Result<Vec<TextEdit>, Refusal> {
        let verified = model::refuse_what_reads_differently;
        edits(self, base, before, after, &WriteRules { written: model::written, verified })
    }

    fn passages(&self, document: &Document) -> Vec<Passage> {
        let Syntax::Note(spans) = &document.syntax else { return Vec::new() };
        spans.passages(&document.text)
    }

    fn retired_to(
        &self,
        address: &Address,
        now: Timestamp,
        taken: &dyn Fn(&Address) -> bool,
    ) -> Option<Address> {
        trash::archived(address, now, taken)
    }

    fn archived_to(
        &self,
        address: &Address,
        now: Timestamp,
        taken: &dyn Fn(&Address) -> bool,
    ) -> Option<Address> {
        trash::archived(address, now, taken)
    }

    fn restored_to(&self, address: &Address) -> Option<Address> {
        trash::unarchived(address)
    }

    /// The index is not derived from the files: it is edited with them.
    fn listing_line(&self, _: &Memory) -> Option<ListingLine> {
        None
    }

    fn listing(&self, _: &str) -> Option<(RelPath, &'static str)> {
        None
    }
}
