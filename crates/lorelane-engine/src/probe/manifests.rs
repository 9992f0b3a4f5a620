//! Packages, versions and commands, from manifests, lock files and files that pin a tool.
//!
//! A manifest is searched for whole names and not parsed: one scanner serves eight ecosystems, and a manifest with a
//! fault still answers.

use crate::git::{GitError, Snapshots, TreeFile};
use lorelane_core::claim::{Claim, ClaimKind, version_numbers};
use lorelane_core::json::Json;
use lorelane_core::settle::{Presence, Site};
use std::collections::BTreeMap;

/// A longer manifest is generated.
const MANIFEST_MAX_BYTES: u64 = 4 << 20;

/// Manifests of eight ecosystems: Rust, JavaScript, Python, Go, Ruby, Java, PHP and .NET.
const PACKAGES: &[&str] = &[
    "Cargo.toml",
    "package.json",
    "pyproject.toml",
    "setup.py",
    "setup.cfg",
    "Pipfile",
    "environment.yml",
    "go.mod",
    "Gemfile",
    "pom.xml",
    "build.gradle",
    "build.gradle.kts",
    "libs.versions.toml",
    "composer.json",
    "Directory.Packages.props",
];
/// Files that pin a tool or a service.
const PINS: &[&str] = &[
    ".nvmrc",
    ".node-version",
    ".python-version",
    ".ruby-version",
    ".tool-versions",
    "mise.toml",
    ".mise.toml",
    "rust-toolchain",
    "rust-toolchain.toml",
    "global.json",
    "compose.yaml",
    "compose.yml",
    "docker-compose.yaml",
    "docker-compose.yml",
];
/// Files whose whole text is the version of one tool.
const BARE_PINS: &[(&str, &str)] = &[
    (".nvmrc", "node"),
    (".node-version", "node"),
    (".python-version", "python"),
    (".ruby-version", "ruby"),
    ("rust-toolchain", "rust"),
];
/// The names that files have for a tool, beside its own.
const ALIASES: &[(&str, &[&str])] = &[
    ("node", &["node", "nodejs"]),
    ("python", &["python", "requires-python", "python_requires"]),
    ("rust", &["rust-version", "channel", "rust"]),
    ("postgres", &["postgres", "postgresql"]),
    ("next", &["next"]),
];

#[derive(Debug, Default)]
pub(super) struct Manifests {
    files: Vec<(String, String)>,
}

impl Manifests {
    pub(super) fn read(repository: &Snapshots, files: &[TreeFile]) -> Result<Manifests, GitError> {
        let is_wanted = |file: &&TreeFile| file.size <= MANIFEST_MAX_BYTES && is_manifest(&file.path);
        let mut wanted: Vec<&TreeFile> = files.iter().filter(is_wanted).collect();
        // The root's own first: it is the evidence that a reader looks for.
        wanted.sort_by_key(|file| file.path.matches('/').count());
        let mut manifests = Manifests::default();
        repository.read_blobs(&wanted, &mut |file, blob| {
            manifests.files.push((file.path.clone(), String::from_utf8_lossy(blob).into_owned()));
            true
        })?;
        Ok(manifests)
    }

    /// The same with the texts that files have after a change; `None` for one that is gone.
    pub(super) fn changed(&self, texts: &BTreeMap<String, Option<String>>) -> Manifests {
        let kept = self.files.iter().filter(|(path, _)| !texts.contains_key(path)).cloned();
        let new = texts.iter().filter(|(path, _)| is_manifest(path));
        let new = new.filter_map(|(path, text)| Some((path.clone(), text.clone()?)));
        Manifests { files: kept.chain(new).collect() }
    }

    pub(super) fn presence(&self, claim: &Claim) -> Presence {
        match claim.kind {
            ClaimKind::Package => self.package(&claim.text).map_or(Presence::Missing, Presence::There),
            ClaimKind::Command => self.command(&claim.text).map_or(Presence::Missing, Presence::There),
            _ => self.version(&claim.text),
        }
    }

