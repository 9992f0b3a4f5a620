//! Audits files that tools wrote past the guard: invalid files are quarantined, and memories that were
//! overwritten or removed are restored.
//!
//! A file is audited if it changed since the last audit, even if it was indexed meanwhile: a scan by the
//! server or by another command does not make it valid.

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

/// Files audited per call, because a hook must end soon. The next call audits more.
const EXAMINED_MAX: usize = 64;
/// A larger file is left where it is: quarantine would copy it into the journal.
const QUARANTINED_MAX_BYTES: u64 = 16 << 20;
/// How many files of a large lane are compared after each tool: 2 ms on a system with slow stats.
const COMPARED: usize = 500;
/// How many file names in a command are looked up.
const NAMED_MAX: usize = 16;
/// How many names are tried for a quarantined file.
const NAMES_MAX: usize = 1_000;

/// The result for one file that was written outside lorelane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AuditResult {
    /// It is not in the lane, or it does not exist.
    Outside,
    /// A valid memory.
    Fine { address: Address },
    /// `memory-config.json`, which may be edited by hand.
    Config,
    /// Not a memory and not meant to be one: left where it is.
    Foreign { name: String },
    /// An invalid or removed memory that git explains (a checkout, a merge in progress): left as it is.
    LeftToGit { path: RelPath },
    /// Not a valid memory. It was renamed to `to`, where it is not read as a memory.
    Quarantined { from: RelPath, to: RelPath, why: String, former: PreviousMemory },
    /// A memory whose file was removed.
    Removed { path: RelPath, address: Address, former: PreviousMemory },
}

/// What happened to the memory that the file had before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PreviousMemory {
    /// There was none.
    None,
    /// It was restored.
    Back,
    /// The journal does not have its last version: something other than lorelane wrote it.
    NotInJournal,
}

