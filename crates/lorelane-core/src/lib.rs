//! The rules of lorelane as pure functions over text and time values: no I/O, no clock, no threads.
//!
//! Files, locks, SQLite and git are in `lorelane-engine`; command line, hooks and MCP server in `lorelane`.

pub mod act;
pub mod audit;
pub mod bench;
pub mod briefing;
pub mod candidate;
pub mod capture;
pub mod change;
pub mod claim;
pub mod consolidate;
pub mod conversation;
pub mod corpus;
pub mod dialect;
pub mod digest;
pub mod embed;
pub mod fence;
pub mod forget;
pub mod graph;
pub mod guard;
pub mod json;
pub mod ledger;
pub mod lifecycle;
pub mod mark;
pub mod markdown;
pub mod memory;
pub mod near_duplicates;
pub mod passage;
pub mod path;
pub mod policy;
pub mod recall;
pub mod refusal;
pub mod retention;
pub mod secret;
pub mod secret_diff;
pub mod settle;
pub mod statements;
pub mod steps;
pub mod terms;
pub mod text;
pub mod time;
pub mod transition;
pub mod triage;
pub mod validity;
pub mod working_set;
pub mod yaml;
