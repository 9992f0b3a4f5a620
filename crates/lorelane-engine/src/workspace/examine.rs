//! What got into the lane past the fence: examined, and put aside when it is no memory.

use super::fence::{guard, real_path};
use super::glance::Glance;
use super::lane::Lane;
use super::locate::locate;
use super::{Failure, RECORDS, Workspace};
use crate::config::RECORDS_CONFIG;
use crate::disk::{Kind, RealDisk};
use crate::env::Env;
use crate::git;
use crate::index::{Index, digest};
use crate::store::Edit;
use lorelane_core::dialect::records::Records;
use lorelane_core::fence::inline;
use lorelane_core::guard::{ToolUse, quarantine};
use lorelane_core::memory::Address;
use lorelane_core::path::RelPath;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A hook must end soon: what one command wrote beyond this is for `doctor`.
const EXAMINED_MAX: usize = 64;
/// A larger file is left where it is: the journal would have to keep it.
const QUARANTINED_MAX_BYTES: u64 = 16 << 20;
/// How many names are tried for a file that is put aside.
const NAMES_MAX: usize = 1_000;

/// What a file that somebody wrote without lorelane turned out to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Examined {
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
    Quarantined { from: RelPath, to: RelPath, why: String, former: Former },
}

/// What became of the memory that an invalid file had overwritten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Former {
    /// There was none.
    None,
    /// It stands there again.
    Back,
    /// It was not written by lorelane, so the journal does not have it.
    NotInJournal,
}

/// Examines what tools that ran in the folder `start` may have written into its lane, whether the fence saw it or
/// not. Nearly free when nothing in the lane changed.
pub fn examine_after(env: &Env, start: &Path, tools: &[ToolUse]) -> Result<Vec<Examined>, Failure> {
    let (denied, allowed): (Vec<&ToolUse>, Vec<&ToolUse>) = tools
        .iter()
        .filter(|tool| **tool != ToolUse::Other)
        .partition(|tool| guard(env, start, tool).is_some());
    let mut examined = Vec::new();
    for tool in &denied {
        // A tool that names its file needs no index to tell what is new.
        if let ToolUse::Write { path } = tool {
            examined.push(Workspace::open(env, start)?.examine(&start.join(path))?);
        }
    }
    if denied.is_empty() && allowed.is_empty() {
        return Ok(examined);
    }
    let located = locate(&RealDisk, start)?;
    let Some(glance) = Glance::at(env, &located.lane) else { return Ok(examined) };
    let mut workspace = Workspace::open_on(Arc::new(RealDisk), env, located)?;
    if denied.is_empty() && allowed.iter().any(|tool| tool.runs_git()) {
        // What git brings was agreed on elsewhere.
        workspace.look_at_every_file()?;
    } else {
        examined.extend(workspace.examine_lane()?);
    }
    glance.keep();
    Ok(examined)
}

impl Examined {
    /// What the agent that wrote it has to know.
    pub fn objection(&self) -> Option<String> {
        match self {
            Examined::Outside | Examined::Fine { .. } | Examined::Config | Examined::LeftToGit { .. } => None,
            Examined::Foreign { name } => Some(format!(
                "{} was written into the memory folder by hand and is no memory. Remove it, or save what it says with `lorelane create`.",
                inline(name, 120)
            )),
            Examined::Quarantined { from, to, why, former } => {
                let (former, instead) = match former {
                    Former::None => ("", "Save it with `lorelane create CATEGORY --from FILE` instead."),
                    Former::Back => (
                        " The memory that it had overwritten is back.",
                        "Change that with `lorelane update ADDRESS --from FILE` instead.",
                    ),
                    Former::NotInJournal => (
                        " The memory that it had overwritten was not written by lorelane, so only git may have it: `git log -p -- FILE`.",
                        "Save what is new with `lorelane create CATEGORY --from FILE` instead.",
                    ),
                };
                Some(format!(
                    "{from} was written by hand and is no valid memory: {}. Its bytes are kept as {to}, and nobody reads it as a memory.{former} {instead}",
                    inline(why, 300)
                ))
            }
        }
    }
}

