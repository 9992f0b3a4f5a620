//! The request to save, which an agent gets when it stops.

use super::lines;
use crate::capture::{Capture, CapturedItem};
use crate::conversation::{STOP_HEAD, TranscriptPosition};
use crate::memory::{Address, Category};
use crate::secret;
use crate::text::{cut, escaped, one_line, shell_word};
use std::fmt::Write as _;

/// The agent pays for every byte. Below 1.5 KB even with the program's full path in the command.
pub const REQUEST_MAX_BYTES: usize = 1_400;

/// An item of the request.
#[derive(Clone, Debug, PartialEq)]
pub struct AskedItem {
    pub item: CapturedItem,
    /// The memory that it seems to contradict.
    pub replaces: Option<Address>,
    /// The configured description of its category.
    pub description: Option<String>,
}

impl AskedItem {
    /// The same with the number that the item got when its capture was saved.
    pub fn numbered(self, capture: &Capture) -> AskedItem {
        let known = capture.open_items().find(|item| item.origin.words == self.item.origin.words);
        AskedItem { item: known.cloned().unwrap_or(self.item), ..self }
    }
}

/// What was found and the one command that saves it, shorter than [`REQUEST_MAX_BYTES`]. `full` are categories with
/// findings that have reached their limit.
pub fn stop_request(session: &str, items: &[AskedItem], full: &[Category]) -> String {
    let shorter = |(items_max, words_max): (usize, usize)| {
        let text = compose(session, &items[..items.len().min(items_max)], full, words_max);
        (text.len() < REQUEST_MAX_BYTES).then_some(text)
    };
    // The words are shortened first, then the last items are left to the inbox. A session id that is too long goes
    // last: without it the command saves to the newest session.
    [(3, 240), (3, 120), (2, 120), (2, 60), (1, 60)]
        .into_iter()
        .find_map(shorter)
        .unwrap_or_else(|| compose("", &items[..items.len().min(1)], &[], 0))
}

fn compose(session: &str, items: &[AskedItem], full: &[Category], words_max: usize) -> String {
    let mut text = format!("{STOP_HEAD}\n");
    for asked in items {
        let _ = writeln!(text, "{}", quoted(asked, words_max));
    }
    text.push_str(&full_text(full));
    let session = if session.is_empty() { String::new() } else { session_option(session) };
    let answers: Vec<String> = items.iter().map(template).collect();
    // Gemini refuses a command with backticks anywhere in it.
    let _ = write!(
        text,
        "Fixed rules picked these words; you judge. Keep what a teammate should still know next month. \
         Save with one command: fill in every … without backticks, or write only `item: N` and `action: noop` for what is not worth keeping.\n\
         lorelane consolidate commit -{session} <<'EOF'\n{}EOF\n",
        answers.join("\n")
    );
    text
}

/// The words of one item and their place.
fn quoted(asked: &AskedItem, words_max: usize) -> String {
    let item = &asked.item;
    // Items are masked when they are written to the file; the text for the agent is masked here.
    let words = escaped(&one_line(&secret::masked(&item.words())), words_max).replace('"', "'");
    let place = match item.origin.at {
        TranscriptPosition::Line(line) => format!("line {line}"),
        TranscriptPosition::Byte(byte) => format!("byte {byte}"),
    };
    let mut line = format!("{}. {} (transcript {place}): \"{words}\"", item.number, item.kind_name());
    if let Some(description) = &asked.description {
        let _ = write!(line, "; {} means: {}", item.category, escaped(&one_line(description), words_max));
    }
    if let Some(replaces) = &asked.replaces {
        let _ = write!(line, "; it may replace {}", cut(&replaces.to_string(), 80));
    }
    line
}

fn template(asked: &AskedItem) -> String {
    let replaces = asked.replaces.as_ref().map(Address::to_string);
    lines::template(asked.item.number, asked.item.category, replaces.as_deref())
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::{Origin, words_digest};
    use crate::statements::StatementKind;

    fn asked(number: u64, kind: StatementKind, words: &str) -> AskedItem {
        let at = TranscriptPosition::Line(number * 10);
        let origin = Origin { session: "s".to_owned(), at, words: words_digest(words) };
        let item = CapturedItem::new(kind.category(), vec![words.to_owned()], String::new(), origin);
        AskedItem {
            item: CapturedItem { number, kind: Some(kind), ..item },
            replaces: None,
            description: None,
        }
    }

    #[test]
    fn a_request_quotes_the_words_and_names_one_command() {
        let mut first = asked(
            7,
            StatementKind::Decision,
            concat!("We `chose` </b> \"pnpm\", key is AKIA", "4TGHN2WQ7VKJX3ZD"),
        );
        // The configured description is shown with the category (finding 15).
        first.description = Some("choices\n`rm x` </triage_data> that \u{202e}last".to_owned());
        let mut second = asked(8, StatementKind::Correction, "No, we use tabs, not spaces");
        second.replaces = Address::parse("preference/use-spaces");
        let text = stop_request("7b23-x", &[first, second], &[Category::Runbook]);
        expect_test::expect![[r#"
            lorelane: this session has something worth remembering.
            7. decision (transcript line 70): "We chose &lt;/b&gt; 'pnpm', key is AKIA…(12+)"; decision means: choices rm x &lt;/triage_data&gt; that last
            8. correction (transcript line 80): "No, we use tabs, not spaces"; it may replace preference/use-spaces
            - [RUNBOOK] on hold: the category has reached max_memories_per_category; `lorelane list runbook` shows what could be retired
            Fixed rules picked these words; you judge. Keep what a teammate should still know next month. Save with one command: fill in every … without backticks, or write only `item: N` and `action: noop` for what is not worth keeping.
            lorelane consolidate commit - --session 7b23-x <<'EOF'
            item: 7
            category: decision
            title: …
            tags: …
            context: …
            decision: …
            rationale: …

            item: 8
            category: preference
            supersedes: preference/use-spaces
            title: …
            tags: …
            topic: …
            value: …
            reason: …
            EOF
        "#]].assert_eq(&text);
    }

    #[test]
    fn a_request_is_short_and_its_command_cannot_be_broken_out_of() {
        for session in ["x; rm -rf ~", "a'b\n`c`", &"y".repeat(9_000)] {
            for kind in StatementKind::ALL {
                let mut items: Vec<AskedItem> =
                    (1..4).map(|number| asked(number, kind, &"日本".repeat(200))).collect();
                for full in [&[][..], &Category::ALL] {
                    for description in [None, Some("語".repeat(500))] {
                        items.iter_mut().for_each(|item| item.description = description.clone());
                        let text = stop_request(session, &items, full);
                        assert!(
                            text.len() < REQUEST_MAX_BYTES && text.starts_with(STOP_HEAD),
                            "{}",
                            text.len()
                        );
                        assert!(text.contains("consolidate commit - ") && text.ends_with("\nEOF\n"));
                        assert!(text.contains("\nitem: 1\n"), "{text}");
                    }
                }
            }
        }
    }
}
