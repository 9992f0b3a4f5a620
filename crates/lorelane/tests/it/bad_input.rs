//! Anything may be typed, piped or found in a folder: it gets an answer, and nothing is lost.

use crate::scratch::{CONFIG, DECISION, LANE, LISTING, MARKS, Said, Scratch, USE_JWT};
use expect_test::{Expect, expect};
use lorelane_core::json::Json;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Stdio};

fn check(seen: &str, expected: &Expect) {
    expected.assert_eq(seen);
}

/// What a refusal owes its reader: what was attempted, on what, and what to do.
fn assert_helpful(said: &Said, names: &[&str]) {
    let text = said.text();
    assert!(said.err.starts_with("error") && said.err.contains("cannot "), "{text}");
    assert!(said.err.contains("hint: "), "{text}");
    assert!(!said.err.contains("internal error"), "{text}");
    assert!(names.iter().all(|name| said.err.contains(name)), "{names:?} in {text}");
}

fn record(content: &str) -> String {
    format!(r#"{{"title": "Piped", "tags": ["x"], "content": {content}}}"#)
}

#[test]
fn a_draft_that_is_no_record_is_refused_and_nothing_is_written() {
    let good = r#"{"context": "c", "decision": "d", "rationale": ["r"], "status": "accepted"}"#;
    let huge = record(&good.replace("\"c\"", &format!("\"{}\"", "x".repeat(10 << 20))));
    let deep = record(&format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000)));
    let keys: String = (0..5_000).map(|n| format!("\"k{n}\": 1, ")).collect();
    let many_keys = format!("{{{keys}\"title\": \"T\"}}");
    let table: &[(&str, Vec<u8>, &[&str])] = &[
        ("empty", b"".to_vec(), &["not JSON"]),
        ("prose", b"hello".to_vec(), &["not JSON"]),
        ("half an object", br#"{"title": "x""#.to_vec(), &["not JSON"]),
        ("two objects", b"{} {}".to_vec(), &["not JSON"]),
        ("a list", b"[1]".to_vec(), &["not a JSON object"]),
        ("null", b"null".to_vec(), &["not a JSON object"]),
        ("a number as title", br#"{"title": 5}"#.to_vec(), &["title"]),
        ("a text as content", record("\"x\"").into(), &["VALIDATION_ERROR", "content"]),
        ("a list as context", record(&good.replace("\"c\"", "[1]")).into(), &["content.context"]),
        ("an object as tags", record(good).replace("[\"x\"]", "{}").into(), &["tags"]),
        ("10 MB", huge.into(), &["larger than 1024 KiB"]),
        ("deep nesting", deep.into(), &["not JSON"]),
        ("a raw NUL", b"{\"title\": \"a\0b\"}".to_vec(), &["not JSON"]),
        ("a raw escape", b"{\"title\": \"a\x1bb\"}".to_vec(), &["not JSON"]),
        ("broken UTF-8", b"{\"title\": \"\xff\"}".to_vec(), &["not UTF-8 from byte 11"]),
        ("half a surrogate", br#"{"title": "\ud800"}"#.to_vec(), &["cannot"]),
        ("a key twice", br#"{"title": "a", "title": "b"}"#.to_vec(), &["`title` appears twice"]),
        ("5,000 keys", many_keys.into(), &["keys"]),
        ("unknown fields", record(good).replace("{\"title\"", "{\"mood\": 1, \"title\"").into(), &["mood"]),
        (
            "no time",
            record(good).replace("{\"title\"", "{\"created_at\": \"soon\", \"title\"").into(),
            &["created_at"],
        ),
    ];
    let scratch = Scratch::with_jwt();
    let before = scratch.tree_without_cache();
    for (name, input, names) in table {
        for line in ["create decision --from -", "update use-jwt --from -"] {
            // A title alone is enough for an update, and a time that no update sets is only warned of.
            if line.starts_with("update") && matches!(*name, "half a surrogate" | "no time") {
                continue;
            }
            let said = scratch.lorelane_with_input(line, input);
            assert_eq!(said.code, Some(2), "{name}: {line}: {}", said.text());
            // An update may call the same thing by the memory's name.
            let names = if line.starts_with("create") { *names } else { &[][..] };
            assert!(said.err.len() < 6_000, "{name}: {} bytes", said.err.len());
            assert_helpful(&said, names);
        }
    }
    fs::write(scratch.folder.join("draft.json"), b"\xff").unwrap();
    for from in ["../draft.json", "no-such-file.json", ".", "/dev/null"] {
        let said = scratch.lorelane(&format!("create decision --from {from}")).expect(2);
        assert_helpful(&said, &[from]);
    }
    assert_eq!(before, scratch.tree_without_cache());
}

#[test]
fn a_draft_from_another_editor_is_taken_as_it_was_meant() {
    let good =
        r#"{"context": "c\u0000\u001b[31m", "decision": "d", "rationale": ["r"], "status": "accepted"}"#;
    let text = record(good);
    let naive = text.replace("{\"title\"", "{\"created_at\": \"2026-01-01T10:00:00\", \"title\"");
    let mut tell = String::new();
    for (name, input) in [
        ("a byte-order mark", format!("\u{feff}{text}")),
        ("CRLF", text.replace(", ", ",\r\n")),
        ("a naive time", naive),
    ] {
        let scratch = Scratch::with_store();
        let said = scratch.lorelane_with_input("create decision --from -", input);
        let file = ".claude/memory/decisions/piped.json";
        let context = scratch.line(file, "content.context");
        let created = scratch.line(file, "created_at");
        assert!(!scratch.read(file).contains('\r') && !scratch.read(file).starts_with('\u{feff}'));
        tell.push_str(&format!("{name}\n{}context {context}\ncreated {created}\n\n", said.text()));
    }
    check(
        &tell,
        &expect![[r#"
        a byte-order mark
        Created decision/piped
        2> fixed: content: removed control characters
        context "c[31m"
        created "2026-03-01T12:00:00Z"

        CRLF
        Created decision/piped
        2> fixed: content: removed control characters
        context "c[31m"
        created "2026-03-01T12:00:00Z"

        a naive time
        Created decision/piped
        2> fixed: created_at: read as UTC, set to '2026-01-01T10:00:00Z'
        2> fixed: content: removed control characters
        context "c[31m"
        created "2026-01-01T10:00:00Z"

    "#]],
    );
}

/// A lane with one good memory and every kind of bad file.
fn with_bad_files() -> Scratch {
    let scratch = Scratch::with_jwt();
    let good = scratch.read(USE_JWT);
    let renamed = |name: &str| good.replace("use-jwt", name).replace("Use JWT", name);
    let files: [(&str, Vec<u8>); 11] = [
        ("not-json", b"hello".to_vec()),
        ("empty", b"".to_vec()),
        ("a-list", b"[]".to_vec()),
        ("not-utf8", b"{\"title\": \"\xff\"}".to_vec()),
        ("huge", vec![b' '; 3 << 20]),
        ("deep", format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000)).into()),
        ("lost-status", good.replace("\"active\"", "\"misplaced\"").into()),
        ("Not A Slug", good.clone().into()),
        ("with-bom", format!("\u{feff}{}", renamed("with-bom")).into()),
        ("with-crlf", renamed("with-crlf").replace('\n', "\r\n").into()),
        ("doubled", renamed("doubled").replacen('{', "{\"title\": \"Old\",", 1).into()),
    ];
    for (name, bytes) in files {
        scratch.put(&format!("{LANE}/decisions/{name}.json"), bytes);
    }
    fs::create_dir(scratch.project().join(LANE).join("decisions/a-folder.json")).unwrap();
    let pipe = scratch.project().join(LANE).join("decisions/a-pipe.json");
    assert!(Command::new("mkfifo").arg(pipe).status().unwrap().success());
    scratch
}

#[test]
fn files_that_cannot_be_read_hide_themselves_and_nothing_else() {
    let scratch = with_bad_files();
    check(
        &format!("$ list\n{}", scratch.lorelane("list --sort address").text()),
        &expect![[r#"
            $ list
              2026-03-01 decision/doubled   doubled #auth
              2026-03-01 decision/use-jwt   Use JWT #auth
              2026-03-01 decision/with-bom  with-bom #auth
              2026-03-01 decision/with-crlf with-crlf #auth
        "#]],
    );
    check(
        &scratch.lorelane("doctor").text(),
        &expect![[r#"
            file: decisions/Not A Slug.json: it is not in the folder of a category, or its name is not a slug
              hint: fix the file; it is ignored until then
            file: decisions/a-folder.json: it is not a regular file
              hint: put a regular, readable file in its place
            file: decisions/a-list.json: it is not a JSON object
              hint: fix the file; it is ignored until then
            file: decisions/a-pipe.json: it is not a regular file
              hint: put a regular, readable file in its place
            file: decisions/deep.json: it is not JSON: nested deeper than 100 levels at line 1 column 101
              hint: fix the file; it is ignored until then
            file: decisions/doubled.json: `title` appears twice; the last one counts
              hint: fix it with `lorelane edit`, or by hand
            file: decisions/empty.json: it is not JSON: expected a value at line 1 column 1
              hint: fix the file; it is ignored until then
            file: decisions/huge.json: it is larger than 1024 KiB
              hint: put a regular, readable file in its place
            file: decisions/lost-status.json: record_status: Input should be 'active', 'retired' or 'archived' (got "misplaced")
              hint: fix the file; it is ignored until then
            file: decisions/lost-status.json: its id differs from the file's name; the name counts
              hint: fix the file; it is ignored until then
            file: decisions/not-json.json: it is not JSON: expected a value at line 1 column 1
              hint: fix the file; it is ignored until then
            file: decisions/not-utf8.json: it is not UTF-8 from byte 11
              hint: fix the file; it is ignored until then
            file: decisions/with-bom.json: it starts with a byte-order mark, which other readers stumble over
              hint: fix it with `lorelane edit`, or by hand
            listing: index.md does not match the memories
              hint: `lorelane reindex` rewrites it
            exit 1
        "#]],
    );
    scratch.lorelane("search jwt").expect(0);
    assert!(scratch.lorelane("status").expect(0).out.contains("cannot be read: run `lorelane doctor`"));
    for name in
        ["not-json", "empty", "a-list", "not-utf8", "huge", "deep", "lost-status", "a-folder", "a-pipe"]
    {
        for line in [
            format!("show decision/{name}"),
            format!("update decision/{name} --set context=x"),
            format!("retire decision/{name}"),
            format!("edit decision/{name}"),
        ] {
            let said = scratch.lorelane(&line).expect(2);
            assert_helpful(&said, &[name]);
        }
    }
    for name in ["with-bom", "with-crlf", "doubled"] {
        scratch.lorelane(&format!("show decision/{name}")).expect(0);
    }
    scratch.lorelane("update with-crlf --set context=Changed").expect(0);
    let after = scratch.read(&format!("{LANE}/decisions/with-crlf.json"));
    assert!(after.contains("Changed") && after.contains("\r\n"));
    scratch.lorelane("reindex").expect(0);
}

#[test]
fn a_name_that_is_taken_by_something_else_is_not_overwritten() {
    let scratch = with_bad_files();
    for title in ["Not JSON", "A folder"] {
        let before = scratch.tree_without_cache();
        let said = scratch.lorelane(&format!("create decision --title '{title}' {DECISION}")).expect(2);
        assert_helpful(&said, &[]);
        assert_eq!(before, scratch.tree_without_cache());
    }
}

#[test]
fn a_listing_that_cannot_be_written_is_a_warning() {
    let scratch = Scratch::with_store();
    fs::remove_file(scratch.project().join(LISTING)).unwrap();
    fs::create_dir(scratch.project().join(LISTING)).unwrap();
    let said = scratch.decide("Use JWT");
    assert!(said.err.contains("warning: the listing is not up to date"), "{}", said.text());
    assert!(scratch.exists(USE_JWT));
    let left: Vec<String> = scratch.tree().into_keys().filter(|path| path.contains(".tmp")).collect();
    assert_eq!(left, [""; 0]);
    assert_eq!(scratch.lorelane("reindex").code, Some(2));
    scratch.lorelane("status").expect(0);
}

// A writer killed at the listing left its temporary file in the lane for good.
#[test]
fn what_a_killed_writer_left_of_the_listing_goes_with_the_next_write() {
    let scratch = Scratch::with_store();
    let left = ".claude/memory/.lorelane-index.md.tmp";
    scratch.put(left, "# Memory Ind");
    scratch.decide("Use JWT");
    assert!(!scratch.exists(left) && scratch.listing().contains("Use JWT"));
}

#[test]
fn marks_that_cannot_be_read_stop_no_read() {
    let scratch = Scratch::with_jwt();
    scratch.lorelane("pin use-jwt").expect(0);
    let marks = scratch.read(MARKS);
    scratch.put(MARKS, format!("<<<<<<< ours\n{marks}=======\nnonsense\n\u{0}\n"));
    assert!(scratch.lorelane("list").expect(0).out.starts_with("* "));
    assert!(
        scratch.lorelane("doctor").expect(1).out.contains("cannot read all lines of .lorelane/marks.jsonl")
    );
    fs::remove_file(scratch.project().join(MARKS)).unwrap();
    fs::create_dir(scratch.project().join(MARKS)).unwrap();
    for line in ["list", "show use-jwt", "status"] {
        scratch.lorelane(line).expect(0);
    }
    assert!(scratch.lorelane("doctor").expect(1).out.contains("marks: cannot read"));
    assert_helpful(&scratch.lorelane("pin use-jwt").expect(2), &["marks.jsonl"]);
}

/// Replaces a file or folder by a link; the original moves to `outside`.
fn link_out(scratch: &Scratch, place: &Path) {
    let outside = scratch.folder.join("outside");
    fs::create_dir_all(&outside).unwrap();
    let target = outside.join(place.file_name().unwrap());
    if place.exists() {
        fs::rename(place, &target).unwrap();
    } else {
        fs::create_dir_all(place.parent().unwrap()).unwrap();
    }
    symlink(&target, place).unwrap();
}

fn outside(scratch: &Scratch) -> BTreeMap<String, Vec<u8>> {
    let mut tree = BTreeMap::new();
    scratch.walk(&scratch.folder.join("outside"), &mut tree);
    tree
}

#[test]
fn nothing_is_written_through_a_link_out_of_the_project() {
    let places = [
        ".claude",
        LANE,
        ".claude/memory/decisions",
        USE_JWT,
        LISTING,
        CONFIG,
        ".lorelane",
        MARKS,
        "lorelane.toml",
        // These do not exist: the links lead nowhere, and what they name must not come to be.
        ".claude/memory/runbooks/made.json",
        ".claude/memory/.lorelane-journal",
    ];
    for place in places {
        for root in ["{}", r#"{"memory_root": "memories"}"#] {
            let scratch = Scratch::with_jwt();
            scratch.lorelane("pin use-jwt").expect(0);
            scratch.set_toml("secrets = \"allow\"\n");
            if place != CONFIG {
                scratch.configure(root);
            }
            link_out(&scratch, &scratch.project().join(place));
            let before = outside(&scratch);
            for line in [
                "init",
                &format!("create decision --title Other {DECISION}"),
                "create runbook --title Made --set trigger=t --set steps=s --set verification=v",
                "update use-jwt --set context=Changed",
                "update use-jwt --set title='Adopt PASETO for all services'",
                "retire use-jwt",
                "pin other",
                "config set auto_commit true",
                "config set secrets redact",
                "reindex",
                "gc --yes",
                "undo",
                "undo",
                "list",
                "doctor",
                "status",
            ] {
                let said = scratch.lorelane(line);
                assert!(!said.err.contains("internal error"), "{place}: {line}: {}", said.text());
                assert_eq!(before, outside(&scratch), "{place}, {root}: {line}: {}", said.text());
            }
        }
    }
}

// The folder that did not exist yet was taken at its word, though the folder above it was a link.
#[test]
fn a_memory_root_below_a_link_out_of_the_project_is_refused() {
    let scratch = Scratch::with_store();
    fs::create_dir(scratch.folder.join("outside")).unwrap();
    symlink(scratch.folder.join("outside"), scratch.project().join("link")).unwrap();
    scratch.configure(r#"{"memory_root": "link/memories"}"#);
    let said = scratch.lorelane(&format!("create decision --title Other {DECISION}")).expect(2);
    assert_helpful(&said, &["PATH_ERROR", "outside/memories"]);
    assert_eq!(outside(&scratch), BTreeMap::new());
}

#[test]
fn a_link_inside_the_project_is_the_persons_own_business() {
    let scratch = Scratch::with_jwt();
    fs::rename(scratch.project().join(LANE), scratch.project().join("memories")).unwrap();
    symlink("../memories", scratch.project().join(LANE)).unwrap();
    scratch.decide("Use a queue");
    assert!(scratch.exists("memories/decisions/use-a-queue.json"));
    assert!(scratch.listing().contains("-> .claude/memory/decisions/use-a-queue.json"));
    scratch.lorelane("config set auto_commit false").expect(0);
    fs::write(scratch.folder.join("draft.json"), scratch.read(USE_JWT)).unwrap();
    symlink(scratch.folder.join("draft.json"), scratch.project().join("draft.json")).unwrap();
    scratch.lorelane("update use-jwt --from draft.json --because again").expect(0);
    // State and cache are in the person's own home.
    fs::rename(scratch.home().join("state"), scratch.folder.join("elsewhere")).unwrap();
    symlink(scratch.folder.join("elsewhere"), scratch.home().join("state")).unwrap();
    scratch.lorelane("retire use-jwt").expect(0);
    scratch.lorelane("log --verify").expect(0);
}

#[test]
fn a_folder_that_vanished_is_named_or_made_again() {
    let scratch = Scratch::with_jwt();
    fs::remove_dir_all(scratch.project().join(".claude/memory/runbooks")).unwrap();
    scratch.lorelane("list").expect(0);
    scratch
        .lorelane("create runbook --title Made --set trigger=t --set steps=s --set verification=v")
        .expect(0);
    fs::remove_dir_all(scratch.home()).unwrap();
    scratch.lorelane("list").expect(0);
    scratch.lorelane("retire use-jwt").expect(0);
    fs::remove_dir_all(scratch.project().join(LANE)).unwrap();
    assert_helpful(&scratch.lorelane("list").expect(2), &["~/project"]);
    let gone = scratch.folder.join("gone");
    fs::create_dir(&gone).unwrap();
    let script = format!("cd '{0}' && rmdir '{0}' && exec \"$1\" list", gone.display());
    let output =
        Command::new("sh").args(["-c", &script, "sh", env!("CARGO_BIN_EXE_lorelane")]).output().unwrap();
    assert_helpful(&scratch.said(&output).expect(2), &["current folder"]);
}

#[test]
fn a_lock_that_is_held_for_ever_is_an_error_and_readers_do_not_wait() {
    let scratch = Scratch::with_jwt();
    let before = scratch.tree_without_cache();
    let lane = File::open(scratch.project().join(LANE)).unwrap();
    lane.lock().unwrap();
    // Nobody gets this lock: whoever waited for it would end as the writer below does.
    for line in ["list", "show use-jwt", "search jwt", "status", "doctor", "log"] {
        scratch.lorelane(line).expect(0);
    }
    check(
        &scratch.lorelane("retire use-jwt").text(),
        &expect![[r#"
            2> error[LOCK_TIMEOUT_ERROR]: cannot lock ~/project/.claude/memory: another process held it for 5.0 s without changing anything, so nothing was written
            2> hint: try again when the other process has finished
            exit 2
        "#]],
    );
    assert_eq!(before, scratch.tree_without_cache());
}

#[test]
fn a_killed_holder_of_the_lock_holds_nobody_up() {
    let scratch = Scratch::with_jwt();
    // `flock --close` keeps the lock to itself, so that it dies with it.
    let mut holder = Command::new("flock")
        .args(["--close", scratch.project().join(LANE).to_str().unwrap(), "cat"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let lane = File::open(scratch.project().join(LANE)).unwrap();
    while lane.try_lock().is_ok() {
        lane.unlock().unwrap();
        std::thread::yield_now();
    }
    drop(lane);
    holder.kill().unwrap();
    holder.wait().unwrap();
    // One that still held the lock would let no writer through, however long that waited.
    scratch.lorelane("retire use-jwt").expect(0);
}

#[test]
fn without_a_home_the_journal_is_kept_in_the_lane() {
    let scratch = Scratch::with_jwt();
    let run = |words: &[&str]| {
        let mut command = scratch.command(words);
        scratch.said(&command.env_remove("HOME").env_remove("LORELANE_HOME").output().unwrap())
    };
    run(&["list"]).expect(0);
    let said = run(&["retire", "use-jwt"]).expect(0);
    assert!(said.err.contains("is kept in ~/project/.claude/memory/.lorelane-journal"), "{}", said.text());
    run(&["undo"]).expect(0);
    run(&["log"]).expect(0);
    // With a home again, its receipts join the others.
    let said = scratch.lorelane("retire use-jwt").expect(0);
    assert!(said.err.contains("moved log entries from the lane to the state folder: 2"), "{}", said.text());
    scratch.lorelane("log --verify").expect(0);
    assert!(!scratch.exists(".claude/memory/.lorelane-journal"));
}

#[test]
#[ignore = "needs an unprivileged user"]
fn unprivileged_what_may_not_be_written_is_refused_and_reads_go_on() {
    let scratch = Scratch::with_jwt();
    let chmod = |path: &Path, mode: u32| fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
    let lane = scratch.project().join(LANE);
    let decisions = lane.join("decisions");

    // A folder that may not be written.
    chmod(&decisions, 0o555);
    let before = scratch.tree_without_cache();
    let said = scratch.lorelane(&format!("create decision --title Other {DECISION}")).expect(2);
    assert_helpful(&said, &["decisions", "check that it is writable"]);
    for line in ["list", "show use-jwt", "search jwt", "status"] {
        scratch.lorelane(line).expect(0);
    }
    let memories = |tree: BTreeMap<String, Vec<u8>>| -> BTreeMap<String, Vec<u8>> {
        tree.into_iter().filter(|(path, _)| path.starts_with("project/")).collect()
    };
    assert_eq!(memories(before), memories(scratch.tree_without_cache()));

    // A folder that may not be looked into hides its own memories only.
    chmod(&decisions, 0o755);
    scratch
        .lorelane("create runbook --title Made --set trigger=t --set steps=s --set verification=v")
        .expect(0);
    chmod(&decisions, 0o000);
    assert!(scratch.lorelane("list").expect(0).out.contains("runbook/made"));
    scratch.lorelane("show made").expect(0);
    scratch.lorelane("search made").expect(0);
    assert!(scratch.lorelane("doctor").expect(1).out.contains("decisions cannot be listed"));
    chmod(&decisions, 0o755);
    assert!(scratch.lorelane("list").expect(0).out.contains("decision/use-jwt"));

    // A file that may not be read.
    chmod(&scratch.project().join(USE_JWT), 0o000);
    assert!(scratch.lorelane("list").expect(0).out.contains("runbook/made"));
    assert_helpful(&scratch.lorelane("show use-jwt").expect(2), &["use-jwt"]);
    chmod(&scratch.project().join(USE_JWT), 0o644);
    scratch.lorelane("reindex").expect(0);

    // One that comes unreadable is left out and said, and is there once it can be read.
    let late = decisions.join("late.json");
    fs::copy(scratch.project().join(USE_JWT), &late).unwrap();
    chmod(&late, 0o000);
    let question = r#"{"id": 1, "query": "jwt"}"#;
    for line in ["list", "list", "search jwt", "search --batch -"] {
        let said = scratch.lorelane_with_input(line, question).expect(0);
        assert!(said.err.contains("skipped ~/project/.claude/memory/decisions/late.json"), "{}", said.text());
    }
    chmod(&late, 0o644);
    assert!(scratch.lorelane("list").expect(0).out.contains("decision/late"));
    fs::remove_file(&late).unwrap();

    // A home that cannot be written: there is no index, and the journal is in the lane.
    fs::remove_dir_all(scratch.home()).unwrap();
    fs::create_dir(scratch.home()).unwrap();
    chmod(&scratch.home(), 0o555);
    for line in ["list", "show use-jwt", "search jwt", "status"] {
        scratch.lorelane(line).expect(0);
    }
    let said = scratch.lorelane("retire use-jwt").expect(0);
    assert!(said.err.contains("is kept in ~/project/.claude/memory/.lorelane-journal"), "{}", said.text());
    scratch.lorelane("reindex").expect(0);
    scratch.lorelane("undo").expect(0);
    chmod(&scratch.home(), 0o755);

    // An index that may be read only.
    scratch.lorelane("list").expect(0);
    let cache = fs::read_dir(scratch.home().join("cache/lanes")).unwrap().next().unwrap().unwrap().path();
    for file in fs::read_dir(&cache).unwrap() {
        chmod(&file.unwrap().path(), 0o444);
    }
    chmod(&cache, 0o555);
    scratch.decide("Use a queue");
    assert!(scratch.lorelane("list").expect(0).out.contains("use-a-queue"));
    scratch.lorelane("reindex").expect(0);
    assert!(scratch.lorelane("doctor").expect(1).out.contains("cannot keep the index on disk"));
    chmod(&cache, 0o755);
}

// A text that begins with `-` was taken for an option (finding 31).
#[test]
fn a_text_may_begin_with_a_dash() {
    let scratch = Scratch::with_store();
    scratch
        .lorelane(
            "create decision --title '-x flag is needed' --tag cli --set 'context=- slow' \
             --set decision=-x --set rationale=-5",
        )
        .expect(0);
    let address = "decision/x-flag-is-needed";
    let update = format!("update {address} --because '- measured' --set 'rationale=-5 ms'");
    scratch.lorelane(&update).expect(0);
    scratch.lorelane("candidate decision --new-info '-x is gone'").expect(0);
    scratch.lorelane("create notes/steps --text '- one'").expect(0);
    scratch.lorelane("append notes/steps '- two'").expect(0);
    assert!(scratch.read(".memories/steps.md").contains("- one\n\n- two"));
    // A forgotten text does not swallow the option behind it.
    for line in ["--reason --dry-run", "--reason -h"] {
        let said = scratch.lorelane(&format!("retire {address} {line}")).expect(2);
        assert!(said.err.contains("this is an option"), "{said:?}");
    }
    scratch.lorelane(&format!("retire {address} --reason '-x is gone' --dry-run")).expect(0);
    let shown = scratch.json(&format!("show {address}"));
    assert_eq!(shown.at("memory.title").and_then(Json::as_text), Some("-x flag is needed"));
    assert_eq!(shown.at("memory.record_status").and_then(Json::as_text), Some("active"));
}

// The parser repeated a whole private key (finding 31).
#[test]
fn a_usage_error_repeats_no_secret() {
    let scratch = Scratch::with_store();
    let body = "oZamf20iiM/FtYfnrSoCBqwClFCLAFsaqVJyKX8ksvnXA66q";
    let key = ["-----BEGIN RSA ", "PRIVATE KEY-----\n", body, "\n-----END RSA ", "PRIVATE KEY-----"].concat();
    let token = ["gh", "p_x9MZQwKkQw3Rt7Yp2Lk8Vn4Bd6Hs1Jf5Gw2z"].concat();
    for words in [
        ["show", key.as_str()],
        ["list", &format!("--tags={token}")],
        ["status", &token],
        ["--password", "Xk29dkq7LmVb4TzW"],
        ["hook", &token],
        ["mcp", &token],
        ["compat", &token],
    ] {
        let said = scratch.said(&scratch.command(&words).output().unwrap());
        assert!(!said.err.is_empty(), "{words:?}");
        for secret in [body, &token, "Xk29dkq7LmVb4TzW"] {
            assert!(!said.text().contains(secret), "{words:?}: {}", said.text());
        }
    }
}

// The name of a note is its title in lower case, which looked like no secret any more.
#[test]
fn a_secret_in_the_name_of_a_note_is_refused_and_not_repeated() {
    let scratch = Scratch::with_store();
    scratch.lorelane("create note --title one --text a").expect(0);
    let secret = ["AKIA", "4TGHN2WQ7VKJX3ZD"].concat();
    for policy in ["refuse", "redact"] {
        scratch.lorelane(&format!("config set secrets {policy}")).expect(0);
        for line in [
            format!("create note --title 'key {secret}' --text a"),
            format!("create notes/{secret} --text a"),
            format!("merge one --into notes/{secret}"),
        ] {
            let said = scratch.lorelane(&line).expect(2);
            assert!(said.err.contains("it would store a secret"), "{line}: {said:?}");
            assert!(!said.text().to_lowercase().contains(&secret.to_lowercase()), "{said:?}");
        }
    }
    assert_eq!(fs::read_dir(scratch.project().join(".memories")).unwrap().count(), 1);
}

// `secrets = "redact"` in lorelane.toml is held back, so the hint led in a circle.
#[test]
fn the_hint_at_a_secret_leads_out() {
    let scratch = Scratch::with_store();
    scratch.put("lorelane.toml", "secrets = \"redact\"\n");
    let secret = ["AKIA", "4TGHN2WQ7VKJX3ZD"].concat();
    let line = format!("create note --title one --text 'key {secret}'");
    let said = scratch.lorelane(&line).expect(2);
    assert!(said.err.contains("or run `lorelane trust` if lorelane.toml already sets that"), "{said:?}");
    scratch.lorelane("trust --yes").expect(0);
    scratch.lorelane(&line).expect(0);
}

#[test]
fn three_dots_say_nothing() {
    let scratch = Scratch::with_jwt();
    let said = scratch.lorelane("update use-jwt --set context=... --because x").expect(2);
    assert!(said.err.contains("content.context: Field should say something"), "{said:?}");
}

#[test]
fn a_title_that_is_no_text_is_not_to_be_shortened() {
    let scratch = Scratch::with_store();
    let said = scratch.lorelane_with_input("create decision --from -", r#"{"title": 5}"#).expect(2);
    assert!(said.err.contains("fix: give title a text of at most 120 characters"), "{said:?}");
}

#[cfg(unix)]
#[test]
fn a_pipe_that_a_shell_hands_over_is_read() {
    let scratch = Scratch::with_store();
    let said = scratch.lorelane_with_input("create notes/piped --from /dev/stdin", "From a pipe.\n");
    said.expect(0);
    assert!(scratch.read(".memories/piped.md").contains("From a pipe."));
}

// The hint was to set what was set already (finding 15).
#[test]
fn a_secret_in_a_tag_is_refused_with_what_to_do() {
    let scratch = Scratch::with_store();
    scratch.lorelane("config set secrets redact").expect(0);
    let secret = ["AKIA", "4TGHN2WQ7VKJX3ZD"].concat();
    let said = scratch.lorelane(&format!("create decision --title Keys --tag {secret} {DECISION}")).expect(2);
    assert!(said.err.contains("hint: choose a tag without the value"), "{said:?}");
    assert!(!said.err.contains("redact") && !said.err.contains(&secret), "{said:?}");
}
