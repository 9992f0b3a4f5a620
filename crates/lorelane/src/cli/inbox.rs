//! `inbox`: what sessions left to decide.

use super::consolidate::print_results;
use super::extract::place_of;
use super::keys::{typed_key, typed_line};
use super::shared_args::ChangeArgs;
use super::{CliError, CliResult, Exit, Session, draft, output};
use crate::view::{CommitView, InboxDoneView, InboxView, RuleView, RulesView};
use clap::{Args, Subcommand};
use lorelane_core::capture::Destination;
use lorelane_core::consolidate::QueuedItem;
use lorelane_core::conversation::TranscriptPosition;
use lorelane_core::dialect::records::draft::read;
use lorelane_core::json::{JsonFormat, Object};
use lorelane_core::memory::Address;
use lorelane_core::statements::StatementFeature;
use lorelane_core::text::{cut, one_line};
use lorelane_engine::setup::BlockFile;
use lorelane_engine::workspace::{ConsolidationReport, InboxAction, InboxEntry, Workspace};
use std::fmt::Write as _;
use std::io::IsTerminal;

/// Decide what to keep of what sessions captured
///
/// Lists the statements that wait, oldest first, each with the memory that accepting it would create. In a terminal it
/// asks for one key per item. What waits longer than inbox.keep_days is dropped. Exit code 1: nothing waits.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  lorelane inbox\n  lorelane inbox --explain\n  lorelane inbox accept 7 9\n  lorelane inbox reject 8 --because \"only for this release\""
)]
pub struct InboxArgs {
    #[command(subcommand)]
    command: Option<InboxCommand>,
    /// Show what made each score
    #[arg(long)]
    explain: bool,
}

#[derive(Debug, Subcommand)]
enum InboxCommand {
    /// Save the proposed memories
    #[command(after_help = "Example:\n  lorelane inbox accept 7 9\n  lorelane inbox accept 8 --to claude-md")]
    Accept {
        /// The numbers of the items
        #[arg(value_name = "N", required = true)]
        items: Vec<u64>,
        /// Edit each memory before it is saved
        #[arg(long)]
        edit: bool,
        /// Where to: a memory, a block in CLAUDE.md or AGENTS.md, or a file in docs/knowledge/
        #[arg(long, value_name = "PLACE", default_value = "memory", value_parser = PLACES)]
        to: String,
        #[command(flatten)]
        change: ChangeArgs,
    },
    /// Drop items, and never capture the same again, not even in other words
    #[command(after_help = "Example:\n  lorelane inbox reject 8 --because \"only for this release\"")]
    Reject {
        /// The numbers of the items
        #[arg(value_name = "N", required = true)]
        items: Vec<u64>,
        /// Why
        #[arg(long, value_name = "REASON", allow_hyphen_values = true)]
        because: String,
        #[command(flatten)]
        change: ChangeArgs,
    },
    /// Drop items
    #[command(after_help = "Example:\n  lorelane inbox drop 8")]
    Drop {
        /// The numbers of the items
        #[arg(value_name = "N", required = true)]
        items: Vec<u64>,
        #[command(flatten)]
        change: ChangeArgs,
    },
}

/// The places that `accept` can write to.
const PLACES: [&str; 4] = ["memory", "claude-md", "agents-md", "knowledge"];

