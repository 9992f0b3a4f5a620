//! Why a change is not made. Every refusal says what was attempted, on what, why not, and what to do.

use crate::digest::Revision;
use crate::lifecycle::{LifecycleVerb, Status};
use crate::memory::{Address, Category};
use crate::time::Timestamp;

/// What to do when there is no such memory.
pub const LIST_HINT: &str = "`lorelane list` shows what there is";

#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Refusal {
    /// The text is not what the dialect reads at all.
    #[error("cannot read `{address}`: {why}")]
    Unreadable { address: Address, why: String },
    /// Everything that is wrong with the fields, at once.
    #[error("cannot save `{address}`: {}", invalid(.faults))]
    Invalid { address: Address, faults: Vec<FieldFault> },
    /// The revision would lose what only grows.
    #[error("cannot revise `{address}`: {} is {}{}", .fault.field, .fault.rule, details(.fault))]
    Merge { address: Address, fault: MergeFault },
    /// The file is not the one that was read.
    #[error(
        "cannot revise `{address}`: it changed since it was read\n  expected: {expected}\n  current: {current}"
    )]
    Conflict { address: Address, expected: Revision, current: Revision },
    #[error("cannot create `{address}`: {}", taken(*.status))]
    Exists { address: Address, status: Option<Status> },
    /// It was retired a moment ago, or at a time nobody knows.
    #[error("cannot create `{address}`: {}", retired(*.retired_at))]
    TooSoon { address: Address, retired_at: Option<Timestamp> },
    #[error("cannot find `{address}`: there is no such memory")]
    Missing { address: Address },
    #[error("cannot {} `{address}`: it is {status}", .verb.name())]
    Lifecycle { address: Address, verb: LifecycleVerb, status: Status },
    #[error("{}", secrets(.address, .found))]
    Secrets { address: Address, found: Vec<SecretFault> },
}

/// One value that is not as its field demands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldFault {
    pub field: String,
    pub expected: String,
    /// The value as JSON, cut at 200 characters.
    pub got: String,
    pub fix: String,
}

impl FieldFault {
    /// The last of a list that was cut: nobody reads the thousandth fault, and a hostile record has many.
    pub fn more(count: usize) -> Option<FieldFault> {
        (count > 0).then(|| FieldFault {
            field: "…".to_owned(),
            expected: format!("and {count} more"),
            got: "null".to_owned(),
            fix: "correct the ones above first".to_owned(),
        })
    }
}

/// Which protection of a revision was hit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MergeFault {
    pub field: &'static str,
    pub rule: &'static str,
    pub details: Vec<(&'static str, String)>,
    pub fix: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretFault {
    pub field: String,
    pub kind: &'static str,
    pub masked: String,
}

impl Refusal {
    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Refusal::Unreadable { address, .. } if address.is_note() => {
                "mend the note by hand: it is text in UTF-8; `lorelane doctor` lists every file that cannot be read"
                    .to_owned()
            }
            Refusal::Unreadable { .. } => {
                "mend the JSON by hand and try again; `lorelane doctor` lists every file that cannot be read"
                    .to_owned()
            }
            Refusal::Invalid { .. } => "correct the fields above and try again".to_owned(),
            Refusal::Merge { fault, .. } => fault.fix.clone(),
            Refusal::Conflict { address, .. } => {
                format!("read it again with `lorelane show {address}` and repeat the change")
            }
            Refusal::Exists { address, status: Some(Status::Archived) } => {
                format!("restore it with `lorelane restore {address}`, or choose another title")
            }
            Refusal::Exists { address, .. } => {
                format!("revise it with `lorelane update {address}`, or choose another title")
            }
            Refusal::TooSoon { address, retired_at: None } => {
                format!("bring it back with `lorelane restore {address}`, or choose another title")
            }
            Refusal::TooSoon { address, .. } => {
                format!("bring it back with `lorelane restore {address}`, choose another title, or wait a day")
            }
            Refusal::Missing { .. } => LIST_HINT.to_owned(),
            Refusal::Lifecycle { address, verb: LifecycleVerb::Delete, status: Status::Archived } => format!(
                "restore it with `lorelane restore {address}`, then retire it with `lorelane retire {address}`"
            ),
            Refusal::Lifecycle { address, verb: LifecycleVerb::Delete, .. } => {
                format!("retire it first with `lorelane retire {address}`")
            }
            Refusal::Lifecycle { address, status: Status::Active, .. } => {
                format!("it is active already: `lorelane show {address}`")
            }
            Refusal::Lifecycle { address, .. } => format!("restore it first with `lorelane restore {address}`"),
            Refusal::Secrets { found, .. } => secrets_hint(found).to_owned(),
        }
    }
}

fn invalid(faults: &[FieldFault]) -> String {
    let count = faults.len();
    let mut text = format!("{count} {} wrong", if count == 1 { "field is" } else { "fields are" });
    for FieldFault { field, expected, got, fix } in faults {
        text.push_str(&format!("\n  {field}: {expected}\n    got: {got}\n    fix: {fix}"));
    }
    text
}

fn details(fault: &MergeFault) -> String {
    fault.details.iter().map(|(key, value)| format!("\n  {key}: {value}")).collect()
}

fn taken(status: Option<Status>) -> String {
    match status {
        Some(status) => format!("a memory of that name is {status}"),
        None => "there is a file of that name that cannot be read".to_owned(),
    }
}

fn retired(at: Option<Timestamp>) -> String {
    match at {
        Some(at) => format!("it was retired at {at}, less than 24 hours ago"),
        None => "it was retired at a time the file does not say".to_owned(),
    }
}

fn secrets(address: &Address, found: &[SecretFault]) -> String {
    // A title makes the address, so with a secret in it neither is repeated.
    let mut text = match found.iter().any(|secret| secret.field == "title" || secret.field == "id") {
        true => "cannot save this memory: it would store a secret".to_owned(),
        false => format!("cannot save `{address}`: it would store a secret"),
    };
    for SecretFault { field, kind, masked } in found {
        text.push_str(&format!("\n  {field}: {kind} ({masked})"));
    }
    text
}

/// A name is judged as it was typed, so no setting stores a mark in its place.
fn secrets_hint(found: &[SecretFault]) -> &'static str {
    let is_in = |name: &str| found.iter().any(|secret| secret.field.split('.').next() == Some(name));
    if is_in("title") {
        "leave the value out of the title: the title names the file"
    } else if is_in("id") {
        "choose a name without the value: it names the file"
    } else if is_in("tags") {
        "choose a tag without the value, and say in the text where it is kept"
    } else {
        "leave the value out and say where it is kept; `lorelane config set secrets redact` stores a mark instead, or `lorelane trust` where lorelane.toml says so already"
    }
}

/// Custom categories are refused: the six are the contract between agents.
pub fn unknown_category(name: &str) -> String {
    let known = Category::ALL.map(Category::name).join(", ");
    format!(
        "`{name}` is no category: choose one of {known}; for a topic of your own add a tag (`--tag {name}`)"
    )
}
