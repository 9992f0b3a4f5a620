//! What the store promises, one table or story each.

use lorelane_engine::backend::{
    ChangeLog, ChangeState, ChangeTarget, Edit, Erase, ErasePredicate, LogFault, StoreError, Transaction,
    Warning,
};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use lorelane_core::path::RelPath;
use lorelane_core::time::Timestamp;
use lorelane_engine::disk::sim::{DiskCall, DiskVerb, SimDisk, SimProcess};
use lorelane_engine::disk::{Disk, FileType, RealDisk};
use lorelane_engine::store::{Store, StoreFolders};
use proptest::prelude::*;

const NOW: Timestamp = Timestamp(1_700_000_000);

fn path(text: &str) -> RelPath {
    RelPath::parse(text).unwrap()
}

fn put(at: &str, bytes: &str) -> Edit {
    Edit::Put { path: path(at), bytes: bytes.into() }
}

fn mark(line: &str) -> Edit {
    Edit::Mark { lines: line.into() }
}

fn sim_home() -> StoreFolders {
    StoreFolders { lane: "/p/lane".into(), marks: "/p/.lorelane".into(), state: "/s/lane".into() }
}

fn sim_store(disk: &SimDisk) -> Store {
    Store::new(Arc::new(disk.clone()), sim_home())
}

fn commit(store: &Store, edits: Vec<Edit>) -> Result<u64, StoreError> {
    let mut transaction = store.begin()?;
    let receipt = transaction.apply(edits, "a test", NOW)?;
    // The change is made; a `done` that cannot be said is said by the next writer.
    let _ = transaction.finish();
    Ok(receipt.number.unwrap_or(0))
}

fn undo(store: &Store) -> Result<(), StoreError> {
    let mut transaction = store.begin()?;
    transaction.undo(NOW)?;
    transaction.finish()
}

/// What is wanted nowhere any more: files of `secrets`, and whatever says `hunter2`.
fn unwanted<'u>() -> ErasePredicate<'u> {
    ErasePredicate {
        is_path: &|path| path.folder() == Some("secrets"),
        until_left: &|path| Some(path.clone()).filter(|path| path.as_str() == "old.json"),
        in_document: &|path, bytes| path.as_str() == "list.md" && bytes.starts_with(b"hunter2"),
        in_reason: &|reason| reason.contains("hunter2"),
        without: &|marks| {
            let lines: Vec<&[u8]> = marks.split_inclusive(|byte| *byte == b'\n').collect();
            let says = |line: &&&[u8]| !String::from_utf8_lossy(line).contains("hunter2");
            let kept: Vec<&[u8]> = lines.iter().filter(says).copied().collect();
            (kept.concat(), lines.len() - kept.len())
        },
    }
}

fn in_lane(disk: &SimDisk, at: &str) -> Option<String> {
    disk.peek(&Path::new("/p/lane").join(at)).map(|bytes| String::from_utf8(bytes).unwrap())
}

/// A folder of this test alone, gone with it.
pub struct Temp(pub PathBuf);

