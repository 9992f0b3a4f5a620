//! Changes of the set: files come and go, pins, advice and the decisions about it.

use super::collect::CollectRequest;
use super::read::SidecarPlace;
use super::{SessionDraft, WorkingSet};
use crate::git;
use crate::workspace::Failure;
use lorelane_core::working_set::{
    AdviceDecision, AdviceFacts, ColdAction, ColdAdvice, ColdManifest, ColdNote, EventAuthor, EventKind,
    FileState, GcReport, HotAdvice, HotManifest, MemoryAction, Role, SetAction, SetEntry, SetManifest,
    Sidecar, SidecarEdit, TruncateStrategy, WorkingSetError, WorkingSetFile, decide, is_failed_attempt,
    is_protected, new_sidecar,
};
use std::collections::BTreeSet;
use std::path::Path;

const UNREADABLE_SIDECAR: &str = "it is not a text file that can be read";

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
    /// Whether a collection is to run right away.
    pub trigger_gc: bool,
    /// The document that takes the place of the cold ones.
    pub superseded_by: Option<String>,
    /// What was tried and learned, if the cold files are failed attempts.
    pub postmortem: Option<String>,
}

/// The decisions about advice.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AdviceAnswer {
    pub memory_actions: Vec<MemoryAction>,
    pub warnings: Vec<String>,
    /// The report of the collection, if one was to run.
    pub gc: Option<GcReport>,
}

/// Every change of the set has a reason.
pub(super) fn required(attempt: &'static str, why: &str) -> Result<(), Failure> {
    match why.trim().is_empty() {
        true => Err(WorkingSetError::MissingWhy { attempt }.into()),
        false => Ok(()),
    }
}

/// Whether advice names more than one file.
fn is_pattern(path: &str) -> bool {
    path.contains(['*', '?', '[']) || path.ends_with('/')
}

