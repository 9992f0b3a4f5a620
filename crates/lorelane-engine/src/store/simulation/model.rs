//! The expected state of the lanes, as simple as possible.

use crate::backend::Edit;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::lane_folder;
use crate::disk::FileType;
use crate::disk::sim::SimDisk;

pub(super) const LANES: usize = 2;

#[derive(Debug, Default)]
pub(super) struct StoreModel {
    pub(super) lanes: [ModelLane; LANES],
    tokens: u64,
}

#[derive(Debug, Default)]
pub(super) struct ModelLane {
    now: ModelContent,
    /// The content before each change that is not undone.
    history: Vec<ModelContent>,
    /// A change that was requested and neither acknowledged nor rejected.
    pub(super) in_flight: Option<ModelChange>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct ModelContent {
    files: BTreeMap<String, Vec<u8>>,
    marks: BTreeSet<String>,
}

#[derive(Clone, Debug)]
pub(super) struct ModelChange {
    after: ModelContent,
    undo: bool,
}

impl StoreModel {
    pub(super) fn token(&mut self) -> u64 {
        self.tokens += 1;
        self.tokens
    }

    pub(super) fn propose(&self, lane: usize, edits: &[Edit]) -> ModelChange {
        let mut after = self.lanes[lane].now.clone();
        for edit in edits {
            match edit {
                Edit::Put { path, bytes } => {
                    after.files.insert(path.to_string(), bytes.clone());
                }
                Edit::Remove { path } => {
                    after.files.remove(path.as_str());
                }
                Edit::Append { path, bytes } => {
                    after.files.entry(path.to_string()).or_default().extend(bytes);
                }
                Edit::Expect { .. } => {}
                Edit::Mark { lines } => {
                    after.marks.insert(String::from_utf8_lossy(lines).trim_end().to_owned());
                }
            }
        }
        ModelChange { after, undo: false }
    }

    pub(super) fn propose_undo(&self, lane: usize) -> Option<ModelChange> {
        let after = self.lanes[lane].history.last()?.clone();
        Some(ModelChange { after, undo: true })
    }

    pub(super) fn acknowledge(&mut self, lane: usize) -> Result<(), String> {
        let lane = &mut self.lanes[lane];
        let proposal = lane.in_flight.take().ok_or("two writers were in one lane at a time")?;
        let before = std::mem::replace(&mut lane.now, proposal.after);
        if proposal.undo {
            lane.history.pop();
        } else if lane.now != before {
            lane.history.push(before);
        }
        Ok(())
    }

    pub(super) fn abort(&mut self, lane: usize) -> Result<(), String> {
        self.lanes[lane].in_flight = None;
        Ok(())
    }

    /// After recovery: a change in flight happened as a whole, or not at all.
    pub(super) fn settle(&mut self, lane: usize, disk: &SimDisk) -> Result<(), String> {
        let happened = match &self.lanes[lane].in_flight {
            Some(proposal) => content(lane, disk)? == proposal.after,
            None => false,
        };
        if happened {
            self.acknowledge(lane)?;
        } else {
            self.abort(lane)?;
        }
        self.check(lane, disk)
    }

    pub(super) fn check(&self, lane: usize, disk: &SimDisk) -> Result<(), String> {
        let (found, expected) = (content(lane, disk)?, &self.lanes[lane].now);
        if found == *expected {
            return Ok(());
        }
        Err(format!("lane {lane} holds {}\nbut should hold {}", shown(&found), shown(expected)))
    }

    /// After recovery, the marks file holds only whole marks of known lanes.
    pub(super) fn check_marks_whole(&self, disk: &SimDisk) -> Result<(), String> {
        for line in marks(disk) {
            if !self.lanes.iter().any(|lane| lane.now.marks.contains(&line)) {
                return Err(format!("the marks file holds a line nobody wrote: {line:?}"));
            }
        }
        Ok(())
    }
}

pub(super) fn mark_line(lane: usize, token: u64) -> String {
    format!("{{\"lane\":{lane},\"token\":{token}}}\n")
}

/// What the disk holds of one lane. The marks of other lanes are checked with those.
fn content(lane: usize, disk: &SimDisk) -> Result<ModelContent, String> {
    let mut content = ModelContent::default();
    let root = lane_folder(lane);
    collect(disk, &root, "", &mut content.files);
    content.files.retain(|path, _| !is_temporary(path));
    let mine = format!("{{\"lane\":{lane},");
    for line in marks(disk).into_iter().filter(|line| line.starts_with(&mine) && line.ends_with('}')) {
        if !content.marks.insert(line.clone()) {
            return Err(format!("the marks file holds {line} twice"));
        }
    }
    Ok(content)
}

/// A disk that refuses everything keeps temporary files; they are gone once somebody could write again.
pub(super) fn check_no_leftovers(lane: usize, disk: &SimDisk) -> Result<(), String> {
    let mut files = BTreeMap::new();
    collect(disk, &lane_folder(lane), "", &mut files);
    match files.keys().find(|path| is_temporary(path)) {
        Some(path) => Err(format!("a temporary file was left: {path}")),
        None => Ok(()),
    }
}

fn is_temporary(path: &str) -> bool {
    path.ends_with(".tmp")
}

fn collect(disk: &SimDisk, root: &Path, below: &str, files: &mut BTreeMap<String, Vec<u8>>) {
    for entry in disk.peek_list(&root.join(below)) {
        let path = format!("{below}{}", entry.name);
        match entry.kind {
            FileType::Folder if entry.name == ".lorelane-journal" => {}
            FileType::Folder => collect(disk, root, &format!("{path}/"), files),
            _ => {
                files.insert(path.clone(), disk.peek(&root.join(&path)).unwrap_or_default());
            }
        }
    }
}

fn marks(disk: &SimDisk) -> Vec<String> {
    let bytes = disk.peek(Path::new("/project/.lorelane/marks.jsonl")).unwrap_or_default();
    String::from_utf8_lossy(&bytes).lines().map(str::to_owned).collect()
}

fn shown(content: &ModelContent) -> String {
    let files: Vec<String> = content
        .files
        .iter()
        .map(|(path, bytes)| format!("{path}={:?}", String::from_utf8_lossy(bytes)))
        .collect();
    format!("{} marks={:?}", files.join(" "), content.marks)
}
