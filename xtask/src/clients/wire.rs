//! The four model protocols: parsing requests and writing answers.
//!
//! A request is reduced to texts with a role, so that scenarios and expectations are the same for every client.

use lorelane_core::json::{Json, JsonFormat, Object};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wire {
    /// Anthropic Messages.
    Messages,
    /// OpenAI Responses.
    Responses,
    /// OpenAI Chat Completions.
    Chat,
    /// Gemini `generateContent` and `streamGenerateContent`.
    Gemini,
}

/// One part of the scripted model's answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Block {
    Text(String),
    Tool { name: String, input: Json },
}

/// One text of a request, as the model gets it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// As in the protocol; `system` also for instructions outside the conversation.
    pub role: String,
    pub text: String,
    pub is_tool_result: bool,
}

/// The HTTP response.
#[derive(Debug)]
pub struct Reply {
    pub content_type: &'static str,
    pub body: String,
}

pub fn object<const N: usize>(members: [(&str, Json); N]) -> Json {
    Json::Object(members.into_iter().collect())
}

pub fn list<const N: usize>(items: [Json; N]) -> Json {
    Json::List(items.into_iter().collect())
}

fn text(value: &str) -> Json {
    Json::text(value)
}

impl Wire {
    pub fn of(path: &str) -> Option<Wire> {
        let path = path.split('?').next().unwrap_or(path);
        if path.ends_with("/messages") {
            Some(Wire::Messages)
        } else if path.ends_with("/responses") {
            Some(Wire::Responses)
        } else if path.ends_with("/chat/completions") {
            Some(Wire::Chat)
        } else if path.ends_with(":generateContent") || path.ends_with(":streamGenerateContent") {
            Some(Wire::Gemini)
        } else {
            None
        }
    }

    /// Every text of the request in order, instructions outside the conversation first.
    pub fn parts(self, body: &Json) -> Vec<Part> {
        let mut parts = Vec::new();
        let (beside, turns) = match self {
            Wire::Messages => ("system", "messages"),
            Wire::Responses => ("instructions", "input"),
            Wire::Chat => ("", "messages"),
            Wire::Gemini => ("systemInstruction", "contents"),
        };
        if let Some(beside) = body.at(beside) {
            collect("system", false, beside, &mut parts);
        }
        for turn in body.at(turns).and_then(Json::as_list).unwrap_or_default() {
            let role = turn.at("role").and_then(Json::as_text).unwrap_or("tool");
            collect(role, role == "tool", turn, &mut parts);
        }
        parts
    }

    /// `number` makes the ids of one run unique.
    pub fn reply(self, path: &str, body: &Json, blocks: &[Block], number: usize) -> Reply {
        let streams = match self {
            Wire::Gemini => path.contains("stream"),
            _ => body.at("stream").and_then(Json::as_bool) == Some(true),
        };
        match (self, streams) {
            (Wire::Messages, true) => events(&messages_events(body, blocks, number), ""),
            (Wire::Messages, false) => document(&messages_document(body, blocks, number)),
            (Wire::Responses, true) => events(&responses_events(blocks, number), ""),
            (Wire::Responses, false) => document(&responses_document(blocks, number)),
            (Wire::Chat, true) => events(&chat_events(blocks, number), "data: [DONE]\n\n"),
            (Wire::Chat, false) => document(&chat_document(blocks, number)),
            (Wire::Gemini, true) => events(&[gemini_document(blocks, number)], ""),
            (Wire::Gemini, false) => document(&gemini_document(blocks, number)),
        }
    }
}

/// Whether the request offers tools: only the agent's turns do, titles and summaries do not.
pub fn offers_tools(body: &Json) -> bool {
    body.at("tools").and_then(Json::as_list).is_some_and(|tools| !tools.is_empty())
}

/// Visits the places where the four protocols have text for the model.
fn collect(role: &str, in_result: bool, value: &Json, parts: &mut Vec<Part>) {
    match value {
        Json::Text(text) => {
            let text = as_hook_said(text);
            parts.push(Part { role: role.to_owned(), text, is_tool_result: in_result });
        }
        Json::List(items) => items.iter().for_each(|item| collect(role, in_result, item, parts)),
        Json::Object(object) => {
            let kind = object.text("type").unwrap_or_default();
            let in_result = in_result || kind == "tool_result" || kind == "function_call_output";
            for key in ["text", "content", "parts", "output"] {
                if let Some(inner) = object.get(key) {
                    collect(role, in_result, inner, parts);
                }
            }
            if let Some(response) = object.get("functionResponse").and_then(|called| called.at("response")) {
                response.each_text(&mut |_, text| collect(role, true, &Json::text(text), parts));
            }
        }
        Json::Null | Json::Bool(_) | Json::Number(_) => {}
    }
}

