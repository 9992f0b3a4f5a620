//! opencode: its plugin is ours (`setup opencode` installs it), so the protocol is plain.

use super::document;
use crate::hook::call::{Facts, first, path, text};
use crate::hook::{Answer, Said};
use lorelane_core::guard::ToolUse;
use lorelane_core::json::Json;

pub(super) fn read(payload: &Json) -> Facts {
    Facts {
        session: text(payload, &["session"]),
        cwd: path(payload, &["cwd"]),
        prompt: text(payload, &["prompt"]),
        tools: tool(payload).into_iter().collect(),
        last_message: text(payload, &["last_message"]),
        ..Facts::default()
    }
}

fn tool(payload: &Json) -> Option<ToolUse> {
    let input = payload.at("args")?;
    match payload.at("tool")?.as_text()? {
        "bash" => Some(ToolUse::Shell { command: input.at("command")?.as_text()?.to_owned() }),
        "write" | "edit" | "patch" | "multiedit" => {
            let path = first(input, &["filePath", "file_path", "path"])?.as_text()?;
            Some(ToolUse::Write { path: path.to_owned() })
        }
        _ => None,
    }
}

pub(super) fn say(answer: Answer) -> Said {
    match answer {
        // Nothing can make a turn go on there, and nobody is told: what was found is kept for the next session.
        Answer::Nothing | Answer::Continue(_) | Answer::Tell(_) => Said::default(),
        Answer::Context(text) | Answer::Object(text) => document([("context", Json::Text(text))]),
        Answer::Deny(why) => document([("deny", Json::Text(why))]),
    }
}
