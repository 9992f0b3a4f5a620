//! Tool calls of agents in one shape: files that a tool names, patches, commands and where they run.

use super::programs::is_shell;
use super::shell::{self, ProgramRun};
use super::word::Word;
use super::{ShellContext, Targets, WriteExtent, WriteKind, WriteTarget};
use crate::json::Json;

/// The lines of a patch that name a file.
const PATCH_HEADS: [&str; 4] = ["*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "];
/// The command that hands a patch to the agent's own editor, in a shell.
const PATCH_COMMAND: &str = "apply_patch";

/// Verbs in the name of a tool that changes files.
const CHANGES: [&str; 13] = [
    "write", "edit", "move", "create", "delete", "remove", "rename", "replace", "append", "insert", "patch",
    "save", "update",
];
/// Verbs that count only as a whole word: `put_file`, but not `output`.
const CHANGES_ALONE: [&str; 1] = ["put"];
/// A copy changes only its destination.
const COPIES: &str = "copy";
const COPY_KEYS: [&str; 3] = ["destination", "new_path", "target"];
/// The arguments in which such tools name files.
const FILE_KEYS: [&str; 12] = [
    "path",
    "relative_path",
    "paths",
    "file",
    "file_path",
    "filePath",
    "filename",
    "source",
    "destination",
    "old_path",
    "new_path",
    "target",
];

/// A tool call, independent of the client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolUse {
    /// A tool that writes or edits one file.
    Write {
        path: String,
    },
    Shell {
        command: String,
        /// Where it runs, if not in the session's folder; may be relative to that.
        folder: Option<String>,
    },
    Other,
}

impl ToolUse {
    /// A shell command. One that applies a patch also writes the files of the patch.
    pub fn of_command(command: &str, folder: Option<&str>) -> Vec<ToolUse> {
        let patched = patch_in(command).map(|(inner, patch)| {
            let folder = match (folder, inner) {
                (Some(folder), Some(inner)) => Some(below(folder, inner)),
                (folder, inner) => folder.or(inner).map(str::to_owned),
            };
            ToolUse::of_patch(patch, folder.as_deref())
        });
        let mut uses = patched.unwrap_or_default();
        uses.push(ToolUse::Shell { command: command.to_owned(), folder: folder.map(str::to_owned) });
        uses
    }

    /// A list of arguments, judged as a quoted command line, so that no second parser is needed; `["bash", "-lc",
    /// LINE]` is a command line itself.
    pub fn of_words(words: &[&str], folder: Option<&str>) -> Vec<ToolUse> {
        if let [program, option, line] = words
            && is_shell(program.rsplit('/').next().unwrap_or_default())
            && option.starts_with('-')
            && option.ends_with('c')
        {
            return ToolUse::of_command(line, folder);
        }
        let quoted = |word: &&str| format!("'{}'", word.replace('\'', r"'\''"));
        match words {
            [PATCH_COMMAND, patch] => ToolUse::of_patch(patch, folder),
            words => ToolUse::of_command(&words.iter().map(quoted).collect::<Vec<_>>().join(" "), folder),
        }
    }

    /// The files that a patch adds, changes, moves or deletes.
    pub fn of_patch(patch: &str, folder: Option<&str>) -> Vec<ToolUse> {
        let place = |path: &str| folder.map_or_else(|| path.to_owned(), |folder| below(folder, path));
        patch.lines().filter_map(named_by).map(|path| ToolUse::Write { path: place(path) }).collect()
    }

