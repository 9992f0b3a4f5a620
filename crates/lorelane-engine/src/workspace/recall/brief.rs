//! Reminders for a prompt, and the standing context that every session starts with.

use crate::setup::is_trial;
use crate::workspace::auto_memory::ClientContext;
use crate::workspace::{Failure, Workspace};
use lorelane_core::audit::CheckedClaim;
use lorelane_core::briefing::{
    Briefing, CurrentMemory, DropRule, FreshMemory, ReminderRule, StandingContext,
};
use lorelane_core::corpus::MemorySummary;
use lorelane_core::ledger::{LedgerEvent, LedgerLine, still_in_context};
use lorelane_core::memory::{Address, Category, Memory};
use lorelane_core::policy::MatchStrategy;
use lorelane_core::recall::{self, Hit, Query};
use std::collections::BTreeMap;

/// Memories per section of the standing context; its token budget holds far fewer.
const STANDING_MAX: usize = 40;
/// Memories with the word (`strong`, `high`) in their text that are read: it may be there in another sense.
const READ_MAX: usize = 200;
/// Pins that are tried: a repository may contain any number of pins of memories that do not exist.
const PINNED_MAX: usize = 1_000;
/// Memories whose title or tags match, that are scored as the `claude-memory` scripts do.
const KEYWORD_MAX: usize = 48;

/// Reminders from a borrowed workspace.
#[derive(Debug)]
pub struct Reminders<'w> {
    pub(in crate::workspace) workspace: &'w mut Workspace,
    /// What the client has loaded by itself.
    context: ClientContext,
}

impl Workspace {
    pub fn reminders(&mut self) -> Reminders<'_> {
        Reminders { workspace: self, context: ClientContext::default() }
    }
}

/// What happened to a memory at a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReminderOutcome {
    Shown,
    Dropped(DropRule),
    /// It would be shown now: it was created or changed since.
    WouldShow,
}

/// Why a memory was shown or not: at a prompt in the ledger, or with the store as it is now.
#[derive(Clone, Debug)]
pub struct WhyReport {
    /// The ledger line of that prompt; `None` if the ledger has none.
    pub line: Option<LedgerLine>,
    pub hit: Option<Hit>,
    pub outcome: ReminderOutcome,
    /// The rule that would drop it now, although it was shown then.
    pub since: Option<DropRule>,
    /// The memory that superseded it, if it does not hold any more.
    pub superseded_by: Option<Address>,
    /// Its claims that the repository no longer confirms, the weightiest first.
    pub broken: Vec<CheckedClaim>,
}

