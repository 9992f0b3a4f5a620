//! What tools did to the lane past the fence: files that are no memories are put aside, memories that they destroyed
//! or removed are put back.
//!
//! Examined is what changed since it was last examined, whoever has indexed it meanwhile: a scan of the server or of
//! another command does not excuse it.

use crate::backend::Edit;
use crate::config::RECORDS_CONFIG;
use crate::disk::{FileType, RealDisk};
use crate::env::Env;
use crate::git;
use crate::index::{Index, UnauditedChange, digest};
use crate::workspace::lane::CommittedFiles;
use crate::workspace::lane::Lane;
use crate::workspace::open::locate::locate;
use crate::workspace::write_guard::change_stamp::LaneFingerprint;
use crate::workspace::write_guard::{guard, real_path};
use crate::workspace::{Failure, Workspace};
use lorelane_core::dialect::records::Records;
use lorelane_core::fence::{inline, name as inert};
use lorelane_core::guard::{ToolUse, quarantine};
use lorelane_core::memory::{Address, LaneId};
use lorelane_core::path::RelPath;
use lorelane_core::time::Timestamp;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A hook must end soon: what one command wrote beyond this is for `doctor`.
const EXAMINED_MAX: usize = 64;
/// A larger file is left where it is: the journal would have to keep it.
const QUARANTINED_MAX_BYTES: u64 = 16 << 20;
/// How many files of a large lane are compared after each tool: 2 ms, where a stat is slow.
const COMPARED: usize = 500;
/// How many names in a command are looked for.
const NAMED_MAX: usize = 16;
/// How many names are tried for a file that is put aside.
const NAMES_MAX: usize = 1_000;

/// What a file that somebody wrote without lorelane turned out to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AuditResult {
    /// It does not lie in the lane, or nothing is there.
    Outside,
    /// A valid memory.
    Fine { address: Address },
    /// The settings of the records, which may be written by hand.
    Config,
    /// No memory and not meant to be one: left where it is.
    Foreign { name: String },
    /// It is no valid memory, but git brought it, or somebody is in the middle of a merge: left where it is.
    LeftToGit { path: RelPath },
    /// It is no valid memory. Its bytes are kept under another name, and nobody reads them as a memory.
    Quarantined { from: RelPath, to: RelPath, why: String, former: PreviousMemory },
    /// A memory was there, and nothing is.
    Removed { path: RelPath, address: Address, former: PreviousMemory },
}

/// What became of the memory that was there before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PreviousMemory {
    /// There was none.
    None,
    /// It is there again.
    Back,
    /// It was not written by lorelane, so the journal does not have it.
    NotInJournal,
}

/// Examines what tools that ran in the folder `start` may have written into its lane, whether the fence saw it or
/// not. Nearly free when nothing in the lane changed.
pub fn audit_external_writes(
    env: &Env,
    start: &Path,
    tools: &[ToolUse],
) -> Result<Vec<AuditResult>, Failure> {
    let (denied, allowed): (Vec<&ToolUse>, Vec<&ToolUse>) = tools
        .iter()
        .filter(|tool| **tool != ToolUse::Other)
        .partition(|tool| guard(env, start, tool).is_some());
    let mut examined = Vec::new();
    for tool in &denied {
        // A tool that names its file needs no index to tell what is new.
        if let ToolUse::Write { path } = tool {
            examined.push(Workspace::open(env, start)?.external_writes().audit_file(&start.join(path))?);
        }
    }
    if denied.is_empty() && allowed.is_empty() {
        return Ok(examined);
    }
    let located = locate(&RealDisk, start)?;
    let glance = LaneFingerprint::at(env, &located.lane);
    if let LaneFingerprint::Same = glance {
        return Ok(examined);
    }
    let mut workspace = Workspace::open_on(Arc::new(RealDisk), env, located)?;
    // What git brings or takes away was agreed on elsewhere.
    let is_excused = denied.is_empty() && allowed.iter().any(|tool| tool.runs_git());
    match glance {
        LaneFingerprint::Same => {}
        LaneFingerprint::Changed(stamp) => {
            workspace.external_writes().scan_lane()?;
            examined.extend(workspace.external_writes().audit_found(is_excused)?);
            // More than one call examines is for the next one.
            if workspace.lanes.records_mut().with_index(|index| index.unexamined(1))?.is_empty() {
                stamp.keep();
            }
        }
        LaneFingerprint::Large { after, stamp } => {
            let named: Vec<String> = tools.iter().flat_map(ToolUse::json_files).take(NAMED_MAX).collect();
            let after = workspace.external_writes().scan_part(&after, &named)?;
            examined.extend(workspace.external_writes().audit_found(is_excused)?);
            stamp.keep_place(&after);
        }
    }
    Ok(examined)
}

