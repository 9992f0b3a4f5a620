//! What a text is about, as a vector: a table of word pieces inside the binary, summed.
//!
//! The table is distilled from a sentence model by `cargo xtask distil` and committed. There is no model to
//! load and no map to build: a text costs one hash and one row per piece, so a hook can afford it. A whole prompt
//! hook at 10,000 memories takes 6.6 ms; loading a sentence model alone takes some 100 ms. model2vec-rs, which reads
//! such tables from files, brings 188 packages.
//!
//! Vectors of two tables mean different things. Whoever keeps one keeps [`MODEL_ID`] beside it.

mod layout;
pub mod packed;
mod pieces;
mod vector;

pub use layout::{BadTable, Table, VocabularyEntry, pack};
pub use pieces::{WordPiece, each_piece, longest};
pub use vector::{QuantizedVector, Vector};

/// How many numbers a vector has.
pub const DIMENSIONS: usize = 256;

/// Which table this is: the beginning of the BLAKE3 digest of its bytes.
pub const MODEL_ID: &str = "static-5dba83a82f462b82";

static BUILT_IN: &[u8] = include_bytes!("../../data/static.bin");

impl Table<'static> {
    /// The table inside this binary.
    pub fn built_in() -> Table<'static> {
        Table::from_bytes(BUILT_IN).expect("a test reads the table that is committed")
    }
}

/// The name of a table with these bytes.
pub fn model_id(table: &[u8]) -> String {
    format!("static-{}", &blake3::hash(table).to_hex()[..16])
}
