//! What commits contain: trees, blobs, renames, branches. For checking what memories say about a repository.
//!
//! Every answer may be missing: the caller treats that as "not known".

use super::call::{GitCallPolicy, GitError, PLAIN_DIFF, WorkTree, is_there, run, run_filter, run_search};
use super::{common_dir, named, renames, staged};
use crate::disk::Disk;
use lorelane_core::time::Timestamp;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A longer history is known by its newest part.
const COMMITS_MAX: &str = "--max-count=300000";
const MERGES_MAX: &str = "--max-count=5000";
const REFLOG_MAX: &str = "--max-count=2000";
/// Blobs are read in parts of this size, each within the limits of one call.
const PART_BYTES: u64 = 16 << 20;
const PART_COUNT: usize = 10_000;
/// Two files that share less are not one file that was renamed.
const SIMILARITY: &str = "-M60%";
/// Above this many renamed files git compares only identical ones.
const RENAMES_MAX: &str = "-l1500";

/// A file of a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeFile {
    /// Relative to the root of the worktree.
    pub path: String,
    pub blob: String,
    pub size: u64,
}

/// What a commit has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommitTree {
    /// Regular files; links are left out.
    pub files: Vec<TreeFile>,
    /// The folders of submodules: what is in them is in another repository.
    pub submodules: Vec<String>,
}

/// The repository around a project, for queries.
#[derive(Clone, Debug)]
pub struct Snapshots {
    tree: WorkTree,
    /// The project relative to the root of its worktree; empty, or with a slash at its end.
    prefix: String,
    shallow: bool,
}

impl Snapshots {
    pub fn around(project: &Path) -> Option<Snapshots> {
        let tree = WorkTree::around(project)?;
        let prefix = String::from_utf8_lossy(&named(&tree.relative(project).join(""))).into_owned();
        let prefix = if prefix == "/" { String::new() } else { prefix };
        let shallow = common_dir(project).is_some_and(|dir| is_there(&dir.join("shallow")));
        Some(Snapshots { tree, prefix, shallow })
    }

    pub fn root(&self) -> &Path {
        &self.tree.root
    }

    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    pub fn is_shallow(&self) -> bool {
        self.shallow
    }

    fn ask(&self, words: &[&str], input: Vec<u8>) -> Result<Vec<u8>, GitError> {
        run(self.tree.git(GitCallPolicy::GitAlone).args(words), input)
    }

    /// The commit that `HEAD` is at.
    pub fn head(&self) -> Option<String> {
        self.commit_of("HEAD")
    }

    /// The commit that a name stands for.
    pub fn commit_of(&self, name: &str) -> Option<String> {
        let name = format!("{name}^{{commit}}");
        let printed = self.ask(&["rev-parse", "--verify", "--quiet", "--end-of-options", &name], Vec::new());
        let id = String::from_utf8(printed.ok()?).ok()?.trim().to_owned();
        (!id.is_empty()).then_some(id)
    }

    /// Whether `older` is `newer` or one of its ancestors.
    pub fn is_ancestor(&self, older: &str, newer: &str) -> bool {
        older == newer || self.ask(&["merge-base", "--is-ancestor", older, newer], Vec::new()).is_ok()
    }

    /// Every commit of `HEAD` with its time, in git's order.
    pub fn commits(&self) -> Result<Vec<(String, Timestamp)>, GitError> {
        let printed = self.ask(&["log", COMMITS_MAX, "--format=%H %ct", "HEAD"], Vec::new())?;
        let text = String::from_utf8_lossy(&printed);
        let commit = |line: &str| {
            let (id, time) = line.split_once(' ')?;
            Some((id.to_owned(), Timestamp(time.parse().ok()?)))
        };
        Ok(text.lines().filter_map(commit).collect())
    }

    pub fn tree(&self, commit: &str) -> Result<CommitTree, GitError> {
        let printed = self.ask(&["ls-tree", "-r", "-l", "-z", "--full-tree", commit], Vec::new())?;
        let entries = || printed.split(|byte| *byte == 0);
        let (files, submodules) =
            (entries().filter_map(tree_file).collect(), entries().filter_map(submodule).collect());
        Ok(CommitTree { files, submodules })
    }

    /// Reads blobs in order; a missing one is skipped. `visit` returns whether to go on. The answer is how many were
    /// missing.
    pub fn read_blobs(
        &self,
        files: &[&TreeFile],
        visit: &mut dyn FnMut(&TreeFile, &[u8]) -> bool,
    ) -> Result<usize, GitError> {
        let (mut rest, mut missing) = (files, 0);
        while !rest.is_empty() {
            let mut size = 0;
            let fits = |file: &&&TreeFile| {
                size += file.size;
                size <= PART_BYTES
            };
            let count = rest.iter().take(PART_COUNT).take_while(fits).count().max(1);
            let (part, others) = rest.split_at(count);
            rest = others;
            let asked = part.iter().flat_map(|file| [file.blob.as_bytes(), b"\n"].concat()).collect();
            let printed = self.ask(&["cat-file", "--batch"], asked)?;
            for (file, blob) in part.iter().zip(staged(&printed)) {
                missing += usize::from(blob.is_none());
                if blob.is_some_and(|blob| !visit(file, blob)) {
                    return Ok(missing);
                }
            }
        }
        Ok(missing)
    }

