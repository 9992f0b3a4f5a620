//! The protocol over HTTP, for clients that cannot start a program: on this machine, for whoever has the token.
//!
//! Every request is asked for the token, so a web page or another user's process gets nothing. Host and Origin are
//! looked at besides: a page that had a name point here would need no token to be told apart.

use super::Trouble;
use super::message;
use super::server::Server;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue, WWW_AUTHENTICATE};
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use lorelane_engine::env::{Env, Var};
use rmcp::model::ServerJsonRpcMessage;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

const PATH: &str = "/mcp";
const TOKEN: Var = Var::LorelaneMcpToken;
/// A shorter one could be guessed.
const TOKEN_MIN: usize = 16;
const BODY_MAX_BYTES: usize = 4 << 20;
const CONNECTIONS_MAX: usize = 128;
const SESSIONS_MAX: usize = 64;
/// Whoever takes longer to say what it wants is not a client.
const HEAD_DEADLINE: Duration = Duration::from_secs(10);
/// The first version without sessions.
const WITHOUT_SESSIONS: &str = "2026-07-28";

type Answer = Response<BoxBody<Bytes, Infallible>>;

/// What all connections share.
struct Door {
    service: StreamableHttpService<Server, LocalSessionManager>,
    sessions: Arc<LocalSessionManager>,
    token: String,
}

/// Serves until the process is ended.
pub(super) async fn serve(server: Server, env: &Env, typed: &str, remote: bool) -> Result<(), Trouble> {
    let address = address(typed, remote)?;
    let (token, generated) = match env.var(TOKEN) {
        Some(token) => (chosen(token)?, false),
        None => (generated()?, true),
    };
    let listener = TcpListener::bind(address).await.map_err(|fault| {
        (format!("cannot listen on {address}: {fault}"), "choose another port, or 0 for any".to_owned())
    })?;
    let address = listener.local_addr().unwrap_or(address);
    let note = if generated { format!("token: {token}\n") } else { String::new() };
    eprint!("listening on http://{address}{PATH}\n{note}");
    let sessions = Arc::new(LocalSessionManager::default());
    let service =
        StreamableHttpService::new(move || Ok(server.for_another()), Arc::clone(&sessions), config(address));
    let door = Arc::new(Door { service, sessions, token });
    let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return Ok(()) };
        // A client that is gone before it was met is no reason to stop.
        let Ok((stream, _)) = listener.accept().await else { continue };
        let door = Arc::clone(&door);
        tokio::spawn(async move {
            meet(stream, door).await;
            drop(place);
        });
    }
}

async fn meet(stream: TcpStream, door: Arc<Door>) {
    let service = hyper::service::service_fn(move |request| {
        let door = Arc::clone(&door);
        async move { Ok::<Answer, Infallible>(door.answer(request).await) }
    });
    let _ = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_DEADLINE)
        .serve_connection(TokioIo::new(stream), service)
        .await;
}

impl Door {
    async fn answer(&self, request: Request<Incoming>) -> Answer {
        if request.uri().path() != PATH {
            return said(StatusCode::NOT_FOUND, "the server is at /mcp");
        }
        if !knows(request.headers(), &self.token) {
            let mut answer = said(StatusCode::UNAUTHORIZED, "send the token: `Authorization: Bearer TOKEN`");
            answer.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            return answer;
        }
        if begins_session(&request) && self.sessions.sessions.read().await.len() >= SESSIONS_MAX {
            return said(StatusCode::SERVICE_UNAVAILABLE, "too many sessions: end one, or wait five minutes");
        }
        if request.method() != Method::POST {
            return self.service.handle(request).await;
        }
        let (head, body) = request.into_parts();
        let Ok(body) = Limited::new(body, BODY_MAX_BYTES).collect().await else {
            return said(StatusCode::PAYLOAD_TOO_LARGE, "a message has at most 4 MiB, and all of it is sent");
        };
        let body = body.to_bytes();
        match message::read(&body) {
            Some(Ok(_)) => self.service.handle(Request::from_parts(head, Full::new(body))).await,
            Some(Err(refusal)) => refused(&refusal),
            None => said(StatusCode::BAD_REQUEST, "send a message of JSON-RPC 2.0"),
        }
    }
}

/// What is no message gets an answer inside the protocol.
fn refused(refusal: &ServerJsonRpcMessage) -> Answer {
    let body = serde_json::to_vec(refusal).unwrap_or_default();
    let mut answer = Response::new(Full::new(Bytes::from(body)).boxed());
    *answer.status_mut() = StatusCode::BAD_REQUEST;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    answer
}

fn begins_session(request: &Request<Incoming>) -> bool {
    let headers = request.headers();
    request.method() == Method::POST
        && !headers.contains_key("mcp-session-id")
        && headers.get("mcp-protocol-version").is_none_or(|version| version != WITHOUT_SESSIONS)
}

