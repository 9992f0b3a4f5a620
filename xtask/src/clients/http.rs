//! The part of HTTP/1.1 that clients use with a model: one request and one response per connection.

use std::io::{self, BufRead, Read, Write};

/// Larger than any request of a client.
const BODY_LIMIT: usize = 64 << 20;

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Request {
    pub method: String,
    pub path: String,
    pub body: Vec<u8>,
}

/// Reads one request; `None` if the connection was closed without one.
pub(super) fn read(input: &mut impl BufRead) -> io::Result<Option<Request>> {
    let first = line(input)?;
    if first.is_empty() {
        return Ok(None);
    }
    let mut words = first.split(' ');
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let (mut length, mut chunked) = (0, false);
    loop {
        let header = line(input)?;
        let Some((name, value)) = header.split_once(':') else { break };
        match (name.to_ascii_lowercase().as_str(), value.trim()) {
            ("content-length", value) => length = value.parse().map_err(|_| refused("content-length"))?,
            ("transfer-encoding", value) => chunked = value.eq_ignore_ascii_case("chunked"),
            _ => {}
        }
    }
    let body = if chunked { chunks(input)? } else { exactly(input, length)? };
    Ok(Some(Request { method: method.to_owned(), path: path.to_owned(), body }))
}

/// Every response closes its connection, so that requests need not be separated; the client opens another.
pub(super) fn answer(
    output: &mut impl Write,
    status: &str,
    content_type: &str,
    body: &str,
    with_body: bool,
) -> io::Result<()> {
    let length = body.len();
    write!(
        output,
        "HTTP/1.1 {status}\r\ncontent-type: {content_type}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n"
    )?;
    if with_body {
        output.write_all(body.as_bytes())?;
    }
    output.flush()
}

fn chunks(input: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let size = line(input)?;
        let size = size.split(';').next().unwrap_or_default().trim();
        let size = usize::from_str_radix(size, 16).map_err(|_| refused("size of a chunk"))?;
        if size == 0 {
            // Trailers would follow here; no client sends them.
            while !line(input)?.is_empty() {}
            return Ok(body);
        }
        if body.len() + size > BODY_LIMIT {
            return Err(refused("length"));
        }
        body.extend(exactly(input, size)?);
        line(input)?;
    }
}

fn exactly(input: &mut impl BufRead, length: usize) -> io::Result<Vec<u8>> {
    if length > BODY_LIMIT {
        return Err(refused("length"));
    }
    let mut body = vec![0; length];
    input.read_exact(&mut body)?;
    Ok(body)
}

fn line(input: &mut impl BufRead) -> io::Result<String> {
    let mut bytes = Vec::new();
    input.take(1 << 16).read_until(b'\n', &mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).trim_end().to_owned())
}

fn refused(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("cannot read the {what} of a request"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_read_by_length_and_by_chunks() {
        for text in [
            "POST /v1 HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello",
            "POST /v1 HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhe\r\n3;x=y\r\nllo\r\n0\r\n\r\n",
        ] {
            let request = read(&mut text.as_bytes()).unwrap().unwrap();
            assert_eq!((request.method.as_str(), request.path.as_str()), ("POST", "/v1"));
            assert_eq!(request.body, b"hello", "{text}");
        }
    }

    #[test]
    fn what_is_no_request_is_an_error_and_nothing_is_none() {
        assert_eq!(read(&mut "".as_bytes()).unwrap(), None);
        for text in [
            "POST / HTTP/1.1\r\ncontent-length: many\r\n\r\n",
            "POST / HTTP/1.1\r\ncontent-length: 99999999999\r\n\r\n",
            "POST / HTTP/1.1\r\ncontent-length: 5\r\n\r\nhe",
            "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
        ] {
            assert!(read(&mut text.as_bytes()).is_err(), "{text}");
        }
    }
}
