//! The second model: what is added, and the progress of its embeddings.

use lorelane_core::embed::MODEL_ID;
use lorelane_engine::model::{AddedFile, AddedModel, ModelError};
use lorelane_engine::workspace::EmbedProgress;
use serde::Serialize;

#[derive(Debug, Serialize)]
pub struct ModelsView<'m> {
    built_in: &'static str,
    added: Option<ModelView<'m>>,
    fault: Option<String>,
}

impl<'m> ModelsView<'m> {
    pub fn of(added: Option<&'m AddedModel>, fault: Option<&ModelError>) -> ModelsView<'m> {
        ModelsView {
            built_in: MODEL_ID,
            added: added.map(ModelView::of),
            fault: fault.map(ToString::to_string),
        }
    }
}

#[derive(Debug, Serialize)]
pub struct ModelAddedView<'m> {
    added: ModelView<'m>,
}

impl<'m> ModelAddedView<'m> {
    pub fn of(added: &'m AddedModel) -> ModelAddedView<'m> {
        ModelAddedView { added: ModelView::of(added) }
    }
}

#[derive(Debug, Serialize)]
pub struct ModelRemovedView<'m> {
    removed: Option<ModelView<'m>>,
}

impl<'m> ModelRemovedView<'m> {
    pub fn of(removed: Option<&'m AddedModel>) -> ModelRemovedView<'m> {
        ModelRemovedView { removed: removed.map(ModelView::of) }
    }
}

#[derive(Debug, Serialize)]
struct ModelView<'m> {
    id: &'m str,
    from: &'m str,
    files: Vec<ModelFileView<'m>>,
}

#[derive(Debug, Serialize)]
struct ModelFileView<'m> {
    name: &'m str,
    bytes: u64,
    blake3: &'m str,
}

impl<'m> ModelView<'m> {
    fn of(added: &'m AddedModel) -> ModelView<'m> {
        let file =
            |AddedFile { name, bytes, blake3 }: &'m AddedFile| ModelFileView { name, bytes: *bytes, blake3 };
        ModelView { id: &added.id, from: &added.from, files: added.files.iter().map(file).collect() }
    }
}

#[derive(Debug, Serialize)]
pub struct LearnedView<'m> {
    model: &'m str,
    memories: usize,
    passages: usize,
}

impl<'m> LearnedView<'m> {
    pub fn of(model: &'m str, learned: &EmbedProgress) -> LearnedView<'m> {
        LearnedView { model, memories: learned.memories, passages: learned.passages }
    }
}
