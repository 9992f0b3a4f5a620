//! The fields of every document for machines: their names, their order and what sort of value they have.

use crate::consolidate::capture;
use crate::scratch::{DECISION, Scratch, USE_JWT};
use expect_test::expect;
use lorelane_core::json::Json;
use lorelane_core::memory::Category;
use std::fs;

/// `{address text, lines [number]}`: of a list its first item, and of the parts of a score, which differ, nothing.
pub fn shape(json: &Json) -> String {
    match json {
        Json::Object(object) => {
            let member = |(key, value)| match key {
                "parts" => key.to_owned(),
                _ => format!("{key} {}", shape(value)),
            };
            format!("{{{}}}", object.iter().map(member).collect::<Vec<_>>().join(", "))
        }
        Json::List(items) => format!("[{}]", items.first().map(shape).unwrap_or_default()),
        Json::Null => "null".to_owned(),
        Json::Bool(_) => "bool".to_owned(),
        Json::Number(_) => "number".to_owned(),
        Json::Text(_) => "text".to_owned(),
    }
}

impl Scratch {
    fn shapes(&self, lines: &[&str]) -> String {
        let shape = |line: &&str| {
            let name = line.split(" --set context").next().unwrap_or_default();
            format!("{name}\n    {}\n", shape(&self.json(line)))
        };
        lines.iter().map(shape).collect()
    }
}

