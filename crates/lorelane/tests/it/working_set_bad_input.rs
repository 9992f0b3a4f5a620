//! Whatever stands in the place of a session's files, and whatever is typed: nothing is lost, nothing is read or written
//! outside, and what was done is said. Numbers are those of the contract's sections 3 and 4.

use crate::scratch::{Said, Scratch};
use lorelane_core::json::Json;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Mutex;

const SECRET: &str = "hunter2 is the password\n";

impl Scratch {
    /// A project with a session and two files in its set.
    fn with_set() -> Scratch {
        let scratch = Scratch::new();
        fs::create_dir_all(scratch.folder.join("outside")).unwrap();
        fs::write(scratch.folder.join("outside/secret"), SECRET).unwrap();
        scratch.put("src/tide.rs", "fn tide() -> f64 {\n    1.5\n}\n");
        scratch.put("docs/plan.md", "# Plan\n\nRead the tables first.\n");
        scratch.lorelane("ws init").expect(0);
        scratch.lorelane("ws add src/tide.rs docs/plan.md --because 'the hard part'").expect(0);
        scratch
    }

    /// The folder of the one session, relative to the project.
    fn session_folder(&self) -> String {
        let id = self.read(".agent/sessions/current");
        format!(".agent/sessions/{}", id.trim())
    }

    fn session_path(&self, name: &str) -> PathBuf {
        self.project().join(self.session_folder()).join(name)
    }

    /// The events of the log, oldest first.
    fn ws_events(&self) -> Vec<Json> {
        let log = self.json("ws log --limit 100000");
        let mut events = log.at("events").and_then(Json::as_list).unwrap().to_vec();
        events.reverse();
        events
    }

    fn types(&self) -> Vec<String> {
        self.ws_events().iter().map(|event| text(event, "type")).collect()
    }

    /// The paths of the set.
    fn set(&self) -> BTreeSet<String> {
        let status = self.json("ws status");
        let files = status.at("files").and_then(Json::as_list).unwrap();
        files.iter().map(|file| text(file, "path")).collect()
    }
}

fn text(json: &Json, key: &str) -> String {
    json.at(key).and_then(Json::as_text).unwrap_or_default().to_owned()
}

fn names(said: &Said, words: &[&str]) {
    let shown = said.text();
    for word in words {
        assert!(shown.contains(word), "{word} is not in\n{shown}");
    }
}

