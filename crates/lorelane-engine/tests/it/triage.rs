//! What a stopping session leaves to be saved, as the project's settings say.

use crate::store::Temp;
use lorelane_core::capture::{At, Stage};
use lorelane_core::conversation::{Conversation, Format};
use lorelane_core::memory::Category;
use lorelane_core::time::Timestamp;
use lorelane_engine::env::Env;
use lorelane_engine::workspace::{Asking, Desk, MayAsk, Spoken, Turn, Workspace};
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
        let triaged = self.open().triage(conversation, "s", shown).unwrap();
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
        let spoken = Spoken::Transcript { path: &path, format: Format::ClaudeCode, last: "" };
        workspace
            .capture(&project.env, &Turn { client: "claude-code", session: "s", spoken, may_ask })
            .unwrap()
    };
    assert!(matches!(stop(MayAsk::Yes), Some(Asking::Save(text)) if text.contains("[DECISION]")));
    let captures = Desk::open(&project.env, &project.env.cwd).captures;
    let item = captures.load("s").unwrap().items.remove(0);
    assert_eq!((item.category, item.origin.at), (Category::Decision, At::Line(2)));
    assert_eq!(item.origin.session, "s");
    // The same words again are nothing new; more of them are kept, and nobody is asked twice.
    assert_eq!(stop(MayAsk::Yes), None);
    let more = DECIDES.replace("pnpm", "vite").replace('\n', "\\n");
    let line = format!("{{\"type\":\"user\",\"message\":{{\"content\":\"{more}\"}}}}\n");
    fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(line.as_bytes()).unwrap();
    assert_eq!(stop(MayAsk::Yes), None);
    let capture = captures.load("s").unwrap();
    assert_eq!(
        capture.items.iter().map(|item| item.origin.at).collect::<Vec<_>>(),
        [At::Line(2), At::Line(3)]
    );
    assert_eq!((capture.asked, capture.stage), (true, Stage::Pending));
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
        let spoken = Spoken::Last { assistant: DECIDES };
        let turn = Turn { client: "gemini", session: "s", spoken, may_ask: MayAsk::Unattended };
        let mut workspace = project.open();
        assert_eq!(workspace.capture(&project.env, &turn).unwrap().is_some(), asked, "{toml} {var:?}");
        assert_eq!(workspace.captures().pending().len(), 1);
    }
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
fn a_full_category_is_named_and_left_out() {
    let project = Project::new(r#"{"max_memories_per_category": 1}"#);
    let lane = project.env.cwd.join(".claude/memory/decisions");
    fs::create_dir_all(&lane).unwrap();
    let record = r#"{"schema_version": "1.0", "category": "decision", "id": "a", "title": "A", "record_status": "active",
        "created_at": "2026-03-01T12:00:00Z", "updated_at": "2026-03-01T12:00:00Z", "tags": ["x"],
        "content": {"status": "accepted", "context": "c", "decision": "d", "rationale": ["r"]}, "changes": []}"#;
    fs::write(lane.join("a.json"), record).unwrap();
    let conversation = Conversation::from_texts(None, Some(DECIDES));
    let triaged = project.open().triage(conversation, "s", &[]).unwrap();
    assert_eq!((triaged.items, triaged.full), (Vec::new(), vec![Category::Decision]));
    let turn = Turn {
        client: "gemini",
        session: "s",
        spoken: Spoken::Last { assistant: DECIDES },
        may_ask: MayAsk::Yes,
    };
    let said = || project.open().capture(&project.env, &turn).unwrap();
    assert!(matches!(said(), Some(Asking::Full(text)) if text.contains("[DECISION] is left out")));
    assert_eq!(said(), None, "it is said once");
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
fn a_transcript_elsewhere_is_refused_with_its_name() {
    let project = Project::new("{}");
    let gone = project.temp.0.join("gone.jsonl");
    let spoken = Spoken::Transcript { path: &gone, format: Format::ClaudeCode, last: "" };
    let turn = Turn { client: "claude-code", session: "s", spoken, may_ask: MayAsk::Yes };
    let fault = project.open().capture(&project.env, &turn).unwrap_err();
    assert!(fault.to_string().starts_with("cannot read the transcript ") && fault.hint().is_some());
}
