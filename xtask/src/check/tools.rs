//! Tools that a step needs and a machine may not have.

use std::path::Path;
use std::process::{Command, Stdio};

use super::Outcome;
use crate::clients;
use crate::failure::Failure;
use crate::mcp;
use crate::repo;

#[derive(Clone, Copy, Debug)]
pub(super) enum Tool {
    /// libFuzzer is C++.
    CppCompiler,
    /// Root passes every permission check, so tests of permissions prove nothing under root.
    UnprivilegedUser,
    /// Node, and the agent clients that run on it.
    Clients,
    /// Node and Python, and the protocol's own clients that run on them.
    McpClients,
}

/// `nobody` on every Linux system.
const NOBODY: &str = "65534";

impl Tool {
    /// Why the tool is not available, or `None` if it is.
    ///
    /// It is installed only under CI: a check must not change a person's machine.
    pub(super) fn missing(self, ci: bool) -> Option<String> {
        match self {
            Tool::CppCompiler => {
                if compiler_found() || (ci && install("g++") && compiler_found()) {
                    return None;
                }
                Some("no C++ compiler: install g++, or name one in CXX".to_owned())
            }
            Tool::UnprivilegedUser if !is_root() => None,
            Tool::UnprivilegedUser => {
                let reaches = as_nobody("test").arg("-x").arg(repo::target_folder()).status();
                let reaches = reaches.is_ok_and(|status| status.success());
                let why =
                    "run by root, and the user nobody cannot reach the target folder: run it as another user";
                (!reaches).then(|| why.to_owned())
            }
            Tool::Clients => clients::missing(ci),
            Tool::McpClients => mcp::missing(ci),
        }
    }
}

/// Runs the tests that need an unprivileged user, as one.
///
/// Such a test is called `unprivileged_…` and carries `#[ignore = "needs an unprivileged user"]`.
pub(super) fn unprivileged_tests() -> Outcome {
    let mut command = repo::cargo();
    command.args(["test", "--workspace", "--locked", "--lib", "--bins", "--tests"]);
    command.args(["unprivileged_", "--", "--ignored"]);
    if is_root() {
        // Cargo itself stays root, so that nothing is rebuilt; only the test programs drop their privileges.
        let home = std::env::temp_dir();
        let home = home.display();
        let runner = format!("setpriv --reuid={NOBODY} --regid={NOBODY} --clear-groups env HOME={home}");
        command.env(format!("CARGO_TARGET_{}_RUNNER", host_triple()?), runner);
    }
    let output = command.output().map_err(|error| Failure::new(format!("cannot run cargo test: {error}")))?;
    let text = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        return Err(Failure::new(format!("{text}{}", String::from_utf8_lossy(&output.stderr))));
    }
    summed_up(&text)
}

/// A step that ran nothing proves nothing.
fn summed_up(output: &str) -> Outcome {
    match tests_run(output) {
        0 => Err(Failure::new("cannot find a test that is called `unprivileged_…`")),
        count => Ok(format!("tests: {count}")),
    }
}

fn tests_run(output: &str) -> usize {
    let counts = output
        .lines()
        .filter_map(|line| line.strip_prefix("running ")?.split(' ').next()?.parse::<usize>().ok());
    counts.sum()
}

fn compiler_found() -> bool {
    let compiler = std::env::var("CXX").unwrap_or_else(|_| "c++".to_owned());
    succeeds(Command::new(compiler).arg("--version"))
}

fn install(package: &str) -> bool {
    let mut command = Command::new("apt-get");
    command.args(["install", "--yes", "--no-install-recommends", package]);
    is_root() && Path::new("/etc/debian_version").exists() && succeeds(&mut command)
}

#[cfg(unix)]
fn is_root() -> bool {
    // SAFETY: geteuid reads a number of this process and cannot fail.
    unsafe { libc::geteuid() == 0 }
}

#[cfg(not(unix))]
fn is_root() -> bool {
    false
}

fn as_nobody(program: &str) -> Command {
    let mut command = Command::new("setpriv");
    command
        .arg(format!("--reuid={NOBODY}"))
        .arg(format!("--regid={NOBODY}"))
        .arg("--clear-groups")
        .arg(program);
    command
}

/// As cargo spells it in environment variables.
fn host_triple() -> Result<String, Failure> {
    let output = Command::new("rustc").arg("-vV").output();
    let output = output.map_err(|error| Failure::new(format!("cannot ask rustc for its host: {error}")))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let triple = text.lines().find_map(|line| line.strip_prefix("host: "));
    let triple = triple.ok_or_else(|| Failure::new("cannot find the host in the answer of `rustc -vV`"))?;
    Ok(triple.to_uppercase().replace('-', "_"))
}

fn succeeds(command: &mut Command) -> bool {
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_counted_over_all_programs() {
        assert_eq!(tests_run("\nrunning 0 tests\n\nrunning 1 test\ntest a ... ok\n\nrunning 12 tests\n"), 13);
    }

    // The step passed after a rename had left it without a test.
    #[test]
    fn no_test_at_all_is_a_failure() {
        assert!(summed_up("\nrunning 0 tests\n\nrunning 0 tests\n").is_err());
        assert_eq!(summed_up("\nrunning 1 test\n").unwrap(), "tests: 1");
    }
}
