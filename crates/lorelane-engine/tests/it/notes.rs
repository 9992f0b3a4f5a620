//! The index of the notes says what their files say, whoever changed them and however deep they lie.

use crate::store::Temp;
use lorelane_core::change::{Change, Draft, Plan};
use lorelane_core::lifecycle::LifecycleVerb;
use lorelane_core::memory::Address;
use lorelane_core::policy::NotesStorage;
use lorelane_core::recall::Query;
use lorelane_core::time::Timestamp;
use lorelane_engine::disk::SeededRng;
use lorelane_engine::env::Env;
use lorelane_engine::index::ListFilter;
use lorelane_engine::workspace::{Failure, NoteMerge, Workspace};
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

const NOW: Timestamp = Timestamp(1_772_000_000);
const NAMES: [&str; 8] = ["a", "b", "plans/a", "plans/b", "plans/deep/c", "other/a", "日本", "other/v1.2"];

/// A project that has nothing but notes.
struct Bank(Temp);

impl Bank {
    fn new() -> Bank {
        let bank = Bank(Temp::new());
        fs::create_dir_all(bank.file("a").parent().unwrap()).unwrap();
        bank
    }

    fn open(&self) -> Workspace {
        let home = self.0.0.join("home").to_str().unwrap().to_owned();
        let vars = BTreeMap::from([("LORELANE_HOME".to_owned(), home)]);
        let env = Env { now: NOW, cwd: self.0.0.join("project"), vars };
        Workspace::open(&env, &env.cwd).unwrap()
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.0.join("project/.memories").join(format!("{name}.md"))
    }

    /// A file as somebody makes it who does not ask lorelane.
    fn by_hand(&self, name: &str, text: &str) {
        fs::create_dir_all(self.file(name).parent().unwrap()).unwrap();
        fs::write(self.file(name), text).unwrap();
    }
}

fn note(name: &str) -> Address {
    Address::note(name).unwrap()
}

fn plan(change: Change) -> Plan {
    Plan { changes: vec![change], because: "a test".to_owned() }
}

fn create(name: &str, text: &str) -> Plan {
    plan(Change::Create { address: note(name), text: text.to_owned() })
}

fn step(address: Address, verb: LifecycleVerb) -> Plan {
    plan(Change::Transition { address, verb, reason: String::new() })
}

#[test]
fn index_equals_a_rebuild_after_every_change_of_two_processes_and_a_person() {
    for seed in 0..4 {
        let bank = Bank::new();
        let mut processes = [bank.open(), bank.open()];
        let mut rng = SeededRng::new(seed);
        for turn in 0..60 {
            let name = NAMES[rng.below(NAMES.len())];
            let process = &mut processes[rng.below(2)];
            let deleted = process.recall().entries(ListFilter::default()).unwrap().into_iter();
            let deleted = deleted.map(|entry| entry.address).find(Address::is_trash);
            let mut write = |plan: &Plan| match process.commit(plan) {
                Ok(_) | Err(Failure::Refused(_)) => {}
                Err(failure) => panic!("seed {seed}, turn {turn}: {failure}"),
            };
            let verb = rng.below(10);
            match verb {
                0..=2 => write(&create(name, &format!("made at {turn}"))),
                3 => {
                    let draft = Draft::Append { text: format!("turn {turn}") };
                    write(&plan(Change::Revise { address: note(name), expects: None, draft }));
                }
                4 => write(&step(note(name), LifecycleVerb::Retire)),
                5 => {
                    if let Some(deleted) = deleted {
                        write(&step(deleted, LifecycleVerb::Restore { from: None }));
                    }
                }
                6 => drop(process.changes().undo()),
                7 => bank.by_hand(&format!("hand{}/x{turn}", rng.below(3)), "by hand"),
                8 => drop(fs::remove_file(bank.file(name))),
                _ => {
                    if bank.file(name).exists() {
                        bank.by_hand(name, &format!("---\ntags: [t{turn}]\n---\nedited in place"));
                        process.maintenance().scan().unwrap();
                    }
                }
            }
            for process in &mut processes {
                let rebuilt = process.maintenance().rebuilt_dump().unwrap();
                assert_eq!(
                    process.maintenance().index_dump().unwrap(),
                    rebuilt,
                    "seed {seed}, turn {turn}, verb {verb}"
                );
            }
        }
        assert_eq!(processes[0].maintenance().diagnose_index().unwrap(), [], "seed {seed}");
        assert_eq!(processes[0].changes().verify_logs(), [], "seed {seed}");
        let project = bank.0.0.join("project");
        assert!(!project.join(".claude").exists(), "a change of notes makes no folder of records");
    }
}