/// Whether an action replaces or moves a file, so that its bytes must be kept.
pub(super) fn keeps_bytes(action: ColdAction) -> bool {
    matches!(action, ColdAction::Archive | ColdAction::Compress)
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
            set.edit_manifest(draft, WorkingSetFile::Set, |text| SetManifest::with_entries(text, &entries))?;
            for entry in &entries {
                set.draft_sidecar(draft, &entry.path, by)?;
            }
            let (files, paths) = (entries, Vec::new());
            let (action, why, max_tokens) = (SetAction::Add, why.to_owned(), None);
            draft.events.push(EventKind::WorkingSetUpdate { action, by, why, files, paths, max_tokens });
            Ok(())
        })?;
        // Hooks have no time to read files that nobody touched.
        self.count(&paths);
        Ok(SetChange { paths })
    }

    /// The entry for a request: what it does not say stays as it is.
    pub(super) fn entry(&self, request: &AddRequest) -> SetEntry {
        let known = self.state.files.get(&request.path).and_then(|file| file.entry.clone());
        let known = known.or_else(|| self.state.files.get(&request.path)?.last_entry.clone());
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
    pub(super) fn draft_sidecar(
        &self,
        draft: &mut SessionDraft,
        path: &str,
        by: EventAuthor,
    ) -> Result<(), Failure> {
        let place = self.own_sidecar(path);
        if self.sidecar_text(path).is_some() || draft.files.contains_key(&place) {
            return Ok(());
        }
        self.set_aside(draft, &place, UNREADABLE_SIDECAR)?;
        let created_by = match by {
            EventAuthor::Model => "model",
            EventAuthor::User => "user",
            EventAuthor::Orchestrator | EventAuthor::File | EventAuthor::Undo => "inferred",
        };
        draft.put(place, new_sidecar(path, created_by, &self.session, self.workspace.now));
        Ok(())
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
            (None, None) => {
                self.set_aside(draft, &place, UNREADABLE_SIDECAR)?;
                new_sidecar(path, "inferred", &self.session, self.workspace.now)
            }
        };
        let now = self.workspace.now;
        let edited = match Sidecar::edited(&text, edit, now) {
            Some(edited) => edited,
            None => {
                self.set_aside(draft, &place, "its lines are too broken to edit one of them")?;
                let unwritable = || WorkingSetError::Unwritable { file: place.clone() };
                let new = new_sidecar(path, "inferred", &self.session, now);
                Sidecar::edited(&new, edit, now).ok_or_else(unwritable)?
            }
        };
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
            }
            let gone = paths.iter().map(String::as_str).collect();
            set.edit_manifest(draft, WorkingSetFile::Set, |text| SetManifest::without_all(text, &gone))?;
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
        let (request, warnings) = self.known_advice(request)?;
        let moved = request.cold.iter().filter(|advice| keeps_bytes(advice.suggested_action));
        let modified = self.modified(moved.map(|advice| advice.path.as_str()));
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
                set.draft_record(draft, &advice.path, &request, why)?;
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
        let gc = match request.trigger_gc {
            true => Some(self.collect(&CollectRequest::asked_by(by), why)?),
            false => None,
        };
        Ok(AdviceAnswer { memory_actions, warnings, gc })
    }

    /// What goes with cold advice: the successor in the sidecar, and the postmortem.
    fn draft_record(
        &self,
        draft: &mut SessionDraft,
        path: &str,
        request: &AdviceRequest,
        why: &str,
    ) -> Result<(), Failure> {
        if is_pattern(path) && !self.workspace.disk.exists(&self.file_of(path)) {
            return Ok(());
        }
        if let Some(successor) = &request.superseded_by {
            let edit = SidecarEdit { superseded_by: Some(successor.clone()), ..SidecarEdit::default() };
            self.edit_sidecar(draft, path, &edit)?;
        }
        if let Some(text) = &request.postmortem {
            self.draft_postmortem(draft, path, text, why);
        }
        Ok(())
    }

    /// Advice about files that exist, under the names of the set. Globs and folders of cold advice stay as they are.
    fn known_advice(&mut self, request: &AdviceRequest) -> Result<(AdviceRequest, Vec<String>), Failure> {
        let (postmortem, trigger_gc) = (request.postmortem.clone(), request.trigger_gc);
        let mut known = AdviceRequest { postmortem, trigger_gc, ..AdviceRequest::default() };
        let mut warnings = Vec::new();
        if let Some(successor) = &request.superseded_by {
            known.superseded_by = Some(self.resolve_known("link", successor, None)?);
        }
        if known.postmortem.as_ref().is_some_and(|text| text.trim().is_empty()) {
            let what = "the postmortem is empty".to_owned();
            return Err(WorkingSetError::InvalidArgs { what }.into());
        }
        for advice in &request.hot {
            match self.resolve_known("keep", &advice.path, None) {
                Ok(path) => known.hot.push(HotAdvice { path, ..advice.clone() }),
                Err(failure) => warnings.push(failure.to_string()),
            }
        }
        for advice in &request.cold {
            match self.resolve_known("evict", &advice.path, None) {
                Ok(path) => known.cold.push(ColdAdvice { path, ..advice.clone() }),
                Err(_) if is_pattern(&advice.path) => known.cold.push(advice.clone()),
                Err(failure) => warnings.push(failure.to_string()),
            }
        }
        Ok((known, warnings))
    }

    /// Those of the files that git has in another version.
    pub(super) fn modified<'p>(&self, paths: impl Iterator<Item = &'p str>) -> BTreeSet<String> {
        let files: Vec<_> = paths.map(|path| self.file_of(path)).collect();
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
            let is_named = advised.contains(path);
            facts.lacks_postmortem &= request.postmortem.is_none() || !is_named;
            let decision = decide(&facts)?;
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
        let cold = self.cold_note(path, file);
        let is_archived = cold.is_some_and(|note| note.action == ColdAction::Archive);
        AdviceFacts {
            hot_age: file.hot.as_ref().map(|note| age(note.turn)),
            cold_age: cold.map(|note| age(note.turn)),
            lacks_summary: cold.is_some_and(|note| note.action == ColdAction::SummarizeThenEvict)
                && file.summary.is_none(),
            lacks_postmortem: is_archived && self.lacks_postmortem(path, cold.map_or("", |note| &note.why)),
            is_protected: self.is_protected(path),
            is_pinned: file.pinned,
            has_unsaved_changes: false,
            touched_ago: file.last_touch().map(age),
            recent_touches: file.recent_touches(turn),
            mentioned_by_user: file.mentioned_turn.is_some_and(|mentioned| age(mentioned) <= 1),
        }
    }

    /// Cold advice about a file, or about a folder or glob that it is part of.
    pub(super) fn cold_note<'n>(&'n self, path: &str, file: &'n FileState) -> Option<&'n ColdNote> {
        file.cold.as_ref().or_else(|| self.state.cold_pattern(path))
    }

    /// Whether a file is a failed attempt without its postmortem. Files of the project are not moved, so that they
    /// need none.
    fn lacks_postmortem(&self, path: &str, why: &str) -> bool {
        let is_moved = self.in_session(path).is_some_and(|inside| is_failed_attempt(inside, why));
        is_moved && !self.workspace.disk.exists(&self.path(&self.postmortem_place(path)))
    }

    pub(super) fn is_protected(&self, path: &str) -> bool {
        is_protected(path, &self.workspace.policy.protected_files())
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
