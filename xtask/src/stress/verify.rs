//! Verifies the store after a run: no acknowledged write is lost, no file is torn, nothing is left over.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::failure::Failure;
use crate::sandbox::Sandbox;
use lorelane_core::json::Json;

/// The product's own checks; they must agree with ours.
const JUDGES: &[&[&str]] = &[&["log", "--verify"], &["doctor", "--index"]];

/// `updates` carry the address of the memory they changed.
pub(super) fn faults(
    sandbox: &Sandbox,
    binary: &Path,
    creates: &[String],
    updates: &[(String, String)],
) -> Result<Vec<String>, Failure> {
    let files = files(&sandbox.project())?;
    let mut faults: Vec<String> = files
        .iter()
        .filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().contains(".tmp")))
        .map(|path| format!("{} is left over", path.display()))
        .collect();
    let mut records = BTreeMap::new();
    for path in files.iter().filter(|path| path.extension().is_some_and(|ending| ending == "json")) {
        let text = fs::read(path).map_err(|error| Failure::on("read", path, error))?;
        let parsed = String::from_utf8(text)
            .map_err(|error| error.to_string())
            .and_then(|text| Json::parse(&text).map_err(|fault| fault.to_string()));
        match parsed {
            Ok(json) => drop(records.insert(address(path), json)),
            Err(why) => faults.push(format!("{} is torn: {why}", path.display())),
        }
    }
    faults.extend(lost(&records, creates, updates));
    for judge in JUDGES {
        faults.extend(verdict(sandbox, binary, judge)?);
    }
    Ok(faults)
}

fn lost(records: &BTreeMap<String, Json>, creates: &[String], updates: &[(String, String)]) -> Vec<String> {
    let contexts: BTreeSet<&str> = records.values().filter_map(context).collect();
    let creates = creates.iter().filter(|token| !contexts.contains(token.as_str()));
    let mut lost: Vec<String> =
        creates.map(|token| format!("create {token} was acknowledged and is lost")).collect();
    let known: BTreeMap<&str, BTreeSet<&str>> =
        records.iter().map(|(address, record)| (address.as_str(), ever_context(record))).collect();
    for (address, token) in updates {
        if !known.get(address.as_str()).is_some_and(|tokens| tokens.contains(token.as_str())) {
            lost.push(format!("update {token} of {address} was acknowledged and is lost"));
        }
    }
    lost
}

fn context(record: &Json) -> Option<&str> {
    record.at("content.context")?.as_text()
}

/// Every value of `context`, current and in the history.
fn ever_context(record: &Json) -> BTreeSet<&str> {
    let changes = record.at("changes").and_then(Json::as_list).unwrap_or_default();
    changes.iter().filter_map(|change| change.at("new_value")?.as_text()).chain(context(record)).collect()
}

/// Only decisions are written here, so the category needs no table.
fn address(path: &Path) -> String {
    format!("decision/{}", path.file_stem().unwrap_or_default().to_string_lossy())
}

fn verdict(sandbox: &Sandbox, binary: &Path, args: &[&str]) -> Result<Option<String>, Failure> {
    let output = sandbox.command(binary, args).output().map_err(|error| Failure::on("run", binary, error))?;
    if output.status.success() {
        return Ok(None);
    }
    let said =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    Ok(Some(format!("`lorelane {}` ended with {}\n{}", args.join(" "), output.status, said.trim())))
}

fn files(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let unreadable = |error| Failure::on("read", folder, error);
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        if entry.file_type().map_err(unreadable)?.is_dir() {
            files.extend(self::files(&entry.path())?);
        } else {
            files.push(entry.path());
        }
    }
    Ok(files)
}
