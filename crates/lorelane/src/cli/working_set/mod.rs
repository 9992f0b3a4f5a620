//! `working-set`: which files of a session stay in an agent's context.

mod text;

use super::input::read_note;
use super::shared_args::ChangeArgs;
use super::{CliError, CliResult, Exit, Session, output};
use crate::view::{
    AdviceAnswerView, AssemblyView, GcReportView, HandoverView, RestoredFileView, SessionLogCheckView,
    SessionLogView, SessionStartView, SetChangeView, SummariesView, WorkingSetStatusView,
};
use clap::{Args, Subcommand};
use lorelane_core::text::CounterName;
use lorelane_core::working_set::{
    ColdAction, ColdAdvice, EventAuthor, GcTrigger, HotAdvice, Role, SummaryStyle, Touch, TouchKind,
    TruncateStrategy,
};
use lorelane_engine::workspace::{
    AddRequest, AdviceRequest, CollectRequest, SessionOptions, SetChange, SummaryRequest, TurnTouches,
    WorkingSet, Workspace, WrittenSummary, open_for_working_set,
};
use std::path::{Path, PathBuf};

/// Choose which files stay in an agent's context, with the reasons
///
/// A session has a folder with the files in context, advice about them, and a log. The agent advises, lorelane decides by
/// rules, and what leaves the context can be seen and brought back. No source file is ever moved or deleted.
#[derive(Debug, Args)]
#[command(
    visible_alias = "ws",
    after_help = "Example:\n  lorelane ws init\n  lorelane ws add src/parser.rs --because \"debugging it\"\n  lorelane ws status"
)]
pub struct WorkingSetArgs {
    /// A session other than the current one
    #[arg(long, global = true, value_name = "ID", help_heading = "Global options")]
    session: Option<String>,
    #[command(subcommand)]
    command: WorkingSetCommand,
}

/// Why the set is changed. Required: a set whose changes nobody can explain is not worth keeping.
#[derive(Clone, Debug, Args)]
pub struct ReasonArgs {
    /// Why, in your own words
    #[arg(long, alias = "why", value_name = "REASON", default_value = "", allow_hyphen_values = true)]
    because: String,
}

