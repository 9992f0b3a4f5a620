//! The files of a project, read directly. Nothing here uses an index.

use crate::captures::Captures;
use crate::disk::Disk;
use crate::env::Folders;
use crate::hooklog::HOOK_LOG;
use crate::index::FileStamp;
use crate::ledger::Ledger;
use crate::model;
use crate::setup::{BlockFile, KNOWLEDGE, installed_git_hook};
use crate::workspace::lane::Lane;
use crate::workspace::open::auto::key_of;
use crate::workspace::open::trust::TRUST_FOLDER;
use crate::workspace::{LoadedMemory, MARKS_FILE, WorkingSet, Workspace};
use lorelane_core::lifecycle::Status;
use lorelane_core::mark::{MARKS_FOLDER, Marks};
use lorelane_core::memory::{Address, Category};
use lorelane_core::passage::Passage;
use lorelane_core::policy::DEFAULT_ROOT;
use lorelane_core::recall::Hit;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Each is read from its file, and a marks file may name any number.
const PREDECESSORS_MAX: usize = 20;

/// Access to files and folders of a borrowed workspace.
#[derive(Debug)]
pub struct Files<'w> {
    workspace: &'w Workspace,
}

impl Workspace {
    pub fn files(&self) -> Files<'_> {
        Files { workspace: self }
    }
}

impl<'w> Files<'w> {
    /// The folder of the records, with links resolved.
    pub fn records_root(&self) -> PathBuf {
        self.workspace.lanes.records().folder("")
    }

