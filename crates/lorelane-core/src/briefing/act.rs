//! The rule for tool calls: which of the memories that name what a tool touches are shown with it.

use super::{
    CurrentMemory, DateStyle, DropRule, LENGTHS, MAX_CHARS, ReminderRule, SHORT_PREFACE, digest, line_within,
    marked, tokens,
};
use crate::act::{ActEntry, ToolAct, keys_of};
use crate::fence::{Fence, inline};
use crate::memory::Address;
use std::collections::BTreeMap;

/// How many memories are read: a tool waits for each.
const READ_MAX: usize = 8;
const NAMED_MAX: usize = 80;

/// A memory that is shown with a tool call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActReminder {
    pub address: Address,
    /// What it names of the tool call.
    pub names: String,
    pub line: String,
    /// Of what the line shows, see [`digest`].
    pub digest: String,
}

/// What is shown with a tool call, and what did not fit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ActBriefing {
    pub reminders: Vec<ActReminder>,
    pub left_out: Vec<(Address, DropRule)>,
}

impl ActBriefing {
    /// The text for the model; empty without reminders.
    pub fn text(&self) -> String {
        if self.reminders.is_empty() {
            return String::new();
        }
        let lines: Vec<&str> = self.reminders.iter().map(|reminder| reminder.line.as_str()).collect();
        Fence::Memory.around(&format!("{SHORT_PREFACE}\n{}", lines.join("\n")))
    }
}

impl ReminderRule<'_> {
    /// Whether tool calls get reminders.
    pub fn answers_tools(&self) -> bool {
        self.policy.retrieval_enabled() && self.policy.act_max_tokens() > 0
    }

    /// Selects from the lines of the map that a tool call touches. `shown` has the digests of what tool calls of
    /// this session brought already.
    pub fn select_for_act(
        &self,
        act: &ToolAct,
        entries: Vec<ActEntry>,
        shown: &BTreeMap<Address, String>,
        read: impl Fn(&Address) -> CurrentMemory,
    ) -> ActBriefing {
        let mut briefing = ActBriefing::default();
        let frame = Fence::Memory.around(SHORT_PREFACE);
        let mut tokens_left = self.policy.act_max_tokens().saturating_sub(tokens(&frame));
        let mut chars_left = MAX_CHARS.saturating_sub(frame.chars().count());
        let mut addresses: Vec<(bool, u8, Address)> = entries
            .into_iter()
            .map(|entry| (shown.contains_key(&entry.address), entry.rank, entry.address))
            .collect();
        // What was shown comes last: it is read only to see whether it changed.
        addresses.sort_unstable();
        addresses.dedup_by(|a, b| a.2 == b.2);
        for (_, _, address) in addresses.into_iter().take(READ_MAX) {
            // The map may be stale: the file decides whether the memory may be shown and what it names.
            let Ok(fresh) = self.may_show(read(&address)) else { continue };
            let (memory, mark) = (&fresh.memory, fresh.mark());
            let Some(key) = keys_of(memory).into_iter().find(|key| act.touches(key)) else { continue };
            let digest = digest(memory);
            if shown.get(&address) == Some(&digest) {
                continue;
            }
            let names = key.shown();
            let lengths = LENGTHS.iter().take(if briefing.reminders.is_empty() { LENGTHS.len() } else { 2 });
            let lines = lengths.map(|(title, gist)| {
                let line = line_within(memory, DateStyle::Age(self.now), *title, *gist);
                let line = marked(line, mark.as_deref());
                format!("{line} (names {})", inline(&names, NAMED_MAX))
            });
            // With the line break, which is a token at most.
            let mut costs = lines.map(|line| (tokens(&line) + 1, line.chars().count() + 1, line));
            match costs.find(|(cost, length, _)| *cost <= tokens_left && *length <= chars_left) {
                Some((cost, length, line)) => {
                    tokens_left -= cost;
                    chars_left -= length;
                    briefing.reminders.push(ActReminder { address, names, line, digest });
                }
                None => briefing.left_out.push((address, DropRule::ActBudget)),
            }
        }
        briefing
    }
}
