//! A forgetting that is killed at any call, or loses its power, is completed by whoever comes next.

use crate::index::{create, plan};
use lorelane_core::capture::{Capture, CapturedItem, Origin, words_digest};
use lorelane_core::change::Change;
use lorelane_core::conversation::TranscriptPosition;
use lorelane_core::ledger::{DroppedMemory, LedgerEvent, LedgerLine};
use lorelane_core::mark::MarkKind;
use lorelane_core::memory::{Address, Category};
use lorelane_core::time::Timestamp;
use lorelane_engine::backend::LogFault;
use lorelane_engine::disk::sim::{Crash, CrashPoint, SimDisk};
use lorelane_engine::disk::{Disk, FileType};
use lorelane_engine::env::Env;
use lorelane_engine::workspace::{Failure, ProjectLocation, Workspace};
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const NOW: Timestamp = Timestamp(1_772_000_000);
const NAME: &str = "use-quokkastream";

/// Its index lives in memory: no such home is on the real disk, where SQLite would look for it.
fn open(disk: &SimDisk) -> Result<Workspace, Failure> {
    let vars = BTreeMap::from([("LORELANE_HOME".to_owned(), "/dev/null/simulated".to_owned())]);
    let env = Env { now: NOW, cwd: "/p".into(), vars };
    let located = ProjectLocation {
        project: "/p".into(),
        lane: "/p/.claude/memory".into(),
        root_from_project: ".claude/memory".to_owned(),
        has_notes: false,
    };
    Workspace::open_on(Arc::new(disk.clone()), &env, located)
}

fn address() -> Address {
    Address::record(Category::Decision, NAME)
}

/// A store with a memory that left something everywhere, and one beside it.
fn store() -> SimDisk {
    let disk = SimDisk::new(7);
    disk.create_dir_all(Path::new("/p/.claude/memory/decisions")).unwrap();
    let mut workspace = open(&disk).unwrap();
    for name in ["kept", NAME] {
        workspace.commit(&create(name)).unwrap();
        let address = Address::record(Category::Decision, name);
        workspace.commit(&plan(Change::Mark { address, kind: MarkKind::Pin })).unwrap();
    }
    let origin =
        Origin { session: "s-1".to_owned(), at: TranscriptPosition::Line(3), words: words_digest("x") };
    let kind = MarkKind::Origin(origin.clone());
    workspace.commit(&plan(Change::Mark { address: address(), kind })).unwrap();
    let mut capture = Capture::new("s-1", "claude-code", NOW);
    capture.asked = true;
    let words = "a quokkastream".to_owned();
    capture.items.push(CapturedItem::new(Category::TechDebt, vec![words.clone()], words, origin));
    let rejected = CapturedItem::new(
        Category::Preference,
        vec!["other words".to_owned()],
        String::new(),
        capture.items[0].origin.clone(),
    );
    workspace.files().captures().reject(&rejected, "see decision/use-quokkastream", NOW).unwrap();
    workspace.files().captures().save(&mut capture).unwrap();
    workspace.files().captures().put_beside("s-1", "context-tech_debt.txt", "a quokkastream").unwrap();
    for name in [NAME, "kept"] {
        let left = DroppedMemory {
            address: Address::record(Category::Decision, name),
            score: 1,
            parts: Vec::new(),
            relevance: String::new(),
            rule: lorelane_core::briefing::DropRule::Irrelevant,
        };
        let line = LedgerLine {
            at: NOW,
            client: "c".to_owned(),
            session: "s".to_owned(),
            event: LedgerEvent::Prompt,
            query: format!("what is {name}"),
            shown: Vec::new(),
            left_out: vec![left],
            tokens: 0,
        };
        workspace.files().ledger().append(&line).unwrap();
    }
    let drafts = workspace.files().drafts_folder();
    disk.create_dir_all(&drafts).unwrap();
    disk.append(&drafts.join(format!("{NAME}.json")), b"{}").unwrap();
    // All of it is old: what a power cut may take is what the forgetting did.
    sync_all(&disk, Path::new("/"));
    disk
}

fn files(disk: &SimDisk, folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for listed in disk.peek_list(folder) {
        let path = folder.join(&listed.name);
        match listed.kind {
            FileType::Folder => found.extend(files(disk, &path)),
            _ => drop(found.insert(path.clone(), disk.peek(&path).unwrap_or_default())),
        }
    }
    found
}

fn sync_all(disk: &SimDisk, folder: &Path) {
    disk.sync_dir(folder).unwrap();
    for listed in disk.peek_list(folder) {
        let path = folder.join(&listed.name);
        match listed.kind {
            FileType::Folder => sync_all(disk, &path),
            _ => disk.sync_file(&path).unwrap(),
        }
    }
}

fn holding(disk: &SimDisk) -> Vec<PathBuf> {
    let says = |text: &[u8]| String::from_utf8_lossy(text).to_lowercase().contains("quokkastream");
    let found = files(disk, Path::new("/")).into_iter();
    found
        .filter(|(path, bytes)| says(bytes) || says(path.to_string_lossy().as_bytes()))
        .map(|(path, _)| path)
        .collect()
}

/// What must be as it was, whatever happens.
fn check_the_rest(disk: &SimDisk, before: &BTreeMap<PathBuf, Vec<u8>>, why: &str) {
    let kept = Path::new("/p/.claude/memory/decisions/kept.json");
    assert_eq!(disk.peek(kept), before.get(kept).cloned(), "{why}");
    let mut workspace = open(disk).unwrap();
    // The end of a `done` may be missing: the next change cuts what there is of it.
    let faults = workspace.changes().verify_logs();
    assert!(faults.iter().all(|fault| matches!(fault, LogFault::TornEnd { .. })), "{why}: {faults:?}");
    assert!(workspace.files().marks().pinned.contains(&Address::record(Category::Decision, "kept")), "{why}");
    assert_eq!(workspace.files().ledger().lines().len(), 1, "{why}");
}