impl Temp {
    pub fn new() -> Temp {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("lorelane-test-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let folder = fs::canonicalize(std::env::temp_dir()).unwrap().join(name);
        fs::create_dir(&folder).unwrap();
        Temp(folder)
    }

    fn store(&self) -> Store {
        let home = StoreFolders {
            lane: self.0.join("lane"),
            marks: self.0.join(".lorelane"),
            state: self.0.join("state/x").into(),
        };
        fs::create_dir_all(&home.lane).unwrap();
        Store::new(Arc::new(RealDisk), home).with_lock_deadline(Duration::from_millis(30))
    }
}

impl Drop for Temp {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_change_of_one_memory_costs_at_most_five_syncs() {
    let disk = SimDisk::new(1);
    let store = sim_store(&disk);
    commit(&store, vec![put("decisions/a.json", "1"), mark("{}")]).unwrap();
    disk.pause(Duration::from_millis(10));
    commit(&store, vec![mark("{\"pin\":0}")]).unwrap();
    let table = [
        ("revise", vec![put("decisions/a.json", "2")], 4),
        ("create", vec![put("decisions/b.json", "1")], 4),
        ("remove", vec![Edit::Remove { path: path("decisions/b.json") }], 3),
        ("mark", vec![mark("{\"pin\":1}")], 3),
        ("revise and mark", vec![put("decisions/a.json", "3"), mark("{\"pin\":2}")], 5),
        ("nothing to do", vec![put("decisions/a.json", "3")], 0),
    ];
    for (what, edits, expected) in table {
        // Stamps are in ticks: let one pass, as it does between two commands.
        disk.pause(Duration::from_millis(10));
        let before = disk.syncs();
        commit(&store, edits).unwrap();
        assert_eq!(disk.syncs() - before, expected, "{what}");
    }
}

#[test]
fn a_full_disk_anywhere_leaves_the_old_bytes_and_nothing_else() {
    let edits = || vec![put("a.json", "new a"), put("new/b.json", "new b"), mark("{\"n\":2}")];
    let mut refusals = 0;
    for space in 0.. {
        let disk = SimDisk::new(space);
        let store = sim_store(&disk);
        commit(&store, vec![put("a.json", "old a"), mark("{\"n\":1}")]).unwrap();
        disk.space(Some(space));
        let outcome = commit(&store, edits());
        disk.heal();
        if outcome.is_ok() {
            assert_eq!(in_lane(&disk, "a.json").as_deref(), Some("new a"));
            break;
        }
        refusals += 1;
        for _ in 0..2 {
            assert_eq!(in_lane(&disk, "a.json").as_deref(), Some("old a"), "{space} bytes");
            let names: Vec<String> =
                disk.peek_list(Path::new("/p/lane")).into_iter().map(|e| e.name).collect();
            assert_eq!(names, ["a.json"], "{space} bytes");
            assert_eq!(disk.peek(Path::new("/p/.lorelane/marks.jsonl")).unwrap(), b"{\"n\":1}\n");
            // The next writer does not find a reason to make the refused change after all.
            drop(store.begin().unwrap());
        }
        assert_eq!(store.verify(), []);
    }
    assert!(refusals > 500, "the change writes more than {refusals} bytes");
}

#[test]
fn an_error_at_any_call_leaves_everything_or_nothing() {
    for kind in [ErrorKind::ReadOnlyFilesystem, ErrorKind::NotFound] {
        for failing in 1.. {
            let disk = SimDisk::new(failing);
            let store = sim_store(&disk);
            commit(&store, vec![put("a.json", "old a"), put("b.json", "old b")]).unwrap();
            let at = disk.calls() + failing;
            disk.fail_when(move |call| (call.number == at).then_some(kind));
            let outcome = commit(&store, vec![put("a.json", "new a"), put("b.json", "new b")]);
            let reached = disk.calls() >= at;
            disk.heal();
            drop(store.begin().unwrap());
            let found = (in_lane(&disk, "a.json").unwrap(), in_lane(&disk, "b.json").unwrap());
            let pairs = [("old a".into(), "old b".into()), ("new a".into(), "new b".into())];
            assert!(pairs.contains(&found), "call {failing}: {found:?} after {outcome:?}");
            if !reached {
                break;
            }
        }
    }
}

// On a read-only file system a retirement was refused, and made by the next writer after a remount: the disk refused
// to remove a temporary file that was not there, so the change counted as half made.
#[test]
fn a_refused_change_is_never_made_later() {
    type Story = fn(&Store) -> Result<(), StoreError>;
    let stories: [(&str, Story); 4] = [
        ("revise", |store| commit(store, vec![put("a.json", "new a")]).map(drop)),
        ("several", |store| {
            let edits = vec![put("a.json", "new a"), put("new/c.json", "new c"), mark("{\"n\":2}")];
            commit(store, edits).map(drop)
        }),
        ("remove", |store| commit(store, vec![Edit::Remove { path: path("b.json") }]).map(drop)),
        ("undo", |store| {
            let mut transaction = store.begin()?;
            transaction.undo(NOW)?;
            let _ = transaction.finish();
            Ok(())
        }),
    ];
    let lasting = |kind| [(kind, "/"), (kind, "/p"), (kind, "/s")];
    let faults = [ErrorKind::ReadOnlyFilesystem, ErrorKind::PermissionDenied, ErrorKind::Other].map(lasting);
    let seen = |disk: &SimDisk| {
        let marks = disk.peek(Path::new("/p/.lorelane/marks.jsonl"));
        let entries = ["/p/lane", "/p/lane/new"].map(|folder| disk.peek_list(Path::new(folder))).concat();
        let files: Vec<String> = entries
            .into_iter()
            .filter(|entry| entry.kind == FileType::File)
            .map(|entry| entry.name)
            .collect();
        let texts = ["a.json", "b.json", "new/c.json"].map(|at| in_lane(disk, at));
        (texts, marks.filter(|marks| !marks.is_empty()), files)
    };
    let (mut refused, mut unsettled) = (0, 0);
    for (name, story) in stories {
        for ((kind, below), one_call) in
            faults.iter().flatten().flat_map(|fault| [(*fault, true), (*fault, false)])
        {
            for failing in 1.. {
                let disk = SimDisk::new(failing);
                let store = sim_store(&disk);
                commit(&store, vec![put("a.json", "old a"), put("b.json", "old b"), mark("{\"n\":1}")])
                    .unwrap();
                commit(&store, vec![put("a.json", "now a")]).unwrap();
                let before = seen(&disk);
                let at = disk.calls() + failing;
                disk.fail_when(move |call| {
                    let writes =
                        kind == ErrorKind::Other || !matches!(call.verb, DiskVerb::Read | DiskVerb::Lock);
                    let due = if one_call { call.number == at } else { call.number >= at };
                    (due && writes && call.path.starts_with(below)).then_some(kind)
                });
                let outcome = story(&store);
                let reached = disk.calls() >= at;
                let (texts, marks, _) = seen(&disk);
                let in_place = (&texts, &marks) != (&before.0, &before.1);
                disk.heal();
                if failing % 2 == 0 {
                    disk.power_cut();
                }
                let next = disk.process();
                drop(sim_store(&next).begin().unwrap());
                let what = format!("{name}, {kind:?} below {below} from call {failing}: {outcome:?}");
                match outcome {
                    Ok(()) => assert_ne!(seen(&disk), before, "{what}"),
                    Err(StoreError::Unsettled { .. }) => {
                        // Where nothing can be read either, nobody can tell.
                        assert!(!one_call && (in_place || kind == ErrorKind::Other), "{what}");
                        unsettled += 1;
                    }
                    Err(_) => {
                        assert_eq!(seen(&disk), before, "{what}");
                        refused += 1;
                    }
                }
                assert_eq!(sim_store(&next).verify(), [], "{what}");
                if !reached {
                    break;
                }
            }
        }
    }
    assert!(
        refused > 1_000 && unsettled > 10 && unsettled * 5 < refused,
        "{refused} refused, {unsettled} open"
    );
}

#[test]
fn a_folder_that_cannot_be_written_is_named() {
    let disk = SimDisk::new(1);
    let store = sim_store(&disk);
    commit(&store, vec![put("a.json", "old")]).unwrap();
    disk.fail_when(|call| {
        let creates = call.verb == DiskVerb::CreateNew && call.path.starts_with("/p/lane");
        creates.then_some(ErrorKind::PermissionDenied)
    });
    let error = commit(&store, vec![put("a.json", "new")]).unwrap_err();
    assert_eq!(error.to_string(), "cannot write /p/lane/a.json: permission denied");
    assert_eq!(error.hint(), "check that it is writable");
    assert_eq!(in_lane(&disk, "a.json").as_deref(), Some("old"));
}

#[test]
fn a_lock_that_cannot_be_had_is_an_error_and_writes_nothing() {
    let disk = SimDisk::new(1);
    let holder = sim_store(&disk);
    let other = sim_store(&disk.process());
    let held = holder.begin().unwrap();
    let error = other.begin().unwrap_err();
    assert!(matches!(error, StoreError::LockTimeout { waited, .. } if waited >= Duration::from_secs(5)));
    assert!(disk.peek_list(Path::new("/p/lane")).is_empty());
    drop(held);
    commit(&other, vec![put("a.json", "1")]).unwrap();
}

// Of sixteen busy writers some were refused: each waited a fixed time in all, whoever had the lock, and was told that
// one writer had had it for so long.
#[test]
fn many_writers_take_turns_and_one_that_hangs_is_given_up() {
    let machine = SimDisk::new(1);
    let store = |disk: &SimDisk| sim_store(disk).with_lock_deadline(Duration::from_millis(500));
    let jobs = (0..16).map(|writer| {
        let disk = machine.process();
        let process = disk.clone();
        let job: SimProcess<'_, Vec<StoreError>> = Box::new(move || {
            let mut refusals = Vec::new();
            for number in 0..8 {
                let at = format!("{writer}-{number}.json");
                let changed = store(&process).begin().and_then(|mut transaction| {
                    process.pause(Duration::from_millis(40));
                    transaction.apply(vec![put(&at, "1")], "a test", NOW)?;
                    transaction.finish()
                });
                refusals.extend(changed.err());
            }
            refusals
        });
        (disk, job)
    });
    let refusals: Vec<StoreError> = SimDisk::compete(jobs.collect()).into_iter().flatten().collect();
    assert!(refusals.is_empty(), "{} of 128 refused, one of them so: {}", refusals.len(), refusals[0]);

