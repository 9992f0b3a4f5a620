//! `working-set.yml`, `hot.yml` and `cold.yml`: all dialects are read, the canonical one is written.
//!
//! People, agents and other programs edit these files too. A change touches the lines of one item and keeps every
//! other byte.

use super::assemble::{Role, TruncateStrategy};
use super::entry::{ColdAction, SetEntry};
use super::event::{ColdAdvice, HotAdvice};
use super::state::FileState;
use crate::text::cut;
use crate::time::Timestamp;
use crate::yaml::{
    CollectionKind, CollectionLayout, FieldEdit, ScalarStyle, YamlCollection, YamlProblem, YamlScalar,
    YamlValue,
};
use std::collections::{HashMap, HashSet};
use std::ops::Range;

pub const SET_PROTOCOL: &str = "CONTEXT-ASSEMBLY/0.1";
pub const ADVICE_PROTOCOL: &str = "MEMORY-MGMT/0.1";
/// The budget of a file that names none.
pub const MAX_TOKENS: u64 = 28_000;
/// A larger manifest was not written by an agent.
pub const MANIFEST_MAX_BYTES: u64 = 2 << 20;

/// The lists of an older dialect of `working-set.yml`, with the priority of their files.
const SET_LISTS: [(&str, f64); 2] = [("focus", 0.8), ("next", 0.5)];
/// The tiers of an older dialect of `hot.yml`.
const HOT_TIERS: [(&str, f64); 4] = [("critical", 1.0), ("high", 0.8), ("medium", 0.6), ("low", 0.3)];
/// The list of an older dialect of `cold.yml`.
const COLD_LIST: &str = "deprioritized";
const FILES: &str = "files";
const KEEP: &str = "keep";
const EVICT: &str = "evict";
const BUDGET: &str = "budget";
/// Further entries are ignored: no agent has as many files in mind, and each costs memory.
const ENTRIES_MAX: usize = 20_000;
/// What is nested deeper is nobody's manifest.
const DEPTH_MAX: usize = 16;

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
    /// A folder, a link, a pipe, or more than a manifest can be.
    #[error("{why}")]
    NotAFile { why: String },
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
    /// What was skipped, with the reason: entries, and budgets that are no number.
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
    let (mut has_content, mut is_ended, mut at) = (false, false, 0);
    let mut suspects = Vec::new();
    for (number, line) in text.split_inclusive('\n').enumerate() {
        let (start, line_number) = (at, number + 1);
        at += line.len();
        let shown = line.trim_start_matches('\u{feff}');
        let own = shown.trim_start_matches([' ', '\t']);
        if own.trim().is_empty() || own.starts_with('#') {
            continue;
        }
        // Only at the beginning of a line: anywhere else the dashes are text.
        let is_marker = |marker: &str| shown.trim_end() == marker;
        if is_ended || is_marker("---") && has_content {
            return Err(ManifestFault::SecondDocument { line: line_number });
        }
        is_ended = is_marker("...");
        has_content |= !is_marker("---") && !is_ended;
        let own_at = start + line.len() - own.len();
        if shown[..shown.len() - own.len()].contains('\t') {
            suspects.push((own_at, ManifestFault::Tab { line: line_number }));
        }
        suspects
            .extend(anchors(own).map(|found| (own_at + found, ManifestFault::Anchor { line: line_number })));
    }
    if !has_content {
        return Err(ManifestFault::Empty);
    }
    let first_line = || text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let broken = || ManifestFault::Broken { what: cut(first_line().trim(), 40) };
    let document = YamlCollection::document(text);
    if !suspects.is_empty() {
        let mut prose = Vec::new();
        document.iter().for_each(|document| prose_of(document, DEPTH_MAX, &mut prose));
        let is_prose = |at: usize| {
            let next = prose.partition_point(|span: &Range<usize>| span.start <= at);
            prose[..next].last().is_some_and(|span| span.contains(&at))
        };
        if let Some((_, fault)) = suspects.into_iter().find(|(at, _)| !is_prose(*at)) {
            return Err(fault);
        }
    }
    let document = document.ok_or_else(broken)?;
    match document.problems.first() {
        Some(YamlProblem::NotAKey { line }) => return Err(ManifestFault::Broken { what: line.clone() }),
        Some(YamlProblem::Unreadable { key }) => return Err(ManifestFault::Broken { what: key.clone() }),
        Some(YamlProblem::ColonWithoutQuotes { .. } | YamlProblem::Duplicate { .. }) | None => {}
    }
    not_twice(&document)?;
    for key in [BUDGET, "priority"] {
        document.descend(&[key]).map_or(Ok(()), |child| not_twice(&child))?;
    }
    Ok(document)
}

