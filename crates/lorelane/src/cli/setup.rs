//! `setup`: connects agents to lorelane, or disconnects them.

use super::shared_args::ChangeArgs;
use super::{CliError, CliResult, Exit, Session, output, this_program};
use crate::view::{AgentsView, ClientSetupView, GitHookView, NoRulesView, RemovedRulesView, SetupView};
use clap::Args;
use lorelane_core::text::cut;
use lorelane_engine::setup::{
    self, Client, FileStep, GitHookStep, HookStrictness, NAME, Setup, SetupError, SetupExtra, SetupMode,
    SetupPlan,
};
use std::fmt::Write as _;

/// The words that mean the pre-commit hook and not a client.
const GIT_HOOK: [&str; 2] = ["git", "hook"];

/// The word that means the blocks that `inbox accept --to` writes.
const RULES: &str = "rules";

/// Limit of lines that are shown of a change.
const DIFF_LINES: usize = 12;

/// Connect agents to lorelane, or disconnect them
///
/// Without CLIENT it finds the agents on this machine and asks about each. The installed hooks call this program by its
/// full path. The rest of a settings file is not changed, and a backup is kept; `--remove` restores your settings files
/// exactly.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  lorelane setup claude-code --dry-run\n  lorelane setup --remove claude-code"
)]
pub struct SetupArgs {
    /// claude-code, codex, gemini, copilot, opencode, cursor, windsurf or zed; by default those that are found. `git
    /// hook` is the pre-commit hook that runs `check`; with --remove, `rules` is what `inbox accept --to` wrote
    #[arg(value_name = "CLIENT")]
    clients: Vec<String>,
    /// Remove what was installed
    #[arg(long)]
    remove: bool,
    /// Do not ask about each agent
    #[arg(long)]
    yes: bool,
    /// For `git hook`: reject a commit that breaks a memory, instead of warning
    #[arg(long)]
    block: bool,
    /// Also offer the tools of the working set to the agent: working-set. Later setups keep it, until --remove
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = extra, conflicts_with = "remove")]
    with: Vec<SetupExtra>,
    #[command(flatten)]
    change: ChangeArgs,
}

fn extra(text: &str) -> Result<SetupExtra, String> {
    let names = || SetupExtra::ALL.map(SetupExtra::name).join(", ");
    let known = SetupExtra::ALL.into_iter().find(|extra| extra.name() == text);
    known.ok_or_else(|| format!("use one of {}", names()))
}

/// What was done for one client, or why not.
struct SetupAction {
    client: Client,
    result: Result<SetupPlan, SetupError>,
}

pub(super) fn run(session: &Session<'_>, args: &SetupArgs) -> CliResult {
    let aim = if args.remove { SetupMode::Remove } else { SetupMode::Install };
    if args.clients.iter().map(String::as_str).eq(GIT_HOOK) {
        return git_hook(session, args, aim);
    }
    if args.clients == [RULES] {
        return rules(session, args, aim);
    }
    let agents = open(session)?;
    let wanted = if args.clients.is_empty() {
        let Some(wanted) = choose(session, &agents, args, aim) else { return list(session, &agents) };
        wanted
    } else {
        named(&args.clients)?
    };
    let did: Vec<SetupAction> = wanted
        .into_iter()
        .map(|client| {
            let planned = agents.plan(client, aim, &args.with);
            let result = planned.and_then(|plan| {
                if !args.change.dry_run {
                    agents.carry_out(&plan)?;
                }
                Ok(plan)
            });
            SetupAction { client, result }
        })
        .collect();
    let exit = report(session, &did, args.change.dry_run);
    let called = setup::called(session.env);
    if aim == SetupMode::Install && called != NAME {
        output::err(&format!(
            "note: `{NAME}` is not on the PATH; agents will run {called}\nhint: do not move it, or add its folder to the PATH"
        ));
    }
    exit
}

/// Takes what `inbox accept --to` wrote out of the files of this project.
fn rules(session: &Session<'_>, args: &SetupArgs, aim: SetupMode) -> CliResult {
    if aim == SetupMode::Install {
        let hint = "`lorelane inbox accept N --to claude-md` writes a rule; --remove takes all of them out";
        return Err(CliError::usage("cannot set up rules", hint));
    }
    let dry_run = args.change.dry_run;
    let steps = session.open()?.capture().remove_rules(dry_run)?;
    let files: Vec<RemovedRulesView> = steps.iter().map(RemovedRulesView::of).collect();
    let is_empty = files.is_empty();
    if session.json {
        output::document(&NoRulesView { dry_run, files });
    } else if is_empty {
        output::out("No change: this project has no rules of lorelane\n");
    } else {
        let would = if dry_run { "would be " } else { "" };
        let line = |file: &RemovedRulesView| match file.did {
            "unchanged" => format!("No change: {}\n", file.file),
            did => format!("{} {would}{did}\n", file.file),
        };
        output::out(&files.iter().map(line).collect::<String>());
    }
    Ok(if is_empty { Exit::Nothing } else { Exit::Done })
}

