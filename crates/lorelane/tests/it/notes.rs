//! The notes lane from outside: a bank of the first system, changes, and what somebody may do wrong.

use crate::scratch::{MARKS, Scratch};
use expect_test::expect;
use lorelane_core::json::Json;

const PLAN: &str = "---\ntype: \"plan\"\nstatus: \"active\"\ntags: [\"refactor\", \"auth\"]\ncreated_at: \"2025-01-10T10:00:00.123456+00:00\"\n---\n\nPlan to refactor [[src/auth.py]] to pineapple tokens.\n\n## Goals\n\n- none\n";

/// A folder as the first system leaves it.
fn bank() -> Scratch {
    let scratch = Scratch::new();
    scratch.put(".memories/auth-plan.md", PLAN);
    scratch.put(".memories/deep/er/login.md", "No head, but an umbrella.\r\n");
    scratch.put(
        ".memories/commented.md",
        "---\n# mine\ntype: fact   # sure\nowner: {name: me}\ntags: a, b\n---\nText\n",
    );
    scratch.put(".memories/.trash/old_20250110_143022.md", PLAN);
    scratch.put(".memories/indices/index.faiss", "not ours");
    scratch
}

fn addresses(scratch: &Scratch, line: &str) -> Vec<String> {
    let listed = scratch.json(line);
    let memories = listed.at("memories").and_then(Json::as_list).unwrap_or_default().to_vec();
    memories.iter().map(|memory| memory.at("address").and_then(Json::as_text).unwrap().to_owned()).collect()
}

