//! The bytes of the files that lorelane writes beside memories, and what is read of files that it did not write so.

#![allow(clippy::unwrap_used, reason = "a helper that fails fails its test")]

use crate::support::{NOW, record_of, records, text};
use expect_test::{Expect, expect};
use lorelane_core::bench::{BenchQuestion, BenchRun, ExpectationResult, Question, expectations, judge};
use lorelane_core::briefing::{Composer, RenderedContext, StandingMemory};
use lorelane_core::capture::{AskStage, Capture, CapturedItem, Origin, words_digest};
use lorelane_core::conversation::TranscriptPosition;
use lorelane_core::dialect::Dialect;
use lorelane_core::digest::Revision;
use lorelane_core::forget::{EraseRequest, Traces};
use lorelane_core::ledger::LedgerLine;
use lorelane_core::lifecycle::Status;
use lorelane_core::mark::{Mark, MarkKind, Marks, Rejection};
use lorelane_core::memory::{Address, Category, Memory, MemoryKind};
use lorelane_core::path::RelPath;
use lorelane_core::policy::Policy;
use lorelane_core::recall::{Hit, ScorePart, Signal};

const SECRET: &str = concat!("AKIA", "4TGHN2WQ7VKJX3ZD");

fn address(name: &str) -> Address {
    Address::record(Category::TechDebt, name)
}

fn note(name: &str) -> Address {
    Address::note(name).unwrap()
}

/// What each of these texts is read as.
fn check_read<T: std::fmt::Debug>(read: impl Fn(&str) -> T, texts: &[String], expected: &Expect) {
    let read: Vec<String> = texts.iter().map(|text| format!("{:?}\n", read(text))).collect();
    expected.assert_eq(&read.concat());
}

/// A text with parts of it replaced, one after another.
fn variants(whole: &str, changes: &[(&str, &str)]) -> Vec<String> {
    let changed = |(old, new): &(&str, &str)| {
        assert!(whole.contains(old), "{old} is not in {whole}");
        whole.replacen(old, new, 1)
    };
    changes.iter().map(changed).collect()
}

fn origin(at: TranscriptPosition) -> Origin {
    Origin { session: "s \"1\"".to_owned(), at, words: words_digest("use a queue") }
}

