//! Which claims a change breaks: a diff instead of the whole repository.

use super::manifests::{Manifests, is_manifest};
use super::paths::{PathTree, Resolution};
use super::{Prober, Run};
use crate::git::{DiffBase, GitError, Snapshots, TreeFile};
use lorelane_core::claim::{Claim, ClaimKind, is_prose_file, may_name_version};
use lorelane_core::settle::{Facts, NewPlace, Presence, Settled, Sighting, Verdict, settle};
use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Larger files are not compared word by word.
const FILE_MAX_BYTES: u64 = 2 << 20;
/// Longer words are not names.
const WORD_MAX: usize = 128;

/// A repository before and after a change.
#[derive(Debug)]
pub struct ChangedTree<'p> {
    prober: &'p Prober<'p>,
    repository: &'p Snapshots,
    against: DiffBase,
    /// The commit before the change, abbreviated.
    base: String,
    files: Vec<TreeFile>,
    before: PathTree,
    after: PathTree,
    renamed: HashMap<String, String>,
    /// Words that the changed files had and no longer have.
    removed_words: HashSet<String>,
    /// The last parts of removed paths, folders included.
    removed_names: HashSet<String>,
    /// The changed manifests as they are now.
    manifests: BTreeMap<String, Option<String>>,
    /// All manifests before and after, read when the first claim needs them.
    manifests_read: OnceCell<(Manifests, Manifests)>,
    /// How many files differ.
    pub touched: usize,
}

/// A claim that a change breaks.
#[derive(Clone, Debug)]
pub struct ChangedClaim {
    pub claim: Claim,
    pub settled: Settled,
}