/// Installs or removes the pre-commit hook.
fn git_hook(session: &Session<'_>, args: &SetupArgs, aim: SetupMode) -> CliResult {
    let project = session.open()?.project().to_owned();
    let strictness = if args.block { HookStrictness::Block } else { HookStrictness::Warn };
    let (program, dry_run) = (setup::called(session.env), args.change.dry_run);
    let step = setup::set_up_git_hook(&project, &program, aim, strictness, dry_run).map_err(|fault| {
        CliError::usage(
            format!("cannot set up the git hook: {fault}"),
            "fix it, or call `lorelane check --staged` in your own hook",
        )
    })?;
    if session.json {
        output::document(&GitHookView::of(&step, dry_run));
        return Ok(Exit::Done);
    }
    let (did, kept) = (if dry_run { "Would " } else { "" }, "; the hook that was there runs after it");
    output::out(&match &step {
        GitHookStep::Install { file, keeps_former } => {
            let verb = if dry_run { "install" } else { "Installed" };
            format!("{did}{verb} {}{}\n", file.display(), if *keeps_former { kept } else { "" })
        }
        GitHookStep::Remove { file, restores_former } => {
            let verb = if dry_run { "remove" } else { "Removed" };
            let back = if *restores_former { "; the hook that was there before is back" } else { "" };
            format!("{did}{verb} {}{back}\n", file.display())
        }
        GitHookStep::TakeOut { file } => {
            let verb = if dry_run { "take" } else { "Took" };
            format!("{did}{verb} lorelane's lines out of {}; the lines that you added stay\n", file.display())
        }
        GitHookStep::Already { file } => format!("No change: {}\n", file.display()),
        GitHookStep::PrintLine { folder, line } => {
            format!("Hooks are in {folder} (core.hooksPath). Add this line to its pre-commit hook:\n{line}\n")
        }
    });
    Ok(Exit::Done)
}

/// The setup of the agents on this machine.
pub(super) fn open(session: &Session<'_>) -> Result<Setup, CliError> {
    Ok(Setup::new(session.env, &this_program()?)?)
}

fn named(names: &[String]) -> Result<Vec<Client>, CliError> {
    let read = |name: &String| {
        Client::parse(name).ok_or_else(|| {
            let known = Client::ALL.map(Client::name).join(", ");
            CliError::usage(format!("'{name}' is not a client"), format!("choose from {known}"))
        })
    };
    let mut clients = names.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    clients.dedup();
    Ok(clients)
}

/// The clients that the user confirmed; `None` if there is nobody to ask.
fn choose(session: &Session<'_>, setup: &Setup, args: &SetupArgs, aim: SetupMode) -> Option<Vec<Client>> {
    let candidates: Vec<Client> = match aim {
        SetupMode::Remove => Client::ALL.into_iter().filter(|client| setup.is_installed(*client)).collect(),
        SetupMode::Install => setup.found().into_iter().map(|found| found.client).collect(),
    };
    if candidates.is_empty() {
        return None;
    }
    if args.yes || args.change.dry_run {
        return Some(candidates);
    }
    if !session.can_ask() {
        return None;
    }
    let question = |client: &Client| match aim {
        SetupMode::Install => format!("Set up {}?", client.name()),
        SetupMode::Remove => format!("Remove lorelane from {}?", client.name()),
    };
    Some(candidates.into_iter().filter(|client| output::ask(&question(client))).collect())
}

/// Without a terminal: prints what was found, and the commands to run.
fn list(session: &Session<'_>, setup: &Setup) -> CliResult {
    let found = setup.found();
    if session.json {
        output::document(&AgentsView::of(&found));
    } else if found.is_empty() {
        output::err("No agents found on this machine\nhint: `lorelane setup CLIENT` sets one up anyway");
    } else {
        let mut text = String::new();
        for found in &found {
            let name = found.client.name();
            let next = match found.installed {
                true => format!("set up; to remove it, run `lorelane setup --remove {name}`"),
                false => format!("not set up; run `lorelane setup {name}`"),
            };
            let _ = writeln!(text, "{name:<12} {next}  ({})", found.because.display());
        }
        output::out(&text);
    }
    Ok(if found.is_empty() { Exit::Nothing } else { Exit::Done })
}

