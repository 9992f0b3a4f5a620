//! From captures to memories: what an agent drafts from, and what becomes of its answer.
//!
//! What the store permits is determined again when an answer comes, so no answer can skip it. Each item is a
//! plan of its own with one receipt: a rejected one does not stop the others.

use super::SessionCapture;
use crate::captures::Captures;
use crate::disk::FileType;
use crate::workspace::Failure;
use lorelane_core::candidate::{Action, Verdict};
use lorelane_core::capture::{Capture, CapturedItem, words_digest};
use lorelane_core::change::{Change, Draft, Effect, Notice, Outcome, PartialInput, Plan, Receipt};
use lorelane_core::consolidate::{
    self, AgentAnswer, Judgement, MemoryRelation, Proposal, QueuedItem, UnusableItem, queue,
};
use lorelane_core::dialect::records::draft;
use lorelane_core::digest::Revision;
use lorelane_core::json::{self, Json, JsonFormat, Object};
use lorelane_core::lifecycle::{LifecycleVerb, Status};
use lorelane_core::mark::{MarkKind, Marks, NewCapture};
use lorelane_core::memory::{Address, Body, Category};
use lorelane_core::policy::Policy;
use lorelane_core::refusal::{FieldFault, Refusal};
use lorelane_core::text::{cut, one_line};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// What an agent is asked to draft.
#[derive(Debug)]
pub struct DraftRequest {
    pub session: String,
    pub client: String,
    pub tasks: Vec<Task>,
    /// Open items that come after these, where one is drafted after the other.
    pub waiting: usize,
}

/// One item of a capture, with all that a draft of it depends on.
#[derive(Debug)]
pub struct Task {
    pub item: CapturedItem,
    /// The memory that it seems to contradict.
    pub supersedes: Option<Address>,
    pub description: Option<String>,
    pub model: String,
    pub context_file: PathBuf,
    /// A private file for the answer. It need not be used.
    pub draft_file: PathBuf,
    pub verdict: Verdict,
    /// Of the candidate, as it is now.
    pub revision: Option<Revision>,
    pub allowed: Vec<Action>,
    pub vetoes: Vec<(Action, String)>,
}

/// What became of the items of an answer, in their order.
#[derive(Debug, Default)]
pub struct ConsolidationReport {
    pub ends: Vec<ItemResult>,
    /// How many items of these sessions are still to be saved.
    pub open: usize,
    pub notices: Vec<Notice>,
}

/// How one item ended.
#[derive(Debug)]
pub struct ItemResult {
    pub session: String,
    /// The number of the item; `None` if none was meant.
    pub number: Option<u64>,
    pub category: Option<Category>,
    pub how: ItemOutcome,
}

#[derive(Debug)]
pub enum ItemOutcome {
    Saved {
        action: Action,
        address: Address,
        why: String,
        receipt: Option<u64>,
        /// What a verifier found and let pass.
        issues: Vec<String>,
    },
    Noop {
        why: String,
    },
    /// Only the configuration is in the way, and it can be changed: the item stays open.
    Postponed {
        why: String,
    },
    /// A verifier rejected it.
    Failed {
        issues: Vec<String>,
    },
    /// The item cannot be read.
    Unclear(Vec<FieldFault>),
    /// The item does not fit what is open, with what to do.
    Unfit {
        what: String,
        hint: String,
    },
    /// A rule rejected it, or a file could not be read or written.
    Refused(Failure),
}

impl ItemOutcome {
    /// Whether nobody has to be asked again.
    pub fn is_settled(&self) -> bool {
        matches!(self, ItemOutcome::Saved { .. } | ItemOutcome::Noop { .. })
    }
}

