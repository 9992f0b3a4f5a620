//! The table: which client gets what, and where it keeps it.

use super::{Client, hook_line, plugin};
use crate::env::{Env, Var};
use lorelane_core::json::{EntryPlace, Json, JsonFormat, Object, OwnedEntry, Ownership};
use std::path::{Path, PathBuf};

/// One thing that is installed.
#[derive(Clone, Debug)]
pub(super) enum Installable {
    /// Entries in a file that the client and its user write, too.
    Entries { path: PathBuf, entries: Vec<OwnedEntry> },
    /// A file of our own.
    Whole { path: PathBuf, text: String },
    /// What the client itself writes down about us. Never added, taken away with the rest.
    Trail { path: PathBuf, entries: Vec<OwnedEntry> },
}

impl Installable {
    pub(super) fn path(&self) -> &Path {
        match self {
            Installable::Entries { path, .. }
            | Installable::Whole { path, .. }
            | Installable::Trail { path, .. } => path,
        }
    }
}

/// One hook: the client's name of the event, ours, the tools it is for, and how long it may take.
struct HookEntry {
    event: &'static str,
    ours: &'static str,
    matcher: Option<&'static str>,
    seconds: u32,
}

const fn hook(event: &'static str, ours: &'static str, seconds: u32) -> HookEntry {
    HookEntry { event, ours, matcher: None, seconds }
}

/// The events of Claude Code, which Codex took over.
const CLASSIC: &[HookEntry] = &[
    hook("SessionStart", "session-start", 5),
    hook("UserPromptSubmit", "prompt", 5),
    hook("PreToolUse", "before-tool", 5),
    hook("PostToolUse", "after-tool", 5),
    hook("Stop", "stop", 10),
    hook("PreCompact", "pre-compact", 10),
    // Codex grants a session's end three seconds.
    hook("SessionEnd", "session-end", 3),
];

/// Its own tools, and those of servers that change files.
const GEMINI_WRITERS: Option<&str> = Some(
    "write_file|replace|edit|run_shell_command|mcp_.*(write|move|create|delete|remove|rename|append|insert|patch|save|update|put|copy)",
);

// No `PreCompress`: Gemini fires it before every model call.
const GEMINI: &[HookEntry] = &[
    hook("SessionStart", "session-start", 5),
    hook("BeforeAgent", "prompt", 5),
    HookEntry { matcher: GEMINI_WRITERS, ..hook("BeforeTool", "before-tool", 5) },
    HookEntry { matcher: GEMINI_WRITERS, ..hook("AfterTool", "after-tool", 5) },
    hook("AfterAgent", "stop", 10),
    hook("SessionEnd", "session-end", 3),
];

const COPILOT: &[HookEntry] = &[
    hook("sessionStart", "session-start", 5),
    hook("userPromptSubmitted", "prompt", 5),
    hook("preToolUse", "before-tool", 5),
    hook("postToolUse", "after-tool", 5),
    hook("agentStop", "stop", 10),
    hook("sessionEnd", "session-end", 3),
];

/// The folder in which a client keeps its settings.
pub(super) fn folder(client: Client, env: &Env) -> Option<PathBuf> {
    let named = |var: Var| env.var(var).map(PathBuf::from).filter(|path| path.is_absolute());
    let below = |path: &str| env.home().map(|home| home.join(path));
    match client {
        Client::ClaudeCode => named(Var::ClaudeConfigDir).or_else(|| below(".claude")),
        Client::Codex => named(Var::CodexHome).or_else(|| below(".codex")),
        Client::Gemini => below(".gemini"),
        Client::Copilot => below(".copilot"),
        Client::Opencode => {
            named(Var::XdgConfigHome).or_else(|| below(".config")).map(|config| config.join("opencode"))
        }
        Client::Cursor => below(".cursor"),
        Client::Windsurf => below(".codeium/windsurf"),
        Client::Zed => {
            named(Var::XdgConfigHome).or_else(|| below(".config")).map(|config| config.join("zed"))
        }
    }
}

