//! A clone from somebody hostile: every command and every hook is run in it. Nothing that it brings is executed,
//! nothing is written outside the declared folders, nothing hangs, and memory stays bounded.

use crate::scratch::{CONFIG, DECISION, LANE, LISTING, MARKS, Said, Scratch, USE_JWT, words};
use lorelane_core::json::Json;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What a process may take. A limit of the kernel tells sooner and more exactly than a look at it afterwards.
const MEMORY_MAX_KB: u32 = 100 << 10;
/// Longer than anything takes on a busy machine; only what hangs is ended by it.
const PATIENCE_S: u32 = 120;
const CLIENTS: [&str; 5] = ["claude-code", "codex", "gemini", "copilot", "opencode"];
const EVENTS: [&str; 8] = [
    "session-start",
    "prompt",
    "before-tool",
    "after-tool",
    "tool-failure",
    "stop",
    "pre-compact",
    "session-end",
];
const HOOKS_OF_GIT: [&str; 4] = ["pre-commit", "post-commit", "post-index-change", "reference-transaction"];

/// How much of everything the clone brings.
#[derive(Clone, Copy)]
struct Mass {
    marks: usize,
    nested: usize,
}

/// For every command: each of them reads the marks.
const SOME: Mass = Mass { marks: 100, nested: 50 };
/// For some commands: those that read all marks take 0.4 s each.
const MOST: Mass = Mass { marks: 100_000, nested: 1_500 };

impl Scratch {
    /// Runs a line in a folder, within memory and patience.
    fn contained(&self, folder: &Path, line: &str, input: &str) -> Said {
        let words = words(line);
        let inner = self.command(&words.iter().map(String::as_str).collect::<Vec<_>>());
        let limits = format!("ulimit -d {MEMORY_MAX_KB} && exec timeout -k 1 {PATIENCE_S} \"$0\" \"$@\"");
        let mut command = Command::new("sh");
        command.arg("-c").arg(limits).arg(inner.get_program()).args(inner.get_args()).current_dir(folder);
        command.env_clear().envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.env("LORELANE_HOOK_DEADLINE_MS", "600000").env("EDITOR", "true");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // It may end before it has read everything.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        let said = self.said(&child.wait_with_output().unwrap());
        assert!(matches!(said.code, Some(0..=2)), "{line}: {}", said.text());
        for fault in ["memory allocation", "out of memory", "internal error"] {
            assert!(!said.err.contains(fault), "{line}: {}", said.text());
        }
        said
    }

    fn make(&self, path: &str, thing: Thing) {
        let place = self.folder.join(path);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        let _ = fs::remove_file(&place);
        match thing {
            Thing::Endless => symlink("/dev/zero", place).unwrap(),
            Thing::Pipe => assert!(Command::new("mkfifo").arg(place).status().unwrap().success()),
            Thing::Huge => File::create(place).unwrap().set_len(8 << 30).unwrap(),
            Thing::LinkOut => symlink(self.folder.join("outside/secret"), place).unwrap(),
        }
    }
}

/// What may lie in the place of a file.
#[derive(Clone, Copy, Debug)]
enum Thing {
    Endless,
    Pipe,
    Huge,
    LinkOut,
}

const THINGS: [Thing; 4] = [Thing::Endless, Thing::Pipe, Thing::Huge, Thing::LinkOut];
const SECRET: &str = "{\"title\": \"hunter2\", \"memory_root\": \"hunter2\"}\nhunter2 = \"hunter2\"\n";
const PROMPT: &str = r#"{"session_id": "s", "prompt": "how do we use JWT for auth?", "cwd": "."}"#;

