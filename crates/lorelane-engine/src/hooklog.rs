//! The hook log: one line for each hook that failed.

use crate::append_log;
use crate::disk::{Disk, RealDisk};
use crate::env::Env;
use crate::failure::Failure;
use lorelane_core::forget::{EraseMode, Traces};
use lorelane_core::secret;
use lorelane_core::text::{cut, one_line};
use lorelane_core::time::Timestamp;
use std::path::{Path, PathBuf};

const LOG_MAX_BYTES: u64 = 1 << 20;

/// Its name in the user's state folder.
pub const HOOK_LOG: &str = "hooks.log";

fn path(env: &Env) -> Option<PathBuf> {
    Some(env.folders()?.state.join(HOOK_LOG))
}

/// Logs a failure. Errors are ignored: a hook never disturbs its agent, not even about its log.
pub fn write(env: &Env, hook: &str, what: &str) {
    let Some(path) = path(env) else { return };
    let line = format!("{} {hook}: {}\n", env.now, cut(&one_line(&secret::masked(what)), 500));
    if let Some(folder) = path.parent() {
        let _ = RealDisk.create_private_dir_all(folder);
    }
    let _ = append_log::rotate(&RealDisk, &path, &former(&path), LOG_MAX_BYTES);
    let _ = RealDisk.append(&path, line.as_bytes());
}

/// Logs a lasting condition, unless the log already has it.
pub fn write_once(env: &Env, hook: &str, what: &str) {
    let said = path(env).and_then(|path| RealDisk.read_tail(&path, LOG_MAX_BYTES).ok().flatten());
    let is_said = |(bytes, _): (Vec<u8>, u64)| String::from_utf8_lossy(&bytes).contains(what);
    if !said.is_some_and(is_said) {
        write(env, hook, what);
    }
}

/// Redacts lines that name a memory, and lines without a timestamp: the rest of a line that was redacted in part.
pub fn forget(disk: &dyn Disk, log: &Path, traces: &Traces, act: EraseMode) -> Result<usize, Failure> {
    let goes = |line: &str| {
        let time = line.split_whitespace().next();
        time.is_some_and(|time| Timestamp::parse(time).is_none()) || traces.are_named_in(line)
    };
    append_log::redact_lines(disk, &[&former(log), log], act, &goes)
        .map_err(|source| Failure::io("erase lines of", log, source))
}

fn former(log: &Path) -> PathBuf {
    log.with_extension("old.log")
}
