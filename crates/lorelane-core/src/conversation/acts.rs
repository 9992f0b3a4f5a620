//! What the user said and which tools the agent called, with their arguments.
//!
//! Capturing looks at words only. A working set also wants to know which files a tool read or wrote.

use super::{Speaker, TranscriptFormat, claude_code, codex, copilot, gemini};
use crate::json::{Json, Object};

/// A tool call as the transcript has it. Clients name tools and arguments differently.
#[derive(Clone, Debug, PartialEq)]
pub struct TranscriptCall {
    pub name: String,
    pub input: Json,
}

/// What one line of a transcript says happened.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TranscriptActs {
    /// The user's own words: a new turn.
    pub said: Option<String>,
    pub calls: Vec<TranscriptCall>,
}

impl TranscriptCall {
    fn new(name: &str, input: Option<&Json>) -> TranscriptCall {
        let input = input.cloned().unwrap_or(Json::Null);
        // Some clients write the arguments as a string of JSON; a patch is a string that is none.
        let parsed =
            input.as_text().and_then(|text| Json::parse(text).ok()).filter(|json| json.as_object().is_some());
        TranscriptCall { name: name.to_owned(), input: parsed.unwrap_or(input) }
    }

    /// From an object with the tool's name and its arguments under one of these keys.
    fn of(call: &Json, inputs: &[&str]) -> Option<TranscriptCall> {
        let name = call.at("name").and_then(Json::as_text)?;
        Some(TranscriptCall::new(name, inputs.iter().find_map(|key| call.at(key))))
    }
}

impl TranscriptFormat {
    /// Reads one line for which [`TranscriptFormat::may_speak`] holds. `None` if it is no line of this client, or
    /// neither user nor agent did anything in it.
    pub fn read_acts(self, line: &str) -> Option<TranscriptActs> {
        let json = Json::parse(line).ok()?;
        let fields = json.as_object()?;
        let (part, calls) = match self {
            TranscriptFormat::ClaudeCode => (claude_code(fields)?, claude_code_calls(fields)),
            TranscriptFormat::Codex => (codex(fields)?, codex_call(fields).into_iter().collect()),
            TranscriptFormat::Gemini => (gemini(fields)?, listed(fields.get("toolCalls"), &["args"])),
            TranscriptFormat::Copilot => {
                (copilot(fields)?, listed(fields.at("data.toolRequests"), &["arguments", "input"]))
            }
        };
        let is_human = part.speaker == Speaker::Human;
        let said = Some(part.text).filter(|text| is_human && !text.trim().is_empty());
        (said.is_some() || !calls.is_empty()).then_some(TranscriptActs { said, calls })
    }
}

fn listed(calls: Option<&Json>, inputs: &[&str]) -> Vec<TranscriptCall> {
    let calls = calls.and_then(Json::as_list).unwrap_or_default();
    calls.iter().filter_map(|call| TranscriptCall::of(call, inputs)).collect()
}

fn claude_code_calls(line: &Object) -> Vec<TranscriptCall> {
    if line.text("type") == Some("tool_use") {
        let name = line.text("name").or_else(|| line.text("tool_name")).unwrap_or_default();
        return vec![TranscriptCall::new(name, line.get("input").or_else(|| line.get("tool_input")))];
    }
    let content = line.at("message.content").or_else(|| line.get("content"));
    let blocks = content.and_then(Json::as_list).unwrap_or_default();
    let calls = blocks.iter().filter(|block| block.at("type").and_then(Json::as_text) == Some("tool_use"));
    calls.filter_map(|block| TranscriptCall::of(block, &["input"])).collect()
}

fn codex_call(line: &Object) -> Option<TranscriptCall> {
    let payload = line.get("payload")?.as_object()?;
    match payload.text("type")? {
        "function_call" => Some(TranscriptCall::new(payload.text("name")?, payload.get("arguments"))),
        "custom_tool_call" => Some(TranscriptCall::new(payload.text("name")?, payload.get("input"))),
        "local_shell_call" => Some(TranscriptCall::new("local_shell", payload.get("action"))),
        _ => None,
    }
}
