//! Why an agent saw a memory, or did not.

use super::Exact;
use lorelane_core::fence;
use lorelane_core::json::Json;
use lorelane_core::ledger::Line;
use lorelane_core::memory::Address;
use lorelane_engine::workspace::{Account, Fate};
use serde::Serialize;

/// The newest line of the ledger, as the ledger has it.
#[derive(Debug, Serialize)]
pub struct LastPromptView {
    line: Option<Exact<'static>>,
}

impl LastPromptView {
    pub fn of(line: Option<&Line>) -> LastPromptView {
        LastPromptView { line: as_kept(line) }
    }
}

#[derive(Debug, Serialize)]
pub struct WhyView {
    address: String,
    shown: bool,
    rule: Option<&'static str>,
    since: Option<&'static str>,
    line: Option<Exact<'static>>,
}

impl WhyView {
    pub fn of(address: &Address, account: &Account) -> WhyView {
        WhyView {
            address: address.to_string(),
            shown: account.fate == Fate::Shown,
            rule: match account.fate {
                Fate::Shown => None,
                Fate::Dropped(rule) => Some(rule.name()),
                Fate::WouldShow => Some("new"),
            },
            since: account.since.map(|rule| rule.name()),
            line: as_kept(account.line.as_ref()),
        }
    }
}

/// The same for a model: in words, and what is not known is left out.
#[derive(Debug, Serialize)]
pub struct ExplanationView {
    #[serde(skip_serializing_if = "Option::is_none")]
    address: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    shown: Option<bool>,
    says: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt: Option<Exact<'static>>,
}

impl ExplanationView {
    pub fn of_last(line: Option<&Line>) -> ExplanationView {
        let says = match line {
            Some(_) => "the last prompt or session start that was answered",
            None => "no prompt was answered in this project yet",
        };
        ExplanationView { address: None, shown: None, says, prompt: as_kept(line) }
    }

    pub fn of(address: &Address, account: &Account) -> ExplanationView {
        ExplanationView {
            address: Some(fence::name(&address.to_string())),
            shown: Some(account.fate == Fate::Shown),
            says: match account.fate {
                Fate::Shown => "it was shown",
                Fate::Dropped(rule) => rule.says(),
                Fate::WouldShow => "it was made or changed since; now it would be shown",
            },
            prompt: as_kept(account.line.as_ref()),
        }
    }
}

fn as_kept(line: Option<&Line>) -> Option<Exact<'static>> {
    line.map(|line| Json::of(line).into())
}
