//! Marks: facts about a memory that no file format can hold, such as a pin or a former address.
//!
//! Marks are one append-only JSON Lines file per worktree, so that two branches merge line by line. The newest
//! mark of a kind counts.

use crate::capture::{Origin, words_digest};
use crate::digest::Revision;
use crate::forget::Traces;
use crate::json::{self, JsonFormat, lenient};
use crate::lifecycle::REASON_MAX;
use crate::memory::{Address, Body, Category, Memory};
use crate::secret;
use crate::text::{cut, one_line};
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The folder of the marks file, relative to the project root.
pub const MARKS_FOLDER: &str = ".lorelane";

#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Mark {
    pub address: Address,
    /// The revision of the memory when it was marked.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub revision: Option<Revision>,
    pub at: Timestamp,
    #[serde(flatten)]
    pub kind: MarkKind,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "mark", rename_all = "lowercase")]
pub enum MarkKind {
    /// Shown at every session start.
    Pin,
    Unpin,
    /// The memory was moved: this address now resolves to `to`.
    Alias {
        to: Address,
    },
    /// The transcript position that the memory was captured from.
    Origin(Origin),
    /// It was moved to the archive.
    Archived(ArchivedMark),
    /// It must not be captured again.
    Reject(Rejection),
    /// Another memory says now what holds instead.
    Superseded {
        by: Address,
    },
    /// Somebody verified this revision.
    Confirm {
        #[serde(default, deserialize_with = "lenient::or_default")]
        because: String,
    },
}

/// Why a memory is in the archive of Claude Code's folder, whose files have no field for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArchivedMark {
    /// Whether it was retired and not archived.
    pub retired: bool,
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub because: String,
    /// Its lines in the index.
    #[serde(default, deserialize_with = "lenient::items_if_list", skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<RemovedLine>,
}

/// A line that was taken out of an index, and where it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemovedLine {
    /// With its line ending.
    pub line: String,
    /// The number that it had, from 1.
    pub number: usize,
    /// The lines above and below it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub above: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub below: Option<String>,
}

/// What must not be captured again, as digests, so that the marks file does not repeat the rejected text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rejection {
    /// See [`words_digest`].
    pub title: String,
    pub body: String,
    /// Digests of the words it was captured from, one per capture.
    #[serde(default, deserialize_with = "lenient::items_if_list", skip_serializing_if = "Vec::is_empty")]
    pub origins: Vec<String>,
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub because: String,
}

impl Rejection {
    pub fn of(memory: &Memory, origins: &[Origin], because: &str) -> Rejection {
        Rejection {
            title: words_digest(&memory.title),
            body: words_digest(&memory.body.statement()),
            origins: origins.iter().map(|origin| origin.words.clone()).collect(),
            // A reason may quote a secret, and the marks file is committed to the repository.
            because: cut(&secret::masked(&one_line(because)), REASON_MAX),
        }
    }
}

/// Information that is about to be captured.
#[derive(Clone, Copy, Debug)]
pub struct NewCapture<'c> {
    pub title: &'c str,
    pub body: &'c Body,
    /// The digest of the words it comes from, if known. See [`words_digest`].
    pub origin: Option<&'c str>,
}

/// The effective marks of a worktree.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Marks {
    pub pinned: BTreeSet<Address>,
    pub aliases: BTreeMap<Address, Address>,
    pub origins: BTreeMap<Address, Vec<Origin>>,
    pub rejected: Vec<(Address, Rejection)>,
    /// Memories that were superseded, with what superseded them.
    pub superseded: BTreeMap<Address, Address>,
    /// The revision of each memory that was verified last, and when.
    pub confirmed: BTreeMap<Address, (Revision, Timestamp)>,
    /// Memories in the archive, with when they were put there.
    pub archived: BTreeMap<Address, (Timestamp, ArchivedMark)>,
    /// The number of lines that cannot be parsed. They stay in the file.
    pub unread: usize,
}

/// One line of the file, with its fields in order.
#[derive(Serialize)]
struct MarkLine<'m> {
    mark: &'static str,
    address: &'m Address,
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<&'m Address>,
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<&'m Address>,
    #[serde(flatten)]
    origin: Option<&'m Origin>,
    #[serde(flatten)]
    rejection: Option<&'m Rejection>,
    #[serde(skip_serializing_if = "Option::is_none")]
    because: Option<&'m str>,
    #[serde(flatten)]
    archived: Option<&'m ArchivedMark>,
    at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    revision: Option<&'m Revision>,
}

