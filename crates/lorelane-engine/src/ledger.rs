//! The ledger on disk: what was put into prompts, one line each, in the lane's state folder.

use crate::disk::Disk;
use crate::lines;
use crate::workspace::Failure;
use lorelane_core::forget::{Act, Traces};
use lorelane_core::ledger::Line;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A full ledger becomes the old one, and the one before that goes: months of prompts for most people.
const LEDGER_MAX_BYTES: u64 = 4 << 20;

#[derive(Debug)]
pub struct Ledger {
    disk: Arc<dyn Disk>,
    folder: PathBuf,
}

impl Ledger {
    pub fn new(disk: Arc<dyn Disk>, folder: PathBuf) -> Ledger {
        Ledger { disk, folder }
    }

    fn current(&self) -> PathBuf {
        self.folder.join("ledger.jsonl")
    }

    fn former(&self) -> PathBuf {
        self.folder.join("ledger.old.jsonl")
    }

    /// Appends a line. It is no memory: it is neither synced nor waited for.
    pub fn append(&self, line: &Line) -> Result<(), Failure> {
        let path = self.current();
        let fault = |source| Failure::io("write", &path, source);
        self.disk.create_private_dir_all(&self.folder).map_err(fault)?;
        lines::turn_over(&*self.disk, &path, &self.former(), LEDGER_MAX_BYTES).map_err(fault)?;
        self.disk.append(&path, line.line().as_bytes()).map_err(fault)
    }

    /// All lines, newest first. What is not a line of ours is passed over.
    pub fn lines(&self) -> Vec<Line> {
        let mut lines = Vec::new();
        for path in [self.former(), self.current()] {
            lines.extend(self.read(&path));
        }
        lines.reverse();
        lines
    }

    /// Blanks the lines that speak of a memory, whole: what was shown beside it and the prompt go with it.
    pub fn forget(&self, traces: &Traces, act: Act) -> Result<usize, Failure> {
        let (current, former) = (self.current(), self.former());
        lines::blank(&*self.disk, &[&former, &current], act, &|line| traces.are_in_ledger(line))
            .map_err(|source| Failure::io("purge", &current, source))
    }

    fn read(&self, path: &Path) -> Vec<Line> {
        let bytes = self.disk.read_regular(path, 2 * LEDGER_MAX_BYTES).ok().flatten().unwrap_or_default();
        String::from_utf8_lossy(&bytes).lines().filter_map(Line::read).collect()
    }
}
