//! The files of a session: manifests, sidecars and the log. Numbers are those of the contract's sections 3 and 4.

use lorelane_core::time::Timestamp;
use lorelane_core::working_set::{
    ChainFault, ColdAction, ColdAdvice, ColdManifest, EventAuthor, EventKind, FileState, HotAdvice,
    HotManifest, ManifestFault, MemoryAction, Role, SessionEvent, SessionLog, SessionState, SetAction,
    SetEntry, SetManifest, Sidecar, SidecarEdit, SidecarStatus, Touch, TouchKind, TruncateStrategy,
    WorkingSetFile, digest, log_header, minimal_manifest, new_sidecar, sidecar_path, stamped_advice,
    title_of,
};
use proptest::prelude::*;

const NOW: Timestamp = Timestamp(1_790_000_000);

/// A manifest as an agent and a person leave it, with CRLF where `end` says so.
fn grown(end: &str) -> String {
    [
        "# my set, do not lose this line",
        "protocol: CONTEXT-ASSEMBLY/0.1",
        "budget:",
        "  max_tokens: 28000  # what fits",
        "  reserved_for_response: 4000",
        "files:",
        "  # the contract",
        "  - path: \"constitution.md\"",
        "    priority: 1.0",
        "    role: system",
        "    truncate_strategy: never",
        "    reviewed_by: kim  # unknown key",
        "  - path: src/parser.rs",
        "    priority: 0.7",
        "custom:",
        "  nested: {a: 1}",
        "",
    ]
    .join(end)
}

/// Recognises a fault.
type IsFault = fn(&ManifestFault) -> bool;

// Section 3, number 1.
#[test]
fn c1_all_dialects_of_a_working_set_are_read() {
    let paths = |text: &str| -> Vec<(String, f64)> {
        let manifest = SetManifest::read(text).unwrap();
        manifest.entries.into_iter().map(|entry| (entry.path, entry.priority)).collect()
    };
    let table = [
        (grown("\n"), vec![("constitution.md", 1.0), ("src/parser.rs", 0.7)]),
        (grown("\r\n"), vec![("constitution.md", 1.0), ("src/parser.rs", 0.7)]),
        (
            "focus:\n  - a.md  # now\n  - b/c.yml\nnext:\n  - d.md\nnotes:\n  - x\n".to_owned(),
            vec![("a.md", 0.8), ("b/c.yml", 0.8), ("d.md", 0.5)],
        ),
        (
            "context_budget_tokens: 9000\nfiles:\n- path: a.md\n  priority: 0.9\n".to_owned(),
            vec![("a.md", 0.9)],
        ),
        ("files: []\npriority: medium\n".to_owned(), vec![]),
        ("files: [a.md, \"b c.md\"]\n".to_owned(), vec![("a.md", 0.5), ("b c.md", 0.5)]),
        ("files:\n  - {path: a.md, priority: high}\n".to_owned(), vec![("a.md", 0.8)]),
    ];
    for (text, expected) in table {
        let expected: Vec<(String, f64)> =
            expected.into_iter().map(|(path, p)| (path.to_owned(), p)).collect();
        assert_eq!(paths(&text), expected, "{text}");
    }
    let manifest = SetManifest::read(&grown("\n")).unwrap();
    assert_eq!((manifest.max_tokens, manifest.reserved), (Some(28_000), Some(4_000)));
    let first = &manifest.entries[0];
    assert_eq!((first.role, first.truncate_strategy), (Some(Role::System), Some(TruncateStrategy::Never)));
    assert_eq!(
        SetManifest::read("context_budget_tokens: 9000\nfiles: []\n").unwrap().max_tokens,
        Some(9_000)
    );
}

#[test]
fn c1_all_dialects_of_advice_are_read() {
    let hot =
        HotManifest::read("priority:\n  critical:\n    # first\n    - a.md\n  low:\n    - b.md  # later\n");
    let hot: Vec<_> = hot.unwrap().keep.into_iter().map(|advice| (advice.path, advice.weight)).collect();
    assert_eq!(hot, [("a.md".to_owned(), 1.0), ("b.md".to_owned(), 0.3)]);
    let kept =
        HotManifest::read("keep:\n  - path: a.md\n    why: \"needed: always\"\n    touches: 3\n").unwrap();
    assert_eq!(kept.keep[0].why, "needed: always");
    let cold = ColdManifest::read(
        "evict:\n  - path: log.txt\n    why: old\n    suggested_action: \"archive\"\ndeprioritized:\n  - \"old/**\"\n",
    );
    let cold: Vec<_> = cold.unwrap().evict.into_iter().map(|a| (a.path, a.suggested_action)).collect();
    let expected = [
        ("log.txt".to_owned(), ColdAction::Archive),
        ("old/**".to_owned(), ColdAction::DeleteFromWorkingSet),
    ];
    assert_eq!(cold, expected);
}

