//! What sorts of memories there are: categories of records, types of notes.

use super::lane::LaneId;
use crate::json::as_text;
use std::fmt;

/// What sort of memory it is, in the words of its lane.
///
/// One type for all lanes, because ranking, filters and forgetting ask every memory the same question; a rule that
/// only records have asks for the [`MemoryKind::category`], and a note has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MemoryKind {
    Record(Category),
    Note(NoteType),
}

impl MemoryKind {
    /// The lane that memories of this kind are kept in.
    pub fn lane(self) -> LaneId {
        match self {
            MemoryKind::Record(_) => LaneId::Records,
            MemoryKind::Note(_) => LaneId::Notes,
        }
    }

    /// Every kind there is, in an order that only grows at its end: indexes number them.
    pub fn all() -> impl Iterator<Item = MemoryKind> {
        Category::ALL
            .into_iter()
            .map(MemoryKind::Record)
            .chain(NoteType::ALL.into_iter().map(MemoryKind::Note))
    }

    pub fn category(self) -> Option<Category> {
        if let MemoryKind::Record(category) = self { Some(category) } else { None }
    }

    pub fn note_type(self) -> Option<NoteType> {
        if let MemoryKind::Note(note_type) = self { Some(note_type) } else { None }
    }

    pub fn name(self) -> &'static str {
        match self {
            MemoryKind::Record(category) => category.name(),
            MemoryKind::Note(note_type) => note_type.name(),
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
        }
    }
}

impl fmt::Display for MemoryKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The types of notes, as the first notes had them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NoteType {
    Plan,
    /// What a note is that does not say, or says something else.
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

/// The six categories of records. They are the contract with every agent that writes records; other topics are tags.
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

    /// Reads a category's name or folder.
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
        assert_eq!(MemoryKind::all().count(), Category::ALL.len() + NoteType::ALL.len());
    }
}
