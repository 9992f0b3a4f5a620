//! Finds the memories that name what a tool call touches: a file, a program, or the error of a failed command.
//!
//! Exact matches only, nothing by similarity. What a memory names is reduced to keys ([`keys_of`]); a tool call is
//! looked up by prefixes of such keys ([`ToolAct::probes`]), so that a map of any size is searched without reading it
//! all.

pub(crate) mod glob;
mod keys;
mod symptom;

pub use keys::keys_of;
pub use symptom::FailureOutput;

use crate::guard::shell::ProgramRun;
use crate::json::Json;
use crate::memory::{Address, Category, Memory};
use crate::path::RelPath;
use crate::text::one_line;

/// Separates the part of a key that is looked up from the rest. No path, program or word contains it.
const SEPARATOR: char = '\u{1f}';
/// Separates the columns of a line.
const COLUMN: char = '\t';
/// How many programs of a command line are looked up, and how many words of each.
const PROGRAMS_MAX: usize = 16;
const WORDS_MAX: usize = 6;
/// How many files of a tool call are looked up, and how many folders above each.
const PATHS_MAX: usize = 16;
const FOLDERS_MAX: usize = 32;

/// Programs that run a script, which is their first operand.
const INTERPRETERS: [&str; 11] =
    ["sh", "bash", "zsh", "dash", "ksh", "python", "python3", "node", "ruby", "perl", "deno"];

/// What one tool call touches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolAct {
    /// The files that it edits, relative to the project's root.
    pub paths: Vec<RelPath>,
    pub commands: Vec<Command>,
    /// What a failed command printed.
    pub failure: Option<FailureOutput>,
}

/// A program with its words, in the forms in which a memory may name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// The program's name, and its path in the project if it is a script there.
    names: Vec<String>,
    operands: Vec<String>,
    options: Vec<String>,
}

/// One thing that a memory names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ActKey {
    /// A file, or a folder with everything below it.
    Path(String),
    Glob(String),
    /// A program with the words that follow it, and options that occur anywhere among them.
    Command {
        words: Vec<String>,
        options: Vec<String>,
    },
    /// An error text.
    Symptom(String),
}

/// A line of the map: what is named, how important the memory is (0 is the most important), and its address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActEntry {
    pub key: ActKey,
    pub rank: u8,
    pub address: Address,
}

impl ToolAct {
    pub fn is_empty(&self) -> bool {
        self.paths.is_empty() && self.commands.is_empty() && self.failure.is_none()
    }

    /// The prefixes of all lines of a map that may match.
    pub fn probes(&self) -> Vec<String> {
        let mut probes = Vec::new();
        for path in self.paths.iter().take(PATHS_MAX) {
            probes.push(format!("f{path}{COLUMN}"));
            for folder in folders(path.as_str()).take(FOLDERS_MAX) {
                if !folder.is_empty() {
                    probes.push(format!("f{folder}{COLUMN}"));
                }
                probes.push(format!("g{folder}{SEPARATOR}"));
            }
        }
        for command in self.commands.iter().take(PROGRAMS_MAX) {
            for name in &command.names {
                let mut words = format!("c{name}");
                probes.push(format!("{words}{SEPARATOR}"));
                for operand in command.operands.iter().take(WORDS_MAX) {
                    words.push(' ');
                    words.push_str(operand);
                    probes.push(format!("{words}{SEPARATOR}"));
                }
            }
        }
        if self.failure.is_some() {
            probes.push("s".to_owned());
        }
        probes.sort_unstable();
        probes.dedup();
        probes
    }

    /// Whether it touches what the key names.
    pub fn touches(&self, key: &ActKey) -> bool {
        match key {
            ActKey::Path(named) => self.paths.iter().any(|path| {
                let rest = path.as_str().strip_prefix(named.as_str());
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            }),
            ActKey::Glob(pattern) => self.paths.iter().any(|path| glob::matches(pattern, path.as_str())),
            ActKey::Command { words, options } => {
                self.commands.iter().any(|command| command.begins_with(words, options))
            }
            ActKey::Symptom(text) => self.failure.as_ref().is_some_and(|failure| failure.has(text)),
        }
    }

    /// What it does, in a few words, for the ledger.
    pub fn summary(&self) -> String {
        let edited = self.paths.iter().map(|path| format!("edit {path}"));
        let run = self.commands.iter().map(|command| {
            let name = command.names.first().map_or("", String::as_str);
            let words = [&command.operands[..], &command.options[..]].concat();
            format!("run {name} {}", words.join(" ")).trim_end().to_owned()
        });
        let failed = self.failure.iter().map(|_| "error of a failed command".to_owned());
        edited.chain(run).take(PROGRAMS_MAX).chain(failed).collect::<Vec<_>>().join("; ")
    }
}

impl Command {
    /// `script` is the program's path in the project, if it is a file there.
    pub fn of(run: &ProgramRun, script: impl Fn(&str) -> Option<RelPath>) -> Command {
        let name = run.program.rsplit('/').next().unwrap_or(&run.program).to_owned();
        let path = Some(run.program.as_str()).filter(|program| program.contains('/')).and_then(&script);
        let (operands, options) = split_words(&name, &run.words);
        let names = [Some(name), path.map(|path| path.as_str().to_owned())].into_iter().flatten();
        Command { names: names.collect(), operands, options }
    }

