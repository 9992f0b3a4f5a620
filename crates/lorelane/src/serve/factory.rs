//! Opens a workspace for each request, and keeps what is costly to open: index connections and the second model.

use lorelane_core::time::Timestamp;
use lorelane_engine::env::{Env, Var};
use lorelane_engine::index;
use lorelane_engine::model::Embedder;
use lorelane_engine::workspace::{Failure, Workspace, open_for_working_set};
use std::sync::{Arc, PoisonError, RwLock};

#[derive(Debug)]
pub(crate) struct WorkspaceFactory {
    env: Env,
    clock: fn() -> Timestamp,
    /// The second model, once it is loaded.
    model: RwLock<Option<Arc<dyn Embedder>>>,
}

impl WorkspaceFactory {
    pub(crate) fn new(env: &Env, clock: fn() -> Timestamp) -> WorkspaceFactory {
        // Opening an index costs more than a search in it. Connections are reused while device and inode are the
        // same.
        index::keep_open();
        WorkspaceFactory { env: env.clone(), clock, model: RwLock::default() }
    }

    /// Opens the workspace for one request: settings, the clock and the store itself may have changed since the
    /// last one. Only index connections are reused. With 10,000 memories, opening and reading one takes 0.4 ms of
    /// CPU time.
    pub(crate) fn open(&self) -> Result<Workspace, Failure> {
        let mut workspace = Workspace::open(&self.env_now(), &self.env.cwd)?;
        self.model().into_iter().for_each(|model| workspace.recall().set_reranker(model));
        Ok(workspace)
    }

    /// Opens the project for its working set; it needs no memories.
    pub(crate) fn open_for_working_set(&self) -> Result<Workspace, Failure> {
        open_for_working_set(&self.env_now(), &self.env.cwd)
    }

    fn env_now(&self) -> Env {
        let now = if self.env.var(Var::LorelaneNow).is_some() { self.env.now } else { (self.clock)() };
        Env { now, ..self.env.clone() }
    }

    pub(crate) fn env(&self) -> &Env {
        &self.env
    }

    pub(crate) fn model(&self) -> Option<Arc<dyn Embedder>> {
        self.model.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Sets or removes the model for later requests.
    pub(crate) fn set_model(&self, model: Option<Arc<dyn Embedder>>) {
        *self.model.write().unwrap_or_else(PoisonError::into_inner) = model;
    }
}
