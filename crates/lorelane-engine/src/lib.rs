//! The engine does what the core decides. It knows files, locks, SQLite and git; it prints nothing.

mod append_log;
pub mod backend;
pub mod captures;
pub mod config;
pub mod disk;
pub mod drafts;
pub mod env;
pub mod failure;
pub mod finding;
pub mod git;
mod hint;
pub mod hooklog;
pub mod index;
pub mod ledger;
pub mod model;
pub mod probe;
pub mod setup;
pub mod state;
pub mod store;
pub mod transcript;
pub mod workspace;