/// What may be in the place of a file.
#[derive(Clone, Copy, Debug)]
enum Thing {
    Bytes(&'static [u8]),
    Large,
    Huge,
    Pipe,
    Socket,
    Folder,
    LinkOut,
    Endless,
}

impl Scratch {
    fn replace_by(&self, place: &PathBuf, thing: Thing) {
        let _ = fs::remove_file(place);
        let _ = fs::remove_dir_all(place);
        match thing {
            Thing::Bytes(bytes) => fs::write(place, bytes).unwrap(),
            Thing::Large => {
                fs::write(place, "files:\n".to_owned() + &"  - path: a\n".repeat(800_000)).unwrap()
            }
            Thing::Huge => File::create(place).unwrap().set_len(8 << 30).unwrap(),
            Thing::Pipe => assert!(Command::new("mkfifo").arg(place).status().unwrap().success()),
            Thing::Socket => drop(UnixListener::bind(place).unwrap()),
            Thing::Folder => fs::create_dir(place).unwrap(),
            Thing::LinkOut => symlink(self.folder.join("outside/secret"), place).unwrap(),
            Thing::Endless => symlink("/dev/zero", place).unwrap(),
        }
    }
}

const THINGS: [Thing; 17] = [
    Thing::Bytes(b""),
    Thing::Bytes(b"   \n\n# only a comment\n"),
    Thing::Bytes(b"keep: [\n  broken\nevict: [\n  broken\nfiles: [\n  broken"),
    Thing::Bytes(b"files:\n\t- path: a\n"),
    Thing::Bytes(b"a: &a [x, x]\nb: [*a, *a, *a]\nfiles: []\nkeep: []\nevict: []\n"),
    Thing::Bytes(b"files: []\nfiles: []\nkeep: []\nkeep: []\nevict: []\nevict: []\n"),
    Thing::Bytes(b"files: []\n---\nfiles: []\n"),
    Thing::Bytes(b"\xff\xfefiles: []\n"),
    Thing::Bytes(b"files: yes\nkeep: yes\nevict: yes\n"),
    Thing::Bytes(b"\0\0\0\0"),
    Thing::Large,
    Thing::Huge,
    Thing::Pipe,
    Thing::Socket,
    Thing::Folder,
    Thing::LinkOut,
    Thing::Endless,
];

// Section 4: a corrupt manifest is renamed, a minimal one written, the event logged, exit code 0.
#[test]
fn a_manifest_that_cannot_be_used_is_renamed_and_replaced() {
    let scratch = Scratch::with_set();
    let mut recoveries = 0;
    for (name, list) in [("working-set.yml", "files: []"), ("hot.yml", "keep: []"), ("cold.yml", "evict: []")]
    {
        let place = scratch.session_path(name);
        for (number, thing) in THINGS.into_iter().enumerate() {
            scratch.replace_by(&place, thing);
            let before = match thing {
                Thing::Bytes(_) | Thing::Large => fs::read(&place).ok(),
                _ => None,
            };
            let said = scratch.lorelane("ws status").expect(0);
            let aside = match number {
                0 => format!("{name}.corrupted"),
                number => format!("{name}.corrupted-{}", number + 1),
            };
            let at = format!("{name} {thing:?}: {}", said.text());
            assert!(said.err.contains(&format!("it was renamed to {aside}")), "{at}");
            assert!(fs::symlink_metadata(scratch.session_path(&aside)).is_ok(), "{at}");
            if let Some(before) = before {
                assert!(before == fs::read(scratch.session_path(&aside)).unwrap(), "{at}");
            }
            let new = fs::read_to_string(&place).unwrap();
            assert!(new.contains(list), "{at}\n{new}");
            recoveries += 1;
            let logged = scratch.types().iter().filter(|kind| *kind == "recovery").count();
            assert_eq!(logged, recoveries, "{at}");
            // Once is enough.
            assert_eq!(scratch.lorelane("ws status").expect(0).err, "", "{at}");
        }
    }
    scratch.lorelane("ws log --verify").expect(0);
    assert_eq!(fs::read_to_string(scratch.folder.join("outside/secret")).unwrap(), SECRET);
    scratch.lorelane("ws add src/tide.rs --because 'it goes on'").expect(0);
    assert_eq!(scratch.set(), BTreeSet::from(["src/tide.rs".to_owned()]));
}

// Section 3, number 13, and section 4: an edit of the log is detected, its place named, writing continues in a new file.
#[test]
fn an_edited_log_names_the_place_and_writing_continues_in_a_new_file() {
    for next in ["ws touch src/tide.rs", "ws add docs/plan.md --priority 0.9 --because 'more of it'"] {
        let scratch = Scratch::with_set();
        scratch.lorelane("ws touch --turn src/tide.rs").expect(0);
        let log = scratch.session_path("session-log.md");
        let edited = fs::read_to_string(&log).unwrap().replace("the hard part", "the easy part");
        fs::write(&log, &edited).unwrap();
        let found = scratch.lorelane("ws log --verify").expect(1);
        names(&found, &["line ", "event 3 does not follow the one before it"]);
        let said = scratch.lorelane(next).expect(0);
        names(&said, &["warning: the session log was edited: session-log.md: line ", "session-log-2.md"]);
        assert_eq!(fs::read_to_string(&log).unwrap(), edited, "evidence is not touched");
        let second = fs::read_to_string(scratch.session_path("session-log-2.md")).unwrap();
        names_in(&second, &["LOG_EDITED", "session-log.md: line "]);
        let events = scratch.ws_events();
        let numbers: Vec<u64> =
            events.iter().map(|event| event.at("seq").and_then(Json::as_u64).unwrap()).collect();
        assert_eq!(numbers, (1..=events.len() as u64).collect::<Vec<_>>(), "{next}");
        // It goes on there, and the fault is known for ever.
        let said = scratch.lorelane("ws touch --turn docs/plan.md").expect(0);
        assert_eq!(said.err, "", "{next}");
        scratch.lorelane("ws log --verify").expect(1);
        assert!(!scratch.session_path("session-log-3.md").exists());
        assert_eq!(scratch.set().len(), 2, "{next}");
    }
}

fn names_in(text: &str, words: &[&str]) {
    words.iter().for_each(|word| assert!(text.contains(word), "{word} is not in\n{text}"));
}

#[test]
fn what_is_no_log_in_the_place_of_the_log_stays_and_writing_continues_in_a_new_file() {
    for thing in [
        Thing::Bytes(b"# Session Log: x\n\n\xff\xfe\n"),
        Thing::Bytes(b"---\n\n```yaml\n: [\n```\n"),
        Thing::Huge,
        Thing::Pipe,
        Thing::Folder,
        Thing::LinkOut,
        Thing::Endless,
    ] {
        let scratch = Scratch::with_set();
        let log = scratch.session_path("session-log.md");
        scratch.replace_by(&log, thing);
        let kind = fs::symlink_metadata(&log).unwrap().file_type();
        names(
            &scratch.lorelane("ws add docs/plan.md --priority 0.9 --because later").expect(0),
            &["session-log-2.md"],
        );
        assert_eq!(fs::symlink_metadata(&log).unwrap().file_type(), kind, "{thing:?}");
        assert_eq!(fs::read_to_string(scratch.folder.join("outside/secret")).unwrap(), SECRET, "{thing:?}");
        assert_eq!(scratch.set().len(), 2, "{thing:?}: the files are the truth");
        scratch.lorelane("ws log --verify").expect(1);
    }
}

// A log that came with a repository: a number at its end made the next one overflow.
#[test]
fn a_log_with_the_largest_numbers_is_continued() {
    let scratch = Scratch::with_set();
    let log = scratch.session_path("session-log.md");
    let event = format!(
        "\n---\n\n## 2026-01-01 00:00:00Z — Turn\n\n```yaml\ntype: model_turn\ntimestamp: \"2026-01-01T00:00:00Z\"\n\
         seq: {}\nturn: {}\nchange: {}\nprev: \"x\"\ntouches: []\n```\n",
        u64::MAX,
        u32::MAX,
        u64::MAX
    );
    let forged = fs::read_to_string(&log).unwrap() + &event;
    fs::write(&log, forged).unwrap();
    for line in
        ["ws touch --turn src/tide.rs", "ws status", "ws advise --hot src/tide.rs --because x", "ws assemble"]
    {
        scratch.lorelane(line).expect(0);
    }
}

// Section 3, number 7: paths that escape, vanish, or are no files.
#[test]
fn a_path_that_is_no_file_of_the_project_is_rejected_by_its_name() {
    let scratch = Scratch::with_set();
    fs::create_dir_all(scratch.project().join("folder")).unwrap();
    for (name, thing) in
        [("pipe", Thing::Pipe), ("socket", Thing::Socket), ("link", Thing::LinkOut), ("zero", Thing::Endless)]
    {
        scratch.replace_by(&scratch.project().join(name), thing);
    }
    symlink("../outside", scratch.project().join("behind")).unwrap();
    symlink("src", scratch.project().join("inside")).unwrap();
    let long = "x".repeat(300);
    let before = scratch.tree_without_cache();
    for (path, code) in [
        ("../outside/secret", "PERMISSION_DENIED"),
        ("docs/../../outside/secret", "PERMISSION_DENIED"),
        ("/etc/passwd", "PERMISSION_DENIED"),
        ("/dev/null", "PERMISSION_DENIED"),
        ("link", "PERMISSION_DENIED"),
        ("zero", "PERMISSION_DENIED"),
        ("behind/secret", "PERMISSION_DENIED"),
        ("inside/tide.rs", "PERMISSION_DENIED"),
        ("pipe", "PERMISSION_DENIED"),
        ("socket", "PERMISSION_DENIED"),
        ("folder", "PERMISSION_DENIED"),
        (".", "PERMISSION_DENIED"),
        ("no-such.rs", "NOT_FOUND"),
        ("src/tide.rs/x", "NOT_FOUND"),
        (&long, "NOT_FOUND"),
        ("", ""),
    ] {
        for line in ["ws add", "ws touch", "pin"] {
            let said = scratch
                .lorelane(&format!("{line} '{path}'{}", if line == "ws add" { " --because x" } else { "" }));
            assert!(matches!(said.code, Some(1 | 2)), "{line} {path}: {}", said.text());
            if line != "pin" {
                names(&said, &[code]);
            }
            assert!(!said.err.contains("os error"), "{line} {path}: {}", said.text());
        }
        let said = scratch.lorelane(&format!("ws advise --hot '{path}' --because x")).expect(0);
        assert!(said.err.contains("warning:"), "an unknown path is a warning: {path}: {}", said.text());
    }
    let mut after = scratch.tree_without_cache();
    let mut before = before;
    // The advice about nothing is logged.
    for tree in [&mut before, &mut after] {
        tree.retain(|path, _| !path.contains("session-log") && !path.contains("/state/"));
    }
    assert_eq!(before, after);
}

#[test]
fn a_name_that_is_not_utf8_is_rejected_wherever_it_is() {
    let scratch = Scratch::with_set();
    scratch.git(&["init", "--quiet"]);
    let folder = scratch.project().join(OsStr::from_bytes(b"caf\xe9"));
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("a.md"), "x\n").unwrap();
    let typed = scratch
        .command(&["ws", "add", "--because", "x"])
        .arg(OsStr::from_bytes(b"caf\xe9/a.md"))
        .output()
        .unwrap();
    assert_eq!(typed.status.code(), Some(2));
    let inside =
        scratch.command(&["ws", "add", "a.md", "--because", "x"]).current_dir(&folder).output().unwrap();
    let said = scratch.said(&inside);
    assert_eq!(said.code, Some(2), "{}", said.text());
    names(&said, &["INVALID_ARGS", "not UTF-8"]);
    assert_eq!(scratch.set().len(), 2);
}

