//! The forward pass of BERT, in 32-bit floats on one thread: for the second model, and for the teacher of the
//! built-in table.
//!
//! Our own code: 250 lines and 0.2 MB of binary. candle would add 161 packages for this one model family; ONNX
//! Runtime is a shared library, and the binary is static.
//!
//! The sentences of a batch share one matrix, one row per token, without padding: everything but attention works
//! on single rows.

use super::matrix::{Matrix, View, multiply};
use super::tensors::Tensors;

/// Tokens per matrix: enough to keep the multiplication busy, few enough for the cache.
const BATCH_TOKENS: usize = 512;
/// Token types: first and second text; only the first is used.
const KINDS: usize = 2;

/// The dimensions of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModelShape {
    /// Size of the vocabulary.
    pub words: usize,
    /// Longest text, in pieces.
    pub positions: usize,
    pub width: usize,
    pub inner: usize,
    pub layers: usize,
    pub heads: usize,
}

impl ModelShape {
    /// all-MiniLM-L6-v2.
    pub const MINILM: ModelShape =
        ModelShape { words: 30_522, positions: 512, width: 384, inner: 1536, layers: 6, heads: 12 };

    fn head(self) -> usize {
        self.width / self.heads
    }
}

#[derive(Debug)]
pub struct Bert {
    shape: ModelShape,
    words: Matrix,
    positions: Matrix,
    kinds: Matrix,
    norm: Norm,
    layers: Vec<Layer>,
    gelu: Gelu,
}

#[derive(Debug)]
struct Layer {
    query: Linear,
    key: Linear,
    value: Linear,
    joined: Linear,
    joined_norm: Norm,
    up: Linear,
    down: Linear,
    down_norm: Norm,
}

impl Bert {
    pub fn read(tensors: &Tensors<'_>, shape: ModelShape) -> Result<Bert, String> {
        let embedding = |name: &str, rows| {
            tensors.matrix(&format!("embeddings.{name}_embeddings.weight"), rows, shape.width)
        };
        Ok(Bert {
            shape,
            words: embedding("word", shape.words)?,
            positions: embedding("position", shape.positions)?,
            kinds: embedding("token_type", KINDS)?,
            norm: Norm::read(tensors, "embeddings.LayerNorm", shape)?,
            layers: (0..shape.layers).map(|at| Layer::read(tensors, at, shape)).collect::<Result<_, _>>()?,
            gelu: Gelu::new(),
        })
    }

    pub fn width(&self) -> usize {
        self.shape.width
    }

    /// The embedding of one sentence: the mean of its token states, normalized.
    pub fn embed(&self, sentence: Vec<u32>) -> Vec<f32> {
        let mut vector = Vec::new();
        self.each_state(&[sentence], |_, states| vector = mean_vector(states, self.width()));
        vector
    }

    /// Calls `each` with each sentence's number and the last states of its tokens, one row each. Tokens are ids of
    /// the vocabulary, at most as many as the model has positions.
    pub fn each_state(&self, sentences: &[Vec<u32>], mut each: impl FnMut(usize, &[f32])) {
        let mut from = 0;
        while from < sentences.len() {
            let mut to = from + 1;
            let mut tokens = sentences[from].len();
            while to < sentences.len() && tokens + sentences[to].len() <= BATCH_TOKENS {
                tokens += sentences[to].len();
                to += 1;
            }
            let states = self.states(&sentences[from..to]);
            let mut rest = states.values.as_slice();
            for (at, sentence) in sentences[from..to].iter().enumerate() {
                let (own, after) = rest.split_at(sentence.len() * self.shape.width);
                each(from + at, own);
                rest = after;
            }
            from = to;
        }
    }

    fn states(&self, sentences: &[Vec<u32>]) -> Matrix {
        let mut states = self.embedded(sentences);
        let lengths: Vec<usize> = sentences.iter().map(Vec::len).collect();
        for layer in &self.layers {
            states = layer.forward(&states, &lengths, self.shape, &self.gelu);
        }
        states
    }

