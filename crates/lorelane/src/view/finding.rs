//! The findings of `doctor`, and the result of `reindex`.

use lorelane_engine::workspace::{Diagnosis, Finding};
use serde::Serialize;

#[derive(Debug, Serialize)]
pub struct DiagnosisView<'d> {
    findings: Vec<FindingView<'d>>,
    notes: &'d [String],
}

#[derive(Debug, Serialize)]
pub struct FindingView<'d> {
    check: &'static str,
    what: &'d str,
    hint: &'d str,
}

impl<'d> DiagnosisView<'d> {
    pub fn of(diagnosis: &'d Diagnosis) -> DiagnosisView<'d> {
        let findings = diagnosis.findings.iter().map(FindingView::of).collect();
        DiagnosisView { findings, notes: &diagnosis.notes }
    }
}

impl<'d> FindingView<'d> {
    pub fn of(finding: &'d Finding) -> FindingView<'d> {
        FindingView { check: finding.check, what: &finding.what, hint: &finding.hint }
    }
}

#[derive(Debug, Serialize)]
pub struct ReindexPlanView {
    pub listing_differs: bool,
    pub dry_run: bool,
}

#[derive(Debug, Serialize)]
pub struct ReindexView {
    pub listed: usize,
}
