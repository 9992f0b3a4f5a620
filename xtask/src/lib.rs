//! The project's own commands, as a library.
//!
//! The binary is a thin table of names over these modules. They are a library so that the storm
//! can also run inside the test suite of the product (`crates/lorelane` has it as a dev-dependency).

pub mod args;
pub mod bench;
pub mod cellar;
pub mod check;
pub mod clients;
pub mod corpus;
pub mod decisions;
pub mod distil;
pub mod failure;
pub mod mcp;
pub mod process;
pub mod repo;
pub mod sandbox;
pub mod schemas;
pub mod sets;
pub mod simulate;
pub mod storm;
pub mod tidy;
