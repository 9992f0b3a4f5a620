//! Configuration: every key with its range and default in one table.
//!
//! An invalid value never stops a read: it is clamped or ignored, and reported with key, value and file. Invalid
//! values of keys that decide where memories are written stop writes until they are fixed.
//!
//! A repository's settings may come from anybody. Until the user trusts them, they may only be stricter than the
//! user's own settings; values that would weaken those are held back.

use crate::digest::Revision;
use crate::json::{Json, JsonFormat};
use crate::memory::{AutoType, Category, MemoryKind};
use crate::path::RelPath;
use crate::secret;
use crate::text::cut;
use std::collections::BTreeMap;

pub const DEFAULT_ROOT: &str = ".claude/memory";
/// The folder of a project's notes.
pub const NOTES_ROOT: &str = ".memories";

/// The file that a key belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ConfigFile {
    /// `memory-config.json`: the keys that the `claude-memory` scripts read too.
    Records,
    /// `lorelane.toml` in the project, then in the user's config folder.
    Lorelane,
}

#[derive(Debug)]
pub struct Key {
    /// Dotted; `*` stands for each category.
    pub name: &'static str,
    pub home: ConfigFile,
    pub kind: KeyKind,
    pub default: Fallback,
    pub about: &'static str,
    pub weaker: WeakeningRule,
}

const fn half_life_days(category: Category) -> i64 {
    match category {
        Category::Decision | Category::Preference => 365,
        Category::Constraint | Category::Runbook => 180,
        Category::TechDebt => 90,
        Category::SessionSummary => 30,
    }
}

/// Not settings: they are a property of the client's types.
const fn auto_half_life_days(auto_type: AutoType) -> i64 {
    match auto_type {
        AutoType::Value => 365,
        AutoType::User => 180,
        AutoType::Feedback => 90,
        AutoType::Reference => 60,
        AutoType::Unknown => 30,
        AutoType::Project => 14,
    }
}

