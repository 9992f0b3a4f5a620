//! Reads a client's transcript from its end, or as a whole from its start.
//!
//! A session's file grows to hundreds of megabytes, and the agent waits for the stop hook. So the file is read
//! backwards in pieces until there are enough messages, and most lines are skipped without being parsed. `extract` has
//! more time and reads everything, piece by piece.

use crate::disk::{Disk, LinkPolicy, RandomAccessFile, RealDisk};
use crate::env::{Env, Var};
use lorelane_core::capture::SessionExtractor;
use lorelane_core::conversation::{
    Attendance, Conversation, ReverseReader, TranscriptFormat, TranscriptPosition,
};
use memchr::{memchr, memrchr};
use std::io;
use std::path::{Path, PathBuf};

/// Reads at most this much of a transcript.
const TAIL_MAX: u64 = 8 << 20;
/// Line numbers are counted up to here: counting four times as far costs a stop hook more than the rest of its
/// work.
const COUNTED_MAX: u64 = 1 << 20;
const PIECE: u64 = 64 << 10;
/// A longer line is an image or a whole request, not a message.
const LINE_MAX: usize = 1 << 20;

/// The folders a transcript may be in: a payload must not make us read arbitrary files.
pub fn folders(env: &Env) -> Vec<PathBuf> {
    let temporary = [PathBuf::from("/tmp"), std::env::temp_dir()];
    let moved = [Var::ClaudeConfigDir, Var::CodexHome].into_iter().filter_map(|var| env.path(var));
    let named = env.home().into_iter().chain(moved).chain(temporary);
    named.filter_map(|folder| RealDisk.real_path(&folder).ok()).collect()
}

/// The last `max_messages` messages of a transcript in one of the folders. Lines that cannot be parsed are
/// skipped.
pub fn read(
    path: &Path,
    format: TranscriptFormat,
    max_messages: usize,
    folders: &[PathBuf],
) -> io::Result<Conversation> {
    let mut lines = open(path, folders)?;
    let mut backwards = ReverseReader::new(max_messages);
    let mut line = Vec::new();
    while let Some(at) = lines.before(&mut line)? {
        if !format.may_speak(&line) {
            continue;
        }
        let Ok(text) = std::str::from_utf8(&line) else { continue };
        let Some(part) = format.read_line(text) else { continue };
        if !backwards.add(TranscriptPosition::Byte(at), part) {
            break;
        }
    }
    Ok(backwards.finish())
}

/// Whether a person is present, by the newest line that tells. `None` if no line does.
pub fn attendance(
    path: &Path,
    format: TranscriptFormat,
    folders: &[PathBuf],
) -> io::Result<Option<Attendance>> {
    let mut lines = open(path, folders)?;
    let mut line = Vec::new();
    while lines.before(&mut line)?.is_some() {
        if let Some(attendance) = format.attendance(&line) {
            return Ok(Some(attendance));
        }
    }
    Ok(None)
}

/// What of a transcript was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TranscriptLines {
    /// Lines that can have something of user or agent.
    pub read: usize,
    /// Of these, lines that are too long, cut off or not UTF-8.
    pub skipped: usize,
}

/// Reads a whole transcript, from its start. A file that shrinks meanwhile ends early.
pub fn read_all(
    disk: &dyn Disk,
    path: &Path,
    extractor: &mut SessionExtractor,
) -> io::Result<TranscriptLines> {
    let mut file = disk.open(path, LinkPolicy::Refused)?;
    let size = file.size()?;
    let mut lines = LinesFromStart { extractor, number: 1, counts: TranscriptLines::default() };
    let mut cutter = LineCutter::default();
    let mut at = 0;
    while at < size {
        let piece = match file.read_at(at, (size - at).min(FORWARD_PIECE) as usize) {
            Err(fault) if fault.kind() == io::ErrorKind::UnexpectedEof => break,
            piece => piece?,
        };
        at += piece.len() as u64;
        cutter.add(&piece, &mut |line, _| lines.end_line(line));
    }
    cutter.end_line(&[], &mut |line| lines.end_line(line));
    Ok(lines.counts)
}

