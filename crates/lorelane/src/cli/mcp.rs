//! The help of `mcp`. `main` runs it before any parser is built.

use super::{CliError, CliResult};
use clap::Args;

/// Serve memories to an agent over the Model Context Protocol
///
/// Speaks over standard input and output, as clients start it; `setup` registers it. With --http it listens on this
/// machine instead and asks every request for a token, which it prints once, or takes from LORELANE_MCP_TOKEN.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  lorelane mcp")]
pub struct McpArgs {
    /// Listen here for HTTP instead: an address with a port, or a port; 0 means any
    #[arg(long, value_name = "ADDR")]
    http: Option<String>,
    /// Accept an address that other machines can reach
    #[arg(long)]
    allow_remote: bool,
    /// Which tools are offered: agent, notes, api-memory or all
    #[arg(long, value_name = "NAME", default_value = "agent")]
    profile: String,
}

/// Reached only when other options come before the command.
pub(super) fn run() -> CliResult {
    Err(CliError::usage("`mcp` takes no options before it but -C", "write `lorelane mcp [--http ADDR]`"))
}