/// Which values from a repository weaken the user's own, with the effect they would have. `true` is above `false`,
/// and a choice is above the ones listed before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WeakeningRule {
    /// None: a repository may set the key freely.
    Never,
    Above(&'static str),
    Below(&'static str),
    /// Any value: it is free text that a model reads.
    Given(&'static str),
    /// A list, separated by spaces, without an item that the user's own has.
    Lacking(&'static str),
    /// A folder other than the default. It is still read, but not written to.
    Elsewhere(&'static str),
}

impl WeakeningRule {
    fn effect(self) -> Option<&'static str> {
        match self {
            WeakeningRule::Never => None,
            WeakeningRule::Above(effect)
            | WeakeningRule::Below(effect)
            | WeakeningRule::Given(effect)
            | WeakeningRule::Lacking(effect)
            | WeakeningRule::Elsewhere(effect) => Some(effect),
        }
    }
}

#[derive(Debug)]
pub enum KeyKind {
    Flag,
    /// A flag that protects data: an invalid value counts as `true`.
    Keep,
    Whole {
        min: i64,
        max: i64,
    },
    /// How long or how many memories are kept. A number below the range is not clamped to the minimum, which would
    /// keep the least; the default is used instead.
    Kept {
        min: i64,
        max: i64,
    },
    Fraction,
    /// A number in this range, with or without decimals.
    Number {
        min: f64,
        max: f64,
    },
    Choice(&'static [&'static str]),
    Text {
        max: usize,
    },
    /// A folder inside the project.
    Root,
    /// The category's own folder and no other.
    Folder,
}

#[derive(Clone, Copy, Debug)]
pub enum Fallback {
    Flag(bool),
    Whole(i64),
    /// A number as JSON text.
    Number(&'static str),
    Text(&'static str),
    /// Depends on the category.
    PerCategory(fn(Category) -> Option<Json>),
    /// No default: being absent has its own meaning.
    None,
}

const MODELS: KeyKind = KeyKind::Choice(&["haiku", "sonnet", "opus"]);

const fn records(name: &'static str, kind: KeyKind, default: Fallback, about: &'static str) -> Key {
    Key { name, home: ConfigFile::Records, kind, default, about, weaker: WeakeningRule::Never }
}

const fn lorelane(name: &'static str, kind: KeyKind, default: Fallback, about: &'static str) -> Key {
    Key { home: ConfigFile::Lorelane, ..records(name, kind, default, about) }
}

impl Key {
    const fn held(self, weaker: WeakeningRule) -> Key {
        Key { weaker, ..self }
    }
}

pub const KEYS: &[Key] = &[
    records(
        "memory_root",
        KeyKind::Root,
        Fallback::Text(DEFAULT_ROOT),
        "folder of the records, inside the project",
    )
    .held(WeakeningRule::Elsewhere("memories would be written to this folder; for now it is only read")),
    records(
        "categories.*.enabled",
        KeyKind::Flag,
        Fallback::Flag(true),
        "whether the category is captured and shown to agents",
    ),
    // No other folder is accepted: agents and the `claude-memory` scripts know no other.
    records(
        "categories.*.folder",
        KeyKind::Folder,
        Fallback::PerCategory(|category| Some(Json::text(category.folder()))),
        "folder of the category; fixed",
    ),
    records(
        "categories.*.auto_capture",
        KeyKind::Flag,
        Fallback::Flag(true),
        "whether triage may capture into it",
    ),
    // Free for a repository, like the session window and the budget of a briefing: they only retire memories,
    // which can be restored, or limit what is shown.
    records(
        "categories.*.retention_days",
        KeyKind::Whole { min: 0, max: 36_500 },
        Fallback::PerCategory(|category| {
            Some(Json::number(if category == Category::SessionSummary { 90 } else { 0 }))
        }),
        "days after the last change until a memory expires; 0 means never",
    ),
    records(
        "categories.*.description",
        KeyKind::Text { max: 500 },
        Fallback::None,
        "what belongs here, in your words",
    )
    .held(WeakeningRule::Given("agents would read this text")),
    records(
        "categories.session_summary.max_retained",
        KeyKind::Kept { min: 1, max: 1_000 },
        Fallback::Whole(5),
        "session summaries that stay active",
    ),
    records("auto_commit", KeyKind::Flag, Fallback::Flag(false), "commit each change with git").held(
        WeakeningRule::Above("every change would run git with the hooks and filters of this repository"),
    ),
    records(
        "max_memories_per_category",
        KeyKind::Whole { min: 1, max: 1_000_000 },
        Fallback::Whole(100),
        "active memories per category before creating another one warns",
    ),
    records(
        "retrieval.enabled",
        KeyKind::Flag,
        Fallback::Flag(true),
        "whether relevant memories are added to prompts",
    ),
    records(
        "retrieval.max_inject",
        KeyKind::Whole { min: 0, max: 20 },
        Fallback::Whole(5),
        "memories added to a prompt at most",
    ),
    records(
        "retrieval.match_strategy",
        KeyKind::Choice(&["title_tags", "fts5_bm25", "keyword"]),
        Fallback::Text("title_tags"),
        "how memories are ranked",
    ),
    records("triage.enabled", KeyKind::Flag, Fallback::Flag(true), "whether stop hooks look for memories"),
    records(
        "triage.max_messages",
        KeyKind::Whole { min: 10, max: 200 },
        Fallback::Whole(50),
        "messages that triage reads",
    ),
    // The `claude-memory` scripts later changed their thresholds; these stay, so that a file without them means
    // the same to the hooks and to `compat`.
    records(
        "triage.thresholds.*",
        KeyKind::Fraction,
        Fallback::PerCategory(|category| {
            Some(Json::Number(
                match category {
                    Category::Constraint => "0.5",
                    Category::SessionSummary => "0.6",
                    _ => "0.4",
                }
                .to_owned(),
            ))
        }),
        "minimum score for capturing into the category",
    ),
    records(
        "triage.parallel.enabled",
        KeyKind::Flag,
        Fallback::Flag(true),
        "draft the categories in parallel",
    ),
    records(
        "triage.parallel.category_models.*",
        MODELS,
        Fallback::PerCategory(|category| {
            Some(Json::text(match category {
                Category::Decision | Category::Constraint => "sonnet",
                _ => "haiku",
            }))
        }),
        "model that drafts the category",
    ),
    records(
        "triage.parallel.verification_model",
        MODELS,
        Fallback::Text("sonnet"),
        "model that verifies drafts",
    ),
    records(
        "triage.parallel.default_model",
        MODELS,
        Fallback::Text("haiku"),
        "model for a category without its own",
    ),
    records(
        "delete.grace_period_days",
        KeyKind::Kept { min: 0, max: 36_500 },
        Fallback::Whole(30),
        "days a retired memory is kept",
    )
    .held(WeakeningRule::Below("retired memories would be deleted sooner")),
    // Absent means delete, as in the `claude-memory` scripts; `lorelane init` writes `true`.
    records(
        "delete.archive_retired",
        KeyKind::Keep,
        Fallback::None,
        "whether retired memories are archived instead of deleted after the grace period",
    )
    .held(WeakeningRule::Below("retired memories would be deleted instead of archived")),
    lorelane(
        "secrets",
        KeyKind::Choice(&["refuse", "redact", "allow"]),
        Fallback::Text("refuse"),
        "what happens to a secret in new text",
    )
    .held(WeakeningRule::Above("secrets in new text would no longer be rejected")),
    lorelane(
        "briefing.max_tokens",
        KeyKind::Whole { min: 100, max: 2_400 },
        Fallback::Whole(600),
        "maximum tokens added to one prompt or session start",
    ),
    lorelane(
        "briefing.act_max_tokens",
        KeyKind::Whole { min: 0, max: 2_400 },
        Fallback::Whole(200),
        "maximum tokens added to one tool call; 0 means none",
    ),
    lorelane(
        "briefing.min_relevance",
        KeyKind::Fraction,
        Fallback::Number("0.34"),
        "how likely a memory must be useful to be added to a prompt, from 0 to 1",
    )
    .held(WeakeningRule::Below("less relevant memories of this repository would be added to your prompts")),
    lorelane(
        "briefing.hint",
        KeyKind::Flag,
        Fallback::Flag(true),
        "whether the first session of a project without memories is told how to save one",
    ),
    lorelane(
        "inbox.keep_days",
        KeyKind::Kept { min: 1, max: 365 },
        Fallback::Whole(30),
        "days that a captured statement waits in the inbox before it is dropped",
    )
    .held(WeakeningRule::Below("captured statements would be dropped sooner")),
    lorelane(
        "stop.unattended",
        KeyKind::Choice(&["keep", "ask"]),
        Fallback::Text("keep"),
        "whether an unattended run is asked to save memories, or they are kept for later",
    )
    .held(WeakeningRule::Above("unattended runs would be asked to save memories")),
    lorelane(
        "audit.half_life.*",
        KeyKind::Whole { min: 1, max: 36_500 },
        Fallback::PerCategory(|category| Some(Json::number(half_life_days(category)))),
        "days after which half of a category's memories are taken to be stale",
    ),
    lorelane(
        "audit.half_life_notes",
        KeyKind::Whole { min: 1, max: 36_500 },
        Fallback::Whole(180),
        "the same for notes",
    ),
    lorelane("notes.enabled", KeyKind::Flag, Fallback::Flag(true), "whether notes are read and written"),
    lorelane(
        "notes.storage",
        KeyKind::Choice(&["project", "user"]),
        Fallback::Text("project"),
        "where notes are stored: in the project, or in your data folder for all projects",
    )
    .held(WeakeningRule::Above("your notes for all projects would be read and written here")),
    lorelane(
        "notes.recency_days",
        KeyKind::Whole { min: 0, max: 36_500 },
        Fallback::Whole(7),
        "days for which a new note counts as recent",
    ),
    lorelane(
        "notes.recency_factor",
        KeyKind::Number { min: 1.0, max: 2.0 },
        Fallback::Number("1.2"),
        "how much a recent note is preferred among equal results; 1 means not at all",
    ),
    lorelane(
        "working_set.protected",
        KeyKind::Text { max: 2_000 },
        Fallback::Text(""),
        "files that never leave a working set, as globs separated by spaces",
    )
    .held(WeakeningRule::Lacking("files that you protect could leave your working sets")),
    lorelane(
        "working_set.untouched_turns",
        KeyKind::Kept { min: 1, max: 1_000 },
        Fallback::Whole(5),
        "turns without a touch after which a file may leave a working set",
    )
    .held(WeakeningRule::Below("files would leave your working sets sooner")),
    lorelane(
        "working_set.hot_weight",
        KeyKind::Fraction,
        Fallback::Number("0.2"),
        "how much hot advice raises the priority of a file",
    )
    .held(WeakeningRule::Below("advice to keep a file would count less")),
    lorelane(
        "working_set.cold_weight",
        KeyKind::Fraction,
        Fallback::Number("0.3"),
        "how much cold advice that was honoured lowers the priority of a file",
    )
    .held(WeakeningRule::Above("advice to drop a file would count more")),
];

/// The names of these keys in `ragdocs`.
const FORMER_NAMES: [(&str, &str); 4] = [
    ("memory.enabled", "notes.enabled"),
    ("memory.storage_strategy", "notes.storage"),
    ("memory.recency_boost_days", "notes.recency_days"),
    ("memory.recency_boost_factor", "notes.recency_factor"),
];

/// A value as it is in a configuration file.
#[derive(Clone, Debug, PartialEq)]
pub struct ConfigValue {
    pub key: String,
    pub value: Json,
    /// The file name for messages.
    pub file: String,
    pub home: ConfigFile,
    pub source: ConfigSource,
}

/// Who owns the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfigSource {
    /// It is part of the repository, so it may come from anybody.
    Project,
    User,
}

/// The effective value of a key, and where it comes from.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    pub key: String,
    /// `None` if the key has no default and is not set.
    pub value: Option<Json>,
    /// The file, or `None` for the default.
    pub file: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigProblem {
    pub key: String,
    pub file: String,
    pub what: String,
    /// Whether memories could be written to the wrong place because of it.
    pub stops_writes: bool,
}

impl std::fmt::Display for ConfigProblem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "`{}` in {}: {}", self.key, self.file, self.what)
    }
}

