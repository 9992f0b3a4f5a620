//! One story that every backend passes, and a workspace that has no files at all.

use crate::store::Temp;
use lorelane_core::change::{Change, Draft, Plan};
use lorelane_core::lifecycle::LifecycleVerb;
use lorelane_core::mark::MarkKind;
use lorelane_core::memory::{Address, Category};
use lorelane_core::path::RelPath;
use lorelane_core::recall::Query;
use lorelane_core::time::Timestamp;
use lorelane_engine::backend::{
    Backend, ChangeState, ChangeTarget, Edit, ErasePredicate, MemoryBackend, StoreError, Warning,
};
use lorelane_engine::disk::sim::SimDisk;
use lorelane_engine::disk::{Disk, FileType, RealDisk};
use lorelane_engine::env::Env;
use lorelane_engine::store::{Store, StoreFolders};
use lorelane_engine::workspace::{Failure, Workspace};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

const NOW: Timestamp = Timestamp(1_772_000_000);
const MAX: u64 = 1 << 20;

type WriteOutside = Box<dyn Fn(&RelPath, Option<&[u8]>)>;

/// A backend, and how somebody else than lorelane changes a document of it.
struct Body {
    name: &'static str,
    backend: Arc<dyn Backend>,
    write_outside: WriteOutside,
}

fn bodies() -> (Vec<Body>, Temp) {
    let temp = Temp::new();
    let home = StoreFolders {
        lane: temp.0.join("lane"),
        marks: temp.0.join("marks"),
        state: temp.0.join("state").into(),
    };
    let sim = SimDisk::new(7);
    let sim_home =
        StoreFolders { lane: "/p/lane".into(), marks: "/p/.lorelane".into(), state: "/s/lane".into() };
    let memory = Arc::new(MemoryBackend::default());
    let in_memory = Arc::clone(&memory);
    (
        vec![
            files("files on a real disk", Arc::new(RealDisk), home),
            files("files on a simulated disk", Arc::new(sim), sim_home),
            Body {
                name: "memory",
                backend: memory,
                write_outside: Box::new(move |path, bytes| in_memory.write_outside(path, bytes)),
            },
        ],
        temp,
    )
}

fn files(name: &'static str, disk: Arc<dyn Disk>, home: StoreFolders) -> Body {
    let root = home.lane.clone();
    let outside = Arc::clone(&disk);
    let write_outside = Box::new(move |path: &RelPath, bytes: Option<&[u8]>| {
        let file = root.join(path.as_str());
        let _ = outside.remove_file(&file);
        if let Some(bytes) = bytes {
            outside.create_new(&file, bytes, None).unwrap();
        }
    });
    Body { name, backend: Arc::new(Store::new(disk, home)), write_outside }
}

fn path(text: &str) -> RelPath {
    RelPath::parse(text).unwrap()
}

fn put(at: &str, text: &str) -> Edit {
    Edit::Put { path: path(at), bytes: text.into() }
}

fn commit(backend: &dyn Backend, edits: Vec<Edit>, because: &str) -> Option<u64> {
    let mut transaction = backend.begin().unwrap();
    let receipt = transaction.apply(edits, because, NOW).unwrap();
    transaction.finish().unwrap();
    receipt.number
}

fn undo(backend: &dyn Backend) -> Result<Vec<Warning>, StoreError> {
    let mut transaction = backend.begin()?;
    let receipt = transaction.undo(NOW)?;
    transaction.finish()?;
    Ok(receipt.warnings)
}

fn text(backend: &dyn Backend, at: &str) -> Option<String> {
    backend.read(&path(at), MAX).unwrap().map(|bytes| String::from_utf8(bytes).unwrap())
}

fn names(backend: &dyn Backend, folder: &str) -> Vec<(String, FileType)> {
    let listed = backend.list(folder).unwrap().unwrap_or_default().into_iter();
    let mut names: Vec<(String, FileType)> = listed.map(|listed| (listed.name, listed.kind)).collect();
    names.sort_by(|a, b| a.0.cmp(&b.0));
    names
}

