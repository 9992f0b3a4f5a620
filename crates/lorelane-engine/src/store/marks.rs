//! The marks file, which several lanes append to.
//!
//! Whether a lane's lines are in it is found by counting them: neither length nor digest of a shared file says
//! anything about one lane's lines.

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

    /// Always after the lane's lock.
    pub(super) fn lock_marks(&self) -> Result<LockGuard, StoreError> {
        let folder = &self.home.marks;
        let stat = self.disk.stat(folder).map_err(StoreError::io("stat", folder))?;
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

    /// The first mark creates the file; once the last one is undone, nothing of it stays. The folder stays: others
    /// may be waiting for its lock.
    pub(super) fn remove_empty_marks(&self) {
        let path = self.marks_file();
        if matches!(self.disk.stat(&path), Ok(Some(stat)) if stat.kind == FileType::File && stat.len == 0) {
            let _ = self.disk.remove_file(&path);
        }
    }

    pub(super) fn read_marks(&self) -> Result<Vec<u8>, StoreError> {
        Ok(self.read_file(&self.marks_file())?.unwrap_or_default())
    }

    /// Appends lines and syncs them. `len_before` is set as soon as there may be something to roll back.
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
            self.disk.truncate(&path, len).map_err(StoreError::io("truncate the torn end of", &path))?;
        }
        *len_before = Some(len);
        self.disk.append(&path, &bytes).map_err(StoreError::io("append to", &path))?;
        self.sync_file(&path, FaultSwitch::SkipMarksSync)
    }

    /// Removes what a crash left of an append of these lines.
    pub(super) fn cut_begun_marks(
        &self,
        lines: &[u8],
        warnings: &mut Vec<Warning>,
    ) -> Result<(), StoreError> {
        let (path, content) = (self.marks_file(), self.read_marks()?);
        let len = without_begun(self.sound_marks(&content, warnings), lines).len();
        if len < content.len() {
            self.disk
                .truncate(&path, len as u64)
                .map_err(StoreError::io("truncate the torn end of", &path))?;
            self.sync_file(&path, FaultSwitch::SkipMarksSync)?;
        }
        Ok(())
    }

    /// The marks without the torn end that a crash left, for a writer that is about to truncate it.
    pub(super) fn sound_marks<'c>(&self, content: &'c [u8], warnings: &mut Vec<Warning>) -> &'c [u8] {
        let (sound, torn) = content.split_at(sound_len(content));
        if !torn.is_empty() {
            warnings.push(Warning::TornMarks { path: self.marks_file(), bytes: torn.len() });
        }
        sound
    }

    /// Another lane's writer may have been killed between creating this file and syncing its folder; lines
    /// appended to a file whose name is lost are lost too. Normally the file is younger than its folder, and
    /// nothing is synced here.
    fn settle_marks_name(&self, content: &[u8]) -> Result<(), StoreError> {
        let (folder, path) = (&self.home.marks, self.marks_file());
        let stamp = |path: &std::path::Path| {
            let stat = self.disk.stat(path).map_err(StoreError::io("stat", path))?;
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

/// How often `lines` occur in the file, complete and starting at a line.
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

/// The content without an incomplete append: the first of `lines` at its end, if the rest is missing.
fn without_begun<'c>(content: &'c [u8], lines: &[u8]) -> &'c [u8] {
    let line_ends = lines.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at);
    // With its newline, or cut before it.
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

/// The content with a final newline, if only that is missing.
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

/// The length of the intact lines. What follows was left by a crash: zeroes, or an object that is not closed.
/// Anything else is somebody's text and stays.
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

/// Our lines are objects, and no prefix of one closes its first brace. Checking whether the line parses would also
/// drop a whole mark with a comment after it.
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
