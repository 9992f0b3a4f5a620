//! Adds our entries to settings files of other programs, and removes them.
//!
//! Such a file may have comments, unusual whitespace and trailing commas, and it belongs to its user. So entries
//! are inserted and cut out as text, and no other byte changes. [`take`] is the inverse of [`add`]; what the text
//! alone cannot show, such as whether an empty list was there before, is recorded in a [`Trace`].

use super::parse::{JsonDocument, JsonFault, JsonNode, NodeKind, comment};
use super::patch::{ValueLayout, fresh};
use super::render::quote;
use super::{Json, Object};
use serde::{Deserialize, Serialize};
use std::ops::Range;

const BOM: char = '\u{feff}';

/// A value of ours and where it belongs.
#[derive(Clone, Debug, PartialEq)]
pub struct OwnedEntry {
    /// Keys from the root. Missing objects are created.
    pub path: Vec<String>,
    pub place: EntryPlace,
    pub value: Json,
    pub owned: Ownership,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryPlace {
    /// The value of the path's last key.
    Member,
    /// The last item of the list that the path names.
    Item,
}

/// How an entry is recognized as ours after somebody has edited the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ownership {
    /// One of its strings contains this text.
    Says(String),
    /// Nobody else uses its name.
    Named,
    /// Other programs need it too: it is added only if it is missing, and any existing value is accepted.
    Shared,
}