#[test]
fn a_manifest_that_means_two_things_is_not_used() {
    let table: [(&str, IsFault); 12] = [
        ("", |fault| *fault == ManifestFault::Empty),
        ("# only a comment\n", |fault| *fault == ManifestFault::Empty),
        ("files:\n\t- path: a\n", |fault| *fault == ManifestFault::Tab { line: 2 }),
        ("a: &x [1]\nfiles: []\n", |fault| *fault == ManifestFault::Anchor { line: 1 }),
        ("a: 1\nb: *x\n", |fault| *fault == ManifestFault::Anchor { line: 2 }),
        ("files: []\n---\nfiles: []\n", |fault| *fault == ManifestFault::SecondDocument { line: 2 }),
        ("files: []\nfiles: []\n", |fault| *fault == ManifestFault::Duplicate { key: "files".to_owned() }),
        ("just words\n", |fault| matches!(fault, ManifestFault::Broken { .. })),
        ("files: []\nstray words\n", |fault| matches!(fault, ManifestFault::Broken { .. })),
        ("files: \"no list\"\n", |fault| *fault == ManifestFault::NotAList { key: "files" }),
        ("files:\n  a: b\n", |fault| *fault == ManifestFault::NotAList { key: "files" }),
        ("{\n", |fault| matches!(fault, ManifestFault::Broken { .. })),
    ];
    for (text, is_expected) in table {
        let fault = SetManifest::read(text).unwrap_err();
        assert!(is_expected(&fault), "{text:?}: {fault:?}");
    }
    assert!(SetManifest::read("---\nfiles: []\n").is_ok(), "one document may have a marker");
}

#[test]
fn entries_that_cannot_be_used_are_named_and_the_rest_is_read() {
    let text =
        "files:\n  - priority: 0.5\n  - path: a.md\n    priority: 7\n  - path: b.md\n    priority: 0.2\n";
    let manifest = SetManifest::read(text).unwrap();
    assert_eq!(manifest.entries, [SetEntry::new("b.md", 0.2)]);
    assert_eq!(manifest.skipped, ["entry 1: it has no path", "entry 2: `7` is not a priority from 0 to 1"]);
}

// Section 3, number 33, and section 4: comments and unknown keys survive a thousand edits.
#[test]
fn c33_a_thousand_edits_keep_every_other_byte() {
    for end in ["\n", "\r\n"] {
        let original = grown(end);
        let mut text = original.clone();
        let mut present = Vec::new();
        for step in 0..500 {
            let path = format!("notes/file {}: x.md", step % 7);
            let entry =
                SetEntry { role: Some(Role::Context), ..SetEntry::new(&path, f64::from(step % 10) / 10.0) };
            text = SetManifest::with_entry(&text, &entry).unwrap();
            present.retain(|known| *known != path);
            present.push(path.clone());
            if step % 3 == 0 {
                text = SetManifest::without(&text, &path).unwrap();
                present.retain(|known| *known != path);
            }
            let manifest = SetManifest::read(&text).unwrap();
            assert_eq!(manifest.entries.len(), 2 + present.len(), "step {step}:\n{text}");
        }
        for path in present {
            text = SetManifest::without(&text, &path).unwrap();
        }
        assert_eq!(text, original, "everything else is as it was");
    }
}

#[test]
fn entries_are_added_to_empty_missing_and_flow_lists() {
    for text in [
        "files: []\n",
        "files:\n",
        "protocol: x\n",
        "files: [a.md]\n",
        "files: [{path: a.md, priority: 0.5}]\n",
        "files:\n- path: a.md\n  priority: 0.5\nother: 1\n",
        "focus:\n  - a.md\n",
    ] {
        let added = SetManifest::with_entry(text, &SetEntry::new("new.md", 0.25)).unwrap();
        let manifest = SetManifest::read(&added).unwrap();
        let new = manifest.entries.iter().find(|entry| entry.path == "new.md");
        assert_eq!(new.map(|entry| entry.priority), Some(0.25), "{text:?} became\n{added}");
        let gone = SetManifest::without(&added, "new.md").unwrap();
        assert!(
            SetManifest::read(&gone).unwrap().entries.iter().all(|entry| entry.path != "new.md"),
            "{gone}"
        );
    }
    let without = SetManifest::without("focus:\n  - a.md  # keep\n  - b.md\n", "b.md").unwrap();
    assert_eq!(without, "focus:\n  - a.md  # keep\n");
}

