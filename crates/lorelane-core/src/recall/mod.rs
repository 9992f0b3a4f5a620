//! Finds the memories that are relevant to a text, and explains each score.
//!
//! Every lane and every face takes one path: [`query`] analyzes a text, the engine looks up candidates in the
//! index, [`score`] scores their passages, [`rank`] groups them by memory and drops what is not relevant.
//! Every point belongs to a signal that can be shown; the signals sum to the score.
//!
//! The scoring of the `claude-memory` scripts (tag 3, title 2, prefix 1) is kept where it is the contract:
//! `keyword`, [`candidate`] and the rule of reminders.

mod calibration;
pub mod doc_entry;
mod fitted;
mod keyword;
mod months;
mod prompt;
pub mod query;
mod rank;
pub mod relevance;
pub mod score;
mod spelling;
mod word_judge;

pub use keyword::keyword;
pub use rank::{ResultMode, SearchResults, is_named, rank, same_subject, says_the_same};
pub use relevance::Relevance;
pub use score::Candidate;

use crate::corpus::MemorySummary;
use crate::json::as_text;
use crate::lifecycle::Status;
use crate::memory::{Address, AutoType, Category, LaneId, MemoryKind, NoteType};
use crate::path::RelPath;
use crate::policy::Policy;
use crate::text::{fold, short_names, words};
use crate::time::Timestamp;
use crate::validity::NotCurrent;
use std::borrow::Borrow;
use std::collections::BTreeSet;
use std::fmt;

const RECENT_DAYS: i64 = 30;
/// A shorter prefix would match by accident.
const PREFIX_MIN: usize = 4;
/// From this score on, a memory counts as the same subject.
const CANDIDATE_SCORE: i32 = 3;

/// The points at which [`Hit::share`] is one half.
const HALF: f64 = 1000.0;

/// A search: text, filters and the current time.
#[derive(Clone, Debug)]
pub struct Query {
    pub text: String,
    words: BTreeSet<String>,
    /// Only these categories and types, if any is named.
    pub categories: Vec<Category>,
    pub types: Vec<NoteType>,
    pub auto_types: Vec<AutoType>,
    /// Only memories of these lanes, if any is named.
    pub lanes: Vec<LaneId>,
    /// Only memories with one of these tags, ignoring case.
    pub tags: Vec<String>,
    /// Only memories last changed at or after `after`, and before `before`: that is what "since" means to a
    /// person.
    pub after: Option<Timestamp>,
    pub before: Option<Timestamp>,
    /// Filter by creation time instead of the last change, as the `ragdocs` tools did.
    pub by_creation: bool,
    pub include_retired: bool,
    /// Archived memories too, but not retired ones.
    pub include_archived: bool,
    pub now: Timestamp,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    pub address: Address,
    pub path: RelPath,
    pub title: String,
    pub kind: MemoryKind,
    pub status: Status,
    /// Why it must not be shown as current, if it must not.
    pub not_current: Option<NotCurrent>,
    /// The memory that superseded it. Only marks know it, so the engine adds it.
    pub superseded_by: Option<Address>,
    /// What it names that is gone from the repository. Only audits know it, so the engine adds it.
    pub broken: Option<String>,
    pub tags: Vec<String>,
    /// The lines of its best passage; `None` where only names were compared.
    pub lines: Option<(usize, usize)>,
    pub score: i32,
    /// Why it was found: the points sum to the score.
    pub explain: Vec<ScorePart>,
    /// The chance that it is useful; `None` where only names were compared.
    pub relevance: Option<Relevance>,
    /// Near-duplicates of this memory that it hides.
    pub same: Vec<Address>,
}

impl Hit {
    /// The score mapped to 0..1 in the same order; points have no upper limit.
    pub fn share(&self) -> f64 {
        let points = f64::from(self.score.max(0));
        points / (points + HALF)
    }

    /// Whether a prompt hook would show it, if nothing better is shown first.
    pub fn would_remind(&self, policy: &Policy) -> bool {
        let is_likely = |relevance: &Relevance| relevance.chance >= policy.min_relevance();
        let is_current = self.status == Status::Active && self.not_current.is_none();
        is_current && self.relevance.as_ref().is_some_and(is_likely)
    }

