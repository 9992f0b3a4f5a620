//! Edits that keep every other byte: comments, order, quotes, line endings.

use super::collection::{
    CollectionKind, CollectionLayout, YamlCollection, YamlEntry, YamlValue, line_end, line_start,
};
use super::scalar::{self, ScalarStyle, YamlScalar};
use super::{BYTE_ORDER_MARK, says_nothing};
use std::borrow::Cow;
use std::ops::Range;

/// The new value at a key path.
#[derive(Clone, Copy, Debug)]
pub enum FieldEdit<'v> {
    Text(&'v str),
    List(&'v [String]),
    /// The value as [`YamlCollection::source`] returns it.
    Source(&'v str),
    /// The key is removed with its lines.
    Remove,
}

/// In a key path, the position after the last item, as in a JSON pointer.
const APPEND: &str = "-";
/// The indentation of new lines, relative to the key above them.
const STEP: usize = 2;

impl FieldEdit<'_> {
    /// The value as it is written for a new key: strings in double quotes, lists in brackets.
    pub(crate) fn rendered(&self) -> String {
        match self {
            FieldEdit::Text(text) => scalar::written(text, ScalarStyle::DoubleQuoted),
            FieldEdit::List(items) => {
                let items = items.iter().map(|item| scalar::written(item, ScalarStyle::DoubleQuoted));
                format!("[{}]", items.collect::<Vec<_>>().join(", "))
            }
            FieldEdit::Source(source) => (*source).to_owned(),
            FieldEdit::Remove => String::new(),
        }
    }
}

/// A part of the text, and what replaces it.
type Splice = (Range<usize>, String);

impl YamlCollection<'_> {
    /// The whole text with one field edited. Missing parents are added; a new key comes last, and so does the
    /// item `-`. `None` if a value on the path has no keys, or if the lines around the field are so broken that
    /// the edit would change other fields.
    pub fn edited(&self, path: &[&str], edit: FieldEdit<'_>) -> Option<String> {
        self.splices(path, edit).and_then(|splices| spliced(self.text, splices))
    }

    /// The whole text with several keys edited, parsed no further time. `None` as for one edit.
    pub fn edited_all(&self, edits: &[(&str, FieldEdit<'_>)]) -> Option<String> {
        let mut splices = Vec::new();
        for (key, edit) in edits {
            splices.extend(self.splices(&[key], *edit)?);
        }
        spliced(self.text, splices)
    }

    fn splices(&self, path: &[&str], edit: FieldEdit<'_>) -> Option<Vec<Splice>> {
        let mut parent = Cow::Borrowed(self);
        let mut rest = path;
        while let [key, _, ..] = rest {
            let Some(child) = parent.get(key).and_then(|entry| parent.child(entry)) else { break };
            (parent, rest) = (Cow::Owned(child), &rest[1..]);
        }
        let (key, below) = rest.split_first()?;
        let is_sound = |splices: &Vec<Splice>| {
            spliced(self.text, splices.clone()).is_some_and(|text| self.is_sound(&text, path, &parent, edit))
        };
        let splices = match (parent.get(key), edit) {
            (Some(entry), FieldEdit::Remove) if below.is_empty() => {
                // Among broken lines, other lines may depend on this key: the first key shows that this is a
                // mapping, and a stray dash would join the key above. So the key stays, without a value.
                let emptied = || Some(parent.emptied(entry)).filter(is_sound);
                return Some(parent.without(entry)).filter(is_sound).or_else(emptied);
            }
            (_, FieldEdit::Remove) => return Some(Vec::new()),
            (Some(entry), edit) if below.is_empty() => parent.changed(entry, edit)?,
            (Some(entry), edit) if entry.value == YamlValue::Null => parent.filled(entry, below, edit)?,
            (Some(_), _) => return None,
            (None, edit) => vec![parent.added(rest, edit)?],
        };
        (path.len() == 1 || is_sound(&splices)).then_some(splices)
    }

    /// Whether the field has its new value in the edited text and everything else is as before.
    fn is_sound(&self, text: &str, path: &[&str], parent: &YamlCollection<'_>, edit: FieldEdit<'_>) -> bool {
        let end = text.len() - (self.text.len() - self.span.end);
        let Some(after) = YamlCollection::mapping(text, self.span.start..end) else { return false };
        let is_item = parent.kind == CollectionKind::Sequence;
        let count = parent.entries.len().to_string();
        let mut appended = is_item.then_some(count.as_str());
        let new_path: Vec<&str> = match edit {
            // The items after it move up by one.
            FieldEdit::Remove if is_item => [&path[..path.len() - 1], &[APPEND]].concat(),
            FieldEdit::Remove => path.to_vec(),
            _ => path
                .iter()
                .map(|key| if *key == APPEND { appended.take().unwrap_or("0") } else { *key })
                .collect(),
        };
        let reads = match edit {
            FieldEdit::Text(text) => after.scalar(&new_path).as_deref() == Some(text),
            FieldEdit::List(items) => after.list(&new_path).as_deref() == Some(items),
            FieldEdit::Source(_) => true,
            FieldEdit::Remove => after
                .at(&new_path, |_, entry| entry.value.clone())
                .is_none_or(|value| value == YamlValue::Null),
        };
        let is_first = !matches!(edit, FieldEdit::Remove) || self.is_still_first_in(text);
        reads && is_first && self.beside(path) == after.beside(&new_path)
    }

    /// Whether this mapping is still the first one of the edited text. Without its last key, a line above that
    /// was not part of it, or the next document, would be read instead.
    fn is_still_first_in(&self, text: &str) -> bool {
        let (above, below) = (&self.text[..self.span.start], &self.text[self.span.end..]);
        let own = &text[above.len()..text.len() - below.len()];
        let is_marker = |line: &&str| line.trim_end() == "---";
        let mut since_marker = above.lines().rev().take_while(|line| !is_marker(line));
        let is_alone = since_marker.all(|line| says_nothing(line.trim_start_matches(BYTE_ORDER_MARK)));
        let is_marked = above.lines().any(|line| is_marker(&line));
        // A U+FEFF inside the text would become a byte-order mark at its start.
        let moves_mark = text.starts_with(BYTE_ORDER_MARK) && !self.text.starts_with(BYTE_ORDER_MARK);
        let is_empty = own.lines().all(says_nothing);
        !moves_mark && (!is_empty || is_alone && (is_marked || !below.starts_with("---")))
    }

    /// The text of everything that is not at a key path, level by level.
    fn beside(&self, path: &[&str]) -> Vec<&str> {
        let mut beside = Vec::new();
        let mut level = Some(Cow::Borrowed(self));
        for key in path {
            let Some(known) = level else { break };
            let others = known.entries.iter().filter(|entry| entry.key != *key);
            beside.extend(others.map(|entry| self.text[entry.lines.clone()].trim()));
            level = known.get(key).and_then(|entry| known.child(entry)).map(Cow::Owned);
        }
        beside
    }

    /// The text with new lines, which are given without this collection's indentation.
    fn with_lines(&self, at: usize, lines: &str) -> Splice {
        let end = line_end(self.text);
        let indent = self.indent.written();
        let lines = format!("{indent}{}", lines.replace('\n', &format!("{end}{indent}")));
        let before = self.text[..at].trim_start_matches(BYTE_ORDER_MARK);
        let is_open = !before.is_empty() && !before.ends_with('\n');
        // A carriage return that does not end a line is part of a value and must not become part of a line ending.
        let end = if is_open && before.ends_with('\r') { "\r\n" } else { end };
        (at..at, if is_open { format!("{end}{lines}") } else { format!("{lines}{end}") })
    }

    /// The text without an entry and without duplicates of its key: an earlier duplicate would count again.
    fn without(&self, entry: &YamlEntry) -> Vec<Splice> {
        let goes = |at: &usize| self.entries[*at].key == entry.key;
        let lines = |at: usize| self.entries[at].lines.clone();
        let count = self.entries.len();
        let cut = |range: Range<usize>| (range, String::new());
        if self.layout == CollectionLayout::Flow {
            // The last entries are cut with the comma before them, others with the comma after.
            let kept = (0..count).rfind(|at| !goes(at));
            let from = kept.map_or(lines(0).start, |kept| lines(kept).end);
            let others = (0..kept.unwrap_or(0)).filter(goes);
            let others = others.map(|at| lines(at).start..lines(at + 1).start);
            let last = from..lines(count - 1).end.max(from);
            return others.chain(std::iter::once(last)).map(cut).collect();
        }
        let removed = |at: usize| {
            let Range { start, mut end } = lines(at);
            if at == 0 && self.indent.spaces > 0 {
                // The next line moves up to the dash; if there is none, the dash keeps its line ending.
                end = match (0..count).all(|at| goes(&at)) {
                    true => start + self.text[start..end].trim_end().len(),
                    false => self.text.len() - self.text[end..].trim_start_matches(' ').len(),
                };
            }
            start..end
        };
        (0..count).filter(goes).map(|at| cut(removed(at))).collect()
    }

    fn emptied(&self, entry: &YamlEntry) -> Vec<Splice> {
        let same = self.entries.iter().filter(|other| other.key == entry.key);
        let emptied = |entry: &YamlEntry| {
            let space = if self.text[..entry.source.start].ends_with([':', '-']) { " " } else { "" };
            (entry.source.clone(), format!("{space}~"))
        };
        same.map(emptied).collect()
    }

    fn changed(&self, entry: &YamlEntry, edit: FieldEdit<'_>) -> Option<Vec<Splice>> {
        let is_same = match edit {
            FieldEdit::Text(text) => self.scalar_of(entry).as_deref() == Some(text),
            FieldEdit::List(items) => self.list_of(entry).as_deref() == Some(items),
            FieldEdit::Source(_) | FieldEdit::Remove => false,
        };
        if is_same {
            return Some(Vec::new());
        }
        if let (FieldEdit::List(wanted @ [_, ..]), YamlValue::List(items, CollectionLayout::Block)) =
            (edit, &entry.value)
        {
            let from = line_start(self.text, items[0].span.start);
            return Some(vec![(from..entry.lines.end, self.block_items(entry, items, wanted))]);
        }
        let value = match (edit, &entry.value) {
            (FieldEdit::Text(text), YamlValue::Scalar(scalar)) => scalar::written(text, scalar.style),
            (FieldEdit::List(wanted), YamlValue::List(items, CollectionLayout::Flow)) => {
                self.flow_items(entry, items, wanted)
            }
            _ => self.rendered(edit)?,
        };
        let before = &self.text[..entry.source.start];
        if value.starts_with(['\n', '\r']) {
            // The value begins on the next line, so a space after the key would be left over.
            let start = before.trim_end_matches(' ').len();
            return Some(vec![(start..entry.source.end, value)]);
        }
        let space = if before.ends_with([':', '-']) { space_before(&value) } else { "" };
        Some(vec![(entry.source.clone(), format!("{space}{value}"))])
    }

    /// The value with this collection's line endings and indentation; `None` if it cannot be written in brackets.
    fn rendered(&self, edit: FieldEdit<'_>) -> Option<String> {
        let value = edit.rendered();
        match self.layout {
            CollectionLayout::Flow => (!value.contains('\n')).then_some(value),
            CollectionLayout::Block => {
                Some(value.replace('\n', &format!("{}{}", line_end(self.text), self.indent.written())))
            }
        }
    }

    /// Adds keys below a key that has no value.
    fn filled(&self, entry: &YamlEntry, path: &[&str], edit: FieldEdit<'_>) -> Option<Vec<Splice>> {
        if self.layout == CollectionLayout::Flow {
            let value = flow_path(path, &self.rendered(edit)?);
            return self.changed(entry, FieldEdit::Source(&value));
        }
        let (first, below) = path.split_first()?;
        let lines = block_path(&opening(first), below, edit).replace('\n', &format!("\n{:STEP$}", ""));
        // The null may be followed by a comment, which stays.
        let key_end = self.text[..entry.source.start].trim_end_matches([' ', '\t']).len();
        let new = self.with_lines(entry.lines.end, &format!("{:STEP$}{lines}", ""));
        Some(vec![(key_end..entry.source.end, String::new()), new])
    }

    /// Adds an entry, and the new keys below it.
    fn added(&self, path: &[&str], edit: FieldEdit<'_>) -> Option<Splice> {
        let (key, below) = path.split_first()?;
        let is_item = self.kind == CollectionKind::Sequence;
        if is_item && *key != APPEND && *key != self.entries.len().to_string() {
            return None;
        }
        if self.layout == CollectionLayout::Flow {
            let value = flow_path(below, &self.rendered(edit)?);
            let pair = if is_item { value } else { format!("{}: {value}", written_key(key)) };
            return Some(match self.entries.last() {
                Some(last) => (last.lines.end..last.lines.end, format!(", {pair}")),
                None => (self.span.start + 1..self.span.end - 1, pair),
            });
        }
        let opening = if is_item { APPEND.to_owned() } else { format!("{}:", written_key(key)) };
        Some(self.with_lines(self.span.end, &block_path(&opening, below, edit)))
    }

    /// The list in brackets; existing items keep their text.
    fn flow_items(&self, entry: &YamlEntry, items: &[YamlScalar], wanted: &[String]) -> String {
        let source = &self.text[entry.source.clone()];
        let style = common_style(items);
        let grows =
            wanted.len() > items.len() && items.iter().zip(wanted).all(|(item, text)| item.text == *text);
        if let (true, Some(last)) = (grows, items.last()) {
            let more = wanted[items.len()..].iter().map(|text| format!(", {}", scalar::written(text, style)));
            let (before, after) = source.split_at(last.span.end - entry.source.start);
            return format!("{before}{}{after}", more.collect::<String>());
        }
        let sources: Vec<String> = wanted
            .iter()
            .map(|text| match items.iter().find(|item| item.text == *text) {
                Some(item) => self.text[item.span.clone()].to_owned(),
                None => scalar::written(text, style),
            })
            .collect();
        format!("[{}]", sources.join(", "))
    }

    /// One line per item; existing items keep their line and the comments below it.
    fn block_items(&self, entry: &YamlEntry, items: &[YamlScalar], wanted: &[String]) -> String {
        let starts: Vec<usize> = items.iter().map(|item| line_start(self.text, item.span.start)).collect();
        let ends = starts.iter().skip(1).copied().chain([entry.lines.end]);
        let lines: Vec<&str> = starts.iter().zip(ends).map(|(start, end)| &self.text[*start..end]).collect();
        let dash = &self.text[starts[0]..items[0].span.start];
        let style = common_style(items);
        let end = line_end(self.text);
        let mut used = vec![false; items.len()];
        let mut out = String::new();
        for text in wanted {
            // The last line of a text may have no line ending.
            if !out.is_empty() && !out.ends_with('\n') {
                out.push_str(end);
            }
            match (0..items.len()).find(|at| !used[*at] && items[*at].text == *text) {
                Some(at) => {
                    used[at] = true;
                    out.push_str(lines[at]);
                }
                None => out.push_str(&format!("{dash}{}{end}", scalar::written(text, style))),
            }
        }
        out
    }
}

/// The text with every splice made; `None` where two of them overlap.
fn spliced(text: &str, mut splices: Vec<Splice>) -> Option<String> {
    // Stable: keys that are added at one place keep their order.
    splices.sort_by_key(|(range, _)| (range.start, range.end));
    let mut edited = String::with_capacity(text.len() + 64);
    let mut at = 0;
    for (range, by) in &splices {
        edited.push_str(text.get(at..range.start)?);
        edited.push_str(by);
        at = range.end;
    }
    edited.push_str(&text[at..]);
    Some(edited)
}

/// A new entry as lines: its start, the keys and items below it, and the value of the last one.
fn block_path(first: &str, below: &[&str], edit: FieldEdit<'_>) -> String {
    let mut lines = first.to_owned();
    for (depth, step) in below.iter().enumerate() {
        match lines.ends_with(APPEND) {
            true => lines.push(' '),
            false => lines.push_str(&format!("\n{:1$}", "", STEP * (depth + 1))),
        }
        lines.push_str(&opening(step));
    }
    let value = edit.rendered().replace('\n', &format!("\n{:1$}", "", STEP * below.len()));
    format!("{lines}{}{value}", space_before(&value))
}

/// The start of the line of a key or of a new item.
fn opening(step: &str) -> String {
    if step == APPEND { step.to_owned() } else { format!("{}:", written_key(step)) }
}

/// A value with the keys and items above it, in brackets.
fn flow_path(path: &[&str], value: &str) -> String {
    path.iter().rfold(value.to_owned(), |value, step| match *step {
        APPEND => format!("[{value}]"),
        key => format!("{{{}: {value}}}", written_key(key)),
    })
}

/// The style that all items share; otherwise double quotes.
fn common_style(items: &[YamlScalar]) -> ScalarStyle {
    match items {
        [first, rest @ ..] if rest.iter().all(|item| item.style == first.style) => first.style,
        _ => ScalarStyle::DoubleQuoted,
    }
}

fn written_key(key: &str) -> String {
    let plain = key.starts_with(|c: char| c.is_alphabetic())
        && key.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.'));
    if plain { key.to_owned() } else { scalar::written(key, ScalarStyle::DoubleQuoted) }
}

fn space_before(value: &str) -> &'static str {
    if value.is_empty() || value.starts_with(['\n', '\r', ' ']) { "" } else { " " }
}
