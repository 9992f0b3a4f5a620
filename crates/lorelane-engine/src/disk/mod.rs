//! The disk as the store sees it: one trait, a real body and a simulated one.
//!
//! Every effect the store has on files is one call here, so the simulation can stop the world
//! between any two of them, lose what was not synced, and compare what recovery makes of it.

mod real;
mod seeded;
pub mod sim;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub use real::RealDisk;
pub use seeded::Seeded;

/// How long a waiting writer sleeps between two looks at a lock.
pub const POLL: Duration = Duration::from_millis(10);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    File,
    Folder,
    Symlink,
    Other,
}

/// What a folder says about one of its entries; the entry itself is not followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    pub name: String,
    pub kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stat {
    pub kind: Kind,
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

    /// A guard that guards nothing: what a store gets when the simulation sabotages its locks.
    pub(crate) fn of_nothing() -> LockGuard {
        LockGuard(Box::new(()))
    }
}

impl fmt::Debug for LockGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LockGuard")
    }
}

#[derive(Debug)]
pub enum LockFault {
    Timeout { waited: Duration },
    Io(io::Error),
}

/// A file that is read piece by piece and opened once.
pub trait Pieces: fmt::Debug {
    /// Exactly `len` bytes, or `UnexpectedEof`.
    fn read_at(&mut self, offset: u64, len: usize) -> io::Result<Vec<u8>>;
}

/// File operations on absolute paths. Absence is an answer (`None`), not an error, where a reader asks.
///
/// Writing and syncing are separate calls on purpose: which sync is needed where is the store's
/// knowledge, and the simulation takes each of them away to prove that it is needed.
pub trait Disk: Send + Sync + fmt::Debug {
    fn read(&self, path: &Path) -> io::Result<Option<Vec<u8>>>;
    /// Reads a regular file of at most `max` bytes and follows no link: what a repository brings may be a link
    /// to anything, a pipe, or larger than memory.
    fn read_regular(&self, path: &Path, max: u64) -> io::Result<Option<Vec<u8>>> {
        match self.stat(path)? {
            None => Ok(None),
            Some(stat) if stat.kind != Kind::File => Err(io::Error::other("it is not a regular file")),
            Some(stat) if stat.len > max => {
                Err(io::Error::other(format!("it is larger than {} KiB", max / 1024)))
            }
            Some(_) => self.read(path),
        }
    }
    /// At most the last `max` bytes, and the offset at which they start.
    fn read_tail(&self, path: &Path, max: u64) -> io::Result<Option<(Vec<u8>, u64)>>;
    /// Opens a file for many reads; `NotFound` when there is none.
    fn open(&self, path: &Path) -> io::Result<Box<dyn Pieces>>;
    fn list(&self, folder: &Path) -> io::Result<Option<Vec<Listed>>>;
    /// Does not follow links.
    fn stat(&self, path: &Path) -> io::Result<Option<Stat>>;

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
    /// Replaces `to`. Both must lie in one folder: nothing else is atomic everywhere.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    fn remove_file(&self, path: &Path) -> io::Result<()>;
    fn remove_dir(&self, path: &Path) -> io::Result<()>;

    /// Makes the content of a file survive a power cut.
    fn sync_file(&self, path: &Path) -> io::Result<()>;
    /// Makes the names in a folder survive a power cut.
    fn sync_dir(&self, path: &Path) -> io::Result<()>;

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