impl SessionCapture<'_> {
    /// What is to be drafted of a session, or of the newest one with something open; `None` when nothing is. The
    /// notices name what is not offered any more.
    pub fn prepare(&mut self, session: Option<&str>) -> Result<(Option<DraftRequest>, Vec<Notice>), Failure> {
        let captures = self.workspace.captures();
        let (inbox, repeats) = self.numbered(&captures)?;
        let named = |capture: &Capture| session.is_none_or(|session| capture.session == session);
        let mut notices = Vec::new();
        for mut capture in inbox.into_iter().filter(named) {
            capture.items.retain(|item| !repeats.contains_key(&item.number));
            if let Some(work) = self.work(&captures, capture, &mut notices)? {
                return Ok((Some(work), notices));
            }
        }
        Ok((None, notices))
    }

    /// What is to be drafted of one capture, with its context files in place; `None` when nothing is.
    fn work(
        &mut self,
        captures: &Captures,
        capture: Capture,
        notices: &mut Vec<Notice>,
    ) -> Result<Option<DraftRequest>, Failure> {
        let mut tasks: Vec<Task> = Vec::new();
        for item in capturable(&capture, &self.workspace.policy) {
            match self.task(captures, &capture.session, item)? {
                ItemStart::Task(task) => tasks.push(*task),
                start => self.not_started(captures, &capture.session, item, start, notices)?,
            }
        }
        let at_once = if self.workspace.policy.parallel().enabled { tasks.len() } else { 1 };
        let waiting = tasks.len().saturating_sub(at_once);
        tasks.truncate(at_once);
        for task in &tasks {
            let text = consolidate::context_text(&task.item, task.description.as_deref());
            captures.put_beside(&capture.session, &context_name(&task.item), &text)?;
        }
        let Capture { session, client, .. } = capture;
        Ok((!tasks.is_empty()).then_some(DraftRequest { session, client, tasks, waiting }))
    }

    /// Reports an item that is not drafted, and settles it if it never will be.
    pub(super) fn not_started(
        &self,
        captures: &Captures,
        session: &str,
        item: &CapturedItem,
        start: ItemStart,
        notices: &mut Vec<Notice>,
    ) -> Result<(), Failure> {
        let notice = match start {
            ItemStart::Task(_) => return Ok(()),
            ItemStart::Never(why) => {
                captures.settle(session, item.number)?;
                format!("{} {} is left out: {why}", item.category, item.number)
            }
            ItemStart::Later(why) => format!("{} is kept for later: {why}", item.category),
        };
        // Several items may wait for the same thing.
        let notice = Notice::Warning(notice);
        if !notices.contains(&notice) {
            notices.push(notice);
        }
        Ok(())
    }

    /// All sessions with open items, and the numbers of items that repeat others.
    pub(super) fn numbered(&self, captures: &Captures) -> Result<(Vec<Capture>, Repeats), Failure> {
        let inbox = captures.inbox(self.workspace.now)?;
        let mut repeats = Repeats::new();
        for QueuedItem { item, repeats: of_item, .. } in queue(&inbox) {
            repeats.extend(of_item.into_iter().map(|(session, number)| (number, (item.number, session))));
        }
        Ok((inbox, repeats))
    }

    /// What an item needs to be drafted, or why it is not.
    pub(super) fn task(
        &mut self,
        captures: &Captures,
        session: &str,
        item: &CapturedItem,
    ) -> Result<ItemStart, Failure> {
        let category = item.category;
        if let Some(why) = self.rejected_origin(&self.workspace.marks(), item) {
            return Ok(ItemStart::Never(why));
        }
        if let Some(rejected) = captures.rejected().find(item) {
            return Ok(ItemStart::Never(format!("it was rejected: {}", rejected.because)));
        }
        let supersedes = match item.kind.map(|_| self.relation(item)).transpose()? {
            Some(MemoryRelation::SaidBy(address)) => {
                return Ok(ItemStart::Never(format!("{address} says it already")));
            }
            Some(MemoryRelation::Contradicts(address)) => Some(address),
            _ => None,
        };
        let verdict = self.workspace.recall().candidate(category, &item.snippets.join("\n"), None)?;
        let vetoes = self.vetoes(&verdict, category)?;
        let allowed = consolidate::allowed(verdict.structural, &vetoes);
        if allowed == [Action::Noop] {
            let why = vetoes.first().map_or("nothing may be done", |(_, why)| why.as_str()).to_owned();
            let only_now = consolidate::allowed(verdict.structural, &verdict.vetoes) != allowed;
            return Ok(if only_now { ItemStart::Later(why) } else { ItemStart::Never(why) });
        }
        let revision = match &verdict.candidate {
            Some(candidate) => Some(self.workspace.load(&candidate.memory.address)?.revision),
            None => None,
        };
        Ok(ItemStart::Task(Box::new(Task {
            description: self.workspace.policy.description(category).map(str::to_owned),
            model: self.workspace.policy.drafting_model(category).to_owned(),
            context_file: captures.beside(session, &context_name(item)),
            draft_file: captures.beside(session, &draft_name(item)),
            item: item.clone(),
            supersedes,
            verdict,
            revision,
            allowed,
            vetoes,
        })))
    }

    /// The answers in the files that `prepare` named, for a session or the newest one that has any: one that
    /// stopped meanwhile and was not prepared yet is not meant.
    pub fn answer_files(&self, session: Option<&str>) -> Vec<PathBuf> {
        let captures = self.workspace.captures();
        let asked = match session {
            Some(session) => captures.load(session).into_iter().collect(),
            None => captures.pending(),
        };
        let is_file = |file: &PathBuf| matches!(self.workspace.disk.stat(file), Ok(Some(stat)) if stat.kind == FileType::File);
        let answers = |capture: &Capture| -> Vec<PathBuf> {
            let named = capture.open_items().map(|item| captures.beside(&capture.session, &draft_name(item)));
            named.filter(is_file).collect()
        };
        asked.iter().map(answers).find(|files| !files.is_empty()).unwrap_or_default()
    }

    /// Does what the answers propose, as far as the table lets it. `None` when no session has what they speak of.
    pub fn consolidate(
        &mut self,
        answers: Vec<AgentAnswer>,
        session: Option<&str>,
        dry_run: bool,
    ) -> Result<Option<ConsolidationReport>, Failure> {
        self.workspace.refuse_when_misconfigured()?;
        let captures = self.workspace.captures();
        let (_, repeats) = self.numbered(&captures)?;
        let newest = captures.pending().into_iter().next().map(|capture| capture.session).unwrap_or_default();
        let mut answered = Vec::new();
        for AgentAnswer { session: named, items } in answers {
            let session = named.as_deref().or(session).unwrap_or(&newest);
            let capture = captures.load(session);
            answered.push((session.to_owned(), capture, items));
        }
        if answered.iter().all(|(_, capture, _)| capture.is_none()) {
            return Ok(None);
        }
        let mut report = ConsolidationReport::default();
        for (session, capture, items) in answered {
            for item in items {
                let end = self.end(&session, capture.as_ref(), item, dry_run, &mut report.notices);
                match end.how {
                    // Not the item's fault, and nothing was done yet: it is the whole command that failed.
                    ItemOutcome::Refused(failure)
                        if report.ends.is_empty() && !matches!(failure, Failure::Refused(_)) =>
                    {
                        return Err(failure);
                    }
                    _ => report.ends.push(end),
                }
            }
        }
        if !dry_run {
            settle(&captures, &repeats, &mut report);
        }
        let sessions: BTreeSet<&str> = report.ends.iter().map(|end| end.session.as_str()).collect();
        let left = sessions.into_iter().filter_map(|session| captures.load(session));
        report.open = left.map(|capture| capturable(&capture, &self.workspace.policy).len()).sum();
        Ok(Some(report))
    }

    fn end(
        &mut self,
        session: &str,
        capture: Option<&Capture>,
        item: Result<Proposal, UnusableItem>,
        dry_run: bool,
        notices: &mut Vec<Notice>,
    ) -> ItemResult {
        let session = session.to_owned();
        let proposal = match item {
            Ok(proposal) => proposal,
            Err(UnusableItem { category, faults }) => {
                return ItemResult { session, number: None, category, how: ItemOutcome::Unclear(faults) };
            }
        };
        let meant = capture.and_then(|capture| match (proposal.item, proposal.category) {
            (Some(number), _) => capture.open_item(number),
            (None, category) => capture.next_of(category?),
        });
        let category = proposal.category.or(meant.map(|item| item.category));
        let number = meant.map(|item| item.number);
        let how = match meant {
            Some(item) if proposal.judgement.is_none() && proposal.action != Action::Noop && !item.asked => {
                ItemOutcome::Unclear(vec![unverified()])
            }
            Some(item) => {
                // The agent may know better what it is.
                let item = CapturedItem { category: category.unwrap_or(item.category), ..item.clone() };
                self.carry_out(&item, &proposal, dry_run, notices).unwrap_or_else(ItemOutcome::Refused)
            }
            None => {
                let what = match (proposal.item, category) {
                    (Some(number), _) => format!("item {number}"),
                    (None, Some(category)) => format!("nothing of {category}"),
                    (None, None) => "nothing".to_owned(),
                };
                ItemOutcome::Unfit {
                    what: format!("{what} is open in session {}", one_line(&session)),
                    hint: "`lorelane inbox` shows what is; `lorelane create` saves anything else".to_owned(),
                }
            }
        };
        ItemResult { session, number, category, how }
    }

    /// Does what the table makes of a proposal.
    fn carry_out(
        &mut self,
        item: &CapturedItem,
        proposal: &Proposal,
        dry_run: bool,
        notices: &mut Vec<Notice>,
    ) -> Result<ItemOutcome, Failure> {
        if proposal.judgement == Some(Judgement::Fail) {
            return Ok(ItemOutcome::Failed { issues: proposal.issues.clone() });
        }
        let verdict = self.structure(item, proposal)?;
        let vetoes = self.vetoes(&verdict, item.category)?;
        let resolution = consolidate::resolve(verdict.structural, proposal.action, &vetoes);
        let lasting = consolidate::resolve(verdict.structural, proposal.action, &verdict.vetoes);
        if lasting.action != resolution.action {
            return Ok(ItemOutcome::Postponed { why: resolution.why });
        }
        let candidate = verdict.candidate.map(|candidate| candidate.memory.address);
        let planned = match (resolution.action, candidate) {
            (Action::Create, _) => self.creation(item, proposal)?,
            (Action::Update, Some(address)) => self.revision(item, proposal, address)?,
            (Action::Delete, Some(address)) => self.retirement(proposal, address)?,
            _ => Err(ItemOutcome::Noop { why: resolution.why.clone() }),
        };
        let ItemChange { address, change, emptied } = match planned {
            Ok(planned) => planned,
            Err(how) => return Ok(how),
        };
        if let Some(how) = self.misses(proposal, resolution.action, &address) {
            return Ok(how);
        }
        let plan = plan(item, proposal, resolution.action, &address, change);
        let preview = with_emptied(self.workspace.preview(&plan), &address, emptied)?;
        let unchanged = |outcome: &Outcome| matches!(outcome.effect, Effect::Already(_));
        // An origin mark on an unchanged memory would be a change for its own sake.
        if resolution.action == Action::Update && preview.outcomes.last().is_some_and(unchanged) {
            return Ok(ItemOutcome::Noop { why: format!("{address} already says this") });
        }
        let receipt = if dry_run { preview } else { self.workspace.commit(&plan)? };
        let revised =
            receipt.outcomes.iter().find(|outcome| matches!(outcome.effect, Effect::Revised { .. }));
        let address = revised.map_or(address, |outcome| outcome.address.clone());
        notices.extend(receipt.notices);
        Ok(ItemOutcome::Saved {
            action: resolution.action,
            address,
            why: resolution.why,
            receipt: receipt.number,
            issues: proposal.issues.clone(),
        })
    }

    /// What the store permits now. If the words of the capture find no candidate, those of the draft may.
    fn structure(&mut self, item: &CapturedItem, proposal: &Proposal) -> Result<Verdict, Failure> {
        let verdict = self.workspace.recall().candidate(item.category, &item.snippets.join("\n"), None)?;
        let Some(draft) = proposal.draft.as_ref().filter(|_| verdict.candidate.is_none()) else {
            return Ok(verdict);
        };
        let title = draft.text("title").unwrap_or_default();
        let tags = draft.get("tags").map(Json::to_texts).unwrap_or_default().join(" ");
        self.workspace.recall().candidate(item.category, &format!("{title}\n{tags}"), None)
    }

    fn vetoes(&mut self, verdict: &Verdict, category: Category) -> Result<Vec<(Action, String)>, Failure> {
        let active =
            self.workspace.lanes.records_mut().with_index(|index| index.count(category, Status::Active))?;
        let mut vetoes = consolidate::vetoes(&self.workspace.policy, category, active);
        vetoes.extend(verdict.vetoes.iter().cloned());
        Ok(vetoes)
    }

    /// A new memory from the draft, or why there is none.
    fn creation(&mut self, item: &CapturedItem, proposal: &Proposal) -> Result<PlannedItem, Failure> {
        let given = proposal.draft.clone();
        let (address, record) = draft::begin(item.category, None, given, &[], &[], self.workspace.now);
        let title = record.text("title").unwrap_or_default();
        let body = body(&record);
        let known = match self.rejected(&self.workspace.marks(), item, title, &body) {
            Some(why) => Some(why),
            None => self.repeated(title, &body)?,
        };
        if let Some(why) = known {
            return Ok(Err(ItemOutcome::Noop { why }));
        }
        let emptied = draft::emptied(&record, &Object::new(), item.category);
        let text = format!("{}\n", record.render(JsonFormat::FILE));
        let change = Change::Create { address: address.clone(), text };
        Ok(Ok(ItemChange { address, change, emptied }))
    }

    /// The candidate with the fields of the draft over its own, or why it stays as it is.
    fn revision(
        &mut self,
        item: &CapturedItem,
        proposal: &Proposal,
        address: Address,
    ) -> Result<PlannedItem, Failure> {
        let loaded = self.workspace.load(&address)?;
        let mut given = proposal.draft.clone().unwrap_or_default();
        let mut after: Object =
            json::from_str(loaded.document.text.trim_start_matches('\u{feff}')).unwrap_or_default();
        let emptied = draft::emptied(&given, &after, item.category);
        draft::overlay(&mut after, &given);
        let title = after.text("title").unwrap_or_default();
        if let Some(why) = self.rejected(&self.workspace.marks(), item, title, &body(&after)) {
            return Ok(Err(ItemOutcome::Noop { why }));
        }
        // A revision only adds tags, so those of the draft join the others.
        let add_tags = given.get("tags").and_then(|tags| Vec::<String>::deserialize(tags).ok());
        if add_tags.is_some() {
            given.remove("tags");
        }
        let draft = Draft::Partial {
            from: Some(PartialInput::Fields(given)),
            set: Vec::new(),
            add_tags: add_tags.unwrap_or_default(),
            because: proposal.reason.clone(),
        };
        let expects = Some(proposal.revision.clone().unwrap_or(loaded.revision));
        let change = Change::Revise { address: address.clone(), expects, draft };
        Ok(Ok(ItemChange { address, change, emptied }))
    }

    /// Retires the candidate, if it is still the one that the agent read.
    fn retirement(&self, proposal: &Proposal, address: Address) -> Result<PlannedItem, Failure> {
        let loaded = self.workspace.load(&address)?;
        if let Some(expected) = &proposal.revision {
            let current = expected.same_kind_of(loaded.document.text.as_bytes());
            if current != *expected {
                return Err(Refusal::Conflict { address, expected: expected.clone(), current }.into());
            }
        }
        let reason =
            proposal.reason.clone().unwrap_or_else(|| "no longer true, as a session found".to_owned());
        let change = Change::Transition { address: address.clone(), verb: LifecycleVerb::Retire, reason };
        Ok(Ok(ItemChange { address, change, emptied: Vec::new() }))
    }

    /// Why an item is not even drafted: a memory from the same words was rejected.
    pub(in crate::workspace) fn rejected_origin(&self, marks: &Marks, item: &CapturedItem) -> Option<String> {
        self.rejected(marks, item, "", &Body::Fields(Object::new()))
    }

    /// Why this is not captured: somebody rejected it. A rejected memory that is active again counts as wanted.
    fn rejected(&self, marks: &Marks, item: &CapturedItem, title: &str, body: &Body) -> Option<String> {
        let captured = NewCapture { title, body, origin: Some(&item.origin.words) };
        let (address, rejection) = marks.rejections(item.category, captured).find(|(address, _)| {
            let memory = self.workspace.load(marks.follow(address)).map(|loaded| loaded.memory);
            !memory.is_ok_and(|memory| memory.lifecycle.status() == Status::Active)
        })?;
        Some(format!("it was rejected as {address}: {}", one_line(&rejection.because)))
    }

    /// Why a draft adds nothing: an active memory says just that. Agents are shown memories, and what they were
    /// shown must not come back as something learned.
    fn repeated(&mut self, title: &str, body: &Body) -> Result<Option<String>, Failure> {
        let (title, said) = (words_digest(title), words_digest(&body.statement()));
        let wanted = crate::index::ListFilter { status: Some(Status::Active), ..Default::default() };
        let same_title = self
            .workspace
            .recall()
            .entries(wanted)?
            .into_iter()
            .filter(|entry| words_digest(&entry.title) == title);
        let mut same = same_title.filter(|entry| {
            self.workspace
                .load(&entry.address)
                .is_ok_and(|loaded| words_digest(&loaded.memory.body.statement()) == said)
        });
        Ok(same.next().map(|entry| format!("{} says the same", entry.address)))
    }

    /// Whether an answer was drafted for another memory than the one that it would change now.
    fn misses(&self, proposal: &Proposal, action: Action, address: &Address) -> Option<ItemOutcome> {
        let target = proposal.target.as_ref().filter(|_| action != Action::Create)?;
        (self.workspace.marks().follow(target) != address).then(|| ItemOutcome::Unfit {
            what: format!("the candidate is {address}, and the answer is for {target}"),
            hint: "run `lorelane consolidate prepare` again and draft for the candidate that it names"
                .to_owned(),
        })
    }
}

