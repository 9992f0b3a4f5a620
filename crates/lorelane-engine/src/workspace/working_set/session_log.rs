//! The log files of one session: reading them, and appending events under the lock of the session root.
//!
//! The log is appended beside the store's documents. A decision is journalled first, with its event in the journal's
//! reason; a crash before the event is in the log is completed by the next writer (`pending`). Touches are only
//! appended, without a sync: they are read from the transcript again if they are lost.

use super::is_no_file;
use crate::disk::Disk;
use crate::workspace::Failure;
use lorelane_core::json::{self, JsonFormat};
use lorelane_core::time::Timestamp;
use lorelane_core::working_set::{
    ChainFault, EventKind, SessionEvent, SessionLog, SessionState, digest, log_header,
};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// A log that is longer is not ours.
const LOG_MAX_BYTES: u64 = 64 << 20;
/// How much of a log's end is read to append to it. No event is as long.
const TAIL_BYTES: u64 = 256 << 10;

/// The end of a log: where the next event goes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct LogEnd {
    /// The number of the file; the first has none in its name.
    pub(super) part: u32,
    pub(super) len: u64,
    pub(super) digest: String,
    pub(super) seq: u64,
    pub(super) turn: u32,
    pub(super) change: u64,
    /// An edit of the file before this one, which the next event reports.
    #[serde(skip)]
    pub(super) fault: Option<String>,
}

/// What was read of a session's log.
#[derive(Debug, Default)]
pub(super) struct LoadedLog {
    pub(super) state: SessionState,
    pub(super) end: LogEnd,
    /// Faults in the last file.
    pub(super) faults: Vec<ChainFault>,
    /// Events of all files; only for `ws log`.
    pub(super) events: Vec<SessionEvent>,
}

/// Events that belong to a change, as the journal keeps them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct PendingEvents {
    /// The session's folder, relative to the root.
    pub(super) folder: String,
    pub(super) session: String,
    pub(super) events: Vec<EventKind>,
}

impl PendingEvents {
    /// The reason of a change as it is journalled: for people in the first line, for recovery in the second.
    pub(super) fn because(&self, reason: &str) -> String {
        format!("{reason}\n{}", json::to_string(self, JsonFormat::LINE))
    }

    pub(super) fn of(because: &str) -> Option<PendingEvents> {
        json::from_str(because.split_once('\n')?.1).ok()
    }
}

pub(super) fn part_name(part: u32) -> String {
    match part {
        0 | 1 => "session-log.md".to_owned(),
        part => format!("session-log-{part}.md"),
    }
}

fn read_part(disk: &dyn Disk, folder: &Path, part: u32) -> Result<Option<LogText>, Failure> {
    let file = folder.join(part_name(part));
    match disk.read_regular(&file, LOG_MAX_BYTES) {
        Ok(bytes) => Ok(bytes.map(LogText::of)),
        // Too large, a link, a pipe or a folder: not what was written, so writing continues in the next file.
        Err(fault) if is_no_file(disk, &file, &fault) => {
            Ok(Some(LogText { text: String::new(), is_damaged: true }))
        }
        Err(source) => Err(Failure::io("read", &file, source)),
    }
}

/// The text of a log file.
struct LogText {
    text: String,
    /// Whether bytes in it are not UTF-8, so that offsets in the text are not offsets in the file.
    is_damaged: bool,
}

impl LogText {
    fn of(bytes: Vec<u8>) -> LogText {
        match String::from_utf8(bytes) {
            Ok(text) => LogText { text, is_damaged: false },
            Err(fault) => {
                let utf8 = fault.utf8_error();
                let bytes = fault.into_bytes();
                let is_cut = utf8.error_len().is_none();
                let whole = if is_cut { &bytes[..utf8.valid_up_to()] } else { &bytes[..] };
                // Of a character that was cut off at the end, nothing is kept: the event is torn anyway.
                LogText { text: String::from_utf8_lossy(whole).into_owned(), is_damaged: !is_cut }
            }
        }
    }

