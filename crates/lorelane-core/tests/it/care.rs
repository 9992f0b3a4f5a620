//! Forgetting in time: what garbage collection does, and which sessions leave the window.

use crate::support::{Members, NOW, json, lines};
use lorelane_core::change::{Change, Notice};
use lorelane_core::corpus::MemorySummary;
use lorelane_core::dialect::Dialect;
use lorelane_core::json::Json;
use lorelane_core::lifecycle::{Lifecycle, LifecycleVerb};
use lorelane_core::memory::{Address, Body, Category, Memory, MemoryKind};
use lorelane_core::policy::{ConfigFile, ConfigSource, ConfigValue, Policy};
use lorelane_core::retention::{self, WINDOW_REASON, collect, expired, remembers};
use lorelane_core::text::words;
use lorelane_core::time::{DAY, Timestamp};
use std::collections::BTreeSet;
use std::convert::Infallible;

fn policy(settings: Members<'_>) -> Policy {
    let given: Vec<ConfigValue> = settings
        .iter()
        .map(|(key, value)| ConfigValue {
            key: (*key).to_owned(),
            value: json(value),
            file: "f".to_owned(),
            home: ConfigFile::Records,
            source: ConfigSource::Project,
        })
        .collect();
    let policy = Policy::settle(&given, Vec::new()).trusting();
    assert_eq!(policy.problems, []);
    policy
}

fn days_ago(days: i64) -> Option<Timestamp> {
    Some(Timestamp(NOW.0 - days * DAY))
}

fn memory(category: Category, title: &str, content: &str) -> Memory {
    let Json::Object(content) = json(content) else { panic!("{content}") };
    Memory {
        address: Address::for_title(category, title),
        kind: MemoryKind::Record(category),
        title: title.to_owned(),
        body: Body::Fields(content),
        tags: Vec::new(),
        links: Vec::new(),
        about: Vec::new(),
        lifecycle: Lifecycle::Active,
        validity: Default::default(),
        confidence: None,
        created: None,
        updated: None,
        history: Vec::new(),
        revised: 0,
        extra: Default::default(),
    }
}

fn entry(memory: &Memory) -> MemorySummary {
    MemorySummary::of(memory, &crate::support::records().place(&memory.address).expect("a place"))
}

fn said(changes: &[Change]) -> Vec<String> {
    changes
        .iter()
        .map(|change| match change {
            Change::Delete { address } => format!("purge {address}"),
            Change::Transition { address, verb: LifecycleVerb::ArchiveRetired, .. } => {
                format!("shelve {address}")
            }
            Change::Transition { address, verb, reason } => format!("{} {address}: {reason}", verb.name()),
            other => panic!("{other:?}"),
        })
        .collect()
}

