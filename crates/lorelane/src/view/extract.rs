//! What `extract` found.

use super::{Digits, path_text};
use lorelane_core::conversation::TranscriptPosition;
use lorelane_core::statements::StatementForm;
use lorelane_core::text::one_line;
use lorelane_engine::workspace::{ExtractReport, ExtractedItem, LeftOut, SessionFile};
use serde::Serialize;

#[derive(Debug, Serialize)]
pub struct ExtractView<'r> {
    note: &'static str,
    dry_run: bool,
    sessions: usize,
    items: Vec<ExtractedItemView<'r>>,
    left_out: LeftOutView,
    elsewhere: Vec<ElsewhereView<'r>>,
    unread: Vec<UnreadView<'r>>,
}

#[derive(Debug, Serialize)]
struct ExtractedItemView<'r> {
    /// `null` in a dry run.
    item: Option<u64>,
    form: Option<&'static str>,
    kind: &'static str,
    category: &'static str,
    score: Digits,
    words: Vec<String>,
    session: &'r str,
    client: &'static str,
    date: Option<String>,
    at: TranscriptPosition,
    destination: &'static str,
}

#[derive(Debug, Serialize)]
struct LeftOutView {
    known: usize,
    repeated: usize,
    said: usize,
    rejected: usize,
    passing: usize,
    disabled: usize,
    over_limit: usize,
}

#[derive(Debug, Serialize)]
struct ElsewhereView<'r> {
    session: &'r str,
    client: &'static str,
    folder: String,
}

#[derive(Debug, Serialize)]
struct UnreadView<'r> {
    session: &'r str,
    path: String,
    why: &'r str,
}

impl<'r> ExtractView<'r> {
    pub fn of(report: &'r ExtractReport, dry_run: bool) -> ExtractView<'r> {
        let LeftOut { known, repeated, said, rejected, passing, disabled, over_limit } = report.left_out;
        let elsewhere = report.elsewhere.iter().map(|(SessionFile { id, client, .. }, folder)| {
            ElsewhereView { session: id, client, folder: path_text(folder) }
        });
        let unread = report.unread.iter().map(|unread| UnreadView {
            session: &unread.session.id,
            path: path_text(&unread.session.path),
            why: &unread.why,
        });
        ExtractView {
            note: super::INBOX_DATA,
            dry_run,
            sessions: report.sessions,
            items: report.items.iter().map(ExtractedItemView::of).collect(),
            left_out: LeftOutView { known, repeated, said, rejected, passing, disabled, over_limit },
            elsewhere: elsewhere.collect(),
            unread: unread.collect(),
        }
    }
}

impl<'r> ExtractedItemView<'r> {
    fn of(found: &'r ExtractedItem) -> ExtractedItemView<'r> {
        let ExtractedItem { client, item, destination } = found;
        ExtractedItemView {
            item: (item.number > 0).then_some(item.number),
            form: item.form.map(StatementForm::name),
            kind: item.kind_name(),
            category: item.category.name(),
            score: Digits::fixed(item.score, super::PLACES),
            words: item.snippets.iter().map(|words| one_line(words)).collect(),
            session: &item.origin.session,
            client,
            date: item.said.map(|at| at.date()),
            at: item.origin.at,
            destination: destination.name(),
        }
    }
}
