//! The binary from outside.

mod compat;
mod docs;
