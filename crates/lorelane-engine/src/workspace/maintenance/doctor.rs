//! `status` and `doctor`: check the store for problems. Neither changes a memory.

use super::Maintenance;
use crate::backend::ExternalChanges;
use crate::config::RECORDS_CONFIG;
use crate::disk::{self, DirEntry};
use crate::finding::Finding;
use crate::git;
use crate::index::{Index, IndexError, ListFilter};
use crate::workspace::lane::{FileContent, Lane, LaneListing, is_foreign, joined};
use crate::workspace::open::notes::FORMER_INDEX;
use crate::workspace::{Failure, LISTING_MAX_BYTES, WorkingSet};
use lorelane_core::corpus::MemorySummary;
use lorelane_core::dialect::records::LISTING;
use lorelane_core::dialect::{Extent, ParsedFile};
use lorelane_core::guard::quarantine;
use lorelane_core::lifecycle::Status;
use lorelane_core::mark::{MARKS_FOLDER, Marks};
use lorelane_core::memory::{Category, LaneId, MemoryKind, NOTE_FOLDERS_MAX};
use lorelane_core::path::RelPath;
use lorelane_core::policy::DEFAULT_ROOT;
use lorelane_core::secret_diff;
use lorelane_core::time::Timestamp;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A memory revised more often than this may have drifted from its subject.
const HEAVILY_REVISED: u64 = 5;
const RECENT_DAYS: i64 = 7;
/// How many files outside category folders are named; more than this usually have one cause.
const STRAYS_MAX: usize = 20;
/// How many of the memories that git removed are named.
const TAKEN_MAX: usize = 5;
/// How many folders are searched for such files: `memory_root` may be a large tree.
const STRAY_FOLDERS_MAX: usize = 200;

/// Problems, and what only looks like one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagnosis {
    pub findings: Vec<Finding>,
    /// Deviations that are intended, such as memories that a git checkout removed.
    pub notes: Vec<String>,
}

/// Which files are parsed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ContentCheck {
    /// Those that changed since they were indexed, or had problems then. Parsing all is half of `doctor`.
    Suspect,
    All,
}

/// The data of `status`.
#[derive(Clone, Debug)]
pub struct Overview {
    pub counts: BTreeMap<(MemoryKind, Status), usize>,
    pub listing: Sync,
    pub heavily_revised: Vec<MemorySummary>,
    /// Retired in the last seven days, with the days since.
    pub recently_retired: Vec<(MemorySummary, i64)>,
    pub pinned: usize,
    /// Captured items that wait in the inbox.
    pub waiting: usize,
    pub unreadable: usize,
}

impl Overview {
    /// The number of memories with a status, of the kinds that `of` accepts.
    pub fn count(&self, status: Status, of: impl Fn(MemoryKind) -> bool) -> usize {
        let counts = self.counts.iter().filter(|((kind, counted), _)| *counted == status && of(*kind));
        counts.map(|(_, count)| count).sum()
    }
}

/// Whether `index.md` matches the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sync {
    InSync {
        entries: usize,
    },
    Missing,
    Differs,
    /// A file that lorelane did not write has its name. That is no problem: there is no listing then.
    Foreign,
}