    let hanging = store(&machine);
    let _held = hanging.begin().unwrap();
    let error = store(&machine.process()).begin().unwrap_err();
    expect_test::expect![
        "cannot lock /p/lane: another process held it for 0.5 s without changing anything, so nothing was written"
    ]
    .assert_eq(&error.to_string());
}

#[test]
fn a_real_lock_excludes_and_leaves_no_file() {
    let temp = Temp::new();
    let store = temp.store();
    let held = store.begin().unwrap();
    assert!(matches!(temp.store().begin(), Err(StoreError::LockTimeout { .. })));
    drop(held);
    drop(temp.store().begin().unwrap());
    assert_eq!(fs::read_dir(temp.0.join("lane")).unwrap().count(), 0);
}

#[test]
fn a_young_lock_folder_of_the_old_scripts_is_waited_for_and_an_old_one_is_not() {
    let disk = SimDisk::new(1);
    let store = sim_store(&disk);
    disk.create_dir_all(Path::new("/p/lane/.index.lockdir")).unwrap();
    assert!(
        matches!(store.begin(), Err(StoreError::LockTimeout { what, .. }) if what.ends_with(".index.lockdir"))
    );
    disk.pause(Duration::from_secs(60));
    let transaction = store.begin().unwrap();
    assert!(matches!(transaction.warnings(), [Warning::StaleLockFolder { .. }]));
    assert!(disk.peek_list(Path::new("/p/lane")).iter().any(|entry| entry.name == ".index.lockdir"));
}

// A lock folder from a machine whose clock was ahead counted as young for ever, and nothing could be written.
#[cfg(unix)]
#[test]
fn a_lock_folder_from_the_future_does_not_block_for_ever() {
    use std::time::SystemTime;
    for (ahead_s, is_stale) in [(30, false), (3_600, true)] {
        let temp = Temp::new();
        let store = temp.store();
        let folder = temp.0.join("lane/.index.lockdir");
        fs::create_dir(&folder).unwrap();
        let stamp = SystemTime::now() + Duration::from_secs(ahead_s);
        fs::File::open(&folder).unwrap().set_modified(stamp).unwrap();
        match store.begin() {
            Ok(transaction) => {
                assert!(is_stale, "{ahead_s} s ahead");
                let expected = Warning::StaleLockFolder { path: folder, age: None };
                assert_eq!(transaction.warnings(), [expected]);
            }
            Err(error) => {
                assert!(!is_stale, "{ahead_s} s ahead: {error}");
                assert_eq!(error.hint(), format!("if no script is running, remove {}", folder.display()));
            }
        }
    }
}

#[cfg(unix)]
#[test]
fn links_and_other_things_in_the_way_are_refused() {
    use std::os::unix::fs::symlink;
    let temp = Temp::new();
    let store = temp.store();
    let (lane, outside) = (temp.0.join("lane"), temp.0.join("outside"));
    fs::create_dir_all(lane.join("folder.json")).unwrap();
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("a.json"), "outside").unwrap();
    symlink(outside.join("a.json"), lane.join("link.json")).unwrap();
    symlink(outside.join("none"), lane.join("dangling.json")).unwrap();
    symlink(&outside, lane.join("linked")).unwrap();
    for at in ["link.json", "dangling.json", "linked/a.json", "linked/deeper/a.json"] {
        let outcome = commit(&store, vec![put("good.json", "1"), put(at, "2")]);
        assert!(matches!(outcome, Err(StoreError::Symlink { .. })), "{at}: {outcome:?}");
    }
    for at in ["folder.json", "good.json/x.json"] {
        fs::write(lane.join("good.json"), "1").unwrap();
        let outcome = commit(&store, vec![put(at, "2")]);
        assert!(matches!(outcome, Err(StoreError::NotAFile { .. })), "{at}: {outcome:?}");
    }
    assert_eq!(fs::read_to_string(outside.join("a.json")).unwrap(), "outside");
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);
}

