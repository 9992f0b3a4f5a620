//! Forgetting in time: expiry, garbage collection, and the window of session summaries. All of it returns
//! plans; nothing here deletes.

use crate::change::{Change, Notice};
use crate::corpus::Entry;
use crate::json::Json;
use crate::lifecycle::{Status, Verb};
use crate::memory::{Body, Category, Memory};
use crate::policy::Policy;
use crate::text::words;
use crate::time::Timestamp;
use std::collections::{BTreeSet, HashMap};

pub const WINDOW_REASON: &str = "Session rolling window: exceeded max_retained limit";

/// Whether a memory is past the retention of its category.
pub fn expired(entry: &Entry, policy: &Policy, now: Timestamp) -> bool {
    let Some(days) = policy.retention_days(entry.category) else { return false };
    let touched = entry.updated.or(entry.created);
    entry.status == Status::Active && touched.is_some_and(|touched| now.days_since(touched) >= days)
}

/// What garbage collection does.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Collection {
    pub changes: Vec<Change>,
    /// Retired memories that do not say since when.
    pub undated: Vec<Entry>,
    /// The removed or archived ones, with the days since they were retired.
    pub over: Vec<(Entry, i64)>,
    pub expired: Vec<Entry>,
}

/// Retired memories past their grace are deleted or archived; expired ones are retired.
pub fn collect<'e>(entries: impl Iterator<Item = &'e Entry>, policy: &Policy, now: Timestamp) -> Collection {
    let mut collection = Collection::default();
    for entry in entries {
        let address = entry.address.clone();
        match (entry.status, entry.status_at) {
            (Status::Retired, None) => collection.undated.push(entry.clone()),
            (Status::Retired, Some(at)) if now.days_since(at) >= policy.grace_period_days() => {
                collection.over.push((entry.clone(), now.days_since(at)));
                collection.changes.push(if policy.archive_retired() {
                    let reason = "Grace period over: kept because delete.archive_retired is set".to_owned();
                    Change::Step { address, verb: Verb::Shelve, reason }
                } else {
                    Change::Purge { address }
                });
            }
            (Status::Active, _) if expired(entry, policy, now) => {
                collection.expired.push(entry.clone());
                let days = policy.retention_days(entry.category).unwrap_or_default();
                let reason = format!(
                    "Expired: not changed for {days} days (categories.{}.retention_days)",
                    entry.category
                );
                collection.changes.push(Change::Step { address, verb: Verb::Retire, reason });
            }
            _ => {}
        }
    }
    collection
}

/// The oldest sessions that leave when a new one comes, and what would be forgotten with them.
///
/// `sessions` are the active ones without the new one; `entries` are all memories.
pub fn close_window(
    sessions: &[Memory],
    entries: &[Entry],
    new_session: &Memory,
    policy: &Policy,
) -> (Vec<Change>, Vec<Notice>) {
    let mut oldest_first: Vec<&Memory> = sessions.iter().collect();
    oldest_first.sort_by(|a, b| a.created.cmp(&b.created).then_with(|| a.address.cmp(&b.address)));
    let over = (sessions.len() + 1).saturating_sub(policy.max_retained_sessions());
    let (leaving, staying) = oldest_first.split_at(over.min(oldest_first.len()));
    let mut changes = Vec::new();
    let mut notices = Vec::new();
    if leaving.is_empty() {
        return (changes, notices);
    }
    let others: Vec<&Memory> = staying.iter().copied().chain([new_session]).collect();
    let remembered = remembered(entries, &others);
    for session in leaving {
        let unique: Vec<String> =
            items(session).into_iter().filter(|item| !remembered.captures(item)).collect();
        if !unique.is_empty() {
            notices.push(Notice::Leaving { session: session.address.name().to_owned(), items: unique });
        }
        let reason = WINDOW_REASON.to_owned();
        changes.push(Change::Step { address: session.address.clone(), verb: Verb::Retire, reason });
    }
    (changes, notices)
}

/// What a session did, met and left to do.
fn items(session: &Memory) -> Vec<String> {
    let Body::Fields(content) = &session.body;
    ["completed", "blockers", "next_actions"]
        .iter()
        .flat_map(|key| content.get(key).map(Json::to_texts).unwrap_or_default())
        .collect()
}

/// What active memories say, by word: each is tokenised once, however much a leaving session did.
#[derive(Default)]
struct Remembered {
    holders: HashMap<String, Vec<usize>>,
    count: usize,
}

impl Remembered {
    fn add(&mut self, text: &str) {
        for word in words(text).into_iter().collect::<BTreeSet<String>>() {
            self.holders.entry(word).or_default().push(self.count);
        }
        self.count += 1;
    }

    /// Half of an item's words stand in the title and tags of one active memory, or in one other active session.
    fn captures(&self, item: &str) -> bool {
        let wanted: BTreeSet<String> = words(item).into_iter().collect();
        let mut shared: HashMap<usize, usize> = HashMap::new();
        let mut holders = wanted.iter().filter_map(|word| self.holders.get(word)).flatten();
        wanted.is_empty()
            || holders.any(|holder| {
                let shared = shared.entry(*holder).or_default();
                *shared += 1;
                2 * *shared >= wanted.len()
            })
    }
}

fn remembered(entries: &[Entry], sessions: &[&Memory]) -> Remembered {
    let mut remembered = Remembered::default();
    for session in sessions {
        remembered.add(&format!("{}\n{}", session.title, session.body.prose()));
    }
    for entry in entries {
        if entry.status == Status::Active && entry.category != Category::SessionSummary {
            remembered.add(&format!("{}\n{}", entry.title, entry.tags.join(" ")));
        }
    }
    remembered
}
