//! `prune`: decides what becomes of stale memories.

use super::draft::{self, EditedDraft};
use super::input::read_note;
use super::keys::typed_key;
use super::shared_args::ChangeArgs;
use super::{CliError, CliResult, Exit, Session, audit, output};
use crate::view::{PruneView, PrunedView};
use clap::Args;
use lorelane_core::audit::{Band, PruneAction};
use lorelane_core::change::{Change, Plan};
use lorelane_core::json;
use lorelane_core::memory::{Address, LaneId};
use lorelane_core::text::{cut, one_line};
use lorelane_engine::workspace::{AuditScope, MemoryAudit, Workspace};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::IsTerminal;
use std::path::PathBuf;

/// Decide what becomes of memories that an audit finds stale
///
/// Lists the memories with a score from 50 on, worst first. In a terminal it asks for one key per memory, and applies all
/// decisions at the end, so that one `undo` per lane takes them back. Elsewhere it prints the list, and --plan applies
/// decisions. Exit code 1: no memory is stale.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  lorelane prune\n  lorelane prune --json\n  lorelane prune --plan plan.json --dry-run\n\nA plan:\n  {\"decisions\": [\n    {\"address\": \"auto/old-branch\", \"action\": \"archive\", \"because\": \"merged\"},\n    {\"address\": \"decision/use-jwt\", \"action\": \"keep\", \"because\": \"checked against main.rs\"}]}\n\nActions: keep, archive, retire, delete, edit (with \"text\"). \"revision\" guards against a change since the list."
)]
pub struct PruneArgs {
    /// Apply the decisions in this file, or in standard input with `-`
    #[arg(long, value_name = "FILE")]
    plan: Option<PathBuf>,
    /// Only this lane: records, notes or auto
    #[arg(long, value_name = "LANE", conflicts_with = "plan")]
    lane: Option<String>,
    /// Check claims against the repository first
    #[arg(long, conflicts_with = "plan")]
    deep: bool,
    /// Do not ask before memories are deleted; required without a terminal
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    change: ChangeArgs,
}

/// Decisions as a file has them.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PrunePlan {
    decisions: Vec<PlannedDecision>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PlannedDecision {
    address: String,
    action: String,
    #[serde(default)]
    because: String,
    revision: Option<String>,
    text: Option<String>,
}

/// What was decided about one memory.
struct PruneDecision {
    address: Address,
    action: PruneAction,
    changes: Vec<Change>,
}

pub(super) fn run(session: &Session<'_>, args: &PruneArgs) -> CliResult {
    let mut workspace = session.open()?;
    if let Some(file) = &args.plan {
        let decisions = planned(&mut workspace, &read_note(session, file)?)?;
        return apply(session, &mut workspace, decisions, args);
    }
    let lane = args.lane.as_deref().map(audit::lane).transpose()?;
    let scope = AuditScope { deep: args.deep, lane, ..AuditScope::default() };
    let report = workspace.maintenance().audit(scope)?;
    let stale: Vec<&MemoryAudit> =
        report.memories.iter().filter(|memory| memory.band != Band::Keep).collect();
    for (file, why) in &report.unreadable {
        output::err(&format!("cannot read {}: {}", one_line(file), one_line(why)));
    }
    if session.json {
        output::document(&PruneView::of(&stale));
    } else if stale.is_empty() {
        output::out("No memory is stale\n");
    } else if session.can_ask() && std::io::stdout().is_terminal() {
        return ask_each(session, &mut workspace, &stale, args);
    } else {
        let page: Vec<String> = stale.iter().map(|memory| section(memory)).collect();
        output::out(&format!("{}\n{HELP}", page.join("")));
    }
    Ok(if stale.is_empty() { Exit::Nothing } else { Exit::Done })
}

const HELP: &str = "`lorelane prune` asks in a terminal; elsewhere `lorelane prune --plan FILE` applies decisions (see `lorelane prune --help`)\n";

