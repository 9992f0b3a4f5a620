//! Extracts sentences from the sources: definitions and examples of a dictionary, paragraphs of documentation.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::sources::{CRATES, WHEELS, WORDNET};
use crate::failure::Failure;
use lorelane_core::digest::short_digest;

/// How many sentences of each kind are shown to the teacher.
const EXAMPLES: usize = 10_000;
const DEFINITIONS: usize = 10_000;
const DOCUMENTATION: usize = 20_000;
/// The limit for one package, so that none dominates.
const PER_PACKAGE: usize = 700;

const SHORTEST: usize = 20;
const LONGEST: usize = 220;

#[derive(Debug)]
pub struct Texts {
    /// All sentences, for counting how common pieces are.
    pub all: Vec<String>,
    /// The sentences that the teacher reads.
    pub chosen: Vec<String>,
}

/// The same sources give the same sentences in the same order on every machine.
pub fn gather(work: &Path) -> Result<Texts, Failure> {
    let (definitions, examples) = wordnet(&WORDNET.folder(work))?;
    let mut chosen = few(&examples, EXAMPLES);
    chosen.extend(few(&definitions, DEFINITIONS));
    let mut all: Vec<String> = examples.into_iter().chain(definitions).collect();
    let mut documentation = BTreeSet::new();
    for source in CRATES.iter().chain(WHEELS) {
        let found = documented(&source.folder(work))?;
        documentation.extend(few(&found, PER_PACKAGE));
        all.extend(found);
    }
    chosen.extend(few(&documentation, DOCUMENTATION));
    Ok(Texts { all, chosen })
}

/// A deterministic sample: the first in the order of their digests.
fn few(sentences: &BTreeSet<String>, most: usize) -> Vec<String> {
    let mut shuffled: Vec<(String, &String)> =
        sentences.iter().map(|sentence| (short_digest(sentence, 16), sentence)).collect();
    shuffled.sort();
    shuffled.into_iter().take(most).map(|(_, sentence)| sentence.clone()).collect()
}

fn wordnet(folder: &Path) -> Result<(BTreeSet<String>, BTreeSet<String>), Failure> {
    let (mut definitions, mut examples) = (BTreeSet::new(), BTreeSet::new());
    for path in files(folder)? {
        let text = read(&path)?;
        for (definition, shown) in text.lines().filter_map(entry) {
            definitions.extend(Some(definition).filter(|sentence| is_sentence(sentence)));
            examples.extend(shown.into_iter().filter(|sentence| is_sentence(sentence)));
        }
    }
    Ok((definitions, examples))
}

/// A line of the dictionary: `offset file kind count word … | what it means; "an example"`.
fn entry(line: &str) -> Option<(String, Vec<String>)> {
    let (head, gloss) = line.split_once(" | ")?;
    let word = head.split(' ').nth(4)?.replace('_', " ");
    let mut parts = gloss.split('"');
    let meaning = parts.next()?.trim().trim_end_matches(';');
    let examples = parts.step_by(2).map(|example| example.trim().to_owned()).collect();
    Some((format!("{word}: {meaning}"), examples))
}

fn documented(folder: &Path) -> Result<BTreeSet<String>, Failure> {
    let mut sentences = BTreeSet::new();
    for path in files(folder)? {
        let text = read(&path)?;
        // Python files are read as a whole: docstrings and comments make sentences, code hardly any.
        let prose =
            if path.extension().is_some_and(|ending| ending == "rs") { comments(&text) } else { text };
        for paragraph in paragraphs(&prose) {
            sentences.extend(split(&paragraph).into_iter().filter(|sentence| is_sentence(sentence)));
        }
    }
    Ok(sentences)
}

/// The documentation comments of a file; other lines end a paragraph.
fn comments(code: &str) -> String {
    let mut prose = String::new();
    for line in code.lines().map(str::trim_start) {
        let comment = line.strip_prefix("///").or_else(|| line.strip_prefix("//!"));
        prose.push_str(comment.unwrap_or(""));
        prose.push('\n');
    }
    prose
}

/// Paragraphs, items and headings of Markdown or reStructuredText as single lines, without code blocks,
/// tables and markup.
fn paragraphs(markdown: &str) -> Vec<String> {
    let mut paragraphs = vec![String::new()];
    let mut fenced = false;
    for line in markdown.lines().map(str::trim) {
        let fence = line.starts_with("```") || line.starts_with("~~~");
        fenced ^= fence;
        let wordless = !line.contains(char::is_alphanumeric);
        if fence || fenced || wordless || line.starts_with(['|', '<', '[', '!', ':', '.']) {
            paragraphs.push(String::new());
            continue;
        }
        let words = line.trim_start_matches(['#', '*', '-', '+', '>', ' ']);
        if words.len() < line.len() {
            paragraphs.push(String::new());
        }
        if let Some(paragraph) = paragraphs.last_mut() {
            paragraph.push_str(&plain(words));
            paragraph.push(' ');
        }
        if line.starts_with('#') {
            paragraphs.push(String::new());
        }
    }
    paragraphs.retain(|paragraph| !paragraph.trim().is_empty());
    paragraphs
}

