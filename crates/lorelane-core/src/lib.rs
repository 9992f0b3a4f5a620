//! Core: decides. Knows text and time values only; performs no effect and reads no clock.

pub mod briefing;
pub mod candidate;
pub mod capture;
pub mod care;
pub mod change;
pub mod conversation;
pub mod corpus;
pub mod dialect;
pub mod digest;
pub mod fence;
pub mod guard;
pub mod json;
pub mod leak;
pub mod ledger;
pub mod lifecycle;
pub mod mark;
pub mod memory;
pub mod path;
pub mod policy;
pub mod recall;
pub mod refusal;
pub mod secret;
pub mod text;
pub mod time;
pub mod triage;
