//! `bench`: what each command costs as a whole process, against the targets.
//!
//! CPU time, not wall time: it hardly changes with what else the machine does. An empty process
//! of the same profile is measured in between, so that a ratio can be compared across machines.

mod measure;
mod report;
mod targets;

use std::fs;
use std::path::{Path, PathBuf};

use crate::args::Args;
use crate::corpus;
use crate::failure::Failure;
use crate::repo;
use crate::sandbox::Sandbox;
use lorelane_engine::disk::Seeded;

pub use measure::{Cost, measure};
pub use report::{Row, table};
pub use targets::{TARGETS, Target, Verdict};

/// One store is the same on every machine and in every run.
const SEED: u64 = 20_261_115;

#[derive(Debug)]
pub struct Bench {
    pub binary: PathBuf,
    /// An empty `main`, built as the binary was.
    pub empty: PathBuf,
    pub sizes: Vec<usize>,
    pub runs: usize,
    /// Changes that are made, by the binary, before the jobs that read the journal.
    pub receipts: usize,
}

/// As many as a project collects in months.
const RECEIPTS: usize = 1_000;

pub fn command(mut args: Args) -> Result<bool, Failure> {
    let sizes_text: String = args.option("--sizes")?.unwrap_or_else(|| "100,1000,10000".to_owned());
    let runs: usize = args.option("--runs")?.unwrap_or(21);
    let binary: Option<PathBuf> = args.option("--binary")?;
    let write: Option<PathBuf> = args.option("--write")?;
    args.finish()?;
    let unreadable =
        |_| Failure::new(format!("cannot read --sizes `{sizes_text}`")).hint("--sizes 100,1000,10000");
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

    // One call for both, so that they share every flag.
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
    let rows = Bench { binary, empty, sizes, runs, receipts: RECEIPTS }.run()?;
    let journal = format!("`log` and `undo --dry-run` read a journal of at least {RECEIPTS} receipts");
    let (today, machine) = (report::today(), report::machine());
    let text = format!("`{origin}`, {today}, {machine}. {journal}.\n\n{}", table(&rows));
    println!("{text}");
    if let Some(file) = write {
        report::write(&file, &text)?;
    }
    Ok(rows.iter().all(|row| row.verdict() != Verdict::Missed))
}

/// A command line to measure. `turn` counts the runs, for jobs that need something fresh each time.
struct Job {
    name: &'static str,
    args: fn(&Store, turn: usize) -> Result<Vec<String>, Failure>,
    /// Exit codes that mean the work was done. Anything else would be measured as very fast.
    done: &'static [i32],
}

const JOBS: &[Job] = &[
    Job { name: "create", args: create, done: &[0] },
    UPDATE,
    Job {
        name: "candidate",
        args: |_, _| Ok(words(&["candidate", "decision", "--new-info", NEWS])),
        done: &[0],
    },
    REINDEX,
    Job { name: "status", args: |_, _| Ok(words(&["status"])), done: &[0] },
    // A doctor that finds something to say has looked at everything, too.
    Job { name: "doctor", args: |_, _| Ok(words(&["doctor"])), done: &[0, 1] },
    Job { name: "search", args: |_, _| Ok(words(&["search", SOUGHT])), done: &[0] },
    Job { name: "list", args: |_, _| Ok(words(&["list", "-n", "20"])), done: &[0] },
    // Each pushes the oldest of the active sessions out of the window.
    Job { name: "create session", args: create_session, done: &[0] },
];

/// Measured last: the changes they need would make the memories of the other jobs larger.
const JOURNAL_JOBS: &[Job] = &[
    Job { name: "log", args: |_, _| Ok(words(&["log", "-n", "20"])), done: &[0] },
    Job { name: "undo --dry-run", args: |_, _| Ok(words(&["undo", "--dry-run"])), done: &[0] },
];

const UPDATE: Job = Job { name: "update", args: update, done: &[0] };

const REINDEX: Job = Job { name: "reindex", args: |_, _| Ok(words(&["reindex"])), done: &[0] };

