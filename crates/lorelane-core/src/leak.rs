//! Which secrets a change would write down.

use crate::json::{Json, Object};
use crate::lifecycle::Lifecycle;
use crate::memory::{Body, Event, Memory};
use crate::refusal::SecretFault;
use crate::secret;
use std::collections::BTreeSet;

/// Secrets in `after` that `before` did not hold: what a change adds is its author's doing.
pub fn added(before: Option<&Memory>, after: &Memory) -> Vec<SecretFault> {
    let known = known_texts(before);
    let mut found = Vec::new();
    each_text(after, &mut |field, text| {
        if known.contains(text) {
            return;
        }
        for secret in secret::scan(text) {
            let value = &text[secret.span.clone()];
            if !known.iter().any(|old| old.contains(value)) {
                let masked = secret::mask(value);
                found.push(SecretFault { field: field.to_owned(), kind: secret.kind, masked });
            }
        }
    });
    found
}

/// Puts a mark in the place of every added secret.
pub fn redact_added(before: Option<&Memory>, after: &mut Memory) {
    let known = known_texts(before);
    let mut redact = |text: &str| {
        if known.contains(text) {
            return None;
        }
        Some(secret::redact(text).into_owned())
    };
    let Body::Fields(content) = &mut after.body;
    let mut fields = Json::Object(std::mem::take(content));
    fields.map_texts(&mut redact);
    if let Json::Object(object) = fields {
        *content = object;
    }
    for text in after.tags.iter_mut().chain(&mut after.about) {
        if let Some(redacted) = redact(text) {
            *text = redacted;
        }
    }
    if let Lifecycle::Retired { reason: Some(reason), .. }
    | Lifecycle::Archived { reason: Some(reason), .. } = &mut after.lifecycle
    {
        *reason = secret::redact(reason).into_owned();
    }
    for Event(event) in &mut after.history {
        event.map_texts(&mut redact);
    }
}

fn known_texts(memory: Option<&Memory>) -> BTreeSet<String> {
    let mut known = BTreeSet::new();
    if let Some(memory) = memory {
        each_text(memory, &mut |_, text| {
            known.insert(text.to_owned());
        });
    }
    known
}

fn each_text(memory: &Memory, visit: &mut dyn FnMut(&str, &str)) {
    visit("title", &memory.title);
    for (name, list) in [("tags", &memory.tags), ("related_files", &memory.about)] {
        list.iter().enumerate().for_each(|(at, text)| visit(&format!("{name}.{at}"), text));
    }
    if let Lifecycle::Retired { reason: Some(reason), .. }
    | Lifecycle::Archived { reason: Some(reason), .. } = &memory.lifecycle
    {
        visit("reason", reason);
    }
    let Body::Fields(content) = &memory.body;
    let changes = Json::List(memory.history.iter().map(|event| event.0.clone()).collect());
    let record: Object =
        [("content", Json::Object(content.clone())), ("changes", changes)].into_iter().collect();
    Json::Object(record).each_text(visit);
}
