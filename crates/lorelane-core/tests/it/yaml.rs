//! YAML in frontmatter and in files of its own: the laws of an editor, and the forms that they do not name.

use crate::yaml_laws::{self as laws, Found, Path, YamlEditor};
use lorelane_core::yaml::{FieldEdit, YamlCollection, YamlEntry, YamlValue};

struct Own;

impl YamlEditor for Own {
    fn read_each(&self, text: &str, paths: &[Path<'_>]) -> Vec<Found> {
        let document = YamlCollection::document(text);
        let look = |parent: &YamlCollection<'_>, entry: &YamlEntry| match &entry.value {
            YamlValue::Null => Found::Null,
            _ => match (parent.scalar_of(entry), parent.list_of(entry)) {
                (Some(text), _) => Found::Scalar(text),
                (None, Some(items)) => Found::List(items),
                (None, None) => Found::Other,
            },
        };
        let read = |path: &Path<'_>| document.as_ref()?.at(path, look);
        paths.iter().map(|path| read(path).unwrap_or(Found::Missing)).collect()
    }

    fn reprinted(&self, text: &str) -> String {
        text.to_owned()
    }

    fn set_scalar(&self, text: &str, path: Path<'_>, value: &str) -> Option<String> {
        YamlCollection::document(text)?.edited(path, FieldEdit::Text(value))
    }

    fn set_list(&self, text: &str, path: Path<'_>, items: &[&str]) -> Option<String> {
        let items: Vec<String> = items.iter().map(|item| (*item).to_owned()).collect();
        YamlCollection::document(text)?.edited(path, FieldEdit::List(&items))
    }

    fn remove(&self, text: &str, path: Path<'_>) -> Option<String> {
        YamlCollection::document(text)?.edited(path, FieldEdit::Remove)
    }
}

fn assert_holds(violations: &[String]) {
    assert!(violations.is_empty(), "{} violations, the first: {}", violations.len(), violations[0]);
}

#[test]
fn every_value_is_read() {
    assert_holds(&laws::every_value_is_read(&Own));
}

#[test]
fn no_edit_changes_no_byte() {
    assert_holds(&laws::no_edit_changes_no_byte(&Own));
}

#[test]
fn an_edit_changes_only_the_lines_of_its_key() {
    assert_holds(&laws::an_edit_changes_only_the_lines_of_its_key(&Own));
}

#[test]
fn a_new_key_changes_no_line() {
    assert_holds(&laws::a_new_key_changes_no_line(&Own));
}

#[test]
fn a_thousand_edits_leave_the_other_lines() {
    assert_holds(&laws::a_thousand_edits_leave_the_other_lines(&Own, 11));
}

#[test]
fn a_broken_key_loses_no_other() {
    assert_holds(&laws::a_broken_key_loses_no_other(&Own));
}

#[test]
fn damaged_documents_are_edited_soundly() {
    assert_holds(&laws::damaged_documents_are_edited_soundly(&Own, 512));
}

#[test]
fn hostile_documents_are_edited() {
    assert_holds(&laws::hostile_documents_are_edited(&Own));
}

fn check_edit(text: &str, path: Path<'_>, edit: FieldEdit<'_>, expected: &str) {
    for end in ["\n", "\r\n"] {
        let text = text.replace('\n', end);
        let document = YamlCollection::document(&text).expect("a mapping");
        let edited = document.edited(path, edit).unwrap_or_else(|| panic!("{path:?} {edit:?} in {text:?}"));
        assert_eq!(edited, expected.replace('\n', end), "{path:?} {edit:?}");
    }
}

#[test]
fn a_scalar_is_read_in_every_style() {
    let table = [
        ("x: |\n  a\n   b\n", "a\n b\n"),
        ("x: |-\n\n  a\n\n", "\na"),
        ("x: |+\n  a\n\n\ny: 1\n", "a\n\n\n"),
        ("x: |1\n   a\n", "  a\n"),
        ("x: |2-  # why\n    a\n", "  a"),
        ("x: |\n  a\n # a comment\ny: 1\n", "a\n"),
        ("x: >\n  a\n  b\n\n  c\n   d\n  e\n", "a b\nc\n d\ne\n"),
        ("x: >+\n  a\n\n", "a\n\n"),
        ("x: >-\n\n  a\n", "\na"),
        ("x: |\ny: 1\n", ""),
        ("x: a\n  b\n\n  c\n", "a b\nc"),
        ("x:\n  a b\n  c\n", "a b c"),
        ("x:\n  'a'\n", "a"),
        ("x: 'it''s\n\n  on'\n", "it's\non"),
        ("x: \"a \\\n  b\\\n  \\ c\\u00e9\"\n", "a b cé"),
    ];
    for (text, expected) in table {
        for end in ["\n", "\r\n"] {
            let text = text.replace('\n', end);
            let document = YamlCollection::document(&text).expect("a mapping");
            assert_eq!(document.scalar(&["x"]).as_deref(), Some(expected), "{text:?}");
        }
    }
    // A line that begins with `#` is a comment to this reader, also between quotes: the value is kept, and not read.
    for text in [
        "x: \"a\n  # b\"\ny: 1\n",
        "x: |x\n  a\n",
        "x: a\n  b: c\n",
        "x: \"a\n",
        "x: *a\n",
        "x: [a]\n",
        "x:\n",
        "x: ~\n",
    ] {
        let document = YamlCollection::document(text).expect("a mapping");
        assert_eq!(document.scalar(&["x"]), None, "{text:?}");
    }
}

