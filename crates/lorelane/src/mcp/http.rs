//! The streamable HTTP transport, for clients that cannot start a program: messages and sessions.
//!
//! The token, the Host and Origin headers and all limits are checked in `serve` before a request gets here.

use super::message;
use super::server::Server;
use super::sessions::Sessions;
use crate::serve::StartError;
use crate::serve::http::{self, BODY_MAX_BYTES, Endpoint, refused, until_sent};
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use lorelane_engine::env::{Env, Var};
use rmcp::model::ServerJsonRpcMessage;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use std::sync::Arc;

const PATH: &str = "/mcp";
const SESSION_ID: &str = "mcp-session-id";
/// The first protocol version without sessions.
const WITHOUT_SESSIONS: &str = "2026-07-28";

/// Shared by all requests.
struct McpState {
    service: StreamableHttpService<Server, LocalSessionManager>,
    sessions: Arc<Sessions>,
}

/// Serves until the process ends.
pub(super) async fn serve(server: Server, env: &Env, address: &str, remote: bool) -> Result<(), StartError> {
    let manager = Arc::new(LocalSessionManager::default());
    // `serve` has checked Host and Origin.
    let config = StreamableHttpServerConfig::default()
        .with_max_request_body_bytes(BODY_MAX_BYTES)
        .disable_allowed_hosts()
        .disable_allowed_origins();
    let sessions = Sessions::new(Arc::clone(&manager));
    let service = StreamableHttpService::new(move || Ok(server.for_another()), manager, config);
    let router = Router::new().route(PATH, any(answer)).with_state(Arc::new(McpState { service, sessions }));
    let endpoint = Endpoint { address, remote, path: PATH, token: Var::LorelaneMcpToken };
    http::serve(router, &endpoint, env).await
}

async fn answer(State(state): State<Arc<McpState>>, request: Request) -> Response {
    if begins_session(&request) && state.sessions.all_in_use().await {
        return refused(StatusCode::SERVICE_UNAVAILABLE, "all sessions are busy: try again later");
    }
    let is_post = request.method() == Method::POST;
    let in_use = session(request.headers()).map(|id| state.sessions.using(id));
    let response = match is_post {
        true => answer_message(&state, request).await,
        false => state.service.handle(request).await.map(Body::new),
    };
    let in_use = in_use.or_else(|| session(response.headers()).map(|id| state.sessions.using(id)));
    state.sessions.retire_longest_idle().await;
    // A GET stream only listens: it does not keep its session from being evicted.
    if is_post { until_sent(response, in_use) } else { response }
}

async fn answer_message(state: &McpState, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let body = to_bytes(body, BODY_MAX_BYTES).await.unwrap_or_default();
    match message::read(&body) {
        Some(Ok(_)) => state.service.handle(Request::from_parts(head, Body::from(body))).await.map(Body::new),
        Some(Err(refusal)) => no_message(&refusal),
        None => refused(StatusCode::BAD_REQUEST, "the request body is empty: send a JSON-RPC 2.0 message"),
    }
}

/// An invalid message is answered with a JSON-RPC error.
fn no_message(refusal: &ServerJsonRpcMessage) -> Response {
    let body = serde_json::to_vec(refusal).unwrap_or_default();
    (StatusCode::BAD_REQUEST, [(CONTENT_TYPE, "application/json")], body).into_response()
}

fn session(headers: &HeaderMap) -> Option<&str> {
    headers.get(SESSION_ID)?.to_str().ok()
}

fn begins_session(request: &Request) -> bool {
    let headers = request.headers();
    request.method() == Method::POST
        && !headers.contains_key(SESSION_ID)
        && headers.get("mcp-protocol-version").is_none_or(|version| version != WITHOUT_SESSIONS)
}
