//! The project's own commands, as a library.
//!
//! The binary only maps command names to these modules. They are a library so that `stress` can also
//! run in the test suite of the product (`crates/lorelane` has it as a dev-dependency).

pub mod args;
pub mod bench;
pub mod capture;
pub mod check;
pub mod claims;
pub mod clients;
pub mod common_terms;
pub mod corpus;
pub mod decisions;
pub mod distil;
pub mod failure;
pub mod logistic;
pub mod mcp;
pub mod process;
pub mod quality;
pub mod relevance;
pub mod repo;
pub mod retrieval_bench;
pub mod sandbox;
pub mod schemas;
pub mod simulate;
pub mod stress;
pub mod tidy;
pub mod tokens;
pub mod tool_cache;
pub mod traces;
