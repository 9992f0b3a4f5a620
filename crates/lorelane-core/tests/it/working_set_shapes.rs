//! Manifests and sidecars in the shapes that other programs of the protocol write: read, edited a thousand times, and
//! written without a lost byte. Numbers are those of the contract's sections 3 and 4.

use lorelane_core::time::Timestamp;
use lorelane_core::working_set::{
    ColdAction, ColdAdvice, ColdManifest, FileState, HotAdvice, HotManifest, ManifestFault, SetEntry,
    SetManifest, Sidecar, SidecarEdit, SidecarStatus, SummaryHead, stamped_advice, summary_body,
};
use proptest::prelude::*;
use std::collections::BTreeSet;

const NOW: Timestamp = Timestamp(1_790_000_000);

/// Lists of an advisory file: plain paths, comments between them, lines of spaces, keys that mean nothing to us.
const FOCUS: &str = "# Working set of the harbour project\n#\n# What we look at now.\n\nfocus:\n  # The plan\n  \
    - docs/plan.md\n  - src/tide.rs   # the hard part\n  \n  # On another machine\n  - /home/🖖/other/NOTES.md\n\
    next:\n  - src/moon.rs\nnotes:\n  - \"Read the tables first\"\n  - plain words\n  \n# For the next person\n\
    workflow:\n  current_task: \"Tide tables\"\n  blocked_on: null\n  next_up:\n    - \"Moon phases\"\n";

/// The form of the schema: quotes of every kind, spaces before comments, prose that looks like syntax.
const SCHEMA: &str = "protocol: CONTEXT-ASSEMBLY/0.1\n\nbudget:\n  max_tokens: 28000\n  \
    reserved_for_response: 4000\n  effective: 24000\n\nfiles:\n  # Always needed\n  - path: \"docs/plan.md\"\n    \
    priority: 1.0          # highest\n    role: \"system\"\n    truncate_strategy: \"never\"\n    \n  \
    - path: \"src/tide.rs\"\n    priority: high\n    role: 'context'\n    truncate_strategy: 'middle'\n    \
    max_lines: 500\n    reviewed_by: kim  # unknown\n    \n  # A log: its end matters\n  - path: tool/latest.txt\n    \
    priority: 0.3\n    truncate_strategy: \"start\"  # keep the end\n\nmetadata:\n  \
    last_updated: \"2026-01-01T00:00:00Z\"\n  assembled_by: \"model\"\n  notes: |\n    First the tables.\n    ---\n    \
    * then *everything* else & more\n    \tindented with a tab\n";

/// Dashes that are not indented, and a comment after an item.
const TEMPLATE: &str = "# a template\ncontext_budget_tokens: 12000\nfiles:\n- path: \"docs/plan.md\"\n  priority: 1.0\n  \
    # Core identity\n- path: \"task.md\"\n  priority: 0.9\n\n# the end\n";

const HOT_TIERS: &str = "# Hot list\n\npriority:\n  critical:\n    # First of all\n    \
    - docs/INDEX.md                     # what there is\n    - docs/plan.md\n    \n  high:\n    # Before the tables\n    \
    # - src/old.rs         # not any more\n    \n  medium:\n    - data/tables.yml  # 60 lines\n  low:\n    \
    # On demand only\n\nnotes:\n  - \"Hints, not commands: *really*\"\n";

const HOT_KEEP: &str = "protocol: MEMORY-MGMT/0.1\nupdated: \"2026-01-01T00:00:00Z\"\n\nkeep:\n  - path: \"docs/plan.md\"\n    \
    why: \"Needed — always\"\n    since: \"2026-01-01T00:00:00Z\"\n    touches: 15  # this session\n    \n  \
    # the hard part\n  - path: \"src/tide.rs\"\n    why: 'we debug it'\n    since: \"2026-01-01T00:25:00Z\"\n    \
    touches: 8\n";

const COLD_LIST: &str = "# Cold list\n#\n# Optional.\n\ndeprioritized:\n  # Superseded\n  \
    - data/old/                         # by data/new\n  \n  # Large\n  - \"**/*-scan.yml\"                  # huge\n\n\
    notes:\n  - \"Patterns are globs\"\n\n# Later, perhaps:\n# deprioritized:\n#   - src/moon/\n";

