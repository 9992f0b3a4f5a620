//! `extract`: what past sessions of this project have that is worth keeping goes to the inbox.

use super::SessionCapture;
use super::sessions::{SessionFile, SessionOwner};
use crate::config::write_plain;
use crate::setup::BlockFile;
use crate::transcript::{self, TranscriptLines};
use crate::workspace::Failure;
use lorelane_core::capture::{Capture, CapturedItem, Destination, SessionExtractor};
use lorelane_core::consolidate::{MemoryRelation, queue};
use lorelane_core::digest::short_digest;
use lorelane_core::statements::{StatementForm, StatementKind, StatementPrint};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A file in the project's state folder: for each extracted session a digest of its id, and its length then.
const EXTRACTED: &str = "extracted";
const EXTRACTED_MAX_BYTES: u64 = 1 << 20;
/// The oldest are dropped; extracting one again finds nothing new.
const EXTRACTED_MAX: usize = 10_000;
/// Of a file with instructions to agents.
const RULES_MAX_BYTES: u64 = 256 << 10;
const RULES_MAX: usize = 1_000;
/// Items of one session that are compared with others, for each one that is wanted.
const COMPARED_PER_ITEM: usize = 4;

/// What was found, and what became of it.
#[derive(Debug, Default)]
pub struct ExtractReport {
    /// How many sessions of this project were read.
    pub sessions: usize,
    /// What waits in the inbox now, most lasting first.
    pub items: Vec<ExtractedItem>,
    pub left_out: LeftOut,
    /// Sessions of other projects, with the folder of each.
    pub elsewhere: Vec<(SessionFile, PathBuf)>,
    /// Sessions that could not be read as a whole.
    pub unread: Vec<UnreadSession>,
}

#[derive(Debug)]
pub struct ExtractedItem {
    pub client: &'static str,
    /// Its number is 0 in a dry run.
    pub item: CapturedItem,
    pub destination: Destination,
}

/// How many items did not go to the inbox, by the reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// They wait already, or were decided about.
    pub known: usize,
    /// The same extraction found something better that says the same.
    pub repeated: usize,
    /// A memory says it already, or a file with instructions to agents.
    pub said: usize,
    pub rejected: usize,
    /// They end with their session.
    pub passing: usize,
    /// Their category is not captured.
    pub disabled: usize,
    /// There was no room.
    pub over_limit: usize,
}

/// A session that could not be read as a whole, and why.
#[derive(Debug)]
pub struct UnreadSession {
    pub session: SessionFile,
    pub why: String,
}

/// A found item with the place of its session.
struct FoundItem {
    place: usize,
    item: CapturedItem,
    destination: Destination,
    print: StatementPrint,
}

impl FoundItem {
    fn says_the_same(&self, other: &FoundItem) -> bool {
        self.item.kind == other.item.kind && self.print.is_like(&other.print)
    }
}

