//! Opening a project: where it is, what its settings say, where its notes are.

mod init;
pub(super) mod locate;
pub(super) mod notes;
mod settings;
pub(super) mod trust;

pub use init::{InitReport, init, init_on, plan_init};
pub use locate::{ProjectLocation, locate, locate_root};
pub use settings::Settings;
