//! `setup`: installs lorelane into the settings of agents, and removes it again.
//!
//! Nothing is overwritten that lorelane did not write, and removal restores the previous bytes. If somebody
//! edited a file since, only our entries are removed. So every file has three states: as it was before (a
//! backup), as we wrote it (a digest), and as it is now.

mod block;
mod clients;
mod error;
mod git_hook;
mod latency;
mod plan;
mod plugin;
mod record;
mod settings;

use crate::config::write_plain;
use crate::disk::{Disk, FileType, RealDisk};
use crate::env::{Env, Folders, Var};
use crate::finding::Finding;
use crate::store::LOCK_DEADLINE;
use lorelane_core::json::OwnedEntry;
use plan::{spoiled, spoiler, text_of};
use record::{InstalledFile, Record, digest};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

pub use block::{BlockFile, BlockStep, KNOWLEDGE, RuleBlocks};
pub use error::SetupError;
pub(crate) use git_hook::installed_git_hook;
pub use git_hook::{GitHookError, GitHookStep, HookStrictness, set_up_git_hook};
pub(crate) use latency::is_trial;
pub use latency::{RUNS, TRIAL_SESSION, Timing};

/// An agent that lorelane can be set up for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Client {
    ClaudeCode,
    Codex,
    Gemini,
    Copilot,
    Opencode,
    Cursor,
    Windsurf,
    Zed,
}

impl Client {
    pub const ALL: [Client; 8] = [
        Client::ClaudeCode,
        Client::Codex,
        Client::Gemini,
        Client::Copilot,
        Client::Opencode,
        Client::Cursor,
        Client::Windsurf,
        Client::Zed,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Client::ClaudeCode => "claude-code",
            Client::Codex => "codex",
            Client::Gemini => "gemini",
            Client::Copilot => "copilot",
            Client::Opencode => "opencode",
            Client::Cursor => "cursor",
            Client::Windsurf => "windsurf",
            Client::Zed => "zed",
        }
    }

    pub fn parse(name: &str) -> Option<Client> {
        Client::ALL.into_iter().find(|client| client.name() == name)
    }

    /// Whether it has hooks that lorelane can use. The others only get the MCP server.
    pub fn has_hooks(self) -> bool {
        !matches!(self, Client::Cursor | Client::Windsurf | Client::Zed)
    }

    fn executable(self) -> &'static str {
        match self {
            Client::ClaudeCode => "claude",
            other => other.name(),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetupMode {
    Install,
    Remove,
}

/// What a user can ask for in addition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SetupExtra {
    /// The MCP tools of the working set.
    WorkingSet,
}

impl SetupExtra {
    pub const ALL: [SetupExtra; 1] = [SetupExtra::WorkingSet];

    pub fn name(self) -> &'static str {
        match self {
            SetupExtra::WorkingSet => "working-set",
        }
    }
}

/// A client found on this machine, and the folder or program that shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DetectedClient {
    pub client: Client,
    pub because: PathBuf,
    pub installed: bool,
}

/// The planned changes for one client.
#[derive(Debug)]
pub struct SetupPlan {
    pub client: Client,
    pub aim: SetupMode,
    /// Files that change.
    pub steps: Vec<FileStep>,
    /// What a removal leaves in place, and why.
    pub left: Vec<String>,
    /// Reasons why the client will ignore what is installed.
    pub warnings: Vec<String>,
    record: Record,
    old: Option<Record>,
}

/// One file before and after; `None` if it does not exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileStep {
    pub path: PathBuf,
    /// Our own folder, if the file is in it.
    pub within: Option<PathBuf>,
    pub before: Option<Vec<u8>>,
    pub after: Option<Vec<u8>>,
}

/// The folder for records, backups and the plugin's files.
pub fn folder(folders: &Folders) -> PathBuf {
    folders.state.join("agents")
}

/// The name of the program if it is on the PATH.
pub const NAME: &str = "lorelane";

