//! The targets of all jobs, as one table.

use super::report::Row;

/// The size that most targets are for; smaller stores are measured for the shape of the curve.
pub(super) const LARGE: usize = 10_000;
/// The limit of a hook in a larger store, as a multiple of its cost in a large one.
const GROWTH_MAX: f64 = 2.0;

/// Limits of CPU time are multiples of an empty process in the same run: milliseconds cannot be compared across
/// machines. Limits once set in milliseconds were divided by 0.7 ms, the empty process on that machine.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    pub job: &'static str,
    /// The number of memories it is for.
    pub size: usize,
    /// The multiple that must not be exceeded; `None` if only memory is limited.
    pub must: Option<f64>,
    /// The multiple we aim at.
    pub aim: Option<f64>,
    pub peak_mb: f64,
    /// What the `claude-memory` scripts take for the same.
    pub scripts_ms: Option<f64>,
}

pub const TARGETS: &[Target] = &[
    target("create", 12.0, 7.1, Some(280.0)),
    target("update", 12.0, 7.1, Some(280.0)),
    target("candidate", 21.0, 8.6, Some(153.0)),
    Target { peak_mb: 60.0, ..target("reindex", 300.0, 285.0, Some(1000.0)) },
    target("status", 430.0, 214.0, Some(1150.0)),
    target("doctor", 250.0, 214.0, Some(1150.0)),
    memory_only("search"),
    memory_only("list"),
    // The scripts were not measured separately.
    target("create session", 21.0, 7.1, None),
    memory_only("hook session-start"),
    Target { size: 1_000, ..target("hook prompt", 8.5, 4.3, Some(76.0)) },
    target("hook prompt", 11.0, 8.6, Some(450.0)),
    Target { aim: None, ..target("hook prompt, 300 words", 18.0, 0.0, None) },
    target("hook stop, 50 messages", 9.0, 3.6, Some(83.0)),
    target("hook stop, 2,000 messages", 10.0, 4.3, Some(102.0)),
    target("hook stop, 200 MB", 13.0, 11.4, None),
    // The script that it replaces took 8.8 s for a session of this size.
    Target { peak_mb: 60.0, ..target("extract, 27 MB", 2142.0, 571.0, Some(8800.0)) },
    target("hook guard", 3.0, 1.4, Some(26.0)),
    Target { aim: None, ..target("hook guard, named file", 3.0, 0.0, None) },
    memory_only("hook after-tool"),
    Target { size: 2_000, peak_mb: 30.0, ..target("audit, all projects", 214.0, 57.0, Some(330.0)) },
    Target { size: 1_000, peak_mb: 150.0, ..target("audit, deep, first", 14_286.0, 4_286.0, None) },
    Target { size: 1_000, peak_mb: 150.0, ..target("audit, deep, again", 2_857.0, 429.0, None) },
    Target { size: 1_000, peak_mb: 30.0, ..target("ws assemble, 10 KB each", 42.9, 14.3, None) },
    Target { size: 1_000, ..target("ws status", 28.6, 11.4, None) },
    Target { peak_mb: 30.0, ..target("ws log, state rebuilt", 214.0, 71.0, None) },
    Target { peak_mb: 40.0, ..target("ws gc --dry-run", 286.0, 114.0, None) },
    // What the same hooks have without a set, and 1 ms more for the touches of a turn.
    Target { size: 1_000, peak_mb: 21.0, ..target("hook prompt, working set", 9.9, 4.7, None) },
    Target { peak_mb: 21.0, ..target("hook prompt, working set", 12.4, 9.0, None) },
    Target { peak_mb: 21.0, ..target("hook stop, working set", 10.4, 4.0, None) },
    Target { peak_mb: 40.0, ..target("check", 429.0, 114.0, None) },
];

const fn target(job: &'static str, must: f64, aim: f64, scripts_ms: Option<f64>) -> Target {
    Target { must: Some(must), aim: Some(aim), scripts_ms, ..memory_only(job) }
}

