//! The documents against the binary: a command, key, field or folder that is not so fails here.

#![allow(clippy::unwrap_used, reason = "a helper that fails fails its test")]

use lorelane_core::json::{Json, JsonFormat};
use lorelane_core::memory::Category;
use lorelane_core::policy::{ConfigFile, KeyKind, all_keys};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

#[test]
fn the_readme_names_its_commands_and_ci_runs_the_check() {
    let readme = document("README.md");
    let of_cargo: Vec<String> =
        command_lines(&readme).into_iter().filter(|line| line.starts_with("cargo ")).collect();
    let install = "cargo install --path crates/lorelane";
    assert_eq!(of_cargo, ["cargo run --release -- tour", "cargo xtask check", install]);
    let ci = document(".ci/run");
    let of_cargo: Vec<&str> = ci.lines().filter(|line| line.contains("cargo")).collect();
    assert_eq!(of_cargo, ["cargo xtask check"]);
}

// The page could be published with nothing between its markers.
#[test]
fn the_benchmarks_have_their_numbers() {
    let page = document("docs/benchmarks.md");
    let begin = page.find("<!-- bench:begin -->").expect("the table's begin is marked");
    let end = page.find("<!-- bench:end -->").expect("the table's end is marked");
    let fill = "`cargo xtask bench --write docs/benchmarks.md` fills it";
    assert!(
        page[begin..end].lines().any(|line| line.starts_with("| create |")),
        "the table is empty: {fill}"
    );
}

#[test]
fn the_table_of_deliveries_says_what_was_recorded() {
    let page = document("docs/agents.md");
    let (_, rest) = page.split_once("<!-- delivery:begin -->").expect("the table's begin is marked");
    let (text, _) = rest.split_once("<!-- delivery:end -->").expect("the table's end is marked");
    let rows = table(text);
    assert_eq!(rows.len(), 5, "{rows:?}");
    for row in rows {
        let client = row[0].to_lowercase().replace(' ', "-");
        let path = format!("crates/lorelane/tests/fixtures/payloads/{client}/delivery.json");
        let recorded = Json::parse(&document(&path)).unwrap();
        let events = |call: &str| {
            let Json::Object(calls) = &recorded else { panic!("{path}") };
            calls.get(call).and_then(|call| call.at("delivered")).expect("a list").to_texts()
        };
        let is_before =
            |event: &String| event.to_lowercase().contains("pre") || event.to_lowercase().contains("before");
        for (cell, call, before) in
            [(1, "edit", true), (2, "edit", false), (3, "failed command", true), (4, "failed command", false)]
        {
            let delivers = events(call).iter().any(|event| is_before(event) == before);
            assert_eq!(row[cell].starts_with("yes"), delivers, "{client}, {call}, before: {before}");
        }
    }
}

#[test]
fn every_command_is_documented_with_its_options_and_no_other() {
    let help = Scratch::new("help").run(&["--help"]);
    let named: BTreeSet<String> = commands_in(&help);
    let document = document("docs/commands.md");
    let sections = sections(&document, "### ");
    assert_eq!(sections.keys().cloned().collect::<BTreeSet<_>>(), named);
    for (command, text) in sections {
        let documented: BTreeSet<String> =
            blocks(&text, "usage").iter().flat_map(|line| flags(&words(line))).collect();
        let mut known = BTreeSet::new();
        for path in paths_of(&command) {
            known.extend(options(&path));
        }
        known.retain(|flag| !EVERYWHERE.contains(&flag.as_str()));
        assert_eq!(documented, known, "the options of `{command}`");
        assert!(!blocks(&text, "sh").is_empty(), "`{command}` has no example");
    }
}

