//! The result of `status`.

use super::{FindingView, Members, WeakeningView, path_text, texts};
use lorelane_core::change::Notice;
use lorelane_core::lifecycle::Status;
use lorelane_core::memory::{Category, LaneId, MemoryKind};
use lorelane_engine::workspace::{Finding, Overview, Sync, Workspace};
use serde::Serialize;

#[derive(Debug, Serialize)]
pub struct StatusView<'s> {
    project: String,
    categories: Members<&'static str, CountsView>,
    notes: CountsView,
    #[serde(skip_serializing_if = "Option::is_none")]
    auto: Option<CountsView>,
    pinned: usize,
    inbox: usize,
    listing: &'static str,
    health: &'static str,
    attention: &'s [String],
    held_back: Vec<WeakeningView<'s>>,
    trusted: Vec<WeakeningView<'s>>,
    folders: Vec<FolderView>,
}

/// The number of memories of each status.
#[derive(Debug, Serialize)]
struct CountsView {
    active: usize,
    retired: usize,
    archived: usize,
}

#[derive(Debug, Serialize)]
struct FolderView {
    path: String,
    holds: &'static str,
}

impl<'s> StatusView<'s> {
    pub fn of(seen: &Overview, attention: &'s [String], workspace: &'s Workspace) -> StatusView<'s> {
        let policy = workspace.policy();
        let folders = workspace.files().declared_folders();
        StatusView {
            project: path_text(workspace.project()),
            categories: of_categories(seen).collect(),
            notes: of_lane(seen, LaneId::Notes),
            auto: of_auto(seen),
            pinned: seen.pinned,
            inbox: seen.waiting,
            listing: match seen.listing {
                Sync::InSync { .. } => "in_sync",
                Sync::Missing => "missing",
                Sync::Differs => "differs",
                Sync::Foreign => "foreign",
            },
            health: health(attention.is_empty()),
            attention,
            held_back: WeakeningView::without_words(&policy.held_back),
            trusted: WeakeningView::without_words(&policy.trusted),
            folders: folders
                .into_iter()
                .map(|(path, holds)| FolderView { path: path_text(&path), holds })
                .collect(),
        }
    }
}

/// The status for a model, with the results of the rebuild and the check that it asked for.
#[derive(Debug, Serialize)]
pub struct ProjectView<'s> {
    project: String,
    #[serde(flatten)]
    reindexed: Option<ReindexedView>,
    health: &'static str,
    counts: Members<&'static str, CountsView>,
    pinned: usize,
    waiting_to_be_saved: usize,
    attention: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    findings: Option<Vec<FindingView<'s>>>,
}

#[derive(Debug, Serialize)]
pub struct ReindexedView {
    reindexed: usize,
    notes: Vec<String>,
}

impl ReindexedView {
    pub fn of(listed: usize, notices: &[Notice]) -> ReindexedView {
        ReindexedView { reindexed: listed, notes: texts(notices.iter().map(Notice::text)) }
    }
}

impl<'s> ProjectView<'s> {
    /// `findings` is `None` unless a check was asked for.
    pub fn of(
        workspace: &Workspace,
        seen: &Overview,
        reindexed: Option<ReindexedView>,
        attention: Vec<String>,
        findings: Option<&'s [Finding]>,
    ) -> ProjectView<'s> {
        ProjectView {
            project: path_text(workspace.project()),
            reindexed,
            health: health(attention.is_empty() && findings.is_none_or(<[Finding]>::is_empty)),
            counts: of_categories(seen).chain(of_other_lanes(seen)).collect(),
            pinned: seen.pinned,
            waiting_to_be_saved: seen.waiting,
            attention,
            findings: findings.map(|findings| findings.iter().map(FindingView::of).collect()),
        }
    }
}

pub fn health(is_good: bool) -> &'static str {
    if is_good { "GOOD" } else { "NEEDS ATTENTION" }
}

fn of_categories(seen: &Overview) -> impl Iterator<Item = (&'static str, CountsView)> {
    let counts = |category| counts(seen, |kind| kind.category() == Some(category));
    Category::ALL.into_iter().map(move |category| (category.name(), counts(category)))
}

/// The notes, and Claude Code's memories if there are any.
fn of_other_lanes(seen: &Overview) -> impl Iterator<Item = (&'static str, CountsView)> {
    let auto = of_auto(seen).map(|counts| (LaneId::Auto.name(), counts));
    [(LaneId::Notes.name(), of_lane(seen, LaneId::Notes))].into_iter().chain(auto)
}

fn of_auto(seen: &Overview) -> Option<CountsView> {
    let has_any =
        Status::ALL.iter().any(|status| seen.count(*status, |kind| kind.lane() == LaneId::Auto) > 0);
    has_any.then(|| of_lane(seen, LaneId::Auto))
}

fn of_lane(seen: &Overview, lane: LaneId) -> CountsView {
    counts(seen, |kind| kind.lane() == lane)
}

fn counts(seen: &Overview, of: impl Fn(MemoryKind) -> bool) -> CountsView {
    let [active, retired, archived] = Status::ALL.map(|status| seen.count(status, &of));
    CountsView { active, retired, archived }
}