// A cloned repository could bring `.lorelane-journal` as a link to another lane's state folder: the next
// write took the receipts over and removed the journal and the blobs it found there.
#[cfg(unix)]
#[test]
fn a_journal_inside_the_lane_that_is_a_link_is_neither_read_nor_taken_over() {
    use std::os::unix::fs::symlink;
    let victim = Temp::new();
    commit(&victim.store(), vec![put("a.json", "private")]).unwrap();
    let folder = victim.0.join("state/x");
    let bytes = || ["journal", "blobs"].map(|name| fs::read(folder.join(name)).unwrap());
    let before = bytes();
    for linked in ["", "journal", "blobs"] {
        for state_is_writable in [true, false] {
            let temp = Temp::new();
            let store = temp.store();
            let fallback = temp.0.join("lane/.lorelane-journal");
            if linked.is_empty() {
                symlink(&folder, &fallback).unwrap();
            } else {
                fs::create_dir(&fallback).unwrap();
                symlink(folder.join(linked), fallback.join(linked)).unwrap();
            }
            if !state_is_writable {
                fs::write(temp.0.join("state"), "in the way").unwrap();
            }
            let case = format!("{linked:?}, {state_is_writable}");
            let outcome = commit(&store, vec![put("b.json", "1")]);
            assert!(matches!(outcome, Err(StoreError::Symlink { .. })), "{case}: {outcome:?}");
            assert!(matches!(store.changes(), Err(StoreError::Symlink { .. })), "{case}");
            assert!(matches!(store.changed_outside(), Err(StoreError::Symlink { .. })), "{case}");
            assert!(matches!(&store.verify()[..], [LogFault::Unreadable { .. }]), "{case}");
            assert!(fallback.is_symlink() || fallback.join(linked).is_symlink(), "{case}");
            assert_eq!(bytes(), before, "{case}");
            assert!(!temp.0.join("lane/b.json").exists(), "{case}");
        }
    }
}

#[cfg(unix)]
#[test]
fn a_revision_keeps_the_mode_and_undoing_a_removal_gives_it_back() {
    use std::os::unix::fs::PermissionsExt;
    let temp = Temp::new();
    let store = temp.store();
    let file = temp.0.join("lane/a.json");
    let mode = |file: &Path| fs::metadata(file).unwrap().permissions().mode() & 0o777;
    commit(&store, vec![put("a.json", "1")]).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
    commit(&store, vec![put("a.json", "2")]).unwrap();
    assert_eq!((fs::read_to_string(&file).unwrap().as_str(), mode(&file)), ("2", 0o640));
    commit(&store, vec![Edit::Remove { path: path("a.json") }]).unwrap();
    undo(&store).unwrap();
    assert_eq!((fs::read_to_string(&file).unwrap().as_str(), mode(&file)), ("2", 0o640));
}

#[test]
fn a_torn_end_of_the_journal_is_cut_and_the_log_ignores_it() {
    let disk = SimDisk::new(1);
    let store = sim_store(&disk);
    commit(&store, vec![put("a.json", "1")]).unwrap();
    for torn in [&b"plan 2 170"[..], b"done", b"\0\0\0\0\0\n", b"\0\0\0"] {
        disk.append(Path::new("/s/lane/journal"), torn).unwrap();
        assert_eq!(store.changes().unwrap().len(), 1);
        let transaction = store.begin().unwrap();
        assert!(matches!(transaction.warnings(), [Warning::TornJournal { .. }]), "{torn:?}");
        drop(transaction);
        assert_eq!(store.verify(), []);
    }
}

#[test]
fn any_flipped_byte_of_the_journal_is_named() {
    let disk = SimDisk::new(1);
    let store = sim_store(&disk);
    commit(&store, vec![put("a.json", "1"), mark("{}")]).unwrap();
    undo(&store).unwrap();
    let journal = Path::new("/s/lane/journal");
    let whole = disk.peek(journal).unwrap();
    for (at, byte) in whole.iter().enumerate() {
        disk.overwrite_at(journal, at as u64, &[byte ^ 1]).unwrap();
        let line = whole[..at].iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end as u64 + 1);
        let faults = store.verify();
        let named = matches!(&faults[..],
            [LogFault::BrokenChain { offset, .. } | LogFault::TornEnd { offset, .. }, ..] if *offset == line);
        assert!(named, "byte {at}: {faults:?}");
        disk.overwrite_at(journal, at as u64, &[*byte]).unwrap();
    }
    assert_eq!(store.verify(), []);
}

#[test]
fn without_a_state_folder_the_journal_lives_in_the_lane_until_it_can_move() {
    let disk = SimDisk::new(1);
    let store = sim_store(&disk);
    disk.fail_when(|call| {
        let writes = call.verb != DiskVerb::Read && call.path.starts_with("/s");
        writes.then_some(ErrorKind::ReadOnlyFilesystem)
    });
    for content in ["1", "2"] {
        let mut transaction = store.begin().unwrap();
        assert!(matches!(transaction.warnings(), [Warning::FallbackJournal { .. }]));
        transaction.apply(vec![put("a.json", content)], "in a sandbox", NOW).unwrap();
    }
    undo(&store).unwrap();
    assert_eq!(in_lane(&disk, "a.json").as_deref(), Some("1"));
    disk.heal();

    let transaction = store.begin().unwrap();
    assert!(transaction.warnings().contains(&Warning::MovedOver { receipts: 3 }));
    drop(transaction);
    assert!(disk.peek_list(Path::new("/p/lane")).iter().all(|entry| entry.name == "a.json"));
    let told: Vec<_> =
        store.changes().unwrap().into_iter().map(|e| (e.number, e.undoes, e.outcome)).collect();
    assert_eq!(
        told,
        [(1, None, ChangeState::Done), (2, None, ChangeState::Done), (3, Some(2), ChangeState::Done)]
    );
    undo(&store).unwrap();
    assert_eq!(in_lane(&disk, "a.json"), None);
    assert_eq!(store.verify(), []);
}

