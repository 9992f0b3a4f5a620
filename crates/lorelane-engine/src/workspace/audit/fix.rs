//! The plan that brings moved paths of memories up to date.

use super::AuditReport;
use crate::git::Snapshots;
use crate::workspace::{Failure, Maintenance};
use lorelane_core::audit::CheckedClaim;
use lorelane_core::change::{Change, Draft, Plan};
use lorelane_core::claim::is_writable_path;
use lorelane_core::memory::LaneId;
use lorelane_core::settle::Verdict;
use std::collections::BTreeMap;

impl Maintenance<'_> {
    /// One plan per lane: each memory with a moved path gets the new one. A place that was only inferred from a name
    /// is not written.
    pub fn fixes(&self, report: &AuditReport) -> Result<Vec<Plan>, Failure> {
        let repository = Snapshots::around(&self.workspace.project.root);
        let prefix = repository.as_ref().map_or("", Snapshots::prefix);
        let mut lanes: BTreeMap<LaneId, Vec<Change>> = BTreeMap::new();
        for memory in &report.memories {
            let moves: Vec<(&str, &str)> =
                memory.claims.iter().filter_map(|claim| new_path(claim, prefix)).collect();
            if moves.is_empty() {
                continue;
            }
            let loaded = self.workspace.load(&memory.address)?;
            let text =
                moves.iter().fold(loaded.document.text.clone(), |text, (old, new)| renamed(&text, old, new));
            if text != loaded.document.text {
                let because = Some(format!("moved: {}", moved(&moves)));
                let draft = Draft::Edited { text, because };
                let (address, expects) = (memory.address.clone(), Some(loaded.revision));
                lanes.entry(address.lane()).or_default().push(Change::Revise { address, expects, draft });
            }
        }
        let plan = |changes| Plan { changes, because: "follow moved files".to_owned() };
        Ok(lanes.into_values().map(plan).collect())
    }
}

fn moved(moves: &[(&str, &str)]) -> String {
    moves.iter().map(|(old, new)| format!("{old} to {new}")).collect::<Vec<_>>().join(", ")
}

/// The path as written and the new one, relative to the project.
fn new_path<'c>(claim: &'c CheckedClaim, prefix: &str) -> Option<(&'c str, &'c str)> {
    let Verdict::Moved(to) = &claim.verdict else { return None };
    let to = to.strip_prefix(prefix).unwrap_or(to);
    let is_sure = !claim.evidence.by_name && claim.kind.is_path() && is_writable_path(claim.kind, to);
    is_sure.then_some((claim.text.as_str(), to))
}

/// Replaces a path where it is not a part of a longer one.
fn renamed(text: &str, old: &str, new: &str) -> String {
    let is_path = |c: char| c.is_alphanumeric() || matches!(c, '/' | '_' | '-');
    let mut renamed = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(old) {
        let (before, after) = (&rest[..at], &rest[at + old.len()..]);
        // A dot goes on with a name, or ends a sentence.
        let goes_on = after.starts_with(is_path) && !after.starts_with('/')
            || after.strip_prefix('.').is_some_and(|after| after.starts_with(is_path));
        renamed.push_str(before);
        let is_whole = !before.ends_with(is_path) && !before.ends_with('.') && !goes_on;
        renamed.push_str(if is_whole || before.ends_with("./") { new } else { old });
        rest = after;
    }
    renamed.push_str(rest);
    renamed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_paths_are_replaced() {
        for (text, expected) in [
            ("see `src/a.rs`, src/a.rs:4 and src/a.rs.", "see `lib/b.rs`, lib/b.rs:4 and lib/b.rs."),
            ("x/src/a.rs src/a.rs.bak src/a.rsx", "x/src/a.rs src/a.rs.bak src/a.rsx"),
            ("./src/a.rs", "./lib/b.rs"),
            ("{\"rule\": \"Use src/a.rs\"}", "{\"rule\": \"Use lib/b.rs\"}"),
        ] {
            assert_eq!(renamed(text, "src/a.rs", "lib/b.rs"), expected, "{text}");
        }
    }
}
