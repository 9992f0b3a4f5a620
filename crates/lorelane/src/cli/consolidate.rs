//! Captures become memories: what an agent is asked, and what became of its answer.

use super::args::Consolidate;
use super::everyday::read_input;
use super::{Ending, Outcome, Session, Trouble, say};
use crate::view::{CommitView, DATA, NoWorkView, WorkView, candidate_of, fields_line};
use lorelane_core::candidate::Action;
use lorelane_core::capture::session_option;
use lorelane_core::consolidate::{self, Answer, Unclear};
use lorelane_core::json::Format;
use lorelane_core::memory::Category;
use lorelane_core::refusal::Fault;
use lorelane_core::secret;
use lorelane_core::text::{cut, escaped, one_line};
use lorelane_engine::setup;
use lorelane_engine::workspace::{End, How, Report, Task, Work, Workspace};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

pub(super) fn run(session: &Session<'_>, command: &Consolidate) -> Outcome {
    let mut workspace = session.open()?;
    match command {
        Consolidate::Prepare { session: named } => prepare(session, &mut workspace, named.as_deref()),
        Consolidate::Commit { files, session: named, change } => {
            commit(session, &mut workspace, files, named.as_deref(), change.dry_run)
        }
    }
}

fn prepare(session: &Session<'_>, workspace: &mut Workspace, named: Option<&str>) -> Outcome {
    let (work, notices) = workspace.capture().prepare(named)?;
    say::notices(&notices);
    let parallel = workspace.policy().parallel();
    let Some(work) = work else {
        if session.json {
            say::document(&NoWorkView::default());
        } else {
            say::out("nothing is open to be saved\n");
        }
        return Ok(Ending::Nothing);
    };
    if session.json {
        let called = setup::called(session.env);
        let commit = format!("{called} consolidate commit{}", session_option(&work.session));
        say::document(&WorkView::of(&work, &parallel, commit));
    } else {
        say::out(&setup::calling(&page(&work, parallel.verification_model), &setup::called(session.env)));
    }
    Ok(Ending::Done)
}

/// The work for an agent that reads: short, and nothing in it that could be taken for our own words.
fn page(work: &Work, verifier: &str) -> String {
    let mut page = format!("Session {}: {} to save", one_line(&work.session), items(work.tasks.len()));
    if work.waiting > 0 {
        let _ = write!(page, ", {} more after it", work.waiting);
    }
    let _ = writeln!(page, ".\n{DATA}");
    for task in &work.tasks {
        page.push_str(&section(task));
    }
    let Some(first) = work.tasks.first() else { return page };
    let example = consolidate::example(&work.session, first.item.category, candidate_of(first));
    let _ = write!(
        page,
        "\nAnswer for each category with one JSON object, in its answer file or all of them as {{\"session\": …, \"items\": […]}}:\n\
         {}\n\
         Give target and revision with UPDATE and DELETE only. An UPDATE says only the fields that change: lists are given whole, tags are added.\n\
         Verify each draft against its context with {verifier}: PASS, ADVISORY (saved, with its issues) or FAIL (not saved). An item without a verdict is refused.\n\
         Then run `lorelane consolidate commit{}`: it takes the answer files, or the FILEs that follow it, or `-` for standard input.\n",
        example.render(Format::LINE),
        session_option(&work.session)
    );
    page
}

