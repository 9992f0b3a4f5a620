//! The scripts' face, run as agents run it.

mod candidate;
mod defects;
mod guards;
mod index;
mod retrieve;
mod triage;
mod write;

use crate::scratch::{NOW, Scratch, USE_JWT};
use lorelane_core::digest::md5;
use lorelane_core::json::Json;
use std::fs;
use std::process::Command;

impl Scratch {
    /// A store that has one decision, `use-jwt`.
    fn with_decision() -> Scratch {
        let scratch = Scratch::new();
        let created = scratch.create("decision", USE_JWT, &decision("use-jwt", "Use JWT"));
        assert!(created.contains(r#""status": "created""#), "{created}");
        scratch
    }

    fn compat(&self, arguments: &[&str]) -> Command {
        self.command(&[&["compat"], arguments].concat())
    }

    /// What a caller sees. A script's texts name the temporary folder, so it stays one here.
    fn run(&self, arguments: &[&str]) -> String {
        let output = self.compat(arguments).output().unwrap();
        self.said_as("/tmp/scratch", &output).text()
    }

    /// A line as one would type it: `$DRAFT` is a new draft with this text.
    fn typed(&self, line: &str, draft: &str) -> String {
        let path = self.draft(draft);
        let line = line.replace("$DRAFT", &path).replace("$SCRATCH", self.folder.to_str().unwrap());
        self.run(&line.split_whitespace().collect::<Vec<_>>())
    }

    fn create(&self, category: &str, target: &str, draft: &str) -> String {
        self.typed(
            &format!("memory_write --action create --category {category} --target {target} --input $DRAFT"),
            draft,
        )
    }

    fn update(&self, target: &str, draft: &str) -> String {
        let hash = md5(&fs::read(self.project().join(target)).unwrap_or_default());
        self.typed(
            &format!("memory_write --action update --target {target} --input $DRAFT --hash {hash}"),
            draft,
        )
    }

    fn step(&self, action: &str, target: &str) -> String {
        self.run(&["memory_write", "--action", action, "--target", target])
    }

    fn index(&self, arguments: &[&str]) -> String {
        self.run(&[&["memory_index"], arguments].concat())
    }

    fn candidate(&self, category: &str, new_info: &str) -> Json {
        let seen = self.run(&["memory_candidate", "--category", category, "--new-info", new_info]);
        Json::parse(&seen).unwrap()
    }

    fn draft(&self, text: &str) -> String {
        let path = self.folder.join("draft.json");
        fs::write(&path, text).unwrap();
        path.into_os_string().into_string().unwrap()
    }
}

/// A decision that needs no mending.
fn decision(id: &str, title: &str) -> String {
    let content = r#"{"status": "accepted", "context": "Sessions were slow", "decision": "Use tokens",
  "rationale": ["stateless"]}"#;
    record("decision", id, title, content)
}

fn session(id: &str, created_at: &str, completed: &str) -> String {
    let content = format!(
        r#"{{"goal": "Ship it", "outcome": "success", "completed": ["{completed}"], "next_actions": []}}"#
    );
    record("session_summary", id, id, &content).replace(NOW, created_at)
}

fn runbook(id: &str, title: &str) -> String {
    record(
        "runbook",
        id,
        title,
        r#"{"trigger": "Build fails", "steps": ["clean"], "verification": "It builds"}"#,
    )
}

fn record(category: &str, id: &str, title: &str, content: &str) -> String {
    format!(
        r#"{{"schema_version": "1.0", "category": "{category}", "id": "{id}", "title": "{title}",
 "record_status": "active", "created_at": "{NOW}", "updated_at": "{NOW}", "tags": ["auth"],
 "content": {content}, "changes": []}}
"#
    )
}

/// The draft of an update: the same record with one more entry in its history.
fn revised(record: &str) -> String {
    record.replace(
        r#""changes": []"#,
        r#""changes": [{"date": "2026-03-01T12:00:00Z", "summary": "Looked at it again"}]"#,
    )
}

/// The record as it is after it was retired or archived at that time.
fn ended(record: &str, status: &str, at: &str) -> String {
    record.replace(
        r#""record_status": "active""#,
        &format!(r#""record_status": "{status}", "{status}_at": {at}, "{status}_reason": "Done""#),
    )
}
