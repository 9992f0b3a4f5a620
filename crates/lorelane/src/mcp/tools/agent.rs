//! The tools of the `agent` profile: eight, because every name costs a model attention in every turn.
//!
//! Clients that load tools late show a model only their names, so a name says what its tool does.

use super::filter::{LANES, TYPES};
use super::{Effect, LIMIT, NAME_MAX, QUERY_MAX, Tool, Voice, captures, find, save, state};
use crate::mcp::schema::{Kind, optional, required};
use lorelane_core::dialect::notes::NOTE_MAX_BYTES;

const ADDRESS: &str = "an address such as decision/use-jwt, as memory_search and memory_list give it";

const WHEN: Kind = Kind::Text { max: NAME_MAX };

pub(super) const TOOLS: &[Tool] = &[
    Tool {
        name: "memory_search",
        title: "Search memories",
        about: "Find what this project remembers about a topic: decisions, runbooks, constraints, preferences, technical debt, earlier sessions, notes. Use it before deciding something, when a task touches unfamiliar code, or when the user refers to earlier work. Best first, with the reason of each score.",
        effect: Effect::Reads,
        takes: &[
            required("query", Kind::Text { max: QUERY_MAX }, "what you want to know, in your own words"),
            optional("categories", Kind::Categories, "only these categories; with `types`, either will do"),
            optional("types", Kind::Choices(TYPES), "only notes of these types"),
            optional("lane", Kind::Choice(LANES), "only notes, or only the memories that have a category"),
            optional("tags", Kind::Texts, "only with one of these tags; capitals make no difference"),
            optional("after", WHEN, "only changed since then: 2026-01-31, 12h, 30d or 2w"),
            optional("before", WHEN, "only last changed before then"),
            optional("include_retired", Kind::Flag, "also what is no longer in force"),
            optional("limit", LIMIT, "at most this many; 10 if absent"),
        ],
        voice: Voice::Plain,
        gives: None,
        run: find::search,
    },
    Tool {
        name: "memory_read",
        title: "Read one memory",
        about: "Read one memory as its file says it, with the revision that memory_save takes as `expects`. Markup in it is escaped: &lt; &gt; &amp; stand for < > &.",
        effect: Effect::Reads,
        takes: &[required("address", Kind::Text { max: NAME_MAX }, ADDRESS)],
        voice: Voice::Plain,
        gives: None,
        run: find::read,
    },
    Tool {
        name: "memory_list",
        title: "List memories",
        about: "List memories, the last changed first, with filters and pages. To find something about a topic use memory_search.",
        effect: Effect::Reads,
        takes: &[
            optional("category", Kind::Category, "only this category; with `type`, either will do"),
            optional("type", Kind::Choice(TYPES), "only notes of this type"),
            optional("lane", Kind::Choice(LANES), "only notes, or only the memories that have a category"),
            optional("status", Kind::Choice(&["active", "retired", "archived", "all"]), "active if absent"),
            optional("tags", Kind::Texts, "only with all of these tags"),
            optional("since", WHEN, "only changed since then: 2026-01-31, 12h, 30d or 2w"),
            optional("limit", LIMIT, "at most this many on a page; 50 if absent"),
            optional("cursor", Kind::Text { max: 2000 }, "the `next_cursor` of the page before"),
        ],
        voice: Voice::Plain,
        gives: Some(find::list_schema),
        run: find::list,
    },
    Tool {
        name: "memory_save",
        title: "Save or update a memory",
        about: "Save something worth knowing in later sessions, or update a memory by giving its address. Search first: an update is better than a second memory. An update changes only the fields that are given; lists are given whole, tags are added. A note (address notes/NAME) takes title, tags and `text` or `append`, and is made if there is none; every other memory takes category, title, tags, content, related_files and confidence. What is wrong is named all at once; secrets are refused.",
        effect: Effect::Writes,
        takes: &[
            optional(
                "address",
                Kind::Text { max: NAME_MAX },
                "update this memory, or make this note (notes/NAME with `text`); absent for any other new one",
            ),
            optional("category", Kind::Category, "the kind of a new memory; required without an address"),
            optional(
                "title",
                Kind::Text { max: NAME_MAX },
                "one line that names it, at most 120 characters; required without an address",
            ),
            optional("content", Kind::Content, "the fields of its category; not for notes"),
            optional(
                "text",
                Kind::Text { max: NOTE_MAX_BYTES },
                "notes only: what it shall say instead, in Markdown; a frontmatter in it is merged into the note's own",
            ),
            optional("append", Kind::Text { max: NOTE_MAX_BYTES }, "notes only: text to add at the end"),
            optional("tags", Kind::Texts, "a few words it is found by; a new memory needs one"),
            optional(
                "related_files",
                Kind::Texts,
                "paths it speaks of, from the project's root; not for notes, which link them as [[src/auth.py]]",
            ),
            optional("confidence", Kind::Fraction, "how sure it is; not for notes"),
            optional("because", Kind::Text { max: NAME_MAX }, "why, for the memory's history"),
            optional(
                "expects",
                Kind::Text { max: NAME_MAX },
                "the revision that memory_read gave: refused if the file changed since",
            ),
            optional("dry_run", Kind::Flag, "say what would be done and do nothing"),
        ],
        voice: Voice::Plain,
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
        voice: Voice::Plain,
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
        voice: Voice::Plain,
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
        voice: Voice::Plain,
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
        voice: Voice::Plain,
        gives: Some(captures::schema),
        run: captures::review,
    },
];
