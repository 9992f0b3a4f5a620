//! Copilot: names in camel case, and a tool's arguments as a text of JSON.

use super::document;
use crate::hook::call::{Event, Facts, first, path, text};
use crate::hook::{Answer, Said};
use lorelane_core::guard::ToolUse;
use lorelane_core::json::Json;

pub(super) fn read(payload: &Json) -> Facts {
    Facts {
        session: text(payload, &["sessionId", "session_id"]),
        cwd: path(payload, &["cwd"]),
        transcript: path(payload, &["transcriptPath"]),
        prompt: text(payload, &["prompt"]),
        tools: tool(payload).into_iter().collect(),
        continued: payload.at("stop_hook_active").and_then(Json::as_bool).unwrap_or(false),
        busy: false,
        last_message: text(payload, &["lastAssistantMessage"]),
    }
}

fn tool(payload: &Json) -> Option<ToolUse> {
    let arguments = payload.at("toolArgs")?;
    let input = match arguments.as_text() {
        Some(text) => Json::parse(text).ok()?,
        None => arguments.clone(),
    };
    match payload.at("toolName")?.as_text()? {
        "bash" | "powershell" => Some(ToolUse::Shell { command: input.at("command")?.as_text()?.to_owned() }),
        "create" | "edit" | "str_replace" | "write" => {
            let path = first(&input, &["path", "file_path"])?.as_text()?;
            Some(ToolUse::Write { path: path.to_owned() })
        }
        _ => None,
    }
}

pub(super) fn say(event: Event, answer: Answer) -> Said {
    match answer {
        // There is no way to tell a person something.
        Answer::Nothing | Answer::Tell(_) => Said::default(),
        Answer::Context(text) => document([("additionalContext", Json::Text(text))]),
        Answer::Deny(why) => document([
            ("permissionDecision", Json::text("deny")),
            ("permissionDecisionReason", Json::Text(why)),
        ]),
        Answer::Object(why) if event == Event::AfterTool => {
            document([("additionalContext", Json::Text(why))])
        }
        Answer::Object(why) | Answer::Continue(why) => {
            document([("decision", Json::text("block")), ("reason", Json::Text(why))])
        }
    }
}