#[test]
fn every_backend_passes_the_same_story() {
    let (bodies, _temp) = bodies();
    for Body { name, backend, write_outside } in &bodies {
        let backend = &**backend;

        // Nothing is there, and asking for it is no error.
        assert_eq!(text(backend, "notes/a.md"), None, "{name}");
        assert_eq!(backend.list("notes").unwrap(), None, "{name}");
        assert_eq!(backend.stat("notes").unwrap(), None, "{name}");
        assert_eq!(backend.marks(None).unwrap(), b"", "{name}");
        assert!(matches!(undo(backend), Err(StoreError::NothingToUndo)), "{name}");

        // A change makes several documents and a mark together.
        let edits = vec![put("notes/a.md", "one"), put("notes/deep/b.md", "two"), mark("pin a")];
        assert_eq!(commit(backend, edits, "first"), Some(1), "{name}");
        assert_eq!(text(backend, "notes/deep/b.md").as_deref(), Some("two"), "{name}");
        assert_eq!(
            names(backend, "notes"),
            [("a.md".to_owned(), FileType::File), ("deep".to_owned(), FileType::Folder)],
            "{name}"
        );
        assert_eq!(backend.stat("notes/a.md").unwrap().unwrap().len, 3, "{name}");
        assert_eq!(backend.marks(None).unwrap(), b"pin a\n", "{name}");
        assert_eq!(backend.marks_size(), Some(6), "{name}");
        assert!(backend.read(&path("notes/a.md"), 2).is_err(), "{name}: larger than asked for");

        // Edits of one document follow one another, and what is so already is no change.
        let edits = vec![
            put("notes/a.md", "1"),
            Edit::Append { path: path("notes/a.md"), bytes: "2".into() },
            Edit::Remove { path: path("notes/deep/b.md") },
        ];
        assert_eq!(commit(backend, edits, "second"), Some(2), "{name}");
        assert_eq!(text(backend, "notes/a.md").as_deref(), Some("12"), "{name}");
        assert_eq!(text(backend, "notes/deep/b.md"), None, "{name}");
        assert_eq!(commit(backend, vec![put("notes/a.md", "12")], "nothing"), None, "{name}");

        // A reader tells a changed folder by its stamp.
        let before = backend.stat("notes").unwrap().unwrap().mtime_ns;
        commit(backend, vec![put("notes/c.md", "three")], "third");
        assert!(backend.stat("notes").unwrap().unwrap().mtime_ns >= before, "{name}");
        assert!(backend.now_ns() >= before, "{name}");

        // The log has it all, newest first, and explains what an undo would do.
        let recent = backend.log().recent(2).unwrap();
        assert_eq!(recent.total, 3, "{name}");
        let told: Vec<_> =
            recent.entries.iter().map(|entry| (entry.number, entry.because.as_deref())).collect();
        assert_eq!(told, [(3, Some("third")), (2, Some("second"))], "{name}");
        assert!(recent.entries.iter().all(|entry| entry.outcome == ChangeState::Done), "{name}");
        let places: Vec<_> =
            recent.entries[1].changes.iter().filter_map(|changed| changed.place.clone()).collect();
        assert_eq!(
            places,
            [ChangeTarget::Lane(path("notes/a.md")), ChangeTarget::Lane(path("notes/deep/b.md"))],
            "{name}"
        );
        assert_eq!(backend.log().next_undo().unwrap().entry.unwrap().number, 3, "{name}");
        let last = backend.log().last_writes(&[&path("notes/a.md"), &path("notes/deep/b.md")]).unwrap();
        assert_eq!(last, BTreeMap::from([(path("notes/a.md"), b"12".to_vec())]), "{name}");

        // Undo goes back change by change, marks included, and is a change itself.
        for _ in 0..3 {
            undo(backend).unwrap();
        }
        assert_eq!(text(backend, "notes/a.md"), None, "{name}");
        assert_eq!(backend.marks(None).unwrap(), b"", "{name}");
        assert!(matches!(undo(backend), Err(StoreError::NothingToUndo)), "{name}");
        let newest = backend.log().recent(1).unwrap();
        assert_eq!((newest.total, newest.entries[0].undoes), (6, Some(1)), "{name}");
        assert_eq!(newest.entries[0].undid.as_deref(), Some("first"), "{name}");

        // What was changed outside is reported, and not undone; what was deleted outside is skipped.
        commit(backend, vec![put("a.md", "ours")], "kept");
        commit(backend, vec![put("b.md", "ours")], "deleted later");
        write_outside(&path("b.md"), None);
        let outside = backend.log().outside().unwrap();
        assert_eq!(
            (outside.changed, outside.deleted),
            (Vec::new(), BTreeMap::from([(path("b.md"), NOW)])),
            "{name}"
        );
        write_outside(&path("a.md"), Some(b"theirs"));
        assert_eq!(backend.log().outside().unwrap().changed, [path("a.md")], "{name}");
        assert!(matches!(undo(backend), Err(StoreError::ChangedOutside { .. })), "{name}");
        assert!(backend.log().next_undo().unwrap().refused.is_some(), "{name}");
        write_outside(&path("a.md"), Some(b"ours"));
        assert!(matches!(&undo(backend).unwrap()[..], [Warning::PassedOver { .. }]), "{name}");
        assert_eq!(text(backend, "a.md"), None, "{name}");

        // The order among the changes of other lanes only grows.
        let mut transaction = backend.begin().unwrap();
        transaction.comes_after(1_000);
        transaction
            .apply(vec![put("secrets/key.md", "hunter2"), mark("pin key")], "of hunter2", NOW)
            .unwrap();
        assert_eq!(transaction.order(), 1_001, "{name}");
        transaction.finish().unwrap();
        assert_eq!(backend.log().newest_order().unwrap(), 1_001, "{name}");

        // Erasing leaves nothing of it in documents, log and marks, and the log still verifies.
        let unwanted = unwanted();
        assert!(backend.log().count_in_log(&unwanted).unwrap() > 0, "{name}");
        assert_eq!(backend.log().count_in_marks(&unwanted).unwrap(), 1, "{name}");
        let mut transaction = backend.begin().unwrap();
        let newest = transaction.newest();
        assert_eq!(transaction.log_erasure("erase a memory", NOW).unwrap(), newest + 1, "{name}");
        assert_eq!(
            transaction.erase_documents(&BTreeSet::from([path("secrets/key.md")])).unwrap(),
            1,
            "{name}"
        );
        assert!(transaction.erase_from_log(&unwanted).unwrap() > 0, "{name}");
        assert_eq!(transaction.erase_from_marks(&unwanted).unwrap(), 1, "{name}");
        assert!(transaction.has_erased(), "{name}");
        transaction.finish().unwrap();
        assert_eq!(backend.log().count_in_log(&unwanted).unwrap(), 0, "{name}");
        assert_eq!(backend.log().count_in_marks(&unwanted).unwrap(), 0, "{name}");
        assert_eq!(text(backend, "secrets/key.md"), None, "{name}");
        assert_eq!(backend.log().verify(), [], "{name}");
    }
}

