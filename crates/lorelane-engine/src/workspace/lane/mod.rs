//! One lane: a folder of memories in one dialect, with its own store, journal and index.
//!
//! Whatever involves several lanes or the project's settings is in the workspace.

mod partial_scan;
mod scan;

pub(super) use scan::{CommittedFiles, DocEntries, FileContent, LaneListing, is_foreign, joined};

use super::open::auto;
use super::project::{self, Project};
use super::{Failure, LoadedMemory};
use crate::backend::{Backend, ChangeTarget, Edit, StoreError};
use crate::disk::{Disk, FileType};
use crate::env::Folders;
use crate::index::{self, Candidates, Index, IndexError, ListingChange};
use crate::state::StateFolder;
use crate::store::{Store, StoreFolders};
use lorelane_core::dialect::{Dialect, MemoryFile, ParsedFile};
use lorelane_core::digest::Revision;
use lorelane_core::lifecycle::Lifecycle;
use lorelane_core::mark::{ArchivedMark, Marks};
use lorelane_core::memory::{Address, LaneId, Memory};
use lorelane_core::path::RelPath;
use lorelane_core::recall::doc_entry::FieldBoost;
use lorelane_core::refusal::Refusal;
use lorelane_core::time::Timestamp;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

/// How much recall and hooks read from the end of the marks file: about 10,000 marks.
const RECENT_MARKS_BYTES: u64 = 1 << 20;
/// A process that only reads checkpoints the index's write-ahead log when it is larger than this. Opening the
/// index reads the log: 0.4 ms per MiB.
const LOG_MAX_AFTER_READS: u64 = 128 << 10;

#[derive(Debug)]
pub(super) struct Lane {
    pub(super) dialect: Box<dyn Dialect>,
    pub(super) documents: Arc<dyn Backend>,
    /// The same documents if they are files, for what only files have.
    pub(super) files: Option<LaneFiles>,
    /// Its folder as shown to users: relative to the project's root, or absolute if it is outside.
    pub(super) known_as: String,
    pub(super) index: Index,
    /// The source of search candidates, if it is not the index.
    pub(super) candidates: Option<Arc<dyn Candidates + Send + Sync>>,
    /// The path of the index, whether it exists or not.
    pub(super) index_file: PathBuf,
    /// Why the index is in memory and not on disk; reads work without the cache.
    pub(super) index_fault: Option<String>,
    /// Set when the limit of open files was reached during a scan.
    exhausted: RefCell<Option<io::Error>>,
    /// Whether this process changed memories: then the checkpoint is left to a process that only reads.
    pub(super) changed: bool,
    /// How the last update of the index changed the listing, until it is written.
    listing_change: Option<ListingChange>,
    /// The field boosts used when a text is analyzed for the index.
    boost: FieldBoost,
    /// What marks say of memories in Claude Code's archive, and the size of the file they were read from.
    archived: RefCell<Option<(Option<u64>, ArchivedMarks)>>,
}

/// By the address in the archive, with when it was put there.
type ArchivedMarks = BTreeMap<Address, (Timestamp, ArchivedMark)>;

/// A lane's folder and its state.
#[derive(Clone, Debug)]
pub(super) struct LaneFiles {
    /// The resolved folder. If it does not exist, the lane is empty and the first change creates it.
    pub(super) root: PathBuf,
    /// The lane's folder in the user's state folder.
    pub(super) state: StateFolder,
    pub(super) store: Arc<Store>,
    pub(super) disk: Arc<dyn Disk>,
}

impl LaneFiles {
    pub(super) fn file(&self, path: &RelPath) -> PathBuf {
        self.root.join(path.as_str())
    }
}

impl Lane {
    /// Opens the lane in the folder `root`, with its marks in the folder `marks`.
    pub(super) fn open(
        disk: Arc<dyn Disk>,
        project: &Project,
        dialect: Box<dyn Dialect>,
        root: PathBuf,
        known_as: &str,
        marks: PathBuf,
    ) -> Lane {
        let key = match dialect.lane() {
            LaneId::Auto => auto::key_of(&root),
            LaneId::Records | LaneId::Notes => root.clone(),
        };
        let state = project.journal(&key);
        let home = StoreFolders { lane: root.clone(), marks, state: state.clone() };
        let cache = project.folders.as_ref().map(|folders| folders.cache.join("lanes"));
        let cache = cache.map(|lanes| lanes.join(Folders::lane_key(&key)));
        let index_file = cache.clone().unwrap_or_else(|| state.path()).join("index.db");
        let (index, index_fault) = open_index(&*disk, cache);
        let mut store = Store::new(Arc::clone(&disk), home);
        if dialect.lane() == LaneId::Auto {
            // Nothing of ours is kept in the client's folder.
            store = store.of_another_program();
        }
        let store = Arc::new(store);
        let mut lane = Lane::on(Arc::clone(&store) as Arc<dyn Backend>, dialect, index);
        lane.files = Some(LaneFiles { root, state, store, disk });
        lane.known_as = known_as.trim_end_matches('/').to_owned();
        lane.index_file = index_file;
        lane.index_fault = index_fault;
        lane
    }

