//! What must hold after a run. It is checked on the requests that the model received, on the printed answer and on
//! the files: what a hook printed proves nothing.

use std::fs;

use lorelane_core::json::{Json, Object};

use super::run::Outcome;
use super::stub::Exchange;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expectation {
    /// A request of the agent has a text with all of these words.
    Sent(Vec<String>),
    /// No text of any request has these words.
    NeverSent(String),
    /// The last request has these words this many times: what was sent before is part of it.
    LastSent { words: String, times: usize },
    /// The agent sent this many requests.
    Requests(usize),
    /// The client printed this answer at the end of its last session, or of the one with this number.
    Result { answer: String, session: Option<usize> },
    /// The last request has this many tool results, each with these words.
    ToolResults { count: usize, has: String },
    /// The project does not have this file.
    NoFile(String),
    /// A file of the project does not contain these words.
    FileLacks { path: String, text: String },
}

impl Expectation {
    pub fn parse(fields: &Object) -> Result<Expectation, String> {
        let keys: Vec<&str> = fields.iter().map(|(key, _)| key).collect();
        let text =
            |key: &str| fields.text(key).map(str::to_owned).ok_or_else(|| format!("`{key}` is no text"));
        let number = |key: &str| {
            let number =
                fields.get(key).and_then(Json::as_u64).and_then(|number| usize::try_from(number).ok());
            number.ok_or_else(|| format!("`{key}` is no number"))
        };
        match keys.as_slice() {
            ["sent"] => {
                let words = fields.get("sent").map(Json::to_texts).unwrap_or_default();
                if words.is_empty() {
                    Err("`sent` is no list of texts".to_owned())
                } else {
                    Ok(Expectation::Sent(words))
                }
            }
            ["never_sent"] => text("never_sent").map(Expectation::NeverSent),
            ["last_sent", "times"] => {
                Ok(Expectation::LastSent { words: text("last_sent")?, times: number("times")? })
            }
            ["requests"] => number("requests").map(Expectation::Requests),
            ["result"] => Ok(Expectation::Result { answer: text("result")?, session: None }),
            ["result", "session"] => {
                Ok(Expectation::Result { answer: text("result")?, session: Some(number("session")?) })
            }
            ["tool_results", "has"] => {
                Ok(Expectation::ToolResults { count: number("tool_results")?, has: text("has")? })
            }
            ["no_file"] => text("no_file").map(Expectation::NoFile),
            ["file", "lacks"] => Ok(Expectation::FileLacks { path: text("file")?, text: text("lacks")? }),
            _ => Err(format!("no expectation has the keys {keys:?}")),
        }
    }

    /// Why the expectation is not met, or `None` if it is.
    pub fn breach(&self, outcome: &Outcome) -> Option<String> {
        let requests = outcome.agent_requests();
        match self {
            Expectation::Sent(words) => {
                let has_all = |text: &str| words.iter().all(|word| text.contains(word.as_str()));
                let sent = texts(&requests).any(has_all);
                (!sent).then(|| format!("no text of the {} requests has {words:?}", requests.len()))
            }
            Expectation::NeverSent(word) => {
                let all: Vec<&Exchange> = outcome.exchanges.iter().collect();
                let found =
                    texts(&all).find(|text| text.contains(word.as_str())).map(|text| around(text, word));
                found.map(|text| format!("a request has {word:?}: {text}"))
            }
            Expectation::LastSent { words, times } => {
                let parts = requests.last().map(|last| last.parts.as_slice()).unwrap_or_default();
                let found: usize = parts.iter().map(|part| part.text.matches(words.as_str()).count()).sum();
                (found != *times)
                    .then(|| format!("the last request has {words:?} {found} times, not {times}"))
            }
            Expectation::Requests(count) => {
                let asked = requests.len();
                (asked != *count).then(|| format!("the agent asked {asked} times, not {count}"))
            }
            Expectation::Result { answer, session } => {
                let printed = outcome.result(session.unwrap_or(outcome.sessions.len()));
                (printed.as_deref() != Some(answer)).then(|| format!("printed {printed:?}, not {answer:?}"))
            }
            Expectation::ToolResults { count, has } => {
                let parts = requests.last().map(|last| last.parts.as_slice()).unwrap_or_default();
                let results: Vec<&str> =
                    parts.iter().filter(|part| part.is_tool_result).map(|part| part.text.as_str()).collect();
                let fitting = results.iter().filter(|result| result.contains(has.as_str())).count();
                (fitting != *count)
                    .then(|| format!("{fitting} of these results, not {count}, have {has:?}: {results:#?}"))
            }
            Expectation::NoFile(path) => {
                outcome.sandbox.project().join(path).exists().then(|| format!("{path} is there"))
            }
            Expectation::FileLacks { path, text } => {
                match fs::read_to_string(outcome.sandbox.project().join(path)) {
                    Ok(found) => found.contains(text.as_str()).then(|| format!("{path} has {text:?}")),
                    Err(error) => Some(format!("cannot read {path}: {error}")),
                }
            }
        }
    }
}

