//! Finds the secrets that a change would add.
//!
//! Only added text is scanned: a secret that was there before is reported by `doctor --secrets`.

use crate::change::{Draft, PartialInput};
use crate::dialect::ParsedDraft;
use crate::lifecycle::Lifecycle;
use crate::memory::{Address, Body, HistoryEntry, Memory};
use crate::refusal::SecretFault;
use crate::secret;
use crate::text::cut;
use std::collections::{BTreeSet, HashSet};

/// Further secrets are only counted: after pasting a file full of secrets nobody needs the list.
const REPORTED_MAX: usize = 20;
const FIELD_MAX: usize = 200;

/// The secrets in `after` that are not in `before`. If there are too many, the last entry has the number of the
/// others.
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
            // The old text may have the value in a context where the scanner does not recognise it. The check
            // searches all old texts, so it is skipped for secrets that are only counted.
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

/// The secrets in a draft as typed. Composing writes tags in lower case and turns the title into a file name,
/// where the scanner would not recognise a secret.
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

/// The secrets in a new note's title and name. The scanner would not recognise one in the lower-case name.
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

/// Whether a field is a name: it is rejected even where other texts are redacted, because it is written in lower
/// case or names the file.
pub fn is_name(field: &str) -> bool {
    matches!(field.split('.').next(), Some("title" | "tags" | "id"))
}

/// Replaces every added secret with a redaction mark.
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
            // A heading may be the title, so both are redacted; so are unknown frontmatter keys, which are free
            // text as well.
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
