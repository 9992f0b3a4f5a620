//! A project is known by its id: moved, copied, in work trees, before and after git.

use crate::hooks::payload;
use crate::scratch::{DECISION, LANE, Said, Scratch, USE_JWT, words};
use lorelane_core::json::Json;
use lorelane_engine::env::Folders;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const GIT_ID: &str = ".git/lorelane-id";
const OWN_ID: &str = ".lorelane/id";
const PROMPT: &str = "which jwt auth do we use?";

impl Scratch {
    /// Runs a line in another folder.
    fn lorelane_in(&self, folder: &Path, line: &str) -> Said {
        let words = words(line);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        self.said(&self.command(&words).current_dir(folder).output().unwrap())
    }

    fn git_in(&self, folder: &Path, words: &[&str]) {
        self.git(&[&["-C", folder.to_str().unwrap()], words].concat());
    }

    fn prompt_in(&self, folder: &Path) {
        let folder = Json::text(folder.to_str().unwrap());
        let members = [("cwd", folder.clone()), ("session_id", folder), ("prompt", Json::text(PROMPT))];
        let said = self.hook_of("claude-code", "prompt", &payload(self, &members)).expect(0);
        assert!(said.out.contains("decision/use-jwt"), "{}", said.text());
    }

    /// The ids that there is a state of.
    fn ids(&self) -> Vec<String> {
        let projects = fs::read_dir(self.home().join("state/projects")).into_iter().flatten();
        let mut ids: Vec<String> =
            projects.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        ids.sort();
        ids
    }

    fn id_in(&self, file: &Path) -> String {
        fs::read_to_string(file).unwrap().trim_end().to_owned()
    }
}

/// A project with a decision, an answered prompt and something that a session left to be saved.
fn used(git: bool) -> Scratch {
    let scratch = Scratch::new();
    if git {
        scratch.git(&["init", "--quiet"]);
    }
    scratch.lorelane("init").expect(0);
    scratch.decide("Use JWT");
    scratch.decide("Use Redis");
    scratch.prompt_in(&scratch.project());
    scratch.decided();
    scratch.stop_hook(&[], &[]).asked();
    scratch
}

/// What `log`, `why` and `consolidate prepare` say in a folder.
fn remembered(scratch: &Scratch, folder: &Path) -> [String; 3] {
    ["log", "why", "consolidate prepare"].map(|line| scratch.lorelane_in(folder, line).text())
}

#[test]
fn a_moved_project_keeps_its_log_undo_and_why() {
    for (git, id) in [(false, OWN_ID), (true, GIT_ID)] {
        let scratch = used(git);
        let before = remembered(&scratch, &scratch.project());
        assert!(before[0].contains("Use Redis") || before[0].contains("use-redis"), "{}", before[0]);
        assert!(before[1].contains("use-jwt") && before[2].contains("pnpm"), "{before:?}");
        let moved = scratch.folder.join("elsewhere/deep");
        fs::create_dir(moved.parent().unwrap()).unwrap();
        fs::rename(scratch.project(), &moved).unwrap();
        assert_eq!(remembered(&scratch, &moved), before);
        scratch.lorelane_in(&moved, "undo").expect(0);
        scratch.lorelane_in(&moved, "undo").expect(0);
        assert!(!moved.join(USE_JWT).exists());
        assert_eq!(scratch.ids(), [scratch.id_in(&moved.join(id))]);
        scratch.lorelane_in(&moved, "doctor").expect(0);
        // The old place is nobody's now.
        fs::create_dir(scratch.project()).unwrap();
        scratch.lorelane("init").expect(0);
        assert_eq!(scratch.lorelane("log").expect(1).out, "");
        scratch.decide("Another project");
        assert_eq!(scratch.ids().len(), 2);
        assert!(!scratch.lorelane_in(&moved, "log").expect(0).out.contains("another-project"));
    }
}

