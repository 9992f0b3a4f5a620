//! From a prompt to reminders, and from a store to its standing context.

use super::{Failure, Workspace};
use crate::index::Wanted;
use crate::ledger::Ledger;
use lorelane_core::briefing::{self, Briefing, Composer, Rule, Standing, Waiting};
use lorelane_core::corpus::Entry;
use lorelane_core::ledger::Line;
use lorelane_core::lifecycle::Status;
use lorelane_core::memory::{Address, Category, Memory};
use lorelane_core::recall::{self, Hit, Query};
use lorelane_core::text::holds_word;
use std::sync::Arc;

/// So many of one kind are read for the standing context; its budget holds far fewer.
const STANDING_MAX: usize = 40;

/// What became of a memory at a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    Shown,
    Dropped(Rule),
    /// It would be shown today: it was made or changed since.
    WouldShow,
}

/// Why a memory was shown or not: at a prompt that the ledger remembers, or as things are now.
#[derive(Clone, Debug)]
pub struct Account {
    /// The prompt that is spoken of; `None` when none is known.
    pub line: Option<Line>,
    pub hit: Option<Hit>,
    pub fate: Fate,
}

impl Workspace {
    /// The reminders for a prompt: relevant, allowed, and standing in their files now.
    pub fn brief(&mut self, prompt: &str) -> Result<Briefing, Failure> {
        let mut composer = Composer::new(&self.policy);
        if !self.policy.retrieval_enabled() || composer.is_full() || briefing::is_machine(prompt) {
            return Ok(composer.finish());
        }
        let query = Query::new(prompt, self.now);
        for hit in self.near(&query)? {
            if !briefing::is_relevant(&hit) {
                composer.drop(hit, Rule::Irrelevant);
            } else if let Some(rule) = composer.closed() {
                composer.drop(hit, rule);
            } else {
                match self.judge(&query, &hit.address) {
                    Ok((hit, memory)) => composer.take(hit, &memory, self.now),
                    Err(rule) => composer.drop(hit, rule),
                }
            }
        }
        Ok(composer.finish())
    }

    /// A memory as its file says it now, if a prompt may show it; else the first rule that forbids it.
    fn judge(&self, query: &Query, address: &Address) -> Result<(Hit, Memory), Rule> {
        let loaded = self.load(address).map_err(|_| Rule::Gone)?;
        let entry = Entry::of(&loaded.memory, &loaded.path);
        if let Some(rule) = briefing::barred(&entry, &self.policy, self.now) {
            return Err(rule);
        }
        let hit = recall::rank(query, std::iter::once(&entry)).pop().ok_or(Rule::Unasked)?;
        if briefing::is_relevant(&hit) { Ok((hit, loaded.memory)) } else { Err(Rule::Irrelevant) }
    }

    /// What every session of this project starts with.
    pub fn standing(&mut self) -> Result<Standing, Failure> {
        self.refresh()?;
        let pinned = self.marks().pinned;
        let pinned = pinned.iter().filter_map(|address| self.showable(address)).collect();
        let mut sessions = self.active(Category::SessionSummary, false)?;
        sessions.sort_by(|a, b| b.created.cmp(&a.created).then_with(|| a.address.cmp(&b.address)));
        Ok(Standing {
            pinned,
            last_session: sessions.first().and_then(|session| self.showable(&session.address)),
            preferences: self.always(Category::Preference, "strong")?,
            constraints: self.always(Category::Constraint, "high")?,
            waiting: self.captures().pending().iter().map(Waiting::of).collect(),
        })
    }

    fn active(&mut self, category: Category, prose: bool) -> Result<Vec<Entry>, Failure> {
        let wanted = Wanted { category: Some(category), status: Some(Status::Active), prose };
        self.ask(|index| index.entries(wanted))
    }

    /// The memories of a category that stand in every session, newest first. Only those are read whose text has
    /// the word that makes them so.
    fn always(&mut self, category: Category, word: &str) -> Result<Vec<Memory>, Failure> {
        let mut entries = self.active(category, true)?;
        entries.retain(|entry| holds_word(&entry.prose, word));
        entries.sort_by(|a, b| b.updated.cmp(&a.updated).then_with(|| a.address.cmp(&b.address)));
        let memories = entries.iter().filter_map(|entry| self.showable(&entry.address));
        Ok(memories.filter(Standing::holds_always).take(STANDING_MAX).collect())
    }

    fn showable(&self, address: &Address) -> Option<Memory> {
        let loaded = self.load(address).ok()?;
        let entry = Entry::of(&loaded.memory, &loaded.path);
        briefing::barred(&entry, &self.policy, self.now).is_none().then_some(loaded.memory)
    }

    /// What was put into the prompts of this project.
    pub fn ledger(&self) -> Ledger {
        Ledger::new(Arc::clone(&self.disk), self.state.clone())
    }

    /// Why a memory was shown, or the first rule that dropped it, at the last prompt that the ledger knows.
    pub fn why(&mut self, address: &Address) -> Result<Account, Failure> {
        let lines = self.ledger().lines();
        let line = lines.iter().find(|line| line.speaks_of(address)).or(lines.first()).cloned();
        let Some(line) = line else {
            let barred = self.judge(&Query::new("", self.now), address);
            let fate = Fate::Dropped(barred.err().unwrap_or(Rule::Unasked));
            return Ok(Account { line: None, hit: None, fate });
        };
        if line.speaks_of(address) {
            let left = line.left_out.iter().find(|left| left.address == *address);
            let fate = left.map_or(Fate::Shown, |left| Fate::Dropped(left.rule));
            return Ok(Account { line: Some(line), hit: None, fate });
        }
        // The ledger keeps only what came near: the prompt is asked again, with the store as it is now.
        let query = Query::new(&line.query, self.now);
        let (hit, fate) = match self.judge(&query, address) {
            Ok((hit, _)) => (Some(hit), Fate::WouldShow),
            Err(rule) => (None, Fate::Dropped(rule)),
        };
        Ok(Account { line: Some(line), hit, fate })
    }
}
