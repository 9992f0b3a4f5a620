//! Collects the paths that code names: imports in full, and calls resolved through them.

use std::collections::BTreeMap;

/// One path such as `std::fs::write`, or a call such as `println!` or `.exists()`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Named {
    pub(super) path: Vec<String>,
    pub(super) line: usize,
    /// A lone word is a path in an import only; elsewhere it may be any variable.
    pub(super) imported: bool,
}

/// `module` is the path of the code inside its crate; `super` and `self` are resolved against it.
pub(super) fn named(code: &str, module: &[String]) -> Vec<Named> {
    let tokens = tokens(code);
    let mut named = Vec::new();
    let mut aliases = BTreeMap::new();
    let mut rest = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let follows = tokens.get(at + 1).map(|(token, _)| *token);
        // `impl Trait + use<'a>` imports nothing.
        if tokens[at].0 == "use" && follows != Some("<") {
            let length =
                tokens[at..].iter().position(|(token, _)| *token == ";").unwrap_or(tokens.len() - at);
            let mut tree =
                Tree { tokens: &tokens[at + 1..at + length], at: 0, module, aliases: &mut aliases };
            tree.branch(&[], &mut named);
            at += length;
        } else {
            rest.push(tokens[at]);
        }
        at += 1;
    }
    chains(&rest, module, &aliases, &mut named);
    named
}

/// Words, `::`, and single marks, each with its line.
pub(super) fn tokens(code: &str) -> Vec<(&str, usize)> {
    let mut tokens = Vec::new();
    for (index, line) in code.lines().enumerate() {
        let mut rest = line.trim_start();
        while let Some(first) = rest.chars().next() {
            let length = if is_word(first) {
                rest.find(|c| !is_word(c)).unwrap_or(rest.len())
            } else if rest.starts_with("::") {
                2
            } else {
                first.len_utf8()
            };
            tokens.push((&rest[..length], index + 1));
            rest = rest[length..].trim_start();
        }
    }
    tokens
}

pub(super) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The tree of one `use` statement.
struct Tree<'a> {
    tokens: &'a [(&'a str, usize)],
    at: usize,
    module: &'a [String],
    aliases: &'a mut BTreeMap<String, Vec<String>>,
}

impl Tree<'_> {
    fn branch(&mut self, prefix: &[String], named: &mut Vec<Named>) {
        let mut path = prefix.to_vec();
        while let Some((token, line)) = self.tokens.get(self.at).copied() {
            self.at += 1;
            match token {
                "::" => {}
                "{" => return self.branches(&path, named),
                "," | "}" => {
                    self.at -= 1;
                    break;
                }
                "as" => {
                    let alias = self.tokens.get(self.at).map_or("_", |(alias, _)| alias);
                    self.at += 1;
                    let full = resolved(&path, self.module);
                    self.aliases.insert(alias.to_owned(), full.clone());
                    named.push(Named { path: full, line, imported: true });
                    return;
                }
                // `use a::b::{self}` names `a::b`.
                "self" if !path.is_empty() => {}
                word => path.push(word.to_owned()),
            }
        }
        if path.len() > prefix.len() || !prefix.is_empty() {
            let line = self.tokens.get(self.at.saturating_sub(1)).map_or(0, |(_, line)| *line);
            let full = resolved(&path, self.module);
            if let Some(last) = full.last() {
                self.aliases.insert(last.clone(), full.clone());
            }
            named.push(Named { path: full, line, imported: true });
        }
    }

    fn branches(&mut self, prefix: &[String], named: &mut Vec<Named>) {
        while let Some((token, _)) = self.tokens.get(self.at) {
            match *token {
                "}" => {
                    self.at += 1;
                    return;
                }
                "," => self.at += 1,
                _ => self.branch(prefix, named),
            }
        }
    }
}

