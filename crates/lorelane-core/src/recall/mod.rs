//! Finds the memories that a text asks for, and says why.
//!
//! The scoring is that of the first system (tag 3, title 2, prefix 1, content 1, recency 1), over words of any
//! language. Every point is a part that can be shown; the parts sum to the score.

mod keyword;

pub use keyword::keyword;

use crate::corpus::Entry;
use crate::lifecycle::Status;
use crate::memory::{Address, Category, Kind};
use crate::text::{fold, held_words, short_words, words};
use crate::time::Timestamp;
use std::borrow::Borrow;
use std::cmp::Ordering;
use std::collections::BTreeSet;

const RECENT_DAYS: i64 = 30;
/// A shorter beginning would match by accident.
const PREFIX_MIN: usize = 4;
/// From this score on, a memory is taken for the same subject.
const CANDIDATE_SCORE: u32 = 3;

/// What is asked, ready to be compared.
#[derive(Clone, Debug)]
pub struct Query {
    words: BTreeSet<String>,
    pub categories: Vec<Category>,
    pub include_retired: bool,
    pub now: Timestamp,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    pub address: Address,
    pub title: String,
    pub kind: Kind,
    pub status: Status,
    pub tags: Vec<String>,
    pub score: u32,
    /// Why it was found: the points sum to the score.
    pub explain: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    pub signal: Signal,
    pub points: u32,
    pub matched: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Signal {
    Tag,
    Title,
    Prefix,
    Content,
    Description,
    Recent,
}

impl Signal {
    const ALL: [Signal; 6] =
        [Signal::Tag, Signal::Title, Signal::Prefix, Signal::Content, Signal::Description, Signal::Recent];

    pub fn parse(name: &str) -> Option<Signal> {
        Signal::ALL.into_iter().find(|signal| signal.name() == name)
    }

    pub fn name(self) -> &'static str {
        match self {
            Signal::Tag => "tag",
            Signal::Title => "title",
            Signal::Prefix => "prefix",
            Signal::Content => "content",
            Signal::Description => "description",
            Signal::Recent => "recent",
        }
    }

    /// What one match counts.
    pub fn points(self) -> u32 {
        match self {
            Signal::Tag => 3,
            Signal::Title => 2,
            Signal::Prefix | Signal::Content | Signal::Description | Signal::Recent => 1,
        }
    }
}

impl Query {
    pub fn new(text: &str, now: Timestamp) -> Query {
        let words = words(text).into_iter().collect();
        Query { words, categories: Vec::new(), include_retired: false, now }
    }

    /// What a person asks. Words of two letters count, too, because a tag may be one: `ci`, `db`. The first system
    /// left them out, so whatever answers in its place has [`Query::new`].
    pub fn of_person(text: &str, now: Timestamp) -> Query {
        let mut query = Query::new(text, now);
        query.words.extend(short_words(text));
        query
    }

    /// The words that are looked for, each once.
    pub fn words(&self) -> &BTreeSet<String> {
        &self.words
    }

    /// Whether memories of this kind and status are asked for.
    pub fn admits(&self, kind: Kind, status: Status) -> bool {
        let asked = |category| self.categories.contains(&category);
        (self.include_retired || status == Status::Active)
            && (self.categories.is_empty() || kind.category().is_some_and(asked))
    }

    fn wants(&self, entry: &Entry) -> bool {
        self.admits(entry.kind, entry.status)
    }
}

/// Whether an asked word also finds the longer words that begin with it.
pub fn finds_beginnings(word: &str) -> bool {
    word.chars().count() >= PREFIX_MIN
}

/// The words of a memory's name and the signal that each can give. A word of two tags is there twice: each of
/// them can be asked for.
///
/// The points of the signals, summed over the asked words, are the memory's reach: its name brings that many
/// points or fewer, as a tag of several words counts once and only whole.
pub fn name_words(title: &str, tags: &[String]) -> Vec<(Signal, String)> {
    let title = title_words(title);
    let in_tags = tags.iter().flat_map(|tag| tag_words(tag)).map(|word| (Signal::Tag, word));
    title.into_iter().map(|word| (Signal::Title, word)).chain(in_tags).collect()
}

