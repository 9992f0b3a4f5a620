//! What most tests start from: small records, and the shortest way to do things with them.

use lorelane_core::change::{Assignment, Draft, Notice};
use lorelane_core::dialect::records::Records;
use lorelane_core::dialect::{Composed, Dialect, ParsedFile, TextEdit, WriteContext};
use lorelane_core::json::{Json, JsonFormat, Object};
use lorelane_core::memory::{Address, Category, Memory};
use lorelane_core::path::RelPath;
use lorelane_core::refusal::{MergeFault, Refusal};
use lorelane_core::time::Timestamp;

/// 2026-01-01T00:00:00Z.
pub(crate) const NOW: Timestamp = Timestamp(1_767_225_600);

pub(crate) fn records() -> Records {
    Records::new(".claude/memory")
}

pub(crate) fn json(text: &str) -> Json {
    Json::parse(text).unwrap_or_else(|fault| panic!("{fault}: {text}"))
}

pub(crate) fn object(text: &str) -> Object {
    json(text).as_object().expect("an object").clone()
}

/// Members of a record as keys and JSON; an empty value removes one.
pub(crate) type Members<'a> = &'a [(&'a str, &'a str)];

/// The smallest content of a category.
pub(crate) fn content(category: Category) -> &'static str {
    match category {
        Category::SessionSummary => {
            r#"{"goal": "g", "outcome": "success", "completed": [], "next_actions": []}"#
        }
        Category::Decision => {
            r#"{"status": "accepted", "context": "c", "decision": "d", "rationale": ["r"]}"#
        }
        Category::Runbook => r#"{"trigger": "t", "steps": ["s"], "verification": "v"}"#,
        Category::Constraint => {
            r#"{"kind": "gap", "rule": "r", "impact": ["i"], "severity": "low", "active": true}"#
        }
        Category::TechDebt => {
            r#"{"status": "open", "priority": "low", "description": "d", "reason_deferred": "r"}"#
        }
        Category::Preference => r#"{"topic": "t", "value": "v", "reason": "r", "strength": "soft"}"#,
    }
}

/// The smallest record of a category, with these members set on top.
pub(crate) fn record_of(category: Category, members: Members<'_>) -> Object {
    let mut record = object(&format!(
        r#"{{"schema_version": "1.0", "category": "{category}", "id": "use-jwt", "title": "Use JWT",
            "created_at": "2025-01-01T00:00:00Z", "updated_at": "2025-01-01T00:00:00Z",
            "tags": ["auth"], "content": {}}}"#,
        content(category)
    ));
    for (key, value) in members {
        match *value {
            "" => {
                record.remove(key);
            }
            value => record.set(key, json(value)),
        }
    }
    record
}

/// The smallest decision, changed in the same way.
pub(crate) fn decision(members: Members<'_>) -> String {
    text(&record_of(Category::Decision, members))
}

pub(crate) fn text(record: &Object) -> String {
    format!("{}\n", Json::Object(record.clone()).render(JsonFormat::FILE))
}

pub(crate) fn address() -> Address {
    Address::record(Category::Decision, "use-jwt")
}

pub(crate) fn write_context() -> WriteContext {
    WriteContext { now: NOW, gone: Default::default() }
}

pub(crate) fn create(draft: &str) -> Result<Composed, Refusal> {
    records().compose_text(&address(), None, &Draft::Whole(draft.to_owned()), &write_context())
}

/// The record that a draft becomes, and what was fixed on the way.
pub(crate) fn created(draft: &str) -> (Object, Vec<String>) {
    let composed = create(draft).unwrap_or_else(|refusal| panic!("{refusal}: {draft}"));
    let text = put(&records(), composed.base_text.as_deref(), None, Some(&composed.memory));
    (object(&text), lines(&composed.notices))
}

pub(crate) fn revise(old: &str, draft: &Draft) -> Result<Composed, Refusal> {
    records().compose_text(&address(), Some(old), draft, &write_context())
}