impl Mark {
    /// The line for the file, newline included.
    pub fn line(&self) -> String {
        let (mark, address, revision) = (self.kind.name(), &self.address, self.revision.as_ref());
        let bare = MarkLine {
            mark,
            address,
            to: None,
            by: None,
            origin: None,
            rejection: None,
            because: None,
            archived: None,
            at: self.at,
            revision,
        };
        let line = match &self.kind {
            MarkKind::Pin | MarkKind::Unpin => bare,
            MarkKind::Alias { to } => MarkLine { to: Some(to), ..bare },
            MarkKind::Origin(origin) => MarkLine { origin: Some(origin), ..bare },
            MarkKind::Reject(rejection) => MarkLine { rejection: Some(rejection), ..bare },
            MarkKind::Archived(archived) => MarkLine { archived: Some(archived), ..bare },
            MarkKind::Superseded { by } => MarkLine { by: Some(by), ..bare },
            MarkKind::Confirm { because } => MarkLine { because: Some(because), ..bare },
        };
        format!("{}\n", json::to_string(&line, JsonFormat::LINE))
    }

    fn read(line: &str) -> Option<Mark> {
        json::from_str(line).ok()
    }
}

impl MarkKind {
    /// That somebody verified a memory. A reason may quote a secret, and the marks file is committed.
    pub fn confirm(because: &str) -> MarkKind {
        MarkKind::Confirm { because: cut(&secret::masked(&one_line(because)), REASON_MAX) }
    }

    pub fn name(&self) -> &'static str {
        match self {
            MarkKind::Pin => "pin",
            MarkKind::Unpin => "unpin",
            MarkKind::Alias { .. } => "alias",
            MarkKind::Origin(_) => "origin",
            MarkKind::Reject(_) => "reject",
            MarkKind::Archived(_) => "archived",
            MarkKind::Superseded { .. } => "superseded",
            MarkKind::Confirm { .. } => "confirm",
        }
    }
}

/// The marks file without traces of a forgotten memory, and the number of lines that changed.
///
/// All marks of the memory are removed, rejections too: they contain the address, and digests without salt confirm
/// a guess. A rejection of another memory only loses its reason if that names the forgotten one.
pub fn purged(bytes: &[u8], traces: &Traces) -> (Vec<u8>, usize) {
    let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    let marks: Vec<Option<Mark>> =
        lines.iter().map(|line| Mark::read(String::from_utf8_lossy(line).trim_end())).collect();
    // Lines up to the move belong to the memory that moved; later ones to the memory that now has the address.
    let moved = |address: &Address| {
        let is_move = |mark: &Mark| mark.address == *address && matches!(mark.kind, MarkKind::Alias { .. });
        marks.iter().rposition(|mark| mark.as_ref().is_some_and(is_move))
    };
    let moves: BTreeMap<&Address, Option<usize>> =
        traces.taken.iter().map(|address| (address, moved(address))).collect();
    let is_ours = |address: &Address, at: usize| {
        traces.own(address) || moves.get(address).is_some_and(|moved| moved.is_some_and(|moved| at <= moved))
    };
    let (mut kept, mut changed) = (Vec::new(), 0);
    for (at, (line, mark)) in lines.iter().zip(&marks).enumerate() {
        let after = match mark {
            None if traces.are_named_in(&String::from_utf8_lossy(line)) => None,
            None => Some(line.to_vec()),
            Some(mark) if is_ours(&mark.address, at) => None,
            Some(Mark { kind: MarkKind::Alias { to } | MarkKind::Superseded { by: to }, .. })
                if is_ours(to, at) =>
            {
                None
            }
            Some(mark @ Mark { kind: MarkKind::Reject(rejection), .. })
                if traces.are_named_in(&rejection.because) =>
            {
                let silent = Rejection { because: String::new(), ..rejection.clone() };
                Some(Mark { kind: MarkKind::Reject(silent), ..mark.clone() }.line().into_bytes())
            }
            Some(mark @ Mark { kind: MarkKind::Confirm { because }, .. }) if traces.are_named_in(because) => {
                let silent = MarkKind::Confirm { because: String::new() };
                Some(Mark { kind: silent, ..mark.clone() }.line().into_bytes())
            }
            Some(_) => Some(line.to_vec()),
        };
        changed += usize::from(after.as_deref() != Some(line));
        kept.extend(after.into_iter().flatten());
    }
    (kept, changed)
}

