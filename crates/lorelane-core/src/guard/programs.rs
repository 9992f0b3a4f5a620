//! Which of its operands a program writes to.
//!
//! A table of the programs that agents use on files. A program that is not listed here is ignored.

use super::word::Word;
use super::{WriteExtent, WriteKind};

/// A word that a program writes to or removes.
#[derive(Debug)]
pub(super) struct WrittenWord {
    pub(super) word: Word,
    pub(super) act: WriteKind,
    pub(super) reach: WriteExtent,
}

/// A program that runs the command after it.
pub(super) struct Wrapper {
    /// Options that take a value.
    pub(super) valued: &'static [&'static str],
    /// The number of its own operands before the command.
    pub(super) operands: usize,
}

pub(super) fn wrapper(program: &str) -> Option<Wrapper> {
    let valued: &[&str] = match program {
        "sudo" => &["-u", "-g", "-h", "-p", "-C", "-T", "-U", "-r", "-t", "-D"],
        "doas" => &["-u", "-C"],
        "env" => &["-u", "-C", "--unset", "--chdir"],
        "nice" => &["-n"],
        "ionice" => &["-c", "-n"],
        "timeout" => &["-k", "-s"],
        "stdbuf" => &["-i", "-o", "-e"],
        "exec" => &["-a"],
        "time" => &["-f", "-o"],
        // Its further arguments are what the commands before it in the pipeline name.
        "xargs" => &["-I", "-n", "-P", "-L", "-d", "-s", "-a", "-E"],
        // `function name {`: the body is read like any other commands.
        "function" => &[],
        "npx" => &["-p", "--package"],
        "command" | "builtin" | "nohup" | "setsid" | "busybox" | "toybox" => &[],
        _ => return None,
    };
    Some(Wrapper { valued, operands: usize::from(matches!(program, "timeout" | "function")) })
}

/// Reserved words that may precede a command.
pub(super) fn is_reserved(word: &str) -> bool {
    matches!(
        word,
        "{" | "}"
            | "!"
            | "if"
            | "then"
            | "elif"
            | "else"
            | "fi"
            | "while"
            | "until"
            | "do"
            | "done"
            | "coproc"
    )
}

pub(super) fn is_shell(program: &str) -> bool {
    matches!(program, "sh" | "bash" | "zsh" | "dash" | "ksh" | "ash")
}

/// Whether a shell with these words executes its standard input.
pub(super) fn runs_input(words: &[Word]) -> bool {
    shell_text(words).is_none() && words.iter().all(|word| word.starts_with('-') || word.starts_with('+'))
}

/// The text that `sh -c TEXT` runs.
pub(super) fn shell_text(words: &[Word]) -> Option<&Word> {
    let (mut at, mut runs_text) = (0, false);
    while let Some(word) = words.get(at).filter(|word| word.starts_with('-') || word.starts_with('+')) {
        let option = word.literal().unwrap_or_default();
        let is_cluster = !option.starts_with("--");
        runs_text |= is_cluster && option.contains('c');
        // `-o pipefail` takes a value.
        at += 1 + usize::from(is_cluster && option.ends_with('o'));
    }
    if runs_text { words.get(at) } else { None }
}

/// The text that `script -qc TEXT FILE` and `su -c TEXT` run.
pub(super) fn command_text(words: &[Word]) -> Option<Word> {
    words.iter().enumerate().find_map(|(at, word)| {
        let option = word.literal().filter(|option| option.starts_with('-'))?;
        match option.strip_prefix("--command") {
            Some("") => words.get(at + 1).cloned(),
            Some(attached) => attached.strip_prefix('=').map(Word::of),
            None if !option.starts_with("--") && option.ends_with('c') => words.get(at + 1).cloned(),
            None => None,
        }
    })
}

/// Whether a command removes the files that `find` passes to it.
pub(super) fn removes(command: &Word) -> bool {
    let name = command.literal().unwrap_or_default();
    matches!(name.rsplit('/').next(), Some("rm" | "unlink" | "shred"))
}

/// Whether `find` with these tests finds every file below its folders, because none of them selects by name, age
/// or size.
pub(super) fn finds_all(tests: &[Word]) -> bool {
    let mut tests = tests.iter();
    while let Some(test) = tests.next() {
        match test.literal().as_deref() {
            Some("-type" | "-mindepth") => {
                tests.next();
            }
            Some("-exec" | "-execdir" | "-ok" | "-okdir") => {
                tests.by_ref().find(|word| word.is(";") || word.is("+"));
            }
            Some("-delete" | "-depth" | "-print" | "-print0" | "-xdev" | "-mount" | "-a" | "-and") => {}
            _ => return false,
        }
    }
    true
}

