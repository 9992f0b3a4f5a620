//! Notes: what is read out of any file, what a draft becomes, and what an edit leaves alone.

use crate::support::{DialectOnTexts, TextChange};
use crate::support::{NOW, assigned, lines, write_context};
use expect_test::{Expect, expect};
use lorelane_core::change::{Draft, PartialInput};
use lorelane_core::dialect::notes::{
    NoteDocument, Notes, draft, for_title, links, merged, named, set, set_body, titled,
};
use lorelane_core::dialect::{Composed, Dialect, ParsedFile};
use lorelane_core::json::Json;
use lorelane_core::lifecycle::{Lifecycle, Status};
use lorelane_core::memory::link::LinkTarget;
use lorelane_core::memory::trash::{restored, trashed};
use lorelane_core::memory::{Address, Body, Category, Memory, MemoryKind, NoteType};
use lorelane_core::path::RelPath;
use lorelane_core::refusal::Refusal;
use lorelane_core::secret_diff;
use lorelane_core::time::Timestamp;
use lorelane_core::yaml::{CollectionLayout, FieldEdit, YamlValue};
use proptest::prelude::*;

const SEED: &str = r#"---
type: "plan"
status: "active"
tags: ["refactor", "auth"]
created_at: "2025-01-10T10:00:00Z"
---

Plan to refactor [[src/auth.py]] to use JWT tokens.

## Goals
- Remove session-based auth
"#;

fn address() -> Address {
    Address::note("auth-plan").expect("an address")
}

fn reading_at(path: &str, text: &str) -> ParsedFile {
    Notes.read(&RelPath::parse(path).expect("a path"), text.as_bytes().to_vec())
}

fn reading(text: &str) -> ParsedFile {
    reading_at("auth-plan.md", text)
}

fn read(text: &str) -> Memory {
    reading(text).memory.unwrap_or_else(|| panic!("no memory in {text}"))
}

fn prose(memory: &Memory) -> &str {
    match &memory.body {
        Body::Prose(text) => text,
        other => panic!("{other:?}"),
    }
}

fn create(text: &str) -> Result<Composed, Refusal> {
    Notes.compose_text(&address(), None, &Draft::Whole(text.to_owned()), &write_context())
}

/// The text of the file that a draft becomes.
fn created(text: &str) -> String {
    let composed = create(text).unwrap_or_else(|refusal| panic!("{refusal}: {text}"));
    crate::support::put(&Notes, composed.base_text.as_deref(), None, Some(&composed.memory))
}

/// The text of the file after a revision.
fn revised(old: &str, draft: &Draft) -> String {
    let composed = Notes
        .compose_text(&address(), Some(old), draft, &write_context())
        .unwrap_or_else(|refusal| panic!("{refusal}: {draft:?}"));
    let edits =
        Notes.write_text(Some(old), Some(&read(old)), Some(&composed.memory)).expect("can be written");
    match edits.as_slice() {
        [] => old.to_owned(),
        [TextChange::Put { text, .. }] => text.clone(),
        other => panic!("{other:?}"),
    }
}

fn refused(old: Option<&str>, draft: &Draft) -> String {
    let refusal = Notes.compose_text(&address(), old, draft, &write_context()).expect_err("is refused");
    format!("{refusal}\nhint: {}", refusal.hint())
}

fn whole(text: &str) -> Draft {
    Draft::Whole(text.to_owned())
}

fn append(text: &str) -> Draft {
    Draft::Append { text: text.to_owned() }
}

fn partial(set: &[(&str, &str)], add_tags: &[&str]) -> Draft {
    let add_tags = add_tags.iter().map(|tag| (*tag).to_owned()).collect();
    Draft::Partial { from: None, set: assigned(set), add_tags, because: None }
}

fn texts(items: &[&str]) -> Vec<String> {
    items.iter().map(|item| (*item).to_owned()).collect()
}

#[test]
fn a_note_of_the_first_system_is_read_as_it_was_meant() {
    let note = read(SEED);
    assert_eq!(note.address.to_string(), "notes/auth-plan");
    assert_eq!((note.kind, note.title.as_str()), (MemoryKind::Note(NoteType::Plan), "auth-plan"));
    assert_eq!(note.tags, ["refactor", "auth"]);
    assert_eq!(note.lifecycle, Lifecycle::Active);
    assert_eq!(note.created, Timestamp::parse("2025-01-10T10:00:00Z").map(|(at, _)| at));
    assert!(prose(&note).starts_with("Plan to") && prose(&note).ends_with("session-based auth"));
    assert_eq!(reading(SEED).problems, []);
}

/// A head, its type, status and tags, and its problems.
type Head<'a> = (&'a str, NoteType, Status, &'a [&'a str], &'a [&'a str]);

