//! A project of its own with a home of its own, and the real binary run in it.

use lorelane_core::conversation::STOP_HEAD;
use lorelane_core::json::{Json, JsonFormat};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

pub const NOW: &str = "2026-03-01T12:00:00Z";
pub const LANE: &str = ".claude/memory";
pub const LISTING: &str = ".claude/memory/index.md";
pub const CONFIG: &str = ".claude/memory/memory-config.json";
pub const MARKS: &str = ".lorelane/marks.jsonl";
pub const USE_JWT: &str = ".claude/memory/decisions/use-jwt.json";

/// It is in the shared temporary folder, because that is where the scripts take drafts from.
pub struct Scratch {
    pub folder: PathBuf,
    pub now: &'static str,
}

/// What a caller sees of one run.
#[derive(Debug)]
pub struct Said {
    pub out: String,
    pub err: String,
    pub code: Option<i32>,
}

impl Scratch {
    pub fn new() -> Scratch {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("lorelane-it-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let folder = Path::new("/tmp").join(name);
        fs::create_dir_all(folder.join("project")).unwrap();
        fs::create_dir_all(folder.join("home")).unwrap();
        Scratch { folder, now: NOW }
    }

    /// A complete store without memories.
    pub fn with_store() -> Scratch {
        let scratch = Scratch::new();
        scratch.lorelane("init").expect(0);
        scratch
    }

    /// A complete store with one decision, `use-jwt`.
    pub fn with_jwt() -> Scratch {
        let scratch = Scratch::with_store();
        scratch.decide("Use JWT");
        scratch
    }

    pub fn at(mut self, now: &'static str) -> Scratch {
        self.now = now;
        self
    }

    pub fn project(&self) -> PathBuf {
        self.folder.join("project")
    }

    pub fn home(&self) -> PathBuf {
        self.folder.join("home")
    }

    /// The binary in the project, seeing nothing of the environment but this scratch folder.
    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lorelane"));
        command
            .args(words)
            .current_dir(self.project())
            .env_clear()
            .env("PATH", path_with(env!("CARGO_BIN_EXE_lorelane")))
            .env("HOME", self.home())
            .env("LORELANE_HOME", self.home())
            .env("LORELANE_NOW", self.now)
            // A machine that does other things, too, must not make a hook give up.
            .env("LORELANE_HOOK_DEADLINE_MS", "20000")
            .stdin(Stdio::null());
        command
    }

