//! The bytes of the JSON files that the engine writes beside memories, and what is read of damaged or older ones.

use crate::store::Temp;
use crate::tiny_model;
use expect_test::{Expect, expect};
use lorelane_core::time::Timestamp;
use lorelane_engine::captures::{Captures, UnreadTranscript};
use lorelane_engine::disk::sim::SimDisk;
use lorelane_engine::disk::{Disk, RealDisk};
use lorelane_engine::env::Env;
use lorelane_engine::model::ModelStore;
use lorelane_engine::setup::{Client, FileStep, Setup, SetupMode};
use lorelane_engine::workspace::{ProjectLocation, Workspace, init_on};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

fn env(home: &Path) -> Env {
    let vars = [("HOME", home.to_owned()), ("LORELANE_HOME", home.join("l"))];
    let vars = vars.map(|(name, path)| (name.to_owned(), path.to_str().unwrap().to_owned()));
    Env { now: Timestamp(1_772_000_000), cwd: home.to_owned(), vars: BTreeMap::from(vars) }
}

/// What each change of a text is read as; each is replaced once in the whole text.
fn check_read(whole: &str, changes: &[(&str, &str)], read: impl Fn(&str) -> String, expected: &Expect) {
    let changed = |(old, new): &(&str, &str)| {
        assert!(whole.contains(old), "{old} is not in {whole}");
        format!("{old} -> {new}: {}\n", read(&whole.replacen(old, new, 1)))
    };
    expected.assert_eq(&changes.iter().map(changed).collect::<String>());
}

