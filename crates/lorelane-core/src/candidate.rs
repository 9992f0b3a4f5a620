//! Whether new information belongs to a memory that exists: the structural half of every capture.

use crate::briefing::{apart, is_stop_word};
use crate::json::Json;
use crate::memory::{Category, Memory};
use crate::recall::{ScorePart, Signal, name_words};
use serde::{Serialize, Serializer};
use std::collections::BTreeSet;

const EXCERPT_MAX: usize = 200;

/// What happened to the subject, in the words of whoever reports it.
pub const LIFECYCLE_EVENTS: [&str; 5] = ["resolved", "removed", "reversed", "superseded", "deprecated"];

/// What may be done with the new information.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    pub candidate: Option<UpdateCandidate>,
    pub lifecycle_event: Option<String>,
    pub delete_allowed: bool,
    pub pre_action: Option<Action>,
    pub structural: Action,
    /// Per action, so that a decision can be updated though it cannot be deleted.
    pub vetoes: Vec<(Action, String)>,
    pub hints: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Action {
    Create,
    Update,
    Delete,
    /// The agent chooses: both are allowed.
    UpdateOrDelete,
    Noop,
}

impl Action {
    /// The word that the first system's agents know.
    pub fn name(self) -> &'static str {
        match self {
            Action::Create => "CREATE",
            Action::Update => "UPDATE",
            Action::Delete => "DELETE",
            Action::UpdateOrDelete => "UPDATE_OR_DELETE",
            Action::Noop => "NOOP",
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct UpdateCandidate {
    pub path: String,
    pub memory: Memory,
    pub score: i32,
}

/// Whether new information is about the subject that a title names, by what of the memory's name it has.
///
/// A tag says which field a memory belongs to, not what it says: several memories share one, and none may be changed
/// for that alone. So two telling words of the title have to be there; or one, if it is at least half of them, and
/// beside it another word of the name.
pub fn is_about(named: &[ScorePart], title: &str) -> bool {
    let words = |signals: &[Signal]| -> BTreeSet<&str> {
        let parts = named.iter().filter(|part| signals.contains(&part.signal));
        let words = parts.flat_map(|part| &part.matched).map(String::as_str);
        words.filter(|word| !is_stop_word(word)).collect()
    };
    let in_title = words(&[Signal::Title]);
    let beside = words(&[Signal::Tag, Signal::Prefix]).difference(&in_title).count() > 0;
    let all = name_words(title, &[]);
    let all: BTreeSet<&str> =
        all.iter().map(|(_, word)| word.as_str()).filter(|word| !is_stop_word(word)).collect();
    // Where a script writes no blanks, a run of pairs that overlap is one word, and may be the whole title.
    let is_half_a_run = in_title.len() >= 2 && 2 * in_title.len() >= all.len();
    match apart(&in_title) {
        0 => false,
        1 => is_half_a_run || (beside && apart(&all) <= 2),
        _ => true,
    }
}

/// Decides from the best match and what is said to have happened.
pub fn decide(
    category: Category,
    candidate: Option<UpdateCandidate>,
    lifecycle_event: Option<&str>,
) -> Verdict {
    let delete_allowed =
        !matches!(category, Category::Decision | Category::Preference | Category::SessionSummary);
    let pre_action = match (&candidate, lifecycle_event) {
        (Some(_), _) => None,
        (None, None) => Some(Action::Create),
        (None, Some(_)) => Some(Action::Noop),
    };
    let structural = match pre_action {
        Some(action) => action,
        None if delete_allowed => Action::UpdateOrDelete,
        None => Action::Update,
    };
    let mut vetoes = Vec::new();
    let mut hints = Vec::new();
    match (&candidate, lifecycle_event) {
        (Some(found), event) => {
            hints.push(format!("1 candidate found (score={})", found.score));
            match event {
                Some(event) if delete_allowed => {
                    hints.push(format!("lifecycle_event={event} suggests DELETE if eligible"));
                }
                Some(event) => hints.push(format!(
                    "lifecycle_event={event} present but DELETE disallowed for {category}; consider UPDATE"
                )),
                None => {}
            }
            if !delete_allowed {
                vetoes.push((Action::Delete, format!("Cannot DELETE {category} (triage-initiated)")));
            }
        }
        (None, Some(event)) => {
            hints.push(format!("lifecycle_event={event} with no matching candidate; NOOP"));
        }
        (None, None) => {}
    }
    let lifecycle_event = lifecycle_event.map(str::to_owned);
    Verdict { candidate, lifecycle_event, delete_allowed, pre_action, structural, vetoes, hints }
}

/// The document that agents read.
#[derive(Serialize)]
struct VerdictDocument<'v> {
    candidate: Option<&'v UpdateCandidate>,
    lifecycle_event: Option<&'v str>,
    delete_allowed: bool,
    pre_action: Option<Action>,
    structural_cud: Action,
    /// Agents stop at the first veto here, so it may only forbid the structural action itself, and none is ever
    /// proposed that is forbidden. The key stays because they look for it.
    vetoes: [&'static str; 0],
    hints: &'v [String],
    /// A forbidden action by its name.
    #[serde(serialize_with = "by_action")]
    vetoes_by_action: &'v [(Action, String)],
}

impl Serialize for Verdict {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let document = VerdictDocument {
            candidate: self.candidate.as_ref(),
            lifecycle_event: self.lifecycle_event.as_deref(),
            delete_allowed: self.delete_allowed,
            pre_action: self.pre_action,
            structural_cud: self.structural,
            vetoes: [],
            hints: &self.hints,
            vetoes_by_action: &self.vetoes,
        };
        document.serialize(serializer)
    }
}

fn by_action<S: Serializer>(vetoes: &[(Action, String)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(vetoes.iter().map(|(action, why)| (action, [why])))
}

#[derive(Serialize)]
struct CandidateDocument<'c> {
    path: &'c str,
    title: &'c str,
    tags: &'c [String],
    excerpt: CandidateExcerpt<'c>,
}

#[derive(Serialize)]
struct CandidateExcerpt<'c> {
    title: &'c str,
    record_status: &'static str,
    tags: &'c [String],
    last_change_summary: &'c str,
    #[serde(serialize_with = "in_order")]
    key_fields: Vec<(&'static str, String)>,
}

impl Serialize for UpdateCandidate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let UpdateCandidate { path, memory, .. } = self;
        let (title, tags) = (&memory.title, &memory.tags);
        let last = memory.history.last().and_then(|entry| entry.summary());
        let excerpt = CandidateExcerpt {
            title,
            record_status: memory.lifecycle.status().name(),
            tags,
            last_change_summary: last.unwrap_or("Initial creation"),
            key_fields: self.key_fields(),
        };
        CandidateDocument { path, title, tags, excerpt }.serialize(serializer)
    }
}

fn in_order<S: Serializer>(fields: &[(&str, String)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(fields.iter().map(|(name, text)| (name, text)))
}

impl UpdateCandidate {
    /// The fields that say what it is about, by their names.
    pub fn key_fields(&self) -> Vec<(&'static str, String)> {
        let Some(category) = self.memory.kind.category() else { return Vec::new() };
        let names: &[&str] = match category {
            Category::SessionSummary => &["goal", "outcome"],
            Category::Decision => &["context", "decision", "rationale"],
            Category::Runbook => &["trigger", "root_cause"],
            Category::Constraint => &["rule", "impact"],
            Category::TechDebt => &["description", "reason_deferred"],
            Category::Preference => &["topic", "value", "reason"],
        };
        let text = |value: &Json| match value.as_list() {
            Some(_) => Some(value.to_texts().join("; ")),
            None => value.as_text().map(str::to_owned),
        };
        let fields = names.iter().map(|name| (*name, self.memory.body.field(name).and_then(text)));
        fields.filter_map(|(name, text)| Some((name, start_of(&text?)))).collect()
    }
}

/// No ellipsis: agents compare an excerpt with what they are about to write.
fn start_of(text: &str) -> String {
    text.chars().take(EXCERPT_MAX).collect()
}
