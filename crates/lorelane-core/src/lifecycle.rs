//! The states of a memory: in recall, out of it, kept for good.

use crate::time::Timestamp;
use std::fmt;

/// The longest reason and the longest summary in a history, in characters.
pub const REASON_MAX: usize = 300;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lifecycle {
    Active,
    /// Out of recall; garbage collection takes it after the grace period.
    Retired {
        at: Option<Timestamp>,
        reason: Option<String>,
    },
    /// Out of recall and kept for good.
    Archived {
        at: Option<Timestamp>,
        reason: Option<String>,
    },
}

/// A lifecycle without its circumstances.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Status {
    Active,
    Retired,
    Archived,
}

/// What can be asked of a lifecycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LifecycleVerb {
    Retire,
    Archive,
    /// Garbage collection puts an old retired memory away instead of deleting it.
    ArchiveRetired,
    /// Delete for good.
    Delete,
    /// Back to active; from the named state only, when one is named.
    Restore {
        from: Option<Status>,
    },
}

impl Lifecycle {
    pub fn status(&self) -> Status {
        match self {
            Lifecycle::Active => Status::Active,
            Lifecycle::Retired { .. } => Status::Retired,
            Lifecycle::Archived { .. } => Status::Archived,
        }
    }
}

impl Status {
    pub const ALL: [Status; 3] = [Status::Active, Status::Retired, Status::Archived];

    pub fn name(self) -> &'static str {
        match self {
            Status::Active => "active",
            Status::Retired => "retired",
            Status::Archived => "archived",
        }
    }

    pub fn parse(text: &str) -> Option<Status> {
        Status::ALL.into_iter().find(|status| status.name() == text)
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl LifecycleVerb {
    pub fn name(self) -> &'static str {
        match self {
            LifecycleVerb::Retire => "retire",
            LifecycleVerb::Archive | LifecycleVerb::ArchiveRetired => "archive",
            LifecycleVerb::Delete => "delete",
            LifecycleVerb::Restore { .. } => "restore",
        }
    }
}
