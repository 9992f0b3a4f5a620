//! `simulate`: the engine's seeded simulation, for longer runs than the test suite can afford.

use crate::args::Args;
use crate::failure::Failure;

pub fn command(mut args: Args) -> Result<bool, Failure> {
    let _steps: u64 = args.option("--steps")?.unwrap_or(10_000);
    let _seed: u64 = args.option("--seed")?.unwrap_or(1);
    args.finish()?;
    // TODO: call the engine's simulation once it has landed; xtask then depends on lorelane-engine.
    Err(Failure::new("cannot simulate: the engine does not offer its simulation yet"))
}
