//! Decides whether new information belongs to an existing memory, and which actions are possible.

use crate::briefing::{apart, is_stop_word};
use crate::json::Json;
use crate::memory::{Category, Memory};
use crate::recall::{ScorePart, Signal, name_words};
use serde::{Serialize, Serializer};
use std::collections::BTreeSet;

const EXCERPT_MAX: usize = 200;

/// What may have happened to the subject, as reported by the agent.
pub const LIFECYCLE_EVENTS: [&str; 5] = ["resolved", "removed", "reversed", "superseded", "deprecated"];

/// The actions that are possible for the new information.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    pub candidate: Option<UpdateCandidate>,
    pub lifecycle_event: Option<String>,
    pub delete_allowed: bool,
    pub pre_action: Option<Action>,
    pub structural: Action,
    /// Per action: a decision cannot be deleted but can be updated.
    pub vetoes: Vec<(Action, String)>,
    pub hints: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Action {
    Create,
    Update,
    Delete,
    /// Both are allowed; the agent chooses.
    UpdateOrDelete,
    Noop,
}

impl Action {
    /// The name that agents of the `claude-memory` scripts know.
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

/// Whether new information is about the same subject as a memory, judged by the words it shares with title and
/// tags.
///
/// A tag is not enough: it names an area that several memories share, and made every third match wrong. Required
/// are two distinctive words of the title; or one, if the title has at most two, plus another word that matches a
/// tag or the beginning of a word.
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
    // In scripts without spaces, overlapping character pairs count as one word, which may be the whole title.
    let is_half_a_run = in_title.len() >= 2 && 2 * in_title.len() >= all.len();
    match apart(&in_title) {
        0 => false,
        1 => is_half_a_run || (beside && apart(&all) <= 2),
        _ => true,
    }
}

/// Decides by the best match and the reported lifecycle event.
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
        // Something ended that no memory is about, so there is nothing to change.
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

/// The JSON that agents read.
#[derive(Serialize)]
struct VerdictDocument<'v> {
    candidate: Option<&'v UpdateCandidate>,
    lifecycle_event: Option<&'v str>,
    delete_allowed: bool,
    pre_action: Option<Action>,
    structural_cud: Action,
    /// Always empty. Agents stop at the first veto here, so it could only forbid the structural action, and a
    /// forbidden one is never proposed. The key stays because they look for it.
    vetoes: [&'static str; 0],
    hints: &'v [String],
    /// The reasons by the name of the forbidden action.
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
    /// The most important fields, by name.
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

/// Truncates without an ellipsis: agents compare the excerpt with what they are about to write.
fn start_of(text: &str) -> String {
    text.chars().take(EXCERPT_MAX).collect()
}
