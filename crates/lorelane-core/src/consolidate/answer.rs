//! Parses the answer of an agent without trusting it. Reports all faults at once.

use super::{Judgement, PROPOSALS, lines};
use crate::candidate::Action;
use crate::capture::CapturedItem;
use crate::dialect::records::draft;
use crate::digest::Revision;
use crate::json::{Json, JsonDocument, JsonFormat, Object};
use crate::memory::{Address, Category};
use crate::refusal::FieldFault;
use crate::secret;
use crate::text::cut;

const GOT_MAX: usize = 200;
/// More than any real answer has.
const ITEMS_MAX: usize = 100;
/// Unknown keys and unfilled fields reported per item; the rest is counted.
const OTHERS_MAX: usize = 20;

/// An answer: what to do with the items of one session.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentAnswer {
    pub session: Option<String>,
    /// An invalid item does not stop the others.
    pub items: Vec<Result<Proposal, UnusableItem>>,
}

/// A valid item: an action with its verdict.
#[derive(Clone, Debug, PartialEq)]
pub struct Proposal {
    /// The number of the item; `None` means the oldest open one of the category.
    pub item: Option<u64>,
    /// The category to save it in; `None`, which needs a number, means that of the item.
    pub category: Option<Category>,
    pub action: Action,
    pub target: Option<Address>,
    /// The memory that the draft replaces.
    pub supersedes: Option<Address>,
    /// The revision of the candidate that the agent read.
    pub revision: Option<Revision>,
    pub draft: Option<Object>,
    pub reason: Option<String>,
    /// `None` for a NOOP, which has nothing to verify, and for an item that names its number: its words may have
    /// been quoted in the request, and then the agent has the conversation before it.
    pub judgement: Option<Judgement>,
    pub issues: Vec<String>,
}

/// An invalid item.
#[derive(Clone, Debug, PartialEq)]
pub struct UnusableItem {
    pub category: Option<Category>,
    pub faults: Vec<FieldFault>,
}

/// Parses an answer: a JSON object with `items`, a single item, or lines.
pub fn read(text: &str) -> Result<AgentAnswer, Vec<FieldFault>> {
    let is_json = text.trim_start().starts_with(['{', '[', '"']);
    if !is_json && !text.trim().is_empty() {
        return of_items(None, &lines::items(text)?, Vec::new());
    }
    let whole = |expected: &str, got: String, fix: &str| {
        vec![FieldFault {
            field: "answer".to_owned(),
            expected: expected.to_owned(),
            got,
            fix: fix.to_owned(),
        }]
    };
    let document = JsonDocument::parse(text).map_err(|fault| {
        whole("one JSON document", fault.to_string(), "use the format of `lorelane consolidate prepare`")
    })?;
    // Rejected and not resolved: the author can say which value is meant.
    if !document.doubled.is_empty() {
        let twice = |key: &String| fault(key, "each key once", None, &format!("keep one `{key}`"));
        return Err(document.doubled.iter().map(twice).collect());
    }
    let Json::Object(answer) = document.root.into_json() else {
        let expected = "one JSON object";
        return Err(whole(expected, "another value".to_owned(), "write {\"session\": …, \"items\": […]}"));
    };
    let mut faults = Vec::new();
    let session = text_of(&answer, "", "session", &mut faults);
    let Some(items) = answer.get("items") else {
        let mut item = answer;
        item.remove("session");
        return match faults.is_empty() {
            true => Ok(AgentAnswer { session, items: vec![proposal(&item, "")] }),
            false => Err(faults),
        };
    };
    refuse_other_keys(&answer, "", &["v", "session", "items"], &mut faults);
    let Some(listed) = items.as_list() else {
        faults.push(fault("items", "a list", Some(items), "add one entry per item"));
        return Err(faults);
    };
    of_items(session, listed, faults)
}

fn of_items(
    session: Option<String>,
    listed: &[Json],
    mut faults: Vec<FieldFault>,
) -> Result<AgentAnswer, Vec<FieldFault>> {
    if listed.is_empty() || listed.len() > ITEMS_MAX {
        let expected = format!("a list of 1 to {ITEMS_MAX} items");
        let got = Json::List(listed.to_vec());
        faults.push(fault("items", &expected, Some(&got), "add one entry per item"));
    }
    if !faults.is_empty() {
        return Err(faults);
    }
    let items = listed.iter().enumerate().map(|(at, item)| match item {
        Json::Object(item) => proposal(item, &format!("items.{at}.")),
        other => Err(UnusableItem {
            category: None,
            faults: vec![fault(&format!("items.{at}"), "an object", Some(other), "write one item")],
        }),
    });
    Ok(AgentAnswer { session, items: items.collect() })
}

