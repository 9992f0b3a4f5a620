//! `clients --record`: records the hook payloads of every client as fixtures for the product's tests.
//!
//! Every event runs a hook that only writes its standard input to a file. What differs between runs or machines is
//! replaced, so a second recording changes nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use lorelane_core::json::{Json, JsonFormat, Object};

use super::client::{Client, Kind, write};
use super::hooks::{self, Places};
use super::proof::Choice;
use super::run::{self, Hooking};
use super::scenario;
use crate::failure::Failure;
use crate::repo;
use crate::tool_cache::ToolCache;

const FIXTURES: &str = "crates/lorelane/tests/fixtures/payloads";

/// In a recording with this variable, the hooks of tool events answer with a text. Its value says what the tool call
/// is.
const TELLS: &str = "PROBE_TELLS";

/// In a recording with this variable, only payloads of events after a tool are kept, and its value ends their names.
const OF_TOOLS: &str = "PROBE_OF_TOOLS";

/// Variables that the harness or any shell sets.
const OWN_VARIABLES: &[&str] =
    &["PATH", "HOME", "TERM", "LANG", "SHELL", "PWD", "OLDPWD", "SHLVL", "_", "TMPDIR", "CLAUDE_CODE_TMPDIR"];

fn is_own(variable: &str) -> bool {
    OWN_VARIABLES.contains(&variable) || variable.starts_with("PROBE_") || variable.starts_with("LORELANE_")
}

/// The payloads of one client.
#[derive(Default)]
struct Recorded {
    /// Payloads by the name of the fixture.
    payloads: BTreeMap<String, Json>,
    /// The names of environment variables, by event.
    variables: BTreeMap<String, BTreeSet<String>>,
    /// Per kind of tool call: which of its events ran, and whether what they answered reached the model.
    delivered: BTreeMap<String, BTreeMap<String, bool>>,
}

impl Recorded {
    /// Every fixture by its name. Variables that every event has are listed once.
    fn fixtures(mut self, client: &Client) -> BTreeMap<String, Json> {
        let ours: Vec<&str> = client.kind.environment(0).iter().map(|(name, _)| *name).collect();
        for names in self.variables.values_mut() {
            names.retain(|name| !ours.contains(&name.as_str()));
        }
        let mut sets = self.variables.values();
        let first = sets.next().cloned().unwrap_or_default();
        let every = sets.fold(first, |every, names| &every & names);
        let mut environment = Object::new();
        environment.set("every event", Json::texts(every.iter().cloned()));
        for (event, names) in &self.variables {
            let more: Vec<String> = (names - &every).into_iter().collect();
            if !more.is_empty() {
                environment.set(event, Json::texts(more));
            }
        }
        self.payloads.insert("environment".to_owned(), Json::Object(environment));
        if !self.delivered.is_empty() {
            let calls = self.delivered.iter().map(|(call, events)| {
                let those = |wanted: bool| {
                    let events = events.iter().filter(|(_, told)| **told == wanted);
                    Json::texts(events.map(|(event, _)| event.clone()))
                };
                let members = [("delivered", those(true)), ("not delivered", those(false))];
                (call.clone(), Json::Object(members.into_iter().collect()))
            });
            self.payloads.insert("delivery".to_owned(), Json::Object(calls.collect()));
        }
        self.payloads
    }
}

