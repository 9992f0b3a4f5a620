//! Resolutions and checks of the contract (its sections 3 and 4), through the command line. Each names its number.

use crate::scratch::Scratch;
use lorelane_core::json::Json;
use std::fs;

fn started() -> Scratch {
    let scratch = Scratch::new();
    for (path, text) in [
        ("src/tide.rs", "fn tide() -> f64 {\n    1.5\n}\n"),
        ("docs/plan.md", "# Plan\n\nRead the tables first.\n"),
        ("docs/decisions/d1.md", "# Decided\n"),
        ("ADR-notes/1.md", "# Notes\n"),
        ("constitution-harbour.md", "# Rules\n"),
        ("CLAUDE.md", "# For the agent\n"),
    ] {
        scratch.put(path, text);
    }
    scratch.lorelane("ws init").expect(0);
    scratch
}

fn folder(scratch: &Scratch) -> String {
    format!(".agent/sessions/{}", scratch.read(".agent/sessions/current").trim())
}

/// A file of the set, as `ws status` shows it.
fn file(scratch: &Scratch, path: &str) -> Json {
    let status = scratch.json("ws status");
    let files = status.at("files").and_then(Json::as_list).unwrap();
    files.iter().find(|file| file.at("path").and_then(Json::as_text) == Some(path)).cloned().unwrap()
}

fn shown(json: &Json, key: &str) -> String {
    let value = json.at(key).filter(|value| !matches!(value, Json::Null));
    value.map(|value| value.render(lorelane_core::json::JsonFormat::LINE)).unwrap_or_default()
}

fn number(json: &Json, key: &str) -> f64 {
    shown(json, key).parse().unwrap_or_else(|_| panic!("{key} in {json:?}"))
}

/// What was decided about a path, as `action reason`.
fn decided(scratch: &Scratch, line: &str) -> String {
    let answer = scratch.json(line);
    let [action] = answer.at("memory_actions").and_then(Json::as_list).unwrap() else { panic!("{answer:?}") };
    format!("{} {}", shown(action, "action_taken"), shown(action, "reason")).replace('"', "")
}

/// What is done to a project.
type Step<'s> = &'s dyn Fn(&Scratch);

#[test]
fn c3_the_share_that_is_used_is_of_effective_and_the_other_one_is_shown_too() {
    let scratch = started();
    scratch.put("big.md", "Words of a long file, many of them.\n".repeat(2_000));
    scratch.lorelane("ws add big.md --because x").expect(0);
    let status = scratch.json("ws status");
    let (used, effective) = (number(&status, "budget.used"), number(&status, "budget.effective"));
    assert_eq!((effective, number(&status, "budget.max_tokens")), (24_000.0, 28_000.0));
    assert!((number(&status, "budget.ratio") - used / 24_000.0).abs() < 0.001, "{status:?}");
    assert!((number(&status, "budget.ratio_of_max") - used / 28_000.0).abs() < 0.001, "{status:?}");
}

#[test]
fn c11_a_session_file_that_is_missing_is_never_fatal() {
    let names =
        ["working-set.yml", "hot.yml", "cold.yml", "output.md", "protocol_checklist.md", "session-log.md"];
    for name in names {
        let scratch = started();
        scratch.lorelane("ws add src/tide.rs --because x").expect(0);
        fs::remove_file(scratch.project().join(folder(&scratch)).join(name)).unwrap();
        for line in [
            "ws status",
            "ws assemble",
            "ws advise --hot src/tide.rs --cold docs/plan.md --because y",
            "ws status",
        ] {
            scratch.lorelane(line).expect(0);
        }
        scratch.lorelane("ws add docs/plan.md --because z").expect(0);
        let files = scratch.json("ws status");
        assert_eq!(files.at("files").and_then(Json::as_list).unwrap().len(), 2, "{name}");
    }
}

#[test]
fn c17_advice_about_an_unknown_path_is_a_warning_and_the_rest_is_decided() {
    let scratch = started();
    let said =
        scratch.lorelane("ws advise --hot no-such.md --cold docs/plan.md --because x --json").expect(0);
    let answer = Json::parse(&said.out).unwrap();
    assert_eq!(answer.at("memory_actions").and_then(Json::as_list).unwrap().len(), 1);
    assert!(shown(&answer, "warnings").contains("no-such.md"), "{answer:?}");
}

