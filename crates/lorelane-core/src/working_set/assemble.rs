//! The context of a session as one text: which files are in it, whole or cut, and why the others are not.
//!
//! A file is read only when it is its turn and it may fit, so a large set costs what its budget holds. The text
//! never has more than the budget's effective tokens, and the same input gives the same bytes.

use std::cmp::Ordering;
use std::collections::HashSet;
use std::fmt;

use memchr::memchr_iter;
use serde::{Deserialize, Serialize};

use super::TokenBudget;
use crate::fence::{self, Fence};
use crate::text::{TokenCounter, printable};

/// A file is not cut to fewer tokens than this: what would be left of it explains nothing.
pub const TRUNCATED_MIN_TOKENS: u64 = 64;

/// Who speaks in a file, as the model is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    System,
    Developer,
    User,
    #[default]
    Context,
}

impl Role {
    pub const ALL: [Role; 4] = [Role::System, Role::Developer, Role::User, Role::Context];

    pub fn name(self) -> &'static str {
        match self {
            Role::System => "system",
            Role::Developer => "developer",
            Role::User => "user",
            Role::Context => "context",
        }
    }

    pub fn parse(text: &str) -> Option<Role> {
        Role::ALL.into_iter().find(|role| role.name() == text)
    }
}

/// What is cut from a file that is too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TruncateStrategy {
    Never,
    /// Cuts the start: the end stays.
    Start,
    /// Cuts the middle: both ends stay.
    Middle,
    /// Cuts the end: the beginning stays.
    End,
}

impl TruncateStrategy {
    pub const ALL: [TruncateStrategy; 4] =
        [TruncateStrategy::Never, TruncateStrategy::Start, TruncateStrategy::Middle, TruncateStrategy::End];

    pub fn name(self) -> &'static str {
        match self {
            TruncateStrategy::Never => "never",
            TruncateStrategy::Start => "start",
            TruncateStrategy::Middle => "middle",
            TruncateStrategy::End => "end",
        }
    }

    pub fn parse(text: &str) -> Option<TruncateStrategy> {
        TruncateStrategy::ALL.into_iter().find(|strategy| strategy.name() == text)
    }
}

/// The strategy of a file that names none: a log's news is at its end, code has its imports and its last functions
/// at the ends, and other texts begin with what matters.
pub fn default_strategy(path: &str, role: Role) -> TruncateStrategy {
    let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    if role == Role::System {
        TruncateStrategy::Never
    } else if extension == "log" || (name.starts_with("log-") && extension == "txt") {
        TruncateStrategy::Start
    } else if CODE_EXTENSIONS.contains(&extension) {
        TruncateStrategy::Middle
    } else {
        TruncateStrategy::End
    }
}

const CODE_EXTENSIONS: &[&str] = &[
    "astro", "bash", "c", "cc", "clj", "cpp", "cs", "css", "dart", "erl", "ex", "exs", "fs", "go", "h",
    "hpp", "hs", "java", "jl", "js", "jsx", "kt", "lua", "m", "ml", "mjs", "nix", "php", "pl", "proto",
    "ps1", "py", "r", "rb", "rs", "scala", "scss", "sh", "sol", "sql", "svelte", "swift", "tf", "ts", "tsx",
    "vue", "zig",
];

/// Why a file comes first and is never evicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum KeepRule {
    Protected,
    Pinned,
}

impl KeepRule {
    pub fn name(self) -> &'static str {
        match self {
            KeepRule::Protected => "protected",
            KeepRule::Pinned => "pinned",
        }
    }
}

/// A file that asks to be in the context.
#[derive(Clone, Debug, PartialEq)]
pub struct AssemblyItem {
    pub path: String,
    pub role: Role,
    pub strategy: TruncateStrategy,
    pub max_lines: Option<u32>,
    /// The effective priority: advice is in it.
    pub priority: f64,
    pub keep: Option<KeepRule>,
    /// The file's size, if it is known without reading it: a file that cannot fit is then not read.
    pub bytes: Option<u64>,
}

