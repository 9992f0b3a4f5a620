//! What audits are measured on: a machine with many projects, and repositories with memories about their code.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::Store;
use super::jobs::{Call, Job, Says, job, words, write_file};
use crate::corpus;
use crate::failure::Failure;
use crate::sandbox::Sandbox;
use lorelane_core::dialect::auto::project_slug;

/// How many memories each of these jobs has: their targets are for these sizes.
#[derive(Clone, Copy, Debug)]
pub struct AuditSizes {
    pub machine: usize,
    pub deep: usize,
    pub check: usize,
}

impl AuditSizes {
    pub const USUAL: AuditSizes = AuditSizes { machine: 2_000, deep: 1_000, check: 10_000 };
}

/// A deep audit takes seconds: this many runs are enough.
pub(super) const DEEP_RUNS_MAX: usize = 5;
const MEMORIES_PER_PROJECT: usize = 10;
const FILES_PER_MEMORY: usize = 5;
const TOUCHED: usize = 20;
const TYPES: [&str; 4] = ["feedback", "project", "reference", "user"];

pub(super) const MACHINE: Job = says("audit, all projects", |_, _| Ok(words(&["audit", "--all-projects"])));
pub(super) const DEEP_FIRST: Job = says("audit, deep, first", |store, _| {
    forget_verdicts(&store.sandbox)?;
    Ok(words(&["audit", "--deep"]))
});
pub(super) const DEEP_AGAIN: Job = says("audit, deep, again", |_, _| Ok(words(&["audit", "--deep"])));
/// With broken memories it exits with 1, and has still checked everything.
pub(super) const CHECK: Job =
    Job { done: &[0, 1], ..says("check", |_, _| Ok(words(&["check", "--changed"]))) };

/// It must print something: otherwise nothing was audited.
pub(super) const fn says(name: &'static str, call: fn(&Store<'_>, usize) -> Result<Call, Failure>) -> Job {
    Job { says: Says::Something, ..job(name, call) }
}

/// Projects with sessions and memories of Claude Code, as on the machine of somebody who uses it every day.
pub(super) fn write_machine(sandbox: &Sandbox, memories: usize) -> Result<(), Failure> {
    for project in 0..memories.div_ceil(MEMORIES_PER_PROJECT) {
        let root = sandbox.scratch("src").join(format!("service-{project}"));
        write(&root.join(".git/HEAD"), "ref: refs/heads/main\n")?;
        write(&root.join(".git/objects/.keep"), "")?;
        write(&root.join(".git/refs/.keep"), "")?;
        let folder = sandbox.home().join(".claude/projects").join(project_slug(&root.to_string_lossy()));
        for session in 0..3 {
            let said = "the importer is slow again, please look at the retries. ".repeat(10);
            let line = format!(
                "{{\"type\":\"summary\",\"summary\":\"retries\"}}\n{{\"type\":\"user\",\"cwd\":\"{}\",\"message\":{{\"role\":\"user\",\"content\":\"{said}\"}}}}\n",
                root.display()
            );
            write(&folder.join(format!("{session}.jsonl")), &line.repeat(20))?;
        }
        let mut index = String::from("# Memory\n\n");
        for memory in 0..MEMORIES_PER_PROJECT {
            let (kind, month) = (TYPES[memory % TYPES.len()], 1 + (project + memory) % 10);
            let text = format!(
                "---\nname: topic-{memory}\ndescription: \"What we learned about part {memory} of the importer\"\nmetadata: \n  node_type: memory\n  type: {kind}\n  modified: 2026-{month:02}-01T00:00:00.000Z\n---\n\nThe importer in `src/importer.rs` retries three times.\n\n**Why:** the upstream is slow in the morning.\n**How to apply:** do not lower the number without asking.\n"
            );
            write(&folder.join(format!("memory/topic-{memory}.md")), &text)?;
            index.push_str(&format!(
                "- [Topic {memory}](topic-{memory}.md) — part {memory} of the importer\n"
            ));
        }
        write(&folder.join("memory/MEMORY.md"), &index)?;
    }
    Ok(())
}

