//! Memories as resources: `lorelane://records/CATEGORY/SLUG`, each the text of its file.

use super::cursor;
use super::desk::Desk;
use lorelane_core::corpus::Entry;
use lorelane_core::memory::Address;
use lorelane_core::text::one_line;
use lorelane_engine::index::Wanted;
use lorelane_engine::workspace::Failure;

const RECORDS: &str = "lorelane://records/";
pub(super) const TEMPLATE: &str = "lorelane://records/{category}/{slug}";
pub(super) const MIME: &str = "application/json";
const PAGE: usize = 100;

/// A memory in the list.
#[derive(Debug)]
pub(super) struct Listed {
    pub(super) uri: String,
    pub(super) address: Address,
    pub(super) title: String,
    pub(super) about: String,
}

#[derive(Debug)]
pub(super) enum Fault {
    /// Not a cursor of ours.
    Cursor,
    /// No memory of this name.
    Missing,
    Failure(Failure),
}

impl From<Failure> for Fault {
    fn from(failure: Failure) -> Fault {
        match failure {
            Failure::Unclear(_) | Failure::Refused(lorelane_core::refusal::Refusal::Missing { .. }) => {
                Fault::Missing
            }
            other => Fault::Failure(other),
        }
    }
}

pub(super) fn uri(address: &Address) -> String {
    format!("{RECORDS}{address}")
}

/// The address in a URI of ours, as it stands there: a resource has one name.
fn address(uri: &str) -> Option<Address> {
    let name = uri.strip_prefix(RECORDS)?;
    Address::parse(name).filter(|address| address.to_string() == name)
}

/// One page of the memories of every lifecycle, by address, and the cursor of the next.
pub(super) fn list(desk: &Desk, after: Option<&str>) -> Result<(Vec<Listed>, Option<String>), Fault> {
    let last = match after {
        Some(text) => Some(cursor::key(text).ok_or(Fault::Cursor)?),
        None => None,
    };
    let mut entries = match desk.open() {
        Ok(mut workspace) => workspace.entries(Wanted { kind: None, status: None })?,
        // A project without memories has none to list.
        Err(Failure::NoStore { .. }) => Vec::new(),
        Err(failure) => return Err(failure.into()),
    };
    let key = |entry: &Entry| entry.address.to_string();
    entries.sort_by_cached_key(key);
    let (page, next) = cursor::page(entries, last.as_deref(), PAGE, key);
    let listed = page.into_iter().map(|entry| Listed {
        uri: uri(&entry.address),
        title: one_line(&entry.title),
        about: format!("{} ({})", entry.kind.display(), entry.status),
        address: entry.address,
    });
    Ok((listed.collect(), next))
}

pub(super) fn read(desk: &Desk, uri: &str) -> Result<String, Fault> {
    let address = address(uri).ok_or(Fault::Missing)?;
    Ok(desk.open()?.load(&address)?.text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_memory_has_one_uri() {
        let own = "lorelane://records/decision/use-jwt";
        assert_eq!(address(own).map(|address| uri(&address)).as_deref(), Some(own));
        for foreign in [
            "lorelane://records/decisions/use-jwt",
            "lorelane://records/decision/use-jwt.json",
            "lorelane://records/decision/../use-jwt",
            "lorelane://records/a/decision/use-jwt",
            "lorelane://notes/decision/use-jwt",
            "file:///etc/passwd",
            "",
        ] {
            assert_eq!(address(foreign), None, "{foreign}");
        }
    }
}
