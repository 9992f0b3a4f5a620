//! The parser: global options, the list of commands, and the grouped help.
//!
//! Arguments and help of a command are in the file of the command: one line for `-h`, the details and an example for
//! `--help`.

use super::{
    append, archive, bench, candidate, compat, completions, config, consolidate, create, doctor, duplicates,
    edit, forget, gc, graph, hook, init, links, list, log, mcp, merge, model, notes, pin, reindex, reject,
    related, restore, retire, search, setup, show, status, supersede, tour, trust, undo, unpin, update, why,
};
use clap::{CommandFactory, Parser, Subcommand};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

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
            "init", "tour", "create", "show", "edit", "update", "list", "search", "links", "related", "pin",
            "unpin", "why",
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
    Model(model::ModelCommand),
    Setup(setup::SetupArgs),
    Mcp(mcp::McpArgs),
    Hook(hook::HookArgs),
    #[command(subcommand)]
    Consolidate(consolidate::ConsolidateCommand),
    Candidate(candidate::CandidateArgs),
    Compat(compat::CompatArgs),
    Completions(completions::CompletionsArgs),
}

/// The command with its help in groups.
pub fn command() -> clap::Command {
    let command = Cli::command();
    let options = Arc::new(options(&command));
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
    checking_free_texts(command, &options).override_help(help)
}

/// The options of all commands, as they are typed.
fn options(command: &clap::Command) -> BTreeSet<String> {
    let mut options: BTreeSet<String> = ["-h", "--help", "-V", "--version"].map(str::to_owned).into();
    for argument in command.get_arguments() {
        options.extend(argument.get_long().map(|name| format!("--{name}")));
        options.extend(argument.get_short().map(|name| format!("-{name}")));
    }
    options.extend(command.get_subcommands().flat_map(self::options));
    options
}

/// Rejects an option in place of a text. A text may begin with `-`, but `--reason --dry-run` means that the text was
/// forgotten, and must not retire anything.
///
/// It is added here and not in each command: a command that named the parser would be in a cycle with it.
fn checking_free_texts(command: clap::Command, options: &Arc<BTreeSet<String>>) -> clap::Command {
    let checked = |argument: clap::Arg| {
        // The arguments of a compat script are not checked: it parses them itself.
        if !argument.is_allow_hyphen_values_set() || argument.is_trailing_var_arg_set() {
            return argument;
        }
        let options = Arc::clone(options);
        argument.value_parser(move |text: &str| match options.contains(text) {
            true => Err("this is an option, not a value"),
            false => Ok(text.to_owned()),
        })
    };
    command.mut_args(checked).mut_subcommands(|sub| checking_free_texts(sub, options))
}