/// A value from the repository that weakens the user's own settings.
#[derive(Clone, Debug, PartialEq)]
pub struct Weakening {
    pub key: String,
    pub value: Json,
    pub file: String,
    /// What it would do.
    pub effect: &'static str,
    weaker: WeakeningRule,
}

impl Weakening {
    /// Whether the value is text for a model. Messages name its key only: a model may read them too.
    pub fn is_free_text(&self) -> bool {
        matches!(self.weaker, WeakeningRule::Given(_))
    }
}

impl std::fmt::Display for Weakening {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.is_free_text() {
            true => write!(f, "`{}`", self.key)?,
            false => write!(f, "`{}` = {}", self.key, shown(&self.value))?,
        }
        write!(f, " in {}: {}", self.file, self.effect)
    }
}

/// The effective settings.
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    settings: BTreeMap<String, Setting>,
    pub problems: Vec<ConfigProblem>,
    /// Values that are ignored until the user trusts the repository.
    pub held_back: Vec<Weakening>,
    /// Values that apply because the user trusts the repository.
    pub trusted: Vec<Weakening>,
    /// Every value that the repository sets for a restricted key, one per line.
    restricted: String,
}

/// The models that draft and verify memories.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModelChoices<'p> {
    pub enabled: bool,
    pub category_models: [(Category, &'p str); 6],
    pub verification_model: &'p str,
    pub default_model: &'p str,
}

/// Whether memories for a prompt are ranked by recall, or by the keyword score of the `claude-memory` scripts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatchStrategy {
    Recall,
    Keyword,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecretPolicy {
    Refuse,
    Redact,
    Allow,
}

/// Where notes are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotesStorage {
    Project,
    /// In the user's data folder, for all projects.
    User,
}

