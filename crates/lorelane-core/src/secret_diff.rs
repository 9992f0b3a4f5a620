//! Which secrets a change would write down.

use crate::change::{Draft, PartialInput};
use crate::dialect::ParsedDraft;
use crate::lifecycle::Lifecycle;
use crate::memory::{Address, Body, HistoryEntry, Memory};
use crate::refusal::SecretFault;
use crate::secret;
use crate::text::cut;
use std::collections::{BTreeSet, HashSet};

/// More than this are counted: whoever pasted a file full of secrets needs no list of them.
const REPORTED_MAX: usize = 20;
const FIELD_MAX: usize = 200;

/// Secrets in `after` that `before` did not hold: what a change adds is its author's doing. The last one of
/// many says how many more there are.
pub fn added(before: Option<&Memory>, after: &Memory) -> Vec<SecretFault> {
    let known = known_texts(before);
    let known_values: HashSet<&str> = known
        .iter()
        .flat_map(|text| secret::scan(text).into_iter().map(|secret| &text[secret.span]))
        .collect();
    let mut found = Vec::new();
    let mut more = 0;
    each_text(after, &mut |field, text| {
        if known.contains(text) {
            return;
        }
        for secret in secret::scan(text) {
            let value = &text[secret.span.clone()];
            if known_values.contains(value) {
                continue;
            }
            if found.len() == REPORTED_MAX {
                more += 1;
            // A value may have stood where nothing made it look like a secret. This reads all that was known,
            // so it is not asked for those that are only counted.
            } else if !known.iter().any(|old| old.contains(value)) {
                let masked = secret::mask(value);
                found.push(SecretFault { field: cut(field, FIELD_MAX), kind: secret.kind, masked });
            }
        }
    });
    if more > 0 {
        found.push(SecretFault {
            field: format!("and {more} more"),
            kind: "not shown",
            masked: "…".to_owned(),
        });
    }
    found
}

/// Secrets in what somebody drafted, before anything is made of it: a tag is written in lower case and a title
/// becomes a name, and neither looks like a secret any more.
pub fn drafted(before: Option<&Memory>, parsed: &ParsedDraft<'_>) -> Vec<SecretFault> {
    let known = known_texts(before);
    let mut found = Vec::new();
    let mut look = |field: &str, text: &str| {
        for secret in secret::scan(text) {
            let value = &text[secret.span];
            if found.len() < REPORTED_MAX && !known.iter().any(|old| old.contains(value)) {
                found.push(SecretFault {
                    field: cut(field, FIELD_MAX),
                    kind: secret.kind,
                    masked: secret::mask(value),
                });
            }
        }
    };
    parsed.each_text(&mut look);
    match parsed.draft {
        Draft::Whole(_) | Draft::Edited { .. } | Draft::Append { .. } => {}
        Draft::Renamed { to } => look("id", to.name()),
        Draft::Partial { from, set, add_tags, .. } => {
            if let Some(PartialInput::Fields(fields)) = from {
                fields.each_text_below("", &mut look);
            }
            set.iter().for_each(|assignment| look(&assignment.path, &assignment.value));
            add_tags.iter().for_each(|tag| look("tags", tag));
        }
    }
    found
}

/// Secrets in what a new note is called. Its title becomes a name in lower case, which looks like no secret any more.
pub fn in_names(address: &Address, title: &str) -> Vec<SecretFault> {
    let look = |field: &str, text: &str| -> Vec<SecretFault> {
        let fault = |secret: secret::SecretMatch| SecretFault {
            field: field.to_owned(),
            kind: secret.kind,
            masked: secret::mask(&text[secret.span]),
        };
        secret::scan(text).into_iter().map(fault).take(REPORTED_MAX).collect()
    };
    [look("title", title), look("id", address.name())].concat()
}

/// Whether a field names something, so that a mark in its place would come too late.
pub fn is_name(field: &str) -> bool {
    matches!(field.split('.').next(), Some("title" | "tags" | "id"))
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
    match &mut after.body {
        Body::Fields(content) => content.map_texts(&mut redact),
        Body::Prose(text) => {
            // A heading may be the title, and the rest of the head is as much its author's text.
            for part in [text, &mut after.title] {
                *part = redact(part).unwrap_or_else(|| part.clone());
            }
            after.extra.map_texts(&mut redact);
        }
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
    for HistoryEntry(event) in &mut after.history {
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
    for (at, HistoryEntry(entry)) in memory.history.iter().enumerate() {
        entry.each_text_below(&format!("changes.{at}"), visit);
    }
    match &memory.body {
        Body::Fields(content) => content.each_text_below("content", visit),
        Body::Prose(text) => {
            visit("content", text);
            memory.extra.each_text_below("frontmatter", visit);
        }
    }
}