#[test]
fn a_transcript_to_be_read_again_is_named_by_one_line() {
    let temp = Temp::new();
    let captures = Captures::new(Arc::new(RealDisk), temp.0.join("captures"));
    let transcript = temp.0.join("größe \"1\".jsonl");
    fs::write(&transcript, "0123456789").unwrap();
    let unread = UnreadTranscript {
        session: "s \"1\"".to_owned(),
        client: "claude-code".to_owned(),
        path: transcript,
        length: 9,
    };
    captures.put_unread(&unread).unwrap();
    let file = captures.beside(&unread.session, "unread");
    let written = fs::read_to_string(&file).unwrap();
    let folder = temp.0.to_str().unwrap();
    expect![[
        r#"{"session": "s \"1\"", "client": "claude-code", "path": "~/größe \"1\".jsonl", "length": 9}"#
    ]]
    .assert_eq(&written.replace(folder, "~"));
    let read = |text: &str| {
        fs::write(&file, text).unwrap();
        format!("{:?}", captures.take_unread()).replace(folder, "~")
    };
    let changes = [
        ("{", " {"),
        ("{", "{\"new\": [1], \"length\": 7, "),
        (": 9", ": 9.0"),
        (": 9", ": 10"),
        (": 9", ": \"9\""),
        (": 9", ": -1"),
        ("\"claude-code\"", "null"),
        (", \"length\": 9", ""),
        ("}", ""),
        ("{", "[{"),
    ];
    check_read(
        &written,
        &changes,
        read,
        &expect![[r#"
            { ->  {: [UnreadTranscript { session: "s \"1\"", client: "claude-code", path: "~/größe \"1\".jsonl", length: 9 }]
            { -> {"new": [1], "length": 7, : [UnreadTranscript { session: "s \"1\"", client: "claude-code", path: "~/größe \"1\".jsonl", length: 9 }]
            : 9 -> : 9.0: [UnreadTranscript { session: "s \"1\"", client: "claude-code", path: "~/größe \"1\".jsonl", length: 9 }]
            : 9 -> : 10: []
            : 9 -> : "9": []
            : 9 -> : -1: []
            "claude-code" -> null: []
            , "length": 9 -> : []
            } -> : []
            { -> [{: []
        "#]],
    );
}

#[test]
fn an_added_model_is_recorded_with_the_digests_of_its_files() {
    let temp = Temp::new();
    tiny_model::write(&temp.0.join("größe"), 0);
    let models = ModelStore::new(Arc::new(RealDisk), env(&temp.0).folders().as_ref()).unwrap();
    models.add(&temp.0.join("größe")).unwrap();
    let file = temp.0.join("l/data/models/model.json");
    let written = fs::read_to_string(&file).unwrap();
    expect![[r#"
        {
          "id": "bert-0f055f19e26fa065",
          "from": "größe",
          "files": [
            {
              "name": "config.json",
              "bytes": 186,
              "blake3": "c5e4944f2c8119a0a016de612d03a39a9d39e77a2acd843e560d72df00eebf8b"
            },
            {
              "name": "vocab.txt",
              "bytes": 77,
              "blake3": "46e0fccd288a44e35c2712b52e878d8105eb6b9c78ca2d3806a95b964bd0de17"
            },
            {
              "name": "model.safetensors",
              "bytes": 9065,
              "blake3": "ab6cf8b770141dfa4245ead0a022d7fca57a879c204e8086b83fafb57577c677"
            }
          ]
        }
    "#]]
    .assert_eq(&written);
    let read = |text: &str| {
        fs::write(&file, text).unwrap();
        match models.added() {
            Ok(model) => {
                model.map_or_else(String::new, |model| format!("{} {}", model.from, model.files.len()))
            }
            Err(_) => "damaged".to_owned(),
        }
    };
    let changes = [
        ("{", "{\"new\": null,"),
        ("\"from\": \"größe\"", "\"from\": 7"),
        ("\"from\": \"größe\",", ""),
        ("bert-", "../bert-"),
        ("bert-", "bert-x"),
        ("\"bytes\": ", "\"bytes\": -"),
        ("\"bytes\": ", "\"bytes\": 1.0, \"size\": "),
        ("\"bytes\"", "\"size\""),
        ("[", "[7,"),
        ("\"files\": [", "\"files\": 7, \"old\": ["),
        ("{", ""),
    ];
    check_read(
        &written,
        &changes,
        read,
        &expect![[r#"
        { -> {"new": null,: größe 3
        "from": "größe" -> "from": 7: damaged
        "from": "größe", -> : damaged
        bert- -> ../bert-: damaged
        bert- -> bert-x: damaged
        "bytes":  -> "bytes": -: damaged
        "bytes":  -> "bytes": 1.0, "size": : größe 3
        "bytes" -> "size": damaged
        [ -> [7,: damaged
        "files": [ -> "files": 7, "old": [: damaged
        { -> : damaged
    "#]],
    );
}

/// A project on a simulated disk whose settings need trust.
fn cloned(settings: &[(&str, &str)]) -> (Arc<dyn Disk>, Env) {
    let disk = SimDisk::new(1);
    disk.create_dir_all(Path::new("/p/.claude/memory")).unwrap();
    for (path, text) in settings {
        disk.create_new(Path::new(path), text.as_bytes(), None).unwrap();
    }
    (Arc::new(disk), env(Path::new("/h")))
}

fn text(disk: &dyn Disk, path: &Path) -> String {
    String::from_utf8(disk.read(path).unwrap().unwrap()).unwrap()
}

#[test]
fn a_new_store_has_every_default_in_its_configuration() {
    let (disk, env) = cloned(&[]);
    init_on(&disk, &env, Path::new("/p")).unwrap();
    expect![[r#"
        {
          "memory_root": ".claude/memory",
          "categories": {
            "session_summary": {
              "enabled": true,
              "folder": "sessions",
              "auto_capture": true,
              "retention_days": 90,
              "max_retained": 5
            },
            "decision": {
              "enabled": true,
              "folder": "decisions",
              "auto_capture": true,
              "retention_days": 0
            },
            "runbook": {
              "enabled": true,
              "folder": "runbooks",
              "auto_capture": true,
              "retention_days": 0
            },
            "constraint": {
              "enabled": true,
              "folder": "constraints",
              "auto_capture": true,
              "retention_days": 0
            },
            "tech_debt": {
              "enabled": true,
              "folder": "tech-debt",
              "auto_capture": true,
              "retention_days": 0
            },
            "preference": {
              "enabled": true,
              "folder": "preferences",
              "auto_capture": true,
              "retention_days": 0
            }
          },
          "auto_commit": false,
          "max_memories_per_category": 100,
          "retrieval": {
            "enabled": true,
            "max_inject": 5,
            "match_strategy": "title_tags"
          },
          "triage": {
            "enabled": true,
            "max_messages": 50,
            "thresholds": {
              "session_summary": 0.6,
              "decision": 0.4,
              "runbook": 0.4,
              "constraint": 0.5,
              "tech_debt": 0.4,
              "preference": 0.4
            },
            "parallel": {
              "enabled": true,
              "category_models": {
                "session_summary": "haiku",
                "decision": "sonnet",
                "runbook": "haiku",
                "constraint": "sonnet",
                "tech_debt": "haiku",
                "preference": "haiku"
              },
              "verification_model": "sonnet",
              "default_model": "haiku"
            }
          },
          "delete": {
            "grace_period_days": 30,
            "archive_retired": true
          }
        }
    "#]]
    .assert_eq(&text(&*disk, Path::new("/p/.claude/memory/memory-config.json")));
}

#[test]
fn trust_is_recorded_with_the_values_that_it_covers() {
    let (disk, env) = cloned(&[
        (
            "/p/.claude/memory/memory-config.json",
            r#"{"memory_root": "größe", "auto_commit": true, "delete": {"grace_period_days": 7}}"#,
        ),
        ("/p/lorelane.toml", "secrets = \"allow\"\n"),
    ]);
    let located = ProjectLocation {
        project: "/p".into(),
        lane: "/p/größe".into(),
        root_from_project: "größe".to_owned(),
        has_notes: false,
    };
    let mut workspace = Workspace::open_on(Arc::clone(&disk), &env, located).unwrap();
    workspace.settings().trust().unwrap();
    let mut files = Vec::new();
    for folder in disk.list(Path::new("/h/l/state/trust")).unwrap().unwrap() {
        let folder = Path::new("/h/l/state/trust").join(folder.name);
        files.extend(disk.list(&folder).unwrap().unwrap().into_iter().map(|file| folder.join(file.name)));
    }
    let texts: Vec<String> = files.iter().map(|file| text(&*disk, file)).collect();
    expect![[r#"
        {
          "v": 1,
          "repository": "/p",
          "at": "2026-02-25T06:13:20Z",
          "because": "trust",
          "settings": {
            "auto_commit": true,
            "delete.grace_period_days": 7,
            "memory_root": "größe",
            "secrets": "allow"
          }
        }
    "#]]
    .assert_eq(&texts.concat());
}

fn installed(temp: &Temp, client: Client) -> Setup {
    let setup = Setup::new(&env(&temp.0), Path::new("/a'b\"c")).unwrap();
    setup.carry_out(&setup.plan(client, SetupMode::Install, &[]).unwrap()).unwrap();
    setup
}

fn put(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

#[test]
fn what_is_put_into_settings_is_what_each_client_expects() {
    let temp = Temp::new();
    let folder = temp.0.to_str().unwrap();
    let files = [
        (Client::ClaudeCode, ".claude/settings.json"),
        (Client::ClaudeCode, ".claude/plugins/known_marketplaces.json"),
        (Client::Codex, ".codex/hooks.json"),
        (Client::Codex, ".codex/config.toml"),
        (Client::Gemini, ".gemini/settings.json"),
        (Client::Copilot, ".copilot/hooks/lorelane.json"),
        (Client::Copilot, ".copilot/mcp-config.json"),
        (Client::Opencode, ".config/opencode/opencode.json"),
        (Client::Opencode, ".config/opencode/plugins/lorelane.js"),
        (Client::Cursor, ".cursor/mcp.json"),
        (Client::Windsurf, ".codeium/windsurf/mcp_config.json"),
        (Client::Zed, ".config/zed/settings.json"),
    ];
    for (_, path) in files.iter().filter(|(_, path)| path.ends_with(".json")) {
        put(&temp.0.join(path), "{\"a\": {\"b\": 1}}\n");
    }
    let mut written = String::new();
    for (client, path) in files {
        installed(&temp, client);
        let text = fs::read_to_string(temp.0.join(path)).unwrap().replace(folder, "~");
        let lines = text.lines().filter(|line| !path.ends_with(".js") || line.contains("PROGRAM ="));
        written.push_str(&format!("{path}\n{}\n", lines.collect::<Vec<_>>().join("\n")));
    }
    expect![[r#"
        .claude/settings.json
        {"a": {"b": 1},"extraKnownMarketplaces": {"lorelane": {"source": {"source": "directory", "path": "~/l/state/agents/claude-code"}}},"enabledPlugins": {"lorelane@lorelane": true}}
        .claude/plugins/known_marketplaces.json
        {"a": {"b": 1},"lorelane": {"source": {"source": "directory", "path": "~/l/state/agents/claude-code"}, "installLocation": "~/l/state/agents/claude-code", "lastUpdated": "2026-01-01T00:00:00.000Z"}}
        .codex/hooks.json
        {"a": {"b": 1},"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "[ -x '/a'\\''b\"c' ] || exit 0; exec '/a'\\''b\"c' hook session-start --client codex", "timeout": 5}]}],"UserPromptSubmit": [{"hooks": [{"type": "command", "command": "[ -x '/a'\\''b\"c' ] || exit 0; exec '/a'\\''b\"c' hook prompt --client codex", "timeout": 5}]}],"PreToolUse": [{"hooks": [{"type": "command", "command": "[ -x '/a'\\''b\"c' ] || exit 0; exec '/a'\\''b\"c' hook before-tool --client codex", "timeout": 5}]}],"PostToolUse": [{"hooks": [{"type": "command", "command": "[ -x '/a'\\''b\"c' ] || exit 0; exec '/a'\\''b\"c' hook after-tool --client codex", "timeout": 5}]}],"Stop": [{"hooks": [{"type": "command", "command": "[ -x '/a'\\''b\"c' ] || exit 0; exec '/a'\\''b\"c' hook stop --client codex", "timeout": 10}]}],"PreCompact": [{"hooks": [{"type": "command", "command": "[ -x '/a'\\''b\"c' ] || exit 0; exec '/a'\\''b\"c' hook pre-compact --client codex", "timeout": 10}]}],"SessionEnd": [{"hooks": [{"type": "command", "command": "[ -x '/a'\\''b\"c' ] || exit 0; exec '/a'\\''b\"c' hook session-end --client codex", "timeout": 3}]}]}}
        .codex/config.toml
        [mcp_servers.lorelane]
        command = """/a'b"c"""
        args = ["mcp"]
        .gemini/settings.json
        {"a": {"b": 1},"hooks": {"SessionStart": [{"hooks": [{"name": "lorelane-session-start", "type": "command", "command": "[ -x '/a'\\''b\"c' ] || exit 0; exec '/a'\\''b\"c' hook session-start --client gemini", "timeout": 5000}]}],"BeforeAgent": [{"hooks": [{"name": "lorelane-prompt", "type": "command", "command": "[ -x '/a'\\''b\"c' ] || exit 0; exec '/a'\\''b\"c' hook prompt --client gemini", "timeout": 5000}]}],"BeforeTool": [{"matcher": "write_file|replace|edit|run_shell_command|mcp_.*(write|move|create|delete|remove|rename|append|insert|patch|save|update|put|copy)", "hooks": [{"name": "lorelane-before-tool", "type": "command", "command": "[ -x '/a'\\''b\"c' ] || exit 0; exec '/a'\\''b\"c' hook before-tool --client gemini", "timeout": 5000}]}],"AfterTool": [{"matcher": "write_file|replace|edit|run_shell_command|mcp_.*(write|move|create|delete|remove|rename|append|insert|patch|save|update|put|copy)", "hooks": [{"name": "lorelane-after-tool", "type": "command", "command": "[ -x '/a'\\''b\"c' ] || exit 0; exec '/a'\\''b\"c' hook after-tool --client gemini", "timeout": 5000}]}],"AfterAgent": [{"hooks": [{"name": "lorelane-stop", "type": "command", "command": "[ -x '/a'\\''b\"c' ] || exit 0; exec '/a'\\''b\"c' hook stop --client gemini", "timeout": 10000}]}],"SessionEnd": [{"hooks": [{"name": "lorelane-session-end", "type": "command", "command": "[ -x '/a'\\''b\"c' ] || exit 0; exec '/a'\\''b\"c' hook session-end --client gemini", "timeout": 3000}]}]},"mcpServers": {"lorelane": {"command": "/a'b\"c", "args": ["mcp"]}}}
        .copilot/hooks/lorelane.json
        {"a": {"b": 1},"version": 1,"hooks": {"sessionStart": [{"type": "command", "bash": "[ -x '/a'\\''b\"c' ] || exit 0; exec '/a'\\''b\"c' hook session-start --client copilot", "powershell": "& '/a''b\"c' hook session-start --client copilot", "timeoutSec": 5}],"userPromptSubmitted": [{"type": "command", "bash": "[ -x '/a'\\''b\"c' ] || exit 0; exec '/a'\\''b\"c' hook prompt --client copilot", "powershell": "& '/a''b\"c' hook prompt --client copilot", "timeoutSec": 5}],"preToolUse": [{"type": "command", "bash": "[ -x '/a'\\''b\"c' ] || exit 0; exec '/a'\\''b\"c' hook before-tool --client copilot", "powershell": "& '/a''b\"c' hook before-tool --client copilot", "timeoutSec": 5}],"postToolUse": [{"type": "command", "bash": "[ -x '/a'\\''b\"c' ] || exit 0; exec '/a'\\''b\"c' hook after-tool --client copilot", "powershell": "& '/a''b\"c' hook after-tool --client copilot", "timeoutSec": 5}],"agentStop": [{"type": "command", "bash": "[ -x '/a'\\''b\"c' ] || exit 0; exec '/a'\\''b\"c' hook stop --client copilot", "powershell": "& '/a''b\"c' hook stop --client copilot", "timeoutSec": 10}],"sessionEnd": [{"type": "command", "bash": "[ -x '/a'\\''b\"c' ] || exit 0; exec '/a'\\''b\"c' hook session-end --client copilot", "powershell": "& '/a''b\"c' hook session-end --client copilot", "timeoutSec": 3}]}}
        .copilot/mcp-config.json
        {"a": {"b": 1},"mcpServers": {"lorelane": {"command": "/a'b\"c", "args": ["mcp"], "type": "local", "tools": ["*"]}}}
        .config/opencode/opencode.json
        {"a": {"b": 1},"mcp": {"lorelane": {"type": "local", "command": ["/a'b\"c", "mcp"], "enabled": true}}}
        .config/opencode/plugins/lorelane.js
        const PROGRAM = "/a'b\"c"
        .cursor/mcp.json
        {"a": {"b": 1},"mcpServers": {"lorelane": {"command": "/a'b\"c", "args": ["mcp"]}}}
        .codeium/windsurf/mcp_config.json
        {"a": {"b": 1},"mcpServers": {"lorelane": {"command": "/a'b\"c", "args": ["mcp"]}}}
        .config/zed/settings.json
        {"a": {"b": 1},"context_servers": {"lorelane": {"command": "/a'b\"c", "args": ["mcp"]}}}
    "#]].assert_eq(&written);
}

#[test]
fn a_setup_is_recorded_so_that_it_can_be_taken_back() {
    let temp = Temp::new();
    let folder = temp.0.to_str().unwrap();
    put(&temp.0.join(".copilot/mcp-config.json"), "{}");
    let copilot = installed(&temp, Client::Copilot);
    let file = temp.0.join("l/state/agents/copilot.json");
    let written = fs::read_to_string(&file).unwrap();
    let shown = written.replace(folder, "~");
    let lines: Vec<&str> = shown.lines().collect();
    // All hooks are recorded like the first one.
    let shown = [&lines[..43], &["…"], &lines[lines.len() - 44..]].concat().join("\n");
    expect![[r#"
        {
          "v": 1,
          "program": "/a'b\"c",
          "files": [
            {
              "path": "~/.copilot/hooks/lorelane.json",
              "had": false,
              "wrote": "71f7560d97bf391533cdecd3660e6a5af7f49c6520e16bfdb8eeff5e431dccb5",
              "entries": [
                {
                  "path": [
                    "version"
                  ],
                  "item": false,
                  "value": 1,
                  "owned": "shared",
                  "says": null,
                  "added": true,
                  "made": 0,
                  "tail": "\n"
                },
                {
                  "path": [
                    "hooks",
                    "sessionStart"
                  ],
                  "item": true,
                  "value": {
                    "type": "command",
                    "bash": "[ -x '/a'\\''b\"c' ] || exit 0; exec '/a'\\''b\"c' hook session-start --client copilot",
                    "powershell": "& '/a''b\"c' hook session-start --client copilot",
                    "timeoutSec": 5
                  },
                  "owned": "says",
                  "says": "hook session-start --client copilot",
                  "added": true,
                  "made": 2,
                  "tail": ""
                },
                {
                  "path": [
                    "hooks",
                    "userPromptSubmitted"
        …
                  "added": true,
                  "made": 1,
                  "tail": ""
                }
              ]
            },
            {
              "path": "~/.copilot/mcp-config.json",
              "had": true,
              "wrote": "2c48c5f6563532d44480df8e9d7a4856598632c8cff608baff417e6c278bb2be",
              "entries": [
                {
                  "path": [
                    "mcpServers",
                    "lorelane"
                  ],
                  "item": false,
                  "value": {
                    "command": "/a'b\"c",
                    "args": [
                      "mcp"
                    ],
                    "type": "local",
                    "tools": [
                      "*"
                    ]
                  },
                  "owned": "says",
                  "says": "/a'b\"c",
                  "added": true,
                  "made": 1,
                  "tail": "\n"
                }
              ]
            }
          ],
          "folders": [
            "~/.copilot/hooks",
            "~/l",
            "~/l/state",
            "~/l/state/agents",
            "~/l/state/agents/backups"
          ]
        }"#]].assert_eq(&shown);
    installed(&temp, Client::ClaudeCode);
    let claude = fs::read_to_string(file.with_file_name("claude-code.json")).unwrap();
    assert!(claude.contains("\"owned\": \"named\",\n          \"says\": null,"), "{claude}");

    let read = |text: &str| {
        fs::write(&file, text).unwrap();
        let removal = copilot.plan(Client::Copilot, SetupMode::Remove, &[]);
        let removed = |step: &FileStep| {
            let after = step.after.as_ref().map_or("none".into(), |after| String::from_utf8_lossy(after));
            format!("{}={}", step.path.file_name().unwrap().to_str().unwrap(), after.trim_end())
        };
        let steps = removal.map(|plan| plan.steps.iter().map(removed).collect::<Vec<_>>().join(" "));
        steps.unwrap_or_else(|_| "damaged".to_owned())
    };
    let changes = [
        ("{", "{\"new\": [1],"),
        ("\"v\": 1,", ""),
        ("\"v\": 1", "\"v\": \"two\""),
        ("\"program\"", "\"programme\""),
        ("\"files\": [", "\"files\": 7, \"old\": ["),
        ("\"files\": [", "\"files\": [7,"),
        ("\"had\": true", "\"had\": \"yes\""),
        ("\"item\": false", "\"item\": 0"),
        ("\"version\"", "7"),
        ("[\n            \"version\"\n          ]", "\"version\""),
        ("\"owned\": \"shared\"", "\"owned\": \"else\""),
        ("\"owned\": \"shared\"", "\"owned\": \"says\""),
        ("\"says\": null", "\"says\": 7"),
        ("\"says\": null,", ""),
        ("\"value\": 1,", ""),
        ("\"made\": 0", "\"made\": 0.0"),
        ("\"made\": 0", "\"made\": -1"),
        ("\"tail\": \"\"", "\"tail\": null"),
        ("\"folders\": [", "\"folders\": [7,"),
        ("\"folders\": [", "\"folders\": 7, \"old\": ["),
        ("\"folders\"", "\"old\""),
        ("{", ""),
    ];
    check_read(
        &written,
        &changes,
        read,
        &expect![[r#"
        { -> {"new": [1],: lorelane.json=none mcp-config.json={}
        "v": 1, -> : lorelane.json=none mcp-config.json={}
        "v": 1 -> "v": "two": lorelane.json=none mcp-config.json={}
        "program" -> "programme": damaged
        "files": [ -> "files": 7, "old": [: damaged
        "files": [ -> "files": [7,: damaged
        "had": true -> "had": "yes": damaged
        "item": false -> "item": 0: damaged
        "version" -> 7: damaged
        [
                    "version"
                  ] -> "version": damaged
        "owned": "shared" -> "owned": "else": lorelane.json=none mcp-config.json={}
        "owned": "shared" -> "owned": "says": damaged
        "says": null -> "says": 7: lorelane.json=none mcp-config.json={}
        "says": null, -> : lorelane.json=none mcp-config.json={}
        "value": 1, -> : lorelane.json=none mcp-config.json={}
        "made": 0 -> "made": 0.0: lorelane.json=none mcp-config.json={}
        "made": 0 -> "made": -1: damaged
        "tail": "" -> "tail": null: damaged
        "folders": [ -> "folders": [7,: lorelane.json=none mcp-config.json={}
        "folders": [ -> "folders": 7, "old": [: lorelane.json=none mcp-config.json={}
        "folders" -> "old": lorelane.json=none mcp-config.json={}
        { -> : damaged
    "#]],
    );
}

#[test]
fn a_hook_is_timed_with_a_payload_in_the_words_of_its_client() {
    let temp = Temp::new();
    let (program, payloads) = (temp.0.join("lorelane"), temp.0.join("payloads"));
    fs::write(&program, format!("#!/bin/sh\ncat >> {}\n", payloads.display())).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let setup = Setup::new(&env(&temp.0), &program).unwrap();
    let project = temp.0.join("größe \"1\"");
    fs::create_dir(&project).unwrap();
    for client in [Client::Codex, Client::Copilot] {
        setup.carry_out(&setup.plan(client, SetupMode::Install, &[]).unwrap()).unwrap();
    }
    setup.latency(&project, 1).unwrap();
    let payloads = fs::read_to_string(payloads).unwrap();
    expect![[r#"
        {"session_id": "lorelane-doctor-latency", "cwd": "~/größe \"1\"", "transcript_path": "~/l/state/agents/latency.jsonl", "hook_event_name": "session-start", "source": "startup"}
        {"session_id": "lorelane-doctor-latency", "cwd": "~/größe \"1\"", "transcript_path": "~/l/state/agents/latency.jsonl", "hook_event_name": "prompt", "prompt": "How do the services authenticate to each other?"}
        {"session_id": "lorelane-doctor-latency", "cwd": "~/größe \"1\"", "transcript_path": "~/l/state/agents/latency.jsonl", "hook_event_name": "before-tool", "tool_name": "Bash", "tool_input": {"command": "cargo test --workspace"}}
        {"session_id": "lorelane-doctor-latency", "cwd": "~/größe \"1\"", "transcript_path": "~/l/state/agents/latency.jsonl", "hook_event_name": "after-tool", "tool_name": "Bash", "tool_input": {"command": "cargo test --workspace"}}
        {"session_id": "lorelane-doctor-latency", "cwd": "~/größe \"1\"", "transcript_path": "~/l/state/agents/latency.jsonl", "hook_event_name": "stop", "stop_hook_active": false, "last_assistant_message": "The tests pass."}
        {"session_id": "lorelane-doctor-latency", "cwd": "~/größe \"1\"", "transcript_path": "~/l/state/agents/latency.jsonl", "hook_event_name": "pre-compact", "trigger": "auto"}
        {"session_id": "lorelane-doctor-latency", "cwd": "~/größe \"1\"", "transcript_path": "~/l/state/agents/latency.jsonl", "hook_event_name": "session-end", "reason": "other"}
        {"sessionId": "lorelane-doctor-latency", "cwd": "~/größe \"1\"", "transcriptPath": "~/l/state/agents/latency.jsonl", "hookEventName": "session-start", "source": "startup"}
        {"sessionId": "lorelane-doctor-latency", "cwd": "~/größe \"1\"", "transcriptPath": "~/l/state/agents/latency.jsonl", "hookEventName": "prompt", "prompt": "How do the services authenticate to each other?"}
        {"sessionId": "lorelane-doctor-latency", "cwd": "~/größe \"1\"", "transcriptPath": "~/l/state/agents/latency.jsonl", "hookEventName": "before-tool", "toolName": "Bash", "toolArgs": "{\"command\": \"cargo test --workspace\"}"}
        {"sessionId": "lorelane-doctor-latency", "cwd": "~/größe \"1\"", "transcriptPath": "~/l/state/agents/latency.jsonl", "hookEventName": "after-tool", "toolName": "Bash", "toolArgs": "{\"command\": \"cargo test --workspace\"}"}
        {"sessionId": "lorelane-doctor-latency", "cwd": "~/größe \"1\"", "transcriptPath": "~/l/state/agents/latency.jsonl", "hookEventName": "stop", "stop_hook_active": false, "lastAssistantMessage": "The tests pass."}
        {"sessionId": "lorelane-doctor-latency", "cwd": "~/größe \"1\"", "transcriptPath": "~/l/state/agents/latency.jsonl", "hookEventName": "session-end", "reason": "other"}
    "#]].assert_eq(&payloads.replace(temp.0.to_str().unwrap(), "~"));
}
