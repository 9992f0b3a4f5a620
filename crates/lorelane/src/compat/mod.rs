//! The `claude-memory` scripts: same arguments, same texts, same exit codes.
//!
//! Agents and skills written for the scripts keep working when they call `lorelane compat memory_write …`. Only
//! the interface is kept here; lorelane's own rules decide what is valid.

mod arguments;
mod block;
mod candidate;
mod index;
mod input;
mod payload;
mod refused;
mod retrieve;
mod target;
mod triage;
mod validate_hook;
mod write;
mod write_guard;

use lorelane_core::change::Notice;
use lorelane_core::secret;
use lorelane_core::text::printable;
use lorelane_engine::env::Env;
use std::io::Write;
use std::process::ExitCode;

const SCRIPTS: &str = "memory_write,memory_candidate,memory_index,memory_triage,memory_retrieve,memory_write_guard,memory_validate_hook";

/// Runs the script that the first argument names.
pub(crate) fn run(env: &Env, arguments: &[String]) -> ExitCode {
    let (script, rest) = match arguments.split_first() {
        Some((script, rest)) => (script.strip_suffix(".py").unwrap_or(script), rest),
        None => ("", arguments),
    };
    match script {
        "memory_write" => write::run(env, rest),
        "memory_candidate" => candidate::run(env, rest),
        "memory_index" => index::run(env, rest),
        "memory_triage" => triage::run(env, rest),
        "memory_retrieve" => retrieve::run(env),
        "memory_write_guard" => write_guard::run(env),
        "memory_validate_hook" => validate_hook::run(env),
        _ => {
            let err = format!("usage: lorelane compat {{{SCRIPTS}}} [arguments]\n");
            ScriptOutput { out: String::new(), err, code: 2 }
        }
    }
    .say()
}

/// The output and exit code of a script.
#[derive(Debug, Default)]
struct ScriptOutput {
    out: String,
    err: String,
    code: u8,
}

impl ScriptOutput {
    /// An error on stdout: callers of the scripts look for it there.
    fn failed(out: impl Into<String>) -> ScriptOutput {
        ScriptOutput { out: out.into(), err: String::new(), code: 1 }
    }

    /// An error in one line on stderr.
    fn error(text: &str) -> ScriptOutput {
        ScriptOutput { out: String::new(), err: format!("ERROR: {text}\n"), code: 1 }
    }

    fn print(&mut self, line: &str) {
        self.out.push_str(line);
        self.out.push('\n');
    }

    fn warn(&mut self, line: &str) {
        self.err.push_str(line);
        self.err.push('\n');
    }

    fn notices(&mut self, notices: &[Notice]) {
        for notice in notices {
            let head = match notice {
                Notice::Fixed { .. } => "[AUTO-FIX]",
                Notice::Warning(_) => "[WARN]",
                // Its wording comes from the skill of `claude-memory`, not from the scripts.
                Notice::Leaving { .. } => "WARNING:",
                // The scripts accepted any path, and compared no texts.
                Notice::NoSuchFiles(_) | Notice::NearDuplicate { .. } => continue,
            };
            let text = match notice {
                Notice::Fixed { field, what } => format!("{field}: {}", script_wording(what)),
                _ => notice.text(),
            };
            self.warn(&format!("{head} {text}"));
        }
    }

    /// Prints everything. Write errors are ignored: a closed pipe is no reason to panic.
    fn say(self) -> ExitCode {
        let _ = std::io::stderr().write_all(printable(&secret::masked(&self.err)).as_bytes());
        let _ = std::io::stdout().write_all(printable(&secret::masked(&self.out)).as_bytes());
        ExitCode::from(self.code)
    }
}

/// What `compat` prints for a fix or a fault. Callers may look for it, so it stays as it is.
fn script_wording(what: &str) -> &str {
    match what {
        "removed control characters and the markers of index.md" => {
            "stripped control chars/index-injection markers"
        }
        "no usable tag, set to ['untagged']" => "empty after dedup, set to ['untagged']",
        "at most 12, the rest were dropped" => "truncated to TAG_CAP (12)",
        "a memory belongs in the folder of its category, with a name of a-z, 0-9 and -" => {
            "a memory lies in the folder of its category, under a name of a-z, 0-9 and -"
        }
        same => same,
    }
}