impl<'p> ChangedTree<'p> {
    /// Reads a change; `None` without git, or if the commit is not known.
    pub fn read(prober: &'p Prober<'p>, against: DiffBase) -> Result<Option<ChangedTree<'p>>, GitError> {
        let Some(repository) = prober.repository() else { return Ok(None) };
        let (base, against) = match &against {
            DiffBase::Staged | DiffBase::WorkTree => (repository.head(), against),
            DiffBase::Commit(name) => {
                let base = repository.commit_of(name);
                (base.clone(), base.map_or(against, DiffBase::Commit))
            }
        };
        let Some(base) = base else { return Ok(None) };
        let mut files = repository.tree(&base)?.files;
        files.retain(|file| !prober.is_own(&file.path));
        let mut changed = repository.changed(&against)?;
        if against == DiffBase::WorkTree {
            add_worktree(&mut changed, repository.stat_changed(prober.disk)?);
            // A file that was moved without git is new to it.
            let new = repository.untracked()?.into_iter().map(|path| ('A', path)).collect();
            add_worktree(&mut changed, new);
        }
        changed.retain(|(_, path)| !prober.is_own(path) && !path.contains('\n'));
        let gone: HashSet<&str> =
            changed.iter().filter(|(status, _)| *status == 'D').map(|(_, path)| path.as_str()).collect();
        let new = changed.iter().filter(|(status, _)| *status == 'A').map(|(_, path)| TreeFile {
            path: path.clone(),
            blob: String::new(),
            size: 0,
        });
        let left = files.iter().filter(|file| !gone.contains(file.path.as_str())).cloned();
        let after: Vec<TreeFile> = left.chain(new).collect();
        let (before, after) = (PathTree::of(&files), PathTree::of(&after));
        let parts = gone.iter().flat_map(|path| path.split('/')).map(str::to_owned).collect();
        let mut tree = ChangedTree {
            prober,
            repository,
            renamed: repository.renamed_against(&against).into_iter().collect(),
            against,
            base,
            before,
            after,
            removed_words: HashSet::new(),
            removed_names: parts,
            manifests: BTreeMap::new(),
            manifests_read: OnceCell::new(),
            touched: changed.len(),
            files,
        };
        tree.read_texts(&changed)?;
        Ok(Some(tree))
    }

    /// Compares the changed files word by word.
    fn read_texts(&mut self, changed: &[(char, String)]) -> Result<(), GitError> {
        let small: HashSet<&str> = self
            .files
            .iter()
            .filter(|file| file.size <= FILE_MAX_BYTES)
            .map(|file| file.path.as_str())
            .collect();
        let is_read = |path: &str| !is_prose_file(path) && small.contains(path);
        let old: Vec<&str> =
            changed.iter().map(|(_, path)| path.as_str()).filter(|path| is_read(path)).collect();
        let names: Vec<String> = old.iter().map(|path| format!("{}:{path}", self.base)).collect();
        let mut removed: HashSet<String> = HashSet::new();
        let texts = self.repository.contents(&names, FILE_MAX_BYTES, &self.against)?;
        for (path, text) in old.iter().zip(&texts) {
            let text = text.as_deref().unwrap_or_default();
            removed.extend(words(text, SYMBOL_MIN));
            if is_manifest(path) {
                removed.extend(package_words(text));
            }
        }
        let is_now = |(status, path): &&(char, String)| *status != 'D' && !is_prose_file(path);
        let now: Vec<&str> = changed.iter().filter(is_now).map(|(_, path)| path.as_str()).collect();
        let texts = self.texts_now(&now)?;
        for text in texts.iter().flatten() {
            words(text, PACKAGE_MIN).for_each(|word| {
                removed.remove(&word);
            });
        }
        let lossy = |text: &Vec<u8>| String::from_utf8_lossy(text).into_owned();
        let gone = changed.iter().filter(|(status, path)| *status == 'D' && is_manifest(path));
        self.manifests = gone.map(|(_, path)| (path.clone(), None)).collect();
        let manifests = now.iter().zip(&texts).filter(|(path, _)| is_manifest(path));
        // One that is too large to read counts as it was.
        let manifests = manifests.filter_map(|(path, text)| Some((*path, lossy(text.as_ref()?))));
        self.manifests.extend(manifests.map(|(path, text)| (path.to_owned(), Some(text))));
        self.removed_words = removed;
        Ok(())
    }

    fn texts_now(&self, paths: &[&str]) -> Result<Vec<Option<Vec<u8>>>, GitError> {
        let prefix = match self.against {
            DiffBase::Staged => "",
            DiffBase::Commit(_) => "HEAD",
            DiffBase::WorkTree => {
                let read = |path: &&str| {
                    let file = self.repository.file(path);
                    self.prober.disk.read_regular(&file, FILE_MAX_BYTES).ok().flatten()
                };
                return Ok(paths.iter().map(read).collect());
            }
        };
        let names: Vec<String> = paths.iter().map(|path| format!("{prefix}:{path}")).collect();
        self.repository.contents(&names, FILE_MAX_BYTES, &self.against)
    }

    /// Whether a text may name something that the change touches. Cheap: most memories end here.
    pub fn may_concern(&self, text: &str) -> bool {
        let is_part = |c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '.'));
        let is_removed = |word: &str| {
            let plain = word.trim_matches('.');
            self.removed_names.contains(plain)
                || self.removed_words.contains(plain)
                || plain.split(['.', '-']).any(|part| self.removed_words.contains(part))
        };
        let may_name_tool = || text.contains('`') || may_name_version(text);
        text.split(is_part).any(is_removed) || (!self.manifests.is_empty() && may_name_tool())
    }

    /// The claims that were true before the change and are not any more. `folder` is that of the memory's file.
    pub fn broken(&self, claims: Vec<Claim>, folder: &str) -> Vec<ChangedClaim> {
        let facts = |claim: Claim| {
            let facts = self.facts(&claim, folder)?;
            let settled = settle(&claim, &facts)?;
            matches!(settled.verdict, Verdict::Broken | Verdict::Moved(_))
                .then_some(ChangedClaim { claim, settled })
        };
        claims.into_iter().filter_map(facts).collect()
    }

    /// The symbols of these claims that the repository still has elsewhere: one search for all.
    pub fn symbols_elsewhere(&self, claims: &[ChangedClaim]) -> Result<HashSet<String>, GitError> {
        let is_symbol = |changed: &&ChangedClaim| changed.claim.kind == ClaimKind::Symbol;
        let words: HashSet<&str> =
            claims.iter().filter(is_symbol).map(|changed| changed.claim.text.as_str()).collect();
        if words.is_empty() {
            return Ok(HashSet::new());
        }
        let words: Vec<&str> = words.into_iter().collect();
        let found = self.repository.find_words(&words, &self.against)?.into_iter();
        let in_code = found.filter(|(file, _)| !is_prose_file(file) && !self.prober.is_own(file));
        Ok(in_code.map(|(_, word)| word).collect())
    }

    /// `None` for a claim that the change does not touch.
    fn facts(&self, claim: &Claim, folder: &str) -> Option<Facts> {
        let seen = Some(Sighting::Commit(Run::short(&self.base)));
        let missing = Facts { seen, ..Facts::now(Presence::Missing) };
        match claim.kind {
            ClaimKind::File | ClaimKind::Folder => {
                let prefix = self.repository.prefix();
                if self.after.as_written(prefix, folder, &claim.text).is_some() {
                    return None;
                }
                let was = self.before.resolve(prefix, folder, &claim.text);
                let (Resolution::One(path), moved_to) = self.moved(was)? else { return None };
                (!self.after.has(&path)).then_some(Facts { moved_to, ..missing })
            }
            ClaimKind::Symbol => self.removed_words.contains(&claim.text).then_some(missing),
            ClaimKind::Package | ClaimKind::Version | ClaimKind::Command if !self.manifests.is_empty() => {
                let (before, after) = self.manifests_read.get_or_init(|| {
                    let before = Manifests::read(self.repository, &self.files).unwrap_or_default();
                    let after = before.changed(&self.manifests);
                    (before, after)
                });
                let now = after.presence(claim);
                let is_broken = matches!(before.presence(claim), Presence::There(_))
                    && !matches!(now, Presence::There(_));
                is_broken.then_some(Facts { now, ..missing })
            }
            _ => None,
        }
    }

    /// One path that may be gone, with its new place.
    fn moved(&self, was: Resolution) -> Option<(Resolution, Option<NewPlace>)> {
        let path = match was {
            Resolution::One(path) => path,
            // Whichever was meant: gone only if all are.
            Resolution::Several(paths) if paths.iter().all(|path| !self.after.has(path)) => {
                paths.into_iter().next()?
            }
            Resolution::Several(_) | Resolution::Nothing => return None,
        };
        let by_git = self.renamed.get(&path).cloned().map(NewPlace::Renamed);
        let by_name = || self.after.only_new_of_name(&path, &self.before).map(NewPlace::SameName);
        let new = by_git.or_else(|| by_name().filter(|_| self.before.has_file(&path)));
        Some((Resolution::One(path), new))
    }
}

