//! `memory_write`: one change of one memory.

use super::Said;
use super::arguments::{Flag, Given, Need, Script, Takes};
use super::block::Block;
use super::input::Input;
use super::refused::{Scene, refused};
use super::target::Target;
use lorelane_core::change::{Change, Deed, Draft, Outcome, Plan, Receipt};
use lorelane_core::digest::Revision;
use lorelane_core::json::{Format, to_string};
use lorelane_core::lifecycle::{Status, Verb};
use lorelane_core::memory::{Address, Category};
use lorelane_engine::env::Env;
use lorelane_engine::workspace::{Failure, Workspace};
use serde::Serialize;
use std::borrow::Cow;

const SCRIPT: Script = Script {
    name: "memory_write.py",
    options: &[
        Flag { name: "--action", takes: Takes::Choice(Action::names), need: Need::Required },
        Flag { name: "--category", takes: Takes::Choice(categories), need: Need::Optional },
        Flag { name: "--target", takes: Takes::Text("TARGET"), need: Need::Required },
        Flag { name: "--input", takes: Takes::Text("INPUT"), need: Need::Optional },
        Flag { name: "--hash", takes: Takes::Text("HASH"), need: Need::Optional },
        Flag { name: "--reason", takes: Takes::Text("REASON"), need: Need::Optional },
    ],
};

const NO_HASH: &str = "WARNING: --hash not provided for update. OCC protection disabled.";

pub(super) fn categories() -> Vec<&'static str> {
    Category::ALL.map(Category::name).to_vec()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    Create,
    Update,
    Delete,
    Archive,
    Unarchive,
    Restore,
}

impl Action {
    /// `retire` is what later versions of the script call `delete`.
    const ALL: [(&'static str, Action); 7] = [
        ("create", Action::Create),
        ("update", Action::Update),
        ("delete", Action::Delete),
        ("archive", Action::Archive),
        ("unarchive", Action::Unarchive),
        ("restore", Action::Restore),
        ("retire", Action::Delete),
    ];

    fn names() -> Vec<&'static str> {
        Action::ALL.map(|(name, _)| name).to_vec()
    }

    pub(super) fn name(self) -> &'static str {
        Action::ALL.iter().find(|(_, action)| *action == self).map_or("", |(name, _)| name)
    }

    fn reads_input(self) -> bool {
        matches!(self, Action::Create | Action::Update)
    }
}

pub(super) fn run(env: &Env, arguments: &[String]) -> Said {
    let given = match SCRIPT.read(arguments) {
        Ok(given) => given,
        Err(said) => return said,
    };
    let typed = given.text("--action").unwrap_or_default();
    let Some((_, action)) = Action::ALL.into_iter().find(|(name, _)| *name == typed) else {
        return Said::default();
    };
    if action.reads_input() && given.filled("--input").is_none() {
        return Said::failed("ERROR: --input is required for create and update actions.\n");
    }
    if action == Action::Create && !given.has("--category") {
        return Said::failed("ERROR: --category is required for create action.\n");
    }
    perform(env, action, &given).unwrap_or_else(Said::from)
}

fn perform(env: &Env, action: Action, given: &Given) -> Result<Said, Block> {
    let target = Target::parse(&env.cwd, given.text("--target").unwrap_or_default())?;
    let category = given.text("--category").and_then(Category::parse);
    let input_path = given.text("--input").unwrap_or_default();
    let scene = Scene { action, target: &target, input_path };
    // In the order of the script: what it complained of first is complained of first.
    let (input, address) = match action {
        Action::Create => {
            let input = Input::read(&env.cwd, input_path)?;
            (Some(input), target.address(category)?)
        }
        _ => (None, target.address(category)?),
    };
    let mut workspace =
        Workspace::open_root(env, &target.root).map_err(|failure| refused(&failure, &scene))?;
    let input = match action {
        Action::Update => {
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
    let mut said = Said::default();
    said.notices(&receipt.notices);
    if action == Action::Update && given.filled("--hash").is_none() {
        said.warn(NO_HASH);
    }
    if let Some(input) = input {
        // The draft has served. One that cannot be removed does no harm.
        let _ = workspace.files().disk().remove_file(&input.file);
    }
    said.print(&to_string(&WriteResult::of(action, &target, &receipt), Format::SCRIPT_LINE));
    Ok(said)
}

fn change(action: Action, address: Address, draft: String, given: &Given) -> Change {
    let verb = match action {
        Action::Create => return Change::Create { address, text: draft },
        Action::Update => {
            // A hash that is none is nobody's: it conflicts, and the answer says which one the file has.
            let expects = given
                .filled("--hash")
                .map(|hash| Revision::parse(hash).unwrap_or_else(|| Revision::Md5(hash.to_owned())));
            return Change::Revise { address, expects, draft: Draft::Whole(draft) };
        }
        Action::Delete => Verb::Retire,
        Action::Archive => Verb::Archive,
        Action::Unarchive => Verb::Restore { from: Some(Status::Archived) },
        Action::Restore => Verb::Restore { from: Some(Status::Retired) },
    };
    Change::Step { address, verb, reason: given.text("--reason").unwrap_or_default().to_owned() }
}

fn because(action: Action, address: &Address, given: &Given) -> String {
    let what = format!("{} {address} (memory_write)", action.name());
    match given.filled("--reason") {
        Some(reason) if !action.reads_input() => format!("{what}: {reason}"),
        _ => what,
    }
}

/// Where there is no store yet, the rules are asked first: a refused change makes no folder.
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
    fn of(action: Action, target: &'r Target, receipt: &'r Receipt) -> WriteResult<'r> {
        let bare = |status: Cow<'static, str>| WriteResult {
            status,
            target: target.typed.as_str().into(),
            ..WriteResult::default()
        };
        let Some(Outcome { address, path, title, deed }) = receipt.outcomes.first() else {
            return bare("unchanged".into());
        };
        let named = |status: &'static str| WriteResult {
            id: Some(address.name()),
            title: Some(title),
            ..bare(status.into())
        };
        match deed {
            Deed::Created => named("created"),
            Deed::Revised { revised, renamed_from: None } => {
                WriteResult { times_updated: Some(*revised), ..named("updated") }
            }
            Deed::Revised { revised, renamed_from: Some(_) } => WriteResult {
                target: target.sibling(path).into(),
                times_updated: Some(*revised),
                renamed_from: Some(&target.typed),
                ..named("updated")
            },
            Deed::Stepped { to: Status::Active, .. } => {
                bare(if action == Action::Unarchive { "unarchived" } else { "restored" }.into())
            }
            Deed::Stepped { to, reason } => WriteResult { reason: Some(reason), ..bare(to.name().into()) },
            Deed::Already(status) => bare(format!("already_{status}").into()),
            Deed::Purged | Deed::Marked(_) | Deed::Undone => bare("done".into()),
        }
    }
}
