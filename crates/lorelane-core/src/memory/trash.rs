//! Deleted notes, and archived memories of Claude Code: their folders and their names in them.

use super::address::{ARCHIVE, Address, TRASH};
use crate::time::Timestamp;

/// How many names are tried.
const TRIES_MAX: i64 = 100;

/// The address of a note that is deleted now: `.trash/<name>_<time>`, with its folders, so that it can be restored
/// to the same place. If the name is taken, the next free second is used.
pub fn trashed(address: &Address, now: Timestamp, taken: &dyn Fn(&Address) -> bool) -> Option<Address> {
    if !address.is_note() || address.is_trash() {
        return None;
    }
    (0..TRIES_MAX)
        .map(|later| {
            Address::note(&format!("{TRASH}/{}_{}", address.name(), compact(Timestamp(now.0 + later))))
        })
        .find(|trash| trash.as_ref().is_none_or(|trash| !taken(trash)))?
}

/// The address of one of Claude Code's memories in its archive: `archive/<name>`, with the time if that name is
/// taken.
pub fn archived(address: &Address, now: Timestamp, taken: &dyn Fn(&Address) -> bool) -> Option<Address> {
    if !address.is_auto() || address.is_in_archive() {
        return None;
    }
    let plain = Address::auto(&format!("{ARCHIVE}/{}", address.name())).filter(|plain| !taken(plain));
    plain.or_else(|| {
        // Bounded: on a disk that fails, every name seems to be taken.
        let timed = (0..TRIES_MAX).map(|later| {
            let at = Timestamp(now.0 + later);
            Address::auto(&format!("{ARCHIVE}/{}_{}", address.name(), compact(at)))
        });
        timed.into_iter().find(|timed| timed.as_ref().is_none_or(|timed| !taken(timed)))?
    })
}

/// The address that one of Claude Code's memories had before it was archived.
pub fn unarchived(address: &Address) -> Option<Address> {
    let (_, name) = address.name().split_once('/').filter(|_| address.is_in_archive())?;
    Address::auto(split_time(name).map_or(name, |(name, _)| name))
}

/// A time as it is in file names: `20250110_143022`.
fn compact(at: Timestamp) -> String {
    let digits: String = at.to_string().chars().filter(char::is_ascii_digit).collect();
    format!("{}_{}", &digits[..8], &digits[8..14])
}

/// The address that a deleted note had before.
pub fn restored(trash: &Address) -> Option<Address> {
    let (_, name) = trash.name().split_once('/').filter(|_| trash.is_trash())?;
    Address::note(split_time(name).map_or(name, |(name, _)| name))
}

/// When a note in the trash was deleted: `None` outside the trash, `Some(None)` if its name has no time.
pub fn deleted_at(address: &Address) -> Option<Option<Timestamp>> {
    address.is_trash().then(|| split_time(address.name()).map(|(_, at)| at))
}

/// Splits `login_20250110_143022` into name and time.
pub(crate) fn split_time(name: &str) -> Option<(&str, Timestamp)> {
    let at = name.len().checked_sub("_20250110_143022".len())?;
    let (rest, time) = (name.get(..at)?, name.get(at..)?);
    let (date, clock) = time.strip_prefix('_')?.split_once('_')?;
    let digits = |text: &str, count| text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
    if rest.is_empty() || rest.ends_with('/') || !digits(date, 8) || !digits(clock, 6) {
        return None;
    }
    let written = format!(
        "{}-{}-{}T{}:{}:{}Z",
        &date[..4],
        &date[4..6],
        &date[6..],
        &clock[..2],
        &clock[2..4],
        &clock[4..]
    );
    Timestamp::parse(&written).map(|(at, _)| (rest, at))
}
