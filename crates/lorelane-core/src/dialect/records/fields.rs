//! The contract: every field of the six categories, once. Validator, schemas, drafts and docs walk this table.

use crate::lifecycle::REASON_MAX;
use crate::memory::{Category, HISTORY_MAX};

pub const TITLE_MAX: usize = 120;
pub const TAG_MAX: usize = 12;
/// Stands where a tag is missing; it goes as soon as there is one.
pub const NO_TAG: &str = "untagged";
pub const SCHEMA_VERSION: &str = "1.0";

#[derive(Debug)]
pub struct Field {
    pub name: &'static str,
    pub kind: Kind,
    pub need: Need,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    Required,
    /// May be absent or null.
    Optional,
    /// May be absent; when it is there it has a value.
    Defaulted,
}

#[derive(Debug)]
pub enum Kind {
    /// The version of the format.
    Version,
    /// The name of the category whose table this is.
    OwnCategory,
    /// The content of the category whose table this is.
    OwnContent,
    Text {
        max: Option<usize>,
    },
    Slug,
    Time,
    Choice(&'static [&'static str]),
    /// A number from 0 to 1.
    Fraction,
    /// A whole number from 0.
    Count,
    Flag,
    List {
        of: &'static Kind,
        min: usize,
        max: Option<usize>,
    },
    Group(&'static Group),
    Any,
}

#[derive(Debug)]
pub struct Group {
    /// The name that validation messages use.
    pub model: &'static str,
    pub fields: &'static [Field],
}

const TEXT: Kind = Kind::Text { max: None };
const TEXTS: Kind = Kind::List { of: &TEXT, min: 0, max: None };
const SOME_TEXTS: Kind = Kind::List { of: &TEXT, min: 1, max: None };

const fn required(name: &'static str, kind: Kind) -> Field {
    Field { name, kind, need: Need::Required }
}

const fn optional(name: &'static str, kind: Kind) -> Field {
    Field { name, kind, need: Need::Optional }
}

const fn defaulted(name: &'static str, kind: Kind) -> Field {
    Field { name, kind, need: Need::Defaulted }
}

/// The fields that every record has around its content.
pub const BASE: Group = Group {
    model: "Memory",
    fields: &[
        required("schema_version", Kind::Version),
        required("category", Kind::OwnCategory),
        required("id", Kind::Slug),
        required("title", Kind::Text { max: Some(TITLE_MAX) }),
        defaulted("record_status", Kind::Choice(&["active", "retired", "archived"])),
        required("created_at", Kind::Time),
        required("updated_at", Kind::Time),
        required("tags", SOME_TEXTS),
        optional("related_files", TEXTS),
        optional("confidence", Kind::Fraction),
        required("content", Kind::OwnContent),
        optional("changes", Kind::List { of: &Kind::Group(&CHANGE), min: 0, max: Some(HISTORY_MAX) }),
        defaulted("times_updated", Kind::Count),
        optional("retired_at", Kind::Time),
        optional("retired_reason", Kind::Text { max: Some(REASON_MAX) }),
        optional("archived_at", Kind::Time),
        optional("archived_reason", Kind::Text { max: Some(REASON_MAX) }),
    ],
};

const CHANGE: Group = Group {
    model: "ChangeEntry",
    fields: &[
        required("date", TEXT),
        required("summary", Kind::Text { max: Some(REASON_MAX) }),
        optional("field", TEXT),
        optional("old_value", Kind::Any),
        optional("new_value", Kind::Any),
    ],
};

/// The content of a category.
pub fn content(category: Category) -> &'static Group {
    match category {
        Category::SessionSummary => &SESSION_SUMMARY,
        Category::Decision => &DECISION,
        Category::Runbook => &RUNBOOK,
        Category::Constraint => &CONSTRAINT,
        Category::TechDebt => &TECH_DEBT,
        Category::Preference => &PREFERENCE,
    }
}

const SESSION_SUMMARY: Group = Group {
    model: "SessionSummaryContent",
    fields: &[
        required("goal", TEXT),
        required("outcome", Kind::Choice(&["success", "partial", "blocked", "abandoned"])),
        required("completed", TEXTS),
        optional("in_progress", TEXTS),
        optional("blockers", TEXTS),
        required("next_actions", TEXTS),
        optional("key_changes", TEXTS),
    ],
};

const DECISION: Group = Group {
    model: "DecisionContent",
    fields: &[
        required("status", Kind::Choice(&["proposed", "accepted", "deprecated", "superseded"])),
        required("context", TEXT),
        required("decision", TEXT),
        optional("alternatives", Kind::List { of: &Kind::Group(&ALTERNATIVE), min: 0, max: None }),
        required("rationale", SOME_TEXTS),
        optional("consequences", TEXTS),
    ],
};

const ALTERNATIVE: Group =
    Group { model: "Alternative", fields: &[required("option", TEXT), required("rejected_reason", TEXT)] };

const RUNBOOK: Group = Group {
    model: "RunbookContent",
    fields: &[
        required("trigger", TEXT),
        optional("symptoms", TEXTS),
        required("steps", SOME_TEXTS),
        required("verification", TEXT),
        optional("root_cause", TEXT),
        optional("environment", TEXT),
    ],
};

const CONSTRAINT: Group = Group {
    model: "ConstraintContent",
    fields: &[
        required("kind", Kind::Choice(&["limitation", "gap", "policy", "technical"])),
        required("rule", TEXT),
        required("impact", SOME_TEXTS),
        optional("workarounds", TEXTS),
        required("severity", Kind::Choice(&["high", "medium", "low"])),
        required("active", Kind::Flag),
        optional("expires", TEXT),
    ],
};

const TECH_DEBT: Group = Group {
    model: "TechDebtContent",
    fields: &[
        required("status", Kind::Choice(&["open", "in_progress", "resolved", "wont_fix"])),
        required("priority", Kind::Choice(&["critical", "high", "medium", "low"])),
        required("description", TEXT),
        required("reason_deferred", TEXT),
        optional("impact", TEXTS),
        optional("suggested_fix", TEXTS),
        optional("acceptance_criteria", TEXTS),
    ],
};

const PREFERENCE: Group = Group {
    model: "PreferenceContent",
    fields: &[
        required("topic", TEXT),
        required("value", TEXT),
        required("reason", TEXT),
        required("strength", Kind::Choice(&["strong", "default", "soft"])),
        optional("examples", Kind::Group(&EXAMPLES)),
    ],
};

const EXAMPLES: Group =
    Group { model: "PreferenceExamples", fields: &[optional("prefer", TEXTS), optional("avoid", TEXTS)] };

/// Resolves the kinds that depend on the category.
pub fn group_of(kind: &Kind, category: Category) -> Option<&'static Group> {
    match kind {
        Kind::Group(group) => Some(group),
        Kind::OwnContent => Some(content(category)),
        _ => None,
    }
}

/// The kind at a dotted path, and that path in full: a content field may be named without `content.`.
pub fn find(category: Category, path: &str) -> Option<(String, &'static Kind)> {
    let walk = |path: &str| {
        let mut group = &BASE;
        let mut keys = path.split('.').peekable();
        while let Some(key) = keys.next() {
            let field = group.fields.iter().find(|field| field.name == key)?;
            if keys.peek().is_none() {
                return Some(&field.kind);
            }
            group = group_of(&field.kind, category)?;
        }
        None
    };
    let inner = format!("content.{path}");
    walk(path).map(|kind| (path.to_owned(), kind)).or_else(|| walk(&inner).map(|kind| (inner, kind)))
}
