//! The laws of an editor of YAML, whichever it is: they know a [`YamlEditor`] and no implementation, so that a
//! library can be held against them, too. Each law returns its violations.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use std::collections::BTreeMap;

/// A key path: keys from the root; in a sequence, the index of an item.
pub type Path<'p> = &'p [&'p str];

pub trait YamlEditor {
    /// What is at each path.
    fn read_each(&self, text: &str, paths: &[Path<'_>]) -> Vec<Found>;

    fn read(&self, text: &str, path: Path<'_>) -> Found {
        self.read_each(text, &[path]).remove(0)
    }

    /// The text after it was read and printed without an edit.
    fn reprinted(&self, text: &str) -> String;

    /// `None` where the edit is refused.
    fn set_scalar(&self, text: &str, path: Path<'_>, value: &str) -> Option<String>;

    fn set_list(&self, text: &str, path: Path<'_>, items: &[&str]) -> Option<String>;

    fn remove(&self, text: &str, path: Path<'_>) -> Option<String>;
}

/// What a reader finds at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    Missing,
    Null,
    Scalar(String),
    List(Vec<String>),
    /// A mapping, a list of anything else, an alias, what has a tag or an anchor.
    Other,
}

/// Whole lines of the document, and whose they are.
#[derive(Clone, Debug)]
struct Piece {
    /// Empty for a comment between keys; a comment inside of a block ends with `#`.
    path: Vec<&'static str>,
    source: String,
    found: Found,
}

fn piece(path: &'static str, source: &'static str, found: Found) -> Piece {
    let path = path.split('.').filter(|key| !key.is_empty()).collect();
    Piece { path, source: source.to_owned(), found }
}

fn scalar(path: &'static str, source: &'static str, value: &str) -> Piece {
    piece(path, source, Found::Scalar(value.to_owned()))
}

fn list(path: &'static str, source: &'static str, items: &[&str]) -> Piece {
    piece(path, source, listed(items))
}

fn other(path: &'static str, source: &'static str) -> Piece {
    piece(path, source, Found::Other)
}

fn comment(path: &'static str, source: &'static str) -> Piece {
    piece(path, source, Found::Missing)
}

fn listed(items: &[&str]) -> Found {
    Found::List(items.iter().map(|item| (*item).to_owned()).collect())
}

/// Every way of writing a value that people and programs use in frontmatter.
fn pieces() -> Vec<Piece> {
    vec![
        comment("", "# kept by hand\n"),
        scalar("name", "name: use-jwt   # a slug\n", "use-jwt"),
        scalar("description", "description: \"One line: \\\"quoted\\\"\" # why\n", "One line: \"quoted\""),
        scalar("title", "title: 'it''s'\n", "it's"),
        scalar("count", "count: 1.50\n", "1.50"),
        piece("empty", "empty:\n", Found::Null),
        piece("nothing", "nothing: ~ # none\n", Found::Null),
        scalar("url", "url: https://example.org/a#b\n", "https://example.org/a#b"),
        comment("", "\n# a comment between\n\n"),
        list("tags", "tags: [refactor, \"a b\", 'c, d'] # topics\n", &["refactor", "a b", "c, d"]),
        list("rows", "rows: [\n  one, # first\n  \"two\",\n]\n", &["one", "two"]),
        list("none", "none: []\n", &[]),
        list(
            "aliases",
            "aliases:\n  - login\n  # the old name\n  - \"sign-in\" # why\n",
            &["login", "sign-in"],
        ),
        list("dashes", "dashes:\n- at the same indent\n- x\n", &["at the same indent", "x"]),
        other("metadata", "metadata: \n"),
        scalar("metadata.node_type", "  node_type: memory\n", "memory"),
        comment("metadata.#", "  # inside\n"),
        scalar("metadata.type", "  type: feedback # one of four\n", "feedback"),
        list("metadata.seen", "  seen: [a, b]\n", &["a", "b"]),
        other("metadata.deeper", "  deeper:\n"),
        scalar("metadata.deeper.level", "      level: 'three'\n", "three"),
        list("metadata.deeper.list", "      list:\n      - a\n      - b\n", &["a", "b"]),
        scalar("metadata.deeper.text", "      text: |\n        a: b\n        # c\n", "a: b\n# c\n"),
        scalar("metadata.modified", "  modified: 2025-01-10T10:00:00.123Z\n", "2025-01-10T10:00:00.123Z"),
        scalar(
            "literal",
            "literal: |\n  # no comment\n  status: \"archived\"\n\n    deeper\n",
            "# no comment\nstatus: \"archived\"\n\n  deeper\n",
        ),
        scalar("folded", "folded: >-\n  one\n  two\n\n  three\n    four\n", "one two\nthree\n  four"),
        scalar("kept", "kept: |+ # all of it\n  text\n\n", "text\n\n"),
        scalar("stripped", "stripped: |2-\n   space\n  x\n", " space\nx"),
        other("flow", "flow: {owner: \"me\", since: 2024, in: {a: b}}\n"),
        other("matrix", "matrix: [[1, 2], {a: b}]\n"),
        other("base", "base: &anchor\n"),
        other("base.deep", "  deep: [1, [2]]\n"),
        other("copy", "copy: *anchor\n"),
        other("merged", "merged:\n"),
        other("merged.<<", "  <<: *anchor\n"),
        scalar("merged.own", "  own: x\n", "x"),
        other("tagged", "tagged: !custom x\n"),
        scalar("wrapped", "wrapped: first\n  second\n", "first second"),
        scalar("below", "below:\n  on the next line\n", "on the next line"),
        scalar("over lines", "over lines: \"first\n  second \\\n  third\"\n", "first second third"),
        scalar("quoted key", "\"quoted key\": value\n", "value"),
        other("items", "items:\n"),
        other("items.0", ""),
        scalar("items.0.path", "  - path: a.md\n", "a.md"),
        scalar("items.0.why", "    why: 'because' # said so\n", "because"),
        comment("items.#", "  # the second\n"),
        other("items.1", ""),
        scalar("items.1.path", "  - path: b.md\n", "b.md"),
        list("items.1.tags", "    tags:\n      - x\n", &["x"]),
        scalar("last", "last: done\n", "done"),
        comment("", "# the end\n"),
    ]
}

/// The pieces as one text, in one of the ways in which a file can be written.
#[derive(Clone, Debug)]
struct Fixture {
    name: &'static str,
    pieces: Vec<Piece>,
    before: &'static str,
}

impl Fixture {
    fn text(&self) -> String {
        self.pieces.iter().fold(self.before.to_owned(), |text, piece| text + &piece.source)
    }

    /// The text before the lines of a path, these lines, and the text after them.
    fn around(&self, path: &[&str]) -> (String, String, String) {
        let mut parts = (self.before.to_owned(), String::new(), String::new());
        for piece in &self.pieces {
            if piece.path.starts_with(path) {
                parts.1 += &piece.source;
            } else if parts.1.is_empty() {
                parts.0 += &piece.source;
            } else {
                parts.2 += &piece.source;
            }
        }
        parts
    }

    fn keys(&self) -> impl Iterator<Item = &Piece> {
        self.pieces.iter().filter(|piece| !piece.path.is_empty() && !piece.path.ends_with(&["#"]))
    }
}

fn fixtures() -> Vec<Fixture> {
    let with = |name, before, change: &dyn Fn(String) -> String| Fixture {
        name,
        before,
        pieces: pieces().into_iter().map(|p| Piece { source: change(p.source), ..p }).collect(),
    };
    let shifted = |line: &str| if line == "\n" { line.to_owned() } else { format!("  {line}") };
    let mut open_end = with("no line end", "", &|source| source);
    open_end.pieces.pop();
    open_end.pieces.last_mut().expect("pieces").source.pop();
    vec![
        with("LF", "", &|source| source),
        with("CRLF", "", &|source| source.replace('\n', "\r\n")),
        with("byte-order mark", "\u{feff}", &|source| source),
        with("indented", "", &|source| source.split_inclusive('\n').map(shifted).collect()),
        open_end,
    ]
}

/// Texts that look like something else in YAML.
pub const VALUES: [&str; 42] = [
    "plain",
    "two words",
    "",
    " ",
    " lead",
    "trail ",
    "with: colon",
    "colon:",
    ": x",
    "# hash",
    "x #y",
    "x#y",
    "it's",
    "\"q\"",
    "line\nbreak",
    "end\n",
    "\n",
    "a\r\nb",
    "true",
    "No",
    "1.5",
    "0x1F",
    "null",
    "~",
    "- dash",
    "-",
    "[x",
    "]",
    "{",
    "a, b",
    "日本",
    "back\\slash",
    "\ttab",
    "*star",
    "&and",
    "!bang",
    "%p",
    "@at",
    "`tick",
    "? q",
    "---",
    "\u{2028}\u{feff}\u{1}",
];

const LISTS: [&[&str]; 6] = [
    &["a"],
    &[],
    &["login", "new", "sign-in"],
    &["x: y", "", "#", "a, b", "]"],
    &["a", "b", "c"],
    &["true", "- x", "line\nbreak", "it's"],
];

/// A value is read at its path, whatever is around it.
pub fn every_value_is_read(editor: &dyn YamlEditor) -> Vec<String> {
    let mut violations = Vec::new();
    for fixture in fixtures() {
        let text = fixture.text();
        for piece in fixture.keys() {
            let found = editor.read(&text, &piece.path);
            if found != piece.found {
                violations
                    .push(format!("{}: {:?} is {found:?}, not {:?}", fixture.name, piece.path, piece.found));
            }
        }
        for (path, expected) in [
            (["flow", "owner"].as_slice(), Found::Scalar("me".to_owned())),
            (&["flow", "since"], Found::Scalar("2024".to_owned())),
            (&["flow", "in", "a"], Found::Scalar("b".to_owned())),
            (&["matrix", "1", "a"], Found::Scalar("b".to_owned())),
            (&["matrix", "0"], listed(&["1", "2"])),
            (&["flow", "no"], Found::Missing),
            (&["metadata", "no"], Found::Missing),
            (&["metadata", "type", "no"], Found::Missing),
            (&["no", "no"], Found::Missing),
            (&["items", "2"], Found::Missing),
        ] {
            let found = editor.read(&text, path);
            if found != expected {
                violations.push(format!("{}: {path:?} is {found:?}, not {expected:?}", fixture.name));
            }
        }
    }
    violations
}

/// Without an edit no byte changes, nor when a key is set to what it says.
pub fn no_edit_changes_no_byte(editor: &dyn YamlEditor) -> Vec<String> {
    let mut violations = Vec::new();
    for fixture in fixtures() {
        let text = fixture.text();
        if editor.reprinted(&text) != text {
            violations.push(format!("{}: printing changes it", fixture.name));
        }
        for piece in fixture.keys() {
            let same = match &piece.found {
                Found::Scalar(value) => editor.set_scalar(&text, &piece.path, value),
                Found::List(items) => {
                    editor.set_list(&text, &piece.path, &items.iter().map(String::as_str).collect::<Vec<_>>())
                }
                _ => continue,
            };
            if same.as_ref() != Some(&text) {
                violations.push(format!("{}: {:?} set to what it says", fixture.name, piece.path));
            }
        }
        if editor.remove(&text, &["metadata", "no"]).as_ref() != Some(&text) {
            violations.push(format!("{}: a key that is not there was removed", fixture.name));
        }
    }
    violations
}

/// An edit changes the lines of its key; every other byte stays, and every other key reads as before.
pub fn an_edit_changes_only_the_lines_of_its_key(editor: &dyn YamlEditor) -> Vec<String> {
    let mut violations = Vec::new();
    for fixture in fixtures() {
        let text = fixture.text();
        for piece in fixture.keys().filter(|piece| !piece.source.is_empty()) {
            let (before, lines, after) = fixture.around(&piece.path);
            let mut edits = Vec::new();
            for value in VALUES {
                let edited = editor.set_scalar(&text, &piece.path, value);
                edits.push((edited, Found::Scalar(value.to_owned()), trailing_comment(&lines)));
            }
            for items in LISTS {
                edits.push((editor.set_list(&text, &piece.path, items), listed(items), ""));
            }
            // What follows the first key of an item moves to the line of the dash.
            if !lines.trim_start().starts_with("- ") {
                edits.push((editor.remove(&text, &piece.path), Found::Missing, ""));
            }
            for (edited, expected, comment) in edits {
                let edited = edited.unwrap_or_else(|| "refused".to_owned());
                let rest = edited.strip_prefix(&before).and_then(|rest| rest.strip_suffix(&after));
                let problem = match rest {
                    None => Some(format!("changes other lines: {edited}")),
                    Some(rest) if !rest.contains(comment) => Some(format!("loses the comment: {rest}")),
                    Some(_) => misread(editor, &fixture, &edited, &piece.path, &expected),
                };
                violations.extend(
                    problem.map(|it| format!("{}: {:?} {expected:?} {it}", fixture.name, piece.path)),
                );
            }
        }
    }
    violations
}

/// What reads differently after an edit of `path` and should not.
fn misread(
    editor: &dyn YamlEditor,
    fixture: &Fixture,
    edited: &str,
    path: &[&str],
    expected: &Found,
) -> Option<String> {
    let related = |other: &Piece| other.path.starts_with(path) || path.starts_with(&other.path);
    let others: Vec<&Piece> = fixture.keys().filter(|other| !related(other)).collect();
    let paths: Vec<Path<'_>> =
        [path].into_iter().chain(others.iter().map(|other| other.path.as_slice())).collect();
    let expected: Vec<&Found> =
        [expected].into_iter().chain(others.iter().map(|other| &other.found)).collect();
    let found = editor.read_each(edited, &paths);
    let at = (0..paths.len()).find(|at| found[*at] != *expected[*at])?;
    Some(format!("makes {:?} {:?}, not {:?}: {edited}", paths[at], found[at], expected[at]))
}

/// The comment after a value that is on one line.
fn trailing_comment(lines: &str) -> &str {
    match lines.trim_end().contains('\n') || lines.contains("|+") {
        true => "",
        false => lines.find(" #").map_or("", |at| lines[at..].trim_end()),
    }
}

/// A new key is added without a change to any line, also below a key without a value and below new keys.
pub fn a_new_key_changes_no_line(editor: &dyn YamlEditor) -> Vec<String> {
    let mut violations = Vec::new();
    let paths: [Path<'_>; 8] = [
        &["new"],
        &["new: key", "a b"],
        &["new", "nested", "key"],
        &["metadata", "kind"],
        &["metadata", "deeper", "kind"],
        &["metadata", "new", "key"],
        &["base", "kind"],
        &["items", "0", "kind"],
    ];
    for fixture in fixtures() {
        let text = fixture.text();
        for path in paths {
            for (edited, expected) in [
                (editor.set_scalar(&text, path, "a: value"), Found::Scalar("a: value".to_owned())),
                (editor.set_list(&text, path, &["a", "b c"]), listed(&["a", "b c"])),
            ] {
                let Some(edited) = edited else {
                    violations.push(format!("{}: {path:?} is refused", fixture.name));
                    continue;
                };
                if !is_insertion(&text, &edited) {
                    violations.push(format!("{}: {path:?} changes lines: {edited}", fixture.name));
                } else if let Some(problem) = misread(editor, &fixture, &edited, path, &expected) {
                    violations.push(format!("{}: {path:?} {problem}", fixture.name));
                }
            }
        }
        // The line of the parent changes.
        for path in [["empty", "key"], ["nothing", "key"], ["flow", "key"], ["flow", "since"]] {
            let (before, _, after) = fixture.around(&path[..1]);
            let edited = editor.set_scalar(&text, &path, "a: [value").unwrap_or_default();
            if !edited.starts_with(&before) || !edited.ends_with(&after) {
                violations.push(format!("{}: {path:?} changes other lines: {edited}", fixture.name));
            } else if editor.read(&edited, &path) != Found::Scalar("a: [value".to_owned()) {
                violations.push(format!("{}: {path:?} is not read: {edited}", fixture.name));
            }
        }
        let (before, _, after) = fixture.around(&["flow"]);
        let edited = editor.remove(&text, &["flow", "since"]).unwrap_or_default();
        if !edited.starts_with(&before)
            || !edited.ends_with(&after)
            || editor.read(&edited, &["flow", "since"]) != Found::Missing
            || editor.read(&edited, &["flow", "in", "a"]) != Found::Scalar("b".to_owned())
        {
            violations.push(format!("{}: flow.since is not removed: {edited}", fixture.name));
        }
    }
    violations
}

/// Whether `new` is `old` with something put between two of its lines, or at its end.
fn is_insertion(old: &str, new: &str) -> bool {
    let same = old.bytes().zip(new.bytes()).take_while(|(a, b)| a == b).count();
    let from_end = old.bytes().rev().zip(new.bytes().rev()).take_while(|(a, b)| a == b).count();
    new.len() > old.len() && same + from_end >= old.len()
}

/// After a thousand edits every key says what it was last set to, and the lines of the others are as they were.
pub fn a_thousand_edits_leave_the_other_lines(editor: &dyn YamlEditor, seed: u64) -> Vec<String> {
    let mut violations = Vec::new();
    for fixture in fixtures() {
        let mut random = Random(seed);
        let mut text = fixture.text();
        let untouched = ["literal", "base", "copy", "metadata.type", "metadata.#", "items", "rows"];
        let spared = |path: &[&str]| untouched.iter().any(|key| path.join(".").starts_with(key));
        // Leaves only: their parents stay mappings.
        let leaf = |piece: &&Piece| piece.found != Found::Other && !spared(&piece.path);
        let mut paths: Vec<Vec<&str>> = fixture.keys().filter(leaf).map(|piece| piece.path.clone()).collect();
        paths.extend([vec!["new"], vec!["metadata", "new"], vec!["own", "nested"], vec!["flow", "new"]]);
        let mut model: BTreeMap<Vec<&str>, Found> = BTreeMap::new();
        for step in 0..1000 {
            let path = &paths[random.below(paths.len())];
            let value = VALUES[random.below(VALUES.len())];
            let items = LISTS[random.below(LISTS.len())];
            let (edited, expected) = match random.below(4) {
                0 => (editor.remove(&text, path), Found::Missing),
                1 => (editor.set_list(&text, path, items), listed(items)),
                _ => (editor.set_scalar(&text, path, value), Found::Scalar(value.to_owned())),
            };
            let Some(edited) = edited else {
                violations.push(format!("{}: step {step}: {path:?} {expected:?} is refused", fixture.name));
                continue;
            };
            if editor.read(&edited, path) != expected {
                violations.push(format!("{}: step {step}: {path:?} {expected:?} is not read", fixture.name));
            }
            text = edited;
            model.insert(path.clone(), expected);
        }
        for (path, expected) in &model {
            let found = editor.read(&text, path);
            if found != *expected {
                violations.push(format!("{}: {path:?} reads {found:?}, not {expected:?}", fixture.name));
            }
        }
        let stays = |piece: &&Piece| piece.path.is_empty() || spared(&piece.path);
        let mut rest = text.as_str();
        for piece in fixture.pieces.iter().filter(stays) {
            match rest.split_once(&piece.source) {
                Some((_, after)) => rest = after,
                None => violations.push(format!("{}: {:?} was changed: {text}", fixture.name, piece.path)),
            }
        }
    }
    violations
}

/// A key that cannot be read is no harm to the others: they are read and set, and its line stays.
pub fn a_broken_key_loses_no_other(editor: &dyn YamlEditor) -> Vec<String> {
    let broken = [
        "x: [a, b",
        "x: {a: b",
        "x: \"a",
        "x: 'a",
        "x: \"a\" b",
        "x: a: b",
        "x: ]",
        "x: @a",
        "x: `a`",
        "x: %a",
        "x: *gone",
        "x: | text",
        "x: [a]]",
        "x: [a] b",
        "x: \"\\q\"",
        "x: - a",
        "x: &",
        "stray",
        "- stray",
        "? x",
        ": x",
        "x\n  y: z",
        "\tx: a",
        "   x: a",
        "x: a\n   y: b",
        "x:\n  y: b\n z: c",
        "x: a\nx: b",
        "%YAML 9",
        "...x",
        "]",
        "@",
        "x: \u{1}",
        "x: \u{fffe}",
    ];
    let mut violations = Vec::new();
    let around = [("", "status: active # now\ntype: fact\n"), ("type: fact\n", "status: active # now\n")];
    for (line, (above, below)) in broken.iter().flat_map(|line| around.map(|around| (line, around))) {
        // An indented line may be part of the key above it.
        if line.starts_with([' ', '\t']) && !above.is_empty() {
            continue;
        }
        let text = format!("{above}{line}\n{below}");
        let read = |text: &str, key: &str| editor.read(text, &[key]);
        let says = |value: &str| Found::Scalar(value.to_owned());
        if read(&text, "type") != says("fact") || read(&text, "status") != says("active") {
            violations.push(format!(
                "{text:?} is not read: {:?}, {:?}",
                read(&text, "type"),
                read(&text, "status")
            ));
            continue;
        }
        let expected = text.replace("active", "done");
        let edited = editor.set_scalar(&text, &["status"], "done");
        if edited.as_ref() != Some(&expected) {
            violations.push(format!("{text:?} became {edited:?}"));
        }
    }
    violations
}

/// Documents that are almost YAML, and texts that are none.
fn damaged_documents() -> impl Strategy<Value = String> {
    let line = "( {0,4}|\t)(- )?(a|b|tags|\"q\"|x y|\\? y|#|\\]|<<)?(: | :|:)?(\"|'|\\[|\\{|\\}|\\]|&x |\\*x|\\||>|[+]|2|!t|1|x, |é|\\\\| # c|a: ){0,3}";
    let end = prop::sample::select(vec!["\n", "\n", "\n", "\r\n"]);
    let lines = (prop::collection::vec(line, 0..9), end, any::<bool>()).prop_map(|(lines, end, open)| {
        let text: String = lines.iter().map(|line| format!("{line}{end}")).collect();
        if open { text.trim_end().to_owned() } else { text }
    });
    let signs = "(---|\n|\n  |\n    |\r\n|\r|\u{feff}|a: |b: |q: |: |- |\\|\n|>2-\n|[a\\[\\]{},\"'#&*!\\\\`日 ]){0,40}";
    prop_oneof![4 => lines, 1 => signs, 1 => any::<String>()]
}

fn damages() -> impl Strategy<Value = (String, Vec<&'static str>, String)> {
    let keys = prop::sample::select(vec!["a", "b", "new", "tags", "x y", "q", "0", "-"]);
    (damaged_documents(), prop::collection::vec(keys, 1..3), "\\PC{0,9}|[\"'\\\\\n#: ]{0,5}")
}

/// What is set in a damaged document is read, and its other keys say what they said. `None` where all is well.
fn wrong_in_damaged(editor: &dyn YamlEditor, text: &str, path: Path<'_>, value: &str) -> Option<String> {
    const TOP: [Path<'_>; 6] = [&["a"], &["b"], &["tags"], &["q"], &["x y"], &["<<"]];
    let others: Vec<Path<'_>> = TOP.into_iter().filter(|top| top[0] != path[0]).collect();
    let before = editor.read_each(text, &others);
    let check = |what: &str, edited: Option<String>, expected: &[Found]| {
        let edited = edited?;
        let found = editor.read(&edited, path);
        // An item that was appended has another path.
        if !expected.contains(&found) && !path.contains(&"-") {
            return Some(format!("{what} reads {found:?}: {edited:?}"));
        }
        let after = editor.read_each(&edited, &others);
        (after != before).then(|| format!("{what} makes {others:?} of {before:?} {after:?}: {edited:?}"))
    };
    let removed = match path.last() {
        // The next item moves up.
        Some(&"0") => return None,
        _ => [Found::Missing, Found::Null],
    };
    let items = [value, "z"];
    check("set", editor.set_scalar(text, path, value), &[Found::Scalar(value.to_owned())])
        .or_else(|| check("list", editor.set_list(text, path, &items), &[listed(&items)]))
        .or_else(|| check("remove", editor.remove(text, path), &removed))
}

pub fn damaged_documents_are_edited_soundly(editor: &dyn YamlEditor, cases: u32) -> Vec<String> {
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let result = TestRunner::new(config).run(&damages(), |(text, path, value)| {
        let wrong = wrong_in_damaged(editor, &text, &path, &value);
        wrong.map_or(Ok(()), |wrong| Err(TestCaseError::fail(wrong)))
    });
    result.err().map(|failure| failure.to_string()).into_iter().collect()
}

/// Texts that cost a careless reader its stack, its memory or an afternoon.
pub fn hostile_documents() -> Vec<(&'static str, String)> {
    let mut bomb = "a0: &a0 [x, x]\n".to_owned();
    for level in 1..60 {
        let aliases = vec![format!("*a{}", level - 1); 10].join(", ");
        bomb.push_str(&format!("a{level}: &a{level} [{aliases}]\n"));
    }
    let deep = 20_000;
    let many = |line: &str, count: usize| line.repeat(count);
    let stairs: String = (0..2_000).map(|depth| format!("{}k:\n", " ".repeat(depth))).collect();
    vec![
        ("aliases of aliases", bomb),
        ("deep sequences", format!("x: {}{}\n", many("[", deep), many("]", deep))),
        ("deep mappings", format!("x: {}{}\n", many("{a: ", deep), many("}", deep))),
        ("open brackets", format!("x: {}\n", many("[", 200_000))),
        ("open braces on lines", format!("x:\n{}", many("  {\n", 100_000))),
        ("deep dashes", format!("x:\n  {}\n", many("- ", deep))),
        ("stairs", stairs),
        ("many comments", format!("x: 1\n{}", many("# c\n", 200_000))),
        ("many spaces", format!("x:{}\n", many(" ", 500_000))),
        ("many colons", format!("{}\n", many("a:", 200_000))),
        ("many quotes", format!("x: {}\n", many("'", 300_001))),
        ("many items", format!("x:\n{}", many("  - item\n", 100_000))),
        ("many maps", format!("x:\n{}", many("  - path: a\n    why: b\n", 50_000))),
        ("a long text", format!("x: |\n{}", many("  line\n", 100_000))),
        ("a long folded text", format!("x: first\n{}", many("  line\n", 100_000))),
        ("many flow keys", format!("x: {{{}}}\n", many("k: v, ", 100_000))),
    ]
}

/// Hostile documents are read and edited; a reader whose cost is not linear does not come back from the large ones.
pub fn hostile_documents_are_edited(editor: &dyn YamlEditor) -> Vec<String> {
    let mut violations = Vec::new();
    for (name, text) in hostile_documents() {
        let text = format!("{text}status: active\n");
        let _ = editor.read(&text, &["x"]);
        let _ = editor.read(&text, &["x", "0", "why"]);
        let _ = editor.read(&text, &["a59", "0", "0", "0"]);
        let edited = editor.set_scalar(&text, &["status"], "done");
        if edited != Some(text.replace("active", "done")) {
            violations.push(format!("{name}: status is not set"));
        }
    }
    violations
}

/// Numbers that are the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }
}