const FORWARD_PIECE: u64 = 256 << 10;
/// How much of the new part of a transcript a hook reads. What is left comes with the next hook.
const NEW_MAX: u64 = 2 << 20;
/// A line that is too long is only skipped, which costs less.
const SKIPPED_MAX: u64 = 64 << 20;

/// Visits the lines from this offset that may say something, and returns the offset for the next time. A last line
/// without its end waits for it. Of a file that was cut, what is there was read already.
pub fn read_since(
    path: &Path,
    from: u64,
    format: TranscriptFormat,
    folders: &[PathBuf],
    visit: &mut dyn FnMut(&str),
) -> io::Result<u64> {
    let mut file = open_file(path, folders)?;
    let size = file.size()?;
    if from >= size {
        return Ok(size);
    }
    let mut cutter = LineCutter::default();
    let (mut at, mut after_line) = (from, from);
    loop {
        let end = size.min(from + if cutter.is_long { SKIPPED_MAX } else { NEW_MAX });
        if at >= end {
            break;
        }
        let piece = match file.read_at(at, (end - at).min(PIECE) as usize) {
            Err(fault) if fault.kind() == io::ErrorKind::UnexpectedEof => break,
            piece => piece?,
        };
        cutter.add(&piece, &mut |line, next| {
            after_line = at + next as u64;
            let line =
                line.filter(|line| format.may_speak(line)).and_then(|line| std::str::from_utf8(line).ok());
            line.into_iter().for_each(&mut *visit);
        });
        at += piece.len() as u64;
    }
    // Nobody waits for the end of a line that is too long: the rest of it is no JSON.
    Ok(if cutter.is_long { at } else { after_line })
}

/// Cuts pieces of a file into lines.
#[derive(Debug, Default)]
struct LineCutter {
    /// The beginning of a line whose end is in a later piece.
    tail: Vec<u8>,
    /// Whether that line is too long to be kept.
    is_long: bool,
}

impl LineCutter {
    /// Passes on each line that ends in this piece, with the place in the piece after it; `None` for a line that is
    /// too long.
    fn add(&mut self, piece: &[u8], each: &mut dyn FnMut(Option<&[u8]>, usize)) {
        let mut rest = piece;
        while let Some(end) = memchr(b'\n', rest) {
            let next = piece.len() - rest.len() + end + 1;
            self.end_line(&rest[..end], &mut |line| each(line, next));
            rest = &rest[end + 1..];
        }
        self.is_long |= self.tail.len() + rest.len() > LINE_MAX;
        if self.is_long {
            self.tail = Vec::new();
        } else {
            self.tail.extend_from_slice(rest);
        }
    }

    /// The line that ends with these bytes.
    fn end_line(&mut self, end: &[u8], each: &mut dyn FnMut(Option<&[u8]>)) {
        let tail = std::mem::take(&mut self.tail);
        if std::mem::take(&mut self.is_long) || tail.len() + end.len() > LINE_MAX {
            each(None);
        } else if tail.is_empty() {
            each(Some(end));
        } else {
            each(Some(&[tail.as_slice(), end].concat()));
        }
    }
}

/// Passes on the lines of a file that are wanted.
#[derive(Debug)]
struct LinesFromStart<'e> {
    extractor: &'e mut SessionExtractor,
    number: u64,
    counts: TranscriptLines,
}

impl LinesFromStart<'_> {
    fn end_line(&mut self, line: Option<&[u8]>) {
        match line {
            Some(line) => self.read_line(line),
            None => {
                self.counts.read += 1;
                self.counts.skipped += 1;
            }
        }
        self.number += 1;
    }

    fn read_line(&mut self, line: &[u8]) {
        if !self.extractor.wants(line) {
            return;
        }
        self.counts.read += 1;
        let is_whole = line.trim_ascii_end().ends_with(b"}");
        match std::str::from_utf8(line) {
            Ok(line) if is_whole => self.extractor.add(self.number, line),
            _ => self.counts.skipped += 1,
        }
    }
}

fn open(path: &Path, folders: &[PathBuf]) -> io::Result<LinesFromEnd> {
    LinesFromEnd::new(open_file(path, folders)?)
}

