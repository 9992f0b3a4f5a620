//! Converts between our JSON and that of the protocol crate.

use super::schema::Schema;
use crate::view;
use lorelane_core::json::{Json, Object};
use rmcp::model::JsonObject;
use serde_json::Value;

/// What a client sent, as our JSON. `None` if our parser rejects it, for example because it is nested too deeply.
pub(super) fn from_client(sent: Option<JsonObject>) -> Option<Object> {
    let text = Value::Object(sent.unwrap_or_default()).to_string();
    match Json::parse(&text) {
        Ok(Json::Object(object)) => Some(object),
        _ => None,
    }
}

pub(super) fn schema_to_client(schema: &Schema) -> JsonObject {
    match view::tree(schema) {
        Value::Object(object) => object,
        _ => JsonObject::new(),
    }
}
