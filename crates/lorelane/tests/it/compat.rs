//! The scripts' face, run as agents run it.

#![allow(clippy::unwrap_used, reason = "a helper that fails fails its test")]

mod candidate;
mod defects;
mod index;
mod write;

use lorelane_core::digest::md5;
use lorelane_core::json::{Format, Json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

const NOW: &str = "2026-03-01T12:00:00Z";
const USE_JWT: &str = ".claude/memory/decisions/use-jwt.json";

/// A project of its own with a home of its own. It lies in the shared temporary folder, because that is where
/// the scripts take drafts from.
struct Scratch {
    folder: PathBuf,
    now: &'static str,
}

impl Scratch {
    fn new() -> Scratch {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("lorelane-compat-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let folder = Path::new("/tmp").join(name);
        fs::create_dir_all(folder.join("project")).unwrap();
        fs::create_dir_all(folder.join("home")).unwrap();
        Scratch { folder, now: NOW }
    }

    /// A store that has one decision, `use-jwt`.
    fn with_decision() -> Scratch {
        let scratch = Scratch::new();
        let created = scratch.create("decision", USE_JWT, &decision("use-jwt", "Use JWT"));
        assert!(created.contains(r#""status": "created""#), "{created}");
        scratch
    }

    fn at(mut self, now: &'static str) -> Scratch {
        self.now = now;
        self
    }

    fn project(&self) -> PathBuf {
        self.folder.join("project")
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lorelane"));
        command
            .arg("compat")
            .args(arguments)
            .current_dir(self.project())
            .env_clear()
            .env("HOME", self.folder.join("home"))
            .env("LORELANE_NOW", self.now)
            .stdin(Stdio::null());
        command
    }

    /// What a caller sees: stdout, stderr behind `2> `, and the exit code when it is not 0.
    fn run(&self, arguments: &[&str]) -> String {
        let output = self.command(arguments).output().unwrap();
        let mut seen = String::from_utf8(output.stdout).unwrap();
        for line in String::from_utf8(output.stderr).unwrap().lines() {
            seen.push_str(&format!("2> {line}\n"));
        }
        match output.status.code() {
            Some(0) => {}
            Some(code) => seen.push_str(&format!("exit {code}\n")),
            None => seen.push_str("killed\n"),
        }
        seen.replace(self.folder.to_str().unwrap(), "/tmp/scratch")
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

    /// Writes a file as somebody does who does not ask lorelane.
    fn put(&self, path: &str, text: impl AsRef<[u8]>) {
        let file = self.project().join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.project().join(path)).unwrap()
    }

    /// One field of a record, as a line of JSON.
    fn line(&self, path: &str, field: &str) -> String {
        self.field(path, field).render(Format::LINE)
    }

    fn field(&self, path: &str, field: &str) -> Json {
        Json::parse(&self.read(path)).unwrap().at(field).cloned().unwrap_or(Json::Null)
    }

    /// The listing's lines without its head.
    fn listing(&self) -> String {
        let listing = self.read(".claude/memory/index.md");
        listing.lines().filter(|line| line.starts_with("- [")).map(|line| format!("{line}\n")).collect()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
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
