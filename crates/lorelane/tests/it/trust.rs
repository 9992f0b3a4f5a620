//! Settings that come with a repository: held back, trusted, held back again.

use crate::scratch::{CONFIG, DECISION, LANE, Said, Scratch, USE_JWT};
use lorelane_core::json::Json;
use std::fs;
use std::process::{Command, Stdio};

const SECRET: &str = "AKIAQ3EGRIAAGZ6JHXWE";
const WORDS: &str = "Zebra instructions for agents";
const WEAK: &str = r#"{"auto_commit": true, "delete": {"grace_period_days": 0},
    "categories": {"decision": {"description": "Zebra instructions for agents"}}}"#;
const WEAK_TOML: &str = "secrets = \"allow\"\n[stop]\nunattended = \"ask\"\n[notes]\nstorage = \"user\"\n[briefing]\nmax_tokens = 500\n";
/// What is held back of both, in the order in which it is listed.
const HELD: [&str; 6] = [
    "auto_commit",
    "categories.decision.description",
    "delete.grace_period_days",
    "notes.storage",
    "secrets",
    "stop.unattended",
];
const DECIDED: &str = "We decided to use pnpm over npm because the workspace links are strict.";

const STATUS_OF_THE_SERVER: &str = concat!(
    r#"{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}"#,
    "\n",
    r#"{"jsonrpc": "2.0", "method": "notifications/initialized"}"#,
    "\n",
    r#"{"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "memory_status", "arguments": {}}}"#,
    "\n",
);

/// A repository as it was cloned: with a memory, and with settings.
fn cloned(config: &str, toml: &str) -> Scratch {
    let scratch = Scratch::new();
    scratch.git(&["init", "--quiet"]);
    for (key, value) in [("user.name", "A"), ("user.email", "a@b.c")] {
        scratch.git(&["config", key, value]);
    }
    let record = Scratch::with_jwt().read(USE_JWT);
    scratch.put(USE_JWT, record);
    scratch.put(CONFIG, config);
    scratch.put("lorelane.toml", toml);
    commit(&scratch);
    scratch
}

fn commit(scratch: &Scratch) {
    scratch.git(&["add", "-A"]);
    scratch.git(&["commit", "--quiet", "--allow-empty", "-m", "a commit"]);
}

fn held(scratch: &Scratch) -> Vec<String> {
    keys(&scratch.json("trust"), "held_back")
}

fn keys(document: &Json, member: &str) -> Vec<String> {
    let list = document.at(member).and_then(Json::as_list).unwrap();
    list.iter().map(|held| held.at("key").and_then(Json::as_text).unwrap().to_owned()).collect()
}

fn in_force(scratch: &Scratch, key: &str) -> String {
    scratch.lorelane(&format!("config get {key}")).expect(0).out.trim().to_owned()
}

fn with_secret(scratch: &Scratch, title: &str) -> Said {
    scratch.lorelane(&format!("create decision --title '{title}' {DECISION} --set 'context=key {SECRET}'"))
}

/// What an agent is asked at the end of a run that nobody watches.
fn stop_unattended(scratch: &Scratch, session: &str) -> Said {
    let line = format!(r#"{{"type":"user","message":{{"content":"{DECIDED}"}}}}"#);
    let transcript = scratch.home().join("transcript.jsonl");
    fs::write(&transcript, format!("{line}\n")).unwrap();
    let payload = format!(
        r#"{{"session_id": "{session}", "cwd": ".", "transcript_path": "{}"}}"#,
        transcript.display()
    );
    let mut command = scratch.command(&["hook", "stop"]);
    command.env("CLAUDE_CODE_SESSION_ATTENDED", "0").stdin(Stdio::piped());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), payload.as_bytes()).unwrap();
    scratch.said(&child.wait_with_output().unwrap())
}

