//! The bench against a stand-in for the product.

use std::os::unix::fs::symlink;
use std::path::PathBuf;

use xtask::bench::{Bench, Verdict, table};
use xtask::sandbox::Sandbox;

const FAKE: &str = env!("CARGO_BIN_EXE_fake-lorelane");

#[test]
fn every_job_is_measured_at_every_size() {
    let fake = PathBuf::from(FAKE);
    let bench = Bench { binary: fake.clone(), empty: fake, sizes: vec![12, 24], runs: 3, receipts: 2 };
    let rows = bench.run().unwrap();
    let jobs: Vec<&str> = rows.iter().filter(|row| row.size == 24).map(|row| row.job).collect();
    let expected = ["create", "update", "candidate", "reindex", "status", "doctor", "search", "list"];
    assert_eq!(jobs, [&expected[..], &["create session", "log", "undo --dry-run"]].concat());
    assert_eq!(table(&rows).lines().count(), 2 + 22);
    for row in &rows {
        assert!(row.median_ms > 0.0 && row.median_ms <= row.p95_ms && row.peak_mb > 0.0, "{row:?}");
        assert_eq!(row.verdict(), Verdict::Unjudged);
    }
}

/// A command that refuses its work is fast, and must not be reported so.
#[test]
fn a_job_that_is_not_done_is_not_measured() {
    let sandbox = Sandbox::new("fake").unwrap();
    let binary = sandbox.scratch("finds-nothing");
    symlink(FAKE, &binary).unwrap();
    let failure =
        Bench { binary, empty: FAKE.into(), sizes: vec![12], runs: 1, receipts: 0 }.run().unwrap_err();
    assert!(failure.what.starts_with("cannot measure `lorelane update decision/"), "{failure}");
    assert!(failure.what.contains("exit 1"), "{failure}");
}
