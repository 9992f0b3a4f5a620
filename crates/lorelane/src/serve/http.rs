//! HTTP: the listener, and the checks that every request has to pass.
//!
//! Every request needs the token, also on loopback: other users and web pages reach that too. Host and Origin are
//! checked besides, against DNS rebinding by a web page.

use super::StartError;
use super::connections::{Connection, Connections, Deadlines, LimitedListener};
use axum::Router;
use axum::body::{Body, Bytes, HttpBody, to_bytes};
use axum::extract::{ConnectInfo, Request, State};
use axum::http::header::{AUTHORIZATION, CONNECTION, CONTENT_TYPE, HOST, ORIGIN, WWW_AUTHENTICATE};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use http_body::{Frame, SizeHint};
use lorelane_engine::env::{Env, Var};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::time::timeout;

/// Shorter tokens can be guessed.
const TOKEN_MIN: usize = 16;
pub(crate) const BODY_MAX_BYTES: usize = 4 << 20;
const DEADLINES: Deadlines = Deadlines {
    proof: Duration::from_secs(5),
    // Longer than clients keep an idle connection, so that they close it: a server that closes first can do so
    // while the next request is on its way.
    idle: Duration::from_secs(10),
    body: Duration::from_secs(30),
};
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// Where a face listens, and its token.
#[derive(Debug)]
pub(crate) struct Endpoint<'a> {
    /// As it was typed.
    pub(crate) address: &'a str,
    /// Whether the address may be reachable by other machines.
    pub(crate) remote: bool,
    pub(crate) path: &'static str,
    /// The environment variable with the token.
    pub(crate) token: Var,
}

/// Shared by the checks of all requests.
#[derive(Debug)]
struct HttpState {
    token: String,
    /// The names of this machine that a Host header may have.
    hosts: Hosts,
    body_deadline: Duration,
}

#[derive(Debug, PartialEq, Eq)]
enum Hosts {
    /// Listening on all addresses: the names that other machines use are unknown. The token is still required.
    Any,
    Only(Vec<String>),
}

/// Serves the routes until the process ends.
pub(crate) async fn serve(router: Router, endpoint: &Endpoint<'_>, env: &Env) -> Result<(), StartError> {
    let path = endpoint.path;
    let address = address(endpoint.address, endpoint.remote)?;
    let (token, generated) = match env.var(endpoint.token) {
        Some(token) => (chosen(token, endpoint.token)?, false),
        None => (generated(endpoint.token)?, true),
    };
    let cannot_listen = |fault| {
        StartError::new(format!("cannot listen on {address}: {fault}"), "choose another port, or 0 for any")
    };
    let listener = TcpListener::bind(address).await.map_err(cannot_listen)?;
    let address = listener.local_addr().unwrap_or(address);
    let note = if generated { format!("token: {token}\n") } else { String::new() };
    eprint!("listening on http://{address}{path}\n{note}");
    let deadlines = deadlines(env);
    let state = HttpState { token, hosts: hosts(address.ip()), body_deadline: deadlines.body };
    let router = router
        .route_layer(from_fn_with_state(Arc::new(state), checked))
        .fallback(async move || refused(StatusCode::NOT_FOUND, format!("not found: the endpoint is {path}")));
    let listener = LimitedListener { listener, connections: Connections::new(deadlines) };
    let service = router.into_make_service_with_connect_info::<Connection>();
    axum::serve(listener, service).await.map_err(cannot_listen)
}

/// A plain-text response with an error.
pub(crate) fn refused(status: StatusCode, text: impl Into<Body>) -> Response {
    (status, [(CONTENT_TYPE, "text/plain")], text.into()).into_response()
}

/// Drops `guard` once the response is sent or its client is gone.
pub(crate) fn until_sent<T: Send + Unpin + 'static>(response: Response, guard: T) -> Response {
    response.map(|body| Body::new(GuardedBody { body, _guard: guard }))
}

