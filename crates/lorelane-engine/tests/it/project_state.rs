//! Which state is a project's own, whatever crashes while that is settled.

use crate::index::create;
use lorelane_core::change::Plan;
use lorelane_core::path::RelPath;
use lorelane_core::time::Timestamp;
use lorelane_engine::backend::{Edit, LogFault, Transaction};
use lorelane_engine::disk::Disk;
use lorelane_engine::disk::sim::{Crash, CrashPoint, DiskVerb, SimDisk, SimProcess};
use lorelane_engine::env::{Env, Folders};
use lorelane_engine::store::{Store, StoreFolders};
use lorelane_engine::workspace::{Failure, ProjectLocation, Workspace};
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const NOW: Timestamp = Timestamp(1_772_000_000);
const PROJECT: &str = "/p";
const GIT_ID: &str = "/p/.git/lorelane-id";
const OWN_ID: &str = "/p/.lorelane/id";

fn project(seed: u64, git: bool) -> SimDisk {
    let disk = SimDisk::new(seed);
    put_project(&disk, PROJECT, git);
    disk
}

/// A project as it is on the disk, not only in its cache.
fn put_project(disk: &SimDisk, root: &str, git: bool) {
    folder(disk, &format!("{root}/.claude/memory/decisions"));
    if git {
        folder(disk, &format!("{root}/.git/objects"));
        file(disk, &format!("{root}/.git/HEAD"), "ref: refs/heads/main\n");
    }
}

fn folder(disk: &SimDisk, path: &str) {
    disk.create_dir_all(Path::new(path)).unwrap();
    Path::new(path).ancestors().for_each(|folder| disk.sync_dir(folder).unwrap());
}

fn file(disk: &SimDisk, path: &str, text: &str) {
    folder(disk, Path::new(path).parent().unwrap().to_str().unwrap());
    disk.create_new(Path::new(path), text.as_bytes(), None).unwrap();
    disk.sync_file(Path::new(path)).unwrap();
    disk.sync_dir(Path::new(path).parent().unwrap()).unwrap();
}

fn open(disk: &SimDisk, root: &str) -> Result<Workspace, Failure> {
    let vars = BTreeMap::from([("LORELANE_HOME".to_owned(), "/h".to_owned())]);
    let env = Env { now: NOW, cwd: root.into(), vars };
    let located = ProjectLocation {
        project: root.into(),
        lane: lane(root),
        root_from_project: ".claude/memory".to_owned(),
        has_notes: false,
    };
    Workspace::open_on(Arc::new(disk.clone()), &env, located)
}

fn lane(root: &str) -> PathBuf {
    Path::new(root).join(".claude/memory")
}

fn commit(disk: &SimDisk, root: &str, name: &str) -> Result<(), Failure> {
    let Plan { changes, .. } = create(name);
    open(disk, root)?.commit(&Plan { changes, because: name.to_owned() }).map(drop)
}

/// The reasons of all changes, oldest first. The journal that has them is whole.
fn log(disk: &SimDisk, root: &str) -> Vec<String> {
    let mut workspace = open(disk, root).unwrap();
    // A `done` and a head that were not synced.
    let is_usual =
        |fault: &LogFault| matches!(fault, LogFault::TornEnd { .. } | LogFault::UnreadableHead { .. });
    assert!(
        workspace.changes().verify_logs().iter().all(is_usual),
        "{:?}",
        workspace.changes().verify_logs()
    );
    let (logged, _) = workspace.changes().recent(usize::MAX).unwrap();
    logged.into_iter().rev().filter_map(|logged| logged.entry.because).collect()
}

fn names(disk: &SimDisk, folder: &str) -> Vec<String> {
    disk.peek_list(Path::new(folder)).into_iter().map(|listed| listed.name).collect()
}

fn text(disk: &SimDisk, path: &str) -> Option<String> {
    disk.peek(Path::new(path)).map(|bytes| String::from_utf8(bytes).unwrap())
}

/// Makes a change that dies at each of its calls in turn, in worlds of their own, and looks what is left.
fn crash_everywhere(
    prepare: impl Fn(u64) -> SimDisk,
    work: impl Fn(&SimDisk) -> Result<(), Failure>,
    check: impl Fn(&SimDisk, Crash),
) {
    for crash in [Crash::Kill, Crash::PowerCut] {
        for call in 1.. {
            let disk = prepare(call);
            let dying = disk.process();
            disk.crash_at(CrashPoint::Call(disk.calls() + call), crash);
            let done = work(&dying);
            if dying.alive() {
                done.unwrap();
                assert!(call > 20, "{call} calls are too few");
                break;
            }
            disk.heal();
            check(&disk.process(), crash);
        }
    }
}