const COLD_EVICT: &str = "protocol: MEMORY-MGMT/0.1\nupdated: \"2026-01-01T00:00:00Z\"\n\nevict:\n  - path: \"tool/log-001.txt\"\n    \
    why: \"Old build: log-005 is newer\"\n    last_touch: \"2026-01-01T00:05:00Z\"\n    \
    suggested_action: \"delete_from_working_set\"\n    \n  # raw\n  - path: \"tool/big.json\"\n    why: \"read\"\n    \
    suggested_action: 'summarize_then_evict'\n    kept_by: nobody  # unknown\n";

const SIDECAR: &str = "# about the tide table\ntitle: 'Tide table'   # a person's title\nsummary: \"(needs summary)\"\ntags: [sea, data]\n\
    hotness: 0.5\npin: false  # not yet\n\nprovenance:\n  created_by: \"tool:fetch\"\n  # first seen\n  \
    created_at: \"2026-01-01T00:00:00Z\"\nlinks:\n  - docs/plan.md\ncustom:\n  depth: {m: 4}\n  notes: |\n    ---\n    *low* water\n";

/// One kind of manifest behind one face.
#[derive(Clone, Copy)]
struct Kind {
    name: &'static str,
    text: &'static str,
    paths: fn(&str) -> Vec<String>,
    put: fn(&str, &str, u32) -> Option<String>,
    remove: fn(&str, &str) -> Option<String>,
}

fn set_paths(text: &str) -> Vec<String> {
    SetManifest::read(text).expect("it is a manifest").entries.into_iter().map(|entry| entry.path).collect()
}

fn set_put(text: &str, path: &str, number: u32) -> Option<String> {
    SetManifest::with_entry(text, &SetEntry::new(path, f64::from(number % 10) / 10.0))
}

fn hot_paths(text: &str) -> Vec<String> {
    HotManifest::read(text).expect("it is a manifest").keep.into_iter().map(|advice| advice.path).collect()
}

fn hot_put(text: &str, path: &str, number: u32) -> Option<String> {
    let advice = HotAdvice { path: path.to_owned(), why: format!("reason: {number} # \"x\""), weight: 1.0 };
    HotManifest::with(text, &advice, &FileState { touches: number, ..FileState::default() }, NOW)
}

fn cold_paths(text: &str) -> Vec<String> {
    ColdManifest::read(text).expect("it is a manifest").evict.into_iter().map(|advice| advice.path).collect()
}

fn cold_put(text: &str, path: &str, number: u32) -> Option<String> {
    let suggested_action = ColdAction::ALL[number as usize % ColdAction::ALL.len()];
    let advice =
        ColdAdvice { path: path.to_owned(), why: format!("reason {number}: --- *x*"), suggested_action };
    ColdManifest::with(text, &advice, &FileState::default())
}

fn kinds() -> Vec<Kind> {
    let set = |name, text| Kind { name, text, paths: set_paths, put: set_put, remove: SetManifest::without };
    let hot = |name, text| Kind { name, text, paths: hot_paths, put: hot_put, remove: HotManifest::without };
    let cold =
        |name, text| Kind { name, text, paths: cold_paths, put: cold_put, remove: ColdManifest::without };
    vec![
        set("focus", FOCUS),
        set("schema", SCHEMA),
        set("template", TEMPLATE),
        hot("tiers", HOT_TIERS),
        hot("keep", HOT_KEEP),
        cold("list", COLD_LIST),
        cold("evict", COLD_EVICT),
    ]
}

/// Both kinds of line ends.
fn with_ends(text: &str) -> [String; 2] {
    [text.to_owned(), text.replace('\n', "\r\n")]
}

/// The lines of a text that another one does not have.
fn lost<'t>(before: &'t str, after: &str) -> Vec<&'t str> {
    let mut kept: Vec<&str> = after.lines().collect();
    let is_lost = |line: &&str| match kept.iter().position(|known| known == line) {
        Some(at) => {
            kept.remove(at);
            false
        }
        None => true,
    };
    before.lines().filter(is_lost).collect()
}

