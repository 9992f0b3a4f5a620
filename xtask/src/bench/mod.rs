//! `bench`: the cost of each command as a whole process, against the targets.
//!
//! CPU time and not wall time: it hardly depends on what else the machine does. An empty process of the
//! same profile is measured in between, so that ratios can be compared across machines.

mod audit;
mod jobs;
mod measure;
mod report;
mod targets;
mod transcript;
mod working_set;

use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};

use crate::args::Args;
use crate::capture;
use crate::corpus;
use crate::failure::Failure;
use crate::relevance;
use crate::repo;
use crate::retrieval_bench;
use crate::sandbox::Sandbox;
use jobs::{Call, JOBS, JOURNAL_JOBS, Job, REINDEX, UPDATE};
use lorelane_core::policy::DEFAULT_ROOT;
use lorelane_engine::config::RECORDS_CONFIG;
use transcript::Transcripts;

pub use audit::AuditSizes;
pub use measure::{Cost, Streams, measure};
use report::Place;
pub use report::{Row, percentile, table, verdicts};
pub use targets::{TARGETS, Target, Verdict};
pub use working_set::WorkingSetSizes;

/// The store is the same on every machine and in every run.
const SEED: u64 = 20_261_115;

#[derive(Debug)]
pub struct Bench {
    pub binary: PathBuf,
    /// An empty `main`, built as the binary was.
    pub empty: PathBuf,
    pub sizes: Vec<usize>,
    pub runs: usize,
    /// Changes that the binary makes before the jobs that read the journal.
    pub receipts: usize,
    /// The length of the longest transcript.
    pub transcript_bytes: usize,
    pub audits: AuditSizes,
    pub working_sets: WorkingSetSizes,
}

const TRANSCRIPT_BYTES: usize = 200 << 20;

/// As many as a project collects in months.
const RECEIPTS: usize = 1_000;

pub fn command(mut args: Args) -> Result<bool, Failure> {
    if let Some(sets) = args.option::<PathBuf>("--sets")? {
        return recall(&sets, args);
    }
    let sizes_text: String = args.option("--sizes")?.unwrap_or_else(|| "100,1000,10000,100000".to_owned());
    let runs: usize = args.option("--runs")?.unwrap_or(21);
    let binary: Option<PathBuf> = args.option("--binary")?;
    let write: Option<PathBuf> = args.option("--write")?;
    args.finish()?;
    let unreadable =
        |_| Failure::new(format!("cannot read --sizes `{sizes_text}`")).hint("--sizes 100,1000,10000,100000");
    let sizes: Vec<usize> = sizes_text
        .split(',')
        .map(|size| size.trim().parse().map_err(unreadable))
        .collect::<Result<_, _>>()?;
    if runs == 0 {
        return Err(Failure::new("cannot take the median of --runs 0"));
    }

    if binary.is_some() && write.is_some() {
        let why = "the documents speak of the binary this tree builds";
        return Err(Failure::new(format!("cannot use --binary together with --write: {why}")));
    }

    // One call builds both, so that they have the same flags.
    let programs =
        repo::build(&["--release", "--package", "lorelane", "--bin", "lorelane", "--example", "empty"])?;
    let empty = repo::find_program(&programs, "empty")?;
    let mut origin = format!("cargo xtask bench --sizes {sizes_text} --runs {runs}");
    let binary = match binary {
        Some(binary) => {
            origin.push_str(&format!(" --binary {}", binary.display()));
            repo::given_program(&binary)?
        }
        None => repo::find_program(&programs, "lorelane")?,
    };
    let (receipts, transcript_bytes, audits) = (RECEIPTS, TRANSCRIPT_BYTES, AuditSizes::USUAL);
    let working_sets = WorkingSetSizes::USUAL;
    let bench = Bench { binary, empty, sizes, runs, receipts, transcript_bytes, audits, working_sets };
    let rows = bench.run()?;
    let journal = format!("`log` and `undo --dry-run` read a journal of at least {RECEIPTS} changes");
    let (today, machine) = (report::today(), report::machine());
    let text = format!("`{origin}`, {today}, {machine}. {journal}.\n\n{}", table(&rows));
    println!("{text}\n{}", verdicts(&rows));
    if let Some(file) = write {
        report::write(&file, Place::Speed, &text)?;
    }
    println!("not measured: how well recall finds, and what it costs on real text (give --sets DIR)");
    let outgrown = targets::outgrown(&rows);
    outgrown.iter().for_each(|line| println!("{line}"));
    Ok(outgrown.is_empty() && rows.iter().all(|row| row.verdict() != Verdict::Missed))
}