fn said(status: StatusCode, text: &'static str) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::from_static(text.as_bytes())).boxed());
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain"));
    answer
}

/// Takes the same time for every wrong token of the right length.
fn knows(headers: &HeaderMap, token: &str) -> bool {
    let given = headers.get(AUTHORIZATION).map(HeaderValue::as_bytes).unwrap_or_default();
    let Some((scheme, given)) = given.split_at_checked("Bearer ".len()) else { return false };
    let differs = given.iter().zip(token.as_bytes()).fold(0, |differs, (a, b)| differs | (a ^ b));
    scheme.eq_ignore_ascii_case(b"Bearer ")
        && given.len() == token.len()
        && std::hint::black_box(differs) == 0
}

fn config(address: SocketAddr) -> StreamableHttpServerConfig {
    let config = StreamableHttpServerConfig::default()
        .with_max_request_body_bytes(BODY_MAX_BYTES)
        .with_allowed_origins(["http://localhost:*", "http://127.0.0.1:*", "http://[::1]:*"])
        .enforce_origin_validation();
    match address.ip() {
        ip if ip.is_loopback() => config,
        // Nobody knows by which names other machines call this one; the token is asked for in any case.
        ip if ip.is_unspecified() => config.disable_allowed_hosts(),
        ip => config.with_allowed_hosts([ip.to_string(), "localhost".to_owned(), "127.0.0.1".to_owned()]),
    }
}

/// Where to listen: `ADDR:PORT`, `localhost:PORT` or a port alone, on this machine unless more was asked for.
fn address(typed: &str, remote: bool) -> Result<SocketAddr, Trouble> {
    let port = typed.strip_prefix("localhost:").or_else(|| typed.strip_prefix(':')).unwrap_or(typed);
    let local = |port: u16| SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port);
    let address = port.parse().map(local).or_else(|_| typed.parse()).map_err(|_| {
        (
            format!("`{typed}` is no address to listen on"),
            "write it as 127.0.0.1:8123, or as a port; 0 means any".to_owned(),
        )
    })?;
    match address.ip().is_loopback() || remote {
        true => Ok(address),
        false => Err((
            format!("{address} can be reached by other machines, and memories would go there unencrypted"),
            "listen on 127.0.0.1, or add --allow-remote".to_owned(),
        )),
    }
}

fn chosen(token: &str) -> Result<String, Trouble> {
    match token.len() >= TOKEN_MIN && token.bytes().all(|byte| byte.is_ascii_graphic()) {
        true => Ok(token.to_owned()),
        false => Err((
            format!(
                "{} is no token: it is too short or has other characters than visible ASCII",
                TOKEN.name()
            ),
            format!("give at least {TOKEN_MIN} characters, or unset it and take the one that is printed"),
        )),
    }
}

fn generated() -> Result<String, Trouble> {
    let mut bytes = [0_u8; 32];
    getrandom::fill(&mut bytes)
        .map_err(|fault| (format!("cannot make a token: {fault}"), format!("set {}", TOKEN.name())))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_machines_are_let_in_only_when_asked_for() {
        for (typed, remote, expected) in [
            ("8123", false, Some("127.0.0.1:8123")),
            (":8123", false, Some("127.0.0.1:8123")),
            ("localhost:0", false, Some("127.0.0.1:0")),
            ("[::1]:80", false, Some("[::1]:80")),
            ("0.0.0.0:80", false, None),
            ("0.0.0.0:80", true, Some("0.0.0.0:80")),
            ("[::]:80", false, None),
            ("192.168.1.5:80", false, None),
            ("example.org:80", true, None),
            ("127.0.0.1", false, None),
            ("99999", false, None),
            ("", false, None),
        ] {
            assert_eq!(
                address(typed, remote).ok().map(|address| address.to_string()).as_deref(),
                expected,
                "{typed}"
            );
        }
    }

    #[test]
    fn only_the_token_opens() {
        for (header, opens) in [
            ("Bearer 0123456789abcdef", true),
            ("bearer 0123456789abcdef", true),
            ("Bearer 0123456789abcdeX", false),
            ("Bearer 0123456789abcdef0", false),
            ("Bearer 0123456789abcde", false),
            ("Bearer ", false),
            ("0123456789abcdef", false),
            ("Basic  0123456789abcdef", false),
            ("", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(AUTHORIZATION, HeaderValue::from_static(header));
            assert_eq!(knows(&headers, "0123456789abcdef"), opens, "{header}");
        }
        assert!(!knows(&HeaderMap::new(), "0123456789abcdef"));
    }

    #[test]
    fn a_token_cannot_be_guessed() {
        assert_ne!(generated(), generated());
        assert_eq!(generated().expect("a token").len(), 64);
        assert!(chosen("short").is_err() && chosen("with blanks in it, long").is_err());
    }
}
