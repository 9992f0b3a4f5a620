//! A sentence model of the BERT family, run in this process on one thread: three files in, embeddings out.
//!
//! It adds 0.2 MB to the binary and embeds a passage of 30 words in some 20 ms. candle would add 161 packages for
//! the one model family that is supported here; ONNX Runtime is a shared library, and the binary is static.

mod bert;
mod matrix;
mod tensors;
mod vocabulary;
mod wheel;

pub use bert::{Bert, ModelShape, mean_vector};
pub use matrix::{Matrix, View, multiply};
pub use tensors::Tensors;
pub use vocabulary::Vocabulary;
pub use wheel::unpack;

use super::{Embedder, ModelFiles};
use lorelane_core::json::Json;

/// The first pieces of a text say what it is about. More would cost more than they add: the time grows with each.
const PIECES_MAX: usize = 128;
/// Larger models would not answer while somebody waits.
const WIDTH_MAX: usize = 1024;
const LAYERS_MAX: usize = 24;

/// A loaded model.
#[derive(Debug)]
pub struct NeuralModel {
    id: String,
    vocabulary: Vocabulary,
    bert: Bert,
    pieces_max: usize,
}

impl NeuralModel {
    /// Reads a model's files; an error names the file and what is wrong with it.
    pub fn read(files: &ModelFiles) -> Result<NeuralModel, (&'static str, String)> {
        let text = |name: &'static str, bytes: &'_ [u8]| {
            String::from_utf8(bytes.to_vec()).map_err(|_| (name, "it is not UTF-8".to_owned()))
        };
        let vocabulary = Vocabulary::read(&text(super::VOCABULARY, &files.vocabulary)?)
            .map_err(|why| (super::VOCABULARY, why))?;
        let shape =
            shape(&text(super::CONFIG, &files.config)?, &vocabulary).map_err(|why| (super::CONFIG, why))?;
        let bert = Tensors::parse(&files.tensors).and_then(|tensors| Bert::read(&tensors, shape));
        let bert = bert.map_err(|why| (super::TENSORS, why))?;
        Ok(NeuralModel { id: files.id(), vocabulary, bert, pieces_max: PIECES_MAX.min(shape.positions) })
    }

    /// The dimension of its embeddings.
    pub fn width(&self) -> usize {
        self.bert.width()
    }
}

impl Embedder for NeuralModel {
    fn id(&self) -> &str {
        &self.id
    }

    fn embed(&self, text: &str) -> Option<Vec<f32>> {
        let pieces = self.vocabulary.pieces(text);
        let vector = || self.bert.embed(self.vocabulary.framed(&pieces, self.pieces_max));
        // `[CLS]` and `[SEP]` alone would have an embedding, and all texts without a known word would mean the
        // same.
        (!pieces.is_empty()).then(vector).filter(|values| values.iter().all(|value| value.is_finite()))
    }
}

/// The model's dimensions from its configuration, if it is one that can be run here.
fn shape(config: &str, vocabulary: &Vocabulary) -> Result<ModelShape, String> {
    let config = Json::parse(config).map_err(|fault| format!("it is not JSON: {fault}"))?;
    for (key, wanted) in [("model_type", "bert"), ("hidden_act", "gelu")] {
        let found = config.at(key).and_then(Json::as_text).unwrap_or("missing");
        if found != wanted {
            return Err(format!("`{key}` is {found}, but only {wanted} is supported"));
        }
    }
    let number = |key: &str, most: usize| {
        let found = config.at(key).and_then(Json::as_u64).and_then(|number| usize::try_from(number).ok());
        found
            .filter(|number| (1..=most).contains(number))
            .ok_or_else(|| format!("`{key}` is not a number from 1 to {most}"))
    };
    let shape = ModelShape {
        words: number("vocab_size", 1 << 20)?,
        positions: number("max_position_embeddings", 1 << 16)?,
        width: number("hidden_size", WIDTH_MAX)?,
        inner: number("intermediate_size", 8 * WIDTH_MAX)?,
        layers: number("num_hidden_layers", LAYERS_MAX)?,
        heads: number("num_attention_heads", WIDTH_MAX)?,
    };
    if shape.words != vocabulary.lines().len() {
        let found = vocabulary.lines().len();
        return Err(format!("`vocab_size` is {}, but the vocabulary has {found} pieces", shape.words));
    }
    if !shape.width.is_multiple_of(shape.heads) {
        return Err("`hidden_size` is not a multiple of `num_attention_heads`".to_owned());
    }
    Ok(shape)
}