impl Maintenance<'_> {
    pub fn overview(&mut self) -> Result<Overview, Failure> {
        self.scan()?;
        let now = self.workspace.now;
        let since_retired = |entry: &MemorySummary| entry.status_at.map(|at| now.days_since(at));
        let is_heavy =
            |entry: &MemorySummary| entry.status == Status::Active && entry.revised > HEAVILY_REVISED;
        let is_recent = |entry: &MemorySummary| {
            entry.status == Status::Retired
                && since_retired(entry).is_some_and(|days| (0..=RECENT_DAYS).contains(&days))
        };
        // Filtered row by row: collecting every entry of a large store first would take too much memory.
        let (mut heavily_revised, mut recently_retired) = (Vec::new(), Vec::new());
        let (mut counts, mut unreadable) = (BTreeMap::new(), 0);
        for lane in &mut self.workspace.lanes {
            let noted = lane.with_index(|index| {
                index.with_entries(ListFilter::default(), |entries| {
                    entries.filter(|entry| is_heavy(entry) || is_recent(entry)).collect::<Vec<_>>()
                })
            })?;
            for entry in noted {
                match since_retired(&entry) {
                    Some(days) if is_recent(&entry) => recently_retired.push((entry, days)),
                    _ => heavily_revised.push(entry),
                }
            }
            counts.append(&mut lane.with_index(Index::counts)?);
            unreadable += lane.with_index(Index::unreadable)?.len();
        }
        heavily_revised.sort_by(|a, b| b.revised.cmp(&a.revised).then_with(|| a.address.cmp(&b.address)));
        Ok(Overview {
            counts,
            listing: self.workspace.lanes.records_mut().listing_sync()?.expect("records have a listing"),
            heavily_revised,
            recently_retired,
            pinned: self.workspace.marks().pinned.len(),
            waiting: self.workspace.capture().inbox_count(),
            unreadable,
        })
    }

    /// Runs all checks and returns their findings in order.
    pub fn diagnose(&mut self, secrets: bool) -> Result<Diagnosis, Failure> {
        let (mut findings, mut notes) = (Vec::new(), Vec::new());
        self.workspace.refresh()?;
        self.check_config(&mut findings);
        for lane in &mut self.workspace.lanes {
            lane.check_index(&mut findings)?;
            lane.check_folders(&mut findings);
            lane.check_contents(secrets, &mut findings)?;
            notes.extend(lane.check_listing(&mut findings)?);
            notes.extend(lane.check_journal(&self.workspace.project.root, &mut findings));
        }
        self.workspace.check_project(&mut findings);
        self.check_places(&mut findings);
        self.check_moved_notes(&mut findings);
        self.check_marks(&mut findings);
        self.check_model(&mut findings);
        findings.extend(WorkingSet::examine(self.workspace));
        Ok(Diagnosis { findings, notes })
    }

    /// Only compares the indexes with rebuilt ones (`doctor --index`).
    pub fn diagnose_index(&mut self) -> Result<Vec<Finding>, Failure> {
        let mut findings = Vec::new();
        self.workspace.refresh()?;
        for lane in &mut self.workspace.lanes {
            lane.check_index(&mut findings)?;
            lane.compare_index(&mut findings)?;
        }
        Ok(findings)
    }

    /// Reads every page of the indexes and rebuilds those that are damaged.
    pub fn verify_indexes(&mut self) -> Result<(), Failure> {
        self.workspace.lanes.iter_mut().try_for_each(|lane| lane.verify_index().map(drop))
    }

    fn check_config(&self, findings: &mut Vec<Finding>) {
        for problem in &self.workspace.policy.problems {
            let hint = if problem.stops_writes {
                "fix the file: nothing is written until then"
            } else {
                "fix the file; `lorelane config list` shows every key with the value in force"
            };
            findings.push(Finding { check: "config", what: problem.to_string(), hint: hint.to_owned() });
        }
        for held in &self.workspace.policy.held_back {
            let hint = "if you trust this project, allow it with `lorelane trust`".to_owned();
            findings.push(Finding { check: "trust", what: format!("held back: {held}"), hint });
        }
        let left = self.workspace.files().left_behind();
        if left > 0 {
            let what =
                format!("memories in {DEFAULT_ROOT} are not read ({left}): memory_root names another folder");
            let hint = "move them there, or set memory_root back".to_owned();
            findings.push(Finding { check: "config", what, hint });
        }
    }

    /// Reads and verifies the added model, which takes some 100 ms.
    fn check_model(&self, findings: &mut Vec<Finding>) {
        let Ok(models) = self.model_store() else { return };
        if let Err(fault) = models.verified() {
            findings.push(Finding { check: "model", what: fault.to_string(), hint: fault.hint().to_owned() });
        }
    }

    /// Reports a file or a pipe in place of a folder of notes or marks.
    fn check_places(&self, findings: &mut Vec<Finding>) {
        let places = [
            self.workspace.notes.as_ref().map(|place| (place.root.clone(), "no notes are read or written")),
            Some((self.workspace.project.root.join(MARKS_FOLDER), "no marks are read or written")),
        ];
        for (path, effect) in places.into_iter().flatten() {
            if let Ok(Some(stat)) = self.workspace.disk.stat(&path)
                && !matches!(stat.kind, disk::FileType::Folder | disk::FileType::Symlink)
            {
                let what = format!("{} is not a folder, so {effect}", path.display());
                findings.push(Finding { check: "file", what, hint: "move it elsewhere".to_owned() });
            }
        }
    }

    /// Reports copies of notes that a `notes move` left when it was killed.
    fn check_moved_notes(&self, findings: &mut Vec<Finding>) {
        let Some((other, files)) = self.workspace.copies_left() else { return };
        let what = format!(
            "an interrupted move left copies of notes ({}) in {}",
            files.len(),
            other.folder("").display()
        );
        let to = self.workspace.policy.notes_storage().name();
        let hint = format!("`lorelane notes move --to {to}` removes these copies");
        findings.push(Finding { check: "file", what, hint });
    }

    fn check_marks(&self, findings: &mut Vec<Finding>) {
        let mut found = |what, hint: &str| {
            findings.push(Finding { check: "marks", what, hint: hint.to_owned() });
        };
        if let Some(what) = self.workspace.files().marks_not_read() {
            found(what, "remove lines about memories that no longer exist");
        }
        match self.workspace.read_marks() {
            Ok(Marks { unread: 0, .. }) => {}
            Ok(Marks { unread, .. }) => found(
                format!("cannot read all lines of .lorelane/marks.jsonl ({unread} unreadable)"),
                "remove conflict markers by hand",
            ),
            Err(failure) => found(failure.to_string(), "put a regular, readable file in its place"),
        }
    }
}