impl NotesStorage {
    pub fn name(self) -> &'static str {
        match self {
            NotesStorage::Project => "project",
            NotesStorage::User => "user",
        }
    }
}

impl Policy {
    /// Resolves the values of all files. A project's value overrides the user's unless it is weaker; among files
    /// of the same source, the first one wins.
    pub fn settle(given: &[ConfigValue], mut problems: Vec<ConfigProblem>) -> Policy {
        let mut settings: BTreeMap<String, Setting> = all_keys()
            .map(|(key, name, category)| {
                let value = default_of(key, category);
                (name.clone(), Setting { key: name, value, file: None })
            })
            .collect();
        let mut brought: BTreeMap<String, (&Key, Setting)> = BTreeMap::new();
        for ConfigValue { key: name, value, file, home, source } in given {
            let mut problem = |what: String, stops_writes: bool| {
                problems.push(ConfigProblem { key: name.clone(), file: file.clone(), what, stops_writes });
            };
            // The `claude-memory` scripts also wrote thresholds in capitals.
            let former = FORMER_NAMES.iter().find(|(former, _)| former == name);
            let is_superseded = |now: &str| given.iter().any(|other| other.file == *file && other.key == now);
            // If a file has both names of a key, lorelane's name wins.
            if former.is_some_and(|(_, now)| is_superseded(now)) {
                continue;
            }
            let same = |known: &str| {
                known == former.map_or(name.as_str(), |(_, now)| now)
                    || (known.starts_with("triage.thresholds.") && known.eq_ignore_ascii_case(name))
            };
            let Some((key, known, category)) =
                all_keys().find(|(key, known, _)| key.home == *home && same(known))
            else {
                problem(format!("unknown key, so {} is ignored", shown(value)), false);
                continue;
            };
            let usable = match judge(&key.kind, value, category) {
                Ok(usable) => usable,
                Err(UnusableValue { what, instead }) => {
                    let consequence = match (&key.kind, &instead) {
                        (KeyKind::Root | KeyKind::Folder, _) | (KeyKind::Text { .. }, None) => String::new(),
                        (KeyKind::Text { .. }, Some(_)) => "; it is truncated".to_owned(),
                        (_, Some(instead)) => format!("; {} is used", shown(instead)),
                        (_, None) => "; the default is used".to_owned(),
                    };
                    // Memories could go to the wrong folder, so nothing is written until the value is fixed.
                    let stops_writes = matches!(key.kind, KeyKind::Root | KeyKind::Folder);
                    problem(format!("{} {what}{consequence}", shown(value)), stops_writes);
                    let Some(instead) = instead else { continue };
                    instead
                }
            };
            let setting = Setting { key: known.clone(), value: Some(usable), file: Some(file.clone()) };
            let taken = settings.get(&known).is_some_and(|setting| setting.file.is_some());
            match source {
                ConfigSource::Project => {
                    brought.entry(known).or_insert((key, setting));
                }
                ConfigSource::User if taken => {}
                ConfigSource::User => {
                    settings.insert(known, setting);
                }
            }
        }
        let (held_back, trusted) = (Vec::new(), Vec::new());
        let mut policy = Policy { settings, problems, held_back, trusted, restricted: String::new() };
        brought.into_values().for_each(|(key, setting)| policy.take(key, setting));
        policy
    }

