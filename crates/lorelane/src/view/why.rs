//! Why a memory was shown to an agent, or was not.

use super::ClaimView;
use lorelane_core::fence;
use lorelane_core::ledger::LedgerLine;
use lorelane_core::memory::Address;
use lorelane_engine::workspace::{ReminderOutcome, WhyReport};
use serde::Serialize;

/// The newest line of the ledger, unchanged.
#[derive(Debug, Serialize)]
pub struct LastPromptView<'l> {
    line: Option<&'l LedgerLine>,
}

impl<'l> LastPromptView<'l> {
    pub fn of(line: Option<&'l LedgerLine>) -> LastPromptView<'l> {
        LastPromptView { line }
    }
}

#[derive(Debug, Serialize)]
pub struct WhyView<'l> {
    address: String,
    shown: bool,
    rule: Option<&'static str>,
    since: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    superseded_by: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    broken: Vec<ClaimView<'l>>,
    line: Option<&'l LedgerLine>,
}

impl<'l> WhyView<'l> {
    pub fn of(address: &Address, account: &'l WhyReport) -> WhyView<'l> {
        WhyView {
            address: address.to_string(),
            shown: account.outcome == ReminderOutcome::Shown,
            rule: match account.outcome {
                ReminderOutcome::Shown => None,
                ReminderOutcome::Dropped(rule) => Some(rule.name()),
                ReminderOutcome::WouldShow => Some("new"),
            },
            since: account.since.map(|rule| rule.name()),
            superseded_by: account.superseded_by.as_ref().map(ToString::to_string),
            broken: account.broken.iter().map(ClaimView::of).collect(),
            line: account.line.as_ref(),
        }
    }
}

/// The explanation for a model: as text, without unknown members.
#[derive(Debug, Serialize)]
pub struct ExplanationView<'l> {
    #[serde(skip_serializing_if = "Option::is_none")]
    address: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    shown: Option<bool>,
    says: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    superseded_by: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt: Option<&'l LedgerLine>,
}

impl<'l> ExplanationView<'l> {
    pub fn of_last(line: Option<&'l LedgerLine>) -> ExplanationView<'l> {
        let says = match line {
            Some(_) => "the last logged prompt, session start or tool call",
            None => "no prompt is logged for this project yet",
        };
        ExplanationView { address: None, shown: None, says, superseded_by: None, prompt: line }
    }

    pub fn of(address: &Address, account: &'l WhyReport) -> ExplanationView<'l> {
        ExplanationView {
            address: Some(fence::name(&address.to_string())),
            shown: Some(account.outcome == ReminderOutcome::Shown),
            says: match account.outcome {
                ReminderOutcome::Shown => "it was shown",
                ReminderOutcome::Dropped(rule) => rule.says(),
                ReminderOutcome::WouldShow => "it or the settings changed since then; it would be shown now",
            },
            superseded_by: account.superseded_by.as_ref().map(|by| fence::name(&by.to_string())),
            prompt: account.line.as_ref(),
        }
    }
}
