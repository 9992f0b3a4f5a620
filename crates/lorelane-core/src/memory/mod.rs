//! A memory as every rule sees it, whatever format its file has.

mod address;
mod history;
mod kind;
mod lane;
pub mod link;
pub mod trash;

pub use address::{Address, NOTE_FOLDERS_MAX};
pub use history::{HISTORY_MAX, HistoryEntry, add_to_history, drop_oldest};
pub use kind::{AutoType, Category, MemoryKind, NoteType};
pub use lane::LaneId;

use crate::json::{Json, Object};
use crate::lifecycle::Lifecycle;
use crate::time::Timestamp;
use crate::validity::Validity;
use link::Link;

/// Something an agent should know beyond this session.
#[derive(Clone, Debug, PartialEq)]
pub struct Memory {
    pub address: Address,
    pub kind: MemoryKind,
    pub title: String,
    pub body: Body,
    pub tags: Vec<String>,
    /// Links found in the text. Parsing fills them in and writing ignores them: the text is authoritative.
    pub links: Vec<Link>,
    /// The files it is about (`related_files`), as paths relative to the project root.
    pub about: Vec<String>,
    pub lifecycle: Lifecycle,
    /// Whether it is still true. Parsing fills it in and writing ignores it, as with links.
    pub validity: Validity,
    pub confidence: Option<f64>,
    pub created: Option<Timestamp>,
    pub updated: Option<Timestamp>,
    pub history: Vec<HistoryEntry>,
    /// Number of revisions since it was created.
    pub revised: u64,
    /// Keys that the dialect preserves and no rule reads.
    pub extra: Object,
}

impl Memory {
    /// When its content last changed. A change of status alone does not make it newer: what it says is as old as
    /// before. A note's file has no history, so its date is the only one.
    pub fn content_changed(&self) -> Option<Timestamp> {
        let changed = self.updated.or(self.created);
        let mut newest_first = self.history.iter().rev();
        let is_of_status =
            |entry: &&HistoryEntry| entry.field().is_some_and(|field| STATUS_FIELDS.contains(&field));
        // Without an entry for its latest date, somebody else changed the file: nothing says that it was the status.
        let is_latest = |entry: &HistoryEntry| entry.at().is_some_and(|at| Some(at) == self.updated);
        if !newest_first.clone().next().filter(is_of_status).is_some_and(is_latest) {
            return changed;
        }
        let content = newest_first.find(|entry| !is_of_status(entry));
        content.and_then(HistoryEntry::at).or(self.created).min(changed).or(changed)
    }
}

/// The fields that say whether a memory is current, as its history names them.
const STATUS_FIELDS: [&str; 4] = ["record_status", "content.status", "content.active", "content.expires"];

/// The content of a memory.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// A record's content: named fields and not prose, because rules and excerpts read fields.
    Fields(Object),
    /// A note's text, without blank lines before it and whitespace after it.
    Prose(String),
}

impl Body {
    /// The field with this name; always `None` for prose.
    pub fn field(&self, name: &str) -> Option<&Json> {
        match self {
            Body::Fields(fields) => fields.get(name),
            Body::Prose(_) => None,
        }
    }

    /// The whole content as text for search.
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

    /// The whole content as text for comparison: the order of the fields makes no difference.
    pub fn statement(&self) -> String {
        let fields = match self {
            Body::Fields(fields) => fields,
            Body::Prose(text) => return text.clone(),
        };
        let mut said = Vec::new();
        for (key, value) in fields.iter() {
            value.each_text(&mut |path, text| said.push((format!("{key}.{path}"), text.to_owned())));
        }
        // By path, so that the order of keys in the file does not matter.
        said.sort();
        said.into_iter().map(|(_, text)| text).collect::<Vec<_>>().join("\n")
    }
}