/// A program and which of its words it writes to or removes. A program that does so in two ways has two rows.
struct Program {
    names: &'static [&'static str],
    /// Options that take a value.
    valued: &'static [&'static str],
    /// It writes files only with one of these options; if this is empty, always. `-i=inplace` is an option with
    /// that value.
    only_with: &'static [&'static str],
    /// It writes nothing with one of these options.
    unless: &'static [&'static str],
    touches: WrittenOperands,
}

/// Which words of a program are written or removed.
enum WrittenOperands {
    /// Every operand is written; one that starts with `+` is a command of `vim`.
    Operands,
    /// Every operand is written, and the files in an operand that is a folder.
    Formatted,
    /// The files of an in-place editor: the first operand is its script, unless one of these options gave one.
    Edited(&'static [&'static str]),
    /// The values of these options are written.
    Values(&'static [&'static str]),
    /// Files are created in the folder that the last of these options names, or in the current one, under the
    /// names of the operands from this position on.
    Into(&'static [&'static str], usize),
    /// The last operand is written, and each source below it if it is a folder. With one of these options sources
    /// may be folders.
    Landed(&'static [&'static str]),
    /// The same, but the last operand may be on another machine.
    LandedHere(&'static [&'static str]),
    /// All operands but the last are removed.
    Sources,
    /// Every operand is removed; with one of these options, everything below it too.
    Removed(&'static [&'static str]),
    /// Everything below the operands is removed, or below the current folder.
    Cleared,
    /// The rest of an operand with this prefix is written.
    Prefixed(&'static str),
    /// The files that an `awk` script prints to.
    Redirected,
    /// The files that a `sed` script writes to.
    WrittenBySed,
}

const fn program(names: &'static [&'static str], touches: WrittenOperands) -> Program {
    Program { names, valued: &[], only_with: &[], unless: &[], touches }
}

const SCRIPTS: &[&str] = &["-e", "-E", "-f", "--expression", "--file"];
const RECURSIVE: &[&str] = &["-r", "-R", "-a", "--recursive", "--archive"];
const RSYNC_VALUED: &[&str] = &["-e", "-f", "--exclude", "--include", "--filter", "--rsh"];
const VIM_VALUED: &[&str] = &["-c", "-S", "-u", "-i", "--cmd"];

