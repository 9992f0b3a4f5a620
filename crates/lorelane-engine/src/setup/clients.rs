//! What each client gets, and in which of its files.

use super::{Client, hook_line, plugin};
use crate::env::{Env, Var};
use lorelane_core::json::{self, EntryPlace, Json, JsonFormat, OwnedEntry, Ownership};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// One thing that is installed.
#[derive(Clone, Debug)]
pub(super) enum Installable {
    /// Entries in a file that the client and its user write as well.
    Entries { path: PathBuf, entries: Vec<OwnedEntry> },
    /// A file of our own.
    Whole { path: PathBuf, text: String },
    /// What the client itself records about us: never added, removed with the rest.
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

/// A command hook of Claude Code, Codex and Gemini.
#[derive(Serialize)]
struct CommandHook {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(rename = "type")]
    kind: &'static str,
    command: String,
    timeout: u32,
}

/// What these clients have in the list of an event: a matcher of tools, and the hooks for them.
#[derive(Serialize)]
struct HookGroup {
    #[serde(skip_serializing_if = "Option::is_none")]
    matcher: Option<&'static str>,
    hooks: [CommandHook; 1],
}

#[derive(Serialize)]
#[serde(tag = "type", rename = "command")]
struct CopilotHook {
    bash: String,
    powershell: String,
    #[serde(rename = "timeoutSec")]
    seconds: u32,
}

/// The MCP server as most clients name one; only Copilot wants the last two.
#[derive(Serialize)]
struct McpServer<'p> {
    command: &'p str,
    args: &'p [&'static str],
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<[&'static str; 1]>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename = "local")]
struct OpencodeServer<'p> {
    /// The program and its arguments.
    command: Vec<&'p str>,
    enabled: bool,
}

/// A marketplace of Claude Code, in its settings and in its own list of known ones.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Marketplace<'p> {
    source: MarketplaceSource<'p>,
    #[serde(skip_serializing_if = "Option::is_none")]
    install_location: Option<&'p str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_updated: Option<&'static str>,
}

#[derive(Clone, Copy, Serialize)]
#[serde(tag = "source", rename = "directory")]
struct MarketplaceSource<'p> {
    path: &'p str,
}

const CLAUDE_CODE: &[HookEntry] = &[
    hook("SessionStart", "session-start", 5),
    hook("UserPromptSubmit", "prompt", 5),
    hook("PreToolUse", "before-tool", 5),
    hook("PostToolUse", "after-tool", 5),
    hook("PostToolUseFailure", "tool-failure", 5),
    hook("Stop", "stop", 10),
    hook("PreCompact", "pre-compact", 10),
    hook("SessionEnd", "session-end", 3),
];

/// Claude Code's names of events, which Codex uses too.
const CODEX: &[HookEntry] = &[
    hook("SessionStart", "session-start", 5),
    hook("UserPromptSubmit", "prompt", 5),
    hook("PreToolUse", "before-tool", 5),
    hook("PostToolUse", "after-tool", 5),
    hook("Stop", "stop", 10),
    hook("PreCompact", "pre-compact", 10),
    // Codex grants a session's end three seconds.
    hook("SessionEnd", "session-end", 3),
];

/// Gemini's own tools that write, and tools of MCP servers whose name says that they do.
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

/// How a client starts the MCP server.
#[derive(Clone, Copy, Debug)]
pub(super) struct ServerCall<'p> {
    pub(super) program: &'p str,
    pub(super) args: &'p [&'static str],
}

/// Everything that a client gets. `own` is the folder for files of our own.
pub(super) fn parts(client: Client, folder: &Path, own: &Path, call: ServerCall<'_>) -> Vec<Installable> {
    let ServerCall { program, args } = call;
    match client {
        Client::ClaudeCode => claude(folder, &own.join("claude-code"), call),
        Client::Codex => vec![
            entries(folder.join("hooks.json"), grouped(client, CODEX, program, 1)),
            entries(folder.join("config.toml"), server("mcp_servers", call)),
        ],
        // Gemini counts in milliseconds.
        Client::Gemini => {
            let mut settings = grouped(client, GEMINI, program, 1000);
            settings.extend(server("mcpServers", call));
            vec![entries(folder.join("settings.json"), settings)]
        }
        Client::Copilot => {
            let local = McpServer { kind: Some("local"), tools: Some(["*"]), ..McpServer::of(call) };
            let server = member(&["mcpServers", SERVER], &local, Ownership::Says(program.to_owned()));
            vec![
                entries(folder.join("hooks/lorelane.json"), copilot(program)),
                entries(folder.join("mcp-config.json"), vec![server]),
            ]
        }
        Client::Opencode => {
            let text = include_str!("opencode.js").replace(
                "PROGRAM = \"lorelane\"",
                &format!("PROGRAM = {}", json::to_string(program, JsonFormat::LINE)),
            );
            let command = std::iter::once(program).chain(args.iter().copied()).collect();
            let local = OpencodeServer { command, enabled: true };
            let server = member(&["mcp", SERVER], &local, Ownership::Says(program.to_owned()));
            vec![
                Installable::Whole { path: folder.join("plugins/lorelane.js"), text },
                entries(folder.join("opencode.json"), vec![server]),
            ]
        }
        Client::Cursor => vec![entries(folder.join("mcp.json"), server("mcpServers", call))],
        Client::Windsurf => {
            vec![entries(folder.join("mcp_config.json"), server("mcpServers", call))]
        }
        Client::Zed => vec![entries(folder.join("settings.json"), server("context_servers", call))],
    }
}

