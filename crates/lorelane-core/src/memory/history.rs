//! The history inside a record's file (`changes`).

use crate::json::Json;
use crate::time::Timestamp;

/// The longest history; the oldest entries are dropped first.
pub const HISTORY_MAX: usize = 50;

/// One entry of a record's history, kept as JSON: history is only appended to, so unknown members survive.
#[derive(Clone, Debug, PartialEq)]
pub struct HistoryEntry(pub Json);

impl HistoryEntry {
    pub fn new(at: Timestamp, summary: &str) -> HistoryEntry {
        let members = [("date", Json::text(at.to_string())), ("summary", Json::text(summary))];
        HistoryEntry(Json::Object(members.into_iter().collect()))
    }

    /// Adds the field that changed, with its old and new value.
    pub fn with(self, field: &str, old: Json, new: Json) -> HistoryEntry {
        let HistoryEntry(Json::Object(mut object)) = self else { return self };
        object.set("field", Json::text(field));
        object.set("old_value", old);
        object.set("new_value", new);
        HistoryEntry(Json::Object(object))
    }

    pub fn summary(&self) -> Option<&str> {
        self.0.at("summary").and_then(Json::as_text)
    }

    /// The field that changed, if the entry names one.
    pub fn field(&self) -> Option<&str> {
        self.0.at("field").and_then(Json::as_text)
    }

    pub fn at(&self) -> Option<Timestamp> {
        self.date().and_then(Timestamp::parse).map(|(at, _)| at)
    }

    pub fn date(&self) -> Option<&str> {
        self.0.at("date").and_then(Json::as_text)
    }
}

/// Appends an entry and drops the oldest beyond [`HISTORY_MAX`].
pub fn add_to_history(history: &mut Vec<HistoryEntry>, entry: HistoryEntry) {
    history.push(entry);
    drop_oldest(history);
}

pub fn drop_oldest(history: &mut Vec<HistoryEntry>) {
    let over = history.len().saturating_sub(HISTORY_MAX);
    history.drain(..over);
}
