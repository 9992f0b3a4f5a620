//! The disk of this machine.

use std::fs::{self, File, OpenOptions};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
#[cfg(unix)]
use std::sync::Arc;
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::{
    DirEntry, Disk, FileType, LinkPolicy, LockGuard, RandomAccessFile, Stat, not_regular, too_large,
};

/// How many bytes of a folder are read at a time.
#[cfg(target_os = "linux")]
const ENTRIES_BYTES: usize = 32 << 10;

/// Up to this length a read is attempted without looking at the size of the file first.
const UNCHECKED_MAX: usize = 1 << 20;

#[derive(Clone, Copy, Debug, Default)]
pub struct RealDisk;

impl Disk for RealDisk {
    fn read_bounded(&self, path: &Path, links: LinkPolicy, max: u64) -> io::Result<Option<Vec<u8>>> {
        match present(open_any(path, links))? {
            Some(file) => bounded(file, max).map(|(bytes, _)| Some(bytes)),
            None => Ok(None),
        }
    }

    fn read_with_stat(&self, path: &Path, max: u64) -> io::Result<Option<(Vec<u8>, Stat)>> {
        match present(open_any(path, LinkPolicy::Refused))? {
            Some(file) => bounded(file, max).map(Some),
            None => Ok(None),
        }
    }

    fn read_tail(&self, path: &Path, max: u64) -> io::Result<Option<(Vec<u8>, u64)>> {
        match present(open_regular(path, LinkPolicy::Followed))? {
            Some(file) => tail(file, max).map(Some),
            None => Ok(None),
        }
    }

    fn open(&self, path: &Path, links: LinkPolicy) -> io::Result<Box<dyn RandomAccessFile>> {
        Ok(Box::new(open_regular(path, links)?))
    }

    fn list(&self, folder: &Path) -> io::Result<Option<Vec<DirEntry>>> {
        let Some(entries) = present(fs::read_dir(folder))? else { return Ok(None) };
        let mut listed = Vec::new();
        for entry in entries {
            let entry = entry?;
            // A name that is not UTF-8 cannot be a path in a lane, so it is not ours to touch.
            let Ok(name) = entry.file_name().into_string() else { continue };
            listed.push(DirEntry { name, kind: kind(entry.file_type()?) });
        }
        listed.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(Some(listed))
    }

    /// Without a string per entry and without sorting: a change counts the files of its folder.
    #[cfg(target_os = "linux")]
    fn each_entry(&self, folder: &Path, each: &mut dyn FnMut(&str, FileType)) -> io::Result<bool> {
        use rustix::fs::{FileType as Kind, Mode, OFlags, RawDir};
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let opened = rustix::fs::open(folder, flags, Mode::empty()).map_err(io::Error::from);
        let Some(opened) = present(opened)? else { return Ok(false) };
        let mut buffer = Vec::with_capacity(ENTRIES_BYTES);
        let mut entries = RawDir::new(opened, buffer.spare_capacity_mut());
        while let Some(entry) = entries.next() {
            let entry = entry?;
            // As in `list`.
            let Ok(name) = entry.file_name().to_str() else { continue };
            let kind = match entry.file_type() {
                _ if name == "." || name == ".." => continue,
                Kind::RegularFile => FileType::File,
                Kind::Directory => FileType::Folder,
                Kind::Symlink => FileType::Symlink,
                // Some file systems do not store it.
                Kind::Unknown => match self.stat(&folder.join(name))? {
                    Some(stat) => stat.kind,
                    None => continue,
                },
                _ => FileType::Other,
            };
            each(name, kind);
        }
        Ok(true)
    }

    fn unreadable_names(&self, folder: &Path) -> io::Result<Vec<String>> {
        let Some(entries) = present(fs::read_dir(folder))? else { return Ok(Vec::new()) };
        let mut names = Vec::new();
        for entry in entries {
            if let Err(name) = entry?.file_name().into_string() {
                names.push(name.to_string_lossy().into_owned());
            }
        }
        names.sort_unstable();
        Ok(names)
    }

    fn stat(&self, path: &Path) -> io::Result<Option<Stat>> {
        present(fs::symlink_metadata(path))?.map(|metadata| stat(&metadata)).transpose()
    }

    fn stat_target(&self, path: &Path) -> io::Result<Option<Stat>> {
        present(fs::metadata(path))?.map(|metadata| stat(&metadata)).transpose()
    }

    fn real_path(&self, path: &Path) -> io::Result<PathBuf> {
        fs::canonicalize(path)
    }

    fn read_link(&self, path: &Path) -> io::Result<PathBuf> {
        fs::read_link(path)
    }