    /// The files that were renamed between two commits, old name first.
    pub fn renamed(&self, old: &str, new: &str) -> Vec<(String, String)> {
        let mut asked = self.tree.git(GitCallPolicy::GitAlone);
        asked.args(["diff-tree", "-r", "-z", SIMILARITY, RENAMES_MAX, "--name-status", "--diff-filter=R"]);
        asked.args(PLAIN_DIFF).args([old, new]);
        run(&mut asked, Vec::new()).map(|printed| renames(&printed)).unwrap_or_default()
    }

    /// The newest commit that removed each of these paths, if it is known: abbreviated.
    /// Looks at all of the history if no older commit is given.
    pub fn removed_in(&self, since: Option<&str>, paths: &[&str]) -> Vec<(String, String)> {
        if paths.is_empty() {
            return Vec::new();
        }
        let mut asked = self.tree.git(GitCallPolicy::GitAlone);
        let range = since.map_or_else(|| "HEAD".to_owned(), |since| format!("{since}..HEAD"));
        asked.args(["log", "--format=commit %h", "--no-renames", "--diff-filter=D", "--name-only", &range]);
        asked.args(PLAIN_DIFF).arg("--").args(paths);
        let Ok(printed) = run(&mut asked, Vec::new()) else { return Vec::new() };
        let (mut commit, mut found) = (String::new(), Vec::new());
        for line in String::from_utf8_lossy(&printed).lines() {
            match line.strip_prefix("commit ") {
                Some(id) => id.clone_into(&mut commit),
                None if !line.is_empty() => found.push((line.to_owned(), commit.clone())),
                None => {}
            }
        }
        found
    }

    /// Those of the paths that git ignores.
    pub fn ignored(&self, paths: &[String]) -> Vec<String> {
        if paths.is_empty() {
            return Vec::new();
        }
        // This command refuses literal pathspecs; behind `./` nothing is magic.
        let asked = paths.iter().flat_map(|path| [b"./", path.as_bytes(), &[0]].concat()).collect();
        let mut command = self.tree.git(GitCallPolicy::GitAlone);
        command.args(["--no-literal-pathspecs", "check-ignore", "-z", "--stdin"]);
        let printed = run_filter(&mut command, asked).map(|printed| texts(&printed)).unwrap_or_default();
        printed.iter().map(|path| path.strip_prefix("./").unwrap_or(path).to_owned()).collect()
    }

    /// The names of local and remote branches, a remote's without its name too.
    pub fn branches(&self) -> Result<Vec<String>, GitError> {
        let asked = ["for-each-ref", "--format=%(refname)", "refs/heads", "refs/remotes"];
        let printed = self.ask(&asked, Vec::new())?;
        let mut names = Vec::new();
        for name in String::from_utf8_lossy(&printed).lines() {
            if let Some(name) = name.strip_prefix("refs/heads/") {
                names.push(name.to_owned());
            } else if let Some(name) = name.strip_prefix("refs/remotes/") {
                names.extend(name.split_once('/').map(|(_, branch)| branch.to_owned()));
                names.push(name.to_owned());
            }
        }
        Ok(names)
    }

    /// The subjects of merge commits with their abbreviated ids.
    pub fn merges(&self) -> Vec<(String, String)> {
        let asked = ["log", MERGES_MAX, "--merges", "--format=%h %s", "HEAD"];
        let printed = self.ask(&asked, Vec::new()).unwrap_or_default();
        let text = String::from_utf8_lossy(&printed);
        let lines = text.lines().filter_map(|line| line.split_once(' '));
        lines.map(|(id, subject)| (id.to_owned(), subject.to_owned())).collect()
    }

    /// What the reflog of `HEAD` says was done, newest first.
    pub fn reflog(&self) -> Vec<String> {
        let asked = ["log", REFLOG_MAX, "--walk-reflogs", "--format=%gs", "HEAD"];
        let printed = self.ask(&asked, Vec::new()).unwrap_or_default();
        String::from_utf8_lossy(&printed).lines().map(str::to_owned).collect()
    }

