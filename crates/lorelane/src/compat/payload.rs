//! The payload of a tool that is about to run, or has run.

use lorelane_core::guard::ToolUse;
use lorelane_core::json::Json;
use lorelane_engine::env::Env;
use std::path::PathBuf;

#[derive(Debug)]
pub(super) struct ScriptPayload {
    /// The tool's working folder.
    pub(super) folder: PathBuf,
    pub(super) uses: Vec<ToolUse>,
}

impl ScriptPayload {
    /// `None` if the payload cannot be read: then the tool may run.
    pub(super) fn read(env: &Env) -> Option<ScriptPayload> {
        let said = crate::stdin::read_value()?;
        let folder = said.at("cwd").and_then(Json::as_text).unwrap_or_default();
        Some(ScriptPayload { folder: env.cwd.join(folder), uses: uses(&said) })
    }
}

/// One use for each file that a writing tool names. Old payloads have no tool name; they count as writes.
fn uses(said: &Json) -> Vec<ToolUse> {
    let Some(input) = said.at("tool_input") else { return Vec::new() };
    let text = |value: &Json, key: &str| value.at(key).and_then(Json::as_text).map(str::to_owned);
    match said.at("tool_name").and_then(Json::as_text) {
        Some("Bash") => {
            let command = text(input, "command");
            command.map(|command| ToolUse::Shell { command, folder: None }).into_iter().collect()
        }
        None | Some("Write" | "Edit" | "MultiEdit" | "NotebookEdit") => {
            let edits = input.at("edits").and_then(Json::as_list).unwrap_or_default();
            let places = std::iter::once(input).chain(edits);
            let paths = places.flat_map(|place| [text(place, "file_path"), text(place, "notebook_path")]);
            paths.flatten().filter(|path| !path.is_empty()).map(|path| ToolUse::Write { path }).collect()
        }
        Some(_) => Vec::new(),
    }
}
