//! Changes `MEMORY.md` together with the memories that it links: the topic file first, then its line, in one plan.

use super::planner::Planner;
use crate::backend::Edit;
use crate::workspace::Failure;
use lorelane_core::dialect::auto::{MEMORY_FILE, MemoryIndex, entry_line, split_standalone};
use lorelane_core::digest::Revision;
use lorelane_core::lifecycle::LifecycleVerb;
use lorelane_core::mark::{ArchivedMark, Mark, MarkKind};
use lorelane_core::memory::{Address, LaneId, Memory};
use lorelane_core::path::RelPath;
use lorelane_core::refusal::Refusal;
use lorelane_core::secret;
use lorelane_core::text::one_line;

/// The index as earlier changes of a plan left it.
#[derive(Debug)]
pub(super) struct StagedIndex {
    before: Option<Vec<u8>>,
    text: String,
}

impl Planner<'_> {
    pub(super) fn has_index(&self) -> bool {
        self.lane.id() == LaneId::Auto
    }

    pub(super) fn index_path() -> RelPath {
        RelPath::parse(MEMORY_FILE).expect("a file name is a path")
    }

    /// The text of the index; empty if there is none.
    fn index_text(&mut self) -> Result<String, Failure> {
        if let Some(index) = &self.index {
            return Ok(index.text.clone());
        }
        let before = self.bytes(&Planner::index_path())?;
        let text = String::from_utf8(before.clone().unwrap_or_default());
        // Bytes that are not text would be lost.
        let text = text.map_err(|_| Refusal::Unreadable {
            address: Address::auto("MEMORY").expect("a file name is an address"),
            why: "it is not UTF-8".to_owned(),
        })?;
        self.index = Some(StagedIndex { before, text: text.clone() });
        Ok(text)
    }

    fn set_index(&mut self, text: String) {
        if let Some(index) = &mut self.index {
            // Also for later changes of this plan that concern it as a memory, if it still is one.
            let path = Planner::index_path();
            let file = self.lane.parse(&path, text.clone().into_bytes()).into_memory().ok();
            self.written.insert(path, file.map(Box::new));
            index.text = text;
        }
    }

    /// The edit of the index, after those of the memories.
    pub(super) fn stage_index(&mut self) {
        let Some(index) = self.index.take() else { return };
        let bytes = index.text.into_bytes();
        if index.before.unwrap_or_default() != bytes {
            self.staged.edits.push(Edit::Put { path: Planner::index_path(), bytes });
        }
    }

    /// Links a new memory.
    pub(super) fn link(&mut self, memory: &Memory, path: &RelPath) -> Result<(), Failure> {
        if !self.has_index() {
            return Ok(());
        }
        self.split_if_standalone()?;
        let text = self.index_text()?;
        let index = MemoryIndex::parse(&text);
        if index.entries().all(|(_, entry)| entry.path != *path) {
            let name =
                memory.extra.get("name").and_then(|name| name.as_text()).unwrap_or(memory.address.name());
            let title = one_line(name.trim_matches(['"', '\''])).replace(['-', '_'], " ");
            let linked = index.with_entry(&entry_line(&title, path, &memory.title));
            self.set_index(linked);
        }
        Ok(())
    }

    /// A standalone `MEMORY.md` becomes an index, with a topic per section. The original is kept in the archive.
    fn split_if_standalone(&mut self) -> Result<(), Failure> {
        let text = self.index_text()?;
        if !MemoryIndex::parse(&text).is_standalone() {
            return Ok(());
        }
        let taken = |path: &RelPath| !matches!(self.bytes(path), Ok(None));
        let split = split_standalone(&text, self.workspace.now, &taken);
        let mut puts = split.topics;
        puts.push((split.original, text));
        for (path, text) in puts {
            let file = self.lane.parse(&path, text.clone().into_bytes()).into_memory().ok().map(Box::new);
            self.staged.edits.push(Edit::Put { path: path.clone(), bytes: text.into_bytes() });
            self.written.insert(path, file);
        }
        self.set_index(split.index);
        Ok(())
    }

    /// Follows a rename or a new description.
    pub(super) fn relink(&mut self, before: &Memory, after: &Memory) -> Result<(), Failure> {
        if !self.has_index() || before.address.is_memory_file() {
            return Ok(());
        }
        let (from, to) = (self.place(&before.address)?, self.place(&after.address)?);
        let text = self.index_text()?;
        let hook = (before.title != after.title).then_some((before.title.as_str(), after.title.as_str()));
        let linked = MemoryIndex::parse(&text).relinked(&from, &to, hook);
        self.set_index(linked);
        Ok(())
    }

    /// Removes the lines of a memory that goes to the archive, and marks why it is there.
    pub(super) fn unlink(
        &mut self,
        before: &Memory,
        to: &Address,
        verb: LifecycleVerb,
        reason: &str,
    ) -> Result<(), Failure> {
        if !self.has_index() {
            return Ok(());
        }
        let (from, text) = (self.place(&before.address)?, self.index_text()?);
        let mut lines = Vec::new();
        if let Some((without, removed)) = MemoryIndex::parse(&text).without(&from) {
            self.set_index(without);
            lines = removed;
        }
        let because = secret::masked(&one_line(reason)).into_owned();
        let mark = ArchivedMark { retired: verb == LifecycleVerb::Retire, because, lines };
        let revision = self.bytes(&from)?.map(|bytes| Revision::of(&bytes));
        let (at, kind) = (self.workspace.now, MarkKind::Archived(mark));
        let mark = Mark { address: to.clone(), revision, at, kind };
        self.staged.edits.push(Edit::Mark { lines: mark.line().into_bytes() });
        Ok(())
    }

    /// Puts the lines of a restored memory back where they were.
    pub(super) fn link_again(&mut self, from: &Address, restored: &Memory) -> Result<(), Failure> {
        if !self.has_index() {
            return Ok(());
        }
        let path = self.place(&restored.address)?;
        let marks = self.workspace.read_marks()?;
        let lines = marks.archived.get(from).map(|(_, mark)| mark.lines.clone()).unwrap_or_default();
        let text = self.index_text()?;
        if lines.is_empty() || MemoryIndex::parse(&text).entries().any(|(_, entry)| entry.path == path) {
            return self.link(restored, &path);
        }
        let text = lines.iter().fold(text, |text, line| MemoryIndex::parse(&text).put_back(line));
        self.set_index(text);
        Ok(())
    }
}