#[test]
fn every_command_line_in_the_documents_can_be_typed() {
    let named = commands_in(&Scratch::new("typed").run(&["--help"]));
    let mut known: BTreeMap<Vec<String>, BTreeSet<String>> = BTreeMap::new();
    let mut seen = 0;
    for name in documents() {
        for line in command_lines(&document(&name)) {
            let Some(rest) = line.strip_prefix("lorelane ") else { continue };
            seen += 1;
            let words = words(rest);
            let command = words.iter().find(|word| !word.starts_with('-')).cloned().unwrap_or_default();
            let command = if command == "ws" { "working-set".to_owned() } else { command };
            assert!(named.contains(&command), "{name}: there is no command `{command}`: {line}");
            let path: Vec<String> = match command.as_str() {
                "auto" | "config" | "compat" | "consolidate" | "model" | "notes" | "working-set" => {
                    words.iter().take(2).cloned().collect()
                }
                "inbox" if words.get(1).is_some_and(|word| INBOX.contains(&word.as_str())) => {
                    words.iter().take(2).cloned().collect()
                }
                _ => vec![command],
            };
            let known = known.entry(path.clone()).or_insert_with(|| options(&path));
            for flag in flags(&words) {
                assert!(known.contains(&flag), "{name}: `{}` has no {flag}: {line}", path.join(" "));
            }
        }
    }
    assert!(seen > 60, "only {seen} command lines were found");
}

// The first query of the guide found nothing.
#[test]
fn the_readme_leads_from_nothing_to_its_reminder() {
    let scratch = Scratch::new("readme");
    let sections = sections(&document("README.md"), "## ");
    for line in command_lines(&sections["Your first memory"]) {
        let words = words(line.strip_prefix("lorelane ").unwrap());
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let said = scratch.run(&words);
        assert!(!said.starts_with("error"), "{line}\n{said}");
    }
    let shown = blocks(&sections["In your agent"], "text");
    let prompt = shown.iter().find_map(|line| line.strip_prefix("> ")).unwrap();
    let payload = Json::Object([("prompt", Json::text(prompt))].into_iter().collect());
    let said = scratch.run_with(&["hook", "prompt"], &payload.render(JsonFormat::LINE));
    let said = Json::parse(&said).unwrap_or_else(|_| panic!("`{prompt}` is answered with {said:?}"));
    let said = said.at("hookSpecificOutput.additionalContext").and_then(Json::as_text).unwrap();
    let without_date = |line: &str| {
        let (address, rest) = line.split_once(" (").unwrap();
        format!("{address} {}", rest.split_once(')').unwrap().1)
    };
    let reminder = |line: &&str| line.starts_with("- decision/");
    let promised = shown.iter().map(String::as_str).find(reminder).map(without_date);
    assert_eq!(said.lines().find(reminder).map(without_date), promised);
}

// An example that is refused teaches nothing: those of the fields are run.
#[test]
fn every_example_of_a_record_is_accepted() {
    let scratch = Scratch::new("examples");
    scratch.run(&["init"]);
    let examples = command_lines(&document("docs/records.md"));
    assert_eq!(examples.len(), Category::ALL.len());
    for line in examples {
        let words = words(line.strip_prefix("lorelane ").unwrap());
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let said = scratch.run(&words);
        assert!(said.starts_with("Created "), "{line}\n{said}");
    }
}

#[test]
fn every_key_is_documented_with_its_file_default_and_range() {
    let scratch = Scratch::new("keys");
    fs::create_dir_all(scratch.project().join(".claude/memory")).unwrap();
    let listed = Json::parse(&scratch.run(&["config", "list", "--json"])).unwrap();
    let listed = listed.at("settings").unwrap().as_list().unwrap();
    let defaults: BTreeMap<String, Json> = listed
        .iter()
        .map(|setting| {
            let key = setting.at("key").and_then(Json::as_text).unwrap();
            (key.to_owned(), setting.at("value").unwrap().clone())
        })
        .collect();
    let document = document("docs/configuration.md");
    let sections = sections(&document, "## ");
    let mut documented = BTreeSet::new();
    for (home, heading) in
        [(ConfigFile::Records, "Keys of memory-config.json"), (ConfigFile::Lorelane, "Keys of lorelane.toml")]
    {
        for row in table(&sections[heading]) {
            let [name, default, range, ..] = row.as_slice() else { panic!("{row:?}") };
            let name = name.trim_matches('`');
            let (key, ..) = all_keys()
                .find(|(key, known, _)| key.name == name || known == name)
                .unwrap_or_else(|| panic!("there is no key `{name}`"));
            assert_eq!(key.home, home, "the file of `{name}`");
            if let Some(expected) = range_of(&key.kind) {
                assert!(range.starts_with(&expected), "the range of `{name}` is {expected}");
            }
            for category in Category::ALL {
                let key = name.replace('*', category.name());
                let value = defaults.get(&key).unwrap_or_else(|| panic!("there is no key `{key}`"));
                if let Some(expected) = plain(default) {
                    assert_eq!(shown(value), expected, "the default of `{key}`");
                }
                documented.insert(key);
            }
        }
    }
    assert_eq!(documented, defaults.into_keys().collect());
}

