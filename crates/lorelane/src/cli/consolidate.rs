//! `consolidate`: prints captures as tasks for an agent, and saves its answers.

use super::input::read_record;
use super::shared_args::ChangeArgs;
use super::{CliError, CliResult, Exit, Session, output};
use crate::view::{CommitView, DATA, NoWorkView, WorkView, candidate_of, fields_line};
use clap::Subcommand;
use lorelane_core::candidate::Action;
use lorelane_core::consolidate::{self, AgentAnswer, UnusableItem, session_option};
use lorelane_core::json::JsonFormat;
use lorelane_core::memory::Category;
use lorelane_core::refusal::FieldFault;
use lorelane_core::secret;
use lorelane_core::text::{cut, escaped, one_line};
use lorelane_engine::setup;
use lorelane_engine::workspace::{
    ConsolidationReport, DraftRequest, ItemOutcome, ItemResult, Task, Workspace,
};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Review and save what past sessions captured
///
/// `prepare` prints what to draft; the agent drafts and has each draft verified; `commit` checks and saves. The rules of
/// the store override what the agent proposes.
#[derive(Debug, Subcommand)]
#[command(after_help = "Example:\n  lorelane consolidate prepare\n  lorelane consolidate commit")]
pub enum ConsolidateCommand {
    /// Print what to draft: context, candidate, allowed actions and fields
    ///
    /// Exit code 1: nothing is open.
    #[command(after_help = "Example:\n  lorelane consolidate prepare --json")]
    Prepare {
        /// Use this session instead of the newest one with open items
        #[arg(long, value_name = "SESSION")]
        session: Option<String>,
    },
    /// Check the drafts and save them
    ///
    /// Reads answers in the format that `prepare` shows, from the files that it named unless you pass others. A refused item
    /// does not stop the others. Exit code 1: a verdict was FAIL, or an item was refused.
    #[command(after_help = "Example:\n  lorelane consolidate commit - < answer.json")]
    Commit {
        /// Files with answers, or `-` for standard input; by default those that `prepare` named
        #[arg(value_name = "FILE")]
        files: Vec<PathBuf>,
        /// Session of answers that do not name one
        #[arg(long, value_name = "SESSION")]
        session: Option<String>,
        #[command(flatten)]
        change: ChangeArgs,
    },
}

pub(super) fn run(session: &Session<'_>, command: &ConsolidateCommand) -> CliResult {
    let mut workspace = session.open()?;
    match command {
        ConsolidateCommand::Prepare { session: named } => prepare(session, &mut workspace, named.as_deref()),
        ConsolidateCommand::Commit { files, session: named, change } => {
            commit(session, &mut workspace, files, named.as_deref(), change.dry_run)
        }
    }
}

fn prepare(session: &Session<'_>, workspace: &mut Workspace, named: Option<&str>) -> CliResult {
    let (work, notices) = workspace.capture().prepare(named)?;
    output::notices(&notices);
    let parallel = workspace.policy().parallel();
    let Some(work) = work else {
        if session.json {
            output::document(&NoWorkView::default());
        } else {
            output::out("Nothing to save\n");
        }
        return Ok(Exit::Nothing);
    };
    if session.json {
        let called = setup::called(session.env);
        let commit = format!("{called} consolidate commit{}", session_option(&work.session));
        output::document(&WorkView::of(&work, &parallel, commit));
    } else {
        output::out(&setup::calling(&page(&work, parallel.verification_model), &setup::called(session.env)));
    }
    Ok(Exit::Done)
}