#[derive(Debug, Subcommand)]
pub enum WorkingSetCommand {
    /// Start using a working set in this project
    ///
    /// Creates a session folder in .agent/, which git ignores, or uses the one that exists. From then on each session of
    /// an agent gets its own.
    #[command(after_help = "Example:\n  lorelane ws init --commit")]
    Init {
        /// Keep sessions in this folder of the project instead of .agent
        #[arg(long, value_name = "DIR")]
        session_root: Option<String>,
        /// Let git see the sessions, so that they can be committed
        #[arg(long)]
        commit: bool,
    },
    /// Show the files in context, the budget, and what was decided
    #[command(after_help = "Example:\n  lorelane ws status --json")]
    Status,
    /// Add files or memories to the set, or change their priority
    #[command(
        after_help = "Example:\n  lorelane ws add src/parser.rs --priority 0.9 --because \"debugging it\"\n  lorelane ws add memory:decision/use-jwt --because \"the rule for this change\""
    )]
    Add {
        /// Files, or memories as memory:ADDRESS
        #[arg(required = true)]
        paths: Vec<String>,
        /// From 0 to 1; 0.5 if you do not say
        #[arg(long)]
        priority: Option<f64>,
        /// Who speaks in the file
        #[arg(long, value_name = "ROLE", value_parser = role)]
        role: Option<Role>,
        /// What is cut off if the file does not fit: start, middle, end, or never
        #[arg(long, value_name = "PART", value_parser = strategy)]
        truncate: Option<TruncateStrategy>,
        /// Use at most this many lines
        #[arg(long, value_name = "COUNT")]
        max_lines: Option<u32>,
        #[command(flatten)]
        reason: ReasonArgs,
    },
    /// Take files out of the set; the files stay where they are
    #[command(after_help = "Example:\n  lorelane ws remove build.log --because \"the build is green\"")]
    Remove {
        #[arg(required = true)]
        paths: Vec<String>,
        #[command(flatten)]
        reason: ReasonArgs,
    },
    /// Record that files were used
    ///
    /// Hooks do this from the transcript. Being in context is not a touch.
    #[command(after_help = "Example:\n  lorelane ws touch src/parser.rs\n  lorelane ws touch --turn")]
    Touch {
        #[arg(required_unless_present = "turn")]
        paths: Vec<String>,
        /// Count a message of the user
        #[arg(long)]
        turn: bool,
    },
    /// Say which files are needed and which are not, and get the decisions
    #[command(
        after_help = "Example:\n  lorelane ws advise --hot src/parser.rs --cold build.log --because \"the build is green\"\n  lorelane ws advise --cold big.json --action summarize_then_evict --gc --because \"numbers are noted\""
    )]
    Advise {
        /// A file to keep at hand
        #[arg(long, value_name = "PATH", required_unless_present_any = ["cold", "gc"])]
        hot: Vec<String>,
        /// A file, folder or glob that is not needed any more
        #[arg(long, value_name = "PATH")]
        cold: Vec<String>,
        /// What to do with cold files
        #[arg(long, value_name = "ACTION", value_parser = action)]
        action: Option<ColdAction>,
        /// The document that replaces the cold ones
        #[arg(long, value_name = "PATH", requires = "cold")]
        superseded_by: Option<String>,
        /// What was tried and learned, if the cold files are failed attempts; `-` is standard input
        #[arg(long, value_name = "TEXT|-", requires = "cold", allow_hyphen_values = true)]
        postmortem: Option<String>,
        /// Collect right away, instead of at the next trigger
        #[arg(long)]
        gc: bool,
        #[command(flatten)]
        reason: ReasonArgs,
    },
    /// Print the context within the budget
    ///
    /// Exit code 1: a file that must be kept does not fit (BUDGET_EXCEEDED). What fits is printed.
    #[command(after_help = "Example:\n  lorelane ws assemble --budget 12000 > context.txt")]
    Assemble {
        /// Tokens in all, instead of what working-set.yml says
        #[arg(long, value_name = "TOKENS")]
        budget: Option<u64>,
        /// Leave out what this client loads by itself
        #[arg(long, value_name = "NAME")]
        client: Option<String>,
        /// How tokens are counted: estimate, or o200k, which is exact for models that use it
        #[arg(long, value_name = "NAME", default_value = "estimate", value_parser = counter)]
        counter: CounterName,
    },
    /// Write a summary of files, linked both ways
    ///
    /// Without a text it is an extract: headings, errors, decisions, numbers, first and last lines. The summary names its
    /// sources with their digests, so that `ws status` knows when it is stale.
    #[command(
        after_help = "Example:\n  lorelane ws summarize build.log --because \"only the errors matter\"\n  lorelane ws summarize a.json b.json --into findings --text - --because \"read both\" < findings.md\n  lorelane ws summarize --stale --because \"sources changed\""
    )]
    Summarize {
        /// Files, or memories as memory:ADDRESS
        #[arg(required_unless_present = "stale", conflicts_with = "stale")]
        paths: Vec<String>,
        /// bullet, narrative, schema, diff or decision
        #[arg(long, value_parser = style, conflicts_with = "stale")]
        style: Option<SummaryStyle>,
        /// Write to summaries/NAME.md of the session
        #[arg(long, value_name = "NAME", conflicts_with = "stale")]
        into: Option<String>,
        /// The summary, or `-` for standard input
        #[arg(long, value_name = "TEXT|-", conflicts_with = "stale", allow_hyphen_values = true)]
        text: Option<String>,
        /// A file with the summary
        #[arg(long, value_name = "FILE", conflicts_with_all = ["text", "stale"])]
        text_file: Option<PathBuf>,
        /// No list of links at the end; the frontmatter names the sources all the same
        #[arg(long, conflicts_with = "stale")]
        no_refs: bool,
        /// Make every stale or missing summary again
        #[arg(long)]
        stale: bool,
        #[command(flatten)]
        reason: ReasonArgs,
    },
    /// Take out of the set what is not needed, and report it
    ///
    /// Advice is carried out first. Then files that were not used for 5 turns leave, until 70 % of the budget are used. No
    /// source file is moved or deleted, `lorelane undo` takes all of it back, and `ws restore` brings back one file.
    #[command(
        after_help = "Example:\n  lorelane ws gc --dry-run\n  lorelane ws gc --because \"the parser is done\"\n  lorelane ws gc --target 8000 --scope 'logs/**' --because \"room for the tests\""
    )]
    Gc {
        /// Collect down to this many tokens
        #[arg(long, value_name = "TOKENS")]
        target: Option<u64>,
        /// Only files that match this glob
        #[arg(long, value_name = "GLOB")]
        scope: Vec<String>,
        /// What it runs for: explicit, session_end, budget_pressure, interval, phase_end, session_length or model_request
        #[arg(long, value_name = "NAME", value_parser = trigger, default_value = "explicit")]
        trigger: GcTrigger,
        #[command(flatten)]
        change: ChangeArgs,
        #[command(flatten)]
        reason: ReasonArgs,
    },
    /// Bring a file back into the set, with its bytes if they were archived
    #[command(
        after_help = "Example:\n  lorelane ws restore notes/attempt-1.md --because \"it was right after all\""
    )]
    Restore {
        path: String,
        #[command(flatten)]
        reason: ReasonArgs,
    },
    /// Leave a note for the next session, or show the one that waits
    ///
    /// Hooks write the hand-over before a compaction and at the end of a session, from the log and the last messages. The
    /// next session in this project gets it once, whatever agent it runs in. Exit code 1: there is none.
    #[command(
        after_help = "Example:\n  lorelane ws handover --text \"The parser is done; the tests of the lexer still fail\"\n  lorelane ws handover --show"
    )]
    Handover {
        /// What the next session should know first, or `-` for standard input
        #[arg(long, value_name = "TEXT|-", allow_hyphen_values = true, conflicts_with = "show")]
        text: Option<String>,
        /// Print the hand-over that waits, and leave it
        #[arg(long)]
        show: bool,
    },
    /// Show or verify the session log
    #[command(after_help = "Example:\n  lorelane ws log -n 5\n  lorelane ws log --verify")]
    Log {
        /// Print at most this many
        #[arg(short = 'n', long = "limit", value_name = "COUNT", default_value = "20")]
        limit: usize,
        /// Check that nobody edited the log
        #[arg(long)]
        verify: bool,
    },
}

