//! Reads the messages of user and agent from the transcripts of clients.
//!
//! Only what they wrote themselves counts. A transcript has much more: tool results, requests that repeat the
//! whole conversation, hook feedback, summaries, and what lorelane itself injected. Capturing from any of these
//! would save what is already known.

mod acts;
mod answers;
mod position;

pub use acts::{TranscriptActs, TranscriptCall};
pub use answers::AnsweredQuestion;
pub use position::TranscriptPosition;

use crate::json::{Json, Object};
use crate::steps;
use crate::text::{fold, words};
use memchr::memmem;

/// The first line of every request to save memories. Some clients send the request back as a prompt, and the
/// prompt hook recognises it by this line.
pub const STOP_HEAD: &str = "lorelane: this session has something worth remembering.";

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Conversation {
    /// Oldest first.
    pub messages: Vec<Message>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// The position of its first line.
    pub at: TranscriptPosition,
    pub speaker: Speaker,
    /// Empty for a message that only calls tools.
    pub text: String,
    /// The names of the tools it calls, one per call.
    pub tools: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speaker {
    Human,
    Assistant,
}

/// The transcript format of a client. All are JSON Lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TranscriptFormat {
    /// Claude Code's, and the flat format that the `claude-memory` scripts expected.
    ClaudeCode,
    Codex,
    Gemini,
    Copilot,
}

/// Whether a person is there to read an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attendance {
    Attended,
    Unattended,
}

/// The content of one transcript line. Lines with the same id are parts of one message.
#[derive(Clone, Debug, PartialEq)]
pub struct TranscriptPart {
    pub id: Option<String>,
    pub speaker: Speaker,
    pub text: String,
    pub tools: Vec<String>,
}

impl Conversation {
    /// For clients that pass the last messages instead of a transcript we can read.
    pub fn from_texts(human: Option<&str>, assistant: Option<&str>) -> Conversation {
        let said = [(Speaker::Human, human), (Speaker::Assistant, assistant)];
        let messages = said.into_iter().enumerate().filter_map(|(at, (speaker, text))| {
            let text = own_words(speaker, text?)?;
            Some(Message { at: TranscriptPosition::Line(at as u64 + 1), speaker, text, tools: Vec::new() })
        });
        Conversation { messages: messages.collect() }
    }

    /// Drops messages up to a position that was already triaged.
    pub fn after(mut self, until: Option<TranscriptPosition>) -> Conversation {
        if let Some(until) = until {
            self.messages.retain(|message| message.at.is_after(until));
        }
        self
    }

    /// Adds a prompt that the transcript does not have yet.
    pub fn asked(mut self, prompt: &str) -> Conversation {
        if let Some(text) = own_words(Speaker::Human, prompt) {
            self.push(Speaker::Human, text);
        }
        self
    }

    /// Adds the last answer, which a client passes to its stop hook: the transcript may not have it yet.
    pub fn ending_with(mut self, assistant: &str) -> Conversation {
        let last = self.messages.iter().rev().find(|message| message.speaks());
        // If the transcript already has the answer, it must not count twice.
        let known = last.is_some_and(|message| message.text.trim_end().ends_with(assistant.trim()));
        if let Some(text) = own_words(Speaker::Assistant, assistant).filter(|_| !known) {
            self.push(Speaker::Assistant, text);
        }
        self
    }

    /// Adds a message at the end of what is written.
    fn push(&mut self, speaker: Speaker, text: String) {
        let at = self.messages.last().map_or(TranscriptPosition::Line(1), |message| message.at);
        self.messages.push(Message { at, speaker, text, tools: Vec::new() });
    }

    /// Drops lines that repeat what lorelane showed in this session: capturing them would save it again.
    pub fn without_lines_of(mut self, shown: &[String]) -> Conversation {
        let known: Vec<String> =
            shown.iter().filter(|text| is_telling(text)).map(|text| fold(text)).collect();
        if !known.is_empty() {
            let repeats = |line: &str| {
                let line = fold(line);
                known.iter().any(|known| line.contains(known.as_str()))
            };
            for message in &mut self.messages {
                let kept: Vec<&str> = message.text.split('\n').filter(|line| !repeats(line)).collect();
                message.text = kept.join("\n");
            }
        }
        self
    }
}

