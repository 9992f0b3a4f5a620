//! `update`: changes some fields of a memory.

use super::input::{assignments, read_note, read_record};
use super::shared_args::ChangeArgs;
use super::{CliError, CliResult, Session};
use clap::Args;
use lorelane_core::change::{Change, Draft, PartialInput, Plan};
use lorelane_core::digest::Revision;
use lorelane_core::text::{cut, one_line};
use std::path::PathBuf;

/// Change some fields of a memory
///
/// Changes only the given fields and adds entries to the memory's history. `--set path+=value` appends to a list.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  lorelane update use-jwt-for-service-auth --set decision=\"JWT, 5 minutes\" --add-tag paseto"
)]
pub struct UpdateArgs {
    /// An address such as decision/use-jwt, or a unique name
    address: String,
    /// Set a field; can be repeated
    #[arg(long, value_name = "PATH=VALUE", allow_hyphen_values = true)]
    set: Vec<String>,
    /// Add a tag; can be repeated
    #[arg(long, value_name = "TAG", allow_hyphen_values = true)]
    add_tag: Vec<String>,
    /// Take fields from a file (JSON, or Markdown for a note), or from standard input if it is `-`
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
    /// Reason, for the memory's history
    #[arg(long, value_name = "REASON", allow_hyphen_values = true)]
    because: Option<String>,
    /// Reject the change unless the file has this hash (MD5 or BLAKE3, from `show --json`)
    #[arg(long, value_name = "HASH")]
    expect: Option<String>,
    #[command(flatten)]
    change: ChangeArgs,
}

pub(super) fn run(session: &Session<'_>, args: &UpdateArgs) -> CliResult {
    let mut workspace = session.open()?;
    let address = workspace.find(&args.address)?;
    let from = args.from.as_ref().map(|path| match address.category().is_none() {
        true => read_note(session, path),
        false => read_record(session, path),
    });
    let from = from.transpose()?;
    if from.is_none() && args.set.is_empty() && args.add_tag.is_empty() {
        return Err(CliError::usage(
            format!("cannot update {address}: no change was given"),
            "pass --set PATH=VALUE, --add-tag TAG or --from FILE",
        ));
    }
    let draft = Draft::Partial {
        from: from.map(PartialInput::Text),
        set: assignments(&args.set)?,
        add_tags: args.add_tag.clone(),
        because: args.because.clone(),
    };
    let expects = match &args.expect {
        Some(text) => Some(Revision::parse(text).ok_or_else(|| {
            CliError::usage(format!("'{text}' is not a hash"), "pass 32 or 64 hex digits, from `show --json`")
        })?),
        None => None,
    };
    let because = match &args.because {
        Some(because) => format!("update {address}: {}", cut(&one_line(because), 200)),
        None => format!("update {address}"),
    };
    let plan = Plan { changes: vec![Change::Revise { address, expects, draft }], because };
    session.commit(&mut workspace, &plan, args.change)
}
