//! The working set of a session, in projects whose user ran `ws init`. In all others each of these looks once for
//! that and does nothing.
//!
//! The working set never changes what a hook does otherwise: its failures go to the hook log.

use super::HookAnswer;
use super::payload::{HookCall, HookEvent};
use lorelane_core::briefing;
use lorelane_core::conversation::{Conversation, Message};
use lorelane_core::working_set::GcTrigger;
use lorelane_engine::env::Env;
use lorelane_engine::hooklog;
use lorelane_engine::transcript;
use lorelane_engine::workspace::{
    ClientSession, CollectRequest, Failure, TurnSource, WorkingSet, Workspace, open_if_working_set,
};

/// The messages that a hand-over is made from.
const LAST_MESSAGES: usize = 6;
/// Files that one hook takes out of the set. The next hook goes on.
const ACTIONS_MAX: usize = 32;

/// An event in a project without memories.
pub(super) fn without_memories(env: &Env, call: &HookCall) -> HookAnswer {
    match call.event {
        HookEvent::BeforeTool | HookEvent::ToolFailure => return HookAnswer::Nothing,
        HookEvent::AfterTool if call.facts.calls.is_empty() => return HookAnswer::Nothing,
        HookEvent::Prompt if briefing::is_machine(&call.facts.prompt) => return HookAnswer::Nothing,
        HookEvent::Stop if call.facts.continued || call.facts.busy => return HookAnswer::Nothing,
        _ => {}
    }
    let mut workspace = match open_if_working_set(env, &call.start) {
        Ok(Some(workspace)) => workspace,
        Ok(None) => return HookAnswer::Nothing,
        Err(failure) => {
            call.log(env, &failure);
            return HookAnswer::Nothing;
        }
    };
    match call.event {
        HookEvent::SessionStart => return context(begin(env, call, &mut workspace, briefing::MAX_CHARS)),
        HookEvent::Prompt | HookEvent::Stop | HookEvent::AfterTool => turn(env, call, &mut workspace),
        HookEvent::PreCompact | HookEvent::SessionEnd => end(env, call, &mut workspace),
        HookEvent::BeforeTool | HookEvent::ToolFailure => {}
    }
    HookAnswer::Nothing
}

pub(super) fn context(text: String) -> HookAnswer {
    if text.is_empty() { HookAnswer::Nothing } else { HookAnswer::Context(text) }
}

/// A session starts: the hand-over and the files of the set, for the model.
pub(super) fn begin(env: &Env, call: &HookCall, workspace: &mut Workspace, max_chars: usize) -> String {
    let text = with_set(env, call, workspace, |set| {
        let is_resumed = call.facts.reason == "resume";
        let text = set.begin(&session(call), is_resumed)?.text(max_chars);
        for warning in std::mem::take(&mut set.warnings) {
            hooklog::write(env, &call.name(), &warning);
        }
        Ok(text)
    });
    text.unwrap_or_default()
}

/// A prompt comes, or a turn ends: what happened since the last look.
pub(super) fn turn(env: &Env, call: &HookCall, workspace: &mut Workspace) {
    with_set(env, call, workspace, |set| {
        if call.event == HookEvent::Prompt {
            set.reopen(&session(call))?;
        }
        look(env, call, set)?;
        collect_if_due(env, call, set);
        // Nobody is told when such a session ends.
        if call.event == HookEvent::Stop && call.client.transcript().is_none() {
            set.write_handover(&last_messages(env, call))?;
        }
        Ok(())
    });
}

/// A tool ran in a client whose transcript cannot be read.
pub(super) fn tool_used(env: &Env, call: &HookCall) {
    match open_if_working_set(env, &call.start) {
        Ok(Some(mut workspace)) => turn(env, call, &mut workspace),
        Ok(None) => {}
        Err(failure) => call.log(env, &failure),
    }
}

/// Before a compaction, and at the end: the hand-over for whoever comes next.
pub(super) fn end(env: &Env, call: &HookCall, workspace: &mut Workspace) {
    with_set(env, call, workspace, |set| {
        let messages = last_messages(env, call);
        // What takes longer than a hook may is not worth a session without a hand-over: it is written with what is
        // known, and again with what was seen since.
        set.write_handover(&messages)?;
        if let Err(failure) = look(env, call, set) {
            call.log(env, &failure);
        }
        set.write_handover(&messages)?;
        let is_over = call.event == HookEvent::SessionEnd;
        if is_over && set.state().set().next().is_some() {
            collect(env, call, set, GcTrigger::SessionEnd);
        }
        if is_over {
            let reason = call.facts.reason.as_str();
            set.close(if reason.is_empty() { "other" } else { reason })?;
        }
        Ok(())
    });
}

/// No timer runs: what is due is looked at in the next hook.
fn collect_if_due(env: &Env, call: &HookCall, set: &mut WorkingSet<'_>) {
    match set.due_collection() {
        Ok(Some(trigger)) => collect(env, call, set, trigger),
        Ok(None) => {}
        Err(failure) => call.log(env, &failure),
    }
}

fn collect(env: &Env, call: &HookCall, set: &mut WorkingSet<'_>, trigger: GcTrigger) {
    let why = match trigger {
        GcTrigger::SessionEnd => "the session ended",
        GcTrigger::BudgetPressure => "the budget is nearly used",
        GcTrigger::Interval => "the last collection was long ago",
        GcTrigger::SessionLength => "the session is long",
        GcTrigger::Explicit | GcTrigger::PhaseEnd | GcTrigger::ModelRequest => "it was asked for",
    };
    let max_actions = Some(ACTIONS_MAX);
    let request = CollectRequest { trigger, max_actions, ..CollectRequest::default() };
    if let Err(failure) = set.collect(&request, why) {
        call.log(env, &failure);
    }
}

fn look(env: &Env, call: &HookCall, set: &mut WorkingSet<'_>) -> Result<(), Failure> {
    let facts = &call.facts;
    let source = match (&facts.transcript, call.client.transcript(), call.event) {
        (Some(path), Some(format), _) => TurnSource::Transcript { path, format },
        (_, None, HookEvent::Prompt) => TurnSource::Prompt(&facts.prompt),
        (_, None, HookEvent::AfterTool) => TurnSource::Calls(&facts.calls),
        _ => return Ok(()),
    };
    set.observe(env, &session(call), source).map(drop)
}

fn last_messages(env: &Env, call: &HookCall) -> Vec<Message> {
    let facts = &call.facts;
    let conversation = match (&facts.transcript, call.client.transcript()) {
        (Some(path), Some(format)) => {
            // Without its last messages a hand-over still has what the log says.
            transcript::read(path, format, LAST_MESSAGES, &transcript::folders(env)).unwrap_or_default()
        }
        _ => Conversation::from_texts(Some(facts.prompt.as_str()), None),
    };
    conversation.ending_with(&facts.last_message).messages
}

fn session(call: &HookCall) -> ClientSession<'_> {
    ClientSession { client: call.client.name(), session: &call.facts.session, start: &call.start }
}

fn with_set<T>(
    env: &Env,
    call: &HookCall,
    workspace: &mut Workspace,
    act: impl FnOnce(&mut WorkingSet<'_>) -> Result<T, Failure>,
) -> Option<T> {
    let opened = WorkingSet::for_client(workspace, call.client.name(), &call.facts.session);
    match opened.and_then(|set| set.map(|mut set| act(&mut set)).transpose()) {
        Ok(done) => done,
        Err(failure) => {
            call.log(env, &failure);
            None
        }
    }
}
