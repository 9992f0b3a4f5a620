//! What a session has in context, and why.

use super::WorkingSet;
use super::summarize::StaleSummary;
use crate::workspace::Failure;
use lorelane_core::working_set::{
    AdviceDecision, AdviceWeights, FileState, HOTNESS_PRIOR, HotnessFactors, SUMMARIZE_LINES, SetEntry,
    TokenBudget, advice_weight, decide,
};

/// One file of the set.
#[derive(Clone, Debug)]
pub struct SetFileStatus {
    pub path: String,
    pub entry: SetEntry,
    pub file: FileState,
    /// `None` if it cannot be read.
    pub tokens: Option<u64>,
    pub lines: Option<u32>,
    pub problem: Option<String>,
    /// Its priority after advice.
    pub priority: f64,
    pub factors: HotnessFactors,
    pub is_protected: bool,
    pub decision: Option<AdviceDecision>,
    /// Whether its summary was made from other bytes.
    pub is_summary_stale: bool,
}

impl SetFileStatus {
    /// Its hotness; a file that no turn has seen has the prior.
    pub fn hotness(&self, turn: u32) -> f64 {
        if turn == 0 { HOTNESS_PRIOR } else { self.factors.hotness() }
    }

    /// Whether it is so long that a summary is offered.
    pub fn wants_summary(&self) -> bool {
        self.file.summary.is_none() && self.lines.is_some_and(|lines| lines > SUMMARIZE_LINES)
    }
}

#[derive(Clone, Debug)]
pub struct WorkingSetStatus {
    pub session: String,
    pub folder: std::path::PathBuf,
    pub turn: u32,
    pub events: u64,
    pub budget: TokenBudget,
    /// Tokens of all files in the set.
    pub used: u64,
    /// Best first.
    pub files: Vec<SetFileStatus>,
    /// Summaries that are gone or older than their sources, also of files that left the set.
    pub stale_summaries: Vec<StaleSummary>,
}

impl WorkingSet<'_> {
    pub fn status(&mut self) -> Result<WorkingSetStatus, Failure> {
        let budget = self.budget(None)?;
        let mut files = self.set_files();
        files.sort_by(|a, b| b.priority.total_cmp(&a.priority).then_with(|| a.path.cmp(&b.path)));
        let used = files.iter().filter_map(|file| file.tokens).sum();
        let status = WorkingSetStatus {
            session: self.session.clone(),
            folder: self.path(""),
            turn: self.state.turn,
            events: self.state.seq,
            budget,
            used,
            stale_summaries: self.stale_among(&files),
            files,
        };
        if self.has_new_counts || self.has_new_sidecars.get() {
            self.save_snapshot();
        }
        Ok(status)
    }

    /// The budget of `working-set.yml`, or another maximum.
    pub(super) fn budget(&self, max: Option<u64>) -> Result<TokenBudget, Failure> {
        use lorelane_core::working_set::{MAX_TOKENS, WorkingSetFile};
        if let Some(max) = max {
            return Ok(TokenBudget::new(max, None, None));
        }
        let text = self.manifest(WorkingSetFile::Set)?.and_then(Result::ok);
        let manifest = text.and_then(|text| self.read_set(&text).ok()).unwrap_or_default();
        Ok(TokenBudget::new(manifest.max_tokens.unwrap_or(MAX_TOKENS), manifest.reserved, manifest.effective))
    }

    /// The files of the set with their tokens.
    pub(super) fn set_files(&mut self) -> Vec<SetFileStatus> {
        let mut files = self.set_entries();
        for file in &mut files {
            match self.tokens_of(&file.path) {
                Ok(stamp) => (file.tokens, file.lines) = (Some(stamp.tokens), Some(stamp.lines)),
                Err(problem) => file.problem = Some(problem),
            }
        }
        files
    }

    /// The files of the set, without a look at their contents.
    pub(super) fn set_entries(&self) -> Vec<SetFileStatus> {
        let set = self.state.set();
        set.map(|(path, file, entry)| self.file_status(path, file.clone(), entry)).collect()
    }

    fn advice_weights(&self) -> AdviceWeights {
        let policy = &self.workspace.policy;
        AdviceWeights { hot: policy.hot_weight(), cold: policy.cold_weight() }
    }

    fn file_status(&self, path: &str, mut file: FileState, entry: &SetEntry) -> SetFileStatus {
        // Somebody may have edited the sidecar: it is right.
        if let Some(sidecar) = self.sidecar(path) {
            file.pinned = sidecar.pin;
            file.summary = sidecar.summarized_in.or(file.summary);
        }
        let facts = self.advice_facts(path, &file);
        let decision = decide(&facts);
        let hot =
            facts.hot_age.map_or(0.0, advice_weight) * file.hot.as_ref().map_or(1.0, |note| note.weight);
        let is_honored = decision == Some(AdviceDecision::Honored);
        let cold = facts.cold_age.filter(|_| is_honored).map_or(0.0, advice_weight);
        let is_summary_stale = file.summary.as_deref().is_some_and(|summary| self.is_stale(summary));
        SetFileStatus {
            priority: self.advice_weights().effective_priority(entry.priority, hot, cold),
            factors: file.hotness(self.state.turn),
            is_protected: facts.is_protected,
            tokens: None,
            lines: None,
            problem: None,
            path: path.to_owned(),
            entry: entry.clone(),
            file,
            decision,
            is_summary_stale,
        }
    }
}