/// The open items that the configuration lets be captured.
fn capturable<'c>(capture: &'c Capture, policy: &Policy) -> Vec<&'c CapturedItem> {
    capture.open_items().filter(|item| policy.auto_capture(item.category)).collect()
}

/// What becomes of an item before anybody drafts it.
pub(super) enum ItemStart {
    Task(Box<Task>),
    /// Nothing will ever be saved of it.
    Never(String),
    /// Nothing can be saved of it as the project is configured now.
    Later(String),
}

/// How an item changes a memory, or how it ended without a change.
type PlannedItem = Result<ItemChange, ItemOutcome>;

struct ItemChange {
    address: Address,
    change: Change,
    /// What the draft would empty.
    emptied: Vec<FieldFault>,
}

/// The preview of a change. A draft that empties a field is rejected, together with everything else that is
/// wrong with it.
fn with_emptied(
    preview: Result<Receipt, Failure>,
    address: &Address,
    emptied: Vec<FieldFault>,
) -> Result<Receipt, Failure> {
    match preview {
        Ok(_) if !emptied.is_empty() => {
            Err(Refusal::Invalid { address: address.clone(), faults: emptied }.into())
        }
        Err(Failure::Refused(Refusal::Invalid { address, mut faults })) => {
            faults.extend(emptied);
            Err(Refusal::Invalid { address, faults }.into())
        }
        other => other,
    }
}