/// One memory as text: its score, and what speaks against it.
fn section(memory: &MemoryAudit) -> String {
    let title = cut(&one_line(&memory.title), 60);
    let mut text = format!("[{:>3}] {:<6} {}  {title}\n", memory.score, memory.band.name(), memory.address);
    let _ = writeln!(text, "      {}", audit::parts(memory));
    for claim in memory.claims.iter().filter(|claim| audit::is_reported(claim)) {
        let _ = writeln!(text, "      {}", audit::claim_line(memory, claim));
    }
    text
}

/// The decisions of a plan. Everything is checked before anything is done.
fn planned(workspace: &mut Workspace, text: &str) -> Result<Vec<PruneDecision>, CliError> {
    let hint = "`lorelane prune --help` shows a plan; nothing was changed";
    let plan: PrunePlan =
        json::from_str(text).map_err(|why| CliError::usage(format!("cannot read the plan: {why}"), hint))?;
    let mut decisions: Vec<PruneDecision> = Vec::new();
    for PlannedDecision { address: typed, action, because, revision, text } in plan.decisions {
        let Some(action) = PruneAction::parse(&action) else {
            let known = PruneAction::ALL.map(PruneAction::name).join(", ");
            let what = format!("cannot prune {}: '{}' is not an action", one_line(&typed), one_line(&action));
            return Err(CliError::usage(what, format!("actions: {known}; nothing was changed")));
        };
        let address = workspace.find(&typed)?;
        let loaded = workspace.load(&address)?;
        let refused = |why: &str| CliError::usage(format!("cannot {} {address}: {why}", action.name()), hint);
        if decisions.iter().any(|known| known.address == address) {
            return Err(refused("the plan has two decisions about it"));
        }
        if revision.is_some_and(|revision| revision != loaded.revision.to_string()) {
            return Err(refused("it has changed since the list was made"));
        }
        if (action == PruneAction::Edit) != text.is_some() {
            return Err(refused("an edit, and nothing else, needs the new text"));
        }
        let text = text.map(|text| (loaded.revision, text));
        let changes = action.changes(&address, &because, text);
        decisions.push(PruneDecision { address, action, changes });
    }
    Ok(decisions)
}

/// Applies decisions, one plan per lane. If one of them is refused, nothing is done.
fn apply(
    session: &Session<'_>,
    workspace: &mut Workspace,
    mut decisions: Vec<PruneDecision>,
    args: &PruneArgs,
) -> CliResult {
    let dry_run = args.change.dry_run;
    let is_delete = |decision: &PruneDecision| decision.action == PruneAction::Delete;
    let deletes = decisions.iter().filter(|decision| is_delete(decision)).count();
    if deletes > 0 && !args.yes && !dry_run {
        let memories = output::count(deletes, "memory", "memories");
        if !session.can_ask() {
            return Err(CliError::usage(
                format!("cannot delete {memories}: {}", Session::needs_confirmation()),
                "nothing was changed; `--dry-run` shows what would be deleted",
            ));
        }
        if !output::ask(&format!("Delete {memories}?")) {
            decisions.retain(|decision| !is_delete(decision));
        }
    }
    let mut lanes: BTreeMap<LaneId, Vec<Change>> = BTreeMap::new();
    for PruneDecision { address, changes, .. } in decisions {
        lanes.entry(address.lane()).or_default().extend(changes);
    }
    let plans: Vec<Plan> =
        lanes.into_values().map(|changes| Plan { changes, because: "prune".to_owned() }).collect();
    if plans.is_empty() {
        output::err("Nothing was changed");
        return Ok(Exit::Nothing);
    }
    let previews = plans.iter().map(|plan| workspace.preview(plan)).collect::<Result<Vec<_>, _>>()?;
    let receipts = match dry_run {
        true => previews,
        false => plans.iter().map(|plan| workspace.commit(plan)).collect::<Result<Vec<_>, _>>()?,
    };
    if session.json {
        receipts.iter().for_each(|receipt| output::notices(&receipt.notices));
        output::document(&PrunedView::of(&receipts, dry_run));
        return Ok(Exit::Done);
    }
    receipts.iter().for_each(|receipt| output::receipt(receipt, false, dry_run));
    if !dry_run {
        let times = if plans.len() > 1 { format!(", {} times,", plans.len()) } else { String::new() };
        output::out(&format!("`lorelane undo`{times} takes it back\n"));
    }
    Ok(Exit::Done)
}

