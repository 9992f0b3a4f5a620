//! `bench --sets DIR`: quality and cost of recall, on retrieval sets that are not in the repository.
//!
//! A set is a folder with `questions.jsonl`, `units.tsv` and groups `GROUP/.memories/*.md`; a question is
//! asked of its own group. Of a question only its id and its text reach the program. If `variants.py` is beside the
//! sets, it asks the same questions as people type them.

mod quality;
mod score;
mod speed;
pub mod variants;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use lorelane_core::json::Json;

use crate::failure::Failure;

pub use quality::tables;
pub use speed::{Programs, table as speed_table};

/// The measurements for the documents, and their comparison with our limits for the terminal.
#[derive(Clone, Debug)]
pub struct Report {
    /// Markdown.
    pub tables: String,
    pub verdicts: String,
    /// Whether every hard limit is met.
    pub met: bool,
}

/// A question and the units that answer it.
#[derive(Clone, Debug)]
pub struct Question {
    pub id: String,
    pub group: String,
    pub category: String,
    pub query: String,
    pub gold: Vec<String>,
}

/// A unit that can be found: its name and its lines in a file.
#[derive(Clone, Debug)]
pub struct Unit {
    name: String,
    first: usize,
    last: usize,
}

#[derive(Clone, Debug)]
pub struct Set {
    pub name: String,
    pub folder: PathBuf,
    pub questions: Vec<Question>,
    /// By group and file.
    units: BTreeMap<(String, String), Vec<Unit>>,
}

/// The folder of the sets: the one that was given, or `bench` in it.
pub fn folder_of_sets(given: &Path) -> PathBuf {
    let inner = given.join("bench");
    if inner.is_dir() { inner } else { given.to_owned() }
}

/// The sets in a folder, in the order of their names.
pub fn read_all(folder: &Path) -> Result<Vec<Set>, Failure> {
    let listed = fs::read_dir(folder).map_err(|error| Failure::on("read", folder, error))?;
    let mut folders: Vec<PathBuf> = listed.filter_map(Result::ok).map(|entry| entry.path()).collect();
    folders.retain(|folder| folder.join("questions.jsonl").is_file());
    folders.sort();
    if folders.is_empty() {
        let hint = "give the folder that the sets were unpacked in";
        return Err(Failure::on("find sets in", folder, "no folder in it has questions.jsonl").hint(hint));
    }
    folders.iter().map(|folder| read(folder)).collect()
}

fn read(folder: &Path) -> Result<Set, Failure> {
    let text = |name: &str| {
        let file = folder.join(name);
        fs::read_to_string(&file).map_err(|error| Failure::on("read", &file, error))
    };
    let mut questions = Vec::new();
    for line in text("questions.jsonl")?.lines().filter(|line| !line.trim().is_empty()) {
        let broken = || Failure::on("read", &folder.join("questions.jsonl"), format!("no question: {line}"));
        let json = Json::parse(line).map_err(|_| broken())?;
        let field = |name: &str| json.at(name).and_then(Json::as_text).map(str::to_owned);
        questions.push(Question {
            id: field("id").ok_or_else(broken)?,
            group: field("group").ok_or_else(broken)?,
            category: field("category").unwrap_or_default(),
            query: field("query").ok_or_else(broken)?,
            gold: json.at("gold").map(Json::to_texts).unwrap_or_default(),
        });
    }
    let mut units: BTreeMap<(String, String), Vec<Unit>> = BTreeMap::new();
    for line in text("units.tsv")?.lines() {
        let [name, group, file, first, last] = line.split('\t').collect::<Vec<_>>()[..] else { continue };
        let (Ok(first), Ok(last)) = (first.parse(), last.parse()) else { continue };
        let unit = Unit { name: name.to_owned(), first, last };
        units.entry((group.to_owned(), file.to_owned())).or_default().push(unit);
    }
    let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Ok(Set { name, folder: folder.to_owned(), questions, units })
}

impl Set {
    pub fn groups(&self) -> Vec<String> {
        let mut groups: Vec<String> = self.questions.iter().map(|question| question.group.clone()).collect();
        groups.sort();
        groups.dedup();
        groups
    }

    /// The texts of all memories, group by group.
    pub fn texts(&self) -> Result<Vec<String>, Failure> {
        let mut texts = Vec::new();
        for group in self.groups() {
            let folder = self.folder.join(&group).join(".memories");
            let listed = fs::read_dir(&folder).map_err(|error| Failure::on("read", &folder, error))?;
            let mut files: Vec<PathBuf> = listed.filter_map(Result::ok).map(|entry| entry.path()).collect();
            files.retain(|file| file.extension().is_some_and(|extension| extension == "md"));
            files.sort();
            for file in files {
                texts.push(fs::read_to_string(&file).map_err(|error| Failure::on("read", &file, error))?);
            }
        }
        Ok(texts)
    }
}
