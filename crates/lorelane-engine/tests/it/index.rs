//! The index is a cache: whatever happens to the files or to itself, it says what the files say.

use crate::full_disk;
use crate::store::Temp;
use lorelane_core::change::{Assignment, Change, Draft, Notice, Plan};
use lorelane_core::graph::Scope;
use lorelane_core::lifecycle::{LifecycleVerb, Status};
use lorelane_core::memory::{Address, Category};
use lorelane_core::path::RelPath;
use lorelane_core::recall::{self, Query, Signal};
use lorelane_core::time::Timestamp;
use lorelane_engine::disk::sim::{self, SimDisk};
use lorelane_engine::disk::{Disk, SeededRng};
use lorelane_engine::env::Env;
use lorelane_engine::index::{FileStamp, FolderTimes, Index, ListFilter, Rebuild, Row, RowSource};
use lorelane_engine::workspace::{self, Failure, Workspace};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

const NOW: Timestamp = Timestamp(1_772_000_000);

/// A project with a store, and as many workspaces on it as there are processes.
struct Project(Temp);

impl Project {
    fn new() -> Project {
        let project = Project(Temp::new());
        fs::create_dir(project.0.0.join("project")).unwrap();
        workspace::init(&project.env(), &project.env().cwd).unwrap();
        project
    }

    fn env(&self) -> Env {
        let home = self.0.0.join("home").to_str().unwrap().to_owned();
        let vars = BTreeMap::from([("LORELANE_HOME".to_owned(), home)]);
        Env { now: NOW, cwd: self.0.0.join("project"), vars }
    }

    fn open(&self) -> Workspace {
        Workspace::open(&self.env(), &self.env().cwd).unwrap()
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.0.join("project/.claude/memory/decisions").join(format!("{name}.json"))
    }

    fn listing(&self) -> String {
        fs::read_to_string(self.0.0.join("project/.claude/memory/index.md")).unwrap()
    }

    fn index_file(&self) -> PathBuf {
        let lanes = self.0.0.join("home/cache/lanes");
        fs::read_dir(lanes).unwrap().next().unwrap().unwrap().path().join("index.db")
    }

    /// A file as somebody makes it who does not ask lorelane.
    fn by_hand(&self, name: &str, title: &str) {
        fs::write(self.file(name), record(name, title)).unwrap();
    }
}

fn record(name: &str, title: &str) -> String {
    format!(
        r#"{{"schema_version": "1.0", "category": "decision", "id": "{name}", "title": "{title}",
 "record_status": "active", "created_at": "2026-02-01T00:00:00Z", "updated_at": "2026-02-01T00:00:00Z",
 "tags": ["made"], "changes": [], "related_files": ["src/shared.rs", "src/{title}.rs"],
 "content": {{"status": "accepted", "context": "c", "decision": "d", "rationale": ["r"]}}}}
"#
    )
}

fn decision(name: &str) -> Address {
    Address::record(Category::Decision, name)
}

pub fn plan(change: Change) -> Plan {
    Plan { changes: vec![change], because: "a test".to_owned() }
}

pub fn create(name: &str) -> Plan {
    plan(Change::Create { address: decision(name), text: record(name, &format!("Memory {name}")) })
}

fn revise(name: &str, path: &str, value: &str) -> Plan {
    let set = vec![Assignment { path: path.to_owned(), value: value.to_owned() }];
    let draft = Draft::Partial { from: None, set, add_tags: Vec::new(), because: None };
    plan(Change::Revise { address: decision(name), expects: None, draft })
}

fn step(name: &str, verb: LifecycleVerb) -> Plan {
    plan(Change::Transition { address: decision(name), verb, reason: String::new() })
}

/// The index as it is, and as a rebuild would make it.
fn assert_equal_to_a_rebuild(workspace: &mut Workspace, after: &str) {
    let (dump, rebuilt) =
        (workspace.maintenance().index_dump().unwrap(), workspace.maintenance().rebuilt_dump().unwrap());
    let differing = dump.lines().zip(rebuilt.lines()).find(|(line, other)| line != other);
    assert_eq!(differing, None, "{after}");
    assert_eq!(dump.lines().count(), rebuilt.lines().count(), "{after}");
}

