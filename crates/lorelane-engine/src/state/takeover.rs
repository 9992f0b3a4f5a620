//! Moves what an older version kept under the path of the records to the project's state folder.
//!
//! Each file is moved by itself: after a crash the next writer moves the rest. Two worktrees each had their own
//! files, so a name may be taken: then lines are appended, and any other file gets a new name.

use super::id::{digits, put};
use super::{CAPTURES, DRAFTS, WORKING_SET_FILE};
use crate::disk::{DirEntry, Disk, FileType, READ_MAX_BYTES};
use std::io;
use std::path::Path;

/// Line files, which are appended to one another.
const LINES: [&str; 5] = ["ledger.old.jsonl", "ledger.jsonl", "bench.old.jsonl", "bench.jsonl", "told-full"];

/// Moves everything but the journal. What cannot be moved stays for the next writer.
pub(super) fn project(disk: &dyn Disk, former: &Path, former_drafts: &Path, own: &Path) {
    let (kept, drafts) = (kept_by_project(disk, former), files(disk, former_drafts));
    // Two processes at once would append the same lines, so the second leaves it to the first.
    let is_empty = kept.is_empty() && drafts.is_empty();
    let Some(Ok(Some(_lock))) = (!is_empty).then(|| disk.try_lock_dir(own)) else { return };
    // A project may be given its id, with its first memory, long after `ws init`.
    let (choice, chosen) = (former.join(WORKING_SET_FILE), own.join(WORKING_SET_FILE));
    if matches!(disk.stat(&chosen), Ok(None))
        && let Ok(Some(bytes)) = disk.read_regular(&choice, READ_MAX_BYTES)
        && put(disk, &chosen, &bytes).is_ok()
    {
        // Copied first: after a power cut, a rename from one folder to another may be in neither.
        let _ = disk.remove_file(&choice);
    }
    for name in kept.iter().filter(|name| LINES.contains(&name.as_str())) {
        let _ = move_lines(disk, &former.join(name), &own.join(name));
    }
    let _ = move_files(disk, &former.join(CAPTURES), &own.join(CAPTURES));
    let _ = move_files(disk, former_drafts, &own.join(DRAFTS));
    // Fails, as it should, while the journal is in it.
    let _ = disk.remove_dir(former);
}

/// What a folder of the older version holds besides a journal.
pub(super) fn kept_by_project(disk: &dyn Disk, former: &Path) -> Vec<String> {
    let listed = disk.list(former).ok().flatten().unwrap_or_default();
    let names = listed.into_iter().map(|listed| listed.name);
    let is_kept =
        |name: &String| name == CAPTURES || name == WORKING_SET_FILE || LINES.contains(&name.as_str());
    names.filter(is_kept).collect()
}

fn move_lines(disk: &dyn Disk, from: &Path, to: &Path) -> io::Result<()> {
    if disk.stat(to)?.is_none() {
        return disk.rename(from, to);
    }
    let lines = disk.read_regular(from, READ_MAX_BYTES)?.unwrap_or_default();
    disk.append(to, &lines)?;
    disk.remove_file(from)
}

fn move_files(disk: &dyn Disk, from: &Path, to: &Path) -> io::Result<()> {
    let files = files(disk, from);
    if !files.is_empty() {
        disk.create_private_dir_all(to)?;
    }
    for file in files {
        let mut place = to.join(&file.name);
        if disk.stat(&place)?.is_some() {
            place = to.join(format!("{}-{}", digits(disk.nonce()), file.name));
        }
        disk.rename(&from.join(&file.name), &place)?;
    }
    // Only removes an empty folder; one with other files stays.
    disk.remove_dir(from)
}

fn files(disk: &dyn Disk, folder: &Path) -> Vec<DirEntry> {
    let listed = disk.list(folder).ok().flatten().unwrap_or_default();
    listed.into_iter().filter(|listed| listed.kind == FileType::File).collect()
}