/// The assembled context and the account of every file.
#[derive(Clone, Debug, PartialEq)]
pub struct Assembly {
    pub text: String,
    /// The tokens of the whole text, by the counter of that name.
    pub tokens: u64,
    pub counter: String,
    /// In the order of the text.
    pub included: Vec<IncludedFile>,
    pub excluded: Vec<ExcludedFile>,
    pub warnings: Vec<AssemblyWarning>,
}

impl Assembly {
    /// The files that must be kept and are not in the text, or not as a whole, because of the budget.
    pub fn budget_exceeded(&self) -> impl Iterator<Item = &str> {
        self.warnings.iter().filter_map(|warning| match warning {
            AssemblyWarning::BudgetExceeded { path } => Some(path.as_str()),
            _ => None,
        })
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IncludedFile {
    pub path: String,
    /// With the wrapper.
    pub tokens: u64,
    /// The tokens of the whole file in its wrapper; the same as `tokens` if nothing was cut.
    pub original_tokens: u64,
    pub is_truncated: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExcludedFile {
    pub path: String,
    pub reason: ExclusionReason,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExclusionReason {
    /// `needs` is unknown for a file that was not read.
    Budget {
        needs: Option<u64>,
        left: u64,
    },
    Unreadable(String),
    /// The path is listed twice; the first one counts.
    Duplicate,
}

impl ExclusionReason {
    pub fn code(&self) -> &'static str {
        match self {
            ExclusionReason::Budget { .. } => "budget",
            ExclusionReason::Unreadable(_) => "unreadable",
            ExclusionReason::Duplicate => "duplicate",
        }
    }
}

impl fmt::Display for ExclusionReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExclusionReason::Budget { needs: Some(needs), left } => {
                write!(f, "needs {needs} tokens, {left} left")
            }
            ExclusionReason::Budget { needs: None, left } => write!(f, "not read: {left} tokens left"),
            ExclusionReason::Unreadable(error) => write!(f, "cannot be read: {error}"),
            ExclusionReason::Duplicate => f.write_str("listed twice"),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AssemblyWarning {
    /// A file that must be kept does not fit, or not as a whole.
    BudgetExceeded {
        path: String,
    },
    /// The file is never truncated, so its `max_lines` does nothing.
    MaxLinesIgnored {
        path: String,
    },
    HeaderOmitted,
}

impl AssemblyWarning {
    pub fn code(&self) -> &'static str {
        match self {
            AssemblyWarning::BudgetExceeded { .. } => "BUDGET_EXCEEDED",
            AssemblyWarning::MaxLinesIgnored { .. } => "MAX_LINES_IGNORED",
            AssemblyWarning::HeaderOmitted => "HEADER_OMITTED",
        }
    }
}

impl fmt::Display for AssemblyWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AssemblyWarning::BudgetExceeded { path } => {
                write!(f, "{path} must be kept and does not fit into the budget")
            }
            AssemblyWarning::MaxLinesIgnored { path } => {
                write!(f, "{path}: max_lines is ignored, because truncate_strategy is never")
            }
            AssemblyWarning::HeaderOmitted => f.write_str("the header does not fit into the budget"),
        }
    }
}

/// Assembles the files, most important first: protected, pinned, then by effective priority, then by path.
///
/// `header` is our own text; what `read` returns is foreign and is wrapped by its role.
pub fn assemble(
    items: &[AssemblyItem],
    header: &str,
    budget: &TokenBudget,
    counter: &dyn TokenCounter,
    read: &mut dyn FnMut(&str) -> Result<String, String>,
) -> Assembly {
    let mut assembler = Assembler::new(header, budget.effective, counter);
    let mut seen = HashSet::new();
    for item in in_order(items) {
        if seen.insert(item.path.as_str()) {
            assembler.add(item, read);
        } else {
            assembler.exclude(&item.path, ExclusionReason::Duplicate);
        }
    }
    assembler.finish()
}

fn in_order(items: &[AssemblyItem]) -> Vec<&AssemblyItem> {
    let mut sorted: Vec<&AssemblyItem> = items.iter().collect();
    sorted.sort_by(|a, b| keep_rank(a).cmp(&keep_rank(b)).then_with(|| by_priority(a, b)));
    sorted
}

