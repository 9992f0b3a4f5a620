//! The stdio transport: one JSON message per line, and nothing else on standard output.
//!
//! There is no fixed handshake: `server/discover` and `initialize` are answered in any order, because some clients
//! send one and continue with the other. A message that cannot be read is answered with an error; the connection
//! stays open.

use super::message::{self, Incoming};
use super::server::Server;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, ErrorData, ProtocolVersion, ServerConfig,
    ServerJsonRpcMessage, ServerResult,
};
use rmcp::service::{NotificationContext, RequestContext, serve_directly};
use rmcp::transport::Transport;
use rmcp::{RoleServer, Service};
use std::borrow::Cow;
use std::io::{self, BufRead, Read, Write};
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot, watch};

/// The largest record is 1 MiB, so no valid request is longer than this.
const LINE_MAX: u64 = 8 << 20;
/// Messages that are read ahead of the server.
const AHEAD: usize = 64;

/// Serves until the client closes its end of the pipe.
pub(super) async fn serve(server: Server) {
    let gone = server.gone();
    // Without `rmcp`'s handshake: it ends the server at a notification that arrives before `initialize`, and
    // accepts no `initialize` after a first request of the newest protocol.
    let served = serve_directly(BeforeInitialize(server), Stdio::start(gone), None);
    let _ = served.waiting().await;
}

/// Rejects requests before `initialize`, apart from those that a client may send first.
struct BeforeInitialize(Server);

impl Service<RoleServer> for BeforeInitialize {
    async fn handle_request(
        &self,
        request: ClientRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<ServerResult, ErrorData> {
        let opens = matches!(
            request,
            ClientRequest::InitializeRequest(_)
                | ClientRequest::DiscoverRequest(_)
                | ClientRequest::PingRequest(_)
        );
        let greeted = context.peer.peer_info().is_some() || context.meta.protocol_version().is_some();
        if !opens && !greeted {
            let what = "send `initialize` first, or name the protocol version in `_meta` of each request";
            return Err(ErrorData::invalid_request(what, None));
        }
        self.0.handle_request(request, context).await
    }

    async fn handle_notification(
        &self,
        notification: ClientNotification,
        context: NotificationContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.0.handle_notification(notification, context).await
    }

    fn get_info(&self) -> ServerConfig {
        Service::get_info(&self.0)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Service::supported_protocol_versions(&self.0)
    }
}

/// A line for the client, and the sender to notify once it is written.
type Outgoing = (Vec<u8>, Option<oneshot::Sender<()>>);

/// Standard input and output, each with its own thread: no platform-independent API waits for either of them.
struct Stdio {
    incoming: mpsc::Receiver<Incoming>,
    outgoing: mpsc::UnboundedSender<Outgoing>,
    gone: Arc<watch::Sender<bool>>,
}

impl Stdio {
    fn start(gone: Arc<watch::Sender<bool>>) -> Stdio {
        let (read, incoming) = mpsc::channel(AHEAD);
        let (outgoing, written) = mpsc::unbounded_channel();
        std::thread::spawn(move || read_lines(&mut io::stdin().lock(), &read));
        std::thread::spawn(move || write_lines(&mut io::stdout().lock(), written));
        Stdio { incoming, outgoing, gone }
    }
}

impl Transport<RoleServer> for Stdio {
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        let (written, wait) = oneshot::channel();
        let sent = line(&message).map(|line| self.outgoing.send((line, Some(written))));
        async move {
            sent?.map_err(|_| io::Error::from(io::ErrorKind::BrokenPipe))?;
            wait.await.map_err(|_| io::Error::from(io::ErrorKind::BrokenPipe))
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            let Some(incoming) = self.incoming.recv().await else {
                self.gone.send_replace(true);
                return None;
            };
            match incoming {
                Ok(message) => return Some(*message),
                // Sent without waiting: `receive` may be dropped at any await, and the answer would be lost with
                // it.
                Err(answer) => {
                    let line = line(&answer).ok()?;
                    self.outgoing.send((line, None)).ok()?;
                }
            }
        }
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        Ok(())
    }
}

fn line(message: &ServerJsonRpcMessage) -> Result<Vec<u8>, io::Error> {
    let mut line = serde_json::to_vec(message).map_err(io::Error::other)?;
    line.push(b'\n');
    Ok(line)
}

fn write_lines(output: &mut dyn Write, mut lines: mpsc::UnboundedReceiver<Outgoing>) {
    while let Some((line, waiting)) = lines.blocking_recv() {
        if output.write_all(&line).and_then(|()| output.flush()).is_err() {
            return;
        }
        if let Some(waiting) = waiting {
            let _ = waiting.send(());
        }
    }
}

fn read_lines(input: &mut dyn BufRead, read: &mpsc::Sender<Incoming>) {
    let mut line = Vec::new();
    loop {
        line.clear();
        match input.take(LINE_MAX).read_until(b'\n', &mut line) {
            Ok(0) => return,
            Err(fault) if fault.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => return,
            Ok(_) => {}
        }
        let too_long = line.len() as u64 == LINE_MAX && line.last() != Some(&b'\n');
        if too_long && skip_line(input).is_err() {
            return;
        }
        let incoming = if too_long {
            let what = format!("the message is longer than {} MiB", LINE_MAX >> 20);
            Some(message::refused(ErrorData::invalid_request(what, None), None))
        } else {
            message::read(&line)
        };
        if incoming.is_some_and(|incoming| read.blocking_send(incoming).is_err()) {
            return;
        }
    }
}

fn skip_line(input: &mut dyn BufRead) -> io::Result<()> {
    loop {
        let buffered = input.fill_buf()?;
        let (end, count) = match buffered.iter().position(|byte| *byte == b'\n') {
            Some(at) => (true, at + 1),
            None => (buffered.is_empty(), buffered.len()),
        };
        input.consume(count);
        if end {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answers(text: &str) -> Vec<String> {
        let (send, mut receive) = mpsc::channel(AHEAD);
        read_lines(&mut text.as_bytes(), &send);
        drop(send);
        std::iter::from_fn(|| receive.blocking_recv())
            .map(|incoming| match incoming {
                Ok(message) => serde_json::to_string(&message).expect("a message"),
                Err(answer) => match *answer {
                    ServerJsonRpcMessage::Error(error) => format!("{:?} {}", error.id, error.error.code.0),
                    other => panic!("{other:?}"),
                },
            })
            .collect()
    }

    #[test]
    fn a_line_that_cannot_be_read_is_answered_and_the_next_one_is_read() {
        let long = "x".repeat(usize::try_from(LINE_MAX).expect("a size") + 10);
        for (line, expected) in [
            ("{\"jsonrpc\": \"2.0\", ", "None -32700"),
            ("\u{0}", "None -32700"),
            ("[]", "None -32600"),
            ("5", "None -32600"),
            ("{\"id\": 5, \"method\": \"ping\"}", "Some(Number(5)) -32600"),
            ("{\"jsonrpc\": \"1.0\", \"id\": \"a\", \"method\": \"ping\"}", "Some(String(\"a\")) -32600"),
            (long.as_str(), "None -32600"),
        ] {
            let ping = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}";
            let answers = answers(&format!("{line}\n\r\n\u{feff}{ping}\r\n"));
            let line: String = line.chars().take(40).collect();
            assert_eq!(answers, [expected, ping], "{line}");
        }
    }
}