const PROGRAMS: &[Program] = &[
    program(&["tee", "sponge", "ed"], WrittenOperands::Operands),
    Program { valued: &["-d", "-t", "-r"], ..program(&["touch"], WrittenOperands::Operands) },
    Program {
        valued: &["-s", "-r", "--size", "--reference"],
        ..program(&["truncate"], WrittenOperands::Operands)
    },
    Program {
        valued: VIM_VALUED,
        unless: &["-R", "-M", "-h", "--help", "--version"],
        ..program(&["ex", "vi", "vim", "nvim"], WrittenOperands::Operands)
    },
    program(&["dd"], WrittenOperands::Prefixed("of=")),
    Program {
        valued: &["-e", "-f", "-l", "--expression", "--file"],
        only_with: &["-i", "-I", "--in-place"],
        ..program(&["sed", "gsed"], WrittenOperands::Edited(SCRIPTS))
    },
    Program {
        valued: &["-e", "-f", "-l", "--expression", "--file"],
        ..program(&["sed", "gsed"], WrittenOperands::WrittenBySed)
    },
    Program {
        valued: &["-e", "-E", "-M", "-m", "-I", "-F", "-r"],
        only_with: &["-i"],
        ..program(&["perl", "ruby"], WrittenOperands::Edited(SCRIPTS))
    },
    Program {
        valued: &["-i", "-f", "-F", "-v", "--include", "--file", "--assign"],
        only_with: &["-i=inplace", "--include=inplace"],
        ..program(&["awk", "gawk"], WrittenOperands::Edited(&["-f", "--file"]))
    },
    Program {
        valued: &["-i", "-f", "-F", "-v"],
        ..program(&["awk", "gawk", "mawk", "nawk"], WrittenOperands::Redirected)
    },
    Program { only_with: &["-i", "--inplace"], ..program(&["yq"], WrittenOperands::Edited(&[])) },
    Program { only_with: &["-w", "--write"], ..program(&["prettier", "gofmt"], WrittenOperands::Formatted) },
    Program { only_with: &["-i"], ..program(&["clang-format"], WrittenOperands::Operands) },
    Program {
        valued: &["-t", "-S", "--target-directory"],
        ..program(&["cp", "ln"], WrittenOperands::Landed(RECURSIVE))
    },
    Program {
        valued: &["-t", "-m", "-o", "-g", "-S", "--target-directory"],
        // It only creates folders, which contain no memory.
        unless: &["-d", "--directory"],
        ..program(&["install"], WrittenOperands::Landed(&[]))
    },
    Program { valued: RSYNC_VALUED, ..program(&["rsync", "scp"], WrittenOperands::LandedHere(RECURSIVE)) },
    Program {
        valued: RSYNC_VALUED,
        only_with: &["--remove-source-files"],
        ..program(&["rsync"], WrittenOperands::Sources)
    },
    // A moved file is removed from here.
    Program { valued: &["-t", "-S", "--target-directory"], ..program(&["mv"], WrittenOperands::Sources) },
    Program { valued: &["-t", "-S", "--target-directory"], ..program(&["mv"], WrittenOperands::Landed(&[])) },
    program(&["rm"], WrittenOperands::Removed(&["-r", "-R", "--recursive"])),
    program(&["unlink", "rmdir"], WrittenOperands::Removed(&[])),
    Program { valued: &["-n", "-s"], ..program(&["shred"], WrittenOperands::Removed(&[])) },
    Program {
        valued: &["-e", "--exclude"],
        only_with: &["-f", "--force"],
        unless: &["-n", "--dry-run", "-e", "--exclude"],
        ..program(&["git clean"], WrittenOperands::Cleared)
    },
    Program {
        valued: &["-o", "--output", "-k", "-t", "-S", "-T"],
        ..program(&["sort"], WrittenOperands::Values(&["-o", "--output"]))
    },
    Program {
        valued: &["-o", "--output", "-d", "-H", "-X", "-u", "-A", "-e", "-b", "-F"],
        ..program(&["curl"], WrittenOperands::Values(&["-o", "--output"]))
    },
    Program {
        valued: &["-o", "-d", "-H", "-X", "-u", "-A", "-e", "-b", "-F", "--output-dir"],
        only_with: &["-O", "--remote-name", "--output-dir"],
        ..program(&["curl"], WrittenOperands::Into(&["--output-dir"], usize::MAX))
    },
    Program {
        valued: &["-O", "-o", "-a", "-P", "--output-document", "--output-file"],
        ..program(
            &["wget"],
            WrittenOperands::Values(&[
                "-O",
                "-o",
                "-a",
                "--output-document",
                "--output-file",
                "--append-output",
            ]),
        )
    },
    Program {
        valued: &["-O", "-o", "-a", "-P", "--directory-prefix", "--output-document"],
        unless: &["-O", "--output-document", "--spider"],
        ..program(&["wget"], WrittenOperands::Into(&["-P", "--directory-prefix"], usize::MAX))
    },
    Program {
        valued: &["-b", "-l", "-n", "-C", "-a", "-x"],
        ..program(&["split", "csplit"], WrittenOperands::Into(&[], 1))
    },
    Program {
        valued: &["-f", "-C", "-T", "-X", "--file", "--directory", "--exclude"],
        only_with: &["-x", "--extract", "--get"],
        ..program(&["tar", "bsdtar"], WrittenOperands::Into(&["-C", "--directory"], 0))
    },
    Program {
        valued: &["-f", "-C", "-T", "-X", "--file", "--directory", "--exclude"],
        only_with: &["-c", "-r", "-u", "-A", "--create", "--append", "--update"],
        ..program(&["tar", "bsdtar"], WrittenOperands::Values(&["-f", "--file"]))
    },
    Program {
        valued: &["-d", "-x", "-P"],
        unless: &["-l", "-t", "-p", "-v", "-Z"],
        ..program(&["unzip"], WrittenOperands::Into(&["-d"], 1))
    },
    Program {
        valued: &[
            "-d",
            "-i",
            "-o",
            "-p",
            "-r",
            "-B",
            "-D",
            "-F",
            "-V",
            "-z",
            "--directory",
            "--input",
            "--output",
        ],
        unless: &["--dry-run", "-C"],
        ..program(&["patch"], WrittenOperands::Into(&["-d", "--directory"], 0))
    },
    Program {
        valued: &["-d", "-i", "-o", "-p", "--directory", "--input", "--output"],
        unless: &["--dry-run", "-C"],
        ..program(&["patch"], WrittenOperands::Values(&["-o", "--output"]))
    },
];

/// The words that one run of a program writes or removes.
pub(super) fn touches(name: &str, words: &[Word]) -> Vec<WrittenWord> {
    let rows = PROGRAMS.iter().filter(|row| row.names.contains(&name));
    rows.flat_map(|row| row.touches(words)).collect()
}

