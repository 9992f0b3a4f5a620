//! Error texts: what of a symptom can be recognised in the output of a failed command.

use crate::text::one_line;

/// A shorter text occurs in other errors by chance.
const CHARS_MIN: usize = 12;
/// An error code such as `E0502` or `ECONNREFUSED`.
const CODE_MIN: usize = 5;
const LENGTH_MAX: usize = 300;
/// How much of a failed command's output is searched, from its end, and how many different lines of it.
const OUTPUT_MAX: usize = 8 << 10;
const LINES_MAX: usize = 64;

/// A symptom as it is searched for; `None` if it says too little.
pub(super) fn telling(text: &str) -> Option<String> {
    let text = one_line(text);
    let text = text.trim().trim_matches(['"', '`', '“', '”']).trim();
    let fits = text.chars().count() <= LENGTH_MAX;
    (fits && (is_phrase(text) || is_code(text))).then(|| text.to_owned())
}

fn is_phrase(text: &str) -> bool {
    text.chars().count() >= CHARS_MIN && text.split_whitespace().nth(1).is_some()
}

fn is_code(text: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | ':' | '.');
    let upper = text.chars().filter(char::is_ascii_uppercase).count();
    let named = text.contains("::") || text.chars().any(|c| c.is_ascii_digit()) || upper >= CODE_MIN;
    text.len() >= CODE_MIN && text.chars().all(is_part) && upper > 0 && named
}

/// What a failed command printed, prepared for many symptoms.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FailureOutput {
    /// All of it on one line.
    whole: String,
    /// The lines that say something, each once.
    lines: Vec<String>,
}

impl FailureOutput {
    pub fn of(output: &str) -> FailureOutput {
        let end = &output[output.ceil_char_boundary(output.len().saturating_sub(OUTPUT_MAX))..];
        let mut lines: Vec<String> = end
            .lines()
            .rev()
            .map(|line| one_line(line).trim().to_owned())
            .filter(|line| is_phrase(line))
            .collect();
        lines.sort_unstable();
        lines.dedup();
        lines.truncate(LINES_MAX);
        FailureOutput { whole: one_line(end), lines }
    }

    /// Whether the output has the symptom, or a line of it is part of the symptom.
    pub(super) fn has(&self, symptom: &str) -> bool {
        within(symptom, &self.whole) || self.lines.iter().any(|line| within(line, symptom))
    }
}

/// Whether a text occurs in another one as whole words.
fn within(text: &str, whole: &str) -> bool {
    let joins = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    !text.is_empty()
        && text.len() <= whole.len()
        && whole.match_indices(text).any(|(at, found)| {
            let before = whole[..at].chars().next_back().filter(|_| joins(text.chars().next()));
            let after = whole[at + found.len()..].chars().next();
            !joins(before) && !joins(after.filter(|_| joins(text.chars().next_back())))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_text_that_says_something_is_searched_for() {
        for (text, expected) in [
            ("no space left on device", true),
            ("ECONNREFUSED", true),
            ("E0502", true),
            ("`ERR_PNPM_OUTDATED_LOCKFILE`", true),
            ("std::bad_alloc", false),
            ("Foo::bar", true),
            ("error", false),
            ("Error", false),
            ("it fails", false),
            ("timeout", false),
            ("", false),
        ] {
            assert_eq!(telling(text).is_some(), expected, "{text}");
        }
    }

    #[test]
    fn an_error_is_recognised_word_by_word() {
        for (symptom, output, expected) in [
            ("no space left on device", "write: no space\nleft on device (os error 28)", true),
            ("ECONNREFUSED", "Error: connect ECONNREFUSED 127.0.0.1:5432", true),
            ("ECONNREFUSED", "ECONNREFUSEDX", false),
            ("The API logs Error: connect ECONNREFUSED at boot", "x\nError: connect ECONNREFUSED\n", true),
            ("The API logs an error at boot", "error\n", false),
            ("The job ends with Exit code 137", "Exit code 13", false),
            ("lock file is held", "nothing of the kind", false),
        ] {
            assert_eq!(FailureOutput::of(output).has(symptom), expected, "{symptom}: {output}");
        }
    }
}
