//! The marks file: lines that several lanes append to.
//!
//! Whether a lane's lines are in it is told by counting them, because neither length nor digest of a
//! shared file says anything about one lane's part of it.

use crate::backend::{StoreError, Warning};
use std::path::PathBuf;

use super::Store;
use super::faults::FaultSwitch;
use crate::disk::{FileType, LockGuard};

pub(super) const FILE: &str = "marks.jsonl";

impl Store {
    pub(super) fn marks_file(&self) -> PathBuf {
        self.home.marks.join(FILE)
    }

    /// Always taken after the lane's lock.
    pub(super) fn lock_marks(&self) -> Result<LockGuard, StoreError> {
        let folder = &self.home.marks;
        let stat = self.disk.stat(folder).map_err(StoreError::io("look at", folder))?;
        match stat.map(|stat| stat.kind) {
            None => self.create_folder(folder)?,
            Some(FileType::Folder) => {}
            Some(FileType::Symlink) => return Err(StoreError::Symlink { path: folder.clone() }),
            Some(_) => return Err(StoreError::NotAFile { path: folder.clone() }),
        }
        let lock = self.lock(folder, &[self.marks_file()], FaultSwitch::SkipMarksLock)?;
        self.refuse_unless_file(&self.marks_file())?;
        Ok(lock)
    }

    /// The first mark made the file; with the last one taken back, nothing says that there was one. The folder
    /// stays: others may be waiting for its lock.
    pub(super) fn remove_empty_marks(&self) {
        let path = self.marks_file();
        if matches!(self.disk.stat(&path), Ok(Some(stat)) if stat.kind == FileType::File && stat.len == 0) {
            let _ = self.disk.remove_file(&path);
        }
    }

    pub(super) fn read_marks(&self) -> Result<Vec<u8>, StoreError> {
        Ok(self.read_file(&self.marks_file())?.unwrap_or_default())
    }

    /// Appends lines and syncs them. `len_before` is set as soon as there may be something to take back.
    pub(super) fn append_marks(
        &self,
        lines: &[u8],
        len_before: &mut Option<u64>,
        warnings: &mut Vec<Warning>,
    ) -> Result<(), StoreError> {
        let path = self.marks_file();
        let content = self.read_marks()?;
        self.settle_marks_name(&content)?;
        let sound = self.sound_marks(&content, warnings);
        let mut bytes = if ends_line(sound) { Vec::new() } else { vec![b'\n'] };
        bytes.extend_from_slice(lines);
        let len = sound.len() as u64;
        if sound.len() < content.len() {
            self.disk.truncate(&path, len).map_err(StoreError::io("cut the torn end of", &path))?;
        }
        *len_before = Some(len);
        self.disk.append(&path, &bytes).map_err(StoreError::io("append to", &path))?;
        self.sync_file(&path, FaultSwitch::SkipMarksSync)
    }

    /// Takes away what a crash left of an append of these lines.
    pub(super) fn cut_begun_marks(
        &self,
        lines: &[u8],
        warnings: &mut Vec<Warning>,
    ) -> Result<(), StoreError> {
        let (path, content) = (self.marks_file(), self.read_marks()?);
        let len = without_begun(self.sound_marks(&content, warnings), lines).len();
        if len < content.len() {
            self.disk.truncate(&path, len as u64).map_err(StoreError::io("cut the torn end of", &path))?;
            self.sync_file(&path, FaultSwitch::SkipMarksSync)?;
        }
        Ok(())
    }

