//! Which files a tool call reads or writes, and which ones a message of the user may mean.
//!
//! Being in context is no touch. What a tool call names is not checked here: the caller keeps the files of its
//! project that exist.

use super::event::{Touch, TouchKind};
use crate::conversation::TranscriptCall;
use crate::guard::{ShellContext, ToolUse};
use crate::json::Json;

/// Tools that read one file.
const READERS: [&str; 7] = ["Read", "read", "read_file", "view", "view_image", "NotebookRead", "open_file"];
/// Tools that write one file.
const WRITERS: [&str; 13] = [
    "Write",
    "Edit",
    "MultiEdit",
    "NotebookEdit",
    "write_file",
    "replace",
    "write",
    "edit",
    "multiedit",
    "create",
    "str_replace",
    "insert",
    "save_file",
];
const SHELLS: [&str; 10] = [
    "Bash",
    "bash",
    "shell",
    "exec_command",
    "shell_command",
    "local_shell",
    "container.exec",
    "run_shell_command",
    "powershell",
    "unified_exec",
];
const PATCHERS: [&str; 2] = ["apply_patch", "patch"];
/// One tool that reads or writes, as its command says.
const EDITORS: [&str; 2] = ["str_replace_editor", "str_replace_based_edit_tool"];
const READS_MANY: &str = "read_many_files";

const PATH_KEYS: [&str; 6] = ["file_path", "filePath", "path", "absolute_path", "notebook_path", "filename"];
const FOLDER_KEYS: [&str; 5] = ["workdir", "dir_path", "directory", "cwd", "working_directory"];

/// Programs that do nothing with a file but print it.
const PRINTERS: [&str; 8] = ["cat", "head", "tail", "nl", "less", "more", "bat", "batcat"];
/// One call touches at most this many files: a command that names more names none in particular.
const FILES_MAX: usize = 32;
/// A longer word is no path that somebody typed.
const WORD_MAX: usize = 300;
/// The words of a message that are looked at.
const WORDS_MAX: usize = 2_000;

impl TranscriptCall {
    /// The files that it touches, as absolute paths; relative ones are below the folder of the session.
    pub fn touches(&self, around: &ShellContext<'_>) -> Vec<Touch> {
        let name = self.name.as_str();
        let mut touches = if SHELLS.contains(&name) {
            self.of_shell(around)
        } else if PATCHERS.contains(&name) {
            self.of_patch(around)
        } else if EDITORS.contains(&name) {
            let views = self.text(&["command"]) == Some("view");
            self.of_path(around, if views { TouchKind::Read } else { TouchKind::Write })
        } else if READERS.contains(&name) {
            self.of_path(around, TouchKind::Read)
        } else if WRITERS.contains(&name) {
            self.of_path(around, TouchKind::Write)
        } else if name == READS_MANY {
            let named = ["paths", "include"].iter().filter_map(|key| self.input.at(key));
            let paths = named.flat_map(Json::to_texts);
            paths.map(|path| Touch { path: placed(&path, around), by: TouchKind::Read }).collect()
        } else {
            self.of_foreign(around)
        };
        touches.truncate(FILES_MAX);
        touches
    }

    fn text(&self, keys: &[&str]) -> Option<&str> {
        keys.iter().find_map(|key| self.input.at(key)?.as_text()).filter(|text| !text.is_empty())
    }

    fn of_path(&self, around: &ShellContext<'_>, by: TouchKind) -> Vec<Touch> {
        let path = self.text(&PATH_KEYS).map(|path| placed(path, around));
        path.map(|path| Touch { path, by }).into_iter().collect()
    }

    fn of_shell(&self, around: &ShellContext<'_>) -> Vec<Touch> {
        let folder = self.text(&FOLDER_KEYS);
        let Some(command) = ["command", "cmd"].iter().find_map(|key| self.input.at(key)) else {
            return Vec::new();
        };
        let uses = match (command.as_list(), command.as_text()) {
            (Some(words), _) => {
                let words: Vec<&str> = words.iter().filter_map(Json::as_text).collect();
                ToolUse::of_words(&words, folder)
            }
            (None, Some(line)) => ToolUse::of_command(line, folder),
            (None, None) => Vec::new(),
        };
        uses.iter().flat_map(|used| [printed(used, around), written(used, around)].concat()).collect()
    }

