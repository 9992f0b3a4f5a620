//! `config`: shows and changes settings.

use super::shared_args::ChangeArgs;
use super::{CliError, CliResult, Exit, Session, output};
use crate::view::{ConfigChangeView, OneSettingView, SettingsView};
use clap::Subcommand;
use lorelane_core::json::JsonFormat;
use lorelane_core::policy::{self, Setting, Weakening};
use std::fmt::Write as _;
use std::path::Path;

/// Show and change settings
#[derive(Debug, Subcommand)]
#[command(after_help = "Example:\n  lorelane config list\n  lorelane config set delete.grace_period_days 14")]
pub enum ConfigCommand {
    /// Print the value of a key
    #[command(after_help = "Example:\n  lorelane config get delete.grace_period_days")]
    Get {
        /// Key, as `config list` prints it
        key: String,
    },
    /// Set a key in the file it belongs to
    #[command(after_help = "Example:\n  lorelane config set delete.grace_period_days 14")]
    Set {
        /// Key, as `config list` prints it
        key: String,
        /// New value
        #[arg(allow_negative_numbers = true)]
        value: String,
        #[command(flatten)]
        change: ChangeArgs,
    },
    /// Print every key with its value and the file it comes from
    #[command(after_help = "Example:\n  lorelane config list")]
    List,
}

pub(super) fn run(session: &Session<'_>, command: &ConfigCommand) -> CliResult {
    let mut workspace = session.open()?;
    match command {
        ConfigCommand::List => {
            if session.json {
                output::document(&SettingsView::of(workspace.policy()));
            } else {
                let mut text = String::new();
                for setting in workspace.policy().settings() {
                    let file = setting.file.as_deref().map(Path::new);
                    // Most files are in the project: repeating its path on every line adds nothing.
                    let inside = file.map(|file| file.strip_prefix(workspace.project()).unwrap_or(file));
                    let origin =
                        inside.map_or_else(|| "default".to_owned(), |file| file.display().to_string());
                    let _ = writeln!(text, "{} = {}  ({origin})", setting.key, shown(setting));
                }
                output::out(&text);
            }
            for problem in &workspace.policy().problems {
                output::err(&format!("warning: {problem}"));
            }
            print_held_back(&workspace.policy().held_back);
        }
        ConfigCommand::Get { key } => {
            let Some(setting) = workspace.policy().get(key) else {
                return Err(CliError::usage(
                    format!("'{key}' is not a key"),
                    "`lorelane config list` shows all keys",
                ));
            };
            print_held_back(workspace.policy().held_back.iter().filter(|held| held.key == *key));
            if session.json {
                output::document(&OneSettingView::of(setting));
            } else {
                output::out(&format!("{}\n", shown(setting)));
            }
        }
        ConfigCommand::Set { key, value, change } => {
            let (known, value) = policy::check(key, value).map_err(|why| {
                CliError::usage(
                    format!("cannot set `{key}`: {why}"),
                    "`lorelane config list` shows every key with its value",
                )
            })?;
            let (file, notices) = workspace.settings().set_config(known.home, key, &value, change.dry_run)?;
            output::notices(&notices);
            let did = if change.dry_run { "Would set" } else { "Set" };
            if session.json {
                output::document(&ConfigChangeView::of(key, &value, &file));
            } else {
                output::out(&format!(
                    "{did} {key} = {} in {}\n",
                    value.render(JsonFormat::LINE),
                    file.display()
                ));
            }
        }
    }
    Ok(Exit::Done)
}

fn print_held_back<'h>(held_back: impl IntoIterator<Item = &'h Weakening>) {
    for held in held_back {
        output::err(&format!("warning: held back until `lorelane trust`: {held}"));
    }
}

fn shown(setting: &Setting) -> String {
    setting.value.as_ref().map_or_else(|| "not set".to_owned(), |value| value.render(JsonFormat::LINE))
}
