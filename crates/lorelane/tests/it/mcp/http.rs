//! The server over HTTP: who is let in, and that it answers.

use super::*;

/// A server that listens, and its token.
pub(super) struct Listening {
    child: Child,
    pub(super) port: u16,
    pub(super) token: String,
}

/// What came back.
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) head: String,
    pub(super) body: String,
}

impl Listening {
    pub(super) fn start(scratch: &Scratch) -> Listening {
        Listening::start_with(scratch, &[])
    }

    pub(super) fn start_with(scratch: &Scratch, vars: &[(&str, &str)]) -> Listening {
        let mut child = scratch
            .command(&["mcp", "--http", "127.0.0.1:0"])
            .envs(vars.iter().copied())
            .stderr(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let mut line = |head: &str| {
            let line = lines.next().unwrap().unwrap();
            line.strip_prefix(head).unwrap_or_else(|| panic!("{line}")).to_owned()
        };
        let port = line("listening on http://127.0.0.1:").trim_end_matches("/mcp").parse().unwrap();
        let token = line("token: ");
        assert_eq!(token.len(), 64);
        Listening { child, port, token }
    }

    /// Ends the server and gives all that it printed to standard output.
    pub(super) fn printed(mut self) -> String {
        self.child.kill().unwrap();
        let mut printed = String::new();
        self.child.stdout.take().unwrap().read_to_string(&mut printed).unwrap();
        printed
    }

    pub(super) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// Sends a request as it is, with a body.
    pub(super) fn raw(&self, head: &str, body: &str) -> Reply {
        let mut stream = self.connect();
        let _ = write!(stream, "{head}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len());
        let mut reply = Vec::new();
        let _ = stream.read_to_end(&mut reply);
        let reply = String::from_utf8_lossy(&reply).into_owned();
        let (head, body) = reply.split_once("\r\n\r\n").unwrap_or((&reply, ""));
        let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or_default();
        Reply { status, head: head.to_ascii_lowercase(), body: body.to_owned() }
    }

    pub(super) fn post(&self, more: &str, body: &str) -> Reply {
        self.raw(&self.head("POST", more), body)
    }

    /// The head of a request with the token, without its end.
    pub(super) fn head(&self, method: &str, more: &str) -> String {
        let (port, token) = (self.port, &self.token);
        format!(
            "{method} /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\n\
             Content-Type: application/json\r\nAccept: application/json, text/event-stream{more}"
        )
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Reply {
    /// The message of the answer, out of the event stream where it is one.
    pub(super) fn message(&self) -> Json {
        let data = self
            .body
            .lines()
            .filter_map(|line| line.strip_prefix("data: ").or_else(|| line.starts_with('{').then_some(line)));
        let message =
            data.filter_map(|data| Json::parse(data.trim()).ok()).find(|json| json.at("jsonrpc").is_some());
        message.unwrap_or_else(|| panic!("{} {}", self.head, self.body))
    }
}

pub(super) fn initialize() -> String {
    format!(r#"{{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {INITIALIZE}}}"#)
}

#[test]
fn a_session_searches_over_http() {
    let scratch = Scratch::with_jwt();
    let server = Listening::start(&scratch);
    let reply = server.post("", &initialize());
    assert_eq!(reply.status, 200, "{}", reply.body);
    assert_eq!(text(&reply.message(), "result.serverInfo.name"), "lorelane");
    let session =
        reply.head.lines().find_map(|line| line.strip_prefix("mcp-session-id: ")).unwrap().to_owned();
    let more = format!("\r\nMcp-Session-Id: {session}\r\nMcp-Protocol-Version: 2025-11-25");
    assert_eq!(
        server.post(&more, r#"{"jsonrpc": "2.0", "method": "notifications/initialized"}"#).status,
        202
    );
    let call = r#"{"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "memory_search", "arguments": {"query": "jwt"}}}"#;
    let found = server.post(&more, call).message();
    assert!(words(found.at("result").unwrap()).contains("decision/use-jwt"), "{found:?}");
    // Without the session, or with one that never was, nothing is answered.
    assert!(server.post("\r\nMcp-Session-Id: none", call).status >= 400);
}

#[test]
fn the_newest_protocol_needs_no_session() {
    let scratch = Scratch::with_jwt();
    let server = Listening::start(&scratch);
    let more = "\r\nMcp-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: memory_search";
    let call = format!(
        r#"{{"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {{"name": "memory_search", "arguments": {{"query": "jwt"}}, {META}}}}}"#
    );
    let reply = server.post(more, &call);
    assert_eq!(reply.status, 200, "{} {}", reply.head, reply.body);
    assert!(words(reply.message().at("result").unwrap()).contains("decision/use-jwt"), "{}", reply.body);
}

#[test]
fn strangers_are_not_let_in() {
    let scratch = Scratch::with_jwt();
    let server = Listening::start(&scratch);
    let (port, token) = (server.port, server.token.clone());
    let wrong = token.replace(|c: char| c.is_ascii_digit(), "f");
    let host = format!("Host: 127.0.0.1:{port}");
    let bearer = format!("Authorization: Bearer {token}");
    let json = "Content-Type: application/json\r\nAccept: application/json, text/event-stream";
    for (head, status) in [
        (format!("POST /mcp HTTP/1.1\r\n{host}\r\n{json}"), 401),
        (format!("POST /mcp HTTP/1.1\r\n{host}\r\n{json}\r\nAuthorization: Bearer {wrong}"), 401),
        (format!("GET /mcp HTTP/1.1\r\n{host}\r\n{json}"), 401),
        (format!("DELETE /mcp HTTP/1.1\r\n{host}\r\n{json}"), 401),
        (format!("POST /mcp HTTP/1.1\r\nHost: evil.example\r\n{json}\r\n{bearer}"), 403),
        (format!("POST /mcp HTTP/1.1\r\n{host}\r\n{json}\r\n{bearer}\r\nOrigin: https://evil.example"), 403),
        (format!("POST /mcp HTTP/1.1\r\n{host}\r\n{json}\r\n{bearer}\r\nOrigin: null"), 403),
        (format!("POST / HTTP/1.1\r\n{host}\r\n{json}\r\n{bearer}"), 404),
        (format!("POST /mcp HTTP/1.1\r\n{host}\r\n{json}\r\n{bearer}\r\nOrigin: http://localhost:6274"), 200),
    ] {
        let reply = server.raw(&head, &initialize());
        assert_eq!(reply.status, status, "{head}\n{}", reply.body);
        assert!(!reply.body.contains(&token), "{head}");
    }
}

#[test]
fn what_is_too_much_is_refused_and_the_server_stays() {
    let scratch = Scratch::with_jwt();
    let server = Listening::start(&scratch);
    let huge = format!(
        r#"{{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {{"x": "{}"}}}}"#,
        "x".repeat(5 << 20)
    );
    // A body that is not taken to its end may cost the connection and not the answer.
    let reply = server.post("", &huge);
    assert!(matches!(reply.status, 413 | 0), "{} {}", reply.status, reply.body);
    let more = "\r\nMcp-Protocol-Version: 2026-07-28\r\nMcp-Method: server/discover";
    let discover =
        format!(r#"{{"jsonrpc": "2.0", "id": "d", "method": "server/discover", "params": {{{META}}}}}"#);
    let reply = server.post(more, &discover);
    assert_eq!(reply.status, 200, "{}", reply.body);
}

#[test]
fn a_token_can_be_given() {
    let scratch = Scratch::with_store();
    let weak = scratch.command(&["mcp", "--http", "0"]).env("LORELANE_MCP_TOKEN", "short").output().unwrap();
    let said = scratch.said(&weak).expect(2);
    assert!(
        said.err.contains("LORELANE_MCP_TOKEN is not a valid token") && !said.err.contains("short\n"),
        "{said:?}"
    );
    let mut child = scratch
        .command(&["mcp", "--http", "0"])
        .env("LORELANE_MCP_TOKEN", "a-token-that-is-long-enough")
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let first = lines.next().unwrap().unwrap();
    let port =
        first.trim_start_matches("listening on http://127.0.0.1:").trim_end_matches("/mcp").parse().unwrap();
    let server = Listening { child, port, token: "a-token-that-is-long-enough".to_owned() };
    assert_eq!(server.post("", &initialize()).status, 200);
    drop(server);
    // It is not printed.
    assert!(lines.next().is_none());
}