/// Checks a request, reads its whole body and passes it to the routes.
async fn checked(
    State(state): State<Arc<HttpState>>,
    ConnectInfo(connection): ConnectInfo<Connection>,
    request: Request,
    next: Next,
) -> Response {
    if !knows(request.headers(), &state.token) {
        let mut response =
            refused(StatusCode::UNAUTHORIZED, "missing or wrong token: send `Authorization: Bearer TOKEN`");
        response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        return response;
    }
    let busy = connection.trust();
    if let Err(refusal) = names_this_machine(request.uri(), request.headers(), &state.hosts) {
        return refusal;
    }
    let (head, body) = request.into_parts();
    let body = match timeout(state.body_deadline, to_bytes(body, BODY_MAX_BYTES)).await {
        Ok(Ok(body)) => body,
        Ok(Err(_)) => {
            return refused(
                StatusCode::PAYLOAD_TOO_LARGE,
                "the request body is incomplete or larger than 4 MiB",
            );
        }
        Err(_) => {
            let mut response = refused(StatusCode::REQUEST_TIMEOUT, "timed out waiting for the request body");
            response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
            return response;
        }
    };
    until_sent(next.run(Request::from_parts(head, Body::from(body))).await, busy)
}

/// Compares in constant time for tokens of the right length.
fn knows(headers: &HeaderMap, token: &str) -> bool {
    let given = headers.get(AUTHORIZATION).map(HeaderValue::as_bytes).unwrap_or_default();
    let Some((scheme, given)) = given.split_at_checked("Bearer ".len()) else { return false };
    let differs = given.iter().zip(token.as_bytes()).fold(0, |differs, (a, b)| differs | (a ^ b));
    scheme.eq_ignore_ascii_case(b"Bearer ")
        && given.len() == token.len()
        && std::hint::black_box(differs) == 0
}

fn names_this_machine(uri: &Uri, headers: &HeaderMap, hosts: &Hosts) -> Result<(), Response> {
    let host = match headers.get(HOST) {
        Some(host) => Authority::try_from(host.as_bytes()).ok(),
        None => uri.authority().cloned(),
    };
    let Some(host) = host else {
        return Err(refused(StatusCode::BAD_REQUEST, "the Host header is missing or invalid"));
    };
    if let Hosts::Only(names) = hosts
        && !names.iter().any(|name| name.eq_ignore_ascii_case(host.host()))
    {
        return Err(refused(StatusCode::FORBIDDEN, "the Host header does not name this machine"));
    }
    match headers.get(ORIGIN).is_none_or(|origin| is_local(origin.as_bytes())) {
        true => Ok(()),
        false => Err(refused(StatusCode::FORBIDDEN, "the Origin header does not name this machine")),
    }
}

/// Whether an origin is a page on this machine, on any port.
fn is_local(origin: &[u8]) -> bool {
    let uri = Uri::try_from(origin).ok().filter(|uri| uri.scheme_str() == Some("http"));
    uri.and_then(|uri| uri.into_parts().authority)
        .is_some_and(|authority| LOOPBACK.iter().any(|name| name.eq_ignore_ascii_case(authority.host())))
}

fn hosts(ip: IpAddr) -> Hosts {
    let written = match ip {
        IpAddr::V4(ip) => ip.to_string(),
        IpAddr::V6(ip) => format!("[{ip}]"),
    };
    match ip {
        ip if ip.is_unspecified() => Hosts::Any,
        ip if ip.is_loopback() => Hosts::Only(LOOPBACK.map(str::to_owned).to_vec()),
        _ => Hosts::Only(vec![written, "localhost".to_owned(), "127.0.0.1".to_owned()]),
    }
}

/// One variable, `LORELANE_HTTP_DEADLINE_MS`, sets all of them, for tests.
fn deadlines(env: &Env) -> Deadlines {
    let set = env.var(Var::LorelaneHttpDeadlineMs).and_then(|ms| ms.parse().ok()).map(Duration::from_millis);
    set.map_or(DEADLINES, |all| Deadlines { proof: all, idle: all, body: all })
}

