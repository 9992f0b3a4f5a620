//! `lorelane`: faces show what the engine does. They hold no rules and never call each other.

mod cli;
mod compat;
mod hook;
mod mcp;
mod serve;
mod stdin;
mod view;

use lorelane_core::time::Timestamp;
use lorelane_engine::env::{Env, Var};
use std::ffi::OsString;
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

fn main() -> ExitCode {
    // A backtrace would cost tens of milliseconds and tell the user nothing.
    std::panic::set_hook(Box::new(|panic| {
        eprintln!(
            "lorelane: internal error: {panic}\nhint: nothing is half-written; please report this line"
        );
    }));
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let hooked = face(&arguments).filter(|(name, _)| *name == "hook").is_some();
    match (capture(), face(&arguments)) {
        (Ok(env), Some((name, begin))) => {
            let env = if begin == 3 { Env { cwd: env.cwd.join(&arguments[1]), ..env } } else { env };
            let words = &arguments[begin..];
            match name {
                "hook" => hook::run(&env, words),
                "mcp" => mcp::run(&env, clock, &lossy(words)),
                _ => compat::run(&env, &lossy(words)),
            }
        }
        (Ok(env), None) => cli::run(&env, arguments),
        // A hook never breaks its agent.
        (Err(_), _) if hooked => ExitCode::SUCCESS,
        (Err(why), _) => {
            eprintln!("error: {why}");
            ExitCode::from(2)
        }
    }
}

/// The face that is chosen before any parser is built, and where its words begin: `hook`, `mcp` and `compat`, which
/// may stand after `-C DIR`. Help is for the parser.
fn face(arguments: &[OsString]) -> Option<(&'static str, usize)> {
    let at = if arguments.first().is_some_and(|word| word == "-C") { 2 } else { 0 };
    let is_help = |word: &OsString| word == "-h" || word == "--help";
    let names = ["hook", "mcp", "compat"];
    let name = names.into_iter().find(|name| arguments.get(at).is_some_and(|word| word == name))?;
    (!arguments.get(at + 1).is_some_and(is_help)).then_some((name, at + 1))
}

fn lossy(words: &[OsString]) -> Vec<String> {
    words.iter().map(|word| word.to_string_lossy().into_owned()).collect()
}

fn clock() -> Timestamp {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp(i64::try_from(since_epoch.as_secs()).unwrap_or(0))
}

fn capture() -> Result<Env, String> {
    let brought = |var: &Var| Some((var.name().to_owned(), std::env::var(var.name()).ok()?));
    let vars = Var::ALL.iter().filter_map(brought).collect();
    let cwd = std::env::current_dir().map_err(|fault| {
        format!("cannot tell the current folder: {fault}\nhint: change to a folder that exists")
    })?;
    let mut env = Env { now: clock(), cwd, vars };
    if let Some(fixed) = env.var(Var::LorelaneNow) {
        let (now, _) = Timestamp::read(fixed).map_err(|fault| {
            format!("LORELANE_NOW is {fault}: `{fixed}`\nhint: write it as 2026-01-31T09:00:00Z")
        })?;
        env.now = now;
    }
    Ok(env)
}
