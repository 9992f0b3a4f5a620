//! Notes as files under `/memories`: each command of Anthropic's memory tool as a tool, with its answers.
//!
//! A path names a note with or without `.md`. Tools show and edit the text below the frontmatter: a model reads
//! back what it wrote, and its line numbers do not shift when lorelane records the time of a change.

use super::{ErrorFormat, NAME_MAX, Tool, ToolCall, ToolEffect, ToolSet};
use crate::mcp::answer::{ToolAnswer, ToolError, ToolResult};
use crate::mcp::hints::Tools;
use crate::mcp::schema::{ArgumentType, optional, required};
use lorelane_core::change::{Change, Draft, Plan};
use lorelane_core::dialect::notes::{self, NOTE_MAX_BYTES};
use lorelane_core::digest::Revision;
use lorelane_core::fence;
use lorelane_core::json::Json;
use lorelane_core::lifecycle::LifecycleVerb;
use lorelane_core::memory::Address;
use lorelane_core::refusal::Refusal;
use lorelane_core::text::{cut, printable};
use lorelane_engine::workspace::{Failure, Workspace};
use std::collections::BTreeMap;

const ROOT: &str = "/memories";
/// The depth of folder listings.
const LEVELS: usize = 2;
/// Lines of context around a change.
const AROUND: usize = 4;
/// More than a model reads at once; `view_range` shows parts of a longer file.
const VIEW_MAX: usize = 100_000;
const LISTED_MAX: usize = 1000;

const PATH: ArgumentType = ArgumentType::Text { max: NAME_MAX };
const TEXT: ArgumentType = ArgumentType::Text { max: NOTE_MAX_BYTES };
const FILE: &str = "a file under /memories, such as /memories/progress.md";

pub(super) const SET: ToolSet = ToolSet { tools: TOOLS, commands: COMMANDS };

const COMMANDS: Tools = &[
    ("show", "view", None),
    ("list", "view", None),
    ("create", "create", None),
    ("update", "str_replace", None),
    ("retire", "delete", None),
];

const TOOLS: &[Tool] = &[
    Tool {
        name: "view",
        title: "View a memory file or folder",
        about: "Show a file under /memories with line numbers, or list a folder.",
        effect: ToolEffect::Reads,
        takes: &[
            required("path", PATH, "a file, or a folder such as /memories"),
            optional(
                "view_range",
                ArgumentType::Numbers,
                "the first and the last line to show; -1 is the end",
            ),
        ],
        voice: ErrorFormat::Plain,
        gives: None,
        run: view,
    },
    Tool {
        name: "create",
        title: "Create a memory file",
        about: "Create a file under /memories. An existing one is not overwritten. Secrets are rejected.",
        effect: ToolEffect::Writes,
        takes: &[required("path", PATH, FILE), required("file_text", TEXT, "its contents")],
        voice: ErrorFormat::Plain,
        gives: None,
        run: create,
    },
    Tool {
        name: "str_replace",
        title: "Replace text in a memory file",
        about: "Replace a text that occurs exactly once in a file under /memories.",
        effect: ToolEffect::Writes,
        takes: &[
            required("path", PATH, FILE),
            required("old_str", TEXT, "the text to replace, exactly as in the file"),
            optional("new_str", TEXT, "the replacement; nothing if absent"),
        ],
        voice: ErrorFormat::Plain,
        gives: None,
        run: str_replace,
    },
    Tool {
        name: "insert",
        title: "Insert text into a memory file",
        about: "Insert text after a line of a file under /memories; line 0 is the beginning.",
        effect: ToolEffect::Writes,
        takes: &[
            required("path", PATH, FILE),
            required(
                "insert_line",
                ArgumentType::Whole { min: 0, max: 10_000_000 },
                "the line to insert after",
            ),
            required("insert_text", TEXT, "the text to insert"),
        ],
        voice: ErrorFormat::Plain,
        gives: None,
        run: insert,
    },
    Tool {
        name: "delete",
        title: "Delete a memory file or folder",
        about: "Move a file under /memories, or all files of a folder, to the trash. The user can restore them.",
        effect: ToolEffect::Writes,
        takes: &[required("path", PATH, "a file or a folder")],
        voice: ErrorFormat::Plain,
        gives: None,
        run: delete,
    },
    Tool {
        name: "rename",
        title: "Rename a memory file or folder",
        about: "Move a file or a folder under /memories to another path. Links to the old path keep working.",
        effect: ToolEffect::Writes,
        takes: &[
            required("old_path", PATH, "a file or a folder"),
            required("new_path", PATH, "its new path"),
        ],
        voice: ErrorFormat::Plain,
        gives: None,
        run: rename,
    },
];

