//! Engine: does what the core decided. Knows files, locks, SQLite and git; prints nothing.

pub mod config;
pub mod disk;
pub mod drafts;
pub mod env;
pub mod git;
pub mod index;
pub mod setup;
pub mod store;
pub mod workspace;
