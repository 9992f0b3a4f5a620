//! `--target`: maps a path that an agent typed to the address of a memory.

use super::block::Block;
use lorelane_core::dialect::records::{LISTING, Records};
use lorelane_core::memory::{Address, Category};
use lorelane_core::path::RelPath;
use lorelane_core::text::slug;
use lorelane_engine::config::RECORDS_CONFIG;
use std::path::{Component, Path, PathBuf};

#[derive(Debug)]
pub(super) struct ScriptTarget {
    pub(super) typed: String,
    absolute: PathBuf,
    /// The path up to the first `.claude/memory`.
    pub(super) root: PathBuf,
    /// The path below the root.
    inside: PathBuf,
}

impl ScriptTarget {
    pub(super) fn parse(cwd: &Path, typed: &str) -> Result<ScriptTarget, Block> {
        let absolute = cwd.join(typed);
        let parts: Vec<Component<'_>> = absolute.components().collect();
        let is_marker =
            |pair: &[Component<'_>]| pair[0].as_os_str() == ".claude" && pair[1].as_os_str() == "memory";
        let Some(at) = parts.windows(2).position(is_marker) else {
            let fix = "Target path must contain '.claude/memory/' components. Example: .claude/memory/decisions/my-decision.json";
            return Err(Block::new("PATH_ERROR").line("target", typed).line("fix", fix));
        };
        let (root, inside) = parts.split_at(at + 2);
        let (root, inside) = (root.iter().collect(), inside.iter().collect());
        Ok(ScriptTarget { typed: typed.to_owned(), root, inside, absolute })
    }

    /// The memory whose file this is. A target is a function of category and slug: no other path is accepted.
    pub(super) fn address(&self, category: Option<Category>) -> Result<Address, Block> {
        if self.inside.components().any(|part| part == Component::ParentDir) {
            return Err(self.outside());
        }
        let path = RelPath::parse(&self.inside.to_string_lossy()).ok();
        let address = path.and_then(|path| Records::address_of(&path));
        match address {
            Some(address) if category.is_none() || category == address.category() => Ok(address),
            _ => Err(self.misplaced(category)),
        }
    }

    /// The path of a memory in the same folder, written as this one was typed.
    pub(super) fn sibling(&self, path: &RelPath) -> String {
        Path::new(&self.typed).with_file_name(path.file_name()).to_string_lossy().into_owned()
    }

    pub(super) fn outside(&self) -> Block {
        Block::new("PATH_ERROR")
            .line("target", &self.absolute.to_string_lossy())
            .line("fix", &self.inside_fix())
    }

    /// The error for a path through a link, which could lead anywhere.
    pub(super) fn linked(&self, what: &str) -> Block {
        Block::new("PATH_ERROR")
            .line("target", &self.absolute.to_string_lossy())
            .line("error", what)
            .line("fix", &self.inside_fix())
    }

    fn inside_fix(&self) -> String {
        format!("Target must be within the memory directory ({})", self.root.display())
    }

    fn misplaced(&self, category: Option<Category>) -> Block {
        let of_folder = || Category::of_folder(self.inside.parent()?.to_str()?);
        let fix = match category.or_else(of_folder) {
            Some(category) => format!(
                "Target of a {category} must be .claude/memory/{folder}/<slug>.json. Example: .claude/memory/{folder}/{}.json",
                self.example_slug(category),
                folder = category.folder()
            ),
            None => format!(
                "Target must be .claude/memory/<folder>/<slug>.json with one of the folders {}. Example: .claude/memory/decisions/my-decision.json",
                Category::ALL.map(Category::folder).join(", ")
            ),
        };
        Block::new("PATH_ERROR").line("target", &self.typed).line("fix", &fix)
    }

    fn example_slug(&self, category: Category) -> String {
        let name = self.inside.file_name().unwrap_or_default().to_string_lossy();
        let near = slug(name.strip_suffix(".json").unwrap_or(&name));
        let is_ours = name == RECORDS_CONFIG || name == LISTING;
        if near.is_empty() || is_ours { format!("my-{}", category.name().replace('_', "-")) } else { near }
    }
}
