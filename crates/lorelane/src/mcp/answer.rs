//! The results of tools. A failure is a result too: a model reads it and corrects its call.

use super::hints::{self, Tools};
use crate::view::{self, ErrorView};
use lorelane_core::fence::{self, Fence};
use lorelane_core::secret;
use lorelane_engine::workspace::Failure;
use serde::Serialize;
use serde_json::Value;

/// More than a model can use at once; clients truncate longer texts silently.
const TEXT_MAX: usize = 40_000;

/// The member of a structured answer that holds a list: the protocol requires an object there.
pub(super) const LISTED: &str = "result";

#[derive(Clone, Debug, PartialEq)]
pub(super) enum ToolAnswer {
    Text(String),
    /// JSON for a model, with escaped texts.
    Document(Value),
    /// JSON with the exact values of the files. Programs read them, edit them and write them back; an escaped text
    /// would change the file.
    Verbatim {
        text: String,
        document: Value,
    },
}

/// What was attempted and why it failed, with a hint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ToolError {
    what: String,
    hint: String,
}

pub(super) type ToolResult = Result<ToolAnswer, ToolError>;

impl ToolAnswer {
    /// Text of memories in a fence, so that a model can tell it from ours around it.
    pub(super) fn fenced(head: &str, inside: &str, tail: &str) -> ToolAnswer {
        let mut text = String::new();
        if !head.is_empty() {
            text.push_str(&format!("{head}\n"));
        }
        text.push_str(&Fence::Memory.around(inside));
        text.push_str(tail);
        ToolAnswer::Text(text)
    }

    /// A document whose texts are escaped: none can pass for markup.
    pub(super) fn document(document: &impl Serialize) -> ToolAnswer {
        let mut document = view::tree(document);
        map_texts(&mut document, &|text| fence::block(text, TEXT_MAX));
        ToolAnswer::Document(document)
    }

    /// A document of exact values. A list is the only member of an object, because structured content must be one.
    pub(super) fn verbatim(document: &impl Serialize) -> ToolAnswer {
        let text = fence::json(&view::line(document));
        let document = match view::tree(document) {
            list @ Value::Array(_) => [(LISTED.to_owned(), list)].into_iter().collect(),
            object => object,
        };
        ToolAnswer::Verbatim { text, document }
    }
}

/// Replaces every string value of a document; keys stay.
pub(super) fn map_texts(document: &mut Value, change: &dyn Fn(&str) -> String) {
    match document {
        Value::String(text) => *text = change(text),
        Value::Array(items) => items.iter_mut().for_each(|item| map_texts(item, change)),
        Value::Object(object) => object.values_mut().for_each(|value| map_texts(value, change)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The text of a memory's file, escaped, and whether it is complete.
pub(super) fn whole(text: &str) -> (String, bool) {
    (fence::block(text, TEXT_MAX), text.chars().nth(TEXT_MAX).is_none())
}

impl ToolAnswer {
    pub(super) fn naming(mut self, tools: Tools) -> ToolAnswer {
        if let ToolAnswer::Document(document) = &mut self {
            hints::with_tools_in(document, tools);
        }
        self
    }
}

impl ToolError {
    pub(super) fn naming(self, tools: Tools) -> ToolError {
        let ToolError { what, hint } = self;
        ToolError { what: hints::with_tools_in_fixes(&what, tools), hint: hints::with_tools(&hint, tools) }
    }

    pub(super) fn new(what: impl Into<String>, hint: impl Into<String>) -> ToolError {
        ToolError { what: what.into(), hint: hint.into() }
    }

    pub(super) fn document(&self) -> String {
        let error = ErrorView { error: &secret::masked(&self.what), hint: &secret::masked(&self.hint) };
        fence::json(&view::line(&error))
    }

    pub(super) fn text(&self) -> String {
        let text = format!("error: {}\nhint: {}", self.what, self.hint);
        fence::block(&secret::masked(&text), TEXT_MAX)
    }
}

impl From<Failure> for ToolError {
    fn from(failure: Failure) -> ToolError {
        ToolError::from(&failure)
    }
}

impl From<&Failure> for ToolError {
    fn from(failure: &Failure) -> ToolError {
        ToolError::new(failure.to_string(), failure.hint())
    }
}
