//! What was found worth saving in one session: the words, and where they are in the transcript.

mod destination;
mod extract;
mod rejected;

pub use destination::Destination;
pub use extract::SessionExtractor;
pub use rejected::{RejectedStatement, RejectedStatements};

use crate::conversation::{Conversation, TranscriptPosition};
use crate::digest::Revision;
use crate::forget::Traces;
use crate::json::{self, Json, JsonFormat, lenient};
use crate::memory::Category;
use crate::secret;
use crate::statements::{
    ScoredStatement, StatementContext, StatementFeature, StatementForm, StatementKind, context_of,
};
use crate::text::fold;
use crate::time::{DAY, Timestamp};
use serde::{Deserialize, Serialize};
use unicode_normalization::char::is_combining_mark;

/// A capture without open items is kept this long, so that its session is not asked again.
const KEPT_DAYS: i64 = 30;
/// Open items of one session. A session with more has pasted a document: only the best of it wait.
const OPEN_MAX: usize = 20;

/// The findings of one session. The file has the details that a stop text refers to, records whether the agent was
/// asked, and is what the next session is offered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Capture {
    pub session: String,
    pub client: String,
    /// When the session was last triaged.
    pub at: Timestamp,
    pub stage: AskStage,
    /// Whether this session's agent was asked to save: it is asked at most once.
    pub asked: bool,
    /// Whether it was asked once more, because the user asked to remember something.
    #[serde(default, deserialize_with = "lenient::or_default", skip_serializing_if = "is_false")]
    pub asked_again: bool,
    /// How far the transcript was triaged when something was found, so that nothing is found twice.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub until: Option<TranscriptPosition>,
    /// The full categories that this session was notified about, once each.
    #[serde(default, deserialize_with = "lenient::items_if_list")]
    pub told_full: Vec<Category>,
    #[serde(deserialize_with = "lenient::items")]
    pub items: Vec<CapturedItem>,
}

/// Whether the agent was asked to save the latest findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AskStage {
    /// The agent was asked by its stop hook.
    Asked,
    /// Nobody was asked yet; the next session start offers them.
    Pending,
}

/// Something worth saving: a statement, or a session to summarise.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CapturedItem {
    /// Its number in the inbox; 0 until it is first saved.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub number: u64,
    pub category: Category,
    /// `None` for a session summary, and for what an older version captured.
    #[serde(default, deserialize_with = "lenient::or_default", skip_serializing_if = "Option::is_none")]
    pub kind: Option<StatementKind>,
    /// What else it is, if `extract` found it.
    #[serde(default, deserialize_with = "lenient::or_default", skip_serializing_if = "Option::is_none")]
    pub form: Option<StatementForm>,
    pub score: f64,
    /// The words of the statement.
    #[serde(deserialize_with = "lenient::items_if_list")]
    pub snippets: Vec<String>,
    /// The words with the messages around them.
    pub excerpt: String,
    /// The statements before and after it in the same message, if there are any.
    #[serde(default, deserialize_with = "lenient::or_default", skip_serializing_if = "Neighbours::is_empty")]
    pub neighbours: Neighbours,
    /// What speaks for and against it, the largest first.
    #[serde(default, deserialize_with = "lenient::items_if_list", skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<FeatureShare>,
    pub origin: Origin,
    /// When it was captured. `None` for what an older version captured.
    #[serde(default, deserialize_with = "lenient::or_default", skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    /// When it was said, if that was earlier.
    #[serde(default, deserialize_with = "lenient::or_default", skip_serializing_if = "Option::is_none")]
    pub said: Option<Timestamp>,
    /// Whether the request to the agent quoted it.
    #[serde(default, deserialize_with = "lenient::or_default", skip_serializing_if = "is_false")]
    pub asked: bool,
    /// Whether it was saved or rejected.
    pub settled: bool,
}

/// The statements around another one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Neighbours {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}

impl Neighbours {
    fn is_empty(&self) -> bool {
        self.before.is_none() && self.after.is_none()
    }
}

/// The share of one feature in the score of a statement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FeatureShare {
    /// See [`StatementFeature::name`].
    pub feature: String,
    /// In log odds.
    pub share: f64,
}

fn is_false(flag: &bool) -> bool {
    !flag
}

