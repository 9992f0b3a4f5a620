//! A memory as every rule sees it, whatever format its file has.

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
    pub confidence: Option<f64>,
    pub created: Option<Timestamp>,
    pub updated: Option<Timestamp>,
    pub history: Vec<HistoryEntry>,
    /// Number of revisions since it was created.
    pub revised: u64,
    /// Keys that the dialect preserves and no rule reads.
    pub extra: Object,
}

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