#[test]
fn what_was_logged_under_a_new_id_is_found_after_a_power_cut() {
    for git in [false, true] {
        for seed in 0..100 {
            let disk = project(seed, git);
            commit(&disk, PROJECT, "first").unwrap();
            assert!(text(&disk, if git { GIT_ID } else { OWN_ID }).is_some_and(|id| id.len() == 33));
            disk.power_cut();
            assert_eq!(log(&disk.process(), PROJECT), ["first"], "git {git}, seed {seed}");
        }
    }
}

#[test]
fn a_crash_while_the_id_is_made_keeps_nobody_from_writing() {
    for git in [false, true] {
        crash_everywhere(
            |seed| project(seed, git),
            |disk| commit(disk, PROJECT, "first"),
            |disk, _| {
                commit(disk, PROJECT, "second").unwrap();
                commit(disk, PROJECT, "third").unwrap();
                assert!(log(disk, PROJECT).ends_with(&["second".to_owned(), "third".to_owned()]));
                let id = text(disk, if git { GIT_ID } else { OWN_ID }).unwrap();
                assert!(names(disk, "/h/state/projects").contains(&id.trim().to_owned()));
                assert_eq!(names(disk, "/h/state/lanes").len(), 1);
            },
        );
    }
}

/// The folder in which the version before kept what it had of the project, and that of its drafts.
fn former() -> (String, String) {
    let key = Folders::lane_key(&lane(PROJECT));
    (format!("/h/state/lanes/{key}"), format!("/h/state/drafts/{key}"))
}

/// A project that the version before knew.
fn former_project(seed: u64, git: bool) -> SimDisk {
    let disk = project(seed, git);
    let (folder, drafts) = former();
    log_formerly(&disk, &folder, "old");
    file(&disk, &format!("{folder}/ledger.jsonl"), "a line\n");
    file(&disk, &format!("{folder}/captures/s.json"), "{}");
    file(&disk, &format!("{drafts}/d.json"), "draft");
    disk
}

fn log_formerly(disk: &SimDisk, folder: &str, name: &str) {
    let home = StoreFolders { lane: lane(PROJECT), marks: "/p/.lorelane".into(), state: folder.into() };
    let store = Store::new(Arc::new(disk.clone()), home);
    let path = RelPath::parse(&format!("decisions/{name}.json")).unwrap();
    let mut writer = store.begin().unwrap();
    writer.apply(vec![Edit::Put { path, bytes: b"{}".to_vec() }], name, NOW).unwrap();
    writer.finish().unwrap();
}

#[test]
fn what_the_version_before_kept_is_read_where_it_is_and_moved_by_the_first_writer() {
    for git in [false, true] {
        let disk = former_project(1, git);
        assert_eq!(log(&disk, PROJECT), ["old"]);
        assert_eq!(
            open(&disk, PROJECT).unwrap().files().captures().folder(),
            Path::new(&former().0).join("captures")
        );
        assert_eq!(names(&disk, "/h/state"), ["drafts", "lanes"], "a reader makes nothing");
        commit(&disk, PROJECT, "new").unwrap();
        assert_eq!(log(&disk, PROJECT), ["old", "new"]);
        let [id] = names(&disk, "/h/state/projects").try_into().unwrap();
        let own = format!("/h/state/projects/{id}");
        assert_eq!(names(&disk, &own), ["captures", "drafts", "ledger.jsonl", "origin"]);
        let [journal] = names(&disk, "/h/state/lanes").try_into().unwrap();
        assert!(journal.starts_with(&id), "{journal}");
        open(&disk, PROJECT).unwrap().changes().undo().unwrap();
        open(&disk, PROJECT).unwrap().changes().undo().unwrap();
        assert_eq!(names(&disk, "/p/.claude/memory/decisions"), [""; 0]);
    }
}

