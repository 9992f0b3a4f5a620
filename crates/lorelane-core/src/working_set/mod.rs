//! The rules of the working set: which files of a session stay in context.
//!
//! The agent advises, these rules decide. They take facts about a file (touches, pins, advice) as values, so that
//! every decision can be explained by its facts. Turns are counted by the user's messages.

mod advice;
mod assemble;

pub use advice::*;
pub use assemble::*;
