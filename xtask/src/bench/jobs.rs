//! The measured commands, and for hooks the payloads of a client.

use std::fs;
use std::path::{Path, PathBuf};

use super::transcript::Transcripts;
use super::{SEED, Store};
use crate::corpus;
use crate::failure::Failure;
use lorelane_core::json::{Json, JsonFormat};
use lorelane_engine::disk::SeededRng;

/// A process to measure. `turn` counts the runs, for jobs that need something fresh each time.
pub(super) struct Job {
    pub name: &'static str,
    pub call: fn(&Store<'_>, turn: usize) -> Result<Call, Failure>,
    /// Exit codes that mean success. A failing command would be measured as very fast.
    pub done: &'static [i32],
    /// What the command must print, for the same reason.
    pub says: Says,
}

pub(super) struct Call {
    pub args: Vec<String>,
    /// The file on standard input.
    pub input: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Says {
    Anything,
    Something,
    Nothing,
}

impl Says {
    pub fn allows(self, printed: bool) -> bool {
        match self {
            Says::Anything => true,
            Says::Something => printed,
            Says::Nothing => !printed,
        }
    }
}

pub(super) const fn job(name: &'static str, call: fn(&Store<'_>, usize) -> Result<Call, Failure>) -> Job {
    Job { name, call, done: &[0], says: Says::Anything }
}

pub(super) const JOBS: &[Job] = &[
    job("create", create),
    UPDATE,
    job("candidate", |_, _| Ok(words(&["candidate", "decision", "--new-info", NEWS]))),
    REINDEX,
    job("status", |_, _| Ok(words(&["status"]))),
    // With findings `doctor` exits with 1, and has still checked everything.
    Job { done: &[0, 1], ..job("doctor", |_, _| Ok(words(&["doctor"]))) },
    job("search", |_, _| Ok(words(&["search", SOUGHT]))),
    job("list", |_, _| Ok(words(&["list", "-n", "20"]))),
    // Each retires the oldest active session.
    job("create session", create_session),
    Job { says: Says::Something, ..job("hook session-start", session_start) },
    Job { says: Says::Something, ..job("hook prompt", prompt) },
    Job { says: Says::Something, ..job("hook prompt, 300 words", long_prompt) },
    stop("hook stop, 50 messages", |store, turn| stopped(store, turn, &store.transcripts.short)),
    stop("hook stop, 2,000 messages", |store, turn| stopped(store, turn, &store.transcripts.long)),
    stop("hook stop, 200 MB", |store, turn| stopped(store, turn, &store.transcripts.huge)),
    Job { says: Says::Something, ..job("extract, 27 MB", extract) },
    Job { says: Says::Nothing, ..job("hook guard", guard) },
    Job { says: Says::Something, ..job("hook guard, named file", guard_of_named_file) },
    Job { says: Says::Nothing, ..job("hook after-tool", after_tool) },
];

/// It must ask the agent to save something: otherwise not all of a stop hook was measured.
const fn stop(name: &'static str, call: fn(&Store<'_>, usize) -> Result<Call, Failure>) -> Job {
    Job { says: Says::Something, ..job(name, call) }
}

/// Measured last: their changes would make the memories of the other jobs larger.
pub(super) const JOURNAL_JOBS: &[Job] = &[
    job("log", |_, _| Ok(words(&["log", "-n", "20"]))),
    job("undo --dry-run", |_, _| Ok(words(&["undo", "--dry-run"]))),
];

pub(super) const UPDATE: Job = job("update", update);

pub(super) const REINDEX: Job = job("reindex", |_, _| Ok(words(&["reindex"])));

const SOUGHT: &str = "redis cache invalidation in the importer";

const NEWS: &str =
    "We decided to replace Redis in the session cache because cache invalidation failed under load";

/// About the one memory that is not like the others, see [`corpus::write_distinct`].
const PROMPT: &str = "The importer still serves stale rows after a deploy, and the map shows old tiles. Do I have to \
                      purge the CDN first, or is it Redis?";
const LONG_PROMPT_WORDS: usize = 300;
/// The number of a record that names a file: a constraint.
const NAMED: usize = 3;

fn create(store: &Store<'_>, turn: usize) -> Result<Call, Failure> {
    let mut prng = SeededRng::new(SEED + turn as u64);
    let title = format!("Record bench run {turn} of the create job");
    let context = corpus::sentences(3, &mut prng);
    let draft = store.sandbox.scratch("draft.json");
    write_file(&draft, &corpus::decision_draft(&title, &context, &mut prng))?;
    Ok(words(&["create", "decision", "--from", &draft.to_string_lossy()]))
}

fn create_session(store: &Store<'_>, turn: usize) -> Result<Call, Failure> {
    let mut prng = SeededRng::new(SEED + turn as u64);
    let draft = store.sandbox.scratch("draft.json");
    write_file(&draft, &corpus::session_draft(&format!("Session of bench run {turn}"), &mut prng))?;
    Ok(words(&["create", "session_summary", "--from", &draft.to_string_lossy()]))
}

