//! Argument groups that several commands share.

use clap::Args;
use lorelane_core::graph::Scope;

/// Options of every command that changes something.
#[derive(Clone, Copy, Debug, Args)]
pub struct ChangeArgs {
    /// Show what would be done, without doing it
    #[arg(long)]
    pub dry_run: bool,
}

/// Which memories' links a command follows.
#[derive(Debug, Args)]
pub struct ScopeArgs {
    /// Include links of retired and archived memories
    #[arg(long)]
    include_retired: bool,
}

impl ScopeArgs {
    pub fn scope(&self) -> Scope {
        if self.include_retired { Scope::All } else { Scope::Active }
    }
}
