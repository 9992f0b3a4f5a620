//! Lists of memories, without a query.

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

    /// The `limit` last changed memories with a status, newest first and then by address, and how many there
    /// are in all. Reads no more rows than it returns.
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

/// Sorts by the time of the last change, newest first, then by address.
pub fn sort_newest_first(entries: &mut [MemorySummary]) {
    entries.sort_by(|a, b| b.changed().cmp(&a.changed()).then_with(|| a.address.cmp(&b.address)));
}
