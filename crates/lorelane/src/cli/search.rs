//! `search`: finds memories, for one query or for many.

use super::input::{category, moment, note_type};
use super::{CliError, CliResult, Exit, Session, output};
use crate::view::{BatchHitView, BatchView, HitView, SearchView, UnreadableView};
use clap::{Args, ValueEnum};
use lorelane_core::json::Json;
use lorelane_core::memory::LaneId;
use lorelane_core::policy::Policy;
use lorelane_core::recall::{Hit, Query, ScorePart, SearchResults};
use lorelane_core::text::{cut, one_line};
use lorelane_engine::disk::open_given;
use lorelane_engine::model::ModelError;
use lorelane_engine::workspace::{Failure, Workspace};
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// The longest line of a `--batch` file.
const QUESTION_MAX: u64 = 4 << 20;

/// Search memories by words and meaning
///
/// Prints the best matches first, each with its best passage. A memory that is not current (superseded, expired) is
/// marked and comes after all others. Exit code 1: nothing relevant was found.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  lorelane search \"how do services authenticate\" --explain")]
pub struct SearchArgs {
    /// Words or a question
    #[arg(required_unless_present = "batch")]
    query: Vec<String>,
    /// Run many queries: lines with "id" and "query" from a file, or from standard input if it is `-`
    #[arg(long, value_name = "FILE|-", conflicts_with = "query")]
    batch: Option<PathBuf>,
    /// Print every passage that matches, not only the best one of each memory
    #[arg(long)]
    passages: bool,
    /// Show the parts of each score
    #[arg(long)]
    explain: bool,
    /// Include retired and archived memories
    #[arg(long)]
    include_retired: bool,
    /// Only this category; can be repeated
    #[arg(long)]
    category: Vec<String>,
    /// Only notes of this type (plan, journal, fact, observation, reflection); can be repeated
    #[arg(long = "type", value_name = "TYPE")]
    kind: Vec<String>,
    /// Only records or only notes; can be repeated
    #[arg(long)]
    lane: Vec<LaneName>,
    /// Only memories with this tag; can be repeated, and any of them may match
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// Only memories changed since then: 12h, 30d, 2w or a date
    #[arg(long, value_name = "WHEN")]
    after: Option<String>,
    /// Only memories last changed before then
    #[arg(long, value_name = "WHEN")]
    before: Option<String>,
    /// Print at most this many
    #[arg(short = 'n', long, value_name = "COUNT", default_value = "10")]
    limit: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LaneName {
    Records,
    Notes,
    Auto,
}

impl LaneName {
    fn id(self) -> LaneId {
        match self {
            LaneName::Records => LaneId::Records,
            LaneName::Notes => LaneId::Notes,
            LaneName::Auto => LaneId::Auto,
        }
    }
}

pub(super) fn run(session: &Session<'_>, args: &SearchArgs) -> CliResult {
    if let Some(questions) = &args.batch {
        return batch(session, args, questions);
    }
    let mut workspace = session.open()?;
    let text = args.query.join(" ");
    let query = query(&text, args, &workspace)?;
    let SearchResults { hits, total } = found(&mut workspace, &query, args)?;
    output::not_read(&mut workspace)?;
    let unreadable = workspace.recall().unreadable(&query)?;
    if session.json {
        let hits = hits.iter().map(|hit| HitView::of(hit, &workspace)).collect();
        output::document(&SearchView {
            query: &text,
            total,
            hits,
            unreadable: UnreadableView::all(&unreadable),
        });
    } else {
        match hits.is_empty() {
            true => output::out("Nothing relevant found\n"),
            false => output::out(&shown(&hits, args, &workspace)),
        }
        for (path, what) in &unreadable {
            output::out(&format!("    -  {path} [unreadable]  {what}\n"));
        }
    }
    Ok(if hits.is_empty() { Exit::Nothing } else { Exit::Done })
}

fn found(workspace: &mut Workspace, query: &Query, args: &SearchArgs) -> Result<SearchResults, Failure> {
    if args.passages {
        workspace.recall().search_passages(query, args.limit)
    } else {
        workspace.recall().search(query, args.limit)
    }
}

fn query(text: &str, args: &SearchArgs, workspace: &Workspace) -> Result<Query, CliError> {
    let now = workspace.now();
    let mut query = Query::of_person(text, now);
    query.include_retired = args.include_retired;
    query.categories = args.category.iter().map(|name| category(name)).collect::<Result<_, _>>()?;
    query.types = args.kind.iter().map(|name| note_type(name)).collect::<Result<_, _>>()?;
    query.lanes = args.lane.iter().map(|lane| lane.id()).collect();
    query.tags = args.tags.clone();
    query.after = args.after.as_deref().map(|text| moment(text, now)).transpose()?;
    query.before = args.before.as_deref().map(|text| moment(text, now)).transpose()?;
    Ok(query)
}

fn shown(hits: &[Hit], args: &SearchArgs, workspace: &Workspace) -> String {
    let mut text = String::new();
    for hit in hits {
        let state = hit.state().map_or_else(String::new, |state| format!(" [{state}]"));
        let lines = hit.lines.map_or_else(String::new, |(from, to)| format!(":{from}-{to}"));
        let title = cut(&one_line(&hit.title), 80);
        let percent = percent(hit, workspace.policy());
        let _ = writeln!(text, "{percent:>6} {}{lines}{state}  {title}", hit.address);
        if let Some(says) = workspace.files().excerpt(hit) {
            let _ = writeln!(text, "       {}", cut(&one_line(&says), 160));
        }
        if !hit.same.is_empty() {
            let same: Vec<String> = hit.same.iter().map(ToString::to_string).collect();
            let _ = writeln!(text, "       nearly the same: {}", same.join(", "));
        }
        if args.explain {
            if let Some(relevance) = &hit.relevance {
                let _ = writeln!(text, "       relevance {relevance}");
            }
            let _ = writeln!(text, "       {} = {}", hit.score, explained(&hit.explain));
        }
    }
    text
}

/// The relevance; in parentheses if it is too low for a reminder.
fn percent(hit: &Hit, policy: &Policy) -> String {
    match &hit.relevance {
        Some(relevance) if hit.would_remind(policy) => format!("{}% ", relevance.percent()),
        Some(relevance) => format!("({}%)", relevance.percent()),
        None => String::new(),
    }
}

/// `3 tag (auth) + 2 title (jwt)`: the parts add up to the score.
pub(super) fn explained(parts: &[ScorePart]) -> String {
    let mut text = String::new();
    for part in parts {
        let sign = match (text.is_empty(), part.points < 0) {
            (true, false) => "",
            (true, true) => "-",
            (false, false) => " + ",
            (false, true) => " - ",
        };
        let _ = write!(text, "{sign}{} {}", part.points.unsigned_abs(), part.signal.name());
        if !part.matched.is_empty() {
            let _ = write!(text, " ({})", part.matched.join(", "));
        }
    }
    text
}

/// Answers line by line. An invalid line gets an error as its answer and does not stop the others.
fn batch(session: &Session<'_>, args: &SearchArgs, questions: &Path) -> CliResult {
    let mut workspace = session.open()?;
    // Loading the model takes longer than one query, so only a batch does it.
    match workspace.maintenance().model_store().and_then(|models| models.load()) {
        Ok(model) => model.into_iter().for_each(|model| workspace.recall().set_reranker(model)),
        Err(ModelError::NoHome) => {}
        Err(fault) => output::err(&format!("warning: {fault}\nhint: {}", fault.hint())),
    }
    let fault = |why: std::io::Error| {
        let what = format!("cannot read {}: {why}", questions.display());
        CliError::usage(
            what,
            "pass a file with an {\"id\", \"query\"} object on each line, or - for standard input",
        )
    };
    let mut reader: Box<dyn BufRead> = if questions == Path::new("-") {
        Box::new(BufReader::new(std::io::stdin()))
    } else {
        let file = open_given(&session.env.cwd.join(questions));
        Box::new(BufReader::new(file.map_err(fault)?))
    };
    let mut all_answered = true;
    let mut line = Vec::new();
    for number in 1_usize.. {
        line.clear();
        if reader.by_ref().take(QUESTION_MAX).read_until(b'\n', &mut line).map_err(fault)? == 0 {
            break;
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        let answer = match question(&line) {
            Ok((id, text)) => {
                let query = query(&text, args, &workspace)?;
                let hits = found(&mut workspace, &query, args)?.hits;
                let hits = hits.iter().map(|hit| BatchHitView::of(hit, &workspace)).collect();
                BatchView::Hits { id, hits }
            }
            Err(why) => {
                all_answered = false;
                output::err(&format!("warning: cannot use line {number}: {why}"));
                BatchView::NoQuestion { line: number, error: why }
            }
        };
        output::line(&answer);
    }
    output::not_read(&mut workspace)?;
    Ok(if all_answered { Exit::Done } else { Exit::Nothing })
}

fn question(line: &[u8]) -> Result<(Json, String), String> {
    let text = std::str::from_utf8(line).map_err(|_| "it is not UTF-8".to_owned())?;
    let json = Json::parse(text.trim()).map_err(|fault| format!("it is not JSON: {fault}"))?;
    let query = json.at("query").and_then(Json::as_text).ok_or("`query` is not a text")?.to_owned();
    let id = json.at("id").cloned().ok_or("it has no `id`")?;
    Ok((id, query))
}