/// The template of an answer. Its verdict is invalid on purpose: a copied template was not verified.
pub fn example(session: &str, of: &CapturedItem, candidate: Option<(&Address, &Revision)>) -> Object {
    let action = if candidate.is_some() { Action::Update } else { Action::Create };
    let category = of.category;
    let mut item = Object::new();
    item.set("session", Json::text(session));
    item.set("item", Json::number(of.number));
    item.set("category", Json::text(category.name()));
    item.set("action", Json::text(action.name()));
    if let Some((address, revision)) = candidate {
        item.set("target", Json::text(address.to_string()));
        item.set("revision", Json::text(revision.to_string()));
    }
    item.set("draft", Json::Object(draft::blank(category)));
    item.set("reason", Json::text(draft::PLACEHOLDER));
    item.set("verdict", Json::text(Judgement::ALL.map(Judgement::name).join(" | ")));
    item.set("issues", Json::List(Vec::new()));
    item
}

/// The keys of an item.
pub(super) const ITEM_KEYS: [&str; 10] = [
    "item",
    "category",
    "action",
    "target",
    "supersedes",
    "revision",
    "draft",
    "reason",
    "verdict",
    "issues",
];

fn proposal(item: &Object, place: &str) -> Result<Proposal, UnusableItem> {
    let mut faults = Vec::new();
    refuse_other_keys(item, place, &ITEM_KEYS, &mut faults);
    let number = number(item, place, &mut faults);
    let category = match number.is_some() && is_absent(item.get("category")) {
        true => None,
        false => choice(item, place, "category", &Category::ALL, Category::name, &mut faults),
    };
    let action = choice(item, place, "action", &PROPOSALS, Action::name, &mut faults);
    let target =
        read_text(item, place, "target", "an address such as decision/use-jwt", Address::parse, &mut faults);
    let supersedes = read_text(
        item,
        place,
        "supersedes",
        "the address of the memory that the draft replaces",
        Address::parse,
        &mut faults,
    );
    if supersedes.is_some() && !matches!(action, None | Some(Action::Create | Action::Update)) {
        let fix = "propose CREATE with the new memory as its draft, or leave `supersedes` out";
        let expected = "only with CREATE or UPDATE";
        faults.push(fault(&format!("{place}supersedes"), expected, item.get("supersedes"), fix));
    }
    let revision =
        read_text(item, place, "revision", "the revision of the candidate", Revision::parse, &mut faults);
    let draft = drafted(item, place, action, &mut faults);
    let reason = text_of(item, place, "reason", &mut faults);
    if reason.as_deref().map(str::trim) == Some(draft::PLACEHOLDER) {
        let expected = "a reason instead of the template's placeholder";
        faults.push(fault(
            &format!("{place}reason"),
            expected,
            item.get("reason"),
            "write the reason, or remove it",
        ));
    }
    let may_be_unverified = action == Some(Action::Noop) || number.is_some();
    let unverified = may_be_unverified && is_absent(item.get("verdict"));
    let judgement = match unverified {
        true => None,
        false => choice(item, place, "verdict", &Judgement::ALL, Judgement::name, &mut faults),
    };
    let issues = issues(item, place, &mut faults);
    // The item is rejected anyway; with the unfilled fields listed too, the agent needs only one more attempt.
    if let (false, Some(category), Some(draft)) = (faults.is_empty(), category, &draft) {
        faults.extend(unsaid(draft, place, category));
    }
    match action {
        Some(action) if faults.is_empty() => Ok(Proposal {
            item: number,
            category,
            action,
            target,
            supersedes,
            revision,
            draft,
            reason,
            judgement,
            issues,
        }),
        _ => Err(UnusableItem { category, faults }),
    }
}

fn drafted(
    item: &Object,
    place: &str,
    action: Option<Action>,
    faults: &mut Vec<FieldFault>,
) -> Option<Object> {
    let needed = matches!(action, Some(Action::Create | Action::Update));
    match item.get("draft") {
        Some(Json::Object(draft)) => Some(draft.clone()),
        given if is_absent(given) && !needed => None,
        given => {
            let field = format!("{place}draft");
            let fix = "add title, tags and content with the listed fields";
            faults.push(fault(&field, "an object with the memory's fields", given, fix));
            None
        }
    }
}

