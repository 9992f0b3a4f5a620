//! The requests that every client sends, and what must hold for the answers.

use lorelane_core::json::{Json, JsonFormat};

#[derive(Debug)]
pub(super) struct Question {
    /// What must hold for the answer.
    pub(super) about: &'static str,
    pub(super) method: &'static str,
    /// The name of a tool or a prompt, or the URI of a resource.
    pub(super) name: Option<&'static str>,
    pub(super) arguments: &'static [(&'static str, &'static str)],
    holds: fn(&Json) -> bool,
}

const ADDRESS: &str = "decision/sign-sessions-with-paseto";
const URI: &str = "lorelane://records/decision/sign-sessions-with-paseto";

/// The requests for one profile.
#[derive(Debug)]
pub(super) struct Sheet {
    pub(super) profile: &'static str,
    pub(super) questions: &'static [Question],
}

pub(super) static AGENT: Sheet = Sheet { profile: "agent", questions: AGENT_QUESTIONS };

/// The profiles beside the default one.
pub(super) static OTHERS: [Sheet; 2] = [
    Sheet { profile: "notes", questions: NOTES_QUESTIONS },
    Sheet { profile: "api-memory", questions: FILES_QUESTIONS },
];

const AGENT_QUESTIONS: &[Question] = &[
    Question {
        about: "eight tools are listed, each with a description and hints",
        method: "tools/list",
        name: None,
        arguments: &[],
        holds: |answer| {
            let tools = list(answer, "tools");
            let said =
                |tool: &Json| !text(tool, "description").is_empty() && tool.at("annotations").is_some();
            tools.len() == 8 && tools.iter().all(said)
        },
    },
    Question {
        about: "a search finds the memory",
        method: "tools/call",
        name: Some("memory_search"),
        arguments: &[("query", "how are sessions signed")],
        holds: |answer| !is_error(answer) && words(answer).contains(ADDRESS),
    },
    Question {
        about: "a list of memories is a document",
        method: "tools/call",
        name: Some("memory_list"),
        arguments: &[("status", "all")],
        holds: |answer| {
            let memories = list(answer, "structuredContent.memories");
            !is_error(answer) && memories.iter().any(|memory| text(memory, "address") == ADDRESS)
        },
    },
    Question {
        about: "the state of the store is a document",
        method: "tools/call",
        name: Some("memory_status"),
        arguments: &[],
        holds: |answer| !is_error(answer) && answer.at("structuredContent").is_some(),
    },
    Question {
        about: "what a tool cannot do is said inside its result",
        method: "tools/call",
        name: Some("memory_read"),
        arguments: &[("address", "decision/never-made")],
        holds: |answer| is_error(answer) && words(answer).contains("cannot find `decision/never-made`"),
    },
    Question {
        about: "a memory is listed as a resource",
        method: "resources/list",
        name: None,
        arguments: &[],
        holds: |answer| list(answer, "resources").iter().any(|resource| text(resource, "uri") == URI),
    },
    Question {
        about: "a resource is the text of its file",
        method: "resources/read",
        name: Some(URI),
        arguments: &[],
        holds: |answer| {
            let contents = list(answer, "contents");
            contents.iter().any(|part| text(part, "text").contains("PASETO v4.local for every session token"))
        },
    },
    Question {
        about: "four prompts are listed",
        method: "prompts/list",
        name: None,
        arguments: &[],
        holds: |answer| list(answer, "prompts").len() == 4,
    },
    Question {
        about: "a prompt is filled with its argument",
        method: "prompts/get",
        name: Some("recall"),
        arguments: &[("topic", "tokens of sessions")],
        holds: |answer| {
            let messages = list(answer, "messages");
            messages.iter().any(|message| text(message, "content.text").contains("tokens of sessions"))
        },
    },
];

const NOTES_QUESTIONS: &[Question] = &[
    Question {
        about: "the tools of the notes are listed, each with the schema of its answer",
        method: "tools/list",
        name: None,
        arguments: &[],
        holds: |answer| {
            let tools = list(answer, "tools");
            tools.len() == 17 && tools.iter().all(|tool| tool.at("outputSchema").is_some())
        },
    },
    Question {
        about: "a note is created",
        method: "tools/call",
        name: Some("create_memory"),
        arguments: &[
            ("filename", "auth-plan.md"),
            ("content", "Plan to refactor [[src/auth.py]] to PASETO."),
        ],
        holds: |answer| !is_error(answer) && told(answer).at("status") == Some(&Json::text("created")),
    },
    Question {
        about: "a search gives the list that was promised, and the same as structured content",
        method: "tools/call",
        name: Some("search_memories"),
        arguments: &[("query", "refactor auth to PASETO")],
        holds: |answer| {
            let told = told(answer);
            let first = told.as_list().and_then(|hits| hits.first());
            let found = first.is_some_and(|hit| text(hit, "memory_id") == "memory:auth-plan");
            !is_error(answer) && found && answer.at("structuredContent.result") == Some(&told)
        },
    },
    Question {
        about: "a linked file is found",
        method: "tools/call",
        name: Some("search_linked_memories"),
        arguments: &[("query", "plans"), ("target_document", "src/auth.py")],
        holds: |answer| {
            let hits = list(answer, "structuredContent.result");
            !is_error(answer) && hits.iter().any(|hit| text(hit, "edge_type") == "refactors")
        },
    },
    Question {
        about: "what a tool of the notes cannot do is said inside its result",
        method: "tools/call",
        name: Some("read_memory"),
        arguments: &[("filename", "never-made")],
        holds: |answer| {
            is_error(answer) && text(&told(answer), "error") == "Memory file not found: never-made.md"
        },
    },
];

