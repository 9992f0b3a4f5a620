//! Labelled conversations of real projects.

use std::fs;
use std::path::{Path, PathBuf};

use lorelane_core::conversation::{Conversation, Message, Speaker, TranscriptPosition, own_words};
use lorelane_core::json::Json;
use lorelane_core::statements::{Statement, StatementKind};

use crate::failure::Failure;

/// A conversation and what in it is worth keeping.
#[derive(Clone, Debug)]
pub struct LabelledConversation {
    /// The repository that it comes from.
    pub repository: String,
    pub conversation: Conversation,
    pub labels: Vec<StatementLabel>,
}

#[derive(Clone, Debug)]
pub struct StatementLabel {
    pub message: usize,
    pub quote: String,
    /// `None` for a session summary.
    pub kind: Option<StatementKind>,
    pub is_clear: bool,
    /// The sentence around the quote.
    pub sentence: String,
}

pub fn path(sets: &Path) -> PathBuf {
    sets.join("capture/dev.jsonl")
}

pub fn read(sets: &Path) -> Result<Vec<LabelledConversation>, Failure> {
    let file = path(sets);
    let text = fs::read_to_string(&file).map_err(|error| Failure::on("read", &file, error))?;
    let mut conversations = Vec::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let json = Json::parse(line).map_err(|fault| Failure::on("read", &file, fault))?;
        conversations.push(conversation(&json));
    }
    Ok(conversations)
}

fn conversation(json: &Json) -> LabelledConversation {
    let text = |json: &Json, path: &str| json.at(path).and_then(Json::as_text).unwrap_or_default().to_owned();
    let list = |path: &str| json.at(path).and_then(Json::as_list).unwrap_or_default();
    let said: Vec<String> = list("turns").iter().map(|turn| text(turn, "text")).collect();
    let messages = list("turns").iter().zip(&said).zip(1..).map(|((turn, said), line)| {
        let speaker = if text(turn, "role") == "user" { Speaker::Human } else { Speaker::Assistant };
        // As a transcript is read: what clients write in the user's name is no message.
        let text = own_words(speaker, said).unwrap_or_default();
        Message { at: TranscriptPosition::Line(line), speaker, text, tools: Vec::new() }
    });
    let conversation = Conversation { messages: messages.collect() };
    let labels = list("labels").iter().map(|label| {
        let message = label.at("turn").and_then(Json::as_u64).unwrap_or_default() as usize;
        let quote = text(label, "quote");
        let kind = text(label, "kind");
        let around = said.get(message).map(|said| sentence(said, &quote)).unwrap_or_default();
        StatementLabel {
            message,
            kind: StatementKind::ALL.into_iter().find(|known| known.name() == kind),
            is_clear: text(label, "strength") == "clear",
            sentence: around,
            quote,
        }
    });
    LabelledConversation { repository: text(json, "source.repo"), conversation, labels: labels.collect() }
}

/// The sentence around a quote.
fn sentence(text: &str, quote: &str) -> String {
    const ENDS: [char; 7] = ['.', '!', '?', '。', '！', '？', '\n'];
    let Some(start) = text.find(quote) else { return quote.to_owned() };
    let end = start + quote.len();
    let from =
        text[..start].rfind(ENDS).map_or(0, |at| at + text[at..].chars().next().map_or(1, char::len_utf8));
    let to = text[end..].find(ENDS).map_or(text.len(), |at| end + at);
    text[from..to].to_owned()
}

impl LabelledConversation {
    /// The labels that a statement meets, as the set's own scorer compares them.
    pub fn met_by(&self, statement: &Statement) -> Vec<usize> {
        let words = normal(&statement.words);
        let meets = |label: &StatementLabel| label.message == statement.message && label.is_met_by(&words);
        (0..self.labels.len()).filter(|at| meets(&self.labels[*at])).collect()
    }
}

impl StatementLabel {
    fn is_met_by(&self, words: &str) -> bool {
        let length = words.chars().count();
        if words.is_empty() || (length > 300 && length > 2 * normal(&self.quote).chars().count()) {
            return false;
        }
        [&self.quote, &self.sentence].into_iter().any(|label| {
            let label = normal(label);
            let label_length = label.chars().count();
            if label_length >= 8 && words.contains(&label) && length <= 12 * label_length + 400 {
                return true;
            }
            if length >= 12 && label.contains(words) {
                return true;
            }
            let (mut own, of_label) = (terms(words), terms(&label));
            let least = own.len().min(of_label.len());
            let shared = of_label.iter().filter(|term| match own.iter().position(|own| own == *term) {
                Some(at) => {
                    own.swap_remove(at);
                    true
                }
                None => false,
            });
            let shared = shared.count() as f64;
            least >= 4 && shared / least as f64 >= 0.7 && shared / of_label.len() as f64 >= 0.5
        })
    }
}

fn normal(text: &str) -> String {
    let text = text.replace('’', "'").replace('…', "").to_lowercase();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Words, and single characters of scripts without spaces.
fn terms(normal: &str) -> Vec<String> {
    let joins = |c: char| matches!(c, 'a'..='z' | '0'..='9' | '_' | '\'' | '\u{c0}'..='\u{24f}' | '\u{400}'..='\u{4ff}');
    let mut terms: Vec<String> = Vec::new();
    let mut word = String::new();
    for c in normal.chars() {
        if joins(c) {
            word.push(c);
            continue;
        }
        terms.extend((!word.is_empty()).then(|| std::mem::take(&mut word)));
        if matches!(c, '\u{3040}'..='\u{30ff}' | '\u{4e00}'..='\u{9fff}') {
            terms.push(c.to_string());
        }
    }
    terms.extend((!word.is_empty()).then_some(word));
    terms
}

#[cfg(test)]
mod tests {
    use super::*;

    fn label(text: &str, quote: &str) -> StatementLabel {
        StatementLabel {
            message: 0,
            quote: quote.to_owned(),
            kind: None,
            is_clear: true,
            sentence: sentence(text, quote),
        }
    }

    #[test]
    fn a_label_is_met_by_its_sentence_and_not_by_a_whole_turn() {
        let text = "Hello there. Please keep the old parser for now, it works. Thanks a lot!";
        let label = label(text, "keep the old parser");
        assert_eq!(label.sentence, " Please keep the old parser for now, it works");
        for (words, met) in [
            ("Please keep the old parser for now, it works.", true),
            ("keep the old  Parser", true),
            ("the old parser for now, it works", true),
            ("Hello there.", false),
            ("keep", false),
            ("Thanks a lot!", false),
        ] {
            assert_eq!(label.is_met_by(&normal(words)), met, "{words}");
        }
        let turn = format!("{text} {}", "and more ".repeat(40));
        assert!(!label.is_met_by(&normal(&turn)));
    }

    #[test]
    fn words_in_another_order_meet_it_too() {
        let label = label("", "use tabs in all the new files");
        assert!(label.is_met_by(&normal("in all files use new tabs")));
        assert!(!label.is_met_by(&normal("use spaces in some old folders here")));
    }
}
