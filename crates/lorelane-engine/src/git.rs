//! Git, through its own command: the user's hooks, signing and identity are respected.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// What git tells a hook about its own repository and says nothing about this one. The settings that came along
/// (`GIT_CONFIG_…`) and the identity are the user's and stay.
const OF_ANOTHER_REPOSITORY: [&str; 17] = [
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_DIR",
    "GIT_GLOB_PATHSPECS",
    "GIT_GRAFT_FILE",
    "GIT_ICASE_PATHSPECS",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_LITERAL_PATHSPECS",
    "GIT_NAMESPACE",
    "GIT_NOGLOB_PATHSPECS",
    "GIT_NO_REPLACE_OBJECTS",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
];

/// Files go in by standard input: a garbage collection may name more than a command line holds.
const FILES_FROM_INPUT: [&str; 2] = ["--pathspec-from-file=-", "--pathspec-file-nul"];

/// A commit as [`commits`] reads it.
const COMMIT: &str = "%H %cd";

/// Without `D`: a commit that removes a file does not hold it. `-m`: a stash is a merge.
const HOLDING: [&str; 3] = ["-m", "--no-renames", "--diff-filter=AMT"];

/// So many commits fit on a command line.
const GREP_MAX: usize = 200;

/// A file that moved more often keeps only its newest names.
const RENAMES_MAX: &str = "--max-count=50";

/// Commits exactly these files. The reason of a refusal is git's own.
pub fn commit_only(project: &Path, files: &[PathBuf], message: &str) -> Result<(), String> {
    let files: BTreeSet<&Path> =
        files.iter().map(|file| file.strip_prefix(project).unwrap_or(file)).collect();
    let known = tracked(project, &files)?;
    let (tracked, unknown): (Vec<&Path>, Vec<&Path>) =
        files.into_iter().partition(|file| known.contains(&named(file)));
    let new: Vec<&Path> = unknown.into_iter().filter(|file| project.join(file).exists()).collect();
    let all = [tracked, new.clone()].concat();
    if all.is_empty() {
        return Ok(());
    }
    // `commit --only` takes files from the worktree, but knows no untracked ones, so those are announced first.
    // The rest of the index is not touched.
    if !new.is_empty() {
        run(git(project).args(["add", "--intent-to-add"]).args(FILES_FROM_INPUT), &new)?;
    }
    let mut commit = git(project);
    commit.args(["commit", "--quiet", "--only", "-m", message]).args(FILES_FROM_INPUT);
    let committed = run(&mut commit, &all);
    if committed.is_err() && !new.is_empty() {
        // Refused: the index is as it was, so that no later commit of the user takes them along.
        let mut forget = git(project);
        forget.args(["rm", "--quiet", "--cached", "--force"]).args(FILES_FROM_INPUT);
        let _ = run(&mut forget, &new);
    }
    committed.map(drop)
}

/// What git has begun in a worktree and not ended: a merge, a rebase, a pick or a revert with conflicts.
const UNSETTLED: [&str; 6] =
    ["MERGE_HEAD", "REBASE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply"];

/// Whether somebody is in the middle of a merge or the like. Asks the disk, not git: it must be quick.
pub fn is_unsettled(project: &Path) -> bool {
    let Some(folder) = project.ancestors().map(|folder| folder.join(".git")).find(|git| git.exists()) else {
        return false;
    };
    // In a linked worktree `.git` is a file that names the folder.
    let folder = match std::fs::read_to_string(&folder) {
        Ok(text) => folder.with_file_name(text.trim_start_matches("gitdir:").trim()),
        Err(_) => folder,
    };
    UNSETTLED.iter().any(|name| folder.join(name).exists())
}

/// Those of the files that stand in the worktree as git put them there. None where git is not, or does not answer.
pub fn untouched<'f>(project: &Path, files: &'f [PathBuf]) -> Vec<&'f Path> {
    if files.is_empty() {
        return Vec::new();
    }
    let mut asked = git(project);
    // Everything else: changed since it was checked out, or unknown to git.
    asked.args(["ls-files", "-z", "--modified", "--others", "--"]).args(files);
    let Ok(touched) = run(&mut asked, &[]) else { return Vec::new() };
    let touched: BTreeSet<&[u8]> = touched.split(|byte| *byte == 0).collect();
    let is_touched =
        |file: &Path| touched.contains(named(file.strip_prefix(project).unwrap_or(file)).as_slice());
    files.iter().map(PathBuf::as_path).filter(|file| !is_touched(file)).collect()
}

/// Where the last commands of git had been before: a file that one of these has, and git's index has not, was taken
/// away by git.
const LAST_HEADS: [&str; 5] = ["HEAD", "ORIG_HEAD", "HEAD@{1}", "HEAD@{2}", "HEAD@{3}"];

