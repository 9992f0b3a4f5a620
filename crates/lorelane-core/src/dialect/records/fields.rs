//! The field table: every field of the six categories, defined once. Validation, schemas, drafts and docs use it.

use crate::lifecycle::REASON_MAX;
use crate::memory::{Category, HISTORY_MAX};

pub const TITLE_MAX: usize = 120;
pub const TAG_MAX: usize = 12;
/// The tag of a record without tags; removed when another tag is added.
pub const NO_TAG: &str = "untagged";
pub const SCHEMA_VERSION: &str = "1.0";

#[derive(Debug)]
pub struct Field {
    pub name: &'static str,
    pub kind: FieldType,
    pub need: Requirement,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Requirement {
    Required,
    /// May be absent or null.
    Optional,
    /// May be absent, but not null.
    Defaulted,
}

#[derive(Debug)]
pub enum FieldType {
    /// The version of the record format.
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
    /// An integer, 0 or more.
    Count,
    Flag,
    List {
        of: &'static FieldType,
        min: usize,
        max: Option<usize>,
    },
    Group(&'static FieldGroup),
    Any,
}

#[derive(Debug)]
pub struct FieldGroup {
    /// The name that validation messages use.
    pub model: &'static str,
    pub fields: &'static [Field],
}

const TEXT: FieldType = FieldType::Text { max: None };
const TEXTS: FieldType = FieldType::List { of: &TEXT, min: 0, max: None };
const SOME_TEXTS: FieldType = FieldType::List { of: &TEXT, min: 1, max: None };

const fn required(name: &'static str, kind: FieldType) -> Field {
    Field { name, kind, need: Requirement::Required }
}

const fn optional(name: &'static str, kind: FieldType) -> Field {
    Field { name, kind, need: Requirement::Optional }
}

const fn defaulted(name: &'static str, kind: FieldType) -> Field {
    Field { name, kind, need: Requirement::Defaulted }
}

/// The fields that every record has besides its content.
pub const BASE: FieldGroup = FieldGroup {
    model: "Memory",
    fields: &[
        required("schema_version", FieldType::Version),
        required("category", FieldType::OwnCategory),
        required("id", FieldType::Slug),
        required("title", FieldType::Text { max: Some(TITLE_MAX) }),
        defaulted("record_status", FieldType::Choice(&["active", "retired", "archived"])),
        required("created_at", FieldType::Time),
        required("updated_at", FieldType::Time),
        required("tags", SOME_TEXTS),
        optional("related_files", TEXTS),
        optional("confidence", FieldType::Fraction),
        required("content", FieldType::OwnContent),
        optional(
            "changes",
            FieldType::List { of: &FieldType::Group(&CHANGE), min: 0, max: Some(HISTORY_MAX) },
        ),
        defaulted("times_updated", FieldType::Count),
        optional("retired_at", FieldType::Time),
        optional("retired_reason", FieldType::Text { max: Some(REASON_MAX) }),
        optional("archived_at", FieldType::Time),
        optional("archived_reason", FieldType::Text { max: Some(REASON_MAX) }),
    ],
};

const CHANGE: FieldGroup = FieldGroup {
    model: "ChangeEntry",
    fields: &[
        required("date", TEXT),
        required("summary", FieldType::Text { max: Some(REASON_MAX) }),
        optional("field", TEXT),
        optional("old_value", FieldType::Any),
        optional("new_value", FieldType::Any),
    ],
};

/// The content fields of a category.
pub fn content(category: Category) -> &'static FieldGroup {
    match category {
        Category::SessionSummary => &SESSION_SUMMARY,
        Category::Decision => &DECISION,
        Category::Runbook => &RUNBOOK,
        Category::Constraint => &CONSTRAINT,
        Category::TechDebt => &TECH_DEBT,
        Category::Preference => &PREFERENCE,
    }
}

const SESSION_SUMMARY: FieldGroup = FieldGroup {
    model: "SessionSummaryContent",
    fields: &[
        required("goal", TEXT),
        required("outcome", FieldType::Choice(&["success", "partial", "blocked", "abandoned"])),
        required("completed", TEXTS),
        optional("in_progress", TEXTS),
        optional("blockers", TEXTS),
        required("next_actions", TEXTS),
        optional("key_changes", TEXTS),
    ],
};

const DECISION: FieldGroup = FieldGroup {
    model: "DecisionContent",
    fields: &[
        required("status", FieldType::Choice(&["proposed", "accepted", "deprecated", "superseded"])),
        required("context", TEXT),
        required("decision", TEXT),
        optional("alternatives", FieldType::List { of: &FieldType::Group(&ALTERNATIVE), min: 0, max: None }),
        required("rationale", SOME_TEXTS),
        optional("consequences", TEXTS),
    ],
};

const ALTERNATIVE: FieldGroup = FieldGroup {
    model: "Alternative",
    fields: &[required("option", TEXT), required("rejected_reason", TEXT)],
};

const RUNBOOK: FieldGroup = FieldGroup {
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

const CONSTRAINT: FieldGroup = FieldGroup {
    model: "ConstraintContent",
    fields: &[
        required("kind", FieldType::Choice(&["limitation", "gap", "policy", "technical"])),
        required("rule", TEXT),
        required("impact", SOME_TEXTS),
        optional("workarounds", TEXTS),
        required("severity", FieldType::Choice(&["high", "medium", "low"])),
        required("active", FieldType::Flag),
        optional("expires", TEXT),
    ],
};

const TECH_DEBT: FieldGroup = FieldGroup {
    model: "TechDebtContent",
    fields: &[
        required("status", FieldType::Choice(&["open", "in_progress", "resolved", "wont_fix"])),
        required("priority", FieldType::Choice(&["critical", "high", "medium", "low"])),
        required("description", TEXT),
        required("reason_deferred", TEXT),
        optional("impact", TEXTS),
        optional("suggested_fix", TEXTS),
        optional("acceptance_criteria", TEXTS),
    ],
};

const PREFERENCE: FieldGroup = FieldGroup {
    model: "PreferenceContent",
    fields: &[
        required("topic", TEXT),
        required("value", TEXT),
        required("reason", TEXT),
        required("strength", FieldType::Choice(&["strong", "default", "soft"])),
        optional("examples", FieldType::Group(&EXAMPLES)),
    ],
};

const EXAMPLES: FieldGroup = FieldGroup {
    model: "PreferenceExamples",
    fields: &[optional("prefer", TEXTS), optional("avoid", TEXTS)],
};

/// Resolves the field types that depend on the category.
pub fn group_of(kind: &FieldType, category: Category) -> Option<&'static FieldGroup> {
    match kind {
        FieldType::Group(group) => Some(group),
        FieldType::OwnContent => Some(content(category)),
        _ => None,
    }
}

/// The full path and type of the field at a dotted path; `content.` may be omitted.
pub fn find(category: Category, path: &str) -> Option<(String, &'static FieldType)> {
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
