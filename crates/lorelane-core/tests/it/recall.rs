//! What recall makes of memories, without an index: every point is accounted for, and nothing is shown for nothing.

use lorelane_core::corpus::MemorySummary;
use lorelane_core::dialect::Dialect;
use lorelane_core::dialect::MemoryFile;
use lorelane_core::dialect::notes::Notes;
use lorelane_core::embed::Table;
use lorelane_core::path::RelPath;
use lorelane_core::recall::doc_entry::{self, DocEntry, FieldBoost};
use lorelane_core::recall::query::AnalyzedQuery;
use lorelane_core::recall::score::{Statistics, Weights};
use lorelane_core::recall::{Candidate, Query, ResultMode, SearchResults, Signal, rank};
use lorelane_core::terms::Language;
use lorelane_core::time::Timestamp;

const NOW: Timestamp = Timestamp(1_772_000_000);

fn considered(name: &str, text: &str) -> Candidate {
    let path = RelPath::parse(&format!("{name}.md")).expect("a name");
    let MemoryFile { document, memory, .. } = Notes.read(&path, text.into()).into_memory().expect("a note");
    let doc = DocEntry::of(&memory, &Notes.passages(&document), &Table::built_in(), FieldBoost::default());
    Candidate {
        entry: MemorySummary::of(&memory, &path),
        doc: doc.to_bytes(),
        second: Vec::new(),
        pinned: false,
    }
}

/// Asks a few memories as an index that holds no others would.
fn ask(text: &str, memories: &[Candidate], grouping: ResultMode) -> SearchResults {
    let asked = AnalyzedQuery::new(text, &[Language::English], &Table::built_in());
    let sheets: Vec<_> = memories.iter().map(|memory| doc_entry::read(&memory.doc)).collect();
    let passages: Vec<_> = sheets.iter().flat_map(|doc| &doc.passages).collect();
    let holds = |variants: &[_]| {
        passages.iter().filter(|passage| variants.iter().any(|term| passage.count(*term).is_some())).count()
            as u64
    };
    let statistics = Statistics {
        passages: passages.len() as u64,
        terms: passages.iter().map(|passage| passage.length as u64).sum(),
        doc_freqs: asked.terms.iter().map(|term| holds(&term.variants)).collect(),
        ..Statistics::default()
    };
    rank(&Query::new(text, NOW), &asked, &statistics, memories, &Weights::default(), grouping, 10)
}

fn memories() -> Vec<Candidate> {
    vec![
        considered(
            "auth",
            "Services sign their requests with short-lived tokens.\n\n## Rotation\n\nKeys are rotated every night.\n",
        ),
        considered("cache", "Redis holds the sessions. It is flushed on deploy.\n"),
        considered("party", "Ann: I will bring the cake.\n\nBob: I will bring the pineapple.\n"),
    ]
}

#[test]
fn the_points_of_every_hit_sum_to_its_score() {
    for question in
        ["how are requests signed", "keys rotated every night", "what does Bob bring", "redis sessions"]
    {
        let choice = ask(question, &memories(), ResultMode::Passages);
        assert!(!choice.hits.is_empty(), "{question}");
        for hit in choice.hits {
            assert_eq!(
                hit.explain.iter().map(|part| part.points).sum::<i32>(),
                hit.score,
                "{question}: {hit:?}"
            );
        }
    }
}

#[test]
fn what_is_not_current_comes_last_however_well_it_matches() {
    let memories = [
        considered("old", "---\nstatus: superseded\n---\nServices sign their requests with HMAC keys.\n"),
        considered("over", "---\nexpires: 2020-01-01\n---\nServices sign their requests for a year.\n"),
        considered("new", "Services sign the requests that they send to other ones, with tokens.\n"),
        considered("torn", "<<<<<<< HEAD\nServices sign requests.\n=======\nNo.\n>>>>>>> other\n"),
    ];
    for grouping in [ResultMode::Memories, ResultMode::Everything] {
        let found = ask("services sign their requests with HMAC keys", &memories, grouping).hits;
        let states: Vec<_> = found.iter().map(|hit| (hit.address.name(), hit.state())).collect();
        assert_eq!(states[0], ("new", None), "{grouping:?}");
        assert!(found[1].score > found[0].score, "{grouping:?}: the test has no better match: {found:?}");
        let mut rest: Vec<String> = states[1..].iter().filter_map(|(_, state)| state.clone()).collect();
        rest.sort();
        assert_eq!(rest, ["conflicted", "expired", "superseded"], "{grouping:?}");
    }
}

