//! The proofs: every scenario in every client it names, with the product's own hooks.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use super::client::{CLIENTS, Client, Kind};
use super::hooks::Places;
use super::install::Cellar;
use super::run::{self, Hooking};
use super::scenario::{self, Scenario};
use crate::failure::Failure;
use crate::repo;

/// A client is mostly waiting for its own start; more than two at once only slow each other.
const AT_ONCE: usize = 2;

/// What a person asked to run.
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
}

/// The clients a choice names.
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

/// Runs what was chosen and prints one line for each; tells how many ran and how many failed.
pub fn run(cellar: &Cellar, binary: &Path, choice: &Choice) -> Result<(usize, usize), Failure> {
    let clients = chosen_clients(choice)?;
    let proofs = proofs(&clients, choice)?;
    let count = proofs.len();
    let queue = Mutex::new(proofs.into_iter());
    let failed = Mutex::new(0);
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                // The guard is dropped with the statement: the other thread takes the next one meanwhile.
                while let Some(proof) = { queue.lock().unwrap_or_else(PoisonError::into_inner).next() } {
                    let (line, holds) = proof.show(cellar, binary, choice.keep);
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
    let scenarios = scenario::read_folder(&folder)?;
    let names: Vec<&str> = scenarios.iter().map(|scenario| scenario.name.as_str()).collect();
    let known = names.join(", ");
    let mut proofs = Vec::new();
    for scenario in &scenarios {
        if choice.scenario.as_ref().is_some_and(|name| *name != scenario.name) {
            continue;
        }
        let named = |client: &&&Client| scenario.clients.iter().any(|word| client.is_called(word));
        let clients = clients.iter().filter(named);
        proofs.extend(clients.map(|client| Proof { client, scenario: scenario.clone() }));
    }
    if proofs.is_empty() {
        return Err(Failure::new("no scenario was chosen").hint(format!("the scenarios are {known}")));
    }
    Ok(proofs)
}

impl Proof {
    /// Runs the proof; returns its line and whether everything held.
    fn show(self, cellar: &Cellar, binary: &Path, keep: bool) -> (String, bool) {
        let name = format!("{:<20} {:<24}", self.client.id(), self.scenario.name);
        let about = self.scenario.about.clone();
        let start = Instant::now();
        let breaches = self.breaches(cellar, binary, keep);
        let seconds = start.elapsed().as_secs_f64();
        let (word, why) = match &breaches {
            Ok(breaches) if breaches.is_empty() => return (format!("{name} ok {seconds:6.1} s"), true),
            Ok(breaches) => ("FAILED", breaches.join("\n  ")),
            Err(failure) => ("FAILED", failure.to_string()),
        };
        (format!("{name} {word} {seconds:.1} s: {about}\n  {why}"), false)
    }

    fn breaches(self, cellar: &Cellar, binary: &Path, keep: bool) -> Result<Vec<String>, Failure> {
        let (client, expectations) = (self.client, self.scenario.expect.clone());
        let outcome = run::run(cellar, client, self.scenario, binary, &Product, keep)?;
        let breaches: Vec<String> =
            expectations.iter().filter_map(|expectation| expectation.breach(&outcome)).collect();
        if keep {
            println!("{} is in {}", client.id(), outcome.sandbox.folder().display());
        }
        Ok(breaches)
    }
}

/// The hooks that users get: the plugin of this repository, or what `lorelane setup` writes.
struct Product;

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
        run::finish(command("lorelane").args(["setup", client.kind.name()]))?;
        Ok(None)
    }
}
