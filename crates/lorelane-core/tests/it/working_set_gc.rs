//! The rules of garbage collection. Numbers are those of the contract's sections 3 and 4.

use std::collections::HashSet;

use lorelane_core::time::Timestamp;
use lorelane_core::working_set::{
    ColdAction, FailedAttempt, FreshSummary, GC_COOLING_TURNS, GcAction, GcActionKind, GcFile, GcPlan,
    GcReport, GcRequest, GcTrigger, KeepRule, TokenBudget, UNTOUCHED_TURNS, due_trigger, plan_gc,
};

const TURN: u32 = 40;

/// A file that may leave: its last touch is ten turns ago.
fn file(path: &str, tokens: u64) -> GcFile {
    GcFile {
        path: path.to_owned(),
        tokens,
        priority: 0.5,
        touches: 1,
        last_touched: Some(TURN - 10),
        entered: TURN - 10,
        is_in_scope: true,
        ..GcFile::default()
    }
}

fn summary(path: &str, tokens: u64) -> Option<FreshSummary> {
    Some(FreshSummary { path: path.to_owned(), tokens })
}

fn budget(effective: u64) -> TokenBudget {
    TokenBudget::new(effective, Some(0), None)
}

/// Collects with a budget of 1,000 tokens.
fn collect(files: &[GcFile], trigger: GcTrigger, target_tokens: Option<u64>) -> GcPlan {
    plan_gc(&GcRequest {
        files,
        budget: &budget(1000),
        used: files.iter().map(|file| file.tokens).sum(),
        turn: TURN,
        trigger,
        target_tokens,
        untouched_turns: UNTOUCHED_TURNS,
    })
}

/// What happened to each file, one line each.
fn outcome(plan: &GcPlan) -> Vec<String> {
    let actions = plan.actions.iter().map(|action| match &action.summary {
        Some(summary) => format!("{} {} {summary}", action.path, action.kind.name()),
        None => format!("{} {}", action.path, action.kind.name()),
    });
    let deferred =
        plan.deferred.iter().map(|deferral| format!("{} {}", deferral.path, deferral.reason.code()));
    actions.chain(deferred).collect()
}

// Section 3, no. 15.
#[test]
fn c15_triggers_have_one_name_each() {
    let names = GcTrigger::ALL.map(GcTrigger::name);
    assert_eq!(names.iter().collect::<HashSet<_>>().len(), names.len());
    for trigger in GcTrigger::ALL {
        assert_eq!(GcTrigger::parse(trigger.name()), Some(trigger));
    }
    assert_eq!(GcTrigger::parse("budget"), Some(GcTrigger::BudgetPressure));
    assert_eq!(GcTrigger::parse("Budget"), None);
}

// Section 3, no. 14.
#[test]
fn c14_the_report_counts_what_it_lists() {
    let files = [
        GcFile {
            cold: Some(ColdAction::SummarizeThenEvict),
            summary: summary("summaries/a.md", 40),
            ..file("a.json", 300)
        },
        file("b.log", 300),
        GcFile {
            cold: Some(ColdAction::DeleteFromWorkingSet),
            keep: Some(KeepRule::Pinned),
            ..file("c.md", 300)
        },
    ];
    let plan = collect(&files, GcTrigger::BudgetPressure, Some(400));
    let report = GcReport::new(&plan, Timestamp(0), "chars/4");
    let json = serde_json::to_value(&report).expect("a report is plain data");
    assert_eq!(
        json,
        serde_json::json!({
            "triggered_by": "budget_pressure",
            "timestamp": "1970-01-01T00:00:00Z",
            "counter": "chars/4",
            "actions": [
                {
                    "path": "a.json",
                    "action": "summarized",
                    "summary": "summaries/a.md",
                    "reason": "advised: summarize_then_evict",
                },
                {"path": "b.log", "action": "evicted", "summary": null, "reason": "untouched for 10 turns"},
            ],
            "deferred": [{"path": "c.md", "reason": "pinned"}],
            "tokens_before": 900,
            "tokens_after": 300,
            "tokens_freed": 600,
            "files_affected": 2,
        })
    );
}

// Section 3, no. 16: collecting down to a target, in a scope.
#[test]
fn c16_a_target_and_a_scope_narrow_a_collection() {
    let files = ["a", "b", "c", "d"].map(|path| GcFile { is_in_scope: path != "a", ..file(path, 100) });
    for (target, expected) in [
        (None, vec![]),
        (Some(400), vec![]),
        (Some(399), vec!["b evicted"]),
        (Some(250), vec!["b evicted", "c evicted"]),
        (Some(0), vec!["b evicted", "c evicted", "d evicted"]),
    ] {
        let plan = collect(&files, GcTrigger::Explicit, target);
        assert_eq!(outcome(&plan), expected, "{target:?}");
        assert_eq!(plan.tokens_after, 400 - 100 * expected.len() as u64, "{target:?}");
    }
}

