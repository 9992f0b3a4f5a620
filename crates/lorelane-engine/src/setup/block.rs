//! A marked block in Markdown files of a project: what the user accepted with `inbox accept --to`.
//!
//! Everything outside the markers is the user's. As for clients, the record has the bytes from before and a digest of
//! what we wrote: removal restores the file exactly, or takes out only the block if somebody edited the file since.

use super::record::{InstalledFile, Record, digest};
use super::{SetupError, folder};
use crate::config::write_plain;
use crate::disk::{Disk, FileType};
use crate::env::Folders;
use crate::store::LOCK_DEADLINE;
use lorelane_core::memory::Category;
use std::ops::Range;
use std::path::{Path, PathBuf};

const BEGIN: &str = "<!-- lorelane:begin -->";
const END: &str = "<!-- lorelane:end -->";
const FILE_MAX_BYTES: u64 = 4 << 20;
/// The folder for what people read.
pub const KNOWLEDGE: &str = "docs/knowledge";

/// A file that may have a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockFile {
    ClaudeMd,
    AgentsMd,
    /// One file per category.
    Knowledge(Category),
}

impl BlockFile {
    pub const WITHOUT_CATEGORY: [BlockFile; 2] = [BlockFile::ClaudeMd, BlockFile::AgentsMd];

    /// Relative to the project.
    pub fn path(self) -> String {
        match self {
            BlockFile::ClaudeMd => "CLAUDE.md".to_owned(),
            BlockFile::AgentsMd => "AGENTS.md".to_owned(),
            BlockFile::Knowledge(category) => format!("{KNOWLEDGE}/{}.md", category.folder()),
        }
    }
}

/// What was done to a file, or would be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BlockStep {
    Created(PathBuf),
    Changed(PathBuf),
    Removed(PathBuf),
    /// It says so already, or has no block any more.
    Unchanged(PathBuf),
}

/// The blocks in the files of one project.
#[derive(Debug)]
pub struct RuleBlocks<'d> {
    disk: &'d dyn Disk,
    project: &'d Path,
    agents: PathBuf,
    /// The name of the record.
    name: String,
}

impl<'d> RuleBlocks<'d> {
    pub fn new(disk: &'d dyn Disk, folders: &Folders, project: &'d Path) -> RuleBlocks<'d> {
        let name = format!("rules-{}", Folders::repository_key(project));
        RuleBlocks { disk, project, agents: folder(folders), name }
    }

    /// Adds a text to the block of a file.
    pub fn add(&self, file: BlockFile, text: &str, dry_run: bool) -> Result<BlockStep, SetupError> {
        let path = self.project.join(file.path());
        let now = self.read(&path)?;
        let before = now.clone().unwrap_or_default();
        let entry = text.replace("<!--", "<! --").replace("-->", "-- >");
        let Some(after) = with_entry(&before, &entry).map_err(|why| broken(&path, why))? else {
            return Ok(BlockStep::Unchanged(path));
        };
        let step = match now {
            Some(_) => BlockStep::Changed(path.clone()),
            None => BlockStep::Created(path.clone()),
        };
        if dry_run {
            return Ok(step);
        }
        self.locked(|| {
            let mut record = Record::read(self.disk, &self.agents, &self.name)?.unwrap_or_default();
            let kept = record.of(&path).filter(|kept| kept.is_as_written(now.as_ref().map(String::as_bytes)));
            let before = match kept {
                Some(kept) => kept.before.clone(),
                None => now.as_deref().map(|now| without_block(now).into_bytes()),
            };
            let written = InstalledFile {
                path: path.clone(),
                before,
                wrote: digest(after.as_bytes()),
                entries: Vec::new(),
            };
            record.files.retain(|kept| kept.path != path);
            record.files.push(written);
            record.folders.extend(self.missing_folders(&path));
            // The record is first: a block that is not in it could not be taken out.
            record.write(self.disk, &self.agents, &self.name)?;
            Ok(write_plain(self.disk, &path, after.as_bytes())?)
        })?;
        Ok(step)
    }

    /// Takes all blocks out again.
    pub fn remove(&self, dry_run: bool) -> Result<Vec<BlockStep>, SetupError> {
        let Some(record) = Record::read(self.disk, &self.agents, &self.name)? else { return Ok(Vec::new()) };
        let mut steps = Vec::new();
        for kept in &record.files {
            let path = &kept.path;
            let Some(now) = self.read(path)? else {
                steps.push((BlockStep::Unchanged(path.clone()), None));
                continue;
            };
            let after = match kept.is_as_written(Some(now.as_bytes())) {
                true => kept.before.clone(),
                false => Some(without_block(&now).into_bytes()),
            };
            let step = match &after {
                None => BlockStep::Removed(path.clone()),
                Some(after) if after.as_slice() == now.as_bytes() => BlockStep::Unchanged(path.clone()),
                Some(_) => BlockStep::Changed(path.clone()),
            };
            steps.push((step, after));
        }
        if !dry_run {
            self.locked(|| {
                for (step, after) in &steps {
                    match (step, after) {
                        (BlockStep::Changed(path), Some(after)) => write_plain(self.disk, path, after)?,
                        (BlockStep::Removed(path), _) => {
                            self.disk
                                .remove_file(path)
                                .map_err(|fault| SetupError::io("remove", path, fault))?;
                        }
                        _ => {}
                    }
                }
                record.discard(self.disk, &self.agents, &self.name)
            })?;
            // Only if they are empty.
            record.folders.iter().rev().for_each(|folder| drop(self.disk.remove_dir(folder)));
        }
        Ok(steps.into_iter().map(|(step, _)| step).collect())
    }

    fn missing_folders(&self, path: &Path) -> Vec<PathBuf> {
        let above = path.ancestors().skip(1).take_while(|folder| *folder != self.project);
        let mut missing: Vec<PathBuf> =
            above.filter(|folder| !self.disk.exists(folder)).map(Path::to_owned).collect();
        missing.reverse();
        missing
    }

    /// The text of a file. A link is refused: it may lead out of the project.
    fn read(&self, path: &Path) -> Result<Option<String>, SetupError> {
        let fault = |fault| SetupError::io("read", path, fault);
        match self.disk.stat(path).map_err(fault)? {
            None => return Ok(None),
            Some(stat) if stat.kind != FileType::File => {
                let why = "it is not a regular file; if it is a link, name the file it leads to".to_owned();
                return Err(SetupError::Foreign { path: path.to_owned(), why });
            }
            Some(_) => {}
        }
        let bytes = self.disk.read_regular(path, FILE_MAX_BYTES).map_err(fault)?;
        let text = bytes.map(String::from_utf8).transpose();
        text.map_err(|_| broken(path, "it is not UTF-8"))
    }

    fn locked(&self, work: impl FnOnce() -> Result<(), SetupError>) -> Result<(), SetupError> {
        let agents = &self.agents;
        self.disk.create_private_dir_all(agents).map_err(|fault| SetupError::io("create", agents, fault))?;
        let lock = self.disk.lock_dir(agents, LOCK_DEADLINE);
        let _lock = lock.map_err(|_| SetupError::Busy { path: agents.clone() })?;
        work()
    }
}

