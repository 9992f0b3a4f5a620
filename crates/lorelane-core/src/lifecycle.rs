//! The states of a memory: active, retired, archived.

use crate::time::Timestamp;
use std::fmt;

/// The maximum length of a reason and of a history summary, in characters. Longer ones are truncated, so that the
/// record stays valid.
pub const REASON_MAX: usize = 300;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lifecycle {
    Active,
    /// Out of recall; `gc` deletes or archives it after the grace period.
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

/// A [`Lifecycle`] without time and reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Status {
    Active,
    Retired,
    Archived,
}

/// A transition that somebody asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LifecycleVerb {
    Retire,
    Archive,
    /// `gc` archives a retired memory after its grace period instead of deleting it (`delete.archive_retired`).
    ArchiveRetired,
    /// Removes the file of a retired memory.
    Delete,
    /// Back to active; if `from` is given, only from that state.
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
