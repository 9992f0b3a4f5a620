//! `trust`: allows a project's settings to weaken the user's own.

use super::{CliError, CliResult, Exit, Session, output};
use crate::view::TrustView;
use clap::Args;
use lorelane_core::json::JsonFormat;
use lorelane_core::policy::Weakening;
use lorelane_core::text::one_line;
use lorelane_engine::workspace::Workspace;
use std::fmt::Write as _;
use std::path::Path;

/// Allow this project's settings to weaken your own
///
/// Without trust, settings in a repository may only be stricter than yours. Shows what is held back and asks; --json
/// shows it without asking. Trust applies to this repository and these values: a value that changes is held back again.
#[derive(Clone, Copy, Debug, Args)]
#[command(after_help = "Example:\n  lorelane trust\n  lorelane trust --remove")]
pub struct TrustArgs {
    /// Trust without asking; required without a terminal
    #[arg(long)]
    yes: bool,
    /// Remove all trust in this repository
    #[arg(long, conflicts_with = "yes")]
    remove: bool,
}

pub(super) fn run(session: &Session<'_>, args: &TrustArgs) -> CliResult {
    let mut workspace = session.open()?;
    if args.remove {
        let removed = workspace.settings().distrust()?;
        let result = match removed {
            0 => "No change: this project is not trusted\n",
            _ => "This project is no longer trusted\n",
        };
        return Ok(print_result(session, &mut workspace, result));
    }
    if workspace.policy().held_back.is_empty() {
        let trusted = match workspace.policy().trusted.as_slice() {
            [] => String::new(),
            trusted => format!("; trusted: {}", keys(trusted)),
        };
        return Ok(print_result(session, &mut workspace, &format!("Nothing is held back{trusted}\n")));
    }
    if !args.yes {
        if session.json {
            return Ok(print_result(session, &mut workspace, ""));
        }
        output::out(&listed(&workspace));
        if !session.can_ask() {
            return Err(CliError::usage(
                format!("cannot trust this project: {}", Session::needs_confirmation()),
                "nothing was changed; read the settings above first",
            ));
        }
        if !output::ask("Trust this project with these settings?") {
            output::err("Nothing was changed");
            return Ok(Exit::Nothing);
        }
    }
    workspace.settings().trust()?;
    let now = keys(&workspace.policy().trusted);
    Ok(print_result(session, &mut workspace, &format!("Trusted; now in effect: {now}\n")))
}

/// Prints the text, or with `--json` the trust as it is now.
fn print_result(session: &Session<'_>, workspace: &mut Workspace, text: &str) -> Exit {
    if session.json {
        let repository = workspace.settings().repository();
        output::document(&TrustView::of(workspace.project(), &repository, workspace.policy()));
    } else {
        output::out(text);
    }
    Exit::Done
}

/// Everything that is held back, unabridged: a user must see what they trust.
fn listed(workspace: &Workspace) -> String {
    let mut text = format!("Held back in {}\n", workspace.project().display());
    for Weakening { key, value, file, effect, .. } in &workspace.policy().held_back {
        let file = Path::new(file);
        let file = file.strip_prefix(workspace.project()).unwrap_or(file).display();
        let value = one_line(&value.render(JsonFormat::LINE));
        let _ = writeln!(text, "  {key} = {value}  ({file})\n    {effect}");
    }
    text
}

pub(super) fn keys(weakenings: &[Weakening]) -> String {
    weakenings.iter().map(|weakening| weakening.key.as_str()).collect::<Vec<_>>().join(", ")
}
