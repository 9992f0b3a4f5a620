//! `memory_write`: one change of one memory.

use super::ScriptOutput;
use super::arguments::{Flag, OptionNeed, OptionValue, Script, ScriptOptions};
use super::block::Block;
use super::input::Input;
use super::refused::{RefusalContext, refused};
use super::target::ScriptTarget;
use lorelane_core::change::{Change, Draft, Effect, Outcome, Plan, Receipt};
use lorelane_core::digest::Revision;
use lorelane_core::json::{JsonFormat, to_string};
use lorelane_core::lifecycle::{LifecycleVerb, Status};
use lorelane_core::memory::{Address, Category};
use lorelane_engine::env::Env;
use lorelane_engine::workspace::{Failure, Workspace};
use serde::Serialize;
use std::borrow::Cow;

const SCRIPT: Script = Script {
    name: "memory_write.py",
    options: &[
        Flag {
            name: "--action",
            takes: OptionValue::Choice(ScriptAction::names),
            need: OptionNeed::Required,
        },
        Flag { name: "--category", takes: OptionValue::Choice(categories), need: OptionNeed::Optional },
        Flag { name: "--target", takes: OptionValue::Text("TARGET"), need: OptionNeed::Required },
        Flag { name: "--input", takes: OptionValue::Text("INPUT"), need: OptionNeed::Optional },
        Flag { name: "--hash", takes: OptionValue::Text("HASH"), need: OptionNeed::Optional },
        Flag { name: "--reason", takes: OptionValue::Text("REASON"), need: OptionNeed::Optional },
    ],
};

const NO_HASH: &str = "WARNING: --hash not provided for update. OCC protection disabled.";

pub(super) fn categories() -> Vec<&'static str> {
    Category::ALL.map(Category::name).to_vec()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScriptAction {
    Create,
    Update,
    Delete,
    Archive,
    Unarchive,
    Restore,
}

impl ScriptAction {
    /// `retire` is what later versions of the script call `delete`.
    const ALL: [(&'static str, ScriptAction); 7] = [
        ("create", ScriptAction::Create),
        ("update", ScriptAction::Update),
        ("delete", ScriptAction::Delete),
        ("archive", ScriptAction::Archive),
        ("unarchive", ScriptAction::Unarchive),
        ("restore", ScriptAction::Restore),
        ("retire", ScriptAction::Delete),
    ];

    fn names() -> Vec<&'static str> {
        ScriptAction::ALL.map(|(name, _)| name).to_vec()
    }

    pub(super) fn name(self) -> &'static str {
        ScriptAction::ALL.iter().find(|(_, action)| *action == self).map_or("", |(name, _)| name)
    }

    fn reads_input(self) -> bool {
        matches!(self, ScriptAction::Create | ScriptAction::Update)
    }
}

pub(super) fn run(env: &Env, arguments: &[String]) -> ScriptOutput {
    let given = match SCRIPT.read(arguments) {
        Ok(given) => given,
        Err(said) => return said,
    };
    let typed = given.text("--action").unwrap_or_default();
    let Some((_, action)) = ScriptAction::ALL.into_iter().find(|(name, _)| *name == typed) else {
        return ScriptOutput::default();
    };
    if action.reads_input() && given.filled("--input").is_none() {
        return ScriptOutput::failed("ERROR: --input is required for create and update actions.\n");
    }
    if action == ScriptAction::Create && !given.has("--category") {
        return ScriptOutput::failed("ERROR: --category is required for create action.\n");
    }
    perform(env, action, &given).unwrap_or_else(ScriptOutput::from)
}

