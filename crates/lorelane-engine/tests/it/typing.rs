//! Questions as people type them, asked of an index: misspelled words, and pastes around the question.

use crate::store::Temp;
use lorelane_core::recall::{Hit, Query, Signal};
use lorelane_core::time::Timestamp;
use lorelane_engine::env::Env;
use lorelane_engine::workspace::Workspace;
use std::collections::BTreeMap;
use std::fs;

const NOW: Timestamp = Timestamp(1_772_000_000);

struct Project(Temp);

impl Project {
    fn new() -> Project {
        let project = Project(Temp::new());
        fs::create_dir_all(project.notes()).unwrap();
        project.write("ledger", "The ledger service is restarted by the Zorblax operator every night.");
        project.write("invoices", "Invoices are printed in the colour of the customer.");
        project.write("cache", "The cache is flushed after a deploy.");
        project
    }

    fn notes(&self) -> std::path::PathBuf {
        self.0.0.join("project/.memories")
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.notes().join(format!("{name}.md")), format!("{text}\n")).unwrap();
    }

    fn search(&self, text: &str) -> Vec<Hit> {
        let home = self.0.0.join("home").to_str().unwrap().to_owned();
        let vars = BTreeMap::from([("LORELANE_HOME".to_owned(), home)]);
        let env = Env { now: NOW, cwd: self.0.0.join("project"), vars };
        let mut workspace = Workspace::open(&env, &env.cwd).unwrap();
        workspace.recall().search(&Query::of_person(text, NOW), 10).unwrap().hits
    }

    fn first(&self, text: &str) -> Option<(String, Vec<String>)> {
        let hit = self.search(text).into_iter().next()?;
        let words = hit.explain.iter().find(|part| part.signal == Signal::Words);
        let matched = words.map(|part| part.matched.clone()).unwrap_or_default();
        Some((hit.address.name().to_owned(), matched))
    }
}

#[test]
fn a_misspelled_word_is_found_and_the_explanation_says_so() {
    let project = Project::new();
    for (question, name, explained) in [
        ("how is the ledger servce restarted", "ledger", "servce → service"),
        ("what does the zorbalx operator restart", "ledger", "zorbalx → zorblax"),
        ("in which color are invoices printed", "invoices", "color → colour"),
    ] {
        let (found, matched) = project.first(question).expect(question);
        assert_eq!(found, name, "{question}");
        assert!(matched.iter().any(|word| word == explained), "{question}: {matched:?}");
    }
}

#[test]
fn words_of_a_memory_that_is_gone_correct_nothing() {
    let project = Project::new();
    assert!(project.first("what does the zorbalx operator restart").is_some());
    fs::remove_file(project.notes().join("ledger.md")).unwrap();
    let gone = project.first("what does the zorbalx operator restart");
    assert!(gone.is_none_or(|(_, matched)| matched.iter().all(|word| !word.contains('→'))));
}

#[test]
fn a_question_behind_a_paste_is_answered() {
    let project = Project::new();
    let ids: String = (0..30).map(|at| format!("3f2504e0-4f89-11d3-9a0c-{at:012x}\n")).collect();
    let code: String = (0..120)
        .map(|at| format!("    let total{at} = rows[{at}].iter().map(|row| row.price).sum();\n"))
        .collect();
    let prose = "Nobody in the meeting agreed on anything that was said about it. ".repeat(70);
    for paste in [ids, code, prose] {
        for text in [
            format!("{paste}\n\nWhen is the cache flushed?"),
            format!("When is the cache flushed?\n\n{paste}"),
        ] {
            let found = project.first(&text).map(|(name, _)| name);
            assert_eq!(found.as_deref(), Some("cache"), "{}", &text[..80]);
        }
    }
}
