//! The hook files of each client: their paths, their format, and the events they may name.
//!
//! They are written for the recorder, which saves payloads, and for the product's hooks in clients that
//! `lorelane setup` cannot set up.

use std::path::{Path, PathBuf};

use lorelane_core::json::{Json, JsonFormat, Object};

use super::client::{Client, Kind, write};
use super::wire::{list, object};
use crate::failure::Failure;

/// One event, by the client's name.
#[derive(Clone, Copy, Debug)]
pub struct Event {
    pub name: &'static str,
    /// Whether the older of two versions knows it: with one unknown name it ignores every hook.
    pub long_standing: bool,
}

const fn event(name: &'static str) -> Event {
    Event { name, long_standing: true }
}

const fn newer(name: &'static str) -> Event {
    Event { name, long_standing: false }
}

pub const CLAUDE_CODE: &[Event] = &[
    event("SessionStart"),
    event("UserPromptSubmit"),
    event("PreToolUse"),
    event("PostToolUse"),
    event("PostToolUseFailure"),
    event("PermissionRequest"),
    event("SubagentStart"),
    event("SubagentStop"),
    event("Stop"),
    event("PreCompact"),
    event("SessionEnd"),
    newer("UserPromptExpansion"),
    newer("PostToolBatch"),
    newer("PostCompact"),
];

pub const CODEX: &[Event] = &[
    event("SessionStart"),
    event("UserPromptSubmit"),
    event("PreToolUse"),
    event("PostToolUse"),
    event("PreCompact"),
    event("Stop"),
    event("SessionEnd"),
];

pub const GEMINI: &[Event] = &[
    event("SessionStart"),
    event("BeforeAgent"),
    event("BeforeTool"),
    event("AfterTool"),
    event("PreCompress"),
    event("AfterAgent"),
    event("SessionEnd"),
];

pub const COPILOT: &[Event] = &[
    event("sessionStart"),
    event("userPromptSubmitted"),
    event("preToolUse"),
    event("postToolUse"),
    event("agentStop"),
    event("sessionEnd"),
];

pub const OPENCODE: &[Event] = &[
    event("event"),
    event("chat.message"),
    event("tool.execute.before"),
    event("tool.execute.after"),
    event("experimental.chat.system.transform"),
];

/// Writes the hooks of one client so that each event runs what `command` returns.
///
/// Returns the plugin folder for a client that takes one. `scratch` is outside home and project.
pub fn install(
    client: &Client,
    places: &Places<'_>,
    command: &dyn Fn(&Event) -> String,
) -> Result<Option<PathBuf>, Failure> {
    let events: Vec<&Event> =
        client.kind.events().iter().filter(|event| client.is_latest() || event.long_standing).collect();
    match client.kind {
        Kind::ClaudeCode => {
            let plugin = places.scratch.join("plugin");
            let manifest = object([("name", Json::text("probe")), ("version", Json::text("0.0.1"))]);
            write_json(&plugin.join(".claude-plugin/plugin.json"), &manifest)?;
            let hooks = grouped(&events, |event| {
                command_entry("command", command(event), [("timeout", Json::number(10))])
            });
            write_json(&plugin.join("hooks/hooks.json"), &object([("hooks", hooks)]))?;
            // So that a scenario can run a slash command.
            write(&plugin.join("commands/save.md"), "---\ndescription: Save\n---\nSave $ARGUMENTS.\n")?;
            Ok(Some(plugin))
        }
        Kind::Codex => {
            let hooks = grouped(&events, |event| {
                command_entry("command", command(event), [("timeout", Json::number(10))])
            });
            write_json(&places.home.join(".codex/hooks.json"), &object([("hooks", hooks)]))?;
            Ok(None)
        }
        Kind::Gemini => {
            let path = places.home.join(".gemini/settings.json");
            let hooks = grouped(&events, |event| {
                // In milliseconds: a value in seconds would kill every hook before it starts.
                let more = [("name", Json::text("probe")), ("timeout", Json::number(10_000))];
                command_entry("command", command(event), more)
            });
            let mut settings = read_object(&path)?;
            settings.set("hooks", hooks);
            write_json(&path, &Json::Object(settings))?;
            Ok(None)
        }
        Kind::Copilot => {
            let hooks = events.iter().map(|event| {
                let entry = command_entry("bash", command(event), [("timeoutSec", Json::number(10))]);
                (event.name, list([entry]))
            });
            let file = object([("version", Json::number(1)), ("hooks", Json::Object(hooks.collect()))]);
            write_json(&places.home.join(".copilot/hooks/probe.json"), &file)?;
            Ok(None)
        }
        Kind::Opencode => {
            write(&places.project.join(".opencode/plugins/probe.js"), &opencode_plugin(&events, command))?;
            Ok(None)
        }
    }
}

/// The three folders of a run.
#[derive(Clone, Copy, Debug)]
pub struct Places<'a> {
    pub home: &'a Path,
    pub project: &'a Path,
    pub scratch: &'a Path,
}

/// `{"Event": [{"hooks": [entry]}]}`, the shape that Claude Code, Codex and Gemini share.
fn grouped(events: &[&Event], entry: impl Fn(&Event) -> Json) -> Json {
    let groups = events.iter().map(|event| {
        let group = object([("matcher", Json::text("*")), ("hooks", list([entry(event)]))]);
        (event.name, list([group]))
    });
    Json::Object(groups.collect())
}

fn command_entry<const N: usize>(key: &str, command: String, more: [(&str, Json); N]) -> Json {
    let mut entry = Object::new();
    entry.set("type", Json::text("command"));
    entry.set(key, Json::text(command));
    for (key, value) in more {
        entry.set(key, value);
    }
    Json::Object(entry)
}

/// A plugin gets values and not a payload; it passes them to the command as `{"input", "output"}`.
fn opencode_plugin(events: &[&Event], command: &dyn Fn(&Event) -> String) -> String {
    let mut text = String::from(
        "import { spawnSync } from \"node:child_process\"\n\
         const tell = (command, payload) =>\n  \
         spawnSync(\"sh\", [\"-c\", command], { input: JSON.stringify(payload) + \"\\n\", encoding: \"utf8\" })\n\
         export const Probe = async () => ({\n",
    );
    for event in events {
        let name = Json::text(event.name).render(JsonFormat::LINE);
        let command = Json::text(command(event)).render(JsonFormat::LINE);
        // Only the output of a tool can be changed.
        text.push_str(&format!(
            "  {name}: async (input, output) => {{\n    \
             const said = tell({command}, {{ input, output }}).stdout\n    \
             if (said && typeof output?.output === \"string\") output.output += said\n  }},\n"
        ));
    }
    text.push_str("})\n");
    text
}

fn write_json(path: &Path, value: &Json) -> Result<(), Failure> {
    write(path, &format!("{}\n", value.render(JsonFormat::FILE)))
}

fn read_object(path: &Path) -> Result<Object, Failure> {
    let text = std::fs::read_to_string(path).map_err(|error| Failure::on("read", path, error))?;
    match Json::parse(&text) {
        Ok(Json::Object(object)) => Ok(object),
        _ => Err(Failure::on("read", path, "it holds no JSON object")),
    }
}
