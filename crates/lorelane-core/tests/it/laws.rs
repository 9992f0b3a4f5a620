//! The laws that every dialect keeps. A new dialect joins by one line in [`spoken`].

use crate::support::{DialectOnTexts, TextChange};
use crate::support::{NOW, content, object, put, records};
use lorelane_core::change::Draft;
use lorelane_core::dialect::auto::Auto;
use lorelane_core::dialect::notes::{NoteDocument, Notes, links};
use lorelane_core::dialect::{Dialect, WriteContext};
use lorelane_core::json::{Json, JsonDocument, NodeKind, Object};
use lorelane_core::lifecycle::{Lifecycle, LifecycleVerb};
use lorelane_core::memory::{Address, AutoType, Body, Category, HistoryEntry, Memory, MemoryKind, NoteType};
use lorelane_core::path::RelPath;
use lorelane_core::time::Timestamp;
use lorelane_core::transition::{self, TransitionResult};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use std::collections::BTreeMap;

struct Spoken {
    name: &'static str,
    dialect: Box<dyn Dialect>,
    /// Files with odd layouts; each reads as a memory.
    fixtures: Vec<Fixture>,
    /// Any memory that the dialect can write down.
    memories: BoxedStrategy<Memory>,
    /// What of a text a step of life must not touch.
    untouched: fn(&str) -> Vec<String>,
    /// Another address of the same sort.
    elsewhere: fn(&Memory) -> Address,
    /// Whether active memories have a line in a listing.
    listed: bool,
}

struct Fixture {
    name: &'static str,
    path: RelPath,
    text: String,
}

fn spoken() -> Vec<Spoken> {
    vec![
        Spoken {
            name: "records",
            dialect: Box::new(records()),
            fixtures: record_fixtures(),
            memories: any_record().boxed(),
            untouched: members_beside_the_lifecycle,
            elsewhere: |memory| Address::record(memory.kind.category().expect("a record"), "another-name"),
            listed: true,
        },
        Spoken {
            name: "notes",
            dialect: Box::new(Notes),
            fixtures: note_fixtures(),
            memories: any_note().boxed(),
            untouched: lines_beside_the_lifecycle,
            elsewhere: |_| Address::note("folder/another-name").expect("an address"),
            listed: false,
        },
        Spoken {
            name: "auto",
            dialect: Box::new(Auto::default()),
            fixtures: auto_fixtures(),
            memories: any_auto().boxed(),
            untouched: |text| vec![text.to_owned()],
            elsewhere: |_| Address::auto("folder/another-name").expect("an address"),
            listed: false,
        },
    ]
}

/// Runs a property for every dialect.
fn for_all<T: std::fmt::Debug>(
    strategy: impl Fn(&Spoken) -> BoxedStrategy<T>,
    check: impl Fn(&Spoken, T) -> Result<(), TestCaseError>,
) {
    for spoken in spoken() {
        let mut runner =
            TestRunner::new(Config { cases: 64, failure_persistence: None, ..Config::default() });
        let result = runner.run(&strategy(&spoken), |value| check(&spoken, value));
        result.unwrap_or_else(|failure| panic!("{}: {failure}", spoken.name));
    }
}

/// Runs a check for every fixture of every dialect.
fn for_each_fixture(check: impl Fn(&Spoken, &Fixture, &Memory)) {
    for spoken in spoken() {
        for fixture in &spoken.fixtures {
            let reading = spoken.dialect.read(&fixture.path, fixture.text.as_bytes().to_vec());
            let memory = reading.memory.unwrap_or_else(|| panic!("{}: {:?}", fixture.name, reading.problems));
            check(&spoken, fixture, &memory);
        }
    }
}

#[test]
fn what_is_written_reads_back_equal() {
    for_all(
        |spoken| spoken.memories.clone(),
        |spoken, memory| {
            let path = spoken.dialect.place(&memory.address).expect("a place");
            let text = put(&*spoken.dialect, None, None, Some(&memory));
            let again = spoken.dialect.read(&path, text.as_bytes().to_vec()).memory;
            prop_assert_eq!(again, Some(memory), "{}", text);
            Ok(())
        },
    );
}

