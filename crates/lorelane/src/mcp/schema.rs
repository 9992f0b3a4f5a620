//! The parameters of tools: one table gives both the schema that clients see and the check of what they send.
//!
//! Built from tables, not derived from types, so that a schema has only what every model vendor accepts: one type
//! each, no `format`, no `default`, no references.

use crate::view::Members;
use lorelane_core::dialect::records::draft::{self, DraftField};
use lorelane_core::json::{Json, Object};
use lorelane_core::memory::Category;
use serde::Serialize;

#[derive(Debug)]
pub(super) struct Parameter {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) kind: ArgumentType,
    pub(super) required: bool,
    /// Makes the message for an invalid value; `None` for the default message.
    complaint: Option<fn(&Json) -> String>,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum ArgumentType {
    Text {
        max: usize,
    },
    Category,
    Choice(&'static [&'static str]),
    Choices(&'static [&'static str]),
    Whole {
        min: u64,
        max: u64,
    },
    Fraction,
    Flag,
    Texts,
    /// Integers, also negative ones.
    Numbers,
    Categories,
    /// Objects whose form another answer shows.
    Objects,
    /// Objects with these members.
    Items(&'static [Parameter]),
    /// Why something is done: a text that is not blank.
    Reason {
        max: usize,
    },
    /// The `content` of a record, with the fields of every category.
    Content,
}

pub(super) const fn required(name: &'static str, kind: ArgumentType, about: &'static str) -> Parameter {
    Parameter { name, about, kind, required: true, complaint: None }
}

pub(super) const fn optional(name: &'static str, kind: ArgumentType, about: &'static str) -> Parameter {
    Parameter { name, about, kind, required: false, complaint: None }
}

impl Parameter {
    /// Sets the message for an invalid value.
    pub(super) const fn or(self, complaint: fn(&Json) -> String) -> Parameter {
        Parameter { complaint: Some(complaint), ..self }
    }

    /// What is wrong with a value; `at` is what contains the parameter, as `hot[0].`.
    fn faults(&self, at: &str, value: &Json) -> Vec<String> {
        let Some(expected) = self.kind.fault(value) else { return self.faults_of_items(at, value) };
        vec![match self.complaint {
            Some(complaint) => complaint(value),
            None => format!("{}`{at}{}` must be {expected}", self.kind.code(), self.name),
        }]
    }

    fn faults_of_items(&self, at: &str, value: &Json) -> Vec<String> {
        let (ArgumentType::Items(members), Some(items)) = (self.kind, value.as_list()) else {
            return Vec::new();
        };
        let objects = items.iter().filter_map(Json::as_object).enumerate();
        let of_item = |(number, item)| faults(members, &format!("{at}{}[{number}].", self.name), item);
        objects.flat_map(of_item).collect()
    }

    fn missing(&self, at: &str) -> String {
        format!("{}`{at}{}` is missing: {}", self.kind.code(), self.name, self.about)
    }
}

/// Everything that is wrong with the members of an object. Null counts as absent.
fn faults(parameters: &[Parameter], at: &str, sent: &Object) -> Vec<String> {
    let mut faults = Vec::new();
    for parameter in parameters {
        match sent.get(parameter.name).filter(|value| **value != Json::Null) {
            Some(value) => faults.extend(parameter.faults(at, value)),
            None if parameter.required => faults.push(parameter.missing(at)),
            None => {}
        }
    }
    let known: Vec<&str> = parameters.iter().map(|parameter| parameter.name).collect();
    for (name, _) in sent.iter().filter(|(name, _)| !known.contains(name)) {
        faults.push(format!("`{at}{name}` is not a parameter: expected {}", known.join(", ")));
    }
    faults
}

/// A JSON Schema.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Schema {
    #[serde(rename = "type")]
    type_name: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    items: Option<Box<Schema>>,
    #[serde(rename = "enum", skip_serializing_if = "Vec::is_empty")]
    choices: Vec<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    minimum: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    maximum: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    properties: Option<Members<String, Schema>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    required: Vec<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    additional_properties: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
}