fn titles(workspace: &mut Workspace) -> Vec<String> {
    workspace.recall().entries(ListFilter::default()).unwrap().into_iter().map(|entry| entry.title).collect()
}

#[test]
fn index_and_listing_equal_a_rebuild_after_every_change_of_two_processes_and_a_person() {
    for seed in 0..4 {
        let project = Project::new();
        let mut processes = [project.open(), project.open()];
        let mut rng = SeededRng::new(seed);
        let mut made = 0;
        for turn in 0..60 {
            let name = format!("m{}", rng.below(12));
            let process = &mut processes[rng.below(2)];
            let mut write = |plan: &Plan| match process.commit(plan) {
                Ok(_) | Err(Failure::Refused(_)) => true,
                Err(failure) => panic!("seed {seed}, turn {turn}: {failure}"),
            };
            let verb = rng.below(11);
            let ours = match verb {
                0..=2 => write(&create(&name)),
                3 => write(&revise(&name, "context", &format!("turn {turn}"))),
                4 => write(&revise(&name, "title", &format!("Quite another name {turn} {seed}"))),
                5 => write(&step(&name, LifecycleVerb::Retire)),
                6 => write(&step(&name, LifecycleVerb::Restore { from: None })),
                7 => process.changes().undo().is_ok(),
                8 => {
                    made += 1;
                    project.by_hand(&format!("hand{made}"), &format!("By hand {turn}"));
                    false
                }
                9 => fs::remove_file(project.file(&name)).is_err(),
                _ if project.file(&name).exists() => {
                    project.by_hand(&name, &format!("Edited in place {turn}"));
                    process.maintenance().scan().unwrap();
                    false
                }
                _ => false,
            };
            let after = format!("seed {seed}, turn {turn}, verb {verb}");
            for process in &mut processes {
                assert_equal_to_a_rebuild(process, &after);
            }
            let listing = project.listing();
            if ours {
                // Nobody but lorelane wrote since the last reindex, so there is nothing left to bring in.
                project.open().maintenance().reindex(Rebuild::Changed).unwrap();
                assert_eq!(listing, project.listing(), "{after}");
            } else {
                project.open().maintenance().reindex(Rebuild::Changed).unwrap();
            }
        }
    }
}

#[test]
fn a_file_made_by_hand_is_found_at_once() {
    let project = Project::new();
    let mut workspace = project.open();
    workspace.commit(&create("first")).unwrap();
    project.by_hand("queue", "Use a queue for mails");
    let hits = workspace.recall().search(&Query::new("queue", NOW), 10).unwrap().hits;
    assert_eq!(hits.len(), 1);
    fs::remove_file(project.file("queue")).unwrap();
    assert_eq!(workspace.recall().search(&Query::new("queue", NOW), 10).unwrap().hits, []);
}

#[test]
fn the_files_of_a_folder_are_counted_without_those_below_it() {
    let paths = ["a.md", "plans/b.md", "plans/deep/c.md", "plans-2/d.md", "plans.md", "z.md"];
    let rows = paths.map(|path| Row::Unreadable {
        path: RelPath::parse(path).unwrap(),
        what: "no text".to_owned(),
        seen: FileStamp { size: 1, mtime_ns: 1 },
    });
    let mut index = Index::in_memory();
    let no_text = |_: &_| unreachable!("no row has a text");
    index.update(RowSource::Scan, rows.into_iter(), &FolderTimes::new(), &no_text).unwrap();
    let table: [(&str, &[&str], usize); 5] = [
        ("", &["plans", "plans-2"], 3),
        ("plans", &["plans/deep"], 1),
        ("plans", &[], 2),
        ("plans/deep", &[], 1),
        ("none", &[], 0),
    ];
    for (folder, below, files) in table {
        let below: Vec<String> = below.iter().map(|&below| below.to_owned()).collect();
        assert_eq!(index.known_in(folder, &below).unwrap(), files, "{folder:?} without {below:?}");
    }
}