#[test]
fn a_bank_of_the_first_system_opens_unchanged() {
    let scratch = bank();
    let mut before = scratch.tree();
    before.retain(|path, _| path.starts_with("project"));
    assert_eq!(
        addresses(&scratch, "list --sort address"),
        ["notes/auth-plan", "notes/commented", "notes/deep/er/login"]
    );
    assert_eq!(addresses(&scratch, "list --status retired"), ["notes/.trash/old_20250110_143022"]);
    scratch.lorelane("search pineapple").expect(0);
    scratch.lorelane("status").expect(0);
    scratch.lorelane("log").expect(1);
    expect![[r#"
        file: .memories/indices is the index of another program; it is left alone
          hint: remove it if nothing else uses these notes
        exit 1
    "#]]
    .assert_eq(&scratch.lorelane("doctor").text());
    let mut after = scratch.tree();
    after.retain(|path, _| path.starts_with("project"));
    assert_eq!(before, after);
}

#[test]
fn a_change_patches_the_head_and_keeps_every_other_byte() {
    let scratch = bank();
    scratch.lorelane("update commented --add-tag c").expect(0);
    expect![[r#"
        ---
        # mine
        type: fact   # sure
        owner: {name: me}
        tags: ["a", "b", "c"]
        updated_at: "2026-03-01T12:00:00Z"
        ---
        Text
    "#]]
    .assert_eq(&scratch.read(".memories/commented.md"));
    scratch.lorelane("append login 'More text.'").expect(0);
    assert_eq!(
        scratch.read(".memories/deep/er/login.md").replace("\r\n", "\n").lines().last(),
        Some("More text.")
    );
}

// An edit that only changed a comment was taken for no change and lost.
#[test]
fn a_comment_that_an_editor_adds_to_the_head_is_kept() {
    let scratch = bank();
    scratch.put("edit.sh", "#!/bin/sh\nsed -i 's/# mine/# ours/' \"$1\"\n");
    let script = format!("sh {}", scratch.project().join("edit.sh").display());
    let mut command = scratch.command(&["edit", "commented"]);
    let said = scratch.said(&command.env("EDITOR", script).output().unwrap());
    said.expect(0);
    assert!(scratch.read(".memories/commented.md").starts_with("---\n# ours\n"));
}

#[test]
fn what_was_just_written_is_found_and_what_was_deleted_is_not() {
    let scratch = bank();
    scratch.lorelane("create notes/fruit --text 'About kiwi.' --type fact --tag Food").expect(0);
    scratch.lorelane("append fruit 'And mango.'").expect(0);
    scratch.lorelane("search mango").expect(0);
    scratch.lorelane("retire fruit").expect(0);
    scratch.lorelane("search mango").expect(1);
    assert!(scratch.exists(".memories/.trash/fruit_20260301_120000.md"));
    // The same second, the same name: nothing is overwritten.
    scratch.lorelane("create notes/fruit --text 'Another kiwi.'").expect(0);
    scratch.lorelane("retire notes/fruit").expect(0);
    assert!(scratch.read(".memories/.trash/fruit_20260301_120001.md").contains("Another"));
    assert!(scratch.read(".memories/.trash/fruit_20260301_120000.md").contains("About"));
    scratch.lorelane("restore notes/fruit").expect(1);
    scratch.lorelane("restore notes/.trash/fruit_20260301_120000").expect(0);
    scratch.lorelane("search mango").expect(0);
    scratch.lorelane("restore notes/.trash/fruit_20260301_120001").expect(2);
    scratch.lorelane("doctor --index").expect(0);
}

#[test]
fn a_deleted_note_keeps_its_bytes_and_comes_back_with_them() {
    let scratch = bank();
    scratch.lorelane("retire auth-plan").expect(0);
    assert_eq!(scratch.read(".memories/.trash/auth-plan_20260301_120000.md"), PLAN);
    scratch.lorelane("restore auth-plan").expect(0);
    assert_eq!(scratch.read(".memories/auth-plan.md"), PLAN);
    scratch.lorelane("undo").expect(0);
    scratch.lorelane("undo").expect(0);
    assert_eq!(scratch.read(".memories/auth-plan.md"), PLAN);
    assert!(!scratch.exists(".memories/.trash/auth-plan_20260301_120000.md"));
}

#[test]
fn a_merge_happens_as_a_whole_or_not_at_all() {
    let scratch = bank();
    let before = scratch.tree_without_cache();
    for line in [
        "merge auth-plan missing --into notes/all",
        "merge auth-plan login --into notes/commented",
        "merge auth-plan login --into notes/../all",
        "merge auth-plan login --into notes/all --dry-run",
    ] {
        let said = scratch.lorelane(line);
        assert_eq!(said.code == Some(0), line.ends_with("--dry-run"), "{line}: {}", said.text());
        assert_eq!(
            before.iter().filter(|(path, _)| path.starts_with("project")).collect::<Vec<_>>(),
            scratch
                .tree_without_cache()
                .iter()
                .filter(|(path, _)| path.starts_with("project"))
                .collect::<Vec<_>>(),
            "{line}"
        );
    }
    scratch.lorelane("merge auth-plan login auth-plan --into notes/all").expect(0);
    expect![[r#"
        ---
        type: "plan"
        status: "active"
        tags: ["refactor", "auth"]
        created_at: "2026-03-01T12:00:00Z"
        ---

        # auth-plan

        Plan to refactor [[src/auth.py]] to pineapple tokens.

        ## Goals

        - none

        # login

        No head, but an umbrella.
    "#]]
    .assert_eq(&scratch.read(".memories/all.md"));
    assert!(!scratch.exists(".memories/auth-plan.md") && !scratch.exists(".memories/deep/er/login.md"));
    scratch.lorelane("undo").expect(0);
    assert_eq!(scratch.read(".memories/auth-plan.md"), PLAN);
    assert!(!scratch.exists(".memories/all.md"));
}

#[test]
fn a_name_that_no_file_may_have_is_refused_and_any_script_is_not() {
    let scratch = bank();
    let long = "x".repeat(300);
    for name in [
        "",
        "..",
        "../x",
        "a/../../x",
        "/etc/x",
        "C:x",
        "CON",
        "nul.md",
        ".hidden",
        "a/.b/c",
        "indices/x",
        "a:b",
        &long,
    ] {
        let said = scratch.lorelane(&format!("create 'notes/{name}' --text y"));
        assert_eq!(said.code, Some(2), "{name}: {}", said.text());
        assert!(said.err.contains("hint: "), "{name}: {}", said.text());
    }
    assert!(!scratch.folder.join("x.md").exists());
    for name in ["日本語", "über/größe", "release-v1.2", "مرحبا"] {
        scratch.lorelane(&format!("create 'notes/{name}' --text 'Says {name}'")).expect(0);
        assert!(scratch.exists(&format!(".memories/{name}.md")), "{name}");
        scratch.lorelane(&format!("show 'notes/{name}'")).expect(0);
        scratch.lorelane(&format!("retire 'notes/{name}'")).expect(0);
    }
    scratch.lorelane("create notes/x").expect(2);
    scratch.lorelane("create notes/auth-plan --text y").expect(2);
    scratch.lorelane("create notes/x --text y --type idea").expect(2);
    scratch.lorelane("append auth-plan '   '").expect(2);
}

#[test]
fn tags_read_back_as_they_were_given() {
    let scratch = bank();
    for (at, tag) in ["we\"ird", "a, b", "[x]", "# no", "it's: so"].into_iter().enumerate() {
        let mut command = scratch.command(&[
            "create",
            &format!("notes/t{at}"),
            "--text",
            "x",
            "--tag",
            tag,
            "--type",
            "fact",
        ]);
        scratch.said(&command.output().unwrap()).expect(0);
        let shown = scratch.json(&format!("show notes/t{at}"));
        assert_eq!(shown.at("memory").unwrap().at("tags").unwrap().to_texts(), [tag]);
        assert_eq!(shown.at("problems").unwrap().to_texts(), Vec::<String>::new());
    }
    let mut command = scratch.command(&["create", "notes/lines", "--text", "x", "--tag", "two\nlines"]);
    scratch.said(&command.output().unwrap()).expect(0);
    let shown = scratch.json("show notes/lines");
    assert_eq!(shown.at("memory").unwrap().at("tags").unwrap().to_texts(), ["two lines"]);
}

#[test]
fn a_broken_head_hides_no_note_and_loses_no_byte() {
    let scratch = bank();
    let bomb = format!("---\na: &a [x]\n{}---\ntext\n", "b: [*a, *a, *a, *a]\n".repeat(200));
    let huge = format!("---\ntype: fact\nnotes: \"{}\"\n---\ntext\n", "y".repeat(1 << 20));
    let files = [
        ("unclosed", "---\ntype: fact\ntext without an end".to_owned()),
        ("doubled", "---\ntype: fact\n---\n---\ntype: plan\n---\ntext\n".to_owned()),
        ("broken", "---\ntype: \"fact\ntags: [a\n---\ntext\n".to_owned()),
        ("bomb", bomb),
        ("huge", huge),
    ];
    for (name, text) in &files {
        scratch.put(&format!(".memories/{name}.md"), text);
    }
    scratch.put(".memories/bytes.md", b"\xff\xfe no text");
    for (name, text) in &files {
        let shown = scratch.lorelane(&format!("show {name} --raw")).expect(0);
        assert_eq!(shown.out, *text, "{name}");
        scratch.lorelane(&format!("retire {name}")).expect(0);
        assert_eq!(scratch.read(&format!(".memories/.trash/{name}_20260301_120000.md")), *text, "{name}");
    }
    scratch.lorelane("show bytes").expect(2);
    let said = scratch.lorelane("doctor").expect(1);
    assert!(said.out.contains("bytes.md: it is not UTF-8"), "{}", said.text());
}

#[test]
fn records_and_notes_live_side_by_side() {
    let scratch = Scratch::with_jwt();
    scratch.lorelane("create notes/plans/use-jwt --text 'A note on tokens.'").expect(0);
    // The name is no longer unique.
    scratch.lorelane("show use-jwt").expect(0);
    scratch.lorelane("create notes/use-jwt --text 'Another note.'").expect(0);
    expect![[r#"
        2> error: cannot resolve `use-jwt`; several memories match:
        2>   decision/use-jwt
        2>   notes/use-jwt
        2> hint: give the full address
        exit 1
    "#]]
    .assert_eq(&scratch.lorelane("show use-jwt").text());
    scratch.lorelane("pin notes/use-jwt").expect(0);
    assert!(scratch.read(MARKS).contains("notes/use-jwt"));
    // The newest change first, whichever lane it was made in.
    scratch.lorelane("undo").expect(0);
    scratch.lorelane("undo").expect(0);
    scratch.lorelane("undo").expect(0);
    assert_eq!(addresses(&scratch, "list"), ["decision/use-jwt"]);
    scratch.lorelane("undo").expect(0);
    scratch.lorelane("list").expect(1);
    scratch.lorelane("log --verify").expect(0);
    assert_eq!(scratch.json("log").at("total").and_then(Json::as_u64), Some(8));
}

#[test]
fn notes_move_to_the_user_and_back_with_pins_and_without_overwriting() {
    let scratch = bank();
    scratch.lorelane("pin auth-plan").expect(0);
    scratch.lorelane("notes move --to project").expect(2);
    scratch.lorelane("notes move --to user").expect(0);
    let moved = std::fs::read_to_string(scratch.home().join("data/memories/auth-plan.md")).unwrap();
    assert_eq!(moved, PLAN);
    // Half of the move is in the log of the other folder.
    scratch.lorelane("undo").expect(2);
    scratch.lorelane("undo --dry-run").expect(2);
    assert!(scratch.home().join("data/memories/auth-plan.md").exists());
    assert!(!scratch.exists(".memories/auth-plan.md") && scratch.exists(".memories/indices/index.faiss"));
    assert_eq!(scratch.json("show auth-plan").at("pinned"), Some(&Json::Bool(true)));
    scratch.put(".memories/commented.md", "somebody else's");
    let said = scratch.lorelane("notes move --to project");
    assert!(said.code == Some(2) && said.err.contains("commented.md exists"), "{}", said.text());
    std::fs::remove_file(scratch.project().join(".memories/commented.md")).unwrap();
    scratch.lorelane("notes move --to project").expect(0);
    assert_eq!(scratch.read(".memories/auth-plan.md"), PLAN);
    assert!(scratch.exists(".memories/.trash/old_20250110_143022.md"));
    // The folder that they were moved from remembers nothing of what is forgotten.
    scratch.lorelane("forget auth-plan --yes").expect(0);
    scratch.lorelane("forget notes/.trash/old_20250110_143022 --yes").expect(0);
    let holders: Vec<String> = scratch
        .tree()
        .into_iter()
        .filter(|(_, bytes)| bytes.windows(9).any(|window| window == b"pineapple"))
        .map(|(path, _)| path)
        .collect();
    assert_eq!(holders, Vec::<String>::new());
}

#[test]
fn the_first_systems_settings_are_understood() {
    let scratch = bank();
    scratch.set_toml("[memory]\nenabled = true\nstorage_strategy = \"user\"\nrecency_boost_days = 3\n");
    let theirs = scratch.home().join("data/mcp-markdown-ragdocs/memories");
    std::fs::create_dir_all(&theirs).unwrap();
    std::fs::write(theirs.join("global.md"), PLAN).unwrap();
    assert_eq!(addresses(&scratch, "list"), ["notes/global"]);
    assert!(scratch.lorelane("config get notes.recency_days").expect(0).out.contains('3'));
    scratch.lorelane("notes move --to project").expect(0);
    assert!(scratch.lorelane("config get notes.storage").expect(0).out.contains("project"));
    assert!(scratch.exists(".memories/global.md"));
    scratch.put("lorelane.toml", "[memory]\nenabled = false\n");
    scratch.lorelane("list").expect(1);
    scratch.lorelane("create notes/x --text y").expect(2);
}

#[test]
fn notes_of_the_users_own_are_there_in_every_folder() {
    let scratch = Scratch::new();
    let theirs = scratch.home().join("data/memories");
    std::fs::create_dir_all(&theirs).unwrap();
    std::fs::write(theirs.join("global.md"), PLAN).unwrap();
    scratch.lorelane("list").expect(2);
    std::fs::create_dir_all(scratch.home().join("config")).unwrap();
    std::fs::write(scratch.home().join("config/lorelane.toml"), "[notes]\nstorage = \"user\"\n").unwrap();
    assert_eq!(addresses(&scratch, "list"), ["notes/global"]);
    scratch.lorelane("pin global").expect(0);
    scratch.lorelane("append global 'More.'").expect(0);
    let marks = std::fs::read_to_string(scratch.home().join("data/marks.jsonl")).unwrap();
    assert!(marks.contains("notes/global"), "{marks}");
    assert_eq!(std::fs::read_dir(scratch.project()).unwrap().count(), 0, "the project has none of it");
}

// A repository could bring a link and have us write anywhere.
#[test]
fn a_link_out_of_the_project_closes_the_notes_and_no_records() {
    let scratch = Scratch::with_jwt();
    let elsewhere = scratch.folder.join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    std::fs::write(elsewhere.join("theirs.md"), PLAN).unwrap();
    std::os::unix::fs::symlink(&elsewhere, scratch.project().join(".memories")).unwrap();
    assert_eq!(addresses(&scratch, "list"), ["decision/use-jwt"]);
    scratch.lorelane("create notes/x --text y").expect(2);
    assert_eq!(std::fs::read_dir(&elsewhere).unwrap().count(), 1);
    let said = scratch.lorelane("doctor").expect(1);
    assert!(said.out.contains("leads out of the project"), "{}", said.text());
}

#[test]
fn a_reason_and_an_archived_status_are_keys_of_the_head() {
    let scratch = bank();
    scratch.lorelane("archive auth-plan --reason 'done with it'").expect(0);
    let archived = scratch.read(".memories/auth-plan.md");
    assert!(archived.contains("status: \"archived\"") && archived.contains("done with it"), "{archived}");
    scratch.lorelane("search pineapple").expect(1);
    scratch.lorelane("restore auth-plan").expect(0);
    scratch.lorelane("search pineapple").expect(0);
    scratch.lorelane("retire auth-plan --reason 'no longer true'").expect(0);
    let deleted = scratch.read(".memories/.trash/auth-plan_20260301_120000.md");
    assert!(deleted.contains("retired_reason: \"no longer true\""), "{deleted}");
    scratch.lorelane("restore auth-plan").expect(0);
    let back = scratch.read(".memories/auth-plan.md");
    assert!(back.contains("status: \"active\"") && !back.contains("no longer true"), "{back}");
    assert!(back.ends_with("- none\n"));
}

#[test]
fn forgetting_a_note_takes_along_what_was_deleted_under_its_name() {
    let scratch = bank();
    scratch.lorelane("retire auth-plan").expect(0);
    scratch.lorelane("create notes/auth-plan --text 'A second pineapple.'").expect(0);
    scratch.lorelane("append auth-plan 'A third pineapple.'").expect(0);
    std::fs::remove_file(scratch.project().join(".memories/.trash/old_20250110_143022.md")).unwrap();
    scratch.lorelane("search pineapple").expect(0);
    scratch.lorelane("forget notes/auth-plan --yes").expect(0);
    let holders = scratch.tree().into_iter();
    let holders = holders.filter(|(_, bytes)| bytes.windows(9).any(|window| window == b"pineapple"));
    assert_eq!(holders.map(|(path, _)| path).collect::<Vec<_>>(), Vec::<String>::new());
    scratch.lorelane("log --verify").expect(0);
}

#[test]
fn a_secret_in_a_note_is_refused() {
    let scratch = bank();
    // In two parts, so that no scanner takes this file for a leak.
    let secret = concat!("AKIA", "7Q2XNR4LWZ3VTB5M");
    let said = scratch.lorelane(&format!("create notes/x --text 'key {secret}'")).expect(2);
    assert!(said.err.contains("content") && !said.err.contains(secret), "{}", said.text());
    scratch.lorelane(&format!("append auth-plan 'key {secret}'")).expect(2);
}

// A name that macOS had taken apart was taken for `create` and unknown to `update`.
#[test]
fn a_name_is_found_however_its_letters_are_composed() {
    let scratch = bank();
    let (composed, apart) = ("\u{fc}bersicht", "u\u{308}bersicht");
    scratch.put(&format!(".memories/{apart}.md"), "# \u{dc}bersicht\n");
    for typed in [composed, apart] {
        for line in [format!("show {typed}"), format!("show notes/{typed}"), format!("pin notes/{typed}")] {
            scratch.lorelane(&line).expect(0);
        }
    }
    let said = scratch.lorelane_with_input(&format!("create notes/{composed} --from -"), "again\n");
    assert!(said.err.contains("CREATE_OVERWRITE_ERROR"), "{said:?}");
}

// `Plan` and `plan` are one file on many systems, and one of them would be lost there.
#[test]
fn a_name_that_differs_only_in_capitals_is_taken() {
    let scratch = bank();
    scratch.lorelane_with_input("create notes/deep/Roadmap --from -", "one\n").expect(0);
    let said = scratch.lorelane_with_input("create notes/Deep/roadmap --from -", "two\n").expect(2);
    assert!(said.err.contains("notes/deep/Roadmap"), "{said:?}");
    assert!(!scratch.exists(".memories/Deep"));
}

#[test]
fn a_move_that_was_killed_is_named_and_finished() {
    for after_settings in [false, true] {
        let scratch = bank();
        let before = scratch.tree();
        scratch.lorelane("notes move --to user").expect(0);
        // As if the process had died before it removed the old files, or even before the settings.
        for (path, bytes) in before.iter().filter(|(path, _)| path.starts_with("project/.memories/")) {
            if path.ends_with('/') {
                std::fs::create_dir_all(scratch.folder.join(path)).unwrap();
            } else {
                std::fs::write(scratch.folder.join(path), bytes).unwrap();
            }
        }
        if !after_settings {
            scratch.lorelane("config set notes.storage project").expect(0);
        }
        let doctor = scratch.lorelane("doctor").out;
        assert!(doctor.contains("an interrupted move left copies of notes"), "{doctor}");
        let count = addresses(&scratch, "list").len();
        scratch.lorelane("notes move --to user").expect(0);
        assert_eq!(addresses(&scratch, "list").len(), count);
        let doctor = scratch.lorelane("doctor").out;
        assert!(!doctor.contains("an interrupted move left copies of notes"), "{doctor}");
        assert!(!scratch.exists(".memories/auth-plan.md"));
    }
}