#[test]
fn every_field_is_documented_with_its_need_and_value() {
    let document = document("docs/records.md");
    let sections = sections(&document, "## ");
    let check = |heading: &str, expected: &[String]| {
        let rows = table(sections.get(heading).unwrap_or_else(|| panic!("no section {heading}")));
        let documented: Vec<String> =
            rows.iter().map(|row| format!("| {} |", row[..3].join(" | "))).collect();
        assert_eq!(
            documented,
            expected,
            "docs/records.md, {heading}; the rows should begin\n{}",
            expected.join("\n")
        );
        assert!(rows.iter().all(|row| !row[3].is_empty()), "a field of {heading} says nothing");
    };
    check("Around the content", &fields(&schema("base"), ""));
    for category in Category::ALL {
        let schema = schema(&category.name().replace('_', "-"));
        check(category.name(), &fields(schema.at("properties.content").unwrap(), ""));
    }
}

#[test]
fn the_folders_are_those_that_status_lists() {
    let scratch = Scratch::new("folders");
    scratch.run(&["init"]);
    scratch.run(&["create", "notes/a", "--text", "A note."]);
    scratch.run(&["ws", "init"]);
    let status = Json::parse(&scratch.run(&["status", "--json"])).unwrap();
    let folders = status.at("folders").unwrap().as_list().unwrap();
    let listed: BTreeSet<String> = folders
        .iter()
        .map(|folder| {
            let path = Path::new(folder.at("path").and_then(Json::as_text).unwrap());
            match path.strip_prefix(scratch.project()) {
                Ok(inside) => inside.display().to_string(),
                Err(_) => {
                    let inside = path.strip_prefix(scratch.home()).unwrap();
                    let names: Vec<&str> = inside.iter().map(|name| name.to_str().unwrap()).collect();
                    // Where there is a third name it is another in every run.
                    match names.as_slice() {
                        ["state", "projects", _, rest @ ..] => {
                            [&["state", "projects", "<project>"], rest].concat().join("/")
                        }
                        [kind, "lanes", _] => format!("{kind}/lanes/<lane>"),
                        _ => names.join("/"),
                    }
                }
            }
        })
        .collect();
    let document = document("docs/storage.md");
    let rows = table(&sections(&document, "## ")["Folders"]);
    let named = rows.iter().filter_map(|row| row[0].strip_prefix('`')?.strip_suffix('`'));
    let documented: BTreeSet<String> = named.map(str::to_owned).collect();
    assert_eq!(documented, listed);
}

#[test]
fn the_project_remembers_its_own_decisions_soundly() {
    let scratch = Scratch::new("own");
    let lane = Path::new(".claude/memory");
    copy(&root().join(lane), &scratch.project().join(lane));
    let said = scratch.run(&["doctor", "--secrets", "--json"]);
    let findings = Json::parse(&said).unwrap();
    let findings = findings.at("findings").unwrap().as_list().unwrap();
    assert!(findings.is_empty(), "{said}");
    let listed = Json::parse(&scratch.run(&["list", "--json"])).unwrap();
    let memories = listed.at("memories").unwrap().as_list().unwrap();
    assert!(memories.len() >= 10, "{} memories", memories.len());
    for memory in memories {
        let path = memory.at("path").and_then(Json::as_text).unwrap();
        let record = Json::parse(&fs::read_to_string(root().join(path)).unwrap()).unwrap();
        for file in record.at("related_files").map(Json::to_texts).unwrap_or_default() {
            assert!(root().join(&file).exists(), "{path} speaks of {file}, which is gone");
        }
    }
}

#[test]
fn the_page_of_decisions_says_what_the_records_say() {
    let page = xtask::decisions::page(Path::new(env!("CARGO_BIN_EXE_lorelane"))).unwrap();
    let written = document(xtask::decisions::PAGE);
    assert!(page == written, "run `cargo xtask decisions`: {} differs", xtask::decisions::PAGE);
}