/// What is staged together with what the worktree has: the later state of a path counts.
fn add_worktree(changed: &mut Vec<(char, String)>, in_worktree: Vec<(char, String)>) {
    let known: HashMap<String, usize> =
        changed.iter().enumerate().map(|(at, (_, path))| (path.clone(), at)).collect();
    for (status, path) in in_worktree {
        match known.get(&path) {
            Some(at) if status == 'D' => changed[*at].0 = 'D',
            Some(_) => {}
            None => changed.push((status, path)),
        }
    }
}

/// Shorter names of symbols and packages are no claims.
const SYMBOL_MIN: usize = 4;
const PACKAGE_MIN: usize = 2;

/// The words of a file that are long enough to be names.
fn words(text: &[u8], min: usize) -> impl Iterator<Item = String> + '_ {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let words = text.split(move |byte| !is_part(byte));
    let words = words.filter(move |word| (min..WORD_MAX).contains(&word.len()));
    words.map(|word| String::from_utf8_lossy(word).into_owned())
}

/// The words of a manifest that may be a package or a part of its name, also short ones.
fn package_words(text: &[u8]) -> impl Iterator<Item = String> + '_ {
    words(text, PACKAGE_MIN).filter(|word| word.starts_with(|c: char| c.is_ascii_lowercase()))
}
