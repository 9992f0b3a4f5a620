//! The act map: a sorted text file in the cache, from what memories name to their addresses.
//!
//! A hook before a tool has no time to open SQLite, so it looks up a few prefixes in this file. The file is a cache:
//! a stale map only misses what is new, because every memory is read from its file before it is shown.

use crate::config::write_plain;
use crate::disk::{Disk, LinkPolicy, RandomAccessFile};
use crate::env::{Env, Folders};
use crate::failure::Failure;
use lorelane_core::act::ActEntry;
use memchr::memchr;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Beside the index of the records.
const FILE: &str = "acts";
const HEAD: &str = "lorelane-acts 1";
/// The first read of a map: its head, and most directories.
const START_BYTES: usize = 16 << 10;
/// The directory has the first line of each block of about this size.
const BLOCK_BYTES: usize = 8 << 10;
/// No line is longer.
const LINE_MAX: usize = 4 << 10;
/// How much is read of the lines with one prefix, and in all of the error texts.
const RANGE_MAX: usize = 64 << 10;
const SYMPTOMS_MAX: usize = 512 << 10;

/// The path of the map of the project whose records are in this folder.
pub(in crate::workspace) fn path(folders: &Folders, records: &Path) -> PathBuf {
    folders.cache.join("lanes").join(Folders::lane_key(records)).join(FILE)
}

/// The same from the environment.
pub(super) fn path_in(env: &Env, records: &Path) -> Option<PathBuf> {
    env.folders().map(|folders| path(&folders, records))
}

/// Writes the map from lines in any order, unless it is of these generations already. Returns whether it was written.
pub(super) fn update(
    disk: &dyn Disk,
    path: &Path,
    generations: &[i64],
    lines: impl FnOnce() -> Result<Vec<String>, Failure>,
) -> Result<bool, Failure> {
    let numbers: Vec<String> = generations.iter().map(i64::to_string).collect();
    let head = format!("{HEAD} {}\n", numbers.join(" "));
    if ActMap::open(disk, path).is_ok_and(|map| map.head == head) {
        return Ok(false);
    }
    let mut lines = lines()?;
    lines.retain(|line| !line.is_empty() && line.len() < LINE_MAX && !line.contains('\n'));
    lines.sort_unstable();
    let (mut directory, mut body) = (String::new(), String::new());
    let mut block_end = 0;
    for line in &lines {
        if body.len() >= block_end {
            block_end = body.len() + BLOCK_BYTES;
            directory.push_str(&format!("{} {line}\n", body.len()));
        }
        body.push_str(line);
        body.push('\n');
    }
    let text = format!("{head}{}\n{directory}{body}", directory.len());
    write_plain(disk, path, text.as_bytes())?;
    Ok(true)
}

/// An open map: head, length of the directory, directory, sorted lines.
#[derive(Debug)]
pub(super) struct ActMap {
    file: Box<dyn RandomAccessFile>,
    size: u64,
    head: String,
    directory: String,
    /// The offset of each block, with the place of its first line in the directory: a string for each would be half
    /// of a hook's own work in a large store.
    blocks: Vec<(u64, Range<usize>)>,
}

