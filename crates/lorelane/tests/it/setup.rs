//! Setup from outside: what goes into the files of agents comes out again, byte for byte.

use crate::scratch::{Said, Scratch};
use expect_test::expect;
use lorelane_core::digest::Revision;
use lorelane_core::json::Json;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

/// The clients that have hooks, each with the settings file that others write, too.
const CLIENTS: [(&str, &str); 5] = [
    ("claude-code", ".claude/settings.json"),
    ("codex", ".codex/hooks.json"),
    ("gemini", ".gemini/settings.json"),
    ("copilot", ".copilot/hooks/lorelane.json"),
    ("opencode", ".config/opencode/opencode.json"),
];

/// Settings as people have them.
const FOREIGN: [(&str, &str); 21] = [
    ("empty", ""),
    ("blank", " \n\n"),
    ("object", "{}"),
    ("object on two lines", "{\n}\n"),
    ("object with blanks", "{  }\n"),
    ("plain", "{\n  \"model\": \"opus\"\n}\n"),
    ("no last newline", "{\n  \"model\": \"opus\"\n}"),
    ("four blanks", "{\n    \"a\": {\n        \"b\": [1, 2]\n    }\n}\n"),
    ("tabs", "{\n\t\"a\": {\n\t\t\"b\": 1\n\t}\n}\n"),
    ("odd indent", "{\n \"a\": 1,\n      \"b\": 2\n   }\n"),
    ("one line", "{\"a\":1,\"b\":[]}\n"),
    ("crlf", "{\r\n  \"a\": 1,\r\n  \"b\": {}\r\n}\r\n"),
    ("bom", "\u{feff}{\n  \"a\": 1\n}\n"),
    ("line comments", "// head\n{\n  \"a\": 1 // why\n  // \"b\": 2\n}\n// foot\n"),
    ("block comments", "{ /* nothing, } yet */ }\n"),
    ("trailing comma", "{\n  \"a\": [\n    1,\n  ],\n}\n"),
    ("comma and comments", "{\n  \"a\": 1, // one\n  /* two */\n}\n"),
    (
        "hooks of others",
        "{\n  \"hooks\": {\n    \"Stop\": [\n      { \"hooks\": [ { \"type\": \"command\", \"command\": \"say done\" } ] }\n    ],\n    \"BeforeAgent\": [], // none\n    \"agentStop\": [],\n  }\n}\n",
    ),
    ("empty hooks", "{ \"hooks\": {} }"),
    (
        "plugins of others",
        "{\n  \"enabledPlugins\": { \"other@market\": true },\n  \"extraKnownMarketplaces\": {}\n}\n",
    ),
    (
        "escapes and numbers",
        "{\"k\\u00e9y\": 1.50e3, \"v\": \"\\ud83d\\ude00 // no comment\", \"version\": 1}",
    ),
];

/// The file of Codex that is not JSON, as people have it.
const CONFIG_TOML: &str = ".codex/config.toml";

const FOREIGN_TOML: [(&str, &str); 20] = [
    ("empty", ""),
    ("blank", " \n\n"),
    ("bom alone", "\u{feff}"),
    ("plain", "a = 1\n"),
    ("no blanks", "a=1\nb=2\n"),
    ("no last newline", "a=1"),
    ("many last newlines", "a = 1\n\n\n"),
    ("blanks at the end", "a = 1   \n  \t\n  "),
    ("crlf", "a=1\r\nb=2\r\n"),
    ("crlf, no last newline", "a=1\r\nb=2"),
    ("mixed line ends", "a=1\r\nb=2\n\r\n"),
    ("bom", "\u{feff}a=1\n"),
    ("bom and crlf", "\u{feff}# mine\r\na=1\r\n"),
    ("comments", "# head\na = 1 # why\n# b = 2\n"),
    ("comments alone", "# nothing but this"),
    ("odd indent", "   a   =    1\n\t[ t ]\n\t\tb=[ 1,\n 2, # two\n ]\n"),
    (
        "servers of others",
        "a = 1\n\n[mcp_servers.other] # x\ncommand = 'y'\n[mcp_servers.other.env]\nK = \"v\"\n",
    ),
    ("servers under one head", "a = 1\n[mcp_servers]\nother = { command = \"y\" }\n"),
    (
        "lists of tables",
        "a = 1\n[[t]]\nb = 1\n\n[[t]]\nb = 2\n[projects.\"/p q\"]\ntrust_level = \"trusted\"\n",
    ),
    (
        "long texts",
        "a = 1\nt = \"\"\"\none \\\n  two\n[mcp_servers.lorelane]\n\"\"\"\n\"k \\u00e9\".x = 1_000\n",
    ),
];