    /// A lane whose files are only read: it has neither index nor journal, and nothing is created for it.
    pub(super) fn read_only(
        disk: &Arc<dyn Disk>,
        dialect: Box<dyn Dialect>,
        root: PathBuf,
        known_as: &str,
        marks: PathBuf,
    ) -> Lane {
        let state = project::no_state();
        let home = StoreFolders { lane: root.clone(), marks, state: state.clone() };
        let store = Arc::new(Store::new(Arc::clone(disk), home));
        let mut lane = Lane::on(Arc::clone(&store) as Arc<dyn Backend>, dialect, Index::closed());
        lane.files = Some(LaneFiles { root, state, store, disk: Arc::clone(disk) });
        lane.known_as = known_as.trim_end_matches('/').to_owned();
        lane
    }

    /// A lane on any backend, with an empty index.
    pub(super) fn on(documents: Arc<dyn Backend>, dialect: Box<dyn Dialect>, index: Index) -> Lane {
        Lane {
            known_as: dialect.lane().name().to_owned(),
            dialect,
            documents,
            files: None,
            index,
            candidates: None,
            index_file: PathBuf::new(),
            index_fault: None,
            exhausted: RefCell::new(None),
            changed: false,
            listing_change: None,
            boost: FieldBoost::default(),
            archived: RefCell::new(None),
        }
    }

    pub(super) fn id(&self) -> LaneId {
        self.dialect.lane()
    }

    /// Queries the source of candidates; for the index like [`Lane::with_index`].
    pub(super) fn with_candidates<T>(
        &mut self,
        question: impl Fn(&dyn Candidates) -> Result<T, IndexError>,
    ) -> Result<T, Failure> {
        match self.candidates.clone() {
            Some(candidates) => Ok(question(&*candidates)?),
            None => self.with_index(|index| question(index)),
        }
    }

    /// Whether its folder exists.
    pub(super) fn has_folder(&self) -> bool {
        let files = self.files.as_ref();
        files.is_none_or(|files| files.disk.is_folder(&files.root))
    }

    /// Whether an address has a path in this lane.
    pub(super) fn has_place_for(&self, address: &Address) -> bool {
        self.dialect.place(address).is_some()
    }

    /// The file of a document; its listed path where the backend has no files.
    pub(super) fn file(&self, path: &RelPath) -> PathBuf {
        match &self.files {
            Some(files) => files.file(path),
            None => PathBuf::from(self.listed_path(path)),
        }
    }

    /// A file's path as in listings and in the scripts' output.
    pub(super) fn listed_path(&self, path: &RelPath) -> String {
        format!("{}/{path}", self.known_as)
    }

    /// A file in a folder that cannot be read counts as missing.
    pub(super) fn exists(&self, address: &Address) -> bool {
        self.dialect.place(address).is_some_and(|path| self.stands(&path))
    }

    pub(super) fn stands(&self, path: &RelPath) -> bool {
        matches!(self.documents.stat(path.as_str()), Ok(Some(_)))
    }

    /// Reads a memory from its file.
    pub(super) fn load(&self, address: &Address) -> Result<LoadedMemory, Failure> {
        let missing = || Failure::from(Refusal::Missing { address: address.clone() });
        let path = self.dialect.place(address).ok_or_else(missing)?;
        let unreadable = |why| Failure::from(Refusal::Unreadable { address: address.clone(), why });
        let bytes = match self.read(&path) {
            Ok(bytes) => bytes.ok_or_else(missing)?,
            Err(Failure::Store(StoreError::Symlink { .. })) => {
                return Err(unreadable("it is not a regular file".to_owned()));
            }
            Err(Failure::Io { source, .. }) => return Err(unreadable(source.to_string())),
            Err(other) => return Err(other),
        };
        let revision = Revision::of(&bytes);
        let mut file = self.parse(&path, bytes);
        let problems = std::mem::take(&mut file.problems);
        match file.into_memory() {
            Ok(MemoryFile { document, memory, .. }) => {
                Ok(LoadedMemory { memory, path, document, revision, problems })
            }
            Err(_) => {
                Err(unreadable(problems.into_iter().next().map(|problem| problem.what).unwrap_or_default()))
            }
        }
    }