    /// The marks without what a crash left at their end, for a writer that is about to cut it.
    pub(super) fn sound_marks<'c>(&self, content: &'c [u8], warnings: &mut Vec<Warning>) -> &'c [u8] {
        let (sound, torn) = content.split_at(sound_len(content));
        if !torn.is_empty() {
            warnings.push(Warning::TornMarks { path: self.marks_file(), bytes: torn.len() });
        }
        sound
    }

    /// Another lane's writer may have been killed between naming this file and syncing the name; what we
    /// append to a file whose name is lost is lost with it. Steady state: the file is younger than its
    /// folder, and nothing is synced here.
    fn settle_marks_name(&self, content: &[u8]) -> Result<(), StoreError> {
        let (folder, path) = (&self.home.marks, self.marks_file());
        let stamp = |path: &std::path::Path| {
            let stat = self.disk.stat(path).map_err(StoreError::io("look at", path))?;
            Ok::<_, StoreError>(stat.map(|stat| stat.mtime_ns))
        };
        let renamed = stamp(folder)? >= stamp(&path)?;
        if content.is_empty() {
            self.disk.append(&path, b"").map_err(StoreError::io("create", &path))?;
        }
        if self.faults.skip(FaultSwitch::SkipMarksFolderSync) {
            return Ok(());
        }
        if content.is_empty() || renamed {
            self.disk.sync_dir(folder).map_err(StoreError::io("sync", folder))?;
        }
        if content.is_empty() {
            self.sync_ancestors(folder, folder.parent())?;
        }
        Ok(())
    }
}

/// How often `lines` stand in the file, whole and beginning at a line.
pub(super) fn count(content: &[u8], lines: &[u8]) -> u64 {
    occurrences(&whole(content), lines).len() as u64
}

/// The content without the last occurrence of `lines`.
pub(super) fn without(content: &[u8], lines: &[u8]) -> Vec<u8> {
    let mut content = whole(content);
    if let Some(at) = occurrences(&content, lines).pop() {
        content.drain(at..at + lines.len());
    }
    content
}

/// The content without the first of `lines` at its end, if only some of them are there.
fn without_begun<'c>(content: &'c [u8], lines: &[u8]) -> &'c [u8] {
    let line_ends = lines.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at);
    // With its line end, or cut before it.
    let ends = line_ends.rev().flat_map(|at| [at + 1, at]).filter(|end| *end < lines.len());
    let begun = ends.into_iter().find_map(|end| {
        let rest = content.strip_suffix(&lines[..end])?;
        ends_line(rest).then_some(rest)
    });
    begun.unwrap_or(content)
}

fn occurrences(content: &[u8], lines: &[u8]) -> Vec<usize> {
    let (mut found, mut at) = (Vec::new(), 0);
    while at < content.len() {
        if content[at..].starts_with(lines) {
            found.push(at);
            at += lines.len();
        } else {
            at += content[at..].iter().position(|byte| *byte == b'\n').map_or(content.len(), |end| end + 1);
        }
    }
    found
}

/// The content with its last line ended, if only the line end is missing.
fn whole(content: &[u8]) -> Vec<u8> {
    let mut content = content.to_vec();
    if !ends_line(&content) {
        content.push(b'\n');
    }
    content
}

fn ends_line(content: &[u8]) -> bool {
    content.last().is_none_or(|byte| *byte == b'\n')
}

/// The length up to which the file holds lines, and behind which a crash left a piece of one: zeroes,
/// or an object that is not closed. Whatever else stands there is somebody's text and stays.
fn sound_len(content: &[u8]) -> usize {
    let mut end = content.len();
    while end > 0 {
        let start = content[..end - 1].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let line = &content[start..end];
        let torn = line.contains(&0) || !ends_line(line) && is_unclosed_object(line);
        if !torn {
            break;
        }
        end = start;
    }
    end
}

/// Our lines are objects, and no piece of one closes its first brace. Asking whether the line parses would
/// also condemn a whole mark that somebody wrote a comment behind.
fn is_unclosed_object(line: &[u8]) -> bool {
    let line = line.trim_ascii_start();
    if !line.starts_with(b"{") {
        return false;
    }
    let (mut depth, mut in_text, mut escaped) = (0, false, false);
    for byte in line {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_text => escaped = true,
            b'"' => in_text = !in_text,
            b'{' if !in_text => depth += 1,
            b'}' if !in_text && depth == 1 => return false,
            b'}' if !in_text => depth -= 1,
            _ => {}
        }
    }
    true
}
