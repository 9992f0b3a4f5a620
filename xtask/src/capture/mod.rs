//! `capture --sets DIR`: fits the weights of the detector of statements on labelled conversations that are not in the
//! repository, and measures it.
//!
//! The weights that ship are fitted on all repositories. How they do in repositories they have not seen is measured by
//! leaving out one at a time: weights fitted on the others, measured on it. `bench --sets` prints both.

mod measure;
mod priors;
mod set;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use lorelane_core::statements::{
    FEATURES, FeatureFamily, LinearModel, StatementFeature, StatementKind, StatementWeights, candidates,
    detect_with,
};

use crate::args::Args;
use crate::failure::Failure;
use crate::logistic::{Example, WeightPrior, WeightRange, fit_with};
use crate::quality::{Measured, Verdicts};
use crate::repo;
use crate::retrieval_bench::Report;
use measure::{CaptureMeasures, MEASURES};
use set::LabelledConversation;

/// How much rare kinds are made up for: 0 not at all, 1 wholly.
const BALANCE: f64 = 0.3;

pub fn command(mut args: Args) -> Result<bool, Failure> {
    let sets: Option<PathBuf> = args.option("--sets")?;
    let write = args.flag("--write");
    args.finish()?;
    let sets =
        sets.ok_or_else(|| Failure::new("--sets is missing").hint("give the folder with capture/dev.jsonl"))?;
    let conversations = set::read(&sets)?;
    let examples = examples(&conversations);
    if write {
        let path = repo::root().join("crates/lorelane-core/src/statements/fitted.rs");
        let text = source(&fitted(&examples, &conversations, None, None));
        fs::write(&path, text).map_err(|error| Failure::on("write", &path, error))?;
        println!("wrote {}; build again to measure it", path.display());
        return Ok(true);
    }
    let report = report(&conversations, &examples);
    println!("{}\n{}", report.tables, report.verdicts);
    Ok(report.met)
}

/// The measures of the detector on the conversations in `capture/dev.jsonl`; `None` if the file does not exist.
pub fn tables(sets: &Path) -> Result<Option<Report>, Failure> {
    if !set::path(sets).is_file() {
        return Ok(None);
    }
    let conversations = set::read(sets)?;
    let examples = examples(&conversations);
    Ok(Some(report(&conversations, &examples)))
}

/// A statement of one conversation and the kinds of the labels that it meets.
struct StatementExample {
    conversation: usize,
    values: [f64; FEATURES],
    kinds: Vec<StatementKind>,
}

fn examples(conversations: &[LabelledConversation]) -> Vec<StatementExample> {
    let mut examples = Vec::new();
    for (conversation, labelled) in conversations.iter().enumerate() {
        for candidate in candidates(&labelled.conversation, None) {
            let met = labelled.met_by(&candidate.statement);
            let kinds = met.into_iter().filter_map(|label| labelled.labels[label].kind).collect();
            examples.push(StatementExample { conversation, values: candidate.values.0, kinds });
        }
    }
    examples
}

/// Fits the weights on the conversations of all repositories but one, or without one family of features.
fn fitted(
    examples: &[StatementExample],
    conversations: &[LabelledConversation],
    left_out: Option<&str>,
    off: Option<FeatureFamily>,
) -> StatementWeights {
    let used: Vec<&StatementExample> = examples
        .iter()
        .filter(|example| left_out != Some(conversations[example.conversation].repository.as_str()))
        .collect();
    let example = |one: &StatementExample, is_useful: bool, weight: f64| Example {
        features: one.values,
        is_useful,
        weight,
    };
    let keep: Vec<Example<FEATURES>> =
        used.iter().map(|one| example(one, !one.kinds.is_empty(), 1.0)).collect();
    let positive: Vec<&&StatementExample> = used.iter().filter(|one| !one.kinds.is_empty()).collect();
    let of_kind = |kind: StatementKind| {
        let count = positive.iter().filter(|one| one.kinds.contains(&kind)).count().max(1);
        let balanced = (positive.len() as f64 / count as f64 / 2.0).powf(BALANCE);
        let examples: Vec<Example<FEATURES>> = positive
            .iter()
            .map(|one| {
                let is_kind = one.kinds.contains(&kind);
                example(one, is_kind, if is_kind { balanced } else { 1.0 })
            })
            .collect();
        model(&examples, priors::kind(kind), priors::KIND_PENALTY, off)
    };
    StatementWeights {
        keep: model(&keep, priors::keep(), priors::KEEP_PENALTY, off),
        kinds: StatementKind::ALL.map(of_kind),
    }
}