/// Everything that a client gets. `own` is the folder for files that only we know.
pub(super) fn parts(client: Client, folder: &Path, own: &Path, program: &str) -> Vec<Installable> {
    match client {
        Client::ClaudeCode => claude(folder, &own.join("claude-code"), program),
        Client::Codex => vec![
            entries(folder.join("hooks.json"), grouped(client, CLASSIC, program, 1)),
            entries(folder.join("config.toml"), server(&["mcp_servers"], [], program)),
        ],
        // Gemini counts in milliseconds.
        Client::Gemini => {
            let mut settings = grouped(client, GEMINI, program, 1000);
            settings.extend(server(&["mcpServers"], [], program));
            vec![entries(folder.join("settings.json"), settings)]
        }
        Client::Copilot => {
            let local = [("type", Json::text("local")), ("tools", Json::texts(["*"]))];
            vec![
                entries(folder.join("hooks/lorelane.json"), copilot(program)),
                entries(folder.join("mcp-config.json"), server(&["mcpServers"], local, program)),
            ]
        }
        Client::Opencode => {
            let text = include_str!("opencode.js").replace(
                "PROGRAM = \"lorelane\"",
                &format!("PROGRAM = {}", Json::text(program).render(JsonFormat::LINE)),
            );
            // One list for the program and its words.
            let value = object([
                ("type", Json::text("local")),
                ("command", Json::texts([program, "mcp"])),
                ("enabled", Json::Bool(true)),
            ]);
            let server = member(&["mcp", SERVER], value, Ownership::Says(program.to_owned()));
            vec![
                Installable::Whole { path: folder.join("plugins/lorelane.js"), text },
                entries(folder.join("opencode.json"), vec![server]),
            ]
        }
        Client::Cursor => vec![entries(folder.join("mcp.json"), server(&["mcpServers"], [], program))],
        Client::Windsurf => {
            vec![entries(folder.join("mcp_config.json"), server(&["mcpServers"], [], program))]
        }
        Client::Zed => vec![entries(folder.join("settings.json"), server(&["context_servers"], [], program))],
    }
}

const SERVER: &str = "lorelane";

/// The MCP server as most clients name one, with what a client wants besides.
fn server<const N: usize>(key: &[&str], more: [(&str, Json); N], program: &str) -> Vec<OwnedEntry> {
    let members = [("command", Json::text(program)), ("args", Json::texts(["mcp"]))];
    let value = Json::Object(members.into_iter().chain(more).collect());
    vec![member(&[key, &[SERVER]].concat(), value, Ownership::Says(program.to_owned()))]
}

fn entries(path: PathBuf, entries: Vec<OwnedEntry>) -> Installable {
    Installable::Entries { path, entries }
}

/// How a hook of ours is known in a settings file.
fn sign(client: Client, ours: &str) -> Ownership {
    Ownership::Says(format!("hook {ours} --client {}", client.name()))
}

fn item(path: &[&str], value: Json, owned: Ownership) -> OwnedEntry {
    OwnedEntry { path: owned_path(path), place: EntryPlace::Item, value, owned }
}

fn member(path: &[&str], value: Json, owned: Ownership) -> OwnedEntry {
    OwnedEntry { path: owned_path(path), place: EntryPlace::Member, value, owned }
}

fn owned_path(path: &[&str]) -> Vec<String> {
    path.iter().map(|key| (*key).to_owned()).collect()
}

fn object<const N: usize>(members: [(&str, Json); N]) -> Json {
    Json::Object(members.into_iter().collect())
}