impl Lane {
    /// Whether `index.md` matches the files; `None` for a lane without one.
    fn listing_sync(&mut self) -> Result<Option<Sync>, Failure> {
        let Some((path, wanted)) = self.listing()? else { return Ok(None) };
        let Some(files) = self.files.clone() else { return Ok(None) };
        if is_foreign(&*files.disk, &files.file(&path)) {
            return Ok(Some(Sync::Foreign));
        }
        let entries = wanted.lines().filter(|line| line.starts_with("- [")).count();
        Ok(Some(match files.disk.read_regular(&files.file(&path), LISTING_MAX_BYTES) {
            Ok(None) if entries == 0 => Sync::InSync { entries },
            Ok(None) => Sync::Missing,
            Ok(Some(bytes)) if bytes == wanted.as_bytes() => Sync::InSync { entries },
            // An unreadable listing differs too: `reindex` replaces it.
            Ok(Some(_)) | Err(_) => Sync::Differs,
        }))
    }

    fn check_folders(&self, findings: &mut Vec<Finding>) {
        match self.dialect.extent() {
            Extent::Folders(_) => {
                self.check_categories(findings);
                self.check_strays(findings);
            }
            Extent::Tree(_) => self.check_tree(findings),
        }
    }

    /// Reports names that are not UTF-8: they cannot be an address, so nobody could name the file in a command.
    fn check_names(&self, folder: &str, findings: &mut Vec<Finding>) {
        let Some(files) = &self.files else { return };
        let names = files.disk.unreadable_names(&files.root.join(folder)).unwrap_or_default();
        for name in names.into_iter().take(STRAYS_MAX) {
            let what = format!("{} has a name that is not UTF-8, so it is ignored", joined(folder, &name));
            findings.push(Finding { check: "file", what, hint: "rename it".to_owned() });
        }
    }

    fn check_tree(&self, findings: &mut Vec<Finding>) {
        let mut found =
            |what, hint: &str| findings.push(Finding { check: "file", what, hint: hint.to_owned() });
        if let Ok(Some(_)) = self.documents.stat(FORMER_INDEX) {
            found(
                format!("{}/{FORMER_INDEX} is the index of another program; it is left alone", self.known_as),
                "remove it if nothing else uses these notes",
            );
        }
        let folders: Vec<String> = self.files().times.into_keys().collect();
        for folder in &folders {
            let listed = match self.documents.list(folder) {
                Ok(listed) => listed.unwrap_or_default(),
                Err(fault) => {
                    let named = self.folder(folder).display().to_string();
                    found(
                        format!("{named} cannot be listed, so nothing in it is read: {fault}"),
                        "check the permissions",
                    );
                    continue;
                }
            };
            // In a folder of two lanes, each file is looked at by its own.
            let is_anothers = |name: &str| {
                self.id() == LaneId::Auto && name.ends_with(".md") && !self.dialect.is_memory_name(name)
            };
            for DirEntry { name, kind } in listed {
                if name.starts_with(".lorelane-") && name.ends_with(".tmp") {
                    found(
                        format!("{} was left by an interrupted write", joined(folder, &name)),
                        "the next change removes it",
                    );
                } else if kind == disk::FileType::Folder && is_too_deep(&joined(folder, &name)) {
                    let what =
                        format!("{} is nested too deeply, so nothing in it is read", joined(folder, &name));
                    found(what, &format!("notes can be at most {NOTE_FOLDERS_MAX} folders deep"));
                } else if kind == disk::FileType::Symlink && !name.starts_with('.') && !is_anothers(&name) {
                    let what = format!("{} is a symbolic link, which is not followed", joined(folder, &name));
                    found(what, "replace it with what it points to");
                }
            }
        }
        for folder in &folders {
            self.check_names(folder, findings);
        }
        let mut folded: BTreeMap<String, RelPath> = BTreeMap::new();
        for path in self.files().files {
            if let Some(other) = folded.insert(path.as_str().to_lowercase(), path.clone()) {
                let what = format!(
                    "{other} and {path} differ only in case: many file systems can hold only one of them"
                );
                findings.push(Finding { check: "file", what, hint: "rename one of them".to_owned() });
            }
        }
    }

