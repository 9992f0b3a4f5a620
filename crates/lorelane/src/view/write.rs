//! JSON layouts: indented for people, one line for programs that read line by line.

use lorelane_core::json::{JsonFormat, to_string};
use serde::Serialize;
use serde_json::Value;

/// A document on several lines, indented by two spaces.
pub fn pretty(document: &impl Serialize) -> String {
    to_string(document, JsonFormat::FILE)
}

/// A document on one line, with a space after each comma and colon.
pub fn line(document: &impl Serialize) -> String {
    to_string(document, JsonFormat::LINE)
}

/// A document as a `serde_json` tree, for the protocol crate. It becomes null if a number does not fit into a
/// float.
pub fn tree(document: &impl Serialize) -> Value {
    serde_json::to_value(document).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use lorelane_core::json::Json;

    // Scripts compare these bytes with the output of earlier versions.
    #[test]
    fn documents_are_laid_out_as_core_lays_out_json() {
        let json = Json::parse(
            r#"{"a": [], "c": [1, {"d": 0.50}], "e": -1e3, "f": "é \u0000", "g": [[null], true]}"#,
        )
        .expect("JSON");
        for format in [JsonFormat::FILE, JsonFormat::LINE, JsonFormat::SCRIPT_LINE, JsonFormat::SCRIPT] {
            assert_eq!(to_string(&json, format), json.render(format));
        }
    }

    #[test]
    fn a_tree_has_the_same_values() {
        let json = Json::parse(r#"{"b": [0.50, 3], "a": {"c": null}}"#).expect("JSON");
        assert_eq!(tree(&json).to_string(), r#"{"b":[0.5,3],"a":{"c":null}}"#);
    }
}
