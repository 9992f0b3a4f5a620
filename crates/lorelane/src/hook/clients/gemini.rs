//! Gemini: one verdict for every event that can be stopped.

use super::document;
use crate::hook::call::{Event, Facts, first, path, text};
use crate::hook::{Answer, Said};
use lorelane_core::guard::ToolUse;
use lorelane_core::json::Json;

pub(super) fn read(payload: &Json) -> Facts {
    Facts {
        session: text(payload, &["session_id"]),
        cwd: path(payload, &["cwd"]),
        transcript: path(payload, &["transcript_path"]),
        prompt: text(payload, &["prompt"]),
        tools: tool(payload).into_iter().collect(),
        continued: payload.at("stop_hook_active").and_then(Json::as_bool).unwrap_or(false),
        busy: false,
        last_message: text(payload, &["prompt_response"]),
    }
}

fn tool(payload: &Json) -> Option<ToolUse> {
    let input = payload.at("tool_input")?;
    match payload.at("tool_name")?.as_text()? {
        "write_file" | "replace" | "edit" => {
            let path = first(input, &["file_path", "absolute_path", "path"])?.as_text()?;
            Some(ToolUse::Write { path: path.to_owned() })
        }
        "run_shell_command" => Some(ToolUse::Shell { command: input.at("command")?.as_text()?.to_owned() }),
        _ => None,
    }
}

pub(super) fn say(_: Event, answer: Answer) -> Said {
    match answer {
        Answer::Nothing => Said::default(),
        Answer::Context(text) => {
            let context = [("additionalContext", Json::Text(text))].into_iter().collect();
            document([("hookSpecificOutput", Json::Object(context))])
        }
        Answer::Tell(text) => document([("systemMessage", Json::Text(text))]),
        Answer::Deny(why) | Answer::Object(why) | Answer::Continue(why) => {
            document([("decision", Json::text("deny")), ("reason", Json::Text(why))])
        }
    }
}
