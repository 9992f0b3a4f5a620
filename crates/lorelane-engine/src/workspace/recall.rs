//! From a question to the memories that answer it, as their files say it now.

use super::look::sheet;
use super::{Failure, NEAR_MAX, Workspace};
use crate::index::{Found, Gathered, Index, Said};
use lorelane_core::corpus::Entry;
use lorelane_core::embed::Table;
use lorelane_core::recall::ask::Asked;
use lorelane_core::recall::weigh::{Statistics, Weights};
use lorelane_core::recall::{self, Choice, Considered, Grouping, Hit, Query};

/// A question and the memories that may answer it.
struct Inquiry {
    asked: Asked,
    statistics: Statistics,
    considered: Vec<Considered>,
    /// The digests of their texts, as the index knows them.
    digests: Vec<i64>,
}

impl Inquiry {
    fn chosen(&self, query: &Query, limit: usize, grouping: Grouping) -> Choice {
        let Inquiry { asked, statistics, considered, .. } = self;
        recall::choose(query, asked, statistics, considered, &Weights::default(), grouping, limit)
    }
}

impl Workspace {
    /// The memories that a query asks for, best first, each with its best passage.
    pub fn recall(&mut self, query: &Query, limit: usize) -> Result<Choice, Failure> {
        self.answer(query, limit, Grouping::Memories)
    }

    /// The passages that a query asks for, best first.
    pub fn recall_passages(&mut self, query: &Query, limit: usize) -> Result<Choice, Failure> {
        self.answer(query, limit, Grouping::Passages)
    }

    /// The memories that a long text may be about, best first, as the index has them: whoever shows one reads it
    /// from its file. Nothing is left out for being irrelevant.
    pub(super) fn near(&mut self, query: &Query) -> Result<Vec<Hit>, Failure> {
        Ok(self.inquire(query)?.chosen(query, NEAR_MAX, Grouping::Everything).hits)
    }

    fn answer(&mut self, query: &Query, limit: usize, grouping: Grouping) -> Result<Choice, Failure> {
        let mut inquiry = self.inquire(query)?;
        let chosen = inquiry.chosen(query, limit, grouping);
        // An index may lag behind a file that was edited in place: what is shown is read, and weighed anew if it
        // says something else.
        let differs = self.bring_up_to_date(query, &mut inquiry, &chosen.hits);
        Ok(if differs { inquiry.chosen(query, limit, grouping) } else { chosen })
    }

    fn inquire(&mut self, query: &Query) -> Result<Inquiry, Failure> {
        self.refresh()?;
        let pinned = self.marks().pinned;
        let languages = self.ask(Index::languages)?;
        let asked = Asked::new(&query.text, &languages, &Table::built_in());
        let asked = if asked.is_long() {
            let holding = self.ask(|index| index.roughly_holding(&asked))?;
            asked.rarest(&holding)
        } else {
            asked
        };
        let Gathered { passages, terms, holding, memories } = self.ask(|index| index.gather(&asked, query))?;
        let mut inquiry = Inquiry {
            asked,
            statistics: Statistics { passages, terms, holding },
            considered: Vec::with_capacity(memories.len()),
            digests: Vec::with_capacity(memories.len()),
        };
        for Found { entry, sheet, digest } in memories {
            let pinned = pinned.contains(&entry.address);
            inquiry.considered.push(Considered { entry, sheet, pinned });
            inquiry.digests.push(digest);
        }
        Ok(inquiry)
    }

    /// Reads the files of these hits. Returns whether any says something else than the index, or nothing.
    fn bring_up_to_date(&self, query: &Query, inquiry: &mut Inquiry, hits: &[Hit]) -> bool {
        let mut differs = false;
        for (considered, digest) in inquiry.considered.iter_mut().zip(&inquiry.digests) {
            if !hits.iter().any(|hit| hit.address == considered.entry.address) {
                continue;
            }
            let loaded = self.load(&considered.entry.address).ok();
            let said = loaded.map(|loaded| {
                let entry = Entry::of(&loaded.memory, &loaded.path);
                (entry, Said { memory: Box::new(loaded.memory), text: loaded.text })
            });
            match said.filter(|(entry, _)| query.wants(entry)) {
                Some((_, said)) if said.digest() == *digest => {}
                Some((entry, said)) => {
                    *considered = Considered { entry, sheet: sheet(&self.dialect, &said).to_bytes(), ..considered.clone() };
                    differs = true;
                }
                None => {
                    considered.sheet.clear();
                    differs = true;
                }
            }
        }
        differs
    }
}
