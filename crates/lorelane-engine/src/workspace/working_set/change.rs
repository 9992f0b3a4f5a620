//! Changes of the set: files come and go, pins, advice and the decisions about it.

use super::read::SidecarPlace;
use super::{SessionDraft, WorkingSet};
use crate::git;
use crate::workspace::Failure;
use lorelane_core::working_set::{
    AdviceDecision, AdviceFacts, ColdAction, ColdAdvice, ColdManifest, EventAuthor, EventKind, FileState,
    HotAdvice, HotManifest, MemoryAction, Role, SetAction, SetEntry, SetManifest, Sidecar, SidecarEdit,
    TruncateStrategy, WorkingSetError, WorkingSetFile, decide, is_match, is_protected, new_sidecar,
};
use std::collections::BTreeSet;
use std::path::Path;

/// A file that is to be in the set.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AddRequest {
    /// As [`WorkingSet::resolve`] returns it.
    pub path: String,
    pub priority: Option<f64>,
    pub role: Option<Role>,
    pub truncate_strategy: Option<TruncateStrategy>,
    pub max_lines: Option<u32>,
}

/// Which files a change affected.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SetChange {
    pub paths: Vec<String>,
}

/// What an agent advises. Paths are resolved when the advice is judged.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AdviceRequest {
    pub hot: Vec<HotAdvice>,
    pub cold: Vec<ColdAdvice>,
}

/// The decisions about advice.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AdviceAnswer {
    pub memory_actions: Vec<MemoryAction>,
    pub warnings: Vec<String>,
}

/// Every change of the set has a reason.
pub(super) fn required(attempt: &'static str, why: &str) -> Result<(), Failure> {
    match why.trim().is_empty() {
        true => Err(WorkingSetError::MissingWhy { attempt }.into()),
        false => Ok(()),
    }
}

