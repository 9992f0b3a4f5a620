//! The working set from outside: a session of fifty turns, and the promises about what is forgotten.

use crate::scratch::{Scratch, USE_JWT};
use lorelane_core::json::Json;
use lorelane_core::working_set::{SessionLog, SessionState};
use std::collections::BTreeMap;
use std::fs;

const SESSION: &str = ".agent/sessions/story";

fn in_session(name: &str) -> String {
    format!("{SESSION}/{name}")
}

/// A project in git with a working set, whose session is called `story`.
fn with_set() -> Scratch {
    let scratch = Scratch::new();
    scratch.git(&["init", "--quiet"]);
    scratch.put("src/parser.rs", lines("fn parse", 40));
    scratch.put("src/lexer.rs", lines("fn lex", 40));
    scratch.lorelane("ws init --session story").expect(0);
    scratch
}

fn lines(text: &str, count: usize) -> String {
    (0..count).map(|number| format!("{text} step {number} of the work\n")).collect()
}

/// As somebody does who edits the file.
fn set_budget(scratch: &Scratch, max_tokens: u32) {
    let file = in_session("working-set.yml");
    scratch
        .put(&file, scratch.read(&file).replace("max_tokens: 28000", &format!("max_tokens: {max_tokens}")));
}

fn texts(document: &Json, list: &str, field: &str) -> Vec<String> {
    let items = document.at(list).and_then(Json::as_list).unwrap_or_default();
    items.iter().map(|item| text(item, field)).collect()
}

fn text(document: &Json, field: &str) -> String {
    document.at(field).and_then(Json::as_text).unwrap_or_default().to_owned()
}

fn number(document: &Json, field: &str) -> u64 {
    document.at(field).and_then(Json::as_u64).unwrap_or_else(|| panic!("no {field} in {document:?}"))
}

/// What `ws status` says of a file of the set.
fn file_status(scratch: &Scratch, path: &str) -> Json {
    let status = scratch.json("ws status");
    let files = status.at("files").and_then(Json::as_list).unwrap();
    files.iter().find(|file| text(file, "path") == path).cloned().unwrap_or(Json::Null)
}

fn is_in_set(scratch: &Scratch, path: &str) -> bool {
    file_status(scratch, path) != Json::Null
}

fn used(scratch: &Scratch) -> u64 {
    number(&scratch.json("ws status"), "budget.used")
}

fn sidecar_field(sidecar: &str, key: &str) -> String {
    let line = sidecar.lines().find_map(|line| line.strip_prefix(&format!("{key}: ")));
    line.unwrap_or_default().trim_matches('"').to_owned()
}

/// The events of a kind, newest first.
fn events(scratch: &Scratch, kind: &str) -> Vec<Json> {
    let log = scratch.json("ws log -n 1000");
    let events = log.at("events").and_then(Json::as_list).unwrap();
    events.iter().filter(|event| text(event, "type") == kind).cloned().collect()
}

/// The log alone says what the set is: files with priorities, touches, pins, advice and summaries.
fn assert_rebuilt(scratch: &Scratch, at: &str) {
    let log = SessionLog::read(&scratch.read(&in_session("session-log.md")));
    let state = SessionState::of(log.events());
    let status = scratch.json("ws status");
    assert_eq!(u64::from(state.turn), number(&status, "turn"), "{at}");
    let rebuilt: BTreeMap<String, String> = state
        .set()
        .map(|(path, file, entry)| {
            let cold = file.cold.as_ref().map(|note| ("cold", note.turn));
            let advice = cold.or(file.hot.as_ref().map(|note| ("hot", note.turn)));
            let said =
                format!("{} {} {} {advice:?} {:?}", entry.priority, file.touches, file.pinned, file.summary);
            (path.to_owned(), said)
        })
        .collect();
    let shown: BTreeMap<String, String> = status
        .at("files")
        .and_then(Json::as_list)
        .unwrap()
        .iter()
        .map(|file| {
            let list = match text(file, "advice.list").as_str() {
                "" => None,
                "cold" => Some("cold"),
                _ => Some("hot"),
            };
            let advice = list.map(|list| (list, number(file, "advice.turn") as u32));
            let summary = file.at("summary").and_then(Json::as_text).map(str::to_owned);
            let said = format!(
                "{} {} {} {advice:?} {summary:?}",
                file.at("priority").and_then(Json::as_f64).unwrap(),
                number(file, "touches"),
                file.at("pinned").and_then(Json::as_bool).unwrap(),
            );
            (text(file, "path"), said)
        })
        .collect();
    assert_eq!(rebuilt, shown, "{at}");
}