#[test]
fn any_memory_can_replace_any_other_in_its_file() {
    for_all(
        |spoken| (spoken.memories.clone(), 0..spoken.fixtures.len()).boxed(),
        |spoken, (mut after, at)| {
            let fixture = &spoken.fixtures[at];
            let before = spoken
                .dialect
                .read(&fixture.path, fixture.text.as_bytes().to_vec())
                .memory
                .expect("readable");
            after.address = before.address.clone();
            after.kind = before.kind;
            let edits = spoken.dialect.write_text(Some(&fixture.text), Some(&before), Some(&after)).unwrap();
            if let Some(TextChange::Put { text, path }) = edits.first() {
                prop_assert_eq!(
                    spoken.dialect.read(path, text.as_bytes().to_vec()).memory,
                    Some(after),
                    "{}",
                    text
                );
            } else {
                prop_assert_eq!(before, after);
            }
            Ok(())
        },
    );
}

#[test]
fn writing_what_stands_there_makes_no_edit() {
    for_each_fixture(|spoken, fixture, memory| {
        let edits = spoken.dialect.write_text(Some(&fixture.text), Some(memory), Some(memory)).unwrap();
        assert_eq!(edits, [], "{}", fixture.name);
    });
}

#[test]
fn a_step_of_life_leaves_every_other_byte() {
    let verbs = [LifecycleVerb::Retire, LifecycleVerb::Archive, LifecycleVerb::Restore { from: None }];
    for_each_fixture(|spoken, fixture, memory| {
        for verb in verbs {
            let Ok(TransitionResult::Changed(after)) = transition::apply(memory, verb, "why", NOW) else {
                continue;
            };
            let (path, after) = stepped(spoken, fixture, verb, *after);
            let text = put(&*spoken.dialect, Some(&fixture.text), Some(memory), Some(&after));
            let (old, new) = ((spoken.untouched)(&fixture.text), (spoken.untouched)(&text));
            assert_eq!(new, old, "{} after {}: {text}", fixture.name, verb.name());
            let again = spoken.dialect.read(&path, text.as_bytes().to_vec()).memory;
            assert_eq!(again, Some(after), "{}", fixture.name);
        }
    });
}

/// Where a step of life leads. A file that moves says by its folder alone that it is out of use.
fn stepped(spoken: &Spoken, fixture: &Fixture, verb: LifecycleVerb, after: Memory) -> (RelPath, Memory) {
    let (dialect, address) = (&*spoken.dialect, &after.address);
    // Notes say it in the file, too, so they are retired where they are.
    let moves = spoken.name == "auto";
    let to = match verb {
        LifecycleVerb::Retire => dialect.retired_to(address, NOW, &|_| false),
        LifecycleVerb::Archive => dialect.archived_to(address, NOW, &|_| false),
        _ => dialect.restored_to(address),
    };
    let Some(to) = to.filter(|_| moves) else { return (fixture.path.clone(), after) };
    let path = dialect.place(&to).expect("a place");
    let lifecycle = dialect.read(&path, fixture.text.as_bytes().to_vec()).memory.expect("readable").lifecycle;
    (path, Memory { address: to, lifecycle, ..after })
}

#[test]
fn a_rename_moves_the_file_and_leaves_every_other_byte() {
    for_each_fixture(|spoken, fixture, memory| {
        let mut after = memory.clone();
        after.address = (spoken.elsewhere)(memory);
        let edits = spoken.dialect.write_text(Some(&fixture.text), Some(memory), Some(&after)).unwrap();
        let [TextChange::Put { path, text }, TextChange::Remove { path: old }] = edits.as_slice() else {
            panic!("{edits:?}")
        };
        assert_eq!((Some(path), old), (spoken.dialect.place(&after.address).as_ref(), &fixture.path));
        assert_eq!((spoken.untouched)(text), (spoken.untouched)(&fixture.text), "{}", fixture.name);
    });
}

#[test]
fn removing_a_memory_leaves_nothing_of_it() {
    for_each_fixture(|spoken, fixture, memory| {
        let edits = spoken.dialect.write_text(Some(&fixture.text), Some(memory), None).unwrap();
        assert_eq!(edits, [TextChange::Remove { path: fixture.path.clone() }], "{}", fixture.name);
    });
}

