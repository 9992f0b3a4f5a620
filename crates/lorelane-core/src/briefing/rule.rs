//! The rule of reminders: which of the memories found for a prompt are shown.

use super::{Briefing, Composer, DropRule, barred, digest, is_machine, is_relevant};
use crate::audit::{BrokenMemory, WithholdRule};
use crate::corpus::MemorySummary;
use crate::memory::{Address, Memory};
use crate::policy::{MatchStrategy, Policy};
use crate::recall::{self, Hit, Query};
use crate::time::Timestamp;
use std::collections::BTreeMap;

/// More memories at once are almost never all useful.
const SHOWN_MAX: usize = 3;
/// After the first memory, another one must be at least this relevant. The best memory is worth a doubt; a second
/// doubtful one is mostly the same match again. On the development set this gains six points of precision and loses
/// none of the hits.
const FURTHER_MIN: f32 = 0.55;

/// What the rule depends on besides the prompt.
#[derive(Clone, Copy, Debug)]
pub struct ReminderRule<'p> {
    pub policy: &'p Policy,
    pub now: Timestamp,
}

/// A memory as its file is now.
#[derive(Clone, Debug)]
pub struct FreshMemory {
    pub entry: MemorySummary,
    pub memory: Memory,
    /// Its claims that the repository no longer confirms.
    pub broken: Option<BrokenMemory>,
}

impl FreshMemory {
    /// What its reminder says of broken claims.
    pub fn mark(&self) -> Option<String> {
        self.broken.as_ref().and_then(BrokenMemory::mark)
    }
}

/// A memory as its file is now; `None` if it cannot be read.
pub type CurrentMemory = Option<FreshMemory>;

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
        self.composer().finish()
    }

    fn composer(&self) -> Composer {
        let composer = Composer::new(self.policy);
        match self.policy.match_strategy() {
            MatchStrategy::Recall => composer.at_most(SHOWN_MAX),
            MatchStrategy::Keyword => composer,
        }
    }

    /// Selects from the hits for a prompt, best first. Reads a file only if its memory could still be shown.
    /// `already` is what the session was shown, with the digests of it.
    pub fn select(
        &self,
        query: &Query,
        near: Vec<Hit>,
        already: &BTreeMap<Address, String>,
        read: impl Fn(&Address) -> CurrentMemory,
    ) -> Briefing {
        let mut composer = self.composer();
        let mut is_first = true;
        for hit in near {
            // By the index first, which costs no file read.
            let relevant = self.is_relevant(query, &hit, is_first);
            let verdict =
                match (relevant.and_then(|()| composer.closed().map_or(Ok(()), Err)), hit.not_current) {
                    // The rule that holds for every prompt says more than what was wrong with this one.
                    (Err(_), Some(rule)) => Err(DropRule::NotCurrent(rule)),
                    (Err(rule), None) => Err(rule),
                    (Ok(()), _) => self.judge(query, &hit, read(&hit.address)),
                };
            match verdict {
                Ok(fresh)
                    if already.get(&hit.address).is_some_and(|known| *known == digest(&fresh.memory)) =>
                {
                    is_first = false;
                    composer.drop(hit, DropRule::Repeated);
                }
                Ok(fresh) => {
                    is_first = false;
                    composer.take_marked(hit, &fresh.memory, fresh.mark().as_deref(), self.now);
                }
                Err(rule) => composer.drop(hit, rule),
            }
        }
        composer.finish()
    }

    /// Whether a hit is relevant enough, by the index. A hit without an estimate is from the scoring of the
    /// `claude-memory` scripts, which has its own rule.
    fn is_relevant(&self, query: &Query, hit: &Hit, is_first: bool) -> Result<(), DropRule> {
        let least = self.policy.min_relevance();
        match &hit.relevance {
            Some(relevance) if relevance.chance < least => Err(DropRule::Unlikely),
            Some(relevance) if !is_first && relevance.chance < FURTHER_MIN => Err(DropRule::Further),
            Some(_) => Ok(()),
            None if mentions(query, &hit.title, &hit.tags) => Ok(()),
            None => Err(DropRule::Irrelevant),
        }
    }

    /// The memory if it may be shown for this prompt, else the first rule that drops it. The index may be older
    /// than the file.
    fn judge(&self, query: &Query, hit: &Hit, current: CurrentMemory) -> Result<FreshMemory, DropRule> {
        let fresh = self.may_show(current)?;
        if hit.relevance.is_some() || mentions(query, &fresh.entry.title, &fresh.entry.tags) {
            Ok(fresh)
        } else {
            Err(DropRule::Irrelevant)
        }
    }

    /// The memory if it may be shown for any prompt. A file that breaks a rule of its category is still shown:
    /// old files with small faults would disappear silently. `doctor` reports the fault.
    pub fn may_show(&self, current: CurrentMemory) -> Result<FreshMemory, DropRule> {
        let fresh = current.ok_or(DropRule::Gone)?;
        if let Some(rule) = barred(&fresh.entry, self.policy, self.now) {
            return Err(rule);
        }
        match fresh.broken.as_ref().and_then(BrokenMemory::withheld) {
            Some((WithholdRule::InInstruction, _)) => Err(DropRule::BrokenInstruction),
            Some((WithholdRule::Mostly, _)) => Err(DropRule::MostlyBroken),
            None => Ok(fresh),
        }
    }
}

/// Whether a prompt mentions a memory with this title and these tags, see [`is_relevant`].
fn mentions(query: &Query, title: &str, tags: &[String]) -> bool {
    is_relevant(&recall::name_parts(query, title, tags))
}
