//! `show`: prints one memory.

use super::{CliResult, Exit, Session, output};
use crate::view::MemoryView;
use clap::Args;
use lorelane_core::json::{Json, JsonFormat};
use lorelane_core::lifecycle::Lifecycle;
use lorelane_core::memory::{Body, Memory};
use lorelane_core::text::one_line;
use lorelane_core::time::Timestamp;
use lorelane_core::validity::NotCurrent;
use lorelane_engine::workspace::{LoadedMemory, Workspace};
use std::fmt::Write as _;

/// Print a memory
///
/// Prints title, status, tags, dates, contents and the latest history. --json adds path, hashes and problems.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  lorelane show decision/use-jwt-for-service-auth")]
pub struct ShowArgs {
    /// An address such as decision/use-jwt, or a unique name
    address: String,
    /// Print the file unchanged
    #[arg(long)]
    raw: bool,
}

pub(super) fn run(session: &Session<'_>, args: &ShowArgs) -> CliResult {
    let mut workspace = session.open()?;
    let address = workspace.find(&args.address)?;
    let loaded = workspace.load(&address)?;
    if args.raw {
        output::out_raw(&loaded.document.text);
    } else if session.json {
        output::document(&MemoryView::of(&address, &loaded, &workspace));
    } else {
        output::out(&page(&loaded, &workspace));
        for problem in &loaded.problems {
            output::err(&format!("warning: {}", problem.what));
        }
    }
    Ok(Exit::Done)
}

/// A memory in readable form.
fn page(loaded: &LoadedMemory, workspace: &Workspace) -> String {
    let memory = &loaded.memory;
    let path = workspace.files().listed_path(&memory.address);
    let mut page = format!("{}\n{} · {path}\n", one_line(&memory.title), memory.address);
    let mut line = |name: &str, value: String| {
        if !value.is_empty() {
            let _ = writeln!(page, "{name:<10} {value}");
        }
    };
    line("status", lifecycle(memory));
    let not_current = memory.validity.at(workspace.now()).map_or("", NotCurrent::says);
    line("outdated", not_current.to_owned());
    line(
        "successor",
        workspace.files().successor(&memory.address).map(|by| by.to_string()).unwrap_or_default(),
    );
    let old: Vec<String> =
        workspace.files().predecessors(&memory.address).iter().map(ToString::to_string).collect();
    line("supersedes", old.join(", "));
    line("tags", memory.tags.join(", "));
    line("files", memory.about.join(", "));
    line("confidence", memory.confidence.map(|value| value.to_string()).unwrap_or_default());
    let date = |at: Option<Timestamp>| at.map_or_else(|| "unknown".to_owned(), Timestamp::date);
    line("dates", format!("created {}, updated {}", date(memory.created), date(memory.updated)));
    match &memory.body {
        Body::Fields(content) => {
            for (key, value) in content.iter() {
                let _ = write!(page, "\n{}\n", key.replace('_', " "));
                paragraph(&mut page, value, "  ");
            }
        }
        Body::Prose(text) => {
            let _ = write!(page, "\n{text}\n");
        }
    }
    if !memory.history.is_empty() {
        page.push_str("\nhistory\n");
        for event in memory.history.iter().rev().take(5) {
            let date: String = event.date().unwrap_or_default().chars().take(10).collect();
            let _ = writeln!(page, "  {date} {}", one_line(event.summary().unwrap_or_default()));
        }
    }
    page
}

fn lifecycle(memory: &Memory) -> String {
    match &memory.lifecycle {
        Lifecycle::Active => "active".to_owned(),
        Lifecycle::Retired { at, reason } | Lifecycle::Archived { at, reason } => {
            let since = at.map_or_else(String::new, |at| format!(" since {}", at.date()));
            let reason = reason.as_ref().map_or_else(String::new, |reason| format!(": {}", one_line(reason)));
            format!("{}{since}{reason}", memory.lifecycle.status())
        }
    }
}

fn paragraph(page: &mut String, value: &Json, indent: &str) {
    if let Some(text) = value.as_text() {
        for line in text.lines() {
            let _ = writeln!(page, "{indent}{line}");
        }
    } else if let Some(items) = value.as_list() {
        for item in items {
            let item = item.as_text().map_or_else(|| item.render(JsonFormat::LINE), one_line);
            let _ = writeln!(page, "{indent}- {item}");
        }
    } else if let Some(object) = value.as_object() {
        for (key, value) in object.iter() {
            let _ = writeln!(page, "{indent}{key}");
            paragraph(page, value, &format!("{indent}  "));
        }
    } else {
        let _ = writeln!(page, "{indent}{}", value.render(JsonFormat::LINE));
    }
}
