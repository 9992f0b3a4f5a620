//! The command line: one file per command, with its arguments, its help and `run`.

mod append;
mod archive;
mod args;
mod audit;
mod auto;
mod bench;
mod candidate;
mod check;
mod compat;
mod completions;
mod config;
mod confirm;
mod consolidate;
mod create;
mod dashboard;
mod doctor;
mod draft;
mod duplicates;
mod edit;
mod extract;
mod forget;
mod gc;
mod graph;
mod hook;
mod inbox;
mod init;
mod input;
mod keys;
mod links;
mod list;
mod log;
mod mcp;
mod merge;
mod model;
mod notes;
mod output;
mod pin;
mod prune;
mod reindex;
mod reject;
mod related;
mod restore;
mod retire;
mod search;
mod setup;
mod shared_args;
mod show;
mod status;
mod supersede;
mod tour;
mod transition;
mod trust;
mod undo;
mod unpin;
mod update;
mod why;
mod working_set;

use args::Command;
use lorelane_core::change::{Change, Effect, Plan};
use lorelane_core::mark::MarkKind;
use lorelane_core::refusal::Refusal;
use lorelane_core::secret;
use lorelane_engine::backend::StoreError;
use lorelane_engine::env::Env;
use lorelane_engine::model::ModelError;
use lorelane_engine::setup::SetupError;
use lorelane_engine::workspace::{Failure, WorkingSet, Workspace, open_for_working_set};
use shared_args::ChangeArgs;
use std::borrow::Cow;
use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;

/// How a command ended without an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Exit {
    Done,
    /// Nothing found, or a check failed.
    Nothing,
    /// Part of it failed, and the error is printed already.
    Failed,
}

/// Why a command failed: an error of the engine, or arguments that make no sense.
#[derive(Debug, thiserror::Error)]
enum CliError {
    #[error(transparent)]
    Failure(#[from] Failure),
    #[error(transparent)]
    Setup(#[from] SetupError),
    #[error(transparent)]
    Model(#[from] ModelError),
    #[error("{what}")]
    Usage { what: String, hint: String },
}

impl CliError {
    fn usage(what: impl Into<String>, hint: impl Into<String>) -> CliError {
        CliError::Usage { what: what.into(), hint: hint.into() }
    }

    fn hint(&self) -> Cow<'_, str> {
        match self {
            CliError::Failure(failure) => failure.hint(),
            CliError::Setup(fault) => fault.hint().unwrap_or_default().into(),
            CliError::Model(fault) => fault.hint().into(),
            CliError::Usage { hint, .. } => hint.into(),
        }
    }
}

/// The path of this program, to run it again.
fn this_program() -> Result<PathBuf, CliError> {
    std::env::current_exe()
        .map_err(|why| CliError::usage(format!("cannot find this program: {why}"), FULL_PATH_HINT))
}

const FULL_PATH_HINT: &str = "run it by its full path";

type CliResult = Result<Exit, CliError>;

/// What every command gets: the environment, and whether to print JSON.
struct Session<'e> {
    env: &'e Env,
    json: bool,
}

impl Session<'_> {
    fn open(&self) -> Result<Workspace, CliError> {
        let mut workspace = Workspace::open(self.env, &self.env.cwd)?;
        output::notices(workspace.settings().trust_notice().as_slice());
        Ok(workspace)
    }

    /// Like [`Session::open`], and also for a project that has only a working set.
    fn open_with_sessions(&self) -> Result<Workspace, CliError> {
        match self.open() {
            Err(CliError::Failure(Failure::NoStore { start })) => {
                let workspace = open_for_working_set(self.env, &self.env.cwd)?;
                match WorkingSet::is_used(&workspace) {
                    true => Ok(workspace),
                    false => Err(Failure::NoStore { start }.into()),
                }
            }
            opened => opened,
        }
    }

    /// Whether there is somebody to ask for confirmation.
    fn can_ask(&self) -> bool {
        !self.json && std::io::stdin().is_terminal()
    }

    /// Why nobody can be asked.
    fn needs_confirmation() -> &'static str {
        match std::io::stdin().is_terminal() {
            true => "needs confirmation and --json does not ask; pass --yes",
            false => "needs confirmation and there is no terminal; pass --yes",
        }
    }

    /// Commits the plan, or only previews it with `--dry-run`, and prints the result.
    fn commit(&self, workspace: &mut Workspace, plan: &Plan, change: ChangeArgs) -> CliResult {
        let receipt = if change.dry_run { workspace.preview(plan)? } else { workspace.commit(plan)? };
        let changed = receipt.outcomes.iter().any(|outcome| !matches!(outcome.effect, Effect::Already(_)));
        match unchanged(plan).filter(|_| !self.json && !changed) {
            Some(why) => output::unchanged(&receipt, why),
            None => output::receipt(&receipt, self.json, change.dry_run),
        }
        Ok(Exit::Done)
    }
}

