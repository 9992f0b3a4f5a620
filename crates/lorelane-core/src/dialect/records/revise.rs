//! Revisions lose nothing: tags and files only grow, history is only appended to.

use super::fields::{self, TAG_MAX};
use crate::change::Notice;
use crate::dialect::Circumstances;
use crate::json::{Json, Object};
use crate::lifecycle::REASON_MAX;
use crate::memory::{Category, Event};
use crate::refusal::MergeFault;
use crate::text::cut;
use std::collections::BTreeSet;

/// Who writes the history entries of a revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Historian<'a> {
    /// The draft brings its own; only changed scalars of the content are added, as the scripts did.
    Drafter,
    /// Every changed field gets an entry, with this reason when there is one.
    Lorelane { because: Option<&'a str> },
}

/// Keeps from the old record what a revision may not touch.
pub(super) fn keep_fixed_fields(new: &mut Object, old: &Object, id: &str) {
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
}

/// Checks what only grows, and returns the history that the revision adds.
pub(super) fn merge(
    old: &Object,
    new: &Object,
    category: Category,
    historian: Historian<'_>,
    circumstances: &Circumstances,
    notices: &mut Vec<Notice>,
) -> Result<Vec<Event>, MergeFault> {
    let mut events = Vec::new();
    events.extend(merge_tags(old, new, historian, circumstances)?);
    merge_files(old, new, circumstances)?;
    merge_history(old, new)?;
    warn_of_shrunk_lists(old, new, notices);
    let content_fields =
        fields::content(category).fields.iter().map(|field| format!("content.{}", field.name));
    let top_fields = ["title", "confidence", "related_files", "tags"].map(str::to_owned);
    let watched: Vec<String> = match historian {
        Historian::Drafter => content_fields.collect(),
        Historian::Lorelane { .. } => top_fields.into_iter().chain(content_fields).collect(),
    };
    for path in watched {
        let (before, after) = (at(old, &path), at(new, &path));
        let scalar = !matches!(before, Json::List(_) | Json::Object(_));
        if before == after || (historian == Historian::Drafter && !scalar) {
            continue;
        }
        if path == "tags" && !events.is_empty() {
            continue;
        }
        let summary = match historian {
            Historian::Lorelane { because: Some(because) } => cut(because, REASON_MAX),
            _ => format!("{path} changed"),
        };
        events.push(Event::new(circumstances.now, &summary).with(&path, before, after));
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

fn at(record: &Object, path: &str) -> Json {
    let value = match path.split_once('.') {
        Some((outer, inner)) => {
            record.get(outer).and_then(Json::as_object).and_then(|object| object.get(inner))
        }
        None => record.get(path),
    };
    value.cloned().unwrap_or(Json::Null)
}

fn merge_tags(
    old: &Object,
    new: &Object,
    historian: Historian<'_>,
    circumstances: &Circumstances,
) -> Result<Option<Event>, MergeFault> {
    let set = |record: &Object| -> BTreeSet<String> {
        record.get("tags").map(Json::to_texts).unwrap_or_default().into_iter().collect()
    };
    let (old, new) = (set(old), set(new));
    let removed: Vec<&String> = old.difference(&new).collect();
    let added: Vec<&String> = new.difference(&old).collect();
    let list = |tags: &[&String]| Json::texts(tags.iter().map(|tag| tag.as_str()));
    if new.len() > TAG_MAX {
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
    let removed_text = list(&removed).render(crate::json::Format::SCRIPT_LINE);
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
    let event = Event::new(circumstances.now, &cut(&summary, REASON_MAX));
    Ok(Some(event.with("tags", list(&removed), list(&added))))
}

fn merge_files(old: &Object, new: &Object, circumstances: &Circumstances) -> Result<(), MergeFault> {
    let files = |record: &Object| record.get("related_files").map(Json::to_texts).unwrap_or_default();
    let stays = files(new);
    let lost =
        files(old).into_iter().find(|file| !stays.contains(file) && !circumstances.gone.contains(file));
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

/// The old entries must stand unchanged at the front: a count alone would let history be rewritten.
fn merge_history(old: &Object, new: &Object) -> Result<(), MergeFault> {
    let (old, new) = (history(old), history(new));
    if new.starts_with(old) {
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
        let after = at(new, &format!("content.{key}")).as_list().map_or(0, <[Json]>::len);
        if after < before.len() {
            let text = format!("content.{key}: list shrank from {} to {after} items", before.len());
            notices.push(Notice::Warning(text));
        }
    }
}
