//! Prints results to stdout, as text or JSON, and everything else to stderr.

use crate::view::{self, ReceiptView};
use lorelane_core::change::{Effect, Notice, Outcome, Receipt};
use lorelane_core::fence;
use lorelane_core::lifecycle::Status;
use lorelane_core::mark::MarkKind;
use lorelane_core::refusal::Refusal;
use lorelane_core::secret;
use lorelane_core::text::{one_line, printable};
use lorelane_engine::backend::StoreError;
use lorelane_engine::workspace::{Failure, Workspace};
use serde::Serialize;
use std::fmt::Display;
use std::io::{BufRead, Write};

/// Limit of unreadable files that are named.
const NOT_READ_MAX: usize = 5;

/// Limit of characters in a line that quotes a memory.
pub const LINE_MAX: usize = 200;

/// Prints a result. A closed pipe (`| head`) is not an error.
pub fn out(text: &str) {
    let _ = std::io::stdout().write_all(printable(text).as_bytes());
}

/// Prints text unchanged, control characters included.
pub fn out_raw(text: &str) {
    let _ = std::io::stdout().write_all(text.as_bytes());
}

pub fn err(text: &str) {
    let _ = writeln!(std::io::stderr(), "{}", printable(&secret::masked(text)));
}

/// Asks a question on the terminal. Anything but yes is no.
pub fn ask(question: &str) -> bool {
    err(&format!("{question} [y/N]"));
    let mut answer = String::new();
    let _ = std::io::stdin().lock().read_line(&mut answer);
    matches!(answer.trim(), "y" | "Y" | "yes")
}

/// A document with the version of its format as the first field.
#[derive(Serialize)]
struct VersionedDocument<'d, D> {
    v: u8,
    #[serde(flatten)]
    document: &'d D,
}

/// Prints a JSON document. Agents read it too, so markup and invisible characters are escaped, as in the MCP server.
pub fn document(document: &impl Serialize) {
    out_raw(&format!("{}\n", fence::json(&view::pretty(&VersionedDocument { v: 1, document }))));
}

/// Prints a JSON document whose format is not ours.
pub fn foreign_document(document: &impl Serialize) {
    out_raw(&format!("{}\n", fence::json(&view::pretty(document))));
}

/// Prints one of many JSON documents, on a line of its own.
pub fn line(document: &impl Serialize) {
    out_raw(&format!("{}\n", fence::json(&view::line(document))));
}

/// `1 memory`, `2 memories`.
pub fn count<N: Copy + Display + PartialEq + From<u8>>(count: N, one: &str, many: &str) -> String {
    let noun = if count == N::from(1) { one } else { many };
    format!("{count} {noun}")
}

pub fn notices(notices: &[Notice]) {
    for notice in notices {
        let label = if matches!(notice, Notice::Fixed { .. }) { "fixed" } else { "warning" };
        err(&format!("{label}: {}", notice.text()));
    }
}

/// Warns about files that could not be read and are missing from the result.
pub fn not_read(workspace: &mut Workspace) -> Result<(), Failure> {
    let problems = workspace.maintenance().not_read()?;
    for (path, what) in problems.iter().take(NOT_READ_MAX) {
        err(&format!("warning: skipped {}: {what}", path.display()));
    }
    if problems.len() > NOT_READ_MAX {
        let more = count(problems.len() - NOT_READ_MAX, "more file", "more files");
        err(&format!("warning: skipped {more}; run `lorelane doctor`"));
    }
    Ok(())
}

/// Prints an error with its code, if the `claude-memory` scripts have one for it, and a hint.
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
            Refusal::Missing { .. } | Refusal::Successor { .. } => return None,
        },
        Failure::Store(StoreError::LockTimeout { .. }) => "LOCK_TIMEOUT_ERROR",
        Failure::Misconfigured(_) => "CONFIG_ERROR",
        Failure::Untrusted { .. } => "TRUST_ERROR",
        Failure::Outside { .. } | Failure::Store(StoreError::Symlink { .. }) => "PATH_ERROR",
        _ => return None,
    })
}

/// Prints what was done, or would be.
pub fn receipt(receipt: &Receipt, json: bool, dry_run: bool) {
    notices(&receipt.notices);
    if json {
        return document(&ReceiptView::of(receipt, dry_run));
    }
    let text: String =
        receipt.outcomes.iter().map(|outcome| format!("{}\n", outcome_text(outcome, dry_run))).collect();
    out(&text);
}

/// Prints why nothing was changed.
pub fn unchanged(receipt: &Receipt, why: &str) {
    notices(&receipt.notices);
    for outcome in &receipt.outcomes {
        out(&format!("No change: {} {why}\n", outcome.address));
    }
}

fn outcome_text(outcome: &Outcome, dry_run: bool) -> String {
    let address = &outcome.address;
    let did = |done: &str, planned: &str| match dry_run {
        true => format!("Would {planned} {address}"),
        false => format!("{done} {address}"),
    };
    match &outcome.effect {
        Effect::Created => did("Created", "create"),
        Effect::Revised { renamed_from: Some((old, _)), .. } => {
            format!("{} (renamed from {old})", did("Updated", "update"))
        }
        Effect::Revised { .. } => did("Updated", "update"),
        Effect::Transitioned { to, reason } => {
            let did = match to {
                Status::Active => did("Restored", "restore"),
                Status::Retired => did("Retired", "retire"),
                Status::Archived => did("Archived", "archive"),
            };
            let because = if reason.is_empty() { String::new() } else { format!(": {}", one_line(reason)) };
            format!("{did}{because}")
        }
        Effect::Already(status) => format!("No change: {address} is already {status}"),
        Effect::Deleted => did("Deleted", "delete"),
        Effect::Marked(MarkKind::Pin) => did("Pinned", "pin"),
        Effect::Marked(MarkKind::Unpin) => did("Unpinned", "unpin"),
        Effect::Marked(MarkKind::Alias { to }) => format!("{} as an alias of {to}", did("Marked", "mark")),
        Effect::Marked(MarkKind::Origin(_)) => did("Recorded the origin of", "record the origin of"),
        Effect::Marked(MarkKind::Superseded { by }) => format!("{} by {by}", did("Superseded", "supersede")),
        Effect::Marked(MarkKind::Confirm { .. }) => did("Confirmed", "confirm"),
        Effect::Marked(MarkKind::Archived(_)) => did("Archived", "archive"),
        Effect::Marked(MarkKind::Reject(_)) => did("Rejected", "reject"),
        Effect::Undone if outcome.title.is_empty() => did("Removed", "remove"),
        Effect::Undone => did("Restored the previous contents of", "restore the previous contents of"),
    }
}
