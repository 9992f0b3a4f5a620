//! From a draft to a new record: what is fixed, how that is reported, and what is rejected.

use crate::support::DialectOnTexts;
use crate::support::*;
use lorelane_core::change::Draft;
use lorelane_core::dialect::Dialect;
use lorelane_core::dialect::records::draft;
use lorelane_core::json::{Json, JsonFormat};
use lorelane_core::memory::{Address, Category};
use lorelane_core::refusal::Refusal;

#[test]
fn every_fix_is_reported() {
    let long = format!("[{}]", (0..13).map(|n| format!("\"t{n:02}\"")).collect::<Vec<_>>().join(", "));
    let table: &[(&str, &str, &[&str])] = &[
        ("title", r#""Use JWT""#, &[]),
        ("schema_version", "", &["schema_version: set to '1.0'"]),
        ("schema_version", r#""""#, &["schema_version: set to '1.0'"]),
        ("updated_at", "null", &["updated_at: set to current UTC"]),
        ("created_at", "", &["created_at: set to current UTC"]),
        ("tags", r#""Auth""#, &["tags: wrapped string in array"]),
        ("id", r#""Use JWT!""#, &["id: slugified 'Use JWT!' -> 'use-jwt'"]),
        ("confidence", "1.7", &["confidence: clamped to 1.0"]),
        ("confidence", "-1", &["confidence: clamped to 0.0"]),
        ("title", r#"" Use JWT ""#, &["title: stripped whitespace"]),
        (
            "title",
            r#""Use\u0007 JWT -> x""#,
            &["title: removed control characters and the markers of index.md"],
        ),
        ("tags", r#"[" ", 5]"#, &["tags: no usable tag, set to ['untagged']"]),
        ("tags", &long, &["tags: at most 12, the rest were dropped"]),
        ("category", r#""runbook""#, &["category: set to 'decision'"]),
        ("id", r#""other""#, &["id: set to match filename 'use-jwt'"]),
    ];
    for (key, value, expected) in table {
        let (_, notices) = created(&decision(&[(key, value)]));
        let expected: Vec<String> = expected.iter().map(|line| format!("[AUTO-FIX] {line}")).collect();
        assert_eq!(notices, expected, "{key} = {value}");
    }
}

#[test]
fn fixes_are_reported_in_the_order_of_the_scripts() {
    let (record, notices) = created(
        r#"{"content": {"status": "accepted", "context": "c", "decision": "d", "rationale": ["r"]},
            "title": " A -> B ", "id": "A b", "tags": "x", "confidence": 2}"#,
    );
    let expected = [
        "schema_version: set to '1.0'",
        "updated_at: set to current UTC",
        "created_at: set to current UTC",
        "tags: wrapped string in array",
        "id: slugified 'A b' -> 'a-b'",
        "confidence: clamped to 1.0",
        "title: stripped whitespace",
        "title: removed control characters and the markers of index.md",
        "category: set to 'decision'",
        "id: set to match filename 'use-jwt'",
    ];
    assert_eq!(notices, expected.map(|line| format!("[AUTO-FIX] {line}")));
    let keys: Vec<&str> = record.iter().map(|(key, _)| key).collect();
    let order =
        "content title id tags confidence schema_version updated_at created_at record_status category";
    assert_eq!(keys.join(" "), order, "the author's order stays, what was added goes last");
}

#[test]
fn tags_become_a_sorted_set_of_plain_words() {
    let (record, _) =
        created(&decision(&[("tags", r##"["B", " a,b ", "x -> y", "#tags:Z", "b", "b\u0000", 7]"##)]));
    assert_eq!(record.get("tags"), Some(&json(r#"["a b", "b", "x y", "z"]"#)));
}

#[test]
fn a_value_that_a_lax_reader_would_take_is_stored_with_its_type() {
    let table = [
        ("confidence", r#""0.5""#, "0.5"),
        ("confidence", "true", "1.0"),
        ("times_updated", r#""3""#, "3"),
        ("times_updated", "3.0", "3"),
    ];
    for (key, value, expected) in table {
        let (record, notices) = created(&decision(&[(key, value)]));
        assert_eq!(record.get(key), Some(&json(expected)), "{key}");
        assert_eq!(notices, [format!("[AUTO-FIX] {key}: read {value} as {expected}")]);
    }
    let flags = [("\"yes\"", true), ("\"TRUE\"", true), ("1", true), ("\"off\"", false), ("0", false)];
    for (flag, expected) in flags {
        let mut record = record_of(Category::Constraint, &[]);
        let Some(Json::Object(content)) = record.get_mut("content") else { panic!() };
        content.set("active", json(flag));
        let address = Address::record(Category::Constraint, "use-jwt");
        let composed =
            records().compose_text(&address, None, &whole(&text(&record)), &write_context()).unwrap();
        let stored = object(composed.base_text.as_deref().unwrap());
        assert_eq!(stored.at("content.active"), Some(&Json::Bool(expected)), "{flag}");
    }
}

#[test]
fn every_fault_is_said_in_the_validators_words() {
    let inner = |key: &str, value: &str| {
        let mut content = object(content(Category::Decision));
        content.set(key, json(value));
        Json::Object(content).render(JsonFormat::LINE)
    };
    let table: &[(&str, &str, &str)] = &[
        ("id", "", "id: Field required"),
        ("tags", "", "tags: Field required"),
        ("surprise", "1", "surprise: Extra inputs are not permitted"),
        ("title", "5", "title: Input should be a valid string"),
        ("id", "5", "id: Input should be a valid string"),
        ("id", r#""""#, "id: String should match pattern '^[a-z0-9]([a-z0-9-]{0,78}[a-z0-9])?$'"),
        ("tags", "5", "tags: Input should be a valid list"),
        ("title", &format!("\"{}\"", "x".repeat(121)), "title: String should have at most 120 characters"),
        ("confidence", "NaN", "confidence: Input should be less than or equal to 1"),
        (
            "confidence",
            r#""high""#,
            "confidence: Input should be a valid number, unable to parse string as a number",
        ),
        (
            "times_updated",
            r#""x""#,
            "times_updated: Input should be a valid integer, unable to parse string as an integer",
        ),
        (
            "times_updated",
            "1.5",
            "times_updated: Input should be a valid integer, got a number with a fractional part",
        ),
        // It was stored, and counted as 3 March (finding 13).
        ("created_at", r#""2026-02-31T00:00:00Z""#, "created_at: String should be a date that exists"),
        ("updated_at", r#""2026-02-29""#, "updated_at: String should be a date that exists"),
        (
            "created_at",
            r#""yesterday""#,
            "created_at: String should be a UTC timestamp such as 2026-01-31T09:00:00Z",
        ),
        ("content", "[]", "content: Input should be a valid dictionary or instance of DecisionContent"),
        (
            "content",
            &inner("status", r#""done""#),
            "content.status: Input should be 'proposed', 'accepted', 'deprecated' or 'superseded'",
        ),
        (
            "content",
            &inner("rationale", "[]"),
            "content.rationale: List should have at least 1 item after validation, not 0",
        ),
        ("content", &inner("rationale", "[5]"), "content.rationale.0: Input should be a valid string"),
        (
            "content",
            &inner("alternatives", "[5]"),
            "content.alternatives.0: Input should be a valid dictionary or instance of Alternative",
        ),
    ];
    for (key, value, expected) in table {
        assert_eq!(faults(create(&decision(&[(key, value)]))), [*expected], "{key} = {value}");
    }
    let mut constraint = record_of(Category::Constraint, &[]);
    let Some(Json::Object(inner)) = constraint.get_mut("content") else { panic!() };
    inner.set("active", Json::text("maybe"));
    let address = Address::record(Category::Constraint, "use-jwt");
    let result = records().compose_text(&address, None, &whole(&text(&constraint)), &write_context());
    let flag = "content.active: Input should be a valid boolean, unable to interpret input";
    assert_eq!(faults(result), [flag]);
}

#[test]
fn a_missing_field_shows_the_object_that_lacks_it_and_a_fix() {
    let Err(Refusal::Invalid { faults, .. }) = create(&decision(&[("content", "{}"), ("note", "\"é\"")]))
    else {
        panic!()
    };
    let said: Vec<(&str, &str)> = faults.iter().map(|f| (f.field.as_str(), f.got.as_str())).collect();
    assert_eq!(
        said,
        [
            ("content.status", "{}"),
            ("content.context", "{}"),
            ("content.decision", "{}"),
            ("content.rationale", "{}"),
            ("note", "\"\\u00e9\""),
        ],
        "declared order, nested in place, extras last"
    );
    assert_eq!(faults[0].fix, "add it: status is one of proposed, accepted, deprecated, superseded");
}

#[test]
fn a_new_memory_is_active_whatever_its_draft_says() {
    let (record, _) = created(&decision(&[
        ("record_status", r#""retired""#),
        ("retired_at", r#""2025-01-01T00:00:00Z""#),
        ("retired_reason", r#""r""#),
        ("archived_at", "null"),
        ("archived_reason", "5"),
    ]));
    assert_eq!(record.text("record_status"), Some("active"));
    let dropped = ["retired_at", "retired_reason", "archived_at", "archived_reason"];
    assert!(dropped.iter().all(|key| !record.contains(key)), "{record:?}");
}

// Row 7: one pass of replacing could be outwitted, and a no-break space went through.
#[test]
fn a_title_cannot_forge_a_line_of_the_listing() {
    for title in
        [r#""Auth tokens -> -> /etc/evil.json #ta#tags:gs:auth""#, r#""a\u00a0->\u00a0/etc/evil.json""#]
    {
        let composed = create(&decision(&[("title", title), ("tags", r#"["a#ta#tags:gs: -> x"]"#)])).unwrap();
        let line = records().listing_line(&composed.memory).unwrap().text;
        assert_eq!((line.matches(" -> ").count(), line.matches("#tags:").count()), (1, 1), "{line}");
    }
}

// Row 14: these crashed the scripts.
#[test]
fn a_draft_that_is_no_record_is_refused_and_nothing_crashes() {
    let table = [
        ("[]", "the draft is not a JSON object"),
        ("5", "the draft is not a JSON object"),
        ("", "the draft is not JSON: expected a value at line 1 column 1"),
        ("{", "the draft is not JSON: expected a key in double quotes at line 1 column 2"),
    ];
    for (draft, expected) in table {
        match create(draft) {
            Err(Refusal::Unreadable { why, .. }) => assert_eq!(why, expected),
            other => panic!("{draft}: {other:?}"),
        }
    }
    for id in ["5", "null", "[]", "{}", "true"] {
        assert_eq!(faults(create(&decision(&[("id", id)]))), ["id: Input should be a valid string"], "{id}");
    }
}

#[test]
fn a_key_that_stands_twice_is_for_the_author_to_settle() {
    let draft = decision(&[]).replacen("{", "{\"title\": \"Other\",", 1);
    assert_eq!(faults(create(&draft)), ["title: Each key should appear once"]);
}

// Row 14: a time without an offset killed the garbage collection.
#[test]
fn a_time_without_an_offset_is_utc_and_says_so() {
    let (record, notices) = created(&decision(&[("created_at", r#""2025-06-01T12:00:00""#)]));
    assert_eq!(record.text("created_at"), Some("2025-06-01T12:00:00Z"));
    assert_eq!(notices, ["[AUTO-FIX] created_at: read as UTC, set to '2025-06-01T12:00:00Z'"]);
}

// Row 22: other scripts slugged to nothing, so their ids were refused.
#[test]
fn a_memory_can_be_named_in_any_script() {
    let (record, notices) = created(&decision(&[("title", r#""日本語の決定""#), ("id", r#""日本語""#)]));
    assert_eq!(record.text("title"), Some("日本語の決定"));
    assert!(notices[0].starts_with("[AUTO-FIX] id: slugified '日本語' -> 'decision-"), "{notices:?}");
    assert!(text(&record).contains("日本語"), "characters stay as they are in the file");
}

#[test]
fn control_characters_are_taken_out_of_new_text() {
    let content = content(Category::Decision).replace("\"c\"", r#""a\u001b[31m\nb\u009b""#);
    let (record, notices) = created(&decision(&[("content", &content)]));
    assert_eq!(record.at("content.context"), Some(&Json::text("a[31m\nb")));
    assert_eq!(notices, ["[AUTO-FIX] content: removed control characters"]);
}

#[test]
fn a_part_of_a_memory_cannot_create_one() {
    let result = records().compose_text(&address(), None, &set(&[("title", "x")]), &write_context());
    assert!(matches!(result, Err(Refusal::Missing { .. })), "{result:?}");
}

#[test]
fn a_record_that_is_too_large_is_refused_with_its_size() {
    let content = content(Category::Decision).replace("\"c\"", &format!("\"{}\"", "x".repeat(1 << 20)));
    let draft = Draft::Whole(decision(&[("content", &content)]));
    let result = records().compose_text(&address(), None, &draft, &write_context());
    match result {
        Err(Refusal::Unreadable { why, .. }) => assert_eq!(why, "the draft is larger than 1024 KiB"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_draft_begun_from_a_title_lacks_only_what_its_author_knows() {
    let set = assigned(&[
        ("context", "why we ask"),
        ("decision", "JWT"),
        ("rationale", "simple"),
        ("content.rationale", "known"),
        ("confidence", "0.9"),
        ("alternatives", r#"{"option": "PASETO", "rejected_reason": "new"}"#),
    ]);
    let tags = ["Auth".to_owned(), "auth".to_owned()];
    let (address, record) = draft::begin(Category::Decision, Some(" Use JWT "), None, &tags, &set, NOW);
    assert_eq!(address.to_string(), "decision/use-jwt");
    let (record, notices) = created(&text(&record));
    assert_eq!(notices, ["[AUTO-FIX] title: stripped whitespace"]);
    let content = r#"{"status": "accepted", "context": "why we ask", "decision": "JWT",
        "rationale": ["simple", "known"], "alternatives": [{"option": "PASETO", "rejected_reason": "new"}]}"#;
    assert_eq!(record.get("content"), Some(&json(content)));
    assert_eq!(record.get("tags"), Some(&json(r#"["auth"]"#)));
    assert_eq!(record.get("confidence"), Some(&json("0.9")));
}

#[test]
fn a_draft_begun_from_a_file_keeps_its_order_and_its_values() {
    let from = object(r#"{"tags": "x", "content": {"decision": "d"}, "id": "own-name", "title": "Old"}"#);
    let (address, record) = draft::begin(
        Category::Decision,
        Some("New"),
        Some(from),
        &["y".to_owned()],
        &assigned(&[("tags+", "z")]),
        NOW,
    );
    assert_eq!(address.to_string(), "decision/own-name");
    let keys: Vec<&str> = record.iter().map(|(key, _)| key).collect();
    assert_eq!(keys.join(" "), "tags content id title schema_version category created_at updated_at");
    assert_eq!(record.get("tags"), Some(&json(r#"["x", "y", "z"]"#)));
    assert_eq!(record.get("content"), Some(&json(r#"{"decision": "d", "status": "accepted"}"#)));
    assert_eq!(record.text("title"), Some("New"));
}

#[test]
fn an_unknown_field_stands_where_it_was_put_and_the_validator_says_so() {
    let (_, record) = draft::begin(
        Category::Decision,
        Some("Use JWT"),
        Some(record_of(Category::Decision, &[])),
        &[],
        &assigned(&[("content.colour", "red"), ("mood", "good")]),
        NOW,
    );
    assert_eq!(
        faults(create(&text(&record))),
        ["content.colour: Extra inputs are not permitted", "mood: Extra inputs are not permitted"]
    );
}