fn keep_rank(item: &AssemblyItem) -> u8 {
    item.keep.map_or(2, |keep| keep as u8)
}

fn by_priority(a: &AssemblyItem, b: &AssemblyItem) -> Ordering {
    // A priority that is not a number sorts last.
    let priority = |item: &AssemblyItem| if item.priority.is_nan() { 0.0 } else { item.priority };
    priority(b).total_cmp(&priority(a)).then_with(|| a.path.cmp(&b.path))
}

struct Assembler<'a> {
    header: &'a str,
    effective: u64,
    counter: &'a dyn TokenCounter,
    /// The sum over the header and the blocks.
    used: u64,
    blocks: Vec<IncludedBlock>,
    excluded: Vec<ExcludedFile>,
    warnings: Vec<AssemblyWarning>,
}

struct IncludedBlock {
    file: IncludedFile,
    is_kept: bool,
    text: String,
}

impl<'a> Assembler<'a> {
    fn new(header: &'a str, effective: u64, counter: &'a dyn TokenCounter) -> Assembler<'a> {
        let cost = if header.is_empty() { 0 } else { counter.count(header) };
        let (header, used, warnings) = match cost <= effective {
            true => (header, cost, Vec::new()),
            false => ("", 0, vec![AssemblyWarning::HeaderOmitted]),
        };
        Assembler { header, effective, counter, used, blocks: Vec::new(), excluded: Vec::new(), warnings }
    }

    fn left(&self) -> u64 {
        self.effective.saturating_sub(self.used)
    }

    fn add(&mut self, item: &AssemblyItem, read: &mut dyn FnMut(&str) -> Result<String, String>) {
        let left = self.left();
        if !self.may_fit(item) {
            return self.leave_out(item, None);
        }
        let text = match read(&item.path) {
            Ok(text) => inert(&text),
            Err(error) => return self.exclude(&item.path, ExclusionReason::Unreadable(error)),
        };
        let wrapper = Wrapper::new(item.role, &item.path);
        let cost = |text: &str| self.counter.count(&wrapper.around(text));
        let original_tokens = cost(&text);
        let max_lines = item.max_lines.filter(|_| item.strategy != TruncateStrategy::Never);
        let limit = Cut::to_lines(&text, item.strategy, max_lines);
        let limited = limit.apply(&text);
        let (kept, tokens) = match cost(&limited) {
            tokens if tokens <= left => (limited, tokens),
            needs => match self.truncated(&text, &limit, item.strategy, &cost) {
                Some(truncated) => truncated,
                None => return self.leave_out(item, Some(needs)),
            },
        };
        if item.max_lines.is_some() && max_lines.is_none() {
            self.warnings.push(AssemblyWarning::MaxLinesIgnored { path: item.path.clone() });
        }
        let is_truncated = kept != text;
        // Lines beyond `max_lines` are not missed: the manifest asked for that.
        if item.keep.is_some() && is_truncated && kept != limit.apply(&text) {
            self.warnings.push(AssemblyWarning::BudgetExceeded { path: item.path.clone() });
        }
        let file = IncludedFile { path: item.path.clone(), tokens, original_tokens, is_truncated };
        self.used += tokens;
        self.blocks.push(IncludedBlock { file, is_kept: item.keep.is_some(), text: wrapper.around(&kept) });
    }

    /// Whether it is worth reading the file.
    fn may_fit(&self, item: &AssemblyItem) -> bool {
        let left = self.left();
        let can_be_cut = item.strategy != TruncateStrategy::Never
            && (left >= TRUNCATED_MIN_TOKENS || item.max_lines.is_some());
        let at_least = item.bytes.map_or(0, |bytes| self.counter.at_least(bytes));
        let room = Wrapper::new(item.role, &item.path).around("");
        self.counter.count(&room) <= left && (can_be_cut || at_least <= left)
    }

    /// The most of a text that fits into what is left, in whole lines if they use half of it.
    fn truncated(
        &self,
        text: &str,
        limit: &Cut,
        strategy: TruncateStrategy,
        cost: &dyn Fn(&str) -> u64,
    ) -> Option<(String, u64)> {
        let left = self.left();
        if strategy == TruncateStrategy::Never || left < TRUNCATED_MIN_TOKENS {
            return None;
        }
        let lines = LineStarts::new(text);
        let by_lines =
            largest(lines.count(), left, |kept| limit.within(lines.cut(strategy, kept)).apply(text), cost);
        let wanted = TRUNCATED_MIN_TOKENS.max(left / 2);
        by_lines.filter(|(_, tokens)| *tokens >= wanted).or_else(|| {
            let shortened = |kept| limit.within(Cut::to_bytes(text, strategy, kept)).apply(text);
            let by_bytes = largest(text.len(), left, shortened, cost);
            by_bytes.filter(|(_, tokens)| *tokens >= TRUNCATED_MIN_TOKENS)
        })
    }

    fn leave_out(&mut self, item: &AssemblyItem, needs: Option<u64>) {
        if item.keep.is_some() {
            self.warnings.push(AssemblyWarning::BudgetExceeded { path: item.path.clone() });
        }
        self.exclude(&item.path, ExclusionReason::Budget { needs, left: self.left() });
    }

    fn exclude(&mut self, path: &str, reason: ExclusionReason) {
        self.excluded.push(ExcludedFile { path: path.to_owned(), reason });
    }

    /// Joins the blocks. The sum of their tokens is not always that of the joined text, which is what counts.
    fn finish(mut self) -> Assembly {
        loop {
            let text = self.joined();
            let tokens = if text.is_empty() { 0 } else { self.counter.count(&text) };
            if tokens <= self.effective || text.is_empty() {
                return Assembly {
                    text,
                    tokens,
                    counter: self.counter.name().to_owned(),
                    included: self.blocks.into_iter().map(|block| block.file).collect(),
                    excluded: self.excluded,
                    warnings: self.warnings,
                };
            }
            self.drop_last(tokens);
        }
    }

    fn joined(&self) -> String {
        let blocks = self.blocks.iter().map(|block| block.text.as_str());
        std::iter::once(self.header).chain(blocks).collect()
    }

    /// Takes out the least important block, or the header if there is none.
    fn drop_last(&mut self, tokens: u64) {
        let Some(IncludedBlock { file, is_kept, .. }) = self.blocks.pop() else {
            self.header = "";
            self.warnings.push(AssemblyWarning::HeaderOmitted);
            return;
        };
        let warning = AssemblyWarning::BudgetExceeded { path: file.path.clone() };
        if is_kept && !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
        let left = self.effective.saturating_sub(tokens.saturating_sub(file.tokens));
        self.exclude(&file.path, ExclusionReason::Budget { needs: Some(file.tokens), left });
    }
}