/// What [`take`] needs to undo an [`add`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trace {
    /// Whether it was added. An entry that existed before is not removed.
    pub added: bool,
    /// How many of the objects and lists around it were created for it.
    pub made: usize,
    /// The whitespace added with it: after it if the brackets were empty, before it in a file of another format.
    pub tail: String,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EntryFault {
    #[error("it is not JSON: {0}")]
    Json(#[from] JsonFault),
    /// Our name is taken by a value that is not ours.
    #[error("`{path}` already exists, and lorelane did not write it")]
    Taken { path: String },
    /// A value on the path is not the object or list that it should be.
    #[error("`{path}` does not have the type the client expects")]
    Shape { path: String },
}

/// Adds entries to a text, each after what is already there. An empty text becomes an object.
pub fn add(text: &str, entries: &[OwnedEntry]) -> Result<(String, Vec<Trace>), EntryFault> {
    let (mark, body) = split_mark(text);
    let mut body = if body.trim().is_empty() { "{}\n".to_owned() } else { body.to_owned() };
    let mut traces = Vec::new();
    for entry in entries {
        let (changed, trace) = add_one(&body, entry)?;
        body = changed;
        traces.push(trace);
    }
    Ok((format!("{mark}{body}"), traces))
}

/// Removes what [`add`] added. Without traces, only what is certainly ours is removed.
pub fn take(text: &str, entries: &[OwnedEntry], traces: Option<&[Trace]>) -> Result<String, EntryFault> {
    let (mark, body) = split_mark(text);
    if body.trim().is_empty() {
        return Ok(text.to_owned());
    }
    let mut body = body.to_owned();
    let known = traces.is_some();
    let unknown: Vec<Trace> =
        entries.iter().map(|entry| Trace { added: says_it(entry), ..Trace::default() }).collect();
    let traces = traces.unwrap_or(&unknown);
    let before = body.clone();
    for (entry, trace) in entries.iter().zip(traces).rev().filter(|(_, trace)| trace.added) {
        body = take_one(&body, entry, trace)?;
    }
    if !known && body != before {
        // An entry of ours was here, so the members with our name came with it.
        for entry in entries.iter().rev().filter(|entry| entry.owned == Ownership::Named) {
            body = take_one(&body, entry, &Trace::default())?;
        }
    }
    Ok(format!("{mark}{body}"))
}

/// Whether a text has every entry. A member that is recognized by its text may contain more by now.
pub fn holds(text: &str, entries: &[OwnedEntry]) -> bool {
    let Ok(document) = JsonDocument::parse_lenient(split_mark(text).1) else { return false };
    entries.iter().all(|entry| {
        let Some(value) = descend(&document.root, &entry.path) else { return false };
        match (entry.place, &value.kind) {
            (EntryPlace::Member, _) => {
                value.says(&entry.value)
                    || entry.owned == Ownership::Shared
                    || says_it(entry) && entry.owns(value)
            }
            (EntryPlace::Item, NodeKind::List(items)) => items.iter().any(|item| item.says(&entry.value)),
            (EntryPlace::Item, _) => false,
        }
    })
}

/// The string by which an entry is recognized as ours, as it is in the file.
pub fn said(text: &str, entry: &OwnedEntry) -> Option<String> {
    let Ownership::Says(needle) = &entry.owned else { return None };
    let document = JsonDocument::parse_lenient(split_mark(text).1).ok()?;
    let mut found = None;
    let value = document.root.into_json();
    let value = entry.path.iter().try_fold(&value, |value, key| value.as_object()?.get(key))?;
    value.each_text(&mut |_, text| {
        if text.contains(needle.as_str()) && found.is_none() {
            found = Some(text.to_owned());
        }
    });
    found
}

fn says_it(entry: &OwnedEntry) -> bool {
    matches!(entry.owned, Ownership::Says(_))
}

fn split_mark(text: &str) -> (&str, &str) {
    text.split_at(if text.starts_with(BOM) { BOM.len_utf8() } else { 0 })
}

fn add_one(text: &str, entry: &OwnedEntry) -> Result<(String, Trace), EntryFault> {
    let root = JsonDocument::parse_lenient(text)?.root;
    let (last, outer) = entry.path.split_last().expect("an entry has a name");
    let mut node = &root;
    for (depth, key) in outer.iter().enumerate() {
        match child(node, key).map_err(|()| entry.shape(depth))? {
            Some(inner) => node = inner,
            None => {
                let made = outer.len() - depth + usize::from(entry.place == EntryPlace::Item);
                let value =
                    outer[depth + 1..].iter().rev().fold(entry.leaf(last), |inner, key| wrap(key, inner));
                return Ok(insert(text, &root, node, Some(key), &value, made));
            }
        }
    }
    let there = child(node, last).map_err(|()| entry.shape(outer.len()))?;
    match (entry.place, there) {
        (EntryPlace::Member, None) => Ok(insert(text, &root, node, Some(last), &entry.value, 0)),
        (EntryPlace::Item, None) => {
            Ok(insert(text, &root, node, Some(last), &Json::List(vec![entry.value.clone()]), 1))
        }
        (EntryPlace::Item, Some(list)) if matches!(list.kind, NodeKind::List(_)) => {
            Ok(insert(text, &root, list, None, &entry.value, 0))
        }
        (EntryPlace::Item, Some(_)) => Err(entry.shape(entry.path.len())),
        (EntryPlace::Member, Some(value)) if entry.owned == Ownership::Shared || value.says(&entry.value) => {
            Ok((text.to_owned(), Trace::default()))
        }
        (EntryPlace::Member, Some(_)) => Err(EntryFault::Taken { path: entry.path.join(".") }),
    }
}

fn take_one(text: &str, entry: &OwnedEntry, trace: &Trace) -> Result<String, EntryFault> {
    let mut text = text.to_owned();
    let mut gone = false;
    while let Some((path, at)) = find(&JsonDocument::parse_lenient(&text)?.root, entry) {
        let tail = if trace.made == 0 { &trace.tail } else { "" };
        text = cut_at(&text, &path, at, tail)?;
        gone = true;
        if entry.place == EntryPlace::Member {
            break;
        }
    }
    let around = entry.path.len() - usize::from(entry.place == EntryPlace::Member);
    for level in (0..trace.made.min(around)).filter(|_| gone) {
        let path = &entry.path[..around - level];
        let root = JsonDocument::parse_lenient(&text)?.root;
        let Some((last, outer)) = path.split_last() else { break };
        let Some(holder) = descend(&root, outer) else { break };
        let empty = child(holder, last).ok().flatten().is_some_and(|node| is_hollow(&text, node));
        let Some(at) = position(holder, last).filter(|_| empty) else { break };
        let tail = if level + 1 == trace.made { &trace.tail } else { "" };
        text = cut_at(&text, outer, at, tail)?;
    }
    Ok(text)
}

/// The keys of the enclosing object or list, and the entry's position in it.
fn find(root: &JsonNode, entry: &OwnedEntry) -> Option<(Vec<String>, usize)> {
    let (last, outer) = entry.path.split_last()?;
    let holder = descend(root, outer)?;
    let at = position(holder, last)?;
    let value = child(holder, last).ok()??;
    match entry.place {
        EntryPlace::Member => entry.owns(value).then(|| (outer.to_vec(), at)),
        EntryPlace::Item => {
            let NodeKind::List(items) = &value.kind else { return None };
            let at = items.iter().position(|item| entry.owns(item))?;
            Some((entry.path.clone(), at))
        }
    }
}

impl OwnedEntry {
    fn leaf(&self, last: &str) -> Json {
        match self.place {
            EntryPlace::Member => wrap(last, self.value.clone()),
            EntryPlace::Item => wrap(last, Json::List(vec![self.value.clone()])),
        }
    }

    fn owns(&self, node: &JsonNode) -> bool {
        match &self.owned {
            Ownership::Says(needle) => mentions(node, needle),
            Ownership::Named | Ownership::Shared => self.place == EntryPlace::Member,
        }
    }

    fn shape(&self, depth: usize) -> EntryFault {
        let path = self.path[..depth].join(".");
        EntryFault::Shape { path: if path.is_empty() { "(root)".to_owned() } else { path } }
    }
}

fn wrap(key: &str, value: Json) -> Json {
    Json::Object(Object::from_iter([(key, value)]))
}

fn mentions(node: &JsonNode, needle: &str) -> bool {
    match &node.kind {
        NodeKind::Scalar(value) => value.as_text().is_some_and(|text| text.contains(needle)),
        NodeKind::List(items) => items.iter().any(|item| mentions(item, needle)),
        NodeKind::Object(members) => members.iter().any(|member| mentions(&member.value, needle)),
    }
}

/// The value under a key; of duplicate keys the last one counts. An error if the node is not an object.
fn child<'n>(node: &'n JsonNode, key: &str) -> Result<Option<&'n JsonNode>, ()> {
    let NodeKind::Object(members) = &node.kind else { return Err(()) };
    Ok(members.iter().rfind(|member| member.key == key).map(|member| &member.value))
}