/// Why a plan that asks for something else than a lifecycle changed nothing. The receipt only has the lifecycle.
fn unchanged(plan: &Plan) -> Option<&'static str> {
    match plan.changes.as_slice() {
        [Change::Revise { .. }] => Some("already has these contents"),
        [Change::Mark { kind: MarkKind::Pin, .. }] => Some("is already pinned"),
        [Change::Mark { kind: MarkKind::Unpin, .. }] => Some("is not pinned"),
        [Change::Supersede { .. }] => Some("is already superseded by it"),
        _ => None,
    }
}

pub fn run(env: &Env, arguments: Vec<OsString>) -> ExitCode {
    let words: Vec<OsString> = std::iter::once(OsString::from("lorelane")).chain(arguments).collect();
    let cli = match args::parse(&words) {
        Ok(cli) => cli,
        Err(fault) if fault.use_stderr() => {
            output::err(&without_secrets(fault.to_string().trim_end(), &words));
            return ExitCode::from(2);
        }
        Err(fault) => fault.exit(),
    };
    let mut env = env.clone();
    if let Some(directory) = &cli.directory {
        env.cwd = env.cwd.join(directory);
    }
    let session = Session { env: &env, json: cli.json };
    match dispatch(&session, &cli.command) {
        Ok(Exit::Done) => ExitCode::SUCCESS,
        Ok(Exit::Nothing) => ExitCode::from(1),
        Ok(Exit::Failed) => ExitCode::from(2),
        Err(CliError::Failure(failure)) => {
            output::failure(&failure);
            ExitCode::from(match failure {
                Failure::Unclear(_) | Failure::Refused(Refusal::Missing { .. }) => 1,
                // 2 promises that nothing was changed and nothing will be.
                Failure::Store(StoreError::Unsettled { .. }) | Failure::HalfForgotten { .. } => 3,
                _ => 2,
            })
        }
        Err(error) => {
            output::err(&format!("error: {error}\nhint: {}", error.hint()));
            ExitCode::from(2)
        }
    }
}

/// The parser's message with secrets masked. It quotes a single word, which alone does not look like a secret: only
/// the whole command line shows that `--password` comes before it.
fn without_secrets(message: &str, words: &[OsString]) -> String {
    let typed: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
    let line = typed.join(" ");
    let secrets = secret::scan(&line);
    secrets.into_iter().fold(message.to_owned(), |message, found| {
        let value = &line[found.span];
        message.replace(value, &secret::mask(value))
    })
}

fn dispatch(session: &Session<'_>, command: &Command) -> CliResult {
    match command {
        Command::Init(args) => init::run(session, args),
        Command::Tour(_) => tour::run(),
        Command::Create(args) => create::run(session, args),
        Command::Show(args) => show::run(session, args),
        Command::Edit(args) => edit::run(session, args),
        Command::Update(args) => update::run(session, args),
        Command::List(args) => list::run(session, args),
        Command::Search(args) => search::run(session, args),
        Command::Links(args) => links::run(session, args),
        Command::Related(args) => related::run(session, args),
        Command::Pin(args) => pin::run(session, args),
        Command::Unpin(args) => unpin::run(session, args),
        Command::Why(args) => why::run(session, args),
        Command::WorkingSet(args) => working_set::run(session, args),
        Command::Audit(args) => audit::run(session, args),
        Command::Check(args) => check::run(session, args),
        Command::Confirm(args) => confirm::run(session, args),
        Command::Prune(args) => prune::run(session, args),
        Command::Dashboard(args) => dashboard::run(session, args),
        Command::Append(args) => append::run(session, args),
        Command::Retire(args) => retire::run(session, args),
        Command::Archive(args) => archive::run(session, args),
        Command::Restore(args) => restore::run(session, args),
        Command::Reject(args) => reject::run(session, args),
        Command::Forget(args) => forget::run(session, args),
        Command::Merge(args) => merge::run(session, args),
        Command::Duplicates(args) => duplicates::run(session, args),
        Command::Graph(args) => graph::run(session, args),
        Command::Log(args) => log::run(session, args),
        Command::Undo(args) => undo::run(session, args),
        Command::Status(_) => status::run(session),
        Command::Supersede(args) => supersede::run(session, args),
        Command::Doctor(args) => doctor::run(session, args),
        Command::Bench(args) => bench::run(session, args),
        Command::Reindex(args) => reindex::run(session, args),
        Command::Gc(args) => gc::run(session, args),
        Command::Config(command) => config::run(session, command),
        Command::Trust(args) => trust::run(session, args),
        Command::Notes(command) => notes::run(session, command),
        Command::Auto(command) => auto::run(session, command),
        Command::Model(command) => model::run(session, command),
        Command::Setup(args) => setup::run(session, args),
        // `main` runs `mcp`, `hook` and `compat` before the parser; here they only have their help.
        Command::Mcp(_) => mcp::run(),
        Command::Hook(_) => hook::run(),
        Command::Consolidate(command) => consolidate::run(session, command),
        Command::Extract(args) => extract::run(session, args),
        Command::Inbox(args) => inbox::run(session, args),
        Command::Candidate(args) => candidate::run(session, args),
        Command::Compat(_) => compat::run(),
        Command::Completions(args) => completions::run(args, args::command()),
    }
}
