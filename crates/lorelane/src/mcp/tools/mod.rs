//! The tools of the `agent` profile: eight, because every name costs a model attention in every turn.
//!
//! Clients that load tools late show a model only their names, so a name says what its tool does. A tool takes plain
//! data, asks the workspace through its doors and gives plain data back; what the doors learn, the tools show.

mod captures;
mod find;
mod save;
mod state;

use super::answer::{Outcome, Trouble};
use super::desk::Desk;
use super::schema::{self, Arguments, Kind, Parameter, optional, required};
use lorelane_core::json::{Json, Object};

/// Longer texts are no questions, names or reasons.
const QUERY_MAX: usize = 10_000;
const NAME_MAX: usize = 500;
const LIMIT: Kind = Kind::Whole { min: 1, max: 100 };
const ADDRESS: &str = "an address such as decision/use-jwt, as memory_search and memory_list give it";

#[derive(Debug)]
pub(super) struct Tool {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) about: &'static str,
    pub(super) effect: Effect,
    pub(super) takes: &'static [Parameter],
    /// The schema of what it gives, where that is a document.
    pub(super) gives: Option<fn() -> Json>,
    run: fn(&Call<'_>) -> Outcome,
}

/// What calling a tool does to the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    Reads,
    /// Writes, and a second call may write again. Nothing is lost: every change can be undone.
    Writes,
    /// Writes, and a second call finds it done.
    Settles,
}

/// One call of a tool.
pub(super) struct Call<'c> {
    pub(super) desk: &'c Desk,
    pub(super) arguments: Arguments,
    pub(super) progress: &'c dyn Fn(Progress),
}

/// How far a long job is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Progress {
    pub(super) done: u32,
    pub(super) of: u32,
    pub(super) doing: &'static str,
}

pub(super) const TOOLS: [Tool; 8] = [
    Tool {
        name: "memory_search",
        title: "Search memories",
        about: "Find what this project remembers about a topic: decisions, runbooks, constraints, preferences, technical debt, earlier sessions. Use it before deciding something, when a task touches unfamiliar code, or when the user refers to earlier work. Best first, with the reason of each score.",
        effect: Effect::Reads,
        takes: &[
            required("query", Kind::Text { max: QUERY_MAX }, "what you want to know, in your own words"),
            optional("categories", Kind::Categories, "only these kinds of memories"),
            optional("include_retired", Kind::Flag, "also what is no longer in force"),
            optional("limit", LIMIT, "at most this many; 10 if absent"),
        ],
        gives: None,
        run: find::search,
    },
    Tool {
        name: "memory_read",
        title: "Read one memory",
        about: "Read one memory as its file says it, with the revision that memory_save takes as `expects`. Markup in it is escaped: &lt; &gt; &amp; stand for < > &.",
        effect: Effect::Reads,
        takes: &[required("address", Kind::Text { max: NAME_MAX }, ADDRESS)],
        gives: None,
        run: find::read,
    },
    Tool {
        name: "memory_list",
        title: "List memories",
        about: "List memories, the last changed first, with filters and pages. To find something about a topic use memory_search.",
        effect: Effect::Reads,
        takes: &[
            optional("category", Kind::Category, "only this kind"),
            optional("status", Kind::Choice(&["active", "retired", "archived", "all"]), "active if absent"),
            optional("tags", Kind::Texts, "only with all of these tags"),
            optional("since", Kind::Text { max: NAME_MAX }, "only changed since this date, as 2026-01-31"),
            optional("limit", LIMIT, "at most this many on a page; 50 if absent"),
            optional("cursor", Kind::Text { max: 2000 }, "the `next_cursor` of the page before"),
        ],
        gives: Some(find::list_schema),
        run: find::list,
    },
    Tool {
        name: "memory_save",
        title: "Save or update a memory",
        about: "Save something worth knowing in later sessions, or update a memory by giving its address. Search first: an update is better than a second memory. An update changes only the fields that are given; lists are given whole, tags are added. What is wrong is named all at once; secrets are refused.",
        effect: Effect::Writes,
        takes: &[
            optional("address", Kind::Text { max: NAME_MAX }, "update this memory; absent for a new one"),
            optional("category", Kind::Category, "the kind of a new memory; required without an address"),
            optional(
                "title",
                Kind::Text { max: NAME_MAX },
                "one line that names it, at most 120 characters; required without an address",
            ),
            optional("content", Kind::Content, "the fields of its category"),
            optional("tags", Kind::Texts, "a few words it is found by; a new memory needs one"),
            optional("related_files", Kind::Texts, "paths it speaks of, from the project's root"),
            optional("confidence", Kind::Fraction, "how sure it is"),
            optional("because", Kind::Text { max: NAME_MAX }, "why, for the memory's history"),
            optional(
                "expects",
                Kind::Text { max: NAME_MAX },
                "the revision that memory_read gave: refused if the file changed since",
            ),
            optional("dry_run", Kind::Flag, "say what would be done and do nothing"),
        ],
        gives: None,
        run: save::save,
    },
    Tool {
        name: "memory_retire",
        title: "Retire a memory",
        about: "Take a memory that is no longer true out of recall. It is kept for a while and can be restored by the user.",
        effect: Effect::Settles,
        takes: &[
            required("address", Kind::Text { max: NAME_MAX }, ADDRESS),
            required("reason", Kind::Text { max: 2000 }, "why it no longer holds"),
        ],
        gives: None,
        run: save::retire,
    },
    Tool {
        name: "memory_why",
        title: "Explain what was shown",
        about: "Explain which memories were put into the last prompt and why, or why one memory was or was not.",
        effect: Effect::Reads,
        takes: &[optional(
            "address",
            Kind::Text { max: NAME_MAX },
            "this memory; absent for the last prompt",
        )],
        gives: Some(state::why_schema),
        run: state::why,
    },
    Tool {
        name: "memory_status",
        title: "Counts and health of the memory store",
        about: "Tell how many memories there are, what needs attention, and what waits to be saved. `check` looks at every file; `rebuild_index` writes index and listing anew, which is safe at any time.",
        effect: Effect::Settles,
        takes: &[
            optional("check", Kind::Flag, "look for everything that is not as it should be"),
            optional("rebuild_index", Kind::Flag, "write index and listing anew from the files"),
        ],
        gives: Some(state::status_schema),
        run: state::status,
    },
    Tool {
        name: "memory_review_captures",
        title: "Review what sessions left to be saved",
        about: "Without `answers`: show what earlier sessions left to be saved, each with its context, what may be done, and the form of an answer. With `answers`: check, decide and save. What the store permits wins over what is proposed.",
        effect: Effect::Writes,
        takes: &[
            optional("session", Kind::Text { max: NAME_MAX }, "of this session instead of the newest one"),
            optional("answers", Kind::Objects, "one per item, in the form that `answer` shows"),
        ],
        gives: Some(captures::schema),
        run: captures::review,
    },
];