// A clone brought a journal inside the lane, and its receipts became this user's (issue 10).
#[test]
fn a_journal_inside_the_lane_that_came_with_a_repository_is_not_taken_over() {
    let read_only = |call: &DiskCall<'_>| {
        let writes = call.verb != DiskVerb::Read && call.path.starts_with("/s");
        writes.then_some(ErrorKind::ReadOnlyFilesystem)
    };
    let theirs = SimDisk::new(1);
    theirs.fail_when(read_only);
    commit(&sim_store(&theirs), vec![put("a.json", "theirs")]).unwrap();
    let fallback = Path::new("/p/lane/.lorelane-journal");

    let disk = SimDisk::new(1);
    disk.create_dir_all(fallback).unwrap();
    let cloned = theirs.peek_list(fallback);
    assert!(cloned.len() > 2, "{cloned:?}");
    for listed in &cloned {
        let file = fallback.join(&listed.name);
        disk.append(&file, &theirs.peek(&file).unwrap()).unwrap();
    }
    let store = sim_store(&disk);
    commit(&store, vec![put("b.json", "mine")]).unwrap();
    assert_eq!(store.changes().unwrap().len(), 1);
    assert_eq!(store.verify(), []);
    assert_eq!(store.foreign_journal().unwrap().as_deref(), Some(fallback));
    assert_eq!(disk.peek_list(fallback).len(), cloned.len(), "it is left alone");
    disk.fail_when(read_only);
    let refused = commit(&store, vec![put("b.json", "sheltered")]);
    assert!(matches!(refused, Err(StoreError::ForeignJournal { .. })), "{refused:?}");
}

// Each journal counts for itself, but "undone" was looked up by number across both, and a change whose
// `done` was not said yet could be undone although the dry run denied it.
#[test]
fn what_is_undone_is_told_per_journal_and_as_undo_does_it() {
    let disk = SimDisk::new(1);
    let store = sim_store(&disk);
    commit(&store, vec![put("a.json", "1")]).unwrap();
    commit(&store, vec![put("a.json", "2")]).unwrap();
    undo(&store).unwrap();
    disk.fail_when(|call| {
        let writes = call.verb != DiskVerb::Read && call.path.starts_with("/s");
        writes.then_some(ErrorKind::ReadOnlyFilesystem)
    });
    commit(&store, vec![put("b.json", "1")]).unwrap();
    let mut transaction = store.begin().unwrap();
    transaction.apply(vec![put("b.json", "2")], "not called done", NOW).unwrap();
    drop(transaction);

    let told =
        || store.changes().unwrap().into_iter().map(|e| (e.number, e.undoes, e.undone)).collect::<Vec<_>>();
    let in_state = [(1, None, false), (2, None, true), (3, Some(2), false)];
    let sheltered = [(1, None, false), (2, None, false)];
    assert_eq!(told(), [&in_state[..], &sheltered[..]].concat());
    assert_eq!(store.changes().unwrap()[2].undid.as_deref(), Some("a test"));
    assert_eq!(store.next_undo().unwrap().entry.unwrap().because.as_deref(), Some("not called done"));
    undo(&store).unwrap();
    assert_eq!(in_lane(&disk, "b.json").as_deref(), Some("1"));
    assert_eq!(store.next_undo().unwrap().entry.unwrap().number, 1);
    disk.heal();
    for left in [Some(1), None] {
        undo(&store).unwrap();
        assert_eq!(store.next_undo().unwrap().entry.map(|entry| entry.number), left);
    }
}

#[test]
fn the_end_of_a_long_log_costs_as_little_as_that_of_a_short_one() {
    let disk = SimDisk::new(1);
    let store = sim_store(&disk);
    let mut cost = Vec::new();
    for count in 1..=30 {
        commit(&store, vec![put("a.json", &count.to_string())]).unwrap();
        let before = disk.calls();
        let recent = store.recent(1).unwrap();
        cost.push(disk.calls() - before);
        assert_eq!((recent.total, recent.entries[0].number), (count, count as u64));
    }
    assert!(cost.iter().all(|calls| *calls == cost[0]), "{cost:?}");
    let numbers: Vec<u64> = store.recent(3).unwrap().entries.iter().map(|entry| entry.number).collect();
    assert_eq!(numbers, [30, 29, 28]);
}

#[test]
fn a_file_changed_outside_is_reported_and_not_undone() {
    let disk = SimDisk::new(1);
    let store = sim_store(&disk);
    assert!(matches!(undo(&store), Err(StoreError::NothingToUndo)));
    commit(&store, vec![put("a.json", "ours")]).unwrap();
    disk.append(Path::new("/p/lane/a.json"), b" and theirs").unwrap();
    assert_eq!(store.changed_outside().unwrap(), [path("a.json")]);
    assert!(matches!(undo(&store), Err(StoreError::ChangedOutside { number: 1, .. })));
    assert_eq!(in_lane(&disk, "a.json").as_deref(), Some("ours and theirs"));
}

// A memory that somebody deleted blocked every older undo.
#[test]
fn an_undo_passes_over_changes_of_deleted_files() {
    let disk = SimDisk::new(1);
    let store = sim_store(&disk);
    commit(&store, vec![put("a.json", "1")]).unwrap();
    commit(&store, vec![put("b.json", "1")]).unwrap();
    commit(&store, vec![put("a.json", "2")]).unwrap();
    commit(&store, vec![put("b.json", "2"), put("c.json", "1")]).unwrap();
    disk.remove_file(Path::new("/p/lane/b.json")).unwrap();
    let outside = store.outside().unwrap();
    assert_eq!((outside.changed, outside.deleted), (vec![], [(path("b.json"), NOW)].into()));

    // What is left is undone in its order; of a change that touched a deleted file nothing is.
    for expected in [3, 1] {
        let upcoming = store.next_undo().unwrap();
        assert_eq!(upcoming.entry.map(|entry| entry.number), Some(expected));
        let mut transaction = store.begin().unwrap();
        let receipt = transaction.undo(NOW).unwrap();
        transaction.finish().unwrap();
        assert_eq!(receipt.warnings, upcoming.passed_over);
        assert_eq!(receipt.warnings[0], Warning::PassedOver { number: 4, path: path("b.json") });
    }
    assert_eq!((in_lane(&disk, "a.json"), in_lane(&disk, "c.json").as_deref()), (None, Some("1")));
    let error = undo(&store).unwrap_err();
    assert!(matches!(error, StoreError::OnlyDeleted { .. }), "{error}");
    assert_eq!(store.last_written(&path("b.json")).unwrap().as_deref(), Some(b"2".as_slice()));
}

