//! Which lines of a transcript are turns, and which files they touch.

use lorelane_core::conversation::TranscriptFormat;
use lorelane_core::guard::ShellContext;
use lorelane_core::working_set::{Touch, TouchKind, mentioned};

/// What a line says: `said TEXT`, `read PATH`, `write PATH`; nothing for a line that is skipped.
fn acts(format: TranscriptFormat, line: &str) -> String {
    let around = ShellContext { folder: "/p", home: Some("/home/u"), project: None };
    let acts =
        format.may_speak(line.as_bytes()).then(|| format.read_acts(line)).flatten().unwrap_or_default();
    let said = acts.said.iter().map(|said| format!("said {said}"));
    let touch = |touch: Touch| {
        let by = match touch.by {
            TouchKind::Read => "read",
            TouchKind::Write => "write",
            TouchKind::Opened | TouchKind::Mention => "other",
        };
        format!("{by} {}", touch.path)
    };
    let touched = acts.calls.iter().flat_map(|call| call.touches(&around)).map(touch);
    said.chain(touched).collect::<Vec<_>>().join("; ")
}

// Spec, section 3, no. 24: a touch is a read or write by a tool, or a mention; a turn is a message of the user.
#[test]
fn tool_calls_of_every_client_are_touches_and_messages_of_the_user_are_turns() {
    use TranscriptFormat::{ClaudeCode, Codex, Copilot, Gemini};
    let claude = |name: &str, input: &str| {
        format!(
            r#"{{"type":"assistant","message":{{"id":"m","content":[{{"type":"tool_use","name":"{name}","input":{input}}}]}}}}"#
        )
    };
    let codex = |payload: &str| format!(r#"{{"type":"response_item","payload":{payload}}}"#);
    let gemini = |name: &str, args: &str| {
        format!(
            r#"{{"id":"c","type":"gemini","content":"","toolCalls":[{{"name":"{name}","args":{args}}}]}}"#
        )
    };
    let copilot = |name: &str, arguments: &str| {
        format!(
            r#"{{"type":"assistant.message","data":{{"content":"","toolRequests":[{{"name":"{name}","arguments":{arguments}}}]}}}}"#
        )
    };
    for (format, line, expected) in [
        (ClaudeCode, claude("Read", r#"{"file_path":"/p/src/a.rs"}"#), "read /p/src/a.rs"),
        (ClaudeCode, claude("Read", r#"{"file_path":"src/a.rs","limit":5}"#), "read /p/src/a.rs"),
        (ClaudeCode, claude("Edit", r#"{"file_path":"/p/a","old_string":"/p/b"}"#), "write /p/a"),
        (ClaudeCode, claude("Write", r#"{"file_path":"/p/a","content":"x"}"#), "write /p/a"),
        (ClaudeCode, claude("MultiEdit", r#"{"file_path":"/p/a","edits":[]}"#), "write /p/a"),
        (ClaudeCode, claude("NotebookEdit", r#"{"notebook_path":"/p/n.ipynb"}"#), "write /p/n.ipynb"),
        // What a search finds is in context; opening it is a read.
        (ClaudeCode, claude("Grep", r#"{"pattern":"x","path":"/p/src"}"#), ""),
        (ClaudeCode, claude("Glob", r#"{"pattern":"**/*.rs"}"#), ""),
        (ClaudeCode, claude("Bash", r#"{"command":"cat src/a.rs | head -n 3"}"#), "read /p/src/a.rs; read /p/3"),
        (ClaudeCode, claude("Bash", r#"{"command":"sed -n '1,9p' src/a.rs"}"#), "read /p/src/a.rs"),
        (ClaudeCode, claude("Bash", r#"{"command":"cd src && cat a.rs > b.rs"}"#), "read /p/src/a.rs; write /p/src/b.rs"),
        (ClaudeCode, claude("Bash", r#"{"command":"cargo test --lib"}"#), ""),
        (ClaudeCode, claude("mcp__fs__read_file", r#"{"path":"~/x"}"#), "read /home/u/x"),
        (ClaudeCode, claude("mcp__fs__write_file", r#"{"path":"x"}"#), "write /p/x"),
        (ClaudeCode, claude("mcp__lorelane__memory_read", r#"{"path":"x"}"#), ""),
        (ClaudeCode, claude("Read", "7"), ""),
        (ClaudeCode, claude("Read", r#"{"file_path":7}"#), ""),
        (ClaudeCode, r#"{"type":"user","message":{"role":"user","content":"fix a.rs"}}"#.to_owned(), "said fix a.rs"),
        (ClaudeCode, r#"{"type":"user","isMeta":true,"message":{"content":"fix a.rs"}}"#.to_owned(), ""),
        (ClaudeCode, r#"{"type":"user","message":{"content":"<task-notification>x"}}"#.to_owned(), ""),
        (ClaudeCode, r#"{"type":"user","message":{"content":"Stop hook feedback:\nx"}}"#.to_owned(), ""),
        (
            ClaudeCode,
            r#"{"type":"user","message":{"content":[{"type":"tool_result","content":"/p/src/a.rs"}]}}"#.to_owned(),
            "",
        ),
        (
            ClaudeCode,
            r#"{"type":"assistant","isSidechain":true,"message":{"content":[{"type":"tool_use","name":"Read","input":{"file_path":"/p/a"}}]}}"#
                .to_owned(),
            "",
        ),
        (ClaudeCode, r#"{"type":"tool_use","name":"Read","input":{"file_path":"a"}}"#.to_owned(), "read /p/a"),
        (ClaudeCode, r#"{"type":"assistant","message":{"content":[{"type":"tool_use","name":"#.to_owned(), ""),
        (
            Codex,
            codex(r#"{"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"cat a.md\",\"workdir\":\"/p/d\"}"}"#),
            "read /p/d/a.md",
        ),
        (
            Codex,
            codex(r#"{"type":"function_call","name":"shell","arguments":"{\"command\":[\"bash\",\"-lc\",\"nl -ba a.md\"]}"}"#),
            "read /p/a.md",
        ),
        (
            Codex,
            codex(
                r#"{"type":"custom_tool_call","name":"apply_patch","input":"*** Begin Patch\n*** Update File: src/a.rs\n*** Add File: b.rs\n*** End Patch"}"#,
            ),
            "write /p/src/a.rs; write /p/b.rs",
        ),
        (
            Codex,
            codex(
                r#"{"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"apply_patch <<'END'\\n*** Begin Patch\\n*** Add File: b.rs\\n+x\\n*** End Patch\\nEND\\n\"}"}"#,
            ),
            "write /p/b.rs",
        ),
        (Codex, codex(r#"{"type":"local_shell_call","action":{"command":["cat","a b.md"]}}"#), "read /p/a b.md"),
        (
            Codex,
            codex(r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"go"}]}"#),
            "said go",
        ),
        (
            Codex,
            codex(
                r##"{"type":"message","role":"user","content":[{"type":"input_text","text":"# AGENTS.md instructions for /p\n\nread b.rs"}]}"##,
            ),
            "",
        ),
        (Gemini, gemini("read_file", r#"{"file_path":"a.md"}"#), "read /p/a.md"),
        (Gemini, gemini("read_file", r#"{"absolute_path":"/p/a.md"}"#), "read /p/a.md"),
        (Gemini, gemini("read_many_files", r#"{"paths":["a.md","b.md"]}"#), "read /p/a.md; read /p/b.md"),
        (Gemini, gemini("write_file", r#"{"file_path":"a.md","content":"x"}"#), "write /p/a.md"),
        (Gemini, gemini("replace", r#"{"file_path":"a.md","old_string":"x"}"#), "write /p/a.md"),
        (Gemini, gemini("run_shell_command", r#"{"command":"tail a.md","directory":"d"}"#), "read /p/d/a.md"),
        (Gemini, r#"{"id":"b","type":"user","content":[{"text":"go"}]}"#.to_owned(), "said go"),
        (Gemini, r#"{"$set":{"messages":[{"type":"user","content":[{"text":"go"}]}]}}"#.to_owned(), ""),
        (Copilot, copilot("view", r#"{"path":"/p/a.md"}"#), "read /p/a.md"),
        (Copilot, copilot("create", r#"{"path":"a.md","file_text":"x"}"#), "write /p/a.md"),
        (Copilot, copilot("edit", r#""{\"path\":\"a.md\"}""#), "write /p/a.md"),
        (Copilot, copilot("str_replace_editor", r#"{"command":"view","path":"a.md"}"#), "read /p/a.md"),
        (Copilot, copilot("bash", r#"{"command":"less a.md"}"#), "read /p/a.md"),
        (Copilot, r#"{"type":"user.message","data":{"content":"go"}}"#.to_owned(), "said go"),
    ] {
        assert_eq!(acts(format, &line), expected, "{format:?} {line}");
    }
}

#[test]
fn a_message_names_files_and_words_are_words() {
    for (message, expected) in [
        ("look at src/a.rs, please", "src/a.rs"),
        ("@src/a.rs:42 and `b.toml`.", "src/a.rs b.toml"),
        ("(see ./docs/x.md#L3-L9)!", "docs/x.md"),
        ("fix the build, then run the tests", ""),
        ("Makefile and LICENSE, but not I", "Makefile LICENSE"),
        ("https://example.org/a.html", ""),
        (".gitignore says *.log", ".gitignore .log"),
        ("a.rs a.rs a.rs", "a.rs"),
        ("what about größe/übersicht.md?", "größe/übersicht.md"),
        ("e.g. 3.5 … ../x", "e.g 3.5 ../x"),
    ] {
        assert_eq!(mentioned(message).join(" "), expected, "{message}");
    }
    assert_eq!(mentioned(&"x/y ".repeat(100_000)).len(), 1);
}
