//! The parts of a long-running server: a workspace per request, the file watcher, HTTP with its checks.
//!
//! Not a face: faces that stay up use it. Nothing here knows a protocol above HTTP.

mod connections;
mod embed;
mod factory;
pub(crate) mod http;
mod watch;

pub(crate) use factory::WorkspaceFactory;
pub(crate) use watch::{WatchEvent, WatchWarning};

use std::sync::Arc;
use std::time::Duration;
use tokio::sync::broadcast::Sender;

/// Requests that run at once; others are queued.
const WORKERS: usize = 4;
/// How long running requests may take to finish once the client has disconnected.
const SHUTDOWN_DEADLINE: Duration = Duration::from_secs(1);

/// Why a server cannot start, with a hint.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct StartError {
    pub(crate) what: String,
    pub(crate) hint: String,
}

impl StartError {
    pub(crate) fn new(what: impl Into<String>, hint: impl Into<String>) -> StartError {
        StartError { what: what.into(), hint: hint.into() }
    }
}

/// Runs a server until it ends. The only place that starts a tokio runtime: hooks and commands do not pay for one.
pub(crate) fn run<T>(server: impl Future<Output = T>) -> Result<T, StartError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(WORKERS)
        .build()
        .map_err(|fault| StartError::new(format!("cannot start the server: {fault}"), "try again"))?;
    let ended = runtime.block_on(server);
    runtime.shutdown_timeout(SHUTDOWN_DEADLINE);
    Ok(ended)
}

/// Keeps the index and the embeddings of the second model up to date with the files, and reports changes, until
/// the process ends.
pub(crate) fn follow_files(factory: &Arc<WorkspaceFactory>) -> Sender<Arc<WatchEvent>> {
    let changes = watch::start(Arc::clone(factory));
    embed::start(Arc::clone(factory), changes.clone());
    changes
}
