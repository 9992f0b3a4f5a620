//! The archive of a session: what was moved or compressed, byte for byte, and the way back.
//!
//! Only files of the session folder are moved. A source file just leaves the set: no source file is ever moved or
//! deleted.

use super::change::required;
use super::read::{FILE_MAX_BYTES, MEMORY};
use super::summarize::SUMMARIES;
use super::{SessionDraft, WorkingSet};
use crate::git;
use crate::workspace::Failure;
use lorelane_core::digest::Revision;
use lorelane_core::path::RelPath;
use lorelane_core::working_set::{
    AdviceDecision, ArchivePointer, ArchivedBytes, EventAuthor, EventKind, HotAdvice, HotManifest,
    MemoryAction, POINTERS_FILE, PostmortemFacts, SetAction, SetEntry, SetManifest, Sidecar, SidecarEdit,
    SidecarStatus, SummaryHead, WorkingSetError, WorkingSetFile, decide, postmortem, with_moved_source,
    with_pointer, without_pointer,
};

const ARCHIVE: &str = "archive";
/// Bytes by their digest.
const OBJECTS: &str = "archive/objects";
const POINTERS_MAX_BYTES: u64 = 8 << 20;
/// Bytes that git has are not copied: `git:COMMIT:PATH`.
const IN_GIT: &str = "git:";
/// The highest number in a name that is taken.
const NAMES_MAX: usize = 1000;

/// What `ws restore` brought back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RestoredFile {
    pub path: String,
    /// Whether its bytes came from the archive; otherwise the file was where it always was.
    pub from_archive: bool,
    /// Where older bytes are kept, if the file changed since it was compressed.
    pub earlier_bytes: Option<String>,
}

/// What the archive says about a file besides its place.
#[derive(Clone, Copy, Debug)]
pub(super) struct ArchiveReason<'r> {
    pub(super) why: &'r str,
    pub(super) superseded_by: Option<&'r str>,
}