#[test]
fn items_are_added_changed_and_removed() {
    let text =
        "# hot\nkeep:\n  - path: a.md # one\n    why: x\n  # two\n  - path: b.md\n    tags: [a]\nnone:\n";
    // Other readers take a plain `y` for a boolean.
    let list = ["y".to_owned()];
    let table: [(Path<'_>, FieldEdit<'_>, &str, &str); 13] = [
        (&["keep", "0", "path"], FieldEdit::Text("c.md"), "a.md", "c.md"),
        (&["keep", "1", "tags"], FieldEdit::List(&list), "[a]", "[\"y\"]"),
        (&["keep", "1", "why"], FieldEdit::Text("z"), "[a]\n", "[a]\n    why: \"z\"\n"),
        (&["keep", "-", "path"], FieldEdit::Text("c"), "[a]\n", "[a]\n  - path: \"c\"\n"),
        (&["keep", "2", "in", "deep"], FieldEdit::Text("c"), "[a]\n", "[a]\n  - in:\n      deep: \"c\"\n"),
        (&["keep", "-"], FieldEdit::Source("path: c\n  why: d"), "[a]\n", "[a]\n  - path: c\n    why: d\n"),
        (&["keep", "0"], FieldEdit::Remove, "  - path: a.md # one\n    why: x\n", ""),
        (&["keep", "1"], FieldEdit::Remove, "  - path: b.md\n    tags: [a]\n", ""),
        (&["keep", "0", "path"], FieldEdit::Remove, "path: a.md # one\n    why", "why"),
        (&["keep", "1", "tags", "-"], FieldEdit::Text("b"), "[a]", "[a, \"b\"]"),
        (&["none", "-", "path"], FieldEdit::Text("c"), "none:\n", "none:\n  - path: \"c\"\n"),
        (&["new", "-"], FieldEdit::Text("c"), "none:\n", "none:\nnew:\n  - \"c\"\n"),
        (&["keep", "0", "why", "no"], FieldEdit::Remove, "", ""),
    ];
    for (path, edit, old, new) in table {
        check_edit(text, path, edit, &text.replacen(old, new, 1));
    }
    let document = YamlCollection::document(text).expect("a mapping");
    for path in [["keep", "3"].as_slice(), &["keep", "path"], &["keep", "0", "why", "no"]] {
        assert_eq!(document.edited(path, FieldEdit::Text("x")), None, "{path:?}");
    }
}

#[test]
fn flow_collections_are_edited_in_their_brackets() {
    let table: [(&str, Path<'_>, FieldEdit<'_>, &str); 9] = [
        ("x: {a: b} # c\n", &["x", "a"], FieldEdit::Text("d"), "x: {a: d} # c\n"),
        ("x: {a: b, \"c\":d,}\n", &["x", "e"], FieldEdit::Text("f"), "x: {a: b, \"c\":d, e: \"f\",}\n"),
        ("x: {}\n", &["x", "a", "b"], FieldEdit::Text("c"), "x: {a: {b: \"c\"}}\n"),
        ("x: {a: , b: c}\n", &["x", "a"], FieldEdit::Text("d"), "x: {a: \"d\" , b: c}\n"),
        ("x: {a: ~}\n", &["x", "a", "b"], FieldEdit::Text("c"), "x: {a: {b: \"c\"}}\n"),
        ("x: {a: 1, b: 2, a: 3, a: 4}\n", &["x", "a"], FieldEdit::Remove, "x: {b: 2}\n"),
        ("x: {a: 1}\n", &["x", "a"], FieldEdit::Remove, "x: {}\n"),
        ("x: [a, {b: c}, d]\n", &["x", "1", "b"], FieldEdit::Text("e"), "x: [a, {b: e}, d]\n"),
        ("x: [a, {b: c}, d]\n", &["x", "1"], FieldEdit::Remove, "x: [a, d]\n"),
    ];
    for (text, path, edit, expected) in table {
        check_edit(text, path, edit, expected);
    }
}

#[test]
fn a_file_of_yaml_is_its_first_document() {
    let text = "\u{feff}%YAML 1.2\n# top\n---\na: 1\n# end\n---\na: 2\n";
    check_edit(text, &["b"], FieldEdit::Text("3"), &text.replace("# end\n", "# end\nb: \"3\"\n"));
    check_edit("a: 1\n---\na: 2\n", &["a"], FieldEdit::Remove, "a: ~\n---\na: 2\n");
    check_edit("---\na: 1\n---\na: 2\n", &["a"], FieldEdit::Remove, "---\n---\na: 2\n");
    check_edit("---\n---\na: 2\n", &["a"], FieldEdit::Text("1"), "---\na: \"1\"\n---\na: 2\n");
    let empty = YamlCollection::document("").expect("an empty mapping");
    assert_eq!(empty.edited(&["a", "b"], FieldEdit::Text("c")).as_deref(), Some("a:\n  b: \"c\"\n"));
    check_edit("# only\n", &["a"], FieldEdit::Text("c"), "# only\na: \"c\"\n");
    for text in ["- a\n", "text\n", "[a]\n"] {
        assert!(YamlCollection::document(text).is_none(), "{text:?}");
    }
}
