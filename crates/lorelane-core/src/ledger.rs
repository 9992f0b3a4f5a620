//! One line per prompt, session start or tool call with reminders: what was shown, what was left out, and why. `why`
//! reads it.

use crate::act::ToolAct;
use crate::briefing::{self, ActBriefing, Briefing, DropRule, RenderedContext};
use crate::conversation::{Conversation, Speaker};
use crate::forget::Traces;
use crate::json::{self, JsonFormat, lenient};
use crate::memory::Address;
use crate::recall::query::both_ends;
use crate::recall::{Hit, ScorePart};
use crate::secret;
use crate::text::{cut, one_line};
use crate::time::Timestamp;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;
use std::fmt;

/// Enough of a prompt to recognise it.
const QUERY_MAX: usize = 400;
const LEFT_OUT_MAX: usize = 20;
/// After this many prompts a memory may be shown again: a long conversation dilutes what was said once.
const PROMPTS_KEPT: usize = 20;

/// A prompt as a line has it.
fn query_of(prompt: &str) -> String {
    // Masked before it is truncated: half a secret would not be recognised.
    cut(&secret::masked(&one_line(&both_ends(prompt))), QUERY_MAX)
}

/// The last prompt of a session, if its line has all of it and no message of the transcript is it: some clients write
/// a turn to the transcript only after the stop hook ran.
pub fn unwritten_prompt<'l>(lines: &'l [LedgerLine], conversation: &Conversation) -> Option<&'l str> {
    let prompt = lines.iter().rev().find(|line| line.event == LedgerEvent::Prompt)?.query.as_str();
    // Both a cut and a masked secret leave an ellipsis.
    let is_whole = !prompt.contains('…');
    // The transcript has a command in another form.
    let is_command = prompt.starts_with('/');
    let mut said = conversation.messages.iter().rev().filter(|message| message.speaker == Speaker::Human);
    let is_written = said.any(|message| query_of(&message.text) == prompt);
    (is_whole && !is_command && !is_written).then_some(prompt)
}

/// One injection, or one prompt for which nothing was injected: `why` must be able to explain that too.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LedgerLine {
    pub at: Timestamp,
    pub client: String,
    #[serde(serialize_with = "as_named")]
    pub session: String,
    pub event: LedgerEvent,
    /// The prompt or what the tool does, with secrets masked, truncated.
    pub query: String,
    pub tokens: usize,
    #[serde(default, deserialize_with = "lenient::items_if_list")]
    pub shown: Vec<ShownMemory>,
    #[serde(default, deserialize_with = "lenient::items_if_list")]
    pub left_out: Vec<DroppedMemory>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LedgerEvent {
    Prompt,
    SessionStart,
    Tool,
    /// The client is about to shorten the conversation: what was shown in it may be gone.
    Compaction,
}

