//! Measures recall on somebody's own memories.
//!
//! Two kinds of questions are asked: those that a person expects something of ([`Expectation`]), and those that are
//! built from the memories themselves ([`Question`]), some of which nothing can answer. What came is judged, and
//! compared with the last run that was good ([`judge`]).
//!
//! What is kept of a run holds no word of any memory: questions are known by their digests. So a memory that is
//! forgotten leaves nothing there.

mod expect;
mod judge;
mod question;

pub use expect::{EXPECTATIONS_FILE, Expectation, ExpectationFault, expectations};
pub use judge::{
    BenchQuestion, BenchReport, BenchRun, ExpectationResult, Measure, Measures, Miss, Regression, TOLERANCE,
    judge,
};
pub use question::{QUESTIONS_MAX, Question, QuestionSource, TermIndex, questions, sample};
