//! Codex: Claude Code's shapes, with patches among its tools.

use super::{claude_code, patched, shell};
use crate::hook::call::{Event, Facts, text};
use crate::hook::{Answer, Said};
use lorelane_core::guard::ToolUse;
use lorelane_core::json::Json;

pub(super) fn read(payload: &Json) -> Facts {
    Facts { tools: tools(payload), ..claude_code::read(payload) }
}

fn tools(payload: &Json) -> Vec<ToolUse> {
    let Some(input) = payload.at("tool_input") else { return Vec::new() };
    match text(payload, &["tool_name"]).as_str() {
        "apply_patch" => patched(input),
        other => [shell(input), ToolUse::of_foreign(other, input)].concat(),
    }
}

pub(super) fn say(event: Event, answer: Answer) -> Said {
    claude_code::say(event, answer)
}