impl ActMap {
    /// Fails if there is no map, or it is not one of this version.
    pub(super) fn open(disk: &dyn Disk, path: &Path) -> io::Result<ActMap> {
        let invalid = || io::Error::from(io::ErrorKind::InvalidData);
        let mut file = disk.open(path, LinkPolicy::Refused)?;
        let size = file.size()?;
        let mut start = read(&mut *file, 0, size, START_BYTES)?;
        let line_end = |bytes: &[u8], from: usize| {
            let found = bytes.get(from..)?.iter().position(|byte| *byte == b'\n')?;
            Some(from + found + 1)
        };
        let head_end = line_end(&start, 0).ok_or_else(invalid)?;
        let head = String::from_utf8(start[..head_end].to_vec()).map_err(|_| invalid())?;
        let directory_start =
            line_end(&start, head_end).filter(|_| head.starts_with(HEAD)).ok_or_else(invalid)?;
        let length = std::str::from_utf8(&start[head_end..directory_start - 1]).ok();
        let length: usize = length.and_then(|length| length.parse().ok()).ok_or_else(invalid)?;
        let body = directory_start.checked_add(length).ok_or_else(invalid)?;
        if body as u64 > size {
            return Err(invalid());
        }
        if body > start.len() {
            start.append(&mut read(&mut *file, start.len() as u64, size, body - start.len())?);
        }
        let directory = String::from_utf8(start[directory_start..body].to_vec()).map_err(|_| invalid())?;
        let (mut blocks, mut line_start) = (Vec::new(), 0);
        while line_start < directory.len() {
            let line = &directory.as_bytes()[line_start..];
            let end = memchr(b'\n', line).unwrap_or(line.len());
            let digits = memchr(b' ', &line[..end]).ok_or_else(invalid)?;
            let offset = directory[line_start..line_start + digits].parse::<u64>().map_err(|_| invalid())?;
            let offset = offset.checked_add(body as u64).ok_or_else(invalid)?;
            blocks.push((offset, line_start + digits + 1..line_start + end));
            line_start += end + 1;
        }
        Ok(ActMap { file, size, head, directory, blocks })
    }

    /// The entries whose lines begin with this text.
    pub(super) fn with_prefix(&mut self, prefix: &str) -> io::Result<Vec<ActEntry>> {
        // The lines may begin in the block before the first one that is not less.
        let first_line = |line: &Range<usize>| &self.directory[line.clone()];
        let after = self.blocks.partition_point(|(_, line)| first_line(line) < prefix);
        let Some((begin, _)) = self.blocks.get(after.saturating_sub(1)) else { return Ok(Vec::new()) };
        let is_last = self.blocks.get(after).is_none_or(|(_, line)| !first_line(line).starts_with(prefix));
        let end =
            if is_last { self.blocks.get(after).map_or(self.size, |(offset, _)| *offset) } else { self.size };
        // Error texts are few and short, and cannot be found by their beginning.
        let max = if prefix == "s" { SYMPTOMS_MAX } else { RANGE_MAX };
        let bytes = read(&mut *self.file, *begin, end, max)?;
        let lines = bytes.split(|byte| *byte == b'\n').skip_while(|line| *line < prefix.as_bytes());
        let found = lines.take_while(|line| line.starts_with(prefix.as_bytes()));
        Ok(found.filter_map(|line| ActEntry::parse(std::str::from_utf8(line).ok()?)).collect())
    }
}

/// At most `length` bytes from this offset, up to `end`.
fn read(file: &mut dyn RandomAccessFile, offset: u64, end: u64, length: usize) -> io::Result<Vec<u8>> {
    let left = usize::try_from(end.saturating_sub(offset)).unwrap_or(usize::MAX);
    file.read_at(offset, length.min(left))
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
        for text in [
            "",
            "\n",
            "x",
            "lorelane-acts 0 1\n0\n",
            "lorelane-acts 1 7",
            "lorelane-acts 1 7\n",
            "lorelane-acts 1 7\n99999999999999999999\n",
            "lorelane-acts 1 7\n5\nx fa\n",
            "\u{0}\u{0}\n",
        ] {
            std::fs::write(&path, text).unwrap();
            assert!(ActMap::open(&RealDisk, &path).is_err(), "{text:?}");
            update(&RealDisk, &path, &[7], || Ok(vec!["fa\t0\tconstraint/x".to_owned()])).unwrap();
            assert_eq!(ActMap::open(&RealDisk, &path).unwrap().with_prefix("fa\t").unwrap().len(), 1);
        }
        // A damaged one finds nothing, or what is still a line.
        std::fs::write(
            &path,
            "lorelane-acts 1 7\n5\n0 fa\nfa\t0\nfa\tx\tconstraint/x\nfa\t0\tconstraint/x\n\u{0}",
        )
        .unwrap();
        let found = ActMap::open(&RealDisk, &path).unwrap().with_prefix("fa\t").unwrap();
        assert_eq!(found.len(), 1);
        std::fs::remove_dir_all(folder).unwrap();
    }
}