/// A title of one or two words occurs in many lines that say something new.
fn is_telling(text: &str) -> bool {
    words(text).len() >= 3
}

impl Message {
    /// Whether it has text; tool calls alone do not count.
    pub fn speaks(&self) -> bool {
        !self.text.trim().is_empty()
    }

    fn prepend(&mut self, at: TranscriptPosition, part: TranscriptPart) {
        self.at = at;
        self.tools.splice(..0, part.tools);
        match (part.text.is_empty(), self.text.is_empty()) {
            (true, _) => {}
            (false, true) => self.text = part.text,
            (false, false) => self.text = format!("{}\n{}", part.text, self.text),
        }
    }
}

/// Builds a conversation from its lines in reverse order, until it has enough messages.
#[derive(Debug)]
pub struct ReverseReader {
    max_messages: usize,
    /// Newest first.
    found: Vec<(Option<String>, Message)>,
    spoken: usize,
}

impl ReverseReader {
    pub fn new(max_messages: usize) -> ReverseReader {
        ReverseReader { max_messages, found: Vec::new(), spoken: 0 }
    }

    /// Adds the line before all lines added so far. Returns whether more are needed: the oldest message is known
    /// to be complete only when a line of the message before it is seen.
    pub fn add(&mut self, at: TranscriptPosition, part: TranscriptPart) -> bool {
        let newest_first = self.found.iter().enumerate().rev().take(NEARBY);
        let mut same = newest_first.filter(|(_, (id, message))| {
            part.id.is_some() && *id == part.id && message.speaker == part.speaker
        });
        let whole = same.next().map(|(place, _)| place);
        let spoke = whole.is_some_and(|place| self.found[place].1.speaks());
        // Only messages with text count against `triage.max_messages`; tool calls between them do not.
        if !part.text.trim().is_empty() && !spoke {
            if self.spoken == self.max_messages {
                // The part belongs to one message too many; drop what was already added of it.
                whole.map(|place| self.found.remove(place));
                return false;
            }
            self.spoken += 1;
        }
        match whole {
            Some(place) => self.found[place].1.prepend(at, part),
            None => {
                let message = Message { at, speaker: part.speaker, text: part.text, tools: part.tools };
                self.found.push((part.id, message));
            }
        }
        true
    }

    pub fn finish(self) -> Conversation {
        Conversation { messages: self.found.into_iter().rev().map(|(_, message)| message).collect() }
    }
}

/// Lines of one message are adjacent, except for a few results of its tools.
const NEARBY: usize = 8;

impl TranscriptFormat {
    /// The format of a client's transcripts, if we can read them.
    pub fn of_client(name: &str) -> Option<TranscriptFormat> {
        match name {
            "claude-code" => Some(TranscriptFormat::ClaudeCode),
            "codex" => Some(TranscriptFormat::Codex),
            "gemini" => Some(TranscriptFormat::Gemini),
            "copilot" => Some(TranscriptFormat::Copilot),
            _ => None,
        }
    }

    /// Whether the last answer is written to the file only after the stop hook ran. The transcript is then read
    /// again later: waiting in the hook would delay every turn.
    pub fn lags(self) -> bool {
        self == TranscriptFormat::Copilot
    }

    /// Whether a line shows that a person is there. `None` for most lines, and for clients that do not record it.
    pub fn attendance(self, line: &[u8]) -> Option<Attendance> {
        let telling: &[&str] = match self {
            TranscriptFormat::Codex => &["task_started", "session_meta"],
            TranscriptFormat::Copilot => &["system.message"],
            TranscriptFormat::ClaudeCode | TranscriptFormat::Gemini => &[],
        };
        if !types(line).any(|value| is_one_of(value, telling)) {
            return None;
        }
        let json = Json::parse(std::str::from_utf8(line).ok()?).ok()?;
        let text = |path: &str| json.at(path).and_then(Json::as_text);
        let attended = match (self, text("type")?) {
            (TranscriptFormat::Codex, "event_msg") => {
                text("payload.turn_attribution.turn_trigger")? == "user"
            }
            // Older versions do not record who started a turn, only how the program was started.
            (TranscriptFormat::Codex, "session_meta") => matches!(text("payload.source")?, "cli" | "vscode"),
            // Its system prompt has these words only in interactive mode.
            (TranscriptFormat::Copilot, "system.message") => {
                text("data.content")?.contains("an interactive tool")
            }
            _ => return None,
        };
        Some(if attended { Attendance::Attended } else { Attendance::Unattended })
    }

