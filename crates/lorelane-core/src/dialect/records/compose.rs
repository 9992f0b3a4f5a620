//! Turns a draft into a memory: fix, validate, and protect the fields that may only grow.

use super::fix::Occasion;
use super::model::{memory, object_of, open, refuse_oversized};
use super::revise::{self, Historian};
use super::validate::{FAULTS_MAX, FaultList, each_fault};
use super::{draft, fields, fix};
use crate::change::{Draft, Notice, PartialInput};
use crate::dialect::{Composed, DraftJson, MemoryFile, ParsedDraft, WriteContext};
use crate::json::{Json, JsonFormat, Object};
use crate::lifecycle::Status;
use crate::memory::{Address, Category, HISTORY_MAX, drop_oldest};
use crate::refusal::{FieldFault, MergeFault, Refusal};
use crate::text::title_changed_enough_for_a_new_slug;
use std::collections::HashSet;

pub(super) fn create(
    address: &Address,
    draft: ParsedDraft<'_>,
    context: &WriteContext,
) -> Result<Composed, Refusal> {
    let category = address.category().ok_or_else(|| Refusal::Missing { address: address.clone() })?;
    let (Draft::Whole(_) | Draft::Edited { .. }) = draft.draft else {
        return Err(Refusal::Missing { address: address.clone() });
    };
    let mut record = object_of_draft(draft.json, address)?;
    let mut notices = fix::fix(&mut record, category, Occasion::Create, context.now);
    fix::remove_controls(&mut record, None, &mut notices);
    record.set("record_status", Json::text(Status::Active.name()));
    for key in ["retired_at", "retired_reason", "archived_at", "archived_reason"] {
        record.remove(key);
    }
    if record.text("category") != Some(category.name()) {
        record.set("category", Json::text(category.name()));
        notices.push(Notice::fixed("category", format!("set to '{category}'")));
    }
    let mut faults = FaultList::default();
    each_fault(&record, category, &mut |found| faults.take(&found));
    draft::unfilled(&record).into_iter().for_each(|field| faults.take_unfilled(field));
    faults.refuse(address)?;
    if record.text("id") != Some(address.name()) {
        record.set("id", Json::text(address.name()));
        notices.push(Notice::fixed("id", format!("set to match filename '{}'", address.name())));
    }
    let whole = Json::Object(record.clone());
    let template = format!("{}\n", whole.render(JsonFormat::FILE));
    refuse_oversized(&template, &whole, address)?;
    let memory = memory(record, address.clone()).expect("a valid record is a memory");
    Ok(Composed { memory, base_text: Some(template), rename_to: None, notices })
}