impl Reminders<'_> {
    /// Reminders for this client: what it loads by itself is left out.
    pub fn for_client(mut self, client: &str) -> Self {
        self.context = ClientContext::of(&*self.workspace.disk, self.workspace.auto.as_ref(), client);
        self
    }

    /// The memories to inject into a prompt: relevant, allowed, new to the session, and read from their files now.
    pub fn brief(&mut self, prompt: &str, session: &str) -> Result<Briefing, Failure> {
        let already = still_in_context(&self.workspace.ledger().lines_of(session));
        self.selected(prompt, &already)
    }

    fn selected(&mut self, prompt: &str, already: &BTreeMap<Address, String>) -> Result<Briefing, Failure> {
        if !self.rule().answers(prompt) {
            return Ok(self.rule().silence());
        }
        let query = Query::of_person(prompt, self.workspace.now);
        let near = self.near_prompt(&query)?;
        let (loaded, near): (Vec<Hit>, Vec<Hit>) =
            near.into_iter().partition(|hit| self.context.has_hit(hit));
        let mut briefing = self.rule().select(&query, near, already, |address| self.current(address));
        briefing.left_out.extend(loaded.into_iter().map(|hit| (hit, DropRule::Loaded)));
        Ok(briefing)
    }

    fn rule(&self) -> ReminderRule<'_> {
        ReminderRule { policy: &self.workspace.policy, now: self.workspace.now }
    }

    fn current(&self, address: &Address) -> CurrentMemory {
        let loaded = self.workspace.load(address).ok()?;
        let broken = self.workspace.broken_claims().of(address, &loaded.revision);
        let entry = MemorySummary::of(&loaded.memory, &loaded.path);
        Some(FreshMemory { entry, memory: loaded.memory, broken })
    }

    /// The candidates for a prompt, best first: from recall, or with the scoring of the `claude-memory` scripts.
    fn near_prompt(&mut self, query: &Query) -> Result<Vec<Hit>, Failure> {
        match self.workspace.policy.match_strategy() {
            MatchStrategy::Recall => {
                let least = self.workspace.policy.min_relevance();
                self.workspace.recall().near(query, least)
            }
            MatchStrategy::Keyword => {
                self.workspace.refresh()?;
                let named = self.workspace.lanes.records_mut().with_index(|index| {
                    index.with_named(query, KEYWORD_MAX, |named| {
                        named.map(|(_, entry)| entry).collect::<Vec<_>>()
                    })
                })?;
                let describe =
                    |category: Category| self.workspace.policy.description(category).map(str::to_owned);
                Ok(recall::keyword(query, &named, &describe))
            }
        }
    }

    /// What every session of this project starts with.
    pub fn standing(&mut self) -> Result<StandingContext, Failure> {
        self.workspace.refresh()?;
        let pinned = self.workspace.recent_marks().pinned;
        let pinned = pinned.iter().take(PINNED_MAX).filter(|address| !self.context.has(address));
        let pinned = pinned.filter_map(|address| self.showable(address)).collect();
        let last_session = self
            .workspace
            .lanes
            .records_mut()
            .with_index(|index| index.last_made(Category::SessionSummary))?;
        Ok(StandingContext {
            pinned,
            last_session: last_session.and_then(|session| self.showable(&session.address)),
            preferences: self.always(Category::Preference, "strong")?,
            constraints: self.always(Category::Constraint, "high")?,
            waiting: 0,
            hint: false,
        })
    }

    /// The memories of a category that every session is shown, newest first. Only files whose text has the
    /// word that makes them so are read.
    fn always(&mut self, category: Category, word: &str) -> Result<Vec<Memory>, Failure> {
        let entries = self
            .workspace
            .lanes
            .records_mut()
            .with_index(|index| index.newest_having(word, category, READ_MAX))?;
        let memories = entries.iter().filter_map(|entry| self.showable(&entry.address));
        Ok(memories.filter(StandingContext::holds_always).take(STANDING_MAX).collect())
    }

    fn showable(&self, address: &Address) -> Option<Memory> {
        self.rule().may_show(self.current(address)).ok().map(|fresh| fresh.memory)
    }

    /// Appends a line to the ledger. A prompt gets one even if nothing was injected, so that `why` can explain it.
    pub fn account(&self, line: &LedgerLine) -> Result<(), Failure> {
        // A latency check of `doctor` is not a session: its prompts would show up in `why`.
        if is_trial(&line.session) { Ok(()) } else { self.workspace.ledger().append(line) }
    }

    /// Why a memory was shown, or the first rule that dropped it, at the last prompt in the ledger that has it.
    pub fn why(&mut self, address: &Address) -> Result<WhyReport, Failure> {
        let superseded_by = self.workspace.files().successor(address);
        let broken = self.broken(address);
        let mut lines = self.workspace.ledger().lines();
        if let Some(known) = lines.iter().position(|line| line.mentions(address)) {
            let line = lines.swap_remove(known);
            let left = line.left_out.iter().find(|left| left.address == *address);
            let fate = left.map_or(ReminderOutcome::Shown, |left| ReminderOutcome::Dropped(left.rule));
            let since =
                self.rule().may_show(self.current(address)).err().filter(|_| fate == ReminderOutcome::Shown);
            return Ok(WhyReport {
                line: Some(line),
                hit: None,
                outcome: fate,
                since,
                superseded_by,
                broken,
            });
        }
        // A session start has no query: only a prompt can be asked again.
        let line = lines.into_iter().find(|line| line.event == LedgerEvent::Prompt);
        let prompt = line.as_ref().map_or("", |line| line.query.as_str());
        let (hit, fate) = self.asked_again(prompt, address)?;
        Ok(WhyReport { line, hit, outcome: fate, since: None, superseded_by, broken })
    }

    fn broken(&self, address: &Address) -> Vec<CheckedClaim> {
        let broken = self.current(address).and_then(|fresh| fresh.broken);
        let mut claims = broken.map(|broken| broken.claims).unwrap_or_default();
        claims.sort_by_key(|claim| std::cmp::Reverse(claim.place));
        claims
    }

    /// Runs a prompt again with the current store and settings: the ledger has only its candidates.
    fn asked_again(
        &mut self,
        prompt: &str,
        address: &Address,
    ) -> Result<(Option<Hit>, ReminderOutcome), Failure> {
        if !self.rule().is_on() {
            return Ok((None, ReminderOutcome::Dropped(DropRule::Off)));
        }
        let Briefing { reminders, left_out, .. } = self.selected(prompt, &BTreeMap::new())?;
        if let Some(reminder) = reminders.into_iter().find(|reminder| reminder.hit.address == *address) {
            return Ok((Some(reminder.hit), ReminderOutcome::WouldShow));
        }
        if let Some((hit, rule)) = left_out.into_iter().find(|(hit, _)| hit.address == *address) {
            return Ok((Some(hit), ReminderOutcome::Dropped(rule)));
        }
        // It is not even a candidate.
        let not_found = match self.workspace.policy.match_strategy() {
            MatchStrategy::Recall => DropRule::Unasked,
            MatchStrategy::Keyword => DropRule::Irrelevant,
        };
        Ok(match self.rule().may_show(self.current(address)) {
            Ok(_) => (None, ReminderOutcome::Dropped(not_found)),
            Err(rule) => (None, ReminderOutcome::Dropped(rule)),
        })
    }
}