const SOUGHT: &str = "redis cache invalidation in the importer";

const NEWS: &str =
    "We decided to replace Redis in the session cache because cache invalidation failed under load";

/// A project full of memories, and what the jobs need to know of it.
struct Store {
    sandbox: Sandbox,
    decisions: Vec<String>,
}

impl Bench {
    pub fn run(&self) -> Result<Vec<Row>, Failure> {
        let mut rows = Vec::new();
        for size in &self.sizes {
            let sandbox = Sandbox::new("bench")?;
            let decisions = corpus::write(&sandbox.records(), *size, SEED)?;
            let store = Store { sandbox, decisions };
            self.process(&store, &REINDEX, 0)?;
            for job in JOBS {
                rows.push(self.row(&store, job, *size)?);
            }
            for receipt in 1..=self.receipts {
                self.process(&store, &UPDATE, self.runs + receipt)?;
            }
            for job in JOURNAL_JOBS {
                rows.push(self.row(&store, job, *size)?);
            }
        }
        Ok(rows)
    }

    fn row(&self, store: &Store, job: &Job, size: usize) -> Result<Row, Failure> {
        let (mut costs, mut empties) = (Vec::new(), Vec::new());
        // Turn 0 warms the page cache and is not counted.
        for turn in 0..=self.runs {
            let empty = self.empty_process(store)?;
            let cost = self.process(store, job, turn)?;
            if turn > 0 {
                costs.push(cost);
                empties.push(empty);
            }
        }
        Ok(Row::new(job.name, size, &costs, &empties))
    }

    fn process(&self, store: &Store, job: &Job, turn: usize) -> Result<Cost, Failure> {
        let args = (job.args)(store, turn)?;
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let log = store.sandbox.scratch("stderr");
        let (cost, code) = measure(&mut store.sandbox.command(&self.binary, &args), &log)?;
        if code.is_some_and(|code| job.done.contains(&code)) {
            return Ok(cost);
        }
        let said = fs::read_to_string(&log).unwrap_or_default();
        let code = code.map_or("a signal".to_owned(), |code| format!("exit {code}"));
        Err(Failure::new(format!(
            "cannot measure `lorelane {}`: it ended with {code}\n{said}",
            args.join(" ")
        )))
    }

    fn empty_process(&self, store: &Store) -> Result<Cost, Failure> {
        Ok(measure(&mut store.sandbox.bare(&self.empty), &store.sandbox.scratch("stderr"))?.0)
    }
}

fn create(store: &Store, turn: usize) -> Result<Vec<String>, Failure> {
    let mut prng = Seeded::new(SEED + turn as u64);
    let title = format!("Record bench run {turn} of the create job");
    let context = corpus::sentences(3, &mut prng);
    let draft = store.sandbox.scratch("draft.json");
    write_file(&draft, &corpus::decision_draft(&title, &context, &mut prng))?;
    Ok(words(&["create", "decision", "--from", &draft.to_string_lossy()]))
}

fn create_session(store: &Store, turn: usize) -> Result<Vec<String>, Failure> {
    let mut prng = Seeded::new(SEED + turn as u64);
    let draft = store.sandbox.scratch("draft.json");
    write_file(&draft, &corpus::session_draft(&format!("Session of bench run {turn}"), &mut prng))?;
    Ok(words(&["create", "session_summary", "--from", &draft.to_string_lossy()]))
}

fn update(store: &Store, turn: usize) -> Result<Vec<String>, Failure> {
    if store.decisions.is_empty() {
        return Err(Failure::new("cannot measure update: the store has no decision").hint("--sizes 100"));
    }
    // Another memory each time: a history that grows would make later runs dearer.
    let slug = &store.decisions[turn % store.decisions.len()];
    let context = format!("content.context=Measured once more in bench run {turn}");
    Ok(words(&["update", &format!("decision/{slug}"), "--set", &context]))
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn write_file(path: &Path, text: &str) -> Result<(), Failure> {
    fs::write(path, text).map_err(|error| Failure::on("write", path, error))
}
