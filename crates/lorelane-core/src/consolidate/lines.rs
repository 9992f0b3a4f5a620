//! Answers as lines: `key: value`, with an empty line between items.
//!
//! Agents are asked for this form, not for JSON: Claude Code takes a brace before a quote in a command for an attempt to
//! hide something and asks the user, whatever its permission rules say.

use super::answer::{ITEM_KEYS, fault};
use crate::dialect::records::draft::{self, DraftField};
use crate::json::{Json, Object};
use crate::memory::Category;
use crate::refusal::FieldFault;

/// Fields whose values are short and separated by commas.
const BY_COMMA: [&str; 2] = ["tags", "related_files"];

/// The items of an answer as lines, in the form of the JSON items.
pub(super) fn items(text: &str) -> Result<Vec<Json>, Vec<FieldFault>> {
    let (mut items, mut faults) = (Vec::new(), Vec::new());
    let mut block: Vec<&str> = Vec::new();
    for line in text.lines().chain([""]) {
        if !line.trim().is_empty() {
            block.push(line);
        } else if !block.is_empty() {
            let place = format!("items.{}.", items.len());
            items.push(Json::Object(item(&block, &place, &mut faults)));
            block.clear();
        }
    }
    if faults.is_empty() { Ok(items) } else { Err(faults) }
}

fn item(block: &[&str], place: &str, faults: &mut Vec<FieldFault>) -> Object {
    let category = block.iter().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        (key.trim() == "category").then(|| Category::parse(value.trim()))?
    });
    let fields = category.map(draft::wanted).unwrap_or_default();
    let mut item = Object::new();
    let mut draft = Object::new();
    for (key, value) in pairs(block) {
        let field = fields.iter().find(|field| name_of(field) == key);
        match field {
            Some(field) => put(&mut draft, field, &value),
            None if key == "issues" => item.set(key, Json::texts([value.trim()])),
            None if is_item_key(key) => {
                let number = value.parse::<u64>().ok().filter(|_| key == "item");
                item.set(key, number.map_or_else(|| Json::text(value.trim()), Json::number));
            }
            None => {
                let mut names: Vec<&str> = fields.iter().map(name_of).collect();
                item_keys().for_each(|key| names.push(key));
                let expected = format!("one of {}", names.join(", "));
                faults.push(fault(
                    &format!("{place}{key}"),
                    &expected,
                    Some(&Json::text(value)),
                    "remove it",
                ));
            }
        }
    }
    if !item.contains("action") {
        item.set("action", Json::text("CREATE"));
    }
    if draft.iter().next().is_some() {
        item.set("draft", Json::Object(draft));
    }
    item
}

/// The keys with their values. A line that begins with no known key continues the value before it.
fn pairs<'b>(block: &[&'b str]) -> Vec<(&'b str, String)> {
    let mut pairs: Vec<(&str, String)> = Vec::new();
    for line in block {
        let known = line.split_once(':').filter(|(key, _)| is_key(key.trim()));
        match (known, pairs.last_mut()) {
            (Some((key, value)), _) => pairs.push((key.trim(), value.trim().to_owned())),
            (None, Some((_, value))) => {
                value.push('\n');
                value.push_str(line.trim());
            }
            // Reported as an unknown key.
            (None, None) => pairs.push((line.split(':').next().unwrap_or_default(), String::new())),
        }
    }
    pairs
}

/// Whether it is a key of an item, or a field of any category.
fn is_key(word: &str) -> bool {
    let is_field = |category: Category| draft::wanted(category).iter().any(|field| name_of(field) == word);
    is_item_key(word) || Category::ALL.into_iter().any(is_field)
}

fn is_item_key(word: &str) -> bool {
    item_keys().any(|key| key == word)
}

/// The draft consists of its fields here.
fn item_keys() -> impl Iterator<Item = &'static str> {
    ITEM_KEYS.into_iter().filter(|key| *key != "draft")
}

