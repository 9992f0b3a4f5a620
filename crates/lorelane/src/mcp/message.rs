//! Parses protocol messages. Both transports answer an invalid message in the same way.

use rmcp::model::{ClientJsonRpcMessage, ErrorData, RequestId, ServerJsonRpcMessage};
use serde_json::Value;

/// A message, or the error to send back.
pub(super) type Incoming = Result<Box<ClientJsonRpcMessage>, Box<ServerJsonRpcMessage>>;

/// Parses what a client sent; `None` if it is empty.
pub(super) fn read(sent: &[u8]) -> Option<Incoming> {
    let sent = sent.strip_prefix(b"\xef\xbb\xbf").unwrap_or(sent).trim_ascii();
    if sent.is_empty() {
        return None;
    }
    let refuse = |error, id| Some(refused(error, id));
    // Answered with -32700, as JSON-RPC says; many other servers stay silent.
    let value: Value = match serde_json::from_slice(sent) {
        Ok(value) => value,
        Err(fault) => return refuse(ErrorData::parse_error(format!("invalid JSON: {fault}"), None), None),
    };
    if value.is_array() {
        let what = "batches are not supported: send one message at a time";
        return refuse(ErrorData::invalid_request(what, None), None);
    }
    let id: Option<RequestId> = value.get("id").and_then(|id| serde_json::from_value(id.clone()).ok());
    match serde_json::from_value(value) {
        Ok(message) => Some(Ok(Box::new(message))),
        Err(_) => {
            let what = "not a JSON-RPC 2.0 message: it needs \"jsonrpc\": \"2.0\", and a request needs \"id\" and \"method\"";
            refuse(ErrorData::invalid_request(what, None), id)
        }
    }
}

/// The error answer to a request; without an id if it could not be read.
pub(super) fn refused(error: ErrorData, id: Option<RequestId>) -> Incoming {
    Err(Box::new(ServerJsonRpcMessage::error(error, id)))
}
