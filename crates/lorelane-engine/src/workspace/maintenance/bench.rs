//! `bench`: measures recall on the project's own memories and keeps the results.

use super::Maintenance;
use crate::append_log;
use crate::index::ListFilter;
use crate::workspace::Failure;
use lorelane_core::bench::{
    BenchQuestion, BenchReport, BenchRun, EXPECTATIONS_FILE, Expectation, ExpectationResult, Question,
    QuestionSource, TermIndex, expectations, judge, questions, sample,
};
use lorelane_core::corpus::MemorySummary;
use lorelane_core::lifecycle::Status;
use lorelane_core::mark::MARKS_FOLDER;
use lorelane_core::recall::{Hit, Query};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const EXPECTATIONS_MAX_BYTES: u64 = 16 << 20;
/// About two hundred runs; a full file is rotated.
const RESULTS_MAX_BYTES: u64 = 1 << 20;
/// A memory that ranks below this counts as not found.
const ANSWERS: usize = 10;

/// No session has this name, so no question repeats what a session was shown.
const NO_SESSION: &str = "";

/// The result of a run, and how long its searches took.
#[derive(Debug)]
pub struct BenchOutcome {
    pub report: BenchReport,
    /// The number of active memories.
    pub memories: usize,
    /// The files the expectations were read from.
    pub files: Vec<PathBuf>,
    /// The median time of a search.
    pub median: Duration,
}

impl Maintenance<'_> {
    /// Runs the expectations and the questions made from memories, and compares the result with the newest
    /// baseline. `given` are files of expectations beside the project's own. Writes nothing.
    pub fn bench(&mut self, given: &[PathBuf]) -> Result<BenchOutcome, Failure> {
        let (files, expected) = self.expectations(given)?;
        self.scan()?;
        let active = self
            .workspace
            .recall()
            .entries(ListFilter { status: Some(Status::Active), ..ListFilter::default() })?;
        let mut times = Vec::new();
        let mut tried = Vec::new();
        for expectation in expected {
            let hits = self.timed(&expectation.query, ANSWERS.max(expectation.within), &mut times)?;
            tried.push(ExpectationResult::new(expectation, &hits));
        }
        let mut asked = Vec::new();
        for question in self.own_questions(&active) {
            let hits = self.timed(&question.text, ANSWERS, &mut times)?;
            let briefing = self.workspace.reminders().brief(&question.text, NO_SESSION)?;
            let reminders = briefing.reminders.into_iter().map(|reminder| reminder.hit.address).collect();
            asked.push(BenchQuestion::new(question, &hits, reminders));
        }
        times.sort_unstable();
        let median = times.get(times.len() / 2).copied().unwrap_or_default();
        let report = judge(asked, tried, self.bench_baseline().as_ref(), self.workspace.now);
        Ok(BenchOutcome { report, memories: active.len(), files, median })
    }

    /// Appends a run to the results. They are numbers and digests: words would have to be forgotten with their
    /// memory.
    pub fn keep_bench(&self, kept: &BenchRun) -> Result<(), Failure> {
        let state = self.workspace.project.state.for_writing();
        let (current, former) = self.bench_files();
        let fault = |source| Failure::io("write", &current, source);
        let baseline = self.bench_baseline();
        self.workspace.disk.create_private_dir_all(&state).map_err(fault)?;
        append_log::rotate(&*self.workspace.disk, &current, &former, RESULTS_MAX_BYTES).map_err(fault)?;
        let mut text = kept.line();
        if self.workspace.disk.stat(&current).map_err(fault)?.is_none() {
            // A new file starts with the baseline: otherwise a long series of failing runs would rotate it
            // away, and the next run would have nothing to be compared with.
            text.insert_str(0, &baseline.map(|baseline| baseline.line()).unwrap_or_default());
        }
        self.workspace.disk.append(&current, text.as_bytes()).map_err(fault)
    }

    /// The newest run that is a baseline. A failed or worse run is not: a regression would otherwise fail
    /// only once.
    fn bench_baseline(&self) -> Option<BenchRun> {
        let (current, former) = self.bench_files();
        [current, former].iter().find_map(|path| {
            let bytes = self.workspace.disk.read_regular(path, 2 * RESULTS_MAX_BYTES).ok()??;
            let text = String::from_utf8_lossy(&bytes);
            text.lines().rev().filter_map(BenchRun::read).find(|kept| kept.is_baseline)
        })
    }

    fn bench_files(&self) -> (PathBuf, PathBuf) {
        let state = &self.workspace.project.state;
        (state.join("bench.jsonl"), state.join("bench.old.jsonl"))
    }

    fn timed(&mut self, text: &str, limit: usize, times: &mut Vec<Duration>) -> Result<Vec<Hit>, Failure> {
        let query = Query::of_person(text, self.workspace.now);
        let begin = Instant::now();
        let hits = self.workspace.recall().search(&query, limit)?.hits;
        times.push(begin.elapsed());
        Ok(hits)
    }

    /// Reads all memories, not only the sampled ones: the unanswerable questions need words that occur in none.
    fn own_questions(&self, active: &[MemorySummary]) -> Vec<Question> {
        let drawn = sample(active.iter().map(|entry| &entry.address));
        let mut vocabulary = TermIndex::default();
        let mut sources = Vec::new();
        for source in active.iter().filter_map(|entry| self.source(entry)) {
            vocabulary.take(&source);
            if drawn.contains(&source.address) {
                sources.push(source);
            }
        }
        questions(&sources, &vocabulary)
    }

    fn source(&self, entry: &MemorySummary) -> Option<QuestionSource> {
        let lane = self.workspace.lanes.of(&entry.address)?;
        let document = lane.load(&entry.address).ok()?.document;
        Some(QuestionSource {
            address: entry.address.clone(),
            title: if entry.is_titled() { entry.title.clone() } else { String::new() },
            tags: entry.tags.clone(),
            passages: lane.dialect.passages(&document).into_iter().map(|passage| passage.text).collect(),
        })
    }

    /// The files of expectations that exist, and their expectations, with former addresses resolved.
    fn expectations(&self, given: &[PathBuf]) -> Result<(Vec<PathBuf>, Vec<Expectation>), Failure> {
        let own = self.workspace.project.root.join(MARKS_FOLDER).join(EXPECTATIONS_FILE);
        let (mut files, mut expected) = (Vec::new(), Vec::new());
        if let Some(bytes) = self
            .workspace
            .disk
            .read_regular(&own, EXPECTATIONS_MAX_BYTES)
            .map_err(|source| Failure::io("read", &own, source))?
        {
            expected.append(&mut understood(&own, &bytes)?);
            files.push(own);
        }
        for path in given {
            let bytes =
                self.workspace.disk.read(path).and_then(|bytes| {
                    bytes.ok_or_else(|| std::io::Error::from(std::io::ErrorKind::NotFound))
                });
            expected
                .append(&mut understood(path, &bytes.map_err(|source| Failure::io("read", path, source))?)?);
            files.push(path.clone());
        }
        let marks = self.workspace.marks();
        let named = expected.iter_mut().flat_map(|one| one.must.iter_mut().chain(&mut one.must_not));
        for address in named.filter(|address| !self.workspace.exists(address)) {
            *address = marks.follow(address).clone();
        }
        Ok((files, expected))
    }
}

/// One invalid line rejects the whole file: a typo must not pass for an expectation that is met.
fn understood(path: &Path, bytes: &[u8]) -> Result<Vec<Expectation>, Failure> {
    expectations(&String::from_utf8_lossy(bytes))
        .map_err(|fault| Failure::Expectation { path: path.to_owned(), fault })
}
