//! Setup: what lorelane puts into the files of other programs, and takes back.
//!
//! Nothing here is replaced that lorelane did not write, and a removal gives back the bytes from before. Where
//! somebody edited a file since, only our entries go. So every file is seen in three states: as it was before us
//! (kept as a backup), as we wrote it (kept as a digest), and as it is now.

mod clients;
mod latency;
mod plugin;
mod record;

use crate::config::{ConfigError, write_plain};
use crate::disk::{Disk, Kind, RealDisk};
use crate::env::{Env, Folders};
use crate::store::LOCK_DEADLINE;
use crate::workspace::Finding;
use clients::Part;
use lorelane_core::json::{self, Document, Entry, EntryFault, Grammar, NodeKind, Trace};
use record::{Kept, Record, digest};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

pub use latency::{RUNS, Timing};

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

    /// Whether it has hooks for us. The others can only ask a server.
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
pub enum Aim {
    Install,
    Remove,
}

/// A client that is on this machine, and how we know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    pub client: Client,
    pub because: PathBuf,
    pub installed: bool,
}

/// What shall be done for one client.
#[derive(Debug)]
pub struct SetupPlan {
    pub client: Client,
    pub aim: Aim,
    /// Files that change.
    pub steps: Vec<FileStep>,
    /// What stays although it should go, and why.
    pub left: Vec<String>,
    /// What will keep it from working.
    pub warnings: Vec<String>,
    record: Record,
    old: Option<Record>,
}

/// One file before and after; `None` where there is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileStep {
    pub path: PathBuf,
    /// Our own folder that it lies in, where it does.
    pub within: Option<PathBuf>,
    pub before: Option<Vec<u8>>,
    pub after: Option<Vec<u8>>,
}

#[derive(Debug)]
pub enum SetupError {
    NoHome,
    /// Only a server can reach this client, and there is none yet.
    NeedsServer(Client),
    /// Something that lorelane did not write has its name.
    Foreign {
        path: PathBuf,
        why: String,
    },
    /// A file that cannot be read is not written over.
    Broken {
        path: PathBuf,
        why: String,
    },
    /// Our own notes are damaged.
    Record {
        path: PathBuf,
    },
    Busy {
        path: PathBuf,
    },
    Config(ConfigError),
    Io {
        attempt: &'static str,
        path: PathBuf,
        source: io::Error,
    },
}

impl SetupError {
    fn io(attempt: &'static str, path: &Path, source: io::Error) -> SetupError {
        SetupError::Io { attempt, path: path.to_owned(), source }
    }

    /// Whether nothing failed: something stands in the way that is not ours to move.
    pub fn is_refusal(&self) -> bool {
        matches!(self, SetupError::NeedsServer(_) | SetupError::Foreign { .. })
    }

    pub fn hint(&self) -> Option<String> {
        Some(match self {
            SetupError::NoHome => "set HOME, or LORELANE_HOME and the client's own variable".to_owned(),
            SetupError::NeedsServer(_) => {
                "nothing was changed; `lorelane setup` shows the clients that can be set up now".to_owned()
            }
            SetupError::Foreign { .. } => {
                "nothing was changed; move it out of the way to let lorelane in".to_owned()
            }
            SetupError::Broken { .. } => "nothing was changed; mend the file first".to_owned(),
            SetupError::Record { .. } => {
                "move it away; then `lorelane setup --remove` takes out what is surely ours".to_owned()
            }
            SetupError::Busy { .. } => "wait until the other setup has ended".to_owned(),
            SetupError::Config(_) => return None,
            SetupError::Io { .. } => "check that the folder exists and may be read and written".to_owned(),
        })
    }
}

impl fmt::Display for SetupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SetupError::NoHome => {
                f.write_str("cannot tell where the clients keep their settings: there is no home")
            }
            SetupError::NeedsServer(client) => {
                write!(f, "cannot set up {} yet: it joins with the MCP server", client.name())
            }
            SetupError::Foreign { path, why } | SetupError::Broken { path, why } => {
                write!(f, "cannot change {}: {why}", path.display())
            }
            SetupError::Record { path } => {
                write!(f, "cannot tell what was installed: {} is damaged or gone", path.display())
            }
            SetupError::Busy { path } => {
                write!(f, "cannot lock {}: another setup is running", path.display())
            }
            SetupError::Config(fault) => fault.fmt(f),
            SetupError::Io { attempt, path, source } => {
                write!(f, "cannot {attempt} {}: {source}", path.display())
            }
        }
    }
}

impl std::error::Error for SetupError {}

