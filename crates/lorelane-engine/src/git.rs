//! Runs git. Queries run nothing but git itself; a commit respects the user's hooks, signing and identity.

mod call;
mod repository;
mod snapshot;

pub(crate) use repository::{EnclosingRepository, Repository, enclosing};

pub use call::GitError;
pub use snapshot::{CommitTree, DiffBase, Snapshots, TreeFile};

use crate::disk::Disk;
use call::{GitCallPolicy, PLAIN_DIFF, WorkTree, is_there, run, run_commit, run_search};
use lorelane_core::time::Timestamp;
use memchr::memchr;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Files are passed on standard input: `gc` may name more than fit on a command line.
const FILES_FROM_INPUT: [&str; 2] = ["--pathspec-from-file=-", "--pathspec-file-nul"];

/// The format that [`commits`] parses.
const COMMIT: &str = "%H %cd";

/// Without `D`: a commit that removes a file does not contain it. `-m`: a stash is a merge.
const HOLDING: [&str; 3] = ["-m", "--no-renames", "--diff-filter=AMT"];

/// This many commits fit on a command line.
const GREP_MAX: usize = 200;

/// Only the newest names of a file that was renamed more often.
const RENAMES_MAX: &str = "--max-count=50";

/// Commits exactly these files, with the user's hooks: only for a trusted project. If git rejects it, the error is
/// git's own message.
pub fn commit_only(project: &Path, files: &[PathBuf], message: &str) -> Result<(), GitError> {
    let tree = WorkTree::around(project).ok_or(GitError::NoRepository)?;
    let files: BTreeSet<&Path> = files.iter().map(|file| tree.relative(file)).collect();
    let known = tracked(&tree, &files)?;
    let (tracked, unknown): (Vec<&Path>, Vec<&Path>) =
        files.into_iter().partition(|file| known.contains(&named(file)));
    let new: Vec<&Path> = unknown.into_iter().filter(|file| is_there(&tree.root.join(file))).collect();
    let all = [tracked, new.clone()].concat();
    if all.is_empty() {
        return Ok(());
    }
    // `commit --only` takes files from the worktree but ignores untracked ones, so those are added with intent
    // first. The rest of the index is not touched.
    if !new.is_empty() {
        let mut add = tree.git(GitCallPolicy::WhatCommitsRun);
        run(add.args(["add", "--intent-to-add"]).args(FILES_FROM_INPUT), by_nul(&new))?;
    }
    let mut commit = tree.git(GitCallPolicy::WhatCommitsRun);
    commit.args(["commit", "--quiet", "--only", "-m", message]).args(FILES_FROM_INPUT);
    let committed = run_commit(&mut commit, by_nul(&all));
    if committed.is_err() && !new.is_empty() {
        // Rejected: restore the index, so that no later commit of the user includes these files.
        let mut forget = tree.git(GitCallPolicy::WhatCommitsRun);
        forget.args(["rm", "--quiet", "--cached", "--force"]).args(FILES_FROM_INPUT);
        let _ = run(&mut forget, by_nul(&new));
    }
    committed
}

/// What git has started in a worktree and not finished: a merge, rebase, cherry-pick or revert with conflicts.
const UNSETTLED: [&str; 6] =
    ["MERGE_HEAD", "REBASE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply"];

/// Whether a merge or the like is in progress. Checks the disk and does not run git: it must be quick.
pub fn is_unsettled(project: &Path) -> bool {
    let Some(tree) = WorkTree::around(project) else { return false };
    UNSETTLED.iter().any(|name| is_there(&tree.git_dir.join(name)))
}

/// The files that are in the worktree as git checked them out. Empty without git, or if it does not answer.
pub fn untouched<'f>(disk: &dyn Disk, project: &Path, files: &'f [PathBuf]) -> Vec<&'f Path> {
    let compared = compared(disk, project, files);
    compared.into_iter().filter_map(|(file, is_same)| is_same.then_some(file)).collect()
}

/// The files that git has with another content. Empty without git, or if it does not answer.
pub fn modified<'f>(disk: &dyn Disk, project: &Path, files: &'f [PathBuf]) -> Vec<&'f Path> {
    let compared = compared(disk, project, files);
    compared.into_iter().filter_map(|(file, is_same)| (!is_same).then_some(file)).collect()
}

