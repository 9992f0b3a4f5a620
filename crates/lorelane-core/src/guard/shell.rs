//! Finds the paths that a POSIX shell command line writes to.
//!
//! Any text is read, in one pass and to a bounded depth. Commands that it does not know are ignored, so a command
//! that hides what it does gets through.
//!
//! A parser returns a tree or an error. brush-parser rejected each of six unfinished command lines, but a shell
//! runs what comes before the error, or in a here-document without its end. It also brings 70 packages; the whole
//! hook of the guard takes 1.1 ms.

use super::programs::{self, WrittenWord};
use super::word::{Atom, Word};
use super::{PersonOnly, ShellContext, Targets, WriteExtent, WriteKind, WriteTarget};
use crate::{policy, steps};
use std::collections::BTreeMap;

/// Deeper brackets are read as part of the list around them, and deeper `sh -c` texts are ignored: a recursive
/// reader must not exhaust the stack.
const DEPTH_MAX: usize = 16;
/// Of a command with more targets, only the first ones are judged.
const TARGETS_MAX: usize = 256;
/// How many characters of words are processed. Words that grow through variables and braces must end somewhere.
const WORK_MAX: usize = 1 << 20;
/// How many of the files that a command passes to another one are followed.
const NAMED_MAX: usize = 8;
/// How far ahead the end of `[…]` is searched.
const SET_MAX: usize = 64;
/// How many programs of a command line are reported.
const RUNS_MAX: usize = 32;

/// A program that a command line runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramRun {
    /// As it is written: a name or a path.
    pub program: String,
    /// Where it runs; `None` if only the shell knows.
    pub folder: Option<String>,
    /// Its words after the program, up to the first one that only the shell knows.
    pub words: Vec<String>,
}

/// The programs that a command line runs, in order. Those in a text that a program is given (`sh -c TEXT`) follow
/// that program.
pub fn programs(command: &str, around: &ShellContext<'_>) -> Vec<ProgramRun> {
    read(command, around).runs
}

/// The paths that a command line writes or removes, in order, and the commands in it that only a person may run.
pub fn writes(command: &str, around: &ShellContext<'_>) -> Targets {
    let Shell { targets, for_people, .. } = read(command, around);
    Targets { places: targets, for_people }
}

/// Whether a command line runs git: what git brings into a worktree is the work of the user and their colleagues.
pub fn runs_git(command: &str) -> bool {
    read(command, &ShellContext { folder: "/", home: None, project: None }).runs_git
}

fn read<'a>(command: &str, around: &'a ShellContext<'a>) -> Shell<'a> {
    let mut shell = Shell {
        around,
        folder: Some(Word::of(around.folder)),
        left: None,
        variables: BTreeMap::new(),
        targets: Vec::new(),
        runs: Vec::new(),
        piped: Vec::new(),
        runs_input: false,
        runs_git: false,
        for_people: None,
        work_left: WORK_MAX,
    };
    shell.run(command, 0);
    shell
}

struct Shell<'a> {
    around: &'a ShellContext<'a>,
    /// Where the next command runs; `None` once only the shell knows. Relative paths are ignored then, because
    /// most of them belong to another project.
    folder: Option<Word>,
    /// The folder before the last command, if that changed it.
    left: Option<Option<Word>>,
    variables: BTreeMap<String, Word>,
    targets: Vec<WriteTarget>,
    runs: Vec<ProgramRun>,
    /// The operands of the commands before this one in its pipeline.
    piped: Vec<Word>,
    /// Whether the last command executes its input.
    runs_input: bool,
    runs_git: bool,
    /// A lorelane command that only a person may run.
    for_people: Option<PersonOnly>,
    work_left: usize,
}

impl<'a> Shell<'a> {
    fn run(&mut self, text: &str, depth: usize) {
        if depth <= DEPTH_MAX {
            self.reader(text, depth).list(None);
        }
    }