/// Readers disagree about which of two equal keys counts.
fn not_twice(collection: &YamlCollection<'_>) -> Result<(), ManifestFault> {
    let twice = collection.problems.iter().find_map(|problem| match problem {
        YamlProblem::Duplicate { key } => Some(key.clone()),
        _ => None,
    });
    twice.map_or(Ok(()), |key| Err(ManifestFault::Duplicate { key }))
}

/// Where a line may have an anchor or an alias: expanding them is how a small file becomes a huge one.
fn anchors(line: &str) -> impl Iterator<Item = usize> {
    let begins = |before: &str| before.is_empty() || before.ends_with([' ', '\t', '[', '{', ',']);
    let is_name = |rest: &str| rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    let found = line.match_indices(['&', '*']).map(|(at, _)| at);
    let found = found.filter(move |at| begins(&line[..*at]) && is_name(&line[at + 1..]));
    // What follows ` #` is a comment.
    let found = found.filter(|at| !line[..*at].contains(" #"));
    line.starts_with("<<:").then_some(0).into_iter().chain(found)
}

/// The parts of a manifest that are somebody's words, in order: nothing in them is syntax.
fn prose_of(collection: &YamlCollection<'_>, depth: usize, prose: &mut Vec<Range<usize>>) {
    for entry in &collection.entries {
        match &entry.value {
            YamlValue::Null => {}
            YamlValue::Scalar(scalar) => prose.push(scalar.span.clone()),
            YamlValue::List(items, _) => {
                let is_alias = |item: &&YamlScalar| {
                    item.style == ScalarStyle::Plain && item.text.starts_with(['&', '*'])
                };
                prose.extend(items.iter().filter(|item| !is_alias(item)).map(|item| item.span.clone()));
            }
            YamlValue::Other => match collection.child(entry).filter(|_| depth > 0) {
                Some(child) => prose_of(&child, depth - 1, prose),
                // A text over several lines.
                None if collection.text[entry.source.clone()].starts_with(['&', '*', '!']) => {}
                None if collection.scalar_of(entry).is_some() => {
                    prose.push(entry.source.start..entry.lines.end);
                }
                None => {}
            },
        }
    }
}