    fn embedded(&self, sentences: &[Vec<u32>]) -> Matrix {
        let mut states = Matrix::zero(sentences.iter().map(Vec::len).sum(), self.shape.width);
        let tokens = sentences.iter().flat_map(|sentence| sentence.iter().enumerate());
        for (row, (position, token)) in tokens.enumerate() {
            let parts = [self.words.row(*token as usize), self.positions.row(position), self.kinds.row(0)];
            parts.iter().for_each(|part| add(states.row_mut(row), part));
        }
        self.norm.apply(&mut states);
        states
    }
}

impl Layer {
    fn read(tensors: &Tensors<'_>, at: usize, shape: ModelShape) -> Result<Layer, String> {
        let name = |part: &str| format!("encoder.layer.{at}.{part}");
        let ModelShape { width, inner, .. } = shape;
        let linear = |part: &str, outputs, inputs| Linear::read(tensors, &name(part), outputs, inputs);
        Ok(Layer {
            query: linear("attention.self.query", width, width)?,
            key: linear("attention.self.key", width, width)?,
            value: linear("attention.self.value", width, width)?,
            joined: linear("attention.output.dense", width, width)?,
            joined_norm: Norm::read(tensors, &name("attention.output.LayerNorm"), shape)?,
            up: linear("intermediate.dense", inner, width)?,
            down: linear("output.dense", width, inner)?,
            down_norm: Norm::read(tensors, &name("output.LayerNorm"), shape)?,
        })
    }

    fn forward(&self, states: &Matrix, lengths: &[usize], shape: ModelShape, gelu: &Gelu) -> Matrix {
        let mut attended = self.joined.apply(&self.attention(states, lengths, shape));
        add(&mut attended.values, &states.values);
        self.joined_norm.apply(&mut attended);
        let mut inner = self.up.apply(&attended);
        inner.values.iter_mut().for_each(|value| *value = gelu.at(*value));
        let mut out = self.down.apply(&inner);
        add(&mut out.values, &attended.values);
        self.down_norm.apply(&mut out);
        out
    }

    fn attention(&self, states: &Matrix, lengths: &[usize], shape: ModelShape) -> Matrix {
        let (width, size) = (shape.width, shape.head());
        let scale = 1.0 / (size as f32).sqrt();
        let [query, key, value] = [&self.query, &self.key, &self.value].map(|linear| linear.apply(states));
        let mut joined = Matrix::zero(states.rows(), width);
        let mut first = 0;
        for length in lengths.iter().copied() {
            for head in 0..shape.heads {
                let at = first * width + head * size;
                let rows = |matrix| part(matrix, at, width, 1);
                let mut weights = vec![0.0; length * length];
                multiply([length, size, length], rows(&query), part(&key, at, 1, width), &mut weights);
                weights.chunks_exact_mut(length).for_each(|row| softmax(row, scale));
                let mut mixed = vec![0.0; length * size];
                let weights = View { values: &weights, row_step: length, column_step: 1 };
                multiply([length, length, size], weights, rows(&value), &mut mixed);
                for (row, own) in mixed.chunks_exact(size).enumerate() {
                    joined.row_mut(first + row)[head * size..][..size].copy_from_slice(own);
                }
            }
            first += length;
        }
        joined
    }
}

fn part(matrix: &Matrix, at: usize, row_step: usize, column_step: usize) -> View<'_> {
    View { values: &matrix.values[at..], row_step, column_step }
}

#[derive(Debug)]
struct Linear {
    weight: Matrix,
    bias: Matrix,
}

impl Linear {
    fn read(tensors: &Tensors<'_>, name: &str, outputs: usize, inputs: usize) -> Result<Linear, String> {
        let weight = tensors.matrix(&format!("{name}.weight"), outputs, inputs)?;
        let bias = tensors.matrix(&format!("{name}.bias"), 1, outputs)?;
        Ok(Linear { weight, bias })
    }

    fn apply(&self, states: &Matrix) -> Matrix {
        let outputs = self.weight.rows();
        let mut out = Matrix { columns: outputs, values: self.bias.values.repeat(states.rows()) };
        let shape = [states.rows(), states.columns, outputs];
        multiply(shape, View::rows(states), View::columns(&self.weight), &mut out.values);
        out
    }
}

