//! opencode: its plugin is ours (`setup opencode` installs it), so it speaks Claude Code's language. Only the names
//! of the tools are its own.

use super::claude_code;
use crate::hook::call::{Event, Facts, first};
use crate::hook::{Answer, Said};
use lorelane_core::guard::ToolUse;
use lorelane_core::json::Json;

pub(super) fn read(payload: &Json) -> Facts {
    Facts { tools: tool(payload).into_iter().collect(), ..claude_code::read(payload) }
}

fn tool(payload: &Json) -> Option<ToolUse> {
    let input = payload.at("tool_input")?;
    match payload.at("tool_name")?.as_text()? {
        "bash" => Some(ToolUse::Shell { command: input.at("command")?.as_text()?.to_owned() }),
        "write" | "edit" | "patch" | "multiedit" => {
            let path = first(input, &["filePath", "file_path", "path"])?.as_text()?;
            Some(ToolUse::Write { path: path.to_owned() })
        }
        _ => None,
    }
}

pub(super) fn say(event: Event, answer: Answer) -> Said {
    match answer {
        // A tool that ran cannot be objected to there: the model reads it as context.
        Answer::Object(why) => claude_code::say(event, Answer::Context(why)),
        // Nothing can make a turn go on, and nobody can be told: what was found is kept for the next session.
        Answer::Continue(_) | Answer::Tell(_) => Said::default(),
        answer => claude_code::say(event, answer),
    }
}