    fn create_dir_all(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
        let missing: Vec<&Path> = path.ancestors().take_while(|folder| !folder.is_dir()).collect();
        let mut created = Vec::new();
        for folder in missing.into_iter().rev() {
            match fs::create_dir(folder) {
                Ok(()) => created.push(folder.to_owned()),
                Err(error) if error.kind() == ErrorKind::AlreadyExists && folder.is_dir() => {}
                Err(error) => return Err(error),
            }
        }
        Ok(created)
    }

    fn create_private_dir_all(&self, path: &Path) -> io::Result<()> {
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::DirBuilderExt;
            builder.mode(0o700);
        }
        builder.create(path)
    }

    fn create_new(&self, path: &Path, bytes: &[u8], mode: Option<u32>) -> io::Result<()> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        // The mode is set at creation, so that nobody can open the file before; then again, because the umask may
        // have masked it.
        #[cfg(unix)]
        if let Some(mode) = mode {
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode);
        }
        let mut file = options.open(path)?;
        set_mode(&file, mode)?;
        file.write_all(bytes)
    }

    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        OpenOptions::new().append(true).create(true).open(path)?.write_all(bytes)
    }

    fn overwrite_at(&self, path: &Path, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let mut file = OpenOptions::new().write(true).open(path)?;
        file.seek(SeekFrom::Start(offset))?;
        file.write_all(bytes)
    }

    fn truncate(&self, path: &Path, len: u64) -> io::Result<()> {
        OpenOptions::new().write(true).open(path)?.set_len(len)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        fs::remove_dir(path)
    }

    fn sync_file(&self, path: &Path) -> io::Result<()> {
        // Windows flushes only through a writable handle. Elsewhere a readable one is enough, and a memory whose
        // mode is read-only must sync too.
        OpenOptions::new().read(true).write(cfg!(windows)).open(path)?.sync_all()
    }

    #[cfg(not(windows))]
    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        File::open(path)?.sync_all()
    }

    /// NTFS journals names itself and has no call for this.
    #[cfg(windows)]
    fn sync_dir(&self, _path: &Path) -> io::Result<()> {
        Ok(())
    }

    #[cfg(unix)]
    fn below(&self, project: &Path, own: &[PathBuf]) -> io::Result<Option<Arc<dyn Disk>>> {
        Ok(Some(Arc::new(super::below::ProjectDisk::new(project, own)?)))
    }

    fn try_lock_dir(&self, path: &Path) -> io::Result<Option<LockGuard>> {
        try_lock(open_lock(path)?)
    }

    fn now_ns(&self) -> i64 {
        since_epoch_ns(SystemTime::now())
    }

    fn pause(&self, time: Duration) {
        thread::sleep(time);
    }

    /// Each `RandomState` has keys from the system's randomness: the only such source in std.
    fn nonce(&self) -> [u8; 16] {
        let low = RandomState::new().hash_one(self.now_ns());
        let high = RandomState::new().hash_one(std::process::id());
        (u128::from(high) << 64 | u128::from(low)).to_le_bytes()
    }
}

impl RandomAccessFile for File {
    fn size(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }

    fn read_at(&mut self, offset: u64, len: usize) -> io::Result<Vec<u8>> {
        // Checked before allocating much: the length comes from a journal that may be damaged.
        if len > UNCHECKED_MAX && self.size()? < offset.saturating_add(len as u64) {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        let mut bytes = Vec::with_capacity(len);
        self.seek(SeekFrom::Start(offset))?;
        // Not into zeroes: hooks read their logs this way, block by block.
        Read::by_ref(self).take(len as u64).read_to_end(&mut bytes)?;
        if bytes.len() < len { Err(ErrorKind::UnexpectedEof.into()) } else { Ok(bytes) }
    }
}

/// Device and inode: a file that was deleted and created again is another one. `None` if the system has neither.
#[cfg(unix)]
pub(crate) fn identity(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    let metadata = fs::metadata(path).ok()?;
    Some((metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
pub(crate) fn identity(_: &Path) -> Option<(u64, u64)> {
    None
}

/// Opens a regular file without blocking: a pipe would wait for its writer.
pub fn open_regular(path: &Path, links: LinkPolicy) -> io::Result<File> {
    open_any(path, links).and_then(regular)
}

#[cfg(unix)]
fn open_any(path: &Path, links: LinkPolicy) -> io::Result<File> {
    use rustix::fs::OFlags;
    use std::os::unix::fs::OpenOptionsExt;
    let flags = match links {
        LinkPolicy::Refused => OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::NOFOLLOW,
        LinkPolicy::Followed => OFlags::NONBLOCK | OFlags::NOCTTY,
    };
    let opened = OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path);
    opened.map_err(of_link)
}

#[cfg(not(unix))]
fn open_any(path: &Path, links: LinkPolicy) -> io::Result<File> {
    if links == LinkPolicy::Refused && fs::symlink_metadata(path)?.is_symlink() {
        return Err(not_regular());
    }
    File::open(path)
}

/// Opens a file that the user named: a regular one, or a pipe from their shell. `<(command)` and `/dev/stdin` are
/// names that no repository can create.
pub fn open_given(path: &Path) -> io::Result<File> {
    let is_handed_over = ["/dev/fd", "/proc/self/fd"].iter().any(|folder| path.starts_with(folder));
    if is_handed_over || path == Path::new("/dev/stdin") {
        return File::open(path);
    }
    open_regular(path, LinkPolicy::Followed)
}

/// A link that may not be followed is reported as not a regular file.
#[cfg(unix)]
pub(super) fn of_link(error: io::Error) -> io::Error {
    let is_link = error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error());
    if is_link { not_regular() } else { error }
}

/// Checked on the open file: its name may refer to another file by now.
pub(super) fn regular(file: File) -> io::Result<File> {
    if file.metadata()?.is_file() { Ok(file) } else { Err(not_regular()) }
}

/// The whole of a regular file. It may grow while it is read, so the limit counts what was read.
pub(super) fn bounded(mut file: File, max: u64) -> io::Result<(Vec<u8>, Stat)> {
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(not_regular());
    }
    if metadata.len() > max {
        return Err(too_large(max));
    }
    let stat = stat(&metadata)?;
    let expected = usize::try_from(metadata.len()).unwrap_or_default();
    // One byte more than expected: if it does not come, that was the whole file, in a single read.
    let mut bytes = vec![0; expected + 1];
    let first = read_up_to(&mut file, &mut bytes)?;
    bytes.truncate(first);
    if first != expected {
        file.take(max.saturating_add(1)).read_to_end(&mut bytes)?;
    }
    if bytes.len() as u64 > max { Err(too_large(max)) } else { Ok((bytes, stat)) }
}

/// Fills the buffer, or ends at the first read that does not.
fn read_up_to(file: &mut File, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        match file.read(buffer) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            read => return read,
        }
    }
}

