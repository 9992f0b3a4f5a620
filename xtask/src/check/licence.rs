//! Checks licence expressions of packages against the licences we accept.
//!
//! Reads SPDX (`AND`, `OR`, `WITH`, brackets) and the older `MIT/Apache-2.0`.

/// Permissive licences, compatible with our own `MIT OR Apache-2.0`.
///
/// Not here on purpose: `MPL-2.0` and every other copyleft. `NCSA` is in libFuzzer, which only
/// the fuzz targets link.
pub(super) const ACCEPTED: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "CC0-1.0",
    "ISC",
    "MIT",
    "MIT-0",
    "NCSA",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// Whether the expression can be satisfied with accepted licences only.
pub(super) fn accepts(expression: &str) -> Result<bool, String> {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    if words.is_empty() {
        return Err("it states no licence".to_owned());
    }
    let mut reader = Reader { words: &words, at: 0 };
    let accepted = reader.any_of()?;
    if reader.at < words.len() {
        return Err(format!("cannot read `{expression}` at `{}`", words[reader.at]));
    }
    Ok(accepted)
}

struct Reader<'a> {
    words: &'a [&'a str],
    at: usize,
}

impl Reader<'_> {
    fn any_of(&mut self) -> Result<bool, String> {
        let mut accepted = self.all_of()?;
        while self.takes("OR") {
            // Both sides are parsed in any case: otherwise the rest would be a syntax error.
            accepted |= self.all_of()?;
        }
        Ok(accepted)
    }

    /// `AND` binds more tightly than `OR`.
    fn all_of(&mut self) -> Result<bool, String> {
        let mut accepted = self.one()?;
        while self.takes("AND") {
            accepted &= self.one()?;
        }
        Ok(accepted)
    }

    fn one(&mut self) -> Result<bool, String> {
        if self.takes("(") {
            let accepted = self.any_of()?;
            return if self.takes(")") { Ok(accepted) } else { Err("a bracket is not closed".to_owned()) };
        }
        let name = self.name()?;
        let licence = if self.takes("WITH") { format!("{name} WITH {}", self.name()?) } else { name };
        Ok(ACCEPTED.contains(&licence.as_str()))
    }

    fn name(&mut self) -> Result<String, String> {
        let word = self.words.get(self.at).copied().unwrap_or("the end");
        if ["AND", "OR", "WITH", "(", ")", "the end"].contains(&word) {
            return Err(format!("a licence should stand at {word}"));
        }
        self.at += 1;
        Ok(word.to_owned())
    }

    fn takes(&mut self, word: &str) -> bool {
        let found = self.words.get(self.at) == Some(&word);
        self.at += usize::from(found);
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expression_is_accepted_when_one_of_its_choices_is() {
        for (expression, expected) in [
            ("MIT", Ok(true)),
            ("MIT OR Apache-2.0", Ok(true)),
            ("MIT/Apache-2.0", Ok(true)),
            ("Unlicense/MIT", Ok(true)),
            ("GPL-3.0-only", Ok(false)),
            ("MPL-2.0", Ok(false)),
            ("MIT OR GPL-3.0-only", Ok(true)),
            ("GPL-3.0-only OR MIT", Ok(true)),
            ("MIT AND GPL-3.0-only", Ok(false)),
            ("GPL-3.0-only AND MIT", Ok(false)),
            ("MIT OR Apache-2.0 OR LGPL-2.1-or-later", Ok(true)),
            ("(MIT OR Apache-2.0) AND Unicode-3.0", Ok(true)),
            ("(MIT OR Apache-2.0) AND GPL-2.0-only", Ok(false)),
            ("GPL-2.0-only AND MIT OR ISC", Ok(true)),
            ("GPL-2.0-only AND (MIT OR ISC)", Ok(false)),
            ("Apache-2.0 WITH LLVM-exception", Ok(true)),
            ("Apache-2.0 WITH LLVM-exception OR Apache-2.0 OR MIT", Ok(true)),
            ("GPL-2.0-only WITH Classpath-exception-2.0", Ok(false)),
            ("MIT WITH LLVM-exception", Ok(false)),
            ("Apache-2.0+", Ok(false)),
            ("((MIT))", Ok(true)),
            ("", Err(())),
            ("MIT OR", Err(())),
            ("AND MIT", Err(())),
            ("(MIT", Err(())),
            ("MIT)", Err(())),
            ("MIT Apache-2.0", Err(())),
            ("Apache-2.0 WITH", Err(())),
        ] {
            assert_eq!(accepts(expression).map_err(drop), expected, "{expression}");
        }
    }
}
