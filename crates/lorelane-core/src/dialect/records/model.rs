//! Converts between a record's text and a memory.

use super::RECORD_MAX_BYTES;
use crate::dialect::{Document, Syntax};
use crate::json::{self, Json, JsonFormat, JsonNode, NodeKind, Object};
use crate::lifecycle::{Lifecycle, Status};
use crate::memory::{Address, Body, HistoryEntry, Memory, MemoryKind};
use crate::refusal::{FieldFault, Refusal};
use crate::text::cut;
use crate::time::Timestamp;
use crate::validity::{self, Validity};

/// Key lookup is linear, so writing to a 1 MiB file of nothing but keys would take minutes.
const KEYS_MAX: usize = 1_000;
pub(super) const BYTE_ORDER_MARK: &str = "\u{feff}";

/// Parses a record's text, or returns why it cannot. Spans are relative to the text after a byte-order mark.
pub(super) fn open(text: &str) -> Result<json::JsonDocument, String> {
    if text.len() > RECORD_MAX_BYTES {
        return Err(format!("it is larger than {} KiB", RECORD_MAX_BYTES / 1024));
    }
    let not_json = |fault| match validity::is_conflicted(text) {
        true => "it has conflict markers of git: resolve the conflict".to_owned(),
        false => format!("it is not JSON: {fault}"),
    };
    let document = json::JsonDocument::parse(without_mark(text)).map_err(not_json)?;
    if is_crowded(&document.root) {
        return Err(format!("it has an object of more than {KEYS_MAX} keys"));
    }
    Ok(document)
}

pub(super) fn without_mark(text: &str) -> &str {
    text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text)
}

fn is_crowded(node: &JsonNode) -> bool {
    match &node.kind {
        NodeKind::Scalar(_) => false,
        NodeKind::List(items) => items.iter().any(is_crowded),
        NodeKind::Object(members) => {
            members.len() > KEYS_MAX || members.iter().any(|member| is_crowded(&member.value))
        }
    }
}

/// The syntax tree and the object of a parsed document.
pub(super) fn object_of<'d>(
    document: &'d Document,
    address: &Address,
) -> Result<(&'d JsonNode, Object), Refusal> {
    if let Syntax::Record(root) = &document.syntax
        && let Json::Object(object) = root.to_json()
    {
        return Ok((root, object));
    }
    Err(Refusal::Unreadable { address: address.clone(), why: "it is not a JSON object".to_owned() })
}

/// Converts a record's object to a memory. `None` when its lifecycle is unknown: a memory that may be retired must
/// not be shown.
pub(super) fn memory(mut record: Object, address: Address) -> Option<Memory> {
    let category = address.category()?;
    let time = |record: &Object, key: &str| record.text(key).and_then(Timestamp::parse).map(|(at, _)| at);
    let when_and_why = |record: &mut Object, at: &str, reason: &str| {
        (time(record, at), record.remove(reason).and_then(Json::into_text))
    };
    let lifecycle = match record.get("record_status") {
        None => Lifecycle::Active,
        Some(status) => match Status::parse(status.as_text()?)? {
            Status::Active => Lifecycle::Active,
            Status::Retired => {
                let (at, reason) = when_and_why(&mut record, "retired_at", "retired_reason");
                Lifecycle::Retired { at, reason }
            }
            Status::Archived => {
                let (at, reason) = when_and_why(&mut record, "archived_at", "archived_reason");
                Lifecycle::Archived { at, reason }
            }
        },
    };
    let texts = |value: Option<Json>| value.map(|value| value.to_texts()).unwrap_or_default();
    let content = match record.remove("content") {
        Some(Json::Object(content)) => content,
        _ => Object::new(),
    };
    let memory = Memory {
        kind: MemoryKind::Record(category),
        title: record.remove("title").and_then(Json::into_text).unwrap_or_else(|| address.name().to_owned()),
        validity: Validity::of_content(&content),
        body: Body::Fields(content),
        tags: texts(record.remove("tags")),
        links: Vec::new(),
        about: texts(record.remove("related_files")),
        lifecycle,
        // `NaN` is not a valid confidence, and with it a memory would not equal itself.
        confidence: record.get("confidence").and_then(Json::as_f64).filter(|value| value.is_finite()),
        created: time(&record, "created_at"),
        updated: time(&record, "updated_at"),
        history: match record.remove("changes") {
            Some(Json::List(entries)) => entries.into_iter().map(HistoryEntry).collect(),
            _ => Vec::new(),
        },
        revised: record.get("times_updated").and_then(Json::as_u64).unwrap_or(0),
        extra: Object::new(),
        address,
    };
    record.retain(|key| !MODELLED.contains(&key));
    Some(Memory { extra: record, ..memory })
}

/// The keys that are fields of [`Memory`]; all others go to `extra`.
const MODELLED: [&str; 16] = [
    "category",
    "id",
    "title",
    "created_at",
    "updated_at",
    "tags",
    "related_files",
    "confidence",
    "record_status",
    "changes",
    "times_updated",
    "retired_at",
    "retired_reason",
    "archived_at",
    "archived_reason",
    "content",
];