/// The files that git has, and whether their content is the same.
///
/// We compare, not git: git would run the filters that the repository names.
fn compared<'f>(disk: &dyn Disk, project: &Path, files: &'f [PathBuf]) -> Vec<(&'f Path, bool)> {
    let tree = WorkTree::around(project).filter(|_| !files.is_empty());
    let Some(tree) = tree else { return Vec::new() };
    // Git would take `:/home/…` for a search in commit messages.
    let files: Vec<&'f PathBuf> = files.iter().filter(|file| file.starts_with(&tree.root)).collect();
    if files.is_empty() {
        return Vec::new();
    }
    let names: Vec<Vec<u8>> = files.iter().map(|file| named(tree.relative(file))).collect();
    if names.iter().any(|name| name.contains(&b'\n')) {
        return Vec::new();
    }
    let asked = names.iter().flat_map(|name| [b":", name.as_slice(), b"\n"].concat()).collect();
    let Ok(printed) = run(tree.git(GitCallPolicy::GitAlone).args(["cat-file", "--batch"]), asked) else {
        return Vec::new();
    };
    let compare = |(file, held): (&'f PathBuf, Option<&[u8]>)| {
        let held = held?;
        let now = disk.read_regular(file, 2 * held.len() as u64);
        Some((file.as_path(), now.ok().flatten().is_some_and(|now| is_same(&now, held))))
    };
    files.into_iter().zip(staged(&printed)).filter_map(compare).collect()
}

/// The place of a file's bytes in git, as `COMMIT:PATH`, if the tree of `HEAD` has exactly these. What is only staged may
/// be gone tomorrow.
pub fn committed(project: &Path, file: &Path, bytes: &[u8]) -> Option<String> {
    let tree = WorkTree::around(project).filter(|tree| file.starts_with(&tree.root))?;
    let mut asked = tree.git(GitCallPolicy::GitAlone);
    let printed = run(asked.args(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]), Vec::new()).ok()?;
    let commit = String::from_utf8(printed).ok()?.trim().to_owned();
    let path = tree.relative(file).to_str().filter(|path| !path.contains('\n'))?;
    let place = format!("{commit}:{path}");
    (bytes_at(project, &place)? == bytes).then_some(place)
}

/// The bytes at `COMMIT:PATH`.
pub fn bytes_at(project: &Path, place: &str) -> Option<Vec<u8>> {
    let tree = WorkTree::around(project)?;
    let (commit, _) = place.split_once(':')?;
    let is_plain = commit.bytes().all(|byte| byte.is_ascii_hexdigit()) && !place.contains('\n');
    if !is_plain || commit.is_empty() {
        return None;
    }
    let asked = format!("{place}\n").into_bytes();
    let printed = run(tree.git(GitCallPolicy::GitAlone).args(["cat-file", "--batch"]), asked).ok()?;
    staged(&printed).into_iter().next()?.map(<[u8]>::to_vec)
}

/// The blobs that `cat-file --batch` printed, in the order of the request; `None` for a file that git does not
/// have.
fn staged(mut printed: &[u8]) -> Vec<Option<&[u8]>> {
    let mut blobs = Vec::new();
    while let Some(end) = memchr(b'\n', printed) {
        let (head, rest) = (&printed[..end], &printed[end + 1..]);
        let size = std::str::from_utf8(head).ok().and_then(|head| head.rsplit_once(" blob ")?.1.parse().ok());
        let blob = size.and_then(|size: usize| rest.get(..size));
        printed = blob.map_or(rest, |blob| rest.get(blob.len() + 1..).unwrap_or_default());
        blobs.push(blob);
    }
    blobs
}

/// Whether a file has the content that git has. A checkout may have changed its line endings.
fn is_same(now: &[u8], held: &[u8]) -> bool {
    let lines = |bytes: &[u8]| -> Vec<Vec<u8>> {
        let lines = bytes.split(|byte| *byte == b'\n');
        lines.map(|line| line.strip_suffix(b"\r").unwrap_or(line).to_vec()).collect()
    };
    now == held || lines(now) == lines(held)
}

