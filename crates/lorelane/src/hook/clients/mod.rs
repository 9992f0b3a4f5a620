//! One adapter per client: reads its payloads and renders answers in its format.

mod claude_code;
mod codex;
mod copilot;
mod gemini;
mod opencode;

use super::payload::{HookEvent, Payload, first};
use super::{HookAnswer, HookOutput};
use crate::view::{self, HookReply};
use lorelane_core::conversation::TranscriptFormat;
use lorelane_core::guard::ToolUse;
use lorelane_core::json::Json;
use lorelane_engine::env::Env;
use lorelane_engine::workspace::AskPolicy;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HookClient {
    ClaudeCode,
    Codex,
    Gemini,
    Copilot,
    Opencode,
}

impl HookClient {
    pub(super) const ALL: [HookClient; 5] = [
        HookClient::ClaudeCode,
        HookClient::Codex,
        HookClient::Gemini,
        HookClient::Copilot,
        HookClient::Opencode,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            HookClient::ClaudeCode => "claude-code",
            HookClient::Codex => "codex",
            HookClient::Gemini => "gemini",
            HookClient::Copilot => "copilot",
            HookClient::Opencode => "opencode",
        }
    }

    pub(super) fn parse(name: &str) -> Option<HookClient> {
        HookClient::ALL.into_iter().find(|client| client.name() == name)
    }

    pub(super) fn read(self, payload: &Json) -> Payload {
        match self {
            HookClient::ClaudeCode => claude_code::read(payload),
            HookClient::Codex => codex::read(payload),
            HookClient::Gemini => gemini::read(payload),
            HookClient::Copilot => copilot::read(payload),
            HookClient::Opencode => opencode::read(payload),
        }
    }

    pub(super) fn render(self, event: HookEvent, answer: HookAnswer) -> HookOutput {
        match self {
            HookClient::ClaudeCode => claude_code::render(event, answer),
            HookClient::Codex => codex::render(event, answer),
            HookClient::Gemini => gemini::render(event, answer),
            HookClient::Copilot => copilot::render(event, answer),
            HookClient::Opencode => opencode::render(event, answer),
        }
    }

    /// The first event of a tool call whose context reaches the model. `cargo xtask clients --record` shows which do.
    pub(super) fn first_tool_event(self) -> HookEvent {
        match self {
            HookClient::ClaudeCode | HookClient::Codex | HookClient::Copilot => HookEvent::BeforeTool,
            HookClient::Gemini | HookClient::Opencode => HookEvent::AfterTool,
        }
    }

    /// The format of the client's transcripts, if we can read them.
    pub(super) fn transcript(self) -> Option<TranscriptFormat> {
        TranscriptFormat::of_client(self.name())
    }

    /// Whether it runs commands in a login shell, whose PATH differs from that of its hooks. Commands then name
    /// the program by its full path.
    pub(super) fn has_own_path(self) -> bool {
        self == HookClient::Codex
    }

    /// Whether the agent may be asked to save when it stops. Claude Code's variables say whether a user is
    /// present; the transcripts of Codex and Copilot do; Gemini never says. An unattended run is not asked by
    /// default: the request can be made later, but an answer that a script waits for would be lost.
    pub(super) fn may_ask(self, env: &Env) -> AskPolicy {
        match self {
            HookClient::ClaudeCode if claude_code::is_unattended(env) => AskPolicy::Unattended,
            HookClient::ClaudeCode => AskPolicy::Yes,
            HookClient::Codex | HookClient::Gemini | HookClient::Copilot => AskPolicy::IfAttended,
            // opencode has no way to make a turn continue.
            HookClient::Opencode => AskPolicy::No,
        }
    }
}

/// The file that a tool writes, from one of these keys.
fn written(input: &Json, keys: &[&str]) -> Vec<ToolUse> {
    let path = first(input, keys).and_then(Json::as_text);
    path.map(|path| ToolUse::Write { path: path.to_owned() }).into_iter().collect()
}

/// The command that a tool runs: a shell command line, or a program with its arguments as a list.
fn shell(input: &Json) -> Vec<ToolUse> {
    let folder = folder(input);
    let Some(command) = first(input, &["command", "cmd"]) else { return Vec::new() };
    if let Some(words) = command.as_list() {
        let words: Vec<&str> = words.iter().filter_map(Json::as_text).collect();
        return ToolUse::of_words(&words, folder);
    }
    command.as_text().map(|line| ToolUse::of_command(line, folder)).unwrap_or_default()
}

/// The files of a patch. The patch is the input itself or one of its members, whose name differs between clients.
fn patched(input: &Json) -> Vec<ToolUse> {
    let patch = match input {
        Json::Text(patch) => Some(patch.as_str()),
        _ => first(input, &["patchText", "input", "patch", "command"]).and_then(Json::as_text),
    };
    patch.map_or_else(|| shell(input), |patch| ToolUse::of_patch(patch, folder(input)))
}

/// The tool's working folder, if the input names one.
fn folder(input: &Json) -> Option<&str> {
    let folder = first(input, &["workdir", "dir_path", "directory", "cwd"]).and_then(Json::as_text);
    folder.filter(|folder| !folder.is_empty())
}

fn answered(reply: &HookReply) -> HookOutput {
    HookOutput { out: format!("{}\n", view::line(reply)), ..HookOutput::default() }
}
