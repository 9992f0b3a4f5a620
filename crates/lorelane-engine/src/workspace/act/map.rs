//! The act map: a sorted text file in the cache, from what memories name to their addresses.
//!
//! A hook before a tool has no time to open SQLite, so it looks up a few prefixes in this file. The file is a cache:
//! a stale map only misses what is new, because every memory is read from its file before it is shown.

use crate::config::write_plain;
use crate::disk::{Disk, LinkPolicy, RandomAccessFile};
use crate::env::{Env, Folders};
use crate::failure::Failure;
use lorelane_core::act::ActEntry;
use std::io;
use std::path::{Path, PathBuf};

/// Beside the index of the records.
const FILE: &str = "acts";
const HEAD: &str = "lorelane-acts 1";
const HEAD_MAX: usize = 128;
/// A map up to this size is read at once.
const WHOLE_MAX: u64 = 128 << 10;
/// No line is longer.
const LINE_MAX: usize = 4 << 10;
/// How much is read of the lines with one prefix, and in all of the error texts.
const RANGE_MAX: usize = 64 << 10;
const SYMPTOMS_MAX: usize = 4 << 20;

/// The path of the map of the project whose records are in this folder.
pub(in crate::workspace) fn path(folders: &Folders, records: &Path) -> PathBuf {
    folders.cache.join("lanes").join(Folders::lane_key(records)).join(FILE)
}

/// The same from the environment.
pub(super) fn path_in(env: &Env, records: &Path) -> Option<PathBuf> {
    env.folders().map(|folders| path(&folders, records))
}

/// Writes the map from lines in any order, unless it is of these generations already.
pub(super) fn update(
    disk: &dyn Disk,
    path: &Path,
    generations: &[i64],
    lines: impl FnOnce() -> Result<Vec<String>, Failure>,
) -> Result<(), Failure> {
    let numbers: Vec<String> = generations.iter().map(i64::to_string).collect();
    let head = format!("{HEAD} {}\n", numbers.join(" "));
    if ActMap::open(disk, path).is_ok_and(|map| map.head == head) {
        return Ok(());
    }
    let mut lines = lines()?;
    lines.retain(|line| line.len() < LINE_MAX && !line.contains('\n'));
    lines.sort_unstable();
    let mut text = head;
    for line in &lines {
        text.push_str(line);
        text.push('\n');
    }
    Ok(write_plain(disk, path, text.as_bytes())?)
}

/// An open map.
#[derive(Debug)]
pub(super) struct ActMap {
    source: MapSource,
    head: String,
    size: u64,
}

#[derive(Debug)]
enum MapSource {
    Memory(Vec<u8>),
    File(Box<dyn RandomAccessFile>),
}

impl ActMap {
    /// Fails if there is no map, or it is not one of this version.
    pub(super) fn open(disk: &dyn Disk, path: &Path) -> io::Result<ActMap> {
        let mut file = disk.open(path, LinkPolicy::Refused)?;
        let size = file.size()?;
        let mut source = match size {
            0..=WHOLE_MAX => MapSource::Memory(file.read_at(0, usize::try_from(size).unwrap_or(0))?),
            _ => MapSource::File(file),
        };
        let start = source.read(0, size, HEAD_MAX)?;
        let end = start.iter().position(|byte| *byte == b'\n');
        let head = end.and_then(|end| String::from_utf8(start[..=end].to_vec()).ok());
        let head = head.filter(|head| head.starts_with(HEAD));
        Ok(ActMap { source, head: head.ok_or(io::ErrorKind::InvalidData)?, size })
    }

    /// The entries whose lines begin with this text.
    pub(super) fn with_prefix(&mut self, prefix: &str) -> io::Result<Vec<ActEntry>> {
        let begin = self.first_at_least(prefix.as_bytes())?;
        // Error texts are few and short, and cannot be found by their beginning.
        let max = if prefix == "s" { SYMPTOMS_MAX } else { RANGE_MAX };
        let mut step = LINE_MAX;
        loop {
            let range = self.source.read(begin, self.size, step)?;
            let lines = range.split(|byte| *byte == b'\n');
            let ends = lines.clone().any(|line| !line.starts_with(prefix.as_bytes()));
            if ends || step >= max || range.len() < step {
                let found = lines.take_while(|line| line.starts_with(prefix.as_bytes()));
                let found = found.filter_map(|line| ActEntry::parse(std::str::from_utf8(line).ok()?));
                return Ok(found.collect());
            }
            step = (step * 4).min(max);
        }
    }

