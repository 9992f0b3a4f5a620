//! A glance at the lane after every tool: whether anything in it changed since it was last examined.
//!
//! Most tools have nothing to do with memories, so it opens no workspace: it stats files and compares one digest.

use crate::config::write_plain;
use crate::disk::{Disk, RealDisk};
use crate::env::{Env, Folders};
use lorelane_core::digest::short_digest;
use lorelane_core::memory::Category;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Of a larger lane only the times of the folders are compared: stats of 10,000 files cost more than a tool may.
const STATS_MAX: usize = 1_000;
/// The digest of the last glance, beside the index.
const STAMP: &str = "glance";
const STAMP_MAX_BYTES: u64 = 1 << 10;
const DIGITS: usize = 32;

/// How a lane looked from outside, before it was examined.
pub(super) struct Glance {
    digest: String,
    stamp: PathBuf,
}

impl Glance {
    /// `None` if all is as it was when the lane was last examined.
    pub(super) fn at(env: &Env, lane: &Path) -> Option<Glance> {
        let digest = digest(&RealDisk, lane);
        // Without a place for the stamp nothing is known, so everything is news.
        let stamp = env.folders().map_or_else(PathBuf::new, |folders| {
            folders.cache.join("lanes").join(Folders::lane_key(lane)).join(STAMP)
        });
        let last = RealDisk.read_regular(&stamp, STAMP_MAX_BYTES).ok().flatten().unwrap_or_default();
        (last != digest.as_bytes()).then_some(Glance { digest, stamp })
    }

    /// Remembers it, once the lane is examined. What changed meanwhile is news for the next glance.
    pub(super) fn keep(self) {
        // A stamp that cannot be written only costs the next glance its shortcut.
        let _ = write_plain(&RealDisk, &self.stamp, self.digest.as_bytes());
    }
}

fn digest(disk: &dyn Disk, lane: &Path) -> String {
    let folders = Category::ALL.map(|category| lane.join(category.folder()));
    let files = files(disk, &folders).unwrap_or_default();
    let mut text = String::new();
    for path in folders.iter().chain(&files) {
        if let Ok(Some(stat)) = disk.stat(path) {
            let _ = writeln!(text, "{} {} {}", path.display(), stat.len, stat.mtime_ns);
        }
    }
    short_digest(&text, DIGITS)
}

/// The files that may be memories; `None` for too many.
fn files(disk: &dyn Disk, folders: &[PathBuf]) -> Option<Vec<PathBuf>> {
    let mut files = Vec::new();
    for folder in folders {
        let listed = disk.list(folder).ok().flatten().unwrap_or_default();
        let listed = listed.iter().filter(|file| file.name.ends_with(".json"));
        files.extend(listed.map(|file| folder.join(&file.name)));
        if files.len() > STATS_MAX {
            return None;
        }
    }
    files.sort();
    Some(files)
}
