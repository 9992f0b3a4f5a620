//! `working-set.yml`, `hot.yml` and `cold.yml`: all dialects are read, the canonical one is written.
//!
//! People, agents and other programs edit these files too. A change touches the lines of one item and keeps every
//! other byte.

use super::assemble::{Role, TruncateStrategy};
use super::entry::{ColdAction, SetEntry};
use super::event::{ColdAdvice, HotAdvice};
use super::state::FileState;
use crate::time::Timestamp;
use crate::yaml::{CollectionKind, FieldEdit, YamlCollection, YamlProblem, YamlValue};
use std::borrow::Cow;

pub const SET_PROTOCOL: &str = "CONTEXT-ASSEMBLY/0.1";
pub const ADVICE_PROTOCOL: &str = "MEMORY-MGMT/0.1";
/// The budget of a file that names none.
pub const MAX_TOKENS: u64 = 28_000;
/// A larger manifest was not written by an agent.
pub const MANIFEST_MAX_BYTES: u64 = 8 << 20;

/// The lists of an older dialect of `working-set.yml`, with the priority of their files.
const SET_LISTS: [(&str, f64); 2] = [("focus", 0.8), ("next", 0.5)];
/// The tiers of an older dialect of `hot.yml`.
const HOT_TIERS: [(&str, f64); 4] = [("critical", 1.0), ("high", 0.8), ("medium", 0.6), ("low", 0.3)];
/// The list of an older dialect of `cold.yml`.
const COLD_LIST: &str = "deprioritized";
const FILES: &str = "files";
const KEEP: &str = "keep";
const EVICT: &str = "evict";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkingSetFile {
    Set,
    Hot,
    Cold,
}

impl WorkingSetFile {
    pub const ALL: [WorkingSetFile; 3] = [WorkingSetFile::Set, WorkingSetFile::Hot, WorkingSetFile::Cold];

    pub fn name(self) -> &'static str {
        match self {
            WorkingSetFile::Set => "working-set.yml",
            WorkingSetFile::Hot => "hot.yml",
            WorkingSetFile::Cold => "cold.yml",
        }
    }
}

/// A new manifest without entries.
pub fn minimal_manifest(file: WorkingSetFile, now: Timestamp) -> String {
    match file {
        WorkingSetFile::Set => format!(
            "protocol: {SET_PROTOCOL}\nbudget:\n  max_tokens: {MAX_TOKENS}\nfiles: []\nmetadata:\n  \
             last_updated: \"{now}\"\n  assembled_by: orchestrator\n"
        ),
        WorkingSetFile::Hot => format!("protocol: {ADVICE_PROTOCOL}\nupdated: \"{now}\"\nkeep: []\n"),
        WorkingSetFile::Cold => format!("protocol: {ADVICE_PROTOCOL}\nupdated: \"{now}\"\nevict: []\n"),
    }
}

/// Why a manifest cannot be used. It is renamed and a minimal one takes its place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ManifestFault {
    #[error("it is not UTF-8")]
    NotText,
    #[error("it is empty")]
    Empty,
    #[error("line {line} is indented with a tab")]
    Tab { line: usize },
    #[error("line {line} has an anchor or an alias")]
    Anchor { line: usize },
    #[error("line {line} begins a second document")]
    SecondDocument { line: usize },
    #[error("the key `{key}` occurs twice")]
    Duplicate { key: String },
    #[error("`{what}` is not a key with a value")]
    Broken { what: String },
    #[error("`{key}` is not a list")]
    NotAList { key: &'static str },
}

/// `working-set.yml`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SetManifest {
    pub max_tokens: Option<u64>,
    pub reserved: Option<u64>,
    pub effective: Option<u64>,
    pub entries: Vec<SetEntry>,
    /// Entries that were skipped, with the reason.
    pub skipped: Vec<String>,
}

/// `hot.yml`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HotManifest {
    pub keep: Vec<HotAdvice>,
}

/// `cold.yml`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ColdManifest {
    /// A path may be a glob or a folder.
    pub evict: Vec<ColdAdvice>,
}