const fn memory_only(job: &'static str) -> Target {
    Target { job, size: LARGE, must: None, aim: None, peak_mb: 20.0, scripts_ms: None }
}

/// The hooks that grow too much in a store larger than [`LARGE`].
pub fn outgrown(rows: &[Row]) -> Vec<String> {
    let at_large = |job: &str| rows.iter().find(|row| row.job == job && row.size == LARGE);
    let grown = rows.iter().filter(|row| row.size > LARGE && row.job.starts_with("hook "));
    let grown = grown.filter_map(|row| Some((row, at_large(row.job)?.median_ms)));
    grown
        .filter(|(row, before)| row.median_ms > GROWTH_MAX * before)
        .map(|(row, before)| {
            let (job, size, now) = (row.job, row.size, row.median_ms);
            format!(
                "{job}: {now:.1} ms at {size} memories, more than {GROWTH_MAX} × {before:.1} ms at {LARGE}"
            )
        })
        .collect()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Measured at a size that no target is for.
    Unjudged,
    Missed,
    Met,
    /// The limit is met, and the aim too.
    AimMet,
}

impl Target {
    /// The target of this job at this size, or the one at its largest size.
    pub fn of(job: &str, size: usize) -> Option<&'static Target> {
        let of_job = || TARGETS.iter().filter(|target| target.job == job);
        of_job().find(|target| target.size == size).or_else(|| of_job().next_back())
    }

    /// `empties` is the cost of the job as a multiple of an empty process.
    pub fn judge(&self, size: usize, empties: f64, peak_mb: f64) -> Verdict {
        let within = |limit: Option<f64>| limit.is_none_or(|limit| empties <= limit);
        if size != self.size {
            Verdict::Unjudged
        } else if !within(self.must) || peak_mb > self.peak_mb {
            Verdict::Missed
        } else if self.aim.is_some() && within(self.aim) {
            Verdict::AimMet
        } else {
            Verdict::Met
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_judged_by_time_and_memory_at_the_target_size() {
        for (job, size, empties, peak_mb, expected) in [
            ("create", 10_000, 7.0, 8.0, Verdict::AimMet),
            ("create", 10_000, 7.2, 8.0, Verdict::Met),
            ("create", 10_000, 12.0, 20.0, Verdict::Met),
            ("create", 10_000, 12.1, 8.0, Verdict::Missed),
            ("create", 10_000, 4.0, 20.1, Verdict::Missed),
            ("create", 1_000, 99.0, 99.0, Verdict::Unjudged),
            ("reindex", 10_000, 284.0, 59.0, Verdict::AimMet),
            ("search", 10_000, 99.0, 19.0, Verdict::Met),
            ("search", 10_000, 1.0, 21.0, Verdict::Missed),
            ("hook prompt", 1_000, 8.7, 8.0, Verdict::Missed),
            ("hook prompt", 10_000, 8.7, 8.0, Verdict::Met),
            ("hook prompt", 100, 99.0, 8.0, Verdict::Unjudged),
            ("hook guard", 10_000, 1.4, 8.0, Verdict::AimMet),
            ("hook guard", 10_000, 3.0, 8.0, Verdict::Met),
            ("hook guard", 10_000, 3.1, 8.0, Verdict::Missed),
        ] {
            let verdict = Target::of(job, size).unwrap().judge(size, empties, peak_mb);
            assert_eq!(verdict, expected, "{job} at {size}: {empties} x empty, {peak_mb} MB");
        }
    }

    #[test]
    fn a_hook_must_not_grow_with_the_store() {
        let row =
            |job, size, median_ms| Row { job, size, median_ms, p95_ms: 0.0, empty_ms: 0.5, peak_mb: 8.0 };
        for (large, huge, expected) in [(3.0, 6.0, 0), (3.0, 6.1, 1)] {
            let rows = [
                row("hook prompt", 10_000, large),
                row("hook prompt", 100_000, huge),
                row("hook prompt", 1_000, 0.1),
            ];
            assert_eq!(outgrown(&rows).len(), expected, "{large} {huge}");
        }
    }
}
