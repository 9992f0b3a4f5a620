//! What a statement is beside its kind, for sessions that are read as a whole: a comparison of two values, an approval,
//! a reference. Each rule reads words; the score of the detector still ranks.

use super::cut::cut;
use super::features::StatementFeature;
use super::words::{PhraseTable, SentenceWords};
use super::{
    INBOX_SCORE, NEARBY, ScoredStatement, Statement, StatementCandidate, StatementKind, StatementWeights,
    candidates, findings,
};
use crate::conversation::{Conversation, Message, Speaker, TranscriptPosition};
use crate::secret;
use serde::{Deserialize, Serialize};
use std::sync::LazyLock;

/// What a statement is beside its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StatementForm {
    /// It prefers one thing to another. Such choices outlive files and APIs.
    Value,
    /// A question that the agent asked in a form, with the user's answer.
    Answer,
    /// A statement of the agent that the user approved.
    Approval,
    /// An address on the web, and what it is for.
    Reference,
}

impl StatementForm {
    pub fn name(self) -> &'static str {
        match self {
            StatementForm::Value => "value",
            StatementForm::Answer => "answer",
            StatementForm::Approval => "approval",
            StatementForm::Reference => "reference",
        }
    }

    pub fn meaning(self) -> &'static str {
        match self {
            StatementForm::Value => "it prefers one thing to another",
            StatementForm::Answer => "it answers a question of the agent",
            StatementForm::Approval => "the agent said it, and the user approved",
            StatementForm::Reference => "it says what a web address is for",
        }
    }

    /// The least score: whatever has this form waits in the inbox.
    pub fn least_score(self) -> f64 {
        match self {
            StatementForm::Value | StatementForm::Answer => 0.5,
            StatementForm::Approval | StatementForm::Reference => 0.4,
        }
    }
}

/// The score that the agent's words must have, as if the user had said them.
const APPROVED_SCORE: f64 = 0.5;
/// A longer answer says more than yes.
const APPROVAL_WORDS_MAX: usize = 12;

/// Like [`super::detect`], and also what its form makes worth keeping.
pub fn detect_forms(
    conversation: &Conversation,
    after: Option<TranscriptPosition>,
) -> Vec<(ScoredStatement, Option<StatementForm>)> {
    let weights = StatementWeights::default();
    let mut found: Vec<(ScoredStatement, Option<StatementForm>)> = Vec::new();
    for candidate in candidates(conversation, after) {
        let form = form_of(&candidate);
        let score = score(&candidate, &weights).max(form.map_or(0.0, StatementForm::least_score));
        if score >= INBOX_SCORE {
            let scored = scored(candidate, score, &weights);
            let kind = if form == Some(StatementForm::Value) { value_kind(scored.kind) } else { scored.kind };
            found.push((ScoredStatement { kind, ..scored }, form));
        }
    }
    found.extend(findings(conversation, after).into_iter().map(|finding| (finding, None)));
    let approved = approvals(conversation, after, &weights);
    found.extend(approved.into_iter().map(|scored| (scored, Some(StatementForm::Approval))));
    found.retain(|(scored, _)| secret::scan(&scored.statement.words).is_empty());
    found.sort_by_key(|(scored, _)| (scored.statement.message, scored.statement.span.start));
    found.dedup_by(|(one, _), (other, _)| one.statement == other.statement);
    found
}

fn score(candidate: &StatementCandidate, weights: &StatementWeights) -> f64 {
    if candidate.is_request { 1.0 } else { weights.score(&candidate.values) }
}

fn scored(candidate: StatementCandidate, score: f64, weights: &StatementWeights) -> ScoredStatement {
    let StatementCandidate { statement, values, is_request } = candidate;
    let (kind, evidence) = (weights.kind(&values), weights.explain(&values));
    ScoredStatement { statement, kind, score, is_request, evidence }
}

/// A choice between values is a preference, also where it corrects the agent.
fn value_kind(kind: StatementKind) -> StatementKind {
    match kind {
        StatementKind::Correction => StatementKind::Correction,
        _ => StatementKind::Preference,
    }
}

fn form_of(candidate: &StatementCandidate) -> Option<StatementForm> {
    use StatementFeature as F;
    let has = |feature: F| candidate.values.get(feature) != 0.0;
    let is_pasted = [F::InDocument, F::BigMessage, F::LogMessage, F::Quoted].into_iter().any(has);
    if is_pasted || has(F::Question) {
        return None;
    }
    let words = &candidate.statement.words;
    if is_comparison(words) {
        return Some(StatementForm::Value);
    }
    let is_task = has(F::Request) || has(F::EditLead) || has(F::TaskStep);
    (!is_task && is_reference(words)).then_some(StatementForm::Reference)
}

