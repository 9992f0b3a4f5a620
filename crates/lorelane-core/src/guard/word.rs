//! A word of a command line: the parts that are known, and those that only the shell knows.

/// How many words a brace expansion may produce.
const BRACED_MAX: usize = 64;
/// A word with more brace groups is not expanded.
const GROUPS_MAX: usize = 8;
/// No path is longer, and a variable that doubles itself must not exhaust memory.
const LENGTH_MAX: usize = 8_192;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Atom {
    Char(char),
    /// `*`: any number of characters in a name.
    Run,
    /// `?` and `[…]`: any one character.
    One,
    /// What only the shell knows: an unset variable, the output of a command.
    Unknown,
    /// The parts of `{a,b}` before it is expanded.
    Open,
    Comma,
    Close,
}

/// Whether the file system distinguishes case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Case {
    Counts,
    Ignored,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Word(Vec<Atom>);

impl Word {
    pub(super) fn of(text: &str) -> Word {
        Word(text.chars().take(LENGTH_MAX).map(Atom::Char).collect())
    }

    pub(super) fn push(&mut self, atom: Atom) {
        match self.0.len() {
            length if length < LENGTH_MAX => self.0.push(atom),
            LENGTH_MAX => self.0.push(Atom::Unknown),
            _ => {}
        }
    }

    pub(super) fn push_text(&mut self, text: &str) {
        text.chars().for_each(|c| self.push(Atom::Char(c)));
    }