/// The text of `after`, starting from `base`. Only fields whose value differs are set.
pub(super) fn written(base: Option<&Document>, after: &Memory) -> Result<String, Refusal> {
    let address = &after.address;
    let empty = JsonNode { span: 0..2, kind: NodeKind::Object(Vec::new()) };
    let (root, mut record) = match base {
        Some(base) => object_of(base, address)?,
        None => (&empty, Object::new()),
    };
    let base_text = base.map_or("{}\n", |base| without_mark(&base.text));
    let Some(now) = memory(record.clone(), address.clone()) else {
        let why = "its record_status is none of active, retired, archived".to_owned();
        return Err(Refusal::Unreadable { address: address.clone(), why });
    };
    let mut set = |differs: bool, key: &str, value: Option<Json>| match value {
        _ if !differs => {}
        Some(value) => record.set(key, value),
        None => {
            record.remove(key);
        }
    };
    let text = |value: &str| Some(Json::text(value));
    let time = |at: Option<Timestamp>| at.map(|at| Json::text(at.to_string()));
    for (key, value) in after.extra.iter() {
        set(now.extra.get(key) != Some(value), key, Some(value.clone()));
    }
    for (key, _) in now.extra.iter().filter(|(key, _)| !after.extra.contains(key)) {
        set(true, key, None);
    }
    // Not part of the model: both follow from the path.
    set(true, "category", text(after.kind.name()));
    set(true, "id", text(address.name()));
    // A missing title is read as the file name and a missing content as empty, so a comparison alone would leave
    // both out of a new file.
    let is_new = base.is_none();
    set(is_new || now.title != after.title, "title", text(&after.title));
    set(now.created != after.created, "created_at", time(after.created));
    set(now.updated != after.updated, "updated_at", time(after.updated));
    set(now.tags != after.tags, "tags", Some(Json::texts(after.tags.iter().cloned())));
    set(now.about != after.about, "related_files", Some(Json::texts(after.about.iter().cloned())));
    set(
        now.confidence != after.confidence,
        "confidence",
        after.confidence.map(|value| Json::Number(format!("{value:?}"))),
    );
    let Body::Fields(content) = &after.body else {
        return Err(no_record(address));
    };
    set(is_new || now.body != after.body, "content", Some(Json::Object(content.clone())));
    set_lifecycle(&now.lifecycle, &after.lifecycle, &mut set);
    let history = after.history.iter().map(|event| event.0.clone()).collect();
    set(now.history != after.history, "changes", Some(Json::List(history)));
    set(now.revised != after.revised, "times_updated", Some(Json::number(after.revised)));
    let record = Json::Object(record);
    let patched = json::patch_parsed(base_text, root, &record);
    refuse_oversized(&patched, &record, address)?;
    let mark =
        if base.is_some_and(|base| base.text.starts_with(BYTE_ORDER_MARK)) { BYTE_ORDER_MARK } else { "" };
    Ok(format!("{mark}{patched}"))
}

pub(super) fn refuse_oversized(text: &str, record: &Json, address: &Address) -> Result<(), Refusal> {
    if text.len() <= RECORD_MAX_BYTES {
        return Ok(());
    }
    let shown = cut(&record.render(JsonFormat::SCRIPT_LINE), 100);
    let fault = FieldFault {
        field: "content".to_owned(),
        expected: format!("A record should be at most {} KiB", RECORD_MAX_BYTES / 1024),
        got: format!("{} KiB, starting {shown}", text.len() / 1024),
        fix: "keep what is worth remembering and point to the rest in related_files".to_owned(),
    };
    Err(Refusal::Invalid { address: address.clone(), faults: vec![fault] })
}

fn no_record(address: &Address) -> Refusal {
    let fault = FieldFault {
        field: "content".to_owned(),
        expected: "A record's content has named fields".to_owned(),
        got: "prose".to_owned(),
        fix: "save it as a note".to_owned(),
    };
    Refusal::Invalid { address: address.clone(), faults: vec![fault] }
}

fn set_lifecycle(now: &Lifecycle, after: &Lifecycle, set: &mut dyn FnMut(bool, &str, Option<Json>)) {
    if now == after {
        return;
    }
    set(true, "record_status", Some(Json::text(after.status().name())));
    let keys = |retired: Option<(Option<Timestamp>, Option<String>)>| match retired {
        Some((at, reason)) => (at.map(|at| Json::text(at.to_string())), reason.map(Json::Text)),
        None => (None, None),
    };
    let (retired, archived) = match after.clone() {
        Lifecycle::Active => (None, None),
        Lifecycle::Retired { at, reason } => (Some((at, reason)), None),
        Lifecycle::Archived { at, reason } => (None, Some((at, reason))),
    };
    let (at, reason) = keys(retired);
    set(true, "retired_at", at);
    set(true, "retired_reason", reason);
    let (at, reason) = keys(archived);
    set(true, "archived_at", at);
    set(true, "archived_reason", reason);
}
