//! Whether a sentence says that what it names exists, is planned, is not to be used, or is gone.
//!
//! Word lists and positions only. A word of history governs its whole sentence, a negation what follows it in its
//! clause. Governing too much costs a finding; governing too little costs a false alarm.

use super::Stance;
use super::markdown::{Piece, PieceKind};

/// Words of history: what their sentence names may be gone.
const HISTORY: &[&str] = &[
    "abandoned",
    "delete",
    "deleted",
    "deleting",
    "deletion",
    "deprecate",
    "deprecated",
    "deprecates",
    "deprecation",
    "disappeared",
    "discontinued",
    "dropped",
    "eliminate",
    "eliminated",
    "erased",
    "former",
    "formerly",
    "gone",
    "historical",
    "legacy",
    "nonexistent",
    "obsolete",
    "obsoleted",
    "originally",
    "outdated",
    "predecessor",
    "previously",
    "purged",
    "removal",
    "remove",
    "removed",
    "removes",
    "removing",
    "rename",
    "renamed",
    "renames",
    "renaming",
    "replaced",
    "replaces",
    "retired",
    "reverted",
    "superseded",
    "supersedes",
    "unused",
    "vanished",
];
/// The same as two words in a row.
const HISTORY_PAIRS: &[(&str, &str)] = &[
    ("at", "first"),
    ("got", "rid"),
    ("instead", "of"),
    ("migrate", "from"),
    ("migrated", "from"),
    ("moved", "away"),
    ("moved", "from"),
    ("moved", "out"),
    ("no", "longer"),
    ("no", "more"),
    ("not", "anymore"),
    ("rather", "than"),
    ("split", "up"),
    ("switched", "from"),
    ("taken", "out"),
    ("there", "was"),
    ("there", "were"),
    ("used", "to"),
    ("was", "called"),
    ("was", "named"),
];
const NEGATIONS: &[&str] = &[
    "ain't",
    "aren't",
    "avoid",
    "avoiding",
    "avoids",
    "can't",
    "cannot",
    "couldn't",
    "didn't",
    "doesn't",
    "don't",
    "dont",
    "except",
    "forbidden",
    "hasn't",
    "haven't",
    "isn't",
    "lacks",
    "missing",
    "mustn't",
    "neither",
    "never",
    "no",
    "none",
    "nor",
    "not",
    "prohibited",
    "shouldn't",
    "wasn't",
    "weren't",
    "without",
    "won't",
    "wouldn't",
];
/// A negated verb of existence: what the sentence names is not there.
const EXISTENCE: &[&str] = &["available", "exist", "exists", "present", "supported", "there", "used"];
const PLANS: &[&str] = &[
    "eventually",
    "future",
    "going",
    "plan",
    "planned",
    "planning",
    "plans",
    "proposal",
    "propose",
    "proposed",
    "roadmap",
    "someday",
    "tbd",
    "todo",
    "todos",
    "upcoming",
    "will",
    "would",
    "wip",
];
/// Words that end the clause of a negation.
const CLAUSE_ENDS: &[&str] = &[
    "although", "because", "but", "however", "if", "it's", "since", "so", "that's", "unless", "until",
    "when", "whereas", "while",
];

/// Words that begin a sentence about what the one before it names: "It was removed."
const REFERRING: &[&str] = &["all", "both", "it", "that", "these", "they", "this", "those"];

/// What the words of one sentence govern.
#[derive(Clone, Debug, Default)]
pub(super) struct SentenceWords {
    has_history: bool,
    /// Whether it refers to what the sentence before it names.
    refers_back: bool,
    has_plan: bool,
    /// The pieces that a negation governs, as ranges of their positions.
    negated: Vec<(usize, usize)>,
    /// Where a negation began whose clause has not ended.
    open: Option<usize>,
}

impl SentenceWords {
    /// The stance of the piece at this position.
    pub(super) fn stance_at(&self, at: usize) -> Stance {
        // Ranges are in order and do not overlap.
        let next = self.negated.partition_point(|(_, to)| *to <= at);
        let is_negated = self.negated.get(next).is_some_and(|(from, _)| *from <= at);
        match (self.has_history, is_negated, self.has_plan) {
            (true, ..) => Stance::Gone,
            (false, true, _) => Stance::Negated,
            (false, false, true) => Stance::Planned,
            (false, false, false) => Stance::Plain,
        }
    }

    /// The stance of the sentence as a whole.
    pub(super) fn overall(&self) -> Stance {
        if self.has_history { Stance::Gone } else { Stance::Plain }
    }

    fn end_clause(&mut self, at: usize) {
        if let Some(from) = self.open.take() {
            self.negated.push((from, at));
        }
    }
}

/// The governing words of each sentence.
pub(super) fn sentences(pieces: &[Piece<'_>]) -> Vec<SentenceWords> {
    let count = pieces.last().map_or(0, |last| last.sentence + 1);
    let mut sentences = vec![SentenceWords::default(); count];
    let mut before = (usize::MAX, String::new());
    for (at, piece) in pieces.iter().enumerate() {
        // The words of a URL say nothing about it.
        if piece.kind != PieceKind::Word || piece.text.contains("://") {
            continue;
        }
        let Some(words) = sentences.get_mut(piece.sentence) else { continue };
        words.refers_back |= before.0 != piece.sentence && is_referring(piece.text);
        // Words such as `read/delete` and `pre-existing` are several.
        for part in piece.text.split(['/', '—', '–', '→']) {
            let word = folded(part);
            let previous = if before.0 == piece.sentence { before.1.as_str() } else { "" };
            take(words, at, previous, &word, part);
            before = (piece.sentence, word);
        }
    }
    sentences.iter_mut().for_each(|words| words.end_clause(pieces.len()));
    for at in 1..sentences.len() {
        let (before, after) = sentences.split_at_mut(at);
        if after[0].has_history && after[0].refers_back {
            before[at - 1].has_history = true;
        }
    }
    sentences
}

fn is_referring(word: &str) -> bool {
    REFERRING.contains(&folded(word).as_str())
}

fn take(words: &mut SentenceWords, at: usize, previous: &str, word: &str, written: &str) {
    let is_in = |list: &[&str], word: &str| list.contains(&word);
    let is_negated_existence = is_in(EXISTENCE, word) && (previous == "not" || previous.ends_with("n't"));
    words.has_history |= is_in(HISTORY, word)
        || is_negated_existence
        || HISTORY_PAIRS.iter().any(|(first, second)| *first == previous && *second == word);
    words.has_plan |= is_in(PLANS, word);
    if is_in(CLAUSE_ENDS, word) || written.starts_with(',') || written.is_empty() {
        words.end_clause(at);
    }
    if is_in(NEGATIONS, word) {
        words.open.get_or_insert(at);
    }
    if written.ends_with([',', ':']) {
        words.end_clause(at + 1);
    }
}

/// A word in lower case without the punctuation around it.
fn folded(word: &str) -> String {
    let inner = word.trim_matches(|c: char| !c.is_alphanumeric());
    // No word of the lists is longer; a long text in one word is not copied.
    if inner.len() > 24 { String::new() } else { inner.to_lowercase().replace('’', "'") }
}
