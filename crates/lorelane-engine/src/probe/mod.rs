//! Collects facts about claims from a repository: trees of commits, words of files, manifests, branches.
//!
//! Everything is asked in groups: one tree per commit, one pass over the files for all symbols. A question that git
//! does not answer makes its claims unknown; nothing here is fatal.

mod change;
mod dates;
mod manifests;
mod paths;
mod symbols;
mod urls;

pub use change::{ChangedClaim, ChangedTree};

use crate::disk::Disk;
use crate::git::{CommitTree, Snapshots, TreeFile};
use lorelane_core::claim::{Claim, ClaimKind};
use lorelane_core::settle::{Facts, NewPlace, Presence, Sighting, Site};
use lorelane_core::time::Timestamp;
use manifests::Manifests;
use paths::{PathTree, Resolution};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;
use symbols::{SymbolSites, Word};

/// A claim with what its memory adds to it.
#[derive(Clone, Debug)]
pub struct ClaimQuery<'c> {
    pub claim: &'c Claim,
    /// When the memory was known to be right: created, changed, confirmed.
    pub dates: &'c [Timestamp],
    /// The folder of the memory's file, relative to the root of the worktree.
    pub folder: &'c str,
    /// The commit at which an earlier audit found it.
    pub held_at: Option<&'c str>,
}

/// The repository of a project as a source of facts.
#[derive(Debug)]
pub struct Prober<'d> {
    disk: &'d dyn Disk,
    project: &'d Path,
    repository: Option<Snapshots>,
    head: Option<String>,
    /// Folders whose files are memories, relative to the root of the worktree, each with a slash at its end.
    own: Vec<String>,
    /// Whether servers are asked about addresses.
    asks_servers: bool,
}

impl<'d> Prober<'d> {
    /// `own` are the folders of the project's lanes.
    pub fn new(disk: &'d dyn Disk, project: &'d Path, own: &[&Path]) -> Prober<'d> {
        let repository = Snapshots::around(project);
        let head = repository.as_ref().and_then(Snapshots::head);
        let root = repository.as_ref().map_or(project, Snapshots::root);
        let inside = own.iter().filter_map(|folder| folder.strip_prefix(root).ok());
        let own = inside.map(|folder| format!("{}/", folder.to_string_lossy())).filter(|own| own != "/");
        let own = own.collect();
        Prober { disk, project, repository, head, own, asks_servers: false }
    }

    pub fn asking_servers(self, asks_servers: bool) -> Prober<'d> {
        Prober { asks_servers, ..self }
    }

    /// The commit that the facts are of.
    pub fn head(&self) -> Option<&str> {
        self.head.as_deref()
    }

    pub fn repository(&self) -> Option<&Snapshots> {
        self.repository.as_ref()
    }

    /// The facts about each claim, in their order.
    pub fn facts(&self, queries: &[ClaimQuery<'_>]) -> Vec<Facts> {
        let mut facts = self.of_repository(queries);
        let is_url = |query: &&ClaimQuery<'_>| query.claim.kind == ClaimKind::Url;
        let asked = queries.iter().filter(is_url).map(|query| query.claim.text.as_str());
        let answers = urls::presence(asked.filter(|_| self.asks_servers));
        for (query, facts) in queries.iter().zip(&mut facts).filter(|(query, _)| is_url(query)) {
            let answer = answers.get(query.claim.text.as_str()).cloned();
            *facts = Facts::now(
                answer.unwrap_or_else(|| Presence::Unchecked("only checked with --urls".to_owned())),
            );
        }
        facts
    }

    fn of_repository(&self, queries: &[ClaimQuery<'_>]) -> Vec<Facts> {
        let tree = self.repository.as_ref().zip(self.head.as_deref());
        let Some((repository, head)) = tree else {
            let why = if self.repository.is_some() { "there is no commit yet" } else { "no git repository" };
            return queries.iter().map(|query| self.without_git(query, why)).collect();
        };
        let tree = match repository.tree(head) {
            Ok(tree) => tree,
            Err(fault) => {
                return queries.iter().map(|query| self.without_git(query, &fault.to_string())).collect();
            }
        };
        let mut run = Run::new(self, repository, head, tree, queries);
        run.paths();
        run.symbols();
        run.manifests();
        run.branches();
        run.commits();
        run.facts
    }

    /// Only what a look at the disk can tell.
    fn without_git(&self, query: &ClaimQuery<'_>, why: &str) -> Facts {
        let path = Some(query.claim.text.as_str()).filter(|_| query.claim.kind.is_path());
        let found = path.filter(|path| self.disk.exists(&self.project.join(path)));
        Facts::now(match found {
            Some(path) => Presence::There(Site { file: path.to_owned(), line: None }),
            None => Presence::Unchecked(why.to_owned()),
        })
    }

    fn is_own(&self, path: &str) -> bool {
        self.own.iter().any(|own| path.starts_with(own.as_str()))
    }
}

/// The most trees of the past that one run reads.
const TREES_MAX: usize = 12;
/// How many of them are kept for the commits of earlier audits.
const TREES_OF_AUDITS: usize = 2;

/// A commit of the past with its tree.
struct OldTree {
    commit: String,
    /// How many commits are newer.
    age: usize,
    files: Vec<TreeFile>,
    paths: PathTree,
    renamed: Option<BTreeMap<String, String>>,
}

/// One collection of facts.
struct Run<'r, 'q> {
    prober: &'r Prober<'r>,
    repository: &'r Snapshots,
    head: &'r str,
    files: Vec<TreeFile>,
    paths: PathTree,
    /// The folders of submodules.
    submodules: Vec<String>,
    queries: &'q [ClaimQuery<'q>],
    /// The history of `HEAD`, newest first.
    commits: Vec<(String, Timestamp)>,
    /// For each query the old trees that may have its claim.
    old_of: Vec<Vec<usize>>,
    old: Vec<OldTree>,
    facts: Vec<Facts>,
}

