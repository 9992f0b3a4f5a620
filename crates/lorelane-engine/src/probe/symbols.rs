//! Finds many symbols in many files: one pass over each file, whatever their number.

use lorelane_core::claim::is_prose_file;
use lorelane_core::settle::Site;
use memchr::memchr;
use std::collections::{HashMap, HashSet};

/// A NUL among the first bytes makes a file binary, as git has it.
const BINARY_BYTES: usize = 8_000;

/// Words that stand before the name they define, in the ten languages that most repositories have.
const DEFINES: &[&str] = &[
    "class",
    "const",
    "def",
    "enum",
    "fn",
    "func",
    "function",
    "fun",
    "interface",
    "let",
    "macro_rules!",
    "mod",
    "module",
    "namespace",
    "object",
    "protocol",
    "record",
    "static",
    "struct",
    "trait",
    "type",
    "union",
    "val",
    "var",
];

/// Where a symbol is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Word {
    InCode(Site),
    InProse(Site),
    Nowhere,
}

#[derive(Debug, Default)]
struct Found {
    code: Option<Site>,
    is_defined: bool,
    prose: Option<Site>,
}

#[derive(Debug)]
pub(super) struct SymbolSites<'n> {
    found: HashMap<&'n [u8], Found>,
    /// By the first byte: a bit for each length that a wanted symbol has. Most words end here.
    lengths: Box<[u128; 256]>,
    missing: usize,
}

impl<'n> SymbolSites<'n> {
    pub(super) fn new(names: HashSet<&'n str>) -> SymbolSites<'n> {
        let mut lengths = Box::new([0_u128; 256]);
        let names = names.into_iter().filter(|name| !name.is_empty() && name.len() < 128);
        let found: HashMap<&[u8], Found> = names.map(|name| (name.as_bytes(), Found::default())).collect();
        for name in found.keys() {
            lengths[usize::from(name[0])] |= 1 << name.len();
        }
        let missing = found.len();
        SymbolSites { found, lengths, missing }
    }

    /// Whether every symbol was found in code.
    pub(super) fn has_all(&self) -> bool {
        self.missing == 0
    }

    pub(super) fn find(&self, name: &str) -> Word {
        match self.found.get(name.as_bytes()) {
            Some(Found { code: Some(site), .. }) => Word::InCode(site.clone()),
            Some(Found { prose: Some(site), .. }) => Word::InProse(site.clone()),
            _ => Word::Nowhere,
        }
    }

    /// Reads a file of the repository.
    pub(super) fn read(&mut self, path: &str, bytes: &[u8]) {
        if memchr(0, &bytes[..bytes.len().min(BINARY_BYTES)]).is_some() {
            return;
        }
        let is_prose = is_prose_file(path);
        let mut at = 0;
        while at < bytes.len() {
            if !is_word(bytes[at]) {
                at += 1;
                continue;
            }
            let start = at;
            while at < bytes.len() && is_word(bytes[at]) {
                at += 1;
            }
            let length = at - start;
            if length < 128 && self.lengths[usize::from(bytes[start])] & (1 << length) != 0 {
                self.take(path, bytes, start, at, is_prose);
            }
        }
    }

    fn take(&mut self, path: &str, bytes: &[u8], start: usize, end: usize, is_prose: bool) {
        let Some(found) = self.found.get_mut(&bytes[start..end]) else { return };
        let site = || {
            let line = 1 + memchr::memchr_iter(b'\n', &bytes[..start]).count();
            Site { file: path.to_owned(), line: Some(line) }
        };
        if is_prose {
            found.prose.get_or_insert_with(site);
        } else if !found.is_defined {
            let is_defined = is_definition(&bytes[..start]);
            if found.code.is_none() {
                self.missing -= 1;
            }
            if is_defined || found.code.is_none() {
                found.code = Some(site());
            }
            found.is_defined = is_defined;
        }
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Whether the text before a name ends with a word that defines it.
fn is_definition(before: &[u8]) -> bool {
    let before = before.trim_ascii_end();
    let begin = before.iter().rposition(|byte| !(is_word(*byte) || *byte == b'!')).map_or(0, |at| at + 1);
    std::str::from_utf8(&before[begin..]).is_ok_and(|word| DEFINES.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_words_are_found_and_their_definition_is_preferred() {
        let names = ["next_token", "parseAll", "TokenKind", "Absent", "only_here"];
        let mut sites = SymbolSites::new(HashSet::from(names));
        sites.read("README.md", b"next_token is described, only_here too");
        sites.read("a.rs", b"use x;\nnext_token();\nmy_next_token();\nparseAllNow()");
        sites.read("b.rs", b"\npub fn next_token() {}\nenum TokenKind {}\n");
        sites.read("c.bin", b"\0parseAll");
        let shown = |name: &str| match sites.find(name) {
            Word::InCode(site) => format!("code {}:{}", site.file, site.line.unwrap_or_default()),
            Word::InProse(site) => format!("prose {}:{}", site.file, site.line.unwrap_or_default()),
            Word::Nowhere => "nowhere".to_owned(),
        };
        let all = names.map(shown);
        assert_eq!(all, ["code b.rs:2", "nowhere", "code b.rs:3", "nowhere", "prose README.md:1"]);
        assert!(!sites.has_all());
    }
}