// `secrets = "allow"` of a cloned repository beat the user's `refuse`, and `auto_commit` ran its hooks (finding 22).
#[test]
fn until_a_project_is_trusted_nothing_in_it_weakens_the_users_settings() {
    let mut scratch = cloned(WEAK, WEAK_TOML);
    let theirs = scratch.home().join("data/memories");
    fs::create_dir_all(&theirs).unwrap();
    fs::write(theirs.join("private.md"), "# Private\n").unwrap();
    let commits = |scratch: &Scratch| scratch.git(&["log", "--oneline"]).lines().count();
    assert_eq!(held(&scratch), HELD);
    with_secret(&scratch, "Leak").expect(2);
    scratch.decide("Use queues");
    assert_eq!(commits(&scratch), 1);
    assert!(!scratch.lorelane("list").expect(0).out.contains("private"));
    assert_eq!(stop_unattended(&scratch, "s-1").expect(0).text(), "");
    let prepared = scratch.lorelane("consolidate prepare").expect(0).out;
    assert!(!prepared.contains(WORDS), "{prepared}");
    scratch.lorelane("retire use-queues").expect(0);
    scratch.now = "2026-03-05T12:00:00Z";
    assert_eq!(scratch.lorelane("gc --yes").expect(0).out, "Nothing to collect\n");
    // Whatever needs no trust counts.
    assert_eq!(in_force(&scratch, "briefing.max_tokens"), "500");

    scratch.lorelane("trust --yes").expect(0);
    assert_eq!(held(&scratch), [""; 0]);
    assert_eq!(keys(&scratch.json("trust"), "trusted"), HELD);
    with_secret(&scratch, "Leak").expect(0);
    assert_eq!(commits(&scratch), 2);
    assert!(scratch.lorelane("list").expect(0).out.contains("private"));
    let prepared = scratch.lorelane("consolidate prepare").expect(0).out;
    assert!(prepared.contains(WORDS), "{prepared}");
    stop_unattended(&scratch, "s-2").asked();
    assert!(scratch.lorelane("gc --yes").expect(0).out.contains("Deleted decision/use-queues"));
}

#[test]
fn the_users_own_settings_are_what_a_project_may_not_weaken() {
    let scratch = cloned("{}", "secrets = \"redact\"\n");
    fs::create_dir_all(scratch.home().join("config")).unwrap();
    for (own, force, is_held) in [
        ("", "\"refuse\"", true),
        ("secrets = \"redact\"\n", "\"redact\"", false),
        ("secrets = \"allow\"\n", "\"redact\"", false),
        ("secrets = \"refuse\"\n", "\"refuse\"", true),
    ] {
        fs::write(scratch.home().join("config/lorelane.toml"), own).unwrap();
        assert_eq!(
            (in_force(&scratch, "secrets").as_str(), !held(&scratch).is_empty()),
            (force, is_held),
            "{own}"
        );
    }
}

#[test]
fn what_is_held_back_is_said_by_everything_that_tells_how_the_project_is() {
    let scratch = cloned(WEAK, WEAK_TOML);
    for (line, code) in [("status", 0), ("doctor", 1), ("config list", 0)] {
        for line in [line.to_owned(), format!("{line} --json")] {
            let said = scratch.lorelane(&line).expect(code).text();
            for key in HELD {
                assert!(said.contains(key), "{line}: {key}\n{said}");
            }
            // Agents read these, too.
            assert!(said.contains("held") && !said.contains("Zebra"), "{line}\n{said}");
        }
    }
    assert_eq!(keys(&scratch.json("status"), "held_back"), HELD);
    assert!(
        scratch.lorelane("config get secrets").expect(0).err.contains("held back until `lorelane trust`")
    );
    let served = scratch.lorelane_with_input("mcp", STATUS_OF_THE_SERVER).expect(0).out;
    assert!(served.contains("held back until the user trusts this project: `secrets`"), "{served}");
    assert!(!served.contains("Zebra"), "{served}");
    // Who trusts it has seen it.
    let shown = scratch.lorelane("trust").expect(2);
    for told in [WORDS, "\"allow\"", "secrets in new text would no longer be rejected", "lorelane.toml"] {
        assert!(shown.out.contains(told), "{}", shown.text());
    }
    scratch.lorelane("trust --yes").expect(0);
    let status = scratch.lorelane("status").expect(0).out;
    assert!(status.contains("trusted  auto_commit, ") && status.contains("/state/trust"), "{status}");
    assert_eq!(keys(&scratch.json("status"), "trusted"), HELD);
}

#[test]
fn hooks_use_what_counts_and_say_nothing_of_the_rest() {
    let scratch = cloned(WEAK, WEAK_TOML);
    for event in [
        "session-start",
        "prompt",
        "before-tool",
        "after-tool",
        "tool-failure",
        "stop",
        "pre-compact",
        "session-end",
    ] {
        let payload = r#"{"session_id": "s", "prompt": "how do we use JWT?", "cwd": ".", "tool_name": "Bash", "tool_input": {"command": "ls"}}"#;
        let said = scratch.lorelane_with_input(&format!("hook {event}"), payload).expect(0).text();
        assert!(!said.contains("held back") && !said.contains("Zebra"), "{event}: {said}");
    }
    assert!(!scratch.home().join("state/hooks.log").exists());
}

