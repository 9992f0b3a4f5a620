//! The project's own commands, as a library.
//!
//! The binary is a thin table of names over these modules.

pub mod args;
pub mod check;
pub mod failure;
pub mod json;
pub mod repo;
pub mod schemas;
pub mod simulate;
pub mod tidy;
