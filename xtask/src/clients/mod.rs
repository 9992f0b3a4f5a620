//! `clients`: runs the real agent clients, without a terminal, against a scripted model on loopback.
//!
//! A hook is proven by what the model was shown, not by what the hook printed. So each scenario runs the real
//! client with the product's hooks, and checks the requests that arrived.

mod client;
mod expect;
mod hooks;
mod hostile;
mod http;
mod proof;
mod record;
mod run;
mod scenario;
mod stub;
mod wire;

use std::path::PathBuf;

use crate::args::Args;
use crate::failure::Failure;
use crate::repo;
use crate::tool_cache::{Package, ToolCache};
use client::Client;
use proof::Choice;

pub fn command(mut args: Args) -> Result<bool, Failure> {
    let choice = Choice {
        only: args.option("--only")?,
        scenario: args.option("--scenario")?,
        keep: args.flag("--keep"),
    };
    let binary: Option<PathBuf> = args.option("--binary")?;
    let recording = args.flag("--record");
    args.finish()?;
    let clients = proof::chosen_clients(&choice)?;
    let tool_cache = ToolCache::find()?;
    let packages: Vec<Package> = clients.iter().map(|client| client.package()).collect();
    tool_cache.install(&packages)?;
    if recording {
        return record::run(&tool_cache, &clients, &choice).map(|()| true);
    }
    let binary = match binary {
        Some(binary) => repo::given_program(&binary)?,
        None => repo::build_product(&[])?,
    };
    let (count, failed) = proof::run(&tool_cache, &binary, &choice)?;
    println!("{count} runs, {failed} failed");
    Ok(failed == 0)
}

/// Why the proofs cannot run here, or `None` if they can.
pub fn missing(ci: bool) -> Option<String> {
    let packages: Vec<Package> = client::CLIENTS.iter().map(Client::package).collect();
    match ToolCache::find() {
        Ok(tool_cache) => tool_cache.lacks(&packages, ci, "cargo xtask clients"),
        Err(failure) => Some(failure.to_string()),
    }
}

/// Runs all proofs and returns their number.
pub fn prove() -> Result<usize, Failure> {
    let tool_cache = ToolCache::find()?;
    let binary = repo::build_product(&[])?;
    match proof::run(&tool_cache, &binary, &Choice::default())? {
        (count, 0) => Ok(count),
        (count, failed) => {
            let hint = "run one alone with `cargo xtask clients --only CLIENT --scenario NAME --keep`";
            Err(Failure::new(format!("{failed} of {count} runs of clients failed; they are above"))
                .hint(hint))
        }
    }
}