    /// For each commit whether the repository has it.
    pub fn has_commits(&self, ids: &[&str]) -> Result<Vec<bool>, GitError> {
        let asked = ids.iter().flat_map(|id| format!("{id}^{{commit}}\n").into_bytes()).collect();
        let printed = self.ask(&["cat-file", "--batch-check"], asked)?;
        Ok(String::from_utf8_lossy(&printed).lines().map(|line| line.contains(" commit ")).collect())
    }

    /// The tracked files whose stat is not what git's index has: changed in the worktree, or gone from it (`D`). A
    /// file that was only touched is among them.
    pub fn stat_changed(&self, disk: &dyn Disk) -> Result<Vec<(char, String)>, GitError> {
        let printed = self.ask(&["ls-files", "-z", "--debug"], Vec::new())?;
        let text = String::from_utf8_lossy(&printed);
        let mut fields = text.split('\0');
        let mut path = fields.next().unwrap_or_default();
        let mut changed = Vec::new();
        for field in fields {
            // The stat of this path, then the next path.
            let (stat, next) = field.rsplit_once('\n').unwrap_or((field, ""));
            match disk.stat(&self.file(path)) {
                _ if is_left_out(stat) => {}
                Ok(Some(now)) if index_stat(stat) != Some((now.mtime_ns, now.len)) => {
                    changed.push(('M', path.to_owned()));
                }
                Ok(None) => changed.push(('D', path.to_owned())),
                Ok(Some(_)) | Err(_) => {}
            }
            path = next;
        }
        Ok(changed)
    }

    /// The files that git neither tracks nor ignores.
    pub fn untracked(&self) -> Result<Vec<String>, GitError> {
        let asked = ["ls-files", "-z", "--others", "--exclude-standard"];
        self.ask(&asked, Vec::new()).map(|printed| texts(&printed))
    }

    /// The paths that differ, with their status letter. For the worktree only what is staged, see
    /// [`Snapshots::stat_changed`].
    pub fn changed(&self, against: &DiffBase) -> Result<Vec<(char, String)>, GitError> {
        let mut asked = self.tree.git_comparing(*against == DiffBase::Staged);
        asked.args(against.diff());
        asked.args(["--name-status", "-z", "--no-renames"]).args(PLAIN_DIFF).arg("--");
        let fields = texts(&run(&mut asked, Vec::new())?);
        let pairs = fields.chunks_exact(2);
        Ok(pairs.filter_map(|pair| Some((pair[0].chars().next()?, pair[1].clone()))).collect())
    }

    /// The files that were renamed, old name first.
    pub fn renamed_against(&self, against: &DiffBase) -> Vec<(String, String)> {
        let mut asked = self.tree.git_comparing(*against == DiffBase::Staged);
        asked.args(against.diff());
        asked.args(["--name-status", "-z", SIMILARITY, RENAMES_MAX, "--diff-filter=R"]).args(PLAIN_DIFF);
        run(asked.arg("--"), Vec::new()).map(|printed| renames(&printed)).unwrap_or_default()
    }

    /// The contents that names such as `HEAD:path` and `:path` stand for. A missing one is left out, and one that is
    /// larger than `max`.
    pub fn contents(
        &self,
        names: &[String],
        max: u64,
        against: &DiffBase,
    ) -> Result<Vec<Option<Vec<u8>>>, GitError> {
        let asked = names.iter().flat_map(|name| [name.as_bytes(), b"\n"].concat()).collect();
        let printed = run(
            self.tree.git_comparing(*against == DiffBase::Staged).args(["cat-file", "--batch-check"]),
            asked,
        )?;
        let text = String::from_utf8_lossy(&printed);
        let file = |(name, line): (&String, &str)| {
            let (blob, size) = line.split_once(" blob ")?;
            let (path, blob, size) = (name.clone(), blob.to_owned(), size.parse().ok()?);
            Some(TreeFile { path, blob, size }).filter(|file| file.size <= max)
        };
        let files: Vec<TreeFile> = names.iter().zip(text.lines()).filter_map(file).collect();
        let mut found = BTreeMap::new();
        self.read_blobs(&files.iter().collect::<Vec<_>>(), &mut |file, blob| {
            found.insert(file.path.clone(), blob.to_vec());
            true
        })?;
        Ok(names.iter().map(|name| found.remove(name)).collect())
    }

    /// Where these whole words occur in text files, each with its file.
    pub fn find_words(&self, words: &[&str], in_what: &DiffBase) -> Result<Vec<(String, String)>, GitError> {
        let mut asked = self.tree.git_comparing(*in_what == DiffBase::Staged);
        asked.args(["grep", "--no-textconv", "-I", "-w", "-F", "-o", "-z", "--full-name", "--no-color"]);
        // The user's settings may add them.
        asked.args(["--no-line-number", "--no-column"]);
        match in_what {
            DiffBase::Staged => asked.arg("--cached"),
            DiffBase::WorkTree => asked.arg("--untracked"),
            DiffBase::Commit(_) => &mut asked,
        };
        asked.args(words.iter().flat_map(|word| ["-e", word]));
        if matches!(in_what, DiffBase::Commit(_)) {
            asked.arg("HEAD");
        }
        let printed = run_search(&mut asked)?;
        let text = String::from_utf8_lossy(&printed);
        let found = text.lines().filter_map(|line| line.split_once('\0'));
        let file = |file: &str| file.strip_prefix("HEAD:").unwrap_or(file).to_owned();
        Ok(found.map(|(found, word)| (file(found), word.to_owned())).collect())
    }