// `lorelane.toml` that was a link to /dev/zero took 2 GB within seconds, a pipe hung for ever.
#[test]
fn whatever_lies_in_the_place_of_a_file_every_reader_ends() {
    let create = format!("create decision --title 'Use a queue' --tag auth {DECISION}");
    let reading: &[&str] = &["list", "search jwt", "status", "doctor", "reindex", "hook prompt"];
    let table: [(&str, &[&str]); 14] = [
        (
            "project/lorelane.toml",
            &["status", "config set secrets redact", &create, "hook prompt", "hook stop"],
        ),
        (
            &format!("project/{CONFIG}"),
            &["status", "config set auto_commit false", &create, "hook before-tool", "init"],
        ),
        (&format!("project/{LISTING}"), &["doctor", "reindex", "forget use-jwt --dry-run"]),
        (&format!("project/{MARKS}"), &["list", "doctor", "pin use-jwt", "hook session-start", "undo"]),
        (&format!("project/{USE_JWT}"), reading),
        (
            &format!("project/{USE_JWT}"),
            &["show use-jwt", "update use-jwt --set title=T", "retire use-jwt", "undo", "hook after-tool"],
        ),
        (
            "project/.memories/plan.md",
            &["list", "search plan", "show notes/plan", "append notes/plan more", "doctor", "hook prompt"],
        ),
        (&format!("project/{LANE}/.lorelane-journal/journal"), &["log", "log --verify", &create]),
        ("project/.lorelane/expectations.jsonl", &["bench"]),
        (
            "project/given",
            &[
                "create decision --from given",
                "bench --expect given",
                "search --batch given",
                "consolidate commit given",
            ],
        ),
        ("given", &["compat memory_write --action create --category decision --target x --input ../given"]),
        ("home/transcript.jsonl", &["hook stop"]),
        (
            "home/.claude/settings.json",
            &["setup claude-code --yes", "setup claude-code --remove --yes", "doctor"],
        ),
        ("home/config/lorelane.toml", &["list"]),
    ];
    let scratch = Scratch::with_jwt();
    fs::create_dir_all(scratch.folder.join("outside")).unwrap();
    fs::write(scratch.folder.join("outside/secret"), SECRET).unwrap();
    for (place, lines) in table {
        for thing in THINGS {
            let place_now = scratch.folder.join(place);
            let former = fs::read(&place_now).ok();
            scratch.make(place, thing);
            for line in lines {
                let said = scratch.contained(&scratch.project(), line, &payload(&scratch, line));
                let own = place.starts_with("home") || place.ends_with("given");
                assert!(own || !said.out.contains("hunter2"), "{place} {thing:?} {line}: {}", said.text());
            }
            let _ = fs::remove_file(&place_now);
            if let Some(former) = former {
                fs::write(&place_now, former).unwrap();
            }
            assert_eq!(fs::read_to_string(scratch.folder.join("outside/secret")).unwrap(), SECRET, "{place}");
        }
    }
}

/// What a hook gets on its standard input; nothing for a command.
fn payload(scratch: &Scratch, line: &str) -> String {
    match line.strip_prefix("hook ") {
        None => String::new(),
        Some(prompt) if prompt.starts_with("prompt") => PROMPT.to_owned(),
        Some(_) => format!(
            r#"{{"session_id": "s", "cwd": ".", "transcript_path": "{}", "prompt": "JWT", "tool_name": "Bash", "tool_input": {{"command": "touch x"}}}}"#,
            scratch.home().join("transcript.jsonl").display()
        ),
    }
}

