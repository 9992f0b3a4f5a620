//! The rules of the working set. Numbers are those of the contract's sections 3 and 4.

use lorelane_core::working_set::{
    AdviceFacts, AdviceWeights, HotnessFactors, TokenBudget, advice_weight, decide,
};

// Section 3, number 2.
#[test]
fn c2_the_effective_budget_is_the_smaller_one() {
    for (max, reserved, effective, expected, disagrees) in [
        (28_000, None, None, 24_000, false),
        (28_000, Some(4_000), Some(24_000), 24_000, false),
        (28_000, Some(4_000), Some(28_000), 24_000, true),
        (28_000, Some(4_000), Some(10_000), 10_000, true),
        (7_000, None, None, 6_000, false),
        (0, None, None, 0, false),
        (100, Some(200), None, 0, false),
    ] {
        let budget = TokenBudget::new(max, reserved, effective);
        assert_eq!((budget.effective, budget.disagrees), (expected, disagrees), "{budget:?}");
    }
}

// Section 3, number 5.
#[test]
fn c5_advice_moves_a_priority_within_its_range() {
    for (priority, hot, cold, expected) in [
        (0.5, 0.0, 0.0, 0.5),
        (0.5, 1.0, 0.0, 0.7),
        (0.5, 0.0, 1.0, 0.2),
        (0.9, 1.0, 0.0, 1.0),
        (0.1, 0.0, 1.0, 0.0),
        (f64::NAN, 0.0, 0.0, 0.0),
    ] {
        let moved = AdviceWeights::default().effective_priority(priority, hot, cold);
        assert!((moved - expected).abs() < 1e-9, "{priority} {hot} {cold}: {moved}");
    }
}

// Section 3, number 23.
#[test]
fn c23_hotness_has_four_parts() {
    for (touches, in_set, hot, pinned, expected) in [
        (0, false, false, false, 0.0),
        (0, false, false, true, 0.2),
        (0, true, false, false, 0.2),
        (1, true, false, false, 0.3),
        (3, true, true, true, 1.0),
        (u32::MAX, true, true, true, 1.0),
    ] {
        let hotness = HotnessFactors::new(touches, in_set, hot, pinned).hotness();
        assert!((hotness - expected).abs() < 1e-9, "{touches} {in_set} {hot} {pinned}: {hotness}");
    }
}

// Section 3, number 27.
#[test]
fn c27_advice_loses_its_weight_after_ten_turns() {
    assert_eq!([0, 9, 10, u32::MAX].map(advice_weight), [1.0, 1.0, 0.0, 0.0]);
}

// Section 3, numbers 27 and 28; section 4, the first and the third check (without the log).
#[test]
fn c28_every_reason_code_has_its_case() {
    let cold = AdviceFacts { cold_age: Some(1), ..AdviceFacts::default() };
    let hot = AdviceFacts { hot_age: Some(1), ..AdviceFacts::default() };
    for (facts, expected) in [
        (AdviceFacts::default(), None),
        (cold, Some(("honored", None))),
        (hot, Some(("honored", None))),
        (AdviceFacts { is_protected: true, ..cold }, Some(("overridden", Some("protected")))),
        (AdviceFacts { is_pinned: true, ..cold }, Some(("overridden", Some("pinned")))),
        (AdviceFacts { is_pinned: true, ..hot }, Some(("honored", None))),
        (AdviceFacts { hot_age: Some(1), ..cold }, Some(("deferred", Some("conflict")))),
        // Spec, section 3, no. 31.
        (AdviceFacts { lacks_postmortem: true, ..cold }, Some(("deferred", Some("no_postmortem")))),
        (AdviceFacts { hot_age: Some(10), ..cold }, Some(("honored", None))),
        (AdviceFacts { cold_age: Some(10), ..cold }, Some(("deferred", Some("stale")))),
        (AdviceFacts { hot_age: Some(10), ..hot }, Some(("deferred", Some("stale")))),
        (AdviceFacts { touched_ago: Some(2), ..cold }, Some(("deferred", Some("touched_recently")))),
        (AdviceFacts { touched_ago: Some(3), ..cold }, Some(("honored", None))),
        (AdviceFacts { has_unsaved_changes: true, ..cold }, Some(("deferred", Some("unsaved_changes")))),
        (AdviceFacts { lacks_summary: true, ..cold }, Some(("deferred", Some("pending_summary")))),
        (AdviceFacts { mentioned_by_user: true, ..cold }, Some(("promoted_to_hot", Some("user_mention")))),
        (
            AdviceFacts { mentioned_by_user: true, ..AdviceFacts::default() },
            Some(("promoted_to_hot", Some("user_mention"))),
        ),
        (AdviceFacts { recent_touches: 3, ..cold }, Some(("promoted_to_hot", Some("touches")))),
        (
            AdviceFacts { recent_touches: 3, ..AdviceFacts::default() },
            Some(("promoted_to_hot", Some("touches"))),
        ),
    ] {
        let decided = decide(&facts).map(|decision| (decision.action_taken(), decision.reason()));
        assert_eq!(decided, expected, "{facts:?}");
    }
}
