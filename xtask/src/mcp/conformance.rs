//! The conformance suite of the protocol, as far as it needs nothing but a server.
//!
//! Most scenarios call tools, resources and prompts that a test server must offer under fixed names. A
//! product does not have them, so these scenarios run and their results are ignored. The tables name every
//! scenario: a new one has to be added to one of them.

use std::fs;
use std::path::Path;

use lorelane_core::json::Json;

use super::server::Store;
use super::transport;
use crate::failure::Failure;
use crate::process;
use crate::tool_cache::{Origin, Package, ToolCache};

/// One version of the suite, for one version of the protocol.
pub(super) struct Suite {
    version: &'static str,
    pub(super) protocol: &'static str,
    /// The arguments that select its scenarios.
    arguments: &'static [&'static str],
    /// Scenarios that must pass.
    free: &'static [Scenario],
    /// Scenarios that need a fixture, and which one.
    fixtures: &'static [(&'static str, &'static str)],
}

/// A scenario that needs no fixture except for some of its checks.
struct Scenario {
    name: &'static str,
    but: &'static [&'static str],
}

/// The released suite covers versions up to the one before the newest; only its next version covers that one.
pub(super) const SUITES: &[Suite] = &[
    Suite {
        version: "0.1.16",
        protocol: "2025-11-25",
        arguments: &["--suite", "all"],
        free: &[
            whole("server-initialize"),
            whole("ping"),
            whole("logging-set-level"),
            whole("tools-list"),
            whole("tools-call-error"),
            whole("server-sse-multiple-streams"),
            whole("resources-list"),
            whole("resources-subscribe"),
            whole("resources-unsubscribe"),
            whole("prompts-list"),
            whole("dns-rebinding-protection"),
        ],
        fixtures: &[
            ("completion-complete", "the prompt test_prompt_with_arguments"),
            ("tools-call-simple-text", "the tool test_simple_text"),
            ("tools-call-image", "the tool test_image_content"),
            ("tools-call-audio", "the tool test_audio_content"),
            ("tools-call-embedded-resource", "the tool test_embedded_resource"),
            ("tools-call-mixed-content", "the tool test_multiple_content_types"),
            ("tools-call-with-logging", "the tool test_tool_with_logging"),
            ("tools-call-with-progress", "the tool test_tool_with_progress"),
            ("tools-call-sampling", "the tool test_sampling"),
            ("tools-call-elicitation", "the tool test_elicitation"),
            ("json-schema-2020-12", "the tool json_schema_2020_12_tool"),
            ("elicitation-sep1034-defaults", "the tool test_elicitation_sep1034_defaults"),
            ("elicitation-sep1330-enums", "the tool test_elicitation_sep1330_enums"),
            ("server-sse-polling", "the tool test_reconnection"),
            ("resources-read-text", "the resource test://static-text"),
            ("resources-read-binary", "the resource test://static-binary"),
            ("resources-templates-read", "the resource test://template/123/data"),
            ("prompts-get-simple", "the prompt test_simple_prompt"),
            ("prompts-get-with-args", "the prompt test_prompt_with_arguments"),
            ("prompts-get-embedded-resource", "the prompt test_prompt_with_embedded_resource"),
            ("prompts-get-with-image", "the prompt test_prompt_with_image"),
        ],
    },
    Suite {
        version: "0.2.0-alpha.12",
        protocol: "2026-07-28",
        arguments: &["--requirements", "2026-07-28"],
        free: &[
            Scenario {
                name: "server-stateless",
                // Both call the tool test_missing_capability.
                but: &[
                    "sep-2575-server-rejects-undeclared-capability",
                    "sep-2575-missing-capability-http-400",
                ],
            },
            whole("tools-list"),
            whole("tools-call-error"),
            whole("server-sse-multiple-streams"),
            whole("resources-list"),
            whole("sep-2164-resource-not-found"),
            whole("prompts-list"),
            whole("dns-rebinding-protection"),
            whole("caching"),
            whole("http-header-validation"),
        ],
        fixtures: &[
            ("completion-complete", "the prompt test_prompt_with_arguments"),
            ("tools-call-simple-text", "the tool test_simple_text"),
            ("tools-call-image", "the tool test_image_content"),
            ("tools-call-audio", "the tool test_audio_content"),
            ("tools-call-embedded-resource", "the tool test_embedded_resource"),
            ("tools-call-mixed-content", "the tool test_multiple_content_types"),
            ("tools-call-with-progress", "the tool test_tool_with_progress"),
            ("resources-read-text", "the resource test://static-text"),
            ("resources-read-binary", "the resource test://static-binary"),
            ("resources-templates-read", "the resource test://template/123/data"),
            ("prompts-get-simple", "the prompt test_simple_prompt"),
            ("prompts-get-with-args", "the prompt test_prompt_with_arguments"),
            ("prompts-get-embedded-resource", "the prompt test_prompt_with_embedded_resource"),
            ("prompts-get-with-image", "the prompt test_prompt_with_image"),
            ("json-schema-2020-12", "the tool json_schema_2020_12_tool"),
            ("http-custom-header-server-validation", "a tool with x-mcp-header"),
            ("input-required-result-basic-elicitation", ASKS_BACK),
            ("input-required-result-basic-sampling", ASKS_BACK),
            ("input-required-result-basic-list-roots", ASKS_BACK),
            ("input-required-result-request-state", ASKS_BACK),
            ("input-required-result-multiple-input-requests", ASKS_BACK),
            ("input-required-result-multi-round", ASKS_BACK),
            ("input-required-result-missing-input-response", ASKS_BACK),
            ("input-required-result-non-tool-request", ASKS_BACK),
            ("input-required-result-result-type", ASKS_BACK),
            ("input-required-result-unsupported-methods", ASKS_BACK),
            ("input-required-result-tampered-state", ASKS_BACK),
            ("input-required-result-capability-check", ASKS_BACK),
            ("input-required-result-ignore-extra-params", ASKS_BACK),
            ("input-required-result-validate-input", ASKS_BACK),
            ("tasks-lifecycle", TASKS),
            ("tasks-capability-negotiation", TASKS),
            ("tasks-wire-fields", TASKS),
            ("tasks-request-state-removal", TASKS),
            ("tasks-mrtr-input", TASKS),
            ("tasks-request-headers", TASKS),
            ("tasks-dispatch-and-envelope", TASKS),
            ("tasks-status-notifications", TASKS),
            ("tasks-required-task-error", TASKS),
            ("tasks-mrtr-composition", TASKS),
        ],
    },
];