#[test]
fn work_trees_share_why_and_captures_and_have_a_log_each() {
    let scratch = used(true);
    scratch.git(&["add", "--all"]);
    scratch.git(&["commit", "--quiet", "-m", "memories"]);
    let other = scratch.folder.join("other");
    scratch.git(&["worktree", "add", "--quiet", other.to_str().unwrap()]);
    let [log, why, captured] = remembered(&scratch, &scratch.project());
    let [other_log, other_why, other_captured] = remembered(&scratch, &other);
    assert_eq!((why, captured), (other_why, other_captured));
    assert_eq!(other_log, "exit 1\n");

    scratch.lorelane_in(&other, &format!("create decision --title 'Use Valkey' {DECISION}")).expect(0);
    assert_eq!(scratch.lorelane("log").text(), log);
    assert!(scratch.lorelane_in(&other, "log").expect(0).out.lines().count() == 1);
    scratch.prompt_in(&other);
    assert_eq!(scratch.lorelane("why").out, scratch.lorelane_in(&other, "why").out);
    scratch.lorelane_in(&other, "undo").expect(0);
    assert!(!other.join(LANE).join("decisions/use-valkey.json").exists());
    assert_eq!(scratch.ids().len(), 1);

    // A work tree that git moved keeps its own log.
    let moved = scratch.folder.join("moved");
    let before = scratch.lorelane_in(&other, "log").expect(0).out;
    scratch.git(&["worktree", "move", other.to_str().unwrap(), moved.to_str().unwrap()]);
    assert_eq!(scratch.lorelane_in(&moved, "log").expect(0).out, before);
    scratch.lorelane_in(&moved, "doctor").expect(0);
}

#[test]
fn a_copy_gets_an_id_and_a_log_of_its_own() {
    for (git, id) in [(false, OWN_ID), (true, GIT_ID)] {
        let scratch = used(git);
        let copy = scratch.folder.join("copy");
        let copied = Command::new("cp").arg("-a").arg(scratch.project()).arg(&copy).status().unwrap();
        assert!(copied.success());
        let before = remembered(&scratch, &scratch.project());
        assert_eq!(scratch.lorelane_in(&copy, "log").expect(1).out, "");
        scratch.lorelane_in(&copy, "retire use-jwt").expect(0);
        assert_eq!(scratch.lorelane_in(&copy, "log").expect(0).out.lines().count(), 1);
        assert_eq!(remembered(&scratch, &scratch.project()), before);
        assert_ne!(scratch.id_in(&copy.join(id)), scratch.id_in(&scratch.project().join(id)));
        scratch.lorelane("undo").expect(0);
        scratch.lorelane_in(&copy, "undo").expect(0);
        scratch.lorelane_in(&copy, "doctor").expect(0);
    }
}

/// Puts the state of a project where the version before had it.
fn put_back(scratch: &Scratch, id_file: &Path) -> (PathBuf, PathBuf) {
    let state = scratch.home().join("state");
    let key = Folders::lane_key(&fs::canonicalize(scratch.project().join(LANE)).unwrap());
    let (lane, drafts) = (state.join("lanes").join(&key), state.join("drafts").join(&key));
    let own = scratch.project_state();
    let id = scratch.id_in(id_file);
    let lanes = fs::read_dir(state.join("lanes")).unwrap().map(|entry| entry.unwrap().path());
    let journal = lanes.filter(|lane| lane.file_name().unwrap().to_str().unwrap().starts_with(&id));
    let [journal] = journal.collect::<Vec<_>>().try_into().unwrap();
    fs::rename(journal, &lane).unwrap();
    for name in ["ledger.jsonl", "captures"] {
        fs::rename(own.join(name), lane.join(name)).unwrap();
    }
    fs::create_dir_all(state.join("drafts")).unwrap();
    if own.join("drafts").exists() {
        fs::rename(own.join("drafts"), &drafts).unwrap();
    }
    fs::remove_dir_all(state.join("projects")).unwrap();
    fs::remove_file(id_file).unwrap();
    let _ = fs::remove_file(scratch.project().join(".lorelane/.gitignore"));
    let _ = fs::remove_dir(scratch.project().join(".lorelane"));
    (lane, drafts)
}

