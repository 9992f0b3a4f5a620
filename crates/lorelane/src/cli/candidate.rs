//! `candidate`: finds the memory that new information belongs to.

use super::input::category;
use super::{CliResult, Exit, Session, output};
use clap::Args;

/// Find the memory that new information belongs to
///
/// Prints a JSON document for an agent: the candidate, the allowed actions, and why.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  lorelane candidate decision --new-info \"auth moved from JWT to PASETO\""
)]
pub struct CandidateArgs {
    /// session_summary, decision, runbook, constraint, tech_debt or preference
    category: String,
    /// The new information
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    new_info: String,
    /// What happened to the subject
    #[arg(long, value_name = "EVENT", value_parser = lorelane_core::candidate::LIFECYCLE_EVENTS)]
    lifecycle_event: Option<String>,
}

pub(super) fn run(session: &Session<'_>, args: &CandidateArgs) -> CliResult {
    let category = category(&args.category)?;
    let mut workspace = session.open()?;
    let verdict = workspace.recall().candidate(category, &args.new_info, args.lifecycle_event.as_deref())?;
    output::document(&verdict);
    Ok(Exit::Done)
}
