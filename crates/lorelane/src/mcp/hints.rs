//! Replaces commands in hints by tools.
//!
//! Hints are written once, for the command line. An agent behind MCP may have no shell, so a command becomes the
//! tool that does the same, if the profile has one.

use super::answer::map_texts;
use lorelane_core::memory::Address;
use serde_json::Value;

/// A command, the tool that does the same, and the tool's parameter for the memory's address.
pub(super) type Tools = &'static [(&'static str, &'static str, Option<&'static str>)];

const BEGINS: &str = "`lorelane ";
/// The members of documents that contain hints. Others may quote memories, which must not be changed.
const SAID: [&str; 6] = ["hint", "fix", "why", "notes", "attention", "vetoes_by_action"];

/// Replaces every command in backticks that has a tool.
pub(super) fn with_tools(text: &str, tools: Tools) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(BEGINS) {
        let (before, from) = rest.split_at(at);
        let Some(length) = from[BEGINS.len()..].find('`') else { break };
        let (command, after) = from[BEGINS.len()..].split_at(length);
        out.push_str(before);
        match tool_for(command, tools) {
            Some(tool) => out.push_str(&tool),
            None => out.push_str(&from[..BEGINS.len() + length + 1]),
        }
        rest = &after[1..];
    }
    out.push_str(rest);
    out
}

/// Like [`with_tools`], in the `fix:` lines of a refusal only: the other lines may quote the draft.
pub(super) fn with_tools_in_fixes(text: &str, tools: Tools) -> String {
    let line = |line: &str| match line.trim_start().starts_with("fix: ") {
        true => with_tools(line, tools),
        false => line.to_owned(),
    };
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

fn tool_for(command: &str, tools: Tools) -> Option<String> {
    let is_meant = |known: &str| {
        command.strip_prefix(known).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    };
    let (_, tool, parameter) = tools.iter().find(|(known, ..)| is_meant(known))?;
    let mut words = command.split(' ').filter(|word| word.contains('/'));
    let about = words.find(|word| Address::parse(word).is_some());
    Some(match (parameter, about) {
        (Some(parameter), Some(about)) => format!("{tool} ({parameter} {about})"),
        _ => (*tool).to_owned(),
    })
}

/// Like [`with_tools`], in the hints of a document.
pub(super) fn with_tools_in(document: &mut Value, tools: Tools) {
    match document {
        Value::Array(items) => items.iter_mut().for_each(|item| with_tools_in(item, tools)),
        Value::Object(object) => {
            for (key, value) in object {
                match SAID.contains(&key.as_str()) {
                    true => map_texts(value, &|text| with_tools(text, tools)),
                    false => with_tools_in(value, tools),
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const TOOLS: Tools = &[
        ("show", "memory_read", Some("address")),
        ("consolidate prepare", "memory_review_captures", None),
        ("list", "memory_list", None),
    ];

    #[test]
    fn a_command_becomes_the_tool_that_does_the_same() {
        let table = [
            (
                "read it with `lorelane show decision/use-jwt` again",
                "read it with memory_read (address decision/use-jwt) again",
            ),
            ("`lorelane list decision` shows all", "memory_list shows all"),
            ("run `lorelane consolidate prepare --session a/b`", "run memory_review_captures"),
            (
                "`lorelane restore decision/x`, or `lorelane list`",
                "`lorelane restore decision/x`, or memory_list",
            ),
            ("`lorelane listing`, `lorelane show", "`lorelane listing`, `lorelane show"),
            ("`show` and lorelane list stay", "`show` and lorelane list stay"),
        ];
        for (text, expected) in table {
            assert_eq!(with_tools(text, TOOLS), expected, "{text}");
        }
    }

    #[test]
    fn words_of_memories_stay_as_they_are() {
        let finding = json!({"hint": "`lorelane list`", "what": "`lorelane list`"});
        let mut document = json!({"title": "`lorelane list`", "findings": [finding]});
        with_tools_in(&mut document, TOOLS);
        let finding = json!({"hint": "memory_list", "what": "`lorelane list`"});
        assert_eq!(document, json!({"title": "`lorelane list`", "findings": [finding]}));
    }
}
