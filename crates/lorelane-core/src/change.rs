//! What shall be done, and what was done.

use crate::digest::Revision;
use crate::json::Object;
use crate::lifecycle::{LifecycleVerb, Status};
use crate::mark::MarkKind;
use crate::memory::Address;
use crate::path::RelPath;
use crate::text::one_line;
use crate::time::Timestamp;

const FILES_NAMED_MAX: usize = 5;

/// Changes that happen together or not at all.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    pub changes: Vec<Change>,
    /// What a reader of the log sees as the reason.
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
    /// Removes the file. Its bytes stay in the journal, so an undo brings it back.
    Delete {
        address: Address,
    },
    Mark {
        address: Address,
        kind: MarkKind,
    },
}

impl Change {
    /// The memory that it is about.
    pub fn address(&self) -> &Address {
        match self {
            Change::Create { address, .. }
            | Change::Revise { address, .. }
            | Change::Transition { address, .. }
            | Change::Delete { address }
            | Change::Mark { address, .. } => address,
        }
    }
}

/// How a memory shall read after a revision.
#[derive(Clone, Debug, PartialEq)]
pub enum Draft {
    /// All of it, in its dialect, its own history entry included.
    Whole(String),
    /// A text that follows what stands there.
    Append { text: String },
    /// What stands there, under another name.
    Renamed { to: Address },
    /// All of it; lorelane writes the history entries.
    Edited { text: String, because: Option<String> },
    /// Only these fields; lorelane writes the history entries.
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

/// What a partial draft brings at once. The two are apart because only one of them can be what a note says: fields
/// that somebody rendered as a text would stand there as its text.
#[derive(Clone, Debug, PartialEq)]
pub enum PartialInput {
    /// In the dialect: a record with some of its fields, a note with or without a head.
    Text(String),
    /// Fields of a record by their names, as many as somebody cares to give.
    Fields(Object),
}

/// `path=value` as it was typed; the dialect knows the field's type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    pub path: String,
    pub value: String,
}

/// What was done. The journal holds the same, and `undo` takes it back.
#[derive(Clone, Debug, PartialEq)]
pub struct Receipt {
    /// Its number in the journal; `None` when nothing had to be changed.
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
    pub deed: Effect,
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
    /// It already was as asked.
    Already(Status),
    Deleted,
    Marked(MarkKind),
    /// An undo put this file back as it was, or took it away.
    Undone,
}

/// Something the person should know though the change went through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// A value was mended on the way in.
    Fixed {
        field: String,
        what: String,
    },
    Warning(String),
    /// Files that a memory is said to be about and that the project does not have.
    NoSuchFiles(Vec<String>),
    /// A session leaves the window, and these items of it stand nowhere else.
    Leaving {
        session: String,
        items: Vec<String>,
    },
}

impl Notice {
    pub fn warning(text: impl Into<String>) -> Notice {
        Notice::Warning(text.into())
    }

    /// The notice for a line of text; its face puts the head before it.
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
                format!("related_files: {named}{more} {are} not in the project; correct what is a mistake")
            }
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
