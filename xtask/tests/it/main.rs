//! The tests of xtask that need a tree, a process, or both.

mod bench;
mod storm;
mod tidy;
