//! Every text of `memory_write`.

use super::{NOW, Scratch, USE_JWT, decision, ended, record, revised, session};
use expect_test::{Expect, expect};
use std::fs;

fn check(seen: &str, expected: &Expect) {
    expected.assert_eq(seen);
}

#[test]
fn every_action_has_its_result() {
    let scratch = Scratch::new();
    let retitled = revised(&decision("use-jwt", "Use JWT")).replace("Use JWT", "Tokens are signed by us");
    let renamed = ".claude/memory/decisions/tokens-are-signed-by-us.json";
    let steps = [
        scratch.create("decision", USE_JWT, &decision("use-jwt", "Use JWT")),
        scratch.update(USE_JWT, &retitled),
        scratch.run(&[
            "memory_write",
            "--action=delete",
            "--target",
            renamed,
            "--reason",
            "Wir können's nicht",
        ]),
        scratch.step("retire", renamed),
        scratch.step("restore", renamed),
        scratch.step("restore", renamed),
        scratch.step("archive", renamed),
        scratch.step("archive", renamed),
        scratch.step("unarchive", renamed),
        scratch.step("retire", renamed),
    ];
    check(
        &steps.concat(),
        &expect![[r#"
        {"status": "created", "target": ".claude/memory/decisions/use-jwt.json", "id": "use-jwt", "title": "Use JWT"}
        {"status": "updated", "target": ".claude/memory/decisions/tokens-are-signed-by-us.json", "id": "tokens-are-signed-by-us", "title": "Tokens are signed by us", "times_updated": 1, "renamed_from": ".claude/memory/decisions/use-jwt.json"}
        {"status": "retired", "target": ".claude/memory/decisions/tokens-are-signed-by-us.json", "reason": "Wir k\u00f6nnen's nicht"}
        {"status": "already_retired", "target": ".claude/memory/decisions/tokens-are-signed-by-us.json"}
        {"status": "restored", "target": ".claude/memory/decisions/tokens-are-signed-by-us.json"}
        {"status": "already_active", "target": ".claude/memory/decisions/tokens-are-signed-by-us.json"}
        {"status": "archived", "target": ".claude/memory/decisions/tokens-are-signed-by-us.json", "reason": "No reason provided"}
        {"status": "already_archived", "target": ".claude/memory/decisions/tokens-are-signed-by-us.json"}
        {"status": "unarchived", "target": ".claude/memory/decisions/tokens-are-signed-by-us.json"}
        {"status": "retired", "target": ".claude/memory/decisions/tokens-are-signed-by-us.json", "reason": "No reason provided"}
    "#]],
    );
    check(
        &scratch.read(renamed),
        &expect![[r#"
        {
          "schema_version": "1.0",
          "category": "decision",
          "id": "tokens-are-signed-by-us",
          "title": "Tokens are signed by us",
          "record_status": "retired",
          "created_at": "2026-03-01T12:00:00Z",
          "updated_at": "2026-03-01T12:00:00Z",
          "tags": [
            "auth"
          ],
          "content": {
            "status": "accepted",
            "context": "Sessions were slow",
            "decision": "Use tokens",
            "rationale": [
              "stateless"
            ]
          },
          "changes": [
            {
              "date": "2026-03-01T12:00:00Z",
              "summary": "Looked at it again"
            },
            {
              "date": "2026-03-01T12:00:00Z",
              "summary": "Retired: Wir können's nicht",
              "field": "record_status",
              "old_value": "active",
              "new_value": "retired"
            },
            {
              "date": "2026-03-01T12:00:00Z",
              "summary": "Restored: returned to active from retired",
              "field": "record_status",
              "old_value": "retired",
              "new_value": "active"
            },
            {
              "date": "2026-03-01T12:00:00Z",
              "summary": "Archived: No reason provided",
              "field": "record_status",
              "old_value": "active",
              "new_value": "archived"
            },
            {
              "date": "2026-03-01T12:00:00Z",
              "summary": "Unarchived: restored to active",
              "field": "record_status",
              "old_value": "archived",
              "new_value": "active"
            },
            {
              "date": "2026-03-01T12:00:00Z",
              "summary": "Retired: No reason provided",
              "field": "record_status",
              "old_value": "active",
              "new_value": "retired"
            }
          ],
          "times_updated": 1,
          "retired_at": "2026-03-01T12:00:00Z",
          "retired_reason": "No reason provided"
        }
    "#]],
    );
    assert!(!scratch.project().join(USE_JWT).exists());
}

#[test]
fn a_draft_goes_only_when_it_was_saved() {
    let scratch = Scratch::new();
    let draft = scratch.draft(&decision("use-jwt", "Use JWT"));
    let arguments = [
        "memory_write",
        "--action",
        "create",
        "--category",
        "decision",
        "--target",
        USE_JWT,
        "--input",
        &draft,
    ];
    scratch.run(&arguments);
    assert!(!fs::exists(&draft).unwrap());
    fs::write(&draft, decision("use-jwt", "Use JWT")).unwrap();
    scratch.run(&arguments);
    assert!(fs::exists(&draft).unwrap(), "the second create was refused");
}

#[test]
fn what_can_be_mended_is_mended_and_said() {
    let tags: Vec<String> = (10..24).map(|number| format!("\"T{number}\"")).collect();
    let content =
        r#""content": {"kind": "policy", "rule": "r", "impact": ["i"], "severity": "low", "active": "yes"}"#;
    let drafts = [
        r#"{"id": "A b", "title": " T\u0007 -> #tags:x ", "tags": "One, two", "confidence": -3, $CONTENT}"#
            .to_owned(),
        r#"{"id": "c", "title": "C", "tags": [" ", 3], "confidence": "7", $CONTENT}"#.to_owned(),
        format!(r#"{{"id": "d", "title": "D", "tags": [{}], "category": "x", $CONTENT}}"#, tags.join(", ")),
    ];
    let scratch = Scratch::new();
    let mut seen = String::new();
    for (name, draft) in ["a-b", "other", "d"].iter().zip(drafts) {
        let target = format!(".claude/memory/constraints/{name}.json");
        seen.push_str(&scratch.create("constraint", &target, &draft.replace("$CONTENT", content)));
    }
    check(
        &seen,
        &expect![[r#"
        {"status": "created", "target": ".claude/memory/constraints/a-b.json", "id": "a-b", "title": "T - x"}
        2> [AUTO-FIX] schema_version: set to '1.0'
        2> [AUTO-FIX] updated_at: set to current UTC
        2> [AUTO-FIX] created_at: set to current UTC
        2> [AUTO-FIX] tags: wrapped string in array
        2> [AUTO-FIX] content.active: read "yes" as true
        2> [AUTO-FIX] id: slugified 'A b' -> 'a-b'
        2> [AUTO-FIX] confidence: clamped to 0.0
        2> [AUTO-FIX] title: stripped whitespace
        2> [AUTO-FIX] title: stripped control chars/index-injection markers
        2> [AUTO-FIX] category: set to 'constraint'
        {"status": "created", "target": ".claude/memory/constraints/other.json", "id": "other", "title": "C"}
        2> [AUTO-FIX] schema_version: set to '1.0'
        2> [AUTO-FIX] updated_at: set to current UTC
        2> [AUTO-FIX] created_at: set to current UTC
        2> [AUTO-FIX] confidence: read "7" as 7
        2> [AUTO-FIX] content.active: read "yes" as true
        2> [AUTO-FIX] confidence: clamped to 1.0
        2> [AUTO-FIX] tags: empty after dedup, set to ['untagged']
        2> [AUTO-FIX] category: set to 'constraint'
        2> [AUTO-FIX] id: set to match filename 'other'
        {"status": "created", "target": ".claude/memory/constraints/d.json", "id": "d", "title": "D"}
        2> [AUTO-FIX] schema_version: set to '1.0'
        2> [AUTO-FIX] updated_at: set to current UTC
        2> [AUTO-FIX] created_at: set to current UTC
        2> [AUTO-FIX] content.active: read "yes" as true
        2> [AUTO-FIX] tags: truncated to TAG_CAP (12)
        2> [AUTO-FIX] category: set to 'constraint'
    "#]],
    );
    check(
        &scratch.listing(),
        &expect![[r#"
        - [CONSTRAINT] C -> .claude/memory/constraints/other.json #tags:untagged
        - [CONSTRAINT] D -> .claude/memory/constraints/d.json #tags:t10,t11,t12,t13,t14,t15,t16,t17,t18,t19,t20,t21
        - [CONSTRAINT] T - x -> .claude/memory/constraints/a-b.json #tags:one  two
    "#]],
    );
}

#[test]
fn bad_arguments_are_answered_like_argparse() {
    let scratch = Scratch::new();
    let table = [
        "",
        "memory_forget",
        "memory_write",
        "memory_write --help",
        "memory_write --action purge --target x",
        "memory_write --action create --category notes --target x",
        "memory_write --action delete --target",
        "memory_write --action delete --target --reason x",
        "memory_write.py --act delete --targ x --force more",
        "memory_candidate --category decision",
        "memory_candidate --category decision --new-info x --lifecycle-event=gone",
        "memory_index",
        "memory_index --rebuild --validate",
        "memory_index --rebuild=yes",
        "memory_index --r",
        "memory_index --query",
    ];
    let mut seen = String::new();
    for line in table {
        let said = scratch.run(&line.split_whitespace().collect::<Vec<_>>());
        seen.push_str(&format!("$ {line}\n{said}").replace("$ \n", "$\n"));
    }
    check(
        &seen,
        &expect![[r#"
            $
            2> usage: lorelane compat {memory_write,memory_candidate,memory_index,memory_triage,memory_retrieve,memory_write_guard,memory_validate_hook} [arguments]
            exit 2
            $ memory_forget
            2> usage: lorelane compat {memory_write,memory_candidate,memory_index,memory_triage,memory_retrieve,memory_write_guard,memory_validate_hook} [arguments]
            exit 2
            $ memory_write
            2> usage: memory_write.py [-h] --action {create,update,delete,archive,unarchive,restore,retire} [--category {session_summary,decision,runbook,constraint,tech_debt,preference}] --target TARGET [--input INPUT] [--hash HASH] [--reason REASON]
            2> memory_write.py: error: the following arguments are required: --action, --target
            exit 2
            $ memory_write --help
            usage: memory_write.py [-h] --action {create,update,delete,archive,unarchive,restore,retire} [--category {session_summary,decision,runbook,constraint,tech_debt,preference}] --target TARGET [--input INPUT] [--hash HASH] [--reason REASON]
            $ memory_write --action purge --target x
            2> usage: memory_write.py [-h] --action {create,update,delete,archive,unarchive,restore,retire} [--category {session_summary,decision,runbook,constraint,tech_debt,preference}] --target TARGET [--input INPUT] [--hash HASH] [--reason REASON]
            2> memory_write.py: error: argument --action: invalid choice: 'purge' (choose from 'create', 'update', 'delete', 'archive', 'unarchive', 'restore', 'retire')
            exit 2
            $ memory_write --action create --category notes --target x
            2> usage: memory_write.py [-h] --action {create,update,delete,archive,unarchive,restore,retire} [--category {session_summary,decision,runbook,constraint,tech_debt,preference}] --target TARGET [--input INPUT] [--hash HASH] [--reason REASON]
            2> memory_write.py: error: argument --category: invalid choice: 'notes' (choose from 'session_summary', 'decision', 'runbook', 'constraint', 'tech_debt', 'preference')
            exit 2
            $ memory_write --action delete --target
            2> usage: memory_write.py [-h] --action {create,update,delete,archive,unarchive,restore,retire} [--category {session_summary,decision,runbook,constraint,tech_debt,preference}] --target TARGET [--input INPUT] [--hash HASH] [--reason REASON]
            2> memory_write.py: error: argument --target: expected one argument
            exit 2
            $ memory_write --action delete --target --reason x
            2> usage: memory_write.py [-h] --action {create,update,delete,archive,unarchive,restore,retire} [--category {session_summary,decision,runbook,constraint,tech_debt,preference}] --target TARGET [--input INPUT] [--hash HASH] [--reason REASON]
            2> memory_write.py: error: argument --target: expected one argument
            exit 2
            $ memory_write.py --act delete --targ x --force more
            2> usage: memory_write.py [-h] --action {create,update,delete,archive,unarchive,restore,retire} [--category {session_summary,decision,runbook,constraint,tech_debt,preference}] --target TARGET [--input INPUT] [--hash HASH] [--reason REASON]
            2> memory_write.py: error: unrecognized arguments: --force more
            exit 2
            $ memory_candidate --category decision
            2> usage: memory_candidate.py [-h] --category {session_summary,decision,runbook,constraint,tech_debt,preference} --new-info NEW_INFO [--lifecycle-event {resolved,removed,reversed,superseded,deprecated}] [--root ROOT]
            2> memory_candidate.py: error: the following arguments are required: --new-info
            exit 2
            $ memory_candidate --category decision --new-info x --lifecycle-event=gone
            2> usage: memory_candidate.py [-h] --category {session_summary,decision,runbook,constraint,tech_debt,preference} --new-info NEW_INFO [--lifecycle-event {resolved,removed,reversed,superseded,deprecated}] [--root ROOT]
            2> memory_candidate.py: error: argument --lifecycle-event: invalid choice: 'gone' (choose from 'resolved', 'removed', 'reversed', 'superseded', 'deprecated')
            exit 2
            $ memory_index
            2> usage: memory_index.py [-h] [--root ROOT] (--rebuild | --validate | --query KEYWORD | --health | --gc)
            2> memory_index.py: error: one of the arguments --rebuild --validate --query --health --gc is required
            exit 2
            $ memory_index --rebuild --validate
            2> usage: memory_index.py [-h] [--root ROOT] (--rebuild | --validate | --query KEYWORD | --health | --gc)
            2> memory_index.py: error: argument --validate: not allowed with argument --rebuild
            exit 2
            $ memory_index --rebuild=yes
            2> usage: memory_index.py [-h] [--root ROOT] (--rebuild | --validate | --query KEYWORD | --health | --gc)
            2> memory_index.py: error: argument --rebuild: ignored explicit argument 'yes'
            exit 2
            $ memory_index --r
            2> usage: memory_index.py [-h] [--root ROOT] (--rebuild | --validate | --query KEYWORD | --health | --gc)
            2> memory_index.py: error: ambiguous option: --r could match --root, --rebuild
            exit 2
            $ memory_index --query
            2> usage: memory_index.py [-h] [--root ROOT] (--rebuild | --validate | --query KEYWORD | --health | --gc)
            2> memory_index.py: error: argument --query: expected one argument
            exit 2
        "#]],
    );
}

#[test]
fn an_action_needs_what_it_writes() {
    let scratch = Scratch::new();
    let mut seen = scratch.step("create", USE_JWT);
    seen.push_str(&scratch.step("update", USE_JWT));
    let line = format!("memory_write --action create --target {USE_JWT} --input $DRAFT");
    seen.push_str(&scratch.typed(&line, "{}"));
    check(
        &seen,
        &expect![[r#"
        ERROR: --input is required for create and update actions.
        exit 1
        ERROR: --input is required for create and update actions.
        exit 1
        ERROR: --category is required for create action.
        exit 1
    "#]],
    );
}

#[test]
fn a_target_has_its_one_place() {
    let scratch = Scratch::with_decision();
    let table = [
        "decisions/use-jwt.json",
        ".claude/memory/../../use-jwt.json",
        ".claude/memory/decisions/../decisions/new.json",
        "/tmp/elsewhere/.claude/memory/decisions/../../x.json",
        ".claude/memory/constraints/new.json",
        ".claude/memory/memory-config.json",
        ".claude/memory/index.md",
        ".claude/memory/new.json",
        ".claude/memory/decisions/New_One.json",
        ".claude/memory/decisions/new",
        ".claude/memory/decisions/deep/new.json",
        ".claude/memory/",
    ];
    let seen: String =
        table.iter().map(|target| scratch.create("decision", target, &decision("new", "New"))).collect();
    check(
        &seen,
        &expect![[r#"
        PATH_ERROR
        target: decisions/use-jwt.json
        fix: Target path must contain '.claude/memory/' components. Example: .claude/memory/decisions/my-decision.json
        exit 1
        PATH_ERROR
        target: /tmp/scratch/project/.claude/memory/../../use-jwt.json
        fix: Target must be within the memory directory (/tmp/scratch/project/.claude/memory)
        exit 1
        PATH_ERROR
        target: /tmp/scratch/project/.claude/memory/decisions/../decisions/new.json
        fix: Target must be within the memory directory (/tmp/scratch/project/.claude/memory)
        exit 1
        PATH_ERROR
        target: /tmp/elsewhere/.claude/memory/decisions/../../x.json
        fix: Target must be within the memory directory (/tmp/elsewhere/.claude/memory)
        exit 1
        PATH_ERROR
        target: .claude/memory/constraints/new.json
        fix: Target of a decision must be .claude/memory/decisions/<slug>.json. Example: .claude/memory/decisions/new.json
        exit 1
        PATH_ERROR
        target: .claude/memory/memory-config.json
        fix: Target of a decision must be .claude/memory/decisions/<slug>.json. Example: .claude/memory/decisions/my-decision.json
        exit 1
        PATH_ERROR
        target: .claude/memory/index.md
        fix: Target of a decision must be .claude/memory/decisions/<slug>.json. Example: .claude/memory/decisions/my-decision.json
        exit 1
        PATH_ERROR
        target: .claude/memory/new.json
        fix: Target of a decision must be .claude/memory/decisions/<slug>.json. Example: .claude/memory/decisions/new.json
        exit 1
        PATH_ERROR
        target: .claude/memory/decisions/New_One.json
        fix: Target of a decision must be .claude/memory/decisions/<slug>.json. Example: .claude/memory/decisions/new-one.json
        exit 1
        PATH_ERROR
        target: .claude/memory/decisions/new
        fix: Target of a decision must be .claude/memory/decisions/<slug>.json. Example: .claude/memory/decisions/new.json
        exit 1
        PATH_ERROR
        target: .claude/memory/decisions/deep/new.json
        fix: Target of a decision must be .claude/memory/decisions/<slug>.json. Example: .claude/memory/decisions/new.json
        exit 1
        PATH_ERROR
        target: .claude/memory/
        fix: Target of a decision must be .claude/memory/decisions/<slug>.json. Example: .claude/memory/decisions/my-decision.json
        exit 1
    "#]],
    );
    check(
        &scratch.step("delete", ".claude/memory/memory-config.json"),
        &expect![[r#"
        PATH_ERROR
        target: .claude/memory/memory-config.json
        fix: Target must be .claude/memory/<folder>/<slug>.json with one of the folders sessions, decisions, runbooks, constraints, tech-debt, preferences. Example: .claude/memory/decisions/my-decision.json
        exit 1
    "#]],
    );
}

#[test]
fn an_input_is_a_file_with_an_object_in_the_temporary_folder() {
    let scratch = Scratch::new();
    let create = format!("memory_write --action create --category decision --target {USE_JWT} --input");
    let mut seen = String::new();
    for input in ["/etc/hostname", "/tmp/../etc/hostname", "/tmp", "$SCRATCH/a..b.json", "$SCRATCH/none.json"]
    {
        seen.push_str(&scratch.typed(&format!("{create} {input}"), ""));
    }
    for draft in ["", "{\"a\": }", "[1]", "\"text\""] {
        seen.push_str(&scratch.typed(&format!("{create} $DRAFT"), draft));
    }
    check(
        &seen,
        &expect![[r#"
            SECURITY_ERROR
            path: /etc/hostname
            resolved: /etc/hostname
            fix: Input file must be a /tmp/ path with no '..' components.
            exit 1
            SECURITY_ERROR
            path: /tmp/../etc/hostname
            resolved: /etc/hostname
            fix: Input file must be a /tmp/ path with no '..' components.
            exit 1
            SECURITY_ERROR
            path: /tmp
            resolved: /tmp
            fix: Input file must be a /tmp/ path with no '..' components.
            exit 1
            SECURITY_ERROR
            path: /tmp/scratch/a..b.json
            resolved: /tmp/scratch/a..b.json
            fix: Input file must be a /tmp/ path with no '..' components.
            exit 1
            INPUT_ERROR
            path: /tmp/scratch/none.json
            fix: Input file does not exist. Write JSON to the temp file first.
            exit 1
            INPUT_ERROR
            path: /tmp/scratch/draft.json
            error: Invalid JSON: expected a value at line 1 column 1
            fix: Ensure the input file contains valid JSON.
            exit 1
            INPUT_ERROR
            path: /tmp/scratch/draft.json
            error: Invalid JSON: expected a value at line 1 column 7
            fix: Ensure the input file contains valid JSON.
            exit 1
            INPUT_ERROR
            path: /tmp/scratch/draft.json
            error: Invalid JSON: the input is not an object
            fix: Ensure the input file contains valid JSON.
            exit 1
            INPUT_ERROR
            path: /tmp/scratch/draft.json
            error: Invalid JSON: the input is not an object
            fix: Ensure the input file contains valid JSON.
            exit 1
        "#]],
    );
    assert!(!scratch.project().join(".claude").exists(), "a refused create makes no folder");
}

#[cfg(unix)]
#[test]
fn an_input_behind_a_link_is_the_file_it_leads_to() {
    let scratch = Scratch::new();
    std::os::unix::fs::symlink("/etc/hostname", scratch.folder.join("link.json")).unwrap();
    let create = format!("memory_write --action create --category decision --target {USE_JWT} --input");
    check(
        &scratch.typed(&format!("{create} $SCRATCH/link.json"), ""),
        &expect![[r#"
        SECURITY_ERROR
        path: /tmp/scratch/link.json
        resolved: /etc/hostname
        fix: Input file must be a /tmp/ path with no '..' components.
        exit 1
    "#]],
    );
}

#[test]
fn everything_that_is_wrong_is_said_at_once() {
    let table = [
        ("decision", r#"{"title": "T", "tags": ["a"]}"#),
        (
            "decision",
            r#"{"id": "x", "title": 3, "tags": ["a", "b"], "confidence": "high", "times_updated": 1.5, "mood": "good",
                "related_files": "a.rs", "content": {"status": "maybe", "context": "c", "decision": "d",
                "rationale": [], "alternatives": ["none"]}, "changes": [{"date": "d", "summary": 1}]}"#,
        ),
        ("constraint", r#"{"id": "x", "title": "T", "tags": 5, "content": []}"#),
        (
            "constraint",
            r#"{"id": "x", "title": "T", "tags": ["a"], "confidence": NaN, "times_updated": "many",
                "content": {"kind": "policy", "rule": "r", "impact": ["i"], "severity": "low", "active": "perhaps"}}"#,
        ),
        ("runbook", r#"{"id": "x", "id": "y", "title": "T", "tags": ["a"], "content": {}}"#),
    ];
    let scratch = Scratch::new();
    let mut seen = String::new();
    for (category, draft) in table {
        let folder = if category == "decision" { "decisions" } else { &format!("{category}s") };
        seen.push_str(&scratch.create(category, &format!(".claude/memory/{folder}/x.json"), draft));
    }
    let long = decision("x", &"long ".repeat(30));
    seen.push_str(&scratch.create("decision", ".claude/memory/decisions/x.json", &long));
    check(
        &seen,
        &expect![[r#"
            VALIDATION_ERROR
            field: id
            expected: Field required
            got: {"title": "T", "tags": ["a"], "schema_version": "1.0", "updated_at": "2026-03-01T12:00:00Z", "created_at": "2026-03-01T12:00:00Z", "record_status": "active", "category": "decision"}
            fix: Correct the value for 'id'

            field: content
            expected: Field required
            got: {"title": "T", "tags": ["a"], "schema_version": "1.0", "updated_at": "2026-03-01T12:00:00Z", "created_at": "2026-03-01T12:00:00Z", "record_status": "active", "category": "decision"}
            fix: Correct the value for 'content'

            exit 1
            VALIDATION_ERROR
            field: title
            expected: Input should be a valid string
            got: 3
            fix: Correct the value for 'title'

            field: related_files
            expected: Input should be a valid list
            got: "a.rs"
            fix: Correct the value for 'related_files'

            field: confidence
            expected: Input should be a valid number, unable to parse string as a number
            got: "high"
            fix: Correct the value for 'confidence'

            field: content.status
            expected: Input should be 'proposed', 'accepted', 'deprecated' or 'superseded'
            got: "maybe"
            fix: Correct the value for 'content.status'

            field: content.alternatives.0
            expected: Input should be a valid dictionary or instance of Alternative
            got: "none"
            fix: Correct the value for 'content.alternatives.0'

            field: content.rationale
            expected: List should have at least 1 item after validation, not 0
            got: []
            fix: Correct the value for 'content.rationale'

            field: changes.0.summary
            expected: Input should be a valid string
            got: 1
            fix: Correct the value for 'changes.0.summary'

            field: times_updated
            expected: Input should be a valid integer, got a number with a fractional part
            got: 1.5
            fix: Correct the value for 'times_updated'

            field: mood
            expected: Extra inputs are not permitted
            got: "good"
            fix: Correct the value for 'mood'

            exit 1
            VALIDATION_ERROR
            field: tags
            expected: Input should be a valid list
            got: 5
            fix: Correct the value for 'tags'

            field: content
            expected: Input should be a valid dictionary or instance of ConstraintContent
            got: []
            fix: Correct the value for 'content'

            exit 1
            VALIDATION_ERROR
            field: confidence
            expected: Input should be less than or equal to 1
            got: NaN
            fix: Correct the value for 'confidence'

            field: content.active
            expected: Input should be a valid boolean, unable to interpret input
            got: "perhaps"
            fix: Correct the value for 'content.active'

            field: times_updated
            expected: Input should be a valid integer, unable to parse string as an integer
            got: "many"
            fix: Correct the value for 'times_updated'

            exit 1
            VALIDATION_ERROR
            field: id
            expected: Each key should appear once
            got: null
            fix: Correct the value for 'id'

            exit 1
            VALIDATION_ERROR
            field: title
            expected: String should have at most 120 characters
            got: "long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long"
            fix: Correct the value for 'title'

            exit 1
        "#]],
    );
}

#[test]
fn a_revision_loses_nothing() {
    let scratch = Scratch::new();
    let full = decision("use-jwt", "Use JWT").replace(
        r#""tags": ["auth"]"#,
        r#""related_files": ["src/there.rs", "src/gone.rs"], "tags": ["a", "b"]"#,
    );
    scratch.put("src/there.rs", "");
    scratch.create("decision", USE_JWT, &full);
    let kept = revised(&full);
    let mut seen = [
        scratch.update(USE_JWT, &kept.replace(r#"["a", "b"]"#, r#"["a", "c"]"#)),
        scratch.update(USE_JWT, &kept.replace(r#"["src/there.rs", "src/gone.rs"]"#, "[]")),
        scratch.update(USE_JWT, &full),
        scratch.update(USE_JWT, &kept.replace(r#""src/there.rs", "src/gone.rs""#, r#""src/there.rs""#)),
        scratch.update(USE_JWT, &full.replace("stateless", "fast")),
    ]
    .concat();
    let twelve: Vec<String> = (10..22).map(|number| format!("\"t{number}\"")).collect();
    let other = ".claude/memory/decisions/other.json";
    let tagged = |tags: &[String]| {
        decision("other", "Other").replace(r#"["auth"]"#, &format!("[{}]", tags.join(", ")))
    };
    scratch.create("decision", other, &tagged(&twelve));
    seen.push_str(&scratch.update(other, &revised(&tagged(&twelve[1..]))));
    check(
        &seen,
        &expect![[r#"
        MERGE_ERROR
        field: tags
        rule: grow-only (below cap of 12)
        removed: ["b"]
        fix: Tags can only be added, not removed (current count 2 < cap 12)
        exit 1
        MERGE_ERROR
        field: related_files
        rule: grow-only (cannot remove existing file reference)
        removed: src/there.rs
        fix: Only non-existent (dangling) file references can be removed
        exit 1
        MERGE_ERROR
        field: changes
        rule: append-only (new entry required)
        old_count: 0
        total_count: 0
        fix: At least one new change entry is required per UPDATE
        exit 1
        {"status": "updated", "target": ".claude/memory/decisions/use-jwt.json", "id": "use-jwt", "title": "Use JWT", "times_updated": 1}
        MERGE_ERROR
        field: changes
        rule: append-only
        old_count: 1
        new_count: 0
        fix: changes[] must grow; do not remove entries
        exit 1
        MERGE_ERROR
        field: tags
        rule: no net shrink without addition
        removed: ["t10"]
        fix: Can only evict tags when adding new ones at cap (12)
        exit 1
    "#]],
    );
    let evicted = [&twelve[1..], &["\"new\"".to_owned()]].concat();
    check(
        &scratch.update(other, &tagged(&evicted)),
        &expect![[r#"
        {"status": "updated", "target": ".claude/memory/decisions/other.json", "id": "other", "title": "Other", "times_updated": 1}
    "#]],
    );
    check(
        &scratch.line(other, "changes"),
        &expect![[
            r#"[{"date": "2026-03-01T12:00:00Z", "summary": "Tags evicted at cap: removed ['t10'], added ['new']", "field": "tags", "old_value": ["t10"], "new_value": ["new"]}]"#
        ]],
    );
}

#[test]
fn a_revision_says_what_deserves_a_second_look() {
    let scratch = Scratch::new();
    let two = decision("use-jwt", "Use JWT").replace(r#"["stateless"]"#, r#"["stateless", "fast"]"#);
    scratch.create("decision", USE_JWT, &two);
    let taken = ".claude/memory/decisions/sign-tokens.json";
    scratch.create("decision", taken, &decision("sign-tokens", "Sign tokens"));
    let one = revised(&decision("use-jwt", "Use JWT")).replace("Use JWT", "Sign tokens");
    let line = format!("memory_write --action update --category decision --target {USE_JWT} --input $DRAFT");
    check(
        &scratch.typed(&line, &one),
        &expect![[r#"
        {"status": "updated", "target": ".claude/memory/decisions/use-jwt.json", "id": "use-jwt", "title": "Sign tokens", "times_updated": 1}
        2> [WARN] content.rationale: list shrank from 2 to 1 items
        2> [WARN] Slug rename collision: /tmp/scratch/project/.claude/memory/decisions/sign-tokens.json exists. Keeping old slug.
        2> WARNING: --hash not provided for update. OCC protection disabled.
    "#]],
    );
}

#[test]
fn scalar_changes_enter_the_history_by_themselves() {
    let scratch = Scratch::with_decision();
    let changed = decision("use-jwt", "Use JWT").replace("Use tokens", "Use signed tokens");
    check(
        &scratch.update(USE_JWT, &changed),
        &expect![[r#"
        {"status": "updated", "target": ".claude/memory/decisions/use-jwt.json", "id": "use-jwt", "title": "Use JWT", "times_updated": 1}
    "#]],
    );
    check(
        &scratch.line(USE_JWT, "changes"),
        &expect![[
            r#"[{"date": "2026-03-01T12:00:00Z", "summary": "content.decision changed", "field": "content.decision", "old_value": "Use tokens", "new_value": "Use signed tokens"}]"#
        ]],
    );
}

#[test]
fn a_file_that_changed_since_it_was_read_is_not_overwritten() {
    let scratch = Scratch::with_decision();
    let line = format!("memory_write --action update --target {USE_JWT} --input $DRAFT --hash");
    let draft = revised(&decision("use-jwt", "Use JWT"));
    let mut seen = scratch.typed(&format!("{line} d41d8cd98f00b204e9800998ecf8427e"), &draft);
    seen.push_str(&scratch.typed(&format!("{line} none"), &draft));
    check(
        &seen,
        &expect![[r#"
        OCC_CONFLICT
        target: .claude/memory/decisions/use-jwt.json
        expected_hash: d41d8cd98f00b204e9800998ecf8427e
        current_hash: b999e56ccbab88d44bb7020fb2eebc24
        fix: File was modified by another session. Re-read the file and retry.
        exit 1
        OCC_CONFLICT
        target: .claude/memory/decisions/use-jwt.json
        expected_hash: none
        current_hash: b999e56ccbab88d44bb7020fb2eebc24
        fix: File was modified by another session. Re-read the file and retry.
        exit 1
    "#]],
    );
}

#[test]
fn what_was_just_retired_does_not_come_back_by_itself() {
    let draft = decision("use-jwt", "Use JWT");
    let scratch = Scratch::with_decision();
    scratch.step("delete", USE_JWT);
    check(
        &scratch.create("decision", USE_JWT, &draft),
        &expect![[r#"
        ANTI_RESURRECTION_ERROR
        target: .claude/memory/decisions/use-jwt.json
        retired_at: 2026-03-01T12:00:00Z
        fix: This file was retired less than 24 hours ago. Wait or use a different target path.
        exit 1
    "#]],
    );
    scratch.put(USE_JWT, ended(&draft, "retired", "null"));
    check(
        &scratch.create("decision", USE_JWT, &draft),
        &expect![[r#"
        ANTI_RESURRECTION_ERROR
        target: .claude/memory/decisions/use-jwt.json
        retired_at: unknown
        fix: This file was retired less than 24 hours ago. Wait or use a different target path.
        exit 1
    "#]],
    );
    scratch.put(USE_JWT, ended(&draft, "retired", "\"2026-02-28T12:00:00Z\""));
    check(
        &scratch.create("decision", USE_JWT, &draft),
        &expect![[r#"
        {"status": "created", "target": ".claude/memory/decisions/use-jwt.json", "id": "use-jwt", "title": "Use JWT"}
    "#]],
    );
}

#[test]
fn an_action_that_makes_no_sense_says_which_one_does() {
    let scratch = Scratch::with_decision();
    let missing = ".claude/memory/decisions/none.json";
    let mut seen = scratch.update(missing, &decision("none", "None"));
    for action in ["delete", "archive", "unarchive", "restore"] {
        seen.push_str(&scratch.step(action, missing));
    }
    seen.push_str(&scratch.step("unarchive", USE_JWT));
    scratch.step("archive", USE_JWT);
    for action in ["delete", "restore"] {
        seen.push_str(&scratch.step(action, USE_JWT));
    }
    scratch.put(USE_JWT, ended(&decision("use-jwt", "Use JWT"), "retired", &format!("\"{NOW}\"")));
    for action in ["archive", "unarchive"] {
        seen.push_str(&scratch.step(action, USE_JWT));
    }
    check(
        &seen,
        &expect![[r#"
        UPDATE_ERROR
        target: .claude/memory/decisions/none.json
        fix: File does not exist. Use --action create instead.
        exit 1
        DELETE_ERROR
        target: .claude/memory/decisions/none.json
        fix: File does not exist.
        exit 1
        ARCHIVE_ERROR
        target: .claude/memory/decisions/none.json
        fix: File does not exist.
        exit 1
        UNARCHIVE_ERROR
        target: .claude/memory/decisions/none.json
        fix: File does not exist.
        exit 1
        RESTORE_ERROR
        target: .claude/memory/decisions/none.json
        fix: File does not exist.
        exit 1
        UNARCHIVE_ERROR
        target: .claude/memory/decisions/use-jwt.json
        record_status: active
        fix: Only archived memories can be unarchived.
        exit 1
        DELETE_ERROR
        target: .claude/memory/decisions/use-jwt.json
        fix: Archived memories must be unarchived before retiring. Use --action unarchive first.
        exit 1
        RESTORE_ERROR
        target: .claude/memory/decisions/use-jwt.json
        record_status: archived
        fix: Only retired memories can be restored. Use --action unarchive for archived memories.
        exit 1
        ARCHIVE_ERROR
        target: .claude/memory/decisions/use-jwt.json
        record_status: retired
        fix: Only active memories can be archived.
        exit 1
        UNARCHIVE_ERROR
        target: .claude/memory/decisions/use-jwt.json
        record_status: retired
        fix: Only archived memories can be unarchived.
        exit 1
    "#]],
    );
}

#[test]
fn a_memory_that_cannot_be_read_is_not_changed() {
    let scratch = Scratch::new();
    let mut seen = String::new();
    for text in ["{", "[]", "{\"record_status\": \"lost\"}"] {
        scratch.put(USE_JWT, text);
        seen.push_str(&scratch.update(USE_JWT, &decision("use-jwt", "Use JWT")));
        seen.push_str(&scratch.step("delete", USE_JWT));
    }
    seen.push_str(&scratch.create("decision", USE_JWT, &decision("use-jwt", "Use JWT")));
    check(
        &seen,
        &expect![[r#"
            READ_ERROR
            target: .claude/memory/decisions/use-jwt.json
            error: it is not JSON: expected a key in double quotes at line 1 column 2
            exit 1
            READ_ERROR
            target: .claude/memory/decisions/use-jwt.json
            error: it is not JSON: expected a key in double quotes at line 1 column 2
            exit 1
            READ_ERROR
            target: .claude/memory/decisions/use-jwt.json
            error: it is not a JSON object
            exit 1
            READ_ERROR
            target: .claude/memory/decisions/use-jwt.json
            error: it is not a JSON object
            exit 1
            READ_ERROR
            target: .claude/memory/decisions/use-jwt.json
            error: record_status: Input should be 'active', 'retired' or 'archived' (got "lost")
            exit 1
            READ_ERROR
            target: .claude/memory/decisions/use-jwt.json
            error: record_status: Input should be 'active', 'retired' or 'archived' (got "lost")
            exit 1
            CREATE_OVERWRITE_ERROR
            target: .claude/memory/decisions/use-jwt.json
            record_status: unreadable
            fix: File already exists. Use --action update instead.
            exit 1
        "#]],
    );
}

#[test]
fn a_folder_in_the_place_of_a_memory_is_no_memory() {
    let scratch = Scratch::new();
    fs::create_dir_all(scratch.project().join(USE_JWT)).unwrap();
    for seen in [scratch.step("delete", USE_JWT), scratch.update(USE_JWT, &decision("use-jwt", "Use JWT"))] {
        assert!(seen.starts_with("READ_ERROR\ntarget: ") && seen.ends_with("exit 1\n"), "{seen}");
    }
}

#[test]
fn a_secret_is_not_written_down() {
    let scratch = Scratch::new();
    let key = ["AKIA", "Z7QH3M5XK2WVR4TN"].concat();
    let draft = decision("use-jwt", "Use JWT").replace("Sessions were slow", &format!("the key is {key}"));
    check(
        &scratch.create("decision", USE_JWT, &draft),
        &expect![[r#"
        SECRET_ERROR
        field: content.context
        kind: AWS access key
        got: AKIA…(12+)
        fix: Leave the value out of 'content.context' and say where it is kept

        exit 1
    "#]],
    );
}

#[test]
fn any_other_failure_is_a_block_too() {
    let scratch = Scratch::with_decision();
    scratch.put(".claude/memory/memory-config.json", "[]");
    check(
        &scratch.step("delete", USE_JWT),
        &expect![[r#"
        WRITE_ERROR
        target: .claude/memory/decisions/use-jwt.json
        error: cannot write memories: the configuration does not say where `*` in /tmp/scratch/project/.claude/memory/memory-config.json: it is not a JSON object
        fix: fix the configuration; until then lorelane only reads
        exit 1
    "#]],
    );
}

#[test]
fn a_sixth_session_pushes_the_oldest_out() {
    let scratch = Scratch::new();
    let mut seen = String::new();
    let done =
        ["Wired lamps", "Painted doors", "Sealed roof", "Planted trees", "Fixed stairs", "Swept floor"];
    for (number, completed) in (1..).zip(done) {
        let name = format!("s{number}");
        let draft = session(&name, &format!("2026-02-0{number}T00:00:00Z"), completed);
        seen = scratch.create("session_summary", &format!(".claude/memory/sessions/{name}.json"), &draft);
    }
    check(
        &seen,
        &expect![[r#"
            {"status": "created", "target": ".claude/memory/sessions/s6.json", "id": "s6", "title": "s6"}
            2> WARNING: Session s1 contains unique content not captured elsewhere: Wired lamps. Consider saving these before retirement.
        "#]],
    );
    check(
        &scratch.line(".claude/memory/sessions/s1.json", "retired_reason"),
        &expect![[r#""Session rolling window: exceeded max_retained limit""#]],
    );
    assert_eq!(scratch.listing().lines().count(), 5);
}

#[test]
fn files_of_every_category_have_their_folder() {
    let scratch = Scratch::new();
    let table = [
        (
            "session_summary",
            "sessions",
            r#"{"goal": "g", "outcome": "partial", "completed": [], "next_actions": []}"#,
        ),
        (
            "decision",
            "decisions",
            r#"{"status": "proposed", "context": "c", "decision": "d", "rationale": ["r"]}"#,
        ),
        ("runbook", "runbooks", r#"{"trigger": "t", "steps": ["s"], "verification": "v"}"#),
        (
            "constraint",
            "constraints",
            r#"{"kind": "gap", "rule": "r", "impact": ["i"], "severity": "high", "active": true}"#,
        ),
        (
            "tech_debt",
            "tech-debt",
            r#"{"status": "open", "priority": "low", "description": "d", "reason_deferred": "r"}"#,
        ),
        ("preference", "preferences", r#"{"topic": "t", "value": "v", "reason": "r", "strength": "soft"}"#),
    ];
    for (category, folder, content) in table {
        let target = format!(".claude/memory/{folder}/one.json");
        let seen = scratch.create(category, &target, &record(category, "one", "One", content));
        assert!(seen.starts_with(r#"{"status": "created""#), "{category}: {seen}");
    }
    check(
        &scratch.read(".claude/memory/index.md"),
        &expect![[r#"
        # Memory Index

        <!-- Auto-generated by memory_index.py. Do not edit manually. -->

        - [CONSTRAINT] One -> .claude/memory/constraints/one.json #tags:auth
        - [DECISION] One -> .claude/memory/decisions/one.json #tags:auth
        - [PREFERENCE] One -> .claude/memory/preferences/one.json #tags:auth
        - [RUNBOOK] One -> .claude/memory/runbooks/one.json #tags:auth
        - [SESSION_SUMMARY] One -> .claude/memory/sessions/one.json #tags:auth
        - [TECH_DEBT] One -> .claude/memory/tech-debt/one.json #tags:auth
    "#]],
    );
}
