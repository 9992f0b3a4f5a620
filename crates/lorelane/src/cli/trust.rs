//! Whether the settings that come with a project may weaken the user's own.

use super::{CliError, CliResult, Exit, Session, output};
use crate::view::TrustView;
use clap::Args;
use lorelane_core::json::JsonFormat;
use lorelane_core::policy::Weakening;
use lorelane_core::text::one_line;
use lorelane_engine::workspace::Workspace;
use std::fmt::Write as _;
use std::io::IsTerminal;
use std::path::Path;

/// Let the settings that come with this project weaken your own
///
/// Until then settings in a repository may only be stricter than yours. Shows what is held back and asks; --json
/// shows it without asking. Trust is remembered for this repository and these values: when one of them changes, it
/// is held back again.
#[derive(Clone, Copy, Debug, Args)]
#[command(after_help = "Example:\n  lorelane trust\n  lorelane trust --remove")]
pub struct TrustArgs {
    /// Trust it without being asked
    #[arg(long)]
    yes: bool,
    /// Take back all trust in this repository
    #[arg(long, conflicts_with = "yes")]
    remove: bool,
}

pub(super) fn run(session: &Session<'_>, args: &TrustArgs) -> CliResult {
    let mut workspace = session.open()?;
    if args.remove {
        let removed = workspace.settings().distrust()?;
        let did = if removed == 0 { "was not trusted" } else { "is no longer trusted" };
        return Ok(shown(session, &mut workspace, &format!("this project {did}\n")));
    }
    if workspace.policy().held_back.is_empty() {
        let trusted = match workspace.policy().trusted.as_slice() {
            [] => String::new(),
            trusted => format!("; trusted: {}", keys(trusted)),
        };
        return Ok(shown(session, &mut workspace, &format!("nothing is held back{trusted}\n")));
    }
    if !args.yes {
        if session.json {
            return Ok(shown(session, &mut workspace, ""));
        }
        output::out(&listed(&workspace));
        if !std::io::stdin().is_terminal() {
            return Err(CliError::usage(
                "cannot trust this project: it needs confirmation, and there is no terminal",
                "nothing was changed; `lorelane trust --yes` trusts it",
            ));
        }
        if !output::ask("trust this project with these settings?") {
            output::err("nothing was changed");
            return Ok(Exit::Nothing);
        }
    }
    workspace.settings().trust()?;
    let now = keys(&workspace.policy().trusted);
    Ok(shown(session, &mut workspace, &format!("trusted; now in force: {now}\n")))
}

/// Ends with a document for machines or words for people.
fn shown(session: &Session<'_>, workspace: &mut Workspace, words: &str) -> Exit {
    if session.json {
        let repository = workspace.settings().repository();
        output::document(&TrustView::of(workspace.project(), &repository, workspace.policy()));
    } else {
        output::out(words);
    }
    Exit::Done
}

/// What is held back, in full: whoever trusts it must have seen it.
fn listed(workspace: &Workspace) -> String {
    let mut text = format!("held back in {}\n", workspace.project().display());
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
