//! Which files are never evicted, whatever an agent advises.

use crate::act::glob;

/// Instructions of the agents' clients. Each client loads its own.
const INSTRUCTIONS: [&str; 3] = ["CLAUDE.md", "AGENTS.md", "GEMINI.md"];
/// What the protocol keeps for audits, in a session folder or anywhere in the project.
const SESSION_FILES: [&str; 2] = ["session-log.md", "output.md"];
const PATTERNS: [&str; 3] = ["**/constitution*.md", "**/decisions/**", "**/ADR*/**"];

/// Whether a path is protected: the constitution, decisions, the event log, output for the user, and `configured`
/// globs.
pub fn is_protected(path: &str, configured: &[String]) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let is_part_of_log = name.starts_with("session-log") && name.ends_with(".md");
    INSTRUCTIONS.contains(&name)
        || SESSION_FILES.contains(&name)
        || is_part_of_log
        || path.strip_prefix("memory:").is_some_and(|address| address.starts_with("decision/"))
        || PATTERNS.iter().any(|pattern| glob::matches(pattern, path))
        || configured.iter().any(|pattern| is_match(pattern, path))
}

/// Whether a path is what a list names: the path itself, a folder above it, or a glob.
pub fn is_match(pattern: &str, path: &str) -> bool {
    let folder = pattern.trim_end_matches('/');
    let is_below = path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
    pattern == path
        || pattern.ends_with('/') && is_below
        || glob::has_wildcard(pattern) && glob::patterns(pattern).iter().any(|glob| glob::matches(glob, path))
}

/// Whether a client loads this file by itself, so that it must not be assembled for it again.
pub fn is_loaded_by(client: &str, path: &str) -> bool {
    let own: &[&str] = match client {
        "claude-code" => &["CLAUDE.md", ".claude/CLAUDE.md"],
        "codex" | "opencode" => &["AGENTS.md"],
        "gemini" => &["GEMINI.md"],
        "copilot" => &["AGENTS.md", ".github/copilot-instructions.md"],
        _ => &[],
    };
    own.contains(&path)
}
