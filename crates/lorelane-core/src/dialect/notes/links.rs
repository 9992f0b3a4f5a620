//! `[[wikilinks]]` in a note's text.
//!
//! The kind of a link follows from the words around it, nearest first and only within its sentence: "bug" in one
//! sentence says nothing about a file linked in the next.

use crate::markdown::{LineKind, lines};
use crate::memory::link::{Edge, Link, LinkTarget};
use crate::text::one_line;
use std::collections::HashMap;
use std::ops::Range;

/// The characters of context on each side of a link.
const CONTEXT: usize = 100;
/// The longest text between the brackets, in bytes.
const INSIDE_MAX: usize = 500;
/// How far on each side of a link the end of its sentence is searched, in characters.
const SENTENCE_MAX: usize = 300;
/// Further links are ignored: a text of nothing but links must not cost more than this.
const LINKS_MAX: usize = 1_000;

/// The links of a text, in order. Code is skipped.
pub fn links(text: &str) -> Vec<Link> {
    let mut links = Vec::new();
    if !text.contains("[[") {
        return links;
    }
    for block in blocks(text) {
        let spans = wikilinks(text, block.clone());
        for (at, span) in spans.iter().enumerate() {
            if links.len() == LINKS_MAX {
                return links;
            }
            let inside = &text[span.start + 2..span.end - 2];
            let Some((target, alias, anchor)) = read(inside) else { continue };
            let sentence = sentence(text, &block, span);
            let before = at.checked_sub(1).map_or(sentence.start, |at| spans[at].end.max(sentence.start));
            let after = spans.get(at + 1).map_or(sentence.end, |next| next.start.min(sentence.end));
            // The words before the link decide first, then those after it, then the whole sentence.
            let near = [&text[before..span.start], &text[span.end..after], &text[sentence]].map(plain_words);
            links.push(Link {
                target,
                alias,
                anchor,
                context: context(text, span),
                of_file: edge(&near, OF_FILES).unwrap_or(Edge::RelatedToFile),
                of_memory: edge(&near, OF_MEMORIES).unwrap_or(Edge::RelatedToMemory),
            });
        }
    }
    links
}

/// Words that determine the kind of a link to a file. The first row with a match wins.
const OF_FILES: &[(Edge, &[&str])] = &[
    (
        Edge::Refactors,
        &[
            "refactor",
            "refactors",
            "refactored",
            "refactoring",
            "rewrite",
            "rewrites",
            "rewrote",
            "rewritten",
            "rewriting",
            "restructure",
            "restructures",
            "restructured",
            "restructuring",
            "reorganize",
            "reorganizes",
            "reorganized",
            "reorganizing",
            "reorganise",
            "reorganises",
            "reorganised",
            "reorganising",
            "cleanup",
            "clean up",
            "cleaned up",
            "cleaning up",
        ],
    ),
    (
        Edge::Plans,
        &[
            "plan", "plans", "planned", "planning", "todo", "will", "should", "need to", "needs to",
            "going to",
        ],
    ),
    (
        Edge::Debugs,
        &[
            "bug",
            "bugs",
            "debug",
            "debugs",
            "debugged",
            "debugging",
            "bugfix",
            "fix",
            "fixes",
            "fixed",
            "fixing",
            "issue",
            "issues",
            "error",
            "errors",
            "problem",
            "problems",
            "broken",
            "root cause",
        ],
    ),
    (
        Edge::Mentions,
        &[
            "note",
            "notes",
            "noted",
            "remember",
            "mention",
            "mentions",
            "mentioned",
            "see also",
            "see",
            "refer",
            "refers",
            "refer to",
        ],
    ),
];

/// Words that determine the kind of a link to a memory. `replaced by` and `superseded by` point the other way, so
/// only the active forms count.
const OF_MEMORIES: &[(Edge, &[&str])] = &[
    (
        Edge::Supersedes,
        &["supersedes", "supersede", "superseding", "replaces", "replacing", "obsoletes", "deprecates"],
    ),
    (
        Edge::Extends,
        &["extends", "extend", "extending", "builds on", "build on", "elaborates", "expands on", "expand on"],
    ),
    (Edge::Contradicts, &["contradicts", "contradict", "conflicts with", "conflict with", "disagrees with"]),
    (Edge::DependsOn, &["depends on", "depend on", "requires", "require", "needs", "need"]),
];

fn edge(near: &[String; 3], table: &[(Edge, &[&str])]) -> Option<Edge> {
    let says = |words: &String, phrases: &[&str]| {
        phrases.iter().any(|phrase| words.contains(&format!(" {phrase} ")))
    };
    near.iter()
        .find_map(|words| table.iter().find(|(_, phrases)| says(words, phrases)).map(|(edge, _)| *edge))
}

/// The words of a text in lower case, separated by spaces, without links: `fix` in `src/fix.py` must not match.
fn plain_words(text: &str) -> String {
    let mut out = String::from(" ");
    let mut rest = text;
    while let Some((before, linked)) = rest.split_once("[[") {
        push_words(before, &mut out);
        rest = linked.split_once("]]").map_or("", |(_, after)| after);
    }
    push_words(rest, &mut out);
    out
}

fn push_words(text: &str, out: &mut String) {
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        out.extend(word.chars().flat_map(char::to_lowercase));
        out.push(' ');
    }
}