/// The transcript position of an item and a digest of its words, because a transcript may be truncated or moved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    pub session: String,
    #[serde(flatten)]
    pub at: TranscriptPosition,
    /// See [`words_digest`].
    pub words: String,
}

impl Capture {
    pub fn new(session: &str, client: &str, at: Timestamp) -> Capture {
        Capture {
            session: session.to_owned(),
            client: client.to_owned(),
            at,
            stage: AskStage::Pending,
            asked: false,
            asked_again: false,
            until: None,
            told_full: Vec::new(),
            items: Vec::new(),
        }
    }

    /// The items that are not in this capture yet, settled or not: the same words are one finding.
    pub fn news(&self, items: Vec<CapturedItem>) -> Vec<CapturedItem> {
        let mut items = self.unknown(items);
        let room = OPEN_MAX.saturating_sub(self.open_items().count());
        if items.len() > room {
            let order = |one: &CapturedItem, other: &CapturedItem| other.score.total_cmp(&one.score);
            let mut best: Vec<CapturedItem> = items.clone();
            best.sort_by(order);
            // What the user asked to remember always waits.
            let worst = best.get(room).map_or(f64::INFINITY, |item| item.score);
            items.retain(|item| item.score > worst || item.is_request());
        }
        items
    }

    /// The same, however many they are.
    pub fn unknown(&self, mut items: Vec<CapturedItem>) -> Vec<CapturedItem> {
        let same = |old: &CapturedItem, new: &CapturedItem| {
            old.origin.words == new.origin.words
                && (old.category == new.category || (old.kind.is_some() && new.kind.is_some()))
        };
        items.retain(|new| !self.items.iter().any(|old| same(old, new)));
        // A session has one summary.
        let is_summary = |item: &CapturedItem| item.category == Category::SessionSummary;
        if self.items.iter().any(is_summary) {
            items.retain(|item| !is_summary(item));
        }
        items
    }

    /// Settles open statements of a message that the user took back, and returns how many.
    pub fn withdraw(&mut self, message: &str) -> usize {
        let is_taken_back = |item: &&mut CapturedItem| {
            !item.settled && item.kind.is_some() && item.snippets.iter().any(|words| message.contains(words))
        };
        let taken_back = self.items.iter_mut().filter(is_taken_back);
        taken_back.map(CapturedItem::settle).count()
    }

    /// Settles the items that waited longer than the user wants, and returns how many.
    pub fn expire(&mut self, keep_days: i64, now: Timestamp) -> usize {
        let is_expired = |item: &&mut CapturedItem| {
            !item.settled && item.since.is_some_and(|since| now.0 - since.0 > keep_days * DAY)
        };
        self.items.iter_mut().filter(is_expired).map(CapturedItem::settle).count()
    }

    /// Numbers the items that have no number yet; they wait from now on. Returns the next free number.
    pub fn number(&mut self, mut next: u64, now: Timestamp) -> u64 {
        for item in self.items.iter_mut().filter(|item| item.number == 0) {
            item.number = next;
            item.since = item.since.or(Some(now));
            next += 1;
        }
        next
    }

    /// Whether every item has a number.
    pub fn is_numbered(&self) -> bool {
        self.items.iter().all(|item| item.number > 0)
    }

    /// Adds new items found up to a position. `asks` means that the agent is asked to save them now.
    pub fn take(
        &mut self,
        news: Vec<CapturedItem>,
        until: Option<TranscriptPosition>,
        asks: bool,
        now: Timestamp,
    ) {
        self.at = now;
        self.until = until.or(self.until);
        self.stage = if asks { AskStage::Asked } else { AskStage::Pending };
        self.asked_again |= asks && self.asked;
        self.asked |= asks;
        self.items.extend(news);
    }

    /// Returns the full categories that this session was not notified about, and records that it is now. Repeated
    /// notices would only be ignored.
    pub fn tell_full(&mut self, full: &[Category]) -> Vec<Category> {
        let news: Vec<Category> =
            full.iter().copied().filter(|category| !self.told_full.contains(category)).collect();
        self.told_full.extend(&news);
        news
    }

    /// The items that are not settled.
    pub fn open_items(&self) -> impl Iterator<Item = &CapturedItem> {
        self.items.iter().filter(|item| !item.settled)
    }

