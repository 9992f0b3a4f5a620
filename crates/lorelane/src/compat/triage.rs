//! `memory_triage`: asks an agent to save what its session decided, before it stops.

use super::ScriptOutput;
use super::arguments::Script;
use crate::stdin;
use crate::view::Members;
use lorelane_core::capture::{AskStage, Capture};
use lorelane_core::conversation::TranscriptFormat as Transcript;
use lorelane_core::json::{Json, JsonFormat, to_string};
use lorelane_core::memory::Category;
use lorelane_core::policy::{ModelChoices, Policy};
use lorelane_core::text::{escaped, printable};
use lorelane_core::time::Timestamp;
use lorelane_core::triage::{self, Activity, Assessment, TriageFinding};
use lorelane_engine::captures::Captures;
use lorelane_engine::env::Env;
use lorelane_engine::transcript;
use lorelane_engine::workspace::StopContext;
use serde::Serialize;
use std::path::PathBuf;

/// An agent that stops again within this time after it was asked is not asked again.
const PASS_SECONDS: i64 = 300;
const SNIPPET_MAX: usize = 120;
const DESCRIPTION_MAX: usize = 500;
const CONTEXT_MAX_BYTES: usize = 50_000;
const TRUNCATED: &str = "\n</transcript_data>\n[Truncated: context exceeded 50KB]";

const SCRIPT: Script = Script { name: "memory_triage.py", options: &[] };

/// On any error the agent may stop. Invalid arguments are ignored: the exit code of a usage error is 2, which
/// would block the stop.
pub(super) fn run(env: &Env, arguments: &[String]) -> ScriptOutput {
    match SCRIPT.read(arguments) {
        Err(help) if help.code == 0 => help,
        _ => asked(env).unwrap_or_default(),
    }
}

/// The request to the agent; `None` if it may stop.
fn asked(env: &Env) -> Option<ScriptOutput> {
    let payload = stdin::read_value()?;
    let payload = payload.as_object()?;
    let start = payload.text("cwd").map_or_else(|| env.cwd.clone(), |cwd| env.cwd.join(cwd));
    let StopContext { policy, captures } = StopContext::open(env, &start);
    let stops_again = payload.get("stop_hook_active").and_then(Json::as_bool) == Some(true);
    if !policy.triage_enabled() || stops_again {
        return None;
    }
    let path = payload.text("transcript_path")?;
    // A prefix keeps this apart from what the native hook captured in the same session.
    let session = &format!("compat {}", payload.text("session_id").unwrap_or(path));
    if passes(&captures, session, env.now) {
        return None;
    }
    let folders = transcript::folders(env);
    let path = start.join(path);
    let conversation =
        transcript::read(&path, Transcript::ClaudeCode, policy.triage_max_messages(), &folders).ok()?;
    let threshold = |category| policy.triage_threshold(category);
    let Assessment { activity, findings } = triage::assess(&conversation, &threshold);
    if findings.is_empty() {
        return None;
    }
    // Only that it asked is stored, not the findings: nothing would tell it what the agent saved.
    remember(&captures, session, env.now);
    captures.clear_away(policy.inbox_keep_days(), env.now);
    let context = |finding: &TriageFinding| {
        let text = context(finding, activity, policy.description(finding.category));
        let name = format!("context-{}.txt", finding.category);
        // Optional: the request is complete without the context file.
        captures.put_beside(session, &name, &text).ok()
    };
    let categories = findings
        .iter()
        .map(|finding| TriageItem::of(finding, policy.description(finding.category), context(finding)));
    let data = TriageData { categories: categories.collect(), parallel_config: ParallelConfig::of(&policy) };
    Some(ScriptOutput { out: String::new(), err: request(&findings, &policy, &data), code: 2 })
}

/// Whether this session was asked within [`PASS_SECONDS`]. True once per request.
fn passes(captures: &Captures, session: &str, now: Timestamp) -> bool {
    let Some(mut capture) = captures.load(session).filter(|capture| capture.asked) else { return false };
    capture.asked = false;
    // If this fails, the session may stop once more without being asked.
    let _ = captures.save(&mut capture);
    (0..PASS_SECONDS).contains(&(now.0 - capture.at.0))
}

fn remember(captures: &Captures, session: &str, now: Timestamp) {
    let mut capture = captures.load(session).unwrap_or_else(|| Capture::new(session, "compat", now));
    (capture.asked, capture.stage, capture.at) = (true, AskStage::Asked, now);
    // If this fails, `stop_hook_active` still keeps the agent from being asked forever.
    let _ = captures.save(&mut capture);
}

