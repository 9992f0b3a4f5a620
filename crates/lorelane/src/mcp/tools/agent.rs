//! The tools of the `agent` profile.
//!
//! Eight, not one per command: every name costs a model attention in every turn. Archiving, restoring, rejecting
//! and undoing are left to people. Clients that load tools on demand show a model only the names, so a name says
//! what its tool does.

use super::filter::{LANES, TYPES};
use super::{
    ErrorFormat, LIMIT, NAME_MAX, QUERY_MAX, Tool, ToolEffect, ToolSet, captures, find, save, state,
};
use crate::mcp::hints::Tools;
use crate::mcp::schema::{ArgumentType, optional, required};
use lorelane_core::dialect::notes::NOTE_MAX_BYTES;

pub(super) const SET: ToolSet = ToolSet { tools: TOOLS, commands: COMMANDS };

const COMMANDS: Tools = &[
    ("show", "memory_read", Some("address")),
    ("list", "memory_list", None),
    ("search", "memory_search", None),
    ("create", "memory_save", None),
    ("update", "memory_save", Some("address")),
    ("supersede", "memory_save", Some("supersedes")),
    ("retire", "memory_retire", Some("address")),
    ("why", "memory_why", Some("address")),
    ("status", "memory_status", None),
    ("doctor", "memory_status with `check`", None),
    ("reindex", "memory_status with `rebuild_index`", None),
    ("consolidate prepare", "memory_review_captures", None),
    ("consolidate commit", "memory_review_captures with `answers`", None),
];

const ADDRESS: &str = "such as decision/use-jwt";

const WHEN: ArgumentType = ArgumentType::Text { max: NAME_MAX };

