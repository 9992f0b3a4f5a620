//! Drafts that a person works on: private, per project, kept until they are saved.

use crate::disk::{Disk, Kind};
use crate::workspace::Failure;
use lorelane_core::forget::{Act, Traces};
use std::fs::{DirBuilder, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Puts a draft into the private folder under a name that nobody else has.
pub fn write(folder: &Path, name: &str, text: &str) -> Result<PathBuf, Failure> {
    make_private(folder).map_err(|source| Failure::io("create", folder, source))?;
    for count in 0.. {
        let path =
            folder.join(if count == 0 { format!("{name}.json") } else { format!("{name}-{count}.json") });
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt;
            options.mode(0o600);
        }
        match options.open(&path) {
            Ok(mut file) => {
                file.write_all(text.as_bytes()).map_err(|source| Failure::io("write", &path, source))?;
                return Ok(path);
            }
            Err(fault) if fault.kind() == std::io::ErrorKind::AlreadyExists && count < 1_000 => {}
            Err(source) => return Err(Failure::io("create", &path, source)),
        }
    }
    unreachable!("the loop ends with a draft or a fault")
}

fn make_private(folder: &Path) -> std::io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt;
        builder.mode(0o700);
    }
    builder.create(folder)
}

/// Runs the editor on a draft and reads what it left.
pub fn edit(editor: &str, draft: &Path) -> Result<String, String> {
    let status = editing(editor, draft)
        .status()
        .map_err(|fault| format!("`{editor}` could not be started: {fault}"))?;
    if !status.success() {
        return Err(format!("`{editor}` ended with {status}"));
    }
    std::fs::read_to_string(draft).map_err(|fault| fault.to_string())
}

/// An editor is a command line (`code --wait`), so a shell takes it apart.
#[cfg(not(windows))]
fn editing(editor: &str, draft: &Path) -> Command {
    let mut command = Command::new("sh");
    command.arg("-c").arg(format!("{editor} \"$1\"")).arg("editor").arg(draft);
    command
}

/// `cmd` has quoting rules of its own: the line goes to it as it stands, inside the outer quotes that `/S` takes off.
#[cfg(windows)]
fn editing(editor: &str, draft: &Path) -> Command {
    use std::os::windows::process::CommandExt;
    let mut command = Command::new("cmd");
    command.raw_arg(format!("/S /C \"{editor} \"{}\"\"", draft.display()));
    command
}

/// Removes the drafts that name a memory or tell of it, and what an editor left beside them.
pub fn forget(disk: &dyn Disk, folder: &Path, traces: &Traces, act: Act) -> Result<usize, Failure> {
    let fault = |attempt| move |source| Failure::io(attempt, folder, source);
    let Some(listed) = disk.list(folder).map_err(fault("list"))? else { return Ok(0) };
    let mut count = 0;
    for file in listed.iter().filter(|listed| listed.kind == Kind::File) {
        let path = folder.join(&file.name);
        let text = disk.read(&path).map_err(fault("read"))?.unwrap_or_default();
        if traces.are_named_in(&file.name) || traces.are_told_in(&String::from_utf8_lossy(&text)) {
            count += 1;
            if act == Act::Purge {
                disk.remove_file(&path).map_err(fault("remove"))?;
            }
        }
    }
    if act == Act::Purge {
        disk.sync_dir(folder).map_err(fault("sync"))?;
    }
    Ok(count)
}

pub fn discard(draft: &Path) {
    // Left behind it does no harm; `status` names its folder.
    let _ = std::fs::remove_file(draft);
}
