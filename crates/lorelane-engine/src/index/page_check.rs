//! Every page of an index file ends with a check value, verified whenever SQLite reads the page.
//!
//! SQLite trusts what it reads: a zeroed or truncated page makes rows vanish without an error, and no check inside
//! the rows can tell. So the check is below SQLite, in a VFS that wraps the system's and replaces its reads and
//! writes. A database page has eight reserved bytes for it. A frame of the write-ahead log has SQLite's own
//! checksum, which SQLite verifies only in recovery; here it is verified at every read. SQLite's checksum VFS
//! would do, but is not part of its library.

use super::checksum::Checksum;
use rusqlite::{Connection, ffi};
use std::ffi::{CStr, c_int, c_void};
use std::ptr;
use std::sync::OnceLock;

/// Twice SQLite's default: a list of 10,000 memories is read with half the calls. An index with another page size is
/// not ours.
const PAGE: usize = 8192;
const CHECK: usize = 8;
const CHECKED: usize = PAGE - CHECK;
/// The header that SQLite reads before it knows the page size.
const HEADER: usize = 100;
/// The parts of a write-ahead log: its header, then frames of a header and a page. Each header ends with a
/// checksum.
const LOG_HEADER: i64 = 32;
const FRAME_HEADER: usize = 24;
const FRAME: i64 = (FRAME_HEADER + PAGE) as i64;

/// The name of the VFS that index files are opened with.
const NAME: &CStr = c"lorelane-checked";

/// Registers the VFS once per process and returns its name.
pub(super) fn vfs() -> &'static CStr {
    static REGISTERED: OnceLock<c_int> = OnceLock::new();
    REGISTERED.get_or_init(|| {
        let system = system_vfs();
        if system.is_null() {
            return ffi::SQLITE_ERROR;
        }
        // SAFETY: SQLite's own VFS lives as long as the process, and so does the leaked copy. Its functions read
        // only values from the VFS they get, which the copy has too.
        unsafe {
            let mut checked = *system;
            checked.zName = NAME.as_ptr();
            checked.pNext = ptr::null_mut();
            checked.xOpen = Some(open);
            ffi::sqlite3_vfs_register(Box::leak(Box::new(checked)), 0)
        }
    });
    NAME
}

/// Sets the page size and reserves space for the check value in every page. Only works before a database has its first
/// table.
pub(super) fn prepare(db: &Connection) -> rusqlite::Result<()> {
    db.execute_batch(&format!("PRAGMA page_size = {PAGE}"))?;
    let mut bytes = CHECK as c_int;
    // SAFETY: the handle lives as long as `db`, and the argument of this control is an int.
    unsafe {
        let argument = (&raw mut bytes).cast::<c_void>();
        ffi::sqlite3_file_control(db.handle(), c"main".as_ptr(), ffi::SQLITE_FCNTL_RESERVE_BYTES, argument);
    }
    Ok(())
}

fn system_vfs() -> *mut ffi::sqlite3_vfs {
    // SAFETY: it has no preconditions; null asks for the default.
    unsafe { ffi::sqlite3_vfs_find(ptr::null()) }
}

/// The methods of one open file. SQLite sees only the first field.
#[repr(C)]
struct CheckedFile {
    methods: ffi::sqlite3_io_methods,
    system: *const ffi::sqlite3_io_methods,
    role: FileRole,
}

enum FileRole {
    Database,
    /// `announced`: where the page of the last written header belongs. From `rewritten_from` on, pages were
    /// rewritten within one transaction, without headers: those are written on commit, and only this connection
    /// reads before that.
    Log {
        announced: i64,
        rewritten_from: i64,
    },
}

impl CheckedFile {
    /// # Safety
    /// `file` is the one that has these methods, and `buffer` has room for `amount` bytes.
    unsafe fn read(
        &self,
        file: *mut ffi::sqlite3_file,
        buffer: *mut c_void,
        amount: c_int,
        offset: i64,
    ) -> c_int {
        // SAFETY: as promised by the caller.
        unsafe {
            (*self.system).xRead.map_or(ffi::SQLITE_IOERR_READ, |read| read(file, buffer, amount, offset))
        }
    }

    /// # Safety
    /// `file` is the one that has these methods.
    unsafe fn read_array<const N: usize>(
        &self,
        file: *mut ffi::sqlite3_file,
        offset: i64,
    ) -> Option<[u8; N]> {
        let mut bytes = [0; N];
        // SAFETY: the buffer is as long as it is said to be.
        let result = unsafe { self.read(file, bytes.as_mut_ptr().cast(), N as c_int, offset) };
        (result == ffi::SQLITE_OK).then_some(bytes)
    }