#[test]
fn whatever_stands_in_a_head_is_read_or_named() {
    let table: [Head<'_>; 16] = [
        ("type: fact\ntags: a, b ,", NoteType::Fact, Status::Active, &["a", "b"], &[]),
        ("tags:\n- a # why\n- 'b c'", NoteType::Journal, Status::Active, &["a", "b c"], &[]),
        ("tags: [a, \"b\\\"c\",\n  d]", NoteType::Journal, Status::Active, &["a", "b\"c", "d"], &[]),
        ("tags: [2024, true]", NoteType::Journal, Status::Active, &["2024", "true"], &[]),
        ("tags:", NoteType::Journal, Status::Active, &[], &[]),
        ("tags: ~\ntype: null", NoteType::Journal, Status::Active, &[], &[]),
        ("status: archived # done", NoteType::Journal, Status::Archived, &[], &[]),
        (
            "type: meeting",
            NoteType::Journal,
            Status::Active,
            &[],
            &["type: not one of plan, journal, fact, observation, reflection; it is read as journal"],
        ),
        (
            "status: lost\ncreated_at: yesterday",
            NoteType::Journal,
            Status::Active,
            &[],
            &[
                "status: not one of active, retired, archived; it is read as active",
                "created_at: not a valid time",
            ],
        ),
        (
            "created_at: 2026-02-31T00:00:00Z",
            NoteType::Journal,
            Status::Active,
            &[],
            &["created_at: a date that does not exist"],
        ),
        (
            "type: plan\ntype: fact",
            NoteType::Fact,
            Status::Active,
            &[],
            &["`type` appears twice; the last one counts"],
        ),
        ("tags:\n- a: b", NoteType::Journal, Status::Active, &[], &["tags: not a list of strings"]),
        ("tags: {a: b}", NoteType::Journal, Status::Active, &[], &["tags: not a list of strings"]),
        (
            "tags: [\"we\"ird\"]\ntype: fact",
            NoteType::Fact,
            Status::Active,
            &[],
            &["tags: not a list of strings"],
        ),
        (
            "type: \"fact\nstray\ntags: [a]",
            NoteType::Journal,
            Status::Active,
            &["a"],
            &[
                "the value of `type` in its frontmatter cannot be read",
                "`stray` in its frontmatter is not a key",
                "type: not one of plan, journal, fact, observation, reflection; it is read as journal",
            ],
        ),
        (
            "title: a: b",
            NoteType::Journal,
            Status::Active,
            &[],
            &["the value of `title` in its frontmatter has a colon and needs quotes"],
        ),
    ];
    for (head, note_type, status, tags, problems) in table {
        for end in ["\n", "\r\n"] {
            let text = format!("---\n{head}\n---\ntext\n").replace('\n', end);
            let reading = reading(&text);
            let found: Vec<&str> = reading.problems.iter().map(|problem| problem.what.as_str()).collect();
            let note = reading.memory.expect("a memory");
            assert_eq!(
                (note.kind, note.lifecycle.status()),
                (MemoryKind::Note(note_type), status),
                "{text:?}"
            );
            assert_eq!((note.tags, prose(&read(&text))), (texts(tags), "text"), "{text:?}");
            assert_eq!(found, problems, "{text:?}");
        }
    }
}

#[test]
fn a_head_that_is_none_is_text() {
    for text in [
        "text only",
        "---\ntype: plan\nnever closed",
        "---\nA sentence between rules.\n---\nmore",
        "\n---\ntype: plan\n---\nlate",
        "--- \t",
        "---",
        "----\na: b\n----\n",
    ] {
        let note = read(text);
        assert_eq!((note.kind, prose(&note)), (MemoryKind::Note(NoteType::Journal), text.trim()), "{text:?}");
    }
    let unclosed = reading("---\ntype: plan\n");
    assert_eq!(unclosed.problems[0].what, "its frontmatter is never closed, so everything is read as text");
    // One that is closed too late was called unclosed.
    let long = reading(&format!("---\n{}---\ntext\n", "key: value\n".repeat(6_000)));
    let what = "its frontmatter is longer than 64 KiB, so everything is read as text";
    assert_eq!(long.problems[0].what, what);
}

/// Aliases keep their text, so that there is nothing to explode.
#[test]
fn a_bomb_of_aliases_is_a_text_like_any_other() {
    let mut head = "a0: &a0 [x, x]\n".to_owned();
    for level in 1..60 {
        let before = level - 1;
        head.push_str(&format!("a{level}: &a{level} [{}]\n", vec![format!("*a{before}"); 10].join(", ")));
    }
    let text = format!("---\n{head}type: fact\n---\ntext\n");
    let note = read(&text);
    assert_eq!((note.kind, note.extra.len()), (MemoryKind::Note(NoteType::Fact), 60));
    let deep = format!("---\nx: {}{}\ntype: fact\n---\ntext\n", "[".repeat(20_000), "]".repeat(20_000));
    assert_eq!(read(&deep).kind, MemoryKind::Note(NoteType::Fact));
}

#[test]
fn a_file_that_is_too_much_is_named_and_not_read() {
    let keys: String = (0..600).map(|at| format!("k{at}: 1\n")).collect();
    let table = [
        (format!("---\n{keys}---\ntext"), "its frontmatter has more than 500 keys"),
        ("x".repeat((4 << 20) + 1), "it is larger than 4096 KiB"),
    ];
    for (text, expected) in table {
        let reading = reading(&text);
        assert_eq!((reading.memory, reading.problems[0].what.as_str()), (None, expected));
    }
    let huge = format!("---\nx: {}\n---\ntext\n", "y".repeat(100_000));
    assert!(prose(&read(&huge)).starts_with("---"), "a head has an end");
}

