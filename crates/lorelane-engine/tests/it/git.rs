//! Git in repositories of others: it is asked, and nothing that they name is run.

use crate::store::Temp;
use lorelane_engine::disk::RealDisk;
use lorelane_engine::git;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const RECORD: &str = ".claude/memory/decisions/use-jwt.json";
const HOOKS: [&str; 7] = [
    "pre-commit",
    "prepare-commit-msg",
    "commit-msg",
    "post-commit",
    "post-index-change",
    "post-checkout",
    "reference-transaction",
];

/// A project with a history, whose repository names a program wherever git takes one.
struct Trap(Temp);

impl Trap {
    fn new() -> Trap {
        let trap = Trap(Temp::new());
        trap.put("evil", &format!("#!/bin/sh\necho \"$@\" >> '{}'\n", trap.canary().display()));
        fs::set_permissions(trap.0.0.join("evil"), PermissionsExt::from_mode(0o755)).unwrap();
        trap.put("project/.gitattributes", "* filter=evil diff=evil\n");
        trap.put("project/docs/a.md", "one\ntwo\nthree\nuse-jwt\n");
        trap.put(&format!("project/{RECORD}"), "{}\n");
        trap.git(&["init", "--quiet", "-b", "main"]);
        for (key, value) in [("user.name", "A"), ("user.email", "a@b.c"), ("gc.auto", "0")] {
            trap.git(&["config", key, value]);
        }
        trap.git(&["add", "-A"]);
        trap.git(&["commit", "--quiet", "-m", "start"]);
        trap.git(&["mv", "docs/a.md", "docs/b.md"]);
        trap.git(&["commit", "--quiet", "-m", "decision/use-jwt"]);
        trap.sign_last();
        trap.git(&["mv", "docs/b.md", "docs/c.md"]);
        trap.arm(&trap.project().join(".git"));
        trap
    }

    /// A folder with what a bare repository has, as a clone can bring it, and a lane in it.
    fn with_imitation(&self, folder: &str) -> PathBuf {
        let imitation = self.0.0.join(folder);
        fs::create_dir_all(&imitation).unwrap();
        assert!(
            Command::new("git")
                .args(["init", "--quiet", "--bare"])
                .arg(&imitation)
                .status()
                .unwrap()
                .success()
        );
        self.put(&format!("{folder}/{RECORD}"), "{}\n");
        fs::write(
            imitation.join("config"),
            "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = ../sub\n",
        )
        .unwrap();
        self.arm(&imitation);
        imitation
    }

    fn project(&self) -> PathBuf {
        self.0.0.join("project")
    }

    fn canary(&self) -> PathBuf {
        self.0.0.join("canary")
    }

