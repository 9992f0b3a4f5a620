//! What a memory says that a repository can confirm: files, symbols, branches, packages and the like.
//!
//! Extraction only reads text. Whether a claim holds is decided by [`crate::settle`] from facts that the engine
//! collects. What is not plainly a name of something in the repository is no claim: a false alarm costs more than a
//! miss.

mod markdown;
mod name;
mod stance;
mod url;

pub use name::{is_prose_file, may_name_version, version_numbers};
pub use url::{NotAsked, UrlHost, is_public, public_host};

use crate::json::as_text;
use crate::memory::{Body, Category, Memory};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// More claims of one memory are not checked: it is a listing and not a statement.
const CLAIMS_MAX: usize = 500;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ClaimKind {
    File,
    Folder,
    Symbol,
    Branch,
    Package,
    /// A tool with its version, such as `Node 22`.
    Version,
    Commit,
    /// A script of `package.json`, a Make target or a recipe of just.
    Command,
    Url,
}

impl ClaimKind {
    pub const ALL: [ClaimKind; 9] = [
        ClaimKind::File,
        ClaimKind::Folder,
        ClaimKind::Symbol,
        ClaimKind::Branch,
        ClaimKind::Package,
        ClaimKind::Version,
        ClaimKind::Commit,
        ClaimKind::Command,
        ClaimKind::Url,
    ];

    pub fn name(self) -> &'static str {
        match self {
            ClaimKind::File => "file",
            ClaimKind::Folder => "folder",
            ClaimKind::Symbol => "symbol",
            ClaimKind::Branch => "branch",
            ClaimKind::Package => "package",
            ClaimKind::Version => "version",
            ClaimKind::Commit => "commit",
            ClaimKind::Command => "command",
            ClaimKind::Url => "url",
        }
    }

    pub fn parse(name: &str) -> Option<ClaimKind> {
        ClaimKind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Whether it names a place in the tree.
    pub fn is_path(self) -> bool {
        matches!(self, ClaimKind::File | ClaimKind::Folder)
    }
}

impl fmt::Display for ClaimKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

as_text!(ClaimKind, ClaimKind::parse);

/// Whether a text says that something exists, is planned, is negated or is gone. In the order in which one mention
/// outweighs another: what is called gone anywhere in a memory is not reported as missing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stance {
    /// "do not call it": nothing is claimed.
    Negated,
    /// "will be added", or an ordinary word that may be a name: a claim once it was seen.
    Tentative,
    #[default]
    Plain,
    /// Its sentence is about something that is gone or missing, and may mean this.
    Doubtful,
    /// "was removed", "renamed from", struck out: nothing is claimed.
    Gone,
}

/// The part of a memory that a claim is in. In the order of their weight for a reader.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ClaimPlace {
    #[default]
    Body,
    /// The field that says what to do.
    Instruction,
    Title,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    pub kind: ClaimKind,
    /// As the memory has it, without a line number behind a path and without `()` behind a symbol.
    pub text: String,
    /// The lines of the memory's file that have it, from 1.
    pub lines: Vec<usize>,
    pub stance: Stance,
    pub place: ClaimPlace,
}

/// The claims of a memory whose file has this text, in the order of the text.
pub fn claims_of(memory: &Memory, file_text: &str) -> Vec<Claim> {
    let mut found = Claims::default();
    found.add_text(&memory.title, 0, ClaimPlace::Title);
    match &memory.body {
        Body::Prose(text) => found.add_text(text, first_line(file_text, text), ClaimPlace::Body),
        Body::Fields(fields) => {
            let instruction = memory.kind.category().map_or("", instruction_field);
            for (key, value) in fields.iter() {
                let place = if key == instruction { ClaimPlace::Instruction } else { ClaimPlace::Body };
                value.each_text(&mut |_, text| found.add_text(text, 0, place));
            }
        }
    }
    for path in &memory.about {
        found.add_path(path);
    }
    found.finish(file_text)
}

/// The claims of a Markdown text that starts at this line of its file.
pub fn claims_of_markdown(text: &str, first_line: usize) -> Vec<Claim> {
    let mut found = Claims::default();
    found.add_text(text, first_line, ClaimPlace::Body);
    found.list
}

/// Whether a path of the repository can be written into any memory: it reads back as one claim, and no format takes
/// its beginning for something else. The names in a repository are anybody's.
pub fn is_writable_path(kind: ClaimKind, path: &str) -> bool {
    let written = if kind == ClaimKind::Folder { format!("{path}/") } else { path.to_owned() };
    let is_plain_start = path.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '.' | '_'));
    is_plain_start && name::path_in_code(&written).is_some_and(|(_, read)| read == path)
}

/// The field of a record that says what to do.
pub fn instruction_field(category: Category) -> &'static str {
    match category {
        Category::SessionSummary => "next_actions",
        Category::Decision => "decision",
        Category::Runbook => "steps",
        Category::Constraint => "rule",
        Category::TechDebt => "suggested_fix",
        Category::Preference => "value",
    }
}

fn first_line(file_text: &str, body: &str) -> usize {
    let start = body.lines().next().and_then(|_| file_text.find(body));
    start.map_or(0, |start| 1 + file_text[..start].matches('\n').count())
}

/// Claims by kind and text, each once.
#[derive(Default)]
struct Claims {
    list: Vec<Claim>,
    known: BTreeMap<(ClaimKind, String), usize>,
}

impl Claims {
    /// `first_line` is 0 if the lines are not known yet.
    fn add_text(&mut self, text: &str, first_line: usize, place: ClaimPlace) {
        markdown::each_mention(text, &mut |mention| {
            let lines = if first_line == 0 { Vec::new() } else { vec![first_line + mention.line] };
            self.add(Claim { kind: mention.kind, text: mention.text, lines, stance: mention.stance, place });
        });
    }

    /// A path from a field that has only paths.
    fn add_path(&mut self, path: &str) {
        if let Some((kind, text)) = name::path_in_code(path) {
            let (lines, stance, place) = (Vec::new(), Stance::Plain, ClaimPlace::Body);
            self.add(Claim { kind, text: text.to_owned(), lines, stance, place });
        }
    }

    fn add(&mut self, claim: Claim) {
        let key = (claim.kind, claim.text.clone());
        match self.known.get(&key) {
            Some(at) => {
                let known = &mut self.list[*at];
                known.stance = known.stance.max(claim.stance);
                known.place = known.place.max(claim.place);
                let is_new = |line: &usize| known.lines.last() != Some(line);
                let lines: Vec<usize> = claim.lines.into_iter().filter(is_new).collect();
                known.lines.extend(lines);
            }
            None if self.list.len() < CLAIMS_MAX => {
                self.known.insert(key, self.list.len());
                self.list.push(claim);
            }
            None => {}
        }
    }

    /// Fields of a record have no lines of their own: theirs are those of the file with the claim's text.
    fn finish(mut self, file_text: &str) -> Vec<Claim> {
        if self.list.iter().all(|claim| !claim.lines.is_empty()) {
            return self.list;
        }
        for claim in self.list.iter_mut().filter(|claim| claim.lines.is_empty()) {
            let line = file_text.find(claim.text.as_str());
            claim.lines.extend(line.map(|at| 1 + file_text[..at].matches('\n').count()));
        }
        self.list
    }
}

#[cfg(test)]
mod tests;
