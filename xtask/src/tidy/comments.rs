//! Counts `//` comments beside code, crate by crate.

use std::collections::BTreeMap;

use super::codebase::Codebase;

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Commented {
    /// Lines with a `//` comment, alone or after code. Doc comments do not count.
    pub(super) comments: usize,
    /// Lines with code on them.
    pub(super) lines: usize,
}

pub(super) fn commented(codebase: &Codebase) -> BTreeMap<&str, Commented> {
    let mut crates: BTreeMap<&str, Commented> = BTreeMap::new();
    for file in &codebase.files {
        let commented = crates.entry(file.crate_name()).or_default();
        commented.comments += file.comments.len();
        commented.lines += file.code.lines().filter(|line| !line.trim().is_empty()).count();
    }
    crates
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_counted_per_crate_against_lines_of_code() {
        let files = [
            ("crates/a/src/lib.rs", "//! Docs.\n\nfn f() {\n    // Why.\n    g(); // How.\n}\n"),
            ("crates/a/src/b.rs", "/// Docs.\nstruct B;\n#[cfg(test)]\nmod tests {\n    // Not here.\n}\n"),
            ("crates/c/src/lib.rs", "mod d;"),
        ];
        let files = files.map(|(path, text)| (path.to_owned(), text.to_owned()));
        let codebase = Codebase::read(&files);
        let commented = commented(&codebase);
        assert_eq!(commented["a"], Commented { comments: 2, lines: 4 });
        assert_eq!(commented["c"], Commented { comments: 0, lines: 1 });
    }
}