    /// Reads a part of a database page, with which SQLite follows a long row past its page cache. The whole page is
    /// read, because its check value covers all of it.
    ///
    /// # Safety
    /// `file` is the one that has these methods.
    unsafe fn read_part(&self, file: *mut ffi::sqlite3_file, part: &mut [u8], offset: i64) -> c_int {
        let start = offset - offset % PAGE as i64;
        let from = usize::try_from(offset - start).unwrap_or(0);
        // SAFETY: as promised by the caller.
        let page = unsafe { self.read_array::<PAGE>(file, start) };
        match page.as_ref().and_then(|page| page.get(from..from + part.len())) {
            Some(wanted) if page.is_some_and(|page| page[CHECKED..] == check(&page, start).to_le_bytes()) => {
                part.copy_from_slice(wanted);
                ffi::SQLITE_OK
            }
            _ => ffi::SQLITE_IOERR_DATA,
        }
    }

    /// Whether a page beyond the end of the file should exist, by the file's own page count. A page beyond that
    /// may have been allocated and freed again by a transaction that never wrote it.
    ///
    /// # Safety
    /// `file` is the one that has these methods.
    unsafe fn should_have(&self, file: *mut ffi::sqlite3_file, offset: i64) -> bool {
        let FileRole::Database = self.role else { return true };
        // SAFETY: as promised by the caller.
        let count = unsafe { self.read_array(file, 28) }.map(u32::from_be_bytes);
        count.is_none_or(|count| offset < i64::from(count) * PAGE as i64)
    }

    /// Whether a frame of the log has the checksum that SQLite gave it. It continues from the frame before.
    ///
    /// # Safety
    /// `file` is the one that has these methods.
    unsafe fn frame_is_sound(&self, file: *mut ffi::sqlite3_file, page: &[u8; PAGE], offset: i64) -> bool {
        let header_at = offset - FRAME_HEADER as i64;
        let before_at = if header_at == LOG_HEADER { LOG_HEADER - 8 } else { header_at - FRAME + 16 };
        // SAFETY: as promised by the caller.
        let (before, header) = unsafe {
            (self.read_array::<8>(file, before_at), self.read_array::<FRAME_HEADER>(file, header_at))
        };
        let (Some(before), Some(header)) = (before, header) else { return false };
        let (own, after) = (&header[..8], &header[16..]);
        let half =
            |sums: &[u8], at: usize| sums[at..].first_chunk().map_or(0, |sum| u32::from_be_bytes(*sum));
        let (mut first, mut second) = (half(&before, 0), half(&before, 4));
        for pair in own.as_chunks::<8>().0.iter().chain(page.as_chunks::<8>().0) {
            let [a, b, c, d, e, f, g, h] = *pair;
            first = first.wrapping_add(u32::from_ne_bytes([a, b, c, d])).wrapping_add(second);
            second = second.wrapping_add(u32::from_ne_bytes([e, f, g, h])).wrapping_add(first);
        }
        (half(after, 0), half(after, 4)) == (first, second)
    }
}

/// # Safety
/// As SQLite calls it: `file` has room for a file of the system's VFS.
unsafe extern "C" fn open(
    _: *mut ffi::sqlite3_vfs,
    name: ffi::sqlite3_filename,
    file: *mut ffi::sqlite3_file,
    flags: c_int,
    out_flags: *mut c_int,
) -> c_int {
    let system = system_vfs();
    // SAFETY: the system's VFS exists, because this one was made from it; the arguments are passed on.
    let opened = unsafe {
        match (*system).xOpen {
            Some(open) => open(system, name, file, flags, out_flags),
            None => ffi::SQLITE_CANTOPEN,
        }
    };
    let role = match flags {
        _ if opened != ffi::SQLITE_OK => return opened,
        _ if flags & ffi::SQLITE_OPEN_MAIN_DB != 0 => FileRole::Database,
        _ if flags & ffi::SQLITE_OPEN_WAL != 0 => FileRole::Log { announced: 0, rewritten_from: i64::MAX },
        _ => return opened,
    };
    // SAFETY: an open file has methods. They get the same file as before, so all but the three replaced ones stay
    // valid.
    unsafe {
        let system = (*file).pMethods;
        let mut methods = *system;
        // Version 3 would let SQLite read pages through a memory map, past `xRead`.
        methods.iVersion = methods.iVersion.min(2);
        methods.xClose = Some(close);
        methods.xRead = Some(read);
        methods.xWrite = Some(write);
        (*file).pMethods = Box::into_raw(Box::new(CheckedFile { methods, system, role })).cast();
    }
    opened
}