/// Every foreign settings file: client, file, name and text.
fn foreign() -> impl Iterator<Item = (&'static str, &'static str, &'static str, &'static str)> {
    let json = CLIENTS
        .into_iter()
        .flat_map(|(client, file)| FOREIGN.into_iter().map(move |(name, text)| (client, file, name, text)));
    json.chain(FOREIGN_TOML.into_iter().map(|(name, text)| ("codex", CONFIG_TOML, name, text)))
}

/// What is kept of the files that were there before.
fn backups(scratch: &Scratch) -> Vec<String> {
    let kept = fs::read_dir(home(scratch, "state/agents/backups")).unwrap();
    kept.map(|file| fs::read_to_string(file.unwrap().path()).unwrap()).collect()
}

fn home(scratch: &Scratch, path: &str) -> PathBuf {
    scratch.home().join(path)
}

fn put(scratch: &Scratch, path: &str, text: &str) -> PathBuf {
    let file = home(scratch, path);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, text).unwrap();
    file
}

/// Bytes, links, folders and modes.
fn state(scratch: &Scratch) -> BTreeMap<String, (Vec<u8>, u32)> {
    let tree = scratch.tree();
    let mode = |name: &str| fs::symlink_metadata(scratch.folder.join(name)).unwrap().mode();
    tree.into_iter().map(|(name, bytes)| (name.clone(), (bytes, mode(&name)))).collect()
}

fn without_program(said: &Said) -> String {
    said.text().replace(env!("CARGO_BIN_EXE_lorelane"), "/bin/lorelane")
}

#[test]
fn removal_gives_back_tree_and_bytes_of_every_settings_file() {
    for (client, file, name, text) in foreign() {
        let scratch = Scratch::new();
        let path = put(&scratch, file, text);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o440)).unwrap();
        let before = state(&scratch);
        scratch.lorelane(&format!("setup {client}")).expect(0);
        let after = state(&scratch);
        assert_ne!(before, after, "{file}, {name}");
        // Codex's TOML was read and written again: line ends and byte order mark were lost, in the backup too.
        assert_eq!(backups(&scratch), [text], "{file}, {name}: the backup");
        let again = scratch.lorelane(&format!("setup {client}")).expect(0);
        assert_eq!(again.out, format!("No change: {client} is already set up\n"));
        assert_eq!(state(&scratch), after, "{file}, {name}: a second setup");
        scratch.lorelane(&format!("setup --remove {client}")).expect(0);
        assert_eq!(state(&scratch), before, "{file}, {name}");
        scratch.lorelane(&format!("setup --remove {client}")).expect(0);
        assert_eq!(state(&scratch), before, "{file}, {name}: a second removal");
    }
}

#[test]
fn removal_leaves_no_trace_where_nothing_was() {
    let scratch = Scratch::new();
    let before = state(&scratch);
    for (client, _) in CLIENTS {
        scratch.lorelane(&format!("setup {client}")).expect(0);
    }
    // Not in the order of the setup: folders that the first one made are handed on.
    for (client, _) in CLIENTS {
        scratch.lorelane(&format!("setup --remove {client}")).expect(0);
    }
    assert_eq!(state(&scratch), before);
}