fn report(session: &Session<'_>, did: &[SetupAction], dry_run: bool) -> CliResult {
    if session.json {
        let clients = did.iter().map(|did| ClientSetupView::of(did.client, &did.result)).collect();
        output::document(&SetupView { dry_run, clients });
    } else {
        output::out(
            &did.iter()
                .filter_map(|did| did.result.as_ref().ok())
                .map(|plan| plan_text(plan, dry_run))
                .collect::<String>(),
        );
    }
    let mut refused = false;
    let mut failed = None;
    for did in did {
        match &did.result {
            Ok(plan) => {
                for warning in &plan.warnings {
                    output::err(&format!("warning: {warning}"));
                }
                for left in &plan.left {
                    output::err(&format!(
                        "warning: not removed: {left}\nhint: delete it yourself if it is not needed"
                    ));
                    refused = true;
                }
            }
            Err(fault) => {
                let hint = fault.hint().map(|hint| format!("\nhint: {hint}")).unwrap_or_default();
                output::err(&format!("error: {fault}{hint}"));
                refused = true;
                failed = failed.or((!fault.is_refusal()).then_some(Exit::Failed));
            }
        }
    }
    Ok(failed.unwrap_or(if refused { Exit::Nothing } else { Exit::Done }))
}

/// What was done for one client, or would be.
fn plan_text(plan: &SetupPlan, dry_run: bool) -> String {
    let name = plan.client.name();
    if plan.steps.is_empty() {
        return match plan.aim {
            SetupMode::Install => format!("No change: {name} is already set up\n"),
            SetupMode::Remove => format!("No change: {name} is not set up\n"),
        };
    }
    let mut text = match (plan.aim, dry_run) {
        (SetupMode::Install, false) => format!("Set up {name}\n"),
        (SetupMode::Install, true) => format!("Would set up {name}\n"),
        (SetupMode::Remove, false) => format!("Removed lorelane from {name}\n"),
        (SetupMode::Remove, true) => format!("Would remove lorelane from {name}\n"),
    };
    // Files in lorelane's own folder are many and concern nobody else: they are only counted.
    let own = plan.steps.iter().filter(|step| step.within.is_some()).count();
    if let Some(within) = plan.steps.iter().find_map(|step| step.within.as_ref()) {
        let files = output::count(own, "file", "files");
        let _ = writeln!(text, "  {files} in {}", within.display());
    }
    for step in plan.steps.iter().filter(|step| step.within.is_none()) {
        let did = match (&step.before, &step.after) {
            (None, _) => "created",
            (_, None) => "removed",
            _ => "changed",
        };
        let _ = writeln!(text, "  {did}  {}", step.path.display());
        if dry_run {
            text.push_str(&difference(step));
        }
    }
    if let (SetupMode::Install, false) = (plan.aim, dry_run) {
        let _ = writeln!(text, "  next     {}", next(plan.client));
    }
    text
}

fn next(client: Client) -> &'static str {
    match client {
        Client::Codex => "start codex and approve the hooks once; it does not run them before",
        Client::ClaudeCode => "start a new session; `/lorelane:status` shows whether it works",
        _ => "start a new session",
    }
}

/// The first lines of the difference: what is left without the common beginning and end.
fn difference(step: &FileStep) -> String {
    let text =
        |bytes: &Option<Vec<u8>>| String::from_utf8_lossy(bytes.as_deref().unwrap_or_default()).into_owned();
    let (before, after) = (text(&step.before), text(&step.after));
    let (before, after): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let head = before.iter().zip(&after).take_while(|(a, b)| a == b).count();
    let (before, after) = (&before[head..], &after[head..]);
    let foot = before.iter().rev().zip(after.iter().rev()).take_while(|(a, b)| a == b).count();
    let gone = before[..before.len() - foot].iter().map(|line| ('-', line));
    let new = after[..after.len() - foot].iter().map(|line| ('+', line));
    let mut text = String::new();
    let mut more = 0;
    for (count, (sign, line)) in gone.chain(new).enumerate() {
        if count < DIFF_LINES {
            let _ = writeln!(text, "    {sign} {}", cut(line, 100));
        } else {
            more += 1;
        }
    }
    if more > 0 {
        let _ = writeln!(text, "    … {}", output::count(more, "more line", "more lines"));
    }
    text
}
