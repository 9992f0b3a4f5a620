//! What lorelane does at an event, whoever the client is.

use super::Answer;
use super::call::{Call, Event};
use lorelane_core::briefing;
use lorelane_core::ledger::Line;
use lorelane_engine::env::Env;
use lorelane_engine::hooklog;
use lorelane_engine::workspace::{self, Asking, Examined, Failure, MayAsk, Spoken, Turn, Workspace};

pub(super) fn run(env: &Env, call: &Call) -> Result<Answer, Failure> {
    let done = match call.event {
        // The guards come before every tool: they do not even open the store.
        Event::BeforeTool => Ok(guard(env, call)),
        Event::AfterTool => examine(env, call),
        Event::SessionStart => standing(env, call),
        Event::Prompt => brief(env, call),
        Event::Stop => stop(env, call),
        Event::PreCompact | Event::SessionEnd => end(env, call),
    };
    match done {
        // Most projects have no store, and that is nobody's fault.
        Err(Failure::NoStore { .. }) => Ok(Answer::Nothing),
        done => done,
    }
}

fn open(env: &Env, call: &Call) -> Result<Workspace, Failure> {
    Workspace::open(env, &call.start)
}

fn guard(env: &Env, call: &Call) -> Answer {
    let denial = call.facts.tools.iter().find_map(|tool| workspace::guard(env, &call.start, tool));
    denial.map_or(Answer::Nothing, |denial| Answer::Deny(denial.to_string()))
}

/// What got into the lane is looked at, whatever tool wrote it.
fn examine(env: &Env, call: &Call) -> Result<Answer, Failure> {
    let examined = workspace::examine_after(env, &call.start, &call.facts.tools)?;
    let objections: Vec<String> = examined.iter().filter_map(Examined::objection).collect();
    Ok(if objections.is_empty() { Answer::Nothing } else { Answer::Object(objections.join("\n")) })
}

fn standing(env: &Env, call: &Call) -> Result<Answer, Failure> {
    let mut workspace = open(env, call)?;
    workspace.external_writes().begin_turn()?;
    tell_what_is_not_read(env, call, &workspace);
    if let Err(failure) = workspace.capture().capture_unread(env) {
        log(env, call, &failure);
    }
    let standing = workspace.reminders().standing()?;
    let told = standing.text(workspace.policy());
    if told.text.is_empty() {
        return Ok(Answer::Nothing);
    }
    let line = Line::of_start(env.now, call.client.name(), &call.facts.session, &told);
    account(env, call, &mut workspace, &line);
    Ok(Answer::Context(told.text))
}

fn brief(env: &Env, call: &Call) -> Result<Answer, Failure> {
    let prompt = &call.facts.prompt;
    if briefing::is_machine(prompt) {
        return Ok(Answer::Nothing);
    }
    let mut workspace = open(env, call)?;
    workspace.external_writes().begin_turn()?;
    tell_what_is_not_read(env, call, &workspace);
    let briefing = workspace.reminders().brief(prompt)?;
    let line = Line::of_prompt(env.now, call.client.name(), &call.facts.session, prompt, &briefing);
    account(env, call, &mut workspace, &line);
    let text = briefing.text();
    Ok(if text.is_empty() { Answer::Nothing } else { Answer::Context(text) })
}

/// A ledger that cannot be written costs nobody a reminder.
fn account(env: &Env, call: &Call, workspace: &mut Workspace, line: &Line) {
    if let Err(failure) = workspace.reminders().account(line) {
        log(env, call, &failure);
    }
}

fn log(env: &Env, call: &Call, failure: &Failure) {
    hooklog::write(env, &name(call), &failure.to_string());
}

/// More marks than a hook has time for.
fn tell_what_is_not_read(env: &Env, call: &Call, workspace: &Workspace) {
    if let Some(what) = workspace.files().marks_not_read() {
        hooklog::write_once(env, &name(call), &what);
    }
}

fn name(call: &Call) -> String {
    format!("{} {}", call.client.name(), call.event.name())
}

fn stop(env: &Env, call: &Call) -> Result<Answer, Failure> {
    // A turn that goes on because of us is let go; one with work in the background stops again later.
    if call.facts.continued || call.facts.busy {
        return Ok(Answer::Nothing);
    }
    capture(env, call, call.client.may_ask(env))
}

/// Nobody waits here: there is time for a look at every file of a large lane, which tools and prompts do not take.
fn end(env: &Env, call: &Call) -> Result<Answer, Failure> {
    let captured = capture(env, call, MayAsk::No);
    open(env, call)?.external_writes().examine_lane()?;
    captured
}

fn capture(env: &Env, call: &Call, may_ask: MayAsk) -> Result<Answer, Failure> {
    let facts = &call.facts;
    let spoken = match (&facts.transcript, call.client.transcript()) {
        (Some(path), Some(format)) => Spoken::Transcript { path, format, last: &facts.last_message },
        _ if facts.last_message.is_empty() => return Ok(Answer::Nothing),
        _ => Spoken::Last { assistant: &facts.last_message },
    };
    let turn = Turn { client: call.client.name(), session: &facts.session, spoken, may_ask };
    let mut workspace = open(env, call)?;
    let captured = match (workspace.capture().stop(env, &turn), spoken) {
        // The last words came with the payload: they are kept though the transcript cannot be read.
        (Err(failure), Spoken::Transcript { last, .. }) if !last.is_empty() => {
            log(env, call, &failure);
            workspace.capture().stop(env, &Turn { spoken: Spoken::Last { assistant: last }, ..turn })
        }
        (captured, _) => captured,
    };
    Ok(match captured? {
        None => Answer::Nothing,
        Some(Asking::Save(text)) => Answer::Continue(text),
        Some(Asking::Full(text)) => Answer::Tell(text),
    })
}
