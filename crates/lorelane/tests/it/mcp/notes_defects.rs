//! The defects of the first notes, each with a test of the right behaviour. The numbers are those of the list that
//! was made when they were found.

use super::notes::{PLAN, bank, client, error, given, ids, project};
use super::*;

fn search(client: &mut Client, query: &str) -> Json {
    given(client, "search_memories", &format!(r#"{{"query": "{query}"}}"#))
}

#[test]
fn b1_a_deleted_memory_is_found_nowhere_also_after_a_restart() {
    let scratch = bank(&[("fruit", "A pineapple under an umbrella.\n")]);
    let mut first = client(&scratch);
    assert_eq!(ids(&search(&mut first, "pineapple umbrella")), ["memory:fruit"]);
    given(&mut first, "delete_memory", r#"{"filename": "fruit"}"#);
    assert_eq!(ids(&search(&mut first, "pineapple umbrella")), [""; 0]);
    first.leave();
    let mut second = client(&scratch);
    assert_eq!(ids(&search(&mut second, "pineapple umbrella")), [""; 0]);
    second.leave();
}

#[test]
fn b2_text_before_the_first_heading_is_found() {
    let scratch = bank(&[]);
    let mut client = client(&scratch);
    given(&mut client, "create_memory", PLAN);
    let found = search(&mut client, "JWT tokens");
    assert_eq!(ids(&found), ["memory:auth-refactor-plan"]);
    assert!(text(&found.as_list().unwrap()[0], "content").contains("Plan to refactor"), "{found:?}");
    client.leave();
}

#[test]
fn b3_a_fresh_plan_is_not_the_answer_to_everything() {
    let recipe = "---\ntype: fact\ncreated_at: \"2020-01-01T00:00:00Z\"\n---\n\nThe chocolate cake recipe needs six eggs.\n";
    let scratch = bank(&[("cake", recipe)]);
    let mut client = client(&scratch);
    given(&mut client, "create_memory", PLAN);
    assert_eq!(ids(&search(&mut client, "chocolate cake recipe")), ["memory:cake"]);
    // Also one that says a word of it, and is from today.
    let sale = r#"{"filename": "sale", "memory_type": "plan", "content": "The plan for the cake sale."}"#;
    given(&mut client, "create_memory", sale);
    let found = search(&mut client, "chocolate cake recipe");
    assert_eq!(ids(&found).first(), Some(&"memory:cake"), "{found:?}");
    client.leave();
}

#[test]
fn b4_a_question_that_nothing_answers_gets_nothing() {
    let scratch =
        bank(&[("cake", "The chocolate cake recipe needs six eggs.\n"), ("db", "We use PostgreSQL.\n")]);
    let mut client = client(&scratch);
    for query in ["quantum entanglement of photons", "how do I renew my passport"] {
        assert_eq!(ids(&search(&mut client, query)), [""; 0], "{query}");
    }
    client.leave();
}

#[test]
fn b5_questions_and_other_forms_of_a_word_find_what_they_mean() {
    let scratch = bank(&[(
        "limits",
        "# API\n\nThe rate limit is 100 requests per minute, see src/middleware/rate_limit.py.\n",
    )]);
    let mut client = client(&scratch);
    for query in ["what is the rate limit?", "limits", "requests/minute.", "rate_limit.py"] {
        assert_eq!(ids(&search(&mut client, query)), ["memory:limits"], "{query}");
    }
    client.leave();
}

#[test]
fn b6_a_memory_takes_one_place_however_often_it_matches() {
    let long: String =
        (0..8).map(|n| format!("## Part {n}\n\nThe importer retries the queue, part {n}.\n\n")).collect();
    let scratch = bank(&[("long", &long), ("short", "The importer is slow.\n")]);
    let mut client = client(&scratch);
    let found = search(&mut client, "importer queue retries");
    assert_eq!(ids(&found)[0], "memory:long");
    assert_eq!(ids(&found).iter().filter(|id| **id == "memory:long").count(), 1, "{found:?}");
    client.leave();
}

#[test]
fn b7_notes_that_say_the_same_are_suggested_for_a_merge() {
    let scratch = bank(&[
        (
            "monday",
            "The importer failed again because the queue was full, so we restarted the worker by hand.\n",
        ),
        (
            "tuesday",
            "The importer failed again because the queue was full, so we restarted the worker by hand today.\n",
        ),
        ("cake", "The chocolate cake recipe needs six eggs and a warm oven.\n"),
    ]);
    let mut client = client(&scratch);
    let groups = given(&mut client, "suggest_memory_merges", "{}");
    let [group] = groups.as_list().unwrap() else { panic!("{groups:?}") };
    assert_eq!(group.at("cluster_id"), Some(&Json::number(0)));
    assert_eq!(text(group, "reason"), "High vector similarity (> 0.85)");
    assert_eq!(group.at("memory_count"), Some(&Json::number(2)));
    assert!(group.at("score").and_then(Json::as_f64).is_some_and(|score| score > 0.85), "{group:?}");
    let members: Vec<&str> = list(group, "memories").iter().map(|memory| text(memory, "id")).collect();
    assert_eq!(members, ["memory:monday", "memory:tuesday"]);
    for memory in list(group, "memories") {
        assert!(text(memory, "file_path").ends_with(".md"), "{memory:?}");
        assert!(text(memory, "preview").starts_with("The importer failed"), "{memory:?}");
    }
    let facts = given(&mut client, "suggest_memory_merges", r#"{"filter_type": "fact"}"#);
    assert_eq!(facts.as_list().map(<[Json]>::len), Some(0));
    client.leave();
}

#[test]
fn b8_an_edit_keeps_what_others_say_of_a_memory() {
    let scratch = bank(&[("base", "The first plan.\n"), ("child", "This supersedes [[memory:base]].\n")]);
    let mut client = client(&scratch);
    let chain = |client: &mut Client| {
        let versions = given(client, "get_memory_versions", r#"{"filename": "child"}"#);
        list(&versions, "version_chain")
            .iter()
            .map(|version| text(version, "memory_id").to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(chain(&mut client), ["memory:child", "memory:base"]);
    given(&mut client, "append_memory", r#"{"filename": "base", "content": "More of it."}"#);
    assert_eq!(chain(&mut client), ["memory:child", "memory:base"]);
    given(&mut client, "update_memory", r#"{"filename": "base", "content": "All anew."}"#);
    assert_eq!(chain(&mut client), ["memory:child", "memory:base"]);
    client.leave();
}

#[test]
fn b9_no_name_leads_out_of_the_bank() {
    let scratch = bank(&[]);
    let mut client = client(&scratch);
    let before = project(&scratch);
    for name in ["../../x", "/tmp/lorelane-escaped", "a/../../x", "..\\\\x", "C:x"] {
        let said =
            error(&mut client, "create_memory", &format!(r#"{{"filename": "{name}", "content": "x"}}"#));
        assert!(said.contains("cannot name a note"), "{name}: {said}");
    }
    assert_eq!(project(&scratch), before);
    client.leave();
}

#[test]
fn b10_an_empty_name_or_text_is_refused() {
    let scratch = bank(&[]);
    let mut client = client(&scratch);
    let before = project(&scratch);
    for (name, content) in [("", "x"), (" ", "x"), (".md", "x"), ("a", ""), ("a", " \\n\\t")] {
        error(&mut client, "create_memory", &format!(r#"{{"filename": "{name}", "content": "{content}"}}"#));
    }
    assert_eq!(project(&scratch), before);
    client.leave();
}

#[test]
fn b11_a_name_with_a_dot_is_one_name_everywhere() {
    let scratch = bank(&[]);
    let mut client = client(&scratch);
    given(&mut client, "create_memory", r#"{"filename": "release-v1.2", "content": "About kiwi."}"#);
    given(&mut client, "append_memory", r#"{"filename": "release-v1.2.md", "content": "And mango."}"#);
    assert_eq!(ids(&search(&mut client, "mango")), ["memory:release-v1.2"]);
    given(&mut client, "update_memory", r#"{"filename": "release-v1.2", "content": "About papaya."}"#);
    assert_eq!(ids(&search(&mut client, "mango")), [""; 0]);
    given(&mut client, "delete_memory", r#"{"filename": "release-v1.2"}"#);
    assert_eq!(ids(&search(&mut client, "papaya")), [""; 0]);
    client.leave();
}

#[test]
fn b12_tags_with_quotes_break_nothing() {
    let scratch = bank(&[]);
    let mut client = client(&scratch);
    let create = r#"{"filename": "odd", "content": "About kiwi.", "tags": ["we\"ird", "a, b", "c: d"], "memory_type": "fact"}"#;
    given(&mut client, "create_memory", create);
    let stats = given(&mut client, "get_memory_stats", "{}");
    assert_eq!(stats.at("types.fact"), Some(&Json::number(1)), "{stats:?}");
    let found = given(&mut client, "search_memories", r#"{"query": "kiwi", "filter_tags": ["we\"ird"]}"#);
    assert_eq!(found.as_list().unwrap()[0].at("tags").unwrap().to_texts(), ["we\"ird", "a, b", "c: d"]);
    client.leave();
}

#[test]
fn b13_a_merge_happens_as_a_whole_or_not_at_all() {
    let scratch = bank(&[("a", "About kiwi.\n"), ("b", "About mango.\n")]);
    let mut client = client(&scratch);
    let before = project(&scratch);
    let merge = |sources: &str| {
        format!(r#"{{"source_files": [{sources}], "target_file": "c", "summary_content": "Fruit."}}"#)
    };
    error(&mut client, "merge_memories", &merge(r#""a", "none""#));
    assert_eq!(project(&scratch), before);
    let merged = given(&mut client, "merge_memories", &merge(r#""a", "b", "a.md""#));
    assert_eq!(merged.at("sources_merged"), Some(&Json::number(2)));
    let stats = given(&mut client, "get_memory_stats", "{}");
    assert_eq!(stats.at("count"), Some(&Json::number(1)), "{stats:?}");
    client.leave();
    scratch.lorelane("undo").expect(0);
    assert!(
        scratch.exists(".memories/a.md")
            && scratch.exists(".memories/b.md")
            && !scratch.exists(".memories/c.md")
    );
}

#[test]
fn b14_an_update_keeps_what_it_does_not_give() {
    let scratch = bank(&[(
        "a",
        "---\ntype: \"fact\"\ntags: [\"x\"]\ncreated_at: \"2025-01-10T10:00:00Z\"\nowner: me\n---\n\nOld.\n",
    )]);
    let mut client = client(&scratch);
    given(&mut client, "update_memory", r#"{"filename": "a", "content": "New."}"#);
    let text = scratch.read(".memories/a.md");
    for kept in
        ["type: \"fact\"", "tags: [\"x\"]", "created_at: \"2025-01-10T10:00:00Z\"", "owner: me", "\n\nNew.\n"]
    {
        assert!(text.contains(kept), "{kept}: {text}");
    }
    given(&mut client, "update_memory", r#"{"filename": "a", "content": "---\ntags: [y]\n---\n\nNewer."}"#);
    let text = scratch.read(".memories/a.md");
    assert!(
        text.contains("tags: [\"y\"]") && text.contains("owner: me") && text.contains("Newer."),
        "{text}"
    );
    client.leave();
}

#[test]
fn b15_archived_memories_are_found_only_when_asked_for() {
    let scratch = bank(&[
        ("old", "---\nstatus: archived\n---\n\nThe kiwi harvest of last year.\n"),
        ("gone", "The kiwi harvest that was deleted.\n"),
    ]);
    let mut client = client(&scratch);
    given(&mut client, "delete_memory", r#"{"filename": "gone"}"#);
    assert_eq!(ids(&search(&mut client, "kiwi harvest")), [""; 0]);
    let found =
        given(&mut client, "search_memories", r#"{"query": "kiwi harvest", "include_archived": true}"#);
    assert_eq!(ids(&found), ["memory:old"]);
    assert_eq!(text(&found.as_list().unwrap()[0], "status"), "archived");
    client.leave();
}

#[test]
fn b16_capitals_of_a_tag_make_no_difference() {
    let scratch = bank(&[("a", "---\ntags: [Auth]\n---\n\nAbout kiwi.\n"), ("b", "About kiwi and mango.\n")]);
    let mut client = client(&scratch);
    let found = given(&mut client, "search_memories", r#"{"query": "kiwi", "filter_tags": ["aUTH"]}"#);
    assert_eq!(ids(&found), ["memory:a"]);
    client.leave();
}

#[test]
fn b17_a_filter_misses_nothing_in_a_bank_full_of_better_matches() {
    let scratch = bank(&[(
        "rare",
        "---\ntags: [rare]\n---\n\nA long text that at its end also names the kiwi once.\n",
    )]);
    for n in 0..60 {
        scratch.put(
            &format!(".memories/kiwi-{n}.md"),
            format!("# Kiwi {n}\n\nKiwi, kiwi and number {n} of the kiwi.\n"),
        );
    }
    let mut client = client(&scratch);
    let found =
        given(&mut client, "search_memories", r#"{"query": "kiwi", "filter_tags": ["rare"], "limit": 1}"#);
    assert_eq!(ids(&found), ["memory:rare"]);
    client.leave();
}

#[test]
fn b18_a_file_is_one_target_however_it_is_written_and_words_are_whole() {
    let scratch = bank(&[
        ("alias", "We fix [[src/auth.py|the auth module]] today.\n"),
        ("anchor", "See also [[src/auth.py#L10]] for more.\n"),
        ("dot", "Prefix handling in [[./src/auth.py]] and a tissue.\n"),
        ("case", "The planet of [[SRC/Auth.py]].\n"),
        ("fence", "```\n[[src/auth.py]]\n```\n"),
        ("shell", "Use `[[src/auth.py]]` there.\n"),
        ("two", "There is a bug in [[src/db.py]]. The shape of [[src/auth.py]] is fine.\n"),
    ]);
    let mut client = client(&scratch);
    given(&mut client, "create_memory", PLAN);
    let linked = r#"{"query": "", "target_document": "src/auth.py", "limit": 20}"#;
    let found = given(&mut client, "search_linked_memories", linked);
    let edges: Vec<(&str, &str)> =
        found.as_list().unwrap().iter().map(|hit| (text(hit, "memory_id"), text(hit, "edge_type"))).collect();
    assert_eq!(
        edges,
        [
            ("memory:alias", "debugs"),
            ("memory:anchor", "mentions"),
            ("memory:auth-refactor-plan", "refactors"),
            ("memory:case", "related_to"),
            ("memory:dot", "related_to"),
            ("memory:two", "related_to"),
        ]
    );
    // A question ranks them.
    let ranked = r#"{"query": "refactor to JWT tokens", "target_document": "./src/auth.py", "limit": 1}"#;
    let found = given(&mut client, "search_linked_memories", ranked);
    assert_eq!(ids(&found), ["memory:auth-refactor-plan"]);
    let hit = &found.as_list().unwrap()[0];
    assert!(text(hit, "anchor_context").contains("refactor [[src/auth.py]] to use JWT tokens"), "{hit:?}");
    assert!(text(hit, "content").contains("Plan to refactor"), "{hit:?}");
    assert!(text(hit, "file_path").ends_with("/.memories/auth-refactor-plan.md"), "{hit:?}");
    client.leave();
}

#[test]
fn b19_files_that_come_change_and_go_by_hand_are_seen() {
    let scratch = bank(&[("a", "About kiwi.\n"), ("b", "About mango.\n")]);
    let mut client = client(&scratch);
    assert_eq!(ids(&search(&mut client, "kiwi")), ["memory:a"]);
    fs::remove_file(scratch.project().join(".memories/a.md")).unwrap();
    scratch.put(".memories/c.md", "About papaya.\n");
    assert_eq!(ids(&search(&mut client, "kiwi")), [""; 0]);
    assert_eq!(ids(&search(&mut client, "papaya"))[0], "memory:c");
    assert_eq!(given(&mut client, "get_memory_stats", "{}").at("count"), Some(&Json::number(2)));
    // Edited in place: the server tells when it has seen it.
    client.ask("resources/subscribe", r#"{"uri": "lorelane://notes/b"}"#);
    scratch.put(".memories/b.md", "About guava instead.\n");
    client.told("notifications/resources/updated").expect("a notice");
    assert_eq!(ids(&search(&mut client, "guava"))[0], "memory:b");
    assert!(!search(&mut client, "mango").render(JsonFormat::LINE).contains("mango"));
    client.leave();
}

#[test]
fn b20_answers_are_json_with_all_fields_and_are_not_cut() {
    let long = format!("{}The last word is kiwi.", "A sentence about the orchard and its trees. ".repeat(60));
    let scratch = bank(&[("long", &long)]);
    let mut client = client(&scratch);
    let found = given(&mut client, "search_memories", r#"{"query": "kiwi", "load_full_memory": true}"#);
    let hit = &found.as_list().unwrap()[0];
    assert_eq!(text(hit, "content"), long);
    for field in ["memory_id", "score", "content", "type", "status", "tags", "file_path", "header_path"] {
        assert!(hit.at(field).is_some(), "{field}: {hit:?}");
    }
    let score = hit.at("score").and_then(Json::as_f64).unwrap();
    assert!(score > 0.0 && score < 1.0, "{score}");
    client.leave();
}

#[test]
fn b21_what_the_schema_says_is_what_a_call_does() {
    let scratch = bank(&[("long", "# One\n\nAbout kiwi.\n\n# Two\n\nAbout mango.\n")]);
    let mut client = client(&scratch);
    let answer = client.ask("tools/list", "{}");
    let schema = |tool: &str| {
        let tool = list(&answer, "result.tools").iter().find(|listed| text(listed, "name") == tool).unwrap();
        tool.at("inputSchema").unwrap().clone()
    };
    let about =
        |tool: &str, name: &str| text(&schema(tool), &format!("properties.{name}.description")).to_owned();
    assert!(about("search_memories", "load_full_memory").ends_with("false if absent"));
    let found = search(&mut client, "kiwi");
    assert!(!text(&found.as_list().unwrap()[0], "content").contains("mango"), "{found:?}");
    assert_eq!(schema("create_memory").at("required").unwrap().to_texts(), ["filename", "content"]);
    assert!(about("create_memory", "memory_type").starts_with("journal if absent"));
    given(&mut client, "create_memory", r#"{"filename": "untagged", "content": "About guava."}"#);
    let found = search(&mut client, "guava");
    assert_eq!(text(&found.as_list().unwrap()[0], "type"), "journal");
    assert!(about("search_memories", "limit").ends_with("5 if absent"));
    for (number, thing) in ["soup", "salad", "juice", "jam", "tea", "pie", "bread"].iter().enumerate() {
        let content = format!("A papaya in the {thing}, with {number} spoons.");
        let note = format!(r#"{{"filename": "p{number}", "content": "{content}"}}"#);
        given(&mut client, "create_memory", &note);
    }
    assert_eq!(ids(&search(&mut client, "papaya")).len(), 5);
    client.leave();
}

#[test]
fn b22_a_frontmatter_in_the_content_becomes_the_one_of_the_note() {
    let scratch = bank(&[]);
    let mut client = client(&scratch);
    let create = r#"{"filename": "a", "content": "---\ntype: fact\ntags: [x]\nowner: me\n---\n\nAbout kiwi.", "tags": ["y"]}"#;
    given(&mut client, "create_memory", create);
    let text = scratch.read(".memories/a.md");
    assert_eq!(text.lines().filter(|line| *line == "---").count(), 2, "{text}");
    assert!(text.contains("owner: me"), "{text}");
    let stats = given(&mut client, "get_memory_stats", "{}");
    assert_eq!(stats.at("types.fact"), Some(&Json::number(1)), "{stats:?}");
    assert_eq!(stats.at("tags").and_then(Json::as_object).map(|tags| tags.len()), Some(2), "{stats:?}");
    client.leave();
}

#[test]
fn b23_what_was_just_appended_is_found_by_the_next_search() {
    let scratch = bank(&[("journal", "Monday.\n")]);
    let mut client = client(&scratch);
    for word in ["kiwi", "mango", "papaya"] {
        let append = format!(r#"{{"filename": "journal", "content": "Thought of the {word}."}}"#);
        given(&mut client, "append_memory", &append);
        assert_eq!(ids(&search(&mut client, word)), ["memory:journal"], "{word}");
    }
    client.leave();
}
