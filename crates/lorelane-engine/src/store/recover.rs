//! Settles a change that was journalled and interrupted.
//!
//! When every file is as intended, the change is done. Otherwise what it did is taken back: nobody was told that it
//! was made, and whoever was told that it was not must never see it happen. Completing it would need nothing less
//! than the journal to record each failure, and a disk that fails may refuse that too.

use crate::backend::{Place, StoreError, Warning};
use std::collections::BTreeSet;
use std::path::Path;

use lorelane_core::path::RelPath;

use super::book::Book;
use super::faults::FaultSwitch;
use super::journal::{Event, Intent, Step};
use super::pack::{Pack, Parcel};
use super::write::{Failed, Target, Work, folders};
use super::{Store, marks};

/// A step with its bytes at hand.
#[derive(Clone, Debug)]
pub(super) enum Deed {
    File { path: RelPath, old: Option<Vec<u8>>, new: Option<Vec<u8>>, mode: Option<u32> },
    Mark { text: Vec<u8>, seen: u64 },
    Unmark { text: Vec<u8>, seen: u64 },
}

#[derive(Debug)]
pub(super) enum Resolved {
    Deeds(Vec<Deed>),
    /// Some of the bytes are purged or damaged.
    Gone,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Before,
    After,
    Foreign,
    /// A later receipt has changed it again, so this one was done.
    Superseded,
}

impl Store {
    pub(super) fn recover(
        &self,
        book: &mut Book,
        intent: &Intent,
        superseded: &BTreeSet<RelPath>,
        warnings: &mut Vec<Warning>,
        touched: &mut Vec<Place>,
    ) -> Result<(), StoreError> {
        let number = intent.number;
        let Resolved::Deeds(deeds) = self.resolve(&mut book.pack(self)?, intent)? else {
            warnings.push(Warning::Abandoned { number });
            return book.append(self, &[Event::Void(number)]);
        };
        let shares_marks = deeds.iter().any(|deed| !matches!(deed, Deed::File { .. }));
        let _marks_lock = if shares_marks { Some(self.lock_marks()?) } else { None };
        touched.extend(deeds.iter().map(Deed::place));

        let mut states = Vec::new();
        for deed in &deeds {
            states.push(match deed {
                Deed::File { path, .. } if superseded.contains(path) => State::Superseded,
                _ => self.state(deed)?,
            });
        }
        // Sheltered receipts followed this change, so it was settled when they were made: if none of its own
        // files shows it, what the power cut took was its `void`.
        let overtaken = !superseded.is_empty() && states.contains(&State::Before);
        if overtaken && !states.contains(&State::After) {
            book.append(self, &[Event::Void(number)])?;
            return book.sync(self);
        }
        let in_state = |wanted: State| {
            let with_state = deeds.iter().zip(&states);
            with_state.filter(move |(_, state)| **state == wanted).map(|(deed, _)| deed.clone())
        };
        let is_done = states.iter().all(|state| matches!(state, State::After | State::Superseded));
        let back: Vec<Deed> = match is_done {
            true => Vec::new(),
            false => in_state(State::After).map(Deed::reversed).collect(),
        };
        let interrupted = |error| StoreError::Interrupted { number, source: Box::new(error) };
        for deed in in_state(State::Before) {
            if let Deed::Mark { text, .. } = deed {
                self.cut_begun_marks(&text, warnings).map_err(interrupted)?;
            }
        }
        self.sweep_around(&deeds).map_err(interrupted)?;
        let work = work(self, &back, warnings).map_err(interrupted)?;
        self.perform(&work, warnings)
            .map_err(|(Failed::TakenBack(error) | Failed::Stuck(error))| interrupted(error))?;
        self.harden(&deeds).map_err(interrupted)?;
        if is_done {
            return book.append(self, &[Event::Done(number)]);
        }
        let changed_outside = in_state(State::Foreign).map(|deed| deed.place().to_string()).collect();
        warnings.push(Warning::TakenBack { number, changed_outside });
        book.append(self, &[Event::Void(number)])?;
        book.sync(self)
    }

    /// Puts in order what refused changes may have left: temporary files, and new folders whose names the disk did not
    /// take. The next change would lie in such a folder and take it for an old one.
    pub(super) fn settle_refused(&self, book: &Book, refused: &[Intent]) -> Result<(), StoreError> {
        for intent in refused {
            if let Resolved::Deeds(deeds) = self.resolve(&mut book.pack(self)?, intent)? {
                self.sweep_around(&deeds)?;
                self.harden(&deeds)?;
            }
        }
        Ok(())
    }

    pub(super) fn resolve(&self, pack: &mut Pack, intent: &Intent) -> Result<Resolved, StoreError> {
        let mut deeds = Vec::new();
        for step in &intent.steps {
            let Some(deed) = deed(pack, step)? else { return Ok(Resolved::Gone) };
            deeds.push(deed);
        }
        Ok(Resolved::Deeds(deeds))
    }

