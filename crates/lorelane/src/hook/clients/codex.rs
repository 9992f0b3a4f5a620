//! Codex: Claude Code's shapes, with patches among its tools.

use super::claude_code;
use crate::hook::call::{Event, Facts, first, text};
use crate::hook::{Answer, Said};
use lorelane_core::guard::ToolUse;
use lorelane_core::json::Json;

pub(super) fn read(payload: &Json) -> Facts {
    Facts { tools: tools(payload), ..claude_code::read(payload) }
}

fn tools(payload: &Json) -> Vec<ToolUse> {
    let Some(input) = payload.at("tool_input") else { return Vec::new() };
    match text(payload, &["tool_name"]).as_str() {
        "apply_patch" => patched(&first(input, &["input", "patch", "command"]).map(said).unwrap_or_default()),
        _ => match first(input, &["command", "cmd"]).map(said) {
            Some(command) if command.trim_start().starts_with("apply_patch") => patched(&command),
            Some(command) => vec![ToolUse::Shell { command }],
            None => Vec::new(),
        },
    }
}

/// A command is a line, or the words of `["bash", "-lc", LINE]`.
fn said(command: &Json) -> String {
    match command.as_list() {
        Some([.., last]) => last.as_text().unwrap_or_default().to_owned(),
        _ => command.as_text().unwrap_or_default().to_owned(),
    }
}

/// The files that a patch adds, changes, moves or deletes.
fn patched(patch: &str) -> Vec<ToolUse> {
    const HEADS: [&str; 4] = ["*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "];
    let file = |line: &str| HEADS.iter().find_map(|head| line.trim().strip_prefix(head)).map(str::to_owned);
    patch.lines().filter_map(file).map(|path| ToolUse::Write { path }).collect()
}

pub(super) fn say(event: Event, answer: Answer) -> Said {
    claude_code::say(event, answer)
}
