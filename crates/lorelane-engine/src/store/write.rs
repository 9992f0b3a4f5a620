//! Puts files in place: first all temporary files, then the marks, then the renames.
//!
//! A full or read-only disk shows while temporary files are written, before any memory has changed. A later
//! failure is rolled back here, by the process that failed, and not left to recovery.

use crate::backend::{StoreError, Warning};
use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::Store;
use super::faults::FaultSwitch;
use crate::disk::FileType;

const TEMP_PREFIX: &str = ".lorelane-";
const TEMP_SUFFIX: &str = ".tmp";

/// What to write where, without the reasons.
#[derive(Clone, Debug, Default)]
pub(super) struct FileWork {
    pub(super) targets: Vec<FileTarget>,
    /// Lines to append to the marks file.
    pub(super) marks: Option<Vec<u8>>,
    /// Whether another program may have changed a target since it was read.
    pub(super) may_be_outdated: bool,
}

#[derive(Clone, Debug)]
pub(super) struct FileTarget {
    pub(super) path: PathBuf,
    pub(super) old: Option<Vec<u8>>,
    pub(super) new: Option<Vec<u8>>,
    /// For a file that does not exist; an existing file keeps its mode.
    pub(super) mode: Option<u32>,
}

#[derive(Debug)]
pub(super) enum WriteFailure {
    TakenBack(StoreError),
    /// Neither done nor rolled back: the intent stays open in the journal.
    Stuck(StoreError),
}

#[derive(Debug, Default)]
struct WriteProgress {
    created: Vec<PathBuf>,
    /// One per target; `None` where the target is to be removed.
    temps: Vec<Option<PathBuf>>,
    replaced: usize,
    marks_len: Option<u64>,
}

impl Store {
    pub(super) fn perform(&self, work: &FileWork, warnings: &mut Vec<Warning>) -> Result<(), WriteFailure> {
        let mut progress = WriteProgress::default();
        let Err(error) = self.attempt(work, &mut progress, warnings) else { return Ok(()) };
        let taken_back = self.take_back(work, &progress);
        self.tidy(&progress);
        match taken_back {
            Ok(()) => Err(WriteFailure::TakenBack(error)),
            Err(_) => Err(WriteFailure::Stuck(error)),
        }
    }

    fn attempt(
        &self,
        work: &FileWork,
        progress: &mut WriteProgress,
        warnings: &mut Vec<Warning>,
    ) -> Result<(), StoreError> {
        for target in &work.targets {
            match &target.new {
                Some(bytes) => self.stage(target, bytes, progress)?,
                None => progress.temps.push(None),
            }
        }
        if let Some(lines) = &work.marks {
            self.append_marks(lines, &mut progress.marks_len, warnings)?;
        }
        if work.may_be_outdated {
            // As late as possible: from here on there are only renames.
            work.targets.iter().try_for_each(|target| self.refuse_outdated(target))?;
        }
        for (target, temp) in work.targets.iter().zip(&progress.temps) {
            self.replace(target, temp.as_deref())?;
            progress.replaced += 1;
        }
        for folder in folders(&work.targets) {
            self.sync_dir(folder, FaultSwitch::SkipFolderSync)?;
        }
        Ok(())
    }

    fn stage(
        &self,
        target: &FileTarget,
        bytes: &[u8],
        progress: &mut WriteProgress,
    ) -> Result<(), StoreError> {
        let folder = target.path.parent().expect("a target is in a folder");
        let mut missing = Vec::new();
        for folder in folder.ancestors() {
            if self.kind(folder)?.is_some() {
                break;
            }
            missing.insert(0, folder);
        }
        // Recorded first: a creation that fails halfway leaves some of them behind.
        progress.created.extend(missing.iter().map(|folder| folder.to_path_buf()));
        self.disk.create_dir_all(folder).map_err(StoreError::io("create", folder))?;
        for created in missing {
            let parent = created.parent().expect("the root of a disk is never created");
            self.sync_dir(parent, FaultSwitch::SkipNewFolderSync)?;
        }
        let stat = self.disk.stat(&target.path).map_err(StoreError::io("stat", &target.path))?;
        // An existing file keeps its mode; a new one follows the umask.
        let mode = stat.and_then(|stat| stat.mode).or(target.mode);
        let temp = self.temp_in(folder);
        // Recorded first: a write that fails may leave a file behind.
        progress.temps.push(Some(temp.clone()));
        self.disk.create_new(&temp, bytes, mode).map_err(StoreError::io("write", &target.path))?;
        self.sync_file(&temp, FaultSwitch::SkipFileSync)
    }

