//! What a server is made of below its face: workspaces for requests, the watcher of files, HTTP with its checks.
//!
//! No face: faces that stay up use it, and it names none of them. Nothing here knows a protocol above HTTP.

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

/// So many requests are worked on at once; the others wait in line.
const WORKERS: usize = 4;
/// A client that hangs up does not wait for us.
const SHUTDOWN_DEADLINE: Duration = Duration::from_secs(1);

/// Why a server cannot begin, and what to do.
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

/// Runs a server to its end. The runtime begins here and in no other place: hooks and commands do not pay for it.
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

/// Keeps index and second model in step with the files, and tells what changes, for as long as the process lives.
pub(crate) fn follow_files(factory: &Arc<WorkspaceFactory>) -> Sender<Arc<WatchEvent>> {
    let changes = watch::start(Arc::clone(factory));
    embed::start(Arc::clone(factory), changes.clone());
    changes
}