    /// A path of the worktree.
    pub fn file(&self, path: &str) -> PathBuf {
        self.tree.root.join(path)
    }
}

/// What a change is compared with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DiffBase {
    /// `HEAD` against the index.
    Staged,
    /// `HEAD` against the worktree.
    WorkTree,
    /// This commit against `HEAD`.
    Commit(String),
}

impl DiffBase {
    /// The command that compares. Git does not compare the worktree: it would run the filters that the repository
    /// names.
    fn diff(&self) -> Vec<&str> {
        match self {
            DiffBase::Staged | DiffBase::WorkTree => vec!["diff-index", "--cached", "HEAD"],
            DiffBase::Commit(old) => vec!["diff-tree", "-r", old, "HEAD"],
        }
    }
}

/// `mode type id size<TAB>path`, with any number of spaces before the size.
fn tree_file(entry: &[u8]) -> Option<TreeFile> {
    let entry = std::str::from_utf8(entry).ok()?;
    let (head, path) = entry.split_once('\t')?;
    let mut fields = head.split_ascii_whitespace();
    let (mode, kind, blob, size) = (fields.next()?, fields.next()?, fields.next()?, fields.next()?);
    let is_file = kind == "blob" && mode != "120000";
    // A blob that the repository lacks has no size.
    let size = size.parse().unwrap_or_default();
    is_file.then(|| TreeFile { path: path.to_owned(), blob: blob.to_owned(), size })
}

/// The folder of a submodule: an entry that is a commit of another repository.
fn submodule(entry: &[u8]) -> Option<String> {
    let entry = std::str::from_utf8(entry).ok()?.strip_prefix("160000 ")?;
    entry.split_once('\t').map(|(_, path)| path.to_owned())
}

/// Time in nanoseconds and size, from `ls-files --debug`.
fn index_stat(text: &str) -> Option<(i64, u64)> {
    let number = |text: &str| {
        let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        text[..end].parse::<u64>().ok()
    };
    let (seconds, rest) = text.split_once("mtime: ")?.1.split_once(':')?;
    let time = seconds.parse::<i64>().ok()?.checked_mul(1_000_000_000)?;
    Some((time + i64::try_from(number(rest)?).ok()?, number(text.split_once("size: ")?.1)?))
}

/// Whether a sparse checkout leaves the file out: then it is not in the worktree, and not deleted.
fn is_left_out(text: &str) -> bool {
    const SKIP_WORKTREE: u32 = 1 << 30;
    let flags = text.split_once("flags: ").map(|(_, flags)| u32::from_str_radix(flags.trim(), 16));
    flags.is_some_and(|flags| flags.is_ok_and(|flags| flags & SKIP_WORKTREE != 0))
}

fn texts(printed: &[u8]) -> Vec<String> {
    let fields = printed.split(|byte| *byte == 0).filter(|field| !field.is_empty());
    fields.map(|field| String::from_utf8_lossy(field).into_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_index_knows_time_and_size() {
        let stat =
            "  ctime: 1:2\n  mtime: 1700000000:5\n  dev: 1\tino: 2\n  uid: 0\tgid: 0\n  size: 42\tflags: 0";
        assert_eq!(index_stat(stat), Some((1_700_000_000_000_000_005, 42)));
        assert_eq!(index_stat("nothing"), None);
        assert!(!is_left_out(stat) && is_left_out(&stat.replace("flags: 0", "flags: 40004000")));
    }

    #[test]
    fn only_files_of_a_tree_are_read() {
        let entry = |text: &str| tree_file(text.as_bytes()).map(|file| (file.path, file.size));
        assert_eq!(entry("100644 blob aa     12\ta b.rs"), Some(("a b.rs".to_owned(), 12)));
        assert_eq!(entry("100755 blob aa      -\tx"), Some(("x".to_owned(), 0)));
        for other in ["120000 blob aa 3\tlink", "160000 commit aa -\tmodule", "", "100644 blob"] {
            assert_eq!(entry(other), None, "{other}");
        }
        assert_eq!(submodule(b"160000 commit aa       -\tvendor/x").as_deref(), Some("vendor/x"));
        assert_eq!(submodule(b"100644 blob aa     12\ta b.rs"), None);
    }
}
