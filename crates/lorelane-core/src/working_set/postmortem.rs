//! Postmortems: what is kept of an attempt that failed, before it is archived.

use super::sidecar::title_of;
use crate::text::one_line;
use std::fmt::Write as _;

/// The sections of a postmortem, in their order.
const SECTIONS: [&str; 4] = ["What Happened", "Progress Made", "State Preserved", "Lessons"];

/// What the session knows about the attempt.
#[derive(Clone, Copy, Debug)]
pub struct PostmortemFacts<'p> {
    /// Relative to the project.
    pub path: &'p str,
    /// The reason for archiving it.
    pub why: &'p str,
    pub entered_turn: u32,
    pub turn: u32,
    pub touches: u32,
}

/// The postmortem of an attempt. Sections that the author wrote stay as they are; the others are filled with what is
/// known. A text without sections says what happened.
pub fn postmortem(text: &str, facts: &PostmortemFacts<'_>) -> String {
    let (before, given) = sections_of(text);
    let mut rendered = format!("# Postmortem: {}\n\nOf `{}`\n", title_of(facts.path), one_line(facts.path));
    for name in SECTIONS {
        let own =
            given.iter().find(|(title, _)| title.eq_ignore_ascii_case(name)).map(|(_, body)| body.trim());
        let body = match (name, own.filter(|body| !body.is_empty())) {
            (_, Some(body)) => body.to_owned(),
            ("What Happened", None) => {
                if before.is_empty() {
                    one_line(facts.why)
                } else {
                    before.clone()
                }
            }
            ("Progress Made", None) => progress(facts),
            ("State Preserved", None) => {
                "The file is archived byte for byte; `lorelane ws restore` brings it back.".to_owned()
            }
            (_, None) => format!("Archived because: {}", one_line(facts.why)),
        };
        let _ = write!(rendered, "\n## {name}\n\n{body}\n");
    }
    for (title, body) in
        given.iter().filter(|(title, _)| SECTIONS.iter().all(|name| !title.eq_ignore_ascii_case(name)))
    {
        let _ = write!(rendered, "\n## {title}\n\n{}\n", body.trim());
    }
    rendered
}

fn progress(facts: &PostmortemFacts<'_>) -> String {
    let times = if facts.touches == 1 { "time" } else { "times" };
    format!(
        "In the working set from turn {} to turn {}, used {} {times}.",
        facts.entered_turn, facts.turn, facts.touches
    )
}

/// The text before the first heading of the second level, and the sections with their titles.
fn sections_of(text: &str) -> (String, Vec<(String, String)>) {
    let (mut before, mut sections): (String, Vec<(String, String)>) = (String::new(), Vec::new());
    for line in text.lines() {
        if let Some(title) = line.strip_prefix("## ") {
            sections.push((title.trim().to_owned(), String::new()));
            continue;
        }
        let body = sections.last_mut().map_or(&mut before, |(_, body)| body);
        body.push_str(line);
        body.push('\n');
    }
    (before.trim().to_owned(), sections)
}

/// Whether a file is an attempt that failed, by its name in the session or by why it is cold.
pub fn is_failed_attempt(inside: &str, why: &str) -> bool {
    let has = |text: &str, words: &[&str]| {
        let text = text.to_lowercase();
        text.split(|c: char| !c.is_alphabetic()).any(|word| words.contains(&word))
    };
    has(inside, &["attempt", "attempts", "failed", "failure"])
        || has(why, &["failed", "abandoned"])
            && has(why, &["attempt", "approach", "try", "experiment", "idea"])
}
