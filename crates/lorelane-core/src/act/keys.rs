//! What a memory names: paths and globs, commands, error texts.

use super::{ActKey, glob, split_words, symptom};
use crate::guard::ShellContext;
use crate::guard::shell;
use crate::json::Json;
use crate::lifecycle::Status;
use crate::markdown::closing_backticks;
use crate::memory::{Category, Memory};
use crate::path::RelPath;
use crate::yaml::YamlCollection;

/// How many things one memory may name: a record with thousands of paths names none in particular.
const KEYS_MAX: usize = 64;
/// The frontmatter field of notes.
const APPLIES_TO: &str = "applies_to";
/// A longer text is prose and not a command.
const COMMAND_MAX: usize = 200;
/// The same for a text without backticks.
const WORDS_MAX: usize = 8;

/// Programs that nearly every command line runs: they name nothing, whatever their words are.
const TRIVIAL: [&str; 22] = [
    "cd", "pushd", "popd", "echo", "printf", "export", "source", ".", "set", "true", "false", "ls", "pwd",
    "test", "[", "[[", "sleep", "clear", "exit", "which", "for", "read",
];
/// Programs that are named only together with a word or option.
const COMMON: [&str; 34] = [
    "git", "cat", "rm", "cp", "mv", "mkdir", "grep", "rg", "find", "sed", "awk", "head", "tail", "sort",
    "wc", "touch", "chmod", "bash", "sh", "zsh", "python", "python3", "node", "curl", "tee", "diff", "less",
    "vi", "vim", "ssh", "jq", "uniq", "cut", "tr",
];

/// The fields whose texts may be commands as a whole, and those that may have some in backticks.
fn command_fields(category: Category) -> (&'static [&'static str], &'static [&'static str]) {
    match category {
        Category::Runbook => (&["steps", "verification"], &[]),
        Category::Constraint => (&["workarounds"], &["rule"]),
        Category::Preference => (&["value", "examples"], &[]),
        Category::Decision => (&[], &["decision"]),
        Category::TechDebt => (&[], &["suggested_fix"]),
        Category::SessionSummary => (&[], &[]),
    }
}

/// Everything that an active memory names. Session summaries name nothing: they tell what was done.
pub fn keys_of(memory: &Memory) -> Vec<ActKey> {
    let mut keys = Vec::new();
    let category = memory.kind.category();
    let is_past = memory.lifecycle.status() != Status::Active
        || memory.address.is_trash()
        || category == Some(Category::SessionSummary);
    if is_past {
        return keys;
    }
    match category {
        Some(_) => memory.about.iter().for_each(|path| keys.extend(named_paths(path))),
        None => {
            let source = memory.extra.get(APPLIES_TO).and_then(Json::as_text);
            let paths = source.map(listed).unwrap_or_default();
            paths.iter().for_each(|path| keys.extend(named_paths(path)));
        }
    }
    if let Some(category) = category {
        code(&memory.title).into_iter().for_each(|text| keys.extend(commands(text)));
        let (whole, spans) = command_fields(category);
        for field in whole {
            each_text(memory.body.field(field), &mut |text| keys.extend(named_commands(text)));
        }
        for field in spans {
            each_text(memory.body.field(field), &mut |text| {
                keys.extend(code(text).into_iter().flat_map(commands));
            });
        }
        if category == Category::Runbook {
            each_text(memory.body.field("symptoms"), &mut |text| {
                let texts = std::iter::once(text).chain(code(text));
                keys.extend(texts.filter_map(symptom::telling).map(ActKey::Symptom));
            });
        }
    }
    keys.sort_unstable();
    keys.dedup();
    keys.truncate(KEYS_MAX);
    keys
}

/// The texts of a frontmatter field, from its source: a scalar, or a list of them.
fn listed(source: &str) -> Vec<String> {
    // The source of a block list begins with its first dash, and its other lines have their indentation.
    let spelled = [": ", ":\n", ":\n  "].map(|between| format!("{APPLIES_TO}{between}{source}\n"));
    let read = |text: &String| {
        let mapping = YamlCollection::document(text)?;
        let list = mapping.list(&[APPLIES_TO]);
        list.or_else(|| {
            mapping.scalar(&[APPLIES_TO]).filter(|text| !text.contains('\n')).map(|text| vec![text])
        })
    };
    spelled.iter().find_map(read).unwrap_or_default()
}

