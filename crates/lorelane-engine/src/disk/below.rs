//! The disk for work in a project: everything below its folder is reached by descriptor, through no link.
//!
//! A repository may contain a link anywhere, and somebody may insert one between a check and a write. So the
//! kernel resolves each path from the project's own folder and refuses links on the way, and names are created,
//! renamed and removed in the folder that was reached like that. The paths that come here contain no link of the
//! user's own: whoever located the lane has resolved them.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use rustix::fs::{AtFlags, Mode, OFlags, mkdirat, openat, renameat, unlinkat};
use rustix::io::Errno;

use super::real::{bounded, of_link, present, regular, set_mode, tail, try_lock};
use super::{DirEntry, Disk, FileType, LinkPolicy, LockGuard, RandomAccessFile, RealDisk, Stat};

/// For a folder that is only used as a starting point.
#[cfg(target_os = "linux")]
const PLACE: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
#[cfg(not(target_os = "linux"))]
const PLACE: OFlags = FOLDER;
const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
/// Opening never waits for the other end of a pipe.
const FILE: OFlags = OFlags::NONBLOCK.union(OFlags::NOCTTY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
const NEW_FILE: Mode = Mode::from_raw_mode(0o666);
const NEW_FOLDER: Mode = Mode::from_raw_mode(0o777);
const PRIVATE_FOLDER: Mode = Mode::from_raw_mode(0o700);

#[derive(Debug)]
pub(super) struct ProjectDisk {
    project: PathBuf,
    root: OwnedFd,
    /// The user's own folders below the project, for a home folder that is a project.
    own: Vec<PathBuf>,
}

impl ProjectDisk {
    pub(super) fn new(project: &Path, own: &[PathBuf]) -> io::Result<ProjectDisk> {
        let root = openat(rustix::fs::CWD, project, PLACE.difference(OFlags::NOFOLLOW), Mode::empty())?;
        let own = own.iter().filter(|own| own.starts_with(project)).cloned().collect();
        Ok(ProjectDisk { project: project.to_owned(), root, own })
    }

    /// The path relative to the project; `None` for a path that is not the project's.
    fn inside<'p>(&self, path: &'p Path) -> Option<&'p Path> {
        let inside = path.strip_prefix(&self.project).ok()?;
        (!self.own.iter().any(|own| path.starts_with(own))).then_some(inside)
    }

    fn open_file(&self, inside: &Path, flags: OFlags) -> io::Result<File> {
        self.open_any(inside, flags).and_then(regular)
    }

    fn open_any(&self, inside: &Path, flags: OFlags) -> io::Result<File> {
        let mode = if flags.contains(OFlags::CREATE) { NEW_FILE } else { Mode::empty() };
        let file = resolve(self.root.as_fd(), inside, flags | FILE, mode);
        file.map(File::from).map_err(|errno| of_link(errno.into()))
    }

    fn open_folder(&self, inside: &Path) -> io::Result<File> {
        Ok(resolve(self.root.as_fd(), inside, FOLDER, Mode::empty())?.into())
    }

    /// The folder of a name, and the name.
    fn parent<'p>(&self, inside: &'p Path) -> io::Result<(OwnedFd, &'p OsStr)> {
        let name = inside.file_name().ok_or(Errno::INVAL)?;
        let folder = inside.parent().unwrap_or(Path::new(""));
        Ok((resolve(self.root.as_fd(), folder, PLACE, Mode::empty())?, name))
    }

    fn remove(&self, inside: &Path, flags: AtFlags) -> io::Result<()> {
        let (folder, name) = self.parent(inside)?;
        Ok(unlinkat(folder, name, flags)?)
    }

    fn create_folders(&self, inside: &Path, mode: Mode) -> io::Result<Vec<PathBuf>> {
        let mut created = Vec::new();
        if resolve(self.root.as_fd(), inside, PLACE, Mode::empty()).is_ok() {
            return Ok(created);
        }
        let (mut folder, mut path) = (self.root.try_clone()?, self.project.clone());
        for name in names(inside) {
            let name = name?;
            path.push(name);
            match mkdirat(&folder, name, mode) {
                Ok(()) => created.push(path.clone()),
                Err(Errno::EXIST) => {}
                Err(errno) => return Err(errno.into()),
            }
            folder = openat(&folder, name, PLACE, Mode::empty())?;
        }
        Ok(created)
    }
}