/// The paths of a report with what was done, and those of the log's newest collection.
fn assert_logged_as_reported(scratch: &Scratch, report: &Json) {
    let logged = events(scratch, "gc_run").into_iter().next().unwrap();
    let pairs = |document: &Json, list: &str, action: Option<&str>| -> Vec<(String, String)> {
        let items = document.at(list).and_then(Json::as_list).unwrap_or_default();
        let did = |item: &Json| action.map_or_else(|| text(item, "action"), str::to_owned);
        items.iter().map(|item| (text(item, "path"), did(item))).collect()
    };
    let mut reported = pairs(report, "gc_report.actions", None);
    reported.extend(pairs(report, "gc_report.deferred", Some("deferred")));
    assert_eq!(reported, pairs(&logged, "report", None));
    assert_eq!(number(&logged, "files_affected"), number(report, "gc_report.files_affected"));
    assert_eq!(number(&logged, "freed_tokens"), number(report, "gc_report.tokens_freed"));
}

/// Collects, after the dry run that must say the same and write nothing.
fn collect(scratch: &Scratch, options: &str) -> Json {
    let before = (scratch.tree_without_cache(), used(scratch));
    let planned = scratch.json(&format!("ws gc --dry-run {options}"));
    // Spec, section 3, no. 16: a dry run is the same plan without its effects.
    assert_eq!(before.0, scratch.tree_without_cache());
    let report = scratch.json(&format!("ws gc {options} --because 'room is needed'"));
    assert_eq!(planned.at("gc_report"), report.at("gc_report"));
    assert_logged_as_reported(scratch, &report);
    // Spec, section 4: tokens freed are before minus after.
    assert_eq!(number(&report, "gc_report.tokens_freed"), before.1 - used(scratch));
    report
}

