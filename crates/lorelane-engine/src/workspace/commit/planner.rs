//! Turns a plan into edits: applies every rule and writes nothing.

use super::index_lines::StagedIndex;
use crate::backend::Edit;
use crate::workspace::lane::{CommittedFiles, DocEntries, Lane, joined};
use crate::workspace::{Failure, Workspace};
use lorelane_core::change::{Assignment, Change, Draft, Effect, Notice, Outcome, Plan};
use lorelane_core::dialect::{Extent, MemoryFile, ParsedDraft, TextEdit, WriteContext};
use lorelane_core::digest::Revision;
use lorelane_core::lifecycle::{Lifecycle, LifecycleVerb, REASON_MAX, Status};
use lorelane_core::mark::{Mark, MarkKind};
use lorelane_core::memory::{Address, Category, Memory, MemoryKind, link};
use lorelane_core::near_duplicates::{self, Fingerprint, NEAR_DUPLICATE};
use lorelane_core::path::RelPath;
use lorelane_core::policy::SecretPolicy;
use lorelane_core::recall::{Query, doc_entry};
use lorelane_core::refusal::Refusal;
use lorelane_core::retention;
use lorelane_core::secret_diff;
use lorelane_core::text::{cut, file_key};
use lorelane_core::transition::{self, TransitionResult};
use lorelane_core::validity::NotCurrent;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

/// Limits the stat calls for one change; real memories reference fewer files.
const FILES_LOOKED_AT_MAX: usize = 200;

/// Neighbours that are compared with a saved memory: what says nearly the same has nearly the same embedding.
const NEIGHBOURS: usize = 6;
/// Saved memories of one plan that are compared: a plan of hundreds is made by a program, which knows them.
const COMPARED_MAX: usize = 10;

/// The edits of a plan and what they do.
#[derive(Debug, Default)]
pub(in crate::workspace) struct StagedPlan {
    pub(in crate::workspace) edits: Vec<Edit>,
    pub(in crate::workspace) committed: CommittedFiles,
    pub(in crate::workspace) outcomes: Vec<Outcome>,
    pub(in crate::workspace) notices: Vec<Notice>,
}

impl StagedPlan {
    /// The memory files that the edits touch.
    pub(in crate::workspace) fn touched(&self) -> Vec<RelPath> {
        let paths: BTreeSet<RelPath> = self
            .edits
            .iter()
            .filter_map(|edit| match edit {
                Edit::Put { path, .. } | Edit::Remove { path } | Edit::Append { path, .. } => {
                    Some(path.clone())
                }
                Edit::Mark { .. } | Edit::Expect { .. } => None,
            })
            .collect();
        paths.into_iter().collect()
    }
}

/// Stages a plan on the current files. To write the result, the caller must hold the lane's lock.
pub(in crate::workspace) fn stage(
    workspace: &Workspace,
    lane: &Lane,
    plan: &Plan,
) -> Result<StagedPlan, Failure> {
    let mut stage = Planner {
        workspace,
        lane,
        written: BTreeMap::new(),
        seen: RefCell::default(),
        retired: BTreeMap::new(),
        index: None,
        staged: StagedPlan::default(),
    };
    let mut new_sessions = Vec::new();
    for change in &plan.changes {
        let created = stage.change(change)?;
        new_sessions
            .extend(created.filter(|memory| memory.kind == MemoryKind::Record(Category::SessionSummary)));
    }
    for session in new_sessions {
        stage.close_window(&session)?;
    }
    stage.stage_index();
    stage.expect_what_was_seen();
    stage.warn_of_near_duplicates(plan)?;
    let Planner { written, mut staged, .. } = stage;
    staged.committed.files = written.into_iter().filter_map(|(path, file)| Some((path, file?))).collect();
    Ok(staged)
}

