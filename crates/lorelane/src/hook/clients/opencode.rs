//! opencode: its plugin is ours (`setup opencode` installs it), so it speaks Claude Code's language. Only the names
//! of the tools are its own.

use super::{claude_code, patched, shell, written};
use crate::hook::payload::{HookEvent, Payload, text};
use crate::hook::{HookAnswer, HookOutput};
use lorelane_core::guard::ToolUse;
use lorelane_core::json::Json;

pub(super) fn read(payload: &Json) -> Payload {
    Payload { tools: tools(payload), ..claude_code::read(payload) }
}

fn tools(payload: &Json) -> Vec<ToolUse> {
    let Some(input) = payload.at("tool_input") else { return Vec::new() };
    match text(payload, &["tool_name"]).as_str() {
        "bash" => shell(input),
        "apply_patch" | "patch" => patched(input),
        "write" | "edit" | "multiedit" => written(input, &["filePath", "file_path", "path"]),
        other => ToolUse::of_foreign(other, input),
    }
}

pub(super) fn render(event: HookEvent, answer: HookAnswer) -> HookOutput {
    match answer {
        // A tool that ran cannot be objected to there: the model reads it as context.
        HookAnswer::Object(why) => claude_code::render(event, HookAnswer::Context(why)),
        // Nothing can make a turn go on, and nobody can be told: what was found is kept for the next session.
        HookAnswer::Continue(_) | HookAnswer::Tell(_) => HookOutput::default(),
        answer => claude_code::render(event, answer),
    }
}
