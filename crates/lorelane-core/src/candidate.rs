//! Whether new information belongs to a memory that exists: the structural half of every capture.

use crate::briefing::{apart, is_everyday};
use crate::json::{Json, Object};
use crate::lifecycle::Status;
use crate::memory::{Category, Memory};
use crate::recall::{Part, Signal, name_words};
use std::collections::BTreeSet;

const EXCERPT_MAX: usize = 200;

/// What happened to the subject, in the words of whoever reports it.
pub const LIFECYCLE_EVENTS: [&str; 5] = ["resolved", "removed", "reversed", "superseded", "deprecated"];

/// What may be done with the new information.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    pub candidate: Option<Candidate>,
    pub lifecycle_event: Option<String>,
    pub delete_allowed: bool,
    pub pre_action: Option<Action>,
    pub structural: Action,
    /// Per action, so that a decision can be updated though it cannot be deleted.
    pub vetoes: Vec<(Action, String)>,
    pub hints: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
pub struct Candidate {
    pub path: String,
    pub memory: Memory,
    pub score: i32,
}

/// Whether new information is about the subject that a title names, by what of the memory's name it has.
///
/// A tag says which field a memory belongs to, not what it says: several memories share one, and none may be changed
/// for that alone. So two telling words of the title have to be there; or one, if it is at least half of them, and
/// beside it another word of the name.
pub fn is_about(named: &[Part], title: &str) -> bool {
    let words = |signals: &[Signal]| -> BTreeSet<&str> {
        let parts = named.iter().filter(|part| signals.contains(&part.signal));
        let words = parts.flat_map(|part| &part.matched).map(String::as_str);
        words.filter(|word| !is_everyday(word)).collect()
    };
    let in_title = words(&[Signal::Title]);
    let beside = words(&[Signal::Tag, Signal::Prefix]).difference(&in_title).count() > 0;
    let all = name_words(title, &[]);
    let all: BTreeSet<&str> =
        all.iter().map(|(_, word)| word.as_str()).filter(|word| !is_everyday(word)).collect();
    // Where a script writes no blanks, a run of pairs that overlap is one word, and may be the whole title.
    let is_half_a_run = in_title.len() >= 2 && 2 * in_title.len() >= all.len();
    match apart(&in_title) {
        0 => false,
        1 => is_half_a_run || (beside && apart(&all) <= 2),
        _ => true,
    }
}

/// Decides from the best match and what is said to have happened.
pub fn decide(category: Category, candidate: Option<Candidate>, lifecycle_event: Option<&str>) -> Verdict {
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

impl Verdict {
    /// The document that agents read. A forbidden action stands under its name in `vetoes_by_action`.
    pub fn to_json(&self) -> Json {
        let texts_or_null = |text: Option<&str>| text.map_or(Json::Null, Json::text);
        let by_action: Object =
            self.vetoes.iter().map(|(action, why)| (action.name(), Json::texts([why.clone()]))).collect();
        let members = [
            ("candidate", self.candidate.as_ref().map_or(Json::Null, Candidate::to_json)),
            ("lifecycle_event", texts_or_null(self.lifecycle_event.as_deref())),
            ("delete_allowed", Json::Bool(self.delete_allowed)),
            ("pre_action", texts_or_null(self.pre_action.map(Action::name))),
            ("structural_cud", Json::text(self.structural.name())),
            // Agents stop at the first veto here, so it may only forbid the structural action itself, and none
            // is ever proposed that is forbidden. The key stays because they look for it.
            ("vetoes", Json::List(Vec::new())),
            ("hints", Json::texts(self.hints.clone())),
            ("vetoes_by_action", Json::Object(by_action)),
        ];
        Json::Object(members.into_iter().collect())
    }
}

impl Candidate {
    fn to_json(&self) -> Json {
        let memory = &self.memory;
        let status: Status = memory.lifecycle.status();
        let last = memory.history.last().and_then(|event| event.summary()).unwrap_or("Initial creation");
        let excerpt = [
            ("title", Json::text(&memory.title)),
            ("record_status", Json::text(status.name())),
            ("tags", Json::texts(memory.tags.iter().cloned())),
            ("last_change_summary", Json::text(last)),
            ("key_fields", Json::Object(key_fields(memory))),
        ];
        let members = [
            ("path", Json::text(&self.path)),
            ("title", Json::text(&memory.title)),
            ("tags", Json::texts(memory.tags.iter().cloned())),
            ("excerpt", Json::Object(excerpt.into_iter().collect())),
        ];
        Json::Object(members.into_iter().collect())
    }
}

fn key_fields(memory: &Memory) -> Object {
    let Some(category) = memory.kind.category() else { return Object::new() };
    let names: &[&str] = match category {
        Category::SessionSummary => &["goal", "outcome"],
        Category::Decision => &["context", "decision", "rationale"],
        Category::Runbook => &["trigger", "root_cause"],
        Category::Constraint => &["rule", "impact"],
        Category::TechDebt => &["description", "reason_deferred"],
        Category::Preference => &["topic", "value", "reason"],
    };
    let text = |value: &Json| match value {
        Json::Text(text) => Some(text.clone()),
        Json::List(_) => Some(value.to_texts().join("; ")),
        _ => None,
    };
    names
        .iter()
        .filter_map(|name| {
            memory.body.field(name).and_then(text).map(|text| (*name, Json::Text(start_of(&text))))
        })
        .collect()
}

/// No ellipsis: agents compare an excerpt with what they are about to write.
fn start_of(text: &str) -> String {
    text.chars().take(EXCERPT_MAX).collect()
}