    pub fn disk(&self) -> &'w dyn Disk {
        &*self.workspace.disk
    }

    /// The path of a memory's file relative to the project's root, as in `index.md` and in the output of scripts;
    /// absolute if the file is outside the project.
    pub fn listed_path(&self, address: &Address) -> String {
        self.workspace.listed_path(address)
    }

    /// The marks. An unreadable marks file counts as empty; `doctor` reports it.
    pub fn marks(&self) -> Marks {
        self.workspace.marks()
    }

    /// The memory that superseded this one, unless this one is current again.
    pub fn successor(&self, address: &Address) -> Option<Address> {
        let marks = self.workspace.marks();
        marks.successor(address).filter(|_| !self.is_current(address)).cloned()
    }

    /// The memories that this one superseded and that are not current, at most a few.
    pub fn predecessors(&self, address: &Address) -> Vec<Address> {
        let marks = self.workspace.marks();
        let superseded = marks.predecessors(address).into_iter().take(PREDECESSORS_MAX);
        superseded.filter(|old| !self.is_current(old)).cloned().collect()
    }

    /// Whether a memory holds now. One that cannot be read does not say so.
    fn is_current(&self, address: &Address) -> bool {
        self.workspace.load(address).is_ok_and(|loaded| {
            let memory = &loaded.memory;
            memory.lifecycle.status() == Status::Active && memory.validity.at(self.workspace.now).is_none()
        })
    }

    /// The path of a hit's file, in the same form as [`Files::listed_path`].
    pub fn path_of(&self, hit: &Hit) -> String {
        self.workspace
            .lanes
            .of(&hit.address)
            .map_or_else(|| hit.path.to_string(), |lane| lane.listed_path(&hit.path))
    }

    /// The text of a hit's passage, read from its file now.
    pub fn excerpt(&self, hit: &Hit) -> Option<String> {
        let (_, passage) = self.load_hit(hit)?;
        passage.map(|passage| passage.text)
    }

    /// Reads a hit's file again and returns the memory and the passage that matched; `None` if the file is gone.
    pub fn load_hit(&self, hit: &Hit) -> Option<(LoadedMemory, Option<Passage>)> {
        let lane = self.workspace.lanes.of(&hit.address)?;
        let loaded = lane.load(&hit.address).ok()?;
        let passage = hit.lines.and_then(|(from, to)| {
            let mut passages = lane.dialect.passages(&loaded.document).into_iter();
            passages.find(|passage| passage.lines.0 >= from && passage.lines.1 <= to)
        });
        Some((loaded, passage))
    }

    /// The passages of a memory that was loaded.
    pub fn passages(&self, loaded: &LoadedMemory) -> Vec<Passage> {
        let lane = self.workspace.lanes.of(&loaded.memory.address);
        lane.map(|lane| lane.dialect.passages(&loaded.document)).unwrap_or_default()
    }

    /// Size and mtime of every memory's file. A watcher compares two of these maps; it does not use the index,
    /// because another process may already have indexed the change.
    pub fn sightings(&self) -> BTreeMap<Address, FileStamp> {
        self.workspace.lanes.iter().flat_map(Lane::sightings).collect()
    }

    /// Every file and folder that lorelane may write for this project, with its purpose. `status` prints them.
    pub fn declared_folders(&self) -> Vec<(PathBuf, &'static str)> {
        let lane = &self.records_root();
        let key = Folders::lane_key(lane);
        let mut declared = vec![
            (lane.clone(), "memories, index.md, memory-config.json"),
            (
                self.workspace.project.root.join(MARKS_FOLDER),
                "marks: pins, former addresses, origins, rejections, successors",
            ),
            (self.workspace.config.project.clone(), "settings of lorelane"),
        ];
        if !self.workspace.config.records.starts_with(lane) {
            declared.push((self.workspace.config.records.clone(), "settings of the records"));
        }
        for file in BlockFile::WITHOUT_CATEGORY {
            declared.push((self.workspace.project.root.join(file.path()), "rules, with `inbox accept --to`"));
        }
        let knowledge = self.workspace.project.root.join(KNOWLEDGE);
        declared.push((knowledge, "knowledge, with `inbox accept --to`"));
        let git_hook = installed_git_hook(self.disk(), &self.workspace.project.root);
        declared.extend(git_hook.map(|file| (file, "the git hook of `setup git hook`")));
        if let Some(notes) = &self.workspace.notes {
            declared.push((notes.root.clone(), "notes"));
            if notes.marks != self.workspace.project.root.join(MARKS_FOLDER) {
                declared.push((notes.marks.join(MARKS_FILE), "marks of the notes"));
            }
        }
        if let Some(auto) = &self.workspace.auto {
            if auto.root != *lane {
                declared.push((auto.root.clone(), "Claude Code's memories, if you change them"));
            }
            if auto.marks != self.workspace.project.root.join(MARKS_FOLDER) {
                declared.push((auto.marks.join(MARKS_FILE), "marks of Claude Code's memories"));
            }
        }
        declared.extend(WorkingSet::declared(self.workspace));
        if let Some(folders) = &self.workspace.folders {
            if let Some(auto) = &self.workspace.auto {
                let key = key_of(&auto.root);
                let journal = self.workspace.project.journal(&key).declared();
                declared.push((journal, "journal of Claude Code's memories: log, undo"));
                let index = folders.cache.join("lanes").join(Folders::lane_key(&key));
                declared.push((index, "index of Claude Code's memories: may be deleted"));
            }
            if let Some(notes) = &self.workspace.notes {
                let key = Folders::lane_key(&notes.root);
                let journal = self.workspace.project.journal(&notes.root).declared();
                declared.push((journal, "journal of the notes: log, undo"));
                declared.push((folders.cache.join("lanes").join(&key), "index of the notes: may be deleted"));
            }
            declared.push((self.workspace.project.journal(lane).declared(), "journal: log, undo"));
            declared.extend(self.workspace.project.declared());
            declared.push((folders.cache.join("lanes").join(&key), "index: may be deleted"));
            declared.push((folders.state.join(HOOK_LOG), "errors in hooks"));
            declared.push((folders.state.join(TRUST_FOLDER), "projects whose settings you trust"));
            declared.push((model::folder(folders), "the second model, if one was added"));
            declared.push((crate::setup::folder(folders), "what `setup` installed, and backups"));
        }
        declared
    }

    /// The folder of the notes, whether it exists or not; `None` if notes cannot be stored.
    pub fn notes_folder(&self) -> Option<&'w Path> {
        self.workspace.notes.as_ref().map(|place| place.root.as_path())
    }

    /// A private folder for drafts of this project, ready to be written to.
    pub fn drafts_folder(&self) -> PathBuf {
        self.workspace.project.drafts.for_writing()
    }

    /// The file of an address, whether it exists or not.
    pub fn file(&self, address: &Address) -> Option<PathBuf> {
        let lane = self.workspace.lanes.of(address)?;
        lane.dialect.place(address).map(|path| lane.file(&path))
    }

    /// A warning if the marks file is too large for recall and hooks to read as a whole.
    pub fn marks_not_read(&self) -> Option<String> {
        let large = self.workspace.lanes.iter().find_map(|lane| Some((lane, lane.has_more_marks()?)));
        large.map(|(lane, bytes)| {
            let file = lane.marks_place();
            let size = bytes.div_ceil(1 << 20);
            format!("{} is {size} MiB large: recall and hooks read only its last MiB", file.display())
        })
    }

    /// How many memories are in the default folder while `memory_root` names another one.
    pub fn left_behind(&self) -> usize {
        let usual = self.workspace.project.root.join(DEFAULT_ROOT);
        if usual == self.records_root() {
            return 0;
        }
        let listed =
            |category: Category| self.workspace.disk.list(&usual.join(category.folder())).ok().flatten();
        let files = Category::ALL.into_iter().filter_map(listed).flatten();
        files.filter(|listed| listed.name.ends_with(".json")).count()
    }

    /// The log of what was injected into this project's sessions.
    pub fn ledger(&self) -> Ledger {
        self.workspace.ledger()
    }

    /// What triage found in this project's sessions. Without a home directory there is no private place for it:
    /// reading finds nothing, and saving fails.
    pub fn captures(&self) -> Captures {
        self.workspace.captures()
    }
}