#[test]
fn a_session_of_fifty_turns() {
    let scratch = with_set();
    set_budget(&scratch, 7000);
    let ws = |line: &str| scratch.lorelane(&format!("ws {line}")).expect(0).out;
    let attempt = in_session("drafts/attempt-1.md");
    let mut summary = String::new();
    for turn in 1..=50_u32 {
        ws("touch --turn");
        match turn {
            1 => drop(ws("add src/parser.rs --priority 0.9 --because 'debugging it'")),
            2 => drop(ws("add src/lexer.rs --because 'the parser calls it'")),
            3 => {
                scratch.put("logs/build.log", lines("error: step failed", 60));
                scratch.put("decisions/001-parser.md", "# Recursive descent\n");
                ws("add logs/build.log decisions/001-parser.md --because 'the build is red'");
                ws("touch logs/build.log");
            }
            // The advice asks for a summary that does not exist yet.
            6 => {
                let said = ws(
                    "advise --cold logs/build.log --action summarize_then_evict --hot src/parser.rs --because 'green again'",
                );
                assert!(said.contains("deferred (pending_summary)  logs/build.log"), "{said}");
                assert_eq!(
                    text(&file_status(&scratch, "logs/build.log"), "decision.reason"),
                    "pending_summary"
                );
            }
            8 => {
                let written = scratch.json(
                    "ws summarize logs/build.log --text 'All 60 steps failed for one reason.' --because 'the cause is known'",
                );
                summary = texts(&written, "summaries", "path").remove(0);
                // Backlinks both ways, and the text is the model's.
                let file = scratch.read(&summary);
                assert!(file.starts_with("---\nsummary_of:\n  - \"logs/build.log\"\n"), "{file}");
                assert!(
                    file.contains("generator: model") && file.contains("](../../../../logs/build.log)"),
                    "{file}"
                );
                let sidecar = scratch.read(&in_session("meta/logs/build.log.meta.yml"));
                assert_eq!(sidecar_field(&sidecar, "summarized_in"), summary);
            }
            9 => {
                let report = collect(&scratch, "");
                assert_eq!(texts(&report, "gc_report.actions", "path"), ["logs/build.log"]);
                assert_eq!(texts(&report, "gc_report.actions", "action"), ["summarized"]);
                assert_eq!(texts(&report, "gc_report.actions", "summary"), [summary.clone()]);
                assert!(scratch.exists("logs/build.log"), "a source file stays where it is");
            }
            // The source changes, and its summary is stale: named, and made again.
            12 => {
                scratch.put("logs/build.log", lines("warning: unused", 20));
                let status = scratch.json("ws status");
                assert_eq!(texts(&status, "stale_summaries", "path"), [summary.clone()]);
                assert!(ws("status").contains(&format!("{summary} is stale; changed: logs/build.log")));
                ws("summarize --stale --because 'the build ran again'");
                let file = scratch.read(&summary);
                assert!(file.contains("generator: extractive") && file.contains("warning: unused"), "{file}");
                assert!(file.contains("## Earlier summary (stale)\n\nAll 60 steps failed"), "{file}");
                assert_eq!(texts(&scratch.json("ws status"), "stale_summaries", "path"), [""; 0]);
            }
            // A missing summary is named and made again.
            13 => {
                fs::remove_file(scratch.project().join(&summary)).unwrap();
                assert!(ws("status").contains("is missing; it was of logs/build.log"));
                ws("summarize --stale --because 'it was deleted'");
                assert!(scratch.exists(&summary));
            }
            15 => {
                scratch.put(&attempt, "# Attempt 1\r\n\r\nTried a table-driven parser.\r\n");
                ws("add drafts/attempt-1.md --because 'trying a table'");
            }
            // A failed attempt is archived with its postmortem, or not at all.
            17 => {
                let said = ws("advise --cold drafts/attempt-1.md --action archive --gc --because 'too slow'");
                assert!(said.contains("deferred (no_postmortem)  "), "{said}");
                assert!(scratch.exists(&attempt));
            }
            18 => {
                ws(
                    "advise --cold drafts/attempt-1.md --action archive --gc --postmortem 'Tables are slow to build.' --because 'too slow'",
                );
                assert!(!scratch.exists(&attempt));
                let postmortem = scratch.read(&in_session("archive/drafts/attempt-1.md.postmortem.md"));
                for section in
                    ["What Happened\n\nTables are slow", "Progress Made", "State Preserved", "Lessons"]
                {
                    assert!(postmortem.contains(&format!("## {section}")), "{postmortem}");
                }
                assert!(scratch.read(&in_session("POINTERS.yml")).contains("archive/drafts/attempt-1.md"));
                assert!(scratch.exists(&in_session("drafts/attempt-1.md.tombstone.md")));
                assert!(scratch.exists(&in_session("drafts/attempt-1.md.meta.yml")));
            }
            20 => {
                let said = ws("restore drafts/attempt-1.md --because 'tables were right'");
                assert!(said.contains("from the archive"), "{said}");
                assert_eq!(scratch.read(&attempt), "# Attempt 1\r\n\r\nTried a table-driven parser.\r\n");
                assert!(!scratch.exists(&in_session("drafts/attempt-1.md.tombstone.md")));
                ws("remove drafts/attempt-1.md --because 'it is in the history'");
            }
            // The set grows, until the budget presses.
            21..=24 => {
                let name = format!("src/part_{turn}.rs");
                scratch.put(&name, lines("let part", 150));
                ws(&format!("add {name} --because 'the next part'"));
                ws(&format!("touch {name} src/parser.rs"));
            }
            31 => {
                let status = scratch.json("ws status");
                let ratio = status.at("budget.ratio").and_then(Json::as_f64).unwrap();
                assert!(ratio > 0.8, "{ratio}");
                ws("advise --hot src/lexer.rs --because 'next in turn'");
                let report = collect(&scratch, "--trigger budget_pressure");
                let gone = texts(&report, "gc_report.actions", "path");
                assert!(gone.contains(&"src/part_21.rs".to_owned()), "{report:?}");
                assert!(used(&scratch) <= 6000 * 70 / 100, "{report:?}");
                assert!(is_in_set(&scratch, "decisions/001-parser.md"), "protected");
            }
            // What left and is used again comes back with the entry it had, and is hot.
            33..=35 => {
                let said = ws("touch src/part_21.rs src/part_21.rs");
                assert_eq!(said.contains("back in the set: src/part_21.rs"), turn == 33, "{said}");
            }
            36 => {
                let file = file_status(&scratch, "src/part_21.rs");
                assert_eq!(text(&file, "decision.action_taken"), "promoted_to_hot", "{file:?}");
                assert!(file.at("hotness.score").and_then(Json::as_f64).unwrap() >= 0.5, "{file:?}");
            }
            // Pins and protected files are stronger than advice, and it is said.
            38 => {
                scratch.lorelane("pin src/lexer.rs").expect(0);
                let said = ws("advise --cold src/lexer.rs --cold decisions/001-parser.md --because 'done'");
                assert!(said.contains("overridden (pinned)  src/lexer.rs"), "{said}");
                assert!(said.contains("overridden (protected)  decisions/001-parser.md"), "{said}");
            }
            40 => {
                let report = collect(&scratch, "--target 0");
                let kept = texts(&report, "gc_report.deferred", "path");
                for path in ["src/lexer.rs", "decisions/001-parser.md"] {
                    assert!(is_in_set(&scratch, path) && kept.contains(&path.to_owned()), "{report:?}");
                }
            }
            // An undo of a collection is one more event.
            45 => {
                scratch.put("notes.md", lines("idea", 200));
                ws("add notes.md --because 'ideas'");
                ws("summarize notes.md --because 'long'");
                let (files, before) = (used(&scratch), scratch.read(&in_session("session-log.md")));
                ws("advise --cold notes.md --action compress --because 'the summary is enough'");
                let report = collect(&scratch, "");
                assert_eq!(texts(&report, "gc_report.actions", "action"), ["compressed"], "{report:?}");
                assert!(!is_in_set(&scratch, "notes.md"));
                scratch.lorelane("undo").expect(0);
                assert!(is_in_set(&scratch, "notes.md") && used(&scratch) == files);
                let log = scratch.read(&in_session("session-log.md"));
                assert!(log.starts_with(&before) && events(&scratch, "undone").len() == 1);
            }
            _ => {}
        }
        if turn % 4 == 0 {
            ws("touch src/parser.rs");
        }
        assert_rebuilt(&scratch, &format!("turn {turn}"));
    }
    scratch.lorelane("ws log --verify").expect(0);
    scratch.lorelane("log --verify").expect(0);
    assert_eq!(scratch.read("src/parser.rs"), lines("fn parse", 40));
}

