//! Recall can be measured with other weights, and one that got worse is seen.

use crate::store::Temp;
use lorelane_core::bench::Measure;
use lorelane_core::memory::Address;
use lorelane_core::recall::Query;
use lorelane_core::recall::doc_entry::FieldBoost;
use lorelane_core::recall::score::Weights;
use lorelane_core::time::Timestamp;
use lorelane_engine::env::Env;
use lorelane_engine::workspace::Workspace;
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

const NOW: Timestamp = Timestamp(1_772_000_000);

/// A project with these notes.
struct Bank(Temp);

impl Bank {
    fn with(notes: &[(&str, &str)]) -> Bank {
        let bank = Bank(Temp::new());
        let folder = bank.0.0.join("project/.memories");
        fs::create_dir_all(&folder).unwrap();
        for (name, text) in notes {
            fs::write(folder.join(format!("{name}.md")), text).unwrap();
        }
        bank
    }

    /// A store with something in it to ask about.
    fn of_a_team() -> Bank {
        Bank::with(&[
            (
                "cache",
                "---\ntitle: Restart the redis cache\n---\nRun the blue script on the bastion host first.\n",
            ),
            (
                "login",
                "---\ntitle: Login tokens expire early\n---\nGateway clocks drift, so leeway is a minute.\n",
            ),
            (
                "money",
                "---\ntitle: Amounts are whole cents\n---\nFloats lose pennies in long invoices, use integers.\n",
            ),
            (
                "deploy",
                "---\ntitle: Deploy never on Friday\n---\nNobody watches dashboards over the weekend here.\n",
            ),
            (
                "search",
                "---\ntitle: Search page loads slowly\n---\nThe planner ignores partial indexes for these rows.\n",
            ),
        ])
    }

    fn results(&self) -> PathBuf {
        let projects = fs::read_dir(self.0.0.join("home/state/projects")).unwrap();
        let mut files = projects.map(|project| project.unwrap().path().join("bench.jsonl"));
        files.find(|file| file.exists()).unwrap()
    }

    fn open(&self) -> Workspace {
        let home = self.0.0.join("home").to_str().unwrap().to_owned();
        let vars = BTreeMap::from([("LORELANE_HOME".to_owned(), home)]);
        let env = Env { now: NOW, cwd: self.0.0.join("project"), vars };
        Workspace::open(&env, &env.cwd).unwrap()
    }
}

/// Where no signal counts, the order of the addresses is left, and everything is an answer.
fn blinded(bank: &Bank) -> Workspace {
    let mut workspace = bank.open();
    workspace.recall().set_weights(Weights {
        words: 0.0,
        meaning: 0.0,
        floor: f32::MIN,
        ..Weights::default()
    });
    workspace
}

fn found(workspace: &mut Workspace, text: &str) -> Vec<Address> {
    let hits = workspace.recall().search(&Query::of_person(text, NOW), 10).unwrap().hits;
    hits.into_iter().map(|hit| hit.address).collect()
}

#[test]
fn other_weights_and_another_emphasis_measure_and_keep_nothing() {
    let bank = Bank::with(&[
        (
            "cache",
            "# The cache\n\nRestart the redis cache with the blue script. Whoever is on duty in the night tells the others in the morning what was done, and writes down how long the customers had to wait for it.\n",
        ),
        ("bread", "# The kitchen\n\nThe oven is hot. Bread needs an hour in it.\n"),
    ]);
    let asked = "restart the redis cache";
    assert_eq!(found(&mut bank.open(), asked)[0].name(), "cache");
    assert_eq!(found(&mut blinded(&bank), asked)[0].name(), "bread");
    let plain = FieldBoost { title: 0, lead: 0.0 };
    let mut measured = bank.open();
    measured.recall().set_field_boost(plain).unwrap();
    let score = |workspace: &mut Workspace| {
        workspace.recall().search(&Query::of_person(asked, NOW), 10).unwrap().hits[0].score
    };
    assert_ne!(score(&mut measured), score(&mut bank.open()));
    drop(measured);
    assert_eq!(bank.open().maintenance().diagnose_index().unwrap(), []);
}

#[test]
fn a_ranking_that_is_broken_on_purpose_is_a_regression_until_it_is_mended() {
    let bank = Bank::of_a_team();
    let good = bank.open().maintenance().bench(&[]).unwrap().report;
    assert!(good.is_fine() && good.kept.is_baseline, "{:?}", good.worst());
    assert_eq!(good.measures.value(Measure::First), Some(1.0), "{:?}", good.worst());
    assert!(good.measures.answerable >= 8 && good.measures.unanswerable >= 30, "{:?}", good.measures);
    bank.open().maintenance().keep_bench(&good.kept).unwrap();
    for _ in 0..2 {
        let broken = blinded(&bank).maintenance().bench(&[]).unwrap().report;
        assert!(!broken.is_fine() && !broken.kept.is_baseline);
        let fallen: Vec<Measure> = broken.falls.iter().map(|fall| fall.measure).collect();
        assert!(fallen.contains(&Measure::First) && fallen.contains(&Measure::Refused), "{fallen:?}");
        // It is kept, and yet the next one is not compared with it.
        bank.open().maintenance().keep_bench(&broken.kept).unwrap();
    }
    assert!(bank.open().maintenance().bench(&[]).unwrap().report.is_fine());
}

#[test]
fn a_baseline_outlives_any_number_of_failing_runs() {
    let bank = Bank::of_a_team();
    let good = bank.open().maintenance().bench(&[]).unwrap().report;
    bank.open().maintenance().keep_bench(&good.kept).unwrap();
    for _ in 0..3 {
        let mut full = fs::read(bank.results()).unwrap();
        full.resize(2 << 20, b'\n');
        fs::write(bank.results(), full).unwrap();
        let broken = blinded(&bank).maintenance().bench(&[]).unwrap().report;
        assert!(!broken.is_fine());
        bank.open().maintenance().keep_bench(&broken.kept).unwrap();
        assert!(fs::metadata(bank.results()).unwrap().len() < 100_000);
    }
}
