//! This repository: its root, its tracked files, and calls of cargo.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::failure::Failure;
use lorelane_core::json::Json;

/// The workspace root, fixed at compile time: xtask always runs in its own checkout.
pub fn root() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().unwrap_or(manifest).to_owned()
}

/// The paths git tracks, relative to the root, that exist on disk.
pub fn tracked_files(root: &Path) -> Result<Vec<String>, Failure> {
    let output = Command::new("git")
        .args(["ls-files", "-z"])
        .current_dir(root)
        .output()
        .map_err(|error| Failure::on("list the files tracked in", root, error))?;
    if !output.status.success() {
        let why = String::from_utf8_lossy(&output.stderr);
        return Err(Failure::on("list the files tracked in", root, why.trim()));
    }
    let names = String::from_utf8_lossy(&output.stdout);
    let names = names.split('\0').filter(|name| !name.is_empty());
    // A file deleted but not yet committed is still listed.
    Ok(names.filter(|name| root.join(name).is_file()).map(str::to_owned).collect())
}

/// The cargo that runs xtask, in the workspace root.
pub fn cargo() -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command.current_dir(root());
    // Exported settings of the product must not reach its tests.
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("LORELANE_") {
            command.env_remove(name);
        }
    }
    command
}

/// The folder every cargo call builds into, so that nothing is compiled twice.
pub fn target_folder() -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(folder) => root().join(folder),
        None => root().join("target"),
    }
}

/// Builds with cargo and returns the executables by target name.
///
/// Cargo reports their paths, which depend on target, profile and configuration.
pub fn build(args: &[&str]) -> Result<Vec<(String, PathBuf)>, Failure> {
    let attempt = format!("cargo build {}", args.join(" "));
    let output = cargo()
        .arg("build")
        .args(["--locked", "--message-format=json-render-diagnostics"])
        .args(args)
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| Failure::new(format!("cannot run `{attempt}`: {error}")))?;
    if !output.status.success() {
        return Err(Failure::new(format!("`{attempt}` failed; its output is above")));
    }
    Ok(String::from_utf8_lossy(&output.stdout).lines().filter_map(program).collect())
}

/// Builds the product with the given profile arguments.
pub fn build_product(profile: &[&str]) -> Result<PathBuf, Failure> {
    let args = [profile, &["--package", "lorelane", "--bin", "lorelane"]].concat();
    find_program(&build(&args)?, "lorelane")
}

pub fn find_program(programs: &[(String, PathBuf)], name: &str) -> Result<PathBuf, Failure> {
    let found = programs.iter().find(|(built, _)| built == name);
    found
        .map(|(_, path)| path.clone())
        .ok_or_else(|| Failure::new(format!("cargo built no program `{name}`")))
}

/// The absolute path of a program given on the command line: it is run from other folders.
pub fn given_program(path: &Path) -> Result<PathBuf, Failure> {
    path.canonicalize().map_err(|error| Failure::on("find", path, error))
}

fn program(line: &str) -> Option<(String, PathBuf)> {
    let message = Json::parse(line).ok()?;
    let path = message.at("executable")?.as_text()?;
    let name = message.at("target.name")?.as_text()?;
    Some((name.to_owned(), PathBuf::from(path)))
}
