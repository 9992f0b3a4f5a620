//! Figures about the readability of the code, with limits.
//!
//! A figure over its limit may stay but not grow, and when it falls, its row is lowered in the same commit. So it
//! reaches its limit step by step and cannot go back.

use std::fs;
use std::path::Path;

use super::Fault;
use super::codebase::{Codebase, crate_sources};
use super::comments::commented;
use super::cycles::{Cycle, cycles};
use super::json::by_hand;
use super::methods::public_methods;
use super::types::{shared, types};
use crate::failure::Failure;

#[derive(Debug)]
pub struct Limit {
    pub figure: Figure,
    /// `None` for a figure that is only printed.
    pub at_most: Option<AtMost>,
    /// The current value of a figure over its limit; `None` once it is within.
    pub allowed_now: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtMost {
    Count(usize),
    Kb(usize),
    /// Relative to everything that was counted.
    Percent(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figure {
    SharedTypeNames,
    /// Top-level modules of this crate.
    ModulesInCycles(&'static str),
    /// Modules further down.
    InnerModulesInCycles,
    WorkspaceMethods,
    JsonFunctions,
    /// Files and not places, so that the row need not change with every line of a file.
    JsonFiles,
    /// In whole KB, for the same reason.
    ArchitectureKb,
    Comments,
}

pub const LIMITS: &[Limit] = &[
    Limit { figure: Figure::SharedTypeNames, at_most: Some(AtMost::Percent(8)), allowed_now: None },
    Limit {
        figure: Figure::ModulesInCycles("lorelane-core"),
        at_most: Some(AtMost::Count(0)),
        allowed_now: None,
    },
    Limit {
        figure: Figure::ModulesInCycles("lorelane-engine"),
        at_most: Some(AtMost::Count(0)),
        allowed_now: None,
    },
    Limit { figure: Figure::ModulesInCycles("lorelane"), at_most: Some(AtMost::Count(0)), allowed_now: None },
    Limit { figure: Figure::InnerModulesInCycles, at_most: None, allowed_now: None },
    Limit { figure: Figure::WorkspaceMethods, at_most: Some(AtMost::Count(20)), allowed_now: None },
    Limit { figure: Figure::JsonFunctions, at_most: Some(AtMost::Count(0)), allowed_now: None },
    Limit { figure: Figure::JsonFiles, at_most: Some(AtMost::Count(0)), allowed_now: None },
    Limit { figure: Figure::ArchitectureKb, at_most: Some(AtMost::Kb(16)), allowed_now: None },
    Limit { figure: Figure::Comments, at_most: None, allowed_now: None },
];

/// Names that several types may have, because the word means the same in each.
const SHARED_NAMES: &[&str] = &[];

/// Code that edits JSON in place, which no derive can do.
const JSON_IN_PLACE: &[&str] = &[
    "crates/lorelane-core/src/json/",
    // Reads payloads of clients.
    "crates/lorelane/src/mcp/bridge.rs",
    // Turns arguments of a client into fields of a record.
    "crates/lorelane/src/mcp/tools/save.rs",
    // Reads an agent's answer: all errors are reported at once, with their values.
    "crates/lorelane-core/src/consolidate/answer.rs",
    // The same answer as lines, and a proposed memory: fields of records.
    "crates/lorelane-core/src/consolidate/lines.rs",
    "crates/lorelane-core/src/consolidate/propose.rs",
    // Records: unknown fields, duplicate keys and the digits of numbers are kept.
    "crates/lorelane-core/src/dialect/records/",
    "crates/lorelane-core/src/memory/history.rs",
    // Escapes JSON that somebody else wrote.
    "crates/lorelane-core/src/fence.rs",
    // Reads events of other programs in any of three forms; our own are derived.
    "crates/lorelane-core/src/working_set/log.rs",
    // Settings of any type, put into files that people write by hand.
    "crates/lorelane-core/src/policy.rs",
    // Reads these files and sets one key in place.
    "crates/lorelane-engine/src/config.rs",
];

const TABLE: &str = "xtask/src/tidy/limits.rs";
const ARCHITECTURE: &str = "ARCHITECTURE.md";

/// One measured figure.
#[derive(Debug)]
pub struct Measured {
    pub limit: &'static Limit,
    count: usize,
    /// The total, for figures that are shares.
    of: Option<usize>,
    /// The count as shown in the table.
    shown: String,
    /// What was counted, worst first.
    details: Vec<String>,
}

pub fn measure_all(root: &Path) -> Result<Vec<Measured>, Failure> {
    let codebase = Codebase::read(&crate_sources(root)?);
    let architecture = root.join(ARCHITECTURE);
    let architecture =
        fs::read(&architecture).map_err(|error| Failure::on("read", &architecture, error))?.len();
    Ok(LIMITS.iter().map(|limit| measure(limit, &codebase, architecture)).collect())
}

fn measure(limit: &'static Limit, codebase: &Codebase, architecture: usize) -> Measured {
    let counted = |count: usize, details: Vec<String>| Measured {
        limit,
        count,
        of: None,
        shown: count.to_string(),
        details,
    };
    match limit.figure {
        Figure::SharedTypeNames => {
            let types = types(codebase);
            let shared = shared(&types, SHARED_NAMES);
            let count = shared.iter().map(|(_, places)| places.len()).sum();
            let all: usize = types.values().map(Vec::len).sum();
            let detail = |(name, places): &(&str, &[String])| {
                format!("{name} ×{}: {}", places.len(), places.join(", "))
            };
            Measured {
                of: Some(all),
                shown: format!("{count} of {all} ({:.1} %)", percent(count, all)),
                ..counted(count, shared.iter().map(detail).collect())
            }
        }
        Figure::ModulesInCycles(crate_name) => {
            let cycles = cycles(codebase).into_iter();
            let cycles = cycles.filter(|cycle| cycle.crate_name == crate_name && cycle.within.is_empty());
            let (count, details) = cycle_details(cycles);
            counted(count, details)
        }
        Figure::InnerModulesInCycles => {
            let (count, details) =
                cycle_details(cycles(codebase).into_iter().filter(|cycle| !cycle.within.is_empty()));
            counted(count, details)
        }
        Figure::WorkspaceMethods => {
            let methods = public_methods(codebase, "lorelane-engine", "Workspace");
            let mut files: Vec<(&str, Vec<&str>)> = Vec::new();
            for method in &methods {
                match files.last_mut() {
                    Some((path, names)) if *path == method.path => names.push(&method.name),
                    _ => files.push((&method.path, vec![&method.name])),
                }
            }
            files.sort_by_key(|(_, names)| std::cmp::Reverse(names.len()));
            let detail =
                |(path, names): &(&str, Vec<&str>)| format!("{path}: {} ({})", names.len(), names.join(", "));
            Measured {
                shown: format!("{} in {} files", methods.len(), files.len()),
                ..counted(methods.len(), files.iter().map(detail).collect())
            }
        }
        Figure::JsonFunctions => {
            let mut files = by_hand(codebase, JSON_IN_PLACE);
            files.retain(|file| !file.functions.is_empty());
            files.sort_by_key(|file| std::cmp::Reverse(file.functions.len()));
            let count = files.iter().map(|file| file.functions.len()).sum();
            let details = files.iter().map(|file| format!("{}: {}", file.path, file.functions.join(", ")));
            counted(count, details.collect())
        }
        Figure::JsonFiles => {
            let mut files = by_hand(codebase, JSON_IN_PLACE);
            files.retain(|file| file.sites > 0);
            files.sort_by_key(|file| std::cmp::Reverse(file.sites));
            let sites: usize = files.iter().map(|file| file.sites).sum();
            let details = files.iter().map(|file| format!("{}: {}", file.path, file.sites));
            Measured {
                shown: format!("{} ({sites} places)", files.len()),
                ..counted(files.len(), details.collect())
            }
        }
        Figure::ArchitectureKb => {
            let kb = architecture.div_ceil(1024);
            Measured { shown: format!("{kb} KB ({architecture} bytes)"), ..counted(kb, Vec::new()) }
        }
        Figure::Comments => {
            let crates = commented(codebase);
            let shares = crates.values().map(|counted| percent(counted.comments, counted.lines));
            let details = crates.iter().zip(shares.clone()).map(|((name, counted), share)| {
                format!(
                    "{name}: {share:.1} % ({} comments, {} lines of code)",
                    counted.comments, counted.lines
                )
            });
            let (least, most) = (shares.clone().fold(f64::INFINITY, f64::min), shares.fold(0.0, f64::max));
            Measured { shown: format!("{least:.1} to {most:.1} %"), ..counted(0, details.collect()) }
        }
    }
}

/// The number of modules in cycles, and the cycles with their edges.
fn cycle_details(cycles: impl Iterator<Item = Cycle>) -> (usize, Vec<String>) {
    let mut count = 0;
    let (mut circles, mut details) = (Vec::new(), Vec::new());
    for cycle in cycles {
        count += cycle.modules.len();
        let within = [&[cycle.crate_name], cycle.within.as_slice()].concat().join("::");
        circles.push(format!("{within}: {}", cycle.modules.join(", ")));
        let edges = cycle.edges.iter();
        details.extend(edges.map(|edge| {
            format!("{} → {}: {}:{} names {}", edge.from, edge.to, edge.path, edge.line, edge.names)
        }));
    }
    circles.append(&mut details);
    (count, circles)
}

fn percent(count: usize, all: usize) -> f64 {
    100.0 * count as f64 / all.max(1) as f64
}

impl Figure {
    fn name(self) -> String {
        match self {
            Figure::SharedTypeNames => "types that share their name".into(),
            Figure::ModulesInCycles(crate_name) => format!("modules in cycles, {crate_name}"),
            Figure::InnerModulesInCycles => "modules in cycles, further down".into(),
            Figure::WorkspaceMethods => "public methods of `Workspace`".into(),
            Figure::JsonFunctions => "functions to and from JSON by hand".into(),
            Figure::JsonFiles => "files that build JSON by hand".into(),
            Figure::ArchitectureKb => format!("size of {ARCHITECTURE}"),
            Figure::Comments => "comments per line of code, by crate".into(),
        }
    }
}

impl Measured {
    /// The largest count within the limit.
    fn bound(&self) -> Option<usize> {
        self.limit.at_most.map(|at_most| match at_most {
            AtMost::Count(count) | AtMost::Kb(count) => count,
            AtMost::Percent(percent) => self.of.unwrap_or_default() * percent / 100,
        })
    }

    fn fault(&self) -> Option<Fault> {
        let (count, bound) = (self.count, self.bound()?);
        let what = match self.limit.allowed_now {
            None if count <= bound => return None,
            Some(allowed) if count > bound && count == allowed => return None,
            None => format!("{count}, over the limit of {bound}"),
            Some(allowed) if count <= bound => {
                format!("{count}, no longer {allowed}, and within the limit: write `allowed_now: None`")
            }
            Some(allowed) if count < allowed => {
                format!("{count}, no longer {allowed}: write `allowed_now: Some({count})`")
            }
            Some(allowed) => format!("{count}, more than the {allowed} that were there (limit {bound})"),
        };
        let what = format!("{}: {what}; `cargo xtask tidy --verbose` lists them", self.limit.figure.name());
        Some(Fault { path: TABLE.to_owned(), line: 0, what })
    }
}

/// Figures that grew, and rows that did not fall with theirs.
pub fn check(measured: &[Measured]) -> Vec<Fault> {
    measured.iter().filter_map(Measured::fault).collect()
}

/// How many details of a figure are shown without `verbose`.
const SHORT: usize = 3;

/// The figures as a table, each followed by its worst details, or with `verbose` by all.
pub fn table(measured: &[Measured], verbose: bool) -> String {
    let row = |cells: [&str; 4]| {
        let [figure, now, limit, verdict] = cells;
        format!("{figure:<36} {now:<24} {limit:<7} {verdict}").trim_end().to_owned() + "\n"
    };
    let mut text = row(["figure", "now", "limit", ""]);
    for measured in measured {
        let limit = match measured.limit.at_most {
            Some(AtMost::Count(count)) => count.to_string(),
            Some(AtMost::Kb(kb)) => format!("{kb} KB"),
            Some(AtMost::Percent(percent)) => format!("{percent} %"),
            None => String::new(),
        };
        let verdict = match measured.bound() {
            Some(bound) if measured.count > bound => "over",
            Some(_) => "ok",
            None => "",
        };
        text.push_str(&row([&measured.limit.figure.name(), &measured.shown, &limit, verdict]));
        let details = &measured.details;
        let shown = if verbose { details.len() } else { details.len().min(SHORT) };
        for detail in &details[..shown] {
            let detail = if verbose { detail.clone() } else { shortened(detail) };
            text.push_str(&format!("    {detail}\n"));
        }
    }
    text
}

/// Cuts a text to one line.
fn shortened(detail: &str) -> String {
    const WIDTH: usize = 100;
    match detail.char_indices().nth(WIDTH) {
        Some((end, _)) => format!("{}…", &detail[..end]),
        None => detail.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPEN: Limit =
        Limit { figure: Figure::WorkspaceMethods, at_most: Some(AtMost::Count(20)), allowed_now: Some(83) };
    const DONE: Limit = Limit { allowed_now: None, ..OPEN };
    const SHARE: Limit =
        Limit { figure: Figure::SharedTypeNames, at_most: Some(AtMost::Percent(8)), allowed_now: None };
    const TOLD: Limit = Limit { figure: Figure::Comments, at_most: None, allowed_now: None };

    fn measured(limit: &'static Limit, count: usize, of: Option<usize>) -> Measured {
        Measured { limit, count, of, shown: count.to_string(), details: vec!["a".into(); 5] }
    }

    #[test]
    fn a_figure_may_neither_grow_nor_fall_without_its_row() {
        for (limit, count, of, expected) in [
            (&OPEN, 83, None, ""),
            (&OPEN, 84, None, "84, more than the 83 that were there (limit 20)"),
            (&OPEN, 60, None, "60, no longer 83: write `allowed_now: Some(60)`"),
            (&OPEN, 20, None, "20, no longer 83, and within the limit: write `allowed_now: None`"),
            (&DONE, 20, None, ""),
            (&DONE, 3, None, ""),
            (&DONE, 21, None, "21, over the limit of 20"),
            (&SHARE, 8, Some(100), ""),
            (&SHARE, 9, Some(100), "9, over the limit of 8"),
            (&TOLD, 1000, None, ""),
        ] {
            let faults = check(&[measured(limit, count, of)]);
            let what: Vec<&str> = faults
                .iter()
                .map(|fault| fault.what.split_once(": ").unwrap().1.split(';').next().unwrap())
                .collect();
            assert_eq!(what.join(" "), expected, "{count} under {:?}", limit.allowed_now);
        }
    }

    #[test]
    fn the_table_says_what_is_over_and_shows_the_worst() {
        let rows = [measured(&OPEN, 83, None), measured(&SHARE, 8, Some(100)), measured(&TOLD, 7, None)];
        let text = table(&rows, false);
        let verdicts: Vec<&str> = text
            .lines()
            .filter(|line| !line.starts_with(' '))
            .map(|line| line.split_whitespace().last().unwrap())
            .collect();
        assert_eq!(verdicts, ["limit", "over", "ok", "7"]);
        assert_eq!(text.matches("\n    a").count(), 9);
        assert_eq!(table(&rows, true).matches("\n    a").count(), 15);
    }

    #[test]
    fn every_name_and_path_of_the_exceptions_is_needed() {
        let codebase = Codebase::read(&crate_sources(&crate::repo::root()).unwrap());
        let types = types(&codebase);
        for name in SHARED_NAMES {
            assert!(types.get(*name).is_some_and(|places| places.len() > 1), "{name} is not shared");
        }
        for path in JSON_IN_PLACE {
            let needed = by_hand(&codebase, &[]).iter().any(|file| file.path.starts_with(path));
            assert!(needed, "{path} builds no JSON");
        }
    }
}