/// Opens a path below a folder, with no link anywhere on the way.
#[cfg(target_os = "linux")]
fn resolve(root: BorrowedFd<'_>, inside: &Path, flags: OFlags, mode: Mode) -> rustix::io::Result<OwnedFd> {
    use rustix::fs::{ResolveFlags, openat2};
    let path = if inside.as_os_str().is_empty() { Path::new(".") } else { inside };
    match openat2(root, path, flags, mode, ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS) {
        // An older kernel does not have the call, and some sandboxes forbid calls they do not know.
        Err(Errno::NOSYS | Errno::PERM) => resolve_by_steps(root, inside, flags, mode),
        opened => opened,
    }
}

#[cfg(not(target_os = "linux"))]
fn resolve(root: BorrowedFd<'_>, inside: &Path, flags: OFlags, mode: Mode) -> rustix::io::Result<OwnedFd> {
    resolve_by_steps(root, inside, flags, mode)
}

/// The same, one folder at a time.
fn resolve_by_steps(
    root: BorrowedFd<'_>,
    inside: &Path,
    flags: OFlags,
    mode: Mode,
) -> rustix::io::Result<OwnedFd> {
    let Some(last) = inside.file_name() else { return openat(root, ".", flags, mode) };
    let mut folder: Option<OwnedFd> = None;
    for name in names(inside.parent().unwrap_or(Path::new(""))) {
        let here = folder.as_ref().map_or(root, AsFd::as_fd);
        folder = Some(openat(here, name?, PLACE, Mode::empty())?);
    }
    openat(folder.as_ref().map_or(root, AsFd::as_fd), last, flags, mode)
}

/// The components of a path; `..` is rejected.
fn names(inside: &Path) -> impl Iterator<Item = rustix::io::Result<&OsStr>> {
    inside.components().map(|part| match part {
        Component::Normal(name) => Ok(name),
        _ => Err(Errno::INVAL),
    })
}

impl Disk for ProjectDisk {
    fn read_bounded(&self, path: &Path, links: LinkPolicy, max: u64) -> io::Result<Option<Vec<u8>>> {
        let Some(inside) = self.inside(path) else { return RealDisk.read_bounded(path, links, max) };
        match present(self.open_any(inside, OFlags::RDONLY))? {
            Some(file) => bounded(file, max).map(|(bytes, _)| Some(bytes)),
            None => Ok(None),
        }
    }

    fn read_with_stat(&self, path: &Path, max: u64) -> io::Result<Option<(Vec<u8>, Stat)>> {
        let Some(inside) = self.inside(path) else { return RealDisk.read_with_stat(path, max) };
        match present(self.open_any(inside, OFlags::RDONLY))? {
            Some(file) => bounded(file, max).map(Some),
            None => Ok(None),
        }
    }

    fn read_tail(&self, path: &Path, max: u64) -> io::Result<Option<(Vec<u8>, u64)>> {
        let Some(inside) = self.inside(path) else { return RealDisk.read_tail(path, max) };
        match present(self.open_file(inside, OFlags::RDONLY))? {
            Some(file) => tail(file, max).map(Some),
            None => Ok(None),
        }
    }

    fn open(&self, path: &Path, links: LinkPolicy) -> io::Result<Box<dyn RandomAccessFile>> {
        let Some(inside) = self.inside(path) else { return RealDisk.open(path, links) };
        Ok(Box::new(self.open_file(inside, OFlags::RDONLY)?))
    }

    fn list(&self, folder: &Path) -> io::Result<Option<Vec<DirEntry>>> {
        RealDisk.list(folder)
    }

    fn each_entry(&self, folder: &Path, each: &mut dyn FnMut(&str, FileType)) -> io::Result<bool> {
        RealDisk.each_entry(folder, each)
    }

    fn unreadable_names(&self, folder: &Path) -> io::Result<Vec<String>> {
        RealDisk.unreadable_names(folder)
    }

    fn stat(&self, path: &Path) -> io::Result<Option<Stat>> {
        RealDisk.stat(path)
    }

    fn stat_target(&self, path: &Path) -> io::Result<Option<Stat>> {
        RealDisk.stat_target(path)
    }

    fn real_path(&self, path: &Path) -> io::Result<PathBuf> {
        RealDisk.real_path(path)
    }

