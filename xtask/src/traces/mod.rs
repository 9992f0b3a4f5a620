//! `traces`: replays seeded sessions with the eviction policy and with two plain ones, and compares them.
//!
//! The limits are those of the working set: of the files that a turn reads again, at most 5 % were evicted in the five
//! turns before, and no file is evicted twice within ten turns.

pub mod generate;
pub mod replay;

use lorelane_core::working_set::TokenBudget;

use crate::args::Args;
use crate::failure::Failure;
use generate::generate;
use replay::{EvictionPolicy, ReplayCounts, replay};

/// What an agent's context may have, with 4,000 tokens for the answer.
const MAX_TOKENS: u64 = 28_000;
const MISSED_MAX_PERCENT: f64 = 5.0;

pub fn command(mut args: Args) -> Result<bool, Failure> {
    let seed: u64 = args.option("--seed")?.unwrap_or(1);
    let traces: u64 = args.option("--traces")?.unwrap_or(200);
    args.finish()?;
    let comparison = compare(seed, traces);
    print!("{}", table(&comparison));
    // The product's policy comes first.
    Ok(is_within_limits(&comparison[0].1))
}

/// Replays the traces of consecutive seeds with every policy.
pub fn compare(seed: u64, traces: u64) -> Vec<(EvictionPolicy, ReplayCounts)> {
    let budget = TokenBudget::new(MAX_TOKENS, None, None);
    let mut comparison = EvictionPolicy::ALL.map(|policy| (policy, ReplayCounts::default()));
    for seed in seed..seed.saturating_add(traces) {
        let trace = generate(seed);
        for (policy, counts) in &mut comparison {
            counts.add(&replay(&trace, &budget, *policy));
        }
    }
    comparison.to_vec()
}

/// Whether the limits are met. What a full context leaves out counts as if it had been evicted, so that a policy gains
/// nothing by keeping everything; and traces without any eviction show nothing.
pub fn is_within_limits(counts: &ReplayCounts) -> bool {
    let is_measured = counts.rereads > 0 && counts.evictions > 0;
    is_measured && counts.missed_percent() <= MISSED_MAX_PERCENT && counts.evicted_twice == 0
}

pub fn percent(part: u64, whole: u64) -> f64 {
    100.0 * part as f64 / whole.max(1) as f64
}

fn table(comparison: &[(EvictionPolicy, ReplayCounts)]) -> String {
    type Cell = fn(&ReplayCounts) -> String;
    let rows: [(&str, Cell); 14] = [
        ("re-reads", |counts| counts.rereads.to_string()),
        ("- evicted in the 5 turns before", |counts| share(counts.evicted_soon_before, counts.rereads)),
        ("- in the set, but left out of a full context", |counts| share(counts.left_out, counts.rereads)),
        ("sessions in which these are more than 5 %", |counts| {
            share(counts.sessions_above_limit, counts.sessions)
        }),
        ("returns after a pause of more than 5 turns", |counts| counts.returns.to_string()),
        ("- evicted in the 5 turns before", |counts| share(counts.evicted_soon_before, counts.returns)),
        ("files that are read again, with such an eviction", |counts| {
            share(counts.files_evicted_soon_before, counts.files_reread)
        }),
        ("evicted twice within 10 turns", |counts| counts.evicted_twice.to_string()),
        ("evictions", |counts| counts.evictions.to_string()),
        ("tokens freed", |counts| counts.tokens_freed.to_string()),
        ("tokens reloaded after an eviction", |counts| counts.tokens_reloaded.to_string()),
        ("budget used, mean", |counts| format!("{} %", counts.percent_sum / counts.turns.max(1))),
        ("turns that end above 80 %", |counts| share(counts.turns_above_start, counts.turns)),
        ("turns that end above 100 %", |counts| share(counts.turns_above_budget, counts.turns)),
    ];
    let line = |label: &str, cells: Vec<String>| format!("| {label} | {} |\n", cells.join(" | "));
    let names = comparison.iter().map(|(policy, _)| policy.name().to_owned()).collect();
    let mut text = line("", names);
    text.push_str(&line("---", comparison.iter().map(|_| "---:".to_owned()).collect()));
    for (label, cell) in rows {
        text.push_str(&line(label, comparison.iter().map(|(_, counts)| cell(counts)).collect()));
    }
    let counts = &comparison[0].1;
    let need = share(counts.turns_in_need, counts.turns);
    text.push_str(&format!(
        "\n{} turns; in {need} the files of the last 5 turns alone are above the budget\n",
        counts.turns
    ));
    text
}

fn share(part: u64, whole: u64) -> String {
    format!("{:.2} %", percent(part, whole))
}
