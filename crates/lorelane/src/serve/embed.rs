//! The second model in the server: a background thread loads it and embeds passages that have no embedding yet.

use super::factory::WorkspaceFactory;
use super::watch::{WatchEvent, WatchWarning};
use lorelane_core::text::printable;
use lorelane_engine::disk::RealDisk;
use lorelane_engine::model::{ModelError, ModelStamp, ModelStore};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::broadcast::Sender;

/// How often to check whether a model was added or removed, or has passages to embed.
const REST: Duration = Duration::from_secs(5);
/// Passages per batch: a fraction of a second.
const PASSAGES: usize = 8;

/// Starts the thread. It ends with the process.
pub(super) fn start(factory: Arc<WorkspaceFactory>, told: Sender<Arc<WatchEvent>>) {
    let folders = factory.env().folders();
    // Without a home folder there is no model store.
    let Ok(models) = ModelStore::new(Arc::new(RealDisk), folders.as_ref()) else { return };
    std::thread::spawn(move || {
        let mut seen = None;
        loop {
            let begun = Instant::now();
            if let Err(fault) = follow(&factory, &models, &mut seen) {
                eprintln!("{}", printable(&format!("warning: {fault}\nhint: {}", fault.hint())));
                let warning = Some(WatchWarning::Model(fault));
                let _ = told.send(Arc::new(WatchEvent { warning, ..WatchEvent::default() }));
            }
            // Rests as long as it worked, to leave half of a core to the requests.
            std::thread::sleep(if embed_some(&factory) { begun.elapsed() } else { REST });
        }
    });
}

/// Loads the model if the store changed since `seen`, and makes workspaces use it. An unchanged model is not
/// loaded again, and its error is not reported again.
fn follow(
    factory: &WorkspaceFactory,
    models: &ModelStore,
    seen: &mut Option<ModelState>,
) -> Result<(), ModelError> {
    let now = models.stamp().map_err(|fault| fault.to_string());
    if seen.as_ref() == Some(&now) {
        return Ok(());
    }
    *seen = Some(now);
    factory.set_model(None);
    factory.set_model(models.load()?);
    Ok(())
}

/// The stamp of the stored model, or why it cannot be read.
type ModelState = Result<Option<ModelStamp>, String>;

/// Embeds one batch, and returns whether there may be more. Errors are ignored: a busy index, or a project without
/// a store, is tried again later.
fn embed_some(factory: &WorkspaceFactory) -> bool {
    let has_read = || factory.open().and_then(|mut workspace| workspace.recall().embed_missing(PASSAGES));
    factory.model().is_some() && has_read().is_ok_and(|learned| learned.passages > 0)
}
