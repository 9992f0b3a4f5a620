//! Claude Code: the payload format that other clients adopted.

use super::{answered, shell, written};
use crate::hook::payload::{HookEvent, Payload, path, text};
use crate::hook::{HookAnswer, HookOutput};
use crate::view::HookReply;
use lorelane_core::guard::ToolUse;
use lorelane_core::json::Json;
use lorelane_engine::env::{Env, Var};

pub(super) fn read(payload: &Json) -> Payload {
    Payload {
        session: text(payload, &["session_id"]),
        cwd: path(payload, &["cwd"]),
        transcript: path(payload, &["transcript_path"]),
        prompt: text(payload, &["prompt", "user_prompt"]),
        tools: tools(payload),
        calls: Vec::new(),
        reason: text(payload, &["source", "reason"]),
        failure: payload.at("error").and_then(Json::as_text).map(str::to_owned),
        continued: payload.at("stop_hook_active").and_then(Json::as_bool).unwrap_or(false),
        busy: payload
            .at("background_tasks")
            .and_then(Json::as_list)
            .is_some_and(|tasks| tasks.iter().any(runs)),
        last_message: text(payload, &["last_assistant_message"]),
    }
}

/// Whether a background task is still running. One without a status counts as running.
fn runs(task: &Json) -> bool {
    task.at("status").and_then(Json::as_text).is_none_or(|status| status == "running")
}

/// What a tool call does to files; empty for a tool that only reads.
fn tools(payload: &Json) -> Vec<ToolUse> {
    let Some(input) = payload.at("tool_input") else { return Vec::new() };
    match text(payload, &["tool_name"]).as_str() {
        "Write" | "Edit" | "MultiEdit" | "NotebookEdit" => written(input, &["file_path", "notebook_path"]),
        "Bash" => shell(input),
        other => ToolUse::of_foreign(other, input),
    }
}

pub(super) fn render(event: HookEvent, answer: HookAnswer) -> HookOutput {
    let specific = |reply: HookReply| answered(&reply.specific(Some(event.claude_code())));
    match answer {
        HookAnswer::Nothing => HookOutput::default(),
        HookAnswer::Context(text) => specific(HookReply::context(text)),
        HookAnswer::Deny(why) => specific(HookReply::deny(why)),
        // A `permissionDecision` is ignored after the tool has run.
        HookAnswer::Object(why) => answered(&HookReply::decide("block", why)),
        // Delivered once, and not shown as an error. `decision: block` is delivered twice by some versions, and exit
        // code 2 appears as "Stop hook error".
        HookAnswer::Continue(text) => specific(HookReply::context(text)),
        HookAnswer::Tell(text) => answered(&HookReply::tell(text)),
    }
}

pub(super) fn is_unattended(env: &Env) -> bool {
    match env.var(Var::ClaudeCodeSessionAttended) {
        Some(attended) => attended == "0",
        // Older versions only name their entry point.
        None => env.var(Var::ClaudeCodeEntrypoint).is_some_and(|entry| entry.starts_with("sdk-")),
    }
}
