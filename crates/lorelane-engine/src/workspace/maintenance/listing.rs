//! Compares `index.md` with the files.

use super::Maintenance;
use crate::index::Index;
use crate::workspace::{Failure, LISTING_MAX_BYTES};
use lorelane_core::dialect::Problem;
use lorelane_core::dialect::records::{Drift, LISTING, drift};
use lorelane_core::path::RelPath;

impl Maintenance<'_> {
    /// The lines that `index.md` should have, in order. Scans every file first.
    pub fn listing_lines(&mut self) -> Result<Vec<String>, Failure> {
        let records = self.workspace.lanes.records_mut();
        records.scan()?;
        Ok(records.with_index(|index| index.listing(""))?.lines().map(str::to_owned).collect())
    }

    /// How `index.md` differs from the files; `None` if it does not exist.
    pub fn listing_drift(&mut self) -> Result<Option<Drift>, Failure> {
        let wanted = self.listing_lines()?;
        let file = self.workspace.lanes.records().folder(LISTING);
        let found = self
            .workspace
            .disk
            .read_regular(&file, LISTING_MAX_BYTES)
            .map_err(|source| Failure::io("read", &file, source))?;
        Ok(found.map(|bytes| drift(&String::from_utf8_lossy(&bytes), &wanted)))
    }

    /// The files of records that cannot be parsed, with the reason.
    pub fn unreadable(&mut self) -> Result<Vec<Problem>, Failure> {
        let records = self.workspace.lanes.records_mut();
        records.scan()?;
        let unreadable = records.with_index(Index::unreadable)?.into_iter();
        Ok(unreadable
            .filter_map(|(path, what)| Some(Problem { path: RelPath::parse(&path).ok()?, what }))
            .collect())
    }
}
