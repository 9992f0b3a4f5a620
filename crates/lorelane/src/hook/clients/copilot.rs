//! Copilot: camel-case keys, and tool arguments as a string of JSON.

use super::{answered, patched, shell, written};
use crate::hook::payload::{HookEvent, Payload, path, text};
use crate::hook::{HookAnswer, HookOutput};
use crate::view::HookReply;
use lorelane_core::guard::ToolUse;
use lorelane_core::json::Json;

pub(super) fn read(payload: &Json) -> Payload {
    Payload {
        session: text(payload, &["sessionId", "session_id"]),
        cwd: path(payload, &["cwd"]),
        transcript: path(payload, &["transcriptPath"]),
        prompt: text(payload, &["prompt"]),
        tools: tools(payload),
        calls: Vec::new(),
        reason: text(payload, &["source", "reason"]),
        failure: failure(payload),
        continued: payload.at("stop_hook_active").and_then(Json::as_bool).unwrap_or(false),
        busy: false,
        last_message: text(payload, &["lastAssistantMessage"]),
    }
}

fn tools(payload: &Json) -> Vec<ToolUse> {
    let Some(arguments) = payload.at("toolArgs") else { return Vec::new() };
    // Not always JSON: the text may be the patch itself.
    let parsed = arguments.as_text().and_then(|text| Json::parse(text).ok());
    let input = parsed.as_ref().unwrap_or(arguments);
    match text(payload, &["toolName"]).as_str() {
        "bash" | "powershell" => shell(input),
        "apply_patch" => patched(input),
        "create" | "edit" | "str_replace" | "write" => written(input, &["path", "file_path"]),
        other => ToolUse::of_foreign(other, input),
    }
}

/// What a failed command printed. The text for the model ends with its exit code; `resultType` is of the tool.
fn failure(payload: &Json) -> Option<String> {
    let text = payload.at("toolResult.textResultForLlm")?.as_text()?;
    let (_, code) = text.rsplit_once(" completed with exit code ")?;
    (code.trim_end() != "0>").then(|| text.to_owned())
}

pub(super) fn render(event: HookEvent, answer: HookAnswer) -> HookOutput {
    match answer {
        // Copilot has no way to show text to the user.
        HookAnswer::Nothing | HookAnswer::Tell(_) => HookOutput::default(),
        HookAnswer::Context(text) => answered(&HookReply::context(text)),
        HookAnswer::Deny(why) => answered(&HookReply::deny(why)),
        HookAnswer::Object(why) if event == HookEvent::AfterTool => answered(&HookReply::context(why)),
        HookAnswer::Object(why) | HookAnswer::Continue(why) => answered(&HookReply::decide("block", why)),
    }
}
