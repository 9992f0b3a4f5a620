//! The bench against a stand-in for the product.

use std::os::unix::fs::symlink;
use std::path::PathBuf;

use xtask::bench::{AuditSizes, Bench, Verdict, WorkingSetSizes, table};
use xtask::sandbox::Sandbox;

const FAKE: &str = env!("CARGO_BIN_EXE_fake-lorelane");

fn bench(binary: PathBuf, sizes: Vec<usize>, runs: usize, receipts: usize) -> Bench {
    let audits = AuditSizes { machine: 20, deep: 10, check: 100 };
    let working_sets = WorkingSetSizes { files: 5, events: 50, collected: 7 };
    let (empty, transcript_bytes) = (FAKE.into(), 1 << 20);
    Bench { binary, empty, sizes, runs, receipts, transcript_bytes, audits, working_sets }
}

#[test]
fn every_job_is_measured_at_every_size() {
    let fake = PathBuf::from(FAKE);
    let rows = bench(fake, vec![12, 24], 3, 2).run().unwrap();
    let jobs: Vec<&str> = rows.iter().filter(|row| row.size == 24).map(|row| row.job).collect();
    let expected = ["create", "update", "candidate", "reindex", "status", "doctor", "search", "list"];
    let hooks = [
        "hook session-start",
        "hook prompt",
        "hook prompt, 300 words",
        "hook stop, 50 messages",
        "hook stop, 2,000 messages",
        "hook stop, 200 MB",
        "extract, 27 MB",
        "hook guard",
        "hook guard, named file",
        "hook after-tool",
    ];
    let journal = ["log", "undo --dry-run"];
    let with_set = ["hook prompt, working set", "hook stop, working set"];
    assert_eq!(jobs, [&expected[..], &["create session"], &hooks, &journal, &with_set].concat());
    let audits: Vec<(&str, usize)> = rows[46..].iter().map(|row| (row.job, row.size)).collect();
    let expected = [
        ("audit, all projects", 20),
        ("audit, deep, first", 10),
        ("audit, deep, again", 10),
        ("check", 100),
        ("ws assemble, 10 KB each", 5),
        ("ws status", 5),
        ("ws log, state rebuilt", 50),
        ("ws gc --dry-run", 7),
    ];
    assert_eq!(audits, expected);
    assert_eq!(table(&rows).lines().count(), 2 + 54);
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
    let failure = bench(binary, vec![12], 1, 0).run().unwrap_err();
    assert!(failure.what.starts_with("cannot measure `lorelane update decision/"), "{failure}");
    assert!(failure.what.contains("exit 1"), "{failure}");
}

/// A prompt that is answered with nothing costs less than one that finds memories.
#[test]
fn a_hook_that_says_nothing_is_not_measured() {
    let sandbox = Sandbox::new("fake").unwrap();
    let binary = sandbox.scratch("says-nothing");
    symlink(FAKE, &binary).unwrap();
    let failure = bench(binary, vec![12], 1, 0).run().unwrap_err();
    assert!(failure.what.contains("hook session-start`: it ended with exit 0 and no answer"), "{failure}");
}