/// A file before anything is done about it.
enum Sight {
    Known(Examined),
    Invalid { path: RelPath, bytes: Vec<u8>, why: String },
}

/// Who may have written what is examined.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Writer {
    /// A tool that named the file.
    Tool,
    /// Whoever wrote since the last look, git included.
    Anybody,
}

impl Workspace {
    /// Examines one file that a tool wrote. `path` is absolute.
    pub fn examine(&mut self, path: &Path) -> Result<Examined, Failure> {
        let real = real_path(path, 1);
        let Ok(inside) = real.strip_prefix(&self.records().root) else { return Ok(Examined::Outside) };
        let inside = inside.to_string_lossy().replace('\\', "/");
        let name = inside.rsplit('/').next().unwrap_or_default().to_owned();
        let Ok(path) = RelPath::parse(&inside) else { return Ok(Examined::Foreign { name }) };
        let examined = self.examine_all(std::slice::from_ref(&path), Writer::Tool)?.pop();
        if let Some(Examined::Fine { .. }) = examined {
            // It may have been edited in place, which the times of its folder do not tell.
            self.records_mut().note(&[path])?;
        }
        Ok(examined.unwrap_or(Examined::Outside))
    }

    /// Examines the files that changed since the index was last brought up to date.
    pub fn examine_lane(&mut self) -> Result<Vec<Examined>, Failure> {
        let records = self.records_mut();
        let known = records.ask(Index::seen)?;
        // An index that knows nothing cannot tell what is new; what stood there before is not touched.
        let changed: Vec<RelPath> = match known.is_empty() {
            true => Vec::new(),
            false => {
                let files = records.files().files.into_iter();
                files.filter(|file| records.seen(file) != known.get(file.as_str()).copied()).collect()
            }
        };
        let examined = self.examine_all(&changed[..changed.len().min(EXAMINED_MAX)], Writer::Anybody)?;
        self.records_mut().look()?;
        Ok(examined)
    }

    fn examine_all(&mut self, paths: &[RelPath], writer: Writer) -> Result<Vec<Examined>, Failure> {
        let (mut examined, mut invalid) = (Vec::new(), Vec::new());
        for path in paths {
            match sight(self.records(), path) {
                Sight::Known(known) => examined.push(known),
                Sight::Invalid { path, bytes, .. } => invalid.push((path, quarantine::has_conflict(&bytes))),
            }
        }
        if writer == Writer::Anybody {
            let left = self.left_to_git(&invalid);
            invalid.retain(|(path, _)| !left.contains(path));
            examined.extend(left.into_iter().map(|path| Examined::LeftToGit { path }));
        }
        // The lock is for those that need it: most files are fine.
        if !invalid.is_empty() {
            let invalid: Vec<RelPath> = invalid.into_iter().map(|(path, _)| path).collect();
            examined.extend(self.quarantine(&invalid)?);
        }
        Ok(examined)
    }

    /// Those of the invalid files that git explains: to put one aside would take a half-done merge apart.
    fn left_to_git(&self, invalid: &[(RelPath, bool)]) -> Vec<RelPath> {
        if invalid.is_empty() {
            return Vec::new();
        }
        let in_a_merge = git::is_unsettled(&self.project);
        let files: Vec<PathBuf> = invalid.iter().map(|(path, _)| self.records().file(path)).collect();
        let untouched = git::untouched(&*self.disk, &self.project, &files);
        let explained = invalid.iter().zip(&files).filter(|((_, has_conflict), file)| {
            in_a_merge || *has_conflict || untouched.contains(&file.as_path())
        });
        explained.map(|((path, _), _)| path.clone()).collect()
    }

