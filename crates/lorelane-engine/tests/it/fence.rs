//! The fence on a real disk, and what becomes of a file that got past it.

use crate::store::Temp;
use lorelane_core::change::{Change, Plan};
use lorelane_core::guard::ToolUse;
use lorelane_core::memory::{Address, Category};
use lorelane_core::recall::Query;
use lorelane_core::time::Timestamp;
use lorelane_engine::env::Env;
use lorelane_engine::index::Rebuild;
use lorelane_engine::workspace::{self, AuditResult, PreviousMemory, Workspace, guard, guard_by_name};
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

const NOW: Timestamp = Timestamp(1_772_000_000);

struct Project(Temp);

impl Project {
    /// A project whose folder `src` is the current one, with a store.
    fn new() -> Project {
        let project = Project::without_store();
        workspace::init(&project.env(), &project.env().cwd).unwrap();
        project
    }

    fn without_store() -> Project {
        let project = Project(Temp::new());
        fs::create_dir_all(project.at("src")).unwrap();
        fs::create_dir(project.at(".git")).unwrap();
        project
    }

    fn env(&self) -> Env {
        let text = |path: PathBuf| path.to_str().unwrap().to_owned();
        let vars = BTreeMap::from([
            ("HOME".to_owned(), text(self.0.0.join("home"))),
            ("LORELANE_HOME".to_owned(), text(self.0.0.join("home"))),
            ("CLAUDE_PROJECT_DIR".to_owned(), text(self.at(""))),
        ]);
        Env { now: NOW, cwd: self.at("src"), vars }
    }

    fn at(&self, path: &str) -> PathBuf {
        fs::canonicalize(&self.0.0).unwrap().join("project").join(path)
    }

    fn put(&self, path: &str, text: &str) {
        let file = self.at(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    fn open(&self) -> Workspace {
        Workspace::open(&self.env(), &self.env().cwd).unwrap()
    }

    fn denies(&self, tool: &ToolUse) -> bool {
        guard(&self.env(), &self.env().cwd, tool).is_some()
    }

    fn denies_write(&self, path: &str) -> bool {
        self.denies(&ToolUse::Write { path: path.to_owned() })
    }

    fn denies_command(&self, command: &str) -> bool {
        self.denies(&ToolUse::Shell { command: command.to_owned(), folder: None })
    }
}

fn record(name: &str) -> String {
    format!(
        r#"{{"schema_version": "1.0", "category": "decision", "id": "{name}", "title": "About {name}",
"created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z", "tags": ["auth"],
"content": {{"status": "accepted", "context": "c", "decision": "d", "rationale": ["r"]}}}}"#
    )
}

fn address(name: &str) -> Address {
    Address::record(Category::Decision, name)
}

#[test]
fn a_lane_is_fenced_from_any_folder_of_its_project() {
    let project = Project::new();
    assert!(project.denies_write("../.claude/memory/decisions/x.json"));
    assert!(project.denies_command("echo > \"$CLAUDE_PROJECT_DIR/.claude/memory/decisions/x.json\""));
    assert!(project.denies_command("cd .. && rm -rf .claude"));
    assert!(!project.denies_write("../.claude/settings.json"));
    assert!(!project.denies_command("cat ../.claude/memory/index.md > copy.md"));
    let missing = guard(
        &project.env(),
        &project.at("no/such/folder"),
        &ToolUse::Write { path: project.at(".claude/memory/index.md").to_str().unwrap().to_owned() },
    );
    assert!(missing.is_some(), "a folder that is gone hides no lane");
}

#[test]
fn only_a_lane_that_exists_is_fenced() {
    let project = Project::without_store();
    let path = "../.claude/memory/decisions/x.json";
    assert!(!project.denies_write(path));
    let tool = ToolUse::Write { path: path.to_owned() };
    assert!(
        guard_by_name(&project.env(), &project.env().cwd, &tool).is_some(),
        "the scripts went by the name"
    );
    fs::create_dir_all(project.at(".claude/memory")).unwrap();
    assert!(project.denies_write(path));
}