// An entry of a manifest was opened wherever it led: `/etc/passwd` was assembled for the model.
#[test]
fn entries_that_lead_outside_reach_neither_the_context_nor_a_summary() {
    let scratch = Scratch::with_set();
    symlink("../outside", scratch.project().join("behind")).unwrap();
    symlink("../outside/secret", scratch.project().join("link")).unwrap();
    let outside = scratch.folder.join("outside/secret");
    let paths =
        [outside.to_str().unwrap(), "../outside/secret", "behind/secret", "link", "./../outside/secret"];
    let entries: String =
        paths.iter().map(|path| format!("  - path: \"{path}\"\n    priority: 1.0\n")).collect();
    fs::write(scratch.session_path("working-set.yml"), format!("files:\n{entries}  - path: docs/plan.md\n"))
        .unwrap();
    let context = scratch.json("ws assemble");
    assert_eq!(context.at("excluded").and_then(Json::as_list).unwrap().len(), paths.len(), "{context:?}");
    names_in(&text(&context, "text"), &["Read the tables first"]);
    for line in ["ws assemble", "ws status", "ws status --json", "ws log", "ws advise --hot link --because x"]
    {
        let said = scratch.lorelane(line).expect(0);
        assert!(!said.text().contains("hunter2"), "{line}: {}", said.text());
    }
    for path in paths {
        scratch.lorelane(&format!("ws remove '{path}' --because 'not ours'")).expect(0);
    }
    assert_eq!(scratch.set(), BTreeSet::from(["docs/plan.md".to_owned()]));
    assert_eq!(fs::read_to_string(outside).unwrap(), SECRET);
}

