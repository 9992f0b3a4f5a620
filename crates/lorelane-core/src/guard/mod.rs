//! Decides which tool calls write to a lane behind lorelane's back.
//!
//! An agent that writes a memory file directly bypasses the rules, the journal and the index. Such a tool call is
//! denied, with the command to use instead. Reading is never denied. This is best effort, not a security
//! boundary: a program that is not in the table, or a path that only the shell knows, gets through, and the files
//! are audited afterwards.

mod programs;
pub mod quarantine;
pub mod shell;
mod tool;
mod word;

pub use tool::ToolUse;
pub use word::Case;

use crate::dialect::records::{LISTING, Records};
use crate::fence::inline;
use crate::memory::{Address, Category};
use crate::path::RelPath;
use crate::policy::DEFAULT_ROOT;
use std::fmt;
use word::{Atom, Word, matches, may_end_with};

/// The settings are not a memory and may be edited directly.
const SETTINGS: &str = "memory-config.json";
/// Devices that discard or show output.
const NOWHERE: [&str; 4] = ["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty"];
/// Longer paths are cut when they are shown.
const SHOWN_MAX: usize = 200;

/// The values that words of a command are expanded from.
#[derive(Clone, Copy, Debug)]
pub struct ShellContext<'a> {
    /// Where the tool runs: absolute, with forward slashes, like all paths here.
    pub folder: &'a str,
    pub home: Option<&'a str>,
    pub project: Option<&'a str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteKind {
    Write,
    Remove,
}

/// How much a write covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteExtent {
    One,
    /// The path and everything below it.
    Tree,
    /// The contents of other folders are copied into this one, folders included.
    Spread,
}

/// A path that a tool call writes or removes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WriteTarget {
    program: String,
    shown: String,
    act: WriteKind,
    reach: WriteExtent,
    /// The path up to the first name that is not known exactly.
    fixed: String,
    /// The names after it, as patterns.
    rest: Vec<Vec<Atom>>,
    /// Whether the path continues with something that only the shell knows.
    open: bool,
    /// The names after the first one that only the shell knows.
    after: Vec<Vec<Atom>>,
}

/// What a tool call does that may be denied.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Targets {
    pub places: Vec<WriteTarget>,
    /// A lorelane command in it that only a person may run.
    pub for_people: Option<PersonOnly>,
}

/// A lorelane command that only a person may run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PersonOnly {
    Trust,
    /// Setting this key, which is also held back when a repository sets it.
    Set(String),
}

impl Targets {
    pub fn is_empty(&self) -> bool {
        self.places.is_empty() && self.for_people.is_none()
    }
}

/// A path as the file system has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedPath {
    /// With links resolved, as far as it exists.
    pub path: String,
    pub exists: bool,
    /// Whether it has the name of the listing but is the user's own file.
    pub is_foreign_listing: bool,
}

/// When the default memory folder of another project is protected too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OtherProjects {
    WhereItExists,
    /// Even if no store exists: the protocol of the `claude-memory` write guard.
    ByName,
}

/// The folders and files that are protected.
#[derive(Clone, Debug)]
pub struct GuardedLanes {
    /// The lane's folder under each of its names; empty if there is no store.
    pub lanes: Vec<String>,
    /// The marks file, if there is a store.
    pub marks: Option<String>,
    /// The file with the project's id, if there is no git repository.
    pub id: Option<String>,
    /// The folder that records which repositories the user trusts.
    pub trust: Option<String>,
    pub usual: OtherProjects,
    pub case: Case,
}

/// Why a tool call is denied, and what to do instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Denial {
    pub attempt: String,
    pub instead: String,
}

impl WriteTarget {
    /// `None` for a device: most redirections go there, and they need no lookup on disk.
    fn new(
        program: &str,
        word: &Word,
        path: &Word,
        act: WriteKind,
        reach: WriteExtent,
    ) -> Option<WriteTarget> {
        let mut names = path.names().into_iter();
        let mut fixed = String::new();
        let mut rest = Vec::new();
        let mut open = false;
        for name in names.by_ref() {
            if name.contains(&Atom::Unknown) {
                open = true;
                break;
            }
            match Word::literal_of(name).filter(|_| rest.is_empty()) {
                Some(name) => {
                    fixed.push_str(&name);
                    fixed.push('/');
                }
                None if name.is_empty() => {}
                None => rest.push(name.to_vec()),
            }
        }
        let fixed = match fixed.trim_end_matches('/') {
            "" => "/".to_owned(),
            trimmed => trimmed.to_owned(),
        };
        let after = names.map(<[Atom]>::to_vec).collect();
        let target = WriteTarget {
            program: program.to_owned(),
            shown: word.shown(),
            act,
            reach,
            fixed,
            rest,
            open,
            after,
        };
        (!NOWHERE.contains(&target.fixed.as_str())).then_some(target)
    }
}

