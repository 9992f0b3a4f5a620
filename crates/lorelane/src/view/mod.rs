//! JSON documents as plain types, shared by all faces.
//!
//! The order of the fields is their order in the document. Texts of memories are not escaped here: a face does
//! that when it prints, because only it knows who reads them.

mod agents;
mod audit;
mod auto;
mod bench;
mod captures;
mod change;
mod dashboard;
mod exact;
mod extract;
mod finding;
mod forget;
mod graph;
mod memory;
mod model;
mod notes;
mod policy;
mod reply;
mod search;
mod status;
mod why;
mod working_set;
mod write;

pub use agents::*;
pub use audit::*;
pub use auto::*;
pub use bench::*;
pub use captures::*;
pub use change::*;
pub use dashboard::*;
pub use exact::{Digits, Members};
pub use extract::*;
pub use finding::*;
pub use forget::*;
pub use graph::*;
pub use memory::*;
pub use model::*;
pub use notes::*;
pub use policy::*;
pub use reply::*;
pub use search::*;
pub use status::*;
pub use why::*;
pub use working_set::*;
pub use write::{line, pretty, tree};

use std::path::Path;

/// Each item as text.
fn texts<T: ToString>(items: impl IntoIterator<Item = T>) -> Vec<String> {
    items.into_iter().map(|item| item.to_string()).collect()
}

fn path_text(path: &Path) -> String {
    path.display().to_string()
}
