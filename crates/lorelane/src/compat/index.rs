//! `memory_index`: the listing, the state of the store, and garbage collection.

use super::ScriptOutput;
use super::arguments::{Flag, OptionNeed, OptionValue, Script, ScriptOptions};
use lorelane_core::change::{Change, Plan};
use lorelane_core::corpus::MemorySummary;
use lorelane_core::dialect::records::Drift;
use lorelane_core::json::Json;
use lorelane_core::lifecycle::{LifecycleVerb, Status};
use lorelane_core::memory::Address;
use lorelane_core::policy::DEFAULT_ROOT;
use lorelane_core::retention::GarbageCollection;
use lorelane_core::text::one_line;
use lorelane_engine::backend::StoreError;
use lorelane_engine::env::Env;
use lorelane_engine::index::Rebuild;
use lorelane_engine::workspace::{Failure, Overview, Workspace};
use std::collections::BTreeMap;
use std::path::Path;

const SCRIPT: Script = Script {
    name: "memory_index.py",
    options: &[
        Flag { name: "--root", takes: OptionValue::Text("ROOT"), need: OptionNeed::Optional },
        Flag { name: "--rebuild", takes: OptionValue::Nothing, need: OptionNeed::OneOf },
        Flag { name: "--validate", takes: OptionValue::Nothing, need: OptionNeed::OneOf },
        Flag { name: "--query", takes: OptionValue::Text("KEYWORD"), need: OptionNeed::OneOf },
        Flag { name: "--health", takes: OptionValue::Nothing, need: OptionNeed::OneOf },
        Flag { name: "--gc", takes: OptionValue::Nothing, need: OptionNeed::OneOf },
    ],
};

pub(super) fn run(env: &Env, arguments: &[String]) -> ScriptOutput {
    let given = match SCRIPT.read(arguments) {
        Ok(given) => given,
        Err(said) => return said,
    };
    let typed = given.text("--root").unwrap_or(DEFAULT_ROOT);
    let root = env.cwd.join(typed);
    if !root.is_dir() {
        return ScriptOutput::error(&format!("Memory root '{typed}' is not a directory."));
    }
    match answer(env, &root, Path::new(typed), &given) {
        Ok(said) => said,
        Err(failure) => ScriptOutput::error(&failure.to_string()),
    }
}

fn answer(env: &Env, root: &Path, typed: &Path, given: &ScriptOptions) -> Result<ScriptOutput, Failure> {
    let mut workspace = Workspace::open_root(env, root)?;
    if let Some(keyword) = given.text("--query") {
        return query(&mut workspace, keyword);
    }
    let mut said = ScriptOutput::default();
    for problem in workspace.maintenance().unreadable()? {
        let file = typed.join(problem.path.as_str());
        said.warn(&format!("WARNING: Could not parse {}: {}", file.display(), problem.what));
    }
    if given.has("--rebuild") {
        rebuild(&mut workspace, typed, &mut said)?;
    } else if given.has("--validate") {
        validate(&mut workspace, &mut said)?;
    } else if given.has("--health") {
        health(&mut workspace, &mut said)?;
    } else {
        collect_garbage(&mut workspace, &mut said)?;
    }
    Ok(said)
}

fn query(workspace: &mut Workspace, keyword: &str) -> Result<ScriptOutput, Failure> {
    let mut said = ScriptOutput::default();
    if keyword.is_empty() {
        return Ok(said);
    }
    let wanted = keyword.to_lowercase();
    let mut lines = workspace.maintenance().listing_lines()?;
    lines.retain(|line| line.to_lowercase().contains(&wanted));
    if lines.is_empty() {
        said.print(&format!("No matches found for '{keyword}'."));
        return Ok(said);
    }
    said.print(&format!("Found {} match(es) for '{keyword}':", lines.len()));
    lines.iter().for_each(|line| said.print(&format!("  {line}")));
    Ok(said)
}

fn rebuild(workspace: &mut Workspace, typed: &Path, said: &mut ScriptOutput) -> Result<(), Failure> {
    let (entries, notices) = workspace.maintenance().reindex(Rebuild::Changed)?;
    said.notices(&notices);
    if entries == 0 {
        said.print("No active memory files found. Nothing to index.");
    } else {
        let file = typed.join("index.md");
        said.print(&format!("Rebuilt index.md with {entries} entries at {}", file.display()));
    }
    Ok(())
}

