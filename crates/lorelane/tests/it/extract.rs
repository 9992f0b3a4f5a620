//! `extract` as a person uses it: transcripts that clients wrote before, of this project and of others.

use crate::scratch::Scratch;
use lorelane_core::json::{Json, JsonFormat};
use std::fs;
use std::path::{Path, PathBuf};

fn object<const N: usize>(members: [(&str, Json); N]) -> Json {
    Json::Object(members.map(|(key, value)| (key.to_owned(), value)).into_iter().collect())
}

fn line(json: &Json) -> String {
    format!("{}\n", json.render(JsonFormat::LINE))
}

/// A line of Claude Code.
fn claude(cwd: &Path, speaker: &str, text: &str) -> String {
    line(&object([
        ("cwd", Json::text(cwd.to_str().unwrap())),
        ("type", Json::text(speaker)),
        ("message", object([("role", Json::text(speaker)), ("content", Json::text(text))])),
        ("timestamp", Json::text("2026-02-20T09:30:00.000Z")),
    ]))
}

/// A line of Codex.
fn codex(speaker: &str, text: &str) -> String {
    let kind = if speaker == "user" { "input_text" } else { "output_text" };
    let content = object([("type", Json::text(kind)), ("text", Json::text(text))]);
    let payload = object([
        ("type", Json::text("message")),
        ("role", Json::text(speaker)),
        ("content", Json::List(vec![content])),
    ]);
    line(&object([("type", Json::text("response_item")), ("payload", payload)]))
}

fn codex_start(cwd: &Path) -> String {
    let payload = object([("id", Json::text("c0de")), ("cwd", Json::text(cwd.to_str().unwrap()))]);
    line(&object([("type", Json::text("session_meta")), ("payload", payload)]))
}

/// The form that Claude Code shows, as its transcript has the result.
fn answered(cwd: &Path, question: &str, answer: &str) -> String {
    let option = object([("label", Json::text(answer)), ("description", Json::text("it is there already"))]);
    let asked = object([("question", Json::text(question)), ("options", Json::List(vec![option]))]);
    let result = object([
        ("questions", Json::List(vec![asked])),
        ("answers", object([(question, Json::text(answer))])),
    ]);
    let block = object([("type", Json::text("tool_result")), ("content", Json::text("answered"))]);
    line(&object([
        ("cwd", Json::text(cwd.to_str().unwrap())),
        ("type", Json::text("user")),
        ("message", object([("content", Json::List(vec![block]))])),
        ("toolUseResult", result),
    ]))
}

fn put_session(scratch: &Scratch, folder: &str, id: &str, text: impl AsRef<[u8]>) -> PathBuf {
    let folder = scratch.home().join(".claude/projects").join(folder);
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join(format!("{id}.jsonl"));
    fs::write(&path, text).unwrap();
    path
}

fn texts(document: &Json, key: &str) -> Vec<String> {
    let items = document.at("items").and_then(Json::as_list).unwrap();
    let text = |item: &Json| match item.at(key) {
        Some(Json::List(words)) => words[0].as_text().unwrap().to_owned(),
        Some(value) => value.as_text().map_or_else(|| value.render(JsonFormat::LINE), str::to_owned),
        None => String::new(),
    };
    items.iter().map(text).collect()
}

fn count(document: &Json, path: &str) -> u64 {
    document.at(path).and_then(Json::as_u64).unwrap()
}

const VALUE: &str = "I prefer boring libraries over clever frameworks.";
const CORRECTION: &str = "No, we use pnpm in this repository, not npm. Its links are strict.";
const RULE: &str = "Please always run the linter before you commit anything.";