impl From<ConfigError> for SetupError {
    fn from(fault: ConfigError) -> SetupError {
        SetupError::Config(fault)
    }
}

/// The folder for records, backups and the plugin's files.
pub fn folder(folders: &Folders) -> PathBuf {
    folders.state.join("agents")
}

/// Installs and removes, for one user and one program.
#[derive(Debug)]
pub struct Setup {
    disk: RealDisk,
    env: Env,
    /// The program that the hooks shall call.
    program: PathBuf,
    agents: PathBuf,
}

impl Setup {
    pub fn new(env: &Env, program: &Path) -> Result<Setup, SetupError> {
        let folders = env.folders().ok_or(SetupError::NoHome)?;
        Ok(Setup { disk: RealDisk, env: env.clone(), program: program.to_owned(), agents: folder(&folders) })
    }

    /// The clients on this machine: their settings' folder is there, or their program is on the PATH.
    pub fn found(&self) -> Vec<Found> {
        let found = |client: Client| {
            let folder = clients::folder(client, &self.env).filter(|folder| folder.is_dir());
            let because = folder.or_else(|| self.on_path(client.executable()))?;
            Some(Found { client, because, installed: self.is_installed(client) })
        };
        Client::ALL.into_iter().filter_map(found).collect()
    }

    fn on_path(&self, name: &str) -> Option<PathBuf> {
        let path = self.env.var("PATH")?;
        std::env::split_paths(path).map(|folder| folder.join(name)).find(|file| file.is_file())
    }

    pub fn is_installed(&self, client: Client) -> bool {
        matches!(Record::read(&self.disk, &self.agents, client), Ok(Some(_)) | Err(SetupError::Record { .. }))
    }

    /// Decides what changes, and changes nothing.
    pub fn plan(&self, client: Client, aim: Aim) -> Result<SetupPlan, SetupError> {
        let parts = self.parts(client)?;
        let old = Record::read(&self.disk, &self.agents, client)?;
        let mut plan = SetupPlan {
            client,
            aim,
            steps: Vec::new(),
            left: Vec::new(),
            warnings: Vec::new(),
            record: Record { program: self.program.clone(), ..Record::default() },
            old,
        };
        for part in &parts {
            self.plan_part(&mut plan, part)?;
        }
        self.plan_orphans(&mut plan, &parts)?;
        self.plan_folders(&mut plan);
        Ok(plan)
    }

    fn parts(&self, client: Client) -> Result<Vec<Part>, SetupError> {
        if !client.has_hooks() {
            return Err(SetupError::NeedsServer(client));
        }
        let folder = clients::folder(client, &self.env).ok_or(SetupError::NoHome)?;
        Ok(clients::parts(client, &folder, &self.agents, &self.program.to_string_lossy()))
    }

    fn plan_part(&self, plan: &mut SetupPlan, part: &Part) -> Result<(), SetupError> {
        let path = part.path();
        let now = self.read(path)?;
        let kept = plan.old.as_ref().and_then(|old| old.of(path)).cloned();
        let (after, keep) = match (part, plan.aim) {
            (Part::Trail { entries, .. }, Aim::Remove) => {
                // It speaks of us only if something of ours was there to speak of.
                if plan.steps.is_empty() && plan.old.is_none() {
                    return Ok(());
                }
                let taken = Trace { added: true, ..Trace::default() };
                (take(path, now.as_deref(), entries, Some(&vec![taken; entries.len()]))?, None)
            }
            (Part::Trail { .. }, Aim::Install) => return Ok(()),
            (Part::Whole { text, .. }, Aim::Install) => {
                let keep = whole(path, now.as_deref(), kept, text)?;
                (Some(text.clone().into_bytes()), Some(keep))
            }
            (Part::Whole { text, .. }, Aim::Remove) => match (kept, &now) {
                (Some(kept), Some(_)) if !kept.is_as_written(now.as_deref()) => {
                    plan.left.push(format!("{} was changed since lorelane wrote it", path.display()));
                    return Ok(());
                }
                (Some(kept), _) => (kept.before, None),
                (None, Some(now)) if now == text.as_bytes() => (None, None),
                (None, _) => return Ok(()),
            },
            (Part::Entries { entries, .. }, aim) => {
                let spoiler = now.as_deref().and_then(|now| spoiler(plan.client, now));
                if let (Some(spoiler), Aim::Install) = (spoiler, aim) {
                    plan.warnings.push(spoiled(plan.client, path, spoiler));
                }
                let held = now.as_deref().and_then(text_of).is_some_and(|now| json::holds(now, entries));
                if let (Some(kept), Aim::Install, true) = (&kept, aim, held) {
                    plan.record.files.push(kept.clone());
                    return Ok(());
                }
                let base = without_ours(path, now.as_deref(), kept.as_ref(), entries)?;
                match aim {
                    Aim::Remove => (base, None),
                    Aim::Install => {
                        let (after, traces) = add(path, base.as_deref(), entries)?;
                        let entries = entries.iter().cloned().zip(traces).collect();
                        let wrote = digest(&after);
                        (Some(after), Some(Kept { path: path.to_owned(), before: base, wrote, entries }))
                    }
                }
            }
        };
        plan.record.files.extend(keep);
        if after != now {
            plan.steps.push(self.step(path, now, after));
        }
        Ok(())
    }