    fn reader(&mut self, text: &str, depth: usize) -> ShellReader<'_, 'a> {
        let text = text.chars().collect();
        ShellReader { text, at: 0, depth, heredocs: Vec::new(), here_strings: Vec::new(), shell: self }
    }

    /// Runs the command substitutions in the text of an unquoted here-document.
    fn expand(&mut self, text: &str, depth: usize) {
        if depth <= DEPTH_MAX {
            self.reader(text, depth).expansions();
        }
    }

    /// Runs in a subshell: its `cd` does not affect the commands that follow.
    fn run_apart(&mut self, text: &str, depth: usize) {
        let folder = self.folder.clone();
        self.run(text, depth);
        self.folder = folder;
    }

    fn value(&self, name: &str) -> Option<Word> {
        match (name, self.variables.get(name)) {
            ("PWD", _) => self.folder.clone(),
            (_, Some(assigned)) => Some(assigned.clone()),
            ("HOME", None) => self.around.home.map(Word::of),
            ("CLAUDE_PROJECT_DIR", None) => self.around.project.map(Word::of),
            _ => None,
        }
    }

    fn target(&mut self, program: &str, word: &Word, act: WriteKind, reach: WriteExtent) {
        if word.is_empty() || self.targets.len() >= TARGETS_MAX {
            return;
        }
        let path = match &self.folder {
            _ if word.starts_with('/') => word.clone(),
            Some(folder) => word.below(folder),
            None => return,
        };
        self.targets.extend(WriteTarget::new(program, word, &path, act, reach));
    }

    /// Evaluates one command without its redirections.
    fn command(&mut self, words: &[Word], depth: usize) {
        steps::add(words.len());
        let mut rest = words;
        let mut assigned = Vec::new();
        while let Some((first, tail)) = rest.split_first() {
            if let Some(assignment) = first.assignment() {
                assigned.push(assignment);
                rest = tail;
                continue;
            }
            let Some(name) = first.literal() else {
                // `$(which lorelane) trust --yes`: no other program takes these arguments.
                if tail.iter().any(|word| word.is("--yes"))
                    || tail.first().is_some_and(|word| word.is("config"))
                {
                    self.tell_lorelane(tail);
                }
                return;
            };
            if programs::is_reserved(&name) {
                rest = tail;
                continue;
            }
            let program = name.rsplit('/').next().unwrap_or(&name);
            match programs::wrapper(program) {
                Some(wrapper) if program == "xargs" && depth <= DEPTH_MAX => {
                    let words = self.with_piped(unwrapped(tail, &wrapper), tail);
                    return self.command(&words, depth + 1);
                }
                Some(wrapper) => rest = unwrapped(tail, &wrapper),
                None => {
                    self.note_run(&name, tail);
                    return self.program(program, tail, depth);
                }
            }
        }
        // Without a command, the assignments apply to what follows.
        self.variables.extend(assigned);
    }

    fn note_run(&mut self, program: &str, words: &[Word]) {
        if self.runs.len() < RUNS_MAX {
            let folder = self.folder.as_ref().and_then(Word::literal);
            let words = words.iter().map_while(Word::literal).collect();
            self.runs.push(ProgramRun { program: program.to_owned(), folder, words });
        }
    }

    fn program(&mut self, program: &str, words: &[Word], depth: usize) {
        self.runs_git |= program == "git";
        match program {
            "cd" | "pushd" => self.change_folder(words),
            "popd" => self.folder = None,
            // The first iteration of a loop stands for all of them.
            "for" => {
                if let [name, _, first, ..] = words {
                    self.variables.extend(name.literal().map(|name| (name, first.clone())));
                }
            }
            "export" | "local" | "declare" | "readonly" | "typeset" => {
                self.variables.extend(words.iter().filter_map(Word::assignment));
            }
            "eval" => {
                let texts: Option<Vec<String>> = words.iter().map(Word::literal).collect();
                if let Some(texts) = texts {
                    self.run(&texts.join(" "), depth + 1);
                }
            }
            "find" if depth <= DEPTH_MAX => self.find(words, depth),
            "git" => self.git(words),
            "lorelane" | "lorelane.exe" => self.tell_lorelane(words),
            "script" | "su" | "runuser" => {
                if let Some(text) = programs::command_text(words).and_then(|text| text.literal()) {
                    self.run_apart(&text, depth + 1);
                }
            }
            _ if programs::is_shell(program) => {
                self.runs_input = programs::runs_input(words);
                if let Some(text) = programs::shell_text(words).and_then(Word::literal) {
                    self.run_apart(&text, depth + 1);
                }
            }
            _ => self.touch(program, words),
        }
    }

