//! Opens a project: locates it, reads its settings and decides which to trust, finds its notes and Claude Code's
//! memory folder.

pub(super) mod auto;
pub(super) mod auto_folders;
mod init;
pub(super) mod locate;
pub(super) mod notes;
mod settings;
pub(super) mod trust;

pub use auto_folders::{AutoFolder, AutoOwner, ClientInventory};
pub use init::{InitReport, init, init_on, plan_init};
pub use locate::{ProjectLocation, locate, locate_root};
pub use settings::Settings;
