//! The scripted model: a server on loopback that plays a scenario and records every request.

use std::io::BufReader;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use lorelane_core::json::{Json, Object};

use super::http;
use super::scenario::Rule;
use super::wire::{Block, Part, Wire, object, offers_tools};
use crate::failure::Failure;

/// One request with the answer it got.
#[derive(Clone, Debug)]
pub struct Exchange {
    pub path: String,
    pub body: Json,
    pub parts: Vec<Part>,
    /// Whether it is a turn of the agent, and not a request for a title, a summary or a token count.
    pub by_agent: bool,
    pub answer: Vec<Block>,
}

/// Runs until it is dropped.
#[derive(Debug)]
pub struct Stub {
    port: u16,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    over: AtomicBool,
}

#[derive(Debug)]
struct State {
    rules: Vec<(Rule, usize)>,
    default: String,
    exchanges: Vec<Exchange>,
}

impl Stub {
    pub fn start(rules: Vec<Rule>, default: &str) -> Result<Stub, Failure> {
        let cannot = |error| Failure::new(format!("cannot listen on loopback: {error}"));
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(cannot)?;
        let port = listener.local_addr().map_err(cannot)?.port();
        let rules = rules.into_iter().map(|rule| (rule, 0)).collect();
        let state = State { rules, default: default.to_owned(), exchanges: Vec::new() };
        let shared = Arc::new(Shared { state: Mutex::new(state), over: AtomicBool::new(false) });
        let server = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming() {
                if server.over.load(Ordering::Relaxed) {
                    return;
                }
                let (Ok(stream), server) = (stream, Arc::clone(&server)) else { continue };
                // A broken connection is not an error here: the expectations of the run show its effect.
                thread::spawn(move || server.serve(stream));
            }
        });
        Ok(Stub { port, shared })
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    pub fn exchanges(&self) -> Vec<Exchange> {
        self.shared.state().exchanges.clone()
    }
}

impl Drop for Stub {
    fn drop(&mut self) {
        self.shared.over.store(true, Ordering::Relaxed);
        // The server blocks in `accept`: a connection wakes it, and it sees that it should stop.
        let own = SocketAddr::from((Ipv4Addr::LOCALHOST, self.port));
        let _ = TcpStream::connect_timeout(&own, Duration::from_secs(1));
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn serve(&self, mut stream: TcpStream) -> std::io::Result<()> {
        let mut input = BufReader::new(stream.try_clone()?);
        let Some(request) = http::read(&mut input)? else { return Ok(()) };
        let Some(wire) = Wire::of(&request.path).filter(|_| request.method == "POST") else {
            let (status, body) = beside(&request.path);
            return http::answer(&mut stream, status, "application/json", body, request.method != "HEAD");
        };
        let text = String::from_utf8_lossy(&request.body);
        let body = Json::parse(&text).unwrap_or_else(|_| object([("unreadable", Json::text(text.as_ref()))]));
        let (blocks, number) = self.state().play(wire, &request.path, &body);
        let reply = wire.reply(&request.path, &body, &blocks, number);
        http::answer(&mut stream, "200 OK", reply.content_type, &reply.body, true)
    }
}

impl State {
    /// Chooses the answer, records the exchange, and returns the answer with its number.
    fn play(&mut self, wire: Wire, path: &str, body: &Json) -> (Vec<Block>, usize) {
        let parts = wire.parts(body);
        let by_agent = offers_tools(body);
        let answer = match by_agent {
            true => self.next_turn(&parts),
            false => None,
        };
        let answer = answer.unwrap_or_else(|| vec![Block::Text(self.default.clone())]);
        let answer: Vec<Block> = answer.into_iter().map(|block| with_copies(block, &parts)).collect();
        // The URL may contain a key. It is made up, but is not recorded anyway.
        let path = path.split("key=").next().unwrap_or(path).to_owned();
        self.exchanges.push(Exchange { path, body: body.clone(), parts, by_agent, answer: answer.clone() });
        (answer, self.exchanges.len())
    }