    fn put(&self, path: &str, text: &str) {
        let file = self.0.0.join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    fn git(&self, words: &[&str]) -> Output {
        let done = Command::new("git").arg("-C").arg(self.project()).args(words).output().unwrap();
        assert!(done.status.success(), "{words:?}: {done:?}");
        done
    }

    /// A commit that asks to be verified.
    fn sign_last(&self) {
        let commit = String::from_utf8(self.git(&["cat-file", "commit", "HEAD"]).stdout).unwrap();
        let signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n aaaa\n -----END PGP SIGNATURE-----\n\n";
        self.put("signed", &commit.replacen("\n\n", &format!("\n{signature}"), 1));
        let file = self.0.0.join("signed");
        let id = self.git(&["hash-object", "-t", "commit", "-w", file.to_str().unwrap()]).stdout;
        self.git(&["update-ref", "HEAD", String::from_utf8(id).unwrap().trim()]);
    }

    fn arm(&self, git_dir: &Path) {
        fs::create_dir_all(git_dir.join("hooks")).unwrap();
        for hook in HOOKS {
            symlink(self.0.0.join("evil"), git_dir.join("hooks").join(hook)).unwrap();
        }
        let mut config = fs::read_to_string(git_dir.join("config")).unwrap();
        config.push_str(&self.config());
        fs::write(git_dir.join("config"), config).unwrap();
    }

    fn config(&self) -> String {
        let evil = self.0.0.join("evil");
        let evil = evil.display();
        format!(
            r#"
[core]
	fsmonitor = {evil} fsmonitor
	pager = {evil} pager
	editor = {evil} editor
	sshCommand = {evil} ssh
	alternateRefsCommand = {evil} refs
[diff]
	external = {evil} external
[diff "evil"]
	textconv = {evil} textconv
	command = {evil} command
[filter "evil"]
	clean = {evil} clean
	smudge = {evil} smudge
[pager]
	log = {evil} pager
	grep = {evil} pager
[gpg]
	program = {evil}
[credential]
	helper = {evil} credential
[extensions]
	partialClone = origin
[remote "origin"]
	url = file:///nowhere
	promisor = true
	uploadpack = {evil} uploadpack
[log]
	showSignature = true
"#
        )
    }

    /// What was run since the last look.
    fn sprung(&self) -> String {
        let said = fs::read_to_string(self.canary()).unwrap_or_default();
        let _ = fs::remove_file(self.canary());
        said
    }

    /// Takes away an object that a question needs, so that git would fetch it.
    fn lose_an_object(&self) {
        let id = String::from_utf8(self.git(&["rev-parse", "HEAD~1:docs/a.md"]).stdout).unwrap();
        let (folder, name) = id.trim().split_at(2);
        fs::remove_file(self.project().join(".git/objects").join(folder).join(name)).unwrap();
    }
}

/// Every question that is asked of git.
fn ask_everything(project: &Path) {
    let files = [project.join(RECORD)];
    git::is_unsettled(project);
    git::untouched(&RealDisk, project, &files);
    git::former_names(project, "docs/c.md");
    let Some(repository) = git::repository_of(project) else { return };
    let _ = git::ever_in(&repository, &project.join(".claude/memory"), &|_| true);
    let _ =
        git::held(&repository, &files, &[project.join("docs/c.md"), project.join("docs/a.md")], &["use-jwt"]);
}

#[test]
fn the_trap_springs_when_git_is_asked_carelessly() {
    let trap = Trap::new();
    // As long as before: only a look into the file, through its filter, tells that it changed.
    fs::write(trap.project().join(RECORD), "[]\n").unwrap();
    let careless = |words: &[&str]| {
        let _ = Command::new("git").arg("-C").arg(trap.project()).args(words).output().unwrap();
        trap.sprung()
    };
    assert!(careless(&["status"]).contains("fsmonitor"));
    assert!(careless(&["-c", "core.fsmonitor=false", "ls-files", "--modified"]).contains("clean"));
    assert!(careless(&["log", "-Suse-jwt", "--", "docs/c.md", "docs/a.md"]).contains("textconv"));
    assert!(careless(&["log", "-1"]).contains("--verify"));
    trap.lose_an_object();
    assert!(
        careless(&["-c", "diff.evil.textconv=cat", "log", "-Suse-jwt", "--", "docs/a.md"])
            .contains("uploadpack")
    );
}

#[test]
fn no_question_runs_what_a_repository_names() {
    let trap = Trap::new();
    let project = trap.project();
    assert_eq!(git::untouched(&RealDisk, &project, &[project.join(RECORD)]).len(), 1);
    assert_eq!(git::former_names(&project, "docs/c.md"), ["docs/b.md", "docs/a.md"]);
    let held =
        git::held(&project, &[project.join(RECORD)], &[project.join("docs/b.md")], &["use-jwt"]).unwrap();
    assert_eq!((held.commits.len(), held.staged), (3, true), "{held:?}");
    assert_eq!(trap.sprung(), "");
    fs::write(project.join(RECORD), "{}  \n").unwrap();
    assert!(git::untouched(&RealDisk, &project, &[project.join(RECORD)]).is_empty());
    ask_everything(&project);
    trap.lose_an_object();
    ask_everything(&project);
    assert_eq!(trap.sprung(), "");
}

// A committed folder with HEAD, config, objects and refs ran its monitor at `create` and after every tool.
#[test]
fn a_folder_that_looks_like_a_bare_repository_is_none() {
    let trap = Trap::new();
    for folder in ["project/sub", "alone/sub"] {
        let sub = trap.with_imitation(folder);
        let _ = Command::new("git").arg("-C").arg(&sub).arg("status").output().unwrap();
        assert!(trap.sprung().contains("fsmonitor"), "{folder}: the trap is armed");
        ask_everything(&sub);
        assert_eq!(trap.sprung(), "", "{folder}");
    }
    let alone = trap.0.0.join("alone/sub");
    assert_eq!(git::repository_of(&alone), None);
    assert_eq!(git::repository_of(&trap.project().join("sub/.claude")), Some(trap.project()));
    let refused = git::commit_only(&alone, &[alone.join(RECORD)], "memory: x");
    assert_eq!(refused.unwrap_err().to_string(), "there is no git repository here");
    // Nor does a `.git` make one of it that names a folder of the work tree.
    fs::write(alone.join(".git"), "gitdir: .\n").unwrap();
    assert_eq!(git::repository_of(&alone), None);
    ask_everything(&alone);
    assert_eq!(trap.sprung(), "");
}