// Section 3, no. 25.
#[test]
fn c25_only_files_untouched_for_five_turns_leave() {
    for (touched, entered, expected) in [
        (Some(TURN - 5), 0, 1),
        (Some(TURN - 4), 0, 0),
        (None, TURN - 5, 1),
        (None, TURN - 4, 0),
        // A file that came in without a touch is as young as its entry.
        (Some(1), TURN - 4, 0),
        // The clock of turns went back.
        (Some(TURN + 3), 0, 0),
    ] {
        let files = [GcFile { last_touched: touched, entered, ..file("a", 1000) }];
        let plan = collect(&files, GcTrigger::BudgetPressure, None);
        assert_eq!(plan.actions.len(), expected, "{touched:?} {entered}");
    }
    // Whatever the number of turns, what was touched in the last two stays.
    let files = [file("old", 500), GcFile { last_touched: Some(TURN - 2), ..file("new", 500) }];
    let request = GcRequest {
        files: &files,
        budget: &budget(1000),
        used: 1000,
        turn: TURN,
        trigger: GcTrigger::Explicit,
        target_tokens: Some(0),
        untouched_turns: 0,
    };
    assert_eq!(outcome(&plan_gc(&request)), ["old evicted"]);
}

// Section 3, no. 26.
#[test]
fn c26_pressure_starts_above_eighty_and_stops_at_seventy() {
    for (count, trigger, expected_after) in [
        (80, GcTrigger::BudgetPressure, 800),
        (81, GcTrigger::BudgetPressure, 700),
        (85, GcTrigger::Interval, 700),
        (75, GcTrigger::Interval, 750),
        (75, GcTrigger::SessionLength, 750),
        (75, GcTrigger::Explicit, 700),
        (75, GcTrigger::ModelRequest, 700),
        (75, GcTrigger::PhaseEnd, 700),
        (75, GcTrigger::SessionEnd, 700),
        (70, GcTrigger::Explicit, 700),
        (200, GcTrigger::BudgetPressure, 700),
    ] {
        let files: Vec<GcFile> = (0..count).map(|at| file(&format!("{at:03}"), 10)).collect();
        let plan = collect(&files, trigger, None);
        assert_eq!(plan.tokens_after, expected_after, "{count} {trigger:?}");
        assert_eq!(plan.tokens_before - plan.tokens_after, 10 * plan.actions.len() as u64);
    }
}

// Section 3, no. 26, and the times of the issue.
#[test]
fn c26_a_trigger_is_due_by_pressure_time_or_turns() {
    for (effective, used, minutes, turns, expected) in [
        (1000, 800, 59, 59, None),
        (1000, 801, 0, 0, Some(GcTrigger::BudgetPressure)),
        (1000, 801, 60, 60, Some(GcTrigger::BudgetPressure)),
        (1000, 800, 60, 60, Some(GcTrigger::Interval)),
        (1000, 0, 0, 60, Some(GcTrigger::SessionLength)),
        (0, 0, 0, 0, None),
        (0, 1, 0, 0, Some(GcTrigger::BudgetPressure)),
        (u64::MAX, u64::MAX, 0, 0, None),
    ] {
        let due = due_trigger(&budget(effective), used, minutes, turns);
        assert_eq!(due, expected, "{effective} {used} {minutes} {turns}");
    }
}

// Section 3, no. 26: at 90 % a collection does not wait for summaries.
#[test]
fn c26_at_ninety_percent_nothing_waits_for_a_summary() {
    let long = |path: &str| GcFile { wants_summary: true, ..file(path, 100) };
    let advised = |path: &str| GcFile { cold: Some(ColdAction::SummarizeThenEvict), ..long(path) };
    let compressed = |path: &str| GcFile { cold: Some(ColdAction::Compress), ..long(path) };
    for (rest, expected) in [
        (599, vec!["a pending_summary", "b pending_summary", "c pending_summary"]),
        (600, vec!["a evicted", "b evicted"]),
        (700, vec!["a evicted", "b evicted", "c evicted"]),
    ] {
        let busy = GcFile { last_touched: Some(TURN), ..file("busy", rest) };
        let plan =
            collect(&[advised("a"), compressed("b"), long("c"), busy], GcTrigger::BudgetPressure, None);
        assert_eq!(outcome(&plan), expected, "{rest}");
    }
    let plan = collect(&[advised("a"), file("b", 900)], GcTrigger::BudgetPressure, None);
    let causes: Vec<String> = plan.actions.iter().map(|action| action.cause.to_string()).collect();
    assert_eq!(
        causes,
        [
            "advised: summarize_then_evict; not summarized, the budget is at 90 % or more",
            "untouched for 10 turns",
        ]
    );
}

