//! Argument groups that several commands share.

use clap::Args;
use lorelane_core::graph::Scope;

/// What every command that changes something takes.
#[derive(Clone, Copy, Debug, Args)]
pub struct ChangeArgs {
    /// Say what would be done and do nothing
    #[arg(long)]
    pub dry_run: bool,
}

/// Which memories' links a command follows.
#[derive(Debug, Args)]
pub struct ScopeArgs {
    /// Links of retired and archived memories too
    #[arg(long)]
    include_retired: bool,
}

impl ScopeArgs {
    pub fn scope(&self) -> Scope {
        if self.include_retired { Scope::All } else { Scope::Active }
    }
}
