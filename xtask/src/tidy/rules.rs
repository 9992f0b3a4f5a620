//! The import rules between crates and modules, as one table.
//!
//! Core decides, engine does, faces show: each row is a sentence of `ARCHITECTURE.md` that the
//! compiler does not enforce.

use super::Fault;
use super::codebase::Codebase;
use super::uses::{Named, named};

#[derive(Debug)]
pub enum Rule {
    /// Code below `within` uses none of `forbids`, except in the files of `but_in`. `.name()` is a call of a
    /// method without arguments on any value.
    Forbid {
        within: &'static str,
        forbids: &'static [&'static str],
        but_in: &'static [&'static str],
        why: &'static str,
    },
    /// The modules below `within` do not use one another.
    Apart { within: &'static str, modules: &'static [&'static str], why: &'static str },
}

pub const RULES: &[Rule] = &[
    Rule::Forbid {
        within: "crates/lorelane-core/src/",
        forbids: &[
            "std::fs",
            "std::env",
            "std::time::SystemTime",
            "std::time::Instant",
            "std::thread",
            "std::net",
            "std::process",
            "print!",
            "println!",
            "eprint!",
            "eprintln!",
        ],
        but_in: &[],
        why: "core performs no effect and reads no clock: take the value as an argument",
    },
    Rule::Apart {
        within: "crates/lorelane-core/src/",
        modules: &["recall", "triage", "audit", "working_set", "dialect"],
        why: "these parts of the core meet only in the engine: move what both need beside them",
    },
    Rule::Forbid {
        within: "crates/lorelane-engine/src/",
        forbids: &[
            "print!",
            "println!",
            "eprint!",
            "eprintln!",
            "clap",
            "std::env::args",
            "std::env::args_os",
        ],
        but_in: &[],
        why: "the engine prints nothing and parses no arguments: return it to the face",
    },
    Rule::Forbid {
        within: "crates/lorelane-engine/src/",
        forbids: &["std::process::Command"],
        // Git, the user's editor, the hooks that `doctor` times, and curl for `audit --urls`.
        but_in: &[
            "crates/lorelane-engine/src/git.rs",
            "crates/lorelane-engine/src/git/call.rs",
            "crates/lorelane-engine/src/drafts.rs",
            "crates/lorelane-engine/src/probe/urls.rs",
            "crates/lorelane-engine/src/setup/latency.rs",
        ],
        why: "a program is run by the module that owns it: ask it",
    },
    Rule::Forbid {
        within: "crates/lorelane-engine/src/",
        forbids: &[
            "std::fs",
            "rustix::fs",
            ".canonicalize()",
            ".exists()",
            ".is_dir()",
            ".is_file()",
            ".is_symlink()",
            ".metadata()",
            ".read_dir()",
            ".read_link()",
            ".symlink_metadata()",
            ".try_exists()",
            "std::path::Path::canonicalize",
            "std::path::Path::exists",
            "std::path::Path::is_dir",
            "std::path::Path::is_file",
        ],
        // The real disk, and which file SQLite has opened. SQLite's own file access, and what git and an
        // editor do in their processes, are not our calls.
        but_in: &[
            "crates/lorelane-engine/src/disk/real.rs",
            "crates/lorelane-engine/src/disk/below.rs",
            "crates/lorelane-engine/src/index/pool.rs",
        ],
        why: "every effect on files goes through `Disk`: a simulation sees it, and no pipe or link surprises it",
    },
    Rule::Forbid {
        within: "crates/lorelane/src/",
        forbids: &[
            "std::fs::read",
            "std::fs::read_to_string",
            "std::fs::File::open",
            "std::process::Command",
        ],
        // The tour runs its own commands.
        but_in: &["crates/lorelane/src/cli/tour.rs"],
        why: "a face reads files and runs programs through the engine",
    },
    Rule::Apart {
        within: "crates/lorelane-engine/src/",
        modules: &["store", "index"],
        why: "store and index meet only in Workspace",
    },
    Rule::Forbid {
        within: "crates/lorelane/src/",
        forbids: &["rusqlite"],
        but_in: &[],
        why: "a face holds no rules and asks the engine",
    },
    Rule::Forbid {
        within: "crates/lorelane/src/",
        forbids: &[
            "std::fs::write",
            "std::fs::copy",
            "std::fs::File::create",
            "std::fs::File::create_new",
            "std::fs::OpenOptions",
            "std::fs::DirBuilder",
            "std::fs::create_dir",
            "std::fs::create_dir_all",
            "std::fs::rename",
            "std::fs::remove_file",
            "std::fs::remove_dir",
            "std::fs::remove_dir_all",
        ],
        // The tour creates and removes a scratch folder around commands that run as processes. No other face
        // touches files itself: compat removes its input through the workspace's disk.
        but_in: &["crates/lorelane/src/cli/tour.rs"],
        why: "a face writes through the engine",
    },
    Rule::Forbid {
        within: "crates/lorelane/src/",
        forbids: &["tokio", "axum", "http_body", "rmcp"],
        but_in: &[
            "crates/lorelane/src/mcp/bridge.rs",
            "crates/lorelane/src/mcp/http.rs",
            "crates/lorelane/src/mcp/log.rs",
            "crates/lorelane/src/mcp/message.rs",
            "crates/lorelane/src/mcp/server.rs",
            "crates/lorelane/src/mcp/sessions.rs",
            "crates/lorelane/src/mcp/stdio.rs",
            "crates/lorelane/src/serve/connections.rs",
            "crates/lorelane/src/serve/http.rs",
            "crates/lorelane/src/serve/embed.rs",
            "crates/lorelane/src/serve/mod.rs",
            "crates/lorelane/src/serve/watch.rs",
        ],
        why: "only the server's side of the protocol knows its crates: hooks and commands start without a runtime",
    },
    Rule::Forbid {
        within: "crates/lorelane/src/",
        forbids: &["serde_json"],
        // `view` writes documents; the server escapes them for a model, and reads messages.
        but_in: &[
            "crates/lorelane/src/mcp/answer.rs",
            "crates/lorelane/src/mcp/bridge.rs",
            "crates/lorelane/src/mcp/hints.rs",
            "crates/lorelane/src/mcp/http.rs",
            "crates/lorelane/src/mcp/message.rs",
            "crates/lorelane/src/mcp/server.rs",
            "crates/lorelane/src/mcp/stdio.rs",
            "crates/lorelane/src/view/write.rs",
        ],
        why: "what a machine reads is a type of `view`, which writes it: no JSON is put together by hand",
    },
    Rule::Forbid {
        within: "crates/lorelane/src/serve/",
        forbids: &["crate::cli", "crate::compat", "crate::hook", "crate::mcp", "crate::web", "rmcp"],
        but_in: &[],
        why: "`serve` is below the faces: hand in what only the face knows",
    },
    Rule::Apart {
        within: "crates/lorelane/src/",
        modules: &["cli", "compat", "hook", "mcp", "web"],
        why: "faces never call each other: move what both show into the engine or beside them",
    },
];

