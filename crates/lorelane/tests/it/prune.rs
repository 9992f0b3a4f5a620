//! Stale memories from outside: listed, decided by keys or by a plan, and taken back.

use crate::scratch::{Scratch, USE_JWT};
use crate::terminal::Terminal;
use lorelane_core::dialect::auto::project_slug;
use lorelane_core::json::Json;
use std::fs;
use std::path::PathBuf;

const OLD: &str = "---\nname: old\ndescription: The release branch is frozen\ntype: project\nmodified: 2026-03-01T00:00:00Z\n---\nWait.\n";
const OTHER: &str = "---\nname: other\ndescription: Ask Ana about billing\ntype: reference\nmodified: 2026-03-01T00:00:00Z\n---\nAna knows.\n";
const INDEX: &str = "# Memory\n\n- [Old](old.md) — frozen\n- [Other](other.md) — Ana\n";

impl Scratch {
    fn client_memory(&self) -> PathBuf {
        let slug = project_slug(self.project().to_str().unwrap());
        self.home().join(".claude/projects").join(slug).join("memory")
    }

    /// Three lanes with memories that are stale two years later.
    fn with_stale() -> Scratch {
        let scratch = Scratch::with_jwt();
        scratch.lorelane("create notes/facts --text 'The port is 8080.'").expect(0);
        fs::create_dir_all(scratch.client_memory()).unwrap();
        for (name, text) in [("old.md", OLD), ("other.md", OTHER), ("MEMORY.md", INDEX)] {
            fs::write(scratch.client_memory().join(name), text).unwrap();
        }
        scratch.at("2028-03-20T12:00:00Z")
    }

    fn stale(&self) -> Vec<String> {
        let listed = self.json("prune");
        let memories = listed.at("memories").and_then(Json::as_list).unwrap();
        memories
            .iter()
            .map(|memory| memory.at("address").and_then(Json::as_text).unwrap().to_owned())
            .collect()
    }
}

const ALL: [&str; 4] = ["auto/old", "auto/other", "notes/facts", "decision/use-jwt"];

#[test]
fn stale_memories_are_listed_worst_first_and_listing_decides_nothing() {
    let scratch = Scratch::with_stale();
    let before = scratch.tree_without_cache();
    assert_eq!(scratch.stale(), ALL);
    let said = scratch.lorelane("prune").expect(0).out;
    assert!(said.starts_with("[100] prune  auto/old  The release branch is frozen\n"), "{said}");
    assert!(said.ends_with("(see `lorelane prune --help`)\n"), "{said}");
    assert_eq!(scratch.lorelane("prune --lane notes --json").expect(0).out.matches("address").count(), 1);
    assert_eq!(scratch.tree_without_cache(), before);
    let fresh = Scratch::with_jwt();
    assert_eq!(fresh.lorelane("prune").expect(1).out, "No memory is stale\n");
}

#[test]
fn a_plan_is_applied_as_a_whole_and_undone() {
    let scratch = Scratch::with_stale();
    let before = scratch.tree_without_cache();
    let undone = |times: usize| {
        (0..times).for_each(|_| drop(scratch.lorelane("undo").expect(0)));
        let after = scratch.tree_without_cache();
        let files = |path: &&String| {
            !path.contains("/state/") && !path.ends_with("marks.jsonl") && !path.ends_with('/')
        };
        let is_same = |path: &&String| after.get(*path) == before.get(*path);
        let changed: Vec<&String> =
            before.keys().chain(after.keys()).filter(files).filter(|path| !is_same(path)).collect();
        assert_eq!(changed, [""; 0]);
    };
    let plan = r#"{"decisions": [
        {"address": "auto/old", "action": "archive", "because": "merged"},
        {"address": "auto/other", "action": "retire"},
        {"address": "notes/facts", "action": "keep", "because": "it still is"},
        {"address": "decision/use-jwt", "action": "retire", "because": "PASETO now"}]}"#;
    let said = scratch.lorelane_with_input("prune --plan - --dry-run", plan).expect(0);
    assert!(
        said.out.contains("Would archive auto/archive/old") && !said.out.contains("undo"),
        "{}",
        said.out
    );
    assert_eq!(scratch.stale(), ALL);
    let said = scratch.lorelane_with_input("prune --plan -", plan).expect(0);
    assert!(said.out.ends_with("`lorelane undo`, 3 times, takes it back\n"), "{}", said.out);
    assert_eq!(scratch.lorelane("prune").expect(1).out, "No memory is stale\n");
    assert_eq!(fs::read_to_string(scratch.client_memory().join("MEMORY.md")).unwrap(), "# Memory\n\n");
    undone(3);
    assert_eq!(scratch.stale(), ALL);
    // One lane is one change.
    let two = r#"{"decisions": [
        {"address": "auto/old", "action": "keep"}, {"address": "auto/other", "action": "archive"}]}"#;
    let said = scratch.lorelane_with_input("prune --plan -", two).expect(0);
    assert!(said.out.ends_with("`lorelane undo` takes it back\n"), "{}", said.out);
    undone(1);
    assert_eq!(scratch.stale(), ALL);
}

