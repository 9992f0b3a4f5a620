//! Statements that the user rejected: they must not come back, not even in other words.

use super::CapturedItem;
use crate::forget::Traces;
use crate::json::{self, JsonFormat};
use crate::lifecycle::REASON_MAX;
use crate::secret;
use crate::statements::StatementPrint;
use crate::text::{cut, one_line};
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};

/// The oldest are dropped: each new statement is compared with all of them.
const REJECTED_MAX: usize = 300;

/// A rejected statement. Its words are only kept as hashes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RejectedStatement {
    /// See [`CapturedItem::kind_name`].
    pub kind: String,
    pub at: Timestamp,
    pub print: StatementPrint,
    pub because: String,
}

impl RejectedStatement {
    pub fn of(item: &CapturedItem, because: &str, now: Timestamp) -> RejectedStatement {
        RejectedStatement {
            kind: item.kind_name().to_owned(),
            at: now,
            print: StatementPrint::of(&item.words()),
            because: cut(&secret::masked(&one_line(because)), REASON_MAX),
        }
    }
}

/// The rejected statements of a project, one JSON line each.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RejectedStatements(Vec<RejectedStatement>);

impl RejectedStatements {
    /// Lines that cannot be read are skipped.
    pub fn read(text: &str) -> RejectedStatements {
        RejectedStatements(text.lines().filter_map(|line| json::from_str(line).ok()).collect())
    }

    pub fn to_text(&self) -> String {
        self.0.iter().map(|rejected| format!("{}\n", json::to_string(rejected, JsonFormat::LINE))).collect()
    }

    pub fn add(&mut self, rejected: RejectedStatement) {
        self.0.push(rejected);
        let surplus = self.0.len().saturating_sub(REJECTED_MAX);
        self.0.drain(..surplus);
    }

    /// The rejected statement of the same kind that says the same.
    pub fn find(&self, item: &CapturedItem) -> Option<&RejectedStatement> {
        let kind = item.kind_name();
        let mut of_kind = self.0.iter().filter(|rejected| rejected.kind == kind).peekable();
        of_kind.peek()?;
        let print = StatementPrint::of(&item.words());
        of_kind.find(|rejected| rejected.print.is_like(&print))
    }

    /// Drops the entries whose reason mentions a forgotten memory, and returns how many.
    pub fn forget(&mut self, traces: &Traces) -> usize {
        let before = self.0.len();
        self.0.retain(|rejected| !traces.are_told_in(&rejected.because));
        before - self.0.len()
    }
}