fn validate(workspace: &mut Workspace, said: &mut ScriptOutput) -> Result<(), Failure> {
    let files = workspace.maintenance().listing_lines()?.len();
    let Some(drift) = workspace.maintenance().listing_drift()? else {
        said.print("ERROR: index.md does not exist. Run --rebuild first.");
        said.code = 1;
        return Ok(());
    };
    if drift.is_none() {
        said.print(&format!("Index is valid. {} entries match {files} files.", drift.listed));
        return Ok(());
    }
    if !drift.unlisted.is_empty() {
        said.print("Files NOT in index.md:");
        drift.unlisted.iter().for_each(|path| said.print(&format!("  + {path}")));
    }
    if !drift.stale.is_empty() {
        said.print("Index entries with NO matching file:");
        drift.stale.iter().for_each(|path| said.print(&format!("  - {path}")));
    }
    said.print("\nIndex has mismatches. Run --rebuild to fix.");
    said.code = 1;
    Ok(())
}

fn health(workspace: &mut Workspace, said: &mut ScriptOutput) -> Result<(), Failure> {
    let overview = workspace.maintenance().overview()?;
    let drift = workspace.maintenance().listing_drift()?;
    said.print("Memory Health Report");
    said.print(&"=".repeat(50));
    report_counts(&overview, said);
    let named = |entry: &MemorySummary| format!("[{}] {}", entry.kind.display(), one_line(&entry.title));
    said.print("\n--- Heavily Updated (times_updated > 5) ---");
    or_none(said, &overview.heavily_revised, |entry| {
        format!("{} (updated {} times)", named(entry), entry.revised)
    });
    said.print("\n--- Recent Retirements (last 7 days) ---");
    or_none(said, &overview.recently_retired, |(entry, days)| {
        format!("{} ({days} day(s) ago)", named(entry))
    });
    report_sync(drift.as_ref(), said);
    said.print("\n--- Summary ---");
    let mut attention = Vec::new();
    if drift.is_none_or(|drift| !drift.is_none()) {
        attention.push("Index out of sync or missing".to_owned());
    }
    if !overview.heavily_revised.is_empty() {
        let count = overview.heavily_revised.len();
        attention.push(format!("{count} heavily-updated memories (consider reviewing)"));
    }
    said.print(if attention.is_empty() { "  Health: GOOD" } else { "  Health: NEEDS ATTENTION" });
    attention.iter().for_each(|what| said.print(&format!("    - {what}")));
    Ok(())
}

fn report_counts(overview: &Overview, said: &mut ScriptOutput) {
    let mut active: BTreeMap<&str, usize> = BTreeMap::new();
    let mut total: BTreeMap<Status, usize> = BTreeMap::new();
    for ((kind, status), count) in &overview.counts {
        *total.entry(*status).or_default() += count;
        if *status == Status::Active {
            active.insert(kind.display(), *count);
        }
    }
    said.print("\n--- Entries by Category ---");
    active.iter().for_each(|(display, count)| said.print(&format!("  {display}: {count}")));
    match total.get(&Status::Active) {
        Some(count) => said.print(&format!("  TOTAL (active): {count}")),
        None => said.print("  No active memories found."),
    }
    for (status, label) in [(Status::Retired, "Retired"), (Status::Archived, "Archived")] {
        if let Some(count) = total.get(&status) {
            said.print(&format!("  {label}: {count}"));
        }
    }
}

fn report_sync(drift: Option<&Drift>, said: &mut ScriptOutput) {
    said.print("\n--- Index Sync Status ---");
    let Some(drift) = drift else {
        return said.print("  WARNING: index.md does not exist!");
    };
    if drift.is_none() {
        return said.print(&format!("  Index is in sync ({} entries).", drift.listed));
    }
    let mut differing = |what: &str, sign: char, paths: &[String]| {
        if !paths.is_empty() {
            said.print(&format!("  {what} ({}):", paths.len()));
            paths.iter().for_each(|path| said.print(&format!("    {sign} {path}")));
        }
    };
    differing("FILES MISSING FROM INDEX", '+', &drift.unlisted);
    differing("STALE INDEX ENTRIES", '-', &drift.stale);
    said.print("  Run --rebuild to fix.");
}

fn or_none<T>(said: &mut ScriptOutput, items: &[T], line: impl Fn(&T) -> String) {
    if items.is_empty() {
        said.print("  None.");
    }
    items.iter().for_each(|item| said.print(&format!("  {}", line(item))));
}