    /// Whether a line may have text or a tool call, judged by its bytes: most lines have neither and need not be
    /// parsed. Quotes inside JSON strings are escaped, so a match is always structure.
    pub fn may_speak(self, line: &[u8]) -> bool {
        // Most bytes of a Claude Code transcript are tool results. Text beside one in the same line is written by
        // the client, so the whole line is skipped.
        let (wanted, unwanted): (&[&str], &[&str]) = match self {
            TranscriptFormat::ClaudeCode => (&["user", "human", "assistant", "tool_use"], &["tool_result"]),
            TranscriptFormat::Codex => {
                (&["message", "function_call", "custom_tool_call", "local_shell_call"], &[])
            }
            TranscriptFormat::Gemini => (&["user", "gemini"], &[]),
            TranscriptFormat::Copilot => (&["user.message", "assistant.message"], &[]),
        };
        let mut speaks = false;
        for value in types(line) {
            if is_one_of(value, unwanted) {
                return false;
            }
            speaks |= is_one_of(value, wanted);
        }
        speaks
    }

    /// Parses one line. `None` if it has neither text of user or agent nor a tool call.
    pub fn read_line(self, line: &str) -> Option<TranscriptPart> {
        let json = Json::parse(line).ok()?;
        let fields = json.as_object()?;
        let part = match self {
            TranscriptFormat::ClaudeCode => claude_code(fields),
            TranscriptFormat::Codex => codex(fields),
            TranscriptFormat::Gemini => gemini(fields),
            TranscriptFormat::Copilot => copilot(fields),
        }?;
        (!part.text.is_empty() || !part.tools.is_empty()).then_some(part)
    }
}

/// Whether the JSON string that starts here is one of these names.
fn is_one_of(value: &[u8], names: &[&str]) -> bool {
    let ends = |after: &[u8]| after.first() == Some(&b'"');
    names.iter().any(|name| value.strip_prefix(name.as_bytes()).is_some_and(ends))
}

/// What follows each `"type":"` of a line, with or without a space after the colon.
fn types(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    const KEY: &[u8] = b"\"type\":";
    memmem::find_iter(line, KEY).filter_map(|at| {
        let rest = &line[at + KEY.len()..];
        rest.strip_prefix(b" ").unwrap_or(rest).strip_prefix(b"\"")
    })
}

fn claude_code(line: &Object) -> Option<TranscriptPart> {
    let set = |key: &str| line.get(key).and_then(Json::as_bool) == Some(true);
    // Text added by the client, subagents, summaries and notifications: neither user nor agent wrote it here.
    if set("isMeta") || set("isSidechain") || set("isCompactSummary") || line.at("origin.kind").is_some() {
        return None;
    }
    let speaker = match line.text("type")? {
        "user" | "human" => Speaker::Human,
        "assistant" => Speaker::Assistant,
        "tool_use" => {
            let name = line.text("name").or_else(|| line.text("tool_name")).unwrap_or("unknown");
            let tools = vec![name.to_owned()];
            return Some(TranscriptPart {
                id: None,
                speaker: Speaker::Assistant,
                text: String::new(),
                tools,
            });
        }
        _ => return None,
    };
    // An error message of the client in place of the model's answer.
    if line.at("message.model").and_then(Json::as_text) == Some("<synthetic>") {
        return None;
    }
    let content = line.at("message.content").or_else(|| line.get("content"))?;
    let id = line.at("message.id").and_then(Json::as_text).map(str::to_owned);
    Some(part(id, speaker, content, &["text"]))
}

