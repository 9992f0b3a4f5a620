//! How a memory leaves recall and comes back.

use crate::json::Json;
use crate::memory::{Address, Event, Memory};
use crate::refusal::Refusal;
use crate::text::cut;
use crate::time::{DAY, Timestamp};
use std::fmt;

/// A retired memory is not created anew for this long: what was just forgotten must not come back by itself.
pub const RESURRECTION_PAUSE: i64 = DAY;
/// The longest reason and the longest summary of an event, in characters.
pub const REASON_MAX: usize = 300;
/// Older events make room for newer ones.
pub const HISTORY_MAX: usize = 50;
pub const NO_REASON: &str = "No reason provided";

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
pub enum Verb {
    Retire,
    Archive,
    /// Garbage collection puts an old retired memory away instead of deleting it.
    Shelve,
    /// Delete for good.
    Purge,
    /// Back to active; from the named state only, when one is named.
    Restore {
        from: Option<Status>,
    },
}

/// The memory after a step of its life, or that it already was there.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    Changed(Box<Memory>),
    Already(Status),
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

impl Verb {
    pub fn name(self) -> &'static str {
        match self {
            Verb::Retire => "retire",
            Verb::Archive | Verb::Shelve => "archive",
            Verb::Purge => "delete",
            Verb::Restore { .. } => "restore",
        }
    }
}

/// Takes one step of a memory's life.
pub fn step(memory: &Memory, verb: Verb, reason: &str, now: Timestamp) -> Result<Step, Refusal> {
    let status = memory.lifecycle.status();
    let refused = || Refusal::Lifecycle { address: memory.address.clone(), verb, status };
    let reason = if reason.trim().is_empty() { NO_REASON } else { reason.trim() };
    let (lifecycle, summary) = match (verb, status) {
        (Verb::Retire, Status::Active) => (
            Lifecycle::Retired { at: Some(now), reason: Some(cut(reason, REASON_MAX)) },
            format!("Retired: {reason}"),
        ),
        (Verb::Archive, Status::Active) | (Verb::Shelve, Status::Retired) => (
            Lifecycle::Archived { at: Some(now), reason: Some(cut(reason, REASON_MAX)) },
            format!("Archived: {reason}"),
        ),
        (Verb::Restore { from }, Status::Retired | Status::Archived)
            if from.is_none_or(|from| from == status) =>
        {
            let summary = match status {
                Status::Archived => "Unarchived: restored to active",
                _ => "Restored: returned to active from retired",
            };
            (Lifecycle::Active, summary.to_owned())
        }
        (Verb::Retire, Status::Retired)
        | (Verb::Archive | Verb::Shelve, Status::Archived)
        | (Verb::Restore { from: None | Some(Status::Retired) }, Status::Active) => {
            return Ok(Step::Already(status));
        }
        _ => return Err(refused()),
    };
    let mut after = memory.clone();
    let (old, new) = (Json::text(status.name()), Json::text(lifecycle.status().name()));
    after.lifecycle = lifecycle;
    after.updated = Some(now);
    // A note has no room for a history in its file; the journal keeps it.
    if memory.kind.category().is_some() {
        record(
            &mut after.history,
            Event::new(now, &cut(&summary, REASON_MAX)).with("record_status", old, new),
        );
    }
    Ok(Step::Changed(Box::new(after)))
}

/// Only a retired memory may be deleted for good: whoever still reads or keeps one has not let it go.
pub fn may_purge(memory: &Memory) -> Result<(), Refusal> {
    match memory.lifecycle.status() {
        Status::Retired => Ok(()),
        status => Err(Refusal::Lifecycle { address: memory.address.clone(), verb: Verb::Purge, status }),
    }
}

/// Whether a new memory may take the file that stands at its address; `None` is a file that cannot be read.
///
/// An active or archived memory is never overwritten; a retired one not on the day it was retired, nor when
/// nobody knows which day that was.
pub fn may_create_over(address: &Address, existing: Option<&Memory>, now: Timestamp) -> Result<(), Refusal> {
    let exists = |status| Err(Refusal::Exists { address: address.clone(), status });
    match existing.map(|memory| &memory.lifecycle) {
        None => exists(None),
        Some(Lifecycle::Retired { at: Some(at), .. }) if now.0 - at.0 >= RESURRECTION_PAUSE => Ok(()),
        Some(Lifecycle::Retired { at, .. }) => {
            Err(Refusal::TooSoon { address: address.clone(), retired_at: *at })
        }
        Some(other) => exists(Some(other.status())),
    }
}

/// Appends to a history and lets its oldest events go.
pub fn record(history: &mut Vec<Event>, event: Event) {
    history.push(event);
    forget_oldest(history);
}

pub fn forget_oldest(history: &mut Vec<Event>) {
    let over = history.len().saturating_sub(HISTORY_MAX);
    history.drain(..over);
}
