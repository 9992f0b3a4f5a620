//! What is expected of the weights before any example is seen: each feature has a meaning, and so a sign.
//!
//! A hundred labelled statements say little about fifty weights. Weights that start from their meaning hold in other
//! repositories; free ones fit the repositories they were fitted on.

use lorelane_core::statements::{FEATURES, StatementFeature as F, StatementKind};

use crate::logistic::{WeightPrior, WeightRange};

/// What one feature counts if nothing else is known, in log odds.
const EXPECTED: f64 = 1.0;
/// Whoever says that something was decided says the whole of it, so this one feature is nearly enough.
const DECLARED: f64 = 3.5;
/// The penalty of the model that keeps, and of the models of kinds.
pub const KEEP_PENALTY: f64 = 200.0;
pub const KIND_PENALTY: f64 = 20.0;

/// Features that speak against keeping.
const AGAINST: &[F] = &[
    F::EditLead,
    F::Request,
    F::TaskStep,
    F::Question,
    F::QuestionLead,
    F::Screen,
    F::Trouble,
    F::Report,
    F::CodeShare,
    F::Short,
    F::Long,
    F::InDocument,
    F::BigMessage,
    F::LogMessage,
    F::LabelEnd,
    F::LabelLead,
    F::Quoted,
    F::Statements,
    F::SaidBefore,
];
/// Features that only tell kinds apart.
const OF_KINDS: &[F] = &[F::Fact];

pub fn keep() -> [WeightPrior; FEATURES] {
    std::array::from_fn(|at| {
        let feature = F::ALL[at];
        if feature == F::Declaration {
            prior(DECLARED, WeightRange::NotNegative)
        } else if OF_KINDS.contains(&feature) {
            prior(0.0, WeightRange::Zero)
        } else if AGAINST.contains(&feature) {
            prior(-EXPECTED, WeightRange::NotPositive)
        } else {
            prior(EXPECTED, WeightRange::NotNegative)
        }
    })
}

fn prior(expected: f64, range: WeightRange) -> WeightPrior {
    WeightPrior { expected, range }
}

pub fn kind(kind: StatementKind) -> [WeightPrior; FEATURES] {
    let expected = match kind {
        StatementKind::Decision => DECISION,
        StatementKind::Preference => PREFERENCE,
        StatementKind::Correction => CORRECTION,
        StatementKind::Constraint => CONSTRAINT,
        StatementKind::Runbook => RUNBOOK,
        StatementKind::TechDebt => TECH_DEBT,
    };
    let mut priors = [prior(0.0, WeightRange::Zero); FEATURES];
    for (feature, expected) in expected {
        let range = if *expected > 0.0 { WeightRange::NotNegative } else { WeightRange::NotPositive };
        priors[*feature as usize] = prior(*expected, range);
    }
    priors
}

/// A decision is about the product.
const DECISION: &[(F, f64)] = &[
    (F::Product, 1.0),
    (F::Architecture, 0.5),
    (F::Should, 1.0),
    (F::Want, 0.5),
    (F::Lets, 1.0),
    (F::Commitment, 1.0),
    (F::Declaration, 2.0),
    (F::Only, 1.0),
    (F::DecidingQuestion, 1.0),
    (F::Instead, 1.0),
    (F::Screen, 0.5),
    (F::Every, 0.5),
    (F::Process, -1.0),
    (F::Outside, -1.0),
    (F::Deferral, -1.0),
    (F::Trouble, -1.0),
    (F::Correction, -1.0),
    (F::Order, -1.0),
    (F::Request, -0.5),
    (F::Acknowledged, -0.5),
    (F::Fact, -0.5),
];
/// A preference is about the way of working.
const PREFERENCE: &[(F, f64)] = &[
    (F::Process, 1.0),
    (F::Order, 1.0),
    (F::RuleLead, 0.5),
    (F::General, 1.0),
    (F::Emphasis, 1.0),
    (F::Request, 1.0),
    (F::EditLead, 0.5),
    (F::Should, -1.0),
    (F::Subject, -1.0),
    (F::Product, -1.0),
    (F::Only, -0.5),
    (F::Trouble, -1.0),
    (F::Fact, -1.0),
    (F::Deferral, -1.0),
    (F::Outside, -1.0),
    (F::Correction, -1.0),
    (F::Reason, -0.5),
];
/// A correction contradicts what the agent did.
const CORRECTION: &[(F, f64)] = &[
    (F::Instead, 0.5),
    (F::NotThis, 1.0),
    (F::Correction, 2.0),
    (F::Acknowledged, 1.0),
    (F::Fact, 0.5),
    (F::Deferral, -1.0),
    (F::Outside, -1.0),
    (F::Lets, -1.0),
    (F::Want, -0.5),
    (F::Commitment, -1.0),
    (F::RuleLead, -1.0),
];
/// A constraint is a fact from outside.
const CONSTRAINT: &[(F, f64)] = &[
    (F::Outside, 1.5),
    (F::Fact, 1.0),
    (F::Reason, 0.5),
    (F::Subject, 0.5),
    (F::Report, 0.5),
    (F::Architecture, 0.5),
    (F::Lets, -1.0),
    (F::Want, -1.0),
    (F::Deferral, -1.0),
    (F::Order, -1.0),
    (F::Process, -0.5),
    (F::Instead, -1.0),
    (F::Correction, -0.5),
    (F::Should, -0.5),
    (F::Commitment, -1.0),
];
/// A runbook tells the cause of a failure.
const RUNBOOK: &[(F, f64)] = &[
    (F::Cause, 3.0),
    (F::Trouble, 1.0),
    (F::Reason, 1.0),
    (F::Fact, 1.5),
    (F::Subject, 1.0),
    (F::Should, -1.0),
    (F::Want, -1.0),
    (F::Lets, -1.0),
    (F::RuleLead, -1.0),
    (F::EditLead, -1.0),
    (F::Order, -1.0),
    (F::Process, -1.0),
    (F::Request, -1.0),
    (F::Commitment, -1.0),
];
/// A debt is postponed.
const TECH_DEBT: &[(F, f64)] = &[(F::Deferral, 2.0)];
