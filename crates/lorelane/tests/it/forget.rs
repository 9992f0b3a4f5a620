//! What was forgotten is in no byte of any file, and everything else is as it was.

use crate::consolidate::{capture, commit};
use crate::scratch::{DECISION, LANE, MARKS, NOW, Scratch, without_ids};
use expect_test::{Expect, expect};
use lorelane_core::json::Json;
use lorelane_core::memory::Category;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// Words that stand in nothing but the memory that is forgotten, its slugs among them.
const DISTINCTIVE: [&str; 6] =
    ["zanzibar", "quokkastream", "use-zanzibar-queue", "rely-on-quokkastream", "xylophonic", "mugwumpish"];

fn check(seen: &str, expected: &Expect) {
    expected.assert_eq(seen);
}

/// Every file in every folder that `status` declares, with its bytes.
fn declared(scratch: &Scratch) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    for folder in scratch.json("status").at("folders").unwrap().as_list().unwrap() {
        // What was said has `~` for the scratch folder.
        let path = folder.at("path").and_then(Json::as_text).unwrap();
        collect(Path::new(&path.replacen('~', scratch.folder.to_str().unwrap(), 1)), &mut files);
    }
    assert!(files.len() > 5, "{:?}", files.keys());
    files
}

fn collect(path: &Path, files: &mut BTreeMap<PathBuf, Vec<u8>>) {
    if path.is_dir() {
        fs::read_dir(path).unwrap().for_each(|entry| collect(&entry.unwrap().path(), files));
    } else if path.is_file() {
        files.insert(path.to_owned(), fs::read(path).unwrap());
    }
}

/// The files that hold a word, in names too, whatever its case.
fn holding(scratch: &Scratch, words: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for (path, bytes) in declared(scratch) {
        let bytes = bytes.to_ascii_lowercase();
        for word in words {
            let in_bytes = bytes.windows(word.len()).any(|window| window == word.as_bytes());
            if in_bytes || path.to_string_lossy().contains(word) {
                found.push(format!("{word} in {}", path.display()));
            }
        }
    }
    found
}

/// A memory that went everywhere a memory can go, and two others beside it.
fn well_travelled() -> Scratch {
    let scratch = Scratch::with_jwt();
    let found = [
        (Category::Decision, "We decided to use the Zanzibar queue, xylophonic as it is"),
        (Category::TechDebt, "Later we have to clean up the xylophonic part"),
    ];
    capture(&scratch, "s-1", &found);
    scratch.lorelane("consolidate prepare").expect(0);
    let answer = r#"{"session": "s-1", "items": [{"category": "decision", "action": "CREATE", "verdict": "PASS",
        "draft": {"title": "Use Zanzibar queue", "tags": ["zanzibar"], "content": {"context": "Xylophonic jobs",
        "decision": "A mugwumpish broker", "rationale": ["It survives"]}}}]}"#;
    commit(&scratch, answer).expect(0);
    scratch.lorelane("pin use-zanzibar-queue").expect(0);
    scratch.lorelane("create decision --title 'Keep Redis' --tag cache --set context=Hot --set decision=Redis --set rationale=Fast").expect(0);
    scratch
        .lorelane(
            "update use-zanzibar-queue --set 'context=Xylophonic and slow' --set related_files=src/mugwumpish.rs \
             --because 'mugwumpish as it was'",
        )
        .expect(0);
    scratch.lorelane("links src/mugwumpish.rs").expect(0);
    scratch
        .hook("prompt", &[("prompt", Json::text("how does the zanzibar queue do its mugwumpish work"))])
        .expect(0);
    // Another name: the old one becomes an alias.
    scratch
        .lorelane("update use-zanzibar-queue --set 'title=Rely on Quokkastream' --add-tag mugwumpish")
        .expect(0);
    scratch.lorelane("retire rely-on-quokkastream --reason 'zanzibar is gone'").expect(0);
    scratch.lorelane("restore rely-on-quokkastream").expect(0);
    scratch.lorelane("update use-jwt --set context=Slower").expect(0);
    scratch.lorelane("update rely-on-quokkastream --set decision='Zanzibar twice'").expect(0);
    scratch.lorelane("undo").expect(0);
    scratch.lorelane("reject rely-on-quokkastream --because 'xylophonic'").expect(0);
    scratch.lorelane("restore rely-on-quokkastream").expect(0);
    scratch.hook("prompt", &[("prompt", Json::text("is quokkastream mugwumpish"))]).expect(0);
    scratch.hook("session-start", &[]).expect(0);
    scratch.lorelane("search quokkastream").expect(0);
    scratch.lorelane("update keep-redis --set context=Hotter").expect(0);
    // What hooks could not do, and a draft that was not saved.
    let log = scratch.home().join("state/hooks.log");
    fs::write(
        &log,
        format!("{NOW} prompt: cannot read decisions/rely-on-quokkastream.json\n{NOW} prompt: late\n"),
    )
    .unwrap();
    let drafts = scratch.project_state().join("drafts");
    fs::create_dir_all(&drafts).unwrap();
    fs::write(
        drafts.join("rely-on-quokkastream-1.json"),
        r#"{"id": "rely-on-quokkastream", "title": "Zanzibar"}"#,
    )
    .unwrap();
    fs::write(drafts.join("keep-redis.json"), r#"{"id": "keep-redis"}"#).unwrap();
    scratch.put(
        &format!("{LANE}/decisions/use-zanzibar-queue.json.invalid.1772366400"),
        "{\"title\": \"Zanzibar",
    );
    scratch
}