/// The schema of an object with these members: the input of a tool, or an item of a list in it.
pub(super) fn input(parameters: &[Parameter]) -> Schema {
    let properties = parameters.iter().map(|parameter| {
        let about = match parameter.kind {
            ArgumentType::Content => format!("{}: {}", parameter.about, needed()),
            _ => parameter.about.to_owned(),
        };
        (parameter.name, Schema { description: Some(about), ..parameter.kind.schema() })
    });
    let required = parameters.iter().filter(|parameter| parameter.required).map(|parameter| parameter.name);
    Schema { additional_properties: Some(false), required: required.collect(), ..object(properties) }
}

/// An object whose members are all optional.
fn object<K: Into<String>>(properties: impl IntoIterator<Item = (K, Schema)>) -> Schema {
    let properties = properties.into_iter().map(|(name, schema)| (name.into(), schema));
    Schema { properties: Some(properties.collect()), ..of_type("object") }
}

/// An object whose members are all required.
pub(super) fn whole_object(properties: Vec<(&'static str, Schema)>) -> Schema {
    let required = properties.iter().map(|(name, _)| *name).collect();
    Schema { required, ..object(properties) }
}

/// An object of which only one member is required.
pub(super) fn object_with(required: &'static str, properties: Vec<(&'static str, Schema)>) -> Schema {
    Schema { required: vec![required], ..object(properties) }
}

pub(super) fn of_type(type_name: &'static str) -> Schema {
    Schema { type_name, ..Schema::default() }
}

pub(super) fn list_of(items: Schema) -> Schema {
    Schema { items: Some(Box::new(items)), ..of_type("array") }
}

fn one_of(names: impl IntoIterator<Item = &'static str>) -> Schema {
    Schema { choices: names.into_iter().collect(), ..of_type("string") }
}

fn within(type_name: &'static str, min: u64, max: u64) -> Schema {
    Schema { minimum: Some(min), maximum: Some(max), ..of_type(type_name) }
}

impl ArgumentType {
    /// The protocol's name of the error, before the message.
    fn code(self) -> &'static str {
        if matches!(self, ArgumentType::Reason { .. }) { "MISSING_WHY: " } else { "" }
    }

    fn schema(self) -> Schema {
        match self {
            // No `maxLength`: no model counts characters, and the keyword costs tokens. `fault` checks the length.
            ArgumentType::Text { .. } | ArgumentType::Reason { .. } => of_type("string"),
            ArgumentType::Category => one_of(Category::ALL.map(Category::name)),
            ArgumentType::Choice(names) => one_of(names.iter().copied()),
            ArgumentType::Choices(names) => list_of(one_of(names.iter().copied())),
            ArgumentType::Whole { min, max } => within("integer", min, max),
            ArgumentType::Fraction => within("number", 0, 1),
            ArgumentType::Flag => of_type("boolean"),
            ArgumentType::Texts => list_of(of_type("string")),
            ArgumentType::Numbers => list_of(of_type("integer")),
            ArgumentType::Categories => list_of(one_of(Category::ALL.map(Category::name))),
            ArgumentType::Objects => list_of(of_type("object")),
            ArgumentType::Items(members) => list_of(input(members)),
            ArgumentType::Content => content(),
        }
    }

    /// What a value should have been; `None` if it is valid.
    fn fault(self, value: &Json) -> Option<String> {
        let (fine, expected) = match self {
            ArgumentType::Text { max } => (
                value.as_text().is_some_and(|text| text.chars().nth(max).is_none()),
                format!("text of at most {max} characters"),
            ),
            ArgumentType::Category => (category(value), format!("one of {}", names())),
            ArgumentType::Choice(known) => (
                value.as_text().is_some_and(|text| known.contains(&text)),
                format!("one of {}", known.join(", ")),
            ),
            ArgumentType::Choices(known) => (
                every(value, |item| item.as_text().is_some_and(|text| known.contains(&text))),
                format!("a list of some of {}", known.join(", ")),
            ),
            ArgumentType::Whole { min, max } => (
                value.as_u64().is_some_and(|number| (min..=max).contains(&number)),
                format!("a whole number from {min} to {max}"),
            ),
            ArgumentType::Fraction => (
                value.as_f64().is_some_and(|number| (0.0..=1.0).contains(&number)),
                "a number from 0 to 1".to_owned(),
            ),
            ArgumentType::Flag => (value.as_bool().is_some(), "true or false".to_owned()),
            ArgumentType::Texts => {
                (every(value, |item| item.as_text().is_some()), "a list of texts".to_owned())
            }
            ArgumentType::Numbers => (every(value, whole), "a list of whole numbers".to_owned()),
            ArgumentType::Categories => (every(value, category), format!("a list of some of {}", names())),
            ArgumentType::Objects | ArgumentType::Items(_) => {
                (every(value, |item| item.as_object().is_some()), "a list of objects".to_owned())
            }
            ArgumentType::Reason { max } => {
                let is_reason = |text: &str| !text.trim().is_empty() && text.chars().nth(max).is_none();
                (value.as_text().is_some_and(is_reason), format!("a reason of at most {max} characters"))
            }
            ArgumentType::Content => (value.as_object().is_some(), "an object".to_owned()),
        };
        (!fine).then_some(expected)
    }
}

