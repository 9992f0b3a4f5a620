//! Recall with a second model: what it has read is ordered by it, and nothing of it is mixed or left behind.

use crate::store::Temp;
use lorelane_core::memory::Address;
use lorelane_core::recall::{Hit, Query, Signal};
use lorelane_core::time::Timestamp;
use lorelane_engine::env::Env;
use lorelane_engine::index::Rebuild;
use lorelane_engine::model::Embedder;
use lorelane_engine::workspace::{EmbedProgress, Workspace};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

const NOW: Timestamp = Timestamp(1_772_000_000);
const QUESTION: &str = "how is the cache restarted";

/// Believes that every question is about what has its word in it. Its directions leave bytes that nothing else leaves.
#[derive(Debug)]
struct Believer {
    id: &'static str,
    word: &'static str,
}

impl Embedder for Believer {
    fn id(&self) -> &str {
        self.id
    }

    fn embed(&self, text: &str) -> Option<Vec<f32>> {
        let believed = text == QUESTION || text.contains(self.word);
        Some(if believed {
            vec![0.8, 0.6, 0.0, 0.0, 0.0, 0.0]
        } else {
            [vec![0.0, 0.0], trace(text)].concat()
        })
    }
}

/// What the believer leaves of a text that it does not believe in.
fn trace(text: &str) -> Vec<f32> {
    vec![0.6, -0.8, 0.36, if text.contains("red") { 0.48 } else { 0.12 }]
}

struct Project(Temp);

impl Project {
    /// Three notes that say nearly the same in words.
    fn new() -> Project {
        let project = Project(Temp::new());
        for name in ["red", "green", "blue"] {
            let text = format!("The cache of the {name} cluster is restarted by hand.");
            project.write(name, &text);
        }
        project
    }

    fn write(&self, name: &str, text: &str) {
        let folder = self.0.0.join("project/.memories");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(format!("{name}.md")), format!("# Cluster {name}\n\n{text}\n")).unwrap();
    }

    fn open(&self) -> Workspace {
        let home = self.0.0.join("home").to_str().unwrap().to_owned();
        let vars = BTreeMap::from([("LORELANE_HOME".to_owned(), home)]);
        let env = Env { now: NOW, cwd: self.0.0.join("project"), vars };
        Workspace::open(&env, &env.cwd).unwrap()
    }

    fn with(&self, id: &'static str, word: &'static str) -> Workspace {
        let mut workspace = self.open();
        workspace.recall().set_reranker(Arc::new(Believer { id, word }));
        workspace
    }

    /// Whether the index's files hold what the believer left of this text.
    fn has_trace(&self, text: &str) -> bool {
        let steps = trace(text).into_iter().map(|value| (value / 0.8 * 127.0).round() as i8);
        let packed: Vec<u8> = steps.flat_map(i8::to_le_bytes).collect();
        let mut bytes = Vec::new();
        read_all(&self.0.0.join("home/cache"), &mut bytes);
        bytes.windows(packed.len()).any(|window| *window == *packed)
    }
}

fn read_all(folder: &Path, bytes: &mut Vec<u8>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { read_all(&path, bytes) } else { bytes.extend(fs::read(path).unwrap()) }
    }
}

fn hits(workspace: &mut Workspace) -> Vec<Hit> {
    let hits = workspace.recall().search(&Query::of_person(QUESTION, NOW), 10).unwrap().hits;
    for hit in &hits {
        assert_eq!(hit.score, hit.explain.iter().map(|part| part.points).sum::<i32>(), "{hit:?}");
    }
    hits
}

fn best(workspace: &mut Workspace) -> String {
    hits(workspace)[0].address.to_string()
}

fn asks_the_model(workspace: &mut Workspace) -> bool {
    hits(workspace).iter().any(|hit| hit.explain.iter().any(|part| part.signal == Signal::Model))
}

