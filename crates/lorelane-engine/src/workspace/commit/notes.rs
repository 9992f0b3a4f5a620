//! Merges notes, and moves them between the project and the user's data folder.

use crate::backend::Edit;
use crate::workspace::Failure;
use crate::workspace::commit::Changes;
use crate::workspace::lane::CommittedFiles;
use crate::workspace::open::notes::{MOVE, MOVED_MAX_BYTES, NOTES_STORAGE};
use lorelane_core::change::{Change, Draft, Notice, Plan, Receipt};
use lorelane_core::dialect::notes;
use lorelane_core::digest::Revision;
use lorelane_core::lifecycle::LifecycleVerb;
use lorelane_core::mark::{Mark, MarkKind};
use lorelane_core::memory::{Address, LaneId};
use lorelane_core::path::RelPath;
use lorelane_core::policy::{ConfigFile, NotesStorage};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Several notes to be merged into one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoteMerge {
    pub sources: Vec<Address>,
    /// A new note, or one of the sources.
    pub target: Address,
    /// The text of the result; without it, the texts of all notes.
    pub text: Option<String>,
}

/// What moving the notes does, or would do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotesMove {
    pub from: PathBuf,
    pub to: PathBuf,
    /// The files that move, trash included.
    pub files: Vec<RelPath>,
    pub notices: Vec<Notice>,
}