fn two_sessions() -> Scratch {
    let scratch = Scratch::with_store();
    let cwd = scratch.project();
    let first = [
        claude(&cwd, "user", CORRECTION),
        claude(&cwd, "assistant", "You're right."),
        answered(&cwd, "Which database should the importer use?", "Postgres"),
        claude(&cwd, "user", VALUE),
        claude(&cwd, "assistant", "Readability matters more than speed to me."),
    ];
    put_session(&scratch, "a-name-that-says-nothing", "0d9e-first", first.concat());
    let second = [codex_start(&cwd), codex("user", RULE), codex("assistant", "Understood.")];
    let folder = scratch.home().join(".codex/sessions/2026/02/21");
    fs::create_dir_all(&folder).unwrap();
    let name = "rollout-2026-02-21T10-00-00-019c0000-aaaa-7bbb-8ccc-0123456789ab.jsonl";
    fs::write(folder.join(name), second.concat()).unwrap();
    scratch
}

#[test]
fn values_come_first_and_each_item_says_where_it_belongs() {
    let scratch = two_sessions();
    let dry = scratch.json("extract --dry-run");
    assert_eq!(texts(&dry, "item"), ["null"; 4]);
    assert_eq!(scratch.lorelane("inbox").code, Some(1), "a dry run changes nothing");
    let done = scratch.json("extract");
    assert_eq!(
        texts(&done, "words"),
        [VALUE, "Which database should the importer use? Postgres", CORRECTION, RULE]
    );
    assert_eq!(texts(&done, "item"), ["1", "2", "3", "4"]);
    assert_eq!(texts(&done, "destination"), ["value-memory", "memory", "memory", "agents-md"]);
    assert_eq!(texts(&done, "session")[3], "019c0000-aaaa-7bbb-8ccc-0123456789ab");
    let inbox = scratch.json("inbox");
    assert_eq!(texts(&inbox, "destination"), texts(&done, "destination"));
    assert_eq!(texts(&inbox, "date")[0], "2026-02-20", "when it was said");
    assert!(scratch.lorelane("inbox").out.contains("1. value, 2026-02-20"));
    scratch.lorelane("inbox accept 1 2").expect(0);
    let memory = scratch.lorelane("show preference/i-prefer-boring-libraries-over-clever-frameworks");
    assert!(memory.out.contains("2026-02-20"), "{memory:?}");
}

#[test]
fn a_session_is_extracted_once_and_again_when_it_grows() {
    let scratch = two_sessions();
    scratch.lorelane("extract").expect(0);
    let again = scratch.lorelane("extract");
    assert_eq!(
        (again.code, again.out.as_str()),
        (Some(1), "Read 0 sessions of this project\nNothing new was found\n")
    );
    let all = scratch.json("extract --all");
    assert_eq!((texts(&all, "words").len(), count(&all, "left_out.known")), (0, 4));
    let grown = "Let's go with SQLite for the local cache instead of files, because it locks for us.";
    let path = scratch.home().join(".claude/projects/a-name-that-says-nothing/0d9e-first.jsonl");
    let text = fs::read_to_string(&path).unwrap() + &claude(&scratch.project(), "user", grown);
    fs::write(&path, text).unwrap();
    let more = scratch.json("extract");
    assert_eq!((texts(&more, "words"), texts(&more, "item")), (vec![grown.to_owned()], vec!["5".to_owned()]));
}

