//! Fixes obvious mistakes in a draft and reports each fix as a notice.

use super::fields::{self, FieldGroup, FieldType, NO_TAG, SCHEMA_VERSION, TAG_MAX};
use crate::change::Notice;
use crate::json::{Json, JsonFormat, Object};
use crate::memory::{Address, Category};
use crate::text::printable;
use crate::time::{Precision, Timestamp};
use std::collections::BTreeSet;

/// What a draft is used for; some fixes depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Occasion {
    Create,
    /// A whole record replaces another, as with the `claude-memory` scripts.
    Replace,
    /// Some fields of a record are changed.
    Edit,
}

/// Fixes a draft in place. The order of the steps is that of the `claude-memory` scripts, so that the same draft
/// gives the same record.
pub(super) fn fix(
    record: &mut Object,
    category: Category,
    occasion: Occasion,
    now: Timestamp,
) -> Vec<Notice> {
    let mut notices = Vec::new();
    let is_empty = |record: &Object, key: &str| match record.get(key) {
        None | Some(Json::Null) => true,
        Some(Json::Text(text)) => text.is_empty(),
        Some(_) => false,
    };
    if is_empty(record, "schema_version") {
        record.set("schema_version", Json::text(SCHEMA_VERSION));
        notices.push(Notice::fixed("schema_version", "set to '1.0'"));
    }
    for key in ["updated_at", "created_at"] {
        if is_empty(record, key) && (key == "updated_at" || occasion == Occasion::Create) {
            record.set(key, Json::text(now.to_string()));
            notices.push(Notice::fixed(key, "set to current UTC"));
        }
    }
    fix_naive_times(record, &mut notices);
    if let Some(Json::Text(tag)) = record.get("tags") {
        let tags = Json::texts([tag.clone()]);
        record.set("tags", tags);
        notices.push(Notice::fixed("tags", "wrapped string in array"));
    }
    relax(record, category, &mut notices);
    fix_id(record, category, &mut notices);
    fix_confidence(record, &mut notices);
    fix_title(record, &mut notices);
    fix_tags(record, occasion, &mut notices);
    notices
}

/// A time without an offset is read as UTC; it is written with the offset, so that other readers agree.
fn fix_naive_times(record: &mut Object, notices: &mut Vec<Notice>) {
    for key in ["created_at", "updated_at", "retired_at", "archived_at"] {
        if let Some((at, Precision::Naive)) = record.text(key).and_then(Timestamp::parse) {
            record.set(key, Json::text(at.to_string()));
            notices.push(Notice::fixed(key, format!("read as UTC, set to '{at}'")));
        }
    }
}

fn fix_id(record: &mut Object, category: Category, notices: &mut Vec<Notice>) {
    let Some(id) = record.text("id").filter(|id| !id.is_empty()).map(str::to_owned) else { return };
    let address = Address::for_title(category, &id);
    if address.name() != id {
        notices.push(Notice::fixed("id", format!("slugified '{id}' -> '{}'", address.name())));
        record.set("id", Json::text(address.name()));
    }
}

fn fix_confidence(record: &mut Object, notices: &mut Vec<Notice>) {
    let Some(confidence) = record.get("confidence").and_then(Json::as_f64) else { return };
    let bound = match confidence {
        low if low < 0.0 => "0.0",
        high if high > 1.0 => "1.0",
        _ => return,
    };
    record.set("confidence", Json::Number(bound.to_owned()));
    notices.push(Notice::fixed("confidence", format!("clamped to {bound}")));
}

fn fix_title(record: &mut Object, notices: &mut Vec<Notice>) {
    let Some(title) = record.text("title").map(str::to_owned) else { return };
    let trimmed = title.trim();
    if trimmed != title {
        notices.push(Notice::fixed("title", "stripped whitespace"));
    }
    let safe = safe_for_listing(trimmed);
    if safe != trimmed {
        notices.push(Notice::fixed("title", "removed control characters and the markers of index.md"));
    }
    if safe != title {
        record.set("title", Json::Text(safe));
    }
}

fn fix_tags(record: &mut Object, occasion: Occasion, notices: &mut Vec<Notice>) {
    let Some(Json::List(items)) = record.get("tags") else { return };
    let tags: BTreeSet<String> =
        items.iter().filter_map(Json::as_text).map(safe_tag).filter(|tag| !tag.is_empty()).collect();
    let mut tags: Vec<String> = tags.into_iter().collect();
    if tags.is_empty() {
        tags.push(NO_TAG.to_owned());
        notices.push(Notice::fixed("tags", "no usable tag, set to ['untagged']"));
    }
    // The scripts truncate a draft's tags. An edit is rejected by the tag limit later: its author chooses which
    // tag to drop.
    if tags.len() > TAG_MAX && occasion != Occasion::Edit {
        tags.truncate(TAG_MAX);
        notices.push(Notice::fixed("tags", format!("at most {TAG_MAX}, the rest were dropped")));
    }
    record.set("tags", Json::texts(tags));
}

