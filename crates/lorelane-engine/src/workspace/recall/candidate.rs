//! Finds the existing memory that new information belongs to.

use crate::workspace::Failure;
use crate::workspace::recall::Recall;
use lorelane_core::candidate::{self, UpdateCandidate, Verdict};
use lorelane_core::corpus::MemorySummary;
use lorelane_core::memory::Category;
use lorelane_core::recall::{Hit, Query, candidate_if};

impl Recall<'_> {
    /// Whether new information belongs to a memory of this category, and which actions are allowed on it.
    /// Titles and tags are compared first; then the text, for a memory that says the same under another name.
    pub fn candidate(
        &mut self,
        category: Category,
        new_info: &str,
        lifecycle_event: Option<&str>,
    ) -> Result<Verdict, Failure> {
        let mut query = Query::new(new_info, self.workspace.now);
        query.categories = vec![category];
        // What is saved into a memory that is not current would never be shown.
        let is_about = |hit: &Hit| hit.not_current.is_none() && candidate::is_about(&hit.explain, &hit.title);
        let found = match self.best_named(&query, is_about)? {
            Some(named) => Some(named),
            None => self.same_subject(&query)?,
        };
        Ok(self.verdict(category, found, lifecycle_event))
    }

    /// Like [`Recall::candidate`], by titles and tags only, as in the `claude-memory` scripts.
    pub fn candidate_by_name(
        &mut self,
        category: Category,
        new_info: &str,
        lifecycle_event: Option<&str>,
    ) -> Result<Verdict, Failure> {
        let mut query = Query::new(new_info, self.workspace.now);
        query.categories = vec![category];
        let found = self.best_named(&query, |_| true)?;
        Ok(self.verdict(category, found, lifecycle_event))
    }

    fn best_named(&mut self, query: &Query, passes: fn(&Hit) -> bool) -> Result<Option<Hit>, Failure> {
        self.workspace.lanes.records_mut().refresh()?;
        let mut found = self.nearest(query, passes)?;
        if found.as_ref().is_some_and(|hit| !self.stands(query, hit, passes)) {
            // The index lags behind a file that was edited in place: scan every file and ask again.
            self.workspace.lanes.records_mut().scan()?;
            found = self.nearest(query, passes)?;
        }
        Ok(found)
    }

    fn verdict(&self, category: Category, found: Option<Hit>, lifecycle_event: Option<&str>) -> Verdict {
        let candidate = found.and_then(|hit| {
            let loaded = self.workspace.load(&hit.address).ok()?;
            Some(UpdateCandidate {
                path: self.workspace.listed_path(&hit.address),
                memory: loaded.memory,
                score: hit.score,
            })
        });
        candidate::decide(category, candidate, lifecycle_event)
    }

    fn nearest(&mut self, query: &Query, passes: fn(&Hit) -> bool) -> Result<Option<Hit>, Failure> {
        self.workspace.lanes.records_mut().with_index(|index| {
            index.with_named(query, usize::MAX, |reaching| candidate_if(query, reaching, passes))
        })
    }

    /// Whether the file of a hit still gives the same hit.
    fn stands(&self, query: &Query, hit: &Hit, passes: fn(&Hit) -> bool) -> bool {
        self.workspace.load(&hit.address).is_ok_and(|loaded| {
            let entry = MemorySummary::of(&loaded.memory, &loaded.path);
            candidate_if(query, std::iter::once((i32::MAX, &entry)), passes).as_ref() == Some(hit)
        })
    }
}