    fn tell_lorelane(&mut self, words: &[Word]) {
        if words.iter().any(|word| word.is("--help") || word.is("-h")) {
            return;
        }
        let options = programs::Wrapper { valued: &["-C"], operands: 0 };
        let told = match unwrapped(words, &options) {
            [command, ..] if command.is("trust") => Some(PersonOnly::Trust),
            [command, rest @ ..] if command.is("config") => match unwrapped(rest, &options) {
                [set, rest @ ..] if set.is("set") => {
                    let key = unwrapped(rest, &options).first().and_then(Word::literal);
                    key.filter(|key| policy::is_restricted(key)).map(PersonOnly::Set)
                }
                _ => None,
            },
            _ => None,
        };
        self.for_people = self.for_people.take().or(told);
    }

    fn touch(&mut self, program: &str, words: &[Word]) {
        for WrittenWord { word, act, reach } in programs::touches(program, words) {
            self.target(program, &word, act, reach);
        }
    }

    /// The files that `find` deletes, and the commands that it runs on what it finds. Those are some file below
    /// its folders, never a folder itself, so that `find . -name node_modules` may be piped to `xargs rm -rf`.
    fn find(&mut self, words: &[Word], depth: usize) {
        let is_test = |word: &Word| word.starts_with('-') || word.is("(") || word.is("!");
        let tests = words.iter().position(is_test).unwrap_or(words.len());
        let (folders, tests) = words.split_at(tests);
        let here = [Word::of(".")];
        let folders = if folders.is_empty() { &here } else { folders };
        let found: Vec<Word> = folders.iter().take(NAMED_MAX).map(Word::something_below).collect();
        let takes_all = programs::finds_all(tests);
        let mut tests = tests.iter();
        while let Some(word) = tests.next() {
            match word.literal().as_deref() {
                Some("-delete") => {
                    for found in &found {
                        self.target("find", found, WriteKind::Remove, WriteExtent::One);
                    }
                    self.take_all(folders, takes_all);
                }
                Some("-exec" | "-execdir" | "-ok" | "-okdir") => {
                    let command = tests.by_ref().take_while(|word| !word.is(";") && !word.is("+"));
                    let command = self.with_each(command, &found);
                    let removes = command.first().is_some_and(programs::removes);
                    self.command(&command, depth + 1);
                    self.take_all(folders, takes_all && removes);
                }
                _ => {}
            }
        }
    }

    /// `find` without a test by name finds everything below its folders.
    fn take_all(&mut self, folders: &[Word], takes_all: bool) {
        for folder in folders.iter().take(NAMED_MAX).filter(|_| takes_all) {
            self.target("find", folder, WriteKind::Remove, WriteExtent::Tree);
        }
    }

    /// The command that `xargs` runs: its input appended, or in the place that `-I` names.
    fn with_piped(&mut self, command: &[Word], options: &[Word]) -> Vec<Word> {
        let named: Vec<Word> = self.piped.iter().map(Word::something_below).collect();
        let is_placed = options.iter().any(|option| option.strip_prefix("-I").is_some());
        let mut words = self.with_each(command.iter(), &named);
        if !is_placed {
            words.extend(named);
        }
        words
    }

