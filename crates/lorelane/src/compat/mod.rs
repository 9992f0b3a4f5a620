//! The first system's scripts: same arguments, same texts, same exit codes.
//!
//! Agents and skills written for those scripts go on working when they call `lorelane compat memory_write …`.
//! Only the words are kept here; what may be written, and what a memory is, lorelane's own rules say.

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

/// What a script says, and how it ends.
#[derive(Debug, Default)]
struct ScriptOutput {
    out: String,
    err: String,
    code: u8,
}

impl ScriptOutput {
    /// Ends with an error that is printed where results are: callers of the scripts look for it there.
    fn failed(out: impl Into<String>) -> ScriptOutput {
        ScriptOutput { out: out.into(), err: String::new(), code: 1 }
    }

    /// Ends with an error in one line on stderr.
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
                // The one warning that the first system's skill, not its scripts, had words for.
                Notice::Leaving { .. } => "WARNING:",
                // The scripts took any path.
                Notice::NoSuchFiles(_) => continue,
            };
            self.warn(&format!("{head} {}", notice.text()));
        }
    }

    /// A reader that is gone is no reason to panic.
    fn say(self) -> ExitCode {
        let _ = std::io::stderr().write_all(printable(&secret::masked(&self.err)).as_bytes());
        let _ = std::io::stdout().write_all(printable(&secret::masked(&self.out)).as_bytes());
        ExitCode::from(self.code)
    }
}