// Spec, section 4: restore returns identical bytes. Section 3, no. 9: committed, or copied.
#[test]
fn an_archived_file_comes_back_byte_for_byte() {
    let table: [(&str, &[u8]); 4] = [
        ("crlf.md", b"one\r\ntwo\r\n"),
        ("binary.bin", b"\x00\xff\xfe\x00PNG\r\n\x1a\n"),
        ("empty.md", b""),
        ("no-newline.txt", "ünï".as_bytes()),
    ];
    for is_committed in [false, true] {
        let scratch = Scratch::new();
        scratch.git(&["init", "--quiet"]);
        scratch.lorelane("ws init --session story --commit").expect(0);
        for (name, bytes) in table {
            scratch.put(&in_session(name), bytes);
            scratch.lorelane(&format!("ws add {name} --priority 0.7 --because 'an example'")).expect(0);
        }
        if is_committed {
            scratch.git(&["add", "-A"]);
            scratch.git(&["commit", "-q", "-m", "all"]);
        }
        for (name, bytes) in table {
            let at = format!("{name}, committed: {is_committed}");
            let place = in_session(name);
            scratch
                .lorelane(&format!("ws advise --cold {name} --action archive --gc --because done"))
                .expect(0);
            assert!(
                !scratch.exists(&place) && scratch.exists(&in_session(&format!("archive/{name}"))),
                "{at}"
            );
            let sidecar = scratch.read(&format!("{place}.meta.yml"));
            assert!(sidecar.contains("status: archived"), "{at}: {sidecar}");
            let place_of_bytes = sidecar_field(&sidecar, "archived_bytes");
            assert_eq!(place_of_bytes.starts_with("git:"), is_committed, "{at}: {sidecar}");
            // Somebody edits the archived file: then the bytes come from git or from the object.
            fs::write(scratch.project().join(in_session(&format!("archive/{name}"))), "edited").unwrap();
            scratch.lorelane(&format!("ws restore {name} --because 'needed'")).expect(0);
            assert_eq!(fs::read(scratch.project().join(&place)).unwrap(), bytes, "{at}");
            let priority = file_status(&scratch, &place).at("priority").and_then(Json::as_f64);
            assert_eq!(priority, Some(0.7), "{at}: it has the entry it had");
        }
    }
}

