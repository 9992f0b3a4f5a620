//! The options of one command: `--name value` or `--name`.
//!
//! The product uses clap; this crate is built before every check, so it has no such dependency.

use std::str::FromStr;

use crate::failure::Failure;

#[derive(Debug)]
pub struct Args {
    usage: &'static str,
    words: Vec<String>,
}

impl Args {
    pub fn new(usage: &'static str, words: Vec<String>) -> Args {
        Args { usage, words }
    }

    /// Removes `--name value` from the arguments and returns the value.
    pub fn option<T: FromStr>(&mut self, name: &str) -> Result<Option<T>, Failure> {
        let Some(at) = self.words.iter().position(|word| word == name) else { return Ok(None) };
        if at + 1 >= self.words.len() {
            return Err(self.refusal(format!("{name} needs a value")));
        }
        let value = self.words.remove(at + 1);
        self.words.remove(at);
        match value.parse() {
            Ok(parsed) => Ok(Some(parsed)),
            Err(_) => Err(self.refusal(format!("cannot read {name} `{value}`"))),
        }
    }

    /// Removes `--name` from the arguments and returns whether it was there.
    pub fn flag(&mut self, name: &str) -> bool {
        let before = self.words.len();
        self.words.retain(|word| word != name);
        self.words.len() < before
    }

    /// Rejects arguments that are left: a misspelt option must not run with its default.
    pub fn finish(self) -> Result<(), Failure> {
        match self.words.first() {
            None => Ok(()),
            Some(word) => Err(self.refusal(format!("does not know `{word}`"))),
        }
    }

    fn refusal(&self, what: String) -> Failure {
        let usage = if self.usage.is_empty() { "takes no options" } else { self.usage };
        Failure::new(what).hint(usage)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_taken_and_the_rest_is_refused() {
        let words = ["--runs", "7", "--check", "--sead", "1"].map(String::from).to_vec();
        let mut args = Args::new("[--runs N] [--check]", words);
        assert_eq!(args.option::<usize>("--runs"), Ok(Some(7)));
        assert_eq!(args.option::<usize>("--seed"), Ok(None));
        assert!(args.flag("--check") && !args.flag("--check"));
        let refusal = args.finish().unwrap_err();
        assert_eq!(refusal.to_string(), "does not know `--sead`\nhint: [--runs N] [--check]");
    }

    #[test]
    fn a_missing_or_unreadable_value_is_refused() {
        for (words, expected) in
            [(vec!["--runs"], "--runs needs a value"), (vec!["--runs", "many"], "cannot read --runs `many`")]
        {
            let mut args = Args::new("", words.into_iter().map(String::from).collect());
            assert_eq!(args.option::<usize>("--runs").unwrap_err().what, expected);
        }
    }
}
