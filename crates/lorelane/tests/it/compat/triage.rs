//! Every text of `memory_triage`, and the files that it points to.

use super::Scratch;
use crate::scratch::Said;
use expect_test::expect;
use lorelane_core::json::{Json, JsonFormat};
use std::fs;
use std::path::PathBuf;

/// A session that decides something, as Claude Code writes it.
pub(super) const DECIDES: &[(&str, &str)] = &[
    ("user", "Which package manager?"),
    (
        "assistant",
        "We decided to use pnpm over npm because links are strict.\nWe chose it instead of yarn due to the lockfile.",
    ),
];

impl Scratch {
    /// Writes a transcript in the real format, a line per message.
    pub(super) fn transcript(&self, messages: &[(&str, &str)]) -> PathBuf {
        let line = |(speaker, text): &(&str, &str)| {
            let text = Json::text(*text).render(JsonFormat::LINE);
            format!(
                r#"{{"type":"{speaker}","message":{{"role":"{speaker}","content":[{{"type":"text","text":{text}}}]}}}}"#
            )
        };
        let lines: Vec<String> = messages.iter().map(line).collect();
        self.transcript_of(&lines.join("\n"))
    }

    pub(super) fn transcript_of(&self, text: &str) -> PathBuf {
        let path = self.folder.join("transcript.jsonl");
        fs::write(&path, text).unwrap();
        path
    }

    /// Stops a session, with more members of the payload.
    pub(super) fn stop(&self, session: &str, more: &str) -> Said {
        let transcript = self.folder.join("transcript.jsonl");
        let payload = format!(
            r#"{{"session_id":"{session}","transcript_path":"{}","cwd":"{}"{more}}}"#,
            transcript.display(),
            self.project().display()
        );
        self.triage(&payload)
    }

    pub(super) fn triage(&self, payload: &str) -> Said {
        self.lorelane_with_input("compat memory_triage", payload)
    }

    /// What a request carries for programs.
    pub(super) fn triage_data(said: &Said) -> Json {
        let (_, data) = said.err.split_once("<triage_data>\n").unwrap();
        Json::parse(data.split_once("\n</triage_data>").unwrap().0).unwrap()
    }

    /// The file that a request names for its first category.
    pub(super) fn context_file(&self, said: &Said) -> PathBuf {
        let data = Scratch::triage_data(said);
        let path = data.at("categories.0.context_file").and_then(Json::as_text).unwrap();
        PathBuf::from(path.replacen('~', self.folder.to_str().unwrap(), 1))
    }
}

