//! Whether a sentence says that what it names exists, is planned, is not to be used, or is gone.
//!
//! Word lists and positions only. A negation governs what follows it in its clause; what was removed is the object or
//! the subject of a verb. A word of history anywhere else leaves its whole sentence in doubt. Governing too much costs a
//! finding; governing too little costs a false alarm.

use super::Stance;
use super::markdown::{Piece, PieceKind};

/// Participles that say that their object is gone ("we removed X") or, behind a form of "to be", their subject ("X was
/// removed"). In other forms the same verbs describe what code does: "`prune()` removes `Session`".
const ENDINGS: &[&str] = &[
    "abandoned",
    "deleted",
    "discontinued",
    "dropped",
    "eliminated",
    "erased",
    "purged",
    "removed",
    "renamed",
    "replaced",
    "retired",
    "reverted",
    "superseded",
];
/// Pairs that say that what follows them is gone.
const ENDING_PAIRS: &[(&str, &str)] = &[
    ("got", "rid"),
    ("instead", "of"),
    ("migrated", "from"),
    ("moved", "from"),
    ("rather", "than"),
    ("renamed", "from"),
    ("switched", "from"),
];
/// Pairs that say that what is before them is gone.
const ENDED_PAIRS: &[(&str, &str)] = &[("no", "longer"), ("not", "anymore"), ("taken", "out")];
/// Behind a form of "to be" they negate their subject.
const FORBIDDEN: &[&str] = &["banned", "disallowed", "forbidden", "prohibited"];
/// Words that a participle may be behind, with at most [`BE_DISTANCE`] words between: "was then removed".
const BE: &[&str] = &["are", "be", "been", "being", "got", "is", "was", "were"];
const BE_DISTANCE: usize = 3;
/// Words behind the object of such a verb: "renamed X to Y", "removed X from Y".
const OBJECT_ENDS: &[&str] = &["at", "by", "for", "from", "in", "into", "of", "on", "to", "via", "with"];
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
/// Refusals and denials: what they govern is not claimed.
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
    "hasn't",
    "haven't",
    "isn't",
    "mustn't",
    "never",
    "nobody",
    "not",
    "shouldn't",
    "wasn't",
    "weren't",
    "won't",
    "wouldn't",
];
/// "Works without `x`" and "missing `x`" say nothing about whether it is there.
const ABSENCES: &[&str] = &["except", "lacks", "missing", "neither", "no", "none", "nor", "without"];
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
    "after", "although", "because", "before", "but", "however", "if", "it's", "once", "since", "so",
    "that's", "unless", "until", "when", "where", "whereas", "while",
];

/// Words that begin a sentence about what the one before it names: "It was removed."
const REFERRING: &[&str] = &["all", "both", "it", "that", "these", "they", "this", "those"];

/// Pieces that a word governs, as ranges of their positions, in order.
#[derive(Clone, Debug, Default)]
struct Governed {
    ranges: Vec<(usize, usize)>,
    /// Where a range began whose clause has not ended.
    open: Option<usize>,
}

impl Governed {
    fn has(&self, at: usize) -> bool {
        let next = self.ranges.partition_point(|(_, to)| *to <= at);
        self.ranges.get(next).is_some_and(|(from, _)| *from <= at)
    }

    fn begin(&mut self, at: usize) {
        self.open.get_or_insert(at);
    }

    fn end(&mut self, at: usize) {
        if let Some(from) = self.open.take() {
            self.add(from, at);
        }
    }

    /// Ranges stay in order and do not overlap.
    fn add(&mut self, from: usize, to: usize) {
        let from = self.ranges.last().map_or(from, |(_, last)| from.max(*last));
        if from < to {
            self.ranges.push((from, to));
        }
    }
}

/// What the words of one sentence govern.
#[derive(Clone, Debug, Default)]
pub(super) struct SentenceWords {
    has_history: bool,
    /// Whether it says of something that it is gone.
    has_ending: bool,
    /// Whether it refers to what the sentence before it names.
    refers_back: bool,
    has_plan: bool,
    negated: Governed,
    doubtful: Governed,
    gone: Governed,
    /// Where the clause began.
    clause: usize,
    /// How many words it has so far, and which was the last form of "to be".
    count: usize,
    last_be: Option<usize>,
}