// What the page prints is what the program prints.
#[test]
fn the_example_of_the_working_set_is_what_happens() {
    let page = document("docs/working-set.md");
    let example = &sections(&page, "## ")["A worked example"];
    let scratch = Scratch::new("working-set");
    fs::create_dir(scratch.project().join("src")).unwrap();
    let function = "fn parse(text: &str) -> Tree {\n    todo!()\n}\n";
    fs::write(scratch.project().join("src/parser.rs"), function.repeat(40)).unwrap();
    let units: String = (0..900).map(|unit| format!("   Compiling unit-{unit} v0.1.0\n")).collect();
    let log = format!("{units}error: expected `;` in src/parser.rs:41\nwarning: build failed\n");
    fs::write(scratch.project().join("build.log"), log).unwrap();
    let here = format!("{}/", scratch.project().display());
    let (mut shown, mut said, mut within) = (String::new(), String::new(), false);
    for line in example.lines() {
        if line.starts_with("```") {
            within = !within;
        } else if within {
            shown.push_str(&format!("{}\n", line.trim_end()));
            if let Some(typed) = line.strip_prefix("$ lorelane ") {
                let words = words(typed);
                let output = scratch.run(&words.iter().map(String::as_str).collect::<Vec<_>>());
                let output: String = output.lines().map(|line| format!("{}\n", line.trim_end())).collect();
                said.push_str(&format!("{line}\n{}", output.replace(&here, "")));
            }
        }
    }
    assert_eq!(shown, said);
    assert!(shown.matches("$ lorelane ").count() >= 9, "{shown}");
}

#[test]
fn every_decision_about_advice_is_documented() {
    use lorelane_core::working_set::{AdviceDecision, DeferReason, OverrideReason, PromoteReason};
    let defer = [
        DeferReason::Conflict,
        DeferReason::Stale,
        DeferReason::TouchedRecently,
        DeferReason::UnsavedChanges,
        DeferReason::NoPostmortem,
        DeferReason::PendingSummary,
    ];
    let mut decisions = vec![AdviceDecision::Honored];
    decisions.extend(defer.map(AdviceDecision::Deferred));
    decisions.extend([OverrideReason::Protected, OverrideReason::Pinned].map(AdviceDecision::Overridden));
    decisions.extend([PromoteReason::UserMention, PromoteReason::Touches].map(AdviceDecision::PromotedToHot));
    let cell = |text: &str| if text.is_empty() { String::new() } else { format!("`{text}`") };
    let known: BTreeSet<(String, String)> = decisions
        .iter()
        .map(|decision| (cell(decision.action_taken()), cell(decision.reason().unwrap_or_default())))
        .collect();
    let page = document("docs/working-set.md");
    let rows = table(&sections(&page, "## ")["Advice and decisions"]);
    let rows = rows.iter().filter(|row| row.len() == 3);
    let documented: BTreeSet<(String, String)> = rows.map(|row| (row[0].clone(), row[1].clone())).collect();
    assert_eq!(documented, known);
}

/// A project and a home of their own, gone when the test ends.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let folder =
            std::env::temp_dir().join(format!("lorelane-docs-{name}-{}-{number}", std::process::id()));
        fs::create_dir_all(folder.join("project")).unwrap();
        Scratch(fs::canonicalize(folder).unwrap())
    }

    fn project(&self) -> PathBuf {
        self.0.join("project")
    }

    fn home(&self) -> PathBuf {
        self.0.join("home")
    }

    /// What a command prints as its result, else what it says.
    fn run(&self, words: &[&str]) -> String {
        self.run_with(words, "")
    }

    fn run_with(&self, words: &[&str], input: &str) -> String {
        let mut child = Command::new(env!("CARGO_BIN_EXE_lorelane"))
            .args(words)
            .current_dir(self.project())
            .env_clear()
            .env("LORELANE_HOME", self.home())
            .env("LORELANE_NOW", "2026-03-01T12:00:00Z")
            .env("LORELANE_HOOK_DEADLINE_MS", "20000")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // A command that reads nothing may be gone by now.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        let output = child.wait_with_output().unwrap();
        let said = if output.stdout.is_empty() { output.stderr } else { output.stdout };
        String::from_utf8(said).unwrap()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn document(name: &str) -> String {
    let path = root().join(name);
    fs::read_to_string(&path).unwrap_or_else(|fault| panic!("cannot read {}: {fault}", path.display()))
}

/// The README and everything in `docs/` and `docs/technical/`.
fn documents() -> Vec<String> {
    let in_folder = |folder: &'static str| {
        let entries = fs::read_dir(root().join(folder)).unwrap();
        entries.map(move |entry| format!("{folder}/{}", entry.unwrap().file_name().into_string().unwrap()))
    };
    let mut names: Vec<String> =
        in_folder("docs").chain(in_folder("docs/technical")).filter(|name| name.ends_with(".md")).collect();
    names.sort();
    names.push("README.md".to_owned());
    names
}

