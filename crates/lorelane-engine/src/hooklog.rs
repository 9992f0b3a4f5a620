//! The log of hooks: one line for each that could not do its work.

use crate::disk::{Disk, RealDisk};
use crate::env::Env;
use lorelane_core::secret;
use lorelane_core::text::{cut, one_line};
use std::path::PathBuf;

const LOG_MAX_BYTES: u64 = 1 << 20;

/// The file in the user's state folder.
pub const HOOK_LOG: &str = "hooks.log";

fn path(env: &Env) -> Option<PathBuf> {
    Some(env.folders()?.state.join(HOOK_LOG))
}

/// Says what went wrong. A log that cannot be written is no reason to disturb anybody.
pub fn write(env: &Env, hook: &str, what: &str) {
    let Some(path) = path(env) else { return };
    let line = format!("{} {hook}: {}\n", env.now, cut(&one_line(&secret::masked(what)), 500));
    if let Some(folder) = path.parent() {
        let _ = RealDisk.create_private_dir_all(folder);
    }
    if matches!(RealDisk.stat(&path), Ok(Some(stat)) if stat.len > LOG_MAX_BYTES) {
        let _ = RealDisk.rename(&path, &path.with_extension("old.log"));
    }
    let _ = RealDisk.append(&path, line.as_bytes());
}
