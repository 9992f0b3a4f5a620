//! The tests of xtask that need a tree, a process, or both.

// The stand-in goes by many names, which are links.
#[cfg(unix)]
mod bench;
mod payloads;
#[cfg(unix)]
mod stress;
mod tidy;
mod traces;
