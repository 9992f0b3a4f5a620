//! The server with a second model: it reads by itself, and says when it cannot.

use super::{Client, PATIENCE};
use crate::scratch::Scratch;
use std::fs;
use std::io::{BufRead, BufReader};
use std::time::Instant;

/// A store whose memories the tiny model can tell apart, and the model added.
fn scratch() -> Scratch {
    let scratch = crate::model::scratch();
    scratch.lorelane("model add ../tiny").expect(0);
    scratch
}

const QUESTION: &str = r#"{"query": "restart the redis cache", "explain": true}"#;

#[test]
fn the_server_reads_the_memories_and_answers_with_what_the_model_says() {
    let scratch = scratch();
    let mut client = Client::greeted(&scratch);
    let begun = Instant::now();
    while !client.said("memory_search", QUESTION).contains("model ") {
        assert!(begun.elapsed() < PATIENCE, "the model was never asked");
    }
}

#[test]
fn a_damaged_model_is_said_and_questions_are_answered_without_it() {
    let scratch = scratch();
    for model in fs::read_dir(scratch.home().join("data/models")).unwrap() {
        let _ = fs::remove_file(model.unwrap().path().join("vocab.txt"));
    }
    let mut client = Client::greeted(&scratch);
    let answer = client.said("memory_search", QUESTION);
    assert!(answer.contains("restart-the-cache") && !answer.contains("model "), "{answer}");
    // The model is read beside the answers. Whoever hangs up at once may be gone before it is.
    let mut errors = BufReader::new(client.child.stderr.take().unwrap()).lines().map(Result::unwrap);
    assert!(errors.any(|line| line.contains("warning: the second model is not used")));
    client.input = None;
    assert!(errors.any(|line| line.contains("hint: ")));
}