fn collect_garbage(workspace: &mut Workspace, said: &mut ScriptOutput) -> Result<(), Failure> {
    let collection = workspace.changes().garbage()?;
    let mut skipped = Vec::new();
    for entry in &collection.undated {
        let why = undated(workspace, &entry.address)?;
        skipped.push(format!("SKIP {}: {why} retired_at timestamp", entry.path.file_name()));
    }
    let failed = carry_out(workspace, &collection, said)?;
    let grace = workspace.policy().grace_period_days();
    said.print(&format!("Garbage Collection (grace period: {grace} days)"));
    said.print(&"=".repeat(50));
    said.print("");
    let done = |entry: &MemorySummary| !failed.contains_key(&entry.address);
    let over: Vec<&(MemorySummary, i64)> = collection.over.iter().filter(|(entry, _)| done(entry)).collect();
    let (heading, verb) =
        if workspace.policy().archive_retired() { ("Archived", "ARCHIVED") } else { ("Deleted", "DELETED") };
    if over.is_empty() {
        said.print("No retired memories past grace period.");
    } else {
        said.print(&format!("{heading} {} file(s):", over.len()));
    }
    for (entry, days) in &over {
        said.print(&format!("  {verb} {} (retired {days} days ago)", entry.path.file_name()));
    }
    let expired: Vec<&MemorySummary> = collection.expired.iter().filter(|entry| done(entry)).collect();
    if !expired.is_empty() {
        said.print(&format!("Retired {} file(s):", expired.len()));
    }
    for entry in expired {
        let days = entry.changed().map_or(0, |at| workspace.now().days_since(at));
        said.print(&format!("  RETIRED {} (not changed for {days} days)", entry.path.file_name()));
    }
    skipped.extend(failed.values().cloned());
    if !skipped.is_empty() {
        said.print(&format!("Warnings/errors ({}):", skipped.len()));
        skipped.iter().for_each(|line| said.print(&format!("  {line}")));
    }
    if !over.is_empty() && !workspace.policy().archive_retired() {
        said.print("Run --rebuild to update index.md.");
    }
    Ok(())
}

/// Commits all changes together, so that one undo reverts them; one by one if that fails, because one bad file
/// must not stop the others. Returns what could not be done.
fn carry_out(
    workspace: &mut Workspace,
    collection: &GarbageCollection,
    said: &mut ScriptOutput,
) -> Result<BTreeMap<Address, String>, Failure> {
    let mut failed = BTreeMap::new();
    if collection.changes.is_empty() {
        return Ok(failed);
    }
    let plan =
        |changes: &[Change]| Plan { changes: changes.to_vec(), because: "gc (memory_index)".to_owned() };
    match workspace.commit(&plan(&collection.changes)) {
        Ok(receipt) => {
            said.notices(&receipt.notices);
            return Ok(failed);
        }
        Err(
            failure @ (Failure::Store(StoreError::LockTimeout { .. })
            | Failure::Misconfigured(_)
            | Failure::Untrusted { .. }),
        ) => {
            return Err(failure);
        }
        Err(_) => {}
    }
    for change in &collection.changes {
        let (attempt, address) = match change {
            Change::Delete { address } => ("deleting", address),
            Change::Transition { address, verb: LifecycleVerb::ArchiveRetired, .. } => ("archiving", address),
            Change::Transition { address, .. } => ("retiring", address),
            _ => continue,
        };
        match workspace.commit(&plan(std::slice::from_ref(change))) {
            Ok(receipt) => said.notices(&receipt.notices),
            Err(failure) => {
                let why = one_line(&failure.to_string());
                failed.insert(address.clone(), format!("ERROR {attempt} {}.json: {why}", address.name()));
            }
        }
    }
    Ok(failed)
}

/// Whether `retired_at` of a retired memory is missing or invalid.
fn undated(workspace: &Workspace, address: &Address) -> Result<&'static str, Failure> {
    let loaded = workspace.load(address)?;
    let record = Json::parse(loaded.document.text.trim_start_matches('\u{feff}')).unwrap_or(Json::Null);
    Ok(match record.at("retired_at") {
        None | Some(Json::Null) => "missing",
        Some(Json::Text(text)) if text.is_empty() => "missing",
        Some(_) => "invalid",
    })
}
