//! Transcripts as Claude Code writes them, of three lengths.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::corpus;
use crate::failure::Failure;
use crate::sandbox::Sandbox;
use lorelane_core::json::{Json, JsonFormat};
use lorelane_engine::disk::SeededRng;

/// Removed when dropped.
#[derive(Debug)]
pub(super) struct Transcripts {
    pub short: PathBuf,
    pub long: PathBuf,
    pub huge: PathBuf,
    /// The length of a session that is extracted.
    session_bytes: usize,
    _sandbox: Sandbox,
}

/// A session of a long day.
const SESSION_BYTES: usize = 27 << 20;
/// The folder of the project that the sessions ran in.
const PROJECT: &str = "/home/dev/project";
/// The size of a file that a tool read.
const RESULT_BYTES: usize = 2 << 10;
/// The results that make a transcript huge: logs, large files, test runs.
const HUGE_RESULT_BYTES: usize = 192 << 10;

impl Transcripts {
    /// What the user says last: something to keep that no memory of the corpus says, so that the agent is asked.
    const DECISION: &str =
        "We decided to sign the invoices with the clinic's own stamp because the auditor wants it.";
    pub const LAST_WORDS: &str = "Done, the clinic's stamp signs the invoices.";

    /// `huge` becomes at least `huge_bytes` long.
    pub fn write(huge_bytes: usize, seed: u64) -> Result<Transcripts, Failure> {
        let sandbox = Sandbox::new("transcripts")?;
        let [short, long, huge] = ["short", "long", "huge"].map(|name| sandbox.scratch(name));
        write(&short, seed, RESULT_BYTES, PROJECT, |written| written.messages < 50)?;
        write(&long, seed, RESULT_BYTES, PROJECT, |written| written.messages < 2_000)?;
        write(&huge, seed, HUGE_RESULT_BYTES, PROJECT, |written| written.bytes < huge_bytes)?;
        let session_bytes = huge_bytes.min(SESSION_BYTES);
        Ok(Transcripts { short, long, huge, session_bytes, _sandbox: sandbox })
    }

