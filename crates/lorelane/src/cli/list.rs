//! `list`: lists memories, newest first.

use super::input::{kind, moment};
use super::{CliResult, Exit, Session, output};
use crate::view::{EntryView, ListView};
use clap::{Args, ValueEnum};
use lorelane_core::corpus::MemorySummary;
use lorelane_core::lifecycle::Status;
use lorelane_core::memory::LaneId;
use lorelane_core::text::{cut, fold, one_line};
use lorelane_core::time::Timestamp;
use lorelane_engine::index::ListFilter;
use lorelane_engine::workspace::sort_newest_first;
use std::fmt::Write as _;

/// List memories, newest first
///
/// Lists active memories unless --status says otherwise. A `*` marks a pinned memory. Exit code 1: none match.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  lorelane list decision --tag auth --since 30d")]
pub struct ListArgs {
    /// Only this category, this type of notes, or `notes` for all notes
    category: Option<String>,
    /// Only memories with this tag; can be repeated, and all of them must match
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// Only memories with this status
    #[arg(long, value_enum, default_value = "active")]
    status: StatusFilter,
    /// Only memories changed since then: 12h, 30d, 2w or a date
    #[arg(long, value_name = "WHEN")]
    since: Option<String>,
    /// Print at most this many
    #[arg(short = 'n', value_name = "COUNT")]
    limit: Option<usize>,
    /// Order of the list
    #[arg(long, value_enum, default_value = "updated")]
    sort: Sort,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum StatusFilter {
    Active,
    Retired,
    Archived,
    All,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Sort {
    Updated,
    Created,
    Title,
    Address,
}

pub(super) fn run(session: &Session<'_>, args: &ListArgs) -> CliResult {
    let mut workspace = session.open()?;
    let lane = args.category.as_deref().and_then(LaneId::parse).filter(|lane| *lane != LaneId::Records);
    let kind = args.category.as_deref().filter(|_| lane.is_none()).map(kind).transpose()?;
    let status = match args.status {
        StatusFilter::Active => Some(Status::Active),
        StatusFilter::Retired => Some(Status::Retired),
        StatusFilter::Archived => Some(Status::Archived),
        StatusFilter::All => None,
    };
    let since = args.since.as_deref().map(|text| moment(text, workspace.now())).transpose()?;
    let tags: Vec<String> = args.tags.iter().map(|tag| fold(tag)).collect();
    let is_plain = tags.is_empty() && since.is_none() && lane.is_none() && kind.is_none();
    let (entries, total) = match (args.sort, args.limit, status) {
        (Sort::Updated, Some(limit), Some(status)) if is_plain => workspace.recall().newest(status, limit)?,
        _ => {
            let mut entries = workspace.recall().entries(ListFilter { kind, status })?;
            entries.retain(|entry| {
                tags.iter().all(|tag| entry.tags.iter().any(|own| fold(own) == *tag))
                    && since.is_none_or(|since| entry.dated().is_some_and(|changed| changed >= since))
                    && lane.is_none_or(|lane| entry.address.lane() == lane)
            });
            sort(&mut entries, args.sort);
            let total = entries.len();
            entries.truncate(args.limit.unwrap_or(usize::MAX));
            (entries, total)
        }
    };
    output::not_read(&mut workspace)?;
    let pinned = workspace.files().marks().pinned;
    if session.json {
        let memories =
            entries.iter().map(|entry| EntryView::of(entry, pinned.contains(&entry.address), &workspace));
        output::document(&ListView { total, memories: memories.collect() });
    } else {
        let width =
            entries.iter().map(|entry| entry.address.to_string().chars().count()).max().unwrap_or(0).min(48);
        let mut text = String::new();
        for entry in &entries {
            let pin = if pinned.contains(&entry.address) { "*" } else { " " };
            let state = match entry.state(workspace.now()) {
                "active" => String::new(),
                state => format!(" [{state}]"),
            };
            let tags = entry.tags.iter().map(|tag| format!(" #{}", one_line(tag))).collect::<String>();
            let date = entry.changed().map_or_else(|| "          ".to_owned(), Timestamp::date);
            let title = cut(&one_line(&entry.title), 80);
            let _ = writeln!(text, "{pin} {date} {:<width$} {title}{state}{tags}", entry.address.to_string());
        }
        if total > entries.len() {
            let _ = writeln!(text, "  … {} more", total - entries.len());
        }
        output::out(&text);
        if total == 0 {
            output::err("No memories match");
        }
    }
    Ok(if total == 0 { Exit::Nothing } else { Exit::Done })
}

fn sort(entries: &mut [MemorySummary], by: Sort) {
    match by {
        Sort::Updated => sort_newest_first(entries),
        Sort::Created => {
            entries.sort_by(|a, b| b.created.cmp(&a.created).then_with(|| a.address.cmp(&b.address)));
        }
        Sort::Title => entries.sort_by_key(|entry| (fold(&entry.title), entry.address.clone())),
        Sort::Address => entries.sort_by(|a, b| a.address.cmp(&b.address)),
    }
}
