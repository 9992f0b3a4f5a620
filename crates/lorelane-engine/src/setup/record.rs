//! The record of a setup: what was installed, so that exactly that can be removed again.

use super::{SetupError, SetupExtra};
use crate::config::write_plain;
use crate::disk::Disk;
use lorelane_core::digest::Revision;
use lorelane_core::json::{self, EntryPlace, Json, JsonFormat, OwnedEntry, Ownership, Trace, lenient};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::path::{Path, PathBuf};

/// One installation: of one client, or the blocks of one project.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Record {
    #[serde(serialize_with = "json::path_text")]
    pub program: PathBuf,
    /// What the user asked for with `--with`.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "lenient::items_if_list")]
    pub with: Vec<SetupExtra>,
    pub files: Vec<InstalledFile>,
    /// Folders that were created for it, outermost first.
    #[serde(default, serialize_with = "write_folders", deserialize_with = "lenient::items_if_list")]
    pub folders: Vec<PathBuf>,
}

/// A record as it is written. No reader asks for the version yet.
#[derive(Serialize)]
struct Versioned<'r> {
    v: u32,
    #[serde(flatten)]
    record: &'r Record,
}

/// One file that was written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct InstalledFile {
    #[serde(serialize_with = "json::path_text")]
    pub path: PathBuf,
    /// The bytes before setup; `None` when there was no file. They are in a backup, not in the record.
    #[serde(rename = "had", serialize_with = "write_had", deserialize_with = "read_had")]
    pub before: Option<Vec<u8>>,
    /// The digest of what was written.
    pub wrote: String,
    /// Empty for a file that is ours as a whole.
    #[serde(serialize_with = "write_entries", deserialize_with = "read_entries")]
    pub entries: Vec<(OwnedEntry, Trace)>,
}

impl InstalledFile {
    pub fn is_as_written(&self, now: Option<&[u8]>) -> bool {
        now.is_some_and(|now| digest(now) == self.wrote)
    }

    fn backup_name(&self, name: &str) -> String {
        let place = lorelane_core::digest::short_digest(&self.path.to_string_lossy(), 12);
        format!("{name}-{place}.before")
    }
}

pub(super) fn digest(bytes: &[u8]) -> String {
    Revision::of(bytes).to_string()
}

fn file(agents: &Path, name: &str) -> PathBuf {
    agents.join(format!("{name}.json"))
}

fn backups(agents: &Path) -> PathBuf {
    agents.join("backups")
}

impl Record {
    /// `None` when nothing is installed under this name, which is mostly a client's.
    pub fn read(disk: &dyn Disk, agents: &Path, name: &str) -> Result<Option<Record>, SetupError> {
        let path = file(agents, name);
        let Some(bytes) = disk.read(&path).map_err(|fault| SetupError::io("read", &path, fault))? else {
            return Ok(None);
        };
        let broken = || SetupError::Record { path: path.clone() };
        let text = String::from_utf8(bytes).map_err(|_| broken())?;
        let mut record: Record = json::from_str(&text).map_err(|_| broken())?;
        for kept in record.files.iter_mut().filter(|kept| kept.before.is_some()) {
            let backup = backups(agents).join(kept.backup_name(name));
            kept.before = disk.read(&backup).map_err(|fault| SetupError::io("read", &backup, fault))?;
            if kept.before.is_none() {
                return Err(SetupError::Record { path: backup });
            }
        }
        Ok(Some(record))
    }

    /// Writes the backups first: a record never names one that does not exist.
    pub fn write(&self, disk: &dyn Disk, agents: &Path, name: &str) -> Result<(), SetupError> {
        let folder = backups(agents);
        disk.create_private_dir_all(&folder).map_err(|fault| SetupError::io("create", &folder, fault))?;
        for kept in &self.files {
            if let Some(before) = &kept.before {
                write_plain(disk, &folder.join(kept.backup_name(name)), before)?;
            }
        }
        let path = file(agents, name);
        let text = format!("{}\n", json::to_string(&Versioned { v: 1, record: self }, JsonFormat::FILE));
        Ok(write_plain(disk, &path, text.as_bytes())?)
    }

    pub fn discard(&self, disk: &dyn Disk, agents: &Path, name: &str) -> Result<(), SetupError> {
        let backups = backups(agents);
        let named = |kept: &InstalledFile| backups.join(kept.backup_name(name));
        let saved = self.files.iter().filter(|kept| kept.before.is_some()).map(named);
        for path in std::iter::once(file(agents, name)).chain(saved) {
            match disk.remove_file(&path) {
                Err(fault) if fault.kind() != std::io::ErrorKind::NotFound => {
                    return Err(SetupError::io("remove", &path, fault));
                }
                _ => {}
            }
        }
        // Fails while another client has backups there, as it should.
        let _ = disk.remove_dir(&backups);
        Ok(())
    }

    pub fn of(&self, path: &Path) -> Option<&InstalledFile> {
        self.files.iter().find(|kept| kept.path == path)
    }
}

/// An entry with its trace, as the file has them.
#[derive(Serialize, Deserialize)]
struct EntryFields {
    #[serde(deserialize_with = "lenient::items_if_list")]
    path: Vec<String>,
    item: bool,
    #[serde(default)]
    value: Json,
    owned: String,
    #[serde(default, deserialize_with = "lenient::or_default")]
    says: Option<String>,
    #[serde(flatten)]
    trace: Trace,
}

impl EntryFields {
    fn of((entry, trace): &(OwnedEntry, Trace)) -> EntryFields {
        let OwnedEntry { path, place, value, owned } = entry.clone();
        let (owned, says) = match owned {
            Ownership::Says(says) => ("says", Some(says)),
            Ownership::Named => ("named", None),
            Ownership::Shared => ("shared", None),
        };
        let (item, owned) = (place == EntryPlace::Item, owned.to_owned());
        EntryFields { path, item, value, owned, says, trace: trace.clone() }
    }

    fn into_entry(self) -> Option<(OwnedEntry, Trace)> {
        let EntryFields { path, item, value, owned, says, trace } = self;
        let place = if item { EntryPlace::Item } else { EntryPlace::Member };
        let owned = match owned.as_str() {
            "says" => Ownership::Says(says?),
            "named" => Ownership::Named,
            _ => Ownership::Shared,
        };
        // `add` and `take` expect a name.
        (!path.is_empty()).then_some((OwnedEntry { path, place, value, owned }, trace))
    }
}

fn write_entries<S: Serializer>(entries: &[(OwnedEntry, Trace)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(entries.iter().map(EntryFields::of))
}

fn read_entries<'de, D: Deserializer<'de>>(list: D) -> Result<Vec<(OwnedEntry, Trace)>, D::Error> {
    let entries = Vec::<EntryFields>::deserialize(list)?.into_iter().map(EntryFields::into_entry);
    entries.collect::<Option<_>>().ok_or_else(|| D::Error::custom("an entry without a name"))
}

fn write_had<S: Serializer>(before: &Option<Vec<u8>>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_bool(before.is_some())
}

/// Where there was a file, its bytes are still to be read from the backup.
fn read_had<'de, D: Deserializer<'de>>(had: D) -> Result<Option<Vec<u8>>, D::Error> {
    Ok(bool::deserialize(had)?.then(Vec::new))
}

fn write_folders<S: Serializer>(folders: &[PathBuf], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(folders.iter().map(|folder| folder.to_string_lossy()))
}
