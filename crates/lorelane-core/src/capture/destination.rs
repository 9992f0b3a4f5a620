//! Where an item belongs. It is a proposal: only a memory is saved without being told so.

use super::CapturedItem;
use crate::statements::{StatementForm, StatementKind, is_passing, is_standing_rule};

/// Where an item belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destination {
    Memory,
    /// A choice between values: the memories that last longest.
    ValueMemory,
    /// What is always or never done: in the file that Claude Code loads in every session.
    ClaudeMd,
    /// The same for other agents.
    AgentsMd,
    /// What people read: a file in `docs/knowledge/`.
    Knowledge,
    /// It ends with its session.
    Skip,
}

/// An explanation of more words is for people; a reminder has no room for it.
const KNOWLEDGE_WORDS: usize = 40;

impl Destination {
    pub const ALL: [Destination; 6] = [
        Destination::Memory,
        Destination::ValueMemory,
        Destination::ClaudeMd,
        Destination::AgentsMd,
        Destination::Knowledge,
        Destination::Skip,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Destination::Memory => "memory",
            Destination::ValueMemory => "value-memory",
            Destination::ClaudeMd => "claude-md",
            Destination::AgentsMd => "agents-md",
            Destination::Knowledge => "knowledge",
            Destination::Skip => "skip",
        }
    }

    /// Where an item from a session of this client belongs.
    pub fn of(item: &CapturedItem, client: &str) -> Destination {
        let words = item.words();
        let is_rule = !matches!(item.kind, None | Some(StatementKind::Runbook | StatementKind::TechDebt));
        if item.form == Some(StatementForm::Value) {
            Destination::ValueMemory
        } else if is_rule && is_standing_rule(&words) {
            if client == "claude-code" { Destination::ClaudeMd } else { Destination::AgentsMd }
        } else if item.kind.is_some() && !item.is_request() && is_passing(&words) {
            Destination::Skip
        } else if item.kind.is_some() && words.split_whitespace().count() > KNOWLEDGE_WORDS {
            Destination::Knowledge
        } else {
            Destination::Memory
        }
    }

    pub fn is_memory(self) -> bool {
        matches!(self, Destination::Memory | Destination::ValueMemory)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::{Origin, words_digest};
    use crate::conversation::TranscriptPosition;

    #[test]
    fn an_item_belongs_where_it_is_of_use() {
        let long = "the importer keeps its cursor in the database ".repeat(6);
        for (kind, form, client, words, expected) in [
            (
                StatementKind::Preference,
                Some(StatementForm::Value),
                "codex",
                "never mind speed, clarity over speed",
                "value-memory",
            ),
            (
                StatementKind::Preference,
                None,
                "claude-code",
                "Always run the linter before a commit",
                "claude-md",
            ),
            (StatementKind::Correction, None, "codex", "no, never push to main", "agents-md"),
            (StatementKind::Runbook, None, "codex", "the cache was never cleared", "memory"),
            (StatementKind::Decision, None, "codex", "we use Postgres for the queue", "memory"),
            (StatementKind::Decision, None, "codex", "just this once skip the changelog", "skip"),
            (StatementKind::Decision, None, "codex", long.as_str(), "knowledge"),
        ] {
            let origin = Origin {
                session: "s".to_owned(),
                at: TranscriptPosition::Line(1),
                words: words_digest(words),
            };
            let item = CapturedItem {
                kind: Some(kind),
                form,
                ..CapturedItem::new(kind.category(), vec![words.to_owned()], String::new(), origin)
            };
            assert_eq!(Destination::of(&item, client).name(), expected, "{words}");
        }
    }
}