/// Where `HEAD` was before the last git commands: a file that is in one of these and not in git's index was
/// removed by git. The number is the move of `HEAD` that left it, as counted by the reflog.
const LAST_HEADS: [(&str, Option<usize>); 5] = [
    ("HEAD", None),
    ("ORIG_HEAD", Some(0)),
    ("HEAD@{1}", Some(0)),
    ("HEAD@{2}", Some(1)),
    ("HEAD@{3}", Some(2)),
];

/// The files that git removed: a branch without them, a `git rm`. A file that is known to have existed later was
/// not. Empty without git, or if it does not answer.
pub fn taken_away<'f>(project: &Path, files: &'f [(PathBuf, Option<Timestamp>)]) -> Vec<&'f Path> {
    let tree = WorkTree::around(project).filter(|_| !files.is_empty());
    let Some(tree) = tree else { return Vec::new() };
    let named_here = |file: &Path| named(tree.relative(file));
    let ask = |words: &[&str]| {
        let mut asked = tree.git(GitCallPolicy::GitAlone);
        run(asked.args(words).arg("--").args(files.iter().map(|(file, _)| tree.relative(file))), Vec::new())
    };
    let Ok(missed) = ask(&["ls-files", "-z", "--deleted"]) else { return Vec::new() };
    let moves = last_moves(&tree);
    let heads = LAST_HEADS.map(|(head, left)| {
        let known = ask(&["ls-tree", "-r", "-z", "--name-only", head]).unwrap_or_default();
        (known, left.and_then(|at| moves.get(at).copied()))
    });
    let is_in = |list: &[u8], file: &Path| list.split(|byte| *byte == 0).any(|name| name == named_here(file));
    let by_git = |(file, there): &&(PathBuf, Option<Timestamp>)| {
        let since = |left: Option<Timestamp>| left.zip(*there).is_some_and(|(left, there)| there > left);
        !is_in(&missed, file) && heads.iter().any(|(known, left)| is_in(known, file) && !since(*left))
    };
    files.iter().filter(by_git).map(|(file, _)| file.as_path()).collect()
}

/// When `HEAD` last moved, newest first.
fn last_moves(tree: &WorkTree) -> Vec<Timestamp> {
    let mut asked = tree.git(GitCallPolicy::GitAlone);
    asked.args(["log", "--walk-reflogs", "--max-count=3", "--date=unix", "--format=%gd", "HEAD"]);
    let printed = run(&mut asked, Vec::new()).unwrap_or_default();
    let time = |line: &str| line.strip_prefix("HEAD@{")?.strip_suffix('}')?.parse().ok().map(Timestamp);
    String::from_utf8_lossy(&printed).lines().map_while(time).collect()
}

/// What git still has of a file that is gone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GitTraces {
    /// Commits with the file, with a line about it in another file, or with its name in their message: on
    /// branches, tags and stashes, and those that only the reflog has. Newest first.
    pub commits: Vec<Commit>,
    /// Whether the file is staged in git's index.
    pub staged: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    pub id: String,
    /// As git prints it.
    pub date: String,
}

impl GitTraces {
    pub fn is_empty(&self) -> bool {
        self.commits.is_empty() && !self.staged
    }
}

/// The git folder that all worktrees of a path's repository share. Does not run git: hooks need it.
pub fn common_dir(path: &Path) -> Option<PathBuf> {
    WorkTree::around(path).map(|tree| call::common_dir(tree.git_dir))
}

/// The folder that the repository's or the user's settings name for hooks, if they name one.
pub fn hooks_path(project: &Path) -> Option<String> {
    let tree = WorkTree::around(project)?;
    // By scope: our own calls set this key for themselves.
    ["--local", "--global"].into_iter().find_map(|scope| {
        let mut asked = tree.git(GitCallPolicy::GitAlone);
        let printed = run(asked.args(["config", scope, "--get", "core.hooksPath"]), Vec::new()).ok()?;
        let folder = String::from_utf8_lossy(&printed).trim().to_owned();
        (!folder.is_empty()).then_some(folder)
    })
}

/// The worktree that a path is in, or would be in.
pub fn repository_of(path: &Path) -> Option<PathBuf> {
    WorkTree::around(path).map(|tree| tree.root)
}

