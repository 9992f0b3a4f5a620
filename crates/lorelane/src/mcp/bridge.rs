//! From the protocol crate's JSON to ours and back: rules and documents speak our own.

use lorelane_core::json::{Format, Json, Object};
use rmcp::model::JsonObject;
use serde_json::Value;

/// What a client sent, as our JSON. `None` for text that ours refuses, such as nesting without end.
pub(super) fn from_client(sent: Option<JsonObject>) -> Option<Object> {
    let text = Value::Object(sent.unwrap_or_default()).to_string();
    match Json::parse(&text) {
        Ok(Json::Object(object)) => Some(object),
        _ => None,
    }
}

pub(super) fn to_client(json: &Json) -> Value {
    serde_json::from_str(&json.render(Format::LINE)).unwrap_or(Value::Null)
}

pub(super) fn object_to_client(json: &Json) -> JsonObject {
    match to_client(json) {
        Value::Object(object) => object,
        _ => JsonObject::new(),
    }
}