impl<'r, 'q> Run<'r, 'q> {
    fn new(
        prober: &'r Prober<'r>,
        repository: &'r Snapshots,
        head: &'r str,
        CommitTree { mut files, submodules }: CommitTree,
        queries: &'q [ClaimQuery<'q>],
    ) -> Run<'r, 'q> {
        files.retain(|file| !prober.is_own(&file.path));
        let paths = PathTree::of(&files);
        let not_checked = || Facts::now(Presence::Unchecked("not checked".to_owned()));
        let facts = queries.iter().map(|_| not_checked()).collect();
        let mut run = Run {
            prober,
            repository,
            head,
            files,
            paths,
            submodules,
            queries,
            commits: repository.commits().unwrap_or_default(),
            old_of: Vec::new(),
            old: Vec::new(),
            facts,
        };
        run.read_old_trees();
        run
    }

    /// Reads the trees of the commits that the memories' dates lead to.
    fn read_old_trees(&mut self) {
        let dates: Vec<&[Timestamp]> = self.queries.iter().map(|query| query.dates).collect();
        let audited: HashSet<&str> = self.queries.iter().filter_map(|query| query.held_at).collect();
        let max = TREES_MAX - audited.len().min(TREES_OF_AUDITS);
        let (chosen, old_of) = dates::commits_for(&self.commits, &dates, max);
        let at: Vec<Option<usize>> = chosen.iter().map(|commit| self.read_old_tree(commit)).collect();
        let known = |old: Vec<usize>| old.into_iter().filter_map(|old| at[old]).collect();
        self.old_of = old_of.into_iter().map(known).collect();
    }

    /// The position of the tree of a commit below `HEAD`.
    fn read_old_tree(&mut self, commit: &str) -> Option<usize> {
        if let Some(known) = self.old.iter().position(|old| old.commit == commit) {
            return Some(known);
        }
        let age = self.commits.iter().position(|(id, _)| id == commit)?;
        let mut files = self.repository.tree(commit).ok()?.files;
        files.retain(|file| !self.prober.is_own(&file.path));
        let paths = PathTree::of(&files);
        self.old.push(OldTree { commit: commit.to_owned(), age, files, paths, renamed: None });
        Some(self.old.len() - 1)
    }

    /// The position of a tree that the dates did not lead to, as long as few are read.
    fn read_another_tree(&mut self, commit: &str) -> Option<usize> {
        let is_known = self.old.iter().any(|old| old.commit == commit);
        (is_known || self.old.len() < TREES_MAX).then(|| self.read_old_tree(commit))?
    }

    fn of_kind(&self, is_wanted: impl Fn(ClaimKind) -> bool) -> Vec<usize> {
        (0..self.queries.len()).filter(|at| is_wanted(self.queries[*at].claim.kind)).collect()
    }

    fn short(commit: &str) -> String {
        commit.get(..10).unwrap_or(commit).to_owned()
    }

    fn paths(&mut self) {
        let wanted = self.of_kind(ClaimKind::is_path);
        for &at in &wanted {
            self.facts[at] = self.path_facts(at);
        }
        self.mark_ignored(&wanted);
        self.mark_removals(&wanted);
    }

    /// What is there as written holds. Else what the path meant when the memory was last known to be right decides,
    /// and of several meanings one that is still there; else today's tree.
    fn path_facts(&mut self, at: usize) -> Facts {
        let query = &self.queries[at];
        let (prefix, written) = (self.repository.prefix(), query.claim.text.as_str());
        let there = |file: String| Facts::now(Presence::There(Site { file, line: None }));
        let on_disk = || {
            let here = [prefix, ""].map(|prefix| format!("{prefix}{written}"));
            here.into_iter().find(|path| self.is_on_disk(path))
        };
        if let Some(path) = self.paths.as_written(prefix, query.folder, written).or_else(on_disk) {
            return there(path);
        }
        match self.submodule_of(query) {
            Some((submodule, path)) if submodule == path => return there(path),
            Some((submodule, _)) if !self.is_on_disk(&format!("{submodule}/.git")) => {
                let why = format!("the submodule {submodule} is not checked out");
                return Facts::now(Presence::Unchecked(why));
            }
            _ => {}
        }
        // Younger than the memory, and found by an audit: the tree of that audit's commit may have it.
        let held_at = query.held_at.filter(|commit| *commit != self.head);
        let of_audit = held_at.and_then(|commit| self.read_another_tree(commit));
        if let Some(old) = of_audit.filter(|old| !self.old_of[at].contains(old)) {
            self.old_of[at].push(old);
        }
        let query = &self.queries[at];
        // In the order of time: the newest is the last.
        let meant: Vec<(usize, Resolution)> = self.old_of[at]
            .iter()
            .rev()
            .map(|old| (*old, self.old[*old].paths.resolve(prefix, query.folder, written)))
            .collect();
        let still_there = meant.iter().find_map(|(_, resolution)| match resolution {
            Resolution::One(path) if self.is_there(path) => Some(path.clone()),
            _ => None,
        });
        if let Some(path) = still_there {
            return there(path);
        }
        for (old, resolution) in meant {
            let seen = Some(Sighting::Commit(Run::short(&self.old[old].commit)));
            match resolution {
                Resolution::One(path) => {
                    let (moved_to, was_at) = (self.moved_to(old, &path), Some(path));
                    return Facts { seen, moved_to, was_at, ..Facts::now(Presence::Missing) };
                }
                Resolution::Several(candidates) => {
                    let left: Vec<String> =
                        candidates.into_iter().filter(|path| self.is_there(path)).collect();
                    let now = if left.is_empty() {
                        Presence::Missing
                    } else {
                        Presence::Ambiguous(shortened(left))
                    };
                    return Facts { seen, ..Facts::now(now) };
                }
                Resolution::Nothing => {}
            }
        }
        let seen = query.held_at.map(|_| Sighting::Audit);
        let now = match self.paths.resolve(prefix, query.folder, written) {
            Resolution::One(path) => Presence::There(Site { file: path, line: None }),
            Resolution::Several(candidates) => Presence::Ambiguous(shortened(candidates)),
            Resolution::Nothing => Presence::Missing,
        };
        Facts { seen, ..Facts::now(now) }
    }

    fn is_there(&self, path: &str) -> bool {
        self.paths.has(path) || self.is_on_disk(path)
    }

    fn is_on_disk(&self, path: &str) -> bool {
        self.prober.disk.exists(&self.repository.file(path))
    }

    /// The submodule that a path would be in, and the path from the root.
    fn submodule_of(&self, query: &ClaimQuery<'_>) -> Option<(String, String)> {
        let written = query.claim.text.as_str();
        let places = [format!("{}{written}", self.repository.prefix()), written.to_owned()];
        let is_in = |path: &str, submodule: &str| {
            path.strip_prefix(submodule).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        places.into_iter().find_map(|path| {
            let submodule = self.submodules.iter().find(|submodule| is_in(&path, submodule))?;
            Some((submodule.clone(), path))
        })
    }

    /// The new place of a path of an old tree: by git's renames, else the one file of its name.
    fn moved_to(&mut self, old: usize, path: &str) -> Option<NewPlace> {
        let (repository, head) = (self.repository, self.head);
        let tree = &mut self.old[old];
        let renamed =
            tree.renamed.get_or_insert_with(|| repository.renamed(&tree.commit, head).into_iter().collect());
        if tree.paths.has_file(path) {
            let by_git = renamed.get(path).filter(|new| self.paths.has_file(new)).cloned();
            let new = || self.paths.only_new_of_name(path, &tree.paths);
            let by_name = || new().or_else(|| self.paths.only_of_name(path)).map(NewPlace::SameName);
            return by_git.map(NewPlace::Renamed).or_else(by_name);
        }
        let folder = format!("{path}/");
        let held = tree.files.iter().filter(|file| file.path.starts_with(&folder)).count();
        let mut new_places: BTreeMap<&str, usize> = BTreeMap::new();
        for (from, to) in renamed.iter().filter(|(from, _)| from.starts_with(&folder)) {
            let below = &from[folder.len()..];
            let place = to.strip_suffix(below).map(|place| place.trim_end_matches('/'));
            *new_places.entry(place.unwrap_or_default()).or_default() += 1;
        }
        let (place, count) = new_places.into_iter().max_by_key(|(_, count)| *count)?;
        (!place.is_empty() && count * 2 > held).then(|| NewPlace::Renamed(place.to_owned()))
    }

    fn mark_ignored(&mut self, wanted: &[usize]) {
        let missing: Vec<usize> =
            wanted.iter().copied().filter(|at| self.facts[*at].now == Presence::Missing).collect();
        let prefix = self.repository.prefix();
        let path = |at: &usize| {
            let claim = self.queries[*at].claim;
            let slash = if claim.kind == ClaimKind::Folder { "/" } else { "" };
            format!("{prefix}{}{slash}", claim.text)
        };
        let paths: Vec<String> = missing.iter().map(path).collect();
        let ignored: HashSet<String> = self.repository.ignored(&paths).into_iter().collect();
        for (at, path) in missing.iter().zip(&paths) {
            // A path that was committed once is not one that stays on a machine. One that an audit saw may be.
            let was_committed = matches!(self.facts[*at].seen, Some(Sighting::Commit(_)));
            if ignored.contains(path) && !was_committed {
                self.facts[*at].now = Presence::Ignored;
            }
        }
    }

    /// Finds the commits that removed what is missing, in one query.
    fn mark_removals(&mut self, wanted: &[usize]) {
        let is_gone = |at: &usize| self.facts[*at].now == Presence::Missing && self.facts[*at].seen.is_some();
        let gone: Vec<usize> = wanted.iter().copied().filter(is_gone).collect();
        if gone.is_empty() {
            return;
        }
        // What stood in no tree that was read came and went since: only the whole history knows.
        let is_in_none = |at: &usize| {
            let facts = &self.facts[*at];
            facts.was_at.is_none() && facts.seen == Some(Sighting::Audit)
        };
        let old = gone.iter().flat_map(|at| &self.old_of[*at]).map(|old| &self.old[*old]);
        let oldest = old.max_by_key(|old| old.age).map(|old| old.commit.clone());
        let oldest = oldest.filter(|_| !gone.iter().any(is_in_none));
        let prefix = self.repository.prefix();
        let path = |at: &usize| {
            let was_at = self.facts[*at].was_at.clone();
            was_at.unwrap_or_else(|| format!("{prefix}{}", self.queries[*at].claim.text))
        };
        let paths: BTreeMap<usize, String> = gone.iter().map(|at| (*at, path(at))).collect();
        let asked: BTreeSet<&str> = paths.values().map(String::as_str).collect();
        let asked: Vec<&str> = asked.into_iter().collect();
        let removed = self.repository.removed_in(oldest.as_deref(), &asked);
        for (at, path) in paths {
            let below = format!("{path}/");
            let is_of = |(file, _): &&(String, String)| *file == path || file.starts_with(&below);
            self.facts[at].ended_in = removed.iter().find(is_of).map(|(_, commit)| commit.clone());
            self.follow_removal(at);
        }
    }

    /// Looks for the new place of a path that only the commit before its removal is known to have.
    fn follow_removal(&mut self, at: usize) {
        let Facts { moved_to: None, was_at: None, ended_in: Some(removal), .. } = &self.facts[at] else {
            return;
        };
        let before = self.repository.commit_of(&format!("{removal}^"));
        let Some(old) = before.and_then(|commit| self.read_another_tree(&commit)) else { return };
        let query = &self.queries[at];
        let resolved = self.old[old].paths.resolve(self.repository.prefix(), query.folder, &query.claim.text);
        if let Resolution::One(path) = resolved {
            self.facts[at].moved_to = self.moved_to(old, &path);
            self.facts[at].was_at = Some(path);
        }
    }

    fn symbols(&mut self) {
        let wanted = self.of_kind(|kind| kind == ClaimKind::Symbol);
        if wanted.is_empty() {
            return;
        }
        let names: HashSet<&str> = wanted.iter().map(|at| self.queries[*at].claim.text.as_str()).collect();
        let mut sites = SymbolSites::new(names);
        let files: Vec<&TreeFile> = self.files.iter().collect();
        let read = self.repository.read_blobs(&files, &mut |file, blob| {
            sites.read(&file.path, blob);
            true
        });
        let missing = match read {
            Ok(missing) => missing,
            Err(fault) => {
                let why = Presence::Unchecked(fault.to_string());
                wanted.iter().for_each(|at| self.facts[*at] = Facts::now(why.clone()));
                return;
            }
        };
        for &at in &wanted {
            let query = &self.queries[at];
            let now = match sites.find(&query.claim.text) {
                Word::InCode(site) => Presence::There(site),
                // It may be in a file that this clone does not have. A few missing ones are damage, not a partial clone,
                // and must not silence everything.
                _ if missing > files.len() / PARTIAL => {
                    Presence::Unchecked("the clone lacks files of this commit".to_owned())
                }
                Word::InProse(site) => Presence::OnlyInProse(site),
                Word::Nowhere => Presence::Missing,
            };
            self.facts[at] = Facts { seen: query.held_at.map(|_| Sighting::Audit), ..Facts::now(now) };
        }
        self.see_symbols(&wanted);
    }

    /// Looks for missing symbols in old trees. A file that is the same today does not have them.
    fn see_symbols(&mut self, wanted: &[usize]) {
        let blobs: HashSet<&str> = self.files.iter().map(|file| file.blob.as_str()).collect();
        for (old, tree) in self.old.iter().enumerate() {
            let is_asked = |at: &&usize| {
                let facts = &self.facts[**at];
                let is_absent = !matches!(facts.now, Presence::There(_) | Presence::Unchecked(_));
                is_absent && facts.seen.is_none() && self.old_of[**at].contains(&old)
            };
            let asked: Vec<usize> = wanted.iter().filter(is_asked).copied().collect();
            if asked.is_empty() {
                continue;
            }
            let names: HashSet<&str> = asked.iter().map(|at| self.queries[*at].claim.text.as_str()).collect();
            let mut sites = SymbolSites::new(names);
            let is_other = |file: &&TreeFile| {
                !blobs.contains(file.blob.as_str()) && !lorelane_core::claim::is_prose_file(&file.path)
            };
            let files: Vec<&TreeFile> = tree.files.iter().filter(is_other).collect();
            let read = self.repository.read_blobs(&files, &mut |file, blob| {
                sites.read(&file.path, blob);
                !sites.has_all()
            });
            if read.is_err() {
                continue;
            }
            for at in asked {
                if matches!(sites.find(&self.queries[at].claim.text), Word::InCode(_)) {
                    self.facts[at].seen = Some(Sighting::Commit(Run::short(&tree.commit)));
                }
            }
        }
    }

    fn manifests(&mut self) {
        let is_wanted = |kind| matches!(kind, ClaimKind::Package | ClaimKind::Version | ClaimKind::Command);
        let wanted = self.of_kind(is_wanted);
        if wanted.is_empty() {
            return;
        }
        let Ok(now) = Manifests::read(self.repository, &self.files) else { return };
        let mut before: BTreeMap<usize, Manifests> = BTreeMap::new();
        for at in wanted {
            let query = &self.queries[at];
            let mut facts = Facts {
                seen: query.held_at.map(|_| Sighting::Audit),
                ..Facts::now(now.presence(query.claim))
            };
            if !matches!(facts.now, Presence::There(_)) {
                for old in &self.old_of[at] {
                    let tree = &self.old[*old];
                    let read = || Manifests::read(self.repository, &tree.files).unwrap_or_default();
                    let manifests = before.entry(*old).or_insert_with(read);
                    if matches!(manifests.presence(query.claim), Presence::There(_)) {
                        facts.seen = Some(Sighting::Commit(Run::short(&tree.commit)));
                    }
                }
            }
            self.facts[at] = facts;
        }
    }

    fn branches(&mut self) {
        let wanted = self.of_kind(|kind| kind == ClaimKind::Branch);
        if wanted.is_empty() {
            return;
        }
        let Ok(known) = self.repository.branches() else { return };
        let known: HashSet<String> = known.into_iter().collect();
        let (merges, reflog) = (self.repository.merges(), self.repository.reflog());
        for at in wanted {
            let query = &self.queries[at];
            let name = query.claim.text.as_str();
            self.facts[at] = if known.contains(name) {
                Facts::now(Presence::There(Site::default()))
            } else {
                let merge = merges.iter().find(|(_, subject)| merges_branch(subject, name));
                let is_logged = || reflog.iter().any(|done| done.split([' ', ':']).any(|word| word == name));
                let seen = match merge {
                    Some((commit, _)) => Some(Sighting::Commit(commit.clone())),
                    None => (query.held_at.is_some() || is_logged()).then_some(Sighting::Audit),
                };
                let ended_in = merge.map(|(commit, _)| commit.clone());
                Facts { seen, ended_in, ..Facts::now(Presence::Missing) }
            };
        }
    }

    fn commits(&mut self) {
        let wanted = self.of_kind(|kind| kind == ClaimKind::Commit);
        let ids: Vec<&str> = wanted.iter().map(|at| self.queries[*at].claim.text.as_str()).collect();
        if wanted.is_empty() {
            return;
        }
        let Ok(known) = self.repository.has_commits(&ids) else { return };
        for (at, is_known) in wanted.into_iter().zip(known) {
            let seen = self.queries[at].held_at.map(|_| Sighting::Audit);
            let now = match (is_known, self.repository.is_shallow()) {
                (true, _) => Presence::There(Site::default()),
                (false, true) => Presence::Unchecked("the clone is shallow".to_owned()),
                (false, false) => Presence::Missing,
            };
            self.facts[at] = Facts { seen, ..Facts::now(now) };
        }
    }
}