#[test]
fn a_forgetting_that_is_cut_short_anywhere_is_completed() {
    let calls = {
        let disk = store();
        assert!(holding(&disk).len() >= 7, "{:?}", holding(&disk));
        let before = disk.calls();
        assert!(open(&disk).unwrap().maintenance().forget(&address(), "").unwrap().is_complete());
        assert_eq!(holding(&disk), Vec::<PathBuf>::new());
        disk.calls() - before
    };
    let mut cut_short = 0;
    for (crash, step) in [Crash::Kill, Crash::PowerCut]
        .into_iter()
        .flat_map(|crash| (0..=calls).map(move |step| (crash, step)))
    {
        for again in [true, false] {
            let why = format!("{crash:?} at call {step} of {calls}, the same command: {again}");
            let disk = store();
            let before = files(&disk, Path::new("/"));
            let dying = disk.process();
            disk.crash_at(CrashPoint::Call(disk.calls() + step), crash);
            let died = open(&dying)
                .and_then(|mut workspace| workspace.maintenance().forget(&address(), ""))
                .is_err();
            disk.heal();
            let disk = disk.process();
            let untouched = files(&disk, Path::new("/"))
                .contains_key(Path::new(&format!("/p/.claude/memory/decisions/{NAME}.json")));
            let mut workspace = open(&disk).unwrap();
            match again {
                true => match workspace.maintenance().find_forgettable(NAME) {
                    Ok(address) => drop(workspace.maintenance().forget(&address, "").unwrap()),
                    Err(failure) => assert!(holding(&disk).is_empty(), "{why}: {failure}"),
                },
                false => drop(workspace.commit(&create("another")).unwrap()),
            }
            cut_short += usize::from(died);
            // Nobody completes what had not begun.
            if again || !untouched {
                assert_eq!(holding(&disk), Vec::<PathBuf>::new(), "{why}");
                check_the_rest(&disk, &before, &why);
            }
            // Nothing of it comes back with the power but the note, and the next writer sees to that.
            disk.power_cut();
            let disk = disk.process();
            if again || !untouched {
                open(&disk).unwrap().commit(&create("later")).unwrap();
                assert_eq!(holding(&disk), Vec::<PathBuf>::new(), "{why}, then the power");
            }
        }
    }
    assert!(cut_short as u64 > calls, "only {cut_short} of {calls} steps were cut short");
}

// A refused forgetting left its note, and the next change of anything else carried it out (issue 10).
#[test]
fn a_forgetting_that_is_refused_does_not_happen_later() {
    let calls = {
        let disk = store();
        let before = disk.calls();
        open(&disk).unwrap().maintenance().forget(&address(), "").unwrap();
        disk.calls() - before
    };
    let in_lane = |path: &Path| path.starts_with("/p");
    let (mut refused, mut half) = (0, 0);
    for (how, step) in ["once", "from then on", "the project from then on"]
        .into_iter()
        .flat_map(|how| (0..=calls).map(move |step| (how, step)))
    {
        let why = format!("{how}, call {step} of {calls}");
        let disk = store();
        let first = disk.calls() + step;
        disk.fail_when(move |call| {
            let fails = match how {
                "once" => call.number == first,
                "from then on" => call.number >= first,
                _ => call.number >= first && in_lane(call.path),
            };
            fails.then_some(ErrorKind::ReadOnlyFilesystem)
        });
        let before = files(&disk, Path::new("/p"));
        let forgotten = open(&disk).and_then(|mut workspace| workspace.maintenance().forget(&address(), ""));
        disk.heal();
        let after = files(&disk, Path::new("/p"));
        let disk = disk.process();
        match forgotten {
            Ok(_) => {}
            Err(Failure::HalfForgotten { .. }) => {
                half += 1;
                open(&disk).unwrap().commit(&create("another")).unwrap();
                // On a disk that refuses everything nobody can tell whether the note was written: then all is as it
                // was, or all is gone.
                let memory = PathBuf::from(format!("/p/.claude/memory/decisions/{NAME}.json"));
                if disk.peek(&memory) != before.get(&memory).cloned() || how == "once" {
                    assert_eq!(holding(&disk), Vec::<PathBuf>::new(), "{why}");
                }
            }
            Err(failure) => {
                refused += 1;
                // Where the state folder cannot be written, the journal is in the lane.
                let is_memory = |path: &&PathBuf| !path.to_string_lossy().contains(".lorelane-journal");
                assert_eq!(
                    after.keys().filter(is_memory).collect::<Vec<_>>(),
                    before.keys().filter(is_memory).collect::<Vec<_>>(),
                    "{why}: {failure}"
                );
                // Also not after a power cut.
                for name in ["another", "later"] {
                    let disk = disk.process();
                    open(&disk).unwrap().commit(&create(name)).unwrap();
                    let memory = format!("/p/.claude/memory/decisions/{NAME}.json");
                    assert_eq!(
                        disk.peek(Path::new(&memory)),
                        before.get(Path::new(&memory)).cloned(),
                        "{why}: {failure}"
                    );
                    assert_eq!(open(&disk).unwrap().changes().verify_logs(), [], "{why}: {failure}");
                    disk.power_cut();
                }
            }
        }
    }
    assert!(refused > 20 && half > 5, "{refused} were refused, {half} were not completed");
}