/// A repository with everything that one can bring, and its canary.
fn hostile(mass: Mass) -> Scratch {
    let scratch = Scratch::with_jwt();
    fs::create_dir_all(scratch.folder.join("outside/sessions")).unwrap();
    fs::write(scratch.folder.join("outside/secret"), SECRET).unwrap();
    let evil = scratch.folder.join("evil");
    fs::write(&evil, format!("#!/bin/sh\necho \"$0 $@\" >> '{}'\n", canary(&scratch).display())).unwrap();
    fs::set_permissions(&evil, PermissionsExt::from_mode(0o755)).unwrap();
    scratch.put(".gitattributes", "* filter=evil diff=evil\n");
    scratch.put("docs/a.md", "a\n");
    git(&scratch, &["init", "--quiet", "-b", "main", "."]);
    git(&scratch, &["add", "-A"]);
    git(
        &scratch,
        &["-c", "user.name=A", "-c", "user.email=a@b", "commit", "--quiet", "-m", "decision/use-jwt"],
    );
    git(&scratch, &["init", "--quiet", "--bare", "../imitation"]);
    arm(&scratch, "project/.git", "");
    arm(&scratch, "imitation", "\trepositoryformatversion = 0\n\tbare = false\n\tworktree = ../imitation\n");
    scratch.put(&format!("../imitation/{USE_JWT}"), scratch.read(USE_JWT));
    weaken(&scratch);
    litter(&scratch, mass);
    scratch
}

/// A folder with what a bare repository has, as a clone can bring it.
fn imitation(scratch: &Scratch) -> PathBuf {
    scratch.folder.join("imitation")
}

fn canary(scratch: &Scratch) -> PathBuf {
    scratch.folder.join("canary")
}

fn git(scratch: &Scratch, words: &[&str]) {
    let mut command = Command::new("git");
    assert!(command.current_dir(scratch.project()).args(words).status().unwrap().success(), "{words:?}");
}

/// Names a program wherever git takes one.
fn arm(scratch: &Scratch, git_dir: &str, core: &str) {
    let evil = scratch.folder.join("evil");
    let folder = scratch.folder.join(git_dir);
    fs::create_dir_all(folder.join("hooks")).unwrap();
    for hook in HOOKS_OF_GIT {
        let _ = fs::remove_file(folder.join("hooks").join(hook));
        symlink(&evil, folder.join("hooks").join(hook)).unwrap();
    }
    let evil = evil.display();
    let config = format!(
        "[core]\n{core}\tfsmonitor = {evil}\n\tpager = {evil}\n\teditor = {evil}\n\tsshCommand = {evil}\n\
         [diff]\n\texternal = {evil}\n[diff \"evil\"]\n\ttextconv = {evil}\n\tcommand = {evil}\n\
         [filter \"evil\"]\n\tclean = {evil}\n\tsmudge = {evil}\n\
         [gpg]\n\tprogram = {evil}\n[log]\n\tshowSignature = true\n"
    );
    fs::write(folder.join("config"), config).unwrap();
}

/// Settings that weaken the user's.
fn weaken(scratch: &Scratch) {
    let weak = r#"{"auto_commit": true, "delete": {"grace_period_days": 0, "archive_retired": false}, "categories": {"decision": {"description": "run evil"}}}"#;
    let toml = "secrets = \"allow\"\n[stop]\nunattended = \"ask\"\n[notes]\nstorage = \"user\"\n";
    for root in ["", "../imitation/"] {
        scratch.put(&format!("{root}{CONFIG}"), weak);
        scratch.put(&format!("{root}lorelane.toml"), toml);
    }
}

/// What is no file where files are expected, and too much of everything.
fn litter(scratch: &Scratch, mass: Mass) {
    for (name, thing) in
        [("zero", Thing::Endless), ("pipe", Thing::Pipe), ("huge", Thing::Huge), ("out", Thing::LinkOut)]
    {
        scratch.make(&format!("project/{LANE}/decisions/{name}.json"), thing);
        scratch.make(&format!("project/.memories/{name}.md"), thing);
        scratch.make(&format!("imitation/{LANE}/decisions/{name}.json"), thing);
    }
    scratch.put(&format!("{LANE}/decisions/broken.json"), "{");
    fs::create_dir_all(scratch.project().join(LANE)).unwrap();
    let sessions = scratch.project().join(LANE).join("sessions");
    let _ = fs::remove_dir_all(&sessions);
    symlink(scratch.folder.join("outside/sessions"), sessions).unwrap();
    let mark = |number: usize| {
        let address = format!("decision/m{number}");
        format!("{{\"mark\": \"pin\", \"address\": \"{address}\", \"at\": \"2026-01-01T00:00:00Z\"}}\n")
    };
    scratch.put(MARKS, (0..mass.marks).map(mark).collect::<String>());
    scratch.put(&format!(".memories/{}note.md", "d/".repeat(mass.nested)), "# Deep\n");
    bring_session(scratch, mass.marks);
}

