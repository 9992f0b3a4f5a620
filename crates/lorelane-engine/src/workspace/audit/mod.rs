//! `audit`: how stale memories are, by age and by claims that the repository no longer confirms.

mod broken;
mod cache;
mod check;
mod fix;
mod stores;

pub(in crate::workspace) use broken::BrokenClaims;
pub(in crate::workspace) use cache::VerdictCache;
pub use check::{BrokenMention, CheckReport, CheckScope};
pub use stores::{IndexTokens, MemoryStore, MemoryStores, NoSuchStore, StoreAudit};

use crate::disk::Disk;
use crate::git;
use crate::index::FileStamp;
use crate::probe::{ClaimQuery, Prober};
use crate::workspace::find::LoadedMemory;
use crate::workspace::lane::{FileContent, Lane, LaneListing};
use crate::workspace::{Failure, Maintenance, Workspace};
use lorelane_core::audit::{
    Age, AgeSource, AuditedMemory, Band, CheckedClaim, ClaimCount, Distribution, claim_points, total,
};
use lorelane_core::claim::{Claim, claims_of};
use lorelane_core::dialect::MemoryFile;
use lorelane_core::digest::Revision;
use lorelane_core::lifecycle::Status;
use lorelane_core::mark::Marks;
use lorelane_core::memory::{Address, LaneId, MemoryKind};
use lorelane_core::path::RelPath;
use lorelane_core::policy::Policy;
use lorelane_core::settle::{Facts, settle};
use lorelane_core::text::{cut, one_line, tokens};
use lorelane_core::time::Timestamp;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The longest mark of a search result.
const MARK_MAX: usize = 160;

/// What an audit looks at.
#[derive(Clone, Copy, Debug, Default)]
pub struct AuditScope {
    /// Whether claims are checked. Otherwise the verdicts of the last audit are used.
    pub deep: bool,
    /// Whether servers are asked about URLs too. Otherwise their last answers are used.
    pub urls: bool,
    /// Only this lane.
    pub lane: Option<LaneId>,
    pub count: ClaimCount,
}

/// One memory of an audit.
#[derive(Clone, Debug)]
pub struct MemoryAudit {
    /// The store that it is in, if several are audited.
    pub store: Option<String>,
    pub address: Address,
    pub kind: MemoryKind,
    pub title: String,
    pub revision: Revision,
    /// The path of its file, as in listings.
    pub path: String,
    pub age: Age,
    /// The points of its claims.
    pub claim_points: u32,
    pub score: u32,
    pub band: Band,
    pub tokens: usize,
    pub claims: Vec<CheckedClaim>,
}

#[derive(Clone, Debug)]
pub struct AuditReport {
    /// Worst first.
    pub memories: Vec<MemoryAudit>,
    pub distribution: Distribution,
    pub tokens: usize,
    /// Files that could not be read as memories, with the reason.
    pub unreadable: Vec<(String, String)>,
    /// The commit of the verdicts.
    pub head: Option<String>,
}

impl AuditReport {
    fn of(mut memories: Vec<MemoryAudit>, unreadable: Vec<(String, String)>) -> AuditReport {
        memories.sort_by(|a, b| {
            b.score.cmp(&a.score).then_with(|| (&a.store, &a.address).cmp(&(&b.store, &b.address)))
        });
        let distribution = Distribution::of(memories.iter().map(|memory| memory.score));
        let tokens = memories.iter().map(|memory| memory.tokens).sum();
        AuditReport { memories, distribution, tokens, unreadable, head: None }
    }
}

/// A memory that is audited, with its dates.
struct Subject {
    loaded: LoadedMemory,
    path: String,
    file: PathBuf,
    age: Age,
    confirmed: Option<Timestamp>,
}

#[derive(Default)]
struct Subjects {
    readable: Vec<Subject>,
    unreadable: Vec<(String, String)>,
}

/// What an audit of some lanes needs to know of their project.
struct AuditContext<'w> {
    disk: &'w dyn Disk,
    now: Timestamp,
    policy: &'w Policy,
    /// The worktree; `None` for memories of no project.
    project: Option<&'w Path>,
    marks: Marks,
    cache: Option<VerdictCache>,
}

