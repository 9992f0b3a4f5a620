//! Recall can be measured with other weights, and one that got worse is seen.

use crate::store::Temp;
use lorelane_core::memory::Address;
use lorelane_core::recall::Query;
use lorelane_core::recall::sheet::Emphasis;
use lorelane_core::recall::weigh::Weights;
use lorelane_core::time::Timestamp;
use lorelane_engine::env::Env;
use lorelane_engine::workspace::Workspace;
use std::collections::BTreeMap;
use std::fs;

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

    fn open(&self) -> Workspace {
        let home = self.0.0.join("home").to_str().unwrap().to_owned();
        let vars = BTreeMap::from([("LORELANE_HOME".to_owned(), home)]);
        let env = Env { now: NOW, cwd: self.0.0.join("project"), vars };
        Workspace::open(&env, &env.cwd).unwrap()
    }
}

fn found(workspace: &mut Workspace, text: &str) -> Vec<Address> {
    let hits = workspace.recall(&Query::of_person(text, NOW), 10).unwrap().hits;
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
    // Where no signal counts, the order of the addresses is left.
    let blind = Weights { words: 0.0, meaning: 0.0, floor: 0.0, ..Weights::default() };
    assert_eq!(found(&mut bank.open().with_weights(blind), asked)[0].name(), "bread");
    let plain = Emphasis { title: 0, lead: 0.0 };
    let mut measured = bank.open().with_emphasis(plain).unwrap();
    let score = |workspace: &mut Workspace| {
        workspace.recall(&Query::of_person(asked, NOW), 10).unwrap().hits[0].score
    };
    assert_ne!(score(&mut measured), score(&mut bank.open()));
    drop(measured);
    assert_eq!(bank.open().diagnose_index().unwrap(), []);
}
