//! Adds, removes and finds our entries in settings files: TOML by the file's extension, else JSON.
//!
//! In TOML an entry is a table of its own at the end of the file, so that nothing else has to move, or a member
//! of an inline table that exists already. It is added and removed as text: a document that toml_edit parses and
//! renders again has other line ends and no byte order mark.

use lorelane_core::json::{self, EntryFault, OwnedEntry, Ownership, Trace};
use std::ops::Range;
use std::path::Path;
use toml_edit::{Array, Document, InlineTable, Item, Key, Table, Value, value};

const BOM: char = '\u{feff}';

/// Why entries could not be added or removed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum SettingsFault {
    #[error(transparent)]
    Entry(#[from] EntryFault),
    #[error("it is not TOML: {0}")]
    Toml(String),
}

fn is_toml(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "toml")
}

/// Adds entries after what is there.
pub(super) fn add(
    path: &Path,
    text: &str,
    entries: &[OwnedEntry],
) -> Result<(String, Vec<Trace>), SettingsFault> {
    if !is_toml(path) {
        return Ok(json::add(text, entries)?);
    }
    let line_end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let mut text = text.to_owned();
    let mut traces = Vec::new();
    for entry in entries {
        let name = entry.path.join(".");
        if table_of(&read(&text)?, entry).is_some() {
            return Err(EntryFault::Taken { path: name }.into());
        }
        let mut apart = String::new();
        if let Some((at, member)) = inline_member(&text, entry)? {
            text.insert_str(at, &member);
        } else {
            apart = match text.trim_start_matches(BOM) {
                blank if blank.trim().is_empty() => String::new(),
                whole if whole.ends_with('\n') => line_end.to_owned(),
                _ => line_end.repeat(2),
            };
            text.push_str(&format!("{apart}{}", written(entry).replace('\n', line_end)));
        }
        // A key that is not a table, such as `mcp_servers = 5`, cannot be added to.
        if !read(&text).is_ok_and(|document| table_of(&document, entry).is_some()) {
            return Err(EntryFault::Shape { path: name }.into());
        }
        traces.push(Trace { added: true, tail: apart, ..Trace::default() });
    }
    Ok((text, traces))
}

/// Removes what [`add`] added, if it is certainly ours.
pub(super) fn take(
    path: &Path,
    text: &str,
    entries: &[OwnedEntry],
    traces: Option<&[Trace]>,
) -> Result<String, SettingsFault> {
    if !is_toml(path) {
        return Ok(json::take(text, entries, traces)?);
    }
    let mut text = text.to_owned();
    for (at, entry) in entries.iter().enumerate().rev() {
        let apart = traces.map(|traces| traces[at].tail.as_str());
        if is_held(&read(&text)?, entry) {
            text = without(&text, entry, apart)?;
        }
    }
    Ok(text)
}

/// Whether a text has every entry.
pub(super) fn holds(path: &Path, text: &str, entries: &[OwnedEntry]) -> bool {
    if !is_toml(path) {
        return json::holds(text, entries);
    }
    read(text).is_ok_and(|document| entries.iter().all(|entry| is_held(&document, entry)))
}

fn read(text: &str) -> Result<Document<&str>, SettingsFault> {
    Document::parse(text).map_err(|fault| SettingsFault::Toml(fault.message().to_owned()))
}

fn table_of<'d>(document: &'d Document<&str>, entry: &OwnedEntry) -> Option<&'d Item> {
    entry.path.iter().try_fold(document.as_item(), |item, key| item.as_table_like()?.get(key))
}

/// Whether the entry is there and contains the text that identifies it as ours.
fn is_held(document: &Document<&str>, entry: &OwnedEntry) -> bool {
    let Ownership::Says(needle) = &entry.owned else { return false };
    let says = |value: &Item| value.as_str().is_some_and(|text| text.contains(needle.as_str()));
    let table = table_of(document, entry).and_then(Item::as_table_like);
    table.is_some_and(|table| table.iter().any(|(_, value)| says(value)))
}

/// The text without an entry, and without the blank line that separates it from what is above.
fn without(text: &str, entry: &OwnedEntry, apart: Option<&str>) -> Result<String, SettingsFault> {
    let (mark, body) = text.split_at(mark_length(text));
    let shape = || SettingsFault::Entry(EntryFault::Shape { path: entry.path.join(".") });
    let mut places = places(body, &read(body)?, entry).ok_or_else(shape)?;
    places.sort_by_key(|place| place.start);
    let mut left = body.to_owned();
    for (at, place) in places.into_iter().enumerate().rev() {
        let start = if at == 0 { kept_apart(&left, &place, apart) } else { place.start };
        left.replace_range(start..place.end, "");
    }
    // An entry in a form that we do not know has to be removed by hand.
    let gone = read(&left).is_ok_and(|document| table_of(&document, entry).is_none());
    if gone { Ok(format!("{mark}{left}")) } else { Err(shape()) }
}

/// Spans of toml_edit count from after the byte order mark.
fn mark_length(text: &str) -> usize {
    text.len() - text.trim_start_matches(BOM).len()
}

