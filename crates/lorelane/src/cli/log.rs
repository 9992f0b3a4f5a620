//! `log`: shows changes, newest first, and verifies the log.

use super::{CliResult, Exit, Session, output};
use crate::view::{LogCheckView, LogView};
use clap::Args;
use lorelane_core::text::one_line;
use lorelane_engine::backend::{ChangeState, LogFault};
use lorelane_engine::workspace::LaneLogEntry;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Show changes, newest first
///
/// `(undone)` marks a change that was undone, `(rolled back)` one that did not complete, `(open)` one that was
/// interrupted and that the next change completes or rolls back.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  lorelane log -n 5\n  lorelane log --verify")]
pub struct LogArgs {
    /// Print at most this many
    #[arg(short = 'n', value_name = "COUNT", default_value = "20")]
    limit: usize,
    /// Verify that no entry of the log was changed; entries cut off at its end cannot be detected
    #[arg(long)]
    verify: bool,
}

pub(super) fn run(session: &Session<'_>, args: &LogArgs) -> CliResult {
    let mut workspace = session.open_with_sessions()?;
    if args.verify {
        let faults = workspace.changes().verify_logs();
        if session.json {
            output::document(&LogCheckView::of(&faults));
        } else if faults.is_empty() {
            let (_, count) = workspace.changes().recent(0)?;
            let entries = output::count(count, "entry", "entries");
            output::out(&format!("Log verified: {entries}, chain intact\n"));
        } else {
            output::out(&faults.iter().map(|fault| format!("{fault}\n")).collect::<String>());
            let hints: BTreeSet<_> = faults.iter().map(LogFault::hint).collect();
            hints.iter().for_each(|hint| output::err(&format!("hint: {hint}")));
        }
        return Ok(if faults.is_empty() { Exit::Done } else { Exit::Nothing });
    }
    let (logged, total) = workspace.changes().recent(args.limit)?;
    if session.json {
        output::document(&LogView::of(&logged, total));
    } else {
        let mut text = String::new();
        for LaneLogEntry { entry, .. } in &logged {
            let state = match (entry.undone, entry.outcome) {
                (true, _) => " (undone)",
                (_, ChangeState::Void) => " (rolled back)",
                (_, ChangeState::Open) => " (open)",
                _ => "",
            };
            let mut because = entry.because.as_deref().unwrap_or("(purged)").to_owned();
            if let Some(undid) = &entry.undid {
                let _ = write!(because, " ({undid})");
            }
            let _ = writeln!(text, "{:<4} {}  {}{state}", entry.number, entry.at, one_line(&because));
        }
        output::out(&text);
    }
    Ok(if total == 0 { Exit::Nothing } else { Exit::Done })
}