#[test]
fn a_category_is_counted_up_to_the_limit() {
    let project = Project::new();
    let mut workspace = project.open();
    for name in ["a", "b", "c"] {
        workspace.commit(&create(name)).unwrap();
    }
    workspace.commit(&step("b", LifecycleVerb::Retire)).unwrap();
    let index = Index::open(&project.index_file()).unwrap();
    let table = [
        (Category::Decision, Status::Active, 2),
        (Category::Decision, Status::Retired, 1),
        (Category::Runbook, Status::Active, 0),
    ];
    for (category, status, count) in table {
        for least in 0..6 {
            let expected = least <= count;
            assert_eq!(index.has_at_least(least, category, status).unwrap(), expected, "{category} {least}");
        }
    }
}

/// Names that share words in every way: with titles, tags, beginnings, other scripts, and very many alike.
fn by_hand_with_names(project: &Project, rng: &mut SeededRng, count: usize) {
    let vocabulary = ["redis", "cache", "auth", "authentication", "limit", "rate", "認証", "queue", "Café"];
    for number in 0..count {
        let mut some = |most: usize, between: &str| {
            let words = (0..1 + rng.below(most)).map(|_| vocabulary[rng.below(vocabulary.len())]);
            words.collect::<Vec<_>>().join(between)
        };
        let tags = format!(r#"["{}", "{}"]"#, some(1, ""), some(2, "-"));
        let text = record(&format!("n{number}"), &format!("{} {number}", some(3, " ")));
        fs::write(project.file(&format!("n{number}")), text.replace(r#"["made"]"#, &tags)).unwrap();
    }
}

/// The index hands over few memories; the result must be the one that all of them would give.
#[test]
fn what_is_found_by_names_is_what_a_look_at_all_memories_finds() {
    for seed in 0..3 {
        let project = Project::new();
        let mut rng = SeededRng::new(seed);
        by_hand_with_names(&project, &mut rng, 400);
        let mut workspace = project.open();
        workspace.commit(&step("n7", LifecycleVerb::Retire)).unwrap();
        workspace.commit(&revise("n8", "title", "Rate of the queue")).unwrap();
        let entries = workspace.recall().entries(ListFilter::default()).unwrap();
        for asked in
            ["redis", "auth", "rate limit of the cache", "cafe 認証", "queue 17 authentication auth", "x"]
        {
            let mut query = Query::new(asked, NOW);
            query.categories = vec![Category::Decision];
            let all = entries.iter().map(|entry| (i32::MAX, entry));
            let expected = recall::candidate(&query, all).map(|hit| (hit.address.to_string(), hit.score));
            let verdict = workspace.recall().candidate_by_name(Category::Decision, asked, None).unwrap();
            let found = verdict.candidate.map(|found| (found.memory.address.to_string(), found.score));
            assert_eq!(found, expected, "seed {seed}: {asked}");
        }
        let before = workspace.recall().search(&Query::new("cache", NOW), 10).unwrap();
        assert!(!before.hits.is_empty());
        workspace.maintenance().reindex(Rebuild::Changed).unwrap();
        assert_eq!(
            workspace.recall().search(&Query::new("cache", NOW), 10).unwrap(),
            before,
            "seed {seed}: made anew"
        );
    }
}

// The memory that was indexed first was listed first, and a rebuild indexes in another order.
#[test]
fn of_equal_texts_the_same_one_is_shown_whatever_the_index_went_through() {
    let project = Project::new();
    let mut workspace = project.open();
    for name in ["c", "a", "b"] {
        let text = record(name, "Use a queue for mails");
        workspace.commit(&plan(Change::Create { address: decision(name), text })).unwrap();
    }
    let shown = |workspace: &mut Workspace| {
        let hits = workspace.recall().search(&Query::new("queue for mails", NOW), 10).unwrap().hits;
        let named = hits.into_iter().map(|hit| (hit.address.to_string(), hit.same));
        named.collect::<Vec<_>>()
    };
    let grown = shown(&mut workspace);
    assert_eq!(grown[0].0, "decision/a", "{grown:?}");
    workspace.maintenance().reindex(Rebuild::All).unwrap();
    assert_eq!(shown(&mut workspace), grown);
}

#[test]
fn the_newest_memories_are_those_that_a_look_at_all_of_them_gives() {
    let project = Project::new();
    let mut workspace = project.open();
    for (number, day) in [3, 1, 2, 3, 2].into_iter().enumerate() {
        let text = record(&format!("m{number}"), "Made")
            .replace(r#""updated_at": "2026-02-01T"#, &format!(r#""updated_at": "2026-02-0{day}T"#));
        fs::write(project.file(&format!("m{number}")), text).unwrap();
    }
    workspace.commit(&step("m0", LifecycleVerb::Retire)).unwrap();
    let wanted = ListFilter { status: Some(Status::Active), ..ListFilter::default() };
    let mut all = workspace.recall().entries(wanted).unwrap();
    workspace::sort_newest_first(&mut all);
    for limit in 0..6 {
        let expected = all.iter().take(limit).cloned().collect::<Vec<_>>();
        assert_eq!(
            workspace.recall().newest(Status::Active, limit).unwrap(),
            (expected, all.len()),
            "{limit}"
        );
    }
}

#[test]
fn doctor_sees_a_name_that_the_index_has_wrong() {
    let project = Project::new();
    let mut workspace = project.open();
    workspace.commit(&create("first")).unwrap();
    assert_eq!(workspace.maintenance().diagnose_index().unwrap(), []);
    for harm in [
        "DELETE FROM names WHERE word = 'first'",
        "INSERT INTO names VALUES ('extra', 0, x'01')",
        "UPDATE names SET memories = x'0101' WHERE word = 'made'",
    ] {
        let other = rusqlite::Connection::open(project.index_file()).unwrap();
        other.execute_batch(harm).unwrap();
        assert_eq!(workspace.maintenance().diagnose_index().unwrap().len(), 1, "{harm}");
        let rebuilt = workspace.maintenance().rebuilt_dump().unwrap();
        assert_ne!(workspace.maintenance().index_dump().unwrap(), rebuilt, "{harm}");
        workspace.maintenance().reindex(Rebuild::All).unwrap();
        assert_equal_to_a_rebuild(&mut workspace, harm);
    }
}

// A newcomer took the number of a memory that was still to come, and the index was made from nothing, unsaid.
#[test]
fn a_reindex_with_newcomers_keeps_what_is_known_of_the_others() {
    let project = Project::new();
    let mut workspace = project.open();
    workspace.commit(&create("m")).unwrap();
    workspace.commit(&create("n")).unwrap();
    let other = rusqlite::Connection::open(project.index_file()).unwrap();
    other.execute_batch("CREATE TABLE made_before (x)").unwrap();
    project.by_hand("a", "Before the others");
    project.by_hand("z", "Behind the others");
    fs::remove_file(project.file("m")).unwrap();
    workspace.maintenance().reindex(Rebuild::Changed).unwrap();
    assert_equal_to_a_rebuild(&mut workspace, "newcomers");
    let now = rusqlite::Connection::open(project.index_file()).unwrap();
    now.execute_batch("SELECT * FROM made_before").unwrap();
}

#[test]
fn what_was_filed_with_others_is_found_by_what_it_says_now_and_by_nothing_else() {
    const MEMORIES: usize = 70;
    let project = Project::new();
    let mut workspace = project.open();
    let name = |at: usize| format!("m{at}");
    // One word to whoever takes words apart, and more than one edit from any other: it is no misspelling of it.
    let word = |at: usize, turn: usize| {
        let (first, second) = (at / 26, at % 26);
        let letters = [first, first, second, second, turn, turn]
            .map(|number| char::from(b'a' + u8::try_from(number).unwrap()));
        format!("zebra{}q", String::from_iter(letters))
    };
    let by_hand = |at: usize, turn: usize| {
        let text = record(&name(at), "Plain")
            .replace("\"decision\": \"d\"", &format!("\"decision\": \"{}\"", word(at, turn)));
        fs::write(project.file(&name(at)), text).unwrap();
    };
    let found = |workspace: &mut Workspace, text: &str| -> usize {
        let hits = workspace.recall().search_passages(&Query::of_person(text, NOW), 1000).unwrap().hits;
        let says = |hit: &&recall::Hit| hit.explain.iter().any(|part| part.signal == Signal::Words);
        hits.iter().filter(says).count()
    };
    (0..MEMORIES).for_each(|at| by_hand(at, 0));
    for turn in 1..4 {
        let changed = || (0..MEMORIES).filter(|at| at % 4 != turn);
        for at in changed() {
            if at % 4 == 0 {
                // It gets another number, and another memory may get its own.
                fs::remove_file(project.file(&name(at))).unwrap();
                workspace.recall().entries(ListFilter::default()).unwrap();
                by_hand(at, turn);
            } else {
                workspace.commit(&revise(&name(at), "content.decision", &word(at, turn))).unwrap();
            }
        }
        assert_equal_to_a_rebuild(&mut workspace, &format!("turn {turn}"));
        for at in changed() {
            assert_eq!(found(&mut workspace, &word(at, turn)), 1, "turn {turn}, memory {at}");
            for before in 0..turn {
                assert_eq!(
                    found(&mut workspace, &word(at, before)),
                    0,
                    "turn {turn}, memory {at} in {before}"
                );
            }
        }
    }
}

#[test]
fn links_go_with_their_text_and_stay_when_their_target_is_edited() {
    let project = Project::new();
    let notes = project.0.0.join("project/.memories");
    fs::create_dir_all(&notes).unwrap();
    fs::write(notes.join("base.md"), "The base.").unwrap();
    fs::write(notes.join("child.md"), "It supersedes [[base]]. See [[src/a.rs#L1]].").unwrap();
    let mut workspace = project.open();
    let said = |workspace: &mut Workspace, of: &str| -> Vec<String> {
        let found = workspace.recall().links_to(of, Scope::Active).unwrap().links;
        found.iter().map(|link| format!("{} {}", link.from.address, link.edge.name())).collect()
    };
    assert_eq!(said(&mut workspace, "base"), ["notes/child SUPERSEDES"]);
    let text = "And more.".to_owned();
    let address = Address::note("base").unwrap();
    workspace
        .commit(&plan(Change::Revise { address, expects: None, draft: Draft::Append { text } }))
        .unwrap();
    assert_eq!(said(&mut workspace, "notes/base"), ["notes/child SUPERSEDES"]);
    assert_eq!(said(&mut workspace, "./src/A.rs"), ["notes/child mentions"]);
    // In place, by hand: the folder keeps its time.
    fs::write(notes.join("child.md"), "It extends [[base]] now, in another file.").unwrap();
    assert_eq!(said(&mut workspace, "base"), ["notes/child EXTENDS"]);
    assert_eq!(said(&mut workspace, "src/a.rs"), Vec::<String>::new());
    assert_equal_to_a_rebuild(&mut workspace, "edited");
    fs::remove_file(notes.join("child.md")).unwrap();
    assert_eq!(said(&mut workspace, "base"), Vec::<String>::new());
    assert_equal_to_a_rebuild(&mut workspace, "removed");
}

#[test]
fn doctor_sees_a_link_that_the_index_has_too_many() {
    let project = Project::new();
    let mut workspace = project.open();
    workspace.commit(&create("first")).unwrap();
    for harm in [
        "DELETE FROM links WHERE place = 1",
        "INSERT INTO links SELECT id, 9, key, target, NULL, NULL, '', of_file, of_memory FROM links LIMIT 1",
    ] {
        let other = rusqlite::Connection::open(project.index_file()).unwrap();
        other.execute_batch(harm).unwrap();
        assert_eq!(workspace.maintenance().diagnose_index().unwrap().len(), 1, "{harm}");
        workspace.maintenance().reindex(Rebuild::All).unwrap();
        assert_equal_to_a_rebuild(&mut workspace, harm);
    }
}

fn session(name: &str, completed: &[String]) -> Change {
    let text = format!(
        r#"{{"schema_version": "1.0", "category": "session_summary", "id": "{name}", "title": "{name}",
 "record_status": "active", "created_at": "2026-02-01T00:00:00Z", "updated_at": "2026-02-01T00:00:00Z",
 "tags": ["session"], "changes": [],
 "content": {{"goal": "g", "outcome": "success", "completed": ["{}"], "next_actions": []}}}}
"#,
        completed.join("\", \"")
    );
    Change::Create { address: Address::record(Category::SessionSummary, name), text }
}

// Every memory was tokenised for every item of a leaving session, and later every memory once per session.
#[test]
fn a_session_that_did_very_much_leaves_and_names_what_nobody_remembers() {
    let project = Project::new();
    let config = project.0.0.join("project/.claude/memory/memory-config.json");
    fs::write(config, r#"{"categories": {"session_summary": {"max_retained": 1}}}"#).unwrap();
    for number in 0..200 {
        project.by_hand(&format!("n{number}"), &format!("thing{number} quickly decided"));
    }
    let mut workspace = project.open();
    workspace.commit(&step("n0", LifecycleVerb::Retire)).unwrap();
    let completed: Vec<String> = (0..3_000).map(|n| format!("did thing{n} quickly there")).collect();
    workspace.commit(&plan(session("old", &completed))).unwrap();
    let receipt = workspace.commit(&plan(session("new", &["nothing".to_owned()]))).unwrap();
    let unique = receipt.notices.iter().find_map(|notice| match notice {
        Notice::Leaving { items, .. } => Some(items.clone()),
        _ => None,
    });
    let unique = unique.expect("most of it is nowhere else");
    assert_eq!((unique.len(), unique[0].as_str()), (2_801, "did thing0 quickly there"));
}

// It stayed out of every answer until a `reindex`, though it could be read again, and there was no warning.
#[test]
fn a_file_that_could_not_be_read_once_is_reported_and_tried_again() {
    const FOLDER: &str = "/p/.claude/memory/decisions";
    // The look that meets a file lists its folder, asks for its stat and reads it: each of them fails once.
    for failing in [FOLDER, "/p/.claude/memory/decisions/second.json"] {
        for skipped in 0..3 {
            let disk = SimDisk::new(1);
            disk.create_dir_all(Path::new(FOLDER)).unwrap();
            let mut workspace = full_disk::open(&disk);
            workspace.commit(&create("first")).unwrap();
            let text = record("second", "Use a queue");
            // In another tick of the clock that stamps files.
            disk.pause(Duration::from_millis(50));
            disk.create_new(&Path::new(FOLDER).join("second.json"), text.as_bytes(), None).unwrap();
            let mut calls = 0;
            disk.fail_when(move |call| {
                let is_meant = call.verb == sim::DiskVerb::Read && call.path == Path::new(failing);
                calls += usize::from(is_meant);
                (is_meant && calls > skipped).then_some(ErrorKind::Other)
            });
            let mut what = String::new();
            // At the first look, and at the next.
            for _ in 0..2 {
                let (found, said) = (titles(&mut workspace), workspace.maintenance().not_read().unwrap());
                what = format!("{failing} after {skipped}: {found:?} {said:?}");
                let is_said = said.iter().any(|(path, _)| path == Path::new(failing));
                assert!(found.contains(&"Use a queue".to_owned()) || is_said, "{what}");
            }
            disk.heal();
            assert_eq!(titles(&mut workspace), ["Memory first", "Use a queue"], "{what}");
            assert_eq!(
                workspace.recall().search(&Query::new("queue", NOW), 10).unwrap().hits.len(),
                1,
                "{what}"
            );
            assert_eq!(workspace.maintenance().not_read().unwrap(), [], "{what}");
        }
    }
}

/// What may befall a file in a cache folder.
#[test]
fn an_index_that_is_damaged_foreign_or_from_the_future_comes_back_equal() {
    type Harm = fn(&std::path::Path);
    fn without_log(path: &std::path::Path) {
        for suffix in ["-wal", "-shm"] {
            let _ = fs::remove_file(format!("{}{suffix}", path.display()));
        }
    }
    let harms: [(&str, Harm); 8] = [
        ("deleted", |path| {
            without_log(path);
            fs::remove_file(path).unwrap();
        }),
        ("empty", |path| {
            without_log(path);
            fs::write(path, "").unwrap();
        }),
        ("cut to its first pages", |path| {
            without_log(path);
            File::options().write(true).open(path).unwrap().set_len(4 * 8192).unwrap();
        }),
        ("cut in the middle of a page", |path| {
            without_log(path);
            File::options().write(true).open(path).unwrap().set_len(5000).unwrap();
        }),
        ("random bytes", |path| {
            without_log(path);
            fs::write(path, [7, 250, 3, 99].repeat(5000)).unwrap();
        }),
        ("zeroes in all pages but the first", |path| {
            without_log(path);
            let mut bytes = fs::read(path).unwrap();
            bytes[8192..].fill(0);
            fs::write(path, bytes).unwrap();
        }),
        ("another program's tables", |path| {
            without_log(path);
            fs::remove_file(path).unwrap();
            let foreign = rusqlite::Connection::open(path).unwrap();
            foreign.execute_batch("CREATE TABLE memories (x); INSERT INTO memories VALUES (1)").unwrap();
        }),
        ("from the future", |path| {
            let future = rusqlite::Connection::open(path).unwrap();
            future.execute_batch("PRAGMA user_version = 999").unwrap();
        }),
    ];
    for (harm, inflict) in harms {
        let project = Project::new();
        let mut workspace = project.open();
        for number in 0..60 {
            workspace.commit(&create(&format!("m{number}"))).unwrap();
        }
        workspace.maintenance().reindex(Rebuild::Changed).unwrap();
        let before = workspace.maintenance().index_dump().unwrap();
        drop(workspace);
        inflict(&project.index_file());
        let mut reader = project.open();
        assert_eq!(titles(&mut reader).len(), 60, "{harm}");
        assert_eq!(reader.maintenance().index_dump().unwrap(), before, "{harm}");
        drop(reader);
        let mut writer = project.open();
        writer.commit(&create("after")).unwrap();
        assert_equal_to_a_rebuild(&mut writer, harm);
        assert_eq!(writer.maintenance().diagnose_index().unwrap(), [], "{harm}");
    }
}

// A refresh that could not write the index failed the read that asked for it.
#[test]
fn a_locked_index_stops_neither_reads_nor_writes() {
    let project = Project::new();
    project.open().commit(&create("first")).unwrap();
    let holder = rusqlite::Connection::open(project.index_file()).unwrap();
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    project.by_hand("queue", "Use a queue");
    let mut workspace = project.open();
    assert_eq!(titles(&mut workspace), ["Memory first", "Use a queue"]);
    let mut workspace = project.open();
    workspace.commit(&create("second")).unwrap();
    assert!(project.listing().contains("Memory second"), "{}", project.listing());
    let (listed, notices) = workspace.maintenance().reindex(Rebuild::Changed).unwrap();
    assert_eq!((listed, notices.len()), (3, 1), "{notices:?}");
    assert!(
        workspace.maintenance().diagnose_index().unwrap()[0].what.contains("cannot keep the index on disk")
    );
    holder.execute_batch("ROLLBACK").unwrap();
    assert_equal_to_a_rebuild(&mut project.open(), "the holder is gone");
}

#[test]
fn processes_that_refresh_at_once_agree() {
    let project = Project::new();
    project.open().commit(&create("first")).unwrap();
    for round in 0..6 {
        for number in 0..20 {
            project.by_hand(&format!("r{round}n{number}"), &format!("Round {round} number {number}"));
        }
        if round % 2 == 1 {
            fs::write(project.index_file(), "not an index").unwrap();
        }
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| assert_eq!(titles(&mut project.open()).len(), 1 + 20 * (round + 1)));
            }
        });
        assert_equal_to_a_rebuild(&mut project.open(), &format!("round {round}"));
    }
}

