//! `memory_validate_hook`: examines what got into the folder of memories past the guard.

use super::Said;
use super::payload::Payload;
use crate::view::HookReply;
use lorelane_core::guard::ToolUse;
use lorelane_core::json::{Format, to_string};
use lorelane_engine::env::Env;
use lorelane_engine::workspace::{Examined, Failure, Workspace, guard_by_name};
use std::path::Path;

pub(super) fn run(env: &Env) -> Said {
    let mut said = Said::default();
    let Some(payload) = Payload::read(env) else { return said };
    let mut reasons = Vec::new();
    // What the guard has nothing to say about needs no workspace.
    for tool in payload.uses.iter().filter(|tool| guard_by_name(env, &payload.folder, tool).is_some()) {
        let examined = match tool {
            ToolUse::Write { path } => {
                let path = payload.folder.join(path);
                said.warn(&format!(
                    "WARNING: Write to memory file bypassed PreToolUse guard: {}",
                    path.display()
                ));
                examine(env, &path).map(|examined| vec![examined])
            }
            ToolUse::Shell { .. } => Workspace::open(env, &payload.folder)
                .and_then(|mut workspace| workspace.external_writes().examine_lane()),
            ToolUse::Other => continue,
        };
        match examined {
            Ok(examined) => {
                examined
                    .iter()
                    .for_each(|examined| report(examined, &payload, tool, &mut said, &mut reasons));
            }
            // The tool has run: an agent is not held up because we cannot look.
            Err(failure) => said.warn(&format!("WARNING: {failure}")),
        }
    }
    if !reasons.is_empty() {
        // The scripts answered with a permission, which nobody asks for after the tool has run.
        said.out = to_string(&HookReply::decide("block", reasons.join(" ")), Format::SCRIPT_LINE);
    }
    said
}

/// The store is that of the file, wherever the tool ran.
fn examine(env: &Env, path: &Path) -> Result<Examined, Failure> {
    let folder = path.ancestors().skip(1).find(|folder| folder.is_dir()).unwrap_or(Path::new("/"));
    Workspace::open(env, folder)?.external_writes().examine(path)
}

fn report(
    examined: &Examined,
    payload: &Payload,
    tool: &ToolUse,
    said: &mut Said,
    reasons: &mut Vec<String>,
) {
    match examined {
        Examined::Outside | Examined::Config | Examined::LeftToGit { .. } => {}
        Examined::Fine { address } => {
            let written = match tool {
                ToolUse::Write { path } => payload.folder.join(path).display().to_string(),
                _ => address.to_string(),
            };
            said.warn(&format!(
                "WARNING: File is valid but was written directly (bypassed guard): {written}"
            ));
        }
        Examined::Removed { .. } => reasons.extend(examined.objection()),
        Examined::Foreign { name } => reasons.push(format!(
            "Direct write to non-JSON memory file blocked: {name}. Use memory_write.py instead."
        )),
        Examined::Quarantined { to, why, .. } => {
            let reason = format!(
                "Schema validation failed: {why}. File quarantined to {}. Use memory_write.py instead.",
                to.file_name()
            );
            said.warn(&format!("ERROR: {reason}"));
            reasons.push(reason);
        }
    }
}
