//! Counts of notes, by type and tag.

use super::{ToolCall, open, tool_error};
use crate::mcp::answer::{ToolAnswer, ToolResult};
use crate::mcp::schema::{Schema, of_type, whole_object};
use crate::view::{Members, NotesStatsView};
use lorelane_engine::index::ListFilter;
use std::collections::BTreeMap;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// Counts archived notes, but not deleted ones.
pub(super) fn stats(call: &ToolCall<'_>) -> ToolResult {
    let mut workspace = open(call)?;
    let mut entries = workspace.recall().entries(ListFilter::default()).map_err(tool_error)?;
    entries.retain(|entry| entry.address.is_note() && !entry.address.is_trash());
    let sizes = workspace.files().sightings();
    let size: u64 = entries.iter().filter_map(|entry| sizes.get(&entry.address)).map(|seen| seen.size).sum();
    let tags = counted(entries.iter().flat_map(|entry| entry.tags.iter().map(String::as_str)));
    let types = counted(entries.iter().map(|entry| entry.kind.name()));
    let folder = workspace.files().notes_folder().map(|folder| folder.display().to_string());
    Ok(ToolAnswer::verbatim(&NotesStatsView {
        count: entries.len(),
        total_size: readable(size),
        tags,
        types,
        memory_path: folder.unwrap_or_default(),
    }))
}

/// How often each name occurs, most frequent first.
fn counted<'n>(names: impl Iterator<Item = &'n str>) -> Members<&'n str, usize> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    names.for_each(|name| *counts.entry(name).or_default() += 1);
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    counts.into_iter().collect()
}

fn readable(bytes: u64) -> String {
    let tenths = |unit: u64| format!("{:.1}", bytes as f64 / unit as f64);
    match bytes {
        ..KIB => format!("{bytes}B"),
        KIB..MIB => format!("{}KB", tenths(KIB)),
        MIB.. => format!("{}MB", tenths(MIB)),
    }
}

pub(super) fn schema() -> Schema {
    whole_object(vec![
        ("count", of_type("integer")),
        ("total_size", of_type("string")),
        ("tags", of_type("object")),
        ("types", of_type("object")),
        ("memory_path", of_type("string")),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_said_as_the_first_notes_said_them() {
        for (bytes, expected) in [(0, "0B"), (1023, "1023B"), (46_285, "45.2KB"), (3 << 20, "3.0MB")] {
            assert_eq!(readable(bytes), expected);
        }
    }
}
