//! Summaries: text that stands for files in context, with links to its sources.
//!
//! lorelane has no model. A summary is the text that a model gives, or an extract of what a reader looks for first:
//! headings, errors, decisions, numbers, and the first and last lines. Digests of the sources make it a fact whether a
//! summary is stale.

use crate::digest::short_digest;
use crate::text::{cut, one_line};
use crate::time::Timestamp;
use crate::yaml::YamlCollection;
use std::fmt::Write as _;

/// A file with more lines is offered for a summary.
pub const SUMMARIZE_LINES: u32 = 500;
const HASH_DIGITS: usize = 32;
const LINE_MAX: usize = 160;
/// Lines of one section of an extract.
const SECTION_MAX: usize = 12;
const ENDS: usize = 5;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SummaryStyle {
    #[default]
    Bullet,
    Narrative,
    Schema,
    Diff,
    Decision,
}

impl SummaryStyle {
    pub const ALL: [SummaryStyle; 5] = [
        SummaryStyle::Bullet,
        SummaryStyle::Narrative,
        SummaryStyle::Schema,
        SummaryStyle::Diff,
        SummaryStyle::Decision,
    ];

    pub fn name(self) -> &'static str {
        match self {
            SummaryStyle::Bullet => "bullet",
            SummaryStyle::Narrative => "narrative",
            SummaryStyle::Schema => "schema",
            SummaryStyle::Diff => "diff",
            SummaryStyle::Decision => "decision",
        }
    }

    pub fn parse(name: &str) -> Option<SummaryStyle> {
        SummaryStyle::ALL.into_iter().find(|style| style.name() == name)
    }
}

/// Who wrote a summary's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SummaryGenerator {
    Model,
    Extractive,
}

impl SummaryGenerator {
    pub fn name(self) -> &'static str {
        match self {
            SummaryGenerator::Model => "model",
            SummaryGenerator::Extractive => "extractive",
        }
    }
}

/// A source of a summary, with the digest of the text that was summarized.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SummarySource {
    pub path: String,
    pub hash: String,
}

impl SummarySource {
    pub fn of(path: &str, text: &str) -> SummarySource {
        SummarySource { path: path.to_owned(), hash: short_digest(text, HASH_DIGITS) }
    }
}

/// What a summary file says about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SummaryHead {
    pub sources: Vec<SummarySource>,
    pub style: SummaryStyle,
    pub generator: SummaryGenerator,
    pub created: Timestamp,
    pub tokens_before: u64,
    pub tokens_after: u64,
}

impl SummaryHead {
    /// The whole file. Links in `References` are relative to the summary's folder: `to_project` leads from there to the
    /// project's root. Without references, the frontmatter still names the sources.
    pub fn render(&self, body: &str, references: Option<&str>) -> String {
        let quoted = |text: &str| serde_json::to_string(text).unwrap_or_default();
        let mut text = "---\nsummary_of:\n".to_owned();
        for source in &self.sources {
            let _ = writeln!(text, "  - {}", quoted(&source.path));
        }
        text.push_str("source_hashes:\n");
        for source in &self.sources {
            let _ = writeln!(text, "  - {}", quoted(&source.hash));
        }
        let _ = write!(
            text,
            "created: \"{}\"\nstyle: {}\ngenerator: {}\ntokens_before: {}\ntokens_after: {}\n---\n\n{}\n",
            self.created,
            self.style.name(),
            self.generator.name(),
            self.tokens_before,
            self.tokens_after,
            body.trim_end(),
        );
        if let Some(to_project) = references {
            text.push_str("\n---\nReferences:\n");
            for source in &self.sources {
                let name = source.path.rsplit('/').next().unwrap_or(&source.path);
                let _ = writeln!(text, "- [{}]({to_project}{})", one_line(name), link(&source.path));
            }
        }
        text
    }

    /// Reads the frontmatter; `None` if the file is not a summary.
    pub fn read(text: &str) -> Option<SummaryHead> {
        let rest = text.strip_prefix("---\n").or_else(|| text.strip_prefix("---\r\n"))?;
        let end = rest.find("\n---")?;
        let fields = YamlCollection::document(&rest[..end + 1])?;
        let paths = fields.list(&["summary_of"])?;
        let hashes = fields.list(&["source_hashes"]).unwrap_or_default();
        let hash = |at: usize| hashes.get(at).cloned().unwrap_or_default();
        let number = |key: &str| fields.scalar(&[key]).and_then(|text| text.parse().ok()).unwrap_or(0);
        let sources = paths.into_iter().enumerate().map(|(at, path)| SummarySource { path, hash: hash(at) });
        Some(SummaryHead {
            sources: sources.collect(),
            style: fields.scalar(&["style"]).and_then(|name| SummaryStyle::parse(&name)).unwrap_or_default(),
            generator: match fields.scalar(&["generator"]).as_deref() {
                Some("extractive") => SummaryGenerator::Extractive,
                _ => SummaryGenerator::Model,
            },
            created: Timestamp::parse(&fields.scalar(&["created"])?)?.0,
            tokens_before: number("tokens_before"),
            tokens_after: number("tokens_after"),
        })
    }

    /// The sources whose text is another one now; `read` returns the text, or `None` for a file that is gone. Of a
    /// source without a digest, as other programs write them, nobody knows.
    pub fn stale_sources(&self, mut read: impl FnMut(&str) -> Option<String>) -> Vec<&str> {
        let is_other = |source: &&SummarySource| {
            let is_other = |text: String| short_digest(&text, HASH_DIGITS) != source.hash;
            read(&source.path).is_none_or(|text| !source.hash.is_empty() && is_other(text))
        };
        self.sources.iter().filter(is_other).map(|source| source.path.as_str()).collect()
    }
}