pub(super) fn run(session: &Session<'_>, args: &InboxArgs) -> CliResult {
    let mut workspace = session.open()?;
    workspace.capture().drop_expired(session.env, "inbox");
    let (entries, notices) = workspace.capture().inbox()?;
    output::notices(&notices);
    match &args.command {
        None => show(session, &mut workspace, &entries, args.explain),
        Some(InboxCommand::Accept { items, edit, to, change }) => {
            let chosen = chosen(&entries, items, "accept")?;
            if to != Destination::Memory.name() {
                if *edit {
                    let hint = "edit the file afterwards";
                    return Err(CliError::usage("--edit is for memories", hint));
                }
                return write_rules(session, &mut workspace, &chosen, to, change.dry_run);
            }
            accept(session, &mut workspace, &chosen, *edit, *change)
        }
        Some(InboxCommand::Reject { items, because, change }) => {
            let chosen = chosen(&entries, items, "reject")?;
            if because.trim().is_empty() {
                return Err(CliError::usage(
                    "cannot reject without a reason",
                    "pass --because \"…\", or use `drop`",
                ));
            }
            let action = InboxAction::Reject { because };
            conclude_all(session, &mut workspace, &chosen, &action, "rejected", change.dry_run)
        }
        Some(InboxCommand::Drop { items, change }) => {
            let chosen = chosen(&entries, items, "drop")?;
            conclude_all(session, &mut workspace, &chosen, &InboxAction::Drop, "dropped", change.dry_run)
        }
    }
}

fn show(
    session: &Session<'_>,
    workspace: &mut Workspace,
    entries: &[InboxEntry],
    explain: bool,
) -> CliResult {
    if session.json {
        output::document(&InboxView::of(entries, explain));
    } else if entries.is_empty() {
        output::out("Nothing waits in the inbox\n");
    } else if session.can_ask() && std::io::stdout().is_terminal() {
        return ask_each(session, workspace, entries, explain);
    } else {
        let page: Vec<String> = entries.iter().map(|entry| section(entry, explain)).collect();
        output::out(&format!("{}\n{HELP}", page.join("\n")));
    }
    Ok(if entries.is_empty() { Exit::Nothing } else { Exit::Done })
}

const HELP: &str = "`lorelane inbox accept N`, `reject N --because REASON` or `drop N` decides; `--explain` shows what made each score\n";

/// The named entries. All numbers are checked before anything is done.
fn chosen<'e>(entries: &'e [InboxEntry], items: &[u64], verb: &str) -> Result<Vec<&'e InboxEntry>, CliError> {
    let mut chosen: Vec<&InboxEntry> = Vec::new();
    for number in items {
        let is_meant = |queued: &QueuedItem| {
            queued.item.number == *number || queued.repeats.iter().any(|(_, repeat)| repeat == number)
        };
        let Some(entry) = entries.iter().find(|entry| is_meant(&entry.queued)) else {
            return Err(CliError::usage(
                format!("cannot {verb} item {number}: it does not wait in the inbox"),
                "`lorelane inbox` lists what waits; nothing was done",
            ));
        };
        if !chosen.iter().any(|known| known.queued.item.number == entry.queued.item.number) {
            chosen.push(entry);
        }
    }
    Ok(chosen)
}

/// Writes entries into a file of the project instead of saving memories.
fn write_rules(
    session: &Session<'_>,
    workspace: &mut Workspace,
    chosen: &[&InboxEntry],
    to: &str,
    dry_run: bool,
) -> CliResult {
    let mut written = Vec::new();
    for entry in chosen {
        let item = &entry.queued.item;
        let file = match to {
            "claude-md" => BlockFile::ClaudeMd,
            "agents-md" => BlockFile::AgentsMd,
            _ => BlockFile::Knowledge(item.category),
        };
        let step = workspace.capture().write_rule(entry, file, dry_run)?;
        workspace.capture().conclude(entry, InboxAction::Drop, dry_run)?;
        written.push(RuleView::of(item.number, &step));
    }
    if session.json {
        output::document(&RulesView { dry_run, files: written });
    } else {
        let would = if dry_run { "would be " } else { "" };
        let line = |rule: &RuleView| match rule.did {
            "unchanged" => format!("Item {}: {} has it already\n", rule.item, rule.file),
            _ => format!("Item {} {would}written to {}\n", rule.item, rule.file),
        };
        let lines: String = written.iter().map(line).collect();
        let undo = if dry_run { "" } else { "`lorelane setup --remove rules` takes all of them out again\n" };
        output::out(&format!("{lines}{undo}"));
    }
    Ok(Exit::Done)
}

