//! One small adapter per client: its payload in, its answer out.

mod claude_code;
mod codex;
mod copilot;
mod gemini;
mod opencode;

use super::call::{Event, Facts};
use super::{Answer, Said};
use lorelane_core::conversation::Format;
use lorelane_core::json::{self, Json};
use lorelane_engine::env::Env;

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
        match self {
            Client::ClaudeCode => Some(Format::ClaudeCode),
            Client::Codex => Some(Format::Codex),
            Client::Gemini => Some(Format::Gemini),
            Client::Copilot => Some(Format::Copilot),
            Client::Opencode => None,
        }
    }

    /// Whether a stop hook can make a turn go on.
    pub(super) fn can_go_on(self) -> bool {
        self != Client::Opencode
    }

    /// Only Claude Code tells whether somebody is there.
    pub(super) fn is_unattended(self, env: &Env) -> bool {
        self == Client::ClaudeCode && claude_code::is_unattended(env)
    }
}

fn document<const N: usize>(members: [(&str, Json); N]) -> Said {
    let json = Json::Object(members.into_iter().collect());
    Said { out: format!("{}\n", json.render(json::Format::LINE)), ..Said::default() }
}