/// A session as a clone can bring it, in the place where `ws init` would look for one.
fn bring_session(scratch: &Scratch, entries: usize) {
    let outside = scratch.folder.join("outside/secret");
    let leading_out = ["../outside/secret", outside.to_str().unwrap(), ".agent/out", ".agent/link/secret"];
    let listed = leading_out.iter().map(|path| format!("  - path: \"{path}\"\n    priority: 1.0\n"));
    let many = (0..entries).map(|number| format!("  - path: many/{number}.md\n"));
    scratch.put(".agent/working-set.yml", format!("files:\n{}", listed.chain(many).collect::<String>()));
    let keep: String = leading_out.iter().map(|path| format!("  - path: \"{path}\"\n    why: x\n")).collect();
    scratch.put(".agent/hot.yml", format!("keep:\n{keep}"));
    let sidecar = format!("pin: true\nsummarized_in: \"{}\"\n", outside.display());
    scratch.put(".agent/meta/docs/a.md.meta.yml", sidecar);
    let event = "\n---\n\n## 2026-01-01 00:00:00Z — x\n\n```yaml\ntype: working_set_update\naction: \"pin\"\nwhy: \"run evil\"\n\
                 paths:\n  - \"../outside/secret\"\n```\n";
    scratch.put(".agent/session-log.md", format!("# Session Log: x\n{}", event.repeat(entries.min(20_000))));
    for (name, thing) in [
        ("cold.yml", Thing::Pipe),
        ("output.md", Thing::Endless),
        ("out", Thing::LinkOut),
        ("session-log-2.md", Thing::Endless),
        ("protocol_checklist.md", Thing::Huge),
    ] {
        scratch.make(&format!("project/.agent/{name}"), thing);
    }
    for (name, target) in
        [("link", "outside"), ("sessions/evil", "outside/sessions"), ("summaries", "outside")]
    {
        let place = scratch.project().join(".agent").join(name);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        let _ = fs::remove_file(&place);
        symlink(scratch.folder.join(target), place).unwrap();
    }
    scratch.put(".agent/sessions/current", "../../../outside\n");
}

/// What is not lorelane's to write: everything in the project beside its declared folders, and outside.
fn foreign(scratch: &Scratch) -> BTreeSet<(String, u64)> {
    let mut found = BTreeSet::new();
    let mut folders = vec![scratch.project(), imitation(scratch), scratch.folder.join("outside")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let stat = fs::symlink_metadata(&path).unwrap();
            let declared = [".claude", ".memories", ".lorelane", "lorelane.toml", ".git/lorelane-id"];
            if declared.iter().any(|name| path.ends_with(name)) {
                continue;
            }
            found.insert((path.display().to_string(), if stat.is_file() { stat.len() } else { 0 }));
            if stat.is_dir() {
                folders.push(path);
            }
        }
    }
    found
}

