//! `memory_candidate`: whether new information belongs to a memory that exists.

use super::ScriptOutput;
use super::arguments::{Flag, OptionNeed, OptionValue, Script};
use super::write::categories;
use lorelane_core::candidate::LIFECYCLE_EVENTS;
use lorelane_core::json::{JsonFormat, to_string};
use lorelane_core::memory::Category;
use lorelane_core::policy::DEFAULT_ROOT;
use lorelane_engine::env::Env;
use lorelane_engine::workspace::Workspace;
use std::path::Path;

const SCRIPT: Script = Script {
    name: "memory_candidate.py",
    options: &[
        Flag { name: "--category", takes: OptionValue::Choice(categories), need: OptionNeed::Required },
        Flag { name: "--new-info", takes: OptionValue::Text("NEW_INFO"), need: OptionNeed::Required },
        Flag { name: "--lifecycle-event", takes: OptionValue::Choice(events), need: OptionNeed::Optional },
        Flag { name: "--root", takes: OptionValue::Text("ROOT"), need: OptionNeed::Optional },
    ],
};

fn events() -> Vec<&'static str> {
    LIFECYCLE_EVENTS.to_vec()
}

pub(super) fn run(env: &Env, arguments: &[String]) -> ScriptOutput {
    let given = match SCRIPT.read(arguments) {
        Ok(given) => given,
        Err(said) => return said,
    };
    let typed = given.text("--root").unwrap_or(DEFAULT_ROOT);
    let root = env.cwd.join(typed);
    if !root.is_dir() {
        return ScriptOutput::error(&format!(
            "index.md not found at {}",
            Path::new(typed).join("index.md").display()
        ));
    }
    let Some(category) = given.text("--category").and_then(Category::parse) else {
        return ScriptOutput::default();
    };
    let new_info = given.text("--new-info").unwrap_or_default();
    let verdict = Workspace::open_root(env, &root).and_then(|mut workspace| {
        workspace.recall().candidate_by_name(category, new_info, given.text("--lifecycle-event"))
    });
    match verdict {
        Ok(verdict) => ScriptOutput {
            out: format!("{}\n", to_string(&verdict, JsonFormat::SCRIPT)),
            ..ScriptOutput::default()
        },
        Err(failure) => ScriptOutput::error(&failure.to_string()),
    }
}