    /// Applies a value from the repository if it is not weaker than the user's value or the default.
    fn take(&mut self, key: &Key, setting: Setting) {
        let Setting { key: name, value: Some(value), file: Some(file) } = &setting else { return };
        let is_weaker = key.weakens(self.value(name), value);
        // All values of restricted keys, not only those held back: which ones are held back depends on the user's
        // settings, and trust must not.
        if let Some(effect) = key.weaker.effect() {
            self.restricted.push_str(&format!("{name} = {}\n", value.render(JsonFormat::LINE)));
            let (key, value, file, weaker) = (name.clone(), value.clone(), file.clone(), key.weaker);
            self.held_back.extend(is_weaker.then_some(Weakening { key, value, file, effect, weaker }));
        }
        // `memory_root` applies at once for reading; only writing waits for trust.
        if !is_weaker || matches!(key.weaker, WeakeningRule::Elsewhere(_)) {
            self.settings.insert(name.clone(), setting);
        }
    }

    /// The settings once the user trusts the repository.
    pub fn trusting(mut self) -> Policy {
        for held in std::mem::take(&mut self.held_back) {
            let (key, value, file) = (held.key.clone(), Some(held.value.clone()), Some(held.file.clone()));
            self.settings.insert(key.clone(), Setting { key, value, file });
            self.trusted.push(held);
        }
        self
    }

    /// A digest of the repository's values for restricted keys. Trust is granted to this digest and not to the
    /// files, because other settings change often.
    pub fn restricted(&self) -> Revision {
        Revision::of(self.restricted.as_bytes())
    }

    /// The repository's `memory_root`, while it is not trusted and so not written to.
    pub fn untrusted_root(&self) -> Option<&Weakening> {
        self.held_back.iter().find(|held| matches!(held.weaker, WeakeningRule::Elsewhere(_)))
    }

    /// The records folder for this value of `memory_root`, without resolving the other keys.
    pub fn root_of(given: Option<&Json>) -> String {
        let usable = given.and_then(|value| judge(&KeyKind::Root, value, None).ok());
        usable.as_ref().and_then(Json::as_text).unwrap_or(DEFAULT_ROOT).to_owned()
    }

    pub fn settings(&self) -> impl Iterator<Item = &Setting> {
        self.settings.values()
    }

    pub fn get(&self, key: &str) -> Option<&Setting> {
        self.settings.get(key)
    }

    fn value(&self, key: &str) -> Option<&Json> {
        self.settings.get(key)?.value.as_ref()
    }

    fn flag(&self, key: &str) -> bool {
        self.value(key).and_then(Json::as_bool).unwrap_or(false)
    }

    fn whole(&self, key: &str) -> i64 {
        self.value(key).and_then(|value| value.as_f64()).map_or(0, |number| number as i64)
    }

    fn text(&self, key: &str) -> &str {
        self.value(key).and_then(Json::as_text).unwrap_or_default()
    }

    pub fn memory_root(&self) -> &str {
        self.text("memory_root")
    }

    pub fn enabled(&self, category: Category) -> bool {
        self.flag(&format!("categories.{category}.enabled"))
    }

    /// Whether triage may capture into a category: it is enabled, and so is automatic capture.
    pub fn auto_capture(&self, category: Category) -> bool {
        self.enabled(category) && self.flag(&format!("categories.{category}.auto_capture"))
    }

    pub fn triage_enabled(&self) -> bool {
        self.flag("triage.enabled")
    }

    pub fn triage_max_messages(&self) -> usize {
        usize::try_from(self.whole("triage.max_messages")).unwrap_or(1)
    }

