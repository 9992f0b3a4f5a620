//! The `api-memory` profile: notes as files under `/memories`.

use super::notes::project;
use super::*;
use expect_test::expect;
use std::os::unix::fs::symlink;

fn client(scratch: &Scratch) -> Client {
    fs::create_dir_all(scratch.project().join(".memories")).unwrap();
    Client::of_profile(scratch, "api-memory")
}

// Finding 18: a path without `.md` was repeated as if a file of that name had been made.
#[test]
fn answers_name_the_file_as_it_is_called() {
    let scratch = Scratch::with_store();
    let mut client = client(&scratch);
    for (tool, arguments, expected) in [
        (
            "create",
            r#"{"path": "/memories/plan", "file_text": "Ship it.\nThen rest.\n"}"#,
            "at: /memories/plan.md\n",
        ),
        ("view", r#"{"path": "/memories/plan"}"#, "content of /memories/plan.md with"),
        (
            "insert",
            r#"{"path": "/memories/plan", "insert_line": 1, "insert_text": "x"}"#,
            "file /memories/plan.md has",
        ),
        (
            "rename",
            r#"{"old_path": "/memories/plan", "new_path": "/memories/old/plan"}"#,
            "renamed /memories/plan.md to /memories/old/plan.md\n",
        ),
        ("delete", r#"{"path": "/memories/old/plan"}"#, "deleted /memories/old/plan.md\n"),
    ] {
        let said = client.said(tool, arguments);
        assert!(said.contains(expected), "{tool}: {said}");
    }
    client.leave();
}

#[test]
fn a_file_is_created_viewed_edited_renamed_and_deleted() {
    let scratch = Scratch::new();
    let mut client = client(&scratch);
    let mut said = String::new();
    for (tool, arguments) in [
        ("view", r#"{"path": "/memories"}"#),
        ("create", r#"{"path": "/memories/plans/progress.xml", "file_text": "one\ntwo <b>\nthree"}"#),
        ("create", r#"{"path": "/memories/todo.md", "file_text": "Nothing yet."}"#),
        ("view", r#"{"path": "/memories/"}"#),
        ("view", r#"{"path": "/memories/plans/progress.xml"}"#),
        (
            "str_replace",
            r#"{"path": "/memories/plans/progress.xml.md", "old_str": "two <b>", "new_str": "2\n2.5"}"#,
        ),
        (
            "insert",
            r#"{"path": "/memories/plans/progress.xml", "insert_line": 0, "insert_text": "---\nzero\n---\n"}"#,
        ),
        ("insert", r#"{"path": "/memories/plans/progress.xml", "insert_line": 7, "insert_text": "last"}"#),
        ("view", r#"{"path": "/memories/plans/progress.xml", "view_range": [4, -1]}"#),
        ("rename", r#"{"old_path": "/memories/plans", "new_path": "/memories/old plans"}"#),
        ("view", r#"{"path": "/memories/plans/progress.xml", "view_range": [1, 2]}"#),
        ("rename", r#"{"old_path": "/memories/todo.md", "new_path": "/memories/done"}"#),
        ("delete", r#"{"path": "/memories/old plans"}"#),
        ("view", r#"{"path": "/memories"}"#),
    ] {
        said += &client.said(tool, arguments);
    }
    expect![[r#"
        Here're the files and directories up to 2 levels deep in /memories, excluding hidden items:
        0B	/memories
        File created successfully at: /memories/plans/progress.xml.md
        File created successfully at: /memories/todo.md
        Here're the files and directories up to 2 levels deep in /memories/, excluding hidden items:
        203B	/memories
        104B	/memories/plans
        104B	/memories/plans/progress.xml.md
        99B	/memories/todo.md
        Here's the content of /memories/plans/progress.xml.md with line numbers:
             1	one
             2	two <b>
             3	three
        The memory file has been edited. Here is the snippet showing the change (with line numbers):
             1	one
             2	2
             3	2.5
             4	three
        The file /memories/plans/progress.xml.md has been edited.
        The file /memories/plans/progress.xml.md has been edited.
        Here's the content of /memories/plans/progress.xml.md with line numbers:
             4	one
             5	2
             6	2.5
             7	three
             8	last
        Successfully renamed /memories/plans to /memories/old plans
        Here's the content of /memories/old plans/progress.xml.md with line numbers:
             1	---
             2	zero
        Successfully renamed /memories/todo.md to /memories/done.md
        Successfully deleted /memories/old plans
        Here're the files and directories up to 2 levels deep in /memories, excluding hidden items:
        99B	/memories
        99B	/memories/done.md
    "#]]
    .assert_eq(&said);
    client.leave();
    // Every change was one of the store's, and can be taken back.
    assert!(scratch.exists(".memories/.trash/old plans/progress.xml_20260301_120000.md"));
    scratch.lorelane("undo").expect(0);
    assert!(scratch.exists(".memories/old plans/progress.xml.md"));
    assert!(scratch.read(MARKS).contains("notes/plans/progress.xml"), "the old address is an alias");
}

#[test]
fn a_rename_keeps_every_byte() {
    let scratch = Scratch::new();
    let text = "---\n# mine\ntype: fact   # sure\nowner: {name: me}\n---\r\n\n  Text\n\n\n";
    scratch.put(".memories/a.md", text);
    let mut client = client(&scratch);
    client.said("rename", r#"{"old_path": "/memories/a.md", "new_path": "/memories/b/c.md"}"#);
    assert_eq!(scratch.read(".memories/b/c.md"), text);
    assert!(!scratch.exists(".memories/a.md"));
    client.leave();
}

#[test]
fn what_cannot_be_done_is_said_and_nothing_is_written() {
    let scratch = Scratch::new();
    scratch.put(".memories/a.md", "one\nand one\n");
    scratch.put(".memories/b.md", "two\n");
    scratch.put("secret.md", "outside\n");
    let mut client = client(&scratch);
    symlink(scratch.project(), scratch.project().join(".memories/out")).unwrap();
    symlink(scratch.project().join("secret.md"), scratch.project().join(".memories/link.md")).unwrap();
    let before = project(&scratch);
    let key = ["AKIA", "IOSFODNN7EXAMPLQ"].concat();
    let secret = format!(r#"{{"path": "/memories/key", "file_text": "the key is {key}"}}"#);
    for (tool, arguments, what) in [
        (
            "view",
            r#"{"path": "/memories/none"}"#,
            "The path /memories/none does not exist. Please provide a valid path.",
        ),
        ("view", r#"{"path": "/memories/../secret.md"}"#, "stay inside it"),
        ("view", r#"{"path": "/memories/a/../../secret.md"}"#, "stay inside it"),
        ("view", r#"{"path": "/etc/passwd"}"#, "must start with /memories"),
        ("view", r#"{"path": "secret.md"}"#, "must start with /memories"),
        ("view", r#"{"path": "/memories/out/secret.md"}"#, "not a regular file"),
        ("view", r#"{"path": "/memories/link.md"}"#, "not a regular file"),
        ("view", r#"{"path": "/memories/.trash"}"#, "does not exist"),
        ("view", r#"{"path": "/memories/a.md", "view_range": [3, 4]}"#, "Invalid `view_range`"),
        (
            "view",
            r#"{"path": "/memories/a.md", "view_range": "all"}"#,
            "`view_range` must be a list of whole numbers",
        ),
        ("create", r#"{"path": "/memories/a.md", "file_text": "x"}"#, "File /memories/a.md already exists"),
        ("create", r#"{"path": "/memories", "file_text": "x"}"#, "cannot name a note"),
        ("create", r#"{"path": "/memories/x//y", "file_text": "x"}"#, "cannot name a note"),
        ("create", r#"{"path": "/memories/.hidden", "file_text": "x"}"#, "cannot name a note"),
        ("create", r#"{"path": "/memories/out/x", "file_text": "x"}"#, "symbolic link"),
        ("create", r#"{"path": "/memories/empty", "file_text": " \n"}"#, "A note should not be empty"),
        ("create", secret.as_str(), "it would store a secret"),
        (
            "str_replace",
            r#"{"path": "/memories/a.md", "old_str": "none"}"#,
            "did not appear verbatim in /memories/a.md",
        ),
        ("str_replace", r#"{"path": "/memories/a.md", "old_str": ""}"#, "did not appear verbatim"),
        (
            "str_replace",
            r#"{"path": "/memories/a.md", "old_str": "one"}"#,
            "Multiple occurrences of old_str `one` in lines: 1, 2.",
        ),
        ("str_replace", r#"{"path": "/memories/b.md", "old_str": "two"}"#, "A note should not be empty"),
        (
            "insert",
            r#"{"path": "/memories/a.md", "insert_line": 3, "insert_text": "x"}"#,
            "within the range of lines of the file: [0, 2]",
        ),
        ("insert", r#"{"path": "/memories", "insert_line": 0, "insert_text": "x"}"#, "does not exist"),
        ("delete", r#"{"path": "/memories/"}"#, "Cannot delete the /memories directory itself"),
        ("delete", r#"{"path": "/memories/none"}"#, "does not exist"),
        (
            "rename",
            r#"{"old_path": "/memories", "new_path": "/memories/x"}"#,
            "Cannot rename the /memories directory itself",
        ),
        (
            "rename",
            r#"{"old_path": "/memories/a.md", "new_path": "/memories/b.md"}"#,
            "The destination /memories/b.md already exists",
        ),
        ("rename", r#"{"old_path": "/memories/a.md", "new_path": "/memories/../a"}"#, "stay inside it"),
        (
            "rename",
            r#"{"old_path": "/memories/a.md", "new_path": "/memories/con.md"}"#,
            "reserves that name for a device",
        ),
    ] {
        let said = client.refused(tool, arguments);
        assert!(said.contains(what) && said.contains("hint: "), "{tool} {arguments}: {said}");
        assert!(!said.contains(&key), "{said}");
    }
    assert_eq!(project(&scratch), before);
    client.leave();
}
