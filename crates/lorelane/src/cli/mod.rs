//! The command line.

mod append;
mod archive;
mod args;
mod bench;
mod candidate;
mod compat;
mod completions;
mod config;
mod consolidate;
mod create;
mod doctor;
mod draft;
mod duplicates;
mod edit;
mod forget;
mod gc;
mod graph;
mod hook;
mod init;
mod input;
mod links;
mod list;
mod log;
mod mcp;
mod merge;
mod model;
mod notes;
mod output;
mod pin;
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
mod tour;
mod transition;
mod trust;
mod undo;
mod unpin;
mod update;
mod why;

use args::{Cli, Command, command};
use clap::FromArgMatches;
use lorelane_core::change::Plan;
use lorelane_core::refusal::Refusal;
use lorelane_core::secret;
use lorelane_engine::backend::StoreError;
use lorelane_engine::env::Env;
use lorelane_engine::model::ModelError;
use lorelane_engine::setup::SetupError;
use lorelane_engine::workspace::{Failure, Workspace};
use shared_args::ChangeArgs;
use std::borrow::Cow;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

/// How a command ended, apart from failing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Exit {
    Done,
    /// Nothing found, or a check failed.
    Nothing,
    /// It was said already what could not be done.
    Failed,
}

/// What a command could not do: the engine's failure, or a wish that cannot be understood.
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

/// This program, for whoever starts it again.
fn this_program() -> Result<PathBuf, CliError> {
    std::env::current_exe()
        .map_err(|why| CliError::usage(format!("cannot find this program: {why}"), FULL_PATH_HINT))
}

const FULL_PATH_HINT: &str = "run it by its full path";

type CliResult = Result<Exit, CliError>;

/// What every command gets: the world, and how to print.
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

    /// Commits the plan, or with `--dry-run` only previews it, and prints what came of it.
    fn commit(&self, workspace: &mut Workspace, plan: &Plan, change: ChangeArgs) -> CliResult {
        let receipt = if change.dry_run { workspace.preview(plan)? } else { workspace.commit(plan)? };
        output::receipt(&receipt, self.json, change.dry_run);
        Ok(Exit::Done)
    }
}

pub fn run(env: &Env, arguments: Vec<OsString>) -> ExitCode {
    let words: Vec<OsString> = std::iter::once(OsString::from("lorelane")).chain(arguments).collect();
    let cli = match command().try_get_matches_from(&words).and_then(|matches| Cli::from_arg_matches(&matches))
    {
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
                // 2 promises that it did not happen and will not.
                Failure::Store(StoreError::Unsettled { .. }) | Failure::HalfForgotten { .. } => 3,
                _ => 2,
            })
        }
        Err(trouble) => {
            output::err(&format!("error: {trouble}\nhint: {}", trouble.hint()));
            ExitCode::from(2)
        }
    }
}

/// What the parser says of the words, without the secrets in them. It repeats a word alone, where nothing tells that
/// it is one: the words before it do.
fn without_secrets(said: &str, words: &[OsString]) -> String {
    let typed: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
    let line = typed.join(" ");
    let secrets = secret::scan(&line);
    secrets.into_iter().fold(said.to_owned(), |said, found| {
        let value = &line[found.span];
        said.replace(value, &secret::mask(value))
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
        Command::Doctor(args) => doctor::run(session, args),
        Command::Bench(args) => bench::run(session, args),
        Command::Reindex(args) => reindex::run(session, args),
        Command::Gc(args) => gc::run(session, args),
        Command::Config(command) => config::run(session, command),
        Command::Trust(args) => trust::run(session, args),
        Command::Notes(command) => notes::run(session, command),
        Command::Model(command) => model::run(session, command),
        Command::Setup(args) => setup::run(session, args),
        // `main` runs `mcp`, `hook` and `compat` before the parser; here they only have their help.
        Command::Mcp(_) => mcp::run(),
        Command::Hook(_) => hook::run(),
        Command::Consolidate(command) => consolidate::run(session, command),
        Command::Candidate(args) => candidate::run(session, args),
        Command::Compat(_) => compat::run(),
        Command::Completions(args) => completions::run(args, args::command()),
    }
}
