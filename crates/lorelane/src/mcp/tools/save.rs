//! `memory_save` and `memory_retire`. They commit plans like every other face.
//!
//! A note is created by its address: a tool of its own would be a ninth, and a note has a name that somebody
//! chose.

use super::ToolCall;
use crate::mcp::answer::{ToolAnswer, ToolError, ToolResult};
use crate::view;
use lorelane_core::change::{Assignment, Change, Draft, Effect, PartialInput, Plan, Receipt};
use lorelane_core::dialect::notes;
use lorelane_core::dialect::records::draft;
use lorelane_core::digest::Revision;
use lorelane_core::fence::{self, block, inline};
use lorelane_core::json::{Json, JsonFormat, Object};
use lorelane_core::lifecycle::LifecycleVerb;
use lorelane_core::memory::{Address, Category};
use lorelane_core::refusal::Refusal;
use lorelane_core::text::{cut, one_line};
use lorelane_engine::workspace::{Failure, Workspace};
use std::collections::BTreeSet;

/// The record fields that a client may set besides title and tags.
const FIELDS: [&str; 3] = ["content", "related_files", "confidence"];
/// Everything that changes the contents of a memory.
const GIVEN: [&str; 7] = ["title", "tags", "text", "append", "content", "related_files", "confidence"];
/// The prefix of note addresses.
const NOTES: &str = "notes/";

pub(super) fn save(call: &ToolCall<'_>) -> ToolResult {
    let mut workspace = call.factory.open()?;
    let plan = match call.arguments.text("address") {
        Some(typed) => match new_note(call, &workspace, typed)? {
            Some(address) => create_note(call, &mut workspace, address)?,
            None => update(call, &mut workspace, typed)?,
        },
        None => create(call, &mut workspace)?,
    };
    refuse_two_lanes(&plan)?;
    let dry_run = call.arguments.flag("dry_run");
    let done = if dry_run { workspace.preview(&plan) } else { workspace.commit(&plan) };
    let receipt = done.map_err(with_fields)?;
    Ok(ToolAnswer::Text(said(call, &receipt, dry_run)))
}

/// That what is saved replaces another memory: part of the same plan, so that one `undo` reverts both.
fn supersede(
    call: &ToolCall<'_>,
    workspace: &mut Workspace,
    by: &Address,
) -> Result<Option<Change>, ToolError> {
    let Some(typed) = call.arguments.text("supersedes") else { return Ok(None) };
    let address = workspace.find(typed)?;
    let reason = call.arguments.text("because").unwrap_or_default().to_owned();
    Ok(Some(Change::Supersede { address, by: by.clone(), reason }))
}

/// A plan has one lane, and a change may be in another one than the memory it replaces.
fn refuse_two_lanes(plan: &Plan) -> Result<(), ToolError> {
    let lanes: BTreeSet<_> = plan.changes.iter().map(|change| change.address().lane()).collect();
    if lanes.len() < 2 {
        return Ok(());
    }
    Err(ToolError::new(
        "cannot save a note that supersedes a record, or the reverse, in one call",
        "save it without `supersedes`, then call memory_save with only `address` and `supersedes`",
    ))
}

/// The schema has only required fields, so the answer to an invalid draft lists all fields of its category.
fn with_fields(failure: Failure) -> ToolError {
    match &failure {
        Failure::Refused(Refusal::Invalid { address, .. }) => match address.category() {
            Some(category) => ToolError::new(failure.to_string(), fields_of(category)),
            None => failure.into(),
        },
        _ => failure.into(),
    }
}

fn fields_of(category: Category) -> String {
    format!("the fields of a {category} (* required): {}", view::fields_line(category))
}

/// The address of a note to create: none exists there, and the call has a `text`.
fn new_note(call: &ToolCall<'_>, workspace: &Workspace, typed: &str) -> Result<Option<Address>, ToolError> {
    let (Some(name), Some(_)) = (typed.strip_prefix(NOTES), call.arguments.get("text")) else {
        return Ok(None);
    };
    if Address::note(name).is_some_and(|note| workspace.at(&note).is_some()) {
        return Ok(None);
    }
    let address = notes::named(name).map_err(|fault| ToolError::new(fault.to_string(), fault.hint()))?;
    Ok(Some(address).filter(|address| workspace.at(address).is_none()))
}