fn perform(env: &Env, action: ScriptAction, given: &ScriptOptions) -> Result<ScriptOutput, Block> {
    let target = ScriptTarget::parse(&env.cwd, given.text("--target").unwrap_or_default())?;
    let category = given.text("--category").and_then(Category::parse);
    let input_path = given.text("--input").unwrap_or_default();
    let scene = RefusalContext { action, target: &target, input_path };
    // Checks run in the script's order, so that the first error is the same.
    let (input, address) = match action {
        ScriptAction::Create => {
            let input = Input::read(&env.cwd, input_path)?;
            (Some(input), target.address(category)?)
        }
        _ => (None, target.address(category)?),
    };
    let mut workspace =
        Workspace::open_root(env, &target.root).map_err(|failure| refused(&failure, &scene))?;
    let input = match action {
        ScriptAction::Update => {
            workspace.load(&address).map_err(|failure| refused(&failure, &scene.while_reading()))?;
            Some(Input::read(&env.cwd, input_path)?)
        }
        _ => input,
    };
    let draft = input.as_ref().map(|input| input.text.clone()).unwrap_or_default();
    let plan = Plan {
        because: because(action, &address, given),
        changes: vec![change(action, address, draft, given)],
    };
    let receipt = carry_out(&mut workspace, &plan).map_err(|failure| refused(&failure, &scene))?;
    let mut said = ScriptOutput::default();
    said.notices(&receipt.notices);
    if action == ScriptAction::Update && given.filled("--hash").is_none() {
        said.warn(NO_HASH);
    }
    if let Some(input) = input {
        // The draft is no longer needed. A failure to remove it is harmless.
        let _ = workspace.files().disk().remove_file(&input.file);
    }
    said.print(&to_string(&WriteResult::of(action, &target, &receipt), JsonFormat::SCRIPT_LINE));
    Ok(said)
}

fn change(action: ScriptAction, address: Address, draft: String, given: &ScriptOptions) -> Change {
    let verb = match action {
        ScriptAction::Create => return Change::Create { address, text: draft },
        ScriptAction::Update => {
            // An invalid hash matches no file: it conflicts, and the answer names the file's hash.
            let expects = given
                .filled("--hash")
                .map(|hash| Revision::parse(hash).unwrap_or_else(|| Revision::Md5(hash.to_owned())));
            return Change::Revise { address, expects, draft: Draft::Whole(draft) };
        }
        ScriptAction::Delete => LifecycleVerb::Retire,
        ScriptAction::Archive => LifecycleVerb::Archive,
        ScriptAction::Unarchive => LifecycleVerb::Restore { from: Some(Status::Archived) },
        ScriptAction::Restore => LifecycleVerb::Restore { from: Some(Status::Retired) },
    };
    Change::Transition { address, verb, reason: given.text("--reason").unwrap_or_default().to_owned() }
}

fn because(action: ScriptAction, address: &Address, given: &ScriptOptions) -> String {
    let what = format!("{} {address} (memory_write)", action.name());
    match given.filled("--reason") {
        Some(reason) if !action.reads_input() => format!("{what}: {reason}"),
        _ => what,
    }
}

/// Without a store, the plan is checked before the folder is created: a rejected change must not leave one behind.
fn carry_out(workspace: &mut Workspace, plan: &Plan) -> Result<Receipt, Failure> {
    if !workspace.files().records_root().exists() {
        workspace.preview(plan)?;
    }
    workspace.commit(plan)
}

/// The line that callers of the script read.
#[derive(Default, Serialize)]
struct WriteResult<'r> {
    status: Cow<'static, str>,
    target: Cow<'r, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    times_updated: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    renamed_from: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'r str>,
}

impl<'r> WriteResult<'r> {
    fn of(action: ScriptAction, target: &'r ScriptTarget, receipt: &'r Receipt) -> WriteResult<'r> {
        let bare = |status: Cow<'static, str>| WriteResult {
            status,
            target: target.typed.as_str().into(),
            ..WriteResult::default()
        };
        let Some(Outcome { address, path, title, effect }) = receipt.outcomes.first() else {
            return bare("unchanged".into());
        };
        let named = |status: &'static str| WriteResult {
            id: Some(address.name()),
            title: Some(title),
            ..bare(status.into())
        };
        match effect {
            Effect::Created => named("created"),
            Effect::Revised { revised, renamed_from: None } => {
                WriteResult { times_updated: Some(*revised), ..named("updated") }
            }
            Effect::Revised { revised, renamed_from: Some(_) } => WriteResult {
                target: target.sibling(path).into(),
                times_updated: Some(*revised),
                renamed_from: Some(&target.typed),
                ..named("updated")
            },
            Effect::Transitioned { to: Status::Active, .. } => {
                bare(if action == ScriptAction::Unarchive { "unarchived" } else { "restored" }.into())
            }
            Effect::Transitioned { to, reason } => {
                WriteResult { reason: Some(reason), ..bare(to.name().into()) }
            }
            Effect::Already(status) => bare(format!("already_{status}").into()),
            Effect::Deleted | Effect::Marked(_) | Effect::Undone => bare("done".into()),
        }
    }
}