// Adding 1,000 files parsed the whole manifest for each of them.
#[test]
fn many_entries_are_added_as_one_after_the_other() {
    let entries = [
        SetEntry { role: Some(Role::System), max_lines: Some(7), ..SetEntry::new("a.md", 0.9) },
        SetEntry::new("new \"1\".md", 0.25),
        SetEntry { truncate_strategy: Some(TruncateStrategy::Start), ..SetEntry::new("new: 2.md", 1.0) },
        SetEntry::new("new-3.md", 0.0),
        SetEntry::new("new: 2.md", 1.0),
    ];
    for text in [
        "files: []\n",
        "files:\n",
        "protocol: x\n",
        "files: [a.md]\n",
        "files: [{path: a.md, priority: 0.5}]\n",
        "files:\n- path: a.md\n  priority: 0.5\nother: 1\n",
        "files:\r\n  - path: a.md\r\n    priority: 0.5\r\nother: 1\r\n",
        "files:\n    - path: b.md # comment\n\n    # the end\nnotes: |\n  - path: \"new-3.md\"\n",
        "focus:\n  - a.md\n",
        &minimal_manifest(WorkingSetFile::Set, NOW),
    ] {
        let one_by_one = entries
            .iter()
            .fold(text.to_owned(), |text, entry| SetManifest::with_entry(&text, entry).unwrap());
        let at_once = SetManifest::with_entries(text, &entries).unwrap();
        assert_eq!(SetManifest::read(&at_once), SetManifest::read(&one_by_one), "{text:?} became\n{at_once}");
        assert_eq!(SetManifest::with_entries(&at_once, &entries).as_ref(), Some(&at_once), "again");
        if text.lines().all(|line| !line.starts_with("notes")) && !text.contains('\r') {
            assert_eq!(at_once, one_by_one);
        }
    }
}

#[test]
fn advice_is_written_with_its_reason_and_taken_off_again() {
    let file = FileState { touches: 8, touched_at: Some(NOW), ..FileState::default() };
    let minimal = minimal_manifest(WorkingSetFile::Hot, NOW);
    let advice = HotAdvice { path: "src/a.rs".to_owned(), why: "why: \"now\"".to_owned(), weight: 1.0 };
    let hot = HotManifest::with(&minimal, &advice, &file, NOW).unwrap();
    assert_eq!(HotManifest::read(&hot).unwrap().keep, [advice]);
    assert!(hot.contains("touches: 8"), "{hot}");
    assert_eq!(HotManifest::without(&hot, "src/a.rs").unwrap(), minimal);

    let minimal = minimal_manifest(WorkingSetFile::Cold, NOW);
    let suggested_action = ColdAction::SummarizeThenEvict;
    let advice = ColdAdvice { path: "big.json".to_owned(), why: "read".to_owned(), suggested_action };
    let cold = ColdManifest::with(&minimal, &advice, &file).unwrap();
    assert_eq!(ColdManifest::read(&cold).unwrap().evict, [advice]);
    let later = stamped_advice(&cold, Timestamp(NOW.0 + 60)).unwrap();
    assert!(later.contains(&Timestamp(NOW.0 + 60).to_string()));
}

// Section 3, numbers 21 and 22.
#[test]
fn c22_a_sidecar_keeps_what_it_does_not_know() {
    let text = new_sidecar("tool/output-001.json", "tool:fs.write", "s1", NOW);
    let sidecar = Sidecar::read(&text).unwrap();
    assert_eq!(sidecar.title.as_deref(), Some("output 001"));
    assert_eq!((sidecar.pin, sidecar.hotness), (false, Some(0.5)));
    let own = text.replace("tags: []", "tags: [a]  # mine\ncustom:\n  x: 1");
    let edit = SidecarEdit {
        pin: Some(true),
        status: Some(SidecarStatus::Summarized),
        summarized_in: Some(("summaries/s.md".to_owned(), NOW)),
        ..SidecarEdit::default()
    };
    let edited = Sidecar::edited(&own, &edit, NOW).unwrap();
    let read = Sidecar::read(&edited).unwrap();
    assert_eq!((read.pin, read.status), (true, SidecarStatus::Summarized));
    assert_eq!(read.summarized_in.as_deref(), Some("summaries/s.md"));
    assert!(edited.contains("tags: [a]  # mine\ncustom:\n  x: 1\n"), "{edited}");
    let unpinned = Sidecar::edited(&edited, &SidecarEdit { pin: Some(false), ..SidecarEdit::default() }, NOW);
    assert!(!Sidecar::read(&unpinned.unwrap()).unwrap().pin);
}