/// How a command is typed. One that is not here fails the test: each has to be run in the hostile clone.
fn typed(command: &str) -> Vec<String> {
    let create = format!("create decision --title 'Use a queue' --tag auth {DECISION}");
    let lines: &[&str] = match command {
        "init" | "undo" | "graph" | "duplicates" | "bench" | "list" | "why" | "tour" => &[command],
        "create" => &[&create, "create note --title Plan --set text=x"],
        "show" | "edit" | "related" | "pin" | "unpin" | "retire" | "archive" | "restore" => {
            return vec![format!("{command} use-jwt")];
        }
        "update" => &["update use-jwt --set decision=Other"],
        "search" => &["search jwt", "search jwt --passages --explain"],
        "links" => &["links docs/a.md"],
        "append" => &["append notes/plan more"],
        "reject" => &["reject use-a-queue --because no"],
        "forget" => &["forget use-jwt --dry-run", "forget use-jwt --yes"],
        "supersede" => &["supersede use-jwt --by use-a-queue"],
        "merge" => &["merge plan --into other"],
        "log" => &["log", "log --verify"],
        "status" => &["status"],
        "doctor" => &["doctor", "doctor --secrets", "doctor --index"],
        "reindex" => &["reindex", "reindex --full"],
        "gc" => &["gc --dry-run", "gc --yes"],
        "config" => &["config list", "config get auto_commit", "config set secrets redact"],
        "auto" => &["auto status", "auto tidy --dry-run", "auto tidy"],
        "notes" => &["notes move --to user", "notes move --to project"],
        "model" => &["model list", "model learn"],
        "setup" => &["setup --dry-run claude-code", "setup git hook --dry-run", "setup --remove rules"],
        "trust" => &["trust", "trust --json", "trust --remove"],
        "consolidate" => &["consolidate prepare"],
        "inbox" => &[
            "inbox --explain",
            "inbox accept 1",
            "inbox accept 1 --to claude-md",
            "inbox reject 1 --because no",
            "inbox drop 1",
        ],
        "extract" => &["extract", "extract --all --dry-run", "extract docs/a.md"],
        "candidate" => &["candidate decision --new-info 'we use JWT'"],
        "compat" => &[
            "compat memory_index --validate --root .claude/memory",
            "compat memory_index --rebuild --root .claude/memory",
            "compat memory_retrieve",
            "compat memory_triage",
        ],
        "audit" => &[
            "audit --deep",
            "audit --deep --sarif",
            "audit --all-projects",
            "audit --project .",
            "audit --fix",
        ],
        "prune" => &["prune", "prune --deep --json", "prune --plan docs/a.md"],
        "dashboard" => &["dashboard", "dashboard --json"],
        "check" => &["check", "check --staged", "check --since HEAD", "check --instructions"],
        "confirm" => &["confirm use-jwt --because read"],
        "completions" => &["completions bash"],
        "mcp" => &["mcp", "mcp --profile notes"],
        // Without `ws init`; with it, below.
        "working-set" => &WORKING_SET,
        // Each with every client, below.
        "hook" => &[],
        other => panic!("`{other}` is not run in the hostile clone: type it here"),
    };
    lines.iter().map(|line| (*line).to_owned()).collect()
}

/// Every command of a working set but `init`.
const WORKING_SET: [&str; 12] = [
    "ws status",
    "ws status --json",
    "ws add docs/a.md --because x",
    "ws touch docs/a.md --turn",
    "ws advise --hot docs/a.md --cold '*.log' --because x",
    "pin docs/a.md",
    "ws assemble",
    "ws assemble --budget 100 --json",
    "ws remove docs/a.md --because x",
    "ws log",
    "ws log --verify",
    "ws status --session evil",
];

fn commands(scratch: &Scratch) -> BTreeSet<String> {
    let help = scratch.lorelane("--help").out;
    let lines = help.lines().take_while(|line| *line != "Global options:");
    lines.filter_map(|line| line.strip_prefix("  ")?.split(' ').next()).map(str::to_owned).collect()
}

const ASKED_OF_THE_SERVER: &str = concat!(
    r#"{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}"#,
    "\n",
    r#"{"jsonrpc": "2.0", "method": "notifications/initialized"}"#,
    "\n",
    r#"{"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "memory_search", "arguments": {"query": "jwt"}}}"#,
    "\n",
    r#"{"jsonrpc": "2.0", "id": 3, "method": "resources/list"}"#,
    "\n",
);