#[test]
fn what_is_known_or_rejected_is_left_out_and_the_rest_waits_for_room() {
    let scratch = two_sessions();
    let first = scratch.json("extract --limit 1");
    assert_eq!((texts(&first, "words"), count(&first, "left_out.over_limit")), (vec![VALUE.to_owned()], 3));
    scratch.lorelane("inbox reject 1 --because 'not a rule'").expect(0);
    let rest = scratch.json("extract");
    assert_eq!(texts(&rest, "item"), ["2", "3", "4"], "numbers are never used again");
    let line = "create preference --title 'Answer in short sentences' --tag style \
                --set 'topic=Answers' --set 'value=Answer in short sentences and name the file first' --set reason=Readable";
    scratch.lorelane(line).expect(0);
    let cwd = scratch.project();
    let other = [
        claude(&cwd, "user", "Always answer in short sentences and name the file first."),
        claude(&cwd, "assistant", "Understood."),
        claude(&cwd, "user", "I prefer boring libraries over any clever frameworks"),
        claude(
            &cwd,
            "user",
            "Just this once, always skip nothing: use the old importer for this branch instead.",
        ),
        claude(&cwd, "user", CORRECTION),
    ];
    put_session(&scratch, "x", "third", other.concat());
    let third = scratch.json("extract third");
    assert_eq!(texts(&third, "words").len(), 0, "{third:?}");
    assert_eq!(count(&third, "left_out.said"), 1, "{third:?}");
    assert_eq!(count(&third, "left_out.rejected"), 1, "{third:?}");
    assert_eq!(count(&third, "left_out.passing"), 1, "{third:?}");
}

#[test]
fn a_session_belongs_to_the_project_it_ran_in() {
    let scratch = Scratch::with_store();
    let other = scratch.folder.join("other");
    fs::create_dir_all(other.join(".claude/memory")).unwrap();
    let own_name: String = scratch
        .project()
        .to_str()
        .unwrap()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect();
    // The name of the folder is that of this project, and the session is not.
    put_session(&scratch, &own_name, "foreign", claude(&other, "user", CORRECTION));
    let skipped = scratch.lorelane("extract");
    assert_eq!(skipped.code, Some(1));
    assert!(
        skipped.out.contains(
            "Session foreign belongs to another project: run `lorelane -C ~/other extract foreign`"
        ),
        "{skipped:?}"
    );
    let there = scratch.lorelane("-C ../other extract foreign");
    assert!(there.out.contains("1. correction"), "{there:?}");
    // A part of the project with memories of its own.
    fs::create_dir_all(scratch.project().join("part/.claude/memory")).unwrap();
    put_session(&scratch, "y", "part", claude(&scratch.project().join("part"), "user", CORRECTION));
    // A session in a subfolder, and one that says nothing but is in this project's folder.
    fs::create_dir_all(scratch.project().join("src/deep")).unwrap();
    put_session(&scratch, "y", "below", claude(&scratch.project().join("src/deep"), "user", RULE));
    let bare =
        line(&object([("type", Json::text("user")), ("message", object([("content", Json::text(VALUE))]))]));
    put_session(&scratch, &own_name, "bare", &bare);
    put_session(&scratch, "z", "nowhere", &bare);
    let done = scratch.lorelane("extract --json");
    let document = Json::parse(&done.out).unwrap();
    assert_eq!(texts(&document, "words"), [VALUE, RULE]);
    assert!(done.err.contains("nowhere.jsonl: it does not say in which folder it ran"), "{done:?}");
}

#[test]
fn a_worktree_is_the_same_project() {
    let scratch = Scratch::with_store();
    scratch.git(&["init", "-q"]);
    scratch.git(&["commit", "-q", "--allow-empty", "-m", "start"]);
    scratch.git(&["worktree", "add", "-q", "../tree"]);
    put_session(&scratch, "w", "tree", claude(&scratch.folder.join("tree"), "user", RULE));
    put_session(&scratch, "w", "gone", claude(&scratch.project().join("gone"), "user", VALUE));
    assert_eq!(texts(&scratch.json("extract"), "words"), [VALUE, RULE]);
}

#[test]
fn a_session_is_named_by_its_id_a_part_of_it_or_a_path() {
    let scratch = two_sessions();
    let path = put_session(&scratch, "a", "0d9e-second", claude(&scratch.project(), "user", RULE));
    let unclear = scratch.lorelane("extract 0d9e");
    assert_eq!(unclear.code, Some(2));
    assert!(unclear.err.contains("'0d9e' is the beginning of several sessions"), "{unclear:?}");
    assert_eq!(scratch.lorelane("extract nothing-like-it").code, Some(2));
    assert_eq!(texts(&scratch.json("extract 0d9e-sec --dry-run"), "words"), [RULE]);
    assert_eq!(texts(&scratch.json(&format!("extract {} --dry-run", path.display())), "words"), [RULE]);
    assert_eq!(texts(&scratch.json("extract 019c --dry-run"), "words"), [RULE]);
    assert_eq!(scratch.lorelane("extract --since 99999d --dry-run").code, Some(0));
    assert_eq!(scratch.lorelane("extract --since yesterday").code, Some(2));
    assert_eq!(scratch.lorelane("extract 019c --all").code, Some(2));
}