#[test]
fn the_title_is_the_key_the_heading_or_the_name() {
    let table = [
        ("---\ntitle: 'Own'\n---\n# Heading", "Own"),
        ("text\n\n# The *heading* #\n# Other", "The *heading*"),
        ("```\n# code\n```\n## Second level", "auth-plan"),
        ("---\ntitle:\n---\ntext", "auth-plan"),
    ];
    for (text, expected) in table {
        assert_eq!(read(text).title, expected, "{text:?}");
    }
    assert_eq!(reading_at("a/b c.md", "x").memory.expect("a memory").title, "b c");
}

/// The first system cleared the id of `release-v1` when `release-v1.2` was deleted.
#[test]
fn a_name_with_a_dot_has_one_address_and_one_place() {
    for name in ["release-v1.2", "a.b/c.d.e", "日本語", "with blank", "C#"] {
        let path = RelPath::parse(&format!("{name}.md")).expect("a path");
        let address = Notes::address_of(&path).expect("an address");
        assert_eq!(Notes.place(&address), Some(path), "{name}");
        assert_eq!(Address::parse(&address.to_string()), Some(address.clone()), "{name}");
        assert_eq!(Address::parse(&format!("{address}.md")), Some(address), "{name}");
    }
    for path in ["x.txt", ".hidden.md", ".obsidian/x.md", "indices/vector/x.md", "a.md.md", "a/.b/c.md"] {
        assert!(!Notes.owns(&RelPath::parse(path).expect("a path")), "{path}");
    }
}

/// The first system wrote `../../x` outside of its folder and made a file `.md` of an empty name.
#[test]
fn a_name_that_leaves_the_folder_or_the_screen_is_refused() {
    let long = "x".repeat(300);
    let table = [
        ("auth-plan.md", Ok("notes/auth-plan")),
        ("plans/auth v1.2", Ok("notes/plans/auth v1.2")),
        ("日本語/認証", Ok("notes/日本語/認証")),
        ("cafe\u{301}", Ok("notes/café")),
        ("", Err("it is empty")),
        (".md", Err("it is empty")),
        ("../../x", Err("it has an empty, `.` or `..` component")),
        ("/etc/passwd", Err("it is absolute")),
        ("C:\\x", Err("it is absolute")),
        ("a\\b", Err("it contains '\\\\'")),
        ("a\nb", Err("it contains '\\n'")),
        ("a//b", Err("it has an empty, `.` or `..` component")),
        (".trash/x", Err("its folder or file would be hidden or is reserved")),
        ("indices/x", Err("its folder or file would be hidden or is reserved")),
        ("a/.b", Err("its folder or file would be hidden or is reserved")),
        ("con", Err("Windows reserves that name for a device")),
        ("a/Aux.v2", Err("Windows reserves that name for a device")),
        ("a.", Err("a part of it begins or ends with a space, or ends with a dot")),
        (" a", Err("a part of it begins or ends with a space, or ends with a dot")),
        ("what?", Err("it contains '?', which is not allowed in file names or links")),
        ("a|b", Err("it contains '|', which is not allowed in file names or links")),
        ("a.md.md", Err("its folder or file would be hidden or is reserved")),
        (long.as_str(), Err("a part of it is longer than 236 bytes")),
    ];
    for (typed, expected) in table {
        let named = named(typed).map(|address| address.to_string()).map_err(|fault| {
            assert!(fault.to_string().starts_with("cannot name a note `") && !fault.hint().is_empty());
            fault.why.to_string()
        });
        assert_eq!(named, expected.map(str::to_owned).map_err(str::to_owned), "{typed:?}");
    }
}

#[test]
fn a_title_in_any_script_names_a_file() {
    let table = [
        ("Auth: plan / v1.2?", "notes/auth-plan-v1.2"),
        ("  Café — naïve_x  ", "notes/café-naïve_x"),
        ("認証トークン", "notes/認証トークン"),
        ("हिन्दी", "notes/हिन्दी"),
        ("../../etc", "notes/etc"),
    ];
    for (title, expected) in table {
        assert_eq!(for_title(title).to_string(), expected, "{title:?}");
    }
    for title in ["", "🚀", "con", "Con.v2", "README.md", "...", &"日".repeat(300), &"ab ".repeat(200)] {
        let name = for_title(title).name().to_owned();
        assert_eq!(named(&name).expect("a good name").name(), name, "{title:?}");
    }
    assert_ne!(for_title(&"a ".repeat(100)), for_title(&"a ".repeat(101)), "a cut title keeps its digest");
}

