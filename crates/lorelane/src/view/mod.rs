//! Documents for machines: plain types that every face writes as JSON.
//!
//! A type is named for what it shows and made from what core and engine give. The order of its fields is their order
//! in the document. A face makes foreign texts safe when it prints: only it knows who reads them.

mod agents;
mod bench;
mod captures;
mod change;
mod exact;
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
mod write;

pub use agents::*;
pub use bench::*;
pub use captures::*;
pub use change::*;
pub use exact::{Digits, Members};
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
pub use write::{line, pretty, tree};

use std::path::Path;

/// What can be said in words, as texts.
fn texts<T: ToString>(items: impl IntoIterator<Item = T>) -> Vec<String> {
    items.into_iter().map(|item| item.to_string()).collect()
}

fn path_text(path: &Path) -> String {
    path.display().to_string()
}
