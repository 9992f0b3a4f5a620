//! A scenario: how a project is prepared, the prompts, the model's answers, and what must hold.
//!
//! Scenarios are JSON files, so that a new one needs no code. Unknown keys are rejected: a misspelt
//! expectation would always be met.

use std::fs;
use std::path::Path;

use lorelane_core::json::{Json, Object};

use super::expect::Expectation;
use super::wire::{Block, Part};
use crate::failure::Failure;

#[derive(Clone, Debug, Default)]
pub struct Scenario {
    pub name: String,
    pub about: String,
    /// The clients that the scenario runs in.
    pub clients: Vec<String>,
    /// Environment variables for the client, and so for its hooks.
    pub env: Vec<(String, String)>,
    /// Commands that run in the project before the client; `lorelane` is the product.
    pub prepare: Vec<Vec<String>>,
    /// Sessions, one after the other in the same project and home.
    pub sessions: Vec<Session>,
    pub rules: Vec<Rule>,
    /// The model's answer if no rule has a turn left.
    pub default: String,
    pub expect: Vec<Expectation>,
}

#[derive(Clone, Debug)]
pub struct Session {
    pub prompt: String,
    /// More arguments for the client.
    pub arguments: Vec<String>,
}

/// Answers to requests that contain certain texts.
#[derive(Clone, Debug, Default)]
pub struct Rule {
    pub first_user: Option<String>,
    pub last: Option<String>,
    pub turns: Vec<Vec<Block>>,
}

impl Rule {
    pub fn fits(&self, parts: &[Part]) -> bool {
        let first = || {
            let asked = parts.iter().skip_while(|part| part.role != "user");
            asked.take_while(|part| part.role == "user").any(|part| within(&self.first_user, part))
        };
        let last = || parts.last().is_some_and(|part| within(&self.last, part));
        (self.first_user.is_none() || first()) && (self.last.is_none() || last())
    }
}

fn within(wanted: &Option<String>, part: &Part) -> bool {
    wanted.as_ref().is_some_and(|wanted| part.text.contains(wanted.as_str()))
}

/// Reads every scenario of a folder, sorted by name.
pub fn read_folder(folder: &Path) -> Result<Vec<Scenario>, Failure> {
    let entries = fs::read_dir(folder).map_err(|error| Failure::on("list", folder, error))?;
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry.map_err(|error| Failure::on("list", folder, error))?.path();
        if path.extension().is_some_and(|extension| extension == "json") {
            paths.push(path);
        }
    }
    paths.sort();
    paths.iter().map(|path| read(path)).collect()
}

fn read(path: &Path) -> Result<Scenario, Failure> {
    let text = fs::read_to_string(path).map_err(|error| Failure::on("read", path, error))?;
    let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    parse(&name, &text).map_err(|why| Failure::on("read the scenario", path, why))
}

fn parse(name: &str, text: &str) -> Result<Scenario, String> {
    let Json::Object(mut fields) = Json::parse(text).map_err(|fault| fault.to_string())? else {
        return Err("it is no JSON object".to_owned());
    };
    let mut scenario = Scenario {
        name: name.to_owned(),
        about: take_text(&mut fields, "about")?.ok_or("it has no `about`")?,
        clients: take_texts(&mut fields, "clients")?,
        default: take_text(&mut fields, "default")?.unwrap_or_else(|| "ok".to_owned()),
        ..Scenario::default()
    };
    if let Some(Json::Object(env)) = fields.remove("env") {
        for (name, value) in env.iter() {
            let value = value.as_text().ok_or_else(|| format!("`env.{name}` is no text"))?;
            scenario.env.push((name.to_owned(), value.to_owned()));
        }
    }
    for command in take_list(&mut fields, "prepare")? {
        scenario.prepare.push(texts(&command, "prepare")?);
    }
    for session in take_list(&mut fields, "sessions")? {
        let Json::Object(mut session) = session else { return Err("a session is no object".to_owned()) };
        let prompt = take_text(&mut session, "prompt")?.ok_or("a session has no `prompt`")?;
        let arguments = take_texts(&mut session, "arguments")?;
        nothing_left(&session)?;
        scenario.sessions.push(Session { prompt, arguments });
    }
    for rule in take_list(&mut fields, "rules")? {
        let Json::Object(mut rule) = rule else { return Err("a rule is no object".to_owned()) };
        let mut read = Rule {
            first_user: take_text(&mut rule, "first_user")?,
            last: take_text(&mut rule, "last")?,
            turns: Vec::new(),
        };
        for turn in take_list(&mut rule, "turns")? {
            let blocks = turn.as_list().ok_or("a turn is no list")?;
            read.turns.push(blocks.iter().map(block).collect::<Result<_, _>>()?);
        }
        nothing_left(&rule)?;
        scenario.rules.push(read);
    }
    for expectation in take_list(&mut fields, "expect")? {
        let Json::Object(expectation) = expectation else {
            return Err("an expectation is no object".to_owned());
        };
        scenario.expect.push(Expectation::parse(&expectation)?);
    }
    nothing_left(&fields)?;
    if scenario.sessions.is_empty() {
        return Err("it has no `sessions`".to_owned());
    }
    if scenario.clients.is_empty() {
        return Err("it has no `clients`".to_owned());
    }
    Ok(scenario)
}