#[test]
fn a_deleted_note_lies_in_the_trash_under_the_time_of_its_deletion() {
    let free = |_: &Address| false;
    let trash = trashed(&address(), NOW, &free).expect("a place");
    assert_eq!(trash.to_string(), "notes/.trash/auth-plan_20260101_000000");
    assert_eq!(restored(&trash), Some(address()));
    assert_eq!(trashed(&trash, NOW, &free), None);
    let deep = Address::note("plans/login").expect("an address");
    let deep_trash = trashed(&deep, NOW, &free).expect("a place");
    assert_eq!(
        (deep_trash.name(), restored(&deep_trash)),
        (".trash/plans/login_20260101_000000", Some(deep))
    );
    // The first system lost the first of two notes that were deleted within one second.
    let taken = |address: &Address| *address == trash;
    let next = trashed(&address(), NOW, &taken).expect("a place");
    assert_eq!(next.name(), ".trash/auth-plan_20260101_000001");

    let deleted = reading_at(".trash/auth-plan_20250110_143022.md", SEED).memory.expect("a memory");
    let (at, _) = Timestamp::parse("2025-01-10T14:30:22Z").expect("a time");
    assert_eq!(deleted.lifecycle, Lifecycle::Retired { at: Some(at), reason: None });
    let undated = reading_at(".trash/by-hand.md", SEED).memory.expect("a memory");
    assert_eq!(undated.lifecycle, Lifecycle::Retired { at: None, reason: None });
    assert_eq!(
        restored(&undated.address).map(|address| address.to_string()).as_deref(),
        Some("notes/by-hand")
    );

    // A move to the trash and back leaves every byte.
    let before = read(SEED);
    let lifecycle = Lifecycle::Retired { at: Some(NOW), reason: None };
    let after = Memory { address: trash, lifecycle, ..before.clone() };
    let edits = Notes.write_text(Some(SEED), Some(&before), Some(&after)).expect("can be written");
    let path = |text: &str| RelPath::parse(text).expect("a path");
    let put = TextChange::Put { path: path(".trash/auth-plan_20260101_000000.md"), text: SEED.to_owned() };
    assert_eq!(edits, [put, TextChange::Remove { path: path("auth-plan.md") }]);
    let edits = Notes.write_text(Some(SEED), Some(&after), Some(&before)).expect("can be written");
    assert!(matches!(&edits[0], TextChange::Put { text, .. } if text == SEED), "{edits:?}");

    let risen = Memory { lifecycle: Lifecycle::Active, ..after.clone() };
    let refusal = Notes.write_text(Some(SEED), Some(&after), Some(&risen)).expect_err("is refused");
    assert!(refusal.to_string().contains("restore it first"), "{refusal}");
}