#[test]
fn the_state_of_the_version_before_is_read_and_then_taken_over() {
    for (git, id) in [(false, OWN_ID), (true, GIT_ID)] {
        let scratch = used(git);
        let output = scratch.command(&["edit", "use-jwt"]).env("EDITOR", "false").output().unwrap();
        scratch.said(&output).expect(2);
        let before = ["log", "why"].map(|line| scratch.lorelane(line).text());
        let (lane, drafts) = put_back(&scratch, &scratch.project().join(id));
        let tree = scratch.tree_without_cache();
        assert_eq!(["log", "why"].map(|line| scratch.lorelane(line).text()), before);
        for line in ["undo --dry-run", "log --verify", "doctor", "status", "list", "search jwt"] {
            assert_eq!(scratch.lorelane(line).expect(0).err, "", "{line}");
        }
        assert_eq!(scratch.tree_without_cache(), tree, "who reads moves nothing");

        assert_eq!(scratch.decide("Use Valkey").err, "");
        let own = scratch.project_state();
        assert!(!lane.exists() && !drafts.exists());
        assert!(own.join("drafts/use-jwt.json").exists());
        let [_, why, captured] = remembered(&scratch, &scratch.project());
        assert_eq!(why, before[1]);
        assert!(captured.contains("pnpm"), "{captured}");
        assert!(scratch.lorelane("log").out.ends_with(before[0].as_str()));
        for _ in 0..3 {
            scratch.lorelane("undo").expect(0);
        }
        assert!(!scratch.exists(USE_JWT));
        scratch.lorelane("doctor").expect(0);
    }
}

// Two work trees had a state each.
#[test]
fn what_each_work_tree_kept_becomes_the_projects() {
    let scratch = used(true);
    scratch.git(&["add", "--all"]);
    scratch.git(&["commit", "--quiet", "-m", "memories"]);
    let (lane, _) = put_back(&scratch, &scratch.project().join(GIT_ID));
    let other = fs::canonicalize(&scratch.folder).unwrap().join("other");
    scratch.git(&["worktree", "add", "--quiet", other.to_str().unwrap()]);
    let others = lane.with_file_name(Folders::lane_key(&other.join(LANE)));
    assert!(Command::new("cp").arg("-a").arg(&lane).arg(&others).status().unwrap().success());
    let ledger = fs::read_to_string(others.join("ledger.jsonl")).unwrap();
    fs::write(others.join("ledger.jsonl"), ledger.replace(PROMPT, "which jwt auth elsewhere?")).unwrap();

    scratch.lorelane("pin use-jwt").expect(0);
    scratch.lorelane_in(&other, "pin use-redis").expect(0);
    assert!(!lane.exists() && !others.exists());
    let ledger = fs::read_to_string(scratch.project_state().join("ledger.jsonl")).unwrap();
    assert!(ledger.contains(PROMPT) && ledger.contains("which jwt auth elsewhere?"), "{ledger}");
    assert!(scratch.lorelane_in(&other, "consolidate prepare").expect(0).out.contains("pnpm"));
    assert_eq!(scratch.lorelane_in(&other, "log").expect(0).out.lines().count(), 3);
}