#[test]
fn files_of_other_names_in_another_order_answer_the_same() {
    const NOTES: usize = 400;
    const WORDS: [&str; 16] = [
        "billing", "importer", "cache", "deploy", "queue", "token", "audit", "parser", "export", "worker",
        "gateway", "schema", "backup", "latency", "rollback", "doc",
    ];
    let mut rng = SeededRng::new(7);
    let texts: Vec<String> = (0..NOTES)
        .map(|number| {
            let words: Vec<&str> = (0..6).map(|_| WORDS[rng.below(WORDS.len())]).collect();
            format!("The {} of {number} kilos.\n", words.join(" "))
        })
        .collect();
    // What a query finds, identified by its text.
    let answers = |name: &dyn Fn(usize) -> String| -> Vec<Vec<(String, i32)>> {
        let bank = Bank::new();
        texts.iter().enumerate().for_each(|(at, text)| bank.by_hand(&name(at), text));
        let mut workspace = bank.open();
        let mut ask = |text: &str| -> Vec<(String, i32)> {
            let hits = workspace.recall().search_passages(&Query::of_person(text, NOW), NOTES).unwrap().hits;
            hits.iter().map(|hit| (workspace.files().excerpt(hit).unwrap(), hit.score)).collect()
        };
        ["where is the doc of the cache", "billing 17", "token audit", "export the schema backup"]
            .map(&mut ask)
            .into()
    };
    let numbered = answers(&|at| format!("doc-{at}"));
    let backwards = answers(&|at| format!("other/x{}", NOTES - at));
    assert!(
        numbered.iter().all(|answer| answer.len() > 20),
        "{:?}",
        numbered.iter().map(Vec::len).collect::<Vec<_>>()
    );
    for (one, other) in numbered.iter().zip(&backwards) {
        let differing = one.iter().zip(other).find(|(one, other)| one != other);
        assert_eq!((differing, one.len()), (None, other.len()));
    }
}

#[test]
fn a_folder_that_came_with_files_is_seen_also_behind_our_own_change() {
    let bank = Bank::new();
    let mut workspace = bank.open();
    workspace.commit(&create("a", "one")).unwrap();
    bank.by_hand("new/deep/b", "two");
    workspace.commit(&create("c", "three")).unwrap();
    let found = workspace.recall().entries(ListFilter::default()).unwrap();
    let found: Vec<String> = found.into_iter().map(|entry| entry.address.to_string()).collect();
    assert_eq!(found, ["notes/a", "notes/c", "notes/new/deep/b"]);
}

#[test]
fn a_merge_says_which_of_its_notes_is_wrong_and_does_nothing() {
    let bank = Bank::new();
    let mut workspace = bank.open();
    for name in ["a", "b", "there"] {
        workspace.commit(&create(name, name)).unwrap();
    }
    let record = Address::record(lorelane_core::memory::Category::Decision, "x");
    let mut merge = |sources: Vec<Address>, target: &str| {
        let merge = NoteMerge { sources, target: note(target), text: None };
        workspace
            .changes()
            .merge(&merge)
            .map(|receipt| receipt.outcomes.len())
            .map_err(|failure| failure.to_string())
    };
    assert!(merge(Vec::new(), "new").unwrap_err().contains("no notes given"));
    assert!(merge(vec![note("a"), record], "new").unwrap_err().contains("decision/x"));
    assert!(merge(vec![note("a"), note("gone")], "new").unwrap_err().contains("notes/gone"));
    assert!(merge(vec![note("a"), note("b")], "there").unwrap_err().contains("notes/there"));
    assert!(bank.file("a").exists() && bank.file("b").exists() && !bank.file("new").exists());
    assert_eq!(merge(vec![note("a"), note("b"), note("a")], "a"), Ok(2));
    assert!(bank.file("a").exists() && !bank.file("b").exists());
}

#[test]
fn a_move_that_was_cut_short_goes_on() {
    let bank = Bank::new();
    let mut workspace = bank.open();
    workspace.commit(&create("a", "one")).unwrap();
    workspace.commit(&create("b", "two")).unwrap();
    let there = bank.0.0.join("home/data/memories");
    fs::create_dir_all(&there).unwrap();
    fs::copy(bank.file("a"), there.join("a.md")).unwrap();
    assert_eq!(workspace.changes().move_notes(NotesStorage::User).unwrap().files.len(), 2);
    assert!(there.join("a.md").exists() && there.join("b.md").exists() && !bank.file("a").exists());
    let found = workspace.recall().entries(ListFilter::default()).unwrap();
    assert_eq!(found.len(), 2);
}

#[test]
fn a_plan_for_two_lanes_is_refused() {
    let bank = Bank::new();
    let mut workspace = bank.open();
    let record = Address::record(lorelane_core::memory::Category::Decision, "x");
    let mut plan = create("a", "one");
    plan.changes.push(Change::Transition {
        address: record,
        verb: LifecycleVerb::Retire,
        reason: String::new(),
    });
    assert!(matches!(workspace.commit(&plan), Err(Failure::TwoLanes)));
    assert!(!bank.file("a").exists());
}
