//! The tools of `ragdocs`, with the names and answers that its documentation promises.
//!
//! Writes go through plans like any other change: checked, journalled, undoable. Values are exact and not escaped,
//! because programs read them by field and write them back.

mod relations;
mod search;
mod stats;
mod tags;
mod write;

use super::filter::TYPES;
use super::{ErrorFormat, LIMIT, NAME_MAX, QUERY_MAX, Tool, ToolCall, ToolEffect, ToolSet};
use crate::mcp::answer::ToolError;
use crate::mcp::hints::Tools;
use crate::mcp::schema::{ArgumentType, optional, required};
use lorelane_core::dialect::notes::NOTE_MAX_BYTES;
use lorelane_core::json::{Json, JsonFormat};
use lorelane_core::memory::{Address, NoteType};
use lorelane_core::time::Timestamp;
use lorelane_engine::workspace::{Failure, Workspace};

const EDGES: &[&str] = &["supersedes", "depends_on", "contradicts"];
const CONTENT: ArgumentType = ArgumentType::Text { max: NOTE_MAX_BYTES };
const NAME: ArgumentType = ArgumentType::Text { max: NAME_MAX };
/// The end of the year 9999.
const SECONDS: ArgumentType = ArgumentType::Whole { min: 0, max: 253_402_300_799 };
/// A hundred years.
const DAYS_MAX: u64 = 36_500;
const FILENAME: &str = "its file, with or without .md; folders are allowed";

fn bad_limit(value: &Json) -> String {
    format!("limit must be between 1 and 100, got {}", value.render(JsonFormat::LINE))
}

fn bad_type(value: &Json) -> String {
    format!("filter_type must be one of [{}], got {}", TYPES.join(", "), value.render(JsonFormat::LINE))
}

fn bad_days(value: &Json) -> String {
    let got = || value.render(JsonFormat::LINE);
    match value.as_f64() {
        Some(days) if days < 0.0 => "relative_days must be non-negative".to_owned(),
        Some(days) if days > DAYS_MAX as f64 => {
            format!("relative_days must be at most {DAYS_MAX}, got {}", got())
        }
        _ => format!("relative_days must be a whole number, got {}", got()),
    }
}

fn bad_edge(value: &Json) -> String {
    format!("Invalid relationship type: {}", value.as_text().unwrap_or_default())
}

pub(super) const SET: ToolSet = ToolSet { tools: TOOLS, commands: COMMANDS };

const COMMANDS: Tools = &[
    ("show", "read_memory", None),
    ("list", "search_memories", None),
    ("search", "search_memories", None),
    ("create", "create_memory", None),
    ("update", "update_memory", None),
    ("append", "append_memory", None),
    ("merge", "merge_memories", None),
    ("retire", "delete_memory", None),
];