/// Where a range starts, including the blank line that was added with it. If something follows, the text above
/// keeps its line end.
fn kept_apart(text: &str, place: &Range<usize>, apart: Option<&str>) -> usize {
    let above = &text[..place.start];
    let blank_line = || {
        let cut = above.strip_suffix("\r\n").or_else(|| above.strip_suffix('\n'))?;
        cut.ends_with('\n').then_some(cut)
    };
    let left = match apart {
        Some("") => None,
        Some(apart) if place.end == text.len() => above.strip_suffix(apart),
        _ => blank_line(),
    };
    left.unwrap_or(above).len()
}

/// The entry's own name, and the table that holds it.
fn parent_of<'d, 'e>(document: &'d Document<&str>, entry: &'e OwnedEntry) -> Option<(&'e str, &'d Item)> {
    let (own, above) = entry.path.split_last()?;
    let parent = above.iter().try_fold(document.as_item(), |item, key| item.as_table_like()?.get(key))?;
    Some((own, parent))
}

/// Where an entry goes into an inline table, and its text; `None` if its table is not inline. It goes after the
/// last member, and into an empty table without spaces, so that removing it restores the bytes.
fn inline_member(text: &str, entry: &OwnedEntry) -> Result<Option<(usize, String)>, SettingsFault> {
    let mark = mark_length(text);
    let document = read(&text[mark..])?;
    let Some((own, parent)) = parent_of(&document, entry) else { return Ok(None) };
    let Some(inline) = parent.as_inline_table() else { return Ok(None) };
    let (span, comma) = match inline.iter().last() {
        Some((_, last)) => (last.span().map(|span| span.end), ", "),
        None => (inline.span().map(|span| span.end - 1), ""),
    };
    let at = span.ok_or_else(|| EntryFault::Shape { path: entry.path.join(".") })?;
    let members: InlineTable = members(entry).collect();
    Ok(Some((mark + at, format!("{comma}{own} = {members}"))))
}

/// Where an entry is: whole lines, or a member of an inline table.
fn places(text: &str, document: &Document<&str>, entry: &OwnedEntry) -> Option<Vec<Range<usize>>> {
    let (own, parent) = parent_of(document, entry)?;
    if let Some(inline) = parent.as_inline_table() {
        return member(inline, own).map(|place| vec![place]);
    }
    let (key, item) = parent.as_table_like()?.get_key_value(own)?;
    let whole_lines = |span: Range<usize>| {
        let start = text[..span.start].rfind('\n').map_or(0, |at| at + 1);
        start..text[span.end..].find('\n').map_or(text.len(), |at| span.end + at + 1)
    };
    let mut found = Vec::new();
    spans(key, item, &mut found)?;
    Some(found.into_iter().map(whole_lines).collect())
}

fn spans(key: &Key, item: &Item, found: &mut Vec<Range<usize>>) -> Option<()> {
    match item {
        Item::None => {}
        Item::Value(value) => found.push(key.span()?.start..value.span()?.end),
        Item::Table(table) => table_spans(table, found)?,
        Item::ArrayOfTables(tables) => tables.iter().try_for_each(|table| table_spans(table, found))?,
    }
    Some(())
}

/// A table from its header to its last value, and the tables below it, which may be anywhere.
fn table_spans(table: &Table, found: &mut Vec<Range<usize>>) -> Option<()> {
    let mut own = Vec::new();
    for (name, _) in table {
        let (key, item) = table.get_key_value(name)?;
        let headed = item.is_array_of_tables() || item.as_table().is_some_and(|table| !table.is_dotted());
        spans(key, item, if headed { &mut *found } else { &mut own })?;
    }
    // A table that exists only through a dotted key or a table below it has no header.
    if table.is_implicit() {
        found.extend(own);
    } else {
        let head = table.span()?;
        found.push(head.start..own.iter().map(|span| span.end).max().unwrap_or(head.end));
    }
    Some(())
}

/// A member of an inline table with the comma that goes with it.
fn member(table: &InlineTable, own: &str) -> Option<Range<usize>> {
    let span = |(name, value): (&str, &Value)| Some(table.key(name)?.span()?.start..value.span()?.end);
    let spans = table.iter().map(span).collect::<Option<Vec<_>>>()?;
    let at = table.iter().position(|(name, _)| name == own)?;
    let Range { start, end } = spans[at];
    Some(match (spans.get(at + 1), at.checked_sub(1)) {
        (Some(next), _) => start..next.start,
        (None, Some(before)) => spans[before].end..end,
        (None, None) => start..end,
    })
}

/// The entry as a table of its own.
fn written(entry: &OwnedEntry) -> String {
    let table: Table = members(entry).map(|(key, member)| (key, value(member))).collect();
    format!("[{}]\n{table}", entry.path.join("."))
}

fn members(entry: &OwnedEntry) -> impl Iterator<Item = (&str, Value)> {
    let members = entry.value.as_object().into_iter().flat_map(|members| members.iter());
    members.map(|(key, json)| match json.as_text() {
        Some(text) => (key, Value::from(text)),
        None => (key, Value::Array(json.to_texts().into_iter().collect::<Array>())),
    })
}