/// The change and where it came from, together. The mark of a memory that exists comes first: a revision may give
/// it another address, and then the mark moves along.
fn plan(item: &CapturedItem, proposal: &Proposal, action: Action, address: &Address, change: Change) -> Plan {
    let origin = Change::Mark { address: address.clone(), kind: MarkKind::Origin(item.origin.clone()) };
    let mut changes = match action {
        Action::Create => vec![change, origin],
        _ => vec![origin, change],
    };
    let mut because = format!("consolidate: {} {address}", action.name().to_lowercase());
    if let Some(old) = &proposal.supersedes {
        // The new memory exists by then, and a revised one still has its address.
        let at = if action == Action::Create { changes.len() } else { 0 };
        let reason = proposal.reason.clone().unwrap_or_default();
        changes.insert(at, Change::Supersede { address: old.clone(), by: address.clone(), reason });
        because.push_str(&format!(", supersede {old}"));
    }
    if let Some(reason) = &proposal.reason {
        because.push_str(&format!(": {}", cut(&one_line(reason), 200)));
    }
    Plan { changes, because }
}

/// An item is settled when all that was answered for it is. What was put there for the agent goes with it, and so do
/// the items that repeat it.
fn settle(captures: &Captures, repeats: &Repeats, report: &mut ConsolidationReport) {
    let mut settled: BTreeMap<(&str, u64), bool> = BTreeMap::new();
    for end in &report.ends {
        let Some(number) = end.number else { continue };
        *settled.entry((&end.session, number)).or_insert(true) &= end.how.is_settled();
    }
    for (session, number) in settled.iter().filter(|(_, settled)| **settled).map(|(key, _)| *key) {
        if let Err(failure) = settle_item(captures, repeats, session, number) {
            let what = format!("saved, but item {number} will be offered again: {failure}");
            report.notices.push(Notice::warning(what));
        }
    }
}

