//! Globs over paths of the project, as `.gitignore` has them: a pattern without a slash matches a name in any folder.

/// How many patterns braces may expand to.
const BRACED_MAX: usize = 16;
const LENGTH_MAX: usize = 256;
/// A path with more names than this matches nothing.
const NAMES_MAX: usize = 128;

/// The patterns of a text with wildcards; empty if it matches everything, or leads out of the project.
pub(crate) fn patterns(text: &str) -> Vec<String> {
    if text.len() > LENGTH_MAX || text.chars().any(char::is_control) {
        return Vec::new();
    }
    let mut expanded = Vec::new();
    expand(text, &mut expanded);
    if expanded.len() > BRACED_MAX {
        return Vec::new();
    }
    expanded.retain(|pattern| is_telling(pattern));
    expanded
}

pub(crate) fn has_wildcard(text: &str) -> bool {
    text.contains(['*', '?', '[', '{'])
}

/// Whether some part of the pattern is not a wildcard: `**/*.*` matches everything.
fn is_telling(pattern: &str) -> bool {
    let mut in_set = false;
    let literal = pattern.chars().any(|c| match c {
        '[' => {
            in_set = true;
            false
        }
        ']' => {
            in_set = false;
            false
        }
        c => !in_set && c.is_alphanumeric(),
    });
    let stays = pattern.split('/').all(|name| !name.is_empty() && name != "." && name != "..");
    literal && stays && pattern.split('/').count() <= NAMES_MAX
}

fn expand(text: &str, into: &mut Vec<String>) {
    if into.len() > BRACED_MAX {
        return;
    }
    let group = text.rfind('{').and_then(|open| Some((open, open + text[open..].find('}')?)));
    let Some((open, close)) = group else { return into.push(text.to_owned()) };
    for choice in text[open + 1..close].split(',') {
        expand(&format!("{}{choice}{}", &text[..open], &text[close + 1..]), into);
    }
}

/// The folder that every match is in: the names before the first wildcard.
pub(crate) fn literal_folder(pattern: &str) -> String {
    let names: Vec<&str> = pattern.split('/').collect();
    let folders = names.iter().take(names.len() - 1).take_while(|name| !has_wildcard(name));
    folders.copied().collect::<Vec<_>>().join("/")
}

pub(crate) fn matches(pattern: &str, path: &str) -> bool {
    let names: Vec<&str> = path.split('/').collect();
    let wanted: Vec<&str> = pattern.split('/').collect();
    if names.len() > NAMES_MAX || wanted.len() > NAMES_MAX {
        return false;
    }
    if let [wanted] = wanted.as_slice() {
        return names.iter().any(|name| *wanted != "**" && name_matches(wanted, name));
    }
    // `reached[n]`: the pattern so far can end before name `n`.
    let mut reached = vec![false; names.len() + 1];
    reached[0] = true;
    for wanted in wanted {
        let mut next = vec![false; names.len() + 1];
        for at in 0..=names.len() {
            if !reached[at] {
                continue;
            }
            match wanted {
                "**" => next[at..].fill(true),
                wanted if at < names.len() && name_matches(wanted, names[at]) => next[at + 1] = true,
                _ => {}
            }
        }
        reached = next;
    }
    // A pattern that matches a folder matches what is below it.
    reached[1..].iter().any(|ends| *ends)
}

/// Whether a pattern without slashes matches a name.
fn name_matches(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    let (mut p, mut n) = (0, 0);
    let mut last_run: Option<(usize, usize)> = None;
    while n < name.len() {
        match pattern.get(p) {
            Some('*') => {
                last_run = Some((p, n));
                p += 1;
                continue;
            }
            Some('[') => {
                if let Some((end, is_in)) = in_set(&pattern[p..], name[n])
                    && is_in
                {
                    (p, n) = (p + end, n + 1);
                    continue;
                }
            }
            Some(c) if *c == '?' || *c == name[n] => {
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
    pattern[p..].iter().all(|c| *c == '*')
}

/// The length of the set `[…]` at the start of a pattern, and whether it has the character. `None` without its end.
fn in_set(pattern: &[char], c: char) -> Option<(usize, bool)> {
    let negated = matches!(pattern.get(1), Some('!' | '^'));
    let first = 1 + usize::from(negated);
    let end = pattern.iter().skip(first + 1).position(|c| *c == ']')? + first + 1;
    let (mut at, mut found) = (first, false);
    while at < end {
        match pattern.get(at..at + 3) {
            Some([low, '-', high]) if at + 2 < end => {
                found |= (*low..=*high).contains(&c);
                at += 3;
            }
            _ => {
                found |= pattern[at] == c;
                at += 1;
            }
        }
    }
    Some((end + 1, found != negated))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_glob_matches_as_in_gitignore() {
        for (pattern, path, expected) in [
            ("src/*.rs", "src/main.rs", true),
            ("src/*.rs", "src/a/main.rs", false),
            ("src/**", "src/a/main.rs", true),
            ("src/**/*.rs", "src/main.rs", true),
            ("src/**/*.rs", "src/a/b/main.rs", true),
            ("src/**/*.rs", "lib/main.rs", false),
            ("**/migrations/*.sql", "db/migrations/1.sql", true),
            ("**/migrations/*.sql", "migrations/1.sql", true),
            ("**/migrations/*.sql", "migrations/1.py", false),
            ("*.sql", "db/migrations/1.sql", true),
            ("*.sql", "db/1.sqlx", false),
            ("api/*", "api/v1/users.ts", true),
            ("a?c/x", "abc/x", true),
            ("a?c/x", "ac/x", false),
            ("v[0-9]/x", "v1/x", true),
            ("v[!0-9]/x", "v1/x", false),
            ("v[0-9/x", "v1/x", false),
            ("Src/*.rs", "src/main.rs", false),
        ] {
            assert_eq!(matches(pattern, path), expected, "{pattern} {path}");
        }
    }

    #[test]
    fn a_pattern_that_says_nothing_is_none() {
        for (text, expected) in [
            ("*", ""),
            ("**", ""),
            ("**/*", ""),
            ("*.*", ""),
            ("**/*.*", ""),
            ("?*", ""),
            ("[a-z]*", ""),
            ("{*,**}", ""),
            ("../*.rs", ""),
            ("src/../*.rs", ""),
            ("/etc/*", ""),
            ("src//*.rs", ""),
            ("*.{ts,tsx}", "*.ts *.tsx"),
            ("{a,b}/{c,d}*", "a/c* b/c* a/d* b/d*"),
            ("a{b", "a{b"),
            ("{a,b}{a,b}{a,b}{a,b}{a,b}", ""),
        ] {
            assert_eq!(patterns(text).join(" "), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_pattern_is_matched_without_panic(pattern in "[a*?\\[\\]!/{},.-]{0,20}", path in "[ab/.]{0,20}") {
            for pattern in patterns(&pattern) {
                let found = matches(&pattern, &path);
                let folder = literal_folder(&pattern);
                // The folder is how a map finds the pattern.
                prop_assert!(!found || path.starts_with(&folder), "{pattern}");
            }
        }
    }
}
