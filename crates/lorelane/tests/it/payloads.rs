//! The payloads that real clients sent (`cargo xtask clients --record`), and broken ones.

use crate::scratch::{Said, Scratch};
use lorelane_core::json::{Json, JsonFormat};
use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};

const CLIENTS: [&str; 4] = ["claude-code", "codex", "gemini", "copilot"];
const PROMPT: &str = "how do we sign sessions in this project?";
const BY_HAND: &str = ".claude/memory/decisions/by-hand.json";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/payloads")
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file())
        // What was recorded beside payloads.
        .filter(|path| !["environment.json", "delivery.json"].iter().any(|name| path.ends_with(name)))
        .collect();
    files.sort();
    files
}

/// Our name of a client's event; `None` for one that is not registered.
fn event(name: &str) -> Option<&'static str> {
    Some(match name.split('.').next()? {
        "SessionStart" | "sessionStart" => "session-start",
        "UserPromptSubmit" | "BeforeAgent" | "userPromptSubmitted" => "prompt",
        "PreToolUse" | "BeforeTool" | "preToolUse" => "before-tool",
        "PostToolUse" | "AfterTool" | "postToolUse" => "after-tool",
        "PostToolUseFailure" => "tool-failure",
        "Stop" | "AfterAgent" | "agentStop" => "stop",
        "PreCompact" | "PreCompress" => "pre-compact",
        "SessionEnd" | "sessionEnd" => "session-end",
        _ => return None,
    })
}

/// A recorded payload with this scratch folder in the place of the one it was recorded in.
fn recorded(scratch: &Scratch, file: &Path) -> Json {
    let text = fs::read_to_string(file).unwrap();
    let text = text.replace("<PROJECT>", scratch.project().to_str().unwrap());
    Json::parse(&text.replace("<HOME>", scratch.home().to_str().unwrap())).unwrap()
}

fn store() -> Scratch {
    let scratch = Scratch::with_store();
    let line = "create decision --title 'Sign sessions with PASETO' --tag auth --set context=c --set decision=d --set rationale=r";
    scratch.lorelane(line).expect(0);
    scratch
}

/// Every recorded event of every client, as `call` changes it, with what came back.
fn each(scratch: &Scratch, call: &dyn Fn(&str, &mut Json), seen: &dyn Fn(&str, &str, &str, &Said)) -> usize {
    let mut count = 0;
    for client in CLIENTS {
        for file in files(&folder().join(client)) {
            let name = file.file_stem().unwrap().to_str().unwrap().to_owned();
            let Some(event) = event(&name) else { continue };
            let mut payload = recorded(scratch, &file);
            call(event, &mut payload);
            let said = scratch.hook_of(client, event, &payload.render(JsonFormat::LINE));
            seen(client, event, &name, &said);
            count += 1;
        }
    }
    count
}

#[test]
fn every_recorded_event_is_taken_as_it_came() {
    let scratch = store();
    let count = each(&scratch, &|_, _| {}, &|client, _, name, said| {
        assert_eq!((said.code, said.text().as_str()), (Some(0), ""), "{client} {name}");
    });
    assert!(count > 40, "{count} payloads");
}

#[test]
fn every_client_is_reminded_at_a_prompt() {
    let scratch = store();
    let ask = |event: &str, payload: &mut Json| {
        if let (Json::Object(object), "prompt") = (payload, event) {
            let machine = object.text("prompt").is_some_and(|prompt| prompt.starts_with(['<', '/']));
            if !machine {
                object.set("prompt", Json::text(PROMPT));
            }
        }
    };
    each(&scratch, &ask, &|client, event, name, said| {
        let machine = name.ends_with(".machine") || name.ends_with(".command");
        let reminded =
            said.out.contains("<lorelane-memory>") && said.out.contains("sign-sessions-with-paseto");
        assert_eq!(reminded, event == "prompt" && !machine, "{client} {name}: {}", said.text());
        // The recordings have few session ids, and a session is reminded of a memory only once.
        for project in fs::read_dir(scratch.home().join("state/projects")).into_iter().flatten() {
            let _ = fs::remove_file(project.unwrap().path().join("ledger.jsonl"));
        }
    });
}

/// Puts another path or command into a tool's input, wherever the client has it.
fn aim(value: &mut Json) {
    let Json::Object(object) = value else { return };
    for key in ["file_path", "notebook_path", "path"] {
        if object.contains(key) {
            object.set(key, Json::text(BY_HAND));
        }
    }
    if object.contains("command") {
        object.set("command", Json::text(format!("echo '{{}}' > {BY_HAND}")));
    }
    for key in ["tool_input", "toolArgs"] {
        if let Some(inner) = object.get_mut(key) {
            aim(inner);
        }
    }
}

#[test]
fn every_client_is_told_in_its_form_that_a_hand_written_memory_is_denied() {
    let scratch = store();
    let hand_write = |event: &str, payload: &mut Json| {
        if event == "before-tool" {
            aim(payload);
        }
    };
    each(&scratch, &hand_write, &|client, event, name, said| {
        let reads = ["Read", "view", "read_file", "Agent"].iter().any(|tool| name.contains(tool));
        let (denied, form) = match client {
            "gemini" => ("\"decision\": \"deny\"", "\"reason\""),
            "copilot" => ("\"permissionDecision\": \"deny\"", "\"permissionDecisionReason\""),
            _ => ("\"permissionDecision\": \"deny\"", "\"hookEventName\": \"PreToolUse\""),
        };
        let is_denied =
            said.out.contains(denied) && said.out.contains(form) && said.out.contains("lorelane create");
        assert_eq!(is_denied, event == "before-tool" && !reads, "{client} {name}: {}", said.text());
        assert_eq!(said.code, Some(0));
    });
}