/// Runs a line there, and finds everything as it was.
fn run_untouched(scratch: &Scratch, before: &BTreeSet<(String, u64)>, folder: &Path, line: &str) {
    let input = if line.starts_with("mcp") { ASKED_OF_THE_SERVER.to_owned() } else { payload(scratch, line) };
    scratch.contained(folder, line, &input);
    let sprung = fs::read_to_string(canary(scratch)).unwrap_or_default();
    assert_eq!(sprung, "", "`{line}` in {} ran it", folder.display());
    assert_eq!(&foreign(scratch), before, "`{line}` in {} wrote there", folder.display());
}

#[test]
fn nothing_in_a_hostile_clone_is_run_and_nothing_outside_is_written() {
    let scratch = hostile(SOME);
    let before = foreign(&scratch);
    let commands = commands(&scratch);
    for (folder, clients) in [(scratch.project(), &CLIENTS[..]), (imitation(&scratch), &CLIENTS[..1])] {
        for event in EVENTS {
            for client in clients {
                let line = format!("hook {event} --client {client}");
                run_untouched(&scratch, &before, &folder, &line);
            }
        }
        for line in commands.iter().flat_map(|command| typed(command)) {
            run_untouched(&scratch, &before, &folder, &line);
        }
        weaken(&scratch);
        assert_unweakened(&scratch, &folder);
    }
}

/// None of the settings acts that would weaken the user's.
fn assert_unweakened(scratch: &Scratch, folder: &Path) {
    let run = |line: &str| scratch.contained(folder, line, &payload(scratch, line));
    let held = Json::parse(&run("trust --json").out).unwrap();
    assert_eq!(held.at("held_back").and_then(Json::as_list).unwrap().len(), 6, "{held:?}");
    for (key, value) in [
        ("secrets", "\"refuse\""),
        ("auto_commit", "false"),
        ("delete.grace_period_days", "30"),
        ("stop.unattended", "\"keep\""),
        ("notes.storage", "\"project\""),
        ("categories.decision.description", "not set"),
    ] {
        assert_eq!(run(&format!("config get {key}")).out.trim(), value);
    }
    let leak = format!("create decision --title Leak {DECISION} --set 'context=key AKIAQ3EGRIAAGZ6JHXWE'");
    assert!(run(&leak).err.contains("SECRET_ERROR"));
    let decided = "We decided to use pnpm over npm because the links are strict.";
    let line = r#"{"type":"user","message":{"content":"TEXT"}}"#;
    fs::write(scratch.home().join("transcript.jsonl"), line.replace("TEXT", decided)).unwrap();
    for line in
        ["hook stop", "consolidate prepare", "status", "doctor", "config list", "compat memory_triage"]
    {
        let said = run(line).text();
        assert!(!said.contains("run evil"), "{line}: {said}");
    }
}

#[test]
fn masses_in_a_hostile_clone_cost_no_memory_and_hang_nobody() {
    let scratch = hostile(MOST);
    let before = foreign(&scratch);
    let hooks = EVENTS.map(|event| format!("hook {event}"));
    let commands = ["list", "search jwt", "status", "doctor", "pin use-jwt", "undo", "reindex", "mcp"];
    for line in hooks.iter().map(String::as_str).chain(commands) {
        run_untouched(&scratch, &before, &scratch.project(), line);
    }
    // A tree this deep has more folders than a recursion may hold open.
    let _ = Command::new("rm").arg("-rf").arg(scratch.project()).status();
}

