//! `related`: shows related memories.

use super::{CliResult, Exit, Session, output};
use crate::view::NeighboursView;
use clap::Args;
use lorelane_core::graph::{Related, RelationReason};
use lorelane_core::text::{cut, one_line};
use std::fmt::Write as _;

/// Show related memories
///
/// Each is shown with its reasons: a link in either direction, a file that both mention, a shared tag, a similar meaning.
/// Exit code 1: there are none.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  lorelane related use-jwt-for-service-auth")]
pub struct RelatedArgs {
    /// An address such as decision/use-jwt, or a unique name
    address: String,
    /// Print at most this many
    #[arg(short = 'n', long, value_name = "COUNT", default_value = "10")]
    limit: usize,
}

pub(super) fn run(session: &Session<'_>, args: &RelatedArgs) -> CliResult {
    let mut workspace = session.open()?;
    let address = workspace.find(&args.address)?;
    let found = workspace.recall().related(&address, args.limit)?;
    if session.json {
        output::document(&NeighboursView::of(&address, &found));
    } else if found.is_empty() {
        output::out(&format!("No memory is related to {address}\n"));
    } else {
        output::out(&found.iter().map(related_shown).collect::<String>());
    }
    Ok(if found.is_empty() { Exit::Nothing } else { Exit::Done })
}

fn related_shown(found: &Related) -> String {
    let mut text = format!("{:.2}  {}\n", found.points, found.address);
    for reason in &found.reasons {
        let reason = match reason {
            RelationReason::LinksTo { edge, context } => format!("-> {}: {context}", edge.name()),
            RelationReason::LinkedFrom { edge, context } => format!("<- {}: {context}", edge.name()),
            RelationReason::File(path) => format!("both mention {path}"),
            RelationReason::Tag(tag) => format!("both have the tag {tag}"),
            RelationReason::Meaning(cosine) => format!("similar meaning ({cosine:.2})"),
        };
        let _ = writeln!(text, "       {}", cut(&one_line(&reason), output::LINE_MAX));
    }
    text
}