    fn check_categories(&self, findings: &mut Vec<Finding>) {
        for folder in std::iter::once("").chain(Category::ALL.map(Category::folder)) {
            self.check_names(folder, findings);
        }
        for listed in self.documents.list("").ok().flatten().unwrap_or_default() {
            if quarantine::is_aside(&listed.name) {
                findings.push(quarantined(&listed.name));
            }
        }
        let mut found =
            |check, what, hint: &str| findings.push(Finding { check, what, hint: hint.to_owned() });
        for category in Category::ALL {
            if let Ok(Some(stat)) = self.documents.stat(category.folder())
                && stat.kind != disk::FileType::Folder
            {
                found(
                    "file",
                    format!("{} is not a folder, so nothing in it is read", category.folder()),
                    "put a folder in its place",
                );
                continue;
            }
            let listed = match self.documents.list(category.folder()) {
                Ok(listed) => listed.unwrap_or_default(),
                Err(fault) => {
                    let what =
                        format!("{} cannot be listed, so nothing in it is read: {fault}", category.folder());
                    found("file", what, "check the permissions");
                    continue;
                }
            };
            for listed in listed {
                let name = &listed.name;
                if name.starts_with(".lorelane-") && name.ends_with(".tmp") {
                    found(
                        "file",
                        format!("{}/{name} was left by an interrupted write", category.folder()),
                        "the next change removes it",
                    );
                } else if quarantine::is_aside(name) {
                    let Finding { check, what, hint } = quarantined(&format!("{}/{name}", category.folder()));
                    found(check, what, &hint);
                } else if !name.ends_with(".json") && !name.ends_with(".md") {
                    found(
                        "file",
                        format!("{}/{name} is not a memory", category.folder()),
                        "move it elsewhere",
                    );
                }
            }
        }
    }

    /// Reports JSON files outside category folders: they look like memories and are never read.
    fn check_strays(&self, findings: &mut Vec<Finding>) {
        let strays = self.strays();
        for path in strays.iter().take(STRAYS_MAX) {
            findings.push(Finding {
                check: "file",
                what: format!("{path} is not in a category's folder, so it is ignored"),
                hint: "save its content with `lorelane create CATEGORY --from FILE`, or move it elsewhere"
                    .to_owned(),
            });
        }
        if strays.len() > STRAYS_MAX {
            findings.push(Finding {
                check: "file",
                what: format!("more than {STRAYS_MAX} files are not in a category's folder"),
                hint: "the others are listed once these are gone".to_owned(),
            });
        }
    }

    /// The sorted paths of such files; one more than [`STRAYS_MAX`] if there are more. Only JSON can be
    /// mistaken for a record: Claude Code keeps its own memories as Markdown in the same folder. Hidden files
    /// belong to other tools.
    fn strays(&self) -> Vec<String> {
        let belongs = |name: &str| {
            name == LISTING
                || name == RECORDS_CONFIG
                || Category::of_folder(name).is_some()
                || quarantine::is_aside(name)
        };
        let (mut strays, mut folders, mut looked) = (Vec::new(), vec![String::new()], 0);
        while let Some(folder) = folders.pop() {
            looked += 1;
            let listed = self.documents.list(&folder).ok().flatten().unwrap_or_default();
            for DirEntry { name, kind } in listed {
                if name.starts_with('.') || (folder.is_empty() && belongs(&name)) {
                    continue;
                }
                let path = joined(&folder, &name);
                if kind == disk::FileType::Folder {
                    folders.push(path);
                } else if name.ends_with(".json") {
                    strays.push(path);
                }
            }
            if strays.len() > STRAYS_MAX || looked == STRAY_FOLDERS_MAX {
                break;
            }
        }
        strays.sort_unstable();
        strays
    }

