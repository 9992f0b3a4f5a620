//! Any command line is read without panic, and what a fence says of it is one line and a hint.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lorelane_core::guard::{Case, GuardedLanes, OtherProjects, ResolvedPath, ShellContext, ToolUse, normal};

fuzz_target!(|command: &str| {
    let around = ShellContext { folder: "/p/.claude", home: Some("/home/a"), project: Some("/p") };
    let fence = GuardedLanes {
        lanes: vec!["/p/.claude/memory".to_owned()],
        marks: None,
        id: None,
        trust: None,
        usual: OtherProjects::ByName,
        case: Case::Ignored,
    };
    let targets = ToolUse::Shell { command: command.to_owned(), folder: None }.targets(&around);
    let resolve = |path: &str| ResolvedPath { path: normal(path), exists: false, is_foreign_listing: false };
    if let Some(denial) = fence.judge(&targets, &resolve) {
        assert_eq!(denial.to_string().lines().count(), 2);
    }
});
