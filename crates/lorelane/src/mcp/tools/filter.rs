//! Reads filter arguments into a query. Recall applies them.

use crate::mcp::answer::ToolError;
use crate::mcp::schema::Arguments;
use lorelane_core::memory::{Category, LaneId, NoteType};
use lorelane_core::recall::Query;
use lorelane_core::time::{TimeFault, Timestamp};

pub(super) const TYPES: &[&str] = &["plan", "journal", "fact", "observation", "reflection"];
pub(super) const LANES: &[&str] = &["records", "notes", "auto"];

/// Restricts a query to a lane, to categories and to note types, each given as one name or as a list.
pub(super) fn kinds(arguments: &Arguments, query: &mut Query) {
    let given = |one: &str, many: &str| {
        arguments.text(one).map(str::to_owned).into_iter().chain(arguments.texts(many))
    };
    query.lanes = arguments.text("lane").and_then(LaneId::parse).into_iter().collect();
    query.categories = given("category", "categories").filter_map(|name| Category::parse(&name)).collect();
    query.types = given("type", "types").filter_map(|name| NoteType::parse(&name)).collect();
}

/// A time in the past, such as `2026-01-31` or `30d`.
pub(super) fn moment(
    arguments: &Arguments,
    name: &str,
    now: Timestamp,
) -> Result<Option<Timestamp>, ToolError> {
    let Some(text) = arguments.text(name) else { return Ok(None) };
    let unclear = |fault| {
        let what = match fault {
            TimeFault::Form => format!("'{text}' is not a valid time"),
            TimeFault::Date => format!("'{text}' is {fault}"),
        };
        ToolError::new(what, format!("write `{name}` as 2026-01-31, 2026-01-31T09:00:00Z, 12h, 30d or 2w"))
    };
    Timestamp::typed(text, now).map(Some).map_err(unclear)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lorelane_core::memory::MemoryKind;

    #[test]
    fn the_names_that_clients_see_are_those_of_memories() {
        assert_eq!(NoteType::ALL.map(NoteType::name), TYPES);
        let mut lanes: Vec<&str> = MemoryKind::all().map(|kind| kind.lane().name()).collect();
        lanes.dedup();
        assert_eq!(lanes, LANES);
    }
}
