//! JSON Schemas (draft 2020-12) of the contract, for editors and other tools.

use super::fields::{self, Group, Kind, Need, SCHEMA_VERSION};
use super::validate::{SLUG_PATTERN, TIME_PATTERN};
use crate::json::{Format, Json, Object};
use crate::memory::Category;

/// Every schema with its file name: the base and the six categories.
pub fn all() -> Vec<(String, String)> {
    let mut schemas = vec![("base.schema.json".to_owned(), schema(None))];
    for category in Category::ALL {
        schemas.push((format!("{}.schema.json", category.name().replace('_', "-")), schema(Some(category))));
    }
    schemas.into_iter().map(|(name, schema)| (name, format!("{}\n", schema.render(Format::FILE)))).collect()
}

/// The schema of one category, or of what all have in common.
pub fn schema(category: Option<Category>) -> Json {
    let mut root = Object::new();
    root.set("$schema", Json::text("https://json-schema.org/draft/2020-12/schema"));
    root.set("title", Json::text(category.map_or("memory", Category::name)));
    for (key, value) in group(&fields::BASE, category).iter() {
        root.set(key, value.clone());
    }
    Json::Object(root)
}

fn group(group: &Group, category: Option<Category>) -> Object {
    let mut properties = Object::new();
    for field in group.fields {
        let value = kind(&field.kind, category);
        properties.set(field.name, if field.need == Need::Optional { or_null(value) } else { value });
    }
    let required = group.fields.iter().filter(|field| field.need == Need::Required).map(|field| field.name);
    object([
        ("type", Json::text("object")),
        ("properties", Json::Object(properties)),
        ("required", Json::texts(required)),
        ("additionalProperties", Json::Bool(false)),
    ])
}

fn kind(kind: &Kind, category: Option<Category>) -> Json {
    let typed = |name: &str| ("type", Json::text(name));
    Json::Object(match kind {
        Kind::Version => object([("const", Json::text(SCHEMA_VERSION))]),
        Kind::OwnCategory => match category {
            Some(category) => object([("const", Json::text(category.name()))]),
            None => object([("enum", Json::texts(Category::ALL.map(Category::name)))]),
        },
        Kind::Choice(choices) => object([("enum", Json::texts(choices.iter().copied()))]),
        Kind::Text { max: None } => object([typed("string")]),
        Kind::Text { max: Some(max) } => object([typed("string"), ("maxLength", Json::number(max))]),
        Kind::Slug => object([typed("string"), ("pattern", Json::text(SLUG_PATTERN))]),
        Kind::Time => object([typed("string"), ("pattern", Json::text(TIME_PATTERN))]),
        Kind::Fraction => {
            object([typed("number"), ("minimum", Json::number(0)), ("maximum", Json::number(1))])
        }
        Kind::Count => object([typed("integer"), ("minimum", Json::number(0))]),
        Kind::Flag => object([typed("boolean")]),
        Kind::Any => Object::new(),
        Kind::List { of, min, max } => {
            let mut list = object([typed("array"), ("items", self::kind(of, category))]);
            if *min > 0 {
                list.set("minItems", Json::number(min));
            }
            if let Some(max) = max {
                list.set("maxItems", Json::number(max));
            }
            list
        }
        Kind::OwnContent => match category {
            Some(own) => group(fields::content(own), category),
            None => object([typed("object")]),
        },
        Kind::Group(found) => group(found, category),
    })
}

/// An optional value may be written as null; a list of choices says so among its choices.
fn or_null(value: Json) -> Json {
    let Json::Object(mut object) = value else { return value };
    if let Some(name) = object.text("type").map(str::to_owned) {
        object.set("type", Json::texts([name, "null".to_owned()]));
    }
    if let Some(Json::List(choices)) = object.get_mut("enum") {
        choices.push(Json::Null);
    }
    Json::Object(object)
}

fn object<const N: usize>(members: [(&str, Json); N]) -> Object {
    members.into_iter().collect()
}
