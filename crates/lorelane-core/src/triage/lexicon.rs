//! The phrases by which triage recognises what is worth saving.

use crate::memory::Category;

/// The phrases of one category. A space in a phrase matches any whitespace.
#[derive(Clone, Copy, Debug)]
pub struct CategoryLexicon {
    pub category: Category,
    /// A line with one of these is a match.
    pub primary: &'static [&'static str],
    /// A match with one of these nearby counts more.
    pub boosters: &'static [&'static str],
    pub primary_weight: f64,
    pub boosted_weight: f64,
    /// The maximum sum, which normalises the score to 1.
    pub denominator: f64,
}

/// Exactly the phrases and weights of the `claude-memory` scripts, for the categories that are recognised by text.
pub const SCRIPTS: [CategoryLexicon; 5] = [
    CategoryLexicon {
        category: Category::Decision,
        primary: &["decided", "chose", "selected", "went with", "picked"],
        boosters: &["because", "due to", "reason", "rationale", "over", "instead of", "rather than"],
        primary_weight: 0.3,
        boosted_weight: 0.5,
        denominator: 1.9,
    },
    CategoryLexicon {
        category: Category::Runbook,
        primary: &[
            "error",
            "exception",
            "traceback",
            "stack trace",
            "stacktrace",
            "failed",
            "failure",
            "crash",
        ],
        boosters: &["fixed by", "resolved", "root cause", "solution", "workaround", "the fix"],
        primary_weight: 0.2,
        boosted_weight: 0.6,
        denominator: 1.8,
    },
    CategoryLexicon {
        category: Category::Constraint,
        primary: &["limitation", "api limit", "cannot", "restricted", "not supported", "quota", "rate limit"],
        boosters: &["discovered", "found that", "turns out", "permanently", "enduring", "platform"],
        primary_weight: 0.3,
        boosted_weight: 0.5,
        denominator: 1.9,
    },
    CategoryLexicon {
        category: Category::TechDebt,
        primary: &[
            "todo",
            "deferred",
            "tech debt",
            "workaround",
            "hack",
            "will address later",
            "technical debt",
        ],
        boosters: &["because", "for now", "temporary", "acknowledged", "deferring", "cost", "risk"],
        primary_weight: 0.3,
        boosted_weight: 0.5,
        denominator: 1.9,
    },
    CategoryLexicon {
        category: Category::Preference,
        primary: &[
            "always use",
            "prefer",
            "convention",
            "from now on",
            "standard",
            "never use",
            "established",
        ],
        boosters: &["agreed", "going forward", "consistently", "rule", "practice", "workflow"],
        primary_weight: 0.35,
        boosted_weight: 0.5,
        denominator: 2.05,
    },
];
