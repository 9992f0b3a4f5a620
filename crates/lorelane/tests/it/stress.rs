//! Many real processes write to one store, and some are killed.

use std::path::PathBuf;
use xtask::stress::Stress;

#[test]
fn a_crowd_of_writers_loses_nothing_that_was_acknowledged_and_starves_none() {
    let binary = PathBuf::from(env!("CARGO_BIN_EXE_lorelane"));
    let report = Stress { binary, processes: 16, writes: 25, seed: 1, kill_percent: 15 }.run().unwrap();
    assert_eq!(report.faults, [""; 0]);
    assert!(report.creates > 0 && report.updates > 0 && report.killed > 0, "{report:?}");
}