    fn check_index(&mut self, findings: &mut Vec<Finding>) -> Result<(), Failure> {
        if let Some(fault) = self.verify_index()? {
            findings.push(Finding {
                check: "index",
                what: format!("the index was damaged and has been rebuilt: {fault}"),
                hint: "nothing is lost; if it happens again, check the disk".to_owned(),
            });
        }
        Ok(())
    }

    /// Reads every file once, for problems in it and to compare it with what was indexed.
    fn check_contents(&mut self, secrets: bool, findings: &mut Vec<Finding>) -> Result<(), Failure> {
        let read = if secrets { ContentCheck::All } else { ContentCheck::Suspect };
        let mut lag = self.lag(read, &mut |file, reading| check_reading(reading, file, secrets, findings));
        if matches!(lag, Ok(Some(_))) {
            // The index may lag behind a file that was edited in place or changed while we read. That is not
            // a fault of the index, so it is reported only if a scan does not fix it.
            self.scan()?;
            lag = self.lag(ContentCheck::Suspect, &mut |_, _| {});
        }
        self.report_index(lag, "`lorelane reindex` rewrites it", findings);
        Ok(())
    }

    /// Compares the whole index with a rebuilt one.
    fn compare_index(&mut self, findings: &mut Vec<Finding>) -> Result<(), Failure> {
        let mut difference = self.difference();
        if matches!(difference, Ok(Some(_))) {
            self.scan()?;
            difference = self.difference();
        }
        self.report_index(difference, "`lorelane reindex --full` rebuilds it", findings);
        Ok(())
    }

    /// The first file whose digest is not the indexed one. The rows need no comparison: the pages have check
    /// values, so rows made from the same bytes are the same.
    fn lag(
        &self,
        check: ContentCheck,
        inspect: &mut dyn FnMut(&RelPath, Result<&ParsedFile, &str>),
    ) -> Result<Option<String>, IndexError> {
        let LaneListing { files, times } = self.files();
        let mut sources = self.index.sources()?;
        let mut first = None;
        for file in &files {
            let content = self.content(file);
            let Some(mut source) = content.source() else { continue };
            let known = sources.remove(file.as_str());
            let is_sound = known.is_some_and(|known| known.file == source && !known.has_problems)
                && check == ContentCheck::Suspect;
            match content {
                _ if is_sound => continue,
                FileContent::Gone => {}
                FileContent::Unread { what, .. } => inspect(file, Err(&what)),
                FileContent::Read { bytes, .. } => {
                    let reading = self.dialect.read(file, bytes);
                    inspect(file, Ok(&reading));
                    source.digest = source.digest.filter(|_| reading.memory.is_some());
                }
            }
            if known.map(|known| known.file) != Some(source) && first.is_none() {
                first = Some(file.to_string());
            }
        }
        Ok(match first.or_else(|| sources.into_keys().min()) {
            Some(file) => Some(file),
            None => self.index.times_differ(&times)?,
        })
    }

    fn difference(&self) -> Result<Option<String>, IndexError> {
        let LaneListing { files, times } = self.files();
        self.index.difference(files.iter().map(|file| self.row(file)), &times)
    }

    fn report_index(
        &self,
        difference: Result<Option<String>, IndexError>,
        remedy: &'static str,
        findings: &mut Vec<Finding>,
    ) {
        let (what, hint) = match (&self.index_fault, difference) {
            (Some(why), _) => (
                format!("cannot keep the index on disk: {why}"),
                "commands use an index in memory, which is slower; make the cache folder writable",
            ),
            (None, Ok(Some(place))) => (format!("the index differs from a rebuild: {place}"), remedy),
            (None, Err(fault)) => (fault.to_string(), remedy),
            (None, Ok(None)) => return,
        };
        findings.push(Finding { check: "index", what, hint: hint.to_owned() });
    }

    /// Returns a note if `index.md` is somebody's own file, which is not a problem.
    fn check_listing(&mut self, findings: &mut Vec<Finding>) -> Result<Option<String>, Failure> {
        let what = match self.listing_sync()? {
            None | Some(Sync::InSync { .. }) => return Ok(None),
            Some(Sync::Foreign) => {
                let note = "index.md was not made by lorelane and is left alone; for a list of the memories \
                            there, rename it, then run `lorelane reindex`";
                return Ok(Some(note.to_owned()));
            }
            Some(Sync::Missing) => "index.md is missing",
            Some(Sync::Differs) => "index.md does not match the memories",
        };
        findings.push(Finding {
            check: "listing",
            what: what.to_owned(),
            hint: "`lorelane reindex` rewrites it".to_owned(),
        });
        Ok(None)
    }

