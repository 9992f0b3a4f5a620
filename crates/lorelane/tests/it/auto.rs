//! Claude Code's memory folder from outside: found, read, reported, changed, and left alone.

use crate::hooks::{context, payload};
use crate::scratch::Scratch;
use expect_test::expect;
use lorelane_core::dialect::auto::project_slug;
use lorelane_core::json::Json;
use std::fs;
use std::path::PathBuf;

const PNPM: &str = "---\nname: use-pnpm\ndescription: Use pnpm and never npm in this repository\nmetadata: \n  node_type: memory\n  type: feedback\n  originSessionId: 1-2-3\n  modified: 2026-02-01T10:00:00.000Z\n---\n\nAlways install packages with pnpm.\n\n**Why:** the lockfile of npm broke the release.\n";
const ZEBRA: &str = "---\nname: zebra\ndescription: The zebra service owns billing exports\ntype: project\n---\nThe zebra service writes the billing exports at midnight.\n";
const INDEX: &str = "# Memory\n\n- [Use pnpm](use-pnpm.md) — Use pnpm and never npm\n- [Zebra](zebra.md) — billing exports\n- [Gone](gone.md) — was deleted\n";

impl Scratch {
    /// Claude Code's folder of the project.
    fn auto(&self) -> PathBuf {
        let slug = project_slug(self.project().to_str().unwrap());
        self.home().join(".claude/projects").join(slug).join("memory")
    }