impl Program {
    fn touches(&self, words: &[Word]) -> Vec<WrittenWord> {
        let given = ProgramArgs::read(words, self);
        let is_given = |options: &[&str]| options.iter().any(|option| given.has(option));
        if is_given(self.unless) || !(self.only_with.is_empty() || is_given(self.only_with)) {
            return Vec::new();
        }
        let operands = || given.operands.iter();
        match &self.touches {
            WrittenOperands::Operands => written(operands().filter(|word| !word.starts_with('+')).cloned()),
            WrittenOperands::Formatted => {
                let spread = |word: &Word| WrittenWord {
                    word: word.clone(),
                    act: WriteKind::Write,
                    reach: WriteExtent::Spread,
                };
                operands().map(spread).collect()
            }
            WrittenOperands::Edited(scripts) => {
                // Some systems need `sed -i ''`.
                let files = operands().filter(|word| !word.is_empty());
                written(files.skip(usize::from(!is_given(scripts))).cloned())
            }
            WrittenOperands::Values(options) => {
                written(given.values_of(options).filter(|word| !word.is("-")))
            }
            WrittenOperands::Into(options, names) => {
                let folder = given.values_of(options).last().unwrap_or_else(|| Word::of("."));
                let is_whole = |name: &Word| name.starts_with('/') || name.starts_with('~');
                let place = |name: &Word| if is_whole(name) { name.clone() } else { name.below(&folder) };
                let mut touches = written(operands().skip(*names).map(place));
                touches.push(WrittenWord {
                    word: folder.clone(),
                    act: WriteKind::Write,
                    reach: WriteExtent::Spread,
                });
                touches
            }
            WrittenOperands::Landed(recursive) => given.landed(self.reach(recursive, &given)),
            WrittenOperands::LandedHere(_) if given.lands_elsewhere() => Vec::new(),
            WrittenOperands::LandedHere(recursive) => given.landed(self.reach(recursive, &given)),
            WrittenOperands::Sources => removed(given.sources().iter().cloned(), WriteExtent::Tree),
            WrittenOperands::Removed(recursive) => removed(
                operands().cloned(),
                if is_given(recursive) { WriteExtent::Tree } else { WriteExtent::One },
            ),
            WrittenOperands::Cleared if given.operands.is_empty() => {
                removed([Word::of(".")], WriteExtent::Tree)
            }
            WrittenOperands::Cleared => removed(operands().cloned(), WriteExtent::Tree),
            WrittenOperands::Prefixed(prefix) => {
                written(operands().filter_map(|word| word.strip_prefix(prefix)))
            }
            WrittenOperands::Redirected => written(given.scripts().flat_map(|script| redirected(&script))),
            WrittenOperands::WrittenBySed => {
                written(given.scripts().flat_map(|script| written_by_sed(&script)))
            }
        }
    }

    /// A move takes everything below its source along.
    fn reach(&self, recursive: &[&str], given: &ProgramArgs) -> WriteExtent {
        let whole = self.names.contains(&"mv") || recursive.iter().any(|option| given.has(option));
        if whole { WriteExtent::Tree } else { WriteExtent::One }
    }
}

/// The arguments of a program, parsed.
struct ProgramArgs {
    /// Each with its value, if it takes one.
    options: Vec<(String, Option<Word>)>,
    operands: Vec<Word>,
}

impl ProgramArgs {
    fn read(words: &[Word], program: &Program) -> ProgramArgs {
        let is_valued = |option: &str| program.valued.contains(&option);
        let mut given = ProgramArgs { options: Vec::new(), operands: Vec::new() };
        let mut words = words.iter();
        // `tar xzf a.tgz` has its options without a dash.
        if program.names.contains(&"tar")
            && let Some(first) = words.as_slice().first().filter(|first| !first.starts_with('-'))
        {
            words.next();
            for letter in first.shown().chars() {
                let option = format!("-{letter}");
                let value = if is_valued(&option) { words.next().cloned() } else { None };
                given.options.push((option, value));
            }
        }
        while let Some(word) = words.next() {
            if word.is("--") {
                given.operands.extend(words.by_ref().cloned());
            } else if !word.starts_with('-') || word.is("-") {
                given.operands.push(word.clone());
            } else if word.shown().starts_with("--") {
                let (name, attached) = word.split_at_first('=');
                let name = name.shown();
                let value = attached.or_else(|| is_valued(&name).then(|| words.next().cloned()).flatten());
                given.options.push((name, value));
            } else {
                given.read_cluster(word, &is_valued, &mut words);
            }
        }
        given
    }