fn has_one_line_end(text: &str, crlf: bool) -> bool {
    let line_feeds = text.matches('\n').count();
    text.matches("\r\n").count() == if crlf { line_feeds } else { 0 }
}

/// Recognises a fault.
type IsFault = fn(&ManifestFault) -> bool;

// Section 3, numbers 1 and 33. Removing the last item of a list took the comments of the list with it.
#[test]
fn c1_c33_every_shape_is_edited_without_a_lost_line() {
    for kind in kinds() {
        for (crlf, text) in [false, true].into_iter().zip(with_ends(kind.text)) {
            let at = format!("{} crlf={crlf}", kind.name);
            let paths = (kind.paths)(&text);
            assert!(!paths.is_empty(), "{at}");
            let added = (kind.put)(&text, "new/file: 1.md", 3).unwrap();
            assert_eq!(lost(&text, &added), [""; 0], "{at}: adding\n{added}");
            assert!((kind.paths)(&added).contains(&"new/file: 1.md".to_owned()), "{at}");
            let again = (kind.remove)(&added, "new/file: 1.md").unwrap();
            assert_eq!(lost(&text, &again), [""; 0], "{at}: adding and removing\n{again}");
            assert_eq!((kind.paths)(&again), paths, "{at}");
            let mut emptied = text.clone();
            for path in &paths {
                emptied = (kind.remove)(&emptied, path).unwrap();
                assert!(!(kind.paths)(&emptied).contains(path), "{at}: {path}");
            }
            assert_eq!((kind.paths)(&emptied), [""; 0], "{at}");
            let is_other = |line: &&&str| line.trim().starts_with('#') || !line.starts_with([' ', '-']);
            // `key:` became `key: []`.
            let gone = lost(&text, &emptied);
            let gone: Vec<_> = gone
                .iter()
                .filter(is_other)
                .filter(|line| !line.trim().is_empty() && !line.ends_with(':'))
                .collect();
            assert_eq!(gone, [&""; 0], "{at}: emptied\n{emptied}");
            let refilled = paths.iter().try_fold(emptied, |text, path| (kind.put)(&text, path, 1)).unwrap();
            assert_eq!((kind.paths)(&refilled).len(), paths.len(), "{at}\n{refilled}");
            for text in [&added, &again, &refilled] {
                assert!(has_one_line_end(text, crlf), "{at}: {text:?}");
            }
        }
    }
}

// A new priority rewrote the role beside it without its quotes.
#[test]
fn c33_a_value_that_does_not_change_keeps_its_form() {
    let entries = SetManifest::read(SCHEMA).unwrap().entries;
    let entry = |path: &str| entries.iter().find(|entry| entry.path == path).cloned().unwrap();
    for entry in &entries {
        assert_eq!(SetManifest::with_entry(SCHEMA, entry).unwrap(), SCHEMA, "{}", entry.path);
    }
    let changed =
        SetManifest::with_entry(SCHEMA, &SetEntry { priority: 0.25, ..entry("docs/plan.md") }).unwrap();
    assert_eq!(changed, SCHEMA.replace("priority: 1.0 ", "priority: 0.25 "));
    let advice = &HotManifest::read(HOT_KEEP).unwrap().keep[0];
    let state = FileState { touches: 15, ..FileState::default() };
    let since = Timestamp::parse("2026-01-01T00:00:00Z").unwrap().0;
    assert_eq!(HotManifest::with(HOT_KEEP, advice, &state, since).unwrap(), HOT_KEEP);
}

