//! The one integration binary of the engine.

#![allow(clippy::unwrap_used, reason = "a helper that unwraps is a test that fails")]

mod auto;
mod backend;
mod bench;
mod candidates;
mod captures;
mod damage;
mod fence;
mod forget;
#[cfg(unix)]
mod formats;
mod full_disk;
#[cfg(unix)]
mod git;
mod index;
mod listing;
mod meaning;
mod model;
mod notes;
mod parses;
mod project_state;
mod simulation;
mod store;
#[cfg(unix)]
mod swapped;
mod tiny_model;
mod transcript;
mod triage;
mod typing;
mod working_set_simulation;