#[test]
fn an_id_that_is_older_than_the_repository_moves_into_it() {
    let scratch = used(false);
    let before = remembered(&scratch, &scratch.project());
    let id = scratch.id_in(&scratch.project().join(OWN_ID));
    scratch.git(&["init", "--quiet"]);
    assert_eq!(remembered(&scratch, &scratch.project()), before);
    // Whoever commits everything at once does not commit the id.
    scratch.git(&["add", "--all"]);
    assert!(!scratch.git(&["ls-files"]).contains(".lorelane"));
    scratch.lorelane("pin use-jwt").expect(0);
    assert_eq!(scratch.id_in(&scratch.project().join(GIT_ID)), id);
    assert!(!scratch.exists(OWN_ID) && !scratch.exists(".lorelane/.gitignore"));
    assert!(scratch.lorelane("log").out.ends_with(&before[0]));
    assert_eq!(scratch.ids(), [id]);
}

#[test]
fn projects_of_one_repository_do_not_mix() {
    let scratch = used(true);
    let nested = scratch.project().join("packages/web");
    fs::create_dir_all(nested.join(LANE)).unwrap();
    scratch.lorelane_in(&nested, "init").expect(0);
    assert_eq!(scratch.lorelane_in(&nested, "why").expect(1).err, "");
    scratch.lorelane_in(&nested, &format!("create decision --title 'Use Vite' {DECISION}")).expect(0);
    assert_eq!(scratch.lorelane_in(&nested, "log").expect(0).out.lines().count(), 1);
    assert_eq!(scratch.ids().len(), 2);
    assert_eq!(scratch.lorelane_in(&nested, "consolidate prepare").text().matches("pnpm").count(), 0);
}

#[test]
fn who_only_reads_makes_no_id() {
    let scratch = used(true);
    scratch.git(&["add", "--all"]);
    scratch.git(&["commit", "--quiet", "-m", "memories"]);
    let clone = scratch.folder.join("home/clone");
    scratch.git(&["clone", "--quiet", ".", clone.to_str().unwrap()]);
    let before = scratch.tree_without_cache();
    for line in [
        "list",
        "search jwt",
        "show use-jwt",
        "status",
        "log",
        "why",
        "doctor",
        "undo --dry-run",
        "retire use-jwt --dry-run",
        "create decision --title 'Use JWT' --set context=a --set decision=b --set rationale=c",
        "retire no-such-memory",
        "forget use-jwt --dry-run",
        "consolidate prepare",
        "config list",
    ] {
        scratch.lorelane_in(&clone, line);
        let after = scratch.tree_without_cache();
        let made: Vec<&String> = after.keys().filter(|path| !before.contains_key(*path)).collect();
        // A change that is refused leaves an empty journal.
        assert!(made.iter().all(|path| path.starts_with("home/state/lanes/")), "{line}: {made:?}");
    }
}

#[test]
fn the_id_that_a_clone_brings_is_not_its_own() {
    let scratch = used(false);
    fs::remove_file(scratch.project().join(".lorelane/.gitignore")).unwrap();
    scratch.git(&["init", "--quiet"]);
    scratch.git(&["add", "--all"]);
    scratch.git(&["commit", "--quiet", "-m", "with its id"]);
    let clone = scratch.folder.join("clone");
    scratch.git(&["clone", "--quiet", ".", clone.to_str().unwrap()]);
    for with_git in [true, false] {
        if !with_git {
            fs::remove_dir_all(clone.join(".git")).unwrap();
            fs::write(clone.join(OWN_ID), "0123456789abcdef0123456789abcdef\n").unwrap();
        }
        assert_eq!(scratch.lorelane_in(&clone, "log").expect(1).out, "");
        assert_eq!(scratch.lorelane_in(&clone, "doctor").out.contains(OWN_ID), with_git);
        scratch.lorelane_in(&clone, "retire use-jwt").expect(0);
        assert_eq!(scratch.lorelane_in(&clone, "log").expect(0).out.lines().count(), 1);
        scratch.lorelane_in(&clone, "undo").expect(0);
    }
    assert!(!scratch.ids().contains(&"0123456789abcdef0123456789abcdef".to_owned()));
    assert!(scratch.lorelane("log").expect(0).out.lines().count() == 2);
}

