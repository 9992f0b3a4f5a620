//! What a tool gives back. A failure is an answer too: a model can read it and mend its call.

use super::hints::{self, Tools};
use lorelane_core::fence::{self, Fence};
use lorelane_core::json::{Format, Json};
use lorelane_core::secret;
use lorelane_engine::workspace::Failure;

/// More than a model can use at once; clients cut without saying so.
const TEXT_MAX: usize = 40_000;

/// The member of a structured answer that holds a list.
pub(super) const LISTED: &str = "result";

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Answer {
    Text(String),
    /// JSON that a model shall read.
    Document(Json),
    /// JSON whose values are as they stand in the files, because whoever reads them writes them back.
    Verbatim(Json),
}

/// What was attempted, why not, and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Trouble {
    what: String,
    hint: String,
}

pub(super) type Outcome = Result<Answer, Trouble>;

impl Answer {
    /// Words of memories between our own: fenced, so that a model can tell them apart.
    pub(super) fn fenced(head: &str, inside: &str, tail: &str) -> Answer {
        let mut text = String::new();
        if !head.is_empty() {
            text.push_str(&format!("{head}\n"));
        }
        text.push_str(&Fence::Memory.around(inside));
        text.push_str(tail);
        Answer::Text(text)
    }

    /// A document in which no text can pretend to be anything else.
    pub(super) fn document(members: impl IntoIterator<Item = (&'static str, Json)>) -> Answer {
        let mut json = Json::Object(members.into_iter().collect());
        json.map_texts(&mut |text| Some(fence::block(text, TEXT_MAX)));
        Answer::Document(json)
    }
}

/// A document of exact values on one line.
pub(super) fn line(json: &Json) -> String {
    fence::json(&json.render(Format::LINE))
}

/// The text of a memory's file for a model, and whether all of it is there.
pub(super) fn whole(text: &str) -> (String, bool) {
    (fence::block(text, TEXT_MAX), text.chars().nth(TEXT_MAX).is_none())
}

impl Answer {
    pub(super) fn naming(mut self, tools: Tools) -> Answer {
        if let Answer::Document(json) = &mut self {
            hints::with_tools_in(json, tools);
        }
        self
    }
}

impl Trouble {
    pub(super) fn naming(self, tools: Tools) -> Trouble {
        let Trouble { what, hint } = self;
        Trouble { what: hints::with_tools_in_fixes(&what, tools), hint: hints::with_tools(&hint, tools) }
    }

    pub(super) fn new(what: impl Into<String>, hint: impl Into<String>) -> Trouble {
        Trouble { what: what.into(), hint: hint.into() }
    }

    pub(super) fn json(&self) -> String {
        let said = |text: &str| Json::text(secret::masked(text));
        line(&Json::Object([("error", said(&self.what)), ("hint", said(&self.hint))].into_iter().collect()))
    }

    pub(super) fn text(&self) -> String {
        let text = format!("error: {}\nhint: {}", self.what, self.hint);
        fence::block(&secret::masked(&text), TEXT_MAX)
    }
}

impl From<Failure> for Trouble {
    fn from(failure: Failure) -> Trouble {
        Trouble::from(&failure)
    }
}

impl From<&Failure> for Trouble {
    fn from(failure: &Failure) -> Trouble {
        Trouble::new(failure.to_string(), failure.hint())
    }
}
