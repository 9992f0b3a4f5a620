//! `memory_review_captures`: shows captures as tasks, and saves the answers.

use super::ToolCall;
use crate::mcp::answer::{ToolAnswer, ToolError, ToolResult};
use crate::view::{AnswersView, ReviewView};
use lorelane_core::consolidate::{self, AgentAnswer, UnusableItem};
use lorelane_core::json::{Json, JsonFormat};
use lorelane_core::refusal::FieldFault;
use lorelane_engine::workspace::{Task, Workspace};

/// Enough of a conversation to draft from; the context file has all of it.
const CONTEXT_MAX_BYTES: u64 = 64 << 10;

pub(super) fn review(call: &ToolCall<'_>) -> ToolResult {
    let mut workspace = call.factory.open()?;
    let session = call.arguments.text("session");
    match call.arguments.get("answers").and_then(Json::as_list).filter(|answers| !answers.is_empty()) {
        Some(answers) => commit(&mut workspace, session, answers),
        None => prepare(&mut workspace, session),
    }
}

fn prepare(workspace: &mut Workspace, session: Option<&str>) -> ToolResult {
    let (work, notices) = workspace.capture().prepare(session)?;
    let context = |task: &Task| {
        let read = workspace.files().disk().read_regular(&task.context_file, CONTEXT_MAX_BYTES);
        read.ok().flatten().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    };
    Ok(ToolAnswer::document(&ReviewView::of(work.as_ref(), &notices, context)))
}

fn commit(workspace: &mut Workspace, session: Option<&str>, answers: &[Json]) -> ToolResult {
    let answers = answers.iter().map(|answer| read(&answer.render(JsonFormat::LINE))).collect();
    let Some(report) = workspace.capture().consolidate(answers, session, false)? else {
        return Err(ToolError::new(
            "cannot save these answers: no session has open items that match them",
            "call without `answers` to see what is open; memory_save saves anything else",
        ));
    };
    Ok(ToolAnswer::document(&AnswersView::of(&report)))
}

/// An answer that cannot be read becomes an unusable item, so that the others are still saved.
fn read(text: &str) -> AgentAnswer {
    let unread = |faults: Vec<FieldFault>| AgentAnswer {
        session: None,
        items: vec![Err(UnusableItem { category: None, faults })],
    };
    consolidate::read(text).unwrap_or_else(unread)
}
