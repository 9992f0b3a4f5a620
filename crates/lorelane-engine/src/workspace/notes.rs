//! The notes of a project: where they lie, how they become one, how they move.

use super::lane::Lane;
use super::locate::{is_folder, real_path};
use super::project::Project;
use super::trust::settled;
use super::{Failure, JOURNAL, Workspace};
use crate::config::ConfigFiles;
use crate::disk::Disk;
use crate::env::{Env, Folders};
use crate::store::Edit;
use lorelane_core::change::{Change, Draft, Notice, Plan, Receipt};
use lorelane_core::dialect::notes::{self, Notes};
use lorelane_core::digest::Revision;
use lorelane_core::json::Json;
use lorelane_core::lifecycle::Verb;
use lorelane_core::mark::{MARKS_FOLDER, Mark, MarkKind};
use lorelane_core::memory::{Address, LaneId};
use lorelane_core::path::RelPath;
use lorelane_core::policy::{ConfigProblem, DEFAULT_ROOT, Home, NOTES_ROOT, NotesStorage, Policy};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A larger file is no note that anybody wrote.
const MOVED_MAX_BYTES: u64 = 64 << 20;
/// The folder of notes in our own data folder.
const OWN_NOTES: &str = "memories";
/// What the first system derived from the notes.
pub(super) const FORMER_INDEX: &str = "indices";

/// The key that says where the notes lie.
pub(super) const NOTES_STORAGE: &str = "notes.storage";

/// What the log says of a move begins so.
pub(super) const MOVE: &str = "notes move --to ";

/// Where notes lie, or would lie if there were any.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) root: PathBuf,
    known_as: String,
    pub(super) marks: PathBuf,
}

/// Several notes that shall be one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Merge {
    pub sources: Vec<Address>,
    /// A new note, or one of the sources.
    pub target: Address,
    /// What it shall say instead of all that they say.
    pub text: Option<String>,
}

/// What moving the notes does, or would do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved {
    pub from: PathBuf,
    pub to: PathBuf,
    /// The files that move, trash included.
    pub files: Vec<RelPath>,
    pub notices: Vec<Notice>,
}

impl Place {
    /// The place that the settings name. A link that leads out of the project would let a repository choose where
    /// on this machine we write, so it is a problem, and the notes are closed.
    pub(super) fn find(
        disk: &dyn Disk,
        project: &Path,
        folders: Option<&Folders>,
        storage: NotesStorage,
    ) -> Result<Option<Place>, ConfigProblem> {
        let problem = |what: String| ConfigProblem {
            key: NOTES_STORAGE.to_owned(),
            file: NOTES_ROOT.to_owned(),
            what,
            stops_writes: false,
        };
        match (storage, folders) {
            (NotesStorage::Project, _) => {
                let root = real_path(&project.join(NOTES_ROOT))
                    .map_err(|failure| problem(format!("no note is read: {failure}")))?;
                if !root.starts_with(project) {
                    let to = root.display();
                    return Err(problem(format!("it leads out of the project to {to}, so no note is read")));
                }
                let marks = project.join(MARKS_FOLDER);
                Ok(Some(Place { root, known_as: NOTES_ROOT.to_owned(), marks }))
            }
            (NotesStorage::User, None) => Ok(None),
            (NotesStorage::User, Some(folders)) => {
                let root = match is_folder(disk, &folders.former_notes) {
                    true => &folders.former_notes,
                    false => &folders.data.join(OWN_NOTES),
                };
                let root = real_path(root).unwrap_or_else(|_| root.clone());
                let known_as = root.display().to_string();
                Ok(Some(Place { root, known_as, marks: folders.data.clone() }))
            }
        }
    }

    pub(super) fn open(&self, disk: &Arc<dyn Disk>, project: &Project) -> Lane {
        let (root, marks) = (self.root.clone(), self.marks.clone());
        Lane::open(Arc::clone(disk), project, Box::new(Notes), root, &self.known_as, marks)
    }
}

/// Where the settings put the notes of a project, if anywhere.
pub(super) fn place(
    disk: &dyn Disk,
    project: &Path,
    folders: Option<&Folders>,
    policy: &mut Policy,
) -> Option<Place> {
    if !policy.notes_enabled() {
        return None;
    }
    Place::find(disk, project, folders, policy.notes_storage()).unwrap_or_else(|problem| {
        policy.problems.push(problem);
        None
    })
}