    fn package(&self, name: &str) -> Option<Site> {
        let manifests = self.files.iter().filter(|(path, _)| is_package_list(name_of(path)));
        let wanted = folded(name);
        manifests.into_iter().find_map(|(path, text)| {
            let is_named =
                |line: &str| line.split(|c| !is_package_char(c)).any(|word| is_package(word, &wanted));
            site_of(path, text, is_named)
        })
    }

    /// The version of a tool as files have it.
    fn version(&self, claim: &str) -> Presence {
        let Some((tool, number)) = claim.rsplit_once(' ') else { return Presence::Missing };
        let (tool, Some(wanted)) = (plain_tool(tool), version_numbers(number)) else {
            return Presence::Missing;
        };
        let mut other = None;
        for (path, text) in &self.files {
            for (at, line) in text.lines().enumerate() {
                let Some(found) = version_in(name_of(path), line, &tool) else { continue };
                let site = Site { file: path.clone(), line: Some(at + 1) };
                if found.starts_with(&wanted) || wanted.starts_with(&found) {
                    return Presence::There(site);
                }
                let shown: Vec<String> = found.iter().map(u32::to_string).collect();
                other.get_or_insert(Presence::Differs(site, shown.join(".")));
            }
        }
        other.unwrap_or(Presence::Missing)
    }

    fn command(&self, command: &str) -> Option<Site> {
        let (runner, target) = command.rsplit_once(' ')?;
        let is_target = |line: &str| {
            let rest = line.strip_prefix(target).unwrap_or_default();
            let name_ends = rest.starts_with([' ', ':', '\t']) || rest.is_empty();
            name_ends && rest.contains(':') && !rest.trim_start().starts_with(":=")
        };
        self.files.iter().find_map(|(path, text)| match (runner, name_of(path)) {
            ("make", "Makefile" | "makefile" | "GNUmakefile") => site_of(path, text, is_target),
            ("just", "justfile" | "Justfile" | ".justfile") => {
                site_of(path, text, |line| is_target(line.trim_start_matches('@')))
            }
            ("make" | "just", _) => None,
            (_, "package.json") => {
                let has_script = Json::parse(text).ok()?.at("scripts")?.as_object()?.contains(target);
                let quoted = format!("\"{target}\"");
                has_script.then(|| site_of(path, text, |line| line.contains(&quoted)))?
            }
            _ => None,
        })
    }
}

fn site_of(path: &str, text: &str, is_it: impl Fn(&str) -> bool) -> Option<Site> {
    let at = text.lines().position(is_it)?;
    Some(Site { file: path.to_owned(), line: Some(at + 1) })
}

fn name_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

pub(super) fn is_manifest(path: &str) -> bool {
    let name = name_of(path);
    is_package_list(name)
        || PINS.contains(&name)
        || name.starts_with("Dockerfile")
        || ["Makefile", "makefile", "GNUmakefile", "justfile", "Justfile", ".justfile"].contains(&name)
}

fn is_package_list(name: &str) -> bool {
    let is_requirements = name.starts_with("requirements") && name.ends_with(".txt");
    let is_project = name.ends_with(".csproj") || name.ends_with(".gemspec");
    PACKAGES.contains(&name) || is_requirements || is_project
}

fn is_package_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '@' | '/' | '-' | '_' | '.')
}

/// Registries take `-` and `_`, and upper and lower case, for the same.
fn folded(name: &str) -> String {
    name.to_lowercase().replace('_', "-")
}

/// Go names a package by a path, Java by a group.
fn is_package(word: &str, wanted: &str) -> bool {
    let word = folded(word);
    word == wanted || (word.contains('.') && word.rsplit('/').next() == Some(wanted))
}

fn plain_tool(tool: &str) -> String {
    let tool = tool.to_lowercase();
    match tool.as_str() {
        "node.js" | "nodejs" => "node".to_owned(),
        "postgresql" => "postgres".to_owned(),
        "next.js" => "next".to_owned(),
        _ => tool,
    }
}

