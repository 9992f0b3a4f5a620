//! `memory_retrieve`: the memories for a prompt, as the hook of `claude-memory` printed them.

use super::ScriptOutput;
use crate::stdin;
use lorelane_core::corpus::MemorySummary;
use lorelane_core::fence;
use lorelane_core::json::Json;
use lorelane_core::lifecycle::Status;
use lorelane_core::memory::{Category, Memory};
use lorelane_core::policy::{DEFAULT_ROOT, Policy};
use lorelane_core::recall::{self, Query};
use lorelane_engine::env::Env;
use lorelane_engine::index::ListFilter;
use lorelane_engine::workspace::{Failure, Workspace};

/// Shorter prompts get no memories.
const PROMPT_MIN: usize = 10;
const TITLE_MAX: usize = 120;

/// Errors print nothing: a prompt must never be blocked.
pub(super) fn run(env: &Env) -> ScriptOutput {
    let mut said = ScriptOutput::default();
    let Some(payload) = stdin::read_value() else { return said };
    let text = |key: &str| payload.at(key).and_then(Json::as_text).unwrap_or_default();
    // Clients send `prompt`; the scripts read `user_prompt`.
    let prompt = if text("prompt").is_empty() { text("user_prompt") } else { text("prompt") };
    if prompt.trim().chars().count() < PROMPT_MIN {
        return said;
    }
    let start = if text("cwd").is_empty() { env.cwd.clone() } else { env.cwd.join(text("cwd")) };
    if let Ok(mut workspace) = Workspace::open_root(env, &start.join(DEFAULT_ROOT)) {
        warn_of_config(workspace.policy(), &mut said);
        said.out = context(&mut workspace, prompt).unwrap_or_default();
    }
    said
}

fn warn_of_config(policy: &Policy, said: &mut ScriptOutput) {
    // Depends on the wording of `Policy::problems`.
    let whole = |what: &str| what.contains("is not a whole number");
    let unusable = |key: &str, what: &str| key == "retrieval.max_inject" && whole(what);
    for problem in policy.problems.iter().filter(|problem| unusable(&problem.key, &problem.what)) {
        let value = problem.what.split(" is not ").next().unwrap_or_default().replace('"', "'");
        said.warn(&format!("[WARN] Invalid max_inject value: {value}; using default 5"));
    }
}

fn context(workspace: &mut Workspace, prompt: &str) -> Result<String, Failure> {
    let limit = workspace.policy().max_inject();
    if !workspace.policy().retrieval_enabled() || limit == 0 || !workspace.files().records_root().is_dir() {
        return Ok(String::new());
    }
    let entries = workspace.recall().entries(ListFilter { kind: None, status: Some(Status::Active) })?;
    let policy = workspace.policy().clone();
    let describe = |category| policy.description(category).map(str::to_owned);
    let hits = recall::keyword(&Query::new(prompt, workspace.now()), &entries, &describe);
    let mut lines = String::new();
    let shown = hits.iter().filter_map(|hit| workspace.load(&hit.address).ok());
    for loaded in shown.filter(|loaded| may_be_shown(workspace, &loaded.memory, &loaded.path)).take(limit) {
        let path = workspace.files().listed_path(&loaded.memory.address);
        lines.push_str(&line(&loaded.memory, &path));
    }
    if lines.is_empty() {
        return Ok(lines);
    }
    Ok(format!(
        "<memory-context source=\"{DEFAULT_ROOT}/\"{}>\n{lines}</memory-context>\n",
        descriptions(&policy)
    ))
}

/// Decides by the current file, not by the index.
fn may_be_shown(workspace: &Workspace, memory: &Memory, path: &lorelane_core::path::RelPath) -> bool {
    let entry = MemorySummary::of(memory, path);
    lorelane_core::briefing::barred(&entry, workspace.policy(), workspace.now()).is_none()
}

fn line(memory: &Memory, path: &str) -> String {
    let mut tags: Vec<String> =
        memory.tags.iter().map(|tag| fence::inline(&unlisted(&tag.to_lowercase()), TITLE_MAX)).collect();
    tags.sort();
    let tags = if tags.is_empty() { String::new() } else { format!(" #tags:{}", tags.join(",")) };
    let title = fence::inline(&unlisted(&memory.title), TITLE_MAX);
    format!("- [{}] {title} -> {}{tags}\n", memory.kind.display(), fence::escape(path))
}

/// Removes separators of the line format, so that a title cannot add fields of its own.
fn unlisted(text: &str) -> String {
    let mut text = text.to_owned();
    while text.contains(" -> ") || text.contains("#tags:") {
        text = text.replace(" -> ", " - ").replace("#tags:", "");
    }
    text
}

fn descriptions(policy: &Policy) -> String {
    let mut described: Vec<(&str, String)> = Category::ALL
        .into_iter()
        .filter_map(|category| {
            Some((category.name(), fence::inline(policy.description(category)?, TITLE_MAX)))
        })
        .filter(|(_, description)| !description.is_empty())
        .collect();
    described.sort();
    let described: Vec<String> = described.iter().map(|(name, text)| format!("{name}={text}")).collect();
    if described.is_empty() { String::new() } else { format!(" descriptions=\"{}\"", described.join("; ")) }
}
