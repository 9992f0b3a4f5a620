//! Builds drafts from user input: `--set path=value`, a file, a title.

use super::fields::{self, Field, FieldType, Requirement};
use crate::change::Assignment;
use crate::json::{Json, JsonDocument, Object};
use crate::memory::{Address, Category};
use crate::refusal::FieldFault;
use crate::secret;
use crate::text::cut;
use crate::time::Timestamp;
use std::collections::BTreeSet;

const UNKNOWN_PATH_MAX: usize = 80;
/// Marks a value in a template that has to be filled in.
pub const PLACEHOLDER: &str = "…";

/// Parses the JSON that a draft starts from. Duplicate keys are rejected: only the author knows which was meant.
pub fn read(text: &str) -> Result<Object, String> {
    let document = JsonDocument::parse(text).map_err(|fault| format!("it is not JSON: {fault}"))?;
    if let Some(key) = document.doubled.first() {
        return Err(format!("`{key}` appears twice"));
    }
    match document.root.into_json() {
        Json::Object(object) => Ok(object),
        _ => Err("it is not a JSON object".to_owned()),
    }
}

/// A new record from a title, optional JSON to start from, and assignments. Whatever only the author can supply is
/// missing from it; validation reports that.
pub fn begin(
    category: Category,
    title: Option<&str>,
    from: Option<Object>,
    tags: &[String],
    set: &[Assignment],
    now: Timestamp,
) -> (Address, Object) {
    let given = from.unwrap_or_default();
    let title = title.or_else(|| given.text("title")).unwrap_or_default().to_owned();
    let mut record = Object::new();
    let mut address = Address::for_title(category, title.trim());
    if let Some(id) = given.text("id").filter(|id| crate::text::is_slug(id)) {
        address = Address::record(category, id);
    }
    record.set("schema_version", Json::text(fields::SCHEMA_VERSION));
    record.set("category", Json::text(category.name()));
    record.set("id", Json::text(address.name()));
    record.set("title", Json::text(title));
    record.set("created_at", Json::text(now.to_string()));
    record.set("updated_at", Json::text(now.to_string()));
    record.set("tags", Json::List(Vec::new()));
    record.set("content", Json::Object(usual_content(category)));
    // Fields of the author keep their order; missing ones are added at the end.
    let mut ordered = given;
    for (key, value) in record.iter() {
        let missing =
            !ordered.contains(key) || (key == "title" && !value.as_text().unwrap_or_default().is_empty());
        if missing {
            ordered.set(key, value.clone());
        }
    }
    if let (Some(Json::Object(content)), usual) = (ordered.get_mut("content"), usual_content(category)) {
        for (key, value) in usual.iter().filter(|(key, _)| !content.contains(key)).collect::<Vec<_>>() {
            content.set(key, value.clone());
        }
    }
    add_tags(&mut ordered, tags);
    assign(&mut ordered, category, set);
    (address, ordered)
}

/// Default content of a new memory of this category.
fn usual_content(category: Category) -> Object {
    let usual = match category {
        Category::SessionSummary => {
            vec![("completed", Json::List(Vec::new())), ("next_actions", Json::List(Vec::new()))]
        }
        Category::Decision => vec![("status", Json::text("accepted"))],
        Category::Constraint => vec![("active", Json::Bool(true))],
        Category::TechDebt => vec![("status", Json::text("open"))],
        Category::Preference => vec![("strength", Json::text("default"))],
        Category::Runbook => Vec::new(),
    };
    usual.into_iter().collect()
}

/// A field that a draft can have, from the field table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DraftField {
    /// Dotted; `[]` is each item of a list.
    pub path: String,
    pub kind: &'static str,
    pub required: bool,
    /// The allowed values of a choice; empty for other types.
    pub choices: &'static [&'static str],
    /// The maximum length of a text, in characters.
    pub max: Option<usize>,
}

