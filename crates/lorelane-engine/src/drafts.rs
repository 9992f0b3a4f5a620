//! Drafts that a person works on: private, per project, kept until they are saved.

use crate::workspace::Failure;
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

pub fn discard(draft: &Path) {
    // Left behind it does no harm; `status` names its folder.
    let _ = std::fs::remove_file(draft);
}