#[test]
fn marks_are_written_byte_for_byte_as_before() {
    let rejection = |origins: &[&str]| Rejection {
        title: words_digest("T"),
        body: words_digest("B"),
        origins: origins.iter().map(|words| words_digest(words)).collect(),
        because: "über\t\"x\"".to_owned(),
    };
    let kinds = [
        MarkKind::Pin,
        MarkKind::Unpin,
        MarkKind::Alias { to: address("new") },
        MarkKind::Origin(origin(TranscriptPosition::Line(3))),
        MarkKind::Origin(origin(TranscriptPosition::Byte(1 << 60))),
        MarkKind::Reject(rejection(&[])),
        MarkKind::Reject(rejection(&["a", "b"])),
    ];
    let revisions = [None, Some(Revision::of(b"x")), Some(Revision::Md5("0".repeat(32)))];
    let lines = kinds.iter().zip(revisions.iter().cycle()).map(|(kind, revision)| {
        Mark { address: note("größe 1"), revision: revision.clone(), at: NOW, kind: kind.clone() }.line()
    });
    expect![[r#"
        {"mark": "pin", "address": "notes/größe 1", "at": "2026-01-01T00:00:00Z"}
        {"mark": "unpin", "address": "notes/größe 1", "at": "2026-01-01T00:00:00Z", "revision": "3ae7d805f6789a6402acb70ad4096a85a56bf6804eaf25c0493ac697548d30b5"}
        {"mark": "alias", "address": "notes/größe 1", "to": "tech_debt/new", "at": "2026-01-01T00:00:00Z", "revision": "00000000000000000000000000000000"}
        {"mark": "origin", "address": "notes/größe 1", "session": "s \"1\"", "line": 3, "words": "9cf63fba3d903c9564fb9fb07aa18d77939adf7632dc05f0fbb011a6b68e2c74", "at": "2026-01-01T00:00:00Z"}
        {"mark": "origin", "address": "notes/größe 1", "session": "s \"1\"", "byte": 1152921504606846976, "words": "9cf63fba3d903c9564fb9fb07aa18d77939adf7632dc05f0fbb011a6b68e2c74", "at": "2026-01-01T00:00:00Z", "revision": "3ae7d805f6789a6402acb70ad4096a85a56bf6804eaf25c0493ac697548d30b5"}
        {"mark": "reject", "address": "notes/größe 1", "title": "0538661423236a5d8df6286a8633369e2a03c5f90d48eded333222dbee8cdbdd", "body": "10e5cf3d3c8a4f9f3468c8cc58eea84892a22fdadbc1acb22410190044c1d553", "because": "über\t\"x\"", "at": "2026-01-01T00:00:00Z", "revision": "00000000000000000000000000000000"}
        {"mark": "reject", "address": "notes/größe 1", "title": "0538661423236a5d8df6286a8633369e2a03c5f90d48eded333222dbee8cdbdd", "body": "10e5cf3d3c8a4f9f3468c8cc58eea84892a22fdadbc1acb22410190044c1d553", "origins": ["17762fddd969a453925d65717ac3eea21320b66b54342fde15128d6caf21215f", "10e5cf3d3c8a4f9f3468c8cc58eea84892a22fdadbc1acb22410190044c1d553"], "because": "über\t\"x\"", "at": "2026-01-01T00:00:00Z"}
    "#]].assert_eq(&lines.collect::<String>());
}

#[test]
fn a_mark_is_read_as_far_as_it_can_be_understood() {
    let alias = r#"{"mark": "alias", "address": "tech_debt/old", "to": "tech_debt/new", "at": "2026-01-01T00:00:00Z"}"#;
    let reject = r#"{"mark": "reject", "address": "tech_debt/x", "title": "t", "body": "b", "origins": ["o"], "because": "why", "at": "2026-01-01T00:00:00Z", "revision": "00000000000000000000000000000000"}"#;
    let origin = r#"{"mark": "origin", "address": "tech_debt/x", "session": "s", "line": 3, "words": "w", "at": "2026-01-01"}"#;
    let texts = [
        vec![alias.to_owned(), reject.to_owned(), origin.to_owned(), format!(" {alias}\t")],
        variants(
            alias,
            &[
                ("alias", "pin"),
                ("alias", "sing"),
                ("\"alias\"", "[]"),
                ("tech_debt/new", "new"),
                ("\"tech_debt/new\"", "null"),
                ("tech_debt/old", "tech-debt/old.json"),
                ("2026-01-01T00:00:00Z", "yesterday"),
                ("\"2026-01-01T00:00:00Z\"", "0"),
                ("{", "{\"new\": {\"a\": [1]}, "),
                ("{", "{\"mark\": \"pin\", "),
                ("}", ", \"to\": \"tech_debt/last\"}"),
                ("}", ""),
                ("}", "}}"),
            ],
        ),
        variants(
            reject,
            &[
                ("\"t\"", "7"),
                (", \"body\": \"b\"", ""),
                ("[\"o\"]", "[\"o\", 7, null, \"p\"]"),
                ("[\"o\"]", "\"o\""),
                ("\"origins\": [\"o\"], ", ""),
                ("\"why\"", "null"),
                ("\"because\": \"why\", ", ""),
                ("\"00000000000000000000000000000000\"", "7"),
                ("00000000000000000000000000000000", "main"),
            ],
        ),
        variants(
            origin,
            &[
                ("\"line\": 3", "\"byte\": 7"),
                ("\"line\": 3", "\"byte\": 7, \"line\": 3"),
                ("3", "3.0"),
                ("3", "3.5"),
                ("3", "-3"),
                ("\"line\": 3", "\"line\": \"3\", \"byte\": 7"),
                ("\"s\"", "\"\\ud800\""),
                ("\"w\"", "[]"),
            ],
        ),
        ["", "[]", "null", "7", "<<<<<<< HEAD"].map(str::to_owned).to_vec(),
    ];
    let read = |line: &str| {
        let Marks { pinned, aliases, origins, rejected, superseded: _, confirmed: _, archived: _, unread } =
            Marks::read(line.as_bytes());
        (unread, pinned, aliases, origins, rejected)
    };
    check_read(
        read,
        &texts.concat(),
        &expect![[r#"
        (0, {}, {tech_debt/old: tech_debt/new}, {}, [])
        (0, {}, {}, {}, [(tech_debt/x, Rejection { title: "t", body: "b", origins: ["o"], because: "why" })])
        (0, {}, {}, {tech_debt/x: [Origin { session: "s", at: Line(3), words: "w" }]}, [])
        (0, {}, {tech_debt/old: tech_debt/new}, {}, [])
        (0, {tech_debt/old}, {}, {}, [])
        (1, {}, {}, {}, [])
        (1, {}, {}, {}, [])
        (1, {}, {}, {}, [])
        (1, {}, {}, {}, [])
        (0, {}, {tech_debt/old: tech_debt/new}, {}, [])
        (1, {}, {}, {}, [])
        (1, {}, {}, {}, [])
        (0, {}, {tech_debt/old: tech_debt/new}, {}, [])
        (0, {}, {tech_debt/old: tech_debt/new}, {}, [])
        (0, {}, {tech_debt/old: tech_debt/last}, {}, [])
        (1, {}, {}, {}, [])
        (1, {}, {}, {}, [])
        (1, {}, {}, {}, [])
        (1, {}, {}, {}, [])
        (0, {}, {}, {}, [(tech_debt/x, Rejection { title: "t", body: "b", origins: ["o", "p"], because: "why" })])
        (0, {}, {}, {}, [(tech_debt/x, Rejection { title: "t", body: "b", origins: [], because: "why" })])
        (0, {}, {}, {}, [(tech_debt/x, Rejection { title: "t", body: "b", origins: [], because: "why" })])
        (0, {}, {}, {}, [(tech_debt/x, Rejection { title: "t", body: "b", origins: ["o"], because: "" })])
        (0, {}, {}, {}, [(tech_debt/x, Rejection { title: "t", body: "b", origins: ["o"], because: "" })])
        (0, {}, {}, {}, [(tech_debt/x, Rejection { title: "t", body: "b", origins: ["o"], because: "why" })])
        (0, {}, {}, {}, [(tech_debt/x, Rejection { title: "t", body: "b", origins: ["o"], because: "why" })])
        (0, {}, {}, {tech_debt/x: [Origin { session: "s", at: Byte(7), words: "w" }]}, [])
        (0, {}, {}, {tech_debt/x: [Origin { session: "s", at: Line(3), words: "w" }]}, [])
        (0, {}, {}, {tech_debt/x: [Origin { session: "s", at: Line(3), words: "w" }]}, [])
        (1, {}, {}, {}, [])
        (1, {}, {}, {}, [])
        (0, {}, {}, {tech_debt/x: [Origin { session: "s", at: Byte(7), words: "w" }]}, [])
        (0, {}, {}, {tech_debt/x: [Origin { session: "�", at: Line(3), words: "w" }]}, [])
        (1, {}, {}, {}, [])
        (0, {}, {}, {}, [])
        (1, {}, {}, {}, [])
        (1, {}, {}, {}, [])
        (1, {}, {}, {}, [])
        (1, {}, {}, {}, [])
    "#]],
    );
}

fn memory(name: &str) -> Memory {
    let records = records();
    let path = records.place(&address(name)).unwrap();
    records.read(&path, text(&record_of(Category::TechDebt, &[])).as_bytes().to_vec()).memory.unwrap()
}

fn hit(name: &str, explain: Vec<ScorePart>) -> Hit {
    Hit {
        address: address(name),
        path: RelPath::parse(&format!("{name}.json")).unwrap(),
        title: String::new(),
        kind: MemoryKind::Record(Category::TechDebt),
        status: Status::Active,
        not_current: None,
        superseded_by: None,
        broken: None,
        tags: Vec::new(),
        lines: None,
        score: explain.iter().map(|part| part.points).sum(),
        explain,
        relevance: None,
        same: Vec::new(),
    }
}

fn ledger_lines() -> [LedgerLine; 3] {
    let part = |signal, points, matched: &[&str]| ScorePart {
        signal,
        points,
        matched: matched.iter().map(|word| (*word).to_owned()).collect(),
    };
    let mut composer = Composer::new(&Policy::settle(&[], Vec::new()));
    let parts = vec![part(Signal::Tag, 3, &["größe", SECRET]), part(Signal::MeaningAround, 412, &[])];
    composer.take(hit("shown", parts), &memory("shown"), NOW);
    composer.drop(
        hit("left", vec![part(Signal::Length, -7, &["\"q\""])]),
        lorelane_core::briefing::DropRule::Surplus,
    );
    composer.drop(hit("bare", Vec::new()), lorelane_core::briefing::DropRule::Irrelevant);
    let standing =
        |address, because, digest: &str| StandingMemory { address, because, digest: digest.to_owned() };
    let told = RenderedContext {
        text: "said".to_owned(),
        shown: vec![standing(address("pinned"), "pinned", "d1"), standing(note("x"), "unfinished work", "")],
        left_out: vec![note("y")],
    };
    let session = format!("a \"b\"\n{SECRET} {}", "s".repeat(90));
    let empty = Composer::new(&Policy::settle(&[], Vec::new())).finish();
    [
        LedgerLine::of_prompt(
            NOW,
            "codex",
            &session,
            &format!("fix\t\"it\" {SECRET}\nplease"),
            &composer.finish(),
        ),
        LedgerLine::of_start(NOW, "claude-code", "s-1", &told),
        LedgerLine::of_prompt(NOW, "gemini", "", "", &empty),
    ]
}

#[test]
fn the_ledger_is_written_byte_for_byte_as_before() {
    expect![[r#"
        {"at": "2026-01-01T00:00:00Z", "client": "codex", "session": "a \"b\" AKIA…(12+) ssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssss…", "event": "prompt", "query": "fix \"it\" AKIA…(12+) please", "tokens": 63, "shown": [{"address": "tech_debt/shown", "score": 415, "parts": {"tag": {"points": 3, "matched": ["größe", "AKIA…(12+)"]}, "meaning around": {"points": 412, "matched": []}}, "tokens": 23, "digest": "7ee72679001a"}], "left_out": [{"address": "tech_debt/left", "score": -7, "parts": {"length": {"points": -7, "matched": ["\"q\""]}}, "rule": "max_inject"}, {"address": "tech_debt/bare", "score": 0, "parts": {}, "rule": "irrelevant"}]}
        {"at": "2026-01-01T00:00:00Z", "client": "claude-code", "session": "s-1", "event": "session-start", "query": "", "tokens": 1, "shown": [{"address": "tech_debt/pinned", "because": "pinned", "digest": "d1"}, {"address": "notes/x", "because": "unfinished work"}], "left_out": [{"address": "notes/y", "score": 0, "parts": {}, "rule": "budget"}]}
        {"at": "2026-01-01T00:00:00Z", "client": "gemini", "session": "", "event": "prompt", "query": "", "tokens": 0, "shown": [], "left_out": []}
    "#]].assert_eq(&ledger_lines().map(|line| line.line()).concat());
}

#[test]
fn a_line_of_the_ledger_is_read_as_far_as_it_can_be_understood() {
    let prompt = r#"{"at": "2026-01-01T00:00:00Z", "client": "c", "session": "s", "event": "prompt", "query": "q", "tokens": 9, "shown": [{"address": "tech_debt/a", "score": 3, "parts": {"tag": {"points": 3, "matched": ["x"]}}, "tokens": 4}], "left_out": [{"address": "notes/b", "score": -1, "parts": {}, "rule": "max_inject"}]}"#;
    let start = r#"{"at": "2026-01-01T00:00:00Z", "client": "c", "session": "s", "event": "session-start", "query": "", "tokens": 0, "shown": [{"address": "tech_debt/a", "because": "pinned"}], "left_out": []}"#;
    let texts = [
        vec![prompt.to_owned(), start.to_owned()],
        variants(
            prompt,
            &[
                ("\"at\": \"2026-01-01T00:00:00Z\", ", ""),
                ("\"c\"", "null"),
                ("\"s\"", "7"),
                ("\"prompt\"", "\"stop\""),
                ("\"query\": \"q\", ", ""),
                ("9", "9.0"),
                ("9", "-9"),
                ("9", "\"9\""),
                ("\"tokens\": 9, ", ""),
                ("\"tokens\": 9, ", "\"tokens\": 9, \"new\": {}, "),
                ("\"session\": \"s\"", "\"session\": \"s\", \"session\": \"t\""),
                ("[{\"address\": \"tech_debt/a\"", "[7, null, {}, {\"address\": \"tech_debt/a\""),
                ("\"shown\": [", "\"shown\": 7, \"was\": ["),
                ("\"shown\": [", "\"was\": ["),
                ("tech_debt/a", "a"),
                ("\"score\": 3", "\"score\": 3.0"),
                ("\"score\": 3", "\"score\": 3.5"),
                ("\"score\": 3", "\"score\": 30000000000"),
                ("\"score\": 3, ", ""),
                ("\"tag\"", "\"rng\""),
                ("\"points\": 3", "\"points\": \"3\""),
                ("[\"x\"]", "[\"x\", 7]"),
                ("[\"x\"]", "\"x\""),
                (", \"matched\": [\"x\"]", ""),
                ("\"tokens\": 4", "\"tokens\": \"4\""),
                (", \"tokens\": 4", ""),
                (", \"tokens\": 4", ", \"because\": \"both\""),
                (", \"tokens\": 4", ", \"because\": 7"),
                ("max_inject", "rng"),
                ("\"parts\": {}", "\"parts\": []"),
                ("{}", ""),
            ],
        ),
        ["", "{}", "[1]", "{\"at\": 3}", "<<<<<<<"].map(str::to_owned).to_vec(),
    ];
    check_read(
        |text| LedgerLine::read(text).map(|line| line.line()),
        &texts.concat(),
        &expect![[r#"
        Some("{\"at\": \"2026-01-01T00:00:00Z\", \"client\": \"c\", \"session\": \"s\", \"event\": \"prompt\", \"query\": \"q\", \"tokens\": 9, \"shown\": [{\"address\": \"tech_debt/a\", \"score\": 3, \"parts\": {\"tag\": {\"points\": 3, \"matched\": [\"x\"]}}, \"tokens\": 4}], \"left_out\": [{\"address\": \"notes/b\", \"score\": -1, \"parts\": {}, \"rule\": \"max_inject\"}]}\n")
        Some("{\"at\": \"2026-01-01T00:00:00Z\", \"client\": \"c\", \"session\": \"s\", \"event\": \"session-start\", \"query\": \"\", \"tokens\": 0, \"shown\": [{\"address\": \"tech_debt/a\", \"because\": \"pinned\"}], \"left_out\": []}\n")
        None
        None
        None
        None
        None
        Some("{\"at\": \"2026-01-01T00:00:00Z\", \"client\": \"c\", \"session\": \"s\", \"event\": \"prompt\", \"query\": \"q\", \"tokens\": 9, \"shown\": [{\"address\": \"tech_debt/a\", \"score\": 3, \"parts\": {\"tag\": {\"points\": 3, \"matched\": [\"x\"]}}, \"tokens\": 4}], \"left_out\": [{\"address\": \"notes/b\", \"score\": -1, \"parts\": {}, \"rule\": \"max_inject\"}]}\n")
        None
        None
        None
        Some("{\"at\": \"2026-01-01T00:00:00Z\", \"client\": \"c\", \"session\": \"s\", \"event\": \"prompt\", \"query\": \"q\", \"tokens\": 9, \"shown\": [{\"address\": \"tech_debt/a\", \"score\": 3, \"parts\": {\"tag\": {\"points\": 3, \"matched\": [\"x\"]}}, \"tokens\": 4}], \"left_out\": [{\"address\": \"notes/b\", \"score\": -1, \"parts\": {}, \"rule\": \"max_inject\"}]}\n")
        Some("{\"at\": \"2026-01-01T00:00:00Z\", \"client\": \"c\", \"session\": \"t\", \"event\": \"prompt\", \"query\": \"q\", \"tokens\": 9, \"shown\": [{\"address\": \"tech_debt/a\", \"score\": 3, \"parts\": {\"tag\": {\"points\": 3, \"matched\": [\"x\"]}}, \"tokens\": 4}], \"left_out\": [{\"address\": \"notes/b\", \"score\": -1, \"parts\": {}, \"rule\": \"max_inject\"}]}\n")
        Some("{\"at\": \"2026-01-01T00:00:00Z\", \"client\": \"c\", \"session\": \"s\", \"event\": \"prompt\", \"query\": \"q\", \"tokens\": 9, \"shown\": [{\"address\": \"tech_debt/a\", \"score\": 3, \"parts\": {\"tag\": {\"points\": 3, \"matched\": [\"x\"]}}, \"tokens\": 4}], \"left_out\": [{\"address\": \"notes/b\", \"score\": -1, \"parts\": {}, \"rule\": \"max_inject\"}]}\n")
        Some("{\"at\": \"2026-01-01T00:00:00Z\", \"client\": \"c\", \"session\": \"s\", \"event\": \"prompt\", \"query\": \"q\", \"tokens\": 9, \"shown\": [], \"left_out\": [{\"address\": \"notes/b\", \"score\": -1, \"parts\": {}, \"rule\": \"max_inject\"}]}\n")
        Some("{\"at\": \"2026-01-01T00:00:00Z\", \"client\": \"c\", \"session\": \"s\", \"event\": \"prompt\", \"query\": \"q\", \"tokens\": 9, \"shown\": [], \"left_out\": [{\"address\": \"notes/b\", \"score\": -1, \"parts\": {}, \"rule\": \"max_inject\"}]}\n")
        Some("{\"at\": \"2026-01-01T00:00:00Z\", \"client\": \"c\", \"session\": \"s\", \"event\": \"prompt\", \"query\": \"q\", \"tokens\": 9, \"shown\": [], \"left_out\": [{\"address\": \"notes/b\", \"score\": -1, \"parts\": {}, \"rule\": \"max_inject\"}]}\n")
        Some("{\"at\": \"2026-01-01T00:00:00Z\", \"client\": \"c\", \"session\": \"s\", \"event\": \"prompt\", \"query\": \"q\", \"tokens\": 9, \"shown\": [{\"address\": \"tech_debt/a\", \"score\": 3, \"parts\": {\"tag\": {\"points\": 3, \"matched\": [\"x\"]}}, \"tokens\": 4}], \"left_out\": [{\"address\": \"notes/b\", \"score\": -1, \"parts\": {}, \"rule\": \"max_inject\"}]}\n")
        Some("{\"at\": \"2026-01-01T00:00:00Z\", \"client\": \"c\", \"session\": \"s\", \"event\": \"prompt\", \"query\": \"q\", \"tokens\": 9, \"shown\": [], \"left_out\": [{\"address\": \"notes/b\", \"score\": -1, \"parts\": {}, \"rule\": \"max_inject\"}]}\n")
        Some("{\"at\": \"2026-01-01T00:00:00Z\", \"client\": \"c\", \"session\": \"s\", \"event\": \"prompt\", \"query\": \"q\", \"tokens\": 9, \"shown\": [], \"left_out\": [{\"address\": \"notes/b\", \"score\": -1, \"parts\": {}, \"rule\": \"max_inject\"}]}\n")
        Some("{\"at\": \"2026-01-01T00:00:00Z\", \"client\": \"c\", \"session\": \"s\", \"event\": \"prompt\", \"query\": \"q\", \"tokens\": 9, \"shown\": [], \"left_out\": [{\"address\": \"notes/b\", \"score\": -1, \"parts\": {}, \"rule\": \"max_inject\"}]}\n")
        Some("{\"at\": \"2026-01-01T00:00:00Z\", \"client\": \"c\", \"session\": \"s\", \"event\": \"prompt\", \"query\": \"q\", \"tokens\": 9, \"shown\": [], \"left_out\": [{\"address\": \"notes/b\", \"score\": -1, \"parts\": {}, \"rule\": \"max_inject\"}]}\n")
        Some("{\"at\": \"2026-01-01T00:00:00Z\", \"client\": \"c\", \"session\": \"s\", \"event\": \"prompt\", \"query\": \"q\", \"tokens\": 9, \"shown\": [], \"left_out\": [{\"address\": \"notes/b\", \"score\": -1, \"parts\": {}, \"rule\": \"max_inject\"}]}\n")
        Some("{\"at\": \"2026-01-01T00:00:00Z\", \"client\": \"c\", \"session\": \"s\", \"event\": \"prompt\", \"query\": \"q\", \"tokens\": 9, \"shown\": [{\"address\": \"tech_debt/a\", \"score\": 3, \"parts\": {\"tag\": {\"points\": 3, \"matched\": [\"x\"]}}, \"tokens\": 4}], \"left_out\": [{\"address\": \"notes/b\", \"score\": -1, \"parts\": {}, \"rule\": \"max_inject\"}]}\n")
        Some("{\"at\": \"2026-01-01T00:00:00Z\", \"client\": \"c\", \"session\": \"s\", \"event\": \"prompt\", \"query\": \"q\", \"tokens\": 9, \"shown\": [{\"address\": \"tech_debt/a\", \"score\": 3, \"parts\": {\"tag\": {\"points\": 3, \"matched\": []}}, \"tokens\": 4}], \"left_out\": [{\"address\": \"notes/b\", \"score\": -1, \"parts\": {}, \"rule\": \"max_inject\"}]}\n")
        Some("{\"at\": \"2026-01-01T00:00:00Z\", \"client\": \"c\", \"session\": \"s\", \"event\": \"prompt\", \"query\": \"q\", \"tokens\": 9, \"shown\": [], \"left_out\": [{\"address\": \"notes/b\", \"score\": -1, \"parts\": {}, \"rule\": \"max_inject\"}]}\n")
        Some("{\"at\": \"2026-01-01T00:00:00Z\", \"client\": \"c\", \"session\": \"s\", \"event\": \"prompt\", \"query\": \"q\", \"tokens\": 9, \"shown\": [{\"address\": \"tech_debt/a\", \"score\": 3, \"parts\": {\"tag\": {\"points\": 3, \"matched\": [\"x\"]}}, \"tokens\": 0}], \"left_out\": [{\"address\": \"notes/b\", \"score\": -1, \"parts\": {}, \"rule\": \"max_inject\"}]}\n")
        Some("{\"at\": \"2026-01-01T00:00:00Z\", \"client\": \"c\", \"session\": \"s\", \"event\": \"prompt\", \"query\": \"q\", \"tokens\": 9, \"shown\": [{\"address\": \"tech_debt/a\", \"score\": 3, \"parts\": {\"tag\": {\"points\": 3, \"matched\": [\"x\"]}}, \"tokens\": 0}], \"left_out\": [{\"address\": \"notes/b\", \"score\": -1, \"parts\": {}, \"rule\": \"max_inject\"}]}\n")
        Some("{\"at\": \"2026-01-01T00:00:00Z\", \"client\": \"c\", \"session\": \"s\", \"event\": \"prompt\", \"query\": \"q\", \"tokens\": 9, \"shown\": [{\"address\": \"tech_debt/a\", \"because\": \"both\"}], \"left_out\": [{\"address\": \"notes/b\", \"score\": -1, \"parts\": {}, \"rule\": \"max_inject\"}]}\n")
        Some("{\"at\": \"2026-01-01T00:00:00Z\", \"client\": \"c\", \"session\": \"s\", \"event\": \"prompt\", \"query\": \"q\", \"tokens\": 9, \"shown\": [{\"address\": \"tech_debt/a\", \"score\": 3, \"parts\": {\"tag\": {\"points\": 3, \"matched\": [\"x\"]}}, \"tokens\": 0}], \"left_out\": [{\"address\": \"notes/b\", \"score\": -1, \"parts\": {}, \"rule\": \"max_inject\"}]}\n")
        Some("{\"at\": \"2026-01-01T00:00:00Z\", \"client\": \"c\", \"session\": \"s\", \"event\": \"prompt\", \"query\": \"q\", \"tokens\": 9, \"shown\": [{\"address\": \"tech_debt/a\", \"score\": 3, \"parts\": {\"tag\": {\"points\": 3, \"matched\": [\"x\"]}}, \"tokens\": 4}], \"left_out\": []}\n")
        Some("{\"at\": \"2026-01-01T00:00:00Z\", \"client\": \"c\", \"session\": \"s\", \"event\": \"prompt\", \"query\": \"q\", \"tokens\": 9, \"shown\": [{\"address\": \"tech_debt/a\", \"score\": 3, \"parts\": {\"tag\": {\"points\": 3, \"matched\": [\"x\"]}}, \"tokens\": 4}], \"left_out\": []}\n")
        None
        None
        None
        None
        None
        None
    "#]],
    );
}

fn capture() -> Capture {
    let item = |number, category, score, at| CapturedItem {
        number,
        score,
        ..CapturedItem::new(
            category,
            vec!["We decided \"so\"\u{7}".to_owned(), format!("the key is {SECRET}")],
            format!("a\nb </x> é {SECRET}"),
            origin(at),
        )
    };
    let mut capture = Capture::new("s-1", "claude-code", NOW);
    capture.items = vec![
        item(1, Category::Decision, 0.684_210_526_315_789_5, TranscriptPosition::Line(3)),
        item(2, Category::TechDebt, 1.0, TranscriptPosition::Byte(1 << 40)),
        item(3, Category::Runbook, 0.000_012_5, TranscriptPosition::Line(9)),
    ];
    capture.settle(2);
    capture
}

#[test]
fn captures_are_written_byte_for_byte_as_before() {
    let mut asked = Capture::new(&format!("s {SECRET}"), "codex", NOW);
    asked.take(Vec::new(), Some(TranscriptPosition::Byte(7)), true, NOW);
    asked.tell_full(&[Category::Runbook, Category::TechDebt]);
    assert_eq!((asked.stage, capture().stage), (AskStage::Asked, AskStage::Pending));
    expect![[r#"
        {
          "v": 1,
          "session": "s-1",
          "client": "claude-code",
          "at": "2026-01-01T00:00:00Z",
          "stage": "pending",
          "asked": false,
          "until": null,
          "told_full": [],
          "items": [
            {
              "number": 1,
              "category": "decision",
              "score": 0.6842105263157895,
              "snippets": [
                "We decided \"so\"\u0007",
                "the key is AKIA…(12+)"
              ],
              "excerpt": "a\nb </x> é AKIA…(12+)",
              "origin": {
                "session": "s \"1\"",
                "line": 3,
                "words": "9cf63fba3d903c9564fb9fb07aa18d77939adf7632dc05f0fbb011a6b68e2c74"
              },
              "settled": false
            },
            {
              "number": 2,
              "category": "tech_debt",
              "score": 1,
              "snippets": [],
              "excerpt": "",
              "origin": {
                "session": "s \"1\"",
                "byte": 1099511627776,
                "words": "9cf63fba3d903c9564fb9fb07aa18d77939adf7632dc05f0fbb011a6b68e2c74"
              },
              "settled": true
            },
            {
              "number": 3,
              "category": "runbook",
              "score": 0.0000125,
              "snippets": [
                "We decided \"so\"\u0007",
                "the key is AKIA…(12+)"
              ],
              "excerpt": "a\nb </x> é AKIA…(12+)",
              "origin": {
                "session": "s \"1\"",
                "line": 9,
                "words": "9cf63fba3d903c9564fb9fb07aa18d77939adf7632dc05f0fbb011a6b68e2c74"
              },
              "settled": false
            }
          ]
        }
        {
          "v": 1,
          "session": "s AKIA…(12+)",
          "client": "codex",
          "at": "2026-01-01T00:00:00Z",
          "stage": "asked",
          "asked": true,
          "until": {
            "byte": 7
          },
          "told_full": [
            "runbook",
            "tech_debt"
          ],
          "items": []
        }
    "#]]
    .assert_eq(&(capture().to_text() + &asked.to_text()));
}

#[test]
fn a_capture_is_read_as_far_as_it_can_be_understood() {
    let whole = r#"{"v": 1, "session": "s", "client": "c", "at": "2026-01-01T00:00:00Z", "stage": "pending", "asked": false, "until": {"line": 4}, "told_full": ["decision"], "items": [{"category": "runbook", "score": 0.5, "snippets": ["x"], "excerpt": "e", "origin": {"session": "s", "line": 3, "words": "w"}, "settled": false}]}"#;
    let texts = [
        vec![whole.to_owned()],
        variants(
            whole,
            &[
                ("\"v\": 1, ", ""),
                ("\"v\": 1", "\"v\": \"two\", \"new\": []"),
                ("\"session\": \"s\", ", ""),
                ("\"client\": \"c\"", "\"client\": 7"),
                ("2026-01-01T00:00:00Z", "now"),
                ("pending", "done"),
                ("\"asked\": false", "\"asked\": 0"),
                ("{\"line\": 4}", "null"),
                ("{\"line\": 4}", "{\"byte\": 4.0}"),
                ("{\"line\": 4}", "{\"word\": 4}"),
                ("\"until\": {\"line\": 4}, ", ""),
                ("[\"decision\"]", "[\"decision\", \"fact\", 7, \"tech-debt\"]"),
                ("[\"decision\"]", "{}"),
                ("\"told_full\": [\"decision\"], ", ""),
                ("\"items\": [", "\"items\": [null, 7, {}, "),
                ("\"items\": [", "\"items\": {}, \"was\": ["),
                ("\"items\": [", "\"was\": ["),
                ("\"runbook\"", "\"runbooks\""),
                ("\"runbook\"", "\"fact\""),
                ("0.5", "1"),
                ("0.5", "1e-2"),
                ("0.5", "\"high\""),
                ("[\"x\"]", "[\"x\", 7, \"y\"]"),
                ("[\"x\"]", "7"),
                ("\"snippets\": [\"x\"], ", ""),
                ("\"e\"", "null"),
                ("{\"session\": \"s\", \"line\": 3, \"words\": \"w\"}", "null"),
                ("\"words\": \"w\"", "\"words\": \"w\", \"new\": 7"),
                ("\"settled\": false", "\"settled\": null"),
            ],
        ),
        ["", "{}", "[]", "null"].map(str::to_owned).to_vec(),
    ];
    check_read(
        Capture::read,
        &texts.concat(),
        &expect![[r#"
            Some(Capture { session: "s", client: "c", at: Timestamp(1767225600), stage: Pending, asked: false, asked_again: false, until: Some(Line(4)), told_full: [Decision], items: [CapturedItem { number: 0, category: Runbook, kind: None, form: None, score: 0.5, snippets: ["x"], excerpt: "e", neighbours: Neighbours { before: None, after: None }, evidence: [], origin: Origin { session: "s", at: Line(3), words: "w" }, since: None, said: None, asked: false, settled: false }] })
            Some(Capture { session: "s", client: "c", at: Timestamp(1767225600), stage: Pending, asked: false, asked_again: false, until: Some(Line(4)), told_full: [Decision], items: [CapturedItem { number: 0, category: Runbook, kind: None, form: None, score: 0.5, snippets: ["x"], excerpt: "e", neighbours: Neighbours { before: None, after: None }, evidence: [], origin: Origin { session: "s", at: Line(3), words: "w" }, since: None, said: None, asked: false, settled: false }] })
            Some(Capture { session: "s", client: "c", at: Timestamp(1767225600), stage: Pending, asked: false, asked_again: false, until: Some(Line(4)), told_full: [Decision], items: [CapturedItem { number: 0, category: Runbook, kind: None, form: None, score: 0.5, snippets: ["x"], excerpt: "e", neighbours: Neighbours { before: None, after: None }, evidence: [], origin: Origin { session: "s", at: Line(3), words: "w" }, since: None, said: None, asked: false, settled: false }] })
            None
            None
            None
            None
            None
            Some(Capture { session: "s", client: "c", at: Timestamp(1767225600), stage: Pending, asked: false, asked_again: false, until: None, told_full: [Decision], items: [CapturedItem { number: 0, category: Runbook, kind: None, form: None, score: 0.5, snippets: ["x"], excerpt: "e", neighbours: Neighbours { before: None, after: None }, evidence: [], origin: Origin { session: "s", at: Line(3), words: "w" }, since: None, said: None, asked: false, settled: false }] })
            Some(Capture { session: "s", client: "c", at: Timestamp(1767225600), stage: Pending, asked: false, asked_again: false, until: Some(Byte(4)), told_full: [Decision], items: [CapturedItem { number: 0, category: Runbook, kind: None, form: None, score: 0.5, snippets: ["x"], excerpt: "e", neighbours: Neighbours { before: None, after: None }, evidence: [], origin: Origin { session: "s", at: Line(3), words: "w" }, since: None, said: None, asked: false, settled: false }] })
            Some(Capture { session: "s", client: "c", at: Timestamp(1767225600), stage: Pending, asked: false, asked_again: false, until: None, told_full: [Decision], items: [CapturedItem { number: 0, category: Runbook, kind: None, form: None, score: 0.5, snippets: ["x"], excerpt: "e", neighbours: Neighbours { before: None, after: None }, evidence: [], origin: Origin { session: "s", at: Line(3), words: "w" }, since: None, said: None, asked: false, settled: false }] })
            Some(Capture { session: "s", client: "c", at: Timestamp(1767225600), stage: Pending, asked: false, asked_again: false, until: None, told_full: [Decision], items: [CapturedItem { number: 0, category: Runbook, kind: None, form: None, score: 0.5, snippets: ["x"], excerpt: "e", neighbours: Neighbours { before: None, after: None }, evidence: [], origin: Origin { session: "s", at: Line(3), words: "w" }, since: None, said: None, asked: false, settled: false }] })
            Some(Capture { session: "s", client: "c", at: Timestamp(1767225600), stage: Pending, asked: false, asked_again: false, until: Some(Line(4)), told_full: [Decision, TechDebt], items: [CapturedItem { number: 0, category: Runbook, kind: None, form: None, score: 0.5, snippets: ["x"], excerpt: "e", neighbours: Neighbours { before: None, after: None }, evidence: [], origin: Origin { session: "s", at: Line(3), words: "w" }, since: None, said: None, asked: false, settled: false }] })
            Some(Capture { session: "s", client: "c", at: Timestamp(1767225600), stage: Pending, asked: false, asked_again: false, until: Some(Line(4)), told_full: [], items: [CapturedItem { number: 0, category: Runbook, kind: None, form: None, score: 0.5, snippets: ["x"], excerpt: "e", neighbours: Neighbours { before: None, after: None }, evidence: [], origin: Origin { session: "s", at: Line(3), words: "w" }, since: None, said: None, asked: false, settled: false }] })
            Some(Capture { session: "s", client: "c", at: Timestamp(1767225600), stage: Pending, asked: false, asked_again: false, until: Some(Line(4)), told_full: [], items: [CapturedItem { number: 0, category: Runbook, kind: None, form: None, score: 0.5, snippets: ["x"], excerpt: "e", neighbours: Neighbours { before: None, after: None }, evidence: [], origin: Origin { session: "s", at: Line(3), words: "w" }, since: None, said: None, asked: false, settled: false }] })
            Some(Capture { session: "s", client: "c", at: Timestamp(1767225600), stage: Pending, asked: false, asked_again: false, until: Some(Line(4)), told_full: [Decision], items: [CapturedItem { number: 0, category: Runbook, kind: None, form: None, score: 0.5, snippets: ["x"], excerpt: "e", neighbours: Neighbours { before: None, after: None }, evidence: [], origin: Origin { session: "s", at: Line(3), words: "w" }, since: None, said: None, asked: false, settled: false }] })
            None
            None
            Some(Capture { session: "s", client: "c", at: Timestamp(1767225600), stage: Pending, asked: false, asked_again: false, until: Some(Line(4)), told_full: [Decision], items: [CapturedItem { number: 0, category: Runbook, kind: None, form: None, score: 0.5, snippets: ["x"], excerpt: "e", neighbours: Neighbours { before: None, after: None }, evidence: [], origin: Origin { session: "s", at: Line(3), words: "w" }, since: None, said: None, asked: false, settled: false }] })
            Some(Capture { session: "s", client: "c", at: Timestamp(1767225600), stage: Pending, asked: false, asked_again: false, until: Some(Line(4)), told_full: [Decision], items: [] })
            Some(Capture { session: "s", client: "c", at: Timestamp(1767225600), stage: Pending, asked: false, asked_again: false, until: Some(Line(4)), told_full: [Decision], items: [CapturedItem { number: 0, category: Runbook, kind: None, form: None, score: 1.0, snippets: ["x"], excerpt: "e", neighbours: Neighbours { before: None, after: None }, evidence: [], origin: Origin { session: "s", at: Line(3), words: "w" }, since: None, said: None, asked: false, settled: false }] })
            Some(Capture { session: "s", client: "c", at: Timestamp(1767225600), stage: Pending, asked: false, asked_again: false, until: Some(Line(4)), told_full: [Decision], items: [CapturedItem { number: 0, category: Runbook, kind: None, form: None, score: 0.01, snippets: ["x"], excerpt: "e", neighbours: Neighbours { before: None, after: None }, evidence: [], origin: Origin { session: "s", at: Line(3), words: "w" }, since: None, said: None, asked: false, settled: false }] })
            Some(Capture { session: "s", client: "c", at: Timestamp(1767225600), stage: Pending, asked: false, asked_again: false, until: Some(Line(4)), told_full: [Decision], items: [] })
            Some(Capture { session: "s", client: "c", at: Timestamp(1767225600), stage: Pending, asked: false, asked_again: false, until: Some(Line(4)), told_full: [Decision], items: [CapturedItem { number: 0, category: Runbook, kind: None, form: None, score: 0.5, snippets: ["x", "y"], excerpt: "e", neighbours: Neighbours { before: None, after: None }, evidence: [], origin: Origin { session: "s", at: Line(3), words: "w" }, since: None, said: None, asked: false, settled: false }] })
            Some(Capture { session: "s", client: "c", at: Timestamp(1767225600), stage: Pending, asked: false, asked_again: false, until: Some(Line(4)), told_full: [Decision], items: [CapturedItem { number: 0, category: Runbook, kind: None, form: None, score: 0.5, snippets: [], excerpt: "e", neighbours: Neighbours { before: None, after: None }, evidence: [], origin: Origin { session: "s", at: Line(3), words: "w" }, since: None, said: None, asked: false, settled: false }] })
            Some(Capture { session: "s", client: "c", at: Timestamp(1767225600), stage: Pending, asked: false, asked_again: false, until: Some(Line(4)), told_full: [Decision], items: [] })
            Some(Capture { session: "s", client: "c", at: Timestamp(1767225600), stage: Pending, asked: false, asked_again: false, until: Some(Line(4)), told_full: [Decision], items: [] })
            Some(Capture { session: "s", client: "c", at: Timestamp(1767225600), stage: Pending, asked: false, asked_again: false, until: Some(Line(4)), told_full: [Decision], items: [] })
            Some(Capture { session: "s", client: "c", at: Timestamp(1767225600), stage: Pending, asked: false, asked_again: false, until: Some(Line(4)), told_full: [Decision], items: [CapturedItem { number: 0, category: Runbook, kind: None, form: None, score: 0.5, snippets: ["x"], excerpt: "e", neighbours: Neighbours { before: None, after: None }, evidence: [], origin: Origin { session: "s", at: Line(3), words: "w" }, since: None, said: None, asked: false, settled: false }] })
            Some(Capture { session: "s", client: "c", at: Timestamp(1767225600), stage: Pending, asked: false, asked_again: false, until: Some(Line(4)), told_full: [Decision], items: [] })
            None
            None
            None
            None
        "#]],
    );
}

#[test]
fn a_forgetting_is_written_byte_for_byte_as_before() {
    let traces = Traces {
        addresses: [address("b"), note("größe"), address("a")].into(),
        taken: [note("t")].into(),
        titles: ["T \"x\"".to_owned(), "A\nb".to_owned()].into(),
        sessions: ["s-1".to_owned()].into(),
    };
    let whole = EraseRequest { traces, after: u64::MAX, because: "asked\tfor".to_owned() };
    let empty = EraseRequest { traces: Traces::default(), after: 0, because: String::new() };
    expect![[r#"
        {"after": 18446744073709551615, "because": "asked\tfor", "traces": {"addresses": ["notes/größe", "tech_debt/a", "tech_debt/b"], "taken": ["notes/t"], "titles": ["A\nb", "T \"x\""], "sessions": ["s-1"]}}
        {"after": 0, "because": "", "traces": {"addresses": [], "taken": [], "titles": [], "sessions": []}}
    "#]].assert_eq(&(whole.to_text() + &empty.to_text()));
}

#[test]
fn a_forgetting_is_read_as_far_as_it_can_be_understood() {
    let whole = r#"{"after": 7, "because": "b", "traces": {"addresses": ["tech_debt/a"], "taken": ["notes/t"], "titles": ["T"], "sessions": ["s"]}}"#;
    let texts = [
        vec![whole.to_owned(), format!("{whole}\n")],
        variants(
            whole,
            &[
                ("7", "7.0"),
                ("7", "-7"),
                ("\"after\": 7, ", ""),
                ("\"b\"", "null"),
                ("\"after\"", "\"new\": 7, \"after\""),
                ("[\"tech_debt/a\"]", "[\"a\", 7, \"tech-debt/b\"]"),
                ("[\"tech_debt/a\"]", "null"),
                ("\"taken\": [\"notes/t\"], ", ""),
                ("[\"T\"]", "[\"T\", [], \"U\"]"),
                ("[\"s\"]", "\"s\""),
                (", \"sessions\": [\"s\"]", ""),
                ("}}", "}"),
                ("{\"addresses\"", "[{\"addresses\""),
            ],
        ),
        ["", "{}", "null"].map(str::to_owned).to_vec(),
    ];
    check_read(
        |text| EraseRequest::read(text).map(|read| read.to_text()),
        &texts.concat(),
        &expect![[r#"
        Some("{\"after\": 7, \"because\": \"b\", \"traces\": {\"addresses\": [\"tech_debt/a\"], \"taken\": [\"notes/t\"], \"titles\": [\"T\"], \"sessions\": [\"s\"]}}\n")
        Some("{\"after\": 7, \"because\": \"b\", \"traces\": {\"addresses\": [\"tech_debt/a\"], \"taken\": [\"notes/t\"], \"titles\": [\"T\"], \"sessions\": [\"s\"]}}\n")
        Some("{\"after\": 7, \"because\": \"b\", \"traces\": {\"addresses\": [\"tech_debt/a\"], \"taken\": [\"notes/t\"], \"titles\": [\"T\"], \"sessions\": [\"s\"]}}\n")
        None
        None
        None
        Some("{\"after\": 7, \"because\": \"b\", \"traces\": {\"addresses\": [\"tech_debt/a\"], \"taken\": [\"notes/t\"], \"titles\": [\"T\"], \"sessions\": [\"s\"]}}\n")
        Some("{\"after\": 7, \"because\": \"b\", \"traces\": {\"addresses\": [\"tech_debt/b\"], \"taken\": [\"notes/t\"], \"titles\": [\"T\"], \"sessions\": [\"s\"]}}\n")
        Some("{\"after\": 7, \"because\": \"b\", \"traces\": {\"addresses\": [], \"taken\": [\"notes/t\"], \"titles\": [\"T\"], \"sessions\": [\"s\"]}}\n")
        None
        Some("{\"after\": 7, \"because\": \"b\", \"traces\": {\"addresses\": [\"tech_debt/a\"], \"taken\": [\"notes/t\"], \"titles\": [\"T\", \"U\"], \"sessions\": [\"s\"]}}\n")
        Some("{\"after\": 7, \"because\": \"b\", \"traces\": {\"addresses\": [\"tech_debt/a\"], \"taken\": [\"notes/t\"], \"titles\": [\"T\"], \"sessions\": []}}\n")
        None
        None
        None
        None
        None
        None
    "#]],
    );
}

#[test]
fn a_bench_run_is_written_byte_for_byte_as_before() {
    let hits = |names: &[&str]| -> Vec<Hit> { names.iter().map(|name| hit(name, Vec::new())).collect() };
    let asked = |number: usize, wanted: Option<&str>, came: &[&str]| {
        let question = Question { text: format!("question {number}"), wanted: wanted.map(address) };
        BenchQuestion::new(question, &hits(came), Vec::new())
    };
    let line = r#"{"query": "q", "must": ["tech_debt/a", "tech_debt/b"]}"#;
    let tried =
        expectations(line).unwrap().into_iter().map(|one| ExpectationResult::new(one, &hits(&["a", "b"])));
    let asked = vec![
        asked(1, Some("a"), &["a"]),
        asked(2, Some("a"), &["b", "c", "a"]),
        asked(3, Some("a"), &["b"]),
        asked(4, None, &[]),
        asked(5, None, &["b"]),
    ];
    let whole = judge(asked, tried.collect(), None, NOW).kept;
    let empty = judge(Vec::new(), Vec::new(), None, NOW).kept;
    expect![[r#"
        {"at": "2026-01-01T00:00:00Z", "baseline": true, "measures": {"hit@1": 0.3333, "hit@5": 0.6667, "mrr": 0.4444, "refused": 0.5, "reminded": 0, "silent": 1}, "places": {"1c54c95d1ef9": 0, "902956e7995b": 3, "911ec7e0bcd1": 1}, "refused": {"3384117bac5a": false, "5b9a7c7dfbf6": true}, "reminders": {"1c54c95d1ef9": false, "3384117bac5a": true, "5b9a7c7dfbf6": true, "902956e7995b": false, "911ec7e0bcd1": false}, "met": ["a5b5b77bdfb7", "e59d8c9a8a02"]}
        {"at": "2026-01-01T00:00:00Z", "baseline": true, "measures": {"hit@1": null, "hit@5": null, "mrr": null, "refused": null, "reminded": null, "silent": null}, "places": {}, "refused": {}, "reminders": {}, "met": []}
    "#]].assert_eq(&(whole.line() + &empty.line()));
}

#[test]
fn a_bench_run_is_read_as_far_as_it_can_be_understood() {
    let whole = r#"{"at": "2026-01-01T00:00:00Z", "baseline": true, "measures": {"hit@1": 1}, "places": {"a": 1, "b": 0}, "refused": {"c": true}, "met": ["d"]}"#;
    let texts = [
        vec![whole.to_owned()],
        variants(
            whole,
            &[
                ("2026-01-01T00:00:00Z", "now"),
                ("\"baseline\": true, ", ""),
                ("\"measures\": {\"hit@1\": 1}, ", ""),
                ("\"measures\"", "\"new\""),
                ("\"a\": 1", "\"a\": 1.0"),
                ("\"a\": 1", "\"a\": -1"),
                ("\"a\": 1", "\"a\": null"),
                ("\"b\": 0", "\"a\": 2"),
                ("{\"c\": true}", "{\"c\": 1}"),
                ("{\"c\": true}", "[]"),
                ("[\"d\"]", "[\"d\", 7, \"e\"]"),
                ("[\"d\"]", "null"),
                (", \"met\": [\"d\"]", ""),
            ],
        ),
        ["", "{}", "{\"at\": 7}"].map(str::to_owned).to_vec(),
    ];
    check_read(
        BenchRun::read,
        &texts.concat(),
        &expect![[r#"
            Some(BenchRun { at: Timestamp(1767225600), is_baseline: true, places: {"a": 1, "b": 0}, refused: {"c": true}, reminders: {}, met: {"d"} })
            None
            None
            Some(BenchRun { at: Timestamp(1767225600), is_baseline: true, places: {"a": 1, "b": 0}, refused: {"c": true}, reminders: {}, met: {"d"} })
            Some(BenchRun { at: Timestamp(1767225600), is_baseline: true, places: {"a": 1, "b": 0}, refused: {"c": true}, reminders: {}, met: {"d"} })
            Some(BenchRun { at: Timestamp(1767225600), is_baseline: true, places: {"a": 1, "b": 0}, refused: {"c": true}, reminders: {}, met: {"d"} })
            None
            None
            Some(BenchRun { at: Timestamp(1767225600), is_baseline: true, places: {"a": 2}, refused: {"c": true}, reminders: {}, met: {"d"} })
            None
            None
            Some(BenchRun { at: Timestamp(1767225600), is_baseline: true, places: {"a": 1, "b": 0}, refused: {"c": true}, reminders: {}, met: {"d", "e"} })
            Some(BenchRun { at: Timestamp(1767225600), is_baseline: true, places: {"a": 1, "b": 0}, refused: {"c": true}, reminders: {}, met: {} })
            None
            None
            None
            None
        "#]],
    );
}