/// The text of the file after a revision, and the notices.
pub(crate) fn revised(old: &str, draft: &Draft) -> (String, Vec<String>) {
    let composed = revise(old, draft).unwrap_or_else(|refusal| panic!("{refusal}: {draft:?}"));
    let before = read(old);
    let edits =
        records().write_text(Some(old), Some(&before), Some(&composed.memory)).expect("can be written");
    let text = match edits.as_slice() {
        [] => old.to_owned(),
        [TextChange::Put { text, .. }] => text.clone(),
        other => panic!("{other:?}"),
    };
    (text, lines(&composed.notices))
}

pub(crate) fn whole(text: &str) -> Draft {
    Draft::Whole(text.to_owned())
}

pub(crate) fn set(assignments: &[(&str, &str)]) -> Draft {
    Draft::Partial { from: None, set: assigned(assignments), add_tags: Vec::new(), because: None }
}

pub(crate) fn assigned(assignments: &[(&str, &str)]) -> Vec<Assignment> {
    assignments
        .iter()
        .map(|(path, value)| Assignment { path: (*path).to_owned(), value: (*value).to_owned() })
        .collect()
}

pub(crate) fn reading(text: &str) -> ParsedFile {
    let records = records();
    records.read(&records.place(&address()).expect("a place"), text.into())
}

pub(crate) fn read(text: &str) -> Memory {
    reading(text).memory.unwrap_or_else(|| panic!("no memory in {text}"))
}

/// An edit as a text, so that it can be compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TextChange {
    Put { path: RelPath, text: String },
    Remove { path: RelPath },
}

/// Dialects asked with texts in the place of parsed documents.
pub(crate) trait DialectOnTexts: Dialect {
    fn compose_text(
        &self,
        address: &Address,
        old: Option<&str>,
        draft: &Draft,
        context: &WriteContext,
    ) -> Result<Composed, Refusal> {
        let unreadable = |why| Refusal::Unreadable { address: address.clone(), why };
        let path = self.place(address);
        let old = old.zip(path).map(|(old, path)| self.read(&path, old.into()).into_memory());
        let old = old.transpose().map_err(unreadable)?;
        self.compose(address, old.as_ref(), self.parse_draft(draft), context)
    }

    fn write_text(
        &self,
        base: Option<&str>,
        before: Option<&Memory>,
        after: Option<&Memory>,
    ) -> Result<Vec<TextChange>, Refusal> {
        let path = before.or(after).and_then(|memory| self.place(&memory.address));
        let base = base.zip(path).map(|(base, path)| self.read(&path, base.into()).document);
        let edits = self.write(base.as_ref(), before, after)?.into_iter();
        Ok(edits
            .map(|edit| match edit {
                TextEdit::Put { path, file } => TextChange::Put { path, text: file.document.text },
                TextEdit::Remove { path } => TextChange::Remove { path },
            })
            .collect())
    }
}

impl<D: Dialect + ?Sized> DialectOnTexts for D {}

/// The text that one write of one file leaves.
pub(crate) fn put(
    dialect: &dyn Dialect,
    old: Option<&str>,
    before: Option<&Memory>,
    after: Option<&Memory>,
) -> String {
    let mut edits = dialect.write_text(old, before, after).expect("can be written");
    match edits.swap_remove(0) {
        TextChange::Put { text, .. } => text,
        TextChange::Remove { path } => panic!("{path} was removed"),
    }
}

/// Notices as the scripts print them.
pub(crate) fn lines(notices: &[Notice]) -> Vec<String> {
    notices
        .iter()
        .map(|notice| {
            let head = if matches!(notice, Notice::Fixed { .. }) { "[AUTO-FIX]" } else { "[WARN]" };
            format!("{head} {}", notice.text())
        })
        .collect()
}

/// The faults of a refusal as `field: expected`.
pub(crate) fn faults<T: std::fmt::Debug>(result: Result<T, Refusal>) -> Vec<String> {
    match result {
        Err(Refusal::Invalid { faults, .. }) => {
            faults.iter().map(|fault| format!("{}: {}", fault.field, fault.expected)).collect()
        }
        other => panic!("{other:?}"),
    }
}

pub(crate) fn merge_fault<T: std::fmt::Debug>(result: Result<T, Refusal>) -> MergeFault {
    match result {
        Err(Refusal::Merge { fault, .. }) => fault,
        other => panic!("{other:?}"),
    }
}
