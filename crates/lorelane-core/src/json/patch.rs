//! The editor: changes a text to have a new value and keeps every byte it can.

use super::parse::{JsonDocument, JsonFault, JsonNode, Member, NodeKind};
use super::render::{JsonFormat, quote, render};
use super::{Json, Object};

/// Rewrites `text` so that it has this value. Nodes that already have the right value keep their bytes; new keys
/// are appended; added values follow the layout of their neighbours.
pub fn patch(text: &str, value: &Json) -> Result<String, JsonFault> {
    Ok(patch_parsed(text, &JsonDocument::parse(text)?.root, value))
}

/// The same for a text that is parsed already.
pub fn patch_parsed(text: &str, root: &JsonNode, value: &Json) -> String {
    let mut out = String::with_capacity(text.len() + 64);
    out.push_str(&text[..root.span.start]);
    rewrite(&mut out, text, root, value, ValueLayout::of(text, root));
    out.push_str(&text[root.span.end..]);
    out
}

/// The layout around a value.
#[derive(Clone, Copy)]
pub(super) struct ValueLayout<'t> {
    pub newline: &'t str,
    /// The indentation of one level.
    pub unit: &'t str,
    /// The indentation of the value's line; `None` if its neighbours share one line.
    pub indent: Option<&'t str>,
}

impl<'t> ValueLayout<'t> {
    pub fn of(text: &'t str, root: &JsonNode) -> ValueLayout<'t> {
        let first = match &root.kind {
            NodeKind::Object(members) => members.first().map(|member| member.key_span.start),
            NodeKind::List(items) => items.first().map(|item| item.span.start),
            NodeKind::Scalar(_) => None,
        };
        let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let Some(first) = first else { return ValueLayout { newline, unit: "  ", indent: Some("") } };
        let unit = text[root.span.start + 1..first].rsplit_once('\n').map(|(_, blanks)| blanks);
        ValueLayout { newline, unit: unit.unwrap_or("  "), indent: unit.map(|_| "") }
    }
}

fn rewrite(out: &mut String, text: &str, node: &JsonNode, value: &Json, layout: ValueLayout<'_>) {
    match (&node.kind, value) {
        _ if node.says(value) => out.push_str(&text[node.span.clone()]),
        (NodeKind::Object(members), Json::Object(object)) if !members.is_empty() => {
            rewrite_object(out, text, node, members, object, layout);
        }
        (NodeKind::List(items), Json::List(values)) if !items.is_empty() => {
            rewrite_list(out, text, node, items, values, layout);
        }
        _ => fresh(out, value, layout),
    }
}

pub(super) fn fresh(out: &mut String, value: &Json, layout: ValueLayout<'_>) {
    let Some(indent) = layout.indent else { return render(out, value, JsonFormat::LINE, 0) };
    let plain = value.render(JsonFormat::FILE);
    for (at, line) in plain.split('\n').enumerate() {
        let bare = line.trim_start_matches(' ');
        if at > 0 {
            out.push_str(layout.newline);
            out.push_str(indent);
            out.push_str(&layout.unit.repeat((line.len() - bare.len()) / 2));
        }
        out.push_str(bare);
    }
}

/// An item of a list or object with the whitespace around it, up to its comma.
struct ItemSlice<'t> {
    lead: &'t str,
    body: String,
    trail: &'t str,
}

fn rewrite_object(
    out: &mut String,
    text: &str,
    node: &JsonNode,
    members: &[Member],
    object: &Object,
    layout: ValueLayout<'_>,
) {
    let starts: Vec<usize> = members.iter().map(|member| member.key_span.start).collect();
    let ends: Vec<usize> = members.iter().map(|member| member.value.span.end).collect();
    let gaps = Gaps::new(text, node, &starts, &ends);
    let colon = &text[members[0].key_span.end..members[0].value.span.start];
    let inner = gaps.inner(layout);
    let mut pieces = Vec::new();
    for (at, member) in members.iter().enumerate() {
        // Of duplicate keys the last one counts, and an edit keeps only that one.
        let last = !members[at + 1..].iter().any(|later| later.key == member.key);
        let Some(value) = object.get(&member.key).filter(|_| last) else { continue };
        let mut body = text[member.key_span.start..member.value.span.start].to_owned();
        rewrite(&mut body, text, &member.value, value, inner);
        pieces.push(gaps.piece(at, body));
    }
    for (key, value) in object.iter().filter(|(key, _)| !members.iter().any(|member| member.key == *key)) {
        let mut body = String::new();
        quote(&mut body, key, false);
        body.push_str(colon);
        fresh(&mut body, value, inner);
        pieces.push(gaps.new_piece(body));
    }
    gaps.join(out, ('{', '}'), &pieces);
}

