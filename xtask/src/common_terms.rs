//! `common-terms`: which words are common in technical English, counted in the documentation of our dependencies.
//!
//! Core needs to know that `error` says less than `broker`, in a store of any size. A corpus of prompts would be
//! better, but this one is at hand, public, and the same for everybody with the same lock file.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use lorelane_core::terms::{Language, Term, terms};

use crate::args::Args;
use crate::failure::Failure;
use crate::repo;

/// How many terms are kept. With 1,000 to 8,000 the reminders of the development set are the same.
const KEPT: usize = 2_000;
/// Paragraphs with fewer or more distinct terms are lists of links or data.
const TERMS: std::ops::RangeInclusive<usize> = 3..=200;
/// Squares would make words of middling frequency count too little, and the plain logarithm too much.
const EXPONENT: f64 = 1.5;

pub fn command(mut args: Args) -> Result<bool, Failure> {
    let write = args.flag("--write");
    args.finish()?;
    let table = table(&sources()?)?;
    let path = repo::root().join("crates/lorelane-core/data/common-terms.bin");
    if write {
        fs::write(&path, table).map_err(|error| Failure::on("write", &path, error))?;
        return Ok(true);
    }
    let known = fs::read(&path).map_err(|error| Failure::on("read", &path, error))?;
    let is_same = known == table;
    println!("{}", if is_same { "the table is up to date" } else { "the table differs; --write updates it" });
    Ok(is_same)
}

/// The source folders of all packages in the lock file.
fn sources() -> Result<Vec<PathBuf>, Failure> {
    let lock = repo::root().join("Cargo.lock");
    let text = fs::read_to_string(&lock).map_err(|error| Failure::on("read", &lock, error))?;
    let quoted = |line: &str, key: &str| {
        line.strip_prefix(key)?.strip_prefix(" = \"")?.strip_suffix('"').map(str::to_owned)
    };
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")));
    let registries = home.ok_or_else(|| Failure::new("cannot find cargo's folder: HOME is not set"))?;
    let registries = registries.join("registry/src");
    let listed = fs::read_dir(&registries).map_err(|error| Failure::on("read", &registries, error))?;
    let registries: Vec<PathBuf> = listed.filter_map(Result::ok).map(|entry| entry.path()).collect();
    let mut folders = Vec::new();
    let mut name = String::new();
    for line in text.lines() {
        name = quoted(line, "name").unwrap_or(name);
        if let Some(version) = quoted(line, "version") {
            let folder = format!("{name}-{version}");
            folders.extend(registries.iter().map(|one| one.join(&folder)).find(|folder| folder.is_dir()));
        }
    }
    folders.sort();
    Ok(folders)
}

/// The terms in ascending order, four bytes each, then the weight of each in one byte.
fn table(folders: &[PathBuf]) -> Result<Vec<u8>, Failure> {
    let mut counts: HashMap<Term, u64> = HashMap::new();
    let mut paragraphs = 0_u64;
    for folder in folders {
        for file in files(folder)? {
            let Ok(text) = fs::read_to_string(&file) else { continue };
            let text = if file.extension().is_some_and(|kind| kind == "rs") { comments(&text) } else { text };
            for paragraph in text.split("\n\n") {
                let distinct: BTreeSet<Term> = terms(paragraph, Language::English).into_iter().collect();
                if TERMS.contains(&distinct.len()) {
                    paragraphs += 1;
                    distinct.into_iter().for_each(|term| *counts.entry(term).or_default() += 1);
                }
            }
        }
    }
    let mut common: Vec<(u64, Term)> = counts.into_iter().map(|(term, count)| (count, term)).collect();
    common.sort_unstable_by(|a, b| b.cmp(a));
    common.truncate(KEPT);
    let rarity = |count: u64| (paragraphs as f64 / count as f64).ln();
    let least = common.last().map_or(1.0, |(count, _)| rarity(*count));
    let mut weighted: Vec<(Term, u8)> = common
        .into_iter()
        .map(|(count, term)| (term, ((rarity(count) / least).powf(EXPONENT) * 255.0).round() as u8))
        .collect();
    weighted.sort_unstable();
    let numbers = weighted.iter().flat_map(|(term, _)| term.0.to_le_bytes());
    Ok(numbers.chain(weighted.iter().map(|(_, weight)| *weight)).collect())
}

/// The comments of Rust code; code becomes empty lines.
fn comments(text: &str) -> String {
    let lines = text.lines().map(|line| match line.trim_start().strip_prefix("//") {
        Some(comment) => comment.trim_start_matches(['/', '!']),
        None => "",
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn files(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let mut files = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        let listed = fs::read_dir(&folder).map_err(|error| Failure::on("read", &folder, error))?;
        for path in listed.filter_map(Result::ok).map(|entry| entry.path()) {
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|kind| kind == "md" || kind == "rs") {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}
