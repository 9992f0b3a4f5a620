//! Plans what `setup` changes, from each file as it was before, as we wrote it, and as it is now.

use super::clients::{self, Installable, ServerCall};
use super::record::{InstalledFile, Record, digest};
use super::settings::{self, SettingsFault};
use super::{Client, FileStep, Setup, SetupError, SetupExtra, SetupMode, SetupPlan};
use crate::disk::Disk;
use lorelane_core::json::{EntryFault, Grammar, JsonDocument, NodeKind, OwnedEntry, Trace};
use std::path::Path;

impl SetupPlan {
    fn leave_changed(&mut self, path: &Path) {
        self.left.push(format!("{} was edited since lorelane wrote it", path.display()));
    }
}

impl Setup {
    /// Plans an installation or a removal. Changes nothing. What an earlier setup was asked for in addition stays.
    pub fn plan(&self, client: Client, aim: SetupMode, with: &[SetupExtra]) -> Result<SetupPlan, SetupError> {
        let old = Record::read(&self.disk, &self.agents, client.name())?;
        let mut wanted = old.as_ref().map(|old| old.with.clone()).unwrap_or_default();
        wanted.extend(with);
        wanted.sort_unstable();
        wanted.dedup();
        let parts = self.parts(client, &wanted)?;
        let mut plan = SetupPlan {
            client,
            aim,
            steps: Vec::new(),
            left: Vec::new(),
            warnings: Vec::new(),
            record: Record { program: self.program.clone(), with: wanted, ..Record::default() },
            old,
        };
        for part in &parts {
            self.plan_part(&mut plan, part)?;
        }
        self.plan_orphans(&mut plan, &parts)?;
        self.plan_folders(&mut plan);
        Ok(plan)
    }

    fn parts(&self, client: Client, with: &[SetupExtra]) -> Result<Vec<Installable>, SetupError> {
        let folder = clients::folder(client, &self.env).ok_or(SetupError::NoHome)?;
        let program = self.program.to_string_lossy();
        let args: &[&str] = match with.contains(&SetupExtra::WorkingSet) {
            true => &["mcp", "--profile", "agent,working-set"],
            false => &["mcp"],
        };
        Ok(clients::parts(client, &folder, &self.agents, ServerCall { program: &program, args }))
    }

    fn plan_part(&self, plan: &mut SetupPlan, part: &Installable) -> Result<(), SetupError> {
        let path = part.path();
        let now = self.read(path)?;
        let kept = plan.old.as_ref().and_then(|old| old.of(path)).cloned();
        let after = match (part, plan.aim) {
            (Installable::Whole { text, .. }, SetupMode::Install) => {
                let keep = install_whole(path, now.as_deref(), kept, text)?;
                plan.record.files.push(keep);
                Some(text.clone().into_bytes())
            }
            (Installable::Whole { text, .. }, SetupMode::Remove) => match (kept, &now) {
                (Some(kept), Some(_)) if !kept.is_as_written(now.as_deref()) => {
                    plan.leave_changed(path);
                    now.clone()
                }
                (Some(kept), _) => kept.before,
                (None, Some(now)) if !is_ours(now, text) => Some(now.clone()),
                (None, _) => None,
            },
            (Installable::Entries { entries, .. }, SetupMode::Install) => {
                let are_others = plan.old.as_ref().is_some_and(|old| old.with != plan.record.with);
                let (after, keep) =
                    install_entries(path, now.as_deref(), kept.as_ref(), entries, are_others)?;
                plan.record.files.push(keep);
                if let Some(spoiler) = now.as_deref().and_then(|now| spoiler(plan.client, path, now)) {
                    plan.warnings.push(spoiled(plan.client, path, spoiler));
                }
                after
            }
            (Installable::Entries { entries, .. }, SetupMode::Remove) => {
                without_ours(path, now.as_deref(), kept.as_ref(), entries)?
            }
            // The client's own state has entries about lorelane only if something was installed.
            (Installable::Trail { entries, .. }, SetupMode::Remove)
                if plan.old.is_some() || !plan.steps.is_empty() =>
            {
                let taken = Trace { added: true, ..Trace::default() };
                take(path, now.as_deref(), entries, Some(&vec![taken; entries.len()]))?
            }
            (Installable::Trail { .. }, _) => now.clone(),
        };
        if after != now {
            plan.steps.push(self.step(path, now, after));
        }
        Ok(())
    }