/// Codex does not tell whether a command failed.
#[test]
fn a_runbook_comes_with_the_recorded_failure_of_every_client_that_tells() {
    let scratch = store();
    let line = "create runbook --title 'Free the disk' --set 'trigger=a full disk' --set 'steps=[\"Prune\"]' \
                --set 'verification=df' --set 'symptoms=[\"no space left on device\"]'";
    scratch.lorelane(line).expect(0);
    scratch.hook("prompt", &[("prompt", Json::text("hello"))]).expect(0);
    let count = Cell::new(0);
    let own_session = |_: &str, payload: &mut Json| {
        let Json::Object(object) = payload else { return };
        count.set(count.get() + 1);
        for key in ["session_id", "sessionId"] {
            if object.contains(key) {
                object.set(key, Json::text(format!("s-{}", count.get())));
            }
        }
    };
    each(&scratch, &own_session, &|client, _, name, said| {
        let comes = said.out.contains("runbook/free-the-disk") && said.out.contains("additionalContext");
        assert_eq!(comes, name.ends_with(".failed") && client != "codex", "{client} {name}: {}", said.text());
    });
}

#[test]
fn every_client_that_can_go_on_is_asked_in_its_form() {
    const SAID: &str = "We decided to use pnpm over npm because the links are strict.";
    let scratch = store();
    let lines = [
        ("transcript_path", "claude-code", r#"{"type":"user","message":{"content":SAID}}"#),
        (
            "transcript_path",
            "codex",
            r#"{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":SAID}]}}"#,
        ),
        ("transcript_path", "gemini", r#"{"id":"d","type":"user","content":SAID}"#),
        ("transcriptPath", "copilot", r#"{"type":"user.message","data":{"content":SAID}}"#),
    ];
    for (key, client, line) in lines {
        let transcript = scratch.folder.join(format!("{client}.jsonl"));
        let said = Json::text(SAID).render(JsonFormat::LINE);
        fs::write(&transcript, format!("{}\n", line.replace("SAID", &said))).unwrap();
        let stops = files(&folder().join(client));
        let stop =
            stops.iter().find(|file| event(file.file_stem().unwrap().to_str().unwrap()) == Some("stop"));
        let Json::Object(mut payload) = recorded(&scratch, stop.unwrap()) else { panic!("an object") };
        payload.set(key, Json::text(transcript.to_str().unwrap()));
        payload.set("stop_hook_active", Json::Bool(false));
        let session = if client == "copilot" { "sessionId" } else { "session_id" };
        payload.remove("background_tasks");
        payload.remove("last_assistant_message");
        payload.remove("prompt_response");
        let mut stop = |name: &str, vars: &[(&str, &str)]| {
            payload.set(session, Json::text(format!("{client}-{name}")));
            let payload = Json::Object(payload.clone()).render(JsonFormat::LINE);
            scratch.hook_with(client, "stop", &payload, vars)
        };
        // Nothing here tells that somebody is there, which only Claude Code would tell in another way.
        let unasked = stop("alone", &[("CLAUDE_CODE_SESSION_ATTENDED", "0")]);
        assert_eq!((unasked.code, unasked.text().as_str()), (Some(0), ""), "{client}");
        let said = stop("asked", &[("LORELANE_STOP_UNATTENDED", "ask")]);
        let (text, code) = match client {
            "codex" => (said.err.clone(), Some(2)),
            _ => (said.out.clone(), Some(0)),
        };
        assert_eq!(said.code, code, "{client}: {}", said.text());
        assert!(
            text.contains("something worth remembering") && text.contains("decision (transcript line 1)"),
            "{client}: {text}"
        );
        let form = match client {
            "claude-code" => "\"hookEventName\": \"Stop\", \"additionalContext\": ",
            // Angle brackets would reach the model escaped.
            "codex" => "as a here-document, its delimiter EOF quoted:\nitem: ",
            "gemini" => "\"decision\": \"deny\"",
            "copilot" => "\"decision\": \"block\"",
            _ => "",
        };
        assert!(text.contains(form), "{client}: {text}");
    }
}

#[test]
fn broken_payloads_disturb_no_client() {
    let scratch = store();
    let events = [
        "session-start",
        "prompt",
        "before-tool",
        "after-tool",
        "tool-failure",
        "stop",
        "pre-compact",
        "session-end",
    ];
    let broken = files(&folder().join("broken"));
    assert!(broken.len() > 20);
    for (number, file) in broken.iter().enumerate() {
        let bytes = fs::read(file).unwrap();
        let client = CLIENTS[number % CLIENTS.len()];
        for event in events {
            let said = scratch.hook_bytes(client, event, &bytes, &[]);
            assert_eq!(said.code, Some(0), "{client} {event} {}: {}", file.display(), said.text());
            assert_eq!(said.err, "", "{client} {event} {}", file.display());
        }
    }
}
