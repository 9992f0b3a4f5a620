//! Hooks: what an agent's client calls at its events, and what it is answered.
//!
//! One implementation, an adapter per client. A hook never breaks its agent: whatever goes wrong, it ends with
//! exit code 0, says nothing to the client and leaves a line in the log.

mod clients;
mod deadline;
mod handlers;
mod payload;

use clients::HookClient;
use deadline::{Limits, Watch};
use lorelane_core::secret;
use lorelane_core::text::printable;
use lorelane_engine::env::Env;
use lorelane_engine::hooklog;
use lorelane_engine::setup;
use payload::{HookCall, HookEvent};
use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

/// What the client is told.
#[derive(Clone, Debug, PartialEq, Eq)]
enum HookAnswer {
    Nothing,
    /// Text for the model, beside what it gets anyway.
    Context(String),
    /// The tool must not run, and why.
    Deny(String),
    /// The tool ran; the model has to know that its work did not count.
    Object(String),
    /// The turn goes on, with this to do.
    Continue(String),
    /// Text for the person; the model does not see it.
    Tell(String),
}

impl HookAnswer {
    /// With commands that work where they are read: `setup` does not need a program on the PATH, nor do agents.
    fn calling(self, env: &Env, client: HookClient) -> HookAnswer {
        let called = || if client.has_own_path() { setup::called_by_path() } else { setup::called(env) };
        let spell = |text: String| setup::calling(&text, &called());
        match self {
            HookAnswer::Nothing => HookAnswer::Nothing,
            HookAnswer::Context(text) => HookAnswer::Context(spell(text)),
            HookAnswer::Deny(text) => HookAnswer::Deny(spell(text)),
            HookAnswer::Object(text) => HookAnswer::Object(spell(text)),
            HookAnswer::Continue(text) => HookAnswer::Continue(spell(text)),
            HookAnswer::Tell(text) => HookAnswer::Tell(spell(text)),
        }
    }
}

/// The answer in a client's own form.
#[derive(Debug, Default, PartialEq, Eq)]
struct HookOutput {
    out: String,
    err: String,
    code: u8,
}

impl HookOutput {
    fn print(self) -> ExitCode {
        let _ = std::io::stderr().write_all(self.err.as_bytes());
        let _ = std::io::stdout().write_all(self.out.as_bytes());
        ExitCode::from(self.code)
    }
}

/// Runs the hook that the words after `hook` name.
pub(crate) fn run(env: &Env, arguments: &[OsString]) -> ExitCode {
    let words: Vec<String> = arguments.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let Some((event, client)) = wanted(&words) else {
        // A line for whoever set the hook up by hand; clients show it to nobody.
        let words = words.join(" ");
        let asked = printable(&secret::masked(&words));
        eprintln!("lorelane hook: it cannot be told what `{asked}` asks for\n{}", usage());
        return ExitCode::SUCCESS;
    };
    let name = format!("{} {}", client.name(), event.name());
    fail_open(env, &name);
    let watch = match Watch::start(env, &name, Limits::of(event, env)) {
        Ok(watch) => watch,
        Err(fault) => {
            hooklog::write(env, &name, &format!("no thread could be started: {fault}"));
            return ExitCode::SUCCESS;
        }
    };
    let answered = answer(env, event, client, &watch);
    watch.end();
    match answered {
        Ok(said) => said.print(),
        Err(why) => {
            hooklog::write(env, &name, &why);
            ExitCode::SUCCESS
        }
    }
}

fn answer(env: &Env, event: HookEvent, client: HookClient, watch: &Watch) -> Result<HookOutput, String> {
    let payload = crate::stdin::read_value();
    watch.payload_came();
    let Some(payload) = payload else { return Err("the payload is not JSON".to_owned()) };
    let call = HookCall::read(env, event, client, &payload);
    let answer = handlers::run(env, &call).map_err(|failure| failure.to_string())?;
    Ok(client.render(event, answer.calling(env, client)))
}

fn wanted(words: &[String]) -> Option<(HookEvent, HookClient)> {
    let mut event = None;
    let mut client = HookClient::ClaudeCode;
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.strip_prefix("--client") {
            Some("") => client = HookClient::parse(words.next()?)?,
            Some(value) => client = HookClient::parse(value.strip_prefix('=')?)?,
            None if event.is_none() => event = Some(HookEvent::parse(word)?),
            None => return None,
        }
    }
    Some((event?, client))
}

fn usage() -> String {
    let events: Vec<&str> = HookEvent::ALL.iter().map(|event| event.name()).collect();
    let clients: Vec<&str> = HookClient::ALL.iter().map(|client| client.name()).collect();
    format!("usage: lorelane hook {} [--client {}]", events.join("|"), clients.join("|"))
}

/// A panic, too, ends with exit code 0 and a line in the log.
fn fail_open(env: &Env, name: &str) {
    let (env, name) = (env.clone(), name.to_owned());
    std::panic::set_hook(Box::new(move |panic| {
        hooklog::write(&env, &name, &format!("internal error: {panic}"));
        std::process::exit(0);
    }));
}
