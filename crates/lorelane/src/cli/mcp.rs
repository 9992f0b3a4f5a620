//! The help of `mcp`. `main` runs it before any parser is built.

use super::{CliError, CliResult};
use clap::Args;

/// Serve memories to an agent over the Model Context Protocol
///
/// Uses standard input and output, as clients start it; `setup` registers it. With --http it listens on this machine
/// instead and requires a token with every request, which it prints once or takes from LORELANE_MCP_TOKEN.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  lorelane mcp")]
pub struct McpArgs {
    /// Serve HTTP on this address with a port, or on this port; 0 picks a free one
    #[arg(long, value_name = "ADDR")]
    http: Option<String>,
    /// Allow an address that other machines can reach
    #[arg(long)]
    allow_remote: bool,
    /// Tools to offer: agent, notes, api-memory, working-set or all; several with commas, or repeated
    #[arg(long, value_name = "NAME", value_delimiter = ',', default_value = "agent")]
    profile: Vec<String>,
}

/// Reached only when other options come before the command.
pub(super) fn run() -> CliResult {
    Err(CliError::usage("only -C may come before `mcp`", "run `lorelane mcp [--http ADDR]`"))
}
