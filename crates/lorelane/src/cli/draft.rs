//! Drafts in the user's editor. A draft with edits is kept until they are saved.

use super::shared_args::ChangeArgs;
use super::{CliError, CliResult, Session, output};
use lorelane_engine::drafts;
use lorelane_engine::env::Var;
use lorelane_engine::workspace::Workspace;
use std::path::PathBuf;

/// A draft as the editor left it.
pub(super) struct EditedDraft {
    path: PathBuf,
    pub(super) text: String,
    /// Whether it has edits that could be lost.
    touched: bool,
}

impl EditedDraft {
    pub(super) fn is_untouched(&self) -> bool {
        !self.touched
    }

    /// Removes the draft, whose edits are saved elsewhere.
    pub(super) fn discard(self) {
        drafts::discard(&self.path);
    }
}

pub(super) fn edited(
    session: &Session<'_>,
    workspace: &Workspace,
    name: &str,
    before: &str,
) -> Result<EditedDraft, CliError> {
    let path = drafts::write(&workspace.files().drafts_folder(), name, before)?;
    let editor = session.env.var(Var::Visual).or_else(|| session.env.var(Var::Editor)).unwrap_or("vi");
    let text = drafts::edit(editor, &path).map_err(|why| {
        CliError::usage(
            format!("cannot edit {}: {why}", path.display()),
            format!("set EDITOR; your draft is in {}", path.display()),
        )
    })?;
    Ok(EditedDraft { touched: text != before, path, text })
}

/// Removes a draft that was saved or never edited. Any other has somebody's work in it and is kept.
pub(super) fn settle(draft: Option<EditedDraft>, done: CliResult, change: ChangeArgs) -> CliResult {
    match (draft, &done) {
        (Some(draft), _) if draft.is_untouched() => drafts::discard(&draft.path),
        (Some(draft), Ok(_)) if !change.dry_run => drafts::discard(&draft.path),
        (Some(draft), _) => output::err(&format!("note: your draft is in {}", draft.path.display())),
        (None, _) => {}
    }
    done
}
