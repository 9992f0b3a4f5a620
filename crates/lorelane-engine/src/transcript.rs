//! Reads the end of a client's transcript.
//!
//! A session's file grows to hundreds of megabytes, and a stop waits for us. So the file is read from its end in
//! pieces, until the conversation has enough messages, and most lines are skipped without being parsed.

use crate::disk::{Disk, LinkPolicy, RandomAccessFile, RealDisk};
use crate::env::{Env, Var};
use lorelane_core::capture::TranscriptPosition;
use lorelane_core::conversation::{Attendance, Conversation, ReverseReader, TranscriptFormat};
use memchr::memrchr;
use std::io;
use std::path::{Path, PathBuf};

/// No more of a transcript is read than this.
const TAIL_MAX: u64 = 8 << 20;
/// Lines are counted as far as this. Reading four times as much costs a stop more than all that it finds out.
const COUNTED_MAX: u64 = 1 << 20;
const PIECE: u64 = 64 << 10;
/// A longer line is a picture or a whole request, not something that was said.
const LINE_MAX: usize = 1 << 20;

/// The folders in which a transcript may lie: a payload must not make us read any file of the machine.
pub fn folders(env: &Env) -> Vec<PathBuf> {
    let temporary = [PathBuf::from("/tmp"), std::env::temp_dir()];
    let moved = [Var::ClaudeConfigDir, Var::CodexHome].into_iter().filter_map(|var| env.path(var));
    let named = env.home().into_iter().chain(moved).chain(temporary);
    named.filter_map(|folder| RealDisk.real_path(&folder).ok()).collect()
}

/// The last `max_messages` messages of a transcript that lies in one of the folders. Lines that cannot be read are
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

/// Whether somebody is there, as the newest line that tells it says. `None` when none does.
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

fn open(path: &Path, folders: &[PathBuf]) -> io::Result<LinesFromEnd> {
    let real = RealDisk.real_path(path)?;
    if !folders.iter().any(|folder| real.starts_with(folder)) {
        return Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            "it lies neither in the home folder, nor in the client's, nor in the temporary one",
        ));
    }
    LinesFromEnd::new(RealDisk.open(&real, LinkPolicy::Refused)?)
}

/// The numbers of the lines that begin at these bytes of a transcript; `None` for one so far from its beginning that
/// nobody counts. Apart from reading: only what was found is worth counting for.
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

/// In blocks whose count fits a byte, which the compiler turns into wide instructions.
fn newlines(bytes: &[u8]) -> u64 {
    let in_block = |block: &[u8]| block.iter().fold(0_u8, |count, byte| count + u8::from(*byte == b'\n'));
    bytes.chunks(usize::from(u8::MAX)).map(|block| u64::from(in_block(block))).sum()
}

/// The lines of a file, the last one first, as far as its tail reaches.
#[derive(Debug)]
struct LinesFromEnd {
    file: Box<dyn RandomAccessFile>,
    /// Where what was read begins.
    start: u64,
    /// Nothing before this is read.
    floor: u64,
    /// The bytes from `start` that belong to no line given out yet.
    head: Vec<u8>,
    /// The rest of the line that `head` ends with, in pieces, the last one first.
    tail: Vec<Vec<u8>>,
    tail_length: usize,
    /// Whether the first line was given out.
    is_over: bool,
}

impl LinesFromEnd {
    fn new(file: Box<dyn RandomAccessFile>) -> io::Result<LinesFromEnd> {
        let start = file.size()?;
        let floor = start.saturating_sub(TAIL_MAX);
        let (head, tail) = (Vec::new(), Vec::new());
        Ok(LinesFromEnd { file, start, floor, head, tail, tail_length: 0, is_over: false })
    }

    /// Puts the line before those given out into `line`, and says where it begins. Too long a line is empty.
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
                // The rest of a line whose beginning was not read.
                return Ok(None);
            }
            self.read_piece()?;
        }
    }

    /// Gives out the line that begins at this place of `head`.
    fn give(&mut self, from: usize, line: &mut Vec<u8>) {
        line.clear();
        if self.tail_length + self.head.len() - from <= LINE_MAX {
            line.extend_from_slice(&self.head[from..]);
            self.tail.iter().rev().for_each(|piece| line.extend_from_slice(piece));
        }
        self.tail.clear();
        self.tail_length = 0;
    }

    /// Reads the piece before `head`, which goes to the line's other pieces.
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