fn texts<'a>(exchanges: &'a [&'a Exchange]) -> impl Iterator<Item = &'a str> {
    exchanges.iter().flat_map(|exchange| exchange.parts.iter().map(|part| part.text.as_str()))
}

/// The words with some text around them.
fn around(text: &str, word: &str) -> String {
    let at = text.find(word).unwrap_or(0);
    let before: String = text[..at].chars().rev().take(60).collect::<Vec<_>>().into_iter().rev().collect();
    let after: String = text[at..].chars().take(160).collect();
    format!("{before}{after}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clients::client::Kind;
    use crate::clients::wire::{Block, Part};
    use crate::process::Ended;
    use crate::sandbox::Sandbox;

    fn outcome() -> Outcome {
        let part = |text: &str, is_tool_result| Part {
            role: "user".to_owned(),
            text: text.to_owned(),
            is_tool_result,
        };
        let exchange = |by_agent, parts| Exchange {
            path: "/v1/messages".to_owned(),
            body: Json::Null,
            parts,
            by_agent,
            answer: vec![Block::Text("ok".to_owned())],
        };
        let exchanges = vec![
            exchange(true, vec![part("how do we sign?", false), part("denied: use it", true)]),
            exchange(false, vec![part("a title", false)]),
        ];
        let stdout = "{\"type\": \"assistant\"}\n{\"type\": \"result\", \"result\": \"Done.\"}\n".to_owned();
        let sandbox = Sandbox::empty("expectations").unwrap();
        fs::write(sandbox.project().join("there.txt"), "by hand").unwrap();
        let sessions = vec![Ended { stdout, stderr: String::new(), seconds: 0.1 }];
        Outcome { kind: Kind::ClaudeCode, exchanges, sessions, sandbox }
    }

    #[test]
    fn each_expectation_can_hold_and_can_fail() {
        let outcome = outcome();
        for (holds, fails) in [
            (r#"{"sent": ["how do", "sign"]}"#, r#"{"sent": ["how do", "denied"]}"#),
            (r#"{"never_sent": "lorelane"}"#, r#"{"never_sent": "a title"}"#),
            (r#"{"requests": 1}"#, r#"{"requests": 2}"#),
            (r#"{"result": "Done."}"#, r#"{"result": "Done"}"#),
            (r#"{"result": "Done.", "session": 1}"#, r#"{"result": "Done.", "session": 2}"#),
            (r#"{"tool_results": 1, "has": "use it"}"#, r#"{"tool_results": 1, "has": "sign"}"#),
            (r#"{"no_file": "absent.txt"}"#, r#"{"no_file": "there.txt"}"#),
            (r#"{"file": "there.txt", "lacks": "agent"}"#, r#"{"file": "there.txt", "lacks": "hand"}"#),
            (r#"{"file": "there.txt", "lacks": "agent"}"#, r#"{"file": "absent.txt", "lacks": "agent"}"#),
        ] {
            let breach = |text: &str| {
                let Json::Object(fields) = Json::parse(text).unwrap() else { panic!("{text}") };
                Expectation::parse(&fields).unwrap().breach(&outcome)
            };
            assert_eq!(breach(holds), None, "{holds}");
            assert!(breach(fails).is_some(), "{fails}");
        }
    }

    #[test]
    fn an_unknown_expectation_is_refused() {
        for text in
            [r#"{"snet": ["x"]}"#, r#"{"sent": []}"#, r#"{"sent": "x"}"#, r#"{"requests": "1"}"#, "{}"]
        {
            let Json::Object(fields) = Json::parse(text).unwrap() else { panic!("{text}") };
            assert!(Expectation::parse(&fields).is_err(), "{text}");
        }
    }
}
