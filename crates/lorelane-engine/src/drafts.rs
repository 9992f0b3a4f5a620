//! Drafts for an editor: private, per project, kept until they are saved.

use crate::disk::{Disk, FileType, RealDisk};
use crate::failure::Failure;
use lorelane_core::forget::{EraseMode, Traces};
use lorelane_core::memory::Address;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Separates the memory's name from the number of a further draft. With a dash it would be another memory's draft.
const NUMBERED: char = '~';

/// Writes a draft into the private folder under an unused name.
pub fn write(folder: &Path, name: &str, text: &str) -> Result<PathBuf, Failure> {
    RealDisk.create_private_dir_all(folder).map_err(|source| Failure::io("create", folder, source))?;
    let name = stem(name);
    for count in 0.. {
        let number = if count == 0 { String::new() } else { format!("{NUMBERED}{count}") };
        let path = folder.join(format!("{name}{number}.json"));
        match RealDisk.create_new(&path, text.as_bytes(), Some(0o600)) {
            Ok(()) => return Ok(path),
            Err(fault) if fault.kind() == ErrorKind::AlreadyExists && count < 1_000 => {}
            Err(source) => return Err(Failure::io("create", &path, source)),
        }
    }
    unreachable!("the loop ends with a draft or a fault")
}

/// A note's name may have folders; drafts share one folder.
fn stem(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

/// Runs the editor on a draft and reads the result.
pub fn edit(editor: &str, draft: &Path) -> Result<String, String> {
    let status =
        editing(editor, draft).status().map_err(|fault| format!("`{editor}` failed to start: {fault}"))?;
    if !status.success() {
        return Err(format!("`{editor}` exited with {status}"));
    }
    let bytes = RealDisk.read(draft).map_err(|fault| fault.to_string())?.ok_or("the draft is gone")?;
    String::from_utf8(bytes).map_err(|fault| fault.to_string())
}

/// An editor is a command line (`code --wait`), so a shell parses it.
#[cfg(not(windows))]
fn editing(editor: &str, draft: &Path) -> Command {
    let mut command = Command::new("sh");
    command.arg("-c").arg(format!("{editor} \"$1\"")).arg("editor").arg(draft);
    command
}

/// `cmd` has its own quoting rules: it gets the line verbatim, inside the outer quotes that `/S` strips.
#[cfg(windows)]
fn editing(editor: &str, draft: &Path) -> Command {
    use std::os::windows::process::CommandExt;
    let mut command = Command::new("cmd");
    command.raw_arg(format!("/S /C \"{editor} \"{}\"\"", draft.display()));
    command
}

/// Removes the drafts of a memory, drafts that mention it, and the files an editor left beside them.
pub fn forget(disk: &dyn Disk, folder: &Path, traces: &Traces, act: EraseMode) -> Result<usize, Failure> {
    let fault = |attempt| move |source| Failure::io(attempt, folder, source);
    let Some(listed) = disk.list(folder).map_err(fault("list"))? else { return Ok(0) };
    let mut count = 0;
    for file in listed.iter().filter(|listed| listed.kind == FileType::File) {
        let path = folder.join(&file.name);
        let text = disk.read(&path).map_err(fault("read"))?.unwrap_or_default();
        let is_its_draft = traces.addresses.iter().any(|address| is_draft_of(&file.name, address));
        if is_its_draft
            || traces.are_named_in(&file.name)
            || traces.are_told_in(&String::from_utf8_lossy(&text))
        {
            count += 1;
            if act == EraseMode::Purge {
                disk.remove_file(&path).map_err(fault("remove"))?;
            }
        }
    }
    if act == EraseMode::Purge {
        disk.sync_dir(folder).map_err(fault("sync"))?;
    }
    Ok(count)
}

/// Whether a file is a draft of a memory. An editor may have added characters around the name (`.x.json.swp`,
/// `x.json~`).
fn is_draft_of(file_name: &str, address: &Address) -> bool {
    let stem = stem(address.name());
    file_name.match_indices(stem).any(|(at, _)| {
        let (before, after) = (&file_name[..at], &file_name[at + stem.len()..]);
        let begins = !before.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '-' | '_'));
        begins && (after.starts_with(".json") || after.starts_with(NUMBERED))
    })
}

pub fn discard(draft: &Path) {
    // Best effort: a leftover draft does no harm, and `status` names its folder.
    let _ = RealDisk.remove_file(draft);
}

#[cfg(test)]
mod tests {
    use super::*;

    // The draft of a note with a one-word name was never found.
    #[test]
    fn a_draft_is_known_by_its_name_and_not_taken_for_that_of_another() {
        let table = [
            ("quokka", "quokka.json", true),
            ("plans/quokka", "quokka.json", true),
            ("quokka", "quokka~1.json", true),
            ("quokka", ".quokka.json.swp", true),
            ("quokka", "quokka.json~", true),
            ("quokka", "quokka-1.json", false),
            ("quokka", "my-quokka.json", false),
            ("quokka", "quokkas.json", false),
        ];
        for (name, file, expected) in table {
            assert_eq!(is_draft_of(file, &Address::note(name).unwrap()), expected, "{name}: {file}");
        }
    }
}
