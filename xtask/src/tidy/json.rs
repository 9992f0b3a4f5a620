//! Finds JSON that is built or read by hand where a derive would do.

use super::codebase::Codebase;
use super::uses::tokens;

/// What one file does by hand.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ByHand {
    pub(super) path: String,
    /// Functions that turn a type into JSON or back: `json`, `to_json`, `hit_json`.
    pub(super) functions: Vec<String>,
    /// Places that name a constructor of `Json`; a pattern spelt like one counts with them.
    pub(super) sites: usize,
}

/// `Text`, `Number` and `Null` are left out: they are mostly matched against, the others mostly built.
const CONSTRUCTORS: &[&str] = &["text", "texts", "number", "Bool", "List", "Object"];

/// The files that handle JSON by hand, except below the paths where its bytes are edited in place.
pub(super) fn by_hand(codebase: &Codebase, in_place: &[&str]) -> Vec<ByHand> {
    let files = codebase.files.iter().filter(|file| !in_place.iter().any(|path| file.path.starts_with(path)));
    let counted = files.map(|file| {
        let tokens: Vec<&str> = tokens(&file.code).into_iter().map(|(token, _)| token).collect();
        let is_site = |three: &&[&str]| matches!(three, ["Json", "::", name] if CONSTRUCTORS.contains(name));
        let function = |pair: &[&str]| match pair {
            ["fn", name] if *name == "json" || name.ends_with("_json") => Some((*name).to_owned()),
            _ => None,
        };
        ByHand {
            path: file.path.clone(),
            functions: tokens.windows(2).filter_map(function).collect(),
            sites: tokens.windows(3).filter(is_site).count(),
        }
    });
    counted.filter(|by_hand| by_hand.sites > 0 || !by_hand.functions.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_and_sites_are_counted_outside_the_editor() {
        let files = [
            (
                "crates/a/src/hit.rs",
                "fn to_json(&self) -> Json { Json::List(vec![Json::text(a), Json::parse(b)]) } fn json_files() {} // Json::text\n#[cfg(test)]\nmod tests { fn hit_json() { Json::text(a) } }",
            ),
            ("crates/a/src/json/mod.rs", "fn into_json() { Json::text(a) }"),
            ("crates/a/src/list.rs", "fn list() {}"),
        ];
        let files = files.map(|(path, text)| (path.to_owned(), text.to_owned()));
        let expected =
            ByHand { path: "crates/a/src/hit.rs".into(), functions: vec!["to_json".into()], sites: 2 };
        assert_eq!(by_hand(&Codebase::read(&files), &["crates/a/src/json/"]), [expected]);
    }
}