#[test]
fn c24_being_in_context_is_no_touch_and_a_turn_is_a_message() {
    let scratch = started();
    scratch.lorelane("ws add src/tide.rs --because x").expect(0);
    scratch.lorelane("ws assemble").expect(0);
    scratch.lorelane("ws status").expect(0);
    assert_eq!(shown(&file(&scratch, "src/tide.rs"), "touches"), "0");
    scratch.lorelane("ws touch src/tide.rs").expect(0);
    scratch.lorelane("ws touch --turn").expect(0);
    assert_eq!(shown(&file(&scratch, "src/tide.rs"), "touches"), "1");
    assert_eq!(shown(&scratch.json("ws status"), "turn"), "1");
    scratch.lorelane("ws touch").expect(2);
}

#[test]
fn c25_a_touch_counts_as_recent_for_five_turns() {
    let scratch = started();
    scratch.lorelane("ws add src/tide.rs --because x").expect(0);
    scratch.lorelane("ws touch src/tide.rs --turn").expect(0);
    let recent = |scratch: &Scratch| number(&file(scratch, "src/tide.rs"), "hotness.recent_touches");
    for turn in 1..=4 {
        assert!(recent(&scratch) > 0.0, "turn {turn}");
        scratch.lorelane("ws touch --turn").expect(0);
    }
    assert!(recent(&scratch) > 0.0, "the fifth turn");
    scratch.lorelane("ws touch --turn").expect(0);
    assert_eq!(recent(&scratch), 0.0);
}