    /// Writes a session of this project.
    pub fn write_session(&self, path: &Path, project: &Path, seed: u64) -> Result<(), Failure> {
        let more = |written: Written| written.bytes < self.session_bytes;
        write(path, seed, RESULT_BYTES, &project.to_string_lossy(), more)
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Written {
    /// The number of messages with text.
    messages: usize,
    bytes: usize,
}

/// Writes exchanges as long as `more` returns true, and a last one. A tool result has up to `result_bytes`.
fn write(
    path: &Path,
    seed: u64,
    result_bytes: usize,
    project: &str,
    more: impl Fn(Written) -> bool,
) -> Result<(), Failure> {
    let fault = |error| Failure::on("write", path, error);
    let mut file = BufWriter::new(File::create(path).map_err(fault)?);
    let mut prng = SeededRng::new(seed);
    // The text is generated once; results differ in where it is cut.
    let results = corpus::sentences(result_bytes / 50, &mut prng).replace(". ", ".\n");
    let mut written = Written::default();
    let mut number = 0;
    loop {
        number += 1;
        let result: String = results.chars().take(1 + prng.below(result_bytes)).collect();
        let is_last = !more(Written { messages: written.messages + 2, ..written });
        let answer =
            if is_last { Transcripts::LAST_WORDS.to_owned() } else { corpus::sentences(3, &mut prng) };
        let question = if is_last { Transcripts::DECISION.to_owned() } else { corpus::task(&mut prng) };
        for line in exchange(project, number, &question, &result, &answer) {
            let line = format!("{}\n", line.render(JsonFormat::LINE));
            written.bytes += line.len();
            file.write_all(line.as_bytes()).map_err(fault)?;
        }
        written.messages += 2;
        if is_last {
            break;
        }
    }
    file.flush().map_err(fault)
}

/// A question, a tool call with its result, and the answer.
fn exchange(project: &str, number: usize, question: &str, result: &str, answer: &str) -> [Json; 5] {
    let (message, tool) = (format!("msg_{number:08}"), format!("toolu_{number:08}"));
    let said = |id: &str, content: Json, stop: &str| {
        let message = object([
            ("id", Json::text(id)),
            ("type", Json::text("message")),
            ("role", Json::text("assistant")),
            ("model", Json::text("claude")),
            ("content", Json::List(vec![content])),
            ("stop_reason", Json::text(stop)),
            ("usage", object([("input_tokens", Json::number(12)), ("output_tokens", Json::number(180))])),
        ]);
        line(project, "assistant", number, message, [])
    };
    let user = |content: Json| object([("role", Json::text("user")), ("content", content)]);
    let used = object([
        ("type", Json::text("tool_use")),
        ("id", Json::text(&tool)),
        ("name", Json::text("Bash")),
        ("input", object([("command", Json::text("cargo test --workspace"))])),
    ]);
    let given = object([
        ("tool_use_id", Json::text(&tool)),
        ("type", Json::text("tool_result")),
        ("content", Json::text(result)),
        ("is_error", Json::Bool(false)),
    ]);
    // The client writes a result twice: as the model got it, and in full.
    let stdout = object([("stdout", Json::text(result)), ("stderr", Json::text(""))]);
    [
        line(project, "user", number, user(Json::text(question)), []),
        said(&message, used, "tool_use"),
        line(project, "user", number, user(Json::List(vec![given])), [("toolUseResult", stdout)]),
        said(
            &format!("{message}b"),
            object([("type", Json::text("text")), ("text", Json::text(answer))]),
            "end_turn",
        ),
        object([
            ("type", Json::text("system")),
            ("subtype", Json::text("stop_hook_summary")),
            ("hookCount", Json::number(1)),
            ("uuid", Json::text(format!("00000000-0000-4000-8000-{number:012}"))),
        ]),
    ]
}

fn line<const N: usize>(
    project: &str,
    kind: &str,
    number: usize,
    message: Json,
    more: [(&str, Json); N],
) -> Json {
    let common = [
        ("parentUuid", Json::text(format!("00000000-0000-4000-8000-{:012}", number.saturating_sub(1)))),
        ("isSidechain", Json::Bool(false)),
        ("type", Json::text(kind)),
        ("message", message),
        ("uuid", Json::text(format!("00000000-0000-4000-8000-{number:012}"))),
        ("timestamp", Json::text("2026-11-15T18:22:39.871Z")),
        ("userType", Json::text("external")),
        ("entrypoint", Json::text("cli")),
        ("cwd", Json::text(project)),
        ("sessionId", Json::text("5f0c0000-bench")),
        ("version", Json::text("2.1.325")),
        ("gitBranch", Json::text("main")),
    ];
    Json::Object(common.into_iter().chain(more).collect())
}

fn object<const N: usize>(members: [(&str, Json); N]) -> Json {
    Json::Object(members.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use lorelane_core::conversation::TranscriptFormat as Transcript;
    use lorelane_engine::transcript;

    #[test]
    fn they_are_as_long_as_they_say_and_end_with_something_to_save() {
        let bytes = 1 << 20;
        let transcripts = Transcripts::write(bytes, 7).unwrap();
        assert!(transcripts.huge.metadata().unwrap().len() >= bytes as u64);
        let folders = [std::env::temp_dir().canonicalize().unwrap()];
        for (path, expected) in [(&transcripts.short, 50), (&transcripts.long, 200)] {
            let read = transcript::read(path, Transcript::ClaudeCode, 200, &folders).unwrap();
            let spoken: Vec<&str> = read
                .messages
                .iter()
                .filter(|message| message.speaks())
                .map(|message| message.text.as_str())
                .collect();
            assert_eq!(spoken.len(), expected);
            assert_eq!(spoken.last(), Some(&Transcripts::LAST_WORDS));
        }
        let huge = std::fs::read_to_string(&transcripts.huge).unwrap();
        assert!(huge.lines().rev().nth(4).unwrap().contains(Transcripts::DECISION));
        let lines = |path: &Path| std::fs::read_to_string(path).unwrap().lines().count();
        assert_eq!((lines(&transcripts.short), lines(&transcripts.long)), (125, 5_000));
    }
}