impl WriteTarget {
    /// The path of the one file or folder that is written, if all of it is known.
    pub fn file(&self) -> Option<&str> {
        (self.rest.is_empty() && !self.open).then_some(self.fixed.as_str())
    }

    /// The path on disk. A link that is removed or moved goes itself, so it is not followed.
    fn resolved(&self, resolve: &dyn Fn(&str) -> ResolvedPath) -> ResolvedPath {
        let whole = resolve(&self.fixed);
        let takes_a_link = self.act == WriteKind::Remove
            && self.rest.is_empty()
            && !self.open
            && !self.shown.ends_with('/')
            // It overwrites the file before it removes it.
            && self.program != "shred";
        match self
            .fixed
            .rsplit_once('/')
            .filter(|(_, name)| takes_a_link && !matches!(*name, "" | "." | ".."))
        {
            Some((folder, name)) => {
                ResolvedPath { path: normal(&format!("{}/{name}", resolve(folder).path)), ..whole }
            }
            None => whole,
        }
    }
}

impl GuardedLanes {
    /// The denial of the first target that is protected. `resolve` looks up a path on disk.
    pub fn judge(&self, targets: &Targets, resolve: &dyn Fn(&str) -> ResolvedPath) -> Option<Denial> {
        match &targets.for_people {
            Some(PersonOnly::Trust) => return Some(trust_denial()),
            Some(PersonOnly::Set(key)) => return Some(setting_denial(key)),
            None => {}
        }
        targets.places.iter().find_map(|target| self.deny(target, resolve))
    }

    fn deny(&self, target: &WriteTarget, resolve: &dyn Fn(&str) -> ResolvedPath) -> Option<Denial> {
        if let Some(inside) = self.lanes.iter().find_map(|lane| self.inside_by_name(target, lane)) {
            return self.protects(inside, target).then(|| denial(target, &text_of(inside), None));
        }
        let written_trust = self.trust.as_ref().filter(|_| target.act == WriteKind::Write);
        if written_trust.is_some_and(|trust| self.inside_by_name(target, trust).is_some()) {
            return Some(trust_denial());
        }
        let resolved = target.resolved(resolve);
        // The path as written and as the disk resolves it: either in the lane is enough.
        let mut paths = vec![normal(&target.fixed)];
        if paths[0] != resolved.path {
            paths.push(resolved.path);
        }
        let exists = (target.rest.is_empty() && !target.open).then_some(resolved.exists);
        for path in &paths {
            let names: Vec<Vec<Atom>> = names(path)
                .map(|name| name.chars().map(Atom::Char).collect())
                .chain(target.rest.iter().cloned())
                .collect();
            let usual = self.usual_lane(path, resolve);
            for lane in self.lanes.iter().map(String::as_str).chain(usual.as_deref()) {
                match self.relation(&names, target, lane) {
                    PathRelation::Around if self.has_records(lane, resolve) => return Some(around(target)),
                    PathRelation::Inside([]) if !self.has_records(lane, resolve) => {}
                    PathRelation::Inside(inside)
                        if self.protects(inside, target) && !self.is_foreign(inside, lane, resolve) =>
                    {
                        return Some(denial(target, &text_of(inside), exists));
                    }
                    PathRelation::Apart | PathRelation::Around | PathRelation::Inside(_) => {}
                }
            }
            let marks = self.marks.as_ref().map(|marks| self.relation(&names, target, marks));
            if !matches!(marks, None | Some(PathRelation::Apart)) {
                return Some(marks_denial(target));
            }
            let id = self.id.as_ref().map(|id| self.relation(&names, target, id));
            if let Some(PathRelation::Inside(_)) = id {
                return Some(id_denial(target));
            }
            let trust = written_trust.map(|trust| self.relation(&names, target, trust));
            if let Some(PathRelation::Inside(_)) = trust {
                return Some(trust_denial());
            }
        }
        None
    }