/// Whether the settings that hold in a project put notes in the user's data folder, and there are some.
pub(super) fn are_the_users(disk: &dyn Disk, env: &Env, project: &Path) -> bool {
    let folders = env.folders();
    let config = ConfigFiles::of_project(project, folders.as_ref().map(|folders| folders.config.as_path()));
    let mut policy = settled(disk, env.now, folders.as_ref(), &config, project, &project.join(DEFAULT_ROOT));
    let notes = place(disk, project, folders.as_ref(), &mut policy);
    policy.notes_storage() == NotesStorage::User && notes.is_some_and(|notes| is_folder(disk, &notes.root))
}

impl Workspace {
    /// The folder of the notes, whether it exists or not; `None` where there is no place for notes.
    pub fn notes_folder(&self) -> Option<&Path> {
        self.notes.as_ref().map(|place| place.root.as_path())
    }

    /// Makes one note of several. What they say is read under the lock.
    pub fn merge(&mut self, merge: &Merge) -> Result<Receipt, Failure> {
        let lane = self.open_notes()?;
        self.commit_planned(lane, |workspace| workspace.merging(merge))
    }

    /// What a merge does. A note that is named twice counts once.
    pub fn merging(&self, Merge { sources, target, text }: &Merge) -> Result<Plan, Failure> {
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
        let notes = distinct.iter().map(|source| Ok(self.load(source)?.memory));
        let notes = notes.collect::<Result<Vec<_>, Failure>>()?;
        let text = text.clone().unwrap_or_else(|| notes::merged(&notes));
        let address = target.clone();
        let mut changes = vec![match distinct.contains(&target) {
            true => Change::Revise { address, expects: None, draft: Draft::Whole(text) },
            false => Change::Create { address, text },
        }];
        for source in distinct.iter().filter(|source| **source != target) {
            let (address, reason) = ((*source).clone(), String::new());
            changes.push(Change::Step { address, verb: Verb::Retire, reason });
        }
        let names: Vec<String> = distinct.iter().map(ToString::to_string).collect();
        Ok(Plan { changes, because: format!("merge {} into {target}", names.join(", ")) })
    }

    /// What moving the notes would do; nothing is locked or written.
    pub fn preview_notes_move(&self, to: NotesStorage) -> Result<Moved, Failure> {
        let place = self.notes_place(to)?;
        let from = self.notes.as_ref().ok_or(Failure::NotesOff)?;
        self.refuse_untrusted_place(to)?;
        if place.root == from.root {
            // What a move left that was cut short after the settings named the new place.
            let left = self.copies_left().ok_or(Failure::NotesThere { folder: place.root.clone() });
            return left.map(|(other, files)| Moved {
                from: other.root.clone(),
                to: place.root,
                files,
                notices: Vec::new(),
            });
        }
        let files = self.notes_lane().map(|lane| lane.files().files).unwrap_or_default();
        // The same bytes are what a move left that was cut short.
        let bytes =
            |root: &Path, path: &RelPath| self.disk.read_regular(&root.join(path.as_str()), MOVED_MAX_BYTES);
        let is_taken = |path: &&RelPath| match bytes(&place.root, path) {
            Ok(None) => false,
            Ok(there) => !bytes(&from.root, path).is_ok_and(|here| here == there),
            Err(_) => true,
        };
        // Names that differ only in capitals are one file on many systems.
        let there = place.open(&self.disk, &self.project).files().files;
        let folded = |path: &RelPath| path.as_str().to_lowercase();
        let same_but_case =
            |path: &RelPath| there.iter().find(|other| *other != path && folded(other) == folded(path));
        if let Some(path) = files.iter().find_map(same_but_case) {
            return Err(Failure::NotesTaken { file: place.root.join(path.as_str()) });
        }
        match files.iter().find(is_taken) {
            Some(path) => Err(Failure::NotesTaken { file: place.root.join(path.as_str()) }),
            None => Ok(Moved { from: from.root.clone(), to: place.root, files, notices: Vec::new() }),
        }
    }

