//! Codex: Claude Code's payloads, with a patch tool.

use super::{claude_code, patched, shell};
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
        "apply_patch" => patched(input),
        other => [shell(input), ToolUse::of_foreign(other, input)].concat(),
    }
}

pub(super) fn render(event: HookEvent, answer: HookAnswer) -> HookOutput {
    match answer {
        // Context is ignored at a stop. Of stderr, angle brackets reach the model escaped, so the here-document is
        // described in words.
        HookAnswer::Continue(text) => {
            let err = text
                .replace(" <<'EOF'\n", ", with these lines as a here-document, its delimiter EOF quoted:\n");
            HookOutput { err, code: 2, ..HookOutput::default() }
        }
        answer => claude_code::render(event, answer),
    }
}
