//! The lanes of a project.

use std::fmt;

/// A lane: a folder of memories in one dialect, with its own journal and index. A project has at most one of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LaneId {
    Records,
    Notes,
}

impl LaneId {
    pub const ALL: [LaneId; 2] = [LaneId::Records, LaneId::Notes];

    pub fn name(self) -> &'static str {
        match self {
            LaneId::Records => "records",
            LaneId::Notes => "notes",
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