/// Installs and removes lorelane for one user.
#[derive(Debug)]
pub struct Setup {
    disk: RealDisk,
    env: Env,
    /// The program that hooks call.
    program: PathBuf,
    agents: PathBuf,
}

impl Setup {
    pub fn new(env: &Env, program: &Path) -> Result<Setup, SetupError> {
        let folders = env.folders().ok_or(SetupError::NoHome)?;
        Ok(Setup { disk: RealDisk, env: env.clone(), program: program.to_owned(), agents: folder(&folders) })
    }

    /// The clients on this machine: their settings folder exists, or their program is on the PATH.
    pub fn found(&self) -> Vec<DetectedClient> {
        let found = |client: Client| {
            let folder = clients::folder(client, &self.env).filter(|folder| self.disk.is_folder(folder));
            let because = folder.or_else(|| on_path(&self.env, client.executable()))?;
            Some(DetectedClient { client, because, installed: self.is_installed(client) })
        };
        Client::ALL.into_iter().filter_map(found).collect()
    }

    pub fn is_installed(&self, client: Client) -> bool {
        matches!(
            Record::read(&self.disk, &self.agents, client.name()),
            Ok(Some(_)) | Err(SetupError::Record { .. })
        )
    }

    /// Carries out a plan.
    pub fn carry_out(&self, plan: &SetupPlan) -> Result<(), SetupError> {
        if plan.aim == SetupMode::Remove && plan.steps.is_empty() && plan.old.is_none() {
            return Ok(());
        }
        let made = plan.record.folders.iter().any(|folder| self.agents.starts_with(folder));
        self.disk
            .create_private_dir_all(&self.agents)
            .map_err(|fault| SetupError::io("create", &self.agents, fault))?;
        let lock = self
            .disk
            .lock_dir(&self.agents, LOCK_DEADLINE)
            .map_err(|_| SetupError::Busy { path: self.agents.clone() })?;
        match plan.aim {
            SetupMode::Install => {
                // The record is written first: a setup that is killed can still be removed.
                if plan.old.as_ref() != Some(&plan.record) {
                    plan.record.write(&self.disk, &self.agents, plan.client.name())?;
                }
                self.keep_changed(plan)?;
                self.write_files(&plan.steps)
            }
            SetupMode::Remove => {
                self.write_files(&plan.steps)?;
                if let Some(old) = plan.old.as_ref().filter(|_| plan.left.is_empty()) {
                    old.discard(&self.disk, &self.agents, plan.client.name())?;
                }
                drop(lock);
                self.remove_own_folders(&plan.steps);
                if plan.left.is_empty() {
                    let made_now = if made { plan.record.folders.as_slice() } else { &[] };
                    let made_then = plan.old.as_ref().map_or(made_now, |old| old.folders.as_slice());
                    self.remove_folders(made_then)?;
                }
                Ok(())
            }
        }
    }

    /// Our own file that somebody changed is rewritten; their version is kept beside the backups.
    fn keep_changed(&self, plan: &SetupPlan) -> Result<(), SetupError> {
        let Some(old) = &plan.old else { return Ok(()) };
        for step in &plan.steps {
            let whole = old.of(&step.path).filter(|kept| kept.entries.is_empty());
            if let (Some(kept), Some(now)) = (whole, &step.before)
                && digest(now) != kept.wrote
            {
                let name = format!("{}-{}.changed", plan.client.name(), &digest(now)[..12]);
                write_plain(&self.disk, &self.agents.join("backups").join(name), now)?;
            }
        }
        Ok(())
    }

    fn write_files(&self, steps: &[FileStep]) -> Result<(), SetupError> {
        for step in steps {
            let path = self.real(&step.path)?;
            if self.read(&path)? != step.before {
                return Err(SetupError::Meanwhile { path });
            }
            match &step.after {
                Some(bytes) => write_plain(&self.disk, &path, bytes)?,
                None => {
                    self.disk.remove_file(&path).map_err(|fault| SetupError::io("remove", &path, fault))?;
                }
            }
        }
        Ok(())
    }