// Section 3, number 7: other programs name files of the session relative to its folder.
#[test]
fn c7_an_entry_relative_to_the_session_is_found_there() {
    let scratch = Scratch::with_set();
    fs::write(scratch.session_path("task.md"), "# The task of the session\n").unwrap();
    fs::write(scratch.session_path("working-set.yml"), "files:\n  - path: task.md\n").unwrap();
    names_in(&text(&scratch.json("ws assemble"), "text"), &["The task of the session"]);
    let said = scratch.lorelane("ws add task.md --because 'it is ours'").expect(0);
    names(&said, &[&format!("added {}/task.md", scratch.session_folder())]);
}

#[test]
fn a_file_that_vanished_or_became_something_else_is_named_and_can_be_removed() {
    let scratch = Scratch::with_set();
    for thing in
        [None, Some(Thing::Folder), Some(Thing::Pipe), Some(Thing::LinkOut), Some(Thing::Bytes(b"\xff\xfe"))]
    {
        let place = scratch.project().join("src/tide.rs");
        match thing {
            None => fs::remove_file(&place).unwrap(),
            Some(thing) => scratch.replace_by(&place, thing),
        }
        let context = scratch.json("ws assemble");
        let [left_out] = context.at("excluded").and_then(Json::as_list).unwrap() else {
            panic!("{context:?}")
        };
        assert_eq!(
            (text(left_out, "path").as_str(), text(left_out, "reason").as_str()),
            ("src/tide.rs", "unreadable")
        );
        let status = scratch.lorelane("ws status").expect(0);
        assert!(status.out.contains(" ? "), "{thing:?}: {}", status.text());
    }
    scratch.lorelane("ws remove src/tide.rs --because 'it is gone'").expect(0);
    assert_eq!(scratch.set(), BTreeSet::from(["docs/plan.md".to_owned()]));
}

