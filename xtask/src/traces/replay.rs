//! Replays a trace with an eviction policy, and counts what the policy got wrong.
//!
//! Every policy sees the same session: a file that is touched comes into the set, and at the end of a turn a collection
//! runs if the set is above the start mark. What the policies differ in is which files leave.

use std::collections::BTreeSet;

use lorelane_core::time::Timestamp;
use lorelane_core::working_set::{
    EventAuthor, EventKind, FileState, GC_START_PERCENT, GC_STOP_PERCENT, GcActionRecord, GcFile, GcRequest,
    GcTrigger, RECENT_TURNS, SessionEvent, SessionState, SetAction, SetEntry, TokenBudget, Touch, TouchKind,
    UNTOUCHED_TURNS, due_trigger, plan_gc,
};

use super::generate::{Trace, TraceTurn};
use super::{MISSED_MAX_PERCENT, percent};

/// An eviction is wrong if the file is read again within so many turns.
const SOON_TURNS: u32 = 5;
/// A file that is evicted again within so many turns goes in and out.
const TWICE_TURNS: u32 = 10;
/// After so many turns a use counts half for the policy by frequency.
const HALF_LIFE_TURNS: u32 = 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EvictionPolicy {
    /// `plan_gc`, as the product runs it.
    WorkingSet,
    /// The file whose last touch is oldest leaves first.
    Lru,
    /// The file with the fewest touches leaves first; touches of the past count less and less.
    AgedLfu,
}

impl EvictionPolicy {
    pub const ALL: [EvictionPolicy; 3] =
        [EvictionPolicy::WorkingSet, EvictionPolicy::Lru, EvictionPolicy::AgedLfu];

    pub fn name(self) -> &'static str {
        match self {
            EvictionPolicy::WorkingSet => "working set",
            EvictionPolicy::Lru => "LRU",
            EvictionPolicy::AgedLfu => "LFU, aged",
        }
    }
}

/// What happened in one or more sessions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReplayCounts {
    pub sessions: u64,
    /// Sessions in which more files were missed than all sessions together may miss.
    pub sessions_above_limit: u64,
    pub turns: u64,
    /// Files that a turn reads and an earlier turn has read, turn by turn.
    pub rereads: u64,
    /// Those among them that were evicted in the five turns before.
    pub evicted_soon_before: u64,
    /// Those that are in the set but did not fit into the context of the turn before.
    pub left_out: u64,
    /// Those that nobody touched for more than five turns: only they can be wrong.
    pub returns: u64,
    /// Files that some later turn reads again, each counted once per session.
    pub files_reread: u64,
    pub files_evicted_soon_before: u64,
    pub evictions: u64,
    pub evicted_twice: u64,
    pub tokens_freed: u64,
    /// Tokens of files that were evicted and came back.
    pub tokens_reloaded: u64,
    /// Turns that end with a set above the start mark, and above the effective budget.
    pub turns_above_start: u64,
    pub turns_above_budget: u64,
    /// Turns in which the files of the last five turns alone are above the effective budget.
    pub turns_in_need: u64,
    /// The sum over all turns of how full the budget is, in percent.
    pub percent_sum: u64,
}

impl ReplayCounts {
    /// The share of re-reads whose file was evicted just before, or was left out of a full context.
    pub fn missed_percent(&self) -> f64 {
        percent(self.evicted_soon_before + self.left_out, self.rereads)
    }

    pub fn add(&mut self, other: &ReplayCounts) {
        self.sessions += other.sessions;
        self.sessions_above_limit += other.sessions_above_limit;
        self.turns += other.turns;
        self.rereads += other.rereads;
        self.evicted_soon_before += other.evicted_soon_before;
        self.left_out += other.left_out;
        self.returns += other.returns;
        self.files_reread += other.files_reread;
        self.files_evicted_soon_before += other.files_evicted_soon_before;
        self.evictions += other.evictions;
        self.evicted_twice += other.evicted_twice;
        self.tokens_freed += other.tokens_freed;
        self.tokens_reloaded += other.tokens_reloaded;
        self.turns_above_start += other.turns_above_start;
        self.turns_above_budget += other.turns_above_budget;
        self.turns_in_need += other.turns_in_need;
        self.percent_sum += other.percent_sum;
    }
}

