//! A scratch project with its own home, so that a run never touches the user's memories.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::failure::Failure;

/// Removed with everything in it when dropped, unless it is kept.
#[derive(Debug)]
pub struct Sandbox {
    folder: PathBuf,
    kept: bool,
}

impl Sandbox {
    /// With a folder for memories, as after `init`.
    pub fn new(purpose: &str) -> Result<Sandbox, Failure> {
        let sandbox = Sandbox::empty(purpose)?;
        let records = sandbox.records();
        fs::create_dir_all(&records).map_err(|error| Failure::on("create", &records, error))?;
        Ok(sandbox)
    }

    /// A home and a project with nothing in them.
    pub fn empty(purpose: &str) -> Result<Sandbox, Failure> {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("lorelane-{purpose}-{}-{count}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        // Not recursive: an existing folder is an error, not shared.
        let mut builder = fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&folder).map_err(|error| Failure::on("create", &folder, error))?;
        let sandbox = Sandbox { folder, kept: false };
        for inner in [sandbox.project(), sandbox.home()] {
            fs::create_dir_all(&inner).map_err(|error| Failure::on("create", &inner, error))?;
        }
        Ok(sandbox)
    }

    pub fn project(&self) -> PathBuf {
        self.folder.join("project")
    }

    /// The root of the records lane.
    pub fn records(&self) -> PathBuf {
        self.project().join(".claude/memory")
    }

    /// A place for drafts and logs, outside the project.
    pub fn scratch(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Removes what earlier sessions left in the inbox.
    pub fn remove_captures(&self) -> Result<(), Failure> {
        let projects = self.home().join("state/lorelane/projects");
        let Ok(found) = fs::read_dir(&projects) else { return Ok(()) };
        for project in found.flatten() {
            let captures = project.path().join("captures");
            if captures.exists() {
                fs::remove_dir_all(&captures).map_err(|error| Failure::on("remove", &captures, error))?;
            }
        }
        Ok(())
    }

    /// `<binary> -C <project> <args>`, with nothing of the user's environment but `PATH` and `TMPDIR`.
    pub fn command(&self, binary: &Path, args: &[&str]) -> Command {
        let mut command = self.bare(binary);
        command.arg("-C").arg(self.project()).args(args);
        command
    }

    /// `<binary>` without arguments, in the same environment.
    pub fn bare(&self, binary: &Path) -> Command {
        let mut command = Command::new(binary);
        command.env_clear().current_dir(&self.folder).env("HOME", self.home());
        for (name, folder) in [
            ("XDG_CONFIG_HOME", "config"),
            ("XDG_CACHE_HOME", "cache"),
            ("XDG_DATA_HOME", "data"),
            ("XDG_STATE_HOME", "state"),
            ("XDG_RUNTIME_DIR", "run"),
        ] {
            command.env(name, self.home().join(folder));
        }
        // Transcripts are read only below the home or the temporary folder, and the sandbox is in the latter.
        for name in ["PATH", "TMPDIR"] {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        command
    }

    pub fn home(&self) -> PathBuf {
        self.folder.join("home")
    }

    /// The folder with everything in it.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Keeps the folder for inspection.
    pub fn keep(&mut self) {
        self.kept = true;
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        if self.kept {
            return;
        }
        // Best effort: a leftover in the temporary folder must not fail a run.
        let _ = fs::remove_dir_all(&self.folder);
    }
}
