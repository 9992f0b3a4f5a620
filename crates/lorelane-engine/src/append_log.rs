//! Files of lines that many processes append to without waiting: the ledger, the log of hooks.
//!
//! A line is taken out by blanks in its place: a copy without it would lose what others append meanwhile. Only
//! turning over a full file moves bytes, so only these two need the folder's lock.

use crate::disk::{Disk, READ_MAX_BYTES};
use lorelane_core::forget::EraseMode;
use std::io;
use std::path::Path;
use std::time::Duration;

const LOCK_WAIT: Duration = Duration::from_secs(5);

/// Gives a full file its former name. Where somebody blanks lines just now, a later line does it.
pub(crate) fn rotate(disk: &dyn Disk, path: &Path, former: &Path, max_bytes: u64) -> io::Result<()> {
    if !matches!(disk.stat(path), Ok(Some(stat)) if stat.len > max_bytes) {
        return Ok(());
    }
    match disk.try_lock_dir(folder(path))? {
        Some(_guard) => disk.rename(path, former),
        None => Ok(()),
    }
}

/// Blanks the lines that have to go, in these files of one folder. Returns how many there are.
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
        // Also when nothing was found: whoever blanked it may have died before.
        disk.sync_file(path)?;
    }
    Ok(count)
}

fn folder(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new("/"))
}
