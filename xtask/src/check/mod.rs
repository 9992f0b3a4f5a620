//! `check`: everything a change must pass, in one command.
//!
//! The steps are data. The first failure stops the run: further output would only bury it. A step whose
//! tool is missing is named in the last lines, and under `CI=true` that is a failure too: a step that
//! silently never runs is worse than none.

mod dependencies;
mod licence;
mod tools;

use std::io::Write as _;
use std::process::Stdio;
use std::time::Instant;

use crate::args::Args;
use crate::clients;
use crate::failure::Failure;
use crate::mcp;
use crate::repo;
use tools::Tool;

struct Step {
    name: &'static str,
    needs: Option<Tool>,
    work: Work,
}

enum Work {
    /// A cargo call whose output matters only when it fails.
    Quiet { args: &'static [&'static str], env: &'static [(&'static str, &'static str)] },
    /// A cargo call whose output is part of ours.
    Shown { args: &'static [&'static str] },
    /// Licences and sources of every dependency.
    Dependencies,
    /// The tests that prove nothing when run as root.
    Unprivileged,
    /// The real agent clients, against a scripted model.
    Clients,
    /// The protocol's own clients and its conformance suite, against the server.
    Mcp,
}

/// Formatting comes first because it is fast, tests before docs because their failures matter more.
const STEPS: &[Step] = &[
    Step { name: "format", needs: None, work: Work::Quiet { args: &["fmt", "--all", "--check"], env: &[] } },
    Step {
        name: "format of fuzz",
        needs: None,
        work: Work::Quiet { args: &["fmt", "--manifest-path", FUZZ_MANIFEST, "--check"], env: &[] },
    },
    Step {
        name: "lint",
        needs: None,
        work: Work::Quiet {
            args: &["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"],
            env: &[],
        },
    },
    Step { name: "test", needs: None, work: Work::Shown { args: &["test", "--workspace", "--locked"] } },
    Step {
        name: "docs",
        needs: None,
        work: Work::Quiet {
            args: &["doc", "--workspace", "--no-deps", "--locked"],
            env: &[("RUSTDOCFLAGS", "-D warnings")],
        },
    },
    Step { name: "dependencies", needs: None, work: Work::Dependencies },
    Step {
        name: "fuzz targets",
        needs: Some(Tool::CppCompiler),
        work: Work::Quiet { args: &["check", "--manifest-path", FUZZ_MANIFEST, "--locked"], env: &[] },
    },
    Step { name: "unprivileged tests", needs: Some(Tool::UnprivilegedUser), work: Work::Unprivileged },
    Step { name: "mcp", needs: Some(Tool::McpClients), work: Work::Mcp },
    Step { name: "clients", needs: Some(Tool::Clients), work: Work::Clients },
];

const FUZZ_MANIFEST: &str = "fuzz/Cargo.toml";

/// The summary of a step that passed; most have none.
type Outcome = Result<String, Failure>;

pub fn command(args: Args) -> Result<bool, Failure> {
    args.finish()?;
    let ci = ci();
    let mut not_run = Vec::new();
    for step in STEPS {
        if let Some(missing) = step.needs.and_then(|tool| tool.missing(ci)) {
            not_run.push(format!("not run: {} ({missing})", step.name));
            continue;
        }
        if !run(step) {
            return Ok(false);
        }
    }
    for line in &not_run {
        println!("{line}");
    }
    if ci && !not_run.is_empty() {
        println!("check failed: under CI=true every step must run");
        return Ok(false);
    }
    Ok(true)
}

fn ci() -> bool {
    std::env::var("CI").is_ok_and(|value| value == "true")
}

/// Announces and runs one step, and prints its time. Returns whether it passed.
fn run(step: &Step) -> bool {
    let shown = matches!(step.work, Work::Shown { .. } | Work::Clients | Work::Mcp);
    print!("{:<20}{}", step.name, if shown { "\n" } else { "" });
    // If standard output is closed, nobody reads the check.
    let _ = std::io::stdout().flush();
    let start = Instant::now();
    let outcome = step.work.run();
    let seconds = start.elapsed().as_secs_f64();
    if shown {
        print!("{:<20}", step.name);
    }
    match &outcome {
        Ok(note) => println!("{}", format!("ok {seconds:7.1} s  {note}").trim_end()),
        Err(failure) => println!("FAILED {seconds:.1} s\n{failure}"),
    }
    outcome.is_ok()
}

impl Work {
    fn run(&self) -> Outcome {
        match self {
            Work::Quiet { args, env } => cargo(args, env, Stdio::piped),
            Work::Shown { args } => cargo(args, &[], Stdio::inherit),
            Work::Dependencies => dependencies::run(),
            Work::Unprivileged => tools::unprivileged_tests(),
            Work::Clients => clients::prove().map(|count| format!("runs: {count}")),
            Work::Mcp => mcp::prove().map(|count| format!("runs: {count}")),
        }
    }
}

fn cargo(args: &[&str], env: &[(&str, &str)], output_to: fn() -> Stdio) -> Outcome {
    let call = format!("cargo {}", args.join(" "));
    let mut command = repo::cargo();
    command.args(args).envs(env.iter().copied());
    // The fuzz targets are a separate workspace, which would build into a separate folder.
    command.env("CARGO_TARGET_DIR", repo::target_folder());
    // A clean checkout is built once: what incremental builds keep would only fill the disk.
    if ci() {
        command.env("CARGO_INCREMENTAL", "0");
    }
    command.stdin(Stdio::null()).stdout(output_to()).stderr(output_to());
    let child = command.spawn().map_err(|error| Failure::new(format!("cannot run `{call}`: {error}")))?;
    let output =
        child.wait_with_output().map_err(|error| Failure::new(format!("cannot await `{call}`: {error}")))?;
    if output.status.success() {
        return Ok(String::new());
    }
    let said =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    Err(Failure::new(format!("{said}`{call}` failed: {}", output.status)))
}
