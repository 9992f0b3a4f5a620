//! Scores a conversation per category as the `claude-memory` scripts do, by keywords, and by the amount of work.
//!
//! `compat` uses all of it. The hooks use only the amount of work: whether a session needs a summary.

mod code;
mod lexicon;
mod phrases;

pub use lexicon::{CategoryLexicon, SCRIPTS};

use crate::capture::words_digest;
use crate::conversation::Conversation;
use crate::conversation::TranscriptPosition;
use crate::memory::Category;
use phrases::{LineCategories, Phrases};
use std::collections::{BTreeSet, HashSet};
use std::ops::Range;

/// A booster applies to lines at most this far away.
const NEARBY: usize = 4;
/// Lines of context before and after a match.
const AROUND: usize = 10;
// Matches that count per category, so that repetition alone does not raise a score.
const PRIMARY_MAX: usize = 3;
const BOOSTED_MAX: usize = 2;
const SNIPPET_MAX: usize = 120;
/// The maximum excerpt of a category in the private capture file. `compat` has its own limit, ten times as high.
const EXCERPT_MAX_BYTES: usize = 8_000;

#[derive(Clone, Debug, PartialEq)]
pub struct Assessment {
    pub activity: Activity,
    /// The categories that reached their threshold, in report order.
    pub findings: Vec<TriageFinding>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Activity {
    pub tool_uses: usize,
    pub distinct_tools: usize,
    /// Messages with text. Tool calls are counted above.
    pub exchanges: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub struct TriageFinding {
    pub category: Category,
    /// From 0 to 1.
    pub score: f64,
    /// The lines that made the score.
    pub snippets: Vec<String>,
    /// The same lines with their context; for a session summary, the end of the conversation.
    pub excerpt: String,
    /// The position of the message with the first of these lines.
    pub at: TranscriptPosition,
    /// The digest of the first lines, see [`words_digest`].
    pub words: String,
}

/// Scores a conversation as the scripts do. `threshold` returns the minimum score of a category, or `None` if it is disabled.
pub fn assess(conversation: &Conversation, threshold: &dyn Fn(Category) -> Option<f64>) -> Assessment {
    let text = ProseText::as_scripts(conversation);
    let lines = text.lines();
    let phrases = Phrases::of(&SCRIPTS);
    let categories: Vec<LineCategories> = lines.iter().map(|line| phrases.categories_in(line.text)).collect();
    let mut findings = Vec::new();
    for (row, kind) in SCRIPTS.iter().enumerate() {
        let Some(threshold) = threshold(kind.category) else { continue };
        let scored = score(kind, 1 << row, &categories);
        if !scored.lines.is_empty() && scored.score >= threshold {
            findings.push(finding(kind.category, &scored, &lines, conversation));
        }
    }
    let activity = activity(conversation);
    if threshold(Category::SessionSummary).is_some_and(|threshold| activity.score() >= threshold) {
        findings.extend(summary(conversation, &lines, activity, activity.text_of_scripts()));
    }
    Assessment { activity, findings }
}

/// The session to summarise, if it did enough.
pub fn session_summary(conversation: &Conversation, threshold: Option<f64>) -> Option<TriageFinding> {
    let activity = activity(conversation);
    if threshold.is_none_or(|threshold| activity.score() < threshold) {
        return None;
    }
    let text = ProseText::by_message(conversation);
    summary(conversation, &text.lines(), activity, activity.text())
}

fn summary(
    conversation: &Conversation,
    lines: &[ConversationLine<'_>],
    activity: Activity,
    text: String,
) -> Option<TriageFinding> {
    let end = last_lines(lines, EXCERPT_MAX_BYTES);
    Some(TriageFinding {
        category: Category::SessionSummary,
        score: activity.score(),
        snippets: vec![text],
        words: words_digest(&end),
        excerpt: end,
        at: conversation.messages.first()?.at,
    })
}

impl Activity {
    fn score(self) -> f64 {
        let Activity { tool_uses, distinct_tools, exchanges } = self;
        (tool_uses as f64 * 0.05 + distinct_tools as f64 * 0.1 + exchanges as f64 * 0.02).min(1.0)
    }

    fn text(self) -> String {
        let counted =
            |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
        let tools = counted(self.distinct_tools, "tool");
        format!(
            "{} across {tools}, {}",
            counted(self.tool_uses, "tool use"),
            counted(self.exchanges, "exchange")
        )
    }

    /// The scripts have one form for every number.
    fn text_of_scripts(self) -> String {
        let Activity { tool_uses, distinct_tools, exchanges } = self;
        format!("{tool_uses} tool uses across {distinct_tools} tools, {exchanges} exchanges")
    }
}

fn activity(conversation: &Conversation) -> Activity {
    let tools = || conversation.messages.iter().flat_map(|message| &message.tools);
    Activity {
        tool_uses: tools().count(),
        distinct_tools: tools().collect::<BTreeSet<_>>().len(),
        exchanges: conversation.messages.iter().filter(|message| message.speaks()).count(),
    }
}

/// The text of a conversation without code.
struct ProseText {
    /// Each with the index of its first message.
    texts: Vec<(usize, String)>,
}

#[derive(Clone, Copy)]
struct ConversationLine<'t> {
    text: &'t str,
    message: usize,
}

impl ProseText {
    /// Code never spans messages.
    fn by_message(conversation: &Conversation) -> ProseText {
        let messages = conversation.messages.iter().enumerate().filter(|(_, message)| message.speaks());
        ProseText { texts: messages.map(|(at, message)| (at, code::without_code(&message.text))).collect() }
    }

    /// Code is removed from the joined text, between any two backticks.
    fn as_scripts(conversation: &Conversation) -> ProseText {
        let messages = conversation.messages.iter().filter(|message| message.speaks());
        let joined: Vec<&str> = messages.map(|message| message.text.as_str()).collect();
        ProseText { texts: vec![(0, code::without_code_as_scripts(&joined.join("\n")))] }
    }

    fn lines(&self) -> Vec<ConversationLine<'_>> {
        let mut lines = Vec::new();
        for (message, text) in &self.texts {
            lines.extend(text.split('\n').map(|text| ConversationLine { text, message: *message }));
        }
        lines
    }
}

/// The matching lines of a category and its score.
struct CategoryScore {
    lines: Vec<usize>,
    score: f64,
}

fn score(kind: &CategoryLexicon, bit: u8, categories: &[LineCategories]) -> CategoryScore {
    let lines: Vec<usize> =
        (0..categories.len()).filter(|line| categories[*line].primary & bit != 0).collect();
    let (mut primary, mut boosted) = (0, 0);
    for line in &lines {
        let near = around(*line, NEARBY, categories.len());
        if boosted < BOOSTED_MAX && categories[near].iter().any(|line| line.boosters & bit != 0) {
            boosted += 1;
        } else if primary < PRIMARY_MAX {
            primary += 1;
        }
    }
    let raw = primary as f64 * kind.primary_weight + boosted as f64 * kind.boosted_weight;
    CategoryScore { lines, score: (raw / kind.denominator).min(1.0) }
}

fn around(line: usize, lines: usize, all: usize) -> Range<usize> {
    line.saturating_sub(lines)..(line + lines + 1).min(all)
}

fn finding(
    category: Category,
    scored: &CategoryScore,
    lines: &[ConversationLine<'_>],
    conversation: &Conversation,
) -> TriageFinding {
    let snippets = snippets(scored.lines.iter().map(|line| lines[*line].text));
    let words = words_digest(&snippets.join("\n"));
    let excerpt = excerpt(&scored.lines, lines);
    let first = lines[scored.lines[0]].message;
    let at = conversation.messages[first].at;
    TriageFinding { category, score: scored.score, snippets, excerpt, at, words }
}

/// The beginning of each line, without duplicates.
fn snippets<'t>(lines: impl Iterator<Item = &'t str>) -> Vec<String> {
    let mut seen = HashSet::new();
    let beginning = |line: &'t str| {
        let line = line.trim();
        line.char_indices().nth(SNIPPET_MAX).map_or(line, |(end, _)| &line[..end])
    };
    lines.map(beginning).filter(|line| seen.insert(*line)).map(str::to_owned).collect()
}

/// The matching lines with their context, and `---` where lines are left out.
fn excerpt(found: &[usize], lines: &[ConversationLine<'_>]) -> String {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for line in found {
        let range = around(*line, AROUND, lines.len());
        match ranges.last_mut() {
            Some(last) if range.start <= last.end => last.end = range.end,
            _ => ranges.push(range),
        }
    }
    let part = |range: Range<usize>| lines[range].iter().map(|line| line.text).collect::<Vec<_>>().join("\n");
    ranges.into_iter().map(part).collect::<Vec<_>>().join("\n---\n")
}

/// As many whole lines from the end as fit.
fn last_lines(lines: &[ConversationLine<'_>], max_bytes: usize) -> String {
    let mut left = max_bytes;
    let mut fits = |line: &&ConversationLine<'_>| {
        let enough = line.text.len() < left;
        left = left.saturating_sub(line.text.len() + 1);
        enough
    };
    let mut end: Vec<&str> = lines.iter().rev().take_while(|line| fits(line)).map(|line| line.text).collect();
    end.reverse();
    end.join("\n")
}