impl Maintenance<'_> {
    /// Scores every active memory.
    pub fn audit(&mut self, scope: AuditScope) -> Result<AuditReport, Failure> {
        let workspace = &*self.workspace;
        let context = AuditContext {
            disk: &*workspace.disk,
            now: workspace.now,
            policy: &workspace.policy,
            project: Some(&workspace.project.root),
            marks: workspace.marks(),
            cache: workspace.verdict_cache(),
        };
        let lanes: Vec<&Lane> = workspace.lanes.iter().collect();
        context.report(context.subjects(&lanes, scope.lane)?, &lanes, scope)
    }
}

impl AuditContext<'_> {
    /// Scores memories: by their age, and by the verdicts of this audit or, unless it is deep, of the last.
    fn report(&self, subjects: Subjects, lanes: &[&Lane], scope: AuditScope) -> Result<AuditReport, Failure> {
        let Subjects { readable: subjects, unreadable } = subjects;
        let known = self.cache.as_ref().map(|cache| cache.read(self.disk)).unwrap_or_default();
        let mut head = None;
        let mut audited = BTreeMap::new();
        let project = self.project.filter(|_| scope.deep);
        if let Some(project) = project {
            let prober = prober_of(self.disk, project, lanes).asking_servers(scope.urls);
            head = prober.head().map(str::to_owned);
            audited = check(&prober, &subjects, &known, scope.urls);
        }
        let memories = subjects.into_iter().map(|subject| {
            let verdicts = audited.get(&subject.loaded.memory.address);
            let earlier = || known.get(&subject.loaded.memory.address);
            let verdicts =
                verdicts.or_else(earlier).filter(|known| known.revision == subject.loaded.revision);
            let claims = verdicts.map(|known| known.claims.clone()).unwrap_or_default();
            subject.scored(claims, scope.count)
        });
        let memories: Vec<MemoryAudit> = memories.collect();
        if let Some(cache) = self.cache.as_ref().filter(|_| project.is_some()) {
            // Verdicts of another lane stay; what an audit of everything did not see is gone.
            let mut all = if scope.lane.is_some() { known.clone() } else { BTreeMap::new() };
            all.extend(audited);
            if all != known {
                cache.write(self.disk, &all)?;
            }
        }
        Ok(AuditReport { head, ..AuditReport::of(memories, unreadable) })
    }

    /// The active memories with their age, and what cannot be read. Only files are read: an index says nothing that
    /// they do not, and a project that is not open has none.
    fn subjects(&self, lanes: &[&Lane], only: Option<LaneId>) -> Result<Subjects, Failure> {
        let mut subjects = Subjects::default();
        for lane in lanes.iter().filter(|lane| only.is_none_or(|only| lane.id() == only)) {
            let LaneListing { files, times } = lane.files();
            let is_in_use = |path: &RelPath| {
                let address = lane.dialect.address_of(path);
                address.is_none_or(|address| !address.is_trash() && !address.is_in_archive())
            };
            for path in files.into_iter().filter(is_in_use) {
                match lane.content(&path) {
                    FileContent::Gone => {}
                    FileContent::Unread { what, .. } => {
                        subjects.unreadable.push((lane.listed_path(&path), what));
                    }
                    FileContent::Read { bytes, seen } => self.subject(lane, path, bytes, seen, &mut subjects),
                }
            }
            let folders = lane.not_listed(&times).into_iter();
            subjects.unreadable.extend(folders.map(|(path, why)| (path.display().to_string(), why)));
            lane.refuse_when_exhausted()?;
        }
        self.date_by_git(&mut subjects.readable);
        Ok(subjects)
    }

    fn subject(&self, lane: &Lane, path: RelPath, bytes: Vec<u8>, seen: FileStamp, subjects: &mut Subjects) {
        let revision = Revision::of(&bytes);
        let mut file = lane.parse(&path, bytes);
        let problems = std::mem::take(&mut file.problems);
        let MemoryFile { document, memory, .. } = match file.into_memory() {
            Ok(file) => file,
            Err(_) => {
                // Without a problem it is not meant to be a memory.
                let why = problems.into_iter().next().map(|problem| (lane.listed_path(&path), problem.what));
                return subjects.unreadable.extend(why);
            }
        };
        if memory.lifecycle.status() != Status::Active {
            return;
        }
        let confirmed = self.marks.confirmed_at(&memory.address, &revision);
        let sources = [
            (confirmed, AgeSource::Confirmed),
            (memory.content_changed(), AgeSource::Modified),
            (Some(Timestamp(seen.mtime_ns.div_euclid(1_000_000_000))), AgeSource::Mtime),
        ];
        let dated = sources.into_iter().find_map(|(at, source)| Some((at?, source)));
        let (since, source) = dated.unwrap_or((self.now, AgeSource::Mtime));
        let age = Age::at(self.now, since, source, self.policy.half_life_days(memory.kind));
        let (file, listed) = (lane.file(&path), lane.listed_path(&path));
        let loaded = LoadedMemory { memory, path, document, revision, problems };
        subjects.readable.push(Subject { loaded, path: listed, file, age, confirmed });
    }

    /// When git last changed the files of memories that have no date. Only files as git has them.
    fn date_by_git(&self, subjects: &mut [Subject]) {
        let Some(project) = self.project else { return };
        let undated = subjects.iter().filter(|subject| subject.age.source == AgeSource::Mtime);
        let files: Vec<PathBuf> = undated.map(|subject| subject.file.clone()).collect();
        let clean = git::untouched(self.disk, project, &files);
        let times: BTreeMap<PathBuf, Timestamp> = git::last_changes(project, &clean).into_iter().collect();
        for subject in subjects.iter_mut().filter(|subject| subject.age.source == AgeSource::Mtime) {
            if let Some(at) = times.get(&subject.file) {
                subject.age = Age::at(self.now, *at, AgeSource::Git, subject.age.half_life_days);
            }
        }
    }
}

