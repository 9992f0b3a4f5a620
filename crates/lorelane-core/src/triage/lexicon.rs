//! The words that give away what a session should leave behind.

use crate::memory::Category;

/// The words and weights of the categories that are found by what is said, and how they are read.
#[derive(Clone, Copy, Debug)]
pub struct Lexicon {
    pub kinds: &'static [CategoryLexicon],
    pub reading: LexiconReading,
}

/// One category's words. A blank in a phrase is any run of blanks.
#[derive(Clone, Copy, Debug)]
pub struct CategoryLexicon {
    pub category: Category,
    /// A line with one of these counts.
    pub primary: &'static [&'static str],
    /// It counts for more with one of these nearby.
    pub boosters: &'static [&'static str],
    pub primary_weight: f64,
    pub boosted_weight: f64,
    /// What all that may count comes to.
    pub denominator: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LexiconReading {
    /// As the first system's script read: code is cut out of the joined text, wherever a backtick pairs up.
    Scripts,
    /// Code never spans messages, and what is negated does not count.
    Native,
}

/// The first system's words, exactly.
pub const SCRIPTS: Lexicon = Lexicon { kinds: &SCRIPT_KINDS, reading: LexiconReading::Scripts };

/// Those words, and what later experience added to them.
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
        // `cannot` alone is an everyday word.
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
