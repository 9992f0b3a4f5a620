//! The rule of reminders: which of the memories found for a prompt are shown.

use super::{Briefing, Composer, DropRule, barred, is_machine, is_relevant};
use crate::corpus::MemorySummary;
use crate::memory::{Address, Memory};
use crate::policy::Policy;
use crate::recall::{self, Hit, Query};
use crate::time::Timestamp;

/// What the rule depends on besides the prompt.
#[derive(Clone, Copy, Debug)]
pub struct ReminderRule<'p> {
    pub policy: &'p Policy,
    pub now: Timestamp,
}

/// A memory as its file is now, with its summary; `None` if it cannot be read.
pub type CurrentMemory = Option<(MemorySummary, Memory)>;

impl ReminderRule<'_> {
    /// Whether reminders are enabled.
    pub fn is_on(&self) -> bool {
        self.policy.retrieval_enabled() && self.policy.max_inject() > 0
    }

    /// Whether this prompt may get reminders.
    pub fn answers(&self, prompt: &str) -> bool {
        self.is_on() && !is_machine(prompt)
    }

    /// An empty briefing.
    pub fn silence(&self) -> Briefing {
        Composer::new(self.policy).finish()
    }

    /// Selects from the hits for a prompt, best first. Reads a file only if its memory could still be shown.
    pub fn select(
        &self,
        query: &Query,
        near: Vec<Hit>,
        read: impl Fn(&Address) -> CurrentMemory,
    ) -> Briefing {
        let mut composer = Composer::new(self.policy);
        for hit in near {
            // By the index first, which costs no file read. The index may be stale, so `judge` checks the file
            // again.
            let dropped = if !mentions(query, &hit.title, &hit.tags) {
                Some(DropRule::Irrelevant)
            } else {
                composer.closed()
            };
            let verdict = match (dropped, hit.not_current) {
                // The rule that holds for every prompt says more than what was wrong with this one.
                (Some(_), Some(rule)) => Err(DropRule::NotCurrent(rule)),
                (dropped, _) => {
                    dropped.map_or(Ok(()), Err).and_then(|()| self.judge(query, read(&hit.address)))
                }
            };
            match verdict {
                Ok(memory) => composer.take(hit, &memory, self.now),
                Err(rule) => composer.drop(hit, rule),
            }
        }
        composer.finish()
    }

    /// The memory if it may be shown for this prompt, else the first rule that drops it.
    pub fn judge(&self, query: &Query, current: CurrentMemory) -> Result<Memory, DropRule> {
        let (entry, memory) = self.may_show(current)?;
        if mentions(query, &entry.title, &entry.tags) { Ok(memory) } else { Err(DropRule::Irrelevant) }
    }

    /// The memory if it may be shown for any prompt. A file that breaks a rule of its category is still shown:
    /// old files with small faults would disappear silently. `doctor` reports the fault.
    pub fn may_show(&self, current: CurrentMemory) -> Result<(MemorySummary, Memory), DropRule> {
        let (entry, memory) = current.ok_or(DropRule::Gone)?;
        match barred(&entry, self.policy, self.now) {
            Some(rule) => Err(rule),
            None => Ok((entry, memory)),
        }
    }
}

/// Whether a prompt mentions a memory with this title and these tags, see [`is_relevant`].
fn mentions(query: &Query, title: &str, tags: &[String]) -> bool {
    is_relevant(&recall::name_parts(query, title, tags))
}
