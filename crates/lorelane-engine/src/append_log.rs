//! Line files that many processes append to without locking: the ledger and the hook log.
//!
//! A line is redacted by overwriting it with spaces: rewriting the file would lose what others append meanwhile.
//! Only rotation and redaction take the folder's lock: redacting a file while it is renamed would miss lines.

use crate::disk::{Disk, READ_MAX_BYTES};
use lorelane_core::forget::EraseMode;
use std::io;
use std::path::Path;
use std::time::Duration;

const LOCK_WAIT: Duration = Duration::from_secs(5);

/// Renames a full file to its former name. While another process redacts lines, a later append rotates.
pub(crate) fn rotate(disk: &dyn Disk, path: &Path, former: &Path, max_bytes: u64) -> io::Result<()> {
    if !matches!(disk.stat(path), Ok(Some(stat)) if stat.len > max_bytes) {
        return Ok(());
    }
    match disk.try_lock_dir(folder(path))? {
        Some(_guard) => disk.rename(path, former),
        None => Ok(()),
    }
}

/// Redacts the matching lines in these files of one folder. Returns how many match.
pub(crate) fn redact_lines(
    disk: &dyn Disk,
    files: &[&Path],
    act: EraseMode,
    goes: &dyn Fn(&str) -> bool,
) -> io::Result<usize> {
    let mut count = 0;
    let mut guard = None;
    for path in files {
        if disk.stat(path)?.is_none() {
            continue;
        }
        if act == EraseMode::Purge && guard.is_none() {
            guard = Some(disk.lock_dir(folder(path), LOCK_WAIT)?);
        }
        count += blank_in(disk, path, act, goes)?;
    }
    Ok(count)
}

fn blank_in(disk: &dyn Disk, path: &Path, act: EraseMode, goes: &dyn Fn(&str) -> bool) -> io::Result<usize> {
    let bytes = disk.read_regular(path, READ_MAX_BYTES)?.unwrap_or_default();
    let (mut count, mut at) = (0, 0);
    for line in bytes.split(|byte| *byte == b'\n') {
        if goes(&String::from_utf8_lossy(line)) {
            count += 1;
            if act == EraseMode::Purge {
                disk.overwrite_at(path, at, &vec![b' '; line.len()])?;
            }
        }
        at += line.len() as u64 + 1;
    }
    if act == EraseMode::Purge {
        // Also when nothing was found: whoever redacted it may have died before the sync.
        disk.sync_file(path)?;
    }
    Ok(count)
}

fn folder(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new("/"))
}
