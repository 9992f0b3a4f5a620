//! Cuts a record into passages.

use super::model::without_mark;
use crate::dialect::{Document, Syntax};
use crate::json::{JsonNode, NodeKind};
use crate::passage::{PASSAGE_SIZE, Passage, passage_size};

/// The passages of a record: the members of its content, joined up to a maximum size, with their line ranges.
/// Members on the same line have the same range.
pub(super) fn passages(document: &Document) -> Vec<Passage> {
    let Syntax::Record(root) = &document.syntax else { return Vec::new() };
    let Some(NodeKind::Object(members)) = member(root, "content").map(|content| &content.kind) else {
        return Vec::new();
    };
    // Spans are relative to the text after a byte-order mark; the mark adds no line.
    let body = without_mark(&document.text);
    // Members are in text order, so line ends are counted in one pass.
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
        member.value.to_json().append_texts(&mut said);
        if said.trim().is_empty() {
            continue;
        }
        match passages.last_mut() {
            Some(last) if passage_size(&last.text) + passage_size(&said) <= PASSAGE_SIZE => {
                last.text.push('\n');
                last.text.push_str(&said);
                last.lines.1 = lines.1;
            }
            _ => passages.push(Passage { headings: Vec::new(), section: 0, lines, text: said }),
        }
    }
    passages
}

fn member<'n>(node: &'n JsonNode, key: &str) -> Option<&'n JsonNode> {
    let NodeKind::Object(members) = &node.kind else { return None };
    // The last one of duplicate keys wins.
    members.iter().rev().find(|member| member.key == key).map(|member| &member.value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::Dialect;
    use crate::dialect::records::Records;
    use crate::path::RelPath;

    #[test]
    fn a_record_gives_its_content_with_its_lines() {
        let long = "because it is stateless and we need no shared store ".repeat(20);
        let record = format!(
            "{{\n  \"title\": \"x\",\n  \"content\": {{\n    \"context\": \"c\",\n    \"rationale\": [\n      \"{long}\"\n    ],\n    \"n\": 1\n  }}\n}}"
        );
        let read = |text: &str| {
            let path = RelPath::parse("decisions/x.json").unwrap();
            passages(&Records::new(".").read(&path, text.into()).document)
        };
        let lines: Vec<_> = read(&record).iter().map(|passage| passage.lines).collect();
        assert_eq!(lines, [(4, 4), (5, 7)]);
        assert_eq!(read("not json"), []);
    }
}