fn category(value: &Json) -> bool {
    value.as_text().and_then(Category::parse).is_some()
}

fn whole(value: &Json) -> bool {
    value.as_f64().is_some_and(|number| number.fract() == 0.0)
}

fn names() -> String {
    Category::ALL.map(Category::name).join(", ")
}

fn every(value: &Json, fine: impl Fn(&Json) -> bool) -> bool {
    value.as_list().is_some_and(|items| items.iter().all(fine))
}

/// The fields of `content`. Only required fields with a fixed set of values are in the schema: all fields would
/// cost more tokens than all other tools together. [`needed`] names the other required ones, and the answer to an
/// invalid call lists every field of its category.
fn content() -> Schema {
    let wanted: Vec<DraftField> = Category::ALL.into_iter().flat_map(draft::wanted).collect();
    let chosen = wanted.iter().filter(|field| field.required && !field.choices.is_empty());
    object(chosen.map(|field| (in_content(field), one_of(field.choices.iter().copied()))))
}

/// The required content fields of each category, as text.
fn needed() -> String {
    let of = |category: Category| {
        let fields = draft::wanted(category);
        let needed = fields.iter().filter(|field| field.required && field.path.starts_with(CONTENT));
        let names = needed.filter(|field| !field.path.contains("[]")).map(|field| {
            let list = if field.kind.starts_with("list") { "[]" } else { "" };
            format!("{}{list}", in_content(field))
        });
        format!("{category}: {}", names.collect::<Vec<_>>().join(", "))
    };
    Category::ALL.map(of).join("; ")
}

const CONTENT: &str = "content.";

fn in_content(field: &DraftField) -> &str {
    field.path.strip_prefix(CONTENT).unwrap_or(&field.path)
}

/// The checked arguments of a tool call.
#[derive(Debug, Default)]
pub(super) struct Arguments(Object);

impl Arguments {
    /// Collects all errors, so that a model can fix its call in one go.
    pub(super) fn read(parameters: &[Parameter], sent: Object) -> Result<Arguments, Vec<String>> {
        let faults = faults(parameters, "", &sent);
        if faults.is_empty() { Ok(Arguments(sent)) } else { Err(faults) }
    }

    pub(super) fn get(&self, name: &str) -> Option<&Json> {
        self.0.get(name).filter(|value| **value != Json::Null)
    }

    /// A text that is not empty, trimmed.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.get(name).and_then(Json::as_text).map(str::trim).filter(|text| !text.is_empty())
    }

    /// A text exactly as it was sent, with its white space.
    pub(super) fn exact(&self, name: &str) -> &str {
        self.get(name).and_then(Json::as_text).unwrap_or_default()
    }

    pub(super) fn flag(&self, name: &str) -> bool {
        self.get(name).and_then(Json::as_bool).unwrap_or_default()
    }

    /// A flag that is set unless somebody says otherwise.
    pub(super) fn flag_or_set(&self, name: &str) -> bool {
        self.get(name).and_then(Json::as_bool).unwrap_or(true)
    }

    /// The objects of a list.
    pub(super) fn items(&self, name: &str) -> Vec<Arguments> {
        let items = self.get(name).and_then(Json::as_list).unwrap_or_default();
        items.iter().filter_map(Json::as_object).cloned().map(Arguments).collect()
    }

    pub(super) fn whole(&self, name: &str) -> Option<usize> {
        self.get(name).and_then(Json::as_u64).and_then(|number| usize::try_from(number).ok())
    }

    pub(super) fn texts(&self, name: &str) -> Vec<String> {
        self.get(name).map(Json::to_texts).unwrap_or_default()
    }
}