impl Marks {
    pub fn read(bytes: &[u8]) -> Marks {
        let mut marks = Marks::default();
        for line in String::from_utf8_lossy(bytes).lines().filter(|line| !line.trim().is_empty()) {
            match Mark::read(line) {
                Some(mark) => marks.add(mark),
                None => marks.unread += 1,
            }
        }
        marks
    }

    fn add(&mut self, mark: Mark) {
        match mark.kind {
            MarkKind::Pin => {
                self.pinned.insert(mark.address);
            }
            MarkKind::Unpin => {
                self.pinned.remove(&mark.address);
            }
            MarkKind::Alias { to } => {
                // Pin, origins and successor move with the memory.
                if self.pinned.remove(&mark.address) {
                    self.pinned.insert(to.clone());
                }
                if let Some(origins) = self.origins.remove(&mark.address) {
                    self.origins.entry(to.clone()).or_default().extend(origins);
                }
                if let Some(by) = self.superseded.remove(&mark.address) {
                    self.superseded.insert(to.clone(), by);
                }
                if let Some(confirmed) = self.confirmed.remove(&mark.address) {
                    self.confirmed.insert(to.clone(), confirmed);
                }
                // `to` is a current address again; keeping its alias would make a cycle when a memory moves back.
                self.aliases.remove(&to);
                self.aliases.insert(mark.address, to);
            }
            MarkKind::Origin(origin) => {
                let origins = self.origins.entry(mark.address).or_default();
                if !origins.contains(&origin) {
                    origins.push(origin);
                }
            }
            MarkKind::Archived(archived) => {
                self.archived.insert(mark.address, (mark.at, archived));
            }
            MarkKind::Reject(rejection) => self.rejected.push((mark.address, rejection)),
            MarkKind::Superseded { by } => {
                self.superseded.insert(mark.address, by);
            }
            MarkKind::Confirm { .. } => {
                if let Some(revision) = mark.revision {
                    self.confirmed.insert(mark.address, (revision, mark.at));
                }
            }
        }
    }

    /// The memory that superseded this one, if it was superseded by one. It may have become current again since.
    pub fn successor(&self, address: &Address) -> Option<&Address> {
        self.superseded.get(address).map(|by| self.follow(by)).filter(|by| *by != address)
    }

    /// The memories that this one superseded.
    pub fn predecessors(&self, address: &Address) -> BTreeSet<&Address> {
        self.superseded.keys().filter(|old| self.successor(old) == Some(address)).collect()
    }

    /// When this revision of the memory was verified.
    pub fn confirmed_at(&self, address: &Address, revision: &Revision) -> Option<Timestamp> {
        self.confirmed.get(address).filter(|(known, _)| known == revision).map(|(_, at)| *at)
    }