    /// Removes empty folders inside our own. They need no record: nobody else uses them.
    fn remove_own_folders(&self, steps: &[FileStep]) {
        for (step, within) in steps.iter().filter_map(|step| Some((step, step.within.as_ref()?))) {
            let above = step.path.ancestors().skip(1).take_while(|folder| *folder != within);
            for folder in above {
                let _ = self.disk.remove_dir(folder);
            }
        }
    }

    /// Removes folders that setup created, innermost first and only if empty. Those that another client still
    /// uses go to that client's record, so that its removal deletes them.
    fn remove_folders(&self, folders: &[PathBuf]) -> Result<(), SetupError> {
        let mut stayed: Vec<PathBuf> = Vec::new();
        for folder in folders.iter().rev() {
            if self.disk.remove_dir(folder).is_err() && self.disk.exists(folder) {
                stayed.insert(0, folder.clone());
            }
        }
        let _ = self.disk.remove_dir(&self.agents);
        for client in Client::ALL {
            if let Some(mut other) =
                Record::read(&self.disk, &self.agents, client.name())?.filter(|_| !stayed.is_empty())
            {
                stayed.extend(std::mem::take(&mut other.folders));
                stayed.dedup();
                other.folders = stayed;
                return other.write(&self.disk, &self.agents, client.name());
            }
        }
        Ok(())
    }

    /// Checks what is installed.
    pub fn examine(&self) -> Vec<Finding> {
        let mut findings = Vec::new();
        for client in Client::ALL {
            let mend = format!("`lorelane setup {}` fixes it", client.name());
            let mut found =
                |what: String| findings.push(Finding { check: "setup", what, hint: mend.clone() });
            let record = match Record::read(&self.disk, &self.agents, client.name()) {
                Ok(Some(record)) => record,
                Ok(None) => continue,
                Err(fault) => {
                    found(fault.to_string());
                    continue;
                }
            };
            let name = client.name();
            let called = record.program.display();
            let calls = if client.has_hooks() {
                format!("the hooks of {name} call {called}")
            } else {
                format!("{name} starts {called}")
            };
            if !self.disk.exists(&record.program) {
                found(format!("{calls}, which does not exist"));
            } else if !same_file(&record.program, &self.program) {
                found(format!("{calls}, not {}", self.program.display()));
            }
            let mut is_damaged = false;
            for kept in &record.files {
                if let Some(what) = self.damage(kept) {
                    is_damaged = true;
                    found(format!("{name}: {} {what}", kept.path.display()));
                }
            }
            if !is_damaged
                && same_file(&record.program, &self.program)
                && self.plan(client, SetupMode::Install, &[]).is_ok_and(|plan| !plan.steps.is_empty())
            {
                found(format!("{name}: what `setup` installed is from another version of lorelane"));
            }
            for kept in record.files.iter().filter(|kept| !kept.entries.is_empty()) {
                let now = self.read(&kept.path).ok().flatten();
                if let Some(spoiler) = now.and_then(|now| spoiler(client, &kept.path, &now)) {
                    let what = spoiled(client, &kept.path, spoiler);
                    let hint = format!("remove {spoiler} from the file");
                    findings.push(Finding { check: "setup", what, hint });
                }
            }
        }
        findings
    }

