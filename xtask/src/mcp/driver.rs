//! The clients, and how each is made to send the requests.
//!
//! A driver only sends requests and returns the answers. The expectations are the same for all and are in
//! `questions`.

use std::process::Command;

use lorelane_core::json::{Json, JsonFormat};

use super::questions::Question;
use super::server::{Reach, Store};
use crate::failure::Failure;
use crate::process;
use crate::repo;
use crate::tool_cache::{self, Origin, Package, ToolCache};

#[derive(Clone, Copy, Debug)]
pub(super) enum Driver {
    PythonSdk,
    TypescriptSdk,
    Inspector,
}

pub(super) const DRIVERS: [Driver; 3] = [Driver::PythonSdk, Driver::TypescriptSdk, Driver::Inspector];

/// The answers that one client got.
pub(super) struct Seen {
    /// The negotiated protocol version, from clients that report it.
    pub(super) protocol: Option<String>,
    /// One answer for each question.
    pub(super) answers: Vec<Json>,
}

impl Driver {
    pub(super) fn package(self) -> Package {
        let npm = |name, version, package: &str, program| Package {
            name,
            version,
            origin: Origin::Npm(package.to_owned()),
            program,
        };
        match self {
            Driver::PythonSdk => Package {
                name: "python-sdk",
                version: "2.3.0",
                origin: Origin::Pip("mcp".to_owned()),
                program: None,
            },
            Driver::TypescriptSdk => npm("typescript-sdk", "1.32.2", "@modelcontextprotocol/sdk", None),
            Driver::Inspector => {
                npm("inspector", "2.12.0", "@modelcontextprotocol/inspector", Some("mcp-inspector"))
            }
        }
    }

    /// The newest version that this client knows: if it fell back to an older one, it did not understand our
    /// answer to its first request. The Inspector does not report it.
    pub(super) fn protocol(self) -> Option<&'static str> {
        match self {
            Driver::PythonSdk => Some("2026-07-28"),
            Driver::TypescriptSdk => Some("2025-11-25"),
            Driver::Inspector => None,
        }
    }

    pub(super) fn ask(
        self,
        tool_cache: &ToolCache,
        store: &Store,
        reach: &Reach,
        questions: &[Question],
    ) -> Result<Seen, Failure> {
        let package = self.package();
        let modules = tool_cache.modules(&package);
        let scripts = repo::root().join("xtask/mcp");
        match self {
            Driver::PythonSdk => {
                let mut python = store.command(&tool_cache::python()?);
                python.env("PYTHONPATH", modules).arg(scripts.join("python.py"));
                ask_all(python, store, reach, questions, package.name)
            }
            Driver::TypescriptSdk => {
                let mut node = store.command(&tool_cache.node_folder().join("node"));
                node.env("NODE_PATH", modules).arg(scripts.join("typescript.cjs"));
                ask_all(node, store, reach, questions, package.name)
            }
            Driver::Inspector => {
                let program = tool_cache.program(&package);
                let answers = questions.iter().map(|question| {
                    let mut inspector = store.command(&program);
                    inspector.arg("--cli").args(inspector_words(reach, question));
                    // It exits with another code if a tool returns an error.
                    let (_, ended) = process::run_out(inspector, store.scratch(), package.name)?;
                    read(&ended.stdout).ok_or_else(|| {
                        Failure::new(format!("{}: no answer\n{}", question.about, ended.tail()))
                    })
                });
                Ok(Seen { protocol: None, answers: answers.collect::<Result<_, _>>()? })
            }
        }
    }
}

/// Runs a script of `xtask/mcp`, which sends all requests on one connection.
fn ask_all(
    mut script: Command,
    store: &Store,
    reach: &Reach,
    questions: &[Question],
    name: &str,
) -> Result<Seen, Failure> {
    let requests = Json::List(questions.iter().map(Question::request).collect());
    script.arg(requests.render(JsonFormat::LINE));
    match reach {
        Reach::Stdio { program, words } => script.arg("stdio").arg(program).args(words),
        Reach::Http(server) => script.arg("http").arg(server.url()).arg(&server.token),
    };
    let ended = process::run(script, store.scratch(), name)?;
    let seen = read(&ended.stdout);
    let answers = seen.as_ref().and_then(|seen| seen.at("answers")?.as_list());
    let Some(answers) = answers else {
        return Err(Failure::new(format!("{name} printed no answers\n{}", ended.tail())));
    };
    let protocol = seen.as_ref().and_then(|seen| seen.at("protocol")?.as_text());
    Ok(Seen { protocol: protocol.map(str::to_owned), answers: answers.to_vec() })
}

fn inspector_words(reach: &Reach, question: &Question) -> Vec<String> {
    let mut words = match reach {
        Reach::Stdio { program, words } => {
            let words = words.iter().map(|word| (*word).to_owned());
            std::iter::once(program.display().to_string()).chain(words).collect()
        }
        Reach::Http(server) => {
            let header = format!("Authorization: Bearer {}", server.token);
            [server.url(), "--transport".to_owned(), "http".to_owned(), "--header".to_owned(), header]
                .to_vec()
        }
    };
    let (named, given) = match question.method {
        "tools/call" => ("--tool-name", "--tool-arg"),
        "prompts/get" => ("--prompt-name", "--prompt-args"),
        _ => ("--uri", ""),
    };
    let mut say = |option: &str, value: &str| words.extend([option.to_owned(), value.to_owned()]);
    say("--method", question.method);
    if let Some(name) = question.name {
        say(named, name);
    }
    for (key, value) in question.arguments {
        say(given, &format!("{key}={value}"));
    }
    words
}

fn read(text: &str) -> Option<Json> {
    Json::parse(text.trim()).ok()
}