fn codex(line: &Object) -> Option<TranscriptPart> {
    let payload = line.get("payload")?.as_object()?;
    match (line.text("type")?, payload.text("type")?) {
        ("response_item", "message") => {
            let speaker = match payload.text("role")? {
                "user" => Speaker::Human,
                "assistant" => Speaker::Assistant,
                _ => return None,
            };
            Some(part(None, speaker, payload.get("content")?, &["input_text", "output_text"]))
        }
        ("response_item", "function_call" | "custom_tool_call" | "local_shell_call") => {
            let tools = vec![payload.text("name").unwrap_or("shell").to_owned()];
            Some(TranscriptPart { id: None, speaker: Speaker::Assistant, text: String::new(), tools })
        }
        _ => None,
    }
}

/// Each message is one line. `$set` lines are ignored: they replace earlier messages by copies or by context that
/// the client generated.
fn gemini(line: &Object) -> Option<TranscriptPart> {
    let speaker = match line.text("type")? {
        "user" => Speaker::Human,
        "gemini" => Speaker::Assistant,
        _ => return None,
    };
    let content = line.get("content")?;
    let texts: Vec<&str> = match content.as_list() {
        Some(parts) => parts.iter().filter_map(|part| part.at("text")?.as_text()).collect(),
        None => content.as_text().into_iter().collect(),
    };
    let calls = line.get("toolCalls").and_then(Json::as_list).unwrap_or_default();
    let tools = calls.iter().filter_map(|call| call.at("name")?.as_text()).map(str::to_owned);
    Some(TranscriptPart { id: None, speaker, text: own_text(speaker, &texts), tools: tools.collect() })
}

fn copilot(line: &Object) -> Option<TranscriptPart> {
    let data = line.get("data")?.as_object()?;
    let speaker = match line.text("type")? {
        "user.message" => Speaker::Human,
        "assistant.message" => Speaker::Assistant,
        _ => return None,
    };
    let requests = data.get("toolRequests").and_then(Json::as_list).unwrap_or_default();
    let tools = requests.iter().filter_map(|request| request.at("name")?.as_text()).map(str::to_owned);
    let mut part = part(None, speaker, data.get("content").unwrap_or(&Json::Null), &["text"]);
    part.tools.extend(tools);
    Some(part)
}

/// The text and tool calls of a `content` value: a string, or a list of strings and blocks.
fn part(id: Option<String>, speaker: Speaker, content: &Json, text_blocks: &[&str]) -> TranscriptPart {
    let mut texts: Vec<&str> = content.as_text().into_iter().collect();
    let mut tools = Vec::new();
    for block in content.as_list().unwrap_or_default() {
        let kind = block.at("type").and_then(Json::as_text).unwrap_or_default();
        if kind == "tool_use" {
            tools.extend(block.at("name").and_then(Json::as_text).map(str::to_owned));
        }
        let said = if text_blocks.contains(&kind) { block.at("text") } else { Some(block) };
        texts.extend(said.and_then(Json::as_text));
    }
    TranscriptPart { id, speaker, text: own_text(speaker, &texts), tools }
}

fn own_text(speaker: Speaker, texts: &[&str]) -> String {
    let texts = texts.iter().filter_map(|text| own_words(speaker, text));
    texts.collect::<Vec<String>>().join("\n")
}

/// The text without injected elements. `None` if nothing is left, or if a program wrote it in the user's name.
pub fn own_words(speaker: Speaker, text: &str) -> Option<String> {
    let mut text = without_fences(text);
    if let Some(after) = after_interruption(&text) {
        text = after.to_owned();
    }
    let machine = speaker == Speaker::Human && is_machine_text(&text);
    (!machine && !text.trim().is_empty()).then_some(text)
}

/// What the user wrote after Claude Code's notice of an interruption, if that is in the same text.
fn after_interruption(text: &str) -> Option<&str> {
    let (first, after) = text.trim_start().split_once('\n')?;
    (first.starts_with(INTERRUPTION) && first.trim_end().ends_with(']')).then_some(after)
}