    /// Moves every note with its pin, and has the settings name the new place. Nothing is overwritten: a name that is
    /// taken there stops all. The new files are synced before the old ones go: whoever is killed in between has both,
    /// and the same command goes on.
    pub fn move_notes(&mut self, to: NotesStorage) -> Result<Moved, Failure> {
        self.refuse_when_misconfigured()?;
        let place = self.notes_place(to)?;
        let from = self.open_notes()?;
        let store = Arc::clone(&self.lanes[from].store);
        let mut writer = store.begin()?;
        self.catch_up(from, &mut writer)?;
        let mut moved = self.preview_notes_move(to)?;
        let because = format!("{MOVE}{}", to.name());
        let removed = || moved.files.iter().map(|path| Edit::Remove { path: path.clone() }).collect();
        if let Some((mut other, _)) = self.copies_left().filter(|_| moved.to == self.lanes[from].root) {
            other.apply(removed(), &because, self.now, writer.order())?;
            return Ok(moved);
        }
        // First, because it may not be possible.
        let text = self.config.with(&*self.disk, Home::Lorelane, NOTES_STORAGE, &Json::text(to.name()))?;
        let mut there = place.open(&self.disk, &self.project);
        there.apply(self.copies(from, &moved.files)?, &because, self.now, writer.order())?;
        self.config.save(&*self.disk, Home::Lorelane, &text)?;
        // Before the old files go: where the new place is held back, nobody reads it.
        let notice = self.settle_notes_place()?;
        let done = writer.apply(removed(), &because, self.now)?;
        moved.notices = self.settle(from, writer, &done.changes, &moved.files, &because);
        moved.notices.extend(notice);
        self.notes = Some(place);
        self.lanes.open(there);
        Ok(moved)
    }

    /// The edits that make the same notes in another lane.
    fn copies(&self, from: LaneId, files: &[RelPath]) -> Result<Vec<Edit>, Failure> {
        let lane = &self.lanes[from];
        let pinned = self.read_marks()?.pinned;
        let mut edits = Vec::new();
        for path in files {
            let file = lane.file(path);
            let bytes = self.disk.read_regular(&file, MOVED_MAX_BYTES);
            let bytes = bytes.map_err(|source| Failure::io("read", &file, source))?.unwrap_or_default();
            let address = lane.dialect.address_of(path).filter(|address| pinned.contains(address));
            if let Some(address) = address {
                let revision = Some(Revision::of(&bytes));
                let mark = Mark { address, revision, at: self.now, kind: MarkKind::Pin };
                edits.push(Edit::Mark { lines: mark.line().into_bytes() });
            }
            edits.push(Edit::Put { path: path.clone(), bytes });
        }
        Ok(edits)
    }

    /// The lane that the notes lay in before they were moved, if they ever were: its log remembers them.
    pub(super) fn former_notes(&self) -> Option<Lane> {
        let other = self.other_notes_place()?;
        let journal = self.project.journal(&other.root).join(JOURNAL);
        let has_log = matches!(self.disk.stat(&journal), Ok(Some(_)));
        has_log.then(|| other.open(&self.disk, &self.project))
    }

    /// Notes that lie where they lay before, too, with the same bytes: what is left of a move that was cut short.
    pub(super) fn copies_left(&self) -> Option<(Lane, Vec<RelPath>)> {
        let (other, lane) = (self.former_notes()?, self.notes_lane()?);
        let bytes = |lane: &Lane, path: &RelPath| lane.read(path).ok().flatten();
        let mut files = other.files().files;
        files.retain(|path| bytes(&other, path).is_some_and(|copy| bytes(lane, path) == Some(copy)));
        (!files.is_empty()).then_some((other, files))
    }

    /// Where the notes do not lie, and may have lain before.
    pub(super) fn other_notes_place(&self) -> Option<Place> {
        let now = self.notes.as_ref()?;
        let places = [NotesStorage::Project, NotesStorage::User].map(|storage| self.notes_place(storage));
        places.into_iter().flatten().find(|place| place.root != now.root)
    }

    fn notes_place(&self, storage: NotesStorage) -> Result<Place, Failure> {
        let found = Place::find(&*self.disk, &self.project.root, self.folders.as_ref(), storage);
        found.map_err(|problem| Failure::Misconfigured(vec![problem]))?.ok_or(Failure::NotesOff)
    }

    fn notes_lane(&self) -> Option<&Lane> {
        self.lanes.get(LaneId::Notes)
    }

    /// Opens the notes once their folder exists: another process may have made it.
    pub(super) fn meet_notes(&mut self) {
        let Some(place) = self.notes.as_ref().filter(|_| self.notes_lane().is_none()) else { return };
        if is_folder(&*self.disk, &place.root) {
            let lane = place.open(&self.disk, &self.project);
            self.lanes.open(lane);
        }
    }

    /// Opens the notes for a change. Their folder need not exist: the change makes it.
    pub(super) fn open_notes(&mut self) -> Result<LaneId, Failure> {
        if self.notes_lane().is_none() {
            let place = self.notes.as_ref().ok_or(Failure::NotesOff)?;
            let lane = place.open(&self.disk, &self.project);
            self.lanes.open(lane);
        }
        Ok(LaneId::Notes)
    }
}
