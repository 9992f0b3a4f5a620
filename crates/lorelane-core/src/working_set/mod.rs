//! The working set: which files of a session stay in an agent's context, with the reasons.
//!
//! The agent advises, these rules decide. Everything that happened is an event in the session log, and the events
//! alone rebuild the state. The files that people and agents edit (`working-set.yml`, `hot.yml`, `cold.yml`,
//! sidecars) are changed in place.

mod advice;
mod assemble;
mod entry;
mod error;
mod event;
mod gc;
mod handover;
mod log;
mod manifest;
mod pointers;
mod postmortem;
mod protect;
mod sidecar;
mod state;
mod summary;
mod sync;
mod touches;

pub use advice::*;
pub use assemble::*;
pub use entry::{ColdAction, SetEntry};
pub use error::WorkingSetError;
pub use event::{
    ColdAdvice, EventAuthor, EventKind, GcActionRecord, HotAdvice, MemoryAction, SessionEvent, SetAction,
    SummaryLink, Touch, TouchKind,
};
pub use gc::*;
pub use handover::{
    HANDOVER_TEXT_MAX, Handover, HandoverFacts, SESSION_START_TOKENS, SessionBriefing, is_in_hand,
};
pub use log::{ChainFault, LogBlock, PROTOCOL, SessionLog, digest, log_header};
pub use manifest::{
    ColdManifest, HotManifest, MANIFEST_MAX_BYTES, MAX_TOKENS, ManifestFault, SetManifest, WorkingSetFile,
    minimal_manifest, stamped_advice,
};
pub use pointers::{ArchivePointer, POINTERS_FILE, with_pointer, without_pointer};
pub use postmortem::{PostmortemFacts, is_failed_attempt, postmortem};
pub use protect::{is_loaded_by, is_match, is_protected};
pub use sidecar::{ArchivedBytes, Sidecar, SidecarEdit, SidecarStatus, new_sidecar, sidecar_path, title_of};
pub use state::{AdviceNote, ColdNote, FileState, SessionState};
pub use summary::{
    SUMMARIZE_LINES, SummaryGenerator, SummaryHead, SummarySource, SummaryStyle, earlier_text, extract,
    summary_body, with_earlier, with_moved_source,
};
pub use sync::sync_events;
pub use touches::mentioned;