/// The sets are not in the repository: one of them may not be redistributed.
fn recall(given: &Path, mut args: Args) -> Result<bool, Failure> {
    let sizes: String = args.option("--sizes")?.unwrap_or_else(|| "10000,100000".to_owned());
    let write: Option<PathBuf> = args.option("--write")?;
    args.finish()?;
    let sizes: Vec<usize> = sizes.split(',').filter_map(|size| size.trim().parse().ok()).collect();
    let folder = retrieval_bench::folder_of_sets(given);
    let sets = retrieval_bench::read_all(&folder)?;
    let programs =
        repo::build(&["--release", "--package", "lorelane", "--bin", "lorelane", "--example", "empty"])?;
    let programs = retrieval_bench::Programs {
        binary: repo::find_program(&programs, "lorelane")?,
        empty: repo::find_program(&programs, "empty")?,
    };
    let quality = retrieval_bench::tables(&sets)?;
    println!("{}\n{}", quality.tables, quality.verdicts);
    let variants = retrieval_bench::variants::table(&folder, &programs)?.unwrap_or_else(|| {
        println!("not measured: the questions as people type them (no variants.py in {})", folder.display());
        retrieval_bench::Report { tables: String::new(), verdicts: String::new(), met: true }
    });
    println!("{}\n{}", variants.tables, variants.verdicts);
    let reminders = relevance::tables(given)?.unwrap_or_else(|| {
        println!("not measured: reminders (no remind/dev in {})", given.display());
        retrieval_bench::Report { tables: String::new(), verdicts: String::new(), met: true }
    });
    println!("{}\n{}", reminders.tables, reminders.verdicts);
    let captured = capture::tables(given)?.unwrap_or_else(|| {
        println!("not measured: what sessions capture (no capture/dev.jsonl in {})", given.display());
        retrieval_bench::Report { tables: String::new(), verdicts: String::new(), met: true }
    });
    println!("{}\n{}", captured.tables, captured.verdicts);
    let speed = retrieval_bench::speed_table(&sets, &programs, &sizes)?;
    println!("{}\n{}", speed.tables, speed.verdicts);
    if let Some(file) = write {
        // What is captured is not recall, and has no page yet.
        let origin = format!("`cargo xtask bench --sets DIR`, {}, {}.", report::today(), report::machine());
        report::write(
            &file,
            Place::Sets,
            &format!(
                "{origin}\n\n{}\n{}\n{}\n{}",
                quality.tables, variants.tables, reminders.tables, speed.tables
            ),
        )?;
    }
    Ok(quality.met && variants.met && reminders.met && captured.met && speed.met)
}

/// A project full of memories, and what the jobs need to know about it.
struct Store<'r> {
    sandbox: Sandbox,
    decisions: Vec<String>,
    transcripts: &'r Transcripts,
    sessions: Cell<u32>,
}

impl Store<'_> {
    /// A number that no session of this store has used yet.
    fn next_session(&self) -> u32 {
        self.sessions.set(self.sessions.get() + 1);
        self.sessions.get()
    }
}

/// A raised limit, as in any store of 10,000 memories: with full categories a stop hook would have nothing to
/// ask for.
const CONFIG: &str = "{\"max_memories_per_category\": 20000}\n";
/// On a busy machine a hook must not hit its deadline.
const DEADLINE_MS: (&str, &str) = ("LORELANE_HOOK_DEADLINE_MS", "60000");