#[derive(Debug)]
struct Norm {
    weight: Matrix,
    bias: Matrix,
}

impl Norm {
    fn read(tensors: &Tensors<'_>, name: &str, shape: ModelShape) -> Result<Norm, String> {
        let part = |part: &str| tensors.matrix(&format!("{name}.{part}"), 1, shape.width);
        Ok(Norm { weight: part("weight")?, bias: part("bias")? })
    }

    fn apply(&self, states: &mut Matrix) {
        let width = self.weight.columns;
        for row in states.values.chunks_exact_mut(width) {
            let mean = row.iter().sum::<f32>() / width as f32;
            let spread = row.iter().map(|value| (value - mean) * (value - mean)).sum::<f32>() / width as f32;
            let scale = 1.0 / (spread + 1e-12).sqrt();
            for ((value, weight), bias) in row.iter_mut().zip(&self.weight.values).zip(&self.bias.values) {
                *value = (*value - mean) * scale * weight + bias;
            }
        }
    }
}

/// `x × Φ(x)` from a table: the exact function would take a third of the time.
#[derive(Debug)]
struct Gelu(Vec<f32>);

impl Gelu {
    const REACH: f32 = 8.0;
    const STEPS_PER_UNIT: f32 = 1024.0;

    fn new() -> Gelu {
        let steps = (2.0 * Self::REACH * Self::STEPS_PER_UNIT) as usize;
        let at = |step: usize| step as f64 / f64::from(Self::STEPS_PER_UNIT) - f64::from(Self::REACH);
        Gelu((0..=steps).map(|step| (at(step) * normal(at(step))) as f32).collect())
    }

    fn at(&self, x: f32) -> f32 {
        if x >= Self::REACH {
            return x;
        }
        if x <= -Self::REACH {
            return 0.0;
        }
        let place = (x + Self::REACH) * Self::STEPS_PER_UNIT;
        let step = place as usize;
        let between = place - step as f32;
        self.0[step] + between * (self.0[step + 1] - self.0[step])
    }
}

/// The standard normal distribution function: Abramowitz and Stegun 26.2.17, good to 7.5e-8.
fn normal(x: f64) -> f64 {
    let t = 1.0 / (1.0 + 0.231_641_9 * x.abs());
    let terms = [1.330_274_429, -1.821_255_978, 1.781_477_937, -0.356_563_782, 0.319_381_530];
    let polynomial = terms.iter().fold(0.0, |sum, term| (sum + term) * t);
    let above = (-x * x / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt() * polynomial;
    if x < 0.0 { above } else { 1.0 - above }
}

/// The embedding of a sentence with these states.
pub fn mean_vector(states: &[f32], width: usize) -> Vec<f32> {
    let mut sum = vec![0.0f32; width];
    for state in states.chunks_exact(width) {
        add(&mut sum, state);
    }
    let length = sum.iter().map(|value| value * value).sum::<f32>().sqrt();
    sum.iter().map(|value| value / length).collect()
}

fn softmax(row: &mut [f32], scale: f32) {
    let largest = row.iter().fold(f32::NEG_INFINITY, |largest, value| largest.max(*value));
    row.iter_mut().for_each(|value| *value = ((*value - largest) * scale).exp());
    let sum: f32 = row.iter().sum();
    row.iter_mut().for_each(|value| *value /= sum);
}

fn add(to: &mut [f32], what: &[f32]) {
    to.iter_mut().zip(what).for_each(|(to, what)| *to += what);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gelu_is_the_exact_one() {
        let gelu = Gelu::new();
        for (x, expected) in [
            (0.0, 0.0),
            (1.0, 0.841_344_7),
            (-1.0, -0.158_655_3),
            (3.3, 3.298_404_8),
            (-9.0, 0.0),
            (9.0, 9.0),
        ] {
            assert!((gelu.at(x) - expected).abs() < 1e-6, "{x}: {}", gelu.at(x));
        }
    }

    #[test]
    fn weights_of_attention_sum_to_one() {
        let mut row = [1.0, 2.0, 300.0];
        softmax(&mut row, 1.0);
        assert!((row.iter().sum::<f32>() - 1.0).abs() < 1e-6 && row[2] > 0.99);
    }
}
