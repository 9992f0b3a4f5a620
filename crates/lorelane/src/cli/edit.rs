//! `edit`: changes a memory in the user's editor.

use super::shared_args::ChangeArgs;
use super::{CliResult, Session, draft};
use clap::Args;
use lorelane_core::change::{Change, Draft, Plan};

/// Edit a memory in your editor
///
/// Opens a draft in $VISUAL or $EDITOR. A draft that is rejected is kept, and its path is printed.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  lorelane edit use-jwt-for-service-auth")]
pub struct EditArgs {
    /// An address such as decision/use-jwt, or a unique name
    address: String,
    #[command(flatten)]
    change: ChangeArgs,
}

pub(super) fn run(session: &Session<'_>, args: &EditArgs) -> CliResult {
    let mut workspace = session.open()?;
    let address = workspace.find(&args.address)?;
    let loaded = workspace.load(&address)?;
    let worked = draft::edited(session, &workspace, address.name(), &loaded.document.text)?;
    let because = format!("edit {address}");
    let draft = Draft::Edited { text: worked.text.clone(), because: None };
    let change = Change::Revise { address, expects: Some(loaded.revision), draft };
    let plan = Plan { changes: vec![change], because };
    let done = session.commit(&mut workspace, &plan, args.change);
    draft::settle(Some(worked), done, args.change)
}
