//! `duplicates`: finds memories with nearly the same content.

use super::input::kind;
use super::{CliError, CliResult, Exit, Session, output};
use crate::view::{DuplicatesView, merge_command};
use clap::Args;
use lorelane_core::text::one_line;
use lorelane_engine::workspace::{Comparison, DuplicateGroup};
use std::fmt::Write as _;

/// Find memories with nearly the same content
///
/// Prints groups of similar active memories, and for notes the command that merges them. Exit code 1: there are none.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  lorelane duplicates --type journal --threshold 0.9")]
pub struct DuplicatesArgs {
    /// Least similarity of two memories, up to 1
    #[arg(long, value_name = "SHARE", default_value = "0.85")]
    threshold: f64,
    /// Print at most this many groups
    #[arg(short = 'n', long, value_name = "COUNT", default_value = "5")]
    limit: usize,
    /// Only this category or this type of notes
    #[arg(long = "type", value_name = "TYPE")]
    kind: Option<String>,
}

pub(super) fn run(session: &Session<'_>, args: &DuplicatesArgs) -> CliResult {
    if !(args.threshold > 0.0 && args.threshold <= 1.0) {
        let what = format!("cannot use --threshold {}: it is not above 0 and at most 1", args.threshold);
        return Err(CliError::usage(what, "pass a number such as 0.85"));
    }
    let kind = args.kind.as_deref().map(kind).transpose()?;
    let mut workspace = session.open()?;
    let comparison = Comparison { threshold: args.threshold, limit: args.limit, kind };
    let groups = workspace.recall().duplicates(comparison)?;
    if session.json {
        output::document(&DuplicatesView::of(&groups, args.threshold));
    } else if groups.is_empty() {
        output::out("No duplicates found\n");
    } else {
        output::out(&groups.iter().map(group_shown).collect::<String>());
    }
    Ok(if groups.is_empty() { Exit::Nothing } else { Exit::Done })
}

fn group_shown(group: &DuplicateGroup) -> String {
    let mut text = format!("{:.2}  {} memories\n", group.score, group.memories.len());
    for memory in &group.memories {
        let _ = writeln!(text, "       {}  {}", memory.entry.address, one_line(&memory.preview));
    }
    if let Some(command) = merge_command(group) {
        let _ = writeln!(text, "       merge them: {command}");
    }
    text
}