fn position(node: &JsonNode, key: &str) -> Option<usize> {
    let NodeKind::Object(members) = &node.kind else { return None };
    members.iter().rposition(|member| member.key == key)
}

fn descend<'n>(root: &'n JsonNode, path: &[String]) -> Option<&'n JsonNode> {
    path.iter().try_fold(root, |node, key| child(node, key).ok().flatten())
}

/// Whether there is nothing between the brackets, not even a comment.
fn is_hollow(text: &str, node: &JsonNode) -> bool {
    matches!(node.kind, NodeKind::List(_) | NodeKind::Object(_)) && text[inside(node)].trim().is_empty()
}

fn inside(node: &JsonNode) -> Range<usize> {
    node.span.start + 1..node.span.end - 1
}

fn items(node: &JsonNode) -> Vec<Range<usize>> {
    match &node.kind {
        NodeKind::Scalar(_) => Vec::new(),
        NodeKind::List(items) => items.iter().map(|item| item.span.clone()).collect(),
        NodeKind::Object(members) => {
            members.iter().map(|member| member.key_span.start..member.value.span.end).collect()
        }
    }
}

/// The text between two items, or between an item and a bracket.
struct Gap {
    comma: Option<usize>,
    /// The end of the last comment.
    remarked: Option<usize>,
    /// Whether that comment extends to the end of its line.
    runs_on: bool,
}

impl Gap {
    fn of(text: &str, range: Range<usize>) -> Gap {
        let mut gap = Gap { comma: None, remarked: None, runs_on: false };
        let mut at = range.start;
        while at < range.end {
            let rest = &text[at..range.end];
            at += match rest.as_bytes()[0] {
                b'/' => {
                    // The parser has accepted this text, so a slash starts a comment.
                    let length = comment(rest).unwrap_or(rest.len());
                    gap.remarked = Some(at + length);
                    gap.runs_on = rest.starts_with("//");
                    length
                }
                b',' => {
                    gap.comma = Some(at);
                    1
                }
                _ => 1,
            };
        }
        gap
    }

    /// Where the preceding item ends, including its comma and comments.
    fn owner_end(&self, start: usize) -> usize {
        let comma = self.comma.map_or(start, |at| at + 1);
        self.remarked.map_or(comma, |at| at.max(comma))
    }
}

