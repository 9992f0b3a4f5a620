//! The packages that the sentences are about: released versions, each one commit of a repository.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::distil::sources::{self, Registry, Source};
use crate::failure::Failure;
use crate::process;

/// A package with the versions that the set names, oldest first.
#[derive(Debug)]
pub struct LabelledPackage {
    pub name: &'static str,
    pub versions: &'static [Released],
    /// What of the unpacked archive is the tree of a commit. The rest is built from it.
    kept: &'static [&'static str],
}

#[derive(Debug)]
pub struct Released {
    /// The month of the release. Only the order counts.
    pub month: &'static str,
    source: Source,
    /// The folder in the archive that is the root.
    root: &'static str,
}

impl Released {
    pub fn version(&self) -> &'static str {
        self.source.version
    }
}

#[rustfmt::skip]
pub const PACKAGES: &[LabelledPackage] = &[
    LabelledPackage {
        name: "tokio",
        kept: &["src", "tests"],
        versions: &[
            released("2020-07", Registry::Cargo, "tokio", "0.2.22", "tokio-0.2.22", "MIT", "5d34ca54d84bf2b5b4d7d31e901a8464f7b60ac145a284fba25ceb801f2ddccd"),
            released("2020-12", Registry::Cargo, "tokio", "1.0.1", "tokio-1.0.1", "MIT", "d258221f566b6c803c7b4714abadc080172b272090cdc5e244a6d4dd13c3a6bd"),
            released("2024-08", Registry::Cargo, "tokio", "1.40.0", "tokio-1.40.0", "MIT", "e2b070231665d27ad9ec9b8df639893f46727666c6767db40317fbe920a5d998"),
        ],
    },
    LabelledPackage {
        name: "httpx",
        kept: &["httpx"],
        versions: &[
            released("2019-12", Registry::PipBoth, "httpx", "0.9.5", "", "BSD-3-Clause", "0ea1ec7da0616eb74cadc4d4dc8e0c2cde0fcdb2d17bbc3e3d05153d52087139"),
            released("2020-05", Registry::Pip, "httpx", "0.13.3", "", "BSD-3-Clause", "32d930858eab677bc29a742aaa4f096de259f1c78c68a90ad11f5c3c04f08335"),
            released("2024-12", Registry::Pip, "httpx", "0.28.1", "", "BSD-3-Clause", "d909fcccc110f8c7faf814ca82a9a4d816bc5a6dbfea25d6591d6985b8ba59ad"),
        ],
    },
    LabelledPackage {
        name: "rxjs",
        kept: &["src", "package.json"],
        versions: &[
            released("2018-09", Registry::Npm, "rxjs", "5.5.12", "package", "Apache-2.0", "f03509d1e23684250871be0fe3472e3bf7e0db1aca64de97b14cbe86bd44dbf7"),
            released("2021-03", Registry::Npm, "rxjs", "6.6.7", "package", "Apache-2.0", "4098c33a24dfe1a854fd70837e8854b9d9c799c3f17b8c81e250b4a67f380526"),
            released("2023-04", Registry::Npm, "rxjs", "7.8.1", "package", "Apache-2.0", "c532167725ab7d085123209156c93cef22f2479cb9c8527060f1cd903aa9d149"),
        ],
    },
];

const fn released(
    month: &'static str,
    registry: Registry,
    name: &'static str,
    version: &'static str,
    root: &'static str,
    licence: &'static str,
    sha256: &'static str,
) -> Released {
    Released { month, root, source: Source { registry, name, version, licence, sha256 } }
}

impl LabelledPackage {
    /// Fetches every version. One at a time: cargo takes no two versions that can stand in for each other.
    pub fn fetch(&self, work: &Path) -> Result<(), Failure> {
        self.versions.iter().try_for_each(|one| sources::fetch(std::iter::once(&one.source), work))
    }

    /// Makes a repository with a commit for each version up to `head`.
    pub fn commit(&self, work: &Path, head: &str, project: &Path) -> Result<(), Failure> {
        git(project, &["init", "-q"], "")?;
        for one in self.versions {
            for kept in self.kept {
                let place = project.join(kept);
                let removed =
                    if place.is_dir() { fs::remove_dir_all(&place) } else { fs::remove_file(&place) };
                // The first version finds nothing to remove.
                removed
                    .or_else(|error| if place.exists() { Err(error) } else { Ok(()) })
                    .map_err(|error| Failure::on("remove", &place, error))?;
                copy(&one.source.folder(work).join(one.root).join(kept), &place)?;
            }
            git(project, &["add", "-A"], "")?;
            git(project, &["commit", "-qm", one.version()], &format!("{}-01T12:00:00Z", one.month))?;
            if one.version() == head {
                return Ok(());
            }
        }
        Err(Failure::new(format!("{} has no version {head}", self.name)))
    }

    /// A day after the version was committed, and before the next one was.
    pub fn written_at(&self, version: &str) -> Option<String> {
        let released = self.versions.iter().find(|one| one.version() == version)?;
        Some(format!("{}-02T12:00:00+00:00", released.month))
    }
}

fn copy(from: &Path, to: &Path) -> Result<(), Failure> {
    if !from.is_dir() {
        return fs::copy(from, to).map(drop).map_err(|error| Failure::on("copy", from, error));
    }
    fs::create_dir_all(to).map_err(|error| Failure::on("create", to, error))?;
    let listed = fs::read_dir(from).map_err(|error| Failure::on("read", from, error))?;
    listed.flatten().try_for_each(|entry| copy(&entry.path(), &to.join(entry.file_name())))
}

fn git(project: &Path, words: &[&str], date: &str) -> Result<(), Failure> {
    let mut git = Command::new("git");
    git.args(["-c", "user.name=A", "-c", "user.email=a@b.c", "-c", "init.defaultBranch=main"]);
    git.args(["-c", "core.autocrlf=false"]).args(words).current_dir(project);
    git.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    if !date.is_empty() {
        git.env("GIT_AUTHOR_DATE", date).env("GIT_COMMITTER_DATE", date);
    }
    process::finish(&mut git)
}
