//! What follows `lorelane mcp`. The parser of the command line knows the same words, for their help.

use super::Trouble;

/// Sets of tools under one name.
const PROFILES: [&str; 1] = ["agent"];

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Options {
    pub(super) door: Door,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Door {
    Stdio,
    Http {
        address: String,
        /// Whether an address that other machines reach was asked for.
        remote: bool,
    },
}

impl Options {
    pub(super) fn read(words: &[String]) -> Result<Options, Trouble> {
        let (mut http, mut remote) = (None, false);
        let mut words = words.iter().map(String::as_str);
        while let Some(word) = words.next() {
            let (name, glued) = match word.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (word, None),
            };
            let mut value = || {
                let value = glued.or_else(|| words.next()).filter(|value| !value.is_empty());
                value.map(str::to_owned).ok_or_else(|| usage(format!("`{name}` needs a value")))
            };
            match name {
                "--http" => http = Some(value()?),
                "--profile" => known_profile(&value()?)?,
                "--allow-remote" if glued.is_none() => remote = true,
                _ => return Err(usage(format!("`mcp` does not know `{word}`"))),
            }
        }
        let door = match http {
            Some(address) => Door::Http { address, remote },
            None if remote => return Err(usage("`--allow-remote` goes with `--http`".to_owned())),
            None => Door::Stdio,
        };
        Ok(Options { door })
    }
}

fn known_profile(name: &str) -> Result<(), Trouble> {
    match PROFILES.contains(&name) {
        true => Ok(()),
        false => {
            Err((format!("`{name}` is no profile"), format!("the profiles are: {}", PROFILES.join(", "))))
        }
    }
}

fn usage(what: String) -> Trouble {
    (what, "write `lorelane mcp [--http ADDR] [--allow-remote] [--profile NAME]`".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_become_a_door() {
        let http = |address: &str, remote| Ok(Door::Http { address: address.to_owned(), remote });
        for (words, expected) in [
            ("", Ok(Door::Stdio)),
            ("--profile agent", Ok(Door::Stdio)),
            ("--http 127.0.0.1:0", http("127.0.0.1:0", false)),
            ("--allow-remote --http=0.0.0.0:80", http("0.0.0.0:80", true)),
            ("--allow-remote", Err("`--allow-remote` goes with `--http`")),
            ("--http", Err("`--http` needs a value")),
            ("--profile=none", Err("`none` is no profile")),
            ("--allow-remote=no", Err("`mcp` does not know `--allow-remote=no`")),
            ("serve", Err("`mcp` does not know `serve`")),
        ] {
            let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
            let read = Options::read(&words).map(|options| options.door).map_err(|(what, _)| what);
            assert_eq!(read, expected.map_err(str::to_owned), "{words:?}");
        }
    }
}
