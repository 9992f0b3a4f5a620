//! The binary from outside.

#![allow(clippy::unwrap_used, reason = "a helper that fails fails its test")]

mod compat;
mod config;
mod docs;
mod scratch;
mod stories;
mod storm;
