//! `lorelane bench` from outside: what is expected, what fell, and what is kept of it.

use crate::scratch::{Said, Scratch};
use expect_test::{Expect, expect};
use lorelane_core::json::Json;

const EXPECTATIONS: &str = ".lorelane/expectations.jsonl";

fn team() -> Scratch {
    let scratch = Scratch::new();
    let notes = [
        ("cache", "Restart the redis cache", "Run the blue script on the bastion host first."),
        ("login", "Login tokens expire early", "Gateway clocks drift, so leeway is a minute."),
        ("money", "Amounts are whole cents", "Floats lose pennies in long invoices, use integers."),
        ("deploy", "Deploy never on Friday", "Nobody watches dashboards over the weekend here."),
    ];
    for (name, title, text) in notes {
        scratch.put(&format!(".memories/{name}.md"), format!("---\ntitle: {title}\n---\n\n{text}\n"));
    }
    scratch
}

/// What was said, without the time that it took.
fn check(said: &Said, expected: &Expect) {
    let lines =
        said.text().lines().filter(|line| !line.starts_with("search ")).collect::<Vec<_>>().join("\n");
    expected.assert_eq(&format!("{lines}\n"));
}

#[test]
fn a_memory_that_was_expected_and_comes_no_more_fails() {
    let scratch = team();
    scratch.put(
        EXPECTATIONS,
        "{\"query\": \"how do I restart redis\", \"must\": [\"notes/cache\"], \"must_not\": [\"notes/money\"]}\n",
    );
    check(
        &scratch.lorelane("bench"),
        &expect![[r#"
        memories      4
        questions     8, and 32 that no memory answers
        expectations  1

                     all
        hit@1      100.0
        hit@5      100.0
        mrr        100.0
        refused    100.0
        reminded    62.5
        silent     100.0

        First run: later runs are compared with it
    "#]],
    );
    check(
        &scratch.lorelane("bench"),
        &expect![[r#"
        memories      4
        questions     8, and 32 that no memory answers
        expectations  1

                     all     baseline  the same now
        hit@1      100.0        100.0         100.0
        hit@5      100.0        100.0         100.0
        mrr        100.0        100.0         100.0
        refused    100.0        100.0         100.0
        reminded    62.5         62.5          62.5
        silent     100.0        100.0         100.0

        No worse than the baseline
    "#]],
    );
    scratch.lorelane("retire cache").expect(0);
    // Failing once does not make it the measure of later runs.
    for _ in 0..2 {
        check(
            &scratch.lorelane("bench"),
            &expect![[r#"
            memories      3
            questions     6, and 32 that no memory answers
            expectations  1

                         all     baseline  the same now
            hit@1      100.0        100.0         100.0
            hit@5      100.0        100.0         100.0
            mrr        100.0        100.0         100.0
            refused    100.0        100.0         100.0
            reminded    66.7         66.7          66.7
            silent     100.0        100.0         100.0

            unmet  "how do I restart redis"
                   notes/cache is not in the top 5; in the baseline it was
                   top results: nothing

            Not met: 1 of 1 expectation
            exit 1
        "#]],
        );
    }
    scratch.lorelane("bench --accept").expect(1);
    scratch.lorelane("undo").expect(0);
    scratch.lorelane("bench").expect(0);
}

#[test]
fn a_better_memory_in_the_first_place_is_named() {
    let scratch = team();
    scratch.put(
        "mine.jsonl",
        "\n{\"query\": \"restart the redis cache\", \"must\": [\"notes/cache\"], \"within\": 1}\n",
    );
    scratch.lorelane("bench --expect mine.jsonl").expect(0);
    let text = "'Restart the redis cache: how to restart the redis cache without a pause.'";
    scratch
        .lorelane(&format!("create notes/redis --title 'Restart the redis cache' --text {text}"))
        .expect(0);
    let said = scratch.lorelane("bench --expect mine.jsonl --json").expect(1);
    let document = Json::parse(&said.out).unwrap();
    assert_eq!(document.at("fine"), Some(&Json::Bool(false)));
    assert_eq!(
        document.at("unmet.0.misses").unwrap().to_texts(),
        ["notes/cache is not in the top 1; in the baseline it was"]
    );
    assert_eq!(document.at("unmet.0.came").unwrap().to_texts(), ["notes/redis"]);
    // Without that file nothing is expected.
    scratch.lorelane("bench").expect(0);
}

#[test]
fn a_dry_run_keeps_nothing() {
    let scratch = team();
    scratch.lorelane("search redis").expect(0);
    let before = scratch.tree_without_cache();
    let said = scratch.lorelane("bench --dry-run").expect(0);
    assert!(
        said.out.ends_with("First run: later runs are compared with it (dry run: not stored)\n"),
        "{}",
        said.out
    );
    assert_eq!(scratch.tree_without_cache(), before);
}

#[test]
fn what_cannot_be_understood_is_an_error_with_its_line() {
    let scratch = team();
    scratch.put("wrong.jsonl", "{\"query\": \"a\", \"must\": [\"notes/a\"]}\n\n{\"query\": \"b\"}\n");
    let table = [
        ("bench --expect wrong.jsonl", "wrong.jsonl: line 3: it expects nothing"),
        ("bench --expect none.jsonl", "none.jsonl: "),
    ];
    for (line, said) in table {
        let answer = scratch.lorelane(line).expect(2);
        assert!(answer.err.contains(said), "{}", answer.err);
    }
    assert!(scratch.tree().keys().all(|path| !path.contains("bench.jsonl")));
    let empty = Scratch::with_store();
    let answer = empty.lorelane("bench").expect(2);
    assert!(answer.err.contains("cannot measure recall: no memory has enough text"), "{}", answer.err);
}

#[test]
fn what_is_kept_of_a_run_holds_no_word_of_a_memory() {
    let scratch = team();
    scratch.lorelane("bench").expect(0);
    let kept = |tree: &std::collections::BTreeMap<String, Vec<u8>>| {
        let (_, bytes) = tree.iter().find(|(path, _)| path.ends_with("/bench.jsonl")).unwrap();
        String::from_utf8(bytes.clone()).unwrap()
    };
    let results = kept(&scratch.tree());
    assert!(results.contains("\"baseline\""), "{results}");
    scratch.lorelane("forget cache --yes").expect(0);
    for (path, bytes) in scratch.tree() {
        let text = String::from_utf8_lossy(&bytes).to_lowercase();
        assert!(!text.contains("bastion") && !text.contains("notes/cache"), "{path}");
    }
    assert_eq!(kept(&scratch.tree()), results);
    scratch.lorelane("bench").expect(0);
}