fn mark(line: &str) -> Edit {
    Edit::Mark { lines: line.into() }
}

fn unwanted<'u>() -> ErasePredicate<'u> {
    ErasePredicate {
        is_path: &|path| path.folder() == Some("secrets"),
        until_left: &|_| None,
        in_document: &|path, bytes| path.as_str() == "list.md" && bytes.starts_with(b"hunter2"),
        in_reason: &|reason| reason.contains("hunter2"),
        without: &|marks| {
            let lines = marks.split_inclusive(|byte| *byte == b'\n');
            let (gone, kept): (Vec<&[u8]>, Vec<&[u8]>) = lines.partition(|line| line.starts_with(b"pin key"));
            (kept.concat(), gone.len())
        },
    }
}

/// Marks may be many: a hook reads the last of them, whole lines only.
#[test]
fn the_last_marks_are_whole_lines() {
    let (bodies, _temp) = bodies();
    for Body { name, backend, .. } in &bodies {
        commit(&**backend, vec![mark("one"), mark("two"), mark("three")], "marks");
        for (limit, expected) in
            [(6, "three\n"), (7, "three\n"), (9, "three\n"), (10, "two\nthree\n"), (99, "one\ntwo\nthree\n")]
        {
            let last = backend.marks(Some(limit)).unwrap();
            assert_eq!(String::from_utf8(last).unwrap(), expected, "{name}, {limit} bytes");
        }
    }
}

