//! How memories hang together, from outside: links, what is related, duplicates, the graph.

use crate::scratch::{DECISION, Scratch};
use expect_test::expect;
use lorelane_core::json::Json;

/// Notes and a record that speak of files and of each other.
fn bank() -> Scratch {
    let scratch = Scratch::with_store();
    scratch.put(
        ".memories/auth-plan.md",
        "---\ntype: plan\ntags: [Auth]\n---\nPlan to refactor [[src/auth.py]] to use JWT. It replaces [[old-idea]].\n",
    );
    scratch.put(
        ".memories/deep/fix.md",
        "---\ntags: [auth]\n---\nWe fixed a bug in [[./SRC/Auth.py#L3|the file]].\n\n```\n[[src/in-code.py]]\n```\n",
    );
    scratch.put(".memories/old-idea.md", "Sessions live in the database. Back to [[auth-plan]].\n");
    scratch
        .lorelane(&format!("create decision --title 'Use JWT' --set related_files=src/auth.py {DECISION}"))
        .expect(0);
    scratch
}

#[test]
fn links_find_a_file_however_memories_write_it() {
    let scratch = bank();
    expect![[r#"
        decision/use-jwt  related_to
               Use JWT
        notes/auth-plan  refactors
               Plan to refactor [[src/auth.py]] to use JWT. It replaces [[old-idea]].
        notes/deep/fix  debugs  (SRC/Auth.py#L3)
               We fixed a bug in [[./SRC/Auth.py#L3|the file]]. ``` [[src/in-code.py]] ```
    "#]]
    .assert_eq(&scratch.lorelane("links src/auth.py").expect(0).out);
    let found = |line: &str| {
        let links = scratch.json(line).at("links").unwrap().as_list().unwrap().to_vec();
        links
            .iter()
            .map(|link| link.at("address").and_then(Json::as_text).unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let all = ["decision/use-jwt", "notes/auth-plan", "notes/deep/fix"];
    for typed in ["./src/auth.py", "src/auth.py#L10", "/src/auth.py", "SRC/AUTH.py", "'src\\auth.py'"] {
        assert_eq!(found(&format!("links {typed}")), all, "{typed}");
    }
    assert_eq!(found("links old-idea"), ["notes/auth-plan"]);
    assert_eq!(found("links notes/Auth-Plan"), ["notes/old-idea"]);
    for nobody in ["src/in-code.py", "src/auth.pyc", "decision/nobody", "''", "'../../..'"] {
        scratch.lorelane(&format!("links {nobody}")).expect(1);
    }
    // In the folder of the file, its own name is enough.
    scratch.put("src/auth.py", "");
    let mut inside = scratch.command(&["links", "auth.py"]);
    assert_eq!(inside.current_dir(scratch.project().join("src")).status().unwrap().code(), Some(0));
}

// B8: editing a memory took away what others said of it.
#[test]
fn an_edit_keeps_the_links_of_others_and_a_rename_too() {
    let scratch = bank();
    scratch.lorelane("append old-idea 'And more.'").expect(0);
    assert!(scratch.lorelane("links old-idea").expect(0).out.contains("notes/auth-plan  SUPERSEDES"));
    scratch.put(".memories/speaks.md", "It depends on [[use-jwt]].");
    scratch.lorelane("update use-jwt --set 'title=Sign every request with PASETO'").expect(0);
    let said = scratch.lorelane("links sign-every-request-with-paseto").expect(0);
    assert!(said.out.contains("notes/speaks  DEPENDS_ON"), "{}", said.out);
    // Out of recall it says nothing, and deleted it has no name.
    scratch.lorelane("retire auth-plan").expect(0);
    scratch.lorelane("links old-idea").expect(1);
    scratch.lorelane("links auth-plan").expect(0);
    scratch.lorelane("restore auth-plan").expect(0);
    scratch.lorelane("links old-idea").expect(0);
    scratch.lorelane("doctor --index").expect(0);
}

#[test]
fn a_file_that_is_renamed_in_git_keeps_its_links() {
    let scratch = bank();
    scratch.put("src/auth.py", "def login():\n    return 'a token that is long enough'\n");
    scratch.git(&["init", "-q"]);
    scratch.git(&["add", "src"]);
    scratch.git(&["commit", "-qm", "first"]);
    scratch.git(&["mv", "src/auth.py", "src/login.py"]);
    scratch.git(&["commit", "-qm", "second"]);
    scratch.git(&["mv", "src/login.py", "src/tokens.py"]);
    // The last move is not committed yet.
    let found = scratch.json("links src/tokens.py");
    let former = found.at("former").unwrap().to_texts();
    assert_eq!(
        (former, found.at("links").unwrap().as_list().unwrap().len()),
        (vec!["src/login.py".to_owned(), "src/auth.py".to_owned()], 3)
    );
    scratch.git(&["commit", "-qm", "third"]);
    assert!(scratch.lorelane("links src/tokens.py").expect(0).out.contains("(src/auth.py)"));
    scratch.lorelane("links src/other.py").expect(1);
}

#[test]
fn related_memories_say_why() {
    let scratch = bank();
    expect![[r#"
        2.52  notes/old-idea
               -> SUPERSEDES: Plan to refactor [[src/auth.py]] to use JWT. It replaces [[old-idea]].
               <- RELATED_TO: Sessions live in the database. Back to [[auth-plan]].
               similar meaning (0.52)
        1.26  notes/deep/fix
               both mention src/auth.py
               both have the tag auth
               similar meaning (0.62)
        0.33  decision/use-jwt
               both mention src/auth.py
    "#]]
    .assert_eq(&scratch.lorelane("related auth-plan").expect(0).out);
    let document = scratch.json("related auth-plan -n 1");
    assert_eq!(document.at("related").unwrap().as_list().unwrap().len(), 1);
    scratch.lorelane("related nobody").expect(1);
    scratch.put(".memories/alone.md", "Xylophones.");
    scratch.lorelane("related alone").expect(1);
}

#[test]
fn related_memories_are_found_by_their_meaning() {
    let scratch = Scratch::with_store();
    scratch.put(".memories/cake.md", "A recipe for chocolate cake with butter, sugar and eggs.");
    scratch.put(".memories/pie.md", "How to bake an apple pie: sugar, butter, flour and eggs.");
    scratch.put(".memories/queue.md", "The message broker retries failed jobs three times.");
    let said = scratch.lorelane("related cake").expect(0);
    assert!(said.out.contains("notes/pie") && said.out.contains("similar meaning"), "{}", said.out);
    assert!(!said.out.contains("notes/queue"), "{}", said.out);
}

#[test]
fn the_graph_is_told_in_three_languages() {
    let scratch = bank();
    expect![[r##"
        flowchart LR
          n0["Use JWT"]
          n1["auth-plan"]
          n2["fix"]
          n3["old-idea"]
          n4[/"src/auth.py"/]
          n5(["#35;auth"])
          n0 -->|related_to| n4
          n1 -->|refactors| n4
          n1 -->|SUPERSEDES| n3
          n1 -->|HAS_TAG| n5
          n2 -->|debugs| n4
          n2 -->|HAS_TAG| n5
          n3 -->|RELATED_TO| n1
    "##]]
    .assert_eq(&scratch.lorelane("graph --format mermaid").expect(0).out);
    let dot = scratch.lorelane("graph").expect(0).out;
    assert!(dot.contains("\"notes/auth-plan\" -> \"ghost:src/auth.py\" [label=\"refactors\"];"), "{dot}");
    let json = scratch.json("graph --format json");
    assert_eq!(scratch.json("graph"), json);
    assert_eq!(json.at("nodes").unwrap().as_list().unwrap().len(), 6);
    assert_eq!(json.at("edges").unwrap().as_list().unwrap().len(), 7);
    Scratch::with_store().lorelane("graph").expect(1);
}

// B7: the first system's answer was always empty.
#[test]
fn duplicates_are_grouped_with_the_command_that_merges_them() {
    let scratch = Scratch::with_store();
    let journal = |last: &str| {
        format!(
            "---\ntype: journal\n---\nThe login test fails when the clock of the container runs {last}.\n"
        )
    };
    scratch.put(".memories/j1.md", journal("ahead"));
    scratch.put(".memories/j 2.md", journal("ahead of time"));
    scratch.put(".memories/plan.md", journal("ahead").replace("journal", "plan"));
    scratch.put(".memories/cake.md", "A recipe for chocolate cake.");
    scratch.put(".memories/one.md", "認証トークンは十五分ごとに更新される。");
    scratch.put(".memories/two.md", "認証トークンは十五分ごとに更新される。");
    expect![[r#"
        1.00  2 memories
               notes/one  認証トークンは十五分ごとに更新される。
               notes/two  認証トークンは十五分ごとに更新される。
               merge them: lorelane merge notes/one notes/two --into notes/one
        0.98  3 memories
               notes/j 2  The login test fails when the clock of the container runs ahead of time.
               notes/j1  The login test fails when the clock of the container runs ahead.
               notes/plan  The login test fails when the clock of the container runs ahead.
               merge them: lorelane merge 'notes/j 2' notes/j1 notes/plan --into 'notes/j 2'
    "#]]
    .assert_eq(&scratch.lorelane("duplicates").expect(0).out);
    let document = scratch.json("duplicates --type plan");
    assert_eq!(document.at("groups").unwrap().as_list().unwrap(), []);
    let document = scratch.json("duplicates --type journal --threshold 0.9 -n 9");
    let groups = document.at("groups").unwrap().as_list().unwrap();
    let journals = groups
        .iter()
        .find(|group| {
            group.at("memories").unwrap().as_list().unwrap()[0].at("id").and_then(Json::as_text)
                == Some("notes/j 2")
        })
        .unwrap();
    assert!(
        journals.at("score").and_then(Json::as_f64).is_some_and(|score| (0.9..1.0).contains(&score)),
        "{journals:?}"
    );
    assert_eq!(journals.at("memory_count").and_then(Json::as_u64), Some(2));
    // What it prints can be typed.
    let command = journals.at("merge").and_then(Json::as_text).unwrap().strip_prefix("lorelane ").unwrap();
    scratch.lorelane(command).expect(0);
    scratch.lorelane("retire two").expect(0);
    scratch.lorelane("duplicates --threshold 1").expect(1);
    for wrong in ["--threshold 0", "--threshold 1.5", "--threshold nan", "--type poem", "-n x"] {
        scratch.lorelane(&format!("duplicates {wrong}")).expect(2);
    }
}

#[test]
fn links_to_nowhere_and_hostile_text_break_nothing() {
    let scratch = Scratch::with_store();
    let many: String = (0..2_000).map(|n| format!("[[a{n}]] ")).collect();
    scratch.put(".memories/many.md", many);
    scratch.put(
        ".memories/self.md",
        "It replaces [[self]]. [[../../../etc/passwd]] [[]] [[ | ]] [[#x]] [[\u{1b}[31m\u{202e}x]]",
    );
    scratch.put(".memories/a.md", "---\ntags: ['x\"]; evil', '<b>']\n---\nIt depends on [[b]].");
    scratch.put(".memories/b.md", "It depends on [[a]].");
    for format in ["dot", "json", "mermaid"] {
        let said = scratch.lorelane(&format!("graph --format {format}")).expect(0);
        assert!(!said.out.contains('\u{1b}') && !said.out.contains('\u{202e}'), "{format}");
    }
    // A memory is not related to itself.
    let said = scratch.lorelane("related self").expect(0);
    assert!(!said.out.contains("notes/self"), "{}", said.out);
    let said = scratch.lorelane("related a").expect(0);
    assert!(said.out.contains("-> DEPENDS_ON") && said.out.contains("<- DEPENDS_ON"), "{}", said.out);
    scratch.lorelane("links '../../../etc/passwd'").expect(0);
    scratch.lorelane("doctor --index").expect(0);
}
