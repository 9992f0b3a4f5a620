//! How memories hang together: what links to a file, what is related, what says the same, and all of it as a graph.

use super::args::{DuplicatesArgs, GraphArgs, GraphFormat, LinksArgs, RelatedTo};
use super::everyday::kind;
use super::{CliError, CliResult, Exit, Session, output};
use crate::view::{DuplicatesView, LinksView, NeighboursView, merge_command};
use lorelane_core::graph::{NodeId, Related, RelationReason, Scope};
use lorelane_core::lifecycle::Status;
use lorelane_core::text::{cut, one_line};
use lorelane_engine::workspace::{self, Comparison, Inbound};
use std::fmt::Write as _;

/// The characters of a line that is only a glance.
const GLANCE: usize = 200;

fn scope(include_retired: bool) -> Scope {
    if include_retired { Scope::All } else { Scope::Active }
}

pub(super) fn links(session: &Session<'_>, args: &LinksArgs) -> CliResult {
    let mut workspace = session.open()?;
    let asked = workspace.recall().path_from_root(&session.env.cwd, &args.file);
    let found = workspace.recall().links_to(&asked, scope(args.include_retired))?;
    if session.json {
        output::document(&LinksView::of(&found, &workspace));
    } else if found.links.is_empty() {
        output::out(&format!("no memory links to {}\n", one_line(&args.file)));
    } else {
        output::out(&found.links.iter().map(|link| link_shown(link, &found.target)).collect::<String>());
    }
    Ok(if found.links.is_empty() { Exit::Nothing } else { Exit::Done })
}

/// A file's name is said where it is another than was asked for: a former one, or in another case.
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
        cut(&one_line(says), GLANCE)
    )
}

pub(super) fn related(session: &Session<'_>, args: &RelatedTo) -> CliResult {
    let mut workspace = session.open()?;
    let address = workspace.find(&args.address)?;
    let found = workspace.recall().related(&address, args.limit)?;
    if session.json {
        output::document(&NeighboursView::of(&address, &found));
    } else if found.is_empty() {
        output::out(&format!("nothing is related to {address}\n"));
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
            RelationReason::File(path) => format!("both speak of {path}"),
            RelationReason::Tag(tag) => format!("both are tagged {tag}"),
            RelationReason::Meaning(cosine) => format!("nearly the same meaning ({cosine:.2})"),
        };
        let _ = writeln!(text, "       {}", cut(&one_line(&reason), GLANCE));
    }
    text
}

pub(super) fn graph(session: &Session<'_>, args: &GraphArgs) -> CliResult {
    let mut workspace = session.open()?;
    let graph = workspace.recall().graph(scope(args.include_retired))?;
    match if session.json { GraphFormat::Json } else { args.format } {
        GraphFormat::Json => output::document(&graph),
        GraphFormat::Dot => output::out(&graph.to_dot()),
        GraphFormat::Mermaid => output::out(&graph.to_mermaid()),
    }
    Ok(if graph.memories.is_empty() { Exit::Nothing } else { Exit::Done })
}

pub(super) fn duplicates(session: &Session<'_>, args: &DuplicatesArgs) -> CliResult {
    if !(args.threshold > 0.0 && args.threshold <= 1.0) {
        let what = format!("`--threshold {}` is no share", args.threshold);
        return Err(CliError::usage(what, "write a number above 0 and up to 1, such as 0.85"));
    }
    let kind = args.kind.as_deref().map(kind).transpose()?;
    let mut workspace = session.open()?;
    let comparison = Comparison { threshold: args.threshold, limit: args.limit, kind };
    let groups = workspace.recall().duplicates(comparison)?;
    if session.json {
        output::document(&DuplicatesView::of(&groups, args.threshold));
    } else if groups.is_empty() {
        output::out("no two memories say nearly the same\n");
    } else {
        output::out(&groups.iter().map(group_shown).collect::<String>());
    }
    Ok(if groups.is_empty() { Exit::Nothing } else { Exit::Done })
}

fn group_shown(group: &workspace::DuplicateGroup) -> String {
    let mut text = format!("{:.2}  {} memories\n", group.score, group.memories.len());
    for memory in &group.memories {
        let _ = writeln!(text, "       {}  {}", memory.entry.address, one_line(&memory.preview));
    }
    if let Some(command) = merge_command(group) {
        let _ = writeln!(text, "       run: {command}");
    }
    text
}
