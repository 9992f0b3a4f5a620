//! `stress`: many processes write to one store at once, some are killed, and every write that was
//! acknowledged must be found afterwards.
//!
//! The seed fixes what is written and who is killed when; the machine decides the interleaving. The
//! invariants must hold for every interleaving.

mod verify;

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{ExitStatus, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::args::Args;
use crate::corpus;
use crate::failure::Failure;
use crate::repo;
use crate::sandbox::Sandbox;
use lorelane_engine::disk::SeededRng;

#[derive(Clone, Debug)]
pub struct Stress {
    pub binary: PathBuf,
    /// The number of concurrent writers.
    pub processes: usize,
    /// The number of writes of each writer, one after the other.
    pub writes: usize,
    pub seed: u64,
    /// The percentage of writes that are killed at some point.
    pub kill_percent: usize,
}

/// What happened, and which invariants were violated.
#[derive(Debug, Default)]
pub struct Report {
    pub creates: usize,
    pub updates: usize,
    pub killed: usize,
    pub retries: usize,
    /// How often a write failed because of the lock.
    pub locked_out: usize,
    /// Empty if all invariants hold.
    pub faults: Vec<String>,
}

pub fn command(mut args: Args) -> Result<bool, Failure> {
    let binary: Option<PathBuf> = args.option("--binary")?;
    let processes = args.option("--processes")?.unwrap_or(16);
    let writes = args.option("--writes")?.unwrap_or(200);
    let seed = args.option("--seed")?.unwrap_or(1);
    args.finish()?;
    let binary = match binary {
        Some(binary) => repo::given_program(&binary)?,
        None => repo::build_product(&["--release"])?,
    };
    let stress = Stress { binary, processes, writes, seed, kill_percent: 15 };
    let report = stress.run()?;
    println!(
        "{processes} processes × {writes} writes, seed {seed}: {} creates and {} updates acknowledged, \
         {} killed, {} retried, {} of them refused for the lock ({:.2} %)",
        report.creates,
        report.updates,
        report.killed,
        report.retries,
        report.locked_out,
        report.locked_out_percent()
    );
    for fault in &report.faults {
        println!("fault: {fault}");
    }
    Ok(report.faults.is_empty())
}

/// A record's history keeps 50 changes: no shared memory may get so many that an acknowledged one is dropped.
const UPDATES_PER_MEMORY: usize = 40;

/// Each attempt waits seconds for the lock, so this many failures in a row mean that it is never free.
const RETRIES_MAX: usize = 50;

/// Errors after which a writer tries again.
const LOCKED_OUT: &str = "LOCK_TIMEOUT";
const TRY_AGAIN: &[&str] = &[LOCKED_OUT, "OCC_CONFLICT"];

/// The percentage of attempts that may fail because of the lock: writers should get their turns.
const LOCKED_OUT_MAX_PERCENT: f64 = 0.5;

impl Report {
    /// The share of all attempts that failed because of the lock.
    pub fn locked_out_percent(&self) -> f64 {
        let attempts = self.creates + self.updates + self.killed + self.retries;
        100.0 * self.locked_out as f64 / attempts.max(1) as f64
    }
}

/// One planned write. Its token is in the store if and only if the write took effect.
#[derive(Clone, Debug)]
struct Write {
    kind: Kind,
    token: String,
    /// When to kill, in thousandths of the time a write takes.
    kill_at: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Create,
    Update,
}

/// How one attempt ended.
enum End {
    Acknowledged,
    Killed,
    Refused(String),
}

/// The results of one writer.
#[derive(Default)]
struct Witness {
    creates: Vec<String>,
    /// With the address of the shared memory.
    updates: Vec<(String, String)>,
    killed: usize,
    retries: usize,
    locked_out: usize,
    faults: Vec<String>,
}

impl Stress {
    pub fn run(&self) -> Result<Report, Failure> {
        let sandbox = Sandbox::new("stress")?;
        let plans: Vec<Vec<Write>> = (0..self.processes).map(|writer| self.plan(writer)).collect();
        let updates = plans.iter().flatten().filter(|write| write.kind == Kind::Update).count();
        for number in 0..updates.div_ceil(UPDATES_PER_MEMORY) {
            self.calm_write(&sandbox, &format!("Shared stress memory {number}"))?;
        }
        let ticket = AtomicUsize::new(0);
        let witnesses = thread::scope(|scope| {
            let writers: Vec<_> =
                plans.iter().map(|plan| scope.spawn(|| self.writer(&sandbox, plan, &ticket))).collect();
            writers
                .into_iter()
                .map(|writer| writer.join().map_err(|_| Failure::new("a writer of the stress run panicked")))
                .collect::<Result<Vec<_>, _>>()
        })?;
        let mut all = Witness::default();
        for witness in witnesses {
            all.creates.extend(witness.creates);
            all.updates.extend(witness.updates);
            all.killed += witness.killed;
            all.retries += witness.retries;
            all.locked_out += witness.locked_out;
            all.faults.extend(witness.faults);
        }
        // The next writer completes or rolls back what a killed one left.
        self.calm_write(&sandbox, "After the stress run")?;
        all.faults.extend(verify::faults(&sandbox, &self.binary, &all.creates, &all.updates)?);
        let mut report = Report {
            creates: all.creates.len(),
            updates: all.updates.len(),
            killed: all.killed,
            retries: all.retries,
            locked_out: all.locked_out,
            faults: all.faults,
        };
        let share = report.locked_out_percent();
        if share > LOCKED_OUT_MAX_PERCENT {
            report.faults.push(format!("the lock refused {share:.2} % of all attempts"));
        }
        Ok(report)
    }

    fn plan(&self, writer: usize) -> Vec<Write> {
        let mut prng = SeededRng::new(self.seed.wrapping_mul(1_000_003).wrapping_add(writer as u64));
        let write = |number| Write {
            kind: if prng.below(2) == 0 { Kind::Create } else { Kind::Update },
            token: format!("w{writer}n{number}x{:08x}", prng.number() as u32),
            // Up to a fifth longer than a write takes: some kills come after the acknowledgement.
            kill_at: (prng.below(100) < self.kill_percent).then(|| prng.below(1200)),
        };
        (0..self.writes).map(write).collect()
    }

    fn writer(&self, sandbox: &Sandbox, plan: &[Write], ticket: &AtomicUsize) -> Witness {
        let mut witness = Witness::default();
        // A guess for the first kill only; after that, the duration of the last write.
        let mut usual = Duration::from_millis(10);
        for write in plan {
            let address = match write.kind {
                Kind::Create => String::new(),
                // Chosen by ticket, not by writer, so that all writers compete for the same memory at the
                // same time.
                Kind::Update => shared_address(ticket.fetch_add(1, Ordering::Relaxed) / UPDATES_PER_MEMORY),
            };
            match self.persist(sandbox, write, &address, &mut usual, &mut witness) {
                Ok(End::Acknowledged) if write.kind == Kind::Create => {
                    witness.creates.push(write.token.clone());
                }
                Ok(End::Acknowledged) => witness.updates.push((address, write.token.clone())),
                Ok(End::Killed) => witness.killed += 1,
                Ok(End::Refused(why)) => {
                    witness.faults.push(format!("write {} was refused: {why}", write.token));
                }
                Err(failure) => {
                    witness.faults.push(failure.to_string());
                    break;
                }
            }
        }
        witness
    }

    /// Repeats one write while it fails only because of the lock.
    fn persist(
        &self,
        sandbox: &Sandbox,
        write: &Write,
        address: &str,
        usual: &mut Duration,
        witness: &mut Witness,
    ) -> Result<End, Failure> {
        for _ in 0..RETRIES_MAX {
            let start = Instant::now();
            let kill_after = write.kill_at.map(|share| *usual * share as u32 / 1000);
            let end = self.attempt(sandbox, write, address, kill_after)?;
            match &end {
                End::Refused(why) if TRY_AGAIN.iter().any(|code| why.contains(code)) => {
                    witness.retries += 1;
                    witness.locked_out += usize::from(why.contains(LOCKED_OUT));
                }
                End::Acknowledged => {
                    *usual = start.elapsed();
                    return Ok(end);
                }
                _ => return Ok(end),
            }
        }
        Ok(End::Refused(format!("{RETRIES_MAX} times in a row the lock could not be had")))
    }

    fn attempt(
        &self,
        sandbox: &Sandbox,
        write: &Write,
        address: &str,
        kill_after: Option<Duration>,
    ) -> Result<End, Failure> {
        let output = match write.kind {
            Kind::Create => {
                let title = format!("Stress memory {}", write.token);
                self.create(sandbox, &title, &write.token, kill_after)?
            }
            Kind::Update => {
                let context = format!("content.context={}", write.token);
                self.spawn(sandbox, &["update", address, "--set", &context], "", kill_after)?
            }
        };
        Ok(match output.status.code() {
            Some(0) => End::Acknowledged,
            // Any other signal, such as a crash, is a fault even if this write was to be killed.
            None if kill_after.is_some() && was_killed(output.status) => End::Killed,
            _ => {
                End::Refused(format!("{}: {}", output.status, String::from_utf8_lossy(&output.stderr).trim()))
            }
        })
    }

    /// A create outside the stress run, which must succeed.
    fn calm_write(&self, sandbox: &Sandbox, title: &str) -> Result<(), Failure> {
        let output = self.create(sandbox, title, "calm", None)?;
        if output.status.success() {
            return Ok(());
        }
        let why = String::from_utf8_lossy(&output.stderr);
        Err(Failure::new(format!("cannot create `{title}` while nobody else writes: {}", why.trim())))
    }

    fn create(
        &self,
        sandbox: &Sandbox,
        title: &str,
        token: &str,
        kill_after: Option<Duration>,
    ) -> Result<Output, Failure> {
        let mut prng = SeededRng::new(self.seed);
        let draft = corpus::decision_draft(title, token, &mut prng);
        self.spawn(sandbox, &["create", "decision", "--from", "-"], &draft, kill_after)
    }

    fn spawn(
        &self,
        sandbox: &Sandbox,
        args: &[&str],
        input: &str,
        kill_after: Option<Duration>,
    ) -> Result<Output, Failure> {
        let mut command = sandbox.command(&self.binary, args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| Failure::on("run", &self.binary, error))?;
        if let Some(mut stdin) = child.stdin.take() {
            // It may have ended already; its exit status tells.
            let _ = stdin.write_all(input.as_bytes());
        }
        if let Some(delay) = kill_after {
            thread::sleep(delay);
            // Fails only if the process has ended, and then its exit code counts.
            let _ = child.kill();
        }
        child.wait_with_output().map_err(|error| Failure::on("wait for", &self.binary, error))
    }
}

#[cfg(unix)]
fn was_killed(status: ExitStatus) -> bool {
    std::os::unix::process::ExitStatusExt::signal(&status) == Some(libc::SIGKILL)
}

/// On systems without signals a killed process ends with an exit code, which is checked like any other.
#[cfg(not(unix))]
fn was_killed(_: ExitStatus) -> bool {
    false
}

fn shared_address(number: usize) -> String {
    format!("decision/shared-stress-memory-{number}")
}
