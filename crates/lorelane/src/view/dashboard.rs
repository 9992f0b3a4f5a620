//! All stores of this machine at a glance, as JSON.

use super::audit::MemoryAuditView;
use super::path_text;
use lorelane_core::audit::Distribution;
use lorelane_engine::workspace::{AutoOwner, IndexTokens, MemoryAudit, StoreAudit};
use serde::Serialize;
use std::path::PathBuf;

#[derive(Debug, Serialize)]
pub struct DashboardView<'r> {
    memories: usize,
    distribution: Distribution,
    tokens: TokensView,
    projects: Vec<AuditedStoreView<'r>>,
    agents: Vec<AuditedStoreView<'r>>,
    orphans: Vec<AuditedStoreView<'r>>,
    worst: Vec<MemoryAuditView<'r>>,
    unreadable: Vec<SkippedView>,
}

#[derive(Debug, Serialize)]
struct TokensView {
    loaded: usize,
    on_demand: usize,
    lost: usize,
    lost_entries: usize,
}

#[derive(Debug, Serialize)]
struct AuditedStoreView<'r> {
    name: &'r str,
    /// The project's folder; for an orphan the one that it was of.
    root: Option<String>,
    /// Claude Code's memory folder.
    folder: Option<String>,
    /// Other projects with the same folder.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    shared_with: Vec<String>,
    memories: usize,
    distribution: Distribution,
    tokens: TokensView,
    oldest_days: Option<i64>,
}

#[derive(Debug, Serialize)]
struct SkippedView {
    path: String,
    why: String,
}

impl From<IndexTokens> for TokensView {
    fn from(index: IndexTokens) -> TokensView {
        let IndexTokens { loaded, on_demand, lost, lost_entries } = index;
        TokensView { loaded, on_demand, lost, lost_entries }
    }
}

impl<'r> AuditedStoreView<'r> {
    fn of(audited: &'r StoreAudit) -> AuditedStoreView<'r> {
        let StoreAudit { store, report, index } = audited;
        let (root, shared) = match &store.owner {
            AutoOwner::Project { root, shared_with } => (Some(root), shared_with.as_slice()),
            AutoOwner::Agent { project, .. } => (project.as_ref(), [].as_slice()),
            AutoOwner::Nobody { former } => (former.as_ref(), [].as_slice()),
            AutoOwner::Everyone => (None, [].as_slice()),
        };
        AuditedStoreView {
            name: &store.name,
            root: root.map(|root| path_text(root)),
            folder: store.folder.as_ref().map(|folder| path_text(folder)),
            shared_with: shared.iter().map(|root| path_text(root)).collect(),
            memories: report.memories.len(),
            distribution: report.distribution,
            tokens: TokensView::from(*index),
            oldest_days: report.memories.iter().map(|memory| memory.age.days).max(),
        }
    }
}

impl<'r> DashboardView<'r> {
    pub fn of(
        audited: &'r [StoreAudit],
        total: IndexTokens,
        distribution: Distribution,
        worst: &[&'r MemoryAudit],
        unreadable: &[(PathBuf, String)],
    ) -> DashboardView<'r> {
        let of = |wanted: fn(&AutoOwner) -> bool| {
            audited.iter().filter(|audited| wanted(&audited.store.owner)).map(AuditedStoreView::of).collect()
        };
        let unreadable =
            unreadable.iter().map(|(path, why)| SkippedView { path: path_text(path), why: why.clone() });
        DashboardView {
            memories: audited.iter().map(|audited| audited.report.memories.len()).sum(),
            distribution,
            tokens: TokensView::from(total),
            projects: of(|owner| matches!(owner, AutoOwner::Project { .. } | AutoOwner::Everyone)),
            agents: of(|owner| matches!(owner, AutoOwner::Agent { .. })),
            orphans: of(|owner| matches!(owner, AutoOwner::Nobody { .. })),
            worst: worst.iter().map(|memory| MemoryAuditView::of(memory)).collect(),
            unreadable: unreadable.collect(),
        }
    }
}
