//! `memory_write_guard`: blocks tools that would write to the memory folder directly.

use super::ScriptOutput;
use super::payload::ScriptPayload;
use crate::view::HookReply;
use lorelane_core::json::{JsonFormat, to_string};
use lorelane_engine::env::Env;
use lorelane_engine::workspace::guard_by_name;

const REASON: &str = "Direct writes to the memory directory are blocked. Use memory_write.py via Bash instead: python3 $CLAUDE_PLUGIN_ROOT/hooks/scripts/memory_write.py --action <create|update|delete> ...";

pub(super) fn run(env: &Env) -> ScriptOutput {
    let Some(payload) = ScriptPayload::read(env) else { return ScriptOutput::default() };
    // By name: the script blocks `.claude/memory` also where no store exists.
    let is_denied = payload.uses.iter().any(|tool| guard_by_name(env, &payload.folder, tool).is_some());
    if !is_denied {
        return ScriptOutput::default();
    }
    // The scripts left out the event's name, and clients ignored the denial.
    let reply = HookReply::deny(REASON.to_owned()).specific(Some("PreToolUse"));
    ScriptOutput { out: to_string(&reply, JsonFormat::SCRIPT_LINE), ..ScriptOutput::default() }
}
