//! `audit`: how stale memories are, by age and by claims that the repository no longer confirms.

mod broken;
mod cache;
mod check;
mod fix;

pub(in crate::workspace) use broken::BrokenClaims;
pub(in crate::workspace) use cache::VerdictCache;
pub use check::{BrokenMention, CheckReport, CheckScope};

use crate::git;
use crate::index::ListFilter;
use crate::probe::{ClaimQuery, Prober};
use crate::workspace::find::LoadedMemory;
use crate::workspace::{Failure, Maintenance, Workspace};
use lorelane_core::audit::{
    Age, AgeSource, AuditedMemory, Band, CheckedClaim, ClaimCount, Distribution, claim_points, total,
};
use lorelane_core::claim::{Claim, claims_of};
use lorelane_core::corpus::MemorySummary;
use lorelane_core::lifecycle::Status;
use lorelane_core::mark::Marks;
use lorelane_core::memory::{Address, LaneId, MemoryKind};
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
    /// Only this lane.
    pub lane: Option<LaneId>,
    pub count: ClaimCount,
}

/// One memory of an audit.
#[derive(Clone, Debug)]
pub struct MemoryAudit {
    pub address: Address,
    pub kind: MemoryKind,
    pub title: String,
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

/// A memory that is audited, with its dates.
struct Subject {
    loaded: LoadedMemory,
    path: String,
    age: Age,
    confirmed: Option<Timestamp>,
}

#[derive(Default)]
struct Subjects {
    readable: Vec<Subject>,
    unreadable: Vec<(String, String)>,
}

impl Maintenance<'_> {
    /// Scores every active memory.
    pub fn audit(&mut self, scope: AuditScope) -> Result<AuditReport, Failure> {
        self.scan()?;
        let Subjects { readable: subjects, unreadable } = self.workspace.subjects(scope.lane)?;
        let cache = self.workspace.verdict_cache();
        let disk = &*self.workspace.disk;
        let known = cache.as_ref().map(|cache| cache.read(disk)).unwrap_or_default();
        let mut head = None;
        let mut audited = BTreeMap::new();
        if scope.deep {
            let prober = self.workspace.prober();
            head = prober.head().map(str::to_owned);
            audited = check(&prober, &subjects, &known);
        }
        let memories = subjects.into_iter().map(|subject| {
            let verdicts = audited.get(&subject.loaded.memory.address);
            let earlier = || known.get(&subject.loaded.memory.address);
            let verdicts =
                verdicts.or_else(earlier).filter(|known| known.revision == subject.loaded.revision);
            let claims = verdicts.map(|known| known.claims.clone()).unwrap_or_default();
            subject.scored(claims, scope.count)
        });
        let mut memories: Vec<MemoryAudit> = memories.collect();
        memories.sort_by(|a, b| b.score.cmp(&a.score).then_with(|| a.address.cmp(&b.address)));
        if let Some(cache) = cache.filter(|_| scope.deep) {
            // Verdicts of another lane stay; what an audit of everything did not see is gone.
            let mut all = if scope.lane.is_some() { known.clone() } else { BTreeMap::new() };
            all.extend(audited);
            if all != known {
                cache.write(disk, &all)?;
            }
        }
        let distribution = Distribution::of(memories.iter().map(|memory| memory.score));
        let tokens = memories.iter().map(|memory| memory.tokens).sum();
        Ok(AuditReport { memories, distribution, tokens, unreadable, head })
    }
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
        let own: Vec<&Path> = self
            .lanes
            .iter()
            .filter_map(|lane| lane.files.as_ref())
            .map(|files| files.root.as_path())
            .collect();
        Prober::new(&*self.disk, &self.project.root, &own)
    }

    /// The active memories with their age, and those that cannot be read.
    fn subjects(&mut self, lane: Option<LaneId>) -> Result<Subjects, Failure> {
        let entries = self.recall().entries(ListFilter { kind: None, status: Some(Status::Active) })?;
        let is_wanted = |entry: &&MemorySummary| {
            let address = &entry.address;
            !address.is_trash() && lane.is_none_or(|lane| address.lane() == lane)
        };
        let entries: Vec<&MemorySummary> = entries.iter().filter(is_wanted).collect();
        let marks = self.marks();
        let commit_times = self.commit_times(&entries);
        let mut subjects = Subjects::default();
        for entry in entries {
            match self.load(&entry.address) {
                Ok(loaded) => subjects.readable.push(self.subject(loaded, entry, &marks, &commit_times)),
                Err(failure) => subjects.unreadable.push((entry.address.to_string(), failure.to_string())),
            }
        }
        for lane in self.lanes.iter_mut().filter(|open| lane.is_none_or(|lane| open.id() == lane)) {
            subjects.unreadable.extend(lane.with_index(|index| index.unreadable())?);
        }
        Ok(subjects)
    }

    fn subject(
        &self,
        loaded: LoadedMemory,
        entry: &MemorySummary,
        marks: &Marks,
        commit_times: &BTreeMap<Address, Timestamp>,
    ) -> Subject {
        let memory = &loaded.memory;
        let confirmed = marks.confirmed_at(&memory.address, &loaded.revision);
        let sources = [
            (confirmed, AgeSource::Confirmed),
            (memory.content_changed(), AgeSource::Modified),
            (commit_times.get(&memory.address).copied(), AgeSource::Git),
            (entry.written, AgeSource::Mtime),
        ];
        let dated = sources.into_iter().find_map(|(at, source)| Some((at?, source)));
        let (since, source) = dated.unwrap_or((self.now, AgeSource::Mtime));
        let age = Age::at(self.now, since, source, self.policy.half_life_days(memory.kind));
        Subject { path: self.listed_path(&memory.address), loaded, age, confirmed }
    }

    /// When git last changed the files of memories that have no date. Only files as git has them.
    fn commit_times(&self, entries: &[&MemorySummary]) -> BTreeMap<Address, Timestamp> {
        let undated = entries.iter().filter(|entry| entry.content_changed.is_none());
        let file = |entry: &&&MemorySummary| Some((self.file_of(&entry.address)?, entry.address.clone()));
        let files: BTreeMap<PathBuf, Address> = undated.filter_map(|entry| file(&entry)).collect();
        let names: Vec<PathBuf> = files.keys().cloned().collect();
        let clean = git::untouched(&*self.disk, &self.project.root, &names);
        let times = git::last_changes(&self.project.root, &clean);
        times.into_iter().filter_map(|(file, at)| Some((files.get(&file)?.clone(), at))).collect()
    }

    fn file_of(&self, address: &Address) -> Option<PathBuf> {
        let lane = self.lanes.of(address)?;
        let path = lane.dialect.place(address)?;
        Some(lane.files.as_ref()?.file(&path))
    }
}

