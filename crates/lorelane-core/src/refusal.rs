//! Why a change is rejected. Every message says what was attempted, on what, why not, and what to do.

use crate::digest::Revision;
use crate::lifecycle::{LifecycleVerb, Status};
use crate::memory::{Address, Category};
use crate::time::Timestamp;

/// The hint for an address without a memory.
pub const LIST_HINT: &str = "`lorelane list` shows all memories";

#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Refusal {
    /// The dialect cannot parse the text at all.
    #[error("cannot read `{address}`: {why}")]
    Unreadable { address: Address, why: String },
    /// All invalid fields at once.
    #[error("cannot save `{address}`: {}", invalid(.faults))]
    Invalid { address: Address, faults: Vec<FieldFault> },
    /// The revision would remove something that may only grow, such as tags or history.
    #[error("cannot revise `{address}`: {}: {}{}", .fault.field, .fault.rule, details(.fault))]
    Merge { address: Address, fault: MergeFault },
    /// The file changed after the caller read it.
    #[error(
        "cannot revise `{address}`: it changed since it was read\n  expected: {expected}\n  current: {current}"
    )]
    Conflict { address: Address, expected: Revision, current: Revision },
    #[error("cannot create `{address}`: {}", taken(*.status))]
    Exists { address: Address, status: Option<Status> },
    /// It was retired less than a day ago, or at an unknown time.
    #[error("cannot create `{address}`: {}", retired(*.retired_at))]
    TooSoon { address: Address, retired_at: Option<Timestamp> },
    #[error("cannot find `{address}`: there is no such memory")]
    Missing { address: Address },
    #[error("cannot {} `{address}`: it is {status}", .verb.name())]
    Lifecycle { address: Address, verb: LifecycleVerb, status: Status },
    #[error("cannot supersede `{address}` by `{by}`: {why}")]
    Successor { address: Address, by: Address, why: String },
    #[error("{}", secrets(.address, .found))]
    Secrets { address: Address, found: Vec<SecretFault> },
}

/// One value that is invalid for its field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldFault {
    pub field: String,
    pub expected: String,
    /// The value as JSON, truncated at 200 characters.
    pub got: String,
    pub fix: String,
}

impl FieldFault {
    /// The last entry of a truncated list: a hostile record can have thousands of faults.
    pub fn more(count: usize) -> Option<FieldFault> {
        (count > 0).then(|| FieldFault {
            field: "…".to_owned(),
            expected: format!("and {count} more"),
            got: "null".to_owned(),
            fix: "fix the fields above first".to_owned(),
        })
    }
}

/// The protection that a revision violates.
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
    /// One field is invalid.
    pub fn of_field(address: &Address, field: &str, expected: &str, got: &str, fix: &str) -> Refusal {
        let [field, expected, got, fix] = [field, expected, got, fix].map(str::to_owned);
        Refusal::Invalid { address: address.clone(), faults: vec![FieldFault { field, expected, got, fix }] }
    }

    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Refusal::Unreadable { address, .. } if address.is_auto() => {
                "fix the file: it must be text in UTF-8 with frontmatter between two `---` lines; `lorelane doctor` lists every file that cannot be read"
                    .to_owned()
            }
            Refusal::Unreadable { address, .. } if address.is_note() => {
                "fix the file: a note is text in UTF-8; `lorelane doctor` lists every file that cannot be read"
                    .to_owned()
            }
            Refusal::Unreadable { .. } => {
                "fix the JSON and try again; `lorelane doctor` lists every file that cannot be read"
                    .to_owned()
            }
            Refusal::Invalid { .. } => "fix the fields above and try again".to_owned(),
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
                format!("restore it with `lorelane restore {address}`, or choose another title")
            }
            Refusal::TooSoon { address, .. } => {
                format!("restore it with `lorelane restore {address}`, choose another title, or wait a day")
            }
            Refusal::Missing { .. } => LIST_HINT.to_owned(),
            Refusal::Lifecycle { address, verb: LifecycleVerb::Delete, status: Status::Archived } => format!(
                "restore it with `lorelane restore {address}`, then retire it with `lorelane retire {address}`"
            ),
            Refusal::Lifecycle { address, verb: LifecycleVerb::Delete, .. } => {
                format!("retire it first with `lorelane retire {address}`")
            }
            Refusal::Lifecycle { address, status: Status::Active, .. } => {
                format!("nothing to do; `lorelane show {address}` shows it")
            }
            Refusal::Lifecycle { address, .. } => format!("restore it first with `lorelane restore {address}`"),
            Refusal::Successor { .. } => {
                "name a memory that holds now; `lorelane create` makes a new one".to_owned()
            }
            Refusal::Secrets { found, .. } => secrets_hint(found).to_owned(),
        }
    }
}

fn invalid(faults: &[FieldFault]) -> String {
    let count = faults.len();
    let mut text = format!("{count} {} invalid", if count == 1 { "field is" } else { "fields are" });
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
        Some(status) => format!("it already exists ({status})"),
        None => "a file with that name exists and cannot be read".to_owned(),
    }
}

fn retired(at: Option<Timestamp>) -> String {
    match at {
        Some(at) => format!("it was retired at {at}, less than 24 hours ago"),
        None => "it was retired, and its file does not say when".to_owned(),
    }
}

fn secrets(address: &Address, found: &[SecretFault]) -> String {
    // The address is derived from the title, so if the title has the secret, neither is printed.
    let mut text = match found.iter().any(|secret| secret.field == "title" || secret.field == "id") {
        true => "cannot save this memory: it would store a secret".to_owned(),
        false => format!("cannot save `{address}`: it would store a secret"),
    };
    for SecretFault { field, kind, masked } in found {
        text.push_str(&format!("\n  {field}: {kind} ({masked})"));
    }
    text
}

/// A secret in a title, id or tag is rejected in redact mode too: these name files or are lowercased, so a
/// placeholder cannot replace the value there.
fn secrets_hint(found: &[SecretFault]) -> &'static str {
    let is_in = |name: &str| found.iter().any(|secret| secret.field.split('.').next() == Some(name));
    if is_in("title") {
        "remove the value from the title, because the file is named after it"
    } else if is_in("id") {
        "choose an id without the value, because the file is named after it"
    } else if is_in("tags") {
        "choose a tag without the value, and write in the text where the value is stored"
    } else {
        "remove the value and write where it is stored; `lorelane config set secrets redact` saves a placeholder instead, or run `lorelane trust` if lorelane.toml already sets that"
    }
}

/// The error for a custom category: agents rely on the six.
pub fn unknown_category(name: &str) -> String {
    let known = Category::ALL.map(Category::name).join(", ");
    format!(
        "'{name}' is not a category: choose one of {known}; for another topic, add a tag (`--tag {name}`)"
    )
}