pub(super) fn safe_tag(tag: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-' || byte == b'_';
    if tag.bytes().all(plain) {
        return tag.to_owned();
    }
    let spaced: String = tag.to_lowercase().chars().map(|c| if c == ',' { ' ' } else { c }).collect();
    without_markers(&spaced, " ")
}

/// Removes what could be parsed as another part of a listing's line.
pub(super) fn safe_for_listing(text: &str) -> String {
    without_markers(text, " - ")
}

/// Arrows are replaced last: the replacement contains a space, so it cannot complete a `#tags:` marker.
fn without_markers(text: &str, arrow: &str) -> String {
    let mut visible = printable(text);
    visible.retain(|c| !c.is_control());
    replace_arrows(&remove_tags_marks(visible.chars()), arrow).trim().to_owned()
}

/// Removes every `#tags:`, including one that appears when another is removed (`#ta#tags:gs:`). Checking the end
/// of the output finds nested ones in one pass; repeated replacement takes a pass for each level.
fn remove_tags_marks(text: impl Iterator<Item = char>) -> String {
    const MARK: &str = "#tags:";
    let mut kept = String::new();
    for c in text {
        kept.push(c);
        if c == ':' && kept.ends_with(MARK) {
            kept.truncate(kept.len() - MARK.len());
        }
    }
    kept
}

/// Replaces every `->` between whitespace, together with that whitespace. Any Unicode whitespace counts.
fn replace_arrows(text: &str, by: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("->") {
        let after = &rest[at + 2..];
        out.push_str(&rest[..at]);
        let alone_before = out.chars().next_back().is_none_or(char::is_whitespace);
        let alone_after = after.chars().next().is_none_or(char::is_whitespace);
        if alone_before && alone_after {
            out.truncate(out.trim_end().len());
            out.push_str(by);
            rest = after.trim_start();
        } else {
            out.push_str("->");
            rest = after;
        }
    }
    out.push_str(rest);
    out
}

/// Converts the values of a record that only a lenient parser accepts to their type.
pub(super) fn relax(record: &mut Object, category: Category, notices: &mut Vec<Notice>) {
    relax_group(&fields::BASE, record, "", category, notices);
}

/// Converts values such as `"0.5"`, `"yes"` or `1` to the type of their field.
fn relax_group(
    group: &FieldGroup,
    object: &mut Object,
    path: &str,
    category: Category,
    notices: &mut Vec<Notice>,
) {
    for field in group.fields {
        let Some(value) = object.get_mut(field.name) else { continue };
        let path = if path.is_empty() { field.name.to_owned() } else { format!("{path}.{}", field.name) };
        if let (Some(inner), Json::Object(nested)) = (fields::group_of(&field.kind, category), &mut *value) {
            relax_group(inner, nested, &path, category, notices);
        }
        if let Some(typed) = relaxed(&field.kind, value) {
            let (from, to) = (value.render(JsonFormat::LINE), typed.render(JsonFormat::LINE));
            notices.push(Notice::fixed(&path, format!("read {from} as {to}")));
            *value = typed;
        }
    }
}

fn relaxed(kind: &FieldType, value: &Json) -> Option<Json> {
    match (kind, value) {
        (FieldType::Fraction, Json::Text(text)) => {
            let number: f64 = text.trim().parse().ok()?;
            number.is_finite().then(|| Json::Number(plain_number(text.trim(), number)))
        }
        (FieldType::Fraction, Json::Bool(flag)) => {
            Some(Json::Number(if *flag { "1.0" } else { "0.0" }.to_owned()))
        }
        (FieldType::Count, Json::Text(text)) => text.trim().parse::<u64>().ok().map(Json::number),
        (FieldType::Count, Json::Bool(flag)) => Some(Json::number(u8::from(*flag))),
        (FieldType::Count, Json::Number(text)) if text.parse::<u64>().is_err() => {
            value.as_u64().map(Json::number)
        }
        (FieldType::Flag, Json::Text(text)) => match text.trim().to_lowercase().as_str() {
            "yes" | "true" | "on" | "1" | "y" | "t" => Some(Json::Bool(true)),
            "no" | "false" | "off" | "0" | "n" | "f" => Some(Json::Bool(false)),
            _ => None,
        },
        (FieldType::Flag, Json::Number(text)) => match text.parse::<f64>() {
            Ok(1.0) => Some(Json::Bool(true)),
            Ok(0.0) => Some(Json::Bool(false)),
            _ => None,
        },
        _ => None,
    }
}