    /// Returns a note about memories that git removed, which is not a problem.
    fn check_journal(&self, project: &Path, findings: &mut Vec<Finding>) -> Option<String> {
        let mut found = |what, hint: String| findings.push(Finding { check: "journal", what, hint });
        match self.unfinished_forgets() {
            Ok(None) => {}
            Ok(Some(left)) => {
                let names: Vec<String> = left.traces.addresses.iter().map(ToString::to_string).collect();
                found(
                    format!("{} is not completely forgotten yet", names.join(", ")),
                    "the next change completes this, and so does `lorelane forget`".to_owned(),
                );
            }
            Err(failure) => found(failure.to_string(), "check the permissions".to_owned()),
        }
        if let Some(Ok(Some(folder))) = self.files.as_ref().map(|files| files.store.foreign_journal()) {
            found(
                format!("{} is a journal that you did not create, so it is not read", folder.display()),
                "it came with the repository; remove that folder".to_owned(),
            );
        }
        for fault in self.documents.log().verify() {
            found(fault.to_string(), fault.hint().into_owned());
        }
        let ExternalChanges { changed, deleted } = match self.documents.log().outside() {
            Ok(outside) => outside,
            Err(fault) => {
                let hint = "edits outside lorelane cannot be detected without the log";
                found(fault.to_string(), hint.to_owned());
                return None;
            }
        };
        for path in changed {
            found(
                format!("{path} was edited outside lorelane (git or by hand)"),
                "harmless: its last change can no longer be undone; the next one starts from the file"
                    .to_owned(),
            );
        }
        let files: Vec<(PathBuf, Option<Timestamp>)> =
            deleted.iter().map(|(path, written)| (self.file(path), Some(*written))).collect();
        let by_git = git::taken_away(project, &files);
        let (taken, deleted): (Vec<&RelPath>, Vec<&RelPath>) =
            deleted.keys().partition(|path| by_git.contains(&self.file(path).as_path()));
        for path in deleted {
            // A file from quarantine has no address and is not a memory.
            let Some(address) = self.dialect.address_of(path) else { continue };
            found(
                format!("{path} was deleted outside lorelane; the log still has it"),
                format!(
                    "`lorelane restore {address}` brings it back; `lorelane forget {address}` removes it from \
                     the log"
                ),
            );
        }
        (!taken.is_empty()).then(|| {
            let names: Vec<&str> = taken.iter().take(TAKEN_MAX).map(|path| path.as_str()).collect();
            let more = if taken.len() > TAKEN_MAX { ", …" } else { "" };
            let names = names.join(", ");
            format!(
                "git removed {} of the memories in the log; `lorelane restore` brings one back: {names}{more}",
                taken.len()
            )
        })
    }
}

fn is_too_deep(folder: &str) -> bool {
    folder.split('/').count() > NOTE_FOLDERS_MAX
}

fn quarantined(path: &str) -> Finding {
    let what = format!("{path} is in quarantine: it was written outside lorelane and is not a valid memory");
    let hint =
        "save its content with `lorelane create`, then remove it; `lorelane log` shows when it was put there";
    Finding { check: "file", what, hint: hint.to_owned() }
}

fn check_reading(
    reading: Result<&ParsedFile, &str>,
    path: &RelPath,
    secrets: bool,
    findings: &mut Vec<Finding>,
) {
    let mut found = |check, what, hint: &str| findings.push(Finding { check, what, hint: hint.to_owned() });
    let reading = match reading {
        Ok(reading) => reading,
        Err(why) => {
            return found("file", format!("{path}: {why}"), "put a regular, readable file in its place");
        }
    };
    let hint = match &reading.memory {
        Some(_) => "fix it with `lorelane edit`, or by hand",
        None => "fix the file; it is ignored until then",
    };
    // What Claude Code writes in its own files is not a fault of the store; `auto status` lists it.
    let is_clients = reading.memory.as_ref().is_some_and(|memory| memory.address.is_auto());
    for problem in reading.problems.iter().filter(|_| !is_clients) {
        found("file", format!("{path}: {}", problem.what), hint);
    }
    let Some(memory) = reading.memory.as_ref().filter(|_| secrets) else { return };
    for fault in secret_diff::added(None, memory) {
        let what =
            format!("{}: {} contains a {} ({})", memory.address, fault.field, fault.kind, fault.masked);
        found("secret", what, "revoke it, then remove it with `lorelane edit`; git may still have it");
    }
}