fn name_of(field: &DraftField) -> &str {
    field.path.strip_prefix("content.").unwrap_or(&field.path)
}

fn put(draft: &mut Object, field: &DraftField, value: &str) {
    let (holder, name) = match field.path.strip_prefix("content.") {
        Some(name) => {
            if !draft.contains("content") {
                draft.set("content", Json::Object(Object::new()));
            }
            match draft.get_mut("content") {
                Some(Json::Object(content)) => (content, name),
                _ => return,
            }
        }
        None => (draft, field.path.as_str()),
    };
    let value = match field.kind {
        "list of texts" => {
            let mut texts = holder.get(name).map(Json::to_texts).unwrap_or_default();
            match BY_COMMA.contains(&name) {
                true => texts.extend(value.split(',').map(|text| text.trim().to_owned())),
                false => texts.push(value.to_owned()),
            }
            Json::texts(texts)
        }
        "true or false" => value.parse().map_or_else(|_| Json::text(value), Json::Bool),
        "number from 0 to 1" => value.parse::<f64>().map_or_else(|_| Json::text(value), Json::number),
        _ => Json::text(value),
    };
    holder.set(name, value);
}

/// The template of an item.
pub(super) fn template(number: u64, category: Category, supersedes: Option<&str>) -> String {
    let mut text = format!("item: {number}\ncategory: {category}\n");
    if let Some(old) = supersedes {
        text.push_str(&format!("supersedes: {old}\n"));
    }
    for field in draft::wanted(category).iter().filter(|field| field.required && !field.path.contains("[]")) {
        let value =
            if field.choices.is_empty() { draft::PLACEHOLDER.to_owned() } else { field.choices.join(" | ") };
        text.push_str(&format!("{}: {value}\n", name_of(field)));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::JsonFormat;

    fn read(text: &str) -> String {
        match items(text) {
            Ok(items) => {
                items.iter().map(|item| item.render(JsonFormat::LINE)).collect::<Vec<_>>().join("\n")
            }
            Err(faults) => faults
                .iter()
                .map(|fault| format!("{}: {}", fault.field, fault.got))
                .collect::<Vec<_>>()
                .join("\n"),
        }
    }

    #[test]
    fn lines_are_items() {
        let text = "item: 7\ncategory: decision\ntitle: Use pnpm: it is strict\ntags: npm, tools\ncontext: c\n  and more\ndecision: d\nrationale: one\nrationale: two\nreason: why\n\n\nitem: 8\naction: noop\n";
        expect_test::expect![[r#"
            {"item": 7, "category": "decision", "reason": "why", "action": "CREATE", "draft": {"title": "Use pnpm: it is strict", "tags": ["npm", "tools"], "content": {"context": "c\nand more", "decision": "d", "rationale": ["one", "two"]}}}
            {"item": 8, "action": "noop"}"#]].assert_eq(&read(text));
        // In a preference, the reason is a field.
        expect_test::expect![[r#"{"category": "preference", "action": "CREATE", "draft": {"content": {"reason": "strict"}, "confidence": 0.9}}"#]].assert_eq(&read("category: preference\nreason: strict\nconfidence: 0.9"));
    }

    #[test]
    fn a_key_that_does_not_belong_is_named() {
        expect_test::expect![[r#"
            items.0.hello: ""
            items.1.impact: "x\nsee: y""#]]
        .assert_eq(&read("hello\n\ncategory: decision\nimpact: x\nsee: y"));
    }

    #[test]
    fn every_template_names_every_required_field() {
        for category in Category::ALL {
            let text = template(1, category, None);
            for DraftField { path, .. } in
                draft::wanted(category).iter().filter(|field| field.required && !field.path.contains("[]"))
            {
                let name = path.strip_prefix("content.").unwrap_or(path);
                assert!(text.contains(&format!("\n{name}: ")), "{text}");
            }
            assert_eq!(items(&text).map(|items| items.len()).ok(), Some(1));
        }
    }
}