    /// The minimum score for capturing into a category; `None` if it is not captured.
    pub fn triage_threshold(&self, category: Category) -> Option<f64> {
        let threshold = self.value(&format!("triage.thresholds.{category}")).and_then(Json::as_f64);
        threshold.filter(|_| self.auto_capture(category))
    }

    /// The model that drafts a category: the category's own if a file sets it, else `default_model` if a file sets
    /// that, else the category's default. Without this order a `default_model` would never apply.
    pub fn drafting_model(&self, category: Category) -> &str {
        let own = format!("triage.parallel.category_models.{category}");
        let given = |key: &str| self.get(key).is_some_and(|setting| setting.file.is_some());
        let shared = "triage.parallel.default_model";
        if !given(&own) && given(shared) { self.text(shared) } else { self.text(&own) }
    }

    /// The models for drafting categories in parallel.
    pub fn parallel(&self) -> ModelChoices<'_> {
        let model = |category: Category| self.text(&format!("triage.parallel.category_models.{category}"));
        ModelChoices {
            enabled: self.flag("triage.parallel.enabled"),
            category_models: Category::ALL.map(|category| (category, model(category))),
            verification_model: self.text("triage.parallel.verification_model"),
            default_model: self.text("triage.parallel.default_model"),
        }
    }

    /// Days after its last change until a memory of this category expires.
    pub fn retention_days(&self, category: Category) -> Option<i64> {
        Some(self.whole(&format!("categories.{category}.retention_days"))).filter(|days| *days > 0)
    }

    /// Days after which half of the memories of this kind are taken to be stale.
    pub fn half_life_days(&self, kind: MemoryKind) -> i64 {
        match kind {
            MemoryKind::Record(category) => self.whole(&format!("audit.half_life.{category}")),
            MemoryKind::Note(_) => self.whole("audit.half_life_notes"),
            MemoryKind::Auto(auto_type) => auto_half_life_days(auto_type),
        }
    }

    pub fn description(&self, category: Category) -> Option<&str> {
        self.value(&format!("categories.{category}.description")).and_then(Json::as_text)
    }

    pub fn max_retained_sessions(&self) -> usize {
        usize::try_from(self.whole("categories.session_summary.max_retained")).unwrap_or(1)
    }

    pub fn max_memories_per_category(&self) -> usize {
        usize::try_from(self.whole("max_memories_per_category")).unwrap_or(1)
    }

    pub fn retrieval_enabled(&self) -> bool {
        self.flag("retrieval.enabled")
    }

    /// How memories are ranked for a prompt.
    pub fn match_strategy(&self) -> MatchStrategy {
        // The other two values are old defaults in existing files; both mean the current ranking.
        if self.text("retrieval.match_strategy") == "keyword" {
            MatchStrategy::Keyword
        } else {
            MatchStrategy::Recall
        }
    }

    /// The maximum number of memories added to a prompt.
    pub fn max_inject(&self) -> usize {
        usize::try_from(self.whole("retrieval.max_inject")).unwrap_or(0)
    }

    /// How likely a memory must be useful to be added to a prompt.
    pub fn min_relevance(&self) -> f32 {
        self.value("briefing.min_relevance").and_then(Json::as_f64).unwrap_or(1.0) as f32
    }

    pub fn briefing_max_tokens(&self) -> usize {
        usize::try_from(self.whole("briefing.max_tokens")).unwrap_or(0)
    }

    pub fn act_max_tokens(&self) -> usize {
        usize::try_from(self.whole("briefing.act_max_tokens")).unwrap_or(0)
    }

    pub fn gives_hint(&self) -> bool {
        self.flag("briefing.hint")
    }

    pub fn inbox_keep_days(&self) -> i64 {
        self.whole("inbox.keep_days")
    }

    /// Whether an unattended run is asked to save memories.
    pub fn asks_unattended(&self) -> bool {
        self.text("stop.unattended") == "ask"
    }

    pub fn notes_enabled(&self) -> bool {
        self.flag("notes.enabled")
    }

    pub fn notes_storage(&self) -> NotesStorage {
        if self.text("notes.storage") == "user" { NotesStorage::User } else { NotesStorage::Project }
    }

    /// Days for which a new note counts as recent.
    pub fn notes_recency_days(&self) -> i64 {
        self.whole("notes.recency_days")
    }

    /// How much a recent note is preferred among equal results.
    pub fn notes_recency_factor(&self) -> f64 {
        self.value("notes.recency_factor").and_then(Json::as_f64).unwrap_or(1.0)
    }

    /// Globs of files that never leave a working set.
    pub fn protected_files(&self) -> Vec<String> {
        self.text("working_set.protected").split_whitespace().map(str::to_owned).collect()
    }

    /// Turns without a touch after which a file may leave a working set.
    pub fn untouched_turns(&self) -> u32 {
        u32::try_from(self.whole("working_set.untouched_turns")).unwrap_or(1).max(1)
    }

    /// How much hot advice raises a priority.
    pub fn hot_weight(&self) -> f64 {
        self.value("working_set.hot_weight").and_then(Json::as_f64).unwrap_or(0.0)
    }

    /// How much cold advice lowers a priority.
    pub fn cold_weight(&self) -> f64 {
        self.value("working_set.cold_weight").and_then(Json::as_f64).unwrap_or(0.0)
    }

    pub fn auto_commit(&self) -> bool {
        self.flag("auto_commit")
    }

    pub fn grace_period_days(&self) -> i64 {
        self.whole("delete.grace_period_days")
    }

    /// Absent means `false`, as in the `claude-memory` scripts.
    pub fn archive_retired(&self) -> bool {
        self.flag("delete.archive_retired")
    }

    pub fn secrets(&self) -> SecretPolicy {
        match self.text("secrets") {
            "redact" => SecretPolicy::Redact,
            "allow" => SecretPolicy::Allow,
            _ => SecretPolicy::Refuse,
        }
    }
}

