//! Engine: does what the core decided.