/// The largest `kept` whose text fits, with that text and its tokens. What is returned was counted, also with a
/// counter that does not grow with its text.
fn largest(
    max: usize,
    left: u64,
    shortened: impl Fn(usize) -> String,
    cost: &dyn Fn(&str) -> u64,
) -> Option<(String, u64)> {
    let (mut low, mut high, mut best) = (1, max, None);
    while low <= high {
        let middle = low + (high - low) / 2;
        let text = shortened(middle);
        let tokens = cost(&text);
        if tokens <= left {
            (low, best) = (middle + 1, Some((text, tokens)));
        } else {
            high = middle - 1;
        }
    }
    best
}

/// Which bytes of a text stay: those before `head` and those from `tail` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cut {
    head: usize,
    tail: usize,
}

impl Cut {
    fn to_lines(text: &str, strategy: TruncateStrategy, max_lines: Option<u32>) -> Cut {
        let whole = Cut { head: text.len(), tail: 0 };
        let Some(max_lines) = max_lines else { return whole };
        let lines = LineStarts::new(text);
        let max_lines = usize::try_from(max_lines).unwrap_or(usize::MAX);
        if lines.count() <= max_lines { whole } else { lines.cut(strategy, max_lines) }
    }

    fn to_bytes(text: &str, strategy: TruncateStrategy, kept: usize) -> Cut {
        let (head, tail) = ends(strategy, kept);
        Cut {
            head: text.floor_char_boundary(head),
            tail: text.ceil_char_boundary(text.len().saturating_sub(tail)),
        }
    }

