//! `memory_why` and `memory_status`.

use super::{ToolCall, ToolProgress};
use crate::mcp::answer::{ToolAnswer, ToolError, ToolResult};
use crate::view::{ExplanationView, ProjectView, ReindexedView};
use lorelane_core::memory::Address;
use lorelane_engine::workspace::{Overview, Sync, Workspace};

pub(super) fn why(call: &ToolCall<'_>) -> ToolResult {
    let mut workspace = call.factory.open()?;
    let Some(typed) = call.arguments.text("address") else {
        let line = workspace.files().ledger().lines().into_iter().next();
        return Ok(ToolAnswer::document(&ExplanationView::of_last(line.as_ref())));
    };
    let address = match workspace.find(typed) {
        Ok(address) => address,
        // The ledger may mention a memory that no longer exists.
        Err(failure) => Address::parse(typed)
            .filter(|address| workspace.files().ledger().lines().iter().any(|line| line.mentions(address)))
            .ok_or_else(|| ToolError::from(failure))?,
    };
    let account = workspace.reminders().why(&address)?;
    Ok(ToolAnswer::document(&ExplanationView::of(&address, &account)))
}

pub(super) fn status(call: &ToolCall<'_>) -> ToolResult {
    let (check, rebuild) = (call.arguments.flag("check"), call.arguments.flag("rebuild_index"));
    let steps = 1 + u32::from(check) + u32::from(rebuild);
    let mut done = 0;
    let mut next = |doing: &'static str| {
        (call.progress)(ToolProgress { done, of: steps, doing });
        done += 1;
    };
    let mut workspace = call.factory.open()?;
    let mut reindexed = None;
    if rebuild {
        next("rebuilding the index and index.md");
        let (listed, notices) = workspace.maintenance().reindex(lorelane_engine::index::Rebuild::Changed)?;
        reindexed = Some(ReindexedView::of(listed, &notices));
    }
    let mut findings = None;
    if check {
        next("checking every file");
        findings = Some(workspace.maintenance().diagnose(false)?.findings);
    }
    next("counting memories");
    let seen = workspace.maintenance().overview()?;
    let attention = attention(&workspace, &seen);
    let status = ProjectView::of(&workspace, &seen, reindexed, attention, findings.as_deref());
    (call.progress)(ToolProgress { done: steps, of: steps, doing: "done" });
    Ok(ToolAnswer::document(&status))
}

fn attention(workspace: &Workspace, seen: &Overview) -> Vec<String> {
    let policy = workspace.policy();
    let mut attention: Vec<String> = policy.problems.iter().map(ToString::to_string).collect();
    attention.extend(
        policy.held_back.iter().map(|held| format!("held back until the user trusts this project: {held}")),
    );
    if matches!(seen.listing, Sync::Missing | Sync::Differs) {
        attention.push("index.md is out of date: call with `rebuild_index`".to_owned());
    }
    if seen.unreadable > 0 {
        attention.push(format!("unreadable files: {}; call with `check` to see why", seen.unreadable));
    }
    if !seen.heavily_revised.is_empty() {
        attention.push(format!(
            "memories updated so often that they need a review: {}",
            seen.heavily_revised.len()
        ));
    }
    attention
}