    fn of_tail(mut bytes: Vec<u8>, start: u64) -> (LogText, u64) {
        let partial = bytes.iter().take(3).take_while(|byte| **byte & 0xC0 == 0x80).count();
        let skipped = if start == 0 { 0 } else { partial };
        bytes.drain(..skipped);
        (LogText::of(bytes), start + skipped as u64)
    }
}

/// Reads every file of a log and checks the chain.
pub(super) fn load(disk: &dyn Disk, folder: &Path) -> Result<LoadedLog, Failure> {
    let mut loaded = LoadedLog::default();
    let mut part = 1;
    while let Some(LogText { text, is_damaged }) = read_part(disk, folder, part)? {
        let log = SessionLog::read(&text);
        log.events().for_each(|event| loaded.state.apply(event));
        let last = log.blocks.last();
        loaded.end = LogEnd {
            part,
            len: log.torn_at.unwrap_or(text.len()) as u64,
            digest: log.last_digest,
            seq: loaded.state.seq,
            turn: loaded.state.turn,
            change: last.map_or(loaded.state.change, |last| last.event.change),
            fault: None,
        };
        loaded.faults = log.faults;
        if is_damaged {
            loaded.faults.push(ChainFault::Unreadable { line: 1 });
        }
        loaded.events.extend(log.blocks.into_iter().map(|block| block.event));
        part += 1;
    }
    Ok(loaded)
}

/// The faults of all files of a log.
pub(super) fn verify(disk: &dyn Disk, folder: &Path) -> Result<Vec<ChainFault>, Failure> {
    let mut faults = Vec::new();
    let mut part = 1;
    while let Some(LogText { text, is_damaged }) = read_part(disk, folder, part)? {
        faults.extend(SessionLog::read(&text).faults);
        faults.extend(is_damaged.then_some(ChainFault::Unreadable { line: 1 }));
        part += 1;
    }
    Ok(faults)
}

/// Continues from a known end: reads only what was appended since. `None` if the log is not a continuation of it.
pub(super) fn load_since(
    disk: &dyn Disk,
    folder: &Path,
    end: &LogEnd,
    state: SessionState,
) -> Option<LoadedLog> {
    let file = folder.join(part_name(end.part));
    let len = disk.stat(&file).ok()??.len;
    let has_next = disk.stat(&folder.join(part_name(end.part.max(1) + 1))).ok()?.is_some();
    if len < end.len || has_next {
        return None;
    }
    let mut loaded = LoadedLog { state, end: end.clone(), faults: Vec::new(), events: Vec::new() };
    if len == end.len {
        return Some(loaded);
    }
    let (bytes, start) = disk.read_tail(&file, len - end.len).ok()??;
    if start != end.len {
        return None;
    }
    let LogText { text, is_damaged } = LogText::of(bytes);
    let log = SessionLog::read_from(&text, 0, &end.digest);
    if !log.faults.is_empty() || is_damaged {
        return None;
    }
    log.events().for_each(|event| loaded.state.apply(event));
    loaded.end.len += log.torn_at.unwrap_or(text.len()) as u64;
    loaded.end.digest = log.last_digest;
    (loaded.end.seq, loaded.end.turn) = (loaded.state.seq, loaded.state.turn);
    loaded.end.change = log.blocks.last().map_or(loaded.end.change, |last| last.event.change);
    Some(loaded)
}