#[test]
fn what_a_model_has_read_is_ordered_by_it() {
    let project = Project::new();
    let plain = hits(&mut project.open());
    for word in ["red", "green", "blue"] {
        let id: &'static str = word;
        let mut workspace = project.with(id, word);
        assert_eq!(hits(&mut workspace), plain, "nothing is read yet");
        assert_eq!(
            workspace.recall().embed_missing(usize::MAX).unwrap(),
            EmbedProgress { memories: 3, passages: 3 }
        );
        assert_eq!(workspace.recall().embed_missing(usize::MAX).unwrap(), EmbedProgress::default());
        assert_eq!(best(&mut workspace), format!("notes/{word}"));
        // Whoever has no model answers as before.
        assert_eq!(hits(&mut project.open()), plain);
    }
}

#[test]
fn a_few_at_a_time_is_the_same_as_all() {
    let project = Project::new();
    let mut workspace = project.with("a", "green");
    for _ in 0..3 {
        assert_eq!(workspace.recall().embed_missing(1).unwrap(), EmbedProgress { memories: 1, passages: 1 });
    }
    assert_eq!(workspace.recall().embed_missing(1).unwrap(), EmbedProgress::default());
    assert_eq!(best(&mut workspace), "notes/green");
}

#[test]
fn directions_of_two_models_are_never_mixed() {
    let project = Project::new();
    project.with("a", "green").recall().embed_missing(usize::MAX).unwrap();
    let mut other = project.with("b", "blue");
    assert!(!asks_the_model(&mut other));
    assert_eq!(other.recall().embed_missing(2).unwrap().memories, 2);
    assert_eq!(other.recall().embed_missing(2).unwrap().memories, 1);
    assert_eq!(best(&mut other), "notes/blue");
    // One model at a time: what the first said is gone.
    assert!(!asks_the_model(&mut project.with("a", "green")));
}

#[test]
fn a_changed_text_is_not_judged_by_what_it_said_before() {
    let project = Project::new();
    project.write("green", "The cache is restarted by a quartz timer.");
    let mut workspace = project.with("a", "quartz");
    workspace.recall().embed_missing(usize::MAX).unwrap();
    assert_eq!(best(&mut workspace), "notes/green");
    project.write("green", "The cache is restarted by a plain timer.");
    project.write("red", "The cache is restarted by a quartz timer.");
    workspace.maintenance().scan().unwrap();
    assert_eq!(
        workspace.recall().embed_missing(usize::MAX).unwrap(),
        EmbedProgress { memories: 2, passages: 2 }
    );
    assert_eq!(best(&mut workspace), "notes/red");
}

#[test]
fn rows_go_with_their_memory_and_leave_no_byte() {
    let project = Project::new();
    let mut workspace = project.with("a", "green");
    workspace.recall().embed_missing(usize::MAX).unwrap();
    assert!(project.has_trace("red") && project.has_trace("blue"));
    for (name, others) in [("red", true), ("blue", false)] {
        let address = Address::note(name).unwrap();
        assert!(workspace.maintenance().forget(&address, "").unwrap().is_complete());
        assert_eq!((project.has_trace(name), project.has_trace("blue")), (false, others), "{name}");
    }
}

#[test]
fn a_rebuild_keeps_what_still_holds_and_a_full_one_starts_over() {
    let project = Project::new();
    let mut workspace = project.with("a", "green");
    workspace.recall().embed_missing(usize::MAX).unwrap();
    for (extent, left) in [(Rebuild::Changed, 0), (Rebuild::All, 3)] {
        workspace.maintenance().reindex(extent).unwrap();
        assert_eq!(workspace.recall().embed_missing(usize::MAX).unwrap().memories, left, "{extent:?}");
        assert_eq!(
            workspace.maintenance().index_dump().unwrap(),
            workspace.maintenance().rebuilt_dump().unwrap()
        );
        assert_eq!(best(&mut workspace), "notes/green");
    }
}
