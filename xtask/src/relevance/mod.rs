//! `relevance --sets DIR`: fits the relevance estimate on labelled prompts that are not in the repository, and
//! measures reminders with it.
//!
//! The weights that ship are fitted on all projects. How they do on projects they have not seen is measured by leaving
//! out one project at a time: weights fitted on the others, measured on it. `bench --sets` prints both.

mod measure;
mod set;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use lorelane_core::recall::relevance::{Evidence, RelevanceWeights};

use crate::args::Args;
use crate::failure::Failure;
use crate::logistic::{Example, fit};
use crate::quality::{Measured, Verdicts};
use crate::repo;
use crate::retrieval_bench::Report;
use measure::{Calibration, MEASURES, ReminderCounts};
use set::{LabelledProject, read_projects};

const FEATURES: [&str; 4] = ["words", "pasted", "meaning", "length"];
/// How much a memory counts for a prompt of another project. There are five times as many of these as of own prompts,
/// and a real user hardly types any.
const FOREIGN: f64 = 0.4;

pub fn command(mut args: Args) -> Result<bool, Failure> {
    let sets: Option<PathBuf> = args.option("--sets")?;
    let write = args.flag("--write");
    args.finish()?;
    let sets =
        sets.ok_or_else(|| Failure::new("--sets is missing").hint("give the folder with remind/dev"))?;
    let mut projects = read_projects(&sets)?;
    let examples = examples(&mut projects)?;
    if write {
        let path = repo::root().join("crates/lorelane-core/src/recall/fitted.rs");
        let text = source(&fitted(&examples, |_| true));
        fs::write(&path, text).map_err(|error| Failure::on("write", &path, error))?;
        println!("wrote {}; build again to measure it", path.display());
        return Ok(true);
    }
    let report = report(&mut projects, &examples)?;
    println!("{}\n{}", report.tables, report.verdicts);
    Ok(report.met)
}

/// The measures of reminders on the prompts in `remind/dev`; `None` if the folder has none.
pub fn tables(sets: &Path) -> Result<Option<Report>, Failure> {
    if !sets.join("remind/dev").is_dir() {
        return Ok(None);
    }
    let mut projects = read_projects(sets)?;
    let examples = examples(&mut projects)?;
    report(&mut projects, &examples).map(Some)
}

/// A memory of one project and a prompt, of the same project or of another.
struct Pair {
    project: usize,
    is_own: bool,
    evidence: Evidence,
    is_useful: bool,
}

fn examples(projects: &mut [LabelledProject]) -> Result<Vec<Pair>, Failure> {
    let mut pairs = Vec::new();
    for project in 0..projects.len() {
        for other in 0..projects.len() {
            for prompt in projects[other].prompts.clone() {
                let is_own = other == project;
                for (address, evidence) in projects[project].evidence(&prompt.text)? {
                    let is_useful = is_own && prompt.is_useful(&address);
                    pairs.push(Pair { project, is_own, evidence, is_useful });
                }
            }
        }
    }
    Ok(pairs)
}

/// Fits the weights on the memories of some projects.
fn fitted(pairs: &[Pair], is_used: impl Fn(usize) -> bool) -> RelevanceWeights {
    fitted_without(pairs, is_used, None)
}

/// The same with one feature switched off.
fn fitted_without(pairs: &[Pair], is_used: impl Fn(usize) -> bool, off: Option<usize>) -> RelevanceWeights {
    let examples: Vec<Example<4>> = pairs
        .iter()
        .filter(|pair| is_used(pair.project))
        .map(|pair| {
            let mut features = pair.evidence.features().map(f64::from);
            off.into_iter().for_each(|off| features[off] = 0.0);
            Example { features, is_useful: pair.is_useful, weight: if pair.is_own { 1.0 } else { FOREIGN } }
        })
        .collect();
    let (bias, weights) = fit(&examples);
    // What prompts of other projects teach keeps the order right, but makes every estimate too low for a project's own
    // prompts: the scale is fitted on these alone.
    let own: Vec<Example<1>> = pairs
        .iter()
        .filter(|pair| is_used(pair.project))
        .zip(&examples)
        .filter(|(pair, _)| pair.is_own)
        .map(|(_, one)| {
            let sum: f64 = one.features.iter().zip(weights).map(|(value, weight)| value * weight).sum();
            Example { features: [bias + sum], is_useful: one.is_useful, weight: 1.0 }
        })
        .collect();
    let (shift, [scale]) = fit(&own);
    let mut all = [(shift + scale * bias) as f32; 5];
    all[1..].iter_mut().zip(weights).for_each(|(slot, weight)| *slot = (scale * weight) as f32);
    off.into_iter().for_each(|off| all[off + 1] = 0.0);
    RelevanceWeights::from_array(all)
}

