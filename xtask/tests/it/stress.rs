//! The stress run against a stand-in for the product: it passes when healthy, and sees each fault.

use std::os::unix::fs::symlink;

use xtask::sandbox::Sandbox;
use xtask::stress::{Report, Stress};

const FAKE: &str = env!("CARGO_BIN_EXE_fake-lorelane");

/// `fault` is the name the stand-in goes by, which decides what it does wrong.
fn stress(fault: &str, kill_percent: usize) -> Report {
    let sandbox = Sandbox::new("fake").expect("the temp folder takes a sandbox");
    let binary = sandbox.scratch(fault);
    // Not a copy: a file another thread's child still has open for writing cannot be run.
    symlink(FAKE, &binary).expect("the sandbox is ours");
    let stress = Stress { binary, processes: 4, writes: 12, seed: 3, kill_percent };
    stress.run().expect("the stand-in can be run")
}

#[test]
fn a_store_that_keeps_its_promises_passes() {
    let report = stress("healthy", 0);
    assert_eq!(report.faults, [""; 0]);
    assert_eq!((report.creates + report.updates, report.killed), (48, 0));
    assert!(report.creates > 10 && report.updates > 10, "{report:?}");
}

#[test]
fn killed_writers_are_counted_and_not_missed() {
    let report = stress("never-cleans-up", 60);
    assert!(report.killed > 0, "{report:?}");
    assert_eq!(report.creates + report.updates + report.killed, 48);
    // The stand-in has no recovery, so a leftover may be found; a lost write may not.
    assert!(report.faults.iter().all(|fault| fault.ends_with("is left over")), "{report:?}");
}

#[test]
fn every_broken_promise_is_seen() {
    for (fault, expected) in [
        ("loses-creates", "was acknowledged and is lost"),
        ("loses-updates", "was acknowledged and is lost"),
        ("leaves-temps", "is left over"),
        ("fails-verify", "the chain is broken"),
        ("starves-writers", "the lock refused"),
    ] {
        let report = stress(fault, 0);
        assert!(report.faults.iter().any(|found| found.contains(expected)), "{fault}: {:?}", report.faults);
    }
}

#[test]
fn a_torn_file_is_seen() {
    let report = stress("tears-files", 0);
    assert!(report.faults.iter().any(|found| found.contains("is torn")), "{:?}", report.faults);
}