pub(super) fn find(name: &str) -> Option<&'static Tool> {
    TOOLS.iter().find(|tool| tool.name == name)
}

impl Tool {
    pub(super) fn input(&self) -> Json {
        schema::input(self.takes)
    }

    pub(super) fn call(&self, desk: &Desk, sent: Object, progress: &dyn Fn(Progress)) -> Outcome {
        let arguments = Arguments::read(self.takes, sent).map_err(|faults| {
            let what = format!("cannot call {}:\n  {}", self.name, faults.join("\n  "));
            Trouble::new(what, "mend all of it and call again; nothing was done")
        })?;
        (self.run)(&Call { desk, arguments, progress })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names of members and their values, everywhere below.
    fn walk(json: &Json, visit: &mut dyn FnMut(&str, &Json)) {
        match json {
            Json::Object(object) => object.iter().for_each(|(key, value)| {
                visit(key, value);
                walk(value, visit);
            }),
            Json::List(items) => items.iter().for_each(|item| walk(item, visit)),
            _ => {}
        }
    }

    #[test]
    fn schemas_hold_nothing_that_a_vendor_refuses() {
        for tool in &TOOLS {
            for schema in [Some(tool.input()), tool.gives.map(|schema| schema())].into_iter().flatten() {
                assert_eq!(schema.at("type").and_then(Json::as_text), Some("object"), "{}", tool.name);
                walk(&schema, &mut |key, value| {
                    let refused =
                        ["format", "default", "$ref", "$defs", "anyOf", "oneOf", "allOf", "const", "not"];
                    assert!(!refused.contains(&key), "{}: {key}", tool.name);
                    // A field of a record may be called `type` one day; then it is an object here.
                    let single = key != "type" || matches!(value, Json::Text(_) | Json::Object(_));
                    assert!(single, "{}: {value:?}", tool.name);
                });
            }
        }
    }

    #[test]
    fn every_field_of_every_category_can_be_given() {
        use lorelane_core::dialect::records::fields;
        use lorelane_core::memory::Category;
        let schema = find("memory_save").expect("a tool").input();
        let content =
            schema.at("properties.content.properties").and_then(Json::as_object).expect("an object");
        for category in Category::ALL {
            for field in fields::content(category).fields {
                let schema = content.get(field.name).unwrap_or_else(|| panic!("{}", field.name));
                let about = schema.at("description").and_then(Json::as_text).unwrap_or_default();
                assert!(about.contains(category.name()), "{}: {about}", field.name);
                if let fields::Kind::Choice(names) = &field.kind {
                    let known = schema.at("enum").map(Json::to_texts).unwrap_or_default();
                    assert!(names.iter().all(|name| known.contains(&(*name).to_owned())), "{}", field.name);
                }
            }
        }
    }

    #[test]
    fn what_is_wrong_with_a_call_is_named_all_at_once() {
        let sent = r#"{"query": 5, "limit": 0, "include_retired": null, "categories": ["idea"], "extra": 1}"#;
        let Ok(Json::Object(sent)) = Json::parse(sent) else { panic!("an object") };
        let faults = Arguments::read(find("memory_search").expect("a tool").takes, sent).expect_err("faults");
        let named: Vec<&str> = faults.iter().filter_map(|fault| fault.split('`').nth(1)).collect();
        assert_eq!(named, ["query", "categories", "limit", "extra"]);
    }
}