    fn refuse_outdated(&self, target: &FileTarget) -> Result<(), StoreError> {
        match self.read_file(&target.path)? == target.old {
            true => Ok(()),
            false => Err(StoreError::Outdated { path: target.path.clone() }),
        }
    }

    fn replace(&self, target: &FileTarget, temp: Option<&Path>) -> Result<(), StoreError> {
        let path = &target.path;
        match (temp, &target.new) {
            (Some(temp), Some(bytes)) if self.faults.skip(FaultSwitch::SkipRename) => {
                self.write_in_place(path, bytes, temp)
            }
            (Some(temp), _) => self.disk.rename(temp, path).map_err(StoreError::io("replace", path)),
            (None, _) => self.disk.remove_file(path).map_err(StoreError::io("remove", path)),
        }
    }

    /// What a careless program would do instead of a rename, so that the simulation can catch it.
    fn write_in_place(&self, path: &Path, bytes: &[u8], temp: &Path) -> Result<(), StoreError> {
        let write = || {
            self.disk.append(path, b"")?;
            self.disk.truncate(path, 0)?;
            self.disk.append(path, bytes)?;
            self.disk.sync_file(path)?;
            self.disk.remove_file(temp)
        };
        write().map_err(StoreError::io("write", path))
    }

    /// Restores the old content of every file and of the marks, and syncs it.
    fn take_back(&self, work: &FileWork, progress: &WriteProgress) -> Result<(), StoreError> {
        let replaced = &work.targets[..progress.replaced.min(work.targets.len())];
        for target in replaced.iter().rev() {
            let back = FileTarget {
                path: target.path.clone(),
                old: target.new.clone(),
                new: target.old.clone(),
                mode: target.mode,
            };
            match &back.new {
                Some(bytes) => {
                    let mut backward = WriteProgress::default();
                    let put = self.stage(&back, bytes, &mut backward);
                    let put = put.and_then(|()| self.replace(&back, backward.temps[0].as_deref()));
                    if put.is_err() {
                        self.tidy(&backward);
                    }
                    put?;
                }
                None => self.remove_if_there(&back.path)?,
            }
        }
        if let Some(len) = progress.marks_len {
            let path = self.marks_file();
            let stat = self.disk.stat(&path).map_err(StoreError::io("stat", &path))?;
            if stat.is_some_and(|stat| stat.len != len) {
                self.disk.truncate(&path, len).map_err(StoreError::io("truncate", &path))?;
                self.sync_file(&path, FaultSwitch::SkipMarksSync)?;
            }
        }
        for folder in folders(replaced) {
            // A folder that is gone has nothing in it to sync.
            if self.disk.stat(folder).is_ok_and(|stat| stat.is_some()) {
                self.sync_dir(folder, FaultSwitch::SkipFolderSync)?;
            }
        }
        Ok(())
    }

    /// Removes temporary files and new folders of a failed attempt. Errors are ignored: a read-only disk refuses
    /// this too, no memory is affected, and the next writer removes the rest.
    fn tidy(&self, progress: &WriteProgress) {
        let mut folders = BTreeSet::new();
        for temp in progress.temps.iter().skip(progress.replaced).flatten() {
            let _ = self.disk.remove_file(temp);
            folders.extend(temp.parent());
        }
        for folder in folders {
            let _ = self.sync_dir(folder, FaultSwitch::SkipFolderSync);
        }
        for folder in progress.created.iter().rev() {
            // It stays if somebody else has put a file into it. Then its name is synced: the next writer would
            // take it for an old folder and not sync it.
            let parent = folder.parent().expect("the root of a disk is never created");
            if self.disk.remove_dir(folder).is_err() && matches!(self.kind(folder), Ok(Some(_))) {
                let _ = self.sync_dir(parent, FaultSwitch::SkipNewFolderSync);
            }
        }
    }