#[test]
fn other_homes_of_the_clients_are_honoured() {
    let scratch = two_sessions();
    let elsewhere = scratch.folder.join("elsewhere");
    fs::create_dir_all(&elsewhere).unwrap();
    for (variable, from, sessions) in [("CLAUDE_CONFIG_DIR", ".claude", 2), ("CODEX_HOME", ".codex", 2)] {
        let moved = elsewhere.join(from);
        fs::rename(scratch.home().join(from), &moved).unwrap();
        let mut command = scratch.command(&["extract", "--dry-run", "--json"]);
        command.env(variable, &moved);
        let document = Json::parse(&scratch.said(&command.output().unwrap()).out).unwrap();
        assert_eq!(count(&document, "sessions"), sessions, "{variable}");
        fs::rename(&moved, scratch.home().join(from)).unwrap();
    }
}

#[test]
fn an_approved_statement_and_a_reference_are_kept_with_what_they_are() {
    let scratch = Scratch::with_store();
    let cwd = scratch.project();
    let proposal =
        "We should always use UUIDv7 for new tables instead of integers, because they sort by time.";
    let reference = "https://example.com/limits is where the partner documents the rate limits of the API.";
    let text = [
        claude(&cwd, "user", "how do we name the ids?"),
        claude(&cwd, "assistant", proposal),
        claude(&cwd, "user", "yes, exactly"),
        claude(&cwd, "assistant", "Done. The tests pass."),
        claude(&cwd, "user", "perfect, thanks"),
        claude(&cwd, "user", reference),
        claude(&cwd, "user", "open https://example.com/x and fix the link"),
    ];
    put_session(&scratch, "p", "s", text.concat());
    let found = scratch.json("extract");
    assert_eq!(texts(&found, "form"), ["approval", "reference"], "{found:?}");
    assert_eq!(texts(&found, "words"), [proposal, reference]);
}

#[test]
fn a_transcript_that_is_not_as_it_should_be_costs_at_most_what_is_wrong_in_it() {
    let scratch = Scratch::with_store();
    let cwd = scratch.project();
    let rule = claude(&cwd, "user", RULE);
    let long = claude(&cwd, "user", &"log output of a server, line after line. ".repeat(500_000));
    assert!(long.len() > 20_000_000);
    put_session(&scratch, "a", "long", format!("{}{long}{rule}", claude(&cwd, "assistant", "hello")));
    put_session(&scratch, "b", "cut", format!("{}{}", claude(&cwd, "user", VALUE), &rule[..rule.len() / 2]));
    let mut latin = claude(&cwd, "user", CORRECTION).into_bytes();
    latin.extend(
        b"{\"type\":\"user\",\"message\":{\"content\":\"caf\xe9 always\"}}\n\xff\xfe\n[1]\nnull\n{}\n",
    );
    put_session(&scratch, "c", "latin", latin);
    let strange = "{\"kind\":\"oracle\",\"says\":\"Always trust the oracle.\"}\n"
        .replace("{\"kind\"", &format!("{{\"cwd\":\"{}\",\"kind\"", cwd.display()));
    put_session(&scratch, "d", "strange", strange);
    put_session(&scratch, "e", "empty", "");
    fs::create_dir_all(scratch.home().join(".claude/projects/f/folder.jsonl")).unwrap();
    fs::write(scratch.home().join(".codex"), "a file in place of a folder").unwrap();
    let done = scratch.lorelane("extract --json");
    let document = Json::parse(&done.out).unwrap();
    assert_eq!(texts(&document, "words"), [VALUE, CORRECTION, RULE], "{done:?}");
    for (file, why) in [
        ("long.jsonl", "1 line is too long, cut off or not UTF-8"),
        ("cut.jsonl", "1 line is too long, cut off or not UTF-8"),
        ("latin.jsonl", "1 line is too long, cut off or not UTF-8"),
        ("strange.jsonl", "it has no message in a format that lorelane knows"),
        ("empty.jsonl", "it does not say in which folder it ran"),
    ] {
        assert!(done.err.contains(&format!("{file}: {why}")), "{file}: {done:?}");
    }
    // Without any client there is nothing to read, and that is no error.
    let alone = Scratch::with_store();
    assert_eq!(alone.lorelane("extract").out, "Read 0 sessions of this project\nNothing new was found\n");
}

