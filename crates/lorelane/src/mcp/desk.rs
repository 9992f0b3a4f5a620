//! Where requests are worked on: blocking work beside the protocol, each with a workspace of its own.

use lorelane_core::time::Timestamp;
use lorelane_engine::env::Env;
use lorelane_engine::workspace::{Failure, Workspace};

#[derive(Debug)]
pub(super) struct Desk {
    env: Env,
    clock: fn() -> Timestamp,
}

impl Desk {
    pub(super) fn new(env: &Env, clock: fn() -> Timestamp) -> Desk {
        Desk { env: env.clone(), clock }
    }

    /// The project's memories as they are now. Opened for each request: settings, the clock and the store itself may
    /// have changed since the last one, and it costs less than a millisecond.
    pub(super) fn open(&self) -> Result<Workspace, Failure> {
        let now = if self.env.var("LORELANE_NOW").is_some() { self.env.now } else { (self.clock)() };
        Workspace::open(&Env { now, ..self.env.clone() }, &self.env.cwd)
    }
}