#[test]
fn the_best_passage_is_found_with_its_lines() {
    for (question, name, lines) in [
        ("how do services sign requests", "auth", (1, 1)),
        ("when are the keys rotated", "auth", (3, 5)),
        ("what will Bob bring", "party", (3, 3)),
    ] {
        let hit = ask(question, &memories(), ResultMode::Memories).hits.remove(0);
        assert_eq!((hit.address.name(), hit.lines), (name, Some(lines)), "{question}");
    }
}

#[test]
fn nothing_is_shown_for_what_no_memory_speaks_of() {
    for question in ["kubernetes ingress annotations", "the weather in Lisbon", ""] {
        assert_eq!(ask(question, &memories(), ResultMode::Memories).hits, [], "{question}");
    }
}

// The first notes' own example: a search for `authentication` did not find what is tagged `auth`.
#[test]
fn a_tag_that_begins_an_asked_word_names_its_memory() {
    for (tag, question, found) in [
        ("auth", "authentication improvements", true),
        ("Auth", "Authentication", true),
        ("aut", "authentication improvements", false),
        ("auth improvements", "authentication", false),
        ("auth", "the weather in Lisbon", false),
    ] {
        let plan = considered(
            "plan",
            &format!("---\ntags: [\"{tag}\"]\n---\n\nRemove sessions from src/auth.py.\n"),
        );
        let hits = ask(question, &[plan], ResultMode::Memories).hits;
        assert_eq!(!hits.is_empty(), found, "{tag} {question}");
    }
}

#[test]
fn what_says_nearly_the_same_stands_behind_the_best() {
    let text = "The pipeline of the release builds, signs and publishes the packages for every platform.";
    let copies =
        [considered("one", text), considered("two", &format!("{text}\n")), considered("cache", "Redis.")];
    let hits = ask("which pipeline publishes packages", &copies, ResultMode::Memories).hits;
    assert_eq!((hits.len(), hits[0].same.len()), (1, 1), "{hits:?}");
}

#[test]
fn what_a_memory_is_beside_its_words_decides_only_between_equals() {
    let old =
        "---\ncreated_at: \"2020-01-01T00:00:00Z\"\n---\n\nThe gateway allows a hundred requests a second.\n";
    let new = "---\ncreated_at: \"2026-02-24T00:00:00Z\"\n---\n\nThe gateway was painted, and a hundred people came to see it.\n";
    let mut both = [considered("limit", old), considered("paint", new)];
    both[1].pinned = true;
    let hits = ask("how many requests a second does the gateway allow", &both, ResultMode::Memories).hits;
    assert_eq!(hits[0].address.name(), "limit");
    let recent = hits.iter().flat_map(|hit| &hit.explain).filter(|part| part.signal == Signal::Recent);
    assert!(recent.clone().all(|part| part.points <= 50));
}

#[test]
fn a_question_is_answered_however_it_is_typed() {
    let log: String = (0..60)
        .map(|at| {
            format!("2026-03-{:02}T10:00:0{}Z NOTICE kiln: tray {at} warmed slot={at}\n", at % 28 + 1, at % 9)
        })
        .collect();
    for question in [
        "how do services sign requests".to_owned(),
        format!("{log}\nHow do services sign requests?"),
        format!("How do services sign requests?\n\n{log}"),
        "Hello! Could you please tell me how services sign requests? Thanks a lot in advance!".to_owned(),
        format!("{} How do services sign requests?", "Nobody agreed on anything that was said. ".repeat(80)),
    ] {
        let hits = ask(&question, &memories(), ResultMode::Memories).hits;
        assert_eq!(hits.first().map(|hit| hit.address.name()), Some("auth"), "{question}");
    }
}

#[test]
fn questions_about_strangers_find_nothing_in_lower_case_either() {
    for question in ["what does helen bring", "what does Helen bring", "when will thomas bring the ladder"] {
        assert_eq!(ask(question, &memories(), ResultMode::Memories).hits, [], "{question}");
    }
    assert!(!ask("what does bob bring", &memories(), ResultMode::Memories).hits.is_empty());
}

#[test]
fn any_prompt_is_a_question() {
    let texts = [
        "\u{0}\u{1}\u{7f}\u{202e}".repeat(1_000),
        "x".repeat(1 << 20),
        "a b c ".repeat(200_000),
        "```\n".repeat(10_000),
        "?\n".repeat(50_000),
        "é".to_owned(),
        "認証は何ですか كيف الحال почему 왜 why warum ทำไม क्यों γιατί".to_owned(),
    ];
    for text in texts {
        ask(&text, &memories(), ResultMode::Memories);
    }
}
