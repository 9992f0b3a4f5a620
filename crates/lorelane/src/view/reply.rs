//! The answer to a hook event, with the field names that clients know.

use serde::Serialize;

/// Each client knows some of the fields; only those that are set are written.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HookReply {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hook_specific_output: Option<Box<HookReply>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hook_event_name: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub additional_context: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permission_decision: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permission_decision_reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_message: Option<String>,
}

impl HookReply {
    pub fn context(text: String) -> HookReply {
        HookReply { additional_context: Some(text), ..HookReply::default() }
    }

    pub fn deny(why: String) -> HookReply {
        HookReply {
            permission_decision: Some("deny"),
            permission_decision_reason: Some(why),
            ..HookReply::default()
        }
    }

    pub fn decide(decision: &'static str, reason: String) -> HookReply {
        HookReply { decision: Some(decision), reason: Some(reason), ..HookReply::default() }
    }

    pub fn tell(text: String) -> HookReply {
        HookReply { system_message: Some(text), ..HookReply::default() }
    }

    /// Moves the answer into `hookSpecificOutput`, with the event's name if the client wants it.
    pub fn specific(self, event: Option<&'static str>) -> HookReply {
        let inside = HookReply { hook_event_name: event, ..self };
        HookReply { hook_specific_output: Some(Box::new(inside)), ..HookReply::default() }
    }
}