const FILES_QUESTIONS: &[Question] = &[
    Question {
        about: "six commands are listed",
        method: "tools/list",
        name: None,
        arguments: &[],
        holds: |answer| list(answer, "tools").len() == 6,
    },
    Question {
        about: "a file is created",
        method: "tools/call",
        name: Some("create"),
        arguments: &[("path", "/memories/progress.md"), ("file_text", "Half of it is done.")],
        holds: |answer| !is_error(answer),
    },
    Question {
        about: "a folder is listed",
        method: "tools/call",
        name: Some("view"),
        arguments: &[("path", "/memories")],
        holds: |answer| !is_error(answer) && words(answer).contains("\t/memories/progress.md\n"),
    },
];

/// The JSON in the text of an answer.
fn told(answer: &Json) -> Json {
    Json::parse(&words(answer)).unwrap_or(Json::Null)
}

impl Question {
    /// In the form that the scripts read.
    pub(super) fn request(&self) -> Json {
        let mut params = Vec::new();
        if let Some(name) = self.name {
            params.push((if self.method == "resources/read" { "uri" } else { "name" }, Json::text(name)));
            let arguments = self.arguments.iter().map(|(key, value)| (*key, Json::text(*value)));
            params.push(("arguments", Json::Object(arguments.collect())));
        }
        let params = Json::Object(params.into_iter().collect());
        Json::Object([("method", Json::text(self.method)), ("params", params)].into_iter().collect())
    }
}

/// Every expectation that the answers do not meet.
pub(super) fn breaches(questions: &[Question], answers: &[Json]) -> Vec<String> {
    if answers.len() != questions.len() {
        return vec![format!("{} answers to {} questions", answers.len(), questions.len())];
    }
    let mut breaches = Vec::new();
    for (question, answer) in questions.iter().zip(answers) {
        let fits = match answer.at("structuredContent") {
            Some(document) => schema(answers, question).is_none_or(|schema| fits(schema, document)),
            None => true,
        };
        for (holds, about) in
            [((question.holds)(answer), question.about), (fits, "a document fits its schema")]
        {
            if !holds {
                let answer: String = answer.render(JsonFormat::LINE).chars().take(600).collect();
                breaches.push(format!("{about}: {} gave {answer}", question.name.unwrap_or(question.method)));
            }
        }
    }
    breaches
}

/// The output schema of a tool, from the list of tools.
fn schema<'a>(answers: &'a [Json], question: &Question) -> Option<&'a Json> {
    let mut listed = answers.iter().flat_map(|answer| list(answer, "tools"));
    listed.find(|tool| Some(text(tool, "name")) == question.name)?.at("outputSchema")
}

/// Whether a value has the type of its schema, recursively. Our schemas use nothing but types.
fn fits(schema: &Json, value: &Json) -> bool {
    match (text(schema, "type"), value) {
        ("string", Json::Text(_)) | ("boolean", Json::Bool(_)) | ("number", Json::Number(_)) => true,
        ("integer", Json::Number(_)) => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        ("array", Json::List(items)) => {
            schema.at("items").is_none_or(|schema| items.iter().all(|item| fits(schema, item)))
        }
        ("object", Json::Object(members)) => {
            let required = schema.at("required").map(Json::to_texts).unwrap_or_default();
            let known = schema.at("properties").and_then(Json::as_object);
            let member_fits = |(key, value): (&str, &Json)| {
                known.and_then(|known| known.get(key)).is_none_or(|schema| fits(schema, value))
            };
            required.iter().all(|key| members.get(key).is_some()) && members.iter().all(member_fits)
        }
        _ => false,
    }
}

fn is_error(answer: &Json) -> bool {
    answer.at("isError") == Some(&Json::Bool(true))
}

fn words(answer: &Json) -> String {
    list(answer, "content").iter().map(|part| text(part, "text")).collect()
}

fn list<'j>(json: &'j Json, path: &str) -> &'j [Json] {
    json.at(path).and_then(Json::as_list).unwrap_or_default()
}

fn text<'j>(json: &'j Json, path: &str) -> &'j str {
    json.at(path).and_then(Json::as_text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &str) -> Json {
        Json::parse(text).unwrap()
    }

    #[test]
    fn a_document_fits_the_types_that_its_schema_names() {
        let schema = json(
            r#"{"type": "object", "required": ["total"], "properties": {"total": {"type": "integer"},
                "names": {"type": "array", "items": {"type": "string"}}}}"#,
        );
        for (document, expected) in [
            (r#"{"total": 1, "names": ["a"]}"#, true),
            (r#"{"total": 1, "more": null}"#, true),
            (r#"{"names": []}"#, false),
            (r#"{"total": 1.5}"#, false),
            (r#"{"total": "1"}"#, false),
            (r#"{"total": 1, "names": [1]}"#, false),
            ("[]", false),
        ] {
            assert_eq!(fits(&schema, &json(document)), expected, "{document}");
        }
    }

    #[test]
    fn an_answer_that_is_missing_or_empty_is_a_breach() {
        for Sheet { questions, .. } in std::iter::once(&AGENT).chain(&OTHERS) {
            assert_eq!(breaches(questions, &[]).len(), 1);
            let empty: Vec<Json> = questions.iter().map(|_| json(r#"{"isError": true}"#)).collect();
            assert_eq!(breaches(questions, &empty).len(), questions.len());
        }
    }
}