fn insert(
    text: &str,
    root: &JsonNode,
    node: &JsonNode,
    key: Option<&str>,
    value: &Json,
    made: usize,
) -> (String, Trace) {
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let items = items(node);
    let inside = inside(node);
    let last = items.last();
    let start = last.map_or(inside.start, |last| last.end);
    let gap = Gap::of(text, start..inside.end);
    let point = gap.owner_end(start);
    let lead = match items.len() {
        0 => None,
        1 => Some(inside.start),
        count => Some(items[count - 2].end),
    };
    let lead = lead.zip(last).map(|(from, last)| {
        let from = Gap::of(text, from..last.start).owner_end(from);
        &text[from..last.start]
    });
    let indent = match lead {
        Some(lead) if lead.contains('\n') => lead.rsplit_once('\n').map(|(_, blanks)| blanks.to_owned()),
        Some(_) if gap.runs_on => Some(line_indent(text, start).to_owned()),
        Some(_) => None,
        None if has_lines(text, root) => {
            Some(format!("{}{}", line_indent(text, node.span.start), unit(text, root)))
        }
        None => None,
    };
    let mut piece = match &indent {
        Some(indent) => format!("{newline}{indent}"),
        None => lead.unwrap_or_default().to_owned(),
    };
    if let Some(key) = key {
        quote(&mut piece, key, false);
        piece.push_str(": ");
    }
    fresh(&mut piece, value, ValueLayout { newline, unit: unit(text, root), indent: indent.as_deref() });
    let mut tail = String::new();
    if last.is_none() && indent.is_some() && !text[point..inside.end].contains('\n') {
        tail = format!("{newline}{}", line_indent(text, node.span.start));
    }
    let (comma_before, comma_behind) = match (last, gap.comma) {
        (Some(_), None) => (",", ""),
        (Some(_), Some(_)) => ("", ","),
        (None, _) => ("", ""),
    };
    let changed =
        [&text[..start], comma_before, &text[start..point], &piece, comma_behind, &tail, &text[point..]];
    (changed.concat(), Trace { added: true, made, tail })
}

/// Whether the file is laid out in lines. An empty `{}` counts, because it will be.
fn has_lines(text: &str, root: &JsonNode) -> bool {
    text[root.span.clone()].contains('\n') || items(root).is_empty()
}

fn unit<'t>(text: &'t str, root: &JsonNode) -> &'t str {
    let first = items(root).first().map(|first| line_indent(text, first.start));
    first.filter(|blanks| !blanks.is_empty()).unwrap_or("  ")
}