    fn put_auto(&self, path: &str, text: impl AsRef<[u8]>) {
        let file = self.auto().join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    fn read_auto(&self, path: &str) -> String {
        fs::read_to_string(self.auto().join(path)).unwrap()
    }

    fn auto_files(&self) -> Vec<String> {
        let mut tree = std::collections::BTreeMap::new();
        self.walk(&self.auto(), &mut tree);
        let root = self.auto();
        let root = format!("{}/", root.strip_prefix(&self.folder).unwrap().to_str().unwrap());
        tree.into_keys().map(|path| path.trim_start_matches(&root).to_owned()).collect()
    }

    /// A store, and Claude Code's folder with two memories.
    fn with_auto() -> Scratch {
        let scratch = Scratch::with_store();
        scratch.put_auto("use-pnpm.md", PNPM);
        scratch.put_auto("zebra.md", ZEBRA);
        scratch.put_auto("MEMORY.md", INDEX);
        scratch
    }
}

fn addresses(scratch: &Scratch, line: &str) -> Vec<String> {
    let listed = scratch.json(line);
    let found = listed.at("memories").or(listed.at("hits")).and_then(Json::as_list).unwrap_or_default();
    found.iter().map(|memory| memory.at("address").and_then(Json::as_text).unwrap().to_owned()).collect()
}

#[test]
fn the_folder_is_a_lane_that_reading_does_not_touch() {
    let scratch = Scratch::with_auto();
    scratch.put_auto("archive/old.md", ZEBRA);
    let before = scratch.auto_files();
    assert_eq!(addresses(&scratch, "list auto --sort address"), ["auto/use-pnpm", "auto/zebra"]);
    assert_eq!(addresses(&scratch, "list feedback"), ["auto/use-pnpm"]);
    assert_eq!(addresses(&scratch, "list --status archived"), ["auto/archive/old"]);
    assert_eq!(addresses(&scratch, "search zebra billing"), ["auto/zebra"]);
    assert_eq!(addresses(&scratch, "search lockfile --lane auto"), ["auto/use-pnpm"]);
    let shown = scratch.lorelane("show zebra").expect(0);
    assert!(shown.out.contains("billing exports at midnight"), "{}", shown.text());
    for line in ["why auto/zebra", "related auto/zebra", "graph", "duplicates", "status", "log"] {
        let said = scratch.lorelane(line);
        assert!(matches!(said.code, Some(0 | 1)), "{line}: {}", said.text());
    }
    assert_eq!(scratch.auto_files(), before);
    assert_eq!(
        (scratch.read_auto("MEMORY.md"), scratch.read_auto("use-pnpm.md")),
        (INDEX.to_owned(), PNPM.to_owned())
    );
}

#[test]
fn a_project_without_the_folder_has_no_such_lane() {
    let scratch = Scratch::with_store();
    expect![[r#"
        2> error: cannot find Claude Code's memory folder of this project
        2> hint: Claude Code creates it when it saves its first memory here; lorelane never does
        exit 2
    "#]]
    .assert_eq(&scratch.lorelane("auto status").text());
    assert!(scratch.lorelane("create auto/x --text y").code != Some(0));
    assert!(!scratch.home().join(".claude").exists());
    // Without a store of lorelane's own, the report works all the same.
    let bare = Scratch::new();
    bare.put_auto("MEMORY.md", INDEX);
    bare.lorelane("auto status").expect(0);
    bare.lorelane("list").expect(2);
    assert!(!bare.exists(".claude"));
}

#[test]
fn auto_status_shows_what_the_client_loses() {
    let scratch = Scratch::with_auto();
    scratch.put("CLAUDE.md", "# Rules\n\n- **Never** push to main without a review.\n");
    scratch.put_auto("lonely.md", ZEBRA);
    let long = "x".repeat(190);
    let many: String = (1..=195).map(|at| format!("- [Topic {at}](use-pnpm.md) — {at}\n")).collect();
    scratch.put_auto(
        "MEMORY.md",
        format!("{INDEX}never push to main without a review\n{many}- [Long](zebra.md) — {long}\n- [Last](zebra.md) — end\n"),
    );
    let said = scratch.lorelane("auto status").expect(0);
    let shown: Vec<&str> = said.out.lines().filter(|line| !line.contains("Topic")).collect();
    assert!(said.out.lines().all(|line| line.chars().count() <= 80 || line.starts_with('~')), "{}", said.out);
    expect![[r#"
        ~/home/.claude/projects/SLUG/memory

        MEMORY.md  203 lines, 6.5 KB, cut off at line 201
        limits     200 lines, 24.4 KB
        loaded       2903 tokens  loaded at every session start
        on demand      38 tokens  3 topic files
        lost           47 tokens  3 entries after the cut

        Lost entries (Claude Code does not see them): 3
           202  zebra.md  Long
           203  zebra.md  Last

        Entries without a file: 1
             5  gone.md  Gone

        Files without an entry: 1
          lonely.md

        Entries for a file that has one already: 197
                … 177 more

        Entries over 200 characters: 1
           202  zebra.md  Long

        Lines that repeat your instructions: 1
             6  CLAUDE.md: never push to main without a review

        `lorelane auto tidy --dry-run` shows how to make it fit."#]]
    .assert_eq(&shown.join("\n").replace(&project_slug(scratch.project().to_str().unwrap()), "SLUG"));
    let json = scratch.json("auto status");
    let at = |path: &str| json.at(path).and_then(Json::as_u64);
    assert_eq!((at("index.lines"), at("index.cut_at")), (Some(203), Some(201)));
    let lost = json.at("lost").and_then(Json::as_list).unwrap();
    assert_eq!(lost.len(), 3, "{lost:?}");
}

#[test]
fn a_new_memory_is_a_file_and_a_line_and_undo_takes_both_back() {
    let scratch = Scratch::with_auto();
    scratch
        .lorelane(
            "create auto/release --type value --title 'Small releases beat big ones' --text 'Release often.'",
        )
        .expect(0);
    expect![[r#"
        ---
        description: "Small releases beat big ones"
        name: release
        metadata:
          node_type: memory
          type: feedback
          kind: value
        ---

        Release often.
    "#]]
    .assert_eq(&scratch.read_auto("release.md"));
    assert_eq!(
        scratch.read_auto("MEMORY.md"),
        format!("{INDEX}- [release](release.md) — Small releases beat big ones\n")
    );
    assert_eq!(addresses(&scratch, "list value"), ["auto/release"]);
    scratch.lorelane("undo").expect(0);
    assert_eq!(scratch.read_auto("MEMORY.md"), INDEX);
    assert!(!scratch.auto().join("release.md").exists());
    scratch.lorelane("append auto/use-pnpm 'Also in CI.'").expect(0);
    assert_eq!(scratch.read_auto("use-pnpm.md"), format!("{PNPM}\nAlso in CI.\n"));
    scratch.lorelane("doctor").expect(0);
}

#[test]
fn an_archived_memory_comes_back_with_its_line_where_it_was() {
    let scratch = Scratch::with_auto();
    for (verb, status) in [("archive", "archived"), ("retire", "retired")] {
        scratch.lorelane(&format!("{verb} auto/use-pnpm")).expect(0);
        assert_eq!(scratch.read_auto("archive/use-pnpm.md"), PNPM);
        assert!(!scratch.auto().join("use-pnpm.md").exists());
        assert_eq!(
            scratch.read_auto("MEMORY.md"),
            INDEX.replace("- [Use pnpm](use-pnpm.md) — Use pnpm and never npm\n", "")
        );
        assert_eq!(addresses(&scratch, &format!("list --status {status}")), ["auto/archive/use-pnpm"]);
        assert_eq!(addresses(&scratch, "search pnpm lockfile"), [""; 0]);
        scratch.lorelane("restore use-pnpm").expect(0);
        assert_eq!(
            (scratch.read_auto("MEMORY.md"), scratch.read_auto("use-pnpm.md")),
            (INDEX.to_owned(), PNPM.to_owned())
        );
        assert_eq!(addresses(&scratch, "list auto --sort address"), ["auto/use-pnpm", "auto/zebra"]);
    }
    assert!(
        scratch.auto_files().iter().all(|path| path.ends_with(".md") || path == "archive/"),
        "{:?}",
        scratch.auto_files()
    );
    let marks = fs::read_dir(scratch.home().join("data/auto")).unwrap().count();
    assert_eq!(marks, 1, "marks are in the user's data folder");
}

#[test]
fn a_standalone_file_becomes_an_index() {
    let text = "# Memory\n\nGeneral rule.\n\n## Build\n\nRun `make all`.\nThen `make test`.\n\n## Deploy\n- Use the blue cluster\n- Never on Friday\n";
    let scratch = Scratch::with_store();
    scratch.put_auto("MEMORY.md", text);
    assert_eq!(addresses(&scratch, "list auto"), ["auto/MEMORY"]);
    let refused = scratch.lorelane("archive auto/MEMORY");
    assert!(refused.code != Some(0) && refused.err.contains("auto tidy"), "{}", refused.text());
    scratch.lorelane("create auto/new --text 'Something new.'").expect(0);
    expect![[r#"
        # Memory
        - [Memory](general.md) — General rule.

        ## Build
        - [Build](build.md) — Run `make all`. (and 1 more)

        ## Deploy
        - [Deploy](deploy.md) — Use the blue cluster (and 1 more)
        - [new](new.md) — Something new.
    "#]]
    .assert_eq(&scratch.read_auto("MEMORY.md"));
    assert_eq!(scratch.read_auto("archive/MEMORY.2026-03-01.md"), text);
    assert_eq!(
        addresses(&scratch, "list auto --sort address"),
        ["auto/build", "auto/deploy", "auto/general", "auto/new"]
    );
    assert_eq!(addresses(&scratch, "search blue cluster"), ["auto/deploy"]);
    scratch.lorelane("undo").expect(0);
    assert_eq!(scratch.read_auto("MEMORY.md"), text);
}

#[test]
fn tidy_makes_an_index_fit() {
    let scratch = Scratch::with_auto();
    let many: String =
        (1..=300).map(|at| format!("- [Topic {at}](t{at}.md) — {}\n", "y".repeat(100))).collect();
    let text = format!("{INDEX}\n## Topics\n\n{many}");
    scratch.put_auto("MEMORY.md", &text);
    let before = scratch.auto_files();
    let preview = scratch.lorelane("auto tidy --dry-run").expect(0);
    assert!(preview.out.starts_with("Would shorten MEMORY.md from 308 lines"), "{}", preview.out);
    assert_eq!(scratch.auto_files(), before);
    scratch.lorelane("auto tidy").expect(0);
    let json = scratch.json("auto status");
    assert!(json.at("index.lines").and_then(Json::as_u64).unwrap() < 140);
    assert!(json.at("index.units").and_then(Json::as_u64).unwrap() < 17_500);
    let all: String = scratch
        .auto_files()
        .iter()
        .filter(|path| path.ends_with(".md"))
        .map(|path| scratch.read_auto(path))
        .collect();
    for line in text.lines().filter(|line| !line.is_empty()) {
        assert!(all.lines().any(|kept| kept == line), "{line}");
    }
    assert_eq!(scratch.lorelane("auto tidy").expect(0).out, "No change: MEMORY.md is small enough\n");
    let undone = scratch.lorelane("undo").expect(0).out;
    assert!(undone.contains("Restored the previous contents of auto/MEMORY\n"), "{undone}");
    assert!(undone.contains("Removed auto/") && !undone.contains("Removed auto/MEMORY"), "{undone}");
    assert_eq!(scratch.read_auto("MEMORY.md"), text);
}

#[test]
fn the_client_is_not_reminded_of_what_it_loads() {
    let scratch = Scratch::with_auto();
    scratch.put_auto("lonely.md", "---\nname: lonely\ndescription: The walrus queue retries every payment\ntype: project\n---\nThe walrus queue retries every payment three times.\n");
    let prompt = |client: &str, text: &str| {
        let said = scratch.hook_of(client, "prompt", &payload(&scratch, &[("prompt", Json::text(text))]));
        context(&said.expect(0).out)
    };
    let zebra = "how does the zebra service write the billing exports?";
    assert_eq!(prompt("claude-code", zebra), "");
    assert!(scratch.lorelane("why auto/zebra").expect(1).out.contains("Claude Code loads it by itself"));
    let other = payload(&scratch, &[("prompt", Json::text(zebra)), ("session_id", Json::text("s-3"))]);
    assert!(scratch.hook_of("codex", "prompt", &other).expect(0).out.contains("auto/zebra"));
    // A topic without an entry is not loaded.
    let walrus = "how often does the walrus queue retry a payment?";
    assert!(prompt("claude-code", walrus).contains("auto/lonely"));
    // Neither is an entry after the cut.
    let many: String = (1..=300).map(|at| format!("- [T{at}](t{at}.md)\n")).collect();
    scratch.put_auto("MEMORY.md", format!("{many}{INDEX}"));
    assert!(prompt("claude-code", zebra).contains("auto/zebra"));
    // Neither is anything while auto memory is off.
    scratch.put_auto("MEMORY.md", INDEX);
    fs::write(scratch.home().join(".claude/settings.json"), "{\"autoMemoryEnabled\": false}").unwrap();
    let other = payload(&scratch, &[("prompt", Json::text(zebra)), ("session_id", Json::text("s-2"))]);
    assert!(context(&scratch.hook_of("claude-code", "prompt", &other).expect(0).out).contains("auto/zebra"));
}

#[test]
fn settings_of_the_user_and_not_of_a_repository_say_where_it_is() {
    let scratch = Scratch::with_store();
    let elsewhere = scratch.home().join("mine");
    fs::create_dir_all(&elsewhere).unwrap();
    fs::write(elsewhere.join("zebra.md"), ZEBRA).unwrap();
    let setting = format!("{{\"autoMemoryDirectory\": \"{}\"}}", elsewhere.to_str().unwrap());
    for name in ["settings.json", "settings.local.json"] {
        scratch.put(&format!(".claude/{name}"), &setting);
    }
    assert_eq!(addresses(&scratch, "list auto"), [""; 0], "a repository cannot point at a folder");
    fs::create_dir_all(scratch.home().join(".claude")).unwrap();
    fs::write(scratch.home().join(".claude/settings.json"), "{\"autoMemoryDirectory\": \"~/mine\"}").unwrap();
    assert_eq!(addresses(&scratch, "list auto"), ["auto/zebra"]);
}

#[test]
fn two_projects_with_one_slug_are_not_mixed_up() {
    let scratch = Scratch::with_auto();
    let other = scratch.folder.join("other");
    fs::create_dir_all(&other).unwrap();
    let session =
        |cwd: &str| format!("{{\"type\":\"summary\"}}\n{{\"type\":\"user\",\"cwd\":\"{cwd}\"}}\n{{\"cut");
    let folder = scratch.auto().parent().unwrap().to_owned();
    fs::write(folder.join("a.jsonl"), session(other.to_str().unwrap())).unwrap();
    assert_eq!(addresses(&scratch, "list auto"), [""; 0]);
    // A project that does not exist any more may have been renamed to this one.
    fs::write(folder.join("a.jsonl"), session("/nowhere/at/all")).unwrap();
    assert_eq!(addresses(&scratch, "list auto").len(), 2);
    fs::write(folder.join("a.jsonl"), session(other.to_str().unwrap())).unwrap();
    fs::write(folder.join("b.jsonl"), session(scratch.project().join("sub").to_str().unwrap())).unwrap();
    assert_eq!(addresses(&scratch, "list auto").len(), 2);
}

#[test]
fn work_trees_share_the_folder_of_the_repository() {
    let scratch = Scratch::with_auto();
    scratch.git(&["init", "-q"]);
    scratch.git(&["add", "-A"]);
    scratch.git(&["commit", "-qm", "x"]);
    scratch.git(&["worktree", "add", "-q", "../tree"]);
    let said = scratch.command(&["list", "auto", "-C", "../tree"]).output().unwrap();
    assert!(String::from_utf8_lossy(&said.stdout).contains("auto/zebra"), "{said:?}");
}

#[test]
fn a_folder_in_the_repository_is_shared_with_the_records() {
    let scratch = Scratch::with_jwt();
    scratch.put(".claude/memory/MEMORY.md", INDEX);
    scratch.put(".claude/memory/zebra.md", ZEBRA);
    assert_eq!(addresses(&scratch, "list --sort address"), ["auto/zebra", "decision/use-jwt"]);
    scratch.lorelane("archive auto/zebra").expect(0);
    assert!(scratch.exists(".claude/memory/archive/zebra.md"));
    assert!(scratch.read(".lorelane/marks.jsonl").contains("auto/archive/zebra"));
    scratch.lorelane("update use-jwt --add-tag x").expect(0);
    scratch.lorelane("restore auto/archive/zebra").expect(0);
    assert_eq!(scratch.read(".claude/memory/MEMORY.md"), INDEX);
    scratch.lorelane("undo").expect(0);
    scratch.lorelane("doctor").expect(0);
    // The client may write its own files there.
    let write = |path: &str| {
        let input = Json::parse(&format!(
            "{{\"file_path\": \"{}\", \"content\": \"x\"}}",
            scratch.project().join(path).display()
        ));
        let members = [("tool_name", Json::text("Write")), ("tool_input", input.unwrap())];
        scratch.hook("before-tool", &members).expect(0).out
    };
    assert_eq!(write(".claude/memory/MEMORY.md"), "");
    assert_eq!(write(".claude/memory/new-topic.md"), "");
    assert!(write(".claude/memory/decisions/use-jwt.json").contains("deny"));
}

#[test]
fn the_clients_own_tools_may_write_its_folder() {
    let scratch = Scratch::with_auto();
    let file = scratch.auto().join("new.md");
    let input =
        Json::parse(&format!("{{\"file_path\": \"{}\", \"content\": \"x\"}}", file.display())).unwrap();
    let members = [("tool_name", Json::text("Write")), ("tool_input", input)];
    assert_eq!(scratch.hook("before-tool", &members).expect(0).out, "");
    assert_eq!(scratch.hook("after-tool", &members).expect(0).out, "");
}

#[test]
fn bad_files_are_reported_and_never_fatal() {
    let scratch = Scratch::with_auto();
    scratch.put_auto("latin.md", b"---\nname: caf\xe9\n---\nBody".as_slice());
    scratch.put_auto("bom.md", format!("\u{feff}{ZEBRA}"));
    scratch.put_auto("crlf.md", ZEBRA.replace('\n', "\r\n"));
    scratch.put_auto("unclosed.md", "---\nname: x\n\nNever closed.\n");
    scratch.put_auto("large.md", vec![b'x'; 50 << 20]);
    std::os::unix::fs::symlink(".", scratch.auto().join("loop")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", scratch.auto().join("link.md")).unwrap();
    let listed = addresses(&scratch, "list auto --sort address");
    assert_eq!(listed, ["auto/bom", "auto/crlf", "auto/unclosed", "auto/use-pnpm", "auto/zebra"]);
    let doctor = scratch.lorelane("doctor").out;
    for name in ["latin.md", "large.md", "link.md"] {
        assert!(doctor.contains(name), "{name}: {doctor}");
    }
    let status = scratch.lorelane("auto status").expect(0).out;
    for name in ["latin.md", "large.md", "link.md"] {
        assert!(status.contains(name), "{name}: {status}");
    }
    for name in ["bom.md", "unclosed.md"] {
        assert!(status.contains(name) && !doctor.contains(name), "{name}: {status}");
    }
    let refused = scratch.lorelane("append auto/unclosed more");
    assert!(refused.code != Some(0), "{}", refused.text());
    assert_eq!(scratch.read_auto("unclosed.md"), "---\nname: x\n\nNever closed.\n");
    // An index that is not text is not rewritten.
    scratch.put_auto("MEMORY.md", b"- [A](zebra.md) caf\xe9\n".as_slice());
    assert!(scratch.lorelane("archive auto/zebra").code != Some(0));
    assert!(scratch.lorelane("auto status").code != Some(0));
    assert_eq!(fs::read(scratch.auto().join("MEMORY.md")).unwrap(), b"- [A](zebra.md) caf\xe9\n");
}
