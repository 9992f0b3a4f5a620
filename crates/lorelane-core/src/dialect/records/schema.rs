//! JSON Schemas (draft 2020-12) of the contract, for editors and other tools.

use super::fields::{self, FieldGroup, FieldType, Requirement, SCHEMA_VERSION};
use super::validate::{SLUG_PATTERN, TIME_PATTERN};
use crate::json::{JsonFormat, to_string};
use crate::memory::Category;
use serde_json::{Map, Value, json};

/// Every schema with its file name: the base and the six categories.
pub fn all() -> Vec<(String, String)> {
    let mut schemas = vec![("base.schema.json".to_owned(), schema(None))];
    for category in Category::ALL {
        schemas.push((format!("{}.schema.json", category.name().replace('_', "-")), schema(Some(category))));
    }
    let text = |schema: &Value| format!("{}\n", to_string(schema, JsonFormat::FILE));
    schemas.iter().map(|(name, schema)| (name.clone(), text(schema))).collect()
}

/// The schema of one category, or of the fields that all categories share.
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

fn group(group: &FieldGroup, category: Option<Category>) -> Value {
    let property = |field: &fields::Field| {
        let value = kind(&field.kind, category);
        (field.name.to_owned(), if field.need == Requirement::Optional { or_null(value) } else { value })
    };
    let properties: Map<String, Value> = group.fields.iter().map(property).collect();
    let required = group.fields.iter().filter(|field| field.need == Requirement::Required);
    let required: Vec<&str> = required.map(|field| field.name).collect();
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

fn kind(kind: &FieldType, category: Option<Category>) -> Value {
    match kind {
        FieldType::Version => json!({"const": SCHEMA_VERSION}),
        FieldType::OwnCategory => match category {
            Some(category) => json!({"const": category.name()}),
            None => json!({"enum": Category::ALL.map(Category::name)}),
        },
        FieldType::Choice(choices) => json!({"enum": choices}),
        FieldType::Text { max: None } => json!({"type": "string"}),
        FieldType::Text { max: Some(max) } => json!({"type": "string", "maxLength": max}),
        FieldType::Slug => json!({"type": "string", "pattern": SLUG_PATTERN}),
        FieldType::Time => json!({"type": "string", "pattern": TIME_PATTERN}),
        FieldType::Fraction => json!({"type": "number", "minimum": 0, "maximum": 1}),
        FieldType::Count => json!({"type": "integer", "minimum": 0}),
        FieldType::Flag => json!({"type": "boolean"}),
        FieldType::Any => json!({}),
        FieldType::List { of, min, max } => {
            let mut list = json!({"type": "array", "items": self::kind(of, category)});
            if *min > 0 {
                list["minItems"] = json!(min);
            }
            if let Some(max) = max {
                list["maxItems"] = json!(max);
            }
            list
        }
        FieldType::OwnContent => match category {
            Some(own) => group(fields::content(own), category),
            None => json!({"type": "object"}),
        },
        FieldType::Group(found) => group(found, category),
    }
}

/// Allows null for an optional value; an `enum` needs null among its values as well.
fn or_null(mut value: Value) -> Value {
    if let Some(name) = value.get_mut("type") {
        *name = json!([name.take(), "null"]);
    }
    if let Some(Value::Array(choices)) = value.get_mut("enum") {
        choices.push(Value::Null);
    }
    value
}
