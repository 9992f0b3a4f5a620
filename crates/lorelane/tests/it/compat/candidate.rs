//! Every text of `memory_candidate`.

use super::{Scratch, USE_JWT, decision, revised, runbook};
use expect_test::expect;

const FIX_BUILD: &str = ".claude/memory/runbooks/fix-build.json";

fn ask(scratch: &Scratch, category: &str, new_info: &str, rest: &[&str]) -> String {
    let arguments = ["memory_candidate", "--category", category, "--new-info", new_info];
    scratch.run(&[&arguments, rest].concat())
}

#[test]
fn the_verdict_says_what_may_be_done() {
    let scratch = Scratch::with_decision();
    let long = revised(&decision("use-jwt", "Use JWT"))
        .replace("Use tokens", "Öffne nur signierte Tokens")
        .replace(r#"["stateless"]"#, r#"["stateless", "fast"]"#);
    scratch.update(USE_JWT, &long);
    expect![[r#"
        {
          "candidate": {
            "path": ".claude/memory/decisions/use-jwt.json",
            "title": "Use JWT",
            "tags": [
              "auth"
            ],
            "excerpt": {
              "title": "Use JWT",
              "record_status": "active",
              "tags": [
                "auth"
              ],
              "last_change_summary": "content.decision changed",
              "key_fields": {
                "context": "Sessions were slow",
                "decision": "\u00d6ffne nur signierte Tokens",
                "rationale": "stateless; fast"
              }
            }
          },
          "lifecycle_event": null,
          "delete_allowed": false,
          "pre_action": null,
          "structural_cud": "UPDATE",
          "vetoes": [],
          "hints": [
            "1 candidate found (score=3)"
          ],
          "vetoes_by_action": {
            "DELETE": [
              "Cannot DELETE decision (triage-initiated)"
            ]
          }
        }
    "#]]
    .assert_eq(&ask(&scratch, "decision", "the auth tokens", &[]));
}

#[test]
fn an_excerpt_is_cut() {
    let scratch = Scratch::new();
    scratch.put(USE_JWT, decision("use-jwt", "Use JWT").replace("Sessions were slow", &"é".repeat(201)));
    let verdict = scratch.candidate("decision", "auth");
    let context = verdict.at("candidate.excerpt.key_fields.context").unwrap().as_text().unwrap();
    assert_eq!(context, "é".repeat(200));
    let last = verdict.at("candidate.excerpt.last_change_summary").unwrap().as_text().unwrap();
    assert_eq!(last, "Initial creation");
}

#[test]
fn what_happened_to_the_subject_decides_with_it() {
    let scratch = Scratch::with_decision();
    scratch.create("runbook", FIX_BUILD, &runbook("fix-build", "Fix the build"));
    let mut seen = String::new();
    for (category, new_info, event) in [
        ("decision", "nothing alike", None),
        ("decision", "nothing alike", Some("resolved")),
        ("decision", "auth", Some("superseded")),
        ("runbook", "auth", Some("removed")),
        ("runbook", "build fixed", None),
    ] {
        let rest: Vec<&str> = event.iter().flat_map(|event| ["--lifecycle-event", *event]).collect();
        let verdict = lorelane_core::json::Json::parse(&ask(&scratch, category, new_info, &rest)).unwrap();
        let line = |key: &str| verdict.at(key).unwrap().render(lorelane_core::json::JsonFormat::LINE);
        seen.push_str(&format!("{category}, {new_info:?}, {event:?}\n"));
        let keys = ["lifecycle_event", "delete_allowed", "pre_action", "structural_cud", "vetoes", "hints"];
        keys.iter().for_each(|key| seen.push_str(&format!("  {key}: {}\n", line(key))));
    }
    expect![[r#"
        decision, "nothing alike", None
          lifecycle_event: null
          delete_allowed: false
          pre_action: "CREATE"
          structural_cud: "CREATE"
          vetoes: []
          hints: []
        decision, "nothing alike", Some("resolved")
          lifecycle_event: "resolved"
          delete_allowed: false
          pre_action: "NOOP"
          structural_cud: "NOOP"
          vetoes: []
          hints: ["lifecycle_event=resolved with no matching candidate; NOOP"]
        decision, "auth", Some("superseded")
          lifecycle_event: "superseded"
          delete_allowed: false
          pre_action: null
          structural_cud: "UPDATE"
          vetoes: []
          hints: ["1 candidate found (score=3)", "lifecycle_event=superseded present but DELETE disallowed for decision; consider UPDATE"]
        runbook, "auth", Some("removed")
          lifecycle_event: "removed"
          delete_allowed: true
          pre_action: null
          structural_cud: "UPDATE_OR_DELETE"
          vetoes: []
          hints: ["1 candidate found (score=3)", "lifecycle_event=removed suggests DELETE if eligible"]
        runbook, "build fixed", None
          lifecycle_event: null
          delete_allowed: true
          pre_action: "CREATE"
          structural_cud: "CREATE"
          vetoes: []
          hints: []
    "#]].assert_eq(&seen);
}

#[test]
fn no_store_is_an_error_and_no_listing_is_none() {
    let scratch = Scratch::new();
    expect![[r#"
        2> ERROR: index.md not found at .claude/memory/index.md
        exit 1
    "#]]
    .assert_eq(&ask(&scratch, "decision", "auth", &[]));
    expect![[r#"
        2> ERROR: index.md not found at elsewhere/memory/index.md
        exit 1
    "#]]
    .assert_eq(&ask(&scratch, "decision", "auth", &["--root", "elsewhere/memory/"]));
    scratch.put(USE_JWT, decision("use-jwt", "Use JWT"));
    assert!(!scratch.project().join(".claude/memory/index.md").exists());
    assert_eq!(
        scratch.candidate("decision", "auth").at("candidate.title").unwrap().as_text(),
        Some("Use JWT")
    );
}