    fn step(&self, path: &Path, before: Option<Vec<u8>>, after: Option<Vec<u8>>) -> FileStep {
        let within = path.starts_with(&self.agents).then(|| self.agents.clone());
        FileStep { path: path.to_owned(), within, before, after }
    }

    /// Files that an older version installed and this one does not.
    fn plan_orphans(&self, plan: &mut SetupPlan, parts: &[Part]) -> Result<(), SetupError> {
        let Some(old) = plan.old.clone() else { return Ok(()) };
        for kept in old.files.iter().filter(|kept| !parts.iter().any(|part| part.path() == kept.path)) {
            let now = self.read(&kept.path)?;
            if kept.entries.is_empty() && now.is_some() && !kept.is_as_written(now.as_deref()) {
                plan.left.push(format!("{} was changed since lorelane wrote it", kept.path.display()));
                continue;
            }
            let after = without_ours(&kept.path, now.as_deref(), Some(kept), &[])?;
            if after != now {
                plan.steps.push(self.step(&kept.path, now, after));
            }
        }
        Ok(())
    }

    /// Which folders will be made, and which were made before.
    fn plan_folders(&self, plan: &mut SetupPlan) {
        let mut folders = plan.old.as_ref().map(|old| old.folders.clone()).unwrap_or_default();
        let written = plan.record.files.iter().map(|kept| kept.path.as_path());
        let notes = self.agents.join("backups/any");
        for file in written.chain([notes.as_path()]) {
            let above = file.ancestors().skip(1);
            let missing: Vec<&Path> = above.take_while(|folder| !folder.exists()).collect();
            for folder in missing.into_iter().rev() {
                if !folders.iter().any(|known| known == folder) {
                    folders.push(folder.to_owned());
                }
            }
        }
        plan.record.folders = folders;
    }

    /// Does what was planned.
    pub fn carry_out(&self, plan: &SetupPlan) -> Result<(), SetupError> {
        if plan.aim == Aim::Remove && plan.steps.is_empty() && plan.old.is_none() {
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
            Aim::Install => {
                // Written down before it is done: a setup that is killed can be taken back.
                if plan.old.as_ref() != Some(&plan.record) {
                    plan.record.write(&self.disk, &self.agents, plan.client)?;
                }
                self.keep_changed(plan)?;
                self.write_files(&plan.steps)
            }
            Aim::Remove => {
                self.write_files(&plan.steps)?;
                if let Some(old) = plan.old.as_ref().filter(|_| plan.left.is_empty()) {
                    old.discard(&self.disk, &self.agents, plan.client)?;
                }
                drop(lock);
                if plan.left.is_empty() {
                    let made_now = if made { plan.record.folders.as_slice() } else { &[] };
                    let made_then = plan.old.as_ref().map_or(made_now, |old| old.folders.as_slice());
                    self.remove_folders(made_then)?;
                }
                Ok(())
            }
        }
    }

