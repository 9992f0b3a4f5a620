//! Hooks: the commands that an agent's client runs at its events.
//!
//! One implementation, an adapter per client. A hook never breaks its agent: on any failure it exits with 0,
//! prints nothing and appends a line to the hook log.

mod clients;
mod deadline;
mod handlers;
mod payload;
mod working_set;

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

/// The answer to an event, before it is rendered for a client.
#[derive(Clone, Debug, PartialEq, Eq)]
enum HookAnswer {
    Nothing,
    /// Text that is added to the model's context.
    Context(String),
    /// The tool must not run, for this reason.
    Deny(String),
    /// The tool ran, but its write was not accepted: the model has to know.
    Object(String),
    /// The turn continues with this request.
    Continue(String),
    /// Text for the user; the model does not see it.
    Tell(String),
}

impl HookAnswer {
    /// Replaces `lorelane` in commands by a name that the agent's shell can run: the program need not be on the
    /// PATH. Done here, in one place, so that core knows no paths.
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

/// The answer in a client's own format.
#[derive(Debug, Default, PartialEq, Eq)]
struct HookOutput {
    out: String,
    err: String,
    code: u8,
}

impl HookOutput {
    fn print(self) -> ExitCode {
        self.write();
        ExitCode::from(self.code)
    }

    fn write(&self) {
        let _ = std::io::stderr().write_all(self.err.as_bytes());
        let mut out = std::io::stdout();
        let _ = out.write_all(self.out.as_bytes());
        let _ = out.flush();
    }
}

/// Runs the event that the arguments after `hook` name.
pub(crate) fn run(env: &Env, arguments: &[OsString]) -> ExitCode {
    let words: Vec<String> = arguments.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let Some((event, client)) = wanted(&words) else {
        // For a user who configured the hook by hand: clients do not show stderr of a hook that exits with 0.
        let words = words.join(" ");
        let asked = printable(&secret::masked(&words));
        eprintln!("lorelane hook: invalid arguments: `{asked}`\n{}", usage());
        return ExitCode::SUCCESS;
    };
    let name = format!("{} {}", client.name(), event.name());
    fail_open(env, &name);
    let watch = match Watch::start(env, &name, Limits::of(event, env)) {
        Ok(watch) => watch,
        Err(fault) => {
            hooklog::write(env, &name, &format!("cannot start the watchdog thread: {fault}"));
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
    let render = |answer: HookAnswer| client.render(event, answer.calling(env, client));
    let ready = |answer: &HookAnswer| watch.answer_is_ready(render(answer.clone()));
    let answer = handlers::run(env, &call, &ready).map_err(|failure| failure.to_string())?;
    Ok(render(answer))
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

/// Makes a panic exit with 0, too, with a line in the hook log.
fn fail_open(env: &Env, name: &str) {
    let (env, name) = (env.clone(), name.to_owned());
    std::panic::set_hook(Box::new(move |panic| {
        hooklog::write(&env, &name, &format!("internal error: {panic}"));
        std::process::exit(0);
    }));
}