const ASKS_BACK: &str = "tools that ask the client back, test_input_required_result_…";
const TASKS: &str = "the extension for tasks, and tools that make some";

const fn whole(name: &'static str) -> Scenario {
    Scenario { name, but: &[] }
}

/// The results of the suite: scenarios by name, with their checks.
type Found = Vec<(String, Vec<Check>)>;

#[derive(Clone, Debug)]
struct Check {
    id: String,
    status: String,
    why: String,
}

impl Suite {
    pub(super) fn package(&self) -> Package {
        Package {
            name: "conformance",
            version: self.version,
            origin: Origin::Npm("@modelcontextprotocol/conformance".to_owned()),
            program: Some("conformance"),
        }
    }

    pub(super) fn judge(
        &self,
        tool_cache: &ToolCache,
        store: &Store,
    ) -> Result<(String, Vec<String>), Failure> {
        let server = store.listen()?;
        let results = store.scratch().join("results");
        let mut suite = store.command(&tool_cache.program(&self.package()));
        suite.args(["server", "--url", &transport::open(&server)?]).args(self.arguments);
        suite.arg("--output-dir").arg(&results);
        // It exits with an error because of scenarios without a fixture; the files it wrote count.
        let (_, ended) = process::run_out(suite, store.scratch(), "conformance")?;
        let found = read(&results).map_err(|failure| Failure::new(format!("{failure}\n{}", ended.tail())))?;
        let passed = found.iter().filter(|(name, _)| self.free.iter().any(|scenario| scenario.name == name));
        let checks: usize =
            passed.map(|(_, checks)| checks.iter().filter(|check| check.passed()).count()).sum();
        let note = format!("scenarios: {}, checks: {checks}", self.free.len());
        Ok((note, self.breaches(&found)))
    }

    fn breaches(&self, found: &Found) -> Vec<String> {
        let mut breaches = Vec::new();
        for scenario in self.free {
            let checks = found.iter().find(|(name, _)| name == scenario.name).map(|(_, checks)| checks);
            let checks =
                checks.into_iter().flatten().filter(|check| !scenario.but.contains(&check.id.as_str()));
            let (failed, rest): (Vec<&Check>, Vec<&Check>) = checks.partition(|check| check.failed());
            if failed.is_empty() && !rest.iter().any(|check| check.passed()) {
                breaches.push(format!("{}: nothing was checked", scenario.name));
            }
            breaches
                .extend(failed.iter().map(|check| format!("{}: {}: {}", scenario.name, check.id, check.why)));
        }
        for (name, _) in found {
            let is_known = self.free.iter().any(|scenario| scenario.name == name)
                || self.fixtures.iter().any(|(fixture, _)| fixture == name);
            if !is_known {
                breaches.push(format!("{name}: the tables in {} do not name it", file!()));
            }
        }
        for (name, needs) in self.fixtures {
            if !found.iter().any(|(found, _)| found == name) {
                breaches.push(format!("{name}: it was not run; the tables say that it needs {needs}"));
            }
        }
        breaches
    }
}