/// Gemini escapes the output of a hook and wraps it in a fence of its own; this restores the output.
fn as_hook_said(text: &str) -> String {
    if !text.starts_with("<hook_context>") {
        return text.to_owned();
    }
    let plain = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")];
    plain.iter().fold(text.to_owned(), |text, (escaped, plain)| text.replace(escaped, plain))
}

fn document(value: &Json) -> Reply {
    Reply { content_type: "application/json", body: value.render(JsonFormat::LINE) }
}

/// Server-sent events. Protocols that name their events have the name inside as well.
fn events(values: &[Json], end: &str) -> Reply {
    let mut body = String::new();
    for value in values {
        let named = value.at("type").and_then(Json::as_text);
        if let Some(name) = named {
            body.push_str(&format!("event: {name}\n"));
        }
        body.push_str(&format!("data: {}\n\n", value.render(JsonFormat::LINE)));
    }
    body.push_str(end);
    Reply { content_type: "text/event-stream", body }
}

fn has_tool(blocks: &[Block]) -> bool {
    blocks.iter().any(|block| matches!(block, Block::Tool { .. }))
}

fn numbers(members: &[(&str, u32)]) -> Json {
    Json::Object(members.iter().map(|(key, value)| (*key, Json::number(value))).collect())
}

fn messages_usage() -> Json {
    numbers(&[
        ("input_tokens", 100),
        ("output_tokens", 20),
        ("cache_creation_input_tokens", 0),
        ("cache_read_input_tokens", 0),
    ])
}

fn messages_stop(blocks: &[Block]) -> Json {
    text(if has_tool(blocks) { "tool_use" } else { "end_turn" })
}

fn messages_block(block: &Block, number: usize, at: usize) -> Json {
    match block {
        Block::Text(said) => object([("type", text("text")), ("text", text(said))]),
        Block::Tool { name, input } => object([
            ("type", text("tool_use")),
            ("id", Json::text(format!("toolu_stub{number:04}{at}"))),
            ("name", text(name)),
            ("input", input.clone()),
        ]),
    }
}

fn messages_head(body: &Json, number: usize, content: Vec<Json>, stop: Json) -> Json {
    object([
        ("id", Json::text(format!("msg_stub{number:04}"))),
        ("type", text("message")),
        ("role", text("assistant")),
        ("model", body.at("model").cloned().unwrap_or_else(|| text("stub"))),
        ("content", Json::List(content)),
        ("stop_reason", stop),
        ("stop_sequence", Json::Null),
        ("usage", messages_usage()),
    ])
}

fn messages_document(body: &Json, blocks: &[Block], number: usize) -> Json {
    let content = blocks.iter().enumerate().map(|(at, block)| messages_block(block, number, at)).collect();
    messages_head(body, number, content, messages_stop(blocks))
}

fn messages_events(body: &Json, blocks: &[Block], number: usize) -> Vec<Json> {
    let head = messages_head(body, number, Vec::new(), Json::Null);
    let mut events = vec![object([("type", text("message_start")), ("message", head)])];
    for (at, block) in blocks.iter().enumerate() {
        let index = || Json::number(at);
        let (start, delta) = match block {
            Block::Text(said) => (
                object([("type", text("text")), ("text", text(""))]),
                object([("type", text("text_delta")), ("text", text(said))]),
            ),
            Block::Tool { input, .. } => {
                let mut start = messages_block(block, number, at);
                if let Json::Object(start) = &mut start {
                    start.set("input", Json::Object(Object::new()));
                }
                let input = Json::text(input.render(JsonFormat::LINE));
                (start, object([("type", text("input_json_delta")), ("partial_json", input)]))
            }
        };
        events.push(object([
            ("type", text("content_block_start")),
            ("index", index()),
            ("content_block", start),
        ]));
        events.push(object([("type", text("content_block_delta")), ("index", index()), ("delta", delta)]));
        events.push(object([("type", text("content_block_stop")), ("index", index())]));
    }
    let end = object([("stop_reason", messages_stop(blocks)), ("stop_sequence", Json::Null)]);
    events.push(object([("type", text("message_delta")), ("delta", end), ("usage", messages_usage())]));
    events.push(object([("type", text("message_stop"))]));
    events
}