impl AuditResult {
    /// What the agent that wrote it has to know.
    pub fn objection(&self) -> Option<String> {
        match self {
            AuditResult::Outside
            | AuditResult::Fine { .. }
            | AuditResult::Config
            | AuditResult::LeftToGit { .. } => None,
            AuditResult::Foreign { name } => Some(format!(
                "{} was written into the memory folder by hand and is no memory. Remove it, or save what it says with `lorelane create`.",
                inline(name, 120)
            )),
            AuditResult::Quarantined { from, to, why, former } => {
                let (former, instead) = match former {
                    PreviousMemory::None => {
                        ("", "Save it with `lorelane create CATEGORY --from FILE` instead.")
                    }
                    PreviousMemory::Back => (
                        " The memory that it had overwritten is back.",
                        "Change that with `lorelane update ADDRESS --from FILE` instead.",
                    ),
                    PreviousMemory::NotInJournal => (
                        " The memory that it had overwritten was not written by lorelane, so only git may have it: `git log -p -- FILE`.",
                        "Save what is new with `lorelane create CATEGORY --from FILE` instead.",
                    ),
                };
                Some(format!(
                    "{} was written by hand and is no valid memory: {}. Its bytes are kept as {}, and nobody reads it as a memory.{former} {instead}",
                    inert(from.as_str()),
                    inline(why, 300),
                    inert(to.as_str()),
                ))
            }
            AuditResult::Removed { path, address, former: PreviousMemory::Back } => Some(format!(
                "{path} was removed by hand. The memory is back: take it out of recall with `lorelane retire {address} --reason REASON` instead."
            )),
            AuditResult::Removed { path, address, .. } => Some(format!(
                "{path} was removed by hand, and the journal does not have it as it was. `lorelane restore {address}` brings back the version that lorelane wrote last; git may have a newer one: `git log -p -- FILE`."
            )),
        }
    }
}

/// A file before anything is done about it.
enum AuditedFile {
    Known(AuditResult),
    Invalid { bytes: Vec<u8>, why: String },
    Removed { address: Address },
}

/// Who may have written what is examined.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Writer {
    /// A tool that named the file.
    Tool,
    /// Whoever wrote since the last look, git included.
    Anybody,
}

/// Writes to memory files that went past lorelane, for as long as the workspace is borrowed.
#[derive(Debug)]
pub struct ExternalWrites<'w> {
    workspace: &'w mut Workspace,
}

impl Workspace {
    pub fn external_writes(&mut self) -> ExternalWrites<'_> {
        ExternalWrites { workspace: self }
    }
}