/// Checks all files at once, because one file may declare another as a test.
pub fn check(rules: &[Rule], files: &[(String, String)]) -> Vec<Fault> {
    let mut faults = Vec::new();
    for file in &Codebase::read(files).files {
        let named = named(&file.code, &file.module);
        for rule in rules {
            faults.extend(rule.breaches(&file.path, &named));
        }
    }
    faults.sort();
    faults.dedup();
    faults
}

impl Rule {
    fn breaches(&self, path: &str, named: &[Named]) -> Vec<Fault> {
        match self {
            Rule::Forbid { within, forbids, but_in, why } => {
                if !path.starts_with(within) || but_in.contains(&path) {
                    return Vec::new();
                }
                forbids.iter().flat_map(|forbidden| breaches(path, named, forbidden, why)).collect()
            }
            Rule::Apart { within, modules, why } => {
                let Some(inside) = path.strip_prefix(within) else { return Vec::new() };
                let own = inside.split('/').next().unwrap_or(inside).trim_end_matches(".rs");
                if !modules.contains(&own) {
                    return Vec::new();
                }
                let others = modules.iter().filter(|module| **module != own);
                others.flat_map(|other| breaches(path, named, &format!("crate::{other}"), why)).collect()
            }
        }
    }
}

fn breaches(path: &str, named: &[Named], forbidden: &str, why: &str) -> Vec<Fault> {
    let pattern: Vec<&str> = forbidden.split("::").collect();
    let hits = named.iter().filter(|named| matches(named, &pattern));
    hits.map(|hit| Fault {
        path: path.to_owned(),
        line: hit.line,
        what: format!("names `{forbidden}`; {why}"),
    })
    .collect()
}