impl Bench {
    pub fn run(&self) -> Result<Vec<Row>, Failure> {
        let transcripts = Transcripts::write(self.transcript_bytes, SEED)?;
        let mut rows = Vec::new();
        for size in &self.sizes {
            let sandbox = Sandbox::new("bench")?;
            let decisions = corpus::write(&sandbox.records(), *size, SEED)?;
            corpus::write_distinct(&sandbox.records())?;
            jobs::write_file(&sandbox.project().join(DEFAULT_ROOT).join(RECORDS_CONFIG), CONFIG)?;
            let store = Store { sandbox, decisions, transcripts: &transcripts, sessions: Cell::new(0) };
            self.process(&store, &REINDEX, 0)?;
            // In a very large store only what runs in every turn of an agent is measured.
            let is_huge = *size > targets::LARGE;
            for job in JOBS.iter().filter(|job| !is_huge || job.name.starts_with("hook ")) {
                rows.push(self.row(&store, job, *size)?);
            }
            if is_huge {
                continue;
            }
            for receipt in 1..=self.receipts {
                self.process(&store, &UPDATE, self.runs + receipt)?;
            }
            for job in JOURNAL_JOBS {
                rows.push(self.row(&store, job, *size)?);
            }
            // Last: from here on the hooks of this project keep a working set.
            rows.extend(self.hook_rows(&store, *size)?);
        }
        let AuditSizes { machine, deep, check } = self.audits;
        rows.extend(self.audit_rows(&transcripts, machine, audit::write_machine, &[audit::MACHINE])?);
        let deep_jobs = [audit::DEEP_FIRST, audit::DEEP_AGAIN];
        rows.extend(self.audit_rows(&transcripts, deep, audit::write_claims, &deep_jobs)?);
        rows.extend(self.audit_rows(&transcripts, check, audit::write_changed, &[audit::CHECK])?);
        rows.extend(self.working_set_rows(&transcripts)?);
        Ok(rows)
    }

    /// Jobs on something else than a store of records.
    fn audit_rows(
        &self,
        transcripts: &Transcripts,
        size: usize,
        write: fn(&Sandbox, usize) -> Result<(), Failure>,
        jobs: &[Job],
    ) -> Result<Vec<Row>, Failure> {
        let sandbox = Sandbox::new("bench")?;
        write(&sandbox, size)?;
        let store = Store { sandbox, decisions: Vec::new(), transcripts, sessions: Cell::new(0) };
        jobs.iter().map(|job| self.row(&store, job, size)).collect()
    }

    fn row(&self, store: &Store<'_>, job: &Job, size: usize) -> Result<Row, Failure> {
        let (mut costs, mut empties) = (Vec::new(), Vec::new());
        let is_long = job.name.starts_with("audit, deep");
        let runs = if is_long { self.runs.min(audit::DEEP_RUNS_MAX) } else { self.runs };
        // Turn 0 warms the page cache and is not counted.
        for turn in 0..=runs {
            let empty = self.empty_process(store)?;
            let cost = self.process(store, job, turn)?;
            if turn > 0 {
                costs.push(cost);
                empties.push(empty);
            }
        }
        Ok(Row::new(job.name, size, &costs, &empties))
    }

    fn process(&self, store: &Store<'_>, job: &Job, turn: usize) -> Result<Cost, Failure> {
        self.call(store, (job.call)(store, turn)?, job)
    }

    /// What a job needs before it can be measured.
    fn run_once(&self, store: &Store<'_>, call: Call) -> Result<Cost, Failure> {
        self.call(store, call, &jobs::job("preparation", |_, _| Ok(jobs::words(&[]))))
    }

    fn call(&self, store: &Store<'_>, Call { args, input }: Call, job: &Job) -> Result<Cost, Failure> {
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let (output, log) = (store.sandbox.scratch("stdout"), store.sandbox.scratch("stderr"));
        let mut command = store.sandbox.command(&self.binary, &args);
        command.env(DEADLINE_MS.0, DEADLINE_MS.1);
        let streams = Streams { input: input.as_deref(), output: &output, log: &log };
        let (cost, code) = measure(&mut command, streams)?;
        let printed = output.metadata().is_ok_and(|output| output.len() > 0);
        if code.is_some_and(|code| job.done.contains(&code)) && job.says.allows(printed) {
            return Ok(cost);
        }
        let said = fs::read_to_string(&log).unwrap_or_default();
        let code = code.map_or("a signal".to_owned(), |code| format!("exit {code}"));
        let printed = if printed { "an answer" } else { "no answer" };
        Err(Failure::new(format!(
            "cannot measure `lorelane {}`: it ended with {code} and {printed}\n{said}",
            args.join(" ")
        )))
    }

    fn empty_process(&self, store: &Store<'_>) -> Result<Cost, Failure> {
        let (output, log) = (store.sandbox.scratch("stdout"), store.sandbox.scratch("stderr"));
        let streams = Streams { input: None, output: &output, log: &log };
        Ok(measure(&mut store.sandbox.bare(&self.empty), streams)?.0)
    }
}