#[test]
fn no_byte_of_a_forgotten_memory_is_left_and_the_others_are_whole() {
    let scratch = well_travelled();
    let kept = ["use-jwt", "keep-redis"].map(|name| {
        let path = format!("{LANE}/decisions/{name}.json");
        (path.clone(), scratch.read(&path))
    });
    assert!(holding(&scratch, &DISTINCTIVE).len() > 10, "{:?}", holding(&scratch, &DISTINCTIVE));

    let preview = scratch.lorelane("forget rely-on-quokkastream --dry-run").expect(0);
    let said = scratch.lorelane("forget rely-on-quokkastream --because 'a customer asked' --yes").expect(0);
    check(
        &without_ids(&said.text()),
        &expect![[r#"
            Forgot decision/rely-on-quokkastream
              memories      removed 2          ~/project/.claude/memory
              log and undo  removed 41         ~/home/state/lanes/LANE/blobs
              marks         removed 4          ~/project/.lorelane/marks.jsonl
              index         removed 1          ~/home/cache/lanes/LANE/index.db
              listing       removed 1          ~/project/.claude/memory/index.md
              act map       removed 1          ~/home/cache/lanes/LANE/acts
              ledger        removed 3          ~/home/state/projects/ID/ledger.jsonl
              captures      removed 2          ~/home/state/projects/ID/captures
              drafts        removed 1          ~/home/state/projects/ID/drafts
              log of hooks  removed 1          ~/home/state/hooks.log
              git           no repository
        "#]],
    );
    // The look before said the same numbers.
    assert_eq!(
        preview
            .out
            .replace("Would forget", "Forgot")
            .replace("to remove", "removed")
            .split_whitespace()
            .collect::<BTreeSet<_>>(),
        said.out.split_whitespace().collect()
    );

    assert_eq!(holding(&scratch, &DISTINCTIVE), Vec::<String>::new());
    for (path, text) in kept {
        assert_eq!(scratch.read(&path), text);
    }
    scratch.lorelane("search quokkastream --include-retired").expect(1);
    scratch.lorelane("show rely-on-quokkastream").expect(1);
    scratch.lorelane("forget rely-on-quokkastream --yes").expect(1);
    scratch.lorelane("log --verify").expect(0);
    scratch.lorelane("doctor --index").expect(0);
    assert!(scratch.project_state().join("drafts/keep-redis.json").exists());
    check(
        &scratch.lorelane("log").expect(0).out,
        &expect![[r#"
            15   2026-03-01T12:00:00Z  forget a memory: a customer asked
            14   2026-03-01T12:00:00Z  update decision/keep-redis
            13   2026-03-01T12:00:00Z  (purged)
            12   2026-03-01T12:00:00Z  (purged)
            11   2026-03-01T12:00:00Z  (purged)
            10   2026-03-01T12:00:00Z  (purged) (undone)
            9    2026-03-01T12:00:00Z  update decision/use-jwt
            8    2026-03-01T12:00:00Z  (purged)
            7    2026-03-01T12:00:00Z  (purged)
            6    2026-03-01T12:00:00Z  (purged)
            5    2026-03-01T12:00:00Z  (purged)
            4    2026-03-01T12:00:00Z  create decision/keep-redis
            3    2026-03-01T12:00:00Z  (purged)
            2    2026-03-01T12:00:00Z  (purged)
            1    2026-03-01T12:00:00Z  create decision/use-jwt
        "#]],
    );
    // The newest other change can still be undone; one that touched it cannot, and says why.
    check(
        &scratch.lorelane("undo").expect(0).out,
        &expect![[r#"
        Undid "update decision/keep-redis"
    "#]],
    );
    check(
        &scratch.lorelane("undo").text(),
        &expect![[r#"
        2> error: cannot undo change 13: it touched a memory that was forgotten, and its contents were erased
        2> hint: older changes cannot be undone either
        exit 2
    "#]],
    );
    assert_eq!(holding(&scratch, &DISTINCTIVE), Vec::<String>::new());
    scratch.lorelane("log --verify").expect(0);
}

#[test]
fn the_links_of_a_forgotten_note_go_with_the_words_around_them() {
    let scratch = Scratch::with_store();
    scratch.put(
        ".memories/secret.md",
        "The xylophonic [[src/quokkastream.rs#mugwumpish|zanzibar]] part of it is broken.",
    );
    scratch.put(".memories/other.md", "See [[src/other.rs]].");
    scratch.lorelane("links src/quokkastream.rs").expect(0);
    scratch.lorelane("append secret 'And [[src/zanzibar.rs]].'").expect(0);
    scratch.lorelane("links src/zanzibar.rs").expect(0);
    let index = |path: &String| path.contains("index.db");
    assert!(holding(&scratch, &["zanzibar", "mugwumpish"]).iter().any(index));
    scratch.lorelane("forget secret --yes").expect(0);
    assert_eq!(holding(&scratch, &DISTINCTIVE), Vec::<String>::new());
    scratch.lorelane("links src/quokkastream.rs").expect(1);
    scratch.lorelane("links src/other.rs").expect(0);
    scratch.lorelane("doctor --index").expect(0);
}

#[test]
fn nobody_forgets_without_saying_so() {
    let scratch = Scratch::with_jwt();
    let before = scratch.tree_without_cache();
    check(
        &scratch.lorelane("forget use-jwt").text(),
        &expect![[r#"
        2> error: cannot forget decision/use-jwt: needs confirmation and there is no terminal; pass --yes
        2> hint: nothing was changed; forgetting cannot be undone, `--dry-run` shows what would be removed
        exit 2
    "#]],
    );
    assert_eq!(scratch.tree_without_cache(), before);
    check(
        &scratch.lorelane("forget nothing-like-it --yes").text(),
        &expect![[r#"
        2> error: cannot find `nothing-like-it`: there is no such memory
        2> hint: `lorelane list` shows all memories
        exit 1
    "#]],
    );
}

#[test]
fn a_memory_that_gc_deleted_can_still_be_forgotten() {
    let scratch = Scratch::with_store();
    scratch.lorelane("config set delete.archive_retired false").expect(0);
    scratch
        .lorelane(&format!("create decision --title 'Zanzibar rules' --tag zanzibar {DECISION}"))
        .expect(0);
    scratch.lorelane("retire zanzibar-rules").expect(0);
    let scratch = scratch.at("2027-01-01T00:00:00Z");
    scratch.lorelane("gc --yes").expect(0);
    assert!(!holding(&scratch, &["zanzibar"]).is_empty());
    scratch.lorelane("forget zanzibar-rules --yes").expect(0);
    assert_eq!(holding(&scratch, &["zanzibar"]), Vec::<String>::new());
}

#[test]
fn a_memory_that_took_a_former_address_stays() {
    let scratch = Scratch::with_store();
    scratch.lorelane(&format!("create decision --title 'Old Zanzibar name' --tag a {DECISION}")).expect(0);
    scratch.lorelane("pin old-zanzibar-name").expect(0);
    scratch
        .lorelane("update old-zanzibar-name --set 'title=Quite another thing' --set context=Xylophonic")
        .expect(0);
    scratch.lorelane("create decision --title 'Old Zanzibar name' --set context=New --set decision=New --set rationale=New").expect(0);
    let path = format!("{LANE}/decisions/old-zanzibar-name.json");
    let newcomer = scratch.read(&path);
    scratch.lorelane("update old-zanzibar-name --set context=Newer").expect(0);
    scratch.lorelane("forget quite-another-thing --yes").expect(0);
    assert_eq!(holding(&scratch, &["xylophonic", "quite-another", "stateless"]), Vec::<String>::new());
    // The pin was the forgotten one's.
    assert!(!scratch.exists(MARKS));
    scratch.lorelane("undo").expect(0);
    assert_eq!(scratch.read(&path), newcomer);
}

#[test]
fn what_git_holds_is_named_and_never_called_forgotten() {
    let scratch = Scratch::with_jwt();
    scratch.git(&["init", "--quiet"]);
    // Only in the working tree: git knows nothing of it.
    scratch.decide("Never committed thing");
    let clean = scratch.json("forget never-committed-thing --yes");
    assert_eq!(clean.at("forgotten").and_then(Json::as_bool), Some(true), "{clean:?}");
    assert_eq!(clean.at("git").and_then(Json::as_list), Some(&[][..]));

    scratch.git(&["add", "--all"]);
    scratch.git(&["commit", "--quiet", "-m", "all"]);
    let first = scratch.git(&["rev-parse", "HEAD"]).trim().to_owned();
    scratch.lorelane("update use-jwt --set 'title=Sign every token'").expect(0);
    scratch.git(&["add", "--all"]);
    scratch.git(&["commit", "--quiet", "-m", "renamed"]);
    let second = scratch.git(&["rev-parse", "HEAD"]).trim().to_owned();
    scratch.put(".claude/memory/decisions/sign-every-token.json", "{}");
    scratch.git(&["stash", "--quiet"]);
    let stash = scratch.git(&["rev-parse", "refs/stash"]).trim().to_owned();
    scratch.put("other.txt", "nothing of it");
    scratch.git(&["add", "--all"]);
    scratch.git(&["commit", "--quiet", "-m", "another"]);

    let held = scratch.json("forget sign-every-token --dry-run");
    let commits = held.at("git").and_then(Json::as_list).unwrap().iter();
    let commits: BTreeSet<&str> = commits.filter_map(|commit| commit.at("commit")?.as_text()).collect();
    assert_eq!(commits, BTreeSet::from([first.as_str(), &second, &stash]));
    let said = scratch.lorelane("forget sign-every-token --yes").expect(0);
    let said =
        [&first, &second, &stash].iter().fold(said.text(), |said, id| said.replace(&id[..12], "COMMIT"));
    let is_date = |line: &&str| !line.trim_start().starts_with("COMMIT");
    let said: String = said.lines().filter(is_date).map(|line| format!("{line}\n")).collect();
    check(
        &without_ids(&said),
        &expect![[r#"
            Removed decision/sign-every-token, but not everywhere
              memories      removed 1          ~/project/.claude/memory
              log and undo  removed 9          ~/home/state/lanes/LANE/blobs
              marks         removed 1          ~/project/.lorelane/marks.jsonl
              index         removed 1          ~/home/cache/lanes/LANE/index.db
              listing       removed 1          ~/project/.claude/memory/index.md
              act map       nothing found      ~/home/cache/lanes/LANE/acts
              ledger        nothing found      ~/home/state/projects/ID/ledger.jsonl
              captures      nothing found      ~/home/state/projects/ID/captures
              drafts        nothing found      ~/home/state/projects/ID/drafts
              log of hooks  nothing found      ~/home/state/hooks.log
              git           has it in 3 commits and in its index ~/project
            2> warning: git still has it
            2> hint: rewrite the history of ~/project with `git filter-repo --invert-paths --path FILE` and of index.md with
            2> `--replace-text`, drop stashes (`git stash list`), then `git reflog expire --expire=now --all` and
            2> `git gc --prune=now`; remotes and clones have it until they are replaced
        "#]],
    );
    // Asked again, it is still not called forgotten.
    let again = scratch.json("forget decision/sign-every-token --yes");
    assert_eq!(again.at("forgotten").and_then(Json::as_bool), Some(false));
}

#[test]
fn a_memory_is_forgotten_while_others_are_written() {
    let scratch = well_travelled();
    let writers: Vec<_> = (0..6)
        .map(|number| {
            let title = format!("Busy number {number}");
            let words = [
                "create",
                "decision",
                "--title",
                &title,
                "--tag",
                "busy",
                "--set",
                "context=c",
                "--set",
                "decision=d",
                "--set",
                "rationale=r",
            ];
            scratch.command(&words).stdout(Stdio::null()).spawn().unwrap()
        })
        .collect();
    let readers: Vec<_> = (0..6)
        .map(|_| scratch.command(&["search", "quokkastream"]).stdout(Stdio::null()).spawn().unwrap())
        .collect();
    scratch.lorelane("forget rely-on-quokkastream --yes").expect(0);
    for mut child in writers {
        assert!(child.wait().unwrap().success());
    }
    for mut child in readers {
        child.wait().unwrap();
    }
    assert_eq!(holding(&scratch, &DISTINCTIVE), Vec::<String>::new());
    assert_eq!(scratch.lorelane("list --tag busy").expect(0).out.matches("decision/busy-number-").count(), 6);
    scratch.lorelane("log --verify").expect(0);
    scratch.lorelane("doctor --index").expect(0);
}

/// Words that stand in nothing but the note that is forgotten.
const OF_A_NOTE: [&str; 3] = ["xylophonic", "mugwumpish", "quokka"];

/// A project with a note `quokka` that says distinctive words, and another one.
fn with_note() -> Scratch {
    let scratch = Scratch::with_store();
    scratch.lorelane("create notes/quokka --text 'A xylophonic and mugwumpish broker.'").expect(0);
    scratch.lorelane("create notes/kept --text 'Something else entirely.'").expect(0);
    scratch
}

fn check_gone(scratch: &Scratch, forget: &str, why: &str) {
    assert!(!holding(scratch, &OF_A_NOTE).is_empty(), "{why}");
    let said = scratch.lorelane(forget).expect(0);
    assert!(said.out.starts_with("Forgot "), "{why}: {}", said.text());
    assert_eq!(holding(scratch, &OF_A_NOTE), Vec::<String>::new(), "{why}");
    scratch.lorelane("log --verify").expect(0);
    scratch.lorelane("doctor --index").expect(0);
    assert!(scratch.exists(".memories/kept.md"), "{why}");
}

// Names in the trash were taken from the files that stand there, so a note that came back from it stayed in the log.
#[test]
fn a_note_is_forgotten_under_every_name_that_the_log_knows() {
    let table: [(&str, &[&str]); 8] = [
        ("restored", &["retire quokka", "restore quokka"]),
        (
            "retired twice",
            &["retire quokka", "restore quokka", "append quokka 'And mugwumpish.'", "retire quokka"],
        ),
        ("merged, and that undone", &["merge notes/quokka notes/kept --into notes/both", "undo"]),
        (
            "merged into another, and that undone",
            &["merge notes/quokka notes/kept --into notes/kept", "undo"],
        ),
        ("archived", &["archive quokka", "restore quokka"]),
        ("retirement undone", &["retire quokka --reason 'too mugwumpish'", "undo"]),
        ("told of by another", &["update notes/kept --add-tag a --because 'as notes/quokka says'"]),
        ("moved", &["pin quokka", "notes move --to user", "notes move --to project"]),
    ];
    for (why, lines) in table {
        let scratch = with_note();
        lines.iter().for_each(|line| drop(scratch.lorelane(line).expect(0)));
        check_gone(&scratch, "forget notes/quokka --yes", why);
    }
}

#[test]
fn a_note_whose_file_somebody_removed_is_forgotten_by_its_name() {
    for folder in [".memories/.trash", ".memories"] {
        let scratch = with_note();
        scratch.lorelane("retire quokka").expect(0);
        fs::remove_dir_all(scratch.project().join(folder)).unwrap();
        scratch.put(".memories/kept.md", "Something else entirely.");
        check_gone(&scratch, "forget notes/quokka --yes", folder);
    }
    // No folder of notes at all: the log remembers.
    let scratch = with_note();
    fs::remove_dir_all(scratch.project().join(".memories")).unwrap();
    scratch.lorelane("forget notes/quokka --yes").expect(0);
    assert_eq!(holding(&scratch, &OF_A_NOTE), Vec::<String>::new());
}

// A note with folders in its name could not be edited; the draft of one with a name of one word stayed.
#[test]
fn the_drafts_of_a_forgotten_note_go_and_no_others() {
    let scratch = with_note();
    scratch.lorelane("create notes/plans/quokka --text 'A xylophonic plan.'").expect(0);
    for note in ["notes/quokka", "notes/plans/quokka", "notes/kept"] {
        let output = scratch.command(&["edit", note]).env("EDITOR", "false").output().unwrap();
        let said = scratch.said(&output).expect(2);
        assert!(said.err.contains("your draft is in"), "{}", said.text());
    }
    scratch.lorelane("forget notes/plans/quokka --yes").expect(0);
    check_gone(&scratch, "forget notes/quokka --yes", "drafts");
    assert!(scratch.project_state().join("drafts/kept.json").exists());
}

#[test]
fn a_note_that_only_resembles_a_forgotten_one_keeps_its_log() {
    let scratch = Scratch::with_store();
    scratch.lorelane("create notes/alpha --text 'A xylophonic broker.'").expect(0);
    scratch.lorelane("create notes/alpha_2 --text 'Stays in place.'").expect(0);
    scratch.lorelane("create notes/plans/alpha --text 'Stays in its folder.'").expect(0);
    for name in ["alpha", "alpha_2", "plans/alpha"] {
        scratch.lorelane(&format!("retire notes/{name}")).expect(0);
        scratch.lorelane(&format!("restore notes/{name}")).expect(0);
    }
    scratch.lorelane("forget notes/alpha --yes").expect(0);
    assert_eq!(holding(&scratch, &["xylophonic"]), Vec::<String>::new());
    for name in ["plans/alpha", "alpha_2"] {
        assert!(scratch.exists(&format!(".memories/{name}.md")));
    }
    // The last retirement and its way back can be undone.
    scratch.lorelane("undo").expect(0);
    scratch.lorelane("undo").expect(0);
    assert_eq!(scratch.read(".memories/plans/alpha.md").matches("Stays in its folder.").count(), 1);
}

#[test]
fn a_deleted_note_is_forgotten_without_the_one_that_took_its_name() {
    let scratch = Scratch::with_store();
    scratch.lorelane("create notes/alpha --text 'A xylophonic broker.'").expect(0);
    for line in ["retire alpha", "restore alpha", "append alpha 'So mugwumpish.'"] {
        scratch.lorelane(line).expect(0);
    }
    let scratch = scratch.at("2026-03-02T12:00:00Z");
    scratch.lorelane("retire alpha").expect(0);
    scratch.lorelane("create notes/alpha --text 'A newcomer.'").expect(0);
    scratch.lorelane("append notes/alpha 'Revised.'").expect(0);
    scratch.lorelane("forget notes/.trash/alpha_20260302_120000 --yes").expect(0);
    assert_eq!(holding(&scratch, &["xylophonic", "mugwumpish"]), Vec::<String>::new());
    scratch.lorelane("undo").expect(0);
    assert!(scratch.read(".memories/alpha.md").contains("A newcomer.\n"));
    assert!(!scratch.read(".memories/alpha.md").contains("Revised"));
}

// The words of a merged note are the merged one's, too; nobody said so.
#[test]
fn a_memory_that_repeats_a_forgotten_one_is_named_and_stays() {
    let scratch = with_note();
    scratch.lorelane("merge notes/quokka notes/kept --into notes/both").expect(0);
    let told = scratch.json("forget notes/quokka --yes");
    assert_eq!(told.at("mentioned_by").map(Json::to_texts), Some(vec!["notes/both".to_owned()]));
    assert!(scratch.read(".memories/both.md").contains("xylophonic"));
}

// A title that was given and taken back left the memory in the log under the name it had for a moment.
#[test]
fn a_renaming_that_was_undone_leaves_nothing() {
    let scratch = Scratch::with_jwt();
    scratch
        .lorelane("create decision --title 'Xylophonic queue' --tag a --set context=Mugwumpish --set decision=D --set rationale=R")
        .expect(0);
    scratch.lorelane("update xylophonic-queue --set 'title=Quokka instead'").expect(0);
    scratch.lorelane("undo").expect(0);
    scratch.lorelane("forget xylophonic-queue --yes").expect(0);
    assert_eq!(holding(&scratch, &OF_A_NOTE), Vec::<String>::new());
    scratch.lorelane("log --verify").expect(0);
}

// Each lane has a log of its own, and only that of the memory was looked into.
#[test]
fn the_log_of_another_lane_does_not_name_a_forgotten_memory() {
    let scratch = Scratch::with_jwt();
    scratch.lorelane("create notes/kept --text 'Something else.'").expect(0);
    scratch.decide("Quokka rules");
    scratch.lorelane("update notes/kept --add-tag b --because 'as decision/quokka-rules says'").expect(0);
    scratch.lorelane("update use-jwt --set context=Slow --because 'as notes/quokka-plan says'").expect(0);
    scratch.lorelane("create notes/quokka-plan --text 'A xylophonic plan.'").expect(0);
    scratch.lorelane("forget decision/quokka-rules --yes").expect(0);
    scratch.lorelane("forget notes/quokka-plan --yes").expect(0);
    assert_eq!(holding(&scratch, &OF_A_NOTE), Vec::<String>::new());
}

fn commit_all(scratch: &Scratch, message: &str) -> String {
    scratch.git(&["add", "--all"]);
    scratch.git(&["commit", "--quiet", "-m", message]);
    scratch.git(&["rev-parse", "HEAD"]).trim().to_owned()
}

fn held_by_git(told: &Json) -> Vec<(String, String)> {
    assert_eq!(
        told.at("forgotten").and_then(Json::as_bool),
        Some(told.at("git").unwrap().as_list() == Some(&[][..]))
    );
    let commits = told.at("git").and_then(Json::as_list).unwrap().iter();
    let text = |commit: &Json, key: &str| commit.at(key).and_then(Json::as_text).unwrap().to_owned();
    commits.map(|commit| (text(commit, "commit"), text(commit, "repository"))).collect()
}

// A commit between `retire` and `restore` has the note in the trash only: git was not asked for that name.
#[test]
fn what_git_holds_of_a_deleted_note_is_named() {
    let scratch = with_note();
    scratch.git(&["init", "--quiet"]);
    scratch.lorelane("retire quokka").expect(0);
    scratch.lorelane("create notes/quokka_2 --text 'Resembles it.'").expect(0);
    scratch.lorelane("retire quokka_2").expect(0);
    let commit = commit_all(&scratch, "deleted");
    scratch.lorelane("restore quokka").expect(0);
    let told = scratch.json("forget notes/quokka --yes");
    assert_eq!(held_by_git(&told), [(commit, "~/project".to_owned())]);
    scratch.lorelane("create notes/quokka_3 --text 'Never committed.'").expect(0);
    assert_eq!(held_by_git(&scratch.json("forget notes/quokka_3 --yes")), []);
}

// After a move only the repository of the new folder was asked.
#[test]
fn what_git_holds_of_a_note_that_was_moved_is_named() {
    let scratch = with_note();
    scratch.git(&["init", "--quiet"]);
    let commit = commit_all(&scratch, "all");
    scratch.lorelane("notes move --to user").expect(0);
    let told = scratch.json("forget notes/quokka --yes");
    assert_eq!(held_by_git(&told), [(commit.clone(), "~/project".to_owned())]);
    assert_eq!(told.at("git_staged").and_then(Json::as_bool), Some(true));
    // Asked again, it is still named.
    let said = scratch.lorelane("forget notes/quokka --yes").expect(0);
    assert!(said.out.contains(&commit[..12]) && said.err.contains("git still has it"), "{}", said.text());

    // The other way round: the user's data folder is in a repository of its own.
    let scratch = with_note();
    scratch.lorelane("notes move --to user").expect(0);
    let data = scratch.home().join("data");
    let git = |words: &[&str]| scratch.git(&[&["-C", data.to_str().unwrap()], words].concat());
    git(&["init", "--quiet"]);
    git(&["add", "--all"]);
    git(&["commit", "--quiet", "-m", "all"]);
    let commit = git(&["rev-parse", "HEAD"]).trim().to_owned();
    scratch.lorelane("notes move --to project").expect(0);
    let told = scratch.json("forget notes/quokka --yes");
    assert_eq!(held_by_git(&told), [(commit, "~/home/data".to_owned())]);
}
