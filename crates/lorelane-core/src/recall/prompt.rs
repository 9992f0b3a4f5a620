//! What a person says in a prompt, apart from what was pasted into it and from courtesy.
//!
//! A paste is known by its shape: few natural words, lines that begin alike, hardly any function words. No format
//! is recognized by name, because there is always another one.

use crate::terms::is_function_word;
use std::ops::Range;

/// A line is natural if this share of its words is.
const NATURAL: f32 = 0.6;
/// A block of this many lines is judged as a whole.
const LINES_MIN: usize = 3;
/// Prose has at least this share of function words.
const FUNCTION_WORDS: f32 = 0.1;
/// A longer text is taken apart even if it looks like prose: the question outweighs what it is about.
const LONG_WORDS: usize = 80;
/// A line up to this length is not taken apart.
const LONG_BYTES: usize = 400;
/// A paragraph up to this length is part of what is asked, also in a long text.
const SHORT_WORDS: usize = 40;
/// No natural word is longer.
const LETTERS_MAX: usize = 40;

/// A prompt in two parts, each in the order of the text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PromptParts {
    /// What the person says; all of the text if nothing else is in it.
    pub(super) own: String,
    /// Code, logs, data and quoted prose.
    pub(super) pasted: String,
}

impl PromptParts {
    pub(super) fn of(text: &str) -> PromptParts {
        let is_plain = !text.contains('\n') && text.len() <= LONG_BYTES;
        let mut parts = if is_plain {
            PromptParts { own: text.to_owned(), pasted: String::new() }
        } else {
            PromptParts::apart(text)
        };
        if let Some(asked) = without_courtesy(&parts.own) {
            parts.own = asked;
        }
        parts
    }

    fn apart(text: &str) -> PromptParts {
        let mut parts = PromptParts::default();
        for block in blocks(text) {
            let own = own_lines(&block);
            for (at, line) in block.iter().enumerate() {
                if own.contains(&at) {
                    append(&mut parts.own, line.text);
                } else {
                    let (before, question) = line.text.split_at(line.question);
                    append(&mut parts.pasted, before);
                    append(&mut parts.own, question);
                }
            }
            // Paragraphs stay apart.
            parts.own.push('\n');
        }
        if !has_words(&parts.own) {
            return PromptParts { own: text.to_owned(), pasted: String::new() };
        }
        parts.without_prose()
    }

    /// Moves long paragraphs to what was pasted, if something short or a question is left.
    fn without_prose(self) -> PromptParts {
        if self.own.split_whitespace().nth(LONG_WORDS).is_none() {
            return self;
        }
        let PromptParts { own, mut pasted } = self;
        let mut asked = String::new();
        let mut told = String::new();
        for paragraph in own.split("\n\n").filter(|paragraph| has_words(paragraph)) {
            if paragraph.split_whitespace().nth(SHORT_WORDS).is_none() {
                append(&mut asked, paragraph);
                continue;
            }
            for sentence in sentences(paragraph) {
                let is_question = sentence.trim_end().ends_with(['?', '？', '؟']);
                append(if is_question { &mut asked } else { &mut told }, sentence);
            }
        }
        if !has_words(&asked) {
            return PromptParts { own, pasted };
        }
        append(&mut pasted, &told);
        PromptParts { own: asked, pasted }
    }
}

fn append(text: &mut String, more: &str) {
    if !more.is_empty() {
        text.push_str(more);
        text.push('\n');
    }
}

fn has_words(text: &str) -> bool {
    text.chars().any(char::is_alphabetic)
}

/// A line by its shape.
#[derive(Debug)]
struct Line<'t> {
    text: &'t str,
    /// How many words it has, how many of them are natural, and how many are function words.
    words: usize,
    natural: usize,
    function: usize,
    /// Where a question begins that ends a line of something else; the end of the line if none does.
    question: usize,
    /// How it begins: two lines of data that begin alike have the same value.
    beginning: String,
    is_fenced: bool,
}

