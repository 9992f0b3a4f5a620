//! A record cut into passages.

use super::model::BYTE_ORDER_MARK;
use crate::json::{Document, JsonNode, NodeKind};
use crate::passage::{PASSAGE_TOKENS, Passage};
use crate::text::tokens;

/// The passages of a record's text: the members of its content, joined up to a size, each with the lines on which
/// it stands. Members on one line share it.
pub(super) fn passages(text: &str) -> Vec<Passage> {
    // A byte-order mark is no part of the JSON, and none of its lines.
    let body = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    let content = Document::parse(body).ok().and_then(|document| member(document.root, "content"));
    let Some(NodeKind::Object(members)) = content.map(|content| content.kind) else { return Vec::new() };
    // Members come in the order of the text, so its lines are counted once.
    let (mut counted, mut line) = (0, 1);
    let mut line_of = |at: usize| {
        line += body[counted..at].matches('\n').count();
        counted = at;
        line
    };
    let mut passages: Vec<Passage> = Vec::new();
    for member in members {
        let lines = (line_of(member.key_span.start), line_of(member.value.span.end));
        let mut said = String::new();
        member.value.into_json().append_texts(&mut said);
        if said.trim().is_empty() {
            continue;
        }
        match passages.last_mut() {
            Some(last) if tokens(&last.text) + tokens(&said) <= PASSAGE_TOKENS => {
                last.text.push('\n');
                last.text.push_str(&said);
                last.lines.1 = lines.1;
            }
            _ => passages.push(Passage { headings: Vec::new(), section: 0, lines, text: said }),
        }
    }
    passages
}

fn member(node: JsonNode, key: &str) -> Option<JsonNode> {
    let NodeKind::Object(members) = node.kind else { return None };
    // Of doubled keys the last one counts.
    members.into_iter().rev().find(|member| member.key == key).map(|member| member.value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_gives_its_content_with_its_lines() {
        let long = "because it is stateless and we need no shared store ".repeat(20);
        let record = format!(
            "{{\n  \"title\": \"x\",\n  \"content\": {{\n    \"context\": \"c\",\n    \"rationale\": [\n      \"{long}\"\n    ],\n    \"n\": 1\n  }}\n}}"
        );
        let lines: Vec<_> = passages(&record).iter().map(|passage| passage.lines).collect();
        assert_eq!(lines, [(4, 4), (5, 7)]);
        assert_eq!(passages("not json"), []);
    }
}