fn view(call: &ToolCall<'_>) -> ToolResult {
    let workspace = open(call)?;
    let path = call.arguments.exact("path");
    let said = match found(&workspace, path)? {
        PathTarget::Folder(notes) => {
            let head = format!(
                "Here're the files and directories up to {LEVELS} levels deep in {path}, excluding hidden items:"
            );
            format!("{head}\n{}", listing(path.trim_end_matches('/'), &notes))
        }
        PathTarget::File(address) => {
            let file = File::read(&workspace, address)?;
            let path = file.path();
            let (from, to) = range(call.arguments.get("view_range"), file.text.lines().count())?;
            let shown = numbered(&file.text, from, to);
            let whole = cut(&shown, VIEW_MAX);
            let rest = if whole == shown { "" } else { "\nThe rest is omitted: view it with view_range.\n" };
            format!("Here's the content of {path} with line numbers:\n{whole}{rest}")
        }
    };
    Ok(ToolAnswer::Text(said))
}

fn create(call: &ToolCall<'_>) -> ToolResult {
    let mut workspace = open(call)?;
    let path = call.arguments.exact("path");
    let address = named(path)?;
    let path = path_of(&address);
    let text = notes::draft(call.arguments.exact("file_text"), None, &[]);
    let because = format!("create {address}");
    commit(&mut workspace, vec![Change::Create { address, text }], because).map_err(|failure| {
        taken(failure, || {
            ToolError::new(format!("File {path} already exists"), "change it with str_replace or insert")
        })
    })?;
    Ok(ToolAnswer::Text(format!("File created successfully at: {path}\n")))
}

fn str_replace(call: &ToolCall<'_>) -> ToolResult {
    let mut workspace = open(call)?;
    let old = call.arguments.exact("old_str");
    let file = file(&workspace, call.arguments.exact("path"))?;
    let path = file.path();
    let at: Vec<usize> = file.text.match_indices(old).map(|(at, _)| at).collect();
    let line = |at: &usize| 1 + file.text[..*at].matches('\n').count();
    let [only] = at.as_slice() else {
        let what = match at.is_empty() || old.is_empty() {
            true => format!(
                "No replacement was performed, old_str `{}` did not appear verbatim in {path}.",
                cut(old, 200)
            ),
            false => {
                let lines: Vec<String> = at.iter().take(20).map(|at| line(at).to_string()).collect();
                format!(
                    "No replacement was performed. Multiple occurrences of old_str `{}` in lines: {}. Please ensure it is unique",
                    cut(old, 200),
                    lines.join(", ")
                )
            }
        };
        return Err(ToolError::new(
            what,
            "view the file, and copy old_str from it with enough context to be unique",
        ));
    };
    let new = call.arguments.exact("new_str");
    let text = format!("{}{new}{}", &file.text[..*only], &file.text[only + old.len()..]);
    let first = line(only);
    let snippet =
        numbered(&text, first.saturating_sub(AROUND).max(1), first + new.matches('\n').count() + AROUND);
    file.save(&mut workspace, &text)?;
    let head = "The memory file has been edited. Here is the snippet showing the change (with line numbers):";
    Ok(ToolAnswer::Text(format!("{head}\n{snippet}")))
}

fn insert(call: &ToolCall<'_>) -> ToolResult {
    let mut workspace = open(call)?;
    let file = file(&workspace, call.arguments.exact("path"))?;
    let path = file.path();
    let mut lines: Vec<&str> = file.text.lines().collect();
    let at = call.arguments.whole("insert_line").unwrap_or_default();
    if at > lines.len() {
        let what = format!(
            "Invalid `insert_line` parameter: {at}. It should be within the range of lines of the file: [0, {}]",
            lines.len()
        );
        return Err(ToolError::new(what, "view the file to count its lines"));
    }
    let text = call.arguments.exact("insert_text").replace("\r\n", "\n");
    lines.insert(at, text.strip_suffix('\n').unwrap_or(&text));
    file.save(&mut workspace, &lines.join("\n"))?;
    Ok(ToolAnswer::Text(format!("The file {path} has been edited.\n")))
}

fn delete(call: &ToolCall<'_>) -> ToolResult {
    let mut workspace = open(call)?;
    let path = call.arguments.exact("path");
    refuse_root(path, "delete")?;
    let step =
        |address: Address| Change::Transition { address, verb: LifecycleVerb::Retire, reason: String::new() };
    let (path, changes) = match found(&workspace, path)? {
        PathTarget::File(address) => (path_of(&address), vec![step(address)]),
        PathTarget::Folder(notes) => {
            (path.to_owned(), notes.into_iter().map(|note| step(note.address)).collect())
        }
    };
    commit(&mut workspace, changes, format!("delete {path}"))?;
    Ok(ToolAnswer::Text(format!("Successfully deleted {path}\n")))
}

