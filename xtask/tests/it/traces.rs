//! The eviction policy on a few seeded sessions. `cargo xtask traces` replays 200.

use xtask::traces::generate::generate;
use xtask::traces::replay::{EvictionPolicy, ReplayCounts};
use xtask::traces::{compare, is_within_limits, percent};

/// None of the seeds that the order of eviction was chosen on.
const SEED: u64 = 1;

fn counts(policy: EvictionPolicy) -> ReplayCounts {
    let comparison = compare(SEED, 20);
    comparison.into_iter().find(|(known, _)| *known == policy).expect("every policy is compared").1
}

// Spec, section 3, nos. 25 and 26.
#[test]
fn files_that_are_read_again_were_seldom_evicted_just_before() {
    let counts = counts(EvictionPolicy::WorkingSet);
    assert!(is_within_limits(&counts), "{counts:?}");
    // The sessions are long, and the budget is tight.
    assert!(counts.turns > 1200 && counts.rereads > 2000 && counts.evictions > 1000, "{counts:?}");
    assert!(counts.tokens_freed > 1_000_000, "{counts:?}");
    // A policy that keeps everything would also be within the limits of evictions.
    assert!(percent(counts.turns_above_start, counts.turns) < 10.0, "{counts:?}");
    assert!(percent(counts.turns_above_budget, counts.turns) < 1.0, "{counts:?}");
}

#[test]
fn plain_policies_are_seen_to_evict_files_again_and_again() {
    let ours = counts(EvictionPolicy::WorkingSet);
    for policy in [EvictionPolicy::Lru, EvictionPolicy::AgedLfu] {
        let counts = counts(policy);
        assert!(counts.evicted_twice > 0 && !is_within_limits(&counts), "{policy:?}: {counts:?}");
        assert!(counts.evicted_soon_before > ours.evicted_soon_before, "{policy:?}: {counts:?}");
        assert_eq!((counts.turns, counts.rereads), (ours.turns, ours.rereads), "{policy:?}");
    }
}

#[test]
fn a_seed_gives_the_same_session_again() {
    let (first, second) = (generate(7), generate(7));
    let touched = |trace: &xtask::traces::generate::Trace| -> Vec<Vec<usize>> {
        trace.turns.iter().map(|turn| turn.touched.clone()).collect()
    };
    assert_eq!(touched(&first), touched(&second));
    assert_ne!(touched(&first), touched(&generate(8)));
    assert!(first.turns.iter().flat_map(|turn| &turn.touched).all(|&file| file < first.files.len()));
}
