//! The second model in the server: loaded beside the requests, and kept reading what it does not know yet.

use super::factory::WorkspaceFactory;
use super::watch::{WatchEvent, WatchWarning};
use lorelane_core::text::printable;
use lorelane_engine::disk::RealDisk;
use lorelane_engine::model::{ModelError, ModelStamp, ModelStore};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::broadcast::Sender;

/// How often it is asked whether a model came, went or has something to read.
const REST: Duration = Duration::from_secs(5);
/// Passages that are read in one go: a fraction of a second.
const PASSAGES: usize = 8;

/// Starts a thread that lives as long as the process.
pub(super) fn start(factory: Arc<WorkspaceFactory>, told: Sender<Arc<WatchEvent>>) {
    let folders = factory.env().folders();
    // Without a home there is no place for a model.
    let Ok(shelf) = ModelStore::new(Arc::new(RealDisk), folders.as_ref()) else { return };
    std::thread::spawn(move || {
        let mut seen = None;
        loop {
            let begun = Instant::now();
            if let Err(fault) = follow(&factory, &shelf, &mut seen) {
                eprintln!("{}", printable(&format!("warning: {fault}\nhint: {}", fault.hint())));
                let warning = Some(WatchWarning::Model(fault));
                let _ = told.send(Arc::new(WatchEvent { warning, ..WatchEvent::default() }));
            }
            // As long as it worked it rests: a client that is asked something has the machine, too.
            std::thread::sleep(if embed_some(&factory) { begun.elapsed() } else { REST });
        }
    });
}

/// Has workspaces use the model as it lies on the shelf now. What was seen before is not read, nor complained of, again.
fn follow(
    factory: &WorkspaceFactory,
    shelf: &ModelStore,
    seen: &mut Option<ModelState>,
) -> Result<(), ModelError> {
    let now = shelf.stamp().map_err(|fault| fault.to_string());
    if seen.as_ref() == Some(&now) {
        return Ok(());
    }
    *seen = Some(now);
    factory.set_model(None);
    factory.set_model(shelf.load()?);
    Ok(())
}

/// The model from outside, or why it cannot be seen.
type ModelState = Result<Option<ModelStamp>, String>;

/// Reads a little, and tells whether there may be more. An index that is busy, and a project without a store, can wait.
fn embed_some(factory: &WorkspaceFactory) -> bool {
    let has_read = || factory.open().and_then(|mut workspace| workspace.recall().embed_missing(PASSAGES));
    factory.model().is_some() && has_read().is_ok_and(|learned| learned.passages > 0)
}