/// What a key means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PruneKey {
    Do(PruneAction),
    Skip,
    /// Apply what was decided.
    Finish,
    /// Forget what was decided.
    Abandon,
}

impl PruneKey {
    fn of(key: char) -> Option<PruneKey> {
        match key.to_ascii_lowercase() {
            'k' => Some(PruneKey::Do(PruneAction::Keep)),
            'a' => Some(PruneKey::Do(PruneAction::Archive)),
            'r' => Some(PruneKey::Do(PruneAction::Retire)),
            'd' => Some(PruneKey::Do(PruneAction::Delete)),
            'e' => Some(PruneKey::Do(PruneAction::Edit)),
            's' => Some(PruneKey::Skip),
            'q' => Some(PruneKey::Finish),
            '\u{3}' | '\u{4}' => Some(PruneKey::Abandon),
            _ => None,
        }
    }
}

const KEYS: &str = "[k]eep  [a]rchive  [r]etire  [d]elete  [e]dit  [s]kip  [q]uit";

fn ask_each(
    session: &Session<'_>,
    workspace: &mut Workspace,
    stale: &[&MemoryAudit],
    args: &PruneArgs,
) -> CliResult {
    let (mut decisions, mut drafts) = (Vec::new(), Vec::new());
    'memories: for (at, memory) in stale.iter().enumerate() {
        let mut question = format!("\n{} of {}\n{}{KEYS}\n", at + 1, stale.len(), section(memory));
        loop {
            match next_key(&question) {
                PruneKey::Skip => break,
                PruneKey::Finish => break 'memories,
                PruneKey::Abandon => {
                    keep_drafts(drafts);
                    output::err("Nothing was changed");
                    return Ok(Exit::Done);
                }
                PruneKey::Do(action) => match decide(session, workspace, memory, action) {
                    Ok((decision, draft)) => {
                        decisions.push(decision);
                        drafts.extend(draft);
                        break;
                    }
                    // What is refused now would stop everything at the end.
                    Err(error) => {
                        output::err(&format!("error: {error}\nhint: {}", error.hint()));
                        question = format!("{KEYS}\n");
                    }
                },
            }
        }
    }
    if decisions.is_empty() {
        output::err("Nothing was changed");
        return Ok(Exit::Done);
    }
    let done = apply(session, workspace, decisions, args);
    match done.is_ok() && !args.change.dry_run {
        true => drafts.into_iter().for_each(EditedDraft::discard),
        false => keep_drafts(drafts),
    }
    done
}

fn keep_drafts(drafts: Vec<EditedDraft>) {
    for draft in drafts {
        let _ = draft::settle(Some(draft), Ok(Exit::Nothing), ChangeArgs { dry_run: true });
    }
}

/// A decision that the store accepts.
fn decide(
    session: &Session<'_>,
    workspace: &mut Workspace,
    memory: &MemoryAudit,
    action: PruneAction,
) -> Result<(PruneDecision, Option<EditedDraft>), CliError> {
    let address = memory.address.clone();
    let (mut text, mut draft) = (None, None);
    if action == PruneAction::Edit {
        let loaded = workspace.load(&address)?;
        let worked = draft::edited(session, workspace, address.name(), &loaded.document.text)?;
        text = Some((loaded.revision, worked.text.clone()));
        draft = Some(worked);
    }
    let changes = action.changes(&address, "", text);
    let refused = workspace.preview(&Plan { changes: changes.clone(), because: "prune".to_owned() }).err();
    match refused {
        Some(failure) => {
            keep_drafts(draft.into_iter().collect());
            Err(failure.into())
        }
        None => Ok((PruneDecision { address, action, changes }, draft)),
    }
}

/// Waits for a key that means something. The end of the input abandons everything.
fn next_key(question: &str) -> PruneKey {
    let mut key = typed_key(question);
    loop {
        match key.map(PruneKey::of) {
            None => return PruneKey::Abandon,
            Some(Some(key)) => return key,
            Some(None) => key = typed_key(""),
        }
    }
}