// Section 3, number 4: a must-keep that does not fit is loud, and what fits is printed.
#[test]
fn budgets_of_nothing_or_less_than_what_is_pinned() {
    let scratch = Scratch::with_set();
    for budget in ["-5", "many", "1.5", "", "99999999999999999999999"] {
        let said = scratch.lorelane(&format!("ws assemble --budget '{budget}'")).expect(2);
        assert!(said.err.contains("--budget") || said.err.contains("-5"), "{}", said.text());
    }
    let said = scratch.lorelane("ws assemble --budget 0").expect(0);
    assert_eq!(said.out, "", "{}", said.text());
    names(&said, &["left out docs/plan.md", "left out src/tide.rs"]);
    scratch.put("big.md", "A long line of a pinned file, again and again.\n".repeat(500));
    scratch.lorelane("pin big.md").expect(0);
    let said = scratch.lorelane("ws assemble --budget 300").expect(1);
    names(&said, &["BUDGET_EXCEEDED: big.md", "again and again"]);
    let json = scratch.lorelane("ws assemble --budget 300 --json").expect(1);
    let json = Json::parse(&json.out).unwrap();
    assert_eq!(json.at("budget_exceeded").and_then(Json::as_list).unwrap().len(), 1);
    let used = json.at("budget.used").and_then(Json::as_u64).unwrap();
    assert!(used > 0 && used <= json.at("budget.effective").and_then(Json::as_u64).unwrap());
    scratch.lorelane("ws assemble --budget 0").expect(1);
}

// Section 3, number 2: `effective` that disagrees: the smaller one, with a warning.
#[test]
fn c2_a_budget_in_the_manifest_that_means_nothing_is_said() {
    let scratch = Scratch::with_set();
    for (budget, warning, effective) in [
        ("max_tokens: -5", "`-5` is not a number of tokens", 24_000),
        ("max_tokens: lots", "`lots` is not a number of tokens", 24_000),
        ("max_tokens: 0", "", 0),
        ("max_tokens: 1000\n  reserved_for_response: 2000", "", 0),
        ("max_tokens: 10000\n  reserved_for_response: 1000\n  effective: 9500", "budget.effective", 9_000),
        ("max_tokens: 10000\n  reserved_for_response: 1000\n  effective: 500", "budget.effective", 500),
    ] {
        fs::write(scratch.session_path("working-set.yml"), format!("budget:\n  {budget}\nfiles: []\n"))
            .unwrap();
        let said = scratch.lorelane("ws status --json").expect(0);
        assert_eq!(said.err.is_empty(), warning.is_empty(), "{budget}: {}", said.text());
        assert!(said.err.contains(warning), "{budget}: {}", said.text());
        let found = Json::parse(&said.out).unwrap().at("budget.effective").and_then(Json::as_u64);
        assert_eq!(found, Some(effective), "{budget}");
    }
}