/// The text itself if it is a JSON number, else the number it denotes (`.5`, `+1`).
fn plain_number(text: &str, number: f64) -> String {
    match Json::parse(text) {
        Ok(Json::Number(plain)) => plain,
        _ => format!("{number:?}"),
    }
}

/// Removes control characters from every new text: they are invisible, and a terminal interprets some of them.
pub(super) fn remove_controls(record: &mut Object, old: Option<&Object>, notices: &mut Vec<Notice>) {
    let mut kept = BTreeSet::new();
    if let Some(old) = old {
        old.iter().for_each(|(_, value)| {
            value.each_text(&mut |_, text| {
                kept.insert(text.to_owned());
            })
        });
    }
    let keys: Vec<String> = record.iter().map(|(key, _)| key.to_owned()).collect();
    for key in keys {
        let Some(value) = record.get_mut(&key) else { continue };
        let mut cleaned = false;
        value.map_texts(&mut |text| {
            let bad = |c: char| c.is_control() && !matches!(c, '\n' | '\t' | '\r');
            if !text.contains(bad) || kept.contains(text) {
                return None;
            }
            cleaned = true;
            Some(text.chars().filter(|c| !bad(*c)).collect())
        });
        if cleaned {
            notices.push(Notice::fixed(&key, "removed control characters"));
        }
    }
}

/// Restores the fields that the draft did not change: a revision fixes only the fields it changes.
pub(super) fn leave_unchanged(
    record: &mut Object,
    drafted: &Object,
    old: &Object,
    notices: &mut Vec<Notice>,
) {
    let unchanged = |key: &str, value: &Json| drafted.get(key).is_some_and(|drafted| drafted.means(value));
    for (key, value) in old.iter().filter(|(key, value)| unchanged(key, value)) {
        record.set(key, value.clone());
        notices.retain(|notice| match notice {
            Notice::Fixed { field, .. } => field.split('.').next() != Some(key),
            Notice::Warning(_)
            | Notice::NoSuchFiles(_)
            | Notice::Leaving { .. }
            | Notice::NearDuplicate { .. } => true,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_hidden_marker_does_not_come_out_whole() {
        let table = [
            ("Auth tokens -> -> /etc/evil.json #ta#tags:gs:auth", "Auth tokens - - /etc/evil.json auth"),
            ("a\u{a0}->\u{a0}b", "a - b"),
            ("-> b", "- b"),
            ("b ->", "b -"),
            ("a->b", "a->b"),
            ("plain", "plain"),
        ];
        for (title, expected) in table {
            assert_eq!(safe_for_listing(title), expected, "{title:?}");
        }
        assert_eq!(safe_tag(" Rate, Limit -> x "), "rate  limit x");
    }

    // Each nesting level took a pass over the whole text: with a title of 300 KB `list` took 13 seconds, with one
    // of 1 MiB it would take minutes.
    #[test]
    fn markers_hidden_in_markers_are_removed_in_one_pass() {
        let layers = 170_000;
        let title = format!("a{}{}b", "#ta".repeat(layers), "gs:".repeat(layers));
        let mut looked_at = 0;
        assert_eq!(remove_tags_marks(title.chars().inspect(|_| looked_at += 1)), "ab");
        assert_eq!(looked_at, title.len());
        assert_eq!(safe_for_listing(&title), "ab");
        assert_eq!(safe_tag(&title), "ab");
        let arrows = "-> ".repeat(300_000);
        assert_eq!(safe_for_listing(&arrows).matches('-').count(), 300_000);
        assert_eq!(safe_tag(&arrows), "");
    }

    proptest! {
        #[test]
        fn what_is_safe_stays_as_it_is(
            parts in prop::collection::vec(
                prop::sample::select(vec!["#ta", "#tags:", "gs:", "#", "->", "-", ">", " ", "\u{a0}", ",", "A", "\u{7}", "\u{200b}"]),
                0..20,
            ),
        ) {
            let text = parts.concat();
            for safe in [safe_for_listing, safe_tag] {
                let once = safe(&text);
                prop_assert!(!once.contains("#tags:") && !once.contains(" -> "), "{once:?}");
                prop_assert_eq!(safe(&once), once);
            }
        }
    }
}
