//! Time, working directory and variables at process start, captured once and passed on as a value.

use lorelane_core::policy::NOTES_ROOT;
use lorelane_core::time::Timestamp;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

#[derive(Clone, Debug)]
pub struct Env {
    pub now: Timestamp,
    pub cwd: PathBuf,
    pub vars: BTreeMap<String, String>,
}

/// The environment variables lorelane reads. `main` captures these and no others.
macro_rules! variables {
    ($($variable:ident = $name:literal,)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Var { $($variable),* }

        impl Var {
            pub const ALL: &[Var] = &[$(Var::$variable),*];

            pub fn name(self) -> &'static str {
                match self { $(Var::$variable => $name),* }
            }
        }
    };
}

variables! {
    Home = "HOME",
    UserProfile = "USERPROFILE",
    AppData = "APPDATA",
    LocalAppData = "LOCALAPPDATA",
    XdgConfigHome = "XDG_CONFIG_HOME",
    XdgCacheHome = "XDG_CACHE_HOME",
    XdgStateHome = "XDG_STATE_HOME",
    XdgDataHome = "XDG_DATA_HOME",
    LorelaneHome = "LORELANE_HOME",
    LorelaneNow = "LORELANE_NOW",
    LorelaneHookDeadlineMs = "LORELANE_HOOK_DEADLINE_MS",
    LorelaneStopUnattended = "LORELANE_STOP_UNATTENDED",
    LorelaneMcpToken = "LORELANE_MCP_TOKEN",
    LorelaneHttpDeadlineMs = "LORELANE_HTTP_DEADLINE_MS",
    ClaudeCodeSessionAttended = "CLAUDE_CODE_SESSION_ATTENDED",
    ClaudeCodeEntrypoint = "CLAUDE_CODE_ENTRYPOINT",
    ClaudeProjectDir = "CLAUDE_PROJECT_DIR",
    ClaudeConfigDir = "CLAUDE_CONFIG_DIR",
    ClaudeCodeProjectDirName = "CLAUDE_CODE_PROJECT_DIR_NAME",
    ClaudeCodeDisableAutoMemory = "CLAUDE_CODE_DISABLE_AUTO_MEMORY",
    CodexHome = "CODEX_HOME",
    Visual = "VISUAL",
    Editor = "EDITOR",
    Path = "PATH",
}

/// The user's folders that lorelane may write in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folders {
    pub config: PathBuf,
    /// Indexes; may be deleted at any time.
    pub cache: PathBuf,
    /// Journals, drafts, and the records of `setup`.
    pub state: PathBuf,
    /// Notes that belong to no project, and their marks.
    pub data: PathBuf,
    /// Where `ragdocs` kept such notes.
    pub former_notes: PathBuf,
}

/// The folder of `ragdocs` in the user's data folder, on every platform.
const FORMER_NOTES: &str = "mcp-markdown-ragdocs/memories";

impl Folders {
    pub fn all(&self) -> Vec<PathBuf> {
        [&self.config, &self.cache, &self.state, &self.data, &self.former_notes].map(PathBuf::clone).to_vec()
    }
}

impl Env {
    pub fn var(&self, var: Var) -> Option<&str> {
        self.vars.get(var.name()).map(String::as_str).filter(|value| !value.is_empty())
    }

    pub(crate) fn path(&self, var: Var) -> Option<PathBuf> {
        self.var(var).map(PathBuf::from).filter(|path| path.is_absolute())
    }

    pub fn home(&self) -> Option<PathBuf> {
        self.path(Var::Home).or_else(|| self.path(Var::UserProfile))
    }