#[test]
fn any_bytes_are_read_without_panic() {
    let bytes = |_: &Spoken| prop::collection::vec(any::<u8>(), 0..300).boxed();
    for_all(bytes, |spoken, bytes| {
        spoken.dialect.read(&spoken.fixtures[0].path, bytes);
        Ok(())
    });
}

#[test]
fn a_damaged_file_is_read_without_panic_and_what_is_read_can_be_retired() {
    let damage = |spoken: &Spoken| {
        let fixtures = 0..spoken.fixtures.len();
        (fixtures, any::<prop::sample::Index>(), 0..40usize, "[\\[\\]{}\",:0-9a-zN \\-]{0,6}").boxed()
    };
    for_all(damage, |spoken, (at, from, length, by)| {
        let fixture = &spoken.fixtures[at];
        let mut bytes = fixture.text.clone().into_bytes();
        let from = from.index(bytes.len());
        let to = bytes.len().min(from + length);
        bytes.splice(from..to, by.into_bytes());
        let Some(before) = spoken.dialect.read(&fixture.path, bytes.clone()).memory else { return Ok(()) };
        let text = String::from_utf8(bytes).expect("what was read is UTF-8");
        let same = spoken.dialect.write_text(Some(&text), Some(&before), Some(&before)).unwrap();
        prop_assert_eq!(same, [], "{}", text);
        if let Ok(TransitionResult::Changed(after)) =
            transition::apply(&before, LifecycleVerb::Retire, "why", NOW)
        {
            let damaged = Fixture { name: fixture.name, path: fixture.path.clone(), text };
            let (path, after) = stepped(spoken, &damaged, LifecycleVerb::Retire, *after);
            let retired = put(&*spoken.dialect, Some(&damaged.text), Some(&before), Some(&after));
            prop_assert_eq!(
                spoken.dialect.read(&path, retired.as_bytes().to_vec()).memory,
                Some(after),
                "{}",
                retired
            );
        }
        Ok(())
    });
}

#[test]
fn a_created_memory_reads_back_as_it_was_composed() {
    let context = WriteContext { now: NOW, gone: Default::default() };
    for_each_fixture(|spoken, fixture, memory| {
        let draft = Draft::Whole(fixture.text.clone());
        let Ok(composed) = spoken.dialect.compose_text(&memory.address, None, &draft, &context) else {
            return;
        };
        let text = put(&*spoken.dialect, composed.base_text.as_deref(), None, Some(&composed.memory));
        let reading = spoken.dialect.read(&fixture.path, text.as_bytes().to_vec());
        assert_eq!(reading.memory, Some(composed.memory), "{}", fixture.name);
        assert_eq!(reading.problems, [], "{}", fixture.name);
    });
}

#[test]
fn passages_lie_in_their_file_in_order_and_hold_all_that_is_said() {
    for_each_fixture(|spoken, fixture, memory| {
        let file = spoken.dialect.read(&fixture.path, fixture.text.as_bytes().to_vec());
        let passages = spoken.dialect.passages(&file.document);
        let count = fixture.text.lines().count();
        assert!(passages.iter().all(|passage| passage.lines.1 <= count), "{}: {passages:?}", fixture.name);
        let order = passages.iter().map(|passage| passage.lines);
        assert!(order.clone().zip(order.skip(1)).all(|(a, b)| a.1 <= b.0), "{}: {passages:?}", fixture.name);
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let said: Vec<String> = passages.iter().flat_map(|passage| words(&passage.text)).collect();
        assert_eq!(said, words(&memory.body.prose()), "{}", fixture.name);
    });
}

#[test]
fn a_listing_kept_line_by_line_equals_one_rebuilt() {
    let some = |spoken: &Spoken| {
        (prop::collection::vec(spoken.memories.clone(), 0..8), any::<prop::sample::Index>()).boxed()
    };
    for_all(some, |spoken, (memories, leaves)| {
        // The newest memory of an address is the one that is there.
        let lane: BTreeMap<&Address, &Memory> =
            memories.iter().map(|memory| (&memory.address, memory)).collect();
        let memories: Vec<&Memory> = lane.into_values().collect();
        let line = |memory: &Memory| spoken.dialect.listing_line(memory).map(|line| (line.key, line.text));
        let mut kept = BTreeMap::new();
        for memory in memories.iter().rev() {
            if let Some((key, text)) = line(memory) {
                prop_assert_eq!(kept.insert(key, text), None, "two memories have one key");
            }
        }
        let mut stay = memories.clone();
        if !memories.is_empty() {
            let left = stay.remove(leaves.index(memories.len()));
            line(left).map(|(key, _)| kept.remove(&key));
        }
        let rebuilt: BTreeMap<String, String> = stay.iter().filter_map(|memory| line(memory)).collect();
        prop_assert_eq!(kept, rebuilt);
        Ok(())
    });
}

