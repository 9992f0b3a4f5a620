//! What was put into prompts, one line each: the answer to "why did the agent see this, and why not that?".

use crate::briefing::{self, Briefing, Rule, Told};
use crate::forget::Traces;
use crate::json::{Format, Json, Object};
use crate::memory::Address;
use crate::recall::ask::both_ends;
use crate::recall::{Hit, Part, Signal};
use crate::secret;
use crate::text::{cut, one_line};
use crate::time::Timestamp;

/// Enough of a prompt to know it again.
const QUERY_MAX: usize = 400;
const LEFT_OUT_MAX: usize = 20;

/// One injection, or one prompt that was answered with nothing although memories were near.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    pub at: Timestamp,
    pub client: String,
    pub session: String,
    pub event: Event,
    /// The prompt, masked and cut.
    pub query: String,
    pub shown: Vec<Shown>,
    pub left_out: Vec<LeftOut>,
    pub tokens: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    Prompt,
    SessionStart,
}

impl Event {
    pub fn name(self) -> &'static str {
        match self {
            Event::Prompt => "prompt",
            Event::SessionStart => "session-start",
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Shown {
    pub address: Address,
    pub reason: Reason,
    pub tokens: usize,
}

/// Why it was shown.
#[derive(Clone, Debug, PartialEq)]
pub enum Reason {
    /// The prompt asked for it; the points sum to the score.
    Asked { score: i32, parts: Vec<Part> },
    /// It stands in every session.
    Standing { because: String },
}

#[derive(Clone, Debug, PartialEq)]
pub struct LeftOut {
    pub address: Address,
    pub score: i32,
    pub parts: Vec<Part>,
    pub rule: Rule,
}

/// A session's id as a line has it: foreign text, so masked and cut.
pub fn named(session: &str) -> String {
    cut(&secret::masked(&one_line(session)), 80)
}

/// Whether a line of the file has to go with a forgotten memory. One that cannot be read may be the rest of one that
/// does.
pub fn has_traces(text: &str, traces: &Traces) -> bool {
    match Line::read(text) {
        None => !text.trim().is_empty(),
        Some(line) => {
            let ours = |address: &Address| traces.own(address) || traces.lost(address).is_some();
            line.addresses().any(ours) || traces.are_named_in(&line.query)
        }
    }
}

impl Line {
    pub fn of_prompt(at: Timestamp, client: &str, session: &str, prompt: &str, briefing: &Briefing) -> Line {
        let shown = briefing.reminders.iter().map(|reminder| Shown {
            address: reminder.hit.address.clone(),
            reason: Reason::Asked { score: reminder.hit.score, parts: reminder.hit.explain.clone() },
            tokens: reminder.tokens,
        });
        let left_out = briefing.left_out.iter().take(LEFT_OUT_MAX).map(|(hit, rule)| LeftOut::of(hit, *rule));
        Line {
            at,
            client: client.to_owned(),
            session: session.to_owned(),
            event: Event::Prompt,
            query: cut(&secret::masked(&one_line(&both_ends(prompt))), QUERY_MAX),
            shown: shown.collect(),
            left_out: left_out.collect(),
            tokens: briefing.tokens(),
        }
    }

    pub fn of_start(at: Timestamp, client: &str, session: &str, told: &Told) -> Line {
        let left_out = told.left_out.iter().map(|address| LeftOut {
            address: address.clone(),
            score: 0,
            parts: Vec::new(),
            rule: Rule::Budget,
        });
        let shown = told.shown.iter().map(|(address, because)| Shown {
            address: address.clone(),
            reason: Reason::Standing { because: (*because).to_owned() },
            tokens: 0,
        });
        Line {
            at,
            client: client.to_owned(),
            session: session.to_owned(),
            event: Event::SessionStart,
            query: String::new(),
            shown: shown.collect(),
            left_out: left_out.take(LEFT_OUT_MAX).collect(),
            tokens: briefing::tokens(&told.text),
        }
    }

    /// The line for the file, newline included.
    pub fn line(&self) -> String {
        format!("{}\n", self.to_json().render(Format::LINE))
    }

    pub fn to_json(&self) -> Json {
        let members = [
            ("at", Json::text(self.at.to_string())),
            ("client", Json::text(&self.client)),
            ("session", Json::text(named(&self.session))),
            ("event", Json::text(self.event.name())),
            ("query", Json::text(&self.query)),
            ("tokens", Json::number(self.tokens)),
            ("shown", Json::List(self.shown.iter().map(Shown::to_json).collect())),
            ("left_out", Json::List(self.left_out.iter().map(LeftOut::to_json).collect())),
        ];
        Json::Object(members.into_iter().collect())
    }

    /// Reads a line; a foreign or torn one says nothing.
    pub fn read(line: &str) -> Option<Line> {
        let json = Json::parse(line).ok()?;
        let text = |key: &str| json.at(key).and_then(Json::as_text);
        let list = |key: &str| json.at(key).and_then(Json::as_list).unwrap_or_default();
        Some(Line {
            at: Timestamp::parse(text("at")?)?.0,
            client: text("client")?.to_owned(),
            session: text("session")?.to_owned(),
            event: match text("event")? {
                "prompt" => Event::Prompt,
                "session-start" => Event::SessionStart,
                _ => return None,
            },
            query: text("query")?.to_owned(),
            shown: list("shown").iter().filter_map(Shown::read).collect(),
            left_out: list("left_out").iter().filter_map(LeftOut::read).collect(),
            tokens: whole(json.at("tokens")?)?,
        })
    }

    pub fn speaks_of(&self, address: &Address) -> bool {
        self.addresses().any(|known| known == address)
    }

    /// The memories that it speaks of.
    pub fn addresses(&self) -> impl Iterator<Item = &Address> {
        let shown = self.shown.iter().map(|shown| &shown.address);
        shown.chain(self.left_out.iter().map(|left| &left.address))
    }
}

impl Shown {
    fn to_json(&self) -> Json {
        let mut object = Object::new();
        object.set("address", Json::text(self.address.to_string()));
        match &self.reason {
            Reason::Asked { score, parts } => {
                object.set("score", Json::number(score));
                object.set("parts", parts_json(parts));
                object.set("tokens", Json::number(self.tokens));
            }
            Reason::Standing { because } => object.set("because", Json::text(because)),
        }
        Json::Object(object)
    }

    fn read(json: &Json) -> Option<Shown> {
        let reason = match json.at("because").and_then(Json::as_text) {
            Some(because) => Reason::Standing { because: because.to_owned() },
            None => Reason::Asked { score: number(json.at("score")?)?, parts: parts(json.at("parts")?)? },
        };
        let tokens = json.at("tokens").and_then(whole).unwrap_or_default();
        Some(Shown { address: address(json)?, reason, tokens })
    }
}

impl LeftOut {
    fn of(hit: &Hit, rule: Rule) -> LeftOut {
        LeftOut { address: hit.address.clone(), score: hit.score, parts: hit.explain.clone(), rule }
    }

    fn to_json(&self) -> Json {
        let members = [
            ("address", Json::text(self.address.to_string())),
            ("score", Json::number(self.score)),
            ("parts", parts_json(&self.parts)),
            ("rule", Json::text(self.rule.name())),
        ];
        Json::Object(members.into_iter().collect())
    }

    fn read(json: &Json) -> Option<LeftOut> {
        Some(LeftOut {
            address: address(json)?,
            score: number(json.at("score")?)?,
            parts: parts(json.at("parts")?)?,
            rule: Rule::parse(json.at("rule")?.as_text()?)?,
        })
    }
}

fn address(json: &Json) -> Option<Address> {
    Address::parse(json.at("address")?.as_text()?)
}

fn whole(json: &Json) -> Option<usize> {
    usize::try_from(json.as_u64()?).ok()
}

fn number(json: &Json) -> Option<i32> {
    let number = json.as_f64()?;
    (number.fract() == 0.0 && number.abs() < f64::from(i32::MAX)).then_some(number as i32)
}

/// `{"tag": {"points": 3, "matched": ["auth"]}}`
fn parts_json(parts: &[Part]) -> Json {
    let part = |part: &Part| {
        let members = [
            ("points", Json::number(part.points)),
            ("matched", Json::texts(part.matched.iter().map(|word| secret::masked(word).into_owned()))),
        ];
        (part.signal.name(), Json::Object(members.into_iter().collect()))
    };
    Json::Object(parts.iter().map(part).collect())
}

fn parts(json: &Json) -> Option<Vec<Part>> {
    let part = |(name, value): (&str, &Json)| {
        Some(Part {
            signal: Signal::parse(name)?,
            points: number(value.at("points")?)?,
            matched: value.at("matched")?.to_texts(),
        })
    };
    json.as_object()?.iter().map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Category;
    use proptest::prelude::*;

    #[test]
    fn a_line_of_the_ledger_that_cannot_be_read_goes_too() {
        let addresses = [Address::record(Category::TechDebt, "retry-queue")].into();
        let traces = Traces { addresses, ..Traces::default() };
        let line = |query: &str| {
            format!(
                r#"{{"at":"2026-03-01T12:00:00Z","client":"c","session":"s","event":"prompt","query":"{query}","tokens":1,"shown":[],"left_out":[{{"address":"tech_debt/other","score":1,"parts":{{}},"rule":"irrelevant"}}]}}"#
            )
        };
        let table = [
            (line("something else"), false),
            (line("why retry-queue?"), true),
            (line("x").replace("tech_debt/other", "tech_debt/retry-queue"), true),
            ("      anzibar\"}".to_owned(), true),
            ("      ".to_owned(), false),
        ];
        for (line, goes) in table {
            assert_eq!(has_traces(&line, &traces), goes, "{line}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_judged_without_panic(text in "\\PC{0,60}") {
            let _ = has_traces(&text, &Traces::default());
        }
    }
}
