//! The tools of the `working-set` profile: the memory calls of the protocol MEMORY-MGMT, on the current session.
//!
//! Every call says why. The model advises; the rules in core decide.

use super::{NAME_MAX, PATH_MAX, Tool, ToolCall, ToolEffect, ToolSet};
use crate::mcp::answer::{ToolAnswer, ToolError, ToolResult};
use crate::mcp::hints::Tools;
use crate::mcp::schema::{ArgumentType, Arguments, Parameter, optional, required};
use crate::mcp::tools::ErrorFormat;
use crate::view::{AdviceAnswerView, GcReportView, SetChangeView, WrittenSummaryView};
use lorelane_core::fence::{self, Fence, inline};
use lorelane_core::text::{EstimatedTokens, TokenCounter};
use lorelane_core::working_set::{
    ColdAction, ColdAdvice, EventAuthor, GcReport, GcTrigger, HotAdvice, SummaryStyle,
};
use lorelane_engine::workspace::{
    AdviceRequest, AssembledContext, CollectRequest, SetChange, SummaryRequest, WorkingSet, Workspace,
};

pub(super) const SET: ToolSet = ToolSet { tools: TOOLS, commands: COMMANDS };

const COMMANDS: Tools = &[
    ("ws advise", "memory_advise", None),
    ("ws summarize", "memory_summarize", None),
    ("ws gc", "memory_gc", None),
    ("ws assemble", "memory_assemble", None),
    ("pin", "memory_pin", None),
    ("unpin", "memory_pin with `pin` false", None),
];

const REASON_MAX: usize = 2000;
/// A summary is shorter than what it stands for.
const SUMMARY_MAX: usize = 200_000;
const BUDGET: ArgumentType = ArgumentType::Whole { min: 256, max: 10_000_000 };
const TOKENS: ArgumentType = ArgumentType::Whole { min: 0, max: 10_000_000 };
/// What the frame around a context usually costs, in tokens.
const FRAME_TOKENS: u64 = 64;
/// How many files are reported one by one.
const REPORTED_MAX: usize = 40;

const STYLES: &[&str] = &["bullet", "narrative", "schema", "diff", "decision"];
const ACTIONS: &[&str] = &["delete_from_working_set", "summarize_then_evict", "archive", "compress"];

const TRIGGERS: &[&str] = &[
    "session_end",
    "explicit",
    "budget_pressure",
    "interval",
    "phase_end",
    "session_length",
    "model_request",
];

const PATH: ArgumentType = ArgumentType::Text { max: PATH_MAX };
const REASON: ArgumentType = ArgumentType::Reason { max: REASON_MAX };

const fn why(about: &'static str) -> Parameter {
    required("why", REASON, about)
}

const HOT: &[Parameter] = &[required("path", PATH, "a file, or memory:ADDRESS"), why("what you need it for")];

const COLD: &[Parameter] = &[
    required("path", PATH, "a file, a folder ending in /, or a glob"),
    why("why it is not needed any more"),
    optional(
        "suggested_action",
        ArgumentType::Choice(ACTIONS),
        "delete_from_working_set if absent; the file itself always stays",
    ),
];