// What gc deletes was decided before it had the lock: a memory restored meanwhile was deleted though active.
#[test]
fn a_memory_that_came_back_while_gc_was_asked_for_stays() {
    let project = Project::new();
    let config = project.0.0.join("project/.claude/memory/memory-config.json");
    fs::write(config, r#"{"delete": {"grace_period_days": 0}}"#).unwrap();
    project.open().settings().trust().unwrap();
    let (mut collector, mut other) = (project.open(), project.open());
    for name in ["a", "b"] {
        other.commit(&create(name)).unwrap();
        other.commit(&step(name, LifecycleVerb::Retire)).unwrap();
    }
    assert_eq!(collector.changes().garbage().unwrap().over.len(), 2);
    other.commit(&step("a", LifecycleVerb::Restore { from: None })).unwrap();
    let receipt = collector.changes().collect_garbage().unwrap();
    assert_eq!(receipt.outcomes.len(), 1);
    assert!(project.file("a").exists() && !project.file("b").exists());
}

// It would add fsyncs of its own to the five that a change may have.
#[test]
fn a_change_never_empties_the_log_of_the_index_and_the_next_reader_does() {
    let project = Project::new();
    drop(project.open());
    let log = format!("{}-wal", project.index_file().display());
    let length = || fs::metadata(&log).map_or(0, |log| log.len());
    let mut longest = 0;
    for part in 0..200 {
        let create = |number: usize| {
            let name = format!("m{part}-{number}");
            let text = record(&name, &format!("About {name}"));
            Change::Create { address: Address::record(Category::Decision, &name), text }
        };
        let plan = Plan { changes: (0..20).map(create).collect(), because: "new".to_owned() };
        project.open().commit(&plan).unwrap();
        assert!(length() > longest, "after {part}");
        longest = length();
        if longest > 9 << 20 {
            break;
        }
    }
    assert!(longest > 9 << 20, "{longest}");
    project.open().recall().search(&Query::new("about", NOW), 5).unwrap();
    assert_eq!(length(), 0);
}

/// A memory under another name was not found, and the same thing was saved twice.
#[test]
fn a_candidate_is_found_by_what_it_says() {
    let project = Project::new();
    let mut workspace = project.open();
    let text = record("pool", "Numbers of the store").replace(
        r#""context": "c", "decision": "d""#,
        r#""context": "Postgres connections ran out under load", "decision": "The connection pool of Postgres holds twenty connections""#,
    );
    workspace.commit(&plan(Change::Create { address: decision("pool"), text })).unwrap();
    workspace.commit(&create("other")).unwrap();
    let mut found = |text: &str| {
        let verdict = workspace.recall().candidate(Category::Decision, text, None).unwrap();
        verdict.candidate.map(|found| found.memory.address.to_string())
    };
    let same = "The Postgres connection pool now holds thirty connections";
    assert_eq!(found(same), Some("decision/pool".to_owned()));
    assert_eq!(found("The frontend is built with Vite and pnpm"), None);
    assert_eq!(workspace.recall().candidate_by_name(Category::Decision, same, None).unwrap().candidate, None);
}