#[test]
fn c21_the_name_of_a_sidecar_has_the_whole_name_of_its_file() {
    for (path, expected) in [
        ("a.md", "meta/a.md.meta.yml"),
        ("src/a.json", "meta/src/a.json.meta.yml"),
        ("memory:decision/use-jwt", "meta/memory/decision/use-jwt.meta.yml"),
    ] {
        assert_eq!(sidecar_path(path), expected);
    }
    for (path, title) in [("fix_parser-2.md", "fix parser 2"), (".env", ".env"), ("a/--.x", "--.x")] {
        assert_eq!(title_of(path), title);
    }
}

fn event(seq: u64, turn: u32, prev: &str, kind: EventKind) -> SessionEvent {
    SessionEvent { at: NOW, seq, turn, change: seq, prev: prev.to_owned(), kind }
}

fn update(action: SetAction, path: &str, why: &str) -> EventKind {
    let is_entry = action == SetAction::Add;
    EventKind::WorkingSetUpdate {
        action,
        by: EventAuthor::Model,
        why: why.to_owned(),
        files: if is_entry { vec![SetEntry::new(path, 0.7)] } else { Vec::new() },
        paths: if is_entry { Vec::new() } else { vec![path.to_owned()] },
        max_tokens: None,
    }
}

/// A log with these events, chained.
fn logged(kinds: Vec<(u32, EventKind)>) -> (String, Vec<SessionEvent>) {
    let mut text = log_header("s1", NOW);
    let (mut events, mut last) = (Vec::new(), String::new());
    for (at, (turn, kind)) in kinds.into_iter().enumerate() {
        let event = event(at as u64 + 1, turn, &last, kind);
        let block = event.render();
        // The first event's block begins with the header.
        last = if at == 0 { digest(&format!("{text}{block}")) } else { digest(&block) };
        text.push_str(&block);
        events.push(event);
    }
    (text, events)
}

fn story() -> Vec<(u32, EventKind)> {
    let action = MemoryAction {
        path: "a.md".to_owned(),
        model_suggested: Some("archive".to_owned()),
        action_taken: "deferred".to_owned(),
        reason: Some("touched_recently".to_owned()),
    };
    let touches = vec![Touch { path: "a.md".to_owned(), by: TouchKind::Read }];
    vec![
        (
            0,
            EventKind::SessionStart {
                session_id: "s1".to_owned(),
                protocol: "EVENT-LOG/0.2".to_owned(),
                client: None,
            },
        ),
        (1, update(SetAction::Add, "a.md", "```yaml\ntype: x")),
        (1, EventKind::ModelTurn { touches, read_to: Some(120) }),
        (
            2,
            EventKind::CacheAdvice {
                by: EventAuthor::Model,
                why: "--- done".to_owned(),
                hot: Vec::new(),
                cold: vec![ColdAdvice {
                    path: "a.md".to_owned(),
                    why: "old".to_owned(),
                    suggested_action: ColdAction::Archive,
                }],
                dropped: Vec::new(),
                memory_actions: vec![action],
            },
        ),
        (3, update(SetAction::Pin, "a.md", "# important")),
    ]
}

// Section 3, numbers 12 and 13.
#[test]
fn c13_a_log_is_read_as_it_was_written() {
    let (text, events) = logged(story());
    let log = SessionLog::read(&text);
    assert_eq!(log.faults, []);
    assert_eq!(log.torn_at, None);
    assert_eq!(log.events().cloned().collect::<Vec<_>>(), events);
    let state = SessionState::of(log.events());
    let file = &state.files["a.md"];
    assert!(file.pinned && file.entry.is_some());
    assert_eq!((file.touches, state.turn, state.read_to, state.change), (1, 3, 120, 5));
    assert_eq!(
        file.decision.as_ref().and_then(|decision| decision.reason.as_deref()),
        Some("touched_recently")
    );
}

