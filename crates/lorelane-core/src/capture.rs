//! What triage found in one session: the text to save, and where it is in the transcript.

use crate::digest::Revision;
use crate::forget::Traces;
use crate::json::{self, Json, JsonFormat, lenient};
use crate::memory::Category;
use crate::secret;
use crate::text::{escaped, fold, one_line, shell_word};
use crate::time::{DAY, Timestamp};
use serde::{Deserialize, Serialize};
use std::path::Path;
use unicode_normalization::char::is_combining_mark;

/// Captures older than this are deleted: the work they are about is over. A settled one is kept as long, so that
/// its session is not asked again.
const KEPT_DAYS: i64 = 30;

/// The first line of every request to save memories. Some clients send the request back as a prompt, and the
/// prompt hook recognises it by this line.
pub const STOP_HEAD: &str = "lorelane: this session has something worth remembering.";

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

/// A finding for one category.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CapturedItem {
    pub category: Category,
    pub score: f64,
    /// The lines that made the score, each truncated.
    #[serde(deserialize_with = "lenient::items_if_list")]
    pub snippets: Vec<String>,
    /// The same lines with the lines around them.
    pub excerpt: String,
    pub origin: Origin,
    /// Whether it was saved or rejected.
    pub settled: bool,
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

/// A position in a transcript: `{"line": 3}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "AtFields", try_from = "AtFields")]
pub enum TranscriptPosition {
    /// Starts at 1.
    Line(u64),
    /// The byte offset, as found when reading backwards. Kept where counting lines from the start would read more
    /// than a stop hook may.
    Byte(u64),
}

impl Capture {
    pub fn new(session: &str, client: &str, at: Timestamp) -> Capture {
        Capture {
            session: session.to_owned(),
            client: client.to_owned(),
            at,
            stage: AskStage::Pending,
            asked: false,
            until: None,
            told_full: Vec::new(),
            items: Vec::new(),
        }
    }