// Spec, section 3, no. 30.
#[test]
fn the_links_of_a_summary_follow_an_archived_file() {
    let scratch = with_set();
    scratch.put(&in_session("tool/out.txt"), lines("row", 30));
    scratch.lorelane("ws add tool/out.txt --because 'an output'").expect(0);
    let written = scratch.json("ws summarize tool/out.txt --into rows --because 'many rows'");
    let summary = texts(&written, "summaries", "path").remove(0);
    assert_eq!(summary, in_session("summaries/rows.md"));
    let before = scratch.read(&summary);
    scratch.lorelane("ws advise --cold tool/out.txt --action archive --gc --because old").expect(0);
    let moved = scratch.read(&summary);
    let archived = in_session("archive/tool/out.txt");
    assert!(
        moved.contains(&format!("  - \"{archived}\"")) && moved.contains(&format!("/{archived})")),
        "{moved}"
    );
    assert_eq!(texts(&scratch.json("ws status"), "stale_summaries", "path"), [""; 0]);
    scratch.lorelane("ws restore tool/out.txt --because needed").expect(0);
    assert_eq!(scratch.read(&summary), before);
}

#[test]
fn a_superseded_document_links_its_successor() {
    let scratch = with_set();
    scratch.put(&in_session("plan.md"), "# Plan\n");
    scratch.put("docs/plan-2.md", "# Plan 2\n");
    scratch.lorelane("ws add plan.md docs/plan-2.md --because plans").expect(0);
    let line =
        "ws advise --cold plan.md --action archive --superseded-by docs/plan-2.md --gc --because 'newer one'";
    scratch.lorelane(line).expect(0);
    let sidecar = scratch.read(&in_session("plan.md.meta.yml"));
    assert_eq!(sidecar_field(&sidecar, "superseded_by"), "docs/plan-2.md");
    assert!(scratch.read(&in_session("POINTERS.yml")).contains("superseded_by: \"docs/plan-2.md\""));
    let logged = events(&scratch, "gc_run").remove(0);
    assert!(texts(&logged, "report", "reason")[0].contains("superseded by docs/plan-2.md"), "{logged:?}");
}

