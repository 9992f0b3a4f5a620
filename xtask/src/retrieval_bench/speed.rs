//! The CPU time of recall, with the questions of the sets on their texts, repeated to size.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use lorelane_core::json::{Json, JsonFormat};

use super::{Report, Set};
use crate::bench::{Cost, Streams, measure, percentile};
use crate::failure::Failure;
use crate::mcp::speed::Server;
use crate::sandbox::Sandbox;

/// The size of a memory, in bytes.
const MEMORY_BYTES: usize = 1_200;
/// How many questions are asked of a store.
const QUESTIONS: usize = 100;
const RUNS: usize = 15;
/// The limit for the slowest searches in a store of 10,000, as a multiple of an empty process.
const SEARCH_P95: f64 = 43.0;

/// The measured program, and one that does nothing.
#[derive(Clone, Debug)]
pub struct Programs {
    pub binary: PathBuf,
    pub empty: PathBuf,
}

struct Row {
    job: String,
    measured: String,
    must: String,
    aim: String,
    verdict: &'static str,
}

pub fn table(sets: &[Set], programs: &Programs, sizes: &[usize]) -> Result<Report, Failure> {
    let pieces = pieces(sets)?;
    let questions = questions(sets);
    let mut rows = Vec::new();
    for size in sizes {
        store(&pieces, &questions, programs, *size, &mut rows)?;
    }
    let mut tables = String::from("| job | median / p95 |\n| --- | ---: |\n");
    let mut verdicts = String::new();
    for Row { job, measured, must, aim, verdict } in &rows {
        let _ = writeln!(tables, "| {job} | {measured} |");
        let _ = writeln!(verdicts, "{job}: {measured}; must {must}, aim {aim}: {verdict}");
    }
    Ok(Report { tables, verdicts, met: rows.iter().all(|row| row.verdict != MISSED) })
}

const MISSED: &str = "MISSED";

fn judge(value: f64, must: f64, aim: f64) -> &'static str {
    if value <= aim {
        "aim met"
    } else if value <= must {
        "met"
    } else {
        MISSED
    }
}

fn timed(job: String, costs: &[Cost], empty_ms: f64, limits: (f64, f64)) -> Row {
    row(job, (percentile(costs, 50), percentile(costs, 95)), empty_ms, limits)
}

/// Must and aim are multiples of the empty process in the same run, as in `bench`.
fn row(job: String, (median, p95): (f64, f64), empty_ms: f64, (must, aim): (f64, f64)) -> Row {
    let empties = median / empty_ms;
    Row {
        job,
        measured: format!("{median:.1} / {p95:.1} ms ({empties:.1} × empty)"),
        must: format!("{must} ×"),
        aim: format!("{aim} ×"),
        verdict: judge(empties, must, aim),
    }
}

/// The texts of the sets in pieces as long as a memory, without frontmatter.
fn pieces(sets: &[Set]) -> Result<Vec<String>, Failure> {
    let mut pieces = Vec::new();
    for set in sets {
        for text in set.texts()? {
            let body = text
                .strip_prefix("---\n")
                .and_then(|rest| rest.split_once("\n---\n"))
                .map_or(&*text, |(_, body)| body);
            let mut piece = String::new();
            for paragraph in body.split("\n\n").filter(|paragraph| !paragraph.trim().is_empty()) {
                if !piece.is_empty() && piece.len() + paragraph.len() > MEMORY_BYTES {
                    pieces.push(std::mem::take(&mut piece));
                }
                if !piece.is_empty() {
                    piece.push_str("\n\n");
                }
                let end = paragraph.floor_char_boundary(paragraph.len().min(MEMORY_BYTES));
                piece.push_str(paragraph[..end].trim());
            }
            if piece.len() > MEMORY_BYTES / 3 {
                pieces.push(piece);
            }
        }
    }
    Ok(pieces)
}

fn questions(sets: &[Set]) -> Vec<String> {
    let all: Vec<&String> =
        sets.iter().flat_map(|set| &set.questions).map(|question| &question.query).collect();
    let step = (all.len() / QUESTIONS).max(1);
    all.into_iter().step_by(step).take(QUESTIONS).cloned().collect()
}