/// Paths written out in code, macros with their `!`, and methods that are called without arguments.
fn chains(
    tokens: &[(&str, usize)],
    module: &[String],
    aliases: &BTreeMap<String, Vec<String>>,
    named: &mut Vec<Named>,
) {
    let mut at = 0;
    while at < tokens.len() {
        let (token, line) = tokens[at];
        if !token.starts_with(is_word) {
            at += 1;
            continue;
        }
        let mark = |at: usize| tokens.get(at).map(|(token, _)| *token);
        if at > 0 && (mark(at - 1), mark(at + 1), mark(at + 2)) == (Some("."), Some("("), Some(")")) {
            named.push(Named { path: vec![format!(".{token}()")], line, imported: false });
            at += 1;
            continue;
        }
        let mut path = vec![token.to_owned()];
        at += 1;
        while at + 1 < tokens.len() && tokens[at].0 == "::" && tokens[at + 1].0.starts_with(is_word) {
            path.push(tokens[at + 1].0.to_owned());
            at += 2;
        }
        // `a != b` is not a macro call.
        if mark(at) == Some("!") && mark(at + 1) != Some("=") {
            let name = path.pop().unwrap_or_default();
            named.push(Named { path: vec![format!("{name}!")], line, imported: false });
            continue;
        }
        let path = match aliases.get(&path[0]) {
            Some(full) if path.len() > 1 => [full.as_slice(), &path[1..]].concat(),
            _ => resolved(&path, module),
        };
        named.push(Named { path, line, imported: false });
    }
}

/// `super::x` seen from its module, as `crate::…`.
fn resolved(path: &[String], module: &[String]) -> Vec<String> {
    let ups = path.iter().take_while(|segment| *segment == "super").count();
    let here = usize::from(path.first().is_some_and(|segment| segment == "self"));
    if ups == 0 && here == 0 {
        return path.to_vec();
    }
    let kept = module.len().saturating_sub(ups);
    let mut full = vec!["crate".to_owned()];
    full.extend_from_slice(&module[..kept]);
    full.extend_from_slice(&path[ups.max(here)..]);
    full
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(code: &str, module: &[&str]) -> Vec<String> {
        let module: Vec<String> = module.iter().map(|part| (*part).to_owned()).collect();
        let named = named(code, &module);
        named
            .iter()
            .filter(|n| n.imported || n.path.len() > 1 || n.path[0].ends_with('!'))
            .map(|n| n.path.join("::"))
            .collect()
    }

    #[test]
    fn imports_are_spelt_out() {
        for (code, expected) in [
            ("use std::fs;", "std::fs"),
            ("use std::{fs, io::{self, Read as _}};", "std::fs std::io std::io::Read"),
            ("use std::time::{Duration, SystemTime};", "std::time::Duration std::time::SystemTime"),
            ("pub(crate) use std::env::*;", "std::env::*"),
            ("use ::std::fs as disk; fn f() { disk::write(a, b) }", "std::fs std::fs::write"),
            ("use std::fs; fn f() { fs::write(a, b) }", "std::fs std::fs::write"),
            ("fn f() { std::fs::read(x) }", "std::fs::read"),
            ("use clap::Parser;", "clap::Parser"),
            ("println!(); std::eprintln!(); a != b", "println! eprintln!"),
            ("self.index.open(); let fs = 1;", ""),
            ("fn f() -> impl A + use<'_> { println!() }", "println!"),
        ] {
            assert_eq!(paths(code, &[]).join(" "), expected, "{code}");
        }
    }

    #[test]
    fn relative_paths_are_seen_from_their_module() {
        for (code, expected) in [
            ("use super::recall::Hit;", "crate::recall::Hit"),
            ("use super::super::recall;", "crate::recall"),
            ("use self::write::x;", "crate::dialect::write::x"),
            ("fn f() { super::recall::rank() }", "crate::recall::rank"),
        ] {
            let module =
                if code.contains("super::super") { vec!["dialect", "records"] } else { vec!["dialect"] };
            assert_eq!(paths(code, &module), [expected], "{code}");
        }
    }
}