    fn remove_if_there(&self, path: &Path) -> Result<(), StoreError> {
        match self.disk.remove_file(path) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(StoreError::io("remove", path)(error)),
            _ => Ok(()),
        }
    }

    /// Removes temporary files of dead writers. The caller holds the folder's lock, so none of them is alive.
    pub(super) fn sweep(&self, folder: &Path) -> Result<(), StoreError> {
        let listed = self.disk.list(folder).map_err(StoreError::io("list", folder))?;
        for entry in listed.unwrap_or_default() {
            let ours = entry.name.starts_with(TEMP_PREFIX) && entry.name.ends_with(TEMP_SUFFIX);
            if ours && entry.kind == FileType::File {
                let path = folder.join(&entry.name);
                self.disk.remove_file(&path).map_err(StoreError::io("remove", &path))?;
            }
        }
        Ok(())
    }

    /// Rejects a target that is a link, is not a file, or is behind a link: each folder from the lane's root down
    /// is checked without following links.
    pub(super) fn refuse_unless_inside(&self, path: &Path) -> Result<(), StoreError> {
        let folders: Vec<&Path> =
            path.ancestors().skip(1).take_while(|folder| *folder != self.home.lane).collect();
        for folder in folders.into_iter().rev() {
            match self.kind(folder)? {
                None => return Ok(()),
                Some(FileType::Folder) => {}
                Some(FileType::Symlink) => return Err(StoreError::Symlink { path: folder.to_owned() }),
                Some(_) => return Err(StoreError::NotAFile { path: folder.to_owned() }),
            }
        }
        self.refuse_unless_file(path)
    }

    pub(super) fn refuse_unless_file(&self, path: &Path) -> Result<(), StoreError> {
        match self.kind(path)? {
            None | Some(FileType::File) => Ok(()),
            Some(FileType::Symlink) => Err(StoreError::Symlink { path: path.to_owned() }),
            Some(_) => Err(StoreError::NotAFile { path: path.to_owned() }),
        }
    }

    /// Creates a folder and syncs the parents of every folder it created.
    pub(super) fn create_folder(&self, folder: &Path) -> Result<(), StoreError> {
        let created = self.disk.create_dir_all(folder).map_err(StoreError::io("create", folder))?;
        for created in &created {
            let parent = created.parent().expect("the root of a disk is never created");
            self.sync_dir(parent, FaultSwitch::SkipNewFolderSync)?;
        }
        Ok(())
    }

    /// Syncs the folders above `folder`, up to and including `last`.
    pub(super) fn sync_ancestors(&self, folder: &Path, last: Option<&Path>) -> Result<(), StoreError> {
        for ancestor in folder.ancestors().skip(1) {
            self.disk.sync_dir(ancestor).map_err(StoreError::io("sync", ancestor))?;
            if Some(ancestor) == last {
                break;
            }
        }
        Ok(())
    }

    pub(super) fn sync_file(&self, path: &Path, switch: FaultSwitch) -> Result<(), StoreError> {
        if self.faults.skip(switch) {
            return Ok(());
        }
        self.disk.sync_file(path).map_err(StoreError::io("sync", path))
    }

    pub(super) fn sync_dir(&self, path: &Path, switch: FaultSwitch) -> Result<(), StoreError> {
        if self.faults.skip(switch) {
            return Ok(());
        }
        self.disk.sync_dir(path).map_err(StoreError::io("sync", path))
    }

    pub(super) fn kind(&self, path: &Path) -> Result<Option<FileType>, StoreError> {
        let stat = self.disk.stat(path).map_err(StoreError::io("stat", path))?;
        Ok(stat.map(|stat| stat.kind))
    }

    fn temp_in(&self, folder: &Path) -> PathBuf {
        let nonce = u128::from_le_bytes(self.disk.nonce());
        folder.join(format!("{TEMP_PREFIX}{}-{nonce:032x}{TEMP_SUFFIX}", std::process::id()))
    }
}

/// The folders of these targets, each once.
pub(super) fn folders(targets: &[FileTarget]) -> BTreeSet<&Path> {
    targets.iter().filter_map(|target| target.path.parent()).collect()
}