    /// The words with `each` in place of every `{}`, charged to the remaining work.
    fn with_each<'w>(&mut self, words: impl Iterator<Item = &'w Word>, each: &[Word]) -> Vec<Word> {
        let mut replaced = Vec::new();
        for word in words {
            let begin = replaced.len();
            if word.is("{}") {
                replaced.extend_from_slice(each);
            } else {
                replaced.push(word.clone());
            }
            let work: usize = replaced[begin..].iter().map(|word| word.len() + 1).sum();
            self.work_left = self.work_left.saturating_sub(work);
            if self.work_left == 0 {
                break;
            }
        }
        replaced
    }

    /// Only `git clean`, which removes files that git never had. Everything else of git restores or removes what
    /// was committed.
    fn git(&mut self, words: &[Word]) {
        let wrapper = programs::Wrapper { valued: &["-C", "-c"], operands: 0 };
        let rest = unwrapped(words, &wrapper);
        if !rest.first().is_some_and(|command| command.is("clean")) {
            return;
        }
        let folder = self.folder.clone();
        let options = &words[..words.len() - rest.len()];
        if let Some(at) = options.iter().position(|option| option.is("-C")) {
            self.change_folder(&options[at + 1..=at + 1]);
        }
        self.touch("git clean", &rest[1..]);
        self.folder = folder;
    }

    fn change_folder(&mut self, words: &[Word]) {
        if self.left.is_none() {
            self.left = Some(self.folder.clone());
        }
        let is_option = |word: &&Word| matches!(word.literal().as_deref(), Some("-P" | "-L" | "-e" | "--"));
        let Some(to) = words.iter().find(|word| !is_option(word)) else {
            self.folder = self.around.home.map(Word::of);
            return;
        };
        self.folder = match (to.literal().as_deref(), &self.folder) {
            // After a `cd` to a folder that only the shell knows, every relative path is unknown.
            (None | Some("-"), _) => None,
            (Some(path), _) if path.starts_with('/') => Some(to.clone()),
            (Some(_), Some(folder)) => Some(to.below(folder)),
            (Some(_), None) => None,
        };
    }
}

/// The command after a wrapper's own options and operands.
fn unwrapped<'w>(words: &'w [Word], wrapper: &programs::Wrapper) -> &'w [Word] {
    let mut at = 0;
    while let Some(word) = words.get(at).filter(|word| word.starts_with('-')) {
        at += 1;
        match word.literal().as_deref() {
            Some("--") => break,
            Some(option) if wrapper.valued.contains(&option) => at += 1,
            _ => {}
        }
    }
    words.get(at + wrapper.operands..).unwrap_or_default()
}

/// Whether a pipe connects two commands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Piped {
    No,
    Yes,
}

struct ShellReader<'r, 'a> {
    text: Vec<char>,
    at: usize,
    depth: usize,
    /// The here-documents that start on the next line.
    heredocs: Vec<Heredoc>,
    /// The `<<<` strings of the command that is being read.
    here_strings: Vec<Word>,
    shell: &'r mut Shell<'a>,
}

struct Heredoc {
    end: String,
    /// Whether leading tabs are ignored (`<<-`).
    tabs: bool,
    /// Whether a part of its end is quoted: then the shell expands nothing in its text.
    quoted: bool,
    /// Whether a shell executes it; known once its command is read.
    runs: Option<bool>,
}

impl ShellReader<'_, '_> {
    fn peek(&self, ahead: usize) -> Option<char> {
        steps::add(1);
        self.text.get(self.at + ahead).copied()
    }

    fn take(&mut self, c: char) -> bool {
        let found = self.peek(0) == Some(c);
        self.at += usize::from(found);
        found
    }