fn block(block: &Json) -> Result<Block, String> {
    let Json::Object(block) = block else { return Err("a block is no object".to_owned()) };
    match (block.text("text"), block.text("tool")) {
        (Some(said), None) => Ok(Block::Text(said.to_owned())),
        (None, Some(name)) => {
            let input = block.get("input").cloned().unwrap_or_else(|| Json::Object(Object::new()));
            Ok(Block::Tool { name: name.to_owned(), input })
        }
        _ => Err("a block has neither `text` nor `tool`".to_owned()),
    }
}

fn take_text(fields: &mut Object, key: &str) -> Result<Option<String>, String> {
    match fields.remove(key) {
        None => Ok(None),
        Some(Json::Text(text)) => Ok(Some(text)),
        Some(_) => Err(format!("`{key}` is no text")),
    }
}

fn take_list(fields: &mut Object, key: &str) -> Result<Vec<Json>, String> {
    match fields.remove(key) {
        None => Ok(Vec::new()),
        Some(Json::List(items)) => Ok(items),
        Some(_) => Err(format!("`{key}` is no list")),
    }
}

fn take_texts(fields: &mut Object, key: &str) -> Result<Vec<String>, String> {
    let items = take_list(fields, key)?;
    texts(&Json::List(items), key)
}

fn texts(list: &Json, key: &str) -> Result<Vec<String>, String> {
    let items = list.as_list().ok_or_else(|| format!("`{key}` holds what is no list"))?;
    let texts = items.iter().map(|item| item.as_text().map(str::to_owned));
    texts.collect::<Option<_>>().ok_or_else(|| format!("`{key}` holds what is no text"))
}

fn nothing_left(fields: &Object) -> Result<(), String> {
    match fields.iter().next() {
        None => Ok(()),
        Some((key, _)) => Err(format!("nobody reads `{key}`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_nobody_reads_is_refused() {
        for (text, expected) in [
            (
                r#"{"about":"x","clients":["codex"],"sessions":[{"prompt":"p"}],"expct":[]}"#,
                "nobody reads `expct`",
            ),
            (
                r#"{"about":"x","clients":["codex"],"sessions":[{"prompt":"p","args":[]}]}"#,
                "nobody reads `args`",
            ),
            (
                r#"{"about":"x","clients":["codex"],"sessions":[{"prompt":"p"}],"rules":[{"frist_user":"x"}]}"#,
                "nobody reads `frist_user`",
            ),
            (r#"{"clients":["codex"],"sessions":[{"prompt":"p"}]}"#, "it has no `about`"),
            (r#"{"about":"x","clients":["codex"]}"#, "it has no `sessions`"),
            (r#"{"about":"x","sessions":[{"prompt":"p"}]}"#, "it has no `clients`"),
        ] {
            assert_eq!(parse("x", text).unwrap_err(), expected, "{text}");
        }
    }

    #[test]
    fn a_rule_asks_for_the_first_words_of_the_user_and_for_the_last_text() {
        let part = |role: &str, text: &str| Part {
            role: role.to_owned(),
            text: text.to_owned(),
            is_tool_result: false,
        };
        let parts = [
            part("system", "choose"),
            part("user", "choose pnpm"),
            part("assistant", "done"),
            part("user", "stop"),
        ];
        for (first_user, last, expected) in [
            (None, None, true),
            (Some("choose"), None, true),
            (Some("stop"), None, false),
            (None, Some("stop"), true),
            (None, Some("choose"), false),
            (Some("choose"), Some("done"), false),
        ] {
            let rule = Rule {
                first_user: first_user.map(str::to_owned),
                last: last.map(str::to_owned),
                turns: vec![],
            };
            assert_eq!(rule.fits(&parts), expected, "{first_user:?} {last:?}");
        }
    }
}