const TOOLS: &[Tool] = &[
    Tool {
        name: "memory_advise",
        title: "Say which files are hot or cold",
        about: "Say which files of the working set you still need and which you do not. Rules decide: the answer has a decision for each (honored, deferred, overridden, promoted_to_hot) with its reason. No file is deleted.",
        effect: ToolEffect::Writes,
        takes: &[
            optional("hot", ArgumentType::Items(HOT), "files to keep at hand"),
            optional("cold", ArgumentType::Items(COLD), "files that are not needed any more"),
            optional("trigger_gc", ArgumentType::Flag, "also collect right away, as memory_gc does"),
            optional("phase_end", ArgumentType::Flag, "a phase of the work ended: collect for that"),
            optional("superseded_by", PATH, "the document that replaces the cold ones"),
            optional(
                "postmortem",
                ArgumentType::Text { max: SUMMARY_MAX },
                "what was tried and learned, if the cold files are failed attempts to be archived",
            ),
            why("what changed in the work"),
        ],
        voice: ErrorFormat::Plain,
        gives: None,
        run: advise,
    },
    Tool {
        name: "memory_summarize",
        title: "Summarize files of the working set",
        about: "Write one summary of one file or several, with links in both directions. Pass `text` with what a later turn needs; without it an extract is made. If a source changes, the summary is marked as stale.",
        effect: ToolEffect::Writes,
        takes: &[
            required("target_paths", ArgumentType::Texts, "the files, or memory:ADDRESS"),
            optional("into_path", PATH, "summaries/NAME.md in the session folder; chosen if absent"),
            optional("style", ArgumentType::Choice(STYLES), "bullet if absent"),
            optional("text", ArgumentType::Text { max: SUMMARY_MAX }, "your summary, in Markdown"),
            optional("keep_refs", ArgumentType::Flag, "whether the text ends with links; true if absent"),
            why("why a summary is needed"),
        ],
        voice: ErrorFormat::Plain,
        gives: None,
        run: summarize,
    },
    Tool {
        name: "memory_gc",
        title: "Empty the working set of what is not needed",
        about: "Take out of the working set what was advised as cold, then what nobody touched for some turns, until 70 % of the budget are used. The report names every file with its reason. No source file is moved or deleted, and what left comes back when it is used.",
        effect: ToolEffect::Writes,
        takes: &[
            optional("dry_run", ArgumentType::Flag, "the same report; changes nothing"),
            optional("target_tokens", TOKENS, "collect down to this"),
            optional("scope", ArgumentType::Texts, "globs: only files that match one"),
            optional("trigger", ArgumentType::Choice(TRIGGERS), "explicit if absent"),
            why("why now"),
        ],
        voice: ErrorFormat::Plain,
        gives: None,
        run: collect,
    },
    Tool {
        name: "memory_assemble",
        title: "Get the contents of the working set",
        about: "The contents of the working set within its budget: protected and pinned files first, then by priority. Says which files were cut or left out, and why.",
        effect: ToolEffect::Reads,
        takes: &[
            optional("budget", BUDGET, "tokens in all, of which a part is reserved for your answer"),
            optional(
                "client",
                ArgumentType::Text { max: NAME_MAX },
                "leave out what this client loads by itself, such as claude-code",
            ),
            why("what you need the contents for"),
        ],
        voice: ErrorFormat::Plain,
        gives: None,
        run: assemble,
    },
    Tool {
        name: "memory_pin",
        title: "Pin or unpin a file",
        about: "Pin a file: it is never evicted, and assembled first. It stays pinned until `pin` is false.",
        effect: ToolEffect::Settles,
        takes: &[
            required("path", PATH, "a file, or memory:ADDRESS"),
            optional("pin", ArgumentType::Flag, "true if absent"),
            why("why it must stay, or need not"),
        ],
        voice: ErrorFormat::Plain,
        gives: None,
        run: pin,
    },
];

