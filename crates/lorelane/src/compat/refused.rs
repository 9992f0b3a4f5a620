//! Why a change was rejected, in the scripts' wording.

use super::block::Block;
use super::input::unusable;
use super::target::ScriptTarget;
use super::write::ScriptAction;
use lorelane_core::lifecycle::Status;
use lorelane_core::refusal::Refusal;
use lorelane_engine::backend::StoreError;
use lorelane_engine::workspace::Failure;

/// What was asked for; the texts name it.
#[derive(Clone, Copy, Debug)]
pub(super) struct RefusalContext<'a> {
    pub(super) action: ScriptAction,
    pub(super) target: &'a ScriptTarget,
    /// Empty if the problem is in the stored memory.
    pub(super) input_path: &'a str,
}

impl RefusalContext<'_> {
    pub(super) fn while_reading(self) -> Self {
        RefusalContext { input_path: "", ..self }
    }

    fn block(&self, head: &str) -> Block {
        Block::new(head).line("target", &self.target.typed)
    }

    /// `UPDATE_ERROR`, `ARCHIVE_ERROR` and so on.
    fn own_error(&self) -> Block {
        self.block(&format!("{}_ERROR", self.action.name().to_uppercase()))
    }
}

pub(super) fn refused(failure: &Failure, scene: &RefusalContext<'_>) -> Block {
    match failure {
        Failure::Refused(refusal) => by_rule(refusal, scene),
        Failure::Outside { .. } => scene.target.outside(),
        Failure::Store(fault @ StoreError::Symlink { .. }) => scene.target.linked(&fault.to_string()),
        Failure::Store(StoreError::LockTimeout { waited, .. }) => {
            scene.block("LOCK_TIMEOUT_ERROR").line("waited", &format!("{:.1}s", waited.as_secs_f64())).line(
                "fix",
                "Another writer holds the lock, so nothing was written. Try again when it has finished.",
            )
        }
        Failure::Io { attempt: "read", source, .. }
        | Failure::Store(StoreError::Io { attempt: "read", source, .. }) => {
            scene.block("READ_ERROR").line("error", &source.to_string())
        }
        other => scene.block("WRITE_ERROR").line("error", &other.to_string()).line("fix", &other.hint()),
    }
}

fn by_rule(refusal: &Refusal, scene: &RefusalContext<'_>) -> Block {
    match refusal {
        Refusal::Unreadable { why, .. } if scene.input_path.is_empty() => {
            scene.block("READ_ERROR").line("error", why)
        }
        Refusal::Unreadable { why, .. } => unusable(scene.input_path, why),
        Refusal::Invalid { faults, .. } => {
            faults.iter().fold(Block::new("VALIDATION_ERROR"), |block, fault| {
                block
                    .line("field", &fault.field)
                    .line("expected", &fault.expected)
                    .line("got", &fault.got)
                    .line("fix", &format!("Correct the value for '{}'", fault.field))
                    .gap()
            })
        }
        Refusal::Merge { fault, .. } => {
            let block = Block::new("MERGE_ERROR").line("field", fault.field).line("rule", fault.rule);
            let block = fault.details.iter().fold(block, |block, (key, value)| block.line(key, value));
            block.line("fix", &fault.fix)
        }
        Refusal::Conflict { expected, current, .. } => scene
            .block("OCC_CONFLICT")
            .line("expected_hash", &expected.to_string())
            .line("current_hash", &current.to_string())
            .line("fix", "File was modified by another session. Re-read the file and retry."),
        Refusal::Exists { status, .. } => scene
            .block("CREATE_OVERWRITE_ERROR")
            .line("record_status", status.map_or("unreadable", Status::name))
            .line("fix", "File already exists. Use --action update instead."),
        Refusal::TooSoon { retired_at, .. } => scene
            .block("ANTI_RESURRECTION_ERROR")
            .line("retired_at", &retired_at.map_or_else(|| "unknown".to_owned(), |at| at.to_string()))
            .line(
                "fix",
                "This file was retired less than 24 hours ago. Wait or use a different target path.",
            ),
        Refusal::Missing { .. } => {
            let instead =
                if scene.action == ScriptAction::Update { " Use --action create instead." } else { "" };
            scene.own_error().line("fix", &format!("File does not exist.{instead}"))
        }
        Refusal::Lifecycle { status, .. } => not_from(*status, scene),
        // No script supersedes a memory.
        Refusal::Successor { .. } => scene.own_error().line("fix", &refusal.hint()),
        Refusal::Secrets { found, .. } => found.iter().fold(Block::new("SECRET_ERROR"), |block, secret| {
            block
                .line("field", &secret.field)
                .line("kind", secret.kind)
                .line("got", &secret.masked)
                .line("fix", &format!("Leave the value out of '{}' and say where it is kept", secret.field))
                .gap()
        }),
    }
}

fn not_from(status: Status, scene: &RefusalContext<'_>) -> Block {
    let fix = match scene.action {
        ScriptAction::Delete => {
            let fix = "Archived memories must be unarchived before retiring. Use --action unarchive first.";
            return scene.own_error().line("fix", fix);
        }
        ScriptAction::Archive => "Only active memories can be archived.",
        ScriptAction::Unarchive => "Only archived memories can be unarchived.",
        ScriptAction::Create | ScriptAction::Update | ScriptAction::Restore => {
            "Only retired memories can be restored. Use --action unarchive for archived memories."
        }
    };
    scene.own_error().line("record_status", status.name()).line("fix", fix)
}
