//! What each job may cost, as one table.

/// The size the targets speak of; smaller stores are measured for the shape of the curve.
const TARGET_SIZE: usize = 10_000;

#[derive(Clone, Copy, Debug)]
pub struct Target {
    pub job: &'static str,
    /// CPU time that must not be exceeded; `None` where only memory is bounded.
    pub must_ms: Option<f64>,
    /// CPU time we aim at.
    pub aim_ms: Option<f64>,
    pub peak_mb: f64,
    /// What the scripts this product replaces take for the same.
    pub scripts_ms: Option<f64>,
}

pub const TARGETS: &[Target] = &[
    target("create", Some((15.0, 5.0, 280.0)), 20.0),
    target("update", Some((15.0, 5.0, 280.0)), 20.0),
    target("candidate", Some((15.0, 6.0, 153.0)), 20.0),
    target("reindex", Some((350.0, 200.0, 1000.0)), 60.0),
    target("status", Some((300.0, 150.0, 1150.0)), 20.0),
    target("doctor", Some((300.0, 150.0, 1150.0)), 20.0),
    target("search", None, 20.0),
    target("list", None, 20.0),
    Target {
        job: "create session",
        must_ms: Some(15.0),
        aim_ms: Some(5.0),
        peak_mb: 20.0,
        // Not measured apart.
        scripts_ms: None,
    },
];

/// `cpu_ms` is must, aim, and the scripts' time.
const fn target(job: &'static str, cpu_ms: Option<(f64, f64, f64)>, peak_mb: f64) -> Target {
    match cpu_ms {
        Some((must, aim, scripts)) => {
            Target { job, must_ms: Some(must), aim_ms: Some(aim), peak_mb, scripts_ms: Some(scripts) }
        }
        None => Target { job, must_ms: None, aim_ms: None, peak_mb, scripts_ms: None },
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Measured at a size no target speaks of.
    Unjudged,
    Missed,
    Met,
    /// Met, and the aim too.
    AimMet,
}

impl Target {
    pub fn of(job: &str) -> Option<&'static Target> {
        TARGETS.iter().find(|target| target.job == job)
    }

    pub fn judge(&self, size: usize, cpu_ms: f64, peak_mb: f64) -> Verdict {
        let within = |limit: Option<f64>| limit.is_none_or(|limit| cpu_ms <= limit);
        if size != TARGET_SIZE {
            Verdict::Unjudged
        } else if !within(self.must_ms) || peak_mb > self.peak_mb {
            Verdict::Missed
        } else if self.aim_ms.is_some() && within(self.aim_ms) {
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
        for (job, size, cpu_ms, peak_mb, expected) in [
            ("create", 10_000, 4.9, 8.0, Verdict::AimMet),
            ("create", 10_000, 5.1, 8.0, Verdict::Met),
            ("create", 10_000, 15.0, 20.0, Verdict::Met),
            ("create", 10_000, 15.1, 8.0, Verdict::Missed),
            ("create", 10_000, 4.0, 20.1, Verdict::Missed),
            ("create", 1_000, 99.0, 99.0, Verdict::Unjudged),
            ("reindex", 10_000, 199.0, 59.0, Verdict::AimMet),
            ("search", 10_000, 99.0, 19.0, Verdict::Met),
            ("search", 10_000, 1.0, 21.0, Verdict::Missed),
        ] {
            let verdict = Target::of(job).unwrap().judge(size, cpu_ms, peak_mb);
            assert_eq!(verdict, expected, "{job} at {size}: {cpu_ms} ms, {peak_mb} MB");
        }
    }
}
