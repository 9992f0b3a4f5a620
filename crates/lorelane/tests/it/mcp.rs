//! The server as clients meet it: its process, its lines, its HTTP.

use crate::scratch::{MARKS, Scratch, USE_JWT};
use lorelane_core::json::{Json, JsonFormat};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

mod files;
mod http;
mod http_bad_input;
mod http_limits;
mod model;
mod notes;
mod notes_defects;
mod protocol;
mod resources;
mod tools;
mod working_set;

/// Longer than anything takes, also on a machine that does something else.
const PATIENCE: Duration = Duration::from_secs(60);
const META: &str = r#""_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}, "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"}}"#;

/// A client over standard input and output.
struct Client {
    child: Child,
    input: Option<ChildStdin>,
    /// Every line of standard output, which has to be a message.
    lines: Receiver<Json>,
    /// What came while something else was waited for.
    seen: Vec<Json>,
    next: u64,
}

impl Client {
    fn start(scratch: &Scratch) -> Client {
        Client::start_with(scratch, &["mcp"])
    }

    /// One that has greeted a server with the tools of a profile.
    fn of_profile(scratch: &Scratch, profile: &str) -> Client {
        let mut client = Client::start_with(scratch, &["mcp", "--profile", profile]);
        client.greet();
        client
    }

    fn start_with(scratch: &Scratch, words: &[&str]) -> Client {
        let mut child = scratch
            .command(words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (send, lines) = channel();
        let output = BufReader::new(child.stdout.take().unwrap());
        thread::spawn(move || {
            for line in output.lines() {
                let line = line.unwrap();
                let message = Json::parse(&line).unwrap_or_else(|why| panic!("no message: {why}: {line}"));
                assert_eq!(text(&message, "jsonrpc"), "2.0", "{line}");
                let _ = send.send(message);
            }
        });
        Client { input: child.stdin.take(), child, lines, seen: Vec::new(), next: 0 }
    }

    /// One that has greeted the server.
    fn greeted(scratch: &Scratch) -> Client {
        let mut client = Client::start(scratch);
        client.greet();
        client
    }

    fn greet(&mut self) -> Json {
        let result = self.ask("initialize", INITIALIZE);
        self.send(r#"{"jsonrpc": "2.0", "method": "notifications/initialized"}"#);
        result.at("result").unwrap_or_else(|| panic!("{result:?}")).clone()
    }

    fn send(&mut self, line: impl AsRef<[u8]>) {
        let input = self.input.as_mut().expect("an open input");
        input.write_all(line.as_ref()).and_then(|()| input.write_all(b"\n")).unwrap();
    }

    /// Asks without waiting, and gives the id.
    fn post(&mut self, method: &str, params: &str) -> u64 {
        self.next += 1;
        let id = self.next;
        let params =
            Json::parse(params).unwrap_or_else(|why| panic!("{why}: {params}")).render(JsonFormat::LINE);
        self.send(format!(r#"{{"jsonrpc": "2.0", "id": {id}, "method": "{method}", "params": {params}}}"#));
        id
    }

    fn ask(&mut self, method: &str, params: &str) -> Json {
        let id = self.post(method, params);
        self.answer(id)
    }

    fn answer(&mut self, id: u64) -> Json {
        self.wait(|message| message.at("id") == Some(&Json::number(id)))
            .unwrap_or_else(|| panic!("no answer to {id}"))
    }

    /// The first message that is wanted, now or later.
    fn wait(&mut self, wanted: impl Fn(&Json) -> bool) -> Option<Json> {
        self.wait_for(PATIENCE, wanted)
    }

    fn wait_for(&mut self, patience: Duration, wanted: impl Fn(&Json) -> bool) -> Option<Json> {
        if let Some(at) = self.seen.iter().position(&wanted) {
            return Some(self.seen.remove(at));
        }
        let deadline = Instant::now() + patience;
        loop {
            match self.lines.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(message) if wanted(&message) => return Some(message),
                Ok(message) => self.seen.push(message),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return None,
            }
        }
    }

    fn told(&mut self, method: &str) -> Option<Json> {
        self.wait(|message| text(message, "method") == method)
    }

    /// Calls a tool; the answer has to be a result, whatever it says.
    fn call(&mut self, tool: &str, arguments: &str) -> Json {
        let answer = self.ask("tools/call", &format!(r#"{{"name": "{tool}", "arguments": {arguments}}}"#));
        answer.at("result").unwrap_or_else(|| panic!("{tool} {arguments}: {answer:?}")).clone()
    }

    /// What a tool says when it works.
    fn said(&mut self, tool: &str, arguments: &str) -> String {
        let result = self.call(tool, arguments);
        assert_eq!(result.at("isError"), Some(&Json::Bool(false)), "{result:?}");
        words(&result)
    }

    /// What a tool says when it cannot.
    fn refused(&mut self, tool: &str, arguments: &str) -> String {
        let result = self.call(tool, arguments);
        assert_eq!(result.at("isError"), Some(&Json::Bool(true)), "{result:?}");
        assert_eq!(result.at("structuredContent"), None, "{result:?}");
        words(&result)
    }

    fn document(&mut self, tool: &str, arguments: &str) -> Json {
        let result = self.call(tool, arguments);
        assert_eq!(result.at("isError"), Some(&Json::Bool(false)), "{result:?}");
        result.at("structuredContent").unwrap_or_else(|| panic!("{result:?}")).clone()
    }

    /// Hangs up; the server goes with exit code 0 and has said nothing but the protocol.
    fn leave(mut self) {
        drop(self.input.take());
        let status = self.child.wait().unwrap();
        assert_eq!(status.code(), Some(0));
        let mut errors = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
        assert_eq!(errors, "");
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const INITIALIZE: &str = r#"{"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}"#;

fn text<'j>(json: &'j Json, path: &str) -> &'j str {
    json.at(path).and_then(Json::as_text).unwrap_or_default()
}

fn list<'j>(json: &'j Json, path: &str) -> &'j [Json] {
    json.at(path).and_then(Json::as_list).unwrap_or_else(|| panic!("no {path} in {json:?}"))
}

fn words(result: &Json) -> String {
    list(result, "content").iter().map(|part| text(part, "text")).collect()
}

fn code(answer: &Json) -> i64 {
    let code = answer.at("error.code").unwrap_or_else(|| panic!("no error: {answer:?}"));
    code.as_f64().map(|code| code as i64).unwrap_or_default()
}