/// The memories that match, best first.
pub fn rank(query: &Query, entries: impl Iterator<Item = impl Borrow<Entry>>) -> Vec<Hit> {
    let mut hits: Vec<Hit> = entries
        .filter(|entry| query.wants(entry.borrow()))
        .filter_map(|entry| {
            let entry = entry.borrow();
            let mut explain = name_parts(query, entry);
            let used: BTreeSet<&String> = explain.iter().flat_map(|part| &part.matched).collect();
            let content = content_part(query, entry, &used);
            explain.extend(content);
            if explain.is_empty() {
                return None;
            }
            if is_recent(entry, query.now) {
                explain.push(Part { signal: Signal::Recent, points: 1, matched: Vec::new() });
            }
            Some(hit(entry, explain))
        })
        .collect();
    hits.sort_by(best_first);
    hits
}

/// The order of hits: by points, then by what is most worth knowing, then by name.
pub fn best_first(a: &Hit, b: &Hit) -> Ordering {
    let order = |hit: &Hit| (std::cmp::Reverse(hit.score), priority(hit.kind));
    order(a).cmp(&order(b)).then_with(|| a.address.cmp(&b.address))
}

fn is_recent(entry: &Entry, now: Timestamp) -> bool {
    entry.updated.is_some_and(|updated| now.days_since(updated) <= RECENT_DAYS)
}

/// The one memory that new information most likely belongs to, if any is near enough.
///
/// The memories come with their reach, see [`name_words`], the farthest first: those that cannot be the one are
/// not asked for.
pub fn candidate(query: &Query, reaching: impl Iterator<Item = (u32, impl Borrow<Entry>)>) -> Option<Hit> {
    let mut best: Option<Hit> = None;
    for (reach, entry) in reaching {
        let wanted = best.as_ref().map_or(CANDIDATE_SCORE, |best| best.score);
        if reach < wanted {
            break;
        }
        let entry = entry.borrow();
        let found = hit(entry, name_parts(query, entry));
        let is_better = |best: &Hit| {
            found.score > best.score || (found.score == best.score && found.address < best.address)
        };
        if query.wants(entry) && found.score >= wanted && best.as_ref().is_none_or(is_better) {
            best = Some(found);
        }
    }
    best
}

fn hit(entry: &Entry, explain: Vec<Part>) -> Hit {
    Hit {
        address: entry.address.clone(),
        title: entry.title.clone(),
        kind: entry.kind,
        status: entry.status,
        tags: entry.tags.clone(),
        score: explain.iter().map(|part| part.points).sum(),
        explain,
    }
}

/// What title and tags contribute. A tag of several words matches when all of them are asked for.
fn name_parts(query: &Query, entry: &Entry) -> Vec<Part> {
    // Most memories share no word with a query: that is seen without taking their names apart.
    let folded = fold(&format!("{}\n{}", entry.title, entry.tags.join("\n")));
    if !may_name(&folded, &query.words) {
        return Vec::new();
    }
    let title = title_words(&entry.title);
    let tags: Vec<Vec<String>> = entry.tags.iter().map(|tag| tag_words(tag)).collect();
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
    let part = |signal: Signal, count: usize, matched: Vec<String>| Part {
        signal,
        points: signal.points().saturating_mul(u32::try_from(count).unwrap_or(u32::MAX)),
        matched,
    };
    let parts = [
        part(Signal::Tag, asked.len(), in_tags),
        part(Signal::Title, in_title.len(), in_title),
        part(Signal::Prefix, prefixes.len(), prefixes),
    ];
    parts.into_iter().filter(|part| part.points > 0).collect()
}