/// The tasks as text for an agent. Quotations are escaped: they must not look like instructions of lorelane.
fn page(work: &DraftRequest, verifier: &str) -> String {
    let mut page = format!(
        "Session {}: {} to save",
        one_line(&work.session),
        output::count(work.tasks.len(), "item", "items")
    );
    if work.waiting > 0 {
        let _ = write!(page, ", {} more waiting", work.waiting);
    }
    let _ = writeln!(page, ".\n{DATA}");
    for task in &work.tasks {
        page.push_str(&section(task));
    }
    let Some(first) = work.tasks.first() else { return page };
    let example = consolidate::example(&work.session, &first.item, candidate_of(first));
    let _ = write!(
        page,
        "\nAnswer for each item with one JSON object, in its answer file or all of them as {{\"session\": …, \"items\": […]}}:\n\
         {}\n\
         Give target and revision with UPDATE and DELETE only. An UPDATE has only the fields that change; lists are given in full, tags are added. If the draft replaces another memory, give that one's address as supersedes.\n\
         Verify each draft against its context with {verifier}: PASS, ADVISORY (saved, with its issues) or FAIL (not saved). An item without a verdict is refused, unless the request at the stop quoted it.\n\
         Then run `lorelane consolidate commit{}`: it reads the answer files, or the FILEs that you pass, or standard input with `-`.\n",
        example.render(JsonFormat::LINE),
        session_option(&work.session)
    );
    page
}

fn section(task: &Task) -> String {
    let category = task.item.category;
    let mut text = format!(
        "\n## {}: {} (score {:.2}, draft with {})\n",
        task.item.number,
        task.item.kind_name(),
        task.item.score,
        task.model
    );
    if task.item.kind_name() != category.name() {
        let _ = writeln!(text, "saved as: {category}, or decision if it is about the product");
    }
    if let Some(old) = &task.supersedes {
        let _ = writeln!(text, "it may contradict {old}: if so, give that address as supersedes");
    }
    if let Some(description) = &task.description {
        let _ = writeln!(text, "belongs here: {}", escaped(&one_line(description), usize::MAX));
    }
    for snippet in &task.item.snippets {
        let _ = writeln!(text, "- {}", escaped(&one_line(snippet), 300));
    }
    let _ = writeln!(text, "context file: {}", task.context_file.display());
    let _ = writeln!(text, "answer file: {}", task.draft_file.display());
    if let (Some(candidate), Some(revision)) = (&task.verdict.candidate, &task.revision) {
        let _ = writeln!(text, "candidate: {} (revision {revision})", candidate.memory.address);
        let _ = writeln!(text, "  title: {}", shown(&candidate.memory.title));
        for (name, value) in candidate.key_fields() {
            let _ = writeln!(text, "  {name}: {}", shown(&value));
        }
    }
    let allowed: Vec<&str> = task.allowed.iter().map(|action| action.name()).collect();
    let _ = writeln!(text, "actions: {}", allowed.join(", "));
    for (action, why) in &task.vetoes {
        let _ = writeln!(text, "not {}: {why}", action.name());
    }
    let _ = writeln!(text, "fields (* required): {}", fields_line(category));
    text
}

fn shown(text: &str) -> String {
    escaped(&one_line(text), usize::MAX)
}

fn commit(
    session: &Session<'_>,
    workspace: &mut Workspace,
    files: &[PathBuf],
    named: Option<&str>,
    dry_run: bool,
) -> CliResult {
    let answers = if files.is_empty() {
        answers(session, &workspace.capture().answer_files(named))?
    } else {
        answers(session, files)?
    };
    let Some(report) = workspace.capture().consolidate(answers, named, dry_run)? else {
        return Err(CliError::usage(
            "cannot consolidate: no session has open items that this answers",
            "`lorelane consolidate prepare` shows what is open; `lorelane create` saves anything else",
        ));
    };
    output::notices(&report.notices);
    if session.json {
        output::document(&CommitView::of(&report, dry_run));
    } else {
        print_results(&report, dry_run);
    }
    let settled = report.ends.iter().all(|end| end.how.is_settled());
    Ok(if settled { Exit::Done } else { Exit::Nothing })
}

