//! Every setting acts, and none that is wrong stops a read.

use crate::consolidate::{capture, commit};
use crate::scratch::{CONFIG, DECISION, LISTING, Scratch, USE_JWT};
use expect_test::{Expect, expect};
use lorelane_core::json::Json;
use lorelane_core::memory::Category;
use std::fs;

/// Long after the memories of these tests were made.
const LATER: &str = "2026-09-01T12:00:00Z";
/// In two parts, so that no scanner takes this file for a leak.
const SECRET: &str = concat!("AKIA", "4TGHN2WQ7VKJX3ZD");

fn check(seen: &str, expected: &Expect) {
    expected.assert_eq(seen);
}

/// Every key. Each acts: a test below shows what it changes, or one in `hooks.rs` for what prompts and stops are told.
const KEYS: &[&str] = &[
    "memory_root",
    "categories.*.enabled",
    "categories.*.folder",
    "categories.*.auto_capture",
    "categories.*.retention_days",
    "categories.*.description",
    "categories.session_summary.max_retained",
    "auto_commit",
    "max_memories_per_category",
    "retrieval.enabled",
    "retrieval.max_inject",
    "retrieval.match_strategy",
    "triage.enabled",
    "triage.max_messages",
    "triage.thresholds.*",
    "triage.parallel.enabled",
    "triage.parallel.category_models.*",
    "triage.parallel.verification_model",
    "triage.parallel.default_model",
    "delete.grace_period_days",
    "delete.archive_retired",
    "secrets",
    "briefing.max_tokens",
    "briefing.min_relevance",
    "briefing.act_max_tokens",
    "briefing.hint",
    "inbox.keep_days",
    "stop.unattended",
    "audit.half_life.*",
    "audit.half_life_notes",
    "notes.enabled",
    "notes.storage",
    "notes.recency_days",
    "notes.recency_factor",
    "working_set.protected",
    "working_set.untouched_turns",
    "working_set.hot_weight",
    "working_set.cold_weight",
];

#[test]
fn every_key_is_in_the_table_of_keys_that_act() {
    let scratch = Scratch::with_store();
    let listed = scratch.json("config list");
    let mut seen: Vec<String> = Vec::new();
    for setting in listed.at("settings").and_then(Json::as_list).unwrap() {
        let key = setting.at("key").and_then(Json::as_text).unwrap();
        let categories = ["session_summary", "decision", "runbook", "constraint", "tech_debt", "preference"];
        let starred = key.split('.').map(|part| if categories.contains(&part) { "*" } else { part });
        let starred = starred.collect::<Vec<_>>().join(".");
        let known = KEYS.iter().find(|name| **name == starred || **name == key);
        let name = known.unwrap_or_else(|| panic!("`{key}` has no entry in the table of this test"));
        seen.push((*name).to_owned());
    }
    for name in KEYS {
        assert!(seen.iter().any(|key| key == name), "`{name}` is no key any more");
    }
}

