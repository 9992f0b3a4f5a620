//! Search results, with every part of each score.

use super::texts;
use lorelane_core::json::Json;
use lorelane_core::recall::{Hit, ScorePart};
use lorelane_core::validity::NotCurrent;
use lorelane_engine::workspace::Workspace;
use serde::Serialize;

#[derive(Debug, Serialize)]
pub struct SearchView<'h> {
    pub query: &'h str,
    pub total: usize,
    pub hits: Vec<HitView<'h>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unreadable: Vec<UnreadableView<'h>>,
}

/// A file that the query names and that cannot be read as a memory.
#[derive(Debug, Serialize)]
pub struct UnreadableView<'h> {
    path: &'h str,
    what: &'h str,
}

impl<'h> UnreadableView<'h> {
    pub fn all(found: &'h [(String, String)]) -> Vec<UnreadableView<'h>> {
        found.iter().map(|(path, what)| UnreadableView { path, what }).collect()
    }
}

#[derive(Debug, Serialize)]
pub struct HitView<'h> {
    address: String,
    path: String,
    lines: Option<(usize, usize)>,
    title: &'h str,
    category: &'static str,
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    not_current: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    superseded_by: Option<String>,
    /// What it names that is gone from the repository.
    #[serde(skip_serializing_if = "Option::is_none")]
    broken: Option<&'h str>,
    tags: &'h [String],
    passage: Option<String>,
    same: Vec<String>,
    /// The chance that it is useful, from 0 to 1, and why.
    relevance: Option<f64>,
    reasons: &'h [String],
    /// Whether a hook would add it to a prompt.
    reminds: bool,
    score: i32,
    explain: Vec<PartView<'h>>,
}

#[derive(Debug, Serialize)]
struct PartView<'h> {
    signal: &'static str,
    points: i32,
    matched: &'h [String],
}

impl<'h> HitView<'h> {
    pub fn of(hit: &'h Hit, workspace: &Workspace) -> HitView<'h> {
        HitView {
            address: hit.address.to_string(),
            path: workspace.files().path_of(hit),
            lines: hit.lines,
            title: &hit.title,
            category: hit.kind.name(),
            status: hit.status.name(),
            not_current: hit.not_current.map(NotCurrent::name),
            superseded_by: hit.superseded_by.as_ref().map(ToString::to_string),
            broken: hit.broken.as_deref(),
            tags: &hit.tags,
            passage: workspace.files().excerpt(hit),
            same: texts(&hit.same),
            relevance: hit.relevance.as_ref().map(|relevance| f64::from(relevance.percent()) / 100.0),
            reasons: hit.relevance.as_ref().map_or(&[], |relevance| &relevance.reasons),
            reminds: hit.would_remind(workspace.policy()),
            score: hit.score,
            explain: hit.explain.iter().map(PartView::of).collect(),
        }
    }
}

impl<'h> PartView<'h> {
    fn of(part: &'h ScorePart) -> PartView<'h> {
        PartView { signal: part.signal.name(), points: part.points, matched: &part.matched }
    }
}

/// The answer to one line of a batch.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum BatchView {
    /// The id of the question, exactly as it was given.
    Hits {
        id: Json,
        hits: Vec<BatchHitView>,
    },
    NoQuestion {
        line: usize,
        error: String,
    },
}

#[derive(Debug, Serialize)]
pub struct BatchHitView {
    memory: String,
    path: String,
    lines: Option<(usize, usize)>,
    score: i32,
}

impl BatchHitView {
    pub fn of(hit: &Hit, workspace: &Workspace) -> BatchHitView {
        BatchHitView {
            memory: hit.address.to_string(),
            path: workspace.files().path_of(hit),
            lines: hit.lines,
            score: hit.score,
        }
    }
}
