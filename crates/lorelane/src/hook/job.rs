//! What lorelane does at an event, whoever the client is.

use super::Answer;
use super::call::{Call, Event};
use lorelane_core::briefing;
use lorelane_core::ledger::Line;
use lorelane_engine::env::Env;
use lorelane_engine::workspace::{Failure, Workspace};

pub(super) fn run(env: &Env, call: &Call) -> Result<Answer, Failure> {
    let done = match call.event {
        Event::SessionStart => standing(env, call),
        Event::Prompt => brief(env, call),
        _ => Ok(Answer::Nothing),
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

fn standing(env: &Env, call: &Call) -> Result<Answer, Failure> {
    let mut workspace = open(env, call)?;
    let standing = workspace.standing()?;
    let (text, shown) = standing.text(workspace.policy());
    if text.is_empty() {
        return Ok(Answer::Nothing);
    }
    let (client, session) = (call.client.name(), &call.facts.session);
    let line = Line::of_start(env.now, client, session, &shown, briefing::tokens(&text));
    account(env, call, &workspace, &line);
    Ok(Answer::Context(text))
}

fn brief(env: &Env, call: &Call) -> Result<Answer, Failure> {
    let prompt = &call.facts.prompt;
    if briefing::is_machine(prompt) {
        return Ok(Answer::Nothing);
    }
    let mut workspace = open(env, call)?;
    let briefing = workspace.brief(prompt)?;
    let line = Line::of_prompt(env.now, call.client.name(), &call.facts.session, prompt, &briefing);
    account(env, call, &workspace, &line);
    let text = briefing.text();
    Ok(if text.is_empty() { Answer::Nothing } else { Answer::Context(text) })
}

/// A ledger that cannot be written costs nobody a reminder.
fn account(env: &Env, call: &Call, workspace: &Workspace, line: &Line) {
    if let Err(failure) = workspace.ledger().append(line) {
        let name = format!("{} {}", call.client.name(), call.event.name());
        lorelane_engine::hooklog::write(env, &name, &failure.to_string());
    }
}
