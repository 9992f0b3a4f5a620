//! `memory_write_guard`: denies what would write to the folder of memories by hand.

use super::Said;
use super::payload::Payload;
use crate::view::HookReply;
use lorelane_core::json::{Format, to_string};
use lorelane_engine::env::Env;
use lorelane_engine::workspace::guard_by_name;

const REASON: &str = "Direct writes to the memory directory are blocked. Use memory_write.py via Bash instead: python3 $CLAUDE_PLUGIN_ROOT/hooks/scripts/memory_write.py --action <create|update|delete> ...";

pub(super) fn run(env: &Env) -> Said {
    let Some(payload) = Payload::read(env) else { return Said::default() };
    let is_denied = payload.uses.iter().any(|tool| guard_by_name(env, &payload.folder, tool).is_some());
    if !is_denied {
        return Said::default();
    }
    // The scripts left the event's name out, and clients took no notice of the denial.
    let reply = HookReply::deny(REASON.to_owned()).specific(Some("PreToolUse"));
    Said { out: to_string(&reply, Format::SCRIPT_LINE), ..Said::default() }
}