/// Titles and tags that try to be other parts of a line.
const HOSTILE: [&str; 18] = [
    "Auth tokens -> -> /etc/evil.json #ta#tags:gs:auth",
    "a\u{a0}->\u{a0}b",
    "-> /etc/passwd",
    "ends with ->",
    "->",
    "#tags:x",
    " #tags:",
    "",
    "\u{200b}",
    "two\nlines -> x",
    "a\u{2028}b\u{85}c\u{b}d\u{1c}e",
    "- [DECISION] nested -> x.json #tags:y",
    "a ->\u{200b} b",
    "a -\u{ad}> b",
    "a ->-> -> b",
    "x #tags:#tags:##tags:tags: -> y",
    "日本語 -> 認証",
    "tab\t->\tb",
];

#[test]
fn a_hostile_line_still_says_its_own_path_and_nothing_else() {
    for_each_fixture(|spoken, fixture, memory| {
        let mut memory = memory.clone();
        memory.lifecycle = Lifecycle::Active;
        if !spoken.listed {
            assert_eq!(spoken.dialect.listing_line(&memory), None, "{}", fixture.name);
            return;
        }
        for title in HOSTILE {
            for tag in HOSTILE {
                memory.title = title.to_owned();
                memory.tags = vec![tag.to_owned(), "plain".to_owned()];
                let line = spoken.dialect.listing_line(&memory).expect("active memories are listed").text;
                let path = format!(".claude/memory/{}", fixture.path);
                assert_eq!(path_by_pattern(&line), Some(path.as_str()), "{line:?}");
                assert_eq!(path_by_first_arrow(&line), Some(path.as_str()), "{line:?}");
                let breaks = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
                assert!(!line.contains(breaks), "{line:?}");
            }
        }
    });
}

proptest! {
    #![proptest_config(Config { failure_persistence: None, ..Config::default() })]

    #[test]
    fn any_title_and_tag_make_one_line_with_the_right_path(title in "\\PC{0,20}( ?-> ?| #tags:)?\\PC{0,9}", tag in ".{0,9}( -> |#tags:)?.{0,9}") {
        let mut memory = crate::support::read(&crate::support::decision(&[]));
        (memory.title, memory.tags) = (title, vec![tag]);
        let line = records().listing_line(&memory).unwrap().text;
        prop_assert_eq!(path_by_pattern(&line), Some(".claude/memory/decisions/use-jwt.json"), "{}", line);
        prop_assert_eq!(path_by_first_arrow(&line), Some(".claude/memory/decisions/use-jwt.json"), "{}", line);
        prop_assert_eq!(line.lines().count(), 1);
    }
}

/// The scripts' `^-\s+\[([A-Z_]+)\]\s+(.+?)\s+->\s+(\S+)(?:\s+#tags:(.+))?$`.
fn path_by_pattern(line: &str) -> Option<&str> {
    let blanks = |text: &'_ str| -> Option<usize> {
        let length = text.len() - text.trim_start().len();
        (length > 0).then_some(length)
    };
    let line = line.trim();
    let rest = line.strip_prefix('-')?;
    let rest = rest[blanks(rest)?..].strip_prefix('[')?;
    let (name, rest) = rest.split_once(']')?;
    if name.is_empty() || !name.chars().all(|c| c.is_ascii_uppercase() || c == '_') {
        return None;
    }
    let title = &rest[blanks(rest)?..];
    let ends = title.char_indices().skip(1).map(|(at, _)| at);
    ends.filter_map(|end| {
        let arrow = &title[end..];
        let after = arrow[blanks(arrow)?..].strip_prefix("->")?;
        let path =
            after[blanks(after)?..].split(char::is_whitespace).next().filter(|path| !path.is_empty())?;
        let tail = &after[blanks(after)? + path.len()..];
        let tags = tail.trim_start().strip_prefix("#tags:");
        (tail.is_empty() || tags.is_some_and(|tags| !tags.is_empty())).then_some(path)
    })
    .next()
}