#[test]
fn a_clock_that_goes_back_loses_nothing() {
    let mut scratch = Scratch::with_set();
    scratch.lorelane("ws touch --turn src/tide.rs").expect(0);
    let session = scratch.read(".agent/sessions/current");
    for now in ["2020-01-01T00:00:00Z", "1970-01-01T00:00:00Z", "2026-02-28T23:59:59Z"] {
        scratch.now = now;
        scratch.lorelane("ws advise --hot docs/plan.md --because 'before it began'").expect(0);
        scratch.lorelane("ws touch --turn docs/plan.md").expect(0);
        scratch.lorelane("ws remove src/tide.rs --because 'for now'").expect(0);
        scratch.lorelane("undo").expect(0);
        assert_eq!(scratch.set().len(), 2, "{now}");
    }
    scratch.lorelane("ws log --verify").expect(0);
    assert_eq!(scratch.json("ws status").at("turn").and_then(Json::as_u64), Some(4));
    assert_eq!(session, scratch.read(".agent/sessions/current"));
    let events = scratch.ws_events();
    let numbers: Vec<u64> =
        events.iter().map(|event| event.at("seq").and_then(Json::as_u64).unwrap()).collect();
    assert_eq!(numbers, (1..=events.len() as u64).collect::<Vec<_>>());
}

// Section 3, number 34: two agents in one folder, some of them killed.
#[test]
fn c34_agents_that_write_at_once_lose_no_decision_even_if_some_are_killed() {
    let scratch = Scratch::with_set();
    for number in 0..8 {
        scratch.put(&format!("many/f{number}.md"), format!("# File {number}\n"));
    }
    let acknowledged = Mutex::new(Vec::new());
    std::thread::scope(|threads| {
        for agent in 0..4_u32 {
            let (scratch, acknowledged) = (&scratch, &acknowledged);
            threads.spawn(move || {
                for step in 0..10_u32 {
                    let token = format!("token-{agent}-{step}");
                    let path = format!("many/f{}.md", (agent * 3 + step) % 8);
                    let words = match step % 4 {
                        0 | 1 => vec!["ws", "add", &path, "--because", &token],
                        2 => vec!["ws", "advise", "--hot", &path, "--because", &token],
                        _ => vec!["ws", "touch", &path, "--turn"],
                    };
                    let mut command = scratch.command(&words);
                    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
                    let is_killed = (agent + step) % 3 == 0;
                    // No clock: each is killed after another number of looks.
                    for _ in 0..(step * 40 + agent * 7) {
                        if !is_killed || child.try_wait().unwrap().is_some() {
                            break;
                        }
                        std::thread::yield_now();
                    }
                    if is_killed {
                        let _ = child.kill();
                    }
                    if child.wait().unwrap().success() && step % 4 != 3 {
                        acknowledged.lock().unwrap().push(token);
                    }
                }
            });
        }
    });
    // The next writer completes what a killed one began.
    scratch.lorelane("ws add docs/plan.md --priority 0.4 --because last").expect(0);
    scratch.lorelane("ws log --verify").expect(0);
    let events = scratch.ws_events();
    let acknowledged = acknowledged.into_inner().unwrap();
    assert!(acknowledged.len() > 10, "{acknowledged:?}");
    for token in &acknowledged {
        let found = events.iter().filter(|event| text(event, "why") == *token).count();
        assert_eq!(found, 1, "{token}");
    }
    let numbers: Vec<u64> =
        events.iter().map(|event| event.at("seq").and_then(Json::as_u64).unwrap()).collect();
    assert_eq!(numbers, (1..=events.len() as u64).collect::<Vec<_>>());
    // Nobody edited a file by hand, so the log has to explain every one of them.
    let by_hand = events.iter().filter(|event| text(event, "by") == "file").count();
    assert_eq!(by_hand, 0, "{events:?}");
    assert!(!scratch.session_path("session-log-2.md").exists());
}

