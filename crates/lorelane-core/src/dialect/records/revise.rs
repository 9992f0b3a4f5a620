//! Merge rules of a revision: tags and related files only grow, history is append-only.

use super::fields::{self, NO_TAG, TAG_MAX};
use super::fix;
use crate::change::Notice;
use crate::dialect::WriteContext;
use crate::json::{Json, Object};
use crate::lifecycle::REASON_MAX;
use crate::memory::{Category, HistoryEntry};
use crate::refusal::MergeFault;
use crate::text::cut;
use std::collections::BTreeSet;

/// Who writes the history entries of a revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Historian<'a> {
    /// The draft has its own entries; only changed scalars of the content are added, as the scripts do.
    Drafter,
    /// Every changed field gets an entry, with this reason if there is one.
    Lorelane { because: Option<&'a str> },
}

/// Restores the fields that a revision may not change; returns those that it tried to change.
pub(super) fn keep_fixed_fields(new: &mut Object, old: &Object, id: &str) -> Vec<&'static str> {
    let drafted = new.clone();
    for key in ["created_at", "schema_version", "category"] {
        if let Some(value) = old.get(key).filter(|value| **value != Json::Null) {
            new.set(key, value.clone());
        }
    }
    new.set("id", Json::text(id));
    for key in ["record_status", "retired_at", "retired_reason", "archived_at", "archived_reason"] {
        match old.get(key) {
            Some(value) => new.set(key, value.clone()),
            None => {
                new.remove(key);
            }
        }
    }
    let fixed = ["id", "category", "schema_version", "record_status", "created_at"];
    fixed
        .into_iter()
        .filter(|key| drafted.get(key).is_some_and(|value| new.get(key) != Some(value)))
        .collect()
}

/// Checks the grow-only fields and returns the history entries that the revision adds.
pub(super) fn merge(
    old: &Object,
    new: &Object,
    category: Category,
    historian: Historian<'_>,
    context: &WriteContext,
    notices: &mut Vec<Notice>,
) -> Result<Vec<HistoryEntry>, MergeFault> {
    let eviction = merge_tags(old, new, historian, context)?;
    let evicted = eviction.is_some();
    let mut events = Vec::from_iter(eviction);
    merge_files(old, new, context)?;
    merge_history(old, new)?;
    warn_of_shrunk_lists(old, new, notices);
    for path in watched(old, new, category, historian) {
        let [before, after] = [old, new].map(|record| record.at(&path).cloned().unwrap_or(Json::Null));
        let scalar = !matches!(before, Json::List(_) | Json::Object(_));
        if before.means(&after) || (historian == Historian::Drafter && !scalar) {
            continue;
        }
        if path == "tags" && evicted {
            continue;
        }
        let summary = match historian {
            Historian::Lorelane { because: Some(because) } => cut(because, REASON_MAX),
            _ => format!("{path} changed"),
        };
        events.push(HistoryEntry::new(context.now, &summary).with(&path, before, after));
    }
    let (old_count, given) = (history(old).len(), history(new).len());
    if given + events.len() <= old_count && historian == Historian::Drafter {
        return Err(MergeFault {
            field: "changes",
            rule: "append-only (new entry required)",
            details: counts(old_count, "total_count", given + events.len()),
            fix: "At least one new change entry is required per UPDATE".to_owned(),
        });
    }
    Ok(events)
}

/// The fields whose changes are recorded in the history. The order is fixed, so that the same revision gives the
/// same file: the field table's order, unknown fields in the order of the records.
fn watched(old: &Object, new: &Object, category: Category, historian: Historian<'_>) -> Vec<String> {
    let mut paths = Vec::new();
    let mut watch = |path: String| {
        if !paths.contains(&path) {
            paths.push(path);
        }
    };
    if historian != Historian::Drafter {
        ["title", "confidence", "related_files", "tags"].into_iter().for_each(|key| watch(key.to_owned()));
        let known = |key: &str| fields::BASE.fields.iter().any(|field| field.name == key);
        let keys = old.iter().chain(new.iter()).map(|(key, _)| key);
        keys.filter(|key| !known(key)).for_each(|key| watch(key.to_owned()));
    }
    fields::content(category).fields.iter().for_each(|field| watch(format!("content.{}", field.name)));
    for content in [old, new].into_iter().filter_map(|record| record.get("content")?.as_object()) {
        content.iter().for_each(|(key, _)| watch(format!("content.{key}")));
    }
    paths
}

