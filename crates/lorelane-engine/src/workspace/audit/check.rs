//! `check`: what a change breaks in memories and in instruction files.

use super::folder_of;
use crate::git::DiffBase;
use crate::index::ListFilter;
use crate::probe::{ChangedClaim, ChangedTree};
use crate::workspace::{Failure, Maintenance};
use lorelane_core::audit::CheckedClaim;
use lorelane_core::claim::{ClaimKind, claims_of, claims_of_markdown};
use lorelane_core::lifecycle::Status;
use lorelane_core::memory::Address;

/// Files that agents read at every start.
const INSTRUCTIONS: [&str; 3] = ["AGENTS.md", "CLAUDE.md", "GEMINI.md"];
const INSTRUCTIONS_MAX_BYTES: u64 = 4 << 20;

#[derive(Clone, Debug)]
pub struct CheckScope {
    pub against: DiffBase,
    /// Whether `AGENTS.md` and the like are checked too.
    pub instructions: bool,
}

/// A claim that the change breaks.
#[derive(Clone, Debug)]
pub struct BrokenMention {
    /// `None` for an instruction file.
    pub address: Option<Address>,
    pub path: String,
    pub claim: CheckedClaim,
}

#[derive(Clone, Debug)]
pub struct CheckReport {
    /// How many files the change touches.
    pub touched: usize,
    pub broken: Vec<BrokenMention>,
    /// Why nothing could be checked.
    pub unchecked: Option<String>,
}

impl CheckReport {
    /// The report of a change that could not be read.
    pub fn unchecked(why: String) -> CheckReport {
        CheckReport { touched: 0, broken: Vec::new(), unchecked: Some(why) }
    }
}

impl Maintenance<'_> {
    /// The memories that a change makes wrong; `None` without git, or if the revision is not known.
    pub fn check(&mut self, scope: CheckScope) -> Result<Option<CheckReport>, Failure> {
        self.scan()?;
        let active = ListFilter { kind: None, status: Some(Status::Active) };
        let entries = self.workspace.recall().entries(active)?;
        let prober = self.workspace.prober();
        let tree = match ChangedTree::read(&prober, scope.against) {
            Ok(Some(tree)) => tree,
            Ok(None) => return Ok(None),
            Err(fault) => return Ok(Some(CheckReport::unchecked(fault.to_string()))),
        };
        let (mut sources, mut claims) = (Vec::new(), Vec::new());
        let mut add = |address: Option<&Address>, path: &str, broken: Vec<ChangedClaim>| {
            sources.extend(broken.iter().map(|_| (address.cloned(), path.to_owned())));
            claims.extend(broken);
        };
        if tree.touched > 0 {
            for entry in entries.iter().filter(|entry| !entry.address.is_trash()) {
                // By the bytes first: parsing every memory would cost more than all the rest.
                let Some(lane) = self.workspace.lanes.of(&entry.address) else { continue };
                let bytes = lane.read(&entry.path).ok().flatten().unwrap_or_default();
                if !tree.may_concern(&String::from_utf8_lossy(&bytes)) {
                    continue;
                }
                let Ok(loaded) = self.workspace.load(&entry.address) else { continue };
                let path = self.workspace.listed_path(&entry.address);
                let own = claims_of(&loaded.memory, &loaded.document.text);
                add(Some(&entry.address), &path, tree.broken(own, folder_of(&path)));
            }
            for name in INSTRUCTIONS.iter().filter(|_| scope.instructions) {
                let file = self.workspace.project.root.join(name);
                let bytes = self.workspace.disk.read_regular(&file, INSTRUCTIONS_MAX_BYTES).ok().flatten();
                let text = String::from_utf8_lossy(&bytes.unwrap_or_default()).into_owned();
                add(None, name, tree.broken(claims_of_markdown(&text, 1), ""));
            }
        }
        let elsewhere = match tree.symbols_elsewhere(&claims) {
            Ok(elsewhere) => elsewhere,
            Err(fault) => return Ok(Some(CheckReport::unchecked(fault.to_string()))),
        };
        let is_elsewhere = |changed: &ChangedClaim| {
            changed.claim.kind == ClaimKind::Symbol && elsewhere.contains(&changed.claim.text)
        };
        let broken = sources.into_iter().zip(claims).filter(|(_, changed)| !is_elsewhere(changed));
        let broken = broken.map(|((address, path), ChangedClaim { claim, settled })| BrokenMention {
            address,
            path,
            claim: CheckedClaim::of(claim, settled, "", None),
        });
        Ok(Some(CheckReport { touched: tree.touched, broken: broken.collect(), unchecked: None }))
    }
}
