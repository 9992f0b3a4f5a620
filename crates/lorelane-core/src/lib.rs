//! Core: decides. Knows text and time values only; performs no effect and reads no clock.

pub mod path;
pub mod secret;
pub mod time;
