//! Limits on open HTTP connections, and their deadlines.
//!
//! Connections that have not sent the token yet are counted separately, and the oldest of them is closed for a new
//! one. So opening many idle connections keeps nobody out, and the deadlines need not be short: a client sends its
//! request at once. The deadlines are in the stream that axum is given, because axum's server has none.

use axum::extract::connect_info::Connected;
use axum::serve::{IncomingStream, Listener};
use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, oneshot};
use tokio::time::{Instant, Sleep, sleep, sleep_until};

/// Limit of connections that have sent the token.
const TRUSTED_MAX: usize = 128;
/// Limit of connections that have not sent it yet.
const UNPROVEN_MAX: usize = 64;
/// The pause after a failed accept, for example when the process has too many open files.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// How long to wait for the client.
#[derive(Clone, Copy, Debug)]
pub(super) struct Deadlines {
    /// For the first request with the token, from the accept.
    pub(super) proof: Duration,
    /// For the next request, from the last response.
    pub(super) idle: Duration,
    /// For the body of a request, from its headers.
    pub(super) body: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ConnectionState {
    Unproven,
    Idle,
    /// A request with the token is being read, handled or answered.
    Busy,
}

/// The open connections. Removing one from `open` closes it.
#[derive(Debug)]
pub(super) struct Connections {
    open: Mutex<BTreeMap<u64, ConnectionEntry>>,
    /// Ids are not reused: the stream of a closed connection may live a little longer.
    next_id: AtomicU64,
    freed: Notify,
    deadlines: Deadlines,
}

#[derive(Debug)]
struct ConnectionEntry {
    state: ConnectionState,
    since: Instant,
    /// Dropping it wakes the stream.
    _close: oneshot::Sender<()>,
}

impl Connections {
    pub(super) fn new(deadlines: Deadlines) -> Arc<Connections> {
        let (open, next_id, freed) = Default::default();
        Arc::new(Connections { open, next_id, freed, deadlines })
    }

    fn open(&self) -> MutexGuard<'_, BTreeMap<u64, ConnectionEntry>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits while every trusted connection is busy. Until then new clients stay in the kernel's accept queue.
    async fn room(&self) {
        while count(&self.open(), ConnectionState::Busy) >= TRUSTED_MAX {
            self.freed.notified().await;
        }
    }

    fn admit(self: &Arc<Connections>, stream: TcpStream) -> TimedStream {
        let (close, closed) = oneshot::channel();
        let since = Instant::now();
        let mut open = self.open();
        if count(&open, ConnectionState::Unproven) >= UNPROVEN_MAX {
            close_longest(&mut open, ConnectionState::Unproven);
        }
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        open.insert(id, ConnectionEntry { state: ConnectionState::Unproven, since, _close: close });
        let connection = Connection { id, all: Arc::clone(self) };
        TimedStream { stream, connection, closed: Some(closed), alarm: Box::pin(sleep_until(since)) }
    }
}

fn count(open: &BTreeMap<u64, ConnectionEntry>, state: ConnectionState) -> usize {
    open.values().filter(|entry| entry.state == state).count()
}

fn close_longest(open: &mut BTreeMap<u64, ConnectionEntry>, state: ConnectionState) {
    let waiting = open.iter().filter(|(_, entry)| entry.state == state);
    if let Some(id) = waiting.min_by_key(|(_, entry)| entry.since).map(|(id, _)| *id) {
        open.remove(&id);
    }
}

/// The handle of a connection that its requests have.
#[derive(Clone, Debug)]
pub(super) struct Connection {
    id: u64,
    all: Arc<Connections>,
}

/// Marks a connection as busy until dropped.
#[derive(Debug)]
pub(super) struct BusyGuard(Connection);

impl Connection {
    /// Marks the connection as trusted: a request sent the token.
    pub(super) fn trust(&self) -> BusyGuard {
        self.set(ConnectionState::Busy);
        let mut open = self.all.open();
        if count(&open, ConnectionState::Busy) + count(&open, ConnectionState::Idle) > TRUSTED_MAX {
            close_longest(&mut open, ConnectionState::Idle);
        }
        BusyGuard(self.clone())
    }

    fn set(&self, state: ConnectionState) {
        if let Some(entry) = self.all.open().get_mut(&self.id) {
            (entry.state, entry.since) = (state, Instant::now());
        }
    }

    fn deadline(&self) -> Option<Instant> {
        let open = self.all.open();
        let entry = open.get(&self.id)?;
        match entry.state {
            ConnectionState::Unproven => Some(entry.since + self.all.deadlines.proof),
            ConnectionState::Idle => Some(entry.since + self.all.deadlines.idle),
            ConnectionState::Busy => None,
        }
    }
}

impl Drop for BusyGuard {
    fn drop(&mut self) {
        self.0.set(ConnectionState::Idle);
        self.0.all.freed.notify_one();
    }
}

/// Accepts connections within the limits.
#[derive(Debug)]
pub(super) struct LimitedListener {
    pub(super) listener: TcpListener,
    pub(super) connections: Arc<Connections>,
}

impl Listener for LimitedListener {
    type Io = TimedStream;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (TimedStream, SocketAddr) {
        loop {
            self.connections.room().await;
            match self.listener.accept().await {
                Ok((stream, from)) => {
                    // Lets earlier connections be polled first: their request may have arrived, and then they are
                    // not closed for this one.
                    tokio::task::yield_now().await;
                    return (self.connections.admit(stream), from);
                }
                Err(_) => sleep(ACCEPT_PAUSE).await,
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

impl Connected<IncomingStream<'_, LimitedListener>> for Connection {
    fn connect_info(stream: IncomingStream<'_, LimitedListener>) -> Connection {
        stream.io().connection.clone()
    }
}

/// A stream that fails when its deadline passes or its connection is closed for another.
#[derive(Debug)]
pub(super) struct TimedStream {
    stream: TcpStream,
    connection: Connection,
    /// `None` once it is closed.
    closed: Option<oneshot::Receiver<()>>,
    alarm: Pin<Box<Sleep>>,
}

impl TimedStream {
    /// Turns a pending result into an error once the deadline has passed.
    fn in_time<T>(&mut self, context: &mut Context<'_>, result: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if result.is_pending() && self.poll_over(context).is_ready() {
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        result
    }

    fn poll_over(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let Some(closed) = &mut self.closed else { return Poll::Ready(()) };
        if Pin::new(closed).poll(context).is_ready() {
            self.closed = None;
            return Poll::Ready(());
        }
        let Some(deadline) = self.connection.deadline() else { return Poll::Pending };
        if self.alarm.deadline() != deadline {
            self.alarm.as_mut().reset(deadline);
        }
        self.alarm.as_mut().poll(context)
    }
}

impl Drop for TimedStream {
    fn drop(&mut self) {
        self.connection.all.open().remove(&self.connection.id);
        self.connection.all.freed.notify_one();
    }
}

impl AsyncRead for TimedStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        self.in_time(context, read)
    }
}

impl AsyncWrite for TimedStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.in_time(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, parts);
        self.in_time(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
