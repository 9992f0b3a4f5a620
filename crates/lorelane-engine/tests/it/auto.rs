//! Claude Code's memory folder on a simulated disk: a memory and its line in the index are one change.

use lorelane_core::change::{Change, Draft, Plan};
use lorelane_core::lifecycle::LifecycleVerb;
use lorelane_core::memory::Address;
use lorelane_core::time::Timestamp;
use lorelane_engine::backend::StoreError;
use lorelane_engine::disk::Disk;
use lorelane_engine::disk::sim::{Crash, CrashPoint, SimDisk, SimProcess};
use lorelane_engine::env::Env;
use lorelane_engine::workspace::{
    AutoFolder, AutoMemory, AutoOwner, ClientInventory, Failure, ProjectLocation, Workspace,
};
use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const MEMORY: &str = "/h/.claude/projects/-p/memory";
const TOPIC: &str = "---\nname: old\ndescription: An old topic\ntype: project\n---\nOld.\n";
const INDEX: &str = "# Memory\n- [Old](old.md) — An old topic\n- [Other](other.md) — x\n";

fn env() -> Env {
    let vars = [("LORELANE_HOME", "/dev/null/simulated"), ("HOME", "/h")];
    let vars = vars.map(|(name, value)| (name.to_owned(), value.to_owned()));
    Env { now: Timestamp(1_772_000_000), cwd: "/p".into(), vars: BTreeMap::from(vars) }
}

fn open(disk: &SimDisk) -> Result<Workspace, Failure> {
    open_in(disk, &env())
}

fn open_in(disk: &SimDisk, env: &Env) -> Result<Workspace, Failure> {
    let located = ProjectLocation {
        project: "/p".into(),
        lane: "/p/.claude/memory".into(),
        root_from_project: ".claude/memory".to_owned(),
        has_notes: true,
    };
    Workspace::open_on(Arc::new(disk.clone()), env, located)
}

fn put(disk: &SimDisk, path: &str, text: &str) {
    let path = Path::new(path);
    disk.create_dir_all(path.parent().unwrap()).unwrap();
    disk.create_new(path, text.as_bytes(), None).unwrap();
    disk.sync_file(path).unwrap();
    for folder in path.ancestors().skip(1) {
        disk.sync_dir(folder).unwrap();
    }
}

fn folder() -> SimDisk {
    folder_with(3)
}

fn folder_with(seed: u64) -> SimDisk {
    let disk = SimDisk::new(seed);
    put(&disk, "/p/.claude/memory/decisions/.keep", "");
    put(&disk, &format!("{MEMORY}/old.md"), TOPIC);
    put(&disk, &format!("{MEMORY}/MEMORY.md"), INDEX);
    disk
}

fn read(disk: &SimDisk, name: &str) -> Option<String> {
    let bytes = disk.read_regular(&Path::new(MEMORY).join(name), 1 << 20).unwrap();
    bytes.map(|bytes| String::from_utf8(bytes).unwrap())
}

fn plan(change: Change) -> Plan {
    Plan { changes: vec![change], because: "a test".to_owned() }
}

fn create(name: &str) -> Plan {
    let text = "---\ndescription: New\ntype: user\n---\nNew.\n".to_owned();
    plan(Change::Create { address: Address::auto(name).unwrap(), text })
}

/// Whether topics and index agree, and how many there are.
fn agree(disk: &SimDisk, why: &str) -> usize {
    let index = read(disk, "MEMORY.md").unwrap();
    let pairs = [("old.md", true), ("new.md", true), ("archive/old.md", false)];
    let there: Vec<bool> = pairs.iter().map(|(name, _)| read(disk, name).is_some()).collect();
    for ((name, linked), there) in pairs.iter().zip(&there) {
        assert!(!linked || index.contains(&format!("({name})")) == *there, "{why}: {name} in {index}");
    }
    assert!(there[0] != there[2], "{why}: a topic is in one place");
    there.into_iter().filter(|there| *there).count()
}

