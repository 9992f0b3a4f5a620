//! What a stopping session leaves to be saved, as the project's settings say.

use crate::store::Temp;
use lorelane_core::capture::{AskStage, Capture};
use lorelane_core::consolidate;
use lorelane_core::conversation::{TranscriptFormat, TranscriptPosition};
use lorelane_core::ledger::LedgerLine;
use lorelane_core::memory::Category;
use lorelane_core::time::Timestamp;
use lorelane_engine::env::Env;
use lorelane_engine::transcript;
use lorelane_engine::workspace::{
    AskPolicy, InboxAction, ItemOutcome, StopContext, StopRequest, TranscriptSource, Turn, Workspace,
};
use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

const DECIDES: &str = "We decided to use pnpm because links are strict.";

struct Project {
    temp: Temp,
    env: Env,
}

impl Project {
    fn new(config: &str) -> Project {
        let temp = Temp::new();
        let lane = temp.0.join("project/.claude/memory");
        fs::create_dir_all(&lane).unwrap();
        fs::write(lane.join("memory-config.json"), config).unwrap();
        let home = temp.0.join("home");
        let vars = BTreeMap::from([("LORELANE_HOME".to_owned(), home.to_str().unwrap().to_owned())]);
        let env = Env { now: Timestamp(1_700_000_000), cwd: temp.0.join("project"), vars };
        Project { temp, env }
    }

    fn open(&self) -> Workspace {
        Workspace::open(&self.env, &self.env.cwd).unwrap()
    }

    /// The open items of a new session in which the user says this.
    fn found(&self, session: &str, text: &str) -> Vec<Category> {
        let path = self.transcript(text);
        let turn = turn(session, &path, AskPolicy::No);
        self.open().capture().stop(&self.env, &turn).unwrap();
        let capture = self.open().files().captures().load(session);
        capture.iter().flat_map(Capture::open_items).map(|item| item.category).collect()
    }

    fn transcript(&self, text: &str) -> PathBuf {
        let path = self.temp.0.join("transcript.jsonl");
        fs::write(&path, format!("\n{}", line("user", text))).unwrap();
        path
    }
}

fn line(speaker: &str, text: &str) -> String {
    let text = text.replace('"', "\\\"").replace('\n', "\\n");
    match speaker {
        "user" => format!("{{\"type\":\"user\",\"message\":{{\"content\":\"{text}\"}}}}\n"),
        _ => format!(
            "{{\"type\":\"assistant\",\"message\":{{\"content\":[{{\"type\":\"text\",\"text\":\"{text}\"}}]}}}}\n"
        ),
    }
}

fn turn<'a>(session: &'a str, path: &'a Path, may_ask: AskPolicy) -> Turn<'a> {
    let transcript = TranscriptSource::Transcript { path, format: TranscriptFormat::ClaudeCode, last: "" };
    Turn { client: "claude-code", session, transcript, may_ask }
}

