//! The arguments of `lorelane mcp`. The clap parser in `cli` declares the same ones, for `--help`.

use super::tools::{PROFILES, Profile, ToolOffer};
use crate::serve::StartError;

#[derive(Debug)]
pub(super) struct Options {
    pub(super) transport: Transport,
    pub(super) offer: ToolOffer,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Transport {
    Stdio,
    Http {
        address: String,
        /// `--allow-remote`: the address may be reachable by other machines.
        remote: bool,
    },
}

impl Options {
    pub(super) fn read(words: &[String]) -> Result<Options, StartError> {
        let (mut http, mut remote, mut profiles) = (None, false, Vec::new());
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
                "--profile" => {
                    for name in value()?.split(',') {
                        profiles.push(known_profile(name.trim())?);
                    }
                }
                "--allow-remote" if glued.is_none() => remote = true,
                _ => return Err(usage(format!("unexpected argument '{word}'"))),
            }
        }
        let transport = match http {
            Some(address) => Transport::Http { address, remote },
            None if remote => return Err(usage("`--allow-remote` requires `--http`".to_owned())),
            None => Transport::Stdio,
        };
        if profiles.is_empty() {
            profiles.push(&PROFILES[0]);
        }
        Ok(Options { transport, offer: ToolOffer::of(&profiles) })
    }
}

fn known_profile(name: &str) -> Result<&'static Profile, StartError> {
    Profile::named(name).ok_or_else(|| {
        let known = PROFILES.map(|profile| profile.name).join(", ");
        StartError::new(format!("'{name}' is not a profile"), format!("choose one of: {known}"))
    })
}

fn usage(what: String) -> StartError {
    StartError::new(what, "write `lorelane mcp [--http ADDR] [--allow-remote] [--profile NAME,…]`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_become_a_transport() {
        let http = |address: &str, remote| Ok(Transport::Http { address: address.to_owned(), remote });
        for (words, expected) in [
            ("", Ok(Transport::Stdio)),
            ("--profile api-memory", Ok(Transport::Stdio)),
            ("--http 127.0.0.1:0", http("127.0.0.1:0", false)),
            ("--allow-remote --http=0.0.0.0:80", http("0.0.0.0:80", true)),
            ("--allow-remote", Err("`--allow-remote` requires `--http`")),
            ("--http", Err("`--http` needs a value")),
            ("--profile=none", Err("'none' is not a profile")),
            ("--profile=agent,", Err("'' is not a profile")),
            ("--allow-remote=no", Err("unexpected argument '--allow-remote=no'")),
            ("serve", Err("unexpected argument 'serve'")),
        ] {
            let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
            let read = Options::read(&words).map(|options| options.transport).map_err(|error| error.what);
            assert_eq!(read, expected.map_err(str::to_owned), "{words:?}");
        }
    }

    #[test]
    fn profiles_are_combined_and_the_agents_one_is_the_default() {
        for (words, expected) in [
            ("", vec!["agent"]),
            ("--profile=notes", vec!["notes"]),
            ("--profile agent,working-set", vec!["agent", "working-set"]),
            ("--profile working-set --profile=agent,notes", vec!["working-set", "agent", "notes"]),
            ("--profile agent,agent", vec!["agent"]),
            ("--profile working-set,all,notes", vec!["all"]),
        ] {
            let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
            assert_eq!(Options::read(&words).expect("options").offer.names(), expected, "{words:?}");
        }
    }
}
