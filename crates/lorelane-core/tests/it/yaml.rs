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
