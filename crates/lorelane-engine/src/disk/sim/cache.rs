//! The simulated machine's files: a page cache in front of a disk that keeps only what was synced.
//!
//! A file has the content that programs see and the content that survives a power cut; a folder has its entries
//! and the ordered list of entry changes that are not on disk yet. The model is as unkind as real file systems:
//! unsynced content may come back old, new, torn, or with a hole of zeroes (length written before data), and of a
//! folder's unsynced entry changes any prefix survives.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::OsStr;
use std::io::{self, ErrorKind};
use std::path::{Component, Path};

use crate::disk::{DirEntry, FileType, SeededRng, Stat};

type Id = u64;

const ROOT: Id = 0;

/// Real file systems set mtimes in kernel ticks, not in nanoseconds.
const TICK_NS: i64 = 4_000_000;

#[derive(Clone, Debug)]
pub(super) struct Cache {
    nodes: HashMap<Id, DiskNode>,
    next: Id,
}

#[derive(Clone, Debug)]
struct DiskNode {
    body: FileBody,
    mtime_ns: i64,
    mode: u32,
}

#[derive(Clone, Debug)]
enum FileBody {
    File { content: Vec<u8>, durable: Vec<u8> },
    Folder { entries: Entries, durable: Entries, pending: Vec<EntryChange> },
}

type Entries = BTreeMap<String, Id>;

#[derive(Clone, Debug)]
enum EntryChange {
    Link(String, Id),
    Unlink(String),
    Rename(String, String),
}

impl Cache {
    pub(super) fn new() -> Cache {
        let mut cache = Cache { nodes: HashMap::new(), next: ROOT };
        cache.add(Cache::empty_folder(), 0o755, 0);
        cache
    }

    pub(super) fn file(&self, path: &Path) -> io::Result<Option<&[u8]>> {
        match self.find(path).map(|id| &self.nodes[&id].body) {
            None => Ok(None),
            Some(FileBody::File { content, .. }) => Ok(Some(content)),
            Some(FileBody::Folder { .. }) => Err(ErrorKind::IsADirectory.into()),
        }
    }

    pub(super) fn list(&self, path: &Path) -> io::Result<Option<Vec<DirEntry>>> {
        let Some(id) = self.find(path) else { return Ok(None) };
        let FileBody::Folder { entries, .. } = &self.nodes[&id].body else {
            return Err(ErrorKind::NotADirectory.into());
        };
        Ok(Some(
            entries.iter().map(|(name, id)| DirEntry { name: name.clone(), kind: self.kind(*id) }).collect(),
        ))
    }

    pub(super) fn stat(&self, path: &Path) -> Option<Stat> {
        let id = self.find(path)?;
        let node = &self.nodes[&id];
        let len = match &node.body {
            FileBody::File { content, .. } => content.len() as u64,
            FileBody::Folder { .. } => 0,
        };
        Some(Stat { kind: self.kind(id), len, mtime_ns: node.mtime_ns, mode: Some(node.mode) })
    }

    pub(super) fn folder_id(&self, path: &Path) -> io::Result<Id> {
        let id = self.find(path).ok_or(ErrorKind::NotFound)?;
        match self.kind(id) {
            FileType::Folder => Ok(id),
            _ => Err(ErrorKind::NotADirectory.into()),
        }
    }

    /// `false` if the folder existed already.
    pub(super) fn create_dir(&mut self, path: &Path, now: i64) -> io::Result<bool> {
        if let Some(id) = self.find(path) {
            return match self.kind(id) {
                FileType::Folder => Ok(false),
                _ => Err(ErrorKind::AlreadyExists.into()),
            };
        }
        let (parent, name) = self.parent(path)?;
        let id = self.add(Cache::empty_folder(), 0o755, now);
        self.change(parent, EntryChange::Link(name, id), now);
        Ok(true)
    }

    pub(super) fn create_file(&mut self, path: &Path, bytes: &[u8], mode: u32, now: i64) -> io::Result<()> {
        if self.find(path).is_some() {
            return Err(ErrorKind::AlreadyExists.into());
        }
        let (parent, name) = self.parent(path)?;
        let id = self.add(FileBody::File { content: bytes.to_vec(), durable: Vec::new() }, mode, now);
        self.change(parent, EntryChange::Link(name, id), now);
        Ok(())
    }

    pub(super) fn edit(&mut self, path: &Path, now: i64, edit: impl FnOnce(&mut Vec<u8>)) -> io::Result<()> {
        let id = self.find(path).ok_or(ErrorKind::NotFound)?;
        let node = self.nodes.get_mut(&id).expect("an entry names a node");
        let FileBody::File { content, .. } = &mut node.body else {
            return Err(ErrorKind::IsADirectory.into());
        };
        edit(content);
        node.mtime_ns = ticked(now);
        Ok(())
    }

    pub(super) fn rename(&mut self, from: &Path, to: &Path, now: i64) -> io::Result<()> {
        let id = self.find(from).ok_or(ErrorKind::NotFound)?;
        let ((folder, from), (other, to)) = (self.parent(from)?, self.parent(to)?);
        if folder == other {
            self.change(folder, EntryChange::Rename(from, to), now);
        } else {
            // Each folder may lose its own half.
            self.change(other, EntryChange::Link(to, id), now);
            self.change(folder, EntryChange::Unlink(from), now);
        }
        Ok(())
    }