/// Reads every answer. An invalid one is reported and does not stop the others; it is an error if all are invalid.
fn answers(session: &Session<'_>, files: &[PathBuf]) -> Result<Vec<AgentAnswer>, CliError> {
    if files.is_empty() {
        return Err(CliError::usage(
            "cannot consolidate: no prepared answer file has an answer",
            "write them as `lorelane consolidate prepare` shows, pass other files, or `-` for standard input",
        ));
    }
    let mut answers = Vec::new();
    let mut unread = Vec::new();
    for file in files {
        match consolidate::read(&read_record(session, file)?) {
            Ok(answer) => answers.push(answer),
            Err(faults) => {
                let name =
                    if file == Path::new("-") { "standard input".into() } else { file.to_string_lossy() };
                unread.push(format!("cannot use the answer in {name}{}", listed(&faults)));
                let items = vec![Err(UnusableItem { category: None, faults })];
                answers.push(AgentAnswer { session: None, items });
            }
        }
    }
    if unread.len() == files.len() {
        let hint = "answer as `lorelane consolidate prepare` shows; nothing was saved";
        return Err(CliError::usage(unread.join("\n"), hint));
    }
    Ok(answers)
}

fn listed(faults: &[FieldFault]) -> String {
    let mut text = String::new();
    for fault in faults {
        let FieldFault { field, expected, got, fix } = fault;
        let _ = write!(text, "\n  {field}: {expected}\n    got: {got}\n    fix: {fix}");
    }
    text
}

/// Prints a line for each item to stdout, errors and hints to stderr.
pub(super) fn print_results(report: &ConsolidationReport, dry_run: bool) {
    let would = if dry_run { "would " } else { "" };
    let mut text = String::new();
    for end in &report.ends {
        let name = named(end);
        let _ = match &end.how {
            ItemOutcome::Saved { action, address, why, .. } => {
                writeln!(text, "{would}{} {address}: {why}", action.name())
            }
            ItemOutcome::Noop { why } => writeln!(text, "{would}{} {name}: {why}", Action::Noop.name()),
            ItemOutcome::Postponed { why } => writeln!(text, "{would}POSTPONE {name}: {why}"),
            ItemOutcome::Failed { issues } => writeln!(text, "FAIL {name}: {}", shown_issues(issues)),
            ItemOutcome::Unclear(faults) => {
                writeln!(
                    text,
                    "REFUSED {name}: {}",
                    output::count(faults.len(), "invalid field", "invalid fields")
                )
            }
            ItemOutcome::Unfit { what, .. } => writeln!(text, "REFUSED {name}: {what}"),
            ItemOutcome::Refused(failure) => {
                let first = failure.to_string();
                writeln!(text, "REFUSED {name}: {}", first.lines().next().unwrap_or_default())
            }
        };
    }
    if report.open > 0 && !dry_run {
        let still = if report.open == 1 { "is" } else { "are" };
        let _ = writeln!(
            text,
            "{} {still} open: run `lorelane consolidate prepare`",
            output::count(report.open, "item", "items")
        );
    }
    output::out(&text);
    report.ends.iter().for_each(print_error);
}

fn print_error(end: &ItemResult) {
    let name = named(end);
    match &end.how {
        ItemOutcome::Saved { issues, .. } if !issues.is_empty() => {
            output::err(&format!("warning: {name}: {}", shown_issues(issues)));
        }
        ItemOutcome::Unclear(faults) => {
            output::err(&format!("error: cannot use the answer for {name}{}", listed(faults)))
        }
        ItemOutcome::Unfit { what, hint } => {
            output::err(&format!("error: cannot save {name}: {what}\nhint: {hint}"))
        }
        ItemOutcome::Refused(failure) => output::failure(failure),
        ItemOutcome::Failed { .. } => {
            output::err(&format!("hint: {name} stays open; fix the draft from its context, or answer NOOP"));
        }
        ItemOutcome::Saved { .. } | ItemOutcome::Noop { .. } | ItemOutcome::Postponed { .. } => {}
    }
}

fn named(end: &ItemResult) -> &'static str {
    end.category.map_or("an item", Category::name)
}

fn shown_issues(issues: &[String]) -> String {
    match issues.is_empty() {
        true => "no issues given".to_owned(),
        false => issues
            .iter()
            .map(|issue| cut(&secret::masked(&one_line(issue)), 200))
            .collect::<Vec<_>>()
            .join("; "),
    }
}