fn rename(call: &ToolCall<'_>) -> ToolResult {
    let mut workspace = open(call)?;
    let (from, to) = (call.arguments.exact("old_path"), call.arguments.exact("new_path"));
    refuse_root(from, "rename")?;
    let change = |address: Address, to: Address| Change::Revise {
        address,
        expects: None,
        draft: Draft::Renamed { to },
    };
    let (from, to, changes) = match found(&workspace, from)? {
        PathTarget::File(address) => {
            let target = named(to)?;
            (path_of(&address), path_of(&target), vec![change(address, target)])
        }
        PathTarget::Folder(notes) => {
            let moved = notes.into_iter().map(|note| {
                let path = format!("{}/{}.md", to.trim_end_matches('/'), note.below);
                Ok(change(note.address, named(&path)?))
            });
            (from.to_owned(), to.to_owned(), moved.collect::<Result<_, ToolError>>()?)
        }
    };
    commit(&mut workspace, changes, format!("rename {from} to {to}")).map_err(|failure| {
        taken(failure, || {
            ToolError::new(format!("The destination {to} already exists"), "choose another path")
        })
    })?;
    Ok(ToolAnswer::Text(format!("Successfully renamed {from} to {to}\n")))
}

/// What a path names.
enum PathTarget {
    File(Address),
    /// Has at least one note, unless it is the root.
    Folder(Vec<Note>),
}

/// A note in a folder.
struct Note {
    address: Address,
    /// The path from the folder.
    below: String,
    size: u64,
}

fn found(workspace: &Workspace, path: &str) -> Result<PathTarget, ToolError> {
    let name = inside(path)?;
    let folder = name.strip_suffix('/').unwrap_or(name);
    if let Some(address) = Address::note(name.strip_suffix(".md").unwrap_or(name))
        && let Some(address) = workspace.at(&address).filter(|address| !address.is_trash())
    {
        return Ok(PathTarget::File(address));
    }
    let notes = workspace
        .files()
        .sightings()
        .into_iter()
        .filter(|(address, _)| address.is_note() && !address.is_trash());
    let below = |address: &Address| match folder {
        "" => Some(address.name().to_owned()),
        folder => Some(address.name().strip_prefix(folder)?.strip_prefix('/')?.to_owned()),
    };
    let notes: Vec<Note> = notes
        .filter_map(|(address, seen)| Some(Note { below: below(&address)?, address, size: seen.size }))
        .collect();
    match notes.is_empty() && !folder.is_empty() {
        true => Err(missing(path)),
        false => Ok(PathTarget::Folder(notes)),
    }
}

fn file(workspace: &Workspace, path: &str) -> Result<File, ToolError> {
    match found(workspace, path)? {
        PathTarget::File(address) => File::read(workspace, address),
        PathTarget::Folder(_) => Err(missing(path)),
    }
}

fn missing(path: &str) -> ToolError {
    let what = format!("The path {path} does not exist. Please provide a valid path.");
    ToolError::new(what, "view /memories to see what there is")
}

/// The part of a path below the root. Whether it is a valid name for a note is checked elsewhere.
fn inside(path: &str) -> Result<&str, ToolError> {
    let rest = path.strip_prefix(ROOT).filter(|rest| rest.is_empty() || rest.starts_with('/'));
    let rest = rest.map(|rest| rest.trim_start_matches('/'));
    rest.filter(|rest| !rest.split('/').any(|part| part == "..")).ok_or_else(|| {
        ToolError::new(
            format!("Path must start with {ROOT} and stay inside it, got: {path}"),
            "use a path such as /memories/progress.md",
        )
    })
}

/// The full path of a file, with the ending that a caller may have left out.
fn path_of(address: &Address) -> String {
    format!("{ROOT}/{}.md", fence::name(address.name()))
}

fn named(path: &str) -> Result<Address, ToolError> {
    notes::named(inside(path)?).map_err(|fault| ToolError::new(fault.to_string(), fault.hint()))
}

fn refuse_root(path: &str, verb: &str) -> Result<(), ToolError> {
    match inside(path)? {
        "" => Err(ToolError::new(
            format!("Cannot {verb} the {ROOT} directory itself"),
            "name a file or a folder in it",
        )),
        _ => Ok(()),
    }
}

fn open(call: &ToolCall<'_>) -> Result<Workspace, ToolError> {
    let workspace = call.factory.open()?;
    match workspace.files().notes_folder() {
        Some(_) => Ok(workspace),
        None => Err(Failure::NotesOff.into()),
    }
}

fn commit(workspace: &mut Workspace, changes: Vec<Change>, because: String) -> Result<(), Failure> {
    workspace.commit(&Plan { changes, because }).map(|_| ())
}

fn taken(failure: Failure, words: impl FnOnce() -> ToolError) -> ToolError {
    match failure {
        Failure::Refused(Refusal::Exists { .. }) => words(),
        failure => failure.into(),
    }
}