fn create_note(call: &ToolCall<'_>, workspace: &mut Workspace, address: Address) -> Result<Plan, ToolError> {
    refuse_what_no_note_has(call, &address)?;
    let mut text = notes::draft(call.arguments.exact("text"), None, &call.arguments.texts("tags"));
    if let Some(title) = call.arguments.text("title") {
        text = notes::titled(&text, title);
    }
    let because = because(call, &format!("create {address}"));
    let superseded = supersede(call, workspace, &address)?;
    let changes = std::iter::once(Change::Create { address, text }).chain(superseded).collect();
    Ok(Plan { changes, because })
}

/// Rejects arguments that only records take.
fn refuse_what_no_note_has(call: &ToolCall<'_>, address: &Address) -> Result<(), ToolError> {
    if call.arguments.get("text").is_some() && call.arguments.get("append").is_some() {
        let what = format!("cannot save {address}: `text` and `append` are both given");
        return Err(ToolError::new(what, "give one of them: `text` replaces the note's text"));
    }
    if call.arguments.get("category").is_some() {
        let what = format!("cannot save {address}: a note has no category");
        return Err(ToolError::new(what, "leave `category` out, or save a new memory without an address"));
    }
    let fields = fields(call);
    if fields.is_empty() {
        return Ok(());
    }
    let refusal = notes::no_fields(address, &fields);
    Err(ToolError::new(refusal.to_string(), "a note takes `title`, `tags` and `text` or `append`"))
}

/// Rejects arguments that only notes take.
fn refuse_what_no_record_has(call: &ToolCall<'_>, what: &str) -> Result<(), ToolError> {
    if call.arguments.get("text").is_none() && call.arguments.get("append").is_none() {
        return Ok(());
    }
    let what = format!("cannot save {what} with `text` or `append`: it has no free text");
    Err(ToolError::new(what, "use the fields of `content`, or save a note at the address notes/NAME"))
}

fn create(call: &ToolCall<'_>, workspace: &mut Workspace) -> Result<Plan, ToolError> {
    let category = call.arguments.text("category").and_then(Category::parse);
    let title = call.arguments.text("title");
    let (Some(category), Some(title)) = (category, title) else {
        let hint = match category {
            Some(category) => fields_of(category),
            None => "give both, or the address of the memory to update".to_owned(),
        };
        return Err(ToolError::new("cannot save a new memory without category and title", hint));
    };
    refuse_what_no_record_has(call, &format!("a {category}"))?;
    let tags = call.arguments.texts("tags");
    let (address, record) =
        draft::begin(category, Some(title), Some(fields(call)), &tags, &[], workspace.now());
    let text = format!("{}\n", record.render(JsonFormat::FILE));
    let because = because(call, &format!("create {address}"));
    let superseded = supersede(call, workspace, &address)?;
    let changes = std::iter::once(Change::Create { address, text }).chain(superseded).collect();
    Ok(Plan { changes, because })
}

fn update(call: &ToolCall<'_>, workspace: &mut Workspace, typed: &str) -> Result<Plan, ToolError> {
    let address = workspace.find(typed)?;
    if let Some(category) = call.arguments.text("category").and_then(Category::parse)
        && address.category().is_some_and(|own| own != category)
    {
        return Err(ToolError::new(
            format!("cannot turn {address} into a {category}: a memory keeps its category"),
            "leave `category` out, or save a new memory and retire this one",
        ));
    }
    let expects = match call.arguments.text("expects") {
        Some(text) => Some(Revision::parse(text).ok_or_else(|| {
            ToolError::new(format!("'{text}' is not a revision"), "pass the one from memory_read")
        })?),
        None => None,
    };
    // First, because a revision may give the memory another address; the link then follows it.
    let mut changes = Vec::from_iter(supersede(call, workspace, &address)?);
    if let [Change::Supersede { address: old, .. }] = changes.as_slice()
        && !GIVEN.iter().any(|name| call.arguments.get(name).is_some())
    {
        let because = because(call, &format!("supersede {old} by {address}"));
        return Ok(Plan { changes, because });
    }
    let draft = if address.category().is_none() {
        note_draft(call, &address)?
    } else {
        record_draft(call, &address)?
    };
    let because = because(call, &format!("update {address}"));
    changes.push(Change::Revise { address, expects, draft });
    Ok(Plan { changes, because })
}

