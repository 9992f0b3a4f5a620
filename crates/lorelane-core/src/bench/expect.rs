//! Reads the user's expectations of recall from a JSON Lines file.

use crate::json::{Json, Object};
use crate::memory::Address;

/// The file name, in the folder of the marks.
pub const EXPECTATIONS_FILE: &str = "expectations.jsonl";
/// Default and maximum number of results to check.
const WITHIN: usize = 5;
const WITHIN_MAX: usize = 100;
const KEYS: [&str; 4] = ["query", "must", "must_not", "within"];

/// A query, the memories it must find, and those it must not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expectation {
    pub query: String,
    pub must: Vec<Address>,
    pub must_not: Vec<Address>,
    /// How many results are checked.
    pub within: usize,
}

/// An invalid line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct ExpectationFault {
    /// Starts at 1.
    pub line: usize,
    pub what: String,
}

/// Parses all lines. Empty ones are skipped. One invalid line fails the file, because a typo must not pass for an
/// expectation that is met.
pub fn expectations(text: &str) -> Result<Vec<Expectation>, ExpectationFault> {
    let lines = (1..).zip(text.lines()).filter(|(_, text)| !text.trim().is_empty());
    lines.map(|(line, text)| read(text.trim()).map_err(|what| ExpectationFault { line, what })).collect()
}

fn read(line: &str) -> Result<Expectation, String> {
    let json = Json::parse(line).map_err(|fault| format!("it is not JSON: {fault}"))?;
    let Some(object) = json.as_object() else { return Err("it is not an object".to_owned()) };
    if let Some((key, _)) = object.iter().find(|(key, _)| !KEYS.contains(key)) {
        return Err(format!(
            "unknown key `{key}`; the keys are {}",
            KEYS.map(|key| format!("`{key}`")).join(", ")
        ));
    }
    let query = object.get("query").and_then(Json::as_text).unwrap_or_default().to_owned();
    if query.trim().is_empty() {
        return Err("`query` is empty or not a string".to_owned());
    }
    let (must, must_not) = (addresses(object, "must")?, addresses(object, "must_not")?);
    if must.is_empty() && must_not.is_empty() {
        return Err("it expects nothing: list memories in `must` or `must_not`".to_owned());
    }
    if let Some(both) = must.iter().find(|address| must_not.contains(address)) {
        return Err(format!("{both} is in both `must` and `must_not`"));
    }
    let within = match object.get("within") {
        None => WITHIN,
        Some(given) => {
            let given = given.as_u64().and_then(|given| usize::try_from(given).ok());
            given
                .filter(|given| (1..=WITHIN_MAX).contains(given))
                .ok_or_else(|| format!("`within` is not a number between 1 and {WITHIN_MAX}"))?
        }
    };
    Ok(Expectation { query, must, must_not, within })
}

fn addresses(object: &Object, key: &str) -> Result<Vec<Address>, String> {
    let Some(given) = object.get(key) else { return Ok(Vec::new()) };
    let list = given.as_list().ok_or_else(|| format!("`{key}` is not a list of addresses"))?;
    list.iter()
        .map(|item| {
            let text = item.as_text().ok_or_else(|| format!("`{key}` has an item that is not a string"))?;
            Address::parse(text).ok_or_else(|| {
                format!("`{text}` in `{key}` is not an address such as decision/use-jwt or notes/auth-plan")
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_line_expects_memories_and_a_wrong_one_is_named() {
        let read = |text: &str| match expectations(text) {
            Ok(found) => {
                let said = found
                    .iter()
                    .map(|one| format!("{} {:?} {:?} {}", one.query, one.must, one.must_not, one.within));
                said.collect::<Vec<_>>().join("; ")
            }
            Err(fault) => fault.to_string(),
        };
        let table = [
            ("", ""),
            (
                "\n{\"query\": \"auth\", \"must\": [\"decision/use-jwt\"], \"must_not\": [\"notes/old\"]}\n",
                "auth [decision/use-jwt] [notes/old] 5",
            ),
            ("{\"query\": \"a\", \"must\": [\"notes/a\"], \"within\": 1}", "a [notes/a] [] 1"),
            ("\n\n[]", "line 3: it is not an object"),
            ("{\"query\": \"a\"}", "line 1: it expects nothing: list memories in `must` or `must_not`"),
            ("{\"query\": \" \"}", "line 1: `query` is empty or not a string"),
            (
                "{\"query\": \"a\", \"musnt\": []}",
                "line 1: unknown key `musnt`; the keys are `query`, `must`, `must_not`, `within`",
            ),
            (
                "{\"query\": \"a\", \"must\": [\"use-jwt\"]}",
                "line 1: `use-jwt` in `must` is not an address such as decision/use-jwt or notes/auth-plan",
            ),
            ("{\"query\": \"a\", \"must\": \"notes/a\"}", "line 1: `must` is not a list of addresses"),
            ("{\"query\": \"a\", \"must\": [7]}", "line 1: `must` has an item that is not a string"),
            (
                "{\"query\": \"a\", \"must\": [\"notes/a\"], \"must_not\": [\"notes/a\"]}",
                "line 1: notes/a is in both `must` and `must_not`",
            ),
            (
                "{\"query\": \"a\", \"must\": [\"notes/a\"], \"within\": 0}",
                "line 1: `within` is not a number between 1 and 100",
            ),
        ];
        for (text, expected) in table {
            assert_eq!(read(text), expected, "{text}");
        }
        assert!(read("{\"query\"").starts_with("line 1: it is not JSON"));
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "\\PC{0,60}") {
            let _ = expectations(&text);
        }
    }
}
