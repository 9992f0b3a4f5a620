//! `graph`: memories, files and tags as a graph.

use super::shared_args::ScopeArgs;
use super::{CliResult, Exit, Session, output};
use clap::{Args, ValueEnum};

/// Print memories, the files they speak of, and their tags as a graph
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  lorelane graph --format mermaid")]
pub struct GraphArgs {
    /// For Graphviz, for programs, or for Markdown pages
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