    /// The offset of the first line that is not less than this text.
    fn first_at_least(&mut self, text: &[u8]) -> io::Result<u64> {
        let (mut low, mut high) = (self.head.len() as u64, self.size);
        while low < high {
            let middle = low + (high - low) / 2;
            let (begin, line) = self.line_after(middle, low)?;
            if begin < high && line.as_slice() < text {
                low = begin + line.len() as u64 + 1;
            } else {
                high = middle;
            }
        }
        Ok(low)
    }

    /// The first line that begins at this offset or later. A line begins at `start`.
    fn line_after(&mut self, offset: u64, start: u64) -> io::Result<(u64, Vec<u8>)> {
        let from = if offset > start { offset - 1 } else { offset };
        let block = self.source.read(from, self.size, 2 * LINE_MAX)?;
        let skipped = match offset > start {
            true => block.iter().position(|byte| *byte == b'\n').map_or(block.len(), |end| end + 1),
            false => 0,
        };
        let rest = &block[skipped..];
        let line = rest.split(|byte| *byte == b'\n').next().unwrap_or_default();
        Ok((from + skipped as u64, line.to_vec()))
    }
}

impl MapSource {
    /// At most `length` bytes from this offset.
    fn read(&mut self, offset: u64, size: u64, length: usize) -> io::Result<Vec<u8>> {
        let left = usize::try_from(size.saturating_sub(offset)).unwrap_or(usize::MAX);
        let length = length.min(left);
        match self {
            MapSource::File(file) => file.read_at(offset, length),
            MapSource::Memory(bytes) => {
                let begin = usize::try_from(offset).unwrap_or(usize::MAX).min(bytes.len());
                let end = begin.saturating_add(length).min(bytes.len());
                Ok(bytes[begin..end].to_vec())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::RealDisk;
    use lorelane_core::memory::{Address, Category};

    #[test]
    fn every_line_is_found_by_its_prefix_and_no_other_is() {
        let folder = std::env::temp_dir().join(format!("lorelane-acts-{}", std::process::id()));
        for count in [0, 1, 2, 500, 20_000] {
            let path = folder.join(FILE);
            let address = |number: usize| Address::record(Category::Constraint, &format!("rule-{number}"));
            let line = |number: usize| format!("fsrc/module-{number}.rs\t0\t{}", address(number));
            // Two lines with the same key.
            let twice =
                || ["fsrc/twice.rs\t1\tconstraint/a".to_owned(), "fsrc/twice.rs\t0\tconstraint/b".to_owned()];
            let lines = (0..count).map(line).chain(twice()).collect::<Vec<_>>();
            update(&RealDisk, &path, &[count as i64, 0], || Ok(lines)).unwrap();
            let mut map = ActMap::open(&RealDisk, &path).unwrap();
            let mut found = |prefix: &str| -> Vec<String> {
                let entries = map.with_prefix(prefix).unwrap();
                entries.iter().map(|entry| entry.address.to_string()).collect()
            };
            for number in [0, 1, count / 2, count.saturating_sub(1)] {
                let expected: Vec<String> =
                    (number < count).then(|| address(number).to_string()).into_iter().collect();
                assert_eq!(found(&format!("fsrc/module-{number}.rs\t")), expected, "{number} of {count}");
            }
            assert_eq!(found("fsrc/twice.rs\t"), ["constraint/b", "constraint/a"]);
            for prefix in ["a", "fsrc/module-.rs\t", "fsrc/zzz\t", "fsrc/twice.r\t", "zzz"] {
                assert_eq!(found(prefix), [""; 0], "{prefix} of {count}");
            }
        }
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_file_that_is_no_map_is_an_error_and_is_replaced() {
        let folder = std::env::temp_dir().join(format!("lorelane-acts-bad-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join(FILE);
        for text in ["", "\n", "x", "lorelane-acts 0 1\n", "lorelane-acts 1 7", "\u{0}\u{0}\n"] {
            std::fs::write(&path, text).unwrap();
            assert!(ActMap::open(&RealDisk, &path).is_err(), "{text:?}");
            update(&RealDisk, &path, &[7], || Ok(vec!["fa\t0\tconstraint/x".to_owned()])).unwrap();
            assert_eq!(ActMap::open(&RealDisk, &path).unwrap().with_prefix("fa\t").unwrap().len(), 1);
        }
        // A damaged one finds nothing, or what is still a line.
        std::fs::write(&path, "lorelane-acts 1 7\nfa\t0\nfa\tx\tconstraint/x\nfa\t0\tconstraint/x\n\u{0}")
            .unwrap();
        let found = ActMap::open(&RealDisk, &path).unwrap().with_prefix("fa\t").unwrap();
        assert_eq!(found.len(), 1);
        std::fs::remove_dir_all(folder).unwrap();
    }
}