// Section 4: an edit of the log is detected.
#[test]
fn c13_an_edit_of_the_log_names_its_place() {
    let (text, _) = logged(story());
    let edits = [
        text.replacen("seq: 2", "seq: 9", 1),
        text.replacen("\"archive\"", "\"compress\"", 1),
        text.replacen("Why: old", "Why: new", 1).replacen("Working set: added", "Working set: removed", 1),
        text.replacen("\n---\n\n## ", "\nsneaked in\n\n---\n\n## ", 4),
    ];
    for edited in edits {
        assert_ne!(edited, text);
        assert_ne!(SessionLog::read(&edited).faults, [], "{edited}");
    }
    let broken = text.replacen("turn: 1", "turn: 7", 1);
    let [ChainFault::Broken { seq: 3, .. }] = SessionLog::read(&broken).faults[..] else {
        panic!("{:?}", SessionLog::read(&broken).faults)
    };
    // Text before the last event is found too.
    let at = text.rfind("\n---\n").unwrap();
    let last = format!("{}\nhm\n{}", &text[..at], &text[at..]);
    assert!(matches!(SessionLog::read(&last).faults[..], [ChainFault::Inserted { .. }]));
}

#[test]
fn an_event_that_was_cut_off_is_torn_and_the_others_are_read() {
    let (text, events) = logged(story());
    let start_of_last = text.rfind("\n---\n").unwrap();
    for cut in start_of_last + 6..text.len() {
        if !text.is_char_boundary(cut) {
            continue;
        }
        let log = SessionLog::read(&text[..cut]);
        assert_eq!(log.torn_at, Some(start_of_last), "cut at {cut}");
        assert_eq!(log.blocks.len(), events.len() - 1, "cut at {cut}");
    }
}

// Section 3, number 12: events of other programs.
#[test]
fn c12_events_of_other_programs_are_read() {
    let text = "# Session Log: x\n\n---\n\n## 2026-01-02 12:00:05 — Advice\n\n```yaml\ntype: cache_advice\n\
                # a comment with meaning\nwhy: plain words\nhot:\n  - path: src/a.ts\n    why: \"debugging\"\n```\n\n\
                ```json\n{\"type\": \"working_set_update\", \"action\": \"remove\", \"paths\": [\"b.md\"], \
                \"timestamp\": \"2026-01-02T12:00:06Z\"}\n```\n\
                {\"type\":\"tool_call\",\"tool\":\"fs.read\",\"timestamp\":\"2026-01-02T12:00:07Z\"}\n";
    let log = SessionLog::read(text);
    assert_eq!(log.faults, []);
    let times: Vec<String> = log.events().map(|event| event.at.to_string()).collect();
    assert_eq!(times, ["2026-01-02T12:00:05Z", "2026-01-02T12:00:06Z", "2026-01-02T12:00:07Z"]);
    let state = SessionState::of(log.events());
    assert_eq!(state.files["src/a.ts"].hot.as_ref().map(|hot| hot.why.as_str()), Some("debugging"));
    assert_eq!(log.events().last().map(|event| &event.kind), Some(&EventKind::Other));
}

proptest! {
    #[test]
    fn no_text_breaks_the_readers(text in "\\PC{0,200}|(files|evict|keep|- path|: |\\[|\\]|\\{|\n|\t|---|```yaml|\"|&a|\\*a| ){0,60}") {
        let _ = SetManifest::read(&text);
        let _ = HotManifest::read(&text);
        let _ = ColdManifest::read(&text);
        let _ = Sidecar::read(&text);
        let log = SessionLog::read(&text);
        let _ = SessionState::of(log.events());
        // A manifest that can be read can be edited, and then has the entry.
        if SetManifest::read(&text).is_ok()
            && let Some(added) = SetManifest::with_entry(&text, &SetEntry::new("zz/new.md", 0.5))
            && let Ok(manifest) = SetManifest::read(&added)
        {
            prop_assert!(manifest.entries.iter().any(|entry| entry.path == "zz/new.md"), "{added}");
        }
    }

    #[test]
    fn any_reason_is_written_into_a_log_that_can_be_read(why in "\\PC{0,80}|(```yaml|\n|---|## |\"){0,12}", path in "\\PC{1,30}") {
        let (text, events) = logged(vec![(1, update(SetAction::Add, &path, &why)), (1, update(SetAction::Remove, &path, &why))]);
        let log = SessionLog::read(&text);
        prop_assert_eq!(&log.faults, &vec![]);
        prop_assert_eq!(log.events().cloned().collect::<Vec<_>>(), events);
    }
}