pub fn run(tool_cache: &ToolCache, clients: &[&'static Client], choice: &Choice) -> Result<(), Failure> {
    let folder = repo::root().join("xtask/clients/recordings");
    let scenarios = scenario::read_folder(&folder)?;
    for client in clients {
        let mut recorded = Recorded::default();
        let named = |name: &str| choice.scenario.as_ref().is_none_or(|wanted| wanted == name);
        for scenario in &scenarios {
            if named(&scenario.name) && scenario.clients.iter().any(|word| client.is_called(word)) {
                let outcome = run::run(
                    tool_cache,
                    client,
                    scenario.clone(),
                    Path::new("/bin/true"),
                    &Recorder,
                    choice.keep,
                )?;
                let root = outcome.sandbox.folder();
                let folder = root.join(run::HARNESS).join("recorded");
                match scenario.env.iter().find(|(name, _)| name == TELLS) {
                    Some((_, call)) => {
                        let events = deliveries(client.kind, &folder, &outcome)?;
                        recorded.delivered.insert(call.clone(), events);
                    }
                    None => {
                        let of_tools = scenario.env.iter().find(|(name, _)| name == OF_TOOLS);
                        let of_tools = of_tools.map(|(_, kind)| kind.as_str());
                        collect(&folder, root, of_tools, &mut recorded)?;
                    }
                }
                let seconds: f64 = outcome.sessions.iter().map(|ended| ended.seconds).sum();
                println!("{:<20} {:<24} {seconds:6.1} s", client.id(), scenario.name);
            }
        }
        for event in client.kind.events() {
            let seen = recorded.variables.contains_key(event.name);
            if !seen && (client.is_latest() || event.long_standing) {
                println!("{:<20} sent nothing for {}", client.id(), event.name);
            }
        }
        let folder = repo::root().join(FIXTURES).join(client.kind.name());
        keep(client, &folder, &recorded.fixtures(client))?;
    }
    Ok(())
}

/// Writes each payload to a file of its own, and the names of the variables to another. Values of variables
/// are never read: some are keys.
struct Recorder;

impl Hooking for Recorder {
    fn hook(
        &self,
        client: &Client,
        places: &Places<'_>,
        _: &dyn Fn(&str) -> Command,
    ) -> Result<Option<PathBuf>, Failure> {
        let folder = places.scratch.join("recorded");
        fs::create_dir_all(&folder).map_err(|error| Failure::on("create", &folder, error))?;
        let scratch = places.scratch.display();
        let folder = folder.display();
        hooks::install(client, places, &|event| {
            let name = event.name;
            let names = "awk 'BEGIN { for (name in ENVIRON) print name }'";
            let keep = format!(
                "cat > \"$(mktemp '{folder}/{name}.payload.XXXXXX')\"; {names} > '{folder}/{name}.names'"
            );
            let keep = match tell(client.kind, name) {
                Some(answer) => format!("{keep}; if [ -n \"${TELLS}\" ]; then echo '{answer}'; fi"),
                None => keep,
            };
            match go_on(client.kind, name) {
                // `mkdir` succeeds only once, so only the first stop is blocked.
                Some(answer) => {
                    format!(
                        "{keep}; if [ -n \"$PROBE_GOES_ON\" ] && mkdir '{scratch}/went-on'; then {answer}; fi"
                    )
                }
                None => keep,
            }
        })
    }
}

/// The output with which the hook of a tool event adds text to the model's context, without a decision about the tool.
fn tell(kind: Kind, event: &str) -> Option<String> {
    let text = Json::text(told_by(event)).render(JsonFormat::LINE);
    let specific =
        |inner: &str| format!("{{\"hookSpecificOutput\": {{{inner}\"additionalContext\": {text}}}}}");
    is_of_tool(event).then(|| match kind {
        Kind::ClaudeCode | Kind::Codex => specific(&format!("\"hookEventName\": \"{event}\", ")),
        Kind::Gemini => specific(""),
        Kind::Copilot => format!("{{\"additionalContext\": {text}}}"),
        Kind::Opencode => told_by(event),
    })
}

/// Whether it is an event of one tool call.
fn is_of_tool(event: &str) -> bool {
    event.to_ascii_lowercase().contains("tool") && event != "PostToolBatch"
}

/// The text by which the model's requests show that it was delivered.
fn told_by(event: &str) -> String {
    format!("told by the probe at {event}.")
}

/// Which tool events ran, and whether their text is in a request of the agent.
fn deliveries(kind: Kind, folder: &Path, outcome: &run::Outcome) -> Result<BTreeMap<String, bool>, Failure> {
    let entries = fs::read_dir(folder).map_err(|error| Failure::on("list", folder, error))?;
    let names: BTreeSet<String> =
        entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    let ran = |event: &str| names.iter().any(|name| name.starts_with(&format!("{event}.payload.")));
    let sent = |text: &str| {
        outcome
            .agent_requests()
            .iter()
            .any(|request| request.parts.iter().any(|part| part.text.contains(text)))
    };
    let events = kind.events().iter().map(|event| event.name);
    let events = events.filter(|event| tell(kind, event).is_some() && ran(event));
    Ok(events.map(|event| (event.to_owned(), sent(&told_by(event)))).collect())
}

/// The output with which a stop hook makes this client's agent continue.
fn go_on(kind: Kind, event: &str) -> Option<&'static str> {
    match (kind, event) {
        (Kind::ClaudeCode | Kind::Codex, "Stop") => Some("echo 'go on' >&2; exit 2"),
        (Kind::Gemini, "AfterAgent") => Some("echo '{\"decision\": \"deny\", \"reason\": \"go on\"}'"),
        (Kind::Copilot, "agentStop") => Some("echo '{\"decision\": \"block\", \"reason\": \"go on\"}'"),
        _ => None,
    }
}

