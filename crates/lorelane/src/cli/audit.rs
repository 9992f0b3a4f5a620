//! `audit`: shows how stale memories are.

use super::shared_args::ChangeArgs;
use super::{CliError, CliResult, Exit, Session, output};
use crate::view::{AuditView, SarifView};
use clap::Args;
use lorelane_core::audit::{Band, CheckedClaim, ClaimCount};
use lorelane_core::change::{Change, Draft};
use lorelane_core::memory::{Address, LaneId};
use lorelane_core::settle::Verdict;
use lorelane_core::text::{cut, one_line};
use lorelane_engine::workspace::{
    AuditReport, AuditScope, MemoryAudit, MemoryStore, MemoryStores, NoSuchStore, Workspace,
};
use std::fmt::Write as _;

/// How many projects are named that a name could mean.
const NEAR_MAX: usize = 8;

/// Show which memories are old, or name code that is gone
///
/// A score from 0 to 100: by age, plus points for claims that no longer hold. From 50 on a memory is to be reviewed, from
/// 75 on it may be pruned. Without --deep the verdicts of the last deep audit are used.
///
/// --project and --all-projects also audit projects that you are not in: those in which Claude Code had sessions.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  lorelane audit --deep --lane notes\n  lorelane audit --urls\n  lorelane audit --all-projects --markdown\n  lorelane audit --project api --json"
)]
pub struct AuditArgs {
    /// Check what memories say about files, symbols, branches and packages against the repository
    #[arg(long)]
    deep: bool,
    /// Check URLs too, by asking their servers with curl; implies --deep
    #[arg(long)]
    urls: bool,
    /// Only this lane: records, notes or auto
    #[arg(long, value_name = "LANE")]
    lane: Option<String>,
    /// Only this project: its name, its path, or a part that no other has
    #[arg(long, value_name = "NAME", conflicts_with = "fix")]
    project: Option<String>,
    /// Every project on this machine
    #[arg(long, conflicts_with_all = ["project", "fix"])]
    all_projects: bool,
    /// Count every broken claim, not each kind once
    #[arg(long)]
    per_claim: bool,
    /// List every memory, also those to keep
    #[arg(long)]
    all: bool,
    /// Print a Markdown summary
    #[arg(long, conflicts_with = "sarif")]
    markdown: bool,
    /// Print broken and moved claims as SARIF
    #[arg(long)]
    sarif: bool,
    /// Check, and write the new paths of moved files into the memories
    #[arg(long, conflicts_with_all = ["markdown", "sarif"])]
    fix: bool,
    #[command(flatten)]
    change: ChangeArgs,
}

pub(super) fn run(session: &Session<'_>, args: &AuditArgs) -> CliResult {
    let lane = args.lane.as_deref().map(lane).transpose()?;
    let count = if args.per_claim { ClaimCount::PerClaim } else { ClaimCount::PerKind };
    let scope = AuditScope { deep: args.deep || args.urls || args.fix, urls: args.urls, lane, count };
    if args.all_projects {
        let mut stores = MemoryStores::find_all(session.env);
        let mut report = AuditReport::of_stores(stores.audit_all(scope));
        let folders = stores.unreadable.iter().map(|(path, why)| (path.display().to_string(), why.clone()));
        report.unreadable.extend(folders);
        return show(session, args, &report);
    }
    if let Some(name) = &args.project {
        let stores = MemoryStores::find_all(session.env);
        let store = chosen(session, &stores, name)?;
        let Some(audited) = stores.audit(&store, scope)? else {
            output::err(&format!("{} has no memories", one_line(&store.name)));
            return Ok(Exit::Nothing);
        };
        return show(session, args, &audited.report);
    }
    let mut workspace = session.open()?;
    let report = workspace.maintenance().audit(scope)?;
    match args.fix {
        true => fix(session, &mut workspace, &report, args.change),
        false => show(session, args, &report),
    }
}

/// The store that somebody named.
fn chosen(session: &Session<'_>, stores: &MemoryStores, name: &str) -> Result<MemoryStore, CliError> {
    stores.find(session.env, name).map_err(|NoSuchStore { near }| {
        let name = one_line(name);
        if near.is_empty() {
            return CliError::usage(
                format!("cannot audit '{name}': no project has this name or path"),
                "`lorelane dashboard` lists the projects",
            );
        }
        let near: Vec<String> = near.iter().take(NEAR_MAX).map(|near| one_line(near)).collect();
        CliError::usage(
            format!("cannot audit '{name}': several projects match"),
            format!("name one of {}", near.join(", ")),
        )
    })
}

fn show(session: &Session<'_>, args: &AuditArgs, report: &AuditReport) -> CliResult {
    if args.sarif {
        output::foreign_document(&SarifView::of(report));
    } else if session.json {
        output::document(&AuditView::of(report));
    } else if args.markdown {
        output::out(&markdown(report));
    } else {
        output::out(&text(report, args));
    }
    for (file, why) in &report.unreadable {
        output::err(&format!("cannot read {}: {}", one_line(file), one_line(why)));
    }
    Ok(Exit::Done)
}