fn each_text(value: Option<&Json>, visit: &mut dyn FnMut(&str)) {
    if let Some(value) = value {
        value.each_text(&mut |_, text| visit(text));
    }
}

/// The file, folder or globs that a text names. Nothing for the whole project or for what is outside it.
fn named_paths(text: &str) -> Vec<ActKey> {
    let text = text.trim().replace('\\', "/");
    let text = text.strip_prefix("./").unwrap_or(&text);
    if glob::has_wildcard(text) {
        return glob::patterns(text).into_iter().map(ActKey::Glob).collect();
    }
    let text = without_line(text).trim_end_matches('/');
    if text.starts_with('~') || text.contains(['$', '<', '>', ':', '#']) {
        return Vec::new();
    }
    RelPath::parse(text).ok().map(|path| ActKey::Path(path.as_str().to_owned())).into_iter().collect()
}

/// A path without the line or heading after it: `src/a.rs:42`, `src/a.rs#L42`.
fn without_line(text: &str) -> &str {
    let text = text.split('#').next().unwrap_or(text);
    match text.split_once(':') {
        Some((path, line)) if line.chars().all(|c| c.is_ascii_digit() || matches!(c, '-' | ':' | ',')) => {
            path
        }
        _ => text,
    }
}

/// The commands of a field: what is in backticks, or the whole text.
fn named_commands(text: &str) -> Vec<ActKey> {
    let code = code(text);
    if !code.is_empty() {
        return code.into_iter().flat_map(commands).collect();
    }
    let text = text.trim();
    let text = text.strip_prefix("$ ").unwrap_or(text);
    // A sentence begins with a capital letter or has words of more than ASCII; one that does not names words that no
    // command line has.
    let is_program = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "._/+-".contains(c);
    let first = text.split_whitespace().next().unwrap_or_default();
    let is_short = text.split_whitespace().count() <= WORDS_MAX && !text.contains('\n');
    let may_be = !first.is_empty() && first.chars().all(is_program) && is_short;
    if may_be { commands(text) } else { Vec::new() }
}

/// The commands that a text runs, without those that name nothing in particular.
fn commands(text: &str) -> Vec<ActKey> {
    if text.len() > COMMAND_MAX {
        return Vec::new();
    }
    let around = ShellContext { folder: "/", home: None, project: None };
    let runs = shell::programs(text.trim().trim_start_matches("$ "), &around);
    runs.iter().filter_map(|run| key(&run.program, &run.words)).collect()
}

fn key(program: &str, words: &[String]) -> Option<ActKey> {
    let program = program.strip_prefix("./").unwrap_or(program);
    let is_program = |c: char| c.is_ascii_alphanumeric() || "._/+-".contains(c);
    if program.is_empty() || !program.chars().all(is_program) || program.starts_with('-') {
        return None;
    }
    // `npm run ...` names every script.
    let is_word = |word: &&String| !word.chars().all(|c| matches!(c, '.' | '…')) || word.is_empty();
    let words: Vec<String> = words.iter().take_while(is_word).cloned().collect();
    let name = program.rsplit('/').next().unwrap_or(program);
    let (operands, options) = split_words(name, &words);
    let bare = operands.is_empty() && options.is_empty();
    if name.is_empty() || TRIVIAL.contains(&name) || (bare && COMMON.contains(&name)) {
        return None;
    }
    // A program with an absolute path is known by its name.
    let program = if program.starts_with('/') { name } else { program };
    let words = std::iter::once(program.to_owned()).chain(operands).collect();
    Some(ActKey::Command { words, options })
}

/// The texts between backticks, line by line. The language of a code block is not among them.
fn code(text: &str) -> Vec<&str> {
    let mut code = Vec::new();
    let mut rest = text;
    while let Some(open) = rest.find('`') {
        let after = rest[open..].trim_start_matches('`');
        let ticks = rest.len() - open - after.len();
        let Some(length) = closing_backticks(after, ticks) else { break };
        let inside = &after[..length];
        let is_block = ticks >= 3 && inside.contains('\n');
        let lines = inside.lines().skip(usize::from(is_block)).map(str::trim);
        code.extend(lines.filter(|line| !line.is_empty()));
        rest = &after[length + ticks..];
    }
    code
}