fn role(text: &str) -> Result<Role, String> {
    Role::parse(text).ok_or_else(|| "use system, developer, user or context".to_owned())
}

fn strategy(text: &str) -> Result<TruncateStrategy, String> {
    TruncateStrategy::parse(text).ok_or_else(|| "use start, middle, end or never".to_owned())
}

fn counter(text: &str) -> Result<CounterName, String> {
    CounterName::parse(text).ok_or_else(|| "use estimate or o200k".to_owned())
}

fn action(text: &str) -> Result<ColdAction, String> {
    let names = ColdAction::ALL.map(ColdAction::name).join(", ");
    ColdAction::parse(text).ok_or_else(|| format!("use one of {names}"))
}

fn style(text: &str) -> Result<SummaryStyle, String> {
    let names = SummaryStyle::ALL.map(SummaryStyle::name).join(", ");
    SummaryStyle::parse(text).ok_or_else(|| format!("use one of {names}"))
}

fn trigger(text: &str) -> Result<GcTrigger, String> {
    let names = GcTrigger::ALL.map(GcTrigger::name).join(", ");
    GcTrigger::parse(text).ok_or_else(|| format!("use one of {names}"))
}

pub(super) fn run(session: &Session<'_>, args: &WorkingSetArgs) -> CliResult {
    let mut workspace = open_for_working_set(session.env, &session.env.cwd)?;
    if let WorkingSetCommand::Init { session_root, commit } = &args.command {
        return init(session, &mut workspace, args.session.as_deref(), session_root.as_deref(), *commit);
    }
    let mut set = WorkingSet::open(&mut workspace, args.session.as_deref())?;
    warn(&mut set);
    let exit = change(session, &mut set, &args.command);
    warn(&mut set);
    exit
}

/// `pin` and `unpin` of a file.
pub(super) fn pin(
    session: &Session<'_>,
    workspace: &mut Workspace,
    typed: &str,
    pin: bool,
    change: ChangeArgs,
) -> CliResult {
    let mut set = WorkingSet::open(workspace, None)?;
    let path = set.resolve_known("pin", typed, Some(&session.env.cwd))?;
    let did = if pin { "pinned" } else { "unpinned" };
    if change.dry_run {
        return report(session, did, &SetChange { paths: vec![path] });
    }
    let done = set.pin(&path, pin, EventAuthor::User, "asked by the user")?;
    warn(&mut set);
    if done.paths.is_empty() && !session.json {
        let already = if pin { "is already pinned" } else { "is not pinned" };
        output::out(&format!("No change: {path} {already}\n"));
        return Ok(Exit::Done);
    }
    report(session, did, &done)
}

fn warn(set: &mut WorkingSet<'_>) {
    std::mem::take(&mut set.warnings).iter().for_each(|warning| output::err(&format!("warning: {warning}")));
}