/// Parses `ADDR:PORT`, `localhost:PORT` or a port. Without `remote` it must be a loopback address.
fn address(typed: &str, remote: bool) -> Result<SocketAddr, StartError> {
    let port = typed.strip_prefix("localhost:").or_else(|| typed.strip_prefix(':')).unwrap_or(typed);
    let local = |port: u16| SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port);
    let address = port.parse().map(local).or_else(|_| typed.parse()).map_err(|_| {
        StartError::new(
            format!("'{typed}' is not an address to listen on"),
            "write it as 127.0.0.1:8123, or as a port; 0 means any free port",
        )
    })?;
    match address.ip().is_loopback() || remote {
        true => Ok(address),
        false => Err(StartError::new(
            format!("{address} can be reached by other machines, and memories would be sent unencrypted"),
            "listen on 127.0.0.1, or add --allow-remote",
        )),
    }
}

fn chosen(token: &str, var: Var) -> Result<String, StartError> {
    match token.len() >= TOKEN_MIN && token.bytes().all(|byte| byte.is_ascii_graphic()) {
        true => Ok(token.to_owned()),
        false => Err(StartError::new(
            format!("{} is not a valid token: it is too short or not only visible ASCII", var.name()),
            format!("use at least {TOKEN_MIN} characters, or unset it to have a token generated and printed"),
        )),
    }
}

fn generated(var: Var) -> Result<String, StartError> {
    let mut bytes = [0_u8; 32];
    getrandom::fill(&mut bytes).map_err(|fault| {
        StartError::new(format!("cannot generate a token: {fault}"), format!("set {}", var.name()))
    })?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// A body that owns a guard.
struct GuardedBody<T> {
    body: Body,
    _guard: T,
}

impl<T: Unpin> HttpBody for GuardedBody<T> {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
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
        let token = Var::LorelaneMcpToken;
        assert_ne!(generated(token), generated(token));
        assert_eq!(generated(token).expect("a token").len(), 64);
        assert!(chosen("short", token).is_err() && chosen("with blanks in it, long", token).is_err());
    }

    #[test]
    fn host_and_origin_name_this_machine() {
        let loopback = || hosts(IpAddr::V4(Ipv4Addr::LOCALHOST));
        let lan = || hosts(IpAddr::V4(Ipv4Addr::new(192, 168, 1, 5)));
        let any = || hosts(IpAddr::V4(Ipv4Addr::UNSPECIFIED));
        let six = || hosts("fd00::5".parse().expect("an address"));
        for (hosts, host, origin, expected) in [
            (loopback(), Some("127.0.0.1:8123"), None, 200),
            (loopback(), Some("LOCALHOST"), Some("http://localhost:6274"), 200),
            (loopback(), Some("[::1]:80"), Some("http://[::1]"), 200),
            (loopback(), None, None, 400),
            (loopback(), Some(""), None, 400),
            (loopback(), Some("a b"), None, 400),
            (loopback(), Some("evil.example"), None, 403),
            (loopback(), Some("localhost.evil.example"), None, 403),
            (loopback(), Some("192.168.1.5"), None, 403),
            (loopback(), Some("localhost"), Some("null"), 403),
            (loopback(), Some("localhost"), Some(""), 403),
            (loopback(), Some("localhost"), Some("https://localhost"), 403),
            (loopback(), Some("localhost"), Some("http://localhost.evil.example"), 403),
            (lan(), Some("192.168.1.5:80"), None, 200),
            (lan(), Some("localhost:80"), None, 200),
            (lan(), Some("evil.example"), None, 403),
            (six(), Some("[fd00::5]:80"), None, 200),
            (any(), Some("anything.example"), None, 200),
            (any(), Some("anything.example"), Some("http://anything.example"), 403),
        ] {
            let mut headers = HeaderMap::new();
            for (name, value) in [(HOST, host), (ORIGIN, origin)] {
                value.map(|value| headers.insert(name, HeaderValue::from_static(value)));
            }
            let checked = names_this_machine(&Uri::from_static("/mcp"), &headers, &hosts);
            let status = checked.err().map_or(200, |refusal| refusal.status().as_u16());
            assert_eq!(status, expected, "{host:?} {origin:?} {hosts:?}");
        }
    }
}
