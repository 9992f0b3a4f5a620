//! Runs every scenario in every client it names, with the product's own hooks.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use super::client::{CLIENTS, Client, Kind};
use super::hooks::Places;
use super::hostile::{self, HostileProduct};
use super::run::{self, Hooking};
use super::scenario::{self, Scenario};
use crate::failure::Failure;
use crate::process;
use crate::repo;
use crate::tool_cache::ToolCache;

/// More than two clients at once only slow each other down: most of a run is the client's own start.
const AT_ONCE: usize = 2;

/// Which scenarios and clients to run.
#[derive(Debug, Default)]
pub struct Choice {
    pub only: Option<String>,
    pub scenario: Option<String>,
    pub keep: bool,
}

/// One scenario in one client.
struct Proof {
    client: &'static Client,
    scenario: Scenario,
    /// The attack in the memories, if any.
    hostile: Option<hostile::Kind>,
}

/// The selected clients.
pub fn chosen_clients(choice: &Choice) -> Result<Vec<&'static Client>, Failure> {
    let named = |client: &&Client| choice.only.as_ref().is_none_or(|word| client.is_called(word));
    let clients: Vec<&Client> = CLIENTS.iter().filter(named).collect();
    match (&choice.only, clients.is_empty()) {
        (Some(word), true) => {
            let known: Vec<String> = CLIENTS.iter().map(Client::id).collect();
            Err(Failure::new(format!("no client is called `{word}`")).hint(known.join(", ")))
        }
        _ => Ok(clients),
    }
}