/// With `of_tools`, only what is sent after a tool is kept, under names that end with it.
fn collect(
    folder: &Path,
    root: &Path,
    of_tools: Option<&str>,
    recorded: &mut Recorded,
) -> Result<(), Failure> {
    let entries = fs::read_dir(folder).map_err(|error| Failure::on("list", folder, error))?;
    let mut files = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|error| Failure::on("list", folder, error))?;
        let changed = entry.metadata().and_then(|data| data.modified());
        files.push((changed.map_err(|error| Failure::on("read", &entry.path(), error))?, entry.path()));
    }
    // The first payload of a kind is kept: of several stops the first is the ordinary one.
    files.sort();
    for (_, path) in &files {
        let file = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let text = fs::read_to_string(path).map_err(|error| Failure::on("read", path, error))?;
        if let Some(event) = file.strip_suffix(".names") {
            let names = text.lines().filter(|name| !is_own(name)).map(str::to_owned);
            recorded.variables.entry(event.to_owned()).or_default().extend(names);
        } else if let Some((event, _)) = file.rsplit_once(".payload.") {
            let payload = Json::parse(&text).map_err(|fault| Failure::on("read as JSON", path, fault))?;
            if !is_worth_keeping(&payload) {
                continue;
            }
            let mut name = fixture_name(event, &payload);
            if let Some(kind) = of_tools {
                let is_after = ["post", "after"].iter().any(|word| event.to_ascii_lowercase().contains(word));
                if !is_after || !is_of_tool(event) {
                    continue;
                }
                name = format!("{name}.{kind}");
            }
            let mut stable = Stable::new(root);
            recorded.payloads.entry(name).or_insert_with(|| stable.value("", payload));
        }
    }
    Ok(())
}

/// opencode reports every event to its plugins, in varying order; only those of sessions matter for hooks.
fn is_worth_keeping(payload: &Json) -> bool {
    let kind = payload.at("input.event.type").and_then(Json::as_text);
    kind.is_none_or(|kind| kind.starts_with("session."))
}

/// The event and its kind, from its payload: `PreToolUse.Write`.
fn fixture_name(event: &str, payload: &Json) -> String {
    let mut name = event.to_owned();
    for word in kinds(payload) {
        let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' };
        name = format!("{name}.{}", word.chars().map(plain).collect::<String>());
    }
    name
}

/// What makes two payloads of one event worth two fixtures.
fn kinds(payload: &Json) -> Vec<String> {
    let text = |key: &str| payload.at(key).and_then(Json::as_text).filter(|text| !text.is_empty());
    let keys = ["source", "trigger", "tool_name", "toolName", "input.tool", "input.event.type", "agent_type"];
    let mut kinds: Vec<String> =
        keys.iter().find_map(|key| text(key)).map(str::to_owned).into_iter().collect();
    if payload.at("tool_name").is_some() && payload.at("agent_id").is_some() {
        kinds.push("subagent".to_owned());
    }
    if payload.at("stop_hook_active").and_then(Json::as_bool) == Some(true) {
        kinds.push("again".to_owned());
    }
    if payload.at("background_tasks").and_then(Json::as_list).is_some_and(|tasks| !tasks.is_empty()) {
        kinds.push("busy".to_owned());
    }
    match text("prompt").and_then(|prompt| prompt.chars().next()) {
        Some('/') => kinds.push("command".to_owned()),
        Some('<') => kinds.push("machine".to_owned()),
        _ => {}
    }
    kinds
}