/// Each once, in order.
fn title_words(title: &str) -> Vec<String> {
    let mut words = words(title);
    words.sort_unstable();
    words.dedup();
    words
}

/// Whether a folded name can have one of the words, or a longer one that begins with it.
fn may_name(folded: &str, words: &BTreeSet<String>) -> bool {
    if !folded.is_ascii() {
        return words.iter().any(|word| folded.contains(word.as_str()));
    }
    let mut runs = folded.split(|c: char| !c.is_ascii_alphanumeric()).filter(|run| !run.is_empty());
    runs.any(|run| words.iter().any(|word| run.starts_with(word.as_str())))
}

/// A tag is a name: also `ci` or `go` is one, though as a word of a text it would be too short to count.
fn tag_words(tag: &str) -> Vec<String> {
    let found = words(tag);
    if found.is_empty() { vec![fold(tag)] } else { found }
}

fn content_part(query: &Query, entry: &Entry, used: &BTreeSet<&String>) -> Option<Part> {
    let wanted: Vec<&str> =
        query.words.iter().filter(|word| !used.contains(word)).map(String::as_str).collect();
    if wanted.is_empty() || entry.prose.is_empty() {
        return None;
    }
    let matched: Vec<String> = held_words(&entry.prose, &wanted).into_iter().map(str::to_owned).collect();
    let points = u32::try_from(matched.len()).unwrap_or(u32::MAX);
    (points > 0).then_some(Part { signal: Signal::Content, points, matched })
}

