//! `append`: adds text to the end of a note.

use super::input::read_note;
use super::shared_args::ChangeArgs;
use super::{CliResult, Session};
use clap::Args;
use lorelane_core::change::{Change, Draft, Plan};
use std::path::Path;

/// Add text to the end of a note
///
/// The text is added after an empty line. Use `update` to change a record.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  lorelane append notes/auth-plan \"Tokens live for 15 minutes.\"\n  date | lorelane append notes/journal -"
)]
pub struct AppendArgs {
    /// An address such as notes/auth-plan, or a unique name
    address: String,
    /// Text to add, or `-` for standard input
    #[arg(default_value = "-", value_name = "TEXT|-", allow_hyphen_values = true)]
    text: String,
    #[command(flatten)]
    change: ChangeArgs,
}

pub(super) fn run(session: &Session<'_>, args: &AppendArgs) -> CliResult {
    let mut workspace = session.open()?;
    let address = workspace.find(&args.address)?;
    let text = match args.text.as_str() {
        "-" => read_note(session, Path::new("-"))?,
        text => text.to_owned(),
    };
    let because = format!("append to {address}");
    let change = Change::Revise { address, expects: None, draft: Draft::Append { text } };
    session.commit(&mut workspace, &Plan { changes: vec![change], because }, args.change)
}