#[test]
fn a_memory_is_deleted_only_with_a_yes_and_comes_back() {
    let scratch = Scratch::with_stale();
    let files = [
        scratch.client_memory().join("old.md"),
        scratch.project().join(".memories/facts.md"),
        scratch.project().join(USE_JWT),
    ];
    let delete = |address: &str| {
        format!("{{\"decisions\": [{{\"address\": \"{address}\", \"action\": \"delete\"}}]}}")
    };
    for (address, file) in ["auto/old", "notes/facts", "decision/use-jwt"].iter().zip(&files) {
        let bytes = fs::read(file).unwrap();
        let refused = scratch.lorelane_with_input("prune --plan -", delete(address)).expect(2);
        assert!(
            refused.err.contains("needs confirmation and there is no terminal; pass --yes"),
            "{}",
            refused.err
        );
        assert!(file.exists());
        let before = scratch.tree_without_cache();
        let said = scratch.lorelane_with_input("prune --plan - --yes", delete(address)).expect(0);
        assert!(said.out.starts_with(&format!("Deleted {address}\n`lorelane undo`")), "{}", said.out);
        assert!(!file.exists());
        // Neither in an archive nor in the trash.
        let is_new =
            |path: &String| !before.contains_key(path) && (path.ends_with(".md") || path.ends_with(".json"));
        let new: Vec<String> = scratch.tree_without_cache().into_keys().filter(is_new).collect();
        assert_eq!(new, [""; 0]);
        scratch.lorelane("undo").expect(0);
        assert_eq!(fs::read(file).unwrap(), bytes);
        // `gc` and other commands still delete only what was retired.
        assert!(scratch.stale().contains(&(*address).to_owned()));
    }
    let index = fs::read_to_string(scratch.client_memory().join("MEMORY.md")).unwrap();
    assert_eq!(index, INDEX);
    // The only file of the client's folder can be kept or deleted.
    for name in ["old.md", "other.md"] {
        fs::remove_file(scratch.client_memory().join(name)).unwrap();
    }
    let memory = scratch.client_memory().join("MEMORY.md");
    fs::write(&memory, "# Notes\n\nThe importer is slow on Mondays.\n").unwrap();
    let plan = |action: &str| {
        format!("{{\"decisions\": [{{\"address\": \"auto/MEMORY\", \"action\": \"{action}\"}}]}}")
    };
    for action in ["archive", "retire"] {
        scratch.lorelane_with_input("prune --plan -", plan(action)).expect(2);
    }
    scratch.lorelane_with_input("prune --plan - --yes", plan("delete")).expect(0);
    assert!(!memory.exists());
    scratch.lorelane("undo").expect(0);
    assert!(memory.exists());
}

#[test]
fn a_plan_with_a_mistake_changes_nothing() {
    let scratch = Scratch::with_stale();
    let before = scratch.tree_without_cache();
    let fine = r#"{"address": "auto/old", "action": "archive"}"#;
    for (wrong, why) in [
        (r#"{"address": "auto/nowhere", "action": "keep"}"#, "auto/nowhere"),
        (r#"{"address": "auto/other", "action": "burn"}"#, "'burn' is not an action"),
        (r#"{"address": "auto/old", "action": "keep"}"#, "two decisions about it"),
        (r#"{"address": "auto/other", "action": "edit"}"#, "needs the new text"),
        (r#"{"address": "auto/other", "action": "keep", "text": "x"}"#, "needs the new text"),
        (r#"{"address": "auto/other", "action": "keep", "revision": "b3:0"}"#, "it has changed since"),
        (r#"{"address": "auto/other", "act": "keep"}"#, "cannot read the plan"),
        (r#"{"address": "decision/use-jwt", "action": "edit", "text": "not JSON"}"#, "decision/use-jwt"),
    ] {
        let plan = format!("{{\"decisions\": [{fine}, {wrong}]}}");
        let said = scratch.lorelane_with_input("prune --plan -", plan);
        assert!(said.code != Some(0) && said.err.contains(why), "{wrong}: {}", said.text());
        assert_eq!(scratch.tree_without_cache(), before, "{wrong}");
    }
    scratch.lorelane_with_input("prune --plan -", "{\"decisions\": [").expect(2);
    // The revision of the list, and a new text.
    let listed = scratch.json("prune --lane auto");
    let revision = listed.at("memories").and_then(Json::as_list).unwrap()[0]
        .at("revision")
        .and_then(Json::as_text)
        .unwrap()
        .to_owned();
    let text = OLD.replace("Wait.", "It is open again.").replace('\n', "\\n");
    let plan = format!(
        "{{\"decisions\": [{{\"address\": \"auto/old\", \"action\": \"edit\", \"revision\": \"{revision}\", \"text\": \"{text}\"}}]}}"
    );
    scratch.lorelane_with_input("prune --plan -", plan).expect(0);
    assert!(fs::read_to_string(scratch.client_memory().join("old.md")).unwrap().contains("open again"));
}

#[test]
fn one_key_decides_and_all_is_done_at_the_end() {
    let scratch = Scratch::with_stale();
    let keys = "uit\r\n";
    let mut terminal = Terminal::run(&scratch, &["prune"]);
    // Other keys do nothing.
    terminal.answer(keys, "xk");
    terminal.answer(keys, "a");
    terminal.answer(keys, "d");
    terminal.answer(keys, "s");
    terminal.answer("Delete 1 memory? [y/N]", "n\n");
    let (code, shown) = terminal.end();
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.contains("Confirmed auto/old") && shown.contains("Archived auto/archive/other"), "{shown}");
    assert_eq!(scratch.stale(), ["notes/facts", "decision/use-jwt"]);
    // `q` applies what was decided, Ctrl-C and Ctrl-D do not.
    for (key, left) in [("\u{3}", 2), ("\u{4}", 2), ("q", 1)] {
        let mut terminal = Terminal::run(&scratch, &["prune"]);
        terminal.answer(keys, "r");
        terminal.answer(keys, key);
        assert_eq!(terminal.end().0, Some(0));
        assert_eq!(scratch.stale().len(), left, "{key:?}");
    }
    scratch.lorelane("undo").expect(0);
    assert_eq!(scratch.stale().len(), 2);
}
