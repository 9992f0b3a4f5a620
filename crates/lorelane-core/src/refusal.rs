//! Why a change is not made. Every refusal says what was attempted, on what, why not, and what to do.

use crate::digest::Revision;
use crate::lifecycle::{Status, Verb};
use crate::memory::{Address, Category};
use crate::time::Timestamp;
use std::fmt;

#[derive(Clone, Debug, PartialEq)]
pub enum Refusal {
    /// The text is not what the dialect reads at all.
    Unreadable {
        address: Address,
        why: String,
    },
    /// Everything that is wrong with the fields, at once.
    Invalid {
        address: Address,
        faults: Vec<Fault>,
    },
    /// The revision would lose what only grows.
    Merge {
        address: Address,
        fault: MergeFault,
    },
    /// The file is not the one that was read.
    Conflict {
        address: Address,
        expected: Revision,
        current: Revision,
    },
    Exists {
        address: Address,
        status: Option<Status>,
    },
    /// It was retired a moment ago, or at a time nobody knows.
    TooSoon {
        address: Address,
        retired_at: Option<Timestamp>,
    },
    Missing {
        address: Address,
    },
    Lifecycle {
        address: Address,
        verb: Verb,
        status: Status,
    },
    Secrets {
        address: Address,
        found: Vec<SecretFault>,
    },
}

/// One value that is not as its field demands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    pub field: String,
    pub expected: String,
    /// The value as JSON, cut at 200 characters.
    pub got: String,
    pub fix: String,
}

impl Fault {
    /// The last of a list that was cut: nobody reads the thousandth fault, and a hostile record has many.
    pub fn more(count: usize) -> Option<Fault> {
        (count > 0).then(|| Fault {
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
            Refusal::Missing { .. } => "`lorelane list` shows what there is".to_owned(),
            Refusal::Lifecycle { address, verb: Verb::Purge, status: Status::Archived } => format!(
                "restore it with `lorelane restore {address}`, then retire it with `lorelane retire {address}`"
            ),
            Refusal::Lifecycle { address, verb: Verb::Purge, .. } => {
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

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Unreadable { address, why } => write!(f, "cannot read `{address}`: {why}"),
            Refusal::Invalid { address, faults } => {
                let count = faults.len();
                write!(
                    f,
                    "cannot save `{address}`: {count} {} wrong",
                    if count == 1 { "field is" } else { "fields are" }
                )?;
                faults.iter().try_for_each(|fault| {
                    write!(
                        f,
                        "\n  {}: {}\n    got: {}\n    fix: {}",
                        fault.field, fault.expected, fault.got, fault.fix
                    )
                })
            }
            Refusal::Merge { address, fault } => {
                write!(f, "cannot revise `{address}`: {} is {}", fault.field, fault.rule)?;
                fault.details.iter().try_for_each(|(key, value)| write!(f, "\n  {key}: {value}"))
            }
            Refusal::Conflict { address, expected, current } => write!(
                f,
                "cannot revise `{address}`: it changed since it was read\n  expected: {expected}\n  current: {current}"
            ),
            Refusal::Exists { address, status: Some(status) } => {
                write!(f, "cannot create `{address}`: a memory of that name is {status}")
            }
            Refusal::Exists { address, status: None } => {
                write!(f, "cannot create `{address}`: there is a file of that name that cannot be read")
            }
            Refusal::TooSoon { address, retired_at: Some(at) } => {
                write!(f, "cannot create `{address}`: it was retired at {at}, less than 24 hours ago")
            }
            Refusal::TooSoon { address, retired_at: None } => {
                write!(f, "cannot create `{address}`: it was retired at a time the file does not say")
            }
            Refusal::Missing { address } => write!(f, "cannot find `{address}`: there is no such memory"),
            Refusal::Lifecycle { address, verb, status } => {
                write!(f, "cannot {} `{address}`: it is {status}", verb.name())
            }
            Refusal::Secrets { address, found } => {
                // A title makes the address, so with a secret in it neither is repeated.
                match found.iter().any(|secret| secret.field == "title" || secret.field == "id") {
                    true => write!(f, "cannot save this memory: it would store a secret")?,
                    false => write!(f, "cannot save `{address}`: it would store a secret")?,
                }
                found.iter().try_for_each(|secret| {
                    write!(f, "\n  {}: {} ({})", secret.field, secret.kind, secret.masked)
                })
            }
        }
    }
}

impl std::error::Error for Refusal {}

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