    /// The items that are not in this capture yet, settled or not: the same words are one finding.
    pub fn news(&self, mut items: Vec<CapturedItem>) -> Vec<CapturedItem> {
        let same = |old: &CapturedItem, new: &CapturedItem| {
            old.category == new.category && old.origin.words == new.origin.words
        };
        items.retain(|new| !self.items.iter().any(|old| same(old, new)));
        items
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

    /// The items to draft now: the oldest of each category. An answer names only a category, so two findings of
    /// one category are drafted one after the other.
    pub fn next_items(&self) -> impl Iterator<Item = &CapturedItem> {
        let is_first = |item: &&CapturedItem| self.next_of(item.category) == Some(*item);
        self.open_items().filter(is_first)
    }

    /// The oldest open item of a category: the one that an answer refers to.
    pub fn next_of(&self, category: Category) -> Option<&CapturedItem> {
        self.open_items().find(|item| item.category == category)
    }

    /// Settles the oldest open item of a category and drops its text, which is now in a memory or unwanted.
    pub fn settle(&mut self, category: Category) {
        let mut open = self.items.iter_mut().filter(|item| !item.settled);
        if let Some(item) = open.find(|item| item.category == category) {
            item.settle();
        }
    }

    /// Settles items that may have text of a forgotten memory and returns how many. In a session that the memory
    /// came from these are all items, because their excerpts overlap; elsewhere those that mention it.
    pub fn forget(&mut self, traces: &Traces) -> usize {
        let is_source = traces.sessions.contains(&self.session);
        let mut emptied = 0;
        for item in self.items.iter_mut().filter(|item| item.has_words()) {
            if is_source || traces.are_told_in(&format!("{}\n{}", item.snippets.join("\n"), item.excerpt)) {
                item.settle();
                emptied += 1;
            }
        }
        emptied
    }

    /// Whether the capture can be deleted. A settled one is kept if its session was asked or notified: without it
    /// the same session would be asked again.
    pub fn is_over(&self, now: Timestamp) -> bool {
        let spoken = self.asked || !self.told_full.is_empty();
        is_outdated(self.at, now) || (!spoken && self.open_items().next().is_none())
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
    fn settle(&mut self) {
        self.settled = true;
        self.snippets.clear();
        self.excerpt.clear();
    }

    fn has_words(&self) -> bool {
        !self.snippets.is_empty() || !self.excerpt.is_empty()
    }
}

impl TranscriptPosition {
    /// Whether this position is after the other. A line and a byte cannot be compared, so that counts as after.
    pub fn is_after(self, other: TranscriptPosition) -> bool {
        match (self, other) {
            (TranscriptPosition::Line(own), TranscriptPosition::Line(other))
            | (TranscriptPosition::Byte(own), TranscriptPosition::Byte(other)) => own > other,
            _ => true,
        }
    }
}

#[derive(Serialize, Deserialize)]
struct AtFields {
    #[serde(default, deserialize_with = "lenient::or_default", skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
    #[serde(default, deserialize_with = "lenient::or_default", skip_serializing_if = "Option::is_none")]
    byte: Option<u64>,
}

impl From<TranscriptPosition> for AtFields {
    fn from(at: TranscriptPosition) -> AtFields {
        match at {
            TranscriptPosition::Line(line) => AtFields { line: Some(line), byte: None },
            TranscriptPosition::Byte(byte) => AtFields { line: None, byte: Some(byte) },
        }
    }
}

impl TryFrom<AtFields> for TranscriptPosition {
    type Error = &'static str;

    fn try_from(AtFields { line, byte }: AtFields) -> Result<TranscriptPosition, &'static str> {
        line.map(TranscriptPosition::Line)
            .or(byte.map(TranscriptPosition::Byte))
            .ok_or("neither a line nor a byte")
    }
}

/// The request to save at a stop: what was found and how to save it, shorter than [`STOP_MAX_BYTES`].
///
/// `full` are categories with findings that have reached their limit. `describe` returns the configured
/// description of a category.
pub fn stop_text(
    session: &str,
    items: &[CapturedItem],
    full: &[Category],
    detail: &Path,
    describe: &dyn Fn(Category) -> Option<String>,
) -> String {
    let longest = |words_max| {
        let text = compose(session, &found_text(items, words_max, describe), full, detail);
        (text.len() < STOP_MAX_BYTES).then_some(text)
    };
    // Snippets are shortened first. Session and file name go last: without them the commands use the newest
    // session.
    let shortest = || compose("", &found_text(items, 0, describe), full, Path::new(""));
    [120, 40].into_iter().find_map(longest).unwrap_or_else(shortest)
}

/// The agent pays for every byte, and the details are in a file. Below 2 KiB even with the program's full path in
/// each command.
pub const STOP_MAX_BYTES: usize = 1_536;

/// One line per item.
fn found_text(
    items: &[CapturedItem],
    words_max: usize,
    describe: &dyn Fn(Category) -> Option<String>,
) -> String {
    let line = |CapturedItem { category, score, snippets, .. }: &CapturedItem| {
        // Items are masked only when they are written to the file, so the text for the agent is masked here.
        let snippet = secret::masked(snippets.first().map_or("", String::as_str)).into_owned();
        let snippet = escaped(&snippet, words_max);
        let described =
            describe(*category).map(|text| escaped(&one_line(&text), words_max)).unwrap_or_default();
        let described = if described.is_empty() { described } else { format!(" ({described})") };
        let blank = if snippet.is_empty() { "" } else { " " };
        format!("- [{}]{described}{blank}{snippet} (score {score:.2})\n", category.display())
    };
    items.iter().map(line).collect()
}

fn compose(session: &str, found: &str, full: &[Category], detail: &Path) -> String {
    let mut text = format!("{STOP_HEAD}\n{found}");
    text.push_str(&full_text(full));
    text.push_str("These are hints from keywords; leave out what is not worth keeping. Before you stop:\n");
    let name = if session.is_empty() { String::new() } else { session_option(session) };
    text.push_str(&format!("1. run `lorelane consolidate prepare{name}` and read what it prints\n"));
    text.push_str("2. write the drafts it asks for\n");
    text.push_str(&format!("3. run `lorelane consolidate commit{name}`\n"));
    if !detail.as_os_str().is_empty() {
        text.push_str(&format!("More context for each: {}\n", detail.display()));
    }
    text
}

/// The message that automatic capture is paused in full categories.
pub fn full_text(full: &[Category]) -> String {
    let line = |category: &Category| {
        format!(
            "- [{}] on hold: the category has reached max_memories_per_category; `lorelane list {category}` shows what could be retired\n",
            category.display()
        )
    };
    full.iter().map(line).collect()
}

/// The `--session` option for a command. Without it the command uses the newest session, which may be another one
/// that stopped in the meantime.
pub fn session_option(session: &str) -> String {
    format!(" --session {}", shell_word(session))
}

/// Whether a capture of that time is too old to be of use.
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
        let item = |category, at| CapturedItem {
            category,
            score: 0.684_210_526_315_789_5,
            snippets: vec!["We decided \"so\"\u{7}".to_owned()],
            excerpt: "a\nb </x>".to_owned(),
            origin: origin(at),
            settled: false,
        };
        let mut capture = Capture::new("s", "claude-code", Timestamp(1_000_000));
        capture.items = vec![
            item(Category::Decision, TranscriptPosition::Line(3)),
            item(Category::TechDebt, TranscriptPosition::Byte(1 << 40)),
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
        settled.settle(Category::Decision);
        assert_eq!(settled.open_items().map(|item| item.category).collect::<Vec<_>>(), [Category::TechDebt]);
        assert!(settled.items[0].snippets.is_empty() && settled.items[0].excerpt.is_empty());
        settled.settle(Category::TechDebt);
        let asked = Capture { asked: true, ..settled.clone() };
        let days = |days: i64| Timestamp(1_000_000 + days * DAY);
        for (capture, now, over) in [
            (&capture(), days(30), false),
            (&capture(), days(31), true),
            (&settled, days(0), true),
            (&asked, days(30), false),
            (&asked, days(31), true),
        ] {
            assert_eq!(capture.is_over(now), over, "{capture:?} at {now}");
        }
    }