impl ExternalWrites<'_> {
    /// Examines one file that a tool wrote. `path` is absolute.
    pub fn audit_file(&mut self, path: &Path) -> Result<AuditResult, Failure> {
        let real = real_path(path, 1);
        let Ok(inside) = real.strip_prefix(self.workspace.lanes.records().folder("")) else {
            return Ok(AuditResult::Outside);
        };
        let inside = inside.to_string_lossy().replace('\\', "/");
        let name = inside.rsplit('/').next().unwrap_or_default().to_owned();
        let Ok(path) = RelPath::parse(&inside) else { return Ok(AuditResult::Foreign { name }) };
        let before = self.workspace.lanes.records_mut().with_index(|index| index.digest_before(&path))?;
        let changed = UnauditedChange { path, before };
        let examined = self.audit_all(std::slice::from_ref(&changed), Writer::Tool)?.pop();
        if let Some(AuditResult::Fine { .. }) = examined {
            // It may have been edited in place, which the times of its folder do not tell.
            self.workspace.lanes.records_mut().index_paths(&[changed.path])?;
        }
        Ok(examined.unwrap_or(AuditResult::Outside))
    }

    /// Examines the files that changed since they were last examined.
    pub fn audit(&mut self) -> Result<Vec<AuditResult>, Failure> {
        self.scan_lane()?;
        self.audit_found(false)
    }

    fn scan_lane(&mut self) -> Result<(), Failure> {
        self.begin_examining()?;
        self.workspace.lanes.records_mut().scan()
    }

    /// Looks at what a large lane shows cheaply: folders that changed, files that a tool named, and the next ones
    /// of all files, so that a file that was edited in place is found in its turn. Returns where that goes on.
    fn scan_part(&mut self, after: &str, named: &[String]) -> Result<String, Failure> {
        self.begin_examining()?;
        let records = self.workspace.lanes.records_mut();
        records.refresh()?;
        records.scan_some(after, COMPARED, named)
    }

    /// Examines what scans found changed: so many files that a hook ends soon. What is excused is right as it is.
    fn audit_found(&mut self, is_excused: bool) -> Result<Vec<AuditResult>, Failure> {
        let changed =
            self.workspace.lanes.records_mut().with_index(|index| index.unexamined(EXAMINED_MAX))?;
        match is_excused {
            true if changed.is_empty() => Ok(Vec::new()),
            true => {
                self.workspace.lanes.records_mut().with_index(Index::set_all_examined).map(|()| Vec::new())
            }
            false => self.audit_all(&changed, Writer::Anybody),
        }
    }

    /// A person speaks, so no tool of theirs runs. From now on changes are examined; what is gone by now is left to
    /// them: they may remove a file, and `doctor` names it.
    pub fn begin_turn(&mut self) -> Result<(), Failure> {
        self.workspace.lanes.records_mut().refresh()?;
        self.begin_examining()?;
        let records = self.workspace.lanes.records_mut();
        let mut gone = records.with_index(|index| index.unexamined(EXAMINED_MAX))?;
        gone.retain(|changed| !records.stands(&changed.path));
        if gone.is_empty() {
            return Ok(());
        }
        records.with_index(|index| index.set_examined(gone.iter().map(|gone| &gone.path)))
    }

    /// What the index knows is where it begins: what was there before is not touched. One that knows nothing looks
    /// first.
    fn begin_examining(&mut self) -> Result<(), Failure> {
        let records = self.workspace.lanes.records_mut();
        if records.with_index(Index::is_examined)? {
            return Ok(());
        }
        if !records.with_index(Index::knows_a_whole_lane)? {
            records.scan()?;
        }
        records.with_index(Index::begin_examining)
    }

    fn audit_all(
        &mut self,
        changed: &[UnauditedChange],
        writer: Writer,
    ) -> Result<Vec<AuditResult>, Failure> {
        let (mut examined, mut harmed) = (Vec::new(), Vec::new());
        for changed in changed {
            match sight(self.workspace.lanes.records(), changed) {
                AuditedFile::Known(known) => examined.push(known),
                AuditedFile::Invalid { bytes, .. } => {
                    harmed.push((changed, quarantine::has_conflict(&bytes)))
                }
                AuditedFile::Removed { .. } => harmed.push((changed, false)),
            }
        }
        if writer == Writer::Anybody {
            let left = self.left_to_git(&harmed);
            harmed.retain(|(changed, _)| !left.contains(&changed.path));
            examined.extend(left.into_iter().map(|path| AuditResult::LeftToGit { path }));
        }
        // The lock is for those that need it: most files are fine.
        if !harmed.is_empty() {
            let harmed: Vec<&UnauditedChange> = harmed.into_iter().map(|(changed, _)| changed).collect();
            examined.extend(self.repair(&harmed)?);
        }
        if !changed.is_empty() {
            let paths = || changed.iter().map(|changed| &changed.path);
            self.workspace.lanes.records_mut().with_index(|index| index.set_examined(paths()))?;
        }
        Ok(examined)
    }

    /// Those of the harmed files that git explains: to put one aside would take a half-done merge apart, and what
    /// another branch does not have must not come back.
    fn left_to_git(&self, harmed: &[(&UnauditedChange, bool)]) -> Vec<RelPath> {
        if harmed.is_empty() {
            return Vec::new();
        }
        let in_a_merge = git::is_unsettled(&self.workspace.project.root);
        let file = |changed: &UnauditedChange| self.workspace.lanes.records().file(&changed.path);
        let (there, gone): (Vec<PathBuf>, Vec<PathBuf>) = harmed
            .iter()
            .map(|(changed, _)| file(changed))
            .partition(|file| self.workspace.disk.exists(file));
        let gone: Vec<(PathBuf, Option<Timestamp>)> = gone.into_iter().map(|file| (file, None)).collect();
        let mut untouched = git::untouched(&*self.workspace.disk, &self.workspace.project.root, &there);
        untouched.extend(git::taken_away(&self.workspace.project.root, &gone));
        let explained = harmed.iter().filter(|(changed, has_conflict)| {
            in_a_merge || *has_conflict || untouched.contains(&file(changed).as_path())
        });
        explained.map(|(changed, _)| changed.path.clone()).collect()
    }

    /// Puts invalid files aside and memories back, as one change with a receipt. All are judged again under the
    /// lock: somebody may have mended one.
    fn repair(&mut self, harmed: &[&UnauditedChange]) -> Result<Vec<AuditResult>, Failure> {
        self.workspace.refuse_when_misconfigured()?;
        let documents = Arc::clone(&self.workspace.lanes.records().documents);
        let mut writer = documents.begin()?;
        self.workspace.catch_up(LaneId::Records, &mut *writer)?;
        let mut last = self.former(harmed)?;
        let (mut edits, mut repaired, mut examined) = (Vec::new(), Vec::new(), Vec::new());
        for changed in harmed {
            let path = changed.path.clone();
            let put_back = last.remove(&path).map(|bytes| Edit::Put { path: path.clone(), bytes });
            let former = match (changed.before, &put_back) {
                (None, _) => PreviousMemory::None,
                (Some(_), Some(_)) => PreviousMemory::Back,
                (Some(_), None) => PreviousMemory::NotInJournal,
            };
            match sight(self.workspace.lanes.records(), changed) {
                AuditedFile::Known(known) => {
                    examined.push(known);
                    continue;
                }
                AuditedFile::Invalid { bytes, why } => {
                    let Some(to) = self.free_name(&path) else {
                        examined.push(AuditResult::Foreign { name: path.file_name().to_owned() });
                        continue;
                    };
                    edits.push(Edit::Put { path: to.clone(), bytes });
                    edits.push(put_back.unwrap_or_else(|| Edit::Remove { path: path.clone() }));
                    examined.push(AuditResult::Quarantined { from: path.clone(), to, why, former });
                }
                AuditedFile::Removed { address } => {
                    edits.extend(put_back);
                    examined.push(AuditResult::Removed { path: path.clone(), address, former });
                }
            }
            repaired.push(path);
        }
        let because = because(&examined);
        let done = writer.apply(edits, &because, self.workspace.now)?;
        // What it warns of (a listing that lags, a journal in its shelter) `doctor` and the next change say again.
        self.workspace.settle(
            LaneId::Records,
            writer,
            &done.changes,
            &repaired,
            CommittedFiles::new(),
            &because,
        );
        Ok(examined)
    }

    /// The memories that were in these files before, as far as the journal has exactly them. An older version would
    /// take back what came by git since, a retirement for example.
    fn former(&self, harmed: &[&UnauditedChange]) -> Result<BTreeMap<RelPath, Vec<u8>>, Failure> {
        let before: BTreeMap<&RelPath, i64> =
            harmed.iter().filter_map(|changed| Some((&changed.path, changed.before?))).collect();
        let mut last = self
            .workspace
            .lanes
            .records()
            .documents
            .log()
            .last_writes(&before.keys().copied().collect::<Vec<_>>())?;
        last.retain(|path, bytes| {
            Records::complaint(path, bytes).is_none() && before.get(path) == Some(&digest(bytes))
        });
        Ok(last)
    }

    fn free_name(&self, path: &RelPath) -> Option<RelPath> {
        let names = (0..NAMES_MAX).map_while(|attempt| quarantine::aside(path, self.workspace.now, attempt));
        names
            .into_iter()
            .find(|to| matches!(self.workspace.lanes.records().documents.stat(to.as_str()), Ok(None)))
    }
}