    /// Reads commands up to the closing bracket or the end of the text.
    fn list(&mut self, end: Option<char>) {
        let mut words: Vec<Word> = Vec::new();
        // In `[[ a > b ]]` the `>` compares.
        let mut tests = false;
        let mut piped = Piped::No;
        while let Some(c) = self.peek(0).filter(|_| self.shell.work_left > 0) {
            match c {
                ' ' | '\t' | '\r' => self.at += 1,
                '\\' if self.peek(1) == Some('\n') => self.at += 2,
                '\n' => {
                    self.at += 1;
                    self.finish(&mut words, &mut piped, Piped::No);
                    self.skip_heredocs();
                }
                '#' => self.skip_line(),
                '&' if self.peek(1) == Some('>') => {
                    self.at += 1;
                    self.redirection(&mut words);
                }
                '|' if self.peek(1) != Some('|') => {
                    self.at += 1;
                    self.finish(&mut words, &mut piped, Piped::Yes);
                }
                ';' | '&' | '|' => {
                    self.at += if c == '|' { 2 } else { 1 };
                    self.finish(&mut words, &mut piped, Piped::No);
                }
                ')' => {
                    self.at += 1;
                    self.finish(&mut words, &mut piped, Piped::No);
                    if end == Some(')') {
                        return;
                    }
                }
                '<' | '>' | '(' if tests => self.at += 1,
                '<' | '>' => self.redirection(&mut words),
                '(' => self.bracket(&mut words),
                _ => {
                    let word = self.word();
                    let text = word.literal();
                    match text.as_deref() {
                        Some("[[") => tests = true,
                        Some("]]") => tests = false,
                        _ => {}
                    }
                    let is_descriptor = matches!(self.peek(0), Some('<' | '>'))
                        && text.is_some_and(|text| text.bytes().all(|b| b.is_ascii_digit()));
                    if !is_descriptor {
                        words.extend(self.counted(word));
                    }
                }
            }
        }
        self.finish(&mut words, &mut piped, Piped::No);
    }

    /// Expands the braces of a word, charged to the remaining work.
    fn counted(&mut self, word: Word) -> Vec<Word> {
        let words = word.unbraced();
        let work: usize = words.iter().map(|word| word.len() + 1).sum();
        self.shell.work_left = self.shell.work_left.saturating_sub(work);
        words
    }

    /// Ends a command. One with a pipe on either side runs in a subshell, so its `cd` does not affect later
    /// commands, also in the last place of a pipeline, where some shells would keep it.
    fn finish(&mut self, words: &mut Vec<Word>, before: &mut Piped, after: Piped) {
        let words = std::mem::take(words);
        self.shell.left = None;
        self.shell.runs_input = false;
        self.shell.command(&words, self.depth);
        let runs_input = self.shell.runs_input;
        for text in std::mem::take(&mut self.here_strings).iter().filter(|_| runs_input) {
            if let Some(text) = text.literal() {
                self.shell.run_apart(&text, self.depth + 1);
            }
        }
        self.shell.runs_input = runs_input;
        for heredoc in &mut self.heredocs {
            heredoc.runs.get_or_insert(self.shell.runs_input);
        }
        match after {
            Piped::No => self.shell.piped.clear(),
            Piped::Yes => {
                let room = NAMED_MAX.saturating_sub(self.shell.piped.len());
                let named = words.into_iter().skip(1).filter(|word| !word.starts_with('-'));
                self.shell.piped.extend(named.take(room));
            }
        }
        let alone = *before == Piped::No && after == Piped::No;
        if let Some(folder) = self.shell.left.take().filter(|_| !alone) {
            self.shell.folder = folder;
        }
        *before = after;
    }

    /// A subshell, an arithmetic command, or the brackets of a function definition.
    fn bracket(&mut self, words: &mut Vec<Word>) {
        if !words.is_empty() {
            self.at += 1;
            // `name() {`: the body is read like any other commands.
            if self.take(')') {
                words.clear();
            }
        } else if self.peek(1) == Some('(') {
            self.skip_arithmetic();
        } else {
            self.at += 1;
            self.nested();
        }
    }

