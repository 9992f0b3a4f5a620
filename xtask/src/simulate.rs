//! `simulate`: the engine's seeded simulation, for longer runs than the test suite can afford.

use lorelane_engine::store::simulation::simulate;

use crate::args::Args;
use crate::failure::Failure;

pub fn command(mut args: Args) -> Result<bool, Failure> {
    let steps: u64 = args.option("--steps")?.unwrap_or(10_000);
    let seed: u64 = args.option("--seed")?.unwrap_or(1);
    args.finish()?;
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