/// Those of the files that are gone because git took them away: a branch without them, a removal. None where git is
/// not, or does not answer.
pub fn taken_away<'f>(project: &Path, files: &'f [PathBuf]) -> Vec<&'f Path> {
    if files.is_empty() {
        return Vec::new();
    }
    let from_project = |file: &Path| named(file.strip_prefix(project).unwrap_or(file));
    let Ok(missed) = run(git(project).args(["ls-files", "-z", "--deleted", "--"]).args(files), &[]) else {
        return Vec::new();
    };
    let mut known = Vec::new();
    for head in LAST_HEADS {
        let held =
            run(git(project).args(["ls-tree", "-r", "-z", "--name-only", head, "--"]).args(files), &[]);
        known.extend(held.unwrap_or_default());
    }
    let is_in =
        |list: &[u8], file: &Path| list.split(|byte| *byte == 0).any(|name| name == from_project(file));
    let files = files.iter().map(PathBuf::as_path);
    files.filter(|file| is_in(&known, file) && !is_in(&missed, file)).collect()
}

/// What git keeps of a file that is gone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// Commits with the file, with a line about it in another file, or with its name in their message: those of
    /// branches, tags and stashes, and those that only the reflog still knows. Newest first.
    pub commits: Vec<Commit>,
    /// Whether the file waits in git's index for the next commit.
    pub staged: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    pub id: String,
    /// As git writes it.
    pub date: String,
}

impl Held {
    pub fn is_empty(&self) -> bool {
        self.commits.is_empty() && !self.staged
    }
}

/// The repository that a path lies in, or would lie in.
pub fn repository_of(path: &Path) -> Option<PathBuf> {
    path.ancestors().find(|folder| folder.join(".git").exists()).map(Path::to_owned)
}

/// The files below a folder that any commit or git's index holds, and that this says yes to. It is asked with each
/// path from that folder.
pub fn ever_in(
    repository: &Path,
    folder: &Path,
    is_wanted: &dyn Fn(&str) -> bool,
) -> Result<Vec<PathBuf>, String> {
    let mut committed = history(repository, "");
    committed.args(HOLDING).args(["-z", "--name-only", "--"]).arg(folder);
    let mut printed = run(&mut committed, &[])?;
    printed.push(0);
    printed.extend(run(git(repository).args(["ls-files", "--cached", "-z", "--"]).arg(folder), &[])?);
    let paths: BTreeSet<PathBuf> = printed
        .split(|byte| *byte == 0)
        .map(|path| repository.join(String::from_utf8_lossy(path.trim_ascii_start()).as_ref()))
        .collect();
    let wanted = |path: &PathBuf| {
        let below = path.strip_prefix(folder).ok();
        below.is_some_and(|below| is_wanted(&String::from_utf8_lossy(&named(below))))
    };
    Ok(paths.into_iter().filter(wanted).collect())
}

/// What git holds of these files, and of these names in the files that list them.
pub fn held(project: &Path, files: &[PathBuf], lists: &[PathBuf], names: &[&str]) -> Result<Held, String> {
    // Without a path git would speak of all.
    let (mut commits, mut staged) = (Vec::new(), false);
    if !files.is_empty() {
        commits = self::commits(&run(history(project, COMMIT).args(HOLDING).arg("--").args(files), &[])?);
        staged = !run(git(project).args(["ls-files", "--cached", "--"]).args(files), &[])?.is_empty();
    }
    for name in names {
        let mut told = history(project, COMMIT);
        commits.extend(self::commits(&run(told.args(["--fixed-strings", "--grep", name]), &[])?));
        if lists.is_empty() {
            continue;
        }
        let mut listing = history(project, COMMIT);
        listing.args(["-m", &format!("-S{name}"), "--"]).args(lists);
        let listed = self::commits(&run(&mut listing, &[])?);
        commits.extend(with_name(project, name, &listed, lists)?);
    }
    commits.sort_by(|a, b| b.date.cmp(&a.date).then_with(|| a.id.cmp(&b.id)));
    commits.dedup();
    Ok(Held { commits, staged })
}

