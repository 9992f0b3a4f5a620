//! What a whole session has that is worth keeping, read line by line from its start.
//!
//! A session may be longer than memory should hold, so messages are judged in windows: each is judged with those before
//! it as context, and the last ones wait until what follows them is known.

use super::{CapturedItem, Origin, words_digest};
use crate::conversation::{
    AnsweredQuestion, Conversation, Message, Speaker, TranscriptFormat, TranscriptPart, TranscriptPosition,
};
use crate::secret;
use crate::statements::{StatementForm, StatementKind, detect_forms};
use crate::text::{cut, one_line};
use crate::time::Timestamp;
use memchr::memmem;
use std::collections::HashSet;

/// A window is judged when it has this much text or so many messages.
const WINDOW_BYTES: usize = 1 << 20;
const WINDOW_MESSAGES: usize = 4_000;
/// The messages at the end of a window that wait for what follows.
const HELD_BACK: usize = 16;
/// The messages before a window that serve as context.
const CONTEXT: usize = 64;
/// The text of one message that is kept, in bytes: nobody types more, and of the agent's words the beginning counts.
const HUMAN_MAX: usize = 64 << 10;
const ASSISTANT_MAX: usize = 16 << 10;
/// Lines of one message are adjacent, except for a few results of its tools.
const NEARBY: usize = 8;
/// The best items of a session that are kept while it is read.
const ITEMS_MAX: usize = 500;
/// A question with its answer, in characters.
const ANSWER_MAX: usize = 400;

/// Reads a session from its start.
#[derive(Debug)]
pub struct SessionExtractor {
    format: TranscriptFormat,
    session: String,
    now: Timestamp,
    /// What lorelane injected into the session.
    shown: Vec<String>,
    window: Vec<WindowMessage>,
    bytes: usize,
    /// Messages up to here were judged.
    judged: Option<TranscriptPosition>,
    items: Vec<CapturedItem>,
    known: HashSet<String>,
}

#[derive(Debug)]
struct WindowMessage {
    id: Option<String>,
    said: Option<Timestamp>,
    message: Message,
}

impl SessionExtractor {
    pub fn new(
        format: TranscriptFormat,
        session: &str,
        shown: Vec<String>,
        now: Timestamp,
    ) -> SessionExtractor {
        SessionExtractor {
            format,
            session: session.to_owned(),
            now,
            shown,
            window: Vec::new(),
            bytes: 0,
            judged: None,
            items: Vec::new(),
            known: HashSet::new(),
        }
    }

    /// Whether a line can have something of user or agent, judged by its bytes.
    pub fn wants(&self, line: &[u8]) -> bool {
        self.format.may_speak(line) || self.format.may_answer(line)
    }

    /// Adds the next line that is wanted, by its number.
    pub fn add(&mut self, number: u64, line: &str) {
        let at = TranscriptPosition::Line(number);
        if self.format.may_answer(line.as_bytes()) {
            let said = time_of(line);
            for answered in self.format.read_answers(line) {
                self.add_answer(&answered, at, said);
            }
        }
        if let Some(part) =
            self.format.may_speak(line.as_bytes()).then(|| self.format.read_line(line)).flatten()
        {
            self.add_part(at, part, time_of(line));
        }
    }

    /// The items, in the order of the session.
    pub fn finish(mut self) -> Vec<CapturedItem> {
        self.judge(0);
        self.items.sort_by_key(|item| item.origin.at);
        self.items
    }

    fn add_part(&mut self, at: TranscriptPosition, part: TranscriptPart, said: Option<Timestamp>) {
        let max = if part.speaker == Speaker::Human { HUMAN_MAX } else { ASSISTANT_MAX };
        let text = &part.text[..part.text.floor_char_boundary(max)];
        self.bytes += text.len();
        let same = |known: &&mut WindowMessage| {
            part.id.is_some() && known.id == part.id && known.message.speaker == part.speaker
        };
        match self.window.iter_mut().rev().take(NEARBY).find(same) {
            Some(known) if known.message.text.is_empty() => known.message.text.push_str(text),
            Some(known) if known.message.text.len() < max => {
                known.message.text.push_str(&format!("\n{text}"))
            }
            Some(_) => {}
            None => {
                let message = Message { at, speaker: part.speaker, text: text.to_owned(), tools: part.tools };
                self.window.push(WindowMessage { id: part.id, said, message });
            }
        }
        if self.bytes > WINDOW_BYTES || self.window.len() > WINDOW_MESSAGES {
            self.judge(HELD_BACK);
        }
    }

