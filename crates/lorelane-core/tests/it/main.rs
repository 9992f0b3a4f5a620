//! The integration tests of the core, in one binary.

mod act;
mod auto;
mod briefing;
mod candidate;
mod care;
mod consolidate;
mod create;
mod embed;
mod formats;
mod graph;
mod guard;
mod harmless;
mod laws;
mod lifecycle;
mod notes;
mod policy;
mod recall;
mod revise;
mod schemas;
mod secrets;
mod statements;
mod support;
mod triage;
mod working_set;
mod yaml;
mod yaml_laws;
