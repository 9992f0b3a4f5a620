//! The binary from outside.

mod compat;
