//! The transitions between active, retired and archived, and what may be deleted or overwritten.

use crate::dialect::records::fields::{self, FieldType};
use crate::lifecycle::{Lifecycle, LifecycleVerb, REASON_MAX, Status};
use crate::memory::{Address, HistoryEntry, Memory, add_to_history};
use crate::refusal::Refusal;
use crate::text::cut;
use crate::time::{DAY, Timestamp};
use crate::validity::NotCurrent;

/// A retired memory cannot be created again for this long, so that automatic capture does not bring it right back.
const RESURRECTION_PAUSE: i64 = DAY;
const NO_REASON: &str = "No reason provided";

/// The memory after a transition, or the status it already had.
#[derive(Clone, Debug, PartialEq)]
pub enum TransitionResult {
    Changed(Box<Memory>),
    Already(Status),
}

/// Applies a transition. Asking for the current status is not an error.
pub fn apply(
    memory: &Memory,
    verb: LifecycleVerb,
    reason: &str,
    now: Timestamp,
) -> Result<TransitionResult, Refusal> {
    let status = memory.lifecycle.status();
    let refused = || Refusal::Lifecycle { address: memory.address.clone(), verb, status };
    let reason = if reason.trim().is_empty() { NO_REASON } else { reason.trim() };
    let (lifecycle, summary) = match (verb, status) {
        (LifecycleVerb::Retire, Status::Active) => (
            Lifecycle::Retired { at: Some(now), reason: Some(cut(reason, REASON_MAX)) },
            format!("Retired: {reason}"),
        ),
        (LifecycleVerb::Archive, Status::Active) | (LifecycleVerb::ArchiveRetired, Status::Retired) => (
            Lifecycle::Archived { at: Some(now), reason: Some(cut(reason, REASON_MAX)) },
            format!("Archived: {reason}"),
        ),
        (LifecycleVerb::Restore { from }, Status::Retired | Status::Archived)
            if from.is_none_or(|from| from == status) =>
        {
            let summary = match status {
                Status::Archived => "Unarchived: restored to active",
                _ => "Restored: returned to active from retired",
            };
            (Lifecycle::Active, summary.to_owned())
        }
        // Repeating a transition is not an error: the memory already is as asked.
        (LifecycleVerb::Retire, Status::Retired)
        | (LifecycleVerb::Archive | LifecycleVerb::ArchiveRetired, Status::Archived)
        | (LifecycleVerb::Restore { from: None | Some(Status::Retired) }, Status::Active) => {
            return Ok(TransitionResult::Already(status));
        }
        _ => return Err(refused()),
    };
    let mut after = memory.clone();
    let (old, new) = (status.name().into(), lifecycle.status().name().into());
    after.lifecycle = lifecycle;
    // A note's file has no history; the journal is its history. Without one, a new date would make what it says
    // look new, so it keeps its own.
    if memory.kind.category().is_some() {
        after.updated = Some(now);
        add_to_history(
            &mut after.history,
            HistoryEntry::new(now, &cut(&summary, REASON_MAX)).with("record_status", old, new),
        );
    }
    Ok(TransitionResult::Changed(Box::new(after)))
}

/// Rejects a successor that does not hold itself: readers would be sent from one outdated memory to another.
pub fn may_supersede(address: &Address, by: &Memory, now: Timestamp) -> Result<(), Refusal> {
    let refused =
        |why: String| Err(Refusal::Successor { address: address.clone(), by: by.address.clone(), why });
    match (by.lifecycle.status(), by.validity.at(now)) {
        _ if by.address == *address => refused("a memory cannot replace itself".to_owned()),
        (status @ (Status::Retired | Status::Archived), _) => refused(format!("the latter is {status}")),
        (Status::Active, Some(rule)) => refused(format!("the latter is not current: {}", rule.says())),
        (Status::Active, None) => Ok(()),
    }
}

/// Whether the status of a memory's category can say that it is superseded.
pub fn has_superseded_status(memory: &Memory) -> bool {
    match memory.kind.category().and_then(|category| fields::find(category, "content.status")) {
        Some((_, FieldType::Choice(choices))) => choices.contains(&NotCurrent::Superseded.name()),
        _ => false,
    }
}

/// Only a retired memory may be deleted: an active one is in use, and an archived one is meant to be kept.
pub fn may_purge(memory: &Memory) -> Result<(), Refusal> {
    match memory.lifecycle.status() {
        Status::Retired => Ok(()),
        status => {
            Err(Refusal::Lifecycle { address: memory.address.clone(), verb: LifecycleVerb::Delete, status })
        }
    }
}

/// Whether a new memory may overwrite the file at its address; `None` is a file that cannot be read.
///
/// An active or archived memory is never overwritten, and a retired one only after 24 hours.
pub fn may_create_over(address: &Address, existing: Option<&Memory>, now: Timestamp) -> Result<(), Refusal> {
    let exists = |status| Err(Refusal::Exists { address: address.clone(), status });
    match existing.map(|memory| &memory.lifecycle) {
        None => exists(None),
        Some(Lifecycle::Retired { at: Some(at), .. }) if now.0 - at.0 >= RESURRECTION_PAUSE => Ok(()),
        // Retired at an unknown time counts as too soon: the cautious choice.
        Some(Lifecycle::Retired { at, .. }) => {
            Err(Refusal::TooSoon { address: address.clone(), retired_at: *at })
        }
        Some(other) => exists(Some(other.status())),
    }
}