fn matches(named: &Named, pattern: &[&str]) -> bool {
    let is_call = pattern.iter().any(|part| part.ends_with('!') || part.starts_with('.'));
    if named.path.len() == 1 && !named.imported && !is_call {
        return false;
    }
    for (index, part) in pattern.iter().enumerate() {
        match named.path.get(index).map(String::as_str) {
            // A glob import may bring in anything below it that the pattern names.
            Some("*") => return true,
            Some(segment) if segment == *part => {}
            _ => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(path: &str, text: &str) -> Vec<String> {
        let files = [(path.to_owned(), text.to_owned())];
        check(RULES, &files).iter().map(|fault| fault.what.split('`').nth(1).unwrap().to_owned()).collect()
    }

    #[test]
    fn every_wall_can_be_hit() {
        for (path, text, expected) in [
            ("crates/lorelane-core/src/text.rs", "use std::fs;", "std::fs"),
            ("crates/lorelane-core/src/text.rs", "use std::{fmt, fs::File};", "std::fs"),
            ("crates/lorelane-core/src/text.rs", "fn f() { std::env::var(x); }", "std::env"),
            (
                "crates/lorelane-core/src/time.rs",
                "use std::time::{Duration, SystemTime};",
                "std::time::SystemTime",
            ),
            (
                "crates/lorelane-core/src/time.rs",
                "use std::time; fn f() { time::Instant::now() }",
                "std::time::Instant",
            ),
            ("crates/lorelane-core/src/text.rs", "use std::thread;", "std::thread"),
            ("crates/lorelane-core/src/text.rs", "use std::net::TcpStream;", "std::net"),
            ("crates/lorelane-core/src/text.rs", "fn f() { std::process::exit(1) }", "std::process"),
            ("crates/lorelane-core/src/text.rs", "fn f() { println!(\"x\") }", "println!"),
            ("crates/lorelane-core/src/text.rs", "fn f() { eprintln!(\"x\") }", "eprintln!"),
            ("crates/lorelane-core/src/dialect/notes.rs", "use crate::recall::Hit;", "crate::recall"),
            ("crates/lorelane-core/src/dialect/mod.rs", "use super::triage;", "crate::triage"),
            ("crates/lorelane-core/src/recall.rs", "use crate::{memory, audit::Claim};", "crate::audit"),
            (
                "crates/lorelane-core/src/audit/mod.rs",
                "fn f() { crate::working_set::g() }",
                "crate::working_set",
            ),
            ("crates/lorelane-core/src/working_set.rs", "use crate::dialect;", "crate::dialect"),
            ("crates/lorelane-engine/src/store/mod.rs", "fn f() { print!(\"x\") }", "print!"),
            ("crates/lorelane-engine/src/lib.rs", "use clap::Parser;", "clap"),
            ("crates/lorelane-engine/src/lib.rs", "fn f() { std::env::args() }", "std::env::args"),
            ("crates/lorelane-engine/src/store/mod.rs", "use crate::index::Row;", "crate::index"),
            ("crates/lorelane-engine/src/index.rs", "use super::store;", "crate::store"),
            ("crates/lorelane-engine/src/git.rs", "fn f() { std::fs::canonicalize(a) }", "std::fs"),
            ("crates/lorelane-engine/src/drafts.rs", "use std::fs::{DirBuilder, OpenOptions};", "std::fs"),
            ("crates/lorelane-engine/src/store/mod.rs", "use rustix::fs::openat;", "rustix::fs"),
            ("crates/lorelane-engine/src/setup/mod.rs", "fn f() { a.join(b)\n    .exists() }", ".exists()"),
            (
                "crates/lorelane-engine/src/git.rs",
                "fn f() { a.symlink_metadata().is_ok() }",
                ".symlink_metadata()",
            ),
            (
                "crates/lorelane-engine/src/git.rs",
                "use std::path::Path; fn f() { a.find(Path::is_file) }",
                "std::path::Path::is_file",
            ),
            ("crates/lorelane/src/cli/list.rs", "use rusqlite::Connection;", "rusqlite"),
            ("crates/lorelane/src/main.rs", "use std::fs; fn f() { fs::write(a, b) }", "std::fs::write"),
            (
                "crates/lorelane/src/cli/list.rs",
                "use std::fs::File; fn f() { File::create(a) }",
                "std::fs::File::create",
            ),
            ("crates/lorelane/src/cli/list.rs", "use std::fs::OpenOptions;", "std::fs::OpenOptions"),
            (
                "crates/lorelane/src/compat/mod.rs",
                "fn f() { std::fs::remove_file(a) }",
                "std::fs::remove_file",
            ),
            ("crates/lorelane/src/hook/mod.rs", "use crate::cli;", "crate::cli"),
            ("crates/lorelane/src/cli/mod.rs", "use crate::compat::x;", "crate::compat"),
            ("crates/lorelane/src/serve/http.rs", "use crate::mcp::x;", "crate::mcp"),
        ] {
            assert_eq!(faults(path, text), [expected], "{path}: {text}");
        }
    }

    #[test]
    fn what_is_allowed_passes() {
        for (path, text) in [
            ("crates/lorelane-core/src/time.rs", "use std::time::Duration;"),
            (
                "crates/lorelane-core/src/text.rs",
                "// std::fs::read and println!\nconst A: &str = \"std::fs\";",
            ),
            (
                "crates/lorelane-core/src/text.rs",
                "#[cfg(test)]\nmod tests { use std::fs; fn f() { println!() } }",
            ),
            (
                "crates/lorelane-core/src/dialect/notes.rs",
                "use crate::dialect::x; use crate::memory::Memory;",
            ),
            (
                "crates/lorelane-core/src/lib.rs",
                "pub mod recall; pub use crate::recall::Hit; use crate::dialect;",
            ),
            ("crates/lorelane-engine/src/workspace.rs", "use crate::{index, store};"),
            ("crates/lorelane-engine/src/store/mod.rs", "fn f() { self.index.x(); let clap = env!(\"X\"); }"),
            ("crates/lorelane-engine/src/git.rs", "fn f() { disk.exists(path); self.metadata }"),
            ("crates/lorelane-engine/src/disk/real.rs", "use std::fs; fn f() { a.is_dir() }"),
            ("crates/lorelane/src/cli/tour.rs", "fn f() { std::fs::remove_dir_all(a) }"),
            ("crates/lorelane/src/main.rs", "use crate::{cli, hook}; fn f() { println!() }"),
            ("crates/lorelane/src/mcp/mod.rs", "use crate::serve;"),
        ] {
            assert_eq!(faults(path, text), [""; 0], "{path}: {text}");
        }
    }

    #[test]
    fn a_file_declared_as_test_code_is_not_judged() {
        let files = [
            ("crates/lorelane-core/src/dialect/mod.rs", "#[cfg(test)]\nmod laws;"),
            ("crates/lorelane-core/src/dialect/laws.rs", "use std::fs;"),
            ("crates/lorelane-core/src/dialect/notes.rs", "use std::fs;"),
        ];
        let files = files.map(|(path, text)| (path.to_owned(), text.to_owned()));
        let faults = check(RULES, &files);
        assert_eq!(faults.len(), 1, "{faults:?}");
        assert_eq!(faults[0].path, "crates/lorelane-core/src/dialect/notes.rs");
        assert_eq!(faults[0].line, 1);
    }
}