#[test]
fn a_person_trusts_by_an_answer_or_by_an_option() {
    let scratch = cloned(WEAK, WEAK_TOML);
    let said = scratch.lorelane("trust").expect(2);
    assert!(said.err.contains("there is no terminal") && said.err.contains("pass --yes"), "{}", said.text());
    assert_eq!(scratch.lorelane_with_input("trust", "y\n").code, Some(2));
    scratch.json("trust");
    assert_eq!(held(&scratch), HELD);
    assert!(!scratch.home().join("state/trust").exists());
    let at_terminal = |answer: &str| {
        let inner = scratch.command(&["trust"]);
        let line = format!("{} trust", inner.get_program().to_str().unwrap());
        let mut script = Command::new("script");
        script.args(["-qec", &line, "/dev/null"]).current_dir(scratch.project()).env_clear();
        script.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
        script.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = script.spawn().unwrap();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), answer.as_bytes()).unwrap();
        scratch.said(&child.wait_with_output().unwrap())
    };
    // Not every machine can make a terminal.
    if Command::new("script").arg("--version").output().is_ok_and(|output| output.status.success()) {
        let said = at_terminal("n\n").expect(1);
        assert!(said.out.contains("Trust this project with these settings?"), "{}", said.text());
        assert_eq!(held(&scratch), HELD);
        at_terminal("y\n").expect(0);
        assert_eq!(held(&scratch), [""; 0]);
    }
    scratch.lorelane("trust --yes").expect(0);
    assert_eq!(held(&scratch), [""; 0]);
    assert!(
        scratch.lorelane("trust").expect(0).out.starts_with("Nothing is held back; trusted: auto_commit")
    );
    assert_eq!(scratch.lorelane("trust --remove").expect(0).out, "This project is no longer trusted\n");
    assert_eq!(held(&scratch), HELD);
    assert_eq!(scratch.lorelane("trust --remove").expect(0).out, "No change: this project is not trusted\n");
    assert_eq!(Scratch::with_store().lorelane("trust --yes").expect(0).out, "Nothing is held back\n");
}

#[test]
fn trust_lasts_until_a_restricted_key_changes() {
    let scratch = cloned(WEAK, WEAK_TOML);
    scratch.lorelane("trust --yes").expect(0);
    // Pulled commits.
    scratch.put("lorelane.toml", WEAK_TOML.replace("500", "400"));
    assert_eq!((held(&scratch).len(), in_force(&scratch, "secrets").as_str()), (0, "\"allow\""));
    scratch.put(CONFIG, WEAK.replace("Zebra", "Other"));
    assert_eq!(
        (held(&scratch), in_force(&scratch, "secrets").as_str()),
        (HELD.map(str::to_owned).to_vec(), "\"refuse\"")
    );
    scratch.lorelane("trust --yes").expect(0);
    assert_eq!(held(&scratch), [""; 0]);
    scratch.put(CONFIG, WEAK);
    assert_eq!(held(&scratch), [""; 0], "these values were trusted before");
}

#[test]
fn trust_is_in_the_repository_and_not_in_its_values_elsewhere() {
    let scratch = cloned("{}", "secrets = \"allow\"\n");
    scratch.git(&["worktree", "add", "--quiet", "../linked"]);
    let there = |line: &str| scratch.lorelane(&format!("-C ../linked {line}"));
    assert_eq!(there("config get secrets").expect(0).out, "\"refuse\"\n");
    scratch.lorelane("trust --yes").expect(0);
    assert_eq!(there("config get secrets").expect(0).out, "\"allow\"\n");
    // The same files without git, and in another repository.
    for is_repository in [false, true] {
        let other = format!("../other-{is_repository}");
        fs::create_dir_all(scratch.project().join(&other).join(LANE)).unwrap();
        fs::write(scratch.project().join(&other).join("lorelane.toml"), "secrets = \"allow\"\n").unwrap();
        if is_repository {
            scratch.git(&["-C", &other, "init", "--quiet"]);
        }
        let there = |line: &str| scratch.lorelane(&format!("-C {other} {line}"));
        assert_eq!(there("config get secrets").expect(0).out, "\"refuse\"\n");
        there("trust --yes").expect(0);
        assert_eq!(there("config get secrets").expect(0).out, "\"allow\"\n");
    }
    assert_eq!(fs::read_dir(scratch.home().join("state/trust")).unwrap().count(), 3);
}