// Section 3, no. 28; section 4: a pin survives all pressure, and advice against a protected file is overridden.
#[test]
fn c28_protected_and_pinned_files_never_leave() {
    for (keep, code) in [(KeepRule::Protected, "protected"), (KeepRule::Pinned, "pinned")] {
        for cold in [None, Some(ColdAction::DeleteFromWorkingSet), Some(ColdAction::Archive)] {
            for trigger in GcTrigger::ALL {
                let kept =
                    GcFile { keep: Some(keep), cold, is_in_session_folder: true, ..file("kept", 5000) };
                let plan = collect(&[kept, file("other", 10)], trigger, Some(0));
                let mut expected = vec!["other evicted".to_owned()];
                expected.extend(cold.map(|_| format!("kept {code}")));
                assert_eq!(outcome(&plan), expected, "{keep:?} {cold:?} {trigger:?}");
            }
        }
    }
}

// Section 3, no. 28 and 30 to 32: what becomes of advice.
#[test]
fn c28_advice_is_carried_out_or_deferred_with_a_reason() {
    let cold = |action: ColdAction| GcFile { cold: Some(action), ..file("f", 100) };
    let inside = |action: ColdAction| GcFile { is_in_session_folder: true, ..cold(action) };
    let with_summary = |file: GcFile, tokens: u64| GcFile { summary: summary("s.md", tokens), ..file };
    let append_only = |file: GcFile| GcFile { is_append_only: true, ..file };
    let failed = |attempt: FailedAttempt, file: GcFile| GcFile { failed_attempt: Some(attempt), ..file };
    let (delete, summarize) = (ColdAction::DeleteFromWorkingSet, ColdAction::SummarizeThenEvict);
    let (archive, compress) = (ColdAction::Archive, ColdAction::Compress);
    for (file, expected, after) in [
        (cold(delete), "f evicted", 0),
        (with_summary(cold(delete), 10), "f evicted", 0),
        (cold(summarize), "f pending_summary", 100),
        (with_summary(cold(summarize), 10), "f summarized s.md", 0),
        // No. 30: a file of the project just leaves the set.
        (cold(archive), "f evicted", 0),
        (inside(archive), "f archived", 0),
        (append_only(inside(archive)), "f append_only", 100),
        // No. 31.
        (failed(FailedAttempt::WithoutPostmortem, inside(archive)), "f no_postmortem", 100),
        (failed(FailedAttempt::WithPostmortem, inside(archive)), "f archived", 0),
        (failed(FailedAttempt::WithoutPostmortem, inside(delete)), "f evicted", 0),
        // No. 32.
        (cold(compress), "f pending_summary", 100),
        (with_summary(cold(compress), 10), "f compressed s.md", 10),
        (with_summary(cold(compress), 100), "f not_smaller", 100),
        (with_summary(append_only(inside(compress)), 10), "f append_only", 100),
        (GcFile { last_touched: Some(TURN - 2), ..cold(delete) }, "f touched_recently", 100),
        (GcFile { last_touched: Some(TURN - 3), ..cold(delete) }, "f evicted", 0),
    ] {
        // Nothing presses, so only advice counts.
        for trigger in [GcTrigger::Interval, GcTrigger::Explicit] {
            let plan = collect(std::slice::from_ref(&file), trigger, None);
            assert_eq!(outcome(&plan), [expected], "{file:?}");
            assert_eq!((plan.tokens_before, plan.tokens_after), (100, after), "{file:?}");
        }
    }
}

// Section 3, no. 32: what cannot be compressed can still leave.
#[test]
fn c32_a_refused_form_does_not_keep_a_file_in_a_full_set() {
    let log = GcFile { cold: Some(ColdAction::Compress), is_append_only: true, ..file("log", 850) };
    let plan = collect(&[log], GcTrigger::BudgetPressure, None);
    assert_eq!(outcome(&plan), ["log evicted"]);
}