/// The version of the tool on this line, if it has one.
fn version_in(file: &str, line: &str, tool: &str) -> Option<Vec<u32>> {
    let line = line.trim();
    if BARE_PINS.iter().any(|(name, of)| *name == file && *of == tool) {
        return leading_version(line);
    }
    let own = [tool];
    let names = ALIASES.iter().find(|(name, _)| *name == tool).map_or(&own[..], |(_, names)| names);
    let is_inside = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    names.iter().find_map(|name| {
        line.match_indices(name).find_map(|(at, _)| {
            let (before, after) = (&line[..at], &line[at + name.len()..]);
            let is_whole = !before.ends_with(is_inside) && !after.starts_with(is_inside);
            if is_whole { leading_version(after) } else { None }
        })
    })
}

/// The version at the beginning of a text, after what stands between a name and its version.
fn leading_version(text: &str) -> Option<Vec<u32>> {
    let between =
        |c: char| matches!(c, ' ' | '"' | '\'' | ':' | '=' | '>' | '<' | '^' | '~' | '@' | 'v' | '{');
    let text = text.trim_start_matches(between);
    let text = text.strip_prefix("version").map_or(text, |rest| rest.trim_start_matches(between));
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    version_numbers(text[..end].trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifests() -> Manifests {
        let files = [
            (
                "Cargo.toml",
                "[package]\nrust-version = \"1.80\"\n[dependencies]\ntokio = { version = \"1\" }\n",
            ),
            (
                "package.json",
                "{\n \"scripts\": {\n  \"build:all\": \"x\"\n },\n \"engines\": {\"node\": \">=18.2\"},\n \"dependencies\": {\"@acme/forms\": \"1\", \"react\": \"^18.2.0\"}\n}",
            ),
            ("go.mod", "module x\ngo 1.22\nrequire github.com/acme/retry v1.0.0\n"),
            ("requirements.txt", "Typing_Extensions>=4\n"),
            (".python-version", "3.11.4\n"),
            ("docker-compose.yml", "services:\n  db:\n    image: postgres:15-alpine\n"),
            ("Makefile", "VERSION := 1\nrelease: build\n\techo\n"),
            ("justfile", "lint *args:\n  x\n"),
        ];
        Manifests { files: files.map(|(path, text)| (path.to_owned(), text.to_owned())).to_vec() }
    }

    #[test]
    fn manifests_answer_for_packages_versions_and_commands() {
        use ClaimKind::{Command, Package, Version};
        for (kind, text, expected) in [
            (Package, "tokio", "Cargo.toml:4"),
            (Package, "@acme/forms", "package.json:6"),
            (Package, "retry", "go.mod:3"),
            (Package, "typing-extensions", "requirements.txt:1"),
            (Package, "toki", "missing"),
            (Version, "Rust 1.80", "Cargo.toml:2"),
            (Version, "Node 18", "package.json:5"),
            (Version, "Node.js 20", "package.json:5 has 18.2"),
            (Version, "React 18", "package.json:6"),
            (Version, "Go 1.22", "go.mod:2"),
            (Version, "Python 3.11", ".python-version:1"),
            (Version, "PostgreSQL 15", "docker-compose.yml:3"),
            (Version, "PostgreSQL 16", "docker-compose.yml:3 has 15"),
            (Version, "Redis 7", "missing"),
            (Command, "npm run build:all", "package.json:3"),
            (Command, "npm run build", "missing"),
            (Command, "make release", "Makefile:2"),
            (Command, "make VERSION", "missing"),
            (Command, "just lint", "justfile:1"),
        ] {
            let claim = Claim {
                kind,
                text: text.to_owned(),
                lines: Vec::new(),
                stance: Default::default(),
                place: Default::default(),
            };
            let at = |site: &Site| format!("{}:{}", site.file, site.line.unwrap_or_default());
            let shown = match manifests().presence(&claim) {
                Presence::There(site) => at(&site),
                Presence::Differs(site, version) => format!("{} has {version}", at(&site)),
                _ => "missing".to_owned(),
            };
            assert_eq!(shown, expected, "{text}");
        }
    }
}
