//! The ledger on disk: what was put into prompts, one line each, in the project's state folder.

use crate::append_log;
use crate::disk::{Disk, LinkPolicy};
use crate::failure::Failure;
use crate::state::StateFolder;
use lorelane_core::forget::{EraseMode, Traces};
use lorelane_core::json::{self, JsonFormat};
use lorelane_core::ledger::{LedgerEvent, LedgerLine, has_traces, named};
use memchr::{memchr, memmem};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// At this size the ledger is rotated, and the old one before it is dropped: months of prompts for most people.
const LEDGER_MAX_BYTES: u64 = 4 << 20;

/// The end of a ledger in which the lines of a running session are: hundreds of prompts.
const RECENT_BYTES: u64 = 512 << 10;
const BLOCK_BYTES: u64 = 32 << 10;
/// A line names its session within these bytes, before all fields that grow.
const HEAD_BYTES: usize = 400;

#[derive(Debug)]
pub struct Ledger {
    disk: Arc<dyn Disk>,
    folder: StateFolder,
}

impl Ledger {
    pub fn new(disk: Arc<dyn Disk>, folder: impl Into<StateFolder>) -> Ledger {
        Ledger { disk, folder: folder.into() }
    }

    fn current(&self) -> PathBuf {
        self.folder.join("ledger.jsonl")
    }

    fn former(&self) -> PathBuf {
        self.folder.join("ledger.old.jsonl")
    }

    /// Appends a line, without a lock or fsync: it is not a memory.
    pub fn append(&self, line: &LedgerLine) -> Result<(), Failure> {
        let folder = self.folder.for_writing();
        let path = self.current();
        let fault = |source| Failure::io("write", &path, source);
        self.disk.create_private_dir_all(&folder).map_err(fault)?;
        append_log::rotate(&*self.disk, &path, &self.former(), LEDGER_MAX_BYTES).map_err(fault)?;
        self.disk.append(&path, line.line().as_bytes()).map_err(fault)
    }

    /// All lines, newest first. What cannot be read is skipped.
    pub fn lines(&self) -> Vec<LedgerLine> {
        let mut lines = Vec::new();
        for path in [self.former(), self.current()] {
            lines.extend(self.read(&path));
        }
        lines.reverse();
        lines
    }

    /// Erases every line that mentions a memory as a whole, with its prompt: what was typed to find a memory
    /// repeats it.
    pub fn forget(&self, traces: &Traces, act: EraseMode) -> Result<usize, Failure> {
        let (current, former) = (self.current(), self.former());
        append_log::redact_lines(&*self.disk, &[&former, &current], act, &|line| has_traces(line, traces))
            .map_err(|source| Failure::io("erase lines of", &current, source))
    }

    /// The newest lines of one session, newest first. Only the end of the ledger is read, and only lines that
    /// name the session are parsed: a stop waits for this.
    pub fn lines_of(&self, session: &str) -> Vec<LedgerLine> {
        self.lines_with(session, "")
    }

    /// Those of one event. The lines of other events are not parsed: those of prompts are long.
    pub fn lines_of_event(&self, session: &str, event: LedgerEvent) -> Vec<LedgerLine> {
        let mut lines = self.lines_with(session, &json::to_string(&event, JsonFormat::LINE));
        lines.retain(|line| line.event == event);
        lines
    }

    /// The newest lines of a session whose first bytes also have this text.
    fn lines_with(&self, session: &str, text: &str) -> Vec<LedgerLine> {
        let session = named(session);
        let name = json::to_string(&session, JsonFormat::LINE);
        let mut lines = Vec::new();
        let mut keep = |line: &[u8]| {
            let head = &line[..line.len().min(HEAD_BYTES)];
            let has = |text: &str| memmem::find(head, text.as_bytes()).is_some();
            if has(&name) && has(text) {
                let line = LedgerLine::read(&String::from_utf8_lossy(line));
                lines.extend(line.filter(|line| line.session == session));
            }
        };
        for path in [self.current(), self.former()] {
            // A ledger that is missing or cannot be read has nothing to say.
            let read = self.each_recent_line(&path, name.as_bytes(), &mut keep);
            if read.is_ok_and(|bytes| bytes > RECENT_BYTES / 2) {
                break;
            }
        }
        lines
    }