/// Audits what tool calls in the folder `start` may have written to its lane, whether the guard saw it or
/// not. Costs only stats if nothing in the lane changed.
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
        // The tool names its file, so no scan is needed to find what changed.
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
    // A command that runs git may bring or remove any file: that was decided in the repository.
    let is_excused = denied.is_empty() && allowed.iter().any(|tool| tool.runs_git());
    match glance {
        LaneFingerprint::Same => {}
        LaneFingerprint::Changed(stamp) => {
            workspace.external_writes().scan_lane()?;
            examined.extend(workspace.external_writes().audit_found(is_excused)?);
            // Files beyond `EXAMINED_MAX` are left for the next call, so the stamp must not hide them.
            if workspace.lanes.records_mut().with_index(|index| index.unaudited(1))?.is_empty() {
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
    // The files may name other things now, and the next tool looks into the map.
    workspace.update_act_map()?;
    Ok(examined)
}

impl AuditResult {
    /// The message for the agent that wrote the file.
    pub fn objection(&self) -> Option<String> {
        match self {
            AuditResult::Outside
            | AuditResult::Fine { .. }
            | AuditResult::Config
            | AuditResult::LeftToGit { .. } => None,
            AuditResult::Foreign { name } => Some(format!(
                "{} was written to the memory folder by hand and is not a memory. Remove it, or save \
                 its content with `lorelane create`.",
                inline(name, 120)
            )),
            AuditResult::Quarantined { from, to, why, former } => {
                let (former, instead) = match former {
                    PreviousMemory::None => {
                        ("", "Save it with `lorelane create CATEGORY --from FILE` instead.")
                    }
                    PreviousMemory::Back => (
                        " The memory it overwrote has been restored.",
                        "Change it with `lorelane update ADDRESS --from FILE` instead.",
                    ),
                    PreviousMemory::NotInJournal => (
                        " The memory it overwrote is not in the journal as it was, so only git may have \
                         it: `git log -p -- FILE`.",
                        "Save what is new with `lorelane create CATEGORY --from FILE` instead.",
                    ),
                };
                Some(format!(
                    "{} was written by hand and is not a valid memory: {}. It was renamed to {} \
                     and is not read.{former} {instead}",
                    inert(from.as_str()),
                    inline(why, 300),
                    inert(to.as_str()),
                ))
            }
            AuditResult::Removed { path, address, former: PreviousMemory::Back } => Some(format!(
                "{path} was removed by hand and has been restored. To take it out of recall, run \
                 `lorelane retire {address} --reason REASON` instead."
            )),
            AuditResult::Removed { path, address, .. } => Some(format!(
                "{path} was removed by hand, and its last version is not in the journal. `lorelane restore \
                 {address}` brings back the last version that lorelane wrote; git may have a newer one: \
                 `git log -p -- FILE`."
            )),
        }
    }
}

/// What a changed file is, before anything is done about it.
enum AuditedFile {
    Known(AuditResult),
    Invalid { bytes: Vec<u8>, why: String },
    Removed { address: Address },
}

/// Who may have written a changed file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Writer {
    /// A tool that named the file.
    Tool,
    /// Anybody since the last audit, git included.
    Anybody,
}

/// The audit of files written outside lorelane, for a borrowed workspace.
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
    /// Audits one file that a tool wrote. `path` is absolute.
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
            // It may have been edited in place, which does not change its folder's mtime.
            self.workspace.lanes.records_mut().index_paths(&[changed.path])?;
        }
        Ok(examined.unwrap_or(AuditResult::Outside))
    }

    /// Audits the files that changed since the last audit.
    pub fn audit(&mut self) -> Result<Vec<AuditResult>, Failure> {
        self.scan_lane()?;
        self.audit_found(false)
    }

    fn scan_lane(&mut self) -> Result<(), Failure> {
        self.begin_examining()?;
        self.workspace.lanes.records_mut().scan()
    }

    /// Scans part of a large lane: folders that changed, files that a tool named, and the next [`COMPARED`] of all
    /// files, so that an edit in place is found in its turn. Returns where the next scan begins.
    fn scan_part(&mut self, after: &str, named: &[String]) -> Result<String, Failure> {
        self.begin_examining()?;
        let records = self.workspace.lanes.records_mut();
        records.refresh()?;
        records.scan_some(after, COMPARED, named)
    }

    /// Audits what scans found changed, up to [`EXAMINED_MAX`] files. If excused, all of it counts as audited.
    fn audit_found(&mut self, is_excused: bool) -> Result<Vec<AuditResult>, Failure> {
        let changed = self.workspace.lanes.records_mut().with_index(|index| index.unaudited(EXAMINED_MAX))?;
        match is_excused {
            true if changed.is_empty() => Ok(Vec::new()),
            true => {
                self.workspace.lanes.records_mut().with_index(Index::set_all_examined).map(|()| Vec::new())
            }
            false => self.audit_all(&changed, Writer::Anybody),
        }
    }

    /// Called when a person sends a prompt: no tool is running then, so files that are gone were removed by the
    /// person, which is their right. They are not restored; `doctor` reports them. Later changes are audited.
    pub fn begin_turn(&mut self) -> Result<(), Failure> {
        self.workspace.lanes.records_mut().refresh()?;
        self.begin_examining()?;
        let records = self.workspace.lanes.records_mut();
        let mut gone = records.with_index(|index| index.unaudited(EXAMINED_MAX))?;
        gone.retain(|changed| !records.stands(&changed.path));
        if gone.is_empty() {
            return Ok(());
        }
        records.with_index(|index| index.set_examined(gone.iter().map(|gone| &gone.path)))
    }

    /// Starts recording changes for the audit, if that has not begun. What is indexed by now is the starting
    /// point and is not audited; an empty index is filled by a scan first.
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
        // The lock is taken only if there is something to repair: most files are fine.
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

    /// Those of the harmed files that git explains. To quarantine one would break a merge in progress, and a
    /// memory that another branch does not have must not come back.
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

    /// Quarantines invalid files and restores memories, as one change that is logged and can be undone. All
    /// files are checked again under the lock: one may have been fixed meanwhile.
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
        // Its warnings (an outdated listing, the fallback journal) are dropped here: `doctor` and the next change
        // repeat them.
        self.workspace.settle(
            LaneId::Records,
            writer,
            &done.changes,
            &repaired,
            CommittedFiles::default(),
            &because,
        );
        Ok(examined)
    }

    /// The previous contents of these files, if the journal's last version is the one that was there at the last
    /// audit. An older version could revert what came by git since, such as a retirement.
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
        // Only the version that the index knew: an older one could bring back what was retired elsewhere.
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

/// The reason in the log for this repair.
fn because(examined: &[AuditResult]) -> String {
    let invalid =
        examined.iter().filter(|examined| matches!(examined, AuditResult::Quarantined { .. })).count();
    match examined {
        [AuditResult::Quarantined { from, .. }] => format!("quarantine: {from} is not a valid memory"),
        [AuditResult::Removed { path, .. }] => format!("restore: {path} was removed by hand"),
        several if invalid > 0 => {
            format!("quarantine: {invalid} of {} files are not valid memories", several.len())
        }
        several => format!("restore: {} files were removed by hand", several.len()),
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
    // A file that cannot be read now is reported by `doctor`.
    let Ok(Some(bytes)) = records.documents.read(path, QUARANTINED_MAX_BYTES) else {
        return AuditedFile::Known(AuditResult::Outside);
    };
    match (Records::complaint(path, &bytes), Records::address_of(path)) {
        (Some(why), _) => AuditedFile::Invalid { bytes, why },
        (None, Some(address)) => AuditedFile::Known(AuditResult::Fine { address }),
        (None, None) => foreign,
    }
}
