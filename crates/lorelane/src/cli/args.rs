//! The parser: global options, the list of commands, and the grouped help.
//!
//! Arguments and help of a command are in the file of the command: one line for `-h`, the details and an example for
//! `--help`.

use super::{
    append, archive, audit, auto, bench, candidate, check, compat, completions, config, confirm, consolidate,
    create, dashboard, doctor, duplicates, edit, extract, forget, gc, graph, hook, inbox, init, links, list,
    log, mcp, merge, model, notes, pin, prune, reindex, reject, related, restore, retire, search, setup,
    show, status, supersede, tour, trust, undo, unpin, update, why, working_set,
};
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use std::ffi::OsString;
use std::path::PathBuf;

const ABOUT: &str = "Memory for AI coding agents, in plain files that you control";

#[derive(Debug, Parser)]
#[command(
    name = "lorelane",
    version,
    about = ABOUT,
    disable_help_subcommand = true,
    max_term_width = 100
)]
pub struct Cli {
    /// Run in this folder instead of the current one
    #[arg(short = 'C', global = true, value_name = "DIR", help_heading = "Global options")]
    pub directory: Option<PathBuf>,
    /// Print one JSON document instead of text
    #[arg(long, global = true, help_heading = "Global options")]
    pub json: bool,
    #[command(subcommand)]
    pub command: Command,
}

/// The order of the commands in the help.
pub const GROUPS: [(&str, &[&str]); 4] = [
    (
        "Everyday",
        &[
            "init",
            "tour",
            "create",
            "show",
            "edit",
            "update",
            "list",
            "search",
            "inbox",
            "extract",
            "links",
            "related",
            "pin",
            "unpin",
            "why",
            "audit",
            "check",
            "confirm",
            "prune",
            "dashboard",
            "working-set",
        ],
    ),
    (
        "Maintenance",
        &[
            "append",
            "supersede",
            "retire",
            "archive",
            "restore",
            "reject",
            "forget",
            "merge",
            "duplicates",
            "graph",
            "log",
            "undo",
            "status",
            "doctor",
            "bench",
            "reindex",
            "gc",
            "config",
            "trust",
            "notes",
            "auto",
            "model",
        ],
    ),
    ("Agents", &["setup", "mcp"]),
    ("Plumbing", &["hook", "consolidate", "candidate", "compat", "completions"]),
];

#[derive(Debug, Subcommand)]
pub enum Command {
    Init(init::InitArgs),
    Tour(tour::TourArgs),
    Create(create::CreateArgs),
    Show(show::ShowArgs),
    Edit(edit::EditArgs),
    Update(update::UpdateArgs),
    List(list::ListArgs),
    Search(search::SearchArgs),
    Links(links::LinksArgs),
    Related(related::RelatedArgs),
    Pin(pin::PinArgs),
    Unpin(unpin::UnpinArgs),
    Why(why::WhyArgs),
    Audit(audit::AuditArgs),
    Check(check::CheckArgs),
    Confirm(confirm::ConfirmArgs),
    Prune(prune::PruneArgs),
    Dashboard(dashboard::DashboardArgs),
    WorkingSet(working_set::WorkingSetArgs),
    Append(append::AppendArgs),
    Supersede(supersede::SupersedeArgs),
    Retire(retire::RetireArgs),
    Archive(archive::ArchiveArgs),
    Restore(restore::RestoreArgs),
    Reject(reject::RejectArgs),
    Forget(forget::ForgetArgs),
    Merge(merge::MergeArgs),
    Duplicates(duplicates::DuplicatesArgs),
    Graph(graph::GraphArgs),
    Log(log::LogArgs),
    Undo(undo::UndoArgs),
    Status(status::StatusArgs),
    Doctor(doctor::DoctorArgs),
    Bench(bench::BenchArgs),
    Reindex(reindex::ReindexArgs),
    Gc(gc::GcArgs),
    #[command(subcommand)]
    Config(config::ConfigCommand),
    Trust(trust::TrustArgs),
    #[command(subcommand)]
    Notes(notes::NotesCommand),
    #[command(subcommand)]
    Auto(auto::AutoCommand),
    #[command(subcommand)]
    Model(model::ModelCommand),
    Setup(setup::SetupArgs),
    Mcp(mcp::McpArgs),
    Hook(hook::HookArgs),
    #[command(subcommand)]
    Consolidate(consolidate::ConsolidateCommand),
    Inbox(inbox::InboxArgs),
    Extract(extract::ExtractArgs),
    Candidate(candidate::CandidateArgs),
    Compat(compat::CompatArgs),
    Completions(completions::CompletionsArgs),
}

/// Parses the words of a command line. The grouped help is made only when the parser has something to print: with
/// the check of free texts it cost a command like `log` a sixth of its instructions.
pub fn parse(words: &[OsString]) -> Result<Cli, clap::Error> {
    let matches = parser().try_get_matches_from(words).or_else(|_| command().try_get_matches_from(words))?;
    Cli::from_arg_matches(&matches)
}

fn parser() -> clap::Command {
    checking_free_texts(Cli::command())
}

/// The command with its help in groups.
pub fn command() -> clap::Command {
    let command = parser();
    let mut help = format!("{ABOUT}\n\nUsage: lorelane [-C DIR] [--json] <COMMAND>\n");
    for (group, names) in GROUPS.iter().filter(|(_, names)| !names.is_empty()) {
        help.push_str(&format!("\n{group}:\n"));
        for name in *names {
            let about = command.find_subcommand(name).and_then(clap::Command::get_about);
            help.push_str(&format!("  {name:<14} {}\n", about.map(ToString::to_string).unwrap_or_default()));
        }
    }
    help.push_str(
        "\nGlobal options:
  -C DIR         Run in this folder instead of the current one
  --json         Print one JSON document instead of text
  -h, --help     Print help; after a command, the help of that command
  -V, --version  Print the version

Exit codes:
  0  done
  1  nothing found, or a check failed
  2  rejected: nothing was changed
  3  failed halfway: the next change completes it or rolls it back
",
    );
    command.override_help(help)
}

/// Whether a word is an option of any command.
fn is_option(word: &str, command: &clap::Command) -> bool {
    let is_argument = |argument: &clap::Arg| {
        let long = argument.get_long().is_some_and(|name| word.strip_prefix("--") == Some(name));
        long || argument.get_short().is_some_and(|name| word.strip_prefix('-') == Some(&*name.to_string()))
    };
    ["-h", "--help", "-V", "--version"].contains(&word)
        || command.get_arguments().any(is_argument)
        || command.get_subcommands().any(|sub| is_option(word, sub))
}

/// Rejects an option in place of a text. A text may begin with `-`, but `--reason --dry-run` means that the text was
/// forgotten, and must not retire anything.
///
/// It is added here and not in each command: a command that named the parser would be in a cycle with it.
fn checking_free_texts(command: clap::Command) -> clap::Command {
    // The arguments of a compat script are not checked: it parses them itself.
    let is_free =
        |argument: &clap::Arg| argument.is_allow_hyphen_values_set() && !argument.is_trailing_var_arg_set();
    let checked = |argument: clap::Arg| {
        if !is_free(&argument) {
            return argument;
        }
        // The commands are built again for the rare text that begins with `-`, not for every call.
        argument.value_parser(|text: &str| match text.starts_with('-') && is_option(text, &Cli::command()) {
            true => Err("this is an option, not a value"),
            false => Ok(text.to_owned()),
        })
    };
    let has_free = command.get_arguments().any(is_free);
    let command = if has_free { command.mut_args(checked) } else { command };
    command.mut_subcommands(checking_free_texts)
}
