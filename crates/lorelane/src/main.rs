//! Faces: show what the engine did.

mod compat;

use lorelane_core::time::Timestamp;
use lorelane_engine::env::Env;
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

fn main() -> ExitCode {
    let lossy = |text: std::ffi::OsString| text.to_string_lossy().into_owned();
    let arguments: Vec<String> = std::env::args_os().skip(1).map(lossy).collect();
    match arguments.split_first() {
        Some((face, rest)) if face == "compat" => compat::run(&capture(), rest),
        _ => ExitCode::from(2),
    }
}

/// The world as it is now; nothing after this asks for the time, the folder or a variable again.
fn capture() -> Env {
    let lossy = |text: std::ffi::OsString| text.to_string_lossy().into_owned();
    let vars = std::env::vars_os().map(|(key, value)| (lossy(key), lossy(value))).collect();
    let cwd = std::env::current_dir().unwrap_or_default();
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let clock = Timestamp(i64::try_from(since_epoch.as_secs()).unwrap_or(i64::MAX));
    let env = Env { now: clock, cwd, vars };
    let fixed = env.var("LORELANE_NOW").and_then(Timestamp::parse).map(|(at, _)| at);
    Env { now: fixed.unwrap_or(clock), ..env }
}
