//! The one noun: a memory, whichever way it is written down.

mod address;
mod history;
mod kind;
mod lane;
pub mod link;
pub mod trash;

pub use address::{Address, NOTE_FOLDERS_MAX};
pub use history::{HISTORY_MAX, HistoryEntry, add_to_history, drop_oldest};
pub use kind::{Category, MemoryKind, NoteType};
pub use lane::LaneId;

use crate::json::{Json, Object};
use crate::lifecycle::Lifecycle;
use crate::time::Timestamp;
use link::Link;

/// What an agent should know beyond this session.
#[derive(Clone, Debug, PartialEq)]
pub struct Memory {
    pub address: Address,
    pub kind: MemoryKind,
    pub title: String,
    pub body: Body,
    pub tags: Vec<String>,
    /// What its text points to. The text is what counts: a reader fills these in, and a writer ignores them.
    pub links: Vec<Link>,
    /// The files it speaks of, as paths from the project's root.
    pub about: Vec<String>,
    pub lifecycle: Lifecycle,
    pub confidence: Option<f64>,
    pub created: Option<Timestamp>,
    pub updated: Option<Timestamp>,
    pub history: Vec<HistoryEntry>,
    /// How often it was revised since it was created.
    pub revised: u64,
    /// What the dialect keeps and no rule reads.
    pub extra: Object,
}

/// What a memory says.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// Named fields, as the records have them.
    Fields(Object),
    /// Text, as a note has it: from its first line that says something to its last character that does.
    Prose(String),
}

impl Body {
    /// The field of this name; prose has none.
    pub fn field(&self, name: &str) -> Option<&Json> {
        match self {
            Body::Fields(fields) => fields.get(name),
            Body::Prose(_) => None,
        }
    }

    /// All that is said, as prose for a search.
    pub fn prose(&self) -> String {
        match self {
            Body::Fields(fields) => {
                let mut prose = String::new();
                fields.iter().for_each(|(_, value)| value.append_texts(&mut prose));
                prose
            }
            Body::Prose(text) => text.clone(),
        }
    }

    /// All that is said, for a comparison: the order of the fields makes no difference.
    pub fn statement(&self) -> String {
        let fields = match self {
            Body::Fields(fields) => fields,
            Body::Prose(text) => return text.clone(),
        };
        let mut said = Vec::new();
        for (key, value) in fields.iter() {
            value.each_text(&mut |path, text| said.push((format!("{key}.{path}"), text.to_owned())));
        }
        said.sort();
        said.into_iter().map(|(_, text)| text).collect::<Vec<_>>().join("\n")
    }
}