/// Runs of lines without a blank line or code block in between.
fn blocks(text: &str) -> Vec<Range<usize>> {
    let mut blocks: Vec<Range<usize>> = Vec::new();
    let mut open = false;
    for line in lines(text) {
        let belongs = matches!(line.kind, LineKind::Text | LineKind::Heading { .. });
        match blocks.last_mut() {
            Some(block) if belongs && open => block.end = line.span.end,
            _ if belongs => blocks.push(line.span),
            _ => {}
        }
        open = belongs;
    }
    blocks
}

/// The spans of the links in a block, brackets included; inline code is skipped.
fn wikilinks(text: &str, block: Range<usize>) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut code = code_spans(text, &block).into_iter().peekable();
    let mut at = block.start;
    while let Some(open) = text[at..block.end].find("[[").map(|offset| at + offset) {
        while code.next_if(|span| span.end <= open).is_some() {}
        if let Some(span) = code.peek().filter(|span| span.start <= open) {
            at = span.end;
            continue;
        }
        let rest = &text[open + 2..block.end];
        let end =
            rest.find(['[', ']', '\n']).filter(|end| rest[*end..].starts_with("]]") && *end <= INSIDE_MAX);
        let escaped = text[..open].bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 1;
        match end {
            Some(end) if !escaped => {
                found.push(open..open + 2 + end + 2);
                at = open + 2 + end + 2;
            }
            _ => at = open + 1,
        }
    }
    found
}

/// Inline code: from one run of backticks to the next of the same length.
fn code_spans(text: &str, block: &Range<usize>) -> Vec<Range<usize>> {
    let bytes = &text.as_bytes()[block.clone()];
    let mut runs: Vec<Range<usize>> = Vec::new();
    for (at, _) in bytes.iter().enumerate().filter(|(_, byte)| **byte == b'`') {
        match runs.last_mut() {
            Some(run) if run.end == at => run.end += 1,
            _ => runs.push(at..at + 1),
        }
    }
    let last: HashMap<usize, usize> = runs.iter().enumerate().map(|(at, run)| (run.len(), at)).collect();
    let mut spans = Vec::new();
    let mut at = 0;
    while at < runs.len() {
        // A run that is never closed is text. Checking the last run of this length first keeps this linear.
        let partner = (last[&runs[at].len()] > at)
            .then(|| (at + 1..runs.len()).find(|other| runs[*other].len() == runs[at].len()))
            .flatten();
        if let Some(partner) = partner {
            spans.push(block.start + runs[at].start..block.start + runs[partner].end);
            at = partner;
        }
        at += 1;
    }
    spans
}

/// Target, alias and anchor; `None` for an empty link or one to an anchor in the same note.
fn read(inside: &str) -> Option<(LinkTarget, Option<String>, Option<String>)> {
    // In a Markdown table the `|` before an alias is written `\|`.
    let (linked, alias) = match inside.split_once('|') {
        Some((linked, alias)) => (linked.strip_suffix('\\').unwrap_or(linked), Some(alias)),
        None => (inside, None),
    };
    let (path, anchor) = linked.split_once('#').map_or((linked, None), |(path, anchor)| (path, Some(anchor)));
    let said = |text: Option<&str>| text.map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned);
    Some((LinkTarget::parse(path)?, said(alias), said(anchor)))
}

/// The sentence around a link: within its list item, up to the punctuation that ends it.
fn sentence(text: &str, block: &Range<usize>, link: &Range<usize>) -> Range<usize> {
    let near = around(text, link, SENTENCE_MAX);
    let (from, to) = (near.start.max(block.start), near.end.min(block.end));
    let start = ends(&text[from..link.start]).last().map_or(from, |end| from + end);
    let end = ends(&text[link.end..to]).next().map_or(to, |end| link.end + end);
    start..end
}

/// Where sentences end: after the punctuation, or before the next list item or heading.
fn ends(text: &str) -> impl Iterator<Item = usize> {
    text.char_indices().filter_map(|(at, c)| {
        let rest = &text[at + c.len_utf8()..];
        let ended = match c {
            '.' | '!' | '?' | ';' => rest.is_empty() || rest.starts_with(char::is_whitespace),
            '。' | '！' | '？' => true,
            '\n' => begins_anew(rest),
            _ => false,
        };
        ended.then_some(at + c.len_utf8())
    })
}

fn begins_anew(line: &str) -> bool {
    let line = line.trim_start();
    let number = line.trim_start_matches(|c: char| c.is_ascii_digit());
    line.starts_with("- ")
        || line.starts_with("* ")
        || line.starts_with("+ ")
        || line.starts_with('#')
        || line.starts_with('|')
        || (number.len() < line.len() && (number.starts_with(". ") || number.starts_with(") ")))
}

fn context(text: &str, link: &Range<usize>) -> String {
    one_line(&text[around(text, link, CONTEXT)])
}

/// A span widened by this many characters on each side.
fn around(text: &str, place: &Range<usize>, characters: usize) -> Range<usize> {
    let start = text[..place.start].char_indices().rev().nth(characters - 1).map_or(0, |(at, _)| at);
    let end = text[place.end..].char_indices().nth(characters).map_or(text.len(), |(at, _)| place.end + at);
    start..end
}