    /// The contents of brackets run in a subshell: their `cd` does not affect later commands.
    fn nested(&mut self) {
        if self.depth >= DEPTH_MAX {
            return;
        }
        let folder = self.shell.folder.clone();
        self.depth += 1;
        self.list(Some(')'));
        self.depth -= 1;
        self.shell.folder = folder;
    }

    fn skip_line(&mut self) {
        while self.peek(0).is_some_and(|c| c != '\n') {
            self.at += 1;
        }
    }

    /// Skips from `((` to its end.
    fn skip_arithmetic(&mut self) {
        let mut open = 0_usize;
        while let Some(c) = self.peek(0) {
            self.at += 1;
            match c {
                '(' => open += 1,
                ')' if open <= 1 => return,
                ')' => open -= 1,
                _ => {}
            }
        }
    }

    fn redirection(&mut self, words: &mut Vec<Word>) {
        let reads = self.take('<');
        if reads && self.take('<') {
            return self.heredoc();
        }
        let writes = self.take('>');
        if self.peek(0) == Some('(') && (reads != writes) {
            // `<(…)` and `>(…)` are words that name a pipe.
            self.at += 1;
            self.nested();
            let mut unknown = Word::default();
            unknown.push(Atom::Unknown);
            return words.push(unknown);
        }
        let _ = self.take('>') || self.take('|');
        let joins = self.take('&');
        self.skip_blanks();
        let word = self.word();
        let is_descriptor =
            word.literal().is_some_and(|text| text.bytes().all(|b| b.is_ascii_digit() || b == b'-'));
        if writes && !(joins && is_descriptor) {
            for word in self.counted(word) {
                self.shell.target(">", &word, WriteKind::Write, WriteExtent::One);
            }
        }
    }

    fn heredoc(&mut self) {
        if self.take('<') {
            // The text of `<<<` is the next word.
            self.skip_blanks();
            let text = self.word();
            self.here_strings.push(text);
            return;
        }
        let tabs = self.take('-');
        self.skip_blanks();
        let begin = self.at;
        let end = self.word().shown();
        let quoted =
            self.text[begin..self.at.min(self.text.len())].iter().any(|c| matches!(c, '\'' | '"' | '\\'));
        self.heredocs.push(Heredoc { end, tabs, quoted, runs: None });
    }

    fn skip_heredocs(&mut self) {
        for Heredoc { end, tabs, quoted, runs } in std::mem::take(&mut self.heredocs) {
            let first = self.at;
            let mut last = self.at;
            while self.at < self.text.len() {
                last = self.at;
                self.skip_line();
                let line: String = self.text[last..self.at].iter().collect();
                self.at += 1;
                if line == end || (tabs && line.trim_start_matches('\t') == end) {
                    break;
                }
                last = self.at.min(self.text.len());
            }
            let text: String = self.text[first..last].iter().collect();
            if !quoted {
                self.shell.expand(&text, self.depth + 1);
            }
            if runs == Some(true) {
                self.shell.run_apart(&text, self.depth + 1);
            }
        }
    }

    /// Reads text in which only `$`, backticks and `\` mean something.
    fn expansions(&mut self) {
        let mut text = Word::default();
        while let Some(c) = self.peek(0) {
            self.at += 1;
            match c {
                '\\' => self.at += 1,
                '$' => self.dollar(&mut text),
                '`' => self.backticks(&mut text),
                _ => {}
            }
        }
    }

    fn skip_blanks(&mut self) {
        while matches!(self.peek(0), Some(' ' | '\t')) {
            self.at += 1;
        }
    }

