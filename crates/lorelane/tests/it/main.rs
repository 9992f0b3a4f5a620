//! The binary from outside.

// The stories speak of modes, links, signals and `/tmp`.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a helper that fails fails its test")]

mod acts;
mod audit;
mod auto;
mod bad_input;
mod bench;
mod compat;
mod config;
mod consolidate;
mod current;
mod dashboard;
mod docs;
mod documents;
mod extract;
mod forget;
mod graph;
mod hooks;
#[cfg(target_os = "linux")]
mod hostile;
mod inbox;
mod invisible;
mod mcp;
mod model;
mod moved;
mod notes;
mod payloads;
mod prune;
mod remind;
mod scratch;
mod setup;
mod stories;
mod stress;
mod terminal;
#[path = "../../../lorelane-engine/tests/it/tiny_model.rs"]
mod tiny_model;
mod trust;
mod working_set;
mod working_set_bad_input;
mod working_set_contract;
mod working_set_hooks;