/// Checks what a lenient reader would pass over: a manifest must mean one thing only.
fn document(text: &str) -> Result<YamlCollection<'_>, ManifestFault> {
    let mut has_content = false;
    for (at, line) in text.lines().enumerate() {
        let (line_number, shown) = (at + 1, line.trim_start_matches('\u{feff}'));
        let own = shown.trim_start_matches([' ', '\t']);
        if own.is_empty() || own.starts_with('#') {
            continue;
        }
        if shown[..shown.len() - own.len()].contains('\t') {
            return Err(ManifestFault::Tab { line: line_number });
        }
        if own.trim_end() == "---" && has_content {
            return Err(ManifestFault::SecondDocument { line: line_number });
        }
        has_content |= own.trim_end() != "---";
        if has_anchor(own) {
            return Err(ManifestFault::Anchor { line: line_number });
        }
    }
    if !has_content {
        return Err(ManifestFault::Empty);
    }
    let first_line = || text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let broken = || ManifestFault::Broken { what: crate::text::cut(first_line().trim(), 40) };
    let document = YamlCollection::document(text).ok_or_else(broken)?;
    match document.problems.first() {
        Some(YamlProblem::NotAKey { line }) => Err(ManifestFault::Broken { what: line.clone() }),
        Some(YamlProblem::Unreadable { key }) => Err(ManifestFault::Broken { what: key.clone() }),
        Some(YamlProblem::Duplicate { key }) => Err(ManifestFault::Duplicate { key: key.clone() }),
        Some(YamlProblem::ColonWithoutQuotes { .. }) | None => Ok(document),
    }
}

/// Whether a value is an anchor or an alias: expanding them is how a small file becomes a huge one.
fn has_anchor(line: &str) -> bool {
    let value = line.trim_start_matches("- ");
    let value = value.split_once(": ").map_or(value, |(_, value)| value).trim_start();
    let is_name = |rest: &str| rest.starts_with(|c: char| c.is_ascii_alphanumeric());
    line.starts_with("<<:") || value.strip_prefix(['&', '*']).is_some_and(is_name)
}

/// The items of a list: mappings with a path, or bare paths.
fn items<'d, 't>(
    document: &'d YamlCollection<'t>,
    key: &'static str,
) -> Result<Vec<ManifestItem<'t>>, ManifestFault> {
    let Some(entry) = document.get(key) else { return Ok(Vec::new()) };
    let Some(list) = document.child(entry) else {
        return match document.scalar_of(entry) {
            None => Ok(Vec::new()),
            Some(_) => Err(ManifestFault::NotAList { key }),
        };
    };
    if list.kind != CollectionKind::Sequence {
        return Err(ManifestFault::NotAList { key });
    }
    let item = |entry| match list.child(entry).filter(|child| child.kind == CollectionKind::Mapping) {
        Some(fields) => ManifestItem { path: fields.scalar(&["path"]), fields: Some(fields) },
        None => ManifestItem { path: list.scalar_of(entry), fields: None },
    };
    Ok(list.entries.iter().map(item).collect())
}

struct ManifestItem<'t> {
    path: Option<String>,
    fields: Option<YamlCollection<'t>>,
}

impl ManifestItem<'_> {
    fn field(&self, key: &str) -> Option<String> {
        self.fields.as_ref()?.scalar(&[key])
    }
}

impl SetManifest {
    pub fn read(text: &str) -> Result<SetManifest, ManifestFault> {
        let document = document(text)?;
        let number = |path: &[&str]| document.scalar(path).and_then(|text| text.parse::<u64>().ok());
        let mut manifest = SetManifest {
            max_tokens: number(&["budget", "max_tokens"]).or_else(|| number(&["context_budget_tokens"])),
            reserved: number(&["budget", "reserved_for_response"]),
            effective: number(&["budget", "effective"]),
            ..SetManifest::default()
        };
        for (at, item) in items(&document, FILES)?.iter().enumerate() {
            match set_entry(item) {
                Ok(entry) => manifest.add(entry),
                Err(why) => manifest.skipped.push(format!("entry {}: {why}", at + 1)),
            }
        }
        for (key, priority) in SET_LISTS {
            for item in items(&document, key)? {
                item.path.into_iter().for_each(|path| manifest.add(SetEntry::new(path, priority)));
            }
        }
        Ok(manifest)
    }

    /// Of two entries for one path the first counts.
    fn add(&mut self, entry: SetEntry) {
        if self.entries.iter().all(|known| known.path != entry.path) {
            self.entries.push(entry);
        }
    }