/// A line without link targets, emphasis, HTML elements and code quotes.
fn plain(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        match c {
            // `:role:` before a quote is markup.
            '`' => out.truncate(out.strip_suffix(':').and_then(|role| role.rfind(':')).unwrap_or(out.len())),
            '*' | '[' => {}
            // A target in round or square brackets is part of the link, not of the sentence.
            ']' => {
                let closing = [('(', ')'), ('[', ']')];
                let target =
                    closing.into_iter().find_map(|(open, close)| rest.strip_prefix(open)?.split_once(close));
                rest = target.map_or(rest, |(_, after)| after);
            }
            '<' => rest = rest.split_once('>').map_or(rest, |(_, after)| after),
            c => out.push(c),
        }
    }
    out
}

/// Sentences end at a full stop before a space and a capital letter.
fn split(paragraph: &str) -> Vec<String> {
    let mut sentences = Vec::new();
    let mut from = 0;
    for (at, mark) in paragraph.match_indices(['.', '!', '?']) {
        let after = &paragraph[at + mark.len()..];
        let next = after.trim_start();
        if next.len() < after.len() && next.starts_with(char::is_uppercase) {
            sentences.push(one_line(&paragraph[from..at + mark.len()]));
            from = at + mark.len();
        }
    }
    sentences.push(one_line(&paragraph[from..]));
    sentences
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Long enough to have a meaning, short enough for one vector, and mostly words.
fn is_sentence(text: &str) -> bool {
    let letters = text.bytes().filter(|byte| byte.is_ascii_alphabetic() || *byte == b' ').count();
    (SHORTEST..=LONGEST).contains(&text.len())
        && letters * 10 >= text.len() * 9
        && text.split(' ').count() >= 3
        && !text.contains("http")
}

/// All files below a folder, sorted by name.
fn files(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let failed = |error| Failure::on("list", folder, error);
    let entries = fs::read_dir(folder).map_err(failed)?;
    let mut paths =
        entries.map(|entry| Ok(entry.map_err(failed)?.path())).collect::<Result<Vec<_>, Failure>>()?;
    paths.sort();
    let mut files = Vec::new();
    for path in paths {
        match path.is_dir() {
            true => files.extend(self::files(&path)?),
            false => files.push(path),
        }
    }
    Ok(files)
}

/// Not all files of the sources are UTF-8; those that are not have no sentences.
fn read(path: &Path) -> Result<String, Failure> {
    let bytes = fs::read(path).map_err(|error| Failure::on("read", path, error))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dictionary_has_meanings_and_examples() {
        let line = r#"00001 04 n 02 hot_cache 0 stash 1 001 @ 00002 n 0000 | a hidden store; "the cache was empty"; "found it in a cache"  "#;
        let (meaning, examples) = entry(line).unwrap();
        assert_eq!(meaning, "hot cache: a hidden store");
        assert_eq!(examples, ["the cache was empty", "found it in a cache"]);
        assert_eq!(entry("  1 This software and database is being provided"), None);
    }

    #[test]
    fn documentation_becomes_sentences() {
        let code = "/// Opens the [`File`](crate::File) at *path*. Fails if it is\n/// gone.\n///\n/// ```\n/// open(\"a\");\n/// ```\n/// # Errors\n/// - See [the guide][guide].\nfn open() {}\n";
        let sentences: Vec<String> =
            paragraphs(&comments(code)).iter().flat_map(|paragraph| split(paragraph)).collect();
        let expected = ["Opens the File at path.", "Fails if it is gone.", "Errors", "See the guide."];
        assert_eq!(sentences, expected);
    }

    #[test]
    fn what_is_no_sentence_is_left_out() {
        for (text, expected) in [
            ("The cache is read before the disk.", true),
            ("Too short.", false),
            ("x = { a: 1, b: [2, 3], c: (4, 5) };", false),
            ("see http://example.org for more of this", false),
            (&"long ".repeat(60), false),
        ] {
            assert_eq!(is_sentence(text), expected, "{text}");
        }
    }

    #[test]
    fn the_choice_does_not_depend_on_what_else_is_there() {
        let sentences = |from: usize, to: usize| -> BTreeSet<String> {
            (from..to).map(|at| format!("sentence {at}")).collect()
        };
        let some = sentences(10, 20);
        let mut of_all = few(&sentences(0, 50), 50);
        of_all.retain(|sentence| some.contains(sentence));
        assert_eq!(few(&some, 50), of_all);
        assert_eq!(few(&some, 3), of_all[..3]);
        assert_ne!(of_all, some.into_iter().collect::<Vec<_>>());
    }
}
