//! Which of its words a program writes to.
//!
//! A table of the programs that agents use on files. What is not here is not seen: it is a fence, not a wall.

use super::word::Word;
use super::{Act, Reach};

/// A word that a program writes to or takes away.
#[derive(Debug)]
pub(super) struct Touch {
    pub(super) word: Word,
    pub(super) act: Act,
    pub(super) reach: Reach,
}

/// A program that runs the command which follows it.
pub(super) struct Wrapper {
    /// Options that are followed by a value.
    pub(super) valued: &'static [&'static str],
    /// Words of its own before the command.
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
        // What it reads and adds, only the shell knows; what stands here counts.
        "xargs" => &["-I", "-n", "-P", "-L", "-d", "-s", "-a", "-E"],
        // `function name {`: its body is read like any other command.
        "function" => &[],
        "command" | "builtin" | "nohup" | "setsid" => &[],
        _ => return None,
    };
    Some(Wrapper { valued, operands: usize::from(matches!(program, "timeout" | "function")) })
}

/// What stands before a command and is none.
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

/// The text that `sh -c TEXT` runs.
pub(super) fn shell_text(words: &[Word]) -> Option<&Word> {
    let (mut at, mut runs_text) = (0, false);
    while let Some(word) = words.get(at).filter(|word| word.starts_with('-') || word.starts_with('+')) {
        let option = word.literal().unwrap_or_default();
        let is_cluster = !option.starts_with("--");
        runs_text |= is_cluster && option.contains('c');
        // `-o pipefail` has a value.
        at += 1 + usize::from(is_cluster && option.ends_with('o'));
    }
    if runs_text { words.get(at) } else { None }
}

/// The words that one run of a program touches.
pub(super) fn touches(program: &str, words: &[Word]) -> Vec<Touch> {
    match program {
        "tee" | "sponge" => written(Given::read(words, &[]).operands),
        "touch" => written(Given::read(words, &["-d", "-t", "-r"]).operands),
        "truncate" => written(Given::read(words, &["-s", "-r", "--size", "--reference"]).operands),
        "dd" => written(words.iter().filter_map(|word| word.strip_prefix("of="))),
        "sed" => sed(words),
        "perl" => perl(words),
        "cp" | "ln" => landed(&Given::read(words, &["-t", "-S"])),
        "install" => install(words),
        "rsync" => rsync(words),
        "mv" => {
            let given = Given::read(words, &["-t", "-S"]);
            // What goes elsewhere is gone from here.
            let sources = given.sources().iter().cloned();
            let mut touches: Vec<Touch> = removed(sources, Reach::Tree);
            touches.extend(landed(&given));
            touches
        }
        "rm" => {
            let given = Given::read(words, &[]);
            let recursive = given.has_letter(&['r', 'R'], &[]) || given.has("--recursive");
            removed(given.operands, if recursive { Reach::Tree } else { Reach::One })
        }
        "unlink" | "rmdir" => removed(Given::read(words, &[]).operands, Reach::One),
        "shred" => removed(Given::read(words, &["-n", "-s"]).operands, Reach::One),
        _ => Vec::new(),
    }
}

/// The words after a program's name, sorted.
struct Given {
    options: Vec<String>,
    /// The value of `-t DIR` and its like.
    folder: Option<Word>,
    operands: Vec<Word>,
}

