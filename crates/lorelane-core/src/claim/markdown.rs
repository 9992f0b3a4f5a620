//! Cuts Markdown into mentions: code spans, link targets and words, each with the stance of its sentence.

use super::name::{self, Context};
use super::stance::{self, SentenceWords};
use super::{ClaimKind, Stance};
use crate::markdown::{LineKind, MarkdownLine, closing_backticks, lines};
use crate::steps;

/// More backticks than these open no code span; each number is searched for in vain at most once per paragraph.
const TICKS_MAX: usize = 4;
/// A longer link target is none.
const TARGET_MAX: usize = 400;

/// One mention of something that may be checked.
pub(super) struct Mention {
    pub(super) kind: ClaimKind,
    pub(super) text: String,
    /// Its line in the text, from 0.
    pub(super) line: usize,
    pub(super) stance: Stance,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PieceKind {
    Code,
    LinkTarget,
    Word,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Piece<'t> {
    pub(super) kind: PieceKind,
    pub(super) text: &'t str,
    /// Its line in the block, from 0.
    line: usize,
    pub(super) sentence: usize,
    is_struck: bool,
}

/// Calls `visit` for everything in the text that a repository may have.
pub(super) fn each_mention(text: &str, visit: &mut dyn FnMut(Mention)) {
    let lines = lines(text);
    let mut above = Above::default();
    let mut at = 0;
    while at < lines.len() {
        let length = match lines[at].kind {
            LineKind::Blank => 1,
            LineKind::Heading { .. } => 1,
            LineKind::Code => {
                fenced(&lines[at], at, visit);
                1
            }
            LineKind::Text => block_length(&lines[at..]),
        };
        let block = &lines[at..at + length];
        if matches!(block[0].kind, LineKind::Heading { .. } | LineKind::Text) {
            let span = block[0].span.start..block[length - 1].span.end;
            let said = mentions(&text[span], at, above.stance_for(block), visit);
            above.pass(block, said);
        }
        at += length;
    }
}

/// What headings and introductions say of the blocks below them: "Removed:" governs its list.
#[derive(Default)]
struct Above {
    heading: Option<(usize, Stance)>,
    introduction: Stance,
}

impl Above {
    fn stance_for(&self, block: &[MarkdownLine<'_>]) -> Stance {
        let heading = self.heading.map_or(Stance::Plain, |(_, stance)| stance);
        if matches!(block[0].kind, LineKind::Heading { .. }) {
            return Stance::Plain;
        }
        let is_item = starts_item(block[0].text);
        heading.max(if is_item { self.introduction } else { Stance::Plain })
    }

    fn pass(&mut self, block: &[MarkdownLine<'_>], last_sentence: Stance) {
        match block[0].kind {
            LineKind::Heading { level, .. } => {
                let is_inside = self.heading.is_some_and(|(above, _)| above < level);
                let says_so = last_sentence > Stance::Plain;
                if says_so || !is_inside {
                    self.heading = says_so.then_some((level, last_sentence));
                }
                self.introduction = Stance::Plain;
            }
            _ if starts_item(block[0].text) => {}
            _ => {
                let ends_open = block[block.len() - 1].text.trim_end().ends_with(':');
                self.introduction = if ends_open { last_sentence } else { Stance::Plain };
            }
        }
    }
}

/// Lines of one paragraph or one list item. A row of a table is a block of its own.
fn block_length(lines: &[MarkdownLine<'_>]) -> usize {
    let belongs = |line: &&MarkdownLine<'_>| {
        line.kind == LineKind::Text && !starts_item(line.text) && !line.text.trim_start().starts_with('|')
    };
    1 + lines[1..].iter().take_while(belongs).count()
}

fn starts_item(line: &str) -> bool {
    let line = line.trim_start();
    let numbered = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_numbered = numbered.len() < line.len() && numbered.starts_with(['.', ')']);
    line.starts_with("- ") || line.starts_with("* ") || line.starts_with("+ ") || is_numbered
}

/// Of fenced text only paths are claims: everything else in it may be an example.
fn fenced(line: &MarkdownLine<'_>, at: usize, visit: &mut dyn FnMut(Mention)) {
    let separates =
        |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '(' | ')' | ',' | ';' | '=');
    for word in line.text.split(separates) {
        steps::add(word.len());
        if let Some((kind, text)) = name::path_in_words(word) {
            visit(Mention { kind, text: text.to_owned(), line: at, stance: Stance::Plain });
        }
    }
}

/// Visits the mentions of a block. Returns the stance of its last sentence.
fn mentions(block: &str, first_line: usize, above: Stance, visit: &mut dyn FnMut(Mention)) -> Stance {
    let pieces = pieces(block);
    let sentences: Vec<SentenceWords> = stance::sentences(&pieces);
    for (at, piece) in pieces.iter().enumerate() {
        let own = sentences.get(piece.sentence).map_or(Stance::Plain, |words| words.stance_at(at));
        let struck = if piece.is_struck { Stance::Gone } else { own };
        // What is above outweighs a word of the sentence only with doubt or more.
        let governed = if above > Stance::Plain { above.max(struck) } else { struck };
        let context = Context { pieces: &pieces, at };
        let mut add = |kind, text: &str, stance| {
            visit(Mention { kind, text: text.to_owned(), line: first_line + piece.line, stance });
        };
        name::each_name(&context, &mut |kind, text| add(kind, text, governed));
        if let Some((kind, text)) = name::tentative_name(&context) {
            add(kind, text, if governed == Stance::Plain { Stance::Tentative } else { governed });
        }
    }
    sentences.last().map_or(Stance::Plain, SentenceWords::overall)
}

/// Cuts a block into code spans, link targets and words, and counts sentences.
pub(super) fn pieces(block: &str) -> Vec<Piece<'_>> {
    let mut cutter = Cutter {
        block,
        pieces: Vec::new(),
        at: 0,
        line: 0,
        sentence: 0,
        is_struck: false,
        unclosed: [false; 5],
    };
    while cutter.at < block.len() {
        cutter.step();
    }
    cutter.pieces
}

struct Cutter<'t> {
    block: &'t str,
    pieces: Vec<Piece<'t>>,
    at: usize,
    line: usize,
    sentence: usize,
    is_struck: bool,
    /// By the number of backticks: whether no further span of so many is closed.
    unclosed: [bool; TICKS_MAX + 1],
}

