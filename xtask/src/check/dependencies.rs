//! Checks dependencies: accepted licences, sources in the public registry or this repository, and no test
//! code in the shipped binary.

use std::collections::BTreeSet;
use std::fs;

use super::{FUZZ_MANIFEST, Outcome, licence};
use crate::failure::Failure;
use crate::repo;

/// The only foreign source that a lock file may name. In two parts, because tidy rejects the names of
/// registry hosts in every file but the lock files.
const REGISTRY: &str = concat!("registry+https://github.com/rust-lang/crates", ".io-index");

/// The feature of the engine that only tests may enable.
const TEST_FEATURE: &str = "simulation";

pub(super) fn run() -> Outcome {
    if has_test_feature(&tree("Cargo.toml", &SHIPPED)?)? {
        return Err(Failure::new(format!(
            "the program is built with the feature `{TEST_FEATURE}` of the engine"
        ))
        .hint("only dev-dependencies and xtask may ask for it"));
    }
    let mut faults = Vec::new();
    let mut packages = BTreeSet::new();
    for manifest in ["Cargo.toml", FUZZ_MANIFEST] {
        if repo::root().join(manifest).is_file() {
            packages.extend(packages_of(&tree(manifest, &EVERYTHING)?));
            let lock = repo::root().join(manifest).with_file_name("Cargo.lock");
            let text = fs::read_to_string(&lock).map_err(|error| Failure::on("read", &lock, error))?;
            faults.extend(foreign_sources(&text));
        }
    }
    faults.extend(packages.iter().filter_map(|(package, expression)| match licence::accepts(expression) {
        Ok(true) => None,
        Ok(false) => Some(format!("{package}: licence `{expression}` is not accepted")),
        Err(why) => Some(format!("{package}: {why}")),
    }));
    if faults.is_empty() {
        return Ok(format!("packages: {}", packages.len()));
    }
    Err(Failure::new(faults.join("\n"))
        .hint("choose another package, or argue for the licence in xtask/src/check/licence.rs"))
}

/// Every package with its licence.
const EVERYTHING: [&str; 5] = ["--workspace", "--format", "{p}\t{l}", "--edges", "normal,build,dev"];
/// The packages of `cargo build --package lorelane` with their features. A tree of the whole workspace would
/// add those that xtask enables.
const SHIPPED: [&str; 6] = ["--package", "lorelane", "--format", "{p}\t{f}", "--edges", "normal,build"];

/// Lists packages for every platform, one to a line.
fn tree(manifest: &str, args: &[&str]) -> Result<String, Failure> {
    let output = repo::cargo()
        .args(["tree", "--locked", "--manifest-path", manifest, "--prefix", "none", "--target", "all"])
        .args(args)
        .output()
        .map_err(|error| Failure::new(format!("cannot run `cargo tree` on {manifest}: {error}")))?;
    if !output.status.success() {
        let why = String::from_utf8_lossy(&output.stderr);
        return Err(Failure::new(format!("cannot list the dependencies of {manifest}: {why}")));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn has_test_feature(tree: &str) -> Result<bool, Failure> {
    let engine = tree.lines().find_map(|line| line.strip_prefix("lorelane-engine v")?.split_once('\t'));
    let (_, features) = engine.ok_or_else(|| Failure::new("cannot find the engine in what is shipped"))?;
    Ok(features.trim_end_matches("(*)").trim().split(',').any(|feature| feature == TEST_FEATURE))
}

fn packages_of(tree: &str) -> BTreeSet<(String, String)> {
    let lines = tree.lines().filter_map(|line| line.split_once('\t'));
    // `(*)` marks packages that were printed before.
    lines
        .map(|(package, licence)| (package.to_owned(), licence.trim_end_matches("(*)").trim().to_owned()))
        .collect()
}

/// A package without a source is a path in this repository.
fn foreign_sources(lock: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let mut name = "";
    for line in lock.lines() {
        if let Some(value) = line.strip_prefix("name = ") {
            name = value.trim_matches('"');
        } else if let Some(value) = line.strip_prefix("source = ") {
            let source = value.trim_matches('"');
            if source != REGISTRY {
                faults.push(format!("{name}: comes from {source}, not from the public registry"));
            }
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_listed_once_with_their_licence() {
        let tree = "a v1.0.0\tMIT\nb v2.0.0 (proc-macro)\tMIT OR ISC\n\na v1.0.0\tMIT (*)\nc v0.1.0\t\n";
        let expected = [("a v1.0.0", "MIT"), ("b v2.0.0 (proc-macro)", "MIT OR ISC"), ("c v0.1.0", "")];
        let found = packages_of(tree);
        let found: Vec<(&str, &str)> =
            found.iter().map(|(name, licence)| (name.as_str(), licence.as_str())).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn test_code_is_not_shipped() {
        for (tree, expected) in [
            ("lorelane v0.1.0 (/a)\tdefault,neural\nlorelane-engine v0.1.0 (/b)\tneural", Some(false)),
            ("lorelane-engine v0.1.0 (/b)\t", Some(false)),
            ("lorelane-engine v0.1.0 (/b)\tneural,simulation", Some(true)),
            ("lorelane-engine v0.1.0 (/b)\tsimulation (*)", Some(true)),
            ("lorelane v0.1.0 (/a)\tdefault,neural", None),
        ] {
            assert_eq!(has_test_feature(tree).ok(), expected, "{tree}");
        }
    }

    #[test]
    fn only_the_registry_and_this_repository_are_sources() {
        let lock = format!(
            "[[package]]\nname = \"a\"\nsource = \"{REGISTRY}\"\n\n[[package]]\nname = \"own\"\n\n\
             [[package]]\nname = \"b\"\nsource = \"git+https://example.org/b#1\"\n"
        );
        let expected = "b: comes from git+https://example.org/b#1, not from the public registry";
        assert_eq!(foreign_sources(&lock), [expected]);
    }
}