    /// The path below a protected folder, found by the folder's last two names alone, where only the shell knows
    /// how the path begins. Two names, because many folders are called `memory`.
    fn inside_by_name<'t>(&self, target: &'t WriteTarget, lane: &str) -> Option<&'t [Vec<Atom>]> {
        let lane: Vec<&str> = names(lane).collect();
        let folder = lane.get(lane.len().checked_sub(2)?..)?;
        let is = |name: &Vec<Atom>, wanted: &str| {
            name.iter().all(|atom| matches!(atom, Atom::Char(_))) && matches(name, wanted, self.case)
        };
        let at =
            target.after.windows(2).position(|pair| is(&pair[0], folder[0]) && is(&pair[1], folder[1]))?;
        Some(&target.after[at + 2..])
    }

    /// The memory folder of another project that this path goes through, if it exists: a session may write to a
    /// neighbour.
    fn usual_lane(&self, path: &str, resolve: &dyn Fn(&str) -> ResolvedPath) -> Option<String> {
        let (claude, memory) = DEFAULT_ROOT.split_once('/')?;
        let names: Vec<&str> = names(path).collect();
        let is = |name: &str, wanted: &str| {
            matches(&wanted.chars().map(Atom::Char).collect::<Vec<_>>(), name, self.case)
        };
        let at = names.windows(2).position(|pair| is(pair[0], claude) && is(pair[1], memory))?;
        let lane = joined(&names[..at + 2]);
        let known = self.lanes.contains(&lane);
        (!known && (self.usual == OtherProjects::ByName || resolve(&lane).exists)).then_some(lane)
    }

    /// Whether the target may be a file of ours: the listing, or JSON in a category's folder. Other files in the
    /// folder are not protected: Claude Code keeps its own memory as Markdown in `.claude/memory` too.
    fn protects(&self, inside: &[Vec<Atom>], target: &WriteTarget) -> bool {
        if self.usual == OtherProjects::ByName {
            return text_of(inside) != SETTINGS;
        }
        let may_be = |pattern: &[Atom], name: &str| matches(pattern, name, self.case);
        let is_folder =
            |pattern: &[Atom]| Category::ALL.iter().any(|category| may_be(pattern, category.folder()));
        match inside {
            // A copy into the folder is judged by the name that it gets there.
            [] => target.open || target.act == WriteKind::Remove || target.reach != WriteExtent::One,
            [name] => is_folder(name) || may_be(name, LISTING),
            [folder, .., file] => is_folder(folder) && may_end_with(file, ".json", self.case),
        }
    }

    /// Whether the listing is the user's own file of that name.
    fn is_foreign(&self, inside: &[Vec<Atom>], lane: &str, resolve: &dyn Fn(&str) -> ResolvedPath) -> bool {
        let [name] = inside else { return false };
        let may_be = |known: &str| matches(name, known, self.case);
        self.usual == OtherProjects::WhereItExists
            && may_be(LISTING)
            && !Category::ALL.iter().any(|category| may_be(category.folder()))
            && resolve(&format!("{lane}/{LISTING}")).is_foreign_listing
    }

    /// Whether the folder has anything of a lane in it, and not only Claude Code's own memory.
    fn has_records(&self, lane: &str, resolve: &dyn Fn(&str) -> ResolvedPath) -> bool {
        let mut names = Category::ALL.iter().map(|category| category.folder()).chain([LISTING, SETTINGS]);
        self.usual == OtherProjects::ByName || names.any(|name| resolve(&format!("{lane}/{name}")).exists)
    }

    fn relation<'p>(&self, path: &'p [Vec<Atom>], target: &WriteTarget, lane: &str) -> PathRelation<'p> {
        let lane: Vec<&str> = names(lane).collect();
        let alike = path.iter().zip(&lane).all(|(pattern, name)| matches(pattern, name, self.case));
        if !alike {
            return PathRelation::Apart;
        }
        if path.len() >= lane.len() {
            return PathRelation::Inside(&path[lane.len()..]);
        }
        if target.reach == WriteExtent::Tree && !target.open {
            PathRelation::Around
        } else {
            PathRelation::Apart
        }
    }
}

/// The position of a target relative to a lane.
enum PathRelation<'p> {
    Apart,
    /// The lane is below it and would be removed or overwritten with it.
    Around,
    /// The names below the lane's root; empty for the root itself.
    Inside(&'p [Vec<Atom>]),
}

fn text_of(names: &[Vec<Atom>]) -> String {
    names.iter().map(|name| Word::text_of(name)).collect::<Vec<_>>().join("/")
}