/// Less than 2,000 tokens together; a test counts them. So there are no output schemas and no lengths, and of a
/// category's content only the required fields.
const TOOLS: &[Tool] = &[
    Tool {
        name: "memory_search",
        title: "Search memories",
        about: "Find what this project remembers about a topic: decisions, runbooks, constraints, preferences, technical debt, sessions, notes. Use it before deciding something, when a task touches unfamiliar code, or when the user refers to earlier work. Best first.",
        effect: ToolEffect::Reads,
        takes: &[
            required(
                "query",
                ArgumentType::Text { max: QUERY_MAX },
                "what you want to know, in your own words",
            ),
            optional("categories", ArgumentType::Categories, "only these; with `types`, either will do"),
            optional("types", ArgumentType::Choices(TYPES), "only notes of these types"),
            optional("lane", ArgumentType::Choice(LANES), "only notes, or only what has a category"),
            optional("tags", ArgumentType::Texts, "only with one of these"),
            optional("after", WHEN, "only changed since: 2026-01-31, 12h, 30d or 2w"),
            optional("before", WHEN, "only last changed before"),
            optional("include_retired", ArgumentType::Flag, "also retired and archived ones"),
            optional("limit", LIMIT, "10 if absent"),
            optional("explain", ArgumentType::Flag, "also the parts of each score"),
        ],
        voice: ErrorFormat::Plain,
        gives: None,
        run: find::search,
    },
    Tool {
        name: "memory_read",
        title: "Read one memory",
        about: "Read the file of one memory, with its revision. Markup in it is escaped: &lt; &gt; &amp; mean < > &.",
        effect: ToolEffect::Reads,
        takes: &[required("address", ArgumentType::Text { max: NAME_MAX }, ADDRESS)],
        voice: ErrorFormat::Plain,
        gives: None,
        run: find::read,
    },
    Tool {
        name: "memory_list",
        title: "List memories",
        about: "List memories, the last changed first, in pages. For a topic use memory_search.",
        effect: ToolEffect::Reads,
        takes: &[
            optional("category", ArgumentType::Category, "only this; with `type`, either will do"),
            optional("type", ArgumentType::Choice(TYPES), "only notes of this type"),
            optional("lane", ArgumentType::Choice(LANES), "only notes, or only what has a category"),
            optional(
                "status",
                ArgumentType::Choice(&["active", "retired", "archived", "all"]),
                "active if absent",
            ),
            optional("tags", ArgumentType::Texts, "only with all of these"),
            optional("since", WHEN, "only changed since: 2026-01-31, 12h, 30d or 2w"),
            optional("limit", LIMIT, "50 if absent"),
            optional("cursor", ArgumentType::Text { max: 2000 }, "`next_cursor` of the page before"),
        ],
        voice: ErrorFormat::Plain,
        gives: None,
        run: find::list,
    },
    Tool {
        name: "memory_save",
        title: "Save or update a memory",
        about: "Save something worth knowing in later sessions, or update a memory by its address. Search first: an update is better than a second memory. A new memory takes category, title, tags and content. An update changes only the given fields; give lists whole, tags are added. A note (address notes/NAME) takes title, tags and `text` or `append`, and is created if missing. All errors are listed at once; secrets are rejected.",
        effect: ToolEffect::Writes,
        takes: &[
            optional(
                "address",
                ArgumentType::Text { max: NAME_MAX },
                "of the memory to update, or notes/NAME",
            ),
            optional("category", ArgumentType::Category, "of a new memory"),
            optional("title", ArgumentType::Text { max: NAME_MAX }, "one line, at most 120 characters"),
            optional(
                "content",
                ArgumentType::Content,
                "not for notes. Call with `category` alone to see its optional fields. Required, [] for a list of texts",
            ),
            optional(
                "text",
                ArgumentType::Text { max: NOTE_MAX_BYTES },
                "notes only: its whole text, in Markdown",
            ),
            optional(
                "append",
                ArgumentType::Text { max: NOTE_MAX_BYTES },
                "notes only: text to add at the end",
            ),
            optional("tags", ArgumentType::Texts, "a few words to find it by; a new memory needs one"),
            optional(
                "related_files",
                ArgumentType::Texts,
                "paths from the project's root; notes link [[src/auth.py]]",
            ),
            optional("confidence", ArgumentType::Fraction, "how sure it is; not for notes"),
            optional(
                "supersedes",
                ArgumentType::Text { max: NAME_MAX },
                "the address of a memory that this one replaces",
            ),
            optional("because", ArgumentType::Text { max: NAME_MAX }, "why, for its history"),
            optional(
                "expects",
                ArgumentType::Text { max: NAME_MAX },
                "the revision you read: rejected if changed",
            ),
            optional("dry_run", ArgumentType::Flag, "only report what would change"),
        ],
        voice: ErrorFormat::Plain,
        gives: None,
        run: save::save,
    },
    Tool {
        name: "memory_retire",
        title: "Retire a memory",
        about: "Take a memory that is no longer true out of recall. The user can restore it.",
        effect: ToolEffect::Settles,
        takes: &[
            required("address", ArgumentType::Text { max: NAME_MAX }, ADDRESS),
            required("reason", ArgumentType::Text { max: 2000 }, "why it no longer holds"),
        ],
        voice: ErrorFormat::Plain,
        gives: None,
        run: save::retire,
    },
    Tool {
        name: "memory_why",
        title: "Explain what was shown",
        about: "Explain which memories were put into the last prompt and why, or why one was or was not.",
        effect: ToolEffect::Reads,
        takes: &[optional("address", ArgumentType::Text { max: NAME_MAX }, "only this memory")],
        voice: ErrorFormat::Plain,
        gives: None,
        run: state::why,
    },
    Tool {
        name: "memory_status",
        title: "Counts and health of the memory store",
        about: "Show how many memories there are, what needs attention, and what waits to be saved.",
        effect: ToolEffect::Settles,
        takes: &[
            optional("check", ArgumentType::Flag, "check every file for problems"),
            optional("rebuild_index", ArgumentType::Flag, "rebuild index and index.md; always safe"),
        ],
        voice: ErrorFormat::Plain,
        gives: None,
        run: state::status,
    },
    Tool {
        name: "memory_review_captures",
        title: "Review what sessions captured",
        about: "Without `answers`: show what earlier sessions captured, with its context, the permitted actions and the form of an answer. With `answers`: check and save them.",
        effect: ToolEffect::Writes,
        takes: &[
            optional("session", ArgumentType::Text { max: NAME_MAX }, "instead of the newest one"),
            optional("answers", ArgumentType::Objects, "one per item, in the form that `answer` shows"),
        ],
        voice: ErrorFormat::Plain,
        gives: None,
        run: captures::review,
    },
];
