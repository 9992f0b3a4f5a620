//! The logging capability of the older protocol: warnings of the watcher.
//!
//! Only what no answer to a request can carry is logged. The conformance suite requires the capability of every
//! server; the newest protocol has none.

#![expect(deprecated, reason = "clients of the older protocol still ask for it")]

use rmcp::model::{LoggingLevel, LoggingMessageNotificationParam, SetLevelRequestParams};
use rmcp::service::{Peer, RoleServer};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether a client gets warnings: yes, unless it sets a higher level.
#[derive(Clone, Debug)]
pub(super) struct ClientLog(Arc<AtomicBool>);

impl Default for ClientLog {
    fn default() -> ClientLog {
        ClientLog(Arc::new(AtomicBool::new(true)))
    }
}

impl ClientLog {
    pub(super) fn set_level(&self, request: &SetLevelRequestParams) {
        use LoggingLevel::{Alert, Critical, Debug, Emergency, Error, Info, Notice, Warning};
        let wanted = match request.level {
            Debug | Info | Notice | Warning => true,
            Error | Critical | Alert | Emergency => false,
        };
        self.0.store(wanted, Ordering::Relaxed);
    }

    pub(super) async fn warn(&self, peer: &Peer<RoleServer>, what: &str) {
        if self.0.load(Ordering::Relaxed) {
            let message = LoggingMessageNotificationParam::new(LoggingLevel::Warning, what.into());
            // Fails only if the client is gone.
            let _ = peer.notify_logging_message(message).await;
        }
    }
}