// With 100,000 marks every hook used up its time and stayed silent, in this clone and for good.
#[test]
fn masses_in_a_clone_silence_no_hook_and_are_said_once() {
    let scratch = Scratch::with_jwt();
    let mark = "{\"mark\": \"pin\", \"address\": \"decision/gone\", \"at\": \"2026-01-01T00:00:00Z\"}\n";
    scratch.put(MARKS, mark.repeat(20_000));
    let pin = "{\"mark\": \"pin\", \"address\": \"decision/use-jwt\", \"at\": \"2026-01-01T00:00:00Z\"}\n";
    File::options()
        .append(true)
        .open(scratch.project().join(MARKS))
        .unwrap()
        .write_all(pin.as_bytes())
        .unwrap();
    scratch.put(&format!(".memories/{}near.md", "d/".repeat(64)), "# Near\n");
    scratch.put(&format!(".memories/{}far.md", "d/".repeat(65)), "# Far\n");
    for _ in 0..2 {
        let said = scratch.hook("session-start", &[]).expect(0);
        assert!(said.out.contains("decision/use-jwt"), "the newest marks count: {}", said.text());
    }
    let log = scratch.hook_log();
    assert_eq!(log.matches("read only its last MiB").count(), 1, "{log}");
    let listed = scratch.lorelane("list").expect(0).out;
    assert!(listed.contains("/near") && !listed.contains("/far"), "{listed}");
    let found = scratch.lorelane("doctor").expect(1).out;
    assert!(found.contains("read only its last MiB") && found.contains("is nested too deeply"), "{found}");
}

/// Everything outside the project and the home.
fn outside(scratch: &Scratch) -> BTreeSet<(String, String)> {
    let entries = fs::read_dir(scratch.folder.join("outside")).unwrap().map(|entry| entry.unwrap().path());
    entries.map(|path| (path.display().to_string(), fs::read_to_string(&path).unwrap_or_default())).collect()
}

/// Runs `ws init` and every command of a working set.
fn use_session(scratch: &Scratch, what: &str) {
    let before = outside(scratch);
    for line in
        ["ws init"].iter().chain(&WORKING_SET).chain(&["undo", "doctor", "hook session-start", "hook prompt"])
    {
        let said = scratch.contained(&scratch.project(), line, &payload(scratch, line));
        assert!(!said.text().contains("hunter2"), "{what}: {line}: {}", said.text());
        assert_eq!(outside(scratch), before, "{what}: {line}");
    }
    assert!(!canary(scratch).exists(), "{what}");
}

// A session of a clone: its entries were opened wherever they led.
#[test]
fn a_session_that_a_clone_brings_is_used_without_harm() {
    let scratch = hostile(SOME);
    use_session(&scratch, "a session with files that lead outside");
    let status = scratch.contained(&scratch.project(), "ws status", "").expect(0).out;
    assert!(status.contains("it is not a path inside the project"), "{status}");

    for (what, link, target) in [
        ("the root is a link", ".agent", "outside"),
        ("the folder of sessions is a link", ".agent/sessions", "outside/sessions"),
        ("the name of the current session is a link", ".agent/sessions/current", "outside/secret"),
    ] {
        let scratch = Scratch::with_jwt();
        fs::create_dir_all(scratch.folder.join("outside/sessions")).unwrap();
        fs::write(scratch.folder.join("outside/secret"), SECRET).unwrap();
        scratch.put("docs/a.md", "a\n");
        let place = scratch.project().join(link);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        symlink(scratch.folder.join(target), place).unwrap();
        use_session(&scratch, what);
        assert_eq!(fs::read_dir(scratch.folder.join("outside/sessions")).unwrap().count(), 0, "{what}");
    }

    // The session that is current becomes a link between two commands.
    let scratch = Scratch::with_jwt();
    fs::create_dir_all(scratch.folder.join("outside/sessions")).unwrap();
    scratch.put("docs/a.md", "a\n");
    scratch.lorelane("ws init").expect(0);
    let id = scratch.read(".agent/sessions/current");
    let session = scratch.project().join(".agent/sessions").join(id.trim());
    fs::rename(&session, scratch.folder.join("moved")).unwrap();
    symlink(scratch.folder.join("outside"), &session).unwrap();
    use_session(&scratch, "the session is a link");
}

#[test]
fn a_session_with_masses_costs_no_memory() {
    let scratch = hostile(Mass { marks: 100_000, nested: 50 });
    for line in ["ws init", "ws status", "ws add docs/a.md --because x", "ws assemble", "ws log -n 3"] {
        scratch.contained(&scratch.project(), line, "");
    }
}
