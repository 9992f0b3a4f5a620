//! Words for people and documents for machines. Results go to stdout, everything else to stderr.

use crate::view::{self, ReceiptView};
use lorelane_core::change::{Effect, Notice, Outcome, Receipt};
use lorelane_core::fence;
use lorelane_core::mark::MarkKind;
use lorelane_core::refusal::Refusal;
use lorelane_core::secret;
use lorelane_core::text::{one_line, printable};
use lorelane_engine::backend::StoreError;
use lorelane_engine::workspace::{Failure, Workspace};
use serde::Serialize;
use std::io::{BufRead, Write};

/// So many files that cannot be read are named.
const NOT_READ_MAX: usize = 5;

/// The characters of a line that quotes a memory.
pub const LINE_MAX: usize = 200;

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

/// A document with the version of its shape before its own fields.
#[derive(Serialize)]
struct VersionedDocument<'d, D> {
    v: u8,
    #[serde(flatten)]
    document: &'d D,
}

/// Prints a document. Agents read it too, so what would act or hide in it is written by its number, as the server does.
pub fn document(document: &impl Serialize) {
    out_raw(&format!("{}\n", fence::json(&view::pretty(&VersionedDocument { v: 1, document }))));
}

/// Prints one of many documents, on a line of its own.
pub fn line(document: &impl Serialize) {
    out_raw(&format!("{}\n", fence::json(&view::line(document))));
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
        return document(&ReceiptView::of(receipt, dry_run));
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
        Effect::Created => did("created", "create"),
        Effect::Revised { renamed_from: Some((old, _)), .. } => {
            format!("{} (renamed from {old})", did("updated", "update"))
        }
        Effect::Revised { .. } => did("updated", "update"),
        Effect::Transitioned { to, reason } => {
            let be = if dry_run { "would be" } else { "is now" };
            let because = if reason.is_empty() { String::new() } else { format!(": {}", one_line(reason)) };
            format!("{address} {be} {to}{because}")
        }
        Effect::Already(status) => format!("{} as it is ({status})", did("left", "leave")),
        Effect::Deleted => did("deleted", "delete"),
        Effect::Marked(MarkKind::Pin) => did("pinned", "pin"),
        Effect::Marked(MarkKind::Unpin) => did("unpinned", "unpin"),
        Effect::Marked(MarkKind::Alias { to }) => format!("{address} now leads to {to}"),
        Effect::Marked(MarkKind::Origin(_)) => did("noted the origin of", "note the origin of"),
        Effect::Marked(MarkKind::Reject(_)) => did("rejected", "reject"),
        Effect::Undone if outcome.title.is_empty() => format!("undone: {address} is gone again"),
        Effect::Undone => format!("undone: {address} reads as before"),
    }
}
