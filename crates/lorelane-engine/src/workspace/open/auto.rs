//! Finds and opens Claude Code's memory folder of a project. It belongs to that client: if it does not exist, there
//! is no lane, and nothing here creates it.
//!
//! Only the user's own settings say where it is. A repository's settings are ignored, as the client ignores them:
//! otherwise a clone could point us at any folder of this machine.

use crate::disk::{Disk, FileType, LinkPolicy};
use crate::env::{Env, Folders, Var};
use crate::git;
use crate::workspace::lane::Lane;
use crate::workspace::open::locate::real_path;
use crate::workspace::project::Project;
use lorelane_core::dialect::auto::{Auto, MEMORY_FILE, long_slug_prefix, project_slug};
use lorelane_core::json::Json;
use lorelane_core::mark::MARKS_FOLDER;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The folder of each project in Claude Code's own folder.
const PROJECTS: &str = "projects";
pub(super) const MEMORY: &str = "memory";
const SETTINGS: &str = "settings.json";
const SETTINGS_MAX_BYTES: u64 = 1 << 20;
/// Marks of these lanes, in the user's data folder.
const MARKS_OF_AUTO: &str = "auto";
/// How many transcripts of a folder are read to learn whose it is, and how much of each: more only if the part before
/// it does not say.
const TRANSCRIPTS_MAX: usize = 5;
const TRANSCRIPT_STARTS: [usize; 3] = [4 << 10, 16 << 10, 64 << 10];

/// Where Claude Code keeps its own files, and what its settings and environment say about its memory.
#[derive(Clone, Debug)]
pub(in crate::workspace) struct ClientFolder {
    config: PathBuf,
    home: Option<PathBuf>,
    /// `CLAUDE_CODE_PROJECT_DIR_NAME`.
    project_name: Option<String>,
    /// `CLAUDE_CODE_DISABLE_AUTO_MEMORY`.
    disabled: Option<bool>,
}

impl ClientFolder {
    pub(in crate::workspace) fn of(env: &Env) -> Option<ClientFolder> {
        let home = env.home();
        let own = env.path(Var::ClaudeConfigDir);
        // The client takes a project's name from the environment only together with its folder.
        let project_name =
            env.var(Var::ClaudeCodeProjectDirName).filter(|name| own.is_some() && is_name(name));
        Some(ClientFolder {
            project_name: project_name.map(str::to_owned),
            disabled: env.var(Var::ClaudeCodeDisableAutoMemory).map(|value| value != "0" && value != "false"),
            config: own.or_else(|| home.as_ref().map(|home| home.join(".claude")))?,
            home,
        })
    }

    pub(super) fn config(&self) -> &Path {
        &self.config
    }

    /// The folder that the user's settings give the memories of all projects.
    pub(super) fn named_folder(&self, disk: &dyn Disk) -> Option<PathBuf> {
        self.named(self.settings(disk)?.at("autoMemoryDirectory")?.as_text()?)
    }

    /// Whether the client gives a project the folder with this name. Versions of it disagree on the end of a long one.
    pub(super) fn gives(&self, name: &str, root: &Path) -> bool {
        self.project_name.as_deref() == Some(name) || is_slug_of(name, root)
    }

    /// Where marks of a memory folder outside its project are.
    pub(in crate::workspace) fn marks_of(folders: &Folders, root: &Path) -> PathBuf {
        folders.data.join(MARKS_OF_AUTO).join(Folders::lane_key(&key_of(root)))
    }

    pub(in crate::workspace) fn projects(&self) -> PathBuf {
        self.config.join(PROJECTS)
    }

    /// The user's settings of the client, if they say anything about its memory.
    pub(in crate::workspace) fn settings(&self, disk: &dyn Disk) -> Option<Json> {
        settings_at(disk, &self.config.join(SETTINGS), LinkPolicy::Followed)
    }

    /// The path that a setting names: absolute, or below the home folder.
    fn named(&self, path: &str) -> Option<PathBuf> {
        match path.strip_prefix("~/") {
            Some(below) => self.home.as_ref().map(|home| home.join(below)),
            None => Some(PathBuf::from(path)).filter(|path| path.is_absolute()),
        }
    }
}

/// Whether a folder has the name of a path, however the end of a long one was computed.
pub(super) fn is_slug_of(name: &str, root: &Path) -> bool {
    let slug = project_slug(&text(root));
    slug == name || long_slug_prefix(&slug).is_some_and(|prefix| name.starts_with(prefix))
}