impl WorkingSet<'_> {
    /// Adds files, or changes the entries of those that are in the set.
    pub fn add(&mut self, requests: &[AddRequest], by: EventAuthor, why: &str) -> Result<SetChange, Failure> {
        required("add to the working set", why)?;
        for request in requests {
            if request.priority.is_some_and(|priority| !(0.0..=1.0).contains(&priority)) {
                let what = format!("the priority of {} is not between 0 and 1", request.path);
                return Err(WorkingSetError::InvalidArgs { what }.into());
            }
        }
        let paths: Vec<String> = requests.iter().map(|request| request.path.clone()).collect();
        self.commit(&format!("ws add {}: {why}", paths.join(", ")), |set, draft| {
            let entries: Vec<SetEntry> = requests.iter().map(|request| set.entry(request)).collect();
            for entry in &entries {
                set.edit_manifest(draft, WorkingSetFile::Set, |text| SetManifest::with_entry(text, entry))?;
                set.draft_sidecar(draft, &entry.path, by);
            }
            let (files, paths) = (entries, Vec::new());
            let (action, why, max_tokens) = (SetAction::Add, why.to_owned(), None);
            draft.events.push(EventKind::WorkingSetUpdate { action, by, why, files, paths, max_tokens });
            Ok(())
        })?;
        Ok(SetChange { paths })
    }

    /// The entry for a request: what it does not say stays as it is.
    fn entry(&self, request: &AddRequest) -> SetEntry {
        let known = self.state.files.get(&request.path).and_then(|file| file.entry.clone());
        let known = known.unwrap_or_else(|| SetEntry::new(&request.path, SetEntry::PRIORITY));
        SetEntry {
            priority: request.priority.unwrap_or(known.priority),
            role: request.role.or(known.role),
            truncate_strategy: request.truncate_strategy.or(known.truncate_strategy),
            max_lines: request.max_lines.or(known.max_lines),
            path: known.path,
        }
    }

    /// A file that enters the set gets a sidecar, unless it has one.
    fn draft_sidecar(&self, draft: &mut SessionDraft, path: &str, by: EventAuthor) {
        let place = self.own_sidecar(path);
        if self.sidecar_text(path).is_some() || draft.files.contains_key(&place) {
            return;
        }
        let created_by = match by {
            EventAuthor::Model => "model",
            EventAuthor::User => "user",
            EventAuthor::Orchestrator | EventAuthor::File | EventAuthor::Undo => "inferred",
        };
        draft.put(place, new_sidecar(path, created_by, &self.session, self.workspace.now));
    }

    /// Edits a sidecar within a change. One of another program is copied into the session folder first.
    pub(super) fn edit_sidecar(
        &self,
        draft: &mut SessionDraft,
        path: &str,
        edit: &SidecarEdit,
    ) -> Result<(), Failure> {
        let place = self.own_sidecar(path);
        let planned = draft.files.get(&place).cloned().flatten();
        let text = match (planned, self.sidecar_text(path)) {
            (Some(bytes), _) => String::from_utf8_lossy(&bytes).into_owned(),
            (None, Some((text, SidecarPlace::InSession(_) | SidecarPlace::Foreign))) => text,
            (None, None) => new_sidecar(path, "inferred", &self.session, self.workspace.now),
        };
        let unwritable = || WorkingSetError::Unwritable { file: place.clone() };
        let edited = Sidecar::edited(&text, edit, self.workspace.now).ok_or_else(unwritable)?;
        draft.put(place, edited);
        Ok(())
    }

    /// Takes files out of the set. The files stay where they are.
    pub fn remove(&mut self, paths: &[String], by: EventAuthor, why: &str) -> Result<SetChange, Failure> {
        required("remove from the working set", why)?;
        self.commit(&format!("ws remove {}: {why}", paths.join(", ")), |set, draft| {
            for path in paths {
                if !set.is_in_set(path) {
                    let attempt = "remove";
                    return Err(WorkingSetError::NotInSet { attempt, path: path.clone() }.into());
                }
                if let Some(rule) = set.kept_by(path) {
                    return Err(WorkingSetError::MustKeep { path: path.clone(), rule }.into());
                }
                set.edit_manifest(draft, WorkingSetFile::Set, |text| SetManifest::without(text, path))?;
            }
            let (action, why, paths) = (SetAction::Remove, why.to_owned(), paths.to_vec());
            let (files, max_tokens) = (Vec::new(), None);
            draft.events.push(EventKind::WorkingSetUpdate { action, by, why, files, paths, max_tokens });
            Ok(())
        })?;
        Ok(SetChange { paths: paths.to_vec() })
    }

    /// Pins or unpins a file: a pinned one is never evicted and always assembled if it fits.
    pub fn pin(&mut self, path: &str, pin: bool, by: EventAuthor, why: &str) -> Result<SetChange, Failure> {
        let (action, did) = if pin { (SetAction::Pin, "pin") } else { (SetAction::Unpin, "unpin") };
        let mut paths = Vec::new();
        self.commit(&format!("ws {did} {path}: {why}"), |set, draft| {
            let is_pinned = set.state.files.get(path).is_some_and(|file| file.pinned);
            if is_pinned == pin {
                return Ok(());
            }
            let mut files = Vec::new();
            if pin && !set.is_in_set(path) {
                let entry = set.entry(&AddRequest { path: path.to_owned(), ..AddRequest::default() });
                set.edit_manifest(draft, WorkingSetFile::Set, |text| SetManifest::with_entry(text, &entry))?;
                files.push(entry);
            }
            set.edit_sidecar(draft, path, &SidecarEdit { pin: Some(pin), ..SidecarEdit::default() })?;
            paths.push(path.to_owned());
            let (why, max_tokens, paths) = (why.to_owned(), None, vec![path.to_owned()]);
            draft.events.push(EventKind::WorkingSetUpdate { action, by, why, files, paths, max_tokens });
            Ok(())
        })?;
        Ok(SetChange { paths })
    }

    /// Changes how many tokens a context may have.
    pub fn set_budget(&mut self, max_tokens: u64, by: EventAuthor, why: &str) -> Result<(), Failure> {
        required("change the budget", why)?;
        self.commit(&format!("ws budget {max_tokens}: {why}"), |set, draft| {
            set.edit_manifest(draft, WorkingSetFile::Set, |text| SetManifest::with_budget(text, max_tokens))?;
            let (action, why) = (SetAction::Budget, why.to_owned());
            let (files, paths, max_tokens) = (Vec::new(), Vec::new(), Some(max_tokens));
            draft.events.push(EventKind::WorkingSetUpdate { action, by, why, files, paths, max_tokens });
            Ok(())
        })
    }

    /// Takes advice, and decides about it. An unknown path is a warning.
    pub fn advise(
        &mut self,
        request: &AdviceRequest,
        by: EventAuthor,
        why: &str,
    ) -> Result<AdviceAnswer, Failure> {
        required("advise", why)?;
        let reasons = request.hot.iter().map(|advice| (&advice.path, &advice.why));
        let reasons = reasons.chain(request.cold.iter().map(|advice| (&advice.path, &advice.why)));
        for (path, reason) in reasons {
            if reason.trim().is_empty() {
                let what = format!("the advice about {path} has no reason (MISSING_WHY)");
                return Err(WorkingSetError::InvalidArgs { what }.into());
            }
        }
        let (request, warnings) = self.known_advice(request);
        let modified = self.modified(&request.cold);
        let memory_actions = self.commit(&format!("ws advise: {why}"), |set, draft| {
            for advice in &request.hot {
                let file = set.state.files.get(&advice.path).cloned().unwrap_or_default();
                let since = file.hot.as_ref().map_or(set.workspace.now, |note| note.at);
                set.edit_manifest(draft, WorkingSetFile::Hot, |text| {
                    HotManifest::with(text, advice, &file, since)
                })?;
            }
            for advice in &request.cold {
                let file = set.state.files.get(&advice.path).cloned().unwrap_or_default();
                set.edit_manifest(draft, WorkingSetFile::Cold, |text| {
                    ColdManifest::with(text, advice, &file)
                })?;
            }
            let (hot, cold, why) = (request.hot.clone(), request.cold.clone(), why.to_owned());
            let mut kind = EventKind::CacheAdvice {
                by,
                why,
                hot,
                cold,
                dropped: Vec::new(),
                memory_actions: Vec::new(),
            };
            set.state.apply(&set.planned(&kind));
            let decided = set.decisions(&request, &modified);
            if let EventKind::CacheAdvice { memory_actions, .. } = &mut kind {
                memory_actions.clone_from(&decided);
            }
            draft.events.push(kind);
            Ok(decided)
        })?;
        Ok(AdviceAnswer { memory_actions, warnings })
    }

    /// Advice about files that exist, under the names of the set. Globs and folders of cold advice stay as they are.
    fn known_advice(&mut self, request: &AdviceRequest) -> (AdviceRequest, Vec<String>) {
        let (mut known, mut warnings) = (AdviceRequest::default(), Vec::new());
        for advice in &request.hot {
            match self.resolve_known("keep", &advice.path, None) {
                Ok(path) => known.hot.push(HotAdvice { path, ..advice.clone() }),
                Err(failure) => warnings.push(failure.to_string()),
            }
        }
        for advice in &request.cold {
            let is_pattern = advice.path.contains(['*', '?', '[']) || advice.path.ends_with('/');
            match self.resolve_known("evict", &advice.path, None) {
                Ok(path) => known.cold.push(ColdAdvice { path, ..advice.clone() }),
                Err(_) if is_pattern => known.cold.push(advice.clone()),
                Err(failure) => warnings.push(failure.to_string()),
            }
        }
        (known, warnings)
    }

    /// Files whose archive or compression is advised and that git has in another version.
    fn modified(&self, cold: &[ColdAdvice]) -> BTreeSet<String> {
        let moves = |advice: &&ColdAdvice| {
            matches!(advice.suggested_action, ColdAction::Archive | ColdAction::Compress)
        };
        let files: Vec<_> = cold.iter().filter(moves).map(|advice| self.file_of(&advice.path)).collect();
        let project = &self.workspace.project.root;
        let modified = git::modified(&*self.workspace.disk, project, &files);
        let name =
            |file: &Path| file.strip_prefix(project).unwrap_or(file).to_string_lossy().replace('\\', "/");
        modified.into_iter().map(name).collect()
    }

    /// The decision about every file that the advice names, and about those that the rules promote.
    fn decisions(&self, request: &AdviceRequest, modified: &BTreeSet<String>) -> Vec<MemoryAction> {
        let advised = request.hot.iter().map(|advice| advice.path.as_str());
        let advised: BTreeSet<&str> =
            advised.chain(request.cold.iter().map(|advice| advice.path.as_str())).collect();
        let decided = |path: &str, file: &FileState| {
            let mut facts = self.advice_facts(path, file);
            facts.has_unsaved_changes = modified.contains(path);
            let decision = decide(&facts)?;
            let is_named = advised.contains(path);
            if !is_named && !matches!(decision, AdviceDecision::PromotedToHot(_)) {
                return None;
            }
            let suggested = match (&file.cold, &file.hot) {
                (Some(cold), _) => Some(cold.action.name().to_owned()),
                (None, Some(_)) => Some("keep".to_owned()),
                (None, None) => None,
            };
            Some(MemoryAction {
                path: path.to_owned(),
                model_suggested: suggested.filter(|_| is_named),
                action_taken: decision.action_taken().to_owned(),
                reason: decision.reason().map(str::to_owned),
            })
        };
        self.state.files.iter().filter_map(|(path, file)| decided(path, file)).collect()
    }

    /// What the rules know about a file.
    pub(super) fn advice_facts(&self, path: &str, file: &FileState) -> AdviceFacts {
        let turn = self.state.turn;
        let age = |advised: u32| turn.saturating_sub(advised);
        let cold = file.cold.as_ref().or_else(|| self.cold_pattern(path));
        AdviceFacts {
            hot_age: file.hot.as_ref().map(|note| age(note.turn)),
            cold_age: cold.map(|note| age(note.turn)),
            lacks_summary: cold.is_some_and(|note| note.action == ColdAction::SummarizeThenEvict)
                && file.summary.is_none(),
            is_protected: self.is_protected(path),
            is_pinned: file.pinned,
            has_unsaved_changes: false,
            touched_ago: file.last_touch().map(age),
            recent_touches: file.recent_touches(turn),
            mentioned_by_user: file.mentioned_turn.is_some_and(|mentioned| age(mentioned) <= 1),
        }
    }

    /// Advice about a folder or a glob that this path is part of.
    fn cold_pattern(&self, path: &str) -> Option<&lorelane_core::working_set::ColdNote> {
        let patterns =
            self.state.files.iter().filter(|(key, _)| key.contains(['*', '?']) || key.ends_with('/'));
        patterns.filter(|(key, _)| is_match(key, path)).find_map(|(_, file)| file.cold.as_ref())
    }

    pub(super) fn is_protected(&self, path: &str) -> bool {
        is_protected(path, &[])
    }

    fn is_in_set(&self, path: &str) -> bool {
        self.state.files.get(path).is_some_and(|file| file.entry.is_some())
    }

    /// The rule that keeps a file in the set.
    fn kept_by(&self, path: &str) -> Option<&'static str> {
        let is_pinned = self.state.files.get(path).is_some_and(|file| file.pinned);
        if is_pinned { Some("pinned") } else { self.is_protected(path).then_some("protected") }
    }
}
