//! `memory_validate_hook`: audits files that got into the memory folder past the guard.

use super::payload::ScriptPayload;
use super::{ScriptOutput, script_wording};
use crate::view::HookReply;
use lorelane_core::guard::ToolUse;
use lorelane_core::json::{JsonFormat, to_string};
use lorelane_engine::env::Env;
use lorelane_engine::workspace::{AuditResult, Failure, Workspace, guard_by_name};
use std::path::Path;

pub(super) fn run(env: &Env) -> ScriptOutput {
    let mut said = ScriptOutput::default();
    let Some(payload) = ScriptPayload::read(env) else { return said };
    let mut reasons = Vec::new();
    // A tool that the guard would allow needs no workspace.
    for tool in payload.uses.iter().filter(|tool| guard_by_name(env, &payload.folder, tool).is_some()) {
        let examined = match tool {
            ToolUse::Write { path } => {
                let path = payload.folder.join(path);
                said.warn(&format!(
                    "WARNING: Write to memory file bypassed PreToolUse guard: {}",
                    path.display()
                ));
                validate_file(env, &path).map(|examined| vec![examined])
            }
            ToolUse::Shell { .. } => Workspace::open(env, &payload.folder)
                .and_then(|mut workspace| workspace.external_writes().audit()),
            ToolUse::Other => continue,
        };
        match examined {
            Ok(examined) => {
                examined
                    .iter()
                    .for_each(|examined| report(examined, &payload, tool, &mut said, &mut reasons));
            }
            // The tool has run: a failed audit must not block the agent.
            Err(failure) => said.warn(&format!("WARNING: {failure}")),
        }
    }
    if !reasons.is_empty() {
        // The scripts answered with a permission decision, which clients ignore after the tool has run.
        said.out = to_string(&HookReply::decide("block", reasons.join(" ")), JsonFormat::SCRIPT_LINE);
    }
    said
}

/// Opens the store of the file, wherever the tool ran.
fn validate_file(env: &Env, path: &Path) -> Result<AuditResult, Failure> {
    let folder = path.ancestors().skip(1).find(|folder| folder.is_dir()).unwrap_or(Path::new("/"));
    Workspace::open(env, folder)?.external_writes().audit_file(path)
}

fn report(
    examined: &AuditResult,
    payload: &ScriptPayload,
    tool: &ToolUse,
    said: &mut ScriptOutput,
    reasons: &mut Vec<String>,
) {
    match examined {
        AuditResult::Outside | AuditResult::Config | AuditResult::LeftToGit { .. } => {}
        AuditResult::Fine { address } => {
            let written = match tool {
                ToolUse::Write { path } => payload.folder.join(path).display().to_string(),
                _ => address.to_string(),
            };
            said.warn(&format!(
                "WARNING: File is valid but was written directly (bypassed guard): {written}"
            ));
        }
        AuditResult::Removed { .. } => reasons.extend(examined.objection()),
        AuditResult::Foreign { name } => reasons.push(format!(
            "Direct write to non-JSON memory file blocked: {name}. Use memory_write.py instead."
        )),
        AuditResult::Quarantined { to, why, .. } => {
            let reason = format!(
                "Schema validation failed: {}. File quarantined to {}. Use memory_write.py instead.",
                script_wording(why),
                to.file_name()
            );
            said.warn(&format!("ERROR: {reason}"));
            reasons.push(reason);
        }
    }
}
