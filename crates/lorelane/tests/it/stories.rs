//! The command line as people use it, from the first `init` to the last `undo`.

use crate::hooks::tool;
use crate::scratch::{CONFIG, DECISION, LANE, MARKS, NOW, Scratch, USE_JWT, without_ids, words};
use expect_test::{Expect, expect};
use lorelane_core::digest::{Revision, md5};
use lorelane_core::json::Json;
use lorelane_engine::disk::SeededRng;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const LATER: &str = "2026-09-01T12:00:00Z";

fn check(seen: &str, expected: &Expect) {
    expected.assert_eq(seen);
}

#[test]
fn a_store_is_made_in_an_empty_folder_and_once_only() {
    let scratch = Scratch::new();
    check(
        &scratch.lorelane("init").text(),
        &expect![[r#"
        Created a memory store in ~/project/.claude/memory
        Next: lorelane create decision --title "…"
    "#]],
    );
    let made = scratch.tree_without_cache();
    let files: Vec<&String> = made.keys().filter(|path| path.starts_with("project/")).collect();
    check(
        &format!("{files:#?}"),
        &expect![[r#"
        [
            "project/.claude/",
            "project/.claude/memory/",
            "project/.claude/memory/constraints/",
            "project/.claude/memory/decisions/",
            "project/.claude/memory/index.md",
            "project/.claude/memory/memory-config.json",
            "project/.claude/memory/preferences/",
            "project/.claude/memory/runbooks/",
            "project/.claude/memory/sessions/",
            "project/.claude/memory/tech-debt/",
        ]"#]],
    );
    assert_eq!(scratch.line(CONFIG, "delete.archive_retired"), "true");
    check(
        &scratch.lorelane("init").text(),
        &expect![[r#"
        No change: the store in ~/project/.claude/memory is complete
    "#]],
    );
    assert_eq!(made, scratch.tree_without_cache());
}

#[test]
fn a_store_is_made_at_the_root_of_the_worktree() {
    let scratch = Scratch::new();
    fs::create_dir_all(scratch.project().join(".git")).unwrap();
    fs::create_dir_all(scratch.project().join("src/deep")).unwrap();
    scratch.lorelane("-C src/deep init").expect(0);
    assert!(scratch.exists(".claude/memory/decisions") && !scratch.exists("src/deep/.claude"));
    scratch.decide("Use JWT");
    assert!(scratch.lorelane("-C src/deep show use-jwt").expect(0).out.starts_with("Use JWT\n"));
    // A store above a worktree belongs to another project.
    fs::create_dir_all(scratch.project().join("vendored/.git")).unwrap();
    check(
        &scratch.lorelane("-C vendored list").text(),
        &expect![[r#"
        2> error: cannot find a memory store in ~/project/vendored or above it
        2> hint: `lorelane init` creates a store here
        exit 2
    "#]],
    );
}

#[test]
fn a_memory_lives_from_its_creation_to_its_end() {
    let mut scratch = Scratch::with_store();
    let mut tell = String::new();
    let story = [
        (
            NOW,
            "create decision --title 'Use JWT' --tag Auth --set context=Slow --set decision=Tokens --set rationale=Stateless --set rationale=Simple",
        ),
        (NOW, "list"),
        (NOW, "search 'jwt auth' --explain"),
        (
            "2026-03-02T12:00:00Z",
            "update use-jwt --set context='Sessions were slow' --add-tag tokens --because 'measured it'",
        ),
        ("2026-03-02T12:00:00Z", "show use-jwt"),
        ("2026-03-02T12:00:00Z", "pin use-jwt"),
        ("2026-03-03T12:00:00Z", "update use-jwt --set title='Adopt PASETO for all services'"),
        ("2026-03-03T12:00:00Z", "show decision/use-jwt"),
        ("2026-03-03T12:00:00Z", "list"),
        ("2026-03-04T12:00:00Z", "retire use-jwt --reason 'moved to mTLS'"),
        ("2026-03-04T12:00:00Z", "search paseto"),
        ("2026-03-04T12:00:00Z", "search paseto --include-retired"),
        ("2026-03-04T12:00:00Z", "retire use-jwt"),
        ("2026-03-04T12:00:00Z", "archive use-jwt"),
        ("2026-03-04T12:00:00Z", "restore use-jwt"),
        ("2026-03-04T12:00:00Z", "archive use-jwt --reason 'only history now'"),
        ("2026-03-04T12:00:00Z", "restore use-jwt"),
        ("2026-03-04T12:00:00Z", "retire use-jwt"),
        ("2026-03-04T12:00:00Z", "gc"),
        (LATER, "gc --yes"),
        (LATER, "list --status all"),
        (LATER, "log -n 3"),
        (LATER, "log --verify"),
        (LATER, "doctor"),
    ];
    for (now, line) in story {
        scratch.now = now;
        tell.push_str(&format!("$ lorelane {line}\n{}", scratch.lorelane(line).text()));
    }
    check(
        &tell,
        &expect![[r#"
            $ lorelane create decision --title 'Use JWT' --tag Auth --set context=Slow --set decision=Tokens --set rationale=Stateless --set rationale=Simple
            Created decision/use-jwt
            $ lorelane list
              2026-03-01 decision/use-jwt Use JWT #auth
            $ lorelane search 'jwt auth' --explain
              84%  decision/use-jwt:12-18  Use JWT
                   accepted Slow Tokens Stateless Simple
                   relevance 84 %: has jwt, auth; very close in meaning
                   2245 = 278 words (jwt, auth) + 278 around + 278 section + 167 memory + 340 meaning + 884 meaning around + 20 recent
            $ lorelane update use-jwt --set context='Sessions were slow' --add-tag tokens --because 'measured it'
            Updated decision/use-jwt
            $ lorelane show use-jwt
            Use JWT
            decision/use-jwt · .claude/memory/decisions/use-jwt.json
            status     active
            tags       auth, tokens
            dates      created 2026-03-01, updated 2026-03-02

            status
              accepted

            context
              Sessions were slow

            decision
              Tokens

            rationale
              - Stateless
              - Simple

            history
              2026-03-02 measured it
              2026-03-02 measured it
            $ lorelane pin use-jwt
            Pinned decision/use-jwt
            $ lorelane update use-jwt --set title='Adopt PASETO for all services'
            Updated decision/adopt-paseto-for-all-services (renamed from decision/use-jwt)
            $ lorelane show decision/use-jwt
            Adopt PASETO for all services
            decision/adopt-paseto-for-all-services · .claude/memory/decisions/adopt-paseto-for-all-services.json
            status     active
            tags       auth, tokens
            dates      created 2026-03-01, updated 2026-03-03

            status
              accepted

            context
              Sessions were slow

            decision
              Tokens

            rationale
              - Stateless
              - Simple

            history
              2026-03-03 title changed
              2026-03-02 measured it
              2026-03-02 measured it
            $ lorelane list
            * 2026-03-03 decision/adopt-paseto-for-all-services Adopt PASETO for all services #auth #tokens
            $ lorelane retire use-jwt --reason 'moved to mTLS'
            Retired decision/adopt-paseto-for-all-services: moved to mTLS
            $ lorelane search paseto
            Nothing relevant found
            exit 1
            $ lorelane search paseto --include-retired
             (32%) decision/adopt-paseto-for-all-services:13-19 [retired]  Adopt PASETO for all services
                   accepted Sessions were slow Tokens Stateless Simple
            $ lorelane retire use-jwt
            No change: decision/adopt-paseto-for-all-services is already retired
            $ lorelane archive use-jwt
            2> error[LIFECYCLE_ERROR]: cannot archive `decision/adopt-paseto-for-all-services`: it is retired
            2> hint: restore it first with `lorelane restore decision/adopt-paseto-for-all-services`
            exit 2
            $ lorelane restore use-jwt
            Restored decision/adopt-paseto-for-all-services
            $ lorelane archive use-jwt --reason 'only history now'
            Archived decision/adopt-paseto-for-all-services: only history now
            $ lorelane restore use-jwt
            Restored decision/adopt-paseto-for-all-services
            $ lorelane retire use-jwt
            Retired decision/adopt-paseto-for-all-services: No reason provided
            $ lorelane gc
            Nothing to collect
            $ lorelane gc --yes
            Archived decision/adopt-paseto-for-all-services: Grace period over: kept because delete.archive_retired is set
            $ lorelane list --status all
            * 2026-09-01 decision/adopt-paseto-for-all-services Adopt PASETO for all services [archived] #auth #tokens
            $ lorelane log -n 3
            10   2026-09-01T12:00:00Z  gc: 0 expired, 1 past the grace period
            9    2026-03-04T12:00:00Z  retire decision/adopt-paseto-for-all-services
            8    2026-03-04T12:00:00Z  restore decision/adopt-paseto-for-all-services
            $ lorelane log --verify
            Log verified: 10 entries, chain intact
            $ lorelane doctor
            No problems found
        "#]],
    );
}

// Many repositories commit Claude Code's own memory there, as Markdown (finding 17).
#[test]
fn the_folder_is_shared_with_claude_codes_own_memory() {
    let scratch = Scratch::new();
    let theirs = [
        ("MEMORY.md", "# Project\n\n- [Deploys](deploys.md)\n"),
        ("deploys.md", "---\ntype: project\n---\nTuesdays\n"),
        ("archive/old.md", "old\n"),
        ("decisions/log.md", "kept here by hand\n"),
        ("index.md", "# My own index\n"),
    ];
    for (name, text) in theirs {
        scratch.put(&format!("{LANE}/{name}"), text);
    }
    scratch.lorelane("init").expect(0);
    let said = scratch.decide("Use JWT").expect(0).err;
    assert!(said.contains("index.md: it exists and was not made by lorelane"), "{said}");
    for (name, text) in theirs {
        assert_eq!(scratch.read(&format!("{LANE}/{name}")), text, "{name}");
    }
    // Their own file is no damage, and they may change it.
    let said = scratch.lorelane("doctor").expect(0).err;
    assert!(
        said.matches("index.md").count() == 1 && said.contains("rename it, then run `lorelane reindex`"),
        "{said}"
    );
    let others = ["MEMORY.md", "deploys.md", "log.md", "old.md"];
    assert!(!others.iter().any(|name| said.contains(name)), "{said}");
    assert_eq!(scratch.json("status").at("health").and_then(Json::as_text), Some("GOOD"));
    assert_eq!(scratch.json("status").at("listing").and_then(Json::as_text), Some("foreign"));
    let edits = || {
        scratch.hook("before-tool", &tool("Write", "file_path", &format!("{LANE}/index.md"))).expect(0).out
    };
    assert_eq!(edits(), "");
    assert!(scratch.lorelane("search jwt").expect(0).out.contains("decision/use-jwt"));
    // Once it is out of the way, the listing comes.
    std::fs::remove_file(scratch.project().join(LANE).join("index.md")).unwrap();
    scratch.lorelane("reindex").expect(0);
    scratch.lorelane("doctor").expect(0);
    assert!(edits().contains("deny"));
    // A link to their own file is theirs, too.
    #[cfg(unix)]
    {
        std::fs::remove_file(scratch.project().join(LANE).join("index.md")).unwrap();
        std::os::unix::fs::symlink("MEMORY.md", scratch.project().join(LANE).join("index.md")).unwrap();
        let said = scratch.lorelane("doctor").expect(0).err;
        assert!(said.contains("rename it, then run `lorelane reindex`"), "{said}");
        assert_eq!(edits(), "");
    }
}

// `doctor` named `decisions/notes.txt` and not a memory beside the folder where it would be read.
#[test]
fn doctor_names_files_that_lie_where_nobody_reads_them() {
    let scratch = Scratch::with_jwt();
    for part in [".gitignore", ".staging/x.json", ".index.lockdir/pid", "weird/.keep"] {
        scratch.put(&format!("{LANE}/{part}"), "x");
    }
    scratch.lorelane("doctor").expect(0);
    for stray in ["foo.json", "weird/x.json", "weird/deep/y.json"] {
        scratch.put(&format!("{LANE}/{stray}"), "{}");
    }
    check(
        &scratch.lorelane("doctor").text(),
        &expect![[r#"
        file: foo.json is not in a category's folder, so it is ignored
          hint: save its content with `lorelane create CATEGORY --from FILE`, or move it elsewhere
        file: weird/deep/y.json is not in a category's folder, so it is ignored
          hint: save its content with `lorelane create CATEGORY --from FILE`, or move it elsewhere
        file: weird/x.json is not in a category's folder, so it is ignored
          hint: save its content with `lorelane create CATEGORY --from FILE`, or move it elsewhere
        exit 1
    "#]],
    );
    for number in 0..30 {
        scratch.put(&format!("{LANE}/weird/{number}.json"), "{}");
    }
    let said = scratch.lorelane("doctor").expect(1).out;
    assert_eq!(said.matches("so it is ignored").count(), 20, "{said}");
    assert!(said.contains("more than 20 files are not in a category's folder"), "{said}");

    // A folder may hold other things.
    let scratch = Scratch::with_store();
    scratch.lorelane("config set memory_root docs").expect(0);
    scratch.put("docs/readme.md", "# Hello");
    scratch.lorelane("doctor").expect(0);
    scratch.put("docs/foo.json", "{}");
    assert!(scratch.lorelane("doctor").expect(1).out.contains("foo.json is not in a category's folder"));
}

#[test]
fn an_update_changes_what_is_given_and_nothing_else() {
    let mut scratch = Scratch::with_jwt();
    let before = scratch.read(USE_JWT);
    scratch.now = "2026-03-02T12:00:00Z";
    scratch.lorelane("update use-jwt --set rationale+=Simple").expect(0);
    let after = scratch.read(USE_JWT);
    assert_eq!(scratch.line(USE_JWT, "content.rationale"), r#"["Stateless", "Simple"]"#);
    check(
        &scratch.field(USE_JWT, "changes").render(lorelane_core::json::JsonFormat::FILE),
        &expect![[r#"
        [
          {
            "date": "2026-03-02T12:00:00Z",
            "summary": "content.rationale changed",
            "field": "content.rationale",
            "old_value": [
              "Stateless"
            ],
            "new_value": [
              "Stateless",
              "Simple"
            ]
          }
        ]"#]],
    );
    // Line by line: only the list, the time and the new keys differ.
    let lost: Vec<&str> = before.lines().filter(|line| !after.lines().any(|other| other == *line)).collect();
    check(
        &format!("{lost:#?}"),
        &expect![[r#"
        [
            "  \"updated_at\": \"2026-03-01T12:00:00Z\",",
            "      \"Stateless\"",
            "  \"record_status\": \"active\"",
        ]"#]],
    );
    assert!(scratch.lorelane("update use-jwt").expect(2).err.contains("no change was given"));
    let same = scratch.lorelane("update use-jwt --set context=Slow").expect(0);
    assert_eq!(same.out, "No change: decision/use-jwt already has these contents\n");
    assert_eq!(scratch.read(USE_JWT), after);
}

// `--because` was dropped when the new text came from a file.
#[test]
fn a_reason_reaches_the_history_also_when_the_text_comes_from_a_file() {
    let scratch = Scratch::with_jwt();
    let text = scratch.read(USE_JWT).replace("Slow", "Slower");
    scratch.lorelane_with_input("update use-jwt --from - --because 'measured it'", text).expect(0);
    assert_eq!(scratch.line(USE_JWT, "changes.0.summary"), "\"measured it\"");
}

#[test]
fn a_field_that_nobody_knows_is_named() {
    let scratch = Scratch::with_jwt();
    let before = scratch.tree_without_cache();
    let deep = format!("{}x", "a.".repeat(30_000));
    for path in ["colour", "content.colour", "tags.0", "title.x", "a..b", ".", &deep] {
        let said = scratch.command(&["update", "use-jwt", "--set", &format!("{path}=red")]).output().unwrap();
        let said = scratch.said(&said).expect(2);
        assert!(said.err.contains("VALIDATION_ERROR") && said.err.len() < 2_000, "{path}: {}", said.text());
    }
    for set in ["nothing", "=x", " =x"] {
        let said = scratch.command(&["update", "use-jwt", "--set", set]).output().unwrap();
        assert!(scratch.said(&said).expect(2).err.contains("hint: write --set PATH=VALUE"));
    }
    assert_eq!(before, scratch.tree_without_cache());
}

// Setting one of these did nothing and said nothing.
#[test]
fn a_field_that_an_update_cannot_change_is_named() {
    let scratch = Scratch::with_jwt();
    let before = scratch.read(USE_JWT);
    for set in ["record_status=retired", "id=other", "category=runbook", "created_at=2020-01-01T00:00:00Z"] {
        let said = scratch.lorelane(&format!("update use-jwt --set {set}")).expect(2);
        let key = set.split('=').next().unwrap();
        assert!(said.err.contains(&format!("{key}: immutable")), "{}", said.text());
    }
    assert_eq!(scratch.read(USE_JWT), before);
}

#[test]
fn a_name_that_several_memories_have_lists_them() {
    let scratch = Scratch::with_jwt();
    let runbook = "create runbook --title 'Use JWT' --set trigger=t --set steps=s --set verification=v";
    scratch.lorelane(runbook).expect(0);
    check(
        &scratch.lorelane("show use-jwt").text(),
        &expect![[r#"
            2> error: cannot resolve `use-jwt`; several memories match:
            2>   decision/use-jwt
            2>   runbook/use-jwt
            2> hint: give the full address
            exit 1
        "#]],
    );
    check(
        &scratch.lorelane("show jwt").text(),
        &expect![[r#"
            2> error: cannot find `jwt`; similar:
            2>   decision/use-jwt
            2>   runbook/use-jwt
            2> hint: give the full address
            exit 1
        "#]],
    );
    for typed in ["decision/use-jwt", "decisions/use-jwt", USE_JWT, "decision/use-jwt.json"] {
        scratch.lorelane(&format!("show {typed}")).expect(0);
    }
    for typed in ["''", "../x", "..", "/etc/passwd", "decision/", "decision/../../x", "~", &"a".repeat(300)] {
        let said = scratch.lorelane(&format!("show {typed}")).expect(1);
        assert!(said.err.starts_with("error: cannot find") && said.err.contains("hint: "), "{}", said.text());
    }
}

#[test]
fn a_create_never_overwrites_and_a_retired_name_is_free_after_a_day() {
    let mut scratch = Scratch::with_jwt();
    let again = format!("create decision --title 'Use JWT' {DECISION}");
    check(
        &scratch.lorelane(&again).text(),
        &expect![[r#"
            2> error[CREATE_OVERWRITE_ERROR]: cannot create `decision/use-jwt`: it already exists (active)
            2> hint: revise it with `lorelane update decision/use-jwt`, or choose another title
            exit 2
        "#]],
    );
    scratch.lorelane("archive use-jwt").expect(0);
    check(
        &scratch.lorelane(&again).text(),
        &expect![[r#"
            2> error[CREATE_OVERWRITE_ERROR]: cannot create `decision/use-jwt`: it already exists (archived)
            2> hint: restore it with `lorelane restore decision/use-jwt`, or choose another title
            exit 2
        "#]],
    );
    scratch.lorelane("restore use-jwt").expect(0);
    scratch.lorelane("retire use-jwt").expect(0);
    scratch.now = "2026-03-02T11:59:59Z";
    check(
        &scratch.lorelane(&again).text(),
        &expect![[r#"
        2> error[ANTI_RESURRECTION_ERROR]: cannot create `decision/use-jwt`: it was retired at 2026-03-01T12:00:00Z, less than 24 hours ago
        2> hint: restore it with `lorelane restore decision/use-jwt`, choose another title, or wait a day
        exit 2
    "#]],
    );
    let retired = scratch.read(USE_JWT);
    scratch.now = "2026-03-02T12:00:00Z";
    scratch.lorelane(&again).expect(0);
    assert_eq!(scratch.line(USE_JWT, "record_status"), "\"active\"");
    scratch.lorelane("undo").expect(0);
    assert_eq!(scratch.read(USE_JWT), retired);
}

#[test]
fn a_revision_expects_the_file_that_was_read() {
    let scratch = Scratch::with_jwt();
    let bytes = scratch.read(USE_JWT);
    let shown = scratch.json("show use-jwt");
    let hash = |name: &str| shown.at(name).and_then(Json::as_text).unwrap().to_owned();
    assert_eq!(hash("md5"), md5(bytes.as_bytes()));
    assert_eq!(hash("blake3"), Revision::of(bytes.as_bytes()).to_string());
    scratch.lorelane(&format!("update use-jwt --set context=One --expect {}", hash("md5"))).expect(0);
    for name in ["md5", "blake3"] {
        let said = scratch.lorelane(&format!("update use-jwt --set context=Two --expect {}", hash(name)));
        assert!(said.expect(2).err.starts_with("error[OCC_CONFLICT]"));
    }
    let fresh = scratch.json("show use-jwt").at("blake3").and_then(Json::as_text).unwrap().to_owned();
    scratch.lorelane(&format!("update use-jwt --set context=Two --expect {fresh}")).expect(0);
    assert!(
        scratch.lorelane("update use-jwt --set context=x --expect 12").expect(2).err.contains("not a hash")
    );
}

#[test]
fn a_change_that_changes_nothing_says_why() {
    let scratch = Scratch::with_jwt();
    scratch.lorelane("pin use-jwt").expect(0);
    for (line, why) in [
        ("update use-jwt --set context=Slow", "already has these contents"),
        ("pin use-jwt", "is already pinned"),
        ("restore use-jwt", "is already active"),
    ] {
        assert_eq!(
            scratch.lorelane(line).expect(0).out,
            format!("No change: decision/use-jwt {why}\n"),
            "{line}"
        );
    }
    scratch.lorelane("unpin use-jwt").expect(0);
    assert_eq!(
        scratch.lorelane("unpin use-jwt").expect(0).out,
        "No change: decision/use-jwt is not pinned\n"
    );
}

/// Runs `edit` with an editor that is a shell script.
fn edit(scratch: &Scratch, line: &str, script: &str) -> crate::scratch::Said {
    let editor = scratch.folder.join("editor.sh");
    fs::write(&editor, script).unwrap();
    let words = words(line);
    let mut command = scratch.command(&words.iter().map(String::as_str).collect::<Vec<_>>());
    scratch.said(&command.env("EDITOR", format!("sh {}", editor.display())).output().unwrap())
}

fn drafts(scratch: &Scratch) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let folder = scratch.project_state().join("drafts");
    if folder.exists() {
        assert_eq!(fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
        found.extend(fs::read_dir(folder).unwrap().map(|draft| draft.unwrap().path()));
    }
    found
}

#[test]
fn a_memory_is_edited_in_the_persons_own_editor() {
    let scratch = Scratch::with_jwt();
    let before = scratch.read(USE_JWT);
    assert_eq!(
        edit(&scratch, "edit use-jwt", "true").expect(0).out,
        "No change: decision/use-jwt already has these contents\n"
    );
    assert_eq!(scratch.read(USE_JWT), before);
    let said = edit(&scratch, "edit use-jwt", "sed -i s/Slow/Quick/ \"$1\"").expect(0);
    assert_eq!(said.out, "Updated decision/use-jwt\n");
    assert_eq!(scratch.line(USE_JWT, "content.context"), "\"Quick\"");
    assert!(drafts(&scratch).is_empty());
    let created = edit(
        &scratch,
        "create decision --title 'Use a queue' --edit",
        r#"sed -i 's/"status": "accepted"/"status": "accepted", "context": "c", "decision": "d", "rationale": ["r"]/' "$1""#,
    );
    assert_eq!(created.expect(0).out, "Created decision/use-a-queue\n");
    assert!(drafts(&scratch).is_empty());
}

// Finding 9: whoever closed the editor at once got an empty note.
#[test]
fn a_template_that_an_editor_left_as_it_was_is_no_memory() {
    let scratch = Scratch::with_jwt();
    for (line, path) in [
        ("create notes/plan --edit", ".memories/plan.md"),
        ("create decision --title Queues --edit", ".claude/memory/decisions/queues.json"),
    ] {
        edit(&scratch, line, "true").expect(2);
        assert!(!scratch.exists(path) && drafts(&scratch).is_empty(), "{line}");
    }
    edit(&scratch, "create notes/plan --edit", "echo Ship it >> \"$1\"").expect(0);
    let said = edit(&scratch, "edit use-jwt", "sed -i s/Slow/…/ \"$1\"").expect(2);
    assert!(said.err.contains("content.context: Field should say something"), "{}", said.err);
}

// Finding 20: any path was taken without a word.
#[test]
fn files_that_the_project_does_not_have_are_named() {
    let scratch = Scratch::with_jwt();
    scratch.put("src/there.rs", "");
    let warning = |line: &str| scratch.lorelane(line).expect(0).err;
    let line = |files: &str| format!("update use-jwt --set 'related_files+={files}'");
    assert_eq!(
        warning(&line(r#"["src/there.rs", "src/", "src/gone.rs"]"#)),
        "warning: related_files: src/gone.rs is not in the project; fix the path if it is a mistake\n"
    );
    // What was there before is not repeated, and only plain paths are looked for.
    let others = r#"["src/**/*.rs", "https://example.com/a", "src/gone.rs:12", "docs/a.md#top", "/etc/x"]"#;
    assert_eq!(warning(&line(others)), "");
    assert_eq!(
        warning(&line(r#"["a", "b", "c", "d", "e", "f"]"#)),
        "warning: related_files: a, b, c, d, e and 1 more are not in the project; fix the path if it is a mistake\n"
    );
}

// Finding 15: a title of another type was called a missing one, and hid all other errors.
#[test]
fn a_value_of_another_type_hides_no_other_error() {
    let scratch = Scratch::with_store();
    scratch.put("draft.json", r#"{"title": 5, "tags": 5, "content": {"status": "maybe", "context": "c"}}"#);
    let said = scratch.lorelane("create decision --from draft.json").expect(2).err;
    for field in ["title", "tags", "content.status", "content.decision", "content.rationale"] {
        assert!(said.contains(&format!("\n  {field}: ")), "{field}: {said}");
    }
    let said = scratch.lorelane("create decision --title ' '").expect(2).err;
    assert!(said.contains("without a title"), "{said}");
}

#[test]
fn a_draft_that_did_not_go_in_is_kept_and_private() {
    for (line, script) in [
        ("edit use-jwt", "echo 'my work' > \"$1\""),
        ("edit use-jwt", "echo '{\"title\": 1}' > \"$1\""),
        ("edit use-jwt", "echo 'my work' > \"$1\"; exit 3"),
        ("edit use-jwt --dry-run", "sed -i s/Slow/Quick/ \"$1\""),
        ("create decision --title Other --edit", "echo 'my work' > \"$1\""),
    ] {
        let scratch = Scratch::with_jwt();
        let before = scratch.read(USE_JWT);
        let said = edit(&scratch, line, script).expect(if line.contains("dry") { 0 } else { 2 });
        let kept = drafts(&scratch);
        let [draft] = kept.as_slice() else { panic!("{line}: {kept:?}") };
        assert_eq!(fs::metadata(draft).unwrap().permissions().mode() & 0o777, 0o600);
        let named = draft.to_str().unwrap().replace(scratch.folder.to_str().unwrap(), "~");
        assert!(said.err.contains(&named), "{}", said.text());
        assert_eq!(scratch.read(USE_JWT), before);
    }
}

#[test]
fn a_new_session_pushes_the_oldest_out_in_one_receipt_and_one_undo() {
    let scratch = Scratch::with_store();
    scratch.session(0);
    scratch.lorelane("update session-0 --set 'completed=Rotated signing keys'").expect(0);
    for number in 1..5 {
        scratch.session(number);
    }
    let before = scratch.tree_without_cache();
    check(
        &scratch.session(5).text(),
        &expect![[r#"
            Created session_summary/session-5
            Retired session_summary/session-0: Session rolling window: exceeded max_retained limit
            2> fixed: tags: no usable tag, set to ['untagged']
            2> warning: Session session-0 contains unique content not captured elsewhere: Rotated signing keys. Consider saving these before retirement.
        "#]],
    );
    assert_eq!(scratch.json("log -n 1").at("total").and_then(Json::as_u64), Some(7));
    check(
        &scratch.lorelane("undo").text(),
        &expect![[r#"
        Undid "create session_summary/session-5"
        Restored the previous contents of session_summary/session-0
        Removed session_summary/session-5
    "#]],
    );
    let of_project = |tree: BTreeMap<String, Vec<u8>>| -> BTreeMap<String, Vec<u8>> {
        tree.into_iter().filter(|(path, _)| path.starts_with("project/")).collect()
    };
    assert_eq!(of_project(before), of_project(scratch.tree_without_cache()));
}

#[test]
fn as_many_undos_as_changes_give_every_byte_back() {
    for seed in 1..=2 {
        let mut scratch = Scratch::with_jwt();
        scratch.lorelane("pin use-jwt").expect(0);
        let before = project_of(&scratch);
        let mut prng = SeededRng::new(seed);
        let mut changes = 0;
        for turn in 0..30 {
            let days = ["2026-03-05T00:00:00Z", "2026-05-05T00:00:00Z", "2026-07-05T00:00:00Z"];
            scratch.now = days[prng.below(days.len())];
            let names = ["use-jwt", "name-0", "name-1", "name-2", "a-wholly-new-title-7"];
            let name = names[prng.below(names.len())];
            let line = match prng.below(10) {
                0..=2 => format!("create decision --title 'Name {}' {DECISION}", prng.below(3)),
                3 => format!("update {name} --set context='Turn {turn}'"),
                4 => format!("update {name} --set title='A wholly new title {turn}'"),
                5 => format!("retire {name}"),
                6 => format!("restore {name}"),
                7 => format!("{} {name}", prng.pick(&["pin", "unpin"])),
                8 => "gc --yes".to_owned(),
                _ => format!("archive {name}"),
            };
            let said = scratch.lorelane(&format!("{line} --json"));
            if said.code == Some(0) {
                let receipt = Json::parse(&said.out).unwrap();
                changes += usize::from(receipt.at("receipt").and_then(Json::as_u64).is_some());
            }
        }
        assert!(changes > 8, "seed {seed}: only {changes} changes");
        for _ in 0..changes {
            scratch.lorelane("undo").expect(0);
        }
        assert_eq!(before, project_of(&scratch), "seed {seed}");
        scratch.lorelane("log --verify").expect(0);
        scratch.lorelane("doctor").expect(0);
    }
}

fn project_of(scratch: &Scratch) -> BTreeMap<String, Vec<u8>> {
    scratch.tree_without_cache().into_iter().filter(|(path, _)| path.starts_with("project/")).collect()
}

#[test]
fn an_undo_says_what_it_took_back_and_refuses_to_lose_what_came_since() {
    let scratch = Scratch::with_jwt();
    scratch.lorelane("pin use-jwt").expect(0);
    check(
        &scratch.lorelane("undo --dry-run").text(),
        &expect![[r#"
        Would undo change 2: "pin decision/use-jwt"
    "#]],
    );
    // A mark is no memory, so nothing was said at all.
    check(
        &scratch.lorelane("undo").text(),
        &expect![[r#"
        Undid "pin decision/use-jwt"
    "#]],
    );
    scratch.put(".claude/memory/index.md", "# Memory Index\n\nedited by hand\n");
    scratch.put(USE_JWT, scratch.read(USE_JWT).replace("Slow", "By hand"));
    check(
        &scratch.lorelane("undo").text(),
        &expect![[r#"
        2> error: cannot undo change 1: decisions/use-jwt.json has changed since, and undoing would lose that
        2> hint: edit the file by hand; `lorelane log` shows what change 1 did
        exit 2
    "#]],
    );
    scratch.put(USE_JWT, scratch.read(USE_JWT).replace("By hand", "Slow"));
    // The listing is derived: an edit of it by hand holds nothing up.
    check(
        &scratch.lorelane("undo").text(),
        &expect![[r#"
        Undid "create decision/use-jwt"
    "#]],
    );
    assert_eq!(scratch.listing(), "");
    check(
        &scratch.lorelane("undo").text(),
        &expect![[r#"
            2> error: cannot undo: there is nothing left to undo
            2> hint: `lorelane log` shows what was changed
            exit 2
        "#]],
    );
}

#[test]
fn a_changed_byte_in_the_journal_is_found() {
    let scratch = Scratch::with_jwt();
    scratch.lorelane("retire use-jwt").expect(0);
    assert!(scratch.lorelane("log --verify").expect(0).out.contains("2 entries"));
    let lane = fs::read_dir(scratch.home().join("state/lanes")).unwrap().next().unwrap().unwrap().path();
    for file in ["journal", "blobs"].map(|name| lane.join(name)) {
        let sound = fs::read(&file).unwrap();
        for at in [sound.len() / 3, sound.len() / 2] {
            let mut harmed = sound.clone();
            harmed[at] ^= 1;
            fs::write(&file, harmed).unwrap();
            let said = scratch.lorelane("log --verify").expect(1);
            assert!(!said.out.is_empty(), "the fault is named");
            assert!(scratch.lorelane("doctor").expect(1).out.contains("journal: "));
            scratch.lorelane("show use-jwt").expect(0);
        }
        fs::write(&file, sound).unwrap();
    }
    scratch.lorelane("log --verify").expect(0);
}

/// Every command that changes something, on a store that has `use-jwt` and `retired-one`.
const CHANGING: &[&str] = &[
    "init",
    "create decision --title Other --set context=c --set decision=d --set rationale=r",
    "update use-jwt --set context=Changed",
    "update use-jwt --set title='Adopt PASETO for all services'",
    "edit use-jwt",
    "pin use-jwt",
    "unpin use-jwt",
    "retire use-jwt",
    "restore use-jwt",
    "archive use-jwt",
    "restore retired-one",
    "undo",
    "gc",
    "config set auto_commit true",
    "config set secrets redact",
];

fn with_two() -> Scratch {
    let mut scratch = Scratch::with_jwt();
    scratch.decide("Retired one");
    scratch.lorelane("retire retired-one").expect(0);
    scratch.lorelane("pin use-jwt").expect(0);
    scratch.now = LATER;
    scratch
}

#[test]
fn a_dry_run_leaves_every_byte_as_it_is() {
    let scratch = with_two();
    let before = scratch.tree_without_cache();
    for line in CHANGING {
        let said = edit(&scratch, &format!("{line} --dry-run"), "true").expect(0);
        let after = scratch.tree_without_cache();
        // The editor's draft is gone again; the folder for drafts may have come.
        let changed: Vec<&String> = after
            .iter()
            .filter(|(path, bytes)| before.get(*path) != Some(*bytes) && !path.ends_with("/drafts/"))
            .map(|(path, _)| path)
            .chain(before.keys().filter(|path| !after.contains_key(*path)))
            .collect();
        assert_eq!(changed, [""; 0], "{line}\n{}", said.text());
        assert!(drafts(&scratch).is_empty(), "{line}");
    }
    let empty = Scratch::new();
    let before = empty.tree();
    empty.lorelane("init --dry-run").expect(0);
    assert_eq!(before, empty.tree());
}

#[test]
fn every_json_output_is_one_document_with_its_version() {
    let scratch = with_two();
    let reading = [
        "show use-jwt",
        "list",
        "list --status all --sort title -n 1",
        "search jwt",
        "search jwt --explain",
        "search nothing-like-it",
        "log",
        "log --verify",
        "status",
        "doctor",
        "doctor --index",
        "doctor --secrets",
        "config list",
        "config get auto_commit",
        "candidate decision --new-info 'use jwt'",
        "candidate runbook --new-info nothing",
        "reindex",
    ];
    for line in reading {
        scratch.json(line);
    }
    for line in CHANGING.iter().filter(|line| !line.starts_with("edit")) {
        scratch.json(&format!("{line} --dry-run"));
    }
    for line in CHANGING.iter().filter(|line| !line.starts_with("edit")) {
        scratch.json(line);
    }
    // What could not be done is said on stderr, and stdout stays empty.
    assert_eq!(scratch.lorelane("show no-such-thing --json").expect(1).out, "");
}

#[test]
fn only_the_folders_that_status_lists_are_written() {
    let scratch = Scratch::with_store();
    let status = scratch.json("status");
    let declared: Vec<String> = status
        .at("folders")
        .and_then(Json::as_list)
        .unwrap()
        .iter()
        .map(|folder| folder.at("path").and_then(Json::as_text).unwrap().to_owned())
        .map(|path| path.strip_prefix("~/").unwrap().to_owned())
        .collect();
    let before = scratch.tree();
    scratch.decide("Use JWT");
    scratch.decide("Retired one");
    scratch.lorelane("retire retired-one").expect(0);
    for line in CHANGING.iter().chain(&["list", "search other", "status", "doctor", "reindex", "log", "tour"])
    {
        edit(&scratch, line, "sed -i '/context/s/Changed/Again/' \"$1\"").expect(0);
    }
    let after = scratch.tree();
    let inside = |path: &str| {
        let path = path.trim_end_matches('/');
        // A folder above a declared one has to be there for it.
        declared
            .iter()
            .any(|folder| Path::new(path).starts_with(folder) || Path::new(folder).starts_with(path))
    };
    for (path, bytes) in &after {
        assert!(before.get(path) == Some(bytes) || inside(path), "{path} was written, not in {declared:#?}");
    }
    for path in before.keys() {
        assert!(after.contains_key(path) || inside(path), "{path} is gone");
    }
    assert!(after.contains_key("project/lorelane.toml") && after.contains_key(&format!("project/{MARKS}")));
}

#[test]
fn status_tells_the_store_on_one_screen() {
    let scratch = with_two();
    let said = scratch.lorelane("status").expect(0).out;
    check(
        &without_ids(&said),
        &expect![[r#"
            ~/project

                              active  retired  archived
            session_summary        0        0         0
            decision               1        1         0
            runbook                0        0         0
            constraint             0        0         0
            tech_debt              0        0         0
            preference             0        0         0
            all                    1        1         0

            pinned   1
            index.md in sync (1 entry)
            health   GOOD

            Files lorelane may write
              ~/project/.claude/memory  (memories, index.md, memory-config.json)
              ~/project/.lorelane  (marks: pins, former addresses, origins, rejections, successors)
              ~/project/lorelane.toml  (settings of lorelane)
              ~/project/CLAUDE.md  (rules, with `inbox accept --to`)
              ~/project/AGENTS.md  (rules, with `inbox accept --to`)
              ~/project/docs/knowledge  (knowledge, with `inbox accept --to`)
              ~/project/.memories  (notes)
              ~/home/state/lanes/LANE  (journal of the notes: log, undo)
              ~/home/cache/lanes/LANE  (index of the notes: may be deleted)
              ~/home/state/lanes/LANE  (journal: log, undo)
              ~/project/.lorelane/id  (project id: keeps the log if the project moves)
              ~/home/state/projects/ID  (ledger for `why`, results of `bench`)
              ~/home/state/projects/ID/captures  (captures: what sessions found worth saving)
              ~/home/state/projects/ID/drafts  (drafts from your editor)
              ~/home/cache/lanes/LANE  (index: may be deleted)
              ~/home/state/hooks.log  (errors in hooks)
              ~/home/state/trust  (projects whose settings you trust)
              ~/home/data/models  (the second model, if one was added)
              ~/home/state/agents  (what `setup` installed, and backups)
        "#]],
    );
}

#[test]
fn list_filters_and_sorts() {
    let mut scratch = Scratch::with_store();
    for (now, title) in [
        ("2026-01-01T00:00:00Z", "Zebra"),
        ("2026-02-01T00:00:00Z", "apple"),
        ("2026-02-20T00:00:00Z", "Mango"),
    ] {
        scratch.now = now;
        scratch.decide(title);
    }
    scratch.lorelane("update zebra --add-tag über").expect(0);
    scratch.now = NOW;
    let names = |line: &str| -> String {
        let listed = scratch.json(line);
        let memories = listed.at("memories").and_then(Json::as_list).unwrap();
        let name = |memory: &Json| memory.at("title").and_then(Json::as_text).unwrap().to_owned();
        memories.iter().map(name).collect::<Vec<_>>().join(" ")
    };
    for (line, expected) in [
        ("list", "Mango Zebra apple"),
        ("list --sort title", "apple Mango Zebra"),
        ("list --sort created", "Mango apple Zebra"),
        ("list --sort address -n 2", "apple Mango"),
        ("list --since 10d", "Mango Zebra"),
        ("list --since 2026-02-10", "Mango Zebra"),
        ("list --since 500w", "Mango Zebra apple"),
        ("list --since=-9000000000000000000d", ""),
        ("list --tag ÜBER", "Zebra"),
        ("list --tag auth --tag über", "Zebra"),
        ("list runbook", ""),
    ] {
        assert_eq!(names(line), expected, "{line}");
    }
    for line in
        ["list --since yesterday", "list --since d", "list --since ''", "list --since €d", "list poems"]
    {
        assert!(scratch.lorelane(line).expect(2).err.contains("hint: "), "{line}");
    }
    scratch.lorelane("list runbook").expect(1);
}

#[test]
fn foreign_text_cannot_steer_the_terminal() {
    let scratch = Scratch::with_jwt();
    let hostile = r"\u001b]0;pwned\u0007\u001b[31mred\u009b2J\u202etxt";
    scratch.put(USE_JWT, scratch.read(USE_JWT).replace("Use JWT", hostile).replace("Slow", hostile));
    for line in ["list", "show use-jwt", "search red", "status", "doctor", "list --json", "retire use-jwt"] {
        let said = scratch.lorelane(line).text();
        let steers = said.chars().find(|c| (c.is_control() && *c != '\n') || *c == '\u{202e}');
        assert_eq!(steers.filter(|_| !line.contains("json")), None, "{line}: {said:?}");
        assert!(!said.contains('\u{1b}'), "{line}: {said:?}");
    }
}

// A store above the temporary folder was found from the tour's folder and got its memories.
#[test]
fn the_tour_leaves_a_store_above_its_scratch_folder_alone() {
    let scratch = Scratch::with_jwt();
    let temp = scratch.project().join("tmp");
    fs::create_dir(&temp).unwrap();
    let before = scratch.tree();
    let said = scratch.said(&scratch.command(&["tour"]).env("TMPDIR", &temp).output().unwrap()).expect(0);
    assert!(said.out.contains("Created decision/use-jwt-for-service-auth"), "{}", said.text());
    assert_eq!(before, scratch.tree());
}

// Issue 15: `status` names the session folder, and `doctor` what is broken in it, also without memories.
#[test]
fn doctor_finds_what_is_broken_in_a_session_folder_and_changes_nothing() {
    for has_store in [true, false] {
        let scratch = if has_store { Scratch::with_store() } else { Scratch::new() };
        let findings = || -> Vec<String> {
            let document = scratch.lorelane("doctor --json");
            let document = Json::parse(&document.out).unwrap();
            let findings = document.at("findings").and_then(Json::as_list).unwrap().iter();
            let text =
                |finding: &Json, key: &str| finding.at(key).and_then(Json::as_text).unwrap().to_owned();
            let of_set = findings.filter(|finding| text(finding, "check") == "working-set");
            of_set.map(|finding| text(finding, "what")).collect()
        };
        let started = scratch.lorelane("ws --session one init").expect(0);
        assert!(started.out.contains("Next: `lorelane ws add PATH --because REASON`"), "{}", started.text());
        scratch.lorelane("ws --session one touch --turn").expect(0);
        assert_eq!(findings(), [""; 0]);
        if has_store {
            let status = scratch.lorelane("status").expect(0);
            for declared in ["/.agent  (working set: ", "working-sets  (state of sessions"] {
                assert!(status.out.contains(declared), "{}", status.text());
            }
        }
        let session = ".agent/sessions/one";
        let log = scratch.read(&format!("{session}/session-log.md"));
        scratch.put(&format!("{session}/session-log.md"), log.replace("one", "two"));
        scratch.put(&format!("{session}/hot.yml"), "keep: [\n");
        scratch.put(&format!("{session}/cold.yml"), b"\xff\xfe\x00");
        let before = scratch.tree();
        let found = findings();
        assert_eq!(scratch.tree(), before);
        for file in ["hot.yml: ", "cold.yml: ", "session-log.md: "] {
            assert!(found.iter().any(|what| what.contains(file)), "{file} {found:?}");
        }
        fs::remove_dir_all(scratch.project().join(session)).unwrap();
        assert!(findings()[0].starts_with("the folder of the current session is gone: "), "{:?}", findings());
        fs::remove_dir_all(scratch.project().join(".agent")).unwrap();
        assert!(findings()[0].starts_with("cannot find the current session"), "{:?}", findings());
    }
}

#[test]
fn the_tour_tells_its_story() {
    let scratch = Scratch::new();
    let before = scratch.tree();
    let said = scratch.lorelane("tour").expect(0);
    for line in [
        "$ lorelane init",
        "Created decision/use-jwt-for-service-auth",
        "error[SECRET_ERROR]",
        "decision/use-jwt-for-service-auth:12-17  Use JWT for service auth",
        "+ 20 recent",
        "Retired decision/use-jwt-for-service-auth: moved to mTLS",
        "Nothing relevant found",
        "Undid \"retire decision/use-jwt-for-service-auth: moved to mTLS\"",
        "added memory:decision/use-jwt-for-service-auth",
        "overridden (protected)  memory:decision/use-jwt-for-service-auth",
        "Advice: 0 hot, 1 cold  the task is done",
        "index.md in sync (2 entries)",
        "health   GOOD",
    ] {
        assert!(said.out.contains(line), "{line}\n{}", said.text());
    }
    assert_eq!(said.err, "");
    // Issue 15: the tour shows the working set in six lines.
    let (_, set) = said.out.split_once("# A working set").unwrap();
    let lines = set.split_once("\n\n").unwrap().0.lines().skip(1).count();
    assert_eq!(lines, 6, "{set}");
    assert_eq!(before, scratch.tree(), "the tour leaves nothing behind");
}

/// The commands of the help, with the group of each.
fn helped(scratch: &Scratch) -> Vec<(String, String)> {
    let help = scratch.lorelane("--help").expect(0).out;
    let (mut group, mut commands) = (String::new(), Vec::new());
    for line in help.lines() {
        if let Some(name) = line.strip_suffix(':').filter(|line| !line.starts_with(' ')) {
            group = name.to_owned();
        } else if let Some(name) = line.strip_prefix("  ").and_then(|line| line.split(' ').next()) {
            commands.push((group.clone(), name.to_owned()));
        }
    }
    commands.retain(|(group, _)| !["Global options", "Exit codes"].contains(&group.as_str()));
    commands
}

#[test]
fn the_help_shows_every_command_once_in_its_group() {
    let scratch = Scratch::new();
    let commands = helped(&scratch);
    let mut names: Vec<&str> = commands.iter().map(|(_, name)| name.as_str()).collect();
    names.sort_unstable();
    // The completions come from the parser itself, so they know every command there is.
    let completions = scratch.lorelane("completions bash").expect(0).out;
    let mut parsed: Vec<&str> = completions
        .lines()
        .filter_map(|line| line.trim().strip_prefix("lorelane,")?.strip_suffix(')'))
        .collect();
    // The short name of `working-set`.
    parsed.retain(|name| *name != "ws");
    parsed.sort_unstable();
    parsed.dedup();
    assert_eq!(names, parsed);
    let groups: Vec<&str> = commands.iter().map(|(group, _)| group.as_str()).collect();
    assert!(groups.is_sorted_by_key(|group| {
        ["Everyday", "Maintenance", "Agents", "Plumbing"].iter().position(|g| g == group)
    }));
}

#[test]
fn every_command_has_an_example_that_parses() {
    let scratch = Scratch::with_store();
    for (_, name) in helped(&scratch) {
        let help = scratch.lorelane(&format!("{name} --help")).expect(0).out;
        let (_, example) = help.split_once("Example:\n").unwrap_or_else(|| panic!("{name} has no example"));
        let example = example.replace("\\\n", " ");
        let lines: Vec<&str> =
            example.lines().filter_map(|line| line.split_once("lorelane ").map(|(_, line)| line)).collect();
        assert!(!lines.is_empty(), "{name}");
        for line in lines {
            let line = line.split(" > ").next().unwrap();
            let said = edit(&scratch, line, "true");
            assert!(
                !said.err.contains("try '--help'") && !said.err.contains("internal error"),
                "{}",
                said.text()
            );
            let short = if name == "working-set" { "ws " } else { &name };
            assert!(line.starts_with(&name) || line.starts_with(short), "{name}: {line}");
        }
    }
}

#[test]
fn exit_codes_say_done_nothing_or_could_not() {
    let scratch = Scratch::with_jwt();
    let table = [
        ("list", 0),
        ("search jwt", 0),
        ("search nothing-like-it", 1),
        ("list runbook", 1),
        ("show nobody", 1),
        ("show decision/nobody", 1),
        ("doctor", 0),
        ("--version", 0),
        ("", 2),
        ("frobnicate", 2),
        ("show", 2),
        ("create poem --title x", 2),
        ("create decision", 2),
        ("create decision --title ''", 2),
        ("-C no/such/folder list", 2),
        ("--json compat memory_write", 2),
    ];
    for (line, code) in table {
        let said = scratch.lorelane(line);
        assert_eq!(said.code, Some(code), "{line}: {}", said.text());
    }
    let elsewhere = Scratch::new();
    check(
        &elsewhere.lorelane("list").text(),
        &expect![[r#"
        2> error: cannot find a memory store in ~/project or above it
        2> hint: `lorelane init` creates a store here
        exit 2
    "#]],
    );
    assert_eq!(elsewhere.lorelane("log").code, Some(2));
    let bad_clock = scratch.command(&["list"]).env("LORELANE_NOW", "yesterday").output().unwrap();
    assert!(scratch.said(&bad_clock).expect(2).err.contains("LORELANE_NOW"));
}

#[test]
fn colour_never_changes_what_is_said() {
    let scratch = Scratch::with_jwt();
    for line in ["list", "search jwt --explain", "status", "show nobody"] {
        let plain = scratch.lorelane(line).text();
        for (name, value) in [("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1"), ("TERM", "xterm-256color")] {
            let words = words(line);
            let mut command = scratch.command(&words.iter().map(String::as_str).collect::<Vec<_>>());
            let said = scratch.said(&command.env(name, value).output().unwrap()).text();
            assert_eq!(said, plain, "{name}: {line}");
        }
    }
}

// The generator of completions panics when its reader goes away.
#[test]
fn a_reader_that_goes_away_is_no_fault() {
    let scratch = Scratch::with_jwt();
    for line in
        ["list", "show use-jwt --json", "status", "log", "config list", "completions bash", "--help", "tour"]
    {
        let words = words(line);
        let mut command: Command = scratch.command(&words.iter().map(String::as_str).collect::<Vec<_>>());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let said = scratch.said(&child.wait_with_output().unwrap());
        assert_eq!((said.code, said.err.as_str()), (Some(0), ""), "{line}");
    }
}

// A whole record was asked for, and the other ways of giving fields were excluded.
#[test]
fn an_update_from_a_file_takes_only_what_it_gives() {
    let scratch = Scratch::with_jwt();
    let given = r#"{"content": {"decision": "PASETO"}, "confidence": "0.5"}"#;
    let said = scratch.lorelane_with_input("update use-jwt --from - --add-tag paseto", given).expect(0);
    assert!(said.err.contains("fixed: confidence: read \"0.5\" as 0.5"), "{}", said.text());
    assert_eq!(scratch.line(USE_JWT, "content.decision"), "\"PASETO\"");
    assert_eq!(scratch.line(USE_JWT, "content.context"), "\"Slow\"");
    assert_eq!(scratch.line(USE_JWT, "confidence"), "0.5");
}

// A tag is written in lower case, and a key in lower case is not recognised any more.
#[test]
fn a_secret_is_seen_in_a_name_too() {
    let scratch = Scratch::with_jwt();
    let key = concat!("AKIA", "Q3EGRTY7XLPWVN2D");
    for redact in [false, true] {
        if redact {
            scratch.lorelane("config set secrets redact").expect(0);
        }
        for line in [format!("update use-jwt --add-tag {key}"), format!("create decision --title 'My {key}'")]
        {
            let said = scratch.lorelane(&line).expect(2);
            assert!(
                said.err.contains("SECRET_ERROR") && !said.err.to_lowercase().contains(&key.to_lowercase())
            );
        }
    }
}

// Every process appended to the index's log of writes, and none could start it over.
#[test]
fn the_log_of_the_index_does_not_grow_with_the_number_of_changes() {
    let scratch = Scratch::with_jwt();
    for turn in 0..40 {
        scratch.lorelane(&format!("update use-jwt --set context=turn-{turn}")).expect(0);
    }
    scratch.lorelane("list").expect(0);
    let logs = scratch.tree().into_iter().filter(|(path, _)| path.ends_with("index.db-wal"));
    assert_eq!(logs.map(|(_, bytes)| bytes.len()).max(), Some(0));
}

// `doctor` called it no harm, `restore` knew no such memory, and older changes could not be undone.
#[test]
fn a_memory_that_was_deleted_by_hand_comes_back_from_the_log() {
    let scratch = Scratch::with_jwt();
    scratch.decide("Keep Redis");
    scratch.lorelane("retire keep-redis --reason 'moved to Valkey'").expect(0);
    let before = scratch.read(USE_JWT);
    let redis = ".claude/memory/decisions/keep-redis.json";
    for file in [USE_JWT, redis] {
        fs::remove_file(scratch.project().join(file)).unwrap();
    }
    check(
        &scratch.lorelane("doctor").text(),
        &expect![[r#"
        listing: index.md does not match the memories
          hint: `lorelane reindex` rewrites it
        journal: decisions/keep-redis.json was deleted outside lorelane; the log still has it
          hint: `lorelane restore decision/keep-redis` brings it back; `lorelane forget decision/keep-redis` removes it from the log
        journal: decisions/use-jwt.json was deleted outside lorelane; the log still has it
          hint: `lorelane restore decision/use-jwt` brings it back; `lorelane forget decision/use-jwt` removes it from the log
        exit 1
    "#]],
    );
    check(
        &scratch.lorelane("undo").text(),
        &expect![[r#"
        2> error: cannot undo: the remaining changes are of files that were deleted outside lorelane, such as decisions/keep-redis.json
        2> hint: `lorelane restore` restores such a memory; `lorelane doctor` lists them
        exit 2
    "#]],
    );
    check(
        &scratch.lorelane("restore use-jwt --dry-run").text(),
        &expect![[r#"
        Would restore decision/use-jwt
        2> warning: decisions/use-jwt.json was deleted outside lorelane: this is its last version in the log
    "#]],
    );
    assert!(!scratch.exists(USE_JWT));
    check(
        &scratch.lorelane("restore use-jwt").text(),
        &expect![[r#"
        Restored decision/use-jwt
        2> warning: decisions/use-jwt.json was deleted outside lorelane: this is its last version in the log
    "#]],
    );
    assert_eq!(scratch.read(USE_JWT), before);
    // One that was retired is active when it comes back: that is what was asked for.
    scratch.lorelane("restore decision/keep-redis").expect(0);
    assert_eq!(scratch.line(redis, "record_status"), "\"active\"");
    scratch.lorelane("doctor").expect(0);
    for _ in 0..2 {
        scratch.lorelane("undo").expect(0);
    }
    assert!(!scratch.exists(redis) && !scratch.exists(USE_JWT));
    scratch.lorelane("restore no-such-memory").expect(1);
}

#[test]
fn what_git_removed_is_a_note_and_no_harm() {
    let scratch = Scratch::with_jwt();
    scratch.git(&["init", "-q"]);
    scratch.git(&["commit", "-q", "--allow-empty", "-m", "empty"]);
    scratch.git(&["checkout", "-q", "-b", "memories"]);
    scratch.git(&["add", "-A"]);
    scratch.git(&["commit", "-q", "-m", "memories"]);
    scratch.git(&["rm", "-q", USE_JWT]);
    scratch.git(&["commit", "-q", "-m", "no longer"]);
    scratch.lorelane("reindex").expect(0);
    check(
        &scratch.lorelane("doctor").expect(0).text(),
        &expect![[r#"
        No problems found
        2> note: git removed 1 of the memories in the log; `lorelane restore` brings one back: decisions/use-jwt.json
    "#]],
    );
    scratch.lorelane("restore use-jwt").expect(0);
    assert!(scratch.exists(USE_JWT));
}

// What git had removed once was git's doing for ever, also when it was back and somebody deleted it.
#[test]
fn what_came_back_after_git_removed_it_and_was_deleted_is_named() {
    let come_back: [fn(&Scratch); 2] = [
        |scratch| drop(scratch.lorelane("restore use-jwt").expect(0)),
        |scratch| drop(scratch.git(&["checkout", "-q", "HEAD~1", "--", USE_JWT])),
    ];
    for come_back in come_back {
        let scratch = Scratch::with_jwt();
        scratch.git(&["init", "-q"]);
        scratch.git(&["add", "-A"]);
        scratch.git(&["commit", "-q", "-m", "memories"]);
        scratch.git(&["rm", "-q", USE_JWT]);
        scratch.git(&["commit", "-q", "-m", "no longer"]);
        // Later than that commit, whenever it was.
        let scratch = scratch.at("2999-01-01T00:00:00Z");
        let note = scratch.lorelane("doctor").err;
        assert!(note.starts_with("note: git removed 1"), "{note}");
        come_back(&scratch);
        fs::remove_file(scratch.project().join(USE_JWT)).unwrap();
        let said = scratch.lorelane("doctor").expect(1);
        assert!(said.out.contains("use-jwt.json was deleted outside lorelane"), "{}", said.text());
        assert!(said.out.contains("`lorelane restore decision/use-jwt` brings it back"), "{}", said.text());
    }
}

// With the clock set back, `undo` took the older change of the other lane.
#[test]
fn an_undo_takes_the_newest_change_whatever_the_clock_says() {
    let scratch = Scratch::with_store().at(LATER);
    scratch.decide("Use JWT");
    let scratch = scratch.at(NOW);
    scratch.lorelane_with_input("create note --title Plan --from -", "a plan\n").expect(0);
    let log = scratch.lorelane("log").expect(0).out;
    assert!(log.lines().next().unwrap().contains("notes/"), "{log}");
    let undone = scratch.lorelane("undo").expect(0).out;
    assert!(undone.contains("notes/"), "{undone}");
    assert!(scratch.exists(USE_JWT));
    assert!(scratch.lorelane("undo").expect(0).out.contains("decision/use-jwt"));
}

// `XDG_DATA_HOME` was documented and never read: no notes were found there.
#[test]
fn every_documented_folder_variable_counts() {
    let scratch = Scratch::with_store();
    let run = |words: &[&str]| {
        let mut command = scratch.command(words);
        for (name, folder) in [("STATE", "s"), ("CACHE", "c"), ("DATA", "d")] {
            command.env(format!("XDG_{name}_HOME"), scratch.folder.join(folder));
        }
        scratch.said(&command.env_remove("LORELANE_HOME").output().unwrap())
    };
    run(&["config", "set", "notes.storage", "user"]).expect(0);
    let status = run(&["status"]).expect(0).out;
    for folder in ["~/s/lorelane", "~/c/lorelane", "~/d/lorelane"] {
        assert!(status.contains(folder), "{folder} in {status}");
    }
}

// With too few descriptors every folder seemed empty.
#[test]
fn a_store_that_cannot_be_read_for_want_of_descriptors_is_not_empty() {
    let scratch = Scratch::with_jwt();
    let binary = env!("CARGO_BIN_EXE_lorelane");
    for limit in 3..12 {
        for words in ["list", "search jwt"] {
            let _ = fs::remove_dir_all(scratch.home().join("cache"));
            let said = Command::new("sh")
                .args(["-c", &format!("ulimit -n {limit} && exec {binary} {words}")])
                .current_dir(scratch.project())
                .env("LORELANE_HOME", scratch.home())
                .output()
                .unwrap();
            let out = String::from_utf8_lossy(&said.stdout);
            let found = out.contains("use-jwt");
            // A process that cannot even start says so itself.
            assert!(found || !matches!(said.status.code(), Some(0 | 1)), "{words} with {limit}: {said:?}");
        }
    }
}

#[test]
fn a_file_whose_name_is_no_text_is_named() {
    use std::os::unix::ffi::OsStrExt;
    let scratch = Scratch::with_jwt();
    let name = std::ffi::OsStr::from_bytes(b"caf\xe9.json");
    fs::write(scratch.project().join(LANE).join("decisions").join(name), "{}").unwrap();
    let doctor = scratch.lorelane("doctor").expect(1).out;
    assert!(doctor.contains("decisions/caf\u{fffd}.json has a name that is not UTF-8"), "{doctor}");
}

// "No such memory" was all that was said of one that `restore` brings back (issue 10).
#[test]
fn what_was_deleted_outside_is_found_by_every_name_it_had() {
    let scratch = Scratch::with_jwt();
    scratch
        .lorelane("update use-jwt --set title='Adopt PASETO for all services' --because 'a switch'")
        .expect(0);
    let file = scratch.project().join(LANE).join("decisions/adopt-paseto-for-all-services.json");
    let restore = "`lorelane restore decision/adopt-paseto-for-all-services` restores it";
    for name in ["adopt-paseto-for-all-services", "decision/use-jwt", "use-jwt"] {
        fs::remove_file(&file).unwrap();
        for command in ["show NAME", "update NAME --set title=x --because y"] {
            let said = scratch.lorelane(&command.replace("NAME", name)).expect(1);
            assert!(said.err.contains(restore), "{}", said.text());
        }
        scratch.lorelane(&format!("restore {name}")).expect(0);
        assert!(file.exists(), "{name}");
    }
    let said = scratch.lorelane("show never-there").expect(1);
    assert!(!said.err.contains("restore"), "{}", said.text());
}

#[test]
fn doctor_names_what_is_in_the_place_of_a_folder() {
    for place in [".memories", ".lorelane"] {
        let scratch = Scratch::with_jwt();
        let _ = fs::remove_dir_all(scratch.project().join(place));
        scratch.put(place, "a file");
        let said = scratch.lorelane("doctor").expect(1).out;
        assert!(said.contains(&format!("{place} is not a folder")), "{place}: {said}");
    }
}

#[test]
fn a_log_that_was_cut_comes_with_what_to_do() {
    let scratch = Scratch::with_jwt();
    scratch.decide("Use Redis").expect(0);
    let lanes = fs::read_dir(scratch.home().join("state/lanes")).unwrap();
    let journal =
        lanes.map(|lane| lane.unwrap().path().join("journal")).find(|journal| journal.exists()).unwrap();
    let text = fs::read_to_string(&journal).unwrap();
    let first = text.lines().next().unwrap();
    fs::write(&journal, format!("{first}\n")).unwrap();
    let said = scratch.lorelane("log --verify").expect(1);
    assert!(
        said.err.contains("to start a new one") && said.err.contains("move the folder"),
        "{}",
        said.text()
    );
    let said = scratch.lorelane("doctor").expect(1);
    assert!(said.out.contains("to start a new one"), "{}", said.text());
    fs::rename(journal.parent().unwrap(), scratch.folder.join("away")).unwrap();
    scratch.decide("Use Valkey").expect(0);
    scratch.lorelane("log --verify").expect(0);
}

#[test]
fn notes_that_differ_only_in_capitals_are_named_and_never_made_by_a_move() {
    let scratch = Scratch::with_store();
    scratch.lorelane("create notes/plan --text 'the plan'").expect(0);
    scratch.lorelane("notes move --to user").expect(0);
    fs::rename(scratch.home().join("data/memories/plan.md"), scratch.home().join("data/memories/PLAN.md"))
        .unwrap();
    scratch.put(".memories/plan.md", "another");
    let said = scratch.lorelane("notes move --to project").expect(2);
    assert!(said.err.contains("plan.md exists"), "{}", said.text());
    fs::write(scratch.home().join("data/memories/plan.md"), "beside it").unwrap();
    let said = scratch.lorelane("doctor").expect(1).out;
    assert!(said.contains("PLAN.md and plan.md differ only in case"), "{said}");
}
