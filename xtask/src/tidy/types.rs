//! Finds type names that occur more than once: a reader cannot know which one is meant.

use std::collections::BTreeMap;

use super::codebase::Codebase;
use super::uses::{is_word, tokens};

/// Every `struct`, `enum` and `trait` by its name, with its places (`path:line`).
///
/// Aliases and associated types do not count.
pub(super) fn types(codebase: &Codebase) -> BTreeMap<String, Vec<String>> {
    let mut types: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for file in &codebase.files {
        for pair in tokens(&file.code).windows(2) {
            let [(keyword, line), (name, _)] = pair else { continue };
            // What a macro declares is named `$name` there.
            if matches!(*keyword, "struct" | "enum" | "trait") && name.starts_with(is_word) {
                types.entry((*name).to_owned()).or_default().push(format!("{}:{line}", file.path));
            }
        }
    }
    types
}

/// The names of more than one type, the most frequent first.
pub(super) fn shared<'t>(
    types: &'t BTreeMap<String, Vec<String>>,
    allowed: &[&str],
) -> Vec<(&'t str, &'t [String])> {
    let mut shared: Vec<(&str, &[String])> = types
        .iter()
        .map(|(name, places)| (name.as_str(), places.as_slice()))
        .filter(|(name, places)| places.len() > 1 && !allowed.contains(name))
        .collect();
    shared.sort_by_key(|(_, places)| std::cmp::Reverse(places.len()));
    shared
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_in_two_crates_is_shared_and_one_in_a_test_module_is_not() {
        let files = [
            (
                "crates/a/src/lib.rs",
                "pub struct Found; pub(crate) enum Kind { Found }\n#[cfg(test)]\nmod tests { struct Kind; }\n#[cfg(test)]\nmod laws;",
            ),
            ("crates/a/src/laws.rs", "struct Kind;"),
            (
                "crates/b/src/lib.rs",
                "trait Found {}\n// struct Kind;\ntype Kind = u8;\nmacro_rules! m { ($n:ident) => { struct $n; } }",
            ),
            ("crates/b/src/c.rs", "fn f() { struct Found<T>(T); } enum Error {} struct Only;"),
            ("crates/b/src/d.rs", "enum Error {}"),
        ];
        let files = files.map(|(path, text)| (path.to_owned(), text.to_owned()));
        let types = types(&Codebase::read(&files));
        assert_eq!(types.values().map(Vec::len).sum::<usize>(), 7, "{types:?}");
        let places = ["crates/a/src/lib.rs:1", "crates/b/src/c.rs:1", "crates/b/src/lib.rs:1"];
        let mut found = types["Found"].clone();
        found.sort();
        assert_eq!(found, places);
        let names = |allowed| shared(&types, allowed).into_iter().map(|(name, _)| name).collect::<Vec<_>>();
        assert_eq!(names(&[]), ["Found", "Error"]);
        assert_eq!(names(&["Error"]), ["Found"]);
    }
}