impl LedgerEvent {
    pub fn name(self) -> &'static str {
        match self {
            LedgerEvent::Prompt => "prompt",
            LedgerEvent::SessionStart => "session-start",
            LedgerEvent::Tool => "tool",
            LedgerEvent::Compaction => "compaction",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ShownMemory {
    pub address: Address,
    #[serde(flatten)]
    pub reason: ShownReason,
    /// Of what was shown of it (`briefing::digest`); empty if that is not known.
    #[serde(default, deserialize_with = "lenient::or_default", skip_serializing_if = "String::is_empty")]
    pub digest: String,
}

/// Why it was shown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ShownReason {
    /// It is shown at every session start.
    Standing { because: String },
    /// It names what a tool call touches.
    Named { names: String },
    /// It matched the prompt; the points add up to the score.
    Asked {
        score: i32,
        #[serde(with = "by_signal")]
        parts: Vec<ScorePart>,
        #[serde(default, deserialize_with = "lenient::or_default")]
        tokens: usize,
        /// The estimate and its reasons, as text.
        #[serde(default, deserialize_with = "lenient::or_default", skip_serializing_if = "String::is_empty")]
        relevance: String,
    },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DroppedMemory {
    pub address: Address,
    pub score: i32,
    #[serde(with = "by_signal")]
    pub parts: Vec<ScorePart>,
    #[serde(default, deserialize_with = "lenient::or_default", skip_serializing_if = "String::is_empty")]
    pub relevance: String,
    pub rule: DropRule,
}

/// A session id for the ledger. The client chose it, so secrets are masked and it is truncated.
pub fn named(session: &str) -> String {
    cut(&secret::masked(&one_line(session)), 80)
}

/// Whether a line must be removed with a forgotten memory. The whole line goes, prompt included: what was typed to
/// find a memory repeats it. A line that cannot be parsed goes too, because it may be a torn part of such a line.
pub fn has_traces(text: &str, traces: &Traces) -> bool {
    match LedgerLine::read(text) {
        None => !text.trim().is_empty(),
        Some(line) => {
            let ours = |address: &Address| traces.own(address) || traces.lost(address).is_some();
            line.addresses().any(ours) || traces.are_named_in(&line.query)
        }
    }
}

impl LedgerLine {
    pub fn of_prompt(
        at: Timestamp,
        client: &str,
        session: &str,
        prompt: &str,
        briefing: &Briefing,
    ) -> LedgerLine {
        let shown = briefing.reminders.iter().map(|reminder| ShownMemory {
            address: reminder.hit.address.clone(),
            reason: ShownReason::Asked {
                score: reminder.hit.score,
                parts: reminder.hit.explain.clone(),
                tokens: reminder.tokens,
                relevance: relevance_text(&reminder.hit),
            },
            digest: reminder.digest.clone(),
        });
        let left_out =
            briefing.left_out.iter().take(LEFT_OUT_MAX).map(|(hit, rule)| DroppedMemory::of(hit, *rule));
        LedgerLine {
            at,
            client: client.to_owned(),
            session: session.to_owned(),
            event: LedgerEvent::Prompt,
            query: query_of(prompt),
            shown: shown.collect(),
            left_out: left_out.collect(),
            tokens: briefing.tokens(),
        }
    }

    pub fn of_start(at: Timestamp, client: &str, session: &str, told: &RenderedContext) -> LedgerLine {
        let left_out = told.left_out.iter().map(|address| DroppedMemory {
            address: address.clone(),
            score: 0,
            parts: Vec::new(),
            relevance: String::new(),
            rule: DropRule::Budget,
        });
        let shown = told.shown.iter().map(|shown| ShownMemory {
            address: shown.address.clone(),
            reason: ShownReason::Standing { because: shown.because.to_owned() },
            digest: shown.digest.clone(),
        });
        LedgerLine {
            at,
            client: client.to_owned(),
            session: session.to_owned(),
            event: LedgerEvent::SessionStart,
            query: String::new(),
            shown: shown.collect(),
            left_out: left_out.take(LEFT_OUT_MAX).collect(),
            tokens: briefing::tokens(&told.text),
        }
    }

    /// The client shortens the conversation.
    pub fn of_compaction(at: Timestamp, client: &str, session: &str) -> LedgerLine {
        LedgerLine {
            at,
            client: client.to_owned(),
            session: session.to_owned(),
            event: LedgerEvent::Compaction,
            query: String::new(),
            shown: Vec::new(),
            left_out: Vec::new(),
            tokens: 0,
        }
    }

    pub fn of_tool(
        at: Timestamp,
        client: &str,
        session: &str,
        act: &ToolAct,
        briefing: &ActBriefing,
    ) -> LedgerLine {
        let shown = briefing.reminders.iter().map(|reminder| ShownMemory {
            address: reminder.address.clone(),
            reason: ShownReason::Named { names: secret::masked(&reminder.names).into_owned() },
            digest: reminder.digest.clone(),
        });
        let left_out = briefing.left_out.iter().map(|(address, rule)| DroppedMemory {
            address: address.clone(),
            score: 0,
            parts: Vec::new(),
            relevance: String::new(),
            rule: *rule,
        });
        LedgerLine {
            at,
            client: client.to_owned(),
            session: session.to_owned(),
            event: LedgerEvent::Tool,
            query: cut(&secret::masked(&one_line(&act.summary())), QUERY_MAX),
            shown: shown.collect(),
            left_out: left_out.take(LEFT_OUT_MAX).collect(),
            tokens: briefing::tokens(&briefing.text()),
        }
    }

    /// The line for the file, newline included.
    pub fn line(&self) -> String {
        format!("{}\n", json::to_string(self, JsonFormat::LINE))
    }

    /// Parses a line; `None` for a foreign or torn one.
    pub fn read(line: &str) -> Option<LedgerLine> {
        json::from_str(line).ok()
    }

    pub fn mentions(&self, address: &Address) -> bool {
        self.addresses().any(|known| known == address)
    }

    /// The memories shown or left out.
    pub fn addresses(&self) -> impl Iterator<Item = &Address> {
        let shown = self.shown.iter().map(|shown| &shown.address);
        shown.chain(self.left_out.iter().map(|left| &left.address))
    }
}

/// What lines of these events showed, with the digest of the last time. The lines are of one session, newest first.
pub fn shown_in_session(lines: &[LedgerLine], events: &[LedgerEvent]) -> BTreeMap<Address, String> {
    let lines = lines.iter().rev().filter(|line| events.contains(&line.event));
    let shown = lines.flat_map(|line| &line.shown);
    shown.map(|shown| (shown.address.clone(), shown.digest.clone())).collect()
}

/// What a session was shown and still has in its context, with the digest of the last time. The lines are of one
/// session, newest first.
pub fn still_in_context(lines: &[LedgerLine]) -> BTreeMap<Address, String> {
    let is_end = |line: &LedgerLine| matches!(line.event, LedgerEvent::Compaction);
    let mut prompts = 0;
    let mut known = BTreeMap::new();
    for line in lines.iter().take_while(|line| !is_end(line)) {
        prompts += usize::from(line.event == LedgerEvent::Prompt);
        if prompts > PROMPTS_KEPT {
            break;
        }
        for shown in &line.shown {
            known.entry(shown.address.clone()).or_insert_with(|| shown.digest.clone());
        }
        // The standing context is the first thing in a context.
        if line.event == LedgerEvent::SessionStart {
            break;
        }
    }
    known
}

/// What a line says of relevance. Words of a prompt may be secrets.
fn relevance_text(hit: &Hit) -> String {
    let text = hit.relevance.as_ref().map(ToString::to_string).unwrap_or_default();
    secret::masked(&text).into_owned()
}

impl DroppedMemory {
    fn of(hit: &Hit, rule: DropRule) -> DroppedMemory {
        DroppedMemory {
            address: hit.address.clone(),
            score: hit.score,
            parts: hit.explain.clone(),
            relevance: relevance_text(hit),
            rule,
        }
    }
}

fn as_named<S: Serializer>(session: &str, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&named(session))
}

/// `{"tag": {"points": 3, "matched": ["auth"]}}`
mod by_signal {
    use super::*;

    #[derive(Serialize, Deserialize)]
    struct SignalPoints {
        points: i32,
        #[serde(deserialize_with = "lenient::items_if_list")]
        matched: Vec<String>,
    }

    pub(super) fn serialize<S: Serializer>(parts: &[ScorePart], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(parts.iter().map(|part| {
            let matched = part.matched.iter().map(|word| secret::masked(word).into_owned()).collect();
            (part.signal, SignalPoints { points: part.points, matched })
        }))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(object: D) -> Result<Vec<ScorePart>, D::Error> {
        object.deserialize_map(InOrder)
    }

    struct InOrder;

    impl<'de> Visitor<'de> for InOrder {
        type Value = Vec<ScorePart>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("points by signal")
        }

        fn visit_map<M: MapAccess<'de>>(self, mut object: M) -> Result<Vec<ScorePart>, M::Error> {
            let mut parts = Vec::new();
            while let Some((signal, SignalPoints { points, matched })) = object.next_entry()? {
                parts.push(ScorePart { signal, points, matched });
            }
            Ok(parts)
        }
    }
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