    /// The script that an interpreter runs, as a command of its own.
    pub fn of_script(run: &ProgramRun, script: impl Fn(&str) -> Option<RelPath>) -> Option<Command> {
        let name = run.program.rsplit('/').next().unwrap_or(&run.program);
        if !INTERPRETERS.contains(&name) {
            return None;
        }
        let (file, words) = run.words.split_first().filter(|(file, _)| !file.starts_with('-'))?;
        let inner = ProgramRun { program: file.clone(), folder: run.folder.clone(), words: words.to_vec() };
        file.contains('/').then(|| Command::of(&inner, script))
    }

    fn begins_with(&self, words: &[String], options: &[String]) -> bool {
        let Some((name, operands)) = words.split_first() else { return false };
        self.names.contains(name)
            && self.operands.starts_with(operands)
            && options.iter().all(|option| self.options.contains(option))
    }
}

/// The words without options, and the options. Values of known options before the subcommand belong to neither:
/// `make -C api deploy` is `make deploy`.
fn split_words(program: &str, words: &[String]) -> (Vec<String>, Vec<String>) {
    let valued: &[&str] = match program {
        "git" => &["-C", "-c"],
        "make" | "gmake" | "ninja" => &["-C", "-f", "-j"],
        "npm" | "pnpm" | "yarn" => &["-C", "--prefix", "--cwd", "--filter", "-w"],
        "cargo" => &["-p", "--package", "--manifest-path", "--features"],
        "docker" | "docker-compose" | "podman" => &["-f", "-p", "--file", "--profile", "--context"],
        "kubectl" | "helm" => &["-n", "--namespace", "--context", "-f"],
        _ => &[],
    };
    let (mut operands, mut options) = (Vec::new(), Vec::new());
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if word.is_empty() || word.chars().any(|c| c.is_whitespace() || c.is_control()) {
            break;
        }
        if word == "--" {
            continue;
        }
        if !word.starts_with('-') {
            operands.push(word.clone());
            continue;
        }
        if valued.contains(&word.as_str()) {
            words.next();
        } else {
            options.push(word.clone());
        }
    }
    (operands, options)
}

impl ActEntry {
    /// A line of the map, without its line break.
    pub fn line(&self) -> String {
        format!("{}{COLUMN}{}{COLUMN}{}", self.key.encoded(), self.rank, self.address)
    }

    /// `None` for a line that is not one.
    pub fn parse(line: &str) -> Option<ActEntry> {
        let (rest, address) = line.rsplit_once(COLUMN)?;
        let (key, rank) = rest.rsplit_once(COLUMN)?;
        Some(ActEntry {
            key: ActKey::decode(key)?,
            rank: rank.parse().ok()?,
            address: Address::parse(address)?,
        })
    }

    /// The lines of a memory: nothing for one that is not active.
    pub fn of(memory: &Memory) -> Vec<ActEntry> {
        let (rank, address) = (rank(memory), &memory.address);
        let entry = |key| ActEntry { key, rank, address: address.clone() };
        keys_of(memory).into_iter().map(entry).collect()
    }
}

impl ActKey {
    fn encoded(&self) -> String {
        match self {
            ActKey::Path(path) => format!("f{path}"),
            ActKey::Glob(pattern) => format!("g{}{SEPARATOR}{pattern}", glob::literal_folder(pattern)),
            ActKey::Command { words, options } => {
                format!("c{}{SEPARATOR}{}", words.join(" "), options.join(" "))
            }
            ActKey::Symptom(text) => format!("s{text}"),
        }
    }

    fn decode(text: &str) -> Option<ActKey> {
        let (kind, rest) = text.split_at_checked(1)?;
        let list = |text: &str| text.split(' ').filter(|word| !word.is_empty()).map(str::to_owned).collect();
        match kind {
            "f" => Some(ActKey::Path(rest.to_owned())),
            "g" => rest.split_once(SEPARATOR).map(|(_, pattern)| ActKey::Glob(pattern.to_owned())),
            "c" => {
                let (words, options) = rest.split_once(SEPARATOR)?;
                Some(ActKey::Command { words: list(words), options: list(options) })
            }
            "s" => Some(ActKey::Symptom(rest.to_owned())),
            _ => None,
        }
    }

    /// The named thing, as the memory has it.
    pub fn shown(&self) -> String {
        match self {
            ActKey::Path(text) | ActKey::Glob(text) => text.clone(),
            ActKey::Command { words, options } => [&words[..], &options[..]].concat().join(" "),
            ActKey::Symptom(text) => one_line(text),
        }
    }
}

/// Constraints of high severity first: to break one costs most.
fn rank(memory: &Memory) -> u8 {
    let severity = memory.body.field("severity").and_then(Json::as_text);
    match memory.kind.category() {
        Some(Category::Constraint) if severity == Some("high") => 0,
        Some(Category::Constraint) => 1,
        Some(Category::Runbook) => 2,
        Some(Category::Decision) => 3,
        Some(Category::Preference) => 4,
        Some(Category::TechDebt | Category::SessionSummary) | None => 5,
    }
}

/// The folders above a path, the project's root included.
fn folders(path: &str) -> impl Iterator<Item = &str> {
    let above = path.match_indices('/').map(|(end, _)| &path[..end]);
    std::iter::once("").chain(above)
}