    fn read_link(&self, path: &Path) -> io::Result<PathBuf> {
        RealDisk.read_link(path)
    }

    fn create_dir_all(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
        match self.inside(path) {
            Some(inside) => self.create_folders(inside, NEW_FOLDER),
            None => RealDisk.create_dir_all(path),
        }
    }

    fn create_private_dir_all(&self, path: &Path) -> io::Result<()> {
        match self.inside(path) {
            Some(inside) => self.create_folders(inside, PRIVATE_FOLDER).map(drop),
            None => RealDisk.create_private_dir_all(path),
        }
    }

    fn create_new(&self, path: &Path, bytes: &[u8], mode: Option<u32>) -> io::Result<()> {
        let Some(inside) = self.inside(path) else { return RealDisk.create_new(path, bytes, mode) };
        let mut file = self.open_file(inside, OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL)?;
        set_mode(&file, mode)?;
        file.write_all(bytes)
    }

    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let Some(inside) = self.inside(path) else { return RealDisk.append(path, bytes) };
        self.open_file(inside, OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE)?.write_all(bytes)
    }

    fn overwrite_at(&self, path: &Path, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let Some(inside) = self.inside(path) else { return RealDisk.overwrite_at(path, offset, bytes) };
        let mut file = self.open_file(inside, OFlags::WRONLY)?;
        file.seek(SeekFrom::Start(offset))?;
        file.write_all(bytes)
    }

    fn truncate(&self, path: &Path, len: u64) -> io::Result<()> {
        match self.inside(path) {
            Some(inside) => self.open_file(inside, OFlags::WRONLY)?.set_len(len),
            None => RealDisk.truncate(path, len),
        }
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let (Some(from_inside), Some(to_inside)) = (self.inside(from), self.inside(to)) else {
            return RealDisk.rename(from, to);
        };
        let ((from_folder, from), (to_folder, to)) = (self.parent(from_inside)?, self.parent(to_inside)?);
        Ok(renameat(from_folder, from, to_folder, to)?)
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        match self.inside(path) {
            Some(inside) => self.remove(inside, AtFlags::empty()),
            None => RealDisk.remove_file(path),
        }
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        match self.inside(path) {
            Some(inside) => self.remove(inside, AtFlags::REMOVEDIR),
            None => RealDisk.remove_dir(path),
        }
    }

    fn sync_file(&self, path: &Path) -> io::Result<()> {
        match self.inside(path) {
            Some(inside) => self.open_file(inside, OFlags::RDONLY)?.sync_all(),
            None => RealDisk.sync_file(path),
        }
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        match self.inside(path) {
            Some(inside) => self.open_folder(inside)?.sync_all(),
            None => RealDisk.sync_dir(path),
        }
    }

    fn try_lock_dir(&self, path: &Path) -> io::Result<Option<LockGuard>> {
        match self.inside(path) {
            Some(inside) => try_lock(self.open_folder(inside)?),
            None => RealDisk.try_lock_dir(path),
        }
    }

    fn now_ns(&self) -> i64 {
        RealDisk.now_ns()
    }

    fn pause(&self, time: Duration) {
        RealDisk.pause(time);
    }

    fn nonce(&self) -> [u8; 16] {
        RealDisk.nonce()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    /// `project/lane/file` and `outside/file`, removed at the end.
    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str) -> Scratch {
            let folder = std::env::temp_dir().join(format!("lorelane-below-{name}-{}", std::process::id()));
            for below in ["project/lane/empty", "outside/empty"] {
                fs::create_dir_all(folder.join(below)).unwrap();
            }
            let scratch = Scratch(fs::canonicalize(folder).unwrap());
            scratch.put("project/lane/file", "inside");
            scratch.put("outside/file", "outside");
            scratch
        }

        fn put(&self, path: &str, text: &str) {
            fs::write(self.0.join(path), text).unwrap();
        }

        /// Replaces the lane by a link.
        fn swap(&self) {
            fs::rename(self.0.join("project/lane"), self.0.join("project/away")).unwrap();
            symlink("../outside", self.0.join("project/lane")).unwrap();
        }

        fn outside(&self) -> Vec<(String, Option<String>)> {
            let mut found: Vec<_> = fs::read_dir(self.0.join("outside"))
                .unwrap()
                .map(|entry| entry.unwrap().path())
                .map(|path| (path.display().to_string(), fs::read_to_string(&path).ok()))
                .collect();
            found.sort();
            found
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    type Act = fn(&ProjectDisk, &Path) -> io::Result<()>;

    const ACTS: [(&str, Act); 15] = [
        ("read", |disk, lane| disk.read(&lane.join("file"))?.map(drop).ok_or(Errno::NOENT.into())),
        ("read_tail", |disk, lane| {
            disk.read_tail(&lane.join("file"), 9)?.map(drop).ok_or(Errno::NOENT.into())
        }),
        ("open", |disk, lane| disk.open(&lane.join("file"), LinkPolicy::Followed).map(drop)),
        ("create_dir_all", |disk, lane| disk.create_dir_all(&lane.join("a/b")).map(drop)),
        ("create_private_dir_all", |disk, lane| disk.create_private_dir_all(&lane.join("c/d"))),
        ("create_new", |disk, lane| disk.create_new(&lane.join("new"), b"new", Some(0o600))),
        ("append", |disk, lane| disk.append(&lane.join("file"), b"more")),
        ("overwrite_at", |disk, lane| disk.overwrite_at(&lane.join("file"), 1, b"X")),
        ("truncate", |disk, lane| disk.truncate(&lane.join("file"), 2)),
        ("sync_file", |disk, lane| disk.sync_file(&lane.join("file"))),
        ("sync_dir", |disk, lane| disk.sync_dir(lane)),
        ("try_lock_dir", |disk, lane| disk.try_lock_dir(lane).map(drop)),
        ("rename", |disk, lane| disk.rename(&lane.join("file"), &lane.join("file2"))),
        ("remove_dir", |disk, lane| disk.remove_dir(&lane.join("empty"))),
        ("remove_file", |disk, lane| disk.remove_file(&lane.join("file"))),
    ];

    // A link inserted after the check was followed: entries were written outside the project.
    #[test]
    fn a_link_that_takes_the_place_of_a_folder_is_followed_by_no_call() {
        for (name, act) in ACTS {
            for swapped in [false, true] {
                let scratch = Scratch::new(name);
                let disk = ProjectDisk::new(&scratch.0.join("project"), &[]).unwrap();
                let before = scratch.outside();
                if swapped {
                    scratch.swap();
                }
                let acted = act(&disk, &scratch.0.join("project/lane"));
                assert_eq!(acted.is_err(), swapped, "{name}: {acted:?}");
                assert_eq!(scratch.outside(), before, "{name}");
            }
        }
    }

    #[test]
    fn both_ways_to_resolve_agree_and_neither_leaves_the_project() {
        let scratch = Scratch::new("ways");
        fs::create_dir_all(scratch.0.join("project/lane/deep/er")).unwrap();
        scratch.put("project/lane/deep/er/file", "deep");
        symlink("lane", scratch.0.join("project/link")).unwrap();
        symlink("file", scratch.0.join("project/lane/alias")).unwrap();
        symlink("../../outside/file", scratch.0.join("project/lane/out")).unwrap();
        let disk = ProjectDisk::new(&scratch.0.join("project"), &[]).unwrap();
        for (path, opens) in [
            ("lane/file", true),
            ("lane/deep/er/file", true),
            ("lane/none", false),
            ("none/file", false),
            ("link/file", false),
            ("lane/alias", false),
            ("lane/out", false),
            ("../outside/file", false),
            ("lane/../../outside/file", false),
        ] {
            let flags = OFlags::RDONLY | FILE;
            for resolve in [resolve, resolve_by_steps] {
                let opened = resolve(disk.root.as_fd(), Path::new(path), flags, Mode::empty());
                assert_eq!(opened.is_ok(), opens, "{path}: {opened:?}");
            }
        }
    }

    #[test]
    fn the_users_own_folders_below_a_project_may_be_links() {
        let scratch = Scratch::new("own");
        let own = scratch.0.join("project/state");
        symlink("../outside", &own).unwrap();
        let fenced = ProjectDisk::new(&scratch.0.join("project"), &[]).unwrap();
        assert!(fenced.read(&own.join("file")).is_err());
        let disk = ProjectDisk::new(&scratch.0.join("project"), std::slice::from_ref(&own)).unwrap();
        assert_eq!(disk.read(&own.join("file")).unwrap().as_deref(), Some(&b"outside"[..]));
    }
}
