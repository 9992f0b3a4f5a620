//! Assembles a session's context from the files of its set.

use super::WorkingSet;
use super::read::MEMORY;
use super::status::SetFileStatus;
use crate::workspace::Failure;
use lorelane_core::digest::short_digest;
use lorelane_core::text::TokenCounter;
use lorelane_core::working_set::{
    Assembly, AssemblyItem, KeepRule, TokenBudget, assemble, default_strategy, is_loaded_by,
};

/// What the constitution of a project is called, if it has one.
const CONSTITUTION: &str = "constitution.md";

/// An assembled context, and what was left out before the rules saw it.
#[derive(Debug)]
pub struct AssembledContext {
    pub budget: TokenBudget,
    pub assembly: Assembly,
    /// Files that the client loads by itself.
    pub loaded_by_client: Vec<String>,
}

impl WorkingSet<'_> {
    /// The context within the budget. `client` is the agent's client, which loads some files by itself.
    pub fn assemble(
        &mut self,
        max_tokens: Option<u64>,
        client: Option<&str>,
        counter: &dyn TokenCounter,
    ) -> Result<AssembledContext, Failure> {
        self.assemble_in_frame(max_tokens, client, 0, counter)
    }

    /// The context, leaving so many tokens of the budget for what the caller writes around it.
    pub fn assemble_in_frame(
        &mut self,
        max_tokens: Option<u64>,
        client: Option<&str>,
        frame_tokens: u64,
        counter: &dyn TokenCounter,
    ) -> Result<AssembledContext, Failure> {
        let budget = self.budget(max_tokens)?;
        let rest = TokenBudget { effective: budget.effective.saturating_sub(frame_tokens), ..budget };
        let header = self.boot_header();
        let is_loaded = |file: &SetFileStatus| client.is_some_and(|client| is_loaded_by(client, &file.path));
        let (loaded, files): (Vec<_>, Vec<_>) = self.set_entries().into_iter().partition(is_loaded);
        let items: Vec<AssemblyItem> = files.into_iter().map(|file| self.item(file)).collect();
        let assembly = assemble(&items, &header, &rest, counter, &mut |path| self.text_of(path));
        if self.has_new_sidecars.get() {
            self.save_snapshot();
        }
        let loaded_by_client = loaded.into_iter().map(|file| file.path).collect();
        Ok(AssembledContext { budget, assembly, loaded_by_client })
    }

    fn item(&self, file: SetFileStatus) -> AssemblyItem {
        let role = file.entry.role.unwrap_or_default();
        let strategy = file.entry.truncate_strategy.unwrap_or_else(|| default_strategy(&file.path, role));
        let keep = match (file.is_protected, file.file.pinned) {
            (true, _) => Some(KeepRule::Protected),
            (false, true) => Some(KeepRule::Pinned),
            (false, false) => None,
        };
        let stat = || self.workspace.disk.stat(&self.file_inside(&file.path).ok()?).ok().flatten();
        let bytes = if file.path.starts_with(MEMORY) { None } else { stat().map(|stat| stat.len) };
        let (max_lines, priority) = (file.entry.max_lines, file.priority);
        AssemblyItem { role, strategy, max_lines, priority, keep, bytes, path: file.path }
    }

    /// The seven lines that the protocol puts first.
    fn boot_header(&self) -> String {
        let folder = self.path_in_project("");
        let place = |name: &str| self.path_in_project(name);
        let constitution = self.text_of(CONSTITUTION).ok();
        let constitution = constitution.map_or_else(
            || "none".to_owned(),
            |text| format!("{CONSTITUTION} (blake3 {})", short_digest(&text, 16)),
        );
        format!(
            "Root: .\nConstitution: {constitution}\nSession: {}\nOutput sink: {}\nWorking set: {}\n\
             Cache hints: {}, {}\nTool contract: every call says why\n",
            if folder.is_empty() { "." } else { &folder },
            place("output.md"),
            place("working-set.yml"),
            place("hot.yml"),
            place("cold.yml"),
        )
    }
}
