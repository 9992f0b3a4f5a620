//! The broken claims of the last audit, as far as they still hold good: for reminders.
//!
//! Nothing is probed here. A verdict counts only on top of the commit it was made at, and a path is looked at on the
//! disk; git is asked only if a memory with a broken claim is about to be shown, once for each commit.

use super::VerdictCache;
use crate::disk::Disk;
use crate::env::Folders;
use crate::git::Snapshots;
use lorelane_core::audit::{BrokenMemory, CheckedClaim};
use lorelane_core::digest::Revision;
use lorelane_core::memory::Address;
use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

#[derive(Debug, Default)]
pub(in crate::workspace) struct BrokenClaims {
    disk: Option<Arc<dyn Disk>>,
    project: PathBuf,
    memories: BTreeMap<Address, BrokenMemory>,
    /// The repository with its `HEAD`, once it was asked for.
    repository: OnceCell<Option<(Snapshots, String)>>,
    /// Whether a commit is below `HEAD`.
    below: RefCell<BTreeMap<String, bool>>,
}

impl BrokenClaims {
    /// Those of the project whose records are in this folder.
    pub(in crate::workspace) fn read(
        disk: &Arc<dyn Disk>,
        folders: Option<&Folders>,
        records: &Path,
        project: &Path,
    ) -> BrokenClaims {
        let cache = folders.map(|folders| VerdictCache::of(folders, records));
        let memories = cache.map(|cache| cache.read_broken(&**disk)).unwrap_or_default();
        let (disk, project) = (Some(Arc::clone(disk)), project.to_owned());
        BrokenClaims { disk, project, memories, ..BrokenClaims::default() }
    }

    /// Whether the last audit found any for this memory.
    pub(in crate::workspace) fn has(&self, address: &Address) -> bool {
        self.memories.contains_key(address)
    }

    /// The claims of this revision of a memory that are broken now.
    pub(in crate::workspace) fn of(&self, address: &Address, revision: &Revision) -> Option<BrokenMemory> {
        let known = self.memories.get(address).filter(|known| known.revision == *revision)?;
        let (repository, head) = self.repository()?;
        let mut below = self.below.borrow_mut();
        let ask = || repository.is_ancestor(&known.head, head);
        if !*below.entry(known.head.clone()).or_insert_with(ask) {
            return None;
        }
        let is_there = |path: &str| {
            let roots = [self.project.as_path(), repository.root()];
            self.disk.as_deref().is_some_and(|disk| roots.iter().any(|root| disk.exists(&root.join(path))))
        };
        let holds_again = |claim: &CheckedClaim| {
            let paths = [Some(&claim.text), claim.evidence.file.as_ref()];
            claim.kind.is_path() && paths.into_iter().flatten().any(|path| is_there(path))
        };
        known.clone().without(holds_again)
    }

    fn repository(&self) -> Option<&(Snapshots, String)> {
        let read = || {
            let repository = Snapshots::around(&self.project)?;
            let head = repository.head()?;
            Some((repository, head))
        };
        self.repository.get_or_init(read).as_ref()
    }
}