    /// The text with an entry added, or changed if its path is there already.
    pub fn with_entry(text: &str, entry: &SetEntry) -> Option<String> {
        let mut fields = vec![("priority", number(entry.priority))];
        fields.extend(entry.role.map(|role| ("role", role.name().to_owned())));
        fields.extend(entry.truncate_strategy.map(|s| ("truncate_strategy", s.name().to_owned())));
        fields.extend(entry.max_lines.map(|max| ("max_lines", max.to_string())));
        upserted(text, FILES, &entry.path, &fields)
    }

    pub fn without(text: &str, path: &str) -> Option<String> {
        let text = removed(text, &[FILES], path)?;
        SET_LISTS.iter().try_fold(text, |text, (key, _)| removed(&text, &[key], path))
    }

    pub fn with_budget(text: &str, max_tokens: u64) -> Option<String> {
        let document = YamlCollection::document(text)?;
        let text = document.edited(&["budget", "max_tokens"], FieldEdit::Source(&max_tokens.to_string()))?;
        // What was computed from the old maximum would contradict the new one.
        YamlCollection::document(&text)?.edited(&["budget", "effective"], FieldEdit::Remove)
    }

    /// The text with its date.
    pub fn stamped(text: &str, now: Timestamp) -> Option<String> {
        let document = YamlCollection::document(text)?;
        document.edited(&["metadata", "last_updated"], FieldEdit::Text(&now.to_string()))
    }
}

fn set_entry(item: &ManifestItem<'_>) -> Result<SetEntry, String> {
    let path = item.path.clone().filter(|path| !path.trim().is_empty()).ok_or("it has no path")?;
    let priority = match item.field("priority") {
        None => SetEntry::PRIORITY,
        Some(text) => priority(&text).ok_or_else(|| format!("`{text}` is not a priority from 0 to 1"))?,
    };
    Ok(SetEntry {
        path,
        priority,
        role: item.field("role").and_then(|role| Role::parse(&role)),
        truncate_strategy: item.field("truncate_strategy").and_then(|name| TruncateStrategy::parse(&name)),
        max_lines: item.field("max_lines").and_then(|lines| lines.parse().ok()),
    })
}

/// A number from 0 to 1, or the name of a tier.
fn priority(text: &str) -> Option<f64> {
    let tier = HOT_TIERS.iter().find(|(name, _)| *name == text).map(|(_, priority)| *priority);
    tier.or_else(|| text.parse().ok().filter(|priority| (0.0..=1.0).contains(priority)))
}

impl HotManifest {
    pub fn read(text: &str) -> Result<HotManifest, ManifestFault> {
        let document = document(text)?;
        let mut keep: Vec<HotAdvice> = Vec::new();
        let mut add = |path: String, why: Option<String>, weight: f64| {
            if keep.iter().all(|known| known.path != path) {
                keep.push(HotAdvice { path, why: why.unwrap_or_default(), weight });
            }
        };
        for item in items(&document, KEEP)? {
            let why = item.field("why");
            item.path.into_iter().for_each(|path| add(path, why.clone(), 1.0));
        }
        if let Some(tiers) = document.descend(&["priority"]) {
            for (tier, weight) in HOT_TIERS {
                tiers.list(&[tier]).unwrap_or_default().into_iter().for_each(|path| add(path, None, weight));
            }
        }
        Ok(HotManifest { keep })
    }

    /// The text with a file on the list; `touches` and `since` come from the state.
    pub fn with(text: &str, advice: &HotAdvice, file: &FileState, since: Timestamp) -> Option<String> {
        let fields = [
            ("why", quoted(&advice.why)),
            ("since", quoted(&since.to_string())),
            ("touches", file.touches.to_string()),
        ];
        upserted(text, KEEP, &advice.path, &fields)
    }

    pub fn without(text: &str, path: &str) -> Option<String> {
        let text = removed(text, &[KEEP], path)?;
        HOT_TIERS.iter().try_fold(text, |text, (tier, _)| removed(&text, &["priority", tier], path))
    }
}

impl ColdManifest {
    pub fn read(text: &str) -> Result<ColdManifest, ManifestFault> {
        let document = document(text)?;
        let mut evict: Vec<ColdAdvice> = Vec::new();
        let mut add = |advice: ColdAdvice| {
            if evict.iter().all(|known| known.path != advice.path) {
                evict.push(advice);
            }
        };
        for item in items(&document, EVICT)? {
            let (why, action) = (item.field("why").unwrap_or_default(), item.field("suggested_action"));
            let suggested_action = action.and_then(|name| ColdAction::parse(&name)).unwrap_or_default();
            item.path.into_iter().for_each(|path| {
                add(ColdAdvice { path, why: why.clone(), suggested_action });
            });
        }
        for item in items(&document, COLD_LIST)? {
            let suggested_action = ColdAction::DeleteFromWorkingSet;
            item.path
                .into_iter()
                .for_each(|path| add(ColdAdvice { path, why: String::new(), suggested_action }));
        }
        Ok(ColdManifest { evict })
    }