/// The other rule of the scripts: the text after the first ` -> `, up to ` #tags:`.
fn path_by_first_arrow(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once(" -> ")?;
    Some(rest.split_once(" #tags:").map_or(rest, |(path, _)| path).trim())
}

fn record_fixtures() -> Vec<Fixture> {
    let pretty = r#"{
  "title": "Caf\u00e9 \ud83d\ude00 \/ done",
  "schema_version": "1.0", "category": "decision", "id": "use-jwt",
  "created_at": "2025-01-01 09:30",
  "updated_at" : "2025-01-02T03:04:05+02:00" ,
  "tags": [ "b",  "a" ],
  "confidence": 0.50,
  "x-mine": {"k": [1.0, 2e0, null], "z": "\t"},
  "content": {"rationale": ["r"], "status": "accepted",
      "context": "c", "decision": "d"},
  "changes": [
    {"date": "2025-01-01", "summary": "S\u00e9", "old_value": 1.50}
  ],

  "times_updated": 1
}
"#;
    let active: Vec<(&str, &str)> = vec![("blanks", pretty)];
    let retired = pretty.replace(
        "\"times_updated\": 1\n",
        "\"record_status\": \"retired\", \"retired_at\": \"2025-02-01\",\n  \"retired_reason\": \"old\", \"times_updated\": 1\n",
    );
    let compact = crate::support::decision(&[("note", "{\"a\": [1.10]}")]);
    let compact = compact.split('\n').map(str::trim_start).collect::<String>();
    let mut fixtures: Vec<(&str, String)> =
        active.into_iter().map(|(name, text)| (name, text.to_owned())).collect();
    fixtures.push(("retired", retired));
    fixtures.push(("tabs", pretty.replace("  ", "\t")));
    fixtures.push(("CRLF", pretty.replace('\n', "\r\n")));
    fixtures.push(("byte-order mark", format!("\u{feff}{pretty}")));
    fixtures.push(("compact", compact));
    fixtures.push(("no final newline", pretty.trim_end().to_owned()));
    fixtures.push(("bare", "{ \"title\":\"x\" }".to_owned()));
    fixtures.push(("doubled key", r#"{"title": "a", "id": "use-jwt", "title": "b", "tags": []}"#.to_owned()));
    fixtures.push(("other types", r#"{"title": "x", "tags": "auth", "content": [], "changes": {}, "confidence": NaN, "times_updated": "3"}"#.to_owned()));
    let path = RelPath::parse("decisions/use-jwt.json").expect("a path");
    fixtures.into_iter().map(|(name, text)| Fixture { name, path: path.clone(), text }).collect()
}

/// The text around the object, and every top-level member that a step of life or a rename does not concern,
/// with the spaces around it; of the history the entries that were there.
fn members_beside_the_lifecycle(text: &str) -> Vec<String> {
    const FOLLOW: [&str; 8] = [
        "record_status",
        "retired_at",
        "retired_reason",
        "archived_at",
        "archived_reason",
        "updated_at",
        "id",
        "category",
    ];
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let root = JsonDocument::parse(text).expect("JSON").root;
    let NodeKind::Object(members) = &root.kind else { panic!("{text}") };
    let mut pieces = vec![text[..root.span.start].to_owned(), text[root.span.end..].to_owned()];
    let mut from = root.span.start + 1;
    for (at, member) in members.iter().enumerate() {
        let lead = &text[from..member.key_span.start];
        let trail = match members.get(at + 1) {
            Some(_) => text[member.value.span.end..].split(',').next().unwrap_or_default(),
            None => "",
        };
        from = member.value.span.end + trail.len() + 1;
        let overruled = members[at + 1..].iter().any(|later| later.key == member.key);
        match &member.value.kind {
            _ if FOLLOW.contains(&member.key.as_str()) || overruled => {}
            NodeKind::List(entries) if member.key == "changes" => {
                let entries = entries.iter().map(|entry| text[entry.span.clone()].to_owned());
                pieces.extend(entries.filter(|entry| !entry.contains("record_status")));
            }
            _ if member.key == "changes" => {}
            _ => {
                let body = &text[member.key_span.start..member.value.span.end];
                pieces.push(format!("{lead}{body}{trail}"));
            }
        }
    }
    pieces
}

fn any_record() -> impl Strategy<Value = Memory> {
    let words = || prop::collection::vec("\\PC{0,8}", 0..4);
    let time = || prop::option::of((-62_000_000_000i64..253_000_000_000).prop_map(Timestamp));
    let named = (prop::sample::select(Category::ALL.to_vec()), "[a-c]{1,2}", "(use-jwt|\\PC{0,12})");
    let lifecycle =
        (0..3, time(), prop::option::of("\\PC{0,9}")).prop_map(|(status, at, reason)| match status {
            0 => Lifecycle::Active,
            1 => Lifecycle::Retired { at, reason },
            _ => Lifecycle::Archived { at, reason },
        });
    let rest = (prop::option::of(0.0..1.0), 0u64..9, prop::option::of("[a-z]{1,3}"), any::<bool>());
    (named, words(), words(), lifecycle, time(), time(), rest).prop_map(
        |((category, name, title), tags, about, lifecycle, created, updated, rest)| {
            let (confidence, revised, key, filled) = rest;
            Memory {
                address: Address::record(category, &name),
                kind: MemoryKind::Record(category),
                title,
                body: Body::Fields(if filled { object(content(category)) } else { Object::new() }),
                history: tags
                    .iter()
                    .map(|tag| HistoryEntry::new(NOW, tag).with("tags", Json::Null, Json::Null))
                    .collect(),
                tags,
                links: Vec::new(),
                about,
                lifecycle,
                validity: Default::default(),
                confidence,
                created,
                updated,
                revised,
                extra: key.into_iter().map(|key| (format!("x-{key}"), Json::number("1.50"))).collect(),
            }
        },
    )
}

/// A note with all that a head may hold.
const NOTE: &str = r#"---
# kept by hand
type: "plan"
status: "active"   # for now
tags: ["refactor", 'auth', plain]
created_at: "2025-01-10T10:00:00.123456+00:00"

aliases:
  - login
  # the old name
  - sign-in
meta: {owner: "me", since: 2024}
base: &anchor
  deep: [1, [2]]
copy: *anchor
about: |
  # no comment
  status: "archived"
"quoted key": 'it''s'
---

# Auth plan

Plan to refactor [[src/auth.py]] to use JWT tokens.

## Goals
- Remove sessions, see [[memory:sessions|the notes]].

```sh
[[ -f x ]]
```
"#;

fn note_fixtures() -> Vec<Fixture> {
    let archived = NOTE.replace(
        "status: \"active\"   # for now\n",
        "status: archived\narchived_at: 2025-02-01\narchived_reason: it's done # really\n",
    );
    let head_only = "---\ntitle: A head only\n---";
    let fixtures = [
        ("all", NOTE.to_owned()),
        ("archived", archived),
        ("CRLF", NOTE.replace('\n', "\r\n")),
        ("byte-order mark", format!("\u{feff}{NOTE}")),
        ("no final newline", NOTE.trim_end().to_owned()),
        ("blank lines around", format!("{}\n\n \n", NOTE.replace("---\n\n#", "---\n\n\n\n#"))),
        ("tags as one text", NOTE.replace("[\"refactor\", 'auth', plain]", "refactor, auth ,plain")),
        ("tags with dashes", NOTE.replace("[\"refactor\", 'auth', plain]", "\n- refactor # first\n\n- auth")),
        ("tags over lines", NOTE.replace("[\"refactor\", 'auth', plain]", "[\n  a, # why\n  \"b\",\n]")),
        ("indented", "---\n  type: fact\n  # c\n  tags: []\n---\n# Indented\n".to_owned()),
        ("no frontmatter", "# Only text\n\nA line: with a colon.\n".to_owned()),
        ("empty frontmatter", "---\n---\n# Empty head\n".to_owned()),
        ("a head only", head_only.to_owned()),
        ("doubled keys", "---\nstatus: archived\ntype: fact\nstatus: active\ntitle: x\n---\ntext".to_owned()),
        ("unclosed", "---\ntype: plan\nstatus: archived\n\n# Never closed\n".to_owned()),
        ("between two rules", "---\nsome text, no key\n---\n# After\n".to_owned()),
        (
            "broken values",
            "---\ntype: [plan\ntags: \"a\nstatus: *x\ntitle: a: b\nstray\n---\n\n---\n".to_owned(),
        ),
        ("a head in the text", "---\ntype: fact\n---\n\n---\ntype: plan\n---\n# Second\n".to_owned()),
    ];
    let path = RelPath::parse("plans/auth v1.2 \u{8a8d}\u{8a3c}.md").expect("a path");
    fixtures.into_iter().map(|(name, text)| Fixture { name, path: path.clone(), text }).collect()
}

/// Every line of the head that a step of life does not concern, and the body with all around it.
fn lines_beside_the_lifecycle(text: &str) -> Vec<String> {
    const FOLLOW: [&str; 6] =
        ["status:", "updated_at:", "retired_at:", "retired_reason:", "archived_at:", "archived_reason:"];
    let page = NoteDocument::read(text);
    let head = page.frontmatter.as_ref().map_or("", |frontmatter| &text[frontmatter.span.clone()]);
    let stays = |line: &&str| !FOLLOW.iter().any(|key| line.trim_start_matches([' ']).starts_with(key));
    let mut pieces: Vec<String> = head.split_inclusive('\n').filter(stays).map(str::to_owned).collect();
    pieces.push(text[page.body()].to_owned());
    pieces.push(text[page.body().end..].to_owned());
    pieces
}

fn any_note() -> impl Strategy<Value = Memory> {
    let words =
        || prop::collection::vec("(\\PC{0,8}|[\\[\\]{}\"',:#&*!|>%@`~ -]{0,4}|null|yes|1.0|a\n- b)", 0..4);
    let time = || prop::option::of((-62_000_000_000i64..253_000_000_000).prop_map(Timestamp));
    let named = (
        prop::sample::select(NoteType::ALL.to_vec()),
        "([a-c]{1,2}/)?(\\p{L}|[0-9._]){1,3}[a-z]",
        "(\\PC{1,12}|[\"':#\\[ -]{1,4}|a\nb)",
    );
    let line = "(# |## |- |---|> |```|    )?(\\PC{0,12}|\\[\\[a\\]\\]|key: x)";
    let body = prop::collection::vec(line, 0..6).prop_map(|lines| {
        let text = lines.join("\n");
        let blank = |line: &&str| line.trim().is_empty();
        let start: usize = text.split_inclusive('\n').take_while(blank).map(str::len).sum();
        text[start.min(text.len())..].trim_end().to_owned()
    });
    let lifecycle = (0..3, time(), prop::option::of("(\\PC{0,9}|a\"b\n'c)")).prop_map(
        |(status, at, reason)| match status {
            0 => Lifecycle::Active,
            1 => Lifecycle::Retired { at, reason },
            _ => Lifecycle::Archived { at, reason },
        },
    );
    let source = prop::sample::select(vec![
        "1.50",
        "[a, {b: c}]",
        "\n  a: 1\n  b: [x]",
        "|\n  # text\n  more",
        "",
        "'x'",
    ]);
    let extra = prop::option::of(("(x-)?[a-z]{1,3}|mit blank|日本", source));
    (named, words(), body, lifecycle, time(), time(), extra).prop_map(
        |((note_type, name, title), tags, body, lifecycle, created, updated, extra)| Memory {
            address: Address::note(&name).unwrap_or_else(|| Address::note("plain").expect("an address")),
            kind: MemoryKind::Note(note_type),
            title,
            links: links(&body),
            body: Body::Prose(body),
            tags,
            about: Vec::new(),
            lifecycle,
            validity: Default::default(),
            confidence: None,
            created,
            updated,
            history: Vec::new(),
            revised: 0,
            extra: extra.into_iter().map(|(key, source)| (key, Json::text(source))).collect(),
        },
    )
}

/// A topic file with all that a head may hold.
const TOPIC: &str = r#"---
name: testing-approach
description: "Integration tests hit a real database: never mocks"  # why: an incident
metadata:
  node_type: memory
  type: feedback
  # set by the client
  originSessionId: 0b1c2d3e-0000-4000-8000-000000000000
  modified: 2026-01-02T03:04:05.678Z
  tags: [a, "b"]
x-mine:
  deep: {a: 1}
---

Integration tests must hit a real database.

**Why:** mocks passed and the migration failed, see [[migrations]].

**How to apply:** use the container.
"#;

fn auto_fixtures() -> Vec<Fixture> {
    let flat =
        "---\nname: x\ndescription: Plain: no, a dash\ntype: project\noriginSessionId: 1\n---\nBody.\n";
    let fixtures = [
        ("all", TOPIC.to_owned()),
        ("flat", flat.replace("Plain: no, a dash", "A plain description")),
        ("value", TOPIC.replace("type: feedback\n", "type: feedback\n  kind: value\n")),
        ("flat value", "---\nname: x\ndescription: y\ntype: Value\n---\nBody.\n".to_owned()),
        ("invented type", TOPIC.replace("type: feedback", "type: insight")),
        (
            "block scalar",
            TOPIC.replace(
                "\"Integration tests hit a real database: never mocks\"  # why: an incident",
                ">-\n  Integration tests\n  hit a real database",
            ),
        ),
        (
            "literal scalar",
            TOPIC.replace(
                "\"Integration tests hit a real database: never mocks\"  # why: an incident",
                "|\n  Two\n  lines",
            ),
        ),
        ("a blank after the key", TOPIC.replace("metadata:", "metadata: ")),
        ("CRLF", TOPIC.replace('\n', "\r\n")),
        ("byte-order mark", format!("\u{feff}{TOPIC}")),
        ("no final newline", TOPIC.trim_end().to_owned()),
        (
            "flow metadata",
            "---\nname: x\ndescription: 'it''s'\nmetadata: {type: user, node_type: memory}\n---\ntext\n"
                .to_owned(),
        ),
        ("no type", "---\nname: x\ndescription: y\n---\ntext\n".to_owned()),
        ("no frontmatter", "# Only text\n\nA line: with a colon.\n".to_owned()),
        ("empty frontmatter", "---\n---\n# Empty head\n".to_owned()),
        ("unclosed", "---\nname: x\ntype: user\n\n# Never closed\n".to_owned()),
        ("between two rules", "---\nsome text, no key\n---\n# After\n".to_owned()),
        ("a head only", "---\nname: x\ndescription: y\nmetadata:\n  type: user\n---".to_owned()),
    ];
    let path = RelPath::parse("feedback_testing.md").expect("a path");
    fixtures.into_iter().map(|(name, text)| Fixture { name, path: path.clone(), text }).collect()
}

fn any_auto() -> impl Strategy<Value = Memory> {
    let named = (
        prop::sample::select(AutoType::ALL.to_vec()),
        "([a-c]{1,2}/)?(\\p{L}|[0-9._]){1,3}[a-z]",
        "([a-z]{1,9}( [a-z:#'\"\\[-]{1,6}){0,3}|[a-zéß日本]{1,8})",
    );
    let line = "(# |## |- |> |```)?(\\PC{0,12}|\\[\\[a\\]\\]|key: x)";
    let body = prop::collection::vec(line, 0..6).prop_map(|lines| {
        let text = lines.join("\n");
        let blank = |line: &&str| line.trim().is_empty();
        let start: usize = text.split_inclusive('\n').take_while(blank).map(str::len).sum();
        text[start.min(text.len())..].trim_end().to_owned()
    });
    let source = prop::sample::select(vec!["1.50", "[a, {b: c}]", "'x'", "plain text"]);
    let extra = prop::collection::btree_map("(metadata\\.)?(x-)?[b-m]{2,3}", source, 0..3);
    (named, body, extra).prop_map(|((auto_type, name, title), body, extra)| Memory {
        address: Address::auto(&name).unwrap_or_else(|| Address::auto("plain").expect("an address")),
        kind: MemoryKind::Auto(auto_type),
        title: title.trim().to_owned(),
        links: links(&body),
        body: Body::Prose(body),
        tags: Vec::new(),
        about: Vec::new(),
        lifecycle: Lifecycle::Active,
        validity: Default::default(),
        confidence: None,
        created: None,
        updated: None,
        history: Vec::new(),
        revised: 0,
        extra: extra.into_iter().map(|(key, source)| (key, Json::text(source))).collect(),
    })
}
