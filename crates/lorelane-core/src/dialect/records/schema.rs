//! JSON Schemas (draft 2020-12) of the contract, for editors and other tools.

use super::fields::{self, Group, Kind, Need, SCHEMA_VERSION};
use super::validate::{SLUG_PATTERN, TIME_PATTERN};
use crate::json::{Format, to_string};
use crate::memory::Category;
use serde_json::{Map, Value, json};

/// Every schema with its file name: the base and the six categories.
pub fn all() -> Vec<(String, String)> {
    let mut schemas = vec![("base.schema.json".to_owned(), schema(None))];
    for category in Category::ALL {
        schemas.push((format!("{}.schema.json", category.name().replace('_', "-")), schema(Some(category))));
    }
    let text = |schema: &Value| format!("{}\n", to_string(schema, Format::FILE));
    schemas.iter().map(|(name, schema)| (name.clone(), text(schema))).collect()
}

/// The schema of one category, or of what all have in common.
fn schema(category: Option<Category>) -> Value {
    let mut schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": category.map_or("memory", Category::name),
    });
    if let (Value::Object(root), Value::Object(base)) = (&mut schema, group(&fields::BASE, category)) {
        root.extend(base);
    }
    schema
}

fn group(group: &Group, category: Option<Category>) -> Value {
    let property = |field: &fields::Field| {
        let value = kind(&field.kind, category);
        (field.name.to_owned(), if field.need == Need::Optional { or_null(value) } else { value })
    };
    let properties: Map<String, Value> = group.fields.iter().map(property).collect();
    let required = group.fields.iter().filter(|field| field.need == Need::Required);
    let required: Vec<&str> = required.map(|field| field.name).collect();
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

fn kind(kind: &Kind, category: Option<Category>) -> Value {
    match kind {
        Kind::Version => json!({"const": SCHEMA_VERSION}),
        Kind::OwnCategory => match category {
            Some(category) => json!({"const": category.name()}),
            None => json!({"enum": Category::ALL.map(Category::name)}),
        },
        Kind::Choice(choices) => json!({"enum": choices}),
        Kind::Text { max: None } => json!({"type": "string"}),
        Kind::Text { max: Some(max) } => json!({"type": "string", "maxLength": max}),
        Kind::Slug => json!({"type": "string", "pattern": SLUG_PATTERN}),
        Kind::Time => json!({"type": "string", "pattern": TIME_PATTERN}),
        Kind::Fraction => json!({"type": "number", "minimum": 0, "maximum": 1}),
        Kind::Count => json!({"type": "integer", "minimum": 0}),
        Kind::Flag => json!({"type": "boolean"}),
        Kind::Any => json!({}),
        Kind::List { of, min, max } => {
            let mut list = json!({"type": "array", "items": self::kind(of, category)});
            if *min > 0 {
                list["minItems"] = json!(min);
            }
            if let Some(max) = max {
                list["maxItems"] = json!(max);
            }
            list
        }
        Kind::OwnContent => match category {
            Some(own) => group(fields::content(own), category),
            None => json!({"type": "object"}),
        },
        Kind::Group(found) => group(found, category),
    }
}

/// An optional value may be written as null; a list of choices says so among its choices.
fn or_null(mut value: Value) -> Value {
    if let Some(name) = value.get_mut("type") {
        *name = json!([name.take(), "null"]);
    }
    if let Some(Value::Array(choices)) = value.get_mut("enum") {
        choices.push(Value::Null);
    }
    value
}