    /// Puts the invalid ones of these files aside, as one change with a receipt. They are judged again under the
    /// lock: somebody may have mended one.
    fn quarantine(&mut self, paths: &[RelPath]) -> Result<Vec<Examined>, Failure> {
        self.refuse_when_misconfigured()?;
        let overwritten: Vec<Option<i64>> = paths
            .iter()
            .map(|path| self.records_mut().ask(|index| index.digest_at(path)))
            .collect::<Result<_, _>>()?;
        let store = Arc::clone(&self.records().store);
        let mut writer = store.begin()?;
        self.catch_up(RECORDS, &mut writer)?;
        let (mut edits, mut left, mut examined) = (Vec::new(), Vec::new(), Vec::new());
        for (path, overwritten) in paths.iter().zip(overwritten) {
            match sight(self.records(), path) {
                Sight::Known(known) => examined.push(known),
                Sight::Invalid { path, bytes, why } => {
                    let Some(to) = self.free_name(&path) else {
                        examined.push(Examined::Foreign { name: path.file_name().to_owned() });
                        continue;
                    };
                    edits.push(Edit::Put { path: to.clone(), bytes });
                    let (edit, former) = self.put_back(&path, overwritten)?;
                    edits.push(edit);
                    left.push(path.clone());
                    examined.push(Examined::Quarantined { from: path, to, why, former });
                }
            }
        }
        let because = match left.as_slice() {
            [one] => format!("quarantine: {one} is no valid memory"),
            several => format!("quarantine: {} files are no valid memories", several.len()),
        };
        let done = writer.apply(edits, &because, self.now)?;
        // What it warns of (a listing that lags, a journal in its shelter) `doctor` and the next change say again.
        self.settle(RECORDS, writer, &done.changes, &left, &because);
        Ok(examined)
    }

    /// What stands at the place of a file that is put aside: the memory that it had overwritten, if the journal has
    /// exactly that one. An older version would take back what came by git since, a retirement for example.
    fn put_back(&self, path: &RelPath, overwritten: Option<i64>) -> Result<(Edit, Former), Failure> {
        let remove = Edit::Remove { path: path.clone() };
        let Some(overwritten) = overwritten else { return Ok((remove, Former::None)) };
        let last = self.records().store.last_written(path)?;
        let last =
            last.filter(|bytes| Records::complaint(path, bytes).is_none() && digest(bytes) == overwritten);
        Ok(match last {
            Some(bytes) => (Edit::Put { path: path.clone(), bytes }, Former::Back),
            None => (remove, Former::NotInJournal),
        })
    }

    fn free_name(&self, path: &RelPath) -> Option<RelPath> {
        let names = (0..NAMES_MAX).map_while(|attempt| quarantine::aside(path, self.now, attempt));
        names.into_iter().find(|to| matches!(self.disk.stat(&self.records().file(to)), Ok(None)))
    }
}

fn sight(records: &Lane, path: &RelPath) -> Sight {
    let name = path.file_name().to_owned();
    let file = records.file(path);
    let foreign = Sight::Known(Examined::Foreign { name });
    match records.disk.stat(&file) {
        Ok(None) => return Sight::Known(Examined::Outside),
        Ok(Some(stat)) if stat.kind == Kind::File && stat.len <= QUARANTINED_MAX_BYTES => {}
        _ => return foreign,
    }
    if path.as_str() == RECORDS_CONFIG {
        return Sight::Known(Examined::Config);
    }
    if !path.as_str().ends_with(".json") {
        return foreign;
    }
    let Ok(Some(bytes)) = records.disk.read_regular(&file, QUARANTINED_MAX_BYTES) else { return foreign };
    match (Records::complaint(path, &bytes), Records::address_of(path)) {
        (Some(why), _) => Sight::Invalid { path: path.clone(), bytes, why },
        (None, Some(address)) => Sight::Known(Examined::Fine { address }),
        (None, None) => foreign,
    }
}
