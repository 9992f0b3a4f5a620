//! The lanes of a project.

use std::fmt;

/// A lane: a folder of memories in one dialect, with its own journal and index. A project has at most one of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LaneId {
    Records,
    Notes,
    /// The memory folder of Claude Code. It belongs to that client: lorelane never creates it.
    Auto,
}

impl LaneId {
    pub const ALL: [LaneId; 3] = [LaneId::Records, LaneId::Notes, LaneId::Auto];

    pub fn name(self) -> &'static str {
        match self {
            LaneId::Records => "records",
            LaneId::Notes => "notes",
            LaneId::Auto => "auto",
        }
    }

    pub fn parse(name: &str) -> Option<LaneId> {
        LaneId::ALL.into_iter().find(|lane| lane.name() == name)
    }
}

impl fmt::Display for LaneId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