#[test]
fn match_strategy_chooses_between_recall_and_the_scoring_of_the_scripts() {
    let scratch = Scratch::with_jwt();
    for (strategy, signal, other) in [
        ("title_tags", " relevance ", " title ("),
        ("fts5_bm25", " relevance ", " title ("),
        ("keyword", " title (", " relevance "),
    ] {
        scratch.configure(&format!(r#"{{"retrieval": {{"match_strategy": "{strategy}"}}}}"#));
        let prompt = ("prompt", Json::text("how do we use jwt for auth"));
        scratch.hook("prompt", &[prompt, ("session_id", Json::text(strategy))]);
        let said = scratch.lorelane("why").expect(0).out;
        assert!(said.contains(signal) && !said.contains(other), "{strategy}: {said}");
    }
}

#[test]
fn the_recency_of_notes_is_what_the_settings_say() {
    let note = |day: &str| {
        format!("---\ntype: \"fact\"\ncreated_at: \"{day}T10:00:00+00:00\"\n---\n\nA pineapple.\n")
    };
    for (day, settings, is_recent) in [
        ("2026-02-27", "", true),
        ("2026-02-01", "", false),
        ("2026-02-01", "[notes]\nrecency_days = 60\n", true),
        ("2026-02-27", "[notes]\nrecency_days = 1\n", false),
        ("2026-02-27", "[notes]\nrecency_factor = 1.0\n", false),
    ] {
        let scratch = Scratch::new();
        scratch.put(".memories/fruit.md", note(day));
        scratch.put("lorelane.toml", settings);
        let said = scratch.lorelane("search pineapple --explain").expect(0).out;
        assert_eq!(said.contains(" recent"), is_recent, "{day} {settings}: {said}");
    }
}

#[test]
fn memory_root_moves_the_memories() {
    let scratch = Scratch::with_store();
    scratch.configure(r#"{"memory_root": "docs/memories"}"#);
    scratch.decide("Use JWT");
    assert!(scratch.exists("docs/memories/decisions/use-jwt.json") && !scratch.exists(USE_JWT));
    assert!(scratch.read("docs/memories/index.md").contains("-> docs/memories/decisions/use-jwt.json"));
    scratch.lorelane("show use-jwt").expect(0);
}

#[test]
fn memory_root_outside_the_project_stops_writes_and_no_read() {
    let scratch = Scratch::with_jwt();
    let before = scratch.tree_without_cache();
    for root in ["../elsewhere", "/etc", "", "a/../../b", ".git/memories"] {
        scratch.configure(&format!(r#"{{"memory_root": "{root}"}}"#));
        let said = scratch.lorelane(&format!("create decision --title Other {DECISION}")).expect(2);
        let names = ["memory_root", &format!("\"{root}\""), "memory-config.json", "CONFIG_ERROR", "hint: "];
        assert!(names.iter().all(|name| said.err.contains(name)), "{}", said.text());
        scratch.lorelane("show use-jwt").expect(0);
        assert!(scratch.lorelane("doctor").expect(1).out.contains("memory_root"));
    }
    let mut after = scratch.tree_without_cache();
    let config = format!("project/{CONFIG}");
    after.insert(config.clone(), before[&config].clone());
    assert_eq!(before, after);
}

#[test]
fn a_disabled_category_takes_a_memory_with_a_warning() {
    let scratch = Scratch::with_store();
    assert_eq!(scratch.decide("Use JWT").err, "");
    scratch.configure(r#"{"categories": {"decision": {"enabled": false}}}"#);
    check(
        &scratch.lorelane(&format!("create decision --title Other {DECISION}")).text(),
        &expect![[r#"
        Created decision/other
        2> warning: the category decision is disabled: this memory is saved but not shown to agents; `lorelane config set categories.decision.enabled true` enables it
        2> fixed: tags: no usable tag, set to ['untagged']
    "#]],
    );
    assert!(scratch.lorelane("status").out.contains("(disabled)"));
}

const TWO_FINDINGS: [(Category, &str); 2] = [
    (Category::Decision, "We decided to put a queue between web and worker"),
    (Category::TechDebt, "TODO: the importer is a hack for now"),
];

#[test]
fn parallel_drafting_hands_out_all_categories_at_once() {
    for (config, handed_out, waiting) in
        [("{}", 2, 0), (r#"{"triage": {"parallel": {"enabled": false}}}"#, 1, 1)]
    {
        let scratch = Scratch::with_store();
        scratch.configure(config);
        capture(&scratch, "s", &TWO_FINDINGS);
        let work = scratch.json("consolidate prepare");
        let tasks = work.at("tasks").and_then(Json::as_list).unwrap();
        assert_eq!(tasks.len(), handed_out, "{config}");
        assert_eq!(work.at("waiting").and_then(Json::as_u64), Some(waiting), "{config}");
        assert_eq!(tasks[0].at("category").and_then(Json::as_text), Some("decision"));
        // With one done, the next comes.
        let said = commit(&scratch, r#"{"category": "decision", "action": "NOOP"}"#).expect(0);
        assert!(said.out.ends_with("1 item is open: run `lorelane consolidate prepare`\n"), "{}", said.out);
        let next = scratch.json("consolidate prepare");
        assert_eq!(next.at("tasks.0.category").and_then(Json::as_text), Some("tech_debt"), "{config}");
    }
}

#[test]
fn the_models_are_named_to_whoever_starts_the_drafting() {
    // What the configuration says, and who drafts a decision, drafts tech debt, and verifies.
    let table = [
        ("{}", ["sonnet", "haiku", "sonnet"]),
        (r#"{"category_models": {"decision": "opus"}}"#, ["opus", "haiku", "sonnet"]),
        (r#"{"default_model": "opus"}"#, ["opus", "opus", "sonnet"]),
        (
            r#"{"default_model": "opus", "category_models": {"decision": "haiku"}}"#,
            ["haiku", "opus", "sonnet"],
        ),
        (r#"{"verification_model": "opus"}"#, ["sonnet", "haiku", "opus"]),
    ];
    for (parallel, expected) in table {
        let scratch = Scratch::with_store();
        scratch.configure(&format!(r#"{{"triage": {{"parallel": {parallel}}}}}"#));
        capture(&scratch, "s", &TWO_FINDINGS);
        let work = scratch.json("consolidate prepare");
        let named = ["tasks.0.model", "tasks.1.model", "verification_model"]
            .map(|path| work.at(path).and_then(Json::as_text).unwrap_or_default());
        assert_eq!(named, expected, "{parallel}");
    }
}

#[test]
fn a_category_that_is_off_is_not_captured() {
    for key in ["auto_capture", "enabled"] {
        let scratch = Scratch::with_store();
        capture(&scratch, "s", &TWO_FINDINGS);
        scratch.configure(&format!(r#"{{"categories": {{"decision": {{"{key}": false}}}}}}"#));
        let work = scratch.json("consolidate prepare");
        assert_eq!(work.at("tasks").and_then(Json::as_list).unwrap().len(), 1, "{key}");
        assert_eq!(work.at("tasks.0.category").and_then(Json::as_text), Some("tech_debt"), "{key}");
        let draft = r#"{"title": "T", "content": {"context": "c", "decision": "d", "rationale": ["r"]}}"#;
        let answer =
            format!(r#"{{"category": "decision", "action": "CREATE", "verdict": "PASS", "draft": {draft}}}"#);
        let said = commit(&scratch, &answer).expect(1);
        assert!(said.out.starts_with("POSTPONE decision: decision is not captured: "), "{}", said.out);
        assert!(!scratch.exists(".claude/memory/decisions/t.json"), "{key}");
    }
}

#[test]
fn a_description_is_told_to_whoever_drafts() {
    let scratch = Scratch::with_store();
    capture(&scratch, "s", &TWO_FINDINGS);
    assert_eq!(scratch.json("consolidate prepare").at("tasks.0.description"), Some(&Json::Null));
    scratch.configure(r#"{"categories": {"decision": {"description": "What we chose"}}}"#);
    let work = scratch.json("consolidate prepare");
    assert_eq!(work.at("tasks.0.description"), Some(&Json::text("What we chose")));
    let context = work.at("tasks.0.context_file").and_then(Json::as_text).unwrap();
    let context = context.replace('~', scratch.folder.to_str().unwrap());
    assert!(fs::read_to_string(context).unwrap().contains("\nDescription: What we chose\n"));
}

#[test]
fn another_folder_than_the_categorys_own_is_refused() {
    let scratch = Scratch::with_jwt();
    scratch.configure(r#"{"categories": {"decision": {"folder": "choices"}}}"#);
    check(
        &scratch.lorelane("retire use-jwt").text(),
        &expect![[r#"
        2> error[CONFIG_ERROR]: cannot write memories: the configuration does not say where
        2>   `categories.decision.folder` in ~/project/.claude/memory/memory-config.json: "choices" is not "decisions", which is the only folder that agents and scripts know
        2> hint: fix the configuration; until then lorelane only reads
        exit 2
    "#]],
    );
    scratch.configure(r#"{"categories": {"decision": {"folder": "decisions"}}}"#);
    scratch.lorelane("retire use-jwt").expect(0);
}

#[test]
fn retention_days_lets_gc_retire_what_was_not_touched() {
    let mut scratch = Scratch::with_jwt();
    scratch.now = LATER;
    assert_eq!(scratch.lorelane("gc").expect(0).out, "Nothing to collect\n");
    scratch.configure(r#"{"categories": {"decision": {"retention_days": 30}}}"#);
    check(
        &scratch.lorelane("gc").text(),
        &expect![[r#"
        Retired decision/use-jwt: Expired: not changed for 30 days (categories.decision.retention_days)
    "#]],
    );
    scratch.lorelane("search jwt").expect(1);
}

#[test]
fn max_retained_is_how_many_sessions_stay() {
    for (config, active) in [("{}", 5), (r#"{"categories": {"session_summary": {"max_retained": 2}}}"#, 2)] {
        let scratch = Scratch::with_store();
        scratch.configure(config);
        for number in 0..6 {
            scratch.session(number);
        }
        let listed = scratch.json("list session_summary").at("total").and_then(Json::as_u64);
        assert_eq!(listed, Some(active), "{config}");
    }
}

#[test]
fn max_memories_per_category_warns_and_says_what_to_do() {
    let scratch = Scratch::with_store();
    scratch.configure(r#"{"max_memories_per_category": 1}"#);
    assert_eq!(scratch.decide("Use JWT").err, "");
    check(
        &scratch.decide("Use a queue").text(),
        &expect![[r#"
        Created decision/use-a-queue
        2> warning: decision has 2 active memories, more than max_memories_per_category (1): retire some with `lorelane retire`, or raise the limit with `lorelane config set max_memories_per_category 50`
    "#]],
    );
}

/// A decision, before small talk that is longer than the least that triage reads.
const DECIDES: &str = r#"{"type":"user","message":{"content":"We decided because.\nWe chose over it."}}"#;

/// Stops a session with these settings and says what the agent is asked.
fn stop(config: &str) -> String {
    let scratch = Scratch::with_store();
    scratch.configure(config);
    let small_talk = r#"{"type":"user","message":{"content":"Hello"}}"#;
    let transcript = scratch.folder.join("transcript.jsonl");
    fs::write(&transcript, [&[DECIDES][..], &[small_talk; 12]].concat().join("\n")).unwrap();
    let payload = format!(r#"{{"session_id":"s","transcript_path":"{}"}}"#, transcript.display());
    scratch.lorelane_with_input("compat memory_triage", payload).err
}

#[test]
fn the_settings_of_triage_decide_whether_an_agent_is_asked() {
    assert!(stop("{}").contains("- [DECISION] We decided because. (score: 0.53)\n"));
    for config in [
        r#"{"triage": {"enabled": false}}"#,
        r#"{"triage": {"max_messages": 10}}"#,
        r#"{"triage": {"thresholds": {"decision": 0.6}}}"#,
        r#"{"triage": {"thresholds": {"DECISION": 0.6}}}"#,
        r#"{"categories": {"decision": {"auto_capture": false}}}"#,
        r#"{"categories": {"decision": {"enabled": false}}}"#,
    ] {
        assert_eq!(stop(config), "", "{config}");
    }
}

#[test]
fn the_settings_of_drafting_are_handed_on() {
    let parts = |said: String| -> Vec<String> { said.lines().map(|line| line.trim().to_owned()).collect() };
    let before = parts(stop("{}"));
    for (config, line) in [
        (r#"{"triage": {"parallel": {"enabled": false}}}"#, "\"enabled\": false,"),
        (r#"{"triage": {"parallel": {"category_models": {"runbook": "Opus"}}}}"#, "\"runbook\": \"opus\","),
        (r#"{"triage": {"parallel": {"verification_model": "opus"}}}"#, "\"verification_model\": \"opus\","),
        (r#"{"triage": {"parallel": {"default_model": "opus"}}}"#, "\"default_model\": \"opus\""),
        (
            r#"{"categories": {"decision": {"description": "what we chose"}}}"#,
            "- [DECISION] (what we chose) We decided because. (score: 0.53)",
        ),
    ] {
        let after = parts(stop(config));
        assert!(after.iter().any(|seen| seen == line), "{config}: {after:#?}");
        assert!(!before.iter().any(|seen| seen == line), "{line}");
    }
}

#[test]
fn grace_period_days_is_how_long_a_retired_memory_is_kept() {
    for (config, left) in [("{}", "Nothing to collect\n"), (GRACE_OF_TWO, "Deleted decision/use-jwt\n")] {
        let mut scratch = Scratch::with_jwt();
        scratch.configure(config);
        scratch.lorelane("retire use-jwt").expect(0);
        scratch.now = "2026-03-04T12:00:00Z";
        assert_eq!(scratch.lorelane("gc --yes").expect(0).out, left, "{config}");
    }
}

const GRACE_OF_TWO: &str = r#"{"delete": {"grace_period_days": 2}}"#;

#[test]
fn archive_retired_decides_between_keeping_and_deleting() {
    for (config, said) in [
        ("{}", "Deleted decision/use-jwt\n"),
        (r#"{"delete": {"archive_retired": false}}"#, "Deleted decision/use-jwt\n"),
        (
            r#"{"delete": {"archive_retired": true}}"#,
            "Archived decision/use-jwt: Grace period over: kept because delete.archive_retired is set\n",
        ),
    ] {
        let mut scratch = Scratch::with_jwt();
        scratch.configure(config);
        scratch.lorelane("retire use-jwt").expect(0);
        scratch.now = LATER;
        assert_eq!(scratch.lorelane("gc --yes").expect(0).out, said, "{config}");
        let kept = config.contains("true");
        assert_eq!(scratch.exists(USE_JWT), kept, "{config}");
    }
}

// A script got its memories deleted without having said `--yes`.
#[test]
fn gc_deletes_nothing_when_nobody_can_be_asked() {
    let mut scratch = Scratch::with_jwt();
    scratch.configure(GRACE_OF_TWO);
    scratch.lorelane("retire use-jwt").expect(0);
    scratch.now = LATER;
    let before = scratch.tree_without_cache();
    let refusal = expect![[r#"
        2> error: cannot delete 1 memory retired more than 2 days ago: needs confirmation and there is no terminal; pass --yes
        2> hint: nothing was changed; `--dry-run` shows what would be deleted
        exit 2
    "#]];
    check(&scratch.lorelane("gc").text(), &refusal);
    check(&scratch.lorelane("gc --json").text(), &refusal);
    scratch.lorelane("gc --dry-run --json").expect(0);
    assert_eq!(before, scratch.tree_without_cache());
    scratch.lorelane("gc --yes --json").expect(0);
    assert!(!scratch.exists(USE_JWT));
}

#[test]
fn memories_that_a_new_root_hides_are_named() {
    let scratch = Scratch::with_jwt();
    scratch.lorelane("config set memory_root docs/mem").expect(0);
    scratch.lorelane("init").expect(0);
    let found = scratch.lorelane("doctor").expect(1).out;
    assert!(["memory_root", "(1)", ".claude/memory"].iter().all(|name| found.contains(name)), "{found}");
    let status = scratch.lorelane("status").expect(0).out;
    assert!(status.contains("NEEDS ATTENTION") && status.contains("memory_root hides memories"), "{status}");
    scratch.lorelane("config set memory_root .claude/memory").expect(0);
    scratch.lorelane("doctor").expect(0);
}

#[test]
fn secrets_are_refused_redacted_or_allowed_as_a_trusted_project_says_before_the_user() {
    let with_secret =
        format!("create decision --title 'Reach the bucket' {DECISION} --set 'context=the key is {SECRET}'");
    // What the project says, what the user says, and what is stored.
    let table = [
        (None, None, None),
        (Some("redact"), None, Some("the key is [redacted: ")),
        (Some("allow"), None, Some(SECRET)),
        (None, Some("redact"), Some("the key is [redacted: ")),
        (Some("refuse"), Some("allow"), None),
        (Some("allow"), Some("refuse"), Some(SECRET)),
    ];
    for (project, user, stored) in table {
        let scratch = Scratch::with_store();
        if let Some(value) = project {
            scratch.put("lorelane.toml", format!("secrets = \"{value}\"\n"));
        }
        if let Some(value) = user {
            fs::create_dir_all(scratch.home().join("config")).unwrap();
            let file = scratch.home().join("config/lorelane.toml");
            fs::write(file, format!("secrets = \"{value}\"\n")).unwrap();
        }
        scratch.lorelane("trust --yes").expect(0);
        let said = scratch.lorelane(&with_secret);
        assert!(!said.text().contains(SECRET), "{}", said.text());
        let file = ".claude/memory/decisions/reach-the-bucket.json";
        match stored {
            Some(text) => assert!(scratch.read(file).contains(text), "{project:?} {user:?}"),
            None => {
                assert!(said.expect(2).err.contains("SECRET_ERROR") && !scratch.exists(file));
            }
        }
    }
}

// A reason went into the journal as it was typed, though the memory kept only a mark of the secret.
#[test]
fn a_secret_in_a_reason_is_masked_in_the_log_too() {
    let scratch = Scratch::with_jwt();
    scratch.set_toml("secrets = \"redact\"\n");
    scratch.lorelane(&format!("update use-jwt --set context=Now --because 'rotated {SECRET}'")).expect(0);
    scratch.lorelane(&format!("retire use-jwt --reason 'leaked {SECRET}'")).expect(0);
    for (path, bytes) in scratch.tree() {
        assert!(!String::from_utf8_lossy(&bytes).contains(SECRET), "{path}");
    }
    check(
        &format!("$ log\n{}", scratch.lorelane("log").text()),
        &expect![[r#"
            $ log
            3    2026-03-01T12:00:00Z  retire decision/use-jwt: leaked AKIA…(12+)
            2    2026-03-01T12:00:00Z  update decision/use-jwt: rotated AKIA…(12+)
            1    2026-03-01T12:00:00Z  create decision/use-jwt
        "#]],
    );
}

// The value was cut before it was masked, and half a secret is not recognised.
#[test]
fn a_secret_in_a_wrong_value_is_masked_before_it_is_cut() {
    let scratch = Scratch::with_store();
    // Otherwise the secret itself is the reason of the refusal.
    scratch.set_toml("secrets = \"allow\"\n");
    let value = format!("{} {SECRET}", "x".repeat(183));
    let said = scratch.lorelane(&format!("create decision --title T {DECISION} --set 'status={value}'"));
    assert!(said.expect(2).err.contains("xxx AKIA…"), "the mask is there");
    scratch.configure(&format!(r#"{{"auto_commit": "{SECRET}"}}"#));
    for line in ["doctor", "doctor --json", "config list", "config list --json", "status", "status --json"] {
        let said = scratch.lorelane(line);
        assert!(said.text().contains("auto_commit") && !said.text().contains(SECRET), "{}", said.text());
    }
}

fn git(scratch: &Scratch, line: &str) -> String {
    let words = crate::scratch::words(line);
    scratch.git(&words.iter().map(String::as_str).collect::<Vec<_>>())
}

fn with_repository() -> Scratch {
    let scratch = Scratch::new();
    git(&scratch, "init -q -b main");
    git(&scratch, "config user.name A");
    git(&scratch, "config user.email a@b.c");
    scratch.lorelane("init").expect(0);
    git(&scratch, "add -A");
    git(&scratch, "commit -q -m start");
    scratch.lorelane("config set auto_commit true").expect(0);
    git(&scratch, "commit -q -a -m configured");
    scratch
}

#[test]
fn auto_commit_commits_the_touched_files_and_leaves_the_rest_of_the_index() {
    let scratch = with_repository();
    scratch.put("half-done.rs", "fn half() {}\n");
    git(&scratch, "add half-done.rs");
    assert_eq!(scratch.decide("Use JWT").err, "");
    scratch.lorelane("pin use-jwt").expect(0);
    scratch.lorelane("update use-jwt --set 'title=Adopt PASETO tokens everywhere'").expect(0);
    scratch.lorelane("undo").expect(0);
    check(
        &git(&scratch, "log --format=%s --name-status"),
        &expect![[r#"
        memory: undo, change 4

        D	.claude/memory/decisions/adopt-paseto-tokens-everywhere.json
        A	.claude/memory/decisions/use-jwt.json
        M	.claude/memory/index.md
        M	.lorelane/marks.jsonl
        memory: update decision/use-jwt

        A	.claude/memory/decisions/adopt-paseto-tokens-everywhere.json
        D	.claude/memory/decisions/use-jwt.json
        M	.claude/memory/index.md
        M	.lorelane/marks.jsonl
        memory: pin decision/use-jwt

        A	.lorelane/marks.jsonl
        memory: create decision/use-jwt

        A	.claude/memory/decisions/use-jwt.json
        M	.claude/memory/index.md
        configured

        M	.claude/memory/memory-config.json
        start

        A	.claude/memory/index.md
        A	.claude/memory/memory-config.json
    "#]],
    );
    assert_eq!(git(&scratch, "status --porcelain"), "A  half-done.rs\n");
}

#[test]
fn without_auto_commit_git_is_left_alone() {
    let scratch = with_repository();
    scratch.lorelane("config set auto_commit false").expect(0);
    scratch.decide("Use JWT");
    assert_eq!(git(&scratch, "log --format=%s"), "configured\nstart\n");
}

// A refused commit left the memory in git's index, and the user's next commit took it along.
#[test]
fn a_refusal_of_git_is_a_warning_and_the_memory_is_saved() {
    let scratch = with_repository();
    scratch.put(".git/hooks/pre-commit", "#!/bin/sh\necho no commits on Sundays >&2\nexit 1\n");
    let hook = scratch.project().join(".git/hooks/pre-commit");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(hook, mode).unwrap();
    check(
        &scratch.decide("Use JWT").text(),
        &expect![[r#"
        Created decision/use-jwt
        2> warning: saved, but git did not commit it (auto_commit): no commits on Sundays
    "#]],
    );
    assert!(scratch.exists(USE_JWT));
    check(
        &git(&scratch, "status --porcelain"),
        &expect![[r#"
         M .claude/memory/index.md
        ?? .claude/memory/decisions/
    "#]],
    );
    assert_eq!(git(&scratch, "log --format=%s"), "configured\nstart\n");
}

// The warning ended with its colon.
#[test]
fn a_hook_that_refuses_without_a_word_is_named_as_the_reason() {
    let scratch = with_repository();
    scratch.put(".git/hooks/pre-commit", "#!/bin/sh\nexit 1\n");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(scratch.project().join(".git/hooks/pre-commit"), mode).unwrap();
    let said = scratch.decide("Use JWT");
    assert!(said.err.contains("(auto_commit): a hook rejected it without a message"), "{}", said.text());
}

// Called from a git hook it went through the index and into the repository that the hook belonged to.
#[test]
fn auto_commit_commits_here_whatever_repository_the_environment_names() {
    let scratch = with_repository();
    let other = scratch.folder.join("other");
    fs::create_dir(&other).unwrap();
    git(&scratch, "init -q -b main ../other");
    let words = crate::scratch::words(&format!("create decision --title 'Use JWT' --tag auth {DECISION}"));
    let mut command = scratch.command(&words.iter().map(String::as_str).collect::<Vec<_>>());
    command.env("GIT_DIR", other.join(".git")).env("GIT_WORK_TREE", &other);
    command
        .env("GIT_INDEX_FILE", other.join("index"))
        .env("GIT_PREFIX", "sub/")
        .env("GIT_GLOB_PATHSPECS", "1");
    let said = scratch.said(&command.output().unwrap()).expect(0);
    assert_eq!(said.err, "");
    assert_eq!(git(&scratch, "log -1 --format=%s"), "memory: create decision/use-jwt\n");
    assert_eq!(git(&scratch, "status --porcelain"), "");
    assert!(!other.join("index").exists() && !other.join(".git/index").exists());
}

#[test]
fn auto_commit_takes_a_change_of_many_files() {
    let mut scratch = with_repository();
    scratch.decide("Use JWT");
    let record = scratch.read(USE_JWT);
    for number in 0..40 {
        let name = format!("{}-{number}", "a".repeat(60));
        let record = record.replace("\"use-jwt\"", &format!("\"{name}\""));
        scratch.put(&format!(".claude/memory/decisions/{name}.json"), record);
    }
    scratch.lorelane("reindex").expect(0);
    git(&scratch, "add -A");
    git(&scratch, "commit -q -m many");
    scratch.configure(r#"{"auto_commit": true, "categories": {"decision": {"retention_days": 30}}}"#);
    scratch.now = LATER;
    assert_eq!(scratch.lorelane("gc").expect(0).err, "");
    let changed = git(&scratch, "log -1 --format=%s --name-only");
    assert_eq!(changed.lines().filter(|line| line.ends_with(".json")).count(), 41, "{changed}");
}

#[test]
fn auto_commit_without_a_repository_is_a_warning() {
    let scratch = Scratch::with_store();
    scratch.configure(r#"{"auto_commit": true}"#);
    let said = scratch.decide("Use JWT");
    assert!(said.err.contains("warning: saved, but git did not commit it (auto_commit)"), "{}", said.text());
    assert!(scratch.exists(USE_JWT));
}

#[test]
fn a_wrong_value_is_named_with_key_value_and_file_and_stops_nothing() {
    let table = [
        (r#"{"delete": {"grace_period_days": -1}}"#, ["delete.grace_period_days", "-1", "default is used"]),
        (
            r#"{"delete": {"grace_period_days": "30"}}"#,
            ["delete.grace_period_days", "\"30\"", "default is used"],
        ),
        (r#"{"auto_commit": "yes"}"#, ["auto_commit", "\"yes\"", "default is used"]),
        (r#"{"retrieval": {"max_inject": 99}}"#, ["retrieval.max_inject", "99", "20 is used"]),
        (
            r#"{"triage": {"thresholds": {"decision": 7}}}"#,
            ["triage.thresholds.decision", "7", "1.0 is used"],
        ),
        (r#"{"colour": "red"}"#, ["colour", "\"red\"", "unknown key"]),
        (r#"{"categories": {"poems": {"enabled": true}}}"#, ["categories.poems", "true", "unknown key"]),
    ];
    for (config, names) in table {
        let scratch = Scratch::with_jwt();
        scratch.configure(config);
        let names: Vec<&str> = names.into_iter().chain(["memory-config.json"]).collect();
        for line in ["doctor", "config list", "status"] {
            let said = scratch.lorelane(line).text();
            assert!(names.iter().all(|name| said.contains(name)), "{config}\n{line}\n{said}");
        }
        scratch.lorelane("show use-jwt").expect(0);
        scratch.lorelane("update use-jwt --set context=Changed").expect(0);
    }
}

#[test]
fn a_broken_file_stops_no_read_and_every_write() {
    for (file, text) in [
        (CONFIG, &b"{\"memory_root\": "[..]),
        (CONFIG, b"[]"),
        (CONFIG, b"\xff\xfe"),
        ("lorelane.toml", b"secrets = "),
        ("lorelane.toml", b"secrets = \xff"),
    ] {
        let scratch = Scratch::with_jwt();
        scratch.put(file, text);
        let before = scratch.tree_without_cache();
        for line in [
            "list",
            "show use-jwt",
            "search jwt",
            "status",
            "log",
            "config list",
            "candidate decision --new-info jwt",
        ] {
            scratch.lorelane(line).expect(0);
        }
        assert!(scratch.lorelane("doctor").expect(1).out.contains("config: `*` in "));
        for line in [
            &format!("create decision --title Other {DECISION}"),
            "update use-jwt --set context=x",
            "retire use-jwt",
            "pin use-jwt",
            "undo",
            "reindex",
            "gc",
        ] {
            // Nothing to collect is no write.
            let code = if line == "gc" { 0 } else { 2 };
            let said = scratch.lorelane(line).expect(code);
            let name = file.rsplit('/').next().unwrap();
            assert!(code == 0 || said.err.contains(name) && said.err.contains("hint: "), "{}", said.text());
        }
        assert_eq!(before, scratch.tree_without_cache(), "{file} {text:?}");
        let key = if file == CONFIG { "auto_commit true" } else { "secrets allow" };
        let said = scratch.lorelane(&format!("config set {key}")).expect(2);
        assert!(said.err.contains("cannot change") && said.err.contains("fix the file"), "{}", said.text());
        assert_eq!(fs::read(scratch.project().join(file)).unwrap(), text);
    }
}

#[test]
fn config_set_keeps_every_other_byte() {
    let scratch = Scratch::with_store();
    let json =
        "{\r\n\t\"zeta\" : 1.50,\n   \"delete\": { \"grace_period_days\":30 },\n\"auto_commit\":false }";
    scratch.put(CONFIG, json);
    scratch.lorelane("config set delete.grace_period_days 14").expect(0);
    assert_eq!(scratch.read(CONFIG), json.replace(":30", ":14"));
    let toml = "# Ours.\n\n[other]   # spaced\nx = 1\n";
    scratch.put("lorelane.toml", toml);
    scratch.lorelane("config set secrets redact").expect(0);
    let after = scratch.read("lorelane.toml");
    assert_eq!(after.replace("secrets = \"redact\"\n", ""), toml);
    assert_eq!(scratch.lorelane("config get secrets").out, "\"redact\"\n");
    assert_eq!(scratch.lorelane("config get delete.grace_period_days").out, "14\n");
}

#[test]
fn config_set_refuses_what_would_not_act() {
    let scratch = Scratch::with_store();
    let before = scratch.tree_without_cache();
    for (key, value) in [
        ("no.such.key", "1"),
        ("auto_commit", "perhaps"),
        ("delete.grace_period_days", "-1"),
        ("delete.grace_period_days", "1.5"),
        ("memory_root", "../x"),
        ("categories.decision.folder", "choices"),
        ("secrets", "sell"),
        ("retrieval.match_strategy", "magic"),
    ] {
        let said = scratch.lorelane(&format!("config set {key} -- {value}")).expect(2);
        assert!(said.err.contains(key) && said.err.contains("hint: "), "{}", said.text());
    }
    scratch.lorelane("config get no.such.key").expect(2);
    assert_eq!(before, scratch.tree_without_cache());
    assert!(scratch.read(LISTING).starts_with("# Memory Index"));
}
