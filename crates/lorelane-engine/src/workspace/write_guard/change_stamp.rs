//! A glance at the lane after every tool: whether anything in it changed since it was last examined.
//!
//! Most tools have nothing to do with memories, so it opens no workspace: it stats files and compares one digest. In a
//! large lane that would cost more than a tool may: there only some files are compared after each tool, in turn.

use crate::config::write_plain;
use crate::disk::{Disk, RealDisk};
use crate::env::{Env, Folders};
use lorelane_core::digest::short_digest;
use lorelane_core::memory::Category;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Of a lane with more files only some are compared.
const STATS_MAX: usize = 1_000;
/// What the last glance left, beside the index: a digest, or this word and the path that it ended with.
const STAMP: &str = "glance";
const STAMP_MAX_BYTES: u64 = 4 << 10;
const LARGE: &str = "large ";
const DIGITS: usize = 32;

/// How a lane looked from outside, before it was examined.
pub(in crate::workspace) enum LaneFingerprint {
    /// As when it was last examined.
    Same,
    Changed(Stamp),
    /// Too large to tell; the last glance ended with the path `after`.
    Large {
        after: String,
        stamp: Stamp,
    },
}

/// What to remember once the lane is examined.
pub(in crate::workspace) struct Stamp {
    file: PathBuf,
    text: String,
}

impl LaneFingerprint {
    pub(in crate::workspace) fn at(env: &Env, lane: &Path) -> LaneFingerprint {
        // Without a place for the stamp nothing is known, so everything is news.
        let file = env.folders().map_or_else(PathBuf::new, |folders| {
            folders.cache.join("lanes").join(Folders::lane_key(lane)).join(STAMP)
        });
        let last = RealDisk.read_regular(&file, STAMP_MAX_BYTES).ok().flatten().unwrap_or_default();
        let last = String::from_utf8(last).unwrap_or_default();
        let stamp = |text| Stamp { file, text };
        // A large lane is not even listed, until all of it was looked at: it may be small by then.
        if let Some(after) = last.strip_prefix(LARGE) {
            return LaneFingerprint::Large { after: after.to_owned(), stamp: stamp(String::new()) };
        }
        match digest(&RealDisk, lane) {
            None => LaneFingerprint::Large { after: String::new(), stamp: stamp(String::new()) },
            Some(digest) if digest == last => LaneFingerprint::Same,
            Some(digest) => LaneFingerprint::Changed(stamp(digest)),
        }
    }
}

impl Stamp {
    /// Remembers it. What changed meanwhile is news for the next glance.
    pub(in crate::workspace) fn keep(self) {
        // A stamp that cannot be written only costs the next glance its shortcut.
        let _ = write_plain(&RealDisk, &self.file, self.text.as_bytes());
    }

    /// Remembers where the next glance at a large lane goes on; nothing at its end.
    pub(in crate::workspace) fn keep_place(self, after: &str) {
        let text = if after.is_empty() { String::new() } else { format!("{LARGE}{after}") };
        Stamp { text, ..self }.keep();
    }
}

/// `None` for too many files.
fn digest(disk: &dyn Disk, lane: &Path) -> Option<String> {
    let folders = Category::ALL.map(|category| lane.join(category.folder()));
    let files = files(disk, &folders)?;
    let mut text = String::new();
    for path in folders.iter().chain(&files) {
        if let Ok(Some(stat)) = disk.stat(path) {
            let _ = writeln!(text, "{} {} {}", path.display(), stat.len, stat.mtime_ns);
        }
    }
    Some(short_digest(&text, DIGITS))
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
