//! The disk as the engine sees it: one trait, with a real and a simulated implementation.
//!
//! Every file effect of the engine is one call here. So the simulation can stop between any two calls, drop what
//! was not synced, and check what recovery makes of it.
//!
//! Not covered: SQLite's own files, and what git and an editor do in their own processes.

#[cfg(unix)]
mod below;
mod real;
#[cfg(feature = "simulation")]
mod seeded;
#[cfg(feature = "simulation")]
pub mod sim;

use std::fmt;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

pub(crate) use real::identity;
pub use real::{RealDisk, open_given, open_regular};
#[cfg(feature = "simulation")]
pub use seeded::SeededRng;

/// How long a waiting writer sleeps between two attempts to lock.
pub const POLL: Duration = Duration::from_millis(10);

/// Read limit for files without a limit of their own.
pub const READ_MAX_BYTES: u64 = 64 << 20;

/// Whether a symbolic link in the place of a file is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkPolicy {
    /// For files from a repository: a link may lead anywhere.
    Refused,
    /// For the user's own files: users keep their settings where they like.
    Followed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileType {
    File,
    Folder,
    Symlink,
    Other,
}

/// One entry of a folder; links are not followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirEntry {
    pub name: String,
    pub kind: FileType,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stat {
    pub kind: FileType,
    pub len: u64,
    pub mtime_ns: i64,
    /// Permission bits; `None` where the system has none.
    pub mode: Option<u32>,
}

/// Holds an exclusive lock until it is dropped or the process ends.
pub struct LockGuard(#[expect(dead_code, reason = "held for its drop")] Box<dyn Send>);

impl LockGuard {
    fn holding(lock: impl Send + 'static) -> LockGuard {
        LockGuard(Box::new(lock))
    }

    /// A guard without a lock, for stores whose locks the simulation disables.
    pub(crate) fn of_nothing() -> LockGuard {
        LockGuard(Box::new(()))
    }
}

impl fmt::Debug for LockGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LockGuard")
    }
}

#[derive(Debug, thiserror::Error)]
pub enum LockFault {
    #[error("another process is writing there")]
    Timeout { waited: Duration },
    #[error(transparent)]
    Io(io::Error),
}

impl From<LockFault> for io::Error {
    fn from(fault: LockFault) -> io::Error {
        match fault {
            LockFault::Timeout { .. } => io::Error::other(fault),
            LockFault::Io(source) => source,
        }
    }
}

/// A file that is opened once and read at offsets.
pub trait RandomAccessFile: fmt::Debug {
    /// Current size in bytes.
    fn size(&self) -> io::Result<u64>;
    /// Exactly `len` bytes, or `UnexpectedEof`.
    fn read_at(&mut self, offset: u64, len: usize) -> io::Result<Vec<u8>>;
}

/// File operations on absolute paths. For readers, absence is a value (`None`) and not an error.
///
/// Writing and syncing are separate calls on purpose: the store decides which sync is needed where, and the
/// simulation removes each of them to prove that it is needed.
pub trait Disk: Send + Sync + fmt::Debug {
    /// The only way to read a file's content: a regular file, opened without blocking, of at most `max` bytes,
    /// counted as they are read. Anything else is rejected with `InvalidData`.
    fn read_bounded(&self, path: &Path, links: LinkPolicy, max: u64) -> io::Result<Option<Vec<u8>>>;
    /// Reads a file that may have come with a repository.
    fn read_regular(&self, path: &Path, max: u64) -> io::Result<Option<Vec<u8>>> {
        self.read_bounded(path, LinkPolicy::Refused, max)
    }
    /// The same, with its stat from before it was read.
    fn read_with_stat(&self, path: &Path, max: u64) -> io::Result<Option<(Vec<u8>, Stat)>> {
        let Some(stat) = self.stat(path)? else { return Ok(None) };
        Ok(self.read_regular(path, max)?.map(|bytes| (bytes, stat)))
    }
    /// Reads one of the user's own files.
    fn read(&self, path: &Path) -> io::Result<Option<Vec<u8>>> {
        self.read_bounded(path, LinkPolicy::Followed, READ_MAX_BYTES)
    }
    /// At most the last `max` bytes, and the offset at which they start.
    fn read_tail(&self, path: &Path, max: u64) -> io::Result<Option<(Vec<u8>, u64)>>;
    /// Opens a file for many reads; `NotFound` if there is none.
    fn open(&self, path: &Path, links: LinkPolicy) -> io::Result<Box<dyn RandomAccessFile>>;
    /// Lists and stats go by path, also below a project: they are only a reason to open something.
    fn list(&self, folder: &Path) -> io::Result<Option<Vec<DirEntry>>>;
    /// Passes on each entry that [`Disk::list`] would return, in any order. Returns whether the folder exists.
    fn each_entry(&self, folder: &Path, each: &mut dyn FnMut(&str, FileType)) -> io::Result<bool> {
        let Some(listed) = self.list(folder)? else { return Ok(false) };
        listed.iter().for_each(|entry| each(&entry.name, entry.kind));
        Ok(true)
    }
    /// Names in a folder that are not UTF-8, made printable. No other call can reach them.
    fn unreadable_names(&self, _folder: &Path) -> io::Result<Vec<String>> {
        Ok(Vec::new())
    }
    /// Does not follow links.
    fn stat(&self, path: &Path) -> io::Result<Option<Stat>>;
    /// Follows links. A disk that has none need not implement this and the next two.
    fn stat_target(&self, path: &Path) -> io::Result<Option<Stat>> {
        self.stat(path)
    }
    /// The absolute path without links, `.` and `..`; `NotFound` if nothing is there.
    fn real_path(&self, path: &Path) -> io::Result<PathBuf> {
        self.stat(path)?.map(|_| path.to_owned()).ok_or(ErrorKind::NotFound.into())
    }
    /// The target of a link, unresolved. `InvalidInput` for anything else.
    fn read_link(&self, _path: &Path) -> io::Result<PathBuf> {
        Err(ErrorKind::InvalidInput.into())
    }
    /// Whether something is there. Follows links.
    fn exists(&self, path: &Path) -> bool {
        matches!(self.stat_target(path), Ok(Some(_)))
    }
    /// Follows links: the caller decides where they may lead.
    fn is_folder(&self, path: &Path) -> bool {
        matches!(self.stat_target(path), Ok(Some(stat)) if stat.kind == FileType::Folder)
    }

