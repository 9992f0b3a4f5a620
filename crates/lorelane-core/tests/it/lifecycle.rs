//! How a memory leaves recall and comes back, in the file as in the model.

use crate::support::*;
use lorelane_core::dialect::Dialect;
use lorelane_core::json::Json;
use lorelane_core::lifecycle::{Lifecycle, LifecycleVerb, Status};
use lorelane_core::memory::Memory;
use lorelane_core::time::{DAY, Timestamp};
use lorelane_core::transition::{self, TransitionResult, may_create_over, may_purge};

const RETIRED: Members<'static> = &[
    ("record_status", r#""retired""#),
    ("retired_at", r#""2025-06-01T00:00:00Z""#),
    ("retired_reason", r#""old""#),
];
const ARCHIVED: Members<'static> = &[
    ("record_status", r#""archived""#),
    ("archived_at", r#""2025-06-01T00:00:00Z""#),
    ("archived_reason", r#""kept""#),
];

fn stepped(memory: &Memory, verb: LifecycleVerb, reason: &str) -> Memory {
    match transition::apply(memory, verb, reason, NOW) {
        Ok(TransitionResult::Changed(after)) => *after,
        other => panic!("{other:?}"),
    }
}

/// The date of a memory's contents after revisions at `NOW`.
#[test]
fn a_change_of_status_does_not_make_a_memory_newer() {
    let created = Timestamp::parse("2025-01-01T00:00:00Z").map(|(at, _)| at);
    let later = Some(NOW);
    let old = decision(&[]);
    let table = [
        (set(&[("status", "proposed")]), created),
        (set(&[("decision", "Other tokens")]), later),
        (set(&[("status", "proposed"), ("decision", "Other tokens")]), later),
        (set(&[("title", "Use short JWT")]), later),
    ];
    for (draft, expected) in table {
        let (text, _) = revised(&old, &draft);
        let memory = read(&text);
        assert_eq!((memory.updated, memory.content_changed()), (later, expected), "{draft:?}");
    }
    let retired = stepped(&read(&old), LifecycleVerb::Retire, "");
    let restored = stepped(&retired, LifecycleVerb::Restore { from: None }, "");
    assert_eq!((restored.updated, restored.content_changed()), (later, created));
    // Somebody else changed the file since: nothing says that it was only the status.
    let elsewhere = Memory { updated: Some(Timestamp(NOW.0 + 60)), ..restored };
    assert_eq!(elsewhere.content_changed(), elsewhere.updated);
}

#[test]
fn every_step_changes_repeats_or_is_refused() {
    let from = |status| LifecycleVerb::Restore { from: status };
    let table = [
        (
            LifecycleVerb::Retire,
            ["retired", "already retired", "cannot retire `decision/use-jwt`: it is archived"],
        ),
        (
            LifecycleVerb::Archive,
            ["archived", "cannot archive `decision/use-jwt`: it is retired", "already archived"],
        ),
        (
            LifecycleVerb::ArchiveRetired,
            ["cannot archive `decision/use-jwt`: it is active", "archived", "already archived"],
        ),
        (from(None), ["already active", "active", "active"]),
        (
            from(Some(Status::Retired)),
            ["already active", "active", "cannot restore `decision/use-jwt`: it is archived"],
        ),
        (
            from(Some(Status::Archived)),
            [
                "cannot restore `decision/use-jwt`: it is active",
                "cannot restore `decision/use-jwt`: it is retired",
                "active",
            ],
        ),
    ];
    for (verb, expected) in table {
        for (members, expected) in [&[], RETIRED, ARCHIVED].into_iter().zip(expected) {
            let said = match transition::apply(&read(&decision(members)), verb, "why", NOW) {
                Ok(TransitionResult::Changed(after)) => after.lifecycle.status().to_string(),
                Ok(TransitionResult::Already(status)) => format!("already {status}"),
                Err(refusal) => refusal.to_string(),
            };
            assert_eq!(said, expected, "{verb:?}");
        }
    }
}

#[test]
fn a_step_is_told_in_the_history_in_the_scripts_words() {
    let table: &[(Members<'_>, LifecycleVerb, &str, &str)] = &[
        (&[], LifecycleVerb::Retire, "stale", "Retired: stale active->retired"),
        (&[], LifecycleVerb::Retire, "  ", "Retired: No reason provided active->retired"),
        (&[], LifecycleVerb::Archive, "done", "Archived: done active->archived"),
        (
            ARCHIVED,
            LifecycleVerb::Restore { from: None },
            "",
            "Unarchived: restored to active archived->active",
        ),
        (
            RETIRED,
            LifecycleVerb::Restore { from: None },
            "",
            "Restored: returned to active from retired retired->active",
        ),
        (RETIRED, LifecycleVerb::ArchiveRetired, "old", "Archived: old retired->archived"),
    ];
    for (members, verb, reason, expected) in table {
        let after = stepped(&read(&decision(members)), *verb, reason);
        let entry = &after.history.last().unwrap().0;
        let text = |key: &str| entry.at(key).and_then(Json::as_text).unwrap();
        assert_eq!(format!("{} {}->{}", text("summary"), text("old_value"), text("new_value")), *expected);
        assert_eq!((text("field"), text("date")), ("record_status", "2026-01-01T00:00:00Z"));
        assert_eq!((after.updated, after.revised), (Some(NOW), 0));
    }
}

#[test]
fn the_file_says_what_it_is_and_nothing_of_what_it_was() {
    let table: &[(Members<'_>, LifecycleVerb, Members<'_>)] = &[
        (
            &[],
            LifecycleVerb::Retire,
            &[
                ("record_status", "retired"),
                ("retired_at", "2026-01-01T00:00:00Z"),
                ("retired_reason", "why"),
            ],
        ),
        (
            &[],
            LifecycleVerb::Archive,
            &[
                ("record_status", "archived"),
                ("archived_at", "2026-01-01T00:00:00Z"),
                ("archived_reason", "why"),
            ],
        ),
        (
            RETIRED,
            LifecycleVerb::ArchiveRetired,
            &[
                ("record_status", "archived"),
                ("archived_at", "2026-01-01T00:00:00Z"),
                ("archived_reason", "why"),
            ],
        ),
        (RETIRED, LifecycleVerb::Restore { from: None }, &[("record_status", "active")]),
        (ARCHIVED, LifecycleVerb::Restore { from: None }, &[("record_status", "active")]),
    ];
    for (members, verb, expected) in table {
        let old = decision(members);
        let before = read(&old);
        let after = stepped(&before, *verb, "why");
        let text = put(&records(), Some(&old), Some(&before), Some(&after));
        let record = object(&text);
        let said: Vec<(&str, &str)> = record
            .iter()
            .filter(|(key, _)| {
                key.starts_with("retired") || key.starts_with("archived") || *key == "record_status"
            })
            .map(|(key, value)| (key, value.as_text().unwrap()))
            .collect();
        assert_eq!(said, *expected, "{verb:?}");
        assert_eq!(reading(&text).problems, [], "{verb:?}");
    }
}

// Row 12: the scripts stored what no update accepted any more.
#[test]
fn a_long_reason_is_cut_so_that_the_record_stays_valid() {
    let old = decision(&[]);
    let before = read(&old);
    let after = stepped(&before, LifecycleVerb::Retire, &"é".repeat(400));
    let Lifecycle::Retired { reason: Some(reason), .. } = &after.lifecycle else { panic!() };
    assert_eq!((reason.chars().count(), reason.ends_with('…')), (300, true));
    assert_eq!(after.history[0].summary().unwrap().chars().count(), 300);
    assert_eq!(reading(&put(&records(), Some(&old), Some(&before), Some(&after))).problems, []);
}

#[test]
fn a_full_history_lets_its_oldest_entry_go() {
    let mut memory = read(&decision(&[]));
    for round in 0..30 {
        memory = stepped(&memory, LifecycleVerb::Retire, &format!("round {round}"));
        memory = stepped(&memory, LifecycleVerb::Restore { from: None }, "");
    }
    assert_eq!(memory.history.len(), 50);
    assert_eq!(memory.history[0].summary(), Some("Retired: round 5"));
}

#[test]
fn only_active_memories_are_listed() {
    for (members, listed) in [(&[][..], true), (RETIRED, false), (ARCHIVED, false)] {
        assert_eq!(records().listing_line(&read(&decision(members))).is_some(), listed, "{members:?}");
    }
}

// Row 14: a naive `retired_at` or one of another type stopped the collection for all.
#[test]
fn an_odd_retirement_date_is_read_as_far_as_it_goes() {
    let table = [
        ("\"2025-06-01\"", Some("2025-06-01T00:00:00Z")),
        ("\"yesterday\"", None),
        ("5", None),
        ("null", None),
    ];
    for (at, expected) in table {
        let memory = read(&decision(&[("record_status", r#""retired""#), ("retired_at", at)]));
        let Lifecycle::Retired { at: read, .. } = memory.lifecycle else { panic!("{at}") };
        assert_eq!(read.map(|read| read.to_string()).as_deref(), expected, "{at}");
    }
}

#[test]
fn a_memory_of_unknown_status_is_a_problem_and_not_shown() {
    for status in ["\"lost\"", "5", "null"] {
        let reading = reading(&decision(&[("record_status", status)]));
        assert_eq!(reading.memory, None, "{status}");
        assert!(reading.problems[0].what.starts_with("record_status: Input should be 'active'"), "{status}");
    }
}

// An impossible date was read as the day it runs into (finding 13).
#[test]
fn a_date_that_does_not_exist_is_a_problem_and_the_rest_is_read() {
    let text = decision(&[
        ("created_at", r#""2026-02-31T00:00:00Z""#),
        ("record_status", r#""retired""#),
        ("retired_at", r#""2026-06-31""#),
    ]);
    let reading = reading(&text);
    let problems: Vec<&str> = reading.problems.iter().map(|problem| problem.what.as_str()).collect();
    let expected = [
        r#"created_at: String should be a date that exists (got "2026-02-31T00:00:00Z")"#,
        r#"retired_at: String should be a date that exists (got "2026-06-31")"#,
    ];
    assert_eq!(problems, expected);
    let memory = reading.memory.expect("a memory");
    assert_eq!((memory.created, memory.updated.is_some()), (None, true));
    assert_eq!(memory.lifecycle, Lifecycle::Retired { at: None, reason: None });
}

// Row 14: one such file killed rebuild, validate, health and gc.
#[test]
fn a_file_that_is_no_record_is_one_problem() {
    let records = records();
    let path = records.place(&address()).unwrap();
    let table: &[(&[u8], &str)] = &[
        (b"[1, 2]", "it is not a JSON object"),
        (b"\xff\xfe", "it is not UTF-8 from byte 0"),
        (b"", "it is not JSON: expected a value at line 1 column 1"),
        (b"null", "it is not a JSON object"),
    ];
    for (bytes, expected) in table {
        let reading = records.read(&path, bytes.to_vec());
        assert_eq!(reading.memory, None);
        let problems: Vec<&str> = reading.problems.iter().map(|problem| problem.what.as_str()).collect();
        assert_eq!(problems, [*expected]);
    }
}

#[test]
fn a_file_of_nothing_but_keys_is_one_problem() {
    let members: Vec<String> = (0..1_001).map(|n| format!("\"{n}\": 1")).collect();
    for text in
        [format!("{{{}}}", members.join(",")), format!("{{\"content\": [{{{}}}]}}", members.join(","))]
    {
        let reading = reading(&text);
        assert_eq!(reading.memory, None);
        assert_eq!(reading.problems[0].what, "it has an object of more than 1000 keys");
    }
}

#[test]
fn only_a_retired_memory_may_be_deleted() {
    let active = "cannot delete `decision/use-jwt`: it is active; retire it first with `lorelane retire decision/use-jwt`";
    let archived = "cannot delete `decision/use-jwt`: it is archived; restore it with `lorelane restore decision/use-jwt`, then retire it with `lorelane retire decision/use-jwt`";
    for (members, expected) in [(&[][..], active), (RETIRED, "yes"), (ARCHIVED, archived)] {
        let memory = read(&decision(members));
        let said = match may_purge(&memory) {
            Ok(()) => "yes".to_owned(),
            Err(refusal) => format!("{refusal}; {}", refusal.hint()),
        };
        assert_eq!(said, expected, "{members:?}");
        assert!(
            transition::apply(&memory, LifecycleVerb::Delete, "", NOW).is_err(),
            "deleting is no step: nothing is left to return"
        );
    }
}

#[test]
fn only_what_was_retired_a_day_ago_makes_room_for_a_new_memory() {
    let ago = |seconds: i64| Lifecycle::Retired { at: Some(Timestamp(NOW.0 - seconds)), reason: None };
    let table = [
        (Some(Lifecycle::Active), "cannot create `decision/use-jwt`: it already exists (active)"),
        (
            Some(Lifecycle::Archived { at: Some(Timestamp(0)), reason: None }),
            "cannot create `decision/use-jwt`: it already exists (archived)",
        ),
        (Some(ago(DAY)), "yes"),
        (Some(ago(900 * DAY)), "yes"),
        (
            Some(ago(DAY - 1)),
            "cannot create `decision/use-jwt`: it was retired at 2025-12-31T00:00:01Z, less than 24 hours ago",
        ),
        (
            Some(ago(-1)),
            "cannot create `decision/use-jwt`: it was retired at 2026-01-01T00:00:01Z, less than 24 hours ago",
        ),
        (
            Some(Lifecycle::Retired { at: None, reason: None }),
            "cannot create `decision/use-jwt`: it was retired, and its file does not say when",
        ),
        (None, "cannot create `decision/use-jwt`: a file with that name exists and cannot be read"),
    ];
    for (lifecycle, expected) in table {
        let memory = lifecycle.clone().map(|lifecycle| Memory { lifecycle, ..read(&decision(&[])) });
        let said = match may_create_over(&address(), memory.as_ref(), NOW) {
            Ok(()) => "yes".to_owned(),
            Err(refusal) => refusal.to_string(),
        };
        assert_eq!(said, expected, "{lifecycle:?}");
    }
}