fn merge_tags(
    old: &Object,
    new: &Object,
    historian: Historian<'_>,
    context: &WriteContext,
) -> Result<Option<HistoryEntry>, MergeFault> {
    // Compared in normalized form: a tag that only changes case is not removed.
    let set = |record: &Object| -> BTreeSet<String> {
        let tags = record.get("tags").map(Json::to_texts).unwrap_or_default();
        tags.iter().map(|tag| fix::safe_tag(tag)).filter(|tag| !tag.is_empty()).collect()
    };
    let (old, new) = (set(old), set(new));
    let removed: Vec<&String> = old.difference(&new).filter(|tag| *tag != NO_TAG).collect();
    let added: Vec<&String> = new.difference(&old).collect();
    let list = |tags: &[&String]| Json::texts(tags.iter().map(|tag| tag.as_str()));
    if !added.is_empty() && new.len() > TAG_MAX {
        return Err(MergeFault {
            field: "tags",
            rule: "cap exceeded",
            details: vec![("count", new.len().to_string())],
            fix: format!("Keep tags at or below {TAG_MAX}"),
        });
    }
    if removed.is_empty() {
        return Ok(None);
    }
    let removed_text = list(&removed).render(crate::json::JsonFormat::SCRIPT_LINE);
    if old.len() < TAG_MAX {
        return Err(MergeFault {
            field: "tags",
            rule: "grow-only (below cap of 12)",
            details: vec![("removed", removed_text)],
            fix: format!("Tags can only be added, not removed (current count {} < cap {TAG_MAX})", old.len()),
        });
    }
    if added.is_empty() {
        return Err(MergeFault {
            field: "tags",
            rule: "no net shrink without addition",
            details: vec![("removed", removed_text)],
            fix: format!("Can only evict tags when adding new ones at cap ({TAG_MAX})"),
        });
    }
    let quoted = |tags: &[&String]| tags.iter().map(|tag| format!("'{tag}'")).collect::<Vec<_>>().join(", ");
    let summary = match historian {
        Historian::Lorelane { because: Some(because) } => because.to_owned(),
        _ => format!("Tags evicted at cap: removed [{}], added [{}]", quoted(&removed), quoted(&added)),
    };
    let event = HistoryEntry::new(context.now, &cut(&summary, REASON_MAX));
    Ok(Some(event.with("tags", list(&removed), list(&added))))
}

fn merge_files(old: &Object, new: &Object, context: &WriteContext) -> Result<(), MergeFault> {
    let files = |record: &Object| record.get("related_files").map(Json::to_texts).unwrap_or_default();
    let stays = files(new);
    let lost = files(old).into_iter().find(|file| !stays.contains(file) && !context.gone.contains(file));
    match lost {
        None => Ok(()),
        Some(file) => Err(MergeFault {
            field: "related_files",
            rule: "grow-only (cannot remove existing file reference)",
            details: vec![("removed", file)],
            fix: "Only non-existent (dangling) file references can be removed".to_owned(),
        }),
    }
}

/// The old entries must be an unchanged prefix: comparing counts would let history be rewritten.
fn merge_history(old: &Object, new: &Object) -> Result<(), MergeFault> {
    let kept = entries_kept(old, new);
    let (old, new) = (history(old), history(new));
    if kept == old.len() {
        return Ok(());
    }
    let (rule, fix) = if new.len() < old.len() {
        ("append-only", "changes[] must grow; do not remove entries")
    } else {
        (
            "append-only (entries rewritten)",
            "Keep the existing entries as they are and add new ones after them",
        )
    };
    let details = counts(old.len(), "new_count", new.len());
    Err(MergeFault { field: "changes", rule, details, fix: fix.to_owned() })
}

/// How many entries at the start of the history are unchanged.
pub(super) fn entries_kept(old: &Object, new: &Object) -> usize {
    history(old).iter().zip(history(new)).take_while(|(old, new)| old.means(new)).count()
}

fn counts(old: usize, name: &'static str, new: usize) -> Vec<(&'static str, String)> {
    vec![("old_count", old.to_string()), (name, new.to_string())]
}

fn history(record: &Object) -> &[Json] {
    record.get("changes").and_then(Json::as_list).unwrap_or_default()
}

fn warn_of_shrunk_lists(old: &Object, new: &Object, notices: &mut Vec<Notice>) {
    let Some(content) = old.get("content").and_then(Json::as_object) else { return };
    for (key, value) in content.iter() {
        let Some(before) = value.as_list() else { continue };
        let after = new.at(&format!("content.{key}")).and_then(Json::as_list).map_or(0, <[Json]>::len);
        if after < before.len() {
            let text = format!("content.{key}: list shrank from {} to {after} items", before.len());
            notices.push(Notice::Warning(text));
        }
    }
}
