//! Whether new information belongs to a memory that exists.

use crate::support::{NOW, json, record_of, records, text};
use lorelane_core::candidate::{self, Action, UpdateCandidate, decide};
use lorelane_core::corpus::MemorySummary;
use lorelane_core::dialect::Dialect;
use lorelane_core::json::{Json, JsonFormat, to_string};
use lorelane_core::memory::{Address, Body, Category, Memory};
use lorelane_core::recall::{self, Hit, Query};

fn memory(category: Category, members: &[(&str, &str)]) -> Memory {
    let records = records();
    let path = records.place(&Address::record(category, "use-jwt")).expect("a place");
    records.read(&path, text(&record_of(category, members)).as_bytes().to_vec()).memory.expect("a memory")
}

fn found(category: Category) -> UpdateCandidate {
    UpdateCandidate { path: ".claude/memory/x.json".to_owned(), memory: memory(category, &[]), score: 4 }
}

#[test]
fn action_vetoes_and_hints_follow_from_category_candidate_and_event() {
    const FREE: [Category; 3] = [Category::Runbook, Category::Constraint, Category::TechDebt];
    for category in Category::ALL {
        let free = FREE.contains(&category);
        let said = "1 candidate found (score=4)".to_owned();
        let deletes = if free {
            "lifecycle_event=resolved suggests DELETE if eligible".to_owned()
        } else {
            format!("lifecycle_event=resolved present but DELETE disallowed for {category}; consider UPDATE")
        };
        let noop = "lifecycle_event=resolved with no matching candidate; NOOP".to_owned();
        let structural = if free { "UPDATE_OR_DELETE" } else { "UPDATE" };
        let table = [
            (false, None, Some("CREATE"), "CREATE", vec![]),
            (false, Some("resolved"), Some("NOOP"), "NOOP", vec![noop]),
            (true, None, None, structural, vec![said.clone()]),
            (true, Some("resolved"), None, structural, vec![said, deletes]),
        ];
        for (exists, event, pre_action, structural, hints) in table {
            let verdict = decide(category, exists.then(|| found(category)), event);
            let row = format!("{category} {exists} {event:?}");
            let actions = (verdict.pre_action.map(Action::name), verdict.structural.name());
            assert_eq!(actions, (pre_action, structural), "{row}");
            assert!(verdict.vetoes.iter().all(|(action, _)| *action != verdict.structural), "{row}");
            assert_eq!((verdict.delete_allowed, &verdict.hints), (free, &hints), "{row}");
        }
    }
}