fn around(target: &WriteTarget) -> Denial {
    let action = match target.act {
        WriteKind::Remove => "remove or move",
        WriteKind::Write => "overwrite",
    };
    Denial {
        attempt: format!(
            "cannot {action} {}: it contains the memory folder",
            inline(&target.shown, SHOWN_MAX)
        ),
        instead: "retire single memories with `lorelane retire ADDRESS --reason REASON`; if the whole folder must be removed, ask the user".to_owned(),
    }
}

fn marks_denial(target: &WriteTarget) -> Denial {
    Denial {
        attempt: format!(
            "cannot change {}: lorelane keeps pins, former addresses and rejections in `marks.jsonl`",
            inline(&target.shown, SHOWN_MAX)
        ),
        instead: "use `lorelane pin`, `lorelane unpin` or `lorelane reject`".to_owned(),
    }
}

fn id_denial(target: &WriteTarget) -> Denial {
    Denial {
        attempt: format!(
            "cannot change {}: it identifies the journal of this project",
            inline(&target.shown, SHOWN_MAX)
        ),
        instead: "leave it unchanged; git ignores it".to_owned(),
    }
}

fn trust_denial() -> Denial {
    Denial {
        attempt: "cannot trust the settings of a project: only a person may decide that".to_owned(),
        instead: "`lorelane status` shows what is held back; ask the user to run `lorelane trust`".to_owned(),
    }
}

fn setting_denial(key: &str) -> Denial {
    Denial {
        attempt: format!("cannot set `{key}`: it can weaken the user's protection; a person must set it"),
        instead: format!(
            "explain what it would change and ask the user to run `lorelane config set {key} VALUE`"
        ),
    }
}

fn denial(target: &WriteTarget, inside: &str, exists: Option<bool>) -> Denial {
    let action = match (target.act, target.program.as_str()) {
        (WriteKind::Remove, "mv") => "move",
        (WriteKind::Remove, _) => "remove",
        (WriteKind::Write, _) => "write",
    };
    let by = match target.program.as_str() {
        "" => String::new(),
        // The name is from our own table, so it needs no escaping.
        program => format!(" with `{program}`"),
    };
    let attempt = format!(
        "cannot {action} {}{by}: only lorelane may write to the memory folder, so that every change is validated, journalled and indexed",
        inline(&target.shown, SHOWN_MAX),
    );
    Denial { attempt, instead: instead(target.act, inside, exists) }
}

/// The command that does what was attempted. `exists` is unknown for a pattern.
fn instead(act: WriteKind, inside: &str, exists: Option<bool>) -> String {
    let path = RelPath::parse(inside).ok();
    let address = path.as_ref().and_then(Records::address_of);
    let category = path.as_ref().and_then(|path| Category::of_folder(path.folder().unwrap_or(path.as_str())));
    match (act, address, category) {
        _ if inside == LISTING => {
            "`index.md` is generated from the memories; `lorelane reindex` rewrites it".to_owned()
        }
        (WriteKind::Remove, address, _) => {
            format!("use `lorelane retire {} --reason REASON`", named(address.as_ref()))
        }
        (WriteKind::Write, Some(address), _) if exists == Some(true) => {
            format!("use `lorelane update {address} --set FIELD=VALUE --because REASON`")
        }
        (WriteKind::Write, _, Some(category)) if exists == Some(false) => format!(
            "use `lorelane create {category} --title TITLE --set FIELD=VALUE`, or `--from FILE` with a draft from another folder"
        ),
        (WriteKind::Write, ..) => "use `lorelane create CATEGORY --title TITLE --set FIELD=VALUE` for a new memory, `lorelane update ADDRESS --set FIELD=VALUE --because REASON` for an existing one".to_owned(),
    }
}

fn named(address: Option<&Address>) -> String {
    address.map_or_else(|| "ADDRESS".to_owned(), Address::to_string)
}

/// Removes `.`, `..` and repeated slashes, without looking at the disk.
pub fn normal(path: &str) -> String {
    joined(&names(path).collect::<Vec<_>>())
}

fn joined(names: &[&str]) -> String {
    format!("/{}", names.join("/"))
}

/// The names of an absolute path, with `.` and `..` resolved.
fn names(path: &str) -> impl Iterator<Item = &str> {
    let mut names: Vec<&str> = Vec::new();
    for name in path.split('/') {
        match name {
            "" | "." => {}
            ".." => drop(names.pop()),
            name => names.push(name),
        }
    }
    names.into_iter()
}

impl fmt::Display for Denial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\nhint: {}", self.attempt, self.instead)
    }
}
