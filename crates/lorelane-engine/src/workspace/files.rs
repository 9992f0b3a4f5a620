//! The memories' files as they are now. Nothing here asks an index.

use crate::captures::Captures;
use crate::disk::Disk;
use crate::env::Folders;
use crate::hooklog::HOOK_LOG;
use crate::index::FileStamp;
use crate::ledger::Ledger;
use crate::model;
use crate::workspace::lane::Lane;
use crate::workspace::open::trust::TRUST_FOLDER;
use crate::workspace::{LoadedMemory, MARKS_FILE, Workspace};
use lorelane_core::mark::{MARKS_FOLDER, Marks};
use lorelane_core::memory::{Address, Category};
use lorelane_core::passage::Passage;
use lorelane_core::policy::DEFAULT_ROOT;
use lorelane_core::recall::Hit;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What is on disk, for as long as the workspace is borrowed.
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
    /// The records' real folder.
    pub fn records_root(&self) -> PathBuf {
        self.workspace.lanes.records().folder("")
    }

    pub fn disk(&self) -> &'w dyn Disk {
        &*self.workspace.disk
    }

    /// The path of a memory's file from the project's root, as listings and scripts know it; in full for one that lies
    /// elsewhere.
    pub fn listed_path(&self, address: &Address) -> String {
        self.workspace.listed_path(address)
    }

    /// What is marked, as far as it can be read: a file of marks that cannot be is for `doctor` to report.
    pub fn marks(&self) -> Marks {
        self.workspace.marks()
    }

    /// The file of a hit, as listings and scripts know it.
    pub fn path_of(&self, hit: &Hit) -> String {
        self.workspace
            .lanes
            .of(&hit.address)
            .map_or_else(|| hit.path.to_string(), |lane| lane.listed_path(&hit.path))
    }

    /// What a hit's passage says, as its file has it now.
    pub fn excerpt(&self, hit: &Hit) -> Option<String> {
        let (_, passage) = self.load_hit(hit)?;
        passage.map(|passage| passage.text)
    }

    /// A hit's memory as its file has it now, and the passage that was found; `None` for one that vanished meanwhile.
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

    /// How every file of a memory looks from outside, without asking the index: two such maps tell a watcher what
    /// changed between them, also what another process took into the index meanwhile.
    pub fn sightings(&self) -> BTreeMap<Address, FileStamp> {
        self.workspace.lanes.iter().flat_map(Lane::sightings).collect()
    }

    /// The folders that are written to, and what for.
    pub fn declared_folders(&self) -> Vec<(PathBuf, &'static str)> {
        let lane = &self.records_root();
        let key = Folders::lane_key(lane);
        let mut declared = vec![
            (lane.clone(), "memories, listing, settings of the records"),
            (
                self.workspace.project.root.join(MARKS_FOLDER),
                "marks: pins, former addresses, origins, rejections",
            ),
            (self.workspace.config.project.clone(), "settings of lorelane"),
        ];
        if !self.workspace.config.records.starts_with(lane) {
            declared.push((self.workspace.config.records.clone(), "settings of the records"));
        }
        if let Some(notes) = &self.workspace.notes {
            declared.push((notes.root.clone(), "notes"));
            if notes.marks != self.workspace.project.root.join(MARKS_FOLDER) {
                declared.push((notes.marks.join(MARKS_FILE), "marks of the notes"));
            }
        }
        if let Some(folders) = &self.workspace.folders {
            if let Some(notes) = &self.workspace.notes {
                let key = Folders::lane_key(&notes.root);
                let journal = self.workspace.project.journal(&notes.root).declared();
                declared.push((journal, "journal of the notes: log, undo"));
                declared.push((folders.cache.join("lanes").join(&key), "index of the notes: may be deleted"));
            }
            declared.push((self.workspace.project.journal(lane).declared(), "journal: log, undo"));
            declared.extend(self.workspace.project.declared());
            declared.push((folders.cache.join("lanes").join(&key), "index: may be deleted"));
            declared.push((folders.state.join(HOOK_LOG), "what hooks could not do"));
            declared.push((folders.state.join(TRUST_FOLDER), "projects whose settings you trust"));
            declared.push((model::folder(folders), "the second model, if one was added"));
            declared.push((crate::setup::folder(folders), "what `setup` installed, and backups"));
        }
        declared
    }

    /// The folder of the notes, whether it exists or not; `None` where there is no place for notes.
    pub fn notes_folder(&self) -> Option<&'w Path> {
        self.workspace.notes.as_ref().map(|place| place.root.as_path())
    }

    /// A private folder for drafts of this project, which somebody writes to now.
    pub fn drafts_folder(&self) -> PathBuf {
        self.workspace.project.drafts.for_writing()
    }

    /// The file that an address has, or would have.
    pub fn file(&self, address: &Address) -> Option<PathBuf> {
        let lane = self.workspace.lanes.of(address)?;
        lane.dialect.place(address).map(|path| lane.file(&path))
    }

    /// What recall and hooks do not read of the marks, if they do not read all of them.
    pub fn marks_not_read(&self) -> Option<String> {
        let large = self.workspace.lanes.iter().find_map(|lane| Some((lane, lane.has_more_marks()?)));
        large.map(|(lane, bytes)| {
            let file = lane.marks_place();
            let size = bytes.div_ceil(1 << 20);
            format!("{} has {size} MiB: recall and hooks read only its last MiB", file.display())
        })
    }

    /// How many memories lie in the usual folder while `memory_root` names another one.
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

    /// What was put into the prompts of this project.
    pub fn ledger(&self) -> Ledger {
        self.workspace.ledger()
    }

    /// What triage found in this project's sessions. Without a home there is no private place for it: nothing is
    /// found there, and saving fails.
    pub fn captures(&self) -> Captures {
        self.workspace.captures()
    }
}
