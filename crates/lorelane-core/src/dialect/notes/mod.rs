//! Notes: Markdown with YAML frontmatter, `[[wikilinks]]`, and a trash folder for deleted notes.
//!
//! The format is that of `ragdocs` notes: `type`, `status`, `tags` and `created_at` mean what they mean there.
//! What `ragdocs` has no key for (when a note was updated, retired or archived, and why) goes to keys it ignores.

mod compose;
mod frontmatter;
mod links;
mod merge;
mod model;
mod name;
mod patch;

pub(super) use compose::{appended, with_line_ends};
pub use compose::{draft, no_fields, titled};
pub use frontmatter::NoteDocument;
pub(super) use frontmatter::NoteSpans;
pub use links::links;
pub use merge::merged;
pub(super) use name::why_not as why_no_name;
pub use name::{NameFault, NameReason, for_title, named};
pub use patch::{set, set_body};

use super::listing::ListingLine;
use super::{
    Composed, Dialect, Document, Extent, MemoryFile, ParsedDraft, ParsedFile, Problem, Syntax, TextEdit,
    WriteContext, WriteRules, edits,
};
use crate::memory::{Address, LaneId, Memory, trash};
use crate::passage::Passage;
use crate::path::RelPath;
use crate::refusal::Refusal;
use crate::time::Timestamp;

/// A larger file is not read as a note: every scan would pay for it.
pub const NOTE_MAX_BYTES: usize = 4 << 20;
const EXTENSION: &str = ".md";

#[derive(Clone, Copy, Debug, Default)]
pub struct Notes;

impl Notes {
    /// The address of the note at this path.
    pub fn address_of(path: &RelPath) -> Option<Address> {
        Address::note(path.as_str().strip_suffix(EXTENSION)?)
    }
}

impl Dialect for Notes {
    fn lane(&self) -> LaneId {
        LaneId::Notes
    }

    /// Includes the trash: a deleted note is a retired memory and can be restored.
    fn extent(&self) -> Extent {
        Extent::Tree(|folder| Address::note(&format!("{folder}/x")).is_some())
    }

    /// Hidden files are not notes.
    fn is_memory_name(&self, file_name: &str) -> bool {
        file_name.ends_with(EXTENSION) && !file_name.starts_with('.')
    }

    fn max_bytes(&self) -> usize {
        NOTE_MAX_BYTES
    }

    fn address_of(&self, path: &RelPath) -> Option<Address> {
        Notes::address_of(path)
    }

    fn place(&self, address: &Address) -> Option<RelPath> {
        if !address.is_note() {
            return None;
        }
        RelPath::parse(&format!("{}{EXTENSION}", address.name())).ok()
    }

    fn read(&self, path: &RelPath, bytes: Vec<u8>) -> ParsedFile {
        let (mut file, decoded) = ParsedFile::new(bytes);
        let Some(address) = Notes::address_of(path) else {
            file.problem(path, "it is not at a valid path for a note".to_owned());
            return file;
        };
        match decoded.and_then(|()| model::open(&file.document.text)) {
            Ok(note) => {
                let problem = |what| Problem { path: path.clone(), what };
                file.problems = model::problems(&note).into_iter().map(problem).collect();
                file.memory = Some(model::memory(&note, address));
                let spans = NoteSpans::of(&note);
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
        context: &WriteContext,
    ) -> Result<Composed, Refusal> {
        match old {
            None => compose::create(address, draft.draft, context),
            Some(old) => compose::revise(address, old, draft.draft, context),
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
        trash::trashed(address, now, taken)
    }

    fn restored_to(&self, address: &Address) -> Option<Address> {
        trash::restored(address)
    }

    /// Notes have no listing; the folder itself serves as one.
    fn listing_line(&self, _: &Memory) -> Option<ListingLine> {
        None
    }

    fn listing(&self, _: &str) -> Option<(RelPath, &'static str)> {
        None
    }
}
