//! Questions that the agent asked in a form, with the user's answers.
//!
//! Claude Code writes both into the line of the tool's result, which is otherwise skipped: what is in it was mostly
//! written by a program. The question stays with its answer, because "the second one" alone says nothing.

use super::TranscriptFormat;
use crate::json::{Json, Object};
use memchr::memmem;

/// A question and what the user chose or typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnsweredQuestion {
    pub question: String,
    pub answer: String,
    /// What the form said about the chosen option.
    pub description: Option<String>,
}

/// Questions of one form; the client allows four.
const QUESTIONS_MAX: usize = 16;

impl TranscriptFormat {
    /// Whether a line may have answers, judged by its bytes. A key inside a JSON string has escaped quotes.
    pub fn may_answer(self, line: &[u8]) -> bool {
        self == TranscriptFormat::ClaudeCode && memmem::find(line, b"\"answers\":").is_some()
    }

    /// The questions and answers of a line.
    pub fn read_answers(self, line: &str) -> Vec<AnsweredQuestion> {
        let Ok(json) = Json::parse(line) else { return Vec::new() };
        let is_true = |key: &str| json.at(key).and_then(Json::as_bool) == Some(true);
        if json.at("type").and_then(Json::as_text) != Some("user") || is_true("isSidechain") {
            return Vec::new();
        }
        let Some(answers) = json.at("toolUseResult.answers").and_then(Json::as_object) else {
            return Vec::new();
        };
        let asked = json.at("toolUseResult.questions").and_then(Json::as_list).unwrap_or_default();
        let answered = answers.iter().take(QUESTIONS_MAX).filter_map(|(question, answer)| {
            let answer = answer.as_text()?.trim();
            let (question, answer) = (question.trim().to_owned(), answer.to_owned());
            let description = description_of(asked, &question, &answer);
            (!question.is_empty() && !answer.is_empty()).then_some(AnsweredQuestion {
                question,
                answer,
                description,
            })
        });
        answered.collect()
    }
}

fn description_of(asked: &[Json], question: &str, answer: &str) -> Option<String> {
    let text = |object: &Object, key: &str| object.text(key).map(str::to_owned);
    let is_meant = |asked: &&Json| asked.at("question").and_then(Json::as_text) == Some(question);
    let options = asked.iter().find(is_meant)?.at("options")?.as_list()?;
    let chosen =
        options.iter().filter_map(Json::as_object).find(|option| option.text("label") == Some(answer))?;
    text(chosen, "description").filter(|description| !description.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_stays_with_its_answer() {
        let line = r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"answered"}]},"toolUseResult":{"questions":[{"question":"Which store?","options":[{"label":"Postgres","description":"one server less"},{"label":"Redis"}]}],"answers":{"Which store?":"Postgres","Anything else?":"no","Empty?":" "}}}"#;
        let format = TranscriptFormat::ClaudeCode;
        assert!(format.may_answer(line.as_bytes()) && !TranscriptFormat::Codex.may_answer(line.as_bytes()));
        let answered = |question: &str, answer: &str, description: Option<&str>| AnsweredQuestion {
            question: question.to_owned(),
            answer: answer.to_owned(),
            description: description.map(str::to_owned),
        };
        assert_eq!(
            format.read_answers(line),
            [
                answered("Which store?", "Postgres", Some("one server less")),
                answered("Anything else?", "no", None)
            ]
        );
        for (other, may) in [
            (r#"{"type":"user","message":{"content":"{\"answers\":{\"a\":\"b\"}}"}}"#, false),
            (r#"{"type":"user","isSidechain":true,"toolUseResult":{"answers":{"a":"b"}}}"#, true),
            (r#"{"type":"user","toolUseResult":{"answers":["a"]}}"#, true),
            (r#"{"answers":{"a":"b"}"#, true),
        ] {
            assert_eq!(
                (format.may_answer(other.as_bytes()), format.read_answers(other)),
                (may, Vec::new()),
                "{other}"
            );
        }
    }
}
