//! Many and slow clients over HTTP: none of them keeps the others out.

use super::http::{Listening, initialize};
use super::http_bad_input::session;
use super::*;
use std::io::ErrorKind;

const DEADLINE: &str = "LORELANE_HTTP_DEADLINE_MS";
/// No test lives as long.
const NEVER_MS: &str = "3600000";
/// What a client with a request ready keeps easily, also on a busy machine.
const SHORT_MS: &str = "1000";
/// Half of what silent connections were once given: who waits for their end is not answered within.
const AT_ONCE: Duration = Duration::from_secs(5);
const PING: &str = r#"{"jsonrpc": "2.0", "id": 7, "method": "ping"}"#;

/// Connections that begin a request and say no more.
fn half_open(server: &Listening, count: usize) -> Vec<TcpStream> {
    let begun = (0..count).map(|_| {
        let mut stream = server.connect();
        stream.write_all(b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n").unwrap();
        stream
    });
    begun.collect()
}

/// Whether nothing ended the connection so far; what came on it is passed over.
fn is_open(stream: &mut TcpStream) -> bool {
    stream.set_nonblocking(true).unwrap();
    loop {
        match stream.read(&mut [0; 4096]) {
            Ok(0) => return false,
            Ok(_) => {}
            Err(fault) => return fault.kind() == ErrorKind::WouldBlock,
        }
    }
}

/// All that comes until the server ends the connection.
fn until_closed(mut stream: TcpStream) -> String {
    let mut came = Vec::new();
    if let Err(fault) = stream.read_to_end(&mut came) {
        assert_eq!(fault.kind(), ErrorKind::ConnectionReset, "{fault}");
    }
    String::from_utf8(came).unwrap()
}

// 64 sessions that nobody used any more refused every new one for five minutes.
#[test]
fn the_session_that_was_idle_longest_gives_way_to_a_new_one() {
    let scratch = Scratch::with_jwt();
    let server = Listening::start(&scratch);
    let sessions: Vec<String> = (0..64).map(|_| session(&server)).collect();
    assert_eq!(server.post(&sessions[0], PING).status, 200);
    let another = session(&server);
    for (headers, status) in [(&sessions[1], 404), (&sessions[0], 200), (&sessions[2], 200), (&another, 200)]
    {
        let reply = server.post(headers, PING);
        assert_eq!(reply.status, status, "{headers}: {}", reply.body);
    }
    // Whoever lost its session begins another, and what begins none costs nobody's.
    session(&server);
    assert_eq!(server.post("", PING).status, 400);
    assert_eq!(server.post(&sessions[3], PING).status, 404);
    assert_eq!(server.post(&sessions[4], PING).status, 200);
}

// 128 of them took all places, and 200 stopped the server until the first were timed out.
#[test]
fn connections_without_a_token_keep_nobody_out() {
    for count in [128, 200] {
        let scratch = Scratch::with_jwt();
        let server = Listening::start_with(&scratch, &[(DEADLINE, NEVER_MS)]);
        let mut silent = half_open(&server, count);
        let mut client = server.connect();
        client.set_read_timeout(Some(AT_ONCE)).unwrap();
        let (head, body) = (server.head("POST", "\r\nConnection: close"), initialize());
        write!(client, "{head}\r\nContent-Length: {}\r\n\r\n{body}", body.len()).unwrap();
        let reply = until_closed(client);
        assert!(reply.starts_with("HTTP/1.1 200 "), "{reply}");
        // Only the oldest gave way.
        assert!(silent[count - 60..].iter_mut().all(is_open));
        assert_eq!(until_closed(silent.swap_remove(0)), "");
    }
}

#[test]
fn clients_with_a_token_keep_their_connections() {
    let scratch = Scratch::with_jwt();
    let server = Listening::start_with(&scratch, &[(DEADLINE, NEVER_MS)]);
    let mut kept = server.connect();
    let headers = session(&server);
    let request =
        format!("{}\r\nContent-Length: {}\r\n\r\n{PING}", server.head("POST", &headers), PING.len());
    let mut ask = || {
        kept.write_all(request.as_bytes()).unwrap();
        // A chunked answer ends with an empty chunk.
        let mut answer = Vec::new();
        while !answer.ends_with(b"\r\n0\r\n\r\n") {
            let mut part = [0; 4096];
            let read = kept.read(&mut part).unwrap();
            assert_ne!(read, 0, "{}", String::from_utf8_lossy(&answer));
            answer.extend_from_slice(&part[..read]);
        }
    };
    ask();
    let silent = half_open(&server, 200);
    ask();
    drop(silent);
}

#[test]
fn a_connection_that_shows_no_token_is_closed() {
    let scratch = Scratch::with_jwt();
    let server = Listening::start_with(&scratch, &[(DEADLINE, "1")]);
    assert_eq!(until_closed(server.connect()), "");
    assert_eq!(until_closed(half_open(&server, 1).remove(0)), "");
}

// Whoever had the token could send half a body and hold a connection for ever.
#[test]
fn a_body_that_does_not_come_is_not_waited_for() {
    let scratch = Scratch::with_jwt();
    let server = Listening::start_with(&scratch, &[(DEADLINE, SHORT_MS)]);
    for (method, length) in [
        ("POST", "Content-Length: 100"),
        ("POST", "Transfer-Encoding: chunked"),
        ("DELETE", "Content-Length: 9"),
    ] {
        let mut stream = server.connect();
        write!(stream, "{}\r\n{length}\r\n\r\n", server.head(method, "")).unwrap();
        let reply = until_closed(stream);
        assert!(reply.starts_with("HTTP/1.1 408 "), "{method} {length}: {reply}");
    }
}

#[test]
fn an_answered_connection_is_closed_when_no_request_follows_and_a_stream_stays() {
    let scratch = Scratch::with_jwt();
    let server = Listening::start_with(&scratch, &[(DEADLINE, SHORT_MS)]);
    let headers = session(&server);
    let mut listening = server.connect();
    write!(listening, "{}\r\n\r\n", server.head("GET", &headers)).unwrap();
    let mut answered = server.connect();
    write!(answered, "{}\r\nContent-Length: 1\r\n\r\n{{", server.head("POST", &headers)).unwrap();
    let reply = until_closed(answered);
    assert!(reply.starts_with("HTTP/1.1 400 ") && reply.contains("-32700"), "{reply}");
    // The stream is older than what ended, and ends by no deadline.
    assert!(is_open(&mut listening));
}