const TOOLS: &[Tool] = &[
    Tool {
        name: "create_memory",
        title: "Create a note",
        about: "Create a note that outlives the session. Link files as [[src/auth.py]] and other notes as [[memory:name]]. Search first: append_memory is better than a second note. Secrets are refused.",
        effect: ToolEffect::Writes,
        takes: &[
            required("filename", NAME, FILENAME),
            required("content", CONTENT, "what it says, in Markdown; a frontmatter in it is kept"),
            optional("tags", ArgumentType::Texts, "a few words it is found by; none if absent"),
            optional("memory_type", ArgumentType::Choice(TYPES), "journal if absent"),
        ],
        voice: ErrorFormat::Json,
        gives: Some(write::schema),
        run: write::create,
    },
    Tool {
        name: "read_memory",
        title: "Read a note",
        about: "Read the whole of a note, its frontmatter included.",
        effect: ToolEffect::Reads,
        takes: &[required("filename", NAME, FILENAME)],
        voice: ErrorFormat::Json,
        gives: Some(write::read_schema),
        run: write::read,
    },
    Tool {
        name: "update_memory",
        title: "Replace a note's text",
        about: "Replace what a note says. Of its frontmatter only what the content gives is replaced: type, tags and the time of its creation stay otherwise.",
        effect: ToolEffect::Settles,
        takes: &[
            required("filename", NAME, FILENAME),
            required("content", CONTENT, "what it shall say, with or without a frontmatter"),
        ],
        voice: ErrorFormat::Json,
        gives: Some(write::schema),
        run: write::update,
    },
    Tool {
        name: "append_memory",
        title: "Append to a note",
        about: "Add text at the end of a note, after an empty line.",
        effect: ToolEffect::Writes,
        takes: &[
            required("filename", NAME, FILENAME),
            required("content", CONTENT, "what follows, without a frontmatter"),
        ],
        voice: ErrorFormat::Json,
        gives: Some(write::schema),
        run: write::append,
    },
    Tool {
        name: "delete_memory",
        title: "Delete a note",
        about: "Move a note to the trash. Searches no longer find it, and the user can restore it.",
        effect: ToolEffect::Writes,
        takes: &[required("filename", NAME, FILENAME)],
        voice: ErrorFormat::Json,
        gives: Some(write::delete_schema),
        run: write::delete,
    },
    Tool {
        name: "search_memories",
        title: "Search notes",
        about: "Find notes about a topic, best first, each with its best passage. Nothing relevant gives an empty list.",
        effect: ToolEffect::Reads,
        takes: &[
            required(
                "query",
                ArgumentType::Text { max: QUERY_MAX },
                "what you want to know, in your own words",
            ),
            optional("limit", LIMIT, "at most this many; 5 if absent").or(bad_limit),
            optional(
                "filter_tags",
                ArgumentType::Texts,
                "only with one of these tags; capitals make no difference",
            ),
            optional("filter_type", ArgumentType::Choice(TYPES), "only of this type").or(bad_type),
            optional(
                "load_full_memory",
                ArgumentType::Flag,
                "the whole text instead of a passage; false if absent",
            ),
            optional("after_timestamp", SECONDS, "only since then, in seconds since 1970"),
            optional("before_timestamp", SECONDS, "only before then, in seconds since 1970"),
            optional(
                "relative_days",
                ArgumentType::Whole { min: 0, max: DAYS_MAX },
                "only of the last days; wins over the timestamps",
            )
            .or(bad_days),
            optional("include_archived", ArgumentType::Flag, "also archived ones; false if absent"),
        ],
        voice: ErrorFormat::Json,
        gives: Some(search::schema),
        run: search::search,
    },
    Tool {
        name: "search_linked_memories",
        title: "Search notes that link a file",
        about: "Find the notes that link a file of the project, with the words around the link and what they say of it.",
        effect: ToolEffect::Reads,
        takes: &[
            required("query", ArgumentType::Text { max: QUERY_MAX }, "ranks them; empty for all"),
            required("target_document", NAME, "a path from the project's root, such as src/auth.py"),
            optional("limit", LIMIT, "at most this many; 5 if absent").or(bad_limit),
        ],
        voice: ErrorFormat::Json,
        gives: Some(relations::linked_schema),
        run: relations::linked,
    },
    Tool {
        name: "get_memory_stats",
        title: "Count notes",
        about: "Tell how many notes there are, their size, tags and types.",
        effect: ToolEffect::Reads,
        takes: &[],
        voice: ErrorFormat::Json,
        gives: Some(stats::schema),
        run: stats::stats,
    },
    Tool {
        name: "merge_memories",
        title: "Merge notes",
        about: "Make one note of several: the new one is created and the others go to the trash, all or nothing.",
        effect: ToolEffect::Writes,
        takes: &[
            required("source_files", ArgumentType::Texts, "the notes that become one"),
            required("target_file", NAME, "the file of the new note, or one of the sources"),
            required("summary_content", CONTENT, "what it shall say, with or without a frontmatter"),
        ],
        voice: ErrorFormat::Json,
        gives: Some(write::merge_schema),
        run: write::merge,
    },
    Tool {
        name: "suggest_memory_merges",
        title: "Suggest notes to merge",
        about: "Find groups of notes that say nearly the same.",
        effect: ToolEffect::Reads,
        takes: &[
            optional("threshold", ArgumentType::Fraction, "how alike they have to be; 0.85 if absent"),
            optional("limit", LIMIT, "at most this many groups; 5 if absent").or(bad_limit),
            optional("filter_type", ArgumentType::Choice(TYPES), "only of this type; journal if absent")
                .or(bad_type),
        ],
        voice: ErrorFormat::Json,
        gives: Some(relations::merges_schema),
        run: relations::merges,
    },
    Tool {
        name: "search_by_tag_cluster",
        title: "Search notes by a tag and its neighbours",
        about: "Find the notes with a tag, then those that share another tag with them, and so on.",
        effect: ToolEffect::Reads,
        takes: &[
            required("tag", NAME, "where to begin"),
            optional("depth", ArgumentType::Whole { min: 1, max: 3 }, "how far to go; 2 if absent"),
            optional("limit", LIMIT, "at most this many; 10 if absent").or(bad_limit),
        ],
        voice: ErrorFormat::Json,
        gives: Some(tags::cluster_schema),
        run: tags::cluster,
    },
    Tool {
        name: "get_tag_graph",
        title: "Tags and what they come with",
        about: "Tell how often each tag is used, and which tags are used together.",
        effect: ToolEffect::Reads,
        takes: &[],
        voice: ErrorFormat::Json,
        gives: Some(tags::graph_schema),
        run: tags::graph,
    },
    Tool {
        name: "suggest_related_tags",
        title: "Suggest related tags",
        about: "Tell which tags are used together with one.",
        effect: ToolEffect::Reads,
        takes: &[required("tag", NAME, "the tag")],
        voice: ErrorFormat::Json,
        gives: Some(tags::related_schema),
        run: tags::related,
    },
    Tool {
        name: "get_memory_versions",
        title: "Notes that a note supersedes",
        about: "Follow the links that say `supersedes` from a note to the oldest version.",
        effect: ToolEffect::Reads,
        takes: &[required("filename", NAME, FILENAME)],
        voice: ErrorFormat::Json,
        gives: Some(relations::versions_schema),
        run: relations::versions,
    },
    Tool {
        name: "get_memory_dependencies",
        title: "Notes that a note depends on",
        about: "List the notes that a note says it depends on.",
        effect: ToolEffect::Reads,
        takes: &[required("filename", NAME, FILENAME)],
        voice: ErrorFormat::Json,
        gives: Some(relations::related_schema),
        run: relations::dependencies,
    },
    Tool {
        name: "detect_contradictions",
        title: "Notes that a note contradicts",
        about: "List the notes that a note says it contradicts.",
        effect: ToolEffect::Reads,
        takes: &[required("filename", NAME, FILENAME)],
        voice: ErrorFormat::Json,
        gives: Some(relations::related_schema),
        run: relations::contradictions,
    },
    Tool {
        name: "get_memory_relationships",
        title: "How a note relates to others",
        about: "List what a note supersedes, depends on and contradicts, or one of the three.",
        effect: ToolEffect::Reads,
        takes: &[
            required("filename", NAME, FILENAME),
            optional("relationship_type", ArgumentType::Choice(EDGES), "only this one; all if absent")
                .or(bad_edge),
        ],
        voice: ErrorFormat::Json,
        gives: Some(relations::relationships_schema),
        run: relations::relationships,
    },
];