fn open_file(path: &Path, folders: &[PathBuf]) -> io::Result<Box<dyn RandomAccessFile>> {
    let real = RealDisk.real_path(path)?;
    if !folders.iter().any(|folder| real.starts_with(folder)) {
        return Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            "it is not in the home folder, the client's folder or a temporary folder",
        ));
    }
    RealDisk.open(&real, LinkPolicy::Refused)
}

/// The line numbers at these byte offsets; `None` beyond `COUNTED_MAX`. Separate from `read`, because only
/// findings need a line number.
pub fn lines_at(path: &Path, places: &[u64]) -> io::Result<Vec<Option<u64>>> {
    let mut file = RealDisk.open(path, LinkPolicy::Followed)?;
    let mut lines = vec![None; places.len()];
    let mut order: Vec<usize> = (0..places.len()).filter(|at| places[*at] <= COUNTED_MAX).collect();
    order.sort_by_key(|at| places[*at]);
    let (mut read, mut line) = (0, 1);
    for at in order {
        while read < places[at] {
            let piece = file.read_at(read, (places[at] - read).min(PIECE) as usize)?;
            line += newlines(&piece);
            read += piece.len() as u64;
        }
        lines[at] = Some(line);
    }
    Ok(lines)
}

/// In blocks whose count fits a byte, which the compiler vectorizes.
fn newlines(bytes: &[u8]) -> u64 {
    let in_block = |block: &[u8]| block.iter().fold(0_u8, |count, byte| count + u8::from(*byte == b'\n'));
    bytes.chunks(usize::from(u8::MAX)).map(|block| u64::from(in_block(block))).sum()
}

/// The lines of a file, last one first, within its tail.
#[derive(Debug)]
struct LinesFromEnd {
    file: Box<dyn RandomAccessFile>,
    /// Offset of `head` in the file.
    start: u64,
    /// The lowest offset that is read.
    floor: u64,
    /// The bytes from `start` that belong to no returned line yet.
    head: Vec<u8>,
    /// The rest of the line that `head` ends with, in pieces, last one first.
    tail: Vec<Vec<u8>>,
    tail_length: usize,
    /// Whether the first line of the file was returned.
    is_over: bool,
}

impl LinesFromEnd {
    fn new(file: Box<dyn RandomAccessFile>) -> io::Result<LinesFromEnd> {
        let start = file.size()?;
        let floor = start.saturating_sub(TAIL_MAX);
        let (head, tail) = (Vec::new(), Vec::new());
        Ok(LinesFromEnd { file, start, floor, head, tail, tail_length: 0, is_over: false })
    }

    /// Puts the previous line into `line` and returns its offset. A line over `LINE_MAX` comes back empty.
    fn before(&mut self, line: &mut Vec<u8>) -> io::Result<Option<u64>> {
        loop {
            if let Some(newline) = memrchr(b'\n', &self.head) {
                let at = self.start + newline as u64 + 1;
                self.give(newline + 1, line);
                self.head.truncate(newline);
                return Ok(Some(at));
            }
            if self.start == 0 {
                if self.is_over {
                    return Ok(None);
                }
                self.is_over = true;
                self.give(0, line);
                self.head.clear();
                return Ok(Some(0));
            }
            if self.start == self.floor {
                // What is left is the end of a line that begins below the floor.
                return Ok(None);
            }
            self.read_piece()?;
        }
    }

    /// Copies the line that begins at this position of `head`.
    fn give(&mut self, from: usize, line: &mut Vec<u8>) {
        line.clear();
        if self.tail_length + self.head.len() - from <= LINE_MAX {
            line.extend_from_slice(&self.head[from..]);
            self.tail.iter().rev().for_each(|piece| line.extend_from_slice(piece));
        }
        self.tail.clear();
        self.tail_length = 0;
    }

    /// Reads the piece before `head`; `head` moves to `tail`.
    fn read_piece(&mut self) -> io::Result<()> {
        self.tail_length += self.head.len();
        if self.tail_length > LINE_MAX {
            self.tail.clear();
        } else {
            self.tail.push(std::mem::take(&mut self.head));
        }
        let from = self.start.saturating_sub(PIECE).max(self.floor);
        self.head = self.file.read_at(from, (self.start - from) as usize)?;
        self.start = from;
        Ok(())
    }
}
