//! The verdicts of the last audit, in two files beside the index: all of them, and those that reminders need.
//!
//! A hook reads only the second, which is empty or short; the first is as long as all claims.

use crate::config::write_plain;
use crate::disk::Disk;
use crate::env::Folders;
use crate::failure::Failure;
use lorelane_core::audit::{AuditedMemory, BrokenMemory};
use lorelane_core::memory::Address;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const CLAIMS_FILE: &str = "claims";
const BROKEN_FILE: &str = "broken";
/// The first line of both: another version is read as an empty file.
const HEAD: &str = "lorelane-claims 3";
const CLAIMS_MAX_BYTES: u64 = 256 << 20;
/// What a hook reads at most; a repository with more broken memories needs an audit and not reminders.
const BROKEN_MAX_BYTES: u64 = 1 << 20;

/// The files of the project whose records are in this folder.
#[derive(Clone, Debug)]
pub(in crate::workspace) struct VerdictCache {
    folder: PathBuf,
}

impl VerdictCache {
    pub(in crate::workspace) fn of(folders: &Folders, records: &Path) -> VerdictCache {
        VerdictCache { folder: folders.cache.join("lanes").join(Folders::lane_key(records)) }
    }

    pub(in crate::workspace) fn files(&self) -> [PathBuf; 2] {
        [CLAIMS_FILE, BROKEN_FILE].map(|name| self.folder.join(name))
    }

    /// Everything that is known, by address.
    pub(super) fn read(&self, disk: &dyn Disk) -> BTreeMap<Address, AuditedMemory> {
        let lines = self.lines(disk, CLAIMS_FILE, CLAIMS_MAX_BYTES, AuditedMemory::parse);
        lines.into_iter().map(|memory| (memory.address.clone(), memory)).collect()
    }

    /// The memories with broken claims, by address.
    pub(in crate::workspace) fn read_broken(&self, disk: &dyn Disk) -> BTreeMap<Address, BrokenMemory> {
        let lines = self.lines(disk, BROKEN_FILE, BROKEN_MAX_BYTES, BrokenMemory::parse);
        lines.into_iter().map(|memory| (memory.address.clone(), memory)).collect()
    }

    fn lines<T>(&self, disk: &dyn Disk, name: &str, max: u64, parse: fn(&str) -> Option<T>) -> Vec<T> {
        let bytes = disk.read_regular(&self.folder.join(name), max).ok().flatten().unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        let mut lines = text.lines();
        if lines.next() != Some(HEAD) {
            return Vec::new();
        }
        lines.filter_map(parse).collect()
    }

    pub(super) fn write(
        &self,
        disk: &dyn Disk,
        audited: &BTreeMap<Address, AuditedMemory>,
    ) -> Result<(), Failure> {
        let [claims, broken] = self.files();
        let text = |lines: Vec<String>| {
            let mut text = format!("{HEAD}\n");
            lines.iter().for_each(|line| {
                text.push_str(line);
                text.push('\n');
            });
            text
        };
        let all = text(audited.values().map(AuditedMemory::line).collect());
        let few = audited.values().filter_map(AuditedMemory::broken);
        let few = text(few.map(|memory| memory.line()).collect());
        write_plain(disk, &claims, all.as_bytes())?;
        write_plain(disk, &broken, few.as_bytes())?;
        Ok(())
    }
}