    /// The oldest open item of a category: the one that an answer without a number refers to.
    pub fn next_of(&self, category: Category) -> Option<&CapturedItem> {
        self.open_items().find(|item| item.category == category)
    }

    /// The open item with a number.
    pub fn open_item(&self, number: u64) -> Option<&CapturedItem> {
        self.open_items().find(|item| item.number == number)
    }

    /// Settles an item and drops its text, which is now in a memory or unwanted.
    pub fn settle(&mut self, number: u64) {
        self.items.iter_mut().filter(|item| item.number == number).for_each(CapturedItem::settle);
    }

    /// Settles items that may have text of a forgotten memory and returns how many. In a session that the memory
    /// came from these are all items, because their excerpts overlap; elsewhere those that mention it.
    pub fn forget(&mut self, traces: &Traces) -> usize {
        let is_source = traces.sessions.contains(&self.session);
        let mut emptied = 0;
        for item in self.items.iter_mut().filter(|item| item.has_words()) {
            if is_source || traces.are_told_in(&item.all_words()) {
                item.settle();
                emptied += 1;
            }
        }
        emptied
    }

    /// Whether the capture can be deleted. A settled one is kept for a while, because it says what the session was
    /// asked and told, and which words were settled: without it they would come up again.
    pub fn is_over(&self, now: Timestamp) -> bool {
        let is_empty = self.items.is_empty() && !self.asked && self.told_full.is_empty();
        self.open_items().next().is_none() && (is_empty || is_outdated(self.at, now))
    }

    /// The contents of the file. Secrets are masked.
    pub fn to_text(&self) -> String {
        #[derive(Serialize)]
        struct CaptureFile<'c> {
            v: u8,
            #[serde(flatten)]
            capture: &'c Capture,
        }
        let mut file = Json::of(&CaptureFile { v: 1, capture: self });
        file.map_texts(&mut |text| Some(secret::masked(text).into_owned()));
        format!("{}\n", file.render(JsonFormat::FILE))
    }

    /// Parses a capture file. `None` if it is not one; items that cannot be parsed are left out.
    pub fn read(text: &str) -> Option<Capture> {
        json::from_str(text).ok()
    }
}

impl CapturedItem {
    /// An open item without a score.
    pub fn new(category: Category, snippets: Vec<String>, excerpt: String, origin: Origin) -> CapturedItem {
        CapturedItem {
            number: 0,
            category,
            kind: None,
            form: None,
            score: 0.0,
            snippets,
            excerpt,
            neighbours: Neighbours::default(),
            evidence: Vec::new(),
            origin,
            since: None,
            said: None,
            asked: false,
            settled: false,
        }
    }

    /// A statement of a conversation.
    pub fn of_statement(
        scored: &ScoredStatement,
        conversation: &Conversation,
        session: &str,
        now: Timestamp,
    ) -> CapturedItem {
        let ScoredStatement { statement, kind, score, evidence, .. } = scored;
        let StatementContext { before, after, excerpt } = context_of(conversation, statement);
        let share = |(feature, share): &(StatementFeature, f64)| FeatureShare {
            feature: feature.name().to_owned(),
            share: (share * 100.0).round() / 100.0,
        };
        let origin =
            Origin { session: session.to_owned(), at: statement.at, words: words_digest(&statement.words) };
        CapturedItem {
            kind: Some(*kind),
            score: *score,
            neighbours: Neighbours { before, after },
            evidence: evidence.iter().map(share).filter(|share| share.share != 0.0).collect(),
            since: Some(now),
            ..CapturedItem::new(kind.category(), vec![statement.words.clone()], excerpt, origin)
        }
    }

    /// The words of the statement.
    pub fn words(&self) -> String {
        self.snippets.join("\n")
    }

