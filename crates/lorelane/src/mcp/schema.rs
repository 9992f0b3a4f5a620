//! What a tool takes, once: the schema that clients see and the reading of what they send are made from one table.
//!
//! Schemas stay within what every model vendor accepts: one type each, no `format`, no `default`, no references.

use lorelane_core::dialect::records::draft::{self, Wanted};
use lorelane_core::json::{Json, Object};
use lorelane_core::memory::Category;

#[derive(Debug)]
pub(super) struct Parameter {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) kind: Kind,
    pub(super) required: bool,
    /// What is said of a value that cannot be; `None` for the usual words.
    complaint: Option<fn(&Json) -> String>,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
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
    /// Whole numbers, also negative ones.
    Numbers,
    Categories,
    /// Objects whose shape another answer shows.
    Objects,
    /// The fields of every category.
    Content,
}

pub(super) const fn required(name: &'static str, kind: Kind, about: &'static str) -> Parameter {
    Parameter { name, about, kind, required: true, complaint: None }
}

pub(super) const fn optional(name: &'static str, kind: Kind, about: &'static str) -> Parameter {
    Parameter { name, about, kind, required: false, complaint: None }
}

impl Parameter {
    /// With words of its own for a value that cannot be.
    pub(super) const fn or(self, complaint: fn(&Json) -> String) -> Parameter {
        Parameter { complaint: Some(complaint), ..self }
    }

    fn fault(&self, value: &Json) -> Option<String> {
        let expected = self.kind.fault(value)?;
        Some(match self.complaint {
            Some(complaint) => complaint(value),
            None => format!("`{}` must be {expected}", self.name),
        })
    }
}

/// The schema of an object with these members.
pub(super) fn input(parameters: &[Parameter]) -> Json {
    let properties = parameters.iter().map(|parameter| {
        let mut schema = parameter.kind.schema();
        let about = match parameter.kind {
            Kind::Content => format!("{}: {}", parameter.about, needed()),
            _ => parameter.about.to_owned(),
        };
        schema.set("description", Json::text(about));
        (parameter.name, schema)
    });
    let required = parameters.iter().filter(|parameter| parameter.required).map(|parameter| parameter.name);
    let mut schema = object(properties.collect(), &required.collect::<Vec<_>>());
    schema.set("additionalProperties", Json::Bool(false));
    Json::Object(schema)
}

pub(super) fn object(properties: Vec<(&str, Object)>, required: &[&str]) -> Object {
    let properties = properties.into_iter().map(|(name, schema)| (name, Json::Object(schema)));
    let mut schema = of_type("object");
    schema.set("properties", Json::Object(properties.collect()));
    if !required.is_empty() {
        schema.set("required", Json::texts(required.iter().copied()));
    }
    schema
}

pub(super) fn of_type(name: &str) -> Object {
    [("type", Json::text(name))].into_iter().collect()
}

pub(super) fn list_of(items: Object) -> Object {
    let mut schema = of_type("array");
    schema.set("items", Json::Object(items));
    schema
}

fn one_of<'n>(names: impl IntoIterator<Item = &'n str>) -> Object {
    let mut schema = of_type("string");
    schema.set("enum", Json::texts(names));
    schema
}

fn within(kind: &str, min: u64, max: u64) -> Object {
    let mut schema = of_type(kind);
    schema.set("minimum", Json::number(min));
    schema.set("maximum", Json::number(max));
    schema
}

impl Kind {
    fn schema(self) -> Object {
        match self {
            // Its length is checked when it comes: no model counts characters.
            Kind::Text { .. } => of_type("string"),
            Kind::Category => one_of(Category::ALL.map(Category::name)),
            Kind::Choice(names) => one_of(names.iter().copied()),
            Kind::Choices(names) => list_of(one_of(names.iter().copied())),
            Kind::Whole { min, max } => within("integer", min, max),
            Kind::Fraction => within("number", 0, 1),
            Kind::Flag => of_type("boolean"),
            Kind::Texts => list_of(of_type("string")),
            Kind::Numbers => list_of(of_type("integer")),
            Kind::Categories => list_of(one_of(Category::ALL.map(Category::name))),
            Kind::Objects => list_of(of_type("object")),
            Kind::Content => content(),
        }
    }

