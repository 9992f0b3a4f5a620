//! Tells after every tool call whether a lane may have changed since the last audit.
//!
//! Most tools do not touch memories, so this opens no workspace: it stats the files and compares one digest. In a
//! large lane that would take too long after every tool, so there only some files are compared at a time, in turn.

use crate::config::write_plain;
use crate::disk::{Disk, RealDisk};
use crate::env::{Env, Folders};
use lorelane_core::digest::short_digest;
use lorelane_core::memory::Category;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// In a lane with more files only some are compared at a time.
const STATS_MAX: usize = 1_000;
/// The stamp file beside the index: a digest, or [`LARGE`] and the last path that was compared.
const STAMP: &str = "glance";
const STAMP_MAX_BYTES: u64 = 4 << 10;
const LARGE: &str = "large ";
const DIGITS: usize = 32;

/// Whether a lane changed, judged by stats only.
pub(in crate::workspace) enum LaneFingerprint {
    /// Unchanged since the last audit.
    Same,
    Changed(Stamp),
    /// Too large to stat as a whole; the last part that was compared ended with the path `after`.
    Large {
        after: String,
        stamp: Stamp,
    },
}

/// The stamp to write once the lane is audited. It was taken before the audit, so what changes meanwhile is
/// audited next time.
pub(in crate::workspace) struct Stamp {
    file: PathBuf,
    text: String,
}

impl LaneFingerprint {
    pub(in crate::workspace) fn at(env: &Env, lane: &Path) -> LaneFingerprint {
        // Without a cache folder there is no stamp, so every lane counts as changed.
        let file = env.folders().map_or_else(PathBuf::new, |folders| {
            folders.cache.join("lanes").join(Folders::lane_key(lane)).join(STAMP)
        });
        let last = RealDisk.read_regular(&file, STAMP_MAX_BYTES).ok().flatten().unwrap_or_default();
        let last = String::from_utf8(last).unwrap_or_default();
        let stamp = |text| Stamp { file, text };
        // A large lane is not even listed until a full turn through its files has ended; then its size is checked
        // again.
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
    /// Writes the stamp.
    pub(in crate::workspace) fn keep(self) {
        // Without a stamp the next call audits the lane again, which is only slower.
        let _ = write_plain(&RealDisk, &self.file, self.text.as_bytes());
    }

    /// Writes where the next part of a large lane begins. At the end it writes an empty stamp.
    pub(in crate::workspace) fn keep_place(self, after: &str) {
        let text = if after.is_empty() { String::new() } else { format!("{LARGE}{after}") };
        Stamp { text, ..self }.keep();
    }
}

/// A digest of the sizes and mtimes of all files; `None` if there are too many.
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

/// The files that may be memories; `None` if there are more than [`STATS_MAX`].
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
