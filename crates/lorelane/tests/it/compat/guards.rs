//! Every text of `memory_write_guard` and `memory_validate_hook`.

use super::{Scratch, USE_JWT, decision, record};
use crate::scratch::{CONFIG, LANE, Said};
use expect_test::expect;
use lorelane_core::json::{Json, JsonFormat, Object};
use std::fs;
use std::os::unix::fs::symlink;

pub(super) const DENIED: &str = r#"{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "Direct writes to the memory directory are blocked. Use memory_write.py via Bash instead: python3 $CLAUDE_PLUGIN_ROOT/hooks/scripts/memory_write.py --action <create|update|delete> ..."}}"#;

impl Scratch {
    /// What a hook answers when a client tells of this use of a tool.
    pub(super) fn tool_hook(&self, script: &str, tool: &str, input: &[(&str, &str)]) -> Said {
        let input: Object = input.iter().map(|(key, value)| (*key, Json::text(*value))).collect();
        let payload: Object = [
            ("session_id", Json::text("7b23")),
            ("cwd", Json::text(self.project().to_str().unwrap())),
            ("tool_name", Json::text(tool)),
            ("tool_input", Json::Object(input)),
        ]
        .into_iter()
        .collect();
        self.told(script, &format!("{}\n", Json::Object(payload).render(JsonFormat::LINE)))
    }

    pub(super) fn told(&self, script: &str, payload: &str) -> Said {
        self.lorelane_with_input(&format!("compat {script}"), payload).expect(0)
    }

    pub(super) fn guard(&self, tool: &str, key: &str, value: &str) -> String {
        self.tool_hook("memory_write_guard", tool, &[(key, value)]).text()
    }

    pub(super) fn validate(&self, tool: &str, key: &str, value: &str) -> String {
        self.tool_hook("memory_validate_hook", tool, &[(key, value)]).text()
    }