impl Given {
    /// `valued` are the options that are followed by a value.
    fn read(words: &[Word], valued: &[&str]) -> Given {
        let mut given = Given { options: Vec::new(), folder: None, operands: Vec::new() };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let option = word.literal().unwrap_or_default();
            if option == "--" {
                given.operands.extend(words.by_ref().cloned());
            } else if !word.starts_with('-') || option == "-" {
                given.operands.push(word.clone());
            } else if let Some(folder) = word.strip_prefix("--target-directory=") {
                given.folder = Some(folder);
            } else if option == "--target-directory" || (option == "-t" && valued.contains(&"-t")) {
                given.folder = words.next().cloned();
            } else if let Some(folder) = word.strip_prefix("-t").filter(|_| valued.contains(&"-t")) {
                given.folder = Some(folder);
            } else {
                if valued.contains(&option.as_str()) {
                    words.next();
                }
                given.options.push(option);
            }
        }
        given
    }

    fn has(&self, option: &str) -> bool {
        self.options.iter().any(|given| given == option)
    }

    /// Whether a cluster such as `-rf` has one of these letters, before one that takes the rest as its value.
    fn has_letter(&self, letters: &[char], valued: &[char]) -> bool {
        let clusters = self.options.iter().filter_map(|option| option.strip_prefix('-'));
        clusters
            .filter(|cluster| !cluster.starts_with('-'))
            .any(|cluster| cluster.chars().take_while(|c| !valued.contains(c)).any(|c| letters.contains(&c)))
    }

    /// What is copied or moved.
    fn sources(&self) -> &[Word] {
        match (&self.folder, self.operands.split_last()) {
            (None, Some((_, sources))) => sources,
            _ => &self.operands,
        }
    }

    /// Where it goes.
    fn destination(&self) -> Option<&Word> {
        self.folder.as_ref().or_else(|| self.operands.last().filter(|_| self.operands.len() > 1))
    }
}

fn written(words: impl IntoIterator<Item = Word>) -> Vec<Touch> {
    words.into_iter().map(|word| Touch { word, act: Act::Write, reach: Reach::One }).collect()
}

fn removed(words: impl IntoIterator<Item = Word>, reach: Reach) -> Vec<Touch> {
    words.into_iter().map(|word| Touch { word, act: Act::Remove, reach }).collect()
}

/// The destination, and where each source lies if the destination is a folder.
fn landed(given: &Given) -> Vec<Touch> {
    let Some(destination) = given.destination() else {
        // `ln TARGET` makes a link in the current folder.
        return written(given.operands.iter().map(Word::last_name));
    };
    let below = given.sources().iter().map(|source| source.last_name().below(destination));
    written(std::iter::once(destination.clone()).chain(below))
}

fn install(words: &[Word]) -> Vec<Touch> {
    let given = Given::read(words, &["-t", "-m", "-o", "-g", "-S"]);
    // It only makes folders: they hold no memory.
    if given.has_letter(&['d'], &[]) || given.has("--directory") {
        return Vec::new();
    }
    landed(&given)
}

fn rsync(words: &[Word]) -> Vec<Touch> {
    let given = Given::read(words, &["-e", "-f", "--exclude", "--include", "--filter", "--rsh"]);
    let is_remote = |word: &Word| word.shown().split('/').next().is_some_and(|host| host.contains(':'));
    let mut touches = Vec::new();
    if given.has("--remove-source-files") {
        touches.extend(removed(given.sources().iter().cloned(), Reach::Tree));
    }
    if given.destination().is_some_and(|destination| !is_remote(destination)) {
        touches.extend(landed(&given));
    }
    touches
}

fn sed(words: &[Word]) -> Vec<Touch> {
    let given = Given::read(words, &["-e", "-f", "-l", "--expression", "--file"]);
    let is_long = |option: &String| option.starts_with("--in-place");
    if !given.has_letter(&['i', 'I'], &['e', 'f', 'l']) && !given.options.iter().any(is_long) {
        return Vec::new();
    }
    edited(&given, &["-e", "-f", "--expression", "--file"])
}

fn perl(words: &[Word]) -> Vec<Touch> {
    let given = Given::read(words, &["-e", "-E", "-pe", "-ne", "-pie", "-nie", "-I"]);
    if !given.has_letter(&['i'], &['e', 'E', 'M', 'm', 'I', 'F']) {
        return Vec::new();
    }
    edited(&given, &["-e", "-E", "-pe", "-ne", "-pie", "-nie"])
}

/// The files of an editor in place: the first word is its script unless an option gave one.
fn edited(given: &Given, script_options: &[&str]) -> Vec<Touch> {
    let is_script = |option: &String| {
        script_options.iter().any(|name| option == name || option.starts_with(&format!("{name}=")))
            || (option.len() > 2 && !option.starts_with("--") && option.ends_with('e'))
    };
    let has_script = given.options.iter().any(is_script);
    // Some systems want `sed -i ''`.
    let files = given.operands.iter().filter(|word| !word.is_empty());
    written(files.skip(usize::from(!has_script)).cloned())
}
