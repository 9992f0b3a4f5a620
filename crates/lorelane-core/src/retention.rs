//! Expiry, garbage collection, and the window of session summaries. Returns changes; nothing here deletes.

use crate::change::{Change, Notice};
use crate::corpus::MemorySummary;
use crate::json::Json;
use crate::lifecycle::{LifecycleVerb, Status};
use crate::memory::{Category, Memory, MemoryKind};
use crate::policy::Policy;
use crate::text::words;
use crate::time::Timestamp;
use std::collections::BTreeSet;

pub const WINDOW_REASON: &str = "Session rolling window: exceeded max_retained limit";

/// Whether a memory is past the retention of its category, counted from its last change and not its creation.
pub fn expired(entry: &MemorySummary, policy: &Policy, now: Timestamp) -> bool {
    let Some(days) = entry.kind.category().and_then(|category| policy.retention_days(category)) else {
        return false;
    };
    let touched = entry.changed();
    entry.status == Status::Active && touched.is_some_and(|touched| now.days_since(touched) >= days)
}

/// The result of garbage collection.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GarbageCollection {
    pub changes: Vec<Change>,
    /// Retired memories without a date. They stay: their grace period cannot be computed.
    pub undated: Vec<MemorySummary>,
    /// Memories to delete or archive, with the days since they were retired.
    pub over: Vec<(MemorySummary, i64)>,
    pub expired: Vec<MemorySummary>,
}

/// Plans garbage collection: retired memories past their grace period are deleted or archived, expired ones are
/// retired.
pub fn collect<'e>(
    entries: impl Iterator<Item = &'e MemorySummary>,
    policy: &Policy,
    now: Timestamp,
) -> GarbageCollection {
    let mut collection = GarbageCollection::default();
    for entry in entries {
        let address = entry.address.clone();
        match (entry.status, entry.status_at) {
            // Without a date nothing is deleted: the cautious choice.
            (Status::Retired, None) => collection.undated.push(entry.clone()),
            (Status::Retired, Some(at)) if now.days_since(at) >= policy.grace_period_days() => {
                collection.over.push((entry.clone(), now.days_since(at)));
                collection.changes.push(if policy.archive_retired() {
                    let reason = "Grace period over: kept because delete.archive_retired is set".to_owned();
                    Change::Transition { address, verb: LifecycleVerb::ArchiveRetired, reason }
                } else {
                    Change::Delete { address }
                });
            }
            (Status::Active, _) if expired(entry, policy, now) => {
                collection.expired.push(entry.clone());
                let days = entry
                    .kind
                    .category()
                    .and_then(|category| policy.retention_days(category))
                    .unwrap_or_default();
                let reason = format!(
                    "Expired: not changed for {days} days (categories.{}.retention_days)",
                    entry.kind
                );
                collection.changes.push(Change::Transition { address, verb: LifecycleVerb::Retire, reason });
            }
            _ => {}
        }
    }
    collection
}

/// Whether an item of a leaving session may count as captured in this memory's title and tags. Other sessions are
/// checked separately, by their whole text.
pub fn remembers(kind: MemoryKind, status: Status) -> bool {
    status == Status::Active && kind != MemoryKind::Record(Category::SessionSummary)
}

/// Retires the oldest sessions beyond `max_retained` when a new one is added, with a notice for each item that no
/// other memory contains.
///
/// `sessions` are the active ones without the new one. `shared_by_one` returns the largest number of these words
/// in title and tags of any single memory that [`remembers`] accepts.
pub fn close_window<E>(
    sessions: &[Memory],
    new_session: &Memory,
    policy: &Policy,
    mut shared_by_one: impl FnMut(&BTreeSet<String>) -> Result<usize, E>,
) -> Result<(Vec<Change>, Vec<Notice>), E> {
    let mut oldest_first: Vec<&Memory> = sessions.iter().collect();
    // Ties go by address, so that the result does not depend on the order in which files are read.
    oldest_first.sort_by(|a, b| a.created.cmp(&b.created).then_with(|| a.address.cmp(&b.address)));
    let over = (sessions.len() + 1).saturating_sub(policy.max_retained_sessions());
    let (leaving, staying) = oldest_first.split_at(over.min(oldest_first.len()));
    let mut changes = Vec::new();
    let mut notices = Vec::new();
    if leaving.is_empty() {
        return Ok((changes, notices));
    }
    let said: Vec<BTreeSet<String>> = staying.iter().copied().chain([new_session]).map(said).collect();
    for session in leaving {
        let mut unique = Vec::new();
        for item in items(session) {
            let wanted: BTreeSet<String> = words(&item).into_iter().collect();
            let in_one_session =
                said.iter().map(|said| wanted.intersection(said).count()).max().unwrap_or_default();
            if !captured(&wanted, in_one_session) && !captured(&wanted, shared_by_one(&wanted)?) {
                unique.push(item);
            }
        }
        if !unique.is_empty() {
            notices.push(Notice::Leaving { session: session.address.name().to_owned(), items: unique });
        }
        let reason = WINDOW_REASON.to_owned();
        changes.push(Change::Transition {
            address: session.address.clone(),
            verb: LifecycleVerb::Retire,
            reason,
        });
    }
    Ok((changes, notices))
}

/// Whether at least half of an item's words are in one place: title and tags of one memory, or one other session.
fn captured(wanted: &BTreeSet<String>, in_one: usize) -> bool {
    2 * in_one >= wanted.len()
}

/// All the words of a session.
fn said(session: &Memory) -> BTreeSet<String> {
    words(&format!("{}\n{}", session.title, session.body.prose())).into_iter().collect()
}

/// The items of a session that are worth keeping: done, blocked, and next.
fn items(session: &Memory) -> Vec<String> {
    ["completed", "blockers", "next_actions"]
        .iter()
        .flat_map(|key| session.body.field(key).map(Json::to_texts).unwrap_or_default())
        .collect()
}
