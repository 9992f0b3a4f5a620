//! opencode: its plugin is ours (`setup opencode` installs it), so it speaks Claude Code's language. Only the names
//! of the tools are its own.

use super::{claude_code, patched, shell, written};
use crate::hook::call::{Event, Facts, text};
use crate::hook::{Answer, Said};
use lorelane_core::guard::ToolUse;
use lorelane_core::json::Json;

pub(super) fn read(payload: &Json) -> Facts {
    Facts { tools: tools(payload), ..claude_code::read(payload) }
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

pub(super) fn say(event: Event, answer: Answer) -> Said {
    match answer {
        // A tool that ran cannot be objected to there: the model reads it as context.
        Answer::Object(why) => claude_code::say(event, Answer::Context(why)),
        // Nothing can make a turn go on, and nobody can be told: what was found is kept for the next session.
        Answer::Continue(_) | Answer::Tell(_) => Said::default(),
        answer => claude_code::say(event, answer),
    }
}
