//! Why a request to the working set is rejected. The names in capitals are those of the protocol.

use crate::path::PathFault;

#[derive(Debug, thiserror::Error)]
pub enum WorkingSetError {
    #[error("cannot find a working set in {project}")]
    NotInitialized { project: String },
    #[error("MISSING_WHY: cannot {attempt} without a reason")]
    MissingWhy { attempt: &'static str },
    #[error("NOT_FOUND: cannot {attempt} {path}: there is no such file")]
    NotFound { attempt: &'static str, path: String },
    #[error("PERMISSION_DENIED: cannot {attempt} {path}: it is outside the project")]
    Escapes { attempt: &'static str, path: String },
    #[error("PERMISSION_DENIED: cannot {attempt} {path}: it is a {kind}")]
    NotAFile { attempt: &'static str, path: String, kind: &'static str },
    #[error("INVALID_ARGS: cannot {attempt} {path}: {fault}")]
    InvalidPath { attempt: &'static str, path: String, fault: PathFault },
    #[error("INVALID_ARGS: {what}")]
    InvalidArgs { what: String },
    #[error("NOT_FOUND: cannot {attempt} {path}: it is not in the working set")]
    NotInSet { attempt: &'static str, path: String },
    #[error("cannot remove {path}: it is {rule}")]
    MustKeep { path: String, rule: &'static str },
    #[error("NOT_FOUND: cannot find the session `{session}`")]
    NoSession { session: String },
    #[error("cannot change {file}: its lines are too broken to edit one of them")]
    Unwritable { file: String },
    #[error("NOT_FOUND: cannot restore {path}: nothing of it was archived in this session")]
    NotArchived { path: String },
    #[error(
        "cannot restore {path}: it is not in the session folder, where lorelane writes; its bytes are in {copy}"
    )]
    SourceGone { path: String, copy: String },
    #[error("cannot restore {path}: its archived bytes are gone or were changed ({places})")]
    ArchiveDamaged { path: String, places: String },
}

impl WorkingSetError {
    pub fn hint(&self) -> &'static str {
        match self {
            WorkingSetError::NotInitialized { .. } => "`lorelane ws init` creates one",
            WorkingSetError::MissingWhy { .. } => "say why with `--because`",
            WorkingSetError::NotFound { .. } => {
                "check the path; it is relative to the session or the project"
            }
            WorkingSetError::Escapes { .. } => "a working set holds files of its project",
            WorkingSetError::NotAFile { .. } => "name a regular file",
            WorkingSetError::InvalidPath { .. } | WorkingSetError::InvalidArgs { .. } => {
                "`lorelane ws --help` lists what each command takes"
            }
            WorkingSetError::NotInSet { .. } => "`lorelane ws status` lists what is in it",
            WorkingSetError::MustKeep { .. } => {
                "unpin it first with `lorelane unpin PATH`; protected files stay"
            }
            WorkingSetError::NoSession { .. } => "`lorelane ws status` names the current session",
            WorkingSetError::Unwritable { .. } => {
                "fix the file by hand, or remove it to start with a new one"
            }
            WorkingSetError::NotArchived { .. } => "`lorelane ws log` shows what was archived",
            WorkingSetError::SourceGone { .. } => {
                "copy the file back yourself, then add it with `lorelane ws add`"
            }
            WorkingSetError::ArchiveDamaged { .. } => {
                "`lorelane undo` may still have them; `lorelane log --verify` checks its copies"
            }
        }
    }
}