// Section 3, numbers 21, 22 and 33: a sidecar without its file stays; one that cannot be read is kept aside.
#[test]
fn c21_sidecars_without_a_file_or_without_sense() {
    let scratch = Scratch::with_set();
    fs::create_dir_all(scratch.session_path("meta/gone")).unwrap();
    fs::write(scratch.session_path("meta/gone/a.md.meta.yml"), "title: gone\npin: true\n").unwrap();
    scratch.lorelane("ws status").expect(0);
    assert_eq!(scratch.set().len(), 2);
    for (number, thing) in [
        Thing::Bytes(b"\xff\xfe"),
        Thing::Bytes(b"pin: [\n\tx"),
        Thing::Huge,
        Thing::Pipe,
        Thing::Folder,
        Thing::LinkOut,
        Thing::Endless,
    ]
    .into_iter()
    .enumerate()
    {
        let place = scratch.session_path("meta/src/tide.rs.meta.yml");
        scratch.replace_by(&place, thing);
        scratch.lorelane("ws status").expect(0);
        let line = if number % 2 == 0 { "pin src/tide.rs" } else { "unpin src/tide.rs" };
        let said = scratch.lorelane(line);
        assert_eq!(said.code, Some(0), "{thing:?}: {}", said.text());
        let kind = fs::symlink_metadata(&place).unwrap().file_type();
        assert!(kind.is_file() || said.out.contains("No change"), "{thing:?}: {}", said.text());
    }
    scratch.replace_by(
        &scratch.session_path("meta/src/tide.rs.meta.yml"),
        Thing::Bytes(b"title: mine # x\n\xff"),
    );
    scratch.lorelane("ws add src/tide.rs --priority 0.7 --because again").expect(0);
    let kept =
        fs::read_dir(scratch.session_path("meta/src")).unwrap().map(|entry| entry.unwrap().file_name());
    let kept: Vec<String> =
        kept.map(|name| name.into_string().unwrap()).filter(|name| name.contains(".corrupted")).collect();
    assert!(!kept.is_empty());
    assert!(scratch.types().iter().any(|kind| kind == "recovery"));
    assert_eq!(fs::read_to_string(scratch.folder.join("outside/secret")).unwrap(), SECRET);
}

// Section 4: a call without a reason is MISSING_WHY, and nothing is changed.
#[test]
fn a_change_without_a_reason_is_refused() {
    let scratch = Scratch::with_set();
    let before = scratch.tree_without_cache();
    for line in
        ["ws add docs/plan.md", "ws remove docs/plan.md", "ws advise --hot docs/plan.md", "ws advise --gc"]
    {
        for because in ["", " --because ''", " --because '  '", " --why ' '"] {
            let said = scratch.lorelane(&format!("{line}{because}")).expect(2);
            names(&said, &["MISSING_WHY", "--because"]);
        }
    }
    assert_eq!(before, scratch.tree_without_cache());
}

// Section 3, number 8: the places where other programs keep a session are found.
#[test]
fn c8_a_session_folder_that_exists_is_used() {
    for root in [".agent", ".agent/sessions/current", ".moollm", "."] {
        let scratch = Scratch::new();
        scratch.put("src/a.rs", "fn a() {}\n");
        scratch.put(&format!("{root}/working-set.yml"), "# mine\nfocus:\n  - src/a.rs  # now\n");
        scratch.lorelane("ws init").expect(0);
        assert_eq!(scratch.set(), BTreeSet::from(["src/a.rs".to_owned()]), "{root}");
        scratch.put("src/b.rs", "fn b() {}\n");
        scratch.lorelane("ws add src/b.rs --because 'both'").expect(0);
        let text = scratch.read(&format!("{root}/working-set.yml"));
        assert!(text.starts_with("# mine\nfocus:\n  - src/a.rs  # now\n"), "{root}: {text}");
        assert_eq!(scratch.set().len(), 2, "{root}");
        scratch.lorelane("undo").expect(0);
        assert_eq!(scratch.set().len(), 1, "{root}");
    }
}

#[test]
fn a_session_root_that_leads_outside_is_refused() {
    let scratch = Scratch::new();
    fs::create_dir_all(scratch.folder.join("outside")).unwrap();
    symlink("../outside", scratch.project().join("link")).unwrap();
    symlink("../outside", scratch.project().join(".agent")).unwrap();
    scratch.put("file", "x\n");
    for root in ["../outside", "/tmp", "", "a/../../outside", "link", "link/deeper", "file"] {
        let said = scratch.lorelane(&format!("ws init --session-root '{root}'"));
        assert!(matches!(said.code, Some(1 | 2)), "{root}: {}", said.text());
    }
    let said = scratch.lorelane("ws init");
    assert!(matches!(said.code, Some(1 | 2)), "{}", said.text());
    assert_eq!(fs::read_dir(scratch.folder.join("outside")).unwrap().count(), 0);
    names(
        &scratch.lorelane("ws status").expect(2),
        &["cannot find a working set", "`lorelane ws init` creates one"],
    );
}