/// Facts of a project; the lanes' own files are no source of them.
fn prober_of<'d>(disk: &'d dyn Disk, project: &'d Path, lanes: &[&Lane]) -> Prober<'d> {
    let files = lanes.iter().filter_map(|lane| lane.files.as_ref());
    let own: Vec<&Path> = files.map(|files| files.root.as_path()).collect();
    Prober::new(disk, project, &own)
}

impl Workspace {
    pub(in crate::workspace) fn verdict_cache(&self) -> Option<VerdictCache> {
        let records = self.lanes.records().files.as_ref()?;
        Some(VerdictCache::of(self.folders.as_ref()?, &records.root))
    }

    /// The memories with broken claims, read once.
    pub(in crate::workspace) fn broken_claims(&self) -> &BrokenClaims {
        self.broken.get_or_init(|| match &self.lanes.records().files {
            Some(files) => {
                BrokenClaims::read(&self.disk, self.folders.as_ref(), &files.root, &self.project.root)
            }
            None => BrokenClaims::default(),
        })
    }

    /// What search results say of a memory with broken claims.
    pub(in crate::workspace) fn broken_mark(&self, address: &Address) -> Option<String> {
        let broken = self.broken_claims();
        let revision = broken.has(address).then(|| self.load(address).ok()).flatten()?.revision;
        let mark = broken.of(address, &revision)?.mark()?;
        Some(cut(&one_line(&mark), MARK_MAX))
    }

    fn prober(&self) -> Prober<'_> {
        prober_of(&*self.disk, &self.project.root, &self.lanes.iter().collect::<Vec<_>>())
    }
}

impl Subject {
    fn scored(self, claims: Vec<CheckedClaim>, count: ClaimCount) -> MemoryAudit {
        let claim_points = claim_points(&claims, count);
        let score = total(self.age.score, claim_points);
        let memory = self.loaded.memory;
        MemoryAudit {
            store: None,
            address: memory.address,
            kind: memory.kind,
            title: memory.title,
            revision: self.loaded.revision,
            path: self.path,
            age: self.age,
            claim_points,
            score,
            band: Band::of(score),
            tokens: tokens(&self.loaded.document.text),
            claims,
        }
    }