/// Whether it sets one thing above another: "prefer X over Y", "rather X than Y", "X matters more than Y".
fn is_comparison(text: &str) -> bool {
    // Most statements have none of these, and need not be cut into words.
    let lower = text.to_ascii_lowercase();
    if !HINTS.iter().any(|hint| lower.contains(hint)) {
        return false;
    }
    cut(text).statements.iter().flat_map(|statement| &statement.sentences).any(|sentence| {
        let sentence = SentenceWords::new(&text[sentence.clone()]);
        compares(&sentence.hashed().map(|(word, _)| word).collect::<Vec<_>>())
    })
}

/// A comparison has one of these.
const HINTS: &[&str] =
    &["over", "than", "prefer", "prefier", "préf", "preferable", "trumps", "outweighs", "als", "que"];
/// Verbs of a choice, and what the rejected thing follows.
const CHOOSING: &[(&[&str], &[&[&str]])] = &[
    (
        &["prefer", "prefers", "preferred"],
        &[&["over"], &["to"], &["instead", "of"], &["rather", "than"], &["and", "not"]],
    ),
    (&["rather", "sooner"], &[&["than"]]),
    (
        &[
            "choose",
            "prioritize",
            "prioritise",
            "favor",
            "favour",
            "value",
            "pick",
            "want",
            "optimize",
            "optimise",
        ],
        &[&["over"]],
    ),
    (&["lieber", "eher"], &[&["als"]]),
    (&["prefiero", "preferimos"], &[&["a"], &["que"], &["en", "vez", "de"], &["en", "lugar", "de"]]),
    (&["prefere", "preferons"], &[&["a"], &["plutot", "que"]]),
];
/// Phrases between two things that are compared.
const BETWEEN: &[&[&str]] = &[
    &["better", "than"],
    &["more", "important", "than"],
    &["more", "valuable", "than"],
    &["matters", "more", "than"],
    &["matter", "more", "than"],
    &["counts", "more", "than"],
    &["worth", "more", "than"],
    &["preferable", "to"],
    &["trumps"],
    &["outweighs"],
    &["besser", "als"],
    &["wichtiger", "als"],
    &["mejor", "que"],
    &["mas", "importante", "que"],
];
/// What follows a comparison that only reports: "it looks better than before".
const REPORTED: &[&str] = &[
    "before",
    "last",
    "yesterday",
    "expected",
    "i",
    "it",
    "this",
    "that",
    "what",
    "now",
    "nothing",
    "antes",
    "vorher",
];
/// Words that `over` belongs to: "start over", "hand over".
const NOT_OVER: &[&str] = &[
    "start", "hand", "hands", "move", "take", "carry", "roll", "go", "switch", "turn", "bring", "get", "all",
    "hover", "iterate", "loop", "left", "run", "it", "them", "that", "this", "over", "is", "well", "just",
];
/// In a longer sentence `over` alone says too little.
const BARE_OVER_MAX: usize = 6;

fn compares(words: &[&str]) -> bool {
    let has_at = |at: usize, phrase: &[&str]| words.get(at..at + phrase.len()) == Some(phrase);
    // Something must be left to compare with.
    let is_thing = |at: usize| words.get(at).is_some_and(|word| !REPORTED.contains(word));
    let ends = |from: usize, phrase: &[&str]| {
        (from..words.len()).any(|at| has_at(at, phrase) && is_thing(at + phrase.len()))
    };
    let chosen = CHOOSING.iter().any(|(verbs, separators)| {
        let places = (0..words.len()).filter(|at| verbs.contains(&words[*at]));
        places.into_iter().any(|at| separators.iter().any(|separator| ends(at + 2, separator)))
    });
    let between = || {
        BETWEEN
            .iter()
            .any(|phrase| (1..words.len()).any(|at| has_at(at, phrase) && is_thing(at + phrase.len())))
    };
    let bare = || {
        let is_choice = |at: usize| {
            let after = words
                .get(at + 1)
                .is_some_and(|word| word.len() > 2 && !word.starts_with(|c: char| c.is_ascii_digit()));
            words[at] == "over" && words[at - 1].len() > 2 && !NOT_OVER.contains(&words[at - 1]) && after
        };
        words.len() <= BARE_OVER_MAX && (1..words.len()).any(is_choice)
    };
    chosen || between() || bare()
}