// Section 4: comments and unknown keys survive 1,000 edits, in each of the four kinds of file.
#[test]
fn c33_a_thousand_edits_of_every_kind_keep_every_other_byte() {
    for kind in kinds() {
        for (crlf, text) in [false, true].into_iter().zip(with_ends(kind.text)) {
            let at = format!("{} crlf={crlf}", kind.name);
            let mut edited = (kind.put)(&text, "first.md", 0).unwrap();
            edited = (kind.remove)(&edited, "first.md").unwrap();
            // The list that is written exists from here on.
            let start = edited.clone();
            for number in 0..1_000 {
                let path = format!("notes/file {}.md", number % 7);
                edited = match number % 3 {
                    2 => (kind.remove)(&edited, &path),
                    _ => (kind.put)(&edited, &path, number),
                }
                .unwrap();
            }
            for number in 0..7 {
                edited = (kind.remove)(&edited, &format!("notes/file {number}.md")).unwrap();
            }
            assert_eq!(edited, start, "{at}");
        }
    }
    for (crlf, text) in [false, true].into_iter().zip(with_ends(SIDECAR)) {
        let mut edited = text.clone();
        for number in 0..1_000_u32 {
            edited = Sidecar::edited(&edited, &sidecar_edit(number), Timestamp(NOW.0 + i64::from(number)))
                .unwrap();
        }
        let own = ["hotness:", "pin:", "provenance:"];
        let lost = lost(&text, &edited);
        assert!(lost.iter().all(|line| own.iter().any(|key| line.starts_with(key))), "{lost:?}\n{edited}");
        assert!(edited.contains("# not yet") && edited.contains("*low* water"), "{edited}");
        assert!(has_one_line_end(&edited, crlf), "{edited:?}");
    }
}

fn sidecar_edit(number: u32) -> SidecarEdit {
    let status = [SidecarStatus::Active, SidecarStatus::Summarized, SidecarStatus::Archived];
    SidecarEdit {
        pin: Some(number.is_multiple_of(2)),
        hotness: Some(f64::from(number % 11) / 10.0),
        status: Some(status[number as usize % 3]),
        summarized_in: (number.is_multiple_of(5)).then(|| (format!("summaries/s{number}.md"), NOW)),
        archived_to: (number.is_multiple_of(7)).then(|| (format!("archive/a{number}"), NOW)),
        restored: number % 7 == 3,
        ..SidecarEdit::default()
    }
}

// A line of dashes, a tab or emphasis within a text over several lines made the file corrupt.
#[test]
fn what_somebody_writes_in_prose_is_no_syntax() {
    for text in [
        SCHEMA,
        "files: []\nnotes: |\n  one\n  ---\n  &two *three*\n",
        "files: []\nnotes: >-\n  \ttab\n  \t*tab*\n",
        "files: []\nwhy: \"a &b *c\"  # &d *e\n",
        "files: []\nwhy: this & that, *all* of it\n",
        "files: []\nnotes:\n  - \"*glob*\"\n  - why: '&x'\n",
        "---\nfiles: []\n...\n",
    ] {
        for text in with_ends(text) {
            assert_eq!(SetManifest::read(&text).map(drop), Ok(()), "{text}");
        }
    }
}

// Issue 15, bad input: anchors, bombs, tabs, duplicate keys, two documents.
#[test]
fn what_readers_would_read_differently_is_not_used() {
    let bomb = format!(
        "a: &a [\"lol\"]\n{}files: []\n",
        (1..9).map(|level| format!("b{level}: &b{level} [*a,*a,*a,*a]\n")).collect::<String>()
    );
    let table: [(&str, IsFault); 13] = [
        (&bomb, |fault| *fault == ManifestFault::Anchor { line: 1 }),
        ("files: [&a x, *a]\n", |fault| *fault == ManifestFault::Anchor { line: 1 }),
        ("files:\n  - {path: &p a.md}\n", |fault| *fault == ManifestFault::Anchor { line: 2 }),
        ("files:\n  - *known\n", |fault| *fault == ManifestFault::Anchor { line: 2 }),
        ("files:\n  - path: x\n    <<: *base\n", |fault| *fault == ManifestFault::Anchor { line: 3 }),
        ("base: &base\n  a: 1\nfiles: []\n", |fault| *fault == ManifestFault::Anchor { line: 1 }),
        ("files: []\n...\nfiles: []\n", |fault| *fault == ManifestFault::SecondDocument { line: 3 }),
        ("budget:\n  max_tokens: 1\n  max_tokens: 2\nfiles: []\n", |fault| {
            *fault == ManifestFault::Duplicate { key: "max_tokens".to_owned() }
        }),
        ("files:\n  - path: a\n    path: b\n", |fault| {
            *fault == ManifestFault::Duplicate { key: "path".to_owned() }
        }),
        ("files:\n  - path: a\n\t priority: 1\n", |fault| *fault == ManifestFault::Tab { line: 3 }),
        ("files: [a\n", |fault| matches!(fault, ManifestFault::Broken { .. })),
        ("files: {a: [b}\n", |fault| {
            matches!(fault, ManifestFault::Broken { .. } | ManifestFault::NotAList { .. })
        }),
        ("\u{feff}---\n", |fault| *fault == ManifestFault::Empty),
    ];
    for (text, is_expected) in table {
        let fault = SetManifest::read(text);
        assert!(fault.as_ref().is_err_and(is_expected), "{text:?}: {fault:?}");
    }
}

