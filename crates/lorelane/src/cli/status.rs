//! `status`: shows counts, health and the files lorelane may write.

use super::{CliResult, Exit, Session, output, trust};
use crate::view::{StatusView, health};
use clap::Args;
use lorelane_core::lifecycle::Status;
use lorelane_core::memory::{Category, LaneId, MemoryKind};
use lorelane_engine::workspace::Sync;
use std::fmt::Write as _;

/// Show counts, health and the files lorelane may write
///
/// Also lists what needs attention, and recently retired and often updated memories. Changes nothing.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  lorelane status")]
pub struct StatusArgs;

pub(super) fn run(session: &Session<'_>) -> CliResult {
    let mut workspace = session.open()?;
    let seen = workspace.maintenance().overview()?;
    let count =
        |category, status| seen.counts.get(&(MemoryKind::Record(category), status)).copied().unwrap_or(0);
    let of_lane = |lane: LaneId| Status::ALL.map(|status| seen.count(status, |kind| kind.lane() == lane));
    let policy = workspace.policy();
    let mut attention: Vec<String> = policy.problems.iter().map(ToString::to_string).collect();
    attention.extend(policy.held_back.iter().map(|held| format!("held back until `lorelane trust`: {held}")));
    if workspace.files().left_behind() > 0 {
        attention.push("memory_root hides memories in the default folder: run `lorelane doctor`".to_owned());
    }
    match seen.listing {
        Sync::InSync { .. } | Sync::Foreign => {}
        Sync::Missing => attention.push("index.md is missing: run `lorelane reindex`".to_owned()),
        Sync::Differs => attention.push("index.md differs from the files: run `lorelane reindex`".to_owned()),
    }
    if seen.unreadable > 0 {
        attention.push(format!(
            "{} cannot be read: run `lorelane doctor`",
            output::count(seen.unreadable, "file", "files")
        ));
    }
    if !seen.heavily_revised.is_empty() {
        attention.push(match seen.heavily_revised.len() {
            1 => "1 memory was updated often and needs a review".to_owned(),
            count => format!("{count} memories were updated often and need a review"),
        });
    }
    if session.json {
        output::document(&StatusView::of(&seen, &attention, &workspace));
        return Ok(Exit::Done);
    }
    let mut text =
        format!("{}\n\n                  active  retired  archived\n", workspace.project().display());
    for category in Category::ALL {
        let [active, retired, archived] = Status::ALL.map(|status| count(category, status));
        let off = if workspace.policy().enabled(category) { "" } else { "  (disabled)" };
        let _ = writeln!(text, "{:<16}{active:>8}{retired:>9}{archived:>10}{off}", category.name());
    }
    for lane in [LaneId::Notes, LaneId::Auto].into_iter().filter(|lane| of_lane(*lane) != [0; 3]) {
        let [active, retired, archived] = of_lane(lane);
        let _ = writeln!(text, "{:<16}{active:>8}{retired:>9}{archived:>10}", lane.name());
    }
    let [active, retired, archived] = Status::ALL.map(|status| seen.count(status, |_| true));
    let _ = writeln!(text, "{:<16}{active:>8}{retired:>9}{archived:>10}", "all");
    let _ = writeln!(text, "\npinned   {}", seen.pinned);
    if seen.waiting > 0 {
        let waits = if seen.waiting == 1 { "waits" } else { "wait" };
        let items = output::count(seen.waiting, "item", "items");
        let _ = writeln!(text, "inbox    {items} {waits}: run `lorelane inbox`");
    }
    let listing = match seen.listing {
        Sync::InSync { entries: 1 } => "in sync (1 entry)".to_owned(),
        Sync::InSync { entries } => format!("in sync ({entries} entries)"),
        Sync::Missing => "missing".to_owned(),
        Sync::Differs => "differs from the files".to_owned(),
        Sync::Foreign => "not written: this file is not lorelane's".to_owned(),
    };
    let _ = writeln!(text, "index.md {listing}");
    for entry in seen.heavily_revised.iter().take(5) {
        let _ = writeln!(text, "updated  {} ({} times)", entry.address, entry.revised);
    }
    for (entry, days) in seen.recently_retired.iter().take(5) {
        let days = output::count(*days, "day", "days");
        let _ = writeln!(text, "retired  {} ({days} ago)", entry.address);
    }
    if !policy.trusted.is_empty() {
        let _ = writeln!(text, "trusted  {}", trust::keys(&policy.trusted));
    }
    let _ = writeln!(text, "health   {}", health(attention.is_empty()));
    for line in &attention {
        let _ = writeln!(text, "         - {line}");
    }
    text.push_str("\nFiles lorelane may write\n");
    for (path, what) in &workspace.files().declared_folders() {
        let _ = writeln!(text, "  {}  ({what})", path.display());
    }
    output::out(&text);
    Ok(Exit::Done)
}