/// Runs a job on the current session.
fn on_session<T>(
    call: &ToolCall<'_>,
    job: impl FnOnce(&mut WorkingSet<'_>) -> Result<T, ToolError>,
) -> Result<T, ToolError> {
    let mut workspace: Workspace = call.factory.open_for_working_set()?;
    job(&mut WorkingSet::open(&mut workspace, None)?)
}

/// The path that a model means. Answers show it percent-encoded if it has markup in it, so that form works as well.
fn meant(set: &mut WorkingSet<'_>, typed: &str) -> String {
    let plain = fence::spelled_out(typed).filter(|plain| plain != typed);
    let is_known = |set: &mut WorkingSet<'_>, path: &str| set.resolve_known("find", path, None).is_ok();
    match plain {
        Some(plain) if !is_known(set, typed) && is_known(set, &plain) => plain,
        _ => typed.to_owned(),
    }
}

fn reason(arguments: &Arguments) -> &str {
    arguments.text("why").unwrap_or_default()
}

fn shown(paths: &[String]) -> Vec<String> {
    paths.iter().map(|path| fence::name(path)).collect()
}

fn advise(call: &ToolCall<'_>) -> ToolResult {
    on_session(call, |set| {
        let said =
            |item: &Arguments| (item.text("path").unwrap_or_default().to_owned(), reason(item).to_owned());
        let mut request = AdviceRequest::default();
        for item in call.arguments.items("hot") {
            let (path, why) = said(&item);
            request.hot.push(HotAdvice { path: meant(set, &path), why, weight: 1.0 });
        }
        for item in call.arguments.items("cold") {
            let (path, why) = said(&item);
            let suggested_action =
                item.text("suggested_action").and_then(ColdAction::parse).unwrap_or_default();
            request.cold.push(ColdAdvice { path: meant(set, &path), why, suggested_action });
        }
        let why = reason(&call.arguments);
        let is_phase_end = call.arguments.flag("phase_end");
        request.trigger_gc = call.arguments.flag("trigger_gc") && !is_phase_end;
        request.superseded_by = call.arguments.text("superseded_by").map(|path| meant(set, path));
        request.postmortem = call.arguments.text("postmortem").map(str::to_owned);
        let mut answer = set.advise(&request, EventAuthor::Model, why)?;
        if is_phase_end {
            let request = CollectRequest { trigger: GcTrigger::PhaseEnd, ..CollectRequest::default() };
            answer.gc = Some(set.collect(&request, why)?);
        }
        answer.gc = answer.gc.map(shown_report);
        for action in &mut answer.memory_actions {
            action.path = fence::name(&action.path);
        }
        answer.warnings.append(&mut set.warnings);
        Ok(ToolAnswer::document(&AdviceAnswerView::of(&answer)))
    })
}

fn summarize(call: &ToolCall<'_>) -> ToolResult {
    on_session(call, |set| {
        let mut paths = Vec::new();
        for typed in call.arguments.texts("target_paths") {
            let typed = meant(set, &typed);
            paths.push(set.resolve_known("summarize", &typed, None)?);
        }
        let text = call.arguments.exact("text");
        let request = SummaryRequest {
            paths,
            into: call.arguments.text("into_path"),
            style: call.arguments.text("style").and_then(SummaryStyle::parse).unwrap_or_default(),
            text: (!text.trim().is_empty()).then_some(text),
            earlier: None,
            keep_refs: call.arguments.flag_or_set("keep_refs"),
        };
        let mut written = set.summarize(&request, reason(&call.arguments))?;
        written.path = fence::name(&written.path);
        written.sources = shown(&written.sources);
        Ok(ToolAnswer::document(&WrittenSummaryView::of(&written, &set.warnings)))
    })
}

fn collect(call: &ToolCall<'_>) -> ToolResult {
    on_session(call, |set| {
        let number = |name: &str| call.arguments.whole(name).and_then(|number| u64::try_from(number).ok());
        let request = CollectRequest {
            trigger: call.arguments.text("trigger").and_then(GcTrigger::parse).unwrap_or_default(),
            target_tokens: number("target_tokens"),
            scope: call.arguments.texts("scope"),
            max_actions: None,
        };
        let dry_run = call.arguments.flag("dry_run");
        let report = match dry_run {
            true => set.preview_collection(&request)?,
            false => set.collect(&request, reason(&call.arguments))?,
        };
        Ok(ToolAnswer::document(&GcReportView::of(&shown_report(report), dry_run)))
    })
}

/// A report whose paths can be given back.
fn shown_report(mut report: GcReport) -> GcReport {
    for action in &mut report.actions {
        action.path = fence::name(&action.path);
        action.summary = action.summary.as_deref().map(fence::name);
    }
    for deferral in &mut report.deferred {
        deferral.path = fence::name(&deferral.path);
    }
    report
}

fn pin(call: &ToolCall<'_>) -> ToolResult {
    on_session(call, |set| {
        let typed = meant(set, call.arguments.text("path").unwrap_or_default());
        let pin = call.arguments.flag_or_set("pin");
        let path = set.resolve_known(if pin { "pin" } else { "unpin" }, &typed, None)?;
        let done = set.pin(&path, pin, EventAuthor::Model, reason(&call.arguments))?;
        let did = match (done.paths.is_empty(), pin) {
            (true, _) => "unchanged",
            (false, true) => "pinned",
            (false, false) => "unpinned",
        };
        let change = SetChange { paths: shown(&[path]) };
        Ok(ToolAnswer::document(&SetChangeView::of(did, &change, &set.warnings)))
    })
}

fn assemble(call: &ToolCall<'_>) -> ToolResult {
    on_session(call, |set| {
        let budget = call.arguments.whole("budget").and_then(|budget| u64::try_from(budget).ok());
        let (client, counter) = (call.arguments.text("client"), &EstimatedTokens);
        let mut frame = FRAME_TOKENS;
        // The frame around the context counts as well, and it says how much the context has: so the first try may be
        // too large.
        loop {
            let context = set.assemble_in_frame(budget, client, frame, counter)?;
            let effective = context.budget.effective;
            let text = context_text(&context, &set.warnings, counter);
            let tokens = counter.count(&text);
            if tokens <= effective {
                return Ok(ToolAnswer::Text(text));
            }
            if context.assembly.text.is_empty() {
                return Err(ToolError::new(
                    format!("BUDGET_EXCEEDED: a budget of {effective} tokens has no room for a context"),
                    "raise `budget`, or max_tokens in working-set.yml",
                ));
            }
            frame += tokens - effective;
        }
    })
}

/// The context in its fence, and as much about what is not in it as the budget has room for.
fn context_text(context: &AssembledContext, warnings: &[String], counter: &dyn TokenCounter) -> String {
    let assembly = &context.assembly;
    let (effective, excluded) =
        (context.budget.effective, assembly.excluded.len() + context.loaded_by_client.len());
    let (files, used) = (assembly.included.len(), assembly.tokens);
    let mut text = format!(
        "files: {files}, left out: {excluded}, tokens: {used} of {effective} ({})\n",
        assembly.counter
    );
    let unfit = assembly.budget_exceeded().count();
    if unfit > 0 {
        text.push_str(&format!("BUDGET_EXCEEDED: {unfit} that must be kept do not fit\n"));
    }
    text.push_str(&Fence::Context.around(&assembly.text));
    let mut left = effective.saturating_sub(counter.count(&text));
    let report = report(context, warnings);
    let mut lines = report.iter().peekable();
    let mut shown = 0;
    while let Some(line) = lines.next_if(|line| counter.count(line) <= left && shown < REPORTED_MAX) {
        left -= counter.count(line);
        text.push_str(line);
        shown += 1;
    }
    let more = format!("and {} more\n", lines.count());
    if shown < report.len() && counter.count(&more) <= left {
        text.push_str(&more);
    }
    text
}

/// One line for each thing to know, the most important first.
fn report(context: &AssembledContext, warnings: &[String]) -> Vec<String> {
    let assembly = &context.assembly;
    let line = |head: &str, text: &str| format!("{head}: {}\n", inline(text, 300));
    let mut lines: Vec<String> =
        assembly.warnings.iter().map(|warning| line(warning.code(), &warning.to_string())).collect();
    lines.extend(warnings.iter().map(|warning| line("warning", warning)));
    let cut = assembly.included.iter().filter(|file| file.is_truncated);
    lines.extend(cut.map(|file| {
        format!("cut: {} ({} of {} tokens)\n", fence::name(&file.path), file.tokens, file.original_tokens)
    }));
    lines.extend(assembly.excluded.iter().map(|file| {
        format!("left out: {} ({})\n", fence::name(&file.path), inline(&file.reason.to_string(), 200))
    }));
    let loaded = context.loaded_by_client.iter();
    lines.extend(loaded.map(|path| format!("left out: {} (the client loads it)\n", fence::name(path))));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_choices_are_those_of_the_protocol() {
        assert_eq!(STYLES, SummaryStyle::ALL.map(SummaryStyle::name));
        assert_eq!(ACTIONS, ColdAction::ALL.map(ColdAction::name));
        assert_eq!(TRIGGERS, GcTrigger::ALL.map(GcTrigger::name));
    }
}