#[test]
fn commands_print_the_fields_that_machines_know() {
    let scratch = Scratch::new();
    let hooks = scratch.home().join(".copilot/hooks");
    fs::create_dir_all(&hooks).unwrap();
    fs::write(hooks.join("lorelane.json"), "{ mine").unwrap();
    let create =
        format!("create decision --title 'Use JWT' --tag auth {DECISION} --set related_files=src/auth.py");
    let seen = scratch.shapes(&[
        "init --dry-run",
        "init",
        "list",
        "consolidate prepare",
        "why",
        &create,
        "create notes/plans/auth --tag auth --text 'The plan for [[src/auth.py#L3]] depends on [[decision/use-jwt]].'",
        "create notes/first --tag auth --text 'Restart the worker after every deploy, or it keeps old code.'",
        "create notes/second --tag auth --text 'Restart the worker after every deploy, or it keeps old code.'",
        "append notes/first 'Twice.' --dry-run",
        "update use-jwt --set 'title=Use PASETO tokens'",
        "retire use-paseto-tokens --reason Old --dry-run",
        "pin use-paseto-tokens",
        "list -n 1",
        "show use-paseto-tokens",
        "show notes/plans/auth",
        "search 'paseto tokens' --explain",
        "search 'restart the worker' --passages",
        "candidate decision --new-info 'we use paseto tokens now'",
        "candidate decision --new-info 'the weather is fine'",
        "links src/auth.py",
        "related notes/plans/auth",
        "graph",
        "duplicates",
        "merge notes/first notes/second --into notes/both --dry-run",
        "notes move --to user --dry-run",
        "audit --deep",
        "audit --all-projects",
        "prune",
        "dashboard",
        "check",
        "confirm notes/first --because read",
        "log -n 1",
        "log --verify",
        "undo --dry-run",
        "undo",
        "status",
        "doctor",
        "reindex --dry-run",
        "reindex",
        "gc",
        "bench --dry-run",
        "config list",
        "config get retrieval.max_inject",
        "config set retrieval.max_inject 3",
        "trust",
        "model list",
        "setup",
        "setup codex --dry-run",
        "setup copilot --dry-run",
        "forget notes/plans/auth --dry-run",
        "forget notes/plans/auth --yes",
    ]);
    expect![[r#"
        init --dry-run
            {v number, lane text, made [text], dry_run bool}
        init
            {v number, lane text, made [text], dry_run bool}
        list
            {v number, total number, memories []}
        consolidate prepare
            {v number, session null, tasks []}
        why
            {v number, line null}
        create decision --title 'Use JWT' --tag auth
            {v number, receipt number, at text, dry_run bool, outcomes [{did text, address text, path text, title text}], notices [text]}
        create notes/plans/auth --tag auth --text 'The plan for [[src/auth.py#L3]] depends on [[decision/use-jwt]].'
            {v number, receipt number, at text, dry_run bool, outcomes [{did text, address text, path text, title text}]}
        create notes/first --tag auth --text 'Restart the worker after every deploy, or it keeps old code.'
            {v number, receipt number, at text, dry_run bool, outcomes [{did text, address text, path text, title text}]}
        create notes/second --tag auth --text 'Restart the worker after every deploy, or it keeps old code.'
            {v number, receipt number, at text, dry_run bool, outcomes [{did text, address text, path text, title text}], notices [text]}
        append notes/first 'Twice.' --dry-run
            {v number, receipt null, at text, dry_run bool, outcomes [{did text, address text, path text, title text}]}
        update use-jwt --set 'title=Use PASETO tokens'
            {v number, receipt number, at text, dry_run bool, outcomes [{did text, address text, path text, title text, renamed_from text}]}
        retire use-paseto-tokens --reason Old --dry-run
            {v number, receipt null, at text, dry_run bool, outcomes [{did text, address text, path text, title text}]}
        pin use-paseto-tokens
            {v number, receipt number, at text, dry_run bool, outcomes [{did text, address text, path text, title text}]}
        list -n 1
            {v number, total number, memories [{address text, path text, category text, title text, tags [text], status text, pinned bool, created text, updated text, times_updated number}]}
        show use-paseto-tokens
            {v number, address text, path text, md5 text, blake3 text, pinned bool, problems [], memory {schema_version text, category text, id text, title text, created_at text, updated_at text, tags [text], content {status text, context text, decision text, rationale [text]}, related_files [text], record_status text, changes [{date text, summary text, field text, old_value text, new_value text}], times_updated number}}
        show notes/plans/auth
            {v number, address text, path text, md5 text, blake3 text, pinned bool, problems [], memory {title text, type text, status text, tags [text], created_at text, updated_at null, frontmatter {}, content text}}
        search 'paseto tokens' --explain
            {v number, query text, total number, hits [{address text, path text, lines [number], title text, category text, status text, tags [text], passage text, same [], relevance number, reasons [text], reminds bool, score number, explain [{signal text, points number, matched [text]}]}]}
        search 'restart the worker' --passages
            {v number, query text, total number, hits [{address text, path text, lines [number], title text, category text, status text, tags [text], passage text, same [], relevance number, reasons [text], reminds bool, score number, explain [{signal text, points number, matched [text]}]}]}
        candidate decision --new-info 'we use paseto tokens now'
            {v number, candidate {path text, title text, tags [text], excerpt {title text, record_status text, tags [text], last_change_summary text, key_fields {context text, decision text, rationale text}}}, lifecycle_event null, delete_allowed bool, pre_action null, structural_cud text, vetoes [], hints [text], vetoes_by_action {DELETE [text]}}
        candidate decision --new-info 'the weather is fine'
            {v number, candidate null, lifecycle_event null, delete_allowed bool, pre_action text, structural_cud text, vetoes [], hints [], vetoes_by_action {}}
        links src/auth.py
            {v number, target text, former [], links [{address text, path text, title text, status text, edge text, target text, anchor null, context text}]}
        related notes/plans/auth
            {v number, address text, related [{address text, points number, reasons [{reason text, edge text, context text}]}]}
        graph
            {v number, nodes [{id text, sort text, title text, category text, status text}], edges [{from text, to text, edge text, anchor null, context text}]}
        duplicates
            {v number, threshold number, groups [{cluster_id number, score number, reason text, memory_count number, memories [{id text, file_path text, preview text}], merge text}]}
        merge notes/first notes/second --into notes/both --dry-run
            {v number, receipt null, at text, dry_run bool, outcomes [{did text, address text, path text, title text}]}
        notes move --to user --dry-run
            {v number, from text, to text, files [text], dry_run bool}
        audit --deep
            {v number, head null, tokens number, distribution {fresh number, aging number, review number, stale number}, memories [{address text, kind text, title text, path text, score number, band text, tokens number, age {score number, days number, half_life_days number, source text, since text}, claim_score number, reasons [], claims [{kind text, text text, lines [number], verdict text, moved_to null, evidence {why text, unchecked bool}}]}]}
        audit --all-projects
            {v number, head null, tokens number, distribution {fresh number, aging number, review number, stale number}, memories [{project text, address text, kind text, title text, path text, score number, band text, tokens number, age {score number, days number, half_life_days number, source text, since text}, claim_score number, reasons [], claims [{kind text, text text, lines [number], verdict text, moved_to null, evidence {why text, unchecked bool}}]}]}
        prune
            {v number, memories []}
        dashboard
            {v number, memories number, distribution {fresh number, aging number, review number, stale number}, tokens {loaded number, on_demand number, lost number, lost_entries number}, projects [{name text, root text, folder null, memories number, distribution {fresh number, aging number, review number, stale number}, tokens {loaded number, on_demand number, lost number, lost_entries number}, oldest_days number}], agents [], orphans [], worst [{project text, address text, kind text, title text, path text, score number, band text, tokens number, age {score number, days number, half_life_days number, source text, since text}, claim_score number, reasons [], claims [{kind text, text text, lines [number], verdict text, moved_to null, evidence {why text, unchecked bool}}]}], unreadable []}
        check
            {v number, touched number, broken [], unchecked text}
        confirm notes/first --because read
            {v number, receipt number, at text, dry_run bool, outcomes [{did text, address text, path text, title text}]}
        log -n 1
            {v number, total number, changes [{number number, lane text, at text, because text, outcome text, undone bool, undoes null, files [text]}]}
        log --verify
            {v number, holds bool, faults []}
        undo --dry-run
            {v number, would_undo number, lane text, because text}
        undo
            {v number, receipt number, at text, dry_run bool, outcomes []}
        status
            {v number, project text, categories {session_summary {active number, retired number, archived number}, decision {active number, retired number, archived number}, runbook {active number, retired number, archived number}, constraint {active number, retired number, archived number}, tech_debt {active number, retired number, archived number}, preference {active number, retired number, archived number}}, notes {active number, retired number, archived number}, pinned number, inbox number, listing text, health text, attention [], held_back [], trusted [], folders [{path text, holds text}]}
        doctor
            {v number, findings [], notes []}
        reindex --dry-run
            {v number, listing_differs bool, dry_run bool}
        reindex
            {v number, listed number}
        gc
            {v number, receipt null, outcomes []}
        bench --dry-run
            {v number, fine bool, memories number, answerable number, unanswerable number, expectations number, files [], measures {hit@1 number, hit@5 number, mrr number, refused number, reminded number, silent number}, compared null, fell [], unmet [], wrong [], search_ms number, baseline bool, kept bool}
        config list
            {v number, settings [{key text, value number, file null}], problems [], held_back []}
        config get retrieval.max_inject
            {v number, setting {key text, value number, file text}}
        config set retrieval.max_inject 3
            {v number, key text, value number, file text}
        trust
            {v number, project text, repository text, held_back [], trusted []}
        model list
            {v number, built_in text, added null, fault null}
        setup
            {v number, found [{client text, found text, installed bool, hooks bool}]}
        setup codex --dry-run
            {v number, dry_run bool, clients [{client text, files [text], warnings [], left []}]}
        setup copilot --dry-run
            {v number, dry_run bool, clients [{client text, error text, hint text}]}
        forget notes/plans/auth --dry-run
            {v number, address text, dry_run bool, forgotten bool, receipt null, places [{place text, path text, did text, count number}], mentioned_by [], git [], git_staged bool, git_unknown null}
        forget notes/plans/auth --yes
            {v number, address text, dry_run bool, forgotten bool, receipt number, places [{place text, path text, did text, count number}], mentioned_by [], git [], git_staged bool, git_unknown null}
    "#]].assert_eq(&seen);
}

#[test]
fn reminders_are_explained_by_the_fields_that_machines_know() {
    let scratch = Scratch::with_jwt();
    scratch.lorelane(&format!("create decision --title 'Rotate JWT keys' --tag keys {DECISION}")).expect(0);
    scratch.lorelane("pin use-jwt").expect(0);
    scratch.hook("session-start", &[("source", Json::text("startup"))]).expect(0);
    let started = scratch.shapes(&["why"]);
    scratch.lorelane("config set retrieval.max_inject 1").expect(0);
    scratch.hook("prompt", &[("prompt", Json::text("how do we use jwt for auth?"))]).expect(0);
    let seen = started + &scratch.shapes(&["why last", "why use-jwt", "why rotate-jwt-keys"]);
    expect![[r#"
        why
            {v number, line {at text, client text, session text, event text, query text, tokens number, shown [{address text, because text, digest text}], left_out []}}
        why last
            {v number, line {at text, client text, session text, event text, query text, tokens number, shown [], left_out [{address text, score number, parts, relevance text, rule text}]}}
        why use-jwt
            {v number, address text, shown bool, rule text, since null, line {at text, client text, session text, event text, query text, tokens number, shown [], left_out [{address text, score number, parts, relevance text, rule text}]}}
        why rotate-jwt-keys
            {v number, address text, shown bool, rule text, since null, line {at text, client text, session text, event text, query text, tokens number, shown [], left_out [{address text, score number, parts, relevance text, rule text}]}}
    "#]].assert_eq(&seen);
}

#[test]
fn consolidation_prints_the_fields_that_machines_know() {
    let scratch = Scratch::with_jwt();
    let found = [
        (Category::Decision, "We decided to use jwt for auth"),
        (Category::Runbook, "Restart the worker: the queue hangs"),
    ];
    capture(&scratch, "s-1", &found);
    let prepared = scratch.shapes(&["consolidate prepare"]);
    let saved = r#"{"category": "runbook", "action": "CREATE", "verdict": "ADVISORY", "issues": ["short"], "draft":
        {"title": "Restart the worker", "tags": ["jobs"], "content": {"trigger": "The queue hangs", "symptoms": ["Silence"],
        "steps": ["Restart it"], "verification": "It moves"}}}"#;
    let answers = [
        saved,
        r#"{"category": "decision", "action": "CREATE", "verdict": "FAIL", "issues": ["wrong"], "draft": {}}"#,
        r#"{"category": "decision", "action": "NOOP", "reason": "It is known"}"#,
        r#"{"category": "decision", "action": "LOSE"}"#,
        r#"{"category": "constraint", "action": "NOOP", "reason": "It is known"}"#,
    ];
    let ends: String = answers
        .iter()
        .map(|answer| {
            let answer = format!(r#"{{"session": "s-1", "items": [{answer}]}}"#);
            let said = scratch.lorelane_with_input("consolidate commit - --dry-run --json", answer);
            let document = Json::parse(&said.out).unwrap_or_else(|why| panic!("{why}: {said:?}"));
            format!("{}\n", shape(&document))
        })
        .collect();
    expect![[r#"
        consolidate prepare
            {v number, session text, client text, parallel bool, waiting number, verification_model text, note text, tasks [{item number, category text, kind text, score number, description null, snippets [text], asked [], model text, context_file text, draft_file text, candidate {path text, title text, tags [text], excerpt {title text, record_status text, tags [text], last_change_summary text, key_fields {context text, decision text, rationale text}}, address text, revision text}, allowed [text], vetoes_by_action {DELETE [text]}, fields [{name text, kind text, required bool, max number}], answer {session text, item number, category text, action text, target text, revision text, draft {title text, tags [text], content {context text, decision text, rationale [text]}}, reason text, verdict text, issues []}}], commit text}
        {v number, dry_run bool, items [{session text, item number, category text, did text, address text, why text, receipt null, issues [text]}], open number}
        {v number, dry_run bool, items [{session text, item number, category text, did text, issues [text]}], open number}
        {v number, dry_run bool, items [{session text, item number, category text, did text, why text}], open number}
        {v number, dry_run bool, items [{session text, item null, category text, did text, faults [{field text, expected text, got text, fix text}]}], open number}
        {v number, dry_run bool, items [{session text, item null, category text, did text, why text, hint text}], open number}
    "#]].assert_eq(&format!("{prepared}{ends}"));
}

#[test]
fn a_batch_of_questions_is_answered_line_by_line() {
    let scratch = Scratch::with_jwt();
    let questions = "{\"id\": 1.50, \"query\": \"use jwt\"}\n{\"query\": 5}\n{\"id\": {\"a\": [\"é\"]}, \"query\": \"nothing\"}\n";
    let said = scratch.lorelane_with_input("search --batch -", questions).expect(1);
    expect![[r#"
        {"id": 1.50, "hits": [{"memory": "decision/use-jwt", "path": ".claude/memory/decisions/use-jwt.json", "lines": [12, 17], "score": 2490}]}
        {"line": 2, "error": "`query` is not a text"}
        {"id": {"a": ["é"]}, "hits": []}
    "#]].assert_eq(&said.out);
}

// What a record says is printed as it is written: another number, or another order, would be another record.
#[test]
fn a_record_is_shown_with_the_digits_and_the_order_of_its_file() {
    let scratch = Scratch::with_jwt();
    let text = scratch.read(USE_JWT).replace(
        "\"tags\"",
        "\"zeta\": [], \"confidence\": 0.50, \"alpha\": {\"é\": 1e3, \"b\": {}},\n  \"tags\"",
    );
    scratch.put(USE_JWT, text);
    let said = scratch.lorelane("show use-jwt --json").expect(0);
    expect![[r#"
        {
          "v": 1,
          "address": "decision/use-jwt",
          "path": ".claude/memory/decisions/use-jwt.json",
          "md5": "c6d8cf357499fea513e9e0f487c57a84",
          "blake3": "d9124b2bfdba36ae90f06ea64feef7bfbb4d7f3d69d09669bf111731ea091088",
          "pinned": false,
          "problems": [
            "zeta: Extra inputs are not permitted (got [])",
            "alpha: Extra inputs are not permitted (got {\"\\u00e9\": 1e3, \"b\": {}})"
          ],
          "memory": {
            "schema_version": "1.0",
            "category": "decision",
            "id": "use-jwt",
            "title": "Use JWT",
            "created_at": "2026-03-01T12:00:00Z",
            "updated_at": "2026-03-01T12:00:00Z",
            "zeta": [],
            "confidence": 0.50,
            "alpha": {
              "é": 1e3,
              "b": {}
            },
            "tags": [
              "auth"
            ],
            "content": {
              "status": "accepted",
              "context": "Slow",
              "decision": "Tokens",
              "rationale": [
                "Stateless"
              ]
            },
            "record_status": "active"
          }
        }
    "#]]
    .assert_eq(&said.out);
}