    /// The kind of a statement, or the category.
    pub fn kind_name(&self) -> &'static str {
        self.kind.map_or(self.category.name(), StatementKind::name)
    }

    /// The form, or the kind.
    pub fn form_name(&self) -> &'static str {
        match self.form {
            // The question and its answer are a decision.
            None | Some(StatementForm::Answer) => self.kind_name(),
            Some(form) => form.name(),
        }
    }

    /// Whether the user asked to remember it.
    pub fn is_request(&self) -> bool {
        self.kind.is_some() && self.score >= 1.0
    }

    /// Whether it sets one thing against another, so that it may contradict a memory.
    pub fn contrasts(&self) -> bool {
        let contrasts = [StatementFeature::Instead, StatementFeature::NotThis, StatementFeature::Correction];
        self.kind == Some(StatementKind::Correction)
            || self
                .evidence
                .iter()
                .any(|share| contrasts.iter().any(|feature| feature.name() == share.feature))
    }

    /// When it was said, as far as we know.
    pub fn date(&self, captured: Timestamp) -> String {
        self.said.or(self.since).unwrap_or(captured).date()
    }

    fn settle(&mut self) {
        self.settled = true;
        self.snippets.clear();
        self.excerpt.clear();
        self.evidence.clear();
        self.neighbours = Neighbours::default();
    }

    fn has_words(&self) -> bool {
        !self.all_words().trim().is_empty()
    }

    fn all_words(&self) -> String {
        let Neighbours { before, after } = &self.neighbours;
        let around = [before, after].into_iter().flatten().map(String::as_str);
        let own = self.snippets.iter().map(String::as_str);
        own.chain(around).chain([self.excerpt.as_str()]).collect::<Vec<_>>().join("\n")
    }
}

/// Whether a file of that time is too old to be of use.
pub fn is_outdated(at: Timestamp, now: Timestamp) -> bool {
    now.0 - at.0 > KEPT_DAYS * DAY
}