fn responses_item(block: &Block, number: usize, at: usize) -> Json {
    match block {
        Block::Text(said) => object([
            ("type", text("message")),
            ("id", Json::text(format!("m{number}_{at}"))),
            ("role", text("assistant")),
            ("status", text("completed")),
            (
                "content",
                list([object([
                    ("type", text("output_text")),
                    ("text", text(said)),
                    ("annotations", Json::List(Vec::new())),
                ])]),
            ),
        ]),
        Block::Tool { name, input } => {
            // Codex offers the tools of a server as a namespace; a scenario writes `NAMESPACE/NAME`.
            let (namespace, name) = match name.split_once('/') {
                Some((namespace, name)) => (Some(("namespace", text(namespace))), name),
                None => (None, name.as_str()),
            };
            let call = [
                ("type", text("function_call")),
                ("id", Json::text(format!("f{number}_{at}"))),
                ("call_id", Json::text(format!("call_{number}_{at}"))),
                ("name", text(name)),
                ("arguments", Json::text(input.render(JsonFormat::LINE))),
                ("status", text("completed")),
            ];
            Json::Object(call.into_iter().chain(namespace).collect())
        }
    }
}

fn responses_items(blocks: &[Block], number: usize) -> Vec<Json> {
    blocks.iter().enumerate().map(|(at, block)| responses_item(block, number, at)).collect()
}

fn responses_document(blocks: &[Block], number: usize) -> Json {
    let usage = object([
        ("input_tokens", Json::number(100)),
        ("input_tokens_details", numbers(&[("cached_tokens", 0)])),
        ("output_tokens", Json::number(10)),
        ("output_tokens_details", numbers(&[("reasoning_tokens", 0)])),
        ("total_tokens", Json::number(110)),
    ]);
    object([
        ("id", Json::text(format!("resp_{number}"))),
        ("object", text("response")),
        ("status", text("completed")),
        ("output", Json::List(responses_items(blocks, number))),
        ("usage", usage),
    ])
}

fn responses_events(blocks: &[Block], number: usize) -> Vec<Json> {
    let begun = object([
        ("id", Json::text(format!("resp_{number}"))),
        ("object", text("response")),
        ("status", text("in_progress")),
        ("output", Json::List(Vec::new())),
    ]);
    let mut events = vec![object([("type", text("response.created")), ("response", begun)])];
    for (at, item) in responses_items(blocks, number).into_iter().enumerate() {
        for kind in ["response.output_item.added", "response.output_item.done"] {
            events.push(object([
                ("type", text(kind)),
                ("output_index", Json::number(at)),
                ("item", item.clone()),
            ]));
        }
    }
    let ended = responses_document(blocks, number);
    events.push(object([("type", text("response.completed")), ("response", ended)]));
    events
}

fn chat_call(name: &str, input: &Json, number: usize, at: usize) -> Json {
    let function = object([("name", text(name)), ("arguments", Json::text(input.render(JsonFormat::LINE)))]);
    object([
        ("index", Json::number(at)),
        ("id", Json::text(format!("call_{number}_{at}"))),
        ("type", text("function")),
        ("function", function),
    ])
}

fn chat_usage() -> Json {
    numbers(&[("prompt_tokens", 10), ("completion_tokens", 5), ("total_tokens", 15)])
}

fn chat_end(blocks: &[Block]) -> Json {
    text(if has_tool(blocks) { "tool_calls" } else { "stop" })
}

fn chat_events(blocks: &[Block], number: usize) -> Vec<Json> {
    let chunk = |delta: Json, end: Json, usage: Option<Json>| {
        let choice = object([("index", Json::number(0)), ("delta", delta), ("finish_reason", end)]);
        let mut chunk = Object::new();
        chunk.set("id", Json::text(format!("chatcmpl-{number}")));
        chunk.set("object", text("chat.completion.chunk"));
        chunk.set("created", Json::number(1));
        chunk.set("model", text("stub"));
        chunk.set("choices", list([choice]));
        if let Some(usage) = usage {
            chunk.set("usage", usage);
        }
        Json::Object(chunk)
    };
    let deltas = blocks.iter().enumerate().map(|(at, block)| match block {
        Block::Text(said) => object([("role", text("assistant")), ("content", text(said))]),
        Block::Tool { name, input } => {
            object([("role", text("assistant")), ("tool_calls", list([chat_call(name, input, number, at)]))])
        }
    });
    let mut events: Vec<Json> = deltas.map(|delta| chunk(delta, Json::Null, None)).collect();
    events.push(chunk(object([]), chat_end(blocks), Some(chat_usage())));
    events
}