    /// A tool that is not built into a client, such as one of an MCP server: judged by verbs in its name and by
    /// paths among its arguments. Clients spell the names of MCP servers differently, so the name is only
    /// searched for verbs.
    pub fn of_foreign(name: &str, input: &Json) -> Vec<ToolUse> {
        let name = name.to_lowercase();
        let is_ours = name.contains("lorelane");
        // An empty folder contains no memory.
        let makes_folder = name.contains("directory") || name.contains("folder");
        let changes = CHANGES.iter().any(|word| name.contains(word))
            || name.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| CHANGES_ALONE.contains(&word));
        let keys: &[&str] = match changes {
            _ if is_ours || makes_folder => &[],
            true => &FILE_KEYS,
            false if name.contains(COPIES) => &COPY_KEYS,
            false => &[],
        };
        let values = keys.iter().filter_map(|key| input.at(key));
        let named = values.flat_map(|value| match value {
            Json::Text(path) => vec![path.clone()],
            value => value.to_texts(),
        });
        named.map(|path| ToolUse::Write { path }).collect()
    }

    pub fn targets(&self, around: &ShellContext<'_>) -> Targets {
        match self {
            ToolUse::Write { path } => {
                let word = at_home(path, around);
                let path = placed(&word, around);
                let places = WriteTarget::new("", &word, &path, WriteKind::Write, WriteExtent::One)
                    .into_iter()
                    .collect();
                Targets { places, for_people: None }
            }
            ToolUse::Shell { command, folder: None } => shell::writes(command, around),
            ToolUse::Shell { command, folder: Some(folder) } => {
                let folder = placed(&at_home(folder, around), around).shown();
                shell::writes(command, &ShellContext { folder: &folder, ..*around })
            }
            ToolUse::Other => Targets::default(),
        }
    }

    /// The programs that it runs.
    pub fn programs(&self, around: &ShellContext<'_>) -> Vec<ProgramRun> {
        match self {
            ToolUse::Shell { command, folder: None } => shell::programs(command, around),
            ToolUse::Shell { command, folder: Some(folder) } => {
                let folder = placed(&at_home(folder, around), around).shown();
                shell::programs(command, &ShellContext { folder: &folder, ..*around })
            }
            ToolUse::Write { .. } | ToolUse::Other => Vec::new(),
        }
    }

    /// The names of all JSON files that are mentioned, whatever is done with them: a script may write to its
    /// arguments.
    pub fn json_files(&self) -> Vec<String> {
        let text = match self {
            ToolUse::Write { path } => path,
            ToolUse::Shell { command, .. } => command,
            ToolUse::Other => return Vec::new(),
        };
        let between = |c: char| c.is_whitespace() || "/\\\"'`;|&<>()[]{}=,:$".contains(c);
        text.split(between).filter(|word| word.ends_with(".json")).map(str::to_owned).collect()
    }

    pub fn runs_git(&self) -> bool {
        matches!(self, ToolUse::Shell { command, .. } if shell::runs_git(command))
    }
}

/// The file that a line of a patch names.
fn named_by(line: &str) -> Option<&str> {
    PATCH_HEADS.iter().find_map(|head| line.trim().strip_prefix(head)).map(str::trim)
}

/// The patch in `apply_patch <<END …`, and the folder of a `cd FOLDER &&` before it: the two forms that agents are
/// taught.
fn patch_in(command: &str) -> Option<(Option<&str>, &str)> {
    let command = command.trim_start();
    let (folder, patch) = match command.strip_prefix("cd ").and_then(|rest| rest.split_once("&&")) {
        Some((folder, rest)) => (Some(folder.trim().trim_matches(['\'', '"'])), rest.trim_start()),
        None => (None, command),
    };
    patch.starts_with(PATCH_COMMAND).then_some((folder, patch))
}

fn at_home(path: &str, around: &ShellContext<'_>) -> Word {
    match (path.strip_prefix('~'), around.home) {
        (Some(rest), Some(home)) if rest.is_empty() || rest.starts_with('/') => {
            Word::of(&format!("{home}{rest}"))
        }
        _ => Word::of(path),
    }
}

fn placed(word: &Word, around: &ShellContext<'_>) -> Word {
    if is_absolute(&word.shown()) { word.clone() } else { word.below(&Word::of(around.folder)) }
}

fn below(folder: &str, path: &str) -> String {
    if is_absolute(path) || path.starts_with('~') { path.to_owned() } else { format!("{folder}/{path}") }
}

fn is_absolute(path: &str) -> bool {
    path.starts_with('/') || path.get(1..2) == Some(":")
}
