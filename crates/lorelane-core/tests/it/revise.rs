//! Revisions lose nothing: what only grows, what history tells, and what stays as it was written.

use crate::support::DialectOnTexts;
use crate::support::*;
use lorelane_core::change::Draft;
use lorelane_core::dialect::Dialect;
use lorelane_core::json::{Json, JsonFormat};
use lorelane_core::lifecycle::Status;
use lorelane_core::memory::{Category, HistoryEntry};
use lorelane_core::refusal::Refusal;

/// A whole draft with one more entry in its history.
fn told(members: Members<'_>) -> Draft {
    let mut record = record_of(Category::Decision, members);
    let mut entries = record.get("changes").and_then(Json::as_list).unwrap_or_default().to_vec();
    entries.push(json(r#"{"date": "d", "summary": "told"}"#));
    record.set("changes", Json::List(entries));
    whole(&text(&record))
}

/// The whole of a memory as a person left it in an editor.
fn edited(text: &str) -> Draft {
    Draft::Edited { text: text.to_owned(), because: None }
}

fn tags(range: std::ops::Range<usize>) -> String {
    Json::texts(range.map(|n| format!("t{n:02}"))).render(JsonFormat::LINE)
}

fn entries(count: usize) -> String {
    let entry = |n| HistoryEntry::new(NOW, &format!("change {n}")).0;
    Json::List((0..count).map(entry).collect()).render(JsonFormat::LINE)
}

fn with_content(key: &str, value: &str) -> String {
    let mut content = object(content(Category::Decision));
    content.set(key, json(value));
    Json::Object(content).render(JsonFormat::LINE)
}

// One search through the old faults per new fault, each reported in full: 60,000 bad items took 11 seconds.
#[test]
fn faults_without_end_are_counted_and_what_stood_is_not_held_against_a_revision() {
    let items = |count: usize| format!("[{}]", vec!["0"; count].join(","));
    let old = decision(&[("related_files", &items(100_000))]);
    let problems = reading(&old).problems;
    assert_eq!(problems.len(), 101);
    assert!(problems[100].what.contains("and 99900 more"), "{}", problems[100].what);
    let composed = revise(&old, &set(&[("title", "Use JWTs")])).unwrap();
    let said = lines(&composed.notices);
    assert!(said.iter().any(|line| line.contains("and 99900 more (it was so before)")), "{}", said.len());
    // Reporting costs most, so the report is limited.
    assert!(said.len() < 110, "{}", said.len());
}

#[test]
fn each_protection_says_its_rule_and_what_to_do() {
    let files = r#"["src/a.rs", "src/b.rs"]"#;
    let table: &[(Members<'_>, Draft, &str)] = &[
        (
            &[("tags", r#"["a", "b"]"#)],
            told(&[("tags", r#"["a", "c"]"#)]),
            r#"tags | grow-only (below cap of 12) | removed: ["b"] | Tags can only be added, not removed (current count 2 < cap 12)"#,
        ),
        (
            &[("tags", &tags(0..12))],
            told(&[("tags", &tags(0..11))]),
            r#"tags | no net shrink without addition | removed: ["t11"] | Can only evict tags when adding new ones at cap (12)"#,
        ),
        (
            &[("tags", &tags(0..12))],
            Draft::Partial { from: None, set: Vec::new(), add_tags: vec!["x".to_owned()], because: None },
            "tags | cap exceeded | count: 13 | Keep tags at or below 12",
        ),
        (
            &[("related_files", files)],
            told(&[("related_files", r#"["src/b.rs"]"#)]),
            "related_files | grow-only (cannot remove existing file reference) | removed: src/a.rs | Only non-existent (dangling) file references can be removed",
        ),
        (
            &[("changes", &entries(2))],
            whole(&decision(&[("changes", &entries(1))])),
            "changes | append-only | old_count: 2, new_count: 1 | changes[] must grow; do not remove entries",
        ),
        (
            &[("changes", &entries(2))],
            whole(&decision(&[("changes", &entries(2)), ("title", r#""Use jwt""#)])),
            "changes | append-only (new entry required) | old_count: 2, total_count: 2 | At least one new change entry is required per UPDATE",
        ),
    ];
    for (old, draft, expected) in table {
        let fault = merge_fault(revise(&decision(old), draft));
        let details: Vec<String> =
            fault.details.iter().map(|(key, value)| format!("{key}: {value}")).collect();
        let said = format!("{} | {} | {} | {}", fault.field, fault.rule, details.join(", "), fault.fix);
        assert_eq!(said, *expected);
    }
}

// Row 10: only the count was checked, so an old entry could be replaced.
#[test]
fn history_cannot_be_rewritten() {
    let old = decision(&[("changes", &entries(2))]);
    let rewritten = entries(2).replace("change 0", "nothing");
    let fault = merge_fault(revise(&old, &told(&[("changes", &rewritten)])));
    assert_eq!((fault.field, fault.rule), ("changes", "append-only (entries rewritten)"));
}

#[test]
fn history_written_another_way_is_the_same_and_keeps_its_text() {
    let old =
        decision(&[("changes", r#"[{"date": "d", "summary": "s", "old_value": 0.50, "new_value": 1.0}]"#)]);
    // A draft that went through another program's JSON: other order, other spelling of numbers.
    let draft = told(&[("changes", r#"[{"summary": "s", "new_value": 1, "date": "d", "old_value": 0.5}]"#)]);
    let (text, _) = revised(&old, &draft);
    assert!(text.contains("0.50") && text.contains("1.0"), "{text}");
}

#[test]
fn a_file_that_is_gone_may_leave() {
    let old = decision(&[("related_files", r#"["src/a.rs"]"#)]);
    let mut context = write_context();
    context.gone.insert("src/a.rs".to_owned());
    let composed =
        records().compose_text(&address(), Some(&old), &told(&[("related_files", "[]")]), &context).unwrap();
    assert_eq!(composed.memory.about, [""; 0]);
}

#[test]
fn at_the_cap_a_tag_may_make_room_and_history_says_so() {
    let old = decision(&[("tags", &tags(0..12))]);
    let (text, _) = revised(&old, &whole(&decision(&[("tags", &tags(1..13))])));
    let expected = r#"[{"date": "2026-01-01T00:00:00Z",
        "summary": "Tags evicted at cap: removed ['t00'], added ['t12']",
        "field": "tags", "old_value": ["t00"], "new_value": ["t12"]}]"#;
    assert_eq!(object(&text).get("changes"), Some(&json(expected)));
}

#[test]
fn a_tag_that_only_loses_its_capitals_is_not_removed() {
    let old = decision(&[("tags", r#"["Auth", "b"]"#)]);
    let (text, _) = revised(&old, &told(&[("tags", r#"["auth", "b", "c"]"#)]));
    assert_eq!(object(&text).get("tags"), Some(&json(r#"["auth", "b", "c"]"#)));
}

#[test]
fn more_tags_than_the_cap_block_only_who_adds_another() {
    let old = decision(&[("tags", &tags(0..15))]);
    let (text, _) = revised(&old, &set(&[("confidence", "0.5")]));
    assert_eq!(object(&text).get("tags"), Some(&json(&tags(0..15))));
    let draft = Draft::Partial { from: None, set: Vec::new(), add_tags: vec!["x".to_owned()], because: None };
    assert_eq!(merge_fault(revise(&old, &draft)).rule, "cap exceeded");
}

#[test]
fn changed_scalars_of_a_whole_draft_are_told_in_the_order_of_the_contract() {
    let old = decision(&[]);
    let content = r#"{"decision": "new", "rationale": ["r", "s"], "context": "other", "status": "accepted"}"#;
    let (text, _) = revised(&old, &whole(&decision(&[("content", content)])));
    let expected = r#"[
        {"date": "2026-01-01T00:00:00Z", "summary": "content.context changed", "field": "content.context",
         "old_value": "c", "new_value": "other"},
        {"date": "2026-01-01T00:00:00Z", "summary": "content.decision changed", "field": "content.decision",
         "old_value": "d", "new_value": "new"}]"#;
    assert_eq!(object(&text).get("changes"), Some(&json(expected)), "lists are not told, as ever");
}

#[test]
fn a_field_that_was_absent_is_told_from_null() {
    let (text, _) =
        revised(&decision(&[]), &whole(&decision(&[("content", &with_content("consequences", "[\"x\"]"))])));
    let told = object(&text);
    assert_eq!(told.at("changes.0.old_value"), Some(&Json::Null));
    assert_eq!(told.at("changes.0.new_value"), Some(&json("[\"x\"]")));
}

#[test]
fn what_a_person_sets_is_told_field_by_field_with_the_reason() {
    let draft = Draft::Partial {
        from: None,
        set: assigned(&[("title", "Use JWTs"), ("rationale+", "s"), ("decision", "d")]),
        add_tags: vec!["New".to_owned()],
        because: Some("asked".to_owned()),
    };
    let (text, _) = revised(&decision(&[]), &draft);
    let record = object(&text);
    let told: Vec<String> = (0..4)
        .filter_map(|at| record.at(&format!("changes.{at}")))
        .map(|entry| Json::at(entry, "field").and_then(Json::as_text).unwrap().to_owned())
        .collect();
    assert_eq!(told, ["title", "tags", "content.rationale"], "decision was set to what it was");
    assert_eq!(record.at("changes.0.summary"), Some(&Json::text("asked")));
    assert_eq!(record.get("times_updated"), Some(&Json::number(1)));
    assert_eq!(record.text("updated_at"), Some("2026-01-01T00:00:00Z"));
}

#[test]
fn a_change_that_changes_nothing_makes_no_edit() {
    let old = decision(&[("confidence", "0.50")]);
    for draft in [set(&[("title", "Use JWT"), ("confidence", "0.5")]), edited(&old)] {
        assert_eq!(revised(&old, &draft).0, old, "{draft:?}");
    }
}

#[test]
fn an_edit_may_take_out_what_nobody_knows_and_history_says_so() {
    let old = decision(&[("mood", "\"good\""), ("content", &with_content("colour", "\"red\""))]);
    let (text, _) = revised(&old, &edited(&decision(&[])));
    let record = object(&text);
    assert!(!record.contains("mood") && record.at("content.colour").is_none(), "{text}");
    assert_eq!(record.at("changes.0.field"), Some(&Json::text("mood")));
    assert_eq!(record.at("changes.1.field"), Some(&Json::text("content.colour")));
}

#[test]
fn an_edit_may_add_its_own_entry_to_the_history() {
    let old = decision(&[]);
    let (text, _) = revised(&old, &edited(&decision(&[("changes", &entries(1))])));
    assert_eq!(read(&text).history.len(), 1);
}

#[test]
fn history_holds_fifty_entries_and_the_oldest_go() {
    let old = decision(&[("changes", &entries(50))]);
    let (text, _) =
        revised(&old, &told(&[("changes", &entries(50)), ("content", &with_content("context", "\"x\""))]));
    let history = read(&text).history;
    let summaries: Vec<Option<&str>> = [0, 48, 49].map(|at| history[at].summary()).to_vec();
    assert_eq!(history.len(), 50);
    assert_eq!(summaries, [Some("change 2"), Some("told"), Some("content.context changed")]);
}

// Row 12: a reason of 300 characters made an entry of 309, and no update was accepted any more.
#[test]
fn a_long_reason_in_the_history_does_not_block_later_revisions() {
    let long = format!(r#"[{{"date": "d", "summary": "Retired: {}"}}]"#, "x".repeat(300));
    let old = decision(&[("changes", &long)]);
    for draft in [told(&[("changes", &long)]), set(&[("title", "Use JWTs")])] {
        let (_, notices) = revised(&old, &draft);
        let said = "[WARN] changes.0.summary: String should have at most 300 characters (it was so before)";
        assert_eq!(notices, [said], "{draft:?}");
    }
    let draft = whole(&decision(&[("changes", &long)]));
    assert_eq!(
        faults(revise(&decision(&[]), &draft)),
        ["changes.0.summary: String should have at most 300 characters"]
    );
    // Also when the history overflows and its positions move.
    let many = entries(49).replacen('[', &format!("{}, ", long.trim_end_matches(']')), 1);
    let (text, _) = revised(&decision(&[("changes", &many)]), &told(&[("changes", &many)]));
    assert_eq!(read(&text).history.len(), 50);
}

#[test]
fn a_new_entry_is_judged_also_when_the_history_overflows() {
    let old = decision(&[("changes", &entries(50))]);
    let faulty = entries(51).replace("change 50", &"x".repeat(301));
    let result = revise(&old, &whole(&decision(&[("changes", &faulty)])));
    assert_eq!(faults(result), ["changes.49.summary: String should have at most 300 characters"]);
}

#[test]
fn a_fault_that_stood_before_is_said_and_not_held_against_the_revision() {
    let old = decision(&[("content", r#"{"status": "done", "context": "c"}"#), ("mood", "1")]);
    let (_, notices) = revised(&old, &set(&[("title", "Use JWTs"), ("context", "other")]));
    assert_eq!(
        notices,
        [
            "[WARN] content.status: Input should be 'proposed', 'accepted', 'deprecated' or 'superseded' (it was so before)",
            "[WARN] content.decision: Field required (it was so before)",
            "[WARN] content.rationale: Field required (it was so before)",
            "[WARN] mood: Extra inputs are not permitted (it was so before)",
        ]
    );
    let worse = faults(revise(&old, &set(&[("status", "finished")])));
    assert_eq!(
        worse,
        ["content.status: Input should be 'proposed', 'accepted', 'deprecated' or 'superseded'"]
    );
}

// Row 11: an update put a retired memory back into the index.
#[test]
fn a_retired_memory_stays_retired_and_unlisted_when_it_is_revised() {
    let old = decision(&[("record_status", r#""retired""#), ("retired_at", r#""2025-06-01T00:00:00Z""#)]);
    let draft = told(&[("record_status", r#""active""#)]);
    let memory = revise(&old, &draft).unwrap().memory;
    assert_eq!(memory.lifecycle.status(), Status::Retired);
    assert_eq!(memory.lifecycle, read(&old).lifecycle);
    assert_eq!(records().listing_line(&memory), None);
}

#[test]
fn what_is_fixed_at_creation_stays() {
    let old = decision(&[]);
    let draft = told(&[
        ("created_at", r#""1999-01-01T00:00:00Z""#),
        ("id", r#""other""#),
        ("category", r#""runbook""#),
        ("schema_version", r#""9""#),
        ("times_updated", "77"),
    ]);
    let record = object(&revised(&old, &draft).0);
    for key in ["created_at", "id", "category", "schema_version"] {
        assert_eq!(record.get(key), object(&old).get(key), "{key}");
    }
    assert_eq!(record.get("times_updated"), Some(&Json::number(1)));
}

#[test]
fn a_shrunk_list_is_warned_of() {
    let old = decision(&[("content", &with_content("rationale", r#"["a", "b", "c"]"#))]);
    let (_, notices) = revised(&old, &told(&[("content", &with_content("rationale", r#"["a"]"#))]));
    assert_eq!(notices, ["[WARN] content.rationale: list shrank from 3 to 1 items"]);
}

#[test]
fn values_that_a_revision_does_not_touch_keep_their_text_and_place() {
    let old = "{\n\t\"tags\": [\"b\",  \"A\"],\n\t\"title\": \"Caf\\u00e9  -> x\",\n\t\"confidence\": 0.50,\n\t\"category\": \"decision\", \"id\": \"use-jwt\",\n\t\"schema_version\": \"1.0\", \"created_at\": \"2025-01-01\", \"updated_at\": \"2025-01-01\",\n\t\"content\": {\"rationale\": [\"r\"], \"status\": \"accepted\", \"context\": \"c\", \"decision\": \"\\u0064\"}\n}\n";
    let (text, notices) = revised(old, &set(&[("context", "new")]));
    assert_eq!(notices, [""; 0]);
    let entry = "{\n\t\t\t\"date\": \"2026-01-01T00:00:00Z\",\n\t\t\t\"summary\": \"content.context changed\",\n\t\t\t\"field\": \"content.context\",\n\t\t\t\"old_value\": \"c\",\n\t\t\t\"new_value\": \"new\"\n\t\t}";
    let expected = old
        .replace("\"context\": \"c\"", "\"context\": \"new\"")
        .replace("\"updated_at\": \"2025-01-01\"", "\"updated_at\": \"2026-01-01T00:00:00Z\"")
        .replace(
            "}\n}\n",
            &format!("}},\n\t\"changes\": [\n\t\t{entry}\n\t],\n\t\"times_updated\": 1\n}}\n"),
        );
    assert_eq!(text, expected);
}

#[test]
fn a_name_follows_its_title_only_when_most_words_changed() {
    let table = [
        ("Use JWT", None),
        ("Use JWT tokens", None),
        ("Use PASETO", Some("decision/use-paseto")),
        ("Session cookies", Some("decision/session-cookies")),
        ("use jwt now always", None),
    ];
    for (title, expected) in table {
        let composed = revise(&decision(&[]), &set(&[("title", title)])).unwrap();
        assert_eq!(composed.rename_to.map(|address| address.to_string()).as_deref(), expected, "{title}");
    }
    // Row 22: a title in another script names its file, too.
    let wants = revise(&decision(&[]), &set(&[("title", "認証の方針")])).unwrap().rename_to.unwrap();
    assert!(wants.name().starts_with("decision-"), "{wants}");
}

#[test]
fn an_assignment_finds_its_field_and_its_type() {
    let table: &[(&str, &str, &str, &str)] = &[
        ("confidence", "0.7", "confidence", "0.7"),
        ("title", "5", "title", r#""5""#),
        ("rationale", r#"["a", "b"]"#, "content.rationale", r#"["a", "b"]"#),
        ("rationale", "[a", "content.rationale", r#"["[a"]"#),
        ("content.rationale+", "s", "content.rationale", r#"["r", "s"]"#),
        ("consequences+", "s", "content.consequences", r#"["s"]"#),
        (
            "alternatives",
            r#"{"option": "o", "rejected_reason": "r"}"#,
            "content.alternatives",
            r#"[{"option": "o", "rejected_reason": "r"}]"#,
        ),
        ("status", "proposed", "content.status", r#""proposed""#),
    ];
    for (path, value, place, expected) in table {
        let record = object(&revised(&decision(&[]), &set(&[(path, value)])).0);
        assert_eq!(record.at(place), Some(&json(expected)), "{path}={value}");
    }
}

#[test]
fn several_assignments_to_one_list_collect() {
    let record = object(&revised(&decision(&[]), &set(&[("rationale", "a"), ("rationale", "b")])).0);
    assert_eq!(record.at("content.rationale"), Some(&json(r#"["a", "b"]"#)));
}

#[test]
fn a_file_that_is_no_record_cannot_be_revised() {
    for old in ["[]", "{", "{\"record_status\": \"lost\"}"] {
        let result = revise(old, &set(&[("title", "x")]));
        assert!(
            matches!(result, Err(Refusal::Unreadable { .. } | Refusal::Invalid { .. })),
            "{old}: {result:?}"
        );
    }
}
