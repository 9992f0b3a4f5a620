//! What a client tells us, in one shape.

use super::clients::Client;
use lorelane_core::conversation::without_fences;
use lorelane_core::guard::ToolUse;
use lorelane_core::json::Json;
use lorelane_engine::env::Env;
use std::path::PathBuf;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    SessionStart,
    Prompt,
    BeforeTool,
    AfterTool,
    Stop,
    PreCompact,
    SessionEnd,
}

impl Event {
    pub(super) const ALL: [Event; 7] = [
        Event::SessionStart,
        Event::Prompt,
        Event::BeforeTool,
        Event::AfterTool,
        Event::Stop,
        Event::PreCompact,
        Event::SessionEnd,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Event::SessionStart => "session-start",
            Event::Prompt => "prompt",
            Event::BeforeTool => "before-tool",
            Event::AfterTool => "after-tool",
            Event::Stop => "stop",
            Event::PreCompact => "pre-compact",
            Event::SessionEnd => "session-end",
        }
    }

    /// Reads our own name, or the one that Claude Code has for it.
    pub(super) fn parse(word: &str) -> Option<Event> {
        let same = |event: &Event| event.name() == word || event.claude_code() == word;
        Event::ALL.into_iter().find(same)
    }

    pub(super) fn claude_code(self) -> &'static str {
        match self {
            Event::SessionStart => "SessionStart",
            Event::Prompt => "UserPromptSubmit",
            Event::BeforeTool => "PreToolUse",
            Event::AfterTool => "PostToolUse",
            Event::Stop => "Stop",
            Event::PreCompact => "PreCompact",
            Event::SessionEnd => "SessionEnd",
        }
    }
}

/// One event of a session.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Facts {
    pub(super) session: String,
    pub(super) cwd: Option<PathBuf>,
    pub(super) transcript: Option<PathBuf>,
    pub(super) prompt: String,
    /// What the tool of this event does to files.
    pub(super) tools: Vec<ToolUse>,
    /// Whether the turn already goes on because of a stop hook.
    pub(super) continued: bool,
    /// Whether work of this session still runs in the background.
    pub(super) busy: bool,
    pub(super) last_message: String,
}

#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) event: Event,
    pub(super) client: Client,
    pub(super) facts: Facts,
    /// The folder that the session works in.
    pub(super) start: PathBuf,
}

impl Call {
    pub(super) fn read(env: &Env, event: Event, client: Client, payload: &Json) -> Call {
        let mut facts = client.read(payload);
        // Gemini puts the answers of earlier hooks into the prompt.
        facts.prompt = without_fences(&facts.prompt);
        let start = facts.cwd.clone().filter(|cwd| cwd.is_absolute()).unwrap_or_else(|| env.cwd.clone());
        Call { event, client, start, facts }
    }
}

/// The value at the first of these keys that there is.
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