/// Writes fixtures that differ. An older version gets one only if its payload has other keys: texts and numbers
/// differ anyway.
fn keep(client: &Client, folder: &Path, fixtures: &BTreeMap<String, Json>) -> Result<(), Failure> {
    for (name, payload) in fixtures {
        let latest = folder.join(format!("{name}.json"));
        let path = match client.is_latest() {
            true => latest,
            false
                if fs::read_to_string(&latest).is_ok_and(|text| {
                    Json::parse(&text).is_ok_and(|other| shape(&other) == shape(payload))
                }) =>
            {
                continue;
            }
            false => folder.join(client.version).join(format!("{name}.json")),
        };
        let text = format!("{}\n", payload.render(JsonFormat::FILE));
        if fs::read_to_string(&path).ok().as_deref() != Some(text.as_str()) {
            println!("{} is new or changed", path.display());
            write(&path, &text)?;
        }
    }
    Ok(())
}

/// The keys of a payload, at all levels.
fn shape(value: &Json) -> String {
    match value {
        Json::Object(object) => {
            let mut members: Vec<String> =
                object.iter().map(|(key, value)| format!("{key}{}", shape(value))).collect();
            members.sort_unstable();
            format!("{{{}}}", members.join(","))
        }
        Json::List(items) if items.iter().all(|item| item.as_text().is_some()) => {
            let texts: Vec<&str> = items.iter().filter_map(Json::as_text).collect();
            format!("{texts:?}")
        }
        Json::List(items) => format!("[{}]", items.iter().map(shape).collect::<Vec<_>>().join(",")),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::Text(_) => String::new(),
    }
}

/// Replaces what differs between runs.
struct Stable {
    /// Paths of this machine with their placeholders, longest first.
    places: Vec<(String, &'static str)>,
    /// Ids in order of appearance: an id has the same placeholder throughout one payload.
    ids: Vec<String>,
}

impl Stable {
    fn new(root: &Path) -> Stable {
        let mut places = Vec::new();
        for (folder, name) in
            [("project", "<PROJECT>"), ("home", "<HOME>"), ("harness/plugin", "<PLUGIN>"), ("", "<SCRATCH>")]
        {
            let path = root.join(folder);
            let text = path.display().to_string();
            let text = text.trim_end_matches('/');
            // Claude Code names the folder of a project's sessions by its path.
            let slug: String =
                text.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
            places.push((text.to_owned(), name));
            places.push((slug, name));
        }
        Stable { places, ids: Vec::new() }
    }

    fn value(&mut self, key: &str, value: Json) -> Json {
        match value {
            Json::Text(_) if key == "slug" => Json::text("<SLUG>"),
            Json::Text(text) => Json::Text(self.text(&text)),
            Json::Number(number) => Json::Number(stable_number(key, number)),
            Json::List(items) => Json::List(items.into_iter().map(|item| self.value(key, item)).collect()),
            Json::Object(object) => {
                let members =
                    object.iter().map(|(key, value)| (key.to_owned(), self.value(key, value.clone())));
                Json::Object(members.collect())
            }
            Json::Null | Json::Bool(_) => value,
        }
    }

    fn text(&mut self, text: &str) -> String {
        let mut text = text.to_owned();
        for (found, name) in &self.places {
            text = text.replace(found.as_str(), name);
        }
        // A system prompt is long, belongs to the client and does not matter for hooks.
        if let Some((cut, _)) = text.char_indices().nth(TEXT_LIMIT) {
            text = format!("{}<CUT>", &text[..cut]);
        }
        let text = without_times(&text);
        let mut out = String::new();
        let mut word = String::new();
        for c in text.chars().chain(['\n']) {
            if c.is_ascii_alphanumeric() || "-_:.".contains(c) {
                word.push(c);
            } else {
                out.push_str(&self.word(&word));
                word.clear();
                out.push(c);
            }
        }
        out.pop();
        out
    }