    /// Judges the messages of the window except the last ones, and drops those that nobody needs any more.
    fn judge(&mut self, held_back: usize) {
        let Some(last) = self.window.len().checked_sub(held_back + 1) else { return };
        let messages = self.window.iter().map(|known| known.message.clone()).collect();
        let conversation = Conversation { messages }.without_lines_of(&self.shown);
        for (scored, form) in detect_forms(&conversation, self.judged) {
            if scored.statement.message <= last {
                let said = self.window[scored.statement.message].said;
                let item = CapturedItem::of_statement(&scored, &conversation, &self.session, self.now);
                self.keep(CapturedItem { form, said, ..item });
            }
        }
        self.judged = Some(self.window[last].message.at);
        self.window.drain(..last.saturating_sub(CONTEXT));
        self.bytes = self.window[self.window.len().saturating_sub(held_back)..]
            .iter()
            .map(|known| known.message.text.len())
            .sum();
        if self.items.len() > ITEMS_MAX {
            self.items.sort_by(|one, other| other.score.total_cmp(&one.score));
            self.items.truncate(ITEMS_MAX / 2);
        }
    }

    fn add_answer(&mut self, answered: &AnsweredQuestion, at: TranscriptPosition, said: Option<Timestamp>) {
        let AnsweredQuestion { question, answer, description } = answered;
        let words = cut(&one_line(&format!("{question} {answer}")), ANSWER_MAX);
        if !secret::scan(&words).is_empty() {
            return;
        }
        let origin = Origin { session: self.session.clone(), at, words: words_digest(&words) };
        let excerpt = match description {
            Some(description) => format!("{question}\n---\n{answer}: {description}"),
            None => format!("{question}\n---\n{answer}"),
        };
        let kind = StatementKind::Decision;
        let mut item = CapturedItem {
            kind: Some(kind),
            form: Some(StatementForm::Answer),
            score: StatementForm::Answer.least_score(),
            since: Some(self.now),
            said,
            ..CapturedItem::new(kind.category(), vec![words], excerpt, origin)
        };
        item.neighbours.after = description.as_ref().map(|text| cut(text, ANSWER_MAX));
        self.keep(item);
    }

    fn keep(&mut self, item: CapturedItem) {
        if self.known.insert(item.origin.words.clone()) {
            self.items.push(item);
        }
    }
}

/// When a line was written. The first key of the name is the line's own.
fn time_of(line: &str) -> Option<Timestamp> {
    const KEY: &[u8] = b"\"timestamp\":";
    let at = memmem::find(line.as_bytes(), KEY)? + KEY.len();
    let value = line.get(at..)?.trim_start().strip_prefix('"')?;
    Timestamp::parse(value.split('"').next()?).map(|(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(speaker: &str, text: &str) -> String {
        let text = text.replace('"', "\\\"");
        format!(
            "{{\"type\":\"{speaker}\",\"message\":{{\"content\":\"{text}\"}},\"timestamp\":\"2026-02-03T10:00:00.5Z\"}}"
        )
    }

    fn extract(lines: impl IntoIterator<Item = String>) -> Vec<CapturedItem> {
        let mut extractor =
            SessionExtractor::new(TranscriptFormat::ClaudeCode, "s", Vec::new(), Timestamp(1_800_000_000));
        for (at, line) in lines.into_iter().enumerate() {
            if extractor.wants(line.as_bytes()) {
                extractor.add(at as u64 + 1, &line);
            }
        }
        extractor.finish()
    }

    #[test]
    fn a_long_session_is_judged_as_a_short_one() {
        let filler =
            || (0..3).map(|_| line("assistant", &"I looked at the parser and its tests. ".repeat(2_000)));
        let said = [
            "I prefer plain loops over clever iterator chains.",
            "No, we use pnpm in this repository, not npm.",
            "Always run the linter before you commit anything.",
        ];
        let short: Vec<String> =
            said.iter().flat_map(|words| [line("user", words), line("assistant", "Understood.")]).collect();
        let mut long = Vec::new();
        for lines in short.chunks(2) {
            long.extend(lines.to_vec());
            long.extend((0..40).flat_map(|_| filler()));
        }
        let words = |items: &[CapturedItem]| items.iter().map(CapturedItem::words).collect::<Vec<_>>();
        let (short, long) = (extract(short), extract(long));
        assert_eq!(words(&short), said);
        assert_eq!(words(&long), said);
        assert_eq!(short[0].form, Some(StatementForm::Value));
        assert_eq!(short[0].date(Timestamp(0)), "2026-02-03");
    }

    #[test]
    fn what_is_taken_back_is_no_item_however_the_session_is_cut() {
        let rule = "Always run the linter before you commit anything.";
        let lines =
            [line("user", rule), line("assistant", "Understood."), line("user", "never mind, scratch that")];
        assert!(extract(lines).is_empty());
    }
}