pub(super) fn revise(
    address: &Address,
    old: &MemoryFile,
    draft: ParsedDraft<'_>,
    context: &WriteContext,
) -> Result<Composed, Refusal> {
    let category = address.category().ok_or_else(|| Refusal::Missing { address: address.clone() })?;
    let ParsedDraft { draft, json } = draft;
    refuse_protected(address, category, draft)?;
    let before = &old.memory;
    let (_, old) = object_of(&old.document, address)?;
    let (mut new, historian) = match draft {
        Draft::Whole(_) => (object_of_draft(json, address)?, Historian::Drafter),
        Draft::Append { .. } => {
            let fault = MergeFault {
                field: "content",
                rule: "made of fields, and a text cannot follow them",
                details: Vec::new(),
                fix: format!("name the list that grows: `lorelane update {address} --set FIELD+=TEXT`"),
            };
            return Err(Refusal::Merge { address: address.clone(), fault });
        }
        Draft::Renamed { .. } => {
            let fix = format!("set its title: `lorelane update {address} --set title=TEXT`");
            let fault = MergeFault { field: "id", rule: "named after its title", details: Vec::new(), fix };
            return Err(Refusal::Merge { address: address.clone(), fault });
        }
        Draft::Edited { because, .. } => {
            (object_of_draft(json, address)?, Historian::Lorelane { because: because.as_deref() })
        }
        Draft::Partial { from, set, add_tags, because } => {
            let mut new = old.clone();
            match from {
                Some(PartialInput::Text(_)) => draft::overlay(&mut new, &object_of_draft(json, address)?),
                Some(PartialInput::Fields(fields)) => draft::overlay(&mut new, fields),
                None => {}
            }
            draft::assign(&mut new, category, set);
            draft::add_tags(&mut new, add_tags);
            (new, Historian::Lorelane { because: because.as_deref() })
        }
    };
    let occasion = match historian {
        Historian::Drafter => Occasion::Replace,
        Historian::Lorelane { .. } => Occasion::Edit,
    };
    let drafted = new.clone();
    let mut notices = fix::fix(&mut new, category, occasion, context.now);
    fix::remove_controls(&mut new, Some(&old), &mut notices);
    fix::leave_unchanged(&mut new, &drafted, &old, &mut notices);
    // Also for unchanged fields: a value such as `"0.5"` is ignored by readers that are not lenient.
    fix::relax(&mut new, category, &mut notices);
    let kept = revise::keep_fixed_fields(&mut new, &old, address.name());
    if historian != Historian::Drafter {
        let stays = |key: &str| Notice::Warning(format!("{key} stays: no update changes it"));
        notices.extend(kept.into_iter().map(stays));
    }
    refuse_new_faults(&old, &new, category, address, &mut notices)?;
    let events = revise::merge(&old, &new, category, historian, context, &mut notices)
        .map_err(|fault| Refusal::Merge { address: address.clone(), fault })?;
    let mut memory = memory(new.clone(), address.clone()).ok_or_else(|| Refusal::Unreadable {
        address: address.clone(),
        why: "its record_status is none of active, retired, archived".to_owned(),
    })?;
    let idle = events.is_empty() && memory.history.len() == before.history.len();
    if idle && historian != Historian::Drafter {
        return Ok(Composed { memory: before.clone(), base_text: None, rename_to: None, notices });
    }
    // Existing history entries keep their text, even if the draft formats them differently.
    memory.history.splice(..before.history.len(), before.history.iter().cloned());
    memory.history.extend(events);
    drop_oldest(&mut memory.history);
    let mut read_laxly = old.clone();
    fix::relax(&mut read_laxly, category, &mut Vec::new());
    memory.revised = read_laxly.get("times_updated").and_then(Json::as_u64).unwrap_or(0) + 1;
    memory.updated = Some(context.now);
    let wanted = Address::for_title(category, &memory.title);
    let wants = (title_changed_enough_for_a_new_slug(&before.title, &memory.title) && wanted != *address)
        .then_some(wanted);
    Ok(Composed { memory, base_text: None, rename_to: wants, notices })
}

/// Rejects setting a field that follows from the path, the clock or the lifecycle, and names the command to use.
fn refuse_protected(address: &Address, category: Category, draft: &Draft) -> Result<(), Refusal> {
    let Draft::Partial { set, .. } = draft else { return Ok(()) };
    let named = set.iter().filter_map(|assignment| {
        fields::find(category, assignment.path.trim_end_matches('+')).map(|(path, _)| path)
    });
    for path in named {
        let (field, rule, fix) = match path.as_str() {
            "schema_version" => ("schema_version", "immutable", "It is the version of the format"),
            "category" => {
                ("category", "immutable", "Create it again in the other category and retire this one")
            }
            "id" => ("id", "immutable", "The id follows the title: set the title"),
            "created_at" => ("created_at", "immutable", "It says when the memory was made"),
            "updated_at" | "times_updated" | "changes" => {
                ("changes", "immutable via UPDATE", "lorelane writes the history; say why with --because")
            }
            "record_status" | "retired_at" | "retired_reason" | "archived_at" | "archived_reason" => (
                "record_status",
                "immutable via UPDATE",
                "Use `lorelane retire`, `lorelane archive` or `lorelane restore`",
            ),
            _ => continue,
        };
        let fault = MergeFault { field, rule, details: Vec::new(), fix: fix.to_owned() };
        return Err(Refusal::Merge { address: address.clone(), fault });
    }
    Ok(())
}