/// Every key, with `*` expanded to each category.
pub fn all_keys() -> impl Iterator<Item = (&'static Key, String, Option<Category>)> {
    KEYS.iter().flat_map(|key| {
        let categories: Vec<Option<Category>> =
            if key.name.contains('*') { Category::ALL.map(Some).to_vec() } else { vec![None] };
        categories.into_iter().map(move |category| {
            let name = key.name.replace('*', category.map_or("", Category::name));
            (key, name, category)
        })
    })
}

/// Whether a repository's values of this key can be held back.
pub fn is_restricted(name: &str) -> bool {
    all_keys().any(|(key, known, _)| known == name && key.weaker != WeakeningRule::Never)
}

/// Parses a value for `config set`. Values out of range are rejected and not clamped: a person can correct them.
pub fn check(name: &str, value: &str) -> Result<(&'static Key, Json), String> {
    let Some((key, _, category)) = all_keys().find(|(_, known, _)| known == name) else {
        return Err(format!("there is no key `{name}`; `lorelane config list` shows all"));
    };
    let typed = match key.kind {
        KeyKind::Flag
        | KeyKind::Keep
        | KeyKind::Whole { .. }
        | KeyKind::Kept { .. }
        | KeyKind::Fraction
        | KeyKind::Number { .. } => Json::parse(value).unwrap_or_else(|_| Json::text(value)),
        _ => Json::text(value),
    };
    match judge(&key.kind, &typed, category) {
        Ok(value) => Ok((key, value)),
        Err(UnusableValue { what, .. }) => Err(format!("{} {what}", shown(&typed))),
    }
}

impl Key {
    /// Whether a value weakens the user's. Both are valid values of this key.
    fn weakens(&self, own: Option<&Json>, brought: &Json) -> bool {
        let own_value = own;
        let (own, brought_rank) = (own.map_or(0.0, |own| self.rank(own)), self.rank(brought));
        match self.weaker {
            WeakeningRule::Never => false,
            WeakeningRule::Above(_) => brought_rank > own,
            WeakeningRule::Below(_) => brought_rank < own,
            WeakeningRule::Given(_) => brought.as_text().is_some_and(|text| !text.is_empty()),
            WeakeningRule::Lacking(_) => {
                let items = |text: &'_ Json| -> Vec<String> {
                    let text = text.as_text().unwrap_or_default();
                    text.split_whitespace().map(str::to_owned).collect()
                };
                let brought = items(brought);
                own_value.is_some_and(|own| items(own).iter().any(|item| !brought.contains(item)))
            }
            WeakeningRule::Elsewhere(_) => brought.as_text() != Some(DEFAULT_ROOT),
        }
    }

    /// The position of a value for comparison; an absent one is the lowest.
    fn rank(&self, value: &Json) -> f64 {
        match (&self.kind, value) {
            (KeyKind::Choice(choices), Json::Text(text)) => {
                choices.iter().position(|choice| choice == text).map_or(0.0, |at| at as f64)
            }
            (_, Json::Bool(flag)) => f64::from(u8::from(*flag)),
            (_, value) => value.as_f64().unwrap_or(0.0),
        }
    }
}

