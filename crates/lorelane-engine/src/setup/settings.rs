//! Entries of ours in settings files, JSON or TOML by the file's name: put in, taken out, looked for.
//!
//! In TOML an entry is a table of its own at the end of the file, so that nothing else has to move for it.

use lorelane_core::json::{self, Entry, EntryFault, Json, Owned, Trace};
use std::path::Path;
use toml_edit::{Array, DocumentMut, Item, Table, TableLike, Value, value};

/// Why entries could not be put in or taken out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    Entry(EntryFault),
    Toml(String),
}

impl From<EntryFault> for Fault {
    fn from(fault: EntryFault) -> Fault {
        Fault::Entry(fault)
    }
}

fn is_toml(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "toml")
}

/// Puts entries behind what is there.
pub(super) fn add(path: &Path, text: &str, entries: &[Entry]) -> Result<(String, Vec<Trace>), Fault> {
    if !is_toml(path) {
        return Ok(json::add(text, entries)?);
    }
    let mut text = text.to_owned();
    for entry in entries {
        let name = entry.path.join(".");
        if table_of(&read(&text)?, entry).is_some() {
            return Err(EntryFault::Taken { path: name }.into());
        }
        let apart = match text.as_str() {
            blank if blank.trim().is_empty() => "",
            whole if whole.ends_with('\n') => "\n",
            _ => "\n\n",
        };
        text.push_str(&format!("{apart}{}", written(entry)));
        // What is written in another way above, such as `mcp_servers = {}`, cannot be added to.
        if !read(&text).is_ok_and(|document| table_of(&document, entry).is_some()) {
            return Err(EntryFault::Shape { path: name }.into());
        }
    }
    Ok((text, vec![Trace { added: true, ..Trace::default() }; entries.len()]))
}

/// Takes out what [`add`] put in, if it is surely ours.
pub(super) fn take(
    path: &Path,
    text: &str,
    entries: &[Entry],
    traces: Option<&[Trace]>,
) -> Result<String, Fault> {
    if !is_toml(path) {
        return Ok(json::take(text, entries, traces)?);
    }
    let mut document = read(text)?;
    let before = document.clone();
    for entry in entries.iter().filter(|entry| is_held(&before, entry)) {
        let [above @ .., own] = entry.path.as_slice() else { continue };
        let parent = above.iter().try_fold(document.as_table_mut() as &mut dyn TableLike, |table, key| {
            table.get_mut(key).and_then(Item::as_table_like_mut)
        });
        parent.and_then(|parent| parent.remove(own));
    }
    Ok(document.to_string())
}

/// Whether a text has every entry.
pub(super) fn holds(path: &Path, text: &str, entries: &[Entry]) -> bool {
    if !is_toml(path) {
        return json::holds(text, entries);
    }
    read(text).is_ok_and(|document| entries.iter().all(|entry| is_held(&document, entry)))
}

fn read(text: &str) -> Result<DocumentMut, Fault> {
    text.parse().map_err(|fault: toml_edit::TomlError| Fault::Toml(fault.message().to_owned()))
}

fn table_of<'d>(document: &'d DocumentMut, entry: &Entry) -> Option<&'d Item> {
    entry.path.iter().try_fold(document.as_item(), |item, key| item.as_table_like()?.get(key))
}

/// Whether the entry is there and says that it is ours.
fn is_held(document: &DocumentMut, entry: &Entry) -> bool {
    let Owned::Says(needle) = &entry.owned else { return false };
    let says = |value: &Item| value.as_str().is_some_and(|text| text.contains(needle.as_str()));
    let table = table_of(document, entry).and_then(Item::as_table_like);
    table.is_some_and(|table| table.iter().any(|(_, value)| says(value)))
}

/// The entry as a table of its own.
fn written(entry: &Entry) -> String {
    let mut table = Table::new();
    for (key, json) in entry.value.as_object().into_iter().flat_map(|members| members.iter()) {
        let member: Value = match json {
            Json::List(_) => Value::Array(json.to_texts().into_iter().collect::<Array>()),
            other => Value::from(other.as_text().unwrap_or_default()),
        };
        table.insert(key, value(member));
    }
    format!("[{}]\n{table}", entry.path.join("."))
}