fn update(store: &Store<'_>, turn: usize) -> Result<Call, Failure> {
    if store.decisions.is_empty() {
        return Err(Failure::new("cannot measure update: the store has no decision").hint("--sizes 100"));
    }
    // Another memory each time: a growing history would make later runs slower.
    let slug = &store.decisions[turn % store.decisions.len()];
    let context = format!("content.context=Measured once more in bench run {turn}");
    Ok(words(&["update", &format!("decision/{slug}"), "--set", &context]))
}

fn session_start(store: &Store<'_>, turn: usize) -> Result<Call, Failure> {
    hook(store, turn, "session-start", "SessionStart", &[("source", Json::text("startup"))])
}

fn prompt(store: &Store<'_>, turn: usize) -> Result<Call, Failure> {
    hook(store, turn, "prompt", "UserPromptSubmit", &prompt_fields())
}

pub(super) fn prompt_fields() -> [(&'static str, Json); 1] {
    [("prompt", Json::text(PROMPT))]
}

fn long_prompt(store: &Store<'_>, turn: usize) -> Result<Call, Failure> {
    let text = corpus::sentences(LONG_PROMPT_WORDS / 8, &mut SeededRng::new(SEED));
    let text: Vec<&str> = PROMPT.split(' ').chain(text.split(' ')).take(LONG_PROMPT_WORDS).collect();
    hook(store, turn, "prompt", "UserPromptSubmit", &[("prompt", Json::text(text.join(" ")))])
}

fn stopped(store: &Store<'_>, turn: usize, transcript: &Path) -> Result<Call, Failure> {
    // What waits from the turn before would be merged with, and nobody asked.
    store.sandbox.remove_captures()?;
    hook(store, turn, "stop", "Stop", &stop_fields(transcript))
}

pub(super) fn stop_fields(transcript: &Path) -> [(&'static str, Json); 4] {
    [
        ("transcript_path", Json::text(transcript.to_string_lossy())),
        ("stop_hook_active", Json::Bool(false)),
        ("last_assistant_message", Json::text(Transcripts::LAST_WORDS)),
        ("background_tasks", Json::List(vec![])),
    ]
}

/// A session as a whole. What waits from the turn before would be known.
fn extract(store: &Store<'_>, _: usize) -> Result<Call, Failure> {
    store.sandbox.remove_captures()?;
    let session = store.sandbox.scratch("session.jsonl");
    if !session.exists() {
        store.transcripts.write_session(&session, &store.sandbox.project(), SEED)?;
    }
    Ok(words(&["extract", &session.to_string_lossy()]))
}

/// A tool that writes a file of the project that is not a memory, which is what a guard sees most.
fn guard(store: &Store<'_>, turn: usize) -> Result<Call, Failure> {
    written(store, turn, "src/main.rs")
}

/// A tool that writes a file that a memory names: the memory comes with it.
fn guard_of_named_file(store: &Store<'_>, turn: usize) -> Result<Call, Failure> {
    written(store, turn, &corpus::file_of(NAMED))
}

fn written(store: &Store<'_>, turn: usize, path: &str) -> Result<Call, Failure> {
    let file = store.sandbox.project().join(path);
    let input = [
        ("file_path", Json::text(file.to_string_lossy())),
        ("content", Json::text(corpus::sentences(40, &mut SeededRng::new(SEED)))),
    ];
    let input = Json::Object(input.into_iter().collect());
    let more = [("tool_name", Json::text("Write")), ("tool_input", input)];
    hook(store, turn, "before-tool", "PreToolUse", &more)
}

/// A command that touched no memory, like nearly all.
fn after_tool(store: &Store<'_>, turn: usize) -> Result<Call, Failure> {
    let input = Json::Object([("command", Json::text("cargo test"))].into_iter().collect());
    let more = [("tool_name", Json::text("Bash")), ("tool_input", input)];
    hook(store, turn, "after-tool", "PostToolUse", &more)
}

/// An event as Claude Code sends it. Each turn is a new session: one that was asked is not asked again.
fn hook(
    store: &Store<'_>,
    turn: usize,
    event: &str,
    claude_code: &str,
    more: &[(&str, Json)],
) -> Result<Call, Failure> {
    let session = format!("5f0c{turn:04}-{:08x}-bench", store.next_session());
    hook_of(store, &session, event, claude_code, more)
}

pub(super) fn hook_of(
    store: &Store<'_>,
    session: &str,
    event: &str,
    claude_code: &str,
    more: &[(&str, Json)],
) -> Result<Call, Failure> {
    let common = [
        ("session_id", Json::text(session)),
        ("cwd", Json::text(store.sandbox.project().to_string_lossy())),
        ("permission_mode", Json::text("default")),
        ("hook_event_name", Json::text(claude_code)),
    ];
    let payload = Json::Object(common.into_iter().chain(more.iter().cloned()).collect());
    let input = store.sandbox.scratch("payload.json");
    write_file(&input, &format!("{}\n", payload.render(JsonFormat::LINE)))?;
    Ok(Call { input: Some(input), ..words(&["hook", event]) })
}

pub(super) fn words(words: &[&str]) -> Call {
    Call { args: words.iter().map(|word| (*word).to_owned()).collect(), input: None }
}

pub(super) fn write_file(path: &Path, text: &str) -> Result<(), Failure> {
    fs::write(path, text).map_err(|error| Failure::on("write", path, error))
}