#[test]
fn the_lane_is_where_the_configuration_says() {
    let project = Project::new();
    project.put(".claude/memory/memory-config.json", r#"{"memory_root": "docs/memories"}"#);
    assert!(!project.denies_write("../docs/memories/decisions/x.json"), "it is not there yet");
    fs::create_dir_all(project.at("docs/memories/decisions")).unwrap();
    assert!(project.denies_write("../docs/memories/decisions/x.json"));
    assert!(project.denies_command("rm -r ../docs"));
    assert!(!project.denies_write("../.claude/memory/memory-config.json"));
    assert!(!project.denies_write("../docs/x.json"));
}

#[cfg(unix)]
#[test]
fn a_link_that_leads_into_the_lane_is_followed() {
    use std::os::unix::fs::symlink;
    let project = Project::new();
    symlink("../.claude/memory", project.at("src/lane")).unwrap();
    symlink("lane/decisions", project.at("src/twice")).unwrap();
    symlink("../.claude/memory/decisions/new.json", project.at("src/dangling.json")).unwrap();
    symlink("round", project.at("src/round")).unwrap();
    symlink("/", project.at("src/root")).unwrap();
    fs::create_dir(project.at("src/real")).unwrap();
    for path in [
        "lane/decisions/x.json",
        "twice/x.json",
        "twice/not/there/x.json",
        "dangling.json",
        "lane/../memory/index.md",
    ] {
        assert!(project.denies_write(path), "{path}");
    }
    for path in
        ["round", "round/x.json", "root/etc/x", "real/x.json", "lane/../x.json", "lane/memory-config.json"]
    {
        assert!(!project.denies_write(path), "{path}");
    }
    // The link itself is not the lane, but where the project names its lane by a link, that is.
    assert!(project.denies_command("rm lane/decisions/x.json"));
    fs::rename(project.at(".claude/memory"), project.at("memories")).unwrap();
    symlink("../memories", project.at(".claude/memory")).unwrap();
    assert!(project.denies_write("../memories/decisions/x.json"));
    assert!(project.denies_command("rm ../.claude/memory"));
}

#[test]
fn a_file_is_examined_by_where_it_lies() {
    let project = Project::new();
    let mut workspace = project.open();
    project.put(".claude/memory/decisions/fine.json", &record("fine"));
    project.put(".claude/memory/notes.md", "# Notes");
    project.put("src/x.json", "{}");
    let mut examine = |path: &str| workspace.external_writes().audit_file(&project.at(path)).unwrap();
    assert_eq!(examine(".claude/memory/decisions/fine.json"), AuditResult::Fine { address: address("fine") });
    assert_eq!(examine(".claude/memory/memory-config.json"), AuditResult::Config);
    assert_eq!(examine(".claude/memory/notes.md"), AuditResult::Foreign { name: "notes.md".to_owned() });
    assert_eq!(examine("src/x.json"), AuditResult::Outside);
    assert_eq!(examine(".claude/memory/decisions/gone.json"), AuditResult::Outside);
    assert_eq!(workspace.changes().recent(10).unwrap().1, 0, "nothing was changed");
}

#[test]
fn a_valid_file_that_was_edited_in_place_is_found_at_once() {
    let project = Project::new();
    let path = ".claude/memory/decisions/a.json";
    project.put(path, &record("a"));
    let mut workspace = project.open();
    let hits = |workspace: &mut Workspace| {
        workspace.recall().search(&Query::new("sessions", NOW), 5).unwrap().hits.len()
    };
    assert_eq!(hits(&mut workspace), 0);
    project.put(path, &record("a").replace("About a", "About sessions"));
    workspace.external_writes().audit_file(&project.at(path)).unwrap();
    assert_eq!(hits(&mut workspace), 1);
}

#[test]
fn an_invalid_file_is_put_aside_and_what_it_overwrote_is_back() {
    let project = Project::new();
    let mut workspace = project.open();
    create(&mut workspace, "a");
    let found = |workspace: &mut Workspace| {
        workspace.recall().search(&Query::new("auth", NOW), 5).unwrap().hits.len()
    };
    assert_eq!(found(&mut workspace), 1);

    let before = fs::read_to_string(project.at(".claude/memory/decisions/a.json")).unwrap();
    let bytes = r#"{"title": "About a", "tags": ["auth"]}"#;
    project.put(".claude/memory/decisions/a.json", bytes);
    let examined =
        workspace.external_writes().audit_file(&project.at(".claude/memory/decisions/a.json")).unwrap();
    let AuditResult::Quarantined { from, to, why, former } = &examined else { panic!("{examined:?}") };
    assert_eq!(*former, PreviousMemory::Back);
    assert_eq!(fs::read_to_string(project.at(".claude/memory/decisions/a.json")).unwrap(), before);
    assert_eq!(from.as_str(), "decisions/a.json");
    assert!(why.starts_with("Missing required fields: "), "{why}");
    assert_eq!(fs::read_to_string(project.at(".claude/memory").join(to.as_str())).unwrap(), bytes);
    assert_eq!(found(&mut workspace), 1);
    assert_eq!(
        workspace.maintenance().index_dump().unwrap(),
        workspace.maintenance().rebuilt_dump().unwrap()
    );

    let receipt = workspace.changes().undo().unwrap();
    assert_eq!(receipt.outcomes.len(), 1, "{receipt:?}");
    assert_eq!(fs::read_to_string(project.at(".claude/memory/decisions/a.json")).unwrap(), bytes);
    assert!(!project.at(".claude/memory").join(to.as_str()).exists());
    assert!(workspace.changes().verify_logs().is_empty());
}

#[test]
fn the_lane_is_examined_for_what_changed_and_no_more() {
    let project = Project::new();
    project.put(".claude/memory/decisions/old.json", "{}");
    project.put(".claude/memory/decisions/fine.json", &record("fine"));
    let mut workspace = project.open();
    assert_eq!(workspace.external_writes().audit().unwrap(), [], "nothing is known of before");
    assert_eq!(workspace.external_writes().audit().unwrap(), [], "nothing changed");
    project.put(".claude/memory/decisions/new.json", "{}");
    project.put(".claude/memory/decisions/other.json", &record("other"));
    let examined = workspace.external_writes().audit().unwrap();
    assert_eq!(examined[..1], [AuditResult::Fine { address: address("other") }]);
    assert!(
        matches!(&examined[1], AuditResult::Quarantined { from, .. } if from.as_str() == "decisions/new.json")
    );
    assert!(project.at(".claude/memory/decisions/old.json").exists(), "it stood there before");
    assert_eq!(workspace.changes().recent(10).unwrap().1, 1, "one change for all of them");
}

fn create(workspace: &mut Workspace, name: &str) {
    let create = Change::Create { address: address(name), text: record(name) };
    workspace.commit(&Plan { changes: vec![create], because: "new".to_owned() }).unwrap();
}

// A running server took a destroyed memory into the index before the guard came, which then found nothing new.
#[test]
fn what_others_indexed_meanwhile_is_examined_all_the_same() {
    let file = ".claude/memory/decisions/a.json";
    type Scan = fn(&mut Workspace);
    let scans: [(&str, Scan); 5] = [
        ("nobody", |_| {}),
        ("a look at every file", |other| other.maintenance().scan().unwrap()),
        ("a prompt", |other| {
            other.external_writes().begin_turn().unwrap();
            other.reminders().brief("auth sessions", "s").unwrap();
        }),
        ("a reindex", |other| drop(other.maintenance().reindex(Rebuild::Changed).unwrap())),
        ("a rebuild", |other| drop(other.maintenance().reindex(Rebuild::All).unwrap())),
    ];
    for (case, scan) in scans {
        for damage in ["{}", "{ \"title\": "] {
            let project = Project::new();
            let mut workspace = project.open();
            create(&mut workspace, "a");
            workspace.external_writes().begin_turn().unwrap();
            let before = fs::read(project.at(file)).unwrap();
            project.put(file, damage);
            project.put(".claude/memory/decisions/new.json", damage);
            scan(&mut project.open());
            scan(&mut project.open());
            let examined = workspace.external_writes().audit().unwrap();
            let [
                AuditResult::Quarantined { former: PreviousMemory::Back, .. },
                AuditResult::Quarantined { former: PreviousMemory::None, .. },
            ] = examined.as_slice()
            else {
                panic!("{case}, {damage}: {examined:?}")
            };
            assert_eq!(fs::read(project.at(file)).unwrap(), before, "{case}, {damage}");
            assert_eq!(workspace.external_writes().audit().unwrap(), [], "{case}, {damage}: once is enough");
        }
    }
}

// It was no memory any more, so nobody missed it.
#[test]
fn a_memory_that_was_removed_is_back_and_said() {
    let file = ".claude/memory/decisions/a.json";
    type Scan = fn(&Project);
    let scans: [(&str, Scan); 2] =
        [("nobody", |_| {}), ("a scan", |project| project.open().maintenance().scan().unwrap())];
    for (case, scan) in scans {
        let project = Project::new();
        let mut workspace = project.open();
        create(&mut workspace, "a");
        workspace.external_writes().begin_turn().unwrap();
        let before = fs::read(project.at(file)).unwrap();
        fs::remove_dir_all(project.at(".claude/memory/decisions")).unwrap();
        scan(&project);
        let examined = workspace.external_writes().audit().unwrap();
        assert!(
            matches!(examined.as_slice(), [AuditResult::Removed { former: PreviousMemory::Back, .. }]),
            "{case}: {examined:?}"
        );
        let objection = examined[0].objection().unwrap();
        assert!(objection.contains("`lorelane retire decision/a"), "{objection}");
        assert_eq!(fs::read(project.at(file)).unwrap(), before, "{case}");
        assert_eq!(workspace.external_writes().audit().unwrap(), [], "{case}");
        assert_eq!(
            workspace.maintenance().index_dump().unwrap(),
            workspace.maintenance().rebuilt_dump().unwrap(),
            "{case}"
        );
        assert!(workspace.changes().verify_logs().is_empty());
    }
}

#[test]
fn a_removed_memory_that_the_journal_does_not_have_is_only_said() {
    let project = Project::new();
    let file = ".claude/memory/decisions/a.json";
    let mut workspace = project.open();
    create(&mut workspace, "a");
    project.put(file, &record("a").replace("About a", "About something newer"));
    workspace.external_writes().audit().unwrap();
    fs::remove_file(project.at(file)).unwrap();
    let examined = workspace.external_writes().audit().unwrap();
    let [AuditResult::Removed { former: PreviousMemory::NotInJournal, .. }] = examined.as_slice() else {
        panic!("{examined:?}")
    };
    assert!(examined[0].objection().unwrap().contains("`lorelane restore decision/a`"));
    assert!(!project.at(file).exists());
    assert_eq!(workspace.external_writes().audit().unwrap(), []);
}

// The files are theirs.
#[test]
fn what_a_person_removed_before_they_speak_stays_away() {
    let project = Project::new();
    let file = ".claude/memory/decisions/a.json";
    let mut workspace = project.open();
    create(&mut workspace, "a");
    workspace.external_writes().begin_turn().unwrap();
    fs::remove_file(project.at(file)).unwrap();
    workspace.external_writes().begin_turn().unwrap();
    assert_eq!(workspace.external_writes().audit().unwrap(), []);
    assert!(!project.at(file).exists());
}

#[test]
fn what_git_took_away_stays_away() {
    let file = ".claude/memory/decisions/a.json";
    let git = |project: &Project, words: &[&str]| {
        let identity = ["-c", "user.name=t", "-c", "user.email=t@example.com"];
        let mut command = std::process::Command::new("git");
        let done = command.arg("-C").arg(project.at("")).args(identity).args(words).output().unwrap();
        assert!(done.status.success(), "{words:?}: {}", String::from_utf8_lossy(&done.stderr));
    };
    let remove: &dyn Fn(&Project) = &|project| fs::remove_file(project.at(file)).unwrap();
    let remove_by_git: &dyn Fn(&Project) = &|project| git(project, &["rm", "--quiet", file]);
    let switch: &dyn Fn(&Project) = &|project| git(project, &["checkout", "--quiet", "without"]);
    let merge: &dyn Fn(&Project) = &|project| {
        project.put(".git/MERGE_HEAD", "0");
        remove(project);
    };
    for (case, committed, take_away, stays_away) in [
        ("a tool, of what git has", true, remove, false),
        ("a tool, of what git never had", false, remove, false),
        ("git rm", true, remove_by_git, true),
        ("another branch", true, switch, true),
        ("a merge", true, merge, true),
    ] {
        let project = Project::new();
        let mut workspace = project.open();
        git(&project, &["init", "--quiet"]);
        git(&project, &["commit", "--quiet", "--allow-empty", "-m", "first"]);
        git(&project, &["branch", "without"]);
        create(&mut workspace, "a");
        if committed {
            git(&project, &["add", "--force", file]);
            git(&project, &["commit", "--quiet", "-m", "memory"]);
        }
        workspace.external_writes().begin_turn().unwrap();
        take_away(&project);
        let examined = workspace.external_writes().audit().unwrap();
        let left = matches!(examined.as_slice(), [AuditResult::LeftToGit { .. }]);
        assert_eq!((left, project.at(file).exists()), (stays_away, !stays_away), "{case}: {examined:?}");
    }
}

#[test]
fn one_look_puts_a_bounded_number_of_files_aside() {
    let project = Project::new();
    project.put(".claude/memory/decisions/fine.json", &record("fine"));
    let mut workspace = project.open();
    workspace.external_writes().audit().unwrap();
    for number in 0..100 {
        project.put(&format!(".claude/memory/decisions/n{number}.json"), "{}");
    }
    assert_eq!(workspace.external_writes().audit().unwrap().len(), 64);
    assert_eq!(workspace.external_writes().audit().unwrap().len(), 36, "the next one goes on");
    assert_eq!(
        workspace.maintenance().unreadable().unwrap().len(),
        0,
        "an empty object is read, and `doctor` names it"
    );
}

// Whatever the journal still has: a version that came by other ways since is not taken back by an older one.
#[test]
fn only_the_memory_that_was_overwritten_comes_back() {
    let project = Project::new();
    let file = ".claude/memory/decisions/a.json";
    let mut workspace = project.open();
    create(&mut workspace, "a");
    project.put(file, &record("a").replace("About a", "About something newer"));
    workspace.external_writes().audit().unwrap();
    project.put(file, "{}");
    let examined = workspace.external_writes().audit().unwrap();
    assert!(
        matches!(
            examined.as_slice(),
            [AuditResult::Quarantined { former: PreviousMemory::NotInJournal, .. }]
        ),
        "{examined:?}"
    );
    assert!(!project.at(file).exists());
}

#[test]
fn what_git_explains_is_left_where_it_is() {
    let conflict = "{\n<<<<<<< HEAD\n\"a\": 1\n=======\n\"a\": 2\n>>>>>>> theirs\n}\n";
    let file = ".claude/memory/decisions/new.json";
    let git = |project: &Project, words: &[&str]| {
        let mut command = std::process::Command::new("git");
        // Whoever runs the tests from a hook of git names another repository.
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
        let done = command.arg("-C").arg(project.at("")).args(words).output();
        assert!(done.unwrap().status.success(), "{words:?}");
    };
    let nothing: &dyn Fn(&Project) = &|_| {};
    let merging: &dyn Fn(&Project) = &|project| {
        git(project, &["init", "--quiet"]);
        project.put(".git/MERGE_HEAD", "0");
    };
    let worktree = |project: &Project, folder: &str| {
        fs::remove_dir_all(project.at(".git")).unwrap();
        for (name, text) in
            [("HEAD", "ref: refs/heads/x"), ("commondir", "../.."), ("rebase-merge/head", "0")]
        {
            project.put(&format!("{folder}/{name}"), text);
        }
        project.put(".git", &format!("gitdir: {folder}\n"));
    };
    let linked: &dyn Fn(&Project) = &|project| worktree(project, "main/.git/worktrees/x");
    let imitated: &dyn Fn(&Project) = &|project| worktree(project, "ordinary");
    let committed: &dyn Fn(&Project) = &|project| {
        git(project, &["init", "--quiet"]);
        git(project, &["add", "--force", file]);
    };
    let checked_out_with_returns: &dyn Fn(&Project) = &|project| {
        project.put(file, "{\n}\n");
        committed(project);
        project.put(file, "{\r\n}\r\n");
    };
    let changed_since: &dyn Fn(&Project) = &|project| {
        committed(project);
        project.put(file, "{\"changed\": 1}");
    };
    for (case, text, circumstances, is_left) in [
        ("nobody", "{}", nothing, false),
        ("a conflict", conflict, nothing, true),
        ("a merge", "{}", merging, true),
        ("a rebase in a linked worktree", "{}", linked, true),
        ("a folder that looks like one", "{}", imitated, false),
        ("as git has it", "{}", committed, true),
        ("as git has it, with other line ends", "{}", checked_out_with_returns, true),
        ("changed since", "{}", changed_since, false),
    ] {
        let project = Project::new();
        project.put(".claude/memory/decisions/fine.json", &record("fine"));
        let mut workspace = project.open();
        workspace.external_writes().audit().unwrap();
        project.put(file, text);
        circumstances(&project);
        let examined = workspace.external_writes().audit().unwrap();
        let left = matches!(examined.as_slice(), [AuditResult::LeftToGit { .. }]);
        assert_eq!((left, project.at(file).exists()), (is_left, is_left), "{case}: {examined:?}");
        assert_eq!(workspace.external_writes().audit().unwrap(), [], "{case}: once is enough");
    }
}
