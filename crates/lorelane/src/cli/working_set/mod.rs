//! `working-set`: which files of a session stay in an agent's context.

mod text;

use super::shared_args::ChangeArgs;
use super::{CliError, CliResult, Exit, Session, output};
use crate::view::{
    AdviceAnswerView, AssemblyView, SessionLogCheckView, SessionLogView, SessionStartView, SetChangeView,
    WorkingSetStatusView,
};
use clap::{Args, Subcommand};
use lorelane_core::text::EstimatedTokens;
use lorelane_core::working_set::{
    ColdAction, ColdAdvice, EventAuthor, HotAdvice, Role, Touch, TouchKind, TruncateStrategy,
};
use lorelane_engine::workspace::{
    AddRequest, AdviceRequest, SessionOptions, SetChange, TurnTouches, WorkingSet, Workspace,
    open_for_working_set,
};

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
        paths: Vec<String>,
        /// Count a message of the user
        #[arg(long)]
        turn: bool,
    },
    /// Say which files are needed and which are not, and get the decisions
    #[command(
        after_help = "Example:\n  lorelane ws advise --hot src/parser.rs --cold build.log --because \"the build is green\"\n  lorelane ws advise --cold big.json --action summarize_then_evict --because \"numbers are noted\""
    )]
    Advise {
        /// A file to keep at hand
        #[arg(long, value_name = "PATH")]
        hot: Vec<String>,
        /// A file, folder or glob that is not needed any more
        #[arg(long, value_name = "PATH")]
        cold: Vec<String>,
        /// What to do with cold files
        #[arg(long, value_name = "ACTION", value_parser = action)]
        action: Option<ColdAction>,
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

fn action(text: &str) -> Result<ColdAction, String> {
    let names = ColdAction::ALL.map(ColdAction::name).join(", ");
    ColdAction::parse(text).ok_or_else(|| format!("use one of {names}"))
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
            set.record(TurnTouches { turns: u32::from(*turn), touches, read_to: None })?;
            report(session, "touched", &SetChange { paths })
        }
        WorkingSetCommand::Advise { hot, cold, action, reason } => {
            let why = &reason.because;
            let hot = hot.iter().map(|path| HotAdvice { path: path.clone(), why: why.clone(), weight: 1.0 });
            let suggested_action = action.unwrap_or_default();
            let cold =
                cold.iter().map(|path| ColdAdvice { path: path.clone(), why: why.clone(), suggested_action });
            let request = AdviceRequest { hot: hot.collect(), cold: cold.collect() };
            let answer = set.advise(&request, by, why)?;
            if session.json {
                output::document(&AdviceAnswerView::of(&answer));
            } else {
                output::out(&text::decisions(&answer));
                answer.warnings.iter().for_each(|warning| output::err(&format!("warning: {warning}")));
            }
            Ok(Exit::Done)
        }
        WorkingSetCommand::Assemble { budget, client } => {
            let context = set.assemble(*budget, client.as_deref(), &EstimatedTokens)?;
            let is_exceeded = context.assembly.budget_exceeded().next().is_some();
            if session.json {
                output::document(&AssemblyView::of(&context));
            } else {
                output::out(&context.assembly.text);
                output::err(text::assembly(&context).trim_end());
            }
            Ok(if is_exceeded { Exit::Nothing } else { Exit::Done })
        }
        WorkingSetCommand::Log { limit, verify } => log(session, set, *limit, *verify),
    }
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
