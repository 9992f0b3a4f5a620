//! `links`: shows which memories mention a file or link to a memory.

use super::shared_args::ScopeArgs;
use super::{CliResult, Exit, Session, output};
use crate::view::LinksView;
use clap::Args;
use lorelane_core::graph::NodeId;
use lorelane_core::lifecycle::Status;
use lorelane_core::text::{cut, one_line};
use lorelane_engine::workspace::Inbound;

/// Show which memories mention a file or link to a memory
///
/// A link may be written with `./`, an anchor or in another case. A file that was renamed in git is also found under its
/// former names. Exit code 1: there are none.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  lorelane links src/auth.py\n  lorelane links notes/auth-plan")]
pub struct LinksArgs {
    /// Path of a file, or address or name of a memory
    file: String,
    #[command(flatten)]
    scope: ScopeArgs,
}

pub(super) fn run(session: &Session<'_>, args: &LinksArgs) -> CliResult {
    let mut workspace = session.open()?;
    let asked = workspace.recall().path_from_root(&session.env.cwd, &args.file);
    let found = workspace.recall().links_to(&asked, args.scope.scope())?;
    if session.json {
        output::document(&LinksView::of(&found, &workspace));
    } else if found.links.is_empty() {
        output::out(&format!("No memory links to {}\n", one_line(&args.file)));
    } else {
        output::out(&found.links.iter().map(|link| link_shown(link, &found.target)).collect::<String>());
    }
    Ok(if found.links.is_empty() { Exit::Nothing } else { Exit::Done })
}

/// The name of the file is shown only if it differs from the argument: a former name, or another case.
fn link_shown(link: &Inbound, asked: &NodeId) -> String {
    let state =
        if link.from.status == Status::Active { String::new() } else { format!(" [{}]", link.from.status) };
    let target = match asked {
        NodeId::Ghost(path) if link.target != *path => link.target.as_str(),
        _ => "",
    };
    let anchor = link.anchor.as_ref().map(|anchor| format!("#{anchor}")).unwrap_or_default();
    let leads = format!("{target}{anchor}");
    let leads = if leads.is_empty() { leads } else { format!("  ({})", one_line(&leads)) };
    let says = if link.context.is_empty() { &link.from.title } else { &link.context };
    format!(
        "{}{state}  {}{leads}\n       {}\n",
        link.from.address,
        link.edge.name(),
        cut(&one_line(says), output::LINE_MAX)
    )
}