#[test]
fn two_bodies_that_say_the_same_in_another_order_are_one_statement() {
    let body = |text: &str| Body::Fields(json(text).as_object().expect("an object").clone());
    let one = body(r#"{"a": "x", "b": ["y", "z"], "c": {"d": "1", "e": "2"}, "n": 7}"#);
    assert_eq!(
        one.statement(),
        body(r#"{"c": {"e": "2", "d": "1"}, "b": ["y", "z"], "a": "x"}"#).statement()
    );
    assert_ne!(
        one.statement(),
        body(r#"{"c": {"e": "1", "d": "2"}, "b": ["y", "z"], "a": "x"}"#).statement()
    );
}

// Row 19: a veto against deleting was listed with every update, and agents are instructed to stop at a veto.
#[test]
fn a_decision_can_be_updated_though_not_deleted() {
    for category in [Category::Decision, Category::Preference, Category::SessionSummary] {
        let document = Json::of(&decide(category, Some(found(category)), None));
        assert_eq!(document.at("structural_cud"), Some(&Json::text("UPDATE")));
        assert_eq!(document.at("vetoes"), Some(&json("[]")));
        let veto = Json::texts([format!("Cannot DELETE {category} (triage-initiated)")]);
        assert_eq!(document.at("vetoes_by_action.DELETE"), Some(&veto));
    }
    let free = Json::of(&decide(Category::Runbook, Some(found(Category::Runbook)), None));
    assert_eq!(free.at("vetoes_by_action"), Some(&json("{}")));
}

#[test]
fn the_document_has_the_keys_and_the_order_that_agents_know() {
    let verdict = decide(Category::Decision, Some(found(Category::Decision)), Some("reversed"));
    let expected = r#"{
  "candidate": {
    "path": ".claude/memory/x.json",
    "title": "Use JWT",
    "tags": [
      "auth"
    ],
    "excerpt": {
      "title": "Use JWT",
      "record_status": "active",
      "tags": [
        "auth"
      ],
      "last_change_summary": "Initial creation",
      "key_fields": {
        "context": "c",
        "decision": "d",
        "rationale": "r"
      }
    }
  },
  "lifecycle_event": "reversed",
  "delete_allowed": false,
  "pre_action": null,
  "structural_cud": "UPDATE",
  "vetoes": [],
  "hints": [
    "1 candidate found (score=4)",
    "lifecycle_event=reversed present but DELETE disallowed for decision; consider UPDATE"
  ],
  "vetoes_by_action": {
    "DELETE": [
      "Cannot DELETE decision (triage-initiated)"
    ]
  }
}"#;
    assert_eq!(to_string(&verdict, JsonFormat::SCRIPT), expected);
    let nothing = to_string(&decide(Category::Decision, None, None), JsonFormat::SCRIPT_LINE);
    assert_eq!(
        nothing,
        r#"{"candidate": null, "lifecycle_event": null, "delete_allowed": false, "pre_action": "CREATE", "structural_cud": "CREATE", "vetoes": [], "hints": [], "vetoes_by_action": {}}"#
    );
}

#[test]
fn an_excerpt_shows_the_key_fields_of_its_category() {
    let table = [
        (Category::SessionSummary, r#"{"goal": "g", "outcome": "success"}"#),
        (Category::Decision, r#"{"context": "c", "decision": "d", "rationale": "r"}"#),
        (Category::Runbook, r#"{"trigger": "t"}"#),
        (Category::Constraint, r#"{"rule": "r", "impact": "i"}"#),
        (Category::TechDebt, r#"{"description": "d", "reason_deferred": "r"}"#),
        (Category::Preference, r#"{"topic": "t", "value": "v", "reason": "r"}"#),
    ];
    for (category, expected) in table {
        let document = Json::of(&decide(category, Some(found(category)), None));
        assert_eq!(document.at("candidate.excerpt.key_fields"), Some(&json(expected)), "{category}");
    }
}

#[test]
fn an_excerpt_is_the_first_two_hundred_characters() {
    let content = format!(
        r#"{{"status": "accepted", "context": "{}", "decision": "d", "rationale": ["{}", "b"]}}"#,
        "é".repeat(201),
        "a".repeat(197)
    );
    let changes = r#"[{"date": "d", "summary": "first"}, {"date": "d", "summary": "last"}]"#;
    let memory = memory(Category::Decision, &[("content", &content), ("changes", changes)]);
    let document =
        decide(Category::Decision, Some(UpdateCandidate { memory, ..found(Category::Decision) }), None);
    let document = Json::of(&document);
    let field =
        |name: &str| document.at(&format!("candidate.excerpt.{name}")).and_then(Json::as_text).unwrap();
    assert_eq!(field("key_fields.context"), "é".repeat(200));
    assert_eq!(field("key_fields.rationale"), format!("{}; b", "a".repeat(197)));
    assert_eq!(field("last_change_summary"), "last");
}

fn entry(name: &str, title: &str, tags: &[&str]) -> MemorySummary {
    let mut memory = memory(Category::Decision, &[]);
    memory.address = Address::record(Category::Decision, name);
    (memory.title, memory.tags) = (title.to_owned(), tags.iter().map(|tag| (*tag).to_owned()).collect());
    MemorySummary::of(&memory, &records().place(&memory.address).expect("a place"))
}

// Finding 14: one shared tag made a memory the target of an update, or of a deletion.
#[test]
fn a_memory_is_changed_for_its_subject_and_never_for_a_tag_alone() {
    let entries = [
        entry("jwt", "Use JWT", &["auth"]),
        entry("cache", "Cache invalidation by events", &["redis", "cache"]),
        entry("worker", "Restart the stuck worker", &["worker", "deploy"]),
        entry("keys", "Rotate the signing keys every quarter", &["security", "login"]),
        entry("uploads", "Uploads go to the object store", &["storage"]),
        entry("day", "No migrations during the day", &["database"]),
        entry("pnpm", "pnpm instead of yarn", &["tooling"]),
        entry("tokens", "認証トークンの期限", &["認証"]),
    ];
    let table = [
        ("JWT auth lasts for an hour from now on", Some("jwt")),
        ("cache invalidation misses events of the importer", Some("cache")),
        ("the worker was stuck again after the restart", Some("worker")),
        ("signing keys are rotated monthly from now on", Some("keys")),
        ("uploads to the object store are encrypted", Some("uploads")),
        ("migrations during the day are allowed on the replica", Some("day")),
        ("yarn is gone: pnpm everywhere", Some("pnpm")),
        ("認証トークンの期限は一時間", Some("tokens")),
        ("auth cookies are SameSite=Strict", None),
        ("redis has a password in staging", None),
        ("deploy of the docs is manual", None),
        ("security review of the login form is in May", None),
        ("storage is billed per project", None),
        ("database backups run at night", None),
        ("tooling is written in Python", None),
        ("the redis cache runs on one node", None),
        ("認証の画面は青い", None),
    ];
    for (news, expected) in table {
        let query = Query::new(news, NOW);
        let all = || entries.iter().map(|entry| (i32::MAX, entry));
        let is_about = |hit: &Hit| candidate::is_about(&hit.explain, &hit.title);
        let found = recall::candidate_if(&query, all(), is_about);
        assert_eq!(found.as_ref().map(|hit| hit.address.name()), expected, "{news}");
        // The first system's scoring takes each of them, right or wrong.
        assert!(recall::candidate(&query, all()).is_some(), "{news}");
    }
}

#[test]
fn the_best_match_is_a_candidate_from_three_points_on() {
    let entries = [
        entry("b-one", "Use JWT", &["auth"]),
        entry("a-two", "Use JWT", &["auth"]),
        entry("c", "Sessions", &["cookies"]),
    ];
    let table = [
        ("jwt", None),
        ("auth", Some(("decision/a-two", 3))),
        ("jwt auth", Some(("decision/a-two", 5))),
        ("sess", None),
        ("cook sess", None),
        ("cookies", Some(("decision/c", 3))),
    ];
    for (text, expected) in table {
        let hit = recall::candidate(&Query::new(text, NOW), entries.iter().map(|entry| (i32::MAX, entry)));
        let found = hit.map(|hit| (hit.address.to_string(), hit.score));
        assert_eq!(found, expected.map(|(address, score)| (address.to_owned(), score)), "{text}");
    }
}