#[test]
fn hostile_words_are_printed_escaped_and_secrets_never() {
    let scratch = Scratch::with_store();
    let cwd = scratch.project();
    let secret = concat!("AKIA", "4TGHN2WQ7VKJX3ZD");
    let text = [
        claude(&cwd, "user", &format!("Always use the key {secret} for uploads, never another one.")),
        claude(&cwd, "user", "I prefer red\u{1b}[31m warnings over\u{202e} silent failures."),
        answered(&cwd, "Which key do we use?", secret),
    ];
    put_session(&scratch, "a", "s", text.concat());
    let done = scratch.lorelane("extract");
    assert!(done.out.contains("1. value") && !done.out.contains('\u{1b}'), "{done:?}");
    assert!(!done.out.contains('\u{202e}') && !done.out.contains(secret), "{done:?}");
    let stored = scratch.tree().into_iter().filter(|(path, _)| path.contains("captures"));
    for (path, bytes) in stored {
        assert!(!String::from_utf8_lossy(&bytes).contains(secret), "{path}");
    }
}

#[test]
fn an_item_is_written_where_it_is_told_to_and_taken_out_again() {
    let scratch = two_sessions();
    scratch.put("AGENTS.md", "# Agents\r\n\r\nBe kind.\r\n");
    scratch.lorelane("extract").expect(0);
    let before = scratch.tree();
    let dry = scratch.lorelane("inbox accept 4 --to agents-md --dry-run");
    assert_eq!(dry.out, "Item 4 would be written to ~/project/AGENTS.md\n", "{dry:?}");
    assert_eq!(scratch.lorelane("inbox accept 4 --to agents-md --edit").code, Some(2));
    assert_eq!(scratch.lorelane("inbox accept 4 --to somewhere").code, Some(2));
    scratch.lorelane("inbox accept 4 --to agents-md").expect(0);
    let rules = scratch.read("AGENTS.md");
    let block = format!("<!-- lorelane:begin -->\r\n- {RULE}\r\n<!-- lorelane:end -->\r\n");
    assert_eq!(rules, format!("# Agents\r\n\r\nBe kind.\r\n\r\n{block}"));
    scratch.lorelane("inbox accept 3 --to claude-md").expect(0);
    scratch.lorelane("inbox accept 2 --to knowledge").expect(0);
    assert_eq!(texts(&scratch.json("inbox"), "item"), ["1"], "what was written does not wait any more");
    assert!(
        scratch
            .read("docs/knowledge/decisions.md")
            .contains("Which database should the importer use? Postgres")
    );
    assert!(!scratch.lorelane("list").out.contains("pnpm"), "it is not a memory as well");
    let status = scratch.lorelane("status").out;
    for path in ["~/project/CLAUDE.md", "~/project/AGENTS.md", "~/project/docs/knowledge"] {
        assert!(status.contains(path), "{path}: {status}");
    }
    let again = claude(&scratch.project(), "user", "always run the linter before you commit anything");
    put_session(&scratch, "later", "again", again);
    assert_eq!(count(&scratch.json("extract again"), "left_out.said"), 1, "AGENTS.md says it");
    // What somebody wrote meanwhile stays.
    scratch.put("CLAUDE.md", format!("Mine.\n\n{}", scratch.read("CLAUDE.md")));
    assert_eq!(scratch.lorelane("setup rules").code, Some(2));
    scratch.lorelane("setup --remove rules --dry-run").expect(0);
    assert!(scratch.exists("docs/knowledge/decisions.md"));
    scratch.lorelane("setup --remove rules").expect(0);
    assert_eq!(scratch.read("CLAUDE.md"), "Mine.\n");
    fs::remove_file(scratch.project().join("CLAUDE.md")).unwrap();
    let in_project = |tree: std::collections::BTreeMap<String, Vec<u8>>| {
        tree.into_iter().filter(|(path, _)| path.starts_with("project")).collect::<Vec<_>>()
    };
    assert_eq!(in_project(scratch.tree()), in_project(before), "every other byte is as before");
    assert_eq!(scratch.lorelane("setup --remove rules").code, Some(1));
}