    /// What must be said with a hit: `retired`, `superseded by decision/use-paseto`, `src/x.ts is gone`.
    pub fn state(&self) -> Option<String> {
        let state = match self.status {
            Status::Active => match self.not_current {
                Some(rule) => rule.name(),
                None => return self.broken.clone(),
            },
            other => other.name(),
        };
        Some(match &self.superseded_by {
            Some(by) if state == NotCurrent::Superseded.name() => format!("{state} by {by}"),
            Some(by) => format!("{state}, superseded by {by}"),
            None => state.to_owned(),
        })
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScorePart {
    pub signal: Signal,
    pub points: i32,
    pub matched: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Signal {
    Tag,
    Title,
    Prefix,
    Description,
    Recent,
    Words,
    Around,
    Section,
    Memory,
    Meaning,
    MeaningAround,
    Model,
    Length,
    Speaker,
    Date,
    Confidence,
    Pinned,
}

impl Signal {
    const ALL: [Signal; 17] = [
        Signal::Tag,
        Signal::Title,
        Signal::Prefix,
        Signal::Description,
        Signal::Recent,
        Signal::Words,
        Signal::Around,
        Signal::Section,
        Signal::Memory,
        Signal::Meaning,
        Signal::MeaningAround,
        Signal::Model,
        Signal::Length,
        Signal::Speaker,
        Signal::Date,
        Signal::Confidence,
        Signal::Pinned,
    ];

    pub fn parse(name: &str) -> Option<Signal> {
        Signal::ALL.into_iter().find(|signal| signal.name() == name)
    }

    pub fn name(self) -> &'static str {
        match self {
            Signal::Tag => "tag",
            Signal::Title => "title",
            Signal::Prefix => "prefix",
            Signal::Description => "description",
            Signal::Recent => "recent",
            Signal::Words => "words",
            Signal::Around => "around",
            Signal::Section => "section",
            Signal::Memory => "memory",
            Signal::Meaning => "meaning",
            Signal::MeaningAround => "meaning around",
            Signal::Model => "model",
            Signal::Length => "length",
            Signal::Speaker => "speaker",
            Signal::Date => "date",
            Signal::Confidence => "confidence",
            Signal::Pinned => "pinned",
        }
    }

    /// The points of one match in the scoring of the `claude-memory` scripts, where every other signal is one
    /// point.
    pub fn points(self) -> i32 {
        match self {
            Signal::Tag => 3,
            Signal::Title => 2,
            _ => 1,
        }
    }
}

impl fmt::Display for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

as_text!(Signal, Signal::parse);

impl Query {
    pub fn new(text: &str, now: Timestamp) -> Query {
        Query {
            text: text.to_owned(),
            words: words(text).into_iter().collect(),
            categories: Vec::new(),
            types: Vec::new(),
            auto_types: Vec::new(),
            lanes: Vec::new(),
            tags: Vec::new(),
            after: None,
            before: None,
            by_creation: false,
            include_retired: false,
            include_archived: false,
            now,
        }
    }

    /// A query typed by a person. Short names count as words, because a tag may be one: `ci`, `r`, `c++`. The
    /// `claude-memory` scripts ignored them, so callers that stand in for the scripts use [`Query::new`]. Only the
    /// beginning and the end of a long text are analyzed.
    pub fn of_person(text: &str, now: Timestamp) -> Query {
        let text = query::both_ends(text);
        let mut query = Query::new(&text, now);
        query.words.extend(short_names(&text));
        query
    }

    /// The distinct words to match against titles and tags.
    pub fn words(&self) -> &BTreeSet<String> {
        &self.words
    }

    fn names_kinds(&self) -> bool {
        !(self.categories.is_empty() && self.types.is_empty() && self.auto_types.is_empty())
    }

    /// Whether the filters admit memories of this kind and status.
    pub fn admits(&self, kind: MemoryKind, status: Status) -> bool {
        let asked = match kind {
            MemoryKind::Record(category) => self.categories.contains(&category),
            MemoryKind::Note(of) => self.types.contains(&of),
            MemoryKind::Auto(of) => self.auto_types.contains(&of),
        };
        let alive = match status {
            Status::Active => true,
            Status::Archived => self.include_retired || self.include_archived,
            Status::Retired => self.include_retired,
        };
        alive
            && (self.lanes.is_empty() || self.lanes.contains(&kind.lane()))
            && (asked || !self.names_kinds())
    }

    /// Whether the filters admit this memory, regardless of what it says.
    pub fn wants(&self, entry: &MemorySummary) -> bool {
        let tagged = |tag: &String| entry.tags.iter().any(|own| fold(own) == fold(tag));
        // A memory without any known time passes every time filter. The file's mtime counts only here: ranking by
        // it would change with every checkout.
        let at = if self.by_creation { entry.created.or(entry.written) } else { entry.dated() };
        self.admits(entry.kind, entry.status)
            && (self.tags.is_empty() || self.tags.iter().any(tagged))
            && self.after.is_none_or(|after| at.is_none_or(|at| at >= after))
            && self.before.is_none_or(|before| at.is_none_or(|at| at < before))
    }
}

/// Whether a query word also matches longer words that begin with it.
pub fn finds_beginnings(word: &str) -> bool {
    word.chars().count() >= PREFIX_MIN
}

/// The words of a memory's title and tags, each with the signal it can give. A word that occurs in two tags is
/// listed twice: either tag can match.
///
/// The points of these signals, summed over the query words, are an upper bound of the memory's score by name: a
/// tag of several words scores once, and only as a whole.
pub fn name_words(title: &str, tags: &[String]) -> Vec<(Signal, String)> {
    let title = title_words(title);
    let in_tags = tags.iter().flat_map(|tag| tag_words(tag)).map(|word| (Signal::Tag, word));
    title.into_iter().map(|word| (Signal::Title, word)).chain(in_tags).collect()
}

fn is_recent(entry: &MemorySummary, now: Timestamp) -> bool {
    entry.updated.is_some_and(|updated| now.days_since(updated) <= RECENT_DAYS)
}

/// The memory that new information most likely belongs to, if any scores high enough.
///
/// The memories come with the upper bound of their score (see [`name_words`]), highest first, so that the scan
/// stops as soon as no later one can win.
pub fn candidate(
    query: &Query,
    reaching: impl Iterator<Item = (i32, impl Borrow<MemorySummary>)>,
) -> Option<Hit> {
    candidate_if(query, reaching, |_| true)
}

/// [`candidate`], among the hits that `passes` accepts.
pub fn candidate_if(
    query: &Query,
    reaching: impl Iterator<Item = (i32, impl Borrow<MemorySummary>)>,
    passes: impl Fn(&Hit) -> bool,
) -> Option<Hit> {
    let mut best: Option<Hit> = None;
    for (reach, entry) in reaching {
        let wanted = best.as_ref().map_or(CANDIDATE_SCORE, |best| best.score);
        if reach < wanted {
            break;
        }
        let entry = entry.borrow();
        let found = hit(entry, name_parts(query, &entry.title, &entry.tags), query.now);
        let is_better = |best: &Hit| {
            found.score > best.score || (found.score == best.score && found.address < best.address)
        };
        let is_wanted = query.wants(entry) && found.score >= wanted;
        if is_wanted && best.as_ref().is_none_or(is_better) && passes(&found) {
            best = Some(found);
        }
    }
    best
}

fn hit(entry: &MemorySummary, explain: Vec<ScorePart>, now: Timestamp) -> Hit {
    Hit {
        address: entry.address.clone(),
        path: entry.path.clone(),
        title: entry.title.clone(),
        kind: entry.kind,
        status: entry.status,
        not_current: entry.not_current(now),
        superseded_by: None,
        broken: None,
        tags: entry.tags.clone(),
        lines: None,
        relevance: None,
        same: Vec::new(),
        score: explain.iter().map(|part| part.points).sum(),
        explain,
    }
}

/// The points of title and tags. A tag of several words matches when the query has all of them.
pub fn name_parts(query: &Query, title: &str, tags: &[String]) -> Vec<ScorePart> {
    // Most memories share no word with a query, and a substring check shows that without splitting their names.
    let folded = fold(&format!("{title}\n{}", tags.join("\n")));
    if !may_name(&folded, &query.words) {
        return Vec::new();
    }
    let title = title_words(title);
    let tags: Vec<Vec<String>> = tags.iter().map(|tag| tag_words(tag)).collect();
    let asked: Vec<&Vec<String>> =
        tags.iter().filter(|tag| tag.iter().all(|word| query.words.contains(word))).collect();
    let in_tags: Vec<String> = asked.iter().copied().flatten().cloned().collect();
    let in_title: Vec<String> = title.iter().filter(|word| query.words.contains(*word)).cloned().collect();
    let begins = |word: &str| {
        title
            .iter()
            .chain(tags.iter().flatten())
            .any(|known| known.len() > word.len() && known.starts_with(word))
    };
    let prefixes: Vec<String> = query
        .words
        .iter()
        .filter(|word| !in_tags.contains(word) && !in_title.contains(word))
        .filter(|word| finds_beginnings(word) && begins(word))
        .cloned()
        .collect();
    let part = |signal: Signal, count: usize, matched: Vec<String>| ScorePart {
        signal,
        points: signal.points().saturating_mul(i32::try_from(count).unwrap_or(i32::MAX)),
        matched,
    };
    let parts = [
        part(Signal::Tag, asked.len(), in_tags),
        part(Signal::Title, in_title.len(), in_title),
        part(Signal::Prefix, prefixes.len(), prefixes),
    ];
    parts.into_iter().filter(|part| part.points > 0).collect()
}

/// The distinct words of a title, sorted.
fn title_words(title: &str) -> Vec<String> {
    let mut words = words(title);
    words.sort_unstable();
    words.dedup();
    words
}

/// Whether a folded name can contain one of the words, or a longer word that begins with it.
fn may_name(folded: &str, words: &BTreeSet<String>) -> bool {
    if !folded.is_ascii() {
        return words.iter().any(|word| folded.contains(word.as_str()));
    }
    // A word with punctuation such as `c++` itself begins with the alphanumeric run.
    let begins = |run: &str, word: &str| {
        let ends = |rest: &str| !rest.starts_with(|c: char| c.is_ascii_alphanumeric());
        run.starts_with(word) || word.strip_prefix(run).is_some_and(ends)
    };
    let mut runs = folded.split(|c: char| !c.is_ascii_alphanumeric()).filter(|run| !run.is_empty());
    runs.any(|run| words.iter().any(|word| begins(run, word)))
}

/// A tag is a name, so `ci` or `c++` counts although it would be too short as a word of a text. A tag that is a
/// stop word, such as `go`, matches nothing: it cannot be told from the ordinary word.
fn tag_words(tag: &str) -> Vec<String> {
    let mut found = words(tag);
    if found.is_empty() {
        found = short_names(tag);
    }
    if found.is_empty() {
        found.push(fold(tag));
    }
    found
}

/// The tie-break by kind: what binds comes before what happened. The order is that of the `claude-memory` scripts.
/// It scores no points, because points would outrank confidence.
fn priority(kind: MemoryKind) -> u32 {
    match kind {
        MemoryKind::Record(Category::Decision) => 1,
        MemoryKind::Record(Category::Constraint) => 2,
        MemoryKind::Record(Category::Preference) => 3,
        MemoryKind::Record(Category::Runbook) => 4,
        MemoryKind::Record(Category::TechDebt) => 5,
        MemoryKind::Record(Category::SessionSummary) => 6,
        MemoryKind::Note(_) => 7,
        MemoryKind::Auto(_) => 8,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::RelPath;
    use expect_test::{Expect, expect};

    fn entry(category: Category, title: &str, tags: &[&str], updated_days_ago: i64) -> MemorySummary {
        let address = Address::for_title(category, title);
        MemorySummary {
            path: RelPath::parse(&format!("{}/{}.json", category.folder(), address.name())).unwrap(),
            address,
            kind: MemoryKind::Record(category),
            title: title.to_owned(),
            tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
            status: Status::Active,
            status_at: None,
            created: None,
            updated: Some(Timestamp(-updated_days_ago * 86_400)),
            validity: Default::default(),
            content_changed: None,
            written: None,
            revised: 0,
        }
    }

    fn check(query: &str, expected: &Expect) {
        let entries = [
            entry(Category::Decision, "Use JWT for service auth", &["auth", "rate limit"], 100),
            entry(Category::Runbook, "Restart the cache", &["redis"], 3),
            entry(Category::Constraint, "認証トークンの期限", &["認証"], 100),
            entry(Category::Preference, "Café naming", &["go"], 100),
        ];
        let query = Query::new(query, Timestamp(0));
        let mut lines = String::new();
        for hit in keyword(&query, &entries, &|_| None) {
            let parts: Vec<String> =
                hit.explain.iter().map(|part| format!("{} {}", part.signal.name(), part.points)).collect();
            assert_eq!(hit.score, hit.explain.iter().map(|part| part.points).sum::<i32>());
            lines.push_str(&format!("{} {} ({})\n", hit.address, hit.score, parts.join(", ")));
        }
        expected.assert_eq(&lines);
    }

    #[test]
    fn tags_titles_and_prefixes_add_up() {
        check(
            "auth for the service",
            &expect![[r#"
            decision/use-jwt-for-service-auth 7 (tag 3, title 4)
        "#]],
        );
        check(
            "serv",
            &expect![[r#"
            decision/use-jwt-for-service-auth 1 (prefix 1)
        "#]],
        );
    }

    #[test]
    fn a_tag_of_several_words_matches_whole() {
        check(
            "what is our rate limit",
            &expect![[r#"
            decision/use-jwt-for-service-auth 3 (tag 3)
        "#]],
        );
        check("rate", &expect![""]);
    }

    #[test]
    fn other_scripts_and_accents_are_found() {
        check(
            "認証",
            &expect![[r#"
                constraint/constraint-6c4dcb4a 5 (tag 3, title 2)
            "#]],
        );
        check(
            "cafe",
            &expect![[r#"
            preference/cafe-naming 2 (title 2)
        "#]],
        );
    }

    // A prompt that names such a tag got no reminder.
    #[test]
    fn a_short_tag_or_one_with_signs_is_found_when_a_person_asks() {
        let tagged = |tag: &str| entry(Category::Decision, "Runners", &[tag], 100);
        for (prompt, tag, found) in [
            ("how does our CI work", "ci", true),
            ("CI/CD", "cd", true),
            ("drop the db.", "DB", true),
            ("circular", "ci", false),
            ("précis", "ci", false),
            ("is it so", "is", false),
            ("認証db", "db", false),
            ("the ci/cd pipeline", "CI/CD", true),
            ("the ci-cd pipeline", "ci/cd", true),
            ("the cd pipeline", "ci/cd", false),
            ("write it in C++, please", "c++", true),
            ("C++17 or older", "c++", true),
            ("ported to c#.", "C#", true),
            ("write it in c", "c++", false),
            ("write it in c++ or c#", "c", false),
            ("a C program", "c", true),
            ("plot it with R", "r", true),
            ("plot it with 'r'", "r", true),
            ("we'd like that", "d", false),
            ("c’est la vie", "c", false),
            ("c#foo", "c#", false),
            // A tag made of stop words matches as it is written, not by one of its parts.
            ("i/o-bound", "I/O", true),
            ("(a/b) tests", "a/b", true),
            ("plan b", "a/b", false),
            ("add a to-do.", "to-do", true),
            ("what to do", "to-do", false),
            ("what to do", "to do", false),
            // One stop word is never enough.
            ("go code", "go", false),
        ] {
            let entries = [tagged(tag)];
            let hits = keyword(&Query::of_person(prompt, Timestamp(0)), &entries, &|_| None);
            assert_eq!(
                hits.iter().any(|hit| hit.explain[0].signal == Signal::Tag),
                found,
                "{tag} in {prompt}"
            );
            assert_eq!(keyword(&Query::new(prompt, Timestamp(0)), &entries, &|_| None), [], "{prompt}");
        }
    }

    #[test]
    fn stop_words_find_nothing() {
        check("what should we use", &expect![""]);
    }

    #[test]
    fn a_candidate_needs_more_than_one_word() {
        let entries = [entry(Category::Decision, "Use JWT for service auth", &["tokens"], 1)];
        let find = |text: &str| {
            let reaching = entries.iter().map(|entry| (i32::MAX, entry));
            candidate(&Query::new(text, Timestamp(0)), reaching).map(|hit| hit.score)
        };
        assert_eq!(find("jwt"), None);
        assert_eq!(find("jwt service"), Some(4));
        assert_eq!(find("tokens"), Some(3));
    }

    #[test]
    fn time_is_judged_by_dates_and_without_them_by_the_file() {
        // Created, changed and file written, each as a day; then whether "since day 10" admits it by change and by
        // creation.
        let table = [
            ([Some(20), None, Some(1)], (true, true)),
            ([Some(5), None, Some(20)], (false, false)),
            ([Some(5), Some(20), Some(1)], (true, false)),
            ([None, Some(20), Some(5)], (true, false)),
            ([None, None, Some(5)], (false, false)),
            ([None, None, Some(20)], (true, true)),
            ([None, None, None], (true, true)),
        ];
        let day = |day: Option<i64>| day.map(|day| Timestamp(day * 86_400));
        for ([created, updated, written], expected) in table {
            let entry = MemorySummary {
                created: day(created),
                updated: day(updated),
                written: day(written),
                ..entry(Category::Decision, "Use JWT", &[], 0)
            };
            let wanted = |by_creation: bool| {
                let query = Query { after: day(Some(10)), by_creation, ..Query::new("", Timestamp(0)) };
                query.wants(&entry)
            };
            assert_eq!((wanted(false), wanted(true)), expected, "{entry:?}");
        }
    }

    // The index cuts candidates by this bound; a bound that is too low would cut the best match.
    #[test]
    fn no_name_brings_more_points_than_its_reach() {
        let table: [(&str, &[&str], &str, i32); 7] = [
            ("Redis for sessions", &["redis"], "redis sessions", 7),
            ("Limits", &["rate limit", "limit-rate", "rate"], "rate limit", 16),
            ("Limits", &["rate limit"], "limit", 4),
            ("Authentication", &["authorize"], "auth", 2),
            ("認証トークンの期限", &["認証"], "認証", 5),
            ("Naming", &["go"], "go and ci", 0),
            ("Naming", &["ci/cd", "i/o"], "i/o of the ci/cd", 12),
        ];
        for (title, tags, asked, reach) in table {
            let query = Query::of_person(asked, Timestamp(0));
            let entry = entry(Category::Decision, title, tags, 1);
            let of_word = |word: &String| -> i32 {
                let names = name_words(&entry.title, &entry.tags).into_iter();
                names
                    .map(|(signal, name)| match name.strip_prefix(word.as_str()) {
                        Some("") => signal.points(),
                        Some(_) if finds_beginnings(word) => Signal::Prefix.points(),
                        _ => 0,
                    })
                    .sum()
            };
            assert_eq!(query.words().iter().map(of_word).sum::<i32>(), reach, "{title} {asked}");
            let score: i32 =
                name_parts(&query, &entry.title, &entry.tags).iter().map(|part| part.points).sum();
            assert!(score <= reach, "{title} {asked}: {score}");
        }
    }

    #[test]
    fn a_candidate_is_looked_for_as_long_as_one_can_be_better() {
        let entries = [
            (9, entry(Category::Decision, "Other", &["tokens"], 1)),
            (5, entry(Category::Decision, "Tokens", &["jwt"], 1)),
            (5, entry(Category::Decision, "Jwt", &["tokens"], 1)),
            (4, entry(Category::Decision, "Jwt tokens", &["jwt", "tokens"], 1)),
        ];
        let mut asked = 0;
        let reaching = entries.iter().map(|(reach, entry)| (*reach, entry)).inspect(|_| asked += 1);
        let found = candidate(&Query::new("tokens and jwt", Timestamp(0)), reaching).unwrap();
        assert_eq!((found.address.to_string().as_str(), found.score), ("decision/jwt", 5));
        assert_eq!(asked, 4);
    }

    // A pasted megabyte cost a prompt its deadline, for words that are never looked up.
    #[test]
    fn of_a_long_text_both_ends_are_taken_apart_and_no_more() {
        let middle = (0..100_000).map(|number| format!("word{number} ")).collect::<String>();
        let query = Query::of_person(&format!("sessions c++ {middle} tokens"), Timestamp(0));
        assert!(["sessions", "c++", "tokens"].iter().all(|word| query.words.contains(*word)));
        assert!(query.text.len() <= 16 << 10 && query.words.len() < 2_000, "{}", query.words.len());
    }
}
