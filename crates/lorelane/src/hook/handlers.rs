//! What each event does, independent of the client.

use super::HookAnswer;
use super::payload::{HookCall, HookEvent};
use super::working_set;
use lorelane_core::briefing;
use lorelane_core::ledger::LedgerLine;
use lorelane_engine::env::Env;
use lorelane_engine::hooklog;
use lorelane_engine::workspace::{
    self, AskPolicy, AuditResult, Failure, StopRequest, ToolCall, ToolProject, TranscriptSource, Turn,
    Workspace,
};

/// Takes an answer that is known before the work is done.
type Ready<'r> = &'r dyn Fn(&HookAnswer);

pub(super) fn run(env: &Env, call: &HookCall, ready: Ready<'_>) -> Result<HookAnswer, Failure> {
    let done = match call.event {
        // Runs before every tool, so it does not even open the store.
        HookEvent::BeforeTool => before_tool(env, call),
        HookEvent::AfterTool => after_tool(env, call),
        HookEvent::ToolFailure => remind(&ToolProject::new(env, &call.start), call),
        HookEvent::SessionStart => standing(env, call, ready),
        HookEvent::Prompt => brief(env, call, ready),
        HookEvent::Stop => stop(env, call, ready),
        HookEvent::PreCompact | HookEvent::SessionEnd => end(env, call, ready),
    };
    match done {
        // Most projects have no store: that is not an error. A few have a working set without memories.
        Err(Failure::NoStore { .. }) => Ok(working_set::without_memories(env, call)),
        done => done,
    }
}

fn open(env: &Env, call: &HookCall) -> Result<Workspace, Failure> {
    Workspace::open(env, &call.start)
}

fn before_tool(env: &Env, call: &HookCall) -> Result<HookAnswer, Failure> {
    let project = ToolProject::new(env, &call.start);
    match call.facts.tools.iter().find_map(|tool| project.guard(tool)) {
        Some(denial) => Ok(HookAnswer::Deny(denial.to_string())),
        None => remind(&project, call),
    }
}

/// The memories that name what the tool touches. They come with the first event that the client delivers.
fn remind(project: &ToolProject<'_>, call: &HookCall) -> Result<HookAnswer, Failure> {
    let (event, first) = (call.event, call.client.first_tool_event());
    let tools = if event == first { call.facts.tools.as_slice() } else { &[] };
    // Before a tool nothing has failed yet.
    let failure = call.facts.failure.as_deref().filter(|_| event != HookEvent::BeforeTool);
    let tool = ToolCall { client: call.client.name(), session: &call.facts.session, tools, failure };
    Ok(project.reminder(&tool)?.map_or(HookAnswer::Nothing, HookAnswer::Context))
}

/// Audits the lane after a tool, whatever the tool was: any program may have written there.
fn after_tool(env: &Env, call: &HookCall) -> Result<HookAnswer, Failure> {
    let examined = workspace::audit_external_writes(env, &call.start, &call.facts.tools)?;
    let objections: Vec<String> = examined.iter().filter_map(AuditResult::objection).collect();
    if !call.facts.calls.is_empty() {
        working_set::tool_used(env, call);
    }
    if objections.is_empty() {
        return remind(&ToolProject::new(env, &call.start), call);
    }
    Ok(HookAnswer::Object(objections.join("\n")))
}

fn standing(env: &Env, call: &HookCall, ready: Ready<'_>) -> Result<HookAnswer, Failure> {
    let mut workspace = open(env, call)?;
    workspace.external_writes().begin_turn()?;
    warn_of_unread_files(env, call, &workspace);
    // Copilot's transcript lacks the last answer while its stop hook runs. Waiting there would delay every turn.
    if let Err(failure) = workspace.capture().capture_unread(env) {
        call.log(env, &failure);
    }
    let mut standing = workspace.reminders().for_client(call.client.name()).standing()?;
    workspace.capture().drop_expired(env, &call.name());
    standing.waiting = workspace.capture().announce(&call.facts.session)?;
    standing.hint = workspace.capture().first_hint(&call.facts.session)?;
    update_act_map(env, call, &mut workspace);
    let told = standing.text(workspace.policy());
    let left = briefing::MAX_CHARS.saturating_sub(told.text.chars().count());
    if !told.text.is_empty() {
        let line = LedgerLine::of_start(env.now, call.client.name(), &call.facts.session, &told);
        account(env, call, &mut workspace, &line);
        ready(&HookAnswer::Context(told.text.clone()));
    }
    let session = working_set::begin(env, call, &mut workspace, left);
    Ok(working_set::context(told.text + &session))
}