    /// Reads one word. At least one character is consumed, whatever it is.
    fn word(&mut self) -> Word {
        let mut word = Word::default();
        let begin = self.at;
        while let Some(c) = self.peek(0) {
            self.at += 1;
            match c {
                ' ' | '\t' | '\r' | '\n' | ';' | '&' | '|' | '<' | '>' | ')' => {
                    self.at -= 1;
                    break;
                }
                '(' if word.ends_with('=') => self.array(&mut word),
                '(' => {
                    self.at -= 1;
                    break;
                }
                '\\' => self.escaped(&mut word),
                '\'' => self.single_quoted(&mut word),
                '"' => self.double_quoted(&mut word),
                '$' if self.take('\'') => self.ansi_quoted(&mut word),
                '$' if self.peek(0) == Some('"') => {}
                '$' => self.dollar(&mut word),
                '`' => self.backticks(&mut word),
                '~' if self.at == begin + 1 => self.tilde(&mut word),
                '*' => word.push(Atom::Run),
                '?' => word.push(Atom::One),
                '[' => self.set(&mut word),
                '{' => word.push(Atom::Open),
                ',' => word.push(Atom::Comma),
                '}' => word.push(Atom::Close),
                c => word.push(Atom::Char(c)),
            }
        }
        word
    }

    /// `name=(…)`: its words are data, not commands.
    fn array(&mut self, word: &mut Word) {
        while let Some(c) = self.peek(0) {
            match c {
                ')' => break,
                ' ' | '\t' | '\r' | '\n' | ';' | '&' | '|' | '<' | '>' | '(' => self.at += 1,
                _ => drop(self.word()),
            }
        }
        self.take(')');
        word.push(Atom::Unknown);
    }

    fn escaped(&mut self, word: &mut Word) {
        match self.peek(0) {
            Some('\n') | None => {}
            Some(c) => word.push(Atom::Char(c)),
        }
        self.at += 1;
    }

    fn single_quoted(&mut self, word: &mut Word) {
        while let Some(c) = self.peek(0) {
            self.at += 1;
            if c == '\'' {
                return;
            }
            word.push(Atom::Char(c));
        }
    }

    fn double_quoted(&mut self, word: &mut Word) {
        while let Some(c) = self.peek(0) {
            self.at += 1;
            match c {
                '"' => return,
                '\\' if matches!(self.peek(0), Some('"' | '\\' | '$' | '`' | '\n')) => self.escaped(word),
                '$' => self.dollar(word),
                '`' => self.backticks(word),
                c => word.push(Atom::Char(c)),
            }
        }
    }

    /// `$'…'`
    fn ansi_quoted(&mut self, word: &mut Word) {
        while let Some(c) = self.peek(0) {
            self.at += 1;
            match c {
                '\'' => return,
                '\\' => {
                    let escape = self.peek(0);
                    self.at += 1;
                    match escape {
                        Some('n') => word.push(Atom::Char('\n')),
                        Some('t') => word.push(Atom::Char('\t')),
                        Some('x') => self.code(16, 2, word),
                        Some('u') => self.code(16, 4, word),
                        Some('U') => self.code(16, 8, word),
                        Some('0'..='7') => {
                            self.at -= 1;
                            self.code(8, 3, word);
                        }
                        Some(c) => word.push(Atom::Char(c)),
                        None => {}
                    }
                }
                c => word.push(Atom::Char(c)),
            }
        }
    }

    /// Reads a character code.
    fn code(&mut self, radix: u32, digits: usize, word: &mut Word) {
        let mut number = 0_u32;
        for _ in 0..digits {
            let Some(digit) = self.peek(0).and_then(|c| c.to_digit(radix)) else { break };
            number = number.wrapping_mul(radix).wrapping_add(digit);
            self.at += 1;
        }
        word.push(char::from_u32(number).map_or(Atom::Unknown, Atom::Char));
    }

    /// Reads what follows a `$`.
    fn dollar(&mut self, word: &mut Word) {
        match self.peek(0) {
            Some('(') if self.peek(1) == Some('(') => {
                self.skip_arithmetic();
                word.push(Atom::Unknown);
            }
            Some('(') if self.text[self.at..].starts_with(&['(', 'p', 'w', 'd', ')']) => {
                self.at += 5;
                self.variable("PWD", word);
            }
            Some('(') => {
                self.at += 1;
                self.nested();
                word.push(Atom::Unknown);
            }
            Some('{') => {
                self.at += 1;
                let name = self.name();
                if self.take('}') {
                    return self.variable(&name, word);
                }
                self.skip_braces();
                word.push(Atom::Unknown);
            }
            Some(c) if c.is_ascii_alphabetic() || c == '_' => {
                let name = self.name();
                self.variable(&name, word);
            }
            Some(c) if c.is_ascii_digit() || "@*#?$!-".contains(c) => {
                self.at += 1;
                word.push(Atom::Unknown);
            }
            _ => word.push(Atom::Char('$')),
        }
    }

