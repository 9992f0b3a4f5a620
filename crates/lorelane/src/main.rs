//! The `lorelane` binary: `cli`, `hook`, `mcp` and `compat` are its faces.
//!
//! A face reads input, calls the engine and shows the result. It holds no rules and never calls another face.

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
    // One line without a backtrace: a backtrace costs tens of milliseconds and tells the user nothing.
    std::panic::set_hook(Box::new(|panic| {
        eprintln!(
            "lorelane: internal error: {panic}\nhint: no memory is left half-written; please report this line"
        );
    }));
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let hooked = face(&arguments).filter(|(name, _)| *name == "hook").is_some();
    match (capture(), face(&arguments)) {
        (Ok(env), Some((name, begin))) => {
            // 3 only after `-C DIR`.
            let env = if begin == 3 { Env { cwd: env.cwd.join(&arguments[1]), ..env } } else { env };
            let words = &arguments[begin..];
            match name {
                "hook" => hook::run(&env, words),
                "mcp" => mcp::run(&env, clock, &lossy(words)),
                _ => compat::run(&env, &lossy(words)),
            }
        }
        (Ok(env), None) => cli::run(&env, arguments),
        // A hook never breaks its agent: exit code 2 would block the prompt or the tool.
        (Err(_), _) if hooked => ExitCode::SUCCESS,
        (Err(why), _) => {
            eprintln!("error: {why}");
            ExitCode::from(2)
        }
    }
}

/// Picks `hook`, `mcp` or `compat` before any parser is built, and returns where its arguments begin. `-C DIR` may
/// come before the name. `--help` is left to the parser.
///
/// Hooks and scripts run at every prompt and tool call, so their start-up time counts; the scripts also have
/// Python's argument rules, which clap does not follow.
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
        format!("cannot determine the current folder: {fault}\nhint: change to a folder that exists")
    })?;
    let mut env = Env { now: clock(), cwd, vars };
    if let Some(fixed) = env.var(Var::LorelaneNow) {
        let (now, _) = Timestamp::read(fixed).map_err(|fault| {
            format!("cannot read LORELANE_NOW: '{fixed}' is {fault}\nhint: write it as 2026-01-31T09:00:00Z")
        })?;
        env.now = now;
    }
    Ok(env)
}