#[test]
fn a_crash_while_the_state_is_taken_over_loses_no_journal() {
    for git in [false, true] {
        crash_everywhere(
            |seed| former_project(seed, git),
            |disk| commit(disk, PROJECT, "new"),
            |disk, crash| {
                assert_eq!(log(disk, PROJECT)[0], "old");
                commit(disk, PROJECT, "next").unwrap();
                let logged = log(disk, PROJECT);
                assert_eq!((logged[0].as_str(), logged.last().unwrap().as_str()), ("old", "next"));
                if crash == Crash::PowerCut {
                    return;
                }
                let id = text(disk, if git { GIT_ID } else { OWN_ID }).unwrap();
                let own =
                    |name: &str| text(disk, &format!("/h/state/projects/{}/{name}", id.trim())).unwrap();
                let kept = [own("ledger.jsonl"), own("captures/s.json"), own("drafts/d.json")];
                assert_eq!(kept, ["a line\n", "{}", "draft"]);
                assert_eq!(names(disk, "/h/state/lanes").len(), 1);
            },
        );
    }
}

// Two work trees had a ledger and captures each, and an older version may be used again.
#[test]
fn what_is_in_the_way_of_what_was_kept_is_kept_too() {
    let disk = former_project(1, true);
    commit(&disk, PROJECT, "new").unwrap();
    let (folder, _) = former();
    file(&disk, &format!("{folder}/ledger.jsonl"), "another\n");
    file(&disk, &format!("{folder}/captures/s.json"), "{\"other\": 1}");
    commit(&disk, PROJECT, "newer").unwrap();
    let [id] = names(&disk, "/h/state/projects").try_into().unwrap();
    let own = format!("/h/state/projects/{id}");
    assert_eq!(text(&disk, &format!("{own}/ledger.jsonl")).unwrap(), "a line\nanother\n");
    assert_eq!(names(&disk, &format!("{own}/captures")).len(), 2);
    assert_eq!(names(&disk, "/h/state/lanes").len(), 1);

    log_formerly(&disk, &folder, "again");
    assert_eq!(log(&disk, PROJECT), ["old", "new", "newer"]);
    commit(&disk, PROJECT, "newest").unwrap();
    assert!(names(&disk, &folder).contains(&"journal".to_owned()));
    let findings = open(&disk, PROJECT).unwrap().maintenance().diagnose(false).unwrap().findings;
    let named = findings.iter().find(|finding| finding.what.contains(&folder)).unwrap();
    assert_eq!(named.check, "journal");
}

#[test]
fn an_id_moves_to_the_folder_of_git_once_there_is_one() {
    let prepare = |seed| {
        let disk = project(seed, false);
        commit(&disk, PROJECT, "first").unwrap();
        put_project(&disk, PROJECT, true);
        disk
    };
    let disk = prepare(1);
    let id = text(&disk, OWN_ID);
    assert_eq!(names(&disk, "/p/.lorelane"), [".gitignore", "id"]);
    assert_eq!(log(&disk, PROJECT), ["first"]);
    commit(&disk, PROJECT, "second").unwrap();
    assert_eq!((text(&disk, GIT_ID), names(&disk, "/p/.lorelane")), (id, Vec::new()));
    assert_eq!(log(&disk, PROJECT), ["first", "second"]);

    crash_everywhere(
        prepare,
        |disk| commit(disk, PROJECT, "second"),
        |disk, _| {
            assert_eq!(log(disk, PROJECT)[0], "first");
            commit(disk, PROJECT, "third").unwrap();
            let logged = log(disk, PROJECT);
            assert_eq!((logged[0].as_str(), logged.last().unwrap().as_str()), ("first", "third"));
        },
    );
}

#[test]
fn a_project_that_is_moved_keeps_its_log() {
    for git in [false, true] {
        let prepare = |seed| {
            let disk = project(seed, git);
            commit(&disk, PROJECT, "first").unwrap();
            disk.rename(Path::new(PROJECT), Path::new("/q")).unwrap();
            disk.sync_dir(Path::new("/")).unwrap();
            disk
        };
        crash_everywhere(
            prepare,
            |disk| commit(disk, "/q", "second"),
            |disk, _| {
                assert_eq!(log(disk, "/q")[0], "first", "git {git}");
                commit(disk, "/q", "third").unwrap();
                assert_eq!(log(disk, "/q")[0], "first", "git {git}");
                // The place that it was in is another project's by now.
                put_project(disk, PROJECT, git);
                assert_eq!(log(disk, PROJECT), [""; 0]);
            },
        );
    }
}

