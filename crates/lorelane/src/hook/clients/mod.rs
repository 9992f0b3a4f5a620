//! One small adapter per client: its payload in, its answer out.

mod claude_code;
mod codex;
mod copilot;
mod gemini;
mod opencode;

use super::call::{Event, Facts, first};
use super::{Answer, Said};
use crate::view::{self, HookReply};
use lorelane_core::conversation::Format;
use lorelane_core::guard::ToolUse;
use lorelane_core::json::Json;
use lorelane_engine::env::Env;
use lorelane_engine::workspace::MayAsk;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Client {
    ClaudeCode,
    Codex,
    Gemini,
    Copilot,
    Opencode,
}

impl Client {
    pub(super) const ALL: [Client; 5] =
        [Client::ClaudeCode, Client::Codex, Client::Gemini, Client::Copilot, Client::Opencode];

    pub(super) fn name(self) -> &'static str {
        match self {
            Client::ClaudeCode => "claude-code",
            Client::Codex => "codex",
            Client::Gemini => "gemini",
            Client::Copilot => "copilot",
            Client::Opencode => "opencode",
        }
    }

    pub(super) fn parse(name: &str) -> Option<Client> {
        Client::ALL.into_iter().find(|client| client.name() == name)
    }

    pub(super) fn read(self, payload: &Json) -> Facts {
        match self {
            Client::ClaudeCode => claude_code::read(payload),
            Client::Codex => codex::read(payload),
            Client::Gemini => gemini::read(payload),
            Client::Copilot => copilot::read(payload),
            Client::Opencode => opencode::read(payload),
        }
    }

    pub(super) fn say(self, event: Event, answer: Answer) -> Said {
        match self {
            Client::ClaudeCode => claude_code::say(event, answer),
            Client::Codex => codex::say(event, answer),
            Client::Gemini => gemini::say(event, answer),
            Client::Copilot => copilot::say(event, answer),
            Client::Opencode => opencode::say(event, answer),
        }
    }

    /// How the client writes its transcripts, where we can read them.
    pub(super) fn transcript(self) -> Option<Format> {
        Format::of_client(self.name())
    }

    /// Whether it runs commands in a login shell, whose PATH is not that of its hooks.
    pub(super) fn has_own_path(self) -> bool {
        self == Client::Codex
    }

    /// Whether a stop may make the turn go on. Claude Code tells by its variables whether somebody is there; the others
    /// by their transcripts, or not at all.
    pub(super) fn may_ask(self, env: &Env) -> MayAsk {
        match self {
            Client::ClaudeCode if claude_code::is_unattended(env) => MayAsk::Unattended,
            Client::ClaudeCode => MayAsk::Yes,
            Client::Codex | Client::Gemini | Client::Copilot => MayAsk::IfAttended,
            // Nothing can make a turn go on there.
            Client::Opencode => MayAsk::No,
        }
    }
}

/// The file that a tool writes, under one of these keys.
fn written(input: &Json, keys: &[&str]) -> Vec<ToolUse> {
    let path = first(input, keys).and_then(Json::as_text);
    path.map(|path| ToolUse::Write { path: path.to_owned() }).into_iter().collect()
}

/// What a tool runs: a line for a shell, or a program with its arguments as a list.
fn shell(input: &Json) -> Vec<ToolUse> {
    let folder = folder(input);
    let Some(command) = first(input, &["command", "cmd"]) else { return Vec::new() };
    if let Some(words) = command.as_list() {
        let words: Vec<&str> = words.iter().filter_map(Json::as_text).collect();
        return ToolUse::of_words(&words, folder);
    }
    command.as_text().map(|line| ToolUse::of_command(line, folder)).unwrap_or_default()
}

/// The files of a patch: it is the input itself, or stands in it under a name that differs from client to client.
fn patched(input: &Json) -> Vec<ToolUse> {
    let patch = match input {
        Json::Text(patch) => Some(patch.as_str()),
        _ => first(input, &["patchText", "input", "patch", "command"]).and_then(Json::as_text),
    };
    patch.map_or_else(|| shell(input), |patch| ToolUse::of_patch(patch, folder(input)))
}

/// Where a tool works, if it says so.
fn folder(input: &Json) -> Option<&str> {
    let folder = first(input, &["workdir", "dir_path", "directory", "cwd"]).and_then(Json::as_text);
    folder.filter(|folder| !folder.is_empty())
}

fn answered(reply: &HookReply) -> Said {
    Said { out: format!("{}\n", view::line(reply)), ..Said::default() }
}
