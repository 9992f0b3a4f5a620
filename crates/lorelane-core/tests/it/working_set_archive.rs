//! What is kept of files that leave: postmortems, pointers, and the links of summaries.

use lorelane_core::time::Timestamp;
use lorelane_core::working_set::{
    ArchivePointer, PostmortemFacts, is_failed_attempt, postmortem, with_moved_source, with_pointer,
    without_pointer,
};

const FACTS: PostmortemFacts<'_> =
    PostmortemFacts { path: "drafts/attempt-1.md", why: "too slow", entered_turn: 3, turn: 9, touches: 1 };

// Spec, section 3, no. 31.
#[test]
fn a_postmortem_has_its_four_sections() {
    let sections = |text: &str| -> Vec<(String, String)> {
        let rendered = postmortem(text, &FACTS);
        let (_, rest) = rendered.split_once("\n## ").unwrap();
        let section = |part: &str| {
            let (title, body) = part.split_once("\n\n").unwrap();
            (title.to_owned(), body.trim().to_owned())
        };
        rest.split("\n## ").map(section).collect()
    };
    let titles = ["What Happened", "Progress Made", "State Preserved", "Lessons"];
    let plain = sections("Tables are slow.\nAll of them.");
    assert_eq!(plain.iter().map(|(title, _)| title.as_str()).collect::<Vec<_>>(), titles);
    assert_eq!(plain[0].1, "Tables are slow.\nAll of them.");
    assert_eq!(plain[1].1, "In the working set from turn 3 to turn 9, used 1 time.");
    assert_eq!(plain[3].1, "Archived because: too slow");
    // What the author wrote stays, in the order of the protocol; other sections follow.
    let own = sections("## Lessons\nMeasure first.\n\n## Links\na.md\n\n## what happened\nIt failed.\n");
    assert_eq!(own[0], ("What Happened".to_owned(), "It failed.".to_owned()));
    assert_eq!(own[3], ("Lessons".to_owned(), "Measure first.".to_owned()));
    assert_eq!(own[4], ("Links".to_owned(), "a.md".to_owned()));
}

#[test]
fn a_failed_attempt_is_known_by_its_name_or_by_the_reason() {
    for (inside, why, expected) in [
        ("drafts/attempt-1.md", "", true),
        ("drafts/failed/parser.md", "", true),
        ("drafts/parser.md", "Failed approach, kept for history only", true),
        ("drafts/parser.md", "an experiment that we abandoned", true),
        // A build that failed is no attempt.
        ("build.md", "the build failed, and it is green again", false),
        ("attempted/parser.md", "an approach that works", false),
    ] {
        assert_eq!(is_failed_attempt(inside, why), expected, "{inside}: {why}");
    }
}

#[test]
fn pointers_come_and_go_and_the_rest_of_the_file_stays() {
    let pointer = ArchivePointer {
        path: "a.md",
        to: "archive/a.md",
        bytes_in: "archive/objects/1f",
        why: "old:\nvery old",
        at: Timestamp::parse("2026-03-01T12:00:00Z").unwrap().0,
        summary: None,
        superseded_by: Some("b.md"),
        postmortem: None,
    };
    let own = "# ours\npointers:\n  - path: z.md # by hand\n    to: \"archive/z.md\"\nstats: {released: 1}\n";
    for text in ["", own] {
        let with = with_pointer(text, &pointer).unwrap();
        assert!(
            with.contains("superseded_by: \"b.md\"") && with.contains("why: \"old: very old\""),
            "{with}"
        );
        assert_eq!(with_pointer(&with, &pointer).unwrap(), with, "one pointer per path");
        let without = without_pointer(&with, "a.md").unwrap();
        assert_eq!(without, if text.is_empty() { "pointers: []\n" } else { own });
    }
}

// Spec, section 3, no. 30.
#[test]
fn a_moved_source_is_renamed_where_a_summary_links_it_and_nowhere_else() {
    let text = "---\nsummary_of:\n  - \"s/a b.md\"\n  - 's/c.md'\ncustom: s/a b.md\n---\n\n- \"s/a b.md\"\ns/a b.md\n\n---\nReferences:\n- [a b.md](../../s/a%20b.md)\n- [c.md](../../s/c.md)\n";
    let moved = with_moved_source(text, "s/a b.md", "s/archive/a b.md", "../../");
    let expected = text
        .replacen("  - \"s/a b.md\"", "  - \"s/archive/a b.md\"", 1)
        .replace("(../../s/a%20b.md)", "(../../s/archive/a%20b.md)");
    assert_eq!(moved, expected);
    assert_eq!(with_moved_source(&moved, "s/archive/a b.md", "s/a b.md", "../../"), text);
}