    /// The rejections that match this information, whatever its address. Title and body match in every category;
    /// an origin only in its own, because the same words may contain a decision and a preference.
    pub fn rejections<'m>(
        &'m self,
        category: Category,
        captured: NewCapture<'_>,
    ) -> impl Iterator<Item = &'m (Address, Rejection)> {
        let digest = |text: &str| (!text.trim().is_empty()).then(|| words_digest(text));
        let (title, body) = (digest(captured.title), digest(&captured.body.statement()));
        let origin = captured.origin.map(str::to_owned);
        self.rejected.iter().filter(move |(address, rejection)| {
            title.as_ref() == Some(&rejection.title)
                || body.as_ref() == Some(&rejection.body)
                || address.category() == Some(category)
                    && origin.as_ref().is_some_and(|origin| rejection.origins.contains(origin))
        })
    }

    /// All former addresses of a memory.
    pub fn former(&self, address: &Address) -> BTreeSet<Address> {
        let leads_here = |old: &&Address| *old != address && self.follow(old) == address;
        self.aliases.keys().filter(leads_here).cloned().collect()
    }

    /// The current address of a memory, after any number of moves.
    pub fn follow<'a>(&'a self, address: &'a Address) -> &'a Address {
        let mut now = address;
        // Each alias is followed at most once, so a cycle from a manual edit ends.
        for _ in 0..self.aliases.len() {
            match self.aliases.get(now) {
                Some(next) => now = next,
                None => break,
            }
        }
        now
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conversation::TranscriptPosition;
    use crate::json::{Json, Object};
    use proptest::prelude::*;

    fn address(name: &str) -> Address {
        Address::record(Category::Decision, name)
    }

    fn mark(name: &str, kind: MarkKind) -> String {
        Mark { address: address(name), revision: None, at: Timestamp(0), kind }.line()
    }

    #[test]
    fn the_newest_mark_counts_and_foreign_lines_are_only_counted() {
        let file = [
            mark("a", MarkKind::Pin),
            mark("b", MarkKind::Pin),
            mark("a", MarkKind::Unpin),
            "<<<<<<< HEAD\n".to_owned(),
            mark("b", MarkKind::Alias { to: address("c") }),
        ];
        let marks = Marks::read(file.concat().as_bytes());
        assert_eq!(marks.pinned, BTreeSet::from([address("c")]));
        assert_eq!(marks.unread, 1);
    }

    #[test]
    fn an_alias_is_followed_to_its_end_and_a_loop_ends() {
        let file = [
            mark("a", MarkKind::Alias { to: address("b") }),
            mark("b", MarkKind::Alias { to: address("c") }),
        ];
        assert_eq!(Marks::read(file.concat().as_bytes()).follow(&address("a")), &address("c"));
        let mut looped = Marks::default();
        looped.aliases.insert(address("a"), address("b"));
        looped.aliases.insert(address("b"), address("a"));
        let end = looped.follow(&address("a")).clone();
        assert!([address("a"), address("b")].contains(&end), "{end}");
    }

    #[test]
    fn a_successor_is_found_after_either_memory_moved() {
        let file = [
            mark("old", MarkKind::Superseded { by: address("new") }),
            mark("old", MarkKind::Alias { to: address("older") }),
            mark("new", MarkKind::Alias { to: address("newer") }),
            mark("self", MarkKind::Superseded { by: address("self") }),
        ];
        let marks = Marks::read(file.concat().as_bytes());
        assert_eq!(marks.unread, 0);
        assert_eq!(marks.successor(&address("older")), Some(&address("newer")));
        assert_eq!(marks.predecessors(&address("newer")), BTreeSet::from([&address("older")]));
        assert_eq!(marks.successor(&address("old")), None);
        assert_eq!(marks.successor(&address("self")), None);
        let traces = Traces { addresses: [address("new")].into(), ..Traces::default() };
        let (left, changed) = purged(file[0].as_bytes(), &traces);
        assert_eq!((left.len(), changed), (0, 1));
    }

    fn origin(line: u64, words: &str) -> Origin {
        Origin { session: "s-1".to_owned(), at: TranscriptPosition::Line(line), words: words_digest(words) }
    }

    fn rejection(title: &str, body: &str, origins: &[&str]) -> Rejection {
        Rejection {
            title: words_digest(title),
            body: words_digest(body),
            origins: origins.iter().map(|words| words_digest(words)).collect(),
            because: "a joke".to_owned(),
        }
    }

    #[test]
    fn an_origin_follows_its_memory_and_is_told_once() {
        let file = [
            mark("a", MarkKind::Origin(origin(3, "x"))),
            mark("a", MarkKind::Origin(origin(3, "x"))),
            mark("a", MarkKind::Alias { to: address("b") }),
            mark("b", MarkKind::Origin(origin(9, "y"))),
        ];
        let marks = Marks::read(file.concat().as_bytes());
        let expected = BTreeMap::from([(address("b"), vec![origin(3, "x"), origin(9, "y")])]);
        assert_eq!((marks.origins, marks.unread), (expected, 0));
    }

    #[test]
    fn what_marks_say_of_a_forgotten_memory_goes_and_nothing_else() {
        let reject = |name: &str, because: &str| {
            let rejection = Rejection { because: because.to_owned(), ..rejection("T", "B", &[]) };
            mark(name, MarkKind::Reject(rejection))
        };
        let file = [
            mark("was-here", MarkKind::Pin),
            mark("kept", MarkKind::Pin),
            mark("was-here", MarkKind::Alias { to: address("was-there") }),
            mark("was-there", MarkKind::Alias { to: address("is-gone") }),
            mark("is-gone", MarkKind::Origin(origin(3, "x"))),
            "<<<<<<< HEAD\n".to_owned(),
            "{\"mark\":\"pin\",\"address\":\"decision/is-gone\"\n".to_owned(),
            // Another memory took a former address.
            mark("was-here", MarkKind::Pin),
            reject("is-gone", "wrong"),
            reject("kept", "like is-gone"),
            mark("last", MarkKind::Pin).trim_end().to_owned(),
        ];
        let traces = Traces {
            addresses: [address("is-gone"), address("was-there")].into(),
            taken: [address("was-here")].into(),
            ..Traces::default()
        };
        let (left, changed) = purged(file.concat().as_bytes(), &traces);
        let expected = [
            mark("kept", MarkKind::Pin),
            "<<<<<<< HEAD\n".to_owned(),
            mark("was-here", MarkKind::Pin),
            reject("kept", ""),
            mark("last", MarkKind::Pin).trim_end().to_owned(),
        ];
        assert_eq!((String::from_utf8(left).unwrap(), changed), (expected.concat(), 7));
        assert_eq!(purged(expected.concat().as_bytes(), &traces), (expected.concat().into_bytes(), 0));
    }

    #[test]
    fn a_memory_knows_where_it_was() {
        let file = [
            mark("a", MarkKind::Alias { to: address("b") }),
            mark("b", MarkKind::Alias { to: address("c") }),
            mark("x", MarkKind::Alias { to: address("y") }),
        ];
        let marks = Marks::read(file.concat().as_bytes());
        assert_eq!(marks.former(&address("c")), BTreeSet::from([address("a"), address("b")]));
        assert_eq!(marks.former(&address("a")), BTreeSet::new());
    }

    #[test]
    fn a_rejection_is_by_value_and_not_by_name() {
        let file =
            mark("a", MarkKind::Reject(rejection("Use JWT", "Tokens are stateless.", &["we chose JWT"])));
        let marks = Marks::read(file.as_bytes());
        let words = words_digest("we chose JWT");
        let (decision, preference) = (Category::Decision, Category::Preference);
        let table = [
            (decision, "use  jwt!", "Another body", None, true),
            (decision, "Another title", "tokens ARE stateless", None, true),
            // Title and body match in any category.
            (preference, "Use JWT", "Another body", None, true),
            (decision, "Another title", "Another body", Some(words.as_str()), true),
            // One conversation may contain a decision and a preference.
            (preference, "Another title", "Another body", Some(words.as_str()), false),
            (decision, "Do not use JWT", "Tokens are not stateless", None, false),
            (decision, "", "", None, false),
        ];
        for (category, title, body, origin, rejected) in table {
            let body = Body::Fields([("x", Json::text(body))].into_iter().collect());
            let found = marks.rejections(category, NewCapture { title, body: &body, origin }).count();
            assert_eq!(found > 0, rejected, "{category} {title:?} {origin:?}");
        }
    }

    #[test]
    fn a_reason_is_one_short_line_without_secrets() {
        let secret = concat!("AKIA", "4TGHN2WQ7VKJX3ZD");
        let memory = Memory {
            address: address("a"),
            kind: crate::memory::MemoryKind::Record(Category::Decision),
            title: "T".to_owned(),
            body: Body::Fields(Object::new()),
            tags: Vec::new(),
            links: Vec::new(),
            about: Vec::new(),
            lifecycle: crate::lifecycle::Lifecycle::Active,
            validity: Default::default(),
            confidence: None,
            created: None,
            updated: None,
            history: Vec::new(),
            revised: 0,
            extra: Object::new(),
        };
        let because = format!("it holds\n{secret} {}", "x".repeat(400));
        let line = mark("a", MarkKind::Reject(Rejection::of(&memory, &[], &because)));
        assert!(!line.contains(secret) && line.contains("it holds AKIA…") && line.len() < 800, "{line}");
        assert_eq!(line.lines().count(), 1);
    }

    proptest! {
        #[test]
        fn every_mark_reads_back(title in "\\PC{0,20}", session in "\\PC{1,20}", number in any::<u64>()) {
            let rejected = rejection(&title, &session, &[&title]);
            let origins = [TranscriptPosition::Line(number), TranscriptPosition::Byte(number)]
                .map(|at| Origin { session: session.clone(), at, words: words_digest(&title) });
            let mut file = mark("a", MarkKind::Reject(rejected.clone()));
            origins.iter().for_each(|origin| file.push_str(&mark("a", MarkKind::Origin(origin.clone()))));
            let marks = Marks::read(file.as_bytes());
            prop_assert_eq!(marks.unread, 0);
            prop_assert_eq!(marks.rejected, vec![(address("a"), rejected)]);
            prop_assert_eq!(&marks.origins[&address("a")], &origins.to_vec());
        }

        #[test]
        fn any_bytes_are_read_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            Marks::read(&bytes);
        }
    }
}
