//! Gemini: the same `deny` for every event that can be blocked.

use super::{answered, shell, written};
use crate::hook::payload::{HookEvent, Payload, path, text};
use crate::hook::{HookAnswer, HookOutput};
use crate::view::HookReply;
use lorelane_core::guard::ToolUse;
use lorelane_core::json::Json;

pub(super) fn read(payload: &Json) -> Payload {
    Payload {
        session: text(payload, &["session_id"]),
        cwd: path(payload, &["cwd"]),
        transcript: path(payload, &["transcript_path"]),
        prompt: text(payload, &["prompt"]),
        tools: tools(payload),
        calls: Vec::new(),
        reason: text(payload, &["source", "reason"]),
        failure: failure(payload),
        continued: payload.at("stop_hook_active").and_then(Json::as_bool).unwrap_or(false),
        busy: false,
        last_message: text(payload, &["prompt_response"]),
    }
}

fn tools(payload: &Json) -> Vec<ToolUse> {
    let Some(input) = payload.at("tool_input") else { return Vec::new() };
    match text(payload, &["tool_name"]).as_str() {
        "write_file" | "replace" | "edit" => written(input, &["file_path", "absolute_path", "path"]),
        "run_shell_command" => shell(input),
        other => ToolUse::of_foreign(other, input),
    }
}

/// What a failed command printed. Its exit code is in the text for the model, and only if it is not 0.
fn failure(payload: &Json) -> Option<String> {
    let text = payload.at("tool_response.llmContent")?.as_text()?;
    let (_, code) = text.rsplit_once("\nExit Code: ")?;
    let number = code.split_whitespace().next()?;
    (number != "0").then(|| text.to_owned())
}

pub(super) fn render(_: HookEvent, answer: HookAnswer) -> HookOutput {
    match answer {
        HookAnswer::Nothing => HookOutput::default(),
        HookAnswer::Context(text) => answered(&HookReply::context(text).specific(None)),
        HookAnswer::Tell(text) => answered(&HookReply::tell(text)),
        HookAnswer::Deny(why) | HookAnswer::Object(why) | HookAnswer::Continue(why) => {
            answered(&HookReply::decide("deny", why))
        }
    }
}