/// A repository with five files per memory, and notes with five claims each. Some files are gone since.
pub(super) fn write_claims(sandbox: &Sandbox, memories: usize) -> Result<(), Failure> {
    let project = sandbox.project();
    let file = |number: usize| format!("src/part{}/module{number}.rs", number % 100);
    for number in 0..memories * FILES_PER_MEMORY {
        let code =
            format!("pub fn handle_request_{number}(limit: usize) -> usize {{\n    limit + {number}\n}}\n");
        write(&project.join(file(number)), &code.repeat(8))?;
    }
    for memory in 0..memories {
        let at = |claim: usize| memory * FILES_PER_MEMORY + claim;
        let text = format!(
            "---\ntype: \"fact\"\nstatus: \"active\"\ntags: []\ncreated_at: \"2026-02-01T00:00:00+00:00\"\n---\n\nRequests of part {memory} are handled in `{}` and `{}`. The limit is checked by `handle_request_{}` and `handle_request_{}`; see also `{}`.\n",
            file(at(0)),
            file(at(1)),
            at(2),
            at(3),
            file(at(4)),
        );
        write(&project.join(format!(".memories/note-{memory}.md")), &text)?;
    }
    commit(&project, "2026-01-01T00:00:00Z")?;
    for gone in (0..memories * FILES_PER_MEMORY).step_by(50) {
        remove(&project.join(file(gone)))?;
    }
    commit(&project, "2026-03-01T00:00:00Z")
}

/// A repository with records that name its files, of which the worktree has changed and removed some.
pub(super) fn write_changed(sandbox: &Sandbox, memories: usize) -> Result<(), Failure> {
    corpus::write(&sandbox.records(), memories, super::SEED)?;
    let project = sandbox.project();
    let file = |number: usize| project.join(corpus::file_of(number));
    for number in 0..TOUCHED * 5 {
        write(&file(number), &format!("pub fn handle_request_{number}() {{}}\n"))?;
    }
    commit(&project, "2026-01-01T00:00:00Z")?;
    for number in 0..TOUCHED {
        match number % 2 {
            0 => remove(&file(number))?,
            _ => write(&file(number), "pub fn handle() {}\n")?,
        }
    }
    Ok(())
}

/// A deep audit that knows nothing of an earlier one.
fn forget_verdicts(sandbox: &Sandbox) -> Result<(), Failure> {
    let lanes = sandbox.home().join("cache/lorelane/lanes");
    let Ok(found) = fs::read_dir(&lanes) else { return Ok(()) };
    for file in found.flatten().flat_map(|lane| ["claims", "broken"].map(|name| lane.path().join(name))) {
        if file.exists() {
            remove(&file)?;
        }
    }
    Ok(())
}

fn write(file: &Path, text: &str) -> Result<(), Failure> {
    let folder = file.parent().unwrap_or(file);
    fs::create_dir_all(folder).map_err(|error| Failure::on("create", folder, error))?;
    write_file(file, text)
}

fn remove(file: &Path) -> Result<(), Failure> {
    fs::remove_file(file).map_err(|error| Failure::on("remove", file, error))
}

fn commit(project: &Path, date: &str) -> Result<(), Failure> {
    for words in [&["init", "-q"][..], &["add", "-A"], &["commit", "-qm", "measured"]] {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=A", "-c", "user.email=a@b.c", "-c", "init.defaultBranch=main"]);
        git.args(words).current_dir(project);
        git.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
        git.env("GIT_AUTHOR_DATE", date).env("GIT_COMMITTER_DATE", date);
        let output = git.output().map_err(|error| Failure::on("run", Path::new("git"), error))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            return Err(Failure::new(format!("cannot commit what is measured: {said}")));
        }
    }
    Ok(())
}