/// A clone that lacks more than this part of its files is a partial one.
const PARTIAL: usize = 20;

/// How many candidates are named.
const CANDIDATES_MAX: usize = 4;

fn shortened(mut candidates: Vec<String>) -> Vec<String> {
    let more = candidates.len().saturating_sub(CANDIDATES_MAX);
    candidates.truncate(CANDIDATES_MAX);
    if more > 0 {
        candidates.push(format!("{more} more"));
    }
    candidates
}

/// Whether the subject of a merge commit names the branch, as git and the hosts of repositories write it.
fn merges_branch(subject: &str, name: &str) -> bool {
    let subject = subject.strip_prefix("Merge ").unwrap_or_default();
    let is_name = |word: &str| {
        let word = word.trim_matches(['\'', '"', ',']);
        word == name || word.split_once('/').is_some_and(|(_, branch)| branch == name)
    };
    subject.split(' ').any(is_name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_merge_names_its_branch() {
        for (subject, name, expected) in [
            ("Merge branch 'feat/x' into main", "feat/x", true),
            ("Merge pull request #4 from acme/feat/x", "feat/x", true),
            ("Merge remote-tracking branch 'origin/feat/x'", "feat/x", true),
            ("Merge branch 'feat/xy'", "feat/x", false),
            ("feat/x is merged", "feat/x", false),
        ] {
            assert_eq!(merges_branch(subject, name), expected, "{subject}");
        }
    }
}
