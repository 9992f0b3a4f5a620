//! A client's payload, in one form for all clients.

use super::clients::HookClient;
use lorelane_core::conversation::{TranscriptCall, without_fences};
use lorelane_core::guard::ToolUse;
use lorelane_core::json::Json;
use lorelane_engine::env::Env;
use lorelane_engine::hooklog;
use lorelane_engine::workspace::Failure;
use std::path::PathBuf;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HookEvent {
    SessionStart,
    Prompt,
    BeforeTool,
    AfterTool,
    /// After a tool that failed, in clients that have an event of its own for that.
    ToolFailure,
    Stop,
    PreCompact,
    SessionEnd,
}

impl HookEvent {
    pub(super) const ALL: [HookEvent; 8] = [
        HookEvent::SessionStart,
        HookEvent::Prompt,
        HookEvent::BeforeTool,
        HookEvent::AfterTool,
        HookEvent::ToolFailure,
        HookEvent::Stop,
        HookEvent::PreCompact,
        HookEvent::SessionEnd,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            HookEvent::SessionStart => "session-start",
            HookEvent::Prompt => "prompt",
            HookEvent::BeforeTool => "before-tool",
            HookEvent::AfterTool => "after-tool",
            HookEvent::ToolFailure => "tool-failure",
            HookEvent::Stop => "stop",
            HookEvent::PreCompact => "pre-compact",
            HookEvent::SessionEnd => "session-end",
        }
    }

    /// Accepts our own name of an event and Claude Code's.
    pub(super) fn parse(word: &str) -> Option<HookEvent> {
        let same = |event: &HookEvent| event.name() == word || event.claude_code() == word;
        HookEvent::ALL.into_iter().find(same)
    }

    pub(super) fn claude_code(self) -> &'static str {
        match self {
            HookEvent::SessionStart => "SessionStart",
            HookEvent::Prompt => "UserPromptSubmit",
            HookEvent::BeforeTool => "PreToolUse",
            HookEvent::AfterTool => "PostToolUse",
            HookEvent::ToolFailure => "PostToolUseFailure",
            HookEvent::Stop => "Stop",
            HookEvent::PreCompact => "PreCompact",
            HookEvent::SessionEnd => "SessionEnd",
        }
    }
}

/// What a client sent with one event of a session.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Payload {
    pub(super) session: String,
    pub(super) cwd: Option<PathBuf>,
    pub(super) transcript: Option<PathBuf>,
    pub(super) prompt: String,
    /// What the tool call of this event does to files.
    pub(super) tools: Vec<ToolUse>,
    /// The tool call itself, of a client whose transcript cannot be read.
    pub(super) calls: Vec<TranscriptCall>,
    /// Why a session starts or ends.
    pub(super) reason: String,
    /// What the command of this event printed, if it failed.
    pub(super) failure: Option<String>,
    /// Whether a stop hook already made this turn continue.
    pub(super) continued: bool,
    /// Whether the session still has running background tasks.
    pub(super) busy: bool,
    pub(super) last_message: String,
}

#[derive(Clone, Debug)]
pub(super) struct HookCall {
    pub(super) event: HookEvent,
    pub(super) client: HookClient,
    pub(super) facts: Payload,
    /// The folder that the session works in.
    pub(super) start: PathBuf,
}

impl HookCall {
    pub(super) fn read(env: &Env, event: HookEvent, client: HookClient, payload: &Json) -> HookCall {
        let mut facts = client.read(payload);
        // Gemini includes the output of earlier hooks in the prompt: our own reminders must not be part of the
        // query.
        facts.prompt = without_fences(&facts.prompt);
        let start = facts.cwd.clone().filter(|cwd| cwd.is_absolute()).unwrap_or_else(|| env.cwd.clone());
        HookCall { event, client, start, facts }
    }

    /// Client and event, as the hook log names them.
    pub(super) fn name(&self) -> String {
        format!("{} {}", self.client.name(), self.event.name())
    }

    pub(super) fn log(&self, env: &Env, failure: &Failure) {
        hooklog::write(env, &self.name(), &failure.to_string());
    }
}

/// The value of the first of these keys that exists.
pub(super) fn first<'j>(payload: &'j Json, keys: &[&str]) -> Option<&'j Json> {
    let object = payload.as_object()?;
    keys.iter().find_map(|key| object.get(key))
}

pub(super) fn text(payload: &Json, keys: &[&str]) -> String {
    first(payload, keys).and_then(Json::as_text).unwrap_or_default().to_owned()
}

pub(super) fn path(payload: &Json, keys: &[&str]) -> Option<PathBuf> {
    Some(text(payload, keys)).filter(|path| !path.is_empty()).map(PathBuf::from)
}