impl SessionCapture<'_> {
    /// Puts the best items of these sessions into the inbox: values first, then by score.
    pub fn extract(
        &mut self,
        sessions: Vec<SessionFile>,
        limit: usize,
        dry_run: bool,
    ) -> Result<ExtractReport, Failure> {
        let mut report = ExtractReport::default();
        let mut own: Vec<SessionFile> = Vec::new();
        for session in sessions {
            match self.owner(&session) {
                SessionOwner::ThisProject => own.push(session),
                SessionOwner::Other(cwd) => report.elsewhere.push((session, cwd)),
                SessionOwner::Unknown => {
                    let why = "it does not say in which folder it ran".to_owned();
                    report.unread.push(UnreadSession { session, why });
                }
            }
        }
        let mut found: Vec<FoundItem> = Vec::new();
        let mut captures: Vec<Capture> = Vec::new();
        let mut is_read = vec![false; own.len()];
        for (place, session) in own.iter().enumerate() {
            let known = self.workspace.captures().load(&session.id);
            let capture =
                known.unwrap_or_else(|| Capture::new(&session.id, session.client, self.workspace.now));
            match self.items_of(session) {
                Ok((items, lines)) => {
                    is_read[place] = true;
                    report.sessions += 1;
                    report.unread.extend(unread(session, lines));
                    let items = self.new_of(&capture, session, items, &mut report.left_out);
                    found.extend(items.into_iter().map(|(item, destination)| FoundItem {
                        place,
                        print: StatementPrint::of(&item.words()),
                        item,
                        destination,
                    }));
                    cut_to_best(&mut found, limit, &mut is_read, &mut report.left_out);
                }
                Err(why) => {
                    report.unread.push(UnreadSession { session: session.clone(), why: why.to_string() });
                }
            }
            captures.push(capture);
        }
        let mut chosen = self.chosen(found, limit, &mut is_read, &mut report.left_out)?;
        chosen.sort_by(|one, other| {
            lasting(&one.item)
                .cmp(&lasting(&other.item))
                .then_with(|| other.item.score.total_cmp(&one.item.score))
        });
        for FoundItem { place, mut item, destination, .. } in chosen {
            if !dry_run {
                // One by one, so that their numbers follow this order across sessions.
                let capture = &mut captures[place];
                capture.take(vec![item.clone()], None, false, self.workspace.now);
                self.workspace.captures().save(capture)?;
                item.number = capture.items.last().map_or(0, |item| item.number);
            }
            report.items.push(ExtractedItem { client: own[place].client, item, destination });
        }
        if !dry_run {
            let read = own.iter().zip(is_read).filter(|(_, is_read)| *is_read);
            self.put_extracted(read.map(|(session, _)| session));
        }
        Ok(report)
    }

    fn items_of(&self, session: &SessionFile) -> std::io::Result<(Vec<CapturedItem>, TranscriptLines)> {
        let shown = self.shown_in(&self.workspace.ledger().lines_of(&session.id));
        let mut extractor = SessionExtractor::new(session.format(), &session.id, shown, self.workspace.now);
        let lines = transcript::read_all(&*self.workspace.disk, &session.path, &mut extractor)?;
        Ok((extractor.finish(), lines))
    }

    /// The items that were not captured in this session before and may be kept.
    fn new_of(
        &self,
        capture: &Capture,
        session: &SessionFile,
        items: Vec<CapturedItem>,
        left_out: &mut LeftOut,
    ) -> Vec<(CapturedItem, Destination)> {
        let found = items.len();
        let mut items = capture.unknown(items);
        left_out.known += found - items.len();
        let found = items.len();
        items.retain(|item| self.workspace.policy.auto_capture(item.category));
        left_out.disabled += found - items.len();
        let mut new = Vec::new();
        for item in items {
            match Destination::of(&item, session.client) {
                Destination::Skip => left_out.passing += 1,
                destination => new.push((item, destination)),
            }
        }
        new
    }

    /// The best items that neither wait, nor were rejected, nor are in a memory.
    fn chosen(
        &mut self,
        mut found: Vec<FoundItem>,
        limit: usize,
        is_read: &mut [bool],
        left_out: &mut LeftOut,
    ) -> Result<Vec<FoundItem>, Failure> {
        found.sort_by(|one, other| best_first(&one.item, &other.item));
        let (marks, rejected) = (self.workspace.recent_marks(), self.workspace.captures().rejected());
        let waiting = queue(&self.workspace.captures().waiting());
        let waiting: Vec<(Option<StatementKind>, StatementPrint)> = waiting
            .iter()
            .map(|queued| (queued.item.kind, StatementPrint::of(&queued.item.words())))
            .collect();
        let rules = self.rules();
        let mut chosen: Vec<FoundItem> = Vec::new();
        for one in found {
            let is_same =
                |(kind, known): &(_, StatementPrint)| *kind == one.item.kind && known.is_like(&one.print);
            if chosen.iter().any(|better| better.says_the_same(&one)) {
                left_out.repeated += 1;
            } else if waiting.iter().any(is_same) {
                left_out.known += 1;
            } else if chosen.len() == limit {
                // The session is read again, for what had no room.
                left_out.over_limit += 1;
                is_read[one.place] = false;
            } else if self.rejected_origin(&marks, &one.item).is_some() || rejected.find(&one.item).is_some()
            {
                left_out.rejected += 1;
            } else if rules.iter().any(|rule| one.print.is_said_in(rule))
                || matches!(self.relation(&one.item)?, MemoryRelation::SaidBy(_))
            {
                left_out.said += 1;
            } else {
                chosen.push(one);
            }
        }
        Ok(chosen)
    }

    /// The lines of the files that agents load in every session.
    fn rules(&self) -> Vec<StatementPrint> {
        let (root, disk) = (&self.workspace.project.root, &self.workspace.disk);
        let files = BlockFile::WITHOUT_CATEGORY.into_iter().map(|file| root.join(file.path()));
        let texts = files.filter_map(|file| disk.read_regular(&file, RULES_MAX_BYTES).ok().flatten());
        let prints = |text: Vec<u8>| {
            let text = String::from_utf8_lossy(&text).into_owned();
            text.lines().take(RULES_MAX).map(StatementPrint::of).collect::<Vec<_>>()
        };
        texts.flat_map(prints).collect()
    }

    /// The sessions that were extracted before.
    pub(super) fn extracted(&self) -> ExtractedSessions {
        let file = self.workspace.project.state.join(EXTRACTED);
        let bytes = self.workspace.disk.read_regular(&file, EXTRACTED_MAX_BYTES).ok().flatten();
        let text = String::from_utf8(bytes.unwrap_or_default()).unwrap_or_default();
        let line = |line: &str| {
            let (digest, length) = line.split_once(' ')?;
            Some((digest.to_owned(), length.parse().ok()?))
        };
        ExtractedSessions(text.lines().filter_map(line).collect())
    }

    /// If it cannot be written, the sessions are read once more.
    fn put_extracted<'s>(&self, sessions: impl Iterator<Item = &'s SessionFile>) {
        let ExtractedSessions(mut known) = self.extracted();
        let before = known.clone();
        known.extend(sessions.map(|session| (digest(session), session.length)));
        if known == before {
            return;
        }
        let surplus = known.len().saturating_sub(EXTRACTED_MAX);
        let lines: String =
            known.iter().skip(surplus).map(|(digest, length)| format!("{digest} {length}\n")).collect();
        let file = self.workspace.project.state.for_writing().join(EXTRACTED);
        let _ = write_plain(&*self.workspace.disk, &file, lines.as_bytes());
    }
}