    fn word(&mut self, word: &str) -> String {
        // Claude Code's folder for temporary files has the user id in its name.
        if word.strip_prefix("claude-").is_some_and(|number| number.parse::<u32>().is_ok()) {
            return "claude-<USER>".to_owned();
        }
        // An id may have a prefix and a suffix: `agent-<id>.jsonl`.
        let Some((start, length)) = id_within(word) else { return self.short(word) };
        let id = &word[start..start + length];
        let number = match self.ids.iter().position(|known| known == id) {
            Some(at) => at + 1,
            None => {
                self.ids.push(id.to_owned());
                self.ids.len()
            }
        };
        format!("{}<ID-{number}>{}", &word[..start], self.word(&word[start + length..]))
    }

    /// Gemini names a file by the first eight characters of the session's id.
    fn short(&self, word: &str) -> String {
        let known = self.ids.iter().enumerate().filter(|(_, id)| is_uuid(id));
        known.fold(word.to_owned(), |word, (at, id)| word.replace(&id[..8], &format!("<ID-{}>", at + 1)))
    }
}

/// Longer than any text of a scenario.
const TEXT_LIMIT: usize = 600;

/// Replaces dates, times and process ids that clients write into texts.
fn without_times(text: &str) -> String {
    let patterns = [
        ("dddd-dd-ddTdd:dd:dd.dddZ", "<TIME>"),
        ("dddd-dd-ddTdd-dd-dd-", "<TIME>-"),
        ("dddd-dd-ddTdd-dd-", "<TIME>-"),
        ("dddd/dd/dd/", "<DATE>/"),
        ("PGID: ddddddd", "PGID: <PID>"),
        ("PGID: dddddd", "PGID: <PID>"),
        ("PGID: ddddd", "PGID: <PID>"),
        ("PGID: dddd", "PGID: <PID>"),
    ];
    let mut out = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let found = patterns.iter().find(|(pattern, _)| begins_like(rest, pattern));
        match found {
            Some((pattern, name)) => {
                out.push_str(name);
                rest = &rest[pattern.len()..];
            }
            None => {
                out.push(first);
                rest = &rest[first.len_utf8()..];
            }
        }
    }
    out
}

/// Whether a text begins with a pattern in which `d` stands for a digit.
fn begins_like(text: &str, pattern: &str) -> bool {
    let bytes = text.as_bytes();
    pattern.bytes().enumerate().all(|(at, wanted)| {
        bytes.get(at).is_some_and(|byte| if wanted == b'd' { byte.is_ascii_digit() } else { *byte == wanted })
    })
}

/// The range of an id in a word: a run of letters and digits (with hyphens for UUIDs) that no person would write.
fn id_within(word: &str) -> Option<(usize, usize)> {
    let mut start = 0;
    for run in word.split(['.', '_', ':']) {
        if is_uuid(run) || is_random(run) {
            return Some((start, run.len()));
        }
        if let Some(cut) = run.rfind('-').map(|at| at + 1).filter(|cut| is_random(&run[*cut..])) {
            let uuid =
                run.len().checked_sub(36).filter(|at| run.is_char_boundary(*at) && is_uuid(&run[*at..]));
            let from = uuid.unwrap_or(cut);
            return Some((start + from, run.len() - from));
        }
        start += run.len() + 1;
    }
    None
}

fn is_uuid(run: &str) -> bool {
    let groups: Vec<&str> = run.split('-').collect();
    let lengths: Vec<usize> = groups.iter().map(|group| group.len()).collect();
    lengths == [8, 4, 4, 4, 12] && groups.concat().chars().all(|c| c.is_ascii_hexdigit())
}

/// Whether it is long and mixes letters and digits.
fn is_random(run: &str) -> bool {
    let digits = run.chars().filter(char::is_ascii_digit).count();
    let letters = run.chars().filter(char::is_ascii_alphabetic).count();
    run.len() >= 12 && digits + letters == run.len() && digits >= 2 && letters >= 2
}