/// What a team server will do: memories without any file.
#[test]
fn a_workspace_needs_no_files() {
    let (records, notes) = (Arc::new(MemoryBackend::default()), Arc::new(MemoryBackend::default()));
    let env = Env { now: NOW, cwd: "/nowhere".into(), vars: BTreeMap::new() };
    let open = || Workspace::open_backends(&env, Path::new("/nowhere"), records.clone(), notes.clone());
    let mut workspace = open();
    let jwt = Address::record(Category::Decision, "use-jwt");
    workspace.commit(&created(&jwt, &record("Use JWT for service auth"))).unwrap();
    let plan = Address::note("plans/login").unwrap();
    let body = "---\ntitle: Login plan\n---\nThe login page waits for the tokens.\n";
    workspace.commit(&created(&plan, body)).unwrap();

    // Another server on the same documents finds both.
    let mut other = open();
    let best = |workspace: &mut Workspace, text: &str| -> Option<Address> {
        let hits = workspace.recall().search(&Query::of_person(text, NOW), 5).unwrap().hits;
        hits.into_iter().next().map(|hit| hit.address)
    };
    assert_eq!(best(&mut other, "how does service auth work"), Some(jwt.clone()));
    assert_eq!(best(&mut other, "login page tokens"), Some(plan.clone()));
    assert_eq!(other.reminders().brief("what about JWT service auth?", "s").unwrap().reminders.len(), 1);

    // A draft that is wrong is refused as ever.
    let wrong = created(&Address::record(Category::Decision, "wrong"), "{}");
    assert!(matches!(other.commit(&wrong), Err(Failure::Refused(_))));

    // What one changes, the other sees; undo takes it back in the right lane.
    let pinned = Change::Mark { address: jwt.clone(), kind: MarkKind::Pin };
    other.commit(&Plan { changes: vec![pinned], because: "pin".to_owned() }).unwrap();
    let retired = Change::Transition {
        address: jwt.clone(),
        verb: LifecycleVerb::Retire,
        reason: "moved to mTLS".to_owned(),
    };
    other.commit(&Plan { changes: vec![retired], because: "retire".to_owned() }).unwrap();
    assert!(workspace.files().marks().pinned.contains(&jwt));
    assert_ne!(best(&mut workspace, "how does service auth work"), Some(jwt.clone()));
    assert_eq!(workspace.changes().undo().unwrap().outcomes[0].address, jwt);
    assert_eq!(best(&mut other, "how does service auth work"), Some(jwt.clone()));
    let draft = Draft::Whole(body.replace("waits", "no longer waits"));
    let revised = Change::Revise { address: plan.clone(), expects: None, draft };
    workspace.commit(&Plan { changes: vec![revised], because: "revise".to_owned() }).unwrap();
    assert!(workspace.load(&plan).unwrap().document.text.contains("no longer"));
    let (logged, total) = workspace.changes().recent(10).unwrap();
    assert_eq!((logged[0].lane.name(), total), (plan.lane().name(), 6));
    assert_eq!(workspace.changes().verify_logs(), []);

    // The index is what a rebuild would be, and forgetting leaves nothing.
    assert_eq!(workspace.maintenance().diagnose_index().unwrap(), []);
    assert!(workspace.maintenance().forget(&plan, "no longer wanted").unwrap().is_complete());
    assert_ne!(best(&mut other, "login page tokens"), Some(plan.clone()));
    let (logged, _) = other.changes().recent(10).unwrap();
    assert!(logged.iter().all(|logged| !format!("{:?}", logged.entry).contains("login")), "{logged:?}");
}

fn created(address: &Address, text: &str) -> Plan {
    let change = Change::Create { address: address.clone(), text: text.to_owned() };
    Plan { changes: vec![change], because: format!("create {address}") }
}

fn record(title: &str) -> String {
    format!(
        r#"{{"schema_version": "1.0", "category": "decision", "id": "use-jwt", "title": "{title}",
            "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z", "tags": ["auth"],
            "content": {{"status": "accepted", "context": "Services need stateless auth", "decision": "JWT",
            "rationale": ["No session store to run"]}}}}"#
    )
}