fn note_draft(call: &ToolCall<'_>, address: &Address) -> Result<Draft, ToolError> {
    refuse_what_no_note_has(call, address)?;
    let given = |name: &str| call.arguments.get(name).map(|_| call.arguments.exact(name).to_owned());
    let assigned = |path: &str, value: String| Assignment { path: path.to_owned(), value };
    let title = call.arguments.text("title").map(|title| assigned("title", title.to_owned()));
    let set = title.into_iter().chain(given("append").map(|more| assigned("content+", more))).collect();
    partial(call, address, given("text").map(PartialInput::Text), set, "give title, tags, text or append")
}

fn record_draft(call: &ToolCall<'_>, address: &Address) -> Result<Draft, ToolError> {
    refuse_what_no_record_has(call, &address.to_string())?;
    let mut from = fields(call);
    if let Some(title) = call.arguments.text("title") {
        from.set("title", Json::text(title));
    }
    let from = Some(from).filter(|from| !from.is_empty()).map(PartialInput::Fields);
    partial(call, address, from, Vec::new(), "give title, content, tags, related_files or confidence")
}

fn partial(
    call: &ToolCall<'_>,
    address: &Address,
    from: Option<PartialInput>,
    set: Vec<Assignment>,
    hint: &str,
) -> Result<Draft, ToolError> {
    let add_tags = call.arguments.texts("tags");
    if from.is_none() && set.is_empty() && add_tags.is_empty() {
        return Err(ToolError::new(format!("cannot update {address}: no change was given"), hint));
    }
    let because = call.arguments.text("because").map(str::to_owned);
    Ok(Draft::Partial { from, set, add_tags, because })
}

fn fields(call: &ToolCall<'_>) -> Object {
    let given = FIELDS.iter().filter_map(|name| Some((*name, call.arguments.get(name)?.clone())));
    given.collect()
}

fn because(call: &ToolCall<'_>, what: &str) -> String {
    match call.arguments.text("because") {
        Some(because) => format!("{what}: {}", cut(&one_line(because), 200)),
        None => what.to_owned(),
    }
}

pub(super) fn retire(call: &ToolCall<'_>) -> ToolResult {
    let Some(reason) = call.arguments.text("reason") else {
        return Err(ToolError::new(
            "cannot retire without a reason",
            "say in `reason` why it no longer holds",
        ));
    };
    let mut workspace = call.factory.open()?;
    let address = workspace.find(call.arguments.text("address").unwrap_or_default())?;
    let because = format!("retire {address}: {}", cut(&one_line(reason), 200));
    let change = Change::Transition { address, verb: LifecycleVerb::Retire, reason: reason.to_owned() };
    let receipt = workspace.commit(&Plan { changes: vec![change], because })?;
    Ok(ToolAnswer::Text(said(call, &receipt, false)))
}

/// One line for each change that was made, or would be.
fn said(call: &ToolCall<'_>, receipt: &Receipt, dry_run: bool) -> String {
    let mut text = String::new();
    for outcome in &receipt.outcomes {
        let did = match &outcome.effect {
            Effect::Created => "created".to_owned(),
            Effect::Revised { renamed_from: Some((old, _)), .. } => {
                format!("updated (renamed from {})", fence::name(&old.to_string()))
            }
            Effect::Revised { .. } => "updated".to_owned(),
            Effect::Transitioned { to, .. } => to.name().to_owned(),
            Effect::Already(status) => format!("unchanged, already {status}"),
            Effect::Deleted => "deleted".to_owned(),
            Effect::Marked(kind) => kind.name().to_owned(),
            Effect::Undone => "undone".to_owned(),
        };
        let would = if dry_run { "would be " } else { "" };
        let address = fence::name(&outcome.address.to_string());
        text.push_str(&format!("{address}: {would}{did} ({})\n", inline(&outcome.title, 120)));
    }
    for notice in &receipt.notices {
        text.push_str(&format!("note: {}\n", block(&call.notice(notice), 2000)));
    }
    text
}
