//! `merge`: merges several notes into one.

use super::input::{note_named, read_note};
use super::shared_args::ChangeArgs;
use super::{CliResult, Exit, Session, output};
use clap::Args;
use lorelane_engine::workspace::NoteMerge;
use std::path::PathBuf;

/// Merge several notes into one
///
/// The target is a new note, or one of the sources. It gets all their texts, each under its own heading, or the text of
/// --from. The other notes are moved to `.trash/`. It is one change, which one `undo` reverts.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  lorelane merge notes/auth-plan notes/auth-ideas --into notes/auth")]
pub struct MergeArgs {
    /// Addresses such as notes/auth-plan, or unique names
    #[arg(required = true, value_name = "SOURCE")]
    sources: Vec<String>,
    /// Name of the merged note
    #[arg(long, value_name = "TARGET")]
    into: String,
    /// Take the text from a Markdown file, or from standard input if it is `-`
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
    #[command(flatten)]
    change: ChangeArgs,
}

pub(super) fn run(session: &Session<'_>, args: &MergeArgs) -> CliResult {
    let mut workspace = session.open()?;
    let sources = args.sources.iter().map(|typed| workspace.find(typed)).collect::<Result<Vec<_>, _>>()?;
    let target = match workspace.find(&args.into) {
        Ok(known) if sources.contains(&known) => known,
        _ => note_named(args.into.strip_prefix("notes/").unwrap_or(&args.into))?,
    };
    let text = args.from.as_ref().map(|path| read_note(session, path)).transpose()?;
    let merge = NoteMerge { sources, target, text };
    let receipt = match args.change.dry_run {
        true => {
            let plan = workspace.changes().merging(&merge)?;
            workspace.preview(&plan)?
        }
        false => workspace.changes().merge(&merge)?,
    };
    output::receipt(&receipt, session.json, args.change.dry_run);
    Ok(Exit::Done)
}