/// A value that is invalid for its key.
struct UnusableValue {
    what: String,
    /// The value used in its place if it comes from a file.
    instead: Option<Json>,
}

fn judge(kind: &KeyKind, value: &Json, category: Option<Category>) -> Result<Json, UnusableValue> {
    let refuse = |what: String| Err(UnusableValue { what, instead: None });
    let mend = |what: String, instead: Json| Err(UnusableValue { what, instead: Some(instead) });
    match kind {
        KeyKind::Flag => match value {
            Json::Bool(_) => Ok(value.clone()),
            _ => refuse("is not true or false".to_owned()),
        },
        KeyKind::Keep => match value {
            Json::Bool(_) => Ok(value.clone()),
            // The flag protects memories from deletion, so an unreadable value must not switch it off.
            _ => mend("is not true or false".to_owned(), Json::Bool(true)),
        },
        KeyKind::Whole { min, max } | KeyKind::Kept { min, max } => match value.as_f64() {
            Some(number) if number.is_finite() && number.fract() == 0.0 => {
                let clamped = (number as i64).clamp(*min, *max);
                let what = format!("is not between {min} and {max}");
                if clamped as f64 == number {
                    Ok(value.clone())
                } else if clamped == *min && matches!(kind, KeyKind::Kept { .. }) {
                    // Clamping to the minimum would keep the least, so the default is used instead.
                    refuse(what)
                } else {
                    mend(what, Json::number(clamped))
                }
            }
            _ => refuse(format!("is not a whole number between {min} and {max}")),
        },
        KeyKind::Fraction => match value.as_f64() {
            Some(number) if (0.0..=1.0).contains(&number) => Ok(value.clone()),
            Some(number) if number.is_finite() => {
                let clamped = if number < 0.0 { "0.0" } else { "1.0" };
                mend("is not between 0 and 1".to_owned(), Json::Number(clamped.to_owned()))
            }
            _ => refuse("is not a number between 0 and 1".to_owned()),
        },
        KeyKind::Number { min, max } => match value.as_f64() {
            Some(number) if (*min..=*max).contains(&number) => Ok(value.clone()),
            Some(number) if number.is_finite() => {
                let clamped = number.clamp(*min, *max);
                mend(format!("is not between {min} and {max}"), Json::Number(clamped.to_string()))
            }
            _ => refuse(format!("is not a number between {min} and {max}")),
        },
        KeyKind::Choice(choices) => match value.as_text().map(str::to_lowercase) {
            Some(text) if choices.contains(&text.as_str()) => Ok(Json::Text(text)),
            _ => refuse(format!("is not one of {}", choices.join(", "))),
        },
        KeyKind::Text { max } => match value.as_text() {
            Some(text) if text.chars().nth(*max).is_none() => Ok(value.clone()),
            Some(text) => mend(format!("is longer than {max} characters"), Json::Text(cut(text, *max))),
            None => refuse("is not a string".to_owned()),
        },
        KeyKind::Root => match value.as_text().map(|text| text.trim_end_matches('/')).map(RelPath::parse) {
            // Any case: on file systems that ignore it, `.GIT` is the same folder.
            Some(Ok(path)) if path.as_str().split('/').any(|name| name.eq_ignore_ascii_case(".git")) => {
                refuse("is inside .git; choose another folder in the project".to_owned())
            }
            Some(Ok(path)) => Ok(Json::text(path.as_str())),
            Some(Err(fault)) => refuse(format!(
                "is not a folder inside the project: {fault}; use a relative path such as \"{DEFAULT_ROOT}\""
            )),
            None => refuse(format!("is not a string; use a relative path such as \"{DEFAULT_ROOT}\"")),
        },
        KeyKind::Folder => {
            let own = category.map_or("", Category::folder);
            match value.as_text() {
                Some(text) if text.trim_end_matches('/') == own => Ok(Json::text(own)),
                _ => {
                    refuse(format!("is not \"{own}\", which is the only folder that agents and scripts know"))
                }
            }
        }
    }
}

fn default_of(key: &Key, category: Option<Category>) -> Option<Json> {
    match key.default {
        Fallback::Flag(flag) => Some(Json::Bool(flag)),
        Fallback::Whole(number) => Some(Json::number(number)),
        Fallback::Number(number) => Some(Json::Number(number.to_owned())),
        Fallback::Text(text) => Some(Json::text(text)),
        Fallback::PerCategory(of) => of(category?),
        Fallback::None => None,
    }
}

fn shown(value: &Json) -> String {
    // A secret pasted into the wrong key must not reach a terminal or a log.
    cut(&secret::masked(&value.render(JsonFormat::LINE)), 80)
}
