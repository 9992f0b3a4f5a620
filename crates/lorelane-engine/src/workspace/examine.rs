//! What got into the lane past the fence: examined, and put aside when it is no memory.

use super::fence::real_path;
use super::lane::Lane;
use super::{Failure, RECORDS, Workspace};
use crate::config::RECORDS_CONFIG;
use crate::disk::Kind;
use crate::index::Index;
use crate::store::Edit;
use lorelane_core::dialect::records::Records;
use lorelane_core::fence::inline;
use lorelane_core::guard::quarantine;
use lorelane_core::memory::Address;
use lorelane_core::path::RelPath;
use std::path::Path;
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
    /// It is no valid memory. Its bytes are kept under another name, and nobody reads them as a memory.
    Quarantined { from: RelPath, to: RelPath, why: String },
}

impl Examined {
    /// What the agent that wrote it has to know.
    pub fn objection(&self) -> Option<String> {
        match self {
            Examined::Outside | Examined::Fine { .. } | Examined::Config => None,
            Examined::Foreign { name } => Some(format!(
                "{} was written into the memory folder by hand and is no memory. Remove it, or save what it says with `lorelane create`.",
                inline(name, 120)
            )),
            Examined::Quarantined { from, to, why } => Some(format!(
                "{from} was written by hand and is no valid memory: {}. Its bytes are kept as {to}, and nobody reads it as a memory. Save it with `lorelane create CATEGORY --from FILE` instead.",
                inline(why, 300)
            )),
        }
    }
}

/// A file before anything is done about it.
enum Sight {
    Known(Examined),
    Invalid { path: RelPath, bytes: Vec<u8>, why: String },
}

impl Workspace {
    /// Examines one file that a tool wrote. `path` is absolute.
    pub fn examine(&mut self, path: &Path) -> Result<Examined, Failure> {
        let real = real_path(path, 1);
        let Ok(inside) = real.strip_prefix(&self.records().root) else { return Ok(Examined::Outside) };
        let inside = inside.to_string_lossy().replace('\\', "/");
        let name = inside.rsplit('/').next().unwrap_or_default().to_owned();
        let Ok(path) = RelPath::parse(&inside) else { return Ok(Examined::Foreign { name }) };
        let examined = self.examine_all(std::slice::from_ref(&path))?.pop();
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
        let examined = self.examine_all(&changed[..changed.len().min(EXAMINED_MAX)])?;
        self.records_mut().look()?;
        Ok(examined)
    }

    fn examine_all(&mut self, paths: &[RelPath]) -> Result<Vec<Examined>, Failure> {
        let sights: Vec<Sight> = paths.iter().map(|path| sight(self.records(), path)).collect();
        // The lock is for those that need it: most files are fine.
        if sights.iter().all(|sight| matches!(sight, Sight::Known(_))) {
            let known = sights.into_iter().filter_map(|sight| match sight {
                Sight::Known(examined) => Some(examined),
                Sight::Invalid { .. } => None,
            });
            return Ok(known.collect());
        }
        self.quarantine(paths)
    }

    /// Puts the invalid ones of these files aside, as one change with a receipt. They are judged again under the
    /// lock: somebody may have mended one.
    fn quarantine(&mut self, paths: &[RelPath]) -> Result<Vec<Examined>, Failure> {
        self.refuse_when_misconfigured()?;
        let store = Arc::clone(&self.records().store);
        let mut writer = store.begin()?;
        self.catch_up(RECORDS, &mut writer)?;
        let (mut edits, mut left, mut examined) = (Vec::new(), Vec::new(), Vec::new());
        for path in paths {
            match sight(self.records(), path) {
                Sight::Known(known) => examined.push(known),
                Sight::Invalid { path, bytes, why } => {
                    let Some(to) = self.free_name(&path) else {
                        examined.push(Examined::Foreign { name: path.file_name().to_owned() });
                        continue;
                    };
                    edits.push(Edit::Put { path: to.clone(), bytes });
                    edits.push(Edit::Remove { path: path.clone() });
                    left.push(path.clone());
                    examined.push(Examined::Quarantined { from: path, to, why });
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
    let Ok(Some(bytes)) = records.disk.read(&file) else { return foreign };
    match (Records::complaint(path, &bytes), Records::address_of(path)) {
        (Some(why), _) => Sight::Invalid { path: path.clone(), bytes, why },
        (None, Some(address)) => Sight::Known(Examined::Fine { address }),
        (None, None) => foreign,
    }
}