    /// `LORELANE_HOME` puts everything in one place; otherwise each system's convention applies.
    pub fn folders(&self) -> Option<Folders> {
        if let Some(all) = self.path(Var::LorelaneHome) {
            return Some(Folders {
                config: all.join("config"),
                cache: all.join("cache"),
                state: all.join("state"),
                former_notes: all.join("data").join(FORMER_NOTES),
                data: all.join("data"),
            });
        }
        let home = self.home();
        let below = |path: &str| home.as_ref().map(|home| home.join(path));
        let own = |base: PathBuf| base.join("lorelane");
        let pick = |var: Var, mac: &str, windows: Var, unix: &str| {
            let convention = if cfg!(target_os = "macos") {
                below(mac)
            } else if cfg!(windows) {
                self.path(windows).or_else(|| below("AppData/Local"))
            } else {
                below(unix)
            };
            self.path(var).or(convention).map(own)
        };
        // Windows has one local folder for both. Separate subfolders, so that deleting the cache never deletes a
        // journal.
        let apart = |folder: PathBuf, var: Var, name: &str| {
            if cfg!(windows) && self.path(var).is_none() { folder.join(name) } else { folder }
        };
        let cache = pick(Var::XdgCacheHome, "Library/Caches", Var::LocalAppData, ".cache")?;
        let state =
            pick(Var::XdgStateHome, "Library/Application Support", Var::LocalAppData, ".local/state")?;
        let data = pick(Var::XdgDataHome, "Library/Application Support", Var::LocalAppData, ".local/share")?;
        let former = self.path(Var::XdgDataHome).or_else(|| below(".local/share"))?;
        Some(Folders {
            data: apart(data, Var::XdgDataHome, "data"),
            former_notes: former.join(FORMER_NOTES),
            config: pick(Var::XdgConfigHome, "Library/Application Support", Var::AppData, ".config")?,
            cache: apart(cache, Var::XdgCacheHome, "cache"),
            state: apart(state, Var::XdgStateHome, "state"),
        })
    }
}

impl Folders {
    /// The name of a lane in the state and cache folders: readable, and unique per real path.
    pub fn lane_key(lane: &Path) -> String {
        key(lane, if lane.ends_with(NOTES_ROOT) { 1 } else { 2 })
    }

    /// The name of a repository in the state folder, by the git folder its worktrees share; without git, by the
    /// project.
    pub fn repository_key(repository: &Path) -> String {
        key(repository, usize::from(repository.ends_with(".git")))
    }
}

/// A readable name (the folder that many levels up) and a digest of the path.
fn key(path: &Path, above: usize) -> String {
    let digest = blake3::hash(path.as_os_str().as_encoded_bytes()).to_hex();
    let named = path.ancestors().nth(above).and_then(Path::file_name).unwrap_or_default();
    let readable: String = named
        .to_string_lossy()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' })
        .take(40)
        .collect();
    format!("{readable}-{}", &digest[..16])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env(vars: &[(&str, &str)]) -> Env {
        let vars = vars.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        Env { now: Timestamp(0), cwd: PathBuf::from("/"), vars }
    }

    #[test]
    fn one_variable_moves_everything() {
        let folders = env(&[("LORELANE_HOME", "/x"), ("HOME", "/home/a")]).folders().unwrap();
        assert_eq!(folders.cache, Path::new("/x/cache"));
    }

    #[test]
    fn a_relative_or_empty_variable_is_not_a_folder() {
        let folders =
            env(&[("XDG_CACHE_HOME", "rel"), ("XDG_STATE_HOME", ""), ("HOME", "/home/a")]).folders().unwrap();
        assert!(folders.cache.starts_with("/home/a") && folders.state.starts_with("/home/a"), "{folders:?}");
        assert_eq!(env(&[]).folders(), None);
    }

    // On Windows both were one folder, so "may be deleted at any time" applied to the journal too.
    #[test]
    fn cache_and_state_are_never_the_same_folder() {
        let home = std::env::temp_dir();
        let home = home.to_str().expect("a temporary folder with a readable name");
        for var in ["HOME", "USERPROFILE"] {
            let folders = env(&[(var, home)]).folders().unwrap();
            assert!(!folders.cache.starts_with(&folders.state) && !folders.state.starts_with(&folders.cache));
        }
    }

    #[test]
    fn two_lanes_never_share_a_key() {
        let key = |path: &str| Folders::lane_key(Path::new(path));
        assert_ne!(key("/a/p/.claude/memory"), key("/b/p/.claude/memory"));
        assert!(key("/a/my app/.claude/memory").starts_with("my_app-"));
    }
}
