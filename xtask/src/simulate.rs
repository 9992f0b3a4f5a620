//! `simulate`: the engine's seeded simulation, for longer runs than the test suite can afford.

use lorelane_engine::store::simulation::{Summary, simulate, simulate_round};

use crate::args::Args;
use crate::failure::Failure;

pub fn command(mut args: Args) -> Result<bool, Failure> {
    let steps: u64 = args.option("--steps")?.unwrap_or(10_000);
    let seed: u64 = args.option("--seed")?.unwrap_or(1);
    let round: Option<u64> = args.option("--round")?;
    args.finish()?;
    if let Some(round_seed) = round {
        let mut summary = Summary::default();
        let held = simulate_round(round_seed, None, &mut summary);
        println!("round {round_seed}: {held:?}, {summary:?}");
        return Ok(held.is_ok());
    }
    match simulate(seed, steps, None) {
        Ok(summary) => {
            println!("{steps} steps from seed {seed} hold: {summary:?}");
            Ok(true)
        }
        Err(failure) => {
            println!("seed {seed} breaks a promise: {failure:?}");
            Ok(false)
        }
    }
}
