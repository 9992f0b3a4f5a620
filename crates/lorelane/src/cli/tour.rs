//! `tour`: runs the main commands as processes in a scratch folder with its own home.

use super::{CliError, CliResult, Exit, FULL_PATH_HINT, output, this_program};
use clap::Args;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Watch the main commands run in a scratch folder
///
/// Takes a few seconds. Prints each command with its output and removes the folder at the end. Your project and home are
/// not touched.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  lorelane tour")]
pub struct TourArgs;

/// One step: what it shows, and the arguments of `lorelane`.
struct TourStep {
    story: &'static str,
    words: &'static [&'static str],
}

const STEPS: &[TourStep] = &[
    TourStep { story: "A store is a folder of plain files in your repository.", words: &["init"] },
    TourStep {
        story: "Save a decision. Invalid input would be rejected, with every error listed.",
        words: &[
            "create",
            "decision",
            "--title",
            "Use JWT for service auth",
            "--tag",
            "auth",
            "--set",
            "context=Services call each other without a user",
            "--set",
            "decision=Short-lived JWT, signed per service",
            "--set",
            "rationale=No session store to run",
        ],
    },
    TourStep {
        story: "Save a constraint that agents keep running into.",
        words: &[
            "create",
            "constraint",
            "--title",
            "Gateway rate limit is 100 requests a second",
            "--tag",
            "gateway",
            "--set",
            "kind=limitation",
            "--set",
            "severity=high",
            "--set",
            "rule=More than 100 requests a second are dropped without an error",
            "--set",
            "impact=Batch jobs lose writes",
        ],
    },
    TourStep {
        story: "Secrets are rejected, and their values masked.",
        words: &[
            "create",
            "runbook",
            "--title",
            "Reach the staging bucket",
            "--set",
            "trigger=Upload fails",
            "--set",
            // In two parts, so that no scanner takes this file for a leak.
            concat!("steps=export AWS_ACCESS_KEY_ID=AKIA", "4TGHN2WQ7VKJX3ZD"),
            "--set",
            "verification=Upload works",
        ],
    },
    TourStep {
        story: "Later, search for it in other words.",
        words: &["search", "how do services authenticate to each other"],
    },
    TourStep {
        story: "Why was it found? Every point of the score is explained.",
        words: &["search", "service auth", "--explain"],
    },
    TourStep {
        story: "The decision is no longer true: retire it, with a reason.",
        words: &["retire", "use-jwt-for-service-auth", "--reason", "moved to mTLS"],
    },
    TourStep { story: "Search no longer finds it.", words: &["search", "service auth"] },
    TourStep {
        story: "Nothing is lost: the log has every change, and undo reverts the last one.",
        words: &["log"],
    },
    TourStep { story: "", words: &["undo"] },
    TourStep {
        story: "A working set (`lorelane ws init`): what stays in an agent's context. Agents advise, rules decide, the log says why.",
        words: &[
            "ws",
            "add",
            "memory:decision/use-jwt-for-service-auth",
            "--because",
            "the task is about it",
        ],
    },
    TourStep {
        story: "",
        words: &[
            "ws",
            "advise",
            "--cold",
            "memory:decision/use-jwt-for-service-auth",
            "--because",
            "the task is done",
        ],
    },
    TourStep { story: "", words: &["ws", "log", "--limit", "1"] },
    TourStep {
        story: "Two active memories, and every file and folder that lorelane may write.",
        words: &["status"],
    },
];

pub(super) fn run() -> CliResult {
    let binary = this_program()?;
    let scratch = TourFolder::new().map_err(|why| {
        CliError::usage(
            format!("cannot create a scratch folder: {why}"),
            "set TMPDIR to a folder that you can write to",
        )
    })?;
    let project = scratch.0.join("shop");
    // An empty `.git` folder isolates the tour: the search for a store stops at it, and nothing reads its contents.
    std::fs::create_dir_all(project.join(".git")).map_err(|why| {
        CliError::usage(format!("cannot create {}: {why}", project.display()), "set TMPDIR")
    })?;
    let run_step = |words: &[&str]| {
        let ran = Command::new(&binary)
            .args(words)
            .current_dir(&project)
            .env("HOME", scratch.0.join("home"))
            .env("LORELANE_HOME", scratch.0.join("home"))
            .stdin(Stdio::null())
            .output();
        let failed = |why: std::io::Error| {
            CliError::usage(format!("cannot run {}: {why}", binary.display()), FULL_PATH_HINT)
        };
        ran.map_err(failed)
    };
    for step in STEPS {
        if !step.story.is_empty() {
            output::out(&format!("\n# {}\n", step.story));
        }
        // Its list of new files is longer than all that the tour says about the working set.
        if step.words.starts_with(&["ws", "add"]) {
            run_step(&["ws", "init"])?;
        }
        output::out(&format!("$ lorelane {}\n", typed(step.words)));
        let output = run_step(step.words)?;
        for stream in [&output.stdout, &output.stderr] {
            let text = String::from_utf8_lossy(stream).replace(&scratch.0.display().to_string(), "~");
            output::out(&text);
        }
    }
    output::out("\nThe scratch folder is removed. To start in your project, run: lorelane init\n");
    Ok(Exit::Done)
}

/// The arguments as typed in a shell.
fn typed(words: &[&str]) -> String {
    let quote = |word: &&str| if word.contains(' ') { format!("\"{word}\"") } else { (*word).to_owned() };
    words.iter().map(quote).collect::<Vec<_>>().join(" ")
}

/// A private folder that is removed at the end of the tour.
struct TourFolder(PathBuf);

impl TourFolder {
    fn new() -> std::io::Result<TourFolder> {
        let base = std::fs::canonicalize(std::env::temp_dir())?;
        let mut tries = 0;
        loop {
            let path = base.join(format!("lorelane-tour-{}-{tries}", std::process::id()));
            match make_private(&path) {
                Ok(()) => return Ok(TourFolder(path)),
                Err(fault) if fault.kind() == std::io::ErrorKind::AlreadyExists && tries < 100 => tries += 1,
                Err(fault) => return Err(fault),
            }
        }
    }
}

#[cfg(unix)]
fn make_private(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    std::fs::DirBuilder::new().mode(0o700).create(path)
}

#[cfg(not(unix))]
fn make_private(path: &Path) -> std::io::Result<()> {
    std::fs::create_dir(path)
}

impl Drop for TourFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