#[test]
fn what_a_transcript_holds_is_kept_and_asked_for_once() {
    let project = Project::new("{}");
    let mut workspace = project.open();
    let path = project.transcript(DECIDES);
    let add = |speaker: &str, text: &str| {
        let mut file = fs::OpenOptions::new().append(true).open(&path).unwrap();
        file.write_all(line(speaker, text).as_bytes()).unwrap();
    };
    let mut stop = || workspace.capture().stop(&project.env, &turn("s", &path, AskPolicy::Yes)).unwrap();
    let Some(StopRequest::Save(text)) = stop() else { panic!("it does not ask") };
    assert!(text.contains(&format!("1. decision (transcript line 2): \"{DECIDES}\"")), "{text}");
    assert!(
        text.contains("lorelane consolidate commit - --session s <<'EOF'\nitem: 1\ncategory: decision\n")
    );
    let captures = StopContext::open(&project.env, &project.env.cwd).captures;
    let item = captures.load("s").unwrap().items.remove(0);
    assert_eq!((item.category, item.origin.at), (Category::Decision, TranscriptPosition::Line(2)));
    assert_eq!((item.origin.session.as_str(), item.number, item.asked), ("s", 1, true));
    // The same words again are nothing new; others wait, and nobody is asked twice.
    assert_eq!(stop(), None);
    add("user", &DECIDES.replace("pnpm", "vite"));
    assert_eq!(stop(), None);
    let capture = captures.load("s").unwrap();
    let places: Vec<_> = capture.items.iter().map(|item| (item.number, item.origin.at, item.asked)).collect();
    assert_eq!(places, [(1, TranscriptPosition::Line(2), true), (2, TranscriptPosition::Line(3), false)]);
    assert_eq!((capture.asked, capture.stage), (true, AskStage::Pending));
    // What the user asks to remember is asked about once more, and only once.
    add("user", "Remember that staging is down on Mondays");
    assert!(
        matches!(stop(), Some(StopRequest::Save(text)) if text.contains("\nitem: 3\n") && !text.contains("item: 2"))
    );
    add("user", "Remember that staging is up on Tuesdays");
    assert_eq!(stop(), None);
    // What is taken back does not wait.
    add("assistant", "Noted.");
    add("user", "never mind, it is down then too");
    assert_eq!(stop(), None);
    let open: Vec<u64> = captures.load("s").unwrap().open_items().map(|item| item.number).collect();
    assert_eq!(open, [1, 2, 3]);
}

#[test]
fn what_a_memory_says_already_is_not_asked_for_and_what_speaks_against_it_may_replace_it() {
    let project = Project::new("{}");
    let lane = project.env.cwd.join(".claude/memory/preferences");
    fs::create_dir_all(&lane).unwrap();
    let record = r#"{"schema_version": "1.0", "category": "preference", "id": "use-npm", "title": "Use npm, not pnpm", "record_status": "active",
        "created_at": "2026-03-01T12:00:00Z", "updated_at": "2026-03-01T12:00:00Z", "tags": ["npm"],
        "content": {"topic": "packages", "value": "we use npm for all packages, not pnpm", "reason": "r", "strength": "default"}, "changes": []}"#;
    fs::write(lane.join("use-npm.json"), record).unwrap();
    let stop = |session: &str, text: &str| {
        let path = project.transcript(&format!("{text}\n"));
        fs::OpenOptions::new()
            .append(true)
            .open(&path)
            .unwrap()
            .write_all(line("assistant", "You're right.").as_bytes())
            .unwrap();
        project.open().capture().stop(&project.env, &turn(session, &path, AskPolicy::Yes)).unwrap()
    };
    assert_eq!(stop("same", "No, we use npm for all packages, not pnpm"), None);
    assert_eq!(project.open().files().captures().load("same"), None);
    let Some(StopRequest::Save(text)) = stop("other", "No, we use pnpm for all packages, not npm") else {
        panic!("it does not ask")
    };
    assert!(
        text.contains("it may replace preference/use-npm")
            && text.contains("\nsupersedes: preference/use-npm\n"),
        "{text}"
    );
}

#[test]
fn nobody_is_asked_who_is_not_there() {
    for (toml, var, asked) in [
        ("", None, false),
        ("[stop]\nunattended = \"ask\"\n", None, true),
        ("", Some("ask"), true),
        ("[stop]\nunattended = \"ask\"\n", Some("keep"), false),
    ] {
        let mut project = Project::new("{}");
        fs::write(project.env.cwd.join("lorelane.toml"), toml).unwrap();
        if let Some(var) = var {
            project.env.vars.insert("LORELANE_STOP_UNATTENDED".to_owned(), var.to_owned());
        }
        let path = project.transcript(DECIDES);
        let turn = turn("s", &path, AskPolicy::Unattended);
        project.open().settings().trust().unwrap();
        let mut workspace = project.open();
        assert_eq!(workspace.capture().stop(&project.env, &turn).unwrap().is_some(), asked, "{toml} {var:?}");
        assert_eq!(workspace.files().captures().pending().len(), 1);
    }
}