fn rewrite_list(
    out: &mut String,
    text: &str,
    node: &JsonNode,
    items: &[JsonNode],
    values: &[Json],
    layout: ValueLayout<'_>,
) {
    let starts: Vec<usize> = items.iter().map(|item| item.span.start).collect();
    let ends: Vec<usize> = items.iter().map(|item| item.span.end).collect();
    let gaps = Gaps::new(text, node, &starts, &ends);
    let inner = gaps.inner(layout);
    // A full history drops its oldest entries and gains new ones; the entries that stay keep their text.
    let dropped = (0..items.len()).find(|from| starts_with(values, &items[*from..])).unwrap_or(0);
    let mut pieces = Vec::new();
    for (at, value) in (dropped..).zip(values) {
        let mut body = String::new();
        pieces.push(match items.get(at) {
            Some(item) => {
                rewrite(&mut body, text, item, value, inner);
                gaps.piece(at, body)
            }
            None => {
                fresh(&mut body, value, inner);
                gaps.new_piece(body)
            }
        });
    }
    gaps.join(out, ('[', ']'), &pieces);
}

fn starts_with(values: &[Json], items: &[JsonNode]) -> bool {
    values.len() >= items.len() && items.iter().zip(values).all(|(item, value)| item.says(value))
}

/// The text between the items of a list or object that is not empty.
struct Gaps<'t> {
    leads: Vec<&'t str>,
    trails: Vec<&'t str>,
}

impl<'t> Gaps<'t> {
    fn new(text: &'t str, node: &JsonNode, starts: &[usize], ends: &[usize]) -> Gaps<'t> {
        let mut leads = vec![&text[node.span.start + 1..starts[0]]];
        let mut trails = Vec::new();
        for (end, start) in ends.iter().zip(&starts[1..]) {
            let (trail, lead) = text[*end..*start].split_once(',').unwrap_or_default();
            trails.push(trail);
            leads.push(lead);
        }
        trails.push(&text[ends[ends.len() - 1]..node.span.end - 1]);
        Gaps { leads, trails }
    }

    fn last_trail(&self) -> &'t str {
        self.trails[self.trails.len() - 1]
    }