#[test]
fn what_is_in_the_place_of_an_id_is_neither_followed_nor_waited_for() {
    let outside = "0123456789abcdef0123456789abcdef\n";
    for (git, id) in [(false, OWN_ID), (true, GIT_ID)] {
        for what in ["link", "dangling link", "pipe", "folder", "huge", "garbage"] {
            let scratch = Scratch::new();
            if git {
                scratch.git(&["init", "--quiet"]);
            }
            scratch.lorelane("init").expect(0);
            let (place, target) = (scratch.project().join(id), scratch.folder.join("outside"));
            fs::create_dir_all(place.parent().unwrap()).unwrap();
            match what {
                "link" => {
                    fs::write(&target, outside).unwrap();
                    symlink(&target, &place).unwrap();
                }
                "dangling link" => symlink(scratch.folder.join("nowhere"), &place).unwrap(),
                "pipe" => assert!(Command::new("mkfifo").arg(&place).status().unwrap().success()),
                "folder" => fs::create_dir(&place).unwrap(),
                "huge" => fs::write(&place, vec![b'a'; 1 << 20]).unwrap(),
                _ => fs::write(&place, "no id\n").unwrap(),
            }
            let before = fs::symlink_metadata(&place).unwrap().file_type();
            scratch.decide("Use JWT");
            scratch.prompt_in(&scratch.project());
            assert_eq!(scratch.lorelane("log").expect(0).out.lines().count(), 1, "{what}");
            assert!(scratch.lorelane("doctor").expect(1).out.contains(id), "{what}");
            assert_eq!(scratch.hook_log(), "", "{what}");
            scratch.lorelane("undo").expect(0);
            assert_eq!(fs::symlink_metadata(&place).unwrap().file_type(), before, "{what}");
            assert!(!scratch.folder.join("nowhere").exists());
            assert!(!target.exists() || fs::read_to_string(&target).unwrap() == outside);
            assert_eq!(scratch.ids(), [""; 0], "{what}");
        }
    }
}

#[test]
fn a_git_file_or_link_leads_to_no_foreign_repository() {
    let scratch = used(true);
    let before = remembered(&scratch, &scratch.project());
    let theirs = scratch.project().join(".git");
    let tree = |scratch: &Scratch| {
        let mut tree = std::collections::BTreeMap::new();
        scratch.walk(&theirs, &mut tree);
        tree
    };
    let untouched = tree(&scratch);
    for what in ["file", "link", "common"] {
        let hostile = scratch.folder.join(what);
        fs::create_dir_all(hostile.join(LANE)).unwrap();
        match what {
            "file" => fs::write(hostile.join(".git"), format!("gitdir: {}\n", theirs.display())).unwrap(),
            "link" => symlink(&theirs, hostile.join(".git")).unwrap(),
            _ => {
                scratch.git_in(&hostile, &["init", "--quiet"]);
                fs::write(hostile.join(".git/commondir"), format!("{}\n", theirs.display())).unwrap();
            }
        }
        scratch.lorelane_in(&hostile, "init").expect(0);
        scratch
            .lorelane_in(&hostile, &format!("create decision --title 'Use JWT' --tag auth {DECISION}"))
            .expect(0);
        scratch.prompt_in(&hostile);
        assert_eq!(scratch.lorelane_in(&hostile, "log").expect(0).out.lines().count(), 1, "{what}");
        assert_eq!(tree(&scratch), untouched, "{what}");
        assert_eq!(remembered(&scratch, &scratch.project()), before, "{what}");
        assert!(!hostile.join(OWN_ID).exists(), "{what}");
    }
}