    /// What a value should have been; `None` when it is fine.
    fn fault(self, value: &Json) -> Option<String> {
        let (fine, expected) = match self {
            Kind::Text { max } => (
                value.as_text().is_some_and(|text| text.chars().nth(max).is_none()),
                format!("text of at most {max} characters"),
            ),
            Kind::Category => (category(value), format!("one of {}", names())),
            Kind::Choice(known) => (
                value.as_text().is_some_and(|text| known.contains(&text)),
                format!("one of {}", known.join(", ")),
            ),
            Kind::Choices(known) => (
                every(value, |item| item.as_text().is_some_and(|text| known.contains(&text))),
                format!("a list of some of {}", known.join(", ")),
            ),
            Kind::Whole { min, max } => (
                value.as_u64().is_some_and(|number| (min..=max).contains(&number)),
                format!("a whole number from {min} to {max}"),
            ),
            Kind::Fraction => (
                value.as_f64().is_some_and(|number| (0.0..=1.0).contains(&number)),
                "a number from 0 to 1".to_owned(),
            ),
            Kind::Flag => (value.as_bool().is_some(), "true or false".to_owned()),
            Kind::Texts => (every(value, |item| item.as_text().is_some()), "a list of texts".to_owned()),
            Kind::Numbers => (every(value, whole), "a list of whole numbers".to_owned()),
            Kind::Categories => (every(value, category), format!("a list of some of {}", names())),
            Kind::Objects => {
                (every(value, |item| item.as_object().is_some()), "a list of objects".to_owned())
            }
            Kind::Content => (value.as_object().is_some(), "an object".to_owned()),
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

/// The fields of a category. Only those that have to be chosen from a few words are listed, because all of them cost
/// more than every other tool together; the others are named by [`needed`], and an answer lists all of one category.
fn content() -> Object {
    let wanted: Vec<Wanted> = Category::ALL.into_iter().flat_map(draft::wanted).collect();
    let chosen = wanted.iter().filter(|field| field.required && !field.choices.is_empty());
    let properties = chosen.map(|field| (in_content(field), one_of(field.choices.iter().copied())));
    object(properties.collect(), &[])
}

/// What each category needs in its content.
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

fn in_content(field: &Wanted) -> &str {
    field.path.strip_prefix(CONTENT).unwrap_or(&field.path)
}

/// What a client sent for a tool, read.
#[derive(Debug, Default)]
pub(super) struct Arguments(Object);

impl Arguments {
    /// Every fault at once: a model mends its call in one go. Null stands for nothing.
    pub(super) fn read(parameters: &[Parameter], sent: Object) -> Result<Arguments, Vec<String>> {
        let given = |name: &str| sent.get(name).filter(|value| **value != Json::Null);
        let mut faults = Vec::new();
        for parameter in parameters {
            match given(parameter.name) {
                Some(value) => faults.extend(parameter.fault(value)),
                None if parameter.required => {
                    faults.push(format!("`{}` is missing: {}", parameter.name, parameter.about));
                }
                None => {}
            }
        }
        let known: Vec<&str> = parameters.iter().map(|parameter| parameter.name).collect();
        for (name, _) in sent.iter().filter(|(name, _)| !known.contains(name)) {
            faults.push(format!("`{name}` is not known: give {}", known.join(", ")));
        }
        if faults.is_empty() { Ok(Arguments(sent)) } else { Err(faults) }
    }

    pub(super) fn get(&self, name: &str) -> Option<&Json> {
        self.0.get(name).filter(|value| **value != Json::Null)
    }

    /// A text that says something.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.get(name).and_then(Json::as_text).map(str::trim).filter(|text| !text.is_empty())
    }

    /// A text as it was sent, blanks included.
    pub(super) fn exact(&self, name: &str) -> &str {
        self.get(name).and_then(Json::as_text).unwrap_or_default()
    }

    pub(super) fn flag(&self, name: &str) -> bool {
        self.get(name).and_then(Json::as_bool).unwrap_or_default()
    }

    pub(super) fn whole(&self, name: &str) -> Option<usize> {
        self.get(name).and_then(Json::as_u64).and_then(|number| usize::try_from(number).ok())
    }

    pub(super) fn texts(&self, name: &str) -> Vec<String> {
        self.get(name).map(Json::to_texts).unwrap_or_default()
    }
}