fn request(findings: &[TriageFinding], policy: &Policy, data: &TriageData<'_>) -> String {
    let mut text = String::from("The following items should be saved as memories before stopping:\n");
    for finding in findings {
        let description = policy.description(finding.category).map(|text| escaped(text, SNIPPET_MAX));
        let description = description.map_or_else(String::new, |text| format!(" ({text})"));
        let snippet = finding.snippets.first().map(|snippet| escaped(snippet, SNIPPET_MAX));
        let snippet = snippet.filter(|snippet| !snippet.is_empty());
        let snippet = snippet.as_deref().unwrap_or("Significant activity detected");
        let name = finding.category.display();
        text.push_str(&format!("- [{name}]{description} {snippet} (score: {:.2})\n", finding.score));
    }
    // In JSON only strings contain angle brackets: escaped, none of them can close the element.
    let data = to_string(data, JsonFormat::SCRIPT).replace('<', "\\u003c").replace('>', "\\u003e");
    text.push_str(&format!(
        "\nUse the memory-management skill to save each item. After saving, you may stop.\n\n\
         <triage_data>\n{data}\n</triage_data>\n"
    ));
    text
}

/// The data that the skill of `claude-memory` reads.
#[derive(Serialize)]
struct TriageData<'p> {
    categories: Vec<TriageItem>,
    parallel_config: ParallelConfig<'p>,
}

#[derive(Serialize)]
struct TriageItem {
    category: &'static str,
    score: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    context_file: Option<String>,
}

#[derive(Serialize)]
struct ParallelConfig<'p> {
    enabled: bool,
    category_models: Members<&'static str, &'p str>,
    verification_model: &'p str,
    default_model: &'p str,
}

impl TriageItem {
    fn of(finding: &TriageFinding, description: Option<&str>, context: Option<PathBuf>) -> TriageItem {
        TriageItem {
            category: finding.category.name(),
            score: four_places(finding.score),
            description: description.map(|text| escaped(text, DESCRIPTION_MAX)),
            context_file: context.map(|path| path.to_string_lossy().into_owned()),
        }
    }
}

/// Like Python's `round(score, 4)`, which rounds the decimal text.
fn four_places(score: f64) -> f64 {
    format!("{score:.4}").parse().unwrap_or(score)
}

impl<'p> ParallelConfig<'p> {
    fn of(policy: &'p Policy) -> ParallelConfig<'p> {
        let ModelChoices { enabled, category_models, verification_model, default_model } = policy.parallel();
        let category_models = category_models.into_iter().map(|(category, model)| (category.name(), model));
        ParallelConfig {
            enabled,
            category_models: category_models.collect(),
            verification_model,
            default_model,
        }
    }
}

/// The context file for a drafting agent. The conversation in it is untrusted: no line of it can close the
/// element.
fn context(finding: &TriageFinding, activity: Activity, description: Option<&str>) -> String {
    let mut lines = vec![format!("Category: {}", finding.category), format!("Score: {:.2}", finding.score)];
    lines.extend(description.map(|text| format!("Description: {}", escaped(text, DESCRIPTION_MAX))));
    lines.extend(["", "<transcript_data>"].map(str::to_owned));
    if finding.category == Category::SessionSummary {
        let Activity { tool_uses, distinct_tools, exchanges } = activity;
        lines.extend([
            "Activity Metrics:".to_owned(),
            format!("  Tool uses: {tool_uses}"),
            format!("  Distinct tools: {distinct_tools}"),
            format!("  Exchanges: {exchanges}"),
        ]);
    } else {
        lines.extend(["Relevant transcript excerpts:", ""].map(str::to_owned));
        lines.push(inside_markup(&finding.excerpt));
    }
    lines.push("</transcript_data>".to_owned());
    if !finding.snippets.is_empty() {
        lines.extend(["", "Key snippets:"].map(str::to_owned));
        lines.extend(finding.snippets.iter().map(|snippet| format!("  - {}", inside_markup(snippet))));
    }
    let mut text = lines.join("\n");
    if text.len() > CONTEXT_MAX_BYTES {
        text.truncate(text.floor_char_boundary(CONTEXT_MAX_BYTES));
        text.push_str(TRUNCATED);
    }
    text
}

/// Escapes markup and keeps line breaks.
fn inside_markup(text: &str) -> String {
    printable(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