/// Items that repeat others: the number of each, with that of the first and its own session.
pub(super) type Repeats = BTreeMap<u64, (u64, String)>;

/// Settles an item and those that repeat it.
pub(super) fn settle_item(
    captures: &Captures,
    repeats: &Repeats,
    session: &str,
    number: u64,
) -> Result<(), Failure> {
    let repeated = repeats.iter().filter(|(_, (first, _))| *first == number);
    let repeated = repeated.map(|(number, (_, session))| (session.as_str(), *number));
    for (session, number) in std::iter::once((session, number)).chain(repeated) {
        captures.settle(session, number)?;
        captures.discard_beside(session, &context_name_of(number));
        captures.discard_beside(session, &draft_name_of(number));
    }
    Ok(())
}

/// The fault of an answer without a verdict, for an item that its agent was not asked about.
fn unverified() -> FieldFault {
    FieldFault {
        field: "verdict".to_owned(),
        expected: format!("one of {}", Judgement::ALL.map(Judgement::name).join(", ")),
        got: "nothing".to_owned(),
        fix: "have the draft verified against its context; this cannot be skipped".to_owned(),
    }
}

fn body(record: &Object) -> Body {
    Body::Fields(record.get("content").and_then(Json::as_object).cloned().unwrap_or_default())
}

fn context_name(item: &CapturedItem) -> String {
    context_name_of(item.number)
}

fn draft_name(item: &CapturedItem) -> String {
    draft_name_of(item.number)
}

fn context_name_of(number: u64) -> String {
    format!("context-{number}.txt")
}

/// Not `.json`, because that is a capture.
fn draft_name_of(number: u64) -> String {
    format!("draft-{number}.answer")
}