impl<'t> Line<'t> {
    fn of(text: &'t str, is_fenced: bool) -> Line<'t> {
        let (mut words, mut natural, mut function) = (0, 0, 0);
        // Natural words in a row, up to the end of the line.
        let mut run = text.len();
        let mut run_words = 0;
        let mut at = 0;
        for piece in text.split_inclusive(char::is_whitespace) {
            let (token, from) = (piece.trim_end(), at);
            at += piece.len();
            if token.is_empty() {
                continue;
            }
            match naturalness(token) {
                Some(true) => {
                    words += 1;
                    natural += 1;
                    function += usize::from(is_function_word(&bare(token).to_lowercase()));
                    if run_words == 0 {
                        run = from;
                    }
                    run_words += 1;
                }
                Some(false) => {
                    words += 1;
                    run_words = 0;
                }
                None => {}
            }
        }
        let asks = text.trim_end().ends_with(['?', '？', '؟']);
        let question = if asks && run_words >= 3 { run } else { text.len() };
        let beginning = text.split_whitespace().take(2).map(shape).collect();
        Line { text, words, natural, function, question, beginning, is_fenced }
    }

    fn is_natural(&self) -> bool {
        !self.is_fenced && self.natural > 0 && self.natural as f32 >= NATURAL * self.words as f32
    }

    fn asks(&self) -> bool {
        self.is_natural() && self.text.trim_end().ends_with(['?', '？', '؟'])
    }

    /// Whether it is a sentence and nothing else: what a person writes next to a paste.
    fn is_sentence(&self) -> bool {
        let is_key = self.text.split_whitespace().next().is_some_and(|first| first.ends_with(':'));
        let is_foreign = !self.text.is_ascii();
        !self.is_fenced
            && !self.text.starts_with(char::is_whitespace)
            && self.natural == self.words
            && self.words > 1
            && !is_key
            && (self.function > 0 || is_foreign)
    }
}

/// The lines of each paragraph.
fn blocks(text: &str) -> Vec<Vec<Line<'_>>> {
    let mut blocks = vec![Vec::new()];
    let mut is_fenced = false;
    for text in text.lines() {
        let is_fence = text.trim_start().starts_with("```");
        if text.trim().is_empty() && !is_fenced {
            blocks.push(Vec::new());
        } else if let Some(block) = blocks.last_mut() {
            block.push(Line::of(text, is_fenced || is_fence));
        }
        is_fenced ^= is_fence;
    }
    blocks.retain(|block| !block.is_empty());
    blocks
}