fn accept(
    session: &Session<'_>,
    workspace: &mut Workspace,
    chosen: &[&InboxEntry],
    edit: bool,
    change: ChangeArgs,
) -> CliResult {
    let mut all = ConsolidationReport::default();
    for entry in chosen {
        if let Some(report) = accept_one(session, workspace, entry, edit, change.dry_run)? {
            all.ends.extend(report.ends);
            all.notices.extend(report.notices);
        }
    }
    output::notices(&all.notices);
    if session.json {
        output::document(&CommitView::of(&all, change.dry_run));
    } else {
        print_results(&all, change.dry_run);
    }
    let settled = all.ends.iter().all(|end| end.how.is_settled());
    Ok(if settled { Exit::Done } else { Exit::Nothing })
}

fn accept_one(
    session: &Session<'_>,
    workspace: &mut Workspace,
    entry: &InboxEntry,
    edit: bool,
    dry_run: bool,
) -> Result<Option<ConsolidationReport>, CliError> {
    let edited = if edit { Some(edited(session, workspace, entry)?) } else { None };
    Ok(workspace.capture().conclude(entry, InboxAction::Accept { draft: edited }, dry_run)?)
}

/// The proposed memory as the user's editor left it.
fn edited(session: &Session<'_>, workspace: &Workspace, entry: &InboxEntry) -> Result<Object, CliError> {
    let name = format!("inbox-{}", entry.queued.item.number);
    let before = format!("{}\n", entry.draft.render(JsonFormat::FILE));
    let worked = draft::edited(session, workspace, &name, &before)?;
    let parsed = read(&worked.text).map_err(|why| {
        CliError::usage(
            format!("cannot accept item {}: {why}", entry.queued.item.number),
            "fix the draft and accept again",
        )
    });
    if parsed.is_ok() {
        worked.discard();
    }
    parsed
}

fn conclude_all(
    session: &Session<'_>,
    workspace: &mut Workspace,
    chosen: &[&InboxEntry],
    action: &InboxAction<'_>,
    did: &'static str,
    dry_run: bool,
) -> CliResult {
    for entry in chosen {
        workspace.capture().conclude(entry, action.clone(), dry_run)?;
    }
    let items: Vec<u64> = chosen.iter().map(|entry| entry.queued.item.number).collect();
    if session.json {
        output::document(&InboxDoneView { dry_run, did, items });
    } else {
        let would = if dry_run { "would be " } else { "" };
        let lines: String = items.iter().map(|number| format!("Item {number} {would}{did}\n")).collect();
        output::out(&lines);
    }
    Ok(Exit::Done)
}

/// One item as text: its words, where they come from, and what accepting it would do.
fn section(entry: &InboxEntry, explain: bool) -> String {
    let QueuedItem { session, client, at, item, repeats } = &entry.queued;
    let place = match item.origin.at {
        TranscriptPosition::Line(line) => format!("line {line}"),
        TranscriptPosition::Byte(byte) => format!("byte {byte}"),
    };
    let mut text = format!(
        "{}. {}, {}, score {:.2} ({client} session {}, {place})\n",
        item.number,
        item.form_name(),
        item.date(*at),
        item.score,
        cut(&one_line(session), 40),
    );
    let _ = writeln!(text, "   \"{}\"", cut(&one_line(&item.words()), 300));
    let title = entry.draft.text("title").unwrap_or_default();
    let address = Address::for_title(item.category, title.trim());
    let _ = writeln!(text, "   accept: creates {address}");
    if let Some(old) = &entry.supersedes {
        let _ = writeln!(text, "           and supersedes {old}, which it seems to contradict");
    }
    if !entry.destination.is_memory() {
        let _ = writeln!(text, "   belongs in {}", place_of(entry.destination));
    }
    if !repeats.is_empty() {
        let _ = writeln!(text, "   said again {}", output::count(repeats.len(), "time", "times"));
    }
    if explain {
        for share in &item.evidence {
            let meaning = StatementFeature::parse(&share.feature).map_or("", StatementFeature::meaning);
            let _ = writeln!(text, "   {:+.2} {meaning}", share.share);
        }
        if item.is_request() {
            text.push_str("   the user asked to remember it\n");
        } else if let Some(form) = item.form {
            let _ = writeln!(text, "   at least {:.2}: {}", form.least_score(), form.meaning());
        } else if item.evidence.is_empty() && item.kind.is_some() {
            text.push_str("   the agent named a cause, and the user confirmed it\n");
        }
    }
    text
}