const SERVER: &str = "lorelane";

impl McpServer<'_> {
    fn of(call: ServerCall<'_>) -> McpServer<'_> {
        McpServer { command: call.program, args: call.args, kind: None, tools: None }
    }
}

fn server(key: &str, call: ServerCall<'_>) -> Vec<OwnedEntry> {
    vec![member(&[key, SERVER], &McpServer::of(call), Ownership::Says(call.program.to_owned()))]
}

fn entries(path: PathBuf, entries: Vec<OwnedEntry>) -> Installable {
    Installable::Entries { path, entries }
}

/// The text that identifies a hook of ours in a settings file.
fn sign(client: Client, ours: &str) -> Ownership {
    Ownership::Says(format!("hook {ours} --client {}", client.name()))
}

fn item(path: &[&str], value: &impl Serialize, owned: Ownership) -> OwnedEntry {
    OwnedEntry { place: EntryPlace::Item, ..member(path, value, owned) }
}

fn member(path: &[&str], value: &impl Serialize, owned: Ownership) -> OwnedEntry {
    let path = path.iter().map(|key| (*key).to_owned()).collect();
    OwnedEntry { path, place: EntryPlace::Member, value: Json::of(value), owned }
}

/// Hooks in Claude Code's shape: per event a list of groups, each with its own list of hooks.
fn grouped(client: Client, hooks: &[HookEntry], program: &str, per_second: u32) -> Vec<OwnedEntry> {
    let entry = |hook: &HookEntry| {
        let line = hook_line(program, &format!("{} --client {}", hook.ours, client.name()));
        let command = CommandHook {
            name: (client == Client::Gemini).then(|| format!("lorelane-{}", hook.ours)),
            kind: "command",
            command: line,
            timeout: hook.seconds * per_second,
        };
        let group = HookGroup { matcher: hook.matcher, hooks: [command] };
        item(&["hooks", hook.event], &group, sign(client, hook.ours))
    };
    hooks.iter().map(entry).collect()
}

fn copilot(program: &str) -> Vec<OwnedEntry> {
    let entry = |hook: &HookEntry| {
        let words = format!("{} --client copilot", hook.ours);
        let value = CopilotHook {
            bash: hook_line(program, &words),
            powershell: format!("& '{}' hook {words}", program.replace('\'', "''")),
            seconds: hook.seconds,
        };
        item(&["hooks", hook.event], &value, sign(Client::Copilot, hook.ours))
    };
    let version = member(&["version"], &1, Ownership::Shared);
    std::iter::once(version).chain(COPILOT.iter().map(entry)).collect()
}

/// A marketplace of our own with the plugin in it, known to the client and enabled.
fn claude(folder: &Path, market: &Path, call: ServerCall<'_>) -> Vec<Installable> {
    let place = market.to_string_lossy().into_owned();
    let source = MarketplaceSource { path: &place };
    let ours = || Ownership::Says(place.clone());
    let listed = Marketplace { source, install_location: None, last_updated: None };
    let settings = vec![
        member(&["extraKnownMarketplaces", "lorelane"], &listed, ours()),
        member(&["enabledPlugins", PLUGIN], &true, Ownership::Named),
    ];
    // Older clients load a marketplace at their first start only if it is listed here; newer ones add it
    // themselves. The time is fixed, so that a second setup has nothing to change.
    let known = Marketplace {
        source,
        install_location: Some(&place),
        last_updated: Some("2026-01-01T00:00:00.000Z"),
    };
    let mut parts: Vec<Installable> = plugin::FILES
        .iter()
        .map(|(path, text)| Installable::Whole {
            path: market.join(path),
            text: plugin::with_program(path, text, call),
        })
        .collect();
    parts.push(entries(
        folder.join("plugins/known_marketplaces.json"),
        vec![member(&["lorelane"], &known, ours())],
    ));
    parts.push(entries(folder.join("settings.json"), settings));
    parts.push(Installable::Trail {
        path: folder.join("plugins/installed_plugins.json"),
        entries: vec![member(&["plugins", PLUGIN], &(), Ownership::Named)],
    });
    parts
}

const PLUGIN: &str = "lorelane@lorelane";

/// Where a client's hooks are: the file, and per event of ours the entry that holds its command line.
pub(super) fn hook_entries(
    client: Client,
    folder: &Path,
    own: &Path,
) -> Option<(PathBuf, Vec<(&'static str, OwnedEntry)>)> {
    let (path, hooks) = match client {
        Client::ClaudeCode => (own.join("claude-code").join(plugin::HOOKS), CLAUDE_CODE),
        Client::Codex => (folder.join("hooks.json"), CODEX),
        Client::Gemini => (folder.join("settings.json"), GEMINI),
        Client::Copilot => (folder.join("hooks/lorelane.json"), COPILOT),
        Client::Opencode | Client::Cursor | Client::Windsurf | Client::Zed => return None,
    };
    let entry = |hook: &HookEntry| (hook.ours, item(&["hooks", hook.event], &(), sign(client, hook.ours)));
    Some((path, hooks.iter().map(entry).collect()))
}

/// The events that opencode's plugin sends.
pub(super) const OPENCODE_EVENTS: [&str; 6] =
    ["session-start", "prompt", "before-tool", "after-tool", "stop", "session-end"];