    /// A file of ours that somebody changed is mended, and what they wrote is kept beside the backups.
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
            match &step.after {
                Some(bytes) => write_plain(&self.disk, &path, bytes)?,
                None => {
                    self.disk.remove_file(&path).map_err(|fault| SetupError::io("remove", &path, fault))?;
                }
            }
        }
        Ok(())
    }

    /// Innermost first, and only what is empty. What another client still needs is handed over to its record.
    fn remove_folders(&self, folders: &[PathBuf]) -> Result<(), SetupError> {
        let mut stayed: Vec<PathBuf> = Vec::new();
        for folder in folders.iter().rev() {
            if self.disk.remove_dir(folder).is_err() && folder.exists() {
                stayed.insert(0, folder.clone());
            }
        }
        let _ = self.disk.remove_dir(&self.agents);
        for client in Client::ALL {
            if let Some(mut other) =
                Record::read(&self.disk, &self.agents, client)?.filter(|_| !stayed.is_empty())
            {
                stayed.extend(std::mem::take(&mut other.folders));
                stayed.dedup();
                other.folders = stayed;
                return other.write(&self.disk, &self.agents, client);
            }
        }
        Ok(())
    }

    /// What is wrong with what is installed.
    pub fn examine(&self) -> Vec<Finding> {
        let mut findings = Vec::new();
        for client in Client::ALL.into_iter().filter(|client| client.has_hooks()) {
            let mend = format!("`lorelane setup {}` mends it", client.name());
            let mut found =
                |what: String| findings.push(Finding { check: "setup", what, hint: mend.clone() });
            let record = match Record::read(&self.disk, &self.agents, client) {
                Ok(Some(record)) => record,
                Ok(None) => continue,
                Err(fault) => {
                    found(fault.to_string());
                    continue;
                }
            };
            let name = client.name();
            let called = record.program.display();
            if !record.program.exists() {
                found(format!("the hooks of {name} call {called}, which is gone"));
            } else if !same_file(&record.program, &self.program) {
                found(format!("the hooks of {name} call {called}, not {}", self.program.display()));
            }
            for kept in &record.files {
                if let Some(what) = self.damage(kept) {
                    found(format!("{name}: {} {what}", kept.path.display()));
                }
            }
            for kept in record.files.iter().filter(|kept| !kept.entries.is_empty()) {
                let now = self.read(&kept.path).ok().flatten();
                if let Some(spoiler) = now.and_then(|now| spoiler(client, &now)) {
                    let what = spoiled(client, &kept.path, spoiler);
                    let hint = format!("take {spoiler} out of the file");
                    findings.push(Finding { check: "setup", what, hint });
                }
            }
        }
        findings
    }

    fn damage(&self, kept: &Kept) -> Option<&'static str> {
        let now = match self.read(&kept.path) {
            Ok(now) => now,
            Err(_) => return Some("cannot be read"),
        };
        let Some(now) = now else { return Some("is gone") };
        if kept.is_as_written(Some(&now)) {
            return None;
        }
        if kept.entries.is_empty() {
            return Some("was changed since lorelane wrote it");
        }
        let entries: Vec<Entry> = kept.entries.iter().map(|(entry, _)| entry.clone()).collect();
        let held = text_of(&now).is_some_and(|text| json::holds(text, &entries));
        (!held).then_some("has lost an entry of lorelane")
    }

    fn read(&self, path: &Path) -> Result<Option<Vec<u8>>, SetupError> {
        let real = self.real(path)?;
        self.disk.read(&real).map_err(|fault| SetupError::io("read", path, fault))
    }

    /// A linked file is edited where it is, and the link stays.
    fn real(&self, path: &Path) -> Result<PathBuf, SetupError> {
        let stat = self.disk.stat(path).map_err(|fault| SetupError::io("look at", path, fault))?;
        if stat.is_none_or(|stat| stat.kind != Kind::Symlink) {
            return Ok(path.to_owned());
        }
        std::fs::canonicalize(path).map_err(|fault| SetupError::io("follow the link", path, fault))
    }
}

/// What makes a client pass over the whole of a settings file, without a word. Measured in the real ones: Gemini alone
/// takes comments, nobody a trailing comma, and Codex no byte order mark.
fn spoiler(client: Client, bytes: &[u8]) -> Option<&'static str> {
    let text = text_of(bytes)?;
    let body = text.strip_prefix('\u{feff}').unwrap_or(text);
    let reads = |grammar| Document::parse_as(body, grammar).is_ok();
    if client == Client::Codex && body.len() < text.len() {
        Some("a byte order mark")
    } else if reads(Grammar::Strict) {
        None
    } else if reads(Grammar::Commented) {
        Some("comments").filter(|_| client != Client::Gemini)
    } else {
        Some("a trailing comma").filter(|_| reads(Grammar::Lenient))
    }
}

fn spoiled(client: Client, path: &Path, spoiler: &str) -> String {
    let (path, name) = (path.display(), client.name());
    format!("{path} has {spoiler}, so {name} passes over all of it, also over what is yours")
}

fn same_file(a: &Path, b: &Path) -> bool {
    match (std::fs::canonicalize(a), std::fs::canonicalize(b)) {
        (Ok(a), Ok(b)) => a == b,
        _ => a == b,
    }
}

fn text_of(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok()
}

fn readable<'b>(path: &Path, bytes: &'b [u8]) -> Result<&'b str, SetupError> {
    text_of(bytes)
        .ok_or_else(|| SetupError::Broken { path: path.to_owned(), why: "it is not UTF-8".to_owned() })
}