fn brief(env: &Env, call: &HookCall, ready: Ready<'_>) -> Result<HookAnswer, Failure> {
    let prompt = &call.facts.prompt;
    // Text of the client itself, or a slash command, which brings its own text.
    if briefing::is_machine(prompt) {
        return Ok(HookAnswer::Nothing);
    }
    let mut workspace = open(env, call)?;
    // Files that are gone when the user types were removed by the user: the audit does not put them back.
    workspace.external_writes().begin_turn()?;
    warn_of_unread_files(env, call, &workspace);
    let briefing = workspace.reminders().for_client(call.client.name()).brief(prompt, &call.facts.session)?;
    update_act_map(env, call, &mut workspace);
    let line = LedgerLine::of_prompt(env.now, call.client.name(), &call.facts.session, prompt, &briefing);
    // Also if nothing is shown: `why` must be able to explain that.
    account(env, call, &mut workspace, &line);
    let answer = working_set::context(briefing.text());
    ready(&answer);
    working_set::turn(env, call, &mut workspace);
    Ok(answer)
}

/// Here is the time that a hook before a tool does not have. A map that cannot be written costs reminders only.
fn update_act_map(env: &Env, call: &HookCall, workspace: &mut Workspace) {
    if let Err(failure) = workspace.reminders().update_act_map() {
        call.log(env, &failure);
    }
}

/// A ledger that cannot be written is logged only: the reminder is still shown.
fn account(env: &Env, call: &HookCall, workspace: &mut Workspace, line: &LedgerLine) {
    if let Err(failure) = workspace.reminders().account(line) {
        call.log(env, &failure);
    }
}

/// Warns once of marks that were not read because the file is larger than a hook has time for.
fn warn_of_unread_files(env: &Env, call: &HookCall, workspace: &Workspace) {
    if let Some(what) = workspace.files().marks_not_read() {
        hooklog::write_once(env, &call.name(), &what);
    }
}

fn stop(env: &Env, call: &HookCall, ready: Ready<'_>) -> Result<HookAnswer, Failure> {
    // A turn that we prolonged ourselves may end: an agent is asked at most once. One with background work stops
    // again later.
    if call.facts.continued || call.facts.busy {
        return Ok(HookAnswer::Nothing);
    }
    capture(env, call, call.client.may_ask(env), ready)
}

/// Nobody waits for these events, so every file of a large lane is audited; tools and prompts check only some.
fn end(env: &Env, call: &HookCall, ready: Ready<'_>) -> Result<HookAnswer, Failure> {
    let captured = capture(env, call, AskPolicy::No, ready);
    let mut workspace = open(env, call)?;
    if call.event == HookEvent::PreCompact {
        // What the session was shown may be gone afterwards, so it may be shown again.
        let line = LedgerLine::of_compaction(env.now, call.client.name(), &call.facts.session);
        account(env, call, &mut workspace, &line);
    }
    // The hand-over comes first: the next session needs it, and an audit can be made up for.
    working_set::end(env, call, &mut workspace);
    workspace.external_writes().audit()?;
    captured
}

fn capture(env: &Env, call: &HookCall, may_ask: AskPolicy, ready: Ready<'_>) -> Result<HookAnswer, Failure> {
    let facts = &call.facts;
    let spoken = match (&facts.transcript, call.client.transcript()) {
        (Some(path), Some(format)) => {
            TranscriptSource::Transcript { path, format, last: &facts.last_message }
        }
        _ if facts.last_message.is_empty() => {
            if call.event == HookEvent::Stop {
                working_set::turn(env, call, &mut open(env, call)?);
            }
            return Ok(HookAnswer::Nothing);
        }
        _ => TranscriptSource::Last { human: &facts.prompt, assistant: &facts.last_message },
    };
    let turn = Turn { client: call.client.name(), session: &facts.session, transcript: spoken, may_ask };
    let mut workspace = open(env, call)?;
    let captured = match (workspace.capture().stop(env, &turn), spoken) {
        // The payload may have the last messages: they are read even if the transcript cannot be.
        (Err(failure), TranscriptSource::Transcript { last, .. }) if !last.is_empty() => {
            call.log(env, &failure);
            let transcript = TranscriptSource::Last { human: &facts.prompt, assistant: last };
            workspace.capture().stop(env, &Turn { transcript, ..turn })
        }
        (captured, _) => captured,
    };
    let answer = captured.map(|request| match request {
        None => HookAnswer::Nothing,
        Some(StopRequest::Save(text)) => HookAnswer::Continue(text),
        Some(StopRequest::Full(text)) => HookAnswer::Tell(text),
    });
    if call.event == HookEvent::Stop {
        answer.iter().for_each(ready);
        working_set::turn(env, call, &mut workspace);
    }
    answer
}