/// The lines of a transcript in which a client tells who is there, and then something is decided.
fn attended(project: &Project, client: &str, tells: &str) -> PathBuf {
    let decided = match client {
        "codex" => format!(
            r#"{{"type":"response_item","payload":{{"type":"message","role":"user","content":[{{"type":"input_text","text":"{DECIDES}"}}]}}}}"#
        ),
        "gemini" => format!(r#"{{"id":"a","type":"user","content":"{DECIDES}"}}"#),
        _ => format!(r#"{{"type":"user.message","data":{{"content":"{DECIDES}"}}}}"#),
    };
    let path = project.temp.0.join(format!("{client}.jsonl"));
    fs::write(&path, format!("{tells}\n{decided}\n")).unwrap();
    path
}

// `codex exec`, `gemini -p` and `copilot -p` printed the answer to our request instead of their own (finding 4).
#[test]
fn a_client_is_asked_only_where_its_transcript_tells_that_somebody_is_there() {
    let started = |trigger: &str| {
        format!(
            r#"{{"type":"event_msg","payload":{{"type":"task_started","turn_attribution":{{"turn_trigger":"{trigger}"}}}}}}"#
        )
    };
    let meta = |source: &str| format!(r#"{{"type":"session_meta","payload":{{"source":"{source}"}}}}"#);
    let system = |content: &str| format!(r#"{{"type":"system.message","data":{{"content":"{content}"}}}}"#);
    for (client, tells, asked) in [
        ("codex", meta("exec"), false),
        ("codex", meta("cli"), true),
        // A session that began with a person and is resumed by a script.
        ("codex", format!("{}\n{}", meta("vscode"), started("exec")), false),
        ("codex", format!("{}\n{}", meta("exec"), started("user")), true),
        ("codex", String::new(), false),
        ("gemini", r#"{"sessionId":"x","kind":"main"}"#.to_owned(), false),
        ("copilot", system("You are running in non-interactive mode"), false),
        ("copilot", system("You are an interactive tool that helps users"), true),
        ("copilot", String::new(), false),
    ] {
        let mut project = Project::new("{}");
        let path = attended(&project, client, &tells);
        let spoken = TranscriptSource::Transcript {
            path: &path,
            format: TranscriptFormat::of_client(client).unwrap(),
            last: "",
        };
        let turn = |session| Turn { client, session, transcript: spoken, may_ask: AskPolicy::IfAttended };
        assert_eq!(
            project.open().capture().stop(&project.env, &turn("s")).unwrap().is_some(),
            asked,
            "{client} {tells}"
        );
        assert_eq!(project.open().files().captures().pending().len(), 1, "{client} {tells}");
        project.env.vars.insert("LORELANE_STOP_UNATTENDED".to_owned(), "ask".to_owned());
        assert!(
            project.open().capture().stop(&project.env, &turn("other")).unwrap().is_some(),
            "{client} {tells}"
        );
    }
}

// Copilot, and an older Claude Code in turns without a tool call, write the whole turn after the stop hook.
#[test]
fn a_prompt_that_the_transcript_does_not_have_yet_is_known_from_the_ledger() {
    let project = Project::new("{}");
    let path = project.transcript("which package manager?");
    let prompt = "No, we use pnpm in this repository, not npm. Its links are strict.";
    let prompted = |text: &str| {
        let mut workspace = project.open();
        let briefing = workspace.reminders().brief(text, "s").unwrap();
        let line = LedgerLine::of_prompt(project.env.now, "claude-code", "s", text, &briefing);
        workspace.files().ledger().append(&line).unwrap();
    };
    prompted(prompt);
    let stop = || {
        let source = TranscriptSource::Transcript {
            path: &path,
            format: TranscriptFormat::ClaudeCode,
            last: "You're right, pnpm it is.",
        };
        let turn = Turn { client: "claude-code", session: "s", transcript: source, may_ask: AskPolicy::Yes };
        project.open().capture().stop(&project.env, &turn).unwrap()
    };
    assert!(matches!(stop(), Some(StopRequest::Save(text)) if text.contains(prompt)));
    // Once it is written, it is not found a second time.
    fs::write(&path, format!("{}{}", fs::read_to_string(&path).unwrap(), line("user", prompt))).unwrap();
    assert_eq!(stop(), None);
    let items = || project.open().files().captures().load("s").unwrap().items.len();
    assert_eq!(items(), 1);
    // Half a prompt, or one with a masked secret, is not what the user said.
    prompted(&format!("From now on always deploy with the token ghp_{}", "a1B2c3D4e5F6".repeat(3)));
    assert_eq!((stop(), items()), (None, 1));
    prompted(&"From now on always run the linter before the tests. ".repeat(20));
    assert_eq!((stop(), items()), (None, 1));
}

#[test]
fn what_memories_say_already_leaves_room_for_what_is_new() {
    let project = Project::new("{}");
    let lane = project.env.cwd.join(".claude/memory/preferences");
    fs::create_dir_all(&lane).unwrap();
    let known = [
        "Always run the linter before every commit",
        "Never push directly to the main branch",
        "We only use pnpm in every package, not npm",
    ];
    for (number, value) in known.iter().enumerate() {
        let record = format!(
            r#"{{"schema_version": "1.0", "category": "preference", "id": "known-{number}", "title": "{value}", "record_status": "active",
            "created_at": "2026-03-01T12:00:00Z", "updated_at": "2026-03-01T12:00:00Z", "tags": ["known"],
            "content": {{"topic": "rules", "value": "{value}", "reason": "r", "strength": "default"}}, "changes": []}}"#
        );
        fs::write(lane.join(format!("known-{number}.json")), record).unwrap();
    }
    let new = "We decided to sign invoices with the stamp of the clinic because auditors ask for it.";
    let path = project.transcript(new);
    let said: String =
        known.iter().map(|known| line("user", known) + &line("assistant", "Understood.")).collect();
    fs::write(&path, said + &line("user", new)).unwrap();
    let asked = project.open().capture().stop(&project.env, &turn("s", &path, AskPolicy::Yes)).unwrap();
    let Some(StopRequest::Save(text)) = asked else { panic!("it does not ask") };
    assert!(text.contains(new) && known.iter().all(|known| !text.contains(known)), "{text}");
}

// Copilot writes its last answer after its stop hook ran, so nothing of it was ever kept (finding 5).
#[test]
fn what_a_transcript_did_not_have_at_the_stop_is_read_at_the_next_start() {
    let project = Project::new("{}");
    let path = project.temp.0.join("events.jsonl");
    let asked = "{\"type\":\"user.message\",\"data\":{\"content\":\"which package manager?\"}}\n";
    fs::write(&path, asked).unwrap();
    let spoken = TranscriptSource::Transcript { path: &path, format: TranscriptFormat::Copilot, last: "" };
    let turn = Turn { client: "copilot", session: "s", transcript: spoken, may_ask: AskPolicy::IfAttended };
    assert_eq!(project.open().capture().stop(&project.env, &turn).unwrap(), None);
    let pending = || {
        let mut workspace = project.open();
        workspace.capture().capture_unread(&project.env).unwrap();
        let pending = workspace.files().captures().pending();
        pending.into_iter().map(|capture| (capture.session, capture.items.len())).collect::<Vec<_>>()
    };
    assert_eq!(pending(), [], "it is not written yet");
    let answer = format!("{{\"type\":\"user.message\",\"data\":{{\"content\":\"{DECIDES}\"}}}}\n");
    fs::write(&path, format!("{asked}{answer}")).unwrap();
    assert_eq!(pending(), [("s".to_owned(), 1)]);
    assert_eq!(project.open().files().captures().take_unread(), [], "it is read once");
    // One that is gone is no fault.
    project.open().capture().stop(&project.env, &turn).unwrap();
    fs::remove_file(&path).unwrap();
    assert_eq!(pending(), [("s".to_owned(), 1)]);
}

#[test]
fn the_settings_say_what_is_looked_for() {
    let both = format!("{DECIDES}\n\nFor now we skip the retry logic, we should add it later.");
    for (config, expected) in [
        ("{}", vec![Category::Decision, Category::TechDebt]),
        (r#"{"triage": {"enabled": false}}"#, vec![]),
        // The thresholds are those of the `claude-memory` scripts, for `compat`.
        (r#"{"triage": {"thresholds": {"decision": 0.9}}}"#, vec![Category::Decision, Category::TechDebt]),
        (r#"{"categories": {"decision": {"enabled": false}}}"#, vec![Category::TechDebt]),
        (r#"{"categories": {"tech_debt": {"auto_capture": false}}}"#, vec![Category::Decision]),
    ] {
        assert_eq!(Project::new(config).found("s", &both), expected, "{config}");
    }
}

// A summary interrupted the session, and every later stop found another one.
#[test]
fn a_long_session_waits_for_its_summary_and_nobody_is_asked_for_it() {
    let project = Project::new("{}");
    let path = project.temp.0.join("transcript.jsonl");
    let tool = "{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"tool_use\",\"name\":\"Bash\",\"input\":{}}]}}\n";
    fs::write(&path, format!("{}{}", line("user", "look at it"), tool.repeat(30))).unwrap();
    for _ in 0..2 {
        let stopped = project.open().capture().stop(&project.env, &turn("s", &path, AskPolicy::Yes)).unwrap();
        assert_eq!(stopped, None);
        let capture = project.open().files().captures().load("s").unwrap();
        assert_eq!(
            capture.items.iter().map(|item| item.category).collect::<Vec<_>>(),
            [Category::SessionSummary]
        );
        assert!(!capture.asked);
        fs::write(&path, format!("{}{}", line("user", "look at it again"), tool.repeat(40))).unwrap();
    }
}

#[test]
fn what_a_full_category_cannot_take_waits() {
    let project = Project::new(r#"{"max_memories_per_category": 1}"#);
    let lane = project.env.cwd.join(".claude/memory/decisions");
    fs::create_dir_all(&lane).unwrap();
    let record = r#"{"schema_version": "1.0", "category": "decision", "id": "a", "title": "A", "record_status": "active",
        "created_at": "2026-03-01T12:00:00Z", "updated_at": "2026-03-01T12:00:00Z", "tags": ["x"],
        "content": {"status": "accepted", "context": "c", "decision": "d", "rationale": ["r"]}, "changes": []}"#;
    fs::write(lane.join("a.json"), record).unwrap();
    let path = project.transcript(DECIDES);
    let turn = turn("s", &path, AskPolicy::Yes);
    let said = || project.open().capture().stop(&project.env, &turn).unwrap();
    assert!(matches!(said(), Some(StopRequest::Full(text)) if text.contains("[DECISION] on hold")));
    assert_eq!(said(), None, "it is said once");
    let kept = project.open().files().captures().load("s").unwrap();
    assert_eq!(kept.open_items().map(|item| item.category).collect::<Vec<_>>(), [Category::Decision]);
}

#[test]
fn a_folder_that_a_client_was_given_may_hold_transcripts() {
    let mut env = Project::new("{}").env;
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).canonicalize().unwrap();
    for name in ["CLAUDE_CONFIG_DIR", "CODEX_HOME"] {
        assert!(!transcript::folders(&env).contains(&folder));
        env.vars.insert(name.to_owned(), folder.to_str().unwrap().to_owned());
        assert!(transcript::folders(&env).contains(&folder), "{name}");
        env.vars.clear();
    }
}

#[test]
fn nothing_is_learned_from_what_lorelane_showed() {
    let project = Project::new("{}");
    assert_eq!(project.found("plain", DECIDES), [Category::Decision]);
    let fenced = format!("<lorelane-memory a=\"b\">{DECIDES}</lorelane-memory>");
    assert_eq!(project.found("fenced", &fenced), []);
}

#[test]
fn what_came_of_these_words_and_was_rejected_is_not_found_again() {
    let project = Project::new("{}");
    assert_eq!(project.found("one", DECIDES), [Category::Decision]);
    let mut workspace = project.open();
    let answer = r#"{"category": "decision", "action": "CREATE", "verdict": "PASS", "draft": {"title": "Use pnpm",
        "tags": ["npm"], "content": {"context": "c", "decision": "d", "rationale": ["r"]}}}"#;
    let answers = vec![consolidate::read(answer).unwrap()];
    let report = workspace.capture().consolidate(answers, None, false).unwrap().unwrap();
    let ItemOutcome::Saved { address, .. } = &report.ends[0].how else { panic!("{report:?}") };
    workspace.changes().reject(address, "nobody uses it").unwrap();
    assert_eq!(project.found("two", DECIDES), []);
    workspace.changes().undo().unwrap();
    assert_eq!(project.found("three", DECIDES), [Category::Decision]);
}

#[test]
fn what_was_rejected_in_the_inbox_does_not_come_back_in_other_words() {
    let project = Project::new("{}");
    let rule = "Make sure to run the unit tests before each commit.";
    assert_eq!(project.found("one", rule), [Category::Preference]);
    let mut workspace = project.open();
    let (entries, _) = workspace.capture().inbox().unwrap();
    let action = InboxAction::Reject { because: "only for this release" };
    workspace.capture().conclude(&entries[0], action, false).unwrap();
    assert_eq!(workspace.capture().inbox().unwrap().0.len(), 0);
    assert_eq!(project.found("two", "please make sure to always run unit tests before every commit"), []);
    let other = "Make sure to update the changelog before each release.";
    assert_eq!(project.found("three", other), [Category::Preference]);
}

#[test]
fn what_is_accepted_becomes_a_memory_and_what_says_the_same_goes_with_it() {
    let project = Project::new("{}");
    let rule = "Make sure to run the unit tests before each commit.";
    assert_eq!(project.found("one", rule), [Category::Preference]);
    assert_eq!(
        project.found("two", "please make sure to always run unit tests before every commit"),
        [Category::Preference]
    );
    let mut workspace = project.open();
    let (entries, _) = workspace.capture().inbox().unwrap();
    assert_eq!((entries.len(), entries[0].queued.repeats.len()), (1, 1));
    let report = workspace
        .capture()
        .conclude(&entries[0], InboxAction::Accept { draft: None }, false)
        .unwrap()
        .unwrap();
    let ItemOutcome::Saved { address, .. } = &report.ends[0].how else { panic!("{report:?}") };
    assert_eq!(address.to_string(), "preference/make-sure-to-run-the-unit-tests-before-each-commit");
    assert_eq!(workspace.capture().inbox().unwrap().0.len(), 0);
    let memory = workspace.load(address).unwrap().memory;
    assert!(memory.body.statement().contains("stated by the user on 2023-11-14"), "{:?}", memory.body);
    // The next session says it again, and the memory says it already.
    let path = project.transcript(rule);
    assert_eq!(workspace.capture().stop(&project.env, &turn("three", &path, AskPolicy::Yes)).unwrap(), None);
}

#[test]
fn a_session_start_announces_what_waits_once() {
    let project = Project::new("{}");
    assert!(project.open().capture().first_hint("s").unwrap());
    assert!(!project.open().capture().first_hint("t").unwrap(), "once per project");
    assert_eq!(project.open().capture().announce("s").unwrap(), 0);
    project.found("one", DECIDES);
    assert_eq!(project.open().capture().announce("s").unwrap(), 1);
    assert_eq!(project.open().capture().announce("t").unwrap(), 0);
    project.found("two", "For now we skip the retry logic, we should add it later.");
    assert_eq!(project.open().capture().announce("u").unwrap(), 2);
    let off = Project::new("{}");
    fs::write(off.env.cwd.join("lorelane.toml"), "[briefing]\nhint = false\n").unwrap();
    assert!(!off.open().capture().first_hint("s").unwrap());
}

#[test]
fn a_transcript_elsewhere_is_refused_with_its_name() {
    let project = Project::new("{}");
    let gone = project.temp.0.join("gone.jsonl");
    let spoken = TranscriptSource::Transcript { path: &gone, format: TranscriptFormat::ClaudeCode, last: "" };
    let turn = Turn { client: "claude-code", session: "s", transcript: spoken, may_ask: AskPolicy::Yes };
    let fault = project.open().capture().stop(&project.env, &turn).unwrap_err();
    assert!(fault.to_string().starts_with("cannot read the transcript ") && !fault.hint().is_empty());
}