/// Parses the text of a draft.
pub(super) fn parse_draft(draft: &Draft) -> Option<Result<DraftJson, String>> {
    let parsed = open(draft.text()?);
    Some(parsed.map(|json| DraftJson {
        root: json.root.into_json(),
        doubled: json.doubled,
        doubled_more: json.doubled_more,
    }))
}

/// A draft's object. Duplicate keys are rejected: only the author knows which value was meant.
fn object_of_draft(json: Option<Result<DraftJson, String>>, address: &Address) -> Result<Object, Refusal> {
    let unreadable = |why: String| Refusal::Unreadable { address: address.clone(), why };
    // The reason must name the draft: the stored file may be valid.
    let of_draft = |why: String| unreadable(why.replacen("it ", "the draft ", 1));
    let json = json.unwrap_or_else(|| Err("it is not JSON".to_owned())).map_err(of_draft)?;
    if !json.doubled.is_empty() {
        let fault = |key: &String| FieldFault {
            field: key.clone(),
            expected: "Each key should appear once".to_owned(),
            got: "null".to_owned(),
            fix: format!("keep one `{key}`"),
        };
        let mut faults: Vec<FieldFault> = json.doubled.iter().map(fault).collect();
        faults.extend(FieldFault::more(json.doubled_more));
        return Err(Refusal::Invalid { address: address.clone(), faults });
    }
    match json.root {
        Json::Object(object) => Ok(object),
        _ => Err(unreadable("the draft is not a JSON object".to_owned())),
    }
}

/// Rejects only faults that a revision adds; a fault that was in the file before is reported as a warning.
fn refuse_new_faults(
    old: &Object,
    new: &Object,
    category: Category,
    address: &Address,
    notices: &mut Vec<Notice>,
) -> Result<(), Refusal> {
    let mut judged = new.clone();
    // The history is truncated when the revision's own entries are added, so its length is not a fault here.
    let mut dropped = 0;
    if let Some(Json::List(entries)) = judged.get_mut("changes") {
        dropped = entries.len().saturating_sub(HISTORY_MAX);
        entries.drain(..dropped);
    }
    let entries_kept = revise::entries_kept(old, new);
    let mut standing: HashSet<(String, String)> = HashSet::new();
    each_fault(old, category, &mut |found| {
        standing.insert((found.field(), found.expected));
    });
    let mut known = 0;
    let mut faults = FaultList::default();
    each_fault(&judged, category, &mut |found| {
        let place = (found.field(), found.expected.clone());
        let stood = match history_position(&place.0) {
            Some(at) => at + dropped < entries_kept,
            None => standing.contains(&place) && old.at(&place.0) == new.at(&place.0),
        };
        match stood {
            false => faults.take(&found),
            true if known < FAULTS_MAX => {
                known += 1;
                notices.push(Notice::Warning(format!("{}: {} (it was so before)", place.0, place.1)));
            }
            true => known += 1,
        }
    });
    if known > FAULTS_MAX {
        notices.push(Notice::Warning(format!("and {} more (it was so before)", known - FAULTS_MAX)));
    }
    let before = draft::unfilled(old);
    let unfilled = draft::unfilled(new).into_iter().filter(|field| !before.contains(field));
    unfilled.for_each(|field| faults.take_unfilled(field));
    faults.refuse(address)
}

/// The index of the history entry that a field such as `changes.3.summary` belongs to.
fn history_position(field: &str) -> Option<usize> {
    field.strip_prefix("changes.")?.split('.').next()?.parse().ok()
}