#[test]
fn the_users_own_commands_keep_trust_and_give_none_to_others() {
    let scratch = Scratch::with_store();
    assert_eq!(scratch.lorelane("config set secrets redact").expect(0).err, "");
    assert_eq!(scratch.lorelane("config set auto_commit true").expect(0).err, "");
    assert_eq!(scratch.lorelane("config set memory_root docs/memories").expect(0).err, "");
    assert_eq!((held(&scratch).len(), in_force(&scratch, "secrets").as_str()), (0, "\"redact\""));
    scratch.decide("Use JWT");
    assert!(scratch.exists("docs/memories/decisions/use-jwt.json"));

    // Settings of a clone stay held back, and so does what is set beside them.
    let cloned = cloned("{}", "secrets = \"allow\"\n");
    let said = cloned.lorelane("config set auto_commit true").expect(0);
    assert_eq!(said.err, "warning: held back until `lorelane trust`: auto_commit, secrets\n");
    assert_eq!(
        (in_force(&cloned, "secrets").as_str(), in_force(&cloned, "auto_commit").as_str()),
        ("\"refuse\"", "false")
    );
    cloned.lorelane("trust --yes").expect(0);
    assert_eq!(cloned.lorelane("config set delete.grace_period_days 3").expect(0).err, "");
    assert_eq!(held(&cloned), [""; 0]);

    // `init` adds the defaults of restricted keys.
    for trusts in [true, false] {
        let bare = Scratch::new();
        bare.put("lorelane.toml", "secrets = \"allow\"\n");
        fs::create_dir_all(bare.project().join(LANE)).unwrap();
        if trusts {
            bare.lorelane("trust --yes").expect(0);
        }
        bare.lorelane("init").expect(0);
        assert_eq!(held(&bare).is_empty(), trusts);
    }
}

