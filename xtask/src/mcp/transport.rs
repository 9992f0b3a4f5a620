//! A proxy that adds the token to every request, for a client that cannot send it.
//!
//! The conformance suite takes an address and nothing else. Everything but the token is passed on unchanged,
//! above all the `Host` header: the suite checks that a wrong one is rejected.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

use super::server::Listening;
use crate::failure::Failure;

/// Longer than the headers of any request.
const HEAD_MAX: u64 = 1 << 16;

/// Starts a proxy to the server and returns its address. It runs as long as the process.
pub(super) fn open(server: &Listening) -> Result<String, Failure> {
    let shut = |error: io::Error| Failure::new(format!("cannot listen on loopback: {error}"));
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(shut)?;
    let address = listener.local_addr().map_err(shut)?;
    let (port, token) = (server.port, Arc::new(server.token.clone()));
    thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let token = Arc::clone(&token);
            // A client that disconnects early is not an error here: the suite reports what is missing.
            thread::spawn(move || lead(&client, port, &token));
        }
    });
    Ok(format!("http://{address}/mcp"))
}

/// One request and its answer per connection.
fn lead(client: &TcpStream, port: u16, token: &str) -> io::Result<()> {
    let mut from_client = BufReader::new(client.try_clone()?);
    let Some(head) = with_token(&mut from_client, token)? else { return Ok(()) };
    let server = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
    (&server).write_all(head.as_bytes())?;
    let mut to_server = server.try_clone()?;
    // The body is copied on another thread: an answer may begin before it has ended.
    thread::spawn(move || {
        let _ = io::copy(&mut from_client, &mut to_server);
        let _ = to_server.shutdown(Shutdown::Write);
    });
    let copied = io::copy(&mut &server, &mut &*client);
    let _ = client.shutdown(Shutdown::Both);
    copied.map(drop)
}

/// The headers of a request with the token added; `None` if the client sent nothing.
fn with_token(input: &mut impl BufRead, token: &str) -> io::Result<Option<String>> {
    let mut lines = input.take(HEAD_MAX).lines();
    let Some(first) = lines.next().transpose()? else { return Ok(None) };
    let mut head = format!("{first}\r\nauthorization: Bearer {token}\r\nconnection: close\r\n");
    for line in lines.by_ref() {
        let line = line?;
        if line.is_empty() {
            break;
        }
        let name = line.split(':').next().unwrap_or_default();
        if !name.eq_ignore_ascii_case("connection") && !name.eq_ignore_ascii_case("authorization") {
            head.push_str(&line);
            head.push_str("\r\n");
        }
    }
    head.push_str("\r\n");
    Ok(Some(head))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_gets_the_token_and_keeps_the_rest() {
        let mut input =
            "POST /mcp HTTP/1.1\r\nHost: evil.example\r\nConnection: keep-alive\r\n\r\nbody".as_bytes();
        let head = with_token(&mut input, "t").unwrap().unwrap();
        assert_eq!(
            head,
            "POST /mcp HTTP/1.1\r\nauthorization: Bearer t\r\nconnection: close\r\nHost: evil.example\r\n\r\n"
        );
        assert_eq!(input, b"body");
        assert_eq!(with_token(&mut "".as_bytes(), "t").unwrap(), None);
    }
}
