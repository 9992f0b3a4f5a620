//! The repository as it is, judged by the rules.

use std::fs;

use xtask::repo;
use xtask::tidy::{Fault, codebase, journeys, limits, listing, map, rules, text};

fn assert_none(faults: &[Fault]) {
    assert!(faults.is_empty(), "\n{}", listing(faults));
}

fn read(name: &str) -> String {
    let path = repo::root().join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()))
}

#[test]
fn the_map_names_every_folder_and_no_other() {
    let files = repo::tracked_files(&repo::root()).unwrap();
    assert_none(&map::check(&read("ARCHITECTURE.md"), &files, |path| repo::root().join(path).exists()));
}

#[test]
fn every_step_of_a_journey_is_in_the_code() {
    let read_file = |path: &str| fs::read_to_string(repo::root().join(path)).ok();
    assert_none(&journeys::check(&read("ARCHITECTURE.md"), read_file));
}

#[test]
fn the_technical_pages_name_files_that_exist() {
    for name in repo::tracked_files(&repo::root()).unwrap() {
        if name.starts_with("docs/technical/") {
            assert_none(&map::gone(&name, &read(&name), |path| repo::root().join(path).exists()));
        }
    }
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
