//! The limit on HTTP sessions, and which session is evicted.
//!
//! Clients seldom end their sessions, so the one that has been idle longest is evicted for a new one. If its
//! client is still there, it gets 404 and starts another.

use rmcp::transport::streamable_http_server::session::SessionId;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

const SESSIONS_MAX: usize = 64;

#[derive(Debug)]
pub(super) struct Sessions {
    manager: Arc<LocalSessionManager>,
    uses: Mutex<HashMap<SessionId, SessionUse>>,
}

#[derive(Debug)]
struct SessionUse {
    /// Requests whose answers are not sent yet.
    requests: usize,
    last: Instant,
}

/// Marks a session as in use until dropped.
#[derive(Debug)]
pub(super) struct InUse {
    id: SessionId,
    sessions: Arc<Sessions>,
}

impl Sessions {
    pub(super) fn new(manager: Arc<LocalSessionManager>) -> Arc<Sessions> {
        Arc::new(Sessions { manager, uses: Mutex::default() })
    }

    pub(super) fn using(self: &Arc<Sessions>, id: &str) -> InUse {
        let id = SessionId::from(id);
        let mut uses = self.uses();
        uses.entry(Arc::clone(&id)).or_insert(SessionUse { requests: 0, last: Instant::now() }).requests += 1;
        InUse { id, sessions: Arc::clone(self) }
    }

    /// Whether the limit is reached and every session has a request in progress: those are never evicted.
    pub(super) async fn all_in_use(&self) -> bool {
        let open = self.manager.sessions.read().await;
        let uses = self.uses();
        open.len() >= SESSIONS_MAX && !uses.iter().any(|(id, of)| of.requests == 0 && open.contains_key(id))
    }

    /// Closes the session that has been idle longest if there are too many.
    pub(super) async fn retire_longest_idle(&self) {
        let mut open = self.manager.sessions.write().await;
        let retired = {
            let mut uses = self.uses();
            uses.retain(|id, of| of.requests > 0 || open.contains_key(id));
            let idle = uses.iter().filter(|(_, of)| of.requests == 0);
            let longest = idle.min_by_key(|(_, of)| of.last).map(|(id, _)| Arc::clone(id));
            longest.filter(|_| open.len() > SESSIONS_MAX).and_then(|id| open.remove(&id))
        };
        if let Some(session) = retired {
            // Not awaited: closing a session may take longer than the current answer should.
            tokio::spawn(async move { session.close().await });
        }
    }

    fn uses(&self) -> MutexGuard<'_, HashMap<SessionId, SessionUse>> {
        self.uses.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for InUse {
    fn drop(&mut self) {
        if let Some(of) = self.sessions.uses().get_mut(&self.id) {
            of.requests -= 1;
            of.last = Instant::now();
        }
    }
}