    /// The files of a folder in the lane.
    pub(super) fn files_in(&self, folder: &str) -> Vec<String> {
        let entries = fs::read_dir(self.project().join(folder)).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

#[test]
fn a_write_into_the_folder_is_denied_and_no_other() {
    let scratch = Scratch::with_decision();
    let inside = scratch.project().join(USE_JWT);
    fs::create_dir(scratch.project().join("docs")).unwrap();
    symlink("../.claude/memory/decisions", scratch.project().join("docs/linked")).unwrap();
    symlink("../.claude/memory/decisions/new.json", scratch.project().join("docs/dangling.json")).unwrap();
    for (path, denied) in [
        (inside.to_str().unwrap(), true),
        (USE_JWT, true),
        (LANE, true),
        ("docs/../.claude/memory/index.md", true),
        ("docs/linked/x.json", true),
        ("docs/linked/new/folder/x.json", true),
        ("docs/dangling.json", true),
        // The scripts went by the name, also where no store is.
        ("/nowhere/.claude/memory/decisions/x.json", true),
        (CONFIG, false),
        ("docs/x.json", false),
        ("/tmp/.memory-write-pending.json", false),
        ("/tmp/.memory-draft-decision-1.json", false),
        ("/tmp/.memory-triage-context-decision.txt", false),
        ("", false),
    ] {
        let expected = if denied { DENIED } else { "" };
        assert_eq!(scratch.guard("Write", "file_path", path), expected, "{path}");
    }
}

#[test]
fn a_payload_that_cannot_be_read_denies_nothing() {
    let scratch = Scratch::with_decision();
    for payload in [
        "",
        "nonsense",
        "[]",
        "null",
        r#"{"tool_input": 3}"#,
        r#"{"tool_input": {"file_path": ["a"]}}"#,
        r#"{"tool_input": {"file_path": null, "edits": {"a": 1}}}"#,
        r#"{"tool_name": "Read", "tool_input": {"file_path": ".claude/memory/index.md"}}"#,
        r#"{"tool_name": "Grep", "tool_input": {"path": ".claude/memory"}}"#,
    ] {
        for script in ["memory_write_guard", "memory_validate_hook.py"] {
            assert_eq!(scratch.told(script, payload).text(), "", "{script}: {payload}");
        }
    }
}

#[test]
fn the_validate_hook_says_what_it_found() {
    let scratch = Scratch::with_decision();
    let mut seen = String::new();
    let mut write = |path: &str, text: &str| {
        scratch.put(path, text);
        seen.push_str(&format!("# {path}\n{}\n", scratch.validate("Write", "file_path", path)));
    };
    write(USE_JWT, &decision("use-jwt", "Use JWT"));
    write(CONFIG, "{}\n");
    write("src/main.rs", "fn main() {}\n");
    write(".claude/memory/notes.md", "# Notes\n");
    write(".claude/memory/decisions/a.json", r#"{"title": "A", "tags": ["x"]}"#);
    write(".claude/memory/decisions/b.json", "not JSON");
    write(".claude/memory/runbooks/c.json", &decision("c", "C"));
    write(".claude/memory/decisions/d.json", &decision("d", "D").replace(r#"["auth"]"#, "[]"));
    write(".claude/memory/decisions/e.json", &record("decision", "e", "E", "3"));
    write(".claude/memory/decisions/f.json", &decision("f", "F").replace("accepted", "perhaps"));
    write(".claude/memory/decisions/Not a slug.json", &decision("g", "G"));
    write(".claude/memory/h.json", &decision("h", "H"));
    expect![[r##"
        # .claude/memory/decisions/use-jwt.json
        2> WARNING: Write to memory file bypassed PreToolUse guard: ~/project/.claude/memory/decisions/use-jwt.json
        2> WARNING: File is valid but was written directly (bypassed guard): ~/project/.claude/memory/decisions/use-jwt.json

        # .claude/memory/memory-config.json

        # src/main.rs

        # .claude/memory/notes.md
        {"decision": "block", "reason": "Direct write to non-JSON memory file blocked: notes.md. Use memory_write.py instead."}2> WARNING: Write to memory file bypassed PreToolUse guard: ~/project/.claude/memory/notes.md

        # .claude/memory/decisions/a.json
        {"decision": "block", "reason": "Schema validation failed: Missing required fields: schema_version, category, id, created_at, updated_at, content. File quarantined to a.json.invalid.1772366400. Use memory_write.py instead."}2> WARNING: Write to memory file bypassed PreToolUse guard: ~/project/.claude/memory/decisions/a.json
        2> ERROR: Schema validation failed: Missing required fields: schema_version, category, id, created_at, updated_at, content. File quarantined to a.json.invalid.1772366400. Use memory_write.py instead.

        # .claude/memory/decisions/b.json
        {"decision": "block", "reason": "Schema validation failed: it is not JSON: expected a value at line 1 column 1. File quarantined to b.json.invalid.1772366400. Use memory_write.py instead."}2> WARNING: Write to memory file bypassed PreToolUse guard: ~/project/.claude/memory/decisions/b.json
        2> ERROR: Schema validation failed: it is not JSON: expected a value at line 1 column 1. File quarantined to b.json.invalid.1772366400. Use memory_write.py instead.

        # .claude/memory/runbooks/c.json
        {"decision": "block", "reason": "Schema validation failed: Category mismatch: file in 'runbooks' folder but category is 'decision'. File quarantined to c.json.invalid.1772366400. Use memory_write.py instead."}2> WARNING: Write to memory file bypassed PreToolUse guard: ~/project/.claude/memory/runbooks/c.json
        2> ERROR: Schema validation failed: Category mismatch: file in 'runbooks' folder but category is 'decision'. File quarantined to c.json.invalid.1772366400. Use memory_write.py instead.

        # .claude/memory/decisions/d.json
        {"decision": "block", "reason": "Schema validation failed: tags must be a non-empty array. File quarantined to d.json.invalid.1772366400. Use memory_write.py instead."}2> WARNING: Write to memory file bypassed PreToolUse guard: ~/project/.claude/memory/decisions/d.json
        2> ERROR: Schema validation failed: tags must be a non-empty array. File quarantined to d.json.invalid.1772366400. Use memory_write.py instead.

        # .claude/memory/decisions/e.json
        {"decision": "block", "reason": "Schema validation failed: content must be an object. File quarantined to e.json.invalid.1772366400. Use memory_write.py instead."}2> WARNING: Write to memory file bypassed PreToolUse guard: ~/project/.claude/memory/decisions/e.json
        2> ERROR: Schema validation failed: content must be an object. File quarantined to e.json.invalid.1772366400. Use memory_write.py instead.

        # .claude/memory/decisions/f.json
        {"decision": "block", "reason": "Schema validation failed: content.status: Input should be 'proposed', 'accepted', 'deprecated' or 'superseded' (got \"perhaps\"). File quarantined to f.json.invalid.1772366400. Use memory_write.py instead."}2> WARNING: Write to memory file bypassed PreToolUse guard: ~/project/.claude/memory/decisions/f.json
        2> ERROR: Schema validation failed: content.status: Input should be 'proposed', 'accepted', 'deprecated' or 'superseded' (got "perhaps"). File quarantined to f.json.invalid.1772366400. Use memory_write.py instead.

        # .claude/memory/decisions/Not a slug.json
        {"decision": "block", "reason": "Schema validation failed: a memory lies in the folder of its category, under a name of a-z, 0-9 and -. File quarantined to Not a slug.json.invalid.1772366400. Use memory_write.py instead."}2> WARNING: Write to memory file bypassed PreToolUse guard: ~/project/.claude/memory/decisions/Not a slug.json
        2> ERROR: Schema validation failed: a memory lies in the folder of its category, under a name of a-z, 0-9 and -. File quarantined to Not a slug.json.invalid.1772366400. Use memory_write.py instead.

        # .claude/memory/h.json
        {"decision": "block", "reason": "Schema validation failed: a memory lies in the folder of its category, under a name of a-z, 0-9 and -. File quarantined to h.json.invalid.1772366400. Use memory_write.py instead."}2> WARNING: Write to memory file bypassed PreToolUse guard: ~/project/.claude/memory/h.json
        2> ERROR: Schema validation failed: a memory lies in the folder of its category, under a name of a-z, 0-9 and -. File quarantined to h.json.invalid.1772366400. Use memory_write.py instead.

    "##]].assert_eq(&seen);
}

#[test]
fn a_file_in_quarantine_is_kept_found_by_doctor_and_given_back_by_undo() {
    let scratch = Scratch::with_decision();
    let (before, listing) = (scratch.read(USE_JWT), scratch.listing());
    let bytes = r#"{"title": "Use JWT", "tags": ["auth"]}"#;
    scratch.put(USE_JWT, bytes);
    scratch.validate("Write", "file_path", USE_JWT);
    let aside = ".claude/memory/decisions/use-jwt.json.invalid.1772366400";
    assert_eq!(scratch.read(aside), bytes);
    assert_eq!(
        (scratch.read(USE_JWT), scratch.listing()),
        (before, listing),
        "the memory it overwrote is restored"
    );
    expect![[r#"
        file: decisions/use-jwt.json.invalid.1772366400 is in quarantine: it was written outside lorelane and is not a valid memory
          hint: save its content with `lorelane create`, then remove it; `lorelane log` shows when it was put there
        exit 1
    "#]].assert_eq(&scratch.lorelane("doctor").text());
    expect![[r#"
        Undid "quarantine: decisions/use-jwt.json is not a valid memory"
    "#]]
    .assert_eq(&scratch.lorelane("undo").text());
    assert_eq!(scratch.read(USE_JWT), bytes);
    assert!(!scratch.exists(aside));
    assert_eq!(scratch.lorelane("doctor --index").text(), "No problems found\n");
}

#[test]
fn a_shell_command_that_got_through_is_examined_too() {
    let scratch = Scratch::with_decision();
    scratch.lorelane("list").expect(0);
    scratch.put(".claude/memory/decisions/new.json", "{}");
    scratch.put(".claude/memory/runbooks/fine.json", super::runbook("fine", "Fine"));
    expect![[r#"
        {"decision": "block", "reason": "Schema validation failed: Missing required fields: schema_version, category, id, title, created_at, updated_at, tags, content. File quarantined to new.json.invalid.1772366400. Use memory_write.py instead."}2> WARNING: File is valid but was written directly (bypassed guard): runbook/fine
        2> ERROR: Schema validation failed: Missing required fields: schema_version, category, id, title, created_at, updated_at, tags, content. File quarantined to new.json.invalid.1772366400. Use memory_write.py instead.
    "#]].assert_eq(&scratch.validate(
        "Bash",
        "command",
        "cp /tmp/x.json .claude/memory/decisions/new.json",
    ));
    assert_eq!(scratch.files_in(".claude/memory/decisions"), ["new.json.invalid.1772366400", "use-jwt.json"]);
    assert_eq!(scratch.validate("Bash", "command", "ls"), "");
}

// A store from before lorelane, or whose cache was deleted: nothing tells what is new in it.
#[test]
fn without_an_index_of_before_a_shell_command_quarantines_nothing() {
    let scratch = Scratch::new();
    scratch.put(".claude/memory/decisions/old.json", "{}");
    assert_eq!(scratch.validate("Bash", "command", "touch .claude/memory/decisions/x.json"), "");
    assert!(scratch.exists(".claude/memory/decisions/old.json"));
}