/// Among equals, what binds comes before what happened.
fn priority(kind: Kind) -> u32 {
    match kind {
        Kind::Record(Category::Decision) => 1,
        Kind::Record(Category::Constraint) => 2,
        Kind::Record(Category::Preference) => 3,
        Kind::Record(Category::Runbook) => 4,
        Kind::Record(Category::TechDebt) => 5,
        Kind::Record(Category::SessionSummary) => 6,
        Kind::Note(_) => 7,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::RelPath;
    use expect_test::{Expect, expect};

    fn entry(category: Category, title: &str, tags: &[&str], prose: &str, updated_days_ago: i64) -> Entry {
        let address = Address::for_title(category, title);
        Entry {
            path: RelPath::parse(&format!("{}/{}.json", category.folder(), address.name())).unwrap(),
            address,
            kind: Kind::Record(category),
            title: title.to_owned(),
            tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
            status: Status::Active,
            status_at: None,
            created: None,
            updated: Some(Timestamp(-updated_days_ago * 86_400)),
            revised: 0,
            prose: prose.to_owned(),
        }
    }

    fn check(query: &str, expected: &Expect) {
        let entries = [
            entry(
                Category::Decision,
                "Use JWT for service auth",
                &["auth", "rate limit"],
                "tokens expire hourly",
                100,
            ),
            entry(
                Category::Runbook,
                "Restart the cache",
                &["redis"],
                "authentication fails when redis is full",
                3,
            ),
            entry(Category::Constraint, "認証トークンの期限", &["認証"], "", 100),
            entry(Category::Preference, "Café naming", &["go"], "", 100),
        ];
        let query = Query::new(query, Timestamp(0));
        let mut lines = String::new();
        for hit in rank(&query, entries.iter()) {
            let parts: Vec<String> =
                hit.explain.iter().map(|part| format!("{} {}", part.signal.name(), part.points)).collect();
            assert_eq!(hit.score, hit.explain.iter().map(|part| part.points).sum::<u32>());
            lines.push_str(&format!("{} {} ({})\n", hit.address, hit.score, parts.join(", ")));
        }
        expected.assert_eq(&lines);
    }

    #[test]
    fn tags_titles_prefixes_and_content_add_up() {
        check(
            "auth for the service",
            &expect![[r#"
            decision/use-jwt-for-service-auth 7 (tag 3, title 4)
        "#]],
        );
        check(
            "authentication",
            &expect![[r#"
            runbook/restart-the-cache 2 (content 1, recent 1)
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

    // A prompt that names such a tag was answered with nothing.
    #[test]
    fn a_tag_of_two_letters_is_found_when_a_person_asks() {
        let tagged = |tag: &str| entry(Category::Decision, "Runners", &[tag], "", 100);
        for (prompt, tag, found) in [
            ("how does our CI work", "ci", true),
            ("CI/CD", "cd", true),
            ("drop the db.", "DB", true),
            ("circular", "ci", false),
            ("précis", "ci", false),
            ("is it so", "is", false),
            ("認証db", "db", false),
        ] {
            let entries = [tagged(tag)];
            let hits = rank(&Query::of_person(prompt, Timestamp(0)), entries.iter());
            assert_eq!(hits.iter().any(|hit| hit.explain[0].signal == Signal::Tag), found, "{prompt}");
            assert_eq!(rank(&Query::new(prompt, Timestamp(0)), entries.iter()), [], "{prompt}");
        }
    }

    #[test]
    fn stop_words_find_nothing() {
        check("what should we use", &expect![""]);
    }

    #[test]
    fn a_candidate_needs_more_than_one_word() {
        let entries = [entry(Category::Decision, "Use JWT for service auth", &["tokens"], "", 1)];
        let find = |text: &str| {
            let reaching = entries.iter().map(|entry| (u32::MAX, entry));
            candidate(&Query::new(text, Timestamp(0)), reaching).map(|hit| hit.score)
        };
        assert_eq!(find("jwt"), None);
        assert_eq!(find("jwt service"), Some(4));
        assert_eq!(find("tokens"), Some(3));
    }

    // Only the index knows all memories; what it leaves out must not be what is looked for.
    #[test]
    fn no_name_brings_more_points_than_its_reach() {
        let table: [(&str, &[&str], &str, u32); 6] = [
            ("Redis for sessions", &["redis"], "redis sessions", 7),
            ("Limits", &["rate limit", "limit-rate", "rate"], "rate limit", 16),
            ("Limits", &["rate limit"], "limit", 4),
            ("Authentication", &["authorize"], "auth", 2),
            ("認証トークンの期限", &["認証"], "認証", 5),
            ("Naming", &["go"], "go and ci", 0),
        ];
        for (title, tags, asked, reach) in table {
            let query = Query::new(asked, Timestamp(0));
            let entry = entry(Category::Decision, title, tags, "", 1);
            let of_word = |word: &String| -> u32 {
                let names = name_words(&entry.title, &entry.tags).into_iter();
                names
                    .map(|(signal, name)| match name.strip_prefix(word.as_str()) {
                        Some("") => signal.points(),
                        Some(_) if finds_beginnings(word) => Signal::Prefix.points(),
                        _ => 0,
                    })
                    .sum()
            };
            assert_eq!(query.words().iter().map(of_word).sum::<u32>(), reach, "{title} {asked}");
            let score: u32 = name_parts(&query, &entry).iter().map(|part| part.points).sum();
            assert!(score <= reach, "{title} {asked}: {score}");
        }
    }

    #[test]
    fn a_candidate_is_looked_for_as_long_as_one_can_be_better() {
        let entries = [
            (9, entry(Category::Decision, "Other", &["tokens"], "", 1)),
            (5, entry(Category::Decision, "Tokens", &["jwt"], "", 1)),
            (5, entry(Category::Decision, "Jwt", &["tokens"], "", 1)),
            (4, entry(Category::Decision, "Jwt tokens", &["jwt", "tokens"], "", 1)),
        ];
        let mut asked = 0;
        let reaching = entries.iter().map(|(reach, entry)| (*reach, entry)).inspect(|_| asked += 1);
        let found = candidate(&Query::new("tokens and jwt", Timestamp(0)), reaching).unwrap();
        assert_eq!((found.address.to_string().as_str(), found.score), ("decision/jwt", 5));
        assert_eq!(asked, 4);
    }
}