    fn step(&self, path: &Path, before: Option<Vec<u8>>, after: Option<Vec<u8>>) -> FileStep {
        let within = path.starts_with(&self.agents).then(|| self.agents.clone());
        FileStep { path: path.to_owned(), within, before, after }
    }

    /// Plans the removal of files that an older version installed and this one does not.
    fn plan_orphans(&self, plan: &mut SetupPlan, parts: &[Installable]) -> Result<(), SetupError> {
        let Some(old) = plan.old.clone() else { return Ok(()) };
        for kept in old.files.iter().filter(|kept| !parts.iter().any(|part| part.path() == kept.path)) {
            let now = self.read(&kept.path)?;
            if kept.entries.is_empty() && now.is_some() && !kept.is_as_written(now.as_deref()) {
                plan.leave_changed(&kept.path);
                continue;
            }
            let after = without_ours(&kept.path, now.as_deref(), Some(kept), &[])?;
            if after != now {
                plan.steps.push(self.step(&kept.path, now, after));
            }
        }
        Ok(())
    }

    /// Records the folders that will be created, beside those created before.
    fn plan_folders(&self, plan: &mut SetupPlan) {
        let mut folders = plan.old.as_ref().map(|old| old.folders.clone()).unwrap_or_default();
        let written = plan.record.files.iter().map(|kept| kept.path.as_path());
        let notes = self.agents.join("backups/any");
        for file in written.chain([notes.as_path()]) {
            let above = file.ancestors().skip(1);
            let missing: Vec<&Path> = above.take_while(|folder| !self.disk.exists(folder)).collect();
            for folder in missing.into_iter().rev() {
                if !folders.iter().any(|known| known == folder) {
                    folders.push(folder.to_owned());
                }
            }
        }
        plan.record.folders = folders;
    }
}

pub(super) fn text_of(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok()
}

fn readable<'b>(path: &Path, bytes: &'b [u8]) -> Result<&'b str, SetupError> {
    text_of(bytes)
        .ok_or_else(|| SetupError::Broken { path: path.to_owned(), why: "it is not UTF-8".to_owned() })
}

fn refused(path: &Path, fault: &SettingsFault) -> SetupError {
    let (path, why) = (path.to_owned(), fault.to_string());
    match fault {
        SettingsFault::Entry(EntryFault::Taken { .. }) => SetupError::Foreign { path, why },
        _ => SetupError::Broken { path, why },
    }
}

fn take(
    path: &Path,
    now: Option<&[u8]>,
    entries: &[OwnedEntry],
    traces: Option<&[Trace]>,
) -> Result<Option<Vec<u8>>, SetupError> {
    let Some(now) = now else { return Ok(None) };
    let text = readable(path, now)?;
    let text = settings::take(path, text, entries, traces).map_err(|fault| refused(path, &fault))?;
    Ok(Some(text.into_bytes()))
}

/// The file without our entries; its backup if it is still as we wrote it.
fn without_ours(
    path: &Path,
    now: Option<&[u8]>,
    kept: Option<&InstalledFile>,
    entries: &[OwnedEntry],
) -> Result<Option<Vec<u8>>, SetupError> {
    let Some(kept) = kept else { return take(path, now, entries, None) };
    if kept.is_as_written(now) {
        return Ok(kept.before.clone());
    }
    let (entries, traces): (Vec<OwnedEntry>, Vec<Trace>) = kept.entries.iter().cloned().unzip();
    let left = take(path, now, &entries, Some(&traces))?;
    // If we created the file and only an empty object is left, it is removed again.
    let began = kept.before.as_deref().is_none_or(|before| text_of(before).is_some_and(is_blank));
    let unused =
        left.as_deref().and_then(text_of).is_some_and(|left| is_blank(left) || is_empty_object(left));
    Ok(if began && unused { kept.before.clone() } else { left })
}

