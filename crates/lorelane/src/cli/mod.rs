//! The command line.

mod agents;
mod args;
mod bench;
mod care;
mod consolidate;
mod everyday;
mod forget;
mod graph;
mod model;
mod notes;
mod output;
mod search;
mod settings;
mod tour;
mod trust;
mod why;

use args::{Cli, Command, command};
use clap::FromArgMatches;
use lorelane_core::refusal::Refusal;
use lorelane_core::secret;
use lorelane_engine::backend::StoreError;
use lorelane_engine::env::Env;
use lorelane_engine::model::ModelError;
use lorelane_engine::setup::SetupError;
use lorelane_engine::workspace::{Failure, Workspace};
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
    match dispatch(&session, cli.command) {
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

fn dispatch(session: &Session<'_>, command: Command) -> CliResult {
    match command {
        Command::Init(change) => everyday::init(session, change),
        Command::Tour => tour::run(),
        Command::Create(args) => everyday::create(session, &args),
        Command::Show(args) => everyday::show(session, &args),
        Command::Edit(args) => everyday::edit(session, &args),
        Command::Update(args) => everyday::update(session, &args),
        Command::List(args) => everyday::list(session, &args),
        Command::Search(args) => search::search(session, &args),
        Command::Links(args) => graph::links(session, &args),
        Command::Related(args) => graph::related(session, &args),
        Command::Pin(args) => care::pin(session, &args),
        Command::Unpin(args) => care::unpin(session, &args),
        Command::Why(args) => why::run(session, &args),
        Command::Append(args) => notes::append(session, &args),
        Command::Merge(args) => notes::merge(session, &args),
        Command::Model(command) => model::run(session, &command),
        Command::Duplicates(args) => graph::duplicates(session, &args),
        Command::Graph(args) => graph::graph(session, &args),
        Command::Notes(command) => notes::run(session, &command),
        Command::Retire(args) => care::retire(session, &args),
        Command::Archive(args) => care::archive(session, &args),
        Command::Restore(args) => care::restore(session, &args),
        Command::Reject(args) => care::reject(session, &args),
        Command::Forget(args) => forget::run(session, &args),
        Command::Log(args) => care::log(session, &args),
        Command::Undo(change) => care::undo(session, change),
        Command::Status => care::status(session),
        Command::Doctor(args) => care::doctor(session, &args),
        Command::Bench(args) => bench::run(session, &args),
        Command::Reindex(args) => care::reindex(session, &args),
        Command::Gc(args) => care::gc(session, &args),
        Command::Config(config) => settings::run(session, &config),
        Command::Trust(args) => trust::run(session, args),
        Command::Setup(args) => agents::setup(session, &args),
        Command::Consolidate(command) => consolidate::run(session, &command),
        Command::Candidate(args) => everyday::candidate(session, &args),
        // `main` answers these three before the parser; here they only have their help.
        Command::Mcp(_) => Err(CliError::usage(
            "`mcp` takes no options before it but -C",
            "write `lorelane mcp [--http ADDR]`",
        )),
        Command::Hook(_) => Err(CliError::usage(
            "`hook` takes no options before it but -C",
            "write `lorelane hook EVENT --client CLIENT`",
        )),
        Command::Compat(_) => Err(CliError::usage(
            "`compat` takes a script and no options before it but -C",
            "write `lorelane compat SCRIPT …`",
        )),
        Command::Completions { shell } => {
            // Into memory first: the generator takes a reader that went away for a fault of ours.
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut args::command(), "lorelane", &mut script);
            output::out_raw(&String::from_utf8_lossy(&script));
            Ok(Exit::Done)
        }
    }
}