    pub(super) fn remove(&mut self, path: &Path, kind: FileType, now: i64) -> io::Result<()> {
        let id = self.find(path).ok_or(ErrorKind::NotFound)?;
        match (&self.nodes[&id].body, kind) {
            (FileBody::File { .. }, FileType::File) => {}
            (FileBody::Folder { entries, .. }, FileType::Folder) if entries.is_empty() => {}
            (FileBody::Folder { .. }, FileType::Folder) => return Err(ErrorKind::DirectoryNotEmpty.into()),
            _ => return Err(ErrorKind::InvalidInput.into()),
        }
        let (parent, name) = self.parent(path)?;
        self.change(parent, EntryChange::Unlink(name), now);
        Ok(())
    }

    pub(super) fn sync(&mut self, path: &Path) -> io::Result<()> {
        let id = self.find(path).ok_or(ErrorKind::NotFound)?;
        match &mut self.nodes.get_mut(&id).expect("an entry names a node").body {
            FileBody::File { content, durable } => durable.clone_from(content),
            FileBody::Folder { entries, durable, pending } => {
                durable.clone_from(entries);
                pending.clear();
            }
        }
        Ok(())
    }

    /// Drops what was not synced, for each file and folder at random.
    pub(super) fn power_cut(&mut self, rng: &mut SeededRng) {
        let mut ids: Vec<Id> = self.nodes.keys().copied().collect();
        ids.sort_unstable();
        for id in ids {
            match &mut self.nodes.get_mut(&id).expect("listed above").body {
                FileBody::File { content, durable } => {
                    *content = after_power_cut(content, durable, rng);
                    durable.clone_from(content);
                }
                FileBody::Folder { entries, durable, pending } => {
                    let kept = rng.below(pending.len() + 1);
                    for change in pending.drain(..).take(kept) {
                        change.apply(durable);
                    }
                    entries.clone_from(durable);
                }
            }
        }
        self.drop_unreachable();
    }

    fn drop_unreachable(&mut self) {
        let (mut seen, mut todo) = (HashSet::new(), vec![ROOT]);
        while let Some(id) = todo.pop() {
            seen.insert(id);
            if let FileBody::Folder { entries, .. } = &self.nodes[&id].body {
                todo.extend(entries.values().copied());
            }
        }
        self.nodes.retain(|id, _| seen.contains(id));
    }

    fn empty_folder() -> FileBody {
        FileBody::Folder { entries: Entries::new(), durable: Entries::new(), pending: Vec::new() }
    }

    fn add(&mut self, body: FileBody, mode: u32, now: i64) -> Id {
        let id = self.next;
        self.next += 1;
        self.nodes.insert(id, DiskNode { body, mtime_ns: ticked(now), mode });
        id
    }

    fn change(&mut self, folder: Id, change: EntryChange, now: i64) {
        let node = self.nodes.get_mut(&folder).expect("the caller looked it up");
        let FileBody::Folder { entries, pending, .. } = &mut node.body else {
            unreachable!("`parent` answers folders only")
        };
        change.apply(entries);
        pending.push(change);
        node.mtime_ns = ticked(now);
    }

    fn kind(&self, id: Id) -> FileType {
        match self.nodes[&id].body {
            FileBody::File { .. } => FileType::File,
            FileBody::Folder { .. } => FileType::Folder,
        }
    }

    fn find(&self, path: &Path) -> Option<Id> {
        names(path).try_fold(ROOT, |id, name| match &self.nodes[&id].body {
            FileBody::Folder { entries, .. } => entries.get(name).copied(),
            FileBody::File { .. } => None,
        })
    }

    fn parent(&self, path: &Path) -> io::Result<(Id, String)> {
        let folder = path.parent().ok_or(ErrorKind::InvalidInput)?;
        let name = path.file_name().and_then(OsStr::to_str).ok_or(ErrorKind::InvalidInput)?;
        Ok((self.folder_id(folder)?, name.to_owned()))
    }
}

impl EntryChange {
    fn apply(&self, entries: &mut Entries) {
        match self {
            EntryChange::Link(name, id) => {
                entries.insert(name.clone(), *id);
            }
            EntryChange::Unlink(name) => {
                entries.remove(name);
            }
            EntryChange::Rename(from, to) => {
                if let Some(id) = entries.remove(from) {
                    entries.insert(to.clone(), id);
                }
            }
        }
    }
}

fn after_power_cut(content: &[u8], durable: &[u8], rng: &mut SeededRng) -> Vec<u8> {
    if content == durable {
        return content.to_vec();
    }
    // The common prefix was on disk and was not written again. Neither was what follows an overwritten part.
    let safe = content.iter().zip(durable).take_while(|(a, b)| a == b).count();
    let (rest, old_rest) = (&content[safe..], &durable[safe..]);
    let is_overwritten = rest.len() == old_rest.len();
    let same = rest.iter().rev().zip(old_rest.iter().rev()).take_while(|(a, b)| a == b).count();
    let end = content.len() - if is_overwritten { same } else { 0 };
    let cut = safe + rng.below(end - safe + 1);
    match rng.below(5) {
        0 => durable.to_vec(),
        1 => content.to_vec(),
        2 if is_overwritten => [&content[..cut], &durable[cut..]].concat(),
        2 => content[..cut].to_vec(),
        3 => [&content[..cut], &vec![0; end - cut], &content[end..]].concat(),
        _ => [&content[..safe], &vec![0; cut - safe][..], &content[cut..]].concat(),
    }
}

fn names(path: &Path) -> impl Iterator<Item = &str> {
    path.components().filter_map(|component| match component {
        Component::Normal(name) => name.to_str(),
        _ => None,
    })
}

fn ticked(now: i64) -> i64 {
    now / TICK_NS * TICK_NS
}