    /// Git in the project, seeing neither the settings nor the repository of whoever runs the tests.
    pub fn git(&self, words: &[&str]) -> String {
        let output = Command::new("git")
            .args(["-c", "user.name=A", "-c", "user.email=a@b.c", "-c", "init.defaultBranch=main"])
            .args(words)
            .current_dir(self.project())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.home())
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .stdin(Stdio::null())
            .output()
            .unwrap();
        assert!(output.status.success(), "git {words:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs a line as one would type it after `lorelane`.
    pub fn lorelane(&self, line: &str) -> Said {
        let words = words(line);
        self.said(&self.command(&words.iter().map(String::as_str).collect::<Vec<_>>()).output().unwrap())
    }

    pub fn lorelane_with_input(&self, line: &str, input: impl AsRef<[u8]>) -> Said {
        let words = words(line);
        let mut command = self.command(&words.iter().map(String::as_str).collect::<Vec<_>>());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // It may stop reading before the end of what it refuses.
        let _ = child.stdin.take().unwrap().write_all(input.as_ref());
        self.said(&child.wait_with_output().unwrap())
    }

    pub fn said(&self, output: &Output) -> Said {
        self.said_as("~", output)
    }

    /// `name` stands for the scratch folder.
    pub fn said_as(&self, name: &str, output: &Output) -> Said {
        let shown = |bytes: &[u8]| {
            let text = String::from_utf8(bytes.to_vec()).expect("output is UTF-8");
            text.replace(self.folder.to_str().unwrap(), name)
        };
        Said { out: shown(&output.stdout), err: shown(&output.stderr), code: output.status.code() }
    }

    /// The document that a line prints with `--json`.
    pub fn json(&self, line: &str) -> Json {
        let said = self.lorelane(&format!("{line} --json"));
        let document = Json::parse(&said.out).unwrap_or_else(|why| panic!("{line}: {why}\n{said:?}"));
        assert_eq!(document.at("v").and_then(Json::as_u64), Some(1), "{line}: {said:?}");
        document
    }

    pub fn decide(&self, title: &str) -> Said {
        let line = format!("create decision --title '{title}' --tag auth {DECISION}");
        self.lorelane(&line).expect(0)
    }

    pub fn session(&self, number: u32) -> Said {
        let line = format!(
            "create session_summary --title 'Session {number}' --set goal=Ship --set outcome=success \
             --set 'completed=Shipped part {number} of the importer' \
             --set created_at=2026-02-{:02}T00:00:00Z",
            number + 1
        );
        self.lorelane(&line).expect(0)
    }

    /// Writes a file as somebody does who does not ask lorelane.
    pub fn put(&self, path: &str, text: impl AsRef<[u8]>) {
        let file = self.project().join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    pub fn read(&self, path: &str) -> String {
        fs::read_to_string(self.project().join(path)).unwrap()
    }

    pub fn exists(&self, path: &str) -> bool {
        self.project().join(path).exists()
    }

    /// Writes `memory-config.json` as an editor would, for a user who trusts what it says.
    pub fn configure(&self, json: &str) {
        self.put(CONFIG, format!("{json}\n"));
        self.lorelane("trust --yes");
    }

    /// The same for `lorelane.toml`.
    pub fn set_toml(&self, toml: &str) {
        self.put("lorelane.toml", toml);
        self.lorelane("trust --yes");
    }

    /// One field of a record, as a line of JSON.
    pub fn line(&self, path: &str, field: &str) -> String {
        self.field(path, field).render(JsonFormat::LINE)
    }

    pub fn field(&self, path: &str, field: &str) -> Json {
        Json::parse(&self.read(path)).unwrap().at(field).cloned().unwrap_or(Json::Null)
    }

    /// The listing's lines without its head.
    pub fn listing(&self) -> String {
        let listing = self.read(LISTING);
        listing.lines().filter(|line| line.starts_with("- [")).map(|line| format!("{line}\n")).collect()
    }

    /// Everything in project and home: files with their bytes, links with their targets, folders with nothing.
    pub fn tree(&self) -> BTreeMap<String, Vec<u8>> {
        let mut tree = BTreeMap::new();
        self.walk(&self.project(), &mut tree);
        self.walk(&self.home(), &mut tree);
        tree
    }

    /// The project's own folder in the state folder.
    pub fn project_state(&self) -> PathBuf {
        let projects = fs::read_dir(self.home().join("state/projects")).unwrap();
        let [own] = projects.map(|entry| entry.unwrap().path()).collect::<Vec<_>>().try_into().unwrap();
        own
    }

    /// The same without the index: a cache that any read may bring up to date.
    pub fn tree_without_cache(&self) -> BTreeMap<String, Vec<u8>> {
        let mut tree = self.tree();
        tree.retain(|path, _| !path.starts_with("home/cache"));
        tree
    }

    pub fn walk(&self, folder: &Path, tree: &mut BTreeMap<String, Vec<u8>>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(&self.folder).unwrap().to_str().unwrap().to_owned();
            let kind = fs::symlink_metadata(&path).unwrap().file_type();
            if kind.is_symlink() {
                tree.insert(name, fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes());
            } else if kind.is_dir() {
                tree.insert(format!("{name}/"), Vec::new());
                self.walk(&path, tree);
            } else if kind.is_file() {
                // What this user may not read is not compared.
                tree.insert(name, fs::read(&path).unwrap_or_default());
            }
        }
    }
}

/// The fields that a decision cannot be without.
pub const DECISION: &str = "--set context=Slow --set decision=Tokens --set rationale=Stateless";

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

impl Said {
    /// Checks the exit code.
    pub fn expect(self, code: i32) -> Said {
        assert_eq!(self.code, Some(code), "{}", self.text());
        self
    }

    /// The request to save that a stop hook of Claude Code gave.
    pub fn asked(self) -> String {
        let said = self.expect(0);
        let answer = Json::parse(&said.out).unwrap_or_else(|why| panic!("{why}: {}", said.text()));
        let text = answer.at("hookSpecificOutput.additionalContext").and_then(Json::as_text).unwrap();
        assert!(text.starts_with(STOP_HEAD), "{text}");
        text.to_owned()
    }

    /// stdout, stderr behind `2> `, and the exit code when it is not 0.
    pub fn text(&self) -> String {
        let mut text = self.out.clone();
        for line in self.err.lines() {
            text.push_str(format!("2> {line}").trim_end());
            text.push('\n');
        }
        match self.code {
            Some(0) => {}
            Some(code) => text.push_str(&format!("exit {code}\n")),
            None => text.push_str("killed\n"),
        }
        text
    }
}

/// A text without the names that are others in every run: the project's id, the lanes in state and cache.
pub fn without_ids(text: &str) -> String {
    let is_digest = |text: &str, len| text.len() == len && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let names = text.split_inclusive(['/', ' ', '\n']).map(|part| {
        let name = part.trim_end_matches(['/', ' ', '\n']);
        let stable = match name.rsplit_once('-') {
            Some((lane, digest)) if is_digest(digest, 16) && (lane == "project" || is_digest(lane, 32)) => {
                "LANE"
            }
            None if is_digest(name, 32) => "ID",
            _ => name,
        };
        part.replacen(name, stable, 1)
    });
    names.collect()
}

/// Takes a line apart as a shell does that knows only quotes and line continuations.
pub fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for c in line.replace("\\\n", " ").chars() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some(_), c) => word.get_or_insert_default().push(c),
            (None, '"' | '\'') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (None, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

/// The PATH of a machine where the program is installed.
fn path_with(program: &str) -> OsString {
    let folder = Path::new(program).parent().unwrap().to_owned();
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::join_paths([folder].into_iter().chain(std::env::split_paths(&path))).unwrap()
}