/// The end of a log, from its last bytes.
pub(super) fn end_of(disk: &dyn Disk, folder: &Path) -> Result<LogEnd, Failure> {
    let mut part = 1;
    while disk.exists(&folder.join(part_name(part + 1))) {
        part += 1;
    }
    let file = folder.join(part_name(part));
    let (bytes, start) = match disk.read_tail(&file, TAIL_BYTES) {
        Ok(Some(tail)) => tail,
        Ok(None) => return Ok(LogEnd { part, ..LogEnd::default() }),
        Err(fault) if is_no_file(disk, &file, &fault) => return whole_end(disk, folder),
        Err(source) => return Err(Failure::io("read", &file, source)),
    };
    let (LogText { text, is_damaged }, start) = LogText::of_tail(bytes, start);
    // The tail may begin within an event; the first whole one is found by its heading.
    let from = if start == 0 { 0 } else { text.find("\n---\n\n## ").unwrap_or(text.len()) };
    let log = SessionLog::read_from(&text, from, "");
    let Some(last) = log.blocks.last().map(|block| &block.event) else { return whole_end(disk, folder) };
    if is_damaged || !log.faults.is_empty() {
        return whole_end(disk, folder);
    }
    Ok(LogEnd {
        part,
        len: start + log.torn_at.unwrap_or(text.len()) as u64,
        seq: last.seq,
        turn: last.turn,
        change: last.change,
        digest: log.last_digest.clone(),
        fault: None,
    })
}

/// The end of a log whose last bytes do not tell it.
fn whole_end(disk: &dyn Disk, folder: &Path) -> Result<LogEnd, Failure> {
    let LoadedLog { end, faults, .. } = load(disk, folder)?;
    Ok(end.after(&faults))
}

impl LogEnd {
    /// After a file that somebody edited, writing continues in a new one.
    pub(super) fn after(self, faults: &[ChainFault]) -> LogEnd {
        let Some(fault) = faults.first() else { return self };
        let fault = Some(format!("{}: {fault}", part_name(self.part)));
        LogEnd { part: self.part.max(1) + 1, len: 0, digest: String::new(), fault, ..self }
    }
}

/// Whether what is appended must survive a power cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Durability {
    Synced,
    /// Can be read again from the transcript.
    Unsynced,
}

/// Appends events. The caller holds the lock of the session root.
pub(super) struct LogAppender<'d> {
    pub(super) disk: &'d dyn Disk,
    /// The session's folder.
    pub(super) folder: PathBuf,
    pub(super) session: &'d str,
    pub(super) now: Timestamp,
}

impl LogAppender<'_> {
    /// Returns the events as they were written.
    pub(super) fn append(
        &self,
        end: &mut LogEnd,
        mut kinds: Vec<EventKind>,
        durability: Durability,
    ) -> Result<Vec<SessionEvent>, Failure> {
        end.part = end.part.max(1);
        if let Some(message) = end.fault.take() {
            kinds.insert(0, EventKind::Warning { code: "LOG_EDITED".to_owned(), message });
        }
        let file = self.folder.join(part_name(end.part));
        let io = |attempt| {
            let file = file.clone();
            move |source| Failure::io(attempt, &file, source)
        };
        let on_disk = self.disk.stat(&file).map_err(io("stat"))?.map_or(0, |stat| stat.len);
        if on_disk > end.len {
            // An event that was not written to its end: its writer was killed.
            self.disk.truncate(&file, end.len).map_err(io("shorten"))?;
        }
        let is_new = end.len == 0;
        let mut text = if is_new { log_header(self.session, self.now) } else { String::new() };
        let (mut last, mut events) = (end.digest.clone(), Vec::new());
        let mut seq = end.seq;
        for kind in kinds {
            // A log that came with a repository may have any number.
            seq = seq.saturating_add(1);
            let event =
                SessionEvent { at: self.now, seq, turn: end.turn, change: end.change, prev: last, kind };
            let block = event.render();
            // The first event of a file includes its header.
            last =
                if is_new && events.is_empty() { digest(&format!("{text}{block}")) } else { digest(&block) };
            text.push_str(&block);
            events.push(event);
        }
        self.disk.append(&file, text.as_bytes()).map_err(io("append to"))?;
        if durability == Durability::Synced {
            self.disk.sync_file(&file).map_err(io("sync"))?;
        }
        if durability == Durability::Synced && is_new {
            self.disk.sync_dir(&self.folder).map_err(io("sync"))?;
        }
        let written = text.len() as u64;
        end.len += written;
        end.digest = last;
        end.seq = seq;
        Ok(events)
    }
}