#[test]
fn a_new_note_has_the_head_of_the_first_system() {
    expect![[r#"
        ---
        type: "plan"
        status: "active"
        tags: ["we\"ird", "a, b", "c"]
        created_at: "2026-01-01T00:00:00Z"
        ---

        Plan to refactor [[src/auth.py]].

        ## Goals
        - one
    "#]]
    .assert_eq(&created(&draft(
        "\n\nPlan to refactor [[src/auth.py]].\n\n## Goals\n- one\n\n",
        Some(NoteType::Plan),
        &texts(&["we\"ird", "a, b", "", "c\n", "C"]),
    )));
    expect![[r#"
        ---
        type: "journal"
        status: "active"
        tags: []
        created_at: "2026-01-01T00:00:00Z"
        ---

        text
    "#]]
    .assert_eq(&created("text"));
}

/// The first system wrote a second head above the one that the content brought.
#[test]
fn a_head_in_the_content_is_the_head() {
    let content = "---\n# mine\ntags: [consolidated]\nowner: me\nstatus: archived\narchived_at: 2024-01-01\n---\n\n# Notes\n";
    expect![[r##"
        ---
        # mine
        tags: [consolidated, auth]
        owner: me
        status: active
        type: "fact"
        created_at: "2026-01-01T00:00:00Z"
        ---

        # Notes
    "##]]
    .assert_eq(&created(&draft(content, Some(NoteType::Fact), &texts(&["auth", "Consolidated"]))));
}

#[test]
fn a_draft_that_would_be_misread_is_refused_with_a_hint() {
    let check = |old: Option<&str>, draft: &Draft, expected: &Expect| {
        expected.assert_eq(&refused(old, draft));
    };
    check(
        None,
        &whole(" \n"),
        &expect![[r#"
        cannot save `notes/auth-plan`: 1 field is invalid
          content: A note should not be empty
            got: ""
            fix: write what is worth remembering
        hint: fix the fields above and try again"#]],
    );
    check(
        None,
        &whole("---\ntype: plan\ntext"),
        &expect![[r#"
        cannot save `notes/auth-plan`: 1 field is invalid
          frontmatter: its frontmatter is never closed, so everything is read as text
            got: null
            fix: correct it in the draft; a text that begins with `---` needs an empty line before it
        hint: fix the fields above and try again"#]],
    );
    check(
        None,
        &whole("---\ntype: meeting\ntype: plan\ntype: other\n---\ntext"),
        &expect![[r#"
        cannot save `notes/auth-plan`: 3 fields are invalid
          frontmatter: `type` appears twice; the last one counts
            got: null
            fix: correct it in the draft; a text that begins with `---` needs an empty line before it
          frontmatter: `type` appears twice; the last one counts
            got: null
            fix: correct it in the draft; a text that begins with `---` needs an empty line before it
          frontmatter: type: not one of plan, journal, fact, observation, reflection; it is read as journal
            got: null
            fix: correct it in the draft; a text that begins with `---` needs an empty line before it
        hint: fix the fields above and try again"#]],
    );
    check(
        Some(SEED),
        &append("---\ntype: fact\n---\nmore"),
        &expect![[r#"
        cannot save `notes/auth-plan`: 1 field is invalid
          content: Text without frontmatter
            got: frontmatter
            fix: leave the frontmatter out, or change the note's own with `lorelane update`
        hint: fix the fields above and try again"#]],
    );
    check(
        Some(SEED),
        &partial(&[("status", "archived")], &[]),
        &expect![[r#"
        cannot revise `notes/auth-plan`: status: immutable via UPDATE
        hint: Use `lorelane retire`, `lorelane archive` or `lorelane restore`"#]],
    );
    check(
        Some(SEED),
        &partial(&[("type", "meeting")], &[]),
        &expect![[r#"
        cannot save `notes/auth-plan`: 1 field is invalid
          type: One of plan, journal, fact, observation, reflection
            got: meeting
            fix: choose one, or use a tag
        hint: fix the fields above and try again"#]],
    );
    let bad = Address::note("what?").expect("people may call a file so");
    let refusal = Notes.compose_text(&bad, None, &whole("x"), &write_context()).expect_err("is refused");
    assert!(refusal.to_string().contains("filename: Not a valid name: it contains '?'"), "{refusal}");
}

/// The first system replaced the head with the text, and type and tags were gone.
#[test]
fn an_update_keeps_the_head_unless_it_brings_one() {
    expect![[r#"
        ---
        type: "plan"
        status: "active"
        tags: ["refactor", "auth"]
        created_at: "2025-01-10T10:00:00Z"
        updated_at: "2026-01-01T00:00:00Z"
        ---

        Only text.
    "#]]
    .assert_eq(&revised(SEED, &whole("Only text.\n")));
    expect![[r#"
        ---
        type: fact
        status: "archived"
        tags: ["refactor", "auth"]
        created_at: "2025-01-10T10:00:00Z"
        updated_at: "2026-01-01T00:00:00Z"
        archived_at: "2026-01-01T00:00:00Z"
        owner: me
        ---

        New.
    "#]]
    .assert_eq(
        &revised(SEED, &whole("---\ntype: fact\nstatus: archived\nowner: me\n---\nNew."))
            .replace("type: \"fact\"", "type: fact"),
    );
    assert_eq!(revised(SEED, &whole(SEED)), SEED, "the same again is no change");
    let edited = Draft::Edited { text: SEED.replace("tags: [\"refactor\", \"auth\"]\n", ""), because: None };
    assert_eq!(read(&revised(SEED, &edited)).tags, [""; 0], "who edits all of it may take a key away");
}

#[test]
fn a_text_is_appended_after_a_blank_line_and_in_the_file_s_line_ends() {
    let dated = |text: &str| text.replace("---\n\nPlan", "updated_at: \"2026-01-01T00:00:00Z\"\n---\n\nPlan");
    let expected = dated(SEED).replace("based auth\n", "based auth\n\n## More\ntext\n");
    assert_eq!(revised(SEED, &append("\n## More\ntext\n\n")), expected);
    let windows = SEED.replace('\n', "\r\n");
    assert_eq!(revised(&windows, &append("## More\ntext")), expected.replace('\n', "\r\n"));
    assert_eq!(prose(&read(&revised("---\ntitle: x\n---", &append("text")))), "text");
    // A text that begins as a head does stays a text.
    let ruled = revised("start", &whole("\n---\ntype: plan\n---\n"));
    assert_eq!(
        (prose(&read(&ruled)), read(&ruled).kind),
        ("---\ntype: plan\n---", MemoryKind::Note(NoteType::Journal))
    );
    assert_eq!(read(&revised("start", &append("---"))).body, Body::Prose("start\n\n---".to_owned()));
}

#[test]
fn a_rename_wants_another_name_and_says_the_same() {
    let old = "---\n# mine\ntype: fact\n---\n\nText\n";
    let composed = |to: &str| {
        let draft = Draft::Renamed { to: Address::note(to).expect("a name") };
        Notes.compose_text(&address(), Some(old), &draft, &write_context())
    };
    let renamed = composed("plans/other").expect("a rename");
    assert_eq!(renamed.rename_to, Address::note("plans/other"));
    assert_eq!((renamed.memory.title.as_str(), renamed.base_text), ("other", None));
    assert_eq!(composed(address().name()).expect("no rename").rename_to, None);
    assert!(composed("con").is_err());
}

#[test]
fn fields_are_set_one_by_one() {
    let table = [
        (partial(&[("type", "fact")], &[]), "type: \"plan\"", "type: \"fact\""),
        (partial(&[], &["AUTH", "new"]), "\"auth\"]", "\"auth\", \"new\"]"),
        (partial(&[("tags", "a, b")], &[]), "[\"refactor\", \"auth\"]", "[\"a\", \"b\"]"),
        (partial(&[("tags+", "b")], &[]), "\"auth\"]", "\"auth\", \"b\"]"),
        (partial(&[("content+", "more")], &[]), "based auth\n", "based auth\n\nmore\n"),
        (partial(&[("content", "other")], &[]), &SEED[SEED.find("Plan").expect("is there")..], "other\n"),
    ];
    for (draft, old, new) in table {
        let expected =
            SEED.replace(old, new).replace("00Z\"\n---", "00Z\"\nupdated_at: \"2026-01-01T00:00:00Z\"\n---");
        assert_eq!(revised(SEED, &draft), expected, "{draft:?}");
    }
    let owned = revised(SEED, &partial(&[("owner", "me: too"), ("title", "Auth")], &[]));
    assert_eq!(read(&owned).title, "Auth");
    assert!(owned.contains("\nowner: \"me: too\"\n"), "{owned}");
    assert_eq!(revised(SEED, &partial(&[], &["auth"])), SEED);
}

#[test]
fn a_redacted_heading_leaves_no_secret_behind_in_the_title() {
    let secret = concat!("AKIA", "4TGHN2WQ7VKJX3ZD");
    let mut note = read(&format!("---\nowner: {secret}\n---\n# Key {secret}\n\nand {secret}\n"));
    assert!(!secret_diff::added(None, &note).is_empty());
    secret_diff::redact_added(None, &mut note);
    let text = crate::support::put(&Notes, None, None, Some(&note));
    assert!(!text.contains(secret), "{text}");
}

#[test]
fn what_a_note_cannot_say_is_refused() {
    let note = read(SEED);
    let table = [
        Memory { confidence: Some(0.5), ..note.clone() },
        Memory { about: texts(&["src/a.rs"]), ..note.clone() },
        Memory { revised: 1, ..note.clone() },
        Memory { title: String::new(), ..note.clone() },
        Memory { body: Body::Fields(Default::default()), ..note.clone() },
        Memory { body: Body::Prose(" \n blank ends \n".to_owned()), ..note.clone() },
        Memory { kind: MemoryKind::Record(lorelane_core::memory::Category::Decision), ..note.clone() },
    ];
    for after in table {
        let refusal = Notes.write_text(Some(SEED), Some(&note), Some(&after)).expect_err("is refused");
        assert!(
            matches!(&refusal, Refusal::Invalid { faults, .. } if !faults[0].fix.is_empty()),
            "{refusal}"
        );
    }
}

// The tags that could not be read were gone without a word.
#[test]
fn tags_that_are_not_understood_are_not_replaced_by_those_that_come() {
    for (head, value) in [
        ("tags: [a, b", "[a, b"),
        ("tags: *alias", "*alias"),
        ("tags:\n- a: b", "- a: b"),
        ("tags: {a: b}", "{a: b}"),
    ] {
        let note = format!("---\n{head}\ntype: fact\n---\n\ntext\n");
        for draft in [partial(&[], &["new"]), partial(&[("tags+", "new")], &[])] {
            let said = refused(Some(&note), &draft);
            assert!(said.contains("tags: ") && said.contains(value), "{said}");
            assert!(said.contains("`lorelane update notes/auth-plan --set tags=a,b`"), "{said}");
        }
        assert!(revised(&note, &partial(&[("tags", "c,d")], &["e"])).contains(r#"tags: ["c", "d", "e"]"#));
        let drafted = draft(&note, None, &texts(&["new"]));
        assert!(drafted.contains(head) && create(&drafted).is_err(), "{drafted}");
    }
}

// Fields came as rendered JSON, and that became the text of the note.
#[test]
fn fields_of_records_become_no_text() {
    let fields = [("content", Json::text("x")), ("confidence", Json::number(1)), ("owner", Json::Null)];
    let given = |count: usize| {
        let from = Some(PartialInput::Fields(fields[..count].iter().cloned().collect()));
        Draft::Partial { from, set: Vec::new(), add_tags: texts(&["new"]), because: None }
    };
    let said = refused(Some(SEED), &given(3));
    for (field, _) in &fields {
        assert!(said.contains(&format!("  {field}: A note")), "{said}");
    }
    assert_eq!(prose(&read(&revised(SEED, &given(0)))), prose(&read(SEED)));
}

#[test]
fn one_key_is_set_and_the_rest_stays() {
    let head = "---\n# top\na: 1 # one\nlist:\n  - x # first\n  # between\n  - 'y'\nflow: [p, q] # why\nq: 'it''s'\nd: \"x\"\nempty:\nmap:\n  k: v\n\n# end\n---\nbody";
    let one = texts(&["y", "z z", "x"]);
    let grown = texts(&["p", "q", "r: s"]);
    let none: Vec<String> = Vec::new();
    let table: [(&str, FieldEdit<'_>, &str, &str); 14] = [
        ("a", FieldEdit::Text("two"), "a: 1 #", "a: two #"),
        ("a", FieldEdit::Text("2"), "a: 1 #", "a: \"2\" #"),
        ("q", FieldEdit::Text("that's"), "'it''s'", "'that''s'"),
        ("q", FieldEdit::Text("a\nb"), "'it''s'", "\"a\\nb\""),
        ("d", FieldEdit::Text("q\"\\ü"), "\"x\"", "\"q\\\"\\\\ü\""),
        ("empty", FieldEdit::Text("v"), "empty:\n", "empty: \"v\"\n"),
        ("map", FieldEdit::Text("v"), "map:\n  k: v\n", "map: \"v\"\n"),
        ("map", FieldEdit::Remove, "map:\n  k: v\n", ""),
        ("a", FieldEdit::Remove, "a: 1 # one\n", ""),
        (
            "list",
            FieldEdit::List(&one),
            "  - x # first\n  # between\n  - 'y'\n",
            "  - 'y'\n  - \"z z\"\n  - x # first\n  # between\n",
        ),
        ("list", FieldEdit::List(&none), "list:\n  - x # first\n  # between\n  - 'y'\n", "list: []\n"),
        ("flow", FieldEdit::List(&grown), "[p, q] #", "[p, q, \"r: s\"] #"),
        ("new", FieldEdit::Text("v"), "# end\n", "# end\nnew: \"v\"\n"),
        (
            "key with: signs",
            FieldEdit::Source("[1, {a: b}]"),
            "# end\n",
            "# end\n\"key with: signs\": [1, {a: b}]\n",
        ),
    ];
    for (key, to, old, new) in table {
        assert_eq!(set(head, key, to), head.replacen(old, new, 1), "{key} {to:?}");
    }
    assert_eq!(set("text", "a", FieldEdit::Text("b")), "---\na: \"b\"\n---\n\ntext");
    assert_eq!(set("---\na: 1\na: 2\n---\n", "a", FieldEdit::Remove), "---\n---\n");
}

fn check_links(text: &str, expected: &Expect) {
    let shown: Vec<String> = links(text)
        .into_iter()
        .map(|link| {
            let target = match &link.target {
                LinkTarget::Memory(address) => format!("<{address}>"),
                LinkTarget::Ghost(path) => path.clone(),
            };
            let alias = link.alias.as_ref().map(|alias| format!(" |{alias}")).unwrap_or_default();
            let anchor = link.anchor.as_ref().map(|anchor| format!(" #{anchor}")).unwrap_or_default();
            format!("{target}{anchor}{alias} {}\n", link.edge().name())
        })
        .collect();
    expected.assert_eq(&shown.concat());
}

/// The first system made three ghosts of these, and a fourth one of a test in a shell script.
#[test]
fn every_way_of_writing_a_target_is_one_target() {
    check_links(
        "[[src/a.py|the module]] [[./src/a.py]] [[src/a.py#L10]] [[ /src//b/../a.py ]] [[src\\a.py]]\n\
         | [[src/a.py\\|in a table]] |\n\n![[memory:plans/login.md#Goals|login]] [[notes/x]] [[decision/use-jwt]]\n\
         [[docs/decisions/0001]] [[]] [[ | ]] [[#own]] [[a\nb]] \\[[escaped]] [[[nested]]] [[日本語]]",
        &expect![[r#"
            src/a.py |the module related_to
            src/a.py related_to
            src/a.py #L10 related_to
            src/a.py related_to
            src/a.py related_to
            src/a.py |in a table related_to
            <notes/plans/login> #Goals |login RELATED_TO
            <notes/x> RELATED_TO
            <decision/use-jwt> RELATED_TO
            docs/decisions/0001 related_to
            nested related_to
            日本語 related_to
        "#]],
    );
    let keys = links("[[Src/A.py]] [[src/a.py]] [[memory:Café]] [[memory:cafe]]");
    assert_eq!(keys[0].target.key(), keys[1].target.key());
    assert_eq!(keys[2].target.key(), keys[3].target.key());
}

#[test]
fn code_holds_no_links() {
    check_links(
        "```sh\n[[ -f x ]] && echo\n```\n~~~\n[[a]]\n~~~\n`[[b]]` and ``x ` [[c]]`` but ` [[d]]\n\n- item\n  ```\n  [[e]]\n  ```\n[[f]]",
        &expect![[r#"
            d related_to
            f related_to
        "#]],
    );
}

/// "Prefix handling" was a bug fix, "tissue" an issue, "Planet" a plan and "shoulder" an intention.
#[test]
fn a_link_is_understood_by_the_words_of_its_sentence() {
    check_links(
        "Prefix handling of tissue on Planet shoulder goodwill: footnote [[a]].\n\n\
         Plan to refactor [[src/auth.py]] to use JWT.\n\n\
         We will ship [[b]]. It fixed a bug in [[c]]; see also [[d]]. Nothing of [[e]].\n\n\
         - should touch [[f]]\n- [[g]] is broken\n- plain [[fix/will.py]]\n\n\
         Rewrote [[h]] and debugged [[i]] after that.\n\n\
         This supersedes [[memory:old]]. It was superseded by [[memory:new]]. It builds on [[memory:base]] and \
         conflicts with [[memory:other]]. Requires [[memory:dep]].",
        &expect![[r#"
            a related_to
            src/auth.py refactors
            b plans
            c debugs
            d mentions
            e related_to
            f plans
            g debugs
            fix/will.py related_to
            h refactors
            i debugs
            <notes/old> SUPERSEDES
            <notes/new> RELATED_TO
            <notes/base> EXTENDS
            <notes/other> CONTRADICTS
            <notes/dep> DEPENDS_ON
        "#]],
    );
}

#[test]
fn the_context_of_a_link_is_a_hundred_characters_on_each_side() {
    let text = format!("{} [[日本]]\n{}", "é".repeat(150), "ж".repeat(150));
    assert_eq!(links(&text)[0].context, format!("{} [[日本]] {}", "é".repeat(99), "ж".repeat(99)));
    let many = "[[a]] ".repeat(5_000);
    assert_eq!(links(&many).len(), 1_000, "a text of nothing but links costs no more than this");
}

#[test]
fn a_mended_tag_is_said() {
    let composed = create("---\ntags: [a, \" \", A]\n---\ntext").expect("is composed");
    assert_eq!(composed.memory.tags, ["a"]);
    assert_eq!(lines(&composed.notices), ["[AUTO-FIX] tags: removed empty tags, duplicates and line breaks"]);
}

/// The lines of the other keys.
fn others<'p>(page: &'p NoteDocument<'_>, key: &str) -> Vec<&'p str> {
    let others = page.entries().iter().filter(|entry| entry.key != key);
    others.map(|entry| &page.text[entry.lines.clone()]).collect()
}

/// Heads that look almost right.
fn any_head() -> impl Strategy<Value = String> {
    let line = "( {0,2}|\t)(a|b|tags|\"q\"|- x|\\? y|#|\\]|<<)?(: | :|:)?(\"|'|\\[|\\{|&x|\\*x|\\||>|!t|1|x, |é| # c){0,3}";
    prop::collection::vec(line, 0..9)
        .prop_map(|lines| format!("---\n{}\n---\n\nbody [[x]]\n", lines.join("\n")))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_taken_apart_without_panic(text in "(---|\n|\r\n|\u{feff}|: |- |[a\\[\\]\"'#|>&*\\\\`日 ]){0,60}") {
        let page = NoteDocument::read(&text);
        for entry in page.entries() {
            prop_assert!(entry.lines.start <= entry.source.start && entry.source.end <= entry.lines.end);
            page.source(entry);
        }
        prop_assert!(text.is_char_boundary(page.body().start) && page.body().end <= text.len());
        links(&text);
    }

    #[test]
    fn what_is_set_is_read_and_every_other_line_stays(
        head in any_head(), key in "a|b|new|tags|with blank|q", value in "\\PC{0,9}|[\"'\\\\\n#: ]{0,5}", crlf: bool,
    ) {
        let head = if crlf { head.replace('\n', "\r\n") } else { head };
        let text = set(&head, &key, FieldEdit::Text(&value));
        let (old, new) = (NoteDocument::read(&head), NoteDocument::read(&text));
        let Some(YamlValue::Scalar(token)) = new.get(&key).map(|entry| &entry.value) else {
            panic!("{text:?}")
        };
        prop_assert_eq!(&token.text, &value, "{}", text);
        prop_assert_eq!(&text[new.body()], &head[old.body()], "{}", text);
        prop_assert_eq!(others(&new, &key), others(&old, &key), "{}", text);
        prop_assert_eq!(set(&text, &key, FieldEdit::Text(&value)), text, "once is enough");
    }

    #[test]
    fn a_list_that_is_set_is_read(head in any_head(), items in prop::collection::vec("\\PC{0,6}|[\"',\\[\\]#: -]{0,4}", 0..4)) {
        let text = set(&head, "tags", FieldEdit::List(&items));
        let page = NoteDocument::read(&text);
        let Some(YamlValue::List(found, layout)) = page.get("tags").map(|entry| &entry.value) else {
            panic!("{text:?}")
        };
        let found: Vec<&String> = found.iter().map(|token| &token.text).collect();
        prop_assert_eq!(found, items.iter().collect::<Vec<_>>(), "{} {:?}", text, *layout == CollectionLayout::Block);
    }

    #[test]
    fn what_is_removed_is_gone_and_the_rest_stays(head in any_head(), key in "a|b|tags|q") {
        let text = set(&head, &key, FieldEdit::Remove);
        let page = NoteDocument::read(&text);
        let old = NoteDocument::read(&head);
        prop_assert!(page.get(&key).is_none_or(|entry| entry.value == YamlValue::Null), "{}", text);
        prop_assert_eq!(&text[page.body()], &head[old.body()], "{}", text);
        prop_assert_eq!(others(&page, &key), others(&old, &key), "{}", text);
    }

    #[test]
    fn a_body_that_is_set_is_read(head in any_head(), body in "(---\na: b\n|---\n)?[a-z#]{1,4}(\n| |\\[\\[x\\]\\]|-){0,5}[a-z]") {
        let text = set_body(&head, &body);
        let page = NoteDocument::read(&text);
        prop_assert_eq!(&text[page.body()], body, "{}", text);
    }

    #[test]
    fn any_title_gives_a_good_name(title in "\\PC{0,120}") {
        let name = for_title(&title).name().to_owned();
        prop_assert_eq!(named(&name).map(|address| address.name().to_owned()), Ok(name));
    }
}

#[test]
fn a_draft_gets_its_title_as_a_heading_unless_it_has_another() {
    let table = [
        ("text\n", "# Auth plan\n\ntext"),
        ("# Auth plan\n\ntext\n", "# Auth plan\n\ntext"),
        ("# Other\n\ntext\n", "# Other\n\ntext"),
    ];
    for (content, body) in table {
        let note = read(&titled(&draft(content, None, &[]), "Auth\nplan"));
        assert_eq!((note.title.as_str(), prose(&note)), ("Auth plan", body), "{content}");
    }
}

#[test]
fn notes_become_one_with_the_tags_of_all_and_each_under_its_heading() {
    let other = "---\ntype: fact\ntags: [Auth, jwt]\n---\n# Tokens\n\nThey expire.\n";
    let both = [read(SEED), read(other)];
    let note = read(&merged(&both));
    assert_eq!(note.kind, MemoryKind::Note(NoteType::Plan));
    assert_eq!(note.tags, ["refactor", "auth", "jwt"]);
    assert!(prose(&note).starts_with("# auth-plan\n\nPlan to refactor"), "{}", prose(&note));
    assert!(prose(&note).ends_with("\n\n# Tokens\n\nThey expire."), "{}", prose(&note));
}

#[test]
fn the_hint_of_a_file_that_cannot_be_read_fits_its_lane() {
    let hint = |address: Address| Refusal::Unreadable { address, why: String::new() }.hint();
    assert!(hint(address()).starts_with("fix the file: a note is text in UTF-8"));
    assert!(hint(Address::record(Category::Decision, "x")).starts_with("fix the JSON"));
}