fn section(task: &Task) -> String {
    let category = task.item.category;
    let mut text = format!("\n## {category} (score {:.2}, draft with {})\n", task.item.score, task.model);
    if let Some(description) = &task.description {
        let _ = writeln!(text, "belongs here: {}", escaped(&one_line(description), usize::MAX));
    }
    for snippet in &task.item.snippets {
        let _ = writeln!(text, "- {}", escaped(&one_line(snippet), 120));
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

fn items(count: usize) -> String {
    if count == 1 { "1 item".to_owned() } else { format!("{count} items") }
}

fn commit(
    session: &Session<'_>,
    workspace: &mut Workspace,
    files: &[PathBuf],
    named: Option<&str>,
    dry_run: bool,
) -> Outcome {
    let answers = if files.is_empty() {
        answers(session, &workspace.capture().answer_files(named))?
    } else {
        answers(session, files)?
    };
    let Some(report) = workspace.capture().consolidate(answers, named, dry_run)? else {
        return Err(Trouble::usage(
            "cannot consolidate: no session has anything open that this answers",
            "`lorelane consolidate prepare` shows what is open; `lorelane create` saves anything else",
        ));
    };
    say::notices(&report.notices);
    if session.json {
        say::document(&CommitView::of(&report, dry_run));
    } else {
        say_ends(&report, dry_run);
    }
    let settled = report.ends.iter().all(|end| end.how.is_settled());
    Ok(if settled { Ending::Done } else { Ending::Nothing })
}

/// Reads every answer. One that cannot be read is named and stops no other; with none left nothing can be done.
fn answers(session: &Session<'_>, files: &[PathBuf]) -> Result<Vec<Answer>, Trouble> {
    if files.is_empty() {
        return Err(Trouble::usage(
            "cannot consolidate: there is no answer in the files that were prepared",
            "write them as `lorelane consolidate prepare` says, name other files, or give `-` for standard input",
        ));
    }
    let mut answers = Vec::new();
    let mut unread = Vec::new();
    for file in files {
        match consolidate::read(&read_input(session, file)?) {
            Ok(answer) => answers.push(answer),
            Err(faults) => {
                let name =
                    if file == Path::new("-") { "standard input".into() } else { file.to_string_lossy() };
                unread.push(format!("cannot use the answer in {name}{}", listed(&faults)));
                let items = vec![Err(Unclear { category: None, faults })];
                answers.push(Answer { session: None, items });
            }
        }
    }
    if unread.len() == files.len() {
        let hint = "answer as `lorelane consolidate prepare` shows; nothing was saved";
        return Err(Trouble::usage(unread.join("\n"), hint));
    }
    Ok(answers)
}

fn listed(faults: &[Fault]) -> String {
    let mut text = String::new();
    for fault in faults {
        let Fault { field, expected, got, fix } = fault;
        let _ = write!(text, "\n  {field}: {expected}\n    got: {got}\n    fix: {fix}");
    }
    text
}

/// One line for each item; what is wrong with one, and what to do, goes where errors go.
fn say_ends(report: &Report, dry_run: bool) {
    let would = if dry_run { "would " } else { "" };
    let mut text = String::new();
    for end in &report.ends {
        let name = named(end);
        let _ = match &end.how {
            How::Saved { action, address, why, .. } => {
                writeln!(text, "{would}{} {address}: {why}", action.name())
            }
            How::Noop { why } => writeln!(text, "{would}{} {name}: {why}", Action::Noop.name()),
            How::Postponed { why } => writeln!(text, "{would}POSTPONE {name}: {why}"),
            How::Failed { issues } => writeln!(text, "FAIL {name}: {}", shown_issues(issues)),
            How::Unclear(faults) => writeln!(text, "REFUSED {name}: {} wrong", wrong_fields(faults.len())),
            How::Unfit { what, .. } => writeln!(text, "REFUSED {name}: {what}"),
            How::Refused(failure) => {
                let first = failure.to_string();
                writeln!(text, "REFUSED {name}: {}", first.lines().next().unwrap_or_default())
            }
        };
    }
    if report.open > 0 && !dry_run {
        let still = if report.open == 1 { "is" } else { "are" };
        let _ = writeln!(text, "{} {still} open: lorelane consolidate prepare", items(report.open));
    }
    say::out(&text);
    report.ends.iter().for_each(say_trouble);
}

fn say_trouble(end: &End) {
    let name = named(end);
    match &end.how {
        How::Saved { issues, .. } if !issues.is_empty() => {
            say::err(&format!("warning: {name}: {}", shown_issues(issues)));
        }
        How::Unclear(faults) => {
            say::err(&format!("error: cannot use the answer for {name}{}", listed(faults)))
        }
        How::Unfit { what, hint } => say::err(&format!("error: cannot save {name}: {what}\nhint: {hint}")),
        How::Refused(failure) => say::failure(failure),
        How::Failed { .. } => {
            say::err(&format!("hint: {name} stays open; mend the draft from its context, or answer NOOP"));
        }
        How::Saved { .. } | How::Noop { .. } | How::Postponed { .. } => {}
    }
}

fn named(end: &End) -> &'static str {
    end.category.map_or("an item", Category::name)
}

fn wrong_fields(count: usize) -> String {
    if count == 1 { "1 field is".to_owned() } else { format!("{count} fields are") }
}

fn shown_issues(issues: &[String]) -> String {
    match issues.is_empty() {
        true => "no issue is named".to_owned(),
        false => issues
            .iter()
            .map(|issue| cut(&secret::masked(&one_line(issue)), 200))
            .collect::<Vec<_>>()
            .join("; "),
    }
}
