//! Checks that `ARCHITECTURE.md` matches the source tree: a wrong map is worse than none.

use std::collections::{BTreeMap, BTreeSet};

use super::Fault;

const MAP: &str = "ARCHITECTURE.md";

/// Text in backticks with one of these prefixes is a path of this repository.
const ROOTS: &[&str] = &["crates/", "xtask/", "fuzz/", "docs/", "schemas/"];

/// The short form of a file in a page: the crate without its prefix, then the path below `src`.
const CRATES: [(&str, &str); 3] = [
    ("core/", "crates/lorelane-core/src/"),
    ("engine/", "crates/lorelane-engine/src/"),
    ("lorelane/", "crates/lorelane/src/"),
];

/// `files` are the tracked paths; `exists` checks the disk, which also has folders.
pub fn check(map: &str, files: &[String], exists: impl Fn(&str) -> bool) -> Vec<Fault> {
    let mut faults = gone(MAP, map, exists);
    let fault = |line: usize, what: String| Fault { path: MAP.to_owned(), line, what };
    let spans = code_spans(map);
    let named: BTreeSet<&str> = spans.iter().map(|(span, _)| span.trim_end_matches('/')).collect();
    let parts = parts(files);
    let mut owners: BTreeMap<&str, usize> = BTreeMap::new();
    for part in &parts {
        *owners.entry(part.module()).or_default() += 1;
    }
    for part in &parts {
        let unique = owners[part.module()] == 1;
        // A short name is enough if only one crate has it; the full path always is.
        let short = unique && (named.contains(part.module()) || named.contains(part.inside.as_str()));
        let module_path = part.path.trim_end_matches(".rs");
        if !short && !named.contains(part.path.as_str()) && !named.contains(module_path) {
            let what = match unique {
                true => format!("does not name `{}` (or in full `{}`)", part.module(), part.path),
                false => format!(
                    "does not name `{}` (in full, as another crate has a `{}`)",
                    part.path,
                    part.module()
                ),
            };
            faults.push(fault(0, what));
        }
    }
    faults
}

/// The paths in a page that do not exist.
pub fn gone(page: &str, text: &str, exists: impl Fn(&str) -> bool) -> Vec<Fault> {
    let is_gone = |span: &str| match full_path(span) {
        Some(path) => !exists(&path),
        None => is_path(span) && !exists(span.trim_end_matches('/')),
    };
    let spans = code_spans(text).into_iter().filter(|(span, _)| is_gone(span));
    let what = |span: &str| format!("names `{span}`, which does not exist");
    spans.map(|(span, line)| Fault { path: page.to_owned(), line, what: what(span) }).collect()
}

/// The path of a source file given in short form.
pub(super) fn full_path(short: &str) -> Option<String> {
    let source = short.strip_suffix(".rs")?;
    CRATES.iter().find_map(|(name, folder)| Some(format!("{folder}{}.rs", source.strip_prefix(name)?)))
}

/// A folder anywhere below a crate's `src`, or a module file directly in it.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Part {
    path: String,
    /// The path below `src`.
    inside: String,
}

impl Part {
    fn module(&self) -> &str {
        self.inside.trim_end_matches(".rs")
    }
}

fn parts(files: &[String]) -> BTreeSet<Part> {
    let mut parts = BTreeSet::new();
    for file in files {
        let Some((root, inside)) = source(file) else { continue };
        let folders: Vec<&str> = inside.split('/').collect();
        for depth in 1..folders.len() {
            let folder = folders[..depth].join("/");
            parts.insert(Part { path: format!("{root}{folder}"), inside: folder });
        }
        if folders.len() == 1 && !["lib.rs", "main.rs"].contains(&inside) {
            parts.insert(Part { path: file.clone(), inside: inside.to_owned() });
        }
    }
    // `a.rs` and `a/` are one module, listed as the folder.
    let folders: BTreeSet<String> = parts.iter().map(|part| part.path.clone()).collect();
    parts.retain(|part| part.path.strip_suffix(".rs").is_none_or(|module| !folders.contains(module)));
    parts
}

/// `crates/x/src/a/b.rs` as `crates/x/src/` and `a/b.rs`.
fn source(file: &str) -> Option<(&str, &str)> {
    let below = file.strip_prefix("crates/")?;
    let (name, inside) = below.split_once("/src/")?;
    let root = file.len() - inside.len();
    (!name.contains('/') && inside.ends_with(".rs")).then(|| file.split_at(root))
}

fn is_path(span: &str) -> bool {
    let pattern = span.contains(['*', '<', '{', '…', ' ', '$']);
    !pattern && ROOTS.iter().any(|root| span.starts_with(root))
}

/// The code spans of a page, outside fenced blocks.
fn code_spans(map: &str) -> Vec<(&str, usize)> {
    let mut spans = Vec::new();
    let mut fenced = false;
    for (index, line) in map.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            spans.extend(line.split('`').skip(1).step_by(2).map(|span| (span, index + 1)));
        }
    }
    spans
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILES: &[&str] = &[
        "crates/lorelane-core/src/lib.rs",
        "crates/lorelane-core/src/text.rs",
        "crates/lorelane-core/src/dialect.rs",
        "crates/lorelane-core/src/dialect/records/read.rs",
        "crates/lorelane-engine/src/text.rs",
        "crates/lorelane-engine/tests/it/main.rs",
        "xtask/src/main.rs",
    ];

    const SAMPLE: &str = "# Map\n\nCore has `crates/lorelane-core/src/text.rs` and `dialect`, with `dialect/records/` in it.\n\
        The engine has `crates/lorelane-engine/src/text.rs`.\n\n```\n`crates/in/a/fence`\n```\nAny `crates/*/src`.\n";

    fn faults(map: &str) -> Vec<String> {
        let files: Vec<String> = FILES.iter().map(|file| (*file).to_owned()).collect();
        check(map, &files, |path| FILES.iter().any(|file| file.starts_with(path)))
            .iter()
            .map(Fault::to_string)
            .collect()
    }

    #[test]
    fn a_true_map_passes() {
        assert_eq!(faults(SAMPLE), [""; 0]);
    }

    #[test]
    fn a_missing_folder_or_module_is_a_fault() {
        for (removed, expected) in [
            (
                "`dialect`",
                "ARCHITECTURE.md: does not name `dialect` (or in full `crates/lorelane-core/src/dialect`)",
            ),
            (
                "`dialect/records/`",
                "ARCHITECTURE.md: does not name `dialect/records` (or in full `crates/lorelane-core/src/dialect/records`)",
            ),
            (
                "`crates/lorelane-engine/src/text.rs`",
                "ARCHITECTURE.md: does not name `crates/lorelane-engine/src/text.rs` (in full, as another crate has a `text`)",
            ),
        ] {
            assert_eq!(faults(&SAMPLE.replace(removed, "`text`")), [expected]);
        }
    }

    #[test]
    fn a_path_that_is_gone_is_a_fault() {
        for gone in ["crates/lorelane-core/src/old.rs", "core/old.rs", "lorelane/text.rs"] {
            let map = format!("{SAMPLE}\nAnd `{gone}`, not `core/text.rs`.\n");
            assert_eq!(faults(&map), [format!("ARCHITECTURE.md:11: names `{gone}`, which does not exist")]);
        }
    }
}