    fn name(&mut self) -> String {
        let begin = self.at;
        while self.peek(0).is_some_and(|c| c.is_ascii_alphanumeric() || c == '_') {
            self.at += 1;
        }
        self.text[begin..self.at].iter().collect()
    }

    fn variable(&self, name: &str, word: &mut Word) {
        match self.shell.value(name) {
            Some(value) => word.push_word(&value),
            None => word.push(Atom::Unknown),
        }
    }

    /// Skips to the end of `${name:-…}`; the commands in it run.
    fn skip_braces(&mut self) {
        let mut open = 1_usize;
        let mut value = Word::default();
        self.depth += 1;
        while let Some(c) = self.peek(0).filter(|_| open > 0) {
            self.at += 1;
            match c {
                '{' => open += 1,
                '}' => open -= 1,
                '\\' => self.at += 1,
                '$' if self.depth <= DEPTH_MAX => self.dollar(&mut value),
                '`' if self.depth <= DEPTH_MAX => self.backticks(&mut value),
                _ => {}
            }
        }
        self.depth -= 1;
    }

    fn backticks(&mut self, word: &mut Word) {
        let mut inner = String::new();
        while let Some(c) = self.peek(0) {
            self.at += 1;
            match c {
                '`' => break,
                '\\' if matches!(self.peek(0), Some('`' | '\\' | '$')) => {
                    inner.extend(self.peek(0));
                    self.at += 1;
                }
                c => inner.push(c),
            }
        }
        self.shell.run_apart(&inner, self.depth + 1);
        word.push(Atom::Unknown);
    }

    fn tilde(&mut self, word: &mut Word) {
        let ends = self.peek(0).is_none_or(|c| c == '/' || c.is_whitespace() || ";&|<>()".contains(c));
        match self.shell.around.home {
            Some(home) if ends => word.push_text(home),
            _ => word.push(Atom::Unknown),
        }
    }

    fn set(&mut self, word: &mut Word) {
        let ahead = self.text[self.at..].iter().take(SET_MAX);
        let inside = ahead.take_while(|c| !c.is_whitespace() && **c != '/');
        match inside.skip(1).position(|c| *c == ']') {
            Some(length) => {
                self.at += length + 2;
                word.push(Atom::One);
            }
            None => word.push(Atom::Char('[')),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // The guard runs before every command of an agent, so no text may stall it.
    #[test]
    fn hostile_commands_take_steps_in_proportion_to_their_length() {
        let around = ShellContext { folder: "/p/src", home: Some("/home/a"), project: Some("/p") };
        for piece in [
            "(",
            "$(",
            "`",
            "[",
            "{a,",
            "{a,b}",
            "{a,b} ",
            "[[ ",
            "<",
            "a <b ",
            "<<E ",
            "<<E\n",
            "'\"",
            "rm a;",
            "for a in ",
            "function f ",
            "eval ",
            "sudo ",
            "../",
            "*",
            "x\n",
            "bash <<E\n",
            "xargs rm a | ",
            "xargs ",
            "find -exec ",
            "a=$a$a;",
            "$a ",
        ] {
            let steps = |length: usize| {
                let text = piece.repeat(length / piece.len());
                steps::of(|| drop(writes(&text, &around)))
            };
            let (one, two) = (steps(20_000), steps(40_000));
            assert!(two <= 3 * one, "{piece:?}: {one} steps, and {two} for twice the length");
        }
    }
}