/// The fields of a draft of this category; the others follow from the path, the clock or the lifecycle.
pub fn wanted(category: Category) -> Vec<DraftField> {
    const FREE: [&str; 4] = ["title", "tags", "related_files", "confidence"];
    let free = fields::BASE.fields.iter().filter(|field| FREE.contains(&field.name));
    let mut wanted = Vec::new();
    free.for_each(|field| want(field, "", &[], &mut wanted));
    let usual = usual_content(category);
    let usual: Vec<&str> = usual.iter().map(|(key, _)| key).collect();
    fields::content(category).fields.iter().for_each(|field| want(field, "content.", &usual, &mut wanted));
    wanted
}

/// Fields in `filled_in` have a default, so a draft need not have them.
fn want(field: &Field, prefix: &str, filled_in: &[&str], wanted: &mut Vec<DraftField>) {
    let path = format!("{prefix}{}", field.name);
    let required = field.need == Requirement::Required && !filled_in.contains(&field.name);
    let (kind, choices, max): (_, &'static [&'static str], _) = match &field.kind {
        FieldType::Choice(choices) => ("choice", choices, None),
        FieldType::Text { max } => ("text", &[], *max),
        FieldType::Fraction => ("number from 0 to 1", &[], None),
        FieldType::Flag => ("true or false", &[], None),
        FieldType::List { of: FieldType::Group(_), .. } => ("list of objects", &[], None),
        FieldType::List { .. } => ("list of texts", &[], None),
        FieldType::Group(_) => ("object", &[], None),
        _ => ("value", &[], None),
    };
    wanted.push(DraftField { path: path.clone(), kind, required, choices, max });
    let (inner, prefix) = match &field.kind {
        FieldType::List { of: FieldType::Group(group), .. } => (group.fields, format!("{path}[].")),
        FieldType::Group(group) => (group.fields, format!("{path}.")),
        _ => return,
    };
    inner.iter().for_each(|field| want(field, &prefix, &[], wanted));
}

/// A template with all required fields. None of its values is valid, so that a template that was not filled in
/// cannot be saved.
pub fn blank(category: Category) -> Object {
    let mut draft = Object::new();
    for field in wanted(category).iter().filter(|field| field.required && !field.path.contains("[]")) {
        let value = match field.kind {
            "choice" => Json::text(field.choices.join(" | ")),
            "list of texts" => Json::texts([PLACEHOLDER]),
            _ => Json::text(PLACEHOLDER),
        };
        put(&mut draft, &field.path, value, false);
    }
    draft
}

/// The fields of a record that still have the template's placeholder, each once.
pub(crate) fn unfilled(record: &Object) -> BTreeSet<String> {
    // Some agents write three dots instead of the character.
    fields_with(record, &|text| matches!(text, PLACEHOLDER | "..."))
}

/// Finds empty texts in an agent's draft where a value is required, or where they would overwrite a value of the
/// record.
pub fn emptied(given: &Object, replaced: &Object, category: Category) -> Vec<FieldFault> {
    let wanted = wanted(category);
    let says_something = |value: &Json| match value {
        Json::Text(text) => !text.trim().is_empty(),
        Json::List(items) => !items.is_empty(),
        _ => false,
    };
    let is_missed = |path: &String| {
        let field = wanted.iter().find(|field| field.path.replace("[]", "") == *path);
        field.is_some_and(|field| {
            matches!(field.kind, "text" | "list of texts")
                && (field.required || replaced.at(path).is_some_and(says_something))
        })
    };
    let empty = fields_with(given, &str::is_empty).into_iter().filter(is_missed);
    empty.map(|field| says_nothing(field, "it is empty", "")).collect()
}

/// The fault of a field that was not filled in.
pub(crate) fn unfilled_fault(field: String) -> FieldFault {
    says_nothing(field, "it still has the placeholder of the template", PLACEHOLDER)
}

fn says_nothing(field: String, why: &str, got: &str) -> FieldFault {
    FieldFault {
        field,
        expected: format!("Field should say something: {why}"),
        got: format!("\"{got}\""),
        fix: "fill it in; in an update leave out what does not change".to_owned(),
    }
}

