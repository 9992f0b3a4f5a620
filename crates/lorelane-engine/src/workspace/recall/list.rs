//! Memories in order, without a question.

use crate::index::ListFilter;
use crate::workspace::Failure;
use crate::workspace::recall::Recall;
use lorelane_core::corpus::MemorySummary;
use lorelane_core::lifecycle::Status;

impl Recall<'_> {
    pub fn entries(&mut self, wanted: ListFilter) -> Result<Vec<MemorySummary>, Failure> {
        self.workspace.refresh()?;
        let mut entries = Vec::new();
        for lane in &mut self.workspace.lanes {
            entries.append(&mut lane.with_index(|index| index.entries(wanted))?);
        }
        Ok(entries)
    }

    /// The memories in a status that changed last, newest first and then by their addresses, and how many there are.
    /// Reads no more than it returns.
    pub fn newest(&mut self, status: Status, limit: usize) -> Result<(Vec<MemorySummary>, usize), Failure> {
        self.workspace.refresh()?;
        let (mut entries, mut total) = (Vec::new(), 0);
        for lane in &mut self.workspace.lanes {
            entries.append(&mut lane.with_index(|index| index.newest(status, limit))?);
            total += lane.with_index(|index| index.count_of(status))?;
        }
        sort_newest_first(&mut entries);
        entries.truncate(limit);
        Ok((entries, total))
    }
}

/// Those that changed last first, then by their addresses.
pub fn sort_newest_first(entries: &mut [MemorySummary]) {
    entries.sort_by(|a, b| b.changed().cmp(&a.changed()).then_with(|| a.address.cmp(&b.address)));
}