    /// Returns the folders that did not exist before, outermost first.
    fn create_dir_all(&self, path: &Path) -> io::Result<Vec<PathBuf>>;
    /// For private folders: those it creates are accessible only to the user.
    fn create_private_dir_all(&self, path: &Path) -> io::Result<()> {
        self.create_dir_all(path).map(drop)
    }
    /// Fails if the name exists, even as a dangling link. `None` leaves the mode to the umask.
    fn create_new(&self, path: &Path, bytes: &[u8], mode: Option<u32>) -> io::Result<()>;
    /// Creates the file if it is missing. On failure, a part of `bytes` may have been written.
    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<()>;
    fn overwrite_at(&self, path: &Path, offset: u64, bytes: &[u8]) -> io::Result<()>;
    fn truncate(&self, path: &Path, len: u64) -> io::Result<()>;
    /// Replaces `to`. Atomic within one folder; across two, a power cut may leave both names or none.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    fn remove_file(&self, path: &Path) -> io::Result<()>;
    fn remove_dir(&self, path: &Path) -> io::Result<()>;

    /// Makes the content of a file survive a power cut.
    fn sync_file(&self, path: &Path) -> io::Result<()>;
    /// Makes the names in a folder survive a power cut.
    fn sync_dir(&self, path: &Path) -> io::Result<()>;

    /// The same disk for work in a project: everything below its folder is reached from there by descriptor and
    /// through no link, so that nobody can insert one between a check and a write. The user's `own` folders may be
    /// below a project too, and are reached as usual. `None` for a disk without links, or one that is such a disk
    /// already.
    fn below(&self, _project: &Path, _own: &[PathBuf]) -> io::Result<Option<Arc<dyn Disk>>> {
        Ok(None)
    }

    /// `None` if another process holds the lock.
    fn try_lock_dir(&self, path: &Path) -> io::Result<Option<LockGuard>>;
    /// The clock that sets mtimes, for comparing with `Stat::mtime_ns`.
    fn now_ns(&self) -> i64;
    fn pause(&self, time: Duration);
    /// Unguessable bytes, for names of temporary files and salts of blobs.
    fn nonce(&self) -> [u8; 16];

    /// Waits for an exclusive lock on the folder itself: without a lock file, a dead holder leaves nothing behind
    /// and git has nothing to ignore.
    fn lock_dir(&self, path: &Path, deadline: Duration) -> Result<LockGuard, LockFault> {
        let mut waited = Duration::ZERO;
        loop {
            if let Some(guard) = self.try_lock_dir(path).map_err(LockFault::Io)? {
                return Ok(guard);
            }
            if waited >= deadline {
                return Err(LockFault::Timeout { waited });
            }
            self.pause(POLL);
            waited += POLL;
        }
    }
}

/// Whether a call failed because too many files are open, which says nothing about the file.
pub(crate) fn is_exhausted(error: &io::Error) -> bool {
    #[cfg(unix)]
    let codes = [rustix::io::Errno::MFILE, rustix::io::Errno::NFILE].map(rustix::io::Errno::raw_os_error);
    #[cfg(not(unix))]
    let codes = [4];
    error.raw_os_error().is_some_and(|code| codes.contains(&code))
}

fn not_regular() -> io::Error {
    io::Error::new(ErrorKind::InvalidData, "it is not a regular file")
}

pub(crate) fn too_large(max: u64) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, format!("it is larger than {} KiB", max / 1024))
}