fn change(session: &Session<'_>, set: &mut WorkingSet<'_>, command: &WorkingSetCommand) -> CliResult {
    let by = EventAuthor::User;
    match command {
        WorkingSetCommand::Init { .. } => Ok(Exit::Done),
        WorkingSetCommand::Status => status(session, set),
        WorkingSetCommand::Add { paths, priority, role, truncate, max_lines, reason } => {
            let paths = resolved(session, set, "add", paths)?;
            let request = |path: String| AddRequest {
                path,
                priority: *priority,
                role: *role,
                truncate_strategy: *truncate,
                max_lines: *max_lines,
            };
            let requests: Vec<AddRequest> = paths.into_iter().map(request).collect();
            let done = set.add(&requests, by, &reason.because)?;
            report(session, "added", &done)
        }
        WorkingSetCommand::Remove { paths, reason } => {
            let known = |path: &String| set.resolve_known("remove", path, Some(&session.env.cwd));
            let paths = paths.iter().map(known).collect::<Result<Vec<_>, _>>()?;
            let done = set.remove(&paths, by, &reason.because)?;
            report(session, "removed", &done)
        }
        WorkingSetCommand::Touch { paths, turn } => {
            let paths = resolved(session, set, "touch", paths)?;
            let touch = |path: &String| Touch { path: path.clone(), by: TouchKind::Read };
            let touches = paths.iter().map(touch).collect();
            if !set.record(TurnTouches { turns: u32::from(*turn), touches, read_to: None })? {
                // A hook would look again. Somebody who types has to be told.
                output::err("nothing was recorded: another process is writing to the session; try again");
                return Ok(Exit::Nothing);
            }
            let returned = set.readmit()?;
            if !session.json {
                returned.iter().for_each(|path| output::out(&format!("back in the set: {path}\n")));
            }
            report(session, "touched", &SetChange { paths })
        }
        WorkingSetCommand::Advise { hot, cold, action, superseded_by, postmortem, gc, reason } => {
            let why = &reason.because;
            // A glob, or a path that is unknown: advice about it is judged by what it says.
            let mut named = |path: &String| {
                set.resolve_known("keep", path, Some(&session.env.cwd)).unwrap_or_else(|_| path.clone())
            };
            let suggested_action = action.unwrap_or_default();
            let request = AdviceRequest {
                hot: hot
                    .iter()
                    .map(|path| HotAdvice { path: named(path), why: why.clone(), weight: 1.0 })
                    .collect(),
                cold: cold
                    .iter()
                    .map(|path| ColdAdvice { path: named(path), why: why.clone(), suggested_action })
                    .collect(),
                trigger_gc: *gc,
                superseded_by: superseded_by.as_ref().map(&mut named),
                postmortem: postmortem.as_ref().map(|text| typed_text(session, text)).transpose()?,
            };
            let answer = set.advise(&request, by, why)?;
            if session.json {
                output::document(&AdviceAnswerView::of(&answer));
            } else {
                output::out(&text::decisions(&answer));
                answer.warnings.iter().for_each(|warning| output::err(&format!("warning: {warning}")));
            }
            Ok(Exit::Done)
        }
        WorkingSetCommand::Summarize { stale: true, reason, .. } => {
            let written = set.refresh_summaries(&reason.because)?;
            summarized(session, &written)
        }
        WorkingSetCommand::Summarize { paths, style, into, text, text_file, no_refs, reason, .. } => {
            let paths = resolved(session, set, "summarize", paths)?;
            let text = match (text, text_file) {
                (Some(text), _) => Some(typed_text(session, text)?),
                (None, Some(file)) => Some(read_note(session, file)?),
                (None, None) => None,
            };
            let request = SummaryRequest {
                paths,
                into: into.as_deref(),
                style: style.unwrap_or_default(),
                text: text.as_deref(),
                earlier: None,
                keep_refs: !no_refs,
            };
            let written = set.summarize(&request, &reason.because)?;
            summarized(session, &[written])
        }
        WorkingSetCommand::Gc { target, scope, trigger, change, reason } => {
            let request = CollectRequest {
                trigger: *trigger,
                target_tokens: *target,
                scope: scope.clone(),
                max_actions: None,
            };
            let report = match change.dry_run {
                true => set.preview_collection(&request)?,
                false => set.collect(&request, &reason.because)?,
            };
            if session.json {
                output::document(&GcReportView::of(&report, change.dry_run));
            } else {
                output::out(&text::collected(&report, change.dry_run));
            }
            Ok(Exit::Done)
        }
        WorkingSetCommand::Restore { path, reason } => {
            let path = set.resolve_known("restore", path, Some(&session.env.cwd))?;
            let restored = set.restore(&path, by, &reason.because)?;
            if session.json {
                output::document(&RestoredFileView::of(&restored));
            } else {
                output::out(&text::restored(&restored));
            }
            Ok(Exit::Done)
        }
        WorkingSetCommand::Assemble { budget, client, counter } => {
            let context = set.assemble(*budget, client.as_deref(), &*counter.counter())?;
            let is_exceeded = context.assembly.budget_exceeded().next().is_some();
            if session.json {
                output::document(&AssemblyView::of(&context));
            } else {
                output::out(&context.assembly.text);
                output::err(text::assembly(&context).trim_end());
            }
            Ok(if is_exceeded { Exit::Nothing } else { Exit::Done })
        }
        WorkingSetCommand::Handover { text, show } => handover(session, set, text.as_deref(), *show),
        WorkingSetCommand::Log { limit, verify } => log(session, set, *limit, *verify),
    }
}