/// Why the change was made that set these right.
fn because(examined: &[AuditResult]) -> String {
    let invalid =
        examined.iter().filter(|examined| matches!(examined, AuditResult::Quarantined { .. })).count();
    match examined {
        [AuditResult::Quarantined { from, .. }] => format!("quarantine: {from} is no valid memory"),
        [AuditResult::Removed { path, .. }] => format!("put back: {path} was removed by hand"),
        several if invalid > 0 => {
            format!("quarantine: {invalid} of {} files are no valid memories", several.len())
        }
        several => format!("put back: {} files were removed by hand", several.len()),
    }
}

fn sight(records: &Lane, changed: &UnauditedChange) -> AuditedFile {
    let path = &changed.path;
    let name = path.file_name().to_owned();
    let foreign = AuditedFile::Known(AuditResult::Foreign { name });
    match (records.documents.stat(path.as_str()), changed.before, Records::address_of(path)) {
        (Ok(None), Some(_), Some(address)) => return AuditedFile::Removed { address },
        (Ok(None), ..) => return AuditedFile::Known(AuditResult::Outside),
        (Ok(Some(stat)), ..) if stat.kind == FileType::File && stat.len <= QUARANTINED_MAX_BYTES => {}
        _ => return foreign,
    }
    if path.as_str() == RECORDS_CONFIG {
        return AuditedFile::Known(AuditResult::Config);
    }
    if !path.as_str().ends_with(".json") {
        return foreign;
    }
    // What cannot be read now is for `doctor` to report.
    let Ok(Some(bytes)) = records.documents.read(path, QUARANTINED_MAX_BYTES) else {
        return AuditedFile::Known(AuditResult::Outside);
    };
    match (Records::complaint(path, &bytes), Records::address_of(path)) {
        (Some(why), _) => AuditedFile::Invalid { bytes, why },
        (None, Some(address)) => AuditedFile::Known(AuditResult::Fine { address }),
        (None, None) => foreign,
    }
}
