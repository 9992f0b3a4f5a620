//! What a stopping session leaves to be saved, as the project's settings say.

use crate::store::Temp;
use lorelane_core::capture::{AskStage, Capture, TranscriptPosition};
use lorelane_core::consolidate;
use lorelane_core::conversation::{Conversation, TranscriptFormat};
use lorelane_core::memory::Category;
use lorelane_core::time::Timestamp;
use lorelane_engine::env::Env;
use lorelane_engine::transcript;
use lorelane_engine::workspace::{
    AskPolicy, ItemOutcome, StopContext, StopRequest, TranscriptSource, Turn, Workspace,
};
use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::PathBuf;

const DECIDES: &str = "We decided to use pnpm because links are strict.\nWe chose it over yarn.";

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

    fn found(&self, text: &str, shown: &[String]) -> Vec<Category> {
        let conversation = Conversation::from_texts(None, Some(text));
        let triaged = self.open().capture().triage(conversation, "s", shown).unwrap();
        triaged.items.iter().map(|item| item.category).collect()
    }

    fn transcript(&self) -> PathBuf {
        let path = self.temp.0.join("transcript.jsonl");
        let text = DECIDES.replace('\n', "\\n");
        fs::write(&path, format!("\n{{\"type\":\"user\",\"message\":{{\"content\":\"{text}\"}}}}\n"))
            .unwrap();
        path
    }
}

#[test]
fn what_a_transcript_holds_is_kept_and_asked_for_once() {
    let project = Project::new("{}");
    let mut workspace = project.open();
    let path = project.transcript();
    let mut stop = |may_ask| {
        let spoken =
            TranscriptSource::Transcript { path: &path, format: TranscriptFormat::ClaudeCode, last: "" };
        workspace
            .capture()
            .stop(&project.env, &Turn { client: "claude-code", session: "s", transcript: spoken, may_ask })
            .unwrap()
    };
    assert!(matches!(stop(AskPolicy::Yes), Some(StopRequest::Save(text)) if text.contains("[DECISION]")));
    let captures = StopContext::open(&project.env, &project.env.cwd).captures;
    let item = captures.load("s").unwrap().items.remove(0);
    assert_eq!((item.category, item.origin.at), (Category::Decision, TranscriptPosition::Line(2)));
    assert_eq!(item.origin.session, "s");
    // The same words again are nothing new; more of them are kept, and nobody is asked twice.
    assert_eq!(stop(AskPolicy::Yes), None);
    let more = DECIDES.replace("pnpm", "vite").replace('\n', "\\n");
    let line = format!("{{\"type\":\"user\",\"message\":{{\"content\":\"{more}\"}}}}\n");
    fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(line.as_bytes()).unwrap();
    assert_eq!(stop(AskPolicy::Yes), None);
    let capture = captures.load("s").unwrap();
    assert_eq!(
        capture.items.iter().map(|item| item.origin.at).collect::<Vec<_>>(),
        [TranscriptPosition::Line(2), TranscriptPosition::Line(3)]
    );
    assert_eq!((capture.asked, capture.stage), (true, AskStage::Pending));
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
        let spoken = TranscriptSource::Last { assistant: DECIDES };
        let turn =
            Turn { client: "gemini", session: "s", transcript: spoken, may_ask: AskPolicy::Unattended };
        project.open().settings().trust().unwrap();
        let mut workspace = project.open();
        assert_eq!(workspace.capture().stop(&project.env, &turn).unwrap().is_some(), asked, "{toml} {var:?}");
        assert_eq!(workspace.files().captures().pending().len(), 1);
    }
}

/// The lines of a transcript in which a client tells who is there, and then something is decided.
fn attended(project: &Project, client: &str, tells: &str) -> PathBuf {
    let said = DECIDES.replace('\n', "\\n");
    let decided = match client {
        "codex" => format!(
            r#"{{"type":"response_item","payload":{{"type":"message","role":"assistant","content":[{{"type":"output_text","text":"{said}"}}]}}}}"#
        ),
        "gemini" => format!(r#"{{"id":"a","type":"gemini","content":"{said}"}}"#),
        _ => format!(r#"{{"type":"assistant.message","data":{{"content":"{said}"}}}}"#),
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
    let said = DECIDES.replace('\n', "\\n");
    let answer = format!("{{\"type\":\"assistant.message\",\"data\":{{\"content\":\"{said}\"}}}}\n");
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
    let debt = "TODO for now\nhack because of cost";
    let both = format!("{DECIDES}\n\n\n\n\n\n{debt}");
    for (config, expected) in [
        ("{}", vec![Category::Decision, Category::TechDebt]),
        (r#"{"triage": {"enabled": false}}"#, vec![]),
        (r#"{"triage": {"thresholds": {"decision": 0.9}}}"#, vec![Category::TechDebt]),
        (r#"{"categories": {"decision": {"enabled": false}}}"#, vec![Category::TechDebt]),
        (r#"{"categories": {"tech_debt": {"auto_capture": false}}}"#, vec![Category::Decision]),
    ] {
        assert_eq!(Project::new(config).found(&both, &[]), expected, "{config}");
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
    let conversation = Conversation::from_texts(None, Some(DECIDES));
    let triaged = project.open().capture().triage(conversation, "s", &[]).unwrap();
    assert_eq!(triaged.items, []);
    assert!(matches!(triaged.full.as_slice(), [item] if item.category == Category::Decision));
    let turn = Turn {
        client: "gemini",
        session: "s",
        transcript: TranscriptSource::Last { assistant: DECIDES },
        may_ask: AskPolicy::Yes,
    };
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
    let shown = ["use pnpm because links are strict".to_owned()];
    assert_eq!(project.found(DECIDES, &[]), [Category::Decision]);
    assert_eq!(project.found(DECIDES, &shown), []);
    let fenced = format!("<lorelane-memory a=\"b\">{DECIDES}</lorelane-memory>");
    assert_eq!(project.found(&fenced, &[]), []);
}

#[test]
fn what_came_of_these_words_and_was_rejected_is_not_found_again() {
    let project = Project::new("{}");
    let mut workspace = project.open();
    let triaged =
        workspace.capture().triage(Conversation::from_texts(None, Some(DECIDES)), "s", &[]).unwrap();
    let mut capture = Capture::new("s", "claude-code", workspace.now());
    capture.take(triaged.items, None, false, workspace.now());
    workspace.files().captures().save(&capture).unwrap();
    let answer = r#"{"category": "decision", "action": "CREATE", "verdict": "PASS", "draft": {"title": "Use pnpm",
        "tags": ["npm"], "content": {"context": "c", "decision": "d", "rationale": ["r"]}}}"#;
    let answers = vec![consolidate::read(answer).unwrap()];
    let report = workspace.capture().consolidate(answers, None, false).unwrap().unwrap();
    let ItemOutcome::Saved { address, .. } = &report.ends[0].how else { panic!("{report:?}") };
    workspace.changes().reject(address, "nobody uses it").unwrap();
    assert_eq!(project.found(DECIDES, &[]), []);
    workspace.changes().undo().unwrap();
    assert_eq!(project.found(DECIDES, &[]), [Category::Decision]);
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
