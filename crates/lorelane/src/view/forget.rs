//! The result of `forget`, place by place, and what git still has.

use super::{path_text, texts};
use lorelane_engine::git::GitTraces;
use lorelane_engine::workspace::{EraseCheck, EraseResult, ForgetReport};
use serde::Serialize;
use std::path::PathBuf;

#[derive(Debug, Serialize)]
pub struct ForgottenView<'f> {
    address: String,
    dry_run: bool,
    forgotten: bool,
    receipt: Option<u64>,
    places: Vec<PlaceView<'f>>,
    mentioned_by: Vec<String>,
    git: Vec<HoldingCommitView<'f>>,
    git_staged: bool,
    git_unknown: Option<&'f str>,
}

#[derive(Debug, Serialize)]
struct PlaceView<'f> {
    place: &'static str,
    path: String,
    did: &'static str,
    count: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<&'f str>,
}

#[derive(Debug, Serialize)]
struct HoldingCommitView<'f> {
    commit: &'f str,
    date: &'f str,
    repository: String,
}

impl<'f> ForgottenView<'f> {
    pub fn of(forgotten: &'f ForgetReport, dry_run: bool) -> ForgottenView<'f> {
        let held: Vec<(&PathBuf, &GitTraces)> =
            forgotten.git.iter().filter_map(|git| Some((&git.repository, git.held.as_ref().ok()?))).collect();
        let commits = held.iter().flat_map(|(repository, held)| {
            held.commits.iter().map(|commit| HoldingCommitView {
                commit: &commit.id,
                date: &commit.date,
                repository: path_text(repository),
            })
        });
        ForgottenView {
            address: forgotten.address.to_string(),
            dry_run,
            forgotten: !dry_run && forgotten.is_complete(),
            receipt: forgotten.receipt,
            places: forgotten.places.iter().map(PlaceView::of).collect(),
            mentioned_by: texts(&forgotten.mentioned_by),
            git: commits.collect(),
            git_staged: held.iter().any(|(_, held)| held.staged),
            git_unknown: forgotten.git.iter().find_map(|git| git.held.as_ref().err()).map(String::as_str),
        }
    }
}

impl<'f> PlaceView<'f> {
    fn of(checked: &'f EraseCheck) -> PlaceView<'f> {
        let (did, count, why) = match &checked.did {
            EraseResult::Removed(count) => ("removed", *count, None),
            EraseResult::Nothing => ("nothing", 0, None),
            EraseResult::Stays(why) => ("stays", 0, Some(why.as_str())),
        };
        PlaceView { place: checked.place, path: path_text(&checked.path), did, count, why }
    }
}