/// Hooks in the shape that Claude Code began: a list of groups per event, each with its own list.
fn grouped(client: Client, hooks: &[HookEntry], program: &str, per_second: u32) -> Vec<OwnedEntry> {
    let entry = |hook: &HookEntry| {
        let line = hook_line(program, &format!("{} --client {}", hook.ours, client.name()));
        let mut command = Object::new();
        if client == Client::Gemini {
            command.set("name", Json::text(format!("lorelane-{}", hook.ours)));
        }
        command.set("type", Json::text("command"));
        command.set("command", Json::text(line));
        command.set("timeout", Json::number(hook.seconds * per_second));
        let mut group = Object::new();
        if let Some(matcher) = hook.matcher {
            group.set("matcher", Json::text(matcher));
        }
        group.set("hooks", Json::List(vec![Json::Object(command)]));
        item(&["hooks", hook.event], Json::Object(group), sign(client, hook.ours))
    };
    hooks.iter().map(entry).collect()
}

fn copilot(program: &str) -> Vec<OwnedEntry> {
    let entry = |hook: &HookEntry| {
        let words = format!("{} --client copilot", hook.ours);
        let value = object([
            ("type", Json::text("command")),
            ("bash", Json::text(hook_line(program, &words))),
            ("powershell", Json::text(format!("& '{}' hook {words}", program.replace('\'', "''")))),
            ("timeoutSec", Json::number(hook.seconds)),
        ]);
        item(&["hooks", hook.event], value, sign(Client::Copilot, hook.ours))
    };
    let version = member(&["version"], Json::number(1), Ownership::Shared);
    std::iter::once(version).chain(COPILOT.iter().map(entry)).collect()
}

/// A marketplace of our own with the plugin in it, known to the client and enabled.
fn claude(folder: &Path, market: &Path, program: &str) -> Vec<Installable> {
    let place = market.to_string_lossy().into_owned();
    let source = || object([("source", Json::text("directory")), ("path", Json::text(&place))]);
    let ours = || Ownership::Says(place.clone());
    let settings = vec![
        member(&["extraKnownMarketplaces", "lorelane"], object([("source", source())]), ours()),
        member(&["enabledPlugins", PLUGIN], Json::Bool(true), Ownership::Named),
    ];
    // Older clients load a marketplace at their first start only if it stands here; newer ones write it themselves.
    // The time is fixed, so that a second setup has nothing to change.
    let known = object([
        ("source", source()),
        ("installLocation", Json::text(&place)),
        ("lastUpdated", Json::text("2026-01-01T00:00:00.000Z")),
    ]);
    let mut parts: Vec<Installable> = plugin::FILES
        .iter()
        .map(|(path, text)| Installable::Whole {
            path: market.join(path),
            text: plugin::with_program(path, text, program),
        })
        .collect();
    parts.push(entries(
        folder.join("plugins/known_marketplaces.json"),
        vec![member(&["lorelane"], known, ours())],
    ));
    parts.push(entries(folder.join("settings.json"), settings));
    parts.push(Installable::Trail {
        path: folder.join("plugins/installed_plugins.json"),
        entries: vec![member(&["plugins", PLUGIN], Json::Null, Ownership::Named)],
    });
    parts
}

const PLUGIN: &str = "lorelane@lorelane";

/// Where the hooks of a client stand: the file, and per event of ours the entry that holds its command line.
pub(super) fn hook_entries(
    client: Client,
    folder: &Path,
    own: &Path,
) -> Option<(PathBuf, Vec<(&'static str, OwnedEntry)>)> {
    let (path, hooks) = match client {
        Client::ClaudeCode => (own.join("claude-code").join(plugin::HOOKS), CLASSIC),
        Client::Codex => (folder.join("hooks.json"), CLASSIC),
        Client::Gemini => (folder.join("settings.json"), GEMINI),
        Client::Copilot => (folder.join("hooks/lorelane.json"), COPILOT),
        Client::Opencode | Client::Cursor | Client::Windsurf | Client::Zed => return None,
    };
    let entry =
        |hook: &HookEntry| (hook.ours, item(&["hooks", hook.event], Json::Null, sign(client, hook.ours)));
    Some((path, hooks.iter().map(entry).collect()))
}

/// What opencode's plugin asks for.
pub(super) const OPENCODE_EVENTS: [&str; 6] =
    ["session-start", "prompt", "before-tool", "after-tool", "stop", "session-end"];
