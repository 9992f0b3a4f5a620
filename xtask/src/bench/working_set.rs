//! What the working set is measured on: a session with many files, a long log, and hooks of a session with a few files.

use std::fs;
use std::path::{Path, PathBuf};

use super::audit::says;
use super::jobs::{Call, Job, hook_of, job, prompt_fields, stop_fields, words, write_file};
use super::transcript::Transcripts;
use super::{Bench, Row, SEED, Store};
use crate::corpus;
use crate::failure::Failure;
use crate::sandbox::Sandbox;
use lorelane_core::time::Timestamp;
use lorelane_core::working_set::{EventKind, SessionEvent, Touch, TouchKind, digest, log_header};
use lorelane_engine::disk::SeededRng;

/// How much each of these jobs has: their targets are for these sizes.
#[derive(Clone, Copy, Debug)]
pub struct WorkingSetSizes {
    pub files: usize,
    pub events: usize,
    pub collected: usize,
}

impl WorkingSetSizes {
    pub const USUAL: WorkingSetSizes = WorkingSetSizes { files: 1_000, events: 10_000, collected: 10_000 };
}

const SESSION: &str = "bench";
/// The context of all jobs; 4,000 more are reserved for the answer.
const BUDGET: &str = "28000";
const FILE_BYTES: usize = 10 << 10;
/// A set as an agent has it, for the hooks.
const USUAL_FILES: usize = 30;
/// An event has the entries of one command, and an event of a megabyte is not what is measured.
const ADDED_AT_ONCE: usize = 500;
const EVENTS_PER_TURN: usize = 20;
const STARTED: Timestamp = Timestamp(1_790_000_000);

const FILES: &[Job] = &[
    // With a budget for a few of the files, those that must be kept do not fit.
    Job {
        done: &[0, 1],
        ..says("ws assemble, 10 KB each", |_, _| Ok(in_session(&["assemble", "--budget", BUDGET])))
    },
    says("ws status", |_, _| Ok(in_session(&["status"]))),
];
const COLLECTION: &[Job] = &[says("ws gc --dry-run", |_, _| Ok(in_session(&["gc", "--dry-run"])))];
const LOG: &[Job] = &[says("ws log, state rebuilt", |store, _| {
    forget_state(&store.sandbox)?;
    Ok(in_session(&["log", "-n", "5"]))
})];
/// The touches of a turn cost what these take more than the same hooks without a set.
const HOOKS: &[Job] = &[
    says("hook prompt, working set", |store, _| {
        hook_of(store, SESSION, "prompt", "UserPromptSubmit", &prompt_fields())
    }),
    // A session that was asked to save is not asked again.
    job("hook stop, working set", |store, _| {
        let more = stop_fields(&store.transcripts.short);
        hook_of(store, SESSION, "stop", "Stop", &more)
    }),
];

fn in_session(args: &[&str]) -> Call {
    words(&[&["ws"][..], args, &["--session", SESSION][..]].concat())
}

impl Bench {
    pub(super) fn working_set_rows(&self, transcripts: &Transcripts) -> Result<Vec<Row>, Failure> {
        let WorkingSetSizes { files, events, collected } = self.working_sets;
        let store = self.store_with_set(transcripts, files)?;
        let mut rows = FILES.iter().map(|job| self.row(&store, job, files)).collect::<Result<Vec<_>, _>>()?;
        let store = self.store_with_set(transcripts, 0)?;
        write_log(&store.sandbox, events)?;
        for job in LOG {
            rows.push(self.row(&store, job, events)?);
        }
        let store = self.store_with_set(transcripts, collected)?;
        for job in COLLECTION {
            rows.push(self.row(&store, job, collected)?);
        }
        Ok(rows)
    }

    fn store_with_set<'r>(&self, transcripts: &'r Transcripts, files: usize) -> Result<Store<'r>, Failure> {
        let sandbox = Sandbox::new("bench")?;
        let store = Store { sandbox, decisions: Vec::new(), transcripts, sessions: std::cell::Cell::new(0) };
        self.add_working_set(&store, files)?;
        Ok(store)
    }

    /// Starts a session with this many files.
    pub(super) fn add_working_set(&self, store: &Store<'_>, files: usize) -> Result<(), Failure> {
        let mut prng = SeededRng::new(SEED);
        let mut paths = Vec::new();
        for number in 0..files {
            let path = format!("src/part{}/module{number}.md", number % 100);
            let mut text = corpus::sentences(FILE_BYTES / 60, &mut prng).replace(". ", ".\n");
            text.truncate(text.floor_char_boundary(FILE_BYTES));
            let file = store.sandbox.project().join(&path);
            let folder = file.parent().unwrap_or(Path::new("."));
            fs::create_dir_all(folder).map_err(|error| Failure::on("create", folder, error))?;
            write_file(&file, &text)?;
            paths.push(path);
        }
        self.run_once(store, words(&["ws", "init", "--session", SESSION]))?;
        for paths in paths.chunks(ADDED_AT_ONCE) {
            let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
            let why = ["--because", "the bench needs them", "--session", SESSION];
            self.run_once(store, words(&[&["ws", "add"][..], &paths[..], &why[..]].concat()))?;
        }
        Ok(())
    }

    /// The hooks in a store of memories, with a usual set.
    pub(super) fn hook_rows(&self, store: &Store<'_>, size: usize) -> Result<Vec<Row>, Failure> {
        self.add_working_set(store, USUAL_FILES)?;
        HOOKS.iter().map(|job| self.row(store, job, size)).collect()
    }
}

fn session_folder(sandbox: &Sandbox) -> PathBuf {
    sandbox.project().join(".agent/sessions").join(SESSION)
}

/// The log of a long session: turns with touches of many files.
fn write_log(sandbox: &Sandbox, events: usize) -> Result<(), Failure> {
    let mut text = log_header(SESSION, STARTED);
    let mut prev = String::new();
    for number in 0..events {
        let kind = if number == 0 {
            let (session_id, protocol) = (SESSION.to_owned(), "MEMORY-MGMT/0.1".to_owned());
            EventKind::SessionStart { session_id, protocol, client: None }
        } else {
            let path =
                |touch: usize| format!("src/part{}/module{}.md", touch % 100, (number * 3 + touch) % 500);
            let touch = |touch: usize| Touch { path: path(touch), by: TouchKind::Read };
            EventKind::ModelTurn {
                touches: (0..3).map(touch).collect(),
                read_to: Some(number as u64 * 1_000),
            }
        };
        let (at, seq) = (Timestamp(STARTED.0 + number as i64), number as u64 + 1);
        let turn = (number / EVENTS_PER_TURN) as u32;
        let block = SessionEvent { at, seq, turn, change: 0, prev, kind }.render();
        // The first event of a file includes its header.
        prev = if number == 0 { digest(&format!("{text}{block}")) } else { digest(&block) };
        text.push_str(&block);
    }
    let folder = session_folder(sandbox);
    fs::create_dir_all(&folder).map_err(|error| Failure::on("create", &folder, error))?;
    write_file(&folder.join("session-log.md"), &text)
}

/// Removes the snapshot of the state, so that the log is read.
fn forget_state(sandbox: &Sandbox) -> Result<(), Failure> {
    let folder = sandbox.home().join("cache/lorelane/working-sets");
    match fs::remove_dir_all(&folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(Failure::on("remove", &folder, error))
        }
        _ => Ok(()),
    }
}