#[test]
fn a_retired_memory_goes_when_its_grace_is_over() {
    let grace = ("delete.grace_period_days", "10");
    let keep = ("delete.archive_retired", "true");
    let table: &[(Members<'_>, Option<i64>, &[&str])] = &[
        (&[], Some(29), &[]),
        (&[], Some(30), &["purge decision/x"]),
        (&[grace], Some(9), &[]),
        (&[grace], Some(10), &["purge decision/x"]),
        (&[("delete.grace_period_days", "0")], Some(0), &["purge decision/x"]),
        (&[("delete.grace_period_days", "0")], Some(-1), &[]),
        (&[("delete.archive_retired", "false")], Some(30), &["purge decision/x"]),
        (&[keep], Some(29), &[]),
        (&[keep], Some(30), &["shelve decision/x"]),
        (&[], None, &[]),
    ];
    for (settings, days, expected) in table {
        let mut memory = memory(Category::Decision, "x", "{}");
        memory.lifecycle = Lifecycle::Retired { at: days.and_then(days_ago), reason: None };
        let entry = entry(&memory);
        let collection = collect([&entry].into_iter(), &policy(settings), NOW);
        assert_eq!(said(&collection.changes), *expected, "{settings:?} after {days:?}");
        assert_eq!(collection.undated.len(), usize::from(days.is_none()));
        assert_eq!(
            collection.over.iter().map(|(_, days)| *days).collect::<Vec<_>>(),
            days.filter(|_| !expected.is_empty()).into_iter().collect::<Vec<_>>()
        );
    }
}

#[test]
fn whole_days_count() {
    let mut memory = memory(Category::Decision, "x", "{}");
    let almost = Timestamp(NOW.0 - 30 * DAY + 1);
    memory.lifecycle = Lifecycle::Retired { at: Some(almost), reason: None };
    assert_eq!(collect([&entry(&memory)].into_iter(), &policy(&[]), NOW).changes, []);
}

#[test]
fn archived_memories_are_kept_for_good() {
    let mut memory = memory(Category::Decision, "x", "{}");
    memory.lifecycle = Lifecycle::Archived { at: days_ago(9999), reason: None };
    assert_eq!(collect([&entry(&memory)].into_iter(), &policy(&[]), NOW), Default::default());
}

#[test]
fn a_memory_expires_after_its_last_change_and_is_retired_first() {
    let week = ("categories.decision.retention_days", "7");
    let table: &[(Members<'_>, Category, [Option<i64>; 2], bool)] = &[
        (&[], Category::Decision, [Some(9999), Some(9999)], false),
        (&[week], Category::Decision, [Some(99), Some(6)], false),
        (&[week], Category::Decision, [Some(99), Some(7)], true),
        (&[week], Category::Decision, [Some(7), None], true),
        (&[week], Category::Decision, [None, None], false),
        (&[week], Category::Runbook, [Some(99), Some(99)], false),
        (&[], Category::SessionSummary, [Some(90), Some(89)], false),
        (&[], Category::SessionSummary, [Some(99), Some(90)], true),
    ];
    for (settings, category, [created, updated], expected) in table {
        let mut memory = memory(*category, "x", "{}");
        (memory.created, memory.updated) = (created.and_then(days_ago), updated.and_then(days_ago));
        let (entry, policy) = (entry(&memory), policy(settings));
        let row = format!("{settings:?} {category} {created:?} {updated:?}");
        assert_eq!(expired(&entry, &policy, NOW), *expected, "{row}");
        let collection = collect([&entry].into_iter(), &policy, NOW);
        assert_eq!(collection.expired.len(), usize::from(*expected), "{row}");
        if *category == Category::Decision && *expected {
            let retired =
                "retire decision/x: Expired: not changed for 7 days (categories.decision.retention_days)";
            assert_eq!(said(&collection.changes), [retired]);
        }
    }
}

fn session(title: &str, created: i64, completed: &str) -> Memory {
    let content =
        format!(r#"{{"goal": "g", "completed": [{completed}], "blockers": [], "next_actions": []}}"#);
    Memory { created: days_ago(created), ..memory(Category::SessionSummary, title, &content) }
}

fn close_window(
    sessions: &[Memory],
    entries: &[MemorySummary],
    new: &Memory,
    policy: &Policy,
) -> (Vec<Change>, Vec<Notice>) {
    let names: Vec<BTreeSet<String>> = entries
        .iter()
        .filter(|entry| remembers(entry.kind, entry.status))
        .map(|entry| words(&format!("{}\n{}", entry.title, entry.tags.join(" "))).into_iter().collect())
        .collect();
    let shared_by_one = |wanted: &BTreeSet<String>| {
        let shared = names.iter().map(|name| name.intersection(wanted).count());
        Ok::<usize, Infallible>(shared.max().unwrap_or_default())
    };
    let Ok(closed) = retention::close_window(sessions, new, policy, shared_by_one);
    closed
}

#[test]
fn the_oldest_sessions_leave_when_the_window_is_full() {
    let sessions: Vec<Memory> = (0..4).map(|n| session(&format!("s{n}"), 10 - n, "")).collect();
    let new = session("new", 0, "");
    let table = [("5", 0), ("4", 1), ("1", 4)];
    for (max, leaving) in table {
        let policy = policy(&[("categories.session_summary.max_retained", max)]);
        let (changes, notices) = close_window(&sessions, &[], &new, &policy);
        let expected: Vec<String> =
            (0..leaving).map(|n| format!("retire session_summary/s{n}: {WINDOW_REASON}")).collect();
        assert_eq!(said(&changes), expected, "at most {max}");
        assert_eq!(notices, []);
    }
}

// Every memory was asked for every item of a leaving session, and later every memory once per session.
#[test]
fn one_question_is_asked_for_each_item_of_a_leaving_session() {
    let items: Vec<String> = (0..300).map(|number| format!("\"did thing{number} quickly\"")).collect();
    let old = session("old", 9, &items.join(", "));
    let policy = policy(&[("categories.session_summary.max_retained", "1")]);
    let mut asked = 0;
    let shared_by_one = |_: &BTreeSet<String>| {
        asked += 1;
        Ok::<usize, Infallible>(0)
    };
    let Ok(_) =
        retention::close_window(std::slice::from_ref(&old), &session("new", 0, ""), &policy, shared_by_one);
    assert_eq!(asked, items.len());
}

#[test]
fn a_leaving_session_names_what_nothing_else_remembers() {
    let old = session(
        "old",
        9,
        r#""Moved login tokens to Redis", "Deleted flaky importer", "Renamed worker queue""#,
    );
    let table: &[(&str, Memory, &[&str])] = &[
        (
            "nothing",
            memory(Category::Decision, "Something else", "{}"),
            &["Moved login tokens to Redis", "Deleted flaky importer", "Renamed worker queue"],
        ),
        (
            "half of the words in a title",
            memory(Category::Decision, "Login tokens live in Redis", "{}"),
            &["Deleted flaky importer", "Renamed worker queue"],
        ),
        (
            "less than half",
            memory(Category::Decision, "Redis", "{}"),
            &["Moved login tokens to Redis", "Deleted flaky importer", "Renamed worker queue"],
        ),
        (
            "tags count, too",
            Memory {
                tags: vec!["redis".to_owned(), "login".to_owned()],
                ..memory(Category::Runbook, "x", "{}")
            },
            &["Deleted flaky importer", "Renamed worker queue"],
        ),
        (
            "a retired memory remembers nothing",
            Memory {
                lifecycle: Lifecycle::Retired { at: None, reason: None },
                ..memory(Category::Decision, "Login tokens live in Redis", "{}")
            },
            &["Moved login tokens to Redis", "Deleted flaky importer", "Renamed worker queue"],
        ),
    ];
    let policy = policy(&[("categories.session_summary.max_retained", "1")]);
    for (what, other, expected) in table {
        let new = session("new", 0, "");
        let (_, notices) =
            close_window(std::slice::from_ref(&old), &[entry(other), entry(&old)], &new, &policy);
        let said = format!(
            "[WARN] Session old contains unique content not captured elsewhere: {}. Consider saving these before retirement.",
            expected.join("; ")
        );
        assert_eq!(lines(&notices), [said], "{what}");
    }
}

#[test]
fn what_a_staying_or_the_new_session_repeats_is_captured() {
    let old = session("old", 9, r#""Moved login tokens to Redis""#);
    let again = r#""Login tokens: moved them""#;
    let one = policy(&[("categories.session_summary.max_retained", "1")]);
    let two = policy(&[("categories.session_summary.max_retained", "2")]);
    let new = session("new", 0, again);
    assert_eq!(close_window(std::slice::from_ref(&old), &[], &new, &one).1, []);
    let staying = [old.clone(), session("staying", 5, again)];
    assert_eq!(close_window(&staying, &[], &session("new", 0, ""), &two).1, []);
    // One that leaves as well keeps nothing.
    assert_eq!(close_window(&staying, &[], &session("new", 0, ""), &one).1.len(), 2);
}