// `undo --dry-run` promised what `undo` refused.
#[test]
fn a_preview_of_an_undo_says_what_the_undo_says() {
    type Harm = fn(&SimDisk);
    let harms: [(&str, Harm); 5] = [
        ("none", |_| {}),
        ("changed", |disk| disk.append(Path::new("/p/lane/a.json"), b"!").unwrap()),
        ("deleted", |disk| disk.remove_file(Path::new("/p/lane/a.json")).unwrap()),
        ("unmarked", |disk| disk.truncate(Path::new("/p/.lorelane/marks.jsonl"), 0).unwrap()),
        ("purged", |disk| {
            let zeroes = vec![0; disk.peek(Path::new("/s/lane/blobs")).unwrap().len()];
            disk.overwrite_at(Path::new("/s/lane/blobs"), 0, &zeroes).unwrap();
        }),
    ];
    for (name, harm) in harms {
        let disk = SimDisk::new(1);
        let store = sim_store(&disk);
        commit(&store, vec![put("b.json", "1")]).unwrap();
        commit(&store, vec![put("a.json", "1"), mark("{\"n\":1}")]).unwrap();
        // A third change was interrupted: whoever writes next takes it back first.
        let dying = disk.process();
        disk.fail_when(|call| (call.verb == DiskVerb::CreateNew).then_some(ErrorKind::Other));
        commit(&sim_store(&dying), vec![put("c.json", "1")]).unwrap_err();
        disk.heal();
        let journal = disk.peek(Path::new("/s/lane/journal")).unwrap();
        let last = journal[..journal.len() - 1].iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
        disk.truncate(Path::new("/s/lane/journal"), last as u64).unwrap();
        harm(&disk);
        let upcoming = store.next_undo().unwrap();
        let promised = match (&upcoming.refused, &upcoming.entry) {
            (Some(refused), _) => Err(refused.to_string()),
            (None, entry) => Ok(entry.as_ref().map(|entry| entry.number)),
        };
        let undone = undo(&store).map_err(|error| error.to_string());
        let undone = undone.map(|()| store.changes().unwrap().last().unwrap().undoes);
        assert_eq!(promised, undone, "{name}");
    }
}

// A journal that was cut at the end of a line, emptied or deleted was called whole.
#[test]
fn a_journal_without_its_end_is_named() {
    let whole = |disk: &SimDisk| disk.peek(Path::new("/s/lane/journal")).unwrap();
    let filled = || {
        let disk = SimDisk::new(1);
        for number in 0..3 {
            commit(&sim_store(&disk), vec![put("a.json", &number.to_string())]).unwrap();
        }
        disk
    };
    let text = whole(&filled());
    let ends: Vec<usize> = (0..text.len()).filter(|at| *at == 0 || text[at - 1] == b'\n').collect();
    // The last line is a `done`, which a crash may take along.
    let (last, cuts) = ends.split_last().unwrap();
    for cut in cuts {
        let disk = filled();
        disk.truncate(Path::new("/s/lane/journal"), *cut as u64).unwrap();
        let cut_off = [LogFault::Cut { journal: "/s/lane/journal".into() }];
        assert_eq!(sim_store(&disk).verify(), cut_off, "cut at {cut}");
        // A change after that does not hide it.
        commit(&sim_store(&disk), vec![put("b.json", "1")]).unwrap();
        assert_eq!(sim_store(&disk).verify(), cut_off, "cut at {cut}, and written since");
    }
    let disk = filled();
    disk.truncate(Path::new("/s/lane/journal"), *last as u64).unwrap();
    assert_eq!(sim_store(&disk).verify(), []);

    for gone in [&["journal"] as &[&str], &["journal", "head"]] {
        let disk = filled();
        gone.iter().for_each(|name| disk.remove_file(&Path::new("/s/lane").join(name)).unwrap());
        assert_eq!(
            sim_store(&disk).verify(),
            [LogFault::Cut { journal: "/s/lane/journal".into() }],
            "{gone:?}"
        );
    }
}

// One flipped byte in the file that names the newest line, and a journal that was cut passed as whole.
#[test]
fn a_damaged_name_of_the_newest_line_is_a_fault_and_stops_no_writer() {
    let head = Path::new("/s/lane/head");
    let disk = SimDisk::new(1);
    let store = sim_store(&disk);
    commit(&store, vec![put("a.json", "1")]).unwrap();
    let unreadable = [LogFault::UnreadableHead { head: head.into() }];
    for at in 0..disk.peek(head).unwrap().len() {
        let byte = disk.peek(head).unwrap()[at];
        disk.overwrite_at(head, at as u64, &[byte ^ 1]).unwrap();
        assert_eq!(store.verify(), unreadable, "byte {at}");
        let mut transaction = store.begin().unwrap();
        assert!(matches!(transaction.warnings(), [Warning::UnreadableHead { .. }]), "byte {at}");
        transaction.apply(vec![put("a.json", &format!("{at}"))], "a test", NOW).unwrap();
        transaction.finish().unwrap();
        assert_eq!(store.verify(), [], "byte {at}, after a change");
    }
    // One that cannot even be opened.
    disk.fail_when(move |call| (call.path == head).then_some(ErrorKind::Other));
    assert_eq!(store.verify(), unreadable);
    commit(&store, vec![put("a.json", "2")]).unwrap();
    disk.heal();
    assert_eq!(store.verify(), []);
    // The next change names its line again.
    commit(&store, vec![put("a.json", "3")]).unwrap();
    disk.truncate(Path::new("/s/lane/journal"), 0).unwrap();
    assert_eq!(store.verify(), [LogFault::Cut { journal: "/s/lane/journal".into() }]);
}