/// # Safety
/// As SQLite calls it: `file` was opened by `open`, and is not used afterwards.
unsafe extern "C" fn close(file: *mut ffi::sqlite3_file) -> c_int {
    // SAFETY: `open` made the box, and a file is closed once.
    unsafe {
        let checked: Box<CheckedFile> = Box::from_raw((*file).pMethods.cast_mut().cast());
        (*file).pMethods = checked.system;
        (*checked.system).xClose.map_or(ffi::SQLITE_OK, |close| close(file))
    }
}

/// # Safety
/// As SQLite calls it: `file` was opened by `open`, and `buffer` has room for `amount` bytes.
unsafe extern "C" fn read(
    file: *mut ffi::sqlite3_file,
    buffer: *mut c_void,
    amount: c_int,
    offset: i64,
) -> c_int {
    // SAFETY: as promised by the caller. No other reference to the box or the buffer is alive.
    let (checked, bytes) = unsafe {
        let checked = &*(*file).pMethods.cast::<CheckedFile>();
        let length = usize::try_from(amount).unwrap_or(0);
        if matches!(checked.role, FileRole::Database) && length < PAGE && offset >= PAGE as i64 {
            return checked.read_part(
                file,
                std::slice::from_raw_parts_mut(buffer.cast::<u8>(), length),
                offset,
            );
        }
        let result = checked.read(file, buffer, amount, offset);
        if result != ffi::SQLITE_OK && result != ffi::SQLITE_IOERR_SHORT_READ {
            return result;
        }
        let bytes = std::slice::from_raw_parts(buffer.cast::<u8>(), length);
        if result == ffi::SQLITE_IOERR_SHORT_READ {
            // What a new or growing file does not have yet reads as SQLite expects.
            return if bytes.len() == PAGE && checked.should_have(file, offset) {
                ffi::SQLITE_IOERR_DATA
            } else {
                result
            };
        }
        (checked, bytes)
    };
    let sound = match (&checked.role, bytes.as_array::<PAGE>()) {
        (FileRole::Database, Some(page)) => page[CHECKED..] == check(page, offset).to_le_bytes(),
        (FileRole::Database, None) if offset == 0 => bytes.len() < HEADER || is_our_header(bytes),
        (FileRole::Database, None) => true,
        // SAFETY: as promised by the caller.
        (FileRole::Log { rewritten_from, .. }, Some(page)) if offset < *rewritten_from => unsafe {
            checked.frame_is_sound(file, page, offset)
        },
        (FileRole::Log { .. }, _) => true,
    };
    if sound { ffi::SQLITE_OK } else { ffi::SQLITE_IOERR_DATA }
}

/// # Safety
/// As SQLite calls it: `file` was opened by `open`, and `buffer` has `amount` bytes.
unsafe extern "C" fn write(
    file: *mut ffi::sqlite3_file,
    buffer: *const c_void,
    amount: c_int,
    offset: i64,
) -> c_int {
    // SAFETY: as promised by the caller. SQLite uses a file from one thread at a time.
    unsafe {
        let checked = &mut *(*file).pMethods.cast_mut().cast::<CheckedFile>();
        let Some(write) = (*checked.system).xWrite else { return ffi::SQLITE_IOERR_WRITE };
        let bytes = std::slice::from_raw_parts(buffer.cast::<u8>(), usize::try_from(amount).unwrap_or(0));
        match (&mut checked.role, bytes.as_array::<PAGE>()) {
            (FileRole::Database, Some(page)) => {
                let mut page = *page;
                clear_gap(&mut page, if offset == 0 { HEADER } else { 0 });
                let value = check(&page, offset).to_le_bytes();
                page[CHECKED..].copy_from_slice(&value);
                return write(file, page.as_ptr().cast(), amount, offset);
            }
            (FileRole::Log { announced, rewritten_from }, Some(_)) if offset != *announced => {
                *rewritten_from = offset.min(*rewritten_from);
            }
            (FileRole::Log { announced, rewritten_from }, None) if bytes.len() == FRAME_HEADER => {
                *announced = offset + FRAME_HEADER as i64;
                if *announced <= *rewritten_from {
                    *rewritten_from = i64::MAX;
                }
            }
            (FileRole::Log { .. }, _) => {}
            (FileRole::Database, None) => {}
        }
        write(file, buffer, amount, offset)
    }
}

/// Zeroes the bytes between the cell pointers of a B-tree page and its cells. `secure_delete` zeroes all other
/// free bytes, but not what is left here of cells that moved to another page and may be deleted there: nothing
/// deleted may stay in the file. The page header begins at `header`.
fn clear_gap(page: &mut [u8; PAGE], header: usize) {
    let pointers = match page[header] {
        2 | 5 => header + 12,
        10 | 13 => header + 8,
        // An overflow page or a page of the free list.
        _ => return,
    };
    let number = |at: usize| usize::from(u16::from_be_bytes([page[at], page[at + 1]]));
    let (cells, content) = (number(header + 3), number(header + 5));
    if let Some(gap) = page[..CHECKED].get_mut(pointers + 2 * cells..content) {
        gap.fill(0);
    }
}

