//! `reindex`: rebuilds the index and `index.md` from the files.

use super::shared_args::ChangeArgs;
use super::{CliResult, Exit, Session, output};
use crate::view::{ReindexPlanView, ReindexView};
use clap::Args;
use lorelane_engine::index::Rebuild;
use lorelane_engine::workspace::Sync;

/// Rebuild the index and index.md from the files
///
/// Every file is read; index rows of unchanged files are kept.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  lorelane reindex")]
pub struct ReindexArgs {
    /// Analyze every file again, changed or not
    #[arg(long)]
    full: bool,
    #[command(flatten)]
    change: ChangeArgs,
}

pub(super) fn run(session: &Session<'_>, args: &ReindexArgs) -> CliResult {
    let mut workspace = session.open()?;
    if args.change.dry_run {
        let differs = matches!(workspace.maintenance().overview()?.listing, Sync::Missing | Sync::Differs);
        let listing = if differs { "would change" } else { "would not change" };
        if session.json {
            output::document(&ReindexPlanView { listing_differs: differs, dry_run: true });
        } else {
            output::out(&format!("Would rebuild the index; index.md {listing}\n"));
        }
        return Ok(Exit::Done);
    }
    let extent = if args.full { Rebuild::All } else { Rebuild::Changed };
    let (listed, notices) = workspace.maintenance().reindex(extent)?;
    output::notices(&notices);
    if session.json {
        output::document(&ReindexView { listed });
    } else {
        let memories = output::count(listed, "active memory", "active memories");
        output::out(&format!("Rebuilt the index and index.md: {memories}\n"));
    }
    Ok(Exit::Done)
}