    /// Calls `visit` with the whole lines at the end of a file that may have this text, newest first. Returns how many
    /// bytes were read. In small blocks: a buffer for all of it would cost more than reading it.
    fn each_recent_line(&self, path: &Path, text: &[u8], visit: &mut dyn FnMut(&[u8])) -> io::Result<u64> {
        let mut file = self.disk.open(path, LinkPolicy::Refused)?;
        let size = file.size()?;
        let oldest = size.saturating_sub(RECENT_BYTES);
        let finder = memmem::Finder::new(text);
        let (mut end, mut cut_line) = (size, Vec::new());
        while end > oldest {
            let start = end.saturating_sub(BLOCK_BYTES).max(oldest);
            let mut block = file.read_at(start, usize::try_from(end - start).unwrap_or_default())?;
            block.append(&mut cut_line);
            let first = if start == 0 { 0 } else { memchr(b'\n', &block).map_or(block.len(), |at| at + 1) };
            if finder.find(&block[first..]).is_some() {
                block[first..].rsplit(|byte| *byte == b'\n').for_each(&mut *visit);
            }
            block.truncate(first);
            (end, cut_line) = (start, block);
        }
        Ok(size - oldest)
    }

    fn read(&self, path: &Path) -> Vec<LedgerLine> {
        let bytes = self.disk.read_regular(path, 2 * LEDGER_MAX_BYTES).ok().flatten().unwrap_or_default();
        String::from_utf8_lossy(&bytes).lines().filter_map(LedgerLine::read).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::RealDisk;
    use lorelane_core::briefing::{RenderedContext, StandingMemory};
    use lorelane_core::memory::{Address, Category};
    use lorelane_core::time::Timestamp;

    #[test]
    fn the_lines_of_a_session_are_found_at_the_end_of_both_files() {
        let folder = std::env::temp_dir().join(format!("lorelane-ledger-{}", std::process::id()));
        let ledger = Ledger::new(Arc::new(RealDisk), folder.clone());
        let append = |session: &str, name: &str| {
            let address = Address::record(Category::Decision, name);
            let shown = vec![StandingMemory { address, because: "pinned", digest: String::new() }; 40];
            let told = RenderedContext { text: "x".to_owned(), shown, left_out: Vec::new() };
            ledger.append(&LedgerLine::of_start(Timestamp(0), "claude-code", session, &told)).unwrap();
        };
        let names = |session: &str| -> Vec<String> {
            let lines = ledger.lines_of(session);
            lines.iter().map(|line| line.shown[0].address.name().to_owned()).collect()
        };
        assert_eq!(names("a"), [""; 0]);
        // The line has it cut and masked.
        let long = format!("{}\nAKIA2E0A8F3B244C9986", "s".repeat(90));
        append(&long, "long");
        assert_eq!(names(&long), ["long"]);
        append("a", "first");
        append("b", "foreign");
        append("quoted \"a\"", "quoted");
        std::fs::rename(ledger.current(), ledger.former()).unwrap();
        append("a", "second");
        assert_eq!(names("a"), ["second", "first"]);
        assert_eq!(names("quoted \"a\""), ["quoted"]);
        // More than the end of one file holds: what is before that is not read.
        for _ in 0..400 {
            append("c", "third");
        }
        assert!(ledger.current().metadata().unwrap().len() > RECENT_BYTES);
        assert_eq!(names("a"), [""; 0]);
        assert!((100..400).contains(&names("c").len()));
        std::fs::remove_dir_all(folder).unwrap();
    }
}