fn chat_document(blocks: &[Block], number: usize) -> Json {
    let mut message = Object::new();
    message.set("role", text("assistant"));
    let said: Vec<&str> = blocks
        .iter()
        .filter_map(|block| if let Block::Text(said) = block { Some(said.as_str()) } else { None })
        .collect();
    message.set("content", Json::text(said.join("\n")));
    let calls: Vec<Json> = blocks
        .iter()
        .enumerate()
        .filter_map(|(at, block)| match block {
            Block::Tool { name, input } => Some(chat_call(name, input, number, at)),
            Block::Text(_) => None,
        })
        .collect();
    if !calls.is_empty() {
        message.set("tool_calls", Json::List(calls));
    }
    let choice = object([
        ("index", Json::number(0)),
        ("message", Json::Object(message)),
        ("finish_reason", chat_end(blocks)),
    ]);
    object([
        ("id", Json::text(format!("chatcmpl-{number}"))),
        ("object", text("chat.completion")),
        ("created", Json::number(1)),
        ("model", text("stub")),
        ("choices", list([choice])),
        ("usage", chat_usage()),
    ])
}

fn gemini_document(blocks: &[Block], number: usize) -> Json {
    let parts = blocks.iter().enumerate().map(|(at, block)| match block {
        Block::Text(said) => object([("text", text(said))]),
        Block::Tool { name, input } => {
            let call = object([
                ("id", Json::text(format!("g{number}_{at}"))),
                ("name", text(name)),
                ("args", input.clone()),
            ]);
            object([("functionCall", call)])
        }
    });
    let content = object([("role", text("model")), ("parts", Json::List(parts.collect()))]);
    let candidate =
        object([("content", content), ("finishReason", text("STOP")), ("index", Json::number(0))]);
    object([
        ("candidates", list([candidate])),
        (
            "usageMetadata",
            numbers(&[("promptTokenCount", 10), ("candidatesTokenCount", 5), ("totalTokenCount", 15)]),
        ),
        ("modelVersion", text("stub")),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(wire: Wire, body: &str) -> Vec<String> {
        let parts = wire.parts(&Json::parse(body).unwrap());
        parts
            .iter()
            .map(|part| format!("{}{}: {}", part.role, if part.is_tool_result { "*" } else { "" }, part.text))
            .collect()
    }

    #[test]
    fn every_protocol_shows_its_texts_and_marks_what_tools_said() {
        for (wire, body, expected) in [
            (
                Wire::Messages,
                r#"{"system":[{"type":"text","text":"be brief"}],"messages":[{"role":"user","content":"hello"},
                {"role":"user","content":[{"type":"text","text":"more"},{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"denied"}]}]}]}"#,
                vec!["system: be brief", "user: hello", "user: more", "user*: denied"],
            ),
            (
                Wire::Responses,
                r#"{"instructions":"be brief","input":[{"type":"message","role":"developer","content":[{"type":"input_text","text":"hello"}]},
                {"type":"function_call_output","call_id":"c","output":"denied"}]}"#,
                vec!["system: be brief", "developer: hello", "tool*: denied"],
            ),
            (
                Wire::Chat,
                r#"{"messages":[{"role":"system","content":"be brief"},{"role":"user","content":[{"type":"text","text":"hello"}]},{"role":"tool","content":"denied"}]}"#,
                vec!["system: be brief", "user: hello", "tool*: denied"],
            ),
            (
                Wire::Gemini,
                r#"{"systemInstruction":{"parts":[{"text":"be brief"}]},"contents":[{"role":"user","parts":[{"text":"hello"},
                {"text":"<hook_context>&lt;a&gt; &amp;lt;</hook_context>"},
                {"functionResponse":{"name":"x","response":{"error":"denied"}}}]}]}"#,
                vec![
                    "system: be brief",
                    "user: hello",
                    "user: <hook_context><a> &lt;</hook_context>",
                    "user*: denied",
                ],
            ),
        ] {
            assert_eq!(said(wire, body), expected, "{wire:?}");
        }
    }

    #[test]
    fn a_path_tells_the_protocol() {
        for (path, expected) in [
            ("/v1/messages?beta=true", Some(Wire::Messages)),
            ("/v1/messages/count_tokens", None),
            ("/v1/responses", Some(Wire::Responses)),
            ("/v1/chat/completions", Some(Wire::Chat)),
            ("/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse", Some(Wire::Gemini)),
            ("/v1beta/models/gemini-2.5-flash:countTokens", None),
            ("/v1/models", None),
        ] {
            assert_eq!(Wire::of(path), expected, "{path}");
        }
    }
}