/// The parts of a document below its headings of one level, by heading.
fn sections(document: &str, level: &str) -> BTreeMap<String, String> {
    let mut sections: BTreeMap<String, String> = BTreeMap::new();
    let mut heading = None;
    for line in document.lines() {
        let above = line.starts_with('#') && line.split(' ').next().unwrap().len() < level.trim().len();
        if let Some(name) = line.strip_prefix(level) {
            heading = Some(name.to_owned());
        } else if above {
            heading = None;
        }
        if let Some(heading) = &heading {
            let section = sections.entry(heading.clone()).or_default();
            section.push_str(line);
            section.push('\n');
        }
    }
    sections
}

/// The cells of the rows of all tables, heads left out.
fn table(text: &str) -> Vec<Vec<String>> {
    let cells = |line: &str| -> Vec<String> {
        line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()
    };
    let lines: Vec<&str> = text.lines().collect();
    let is_rule = |line: &str| line.starts_with("| --- ");
    let mut rows = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let is_head = lines.get(at + 1).is_some_and(|next| is_rule(next));
        if line.starts_with('|') && !is_rule(line) && !is_head {
            rows.push(cells(line));
        }
    }
    rows
}

/// The lines of the fenced blocks of one language, continued lines joined.
fn blocks(document: &str, language: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut within = None;
    let mut continued = false;
    for line in document.lines() {
        if let Some(fence) = line.strip_prefix("```") {
            within = if within.is_some() { None } else { Some(fence.to_owned()) };
            continue;
        }
        if within.as_deref() != Some(language) {
            continue;
        }
        let (text, goes_on) = match line.strip_suffix('\\') {
            Some(text) => (text, true),
            None => (line, false),
        };
        match lines.last_mut().filter(|_| continued) {
            Some(begun) => begun.push_str(text.trim_start()),
            None => lines.push(text.to_owned()),
        }
        continued = goes_on;
    }
    lines.into_iter().map(|line| line.trim().to_owned()).collect()
}

/// Everything in a document that a reader might type or be shown as typed.
fn command_lines(document: &str) -> Vec<String> {
    let shown =
        blocks(document, "text").into_iter().filter_map(|line| Some(line.strip_prefix("$ ")?.to_owned()));
    let recipes = recipe_lines(document);
    blocks(document, "sh").into_iter().chain(blocks(document, "usage")).chain(shown).chain(recipes).collect()
}

/// The commands of ours that recipes for CI systems run.
fn recipe_lines(document: &str) -> Vec<String> {
    let steps = blocks(document, "yaml").into_iter();
    let steps = steps.map(|line| line.trim_start_matches("- ").trim_start_matches("run: ").to_owned());
    steps.filter(|line| line.starts_with("lorelane ")).collect()
}

#[test]
fn the_recipes_for_ci_do_what_they_say() {
    let lines = recipe_lines(&document("docs/audit.md"));
    assert_eq!(lines.len(), 6, "{lines:?}");
    let scratch = crate::scratch::Scratch::with_jwt();
    scratch.git(&["init", "-q"]);
    scratch.git(&["add", "-A"]);
    scratch.git(&["commit", "-qm", "x"]);
    scratch.git(&["update-ref", "refs/remotes/origin/main", "HEAD"]);
    for line in lines {
        let mut shell = scratch.command(&[]);
        let environment: Vec<_> =
            shell.get_envs().filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned()))).collect();
        shell = Command::new("sh");
        shell.args(["-ec", &line]).current_dir(scratch.project()).env_clear().envs(environment);
        shell.env("GITHUB_STEP_SUMMARY", scratch.project().join("summary.md"));
        shell.env("GITHUB_BASE_REF", "main").env("CI_MERGE_REQUEST_DIFF_BASE_SHA", "HEAD");
        let said = scratch.said(&shell.output().unwrap()).expect(0);
        assert_eq!(said.err, "", "{line}");
    }
    let sarif = Json::parse(&scratch.read("memories.sarif")).unwrap();
    assert_eq!(sarif.at("version").and_then(Json::as_text), Some("2.1.0"));
    for summary in ["summary.md", "memories.md"] {
        assert!(scratch.read(summary).starts_with("# Memory audit\n\n1 memory: "), "{summary}");
    }
}