// Section 3, number 2; issue 15, bad input: budgets that are no number of tokens.
#[test]
fn c2_a_budget_that_is_no_number_is_named() {
    for (value, expected) in [("-5", None), ("lots", None), ("1e3", None), ("0", Some(0)), ("700", Some(700))]
    {
        let manifest = SetManifest::read(&format!("budget:\n  max_tokens: {value}\nfiles: []\n")).unwrap();
        assert_eq!(manifest.max_tokens, expected, "{value}");
        let named = manifest.skipped.iter().any(|what| what.contains(&format!("`{value}`")));
        assert_eq!(named, expected.is_none(), "{value}: {:?}", manifest.skipped);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    // Section 4, for any order of edits.
    #[test]
    fn any_edits_keep_every_other_byte(
        kind in 0..7_usize,
        crlf in any::<bool>(),
        steps in prop::collection::vec((0..3_u8, 0..5_u32, 0..100_u32), 1..40),
    ) {
        let kind = kinds()[kind];
        let text = &with_ends(kind.text)[usize::from(crlf)];
        let start = (kind.remove)(&(kind.put)(text, "first.md", 0).unwrap(), "first.md").unwrap();
        let (mut edited, mut present) = (start.clone(), BTreeSet::new());
        for (action, path, number) in steps {
            let path = format!("more/{path} \"x\": y.md");
            edited = if action == 0 {
                present.remove(&path);
                (kind.remove)(&edited, &path).unwrap()
            } else {
                present.insert(path.clone());
                (kind.put)(&edited, &path, number).unwrap()
            };
            let known: BTreeSet<String> = (kind.paths)(&edited).into_iter().collect();
            prop_assert!(present.is_subset(&known), "{}", edited);
        }
        for path in present {
            edited = (kind.remove)(&edited, &path).unwrap();
        }
        prop_assert_eq!(edited, start);
    }

    #[test]
    fn any_bytes_are_read_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let text = String::from_utf8_lossy(&bytes);
        let _ = SetManifest::read(&text).map(|manifest| manifest.entries.len());
        let _ = (HotManifest::read(&text), ColdManifest::read(&text), Sidecar::read(&text));
        let _ = (SummaryHead::read(&text), summary_body(&text).len(), stamped_advice(&text, NOW));
        for path in ["a", "files", ""] {
            let _ = (SetManifest::without(&text, path), set_put(&text, path, 1), hot_put(&text, path, 1));
        }
        let _ = Sidecar::edited(&text, &sidecar_edit(0), NOW);
    }

    // A summary's frontmatter reads back, whatever its sources and its text are.
    #[test]
    fn any_summary_reads_back(path in "\\PC{1,30}", body in "\\PC{0,80}|(---|\n|References:|- \\[x\\]){0,12}") {
        use lorelane_core::working_set::{SummaryGenerator, SummarySource, SummaryStyle};
        let head = SummaryHead {
            sources: vec![SummarySource::of(&path, &body), SummarySource::of("b", "")],
            style: SummaryStyle::Decision,
            generator: SummaryGenerator::Extractive,
            created: NOW,
            tokens_before: 3,
            tokens_after: 1,
        };
        for references in [None, Some("../../")] {
            let text = head.render(&body, references);
            prop_assert_eq!(SummaryHead::read(&text), Some(head.clone()), "{}", text);
        }
    }
}