/// Extracted sessions, with their lengths then.
pub(super) struct ExtractedSessions(BTreeMap<String, u64>);

impl ExtractedSessions {
    /// Whether a session was extracted and has not grown since.
    pub(super) fn has(&self, session: &SessionFile) -> bool {
        self.0.get(&digest(session)) == Some(&session.length)
    }
}

/// The id is foreign text, and says who worked when.
fn digest(session: &SessionFile) -> String {
    short_digest(&session.id, 16)
}

fn unread(session: &SessionFile, lines: TranscriptLines) -> Option<UnreadSession> {
    let why = match lines {
        TranscriptLines { read: 0, .. } if session.length > 0 => {
            "it has no message in a format that lorelane knows".to_owned()
        }
        TranscriptLines { skipped: 1, .. } => "1 line is too long, cut off or not UTF-8".to_owned(),
        TranscriptLines { skipped: 0, .. } => return None,
        TranscriptLines { skipped, .. } => format!("{skipped} lines are too long, cut off or not UTF-8"),
    };
    Some(UnreadSession { session: session.clone(), why })
}

/// Drops what has no chance while sessions are read: what says the same as something better, and what is far behind.
fn cut_to_best(found: &mut Vec<FoundItem>, limit: usize, is_read: &mut [bool], left_out: &mut LeftOut) {
    let max = limit.saturating_mul(COMPARED_PER_ITEM).max(limit);
    if found.len() <= max.saturating_mul(2) {
        return;
    }
    found.sort_by(|one, other| best_first(&one.item, &other.item));
    let mut best: Vec<FoundItem> = Vec::with_capacity(max);
    for one in found.drain(..) {
        if best.iter().any(|better| better.says_the_same(&one)) {
            left_out.repeated += 1;
        } else if best.len() == max {
            left_out.over_limit += 1;
            is_read[one.place] = false;
        } else {
            best.push(one);
        }
    }
    *found = best;
}

/// Values first, then by score, then by time.
fn best_first(one: &CapturedItem, other: &CapturedItem) -> std::cmp::Ordering {
    let is_value = |item: &CapturedItem| item.form == Some(StatementForm::Value);
    let by_value = is_value(other).cmp(&is_value(one));
    by_value.then_with(|| other.score.total_cmp(&one.score)).then_with(|| other.said.cmp(&one.said))
}

/// The place of an item in a list: what lasts longest is first.
fn lasting(item: &CapturedItem) -> usize {
    match (item.form, item.kind) {
        (Some(StatementForm::Value), _) => 0,
        (Some(StatementForm::Approval), _) => 4,
        (Some(StatementForm::Reference), _) => 5,
        (_, Some(StatementKind::Decision)) => 1,
        (_, Some(StatementKind::Correction)) => 2,
        (_, Some(StatementKind::Preference | StatementKind::Constraint)) => 3,
        (_, Some(StatementKind::Runbook)) => 6,
        _ => 7,
    }
}