#[test]
fn an_interrupted_change_is_taken_back_where_a_person_has_gone_on() {
    let disk = SimDisk::new(1);
    commit(&sim_store(&disk), vec![put("a.json", "old a"), put("b.json", "old b")]).unwrap();
    // Dies between the two renames: the call that would rename the second file fails, as does what follows.
    let dying = disk.process();
    let mut dead = false;
    disk.fail_when(move |call| {
        dead |= call.verb == DiskVerb::Rename && call.path.ends_with("b.json");
        dead.then_some(ErrorKind::Other)
    });
    let outcome = commit(&sim_store(&dying), vec![put("a.json", "new a"), put("b.json", "new b")]);
    assert!(matches!(outcome, Err(StoreError::Unsettled { number: 2, .. })));
    disk.heal();
    disk.append(Path::new("/p/lane/b.json"), b", edited").unwrap();

    let store = sim_store(&disk);
    let transaction = store.begin().unwrap();
    assert!(matches!(transaction.warnings(), [Warning::TakenBack { number: 2, .. }]));
    assert_eq!(
        transaction.recovered(),
        [ChangeTarget::Lane(path("a.json")), ChangeTarget::Lane(path("b.json"))]
    );
    drop(transaction);
    assert_eq!(in_lane(&disk, "a.json").as_deref(), Some("old a"));
    assert_eq!(in_lane(&disk, "b.json").as_deref(), Some("old b, edited"));
    assert_eq!(disk.peek_list(Path::new("/p/lane")).len(), 2);
}

#[test]
fn purging_leaves_no_byte_and_a_chain_that_verifies() {
    let disk = SimDisk::new(1);
    let store = sim_store(&disk);
    commit(&store, vec![put("secrets/token.json", "hunter2")]).unwrap();
    commit(&store, vec![put("a.json", "kept")]).unwrap();
    commit(&store, vec![Edit::Remove { path: path("secrets/token.json") }]).unwrap();
    store.begin().unwrap().erase_from_log(&unwanted()).unwrap();
    let pack = String::from_utf8_lossy(&disk.peek(Path::new("/s/lane/blobs")).unwrap()).into_owned();
    assert!(!pack.contains("hunter2") && !pack.contains("token.json") && pack.contains("kept"));
    assert_eq!(store.verify(), []);
    assert_eq!(store.changes().unwrap()[0].changes[0].place, None);
    assert!(matches!(undo(&store), Err(StoreError::Purged { number: 3 })));
}

// A writer that dies between blobs and journal leaves bytes that no line refers to.
#[test]
fn purging_overwrites_what_a_dead_writer_left_in_the_pack() {
    let disk = SimDisk::new(1);
    let store = sim_store(&disk);
    commit(&store, vec![put("a.json", "kept")]).unwrap();
    let pack = Path::new("/s/lane/blobs");
    disk.append(pack, b"hunter2 before its line").unwrap();
    commit(&store, vec![put("b.json", "kept too")]).unwrap();
    disk.append(pack, b"hunter2 again").unwrap();
    store.begin().unwrap().erase_from_log(&unwanted()).unwrap();
    let left = String::from_utf8_lossy(&disk.peek(pack).unwrap()).into_owned();
    assert!(!left.contains("hunter2") && left.contains("kept too"), "{left}");
    assert_eq!(store.verify(), []);
    undo(&store).unwrap();
    assert_eq!(in_lane(&disk, "b.json"), None);
}

#[test]
fn purging_spares_what_came_to_a_path_later() {
    let disk = SimDisk::new(1);
    let store = sim_store(&disk);
    commit(&store, vec![put("old.json", "moved away")]).unwrap();
    commit(&store, vec![Edit::Remove { path: path("old.json") }, put("secrets/new.json", "moved away")])
        .unwrap();
    commit(&store, vec![put("old.json", "a newcomer")]).unwrap();
    store.begin().unwrap().erase_from_log(&unwanted()).unwrap();
    let pack = String::from_utf8_lossy(&disk.peek(Path::new("/s/lane/blobs")).unwrap()).into_owned();
    assert!(!pack.contains("moved away") && pack.contains("a newcomer"), "{pack}");
    undo(&store).unwrap();
    assert_eq!(in_lane(&disk, "old.json"), None);
    assert!(matches!(undo(&store), Err(StoreError::Purged { number: 2 })));
}

#[test]
fn marks_end_in_a_line_end_and_survive_an_editor_that_drops_it() {
    let disk = SimDisk::new(1);
    let store = sim_store(&disk);
    let marks = Path::new("/p/.lorelane/marks.jsonl");
    commit(&store, vec![mark("{\"n\":1}")]).unwrap();
    disk.truncate(marks, 7).unwrap();
    commit(&store, vec![mark("{\"n\":2}")]).unwrap();
    disk.append(marks, b"{\"n\":3,\"torn").unwrap();
    commit(&store, vec![mark("{\"n\":4}")]).unwrap();
    assert_eq!(disk.peek(marks).unwrap(), b"{\"n\":1}\n{\"n\":2}\n{\"n\":4}\n");
}

// A pin whose line had lost its end and gained a blank was taken for torn and deleted without a word.
#[test]
fn of_marks_that_a_crash_cut_short_none_stays() {
    let lines = "{\"n\":2}\n{\"n\":3}\n";
    for left in 1..lines.len() - 1 {
        let disk = SimDisk::new(1);
        let store = sim_store(&disk);
        commit(&store, vec![mark("{\"n\":1}")]).unwrap();
        let dying = disk.process();
        disk.fail_when(move |call| {
            (call.verb == DiskVerb::Append && call.path.ends_with("marks.jsonl")).then_some(ErrorKind::Other)
        });
        let outcome = commit(&sim_store(&dying), vec![mark(lines)]);
        disk.heal();
        outcome.unwrap_err();
        // As if the process had died there: the journal without its last line, the marks with a part.
        let journal = disk.peek(Path::new("/s/lane/journal")).unwrap();
        let last = journal[..journal.len() - 1].iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
        disk.truncate(Path::new("/s/lane/journal"), last as u64).unwrap();
        disk.append(Path::new("/p/.lorelane/marks.jsonl"), &lines.as_bytes()[..left]).unwrap();
        drop(store.begin().unwrap());
        let marks = disk.peek(Path::new("/p/.lorelane/marks.jsonl")).unwrap();
        assert_eq!(String::from_utf8_lossy(&marks), "{\"n\":1}\n", "{left} bytes");
    }
}

