//! Embeddings of texts: a table of word-piece vectors inside the binary, summed over a text.
//!
//! The table is distilled from a sentence model by `cargo xtask distil` and committed. There is no model to load
//! and no map to build: a text costs one hash and one row per piece, which a hook can afford. A whole prompt hook
//! at 10,000 memories takes 6.6 ms; loading a sentence model alone takes about 100 ms. model2vec-rs, which reads
//! such tables from files, brings 188 packages.
//!
//! Scripts other than Latin have no pieces: the sentence model was trained on English, and its pieces for other
//! scripts make all their texts alike. Those texts are found by their words.
//!
//! Vectors of two tables cannot be compared, so whoever stores one stores [`MODEL_ID`] with it.

mod layout;
pub mod packed;
mod pieces;
mod vector;

pub use layout::{BadTable, Table, VocabularyEntry, pack};
pub use pieces::{WordPiece, each_piece, longest};
pub use vector::{QuantizedVector, Vector};

/// The number of dimensions of a vector.
pub const DIMENSIONS: usize = 256;

/// The name of the built-in table: the start of the BLAKE3 digest of its bytes. A constant that a test compares
/// with the bytes, because hashing 4 MB at the start of every hook would cost more than the hook.
pub const MODEL_ID: &str = "static-5dba83a82f462b82";

// In core and not in the engine: the reader is pure, and a program that does not use the table does not link it.
static BUILT_IN: &[u8] = include_bytes!("../../data/static.bin");

impl Table<'static> {
    /// The table inside this binary.
    pub fn built_in() -> Table<'static> {
        Table::from_bytes(BUILT_IN).expect("a test reads the committed table")
    }
}

/// The name of a table with these bytes.
pub fn model_id(table: &[u8]) -> String {
    format!("static-{}", &blake3::hash(table).to_hex()[..16])
}
