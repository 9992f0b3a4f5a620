//! Engine: does what the core decided.

pub mod disk;
pub mod store;
