//! A project with one memory, and a server for it.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use super::questions::AGENT;
use crate::failure::Failure;
use crate::process;
use crate::sandbox::Sandbox;
use crate::tool_cache::{ToolCache, search_path};

/// The memory that `questions` asks for.
const MEMORY: &[&str] = &[
    "create",
    "decision",
    "--title",
    "Sign sessions with PASETO",
    "--tag",
    "sessions",
    "--set",
    "context=Sessions were signed by hand",
    "--set",
    "decision=PASETO v4.local for every session token",
    "--set",
    "rationale=No algorithm can be chosen by the caller",
];

/// A fresh home and project for one proof.
pub(super) struct Store {
    sandbox: Sandbox,
    binary: PathBuf,
    path: std::ffi::OsString,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Transport {
    Stdio,
    Http,
}

/// How a client reaches the server.
pub(super) enum Reach {
    /// It starts this program with these arguments.
    Stdio {
        program: PathBuf,
        words: Vec<&'static str>,
    },
    Http(Listening),
}

/// A listening server, which ends when this is dropped.
pub(super) struct Listening {
    child: Child,
    pub(super) port: u16,
    pub(super) token: String,
}

impl Transport {
    pub(super) fn name(self) -> &'static str {
        match self {
            Transport::Stdio => "stdio",
            Transport::Http => "http",
        }
    }
}

impl Store {
    pub(super) fn new(tool_cache: &ToolCache, binary: &Path) -> Result<Store, Failure> {
        let sandbox = Sandbox::empty("mcp")?;
        let path = search_path(&[tool_cache.node_folder()])?;
        let store = Store { sandbox, binary: binary.to_owned(), path };
        process::finish(store.command(binary).arg("init"))?;
        process::finish(store.command(binary).args(MEMORY))?;
        Ok(store)
    }

    /// A program in the project. Its environment is what SDKs pass on to the servers they start, so that
    /// server and client have the same home.
    pub(super) fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.env_clear().current_dir(self.sandbox.project());
        command.env("PATH", &self.path).env("HOME", self.sandbox.home()).env("LANG", "C.UTF-8");
        command
    }

    /// A folder for what belongs to neither home nor project.
    pub(super) fn scratch(&self) -> &Path {
        self.sandbox.folder()
    }

    /// The server with the tools of a profile; over HTTP with the default ones.
    pub(super) fn reach(&self, transport: Transport, profile: &'static str) -> Result<Reach, Failure> {
        match transport {
            Transport::Stdio => {
                let mut words = vec!["mcp"];
                if profile != AGENT.profile {
                    words.extend(["--profile", profile]);
                }
                Ok(Reach::Stdio { program: self.binary.clone(), words })
            }
            Transport::Http => self.listen().map(Reach::Http),
        }
    }

    pub(super) fn listen(&self) -> Result<Listening, Failure> {
        let mut command = self.command(&self.binary);
        command.args(["mcp", "--http", "127.0.0.1:0"]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child =
            command.spawn().map_err(|error| Failure::new(format!("cannot start the server: {error}")))?;
        let said = child.stderr.take().map(|stderr| BufReader::new(stderr).lines());
        let mut lines = said.into_iter().flatten().map_while(Result::ok);
        let mut told = |head: &str| lines.next().and_then(|line| line.strip_prefix(head).map(str::to_owned));
        let port = told("listening on http://127.0.0.1:");
        let port = port.and_then(|rest| rest.strip_suffix("/mcp")?.parse().ok());
        let token = told("token: ");
        // Created before anything can fail, because dropping it ends the child.
        let mut listening = Listening { child, port: 0, token: String::new() };
        let (Some(port), Some(token)) = (port, token) else {
            return Err(Failure::new("the server did not say where it listens, and with which token"));
        };
        (listening.port, listening.token) = (port, token);
        Ok(listening)
    }
}

impl Listening {
    pub(super) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/mcp", self.port)
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        // It may have ended already; then there is nothing to do.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