/// The names that a file had before, newest first, as paths from the project. None where git is not, or does not
/// answer.
pub fn former_names(project: &Path, file: &str) -> Vec<String> {
    if !is_in_repository(project) {
        return Vec::new();
    }
    let list_renames = ["-z", "--relative", "-M", "--name-status", "--diff-filter=R"];
    let mut names = Vec::new();
    let mut now = file.to_owned();
    // What is moved and not yet committed.
    let moved = run(git(project).args(["diff", "HEAD"]).args(list_renames), &[]).unwrap_or_default();
    if let Some((old, _)) = renames(&moved).into_iter().find(|(_, new)| *new == now) {
        now.clone_from(&old);
        names.push(old);
    }
    let mut followed = git(project);
    followed.args(["log", "--follow", "--format=", RENAMES_MAX]).args(list_renames).args(["--", &now]);
    let followed = run(&mut followed, &[]).unwrap_or_default();
    names.extend(renames(&followed).into_iter().map(|(old, _)| old));
    names.retain(|name| name != file);
    names
}

fn is_in_repository(project: &Path) -> bool {
    repository_of(project).is_some()
}

/// Old and new names, out of `--name-status -z`.
fn renames(printed: &[u8]) -> Vec<(String, String)> {
    let text = |field: &[u8]| String::from_utf8_lossy(field).into_owned();
    let fields: Vec<&[u8]> = printed.split(|byte| *byte == 0).map(<[u8]>::trim_ascii_start).collect();
    let mut found = Vec::new();
    let mut rest = fields.as_slice();
    while let [first, others @ ..] = rest {
        rest = others;
        if let (true, [old, new, others @ ..]) = (first.starts_with(b"R"), rest) {
            found.push((text(old), text(new)));
            rest = others;
        }
    }
    found
}

/// Every commit that anything leads to, a dropped stash included, told in this form.
fn history(project: &Path, form: &str) -> Command {
    let mut command = git(project);
    command.args(["log", "--all", "--reflog", "--full-history", "--date=iso-strict"]);
    command.arg(format!("--format={form}"));
    command
}

fn commits(printed: &[u8]) -> Vec<Commit> {
    let text = String::from_utf8_lossy(printed);
    let lines = text.lines().filter_map(|line| line.split_once(' '));
    lines.map(|(id, date)| Commit { id: id.to_owned(), date: date.to_owned() }).collect()
}

/// Those of the commits whose files have the name: one that took it out does not.
fn with_name(
    project: &Path,
    name: &str,
    commits: &[Commit],
    lists: &[PathBuf],
) -> Result<Vec<Commit>, String> {
    let mut held = Vec::new();
    for some in commits.chunks(GREP_MAX) {
        let mut grep = git(project);
        // Of nothing found git says exit code 1.
        grep.args(["grep", "--fixed-strings", "--name-only", "-e", name]);
        grep.args(some.iter().map(|commit| &commit.id)).arg("--").args(lists);
        let found = grep.output().map_err(|fault| format!("git could not be run: {fault}"))?.stdout;
        let found = String::from_utf8_lossy(&found).into_owned();
        held.extend(some.iter().filter(|commit| found.contains(&commit.id)).cloned());
    }
    Ok(held)
}

/// Those of the files that git knows, as git spells them.
fn tracked(project: &Path, files: &BTreeSet<&Path>) -> Result<BTreeSet<Vec<u8>>, String> {
    // Of all questions only this one takes no paths by input, so it is asked about the few folders they lie in.
    let folders: BTreeSet<&Path> = files.iter().filter_map(|file| file.parent()).collect();
    let folders =
        folders.into_iter().map(|folder| if folder == Path::new("") { Path::new(".") } else { folder });
    let listed = run(git(project).args(["ls-files", "-z", "--"]).args(folders), &[])?;
    Ok(listed.split(|byte| *byte == 0).map(<[u8]>::to_vec).collect())
}

fn git(project: &Path) -> Command {
    let mut command = Command::new("git");
    command.arg("-C").arg(project).arg("--literal-pathspecs");
    for name in OF_ANOTHER_REPOSITORY {
        command.env_remove(name);
    }
    command
}

/// Runs git with the files as its input and returns what it printed.
fn run(command: &mut Command, files: &[&Path]) -> Result<Vec<u8>, String> {
    let broken = |fault: std::io::Error| format!("git could not be run: {fault}");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child: Child = command.spawn().map_err(broken)?;
    if let Some(mut input) = child.stdin.take() {
        let names: Vec<u8> = files.iter().flat_map(|file| [named(file), vec![0]].concat()).collect();
        // Git reads all of it before it does anything, unless it refuses at once: then its words say why.
        let _ = input.write_all(&names);
    }
    let output = child.wait_with_output().map_err(broken)?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let words = [output.stderr, output.stdout].concat();
    Err(String::from_utf8_lossy(&words).trim().to_owned())
}

/// A path as git writes it: with slashes on every system.
fn named(file: &Path) -> Vec<u8> {
    let bytes = file.as_os_str().as_encoded_bytes();
    bytes.iter().map(|byte| if cfg!(windows) && *byte == b'\\' { b'/' } else { *byte }).collect()
}