#[test]
fn a_memory_and_its_line_come_and_go_together_whatever_crashes() {
    let archive = |name: &str| {
        let (verb, reason) = (LifecycleVerb::Archive, String::new());
        plan(Change::Transition { address: Address::auto(name).unwrap(), verb, reason })
    };
    for (what, change) in [("create", create("new")), ("archive", archive("old"))] {
        let calls = {
            let disk = folder();
            let before = disk.calls();
            open(&disk).unwrap().commit(&change).unwrap();
            disk.calls() - before
        };
        for (crash, step) in [Crash::Kill, Crash::PowerCut]
            .into_iter()
            .flat_map(|crash| (0..=calls).map(move |step| (crash, step)))
        {
            let why = format!("{what}, {crash:?} at call {step} of {calls}");
            let disk = folder();
            let dying = disk.process();
            disk.crash_at(CrashPoint::Call(disk.calls() + step), crash);
            let _ = open(&dying).and_then(|mut workspace| workspace.commit(&change));
            disk.heal();
            let disk = disk.process();
            // The next writer completes it or takes it back.
            open(&disk).unwrap().commit(&create("later")).unwrap();
            agree(&disk, &why);
            assert!(read(&disk, "MEMORY.md").unwrap().contains("(later.md)"), "{why}");
        }
    }
}

#[test]
fn the_sessions_say_whose_a_folder_is() {
    let disk = folder();
    let session = |folder: &str, cwd: &str| {
        put(&disk, &format!("/h/.claude/projects/{folder}/s.jsonl"), &format!("{{\"cwd\": \"{cwd}\"}}\n"));
    };
    session("-p", "/p/.claude");
    put(&disk, "/h/.claude/projects/-gone/memory/a.md", TOPIC);
    session("-gone", "/gone");
    put(&disk, "/h/.claude/projects/-empty/memory/.keep", "");
    put(&disk, "/h/.claude/agent-memory/reviewer/MEMORY.md", INDEX);
    put(&disk, "/q/README.md", "");
    put(&disk, "/h/.claude/projects/-q/memory/a.md", TOPIC);
    session("-q", "/q");
    // A transcript may begin with lines that do not say where it ran, and such a line may be long.
    let long =
        format!("{{\"type\":\"summary\",\"text\":\"{}\"}}\n{{\"cwd\": \"/long\"}}\n", "x".repeat(20_000));
    put(&disk, "/h/.claude/projects/-long/s.jsonl", &long);
    put(&disk, "/h/.claude/projects/-long/memory/a.md", TOPIC);
    put(&disk, "/long/README.md", "");
    put(&disk, "/q/.claude/agent-memory/tester/MEMORY.md", INDEX);
    let inventory = ClientInventory::read(&disk, &env());
    assert_eq!(inventory.unreadable, []);
    let owners: Vec<(String, AutoOwner)> = inventory
        .folders
        .into_iter()
        .map(|AutoFolder { path, owner }| (path.display().to_string(), owner))
        .collect();
    let project = |root: &str| AutoOwner::Project { root: root.into(), shared_with: Vec::new() };
    let root = lorelane_engine::git::common_dir(Path::new("/p"));
    assert_eq!(root, None, "the simulated project is not on the real disk");
    assert_eq!(
        owners,
        [
            (
                "/h/.claude/agent-memory/reviewer".to_owned(),
                AutoOwner::Agent { name: "reviewer".to_owned(), project: None }
            ),
            (
                "/h/.claude/projects/-gone/memory".to_owned(),
                AutoOwner::Nobody { former: Some("/gone".into()) }
            ),
            ("/h/.claude/projects/-long/memory".to_owned(), project("/long")),
            // Its only session ran in a subfolder; the folder has the name of the current project.
            (MEMORY.to_owned(), project("/p")),
            ("/h/.claude/projects/-q/memory".to_owned(), project("/q")),
            (
                "/q/.claude/agent-memory/tester".to_owned(),
                AutoOwner::Agent { name: "tester".to_owned(), project: Some("/q".into()) }
            ),
        ]
    );
}

