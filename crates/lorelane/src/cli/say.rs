//! Words for people and documents for machines. Results go to stdout, everything else to stderr.

use lorelane_core::change::{Deed, Notice, Outcome, Receipt};
use lorelane_core::fence;
use lorelane_core::json::{Format, Json, Object};
use lorelane_core::mark::MarkKind;
use lorelane_core::refusal::Refusal;
use lorelane_core::secret;
use lorelane_core::text::{one_line, printable};
use lorelane_engine::backend::StoreError;
use lorelane_engine::workspace::{Failure, Workspace};
use std::io::{BufRead, Write};

/// So many files that cannot be read are named.
const NOT_READ_MAX: usize = 5;

/// Prints a result. A reader that went away (`| head`) is no error.
pub fn out(text: &str) {
    let _ = std::io::stdout().write_all(printable(text).as_bytes());
}

/// Prints a file's own bytes.
pub fn out_raw(text: &str) {
    let _ = std::io::stdout().write_all(text.as_bytes());
}

pub fn err(text: &str) {
    let _ = writeln!(std::io::stderr(), "{}", printable(&secret::masked(text)));
}

/// Asks a person, who can only say yes by saying so.
pub fn ask(question: &str) -> bool {
    err(&format!("{question} [y/N]"));
    let mut answer = String::new();
    let _ = std::io::stdin().lock().read_line(&mut answer);
    matches!(answer.trim(), "y" | "Y" | "yes")
}

/// A document: one object, with the version of its shape.
pub fn document(members: impl IntoIterator<Item = (&'static str, Json)>) {
    let mut object = Object::new();
    object.set("v", Json::number(1));
    members.into_iter().for_each(|(key, value)| object.set(key, value));
    out_json(&Json::Object(object), Format::FILE);
}

/// Prints JSON. Agents read it too, so what would act or hide in it is written by its number, as the server does.
pub fn out_json(json: &Json, format: Format) {
    out_raw(&format!("{}\n", fence::json(&json.render(format))));
}

pub fn notices(notices: &[Notice]) {
    for notice in notices {
        let head = if matches!(notice, Notice::Fixed { .. }) { "fixed" } else { "warning" };
        err(&format!("{head}: {}", notice.text()));
    }
}

/// Warns of files that an answer was made without.
pub fn not_read(workspace: &mut Workspace) -> Result<(), Failure> {
    let problems = workspace.maintenance().not_read()?;
    for (path, what) in problems.iter().take(NOT_READ_MAX) {
        err(&format!("warning: {} is left out: {what}", path.display()));
    }
    if problems.len() > NOT_READ_MAX {
        err(&format!("warning: {} more are left out; run `lorelane doctor`", problems.len() - NOT_READ_MAX));
    }
    Ok(())
}

/// Says what failed, in the block names that agents know, and what to do.
pub fn failure(failure: &Failure) {
    let code = code(failure).map(|code| format!("[{code}]")).unwrap_or_default();
    err(&format!("error{code}: {failure}\nhint: {}", failure.hint()));
}

fn code(failure: &Failure) -> Option<&'static str> {
    Some(match failure {
        Failure::Refused(refusal) => match refusal {
            Refusal::Unreadable { .. } => "READ_ERROR",
            Refusal::Invalid { .. } => "VALIDATION_ERROR",
            Refusal::Merge { .. } => "MERGE_ERROR",
            Refusal::Conflict { .. } => "OCC_CONFLICT",
            Refusal::Exists { .. } => "CREATE_OVERWRITE_ERROR",
            Refusal::TooSoon { .. } => "ANTI_RESURRECTION_ERROR",
            Refusal::Lifecycle { .. } => "LIFECYCLE_ERROR",
            Refusal::Secrets { .. } => "SECRET_ERROR",
            Refusal::Missing { .. } => return None,
        },
        Failure::Store(StoreError::LockTimeout { .. }) => "LOCK_TIMEOUT_ERROR",
        Failure::Misconfigured(_) => "CONFIG_ERROR",
        Failure::Untrusted { .. } => "TRUST_ERROR",
        Failure::Outside { .. } | Failure::Store(StoreError::Symlink { .. }) => "PATH_ERROR",
        _ => return None,
    })
}

/// Says what was done, or would be.
pub fn receipt(receipt: &Receipt, json: bool, dry_run: bool) {
    notices(&receipt.notices);
    if json {
        return document([
            ("receipt", receipt.number.map_or(Json::Null, Json::number)),
            ("at", Json::text(receipt.at.to_string())),
            ("dry_run", Json::Bool(dry_run)),
            ("outcomes", Json::List(receipt.outcomes.iter().map(outcome_json).collect())),
        ]);
    }
    let text: String =
        receipt.outcomes.iter().map(|outcome| format!("{}\n", deed(outcome, dry_run))).collect();
    out(&text);
}

fn deed(outcome: &Outcome, dry_run: bool) -> String {
    let address = &outcome.address;
    let did = |done: &str, planned: &str| match dry_run {
        true => format!("would {planned} {address}"),
        false => format!("{done} {address}"),
    };
    match &outcome.deed {
        Deed::Created => did("created", "create"),
        Deed::Revised { renamed_from: Some((old, _)), .. } => {
            format!("{} (renamed from {old})", did("updated", "update"))
        }
        Deed::Revised { .. } => did("updated", "update"),
        Deed::Stepped { to, reason } => {
            let be = if dry_run { "would be" } else { "is now" };
            let because = if reason.is_empty() { String::new() } else { format!(": {}", one_line(reason)) };
            format!("{address} {be} {to}{because}")
        }
        Deed::Already(status) => format!("{} as it is ({status})", did("left", "leave")),
        Deed::Purged => did("deleted", "delete"),
        Deed::Marked(MarkKind::Pin) => did("pinned", "pin"),
        Deed::Marked(MarkKind::Unpin) => did("unpinned", "unpin"),
        Deed::Marked(MarkKind::Alias { to }) => format!("{address} now leads to {to}"),
        Deed::Marked(MarkKind::Origin(_)) => did("noted the origin of", "note the origin of"),
        Deed::Marked(MarkKind::Reject(_)) => did("rejected", "reject"),
        Deed::Undone if outcome.title.is_empty() => format!("undone: {address} is gone again"),
        Deed::Undone => format!("undone: {address} reads as before"),
    }
}

fn outcome_json(outcome: &Outcome) -> Json {
    let name = match &outcome.deed {
        Deed::Created => "created",
        Deed::Revised { .. } => "updated",
        Deed::Stepped { to, .. } => to.name(),
        Deed::Already(_) => "unchanged",
        Deed::Purged => "deleted",
        Deed::Marked(kind) => kind.name(),
        Deed::Undone => "undone",
    };
    let mut object = Object::new();
    object.set("did", Json::text(name));
    object.set("address", Json::text(outcome.address.to_string()));
    object.set("path", Json::text(outcome.path.as_str()));
    object.set("title", Json::text(&outcome.title));
    if let Deed::Revised { renamed_from: Some((old, _)), .. } = &outcome.deed {
        object.set("renamed_from", Json::text(old.to_string()));
    }
    Json::Object(object)
}