/// 1 to 64 letters, digits, dashes and underscores.
fn is_name(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
}

fn settings_at(disk: &dyn Disk, file: &Path, links: LinkPolicy) -> Option<Json> {
    let bytes = disk.read_bounded(file, links, SETTINGS_MAX_BYTES).ok()??;
    let text = String::from_utf8(bytes).ok().filter(|text| text.contains("autoMemory"))?;
    Json::parse(&text).ok()
}

/// An existing memory folder of Claude Code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::workspace) struct AutoLocation {
    pub(in crate::workspace) root: PathBuf,
    known_as: String,
    pub(in crate::workspace) marks: PathBuf,
    shares_records: bool,
    /// Whether the client loads its index when a session starts.
    pub(in crate::workspace) is_loaded: bool,
}

impl AutoLocation {
    /// The memory folder of a project whose records are in `records`, according to this environment.
    pub(in crate::workspace) fn of(
        disk: &dyn Disk,
        env: &Env,
        project: &Path,
        records: &Path,
    ) -> Option<AutoLocation> {
        AutoLocation::find(disk, &ClientFolder::of(env)?, env.folders().as_ref(), project, records)
    }

    fn find(
        disk: &dyn Disk,
        client: &ClientFolder,
        folders: Option<&Folders>,
        project: &Path,
        records: &Path,
    ) -> Option<AutoLocation> {
        let settings = client.settings(disk);
        let said = settings.as_ref().and_then(|settings| settings.at("autoMemoryDirectory")?.as_text());
        let folder = match said.and_then(|path| client.named(path)) {
            Some(folder) => Some(folder),
            None => client.folder_of(disk, project),
        };
        let found = folder.filter(|folder| disk.is_folder(folder));
        let is_clients = found.is_some();
        // Some keep the folder in the repository, beside the records.
        let root = found.or_else(|| {
            let index = disk.stat(&records.join(MEMORY_FILE)).ok()??;
            (index.kind == FileType::File).then(|| records.to_owned())
        })?;
        let root = real_path(disk, &root).ok()?;
        let inside =
            root.strip_prefix(project).ok().map(|inside| inside.to_string_lossy().replace('\\', "/"));
        let marks = match (&inside, folders) {
            (Some(_), _) => project.join(MARKS_FOLDER),
            (None, Some(folders)) => ClientFolder::marks_of(folders, &root),
            (None, None) => return None,
        };
        Some(AutoLocation {
            known_as: inside.unwrap_or_else(|| root.display().to_string()),
            marks,
            shares_records: root == records,
            is_loaded: is_clients && client.loads_memory(disk, settings.as_ref(), project),
            root,
        })
    }

    pub(in crate::workspace) fn open(&self, disk: &Arc<dyn Disk>, project: &Project) -> Lane {
        let dialect = Box::new(Auto { shares_records: self.shares_records });
        Lane::open(Arc::clone(disk), project, dialect, self.root.clone(), &self.known_as, self.marks.clone())
    }
}

/// The path that a lane's state is kept by. Not the folder itself: the records may be in the same one.
pub(in crate::workspace) fn key_of(root: &Path) -> PathBuf {
    root.join(MEMORY_FILE)
}

impl ClientFolder {
    /// The folder that the client gives a project: by the root of its repository, so that work trees share one.
    fn folder_of(&self, disk: &dyn Disk, project: &Path) -> Option<PathBuf> {
        let projects = self.projects();
        if let Some(name) = &self.project_name {
            return Some(projects.join(name).join(MEMORY));
        }
        let root = repository_root(project);
        let slug = project_slug(&text(&root));
        let folder = projects.join(&slug).join(MEMORY);
        if disk.is_folder(&folder) {
            return Some(folder).filter(|_| !is_of_another(disk, &projects.join(&slug), &root));
        }
        // Versions of the client disagree on the end of a long name.
        let prefix = long_slug_prefix(&slug)?;
        let listed = disk.list(&projects).ok()??;
        let alike = listed
            .iter()
            .filter(|listed| listed.name.starts_with(prefix))
            .map(|listed| projects.join(&listed.name));
        let mut own = alike.filter(|folder| sessions_in(disk, folder).any(|cwd| cwd.starts_with(&root)));
        own.next().map(|folder| folder.join(MEMORY))
    }

