//! Messages of the protocol, read from what a client sent: over both transports what is none gets the same answer.

use rmcp::model::{ClientJsonRpcMessage, ErrorData, RequestId, ServerJsonRpcMessage};
use serde_json::Value;

/// A message, or the answer to what is none.
pub(super) type Incoming = Result<Box<ClientJsonRpcMessage>, Box<ServerJsonRpcMessage>>;

/// Reads what a client sent; `None` when there is nothing in it.
pub(super) fn read(sent: &[u8]) -> Option<Incoming> {
    let sent = sent.strip_prefix(b"\xef\xbb\xbf").unwrap_or(sent).trim_ascii();
    if sent.is_empty() {
        return None;
    }
    let refuse = |error, id| Some(refused(error, id));
    let value: Value = match serde_json::from_slice(sent) {
        Ok(value) => value,
        Err(fault) => return refuse(ErrorData::parse_error(format!("this is no JSON: {fault}"), None), None),
    };
    if value.is_array() {
        let what = "batches are not part of the protocol: send one message at a time";
        return refuse(ErrorData::invalid_request(what, None), None);
    }
    let id: Option<RequestId> = value.get("id").and_then(|id| serde_json::from_value(id.clone()).ok());
    match serde_json::from_value(value) {
        Ok(message) => Some(Ok(Box::new(message))),
        Err(_) => {
            let what = "this is no message of JSON-RPC 2.0: it needs \"jsonrpc\": \"2.0\", and a request \"id\" and \"method\"";
            refuse(ErrorData::invalid_request(what, None), id)
        }
    }
}

/// An error for a request, or for nobody knows which.
pub(super) fn refused(error: ErrorData, id: Option<RequestId>) -> Incoming {
    Err(Box::new(ServerJsonRpcMessage::error(error, id)))
}