const INTERRUPTION: &str = "[Request interrupted by user";

/// Prefixes of texts that clients add as user messages.
const MACHINE_HEADS: &[&str] = &[
    "<command-",
    "<local-command",
    "<bash-",
    "<task-notification>",
    "<environment_context>",
    "<user_instructions>",
    "# AGENTS.md instructions for ",
    "<hook_prompt",
    "Stop hook feedback:",
    "This session is being continued from a previous conversation",
    "Caveat: The messages below were generated by the user while running local commands.",
    "Base directory for this skill:",
    INTERRUPTION,
    STOP_HEAD,
];

/// Whether a program wrote the prompt: a client's notice, hook feedback, or our own stop text.
pub fn is_machine_text(text: &str) -> bool {
    let text = text.trim_start();
    MACHINE_HEADS.iter().any(|head| text.starts_with(head))
}

/// Elements for text injected by lorelane, the `claude-memory` scripts and the clients.
const FENCES: &[&str] = &[
    "lorelane-memory",
    "lorelane-standing",
    "lorelane-context",
    "memory-context",
    "triage_data",
    "system-reminder",
    "system_reminder",
    "hook_context",
];

/// Removes fenced elements. A tag that is never closed is left alone: somebody writes about it.
pub fn without_fences(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    // A name without a closing tag is not searched again; otherwise a text full of open tags would take quadratic
    // time.
    let mut names = FENCES.to_vec();
    while let Some(at) = rest.find('<') {
        let (before, from) = rest.split_at(at);
        kept.push_str(before);
        let opened = names.iter().position(|name| opens(from, name));
        let length = opened.and_then(|place| closed_after(from, names[place]));
        if let (Some(place), None) = (opened, length) {
            names.remove(place);
        }
        kept.push_str(if length.is_none() { "<" } else { "" });
        rest = &from[length.unwrap_or(1)..];
    }
    kept.push_str(rest);
    kept
}

fn opens(text: &str, name: &str) -> bool {
    let after = text[1..].strip_prefix(name);
    after.is_some_and(|after| after.starts_with(|c: char| c == '>' || c.is_whitespace()))
}