/// Writes new paths, one plan per lane.
fn fix(
    session: &Session<'_>,
    workspace: &mut Workspace,
    report: &AuditReport,
    change: ChangeArgs,
) -> CliResult {
    let plans = workspace.maintenance().fixes(report)?;
    if plans.is_empty() {
        output::err("No memory names a moved file");
        return Ok(Exit::Nothing);
    }
    for (address, moved) in plans.iter().flat_map(|plan| &plan.changes).filter_map(described) {
        output::err(&format!("{address}: {}", one_line(moved)));
    }
    for plan in &plans {
        session.commit(workspace, plan, change)?;
    }
    Ok(Exit::Done)
}

/// What a fix does to one memory.
fn described(change: &Change) -> Option<(&Address, &str)> {
    match change {
        Change::Revise { address, draft: Draft::Edited { because: Some(moved), .. }, .. } => {
            Some((address, moved))
        }
        _ => None,
    }
}

pub(super) fn lane(name: &str) -> Result<LaneId, CliError> {
    let names = || LaneId::ALL.map(LaneId::name).join(", ");
    LaneId::parse(name)
        .ok_or_else(|| CliError::usage(format!("'{name}' is not a lane"), format!("lanes: {}", names())))
}

/// What a list shows: everything that is not simply to keep.
fn is_listed(memory: &MemoryAudit) -> bool {
    memory.band != Band::Keep || memory.claims.iter().any(is_reported)
}

pub(super) fn is_reported(claim: &CheckedClaim) -> bool {
    matches!(claim.verdict, Verdict::Broken | Verdict::Moved(_))
}

fn text(report: &AuditReport, args: &AuditArgs) -> String {
    let mut text = String::new();
    let listed = report.memories.iter().filter(|memory| args.all || is_listed(memory));
    for memory in listed {
        let _ = writeln!(
            text,
            "[{:>3}] {:<6} {}  {}",
            memory.score,
            memory.band.name(),
            full_name(memory),
            cut(&one_line(&memory.title), 60)
        );
        let _ = writeln!(text, "      {}", parts(memory));
        for claim in memory.claims.iter().filter(|claim| is_reported(claim)) {
            let _ = writeln!(text, "      {}", claim_line(memory, claim));
        }
    }
    if !text.is_empty() {
        text.push('\n');
    }
    let _ = writeln!(text, "{}", summary(report));
    if !(args.deep || args.urls) && report.memories.iter().all(|memory| memory.claims.is_empty()) {
        let _ = writeln!(text, "Claims were not checked; pass --deep");
    }
    text
}

/// The address of a memory, with its project if there are several.
pub(super) fn full_name(memory: &MemoryAudit) -> String {
    match &memory.store {
        Some(store) => format!("{}: {}", one_line(store), memory.address),
        None => memory.address.to_string(),
    }
}

/// The parts of the score: age and claims.
pub(super) fn parts(memory: &MemoryAudit) -> String {
    let age = &memory.age;
    let days = output::count(age.days, "day", "days");
    let mut line =
        format!("age {}: {days} ({}), half-life {}", age.score, age.source.name(), age.half_life_days);
    if !memory.claims.is_empty() {
        let of = |name: &str| memory.claims.iter().filter(|claim| claim.verdict.name() == name).count();
        let counts = ["holds", "moved", "broken", "unknown"].map(|name| (of(name), name));
        let counts: Vec<String> = counts
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, name)| format!("{count} {name}"))
            .collect();
        let _ = write!(line, "; claims {}: {}", memory.claim_points, counts.join(", "));
    }
    line
}

pub(super) fn claim_line(memory: &MemoryAudit, claim: &CheckedClaim) -> String {
    let lines = claim.lines.first().map_or(String::new(), |line| format!(":{line}"));
    let (verdict, text, why) = (claim.verdict.name(), one_line(&claim.text), one_line(&claim.evidence.why));
    format!("{verdict} {} `{text}`: {why} ({}{lines})", claim.kind, memory.path)
}

fn summary(report: &AuditReport) -> String {
    let counts = report.distribution;
    format!(
        "{}: {} fresh, {} aging, {} to review, {} stale; about {} tokens",
        output::count(report.memories.len(), "memory", "memories"),
        counts.fresh,
        counts.aging,
        counts.review,
        counts.stale,
        report.tokens
    )
}

fn markdown(report: &AuditReport) -> String {
    let mut text = format!("# Memory audit\n\n{}.\n", summary(report));
    let listed: Vec<&MemoryAudit> = report.memories.iter().filter(|memory| is_listed(memory)).collect();
    if listed.is_empty() {
        return text;
    }
    text.push_str("\n| score | band | memory | why |\n| ---: | --- | --- | --- |\n");
    for memory in listed {
        let claims = memory.claims.iter().filter(|claim| is_reported(claim));
        let mut why: Vec<String> =
            claims.map(|claim| format!("{} `{}`", claim.verdict.name(), cell(&claim.text))).collect();
        let age = &memory.age;
        why.push(format!("{} ({})", output::count(age.days, "day", "days"), age.source.name()));
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} |",
            memory.score,
            memory.band.name(),
            cell(&full_name(memory)),
            why.join("; ")
        );
    }
    text
}

/// A text in a cell of a table.
fn cell(text: &str) -> String {
    one_line(text).replace('|', "\\|").replace('`', "'")
}