fn broken(path: &Path, why: &str) -> SetupError {
    SetupError::Broken { path: path.to_owned(), why: why.to_owned() }
}

/// The lines of the block with their markers. An error if a marker is missing.
fn block(text: &str) -> Result<Option<Range<usize>>, &'static str> {
    let place = |marker: &str| {
        let mut at = 0;
        text.split_inclusive('\n').find_map(|line| {
            at += line.len();
            (line.trim() == marker).then(|| at - line.len()..at)
        })
    };
    match (place(BEGIN), place(END)) {
        (None, None) => Ok(None),
        (Some(begin), Some(end)) if begin.end <= end.start => Ok(Some(begin.start..end.end)),
        _ => Err("a marker of lorelane's block is missing"),
    }
}

/// The text with one more entry in its block; `None` if the block has it.
fn with_entry(text: &str, entry: &str) -> Result<Option<String>, &'static str> {
    let line_end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let entry = entry.replace('\n', line_end);
    let Some(place) = block(text)? else {
        let apart = match text {
            "" => "",
            text if text.ends_with('\n') => line_end,
            _ => &line_end.repeat(2),
        };
        return Ok(Some(format!("{text}{apart}{BEGIN}{line_end}{entry}{line_end}{END}{line_end}")));
    };
    let inside = &text[place.clone()];
    if inside.contains(&format!("{line_end}{entry}{line_end}")) {
        return Ok(None);
    }
    let end = place.start + inside.rfind(END).unwrap_or(inside.len());
    // Sections are apart, items of a list are not.
    let apart = if entry.starts_with('#') { line_end } else { "" };
    Ok(Some(format!("{}{apart}{entry}{line_end}{}", &text[..end], &text[end..])))
}

/// The text without its block, and without the blank line before it. Damaged markers stay.
fn without_block(text: &str) -> String {
    let Ok(Some(place)) = block(text) else { return text.to_owned() };
    let above = &text[..place.start];
    let cut = above.strip_suffix("\r\n").or_else(|| above.strip_suffix('\n'));
    let above = cut.filter(|cut| cut.ends_with('\n')).unwrap_or(above);
    format!("{above}{}", &text[place.end..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_grows_and_goes_and_the_rest_stays() {
        for before in ["", "# Rules\n", "# Rules", "# Rules\r\n\r\nBe kind.\r\n"] {
            let one = with_entry(before, "- Never push to main").unwrap().unwrap();
            let two = with_entry(&one, "- Always lint").unwrap().unwrap();
            assert!(
                two.starts_with(before)
                    && two.contains("- Never push to main")
                    && two.contains("- Always lint")
            );
            assert_eq!(with_entry(&two, "- Always lint").unwrap(), None, "once");
            assert_eq!(without_block(&two).trim_end(), before.trim_end());
            assert_eq!(without_block(&format!("{two}after\n")), format!("{}after\n", without_block(&two)));
        }
        assert!(with_entry("<!-- lorelane:begin -->\n- x\n", "- y").is_err());
        assert!(with_entry("<!-- lorelane:end -->\n<!-- lorelane:begin -->\n", "- y").is_err());
    }
}