// Spec, section 3, no. 32.
#[test]
fn a_compressed_file_keeps_its_bytes_and_its_summary_takes_its_place() {
    let scratch = with_set();
    scratch.put("data.txt", lines("record", 400));
    scratch.lorelane("ws add data.txt --priority 0.8 --because 'the data'").expect(0);
    scratch.lorelane("ws advise --cold data.txt --action compress --gc --because 'figures noted'").expect(0);
    let sidecar = scratch.read(&in_session("meta/data.txt.meta.yml"));
    let object = sidecar_field(&sidecar, "archived_bytes");
    assert_eq!(scratch.read(&in_session(&object)), lines("record", 400));
    let status = scratch.json("ws status");
    let stand_in =
        texts(&status, "files", "path").into_iter().find(|path| path.contains("/summaries/")).unwrap();
    assert_eq!(file_status(&scratch, &stand_in).at("priority").and_then(Json::as_f64), Some(0.8));
    // The source changes: it stays as it is, and the bytes from then are still known.
    scratch.put("data.txt", "newer\n");
    let said = scratch.lorelane("ws restore data.txt --because 'needed again'").expect(0).out;
    assert!(said.contains(&format!("the bytes from then are in {}", in_session(&object))), "{said}");
    assert_eq!(scratch.read("data.txt"), "newer\n");
    assert!(is_in_set(&scratch, "data.txt") && !is_in_set(&scratch, &stand_in));
    // A log that is only appended to is not replaced.
    scratch.lorelane("ws add output.md --because 'what the user got'").expect(0);
    let said = scratch.lorelane("ws advise --cold output.md --action compress --because long").expect(0).out;
    assert!(said.contains("overridden (protected)"), "{said}");
}

#[test]
fn a_log_that_leaves_keeps_its_key_events() {
    let scratch = with_set();
    scratch.put("run.log", lines("error: step failed with code 101", 50));
    scratch.lorelane("ws add run.log --because 'a run'").expect(0);
    for _ in 0..6 {
        scratch.lorelane("ws touch --turn").expect(0);
    }
    let report = collect(&scratch, "--target 0 --scope '*.log'");
    assert_eq!(texts(&report, "gc_report.actions", "action"), ["summarized"], "{report:?}");
    let summary = scratch.read(&texts(&report, "gc_report.actions", "summary")[0]);
    assert!(summary.contains("Errors:\n- error: step failed with code 101"), "{summary}");
}

#[test]
fn what_leaves_the_set_is_not_retired() {
    let scratch = Scratch::with_jwt();
    scratch.lorelane("ws init --session story").expect(0);
    scratch.lorelane("ws add memory:decision/use-jwt --because 'the rule'").expect(0);
    let before = scratch.read(USE_JWT);
    // A decision is protected; with the pin of a memory the set has nothing to do.
    let said = scratch.lorelane("ws advise --cold memory:decision/use-jwt --gc --because done").expect(0).out;
    assert!(said.contains("overridden (protected)"), "{said}");
    scratch.session(1);
    let listed = scratch.json("list session_summary");
    let session = texts(&listed, "memories", "address").remove(0);
    scratch.lorelane(&format!("ws add memory:{session} --because 'what was done'")).expect(0);
    for action in ["compress", "delete_from_working_set", "archive"] {
        let line = format!("ws advise --cold memory:{session} --action {action} --gc --because done");
        scratch.lorelane(&line).expect(0);
        scratch.lorelane(&format!("ws restore memory:{session} --because again")).expect(0);
    }
    assert_eq!(scratch.read(USE_JWT), before);
    assert_eq!(scratch.json("list --status all").at("memories"), scratch.json("list").at("memories"));
    assert!(scratch.lorelane("log").out.contains("ws gc"));
}

