//! Finds secrets in text: cloud keys, tokens, private keys, passwords in connection strings.
//!
//! A memory is a file in a repository that others clone, so a secret in it is a leak. The scanner runs in hooks
//! that may take a millisecond: one table (`rules`), one pass (`pass`), nothing compiled at start and nothing
//! allocated for clean text. A new format is one row of the table. A `regex::RegexSet` of the 136 rows that need
//! no name takes 9 ms to build, in each process; a whole prompt hook at 10,000 memories takes 6.6 ms, and the
//! pass reads 4 KB in 0.1 ms.
//!
//! Placeholders that look like a secret (`<your-token>`, `AKIA…EXAMPLE`, `$TOKEN`) are accepted by `judge`: a
//! scanner with false alarms gets switched off.

mod alphabet;
mod judge;
mod pass;
mod rules;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::ops::Range;

/// A secret in a text. `kind` names the format; `span` covers only the secret value, in bytes, on character
/// boundaries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretMatch {
    pub kind: &'static str,
    pub span: Range<usize>,
}

/// Returns the secrets of the text, in order and without overlaps.
pub fn scan(text: &str) -> Vec<SecretMatch> {
    pass::run(text)
}

/// Returns what may be shown of a secret: enough to recognize it, too little to use it.
///
/// At most four characters and a rough length; nothing of a short value, because four characters of eight are
/// half a password.
pub fn mask(secret: &str) -> String {
    let length = secret.chars().take(64).count();
    let shown = match length {
        0..12 => return "…".to_owned(),
        _ => secret.chars().take(4).collect::<String>(),
    };
    let at_least = match length {
        12..32 => 12,
        32..64 => 32,
        _ => 64,
    };
    format!("{shown}…({at_least}+)")
}

/// Returns the text with every secret replaced by its [`mask`]: for logs, the ledger and errors.
pub fn masked(text: &str) -> Cow<'_, str> {
    replaced(text, |_, secret| mask(secret))
}

/// Returns the text with every secret replaced by `[redacted: kind]`.
///
/// The scanner recognizes the marker and skips it like a secret, so a redacted text has no secrets.
pub fn redact(text: &str) -> Cow<'_, str> {
    replaced(text, |kind, _| format!("{}{kind}]", pass::MARKER))
}

/// Returns the name of every format, each once.
pub fn kinds() -> impl Iterator<Item = &'static str> {
    let rows = rules::RULES;
    let first_of_its_kind = move |row: usize| row == 0 || rows[row - 1].kind != rows[row].kind;
    (0..rows.len()).filter(move |row| first_of_its_kind(*row)).map(move |row| rows[row].kind)
}

fn replaced(text: &str, stand_in: impl Fn(&'static str, &str) -> String) -> Cow<'_, str> {
    let secrets = scan(text);
    if secrets.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len());
    let mut copied = 0;
    for secret in secrets {
        safe.push_str(&text[copied..secret.span.start]);
        safe.push_str(&stand_in(secret.kind, &text[secret.span.clone()]));
        copied = secret.span.end;
    }
    safe.push_str(&text[copied..]);
    Cow::Owned(safe)
}
