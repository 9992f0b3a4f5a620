//! The second model: added, listed, taken away.

use super::args::Model;
use super::{Ending, Outcome, Session, say};
use crate::view::{LearnedView, ModelAddedView, ModelRemovedView, ModelsView};
use lorelane_core::embed::MODEL_ID;
use lorelane_engine::disk::RealDisk;
use lorelane_engine::model::{Added, ModelError, Shelf};
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

pub(super) fn run(session: &Session<'_>, command: &Model) -> Outcome {
    let shelf = Shelf::new(Arc::new(RealDisk), session.env.folders().as_ref())?;
    match command {
        Model::Add { from } => add(session, &shelf, from),
        Model::List => list(session, &shelf),
        Model::Learn => learn(session, &shelf),
        Model::Remove => remove(session, &shelf),
    }
}

fn add(session: &Session<'_>, shelf: &Shelf, from: &Path) -> Outcome {
    let added = shelf.add(&session.env.cwd.join(from))?;
    if session.json {
        say::document(&ModelAddedView::of(&added));
    } else {
        say::out(&format!(
            "added {}The MCP server and `search --batch` use it from now on.\n",
            shown(&added)
        ));
    }
    Ok(Ending::Done)
}

fn list(session: &Session<'_>, shelf: &Shelf) -> Outcome {
    let verified = shelf.verified();
    let added = verified.as_ref().map_or_else(|_| shelf.added().ok().flatten(), Clone::clone);
    let fault = verified.err();
    if session.json {
        say::document(&ModelsView::of(added.as_ref(), fault.as_ref()));
    } else {
        let mut text = format!("{MODEL_ID}  built in\n");
        added.iter().for_each(|added| text.push_str(&shown(added)));
        say::out(&text);
    }
    let Some(fault) = fault else { return Ok(Ending::Done) };
    say::err(&format!("warning: {fault}\nhint: {}", fault.hint()));
    Ok(Ending::Nothing)
}

fn learn(session: &Session<'_>, shelf: &Shelf) -> Outcome {
    let model = shelf.load()?.ok_or(ModelError::NoneAdded)?;
    let id = model.id().to_owned();
    let mut workspace = session.open()?;
    workspace.recall().set_reranker(model);
    let learned = workspace.recall().learn(usize::MAX)?;
    if session.json {
        say::document(&LearnedView::of(&id, &learned));
    } else {
        say::out(&format!("{id} has read {} memories, {} passages\n", learned.memories, learned.passages));
    }
    Ok(Ending::Done)
}

fn remove(session: &Session<'_>, shelf: &Shelf) -> Outcome {
    let removed = shelf.remove()?;
    if session.json {
        say::document(&ModelRemovedView::of(removed.as_ref()));
    } else {
        let name = removed.map_or_else(|| "the second model".to_owned(), |removed| removed.id);
        say::out(&format!("removed {name}\n"));
    }
    Ok(Ending::Done)
}

fn shown(added: &Added) -> String {
    let mut text = format!("{}  from {}\n", added.id, added.from);
    for file in &added.files {
        let _ = writeln!(text, "  {:<18}{:>12} bytes  blake3 {}", file.name, file.bytes, file.blake3);
    }
    text
}