impl Subject {
    fn scored(self, claims: Vec<CheckedClaim>, count: ClaimCount) -> MemoryAudit {
        let claim_points = claim_points(&claims, count);
        let score = total(self.age.score, claim_points);
        let memory = self.loaded.memory;
        MemoryAudit {
            address: memory.address,
            kind: memory.kind,
            title: memory.title,
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
fn check(
    prober: &Prober<'_>,
    subjects: &[Subject],
    known: &BTreeMap<Address, AuditedMemory>,
) -> BTreeMap<Address, AuditedMemory> {
    let head = prober.head().unwrap_or_default();
    let mut audited = BTreeMap::new();
    let mut fresh = Vec::new();
    for subject in subjects {
        let address = &subject.loaded.memory.address;
        let earlier = known.get(address);
        let is_same = |known: &&AuditedMemory| {
            known.revision == subject.loaded.revision && known.head == head && known.is_complete()
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
    let heads: BTreeSet<&str> =
        fresh.iter().filter_map(|(_, earlier, ..)| earlier.map(|known| known.head.as_str())).collect();
    let is_below = |old: &&str| {
        *old == head || prober.repository().is_some_and(|repository| repository.is_ancestor(old, head))
    };
    let below: BTreeSet<&str> = heads.into_iter().filter(is_below).collect();
    let held = |earlier: Option<&AuditedMemory>, claim: &Claim| {
        earlier.is_some_and(|known| below.contains(known.head.as_str()) && known.held(claim))
    };
    let queries: Vec<ClaimQuery<'_>> = fresh
        .iter()
        .flat_map(|(subject, earlier, claims, dates)| {
            claims.iter().map(|claim| ClaimQuery {
                claim,
                dates,
                folder: subject.folder(),
                held_before: held(*earlier, claim),
            })
        })
        .collect();
    // No query, no call of git.
    let mut facts: Vec<Facts> = if queries.is_empty() { Vec::new() } else { prober.facts(&queries) };
    drop(queries);
    let mut facts = facts.drain(..);
    for (subject, earlier, claims, _) in fresh {
        let checked = claims.into_iter().zip(facts.by_ref()).map(|(claim, facts)| {
            let settled = settle(&claim, &facts);
            let held_before = held(earlier, &claim);
            CheckedClaim::of(claim, settled, held_before)
        });
        let memory = &subject.loaded.memory;
        let (address, revision) = (memory.address.clone(), subject.loaded.revision.clone());
        let claims = checked.collect();
        audited.insert(address.clone(), AuditedMemory { address, revision, head: head.to_owned(), claims });
    }
    audited
}