/// The text of a note below its frontmatter, as it was read.
struct File {
    address: Address,
    text: String,
    revision: Revision,
}

impl File {
    fn path(&self) -> String {
        path_of(&self.address)
    }

    fn read(workspace: &Workspace, address: Address) -> Result<File, ToolError> {
        let loaded = workspace.load(&address)?;
        let text = loaded.memory.body.prose().replace("\r\n", "\n");
        Ok(File { address, text, revision: loaded.revision })
    }

    /// Rejected if the file changed since it was read.
    fn save(&self, workspace: &mut Workspace, text: &str) -> Result<(), ToolError> {
        // The empty line keeps a text that begins with `---` from being parsed as frontmatter.
        let draft = Draft::Whole(format!("\n{text}\n"));
        let because = format!("edit {}", self.address);
        let change =
            Change::Revise { address: self.address.clone(), expects: Some(self.revision.clone()), draft };
        Ok(commit(workspace, vec![change], because)?)
    }
}

/// The lines to show, first and last, counted from 1.
fn range(given: Option<&Json>, lines: usize) -> Result<(usize, usize), ToolError> {
    let Some(given) = given.and_then(Json::as_list) else { return Ok((1, lines)) };
    let number = |at: usize| match given.get(at) {
        Some(Json::Number(number)) => number.parse::<i64>().ok(),
        _ => None,
    };
    let last = number(1).map(|last| if last == -1 { i64::try_from(lines).unwrap_or(i64::MAX) } else { last });
    let from = number(0)
        .and_then(|from| usize::try_from(from).ok())
        .filter(|from| (1..=lines.max(1)).contains(from));
    let to = last.and_then(|to| usize::try_from(to).ok());
    match (given.len(), from, to) {
        (2, Some(from), Some(to)) if from <= to => Ok((from, to)),
        _ => {
            let what = format!(
                "Invalid `view_range`: it should be two lines within [1, {lines}], the first one first"
            );
            Err(ToolError::new(what, "-1 as the second means the end of the file"))
        }
    }
}

/// Every line begins with its number, which serves as the fence: no text can pass for anything but a line of the
/// file.
fn numbered(text: &str, from: usize, to: usize) -> String {
    let lines =
        text.lines().enumerate().skip(from.saturating_sub(1)).take((to + 1).saturating_sub(from.max(1)));
    lines.map(|(at, line)| format!("{:>6}\t{}\n", at + 1, printable(line))).collect()
}

/// One line for the folder and for each folder and file in it, with sizes.
fn listing(folder: &str, notes: &[Note]) -> String {
    let mut lines: BTreeMap<String, u64> = BTreeMap::new();
    lines.insert(String::new(), 0);
    for note in notes {
        let file = format!("{}.md", note.below);
        let ends = file.match_indices('/').map(|(at, _)| at).chain([file.len()]);
        for part in std::iter::once("").chain(ends.take(LEVELS).map(|end| &file[..end])) {
            *lines.entry(part.to_owned()).or_default() += note.size;
        }
    }
    let more = lines.len().saturating_sub(LISTED_MAX);
    let line = |(path, size): (&String, &u64)| {
        let slash = if path.is_empty() { "" } else { "/" };
        format!("{}\t{folder}{slash}{}\n", readable(*size), fence::name(path))
    };
    let mut text: String = lines.iter().take(LISTED_MAX).map(line).collect();
    if more > 0 {
        text.push_str(&format!("{more} more omitted: view the folders one by one.\n"));
    }
    text
}

fn readable(bytes: u64) -> String {
    const KIB: f64 = 1024.0;
    let size = bytes as f64;
    if size < KIB {
        format!("{bytes}B")
    } else if size < KIB * KIB {
        format!("{:.1}K", size / KIB)
    } else {
        format!("{:.1}M", size / KIB / KIB)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_stays_inside() {
        for (path, expected) in [
            ("/memories", Some("")),
            ("/memories/", Some("")),
            ("/memories/a/b.md", Some("a/b.md")),
            ("/memories/../etc/passwd", None),
            ("/memories/a/../../x", None),
            ("/memoriesx/a", None),
            ("/etc/passwd", None),
            ("memories/a", None),
            ("", None),
        ] {
            assert_eq!(inside(path).ok(), expected, "{path}");
        }
    }

    #[test]
    fn a_range_lies_in_the_file() {
        for (given, expected) in [
            ("[2, 3]", Some((2, 3))),
            ("[2, -1]", Some((2, 5))),
            ("[1, 99]", Some((1, 99))),
            ("[0, 2]", None),
            ("[3, 2]", None),
            ("[6, 7]", None),
            ("[1]", None),
            ("[1, 2, 3]", None),
        ] {
            let given = Json::parse(given).expect("a list");
            assert_eq!(range(Some(&given), 5).ok(), expected, "{given:?}");
        }
    }
}