    fn damage(&self, kept: &InstalledFile) -> Option<&'static str> {
        let now = match self.read(&kept.path) {
            Ok(now) => now,
            Err(_) => return Some("cannot be read"),
        };
        let Some(now) = now else { return Some("is gone") };
        if kept.is_as_written(Some(&now)) {
            return None;
        }
        if kept.entries.is_empty() {
            return Some("was edited since lorelane wrote it");
        }
        let entries: Vec<OwnedEntry> = kept.entries.iter().map(|(entry, _)| entry.clone()).collect();
        let held = text_of(&now).is_some_and(|text| settings::holds(&kept.path, text, &entries));
        (!held).then_some("is missing an entry of lorelane")
    }

    fn read(&self, path: &Path) -> Result<Option<Vec<u8>>, SetupError> {
        let real = self.real(path)?;
        self.disk.read(&real).map_err(|fault| SetupError::io("read", path, fault))
    }

    /// Resolves a symbolic link: its target is edited, and the link stays.
    fn real(&self, path: &Path) -> Result<PathBuf, SetupError> {
        let stat = self.disk.stat(path).map_err(|fault| SetupError::io("read", path, fault))?;
        if stat.is_none_or(|stat| stat.kind != FileType::Symlink) {
            return Ok(path.to_owned());
        }
        self.disk.real_path(path).map_err(|fault| SetupError::io("follow the link", path, fault))
    }
}

fn same_file(a: &Path, b: &Path) -> bool {
    match (RealDisk.real_path(a), RealDisk.real_path(b)) {
        (Ok(a), Ok(b)) => a == b,
        _ => a == b,
    }
}

/// The shell command line of a hook. Not the exec form: a client that does not know `args` would run the bare
/// program, whose exit code 2 blocks every prompt. If the program is gone, the line exits with 0.
fn hook_line(program: &str, words: &str) -> String {
    let program = quoted(program);
    if cfg!(windows) {
        return format!("{program} hook {words}");
    }
    format!("[ -x {program} ] || exit 0; exec {program} hook {words}")
}

fn on_path(env: &Env, name: &str) -> Option<PathBuf> {
    let path = env.var(Var::Path)?;
    let is_file =
        |file: &PathBuf| matches!(RealDisk.stat_target(file), Ok(Some(stat)) if stat.kind == FileType::File);
    std::env::split_paths(path).map(|folder| folder.join(name)).find(is_file)
}

/// How a shell calls this program: by name if it is on the PATH, otherwise by the path of the running program.
pub fn called(env: &Env) -> String {
    let name = format!("{NAME}{}", std::env::consts::EXE_SUFFIX);
    if on_path(env, &name).is_some() { NAME.to_owned() } else { called_by_path() }
}

/// How any shell calls it, even one with another PATH.
pub fn called_by_path() -> String {
    let running = std::env::current_exe().ok().map(|running| quoted(&running.to_string_lossy()));
    running.unwrap_or_else(|| NAME.to_owned())
}

/// Rewrites the commands in a text to call the program as `called`. Every text that tells an agent to run
/// something goes through here, so that core knows no paths.
pub fn calling(text: &str, called: &str) -> String {
    // A command is quoted, or on a line of its own.
    text.replace(&format!("`{NAME} "), &format!("`{called} "))
        .replace(&format!("\n{NAME} "), &format!("\n{called} "))
}