/// Times and durations are replaced by 0.
fn stable_number(key: &str, number: String) -> String {
    let key = key.to_ascii_lowercase();
    let measured =
        ["duration", "seconds", "timestamp", "tokens", "time", "created", "updated", "start", "end"];
    let since_epoch = number.parse::<f64>().is_ok_and(|number| number > 1e9);
    if since_epoch || measured.iter().any(|word| key.contains(word)) { "0".to_owned() } else { number }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fixture_is_named_by_its_event_and_kind() {
        for (event, payload, expected) in [
            ("Stop", r#"{"stop_hook_active":false}"#, "Stop"),
            ("Stop", r#"{"stop_hook_active":true}"#, "Stop.again"),
            ("SessionStart", r#"{"source":"resume"}"#, "SessionStart.resume"),
            ("PreToolUse", r#"{"tool_name":"Write"}"#, "PreToolUse.Write"),
            (
                "PreToolUse",
                r#"{"tool_name":"Bash","agent_id":"a","agent_type":"x"}"#,
                "PreToolUse.Bash.subagent",
            ),
            ("PreToolUse", r#"{"tool_name":"../x"}"#, "PreToolUse..._x"),
            ("Stop", r#"{"background_tasks":[{}]}"#, "Stop.busy"),
            ("UserPromptSubmit", r#"{"prompt":"<task-notification>"}"#, "UserPromptSubmit.machine"),
            ("SubagentStop", r#"{"agent_type":""}"#, "SubagentStop"),
            ("event", r#"{"input":{"event":{"type":"session.idle"}}}"#, "event.session.idle"),
        ] {
            assert_eq!(fixture_name(event, &Json::parse(payload).unwrap()), expected);
        }
    }

    #[test]
    fn what_differs_from_run_to_run_is_replaced() {
        let mut stable = Stable::new(Path::new("/var/scratch-7"));
        for (text, expected) in [
            ("/var/scratch-7/project/a.txt", "<PROJECT>/a.txt"),
            (
                "/var/scratch-7/home/.claude/projects/-var-scratch-7-project/x",
                "<HOME>/.claude/projects/<PROJECT>/x",
            ),
            ("7b23aa01-0a1b-4c2d-8e3f-001122334455", "<ID-1>"),
            ("again 7b23aa01-0a1b-4c2d-8e3f-001122334455.jsonl", "again <ID-1>.jsonl"),
            ("agent-aa71b2c3d4e5f6071.jsonl", "agent-<ID-2>.jsonl"),
            ("ses_2f81aaffeQd3kXw", "ses_<ID-3>"),
            ("at 2026-11-15T18:22:39.871Z", "at <TIME>"),
            (
                "sessions/2026/11/15/rollout-2026-11-15T23-29-28-aa71b2c3d4e5f6071.jsonl",
                "sessions/<DATE>/rollout-<TIME>-<ID-2>.jsonl",
            ),
            ("chats/session-2026-11-15T23-29-7b23aa01.jsonl", "chats/session-<TIME>-<ID-1>.jsonl"),
            ("temp/claude-1000/tasks", "temp/claude-<USER>/tasks"),
            ("Process Group PGID: 22053", "Process Group PGID: <PID>"),
            ("toolu_stub00011 stays", "toolu_stub00011 stays"),
            ("write a decision-record-of-2026", "write a decision-record-of-2026"),
        ] {
            assert_eq!(stable.text(text), expected, "{text}");
        }
        assert_eq!(stable_number("duration_ms", "126".to_owned()), "0");
        assert_eq!(stable_number("timestamp", "1763231231231".to_owned()), "0");
        assert_eq!(stable_number("numLines", "2".to_owned()), "2");
    }

    #[test]
    fn shapes_are_keys_not_values() {
        let shape = |text| shape(&Json::parse(text).unwrap());
        assert_eq!(shape(r#"{"a":1,"b":{"c":"x"}}"#), shape(r#"{"b":{"c":"y"},"a":2}"#));
        assert_ne!(shape(r#"{"a":1}"#), shape(r#"{"a":1,"b":2}"#));
        assert_ne!(shape(r#"["A"]"#), shape(r#"["A","B"]"#));
    }
}
