//! Nonsense, haste and wrong order over HTTP: answered inside the protocol, and the server stays.

use super::http::{Listening, Reply, initialize};
use super::protocol::save;
use super::*;

const SEARCH: &str =
    r#""method": "tools/call", "params": {"name": "memory_search", "arguments": {"query": "jwt"}}"#;

/// Begins a session and gives the headers that belong to it.
pub(super) fn session(server: &Listening) -> String {
    let reply = server.post("", &initialize());
    let id = reply.head.lines().find_map(|line| line.strip_prefix("mcp-session-id: "));
    let id = id.unwrap_or_else(|| panic!("{} {}", reply.head, reply.body));
    let headers = format!("\r\nMcp-Session-Id: {id}\r\nMcp-Protocol-Version: 2025-11-25");
    let initialized = server.post(&headers, r#"{"jsonrpc": "2.0", "method": "notifications/initialized"}"#);
    assert_eq!(initialized.status, 202, "{}", initialized.body);
    headers
}

/// The headers of the protocol without sessions, for one method.
fn alone(version: &str, method: &str) -> String {
    let name = if method == "tools/call" { "\r\nMcp-Name: memory_search" } else { "" };
    format!("\r\nMcp-Protocol-Version: {version}\r\nMcp-Method: {method}{name}")
}

fn finds(reply: &Reply) -> bool {
    reply.message().at("result").is_some_and(|result| words(result).contains("decision/use-jwt"))
}

#[test]
fn nonsense_is_answered_inside_the_protocol_and_ends_nothing() {
    let scratch = Scratch::with_jwt();
    let server = Listening::start(&scratch);
    let session = session(&server);
    let deep = format!(
        r#"{{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {}{}}}"#,
        "[".repeat(5000),
        "]".repeat(5000)
    );
    for (body, expected) in [
        ("{", -32700),
        ("Content-Length: 5", -32700),
        ("\u{0}\u{1}", -32700),
        (deep.as_str(), -32700),
        ("[]", -32600),
        (r#"[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]"#, -32600),
        ("null", -32600),
        (r#"{"jsonrpc": "2.0"}"#, -32600),
        (r#"{"jsonrpc": "1.0", "id": 1, "method": "ping"}"#, -32600),
        (r#"{"jsonrpc": "2.0", "id": {}, "method": "ping"}"#, -32600),
    ] {
        for headers in ["", &session, &alone("2026-07-28", "ping")] {
            let reply = server.post(headers, body);
            let body: String = body.chars().take(60).collect();
            assert_eq!(reply.status, 400, "{body}: {}", reply.body);
            assert_eq!(code(&reply.message()), expected, "{body}: {}", reply.body);
        }
    }
    assert_eq!(server.post(&session, "").status, 400);
    for (method, params, expected) in [
        ("nope", "{}", -32601),
        ("tools/call", r#"{"name": 5}"#, -32602),
        ("prompts/get", r#"{"name": "nope"}"#, -32602),
        ("resources/read", r#"{"uri": "file:///etc/passwd"}"#, -32002),
        ("tools/list", r#"{"cursor": "x"}"#, -32602),
    ] {
        let body = format!(r#"{{"jsonrpc": "2.0", "id": 5, "method": "{method}", "params": {params}}}"#);
        let reply = server.post(&session, &body);
        assert_eq!(code(&reply.message()), expected, "{method} {params}: {}", reply.body);
    }
    assert!(finds(&server.post(&session, &format!(r#"{{"jsonrpc": "2.0", "id": 2, {SEARCH}}}"#))));
}

#[test]
fn what_comes_out_of_order_is_refused_and_the_session_goes_on() {
    let scratch = Scratch::with_jwt();
    let server = Listening::start(&scratch);
    let search = format!(r#"{{"jsonrpc": "2.0", "id": 2, {SEARCH}}}"#);
    let initialized = r#"{"jsonrpc": "2.0", "method": "notifications/initialized"}"#;
    let answer = r#"{"jsonrpc": "2.0", "id": 77, "result": {}}"#;
    for early in [search.as_str(), initialized, answer] {
        assert_eq!(server.post("", early).status, 400, "{early}");
    }
    let headers = session(&server);
    let cancelled =
        r#"{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 12345}}"#;
    for stray in [initialized, answer, cancelled] {
        assert_eq!(server.post(&headers, stray).status, 202, "{stray}");
    }
    assert!(finds(&server.post(&headers, &search)));
    // A session that was ended is gone, and another one begins.
    let (port, token) = (server.port, &server.token);
    let end =
        format!("DELETE /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}{headers}");
    assert!(server.raw(&end, "").status < 300);
    assert_eq!(server.post(&headers, &search).status, 404);
    assert!(finds(&server.post(&session(&server), &search)));
}

#[test]
fn both_beginnings_are_answered_over_http() {
    let scratch = Scratch::with_jwt();
    let server = Listening::start(&scratch);
    let discover =
        format!(r#"{{"jsonrpc": "2.0", "id": "d", "method": "server/discover", "params": {{{META}}}}}"#);
    let list_tools =
        format!(r#"{{"jsonrpc": "2.0", "id": 3, "method": "tools/list", "params": {{{META}}}}}"#);
    let found = server.post(&alone("2026-07-28", "server/discover"), &discover).message();
    assert!(found.at("result.supportedVersions").is_some(), "{found:?}");
    // Its log is a thing of the older protocol.
    assert_eq!(found.at("result.capabilities.logging"), None);
    let headers = session(&server);
    let old = server.post(&headers, r#"{"jsonrpc": "2.0", "id": 2, "method": "tools/list"}"#).message();
    let new = server.post(&alone("2026-07-28", "tools/list"), &list_tools).message();
    assert_eq!(list(&old, "result.tools").len(), 8);
    assert_eq!(list(&new, "result.tools").len(), 8);
    assert_eq!(text(&new, "result.resultType"), "complete");
    // What the newest protocol did away with is not there for its clients.
    for method in ["initialize", "ping", "resources/subscribe", "resources/unsubscribe", "logging/setLevel"] {
        let body = format!(r#"{{"jsonrpc": "2.0", "id": 4, "method": "{method}", "params": {{{META}}}}}"#);
        let reply = server.post(&alone("2026-07-28", method), &body);
        assert_eq!((reply.status, code(&reply.message())), (404, -32601), "{method}: {}", reply.body);
    }
}

#[test]
fn an_unknown_version_is_named_over_http() {
    let scratch = Scratch::with_jwt();
    let server = Listening::start(&scratch);
    for asked in ["1999-01-01", "2099-01-01", "nonsense"] {
        let greeted = server.post("", &initialize().replace("2025-11-25", asked)).message();
        assert_eq!(text(&greeted, "result.protocolVersion"), "2025-11-25", "{asked}");
        let headers = session(&server).replace("2025-11-25", asked);
        let search = format!(r#"{{"jsonrpc": "2.0", "id": 2, {SEARCH}}}"#);
        assert_eq!(server.post(&headers, &search).status, 400, "{asked}");
    }
    let body = format!(r#"{{"jsonrpc": "2.0", "id": 3, "method": "tools/list", "params": {{{META}}}}}"#);
    let reply = server.post(&alone("2099-01-01", "tools/list"), &body.replace("2026-07-28", "2099-01-01"));
    assert_eq!((reply.status, code(&reply.message())), (400, -32022), "{}", reply.body);
    assert_eq!(server.post(&alone("2026-07-28", "tools/list"), &body).status, 200);
}

#[test]
fn a_hundred_requests_at_once_are_all_answered_over_http() {
    let scratch = Scratch::with_jwt();
    let server = Listening::start(&scratch);
    let headers = session(&server);
    thread::scope(|scope| {
        for number in 0..100 {
            let (server, headers) = (&server, &headers);
            scope.spawn(move || {
                let (headers, request) = match number % 4 {
                    0 => {
                        let arguments = save(&format!("Decision number {number}"));
                        let params = format!(r#"{{"name": "memory_save", "arguments": {arguments}}}"#);
                        (headers.clone(), format!(r#""method": "tools/call", "params": {params}"#))
                    }
                    1 => (
                        alone("2026-07-28", "tools/call"),
                        SEARCH.replace(r#""jwt"}}"#, &format!(r#""jwt"}}, {META}}}"#)),
                    ),
                    _ => (headers.clone(), SEARCH.to_owned()),
                };
                let body = format!(r#"{{"jsonrpc": "2.0", "id": {number}, {request}}}"#);
                let reply = server.post(&headers, &body.replace('\n', " "));
                let answer = reply.message();
                assert_eq!(answer.at("id"), Some(&Json::number(number)), "{answer:?}");
                assert_eq!(answer.at("result.isError"), Some(&Json::Bool(false)), "{answer:?}");
            });
        }
    });
    let list = r#"{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "memory_list", "arguments": {}}}"#;
    let listed = server.post(&headers, list).message();
    assert_eq!(listed.at("result.structuredContent.total"), Some(&Json::number(26)), "{listed:?}");
    scratch.lorelane("doctor").expect(0);
}

#[test]
fn a_cancelled_request_ends_without_an_answer_over_http() {
    let scratch = Scratch::with_jwt();
    let server = Listening::start(&scratch);
    let headers = session(&server);
    let work = |id: u64| {
        format!(
            r#"{{"jsonrpc": "2.0", "id": {id}, "method": "tools/call", "params": {{"name": "memory_status", "arguments": {{"rebuild_index": true}}}}}}"#
        )
    };
    let cancel = |id: u64| {
        format!(
            r#"{{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {{"requestId": {id}, "reason": "enough"}}}}"#
        )
    };
    thread::scope(|scope| {
        let (server, headers) = (&server, &headers);
        let asked: Vec<_> =
            (1..=40).map(|id| scope.spawn(move || (id, server.post(headers, &work(id))))).collect();
        // Which of them is still waiting nobody knows; a cancelled one that was too late is answered.
        for id in 30..=40 {
            assert_eq!(server.post(headers, &cancel(id)).status, 202);
        }
        for asked in asked {
            let (id, reply) = asked.join().unwrap();
            assert_eq!(reply.status, 200, "{}", reply.body);
            let answered = reply.body.contains(r#""result""#);
            assert!(answered || id >= 30, "{id}: {}", reply.body);
        }
    });
    // A client that hangs up in the middle is its own loss.
    for id in 50..60 {
        let mut stream = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
        let (token, body) = (&server.token, work(id));
        let _ = write!(
            stream,
            "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream{headers}\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
    }
    assert!(finds(&server.post(&headers, &format!(r#"{{"jsonrpc": "2.0", "id": 99, {SEARCH}}}"#))));
    assert_eq!(server.printed(), "");
}