/// Runs a session with a policy.
pub fn replay(trace: &Trace, budget: &TokenBudget, policy: EvictionPolicy) -> ReplayCounts {
    let mut replay = Replay {
        trace,
        budget,
        policy,
        state: SessionState::default(),
        now: Timestamp(0),
        records: vec![FileRecord::default(); trace.files.len()],
        counts: ReplayCounts::default(),
    };
    replay.apply(EventKind::SessionStart {
        session_id: String::new(),
        protocol: String::new(),
        client: None,
    });
    for turn in &trace.turns {
        replay.turn(turn);
    }
    let mut counts = replay.counts;
    counts.sessions = 1;
    counts.sessions_above_limit = u64::from(counts.missed_percent() > MISSED_MAX_PERCENT);
    counts.turns = trace.turns.len() as u64;
    counts.files_reread = replay.records.iter().filter(|record| record.is_reread).count() as u64;
    counts.files_evicted_soon_before =
        replay.records.iter().filter(|record| record.is_evicted_soon_before).count() as u64;
    counts
}

/// What is counted about a file.
#[derive(Clone, Debug, Default)]
struct FileRecord {
    is_in_set: bool,
    is_left_out: bool,
    is_reread: bool,
    is_evicted_soon_before: bool,
    last_read: Option<u32>,
    evicted: Option<u32>,
    /// Touches, those of the past counting less.
    frequency: f64,
}

struct Replay<'t> {
    trace: &'t Trace,
    budget: &'t TokenBudget,
    policy: EvictionPolicy,
    state: SessionState,
    now: Timestamp,
    records: Vec<FileRecord>,
    counts: ReplayCounts,
}

