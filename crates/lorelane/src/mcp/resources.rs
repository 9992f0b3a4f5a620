//! Memories as resources, `lorelane://records/CATEGORY/SLUG` and `lorelane://notes/PATH`: the text of the file.
//!
//! Not fenced, unlike the answers of tools: a resource has a MIME type, and clients treat it as data.

use super::cursor;
use crate::serve::WorkspaceFactory;
use lorelane_core::corpus::MemorySummary;
use lorelane_core::fence;
use lorelane_core::memory::{Address, LaneId};
use lorelane_engine::index::ListFilter;
use lorelane_engine::workspace::Failure;

const RECORDS: &str = "lorelane://records/";
const NOTES: &str = "lorelane://notes/";
pub(super) const RECORD_TEMPLATE: &str = "lorelane://records/{category}/{slug}";
pub(super) const NOTE_TEMPLATE: &str = "lorelane://notes/{+path}";
pub(super) const RECORD_MIME: &str = "application/json";
pub(super) const NOTE_MIME: &str = "text/markdown";
const PAGE: usize = 100;
/// Titles are cut: clients show the list to a model.
const TITLE_MAX: usize = 200;

/// A memory in the list.
#[derive(Debug)]
pub(super) struct ListedResource {
    pub(super) uri: String,
    pub(super) address: Address,
    pub(super) title: String,
    pub(super) about: String,
}

#[derive(Debug)]
pub(super) enum ResourceError {
    /// Not one of our cursors.
    Cursor,
    /// No memory at this URI.
    Missing,
    Failure(Failure),
}

impl From<Failure> for ResourceError {
    fn from(failure: Failure) -> ResourceError {
        match failure {
            Failure::Unclear(_) | Failure::Refused(lorelane_core::refusal::Refusal::Missing { .. }) => {
                ResourceError::Missing
            }
            other => ResourceError::Failure(other),
        }
    }
}

pub(super) fn uri(address: &Address) -> String {
    match address.lane() {
        LaneId::Notes => format!("{NOTES}{}", escaped(address.name())),
        LaneId::Auto => format!("{RECORDS}{}", escaped(&address.to_string())),
        LaneId::Records => format!("{RECORDS}{address}"),
    }
}

pub(super) fn mime(address: &Address) -> &'static str {
    if address.category().is_none() { NOTE_MIME } else { RECORD_MIME }
}

/// The address in a URI. Only the canonical spelling is accepted, so that a memory has one URI.
fn address(name: &str) -> Option<Address> {
    let address = match name.strip_prefix(NOTES) {
        Some(path) => Address::note(&fence::spelled_out(path)?)?,
        None => Address::parse(&fence::spelled_out(name.strip_prefix(RECORDS)?)?)?,
    };
    (uri(&address) == name).then_some(address)
}

/// Percent-encodes a path.
fn escaped(path: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
    path.bytes()
        .map(|byte| if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

/// One page of all memories, retired and archived ones included, by address, with the cursor of the next page.
pub(super) fn list(
    factory: &WorkspaceFactory,
    after: Option<&str>,
) -> Result<(Vec<ListedResource>, Option<String>), ResourceError> {
    let last = match after {
        Some(text) => Some(cursor::key(text).ok_or(ResourceError::Cursor)?),
        None => None,
    };
    let mut now = None;
    let mut entries = match factory.open() {
        Ok(mut workspace) => {
            now = Some(workspace.now());
            workspace.recall().entries(ListFilter { kind: None, status: None })?
        }
        // A project without a store has no memories to list.
        Err(Failure::NoStore { .. }) => Vec::new(),
        Err(failure) => return Err(failure.into()),
    };
    let key = |entry: &MemorySummary| entry.address.to_string();
    entries.sort_by_cached_key(key);
    let (page, next) = cursor::page(entries, last.as_deref(), PAGE, key);
    let listed = page.into_iter().map(|entry| ListedResource {
        uri: uri(&entry.address),
        title: fence::inline(&entry.title, TITLE_MAX),
        about: format!(
            "{} ({})",
            entry.kind.display(),
            now.map_or(entry.status.name(), |now| entry.state(now))
        ),
        address: entry.address,
    });
    Ok((listed.collect(), next))
}

/// The text of a memory's file, and its MIME type.
pub(super) fn read(factory: &WorkspaceFactory, uri: &str) -> Result<(String, &'static str), ResourceError> {
    let address = address(uri).ok_or(ResourceError::Missing)?;
    Ok((factory.open()?.load(&address)?.document.text, mime(&address)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_memory_has_one_uri() {
        for own in [
            "lorelane://records/decision/use-jwt",
            "lorelane://notes/plans/auth",
            "lorelane://notes/log%20in%20gr%C3%B6%C3%9Fe%3F",
        ] {
            assert_eq!(address(own).map(|address| uri(&address)).as_deref(), Some(own));
        }
        for foreign in [
            "lorelane://records/decisions/use-jwt",
            "lorelane://records/decision/use-jwt.json",
            "lorelane://records/decision/../use-jwt",
            "lorelane://records/a/decision/use-jwt",
            "lorelane://records/notes/plans/auth",
            "lorelane://notes/plans/auth.md",
            "lorelane://notes/..%2Fx",
            "lorelane://notes/log in",
            "lorelane://notes/gr%c3%b6sse",
            "lorelane://notes/%F",
            "lorelane://notes/%FF",
            "file:///etc/passwd",
            "",
        ] {
            assert_eq!(address(foreign), None, "{foreign}");
        }
    }
}