/// Unfilled fields of a draft, for an item that is rejected before its draft is validated.
fn unsaid(draft: &Object, place: &str, category: Category) -> Vec<FieldFault> {
    let mut unfilled = draft::unfilled(draft).into_iter().map(draft::unfilled_fault);
    let mut faults: Vec<FieldFault> = unfilled.by_ref().take(OTHERS_MAX).collect();
    faults.extend(draft::emptied(draft, &Object::new(), category));
    for field in draft::wanted(category).iter().filter(|field| !field.choices.is_empty()) {
        let given = draft.at(&field.path).filter(|given| given.as_text() == Some(&field.choices.join(" | ")));
        let expected = format!("one of {}", field.choices.join(", "));
        faults.extend(given.map(|given| fault(&field.path, &expected, Some(given), "choose one of them")));
    }
    faults.iter_mut().for_each(|fault| fault.field = format!("{place}draft.{}", fault.field));
    faults.extend(FieldFault::more(unfilled.count()));
    faults
}

/// The number of an item, if it is given.
fn number(item: &Object, place: &str, faults: &mut Vec<FieldFault>) -> Option<u64> {
    let given = item.get("item").filter(|value| **value != Json::Null)?;
    let number = given.as_u64().filter(|number| *number > 0);
    if number.is_none() {
        let fix = "copy the number from the request or from `lorelane inbox`";
        faults.push(fault(&format!("{place}item"), "the number of an item", Some(given), fix));
    }
    number
}

fn issues(item: &Object, place: &str, faults: &mut Vec<FieldFault>) -> Vec<String> {
    match item.get("issues") {
        given if is_absent(given) => Vec::new(),
        Some(Json::List(issues)) if issues.iter().all(|issue| issue.as_text().is_some()) => {
            issues.iter().filter_map(Json::as_text).map(str::to_owned).collect()
        }
        given => {
            faults.push(fault(
                &format!("{place}issues"),
                "a list of texts",
                given,
                "write each issue as a text",
            ));
            Vec::new()
        }
    }
}

/// A required value from a fixed set of names.
fn choice<T: Copy>(
    item: &Object,
    place: &str,
    key: &str,
    all: &[T],
    name: fn(T) -> &'static str,
    faults: &mut Vec<FieldFault>,
) -> Option<T> {
    let given = item.text(key).map(str::trim);
    let found =
        all.iter().copied().find(|one| given.is_some_and(|given| name(*one).eq_ignore_ascii_case(given)));
    if found.is_none() {
        let names: Vec<&str> = all.iter().map(|one| name(*one)).collect();
        let expected = format!("one of {}", names.join(", "));
        let fix = match key {
            "verdict" => "have the draft verified against its context; this cannot be skipped",
            _ => "choose one of them",
        };
        faults.push(fault(&format!("{place}{key}"), &expected, item.get(key), fix));
    }
    found
}

/// An optional text that `parse` accepts.
fn read_text<T>(
    item: &Object,
    place: &str,
    key: &str,
    expected: &str,
    parse: fn(&str) -> Option<T>,
    faults: &mut Vec<FieldFault>,
) -> Option<T> {
    let given = item.get(key).filter(|value| **value != Json::Null)?;
    let read = given.as_text().and_then(parse);
    if read.is_none() {
        let fix = format!("copy the prepared `{key}`, or remove it");
        faults.push(fault(&format!("{place}{key}"), expected, Some(given), &fix));
    }
    read
}

fn text_of(object: &Object, place: &str, key: &str, faults: &mut Vec<FieldFault>) -> Option<String> {
    read_text(object, place, key, "a text", |text| Some(text.to_owned()), faults)
}

fn refuse_other_keys(object: &Object, place: &str, known: &[&str], faults: &mut Vec<FieldFault>) {
    let mut others = object.iter().filter(|(key, _)| !known.contains(key));
    let expected = format!("one of {}", known.join(", "));
    faults.extend(
        others.by_ref().take(OTHERS_MAX).map(|(key, value)| {
            fault(&format!("{place}{}", cut(key, 80)), &expected, Some(value), "remove it")
        }),
    );
    faults.extend(FieldFault::more(others.count()));
}

fn is_absent(value: Option<&Json>) -> bool {
    matches!(value, None | Some(Json::Null))
}

pub(super) fn fault(field: &str, expected: &str, got: Option<&Json>, fix: &str) -> FieldFault {
    let got = got.map_or_else(|| "nothing".to_owned(), |value| value.render(JsonFormat::LINE));
    // Masked before it is truncated: half a secret is not recognised any more, but is still half a secret.
    let got = cut(&secret::masked(&got), GOT_MAX);
    FieldFault { field: field.to_owned(), expected: expected.to_owned(), got, fix: fix.to_owned() }
}