// Section 3, no. 32: the summary of a compressed file is in the set, once.
#[test]
fn c32_a_summary_that_stands_for_files_is_counted_once_and_stays() {
    let part = |path: &str| GcFile {
        cold: Some(ColdAction::Compress),
        summary: summary("both.md", 50),
        ..file(path, 400)
    };
    let plan = collect(&[part("a"), part("b"), file("c", 10)], GcTrigger::BudgetPressure, Some(0));
    assert_eq!(outcome(&plan), ["a compressed both.md", "b compressed both.md", "c evicted"]);
    assert_eq!(plan.tokens_after, 50);

    let advised = GcFile { cold: Some(ColdAction::DeleteFromWorkingSet), ..file("both.md", 50) };
    let plan = collect(&[part("a"), advised], GcTrigger::BudgetPressure, Some(0));
    assert_eq!(outcome(&plan), ["a compressed both.md", "both.md stands_in"]);
    assert_eq!(plan.tokens_after, 50);
}

// The issue: no file is evicted twice within ten turns.
#[test]
fn a_file_that_came_back_is_left_alone_for_ten_turns() {
    for (ago, expected) in [(GC_COOLING_TURNS, "f returned_recently"), (GC_COOLING_TURNS + 1, "f evicted")] {
        let back = GcFile { last_evicted: Some(TURN - ago), entered: TURN - 6, ..file("f", 1000) };
        assert_eq!(outcome(&collect(&[back], GcTrigger::BudgetPressure, None)), [expected], "{ago}");
    }
}

#[test]
fn what_is_worth_least_leaves_first() {
    for (first, second) in [
        // Read longer ago.
        (GcFile { last_touched: Some(TURN - 20), entered: 0, ..file("z", 500) }, file("a", 500)),
        // Read once.
        (file("z", 500), GcFile { touches: 6, ..file("a", 500) }),
        // Larger: one file makes the room of several.
        (file("z", 600), file("a", 400)),
        // Of lower priority.
        (GcFile { priority: 0.2, ..file("z", 500) }, file("a", 500)),
        (GcFile { priority: f64::NAN, ..file("z", 500) }, file("a", 500)),
        // All the same: by path.
        (file("a", 500), file("z", 500)),
    ] {
        let expected = format!("{} evicted", first.path);
        for files in [[first.clone(), second.clone()], [second, first]] {
            assert_eq!(
                outcome(&collect(&files, GcTrigger::BudgetPressure, None)),
                std::slice::from_ref(&expected)
            );
        }
    }
}

#[test]
fn a_fresh_summary_is_kept_when_its_file_leaves() {
    let files = [GcFile { summary: summary("s.md", 20), wants_summary: true, ..file("f", 1000) }];
    let plan = collect(&files, GcTrigger::BudgetPressure, None);
    let [GcAction { kind: GcActionKind::Summarized, freed: 1000, .. }] = plan.actions[..] else {
        panic!("{plan:?}");
    };
}

// Section 4: the same input gives the same output, and no path is in a plan twice.
#[test]
fn a_plan_of_ten_thousand_files_names_each_path_once() {
    let files: Vec<GcFile> = (0..10_000_u32)
        .map(|at| GcFile {
            tokens: u64::from(at % 97),
            touches: at % 11,
            last_touched: Some(at % TURN),
            last_evicted: (at % 13 == 0).then_some(at % TURN),
            cold: (at % 7 == 0).then(|| ColdAction::ALL[at as usize % 4]),
            summary: (at % 5 == 0).then(|| summary(&format!("s/{}.md", at % 400), 30)).flatten(),
            wants_summary: at % 3 == 0,
            is_append_only: at % 17 == 0,
            is_in_session_folder: at % 2 == 0,
            keep: (at % 19 == 0).then_some(KeepRule::Pinned),
            ..file(&format!("src/{at:05}.rs"), 0)
        })
        .collect();
    for trigger in GcTrigger::ALL {
        let plan = collect(&files, trigger, None);
        assert_eq!(plan, collect(&files, trigger, None));
        let named = plan.actions.iter().map(|action| &action.path);
        let named: Vec<&String> = named.chain(plan.deferred.iter().map(|deferral| &deferral.path)).collect();
        assert_eq!(named.iter().collect::<HashSet<_>>().len(), named.len(), "{trigger:?}");
        let freed: u64 = plan.actions.iter().map(|action| action.freed).sum();
        assert_eq!(plan.tokens_before - plan.tokens_after, freed);
        assert!(plan.actions.len() > 1000, "{}", plan.actions.len());
    }
}