#[test]
fn the_settings_protect_files_and_set_the_turns() {
    let scratch = with_set();
    scratch.lorelane("init").expect(0);
    scratch.set_toml("[working_set]\nprotected = \"src/** *.key\"\nuntouched_turns = 2\n");
    scratch.put("old.md", lines("text", 20));
    scratch.lorelane("ws add old.md src/lexer.rs --because 'both'").expect(0);
    (0..2).for_each(|_| drop(scratch.lorelane("ws touch --turn").expect(0)));
    let report = collect(&scratch, "--target 0");
    assert_eq!(texts(&report, "gc_report.actions", "path"), ["old.md"], "{report:?}");
    assert!(scratch.lorelane("ws status").out.contains("protected"));
}

// A repository may be stricter than its user, and not laxer.
#[test]
fn a_cloned_repository_cannot_take_the_protection_off() {
    let scratch = with_set();
    scratch.lorelane("init").expect(0);
    let user = scratch.home().join("config/lorelane.toml");
    fs::create_dir_all(user.parent().unwrap()).unwrap();
    fs::write(&user, "[working_set]\nprotected = \"keys/**\"\n").unwrap();
    for (toml, is_held) in [
        ("protected = \"\"", true),
        ("protected = \"docs/**\"", true),
        ("protected = \"docs/** keys/**\"", false),
        ("untouched_turns = 1", true),
        ("untouched_turns = 9", false),
        ("cold_weight = 0.9", true),
        ("cold_weight = 0.1", false),
        ("hot_weight = 0.0", true),
    ] {
        scratch.put("lorelane.toml", format!("[working_set]\n{toml}\n"));
        let held = scratch.json("trust");
        let held = held.at("held_back").and_then(Json::as_list).unwrap().len();
        assert_eq!(held, usize::from(is_held), "{toml}");
    }
}

#[test]
fn a_summary_is_refused_where_it_would_break_a_link() {
    let scratch = with_set();
    scratch.lorelane("ws summarize src/parser.rs src/lexer.rs --into both --because x").expect(0);
    for (line, what) in [
        ("ws summarize src/parser.rs --because ''", "MISSING_WHY"),
        ("ws summarize src/parser.rs --into both --because x", "summarizes other files too"),
        ("ws summarize src/parser.rs --into ../out --because x", "a summary is written to summaries/NAME.md"),
        ("ws summarize src/none.rs --because x", "NOT_FOUND"),
        ("ws gc", "MISSING_WHY"),
        ("ws restore src/parser.rs", "MISSING_WHY"),
        ("ws restore gone.md --because x", "NOT_FOUND"),
    ] {
        let said = scratch.lorelane(line).expect(2);
        assert!(said.err.contains(what), "{line}: {}", said.text());
    }
    // Spec, section 3, no. 18: without the list, the frontmatter and the sidecar still link.
    scratch.lorelane("ws summarize src/parser.rs --into alone --no-refs --because x").expect(0);
    let summary = scratch.read(&in_session("summaries/alone.md"));
    assert!(
        summary.contains("summary_of:\n  - \"src/parser.rs\"") && !summary.contains("References:"),
        "{summary}"
    );
    let sidecar = scratch.read(&in_session("meta/src/parser.rs.meta.yml"));
    assert!(sidecar.contains("summaries/alone.md"), "{sidecar}");
}

// The second time, the text of the model was gone.
#[test]
fn what_a_model_wrote_survives_every_refresh() {
    let scratch = with_set();
    scratch.lorelane("ws add src/parser.rs src/lexer.rs --because work").expect(0);
    scratch.put("words.md", "The lexer owns the offsets.\n");
    let line = "ws summarize src/parser.rs src/lexer.rs --text-file words.md --into summaries/both.md --because long";
    scratch.lorelane(line).expect(0);
    let summary = in_session("summaries/both.md");
    for round in 0..3 {
        scratch.put("src/parser.rs", lines("fn parse", 50 + round));
        scratch.lorelane("ws summarize --stale --because changed").expect(0);
        let text = scratch.read(&summary);
        assert_eq!(text.matches("The lexer owns the offsets.").count(), 1, "{round}: {text}");
    }
    // Of a source that is gone, the earlier text is all that is left.
    fs::remove_file(scratch.project().join("src/lexer.rs")).unwrap();
    let said = scratch.lorelane("ws summarize --stale --because gone").expect(0);
    assert!(said.err.contains("1 source cannot be read any more"), "{}", said.text());
    assert!(scratch.read(&summary).contains("fn lex step"), "{}", scratch.read(&summary));
}