// Section 4: the table of advice and decisions, one case per reason code.
#[test]
fn c27_c28_every_reason_is_decided_and_logged() {
    let turns = |scratch: &Scratch, count: usize| {
        (0..count).for_each(|_| drop(scratch.lorelane("ws touch --turn").expect(0)));
    };
    let cold = "ws advise --cold docs/plan.md --because done";
    let table: [(&str, Step<'_>, &str, &str); 8] = [
        ("honored", &|_| {}, cold, "honored "),
        (
            "touched",
            &|scratch| drop(scratch.lorelane("ws touch docs/plan.md --turn").expect(0)),
            cold,
            "deferred touched_recently",
        ),
        (
            "three touches",
            &|scratch| (0..3).for_each(|_| drop(scratch.lorelane("ws touch docs/plan.md --turn").expect(0))),
            cold,
            "promoted_to_hot touches",
        ),
        (
            "no summary",
            &|_| {},
            "ws advise --cold docs/plan.md --action summarize_then_evict --because done",
            "deferred pending_summary",
        ),
        (
            "both lists",
            &|_| {},
            "ws advise --hot docs/plan.md --cold docs/plan.md --because done",
            "deferred conflict",
        ),
        (
            "pinned",
            &|scratch| drop(scratch.lorelane("pin docs/plan.md").expect(0)),
            cold,
            "overridden pinned",
        ),
        ("protected", &|_| {}, "ws advise --cold CLAUDE.md --because done", "overridden protected"),
        ("hot", &|_| {}, "ws advise --hot docs/plan.md --because needed", "honored "),
    ];
    for (name, prepare, line, expected) in table {
        let scratch = started();
        scratch.lorelane("ws add docs/plan.md CLAUDE.md --because x").expect(0);
        prepare(&scratch);
        assert_eq!(decided(&scratch, line), expected, "{name}");
        let log = scratch.read(&format!("{}/session-log.md", folder(&scratch)));
        let (action, reason) = expected.split_once(' ').unwrap();
        assert!(log.contains(&format!("\"action_taken\": \"{action}\"")), "{name}: {log}");
        assert!(log.contains(reason), "{name}: {log}");
        scratch.lorelane("ws log --verify").expect(0);
    }
    // Advice of ten turns ago weighs nothing.
    let scratch = started();
    scratch.lorelane("ws add docs/plan.md --priority 0.6 --because x").expect(0);
    scratch.lorelane(cold).expect(0);
    assert_eq!(number(&file(&scratch, "docs/plan.md"), "effective_priority"), 0.3);
    turns(&scratch, 10);
    let stale = file(&scratch, "docs/plan.md");
    assert_eq!(number(&stale, "effective_priority"), 0.6);
    assert_eq!(shown(&stale, "decision.reason"), "\"stale\"");
}

#[test]
fn c29_what_is_protected_stays_whoever_asks() {
    let scratch = started();
    let session = folder(&scratch);
    let output = format!("{session}/output.md");
    for path in
        ["docs/decisions/d1.md", "ADR-notes/1.md", "constitution-harbour.md", "CLAUDE.md", output.as_str()]
    {
        scratch.lorelane(&format!("ws add {path} --because x")).expect(0);
        assert_eq!(shown(&file(&scratch, path), "protected"), "true", "{path}");
        assert_eq!(
            decided(&scratch, &format!("ws advise --cold {path} --because y")),
            "overridden protected",
            "{path}"
        );
        let said = scratch.lorelane(&format!("ws remove {path} --because y")).expect(2);
        assert!(said.err.contains("it is protected"), "{}", said.text());
    }
}

// Section 4: a pin survives 100 % pressure and needs an unpin.
#[test]
fn c4_a_pin_survives_pressure_and_advice_until_it_is_taken_off() {
    let scratch = started();
    scratch.put("big.md", "Words of a long file, many of them.\n".repeat(6_000));
    scratch.lorelane("ws add big.md --priority 1.0 --because x").expect(0);
    scratch.lorelane("ws add docs/plan.md --priority 0.0 --because x").expect(0);
    scratch.lorelane("pin docs/plan.md").expect(0);
    let status = scratch.json("ws status");
    assert!(number(&status, "budget.ratio") > 1.0, "{status:?}");
    assert!(scratch.lorelane("ws assemble").expect(0).out.contains("Read the tables first"));
    scratch.lorelane("ws advise --cold docs/plan.md --because y").expect(0);
    scratch.lorelane("ws remove docs/plan.md --because y").expect(2);
    scratch.lorelane("unpin docs/plan.md").expect(0);
    scratch.lorelane("ws remove docs/plan.md --because y").expect(0);
}

// Section 4: never above `effective`, and the same output for the same input; number 35: the counter has a name.
#[test]
fn c35_assembly_names_its_counter_is_within_its_budget_and_repeats() {
    let scratch = started();
    scratch.put("big.md", "Words of a long file, many of them.\n".repeat(600));
    scratch.lorelane("ws add src/tide.rs docs/plan.md CLAUDE.md big.md --because x").expect(0);
    for budget in [100, 200, 700, 3_000, 28_000] {
        let line = format!("ws assemble --budget {budget} --json");
        let (first, second) = (scratch.lorelane(&line), scratch.lorelane(&line));
        assert_eq!(first.out, second.out, "{budget}");
        let context = Json::parse(&first.out).unwrap();
        assert!(number(&context, "budget.used") <= number(&context, "budget.effective"), "{budget}");
        assert!(!shown(&context, "counter").is_empty());
        let (included, excluded) = (context.at("included").unwrap(), context.at("excluded").unwrap());
        let count = included.as_list().unwrap().len() + excluded.as_list().unwrap().len();
        assert_eq!(count, 4, "every file is included or has its reason");
    }
}

// The log alone rebuilds the state: set, advice, touches, decisions.
#[test]
fn the_log_alone_rebuilds_what_a_cache_kept() {
    let scratch = started();
    for line in [
        "ws add src/tide.rs docs/plan.md --priority 0.7 --because x",
        "ws touch src/tide.rs --turn",
        "ws advise --hot src/tide.rs --cold docs/plan.md --because y",
        "pin src/tide.rs",
        "ws touch docs/plan.md --turn",
        "ws remove docs/plan.md --because z",
        "undo",
    ] {
        scratch.lorelane(line).expect(0);
        let before = scratch.lorelane("ws status --json").expect(0).out;
        let _ = fs::remove_dir_all(scratch.home().join("cache"));
        assert_eq!(before, scratch.lorelane("ws status --json").expect(0).out, "{line}");
    }
}

// The choice was kept under the path of the records, and forgotten when the first memory gave the project an id.
#[test]
fn a_working_set_that_is_older_than_the_first_memory_stays() {
    let scratch = started();
    scratch.lorelane("ws add src/tide.rs --because x").expect(0);
    scratch.lorelane("init").expect(0);
    scratch.decide("Use JWT");
    assert_eq!(shown(&file(&scratch, "src/tide.rs"), "path"), "\"src/tide.rs\"");
    scratch.lorelane("ws add docs/plan.md memory:decision/use-jwt --because y").expect(0);
    scratch.lorelane("ws log --verify").expect(0);
}
