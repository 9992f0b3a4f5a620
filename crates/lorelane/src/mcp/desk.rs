//! Where requests are worked on: blocking work beside the protocol, each with a workspace of its own.

use lorelane_core::time::Timestamp;
use lorelane_engine::env::{Env, Var};
use lorelane_engine::index;
use lorelane_engine::model::Meaning;
use lorelane_engine::workspace::{Failure, Workspace};
use std::sync::{Arc, PoisonError, RwLock};

#[derive(Debug)]
pub(super) struct Desk {
    env: Env,
    clock: fn() -> Timestamp,
    /// The second model, once it is loaded.
    model: RwLock<Option<Arc<dyn Meaning>>>,
}

impl Desk {
    pub(super) fn new(env: &Env, clock: fn() -> Timestamp) -> Desk {
        // Opening an index costs more than asking it.
        index::keep_open();
        Desk { env: env.clone(), clock, model: RwLock::default() }
    }

    /// The project's memories as they are now. Opened for each request: settings, the clock and the store itself may
    /// have changed since the last one. Only open indexes are taken over from request to request.
    pub(super) fn open(&self) -> Result<Workspace, Failure> {
        let now = if self.env.var(Var::LorelaneNow).is_some() { self.env.now } else { (self.clock)() };
        let mut workspace = Workspace::open(&Env { now, ..self.env.clone() }, &self.env.cwd)?;
        self.model().into_iter().for_each(|model| workspace.think_with(model));
        Ok(workspace)
    }

    pub(super) fn env(&self) -> &Env {
        &self.env
    }

    pub(super) fn model(&self) -> Option<Arc<dyn Meaning>> {
        self.model.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Requests that come from here on are answered with it, or without.
    pub(super) fn set_model(&self, model: Option<Arc<dyn Meaning>>) {
        *self.model.write().unwrap_or_else(PoisonError::into_inner) = model;
    }
}