#[test]
fn a_file_that_is_not_ours_to_edit_is_left_alone() {
    let scratch = two_sessions();
    scratch.lorelane("extract").expect(0);
    let outside = scratch.home().join("profile");
    fs::write(&outside, "mine\n").unwrap();
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(&outside, scratch.project().join("CLAUDE.md")).unwrap();
        let refused = scratch.lorelane("inbox accept 4 --to claude-md");
        assert_eq!(refused.code, Some(2), "{refused:?}");
        assert_eq!(fs::read_to_string(&outside).unwrap(), "mine\n");
    }
    scratch.put("AGENTS.md", b"caf\xe9\n");
    assert_eq!(scratch.lorelane("inbox accept 4 --to agents-md").code, Some(2));
    scratch.put("AGENTS.md", "<!-- lorelane:begin -->\nno end\n");
    let broken = scratch.lorelane("inbox accept 4 --to agents-md");
    assert!(broken.err.contains("a marker of lorelane's block is missing"), "{broken:?}");
    assert_eq!(texts(&scratch.json("inbox"), "item"), ["1", "2", "3", "4"], "it still waits");
}

/// What says the same takes no room: the limit counts what goes to the inbox.
#[test]
fn the_limit_is_filled_with_different_items() {
    let scratch = Scratch::with_store();
    let cwd = scratch.project();
    let session = |values: &[(&str, &str)]| -> String {
        let value = |(one, other): &(&str, &str)| {
            let said = claude(&cwd, "user", &format!("I prefer {one} over {other}."));
            said + &claude(&cwd, "assistant", "Understood.")
        };
        values.iter().map(value).collect()
    };
    // Three values that twenty sessions repeat, and five that one session has.
    let repeated = session(&[
        ("boring libraries", "clever frameworks"),
        ("short functions", "long comments"),
        ("monthly invoices", "daily receipts"),
    ]);
    for number in 0..20 {
        put_session(&scratch, "x", &format!("0d9e-same-{number}"), &repeated);
    }
    let others = session(&[
        ("plain queries", "a mapper"),
        ("small releases", "big migrations"),
        ("explicit errors", "silent fallbacks"),
        ("local caches", "remote lookups"),
        ("paper maps", "satellite navigation"),
    ]);
    put_session(&scratch, "x", "0d9e-other", &others);
    let found = scratch.json("extract --all --limit 6");
    assert_eq!(texts(&found, "words").len(), 6, "{found:?}");
    assert_eq!(count(&found, "left_out.repeated"), 57, "{found:?}");
    assert_eq!(count(&found, "left_out.over_limit"), 2, "{found:?}");
    assert_eq!(count(&found, "left_out.known"), 0, "nothing waited: {found:?}");
}
