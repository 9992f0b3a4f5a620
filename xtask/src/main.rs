//! `cargo xtask <command>`: the project's own commands.

use std::process::ExitCode;

use xtask::args::Args;
use xtask::failure::Failure;
use xtask::{
    bench, capture, check, claims, clients, common_terms, decisions, distil, mcp, relevance, schemas,
    simulate, stress, tidy, tokens, traces,
};

/// Whether the command succeeded: all checks passed, all limits are met.
type Verdict = Result<bool, Failure>;

struct Command {
    name: &'static str,
    usage: &'static str,
    about: &'static str,
    run: fn(Args) -> Verdict,
}

const COMMANDS: &[Command] = &[
    Command { name: "check", usage: "", about: "Run everything a change must pass", run: check::command },
    Command {
        name: "bench",
        usage: "[--sizes 100,1000,10000,100000] [--runs N] [--binary PATH] [--sets DIR] [--write FILE]",
        about: "Measure CPU time and memory of whole processes, or recall on the sets in a folder, against the targets",
        run: bench::command,
    },
    Command {
        name: "stress",
        usage: "[--processes 16] [--writes 200] [--seed 1] [--binary PATH]",
        about: "Write from many processes at once, kill some, and account for every write",
        run: stress::command,
    },
    Command {
        name: "clients",
        usage: "[--only CLIENT] [--scenario NAME] [--binary PATH] [--keep] [--record]",
        about: "Run the real agent clients against a scripted model, or record what they send",
        run: clients::command,
    },
    Command {
        name: "mcp",
        usage: "[--only NAME] [--binary PATH] [--speed MEMORIES]",
        about: "Run the SDKs, the Inspector and the conformance suite of MCP against the server, or measure it",
        run: mcp::command,
    },
    Command {
        name: "simulate",
        usage: "[--steps N] [--seed S] [--round R]",
        about: "Run the engine's seeded simulation of crashes and two writers",
        run: simulate::command,
    },
    Command {
        name: "traces",
        usage: "[--seed S] [--traces 200]",
        about: "Replay seeded sessions with the eviction policy of the working set, LRU and LFU, and compare them",
        run: traces::command,
    },
    Command {
        name: "schemas",
        usage: "[--check]",
        about: "Write the JSON schemas of the records, or compare them",
        run: schemas::command,
    },
    Command {
        name: "decisions",
        usage: "",
        about: "Write docs/decisions.md from the project's own records",
        run: decisions::command,
    },
    Command {
        name: "distil",
        usage: "[--write]",
        about: "Make the static table of vectors again from its sources, and compare it",
        run: distil::command,
    },
    Command {
        name: "common-terms",
        usage: "[--write]",
        about: "Count the common words of technical English again, and compare the table",
        run: common_terms::command,
    },
    Command {
        name: "tokens",
        usage: "[--sets DIR] [--vocabulary FILE [--write]]",
        about: "Compare the estimate of tokens with the exact count on folders of files, or make the table of o200k",
        run: tokens::command,
    },
    Command {
        name: "relevance",
        usage: "--sets DIR [--write]",
        about: "Fit the weights of the relevance estimate on labelled prompts, and measure reminders with them",
        run: relevance::command,
    },
    Command {
        name: "capture",
        usage: "--sets DIR [--write]",
        about: "Fit the weights of the detector of statements on labelled conversations, and measure it",
        run: capture::command,
    },
    Command {
        name: "claims",
        usage: "[--binary PATH] [--keep]",
        about: "Measure a deep audit on sentences about released packages, against the limits",
        run: claims::command,
    },
    Command {
        name: "tidy",
        usage: "[--verbose]",
        about: "Count what makes the code hard to read, against the limits",
        run: tidy::command,
    },
];

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let Some(name) = words.next() else {
        print!("{}", help());
        return ExitCode::SUCCESS;
    };
    if matches!(name.as_str(), "help" | "-h" | "--help") {
        print!("{}", help());
        return ExitCode::SUCCESS;
    }
    let Some(command) = COMMANDS.iter().find(|command| command.name == name) else {
        eprintln!("xtask has no command `{name}`\n\n{}", help());
        return ExitCode::from(2);
    };
    match (command.run)(Args::new(command.usage, words.collect())) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::from(2)
        }
    }
}

fn help() -> String {
    let mut text = String::from("The project's own commands\n\nUsage: cargo xtask <command>\n\n");
    for command in COMMANDS {
        text.push_str(&format!("  {:<9} {}\n", command.name, command.about));
        if !command.usage.is_empty() {
            text.push_str(&format!("            {}\n", command.usage));
        }
    }
    text
}
