//! Measures recall on a user's own memories.
//!
//! There are two kinds of queries: those in the user's file of expectations ([`Expectation`]), and those generated
//! from the memories ([`Question`]), some of them unanswerable. The results are compared with the last good run
//! ([`judge`]).
//!
//! A saved run has only numbers and digests of queries, so a forgotten memory leaves nothing in it.

mod expect;
mod judge;
mod question;

pub use expect::{EXPECTATIONS_FILE, Expectation, ExpectationFault, expectations};
pub use judge::{
    BenchQuestion, BenchReport, BenchRun, ExpectationResult, Measure, Measures, Miss, Regression, TOLERANCE,
    judge,
};
pub use question::{QUESTIONS_MAX, Question, QuestionSource, TermIndex, questions, sample};