impl SentenceWords {
    /// The stance of the piece at this position.
    pub(super) fn stance_at(&self, at: usize) -> Stance {
        if self.gone.has(at) {
            Stance::Gone
        } else if self.negated.has(at) {
            Stance::Negated
        } else if self.has_history || self.doubtful.has(at) {
            Stance::Doubtful
        } else if self.has_plan {
            Stance::Tentative
        } else {
            Stance::Plain
        }
    }

    /// The stance of the sentence as a whole.
    pub(super) fn overall(&self) -> Stance {
        match (self.has_ending, self.has_history) {
            (true, _) => Stance::Gone,
            (false, true) => Stance::Doubtful,
            (false, false) => Stance::Plain,
        }
    }

    fn end_clause(&mut self, at: usize) {
        self.negated.end(at);
        self.doubtful.end(at);
        self.gone.end(at);
        self.clause = at;
        self.last_be = None;
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
        // The comma of a list of names ends no clause.
        let is_code = |near: Option<&Piece<'_>>| near.is_some_and(|near| near.kind == PieceKind::Code);
        let is_behind_name = at.checked_sub(1).is_some_and(|before| is_code(pieces.get(before)));
        if piece.text == "," && is_behind_name && is_code(pieces.get(at + 1)) {
            continue;
        }
        let Some(words) = sentences.get_mut(piece.sentence) else { continue };
        words.refers_back |= before.0 != piece.sentence && is_referring(piece.text);
        // Words such as `read/delete` and `pre-existing` are several.
        for part in piece.text.split(['/', '—', '–', '→']) {
            let word = folded(part);
            let previous = if before.0 == piece.sentence { before.1.as_str() } else { "" };
            take(words, at, is_behind_name, previous, &word, part);
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

fn take(
    words: &mut SentenceWords,
    at: usize,
    is_behind_name: bool,
    previous: &str,
    word: &str,
    written: &str,
) {
    let is_in = |list: &[&str], word: &str| list.contains(&word);
    let is_pair = |pairs: &[(&str, &str)]| pairs.contains(&(previous, word));
    let is_negation = |word: &str| is_in(NEGATIONS, word) || is_in(ABSENCES, word);
    let is_negated_existence = is_in(EXISTENCE, word) && (previous == "not" || previous.ends_with("n't"));
    words.has_history |= is_in(HISTORY, word) || is_negated_existence || is_pair(HISTORY_PAIRS);
    words.has_plan |= is_in(PLANS, word);
    words.count += 1;
    if is_in(CLAUSE_ENDS, word) || written.starts_with(',') || written.is_empty() {
        words.end_clause(at);
    }
    if is_in(OBJECT_ENDS, word) {
        words.gone.end(at);
    }
    let is_behind_be = words.last_be.is_some_and(|be| words.count - be <= BE_DISTANCE);
    // "is not removed" says that it stays.
    let is_ending = is_in(ENDINGS, word) && !is_negation(previous);
    // "`x` removed in 2.0" and "`x` (removed)" leave the verb out.
    if (is_ending && (is_behind_be || is_behind_name)) || is_negated_existence || is_pair(ENDED_PAIRS) {
        // The negation of "no longer" has what is before it in view, and nothing behind it.
        for negation in [&mut words.negated, &mut words.doubtful] {
            negation.open = negation.open.filter(|_| !is_negation(previous));
        }
        words.gone.add(words.clause, at);
        words.has_ending = true;
    } else if is_ending || is_pair(ENDING_PAIRS) {
        words.gone.begin(at);
        words.has_ending |= is_ending;
    } else if is_in(FORBIDDEN, word) && is_behind_be {
        words.negated.add(words.clause, at);
    }
    if is_in(BE, word) {
        words.last_be = Some(words.count);
    }
    if is_in(NEGATIONS, word) {
        words.negated.begin(at);
    } else if is_in(ABSENCES, word) {
        words.doubtful.begin(at);
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
