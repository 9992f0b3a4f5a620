//! `extract`: finds what past sessions have that is worth keeping.

use super::shared_args::ChangeArgs;
use super::{CliError, CliResult, Exit, Session, output};
use crate::view::ExtractView;
use clap::Args;
use lorelane_core::capture::Destination;
use lorelane_core::conversation::TranscriptPosition;
use lorelane_core::text::{cut, one_line};
use lorelane_core::time::Timestamp;
use lorelane_engine::workspace::{ExtractReport, ExtractedItem, LeftOut, SessionChoice};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The most items that one run puts into the inbox.
const LIMIT: usize = 20;
/// Sessions with a warning that are named.
const UNREAD_SHOWN: usize = 5;
/// Folders of other projects that are named.
const FOLDERS_SHOWN: usize = 5;

/// Find what past sessions have that is worth keeping
///
/// Reads the transcripts of Claude Code and Codex for this project and puts the best statements of yours into the inbox:
/// values first, then decisions, corrections, preferences, approvals, references and lessons. Without arguments it reads
/// the sessions that were not read before. Sessions of other projects are skipped. Exit code 1: nothing new was found.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  lorelane extract\n  lorelane extract --since 7d --dry-run\n  lorelane extract 0d9e41c2 --limit 5"
)]
pub struct ExtractArgs {
    /// A session: its id, the beginning of its id, or the path of its transcript
    #[arg(value_name = "SESSION", conflicts_with_all = ["since", "all"])]
    session: Option<String>,
    /// Sessions that were active since then: 12h, 7d, 2w or a date
    #[arg(long, value_name = "WHEN", conflicts_with = "all")]
    since: Option<String>,
    /// All sessions of this project, also those that were read before
    #[arg(long)]
    all: bool,
    /// At most this many items
    #[arg(long, value_name = "COUNT", default_value_t = LIMIT)]
    limit: usize,
    #[command(flatten)]
    change: ChangeArgs,
}

pub(super) fn run(session: &Session<'_>, args: &ExtractArgs) -> CliResult {
    let mut workspace = session.open()?;
    let since = args.since.as_deref().map(|text| moment(text, workspace.now())).transpose()?;
    let choice = match (&args.session, since, args.all) {
        (Some(name), ..) => SessionChoice::Named(name),
        (None, Some(since), _) => SessionChoice::Since(since),
        (None, None, true) => SessionChoice::All,
        (None, None, false) => SessionChoice::New,
    };
    let sessions = workspace.capture().sessions(session.env, choice).map_err(|fault| {
        CliError::usage(fault.to_string(), "pass more of its id, or the path of its transcript")
    })?;
    let report = workspace.capture().extract(sessions, args.limit, args.change.dry_run)?;
    if session.json {
        output::document(&ExtractView::of(&report, args.change.dry_run));
    } else {
        output::out(&text(&report, args.change.dry_run));
    }
    for unread in report.unread.iter().take(UNREAD_SHOWN) {
        let path = one_line(&unread.session.path.to_string_lossy());
        output::err(&format!("warning: {path}: {}", one_line(&unread.why)));
    }
    if let more @ 1.. = report.unread.len().saturating_sub(UNREAD_SHOWN) {
        output::err(&format!("warning: and {more} more; --json lists them"));
    }
    Ok(if report.items.is_empty() { Exit::Nothing } else { Exit::Done })
}

fn moment(text: &str, now: Timestamp) -> Result<Timestamp, CliError> {
    Timestamp::typed(text, now)
        .map_err(|_| CliError::usage(format!("'{text}' is not a valid time"), "use 12h, 7d, 2w or a date"))
}

fn text(report: &ExtractReport, dry_run: bool) -> String {
    let sessions = output::count(report.sessions, "session", "sessions");
    let mut text = format!("Read {sessions} of this project\n");
    if !report.elsewhere.is_empty() {
        text.push_str(&elsewhere(report));
    }
    for (place, found) in report.items.iter().enumerate() {
        text.push_str(&section(found, place));
    }
    let left_out = left_out(report.left_out);
    if !left_out.is_empty() {
        let _ = writeln!(text, "Left out: {}", left_out.join(", "));
    }
    text.push_str(match (report.items.is_empty(), dry_run) {
        (true, _) => "Nothing new was found\n",
        (false, true) => "Nothing was changed; without --dry-run these items wait in the inbox\n",
        (false, false) => {
            "These items wait in the inbox: `lorelane inbox` shows what accepting each would do\n"
        }
    });
    text
}

fn section(found: &ExtractedItem, place: usize) -> String {
    let ExtractedItem { client, item, destination } = found;
    let at = match item.origin.at {
        TranscriptPosition::Line(line) => format!("line {line}"),
        TranscriptPosition::Byte(byte) => format!("byte {byte}"),
    };
    let number = if item.number > 0 { format!("{}.", item.number) } else { format!("{}.", place + 1) };
    let date = item.said.or(item.since).map(|at| format!("{}, ", at.date())).unwrap_or_default();
    let mut text = format!(
        "{number} {}, {date}score {:.2} ({client} session {}, {at})\n",
        item.form_name(),
        item.score,
        cut(&one_line(&item.origin.session), 40),
    );
    let _ = writeln!(text, "   \"{}\"", cut(&one_line(&item.words()), 300));
    let _ = writeln!(text, "   belongs in {}", place_of(*destination));
    text
}

/// A destination as a reader knows it.
pub(super) fn place_of(destination: Destination) -> &'static str {
    match destination {
        Destination::Memory => "a memory",
        Destination::ValueMemory => "a memory, as a value",
        Destination::ClaudeMd => "CLAUDE.md (--to claude-md), or a memory",
        Destination::AgentsMd => "AGENTS.md (--to agents-md), or a memory",
        Destination::Knowledge => "docs/knowledge/ (--to knowledge), or a memory",
        Destination::Skip => "this session only",
    }
}

fn elsewhere(report: &ExtractReport) -> String {
    let mut folders: BTreeMap<String, usize> = BTreeMap::new();
    for (_, cwd) in &report.elsewhere {
        *folders.entry(one_line(&cwd.to_string_lossy())).or_default() += 1;
    }
    let count = report.elsewhere.len();
    if let ([(session, cwd)], 0) = (report.elsewhere.as_slice(), report.sessions) {
        let cwd = cwd.to_string_lossy();
        let command = format!("lorelane -C {} extract {}", lorelane_core::text::shell_word(&cwd), session.id);
        return format!(
            "Session {} belongs to another project: run `{}`\n",
            one_line(&session.id),
            one_line(&command)
        );
    }
    let named: Vec<String> =
        folders.iter().take(FOLDERS_SHOWN).map(|(folder, count)| format!("{folder} ({count})")).collect();
    let more = if folders.len() > FOLDERS_SHOWN { ", …" } else { "" };
    let sessions = output::count(count, "session of another project", "sessions of other projects");
    format!("Skipped {sessions}: {}{more}\n", named.join(", "))
}

fn left_out(left_out: LeftOut) -> Vec<String> {
    let LeftOut { known, repeated, said, rejected, passing, disabled, over_limit } = left_out;
    let parts = [
        (known, "already in the inbox or decided"),
        (repeated, "said better by another item"),
        (said, "already in a memory or in CLAUDE.md or AGENTS.md"),
        (rejected, "rejected before"),
        (passing, "about one session only"),
        (disabled, "of a category that is not captured"),
        (over_limit, "over --limit"),
    ];
    parts.into_iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect()
}