#[test]
fn only_what_a_crash_left_is_cut_from_the_marks_and_that_is_said() {
    let table: [(&[u8], bool); 11] = [
        (b"{\"n\":2}", false),
        (b"{\"n\":2} ", false),
        (b"{\"n\":2}\r", false),
        (b"{\"n\":2} # why it is pinned", false),
        (b"# a comment", false),
        (b"<<<<<<< HEAD", false),
        (b"\xff", false),
        (b"{", true),
        (b"{\"n\":2,\"torn", true),
        (b"{\"n\":{\"brace in a text\":\"\\\"}}", true),
        (b"\0\0\0", true),
    ];
    for (last, is_torn) in table {
        for undoes in [false, true] {
            let disk = SimDisk::new(1);
            let store = sim_store(&disk);
            let marks = Path::new("/p/.lorelane/marks.jsonl");
            commit(&store, vec![mark("{\"n\":1}")]).unwrap();
            disk.append(marks, last).unwrap();
            let mut transaction = store.begin().unwrap();
            let receipt = match undoes {
                true => transaction.undo(NOW).unwrap(),
                false => transaction.apply(vec![mark("{\"n\":3}")], "a test", NOW).unwrap(),
            };
            let kept = if is_torn { String::new() } else { format!("{}\n", last.escape_ascii()) };
            let expected = match undoes {
                true => kept,
                false => format!("{{\\\"n\\\":1}}\n{kept}{{\\\"n\\\":3}}\n"),
            };
            let lines = disk.peek(marks).unwrap_or_default();
            let found: String = lines
                .split_inclusive(|byte| *byte == b'\n')
                .map(|l| format!("{}\n", l[..l.len() - 1].escape_ascii()))
                .collect();
            let case = format!("{} {undoes}", last.escape_ascii());
            assert_eq!(found, expected, "{case}");
            let bytes = last.len();
            let warned = receipt.warnings == [Warning::TornMarks { path: marks.to_owned(), bytes }];
            assert_eq!(warned, is_torn, "{case}: {:?}", receipt.warnings);
        }
    }
}

fn any_edit() -> impl Strategy<Value = Edit> {
    let at = prop::sample::select(vec!["a.json", "b/c.json", "b/d.json"]).prop_map(path);
    let bytes = prop::collection::vec(any::<u8>(), 0..4);
    prop_oneof![
        3 => (at.clone(), bytes.clone()).prop_map(|(path, bytes)| Edit::Put { path, bytes }),
        1 => at.clone().prop_map(|path| Edit::Remove { path }),
        1 => (at, bytes).prop_map(|(path, bytes)| Edit::Append { path, bytes }),
        1 => (0..3u8).prop_map(|n| mark(&format!("{{\"n\":{n}}}"))),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn as_many_undos_as_changes_give_the_bytes_from_before(
        changes in prop::collection::vec(prop::collection::vec(any_edit(), 1..4), 1..8),
    ) {
        let disk = SimDisk::new(1);
        let store = sim_store(&disk);
        commit(&store, vec![put("a.json", "first"), mark("{\"first\":true}")]).unwrap();
        let seen = || {
            let files = ["/p/lane/a.json", "/p/lane/b/c.json", "/p/lane/b/d.json", "/p/.lorelane/marks.jsonl"];
            files.map(|file| disk.peek(Path::new(file)))
        };
        let mut before = Vec::new();
        for edits in changes {
            let now = seen();
            if commit(&store, edits).unwrap() > 0 {
                before.push(now);
            }
        }
        for expected in before.into_iter().rev() {
            undo(&store).unwrap();
            prop_assert_eq!(seen(), expected);
        }
        prop_assert_eq!(store.verify(), []);
    }
}

#[test]
fn a_change_of_a_file_that_is_not_what_it_was_planned_on_is_refused() {
    let disk = SimDisk::new(1);
    let store = sim_store(&disk);
    commit(&store, vec![put("a.json", "1")]).unwrap();
    let expect = |at: &str, seen: Option<&str>| Edit::Expect { path: path(at), bytes: seen.map(Into::into) };
    for (at, seen) in [("a.json", None), ("a.json", Some("0")), ("b.json", Some("1"))] {
        let error =
            commit(&store, vec![put("c.json", "2"), expect(at, seen), put(at, "2")]).expect_err("outdated");
        assert!(matches!(error, StoreError::Outdated { .. }), "{error}");
        assert_eq!(error.hint(), "nothing was changed; try again");
    }
    assert_eq!((in_lane(&disk, "a.json").as_deref(), in_lane(&disk, "c.json")), (Some("1"), None));
    commit(&store, vec![expect("a.json", Some("1")), put("a.json", "2"), expect("b.json", None)]).unwrap();
    assert_eq!(in_lane(&disk, "a.json").as_deref(), Some("2"));
}

#[test]
fn a_lane_in_a_folder_of_another_leaves_the_journal_there_alone() {
    let disk = SimDisk::new(1);
    disk.fail_when(|call| {
        let writes = call.verb != DiskVerb::Read && call.path.starts_with("/s");
        writes.then_some(ErrorKind::ReadOnlyFilesystem)
    });
    commit(&sim_store(&disk), vec![put("a.json", "1")]).unwrap();
    disk.heal();
    let guest = StoreFolders { state: "/s/guest".into(), ..sim_home() };
    let guest = Store::new(Arc::new(disk.clone()), guest).of_another_program();
    commit(&guest, vec![put("b.md", "1")]).unwrap();
    assert_eq!(guest.recent(9).unwrap().total, 1, "only its own change");
    assert!(!disk.peek_list(Path::new("/p/lane/.lorelane-journal")).is_empty());
    let store = sim_store(&disk);
    assert!(matches!(store.begin().unwrap().warnings(), [Warning::MovedOver { receipts: 1 }]));
}