/// A hash of the words of a text. Whitespace, case, accents and punctuation make no difference; short words do,
/// because `not`, `v2` and `C++` change the meaning.
pub fn words_digest(text: &str) -> String {
    let folded = fold(text);
    let in_word = |c: char| c.is_alphanumeric() || is_combining_mark(c) || matches!(c, '+' | '#');
    let words: Vec<&str> = folded.split(|c| !in_word(c)).filter(|word| !word.is_empty()).collect();
    // Texts without any word must still differ from each other.
    let said = if words.is_empty() { folded.trim().to_owned() } else { words.join(" ") };
    Revision::of(said.as_bytes()).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn capture() -> Capture {
        let origin = |at| Origin { session: "s".to_owned(), at, words: words_digest("use a queue") };
        let item = |number, category, at| CapturedItem {
            number,
            score: 0.684_210_526_315_789_5,
            ..CapturedItem::new(
                category,
                vec!["We decided \"so\"\u{7}".to_owned()],
                "a\nb </x>".to_owned(),
                origin(at),
            )
        };
        let mut capture = Capture::new("s", "claude-code", Timestamp(1_000_000));
        capture.items = vec![
            item(1, Category::Decision, TranscriptPosition::Line(3)),
            item(2, Category::TechDebt, TranscriptPosition::Byte(1 << 40)),
        ];
        capture
    }

    #[test]
    fn a_capture_reads_back_as_it_was_written() {
        for (stage, asked) in [(AskStage::Pending, false), (AskStage::Asked, true)] {
            let capture = Capture { stage, asked, ..capture() };
            assert_eq!(Capture::read(&capture.to_text()), Some(capture));
        }
    }

    #[test]
    fn secrets_are_masked_before_they_are_written() {
        let secret = concat!("AKIA", "4TGHN2WQ7VKJX3ZD");
        let mut capture = capture();
        capture.items[0].snippets.push(format!("the key is {secret}"));
        capture.items[0].excerpt = format!("aws_access_key_id = {secret}\n");
        assert!(!capture.to_text().contains(secret) && capture.to_text().contains("AKIA…"));
    }

    #[test]
    fn a_capture_is_over_when_nobody_needs_it() {
        let mut settled = capture();
        settled.settle(1);
        assert_eq!(settled.open_items().map(|item| item.category).collect::<Vec<_>>(), [Category::TechDebt]);
        assert!(settled.items[0].snippets.is_empty() && settled.items[0].excerpt.is_empty());
        settled.settle(2);
        let empty = Capture { items: Vec::new(), ..settled.clone() };
        let asked = Capture { asked: true, ..empty.clone() };
        let days = |days: i64| Timestamp(1_000_000 + days * DAY);
        for (capture, now, over) in [
            (&capture(), days(31), false),
            (&empty, days(0), true),
            (&settled, days(30), false),
            (&settled, days(31), true),
            (&asked, days(30), false),
            (&asked, days(31), true),
        ] {
            assert_eq!(capture.is_over(now), over, "{capture:?} at {now}");
        }
    }

    #[test]
    fn the_same_words_are_one_finding_and_others_are_news() {
        let mut later = capture();
        later.settle(1);
        assert_eq!(later.news(capture().items), [], "saved or not");
        let mut other = capture().items.remove(0);
        other.origin.words = words_digest("something else");
        let news = later.news(vec![other]);
        later.take(news, Some(TranscriptPosition::Line(9)), true, Timestamp(2_000_000));
        assert_eq!(later.open_items().count(), 2);
        assert_eq!(
            (later.asked, later.stage, later.until),
            (true, AskStage::Asked, Some(TranscriptPosition::Line(9)))
        );
        later.take(Vec::new(), None, false, Timestamp(2_000_001));
        assert_eq!(
            (later.asked, later.stage, later.until),
            (true, AskStage::Pending, Some(TranscriptPosition::Line(9)))
        );
    }

    #[test]
    fn nothing_waits_for_ever() {
        let (now, days) = (Timestamp(1_000_000), |days: i64| Timestamp(1_000_000 + days * DAY));
        let mut waiting = capture();
        waiting.items[1].number = 0;
        assert!(!waiting.is_numbered());
        // What an older version captured has no date: it waits from the upgrade on.
        assert_eq!((waiting.number(7, now), waiting.items[1].number), (8, 7));
        assert_eq!((waiting.items[0].since, waiting.items[1].since), (None, Some(now)));
        waiting.items[0].since = Some(days(20));
        assert_eq!(waiting.expire(30, days(30)), 0);
        assert_eq!(waiting.expire(30, days(31)), 1);
        assert_eq!(waiting.open_items().map(|item| item.number).collect::<Vec<_>>(), [1]);
        assert!(!waiting.items[1].has_words());
    }

    #[test]
    fn what_the_user_takes_back_does_not_wait() {
        let mut capture = capture();
        capture.items[0].kind = Some(StatementKind::Decision);
        capture.items[0].snippets = vec!["let's use a queue".to_owned()];
        assert_eq!(capture.withdraw("something else"), 0);
        assert_eq!(capture.withdraw("Hm. let's use a queue"), 1);
        assert_eq!(capture.open_items().count(), 1);
    }

    #[test]
    fn the_best_of_many_wait_and_every_request_does() {
        let item = |number: u64, score: f64| {
            let words = format!("statement {number}");
            let origin = Origin {
                session: "s".to_owned(),
                at: TranscriptPosition::Line(number),
                words: words_digest(&words),
            };
            let kind = Some(StatementKind::Decision);
            CapturedItem {
                kind,
                score,
                ..CapturedItem::new(Category::Decision, vec![words], String::new(), origin)
            }
        };
        let many = |score: f64| {
            (0..500).map(|number| item(number, score + number as f64 / 10_000.0)).collect::<Vec<_>>()
        };
        let capture = Capture::new("s", "codex", Timestamp(0));
        assert_eq!(capture.news(many(0.3)).len(), OPEN_MAX);
        assert_eq!(capture.news(many(1.0)).len(), 500);
    }

    #[test]
    fn a_session_is_told_of_a_full_category_once() {
        let mut capture = capture();
        assert_eq!(
            capture.tell_full(&[Category::Runbook, Category::Decision]),
            [Category::Runbook, Category::Decision]
        );
        assert_eq!(capture.tell_full(&[Category::Decision, Category::TechDebt]), [Category::TechDebt]);
        assert_eq!(Capture::read(&capture.to_text()), Some(capture));
    }

    #[test]
    fn the_words_of_a_text_are_one_however_they_are_laid_out() {
        assert_eq!(words_digest("We DECIDED: use a  Queue."), words_digest("we decided\nuse a queue"));
        assert_ne!(words_digest("use a queue"), words_digest("use a stack"));
        // Words that recall ignores still change the statement.
        for (one, other) in [
            ("it is so", "it is no"),
            ("deploy on Fridays", "do not deploy on Fridays"),
            ("move to v2", "move to v3"),
            ("use C", "use C++"),
            ("?!", "!?"),
        ] {
            assert_ne!(words_digest(one), words_digest(other), "{one} | {other}");
        }
    }
}