/// Opens the workspace; without notes the error is that of `ragdocs`.
fn open(call: &ToolCall<'_>) -> Result<Workspace, ToolError> {
    let workspace = call.factory.open().map_err(tool_error)?;
    if workspace.files().notes_folder().is_none() {
        return Err(tool_error(Failure::NotesOff));
    }
    Ok(workspace)
}

fn tool_error(failure: Failure) -> ToolError {
    match &failure {
        Failure::NotesOff | Failure::NoStore { .. } => {
            ToolError::new("Memory system is not enabled", format!("{failure}: {}", failure.hint()))
        }
        _ => failure.into(),
    }
}

/// The hint when a note does not exist.
const SEARCH_HINT: &str = "search_memories finds notes by what they say";

/// The address of an existing note. A deleted one counts as missing.
fn find(workspace: &Workspace, typed: &str) -> Option<Address> {
    let name = typed.strip_prefix("memory:").unwrap_or(typed);
    let address = Address::note(name.strip_suffix(".md").unwrap_or(name))?;
    workspace.at(&address).filter(|address| !address.is_trash())
}

/// The file name in answers, with `.md`.
fn filename(typed: &str) -> String {
    format!("{}.md", typed.strip_suffix(".md").unwrap_or(typed))
}

fn note_type(name: Option<&str>) -> Option<NoteType> {
    name.and_then(NoteType::parse)
}

fn moment(call: &ToolCall<'_>, name: &str) -> Option<Timestamp> {
    let seconds = call.arguments.whole(name)?;
    i64::try_from(seconds).ok().map(Timestamp)
}
