//! Resolves what somebody typed to a memory, and reads its file.

use crate::index::ListFilter;
use crate::workspace::{Failure, UnclearName, Workspace};
use lorelane_core::corpus::MemorySummary;
use lorelane_core::dialect::Document;
use lorelane_core::dialect::Problem;
use lorelane_core::digest::Revision;
use lorelane_core::fence;
use lorelane_core::memory::trash::{restored, unarchived};
use lorelane_core::memory::{Address, Category, LaneId, Memory};
use lorelane_core::path::RelPath;
use lorelane_core::refusal::Refusal;
use lorelane_core::text::slug;

/// A memory, parsed from its file just now.
#[derive(Clone, Debug)]
pub struct LoadedMemory {
    pub memory: Memory,
    pub path: RelPath,
    pub document: Document,
    pub revision: Revision,
    pub problems: Vec<Problem>,
}

impl Workspace {
    /// The memory at this address, or the one that was renamed from it.
    pub fn at(&self, address: &Address) -> Option<Address> {
        let known =
            std::iter::once(address.clone()).chain(address.spellings()).find(|spelled| self.exists(spelled));
        if known.is_some() {
            return known;
        }
        let marks = self.marks();
        let now = Some(marks.follow(address)).filter(|now| self.exists(now));
        now.cloned().or_else(|| self.spelled_out(address))
    }

    /// The note whose name was shown to a model with special characters percent-encoded.
    fn spelled_out(&self, address: &Address) -> Option<Address> {
        let name = Some(address.name()).filter(|name| address.is_note() && name.contains('%'))?;
        Address::note(&fence::spelled_out(name)?).filter(|note| self.exists(note))
    }

    /// Resolves what a person typed: an address, a former address, a path, or a unique slug.
    pub fn find(&mut self, typed: &str) -> Result<Address, Failure> {
        if let Some(address) = Address::parse(typed).and_then(|address| self.at(&address)) {
            return Ok(address);
        }
        let marks = self.marks();
        let name = typed.rsplit('/').next().unwrap_or(typed);
        let name = name.strip_suffix(".json").unwrap_or(name);
        let same: Vec<Address> = self.called(typed, name)?;
        if let [only] = same.as_slice() {
            return Ok(only.clone());
        }
        if same.is_empty() {
            let former: Vec<&Address> =
                marks.aliases.keys().filter(|old| !typed.contains('/') && old.name() == name).collect();
            if let [only] = former.as_slice() {
                let now = marks.follow(only);
                if self.exists(now) {
                    return Ok(now.clone());
                }
            }
        }
        let several = !same.is_empty();
        let near = if same.is_empty() {
            similar(&self.recall().entries(ListFilter::default())?, name)
        } else {
            same
        };
        // An unreadable log is not an error here: it only loses a suggestion, and `log` and `doctor` report it.
        let deleted = if several { Vec::new() } else { self.deleted_outside(typed).unwrap_or_default() };
        Err(Failure::Unclear(UnclearName { typed: typed.to_owned(), near, deleted }))
    }

    /// Memories with this name, current or former, whose files were deleted outside lorelane while the log still
    /// has their contents.
    pub(super) fn deleted_outside(&self, typed: &str) -> Result<Vec<Address>, Failure> {
        let (marks, asked) = (self.marks(), Address::parse(typed));
        let is_called = |address: &Address| {
            let called = !typed.contains('/') && address.name() == typed;
            called || Some(address) == asked.as_ref() || self.listed_path(address) == typed
        };
        let mut deleted = Vec::new();
        for lane in &self.lanes {
            let paths = lane.documents.log().outside()?.deleted;
            deleted.extend(paths.keys().filter_map(|path| lane.dialect.address_of(path)));
        }
        deleted.retain(|address| is_called(address) || marks.former(address).iter().any(is_called));
        Ok(deleted)
    }

    /// The memories with this name: records by slug, notes by path or by its last part. If there are none, deleted
    /// notes by the name they had.
    fn called(&mut self, typed: &str, name: &str) -> Result<Vec<Address>, Failure> {
        let bare = !typed.contains('/');
        let note = typed.strip_suffix(".md").unwrap_or(typed);
        let records = Category::ALL.into_iter().filter(|_| bare).map(|of| Address::record(of, name));
        let notes = Address::note(note).map(|note| [note.clone()].into_iter().chain(note.spellings()));
        let note_here = notes.into_iter().flatten().find(|note| self.exists(note));
        let auto_here = Address::auto(note).filter(|auto| self.exists(auto));
        let mut same: Vec<Address> =
            records.filter(|address| self.exists(address)).chain(note_here).chain(auto_here).collect();
        let has_markdown = |lane: &LaneId| *lane != LaneId::Records;
        if !same.is_empty() || !self.lanes.ids().iter().any(has_markdown) {
            return Ok(same);
        }
        let asked = Address::parse(typed).or_else(|| Address::note(note));
        let is_last = |address: &Address| {
            let last = |address: &Address| address.name().rsplit('/').next() == Some(note);
            last(address) || address.spellings().iter().any(last)
        };
        let was_called = |address: &Address| {
            let former = restored(address).or_else(|| unarchived(address));
            former.is_some_and(|former| Some(&former) == asked.as_ref() || bare && is_last(&former))
        };
        let entries = self.recall().entries(ListFilter::default())?;
        let is_in_use = |address: &Address| !address.is_trash() && !address.is_in_archive();
        let notes =
            || entries.iter().map(|entry| &entry.address).filter(|address| address.category().is_none());
        same.extend(notes().filter(|address| bare && is_in_use(address) && is_last(address)).cloned());
        if same.is_empty() {
            same.extend(notes().filter(|address| was_called(address)).cloned());
        }
        Ok(same)
    }

    pub(super) fn exists(&self, address: &Address) -> bool {
        self.lanes.of(address).is_some_and(|lane| lane.exists(address))
    }

    /// Reads a memory from its file.
    pub fn load(&self, address: &Address) -> Result<LoadedMemory, Failure> {
        match self.lanes.of(address) {
            Some(lane) => lane.load(address),
            None => Err(Refusal::Missing { address: address.clone() }.into()),
        }
    }
}

fn similar(entries: &[MemorySummary], name: &str) -> Vec<Address> {
    let wanted = slug(name);
    let near = |entry: &&MemorySummary| {
        let own = entry.address.name();
        !wanted.is_empty() && (own.contains(&wanted) || wanted.contains(own))
    };
    entries.iter().filter(near).map(|entry| entry.address.clone()).take(8).collect()
}
