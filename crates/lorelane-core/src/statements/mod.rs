//! Statements that are worth keeping: what the user decided, prefers, corrected, or told about the world.
//!
//! A conversation is cut into statements; each gets features that have a meaning, and linear models with fitted weights
//! say how likely it is worth keeping and of which kind it is. No model is called, and every score can be explained.

mod cut;
mod explicit;
mod features;
mod fitted;
mod forms;
mod lexicon;
mod model;
mod print;
mod runbook;
mod words;

pub use features::{FEATURES, FeatureFamily, FeatureValues, StatementFeature};
pub use forms::{StatementForm, detect_forms, is_passing, is_standing_rule};
pub use model::{LinearModel, StatementWeights};
pub use print::StatementPrint;

use crate::conversation::{Conversation, Message, Speaker, TranscriptPosition};
use crate::memory::Category;
use crate::secret;
use cut::CutStatement;
use features::{ContentWords, MessageContext, ReadStatement, StatementLexicon};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::ops::Range;
use std::sync::LazyLock;
use words::{PhraseTable, SentenceWords};

/// A statement with at least this score may be a reason to ask the agent.
pub const ASK_SCORE: f64 = 0.72;
/// A statement with at least this score waits in the inbox.
pub const INBOX_SCORE: f64 = 0.24;
/// The statements that one request quotes.
pub const ASK_MAX: usize = 3;
/// The score of a finding of the agent that the user confirmed: enough to wait, not enough to ask.
const FINDING_SCORE: f64 = 0.4;
/// Earlier statements that a new one is compared with.
const EARLIER_MAX: usize = 24;

/// What a statement is, if it is worth keeping.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StatementKind {
    Decision,
    Preference,
    /// The agent assumed or did something wrong. It is saved as a preference or a decision.
    Correction,
    Constraint,
    Runbook,
    TechDebt,
}

impl StatementKind {
    pub const ALL: [StatementKind; 6] = [
        StatementKind::Decision,
        StatementKind::Preference,
        StatementKind::Correction,
        StatementKind::Constraint,
        StatementKind::Runbook,
        StatementKind::TechDebt,
    ];

    pub fn name(self) -> &'static str {
        match self {
            StatementKind::Correction => "correction",
            kind => kind.category().name(),
        }
    }

    /// The category that a memory of this kind is saved in.
    pub fn category(self) -> Category {
        match self {
            StatementKind::Decision => Category::Decision,
            StatementKind::Preference | StatementKind::Correction => Category::Preference,
            StatementKind::Constraint => Category::Constraint,
            StatementKind::Runbook => Category::Runbook,
            StatementKind::TechDebt => Category::TechDebt,
        }
    }
}

/// The words around a statement.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StatementContext {
    /// The statement before it in the same message.
    pub before: Option<String>,
    /// The statement after it.
    pub after: Option<String>,
    /// Its message, with the end of the message before and the beginning of the one after.
    pub excerpt: String,
}

/// Exact words of one message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// The place of its message in the conversation.
    pub message: usize,
    pub at: TranscriptPosition,
    pub speaker: Speaker,
    /// In the text of the message.
    pub span: Range<usize>,
    pub words: String,
}