    fn of_patch(&self, around: &ShellContext<'_>) -> Vec<Touch> {
        let patch = self.input.as_text().or_else(|| self.text(&["patchText", "input", "patch", "command"]));
        let Some(patch) = patch else { return self.of_shell(around) };
        let uses = ToolUse::of_patch(patch, self.text(&FOLDER_KEYS));
        uses.iter().flat_map(|used| written(used, around)).collect()
    }

    /// A tool of an MCP server, judged by its name and its arguments.
    fn of_foreign(&self, around: &ShellContext<'_>) -> Vec<Touch> {
        let written: Vec<Touch> = ToolUse::of_foreign(&self.name, &self.input)
            .iter()
            .flat_map(|used| written(used, around))
            .collect();
        let name = self.name.to_lowercase();
        let reads =
            ["read", "view", "open"].iter().any(|verb| name.contains(verb)) && !name.contains("lorelane");
        if written.is_empty() && reads { self.of_path(around, TouchKind::Read) } else { written }
    }
}

/// The files that a command only prints.
fn printed(used: &ToolUse, around: &ShellContext<'_>) -> Vec<Touch> {
    let mut touches = Vec::new();
    for run in used.programs(around) {
        let name = run.program.rsplit('/').next().unwrap_or_default();
        let is_sed = name == "sed" && run.words.iter().any(|word| word == "-n");
        let Some(folder) = run.folder.as_deref().filter(|_| is_sed || PRINTERS.contains(&name)) else {
            continue;
        };
        let operands = run.words.iter().filter(|word| !word.starts_with('-') && !word.is_empty());
        // The first operand of sed is its script.
        let files = operands.skip(usize::from(is_sed));
        let around = ShellContext { folder, ..*around };
        touches.extend(files.map(|file| Touch { path: placed(file, &around), by: TouchKind::Read }));
    }
    touches
}

fn written(used: &ToolUse, around: &ShellContext<'_>) -> Vec<Touch> {
    let targets = used.targets(around).places;
    let files = targets.iter().filter_map(|target| target.file());
    files.map(|file| Touch { path: file.to_owned(), by: TouchKind::Write }).collect()
}

fn placed(path: &str, around: &ShellContext<'_>) -> String {
    let path = path.replace('\\', "/");
    let path = path.strip_prefix("file://").unwrap_or(&path);
    let is_absolute = path.starts_with('/') || path.get(1..2) == Some(":");
    match (path.strip_prefix("~/"), around.home) {
        (Some(rest), Some(home)) => format!("{home}/{rest}"),
        _ if is_absolute => path.to_owned(),
        _ => format!("{}/{path}", around.folder),
    }
}

/// Words of a message that may name a file: with the user's `@`, quotes, brackets, line numbers and the end of the
/// sentence taken off.
pub fn mentioned(message: &str) -> Vec<&str> {
    let between = |c: char| c.is_whitespace() || "\"'`()[]{}<>,;|*".contains(c);
    let words = message.split(between).filter(|word| !word.is_empty() && word.len() <= WORD_MAX);
    let mut found: Vec<&str> = Vec::new();
    for word in words.take(WORDS_MAX) {
        let word = word.trim_start_matches('@').trim_end_matches(['.', ':', '!', '?']);
        let word = word.split('#').next().unwrap_or(word);
        let is_line =
            |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit() || "-:".contains(c));
        let word = word.split_once(':').filter(|(_, line)| is_line(line)).map_or(word, |(path, _)| path);
        let word = word.strip_prefix("./").unwrap_or(word);
        if may_name(word) && !found.contains(&word) {
            found.push(word);
        }
    }
    found
}

/// A path, a name with an extension, or a name in capitals such as `Makefile`: other words are words.
fn may_name(word: &str) -> bool {
    let has_name = word.chars().any(char::is_alphanumeric);
    let inner_dot = word.char_indices().any(|(at, c)| c == '.' && at > 0 && at + 1 < word.len());
    let is_name = word.len() > 3 && word.starts_with(|c: char| c.is_ascii_uppercase());
    has_name && !word.contains("://") && (inner_dot || is_name || word.contains('/') || word.starts_with('.'))
}
