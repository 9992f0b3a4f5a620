//! `graph`: prints memories, files and tags as a graph.

use super::shared_args::ScopeArgs;
use super::{CliResult, Exit, Session, output};
use clap::{Args, ValueEnum};

/// Print memories, the files they mention and their tags as a graph
///
/// Exit code 1: there are no memories.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  lorelane graph --format mermaid")]
pub struct GraphArgs {
    /// dot for Graphviz, mermaid for Markdown pages, json for programs
    #[arg(long, value_enum, default_value = "dot")]
    format: GraphFormat,
    #[command(flatten)]
    scope: ScopeArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum GraphFormat {
    Dot,
    Json,
    Mermaid,
}

pub(super) fn run(session: &Session<'_>, args: &GraphArgs) -> CliResult {
    let mut workspace = session.open()?;
    let graph = workspace.recall().graph(args.scope.scope())?;
    match if session.json { GraphFormat::Json } else { args.format } {
        GraphFormat::Json => output::document(&graph),
        GraphFormat::Dot => output::out(&graph.to_dot()),
        GraphFormat::Mermaid => output::out(&graph.to_mermaid()),
    }
    Ok(if graph.memories.is_empty() { Exit::Nothing } else { Exit::Done })
}