/// A statement of the user before it is scored.
#[derive(Clone, Debug, PartialEq)]
pub struct StatementCandidate {
    pub statement: Statement,
    pub values: FeatureValues,
    /// Whether the user asked to remember it.
    pub is_request: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ScoredStatement {
    pub statement: Statement,
    pub kind: StatementKind,
    /// The chance that it is worth keeping; 1 if the user asked to remember it.
    pub score: f64,
    pub is_request: bool,
    /// What speaks for and against it, in log odds, the largest first. Empty for a finding of the agent.
    pub evidence: Vec<(StatementFeature, f64)>,
}

/// The statements worth keeping in the messages after a position, oldest first. What is before serves as context.
pub fn detect(conversation: &Conversation, after: Option<TranscriptPosition>) -> Vec<ScoredStatement> {
    detect_with(conversation, after, &StatementWeights::default())
}

/// The same with other weights, to measure them.
pub fn detect_with(
    conversation: &Conversation,
    after: Option<TranscriptPosition>,
    weights: &StatementWeights,
) -> Vec<ScoredStatement> {
    let scored = candidates(conversation, after).into_iter().filter_map(|candidate| {
        let StatementCandidate { statement, values, is_request } = candidate;
        let score = if is_request { 1.0 } else { weights.score(&values) };
        (score >= INBOX_SCORE).then(|| ScoredStatement {
            statement,
            kind: weights.kind(&values),
            score,
            is_request,
            evidence: weights.explain(&values),
        })
    });
    let mut found: Vec<ScoredStatement> = scored.chain(findings(conversation, after)).collect();
    // A secret is never proposed, not even masked: what is left of the statement would be of no use.
    found.retain(|scored| secret::scan(&scored.statement.words).is_empty());
    found.sort_by_key(|scored| (scored.statement.message, scored.statement.span.start));
    found
}

/// The findings whose score is high enough to ask the agent about them, best first. A request takes the first
/// [`ASK_MAX`] that no memory says already.
pub fn to_ask<T>(found: &[T], score: impl Fn(&T) -> f64) -> Vec<&T> {
    let mut asked: Vec<&T> = found.iter().filter(|one| score(one) >= ASK_SCORE).collect();
    asked.sort_by(|one, other| score(other).total_cmp(&score(one)));
    asked
}

/// The words around a statement of this conversation.
pub fn context_of(conversation: &Conversation, statement: &Statement) -> StatementContext {
    let messages = &conversation.messages;
    let Some(message) = messages.get(statement.message) else { return StatementContext::default() };
    let cut = cut::cut(&message.text);
    let at = cut.statements.iter().position(|other| other.span == statement.span);
    let neighbour = |at: Option<usize>| {
        let span = cut.statements.get(at?)?.span.clone();
        Some(crate::text::cut(&message.text[span], NEIGHBOUR_MAX))
    };
    let mut excerpt = String::new();
    if let Some(before) = statement.message.checked_sub(1).map(|before| &messages[before].text) {
        let start = before.ceil_char_boundary(before.len().saturating_sub(AROUND_MAX));
        excerpt.push_str(&format!("{}\n---\n", &before[start..]));
    }
    let window = statement.span.start.saturating_sub(OWN_MAX)..statement.span.end.saturating_add(OWN_MAX);
    let start = message.text.floor_char_boundary(window.start);
    let end = message.text.ceil_char_boundary(window.end.min(message.text.len()));
    excerpt.push_str(&message.text[start..end]);
    if let Some(after) = messages.get(statement.message + 1).map(|after| &after.text) {
        excerpt.push_str(&format!("\n---\n{}", &after[..after.floor_char_boundary(AROUND_MAX)]));
    }
    StatementContext {
        before: neighbour(at.and_then(|at| at.checked_sub(1))),
        after: neighbour(at.map(|at| at + 1)),
        excerpt,
    }
}

/// All statements of the user in the messages after a position, with their features.
pub fn candidates(conversation: &Conversation, after: Option<TranscriptPosition>) -> Vec<StatementCandidate> {
    let lexicon = &*LEXICON;
    let messages = &conversation.messages;
    let is_new = |number: usize| after.is_none_or(|after| messages[number].at.is_after(after));
    let of_users: Vec<usize> =
        (0..messages.len()).filter(|number| messages[*number].speaker == Speaker::Human).collect();
    let first = of_users.iter().position(|number| is_new(*number)).unwrap_or(of_users.len());
    let mut candidates = Vec::new();
    let mut earlier: Vec<ContentWords> = Vec::new();
    let mut seen = HashSet::new();
    for (place, &number) in of_users.iter().enumerate().skip(first.saturating_sub(CONTEXT_MAX)) {
        let text = &messages[number].text;
        let cut = cut::cut(text);
        let next = of_users.get(place + 1).map(|next| messages[*next].text.as_str());
        let is_kept = place >= first && !next.is_some_and(|next| runbook::is_withdrawal(next, lexicon));
        let is_read = is_kept && !cut.statements.is_empty();
        let context = if is_read { context(messages, number, lexicon) } else { MessageContext::default() };
        let known = earlier.len().saturating_sub(EARLIER_MAX)..earlier.len();
        for (at, statement) in cut.statements.iter().enumerate() {
            let read = ReadStatement::new(text, statement, lexicon);
            // Whoever repeats the same words says nothing new.
            if seen.insert(read.key()) && is_kept {
                let values = features::values(text, &cut, at, &read, &context, &earlier[known.clone()]);
                candidates.push(StatementCandidate {
                    is_request: is_request(&read, &values),
                    statement: statement_at(messages, number, statement),
                    values,
                });
            }
            earlier.push(read.content);
        }
    }
    candidates
}

/// Of a neighbouring statement, in characters.
const NEIGHBOUR_MAX: usize = 300;
/// Of the messages around, and of the statement's own before and after it, in bytes.
const AROUND_MAX: usize = 800;
const OWN_MAX: usize = 1_500;
/// Messages before the new ones that a statement may repeat.
const CONTEXT_MAX: usize = 32;
/// The agent's finding is at most this many messages before the user confirms it.
const NEARBY: usize = 64;
/// Enough of the agent's answer, in bytes.
const REPLY_MAX: usize = 2_000;

/// Built once per process; a stop hook that finds nothing new does not need it.
static LEXICON: LazyLock<StatementLexicon> = LazyLock::new(StatementLexicon::new);

fn context(messages: &[Message], number: usize, lexicon: &StatementLexicon) -> MessageContext {
    let mut reply = String::new();
    for message in messages[number + 1..].iter().take_while(|message| message.speaker == Speaker::Assistant) {
        let end = message.text.floor_char_boundary(REPLY_MAX);
        reply.push_str(&message.text[..end]);
        reply.push('\n');
        if reply.len() >= REPLY_MAX {
            break;
        }
    }
    MessageContext::new(&reply, lexicon)
}

/// A request to remember, unless it is in a pasted document or a quotation.
fn is_request(read: &ReadStatement, values: &FeatureValues) -> bool {
    let pasted = [
        StatementFeature::InDocument,
        StatementFeature::BigMessage,
        StatementFeature::LogMessage,
        StatementFeature::Quoted,
    ];
    pasted.iter().all(|feature| values.get(*feature) == 0.0) && read.is_request_to_remember(&LEXICON)
}

fn statement_at(messages: &[Message], number: usize, statement: &CutStatement) -> Statement {
    let message = &messages[number];
    let span = statement.span.clone();
    let words = message.text[span.clone()].to_owned();
    Statement { message: number, at: message.at, speaker: message.speaker, span, words }
}

/// Causes that the agent named and the user confirmed in a message after the position: the first of each message.
fn findings(conversation: &Conversation, after: Option<TranscriptPosition>) -> Vec<ScoredStatement> {
    let lexicon = &*LEXICON;
    let messages = &conversation.messages;
    let mut findings = Vec::new();
    for (number, message) in messages.iter().enumerate() {
        let is_new = after.is_none_or(|after| message.at.is_after(after));
        if message.speaker != Speaker::Human || !is_new || !runbook::is_confirmed(&message.text, lexicon) {
            continue;
        }
        let answer =
            messages[..number].iter().rev().take_while(|message| message.speaker == Speaker::Assistant);
        for (back, answer) in answer.take(NEARBY).enumerate().filter(|(_, message)| message.speaks()) {
            let cut = cut::cut(&answer.text);
            let mut named = cut.statements.iter();
            if let Some(named) =
                named.find(|statement| runbook::names_a_cause(&answer.text, statement, &CAUSES))
            {
                findings.push(ScoredStatement {
                    statement: statement_at(messages, number - 1 - back, named),
                    kind: StatementKind::Runbook,
                    score: FINDING_SCORE,
                    is_request: false,
                    evidence: Vec::new(),
                });
                break;
            }
        }
    }
    findings
}

static CAUSES: LazyLock<PhraseTable<runbook::FindingSense>> =
    LazyLock::new(|| PhraseTable::new(runbook::FINDINGS));

/// Whether a word has content of its own.
pub fn is_telling(word: &str) -> bool {
    let words = SentenceWords::new(word);
    words.hashed().any(|(word, hash)| LEXICON.is_telling(word, hash))
}

/// Whether a message of the user takes back what the one before it said.
pub fn is_withdrawal(text: &str) -> bool {
    runbook::is_withdrawal(text, &LEXICON)
}