/// Runs the selected proofs and prints a line for each. Returns how many ran and how many failed.
pub fn run(tool_cache: &ToolCache, binary: &Path, choice: &Choice) -> Result<(usize, usize), Failure> {
    let clients = chosen_clients(choice)?;
    let proofs = proofs(&clients, choice)?;
    let count = proofs.len();
    let queue = Mutex::new(proofs.into_iter());
    let failed = Mutex::new(0);
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                // The lock is released at the end of this statement, so the other thread can take the next one.
                while let Some(proof) = { queue.lock().unwrap_or_else(PoisonError::into_inner).next() } {
                    let (line, holds) = proof.show(tool_cache, binary, choice.keep);
                    println!("{line}");
                    if !holds {
                        *failed.lock().unwrap_or_else(PoisonError::into_inner) += 1;
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok((count, failed))
}

fn proofs(clients: &[&'static Client], choice: &Choice) -> Result<Vec<Proof>, Failure> {
    let folder = repo::root().join("xtask/clients/scenarios");
    let mut proofs = Vec::new();
    for scenario in scenario::read_folder(&folder)? {
        let named = |client: &&&'static Client| scenario.clients.iter().any(|word| client.is_called(word));
        let clients = clients.iter().filter(named);
        proofs.extend(clients.map(|client| Proof { client, scenario: scenario.clone(), hostile: None }));
    }
    // Memories are escaped before the client is known, so one client is enough.
    let newest = clients.iter().find(|client| client.kind == Kind::ClaudeCode && client.is_latest());
    if let Some(client) = newest {
        let hostile = hostile::KINDS.iter();
        proofs.extend(hostile.map(|kind| Proof { client, scenario: kind.scenario(), hostile: Some(*kind) }));
    }
    let known: BTreeSet<String> = proofs.iter().map(|proof| proof.scenario.name.clone()).collect();
    let known: Vec<String> = known.into_iter().collect();
    let known = known.join(", ");
    // `hostile` selects all of them, `guard` that of every client.
    let chosen = |name: &str| {
        let wanted = choice.scenario.as_deref();
        wanted.is_none_or(|wanted| {
            name == wanted || name.strip_prefix(wanted).is_some_and(|rest| rest.starts_with('-'))
        })
    };
    proofs.retain(|proof| chosen(&proof.scenario.name));
    if proofs.is_empty() {
        return Err(Failure::new("no scenario was chosen").hint(format!("the scenarios are {known}")));
    }
    Ok(proofs)
}

impl Proof {
    /// Runs the proof and returns its line and whether it passed.
    fn show(self, tool_cache: &ToolCache, binary: &Path, keep: bool) -> (String, bool) {
        let name = format!("{:<20} {:<24}", self.client.id(), self.scenario.name);
        let about = self.scenario.about.clone();
        let start = Instant::now();
        let judged = self.judge(tool_cache, binary, keep);
        let seconds = start.elapsed().as_secs_f64();
        let why = match judged {
            Ok(Judged { breaches, note }) if breaches.is_empty() => {
                return (format!("{name} ok {seconds:6.1} s  {note}").trim_end().to_owned(), true);
            }
            Ok(Judged { breaches, .. }) => breaches.join("\n  "),
            Err(failure) => failure.to_string(),
        };
        (format!("{name} FAILED {seconds:.1} s: {about}\n  {why}"), false)
    }

    fn judge(self, tool_cache: &ToolCache, binary: &Path, keep: bool) -> Result<Judged, Failure> {
        let expectations = self.scenario.expect.clone();
        let hostile = self.hostile.map(HostileProduct::new);
        let hooking: &dyn Hooking = match &hostile {
            Some(hostile) => hostile,
            None => &Product,
        };
        let outcome = run::run(tool_cache, self.client, self.scenario, binary, hooking, keep)?;
        let mut breaches: Vec<String> =
            expectations.iter().filter_map(|expectation| expectation.breach(&outcome)).collect();
        let mut note = String::new();
        if let Some(hostile) = &hostile {
            let stored = hostile.stored();
            breaches.extend(hostile::breaches(&outcome, &stored));
            note = format!("stored: {}, refused: {}", stored.addresses.len(), stored.refused);
        }
        if keep {
            println!("{} is in {}", self.client.id(), outcome.sandbox.folder().display());
        }
        Ok(Judged { breaches, note })
    }
}

/// The result of one proof.
struct Judged {
    breaches: Vec<String>,
    note: String,
}

/// The hooks that users get: the plugin of this repository, or what `lorelane setup` installs.
#[derive(Debug)]
pub struct Product;

impl Hooking for Product {
    fn hook(
        &self,
        client: &Client,
        _: &Places<'_>,
        command: &dyn Fn(&str) -> Command,
    ) -> Result<Option<PathBuf>, Failure> {
        if client.kind == Kind::ClaudeCode {
            let plugin = repo::root().join("plugin");
            let there = plugin.join("hooks/hooks.json").is_file();
            return match there {
                true => Ok(Some(plugin)),
                false => Err(Failure::on("use the plugin", &plugin, "it has no hooks/hooks.json")),
            };
        }
        process::finish(command("lorelane").args(["setup", client.kind.name()]))?;
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scenario_can_be_read_names_clients_and_expects_something() {
        let root = repo::root().join("xtask/clients");
        let proving = scenario::read_folder(&root.join("scenarios")).unwrap();
        let recording = scenario::read_folder(&root.join("recordings")).unwrap();
        for scenario in proving.iter().chain(&recording) {
            for word in &scenario.clients {
                let known = CLIENTS.iter().any(|client| client.is_called(word));
                assert!(known, "{} names the client `{word}`", scenario.name);
            }
        }
        for scenario in &proving {
            assert!(!scenario.expect.is_empty(), "{} expects nothing", scenario.name);
        }
        for client in CLIENTS {
            let recorded =
                recording.iter().any(|scenario| scenario.clients.iter().any(|word| client.is_called(word)));
            assert!(recorded, "nothing records {}", client.id());
        }
    }

    #[test]
    fn a_choice_names_what_exists() {
        let choose = |only: &str, scenario: &str| {
            let choice =
                Choice { only: Some(only.to_owned()), scenario: Some(scenario.to_owned()), keep: false };
            proofs(&chosen_clients(&choice)?, &choice).map(|proofs| proofs.len())
        };
        assert_eq!(choose("claude-code", "guard"), Ok(6));
        assert_eq!(choose("claude-code-2.1.197", "guard"), Ok(3));
        assert_eq!(choose("claude-code", "hostile"), Ok(16));
        assert_eq!(choose("claude-code", "hostile-bidi"), Ok(1));
        assert_eq!(choose("codex", "guard"), Ok(1));
        assert!(choose("codex", "stop-asks").unwrap_err().to_string().contains("prompt-matches"));
        assert!(choose("emacs", "guard").unwrap_err().to_string().contains("codex-"));
    }
}