    /// When the memory was known to be right.
    fn dates(&self) -> Vec<Timestamp> {
        let memory = &self.loaded.memory;
        let mut dates: Vec<Timestamp> =
            [memory.created, memory.content_changed(), self.confirmed].into_iter().flatten().collect();
        if dates.is_empty() {
            dates.push(self.age.since);
        }
        dates.sort_unstable();
        dates.dedup();
        dates
    }

    fn folder(&self) -> &str {
        folder_of(&self.path)
    }
}

/// The folder of a memory's file, relative to the worktree.
fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder).trim_start_matches('/')
}

/// Checks the claims of memories. What was checked at this commit, in this revision, is not checked again.
fn check<'k>(
    prober: &Prober<'_>,
    subjects: &[Subject],
    known: &'k BTreeMap<Address, AuditedMemory>,
    asks_servers: bool,
) -> BTreeMap<Address, AuditedMemory> {
    let head = prober.head().unwrap_or_default();
    let mut audited = BTreeMap::new();
    let mut fresh = Vec::new();
    for subject in subjects {
        let address = &subject.loaded.memory.address;
        let earlier = known.get(address);
        let is_same = |known: &&AuditedMemory| {
            let is_asked = asks_servers && known.has_urls();
            known.revision == subject.loaded.revision
                && known.head == head
                && known.is_complete()
                && !is_asked
        };
        match earlier.filter(is_same).filter(|_| !head.is_empty()) {
            Some(earlier) => {
                audited.insert(address.clone(), earlier.clone());
            }
            None => {
                let claims = claims_of(&subject.loaded.memory, &subject.loaded.document.text);
                fresh.push((subject, earlier, claims, subject.dates()));
            }
        }
    }
    // What was seen on another branch says nothing here. One question for each commit of an earlier audit.
    let earlier_claims = fresh.iter().filter_map(|(_, earlier, ..)| *earlier).flat_map(|known| &known.claims);
    let commits: BTreeSet<&str> = earlier_claims.filter_map(|claim| claim.held_at.as_deref()).collect();
    let is_below = |old: &&str| {
        *old == head || prober.repository().is_some_and(|repository| repository.is_ancestor(old, head))
    };
    let below: BTreeSet<&str> = commits.into_iter().filter(is_below).collect();
    let held_at = |earlier: Option<&'k AuditedMemory>, claim: &Claim| {
        earlier.and_then(|known| known.held_at(claim)).filter(|commit| below.contains(commit))
    };
    let queries: Vec<ClaimQuery<'_>> = fresh
        .iter()
        .flat_map(|(subject, earlier, claims, dates)| {
            claims.iter().map(|claim| ClaimQuery {
                claim,
                dates,
                folder: subject.folder(),
                held_at: held_at(*earlier, claim),
            })
        })
        .collect();
    // No query, no call of git.
    let mut facts: Vec<Facts> = if queries.is_empty() { Vec::new() } else { prober.facts(&queries) };
    drop(queries);
    let mut facts = facts.drain(..);
    for (subject, earlier, claims, _) in fresh {
        let checked = claims.into_iter().zip(facts.by_ref()).filter_map(|(claim, facts)| {
            let settled = settle(&claim, &facts)?;
            let answered = earlier.filter(|_| !asks_servers).and_then(|known| known.url_verdict(&claim));
            let held_at = held_at(earlier, &claim);
            Some(CheckedClaim::of(claim, answered.unwrap_or(settled), head, held_at))
        });
        let memory = &subject.loaded.memory;
        let (address, revision) = (memory.address.clone(), subject.loaded.revision.clone());
        let claims = checked.collect();
        audited.insert(address.clone(), AuditedMemory { address, revision, head: head.to_owned(), claims });
    }
    audited
}