/// The client writes at some moment of our change: then nothing of ours is written.
#[test]
fn what_the_client_writes_meanwhile_is_not_overwritten() {
    type Write = fn(&mut Workspace) -> Result<(), Failure>;
    let create: Write = |workspace| workspace.commit(&create("new")).map(drop);
    let tidy: Write = |workspace| AutoMemory::of(workspace)?.tidy().map(drop);
    let theirs = "# Memory\n- [Client](client.md) — written meanwhile\n";
    for (what, write) in [("create", create), ("tidy", tidy)] {
        let (mut refused, mut done) = (0, 0);
        let index = Path::new(MEMORY).join("MEMORY.md");
        let long: String = (0..190).map(|at| format!("- [T{at}](t{at}.md) — x\n")).collect();
        let machine = |seed: u32| {
            let machine = folder_with(seed.into());
            machine.append(&index, long.as_bytes()).unwrap();
            machine
        };
        let calls = {
            let disk = machine(0);
            let before = disk.calls();
            write(&mut open(&disk).unwrap()).unwrap();
            u32::try_from(disk.calls() - before).unwrap()
        };
        for step in 0..=calls {
            // Another seed, another order of the calls.
            let machine = machine(step);
            let (ours, client) = (machine.process(), machine.process());
            let writing: SimProcess<'_, Result<(), Failure>> = {
                let ours = ours.clone();
                Box::new(move || write(&mut open(&ours)?))
            };
            let meddling: SimProcess<'_, Result<(), Failure>> = {
                let (client, index) = (client.clone(), index.clone());
                Box::new(move || {
                    // The first call of a process only waits for its turn.
                    assert!(client.is_folder(Path::new(MEMORY)));
                    // A call takes as long as this on the simulated machine.
                    client.pause(Duration::from_micros(100) * step);
                    let temp = Path::new(MEMORY).join("temp");
                    client.create_new(&temp, theirs.as_bytes(), None).unwrap();
                    client.rename(&temp, &index).unwrap();
                    Ok(())
                })
            };
            match SimDisk::compete(vec![(ours, writing), (client, meddling)]).remove(0) {
                Err(Failure::Store(StoreError::Outdated { .. })) => {
                    refused += 1;
                    assert_eq!(read(&machine, "MEMORY.md").as_deref(), Some(theirs), "{what}, {step}");
                    let names: Vec<String> =
                        machine.peek_list(Path::new(MEMORY)).into_iter().map(|listed| listed.name).collect();
                    assert_eq!(names, ["MEMORY.md", "old.md"], "{what}, {step}");
                }
                Err(other) => panic!("{what}, {step}: {other}"),
                Ok(()) => done += 1,
            }
        }
        assert!(refused > 0 && done > 0, "{what}: {refused} refused, {done} done");
    }
}

#[test]
fn a_plan_sees_its_own_change_of_the_index() {
    let disk = SimDisk::new(3);
    put(&disk, "/p/.claude/memory/decisions/.keep", "");
    put(&disk, &format!("{MEMORY}/MEMORY.md"), "Prose one.\nProse two.\n");
    let address = Address::auto("MEMORY").unwrap();
    let draft = Draft::Append { text: "Prose three.".to_owned() };
    let mut both = plan(Change::Revise { address, expects: None, draft });
    both.changes.extend(create("new").changes);
    open(&disk).unwrap().commit(&both).unwrap();
    assert!(read(&disk, "general.md").unwrap().contains("Prose three."));
    assert!(read(&disk, "MEMORY.md").unwrap().contains("(new.md)"));
}

fn all_files(disk: &SimDisk, folder: &Path) -> Vec<PathBuf> {
    let listed = disk.peek_list(folder).into_iter().map(|listed| folder.join(listed.name));
    listed.flat_map(|path| if disk.is_folder(&path) { all_files(disk, &path) } else { vec![path] }).collect()
}

#[test]
fn a_forgotten_memory_leaves_no_line_in_the_index_or_its_log() {
    let disk = folder();
    let mut workspace = open(&disk).unwrap();
    workspace.commit(&create("new")).unwrap();
    let holding = || -> Vec<PathBuf> {
        let says = |path: &PathBuf| {
            String::from_utf8_lossy(&disk.peek(path).unwrap_or_default()).contains("An old topic")
        };
        all_files(&disk, Path::new("/")).into_iter().filter(says).collect()
    };
    assert_eq!(holding().len(), 3, "topic, index and log: {:?}", holding());
    let old = Address::auto("old").unwrap();
    let seen = workspace.maintenance().preview_forgetting(&old).unwrap();
    let report = workspace.maintenance().forget(&old, "a test").unwrap();
    assert!(report.is_complete(), "{report:?}");
    assert_eq!(seen.places, report.places);
    assert_eq!(holding(), [""; 0].map(PathBuf::from));
    assert_eq!(
        read(&disk, "MEMORY.md").unwrap(),
        "# Memory\n- [Other](other.md) — x\n- [new](new.md) — New\n"
    );
}