/// A command line in words, as a shell reads it; the signs of a synopsis are left out.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quote = None;
    let mut quoted = false;
    for sign in line.chars() {
        match (quote, sign) {
            (Some(open), _) if open == sign => quote = None,
            (Some(_), _) => words.last_mut().unwrap().push(sign),
            (None, '"' | '\'') => {
                quote = Some(sign);
                quoted = true;
            }
            (None, ' ' | '|' | '[' | ']' | '…') => {
                if quoted || !words.last().unwrap().is_empty() {
                    words.push(String::new());
                }
                quoted = false;
            }
            (None, '>') => break,
            (None, _) => words.last_mut().unwrap().push(sign),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// The options among the words of a command line.
fn flags(words: &[String]) -> BTreeSet<String> {
    words.iter().filter(|word| word.len() > 1 && word.starts_with('-')).cloned().collect()
}

const EVERYWHERE: [&str; 6] = ["-C", "--json", "-h", "--help", "-V", "--version"];

/// The commands that the help lists.
fn commands_in(help: &str) -> BTreeSet<String> {
    help.lines()
        .take_while(|line| *line != "Global options:")
        .filter_map(|line| line.strip_prefix("  ")?.split(' ').next())
        .map(str::to_owned)
        .collect()
}

/// A command, or a subcommand.
fn paths_of(command: &str) -> Vec<Vec<String>> {
    let below: &[&str] = match command {
        "config" => &["get", "set", "list"],
        "consolidate" => &["prepare", "commit"],
        "model" => &["add", "list", "learn", "remove"],
        "notes" => &["move"],
        "auto" => &["status", "tidy"],
        "inbox" => &INBOX,
        "working-set" => &WORKING_SET,
        "compat" => &["memory_write", "memory_candidate", "memory_index", "memory_triage"],
        _ => return vec![vec![command.to_owned()]],
    };
    let own = (command == "inbox").then(|| vec![command.to_owned()]);
    own.into_iter().chain(below.iter().map(|word| vec![command.to_owned(), (*word).to_owned()])).collect()
}

const WORKING_SET: [&str; 12] = [
    "init",
    "status",
    "add",
    "remove",
    "touch",
    "advise",
    "assemble",
    "summarize",
    "gc",
    "restore",
    "handover",
    "log",
];

/// What `inbox` can be followed by; it can also stand alone.
const INBOX: [&str; 3] = ["accept", "reject", "drop"];

/// The options that the help of a command names.
fn options(path: &[String]) -> BTreeSet<String> {
    let mut typed: Vec<&str> = path.iter().map(String::as_str).collect();
    typed.push("--help");
    let help = Scratch::new("options").run(&typed);
    assert!(help.to_lowercase().contains("usage: "), "`{}` has no help:\n{help}", path.join(" "));
    if path[0] == "compat" {
        let signs = |word: &str| word.trim_matches(['[', ']', '(', ')']).to_owned();
        return help.split_whitespace().map(signs).filter(|word| word.starts_with('-')).collect();
    }
    let of_line = |line: &str| -> Vec<String> {
        let named = line.trim_start().split("  ").next().unwrap_or_default();
        named.split([',', ' ']).filter(|word| word.starts_with('-')).map(str::to_owned).collect()
    };
    help.lines().filter(|line| line.trim_start().starts_with('-')).flat_map(of_line).collect()
}

fn range_of(kind: &KeyKind) -> Option<String> {
    match kind {
        KeyKind::Flag | KeyKind::Keep => Some("true or false".to_owned()),
        KeyKind::Whole { min, max } | KeyKind::Kept { min, max } => {
            Some(format!("{} to {}", thousands(*min), thousands(*max)))
        }
        KeyKind::Fraction => Some("0 to 1".to_owned()),
        KeyKind::Number { min, max } => Some(format!("{min} to {max}")),
        KeyKind::Choice(choices) => Some(quoted(choices.iter().copied())),
        KeyKind::Text { max } => Some(format!("at most {max} characters")),
        KeyKind::Root | KeyKind::Folder => None,
    }
}

fn thousands(number: i64) -> String {
    let digits = number.to_string();
    let (mut text, count) = (String::new(), digits.len());
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (count - at) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn quoted<'a>(texts: impl Iterator<Item = &'a str>) -> String {
    texts.map(|text| format!("`{text}`")).collect::<Vec<_>>().join(", ")
}

/// A default that one cell says for all categories.
fn plain(cell: &str) -> Option<String> {
    let text = cell.trim_matches('`');
    let single = !text.contains([' ', ';']) || text == "not set";
    single.then(|| text.to_owned())
}

fn shown(value: &Json) -> String {
    match value {
        Json::Null => "not set".to_owned(),
        Json::Text(text) => text.clone(),
        Json::Bool(flag) => flag.to_string(),
        Json::Number(number) => number.clone(),
        other => format!("{other:?}"),
    }
}

fn schema(name: &str) -> Json {
    Json::parse(&document(&format!("schemas/{name}.schema.json"))).unwrap()
}

/// The beginnings of the rows that a group of fields asks for.
fn fields(group: &Json, prefix: &str) -> Vec<String> {
    let required = group.at("required").map(Json::to_texts).unwrap_or_default();
    let mut rows = Vec::new();
    for (name, kind) in group.at("properties").unwrap().as_object().unwrap().iter() {
        let path = format!("{prefix}{name}");
        let need = if required.iter().any(|required| required == name) {
            "required"
        } else if takes_null(kind) {
            "optional"
        } else {
            "has a default"
        };
        rows.push(format!("| `{path}` | {need} | {} |", value_of(kind)));
        // The content of a category has a table of its own.
        if kind.at("properties").is_some() {
            rows.extend(fields(kind, &format!("{path}.")));
        }
        if let Some(item) = kind.at("items").filter(|item| item.at("properties").is_some()) {
            rows.extend(fields(item, &format!("{path}[].")));
        }
    }
    rows
}

fn takes_null(kind: &Json) -> bool {
    let any = kind.as_object().is_some_and(|kind| kind.iter().next().is_none());
    let choices = kind.at("enum").and_then(Json::as_list).unwrap_or_default();
    any || kind.at("type").is_some_and(|name| name.as_list().is_some()) || choices.contains(&Json::Null)
}

fn value_of(kind: &Json) -> String {
    let number = |key: &str| kind.at(key).map(shown);
    if let Some(only) = kind.at("const").and_then(Json::as_text) {
        return format!("`{only}`");
    }
    if let Some(choices) = kind.at("enum") {
        return quoted(choices.to_texts().iter().map(String::as_str));
    }
    let name = match kind.at("type") {
        Some(Json::Text(name)) => name.clone(),
        Some(names) => names.to_texts().into_iter().find(|name| name != "null").unwrap(),
        None => return "any value".to_owned(),
    };
    match name.as_str() {
        "string" => match (kind.at("pattern").and_then(Json::as_text), number("maxLength")) {
            (Some(pattern), _) if pattern.starts_with("^[a-z") => "slug".to_owned(),
            (Some(_), _) => "time".to_owned(),
            (None, Some(max)) => format!("text, at most {max} characters"),
            (None, None) => "text".to_owned(),
        },
        "number" => format!("number from {} to {}", number("minimum").unwrap(), number("maximum").unwrap()),
        "integer" => format!("whole number from {}", number("minimum").unwrap()),
        "boolean" => "true or false".to_owned(),
        "array" => {
            let of_texts = kind.at("items.type").and_then(Json::as_text) == Some("string");
            let mut text = format!("list of {}", if of_texts { "texts" } else { "objects" });
            if let Some(min) = number("minItems") {
                text.push_str(&format!(", at least {min}"));
            }
            if let Some(max) = number("maxItems") {
                text.push_str(&format!(", at most {max}"));
            }
            text
        }
        other => other.to_owned(),
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}