fn is_our_header(bytes: &[u8]) -> bool {
    bytes.starts_with(b"SQLite format 3\0")
        && bytes[16..18] == (PAGE as u16).to_be_bytes()
        && usize::from(bytes[20]) == CHECK
}

/// A check value over all bytes of a page but the last eight, and its offset, so that a page in the wrong place
/// fails too.
fn check(page: &[u8; PAGE], offset: i64) -> u64 {
    let mut checksum = Checksum::new(offset as u64);
    checksum.add(&page[..CHECKED]);
    checksum.value()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::SeededRng;
    use crate::index::Index;
    use rusqlite::params;

    // The whole file was rewritten for each forgotten memory: 250 MB at 100,000 memories.
    #[test]
    fn what_is_deleted_leaves_no_byte_in_the_file() {
        let folder = std::env::temp_dir().join(format!("lorelane-deleted-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join("index.db");
        let index = Index::open(&file).unwrap();
        let mut rng = SeededRng::new(20_261_117);
        // Every third row stays. Rows of all sizes change and go in any order, so cells move and pages become
        // free.
        let name = |number: usize| if number.is_multiple_of(3) { "stays" } else { "leaves" };
        for _ in 0..40 {
            let made = index.db.unchecked_transaction().unwrap();
            for _ in 0..100 {
                let number = rng.below(600);
                let most = *rng.pick(&[9, 90, 900]);
                let text = name(number).repeat(1 + rng.below(most));
                let row = params![format!("{number:03}{}", name(number)), text];
                made.execute("REPLACE INTO unreadable VALUES (?, ?, 0, 0)", row).unwrap();
                let doc = params![number as i64, text.as_bytes()];
                made.execute("REPLACE INTO forward_index VALUES (?, 0, ?)", doc).unwrap();
                made.execute("DELETE FROM forward_index WHERE id = ?", [rng.below(600) as i64]).unwrap();
            }
            made.commit().unwrap();
            if rng.one_in(3) {
                index.shorten_log(0);
            }
        }
        for sql in [
            "DELETE FROM unreadable WHERE path LIKE '%leaves'",
            "DELETE FROM forward_index WHERE id % 3 <> 0",
        ] {
            index.db.execute(sql, []).unwrap();
        }
        index.scrub().unwrap();
        index.verify().unwrap();
        let bytes = std::fs::read(&file).unwrap();
        let holds = |word: &[u8]| bytes.windows(word.len()).filter(|window| *window == word).count();
        assert_eq!(holds(b"leaves"), 0);
        assert!(holds(b"stays") > 100);
        drop(index);
        std::fs::remove_dir_all(&folder).unwrap();
    }

    // SQLite reads the rest of a long row past its page cache, and only as many bytes as it needs.
    #[test]
    fn damage_in_a_part_of_a_page_is_seen() {
        let folder = std::env::temp_dir().join(format!("lorelane-parts-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join("index.db");
        let index = Index::open(&file).unwrap();
        let text = b"overflow".repeat(PAGE / 4 + 100);
        index.db.execute("REPLACE INTO forward_index VALUES (1, 0, ?)", params![text]).unwrap();
        index.shorten_log(0);
        drop(index);
        let sound = std::fs::read(&file).unwrap();
        let read = || -> rusqlite::Result<Vec<u8>> {
            let index = Index::open(&file).unwrap();
            index.db.query_row("SELECT bytes FROM forward_index WHERE id = 1", [], |row| row.get(0))
        };
        assert!(read().is_ok_and(|bytes| bytes == text));
        let words = sound.windows(8).enumerate().filter(|(_, window)| *window == b"overflow");
        let mut harmed = 0;
        for (at, _) in words.step_by(50) {
            let mut bytes = sound.clone();
            bytes[at] = b'u';
            std::fs::write(&file, bytes).unwrap();
            assert!(read().is_err(), "byte {at}");
            harmed += 1;
        }
        assert!(harmed > 20, "{harmed}");
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn every_byte_of_a_page_and_its_place_count() {
        for page in [[0_u8; PAGE], [0xa5; PAGE]] {
            let sound = check(&page, 0);
            assert_ne!(sound, 0, "a page of zeroes must not be taken for a sound one");
            assert_ne!(check(&page, PAGE as i64), sound);
            for at in 0..CHECKED {
                let mut harmed = page;
                harmed[at] ^= 1 << (at % 8);
                assert_ne!(check(&harmed, 0), sound, "byte {at}");
            }
        }
    }
}
