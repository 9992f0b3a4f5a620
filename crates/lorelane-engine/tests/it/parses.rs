//! How often a change parses the file that it writes: once for what comes in, once for what is committed.

use crate::store::Temp;
use lorelane_core::change::{Change, Draft, Plan};
use lorelane_core::memory::{Address, Category};
use lorelane_core::steps;
use lorelane_core::time::Timestamp;
use lorelane_engine::env::Env;
use lorelane_engine::workspace::{self, Workspace};
use std::collections::BTreeMap;

const RECORD: &str = r#"{"schema_version": "1.0", "category": "decision", "id": "use-jwt", "title": "Use JWT",
    "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z", "tags": ["auth"],
    "content": {"status": "accepted", "context": "Services need stateless auth", "decision": "JWT",
    "rationale": ["No session store to run"]}}"#;
const NOTE: &str =
    "---\ntype: journal\nstatus: active\ntags: [auth]\n---\n\n# Login\n\nIt waits for the tokens.\n";

fn parses(workspace: &mut Workspace, change: Change) -> usize {
    let plan = Plan { changes: vec![change], because: "a test".to_owned() };
    steps::parses_of(|| drop(workspace.commit(&plan).unwrap()))
}

#[test]
fn a_change_parses_what_comes_in_and_what_is_committed() {
    let temp = Temp::new();
    let cwd = temp.0.join("project");
    std::fs::create_dir_all(cwd.join(".memories")).unwrap();
    let vars = BTreeMap::from([("LORELANE_HOME".to_owned(), temp.0.join("home").display().to_string())]);
    let env = Env { now: Timestamp(1_772_000_000), cwd, vars };
    workspace::init(&env, &env.cwd).unwrap();
    let mut workspace = Workspace::open(&env, &env.cwd).unwrap();

    let record = Address::record(Category::Decision, "use-jwt");
    let create =
        |address: &Address, text: &str| Change::Create { address: address.clone(), text: text.to_owned() };
    let revise = |address: &Address, draft| Change::Revise { address: address.clone(), expects: None, draft };
    assert_eq!(parses(&mut workspace, create(&record, RECORD)), 2, "create");
    let tags = vec!["tokens".to_owned()];
    let draft = Draft::Partial { from: None, set: Vec::new(), add_tags: tags, because: None };
    assert_eq!(parses(&mut workspace, revise(&record, draft)), 2, "update");

    let note = Address::note("login").unwrap();
    workspace.commit(&Plan { changes: vec![create(&note, NOTE)], because: "a test".to_owned() }).unwrap();
    let draft = Draft::Append { text: "They came on Monday.".to_owned() };
    // As `append` does it: the name is resolved first, which parses nothing.
    let find = || assert_eq!(workspace.find("login").unwrap(), note);
    assert_eq!(steps::parses_of(find), 0, "find");
    assert_eq!(parses(&mut workspace, revise(&note, draft)), 2, "append");
    assert!(workspace.load(&note).unwrap().document.text.ends_with("tokens.\n\nThey came on Monday.\n"));
    assert_eq!(workspace.maintenance().diagnose_index().unwrap(), []);
}
