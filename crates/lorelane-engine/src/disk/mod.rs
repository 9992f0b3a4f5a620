//! The disk as the engine sees it: one trait, a real body and a simulated one.
//!
//! Every effect the engine has on files is one call here, so the simulation can stop the world
//! between any two of them, lose what was not synced, and compare what recovery makes of it.
//!
//! Not here: the files that SQLite keeps by itself, and whatever git and an editor do in processes of their own.

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

/// How long a waiting writer sleeps between two looks at a lock.
pub const POLL: Duration = Duration::from_millis(10);

/// A file of whose size nobody knows more is read up to this.
pub const READ_MAX_BYTES: u64 = 64 << 20;

/// Whether a link in a file's place is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkPolicy {
    /// What a repository brings may be a link to anything.
    Refused,
    /// Users keep their own settings where they like.
    Followed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileType {
    File,
    Folder,
    Symlink,
    Other,
}

/// What a folder says about one of its entries; the entry itself is not followed.
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

/// Holds an exclusive lock until it is dropped or the process dies.
pub struct LockGuard(#[expect(dead_code, reason = "held for its drop")] Box<dyn Send>);

impl LockGuard {
    fn holding(lock: impl Send + 'static) -> LockGuard {
        LockGuard(Box::new(lock))
    }

    /// A guard that guards nothing: what a store gets when the simulation takes its locks away.
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

/// A file that is read piece by piece and opened once.
pub trait RandomAccessFile: fmt::Debug {
    /// In bytes, now.
    fn size(&self) -> io::Result<u64>;
    /// Exactly `len` bytes, or `UnexpectedEof`.
    fn read_at(&mut self, offset: u64, len: usize) -> io::Result<Vec<u8>>;
}

/// File operations on absolute paths. Absence is an answer (`None`), not an error, where a reader asks.
///
/// Writing and syncing are separate calls on purpose: which sync is needed where is the store's
/// knowledge, and the simulation takes each of them away to prove that it is needed.
pub trait Disk: Send + Sync + fmt::Debug {
    /// The one way to the content of a file: a regular one, opened without waiting, of at most `max` bytes as they
    /// are read. Anything else in its place is refused with `InvalidData`.
    fn read_bounded(&self, path: &Path, links: LinkPolicy, max: u64) -> io::Result<Option<Vec<u8>>>;
    /// Reads what a repository may have brought.
    fn read_regular(&self, path: &Path, max: u64) -> io::Result<Option<Vec<u8>>> {
        self.read_bounded(path, LinkPolicy::Refused, max)
    }
    /// Reads a file of the user's own.
    fn read(&self, path: &Path) -> io::Result<Option<Vec<u8>>> {
        self.read_bounded(path, LinkPolicy::Followed, READ_MAX_BYTES)
    }
    /// At most the last `max` bytes, and the offset at which they start.
    fn read_tail(&self, path: &Path, max: u64) -> io::Result<Option<(Vec<u8>, u64)>>;
    /// Opens a file for many reads; `NotFound` when there is none.
    fn open(&self, path: &Path, links: LinkPolicy) -> io::Result<Box<dyn RandomAccessFile>>;
    /// Names and stats are looked at by path, also below a project: they are only a reason to open something.
    fn list(&self, folder: &Path) -> io::Result<Option<Vec<DirEntry>>>;
    /// Names in a folder that are no text, made readable. Nothing can be done with them here.
    fn unreadable_names(&self, _folder: &Path) -> io::Result<Vec<String>> {
        Ok(Vec::new())
    }
    /// Does not follow links.
    fn stat(&self, path: &Path) -> io::Result<Option<Stat>>;
    /// Follows links. A disk that has none need not implement this and the next two.
    fn stat_target(&self, path: &Path) -> io::Result<Option<Stat>> {
        self.stat(path)
    }
    /// The absolute path without links, `.` and `..`; `NotFound` when nothing is there.
    fn real_path(&self, path: &Path) -> io::Result<PathBuf> {
        self.stat(path)?.map(|_| path.to_owned()).ok_or(ErrorKind::NotFound.into())
    }
    /// What a link says, without following it. `InvalidInput` for anything else.
    fn read_link(&self, _path: &Path) -> io::Result<PathBuf> {
        Err(ErrorKind::InvalidInput.into())
    }
    /// Whether something is there. Follows links.
    fn exists(&self, path: &Path) -> bool {
        matches!(self.stat_target(path), Ok(Some(_)))
    }
    /// Follows links: whether they may be followed is decided where they lead.
    fn is_folder(&self, path: &Path) -> bool {
        matches!(self.stat_target(path), Ok(Some(stat)) if stat.kind == FileType::Folder)
    }

    /// Returns the folders that did not exist before, outermost first.
    fn create_dir_all(&self, path: &Path) -> io::Result<Vec<PathBuf>>;
    /// For folders that hold what others should not read: those it makes are the user's alone.
    fn create_private_dir_all(&self, path: &Path) -> io::Result<()> {
        self.create_dir_all(path).map(drop)
    }
    /// Fails when anything has that name, a dangling link included. `None` leaves the mode to the umask.
    fn create_new(&self, path: &Path, bytes: &[u8], mode: Option<u32>) -> io::Result<()>;
    /// Creates the file when it is absent. May leave a part of `bytes` behind when it fails.
    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<()>;
    fn overwrite_at(&self, path: &Path, offset: u64, bytes: &[u8]) -> io::Result<()>;
    fn truncate(&self, path: &Path, len: u64) -> io::Result<()>;
    /// Replaces `to`. Atomic if both lie in one folder; between two, a power cut may leave both names or none.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    fn remove_file(&self, path: &Path) -> io::Result<()>;
    fn remove_dir(&self, path: &Path) -> io::Result<()>;

    /// Makes the content of a file survive a power cut.
    fn sync_file(&self, path: &Path) -> io::Result<()>;
    /// Makes the names in a folder survive a power cut.
    fn sync_dir(&self, path: &Path) -> io::Result<()>;

    /// The same disk for work in a project: what lies below its folder is reached from there by descriptor and
    /// through no link, so that nobody can put one in the way between a look and a write. The user's `own` folders
    /// may lie there, too, and are reached as ever. `None` for a disk that has no links, or is such a disk.
    fn below(&self, _project: &Path, _own: &[PathBuf]) -> io::Result<Option<Arc<dyn Disk>>> {
        Ok(None)
    }

    /// `None` when another holder has it.
    fn try_lock_dir(&self, path: &Path) -> io::Result<Option<LockGuard>>;
    /// The clock that stamps files, for comparing with `Stat::mtime_ns`.
    fn now_ns(&self) -> i64;
    fn pause(&self, time: Duration);
    /// Bytes that nobody can guess, for names of temporary files and salts of blobs.
    fn nonce(&self) -> [u8; 16];

    /// Waits for an exclusive lock on the folder itself: no lock file, so nothing is left behind
    /// by a dead holder and nothing has to be ignored by git.
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

/// Whether a call failed because too many files are open: that says nothing of the file.
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