/// The positions of the lines in a block that the person wrote.
fn own_lines(block: &[Line<'_>]) -> Vec<usize> {
    if !is_paste(block) {
        return (0..block.len()).filter(|at| block[*at].is_natural()).collect();
    }
    // Next to a paste, and only at its ends, a person writes sentences.
    let is_own = |at: &usize| block[*at].is_sentence() || block[*at].asks();
    let mut own: Vec<usize> = (0..block.len()).take_while(is_own).collect();
    let first = own.len();
    own.extend((first..block.len()).rev().take_while(is_own));
    own
}

fn is_paste(block: &[Line<'_>]) -> bool {
    let noise = block.iter().filter(|line| !line.is_natural()).count();
    if block.len() > 1 && 2 * noise >= block.len() {
        return true;
    }
    block.len() >= LINES_MIN && (begins_alike(block) || is_without_function_words(block))
}

/// Whether most lines begin with the same digits and punctuation.
fn begins_alike(block: &[Line<'_>]) -> bool {
    let has_sign = |line: &&Line<'_>| line.beginning.contains(['0', '=', '.']);
    let mut beginnings: Vec<&str> =
        block.iter().filter(has_sign).map(|line| line.beginning.as_str()).collect();
    beginnings.sort_unstable();
    let most = beginnings.chunk_by(|a, b| a == b).map(<[&str]>::len).max().unwrap_or(0);
    3 * most >= 2 * block.len()
}

/// Other alphabets are not judged: only some of their function words are known.
fn is_without_function_words(block: &[Line<'_>]) -> bool {
    let sum = |of: fn(&Line<'_>) -> usize| block.iter().map(of).sum::<usize>() as f32;
    let is_known = block.iter().all(|line| line.text.is_ascii());
    is_known && sum(|line| line.function) < FUNCTION_WORDS * sum(|line| line.words)
}

fn bare(token: &str) -> &str {
    token
        .trim_start_matches(['(', '"', '\'', '“', '‘', '«', '*'])
        .trim_end_matches([',', '.', '?', '!', ';', ':', ')', '"', '\'', '”', '’', '»', '*', '…'])
}

/// Whether a token is a word as people write it; `None` for a number or a dash, which occur in any text.
fn naturalness(token: &str) -> Option<bool> {
    let word = bare(token);
    if matches!(token, "-" | "–" | "—" | "*" | "•")
        || (!word.is_empty() && word.len() <= 4 && is_number(word))
    {
        return None;
    }
    if word.chars().any(|c| c.is_alphabetic() && !c.is_ascii()) {
        return Some(true);
    }
    let mut letters = word.chars();
    let first = letters.next().unwrap_or(' ');
    let is_joined = |c: char| matches!(c, '\'' | '-' | '’');
    let is_lower = letters.clone().all(|c| c.is_ascii_lowercase() || is_joined(c));
    let is_one = letters.next().is_none();
    let quoted_key = token.starts_with('"') && token.ends_with("\":");
    Some(
        first.is_ascii_alphabetic()
            && is_lower
            && !quoted_key
            && word.len() <= LETTERS_MAX
            && (!is_one || matches!(first, 'a' | 'A' | 'I' | 'i'))
            && !word.ends_with(is_joined),
    )
}

fn is_number(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_digit())
}

/// The shape of a word: runs of digits are `0`, runs of letters `a`, punctuation stays.
fn shape(word: &str) -> String {
    let mut shape = String::from(" ");
    for c in word.chars().take(32) {
        let kind = match c {
            c if c.is_numeric() => '0',
            c if c.is_alphabetic() => 'a',
            c => c,
        };
        if !matches!(kind, '0' | 'a') || !shape.ends_with(kind) {
            shape.push(kind);
        }
    }
    shape
}

fn sentences(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive(['?', '!', '.', '？', '。', '！', '؟', '\n'])
}

/// `help me` alone may be how a memory was asked for.
const COURTESIES_MIN: usize = 2;
/// Words of courtesy: a run of them at the start or at the end of what is asked says nothing about it.
const COURTESY: &[&str] = &[
    "appreciate",
    "cheers",
    "curious",
    "dear",
    "grateful",
    "greetings",
    "hello",
    "help",
    "hey",
    "hi",
    "kindly",
    "please",
    "pls",
    "sorry",
    "tell",
    "thank",
    "thanks",
    "thx",
    "wonder",
    "wondering",
];
/// Words that stand between them.
const BESIDE_COURTESY: &[&str] = &[
    "able",
    "about",
    "advance",
    "again",
    "ahead",
    "all",
    "also",
    "any",
    "anyone",
    "anything",
    "ask",
    "asking",
    "back",
    "bit",
    "bother",
    "bothering",
    "chance",
    "check",
    "d",
    "day",
    "don",
    "ever",
    "everyone",
    "explain",
    "figure",
    "find",
    "folks",
    "forward",
    "friend",
    "give",
    "good",
    "great",
    "guys",
    "happen",
    "hope",
    "hoping",
    "idea",
    "just",
    "kind",
    "know",
    "let",
    "like",
    "little",
    "ll",
    "look",
    "looking",
    "lot",
    "lots",
    "love",
    "m",
    "may",
    "maybe",
    "might",
    "mind",
    "minute",
    "moment",
    "morning",
    "much",
    "need",
    "not",
    "now",
    "out",
    "perhaps",
    "possible",
    "possibly",
    "question",
    "quick",
    "quickly",
    "re",
    "really",
    "recall",
    "remember",
    "remind",
    "s",
    "show",
    "so",
    "some",
    "something",
    "t",
    "team",
    "then",
    "there",
    "time",
    "trouble",
    "try",
    "trying",
    "understand",
    "up",
    "ve",
    "very",
    "want",
    "wanted",
    "well",
];
/// Where what is asked begins.
const QUESTION_WORDS: &[&str] = &[
    "are", "did", "do", "does", "had", "has", "have", "how", "is", "was", "were", "what", "when", "where",
    "which", "who", "whom", "whose", "why",
];

/// A word of a text with its place.
struct Spoken {
    at: Range<usize>,
    word: String,
    /// Whether punctuation stands before it.
    is_apart: bool,
}

impl Spoken {
    fn is_courtesy(&self) -> bool {
        COURTESY.binary_search(&self.word.as_str()).is_ok()
    }

    fn is_beside(&self) -> bool {
        self.is_courtesy()
            || BESIDE_COURTESY.binary_search(&self.word.as_str()).is_ok()
            || crate::terms::is_english_stop_word(&self.word)
    }
}

/// The text without courtesy at its start and at its end; `None` if there is none, or nothing else.
fn without_courtesy(text: &str) -> Option<String> {
    let spoken = spoken(text);
    let is_beside: Vec<bool> = spoken.iter().map(Spoken::is_beside).collect();
    let run = is_beside.iter().take_while(|beside| **beside).count();
    let last = spoken[..run].iter().rposition(Spoken::is_courtesy);
    let asks = |word: &Spoken| QUESTION_WORDS.binary_search(&word.word.as_str()).is_ok();
    let start = last.map_or(0, |last| {
        let after = spoken[last..run].iter().position(asks);
        after.map_or(run, |after| last + after)
    });
    // At the end a run has to stand apart: a verb may be one of the words.
    let run = spoken.len() - is_beside.iter().rev().take_while(|beside| **beside).count();
    let end = (run.max(start)..spoken.len())
        .find(|at| spoken[*at].is_apart && spoken[*at..].iter().any(Spoken::is_courtesy))
        .unwrap_or(spoken.len());
    let left = spoken.get(start..end)?;
    let around = spoken[..start].iter().chain(&spoken[end..]);
    let courtesies = around.filter(|word| word.is_courtesy()).count();
    if courtesies < COURTESIES_MIN || left.iter().all(Spoken::is_beside) {
        return None;
    }
    let to = spoken.get(end).map_or(text.len(), |next| next.at.start);
    Some(text[left.first()?.at.start..to].to_owned())
}

fn spoken(text: &str) -> Vec<Spoken> {
    let mut words: Vec<Spoken> = Vec::new();
    let is_letter = |c: char| c.is_alphanumeric() || c == '_';
    let mut at = 0;
    while let Some(from) = text[at..].find(is_letter) {
        let from = at + from;
        let to = text[from..].find(|c| !is_letter(c)).map_or(text.len(), |end| from + end);
        let is_apart = text[at..from].contains([',', '.', '?', '!', ';', ':', '-', '—', '\n']);
        words.push(Spoken { at: from..to, word: text[from..to].to_lowercase(), is_apart });
        at = to;
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own(text: &str) -> String {
        PromptParts::of(text).own.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    const QUESTION: &str = "Which region do the backups go to?";

    /// Pastes of many kinds: none of them is recognized by its format.
    fn pastes() -> Vec<String> {
        let lines = |line: &dyn Fn(usize) -> String| (1..30).map(line).collect::<Vec<_>>().join("\n");
        vec![
            lines(&|at| format!("#{at}  0x00007f{at:04x} in worker_loop (arg=0x{at:x}) at worker.c:{at}")),
            format!(
                "Traceback (most recent call last):\n{}\nKeyError: 'tenant'",
                lines(&|at| {
                    format!(
                        "  File \"/srv/app/mod{at}.py\", line {at}, in handle\n    return self.inner[{at}](request)"
                    )
                })
            ),
            lines(&|at| {
                format!(
                    "Nov {at} 10:0{}:07 web1 sshd[{at}]: Accepted password for deploy from 10.0.0.{at} port 22",
                    at % 9
                )
            }),
            lines(&|at| format!("  \"item-{at}\": {{ \"name\": \"the name of it\", \"size\": {at} }},")),
            lines(&|at| format!("service{at}:\n  image: registry.local/service:{at}\n  restart: always")),
            lines(&|at| format!("+    let total{at} = items.iter().map(|item| item.price).sum::<u64>();")),
            lines(&|at| format!("SELECT id, total FROM orders_{at} WHERE state = 'open' AND region = {at};")),
            lines(&|at| format!("3f2504e0-4f89-11d3-9a0c-{:012x}", at * 7_919)),
            (1..24)
                .map(|at| format!("3f2504e0-4f89-11d3-9a0c-{:012x}", at * 7_919))
                .collect::<Vec<_>>()
                .join(" "),
            lines(&|at| format!("   Compiling crate{at} v0.{at}.1")),
            lines(&|at| format!("id{at},2024-01-{at:02},{at}.50,open,north")),
            format!("```\n{}\n```", lines(&|at| format!("the loop runs as long as it is not {at}"))),
            "It was a long meeting and nobody agreed on anything that was said about the plan. ".repeat(50),
        ]
    }

    #[test]
    fn a_question_next_to_a_paste_is_what_is_asked() {
        for paste in pastes() {
            for text in [
                format!("{QUESTION}\n\n{paste}"),
                format!("{paste}\n\n{QUESTION}"),
                format!("{paste}\n{QUESTION}"),
                format!("{paste}\n\n{QUESTION}\n\n{paste}"),
            ] {
                assert_eq!(own(&text), QUESTION, "{}", &text[..text.len().min(300)]);
            }
        }
        // On the line of a paste only a question is taken for the person's own words.
        let ids = &pastes()[8];
        assert_eq!(own(&format!("{ids} {QUESTION}")), QUESTION);
    }

    #[test]
    fn words_of_a_paste_are_kept_apart_and_not_lost() {
        let parts = PromptParts::of(&format!("{}\n\n{QUESTION}", pastes()[1]));
        assert!(
            parts.pasted.contains("KeyError")
                && parts.pasted.contains("worker") == pastes()[1].contains("worker")
        );
    }

    #[test]
    fn what_a_person_writes_stays_whole() {
        for text in [
            "deploy",
            "fix src/auth/token.rs:212 E0382",
            "Use the old cache.\nThen run the tests again, and tell me what fails.",
            "- move the parser to its own crate\n- add tests for the empty input\n- then remove the old one",
            "Warum ist der Dienst langsam?\nGestern war er noch schnell.",
            "为什么天空是蓝色的?\n\n请用一句话回答。",
            "fn main() {\n    println!(\"{}\", total);\n}",
        ] {
            assert_eq!(own(text), text.split_whitespace().collect::<Vec<_>>().join(" "), "{text}");
        }
    }

    #[test]
    fn courtesy_at_the_ends_says_nothing() {
        for (text, expected) in [
            (
                "Hello! Could you please tell me which port it uses? Thank you very much!",
                "which port it uses?",
            ),
            ("hey, quick question: how do we rotate keys, please?", "how do we rotate keys,"),
            ("Hi, I was wondering if you know when the job runs", "when the job runs"),
            ("Can you help me rename the branch?", "Can you help me rename the branch?"),
            ("Thanks!", "Thanks!"),
            ("please help", "please help"),
            ("Who did Ann thank", "Who did Ann thank"),
            ("where is the help page", "where is the help page"),
        ] {
            assert_eq!(own(text), expected, "{text}");
        }
    }

    #[test]
    fn the_lists_are_sorted() {
        assert!(COURTESY.is_sorted() && BESIDE_COURTESY.is_sorted() && QUESTION_WORDS.is_sorted());
    }
}