impl Check {
    fn passed(&self) -> bool {
        self.status == "SUCCESS"
    }

    /// A warning is a SHOULD that is not met.
    fn failed(&self) -> bool {
        matches!(self.status.as_str(), "FAILURE" | "WARNING")
    }
}

/// Reads the folders `server-<scenario>-<time>`, each with a list of checks.
fn read(results: &Path) -> Result<Found, Failure> {
    let unread = |error: std::io::Error| Failure::on("read", results, error);
    let mut found = Found::new();
    for folder in fs::read_dir(results).map_err(unread)? {
        let folder = folder.map_err(unread)?;
        let name = folder.file_name().to_string_lossy().into_owned();
        let checks = folder.path().join("checks.json");
        let text = fs::read_to_string(&checks).map_err(|error| Failure::on("read", &checks, error))?;
        let listed = Json::parse(&text).ok().and_then(|json| json.as_list().map(<[Json]>::to_vec));
        let Some((scenario, listed)) = scenario(&name).zip(listed) else {
            return Err(Failure::on("understand", &checks, "it is not what the suite wrote so far"));
        };
        let member =
            |check: &Json, key: &str| check.at(key).and_then(Json::as_text).unwrap_or_default().to_owned();
        let checks = listed.iter().map(|check| Check {
            id: member(check, "id"),
            status: member(check, "status"),
            why: member(check, "errorMessage"),
        });
        found.push((scenario.to_owned(), checks.collect()));
    }
    found.sort_by(|(a, _), (b, _)| a.cmp(b));
    Ok(found)
}

fn scenario(folder: &str) -> Option<&str> {
    const TIME: &str = "-2026-11-16T02-23-38-045Z";
    let name = folder.strip_prefix("server-")?;
    let (name, time) = name.split_at_checked(name.len().checked_sub(TIME.len())?)?;
    (time.ends_with('Z') && time.starts_with('-')).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: Suite = Suite {
        version: "1",
        protocol: "1",
        arguments: &[],
        free: &[Scenario { name: "ping", but: &["fixture"] }],
        fixtures: &[("image", "a tool")],
    };

    #[test]
    fn what_fails_what_is_missing_and_what_is_new_are_breaches() {
        let check = |id: &str, status: &str| Check {
            id: id.to_owned(),
            status: status.to_owned(),
            why: "w".to_owned(),
        };
        let image = ("image".to_owned(), vec![check("i", "FAILURE")]);
        let ping = |checks: &[Check]| ("ping".to_owned(), checks.to_vec());
        let good = check("p", "SUCCESS");
        for (found, expected) in [
            (vec![ping(&[good.clone(), check("fixture", "FAILURE")]), image.clone()], vec![]),
            (vec![ping(&[good.clone(), check("x", "FAILURE")]), image.clone()], vec!["ping: x: w"]),
            (vec![ping(&[check("x", "WARNING")]), image.clone()], vec!["ping: x: w"]),
            (vec![ping(&[check("x", "SKIPPED")]), image.clone()], vec!["ping: nothing was checked"]),
            (vec![image.clone()], vec!["ping: nothing was checked"]),
            (
                vec![ping(std::slice::from_ref(&good))],
                vec!["image: it was not run; the tables say that it needs a tool"],
            ),
        ] {
            assert_eq!(SMALL.breaches(&found), expected, "{found:?}");
        }
        let new = ("new".to_owned(), vec![good.clone()]);
        let breaches = SMALL.breaches(&vec![ping(&[good]), image, new]);
        assert!(matches!(breaches.as_slice(), [only] if only.starts_with("new: ")), "{breaches:?}");
    }

    #[test]
    fn a_folder_is_named_after_its_scenario() {
        for (folder, expected) in [
            ("server-ping-2026-11-16T02-23-38-005Z", Some("ping")),
            ("server-server-sse-polling-2026-11-16T02-23-38-331Z", Some("server-sse-polling")),
            ("client-ping-2026-11-16T02-23-38-005Z", None),
            ("server-ping", None),
        ] {
            assert_eq!(scenario(folder), expected, "{folder}");
        }
    }

    #[test]
    fn the_documents_name_every_scenario_that_has_to_hold() {
        let text = fs::read_to_string(crate::repo::root().join("docs/mcp.md")).unwrap();
        for scenario in SUITES.iter().flat_map(|suite| suite.free) {
            assert!(text.contains(&format!("`{}`", scenario.name)), "docs/mcp.md lacks {}", scenario.name);
        }
    }
}