/// Words that say what an address is for.
const PURPOSES: &str = "\
    because, since, so that, for, where, when, which, documents, describes, explains, tracks, lists, shows, has the, \
    have the, contains, is our, is the, source of truth, according to, see, follow, reference, docs, documentation, spec, \
    weil, fur, dort, porque, para, donde, car, pour";
/// Words beside the address.
const REASON_WORDS_MIN: usize = 4;

fn is_reference(text: &str) -> bool {
    let is_address = |word: &&str| word.contains("http://") || word.contains("https://");
    if !text.split_whitespace().any(|word| is_address(&word)) {
        return false;
    }
    let beside: Vec<&str> = text.split_whitespace().filter(|word| !is_address(word)).collect();
    beside.len() >= REASON_WORDS_MIN && PHRASES.has(&SentenceWords::new(&beside.join(" ")), Phrase::Purpose)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phrase {
    Purpose,
    /// A rule for every session.
    Standing,
    /// Something that ends with the session.
    Passing,
    /// The user approves what the agent said.
    Approving,
    /// An approval with a condition is none.
    Reserving,
}

const STANDING: &str = "\
    always, never, every time, each time, at all times, under no circumstances, without exception, dont ever, do not ever, \
    siempre, nunca, jamas, cada vez, immer, niemals, nie, jedes mal, toujours, jamais, sempre, mai, всегда, никогда, 永远, \
    总是, 必ず, 常に, 항상, 절대";
const PASSING: &str = "\
    in this session, for this session, this session only, for today, just today, just this once, only this once, \
    only this time, just this time, this one time, this branch, this pr, this pull request, this commit, this merge request, \
    in dieser sitzung, nur heute, nur dieses mal, diesen branch, en esta sesion, solo hoy, solo esta vez, esta rama";
const APPROVING: &str = "\
    yes, yep, yeah, yup, exactly, perfect, agreed, approved, correct, right, great, sounds good, looks good, good idea, \
    makes sense, do it, do that, keep it, keep that, keep this, go with that, go with it, lets do that, lets go with that, \
    i agree, that s right, love it, ja, genau, perfekt, einverstanden, stimmt, si, exacto, perfecto, de acuerdo, oui, \
    d accord, parfait, sim, perfeito, perfetto, да, согласен, 好的, 同意, はい, 네";
const RESERVING: &str = "\
    but, except, however, instead, unless, although, not, dont, no, wait, aber, nicht, sondern, pero, no obstante, mais, \
    mas, ma, но, 但";

static PHRASES: LazyLock<PhraseTable<Phrase>> = LazyLock::new(|| {
    PhraseTable::new(&[
        (Phrase::Purpose, PURPOSES),
        (Phrase::Standing, STANDING),
        (Phrase::Passing, PASSING),
        (Phrase::Approving, APPROVING),
        (Phrase::Reserving, RESERVING),
    ])
});

/// Whether a statement says what is always or never done.
pub fn is_standing_rule(text: &str) -> bool {
    PHRASES.has(&SentenceWords::new(text), Phrase::Standing)
}

/// Whether a statement is about this session only.
pub fn is_passing(text: &str) -> bool {
    PHRASES.has(&SentenceWords::new(text), Phrase::Passing)
}

/// Whether a message approves what was said before it, and does nothing else.
fn is_approval(text: &str) -> bool {
    let words = SentenceWords::new(text);
    let (mut approves, mut reserves) = (false, false);
    PHRASES.each(&words, &mut |phrase, at| {
        approves |= phrase == Phrase::Approving && at == 0;
        reserves |= phrase == Phrase::Reserving;
    });
    approves && !reserves && words.len() <= APPROVAL_WORDS_MAX && !text.contains(['?', '？'])
}

/// The best statement of each answer of the agent that the user approved in a message after the position.
fn approvals(
    conversation: &Conversation,
    after: Option<TranscriptPosition>,
    weights: &StatementWeights,
) -> Vec<ScoredStatement> {
    let messages = &conversation.messages;
    let mut approved = Vec::new();
    for (number, message) in messages.iter().enumerate() {
        let is_new = after.is_none_or(|after| message.at.is_after(after));
        if message.speaker != Speaker::Human || !is_new || !is_approval(&message.text) {
            continue;
        }
        let answer = messages[..number].iter().enumerate().rev().take(NEARBY);
        let mut answer = answer.take_while(|(_, message)| message.speaker == Speaker::Assistant);
        let Some((place, answer)) = answer.find(|(_, message)| message.speaks()) else { continue };
        approved.extend(best_statement(place, answer, weights));
    }
    approved
}

/// The best statement of an answer, judged as if the user had said it.
fn best_statement(place: usize, answer: &Message, weights: &StatementWeights) -> Option<ScoredStatement> {
    let own = Conversation { messages: vec![Message { speaker: Speaker::Human, ..answer.clone() }] };
    let is_kept = |candidate: &StatementCandidate| candidate.values.get(StatementFeature::Question) == 0.0;
    let statements = candidates(&own, None).into_iter().filter(is_kept);
    let statements = statements.map(|one| (score(&one, weights), one));
    let statements = statements.map(|(score, one)| scored(one, score, weights));
    let lasting = [StatementKind::Decision, StatementKind::Preference, StatementKind::Constraint];
    let good = statements.filter(|one| one.score >= APPROVED_SCORE && lasting.contains(&one.kind));
    let best = good.max_by(|one, other| one.score.total_cmp(&other.score))?;
    let Statement { at, span, words, .. } = best.statement;
    let statement = Statement { message: place, at, speaker: Speaker::Assistant, span, words };
    Some(ScoredStatement { statement, is_request: false, score: best.score.min(MAX_APPROVED), ..best })
}

/// What the agent said counts less than what the user says.
const MAX_APPROVED: f64 = 0.7;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_sets_one_thing_above_another() {
        for (text, expected) in [
            ("I prefer small functions over clever ones.", true),
            ("we prefer composition to inheritance", true),
            ("I'd rather have explicit errors than silent fallbacks", true),
            ("Readability matters more than cleverness.", true),
            ("correctness is more important than speed here", true),
            ("Boring technology is better than a new framework.", true),
            ("readability over cleverness", true),
            ("Lieber einfache Schleifen als verschachtelte Iteratoren.", true),
            ("prefiero funciones cortas en vez de clases", true),
            ("choose clarity over brevity in error messages", true),
            ("it looks better than before", false),
            ("this is better than I expected", false),
            ("start over with the parser", false),
            ("hand it over to the worker", false),
            ("I prefer tabs", false),
            ("loop over the rows and print them", false),
            ("cat a > b", false),
            ("wait over 30 seconds", false),
        ] {
            assert_eq!(is_comparison(text), expected, "{text}");
        }
    }

    #[test]
    fn a_reference_says_what_the_address_is_for() {
        for (text, expected) in [
            ("the rate limits are at https://example.com/limits because support asks for them", true),
            ("https://example.com/status is where outages are announced first", true),
            ("https://example.com/x", false),
            ("look at https://example.com/x", false),
            ("see the docs", false),
        ] {
            assert_eq!(is_reference(text), expected, "{text}");
        }
    }

    #[test]
    fn an_approval_says_nothing_else() {
        for (text, expected) in [
            ("yes, exactly", true),
            ("Perfect, keep it that way.", true),
            ("agreed", true),
            ("yes, but use a queue", false),
            ("yes?", false),
            ("is that right", false),
            ("no, exactly the other way round", false),
            ("yes and now add a test for the second case and then run the whole suite", false),
        ] {
            assert_eq!(is_approval(text), expected, "{text}");
        }
    }

    #[test]
    fn only_a_statement_is_approved() {
        let at = TranscriptPosition::Line;
        let message = |line, speaker, text: &str| Message {
            at: at(line),
            speaker,
            text: text.to_owned(),
            tools: Vec::new(),
        };
        let found = |answer: &str| {
            let messages = vec![
                message(1, Speaker::Human, "how do we name the ids?"),
                message(2, Speaker::Assistant, answer),
                message(3, Speaker::Human, "yes, exactly"),
            ];
            let found = detect_forms(&Conversation { messages }, None);
            let approved = found.into_iter().filter(|(_, form)| *form == Some(StatementForm::Approval));
            approved.map(|(scored, _)| scored.statement.words).collect::<Vec<_>>()
        };
        let rule =
            "We should always use UUIDv7 for new tables instead of integers, because they sort by time.";
        assert_eq!(found(rule), [rule]);
        assert!(found("Done. The tests pass.").is_empty());
        assert!(found("Shall I go on?").is_empty());
    }
}