// The folder of a submodule's repository names the work tree in its settings.
#[test]
fn a_submodule_has_an_id_in_its_own_repository() {
    let scratch = used(true);
    scratch.git(&["add", "--all"]);
    scratch.git(&["commit", "--quiet", "-m", "memories"]);
    let outer = scratch.folder.join("outer");
    fs::create_dir(&outer).unwrap();
    scratch.git_in(&outer, &["init", "--quiet"]);
    let inner = scratch.project();
    let add =
        ["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", inner.to_str().unwrap(), "sub"];
    scratch.git_in(&outer, &add);
    let sub = outer.join("sub");
    scratch.lorelane_in(&sub, "retire use-jwt").expect(0);
    let id = scratch.id_in(&outer.join(".git/modules/sub/lorelane-id"));
    assert!(scratch.ids().contains(&id));
    let moved = scratch.folder.join("moved");
    fs::rename(&outer, &moved).unwrap();
    assert_eq!(scratch.lorelane_in(&moved.join("sub"), "log").expect(0).out.lines().count(), 1);
}

#[test]
fn processes_that_begin_at_once_agree_on_an_id() {
    for git in [false, true] {
        let scratch = Scratch::new();
        if git {
            scratch.git(&["init", "--quiet"]);
        }
        scratch.lorelane("init").expect(0);
        let children: Vec<_> = (0..6)
            .map(|number| {
                let line = words(&format!("create decision --title 'Use part {number}' {DECISION}"));
                let mut command = scratch.command(&line.iter().map(String::as_str).collect::<Vec<_>>());
                command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
            })
            .collect();
        for child in children {
            let output = child.wait_with_output().unwrap();
            assert!(output.status.success(), "{output:?}");
        }
        assert_eq!(scratch.lorelane("log").expect(0).out.lines().count(), 6);
        assert_eq!(scratch.ids().len(), 1);
        scratch.lorelane("doctor").expect(0);
    }
}

#[test]
fn forget_finds_what_was_moved_and_what_was_left() {
    let scratch = used(true);
    let before = fs::canonicalize(scratch.project().join(LANE)).unwrap();
    let moved = scratch.folder.join("elsewhere");
    fs::rename(scratch.project(), &moved).unwrap();
    scratch.lorelane_in(&moved, "retire use-redis").expect(0);
    let journal = |scratch: &Scratch| {
        let lanes = fs::read_dir(scratch.home().join("state/lanes")).unwrap();
        lanes.map(|entry| entry.unwrap().path()).next().unwrap()
    };
    let moved_lane = fs::canonicalize(moved.join(LANE)).unwrap();
    assert_ne!(before, moved_lane);
    // An older version was used again: its journal is nobody's.
    let older = scratch.home().join("state/lanes").join(Folders::lane_key(&moved_lane));
    let copied = Command::new("cp").arg("-a").arg(journal(&scratch)).arg(&older).status().unwrap();
    assert!(copied.success());
    let said = scratch.lorelane_in(&moved, "doctor").expect(1).out;
    assert!(said.contains("journal of an older version"), "{said}");
    let said = scratch.lorelane_in(&moved, "forget use-redis --yes");
    assert!(said.out.contains("older log") && said.text().contains("remove the folder"), "{}", said.text());
    fs::remove_dir_all(&older).unwrap();
    scratch.lorelane_in(&moved, "forget use-redis --yes").expect(0);
    let mut tree = std::collections::BTreeMap::new();
    scratch.walk(&scratch.home(), &mut tree);
    let holds = |bytes: &[u8]| String::from_utf8_lossy(bytes).contains("use-redis");
    // The cache of the place that it was moved from is nobody's: it can be deleted at any time.
    let former = Folders::lane_key(&before);
    let holding = tree.iter().filter(|(path, bytes)| holds(bytes) && !path.contains(&former));
    assert_eq!(holding.map(|(path, _)| path.as_str()).collect::<Vec<_>>(), [""; 0]);
}

#[test]
fn status_names_the_file_of_the_id() {
    for (git, id) in [(false, OWN_ID), (true, GIT_ID)] {
        let scratch = used(git);
        let said = scratch.lorelane("status").expect(0).out;
        assert!(said.contains(&format!("~/project/{id}  (project id")), "{said}");
    }
}