/// The same text with the parts that differ from run to run named.
fn stable(text: &str) -> String {
    let name = |word: &str| match (word.find("project-"), word.find("/captures/")) {
        (Some(from), Some(to)) => {
            let stem = &word[to + "/captures/".len()..];
            let context = stem.find("context-").map_or(stem, |at| &stem[at..]);
            format!("{}<lane>/captures/<session>-{context}", &word[..from])
        }
        _ => word.to_owned(),
    };
    text.split(' ').map(name).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_decision_is_asked_for_with_its_data() {
    let scratch = Scratch::new();
    scratch.transcript(DECIDES);
    expect![[r#"
        The following items should be saved as memories before stopping:
        - [DECISION] We decided to use pnpm over npm because links are strict. (score: 0.53)

        Use the memory-management skill to save each item. After saving, you may stop.

        <triage_data>
        {
          "categories": [
            {
              "category": "decision",
              "score": 0.5263,
              "context_file": "~/home/state/lanes/<lane>/captures/<session>-context-decision.txt"
            }
          ],
          "parallel_config": {
            "enabled": true,
            "category_models": {
              "session_summary": "haiku",
              "decision": "sonnet",
              "runbook": "haiku",
              "constraint": "sonnet",
              "tech_debt": "haiku",
              "preference": "haiku"
            },
            "verification_model": "sonnet",
            "default_model": "haiku"
          }
        }
        </triage_data>
    "#]]
    .assert_eq(&stable(&scratch.stop("s", "").expect(2).err));
}

#[test]
fn a_context_file_has_the_lines_around() {
    let scratch = Scratch::new();
    scratch.configure(r#"{"categories": {"decision": {"description": "what we <settled>"}}}"#);
    scratch.transcript(DECIDES);
    let said = scratch.stop("s", "");
    assert!(said.err.contains("- [DECISION] (what we &lt;settled&gt;) We decided"), "{}", said.text());
    expect![[r#"
        Category: decision
        Score: 0.53
        Description: what we &lt;settled&gt;

        <transcript_data>
        Relevant transcript excerpts:

        Which package manager?
        We decided to use pnpm over npm because links are strict.
        We chose it instead of yarn due to the lockfile.
        </transcript_data>

        Key snippets:
          - We decided to use pnpm over npm because links are strict.
          - We chose it instead of yarn due to the lockfile."#]]
    .assert_eq(&fs::read_to_string(scratch.context_file(&said)).unwrap());
}

#[test]
fn a_busy_session_is_asked_for_its_summary() {
    let scratch = Scratch::new();
    let tool = |name: &str| format!(r#"{{"type": "tool_use", "name": "{name}"}}"#);
    let lines: Vec<String> =
        (0..12).map(|number| tool(if number % 2 == 0 { "Bash" } else { "Read" })).collect();
    scratch.transcript_of(&format!("{{\"type\": \"human\", \"content\": \"go\"}}\n{}", lines.join("\n")));
    let said = scratch.stop("s", "").expect(2);
    let line = "- [SESSION_SUMMARY] 12 tool uses across 2 tools, 1 exchanges (score: 0.82)\n";
    assert!(said.err.contains(line), "{}", said.text());
    expect![[r#"
        Category: session_summary
        Score: 0.82

        <transcript_data>
        Activity Metrics:
          Tool uses: 12
          Distinct tools: 2
          Exchanges: 1
        </transcript_data>

        Key snippets:
          - 12 tool uses across 2 tools, 1 exchanges"#]]
    .assert_eq(&fs::read_to_string(scratch.context_file(&said)).unwrap());
}

#[test]
fn a_context_file_is_cut() {
    let scratch = Scratch::new();
    let line = format!("we decided because {}\n", "é".repeat(300));
    scratch.transcript(&[("assistant", &line.repeat(200))]);
    let text = fs::read_to_string(scratch.context_file(&scratch.stop("s", ""))).unwrap();
    assert!(text.ends_with("é\n</transcript_data>\n[Truncated: context exceeded 50KB]"), "{}", text.len());
    assert!((49_990..50_100).contains(&text.len()), "{}", text.len());
}

#[test]
fn an_agent_may_stop_when_there_is_nothing_or_something_is_wrong() {
    let scratch = Scratch::new();
    scratch.transcript(&[("user", "Hello"), ("assistant", "Hi")]);
    let transcript = scratch.folder.join("transcript.jsonl");
    let transcript = transcript.to_str().unwrap();
    let of = |path: &str| format!(r#"{{"transcript_path": "{path}"}}"#);
    let outside = if cfg!(windows) { "C:/Windows/win.ini" } else { "/etc/passwd" };
    for payload in [
        String::new(),
        "{".to_owned(),
        "[]".to_owned(),
        "7".to_owned(),
        "\u{fffd}".to_owned(),
        "{}".to_owned(),
        r#"{"transcript_path": 7}"#.to_owned(),
        of(""),
        of(transcript),
        of("/tmp/no/such/file"),
        of("/tmp"),
        of(outside),
    ] {
        assert_eq!(scratch.triage(&payload).text(), "", "{payload}");
    }
    fs::write(transcript, "").unwrap();
    assert_eq!(scratch.stop("s", "").text(), "");
    assert_eq!(scratch.run(&["memory_triage", "--no-such-option"]), "");
}

// A transcript outside of home and the temporary folder is not read, also through a link.
#[cfg(unix)]
#[test]
fn a_link_does_not_lead_out() {
    let scratch = Scratch::new();
    std::os::unix::fs::symlink("/etc/passwd", scratch.folder.join("transcript.jsonl")).unwrap();
    assert_eq!(scratch.stop("s", "").text(), "");
}