/// What a person decides with one key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Decision {
    Accept,
    Edit,
    Reject,
    Drop,
    Later,
    /// The next key is for all items of this session.
    Session,
    Quit,
}

impl Decision {
    fn of(key: char) -> Option<Decision> {
        match key.to_ascii_lowercase() {
            'a' => Some(Decision::Accept),
            'e' => Some(Decision::Edit),
            'r' => Some(Decision::Reject),
            'd' => Some(Decision::Drop),
            'l' => Some(Decision::Later),
            's' => Some(Decision::Session),
            'q' | '\u{3}' | '\u{4}' => Some(Decision::Quit),
            _ => None,
        }
    }
}

const KEYS: &str = "[a]ccept  [e]dit  [r]eject  [d]rop  [l]ater  [s] all of this session  [q]uit";

fn ask_each(
    session: &Session<'_>,
    workspace: &mut Workspace,
    entries: &[InboxEntry],
    explain: bool,
) -> CliResult {
    let mut decided: Vec<u64> = Vec::new();
    for entry in entries {
        if decided.contains(&entry.queued.item.number) {
            continue;
        }
        let mut same: Vec<&InboxEntry> = vec![entry];
        let mut decision = next_decision(&format!("\n{}{KEYS}\n", section(entry, explain)));
        if decision == Decision::Session {
            let of_session = |other: &&InboxEntry| other.queued.session == entry.queued.session;
            same = entries.iter().filter(of_session).collect();
            same.retain(|other| !decided.contains(&other.queued.item.number));
            let items = output::count(same.len(), "item", "items");
            let keys = "[a]ccept  [r]eject  [d]rop  [l]ater  [q]uit";
            decision = next_decision(&format!("{items} of this session: {keys}\n"));
        }
        if decision == Decision::Quit {
            return Ok(Exit::Done);
        }
        decided.extend(same.iter().map(|entry| entry.queued.item.number));
        let change = ChangeArgs { dry_run: false };
        // A refused draft is reported and stays in the inbox; the next item is asked all the same.
        let done = match decision {
            Decision::Accept => accept(session, workspace, &same, false, change),
            Decision::Edit => accept(session, workspace, &same, true, change),
            Decision::Drop => conclude_all(session, workspace, &same, &InboxAction::Drop, "dropped", false),
            Decision::Reject => {
                let because = typed_line("Why? ");
                let action = InboxAction::Reject {
                    because: if because.is_empty() { "no reason given" } else { &because },
                };
                conclude_all(session, workspace, &same, &action, "rejected", false)
            }
            Decision::Later | Decision::Session | Decision::Quit => Ok(Exit::Done),
        };
        if let Err(error) = done {
            output::err(&format!("error: {error}\nhint: {}", error.hint()));
        }
    }
    Ok(Exit::Done)
}

/// Asks, and waits for a key that means something. The end of the input means to quit.
fn next_decision(question: &str) -> Decision {
    let mut key = typed_key(question);
    loop {
        match key.map(Decision::of) {
            None => return Decision::Quit,
            Some(Some(decision)) => return decision,
            Some(None) => key = typed_key(""),
        }
    }
}