impl<'t> Cutter<'t> {
    fn step(&mut self) {
        let rest = &self.block[self.at..];
        steps::add(1);
        let Some(first) = rest.chars().next() else { return };
        match first {
            '\n' => {
                self.line += 1;
                self.at += 1;
            }
            '`' => self.code(rest),
            '~' if rest.starts_with("~~") => {
                self.is_struck = !self.is_struck;
                self.at += 2;
            }
            ']' if rest.starts_with("](") => self.link_target(rest),
            c if c.is_whitespace() || matches!(c, '[' | ']' | '|' | '"') => self.at += c.len_utf8(),
            _ => self.word(rest),
        }
    }

    fn push(&mut self, kind: PieceKind, text: &'t str) {
        let (line, sentence, is_struck) = (self.line, self.sentence, self.is_struck);
        self.pieces.push(Piece { kind, text, line, sentence, is_struck });
    }

    fn code(&mut self, rest: &'t str) {
        let inner = rest.trim_start_matches('`');
        let ticks = rest.len() - inner.len();
        let closing =
            if ticks > TICKS_MAX || self.unclosed[ticks] { None } else { closing_backticks(inner, ticks) };
        match closing {
            Some(length) => {
                let code = &inner[..length];
                self.push(PieceKind::Code, code);
                self.line += code.matches('\n').count();
                self.at += ticks + length + ticks;
            }
            None => {
                if let Some(unclosed) = self.unclosed.get_mut(ticks) {
                    *unclosed = true;
                }
                self.at += ticks;
            }
        }
    }

    fn link_target(&mut self, rest: &'t str) {
        let inner = &rest[2..];
        let end = inner.char_indices().take(TARGET_MAX).find(|(_, c)| *c == ')' || c.is_whitespace());
        steps::add(end.map_or(TARGET_MAX, |(end, _)| end));
        match end {
            Some((end, _)) => {
                self.push(PieceKind::LinkTarget, &inner[..end]);
                self.at += 2 + end;
            }
            None => self.at += 2,
        }
    }

    fn word(&mut self, rest: &'t str) {
        let ends = |(at, c): &(usize, char)| {
            c.is_whitespace() || matches!(c, '`' | '|' | '[' | ']' | '"') || rest[*at..].starts_with("~~")
        };
        let end = rest.char_indices().find(ends).map_or(rest.len(), |(end, _)| end);
        steps::add(end);
        let word = &rest[..end];
        self.push(PieceKind::Word, word);
        self.at += end;
        if ends_sentence(word, &rest[end..]) {
            self.sentence += 1;
        }
    }
}

/// Whether a sentence ends with this word.
fn ends_sentence(word: &str, rest: &str) -> bool {
    let word = word.trim_end_matches(['*', '_', ')', '\'', '”']);
    if word.ends_with(';') {
        return true;
    }
    let is_short_form = ["e.g.", "i.e.", "etc.", "vs.", "cf.", "approx.", "no."]
        .iter()
        .any(|short| word.to_ascii_lowercase().trim_start_matches('(') == *short);
    let next = rest.trim_start().chars().next();
    let goes_on = next.is_some_and(|next| next.is_lowercase());
    word.ends_with(['.', '!', '?', '。'])
        && !is_short_form
        && rest.starts_with(char::is_whitespace)
        && !goes_on
}