/// The measures of one project with these weights, by the hook's own rule.
fn measured(
    projects: &mut [LabelledProject],
    at: usize,
    weights: RelevanceWeights,
    counts: &mut ReminderCounts,
) -> Result<(), Failure> {
    projects[at].weigh(weights);
    for other in 0..projects.len() {
        for prompt in projects[other].prompts.clone() {
            let shown = projects[at].shown(&prompt.text)?;
            if other == at {
                counts.add(&prompt, &shown);
            } else {
                counts.add_foreign(&shown);
            }
        }
    }
    Ok(())
}

fn report(projects: &mut [LabelledProject], pairs: &[Pair]) -> Result<Report, Failure> {
    let mut left_out = ReminderCounts::default();
    let mut in_sample = ReminderCounts::default();
    let mut of_projects = String::new();
    let (mut calibration, mut calibration_fitted_on) = (Calibration::default(), Calibration::default());
    let shipped = RelevanceWeights::default();
    for at in 0..projects.len() {
        let weights = fitted(pairs, |project| project != at);
        for pair in pairs.iter().filter(|pair| pair.is_own && pair.project == at) {
            calibration.add(pair.evidence.chance(&weights), pair.is_useful);
            calibration_fitted_on.add(pair.evidence.chance(&shipped), pair.is_useful);
        }
        let mut own = ReminderCounts::default();
        measured(projects, at, weights.clone(), &mut own)?;
        let [hit, precision, alarms, ..] = own.values();
        let _ = writeln!(of_projects, "| {} | {hit:.1} | {precision:.1} | {alarms:.1} |", at + 1);
        measured(projects, at, weights, &mut left_out)?;
        measured(projects, at, RelevanceWeights::default(), &mut in_sample)?;
    }
    let mut ablation = String::new();
    for (off, name) in FEATURES.iter().enumerate() {
        let mut counts = ReminderCounts::default();
        for at in 0..projects.len() {
            let weights = fitted_without(pairs, |project| project != at, Some(off));
            measured(projects, at, weights, &mut counts)?;
        }
        let values = counts.values().map(|value| format!(" {value:.1} |")).concat();
        let _ = writeln!(ablation, "| without `{name}` |{values}");
    }
    let counted = |counts: &ReminderCounts| Measured { values: counts.values().to_vec(), counts: Vec::new() };
    let Verdicts { table, lines, met } =
        Verdicts::of("reminders", &MEASURES, &counted(&left_out), &counted(&in_sample));
    let all = left_out.values().map(|value| format!(" {value:.1} |")).concat();
    let tables = format!(
        "{table}\n| left out project | hit | precision | false |\n| --- | ---: | ---: | ---: |\n{of_projects}\n\
         | evidence | hit | precision | false | paraphrases | other projects | tokens |\n\
         | --- | ---: | ---: | ---: | ---: | ---: | ---: |\n| all |{all}\n{ablation}\n{}",
        calibration.table(&calibration_fitted_on),
    );
    Ok(Report { tables, verdicts: lines, met })
}

fn source(weights: &RelevanceWeights) -> String {
    let RelevanceWeights { bias, words, pasted, meaning, length } = weights;
    format!(
        "//! Weights that were fitted on measured data, by `cargo xtask relevance --write`.\n\n\
         /// The bias of the relevance estimate, then the weights of the evidence in its order.\n\
         pub(super) const RELEVANCE: [f32; 5] = [{bias:.2}, {words:.2}, {pasted:.2}, {meaning:.2}, {length:.2}];\n"
    )
}