/// The files below a folder that any commit or git's index has and `is_wanted` accepts. It gets each path relative
/// to that folder.
pub fn ever_in(
    repository: &Path,
    folder: &Path,
    is_wanted: &dyn Fn(&str) -> bool,
) -> Result<Vec<PathBuf>, GitError> {
    let Some(tree) = WorkTree::around(repository) else { return Ok(Vec::new()) };
    let mut committed = history(&tree, "");
    // All paths below the folder, filtered here: a pathspec pattern would match `alpha_2` for `alpha`.
    committed.args(HOLDING).args(["-z", "--name-only", "--"]).arg(folder);
    let mut printed = run(&mut committed, Vec::new())?;
    printed.push(0);
    printed.extend(run(in_index(&tree).arg("-z").arg("--").arg(folder), Vec::new())?);
    let wanted = |path: &PathBuf| {
        let below = path.strip_prefix(folder).ok();
        below.is_some_and(|below| is_wanted(&String::from_utf8_lossy(&named(below))))
    };
    let paths: BTreeSet<PathBuf> = printed
        .split(|byte| *byte == 0)
        .map(|path| repository.join(String::from_utf8_lossy(path.trim_ascii_start()).as_ref()))
        .filter(wanted)
        .collect();
    Ok(paths.into_iter().collect())
}

/// What git has of these files, and of these names in the files that list them.
pub fn held(
    project: &Path,
    files: &[PathBuf],
    lists: &[PathBuf],
    names: &[&str],
) -> Result<GitTraces, GitError> {
    let Some(tree) = WorkTree::around(project) else { return Ok(GitTraces::default()) };
    // Without a path git would list everything.
    let (mut commits, mut staged) = (Vec::new(), false);
    if !files.is_empty() {
        let mut asked = history(&tree, COMMIT);
        commits = self::commits(&run(asked.args(HOLDING).arg("--").args(files), Vec::new())?);
        staged = !run(in_index(&tree).arg("--").args(files), Vec::new())?.is_empty();
    }
    for name in names {
        let mut told = history(&tree, COMMIT);
        commits.extend(self::commits(&run(told.args(["--fixed-strings", "--grep", name]), Vec::new())?));
        if lists.is_empty() {
            continue;
        }
        let mut listing = history(&tree, COMMIT);
        listing.args(["-m", &format!("-S{name}"), "--"]).args(lists);
        let listed = self::commits(&run(&mut listing, Vec::new())?);
        commits.extend(with_name(&tree, name, &listed, lists)?);
    }
    commits.sort_by(|a, b| b.date.cmp(&a.date).then_with(|| a.id.cmp(&b.id)));
    commits.dedup();
    Ok(GitTraces { commits, staged })
}

/// The former names of a file, newest first, relative to the project. Empty without git, or if it does not answer.
pub fn former_names(project: &Path, file: &str) -> Vec<String> {
    let Some(tree) = WorkTree::around(project) else { return Vec::new() };
    let prefix = named(&tree.relative(project).join(""));
    let from_here = format!("--relative={}", String::from_utf8_lossy(&prefix));
    let list_renames = ["-z", from_here.as_str(), "-M", "--name-status", "--diff-filter=R"];
    let mut names = Vec::new();
    let mut now = file.to_owned();
    // Renamed but not committed: taken from the index, because reading the worktree would run filters.
    let mut moved = tree.git(GitCallPolicy::GitAlone);
    moved.args(["diff-index", "--cached"]).args(PLAIN_DIFF).args(list_renames).arg("HEAD");
    let moved = run(&mut moved, Vec::new()).unwrap_or_default();
    if let Some((old, _)) = renames(&moved).into_iter().find(|(_, new)| *new == now) {
        now.clone_from(&old);
        names.push(old);
    }
    let mut followed = tree.git(GitCallPolicy::GitAlone);
    followed.args(["log", "--follow", "--format=", RENAMES_MAX]).args(PLAIN_DIFF).args(list_renames);
    followed.arg("--").arg(project.join(&now));
    let followed = run(&mut followed, Vec::new()).unwrap_or_default();
    names.extend(renames(&followed).into_iter().map(|(old, _)| old));
    names.retain(|name| name != file);
    names
}

