//! What a setup did, written down so that exactly that can be taken back.

use super::{Client, SetupError};
use crate::config::write_plain;
use crate::disk::Disk;
use lorelane_core::digest::Revision;
use lorelane_core::json::{EntryPlace, Json, JsonFormat, Object, OwnedEntry, Ownership, Trace};
use std::path::{Path, PathBuf};

/// One installation of one client.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Record {
    pub program: PathBuf,
    pub files: Vec<InstalledFile>,
    /// Folders that were made for it, outermost first.
    pub folders: Vec<PathBuf>,
}

/// One file that was written.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct InstalledFile {
    pub path: PathBuf,
    /// What was there before; `None` when nothing was. It is kept in a file of its own.
    pub before: Option<Vec<u8>>,
    /// The digest of what was written.
    pub wrote: String,
    /// Empty for a file that is ours as a whole.
    pub entries: Vec<(OwnedEntry, Trace)>,
}

impl InstalledFile {
    pub fn is_as_written(&self, now: Option<&[u8]>) -> bool {
        now.is_some_and(|now| digest(now) == self.wrote)
    }

    fn backup_name(&self, client: Client) -> String {
        let place = lorelane_core::digest::short_digest(&self.path.to_string_lossy(), 12);
        format!("{}-{place}.before", client.name())
    }
}

pub(super) fn digest(bytes: &[u8]) -> String {
    Revision::of(bytes).to_string()
}

fn file(agents: &Path, client: Client) -> PathBuf {
    agents.join(format!("{}.json", client.name()))
}

fn backups(agents: &Path) -> PathBuf {
    agents.join("backups")
}

impl Record {
    /// `None` when the client is not set up.
    pub fn read(disk: &dyn Disk, agents: &Path, client: Client) -> Result<Option<Record>, SetupError> {
        let path = file(agents, client);
        let Some(bytes) = disk.read(&path).map_err(|fault| SetupError::io("read", &path, fault))? else {
            return Ok(None);
        };
        let broken = || SetupError::Record { path: path.clone() };
        let text = String::from_utf8(bytes).map_err(|_| broken())?;
        let json = Json::parse(&text).map_err(|_| broken())?;
        let program = json.at("program").and_then(Json::as_text).ok_or_else(broken)?;
        let mut record = Record { program: PathBuf::from(program), ..Record::default() };
        for kept in json.at("files").and_then(Json::as_list).ok_or_else(broken)? {
            let mut kept = read_kept(kept).ok_or_else(broken)?;
            if kept.before.is_some() {
                let backup = backups(agents).join(kept.backup_name(client));
                kept.before = disk.read(&backup).map_err(|fault| SetupError::io("read", &backup, fault))?;
                if kept.before.is_none() {
                    return Err(SetupError::Record { path: backup });
                }
            }
            record.files.push(kept);
        }
        let folders = json.at("folders").map(Json::to_texts).unwrap_or_default();
        record.folders = folders.into_iter().map(PathBuf::from).collect();
        Ok(Some(record))
    }

    /// The backups first: a record never speaks of one that is not there.
    pub fn write(&self, disk: &dyn Disk, agents: &Path, client: Client) -> Result<(), SetupError> {
        let folder = backups(agents);
        disk.create_private_dir_all(&folder).map_err(|fault| SetupError::io("create", &folder, fault))?;
        for kept in &self.files {
            if let Some(before) = &kept.before {
                write_plain(disk, &folder.join(kept.backup_name(client)), before)?;
            }
        }
        let path = file(agents, client);
        let text = format!("{}\n", self.to_json().render(JsonFormat::FILE));
        Ok(write_plain(disk, &path, text.as_bytes())?)
    }

    pub fn discard(&self, disk: &dyn Disk, agents: &Path, client: Client) -> Result<(), SetupError> {
        let backups = backups(agents);
        let named = |kept: &InstalledFile| backups.join(kept.backup_name(client));
        let saved = self.files.iter().filter(|kept| kept.before.is_some()).map(named);
        for path in std::iter::once(file(agents, client)).chain(saved) {
            match disk.remove_file(&path) {
                Err(fault) if fault.kind() != std::io::ErrorKind::NotFound => {
                    return Err(SetupError::io("remove", &path, fault));
                }
                _ => {}
            }
        }
        // They stay while another client needs them.
        let _ = disk.remove_dir(&backups);
        Ok(())
    }

    pub fn of(&self, path: &Path) -> Option<&InstalledFile> {
        self.files.iter().find(|kept| kept.path == path)
    }

    fn to_json(&self) -> Json {
        let text = |path: &PathBuf| path.to_string_lossy().into_owned();
        let files = self.files.iter().map(|kept| {
            let entries = kept.entries.iter().map(|(entry, trace)| entry_json(entry, trace)).collect();
            object([
                ("path", Json::text(text(&kept.path))),
                ("had", Json::Bool(kept.before.is_some())),
                ("wrote", Json::text(&kept.wrote)),
                ("entries", Json::List(entries)),
            ])
        });
        object([
            ("v", Json::number(1)),
            ("program", Json::text(text(&self.program))),
            ("files", Json::List(files.collect())),
            ("folders", Json::texts(self.folders.iter().map(text))),
        ])
    }
}

fn object<const N: usize>(members: [(&str, Json); N]) -> Json {
    Json::Object(Object::from_iter(members))
}

fn entry_json(entry: &OwnedEntry, trace: &Trace) -> Json {
    let (owned, says) = match &entry.owned {
        Ownership::Says(says) => ("says", Json::text(says)),
        Ownership::Named => ("named", Json::Null),
        Ownership::Shared => ("shared", Json::Null),
    };
    object([
        ("path", Json::texts(entry.path.iter().map(String::as_str))),
        ("item", Json::Bool(entry.place == EntryPlace::Item)),
        ("value", entry.value.clone()),
        ("owned", Json::text(owned)),
        ("says", says),
        ("added", Json::Bool(trace.added)),
        ("made", Json::number(trace.made)),
        ("tail", Json::text(&trace.tail)),
    ])
}

fn read_kept(json: &Json) -> Option<InstalledFile> {
    let entries = json.at("entries")?.as_list()?.iter().map(read_entry).collect::<Option<Vec<_>>>()?;
    Some(InstalledFile {
        path: PathBuf::from(json.at("path")?.as_text()?),
        before: json.at("had")?.as_bool()?.then(Vec::new),
        wrote: json.at("wrote")?.as_text()?.to_owned(),
        entries,
    })
}

fn read_entry(json: &Json) -> Option<(OwnedEntry, Trace)> {
    let owned = match json.at("owned")?.as_text()? {
        "says" => Ownership::Says(json.at("says")?.as_text()?.to_owned()),
        "named" => Ownership::Named,
        _ => Ownership::Shared,
    };
    let place = if json.at("item")?.as_bool()? { EntryPlace::Item } else { EntryPlace::Member };
    let path = json.at("path")?.to_texts();
    let trace = Trace {
        added: json.at("added")?.as_bool()?,
        made: usize::try_from(json.at("made")?.as_u64()?).ok()?,
        tail: json.at("tail")?.as_text()?.to_owned(),
    };
    // `add` and `take` expect a name.
    (!path.is_empty()).then(|| {
        (OwnedEntry { path, place, value: json.at("value").cloned().unwrap_or(Json::Null), owned }, trace)
    })
}