#[test]
fn memories_elsewhere_are_read_and_not_written_until_the_project_is_trusted() {
    let scratch = cloned(r#"{"memory_root": "docs/memories"}"#, "");
    scratch.put("docs/memories/decisions/use-jwt.json", scratch.read(USE_JWT));
    let before = scratch.read("docs/memories/decisions/use-jwt.json");
    assert!(scratch.lorelane("search jwt").expect(0).out.contains("use-jwt"));
    assert!(scratch.lorelane("show use-jwt").expect(0).out.contains("docs/memories"));
    let create = format!("create decision --title Other {DECISION}");
    for line in [
        create.as_str(),
        "update use-jwt --set context=c",
        "retire use-jwt",
        "pin use-jwt",
        "create note --title N --text t",
        "undo",
        "reindex",
        "init",
        "forget use-jwt --yes",
        "config set secrets redact",
        "compat memory_index --rebuild --root docs/memories",
    ] {
        let said = scratch.lorelane(line);
        assert!(said.code == Some(2) || line.starts_with("compat"), "{line}: {}", said.text());
        assert!(
            said.text().contains("lorelane trust") || line.starts_with("compat"),
            "{line}: {}",
            said.text()
        );
    }
    // Not by a hook either that puts invalid files aside.
    scratch.put("docs/memories/decisions/broken.json", "{");
    let payload = r#"{"session_id": "s", "cwd": ".", "tool_name": "Bash", "tool_input": {"command": "ls"}}"#;
    scratch.lorelane_with_input("hook after-tool", payload).expect(0);
    let files = |scratch: &Scratch| -> Vec<String> {
        let tree = scratch.tree();
        tree.into_keys().filter(|path| path.contains("/docs/") && !path.ends_with('/')).collect()
    };
    assert_eq!(
        files(&scratch),
        ["project/docs/memories/decisions/broken.json", "project/docs/memories/decisions/use-jwt.json"]
    );
    assert_eq!(scratch.read("docs/memories/decisions/use-jwt.json"), before);
    scratch.lorelane("trust --yes").expect(0);
    scratch.lorelane(&create).expect(0);
    assert!(scratch.exists("docs/memories/decisions/other.json"));
}

/// As a version left it that did not ask for trust.
fn worked_in_before() -> Scratch {
    let scratch = Scratch::with_jwt();
    let lanes = fs::read_dir(scratch.home().join("state/lanes")).unwrap();
    for lane in lanes {
        fs::remove_file(lane.unwrap().path().join("trust-known")).unwrap();
    }
    scratch
}

#[test]
fn a_project_that_the_user_has_worked_in_before_is_trusted_once() {
    for hook_first in [false, true] {
        let scratch = worked_in_before();
        scratch.put("lorelane.toml", "secrets = \"redact\"\n");
        if hook_first {
            scratch
                .lorelane_with_input("hook prompt", r#"{"prompt": "how do we use JWT?", "cwd": "."}"#)
                .expect(0);
        }
        let notice = "warning: the settings of this project are trusted because you have worked in it before: secrets; `lorelane trust --remove` revokes this\n";
        assert_eq!(scratch.lorelane("list").expect(0).err, notice);
        assert_eq!(scratch.lorelane("list").expect(0).err, "");
        assert_eq!(in_force(&scratch, "secrets"), "\"redact\"");
        // Once: what comes later has to be trusted.
        scratch.put("lorelane.toml", "secrets = \"allow\"\n");
        scratch.decide("Use queues");
        assert_eq!(in_force(&scratch, "secrets"), "\"refuse\"");
        scratch.put("lorelane.toml", "secrets = \"redact\"\n");
        assert_eq!(in_force(&scratch, "secrets"), "\"redact\"");
        scratch.lorelane("trust --remove").expect(0);
        assert_eq!(in_force(&scratch, "secrets"), "\"refuse\"");
    }
}

// The journal of a version that asks is no reason: a clone could weaken the settings after its first memory.
#[test]
fn a_project_that_was_changed_since_is_not_trusted_for_that() {
    let scratch = cloned("{}", "secrets = \"allow\"\n");
    scratch.decide("Use queues");
    scratch.decide("Use caches");
    assert_eq!(in_force(&scratch, "secrets"), "\"refuse\"");
    let own = Scratch::with_jwt();
    own.put("lorelane.toml", "secrets = \"allow\"\n");
    assert_eq!(in_force(&own, "secrets"), "\"refuse\"");
    // One change is enough, whether anything was held back then or not.
    let former = worked_in_before();
    former.decide("Use queues");
    former.put("lorelane.toml", "secrets = \"allow\"\n");
    assert_eq!(in_force(&former, "secrets"), "\"refuse\"");
}

#[test]
fn no_agent_trusts_a_project_for_the_user() {
    let scratch = cloned(WEAK, WEAK_TOML);
    for (command, denied) in [
        ("lorelane trust --yes", true),
        ("cd . && bash -c './target/debug/lorelane trust --yes'", true),
        ("echo {} > ~/state/trust/x/y.json", true),
        ("lorelane status", false),
        ("lorelane search trust", false),
    ] {
        let payload =
            format!(r#"{{"cwd": ".", "tool_name": "Bash", "tool_input": {{"command": "{command}"}}}}"#);
        let said = scratch.lorelane_with_input("hook before-tool", &payload).expect(0);
        assert_eq!(said.out.contains("only a person may decide"), denied, "{command}: {}", said.text());
    }
}

// The new place was held back with the other setting, so nobody read the notes there (issue 10).
#[test]
fn notes_do_not_move_to_a_place_that_would_be_held_back() {
    let scratch = Scratch::with_store();
    scratch.lorelane("create note --title one --text a").expect(0);
    scratch.lorelane("trust --remove").expect(0);
    scratch.put("lorelane.toml", "secrets = \"allow\"\n");
    for line in ["notes move --to user --dry-run", "notes move --to user"] {
        let said = scratch.lorelane(line).expect(2);
        assert!(said.err.contains("`secrets`") && said.err.contains("lorelane trust"), "{}", said.text());
    }
    scratch.lorelane("show notes/one").expect(0);
    scratch.lorelane("trust --yes").expect(0);
    scratch.lorelane("notes move --to user").expect(0);
    scratch.lorelane("show notes/one").expect(0);
    assert!(!scratch.exists(".memories/one.md"));
}

// Whoever was killed between the settings and the trust in them lost sight of all notes by running it again.
#[test]
fn a_move_of_notes_that_was_cut_short_before_the_trust_goes_on() {
    let scratch = Scratch::with_store();
    scratch.lorelane("create note --title one --text a").expect(0);
    scratch.lorelane("trust --remove").expect(0);
    scratch.put("lorelane.toml", "[notes]\nstorage = \"user\"\n");
    assert_eq!(held(&scratch), ["notes.storage"]);
    scratch.lorelane("notes move --to user").expect(0);
    assert_eq!(held(&scratch), Vec::<String>::new());
    scratch.lorelane("show notes/one").expect(0);
    scratch.lorelane("notes move --to project").expect(0);
    scratch.lorelane("show notes/one").expect(0);
}
