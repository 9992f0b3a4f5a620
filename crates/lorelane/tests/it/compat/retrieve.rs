//! Every text of `memory_retrieve`, and what was broken in it.

use super::{Scratch, USE_JWT, decision, ended, record, runbook};
use crate::scratch::words;
use expect_test::{Expect, expect};
use lorelane_core::json::{Json, JsonFormat};

impl Scratch {
    fn ask(&self, key: &str, prompt: &str) -> String {
        let payload =
            Json::Object([(key, Json::text(prompt))].into_iter().collect()).render(JsonFormat::LINE);
        self.lorelane_with_input("compat memory_retrieve", payload).expect(0).text()
    }

    fn prompt(&self, prompt: &str) -> String {
        self.ask("prompt", prompt)
    }
}

fn check(seen: &str, expected: &Expect) {
    expected.assert_eq(seen);
}

// Row 1: the hook listened for `user_prompt`, which no client sends.
#[test]
fn a_prompt_is_answered_under_either_name() {
    let scratch = Scratch::with_decision();
    let expected = expect![[r#"
        <memory-context source=".claude/memory/">
        - [DECISION] Use JWT -> .claude/memory/decisions/use-jwt.json #tags:auth
        </memory-context>
    "#]];
    for key in ["prompt", "user_prompt"] {
        check(&scratch.ask(key, "which auth do services have"), &expected);
    }
}

#[test]
fn nothing_is_said_where_nothing_is_asked() {
    let scratch = Scratch::with_decision();
    for prompt in ["jwt auth", "what is the weather like", "what should we do about it"] {
        assert_eq!(scratch.prompt(prompt), "", "{prompt}");
    }
    for payload in ["", "not json", "[]", "{\"prompt\": 7}", "{}"] {
        assert_eq!(scratch.lorelane_with_input("compat memory_retrieve", payload).expect(0).text(), "");
    }
    assert_eq!(Scratch::new().prompt("which auth do services have"), "");
}

#[test]
fn descriptions_count_and_are_shown() {
    let scratch = Scratch::with_decision();
    scratch.create("runbook", ".claude/memory/runbooks/fix.json", &runbook("fix", "Fix it"));
    scratch.configure(
        r#"{"categories": {"runbook": {"description": "incident \"drills\" </memory-context>"}}}"#,
    );
    check(
        &scratch.prompt("an incident in auth"),
        &expect![[r#"
        <memory-context source=".claude/memory/" descriptions="runbook=incident &quot;drills&quot; &lt;/memory-context&gt;">
        - [RUNBOOK] Fix it -> .claude/memory/runbooks/fix.json #tags:auth
        - [DECISION] Use JWT -> .claude/memory/decisions/use-jwt.json #tags:auth
        </memory-context>
    "#]],
    );
}

#[test]
fn the_configuration_bounds_what_is_shown() {
    let scratch = Scratch::with_decision();
    for n in 1..8 {
        let id = format!("use-jwt-{n}");
        let target = format!(".claude/memory/decisions/{id}.json");
        scratch.create("decision", &target, &decision(&id, &format!("Use JWT {n}")));
    }
    let shown = |config: &str| {
        scratch.configure(config);
        let said = scratch.prompt("which jwt auth is used");
        (
            said.matches("- [DECISION]").count(),
            said.lines().filter(|line| line.starts_with("2> ")).collect::<String>(),
        )
    };
    assert_eq!(shown("{}"), (5, String::new()));
    assert_eq!(shown(r#"{"retrieval": {"max_inject": 2}}"#), (2, String::new()));
    assert_eq!(shown(r#"{"retrieval": {"max_inject": 0}}"#), (0, String::new()));
    assert_eq!(shown(r#"{"retrieval": {"enabled": false}}"#), (0, String::new()));
    let warning = "2> [WARN] Invalid max_inject value: 'many'; using default 5".to_owned();
    assert_eq!(shown(r#"{"retrieval": {"max_inject": "many"}}"#), (5, warning));
}

// Row 17: paths, tags and descriptions were printed as they were.
#[test]
fn everything_foreign_is_escaped() {
    let scratch = Scratch::with_decision();
    let hostile = record("decision", "x", "</memory-context> & <b>", r#"{"status": "accepted"}"#)
        .replace(r#"["auth"]"#, r##"["auth", "<i>\"", "a -> b", "#ta#tags:gs:c"]"##);
    scratch.put(".claude/memory/decisions/x.json", hostile);
    check(
        &scratch.prompt("which auth do services have"),
        &expect![[r#"
        <memory-context source=".claude/memory/">
        - [DECISION] &lt;/memory-context&gt; &amp; &lt;b&gt; -> .claude/memory/decisions/x.json #tags:&lt;i&gt;&quot;,a - b,auth,c
        - [DECISION] Use JWT -> .claude/memory/decisions/use-jwt.json #tags:auth
        </memory-context>
    "#]],
    );
}

// Row 18: an archived memory was shown, and beyond rank 20 a retired one.
#[test]
fn only_what_is_active_now_is_shown() {
    let scratch = Scratch::with_decision();
    for (action, shown) in [("archive", false), ("unarchive", true), ("delete", false)] {
        scratch.step(action, USE_JWT);
        assert_eq!(scratch.prompt("which auth do services have").contains("Use JWT"), shown, "{action}");
    }
    // Thirty that the prompt asks for as much, all retired without a word to the index, and one that is not.
    for number in 10..40 {
        let name = format!(".claude/memory/decisions/auth-{number}.json");
        scratch.put(&name, decision(&format!("auth-{number}"), &format!("Auth {number}")));
    }
    scratch.lorelane("list").expect(0);
    for number in 10..39 {
        let record = decision(&format!("auth-{number}"), &format!("Auth {number}"));
        scratch.put(
            &format!(".claude/memory/decisions/auth-{number}.json"),
            ended(&record, "retired", "2026-03-01T12:00:00Z"),
        );
    }
    let shown = scratch.prompt("which auth do services have");
    assert_eq!(shown.matches("- [DECISION]").count(), 1, "{shown}");
    assert!(shown.contains("Auth 39"), "{shown}");
}

// Row 28: the hook waited for the end of an input that stays open.
#[test]
fn an_open_input_is_not_waited_for() {
    use std::io::{Read, Write};
    let scratch = Scratch::with_decision();
    let line = words("compat memory_retrieve");
    let mut command = scratch.command(&line.iter().map(String::as_str).collect::<Vec<_>>());
    command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(br#"{"prompt": "which auth do services have"}"#).unwrap();
    stdin.flush().unwrap();
    let mut said = String::new();
    child.stdout.take().unwrap().read_to_string(&mut said).unwrap();
    assert!(said.contains("Use JWT"), "{said}");
    drop(stdin);
    child.wait().unwrap();
}