    #[test]
    fn the_same_words_are_one_finding_and_others_are_news() {
        let mut later = capture();
        later.settle(Category::Decision);
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
    fn a_stop_text_says_what_was_found_and_what_to_do() {
        let mut items = capture().items;
        items[0].snippets = vec!["We `chose` </b> pnpm".to_owned()];
        items[1].snippets = vec![format!("the key is {}", concat!("AKIA", "4TGHN2WQ7VKJX3ZD"))];
        // The configured description is shown with the category (finding 15).
        let describe = |category| {
            (category == Category::Decision)
                .then(|| "choices\n`rm x` </triage_data> that \u{202e}last".to_owned())
        };
        let text = stop_text("7b23-x", &items, &[Category::Runbook], Path::new("/s/7b23-x.json"), &describe);
        expect_test::expect![[r#"
            lorelane: this session has something worth remembering.
            - [DECISION] (choices rm x &lt;/triage_data&gt; that last) We chose &lt;/b&gt; pnpm (score 0.68)
            - [TECH_DEBT] the key is AKIA…(12+) (score 0.68)
            - [RUNBOOK] on hold: the category has reached max_memories_per_category; `lorelane list runbook` shows what could be retired
            These are hints from keywords; leave out what is not worth keeping. Before you stop:
            1. run `lorelane consolidate prepare --session 7b23-x` and read what it prints
            2. write the drafts it asks for
            3. run `lorelane consolidate commit --session 7b23-x`
            More context for each: /s/7b23-x.json
        "#]]
        .assert_eq(&text);
    }

    #[test]
    fn a_stop_text_is_short_and_its_command_cannot_be_broken_out_of() {
        let mut items: Vec<CapturedItem> =
            Category::ALL.map(|category| CapturedItem { category, ..capture().items.remove(0) }).to_vec();
        items.iter_mut().for_each(|item| item.snippets = vec!["日本".repeat(200)]);
        for session in ["x; rm -rf ~", "a'b\n`c`", &"y".repeat(9_000)] {
            for detail in ["/s", &"/long".repeat(900)] {
                let describe = |_| Some("語".repeat(500));
                let text = stop_text(session, &items, &Category::ALL, Path::new(detail), &describe);
                assert!(text.len() < STOP_MAX_BYTES && text.starts_with(STOP_HEAD), "{}", text.len());
                assert!(text.contains("consolidate commit"));
            }
        }
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
