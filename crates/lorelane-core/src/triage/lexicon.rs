//! The phrases by which triage recognises what is worth saving.

use crate::memory::Category;

/// Phrases and weights of the categories that are recognised by text, and how the text is read.
#[derive(Clone, Copy, Debug)]
pub struct Lexicon {
    pub kinds: &'static [CategoryLexicon],
    pub reading: LexiconReading,
}

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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LexiconReading {
    /// As the `claude-memory` scripts read: code is removed from the joined text, between any two backticks.
    Scripts,
    /// Code never spans messages, and negated phrases do not count.
    Native,
}

/// Exactly the phrases of the `claude-memory` scripts.
pub const SCRIPTS: Lexicon = Lexicon { kinds: &SCRIPT_KINDS, reading: LexiconReading::Scripts };

/// Those phrases, with additions and corrections. The weights are unchanged: a single decision with its reason
/// scores 0.26 of 0.4 and is not captured. A threshold that lets it pass would capture every decision that is
/// only mentioned.
pub const NATIVE: Lexicon = Lexicon { kinds: &NATIVE_KINDS, reading: LexiconReading::Native };

const SCRIPT_KINDS: [CategoryLexicon; 5] = [
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

const NATIVE_KINDS: [CategoryLexicon; 5] = [
    CategoryLexicon {
        primary: &[
            "decided",
            "chose",
            "selected",
            "went with",
            "picked",
            "let's go with",
            "let’s go with",
            "we should use",
            "opting for",
            "switching to",
            "adopting",
            "settled on",
            "going with",
            "architecture decision",
            "design decision",
        ],
        ..SCRIPT_KINDS[0]
    },
    SCRIPT_KINDS[1],
    CategoryLexicon {
        // `cannot` alone is too common.
        primary: &[
            "limitation",
            "api limit",
            "restricted",
            "not supported",
            "quota",
            "rate limit",
            "does not support",
            "limited to",
            "hard limit",
            "service limit",
            "vendor limitation",
        ],
        boosters: &[
            "discovered",
            "found that",
            "turns out",
            "permanently",
            "enduring",
            "platform",
            "cannot",
            "by design",
            "upstream",
            "provider",
            "not configurable",
            "managed plan",
            "incompatible",
            "deprecated",
        ],
        ..SCRIPT_KINDS[2]
    },
    SCRIPT_KINDS[3],
    CategoryLexicon {
        primary: &[
            "always use",
            "prefer",
            "convention",
            "from now on",
            "standard",
            "never use",
            "established",
            "default to",
            "stick with",
            "always remember",
            "my style",
            "keep using",
            "our convention",
            "i like to",
        ],
        ..SCRIPT_KINDS[4]
    },
];