#[test]
fn what_somebody_writes_meanwhile_stays() {
    for (client, file) in CLIENTS.into_iter().filter(|(client, _)| *client != "opencode") {
        for (name, text) in FOREIGN.into_iter().filter(|(_, text)| text.contains("\"a\"")) {
            let scratch = Scratch::new();
            let path = put(&scratch, file, text);
            scratch.lorelane(&format!("setup {client}")).expect(0);
            let edited = fs::read_to_string(&path).unwrap().replace("\"a\"", "\"a of the user\"");
            fs::write(&path, edited).unwrap();
            let again = scratch.lorelane(&format!("setup {client}")).expect(0);
            assert_eq!(again.out, format!("No change: {client} is already set up\n"), "{name}");
            scratch.lorelane(&format!("setup --remove {client}")).expect(0);
            let expected = text.replace("\"a\"", "\"a of the user\"");
            assert_eq!(fs::read_to_string(&path).unwrap(), expected, "{client}, {name}");
        }
    }
}

#[test]
fn what_somebody_writes_meanwhile_into_toml_stays() {
    for (name, text) in FOREIGN_TOML.into_iter().filter(|(_, text)| text.contains('1')) {
        let scratch = Scratch::new();
        let path = put(&scratch, CONFIG_TOML, text);
        scratch.lorelane("setup codex").expect(0);
        let installed = fs::read_to_string(&path).unwrap();
        let ours = installed.strip_prefix(text).unwrap_or_else(|| panic!("{name}: {installed:?}"));
        let line_end = if text.contains("\r\n") { "\r\n" } else { "\n" };
        assert!(ours.split_inclusive('\n').all(|line| line.ends_with(line_end)), "{name}: {ours:?}");

        let edited = text.replacen('1', "1_2", 1);
        fs::write(&path, edited.clone() + ours).unwrap();
        scratch.lorelane("setup --remove codex").expect(0);
        assert_eq!(fs::read_to_string(&path).unwrap(), edited, "{name}");

        fs::write(&path, text).unwrap();
        scratch.lorelane("setup codex").expect(0);
        let behind = "[theirs]\nb = 3\n";
        fs::write(&path, format!("{installed}{behind}")).unwrap();
        scratch.lorelane("setup --remove codex").expect(0);
        let left = fs::read_to_string(&path).unwrap();
        // A last line without an end gets one: what was written behind it needs a line of its own.
        let end = if text.ends_with('\n') { "" } else { line_end };
        assert_eq!(left, format!("{text}{end}{behind}"), "{name}");
    }
}

// A record that is gone must not make our own entries foreign ones.
#[test]
fn what_is_surely_ours_goes_without_a_record() {
    for (client, file) in CLIENTS.into_iter().filter(|(client, _)| *client != "opencode") {
        let scratch = Scratch::new();
        let path = put(&scratch, file, "{\n  \"a\": 1\n}\n");
        scratch.lorelane(&format!("setup {client}")).expect(0);
        let agents = home(&scratch, "state/agents");
        fs::remove_file(agents.join(format!("{client}.json"))).unwrap();
        fs::remove_dir_all(agents.join("backups")).unwrap();
        scratch.lorelane(&format!("setup --remove {client}")).expect(0);
        let left = fs::read_to_string(&path).unwrap();
        assert!(!left.contains("lorelane") && left.contains("\"a\": 1"), "{client}: {left}");
        assert!(!agents.exists(), "{client}");
    }
}

#[test]
fn a_linked_settings_file_is_edited_where_it_is() {
    for (client, file) in CLIENTS.into_iter().filter(|(client, _)| *client != "opencode") {
        let scratch = Scratch::new();
        let real = put(&scratch, "dotfiles/real.json", "{\n  // mine\n}\n");
        let link = home(&scratch, file);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        symlink(&real, &link).unwrap();
        let before = state(&scratch);
        scratch.lorelane(&format!("setup {client}")).expect(0);
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink(), "{client}");
        assert!(fs::read_to_string(&real).unwrap().contains("lorelane"), "{client}");
        scratch.lorelane(&format!("setup --remove {client}")).expect(0);
        assert_eq!(state(&scratch), before, "{client}");
    }
}

