//! A model of two layers and eight numbers, made here: the same kind of files as the real one in a few kilobytes.
//!
//! Its numbers mean nothing. `tiny_model.py` has the same ones and computes what must come out, by another way.

use std::fs;
use std::path::Path;

pub const VOCABULARY: &str =
    "[PAD]\n[UNK]\n[CLS]\n[SEP]\nuse\njwt\nfor\nservice\nauth\n##s\nrestart\nthe\ncache\nredis\n";
pub const CONFIG: &str = r#"{"model_type": "bert", "hidden_act": "gelu", "vocab_size": 14, "max_position_embeddings": 16,
"hidden_size": 8, "intermediate_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2}"#;

/// The file of tensors. `seed` makes another model of the same shape.
pub fn tensors(seed: usize) -> Vec<u8> {
    let mut shapes: Vec<(String, usize)> = [("word", 14 * 8), ("position", 16 * 8), ("token_type", 2 * 8)]
        .map(|(name, size)| (format!("embeddings.{name}_embeddings.weight"), size))
        .to_vec();
    let norm = |name: &str| [(format!("{name}.weight"), 8), (format!("{name}.bias"), 8)];
    shapes.extend(norm("embeddings.LayerNorm"));
    for layer in 0..2 {
        let name = |part: &str| format!("encoder.layer.{layer}.{part}");
        let linear = |part: &str, outputs: usize, inputs: usize| {
            [(name(&format!("{part}.weight")), outputs * inputs), (name(&format!("{part}.bias")), outputs)]
        };
        shapes.extend(linear("attention.self.query", 8, 8));
        shapes.extend(linear("attention.self.key", 8, 8));
        shapes.extend(linear("attention.self.value", 8, 8));
        shapes.extend(linear("attention.output.dense", 8, 8));
        shapes.extend(norm(&name("attention.output.LayerNorm")));
        shapes.extend(linear("intermediate.dense", 16, 8));
        shapes.extend(linear("output.dense", 8, 16));
        shapes.extend(norm(&name("output.LayerNorm")));
    }
    let (mut head, mut numbers) = (Vec::new(), Vec::new());
    for (at, (name, size)) in shapes.iter().enumerate() {
        let from = numbers.len();
        // Strong ones would make all texts alike.
        let strength = if name.ends_with(".bias") { 0.0625 } else { 1.0 };
        for place in 0..*size {
            numbers.extend((strength * number(seed, at, place)).to_le_bytes());
        }
        let to = numbers.len();
        head.push(format!("\"{name}\":{{\"dtype\":\"F32\",\"data_offsets\":[{from},{to}]}}"));
    }
    let head = format!("{{{}}}", head.join(","));
    let mut bytes = (head.len() as u64).to_le_bytes().to_vec();
    bytes.extend(head.into_bytes());
    bytes.extend(numbers);
    bytes
}

/// Looks like chance, and is a fraction that every language has exactly.
fn number(seed: usize, tensor: usize, place: usize) -> f32 {
    let mixed = ((seed + tensor * 7_919 + place * 104_729) * 2_654_435) % 4_096;
    mixed as f32 / 1_024.0 - 2.0
}

/// Writes the three files into a folder.
pub fn write(folder: &Path, seed: usize) {
    fs::create_dir_all(folder).unwrap();
    fs::write(folder.join("config.json"), CONFIG).unwrap();
    fs::write(folder.join("vocab.txt"), VOCABULARY).unwrap();
    fs::write(folder.join("model.safetensors"), tensors(seed)).unwrap();
}