    /// An existing item. The whitespace after the last item belongs to the closing bracket.
    fn piece(&self, at: usize, body: String) -> ItemSlice<'t> {
        let trail = if at + 1 < self.trails.len() { self.trails[at] } else { "" };
        ItemSlice { lead: self.leads[at], body, trail }
    }

    fn new_piece(&self, body: String) -> ItemSlice<'t> {
        ItemSlice { lead: self.leads[self.leads.len() - 1], body, trail: "" }
    }

    fn inner<'a>(&self, outer: ValueLayout<'a>) -> ValueLayout<'a>
    where
        't: 'a,
    {
        ValueLayout { indent: self.leads[0].rsplit_once('\n').map(|(_, blanks)| blanks), ..outer }
    }

    fn join(&self, out: &mut String, (open, close): (char, char), pieces: &[ItemSlice<'_>]) {
        out.push(open);
        for (at, piece) in pieces.iter().enumerate() {
            let is_last = at + 1 == pieces.len();
            out.push_str(if at == 0 { self.leads[0] } else { piece.lead });
            out.push_str(&piece.body);
            out.push_str(if is_last { self.last_trail() } else { piece.trail });
            if !is_last {
                out.push(',');
            }
        }
        out.push(close);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(text: &str, value: &str, expected: &str) {
        let value = Json::parse(value).unwrap();
        assert_eq!(patch(text, &value).unwrap(), expected);
    }

    #[test]
    fn only_what_differs_is_rewritten() {
        check(
            "{\"a\": 0.50,  \"b\":\"\\u00e9\"}\n",
            r#"{"a": 0.50, "b": "x"}"#,
            "{\"a\": 0.50,  \"b\":\"x\"}\n",
        );
        check("{\"a\" : 1 ,\"b\":2 }", r#"{"a": 1, "b": 3}"#, "{\"a\" : 1 ,\"b\":3 }");
    }

    #[test]
    fn new_keys_go_last_and_follow_the_layout() {
        check(
            "{\r\n    \"a\": 1\r\n}",
            r#"{"a": 1, "l": ["x"]}"#,
            "{\r\n    \"a\": 1,\r\n    \"l\": [\r\n        \"x\"\r\n    ]\r\n}",
        );
        check("{\n\t\"a\": 1\n}", r#"{"a": 1, "l": [{}]}"#, "{\n\t\"a\": 1,\n\t\"l\": [\n\t\t{}\n\t]\n}");
        check(r#"{"a":1}"#, r#"{"a": 1, "b": {"c": 2}}"#, r#"{"a":1,"b":{"c": 2}}"#);
        check("{}\n", r#"{"a": 1}"#, "{\n  \"a\": 1\n}\n");
    }

    #[test]
    fn a_removed_key_leaves_no_gap() {
        check("{\n  \"a\": 1,\n  \"b\": 2\n}", r#"{"a": 1}"#, "{\n  \"a\": 1\n}");
        check("{\n  \"a\": 1,\n  \"b\": 2\n}", r#"{"b": 2}"#, "{\n  \"b\": 2\n}");
        check("{\n  \"a\": 1\n}", "{}", "{}");
    }

    #[test]
    fn a_list_that_drops_its_oldest_keeps_the_text_of_the_rest() {
        check("[ 1.0, 2.0, 3.0 ]", "[2.0, 3.0, 4]", "[ 2.0, 3.0, 4 ]");
    }

    #[test]
    fn of_doubled_keys_the_last_one_stays() {
        check(r#"{"a": 1, "a": 2, "b": 3}"#, r#"{"a": 2, "b": 4}"#, r#"{"a": 2, "b": 4}"#);
    }

    pub(super) fn any_json() -> impl Strategy<Value = Json> {
        let leaf = prop_oneof![
            Just(Json::Null),
            any::<bool>().prop_map(Json::Bool),
            (-1000i32..1000).prop_map(Json::number),
            "\\PC{0,6}".prop_map(Json::Text),
        ];
        leaf.prop_recursive(3, 24, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Json::List),
                prop::collection::vec(("[a-d]", inner), 0..5)
                    .prop_map(|members| Json::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn a_patched_text_says_the_new_value(old in any_json(), new in any_json(), pretty in any::<bool>()) {
            let text = old.render(if pretty { JsonFormat::FILE } else { JsonFormat::SCRIPT_LINE });
            let patched = patch(&text, &new).unwrap();
            prop_assert!(JsonDocument::parse(&patched).unwrap().root.says(&new), "{text} -> {patched}");
            prop_assert_eq!(patch(&text, &old).unwrap(), text);
        }

        #[test]
        fn any_text_is_read_without_panic(text in "\\PC*") {
            let _ = JsonDocument::parse(&text);
        }

        #[test]
        fn almost_json_is_read_without_panic(text in "[\\[\\]{}\",:\\\\u0-9a-f.eE+\\- tn]*") {
            let _ = JsonDocument::parse(&text);
        }
    }

    #[test]
    fn faults_name_their_place() {
        let table = [
            ("", "expected a value at line 1 column 1"),
            ("{\n \"a\" 1}", "expected `:` after the key at line 2 column 6"),
            ("[1,]", "expected a value at line 1 column 4"),
            ("{} x", "unexpected text after the value at line 1 column 4"),
            ("\"a\nb\"", "control character in a string must be escaped at line 1 column 3"),
            ("\"\\ud8\"", "expected four hex digits at line 1 column 4"),
        ];
        for (text, expected) in table {
            assert_eq!(JsonDocument::parse(text).unwrap_err().to_string(), expected, "{text:?}");
        }
        assert_eq!(
            JsonDocument::parse(&"[".repeat(100_000)).unwrap_err().what,
            "nested deeper than 100 levels"
        );
        assert_eq!(JsonDocument::parse(r#"{"a": {"b": 1, "b": 2}}"#).unwrap().doubled, ["a.b"]);
        assert_eq!(Json::parse(r#""\ud83d\ude00 \ud800""#).unwrap(), Json::text("😀 \u{fffd}"));
    }

    #[test]
    fn texts_are_written_as_each_reader_expects() {
        let value = Json::parse(r#"{"é": ["a\n", 1e3, {}, []]}"#).unwrap();
        assert_eq!(value.render(JsonFormat::SCRIPT_LINE), r#"{"\u00e9": ["a\n", 1e3, {}, []]}"#);
        assert_eq!(
            value.render(JsonFormat::FILE),
            "{\n  \"é\": [\n    \"a\\n\",\n    1e3,\n    {},\n    []\n  ]\n}"
        );
        assert_eq!(Json::text("😀").render(JsonFormat::SCRIPT_LINE), r#""\ud83d\ude00""#);
    }
}
