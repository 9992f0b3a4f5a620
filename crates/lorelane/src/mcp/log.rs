//! The log of the older protocol: warnings for whoever reads them.
//!
//! Only what no answer can say goes there. The newest protocol has no such log, and its clients get none.

#![expect(deprecated, reason = "clients of the older protocol still ask for it")]

use rmcp::model::{LoggingLevel, LoggingMessageNotificationParam, SetLevelRequestParams};
use rmcp::service::{Peer, RoleServer};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether one client wants warnings: until it asks for graver messages only.
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
            // A client that is gone reads no log.
            let _ = peer.notify_logging_message(message).await;
        }
    }
}