    pub fn with(text: &str, advice: &ColdAdvice, file: &FileState) -> Option<String> {
        let mut fields = vec![("why", quoted(&advice.why))];
        fields.extend(file.touched_at.map(|at| ("last_touch", quoted(&at.to_string()))));
        fields.push(("suggested_action", quoted(advice.suggested_action.name())));
        upserted(text, EVICT, &advice.path, &fields)
    }

    pub fn without(text: &str, path: &str) -> Option<String> {
        let text = removed(text, &[EVICT], path)?;
        removed(&text, &[COLD_LIST], path)
    }
}

/// The text of `hot.yml` or `cold.yml` with its date.
pub fn stamped_advice(text: &str, now: Timestamp) -> Option<String> {
    YamlCollection::document(text)?.edited(&["updated"], FieldEdit::Text(&now.to_string()))
}

fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap_or_default()
}

/// At most three digits, and at least one after the point: a priority reads as a number everywhere.
fn number(value: f64) -> String {
    let text = format!("{value:.3}");
    let short = text.trim_end_matches('0');
    if short.ends_with('.') { format!("{short}0") } else { short.to_owned() }
}

/// The index of the item with this path in the list at a key path.
fn position(document: &YamlCollection<'_>, list: &[&str], path: &str) -> Option<usize> {
    let list = document.descend(list).filter(|list| list.kind == CollectionKind::Sequence)?;
    list.entries.iter().position(|entry| {
        let fields = list.child(entry).filter(|child| child.kind == CollectionKind::Mapping);
        let item = fields.map_or_else(|| list.scalar_of(entry), |fields| fields.scalar(&["path"]));
        item.as_deref() == Some(path)
    })
}

fn upserted(text: &str, list: &str, path: &str, fields: &[(&str, String)]) -> Option<String> {
    let document = YamlCollection::document(text)?;
    if let Some(at) = position(&document, &[list], path) {
        let at = at.to_string();
        let is_mapping =
            document.descend(&[list, &at]).is_some_and(|item| item.kind == CollectionKind::Mapping);
        if !is_mapping {
            let text = removed(text, &[list], path)?;
            return upserted(&text, list, path, fields);
        }
        let edit = |text: Cow<'_, str>, (key, value): &(&str, String)| {
            let document = YamlCollection::document(&text)?;
            Some(Cow::Owned(document.edited(&[list, &at, key], FieldEdit::Source(value))?))
        };
        return fields.iter().try_fold(Cow::Borrowed(text), edit).map(Cow::into_owned);
    }
    let mut pairs = vec![format!("path: {}", quoted(path))];
    pairs.extend(fields.iter().map(|(key, value)| format!("{key}: {value}")));
    // The lines after the first are indented past the dash.
    let block = pairs.join("\n  ");
    let is_null = document.get(list).is_none_or(|entry| entry.value == YamlValue::Null);
    if is_null || document.descend(&[list]).is_some_and(|list| list.entries.is_empty()) {
        let lines = format!("\n  - {}", pairs.join("\n    "));
        return document.edited(&[list], FieldEdit::Source(&lines));
    }
    let appended = document.edited(&[list, "-"], FieldEdit::Source(&block));
    appended
        .or_else(|| document.edited(&[list, "-"], FieldEdit::Source(&format!("{{{}}}", pairs.join(", ")))))
}

/// The text without the item of this path; as it is if there is none.
fn removed(text: &str, list: &[&str], path: &str) -> Option<String> {
    let document = YamlCollection::document(text)?;
    let Some(at) = position(&document, list, path) else { return Some(text.to_owned()) };
    let is_last = document.descend(list).is_some_and(|list| list.entries.len() == 1);
    if is_last {
        return document.edited(list, FieldEdit::Source("[]"));
    }
    let at = at.to_string();
    let item: Vec<&str> = list.iter().copied().chain([at.as_str()]).collect();
    document.edited(&item, FieldEdit::Remove)
}