fn model(
    examples: &[Example<FEATURES>],
    mut priors: [WeightPrior; FEATURES],
    penalty: f64,
    off: Option<FeatureFamily>,
) -> LinearModel {
    for (prior, feature) in priors.iter_mut().zip(StatementFeature::ALL) {
        if off == Some(feature.family()) {
            *prior = WeightPrior { expected: 0.0, range: WeightRange::Zero };
        }
    }
    let (bias, weights) = fit_with(examples, &priors, penalty);
    LinearModel { bias, weights }
}

/// The measures of each repository with weights that were fitted on the others.
fn left_out(
    conversations: &[LabelledConversation],
    examples: &[StatementExample],
    off: Option<FeatureFamily>,
) -> CaptureMeasures {
    let mut measures = CaptureMeasures::default();
    let repositories: BTreeSet<&str> =
        conversations.iter().map(|labelled| labelled.repository.as_str()).collect();
    for repository in repositories {
        let weights = fitted(examples, conversations, Some(repository), off);
        for labelled in conversations.iter().filter(|labelled| labelled.repository == repository) {
            measures.add(labelled, &detect_with(&labelled.conversation, None, &weights));
        }
    }
    measures
}

const FAMILIES: [FeatureFamily; 13] = [
    FeatureFamily::Form,
    FeatureFamily::Contrast,
    FeatureFamily::Scope,
    FeatureFamily::Reason,
    FeatureFamily::Order,
    FeatureFamily::Deferral,
    FeatureFamily::Question,
    FeatureFamily::Domain,
    FeatureFamily::Length,
    FeatureFamily::Document,
    FeatureFamily::Place,
    FeatureFamily::Agent,
    FeatureFamily::Repetition,
];

fn report(conversations: &[LabelledConversation], examples: &[StatementExample]) -> Report {
    let measured = left_out(conversations, examples, None);
    let mut in_sample = CaptureMeasures::default();
    let weights = StatementWeights::default();
    for labelled in conversations {
        in_sample.add(labelled, &detect_with(&labelled.conversation, None, &weights));
    }
    let counted = |measures: &CaptureMeasures| Measured {
        values: measures.values().to_vec(),
        counts: measures.counts().to_vec(),
    };
    let Verdicts { table, lines, met } =
        Verdicts::of("capture", &MEASURES, &counted(&measured), &counted(&in_sample));
    let row = |measures: &CaptureMeasures| {
        measures.values()[..5].iter().map(|value| format!(" {value:.1} |")).collect::<String>()
    };
    let mut ablation = format!("| all |{}\n", row(&measured));
    for family in FAMILIES {
        let without = left_out(conversations, examples, Some(family));
        let _ = writeln!(ablation, "| without {family:?} |{}", row(&without));
    }
    let tables = format!(
        "{table}\n{}\n| features, left out | asks in vain | asked right | found | right | kind |\n\
         | --- | ---: | ---: | ---: | ---: | ---: |\n{ablation}",
        measured.kinds_table(&in_sample),
    );
    Report { tables, verdicts: lines, met }
}

fn source(weights: &StatementWeights) -> String {
    let numbers = |model: &LinearModel, indent: &str| {
        let numbers: Vec<String> = std::iter::once(&model.bias)
            .chain(&model.weights)
            // Adding zero removes the sign of a negative zero.
            .map(|number| format!("{:.3}", (number * 1000.0).round() / 1000.0 + 0.0))
            .collect();
        let lines: Vec<String> =
            numbers.chunks(12).map(|line| format!("{indent}{},\n", line.join(", "))).collect();
        lines.concat()
    };
    let kinds: Vec<String> =
        weights.kinds.iter().map(|model| format!("    [\n{}    ],\n", numbers(model, "        "))).collect();
    format!(
        "//! Weights that were fitted on measured data, by `cargo xtask capture --write`.\n\n\
         use super::features::FEATURES;\n\n\
         /// The bias, then the weights of the features in their order.\n\
         #[rustfmt::skip]\n\
         pub(super) const KEEP: [f32; FEATURES + 1] = [\n{}];\n\n\
         /// The same for each kind of statement.\n\
         #[rustfmt::skip]\n\
         pub(super) const KINDS: [[f32; FEATURES + 1]; 6] = [\n{}];\n",
        numbers(&weights.keep, "    "),
        kinds.concat(),
    )
}