#[test]
fn a_topic_that_was_deleted_comes_back_with_its_line() {
    let disk = folder();
    open(&disk).unwrap().commit(&create("new")).unwrap();
    let linked = read(&disk, "MEMORY.md").unwrap();
    disk.remove_file(&Path::new(MEMORY).join("new.md")).unwrap();
    disk.remove_file(&Path::new(MEMORY).join("MEMORY.md")).unwrap();
    put(&disk, &format!("{MEMORY}/MEMORY.md"), INDEX);
    let (address, verb) = (Address::auto("new").unwrap(), LifecycleVerb::Restore { from: None });
    let restore = Change::Transition { address, verb, reason: String::new() };
    open(&disk).unwrap().commit(&plan(restore)).unwrap();
    assert_eq!(read(&disk, "MEMORY.md").unwrap(), linked);
    assert!(read(&disk, "new.md").is_some());
}

#[test]
fn one_session_that_tells_its_project_is_enough() {
    let disk = folder();
    for name in ["a", "b", "c"] {
        put(&disk, &format!("/h/.claude/projects/-p/{name}.jsonl"), "{\"cwd\": \"/p\"}\n");
    }
    let read = Arc::new(Mutex::new(BTreeSet::new()));
    let seen = Arc::clone(&read);
    disk.fail_when(move |call| {
        if call.path.extension().is_some_and(|extension| extension == "jsonl") {
            seen.lock().unwrap().insert(call.path.to_owned());
        }
        None
    });
    AutoMemory::of(&mut open(&disk).unwrap()).unwrap();
    let read: Vec<PathBuf> =
        read.lock().unwrap().iter().filter(|path| path.starts_with("/h/.claude")).cloned().collect();
    assert_eq!(read, [PathBuf::from("/h/.claude/projects/-p/a.jsonl")]);
}

#[test]
fn a_folder_that_cannot_be_read_stops_nothing_else() {
    let disk = folder();
    let deny = |whole: bool| {
        disk.fail_when(move |call| {
            let denied = call.path.starts_with(MEMORY) && (whole || call.path != Path::new(MEMORY));
            denied.then_some(ErrorKind::PermissionDenied)
        });
    };
    deny(true);
    let mut workspace = open(&disk).unwrap();
    assert!(matches!(AutoMemory::of(&mut workspace).map(drop), Err(Failure::NoAutoMemory)));
    workspace.commit(&crate::index::create("first")).unwrap();
    disk.heal();
    deny(false);
    let mut workspace = open(&disk).unwrap();
    assert!(workspace.commit(&create("new")).is_err());
    assert!(AutoMemory::of(&mut workspace).unwrap().tidy().is_err());
    workspace.commit(&crate::index::create("second")).unwrap();
    disk.heal();
    assert_eq!(read(&disk, "MEMORY.md").as_deref(), Some(INDEX));
}

#[test]
fn the_environment_names_a_project_only_together_with_the_folder() {
    let disk = folder();
    put(&disk, "/c/projects/named/memory/MEMORY.md", INDEX);
    put(&disk, "/h/.claude/projects/named/memory/MEMORY.md", INDEX);
    let folder_with = |vars: &[(&str, &str)]| {
        let mut env = env();
        env.vars.extend(vars.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        let mut workspace = open_in(&disk, &env).unwrap();
        AutoMemory::of(&mut workspace).ok().map(|auto| auto.folder().display().to_string())
    };
    let (name, config) = (("CLAUDE_CODE_PROJECT_DIR_NAME", "named"), ("CLAUDE_CONFIG_DIR", "/c"));
    assert_eq!(folder_with(&[name, config]).as_deref(), Some("/c/projects/named/memory"));
    assert_eq!(folder_with(&[name]).as_deref(), Some(MEMORY));
    assert_eq!(folder_with(&[config]), None);
    assert_eq!(folder_with(&[("CLAUDE_CODE_PROJECT_DIR_NAME", "../named"), config]), None);
}
