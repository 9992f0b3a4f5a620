//! The sentences of `xtask/claims/`, each with a claim and what became of it.

use std::fs;

use lorelane_core::json::Json;

use super::packages::LabelledPackage;
use crate::failure::Failure;
use crate::repo;

/// What is true of a claim at `head`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Label {
    Holds,
    Gone,
    Moved(String),
}

/// A sentence as a memory would have it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelledSentence {
    pub text: String,
    /// The words in it that are checked.
    pub claim: String,
    /// `path`, `symbol`, `package` or `version`.
    pub kind: String,
    /// The version it was written about, and the one it is checked against.
    pub at: String,
    pub head: String,
    pub label: Label,
    /// Whether it says itself that the thing is gone or must not be used.
    pub is_negated: bool,
}

/// The sentences about a package, in the order of its file.
pub fn read(package: &LabelledPackage) -> Result<Vec<LabelledSentence>, Failure> {
    let file = repo::root().join("xtask/claims").join(format!("{}.jsonl", package.name));
    let text = fs::read_to_string(&file).map_err(|error| Failure::on("read", &file, error))?;
    let fault =
        |number: usize, why: String| Failure::on("read", &file, format!("line {}: {why}", number + 1));
    let parsed = text.lines().enumerate().map(|(number, line)| {
        let json = Json::parse(line).map_err(|why| fault(number, why.to_string()))?;
        sentence(&json).map_err(|why| fault(number, why))
    });
    parsed.collect()
}

fn sentence(json: &Json) -> Result<LabelledSentence, String> {
    let optional = |name: &str| json.at(name).and_then(Json::as_text).map(str::to_owned);
    let field = |name: &str| optional(name).ok_or_else(|| format!("no `{name}`"));
    let label = match (field("label")?.as_str(), optional("moved_to")) {
        ("holds", None) => Label::Holds,
        ("gone", None) => Label::Gone,
        ("moved", Some(to)) => Label::Moved(to),
        (label, _) => return Err(format!("label `{label}` with or without `moved_to`")),
    };
    let is_negated = json.at("negated").and_then(Json::as_bool).unwrap_or_default();
    let (text, claim, kind) = (field("text")?, field("claim")?, field("kind")?);
    if !text.contains(&claim) {
        return Err(format!("`{claim}` is not in its sentence"));
    }
    Ok(LabelledSentence { text, claim, kind, at: field("at")?, head: field("head")?, label, is_negated })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claims::packages::PACKAGES;
    use std::collections::BTreeSet;

    #[test]
    fn the_set_is_large_enough_for_its_percentages() {
        let mut all = Vec::new();
        for package in PACKAGES {
            let sentences = read(package).unwrap();
            let place = |version: &str| package.versions.iter().position(|one| one.version() == version);
            for one in &sentences {
                assert!(place(&one.at).is_some() && place(&one.at) < place(&one.head), "{}", one.text);
            }
            all.extend(sentences);
        }
        let distinct: BTreeSet<&str> = all.iter().map(|one| one.text.as_str()).collect();
        assert_eq!(distinct.len(), all.len());
        let count =
            |is_counted: &dyn Fn(&LabelledSentence) -> bool| all.iter().filter(|one| is_counted(one)).count();
        assert!(all.len() >= 200);
        assert!(count(&|one| one.is_negated && one.label != Label::Holds) >= 60);
        assert!(count(&|one| matches!(one.label, Label::Moved(_)) && !one.is_negated) >= 40);
        assert!(count(&|one| one.label == Label::Gone && !one.is_negated) >= 50);
        assert!(count(&|one| one.label == Label::Holds && !one.is_negated) >= 50);
    }
}
