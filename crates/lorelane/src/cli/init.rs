//! `init`: creates a memory store in this project.

use super::shared_args::ChangeArgs;
use super::{CliResult, Exit, Session, output};
use crate::view::StoreView;
use clap::Args;
use lorelane_engine::workspace;

/// Create a memory store in this project
///
/// Creates `.claude/memory/` with a folder per category and a configuration file with every default. Existing files are
/// not changed, so it is safe to run again.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  lorelane init")]
pub struct InitArgs {
    #[command(flatten)]
    change: ChangeArgs,
}

pub(super) fn run(session: &Session<'_>, args: &InitArgs) -> CliResult {
    let founding = if args.change.dry_run {
        workspace::plan_init(&session.env.cwd)?
    } else {
        workspace::init(session.env, &session.env.cwd)?
    };
    let lane = founding.lane.display();
    if session.json {
        output::document(&StoreView::of(&founding, args.change.dry_run));
    } else if founding.made.is_empty() {
        output::out(&format!("No change: the store in {lane} is complete\n"));
    } else {
        let (made, next) = match args.change.dry_run {
            true => ("Would create", ""),
            false => ("Created", "Next: lorelane create decision --title \"…\"\n"),
        };
        output::out(&format!("{made} a memory store in {lane}\n{next}"));
    }
    Ok(Exit::Done)
}