    fn next_turn(&mut self, parts: &[Part]) -> Option<Vec<Block>> {
        for (rule, used) in &mut self.rules {
            if *used < rule.turns.len() && rule.fits(parts) {
                *used += 1;
                return rule.turns.get(*used - 1).cloned();
            }
        }
        None
    }
}

/// Replaces `<copy:WORDS>` in a tool's input by the command with these words in the newest text that has one: a
/// request names a session that no scenario can know.
fn with_copies(block: Block, parts: &[Part]) -> Block {
    let Block::Tool { name, input: Json::Object(members) } = block else { return block };
    let members = members.iter().map(|(key, value)| match value {
        Json::Text(text) => (key, Json::text(copied(text, parts))),
        other => (key, other.clone()),
    });
    Block::Tool { name, input: Json::Object(members.collect()) }
}

fn copied(text: &str, parts: &[Part]) -> String {
    let Some((before, rest)) = text.split_once("<copy:") else { return text.to_owned() };
    let Some((words, after)) = rest.split_once('>') else { return text.to_owned() };
    let found = parts.iter().rev().find_map(|part| {
        let at = part.text.rfind(words)?;
        let (head, tail) = part.text.split_at(at);
        let head = head.rsplit(['`', '\n']).next().unwrap_or_default();
        // Codex escapes what a hook says.
        let tail = tail.split(['`', '\n', '<', ',']).next().unwrap_or_default();
        let tail = tail.split("&lt;").next().unwrap_or_default();
        Some(format!("{head}{tail}").trim().to_owned())
    });
    match found {
        Some(found) => format!("{before}{found}{after}"),
        None => text.to_owned(),
    }
}

/// Requests of clients outside the conversation.
fn beside(path: &str) -> (&'static str, &'static str) {
    if path.contains("count_tokens") {
        ("200 OK", r#"{"input_tokens": 100}"#)
    } else if path.contains("countTokens") {
        ("200 OK", r#"{"totalTokens": 100}"#)
    } else if path.contains("/models") {
        ("200 OK", r#"{"object": "list", "data": [], "models": [], "has_more": false}"#)
    } else {
        ("404 Not Found", r#"{"type": "error", "error": {"type": "not_found_error", "message": "stub"}}"#)
    }
}

impl Exchange {
    /// The request and its answer as one document, for `--keep`.
    pub fn to_json(&self) -> Json {
        let answer = self.answer.iter().map(|block| match block {
            Block::Text(text) => object([("text", Json::text(text.as_str()))]),
            Block::Tool { name, input } => {
                object([("tool", Json::text(name.as_str())), ("input", input.clone())])
            }
        });
        let mut document = Object::new();
        document.set("path", Json::text(self.path.as_str()));
        document.set("by_agent", Json::Bool(self.by_agent));
        document.set("answer", Json::List(answer.collect()));
        document.set("body", self.body.clone());
        Json::Object(document)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};

    use super::*;

    fn ask(port: u16, head: &str, body: &str) -> String {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
        write!(stream, "{head} HTTP/1.1\r\ncontent-length: {}\r\n\r\n{body}", body.len()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    #[test]
    fn turns_are_played_in_order_and_then_the_default() {
        let turns = ["one", "two"].map(|text| vec![Block::Text(text.to_owned())]).to_vec();
        let rule = Rule { turns, ..Rule::default() };
        let stub = Stub::start(vec![rule], "over").unwrap();
        let with_tools = r#"{"messages":[{"role":"user","content":"hi"}],"tools":[{}]}"#;
        for expected in ["\"one\"", "\"two\"", "\"over\""] {
            let answer = ask(stub.port(), "POST /v1/messages", with_tools);
            assert!(answer.starts_with("HTTP/1.1 200") && answer.contains(expected), "{answer}");
        }
        assert_eq!(stub.exchanges().len(), 3);
    }

    #[test]
    fn a_command_is_copied_from_the_newest_text_that_has_it() {
        let part =
            |text: &str| Part { role: "user".to_owned(), text: text.to_owned(), is_tool_result: false };
        let parts = [
            part("run `lorelane consolidate commit OLD`"),
            part("Save:\n/bin/lorelane consolidate commit S1 <<'EOF'\n{}\nEOF"),
            part("beside"),
        ];
        for (text, parts, expected) in [
            ("<copy:consolidate commit> <<'E'", &parts[..], "/bin/lorelane consolidate commit S1 <<'E'"),
            ("<copy:consolidate commit>", &parts[..1], "lorelane consolidate commit OLD"),
            ("<copy:consolidate commit>", &parts[2..], "<copy:consolidate commit>"),
            ("<copy:x", &parts[..], "<copy:x"),
        ] {
            assert_eq!(copied(text, parts), expected);
        }
    }

    #[test]
    fn what_is_asked_beside_the_agent_takes_no_turn() {
        let rule = Rule { turns: vec![vec![Block::Text("one".to_owned())]], ..Rule::default() };
        let stub = Stub::start(vec![rule], "over").unwrap();
        let answer = ask(stub.port(), "POST /v1/messages", r#"{"messages":[]}"#);
        assert!(answer.contains("\"over\""), "{answer}");
        assert!(ask(stub.port(), "GET /v1/models", "").contains("\"data\""));
        assert!(ask(stub.port(), "POST /elsewhere", "").starts_with("HTTP/1.1 404"));
        let answer = ask(stub.port(), "POST /v1/messages", "not JSON");
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        let seen: Vec<bool> = stub.exchanges().iter().map(|exchange| exchange.by_agent).collect();
        assert_eq!(seen, [false, false]);
    }
}