fn refused(path: &Path, fault: &EntryFault) -> SetupError {
    let (path, why) = (path.to_owned(), fault.to_string());
    match fault {
        EntryFault::Taken { .. } => SetupError::Foreign { path, why },
        EntryFault::Json(_) | EntryFault::Shape { .. } => SetupError::Broken { path, why },
    }
}

fn add(path: &Path, base: Option<&[u8]>, entries: &[Entry]) -> Result<(Vec<u8>, Vec<Trace>), SetupError> {
    let text = readable(path, base.unwrap_or_default())?;
    let (text, traces) = json::add(text, entries).map_err(|fault| refused(path, &fault))?;
    Ok((text.into_bytes(), traces))
}

fn take(
    path: &Path,
    now: Option<&[u8]>,
    entries: &[Entry],
    traces: Option<&[Trace]>,
) -> Result<Option<Vec<u8>>, SetupError> {
    let Some(now) = now else { return Ok(None) };
    let text = readable(path, now)?;
    let text = json::take(text, entries, traces).map_err(|fault| refused(path, &fault))?;
    Ok(Some(text.into_bytes()))
}

/// The file as it would be had we never been there.
fn without_ours(
    path: &Path,
    now: Option<&[u8]>,
    kept: Option<&Kept>,
    entries: &[Entry],
) -> Result<Option<Vec<u8>>, SetupError> {
    let Some(kept) = kept else { return take(path, now, entries, None) };
    if kept.is_as_written(now) {
        return Ok(kept.before.clone());
    }
    let (entries, traces): (Vec<Entry>, Vec<Trace>) = kept.entries.iter().cloned().unzip();
    let left = take(path, now, &entries, Some(&traces))?;
    // An object that we began and that nobody used goes as a whole.
    let began = kept.before.as_deref().is_none_or(|before| text_of(before).is_some_and(is_blank));
    let unused = left.as_deref().and_then(text_of).is_some_and(is_empty_object);
    Ok(if began && unused { kept.before.clone() } else { left })
}

fn is_blank(text: &str) -> bool {
    text.trim_start_matches('\u{feff}').trim().is_empty()
}

fn is_empty_object(text: &str) -> bool {
    let text = text.trim_start_matches('\u{feff}').trim();
    let empty = |kind: &NodeKind| matches!(kind, NodeKind::Object(members) if members.is_empty());
    Document::parse(text).is_ok_and(|document| empty(&document.root.kind))
}

/// A file of our own: whatever else has its name is left alone.
fn whole(path: &Path, now: Option<&[u8]>, kept: Option<Kept>, text: &str) -> Result<Kept, SetupError> {
    let ours = kept.is_some() || now.is_none_or(|now| now == text.as_bytes() || mentions_setup(now));
    if !ours {
        let why = "it is there already, and lorelane did not write it".to_owned();
        return Err(SetupError::Foreign { path: path.to_owned(), why });
    }
    let before = kept.and_then(|kept| kept.before);
    Ok(Kept { path: path.to_owned(), before, wrote: digest(text.as_bytes()), entries: Vec::new() })
}

/// Our own files in foreign folders say where they come from, so that they are known without a record.
fn mentions_setup(bytes: &[u8]) -> bool {
    text_of(bytes).is_some_and(|text| text.starts_with("// Installed by `lorelane setup"))
}

/// The command line of a hook for a shell. A program that is gone is not an agent's business.
fn hook_line(program: &str, words: &str) -> String {
    let program = quoted(program);
    if cfg!(windows) {
        return format!("{program} hook {words}");
    }
    format!("[ -x {program} ] || exit 0; exec {program} hook {words}")
}

/// A path as one word of a shell.
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
    use super::*;
    use lorelane_core::json::{Format, Json};

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
            let spoilt: Vec<Client> =
                spoilt.filter(|client| spoiler(*client, text.as_bytes()).is_some()).collect();
            assert_eq!(spoilt, spoils, "{text}");
        }
    }

    // Not registered before the server exists; what would be is decided and tested.
    #[test]
    fn a_client_without_hooks_is_to_get_the_server() {
        for (client, file, expected) in [
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
            let parts = clients::parts(client, Path::new("/c"), Path::new("/own"), "/bin/lorelane");
            let [Part::Entries { path, entries }] = parts.as_slice() else { panic!("{parts:?}") };
            assert_eq!(path, &Path::new("/c").join(file));
            let (text, _) = json::add("", entries).unwrap();
            assert_eq!(Json::parse(&text).unwrap().render(Format::LINE), expected);
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