fn handover(session: &Session<'_>, set: &mut WorkingSet<'_>, said: Option<&str>, show: bool) -> CliResult {
    let written = match said {
        Some(text) => set.say_handover(&typed_text(session, text)?)?,
        None if show => None,
        None => set.write_handover(&[])?,
    };
    let waiting = if show || written.is_some() { set.waiting_handover()? } else { None };
    let view = HandoverView::of(written.as_deref(), waiting.as_deref());
    if session.json {
        output::document(&view);
    } else if let Some(path) = written.filter(|_| !show) {
        output::out(&format!("wrote {}\n", path.display()));
    } else {
        output::out(waiting.as_deref().unwrap_or_default());
    }
    Ok(if waiting.is_some() { Exit::Done } else { Exit::Nothing })
}

/// A text on the command line, or standard input.
fn typed_text(session: &Session<'_>, text: &str) -> Result<String, CliError> {
    match text {
        "-" => read_note(session, Path::new("-")),
        text => Ok(text.to_owned()),
    }
}

fn summarized(session: &Session<'_>, written: &[WrittenSummary]) -> CliResult {
    if session.json {
        output::document(&SummariesView::of(written));
    } else {
        output::out(&text::summarized(written));
    }
    Ok(Exit::Done)
}

fn resolved(
    session: &Session<'_>,
    set: &mut WorkingSet<'_>,
    attempt: &'static str,
    paths: &[String],
) -> Result<Vec<String>, CliError> {
    let resolved = paths.iter().map(|path| set.resolve(attempt, path, Some(&session.env.cwd)));
    Ok(resolved.collect::<Result<Vec<_>, _>>()?)
}

fn init(
    session: &Session<'_>,
    workspace: &mut Workspace,
    named: Option<&str>,
    session_root: Option<&str>,
    commit: bool,
) -> CliResult {
    let start = WorkingSet::init(workspace, SessionOptions { session_root, session: named, commit })?;
    if session.json {
        output::document(&SessionStartView::of(&start));
    } else {
        output::out(&text::started(&start));
    }
    Ok(Exit::Done)
}

fn status(session: &Session<'_>, set: &mut WorkingSet<'_>) -> CliResult {
    let status = set.status()?;
    if session.json {
        output::document(&WorkingSetStatusView::of(&status));
    } else {
        output::out(&text::status(&status));
    }
    Ok(Exit::Done)
}

fn log(session: &Session<'_>, set: &mut WorkingSet<'_>, limit: usize, verify: bool) -> CliResult {
    if !verify {
        let events = set.events();
        match session.json {
            true => output::document(&SessionLogView::of(events, limit)),
            false => output::out(&text::log(events, limit)),
        }
        return Ok(if events.is_empty() { Exit::Nothing } else { Exit::Done });
    }
    let faults = set.verify()?;
    if session.json {
        output::document(&SessionLogCheckView::of(&faults));
    } else if faults.is_empty() {
        let events = output::count(set.events().len(), "event", "events");
        output::out(&format!("Session log verified: {events}, chain intact\n"));
    } else {
        output::out(&faults.iter().map(|fault| format!("{fault}\n")).collect::<String>());
    }
    Ok(if faults.is_empty() { Exit::Done } else { Exit::Nothing })
}

fn report(session: &Session<'_>, did: &'static str, change: &SetChange) -> CliResult {
    if session.json {
        output::document(&SetChangeView::of(did, change, &[]));
    } else {
        output::out(&change.paths.iter().map(|path| format!("{did} {path}\n")).collect::<String>());
    }
    Ok(Exit::Done)
}
