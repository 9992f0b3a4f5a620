//! Saving and retiring, through the same pipeline as every other change.

use super::Call;
use crate::mcp::answer::{Answer, Outcome, Trouble};
use lorelane_core::change::{Change, Deed, Draft, Plan, Receipt};
use lorelane_core::dialect::records::draft;
use lorelane_core::digest::Revision;
use lorelane_core::fence::{block, inline};
use lorelane_core::json::{Format, Json, Object};
use lorelane_core::lifecycle::Verb;
use lorelane_core::memory::Category;
use lorelane_core::text::{cut, one_line};
use lorelane_engine::workspace::Workspace;

/// What a client may give besides title and tags, as records call it.
const FIELDS: [&str; 3] = ["content", "related_files", "confidence"];

pub(super) fn save(call: &Call<'_>) -> Outcome {
    let mut workspace = call.desk.open()?;
    let plan = match call.arguments.text("address") {
        Some(typed) => update(call, &mut workspace, typed)?,
        None => create(call, &workspace)?,
    };
    let dry_run = call.arguments.flag("dry_run");
    let receipt = if dry_run { workspace.preview(&plan)? } else { workspace.commit(&plan)? };
    Ok(Answer::Text(said(&receipt, dry_run)))
}

fn create(call: &Call<'_>, workspace: &Workspace) -> Result<Plan, Trouble> {
    let category = call.arguments.text("category").and_then(Category::parse);
    let title = call.arguments.text("title");
    let (Some(category), Some(title)) = (category, title) else {
        return Err(Trouble::new(
            "cannot save a new memory without category and title",
            "give both, or the address of the memory to update",
        ));
    };
    let tags = call.arguments.texts("tags");
    let (address, record) =
        draft::begin(category, Some(title), Some(fields(call)), &tags, &[], workspace.now());
    let text = format!("{}\n", Json::Object(record).render(Format::FILE));
    let because = because(call, &format!("create {address}"));
    Ok(Plan { changes: vec![Change::Create { address, text }], because })
}

fn update(call: &Call<'_>, workspace: &mut Workspace, typed: &str) -> Result<Plan, Trouble> {
    let address = workspace.find(typed)?;
    if let Some(category) = call.arguments.text("category").and_then(Category::parse)
        && address.category().is_some_and(|own| own != category)
    {
        return Err(Trouble::new(
            format!("cannot make a {category} of {address}: a memory keeps its category"),
            "leave `category` out, or save a new memory and retire this one",
        ));
    }
    let expects = match call.arguments.text("expects") {
        Some(text) => Some(Revision::parse(text).ok_or_else(|| {
            Trouble::new(format!("`{text}` is no revision"), "give it as memory_read printed it")
        })?),
        None => None,
    };
    let mut from = fields(call);
    if let Some(title) = call.arguments.text("title") {
        from.set("title", Json::text(title));
    }
    let add_tags = call.arguments.texts("tags");
    if from.is_empty() && add_tags.is_empty() {
        return Err(Trouble::new(
            format!("nothing to change in {address}"),
            "give title, content, tags, related_files or confidence",
        ));
    }
    let draft = Draft::Partial {
        from: Some(Json::Object(from).render(Format::LINE)),
        set: Vec::new(),
        add_tags,
        because: call.arguments.text("because").map(str::to_owned),
    };
    let because = because(call, &format!("update {address}"));
    Ok(Plan { changes: vec![Change::Revise { address, expects, draft }], because })
}

fn fields(call: &Call<'_>) -> Object {
    let given = FIELDS.iter().filter_map(|name| Some((*name, call.arguments.get(name)?.clone())));
    given.collect()
}

fn because(call: &Call<'_>, what: &str) -> String {
    match call.arguments.text("because") {
        Some(because) => format!("{what}: {}", cut(&one_line(because), 200)),
        None => what.to_owned(),
    }
}

pub(super) fn retire(call: &Call<'_>) -> Outcome {
    let Some(reason) = call.arguments.text("reason") else {
        return Err(Trouble::new("cannot retire without a reason", "say in `reason` why it no longer holds"));
    };
    let mut workspace = call.desk.open()?;
    let address = workspace.find(call.arguments.text("address").unwrap_or_default())?;
    let because = format!("retire {address}: {}", cut(&one_line(reason), 200));
    let change = Change::Step { address, verb: Verb::Retire, reason: reason.to_owned() };
    let receipt = workspace.commit(&Plan { changes: vec![change], because })?;
    Ok(Answer::Text(said(&receipt, false)))
}

/// What was done, or would be, a line each.
fn said(receipt: &Receipt, dry_run: bool) -> String {
    let mut text = String::new();
    for outcome in &receipt.outcomes {
        let did = match &outcome.deed {
            Deed::Created => "created".to_owned(),
            Deed::Revised { renamed_from: Some((old, _)), .. } => format!("updated (renamed from {old})"),
            Deed::Revised { .. } => "updated".to_owned(),
            Deed::Stepped { to, .. } => to.name().to_owned(),
            Deed::Already(status) => format!("left as it is ({status})"),
            Deed::Purged => "deleted".to_owned(),
            Deed::Marked(kind) => kind.name().to_owned(),
            Deed::Undone => "undone".to_owned(),
        };
        let would = if dry_run { "would be " } else { "" };
        text.push_str(&format!("{}: {would}{did} ({})\n", outcome.address, inline(&outcome.title, 120)));
    }
    for notice in &receipt.notices {
        text.push_str(&format!("note: {}\n", block(&notice.text(), 2000)));
    }
    text
}