#[test]
fn a_dry_run_shows_the_lines_and_writes_nothing() {
    let scratch = Scratch::new();
    put(&scratch, ".claude/settings.json", "{\n  \"model\": \"opus\" // mine\n}\n");
    let before = state(&scratch);
    let said = scratch.lorelane("setup claude-code --dry-run").expect(0);
    expect![[r#"
        Would set up claude-code
          16 files in ~/home/state/agents
          created  ~/home/.claude/plugins/known_marketplaces.json
            + {
            +   "lorelane": {
            +     "source": {
            +       "source": "directory",
            +       "path": "~/home/state/agents/claude-code"
            +     },
            +     "installLocation": "~/home/state/agents/claude-code",
            +     "lastUpdated": "2026-01-01T00:00:00.000Z"
            +   }
            + }
          changed  ~/home/.claude/settings.json
            -   "model": "opus" // mine
            +   "model": "opus", // mine
            +   "extraKnownMarketplaces": {
            +     "lorelane": {
            +       "source": {
            +         "source": "directory",
            +         "path": "~/home/state/agents/claude-code"
            +       }
            +     }
            +   },
            +   "enabledPlugins": {
            +     "lorelane@lorelane": true
            … 1 more line
        2> warning: ~/home/.claude/settings.json has comments, so claude-code ignores all of it, including your own settings
    "#]]
    .assert_eq(&said.text());
    for (client, _) in CLIENTS {
        scratch.lorelane(&format!("setup {client} --dry-run")).expect(0);
    }
    assert_eq!(state(&scratch), before);
    scratch.lorelane("setup claude-code").expect(0);
    let before = state(&scratch);
    scratch.lorelane("setup --remove claude-code --dry-run").expect(0);
    assert_eq!(state(&scratch), before);
}

// Claude Code 2.1.325 and 2.1.197 load nothing from such a file, and say nothing.
#[test]
fn settings_that_a_client_passes_over_are_said() {
    let scratch = Scratch::with_store();
    put(&scratch, ".claude/settings.json", "{\n  \"model\": \"opus\", // mine\n}\n");
    let said = scratch.lorelane("setup claude-code").expect(0);
    let expected = "~/home/.claude/settings.json has a trailing comma, so claude-code ignores all of it";
    assert!(said.err.contains(expected), "{}", said.text());
    let said = scratch.lorelane("doctor").expect(1);
    assert!(said.out.contains(expected), "{}", said.text());
    put(&scratch, ".gemini/settings.json", "{} // mine\n");
    let said = scratch.lorelane("setup gemini").expect(0);
    assert_eq!(said.err, "");
}

#[test]
fn what_lorelane_did_not_write_is_never_replaced() {
    for (client, file, text) in [
        (
            "claude-code",
            ".claude/settings.json",
            r#"{"extraKnownMarketplaces": {"lorelane": {"source": {"source": "github", "repo": "x/y"}}}}"#,
        ),
        ("claude-code", ".claude/settings.json", r#"{"enabledPlugins": {"lorelane@lorelane": false}}"#),
        ("claude-code", ".claude/plugins/known_marketplaces.json", r#"{"lorelane": {"source": {}}}"#),
        ("opencode", ".config/opencode/plugins/lorelane.js", "export const Mine = 1\n"),
    ] {
        let scratch = Scratch::new();
        put(&scratch, file, text);
        let before = state(&scratch);
        let said = scratch.lorelane(&format!("setup {client}")).expect(1);
        assert!(said.err.contains("lorelane did not write it"), "{}", said.text());
        assert_eq!(state(&scratch), before, "{client} {file}");
        scratch.lorelane(&format!("setup --remove {client}")).expect(0);
        assert_eq!(state(&scratch), before, "{client} {file}");
    }
}

#[test]
fn settings_that_cannot_be_read_are_not_written() {
    for text in ["{\"a\": ", "[]", "{'a': 1}", "{ /* ", "{\"hooks\": 1}", "// nothing but this\n"] {
        let scratch = Scratch::new();
        put(&scratch, ".codex/hooks.json", text);
        let before = state(&scratch);
        let said = scratch.lorelane("setup codex").expect(2);
        assert!(said.err.contains("hint: nothing was changed; fix the file first"), "{}", said.text());
        assert_eq!(state(&scratch), before, "{text}");
    }
    let scratch = Scratch::new();
    fs::create_dir_all(home(&scratch, ".codex")).unwrap();
    fs::write(home(&scratch, ".codex/hooks.json"), b"{\"a\": \"\xff\"}").unwrap();
    scratch.lorelane("setup codex").expect(2);
    fs::remove_file(home(&scratch, ".codex/hooks.json")).unwrap();
    symlink("nowhere", home(&scratch, ".codex/hooks.json")).unwrap();
    let said = scratch.lorelane("setup codex").expect(2);
    assert!(said.err.contains("cannot follow the link"), "{}", said.text());
}

#[test]
fn our_own_file_that_was_changed_is_mended_and_the_change_is_kept() {
    let scratch = Scratch::new();
    scratch.lorelane("setup opencode").expect(0);
    let path = home(&scratch, ".config/opencode/plugins/lorelane.js");
    let ours = fs::read_to_string(&path).unwrap();
    fs::write(&path, "// mine\n").unwrap();
    let said = scratch.lorelane("setup --remove opencode").expect(1);
    assert!(said.err.contains("was edited since lorelane wrote it"), "{}", said.text());
    assert_eq!(fs::read_to_string(&path).unwrap(), "// mine\n");
    scratch.lorelane("setup opencode").expect(0);
    assert_eq!(fs::read_to_string(&path).unwrap(), ours);
    assert_eq!(backups(&scratch), ["// mine\n"]);
}

#[test]
fn doctor_finds_what_another_version_installed_and_setup_renews_it() {
    let scratch = Scratch::with_store();
    scratch.lorelane("setup opencode").expect(0);
    scratch.lorelane("doctor").expect(0);
    let path = home(&scratch, ".config/opencode/plugins/lorelane.js");
    let ours = fs::read_to_string(&path).unwrap();
    // As an older version left it, with its digest in the record.
    let older = "// older\n";
    fs::write(&path, older).unwrap();
    let record = scratch.home().join("state/agents/opencode.json");
    let text = fs::read_to_string(&record).unwrap();
    let digest = |text: &str| Revision::of(text.as_bytes()).to_string();
    assert!(text.contains(&digest(&ours)), "{text}");
    fs::write(&record, text.replace(&digest(&ours), &digest(older))).unwrap();
    let said = scratch.lorelane("doctor").expect(1);
    assert!(
        said.out.contains("opencode: what `setup` installed is from another version of lorelane"),
        "{}",
        said.text()
    );
    scratch.lorelane("setup opencode").expect(0);
    assert_eq!(fs::read_to_string(&path).unwrap(), ours);
    scratch.lorelane("doctor").expect(0);
}

#[test]
fn a_folder_that_the_client_names_is_used() {
    let scratch = Scratch::new();
    let elsewhere = scratch.folder.join("elsewhere");
    let run = |words: &[&str]| {
        let mut command = scratch.command(words);
        command.env("CLAUDE_CONFIG_DIR", &elsewhere).env("CODEX_HOME", &elsewhere);
        scratch.said(&command.output().unwrap()).expect(0)
    };
    run(&["setup", "claude-code", "codex"]);
    assert!(elsewhere.join("settings.json").exists() && elsewhere.join("hooks.json").exists());
    assert!(!home(&scratch, ".claude").exists() && !home(&scratch, ".codex").exists());
    // The record knows the place: the variable need not be set to take it back.
    scratch.lorelane("setup --remove claude-code codex").expect(0);
    assert!(!elsewhere.exists());
}

#[test]
fn alone_it_says_what_is_there_and_what_to_run() {
    let scratch = Scratch::new();
    let run = |words: &[&str]| {
        let mut command = scratch.command(words);
        command.env("PATH", scratch.folder.join("bin"));
        scratch.said(&command.output().unwrap())
    };
    expect![[r"
        2> No agents found on this machine
        2> hint: `lorelane setup CLIENT` sets one up anyway
        exit 1
    "]]
    .assert_eq(&run(&["setup"]).text());
    for folder in [".claude", ".cursor", ".gemini"] {
        fs::create_dir_all(home(&scratch, folder)).unwrap();
    }
    fs::create_dir_all(scratch.folder.join("bin")).unwrap();
    fs::write(scratch.folder.join("bin/codex"), "").unwrap();
    run(&["setup", "gemini"]).expect(0);
    expect![[r"
        claude-code  not set up; run `lorelane setup claude-code`  (~/home/.claude)
        codex        not set up; run `lorelane setup codex`  (~/bin/codex)
        gemini       set up; to remove it, run `lorelane setup --remove gemini`  (~/home/.gemini)
        cursor       not set up; run `lorelane setup cursor`  (~/home/.cursor)
    "]]
    .assert_eq(&run(&["setup"]).expect(0).text());
    run(&["setup", "--yes"]).expect(0);
    let found = Json::parse(&run(&["setup", "--json"]).expect(0).out).unwrap();
    let installed: Vec<bool> = found
        .at("found")
        .unwrap()
        .as_list()
        .unwrap()
        .iter()
        .map(|client| client.at("installed").unwrap().as_bool().unwrap())
        .collect();
    assert_eq!(installed, [true, true, true, true]);
    run(&["setup", "--remove", "--yes"]).expect(0);
    assert!(!home(&scratch, "state").exists());
}

#[test]
fn a_client_without_hooks_gets_the_server_and_its_file_back() {
    let scratch = Scratch::new();
    let mine = "{\n  // mine\n  \"mcpServers\": { \"other\": { \"command\": \"x\" } },\n  \"context_servers\": {},\n}\n";
    for (client, file) in [
        ("cursor", ".cursor/mcp.json"),
        ("windsurf", ".codeium/windsurf/mcp_config.json"),
        ("zed", ".config/zed/settings.json"),
    ] {
        let path = home(&scratch, file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, mine).unwrap();
        let before = state(&scratch);
        scratch.lorelane(&format!("setup {client}")).expect(0);
        let text = fs::read_to_string(&path).unwrap();
        let entry = format!(r#""command": "{}""#, env!("CARGO_BIN_EXE_lorelane"));
        assert!(
            text.contains(&entry) && text.contains("// mine") && text.contains("\"other\""),
            "{client}: {text}"
        );
        scratch.lorelane(&format!("setup {client}")).expect(0);
        assert_eq!(fs::read_to_string(&path).unwrap(), text, "{client}");
        scratch.lorelane(&format!("setup --remove {client}")).expect(0);
        assert_eq!(state(&scratch), before, "{client}");
    }
    scratch.lorelane("setup emacs").expect(2);
}

// The tools of the working set are asked for, kept by later setups, and removed with the rest.
#[test]
fn the_tools_of_the_working_set_come_with_a_word_and_go_with_the_rest() {
    for (client, file, profile) in [
        (
            "claude-code",
            "state/agents/claude-code/plugin/.mcp.json",
            r#""args": ["mcp", "--profile", "agent,working-set"]"#,
        ),
        ("codex", CONFIG_TOML, r#"args = ["mcp", "--profile", "agent,working-set"]"#),
        ("gemini", ".gemini/settings.json", "\"agent,working-set\""),
        ("copilot", ".copilot/mcp-config.json", "\"agent,working-set\""),
        ("opencode", ".config/opencode/opencode.json", "\"agent,working-set\""),
        ("cursor", ".cursor/mcp.json", "\"agent,working-set\""),
        ("windsurf", ".codeium/windsurf/mcp_config.json", "\"agent,working-set\""),
        ("zed", ".config/zed/settings.json", "\"agent,working-set\""),
    ] {
        let scratch = Scratch::new();
        let mine = if client == "codex" { "a = 1 # mine\n" } else { "{\n  \"a\": 1\n}\n" };
        if client != "claude-code" {
            put(&scratch, file, mine);
        }
        let before = state(&scratch);
        scratch.lorelane(&format!("setup {client}")).expect(0);
        let plain = state(&scratch);
        assert!(!fs::read_to_string(home(&scratch, file)).unwrap().contains(profile), "{client}");
        scratch.lorelane(&format!("setup {client} --with working-set")).expect(0);
        let text = fs::read_to_string(home(&scratch, file)).unwrap();
        assert!(text.contains(profile), "{client}: {text}");
        // A setup after an update keeps what was asked for, and doctor misses nothing.
        let with = state(&scratch);
        let again = scratch.lorelane(&format!("setup {client}")).expect(0);
        assert_eq!(again.out, format!("No change: {client} is already set up\n"));
        assert_eq!(state(&scratch), with, "{client}");
        scratch.lorelane(&format!("setup --remove {client}")).expect(0);
        assert_eq!(state(&scratch), before, "{client}");
        // A removal forgets it.
        scratch.lorelane(&format!("setup {client}")).expect(0);
        assert_eq!(state(&scratch), plain, "{client}");
    }
    let scratch = Scratch::new();
    let said = scratch.lorelane("setup cursor --with everything").expect(2);
    assert!(said.err.contains("use one of working-set"), "{}", said.text());
}

/// A copy of the program that can be moved away.
fn copy_of_program(scratch: &Scratch, folder: &str) -> PathBuf {
    let path = scratch.folder.join(folder).join("lorelane");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    // By another process: while this one had it open for writing, a child of another test could not run it.
    let copied = std::process::Command::new("cp").arg(env!("CARGO_BIN_EXE_lorelane")).arg(&path).status();
    assert!(copied.unwrap().success());
    path
}

fn run_program(scratch: &Scratch, program: &Path, line: &str) -> Said {
    let words = crate::scratch::words(line);
    let mut command = std::process::Command::new(program);
    command.args(words).current_dir(scratch.project()).env_clear();
    command
        .env("HOME", scratch.home())
        .env("LORELANE_HOME", scratch.home())
        .stdin(std::process::Stdio::null());
    scratch.said(&command.output().unwrap())
}

#[test]
fn doctor_finds_a_program_that_is_gone_or_another_and_setup_mends_it() {
    let scratch = Scratch::with_store();
    let other = copy_of_program(&scratch, "my tools");
    run_program(&scratch, &other, "setup codex gemini").expect(0);
    let hooks = fs::read_to_string(home(&scratch, ".codex/hooks.json")).unwrap();
    let line = format!("[ -x '{0}' ] || exit 0; exec '{0}' hook stop --client codex", other.display());
    assert!(hooks.contains(&line), "{hooks}");
    let said = without_program(&scratch.lorelane("doctor").expect(1));
    expect![[r"
        setup: the hooks of codex call ~/my tools/lorelane, not /bin/lorelane
          hint: `lorelane setup codex` fixes it
        setup: the hooks of gemini call ~/my tools/lorelane, not /bin/lorelane
          hint: `lorelane setup gemini` fixes it
        exit 1
    "]]
    .assert_eq(&said);
    fs::remove_file(&other).unwrap();
    fs::remove_file(home(&scratch, ".gemini/settings.json")).unwrap();
    let said = without_program(&scratch.lorelane("doctor").expect(1));
    expect![[r"
        setup: the hooks of codex call ~/my tools/lorelane, which does not exist
          hint: `lorelane setup codex` fixes it
        setup: the hooks of gemini call ~/my tools/lorelane, which does not exist
          hint: `lorelane setup gemini` fixes it
        setup: gemini: ~/home/.gemini/settings.json is gone
          hint: `lorelane setup gemini` fixes it
        exit 1
    "]]
    .assert_eq(&said);
    scratch.lorelane("setup codex gemini").expect(0);
    scratch.lorelane("doctor").expect(0);
    let hooks = fs::read_to_string(home(&scratch, ".codex/hooks.json")).unwrap();
    assert!(!hooks.contains("my tools") && hooks.matches("hook stop").count() == 1, "{hooks}");
}

#[test]
fn latency_runs_what_is_installed_as_the_client_would() {
    let scratch = Scratch::with_store();
    let said = scratch.lorelane("doctor --latency").expect(1);
    assert!(said.err.contains("hint: `lorelane setup`"), "{}", said.text());
    scratch.lorelane("setup claude-code codex gemini copilot opencode").expect(0);
    // Every way a command line can be installed, with a program that notes what it was called with.
    let log = scratch.folder.join("log");
    let fake = scratch.folder.join("fake");
    fs::write(&fake, format!("#!/bin/sh\necho \"$@\" >> {}\ncat > /dev/null\n", log.display())).unwrap();
    fs::set_permissions(&fake, fs::Permissions::from_mode(0o755)).unwrap();
    let files = [
        "state/agents/claude-code/plugin/hooks/hooks.json",
        ".codex/hooks.json",
        ".gemini/settings.json",
        ".copilot/hooks/lorelane.json",
        "state/agents/opencode.json",
    ];
    for file in files {
        let path = home(&scratch, file);
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, text.replace(env!("CARGO_BIN_EXE_lorelane"), fake.to_str().unwrap())).unwrap();
    }
    let timings = scratch.json("doctor --latency");
    let hooks = timings.at("hooks").unwrap().as_list().unwrap();
    let log = fs::read_to_string(log).unwrap();
    assert_eq!(hooks.len(), 8 + 7 + 6 + 6 + 6);
    assert_eq!(log.lines().count(), 50 * hooks.len());
    for hook in hooks {
        let client = hook.at("client").unwrap().as_text().unwrap();
        let event = hook.at("hook").unwrap().as_text().unwrap();
        let ran = log.lines().filter(|line| *line == format!("hook {event} --client {client}")).count();
        assert_eq!(ran, 50, "{client} {event}");
        let ms = |key| hook.at(key).and_then(Json::as_f64).unwrap();
        assert!(0.0 < ms("p50_ms") && ms("p50_ms") <= ms("p99_ms"), "{client} {event}");
        assert_eq!(hook.at("failed"), Some(&Json::Null), "{client} {event}");
    }
}

#[test]
fn latency_leaves_no_line_in_the_ledger() {
    let scratch = Scratch::with_jwt();
    scratch.lorelane("setup codex").expect(0);
    scratch.lorelane("doctor --latency").expect(0);
    assert!(!scratch.project_state().join("ledger.jsonl").exists());
    assert!(scratch.lorelane("why").expect(1).out.contains("No prompt is logged"));
}

// Fifty messages are a session worth a summary: the measured stop asked, which counted as a failure, and the next
// session was offered what nobody had said.
#[test]
fn latency_leaves_nothing_for_the_next_session() {
    let scratch = Scratch::with_store();
    scratch.put("lorelane.toml", "[briefing]\nhint = false\n");
    scratch.lorelane("setup claude-code").expect(0);
    scratch.lorelane("doctor --latency").expect(0);
    assert_eq!(scratch.hook("session-start", &[("source", Json::text("startup"))]).expect(0).text(), "");
    let left = scratch.tree().into_keys().filter(|path| path.contains("captures"));
    assert_eq!(left.collect::<Vec<_>>(), Vec::<String>::new());
}

#[test]
fn doctor_looks_at_agents_also_where_no_store_is() {
    let scratch = Scratch::new();
    scratch.lorelane("setup codex").expect(0);
    let hooks = home(&scratch, ".codex/hooks.json");
    let text = fs::read_to_string(&hooks).unwrap();
    fs::write(&hooks, text.replace(env!("CARGO_BIN_EXE_lorelane"), "/gone/lorelane")).unwrap();
    let said = scratch.lorelane("doctor").expect(1);
    assert!(said.out.starts_with("store: ") && said.out.contains("lorelane init"), "{}", said.text());
    assert!(said.out.contains("\nsetup: ") && said.out.contains("codex"), "{}", said.text());
    scratch.lorelane("doctor --index").expect(2);
}
