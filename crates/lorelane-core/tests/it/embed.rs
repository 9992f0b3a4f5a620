//! The table inside the binary: its name, its pieces, and whether its vectors are of use.

use lorelane_core::embed::{DIMENSIONS, MODEL_ID, QuantizedVector, Table, Vector, model_id};
use lorelane_core::json::Json;
use proptest::prelude::*;

/// Texts of many kinds and scripts with the pieces that the reference tokeniser (the `tokenizers` library,
/// BERT's normaliser and WordPiece over this table's vocabulary) cuts them into, unknown words left out.
const PIECES: &str = include_str!("../corpus/pieces.jsonl");

#[test]
fn the_name_is_that_of_the_bytes() {
    assert_eq!(MODEL_ID, model_id(include_bytes!("../../data/static.bin")));
}

#[test]
fn the_table_fits_into_the_binary_and_knows_a_vocabulary() {
    assert!(include_bytes!("../../data/static.bin").len() < 8_000_000);
    assert!((27_000..30_000).contains(&Table::built_in().pieces()));
}

#[test]
fn pieces_are_those_of_the_reference() {
    let table = Table::built_in();
    let mut texts = 0;
    for line in PIECES.lines() {
        let case = Json::parse(line).unwrap();
        let text = case.at("text").and_then(Json::as_text).unwrap();
        assert_eq!(table.pieces_of(text), case.at("pieces").unwrap().to_texts(), "{text:?}");
        texts += 1;
    }
    assert!(texts >= 200, "{texts}");
}

#[test]
fn a_text_without_a_known_word_has_no_direction_and_says_so() {
    let table = Table::built_in();
    for text in ["", " \n\t", "\u{200b}", "日本", "Привет", &"x".repeat(101)] {
        let vector = table.vector(text);
        assert!(vector.is_zero(), "{text:?}");
        assert_eq!(vector.cosine(&table.vector("something")), 0.0, "{text:?}");
    }
    assert!(!table.vector("something").is_zero());
}

#[test]
fn case_and_accents_do_not_change_a_direction() {
    let table = Table::built_in();
    let cosine = table.vector("Retry the upload").cosine(&table.vector("retry THE úpload"));
    assert!(cosine > 0.999_99, "{cosine}");
}

#[test]
fn a_related_text_is_nearer_than_another_also_as_stored() {
    let table = Table::built_in();
    let asked = table.vector("how to authenticate users");
    let [near, far] =
        ["logging in with a password", "the cake needs more sugar"].map(|text| table.vector(text));
    assert!(asked.cosine(&near) > asked.cosine(&far) + 0.1, "{} {}", asked.cosine(&near), asked.cosine(&far));
    for vector in [near, far] {
        let stored = QuantizedVector::of(&vector).to_bytes();
        let nearly = QuantizedVector::of(&asked).cosine_with(&stored).unwrap();
        let exact = asked.cosine(&vector);
        assert!((nearly - exact).abs() < 0.01, "{exact} stored as {nearly}");
    }
}

/// A question and the memory that answers it, with hardly a word in common.
const PARAPHRASES: &[(&str, &str)] = &[
    ("how do we log people in?", "Authentication uses OAuth tokens that expire after an hour"),
    ("which database do we use", "All records are stored in PostgreSQL, with one schema per customer"),
    ("why are the tests so slow", "The suite spends most of its time waiting for containers to start"),
    ("where do we put our passwords", "Secrets live in the vault, never in environment files"),
    ("how to ship a new release", "Deployments go out through the pipeline once a tag is pushed"),
    ("what language is the frontend in", "The web client is written in TypeScript with React"),
    ("the server runs out of memory", "Workers leak heap because buffers are never freed"),
    ("how should errors be reported", "Exceptions are logged with a stack trace and sent to Sentry"),
    ("when do backups happen", "A snapshot of the disk is copied to cold storage every night"),
    ("what did we agree about naming", "Variables are in snake case, types in camel case, by convention"),
    ("requests time out under load", "Latency grows when too many connections wait for the pool"),
    ("who gets woken up at night", "The engineer on call receives the pager alerts"),
    ("can customers pay by card", "Billing goes through Stripe and supports credit payments"),
    ("how do I undo a commit", "Use git revert to take back a change that was merged"),
    ("the page looks wrong on phones", "The layout breaks on small mobile screens"),
    ("do we translate the interface", "Strings are localised into German and French"),
    ("how often is stale data thrown away", "Cache entries are evicted after ten minutes"),
    ("what runs on a schedule", "Cron jobs start the nightly reports"),
    ("how is text searched", "Queries go to a full text index with ranking"),
    ("which cloud are we on", "Everything is hosted on AWS in Frankfurt"),
];

/// Memories that answer none of the questions.
const OTHERS: &[&str] = &[
    "The office kitchen is cleaned on Mondays",
    "Icons are exported as vector graphics",
    "Pull requests need two reviewers before they are merged",
    "The parser builds a syntax tree from tokens",
    "Feature flags are removed once a rollout is complete",
    "Emails are rendered from templates and queued",
    "The licence of every dependency is checked",
    "Threads share a queue guarded by a mutex",
    "Metrics are scraped by Prometheus and shown in Grafana",
    "The mascot is a blue whale",
];

#[test]
fn paraphrases_are_found() {
    let table = Table::built_in();
    let memories: Vec<Vector> = PARAPHRASES
        .iter()
        .map(|(_, memory)| *memory)
        .chain(OTHERS.iter().copied())
        .map(|text| table.vector(text))
        .collect();
    let mut missed = Vec::new();
    for (at, (question, _)) in PARAPHRASES.iter().enumerate() {
        let asked = table.vector(question);
        let own = asked.cosine(&memories[at]);
        let better = memories.iter().filter(|memory| asked.cosine(memory) > own).count();
        if better >= 3 {
            missed.push(format!("{question} (rank {})", better + 1));
        }
    }
    let found = PARAPHRASES.len() - missed.len();
    assert!(
        found * 10 >= PARAPHRASES.len() * 7,
        "{found} of {} found; missed: {missed:#?}",
        PARAPHRASES.len()
    );
}

proptest! {
    #[test]
    fn any_text_has_a_vector(text in any::<String>()) {
        let vector = Table::built_in().vector(&text);
        let length: f32 = vector.values().iter().map(|value| value * value).sum();
        prop_assert!(vector.is_zero() || (length - 1.0).abs() < 1e-3, "{}", length);
        prop_assert_eq!(vector.values().len(), DIMENSIONS);
    }

    #[test]
    fn order_and_repetition_of_the_whole_change_nothing(words in prop::collection::vec("[a-z]{1,9}", 1..9)) {
        let table = Table::built_in();
        let forwards = table.vector(&words.join(" "));
        let backwards: Vec<&str> = words.iter().rev().map(String::as_str).collect();
        prop_assume!(!forwards.is_zero());
        prop_assert!(forwards.cosine(&table.vector(&backwards.join("\n"))) > 0.9999);
        let twice = format!("{} ", words.join(" ")).repeat(2);
        prop_assert!(forwards.cosine(&table.vector(&twice)) > 0.9999);
    }
}