fn is_blank(text: &str) -> bool {
    text.trim_start_matches('\u{feff}').trim().is_empty()
}

fn is_empty_object(text: &str) -> bool {
    let text = text.trim_start_matches('\u{feff}').trim();
    let empty = |kind: &NodeKind| matches!(kind, NodeKind::Object(members) if members.is_empty());
    JsonDocument::parse(text).is_ok_and(|document| empty(&document.root.kind))
}

/// Plans a file of our own. Any other file with its name is an error and is not overwritten.
fn install_whole(
    path: &Path,
    now: Option<&[u8]>,
    kept: Option<InstalledFile>,
    text: &str,
) -> Result<InstalledFile, SetupError> {
    if kept.is_none() && now.is_some_and(|now| !is_ours(now, text)) {
        let why = "it already exists, and lorelane did not write it".to_owned();
        return Err(SetupError::Foreign { path: path.to_owned(), why });
    }
    let before = kept.and_then(|kept| kept.before);
    Ok(InstalledFile { path: path.to_owned(), before, wrote: digest(text.as_bytes()), entries: Vec::new() })
}

/// Our files in other programs' folders begin with a comment, so that they are recognised without a record.
fn is_ours(now: &[u8], text: &str) -> bool {
    let says_so = |now: &str| now.starts_with("// Installed by `lorelane setup");
    now == text.as_bytes() || text_of(now).is_some_and(says_so)
}

/// Plans entries in a settings file. A file that has every entry stays as it is, wherever its user moved them, unless
/// other entries are asked for than before.
fn install_entries(
    path: &Path,
    now: Option<&[u8]>,
    kept: Option<&InstalledFile>,
    entries: &[OwnedEntry],
    are_others: bool,
) -> Result<(Option<Vec<u8>>, InstalledFile), SetupError> {
    let held = !are_others && now.and_then(text_of).is_some_and(|now| settings::holds(path, now, entries));
    if let Some(kept) = kept.filter(|_| held) {
        return Ok((now.map(<[u8]>::to_vec), kept.clone()));
    }
    let before = without_ours(path, now, kept, entries)?;
    let text = readable(path, before.as_deref().unwrap_or_default())?;
    let (text, traces) = settings::add(path, text, entries).map_err(|fault| refused(path, &fault))?;
    let after = text.into_bytes();
    let entries = entries.iter().cloned().zip(traces).collect();
    let keep = InstalledFile { path: path.to_owned(), before, wrote: digest(&after), entries };
    Ok((Some(after), keep))
}

/// What makes a client silently ignore a whole settings file. Measured with the real clients: only Gemini
/// accepts comments, none accepts a trailing comma, and Codex accepts no byte order mark. opencode and Zed
/// document that they accept both.
pub(super) fn spoiler(client: Client, path: &Path, bytes: &[u8]) -> Option<&'static str> {
    let strict = path.extension().is_some_and(|extension| extension == "json");
    if !strict || matches!(client, Client::Opencode | Client::Zed) {
        return None;
    }
    let text = text_of(bytes)?;
    let body = text.strip_prefix('\u{feff}').unwrap_or(text);
    let reads = |grammar| JsonDocument::parse_as(body, grammar).is_ok();
    if client == Client::Codex && body.len() < text.len() {
        Some("a byte order mark")
    } else if reads(Grammar::Strict) {
        None
    } else if reads(Grammar::Commented) {
        Some("comments").filter(|_| client != Client::Gemini)
    } else {
        Some("a trailing comma").filter(|_| reads(Grammar::Lenient))
    }
}

pub(super) fn spoiled(client: Client, path: &Path, spoiler: &str) -> String {
    let (path, name) = (path.display(), client.name());
    format!("{path} has {spoiler}, so {name} ignores all of it, including your own settings")
}