/// The indentation of the line that contains a position.
fn line_indent(text: &str, at: usize) -> &str {
    let line = &text[text[..at].rfind('\n').map_or(0, |newline| newline + 1)..];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// Cuts an item out of its brackets, with its comma and the whitespace before it.
fn cut_at(text: &str, path: &[String], at: usize, tail: &str) -> Result<String, EntryFault> {
    let root = JsonDocument::parse_lenient(text)?.root;
    let Some(node) = descend(&root, path) else { return Ok(text.to_owned()) };
    let (items, inside) = (items(node), inside(node));
    let item = items[at].clone();
    let before_from = if at == 0 { inside.start } else { items[at - 1].end };
    let before = Gap::of(text, before_from..item.start);
    let behind = Gap::of(text, item.end..items.get(at + 1).map_or(inside.end, |next| next.start));
    let from = before.owner_end(before_from);
    let mut cuts = Vec::new();
    match (behind.comma, before.comma) {
        (Some(comma), _) if text[item.end..comma].trim().is_empty() => cuts.push(from..comma + 1),
        (Some(comma), _) => cuts.extend([from..item.end, comma..comma + 1]),
        (None, Some(comma)) => cuts.extend([comma..comma + 1, from..item.end]),
        (None, None) => {
            let behind_tail = if text[item.end..].starts_with(tail) { tail.len() } else { 0 };
            cuts.push(from..item.end + behind_tail);
        }
    }
    let mut out = String::with_capacity(text.len());
    let mut kept = 0;
    for cut in cuts {
        out.push_str(&text[kept..cut.start]);
        kept = cut.end;
    }
    out.push_str(&text[kept..]);
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn item(path: &[&str], value: &str) -> OwnedEntry {
        entry(path, EntryPlace::Item, value, Ownership::Says("OURS".to_owned()))
    }

    fn member(path: &[&str], value: &str, owned: Ownership) -> OwnedEntry {
        entry(path, EntryPlace::Member, value, owned)
    }

    fn entry(path: &[&str], place: EntryPlace, value: &str, owned: Ownership) -> OwnedEntry {
        let path = path.iter().map(|key| (*key).to_owned()).collect();
        OwnedEntry { path, place, value: Json::parse(value).unwrap(), owned }
    }

    /// Adds, compares, and removes again.
    fn check(text: &str, entry: OwnedEntry, expected: &str) {
        let entries = [entry];
        let (added, traces) = add(text, &entries).unwrap();
        assert_eq!(added, expected, "{text:?}");
        assert_eq!(take(&added, &entries, Some(&traces)).unwrap(), text, "{added:?}");
    }

    #[test]
    fn an_entry_follows_the_layout_and_leaves_every_other_byte() {
        let hook = || item(&["hooks", "Stop"], r#"{"run": "OURS"}"#);
        check(
            "{}",
            hook(),
            "{\n  \"hooks\": {\n    \"Stop\": [\n      {\n        \"run\": \"OURS\"\n      }\n    ]\n  }\n}",
        );
        check(r#"{"a":1}"#, hook(), r#"{"a":1,"hooks": {"Stop": [{"run": "OURS"}]}}"#);
        check(
            "{\n\t\"a\": 1, // why\n\t// old: 2\n}\n",
            member(&["b"], r#""OURS""#, Ownership::Named),
            "{\n\t\"a\": 1, // why\n\t// old: 2\n\t\"b\": \"OURS\",\n}\n",
        );
        check(
            "{\r\n    \"hooks\": {\r\n        \"Stop\": [ 1 /* one */ ]\r\n    }\r\n}",
            item(&["hooks", "Stop"], r#""OURS""#),
            "{\r\n    \"hooks\": {\r\n        \"Stop\": [ 1, /* one */ \"OURS\" ]\r\n    }\r\n}",
        );
        check("{ \"a\": [1 // one\n] }", item(&["a"], r#""OURS""#), "{ \"a\": [1, // one\n\"OURS\"\n] }");
        check(
            "\u{feff}{\n}\n",
            member(&["a"], r#""OURS""#, Ownership::Named),
            "\u{feff}{\n  \"a\": \"OURS\"\n}\n",
        );
        check(
            "{ // none yet\n}",
            member(&["a"], r#""OURS""#, Ownership::Named),
            "{ // none yet\n  \"a\": \"OURS\"\n}",
        );
    }

    #[test]
    fn what_somebody_added_meanwhile_stays() {
        let entries = [item(&["hooks", "Stop"], r#""OURS 1""#), item(&["hooks", "Start"], r#""OURS 2""#)];
        let (added, traces) = add("{\n  \"a\": 1\n}\n", &entries).unwrap();
        let edited =
            added.replace("\"OURS 2\"", "\"OURS 2\", \"theirs\" // mine").replace("\"a\": 1", "\"a\": 2");
        assert_eq!(
            take(&edited, &entries, Some(&traces)).unwrap(),
            "{\n  \"a\": 2,\n  \"hooks\": {\n    \"Start\": [ \"theirs\" // mine\n    ]\n  }\n}\n"
        );
    }

    #[test]
    fn without_a_trace_only_what_is_surely_ours_goes() {
        let entries = [
            member(&["servers", "lane"], r#"{"at": "OURS"}"#, Ownership::Says("OURS".to_owned())),
            member(&["on", "lane"], "true", Ownership::Named),
            member(&["version"], "1", Ownership::Shared),
        ];
        let (added, _) = add("{}\n", &entries).unwrap();
        let left = take(&added, &entries, None).unwrap();
        assert_eq!(
            JsonDocument::parse(&left).unwrap().root.into_json().render(super::super::JsonFormat::LINE),
            r#"{"servers": {}, "on": {}, "version": 1}"#
        );
        let foreign = r#"{"servers": {"lane": {"at": "elsewhere"}}, "on": {"lane": true}}"#;
        assert_eq!(take(foreign, &entries, None).unwrap(), foreign);
    }

    #[test]
    fn an_entry_is_held_while_it_says_what_it_should() {
        let entries = [
            item(&["hooks", "Stop"], r#"{"run": "OURS 1"}"#),
            member(&["markets", "lane"], r#"{"at": "OURS"}"#, Ownership::Says("OURS".to_owned())),
            member(&["version"], "1", Ownership::Shared),
        ];
        let (added, _) = add("// mine\n{}", &entries).unwrap();
        assert_eq!(said(&added, &entries[0]).as_deref(), Some("OURS 1"));
        for (old, new, expected) in [
            ("", "", true),
            (r#""at": "OURS""#, r#""at": "OURS", "seen": 1"#, true),
            (r#""version": 1"#, r#""version": 2"#, true),
            ("OURS 1", "OURS 2", false),
            (r#""lane""#, r#""lame""#, false),
        ] {
            assert_eq!(holds(&added.replace(old, new), &entries), expected, "{old} -> {new}");
        }
    }

    #[test]
    fn what_is_not_ours_is_never_replaced() {
        let lane = |owned| [member(&["servers", "lane"], "1", owned)];
        for (text, owned, expected) in [
            (
                r#"{"servers": {"lane": 2}}"#,
                Ownership::Named,
                "`servers.lane` already exists, and lorelane did not write it",
            ),
            (r#"{"servers": []}"#, Ownership::Named, "`servers` does not have the type the client expects"),
            ("[]", Ownership::Named, "`(root)` does not have the type the client expects"),
            ("{ /* }", Ownership::Named, "it is not JSON: unterminated comment at line 1 column 3"),
            (
                "{'a': 1}",
                Ownership::Named,
                "it is not JSON: expected a key in double quotes at line 1 column 2",
            ),
        ] {
            assert_eq!(add(text, &lane(owned)).unwrap_err().to_string(), expected, "{text}");
        }
        let there = r#"{"servers": {"lane": 2}}"#;
        assert_eq!(add(there, &lane(Ownership::Shared)).unwrap(), (there.to_owned(), vec![Trace::default()]));
    }

    /// Whitespace and comments of every kind; a line comment always ends its line.
    fn any_gap() -> impl Strategy<Value = String> {
        let piece =
            prop::sample::select(vec!["", "", " ", "\n  ", "\r\n\t", " /* , } */ ", " // ] ,\n", "\n\n"]);
        prop::collection::vec(piece, 0..3).prop_map(|pieces| pieces.concat())
    }

    fn any_settings() -> impl Strategy<Value = String> {
        let leaf = prop::sample::select(vec!["1", "true", "\"x, // y\"", "{}", "[]", "null"])
            .prop_map(str::to_owned);
        leaf.prop_recursive(4, 30, 4, |inner| {
            let items = prop::collection::vec((any_gap(), inner, any_gap()), 0..4);
            (items, any_gap(), any::<bool>(), prop::sample::select(vec!["hooks", "x"]), any::<bool>())
                .prop_map(|(items, end, comma, key, object)| {
                    let mut keys = vec![key, "Stop", "a", "b"].into_iter();
                    let body: Vec<String> = items
                        .iter()
                        .map(|(lead, value, trail)| match object {
                            true => format!("{lead}\"{}\":{trail}{value}{trail}", keys.next().unwrap()),
                            false => format!("{lead}{value}{trail}"),
                        })
                        .collect();
                    let comma = if comma && !body.is_empty() { "," } else { "" };
                    let inside = format!("{}{comma}{end}", body.join(","));
                    if object { format!("{{{inside}}}") } else { format!("[{inside}]") }
                })
        })
    }

    proptest! {
        #[test]
        fn taking_back_gives_the_same_bytes(text in any_settings(), before in any_gap(), behind in any_gap()) {
            let text = format!("{before}{text}{behind}");
            let entries = [
                item(&["hooks", "Stop"], r#"{"run": ["OURS"]}"#),
                item(&["hooks", "Start"], r#""OURS""#),
                member(&["on", "OURS"], "true", Ownership::Named),
                member(&["version"], "1", Ownership::Shared),
            ];
            if let Ok((added, traces)) = add(&text, &entries) {
                let read = JsonDocument::parse_lenient(&added).unwrap().root.into_json();
                prop_assert!(read.at("hooks.Stop").unwrap().as_list().unwrap().last().unwrap().at("run").is_some());
                prop_assert_eq!(read.at("on.OURS"), Some(&Json::Bool(true)));
                prop_assert_eq!(take(&added, &entries, Some(&traces)).unwrap(), text);
            }
        }

        #[test]
        fn any_text_is_edited_without_panic(text in "[\\[\\]{}\",:/*\n \\\\a1]*") {
            let _ = add(&text, &[item(&["a", "a"], r#""OURS""#)]);
            let _ = take(&text, &[item(&["a", "a"], r#""OURS""#)], None);
        }
    }
}