/// When git last changed each of these files. A file that it does not know is left out.
pub fn last_changes(project: &Path, files: &[&Path]) -> Vec<(PathBuf, Timestamp)> {
    let tree = WorkTree::around(project).filter(|_| !files.is_empty());
    let Some(tree) = tree else { return Vec::new() };
    let mut asked = tree.git(GitCallPolicy::GitAlone);
    asked.args(["log", "--format=%x01%ct", "--name-only", "-z", "--no-renames"]).args(PLAIN_DIFF);
    asked.arg("--").args(files.iter().map(|file| tree.relative(file)));
    let printed = run(&mut asked, Vec::new()).unwrap_or_default();
    let (mut at, mut found) = (None, BTreeMap::new());
    for field in printed.split(|byte| *byte == 0) {
        let field = String::from_utf8_lossy(field.trim_ascii_start()).into_owned();
        match field.strip_prefix('\u{1}') {
            Some(time) => at = time.trim().parse().ok().map(Timestamp),
            None => {
                if let Some(at) = at.filter(|_| !field.is_empty()) {
                    found.entry(tree.root.join(field)).or_insert(at);
                }
            }
        }
    }
    found.into_iter().collect()
}

/// Old and new names from `--name-status -z`.
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

/// Every reachable commit, including dropped stashes, in this format.
fn history(tree: &WorkTree, form: &str) -> Command {
    let mut command = tree.git(GitCallPolicy::GitAlone);
    command.args(["log", "--all", "--reflog", "--full-history", "--date=iso-strict"]).args(PLAIN_DIFF);
    command.arg(format!("--format={form}"));
    command
}

/// The files that git's index has.
fn in_index(tree: &WorkTree) -> Command {
    let mut command = tree.git(GitCallPolicy::GitAlone);
    command.args(["ls-files", "--cached"]);
    command
}

fn commits(printed: &[u8]) -> Vec<Commit> {
    let text = String::from_utf8_lossy(printed);
    let lines = text.lines().filter_map(|line| line.split_once(' '));
    lines.map(|(id, date)| Commit { id: id.to_owned(), date: date.to_owned() }).collect()
}

/// The commits whose files contain the name: one that removed it does not.
fn with_name(
    tree: &WorkTree,
    name: &str,
    commits: &[Commit],
    lists: &[PathBuf],
) -> Result<Vec<Commit>, GitError> {
    let mut held = Vec::new();
    for some in commits.chunks(GREP_MAX) {
        let mut grep = tree.git(GitCallPolicy::GitAlone);
        grep.args(["grep", "--no-textconv", "--fixed-strings", "--name-only", "-e", name]);
        grep.args(some.iter().map(|commit| &commit.id)).arg("--").args(lists);
        let found = run_search(&mut grep)?;
        let found = String::from_utf8_lossy(&found).into_owned();
        held.extend(some.iter().filter(|commit| found.contains(&commit.id)).cloned());
    }
    Ok(held)
}

/// The files that git tracks, as git spells them.
fn tracked(tree: &WorkTree, files: &BTreeSet<&Path>) -> Result<BTreeSet<Vec<u8>>, GitError> {
    // The only query that does not take paths on standard input, so it gets the few folders they are in.
    let folders: BTreeSet<&Path> = files.iter().filter_map(|file| file.parent()).collect();
    let folders =
        folders.into_iter().map(|folder| if folder == Path::new("") { Path::new(".") } else { folder });
    let listed = run(in_index(tree).arg("-z").arg("--").args(folders), Vec::new())?;
    Ok(listed.split(|byte| *byte == 0).map(<[u8]>::to_vec).collect())
}

fn by_nul(files: &[&Path]) -> Vec<u8> {
    files.iter().flat_map(|file| [named(file), vec![0]].concat()).collect()
}

/// A path as git writes it: with slashes on every system.
fn named(file: &Path) -> Vec<u8> {
    let bytes = file.as_os_str().as_encoded_bytes();
    bytes.iter().map(|byte| if cfg!(windows) && *byte == b'\\' { b'/' } else { *byte }).collect()
}