    /// Whether all of a change is in place.
    pub(super) fn is_done(&self, deeds: &[Deed]) -> Result<bool, StoreError> {
        for deed in deeds {
            if self.state(deed)? != State::After {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn state(&self, deed: &Deed) -> Result<State, StoreError> {
        match deed {
            Deed::File { path, old, new, .. } => {
                let file = self.file(path);
                match self.refuse_unless_inside(&file) {
                    Ok(()) => {}
                    Err(StoreError::Symlink { .. } | StoreError::NotAFile { .. }) => {
                        return Ok(State::Foreign);
                    }
                    Err(error) => return Err(error),
                }
                let now = self.read_file(&file)?;
                Ok(match now {
                    now if now == *new => State::After,
                    now if now == *old => State::Before,
                    _ => State::Foreign,
                })
            }
            Deed::Mark { text, seen } => {
                let done = marks::count(&self.read_marks()?, text) > *seen;
                Ok(if done { State::After } else { State::Before })
            }
            Deed::Unmark { text, seen } => {
                let done = marks::count(&self.read_marks()?, text) < *seen;
                Ok(if done { State::After } else { State::Before })
            }
        }
    }

    fn sweep_around(&self, deeds: &[Deed]) -> Result<(), StoreError> {
        let targets: Vec<Target> = deeds.iter().map(|deed| deed.bare_target(self)).collect();
        for folder in folders(&targets) {
            self.sweep(folder)?;
        }
        Ok(())
    }

    /// A step that the dead writer had done may have reached the page cache only. Once `done` is said
    /// nobody looks again, so all of it is synced first, the folders up to the root included.
    fn harden(&self, deeds: &[Deed]) -> Result<(), StoreError> {
        if self.faults.skip(FaultSwitch::SkipRecoverySync) {
            return Ok(());
        }
        let exists = |path: &Path| {
            self.disk.stat(path).map(|stat| stat.is_some()).map_err(StoreError::io("look at", path))
        };
        let targets: Vec<Target> = deeds.iter().map(|deed| deed.bare_target(self)).collect();
        if deeds.iter().any(|deed| matches!(deed, Deed::Mark { .. })) && exists(&self.marks_file())? {
            self.sync_file(&self.marks_file(), FaultSwitch::SkipMarksSync)?;
        }
        for folder in folders(&targets) {
            if exists(folder)? {
                self.sync_dir(folder, FaultSwitch::SkipFolderSync)?;
            }
            let root = if folder == self.home.marks { folder.parent() } else { Some(&*self.home.lane) };
            for above in folder.ancestors().skip(1).take_while(|_| Some(folder) != root) {
                if exists(above)? {
                    self.sync_dir(above, FaultSwitch::SkipNewFolderSync)?;
                }
                if Some(above) == root {
                    break;
                }
            }
        }
        Ok(())
    }
}

fn deed(pack: &mut Pack, step: &Step) -> Result<Option<Deed>, StoreError> {
    Ok(match step {
        Step::Mark { text, seen } => pack.held(*text)?.map(|text| Deed::Mark { text, seen: *seen }),
        Step::Unmark { text, seen } => pack.held(*text)?.map(|text| Deed::Unmark { text, seen: *seen }),
        Step::File { path, old, new, mode } => {
            let Some(path) = pack.held(*path)?.and_then(|path| lane_path(&path)) else { return Ok(None) };
            let mut contents = [None, None];
            for (content, blob) in contents.iter_mut().zip([old, new]) {
                if let Some(blob) = blob {
                    let Some(bytes) = pack.held(*blob)? else { return Ok(None) };
                    *content = Some(bytes);
                }
            }
            let [old, new] = contents;
            Some(Deed::File { path, old, new, mode: *mode })
        }
    })
}

/// The files that have to be written for these deeds.
pub(super) fn work(store: &Store, deeds: &[Deed], warnings: &mut Vec<Warning>) -> Result<Work, StoreError> {
    let mut work = Work::default();
    for deed in deeds {
        let mut target = deed.bare_target(store);
        match deed {
            Deed::File { old, new, mode, .. } => {
                (target.old, target.new, target.mode) = (old.clone(), new.clone(), *mode);
                work.targets.push(target);
            }
            Deed::Mark { text, .. } => work.marks.get_or_insert_default().extend(text),
            Deed::Unmark { text, .. } => {
                let content = store.read_marks()?;
                target.new = Some(marks::without(store.sound_marks(&content, warnings), text));
                target.old = Some(content);
                work.targets.push(target);
            }
        }
    }
    Ok(work)
}

impl Deed {
    pub(super) fn place(&self) -> Place {
        match self {
            Deed::File { path, .. } => Place::Lane(path.clone()),
            Deed::Mark { .. } | Deed::Unmark { .. } => Place::Marks,
        }
    }

    pub(super) fn pack(&self, parcel: &mut Parcel<'_>) -> Step {
        match self {
            Deed::File { path, old, new, mode } => Step::File {
                path: parcel.add(path.as_str().as_bytes()),
                old: old.as_ref().map(|bytes| parcel.add(bytes)),
                new: new.as_ref().map(|bytes| parcel.add(bytes)),
                mode: *mode,
            },
            Deed::Mark { text, seen } => Step::Mark { text: parcel.add(text), seen: *seen },
            Deed::Unmark { text, seen } => Step::Unmark { text: parcel.add(text), seen: *seen },
        }
    }

    fn reversed(self) -> Deed {
        match self {
            Deed::File { path, old, new, mode } => Deed::File { path, old: new, new: old, mode },
            Deed::Mark { text, seen } => Deed::Unmark { text, seen: seen + 1 },
            Deed::Unmark { text, seen } => Deed::Mark { text, seen: seen.saturating_sub(1) },
        }
    }

    /// The file without any bytes, for those who ask where and not what.
    fn bare_target(&self, store: &Store) -> Target {
        Target { path: store.path_of(&self.place()), old: None, new: None, mode: None }
    }
}

pub(super) fn lane_path(bytes: &[u8]) -> Option<RelPath> {
    RelPath::parse(std::str::from_utf8(bytes).ok()?).ok()
}