impl Changes<'_> {
    /// Merges several notes into one. They are read under the lock.
    pub fn merge(&mut self, merge: &NoteMerge) -> Result<Receipt, Failure> {
        let lane = self.workspace.open_notes()?;
        self.workspace.commit_planned(lane, |workspace| workspace.changes().merging(merge))
    }

    /// The plan of a merge. A note that is named twice counts once.
    pub fn merging(&self, NoteMerge { sources, target, text }: &NoteMerge) -> Result<Plan, Failure> {
        if sources.is_empty() {
            return Err(Failure::NoSources);
        }
        if let Some(other) = sources.iter().chain([target]).find(|address| !address.is_note()) {
            return Err(Failure::NoNote { address: other.clone() });
        }
        let mut distinct: Vec<&Address> = Vec::new();
        for source in sources {
            if !distinct.contains(&source) {
                distinct.push(source);
            }
        }
        let notes = distinct.iter().map(|source| Ok(self.workspace.load(source)?.memory));
        let notes = notes.collect::<Result<Vec<_>, Failure>>()?;
        let text = text.clone().unwrap_or_else(|| notes::merged(&notes));
        let address = target.clone();
        let mut changes = vec![match distinct.contains(&target) {
            true => Change::Revise { address, expects: None, draft: Draft::Whole(text) },
            false => Change::Create { address, text },
        }];
        for source in distinct.iter().filter(|source| **source != target) {
            let (address, reason) = ((*source).clone(), String::new());
            changes.push(Change::Transition { address, verb: LifecycleVerb::Retire, reason });
        }
        let names: Vec<String> = distinct.iter().map(ToString::to_string).collect();
        Ok(Plan { changes, because: format!("merge {} into {target}", names.join(", ")) })
    }

    /// What moving the notes would do; nothing is locked or written.
    pub fn preview_notes_move(&self, to: NotesStorage) -> Result<NotesMove, Failure> {
        let place = self.workspace.notes_place(to)?;
        let from = self.workspace.notes.as_ref().ok_or(Failure::NotesOff)?;
        self.workspace.refuse_untrusted_place(to)?;
        if place.root == from.root {
            // Left by a move that was interrupted after the settings were changed.
            let left = self.workspace.copies_left().ok_or(Failure::NotesThere { folder: place.root.clone() });
            return left.map(|(other, files)| NotesMove {
                from: other.folder(""),
                to: place.root,
                files,
                notices: Vec::new(),
            });
        }
        let files = self.workspace.notes_lane().map(|lane| lane.files().files).unwrap_or_default();
        // A file with the same bytes was left by an interrupted move.
        let bytes = |root: &Path, path: &RelPath| {
            self.workspace.disk.read_regular(&root.join(path.as_str()), MOVED_MAX_BYTES)
        };
        let is_taken = |path: &&RelPath| match bytes(&place.root, path) {
            Ok(None) => false,
            Ok(there) => !bytes(&from.root, path).is_ok_and(|here| here == there),
            Err(_) => true,
        };
        // Names that differ only in capitals are one file on many systems.
        let there = place.open(&self.workspace.disk, &self.workspace.project).files().files;
        let folded = |path: &RelPath| path.as_str().to_lowercase();
        let same_but_case =
            |path: &RelPath| there.iter().find(|other| *other != path && folded(other) == folded(path));
        if let Some(path) = files.iter().find_map(same_but_case) {
            return Err(Failure::NotesTaken { file: place.root.join(path.as_str()) });
        }
        match files.iter().find(is_taken) {
            Some(path) => Err(Failure::NotesTaken { file: place.root.join(path.as_str()) }),
            None => Ok(NotesMove { from: from.root.clone(), to: place.root, files, notices: Vec::new() }),
        }
    }

    /// Moves every note with its pin, and sets the new place in the settings. Nothing is overwritten: a name
    /// that is taken there stops the whole move. The new files are synced before the old ones are removed: a
    /// move that is killed in between leaves both, and the same command continues it.
    pub fn move_notes(&mut self, to: NotesStorage) -> Result<NotesMove, Failure> {
        self.workspace.refuse_when_misconfigured()?;
        let place = self.workspace.notes_place(to)?;
        let from = self.workspace.open_notes()?;
        let documents = Arc::clone(&self.workspace.lanes[from].documents);
        let mut writer = documents.begin()?;
        self.workspace.catch_up(from, &mut *writer)?;
        let mut moved = self.preview_notes_move(to)?;
        let because = format!("{MOVE}{}", to.name());
        let removed = || moved.files.iter().map(|path| Edit::Remove { path: path.clone() }).collect();
        if let Some((mut other, _)) =
            self.workspace.copies_left().filter(|_| moved.to == self.workspace.lanes[from].folder(""))
        {
            other.apply(removed(), &because, self.workspace.now, writer.order())?;
            return Ok(moved);
        }
        // Before any file is copied: this fails if the settings cannot be edited.
        let text = self.workspace.config.with(
            &*self.workspace.disk,
            ConfigFile::Lorelane,
            NOTES_STORAGE,
            &to.name().into(),
        )?;
        let mut there = place.open(&self.workspace.disk, &self.workspace.project);
        there.apply(self.copies(from, &moved.files)?, &because, self.workspace.now, writer.order())?;
        self.workspace.config.save(&*self.workspace.disk, ConfigFile::Lorelane, &text)?;
        // Before the old files are removed: while the setting is held back, the new place is not read.
        let notice = self.workspace.settle_notes_place()?;
        let done = writer.apply(removed(), &because, self.workspace.now)?;
        moved.notices = self.workspace.settle(
            from,
            writer,
            &done.changes,
            &moved.files,
            CommittedFiles::default(),
            &because,
        );
        moved.notices.extend(notice);
        self.workspace.notes = Some(place);
        self.workspace.lanes.open(there);
        Ok(moved)
    }

    /// The edits that create the same notes in another lane.
    fn copies(&self, from: LaneId, files: &[RelPath]) -> Result<Vec<Edit>, Failure> {
        let lane = &self.workspace.lanes[from];
        let pinned = self.workspace.read_marks()?.pinned;
        let mut edits = Vec::new();
        for path in files {
            let file = lane.file(path);
            let bytes = self.workspace.disk.read_regular(&file, MOVED_MAX_BYTES);
            let bytes = bytes.map_err(|source| Failure::io("read", &file, source))?.unwrap_or_default();
            let address = lane.dialect.address_of(path).filter(|address| pinned.contains(address));
            if let Some(address) = address {
                let revision = Some(Revision::of(&bytes));
                let mark = Mark { address, revision, at: self.workspace.now, kind: MarkKind::Pin };
                edits.push(Edit::Mark { lines: mark.line().into_bytes() });
            }
            edits.push(Edit::Put { path: path.clone(), bytes });
        }
        Ok(edits)
    }
}