fn store(
    pieces: &[String],
    questions: &[String],
    programs: &Programs,
    size: usize,
    rows: &mut Vec<Row>,
) -> Result<(), Failure> {
    let sandbox = Sandbox::empty("speed")?;
    let lane = sandbox.project().join(".memories");
    fs::create_dir_all(&lane).map_err(|error| Failure::on("create", &lane, error))?;
    let mut bytes = 0;
    for (number, piece) in pieces.iter().cycle().take(size).enumerate() {
        let text = format!(
            "---\ntype: \"journal\"\nstatus: \"active\"\ntags: []\ncreated_at: \"2025-01-01T00:00:00+00:00\"\n---\n\n{piece}\n"
        );
        bytes += text.len();
        let file = lane.join(format!("n{number:06}.md"));
        fs::write(&file, text).map_err(|error| Failure::on("write", &file, error))?;
    }
    let probe = Probe { sandbox: &sandbox, programs };
    let empty = percentile(&probe.repeat(RUNS, |_| Ok(Call::Empty))?, 50);
    let large = size > 10_000;
    let full = probe.repeat(1, |_| Ok(Call::of(&["reindex", "--full"])))?;
    if !large {
        let job = format!("full index of {size} memories of 1.2 KB");
        rows.push(timed(job, &full, empty, (11_400.0, 4_300.0)));
    }
    let searched = probe.repeat(questions.len(), |at| Ok(Call::of(&["search", &questions[at]])))?;
    let job = format!("search in a new process, {size}");
    let mut searches = timed(job, &searched, empty, if large { (86.0, 29.0) } else { (21.0, 8.6) });
    if !large && percentile(&searched, 95) > SEARCH_P95 * empty {
        searches.verdict = MISSED;
    }
    rows.push(searches);
    let index = index_bytes(&sandbox.home());
    let times = index as f64 / bytes as f64;
    rows.push(Row {
        job: format!("index on disk, {size}"),
        measured: format!("{times:.1} × the text"),
        must: "4 × the text".to_owned(),
        aim: "2 × the text".to_owned(),
        verdict: judge(times, 4.0, 2.0),
    });
    if large {
        return Ok(());
    }
    let prompts = probe.repeat(questions.len(), |at| prompt(&sandbox, &questions[at]))?;
    rows.push(timed(format!("prompt hook, {size}"), &prompts, empty, (21.0, 8.6)));
    let write = |at: usize| {
        let text = format!("A line that was added in turn {at}.");
        Ok(Call::of(&["append", &format!("notes/n{:06}", at * 7), &text]))
    };
    let written = probe.repeat(RUNS, write)?;
    rows.push(timed(format!("one write, index included, {size}"), &written, empty, (21.0, 7.1)));
    let mut server = Server::start(sandbox.command(&programs.binary, &["mcp"]))?;
    let cost = server.search(questions)?;
    let (median, p95) = (cost.median_us as f64 / 1_000.0, cost.p95_us as f64 / 1_000.0);
    rows.push(row(format!("search in the running server, {size}"), (median, p95), empty, (4.3, 1.4)));
    if let Some(kilobytes) = server.memory_kb() {
        let megabytes = kilobytes as f64 / 1024.0;
        rows.push(Row {
            job: format!("server memory, {size}"),
            measured: format!("{megabytes:.0} MB"),
            must: "80 MB".to_owned(),
            aim: "40 MB".to_owned(),
            verdict: judge(megabytes, 80.0, 40.0),
        });
    }
    Ok(())
}

fn prompt(sandbox: &Sandbox, question: &str) -> Result<Call, Failure> {
    let payload = Json::Object(
        [
            ("session_id", Json::text("s-1")),
            ("hook_event_name", Json::text("UserPromptSubmit")),
            ("cwd", Json::text(sandbox.project().display().to_string())),
            ("prompt", Json::text(question)),
        ]
        .into_iter()
        .collect(),
    );
    let file = sandbox.scratch("payload.json");
    fs::write(&file, payload.render(JsonFormat::LINE)).map_err(|error| Failure::on("write", &file, error))?;
    Ok(Call::Lorelane { args: vec!["hook".to_owned(), "prompt".to_owned()], input: Some(file) })
}

enum Call {
    Empty,
    Lorelane { args: Vec<String>, input: Option<PathBuf> },
}

impl Call {
    fn of(args: &[&str]) -> Call {
        Call::Lorelane { args: args.iter().map(|arg| (*arg).to_owned()).collect(), input: None }
    }
}

struct Probe<'s> {
    sandbox: &'s Sandbox,
    programs: &'s Programs,
}

impl Probe<'_> {
    /// The cost of each call. The first call is made twice: it warms the page cache.
    fn repeat(
        &self,
        times: usize,
        call: impl Fn(usize) -> Result<Call, Failure>,
    ) -> Result<Vec<Cost>, Failure> {
        let mut costs = Vec::new();
        for at in 0..times {
            if at == 0 && times > 1 {
                self.once(&call(0)?)?;
            }
            costs.push(self.once(&call(at)?)?);
        }
        Ok(costs)
    }

    fn once(&self, call: &Call) -> Result<Cost, Failure> {
        let (output, log) = (self.sandbox.scratch("stdout"), self.sandbox.scratch("stderr"));
        let (mut command, input) = match call {
            Call::Empty => (self.sandbox.bare(&self.programs.empty), None),
            Call::Lorelane { args, input } => {
                let args: Vec<&str> = args.iter().map(String::as_str).collect();
                (self.sandbox.command(&self.programs.binary, &args), input.as_deref())
            }
        };
        command.env("LORELANE_HOOK_DEADLINE_MS", "60000");
        let (cost, code) = measure(&mut command, Streams { input, output: &output, log: &log })?;
        match code {
            // 1 means that nothing was found.
            Some(0 | 1) => Ok(cost),
            _ => {
                let said = fs::read_to_string(&log).unwrap_or_default();
                Err(Failure::new(format!("cannot measure {command:?}: it ended with {code:?}\n{said}")))
            }
        }
    }
}

/// The bytes of all index files below a folder.
fn index_bytes(folder: &Path) -> u64 {
    let Ok(listed) = fs::read_dir(folder) else { return 0 };
    let sizes = listed.filter_map(Result::ok).map(|entry| {
        let path = entry.path();
        if path.is_dir() {
            index_bytes(&path)
        } else if entry.file_name().to_string_lossy().starts_with("index.db") {
            entry.metadata().map_or(0, |metadata| metadata.len())
        } else {
            0
        }
    });
    sizes.sum()
}
