//! What was shown and why, and how the store is.

use super::{Call, Progress};
use crate::mcp::answer::{Answer, Outcome, Trouble};
use lorelane_core::fence;
use lorelane_core::json::{Json, Object};
use lorelane_core::ledger::Line;
use lorelane_core::lifecycle::Status;
use lorelane_core::memory::{Address, Category, Kind};
use lorelane_engine::workspace::{Fate, Finding, Overview, Sync, Workspace};

pub(super) fn why(call: &Call<'_>) -> Outcome {
    let mut workspace = call.factory.open()?;
    let Some(typed) = call.arguments.text("address") else {
        let line = workspace.files().ledger().lines().into_iter().next();
        let says = match &line {
            Some(_) => "the last prompt or session start that was answered",
            None => "no prompt was answered in this project yet",
        };
        return Ok(explained([("says", Json::text(says))], line.as_ref()));
    };
    let address = match workspace.find(typed) {
        Ok(address) => address,
        // The ledger may know a memory that is gone.
        Err(failure) => Address::parse(typed)
            .filter(|address| workspace.files().ledger().lines().iter().any(|line| line.speaks_of(address)))
            .ok_or_else(|| Trouble::from(failure))?,
    };
    let account = workspace.reminders().why(&address)?;
    let says = match account.fate {
        Fate::Shown => "it was shown",
        Fate::Dropped(rule) => rule.says(),
        Fate::WouldShow => "it was made or changed since; now it would be shown",
    };
    let members = [
        ("address", Json::text(fence::name(&address.to_string()))),
        ("shown", Json::Bool(account.fate == Fate::Shown)),
        ("says", Json::text(says)),
    ];
    Ok(explained(members, account.line.as_ref()))
}

fn explained<const N: usize>(members: [(&'static str, Json); N], line: Option<&Line>) -> Answer {
    Answer::document(members.into_iter().chain(line.map(|line| ("prompt", line.to_json()))))
}

pub(super) fn status(call: &Call<'_>) -> Outcome {
    let (check, rebuild) = (call.arguments.flag("check"), call.arguments.flag("rebuild_index"));
    let steps = 1 + u32::from(check) + u32::from(rebuild);
    let mut done = 0;
    let mut next = |doing: &'static str| {
        (call.progress)(Progress { done, of: steps, doing });
        done += 1;
    };
    let mut workspace = call.factory.open()?;
    let mut members = vec![("project", Json::text(workspace.project().display().to_string()))];
    if rebuild {
        next("writing index and listing anew");
        let (listed, notices) = workspace.maintenance().reindex(lorelane_engine::index::Rebuild::Changed)?;
        members.push(("reindexed", Json::number(listed)));
        members.push(("notes", Json::texts(notices.iter().map(|notice| notice.text()))));
    }
    let mut findings = Vec::new();
    if check {
        next("looking at every file");
        findings = workspace.maintenance().diagnose(false)?.findings;
    }
    next("counting");
    let seen = workspace.maintenance().overview()?;
    let attention = attention(&workspace, &seen);
    let health = if attention.is_empty() && findings.is_empty() { "GOOD" } else { "NEEDS ATTENTION" };
    members.push(("health", Json::text(health)));
    members.push(("counts", Json::Object(counts(&seen))));
    members.push(("pinned", Json::number(seen.pinned)));
    members.push(("waiting_to_be_saved", Json::number(waiting(&workspace))));
    members.push(("attention", Json::texts(attention)));
    if check {
        members.push(("findings", Json::List(findings.iter().map(finding_json).collect())));
    }
    (call.progress)(Progress { done: steps, of: steps, doing: "done" });
    Ok(Answer::document(members))
}

/// What is counted, by its name: each category, and the notes of all types together.
fn counted() -> impl Iterator<Item = (&'static str, Option<Category>)> {
    Category::ALL.into_iter().map(|category| (category.name(), Some(category))).chain([("notes", None)])
}

fn counts(seen: &Overview) -> Object {
    let of = |(name, category): (&'static str, Option<Category>)| {
        let count = |status| Json::number(seen.count(status, |kind: Kind| kind.category() == category));
        let counts = Status::ALL.into_iter().map(|status| (status.name(), count(status)));
        (name, Json::Object(counts.collect()))
    };
    counted().map(of).collect()
}

fn waiting(workspace: &Workspace) -> usize {
    workspace.files().captures().pending().iter().map(|capture| capture.open_items().count()).sum()
}

fn attention(workspace: &Workspace, seen: &Overview) -> Vec<String> {
    let policy = workspace.policy();
    let mut attention: Vec<String> = policy.problems.iter().map(ToString::to_string).collect();
    attention.extend(
        policy.held_back.iter().map(|held| format!("held back until the user trusts this project: {held}")),
    );
    if matches!(seen.listing, Sync::Missing | Sync::Differs) {
        attention.push("index.md does not say what the files say: call with rebuild_index".to_owned());
    }
    if seen.unreadable > 0 {
        attention.push(format!("{} file(s) cannot be read: call with check", seen.unreadable));
    }
    if !seen.heavily_revised.is_empty() {
        attention.push(format!("{} heavily updated memories: worth a review", seen.heavily_revised.len()));
    }
    attention
}

fn finding_json(finding: &Finding) -> Json {
    let members = [
        ("check", Json::text(finding.check)),
        ("what", Json::text(&finding.what)),
        ("hint", Json::text(&finding.hint)),
    ];
    Json::Object(members.into_iter().collect())
}