impl WorkingSet<'_> {
    /// Where the postmortem of a file is, relative to the session folder.
    pub(super) fn postmortem_place(&self, path: &str) -> String {
        format!("{ARCHIVE}/{}.postmortem.md", self.in_session(path).unwrap_or(path))
    }

    fn bytes_to_keep(&self, path: &str) -> Result<Vec<u8>, Failure> {
        if path.starts_with(MEMORY) {
            let text = self.text_of(path);
            let missing = |_| WorkingSetError::NotFound { attempt: "archive", path: path.to_owned() };
            return Ok(text.map_err(missing)?.into_bytes());
        }
        let missing = |_| WorkingSetError::NotFound { attempt: "archive", path: path.to_owned() };
        Ok(self.bytes_of(path).map_err(missing)?)
    }

    /// Whether a file can be moved to the archive: it is in the session folder, and it can be read.
    pub(super) fn is_movable(&self, path: &str) -> bool {
        let is_inside =
            self.in_session(path).is_some_and(|inside| RelPath::parse(inside).is_ok() && !is_own(inside));
        let stat = || self.workspace.disk.stat(&self.file_of(path)).ok().flatten();
        let is_file =
            |stat: crate::disk::Stat| stat.kind == crate::disk::FileType::File && stat.len <= FILE_MAX_BYTES;
        is_inside && stat().is_some_and(is_file)
    }

    /// Makes sure that bytes can be had again: they are proven to be committed in git, or copied.
    fn draft_bytes(&self, draft: &mut SessionDraft, path: &str, bytes: &[u8]) -> ArchivedBytes {
        let digest = digest(bytes);
        let committed = match path.starts_with(MEMORY) {
            true => None,
            false => git::committed(&self.workspace.project.root, &self.file_of(path), bytes),
        };
        let place = match committed {
            Some(place) => format!("{IN_GIT}{place}"),
            None => {
                let object = format!("{OBJECTS}/{digest}");
                draft.put(object.clone(), bytes);
                object
            }
        };
        ArchivedBytes { place, digest }
    }

    /// Keeps the bytes of a file whose summary takes its place, and notes in its sidecar where they are.
    pub(super) fn draft_compressed(&self, draft: &mut SessionDraft, path: &str) -> Result<(), Failure> {
        let bytes = self.draft_bytes(draft, path, &self.bytes_to_keep(path)?);
        let edit = SidecarEdit {
            status: Some(SidecarStatus::Summarized),
            archived_to: Some((self.shown_place(&bytes.place), self.workspace.now)),
            archived_bytes: Some(bytes),
            ..SidecarEdit::default()
        };
        self.edit_sidecar(draft, path, &edit)
    }

    /// A place of bytes as people can find it from the project.
    fn shown_place(&self, place: &str) -> String {
        if place.starts_with(IN_GIT) { place.to_owned() } else { self.path_in_project(place) }
    }

    /// Moves a session file into the archive. Its sidecar stays and says where it is, a pointer and a tombstone too,
    /// and its summaries link the new place.
    pub(super) fn draft_archived(
        &self,
        draft: &mut SessionDraft,
        path: &str,
        reason: ArchiveReason<'_>,
    ) -> Result<(), Failure> {
        let Some(inside) = self.in_session(path).map(str::to_owned) else { return Ok(()) };
        let bytes = self.bytes_to_keep(path)?;
        let kept = self.draft_bytes(draft, path, &bytes);
        let is_free =
            |name: &String| !draft.files.contains_key(name) && !self.workspace.disk.exists(&self.path(name));
        let moved = numbered(&format!("{ARCHIVE}/{inside}"), is_free);
        draft.put(moved.clone(), bytes);
        draft.files.insert(inside.clone(), None);
        let edit = SidecarEdit {
            status: Some(SidecarStatus::Archived),
            archived_to: Some((self.path_in_project(&moved), self.workspace.now)),
            archived_bytes: Some(kept.clone()),
            superseded_by: reason.superseded_by.map(str::to_owned),
            ..SidecarEdit::default()
        };
        self.edit_sidecar(draft, path, &edit)?;
        self.draft_moved_links(draft, path, &self.path_in_project(&moved))?;
        let postmortem = self.postmortem_place(path);
        let is_known =
            draft.files.contains_key(&postmortem) || self.workspace.disk.exists(&self.path(&postmortem));
        let summary = self.state.files.get(path).and_then(|file| file.summary.clone());
        let pointer = ArchivePointer {
            path: &inside,
            to: &moved,
            bytes_in: &kept.place,
            why: reason.why,
            at: self.workspace.now,
            summary: summary.as_deref(),
            superseded_by: reason.superseded_by,
            postmortem: is_known.then_some(postmortem.as_str()),
        };
        draft.put(tombstone_place(&inside), pointer.tombstone(path));
        self.edit_pointers(draft, |text| with_pointer(text, &pointer))
    }

    fn edit_pointers(
        &self,
        draft: &mut SessionDraft,
        edit: impl FnOnce(&str) -> Option<String>,
    ) -> Result<(), Failure> {
        let drafted = draft.files.get(POINTERS_FILE).cloned().flatten();
        let path = self.path(POINTERS_FILE);
        let on_disk = self.workspace.disk.read_regular(&path, POINTERS_MAX_BYTES);
        let on_disk = on_disk.map_err(|source| Failure::io("read", &path, source))?;
        let text = String::from_utf8_lossy(&drafted.or(on_disk).unwrap_or_default()).into_owned();
        let unwritable = || WorkingSetError::Unwritable { file: POINTERS_FILE.to_owned() };
        draft.put(POINTERS_FILE, edit(&text).ok_or_else(unwritable)?);
        Ok(())
    }

    /// Every summary of a moved file names its new place.
    fn draft_moved_links(&self, draft: &mut SessionDraft, from: &str, to: &str) -> Result<(), Failure> {
        let folder = self.path(SUMMARIES);
        let listed =
            self.workspace.disk.list(&folder).map_err(|source| Failure::io("list", &folder, source))?;
        let on_disk =
            listed.unwrap_or_default().into_iter().map(|entry| format!("{SUMMARIES}/{}", entry.name));
        let drafted = draft.files.iter().filter(|(_, bytes)| bytes.is_some()).map(|(path, _)| path.clone());
        let mut names: Vec<String> =
            on_disk.chain(drafted.filter(|path| path.starts_with(SUMMARIES))).collect();
        names.retain(|name| name.ends_with(".md"));
        names.sort();
        names.dedup();
        for name in names {
            let text = match draft.files.get(&name) {
                Some(bytes) => bytes.as_ref().and_then(|bytes| String::from_utf8(bytes.clone()).ok()),
                None => self.summary_text(&self.path_in_project(&name)),
            };
            let Some(text) = text else { continue };
            let names_it = |head: SummaryHead| head.sources.iter().any(|source| source.path == from);
            if SummaryHead::read(&text).is_some_and(names_it) {
                let moved = with_moved_source(&text, from, to, &self.way_to_project(&name));
                draft.put(name, moved);
            }
        }
        Ok(())
    }

    /// Writes the postmortem of a failed attempt within a change.
    pub(super) fn draft_postmortem(&self, draft: &mut SessionDraft, path: &str, text: &str, why: &str) {
        let file = self.state.files.get(path).cloned().unwrap_or_default();
        let facts = PostmortemFacts {
            path,
            why,
            entered_turn: file.entered_turn,
            turn: self.state.turn,
            touches: file.touches,
        };
        let place = self.postmortem_place(path);
        let text = postmortem(text, &facts);
        // What an earlier attempt taught stays.
        let earlier = self.workspace.disk.read_regular(&self.path(&place), FILE_MAX_BYTES).ok().flatten();
        let text = match earlier.and_then(|bytes| String::from_utf8(bytes).ok()) {
            Some(earlier) if !earlier.contains(text.trim()) => format!("{}\n\n{earlier}", text.trim_end()),
            Some(earlier) => earlier,
            None => text,
        };
        draft.put(place, text);
    }

    /// Brings a file back into the set with the entry it had, and its bytes if they were archived.
    pub fn restore(&mut self, path: &str, by: EventAuthor, why: &str) -> Result<RestoredFile, Failure> {
        required("restore", why)?;
        self.commit(&format!("ws restore {path}: {why}"), |set, draft| {
            set.draft_restored(draft, path, by, why)
        })
    }

    fn draft_restored(
        &self,
        draft: &mut SessionDraft,
        path: &str,
        by: EventAuthor,
        why: &str,
    ) -> Result<RestoredFile, Failure> {
        let restored = self.draft_restored_bytes(draft, path)?;
        let known = self.state.files.get(path);
        let last = known.and_then(|file| file.entry.clone().or(file.last_entry.clone()));
        let entry = last.unwrap_or_else(|| SetEntry::new(path, SetEntry::PRIORITY));
        self.edit_manifest(draft, WorkingSetFile::Set, |text| SetManifest::with_entry(text, &entry))?;
        self.draft_sidecar(draft, path, by)?;
        let update = |action, why: &str, files, paths| EventKind::WorkingSetUpdate {
            action,
            by,
            why: why.to_owned(),
            files,
            paths,
            max_tokens: None,
        };
        draft.events.push(update(SetAction::Restore, why, vec![entry], Vec::new()));
        if let Some(summary) = self.stand_in_of(path) {
            self.edit_manifest(draft, WorkingSetFile::Set, |text| SetManifest::without(text, &summary))?;
            draft.events.push(update(
                SetAction::Remove,
                "the compressed file is back",
                Vec::new(),
                vec![summary],
            ));
        }
        Ok(restored)
    }

    /// The summary in the set that stands for a compressed file.
    fn stand_in_of(&self, path: &str) -> Option<String> {
        let is_compressed = self.sidecar(path)?.archived_bytes.is_some();
        let summary = self.state.files.get(path)?.summary.clone()?;
        let is_loose = |file: &lorelane_core::working_set::FileState| file.entry.is_some() && !file.pinned;
        let is_in_set = self.state.files.get(&summary).is_some_and(is_loose);
        (is_compressed && is_in_set).then_some(summary)
    }

    /// Puts archived bytes back where they were, if the file is gone.
    fn draft_restored_bytes(&self, draft: &mut SessionDraft, path: &str) -> Result<RestoredFile, Failure> {
        let mut restored = RestoredFile { path: path.to_owned(), from_archive: false, earlier_bytes: None };
        let sidecar = self.sidecar(path);
        let kept = sidecar.as_ref().and_then(|sidecar| sidecar.archived_bytes.clone());
        if path.starts_with(MEMORY) || self.workspace.disk.exists(&self.file_of(path)) {
            let Some(kept) = kept else { return Ok(restored) };
            let is_same = self.bytes_to_keep(path).is_ok_and(|bytes| digest(&bytes) == kept.digest);
            restored.earlier_bytes = (!is_same).then(|| self.shown_place(&kept.place));
            // Bytes that are nowhere else stay known.
            let edit = SidecarEdit {
                status: Some(SidecarStatus::Active),
                restored: is_same,
                ..SidecarEdit::default()
            };
            self.edit_sidecar(draft, path, &edit)?;
            return Ok(restored);
        }
        let not_archived = || WorkingSetError::NotArchived { path: path.to_owned() };
        let (sidecar, kept) = sidecar.zip(kept).ok_or_else(not_archived)?;
        let Some(inside) = self.in_session(path).map(str::to_owned) else {
            let copy = self.shown_place(&kept.place);
            return Err(WorkingSetError::SourceGone { path: path.to_owned(), copy }.into());
        };
        let moved = self.moved_to(&sidecar);
        draft.put(inside.clone(), self.archived_bytes(path, &kept, moved.as_deref())?);
        let edit =
            SidecarEdit { status: Some(SidecarStatus::Active), restored: true, ..SidecarEdit::default() };
        self.edit_sidecar(draft, path, &edit)?;
        if let Some(moved) = moved {
            self.draft_moved_links(draft, &self.path_in_project(&moved), path)?;
            // Somebody may have edited it there: that stays.
            let in_archive = self.bytes_to_keep(&self.path_in_project(&moved));
            if in_archive.is_ok_and(|bytes| digest(&bytes) == kept.digest) {
                draft.files.insert(moved, None);
            }
        }
        let tombstone = tombstone_place(&inside);
        if self.workspace.disk.exists(&self.path(&tombstone)) {
            draft.files.insert(tombstone, None);
        }
        if self.workspace.disk.exists(&self.path(POINTERS_FILE)) {
            self.edit_pointers(draft, |text| without_pointer(text, &inside))?;
        }
        restored.from_archive = true;
        Ok(restored)
    }

    /// Where an archived file was moved, relative to the session folder. A sidecar may say anything.
    fn moved_to(&self, sidecar: &Sidecar) -> Option<String> {
        let inside = self.in_session(sidecar.archived_to.as_deref()?)?;
        let is_archive =
            inside.starts_with(&format!("{ARCHIVE}/")) && !inside.starts_with(&format!("{OBJECTS}/"));
        (is_archive && RelPath::parse(inside).is_ok()).then(|| inside.to_owned())
    }

    /// The bytes with the digest that was noted, from wherever they still are.
    fn archived_bytes(
        &self,
        path: &str,
        kept: &ArchivedBytes,
        moved: Option<&str>,
    ) -> Result<Vec<u8>, Failure> {
        let read = |inside: &str| {
            RelPath::parse(inside).ok()?;
            self.workspace.disk.read_regular(&self.path(inside), FILE_MAX_BYTES).ok().flatten()
        };
        let of_place = || match kept.place.strip_prefix(IN_GIT) {
            Some(place) => git::bytes_at(&self.workspace.project.root, place),
            None => read(&kept.place),
        };
        let is_right = |bytes: &Vec<u8>| digest(bytes) == kept.digest;
        let found = moved.and_then(read).filter(is_right).or_else(|| of_place().filter(is_right));
        let damaged = || WorkingSetError::ArchiveDamaged {
            path: path.to_owned(),
            places: [moved.unwrap_or_default(), &kept.place].join(" ").trim().to_owned(),
        };
        found.ok_or_else(|| damaged().into())
    }

    /// Brings back what a collection took out and what was used since, with the entries those files had. A file that
    /// the rules promote is on the hot list then. Returns the paths.
    pub fn readmit(&mut self) -> Result<Vec<String>, Failure> {
        let wanted = |set: &WorkingSet<'_>| -> Vec<String> {
            let files = set.state.files.iter();
            files.filter(|(_, file)| file.wanted).map(|(path, _)| path.clone()).collect()
        };
        let named = wanted(self);
        if named.is_empty() {
            return Ok(named);
        }
        let (by, why) = (EventAuthor::Orchestrator, "used again after it left the set");
        self.commit(&format!("ws return {}", named.join(", ")), |set, draft| {
            let mut returned = Vec::new();
            for path in wanted(set) {
                match set.draft_restored(draft, &path, by, why) {
                    Ok(_) => returned.push(path),
                    // A file that was deleted since does not come back.
                    Err(failure) => {
                        set.warnings.push(failure.to_string());
                        let (action, why) = (SetAction::Remove, failure.to_string());
                        let (files, paths, max_tokens) = (Vec::new(), vec![path], None);
                        draft.events.push(EventKind::WorkingSetUpdate {
                            action,
                            by,
                            why,
                            files,
                            paths,
                            max_tokens,
                        });
                    }
                }
            }
            set.draft_promotions(draft, &returned, why)?;
            Ok(returned)
        })
    }

    /// Files that the rules promote get on the hot list.
    pub(super) fn draft_promotions(
        &self,
        draft: &mut SessionDraft,
        paths: &[String],
        why: &str,
    ) -> Result<(), Failure> {
        let (mut hot, mut memory_actions) = (Vec::new(), Vec::new());
        for path in paths {
            let Some(file) = self.state.files.get(path) else { continue };
            let decision = decide(&self.advice_facts(path, file));
            let Some(decision @ AdviceDecision::PromotedToHot(_)) = decision else { continue };
            let advice = HotAdvice { path: path.clone(), why: why.to_owned(), weight: 1.0 };
            let since = self.workspace.now;
            self.edit_manifest(draft, WorkingSetFile::Hot, |text| {
                HotManifest::with(text, &advice, file, since)
            })?;
            hot.push(advice);
            memory_actions.push(MemoryAction {
                path: path.clone(),
                model_suggested: None,
                action_taken: decision.action_taken().to_owned(),
                reason: decision.reason().map(str::to_owned),
            });
        }
        if !hot.is_empty() {
            let (cold, dropped) = (Vec::new(), Vec::new());
            let by = EventAuthor::Orchestrator;
            let why = why.to_owned();
            draft.events.push(EventKind::CacheAdvice { by, why, hot, cold, dropped, memory_actions });
        }
        Ok(())
    }
}

fn digest(bytes: &[u8]) -> String {
    match Revision::of(bytes) {
        Revision::Blake3(digest) | Revision::Md5(digest) => digest,
    }
}

fn tombstone_place(inside: &str) -> String {
    format!("{inside}.tombstone.md")
}

/// The name, or the first free one with a number behind it.
/// Whether a session file is part of how a session works: moving it would lose what it says about others.
fn is_own(inside: &str) -> bool {
    inside.starts_with(&format!("{ARCHIVE}/"))
        || inside.starts_with("meta/")
        || inside.ends_with(".meta.yml")
        || inside == POINTERS_FILE
        || WorkingSetFile::ALL.iter().any(|file| file.name() == inside)
}

fn numbered(name: &str, is_free: impl Fn(&String) -> bool) -> String {
    let names =
        std::iter::once(name.to_owned()).chain((2..NAMES_MAX).map(|number| format!("{name}.{number}")));
    names.into_iter().find(|name| is_free(name)).unwrap_or_else(|| name.to_owned())
}
