//! Labelled prompts of real projects, each with the memories of its project.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use lorelane_core::json::Json;
use lorelane_core::recall::Query;
use lorelane_core::recall::relevance::{Evidence, RelevanceWeights};
use lorelane_core::recall::score::Weights;
use lorelane_core::time::Timestamp;
use lorelane_engine::env::Env;
use lorelane_engine::workspace::Workspace;

use crate::failure::Failure;
use crate::sandbox::Sandbox;

/// Later than every memory of the set, so that none is recent.
const NOW: Timestamp = Timestamp(1_900_000_000);

/// A prompt and the memories that are needed or useful for it.
#[derive(Clone, Debug)]
pub struct LabelledPrompt {
    pub text: String,
    pub must: BTreeSet<String>,
    pub may: BTreeSet<String>,
    /// Written as a paraphrase, and not typed by a user.
    pub is_written: bool,
}

impl LabelledPrompt {
    pub fn is_useful(&self, address: &str) -> bool {
        self.must.contains(address) || self.may.contains(address)
    }
}

/// A project of the set.
#[derive(Debug)]
pub struct LabelledProject {
    pub name: String,
    pub prompts: Vec<LabelledPrompt>,
    workspace: Workspace,
    _home: Sandbox,
}

/// What a hook shows for a prompt.
#[derive(Clone, Debug, Default)]
pub struct ShownReminders {
    pub addresses: Vec<String>,
    /// Of the text, as the set's scorer counts them.
    pub tokens: f64,
}

/// The projects in `remind/dev` of a folder, in the order of their names.
pub fn read_projects(sets: &Path) -> Result<Vec<LabelledProject>, Failure> {
    let folder = sets.join("remind/dev");
    let listed = fs::read_dir(&folder).map_err(|error| {
        Failure::on("read", &folder, error).hint("unpack remind/dev.tar.gz of the sets in their folder")
    })?;
    let mut folders: Vec<PathBuf> = listed.filter_map(Result::ok).map(|entry| entry.path()).collect();
    folders.retain(|folder| folder.join("prompts.jsonl").is_file());
    folders.sort();
    folders.iter().map(|folder| read_project(folder)).collect()
}

fn read_project(folder: &Path) -> Result<LabelledProject, Failure> {
    let file = folder.join("prompts.jsonl");
    let text = fs::read_to_string(&file).map_err(|error| Failure::on("read", &file, error))?;
    let mut prompts = Vec::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let json = Json::parse(line).map_err(|fault| Failure::on("read", &file, fault))?;
        let field = |name: &str| json.at(name).and_then(Json::as_text).unwrap_or_default().to_owned();
        let labels = |name: &str| json.at(name).map(Json::to_texts).unwrap_or_default().into_iter().collect();
        let is_written = field("origin") == "written";
        prompts.push(LabelledPrompt {
            text: field("prompt"),
            must: labels("must"),
            may: labels("may"),
            is_written,
        });
    }
    let home = Sandbox::empty("remind")?;
    let vars = BTreeMap::from([("LORELANE_HOME".to_owned(), home.home().display().to_string())]);
    let env = Env { now: NOW, cwd: folder.to_owned(), vars };
    let workspace = Workspace::open(&env, folder).map_err(|failure| Failure::on("open", folder, failure))?;
    let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Ok(LabelledProject { name, prompts, workspace, _home: home })
}

impl LabelledProject {
    /// The evidence for each memory of this project.
    pub fn evidence(&mut self, prompt: &str) -> Result<Vec<(String, Evidence)>, Failure> {
        let found = self.workspace.recall().evidence(&Query::of_person(prompt, NOW));
        let found = found.map_err(|failure| Failure::new(format!("cannot ask {}: {failure}", self.name)))?;
        Ok(found.into_iter().map(|(address, evidence)| (address.to_string(), evidence)).collect())
    }

    pub fn weigh(&mut self, relevance: RelevanceWeights) {
        self.workspace.recall().set_weights(Weights { relevance, ..Weights::default() });
    }

    /// What the hook adds to a prompt, by the rule that ships.
    pub fn shown(&mut self, prompt: &str) -> Result<ShownReminders, Failure> {
        let briefing = self.workspace.reminders().brief(prompt, "");
        let briefing =
            briefing.map_err(|failure| Failure::new(format!("cannot ask {}: {failure}", self.name)))?;
        let addresses = briefing.reminders.iter().map(|reminder| reminder.hit.address.to_string());
        let tokens = briefing.text().chars().count() as f64 / 4.0;
        Ok(ShownReminders { addresses: addresses.collect(), tokens })
    }
}
