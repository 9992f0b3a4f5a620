//! The added model: embeds memories a few at a time, and re-ranks search results.

use super::Recall;
use crate::model::Embedder;
use crate::workspace::Failure;
use crate::workspace::recall::SearchContext;
use lorelane_core::embed::packed::pack;
use lorelane_core::recall::doc_entry::texts;
use lorelane_core::recall::{Query, ResultMode};
use lorelane_core::text::cut;
use std::collections::BTreeSet;
use std::sync::Arc;

/// How many of the best hits are re-ranked. Searching with the model alone would need every vector in memory.
const REORDERED: usize = 50;
/// Passages of one memory that are embedded; the rest keep the built-in table's embedding.
const PASSAGES_MAX: usize = 256;
/// How many memories without embeddings one index query returns.
const PART: usize = 16;
/// Characters of a query that are embedded: the model itself reads fewer word pieces than this has words.
const QUESTION_MAX: usize = 2_000;

/// How much was embedded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EmbedProgress {
    pub memories: usize,
    pub passages: usize,
}

impl Recall<'_> {
    /// Re-ranks searches with this model from now on. For long-running processes: each search costs a run of it.
    pub fn set_reranker(&mut self, model: Arc<dyn Embedder>) {
        self.workspace.model = Some(model);
    }

    /// Embeds memories that have no embedding by this model, until `passages` are done or none is left.
    pub fn embed_missing(&mut self, passages: usize) -> Result<EmbedProgress, Failure> {
        let Some(model) = self.workspace.model.clone() else { return Ok(EmbedProgress::default()) };
        self.workspace.refresh()?;
        let mut learned = EmbedProgress::default();
        for lane in &mut self.workspace.lanes {
            let mut after = 0;
            while learned.passages < passages {
                let unread = lane.with_index(|index| index.unread(model.id(), after, PART))?;
                let Some(last) = unread.last() else { break };
                after = last.id;
                for of in unread {
                    if learned.passages >= passages {
                        break;
                    }
                    // A file edited since it was indexed is embedded once the index has its new text.
                    let Ok(loaded) = lane.load(&of.address) else { continue };
                    if crate::index::digest(loaded.document.text.as_bytes()) != of.digest {
                        continue;
                    }
                    let texts = texts(&loaded.memory, &lane.dialect.passages(&loaded.document), PASSAGES_MAX);
                    let vectors: Vec<_> = texts.iter().map(|text| model.embed(text)).collect();
                    learned.passages += texts.len();
                    // Not through `with_index`, which would fall back to an index in memory when the file is busy:
                    // these embeddings are worth keeping only on disk, so a busy index is tried again later.
                    if lane.index.put_embeddings(model.id(), &of, &pack(&vectors))? {
                        learned.memories += 1;
                    }
                }
            }
        }
        Ok(learned)
    }

    /// Adds the model's embeddings to the best candidates and to the query. Returns whether there were any.
    pub(in crate::workspace) fn rerank(
        &mut self,
        query: &Query,
        context: &mut SearchContext,
        grouping: ResultMode,
    ) -> Result<bool, Failure> {
        let Some(model) = self.workspace.model.clone() else { return Ok(false) };
        let best = context.chosen(query, &self.workspace.weights, REORDERED, grouping).hits;
        if best.is_empty() {
            return Ok(false);
        }
        let addresses: BTreeSet<_> =
            best.iter().flat_map(|hit| std::iter::once(&hit.address).chain(&hit.same)).collect();
        for lane in &mut self.workspace.lanes {
            let places: Vec<usize> = (0..context.candidates.len())
                .filter(|place| {
                    context.origins[*place].lane == lane.id()
                        && addresses.contains(&context.candidates[*place].entry.address)
                })
                .collect();
            let ids: Vec<i64> = places.iter().map(|place| context.origins[*place].id).collect();
            let said = lane.with_index(|index| index.embeddings(model.id(), &ids))?;
            places.into_iter().zip(said).for_each(|(place, said)| context.candidates[place].second = said);
        }
        if context.candidates.iter().all(|candidate| candidate.second.is_empty()) {
            return Ok(false);
        }
        context.asked.second = model.embed(&cut(context.asked.said(), QUESTION_MAX));
        Ok(context.asked.second.is_some())
    }
}