/// Quotes a path as one shell word.
fn quoted(path: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@".contains(c);
    if !path.is_empty() && path.chars().all(plain) {
        return path.to_owned();
    }
    if cfg!(windows) {
        return format!("\"{path}\"");
    }
    format!("'{}'", path.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::clients::{Installable, ServerCall};
    use super::*;
    use lorelane_core::json::{self, Json, JsonFormat};

    const CALL: ServerCall<'_> = ServerCall { program: "/bin/lorelane", args: &["mcp"] };

    #[test]
    fn a_file_that_a_client_passes_over_is_known() {
        use Client::{ClaudeCode, Codex, Copilot, Gemini};
        for (text, spoils) in [
            ("{}", vec![]),
            ("", vec![]),
            ("{ // why\n}", vec![ClaudeCode, Codex, Copilot]),
            ("{\"a\": 1,}", vec![ClaudeCode, Codex, Gemini, Copilot]),
            ("\u{feff}{}", vec![Codex]),
            ("{ broken", vec![]),
        ] {
            let spoilt = [ClaudeCode, Codex, Gemini, Copilot].into_iter();
            let spoilt: Vec<Client> = spoilt
                .filter(|client| spoiler(*client, Path::new("a.json"), text.as_bytes()).is_some())
                .collect();
            assert_eq!(spoilt, spoils, "{text}");
        }
    }

    #[test]
    fn codex_gets_the_server_as_a_table_and_loses_no_other_byte() {
        let parts = clients::parts(Client::Codex, Path::new("/c"), Path::new("/own"), CALL);
        let [_, Installable::Entries { path, entries }] = parts.as_slice() else { panic!("{parts:?}") };
        assert_eq!(path, Path::new("/c/config.toml"));
        let ours = "[mcp_servers.lorelane]\ncommand = \"/bin/lorelane\"\nargs = [\"mcp\"]\n";
        let theirs = "# mine\nmodel = 'o3'\n\n[mcp_servers.other] # x\ncommand = \"y\"\n";
        for (before, after) in [("", ours.to_owned()), (theirs, format!("{theirs}\n{ours}"))] {
            let (added, _) = settings::add(path, before, entries).unwrap();
            assert_eq!(added, after);
            assert!(settings::holds(path, &added, entries) && !settings::holds(path, before, entries));
            assert_eq!(settings::take(path, &added, entries, None).unwrap(), before);
            // Somebody edited the file since.
            let more = format!("{added}\n[projects.\"/p\"]\ntrust_level = \"trusted\"\n");
            let left = settings::take(path, &more, entries, None).unwrap();
            assert!(!left.contains("lorelane") && left.contains("trust_level"), "{left}");
            assert!(settings::add(path, &added, entries).is_err());
        }
        // Our entry is found wherever its user moved it, and whatever was added to it.
        let ours = "command = \"/bin/lorelane\"";
        for (moved, left) in [
            (format!("[mcp_servers.lorelane]\n{ours}\n"), ""),
            (format!("a = 1\r\n\r\n[mcp_servers.lorelane]\r\n{ours}"), "a = 1\r\n"),
            (format!("[mcp_servers.lorelane] # x\n# y\n{ours} # z\n# mine\n[b]\n"), "# mine\n[b]\n"),
            (
                format!("[mcp_servers.lorelane.env]\nK = 1\n[b]\n[mcp_servers.lorelane]\n{ours}\n[c]\n"),
                "[b]\n[c]\n",
            ),
            (
                format!("[mcp_servers]\nlorelane.{ours}\nx.y = 1\nlorelane.z = 2\n"),
                "[mcp_servers]\nx.y = 1\n",
            ),
            (format!("[mcp_servers]\n  lorelane = {{ {ours} }} # z\nx.y = 1\n"), "[mcp_servers]\nx.y = 1\n"),
            (
                format!("mcp_servers = {{ lorelane = {{ {ours} }}, x = 1 }}\r\n"),
                "mcp_servers = { x = 1 }\r\n",
            ),
            (format!("mcp_servers = {{ x = 1, lorelane = {{ {ours} }} }}\n"), "mcp_servers = { x = 1 }\n"),
            (format!("\u{feff}mcp_servers.lorelane.{ours}\n"), "\u{feff}"),
        ] {
            assert_eq!(settings::take(path, &moved, entries, None).unwrap(), left, "{moved}");
        }
        let strange = format!("mcp_servers = {{ lorelane.{ours} }}\n");
        assert!(settings::take(path, &strange, entries, None).is_err());
        for broken in ["mcp_servers = 5\n", "[broken\n", "[mcp_servers]\nlorelane = 5\n"] {
            assert!(settings::add(path, broken, entries).is_err(), "{broken}");
        }
    }

    // An inline table is as valid as any other, and was rejected (finding 19).
    #[test]
    fn a_server_goes_into_an_inline_table_and_out_again_to_the_byte() {
        let parts = clients::parts(Client::Codex, Path::new("/c"), Path::new("/own"), CALL);
        let [_, Installable::Entries { path, entries }] = parts.as_slice() else { panic!("{parts:?}") };
        let ours = "lorelane = { command = \"/bin/lorelane\", args = [\"mcp\"] }";
        for (before, after) in [
            ("mcp_servers = {}\n", format!("mcp_servers = {{{ours}}}\n")),
            ("mcp_servers = { }", format!("mcp_servers = {{ {ours}}}")),
            (
                "a = 1\r\nmcp_servers = { x = { command = \"y\" } } # mine\r\n\r\n[b]\r\n",
                format!(
                    "a = 1\r\nmcp_servers = {{ x = {{ command = \"y\" }}, {ours} }} # mine\r\n\r\n[b]\r\n"
                ),
            ),
            ("\u{feff}mcp_servers = {x={}}\n", format!("\u{feff}mcp_servers = {{x={{}}, {ours}}}\n")),
        ] {
            let (added, traces) = settings::add(path, before, entries).unwrap();
            assert_eq!(added, after);
            assert!(settings::holds(path, &added, entries));
            for traces in [None, Some(traces.as_slice())] {
                assert_eq!(settings::take(path, &added, entries, traces).unwrap(), before);
            }
            // Somebody edited the file since.
            let more = format!("{added}\n[projects.\"/p\"]\ntrust_level = \"trusted\"\n");
            let left = settings::take(path, &more, entries, Some(&traces)).unwrap();
            assert_eq!(left, format!("{before}\n[projects.\"/p\"]\ntrust_level = \"trusted\"\n"));
        }
    }

    #[test]
    fn every_client_gets_the_server_in_its_own_words() {
        for (client, file, expected) in [
            (
                Client::Gemini,
                "settings.json",
                r#"{"mcpServers": {"lorelane": {"command": "/bin/lorelane", "args": ["mcp"]}}}"#,
            ),
            (
                Client::Copilot,
                "mcp-config.json",
                r#"{"mcpServers": {"lorelane": {"command": "/bin/lorelane", "args": ["mcp"], "type": "local", "tools": ["*"]}}}"#,
            ),
            (
                Client::Opencode,
                "opencode.json",
                r#"{"mcp": {"lorelane": {"type": "local", "command": ["/bin/lorelane", "mcp"], "enabled": true}}}"#,
            ),
            (
                Client::Cursor,
                "mcp.json",
                r#"{"mcpServers": {"lorelane": {"command": "/bin/lorelane", "args": ["mcp"]}}}"#,
            ),
            (
                Client::Windsurf,
                "mcp_config.json",
                r#"{"mcpServers": {"lorelane": {"command": "/bin/lorelane", "args": ["mcp"]}}}"#,
            ),
            (
                Client::Zed,
                "settings.json",
                r#"{"context_servers": {"lorelane": {"command": "/bin/lorelane", "args": ["mcp"]}}}"#,
            ),
        ] {
            let parts = clients::parts(client, Path::new("/c"), Path::new("/own"), CALL);
            let path = Path::new("/c").join(file);
            let entries = parts.iter().find_map(|part| match part {
                Installable::Entries { path: own, entries } if *own == path => Some(entries),
                _ => None,
            });
            let entries = entries.unwrap_or_else(|| panic!("{parts:?}")).iter();
            let servers: Vec<OwnedEntry> =
                entries.filter(|entry| entry.path[0] != "hooks").cloned().collect();
            let (text, _) = json::add("", &servers).unwrap();
            assert_eq!(Json::parse(&text).unwrap().render(JsonFormat::LINE), expected);
        }
    }

    #[test]
    fn a_path_is_one_word_whatever_is_in_it() {
        for (path, expected) in [
            ("/usr/bin/lorelane", "/usr/bin/lorelane"),
            ("/opt/my tools/lorelane", "'/opt/my tools/lorelane'"),
            ("/o'b/$(x)", "'/o'\\''b/$(x)'"),
        ] {
            assert_eq!(quoted(path), expected);
        }
    }
}