/// The items of a list: mappings with a path, or bare paths.
fn items<'t>(
    document: &YamlCollection<'t>,
    key: &'static str,
) -> Result<Vec<ManifestItem<'t>>, ManifestFault> {
    let Some(entry) = document.get(key) else { return Ok(Vec::new()) };
    let Some(list) = document.child(entry) else {
        return match entry.value {
            YamlValue::Null => Ok(Vec::new()),
            _ => Err(ManifestFault::NotAList { key }),
        };
    };
    if list.kind != CollectionKind::Sequence {
        return Err(ManifestFault::NotAList { key });
    }
    let item = |entry| match list.child(entry).filter(|child| child.kind == CollectionKind::Mapping) {
        Some(fields) => {
            not_twice(&fields)?;
            Ok(ManifestItem { path: fields.scalar(&["path"]), fields: Some(fields) })
        }
        None => Ok(ManifestItem { path: list.scalar_of(entry), fields: None }),
    };
    list.entries.iter().take(ENTRIES_MAX).map(item).collect()
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
        let mut skipped = Vec::new();
        let mut number = |path: &[&str]| {
            let text = document.scalar(path)?;
            let number = text.parse::<u64>().ok();
            if number.is_none() {
                skipped.push(format!("{}: `{}` is not a number of tokens", path.join("."), cut(&text, 40)));
            }
            number
        };
        let max_tokens = number(&[BUDGET, "max_tokens"]).or_else(|| number(&["context_budget_tokens"]));
        let (reserved, effective) =
            (number(&[BUDGET, "reserved_for_response"]), number(&[BUDGET, "effective"]));
        let mut manifest = SetManifest { max_tokens, reserved, effective, skipped, ..SetManifest::default() };
        // Of two entries for one path the first counts.
        let mut seen = HashSet::new();
        let mut add = |manifest: &mut SetManifest, entry: SetEntry| {
            if seen.insert(entry.path.clone()) {
                manifest.entries.push(entry);
            }
        };
        for (at, item) in items(&document, FILES)?.iter().enumerate() {
            match set_entry(item) {
                Ok(entry) => add(&mut manifest, entry),
                Err(why) => manifest.skipped.push(format!("entry {}: {why}", at + 1)),
            }
        }
        if manifest.entries.len() >= ENTRIES_MAX {
            manifest
                .skipped
                .push(format!("it has more than {ENTRIES_MAX} entries, and the others are not read"));
        }
        for (key, priority) in SET_LISTS {
            for item in items(&document, key)? {
                item.path.into_iter().for_each(|path| add(&mut manifest, SetEntry::new(path, priority)));
            }
        }
        Ok(manifest)
    }

    /// The text with an entry added, or changed if its path is there already.
    pub fn with_entry(text: &str, entry: &SetEntry) -> Option<String> {
        upserted(text, FILES, &entry.path, &fields(entry))
    }

    /// The text with several entries. The new ones are added in one edit: each edit parses the whole text, which for
    /// 10,000 files took minutes.
    pub fn with_entries(text: &str, entries: &[SetEntry]) -> Option<String> {
        let document = YamlCollection::document(text)?;
        let listed = items(&document, FILES).ok().unwrap_or_default();
        let listed: HashMap<String, Option<SetEntry>> =
            listed.iter().filter_map(|item| Some((item.path.clone()?, set_entry(item).ok()))).collect();
        let mut changed = entries
            .iter()
            .filter(|entry| listed.get(&entry.path).is_some_and(|known| known.as_ref() != Some(*entry)));
        let text = changed.try_fold(text.to_owned(), |text, entry| SetManifest::with_entry(&text, entry))?;
        let mut seen = HashSet::new();
        let new = entries.iter().filter(|entry| !listed.contains_key(&entry.path));
        let new: Vec<&SetEntry> = new.filter(|entry| seen.insert(entry.path.as_str())).collect();
        let Some((first, rest)) = new.split_first() else { return Some(text) };
        let begun = SetManifest::with_entry(&text, first)?;
        appended_like(&begun, first, rest)
            .or_else(|| rest.iter().try_fold(begun, |text, entry| SetManifest::with_entry(&text, entry)))
    }

    pub fn without(text: &str, path: &str) -> Option<String> {
        let text = removed(text, &[FILES], path)?;
        SET_LISTS.iter().try_fold(text, |text, (key, _)| removed(&text, &[key], path))
    }

    /// The text without several entries, which are cut out in one edit: each edit parses the whole text.
    pub fn without_all(text: &str, paths: &HashSet<&str>) -> Option<String> {
        let text = cut_items(text, paths).unwrap_or_else(|| text.to_owned());
        let document = YamlCollection::document(&text)?;
        let lists = std::iter::once(FILES).chain(SET_LISTS.iter().map(|(key, _)| *key));
        let items = lists.flat_map(|key| items(&document, key).unwrap_or_default());
        let mut left: Vec<String> = items.filter_map(|item| item.path).collect();
        left.retain(|path| paths.contains(path.as_str()));
        left.iter().try_fold(text.clone(), |text, path| SetManifest::without(&text, path))
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

/// The text without the files of these paths, but for one if no other file would be left: an empty list is written
/// in another way. `None` if they are not a block of lines, or if the text would not say what it must.
fn cut_items(text: &str, paths: &HashSet<&str>) -> Option<String> {
    let document = YamlCollection::document(text)?;
    let list = document.child(document.get(FILES)?)?;
    let listed: Vec<Option<String>> =
        items(&document, FILES).ok()?.into_iter().map(|item| item.path).collect();
    if list.layout != CollectionLayout::Block || listed.len() != list.entries.len() {
        return None;
    }
    let is_cut = |path: &Option<String>| path.as_deref().is_some_and(|path| paths.contains(path));
    let first_kept = usize::from(listed.iter().all(is_cut));
    let (mut cut, mut kept, mut from) = (String::with_capacity(text.len()), Vec::new(), 0);
    for (at, (entry, path)) in list.entries.iter().zip(&listed).enumerate() {
        if at < first_kept || !is_cut(path) {
            kept.push(path.clone());
            continue;
        }
        cut.push_str(text.get(from..entry.lines.start)?);
        from = entry.lines.end;
    }
    cut.push_str(text.get(from..)?);
    let again = YamlCollection::document(&cut)?;
    let read: Vec<Option<String>> = items(&again, FILES).ok()?.into_iter().map(|item| item.path).collect();
    (read == kept && again.entries.len() == document.entries.len()).then_some(cut)
}

/// The text with more items right after one, written as it is. `None` if that item is not a block of lines, or if the
/// text would not say what it must.
fn appended_like(text: &str, after: &SetEntry, new: &[&SetEntry]) -> Option<String> {
    let lines = |indent: &str, entry: &SetEntry| {
        let fields = fields(entry);
        let fields = fields.iter().map(|(key, value)| format!("{indent}  {key}: {value}\n"));
        fields.fold(format!("{indent}- path: {}\n", quoted(&entry.path)), |lines, field| lines + &field)
    };
    let first_line = format!("- path: {}", quoted(&after.path));
    let line = text.split_inclusive('\n').rev().find(|line| line.trim() == first_line)?;
    let indent = &line[..line.len() - line.trim_start().len()];
    let block = lines(indent, after);
    let end = text.rfind(&block)? + block.len();
    let added: String = new.iter().map(|entry| lines(indent, entry)).collect();
    let appended = [&text[..end], &added, &text[end..]].concat();
    let (before, now) = (SetManifest::read(text).ok()?, SetManifest::read(&appended).ok()?);
    let is_sound = now.entries.len() == before.entries.len() + new.len() && {
        let known: HashMap<&str, &SetEntry> =
            now.entries.iter().map(|entry| (entry.path.as_str(), entry)).collect();
        before.entries.iter().chain(new.iter().copied()).all(|entry| {
            let now = known.get(entry.path.as_str());
            // A priority is written with three digits.
            now.is_some_and(|now| SetEntry { priority: entry.priority, ..(*now).clone() } == *entry)
        })
    };
    is_sound.then_some(appended)
}

fn fields(entry: &SetEntry) -> Vec<(&'static str, String)> {
    let mut fields = vec![("priority", number(entry.priority))];
    fields.extend(entry.role.map(|role| ("role", role.name().to_owned())));
    fields.extend(entry.truncate_strategy.map(|s| ("truncate_strategy", s.name().to_owned())));
    fields.extend(entry.max_lines.map(|max| ("max_lines", max.to_string())));
    fields
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
        let (mut keep, mut known) = (Vec::new(), HashSet::new());
        let mut add = |path: String, why: Option<String>, weight: f64| {
            if known.insert(path.clone()) {
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
        let (mut evict, mut known) = (Vec::new(), HashSet::new());
        let mut add = |advice: ColdAdvice| {
            if known.insert(advice.path.clone()) {
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

pub(super) fn quoted(text: &str) -> String {
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

pub(super) fn upserted(text: &str, list: &str, path: &str, fields: &[(&str, String)]) -> Option<String> {
    let document = YamlCollection::document(text)?;
    if let Some(at) = position(&document, &[list], path) {
        let at = at.to_string();
        let is_mapping =
            document.descend(&[list, &at]).is_some_and(|item| item.kind == CollectionKind::Mapping);
        if !is_mapping {
            let text = removed(text, &[list], path)?;
            return upserted(&text, list, path, fields);
        }
        let edit = |text: String, (key, value): &(&str, String)| {
            let document = YamlCollection::document(&text)?;
            // A value that says the same keeps its form: its quotes, its digits, the name of its tier.
            if document.scalar(&[list, &at, key]).is_some_and(|known| says_the_same(&known, value)) {
                return Some(text);
            }
            document.edited(&[list, &at, key], FieldEdit::Source(value))
        };
        return fields.iter().try_fold(text.to_owned(), edit);
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
pub(super) fn removed(text: &str, list: &[&str], path: &str) -> Option<String> {
    let document = YamlCollection::document(text)?;
    let Some(at) = position(&document, list, path) else { return Some(text.to_owned()) };
    if document.descend(list).is_some_and(|list| list.entries.len() == 1) {
        return emptied(&document, list).or_else(|| document.edited(list, FieldEdit::Source("[]")));
    }
    let at = at.to_string();
    let item: Vec<&str> = list.iter().copied().chain([at.as_str()]).collect();
    document.edited(&item, FieldEdit::Remove)
}

/// The text with `[]` for a list of one item, and with the comments around that item. `None` for a list in brackets.
fn emptied(document: &YamlCollection<'_>, list: &[&str]) -> Option<String> {
    let (key, parents) = list.split_last()?;
    let parent = document.descend(parents)?;
    let entry = parent.get(key)?;
    let items = parent.child(entry).filter(|items| items.layout == CollectionLayout::Block)?;
    let [item] = items.entries.as_slice() else { return None };
    let text = document.text;
    let after_key = text[..item.lines.start].get(entry.lines.start..)?.find(':')? + entry.lines.start + 1;
    let rest = &text[item.lines.end..];
    let edited = [&text[..after_key], " []", &text[after_key..item.lines.start], rest].concat();
    let again = YamlCollection::document(&edited)?;
    let is_empty = again.descend(list).is_some_and(|list| list.entries.is_empty());
    (is_empty && again.entries.len() == document.entries.len()).then_some(edited)
}

/// Whether a value that is written has the meaning of one that is there.
fn says_the_same(known: &str, written: &str) -> bool {
    let text = serde_json::from_str::<String>(written).unwrap_or_else(|_| written.to_owned());
    let numbers = priority(known).zip(priority(&text)).filter(|_| !written.starts_with('"'));
    known == text || numbers.is_some_and(|(known, new)| (known - new).abs() < f64::EPSILON)
}
