//! Kinds of memories: categories of records, types of notes and of Claude Code's memories.

use super::lane::LaneId;
use crate::json::as_text;
use std::fmt;

/// The category of a record, or the type of a note or of one of Claude Code's memories.
///
/// One type for all lanes, because ranking, filters and forgetting treat all memories alike, and no memory can
/// have two or none. A rule that applies to records only asks for [`MemoryKind::category`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MemoryKind {
    Record(Category),
    Note(NoteType),
    Auto(AutoType),
}

impl MemoryKind {
    /// The lane that memories of this kind are kept in.
    pub fn lane(self) -> LaneId {
        match self {
            MemoryKind::Record(_) => LaneId::Records,
            MemoryKind::Note(_) => LaneId::Notes,
            MemoryKind::Auto(_) => LaneId::Auto,
        }
    }

    /// All kinds. New ones are appended: an index stores a kind by its position here.
    pub fn all() -> impl Iterator<Item = MemoryKind> {
        Category::ALL
            .into_iter()
            .map(MemoryKind::Record)
            .chain(NoteType::ALL.into_iter().map(MemoryKind::Note))
            .chain(AutoType::ALL.into_iter().map(MemoryKind::Auto))
    }

    pub fn category(self) -> Option<Category> {
        if let MemoryKind::Record(category) = self { Some(category) } else { None }
    }

    pub fn note_type(self) -> Option<NoteType> {
        if let MemoryKind::Note(note_type) = self { Some(note_type) } else { None }
    }

    pub fn auto_type(self) -> Option<AutoType> {
        if let MemoryKind::Auto(auto_type) = self { Some(auto_type) } else { None }
    }

    pub fn name(self) -> &'static str {
        match self {
            MemoryKind::Record(category) => category.name(),
            MemoryKind::Note(note_type) => note_type.name(),
            MemoryKind::Auto(auto_type) => auto_type.name(),
        }
    }

    pub fn parse(name: &str) -> Option<MemoryKind> {
        MemoryKind::all().find(|kind| kind.name() == name)
    }

    /// The name in listings.
    pub fn display(self) -> &'static str {
        match self {
            MemoryKind::Record(category) => category.display(),
            MemoryKind::Note(note_type) => note_type.display(),
            MemoryKind::Auto(auto_type) => auto_type.display(),
        }
    }
}

impl fmt::Display for MemoryKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The types of notes, the same as in `ragdocs`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NoteType {
    Plan,
    /// Also the type of a note with a missing or unknown `type`.
    #[default]
    Journal,
    Fact,
    Observation,
    Reflection,
}

impl NoteType {
    pub const ALL: [NoteType; 5] =
        [NoteType::Plan, NoteType::Journal, NoteType::Fact, NoteType::Observation, NoteType::Reflection];

    pub fn name(self) -> &'static str {
        match self {
            NoteType::Plan => "plan",
            NoteType::Journal => "journal",
            NoteType::Fact => "fact",
            NoteType::Observation => "observation",
            NoteType::Reflection => "reflection",
        }
    }

    pub fn display(self) -> &'static str {
        match self {
            NoteType::Plan => "PLAN",
            NoteType::Journal => "JOURNAL",
            NoteType::Fact => "FACT",
            NoteType::Observation => "OBSERVATION",
            NoteType::Reflection => "REFLECTION",
        }
    }

    pub fn parse(text: &str) -> Option<NoteType> {
        NoteType::ALL.into_iter().find(|note_type| note_type.name() == text)
    }
}

/// The types of Claude Code's memories: its own four, and `value`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AutoType {
    User,
    Feedback,
    Project,
    Reference,
    /// "X is better than Y". The client does not know it: it is written as feedback of the kind `value`.
    Value,
    /// Without a type, or with one that somebody invented. The file keeps what it says.
    #[default]
    Unknown,
}

impl AutoType {
    pub const ALL: [AutoType; 6] = [
        AutoType::User,
        AutoType::Feedback,
        AutoType::Project,
        AutoType::Reference,
        AutoType::Value,
        AutoType::Unknown,
    ];

    pub fn name(self) -> &'static str {
        match self {
            AutoType::User => "user",
            AutoType::Feedback => "feedback",
            AutoType::Project => "project",
            AutoType::Reference => "reference",
            AutoType::Value => "value",
            AutoType::Unknown => "unknown",
        }
    }

    pub fn display(self) -> &'static str {
        match self {
            AutoType::User => "USER",
            AutoType::Feedback => "FEEDBACK",
            AutoType::Project => "PROJECT",
            AutoType::Reference => "REFERENCE",
            AutoType::Value => "VALUE",
            AutoType::Unknown => "UNKNOWN",
        }
    }

    /// Parses a type as people write it, in any case. What nobody knows is [`AutoType::Unknown`].
    pub fn parse(text: &str) -> AutoType {
        let known = AutoType::ALL.into_iter().find(|known| text.trim().eq_ignore_ascii_case(known.name()));
        known.unwrap_or_default()
    }
}

/// The six categories of records. The set is fixed, because every agent that writes records relies on it; any
/// other topic is a tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Category {
    SessionSummary,
    Decision,
    Runbook,
    Constraint,
    TechDebt,
    Preference,
}

impl Category {
    pub const ALL: [Category; 6] = [
        Category::SessionSummary,
        Category::Decision,
        Category::Runbook,
        Category::Constraint,
        Category::TechDebt,
        Category::Preference,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Category::SessionSummary => "session_summary",
            Category::Decision => "decision",
            Category::Runbook => "runbook",
            Category::Constraint => "constraint",
            Category::TechDebt => "tech_debt",
            Category::Preference => "preference",
        }
    }

    pub fn folder(self) -> &'static str {
        match self {
            Category::SessionSummary => "sessions",
            Category::Decision => "decisions",
            Category::Runbook => "runbooks",
            Category::Constraint => "constraints",
            Category::TechDebt => "tech-debt",
            Category::Preference => "preferences",
        }
    }

    /// The name in listings.
    pub fn display(self) -> &'static str {
        match self {
            Category::SessionSummary => "SESSION_SUMMARY",
            Category::Decision => "DECISION",
            Category::Runbook => "RUNBOOK",
            Category::Constraint => "CONSTRAINT",
            Category::TechDebt => "TECH_DEBT",
            Category::Preference => "PREFERENCE",
        }
    }

    /// Parses a category's name or folder.
    pub fn parse(text: &str) -> Option<Category> {
        Category::ALL.into_iter().find(|category| category.name() == text || category.folder() == text)
    }

    pub fn of_folder(folder: &str) -> Option<Category> {
        Category::ALL.into_iter().find(|category| category.folder() == folder)
    }
}

impl fmt::Display for Category {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

as_text!(Category, Category::parse);

#[cfg(test)]
mod tests {
    use super::*;

    /// Indexes keep a kind by its name.
    #[test]
    fn no_two_kinds_share_a_name() {
        MemoryKind::all().for_each(|kind| assert_eq!(MemoryKind::parse(kind.name()), Some(kind)));
        assert_eq!(
            MemoryKind::all().count(),
            Category::ALL.len() + NoteType::ALL.len() + AutoType::ALL.len()
        );
    }
}
