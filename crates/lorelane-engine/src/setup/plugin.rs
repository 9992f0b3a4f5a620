//! The files of the Claude Code plugin, carried inside the binary.
//!
//! `plugin/` calls `lorelane` from the PATH. The installed files call the program that installed them by its full
//! path, in the hooks and in every command line of a skill, a command or an agent.

use super::clients::ServerCall;
use lorelane_core::json::{Json, JsonFormat, patch, to_string};

macro_rules! carried {
    ($($path:literal),* $(,)?) => {
        /// Paths relative to the marketplace's folder, with their contents.
        pub(super) const FILES: &[(&str, &str)] =
            &[$(($path, include_str!(concat!("../../../../", $path)))),*];
    };
}

carried! {
    ".claude-plugin/marketplace.json",
    "plugin/.claude-plugin/plugin.json",
    "plugin/.mcp.json",
    "plugin/README.md",
    "plugin/agents/memory-drafter.md",
    "plugin/agents/memory-verifier.md",
    "plugin/commands/audit.md",
    "plugin/commands/config.md",
    "plugin/commands/extract.md",
    "plugin/commands/prune.md",
    "plugin/commands/save.md",
    "plugin/commands/search.md",
    "plugin/commands/status.md",
    "plugin/hooks/hooks.json",
    "plugin/skills/memory-management/SKILL.md",
    "plugin/skills/working-set/SKILL.md",
}

pub(super) const HOOKS: &str = "plugin/hooks/hooks.json";
const SERVERS: &str = "plugin/.mcp.json";

/// The start of every command in the checked-in hooks.
const FROM_PATH: &str = "command -v lorelane >/dev/null 2>&1 || exit 0; exec lorelane hook ";

/// The arguments of the server in the checked-in file.
const ARGS: &str = "[\"mcp\"]";

/// A file's text with `lorelane` replaced by the program's full path.
pub(super) fn with_program(path: &str, text: &str, call: ServerCall<'_>) -> String {
    let program = call.program;
    if path == HOOKS {
        let mut hooks = Json::parse(text).expect("the plugin's hooks are JSON");
        hooks.map_texts(&mut |text| {
            text.strip_prefix(FROM_PATH).map(|words| super::hook_line(program, words))
        });
        return patch(text, &hooks).expect("the plugin's hooks are JSON");
    }
    if path == SERVERS {
        let mut servers = Json::parse(text).expect("the plugin's servers are JSON");
        servers.map_texts(&mut |text| (text == "lorelane").then(|| program.to_owned()));
        let text = patch(text, &servers).expect("the plugin's servers are JSON");
        return text.replace(ARGS, &to_string(call.args, JsonFormat::LINE));
    }
    if path.ends_with(".md") {
        let quoted = super::quoted(program);
        return super::calling(text, &quoted).replace("Bash(lorelane ", &format!("Bash({quoted} "));
    }
    text.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::path::{Path, PathBuf};

    const CALL: ServerCall<'_> = ServerCall { program: "/opt/my tools/lorelane", args: &["mcp"] };

    fn walk(folder: &Path, files: &mut BTreeSet<PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { walk(&path, files) } else { assert!(files.insert(path)) }
        }
    }

    #[test]
    fn every_file_of_the_plugin_is_carried() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut files = BTreeSet::new();
        walk(&root.join("plugin"), &mut files);
        files.insert(root.join(".claude-plugin/marketplace.json"));
        let carried: BTreeSet<PathBuf> = FILES.iter().map(|(path, _)| root.join(path)).collect();
        assert_eq!(carried, files);
    }

    #[test]
    fn what_is_installed_calls_the_program_by_its_path() {
        for (path, text) in FILES {
            let installed = with_program(path, text, CALL);
            for rest in
                [" lorelane hook", "`lorelane ", "Bash(lorelane ", "command -v", "\"lorelane\", \"args\""]
            {
                assert!(!installed.contains(rest), "{path} still has {rest}");
            }
        }
        let hooks = FILES.iter().find(|(path, _)| *path == HOOKS).unwrap().1;
        let line = "[ -x '/opt/my tools/lorelane' ] || exit 0; exec '/opt/my tools/lorelane' hook stop --client claude-code";
        assert!(with_program(HOOKS, hooks, CALL).contains(line));
        let servers = FILES.iter().find(|(path, _)| *path == SERVERS).unwrap().1;
        let line = r#""memory": { "command": "/opt/my tools/lorelane", "args": ["mcp"] }"#;
        assert!(with_program(SERVERS, servers, CALL).contains(line));
        let more = ServerCall { args: &["mcp", "--profile", "agent,working-set"], ..CALL };
        let line = r#""args": ["mcp", "--profile", "agent,working-set"] }"#;
        assert!(with_program(SERVERS, servers, more).contains(line));
    }
}