    pub(super) fn push_word(&mut self, word: &Word) {
        word.0.iter().for_each(|atom| self.push(*atom));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn starts_with(&self, c: char) -> bool {
        self.0.first() == Some(&Atom::Char(c))
    }

    pub(super) fn ends_with(&self, c: char) -> bool {
        self.0.last() == Some(&Atom::Char(c))
    }

    /// The word's text, if all of it is known.
    pub(super) fn literal(&self) -> Option<String> {
        Word::literal_of(&self.0)
    }

    pub(super) fn literal_of(atoms: &[Atom]) -> Option<String> {
        atoms.iter().map(|atom| if let Atom::Char(c) = atom { Some(*c) } else { None }).collect()
    }

    pub(super) fn strip_prefix(&self, prefix: &str) -> Option<Word> {
        let length = prefix.chars().count();
        let begins = self.0.len() >= length && prefix.chars().zip(&self.0).all(|(c, a)| *a == Atom::Char(c));
        begins.then(|| Word(self.0[length..].to_vec()))
    }

    pub(super) fn is(&self, text: &str) -> bool {
        self.0.len() == text.chars().count() && self.strip_prefix(text).is_some()
    }

    pub(super) fn skip(&self, count: usize) -> Word {
        Word(self.0.get(count..).unwrap_or_default().to_vec())
    }

    /// The text before the first `c`, and the text after it if there is one.
    pub(super) fn split_at_first(&self, c: char) -> (Word, Option<Word>) {
        match self.0.iter().position(|atom| *atom == Atom::Char(c)) {
            Some(at) => (Word(self.0[..at].to_vec()), Some(self.skip(at + 1))),
            None => (self.clone(), None),
        }
    }

    /// Some file below this path, whose name only the shell knows.
    pub(super) fn something_below(&self) -> Word {
        Word(vec![Atom::Unknown]).below(self)
    }

    /// The parts of `NAME=value`.
    pub(super) fn assignment(&self) -> Option<(String, Word)> {
        let at = self.0.iter().position(|atom| *atom == Atom::Char('='))?;
        let name = Word(self.0[..at].to_vec()).literal()?;
        let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            && name.chars().next().is_some_and(|c| !c.is_ascii_digit());
        is_name.then(|| (name, Word(self.0[at + 1..].to_vec())))
    }

    /// The last name of a path, as it is written.
    pub(super) fn last_name(&self) -> Word {
        let names = self.names();
        Word(names.into_iter().rfind(|name| !name.is_empty()).unwrap_or_default().to_vec())
    }

    pub(super) fn below(&self, folder: &Word) -> Word {
        let mut path = folder.clone();
        path.push(Atom::Char('/'));
        path.push_word(self);
        path
    }

    /// The names of a path between its slashes.
    pub(super) fn names(&self) -> Vec<&[Atom]> {
        self.0.split(|atom| *atom == Atom::Char('/')).collect()
    }

    /// The word as it would be typed.
    pub(super) fn shown(&self) -> String {
        Word::text_of(&self.0)
    }

    pub(super) fn text_of(atoms: &[Atom]) -> String {
        atoms
            .iter()
            .map(|atom| match atom {
                Atom::Char(c) => *c,
                Atom::Run => '*',
                Atom::One => '?',
                Atom::Unknown => '…',
                Atom::Open => '{',
                Atom::Comma => ',',
                Atom::Close => '}',
            })
            .collect()
    }

    /// The brace expansion of this word. Braces that form no group are plain characters.
    pub(super) fn unbraced(mut self) -> Vec<Word> {
        if let Some(first) = self.0.iter().position(|atom| *atom == Atom::Open)
            && self.0.iter().filter(|atom| **atom == Atom::Open).count() > GROUPS_MAX
        {
            self.0.truncate(first);
            self.0.push(Atom::Unknown);
        }
        let mut words = Vec::new();
        split_word(&self.0, &mut words);
        words
    }
}

fn split_word(atoms: &[Atom], words: &mut Vec<Word>) {
    if words.len() >= BRACED_MAX {
        return;
    }
    let Some(group) = first_group(atoms) else {
        let plain = |atom: &Atom| match atom {
            Atom::Open => Atom::Char('{'),
            Atom::Comma => Atom::Char(','),
            Atom::Close => Atom::Char('}'),
            other => *other,
        };
        words.push(Word(atoms.iter().map(plain).collect()));
        return;
    };
    for bounds in group.windows(2) {
        let (before, choice, after) =
            (&atoms[..group[0]], &atoms[bounds[0] + 1..bounds[1]], &atoms[group[group.len() - 1] + 1..]);
        split_word(&[before, choice, after].concat(), words);
    }
}

/// The positions where the first group opens, has its commas, and closes.
fn first_group(atoms: &[Atom]) -> Option<Vec<usize>> {
    let opens = atoms.iter().enumerate().filter(|(_, atom)| **atom == Atom::Open);
    opens.map(|(at, _)| at).find_map(|open| {
        let (mut depth, mut bounds) = (0_usize, vec![open]);
        for (at, atom) in atoms.iter().enumerate().skip(open + 1) {
            match atom {
                Atom::Open => depth += 1,
                Atom::Comma if depth == 0 => bounds.push(at),
                Atom::Close if depth == 0 => {
                    bounds.push(at);
                    return (bounds.len() > 2).then_some(bounds);
                }
                Atom::Close => depth -= 1,
                _ => {}
            }
        }
        None
    })
}

/// Whether a pattern can match a name. As in a shell, a leading dot is matched only by a dot.
pub(super) fn matches(pattern: &[Atom], name: &str, case: Case) -> bool {
    if name.starts_with('.') && pattern.first() != Some(&Atom::Char('.')) {
        return false;
    }
    let name: Vec<char> = name.chars().collect();
    let (mut p, mut n) = (0, 0);
    let mut last_run: Option<(usize, usize)> = None;
    while n < name.len() {
        match pattern.get(p) {
            Some(Atom::Run | Atom::Unknown) => {
                last_run = Some((p, n));
                p += 1;
                continue;
            }
            Some(Atom::One) => {
                (p, n) = (p + 1, n + 1);
                continue;
            }
            Some(Atom::Char(c)) if same(*c, name[n], case) => {
                (p, n) = (p + 1, n + 1);
                continue;
            }
            _ => {}
        }
        // Backtrack: the last `*` takes one more character.
        let Some((run, taken)) = last_run else { return false };
        last_run = Some((run, taken + 1));
        (p, n) = (run + 1, taken + 1);
    }
    pattern[p..].iter().all(|atom| matches!(atom, Atom::Run | Atom::Unknown))
}

/// Whether a name that matches the pattern may end like this.
pub(super) fn may_end_with(pattern: &[Atom], end: &str, case: Case) -> bool {
    let mut atoms = pattern.iter().rev();
    for c in end.chars().rev() {
        match atoms.next() {
            Some(Atom::Run | Atom::Unknown) => return true,
            Some(Atom::One) => {}
            Some(Atom::Char(known)) if same(*known, c, case) => {}
            _ => return false,
        }
    }
    true
}

fn same(a: char, b: char, case: Case) -> bool {
    a == b || (case == Case::Ignored && a.to_lowercase().eq(b.to_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(text: &str) -> Word {
        let mut word = Word::default();
        for c in text.chars() {
            word.push(match c {
                '*' => Atom::Run,
                '?' => Atom::One,
                '{' => Atom::Open,
                ',' => Atom::Comma,
                '}' => Atom::Close,
                c => Atom::Char(c),
            });
        }
        word
    }

    #[test]
    fn braces_make_words_and_other_braces_stay() {
        for (text, expected) in [
            ("a", "a"),
            ("{a,b}c", "ac bc"),
            ("x{a,{b,c}d}", "xa xbd xcd"),
            ("{a}", "{a}"),
            ("a,b", "a,b"),
            ("{a,b", "{a,b"),
            ("{a}{b,c}", "{a}b {a}c"),
            ("{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}", "…"),
        ] {
            let seen: Vec<String> = word(text).unbraced().iter().map(Word::shown).collect();
            assert_eq!(seen.join(" "), expected, "{text}");
        }
        assert_eq!(word(&"{a,b}".repeat(8)).unbraced().len(), BRACED_MAX);
    }

    #[test]
    fn a_pattern_means_what_it_means_to_a_shell() {
        for (pattern, name, case, expected) in [
            ("memory", "memory", Case::Counts, true),
            ("Memory", "memory", Case::Counts, false),
            ("Memory", "memory", Case::Ignored, true),
            ("m*", "memory", Case::Counts, true),
            ("*o*y", "memory", Case::Counts, true),
            ("m?mory", "memory", Case::Counts, true),
            ("m?", "memory", Case::Counts, false),
            ("*", ".claude", Case::Counts, false),
            (".*", ".claude", Case::Counts, true),
            ("*x", "memory", Case::Counts, false),
            ("", "memory", Case::Counts, false),
        ] {
            assert_eq!(matches(&word(pattern).0, name, case), expected, "{pattern} {name} {case:?}");
        }
    }
}
