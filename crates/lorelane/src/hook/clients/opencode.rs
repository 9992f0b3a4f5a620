//! opencode: its plugin is ours (`setup opencode` installs it), so it uses Claude Code's formats. Only the tool
//! names are opencode's own.

use super::{claude_code, patched, shell, written};
use crate::hook::payload::{HookEvent, Payload, text};
use crate::hook::{HookAnswer, HookOutput};
use lorelane_core::conversation::TranscriptCall;
use lorelane_core::guard::ToolUse;
use lorelane_core::json::Json;

pub(super) fn read(payload: &Json) -> Payload {
    let name = text(payload, &["tool_name"]);
    let input = payload.at("tool_input").cloned();
    let call = input.map(|input| TranscriptCall { name, input });
    Payload { tools: tools(payload), calls: call.into_iter().collect(), ..claude_code::read(payload) }
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
        // A tool that has run cannot be rejected: the model gets the objection as context.
        HookAnswer::Object(why) => claude_code::render(event, HookAnswer::Context(why)),
        // A turn cannot be continued, and no text can be shown to the user. Captures are kept and offered in the
        // next session.
        HookAnswer::Continue(_) | HookAnswer::Tell(_) => HookOutput::default(),
        answer => claude_code::render(event, answer),
    }
}
