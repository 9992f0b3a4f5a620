//! An entry of the working set, as `working-set.yml` has it.

use super::assemble::{Role, TruncateStrategy};
use serde::{Deserialize, Serialize};

/// What an agent suggests to do with a cold file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ColdAction {
    #[default]
    DeleteFromWorkingSet,
    SummarizeThenEvict,
    Archive,
    Compress,
}

impl ColdAction {
    pub const ALL: [ColdAction; 4] = [
        ColdAction::DeleteFromWorkingSet,
        ColdAction::SummarizeThenEvict,
        ColdAction::Archive,
        ColdAction::Compress,
    ];

    pub fn name(self) -> &'static str {
        match self {
            ColdAction::DeleteFromWorkingSet => "delete_from_working_set",
            ColdAction::SummarizeThenEvict => "summarize_then_evict",
            ColdAction::Archive => "archive",
            ColdAction::Compress => "compress",
        }
    }

    pub fn parse(name: &str) -> Option<ColdAction> {
        ColdAction::ALL.into_iter().find(|action| action.name() == name)
    }
}

/// A file of the working set. What the file does not say has a default by role and path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SetEntry {
    /// Relative to the project, or `memory:ADDRESS`.
    pub path: String,
    pub priority: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub truncate_strategy: Option<TruncateStrategy>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_lines: Option<u32>,
}

impl SetEntry {
    /// The priority of a file whose entry names none.
    pub const PRIORITY: f64 = 0.5;

    pub fn new(path: impl Into<String>, priority: f64) -> SetEntry {
        SetEntry { path: path.into(), priority, role: None, truncate_strategy: None, max_lines: None }
    }
}
