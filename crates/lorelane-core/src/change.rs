//! Plans of changes, and receipts of what they did.

use crate::digest::Revision;
use crate::json::Object;
use crate::lifecycle::{LifecycleVerb, Status};
use crate::mark::MarkKind;
use crate::memory::Address;
use crate::path::RelPath;
use crate::text::one_line;
use crate::time::Timestamp;

const FILES_NAMED_MAX: usize = 5;

/// Changes that happen together or not at all. All are in one lane: each lane has its own journal, and a change in
/// two journals cannot be atomic.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    pub changes: Vec<Change>,
    /// The reason shown in the log.
    pub because: String,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// `text` is the memory in its dialect.
    Create {
        address: Address,
        text: String,
    },
    Revise {
        address: Address,
        expects: Option<Revision>,
        draft: Draft,
    },
    Transition {
        address: Address,
        verb: LifecycleVerb,
        reason: String,
    },
    /// Removes the file. Its bytes stay in the journal, so `undo` restores it.
    Delete {
        address: Address,
    },
    Mark {
        address: Address,
        kind: MarkKind,
    },
    /// Another memory, of any lane, replaces this one: it gets the status `superseded` if its category has that,
    /// else it is retired; a mark names its successor.
    Supersede {
        address: Address,
        by: Address,
        reason: String,
    },
}

impl Change {
    /// The memory that changes.
    pub fn address(&self) -> &Address {
        match self {
            Change::Create { address, .. }
            | Change::Revise { address, .. }
            | Change::Transition { address, .. }
            | Change::Delete { address }
            | Change::Mark { address, .. }
            | Change::Supersede { address, .. } => address,
        }
    }
}

/// The new content of a revised memory.
#[derive(Clone, Debug, PartialEq)]
pub enum Draft {
    /// The whole text in its dialect. The caller has already added the history entry.
    Whole(String),
    /// Text to add at the end.
    Append { text: String },
    /// The same content under another address.
    Renamed { to: Address },
    /// The whole text; lorelane adds the history entries.
    Edited { text: String, because: Option<String> },
    /// Only these fields; lorelane adds the history entries.
    Partial {
        from: Option<PartialInput>,
        set: Vec<Assignment>,
        add_tags: Vec<String>,
        because: Option<String>,
    },
}

impl Draft {
    /// The text in the dialect that it brings.
    pub fn text(&self) -> Option<&str> {
        match self {
            Draft::Whole(text) | Draft::Append { text } | Draft::Edited { text, .. } => Some(text),
            Draft::Partial { from: Some(PartialInput::Text(text)), .. } => Some(text),
            Draft::Renamed { .. } | Draft::Partial { .. } => None,
        }
    }
}

/// The input of a partial draft. Text and fields are separate variants, because for a note only text makes sense:
/// fields rendered as JSON would become the note's text.
#[derive(Clone, Debug, PartialEq)]
pub enum PartialInput {
    /// In the dialect: a record with some of its fields, a note with or without frontmatter.
    Text(String),
    /// Some fields of a record, by name.
    Fields(Object),
}

/// `path=value` as typed; the dialect knows the type of the field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    pub path: String,
    pub value: String,
}

/// The result of a committed plan. The journal has the same, and `undo` reverts it.
#[derive(Clone, Debug, PartialEq)]
pub struct Receipt {
    /// The number of the journal entry; `None` if nothing changed.
    pub number: Option<u64>,
    pub at: Timestamp,
    pub outcomes: Vec<Outcome>,
    pub notices: Vec<Notice>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    pub address: Address,
    pub path: RelPath,
    pub title: String,
    pub effect: Effect,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    Created,
    Revised {
        revised: u64,
        renamed_from: Option<(Address, RelPath)>,
    },
    Transitioned {
        to: Status,
        reason: String,
    },
    /// No change: it already had this status.
    Already(Status),
    Deleted,
    Marked(MarkKind),
    /// `undo` restored the previous content of this file, or removed it.
    Undone,
}

/// Something to report about a change that succeeded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// A value was fixed before saving.
    Fixed {
        field: String,
        what: String,
    },
    Warning(String),
    /// `related_files` that do not exist in the project.
    NoSuchFiles(Vec<String>),
    /// A session summary drops out of the window of recent sessions, and no other memory contains these items.
    Leaving {
        session: String,
        items: Vec<String>,
    },
    /// Another active memory says nearly the same as the one that was saved.
    NearDuplicate {
        saved: Address,
        like: Address,
    },
}

impl Notice {
    pub fn warning(text: impl Into<String>) -> Notice {
        Notice::Warning(text.into())
    }

    /// The notice as one line; the caller adds a prefix such as `warning:`.
    pub fn text(&self) -> String {
        match self {
            Notice::Fixed { field, what } => format!("{field}: {what}"),
            Notice::Warning(text) => text.clone(),
            Notice::NoSuchFiles(files) => {
                let named = files.iter().take(FILES_NAMED_MAX).map(|file| one_line(file));
                let more = match files.len().saturating_sub(FILES_NAMED_MAX) {
                    0 => String::new(),
                    count => format!(" and {count} more"),
                };
                let are = if files.len() == 1 { "is" } else { "are" };
                let named = named.collect::<Vec<_>>().join(", ");
                format!(
                    "related_files: {named}{more} {are} not in the project; fix the path if it is a mistake"
                )
            }
            Notice::NearDuplicate { saved, like } if like.is_note() => format!(
                "{like} says nearly the same: keep one of them; if {saved} replaces it, `lorelane supersede {like} --by {saved}`, and to join them, `lorelane merge {saved} --into {like}`"
            ),
            Notice::NearDuplicate { saved, like } => format!(
                "{like} says nearly the same: keep one of them; if {saved} replaces it, `lorelane supersede {like} --by {saved}`, and if not, put what is new into it with `lorelane update {like}` and retire {saved}"
            ),
            Notice::Leaving { session, items } => format!(
                "Session {session} contains unique content not captured elsewhere: {}. Consider saving these before retirement.",
                items.join("; ")
            ),
        }
    }

    pub fn fixed(field: &str, what: impl Into<String>) -> Notice {
        Notice::Fixed { field: field.to_owned(), what: what.into() }
    }
}