// A glob took a file out again that somebody had just brought back.
#[test]
fn a_glob_is_followed_once_and_a_name_with_brackets_is_a_file() {
    let scratch = with_set();
    scratch.put("app/[id]/page.tsx", lines("const a", 5));
    scratch.put("app/i/page.tsx", lines("const b", 5));
    scratch.lorelane("ws add src/lexer.rs 'app/[id]/page.tsx' app/i/page.tsx --because work").expect(0);
    scratch.lorelane("ws advise --cold 'src/l*.rs' --gc --because done").expect(0);
    assert!(!is_in_set(&scratch, "src/lexer.rs"));
    scratch.lorelane("ws restore src/lexer.rs --because needed").expect(0);
    scratch.lorelane("ws gc --because again").expect(0);
    assert!(is_in_set(&scratch, "src/lexer.rs"));
    scratch.lorelane("ws advise --cold 'app/[id]/page.tsx' --gc --because done").expect(0);
    assert!(!is_in_set(&scratch, "app/[id]/page.tsx") && is_in_set(&scratch, "app/i/page.tsx"));
}

// The text of a first attempt was overwritten by that of the second.
#[test]
fn every_postmortem_is_kept() {
    let scratch = with_set();
    let attempt = in_session("drafts/attempt.md");
    for lesson in ["The cache is not the cause.", "The clock is not the cause."] {
        scratch.put(&attempt, format!("Tried: {lesson}\n"));
        scratch.lorelane(&format!("ws add {attempt} --because trying")).expect(0);
        scratch.lorelane("ws touch --turn").expect(0);
        let line = format!(
            "ws advise --cold {attempt} --action archive --postmortem '{lesson}' --gc --because 'it failed'"
        );
        scratch.lorelane(&line).expect(0);
        assert!(!scratch.exists(&attempt), "{lesson}");
    }
    let text = scratch.read(&in_session("archive/drafts/attempt.md.postmortem.md"));
    assert!(text.contains("The cache is not") && text.contains("The clock is not"), "{text}");
}

// Each file that left parsed the whole manifest: 3,000 files took 20 s.
#[test]
fn many_files_leave_at_once_and_comments_stay() {
    let scratch = with_set();
    let names: Vec<String> = (0..300).map(|number| format!("many/{number}.rs")).collect();
    names.iter().for_each(|name| scratch.put(name, "fn a() {}\n"));
    scratch.lorelane(&format!("ws add {} --because many", names.join(" "))).expect(0);
    let file = in_session("working-set.yml");
    let text = scratch.read(&file);
    let marked = text.replace("  - path: \"many/7.rs\"\n", "  # keep this line\n  - path: \"many/7.rs\"\n");
    scratch.put(&file, &marked);
    scratch.lorelane(&format!("ws remove {} --because done", names[..299].join(" "))).expect(0);
    assert!(is_in_set(&scratch, "many/299.rs"));
    assert_eq!(scratch.json("ws status").at("files").and_then(Json::as_list).map(<[Json]>::len), Some(1));
    assert_eq!(marked.contains("# keep this line"), scratch.read(&file).contains("# keep this line"));
    scratch.lorelane("ws remove many/299.rs --because done").expect(0);
    assert!(scratch.read(&file).contains("files: []"), "{}", scratch.read(&file));
}