#[test]
fn a_copy_gets_an_id_of_its_own() {
    for (git, id) in [(false, ".lorelane/id"), (true, ".git/lorelane-id")] {
        let own = format!("{PROJECT}/{id}");
        let prepare = |seed| {
            let disk = project(seed, git);
            commit(&disk, PROJECT, "first").unwrap();
            put_project(&disk, "/q", git);
            file(&disk, &format!("/q/{id}"), &text(&disk, &own).unwrap());
            disk
        };
        let disk = prepare(1);
        assert_eq!(log(&disk, "/q"), [""; 0]);
        commit(&disk, "/q", "copied").unwrap();
        assert_ne!(text(&disk, &own), text(&disk, &format!("/q/{id}")));
        crash_everywhere(
            prepare,
            |disk| commit(disk, "/q", "copied"),
            |disk, _| {
                commit(disk, "/q", "again").unwrap();
                assert!(log(disk, "/q").ends_with(&["again".to_owned()]));
                commit(disk, PROJECT, "second").unwrap();
                assert_eq!(log(disk, PROJECT), ["first", "second"], "git {git}");
            },
        );
    }
}

#[test]
fn without_a_place_for_an_id_the_path_is_the_key() {
    for (git, id) in [(false, OWN_ID), (true, GIT_ID)] {
        let disk = project(1, git);
        let folder = Path::new(id).parent().unwrap().to_owned();
        disk.fail_when(move |call| {
            let writes = matches!(
                call.verb,
                DiskVerb::CreateNew | DiskVerb::CreateDir | DiskVerb::Rename | DiskVerb::SyncDir
            );
            (writes && call.path.starts_with(&folder)).then_some(ErrorKind::ReadOnlyFilesystem)
        });
        commit(&disk, PROJECT, "first").unwrap();
        commit(&disk, PROJECT, "second").unwrap();
        assert_eq!(log(&disk, PROJECT), ["first", "second"]);
        assert_eq!(names(&disk, "/h/state/projects"), [""; 0], "no try leaves a folder behind");
        disk.heal();
        assert_eq!(log(&disk, PROJECT), ["first", "second"]);
        commit(&disk, PROJECT, "third").unwrap();
        assert_eq!(log(&disk, PROJECT), ["first", "second", "third"]);
        assert_eq!(names(&disk, "/h/state/lanes").len(), 1);
    }
}

#[test]
fn processes_that_write_at_once_agree_on_one_id() {
    for seed in 0..60 {
        for former in [false, true] {
            let disk = if former { former_project(seed, true) } else { project(seed, true) };
            let job = |name: &'static str| {
                let disk = disk.process();
                let job: SimProcess<'_, ()> = Box::new({
                    let disk = disk.clone();
                    move || commit(&disk, PROJECT, name).unwrap()
                });
                (disk, job)
            };
            SimDisk::compete(vec![job("one"), job("two"), job("three")]);
            let mut logged = log(&disk, PROJECT);
            logged.sort();
            let expected: &[&str] =
                if former { &["old", "one", "three", "two"] } else { &["one", "three", "two"] };
            assert_eq!(logged, expected, "seed {seed}");
            assert_eq!(names(&disk, "/h/state/projects").len(), 1);
            assert_eq!(names(&disk, "/h/state/lanes").len(), 1);
        }
    }
}

// Any of these could be a repository's or an archive's.
#[test]
fn what_is_no_id_of_this_project_is_not_taken_for_one() {
    let known = |disk: &SimDisk| {
        put_project(disk, "/other", true);
        commit(disk, "/other", "theirs").unwrap();
        text(disk, "/other/.git/lorelane-id").unwrap()
    };
    let long = "a".repeat(100_000);
    let strange = "0123456789abcdef0123456789abcdef\n";
    for (git, at) in [(false, OWN_ID), (true, OWN_ID), (true, GIT_ID)] {
        for bytes in
            ["", "no id", "0123456789ABCDEF0123456789ABCDEF\n", "../../../../etc/passwd", &long, strange]
        {
            let disk = project(1, git);
            let theirs = known(&disk);
            for text in [bytes, &theirs] {
                let _ = disk.remove_file(Path::new(at));
                file(&disk, at, text);
                assert_eq!(log(&disk, PROJECT), [""; 0], "{at}: {text:.40}");
            }
            commit(&disk, PROJECT, "ours").unwrap();
            assert_eq!(log(&disk, PROJECT), ["ours"], "{at}: {bytes:.40}");
            assert_eq!(log(&disk, "/other"), ["theirs"], "{at}: {bytes:.40}");
        }
    }
}