fn closed_after(text: &str, name: &str) -> Option<usize> {
    let close = format!("</{name}>");
    Some(steps::searched(text, text.find(&close))? + close.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Reads lines in reverse order, as a transcript is read.
    fn read(format: TranscriptFormat, lines: &[&str], max_messages: usize) -> Vec<String> {
        let mut backwards = ReverseReader::new(max_messages);
        for (at, line) in lines.iter().enumerate().rev() {
            let part = format.may_speak(line.as_bytes()).then(|| format.read_line(line)).flatten();
            if part.is_some_and(|part| !backwards.add(TranscriptPosition::Line(at as u64 + 1), part)) {
                break;
            }
        }
        let shown = |message: Message| {
            let TranscriptPosition::Line(line) = message.at else { panic!("lines only") };
            format!("{line} {:?} {:?} {:?}", message.speaker, message.text, message.tools)
        };
        backwards.finish().messages.into_iter().map(shown).collect()
    }

    #[test]
    fn claude_code_lines_become_messages() {
        let lines = [
            r#"{"type":"last-prompt","text":"We decided"}"#,
            r#"{"parentUuid":null,"isSidechain":false,"type":"user","message":{"role":"user","content":"Choose one"}}"#,
            r#"{"type":"api-request-blob","body":{"messages":[{"role":"user","type":"user","content":"Choose one"}]}}"#,
            r#"{"message":{"id":"m1","role":"assistant","content":[{"type":"thinking","thinking":"hm"}]},"type":"assistant"}"#,
            r#"{"message":{"id":"m1","role":"assistant","content":[{"type":"text","text":"Looking"}]},"type":"assistant"}"#,
            r#"{"message":{"id":"m1","role":"assistant","content":[{"type":"tool_use","name":"Bash","input":{}}]},"type":"assistant"}"#,
            r#"{"type":"user","message":{"content":[{"tool_use_id":"t","type":"tool_result","content":"we decided"}]},"toolUseResult":{"type":"text"}}"#,
            r#"{"message":{"id":"m1","role":"assistant","content":[{"type":"tool_use","name":"Read","input":{}}]},"type":"assistant"}"#,
            r#"{"message":{"id":"m2","role":"assistant","content":[{"type":"tool_use","name":"Bash","input":{}}]},"type":"assistant"}"#,
            r#"{"message":{"id":"m3","role":"assistant","content":[{"type":"text","text":"Use pnpm"}]}, "type": "assistant"}"#,
            r#"{"type":"attachment","attachment":{"type":"hook_success","content":"<memory-context>"}}"#,
            "not json at all \"type\":\"user\"",
            "{\"type\":\"user\",",
        ];
        assert_eq!(
            read(TranscriptFormat::ClaudeCode, &lines, 50),
            [
                r#"2 Human "Choose one" []"#,
                r#"5 Assistant "Looking" ["Bash", "Read"]"#,
                r#"9 Assistant "" ["Bash"]"#,
                r#"10 Assistant "Use pnpm" []"#,
            ]
        );
        assert_eq!(
            read(TranscriptFormat::ClaudeCode, &lines, 1),
            [r#"9 Assistant "" ["Bash"]"#, r#"10 Assistant "Use pnpm" []"#],
            "the uses of tools before the oldest message belong to it"
        );
    }

    #[test]
    fn what_the_user_writes_after_an_interruption_counts() {
        for (text, expected) in [
            ("[Request interrupted by user]", None),
            ("[Request interrupted by user for tool use]\n\n", None),
            ("[Request interrupted by user]\nuse tabs", Some("use tabs")),
            ("[Request interrupted by user\nuse tabs", None),
        ] {
            assert_eq!(own_words(Speaker::Human, text).as_deref(), expected, "{text:?}");
        }
    }

    #[test]
    fn what_programs_write_in_the_users_name_is_left_out() {
        let user = |content: &str, more: &str| {
            format!(r#"{{"type":"user","message":{{"role":"user","content":{content}}}{more}}}"#)
        };
        for line in [
            user(r#""Stop hook feedback:\n[x]: save""#, ""),
            user(r#""hello there""#, r#","isMeta":true"#),
            user(r#""hello there""#, r#","isSidechain":true"#),
            user(r#""hello there""#, r#","isCompactSummary":true"#),
            user(r#""hello there""#, r#","origin":{"kind":"task-notification"}"#),
            user(r#""<task-notification>done</task-notification>""#, ""),
            user(r#"" <command-name>/x</command-name>""#, ""),
            user(r#""<local-command-stdout>x</local-command-stdout>""#, ""),
            user(r#""This session is being continued from a previous conversation that ran out""#, ""),
            user(r#"[{"type":"text","text":"<system-reminder>x</system-reminder>"}]"#, ""),
            user(&Json::text(format!("{STOP_HEAD}\n- x")).render(crate::json::JsonFormat::LINE), ""),
            user("7", ""),
            r#"{"type":"user"}"#.to_owned(),
            r#"{"type":"assistant","message":{"model":"<synthetic>","content":[{"type":"text","text":"API Error"}]}}"#.to_owned(),
            "[]".to_owned(),
        ] {
            assert_eq!(TranscriptFormat::ClaudeCode.read_line(&line), None, "{line}");
        }
    }

    #[test]
    fn the_first_systems_flat_lines_are_read_too() {
        let lines = [
            r#"{"type": "human", "content": "Choose"}"#,
            r#"{"type": "tool_use", "name": "Bash"}"#,
            r#"{"type": "tool_result", "content": "x"}"#,
            r#"{"type": "assistant", "content": ["We", {"type": "text", "text": "chose"}, {"type": "image"}, 7]}"#,
        ];
        assert_eq!(
            read(TranscriptFormat::ClaudeCode, &lines, 50),
            [r#"1 Human "Choose" []"#, r#"2 Assistant "" ["Bash"]"#, r#"4 Assistant "We\nchose" []"#]
        );
    }

    #[test]
    fn the_lines_of_other_clients_become_messages() {
        let codex = [
            r#"{"timestamp":"t","type":"session_meta","payload":{"type":"message"}}"#,
            r#"{"timestamp":"t","type":"response_item","payload":{"type":"message","role":"developer","content":[{"type":"input_text","text":"rules"}]}}"#,
            r#"{"timestamp":"t","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>x</environment_context>"}]}}"#,
            r#"{"timestamp":"t","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Choose"}]}}"#,
            r#"{"timestamp":"t","type":"response_item","payload":{"type":"function_call","name":"shell","arguments":"{}"}}"#,
            r#"{"timestamp":"t","type":"event_msg","payload":{"type":"agent_message","message":"Chose"}}"#,
            r#"{"timestamp":"t","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Chose"}]}}"#,
        ];
        assert_eq!(
            read(TranscriptFormat::Codex, &codex, 50),
            [r#"4 Human "Choose" []"#, r#"5 Assistant "" ["shell"]"#, r#"7 Assistant "Chose" []"#]
        );
        let gemini = [
            r#"{"sessionId":"x","kind":"main"}"#,
            r#"{"$set":{"messages":[{"id":"a","type":"user","content":[{"text":"<session_context>x"}]}]}}"#,
            r#"{"id":"b","type":"user","content":[{"text":"Choose"},{"text":"<hook_context>&lt;lorelane-memory&gt;we chose</hook_context>"}]}"#,
            r#"{"id":"c","type":"gemini","content":"","toolCalls":[{"name":"read_file"}]}"#,
            r#"{"id":"d","type":"gemini","content":"Chose"}"#,
        ];
        assert_eq!(
            read(TranscriptFormat::Gemini, &gemini, 50),
            [r#"3 Human "Choose" []"#, r#"4 Assistant "" ["read_file"]"#, r#"5 Assistant "Chose" []"#]
        );
        let copilot = [
            r#"{"type":"session.start","data":{"sessionId":"x"}}"#,
            r#"{"type":"user.message","data":{"content":"Choose"}}"#,
            r#"{"type":"assistant.message","data":{"messageId":"m","content":"","toolRequests":[{"name":"bash"}]}}"#,
            r#"{"type":"assistant.message","data":{"messageId":"n","content":"Chose"}}"#,
        ];
        assert_eq!(
            read(TranscriptFormat::Copilot, &copilot, 50),
            [r#"2 Human "Choose" []"#, r#"3 Assistant "" ["bash"]"#, r#"4 Assistant "Chose" []"#]
        );
    }

    #[test]
    fn some_clients_tell_whether_somebody_is_there() {
        use Attendance::{Attended, Unattended};
        let codex = |trigger: &str| {
            format!(
                r#"{{"type":"event_msg","payload":{{"type":"task_started","turn_attribution":{{"turn_trigger":"{trigger}"}}}}}}"#
            )
        };
        let meta =
            |source: &str| format!(r#"{{"type":"session_meta","payload":{{"id":"x","source":{source}}}}}"#);
        let copilot = |content: &str| {
            format!(r#"{{"type":"system.message","data":{{"role":"system","content":"{content}"}}}}"#)
        };
        let said = r#"{"type":"response_item","payload":{"type":"message","text":"\"type\":\"session_meta\",\"source\":\"cli\""}}"#;
        for (format, line, expected) in [
            (TranscriptFormat::Codex, codex("user"), Some(Attended)),
            (TranscriptFormat::Codex, codex("exec"), Some(Unattended)),
            (TranscriptFormat::Codex, meta("\"cli\""), Some(Attended)),
            (TranscriptFormat::Codex, meta("\"vscode\""), Some(Attended)),
            (TranscriptFormat::Codex, meta("\"exec\""), Some(Unattended)),
            (TranscriptFormat::Codex, meta("{\"subagent\":\"review\"}"), None),
            (TranscriptFormat::Codex, said.to_owned(), None),
            (TranscriptFormat::Copilot, copilot("You are an interactive tool that helps"), Some(Attended)),
            (TranscriptFormat::Copilot, copilot("You are running in non-interactive mode"), Some(Unattended)),
            (TranscriptFormat::Copilot, copilot("Something else"), Some(Unattended)),
            (TranscriptFormat::Gemini, meta("\"cli\""), None),
            (TranscriptFormat::ClaudeCode, meta("\"cli\""), None),
            (TranscriptFormat::Codex, "{\"type\":\"session_meta\"".to_owned(), None),
        ] {
            assert_eq!(format.attendance(line.as_bytes()), expected, "{line}");
        }
    }

    #[test]
    fn our_own_fences_are_not_conversation() {
        for (text, kept) in [
            ("a <lorelane-memory x=\"1\">we decided</lorelane-memory> b", "a  b"),
            ("<lorelane-standing>\nx\n</lorelane-standing>c", "c"),
            ("<memory-context source=\"y\">a</memory-context><memory-context>b</memory-context>", ""),
            ("<memory-context> was never closed", "<memory-context> was never closed"),
            ("<memory-contexts>a</memory-contexts>", "<memory-contexts>a</memory-contexts>"),
            ("<system-reminder> <memory-context>a</memory-context> b", "<system-reminder>  b"),
            ("1 < 2 <", "1 < 2 <"),
        ] {
            assert_eq!(without_fences(text), kept, "{text}");
        }
    }

    // For every tag without a closing one, the rest of the text was searched.
    #[test]
    fn a_text_full_of_open_tags_is_searched_once_for_each_name() {
        let tags: String = FENCES.iter().map(|name| format!("<{name} ")).collect();
        for piece in [tags.as_str(), "<memory-context>", "<memory-context></memory-context>"] {
            let text = piece.repeat(2_000);
            let steps = steps::of(|| drop(without_fences(&text)));
            assert!(steps <= FENCES.len() * text.len(), "{piece}: {steps} steps for {} bytes", text.len());
        }
    }

    #[test]
    fn the_last_words_are_taken_once() {
        let conversation = Conversation::from_texts(Some("Choose"), Some("Looking\nWe chose pnpm\n"));
        for known in ["We chose pnpm", "Looking\nWe chose pnpm\n", "", " "] {
            assert_eq!(conversation.clone().ending_with(known), conversation, "{known:?}");
        }
        let more = conversation.ending_with("And yarn is out");
        assert_eq!((more.messages.len(), more.messages[2].text.as_str()), (3, "And yarn is out"));
        assert_eq!(Conversation::default().ending_with("x").messages.len(), 1);
    }

    #[test]
    fn lines_that_repeat_what_was_shown_are_left_out() {
        let conversation = Conversation::from_texts(
            Some("As decided: Use JWT for the API\nWe chose Redis"),
            Some("JWT it is"),
        );
        let shown = ["Use JWT for the API gateway".to_owned(), "use jwt for the api login".to_owned()];
        assert_eq!(conversation.clone().without_lines_of(&shown), conversation);
        let shown = ["use JWT tokens always".to_owned(), "JWT".to_owned()];
        assert_eq!(conversation.clone().without_lines_of(&shown), conversation, "one word is not telling");
        let conversation =
            Conversation::from_texts(Some("- Chose Redis over Postgres, as said\nWe chose pnpm"), None);
        let left = conversation.without_lines_of(&["chose redis over POSTGRES".to_owned()]);
        assert_eq!(left.messages[0].text, "We chose pnpm");
    }

    proptest! {
        #[test]
        fn any_line_is_read_without_panic(line in "\\PC*") {
            for format in [TranscriptFormat::ClaudeCode, TranscriptFormat::Codex, TranscriptFormat::Copilot] {
                format.may_speak(line.as_bytes());
                format.read_line(&line);
            }
            without_fences(&line);
        }

        #[test]
        fn a_line_that_speaks_is_never_skipped_unread(text in "\\PC+", blank in "[ ]?") {
            let said = Json::text(&text).render(crate::json::JsonFormat::LINE);
            let line = format!(r#"{{"type":{blank}"user","message":{{"content":{said}}}}}"#);
            prop_assert!(TranscriptFormat::ClaudeCode.may_speak(line.as_bytes()));
        }
    }
}
