//! Parses arguments (categories, times, assignments) and reads the files they name.

use super::{CliError, Session};
use lorelane_core::change::Assignment;
use lorelane_core::dialect::notes::{self, NOTE_MAX_BYTES};
use lorelane_core::dialect::records::RECORD_MAX_BYTES;
use lorelane_core::memory::{Address, Category, MemoryKind, NoteType};
use lorelane_core::refusal::unknown_category;
use lorelane_core::text::one_line;
use lorelane_core::time::Timestamp;
use lorelane_engine::disk::open_given;
use std::io::Read;
use std::path::Path;

/// A category of records, or a type of notes or of Claude Code's memories.
pub(super) fn kind(name: &str) -> Result<MemoryKind, CliError> {
    match MemoryKind::parse(name) {
        Some(kind) => Ok(kind),
        None => category(name).map(MemoryKind::Record),
    }
}

pub(super) fn category(name: &str) -> Result<Category, CliError> {
    Category::parse(name)
        .ok_or_else(|| CliError::usage(unknown_category(name), "`lorelane create --help` shows an example"))
}

pub(super) fn note_type(name: &str) -> Result<NoteType, CliError> {
    NoteType::parse(name).ok_or_else(|| {
        let known = NoteType::ALL.map(NoteType::name).join(", ");
        CliError::usage(
            format!("'{}' is not a type of notes", one_line(name)),
            format!("choose one of {known}"),
        )
    })
}

pub(super) fn note_named(name: &str) -> Result<Address, CliError> {
    notes::named(name).map_err(|fault| CliError::usage(fault.to_string(), fault.hint()))
}

pub(super) fn assignments(set: &[String]) -> Result<Vec<Assignment>, CliError> {
    let read = |text: &String| match text.split_once('=') {
        Some((path, value)) if !path.trim().is_empty() => {
            Ok(Assignment { path: path.trim().to_owned(), value: value.to_owned() })
        }
        _ => Err(CliError::usage(format!("cannot set '{text}': it has no value"), "write --set PATH=VALUE")),
    };
    set.iter().map(read).collect()
}

/// A time in the past: `12h`, `30d`, `2w` or a date.
pub(super) fn moment(text: &str, now: Timestamp) -> Result<Timestamp, CliError> {
    Timestamp::typed(text, now).map_err(|fault| {
        CliError::usage(format!("'{text}' is {fault}"), "write 12h, 30d, 2w or a date such as 2026-01-31")
    })
}

/// Reads a file or standard input, up to the size limit of a record.
pub(super) fn read_record(session: &Session<'_>, path: &Path) -> Result<String, CliError> {
    read_text(session, path, RECORD_MAX_BYTES, "give a file with one JSON object")
}

pub(super) fn read_note(session: &Session<'_>, path: &Path) -> Result<String, CliError> {
    read_text(session, path, NOTE_MAX_BYTES, "give a file with Markdown")
}

fn read_text(session: &Session<'_>, path: &Path, max_bytes: usize, hint: &str) -> Result<String, CliError> {
    let name = if path == Path::new("-") { "standard input".to_owned() } else { path.display().to_string() };
    let fault = |why: String| CliError::usage(format!("cannot read {name}: {why}"), hint);
    let limit = max_bytes as u64 + 1;
    let mut bytes = Vec::new();
    let read = if path == Path::new("-") {
        std::io::stdin().lock().take(limit).read_to_end(&mut bytes)
    } else {
        open_given(&session.env.cwd.join(path)).and_then(|file| file.take(limit).read_to_end(&mut bytes))
    };
    read.map_err(|why| fault(why.to_string()))?;
    if bytes.len() > max_bytes {
        return Err(fault(format!("it is larger than {} KiB", max_bytes / 1024)));
    }
    let text = String::from_utf8(bytes)
        .map_err(|why| fault(format!("it is not UTF-8 from byte {}", why.utf8_error().valid_up_to())))?;
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}