impl Replay<'_> {
    fn apply(&mut self, kind: EventKind) {
        let (at, turn, seq) = (self.now, self.state.turn, self.state.seq + 1);
        self.state.apply(&SessionEvent { at, seq, turn, change: 0, prev: String::new(), kind });
    }

    fn turn(&mut self, turn: &TraceTurn) {
        self.now.0 += 60 * turn.minutes as i64;
        self.state.turn += 1;
        if self.state.turn.is_multiple_of(HALF_LIFE_TURNS) {
            self.records.iter_mut().for_each(|record| record.frequency /= 2.0);
        }
        let distinct: BTreeSet<usize> = turn.touched.iter().copied().collect();
        distinct.iter().for_each(|&file| self.read(file));
        turn.touched.iter().for_each(|&file| self.records[file].frequency += 1.0);
        let touch = |&file: &usize| Touch { path: self.trace.files[file].path.clone(), by: TouchKind::Read };
        let touches = turn.touched.iter().map(touch).collect();
        self.apply(EventKind::ModelTurn { touches, read_to: None });
        let added = distinct.iter().filter(|&&file| !self.records[file].is_in_set);
        let files =
            added.map(|&file| SetEntry::new(&self.trace.files[file].path, SetEntry::PRIORITY)).collect();
        distinct.iter().for_each(|&file| self.records[file].is_in_set = true);
        self.apply(EventKind::WorkingSetUpdate {
            action: SetAction::Add,
            by: EventAuthor::Orchestrator,
            why: "read".to_owned(),
            files,
            paths: Vec::new(),
            max_tokens: None,
        });
        self.collect();
        self.look_at_the_set();
    }

    fn read(&mut self, file: usize) {
        let (turn, record) = (self.state.turn, &mut self.records[file]);
        if let Some(last) = record.last_read {
            self.counts.rereads += 1;
            self.counts.returns += u64::from(turn - last > SOON_TURNS);
            record.is_reread = true;
            if !record.is_in_set {
                self.counts.tokens_reloaded += self.trace.files[file].tokens;
                if record.evicted.is_some_and(|evicted| turn - evicted <= SOON_TURNS) {
                    self.counts.evicted_soon_before += 1;
                    record.is_evicted_soon_before = true;
                }
            } else if record.is_left_out {
                self.counts.left_out += 1;
            }
        }
        record.last_read = Some(turn);
    }

    fn in_set(&self) -> impl Iterator<Item = usize> {
        (0..self.records.len()).filter(|&file| self.records[file].is_in_set)
    }

    fn tokens(&self, files: impl Iterator<Item = usize>) -> u64 {
        files.map(|file| self.trace.files[file].tokens).sum()
    }

    fn collect(&mut self) {
        let used = self.tokens(self.in_set());
        let minutes =
            (self.now.0 - self.state.last_gc_at.or(self.state.started_at).map_or(0, |at| at.0)) / 60;
        let turns = self.state.turn - self.state.last_gc_turn;
        let Some(trigger) = due_trigger(self.budget, used, minutes.unsigned_abs(), turns) else { return };
        let victims = match self.policy {
            EvictionPolicy::WorkingSet => self.planned(trigger, used),
            EvictionPolicy::Lru => self.least(used, |record| f64::from(record.last_read.unwrap_or(0))),
            EvictionPolicy::AgedLfu => self.least(used, |record| record.frequency),
        };
        let mut report = Vec::new();
        for file in victims {
            let path = self.trace.files[file].path.clone();
            report.push(GcActionRecord { path, action: "evicted".to_owned(), summary: None, reason: None });
            self.evict(file);
        }
        let (trigger, why) = (trigger.name().to_owned(), "due".to_owned());
        let files_affected = report.len();
        self.apply(EventKind::GcRun { trigger, why, freed_tokens: 0, files_affected, report });
    }

    fn evict(&mut self, file: usize) {
        let (turn, record) = (self.state.turn, &mut self.records[file]);
        let again = record.evicted.is_some_and(|evicted| turn - evicted <= TWICE_TURNS);
        self.counts.evicted_twice += u64::from(again);
        self.counts.evictions += 1;
        self.counts.tokens_freed += self.trace.files[file].tokens;
        (record.is_in_set, record.evicted) = (false, Some(turn));
    }

    /// What the product would evict.
    fn planned(&self, trigger: GcTrigger, used: u64) -> Vec<usize> {
        let numbers: Vec<usize> = self.in_set().collect();
        let files: Vec<GcFile> = numbers.iter().map(|&file| self.gc_file(file)).collect();
        let plan = plan_gc(&GcRequest {
            files: &files,
            budget: self.budget,
            used,
            turn: self.state.turn,
            trigger,
            target_tokens: None,
            untouched_turns: UNTOUCHED_TURNS,
        });
        let is_victim = |at: &usize| plan.actions.iter().any(|action| action.path == files[*at].path);
        (0..files.len()).filter(is_victim).map(|at| numbers[at]).collect()
    }

    fn gc_file(&self, file: usize) -> GcFile {
        let known = &self.trace.files[file];
        let nothing = FileState::default();
        let state = self.state.files.get(&known.path).unwrap_or(&nothing);
        GcFile {
            path: known.path.clone(),
            tokens: known.tokens,
            priority: SetEntry::PRIORITY,
            touches: state.touches,
            last_touched: state.last_touch(),
            entered: state.entered_turn,
            last_evicted: state.evicted_turn,
            is_in_scope: true,
            ..GcFile::default()
        }
    }

    /// The files with the least of something, as many as lead to the stop mark.
    fn least(&self, used: u64, what: fn(&FileRecord) -> f64) -> Vec<usize> {
        if used * 100 <= self.budget.effective * GC_START_PERCENT {
            return Vec::new();
        }
        let mut files: Vec<usize> = self.in_set().collect();
        let rank = |file: usize| (what(&self.records[file]), self.records[file].last_read);
        files.sort_by(|&a, &b| {
            let ((a_rank, a_read), (b_rank, b_read)) = (rank(a), rank(b));
            a_rank.total_cmp(&b_rank).then(a_read.cmp(&b_read)).then(a.cmp(&b))
        });
        let mut rest = used;
        let is_needed = |file: &usize| {
            let is_above = rest * 100 > self.budget.effective * GC_STOP_PERCENT;
            rest -= if is_above { self.trace.files[*file].tokens } else { 0 };
            is_above
        };
        files.into_iter().take_while(is_needed).collect()
    }

    /// What the turn ends with: how full the set is, and what does not fit into the context.
    fn look_at_the_set(&mut self) {
        let (turn, effective) = (self.state.turn, self.budget.effective);
        let used = self.tokens(self.in_set());
        self.counts.turns_above_start += u64::from(used * 100 > effective * GC_START_PERCENT);
        self.counts.turns_above_budget += u64::from(used > effective);
        self.counts.percent_sum += used * 100 / effective;
        let is_recent =
            |&file: &usize| self.records[file].last_read.is_some_and(|last| turn - last < RECENT_TURNS);
        let recent = (0..self.records.len()).filter(is_recent);
        self.counts.turns_in_need += u64::from(self.tokens(recent) > effective);
        // All priorities are equal, so a context takes files by path.
        let mut by_path: Vec<usize> = self.in_set().collect();
        by_path.sort_by(|&a, &b| self.trace.files[a].path.cmp(&self.trace.files[b].path));
        let mut rest = effective;
        for file in by_path {
            let left = rest.checked_sub(self.trace.files[file].tokens);
            self.records[file].is_left_out = left.is_none();
            rest = left.unwrap_or(rest);
        }
    }
}
