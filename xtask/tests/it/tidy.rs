//! The repository as it is, judged by the rules.

use std::fs;

use xtask::repo;
use xtask::tidy::{Fault, codebase, limits, listing, map, rules, text};

fn assert_none(faults: &[Fault]) {
    assert!(faults.is_empty(), "\n{}", listing(faults));
}

#[test]
fn the_map_names_every_folder_and_no_other() {
    let path = repo::root().join("ARCHITECTURE.md");
    let map =
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()));
    let files = repo::tracked_files(&repo::root()).unwrap();
    assert_none(&map::check(&map, &files, |path| repo::root().join(path).exists()));
}

#[test]
fn no_part_names_what_it_must_not() {
    let sources = codebase::crate_sources(&repo::root()).unwrap();
    assert!(!sources.is_empty());
    assert_none(&rules::check(rules::RULES, &sources));
}

#[test]
fn every_tracked_text_is_clean() {
    let mut faults = Vec::new();
    for path in repo::tracked_files(&repo::root()).unwrap() {
        // What is not UTF-8 is no text.
        if let Ok(text) = fs::read_to_string(repo::root().join(&path)) {
            faults.extend(text::check(&path, &text, |target| repo::root().join(target).exists()));
        }
    }
    assert_none(&faults);
}

#[test]
fn every_figure_is_at_its_limit_or_where_it_was_left() {
    assert_none(&limits::check(&limits::measure_all(&repo::root()).unwrap()));
}