/// The body of a summary, without frontmatter and references.
pub fn summary_body(text: &str) -> &str {
    let rest = text.strip_prefix("---\n").and_then(|rest| rest.find("\n---\n").map(|end| &rest[end + 5..]));
    let body = rest.unwrap_or(text);
    body.find("\n---\nReferences:").map_or(body, |end| &body[..end]).trim()
}

/// The text of a summary after one of its sources was moved: the frontmatter and the links name the new path, and
/// every other byte stays. `to_project` leads from the summary's folder to the project's root.
pub fn with_moved_source(text: &str, from: &str, to: &str, to_project: &str) -> String {
    let quoted = |path: &str| serde_json::to_string(path).unwrap_or_default();
    let target = |path: &str| format!("]({to_project}{})", link(path));
    let (old_item, new_item) = (quoted(from), quoted(to));
    let mut fences = 0;
    let lines = text.split_inclusive('\n').map(|line| {
        fences += usize::from(line.trim_end() == "---");
        let item = line.trim_start().strip_prefix("- ").map(str::trim_end);
        if fences == 1 && item.is_some_and(|item| item == old_item || item == from) {
            let item = item.unwrap_or_default();
            return line.replacen(item, &new_item, 1);
        }
        line.replace(&target(from), &target(to))
    });
    lines.collect()
}

/// Where an extract keeps what a model wrote before.
const EARLIER: &str = "\n## Earlier summary (stale)\n\n";

/// An extract with the text that it replaces.
pub fn with_earlier(extract: &str, earlier: &str) -> String {
    format!("{}\n{EARLIER}{earlier}", extract.trim_end())
}

/// What a model wrote in this summary, or in the one that it replaced.
pub fn earlier_text(text: &str) -> Option<&str> {
    let body = summary_body(text);
    match SummaryHead::read(text)?.generator {
        SummaryGenerator::Model => Some(body),
        SummaryGenerator::Extractive => body.split_once(EARLIER).map(|(_, earlier)| earlier),
    }
}

/// A path as the target of a Markdown link.
fn link(path: &str) -> String {
    path.replace('%', "%25").replace(' ', "%20").replace('(', "%28").replace(')', "%29")
}

/// An extract of files, each under its name. The same text gives the same extract.
pub fn extract(files: &[(&str, &str)]) -> String {
    let mut text = match files {
        [_] => String::new(),
        files => format!("## Extract of {} files\n", files.len()),
    };
    for (path, content) in files {
        let lines = content.lines().count();
        let noun = if lines == 1 { "line" } else { "lines" };
        let _ = writeln!(text, "\n### {} ({lines} {noun})", cut(&one_line(path), LINE_MAX));
        for (title, lines) in sections(content) {
            if lines.is_empty() {
                continue;
            }
            let _ = writeln!(text, "\n{title}:");
            lines.iter().for_each(|line| {
                let _ = writeln!(text, "- {line}");
            });
        }
    }
    text.trim_start().to_owned()
}

fn sections(content: &str) -> [(&'static str, Vec<String>); 6] {
    let lines: Vec<String> =
        content.lines().map(|line| cut(&one_line(line), LINE_MAX)).filter(|line| !line.is_empty()).collect();
    let pick = |wanted: fn(&str) -> bool| {
        let mut picked: Vec<String> = Vec::new();
        for line in lines.iter().filter(|line| wanted(line)) {
            if picked.len() < SECTION_MAX && !picked.contains(line) {
                picked.push(line.clone());
            }
        }
        picked
    };
    let first: Vec<String> = lines.iter().take(ENDS).cloned().collect();
    let last: Vec<String> = lines.iter().skip(ENDS).rev().take(ENDS).rev().cloned().collect();
    [
        (
            "Headings",
            pick(|line| line.starts_with("# ") || line.starts_with("## ") || line.starts_with("### ")),
        ),
        ("Errors", pick(is_error)),
        ("Decisions", pick(is_decision)),
        ("Numbers", pick(has_figure)),
        ("First lines", first),
        ("Last lines", last),
    ]
}

fn has_word(line: &str, words: &[&str]) -> bool {
    let lower = line.to_ascii_lowercase();
    lower.split(|c: char| !c.is_alphanumeric()).any(|word| words.contains(&word))
}

fn is_error(line: &str) -> bool {
    has_word(
        line,
        &["error", "errors", "failed", "failure", "panic", "panicked", "exception", "fatal", "traceback"],
    )
}

fn is_decision(line: &str) -> bool {
    has_word(line, &["decided", "decision", "chose", "chosen", "agreed", "instead", "conclusion", "must"])
}

/// Whether a line reports a figure: a number of two digits or more, a share or an amount, in a line of words.
fn has_figure(line: &str) -> bool {
    let words = line.split_whitespace().filter(|word| word.chars().any(char::is_alphabetic)).count();
    let is_figure = |word: &str| {
        let digits = word.chars().filter(char::is_ascii_digit).count();
        digits >= 2 && word.chars().all(|c| c.is_ascii_digit() || ",.%$€:+-x".contains(c))
            || word.ends_with('%')
    };
    words >= 2 && line.split_whitespace().any(is_figure)
}