    /// Whether the client reads its memory in this project. Here a project's settings count: at worst, they have a
    /// memory shown twice or not at all in their own project.
    pub(in crate::workspace) fn loads_memory(
        &self,
        disk: &dyn Disk,
        user: Option<&Json>,
        project: &Path,
    ) -> bool {
        if let Some(disabled) = self.disabled {
            return !disabled;
        }
        let of_project = ["settings.local.json", SETTINGS]
            .into_iter()
            .filter_map(|name| settings_at(disk, &project.join(".claude").join(name), LinkPolicy::Refused));
        let said: Vec<Json> = of_project.chain(user.cloned()).collect();
        said.iter().find_map(|settings| settings.at("autoMemoryEnabled")?.as_bool()).unwrap_or(true)
    }
}

/// The folder of the main work tree; outside git the project itself.
pub(in crate::workspace) fn repository_root(project: &Path) -> PathBuf {
    let common = git::common_dir(project).filter(|common| common.ends_with(".git"));
    common.and_then(|common| Some(common.parent()?.to_owned())).unwrap_or_else(|| project.to_owned())
}

/// Whether the sessions in a folder are those of another project that still exists: two paths may have one name.
/// A folder without sessions is taken for that of the project.
fn is_of_another(disk: &dyn Disk, folder: &Path, root: &Path) -> bool {
    // Every command asks this, so one session that is not another project's is enough.
    let mut used_by = sessions_in(disk, folder).peekable();
    let is_other =
        |cwd: PathBuf| !cwd.starts_with(root) && disk.is_folder(&cwd) && repository_root(&cwd) != root;
    used_by.peek().is_some() && used_by.all(is_other)
}

/// The folders that the sessions in a project's folder ran in. A session that cannot be read is skipped.
pub(in crate::workspace) fn folders_in(disk: &dyn Disk, folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = Vec::new();
    for cwd in sessions_in(disk, folder) {
        if !found.contains(&cwd) {
            found.push(cwd);
        }
    }
    found
}

/// The folder of each session. Each is read only when it is asked for.
fn sessions_in<'d>(disk: &'d dyn Disk, folder: &'d Path) -> impl Iterator<Item = PathBuf> + 'd {
    let listed = disk.list(folder).ok().flatten().unwrap_or_default().into_iter();
    let sessions = listed.filter(|listed| listed.kind == FileType::File && listed.name.ends_with(".jsonl"));
    let sessions = sessions.take(TRANSCRIPTS_MAX);
    sessions.filter_map(move |session| cwd_of(disk, &folder.join(&session.name), &TRANSCRIPT_STARTS))
}

/// The folder that a session ran in, from the start of its transcript.
pub(in crate::workspace) fn cwd_of(disk: &dyn Disk, file: &Path, starts: &[usize]) -> Option<PathBuf> {
    let mut transcript = disk.open(file, LinkPolicy::Refused).ok()?;
    let size = usize::try_from(transcript.size().ok()?).unwrap_or(usize::MAX);
    let (mut start, mut parsed) = (Vec::new(), 0);
    for &length in starts {
        let more = size.min(length) - start.len();
        start.append(&mut transcript.read_at(start.len() as u64, more).ok()?);
        // The last line may be cut off: it is parsed once all of it is there.
        let end = match start.len() == size {
            true => size,
            false => memchr::memrchr(b'\n', &start).map_or(parsed, |end| end + 1),
        };
        let found = start[parsed..end].split(|byte| *byte == b'\n').find_map(cwd_in);
        if found.is_some() || start.len() == size {
            return found;
        }
        parsed = end;
    }
    None
}

/// The folder that a line of a transcript names.
fn cwd_in(line: &[u8]) -> Option<PathBuf> {
    let line = std::str::from_utf8(line).ok().filter(|line| line.contains("\"cwd\""))?;
    let line = Json::parse(line).ok()?;
    // Codex has it in the first line's payload.
    let cwd = PathBuf::from(line.at("cwd").or_else(|| line.at("payload.cwd"))?.as_text()?);
    cwd.is_absolute().then_some(cwd)
}

/// A path as the client writes it.
pub(in crate::workspace) fn text(path: &Path) -> String {
    path.to_string_lossy().trim_start_matches(r"\\?\").to_owned()
}