    /// Parses one file. In Claude Code's folder, only a mark distinguishes a retired memory from an archived one.
    pub(super) fn parse(&self, path: &RelPath, bytes: Vec<u8>) -> ParsedFile {
        let mut file = self.dialect.read(path, bytes);
        if let Some(memory) = &mut file.memory {
            self.apply_marks(memory);
        }
        file
    }

    pub(super) fn apply_marks(&self, memory: &mut Memory) {
        let archived = memory.address.is_in_archive().then(|| self.archived_by_mark(&memory.address));
        if let Some(archived) = archived.flatten() {
            memory.lifecycle = archived;
        }
    }

    /// When and why a memory in Claude Code's archive was put there.
    fn archived_by_mark(&self, address: &Address) -> Option<Lifecycle> {
        let size = self.documents.marks_size();
        let mut known = self.archived.borrow_mut();
        if known.as_ref().is_none_or(|(read, _)| *read != size) {
            let marks = Marks::read(&self.read_marks().unwrap_or_default());
            *known = Some((size, marks.archived));
        }
        let (at, mark) = known.as_ref().and_then(|(_, archived)| archived.get(address))?;
        let (at, reason) = (Some(*at), Some(mark.because.clone()).filter(|because| !because.is_empty()));
        Some(match mark.retired {
            true => Lifecycle::Retired { at, reason },
            false => Lifecycle::Archived { at, reason },
        })
    }

    /// Reads a document. Rejects symbolic links on its path, and files that are not regular or too large.
    pub(super) fn read(&self, path: &RelPath) -> Result<Option<Vec<u8>>, Failure> {
        let folders = path.as_str().match_indices('/').map(|(end, _)| &path.as_str()[..end]);
        for link in folders.chain([path.as_str()]) {
            if matches!(self.documents.stat(link), Ok(Some(stat)) if stat.kind == FileType::Symlink) {
                let path = RelPath::parse(link).map_or_else(|_| self.file(path), |link| self.file(&link));
                return Err(StoreError::Symlink { path }.into());
            }
        }
        let max_bytes = self.dialect.max_bytes() as u64;
        self.documents.read(path, max_bytes).map_err(|source| Failure::io("read", &self.file(path), source))
    }

    /// Applies edits as a change of their own and updates the index. In the order over all lanes it comes after
    /// `order`.
    pub(super) fn apply(
        &mut self,
        edits: Vec<Edit>,
        because: &str,
        now: Timestamp,
        order: u64,
    ) -> Result<(), Failure> {
        let documents = Arc::clone(&self.documents);
        let mut writer = documents.begin()?;
        writer.comes_after(order);
        let done = writer.apply(edits, because, now)?;
        self.set_known();
        self.changed = true;
        let touched: Vec<RelPath> = done.changes.iter().filter_map(ChangeTarget::lane_path).collect();
        self.index_paths(&touched)?;
        Ok(writer.finish()?)
    }

    /// The newest marks, so that the cost of a hook does not grow with their number.
    pub(super) fn read_recent_marks(&self) -> Result<Vec<u8>, Failure> {
        Ok(self.documents.marks(Some(RECENT_MARKS_BYTES))?)
    }

    /// The size of the marks file, if recall and hooks read only its end.
    pub(super) fn has_more_marks(&self) -> Option<u64> {
        self.documents.marks_size().filter(|size| *size > RECENT_MARKS_BYTES)
    }

    /// All marks. Lanes may share the file, so marks of other lanes can be among them.
    pub(super) fn read_marks(&self) -> Result<Vec<u8>, Failure> {
        Ok(self.documents.marks(None)?)
    }
}

impl Drop for Lane {
    fn drop(&mut self) {
        // A checkpoint syncs, and a change is limited to five syncs.
        if !self.changed {
            self.index.shorten_log(LOG_MAX_AFTER_READS);
        }
        index::give(&self.index_file, &mut self.index);
    }
}

/// The index in the cache folder, or one in memory and why.
fn open_index(disk: &dyn Disk, cache: Option<PathBuf>) -> (Index, Option<String>) {
    let Some(folder) = cache else {
        return (Index::in_memory(), Some("no home folder is known".to_owned()));
    };
    let opened = disk
        .create_private_dir_all(&folder)
        .map_err(|fault| format!("{}: {fault}", folder.display()))
        .and_then(|_| {
            let file = folder.join("index.db");
            index::take(&file).map_or_else(|| Index::open(&file), Ok).map_err(|fault| fault.to_string())
        });
    match opened {
        Ok(index) => (index, None),
        Err(why) => (Index::in_memory(), Some(why)),
    }
}