pub(super) struct Planner<'s> {
    pub(super) workspace: &'s Workspace,
    pub(super) lane: &'s Lane,
    /// Files as earlier changes of this plan left them; `None` for a removed file.
    pub(super) written: BTreeMap<RelPath, Option<Box<MemoryFile>>>,
    /// Files as they were read first: the client may write while a change is planned.
    seen: RefCell<BTreeMap<RelPath, Option<Vec<u8>>>>,
    /// The files of the memories that this plan has retired, by their former address.
    retired: BTreeMap<Address, RelPath>,
    /// The index that links the memories, once a change concerns it.
    pub(super) index: Option<StagedIndex>,
    pub(super) staged: StagedPlan,
}

impl Planner<'_> {
    /// Stages one change; returns the memory if one is created.
    fn change(&mut self, change: &Change) -> Result<Option<Memory>, Failure> {
        match change {
            Change::Create { address, text } => return self.create(address, text).map(Some),
            Change::Revise { address, expects, draft } => self.revise(address, expects.as_ref(), draft)?,
            Change::Transition { address, verb, reason } => self.transition(address, *verb, reason)?,
            Change::Delete { address } => self.delete(address)?,
            Change::Mark { address, kind } => self.mark(address, kind)?,
            Change::Supersede { address, by, reason } => self.supersede(address, by, reason)?,
        }
        Ok(None)
    }

    fn create(&mut self, address: &Address, text: &str) -> Result<Memory, Failure> {
        let path = self.place(address)?;
        if address.category().is_none() {
            self.guard_names(address, &path, text)?;
        }
        self.refuse_overwriting(address, &path)?;
        let draft = Draft::Whole(text.to_owned());
        let draft = self.lane.dialect.parse_draft(&draft);
        self.guard_draft(address, None, &draft)?;
        let mut composed = self.lane.dialect.compose(address, None, draft, &self.write_context(None))?;
        self.guard_secrets(None, &mut composed.memory)?;
        self.warn_of_policy(address)?;
        let edits = self.written_from(composed.base_text.take(), &composed.memory)?;
        self.staged.notices.append(&mut composed.notices);
        self.warn_of_files(&[], &composed.memory);
        self.take(edits);
        self.link(&composed.memory, &path)?;
        self.outcome(&composed.memory, path, Effect::Created);
        Ok(composed.memory)
    }

    fn refuse_overwriting(&self, address: &Address, path: &RelPath) -> Result<(), Failure> {
        let Some(bytes) = self.bytes(path)? else { return self.refuse_twin(path, None) };
        let existing = self.lane.dialect.read(path, bytes).memory;
        Ok(transition::may_create_over(address, existing.as_ref(), self.workspace.now)?)
    }

    /// Rejects a name that differs from an existing one only in case or Unicode normalization: on other systems
    /// both are the same file. `but` is exempt: it is the file being renamed.
    fn refuse_twin(&self, path: &RelPath, but: Option<&RelPath>) -> Result<(), Failure> {
        // Names of records are lower-case ASCII, so they cannot collide.
        let Extent::Tree(_) = self.lane.dialect.extent() else { return Ok(()) };
        let mut twins = vec![String::new()];
        for part in path.as_str().split('/') {
            let wanted = file_key(part);
            let mut found = Vec::new();
            for folder in &twins {
                let listed = self.lane.documents.list(folder).ok().flatten();
                let same = listed.into_iter().flatten().filter(|listed| file_key(&listed.name) == wanted);
                found.extend(same.map(|listed| joined(folder, &listed.name)));
            }
            twins = found;
        }
        let is_other = |twin: &RelPath| twin != path && Some(twin) != but;
        let other = twins.iter().filter_map(|twin| RelPath::parse(twin).ok()).find(is_other);
        let Some((twin, address)) = other.and_then(|twin| {
            let address = self.lane.dialect.address_of(&twin)?;
            Some((twin, address))
        }) else {
            return Ok(());
        };
        let there = self.bytes(&twin)?.and_then(|bytes| self.lane.dialect.read(&twin, bytes).memory);
        Err(Refusal::Exists { address, status: there.map(|memory| memory.lifecycle.status()) }.into())
    }

    fn warn_of_policy(&mut self, address: &Address) -> Result<(), Failure> {
        let Some(category) = address.category() else { return Ok(()) };
        let policy = &self.workspace.policy;
        if !policy.enabled(category) {
            self.staged.notices.push(Notice::warning(format!(
                "the category {category} is disabled: this memory is saved but not shown to agents; `lorelane config set categories.{category}.enabled true` enables it"
            )));
        }
        let max = policy.max_memories_per_category();
        if self.lane.index.has_at_least(max, category, Status::Active)? {
            let active = self.lane.index.count(category, Status::Active)?;
            self.staged.notices.push(Notice::warning(format!(
                "{category} has {} active memories, more than max_memories_per_category ({max}): retire some with `lorelane retire`, or raise the limit with `lorelane config set max_memories_per_category {}`",
                active + 1,
                (active + 1).next_multiple_of(50)
            )));
        }
        Ok(())
    }

    /// Warns of added related files that do not exist. They may be created later, so the change is not rejected.
    fn warn_of_files(&mut self, before: &[String], after: &Memory) {
        if after.kind.category().is_none() {
            return;
        }
        let added = after.about.iter().filter(|file| !before.contains(file)).take(FILES_LOOKED_AT_MAX);
        let missing =
            |file: &&String| link::plain_path(file).is_some_and(|path| !self.is_there(path.as_str()));
        let missing: Vec<String> = added.filter(missing).cloned().collect();
        if !missing.is_empty() {
            self.staged.notices.push(Notice::NoSuchFiles(missing));
        }
    }

    /// Names, for each memory that was created or revised, the active one that says nearly the same. Agents save
    /// what they learned without looking for it first.
    fn warn_of_near_duplicates(&mut self, plan: &Plan) -> Result<(), Failure> {
        let changed: BTreeSet<&Address> = plan.changes.iter().map(Change::address).collect();
        let is_saved =
            |outcome: &&Outcome| matches!(outcome.effect, Effect::Created | Effect::Revised { .. });
        let saved = self.staged.outcomes.iter().filter(is_saved).take(COMPARED_MAX);
        let filter = Query::new("", self.workspace.now);
        let (mut found, mut analyzed) = (Vec::new(), DocEntries::new());
        for outcome in saved {
            let Some(Some(file)) = self.written.get(&outcome.path) else { continue };
            // What no longer holds may repeat what does, and sessions resemble one another.
            let is_session = file.memory.kind == MemoryKind::Record(Category::SessionSummary);
            if is_session || file.memory.validity.at(self.workspace.now).is_some() {
                continue;
            }
            let doc = self.lane.doc_entry(file);
            let bytes = doc.to_bytes();
            let view = doc_entry::read(&bytes);
            let direction = doc.vector();
            analyzed.insert(file.memory.address.clone(), doc);
            if !near_duplicates::says_enough(&view) {
                continue;
            }
            let own = Fingerprint::of(&view);
            let near = self.lane.index.nearest(&direction, &filter, NEIGHBOURS)?;
            let others = near.iter().filter(|(entry, _)| {
                entry.address != outcome.address
                    && !changed.contains(&entry.address)
                    && entry.not_current(self.workspace.now).is_none()
            });
            let alike = others.map(|(entry, other)| (own.cosine(other), entry));
            let closest = alike.max_by(|(one, _), (other, _)| one.total_cmp(other));
            if let Some((_, entry)) = closest.filter(|(cosine, _)| *cosine >= NEAR_DUPLICATE) {
                let (saved, like) = (outcome.address.clone(), entry.address.clone());
                found.push(Notice::NearDuplicate { saved, like });
            }
        }
        self.staged.notices.append(&mut found);
        self.staged.committed.doc_entries = analyzed;
        Ok(())
    }

    fn is_there(&self, file: &str) -> bool {
        matches!(self.workspace.disk.stat(&self.workspace.project.root.join(file)), Ok(Some(_)))
    }

    fn revise(
        &mut self,
        address: &Address,
        expects: Option<&Revision>,
        draft: &Draft,
    ) -> Result<(), Failure> {
        let path = self.place(address)?;
        let standing = self.standing(address, &path)?;
        if let Some(expected) = expects {
            let current = expected.same_kind_of(standing.document.text.as_bytes());
            if current != *expected {
                return Err(Refusal::Conflict {
                    address: address.clone(),
                    expected: expected.clone(),
                    current,
                }
                .into());
            }
        }
        let parsed = self.lane.dialect.parse_draft(draft);
        self.guard_draft(address, Some(&standing.memory), &parsed)?;
        let context = self.write_context(Some(&standing.memory));
        let mut composed = self.lane.dialect.compose(address, Some(&standing), parsed, &context)?;
        self.staged.notices.append(&mut composed.notices);
        let rewritten =
            composed.base_text.as_ref().is_some_and(|template| *template != standing.document.text);
        if composed.memory == standing.memory && !rewritten && composed.rename_to.is_none() {
            self.outcome(&standing.memory, path, Effect::Already(standing.memory.lifecycle.status()));
            return Ok(());
        }
        self.guard_secrets(Some(&standing.memory), &mut composed.memory)?;
        if let Draft::Renamed { to } = draft {
            self.refuse_taking(to, address)?;
        }
        let renamed_from = self.rename(&mut composed.memory, composed.rename_to.take(), &path)?;
        let edits = match composed.base_text.take() {
            // The base text also has what is not part of the memory, such as comments.
            Some(base) => self.written_from(Some(base), &composed.memory)?,
            None => self.write(&standing, Some(&composed.memory))?,
        };
        self.warn_of_files(&standing.memory.about, &composed.memory);
        self.take(edits);
        self.relink(&standing.memory, &composed.memory)?;
        let path = self.place(&composed.memory.address)?;
        let effect = Effect::Revised { revised: composed.memory.revised, renamed_from };
        self.outcome(&composed.memory, path, effect);
        Ok(())
    }

    /// An explicit rename to a name in use is rejected. A rename that follows from a title is only skipped.
    fn refuse_taking(&self, to: &Address, from: &Address) -> Result<(), Failure> {
        let target = self.place(to)?;
        let Some(bytes) = self.bytes(&target)?.filter(|_| to != from) else {
            return self.refuse_twin(&target, Some(&self.place(from)?));
        };
        let there = self.lane.dialect.read(&target, bytes).memory;
        let status = there.map(|memory| memory.lifecycle.status());
        Err(Refusal::Exists { address: to.clone(), status }.into())
    }

    /// Moves the memory to its new address if it is free; the old address becomes an alias.
    fn rename(
        &mut self,
        memory: &mut Memory,
        wants: Option<Address>,
        path: &RelPath,
    ) -> Result<Option<(Address, RelPath)>, Failure> {
        let Some(wanted) = wants else { return Ok(None) };
        let target = self.place(&wanted)?;
        if self.bytes(&target)?.is_some() {
            let file = self.lane.file(&target);
            self.staged.notices.push(Notice::warning(format!(
                "Slug rename collision: {} exists. Keeping old slug.",
                file.display()
            )));
            return Ok(None);
        }
        let old = std::mem::replace(&mut memory.address, wanted.clone());
        let kind = MarkKind::Alias { to: wanted };
        let mark = Mark { address: old.clone(), revision: None, at: self.workspace.now, kind };
        self.staged.edits.push(Edit::Mark { lines: mark.line().into_bytes() });
        Ok(Some((old, path.clone())))
    }

    fn transition(&mut self, address: &Address, verb: LifecycleVerb, reason: &str) -> Result<(), Failure> {
        let path = self.place(address)?;
        if verb == (LifecycleVerb::Restore { from: None })
            && self.bytes(&path)?.is_none()
            && let Some(last) = self.lane.documents.log().last_writes(&[&path])?.remove(&path)
        {
            return self.put_back(address, &path, last);
        }
        let standing = self.standing(address, &path)?;
        if address.is_memory_file() && matches!(verb, LifecycleVerb::Retire | LifecycleVerb::Archive) {
            return Err(Failure::OnlyFile);
        }
        if let Some(to) = self.leads_to(address, verb)? {
            return self.relocate(&standing, &to, verb, reason);
        }
        let after = match transition::apply(&standing.memory, verb, reason, self.workspace.now)? {
            TransitionResult::Already(status) => {
                self.outcome(&standing.memory, path, Effect::Already(status));
                return Ok(());
            }
            TransitionResult::Changed(after) => after,
        };
        let mut after = *after;
        self.guard_secrets(Some(&standing.memory), &mut after)?;
        let edits = self.write(&standing, Some(&after))?;
        self.take(edits);
        if verb == LifecycleVerb::Retire {
            self.retired.insert(address.clone(), path.clone());
        }
        let to = after.lifecycle.status();
        let reason = match &after.lifecycle {
            Lifecycle::Retired { reason, .. } | Lifecycle::Archived { reason, .. } => reason.clone(),
            Lifecycle::Active => None,
        };
        self.outcome(&after, path, Effect::Transitioned { to, reason: reason.unwrap_or_default() });
        Ok(())
    }

    /// Restores a file that was deleted outside lorelane from its last version in the log and makes the memory
    /// active. A note that was in the trash is restored to the trash.
    fn put_back(&mut self, address: &Address, path: &RelPath, last: Vec<u8>) -> Result<(), Failure> {
        let standing = self.standing_in(address, path, last)?;
        self.staged.notices.push(Notice::warning(format!(
            "{path} was deleted outside lorelane: this is its last version in the log"
        )));
        let verb = LifecycleVerb::Restore { from: None };
        let step = match self.lane.dialect.restored_to(address) {
            Some(_) => TransitionResult::Already(standing.memory.lifecycle.status()),
            None => transition::apply(&standing.memory, verb, "", self.workspace.now)?,
        };
        let (edits, memory) = match step {
            TransitionResult::Already(_) => {
                let memory = standing.memory.clone();
                (vec![TextEdit::Put { path: path.clone(), file: Box::new(standing) }], memory)
            }
            TransitionResult::Changed(after) => (self.write(&standing, Some(&after))?, *after),
        };
        self.take(edits);
        let to = memory.lifecycle.status();
        if to == Status::Active && !address.is_memory_file() {
            self.link(&memory, path)?;
        }
        self.outcome(&memory, path.clone(), Effect::Transitioned { to, reason: String::new() });
        Ok(())
    }

    /// The address that a transition moves the file to, if it does.
    fn leads_to(&self, address: &Address, verb: LifecycleVerb) -> Result<Option<Address>, Failure> {
        match verb {
            LifecycleVerb::Retire | LifecycleVerb::Archive => {
                let is_free = |path: RelPath| matches!(self.bytes(&path), Ok(None));
                let taken = |to: &Address| !self.place(to).is_ok_and(is_free);
                let (dialect, now) = (&self.lane.dialect, self.workspace.now);
                Ok(match verb {
                    LifecycleVerb::Retire => dialect.retired_to(address, now, &taken),
                    _ => dialect.archived_to(address, now, &taken),
                })
            }
            LifecycleVerb::Restore { .. } => {
                let Some(to) = self.lane.dialect.restored_to(address) else { return Ok(None) };
                self.refuse_taking(&to, address)?;
                Ok(Some(to))
            }
            LifecycleVerb::ArchiveRetired | LifecycleVerb::Delete => Ok(None),
        }
    }

    /// Applies a transition by moving the file. Its bytes stay the same where the new path implies the status.
    fn relocate(
        &mut self,
        standing: &MemoryFile,
        to: &Address,
        verb: LifecycleVerb,
        reason: &str,
    ) -> Result<(), Failure> {
        let path = self.place(to)?;
        let memory = &standing.memory;
        let moved = self.lane.dialect.read(&path, standing.document.text.clone().into_bytes()).memory;
        let mut after = moved.unwrap_or_else(|| Memory { address: to.clone(), ..memory.clone() });
        let given = (!reason.trim().is_empty()).then(|| cut(reason.trim(), REASON_MAX));
        match (verb, &mut after.lifecycle) {
            (LifecycleVerb::Restore { .. }, lifecycle) => *lifecycle = Lifecycle::Active,
            (_, Lifecycle::Retired { at, reason }) if given.is_some() => {
                *at = Some(self.workspace.now);
                reason.clone_from(&given);
            }
            _ => {}
        }
        self.guard_secrets(Some(memory), &mut after)?;
        let edits = self.write(standing, Some(&after))?;
        match verb {
            LifecycleVerb::Restore { .. } => self.link_again(&memory.address, &after)?,
            _ => self.unlink(memory, to, verb, given.as_deref().unwrap_or_default())?,
        }
        self.take(edits);
        if verb == LifecycleVerb::Retire {
            self.retired.insert(memory.address.clone(), path.clone());
        }
        let to = match (verb, after.lifecycle.status()) {
            // Only the mark says that it was retired.
            (LifecycleVerb::Retire, Status::Archived) => Status::Retired,
            (_, status) => status,
        };
        self.outcome(&after, path, Effect::Transitioned { to, reason: given.unwrap_or_default() });
        Ok(())
    }

    fn delete(&mut self, address: &Address) -> Result<(), Failure> {
        // What this plan has just retired may be elsewhere now.
        let retired = self.retired.get(address).cloned();
        let path = match &retired {
            Some(path) => path.clone(),
            None => self.place(address)?,
        };
        let standing = self.standing(address, &path)?;
        if retired.is_some() {
            self.staged.outcomes.retain(|outcome| outcome.path != path);
        } else if !address.is_memory_file() {
            // The only file of Claude Code's folder cannot be retired first.
            transition::may_purge(&standing.memory)?;
        }
        let edits = self.write(&standing, None)?;
        self.take(edits);
        let memory = Memory { address: address.clone(), ..standing.memory };
        self.outcome(&memory, path, Effect::Deleted);
        Ok(())
    }

    /// Ends a memory in favour of another one. The link is a mark: the scripts would reject a field for it.
    fn supersede(&mut self, address: &Address, by: &Address, reason: &str) -> Result<(), Failure> {
        let path = self.place(address)?;
        let standing = self.standing(address, &path)?;
        let successor = match self.lane.dialect.place(by) {
            Some(path) => self.standing(by, &path)?.memory,
            None => self.workspace.load(by)?.memory,
        };
        transition::may_supersede(address, &successor, self.workspace.now)?;
        let because = match reason.trim() {
            "" => format!("superseded by {by}"),
            reason => format!("superseded by {by}: {reason}"),
        };
        let mut address = address.clone();
        if standing.memory.lifecycle.status() != Status::Active {
            // Retired before: only the link is new.
        } else if transition::has_superseded_status(&standing.memory) {
            let status = Assignment {
                path: "content.status".to_owned(),
                value: NotCurrent::Superseded.name().to_owned(),
            };
            let draft = Draft::Partial {
                from: None,
                set: vec![status],
                add_tags: Vec::new(),
                because: Some(cut(&because, REASON_MAX)),
            };
            self.revise(&address, None, &draft)?;
            // The mark's own outcome says it all.
            self.staged.outcomes.pop();
        } else {
            self.transition(&address, LifecycleVerb::Retire, &because)?;
            // A retired note is in the trash, under another address.
            if let Some(outcome) = self.staged.outcomes.last() {
                address = outcome.address.clone();
            }
        }
        self.mark(&address, &MarkKind::Superseded { by: by.clone() })
    }

    fn mark(&mut self, address: &Address, kind: &MarkKind) -> Result<(), Failure> {
        let path = self.place(address)?;
        let standing = self.standing(address, &path)?;
        let marks = self.workspace.read_marks()?;
        let already = match kind {
            MarkKind::Pin => marks.pinned.contains(address),
            MarkKind::Unpin => !marks.pinned.contains(address),
            // A second confirmation is newer than the first.
            MarkKind::Alias { .. } | MarkKind::Confirm { .. } => false,
            MarkKind::Origin(origin) => {
                marks.origins.get(address).is_some_and(|origins| origins.contains(origin))
            }
            MarkKind::Archived(_) => false,
            MarkKind::Superseded { by } => marks.successor(address) == Some(by),
            MarkKind::Reject(rejection) => {
                marks.rejected.iter().any(|(rejected, known)| rejected == address && known == rejection)
            }
        };
        if already {
            let status = standing.memory.lifecycle.status();
            self.outcome(&standing.memory, path, Effect::Already(status));
            return Ok(());
        }
        let revision = Some(Revision::of(standing.document.text.as_bytes()));
        let mark = Mark { address: address.clone(), revision, at: self.workspace.now, kind: kind.clone() };
        self.staged.edits.push(Edit::Mark { lines: mark.line().into_bytes() });
        self.outcome(&standing.memory, path, Effect::Marked(kind.clone()));
        Ok(())
    }

    /// Retires the oldest sessions when a new one exceeds the session window, in the same plan.
    fn close_window(&mut self, session: &Memory) -> Result<(), Failure> {
        use crate::index::ListFilter;
        let index = &self.lane.index;
        let entries = index.entries(ListFilter {
            kind: Some(MemoryKind::Record(Category::SessionSummary)),
            status: Some(Status::Active),
        })?;
        let mut sessions = Vec::new();
        for entry in &entries {
            let standing = match self.standing(&entry.address, &entry.path) {
                Ok(standing) => standing,
                Err(_) => continue,
            };
            let active = standing.memory.lifecycle.status() == Status::Active;
            if active && standing.memory.address != session.address {
                sessions.push(standing.memory);
            }
        }
        let shared_by_one = |words: &BTreeSet<String>| index.shared_by_one(words, retention::remembers);
        let (changes, notices) =
            retention::close_window(&sessions, session, &self.workspace.policy, shared_by_one)?;
        self.staged.notices.extend(notices);
        for change in &changes {
            self.change(change)?;
        }
        Ok(())
    }

    /// Rejects or redacts secrets that a change adds; those that were there before are left to `doctor --secrets`.
    fn guard_secrets(&self, before: Option<&Memory>, after: &mut Memory) -> Result<(), Failure> {
        let found = secret_diff::added(before, after);
        if found.is_empty() {
            return Ok(());
        }
        match self.workspace.policy.secrets() {
            SecretPolicy::Allow => Ok(()),
            SecretPolicy::Redact => {
                secret_diff::redact_added(before, after);
                Ok(())
            }
            SecretPolicy::Refuse => Err(Refusal::Secrets { address: after.address.clone(), found }.into()),
        }
    }

    /// Checks title and name of a new note for secrets. A record's title is a field, which `guard_draft` checks.
    fn guard_names(&self, address: &Address, path: &RelPath, text: &str) -> Result<(), Failure> {
        let memory = self.lane.dialect.read(path, text.into()).memory;
        let found = secret_diff::in_names(address, memory.as_ref().map_or("", |memory| &memory.title));
        if found.is_empty() || self.workspace.policy.secrets() == SecretPolicy::Allow {
            Ok(())
        } else {
            Err(Refusal::Secrets { address: address.clone(), found }.into())
        }
    }

    /// Scans a draft as it was typed. A secret in a name is rejected even where other texts are redacted: a name
    /// is written in lower case, where the scanner no longer recognises it.
    fn guard_draft(
        &self,
        address: &Address,
        before: Option<&Memory>,
        draft: &ParsedDraft<'_>,
    ) -> Result<(), Failure> {
        let mut found = secret_diff::drafted(before, draft);
        match self.workspace.policy.secrets() {
            SecretPolicy::Allow => found.clear(),
            SecretPolicy::Redact => found.retain(|fault| secret_diff::is_name(&fault.field)),
            SecretPolicy::Refuse => {}
        }
        if found.is_empty() {
            Ok(())
        } else {
            Err(Refusal::Secrets { address: address.clone(), found }.into())
        }
    }

    pub(super) fn place(&self, address: &Address) -> Result<RelPath, Failure> {
        let place = self.lane.dialect.place(address);
        place.ok_or_else(|| Refusal::Missing { address: address.clone() }.into())
    }

    pub(super) fn bytes(&self, path: &RelPath) -> Result<Option<Vec<u8>>, Failure> {
        match self.written.get(path) {
            Some(file) => Ok(file.as_ref().map(|file| file.document.text.clone().into_bytes())),
            None => {
                let bytes = self.lane.read(path)?;
                if self.has_index() {
                    self.seen.borrow_mut().entry(path.clone()).or_insert_with(|| bytes.clone());
                }
                Ok(bytes)
            }
        }
    }

    /// The lock keeps out lorelane, not the client.
    fn expect_what_was_seen(&mut self) {
        let mut seen = self.seen.take();
        let expected = self.staged.touched().into_iter().filter_map(|path| {
            let bytes = seen.remove(&path)?;
            Some(Edit::Expect { path, bytes })
        });
        let expected: Vec<Edit> = expected.collect();
        self.staged.edits.splice(0..0, expected);
    }

    fn standing(&self, address: &Address, path: &RelPath) -> Result<MemoryFile, Failure> {
        let bytes = self.bytes(path)?.ok_or_else(|| Refusal::Missing { address: address.clone() })?;
        self.standing_in(address, path, bytes)
    }

    fn standing_in(&self, address: &Address, path: &RelPath, bytes: Vec<u8>) -> Result<MemoryFile, Failure> {
        let unreadable = |why: String| Refusal::Unreadable { address: address.clone(), why };
        Ok(self.lane.parse(path, bytes).into_memory().map_err(unreadable)?)
    }

    /// The edits that turn a file into `after`.
    fn write(&self, from: &MemoryFile, after: Option<&Memory>) -> Result<Vec<TextEdit>, Failure> {
        Ok(self.lane.dialect.write(Some(&from.document), Some(&from.memory), after)?)
    }

    /// The edits that write a memory, starting from a text that a dialect composed.
    fn written_from(&self, base: Option<String>, memory: &Memory) -> Result<Vec<TextEdit>, Failure> {
        let Some(base) = base else { return Ok(self.lane.dialect.write(None, None, Some(memory))?) };
        let path = self.place(&memory.address)?;
        let file = self.lane.dialect.read(&path, base.into_bytes());
        // Redaction or a rename may have changed the memory since it was composed; usually the text is final.
        if file.memory.as_ref() == Some(memory)
            && let Some(memory) = file.memory
        {
            let has_problems = !file.problems.is_empty();
            let file = Box::new(MemoryFile { document: file.document, memory, has_problems });
            return Ok(vec![TextEdit::Put { path, file }]);
        }
        Ok(self.lane.dialect.write(Some(&file.document), None, Some(memory))?)
    }

    fn write_context(&self, old: Option<&Memory>) -> WriteContext {
        let gone = |file: &&String| !self.is_there(file);
        let about = old.map(|old| old.about.as_slice()).unwrap_or_default();
        WriteContext { now: self.workspace.now, gone: about.iter().filter(gone).cloned().collect() }
    }

    fn take(&mut self, edits: Vec<TextEdit>) {
        for edit in edits {
            let (TextEdit::Put { path, .. } | TextEdit::Remove { path }) = &edit;
            if *path == Planner::index_path() {
                // A change of the index as a memory: its lines are read again from what was written.
                self.index = None;
            }
            match edit {
                TextEdit::Put { path, file } => {
                    let bytes = file.document.text.clone().into_bytes();
                    self.staged.edits.push(Edit::Put { path: path.clone(), bytes });
                    self.written.insert(path, Some(file));
                }
                TextEdit::Remove { path } => {
                    self.staged.edits.push(Edit::Remove { path: path.clone() });
                    self.written.insert(path, None);
                }
            }
        }
    }

    fn outcome(&mut self, memory: &Memory, path: RelPath, effect: Effect) {
        let outcome = Outcome { address: memory.address.clone(), path, title: memory.title.clone(), effect };
        self.staged.outcomes.push(outcome);
    }
}