/// The fields of a record with a text that `is_meant` accepts, each once.
fn fields_with(record: &Object, is_meant: &dyn Fn(&str) -> bool) -> BTreeSet<String> {
    let mut fields = BTreeSet::new();
    // The history is not part of a draft.
    for (key, value) in record.iter().filter(|(key, _)| *key != "changes") {
        find_fields(value, key, is_meant, &mut fields);
    }
    fields
}

fn find_fields(value: &Json, field: &str, is_meant: &dyn Fn(&str) -> bool, fields: &mut BTreeSet<String>) {
    match value {
        Json::Text(text) if is_meant(text.trim()) => {
            fields.insert(field.to_owned());
        }
        Json::List(items) => items.iter().for_each(|item| find_fields(item, field, is_meant, fields)),
        Json::Object(object) => object
            .iter()
            .for_each(|(key, value)| find_fields(value, &format!("{field}.{key}"), is_meant, fields)),
        _ => {}
    }
}

/// Overwrites fields of a record with the given ones; `content` is merged field by field.
pub fn overlay(record: &mut Object, given: &Object) {
    for (key, value) in given.iter() {
        match (record.get_mut(key), value) {
            (Some(Json::Object(content)), Json::Object(fields)) if key == "content" => {
                fields.iter().for_each(|(field, value)| content.set(field, value.clone()));
            }
            _ => record.set(key, value.clone()),
        }
    }
}

pub fn add_tags(record: &mut Object, tags: &[String]) {
    if tags.is_empty() {
        return;
    }
    let mut all = match record.get("tags") {
        Some(Json::Text(tag)) => vec![tag.clone()],
        Some(value) => value.to_texts(),
        None => Vec::new(),
    };
    // A secret keeps its case: in lower case the secret scan of the draft would not recognise it.
    let safe = |tag: &String| {
        if secret::scan(tag).is_empty() { super::fix::safe_tag(tag) } else { tag.clone() }
    };
    let new = tags.iter().map(safe).filter(|tag| !tag.is_empty());
    for tag in new.collect::<Vec<_>>() {
        if !all.contains(&tag) {
            all.push(tag);
        }
    }
    if all.iter().any(|tag| tag != fields::NO_TAG) {
        all.retain(|tag| tag != fields::NO_TAG);
    }
    record.set("tags", Json::texts(all));
}

/// Applies `path=value`. Several assignments to one list are collected; `path+=value` appends to the old list.
pub fn assign(record: &mut Object, category: Category, set: &[Assignment]) {
    let mut begun: Vec<String> = Vec::new();
    for assignment in set {
        let (typed, append) = match assignment.path.strip_suffix('+') {
            Some(path) => (path, true),
            None => (assignment.path.as_str(), false),
        };
        let Some((path, kind)) = fields::find(category, typed) else {
            // An unknown field is set as typed, so that validation reports it.
            record.set(&cut(typed, UNKNOWN_PATH_MAX), Json::text(&assignment.value));
            continue;
        };
        let value = coerce(kind, &assignment.value);
        let collect = append || begun.contains(&path);
        put(record, &path, value, collect && matches!(kind, FieldType::List { .. }));
        begun.push(path);
    }
}

fn coerce(kind: &FieldType, value: &str) -> Json {
    let parsed = || Json::parse(value).ok();
    match kind {
        FieldType::List { .. } => match parsed() {
            Some(list @ Json::List(_)) => list,
            Some(item @ Json::Object(_)) => Json::List(vec![item]),
            _ => Json::texts([value]),
        },
        FieldType::Group(_)
        | FieldType::OwnContent
        | FieldType::Fraction
        | FieldType::Count
        | FieldType::Flag => parsed().unwrap_or_else(|| Json::text(value)),
        _ => Json::text(value),
    }
}

fn put(record: &mut Object, path: &str, value: Json, append: bool) {
    // A value on the path that should be an object is not one: validation reports it.
    let Some((object, key)) = record.nest(path) else { return };
    match (object.get_mut(key), value) {
        (Some(Json::List(items)), Json::List(more)) if append => items.extend(more),
        (_, value) => object.set(key, value),
    }
}