    /// `-rf`, `-oFILE` and `-o FILE`: letters up to the first one that takes the rest, or the next word, as its
    /// value.
    fn read_cluster<'w>(
        &mut self,
        word: &Word,
        is_valued: &dyn Fn(&str) -> bool,
        words: &mut impl Iterator<Item = &'w Word>,
    ) {
        for (at, letter) in word.shown().chars().enumerate().skip(1) {
            let option = format!("-{letter}");
            if is_valued(&option) {
                let attached = word.skip(at + 1);
                let value = if attached.is_empty() { words.next().cloned() } else { Some(attached) };
                return self.options.push((option, value));
            }
            self.options.push((option, None));
        }
    }

    fn has(&self, wanted: &str) -> bool {
        let (wanted, with) =
            wanted.split_once('=').map_or((wanted, None), |(name, value)| (name, Some(value)));
        let is_with =
            |value: &Option<Word>| with.is_none_or(|with| value.as_ref().is_some_and(|value| value.is(with)));
        self.options.iter().any(|(option, value)| option == wanted && is_with(value))
    }

    fn values_of(&self, options: &[&str]) -> impl Iterator<Item = Word> {
        let wanted = self.options.iter().filter(|(option, _)| options.contains(&option.as_str()));
        wanted.filter_map(|(_, value)| value.clone())
    }

    /// The scripts of an editor: from its options, or its first operand.
    fn scripts(&self) -> impl Iterator<Item = String> {
        let by_option = self.values_of(&["-e", "--expression"]);
        by_option.chain(self.operands.first().cloned()).map(|script| script.shown())
    }

    /// The folder of `-t`.
    fn folder(&self) -> Option<Word> {
        self.values_of(&["-t", "--target-directory"]).last()
    }

    /// The files that are copied or moved.
    fn sources(&self) -> &[Word] {
        match (self.folder(), self.operands.split_last()) {
            (None, Some((_, sources))) => sources,
            _ => &self.operands,
        }
    }

    /// Where they go.
    fn destination(&self) -> Option<Word> {
        self.folder().or_else(|| self.operands.last().filter(|_| self.operands.len() > 1).cloned())
    }

    fn lands_elsewhere(&self) -> bool {
        let host = |word: Word| word.shown().split('/').next().is_some_and(|host| host.contains(':'));
        self.destination().is_none_or(host)
    }

    /// The destination, and the path of each source if the destination is a folder.
    fn landed(&self, reach: WriteExtent) -> Vec<WrittenWord> {
        let Some(destination) = self.destination() else {
            // `ln TARGET` creates a link in the current folder.
            return written(self.operands.iter().map(Word::last_name));
        };
        // The contents of a source that ends with a slash or a dot are copied, and so are those of any source
        // with `-T`.
        let is_spread = |source: &Word| source.ends_with('/') || source.last_name().is(".");
        let is_spread =
            reach == WriteExtent::Tree && (self.has("-T") || self.sources().iter().any(is_spread));
        let whole = if is_spread { WriteExtent::Spread } else { WriteExtent::One };
        let into = |word: Word, reach: WriteExtent| WrittenWord { word, act: WriteKind::Write, reach };
        let below = self.sources().iter().map(|source| into(source.last_name().below(&destination), reach));
        std::iter::once(into(destination.clone(), whole)).chain(below).collect()
    }
}

fn written(words: impl IntoIterator<Item = Word>) -> Vec<WrittenWord> {
    words
        .into_iter()
        .map(|word| WrittenWord { word, act: WriteKind::Write, reach: WriteExtent::One })
        .collect()
}

fn removed(words: impl IntoIterator<Item = Word>, reach: WriteExtent) -> Vec<WrittenWord> {
    words.into_iter().map(|word| WrittenWord { word, act: WriteKind::Remove, reach }).collect()
}

/// At most this many targets are read from one script.
const SCRIPT_PLACES_MAX: usize = 16;

/// The quoted names after `>` and `>>`.
fn redirected(script: &str) -> Vec<Word> {
    let after = script.split('>').skip(1).take(SCRIPT_PLACES_MAX);
    let quoted = after.filter_map(|rest| rest.trim_start().strip_prefix('"')?.split('"').next());
    quoted.map(Word::of).collect()
}

/// The rest of the line after each `w `. Much of that is not a file, but only paths in a lane matter.
fn written_by_sed(script: &str) -> Vec<Word> {
    let lines = script.lines().flat_map(|line| line.match_indices("w ").map(|(at, _)| &line[at + 2..]));
    lines.take(SCRIPT_PLACES_MAX).map(|file| Word::of(file.trim())).collect()
}
