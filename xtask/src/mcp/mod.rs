//! `mcp`: runs the SDKs, the Inspector and the conformance suite of the protocol against the product's server.
//!
//! Our own tests send what we believe clients send; these clients are by the authors of the protocol.

mod conformance;
mod driver;
mod questions;
mod server;
pub mod speed;
mod transport;

use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::args::Args;
use crate::corpus;
use crate::failure::Failure;
use crate::process;
use crate::repo;
use crate::sandbox::Sandbox;
use crate::tool_cache::{Package, ToolCache};
use conformance::{SUITES, Suite};
use driver::{DRIVERS, Driver};
use lorelane_engine::disk::SeededRng;
use questions::{AGENT, OTHERS, Sheet};
use server::{Store, Transport};

pub fn command(mut args: Args) -> Result<bool, Failure> {
    let only: Option<String> = args.option("--only")?;
    let binary: Option<PathBuf> = args.option("--binary")?;
    let speed: Option<usize> = args.option("--speed")?;
    args.finish()?;
    if let Some(size) = speed {
        let binary = match binary {
            Some(binary) => repo::given_program(&binary)?,
            None => repo::build_product(&["--release"])?,
        };
        return measure(&binary, size).map(|()| true);
    }
    let proofs = proofs(only.as_deref())?;
    let tool_cache = ToolCache::find()?;
    tool_cache.install(&packages())?;
    let binary = match binary {
        Some(binary) => repo::given_program(&binary)?,
        None => repo::build_product(&[])?,
    };
    let failed = run(&proofs, &tool_cache, &binary);
    println!("{} runs, {failed} failed", proofs.len());
    Ok(failed == 0)
}

/// Why the proofs cannot run here, or `None` if they can.
pub fn missing(ci: bool) -> Option<String> {
    match ToolCache::find() {
        Ok(tool_cache) => tool_cache.lacks(&packages(), ci, "cargo xtask mcp"),
        Err(failure) => Some(failure.to_string()),
    }
}

/// Runs all proofs and returns their number.
pub fn prove() -> Result<usize, Failure> {
    let tool_cache = ToolCache::find()?;
    let binary = repo::build_product(&[])?;
    let proofs = proofs(None)?;
    match run(&proofs, &tool_cache, &binary) {
        0 => Ok(proofs.len()),
        failed => {
            let what =
                format!("{failed} of {} runs against the MCP server failed; they are above", proofs.len());
            Err(Failure::new(what).hint("run one alone with `cargo xtask mcp --only NAME`"))
        }
    }
}

/// The store and its questions are the same in every run.
const SEED: u64 = 20_261_116;
const QUESTIONS_MEASURED: usize = 100;

/// Prints the cost of calls in the running server with `size` generated memories.
fn measure(binary: &Path, size: usize) -> Result<(), Failure> {
    let sandbox = Sandbox::new("mcp-speed")?;
    let decisions = corpus::write(&sandbox.records(), size, SEED)?;
    process::finish(&mut sandbox.command(binary, &["reindex"]))?;
    let mut command = sandbox.bare(binary);
    command.arg("mcp").current_dir(sandbox.project());
    let mut server = speed::Server::start(command)?;
    let mut prng = SeededRng::new(SEED);
    let questions: Vec<String> = (0..QUESTIONS_MEASURED).map(|_| corpus::sentences(1, &mut prng)).collect();
    let show = |what: &str, cost: speed::Cost| {
        println!("{what:<10} median {:>7} µs CPU, p95 {:>7} µs", cost.median_us, cost.p95_us);
    };
    show("search", server.search(&questions)?);
    if let Some(decision) = decisions.first() {
        let uri = format!("lorelane://records/decision/{decision}");
        show("read", server.read(&uri, QUESTIONS_MEASURED)?);
    }
    if let Some(memory) = server.memory_kb() {
        println!("memory     {memory} KB");
    }
    Ok(())
}

fn packages() -> Vec<Package> {
    DRIVERS.iter().map(|driver| driver.package()).chain(SUITES.iter().map(Suite::package)).collect()
}

/// One client over one transport, or one version of the suite.
enum Proof {
    Driver(Driver, Transport, &'static Sheet),
    Suite(&'static Suite),
}

fn proofs(only: Option<&str>) -> Result<Vec<Proof>, Failure> {
    let drivers = DRIVERS.into_iter().flat_map(|driver| {
        [Transport::Stdio, Transport::Http].map(|transport| Proof::Driver(driver, transport, &AGENT))
    });
    // One client is enough for the other profiles: they differ only in their tools.
    let others = OTHERS.iter().map(|sheet| Proof::Driver(Driver::PythonSdk, Transport::Stdio, sheet));
    let mut proofs: Vec<Proof> = drivers.chain(others).chain(SUITES.iter().map(Proof::Suite)).collect();
    proofs.retain(|proof| only.is_none_or(|name| proof.package().name == name));
    if proofs.is_empty() {
        let known: Vec<&str> = packages().iter().map(|package| package.name).collect();
        return Err(Failure::new("nothing of that name asks the server").hint(known.join(", ")));
    }
    Ok(proofs)
}

/// Prints a line for each proof and returns how many failed.
fn run(proofs: &[Proof], tool_cache: &ToolCache, binary: &Path) -> usize {
    let failed = proofs.iter().filter(|proof| {
        let (line, holds) = proof.show(tool_cache, binary);
        println!("{line}");
        !holds
    });
    failed.count()
}

impl Proof {
    fn package(&self) -> Package {
        match self {
            Proof::Driver(driver, ..) => driver.package(),
            Proof::Suite(suite) => suite.package(),
        }
    }

    fn show(&self, tool_cache: &ToolCache, binary: &Path) -> (String, bool) {
        let Package { name, version, .. } = self.package();
        let way = match self {
            Proof::Driver(_, transport, sheet) if sheet.profile == AGENT.profile => transport.name(),
            Proof::Driver(_, _, sheet) => sheet.profile,
            Proof::Suite(suite) => suite.protocol,
        };
        let name = format!("{:<30} {way:<12}", format!("{name} {version}"));
        let start = Instant::now();
        let judged = self.judge(tool_cache, binary);
        let seconds = start.elapsed().as_secs_f64();
        match judged {
            Ok((note, breaches)) if breaches.is_empty() => {
                (format!("{name} ok {seconds:6.1} s  {note}"), true)
            }
            Ok((_, breaches)) => {
                (format!("{name} FAILED {seconds:.1} s\n  {}", breaches.join("\n  ")), false)
            }
            Err(failure) => (format!("{name} FAILED {seconds:.1} s\n  {failure}"), false),
        }
    }

    /// A short summary, and every expectation that is not met.
    fn judge(&self, tool_cache: &ToolCache, binary: &Path) -> Result<(String, Vec<String>), Failure> {
        let store = Store::new(tool_cache, binary)?;
        match self {
            Proof::Driver(driver, transport, sheet) => {
                let reach = store.reach(*transport, sheet.profile)?;
                let seen = driver.ask(tool_cache, &store, &reach, sheet.questions)?;
                let note = format!("protocol {}", seen.protocol.as_deref().unwrap_or("not told"));
                let mut breaches = questions::breaches(sheet.questions, &seen.answers);
                if seen.protocol.as_deref() != driver.protocol() {
                    let expected = driver.protocol().unwrap_or("none");
                    breaches.push(format!("{note} was agreed on, not {expected}"));
                }
                Ok((note, breaches))
            }
            Proof::Suite(suite) => suite.judge(tool_cache, &store),
        }
    }
}
