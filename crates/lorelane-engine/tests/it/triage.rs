//! What a stopping session leaves to be saved, as the project's settings say.

use crate::store::Temp;
use lorelane_core::capture::{At, Capture};
use lorelane_core::conversation::{Conversation, Format};
use lorelane_core::memory::Category;
use lorelane_core::time::Timestamp;
use lorelane_engine::env::Env;
use lorelane_engine::workspace::{Desk, Workspace};
use std::collections::BTreeMap;
use std::fs;
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
fn what_a_transcript_holds_can_be_kept_and_offered() {
    let project = Project::new("{}");
    let mut workspace = project.open();
    let path = project.transcript();
    let triaged = workspace.triage_transcript(&project.env, (&path, Format::ClaudeCode), "s", &[]).unwrap();
    let item = &triaged.items[0];
    assert_eq!((item.category, item.origin.at), (Category::Decision, At::Line(2)));
    assert_eq!((item.origin.session.as_str(), triaged.activity.exchanges), ("s", 1));
    let mut capture = Capture::new("s", "claude-code", workspace.now());
    capture.take_in(triaged.items, workspace.now());
    workspace.captures().save(&capture).unwrap();
    assert_eq!(Desk::open(&project.env, &project.env.cwd).captures.pending(), [capture]);
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
    let fault =
        project.open().triage_transcript(&project.env, (&gone, Format::ClaudeCode), "s", &[]).unwrap_err();
    assert!(fault.to_string().starts_with("cannot read the transcript ") && fault.hint().is_some());
}
