//! The code of the crates, file by file, without test code.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::source::Source;
use crate::failure::Failure;
use crate::repo;

#[derive(Debug)]
pub struct Codebase {
    pub(super) files: Vec<CodeFile>,
}

#[derive(Debug)]
pub(super) struct CodeFile {
    pub(super) path: String,
    /// The path inside its crate; `super` and `self` are resolved against it.
    pub(super) module: Vec<String>,
    pub(super) code: String,
    /// The lines with a comment that documents no item.
    pub(super) comments: Vec<usize>,
}

impl Codebase {
    /// Paths with their texts: all of them at once, since one file may declare another a test.
    pub fn read(files: &[(String, String)]) -> Codebase {
        let sources: Vec<(&str, Source)> =
            files.iter().map(|(path, text)| (path.as_str(), Source::read(text))).collect();
        let tests: BTreeSet<String> =
            sources.iter().flat_map(|(path, source)| test_files(path, source)).collect();
        let is_test = |path: &str| tests.iter().any(|test| path.starts_with(test.as_str()));
        let files = sources.into_iter().filter(|(path, _)| !is_test(path)).map(|(path, source)| CodeFile {
            path: path.to_owned(),
            module: module(path),
            code: source.code,
            comments: source.comments,
        });
        Codebase { files: files.collect() }
    }
}

impl CodeFile {
    /// `lorelane-core` of `crates/lorelane-core/src/time.rs`.
    pub(super) fn crate_name(&self) -> &str {
        self.path.split('/').nth(1).unwrap_or_default()
    }
}

/// Every tracked file of `crates/*/src`, with its text.
pub fn crate_sources(root: &Path) -> Result<Vec<(String, String)>, Failure> {
    let files = repo::tracked_files(root)?.into_iter();
    let sources =
        files.filter(|path| path.starts_with("crates/") && path.contains("/src/") && path.ends_with(".rs"));
    let read = |path: String| match fs::read_to_string(root.join(&path)) {
        Ok(text) => Ok((path, text)),
        Err(error) => Err(Failure::on("read", &root.join(path), error)),
    };
    sources.map(read).collect()
}

/// `crates/x/src/a/b.rs` is `a::b`, `…/a/mod.rs` is `a`, the crate's root is empty.
fn module(path: &str) -> Vec<String> {
    let inside = path.split_once("/src/").map_or(path, |(_, inside)| inside);
    let inside = inside.trim_end_matches(".rs");
    let inside = inside.strip_suffix("/mod").unwrap_or(inside);
    match inside {
        "lib" | "main" | "mod" => Vec::new(),
        inside => inside.split('/').map(str::to_owned).collect(),
    }
}

/// The possible path prefixes of a module that is declared as test code.
fn test_files(path: &str, source: &Source) -> Vec<String> {
    let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
    let folder = match file {
        "lib.rs" | "main.rs" | "mod.rs" => folder.to_owned(),
        file => format!("{folder}/{}", file.trim_end_matches(".rs")),
    };
    source
        .test_modules
        .iter()
        .flat_map(|name| [format!("{folder}/{name}.rs"), format!("{folder}/{name}/")])
        .collect()
}