/// At most the last `max` bytes, and where they start.
pub(super) fn tail(mut file: File, max: u64) -> io::Result<(Vec<u8>, u64)> {
    let len = file.metadata()?.len();
    let offset = len.saturating_sub(max);
    file.seek(SeekFrom::Start(offset))?;
    let mut bytes = Vec::with_capacity(usize::try_from(len - offset).unwrap_or_default());
    file.take(max).read_to_end(&mut bytes)?;
    Ok((bytes, offset))
}

pub(super) fn try_lock(folder: File) -> io::Result<Option<LockGuard>> {
    match folder.try_lock() {
        Ok(()) => Ok(Some(LockGuard::holding(folder))),
        Err(fs::TryLockError::WouldBlock) => Ok(None),
        Err(fs::TryLockError::Error(error)) => Err(error),
    }
}

pub(super) fn present<T>(answer: io::Result<T>) -> io::Result<Option<T>> {
    match answer {
        Ok(value) => Ok(Some(value)),
        // Below something that is not a folder there is nothing either.
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        Err(error) => Err(error),
    }
}

fn stat(metadata: &fs::Metadata) -> io::Result<Stat> {
    let mtime_ns = metadata.modified().map(since_epoch_ns)?;
    Ok(Stat { kind: kind(metadata.file_type()), len: metadata.len(), mtime_ns, mode: mode(metadata) })
}

fn kind(file_type: fs::FileType) -> FileType {
    match file_type {
        t if t.is_symlink() => FileType::Symlink,
        t if t.is_file() => FileType::File,
        t if t.is_dir() => FileType::Folder,
        _ => FileType::Other,
    }
}

fn since_epoch_ns(time: SystemTime) -> i64 {
    match time.duration_since(UNIX_EPOCH) {
        Ok(after) => i64::try_from(after.as_nanos()).unwrap_or(i64::MAX),
        Err(before) => i64::try_from(before.duration().as_nanos()).map_or(i64::MIN, |ns| -ns),
    }
}

#[cfg(unix)]
fn mode(metadata: &fs::Metadata) -> Option<u32> {
    use std::os::unix::fs::MetadataExt;
    Some(metadata.mode() & 0o7777)
}

#[cfg(not(unix))]
fn mode(_metadata: &fs::Metadata) -> Option<u32> {
    None
}

#[cfg(unix)]
pub(super) fn set_mode(file: &File, mode: Option<u32>) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    match mode {
        Some(mode) => file.set_permissions(fs::Permissions::from_mode(mode)),
        None => Ok(()),
    }
}

#[cfg(not(unix))]
fn set_mode(_file: &File, _mode: Option<u32>) -> io::Result<()> {
    Ok(())
}

#[cfg(not(windows))]
fn open_lock(folder: &Path) -> io::Result<File> {
    File::open(folder)
}

/// Windows cannot lock a folder, so a file in it is locked instead.
#[cfg(windows)]
fn open_lock(folder: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create(true).truncate(false).open(folder.join(".lorelane.lock"))
}