    /// Keeps no more than `self` does.
    fn within(&self, other: Cut) -> Cut {
        Cut { head: self.head.min(other.head), tail: self.tail.max(other.tail) }
    }

    fn apply(&self, text: &str) -> String {
        let Cut { head, tail } = *self;
        if head >= tail {
            return text.to_owned();
        }
        let (before, omitted, after) = (&text[..head], &text[head..tail], &text[tail..]);
        let at_line = |text: &str| text.is_empty() || text.ends_with('\n');
        let what = if at_line(before) && (after.is_empty() || omitted.ends_with('\n')) {
            counted(omitted.lines().count(), "line")
        } else {
            counted(omitted.len(), "byte")
        };
        let end = if at_line(before) { "" } else { "\n" };
        format!("{before}{end}[… {what} omitted]\n{after}")
    }
}

fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// How much of `kept` is at the beginning and how much at the end.
fn ends(strategy: TruncateStrategy, kept: usize) -> (usize, usize) {
    match strategy {
        TruncateStrategy::Start => (0, kept),
        TruncateStrategy::Middle => (kept.div_ceil(2), kept / 2),
        TruncateStrategy::End | TruncateStrategy::Never => (kept, 0),
    }
}

/// Where the lines of a text begin, and its end.
struct LineStarts(Vec<usize>);

impl LineStarts {
    fn new(text: &str) -> LineStarts {
        let mut starts = vec![0];
        starts.extend(memchr_iter(b'\n', text.as_bytes()).map(|end| end + 1));
        if starts.last() != Some(&text.len()) {
            starts.push(text.len());
        }
        LineStarts(starts)
    }

    fn count(&self) -> usize {
        self.0.len() - 1
    }

    fn cut(&self, strategy: TruncateStrategy, kept: usize) -> Cut {
        let (head, tail) = ends(strategy, kept.min(self.count()));
        Cut { head: self.0[head], tail: self.0[self.count() - tail] }
    }
}

/// The element around a file.
struct Wrapper {
    open: String,
    close: String,
}

impl Wrapper {
    fn new(role: Role, path: &str) -> Wrapper {
        let name = role.name();
        let open = match role {
            Role::Context => format!("<{name} path=\"{}\">\n", fence::name(path)),
            _ => format!("<{name}>\n"),
        };
        Wrapper { open, close: format!("</{name}>\n") }
    }

    fn around(&self, text: &str) -> String {
        let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        [&self.open, text, end, &self.close].concat()
    }
}

/// Foreign text that neither ends its wrapper nor opens another one. Only the tags of roles and fences are escaped:
/// code with every `<` escaped would be longer, and an agent could not quote it back.
fn inert(text: &str) -> String {
    // Invisible characters go first: they could hide in a tag.
    let text = printable(text);
    let (mut safe, mut from) = (String::with_capacity(text.len()), 0);
    for at in memchr_iter(b'<', text.as_bytes()) {
        if is_our_tag(&text[..at], &text[at + 1..]) {
            safe.push_str(&text[from..at]);
            safe.push_str("&lt;");
            from = at + 1;
        }
    }
    safe.push_str(&text[from..]);
    safe
}

/// Whether a `<` between these texts begins the tag of a role or a fence, in any case and with any spaces.
fn is_our_tag(before: &str, after: &str) -> bool {
    let word = after.trim_start_matches(|c: char| c.is_whitespace() || c == '/');
    let mut names = Role::ALL.map(Role::name).into_iter().chain(Fence::ALL.map(Fence::tag));
    let Some(name) = names.find(|name| starts_with_word(word, name)) else { return false };
    // `Vec<User>` is a type: the name is capitalised and directly between a name and the bracket.
    let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let is_type = before.ends_with(is_name) && after.len() == word.len() && is_capitalised(word, name);
    !is_type
}

fn starts_with_word(text: &str, word: &str) -> bool {
    let goes_on = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    text.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word))
        && !text[word.len()..].starts_with(goes_on)
}

fn is_capitalised(text: &str, word: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_uppercase()) && text[1..].starts_with(&word[1..])
}
